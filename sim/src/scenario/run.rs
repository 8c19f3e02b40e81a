//! From a plan to records.

use super::alone;
use super::plan::Plan;
use super::scheme::{Place, Scheme};
use crate::engine::layout::{DOWN, UP};
use crate::engine::source::{List, Poisson, Replay, Source};
use crate::engine::{Outcome, Setup, World, arrivals::Arrivals, server::Servers, sessions::Sessions};
use crate::error::{Error, Result};
use crate::flow::Class;
use crate::link::{Fault, Link};
use crate::marker::Marker;
use crate::queue::{Fifo, Policy, Queue};
use crate::rng::{Purpose, Stream, mix};
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, Write};
use crate::traffic::model::Model;
use crate::traffic::model::closed_loop::PageDraws;
use crate::traffic::model::open_loop::OpenLoop;
use crate::traffic::model::users::Users;
use crate::traffic::overlay::Overlay;
use crate::units::{Buffer, Dur, Rate, Time};
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
    /// Payload bits per second that arrived within the window.
    pub goodput_bps: f64,
}

/// How the link was loaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// What was asked for, wire bytes over capacity.
    pub target: Option<f64>,
    /// Load of the traffic as it is.
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

impl RunResult {
    /// Whether the conservation laws hold at every link.
    pub fn is_conserved(&self) -> bool {
        self.outcome.balance.iter().all(crate::engine::Balance::holds)
    }
}

/// Runs a plan; `traffic` is what was read from its files, if it names any.
///
/// # Errors
/// [`Error::Field`] when the traffic cannot be played as asked, [`Error::Cancelled`] after a cancel.
pub fn run(plan: &Plan, traffic: Option<Arc<Traffic>>, cancel: &AtomicBool) -> Result<RunResult> {
    let seed = replication_seed(plan);
    let (source, traffic, load) = source(plan, traffic)?;
    let setup = Setup {
        params: plan.params.clone(),
        layout: plan.layout,
        links: links(plan, seed)?,
        markers: markers(plan, seed)?,
        source,
        bulk: bulk(plan, seed).map(|flows| List::endless(Arc::new(flows))),
        servers: plan.server.map(|(rate, order)| Servers::new(rate, order)),
        traffic: traffic.clone(),
        rtt: plan.rtt,
        window: plan.window(),
        deadline: plan.deadline(),
        seed,
        trace: plan.scenario.trace,
    };
    let outcome = World::new(setup).run(cancel)?;
    let alone_s = alone::times(plan, &traffic, &outcome, cancel)?;
    let goodput_bps = outcome.goodput_bytes as f64 * 8.0 / plan.duration.as_secs();
    Ok(RunResult { outcome, alone_s, load, goodput_bps })
}

/// The engine set up to play `traffic` one connection after the other on the plan's empty path.
pub(crate) fn alone_setup(plan: &Plan, traffic: Arc<Traffic>) -> Setup {
    let endless = || Queue::Fifo(Fifo::new(Buffer::Packets(u32::MAX), Policy::DropTail));
    let mut links = vec![
        Link::new("down", 0, plan.rate, plan.delay, endless(), 0),
        Link::new("up", 1, plan.uplink_rate, plan.delay, endless(), 0),
    ];
    for link in &mut links {
        link.set_overhead(plan.scenario.link.overhead);
    }
    add_access_links(plan, &mut links, 0);
    Setup {
        params: plan.params.clone(),
        layout: plan.layout,
        markers: (0..links.len()).map(|_| Marker::None).collect(),
        links,
        source: Source::Alone(crate::engine::source::Alone::new(traffic.clone())),
        bulk: None,
        servers: None,
        traffic,
        rtt: plan.rtt,
        window: (Time::ZERO, Time(u64::MAX - 1)),
        deadline: Time(u64::MAX - 1),
        seed: 0,
        trace: false,
    }
}

