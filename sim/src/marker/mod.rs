//! Markers at work: per-flow state of the policies, and what is only ns-2's.
//!
//! A marker stands at the edge, before the queue of a link; it sees every packet of its direction.

mod demotion;
mod lfp;
mod ns2_sfd;
mod rio_ps;
mod table;
mod users;
mod window;

use crate::flow::{Class, Flow};
use crate::packet::{Colour, Packet};
use crate::rng::{Purpose, Stream};
use crate::series::Series;
use crate::units::{Dur, Time};
pub use demotion::Demotion;
pub use lfp::Lfp;
use mousehole_policy::sfd;
pub use ns2_sfd::Ns2Sfd;
pub use rio_ps::RioPs;
use std::cell::RefCell;
use std::rc::Rc;
use table::grown;
pub use users::{Aggregate, Policer};
pub use window::{ShredEdge, WindowMarker};

/// Every marker there is, with its state.
pub enum Marker {
    /// Leaves every packet as it is.
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
    /// LFP's meter, promotion and elephant detector.
    Lfp(Lfp),
    /// RIO-PS's meter with its adaptive threshold.
    RioPs(RioPs),
    /// Demotion by bytes sent.
    Demotion(Demotion),
    /// TCP-DS's, by the sender's window.
    Window(WindowMarker),
    /// SHRED's edge, shared by both directions of a link.
    ShredEdge(Rc<RefCell<ShredEdge>>),
    /// Takes the window out of every packet: senders that do not tell.
    NoHint,
    /// A colour by application class: interactive, web, bulk.
    Class(ClassMarker),
    /// Token buckets over a user's aggregate.
    Aggregate(Aggregate),
    /// A marker whose colours are policed by each user's contract.
    Policed(Box<Marker>, Policer),
}

/// APPL's marker: green for interactive, yellow for web, red for bulk connections.
#[derive(Debug, Default)]
pub struct ClassMarker {
    colours: Vec<Colour>,
}

impl ClassMarker {
    fn open(&mut self, slot: u32, class: Class) {
        *grown(&mut self.colours, slot) = Colour::ALL[class as usize];
    }
}

impl Marker {
    /// A connection took over `slot`: its 5-tuple is new.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        match self {
            Marker::None | Marker::NoHint => {}
            Marker::Sfd { flows, .. } => *grown(flows, slot) = sfd::Flow::default(),
            Marker::RioPs(edge) => edge.open(slot),
            Marker::Demotion(edge) => edge.open(slot),
            Marker::Window(hosts) => hosts.open(slot, flow),
            Marker::ShredEdge(edge) => edge.borrow_mut().open(slot),
            Marker::Ns2Sfd(table) => table.open(slot),
            Marker::Lfp(edge) => edge.open(slot),
            Marker::Class(classes) => classes.open(slot, flow.class),
            Marker::Aggregate(edge) => edge.open(slot, flow),
            Marker::Policed(marker, policer) => {
                marker.open(slot, flow);
                policer.open(slot, flow);
            }
        }
    }

    /// The part of it that stands before the other direction's queue, if it must see both.
    pub fn other_direction(&self) -> Option<Marker> {
        match self {
            Marker::ShredEdge(edge) => Some(Marker::ShredEdge(edge.clone())),
            _ => None,
        }
    }

    /// The marker alone, as it stands at a host, which shapes; the network's edge polices.
    pub fn unpoliced(self) -> Marker {
        match self {
            Marker::Policed(marker, _) => *marker,
            other => other,
        }
    }

    /// Whether it must be told of every connection.
    pub fn knows_flows(&self) -> bool {
        !matches!(self, Marker::None | Marker::NoHint)
    }

    /// How often [`Marker::control`] is to be called, if at all.
    pub fn period(&self) -> Option<Dur> {
        match self {
            Marker::Lfp(_) => Some(lfp::SWEEP),
            Marker::RioPs(edge) => Some(edge.period()),
            Marker::Policed(marker, _) => marker.period(),
            _ => None,
        }
    }

    /// The slow step: sweeps the table and adapts what is adaptive.
    pub fn control(&mut self, now: Time) {
        match self {
            Marker::Lfp(edge) => edge.control(now),
            Marker::RioPs(edge) => edge.control(now),
            Marker::Policed(marker, _) => marker.control(now),
            _ => {}
        }
    }

    /// What it noted over time.
    pub fn series(&mut self) -> Vec<Series> {
        match self {
            Marker::Lfp(edge) => edge.series(),
            Marker::RioPs(edge) => edge.series(),
            Marker::Policed(marker, _) => marker.series(),
            _ => Vec::new(),
        }
    }

    /// Holds a packet that its host has marked to its user's contract; false if it is dropped.
    pub fn police(&mut self, packet: &mut Packet, now: Time) -> bool {
        match self {
            Marker::Policed(_, policer) => policer.passes(packet, now),
            _ => true,
        }
    }

    /// Colours a packet; false if it is dropped. `identity` names the flow across schemes, for its dice.
    pub fn mark(&mut self, packet: &mut Packet, identity: u64, now: Time) -> bool {
        match self {
            Marker::None => {}
            Marker::Sfd { params, flows, seed } => {
                let flow = &mut flows[packet.flow as usize];
                let random = seed.map_or(0, |seed| dice(seed, identity, packet, now));
                packet.colour = sfd::packet(params, flow, &packet.view(), now.0, random);
            }
            Marker::Ns2Sfd(table) => packet.colour = table.mark(packet.flow, u32::from(packet.bytes), now),
            Marker::Lfp(edge) => edge.mark(packet, now),
            Marker::RioPs(edge) => edge.mark(packet, now),
            Marker::Demotion(edge) => edge.mark(packet, now),
            Marker::Window(hosts) => hosts.mark(packet, identity, now),
            Marker::ShredEdge(edge) => edge.borrow_mut().mark(packet),
            Marker::NoHint => packet.window_hint = 0,
            Marker::Class(classes) => packet.colour = classes.colours[packet.flow as usize],
            Marker::Aggregate(edge) => edge.mark(packet, now),
            Marker::Policed(marker, policer) => {
                return marker.mark(packet, identity, now) && policer.passes(packet, now);
            }
        }
        true
    }
}

/// 32 uniform bits for one packet of a flow, the same under every scheme.
fn dice(seed: u64, identity: u64, packet: &Packet, now: Time) -> u32 {
    let index = u64::from(packet.seq) << 32 ^ now.0;
    Stream::new(seed, Purpose::Marker, identity).at(index) as u32
}
