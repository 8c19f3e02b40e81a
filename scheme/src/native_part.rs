//! What a native part says of itself: its words, its parameters, which values go together, and what installs it.

use crate::error::Result;
use crate::install::line::Install;
use crate::link_context::LinkContext;
use crate::values::Values;
use mousehole_policy::Parameter;

/// A queue or marker that is not a policy. The simulator has its code.
#[derive(Debug)]
pub struct NativePart {
    /// Name, lower case.
    pub name: &'static str,
    /// One line for lists.
    pub summary: &'static str,
    /// Paper or RFC.
    pub source: &'static str,
    /// How it works, who gains and who pays, and what to watch: a few sentences for its page.
    pub detail: &'static str,
    /// Returns its parameters.
    pub parameters: fn() -> Vec<Parameter>,
    /// What it does in a scheme.
    pub role: Role,
    /// Returns whether a queue treats colours differently with these values.
    pub reads_colours: fn(&Values) -> bool,
    /// Refuses values that do not go together, or do not fit a link.
    pub check: fn(&Values, LinkContext) -> Result<()>,
    /// In which order packets leave it; of a marker, that of arrival.
    pub order: Order,
    /// What puts it on a link.
    pub install: Install,
}

/// What a part does in a scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It colours packets before a queue, or drops them there.
    Marker,
    /// It is the queue.
    Queue,
}

/// In which order packets leave a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// That of arrival: one FIFO.
    Fifo,
    /// Several queues. Packets of one flow and one colour keep their order.
    Several,
}

/// Accepts all values: their kinds and ranges say everything.
///
/// # Errors
/// None; the signature is that of [`NativePart::check`].
pub fn any_values(_: &Values, _: LinkContext) -> Result<()> {
    Ok(())
}
