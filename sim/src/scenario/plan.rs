//! A scenario that was checked: every text turned into units, every fault named.

use super::link_context::LinkContext;
use super::mix::{self, Entry};
use super::scheme::Scheme;
use super::server::server;
use super::spec::{BulkSpec, ConnectionSpec, DatagramsSpec, SCHEMA, Scenario, TrafficSpec};
use super::tcp;
use super::topology::{self, Network, PlannedLink};
use crate::engine::layout::{Access, DOWN, Layout, UP};
use crate::engine::misbehaving::Rules;
use crate::engine::server::Order;
use crate::error::{Error, Result, quote};
use crate::tcp::Senders;
use crate::tcp::profile::Opening;
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, Write, Writes};
use crate::traffic::datagrams::{Amount, Datagrams, Service};
use crate::traffic::model::{self, Model};
use crate::traffic::read::Direction;
use crate::traffic::waiting::Loop;
use crate::units::{Dur, Rate, Time, parse_dur};

/// A checked scenario.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The scenario it came from.
    pub scenario: Scenario,
    /// The scheme.
    pub scheme: Scheme,
    /// All TCPs of the run; the mean segment and who opens are taken from the first.
    pub senders: Senders,
    /// Rate of the bottleneck in the data direction.
    pub rate: Rate,
    /// Rate in the other direction.
    pub uplink_rate: Rate,
    /// Round-trip time that `bdp` means, and about which bulk flows have theirs.
    pub rtt: Dur,
    /// Round-trip time of connections without one of their own, unless their path's is longer.
    pub own_rtt: Dur,
    /// Links by number: the bottleneck in the data direction, then in the other, then the rest.
    pub links: Vec<PlannedLink>,
    /// Paths.
    pub layout: Layout,
    /// Time before the measured window.
    pub warmup: Dur,
    /// Length of the measured window.
    pub duration: Dur,
    /// Which payload is measured.
    pub direction: Direction,
    /// The traffic model, if there is one.
    pub model: Option<Model>,
    /// Rate of each server's CPU and the order of its jobs, if servers have one.
    pub server: Option<(Rate, Order)>,
    /// Sources of the mix, by number from 1.
    pub mix: Vec<Entry>,
    /// Whether files are replayed in an open or a closed loop, if the scenario says.
    pub replay: Option<Loop>,
    /// How senders misbehave, if some do.
    pub misbehaviour: Option<Rules>,
}

impl Plan {
    /// Checks a scenario.
    ///
    /// # Errors
    /// [`Error::Field`] naming the field, the value and what is allowed.
    pub fn new(scenario: &Scenario) -> Result<Plan> {
        if scenario.schema != SCHEMA {
            return Err(Error::field("schema", quote(&scenario.schema), format!("\"{SCHEMA}\"")));
        }
        let direction = direction(scenario)?;
        let Network { links, layout, rtt, own_rtt } = Network::new(scenario)?;
        let (warmup, duration) = window(scenario)?;
        connections(&scenario.traffic.connections)?;
        let senders = tcp::senders(&scenario.tcp, direction)?;
        Plan {
            scheme: Scheme::parse(&scenario.scheme)?,
            senders,
            rate: links[usize::from(DOWN)].rate,
            uplink_rate: links[usize::from(UP)].rate,
            rtt,
            own_rtt,
            links,
            layout,
            warmup,
            duration,
            direction,
            model: model(scenario)?,
            server: scenario.server.as_ref().map(|spec| server(spec, direction)).transpose()?,
            mix: mix::entries(scenario, direction)?,
            replay: replay(&scenario.traffic)?,
            misbehaviour: mix::misbehaviour(&scenario.traffic)?,
            scenario: scenario.clone(),
        }
        .consistent()
    }

    /// Returns the models of all sources, by number.
    pub fn models(&self) -> impl Iterator<Item = (u16, &Model)> {
        let main = self.model.iter().map(|model| (0, model));
        let entries = (1..).zip(&self.mix).filter_map(|(number, entry)| Some((number, entry.model()?)));
        main.chain(entries)
    }

    /// Returns the plan, if its parts go together.
    ///
    /// # Errors
    /// [`Error::Field`] naming what does not go with the TCP profile.
    fn consistent(self) -> Result<Plan> {
        let asks = matches!(self.senders.first().opening, Opening::Request);
        let telnet = self.models().find_map(|(number, model)| match model {
            Model::Telnet(telnet) => Some((number, telnet)),
            _ => None,
        });
        match telnet {
            Some(_) if !asks => {
                let allowed = "give profile rfc or linux and direction down, in which clients send requests";
                Err(Error::conflict(
                    "tcp.profile",
                    quote(&self.scenario.tcp.profile),
                    "model telnet",
                    allowed,
                ))
            }
            Some((number, telnet)) if telnet.packet_bytes <= self.longest_header() => {
                let allowed = "longer than the headers of the TCP profile";
                let error = Error::field("params.packet_bytes", telnet.packet_bytes, allowed);
                Err(error.inside(&mix::field_of(number)))
            }
            _ => self.with_an_edge_that_sees_both_directions(),
        }
    }

