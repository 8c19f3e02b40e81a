//! Markers by the sender's window: TCP-DS's three colours, and the window that SHRED's edge reconstructs.

use super::dice;
use super::table::grown;
use crate::flow::{Class, Flow};
use crate::packet::{Kind, Packet};
use crate::units::Time;
use mousehole_policy::{shred_edge, window_marker};

/// TCP-DS's marker at the hosts: by window, SYN and recovery; interactive connections always green.
///
/// Acknowledgements keep the colour of the data they acknowledge, which the receiver has put on them. The window that a
/// packet tells is the congestion window alone. Where the receiver's is smaller (ns-2's congestion window grows past it)
/// TCP-DS's colours are the same unless the receive window is below `med`; TCP-DS-R then marks fewer packets.
pub struct WindowMarker {
    params: Box<window_marker::Params>,
    /// Parameters of interactive connections.
    always_green: Box<window_marker::Params>,
    is_interactive: Vec<bool>,
    /// Seed of TCP-DS-R's dice; `None` where nothing is left to chance.
    seed: Option<u64>,
}

impl WindowMarker {
    /// A marker for hosts that have sent nothing.
    pub fn new(
        params: window_marker::Params,
        always_green: window_marker::Params,
        seed: Option<u64>,
    ) -> WindowMarker {
        WindowMarker {
            params: Box::new(params),
            always_green: Box::new(always_green),
            is_interactive: Vec::new(),
            seed,
        }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        *grown(&mut self.is_interactive, slot) = flow.class == Class::Interactive;
    }

    /// Colours a packet. `identity` names the flow across schemes.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet, identity: u64, now: Time) {
        if packet.kind == Kind::Ack {
            return;
        }
        let params = match self.is_interactive[packet.flow as usize] {
            true => &self.always_green,
            false => &self.params,
        };
        let random = self.seed.map_or(0, |seed| dice(seed, identity, packet, now));
        packet.colour = window_marker::packet(params, &packet.view(), random);
    }
}

/// SHRED's edge: writes the data a flow has outstanding into packets whose senders write no window.
///
/// It has to see both directions of a flow. In the simulator it looks at the acknowledgements as they reach the
/// uplink's far end, which is where such an edge would stand.
pub struct ShredEdge {
    params: Box<shred_edge::Params>,
    flows: Vec<shred_edge::Flow>,
}

impl ShredEdge {
    /// An edge that has seen nothing.
    pub fn new(params: shred_edge::Params) -> ShredEdge {
        ShredEdge { params: Box::new(params), flows: Vec::new() }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32) {
        *grown(&mut self.flows, slot) = shred_edge::Flow::default();
    }

    /// Writes the hint into a packet, or learns from one of the other direction.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet) {
        let hint = shred_edge::packet(&self.params, &mut self.flows[packet.flow as usize], &packet.view());
        if !packet.is_reverse() {
            packet.window_hint = hint;
        }
    }
}
