//! The checked form of a scenario: texts are parsed into units, and faults are reported.

use super::link_context::LinkContext;
use super::mix::{self, Entry};
use super::scheme::Scheme;
use super::server::parse_server;
use super::spec::{BulkSpec, ConnectionSpec, DatagramsSpec, SCHEMA, Scenario, TrafficSpec};
use super::topology::{self, FULL_PACKET, Network, PlannedLink};
use super::{build, tcp};
use crate::engine::layout::{Access, DOWN, Layout, UP};
use crate::engine::misbehaving::Rules;
use crate::engine::server::Order;
use crate::error::{Error, Result, quote};
use crate::outcome_profile::{self, Profile};
use crate::rate_trace::RateTrace;
use crate::tcp::Senders;
use crate::tcp::profile::Opening;
use crate::traffic::Traffic;
use crate::traffic::class::{self, Corrections, FlowClass, FlowShape, Protocol};
use crate::traffic::connection::{Connection, Kind, Write, Writes};
use crate::traffic::datagrams::{Amount, Datagrams, Service};
use crate::traffic::model::{self, Model};
use crate::traffic::read::{self, Direction};
use crate::traffic::waiting::Loop;
use crate::units::{Dur, Rate, Time, parse_dur};

/// Greatest number of samples of a run; no chart can show more.
const MOST_SAMPLES: u64 = 100_000;

/// A checked scenario.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The scenario it came from.
    pub scenario: Scenario,
    /// The scheme.
    pub scheme: Scheme,
    /// All TCPs of the run; the mean segment and who opens are taken from the first.
    pub senders: Senders,
    /// Rate of the bottleneck from servers to clients.
    pub rate: Rate,
    /// Rate of the bottleneck from clients to servers.
    pub up_rate: Rate,
    /// Round-trip time that `bdp` means, and around which those of bulk flows are drawn.
    pub rtt: Dur,
    /// Round-trip time of connections that do not specify one, unless their path's is longer.
    pub own_rtt: Dur,
    /// Links by number: the bottleneck from servers to clients, then back, then the rest.
    pub links: Vec<PlannedLink>,
    /// Paths.
    pub layout: Layout,
    /// Time before the measured window.
    pub warmup: Dur,
    /// Length of the measured window.
    pub duration: Dur,
    /// Interval at which links and senders are sampled.
    pub sampled: Option<Dur>,
    /// Which way the payload of files and bulk flows goes.
    pub direction: Direction,
    /// Number of the bottleneck's link that the data cross: that from clients to servers if all payload goes up.
    pub data_link: u16,
    /// The traffic model, if there is one.
    pub model: Option<Model>,
    /// Rate of each server's CPU and the order of its jobs, if servers have one.
    pub server: Option<(Rate, Order)>,
    /// Sources of the mix, by number from 1.
    pub mix: Vec<Entry>,
    /// Whether files are replayed in an open or a closed loop, if the scenario says.
    pub replay: Option<Loop>,
    /// Profiles of Quality of Outcome that the user gave to classes.
    pub profiles: Vec<Profile>,
    /// The rules of misbehaving senders, if there are any.
    pub misbehaviour: Option<Rules>,
}

impl Plan {
    /// Checks a scenario and parses its texts. Files of traffic are not read; the file of a rate
    /// that varies is.
    ///
    /// # Errors
    /// [`Error::Field`] naming the field, the value and what is allowed.
    pub fn new(scenario: &Scenario) -> Result<Plan> {
        if scenario.schema != SCHEMA {
            return Err(Error::field("schema", quote(&scenario.schema), format!("\"{SCHEMA}\"")));
        }
        let direction = parse_payload_direction(&scenario.traffic)?;
        check_classes(&scenario.traffic)?;
        check_format(&scenario.traffic)?;
        let Network { links, layout, rtt, own_rtt } = Network::new(scenario)?;
        let (warmup, duration) = parse_window(scenario)?;
        parse_connections(&scenario.traffic.connections)?;
        let senders = tcp::parse_senders(&scenario.tcp, scenario.traffic.server_think.as_deref())?;
        Plan {
            scheme: Scheme::parse(&scenario.scheme)?,
            senders,
            rate: links[usize::from(DOWN)].rate,
            up_rate: links[usize::from(UP)].rate,
            rtt,
            own_rtt,
            links,
            layout,
            warmup,
            duration,
            sampled: parse_sample_interval(scenario, warmup + duration)?,
            direction,
            data_link: DOWN,
            model: parse_traffic_model(scenario)?,
            server: scenario.server.as_ref().map(|spec| parse_server(spec, direction)).transpose()?,
            mix: mix::parse_entries(scenario)?,
            replay: parse_replay(&scenario.traffic)?,
            profiles: outcome_profile::parse_profiles(outcome_profile::FIELD, &scenario.traffic.qoo)?,
            misbehaviour: mix::parse_misbehaviour(&scenario.traffic)?,
            scenario: scenario.clone(),
        }
        .with_data_link()
        .check_nqb()?
        .check_consistency()
    }

