//! Demotion by bytes sent: PIAS, `ct bytes`.

use super::table::grown;
use crate::packet::Packet;
use crate::units::Time;
use mousehole_policy::{demotion, flow_meter};

/// The edge with the meters of its flows, by slot.
pub struct Demotion {
    params: Box<demotion::Params>,
    flows: Vec<flow_meter::Meter>,
}

impl Demotion {
    /// An edge that has seen nothing.
    pub fn new(params: demotion::Params) -> Demotion {
        Demotion { params: Box::new(params), flows: Vec::new() }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32) {
        *grown(&mut self.flows, slot) = flow_meter::Meter::default();
    }

    /// Colours a packet.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet, now: Time) {
        let meter = &mut self.flows[packet.flow as usize];
        packet.colour = demotion::packet(&self.params, meter, &packet.view(), now.0);
    }
}
