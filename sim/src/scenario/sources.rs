//! The sources of a run's connections: files, models, listed connections, and mixes of these.

use super::apps;
use super::load::Load;
use super::mix::{self, Plays};
use super::plan::Plan;
use crate::engine::source::{List, Poisson, Source};
use crate::engine::{Apps, arrivals::Arrivals, replay::Replay, sessions::Sessions};
use crate::error::{Error, Result};
use crate::flow::Class;
use crate::rng::{Purpose, Stream};
use crate::traffic::Traffic;
use crate::traffic::connection::Connection;
use crate::traffic::fitted::{self, Wanted};
use crate::traffic::model::Model;
use crate::traffic::model::closed_loop::PageDraws;
use crate::traffic::model::open_loop::OpenLoop;
use crate::traffic::overlay::{Overlay, measure_load};
use crate::traffic::read::Direction;
use crate::traffic::waiting::{self, Loop, Waiting};
use crate::units::{Dur, Time};
use std::sync::Arc;

/// A transfer that occupies the link alone for more than this part of the window is left out of a fitted model, unless
/// one was recorded: it would be in hardly any window.
const PART_OF_WINDOW: f64 = 0.1;

/// The traffic that the run's sources replay.
pub(super) struct Replayed {
    pub traffic: Arc<Traffic>,
    /// How files are replayed; `None` if there are no files.
    replay: Option<Loop>,
    /// With a model fitted to files: how often their clients are in it, and the load of the files.
    fitted: Option<(u32, f64)>,
}

/// Returns the traffic that the run's sources replay: that read from files, or that drawn by a
/// model fitted to them, and the listed connections. `read` must hold the files of all sources; the
/// draws depend on seed and replication.
///
/// # Errors
/// [`Error::Field`] when files were not read or cannot be played as asked.
pub(super) fn load_replay(plan: &Plan, read: Option<Arc<Traffic>>) -> Result<Replayed> {
    let traffic = join_traffic(plan, read)?;
    let replay = choose_loop(plan, &traffic)?;
    if !plan.scenario.traffic.fitted || plan.scenario.traffic.files.is_empty() || !traffic.parts.is_empty() {
        return Ok(Replayed { traffic, replay, fitted: None });
    }
    let (rate, mss) = (plan.load_rate(plan.direction == Direction::Up), plan.senders.first().mss);
    let wanted = Wanted {
        bytes_per_s: plan.scenario.traffic.load.map(|load| load * rate.bytes_in(Dur::from_secs(1.0))),
        mss,
        span: plan.window().1.since(Time::ZERO),
        most_bytes: (PART_OF_WINDOW * rate.bytes_in(plan.duration)) as u64,
    };
    let seed = apps::derive_seed(plan.scenario.seed, 0);
    let drawn = fitted::draw_fitted(&traffic, &wanted, (seed, plan.scenario.replication));
    let fitted = Some((drawn.copies, measure_load(&*traffic, rate, mss)));
    Ok(Replayed { traffic: Arc::new(drawn.traffic), replay, fitted })
}

/// Returns the traffic read from files together with the listed connections, which become source 0.
///
/// # Errors
/// [`Error::Field`] naming `traffic.files` when files were not read, or a faulty connection.
fn join_traffic(plan: &Plan, read: Option<Arc<Traffic>>) -> Result<Arc<Traffic>> {
    let spec = &plan.scenario.traffic;
    let read = read.unwrap_or_default();
    let in_mix = (1..).zip(&spec.mix).map(|(number, entry)| (number, &entry.files));
    let mut named = [(0, &spec.files)].into_iter().chain(in_mix).filter(|(_, files)| !files.is_empty());
    if let Some((_, files)) = named.find(|(number, _)| read.part(*number).is_none()) {
        return Err(Error::faulty("traffic.files", files.join(", "), "was not read", "read before the run"));
    }
    match spec.connections.is_empty() {
        true => Ok(read),
        false if read.parts.is_empty() => Ok(Arc::new(plan.listed_connections()?)),
        false => Ok(Arc::new(read.with_main(plan.listed_connections()?))),
    }
}

