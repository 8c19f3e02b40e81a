//! Builds the world of a plan, runs it and returns its records.

use super::link_context::LinkContext;
use super::load::Load;
use super::outcomes::{self, Needed};
use super::plan::Plan;
use super::scheme::Scheme;
use super::topology::{PlannedLink, Runs, Shaper};
use super::{build, ideal_time, mix, sources};
use crate::engine::layout::{DOWN, UP};
use crate::engine::source::List;
use crate::engine::{Apps, Outcome, Setup, World, server::Servers};
use crate::error::{Error, Result};
use crate::link::{Fault, Link};
use crate::marker::Marker;
use crate::queue::{Fifo, Policy, Queue};
use crate::traffic::Traffic;
use crate::traffic::class::FlowClass;
use crate::units::{Buffer, Dur};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The results of a run.
#[derive(Debug)]
pub struct RunResult {
    /// Records of the engine.
    pub outcome: Outcome,
    /// Ideal completion time of each transfer, seconds; see [`ideal_time`].
    pub ideal_s: Vec<f64>,
    /// The load that the sources offered.
    pub load: Load,
    /// Payload bits per second that arrived at clients within the measured window.
    pub goodput_bps: f64,
    /// Payload bits per second that arrived at servers within the measured window.
    pub goodput_up_bps: f64,
    /// Names of the sources of traffic by the numbers in records.
    pub sources: Vec<(u16, String)>,
    /// Names of the groups of sources whose recorded flows have several classes, by the source's number.
    pub groups: Vec<(u16, FlowClass, String)>,
    /// The needs of datagram flows by the user's profiles.
    pub needs: Vec<Needed>,
}

impl RunResult {
    /// Returns whether no packet was lost or invented, at any link and from end to end.
    pub fn is_conserved(&self) -> bool {
        self.outcome.is_conserved()
    }
}

/// Returns a name for each class of a source that has several classes. The name begins with the
/// source's if there are several sources.
fn name_groups(traffic: &Traffic, sources: &[(u16, String)]) -> Vec<(u16, FlowClass, String)> {
    let named = |(number, class): (u16, FlowClass)| {
        let source = sources.iter().find(|(known, _)| *known == number).filter(|_| sources.len() > 1);
        let name =
            source.map_or(class.plural().to_string(), |(_, name)| format!("{name}, {}", class.plural()));
        (number, class, name)
    };
    traffic.groups().into_iter().map(named).collect()
}

/// Runs a plan and computes the ideal times of its transfers. `traffic` is the traffic read from
/// its files; it may be `None` if the plan names no files. A fault of a policy that this thread
/// recorded before is forgotten.
///
/// # Errors
/// `Error::Field` when the traffic cannot be played as asked, `Error::File` when a user's policy
/// gave an answer out of range, `Error::Cancelled` after a cancel.
pub fn run(plan: &Plan, traffic: Option<Arc<Traffic>>, cancel: &AtomicBool) -> Result<RunResult> {
    let seed = plan.replication_seed();
    let mut apps = Apps { percentiles: outcomes::list_percentiles(plan), ..Apps::default() };
    let replayed = sources::load_replay(plan, traffic)?;
    let (source, load) = sources::build_sources(plan, &replayed, &mut apps)?;
    let traffic = replayed.traffic;
    let sources = mix::source_names(&plan.scenario.traffic);
    let groups = name_groups(&traffic, &sources);
    let needs = outcomes::find_needs(plan, &traffic, &sources, &groups)?;
    let bottlenecks = Parts::new(plan);
    let setup = Setup {
        senders: plan.senders.clone(),
        layout: plan.layout.clone(),
        links: bottlenecks.build_links(seed)?,
        markers: bottlenecks.build_markers(seed)?,
        source,
        apps,
        bulk: sources::bulk_flows(plan, seed).map(|flows| List::long_lived(Arc::new(flows))),
        servers: plan.server.map(|(rate, order)| Servers::new(rate, order)),
        traffic: traffic.clone(),
        rtt: plan.own_rtt,
        window: plan.window(),
        deadline: plan.deadline(),
        seed,
        trace: plan.scenario.trace,
        positions: plan.scheme.policies().iter().any(|policy| policy.reads_positions()),
        nqb: plan.scenario.traffic.nqb,
        sampled: plan.sampled,
        data_link: plan.data_link,
    };
    let _ = mousehole_policy::take_fault();
    let outcome = World::new(setup).run(cancel)?;
    refuse_fault()?;
    let ideal_s = ideal_time::compute_ideal_times(plan, &traffic, &outcome, cancel)?;
    let [goodput_bps, goodput_up_bps] = [outcome.goodput_bytes, outcome.goodput_up_bytes]
        .map(|bytes| bytes as f64 * 8.0 / plan.duration.as_secs());
    Ok(RunResult { outcome, ideal_s, load, goodput_bps, goodput_up_bps, sources, groups, needs })
}

/// Refuses a run in which a user's policy gave an answer out of range in this thread, and forgets
/// the fault.
///
/// # Errors
/// [`Error::File`] naming the policy's header.
pub fn refuse_fault() -> Result<()> {
    mousehole_policy::take_fault().map_or(Ok(()), |fault| Err(Error::file(fault.header, fault.problem)))
}

