//! Which of up to three queues a packet belongs to: by its colour, or by what its connection is for.

use crate::flow::{Class, Flow};
use crate::packet::Packet;

/// What packets are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum By {
    /// Green, yellow, red.
    #[default]
    Colour,
    /// Interactive, web, bulk: the class of the connection.
    Class,
}

/// Sorts packets.
pub(super) struct Classifier {
    by: By,
    classes: Vec<Class>,
}

impl Classifier {
    pub fn new(by: By) -> Classifier {
        Classifier { by, classes: Vec::new() }
    }

    /// Whether it must be told of connections.
    pub fn knows_flows(&self) -> bool {
        self.by == By::Class
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        if self.by == By::Class {
            let slot = slot as usize;
            self.classes.resize(self.classes.len().max(slot + 1), Class::default());
            self.classes[slot] = flow.class;
        }
    }

    /// 0, 1 or 2, best first. A connection it was not told of is of the default class.
    pub fn index(&self, packet: &Packet) -> usize {
        match self.by {
            By::Colour => packet.colour.index(),
            By::Class => self.classes.get(packet.flow as usize).copied().unwrap_or_default() as usize,
        }
    }
}
