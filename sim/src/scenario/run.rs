//! From a plan to records.

use super::plan::Plan;
use super::scheme::{Place, Scheme};
use super::topology::{PlannedLink, Runs};
use super::{alone, apps, mix};
use crate::engine::layout::{DOWN, UP};
use crate::engine::source::{List, Poisson, Replay, Source};
use crate::engine::{Apps, Outcome, Setup, World, arrivals::Arrivals, server::Servers, sessions::Sessions};
use crate::error::{Error, Result};
use crate::flow::Class;
use crate::link::Link;
use crate::marker::Marker;
use crate::queue::{Fifo, Policy, Queue};
use crate::rng::{Purpose, Stream};
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
    let mut apps = Apps::default();
    let (main, traffic, mut load) = source(plan, traffic, &mut apps)?;
    let entries = entries(plan, &mut apps, &mut load)?;
    let source = apps::combined(plan, main, entries, &traffic, seed);
    let setup = Setup {
        params: plan.params.clone(),
        layout: plan.layout.clone(),
        links: links(plan, seed)?,
        markers: markers(plan, seed)?,
        source,
        apps,
        bulk: bulk(plan, seed).map(|flows| List::endless(Arc::new(flows))),
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
        source: Source::Alone(crate::engine::source::Alone::new(traffic.clone(), request_bytes)),
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
fn replication_seed(plan: &Plan) -> u64 {
    crate::rng::mix(plan.scenario.seed)
        .wrapping_add(crate::rng::mix(u64::from(plan.scenario.replication) | 1 << 40))
}

fn source(
    plan: &Plan,
    traffic: Option<Arc<Traffic>>,
    apps: &mut Apps,
) -> Result<(Source, Arc<Traffic>, Load)> {
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
        return Ok((modelled(plan, model, 0, apps, &mut load)?, Arc::default(), load));
    }
    if let Some(traffic) = traffic.filter(|_| !spec.files.is_empty()) {
        let (base, replication) = (plan.scenario.seed, plan.scenario.replication);
        let overlay = Overlay::new(&traffic, spec.load, plan.rate, plan.params.mss, base, replication)?;
        load.native = Some(overlay.native);
        load.copies = overlay.copies;
        load.dilation = overlay.dilation;
        load.achieved = Some(overlay.achieved);
        let offset = overlay.window_offset(base, replication);
        let rtt = plan.scenario.link.ignore_trace_rtt.then_some(plan.own_rtt);
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
    if !mix::has_main(spec) {
        return Ok((apps::nothing(), Arc::default(), load));
    }
    let listed = Arc::new(plan.listed()?);
    Ok((Source::List(List::new(listed.clone())), listed, load))
}

/// The sources of the mix; what they offer to clients is added to the load achieved.
fn entries(plan: &Plan, apps: &mut Apps, load: &mut Load) -> Result<Vec<Source>> {
    let sources = (1..).zip(&plan.mix).map(|(number, entry)| {
        let mut own = Load { target: entry.load, achieved: None, ..*load };
        let source = modelled(plan, &entry.model, number, apps, &mut own)?;
        let offered = own.achieved.filter(|_| !entry.model.is_upload());
        load.achieved = match (load.achieved, offered) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0.0) + other.unwrap_or(0.0)),
        };
        Ok(source)
    });
    sources.collect()
}

/// Source `number` of the run: a model's.
fn modelled(plan: &Plan, model: &Model, number: u16, apps: &mut Apps, load: &mut Load) -> Result<Source> {
    let (seed, replication) = (apps::seed_of(plan.scenario.seed, number), plan.scenario.replication);
    let drawn = apps::seed_of(replication_seed(plan), number);
    let rate = if model.is_upload() { plan.uplink_rate } else { plan.rate };
    let mss = plan.params.mss;
    match model {
        Model::WebSfd(web) => {
            let web =
                load.target.map_or(Ok(web.clone()), |target| web.clone().with_load(target, rate, mss))?;
            load.achieved = Some(web.offered_load(rate, mss));
            load.session_rate = Some(1.0 / web.inter_session_s);
            Ok(sessions(PageDraws::Sfd(web.draws(seed, replication))))
        }
        Model::RioPs(model) => {
            Ok(sessions(PageDraws::Users(users(model.process(), rate, mss, load).draws(seed, replication))))
        }
        Model::Http(model) => {
            Ok(sessions(PageDraws::Users(users(model.process(), rate, mss, load).draws(seed, replication))))
        }
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
        Model::Ftp(ftp) => {
            load.achieved = model.offered_load(rate, mss);
            Ok(apps::files(ftp, drawn))
        }
        Model::Telnet(telnet) => {
            load.achieved = model.offered_load(rate, mss);
            Ok(apps::logins(plan, telnet, drawn, apps))
        }
        Model::Udp(udp) => {
            load.achieved = model.offered_load(rate, mss);
            Ok(apps::datagrams(&udp.senders(), drawn, apps))
        }
        Model::Voip(voip) => {
            load.achieved = model.offered_load(rate, mss);
            Ok(apps::datagrams(&voip.senders(), drawn, apps))
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
fn users(process: Users, rate: Rate, mss: u32, load: &mut Load) -> Users {
    let wanted = load.target.map(|target| process.users_for_load(target, rate, mss));
    let process = Users { users: wanted.unwrap_or(process.users), ..process };
    load.achieved = Some(process.offered_load(rate, mss));
    process
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
            upload: false,
            writes: vec![Write { idle: Dur::ZERO, bytes: 1 }],
        }
    });
    Some(Traffic { connections: connections.collect(), ..Traffic::default() })
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
            Ok(plan.scheme.marker(place(plan, planned, seed, number))?.unpoliced())
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
    scheme.parameters().into_iter().map(|(doc, value)| (doc.name.to_string(), value)).collect()
}