/// The parts of a plan from which links and markers are built.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub links: &'a [PlannedLink],
    pub scheme: &'a Scheme,
    /// Every queue takes its slow path.
    pub slow_path: bool,
}

impl<'a> Parts<'a> {
    /// Returns the parts of a plan.
    fn new(plan: &'a Plan) -> Parts<'a> {
        Parts { links: &plan.links, scheme: &plan.scheme, slow_path: plan.scenario.slow_path }
    }

    /// Returns the links with their queues, by number. A shaped link has the scheme's queue in its
    /// shaper and a modem's FIFO on the line.
    ///
    /// # Errors
    /// [`Error::Field`] when a value of the scheme does not fit a link.
    pub fn build_links(&self, seed: u64) -> Result<Vec<Link>> {
        let link = |(number, planned): (usize, &PlannedLink)| {
            let context = self.link_context(planned, seed, number);
            let queue = match planned.runs {
                Runs::Fifo => build_fifo(planned.buffer),
                Runs::Scheme => build::build_queue(self.scheme, context)?,
                Runs::Host => build::build_host_queue(self.scheme, context)?
                    .unwrap_or_else(|| build_fifo(planned.buffer)),
            };
            let name = &planned.name;
            let Some(shaper) = self.shaper(planned) else {
                return Ok(build_line(planned, name, number, queue, seed).with_settings(
                    planned.fault.clone(),
                    planned.wire,
                    self.slow_path,
                ));
            };
            let link = Link::new(name, number as u64, shaper.rate, Dur::ZERO, queue, seed);
            let mut link = link.with_settings(planned.fault.clone(), shaper.wire, true);
            if !self.scheme.shapes_by_clock() {
                link.set_burst(shaper.burst);
            }
            let modem =
                build_line(planned, &format!("{name}-modem"), number, build_fifo(planned.buffer), seed);
            link.set_modem(modem.with_settings(Fault::default(), planned.wire, false));
            Ok(link)
        };
        self.links.iter().enumerate().map(link).collect()
    }

    /// Returns the marker before the queue of each link, by number. A marker that must see both
    /// directions also stands at the other end of the bottleneck.
    ///
    /// # Errors
    /// [`Error::Field`] when a value of the scheme does not fit a link.
    pub fn build_markers(&self, seed: u64) -> Result<Vec<Marker>> {
        let marker = |(number, planned): (usize, &PlannedLink)| match planned.is_marked {
            true if planned.runs == Runs::Host => {
                Ok(build::build_marker(self.scheme, self.link_context(planned, seed, number))?
                    .into_host_markers())
            }
            true => build::build_marker(self.scheme, self.link_context(planned, seed, number)),
            false => Ok(Marker::None),
        };
        let mut markers = self.links.iter().enumerate().map(marker).collect::<Result<Vec<_>>>()?;
        for (own, way_back) in
            [(DOWN, UP), (UP, DOWN)].map(|(own, back)| (usize::from(own), usize::from(back)))
        {
            if let Some(other) = markers[own].other_direction() {
                markers[way_back] = other;
                break;
            }
        }
        Ok(markers)
    }

    /// Returns the shaper before a link, if there is one and the scheme's queue runs in it;
    /// otherwise `None`.
    fn shaper(&self, planned: &'a PlannedLink) -> Option<&'a Shaper> {
        planned.shaper.as_ref().filter(|_| planned.runs == Runs::Scheme && !self.scheme.stays_on_line())
    }

    /// Returns the properties of link `number` that parts of a scheme can read. They are those of
    /// its shaper if the scheme's queue runs in it.
    fn link_context(&self, planned: &PlannedLink, seed: u64, number: usize) -> LinkContext {
        let bottleneck = &self.links[usize::from(if number == usize::from(UP) { UP } else { DOWN })];
        let rate = |link| self.shaper(link).map_or(link.rate, |shaper| shaper.rate);
        let shaper = self.shaper(planned);
        LinkContext {
            rate: rate(planned),
            bottleneck: rate(bottleneck),
            buffer: shaper.map_or(planned.buffer, |shaper| shaper.buffer),
            wire: shaper.map_or(planned.wire, |shaper| shaper.wire),
            seed,
            link: number as u64,
        }
    }
}

/// Returns a link with this queue and the planned rate, trace, burst and delay.
fn build_line(planned: &PlannedLink, name: &str, number: usize, queue: Queue, seed: u64) -> Link {
    let mut link = Link::new(name, number as u64, planned.rate, planned.delay, queue, seed);
    link.set_burst(planned.burst);
    if let Some(trace) = &planned.trace {
        link.set_trace(trace.clone());
    }
    link
}

/// Returns a drop-tail queue with this buffer.
fn build_fifo(buffer: Buffer) -> Queue {
    Queue::Fifo(Fifo::new(buffer, Policy::DropTail))
}

/// Returns names and values of a scheme's parameters as text, in its order, for manifests.
pub fn scheme_parameters(scheme: &Scheme) -> Vec<(String, String)> {
    scheme.parameters().into_iter().map(|(name, _, value)| (name, value)).collect()
}
