//! Markers that keep state by user: an edge router's aggregate marker, and the policer of a contract.

use super::table::Users;
use crate::flow::Flow;
use crate::packet::Packet;
use crate::units::Time;
use mousehole_policy::{aggregate_marker, policer};

/// ER-TBM: each user's aggregate is coloured by two token buckets.
pub struct Aggregate {
    params: Box<aggregate_marker::Params>,
    users: Users<aggregate_marker::State>,
}

impl Aggregate {
    /// An edge that has seen nothing.
    pub fn new(params: aggregate_marker::Params) -> Aggregate {
        Aggregate { params: Box::new(params), users: Users::new() }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.users.open(slot, flow);
    }

    /// Colours a packet.
    pub fn mark(&mut self, packet: &mut Packet, now: Time) {
        let state = self.users.of(packet.flow);
        packet.colour = aggregate_marker::packet(&self.params, state, &packet.view(), now.0);
    }
}

/// A policer of each user's contract, which re-colours what exceeds it.
pub struct Policer {
    params: Box<policer::Params>,
    users: Users<policer::State>,
    exceeded: u64,
}

impl Policer {
    /// A policer that has seen nothing.
    pub fn new(params: policer::Params) -> Policer {
        Policer { params: Box::new(params), users: Users::new(), exceeded: 0 }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.users.open(slot, flow);
    }

    /// Re-colours a packet that exceeds its user's contract.
    pub fn mark(&mut self, packet: &mut Packet, now: Time) {
        let state = self.users.of(packet.flow);
        if let Some(colour) = policer::packet(&self.params, state, &packet.view(), now.0) {
            self.exceeded += u64::from(colour != packet.colour);
            packet.colour = colour;
        }
    }

    /// Packets that exceeded a contract.
    pub fn exceeded(&self) -> u64 {
        self.exceeded
    }
}
