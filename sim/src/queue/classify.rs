//! Classifies packets into up to three queues, by colour or by the class of the connection.

use crate::flow::{Class, Flow};
use crate::packet::Packet;

/// The property by which packets are classified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClassifyBy {
    /// Green, yellow, red.
    #[default]
    Colour,
    /// Interactive, web, bulk: the class of the connection.
    Class,
    /// Green in the second queue, all other colours in the third: CAKE's best-effort and Bulk tins.
    Demoted,
}

/// Classifies packets.
pub(super) struct Classifier {
    by: ClassifyBy,
    classes: Vec<Class>,
}

impl Classifier {
    /// Returns a classifier without connections.
    pub fn new(by: ClassifyBy) -> Classifier {
        Classifier { by, classes: Vec::new() }
    }

    /// Records the class of a new connection in `slot`, where packets are classified by it;
    /// otherwise nothing.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        if self.by == ClassifyBy::Class {
            let slot = slot as usize;
            self.classes.resize(self.classes.len().max(slot + 1), Class::default());
            self.classes[slot] = flow.class;
        }
    }

    /// Returns the packet's queue: 0, 1 or 2, best first. A connection that was not opened here has
    /// the default class.
    pub fn classify(&self, packet: &Packet) -> usize {
        match self.by {
            ClassifyBy::Colour => packet.colour.index(),
            ClassifyBy::Demoted => 1 + packet.colour.index().min(1),
            ClassifyBy::Class => self.classes.get(packet.flow as usize).copied().unwrap_or_default() as usize,
        }
    }
}
