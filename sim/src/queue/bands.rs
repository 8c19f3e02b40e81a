//! The host of a queue header, for the simulator's packets: strict priority, weighted shares, users' headers.
//!
//! `mousehole_policy::Bands` holds the packets and calls the header. In addition to a packet's view the header may read
//! the hash of its flow and the application of its connection, which are recorded here when connections open.

use super::flow_names::FlowNames;
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::packet::{Packet, flag};
use crate::rng::{Stream, mix};
use crate::units::Time;
use mousehole_policy::{Application, Backlog, Params, Verdict, View, Waits};

impl Waits for Packet {
    #[inline]
    fn view(&self) -> View {
        Packet::view(self)
    }

    /// Marks the packet (CE) if it is ECN-capable.
    #[inline]
    fn mark(&mut self) {
        if self.has(flag::ECT) {
            self.flags |= flag::CE;
        }
    }
}

/// A queue header at work.
pub struct Bands {
    bands: mousehole_policy::Bands<Packet>,
    draws: bool,
    perturbation: u64,
    /// The names of flows, if the header reads hashes.
    names: Option<FlowNames>,
    /// The application of each slot's connection, if the header reads applications.
    applications: Option<Vec<Application>>,
}

impl Bands {
    /// Returns an empty queue whose hash is perturbed by `perturbation`.
    ///
    /// # Panics
    /// When the parameters are not those of a queue.
    pub fn new(params: Params, perturbation: u64) -> Bands {
        let policy = params.policy();
        Bands {
            draws: policy.draws(&params),
            perturbation,
            names: policy.reads_flows().then(FlowNames::default),
            applications: policy.reads_applications().then(Vec::new),
            bands: mousehole_policy::Bands::new(params),
        }
    }

    /// Records the name and application of a new connection in `slot`, as far as the header reads
    /// them.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        if let Some(names) = &mut self.names {
            names.open(slot, flow);
        }
        if let Some(all) = &mut self.applications {
            let slot = slot as usize;
            all.resize(all.len().max(slot + 1), Application::Unknown);
            all[slot] = flow.class.application();
        }
    }

    /// Returns whether it keeps state per connection, so that `open` must be called for every new one.
    pub fn is_flow_aware(&self) -> bool {
        self.names.is_some() || self.applications.is_some()
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        let all = self.bands.waiting().all();
        (all.packets, all.bytes)
    }

    /// Returns the backlog of a band, for traces and tests. It panics if there is no such band.
    pub fn band(&self, band: usize) -> &Backlog {
        &self.bands.waiting().band(band).waiting
    }

    /// Returns the policy's readings, for traces and tests.
    pub fn readings(&self) -> Vec<f64> {
        self.bands.readings()
    }

    /// Queues or drops an arrival; dropped packets go into `drops`, also older ones for which the
    /// header makes room. One draw of `rng` is used where the policy draws.
    #[inline]
    pub fn enqueue(&mut self, packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Dropped>) {
        let hash = self
            .names
            .as_ref()
            .map_or(0, |names| (mix(self.perturbation ^ names.name(&packet)) >> 32) as u32);
        let view = packet.view().with_application(self.find_application(&packet));
        let random = if self.draws { rng.bits32() } else { 0 };
        self.bands.enqueue(packet, &view, (hash, random), now.0, |packet, verdict| {
            drops.push(to_dropped(packet, verdict));
        });
    }

    /// Returns the next packet and its arrival time, perhaps with a mark; packets that the policy
    /// drops at the head go into `drops`. [`Dequeued::Empty`] if none is left.
    #[inline]
    pub fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Dequeued {
        let next = self.bands.dequeue(now.0, |packet, verdict| drops.push(to_dropped(packet, verdict)));
        next.map_or(Dequeued::Empty, |(packet, since_ns, _)| Dequeued::Packet(packet, Time(since_ns)))
    }

    /// Returns the application of a packet's connection; `Unknown` for a connection that was not
    /// opened here.
    fn find_application(&self, packet: &Packet) -> Application {
        let all = self.applications.as_deref().unwrap_or_default();
        all.get(packet.flow as usize).copied().unwrap_or_default()
    }
}

/// Returns the record of a dropped packet; every verdict but an early drop counts as forced.
fn to_dropped(packet: Packet, verdict: Verdict) -> Dropped {
    let reason = if verdict == Verdict::Early { DropReason::Early } else { DropReason::Forced };
    Dropped { packet, reason }
}