/// Returns all sources of the run as one, and the load that they offer; adds the rules of
/// applications to `apps`.
///
/// # Errors
/// [`Error::Field`] when a source cannot be played as asked.
pub(super) fn build_sources(plan: &Plan, replayed: &Replayed, apps: &mut Apps) -> Result<(Source, Load)> {
    let traffic = &replayed.traffic;
    let mut load = Load { target: plan.scenario.traffic.load, replay: replayed.replay, ..Load::default() };
    let main =
        main_source(plan, traffic, apps, &mut load).map_err(|error| error.inside(&mix::name_field(0)))?;
    if let Some((copies, native)) = replayed.fitted {
        (load.copies, load.native) = (load.copies * copies, Some(native));
    }
    let entries = mix_sources(plan, traffic, apps, &mut load)?;
    Ok((apps::combine_sources(plan, main, entries, traffic, plan.replication_seed()), load))
}

/// Returns the scenario's source outside its mix, and writes its load into `load`; it has no
/// traffic if the scenario has none.
///
/// # Errors
/// [`Error::Field`] naming a field within `traffic`.
fn main_source(plan: &Plan, traffic: &Arc<Traffic>, apps: &mut Apps, load: &mut Load) -> Result<Source> {
    let spec = &plan.scenario.traffic;
    match &plan.model {
        Some(model) => model_source(plan, model, 0, apps, load),
        None if !spec.files.is_empty() => {
            replay_source(plan, traffic, (0, plan.direction == Direction::Up), load)
        }
        None if !spec.connections.is_empty() => Ok(Source::List(List::new(traffic.clone()))),
        None => Ok(apps::no_traffic()),
    }
}

/// Returns the sources of the mix in order; adds the load that they offer to clients to `load`, and
/// the rules of applications to `apps`.
///
/// # Errors
/// [`Error::Field`] naming a field within the entry.
fn mix_sources(plan: &Plan, traffic: &Arc<Traffic>, apps: &mut Apps, load: &mut Load) -> Result<Vec<Source>> {
    let sources = (1..).zip(&plan.mix).map(|(number, entry)| {
        let mut own = Load { target: entry.load, replay: load.replay, ..Load::default() };
        let source = match &entry.plays {
            Plays::Model(model) => model_source(plan, model, number, apps, &mut own),
            Plays::Trace { upload } => replay_source(plan, traffic, (number, *upload), &mut own),
        };
        let source = source.map_err(|error| error.inside(&mix::name_field(number)))?;
        load.add(&own, entry.is_upload());
        Ok(source)
    });
    sources.collect()
}

/// Returns the source that replays the overlaid files of `source`, a number and whether it uploads;
/// writes native and achieved load, copies and stretching into `load`, whose target it reads.
///
/// # Errors
/// [`Error::Field`] when the files were not read, or cannot meet the load.
fn replay_source(
    plan: &Plan,
    traffic: &Arc<Traffic>,
    source: (u16, bool),
    load: &mut Load,
) -> Result<Source> {
    let (number, upload) = source;
    let (seed, replication) = (apps::derive_seed(plan.scenario.seed, number), plan.scenario.replication);
    let part = traffic.part(number).ok_or_else(|| {
        let name = format!("the traffic of source {number}");
        Error::faulty("files", name, "was not read", "read before the run")
    })?;
    let rate = plan.load_rate(upload);
    let (mss, run) = (plan.senders.first().mss, (seed, replication));
    let span = plan.deadline().since(Time::ZERO);
    let overlay = match load.target {
        Some(target) if plan.scenario.traffic.resample && !plan.scenario.traffic.fitted => {
            Overlay::from_resample(part, target, rate, mss, run, span)?
        }
        target => Overlay::for_span(part, target, rate, mss, run, span)?,
    };
    load.native = Some(overlay.native);
    load.copies = overlay.copies;
    load.dilation = overlay.dilation;
    load.achieved = Some(overlay.achieved);
    let offset = overlay.window_offset(seed, replication);
    let rtt = plan.scenario.link.ignore_trace_rtt.then_some(plan.own_rtt);
    let waiting = match load.replay {
        Some(Loop::Closed) => Some(Waiting::new(part)),
        _ => None,
    };
    Ok(Source::Replay(Box::new(Replay::new(traffic.clone(), overlay, waiting, offset, rtt))))
}