    /// Returns the bytes of the longest header of any TCP of the run.
    fn longest_header(&self) -> u32 {
        let headers = self.senders.shares().iter().map(|one| one.params.header.max(one.params.ack_bytes));
        headers.max().unwrap_or_default()
    }

    /// Refuses an edge that learns from acknowledgements on a graph. Such an edge stands at both ends of the
    /// bottleneck. On a graph, where data may be marked elsewhere and acknowledgements may take other paths,
    /// it would count all data as outstanding.
    fn with_an_edge_that_sees_both_directions(self) -> Result<Plan> {
        let needs_both = self.scheme.marker(LinkContext::EXAMPLE)?.other_direction().is_some();
        if needs_both && matches!(self.layout.access, Access::Graph(_)) {
            let with = "a topology or a host stage, where its marker does not see both directions";
            let value = self.scheme.to_string();
            return Err(Error::conflict("scheme", quote(&value), with, "take a marker that sees one"));
        }
        Ok(self)
    }

    /// Returns the scenario with every parameter of its traffic model and the bottleneck's rates written out.
    pub fn filled(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        match &mut scenario.topology {
            None => {
                let link = &mut scenario.link;
                if link.rate_trace.is_some() {
                    link.rate = format!("{}bit", self.rate.0);
                }
                if link.uplink_rate_trace.is_some() {
                    link.uplink_rate = Some(format!("{}bit", self.uplink_rate.0));
                }
                link.uplink_rate.get_or_insert_with(|| link.rate.clone());
            }
            Some(spec) => topology::fill(spec, scenario.both_directions),
        }
        if let Some(model) = &self.model {
            scenario.traffic.params = Some(model.params());
        }
        for (spec, entry) in scenario.traffic.mix.iter_mut().zip(&self.mix) {
            spec.params = entry.model().map(Model::params);
            spec.count = None;
            spec.name = Some(entry.name.clone());
        }
        scenario
    }

    /// Returns the measured window.
    pub fn window(&self) -> (Time, Time) {
        let begin = Time::ZERO + self.warmup;
        (begin, begin + self.duration)
    }

    /// Returns the seed of the replication: the scenario's seed mixed with its replication number.
    pub fn replication_seed(&self) -> u64 {
        self.scenario.replication_seed()
    }

    /// Returns the time at which the run ends at the latest.
    pub fn deadline(&self) -> Time {
        Time::ZERO + self.warmup + Dur(self.duration.0.saturating_mul(u64::from(self.scenario.max_windows)))
    }

    /// Returns the connections written out in the scenario, as traffic.
    ///
    /// # Errors
    /// [`Error::Field`] naming the connection and its field.
    pub fn listed(&self) -> Result<Traffic> {
        let mut connections = connections(&self.scenario.traffic.connections)?;
        connections.sort_by_key(|connection| connection.start);
        Ok(Traffic { connections, ..Traffic::default() })
    }
}

fn window(scenario: &Scenario) -> Result<(Dur, Dur)> {
    let warmup = parse_dur("warmup", &scenario.warmup)?;
    let duration = parse_dur("duration", &scenario.duration)?;
    if duration == Dur::ZERO {
        return Err(Error::field("duration", quote(&scenario.duration), "longer than zero"));
    }
    if !(1..=1000).contains(&scenario.max_windows) {
        return Err(Error::field("max_windows", scenario.max_windows, "from 1 to 1000"));
    }
    Ok((warmup, duration))
}

fn direction(scenario: &Scenario) -> Result<Direction> {
    let name = scenario.traffic.direction.as_deref().unwrap_or("down");
    Direction::by_name("traffic.direction", name)
}

/// Checks `traffic.replay`, which only files have.
fn replay(traffic: &TrafficSpec) -> Result<Option<Loop>> {
    let Some(name) = &traffic.replay else { return Ok(None) };
    let asked = Loop::by_name("traffic.replay", name)?;
    if traffic.files.is_empty() && traffic.mix.iter().all(|entry| entry.files.is_empty()) {
        let allowed = "models say themselves who waits for what";
        return Err(Error::conflict("traffic.replay", quote(name), "traffic that has no files", allowed));
    }
    Ok(Some(asked))
}

