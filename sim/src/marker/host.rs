//! The host of a marker policy: it maintains the table of flows, sweeps it, and runs the policy's slow step.

use super::table::{Table, grow_to};
use crate::flow::Flow;
use crate::packet::Packet;
use crate::rng::{Purpose, Stream};
use crate::series::Series;
use crate::units::{Dur, Time};
use mousehole_policy::{Answer, Application, Counts, MarkFn, Params, Policy, State};

/// A marker policy at work.
#[derive(Clone)]
pub struct PolicyMarker {
    params: Params,
    mark: MarkFn,
    state: State,
    table: Table,
    /// The application of each slot's connection.
    applications: Vec<Application>,
    /// Seed of the random numbers; `None` where the policy reads none.
    seed: Option<u64>,
    /// How often the table is swept, and when next.
    period: Option<Dur>,
    due: Time,
    /// The policy's readings over time, by reading.
    readings: Vec<Vec<(Time, f64)>>,
}

impl PolicyMarker {
    /// Returns a marker that has seen no packet; `seed` is that of its random numbers. A policy
    /// with a period takes its first slow step at once, at time zero.
    ///
    /// # Panics
    /// When the parameters are not those of a marker.
    pub fn new(params: Params, seed: u64) -> PolicyMarker {
        let policy = params.policy();
        let period = policy.period_ns(&params).map(Dur);
        let mut marker = PolicyMarker {
            mark: policy.marker().expect("a marker's parameters"),
            state: policy.new_state(),
            table: Table::new(policy, period.is_some()),
            applications: Vec::new(),
            seed: policy.draws(&params).then_some(seed),
            period,
            due: Time::ZERO + period.unwrap_or(Dur::ZERO),
            readings: vec![Vec::new(); policy.readings().len()],
            params,
        };
        if period.is_some() {
            marker.run_slow_step(Time::ZERO);
        }
        marker
    }

    /// Returns the policy that it runs.
    pub fn policy(&self) -> &'static Policy {
        self.params.policy()
    }

    /// Records that a new connection uses `slot`, with its application, and starts its state in the
    /// table. It must precede the connection's packets.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.table.open(slot, flow);
        *grow_to(&mut self.applications, slot) = flow.class.application();
    }

    /// Returns when [`PolicyMarker::control`] is to be called next; `None` if never.
    pub fn control_due(&self) -> Option<Time> {
        self.period.map(|_| self.due)
    }

    /// Colours a packet, or writes its window hint, and updates the states of its flow and of the
    /// policy. Returns false if the policy drops it. A hint on a reverse packet is ignored.
    /// `identity` names the flow across schemes, for its random numbers. It panics for a slot that
    /// was not opened.
    #[inline]
    pub fn mark(&mut self, packet: &mut Packet, identity: u64, now: Time) -> bool {
        let view = packet.view().with_application(self.applications[packet.flow as usize]);
        let random = self.seed.map_or(0, |seed| random_bits(seed, identity, packet, now));
        let flow = self.table.state(packet.flow);
        match self.mark.call(&self.params, flow, &mut self.state, &view, now.0, random) {
            Answer::Colour(colour) => packet.colour = colour,
            Answer::Hint(hint) if !packet.is_reverse() => packet.window_hint = hint,
            Answer::Hint(_) => {}
            Answer::Discard => return false,
        }
        true
    }

    /// Forgets expired flows and runs the policy's slow step, if they are due; the next are due a
    /// period after `now`. A policy without a period never has any.
    pub fn control(&mut self, now: Time) {
        let Some(period) = self.period.filter(|_| self.due <= now) else { return };
        self.due = now + period;
        let (policy, params, state) = (self.params.policy(), &self.params, &mut self.state);
        self.table.sweep(|flow| {
            let is_over = policy.expired(params, flow, now.0);
            if is_over {
                policy.flow_end(params, flow, state);
            }
            is_over
        });
        self.run_slow_step(now);
    }

    /// Returns the policy's readings over time, by reading, and forgets them.
    pub fn series(&mut self) -> Vec<Series> {
        let names = self.policy().readings();
        let points = self.readings.iter_mut().map(std::mem::take);
        let series =
            names.into_iter().zip(points).map(|(name, points)| Series { name, points, ..Series::default() });
        series.collect()
    }

    /// Runs the policy's slow step, for which an adaptive policy counts the flows of the table. It
    /// records the readings if the step was taken or if they have changed, but never NaN.
    fn run_slow_step(&mut self, now: Time) {
        let policy = self.params.policy();
        let mut counts = Counts::default();
        if policy.adapts() {
            for flow in self.table.states() {
                policy.count_flow(&self.params, flow, &self.state, &mut counts);
            }
        }
        let stepped = policy.control(&self.params, &mut self.state, &counts, now.0);
        for (points, value) in self.readings.iter_mut().zip(policy.read(&self.params, &self.state)) {
            let is_new = points.last().is_none_or(|&(_, last)| last != value);
            if !value.is_nan() && (stepped || is_new) {
                points.push((now, value));
            }
        }
    }
}

/// Returns 32 uniform bits for one packet of a flow, by its number and the time: the same under
/// every scheme in which the packet comes at that time.
fn random_bits(seed: u64, identity: u64, packet: &Packet, now: Time) -> u32 {
    let index = u64::from(packet.seq) << 32 ^ now.0;
    Stream::new(seed, Purpose::Marker, identity).draw_at(index) as u32
}
