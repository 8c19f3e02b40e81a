//! Markers at run time. A marker stands at the network's edge, before the queue of a link, and sees every packet of its
//! direction.
//!
//! The decisions of a marker are in a policy header. One type runs all of them ([`PolicyMarker`]).

mod host;
mod ns2_sfd;
mod table;

use crate::flow::Flow;
use crate::packet::Packet;
use crate::series::Series;
use crate::units::Time;
pub use host::PolicyMarker;
use mousehole_policy::Key;
pub use ns2_sfd::Ns2Sfd;
use std::cell::RefCell;
use std::rc::Rc;

/// Every marker there is, with its state.
pub enum Marker {
    /// Leaves every packet as it is.
    None,
    /// A policy with a state for each flow or user.
    Policy(Box<PolicyMarker>),
    /// A policy that sees both directions of a link.
    Shared(Rc<RefCell<PolicyMarker>>),
    /// SFD as ns-2.35 implements it.
    Ns2Sfd(Ns2Sfd),
    /// Clears the window hint of every packet, as if senders wrote none.
    NoHint,
    /// Several markers, one behind the other.
    Chain(Vec<Marker>),
}

impl Marker {
    /// Returns the marker that runs a policy's header. A policy by connection is shared with the
    /// other direction; see [`Marker::other_direction`].
    pub fn from_policy(policy: PolicyMarker) -> Marker {
        match policy.policy().key() {
            Key::Connection => Marker::Shared(Rc::new(RefCell::new(policy))),
            Key::Flow | Key::User => Marker::Policy(Box::new(policy)),
        }
    }

    /// Returns one marker that applies several in order; [`Marker::None`] for an empty list.
    pub fn chain(mut all: Vec<Marker>) -> Marker {
        match all.len() {
            0 => Marker::None,
            1 => all.remove(0),
            _ => Marker::Chain(all),
        }
    }

    /// Records that a new connection uses `slot`: its 5-tuple is new. It must precede the
    /// connection's packets at every flow-aware marker.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        match self {
            Marker::None | Marker::NoHint => {}
            Marker::Policy(policy) => policy.open(slot, flow),
            Marker::Shared(policy) => policy.borrow_mut().open(slot, flow),
            Marker::Ns2Sfd(table) => table.open(slot),
            Marker::Chain(all) => all.iter_mut().for_each(|marker| marker.open(slot, flow)),
        }
    }

    /// Returns the marker for the other direction's queue, if it must see both directions; it
    /// shares its state with this one. `None` if no marker needs that.
    pub fn other_direction(&self) -> Option<Marker> {
        match self {
            Marker::Shared(policy) => Some(Marker::Shared(policy.clone())),
            Marker::Chain(all) => {
                let both: Vec<Marker> = all.iter().filter_map(Marker::other_direction).collect();
                (!both.is_empty()).then(|| Marker::chain(both))
            }
            _ => None,
        }
    }

    /// Returns those of its markers that act at a host, as one: all except the ones that act only
    /// at the network's edge. [`Marker::None`] if none is left.
    pub fn into_host_markers(self) -> Marker {
        match self {
            Marker::Chain(all) => {
                Marker::chain(all.into_iter().filter(|marker| !marker.is_at_edge_only()).collect())
            }
            other if other.is_at_edge_only() => Marker::None,
            other => other,
        }
    }

    /// Returns whether [`Marker::open`] must be called for every connection.
    pub fn is_flow_aware(&self) -> bool {
        !matches!(self, Marker::None | Marker::NoHint)
    }

    /// Returns when [`Marker::control`] is to be called next, the earliest of a chain; `None` if
    /// never.
    pub fn control_due(&self) -> Option<Time> {
        match self {
            Marker::Policy(policy) => policy.control_due(),
            Marker::Shared(policy) => policy.borrow().control_due(),
            Marker::Chain(all) => all.iter().filter_map(Marker::control_due).min(),
            Marker::None | Marker::NoHint | Marker::Ns2Sfd(_) => None,
        }
    }

    /// Runs the slow steps that are due by `now`: sweeps tables and adapts adaptive values.
    pub fn control(&mut self, now: Time) {
        match self {
            Marker::Policy(policy) => policy.control(now),
            Marker::Shared(policy) => policy.borrow_mut().control(now),
            Marker::Chain(all) => all.iter_mut().for_each(|marker| marker.control(now)),
            Marker::None | Marker::NoHint | Marker::Ns2Sfd(_) => {}
        }
    }

    /// Returns the values recorded over time, and forgets them.
    pub fn series(&mut self) -> Vec<Series> {
        match self {
            Marker::Policy(policy) => policy.series(),
            Marker::Shared(policy) => policy.borrow_mut().series(),
            Marker::Chain(all) => all.iter_mut().flat_map(Marker::series).collect(),
            Marker::None | Marker::NoHint | Marker::Ns2Sfd(_) => Vec::new(),
        }
    }

    /// Applies the markers that act only at the network's edge, which are policers, to a packet
    /// that its host has marked already. Returns false if the packet is dropped; later markers of a
    /// chain do not see it then. Other markers are passed over.
    pub fn police(&mut self, packet: &mut Packet, identity: u64, now: Time) -> bool {
        match self {
            Marker::Chain(all) => all.iter_mut().all(|marker| marker.police(packet, identity, now)),
            marker if marker.is_at_edge_only() => marker.mark(packet, identity, now),
            _ => true,
        }
    }

    /// Colours a packet or changes its hint, and updates the marker's state. Returns false if it is
    /// dropped; later markers of a chain do not see it then. `identity` names the flow across
    /// schemes, for its random numbers.
    pub fn mark(&mut self, packet: &mut Packet, identity: u64, now: Time) -> bool {
        match self {
            Marker::None => {}
            Marker::Policy(policy) => return policy.mark(packet, identity, now),
            Marker::Shared(policy) => return policy.borrow_mut().mark(packet, identity, now),
            Marker::Ns2Sfd(table) => packet.colour = table.mark(packet.flow, u32::from(packet.bytes), now),
            Marker::NoHint => packet.window_hint = 0,
            Marker::Chain(all) => return all.iter_mut().all(|marker| marker.mark(packet, identity, now)),
        }
        true
    }

    /// Returns whether it acts only at the network's edge, not at a host.
    fn is_at_edge_only(&self) -> bool {
        matches!(self, Marker::Policy(policy) if policy.policy().is_at_edge_only())
    }
}