fn model(scenario: &Scenario) -> Result<Option<Model>> {
    let traffic = &scenario.traffic;
    check_one_source(traffic)?;
    traffic.bulk.as_ref().map_or(Ok(()), check_bulk)?;
    let params = traffic.params.as_ref().unwrap_or(&serde_json::Value::Null);
    let model = traffic.model.as_deref().map(|name| model::by_name(name, params)).transpose();
    let model = model.map_err(|error| error.inside("traffic"))?;
    mix::check_load(model.as_ref(), traffic.load).map_err(|error| error.inside("traffic"))?;
    if let (Some(load), true) = (traffic.load, traffic.files.is_empty() && traffic.model.is_none()) {
        let with = "traffic that has neither files nor a model";
        let allowed = "an entry of traffic.mix may have a load of its own";
        return Err(Error::conflict("traffic.load", load, with, allowed));
    }
    Ok(model)
}

/// Checks that the scenario has one main source of traffic, or bulk flows or a mix.
fn check_one_source(traffic: &TrafficSpec) -> Result<()> {
    let sources = [
        ("files", !traffic.files.is_empty()),
        ("model", traffic.model.is_some()),
        ("connections", !traffic.connections.is_empty()),
    ];
    let mut given = sources.into_iter().filter(|(_, is_given)| *is_given).map(|(field, _)| field);
    match (given.next(), given.next()) {
        (Some(one), Some(other)) => {
            let allowed = "give one of files, model or connections";
            Err(Error::conflict("traffic", one, other, allowed))
        }
        (None, _) if traffic.bulk.is_none() && traffic.mix.is_empty() => {
            Err(Error::missing("traffic", "one of files, model or connections, or bulk or mix"))
        }
        _ => Ok(()),
    }
}

fn check_bulk(bulk: &BulkSpec) -> Result<()> {
    let fields = [
        ("flows", f64::from(bulk.flows), 1.0..=1_000_000.0),
        ("start_spread_s", bulk.start_spread_s, 0.0..=1e6),
        ("rtt_spread", bulk.rtt_spread, 0.0..=0.99),
    ];
    for (name, value, range) in fields {
        if !range.contains(&value) {
            let allowed = format!("from {} to {}", range.start(), range.end());
            return Err(Error::field(format!("traffic.bulk.{name}"), value, allowed));
        }
    }
    Ok(())
}

fn connections(specs: &[ConnectionSpec]) -> Result<Vec<Connection>> {
    specs.iter().enumerate().map(|(index, spec)| connection(index, spec)).collect()
}

fn connection(index: usize, spec: &ConnectionSpec) -> Result<Connection> {
    let field = |name: &str| format!("traffic.connections[{index}].{name}");
    let seconds = |name: &str, value: f64| match value {
        value if value.is_finite() && (0.0..1e9).contains(&value) => Ok(Dur::from_secs(value)),
        value => Err(Error::field(field(name), value, "a number of seconds, 0 or more")),
    };
    let writes = spec.writes.iter().map(|write| match write.bytes {
        1..=1_000_000_000_000 => {
            Ok(Write { idle: seconds("writes.idle_s", write.idle_s)?, bytes: write.bytes })
        }
        bytes => Err(Error::field(field("writes.bytes"), bytes, "from 1 to 10^12 bytes")),
    });
    let writes = writes.collect::<Result<Vec<_>>>()?;
    let duration = spec.duration_s.map(|duration| seconds("duration_s", duration)).transpose()?;
    let (kind, writes) = match (&spec.datagrams, writes.is_empty()) {
        (None, true) => return Err(Error::missing(field("writes"), "at least one write")),
        (None, false) => (Kind::Tcp, writes.into()),
        (Some(_), false) => {
            return Err(Error::conflict(field("datagrams"), "a flow", "writes", "give one of the two"));
        }
        (Some(sums), true) => (Kind::Datagrams, datagrams(sums, duration, &field("datagrams"))?),
    };
    Ok(Connection {
        start: Time(seconds("start_s", spec.start_s)?.0),
        client: spec.client,
        server: spec.server,
        rtt: spec.rtt_s.map(|rtt| seconds("rtt_s", rtt)).transpose()?,
        duration,
        kind,
        class: spec.class,
        upload: spec.upload,
        writes,
    })
}

/// Returns a flow of datagrams with these sums.
fn datagrams(sums: &DatagramsSpec, duration: Option<Dur>, field: &str) -> Result<Writes> {
    let amount = |packets: u64, bytes: u64| match packets.max(bytes) {
        0..=1_000_000_000_000 => Ok(Amount::of_sums(packets, bytes)),
        most => Err(Error::field(field, most, "at most 10^12 packets or bytes")),
    };
    let amounts = [amount(sums.packets, sums.bytes)?, amount(sums.reverse_packets, sums.reverse_bytes)?];
    if amounts == [Amount::default(); 2] {
        return Err(Error::missing(field, "at least one packet"));
    }
    let flow = Datagrams::even(Service::default(), duration.unwrap_or_default(), amounts);
    Ok(Writes::of_datagrams(flow))
}
