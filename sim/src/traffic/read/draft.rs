//! A connection as a reader produces it.

use crate::flow::Class;
use crate::traffic::class::FlowClass;
use crate::traffic::connection::{Kind, ServerThink, Writes};
use crate::units::Dur;

/// A connection before its clock and host numbers are known. Large logs have millions of them at once.
#[derive(Debug)]
pub struct Draft {
    /// Start, nanoseconds on the clock of the file.
    pub start: i64,
    /// Index of the file.
    pub file: u32,
    /// Position in the file.
    pub order: u64,
    /// How many rows of the file it was made of; 1 of a capture or of Zeek's logs, which count theirs themselves.
    pub rows: u32,
    /// The client, as numbered by [`Collector::hosts`](super::assemble::Collector).
    pub client: u32,
    /// The server, as numbered by [`Collector::hosts`](super::assemble::Collector).
    pub server: u32,
    pub rtt: Known,
    /// Time from the start to the last byte, if the file has it.
    pub duration: Known,
    pub kind: Kind,
    pub class: Class,
    pub flow_class: FlowClass,
    pub server_think: ServerThink,
    pub writes: Writes,
    /// The page of each write, from 1; `None` when none has one.
    pub pages: Option<Box<PagesOfWrites>>,
}

/// The page of each write. A draft has one pointer to them, since most have no pages.
#[derive(Debug, Default)]
pub struct PagesOfWrites(pub Box<[u32]>);

impl Draft {
    /// Returns the connection with host numbers translated by `hosts`, which has the new number of each old
    /// one; panics if one is missing.
    pub fn with_hosts(mut self, hosts: &[u32]) -> Draft {
        (self.client, self.server) = (hosts[self.client as usize], hosts[self.server as usize]);
        self
    }
}

/// A time that may be unknown, in eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known(u64);

impl From<Option<Dur>> for Known {
    /// Packs a time; the largest number stands for an unknown one.
    fn from(time: Option<Dur>) -> Known {
        Known(time.map_or(u64::MAX, |time| time.0))
    }
}

impl From<Known> for Option<Dur> {
    /// Unpacks a time.
    fn from(time: Known) -> Option<Dur> {
        (time.0 != u64::MAX).then_some(Dur(time.0))
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::traffic::connection::Connection;

    #[test]
    fn draft__is_small() {
        assert_eq!(size_of::<Draft>(), 88);
        assert_eq!(size_of::<Connection>(), 80);
    }
}
