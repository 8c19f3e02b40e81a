//! What a native part says of itself: its words, its parameters, how it is built and what installs it.

use super::install::line::Install;
use super::link_context::LinkContext;
use super::values::Values;
use crate::error::Result;
use crate::marker::Marker;
use crate::queue::Queue;
use mousehole_policy::Parameter;

/// A queue or marker that is not a policy: it is of the simulator alone.
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
    /// How it is built.
    pub build: Build,
    /// In which order packets leave it; of a marker, that of arrival.
    pub order: Order,
    /// What puts it on a link.
    pub install: Install,
}

/// In which order packets leave a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// That of arrival: one FIFO.
    Fifo,
    /// Several queues. Packets of one flow and one colour keep their order.
    Several,
}

/// How a native part is built from its parameters' values, for a link.
#[derive(Debug, Clone, Copy)]
pub enum Build {
    /// A marker.
    Marker(fn(&Values, LinkContext) -> Result<Marker>),
    /// A queue, and whether it treats colours differently with these values.
    Queue(fn(&Values, LinkContext) -> Result<Queue>, fn(&Values) -> bool),
}