/// The seed of one replication: base seed and number, mixed.
fn replication_seed(plan: &Plan) -> u64 {
    mix(plan.scenario.seed).wrapping_add(mix(u64::from(plan.scenario.replication) | 1 << 40))
}

fn source(plan: &Plan, traffic: Option<Arc<Traffic>>) -> Result<(Source, Arc<Traffic>, Load)> {
    let spec = &plan.scenario.traffic;
    let mut load = Load {
        target: spec.load,
        native: None,
        copies: 1,
        dilation: 1.0,
        achieved: None,
        session_rate: None,
    };
    if let Some(model) = &plan.model {
        return Ok((modelled(plan, model, &mut load)?, Arc::default(), load));
    }
    if let Some(traffic) = traffic.filter(|_| !spec.files.is_empty()) {
        let (base, replication) = (plan.scenario.seed, plan.scenario.replication);
        let overlay = Overlay::new(&traffic, spec.load, plan.rate, plan.params.mss, base, replication)?;
        load.native = Some(overlay.native);
        load.copies = overlay.copies;
        load.dilation = overlay.dilation;
        load.achieved = Some(overlay.achieved);
        let offset = overlay.window_offset(base, replication);
        let rtt = plan.scenario.link.ignore_trace_rtt.then_some(plan.rtt);
        let replay = Replay::new(traffic.clone(), overlay, offset, rtt);
        return Ok((Source::Replay(Box::new(replay)), traffic, load));
    }
    if !spec.files.is_empty() {
        return Err(Error::field(
            "traffic.files",
            spec.files.join(", "),
            "the files must be read before the run",
        ));
    }
    let listed = Arc::new(plan.listed()?);
    Ok((Source::List(List::new(listed.clone())), listed, load))
}

fn modelled(plan: &Plan, model: &Model, load: &mut Load) -> Result<Source> {
    let (seed, replication) = (plan.scenario.seed, plan.scenario.replication);
    let (rate, mss) = (plan.rate, plan.params.mss);
    match model {
        Model::WebSfd(web) => {
            let web =
                load.target.map_or(Ok(web.clone()), |target| web.clone().with_load(target, rate, mss))?;
            load.achieved = Some(web.offered_load(rate, mss));
            load.session_rate = Some(1.0 / web.inter_session_s);
            Ok(sessions(PageDraws::Sfd(web.draws(seed, replication))))
        }
        Model::RioPs(model) => Ok(users(plan, model.process(), load)),
        Model::Http(model) => Ok(users(plan, model.process(), load)),
        Model::Shred(model) => {
            let model =
                load.target.map_or_else(|| model.clone(), |target| model.clone().with_load(target, rate));
            load.achieved = Some(model.offered_load(rate, mss));
            Ok(arrivals(OpenLoop::Shred(model.draws(seed, replication))))
        }
        Model::PackMime(model) => {
            let with = |target| model.clone().with_load(target, rate, mss);
            let model = load.target.map_or_else(|| model.clone(), with);
            load.achieved = Some(model.offered_load(rate, mss));
            Ok(arrivals(OpenLoop::PackMime(Box::new(model.draws(seed, replication)))))
        }
        Model::Http2(model) => {
            let with = |target| model.clone().with_load(target, rate, mss);
            let model = load.target.map_or_else(|| model.clone(), with);
            load.achieved = Some(model.offered_load(rate, mss));
            Ok(arrivals(OpenLoop::Http2(model.draws(seed, replication))))
        }
        Model::Poisson(poisson) => {
            let poisson = load
                .target
                .map_or_else(|| poisson.clone(), |target| poisson.clone().with_load(target, rate, mss));
            load.achieved = Some(poisson.offered_load(rate, mss));
            Ok(Source::Poisson(Poisson::new(poisson.draws(seed, replication))))
        }
    }
}

fn sessions(draws: PageDraws) -> Source {
    Source::Sessions(Box::new(Sessions::new(draws)))
}

fn arrivals(draws: OpenLoop) -> Source {
    Source::Arrivals(Box::new(Arrivals::new(draws)))
}

