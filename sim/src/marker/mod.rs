//! Markers at work: per-flow state of the policies, and what is only ns-2's.
//!
//! A marker stands at the edge, before the queue of a link; it sees every packet of its direction.

mod ns2_sfd;

use crate::flow::Flow;
use crate::packet::Packet;
use crate::record::Series;
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, Time};
use mousehole_policy::sfd;
pub use ns2_sfd::Ns2Sfd;

/// Every marker there is, with its state.
pub enum Marker {
    /// Leaves every packet green.
    None,
    /// SFD and its promotions; one flow per connection slot.
    Sfd {
        /// Parameters of the policy.
        params: Box<sfd::Params>,
        /// State by connection slot.
        flows: Vec<sfd::Flow>,
        /// Seed of the promotion dice; `None` where nothing is left to chance.
        seed: Option<u64>,
    },
    /// SFD as ns-2.35 implements it.
    Ns2Sfd(Ns2Sfd),
}

impl Marker {
    /// A connection took over `slot`: its 5-tuple is new.
    pub fn open(&mut self, slot: u32, _flow: &Flow) {
        match self {
            Marker::None => {}
            Marker::Sfd { flows, .. } => {
                let slot = slot as usize;
                if slot >= flows.len() {
                    flows.resize(slot + 1, sfd::Flow::default());
                }
                flows[slot] = sfd::Flow::default();
            }
            Marker::Ns2Sfd(table) => table.open(slot),
        }
    }

    /// Whether it must be told of every connection.
    pub fn knows_flows(&self) -> bool {
        !matches!(self, Marker::None)
    }

    /// How often [`Marker::control`] is to be called, if at all.
    pub fn period(&self) -> Option<Dur> {
        match self {
            Marker::None | Marker::Sfd { .. } | Marker::Ns2Sfd(_) => None,
        }
    }

    /// The slow step: sweeps the table and adapts what is adaptive.
    pub fn control(&mut self, _now: Time) {
        match self {
            Marker::None | Marker::Sfd { .. } | Marker::Ns2Sfd(_) => {}
        }
    }

    /// What it noted over time.
    pub fn series(&mut self) -> Vec<Series> {
        Vec::new()
    }

    /// Colours a packet. `identity` names the flow across schemes, for its dice.
    pub fn mark(&mut self, packet: &mut Packet, identity: u64, now: Time) {
        match self {
            Marker::None => {}
            Marker::Sfd { params, flows, seed } => {
                let flow = &mut flows[packet.flow as usize];
                let random = seed.map_or(0, |seed| {
                    let index = u64::from(packet.seq) << 32 ^ now.0;
                    Stream::new(seed, Purpose::Marker, identity).at(index) as u32
                });
                packet.colour = sfd::packet(params, flow, &packet.view(), now.0, random);
            }
            Marker::Ns2Sfd(table) => packet.colour = table.mark(packet.flow, u32::from(packet.bytes), now),
        }
    }
}
