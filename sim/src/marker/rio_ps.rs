//! RIO-PS's edge: packets counted by flow, a table swept every T_u, a threshold adapted every T_c.

use super::table::Flows;
use crate::packet::Packet;
use crate::series::Series;
use crate::units::{Dur, Time};
use mousehole_policy::{Unit, flow_meter, rio_ps};

/// The edge with its state.
pub struct RioPs {
    params: Box<rio_ps::Params>,
    state: rio_ps::State,
    flows: Flows<flow_meter::Meter>,
    sweep: Dur,
    adapt: Dur,
    adapted: Time,
    threshold: Vec<(Time, f64)>,
}

impl RioPs {
    /// An edge that has seen nothing; it sweeps every `sweep` (T_u) and adapts every `adapt` (T_c).
    pub fn new(params: rio_ps::Params, sweep: Dur, adapt: Dur) -> RioPs {
        let state = rio_ps::State::default();
        let initial = f64::from(rio_ps::threshold(&params, &state));
        RioPs {
            params: Box::new(params),
            state,
            flows: Flows::new(|meter: &flow_meter::Meter| meter.count(Unit::Packets) > 0),
            sweep,
            adapt,
            adapted: Time::ZERO,
            threshold: vec![(Time::ZERO, initial)],
        }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32) {
        self.flows.open(slot);
    }

    /// How often [`RioPs::control`] is to be called.
    pub fn period(&self) -> Dur {
        self.sweep
    }

    /// Colours a packet.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet, now: Time) {
        let meter = self.flows.of(packet.flow);
        packet.colour = rio_ps::packet(&self.params, meter, &self.state, &packet.view(), now.0);
    }

    /// Sweeps the table; every T_c counts short and long flows and moves the threshold by one.
    pub fn control(&mut self, now: Time) {
        let params = &self.params;
        self.flows.sweep(|meter| rio_ps::expired(params, meter, now.0), |_| {});
        if now.since(self.adapted) < self.adapt {
            return;
        }
        self.adapted = now;
        let mut counts = rio_ps::Counts::default();
        for meter in self.flows.active() {
            match rio_ps::is_short(params, &self.state, meter) {
                true => counts.short_flows += 1,
                false => counts.long_flows += 1,
            }
        }
        rio_ps::control(params, &mut self.state, &counts, now.0);
        self.threshold.push((now, f64::from(rio_ps::threshold(params, &self.state))));
    }

    /// The threshold over time.
    pub fn series(&mut self) -> Vec<Series> {
        let points = std::mem::take(&mut self.threshold);
        vec![Series { link: String::new(), name: "threshold_packets", points }]
    }
}