    /// Returns the plan with the link that its data cross: the uplink if all sources upload, else
    /// the downlink.
    fn with_data_link(self) -> Plan {
        let traffic = &self.scenario.traffic;
        let replays = !traffic.files.is_empty() || traffic.bulk.is_some();
        let main = replays.then_some(self.direction == Direction::Up);
        let listed = traffic.connections.iter().map(|spec| is_upload(spec.payload.as_deref()));
        let modelled = self.model.iter().map(Model::is_upload);
        let mut sources =
            main.into_iter().chain(listed).chain(modelled).chain(self.mix.iter().map(Entry::is_upload));
        let data_link = if sources.all(|is_upload| is_upload) { UP } else { DOWN };
        Plan { data_link, ..self }
    }

    /// Returns the models of all sources with the sources' numbers, rising; sources that replay
    /// files are left out.
    pub fn models(&self) -> impl Iterator<Item = (u16, &Model)> {
        let main = self.model.iter().map(|model| (0, model));
        let entries = (1..).zip(&self.mix).filter_map(|(number, entry)| Some((number, entry.model()?)));
        main.chain(entries)
    }

    /// Returns the plan unless it asks for packets marked NQB and has no traffic that marks them. What files hold is not
    /// known here.
    ///
    /// # Errors
    /// [`Error::Field`] naming `traffic.nqb`.
    fn check_nqb(self) -> Result<Plan> {
        let traffic = &self.scenario.traffic;
        let mut models = self.models();
        let is_marked =
            models.any(|(_, model)| matches!(model, Model::Voip(_) | Model::Game(_) | Model::VideoCall(_)));
        let reads_files =
            !traffic.files.is_empty() || traffic.mix.iter().any(|entry| !entry.files.is_empty());
        let is_listed = traffic.connections.iter().any(|spec| spec.datagrams.is_some());
        drop(models);
        if !traffic.nqb || is_marked || reads_files || is_listed {
            return Ok(self);
        }
        let with = "traffic without calls, games and video calls, in which nothing is marked";
        Err(Error::conflict("traffic.nqb", true, with, "leave it out"))
    }

    /// Returns the plan if its parts fit together.
    ///
    /// # Errors
    /// [`Error::Field`] naming `tcp.profile` or the packet size of model telnet where the two do
    /// not fit, or the scheme if its marker needs both directions of a link and the network is a
    /// graph.
    fn check_consistency(self) -> Result<Plan> {
        let asks = matches!(self.senders.first().opening, Opening::Request);
        let telnet = self.models().find_map(|(number, model)| match model {
            Model::Telnet(telnet) => Some((number, telnet)),
            _ => None,
        });
        match telnet {
            Some(_) if !asks => {
                let allowed = "give profile rfc or linux, in which clients send requests";
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
                Err(error.inside(&mix::name_field(number)))
            }
            _ => self.check_two_way_marker(),
        }
    }

    /// Returns the longest header of any TCP of the run, in bytes.
    fn longest_header(&self) -> u32 {
        let headers = self.senders.shares().iter().map(|one| one.params.header.max(one.params.ack_bytes));
        headers.max().unwrap_or_default()
    }

