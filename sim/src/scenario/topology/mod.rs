//! Which links there are, and which of them a connection crosses: the dumbbell, or `[topology]`.

mod bottleneck;
mod draw;
mod dumbbell;
mod kinds;
mod route;
pub mod spec;
mod stage;

use super::spec::{FaultSpec, LinkSpec, Scenario};
use crate::engine::graph::{Graph, Hops, Hosts, Span};
use crate::engine::layout::{Access, End, Layout};
use crate::error::{Error, Result, quote};
use crate::link::Fault;
use crate::rate_trace::RateTrace;
use crate::units::{Buffer, Dur, Rate, parse_rate};
pub use bottleneck::fill;
pub use kinds::write_out;
use std::sync::Arc;

/// More paths than this are refused: each pair of hosts has one, which is found before the run.
const MOST_PATHS: usize = 250_000;

/// Most bytes of overhead per packet: as many as the longest packet has itself.
const MOST_OVERHEAD: u32 = 65_535;

/// The packet by which links are found too slow, in bytes.
const FULL_PACKET: u32 = 1500;

/// A full packet must not occupy a link for longer: TCP's retransmission timer expires after this time at the latest,
/// so that hosts on a slower link would only send the same packets again and again.
const LONGEST_TRANSMISSION: Dur = Dur::from_millis(60_000);

/// A rate at which nothing takes time.
const UNLIMITED: Rate = Rate(u64::MAX);

/// The queue at a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// A drop-tail queue.
    Fifo,
    /// The scheme's queue.
    Scheme,
    /// The scheme's queue at a sending host.
    Host,
}

/// A one-way link before it is built.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedLink {
    /// Name for reports.
    pub name: String,
    /// Rate of the transmitter.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Dur,
    /// Buffer.
    pub buffer: Buffer,
    /// Its queue.
    pub runs: Runs,
    /// The scheme's marker is before it.
    pub is_marked: bool,
    /// Extra bytes per packet on the wire.
    pub overhead: u32,
    /// Depth of its token bucket in bytes; 0 for a transmitter.
    pub burst: u64,
    /// Losses on purpose.
    pub fault: Fault,
    /// Its rate over time, of which `rate` is the mean.
    pub trace: Option<Arc<RateTrace>>,
}

impl PlannedLink {
    /// Returns a link of unlimited rate with an unlimited drop-tail queue.
    fn plain(name: String, rate: Rate, delay: Dur) -> PlannedLink {
        PlannedLink {
            name,
            rate,
            delay,
            buffer: Buffer::Packets(u32::MAX),
            runs: Runs::Fifo,
            is_marked: false,
            overhead: 0,
            burst: 0,
            fault: Fault::default(),
            trace: None,
        }
    }

    /// Returns the same with the scheme's queue and marker.
    fn with_scheme(self) -> PlannedLink {
        PlannedLink { runs: Runs::Scheme, is_marked: true, ..self }
    }
}

/// The links of a run and the paths over them.
#[derive(Debug, Clone)]
pub struct Network {
    /// Links by number: the bottleneck in the data direction, then in the other, then the rest.
    pub links: Vec<PlannedLink>,
    /// Paths.
    pub layout: Layout,
    /// Round-trip time that `bdp` means.
    pub rtt: Dur,
    /// Round-trip time of connections without one of their own, unless their path's is longer.
    pub own_rtt: Dur,
}

/// The paths of a graph before they are compiled.
#[derive(Debug)]
struct Routes {
    hosts: Hosts,
    hops: Vec<Hops>,
    remark: bool,
    recorded: Vec<u16>,
}

impl Routes {
    fn layout(self, links: &[PlannedLink]) -> Layout {
        let span = |link: &PlannedLink| Span {
            rate: link.rate,
            delay: link.delay,
            is_marked: link.is_marked,
            is_host: link.runs == Runs::Host,
        };
        let spans: Vec<Span> = links.iter().map(span).collect();
        let graph = Graph::new(self.hosts, &self.hops, &spans, self.remark, self.recorded);
        Layout {
            base_rtt: graph.longest_rtt(),
            access: Access::Graph(Arc::new(graph)),
            server_delay: Dur::ZERO,
            client_delay: Dur::ZERO,
        }
    }
}

