//! The description of a native part: its texts, its parameters and their check, and the means that install it.

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
    /// Checks that values fit each other and a link; fails with an error that names the parameter.
    pub check: fn(&Values, LinkContext) -> Result<()>,
    /// The order in which packets leave it; of a marker, that of arrival.
    pub order: Order,
    /// The means that installs it on a link.
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

/// The order in which packets leave a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// That of arrival: one FIFO.
    Fifo,
    /// Several queues. Packets of one flow and one colour keep their order.
    Several,
}

/// Accepts all values, for a part whose parameters need no check beyond their kinds and ranges.
///
/// # Errors
/// None; the signature is that of [`NativePart::check`].
pub fn accept_any_values(_: &Values, _: LinkContext) -> Result<()> {
    Ok(())
}