/// As many users as the load needs.
fn users(plan: &Plan, process: Users, load: &mut Load) -> Source {
    let (rate, mss) = (plan.rate, plan.params.mss);
    let wanted = load.target.map(|target| process.users_for_load(target, rate, mss));
    let process = Users { users: wanted.unwrap_or(process.users), ..process };
    load.achieved = Some(process.offered_load(rate, mss));
    sessions(PageDraws::Users(process.draws(plan.scenario.seed, plan.scenario.replication)))
}

fn bulk(plan: &Plan, seed: u64) -> Option<Traffic> {
    let spec = plan.scenario.traffic.bulk.as_ref()?;
    let connections = (0..spec.flows).map(|flow| {
        let share = f64::from(flow) / f64::from(spec.flows);
        let draw = Stream::new(seed, Purpose::Host, u64::from(flow)).uniform();
        let rtt = plan.rtt.as_secs() * (1.0 + spec.rtt_spread * (2.0 * draw - 1.0));
        Connection {
            start: Time(Dur::from_secs(share * spec.start_spread_s).0),
            client: flow,
            server: flow,
            rtt: (spec.rtt_spread > 0.0).then_some(Dur::from_secs(rtt)),
            kind: Kind::Tcp,
            class: Class::Bulk,
            writes: vec![Write { idle: Dur::ZERO, bytes: 1 }],
        }
    });
    Some(Traffic { connections: connections.collect(), ..Traffic::default() })
}

fn links(plan: &Plan, seed: u64) -> Result<Vec<Link>> {
    let scenario = &plan.scenario;
    let down = plan.scheme.queue(place(plan, seed, DOWN))?;
    let up = match scenario.both_directions {
        true => plan.scheme.queue(place(plan, seed, UP))?,
        false => Queue::Fifo(Fifo::new(plan.uplink_buffer, Policy::DropTail)),
    };
    let [down_fault, up_fault] = plan.faults.clone();
    let link = |name, id, rate, queue, fault: Fault| {
        Link::new(name, id, rate, plan.delay, queue, seed).with(
            fault,
            scenario.link.overhead,
            scenario.slow_path,
        )
    };
    let mut links =
        vec![link("down", 0, plan.rate, down, down_fault), link("up", 1, plan.uplink_rate, up, up_fault)];
    add_access_links(plan, &mut links, seed);
    Ok(links)
}

fn add_access_links(plan: &Plan, links: &mut Vec<Link>, seed: u64) {
    let Some((rate, delay)) = plan.access_link else { return };
    for id in links.len()..plan.layout.links() {
        let queue = Queue::Fifo(Fifo::new(Buffer::Packets(u32::MAX), Policy::DropTail));
        let name = format!("access-{}", id - 2);
        let link = Link::new(&name, id as u64, rate, delay, queue, seed);
        links.push(link.with(Fault::default(), 0, plan.scenario.slow_path));
    }
}

fn markers(plan: &Plan, seed: u64) -> Result<Vec<Marker>> {
    let mut markers: Vec<Marker> = (0..plan.layout.links()).map(|_| Marker::None).collect();
    markers[usize::from(DOWN)] = plan.scheme.marker(place(plan, seed, DOWN))?;
    if plan.scenario.both_directions {
        markers[usize::from(UP)] = plan.scheme.marker(place(plan, seed, UP))?;
    }
    Ok(markers)
}

fn place(plan: &Plan, seed: u64, link: u16) -> Place {
    let (rate, buffer): (Rate, Buffer) =
        if link == DOWN { (plan.rate, plan.buffer) } else { (plan.uplink_rate, plan.uplink_buffer) };
    Place { rate, buffer, seed, link: u64::from(link) }
}

/// Parameters of a scheme as text, for manifests.
pub fn scheme_parameters(scheme: &Scheme) -> Vec<(String, String)> {
    scheme.parameters().into_iter().map(|(doc, value)| (doc.name.to_string(), value)).collect()
}