impl Network {
    /// Returns the links and paths of a scenario.
    ///
    /// # Errors
    /// [`Error::Field`] naming the field of `link`, `access`, `topology`, `host_stage` or `faults`.
    pub fn new(scenario: &Scenario) -> Result<Network> {
        let mut network = match &scenario.topology {
            None => dumbbell::network(scenario)?,
            Some(spec) => {
                refuse_traces(&scenario.link)?;
                draw::network(scenario, spec)?
            }
        };
        check_speed(scenario, &network)?;
        apply_faults(&scenario.faults, &mut network.links, scenario.topology.is_some())?;
        match &scenario.host_stage {
            None => Ok(network),
            Some(stage) => stage::add_host_stage(network, stage, scenario.both_directions),
        }
    }
}

/// Refuses rate traces, which are those of a dumbbell's bottleneck.
fn refuse_traces(link: &LinkSpec) -> Result<()> {
    let given = [("link.rate_trace", &link.rate_trace), ("link.uplink_rate_trace", &link.uplink_rate_trace)];
    match given.into_iter().find_map(|(field, trace)| trace.as_ref().map(|trace| (field, trace))) {
        Some((field, trace)) => {
            Err(Error::conflict(field, quote(trace), "a topology", "leave one of them out"))
        }
        None => Ok(()),
    }
}

/// Checks that every link, shared or private, can be used at all: that a full packet does not occupy it for longer than
/// a retransmission timer.
fn check_speed(scenario: &Scenario, network: &Network) -> Result<()> {
    let overhead = scenario.link.overhead;
    if overhead > MOST_OVERHEAD {
        return Err(Error::field("link.overhead", overhead, format!("from 0 to {MOST_OVERHEAD} bytes")));
    }
    for (number, link) in network.links.iter().enumerate() {
        let name = || format!("link {}", link.name);
        let (field, value) = match (&scenario.topology, &scenario.link.uplink_rate, &scenario.access) {
            (Some(_), _, _) => ("topology.links", name()),
            (None, Some(uplink), _) if number == 1 => ("link.uplink_rate", uplink.clone()),
            (None, _, Some(access)) if number > 1 => ("access.rate", access.rate.clone()),
            (None, _, _) => ("link.rate", scenario.link.rate.clone()),
        };
        check_rate(field, &value, link.rate, link.overhead)?;
    }
    for (end, field) in [(End::ServerOut, "access.rate"), (End::ClientIn, "access.client_rate")] {
        if let (_, Some(rate)) = network.layout.private(end) {
            check_rate(field, &rate.to_string(), rate, 0)?;
        }
    }
    Ok(())
}

fn check_rate(field: &str, value: &str, rate: Rate, overhead: u32) -> Result<()> {
    let time = rate.tx_time(u64::from(FULL_PACKET) + u64::from(overhead));
    if time <= LONGEST_TRANSMISSION {
        return Ok(());
    }
    let beside = if overhead == 0 { String::new() } else { format!(" and {overhead} bytes of overhead") };
    let fault = format!("takes {:.0} s to send {FULL_PACKET} bytes{beside}", time.as_secs());
    let allowed = format!("a rate at which that takes at most {:.0} s", LONGEST_TRANSMISSION.as_secs());
    Err(Error::faulty(field, quote(value), fault, allowed))
}

/// Puts the losses on purpose at their links.
fn apply_faults(specs: &[FaultSpec], links: &mut [PlannedLink], by_name: bool) -> Result<()> {
    for spec in specs {
        let number = match spec.link.as_str() {
            "down" => 0,
            "up" => 1,
            name => links.iter().position(|link| by_name && link.name == name).ok_or_else(|| {
                let names = links.iter().map(|link| link.name.as_str()).filter(|_| by_name);
                Error::unknown("faults.link", "link", name, ["down", "up"].into_iter().chain(names))
            })?,
        };
        if !(0.0..=1.0).contains(&spec.bernoulli) {
            return Err(Error::field("faults.bernoulli", spec.bernoulli, "a probability from 0 to 1"));
        }
        let fault = &mut links[number].fault;
        fault.drop.extend(&spec.drop);
        fault.drop.sort_unstable();
        fault.bernoulli = 1.0 - (1.0 - fault.bernoulli) * (1.0 - spec.bernoulli);
    }
    Ok(())
}

/// Parses a rate; `None` for `unlimited`.
fn access_rate(field: &str, text: &str) -> Result<Option<Rate>> {
    if text == "unlimited" { Ok(None) } else { parse_rate(field, text).map(Some) }
}
