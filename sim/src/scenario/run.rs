//! From a plan to records.

use super::plan::Plan;
use super::scheme::{Place, Scheme};
use super::topology::{PlannedLink, Runs};
use super::{alone, mix, sources};
use crate::engine::layout::{DOWN, UP};
use crate::engine::source::{List, Source};
use crate::engine::{Apps, Outcome, Setup, World, server::Servers};
use crate::error::Result;
use crate::link::Link;
use crate::marker::Marker;
use crate::queue::{Fifo, Policy, Queue};
use crate::traffic::Traffic;
use crate::units::{Buffer, Time};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Everything a run leaves.
#[derive(Debug)]
pub struct RunResult {
    /// Records of the engine.
    pub outcome: Outcome,
    /// Response time of each transfer alone on the same path with the same TCP, seconds; one per transfer.
    pub alone_s: Vec<f64>,
    /// How the link was loaded.
    pub load: Load,
    /// Payload bits per second that arrived at clients within the window.
    pub goodput_bps: f64,
    /// The same at servers.
    pub goodput_up_bps: f64,
    /// Names of the sources of traffic by the numbers in records.
    pub sources: Vec<(u16, String)>,
}

/// How the link was loaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// What was asked for, wire bytes over capacity.
    pub target: Option<f64>,
    /// Load of the files as they are: the scenario's own, or the first ones of its mix.
    pub native: Option<f64>,
    /// Copies laid over each other.
    pub copies: u32,
    /// Factor by which start times were stretched.
    pub dilation: f64,
    /// Load of the copies after stretching.
    pub achieved: Option<f64>,
    /// Sessions per second, of closed-loop models.
    pub session_rate: Option<f64>,
}

impl Default for Load {
    fn default() -> Self {
        Load { target: None, native: None, copies: 1, dilation: 1.0, achieved: None, session_rate: None }
    }
}

impl Load {
    /// Adds what a source of a mix offers; the first files tell of copies if the scenario has none of its own.
    pub(super) fn add(&mut self, own: &Load, is_upload: bool) {
        if self.native.is_none() {
            (self.native, self.copies, self.dilation) = (own.native, own.copies, own.dilation);
        }
        let offered = own.achieved.filter(|_| !is_upload);
        self.achieved = match (self.achieved, offered) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0.0) + other.unwrap_or(0.0)),
        };
    }
}

impl RunResult {
    /// Whether no packet was lost or invented, at any link and from end to end.
    pub fn is_conserved(&self) -> bool {
        self.outcome.is_conserved()
    }
}

/// Runs a plan; `traffic` is what was read from its files, if it names any.
///
/// # Errors
/// [`Error::Field`] when the traffic cannot be played as asked, [`Error::Cancelled`] after a cancel.
pub fn run(plan: &Plan, traffic: Option<Arc<Traffic>>, cancel: &AtomicBool) -> Result<RunResult> {
    let seed = replication_seed(plan);
    let mut apps = Apps::default();
    let traffic = sources::inputs(plan, traffic)?;
    let (source, load) = sources::all(plan, &traffic, &mut apps)?;
    let setup = Setup {
        params: plan.params.clone(),
        layout: plan.layout.clone(),
        links: links(plan, seed)?,
        markers: markers(plan, seed)?,
        source,
        apps,
        bulk: sources::bulk(plan, seed).map(|flows| List::long_lived(Arc::new(flows))),
        servers: plan.server.map(|(rate, order)| Servers::new(rate, order)),
        traffic: traffic.clone(),
        rtt: plan.own_rtt,
        window: plan.window(),
        deadline: plan.deadline(),
        seed,
        trace: plan.scenario.trace,
    };
    let outcome = World::new(setup).run(cancel)?;
    let alone_s = alone::times(plan, &traffic, &outcome, cancel)?;
    let [goodput_bps, goodput_up_bps] = [outcome.goodput_bytes, outcome.goodput_up_bytes]
        .map(|bytes| bytes as f64 * 8.0 / plan.duration.as_secs());
    let sources = mix::names(&plan.scenario.traffic);
    Ok(RunResult { outcome, alone_s, load, goodput_bps, goodput_up_bps, sources })
}

/// The engine set up to play `traffic` one connection after the other on the plan's empty path.
pub(crate) fn alone_setup(plan: &Plan, traffic: Arc<Traffic>, request_bytes: Vec<u16>) -> Setup {
    let link = |(number, planned): (usize, &PlannedLink)| {
        let mut link = Link::new(&planned.name, number as u64, planned.rate, planned.delay, fifo(ENDLESS), 0);
        link.set_overhead(planned.overhead);
        link
    };
    let links: Vec<Link> = plan.links.iter().enumerate().map(link).collect();
    Setup {
        params: plan.params.clone(),
        layout: plan.layout.clone(),
        markers: (0..links.len()).map(|_| Marker::None).collect(),
        links,
        source: Source::Isolated(crate::engine::source::Isolated::new(traffic.clone(), request_bytes)),
        apps: Apps::default(),
        bulk: None,
        servers: None,
        traffic,
        rtt: plan.own_rtt,
        window: (Time::ZERO, Time(u64::MAX - 1)),
        deadline: Time(u64::MAX - 1),
        seed: 0,
        trace: false,
    }
}

/// The seed of one replication: base seed and number, mixed.
pub(super) fn replication_seed(plan: &Plan) -> u64 {
    crate::rng::mix(plan.scenario.seed)
        .wrapping_add(crate::rng::mix(u64::from(plan.scenario.replication) | 1 << 40))
}

const ENDLESS: Buffer = Buffer::Packets(u32::MAX);

fn fifo(buffer: Buffer) -> Queue {
    Queue::Fifo(Fifo::new(buffer, Policy::DropTail))
}

fn links(plan: &Plan, seed: u64) -> Result<Vec<Link>> {
    let link = |(number, planned): (usize, &PlannedLink)| {
        let place = place(plan, planned, seed, number);
        let queue = match planned.runs {
            Runs::Fifo => fifo(planned.buffer),
            Runs::Scheme => plan.scheme.queue(place)?,
            Runs::Host => plan.scheme.host_queue(place)?.unwrap_or_else(|| fifo(planned.buffer)),
        };
        let link = Link::new(&planned.name, number as u64, planned.rate, planned.delay, queue, seed);
        Ok(link.with(planned.fault.clone(), planned.overhead, plan.scenario.slow_path))
    };
    plan.links.iter().enumerate().map(link).collect()
}

fn markers(plan: &Plan, seed: u64) -> Result<Vec<Marker>> {
    let marker = |(number, planned): (usize, &PlannedLink)| match planned.is_marked {
        true if planned.runs == Runs::Host => {
            Ok(plan.scheme.marker(place(plan, planned, seed, number))?.at_host())
        }
        true => plan.scheme.marker(place(plan, planned, seed, number)),
        false => Ok(Marker::None),
    };
    let mut markers = plan.links.iter().enumerate().map(marker).collect::<Result<Vec<_>>>()?;
    if let Some(other) = markers[usize::from(DOWN)].other_direction() {
        markers[usize::from(UP)] = other;
    }
    Ok(markers)
}

fn place(plan: &Plan, planned: &PlannedLink, seed: u64, number: usize) -> Place {
    let bottleneck = plan.rate;
    Place { rate: planned.rate, bottleneck, buffer: planned.buffer, seed, link: number as u64 }
}

/// Parameters of a scheme as text, for manifests.
pub fn scheme_parameters(scheme: &Scheme) -> Vec<(String, String)> {
    scheme.parameters().into_iter().map(|(name, _, value)| (name, value)).collect()
}
