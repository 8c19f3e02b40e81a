//! Markers that keep state by user: an edge router's aggregate marker, and the policer of a contract.

use super::table::Users;
use crate::flow::Flow;
use crate::packet::{Kind, Packet};
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

/// A policer of each user's contract, which re-colours or drops what exceeds it.
pub struct Policer {
    params: Box<policer::Params>,
    users: Users<policer::State>,
    /// Pure acknowledgements pass and take no tokens.
    exempt_acks: bool,
    exceeded: u64,
}

impl Policer {
    /// A policer that has seen nothing.
    pub fn new(params: policer::Params, exempt_acks: bool) -> Policer {
        Policer { params: Box::new(params), users: Users::new(), exempt_acks, exceeded: 0 }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.users.open(slot, flow);
    }

    /// Whether a packet passes; if it exceeds its user's contract it is re-coloured, or does not.
    pub fn passes(&mut self, packet: &mut Packet, now: Time) -> bool {
        if self.exempt_acks && packet.kind == Kind::Ack {
            return true;
        }
        let state = self.users.of(packet.flow);
        let colour = policer::packet(&self.params, state, &packet.view(), now.0);
        self.exceeded += u64::from(colour != Some(packet.colour));
        packet.colour = colour.unwrap_or(packet.colour);
        colour.is_some()
    }

    /// Packets that exceeded a contract.
    pub fn exceeded(&self) -> u64 {
        self.exceeded
    }
}