/// Returns the kind of loop in which all files of the run are replayed; `None` if there are no
/// files.
///
/// # Errors
/// [`Error::Field`] naming `traffic.replay` when a closed loop is asked for and the files do not
/// record when connections ended.
fn choose_loop(plan: &Plan, traffic: &Traffic) -> Result<Option<Loop>> {
    let main = (!plan.scenario.traffic.files.is_empty()).then_some(0);
    let in_mix = (1..).zip(&plan.mix).filter_map(|(number, entry)| entry.model().is_none().then_some(number));
    let numbers: Vec<u16> = main.into_iter().chain(in_mix).collect();
    if numbers.is_empty() { Ok(None) } else { waiting::choose_loop(plan.replay, traffic, &numbers).map(Some) }
}

/// Returns source `number` of the run, which plays a model, at the load's target if there is one;
/// writes its load into `load`, and the rules of applications into `apps`.
///
/// # Errors
/// [`Error::Field`] when the model cannot meet the load.
fn model_source(plan: &Plan, model: &Model, number: u16, apps: &mut Apps, load: &mut Load) -> Result<Source> {
    let (seed, replication) = (apps::derive_seed(plan.scenario.seed, number), plan.scenario.replication);
    let drawn = apps::derive_seed(plan.replication_seed(), number);
    let rate = plan.load_rate(model.is_upload());
    let mss = plan.senders.first().mss;
    let model = match load.target {
        Some(target) => model.clone().with_load(target, rate, mss)?,
        None => model.clone(),
    };
    load.achieved = model.offered_load(rate, mss);
    if let Model::WebSfd(web) = &model {
        load.session_rate = Some(1.0 / web.inter_session_s);
    }
    Ok(match &model {
        Model::WebSfd(web) => web_sessions(PageDraws::Sfd(web.draws(seed, replication))),
        Model::RioPs(model) => web_sessions(PageDraws::Users(model.process().draws(seed, replication))),
        Model::Http(model) => web_sessions(PageDraws::Users(model.process().draws(seed, replication))),
        Model::Shred(model) => open_loop_arrivals(OpenLoop::Shred(model.draws(seed, replication))),
        Model::PackMime(model) => {
            open_loop_arrivals(OpenLoop::PackMime(Box::new(model.draws(seed, replication))))
        }
        Model::Http2(model) => open_loop_arrivals(OpenLoop::Http2(model.draws(seed, replication))),
        Model::Poisson(poisson) => Source::Poisson(Poisson::new(poisson.draws(seed, replication))),
        Model::Ftp(ftp) => apps::ftp_users(ftp, drawn),
        Model::Telnet(telnet) => apps::telnet_sessions(plan, telnet, drawn, apps),
        Model::Udp(udp) => apps::datagram_flows(&udp.to_senders(), drawn, apps),
        Model::Voip(voip) => apps::datagram_flows(&voip.to_senders(), drawn, apps),
        Model::Game(game) => apps::datagram_flows(&game.to_senders(), drawn, apps),
        Model::VideoCall(call) => apps::datagram_flows(&call.to_senders(), drawn, apps),
        Model::Viewing(viewing) => apps::viewers(viewing, drawn, plan.window()),
        Model::Responsiveness(model) => apps::testers(plan, model, drawn),
    })
}

/// Returns the source of closed-loop web sessions.
fn web_sessions(draws: PageDraws) -> Source {
    Source::Sessions(Box::new(Sessions::new(draws)))
}

/// Returns the source of an open-loop model.
fn open_loop_arrivals(draws: OpenLoop) -> Source {
    Source::Arrivals(Box::new(Arrivals::new(draws)))
}

/// Returns the scenario's bulk flows, under a run's seed, as connections of one write of one byte,
/// in order of start; `None` if it has none. [`List::long_lived`] replaces the writes.
pub(super) fn bulk_flows(plan: &Plan, seed: u64) -> Option<Traffic> {
    let spec = plan.scenario.traffic.bulk.as_ref()?;
    let connections = (0..spec.flows).map(|flow| {
        let share = f64::from(flow) / f64::from(spec.flows);
        let draw = Stream::new(seed, Purpose::Host, u64::from(flow)).uniform();
        let rtt = plan.rtt.as_secs() * (1.0 + spec.rtt_spread * (2.0 * draw - 1.0));
        Connection {
            client: flow,
            server: flow,
            rtt: (spec.rtt_spread > 0.0).then_some(Dur::from_secs(rtt)),
            class: Class::Bulk,
            flow_class: None,
            upload: plan.direction == Direction::Up,
            ..Connection::from_one_write(Time(Dur::from_secs(share * spec.start_spread_s).0), 1)
        }
    });
    Some(Traffic { connections: connections.collect(), ..Traffic::default() })
}