    /// Returns the plan unless its marker learns from acknowledgements and the network is a graph.
    /// Such a marker stands at both ends of the bottleneck. On a graph, where data may be marked
    /// elsewhere and acknowledgements may take other paths, it would count all data as outstanding.
    ///
    /// # Errors
    /// [`Error::Field`] naming `scheme`.
    fn check_two_way_marker(self) -> Result<Plan> {
        let needs_both = build::build_marker(&self.scheme, LinkContext::EXAMPLE)?.other_direction().is_some();
        if needs_both && matches!(self.layout.access, Access::Graph(_)) {
            let with = "a topology or a host stage, where its marker does not see both directions";
            let value = self.scheme.to_string();
            return Err(Error::conflict("scheme", quote(&value), with, "take a marker that sees one"));
        }
        Ok(self)
    }

    /// Returns the scenario with every parameter of its traffic models, the names of its sources,
    /// the ends of the scheme and the bottleneck's rates and buffers made explicit. It describes
    /// the same run.
    pub fn filled(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        let ends = scenario.ends();
        match &mut scenario.topology {
            None => {
                let link = &mut scenario.link;
                let up_buffer = link.buffer_up().1.to_string();
                let up = match (&link.up, RateTrace::is_file_name(link.down_rate().1)) {
                    (None, true) => format!("{}bit", self.up_rate.0),
                    _ => link.up_rate().1.to_string(),
                };
                let down = link.down_rate().1.to_string();
                if link.shape.is_some() {
                    let modems = [link.modem_down().1, link.modem_up().1].map(str::to_string);
                    [link.modem_buffer, link.up_modem_buffer] = modems.map(Some);
                }
                (link.rate, link.down, link.up, link.up_buffer) =
                    (None, Some(down), Some(up), Some(up_buffer));
            }
            Some(spec) => topology::fill_bottleneck(spec, ends),
        }
        scenario.at = Some(ends);
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

    /// Returns the rate to which loads of a direction relate: the share of the link's rate that
    /// full packets leave to IP (`Wire::ip_rate`).
    pub fn load_rate(&self, upload: bool) -> Rate {
        let (link, rate) = if upload { (UP, self.up_rate) } else { (DOWN, self.rate) };
        self.links[usize::from(link)].wire.ip_rate(rate)
    }

    /// Returns the measured window, from its beginning to its end.
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

    /// Refuses a rate trace by which the link sends no full packet up to the end of the measured window. Parts of a run
    /// may lie within an outage.
    ///
    /// # Errors
    /// [`Error::Field`] naming `link.down` or `link.up`.
    pub fn refuse_outages(&self) -> Result<()> {
        let (_, end) = self.window();
        let link = &self.scenario.link;
        for ((field, text), number) in [(link.down_rate(), DOWN), (link.up_rate(), UP)] {
            let trace = self.links[usize::from(number)].trace.as_ref();
            if trace.is_some_and(|trace| trace.bits_by(end) < 8.0 * f64::from(FULL_PACKET)) {
                let fault = format!("sends no packet within the {} s of the run", end.as_secs());
                let allowed = "a trace whose rate is above 0 for some of that time";
                return Err(Error::faulty(field, quote(text), fault, allowed));
            }
        }
        Ok(())
    }

    /// Returns the connections listed in the scenario, as traffic in order of start.
    ///
    /// # Errors
    /// [`Error::Field`] naming the connection and its field.
    pub fn listed_connections(&self) -> Result<Traffic> {
        let mut connections = parse_connections(&self.scenario.traffic.connections)?;
        connections.sort_by_key(|connection| connection.start);
        Ok(Traffic { connections, ..Traffic::default() })
    }
}

/// Returns the warm-up and the length of the measured window.
///
/// # Errors
/// [`Error::Field`] naming `warmup`, `duration` or `max_windows`.
fn parse_window(scenario: &Scenario) -> Result<(Dur, Dur)> {
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

/// Returns the interval of samples; `None` if the scenario asks for none. `whole` is the time from
/// the start to the end of the window.
///
/// # Errors
/// [`Error::Field`] naming `series` if it is too short, too long or malformed.
fn parse_sample_interval(scenario: &Scenario, whole: Dur) -> Result<Option<Dur>> {
    let Some(text) = &scenario.series else { return Ok(None) };
    let every = parse_dur("series", text)?;
    if every == Dur::ZERO || every > whole || whole.0 / every.0 > MOST_SAMPLES {
        let least = Dur(whole.0.div_ceil(MOST_SAMPLES)).as_secs();
        let allowed = format!("from {least}s to {}s, the end of the measured window", whole.as_secs());
        return Err(Error::field("series", quote(text), allowed));
    }
    Ok(Some(every))
}

/// Checks the user's corrections of the classes of flows, which only files have.
///
/// # Errors
/// [`Error::Field`] naming the corrections, malformed or without files.
fn check_classes(traffic: &TrafficSpec) -> Result<()> {
    let field = read::CLASSES;
    Corrections::parse(field, traffic.classes.iter().map(String::as_str))?;
    match traffic.classes.first() {
        Some(first) if traffic.files.is_empty() => {
            let with = "traffic that is not read from files, whose flows have no ports and no classes";
            Err(Error::conflict(field, quote(first), with, "leave it out"))
        }
        _ => Ok(()),
    }
}

/// Checks the description of the files' format; an empty one is allowed with any traffic.
///
/// # Errors
/// [`Error::Field`] naming the format, malformed or without files.
fn check_format(traffic: &TrafficSpec) -> Result<()> {
    if traffic.format.is_empty() {
        return Ok(());
    }
    let spec = read::Spec::parse(read::FORMAT, &traffic.format)?;
    if traffic.files.is_empty() {
        let with = "traffic that is not read from files";
        return Err(Error::conflict(read::FORMAT, quote(&spec.name), with, "leave it out"));
    }
    Ok(())
}

/// Returns the direction of the payload of files and bulk flows, down if none is given; that of a
/// model is checked with the model.
///
/// # Errors
/// [`Error::Field`] naming `traffic.payload` for an unknown direction, or where no traffic could
/// have it.
fn parse_payload_direction(traffic: &TrafficSpec) -> Result<Direction> {
    let Some(name) = &traffic.payload else { return Ok(Direction::Down) };
    let has_files = !traffic.files.is_empty() || traffic.bulk.is_some();
    if !has_files && traffic.model.is_none() {
        let with = "traffic without files, a model or bulk flows";
        let allowed = "give each connection, or each entry of a mix, a payload of its own";
        return Err(Error::conflict("traffic.payload", quote(name), with, allowed));
    }
    if has_files { Direction::parse("traffic.payload", name) } else { Ok(Direction::Down) }
}

/// Returns whether the payload of a listed connection goes up.
fn is_upload(payload: Option<&str>) -> bool {
    payload == Some(Direction::Up.name())
}

/// Parses `traffic.replay`, which only files may have; `None` if absent.
///
/// # Errors
/// [`Error::Field`] naming `traffic.replay` for an unknown kind, or without files.
fn parse_replay(traffic: &TrafficSpec) -> Result<Option<Loop>> {
    let Some(name) = &traffic.replay else { return Ok(None) };
    let asked = Loop::parse("traffic.replay", name)?;
    if traffic.files.is_empty() && traffic.mix.iter().all(|entry| entry.files.is_empty()) {
        let allowed = "models say themselves who waits for what";
        return Err(Error::conflict("traffic.replay", quote(name), "traffic that has no files", allowed));
    }
    Ok(Some(asked))
}

/// Returns the traffic model of a scenario; `None` if it has none.
///
/// # Errors
/// [`Error::Field`] naming the faulty field of `traffic`.
fn parse_traffic_model(scenario: &Scenario) -> Result<Option<Model>> {
    let traffic = &scenario.traffic;
    check_one_source(traffic)?;
    traffic.bulk.as_ref().map_or(Ok(()), check_bulk)?;
    let params = traffic.params.as_ref().unwrap_or(&serde_json::Value::Null);
    let payload = traffic.payload.as_deref();
    let named = |name| model::build_model(name, params).and_then(|model| model.with_payload(payload));
    let model = traffic.model.as_deref().map(named).transpose();
    let model = model.map_err(|error| error.inside("traffic"))?;
    mix::check_load(model.as_ref(), traffic.load).map_err(|error| error.inside("traffic"))?;
    if let (Some(load), true) = (traffic.load, traffic.files.is_empty() && traffic.model.is_none()) {
        let with = "traffic that has neither files nor a model";
        let allowed = "an entry of traffic.mix may have a load of its own";
        return Err(Error::conflict("traffic.load", load, with, allowed));
    }
    Ok(model)
}

/// Checks that the scenario has at most one main source of traffic, and at least that, bulk flows
/// or a mix.
///
/// # Errors
/// [`Error::Field`] naming `traffic`.
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

/// Checks that number and spreads of the bulk flows are in their ranges.
///
/// # Errors
/// [`Error::Field`] naming `traffic.bulk.<field>`.
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

/// Parses the connections that the scenario lists, in their order.
///
/// # Errors
/// [`Error::Field`] naming the first faulty connection and its field.
fn parse_connections(specs: &[ConnectionSpec]) -> Result<Vec<Connection>> {
    specs.iter().enumerate().map(|(index, spec)| parse_connection(index, spec)).collect()
}

/// Parses one connection that the scenario lists.
///
/// # Errors
/// [`Error::Field`] naming `traffic.connections[index].<field>`.
fn parse_connection(index: usize, spec: &ConnectionSpec) -> Result<Connection> {
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
    let direction = Direction::parse(&field("payload"), spec.payload.as_deref().unwrap_or("down"))?;
    let duration = spec.duration_s.map(|duration| seconds("duration_s", duration)).transpose()?;
    let (kind, writes) = match (&spec.datagrams, writes.is_empty()) {
        (None, true) => return Err(Error::missing(field("writes"), "at least one write")),
        (None, false) => (Kind::Tcp, writes.into()),
        (Some(_), false) => {
            return Err(Error::conflict(field("datagrams"), "a flow", "writes", "give one of the two"));
        }
        (Some(sums), true) => (Kind::Datagrams, parse_datagrams(sums, duration, &field("datagrams"))?),
    };
    let named = spec.flow_class.as_deref().map(|name| FlowClass::parse(&field("flow_class"), name));
    let is_up = direction == Direction::Up;
    let by_sums = || spec.datagrams.map(|sums| classify_sums(&sums, duration, is_up));
    Ok(Connection {
        start: Time(seconds("start_s", spec.start_s)?.0),
        client: spec.client,
        server: spec.server,
        rtt: spec.rtt_s.map(|rtt| seconds("rtt_s", rtt)).transpose()?,
        duration,
        kind,
        class: spec.class,
        flow_class: named.transpose()?.or_else(by_sums),
        upload: is_up,
        server_think: Default::default(),
        writes,
    })
}

/// Returns the class of a flow of UDP by its sums, which are classified like those of a log's row.
fn classify_sums(sums: &DatagramsSpec, duration: Option<Dur>, is_up: bool) -> FlowClass {
    let mut totals = [(Some(sums.reverse_packets), sums.reverse_bytes), (Some(sums.packets), sums.bytes)];
    if is_up {
        totals.reverse();
    }
    class::classify(&FlowShape::from_totals(Protocol::Udp, [0, 0], duration, totals))
}

/// Returns the flow of datagrams with these sums, sent within `duration`, or at once without one;
/// `field` is for errors.
///
/// # Errors
/// [`Error::Field`] naming `field` for sums that are too large, or without any packet.
fn parse_datagrams(sums: &DatagramsSpec, duration: Option<Dur>, field: &str) -> Result<Writes> {
    let amount = |packets: u64, bytes: u64| match packets.max(bytes) {
        0..=1_000_000_000_000 => Ok(Amount::from_sums(packets, bytes)),
        most => Err(Error::field(field, most, "at most 10^12 packets or bytes")),
    };
    let amounts = [amount(sums.packets, sums.bytes)?, amount(sums.reverse_packets, sums.reverse_bytes)?];
    if amounts == [Amount::default(); 2] {
        return Err(Error::missing(field, "at least one packet"));
    }
    let flow = Datagrams::from_sums(Service::default(), duration.unwrap_or_default(), amounts);
    Ok(Writes::from_datagrams(flow))
}
