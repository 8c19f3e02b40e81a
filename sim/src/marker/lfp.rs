//! LFP's edge: meter, elephant detector and promotion, with the table that feeds the history of sizes.

use super::table::Flows;
use crate::packet::Packet;
use crate::series::Series;
use crate::units::{Dur, Time};
use mousehole_policy::{Unit, lfp};

/// How often expired flows are swept into the history.
pub const SWEEP: Dur = Dur(1_000_000_000);

/// The edge with its state.
pub struct Lfp {
    params: Box<lfp::Params>,
    state: Box<lfp::State>,
    flows: Flows<lfp::Flow>,
    quantile: Vec<(Time, f64)>,
}

impl Lfp {
    /// An edge that has seen nothing.
    pub fn new(params: lfp::Params) -> Lfp {
        Lfp {
            params: Box::new(params),
            state: Box::default(),
            flows: Flows::new(|flow: &lfp::Flow| flow.meter().count(Unit::Packets) > 0),
            quantile: Vec::new(),
        }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32) {
        self.flows.open(slot);
    }

    /// Colours a packet.
    pub fn mark(&mut self, packet: &mut Packet, now: Time) {
        let flow = self.flows.of(packet.flow);
        packet.colour = lfp::packet(&self.params, flow, &mut self.state, &packet.view(), now.0);
    }

    /// Sweeps the table; notes the quantile that makes an elephant when it has changed.
    pub fn control(&mut self, now: Time) {
        let (params, state) = (&self.params, &mut self.state);
        self.flows.sweep(
            |flow| lfp::expired(params, flow, now.0),
            |flow| lfp::flow_end(params, state, flow.meter().count(Unit::Packets)),
        );
        if let Some(packets) = self.state.history().quantile() {
            let value = f64::from(packets);
            if self.quantile.last().is_none_or(|&(_, last)| last != value) {
                self.quantile.push((now, value));
            }
        }
    }

    /// The quantile over time.
    pub fn series(&mut self) -> Vec<Series> {
        let points = std::mem::take(&mut self.quantile);
        vec![Series { link: String::new(), name: "elephant_packets", points }]
    }
}
