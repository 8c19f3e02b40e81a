//! A scenario that was checked: every text turned into units, every fault named.

use super::scheme::Scheme;
use super::server::server;
use super::spec::{AccessSpec, BulkSpec, ConnectionSpec, FaultSpec, SCHEMA, Scenario, TcpSpec};
use crate::engine::layout::{Access, Layout};
use crate::engine::server::Order;
use crate::error::{Error, Result, did_you_mean};
use crate::link::Fault;
use crate::tcp::profile::Opening;
use crate::tcp::{Congestion, Params, Variant};
use crate::traffic::Traffic;
use crate::traffic::connection::{Connection, Kind, Write};
use crate::traffic::model::{self, Model};
use crate::traffic::read::Direction;
use crate::units::{Buffer, Dur, Rate, Time, parse_buffer, parse_dur, parse_rate};

/// A checked scenario.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The scenario it came from.
    pub scenario: Scenario,
    /// The scheme.
    pub scheme: Scheme,
    /// TCP parameters.
    pub params: Params,
    /// Rate in the data direction.
    pub rate: Rate,
    /// Rate in the other direction.
    pub uplink_rate: Rate,
    /// Buffer in the data direction.
    pub buffer: Buffer,
    /// Buffer in the other direction.
    pub uplink_buffer: Buffer,
    /// Round-trip time of connections without one of their own.
    pub rtt: Dur,
    /// One-way delay of the bottleneck.
    pub delay: Dur,
    /// Paths.
    pub layout: Layout,
    /// Rate and delay of the access links, where they are shared.
    pub access_link: Option<(Rate, Dur)>,
    /// Time before the measured window.
    pub warmup: Dur,
    /// Length of the measured window.
    pub duration: Dur,
    /// Which payload is measured.
    pub direction: Direction,
    /// Faults of the bottleneck: data direction, other direction.
    pub faults: [Fault; 2],
    /// The traffic model, if there is one.
    pub model: Option<Model>,
    /// Rate of each server's CPU and the order of its jobs, if servers have one.
    pub server: Option<(Rate, Order)>,
}

impl Plan {
    /// Checks a scenario.
    ///
    /// # Errors
    /// [`Error::Field`] naming the field, the value and what is allowed.
    pub fn new(scenario: &Scenario) -> Result<Plan> {
        if scenario.schema != SCHEMA {
            return Err(Error::field(
                "schema",
                format!("\"{}\"", scenario.schema),
                format!("allowed: {SCHEMA}"),
            ));
        }
        let link = &scenario.link;
        let rate = parse_rate("link.rate", &link.rate)?;
        let rtt = parse_dur("link.rtt", &link.rtt)?;
        let direction = direction(scenario)?;
        let delay = parse_dur("link.delay", &link.delay)?;
        let (layout, access_link) = layout(scenario.access.as_ref(), delay)?;
        if rtt < layout.base_rtt || rtt == Dur::ZERO {
            let least = format!(
                "a positive time, at least the {} ms of the links themselves",
                layout.base_rtt.as_secs() * 1e3
            );
            return Err(Error::field("link.rtt", format!("\"{}\"", link.rtt), least));
        }
        let uplink_rate =
            link.uplink_rate.as_ref().map_or(Ok(rate), |text| parse_rate("link.uplink_rate", text))?;
        let (warmup, duration) = window(scenario)?;
        connections(&scenario.traffic.connections)?;
        Ok(Plan {
            scheme: Scheme::parse(&scenario.scheme)?,
            params: tcp(&scenario.tcp, direction)?,
            rate,
            uplink_rate,
            buffer: parse_buffer("link.buffer", &link.buffer, rate, rtt)?,
            uplink_buffer: parse_buffer("link.uplink_buffer", &link.uplink_buffer, uplink_rate, rtt)?,
            rtt,
            delay,
            layout,
            access_link,
            warmup,
            duration,
            direction,
            faults: faults(&scenario.faults)?,
            model: model(scenario)?,
            server: scenario.server.as_ref().map(|spec| server(spec, direction)).transpose()?,
            scenario: scenario.clone(),
        })
    }

    /// The scenario with every parameter of its traffic model and both rates written out.
    pub fn filled(&self) -> Scenario {
        let mut scenario = self.scenario.clone();
        scenario.link.uplink_rate.get_or_insert_with(|| scenario.link.rate.clone());
        if let Some(model) = &self.model {
            scenario.traffic.params = Some(model.params());
        }
        scenario
    }

    /// The measured window.
    pub fn window(&self) -> (Time, Time) {
        let begin = Time::ZERO + self.warmup;
        (begin, begin + self.duration)
    }

    /// The last moment of the run.
    pub fn deadline(&self) -> Time {
        Time::ZERO + self.warmup + Dur(self.duration.0.saturating_mul(u64::from(self.scenario.max_windows)))
    }

    /// The connections written out in the scenario, as traffic.
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
        return Err(Error::field(
            "duration",
            format!("\"{}\"", scenario.duration),
            "a time longer than zero",
        ));
    }
    if !(1..=1000).contains(&scenario.max_windows) {
        return Err(Error::field("max_windows", scenario.max_windows, "1 to 1000"));
    }
    Ok((warmup, duration))
}

fn direction(scenario: &Scenario) -> Result<Direction> {
    let name = scenario.traffic.direction.as_deref().unwrap_or("down");
    Direction::by_name("traffic.direction", name)
}

fn model(scenario: &Scenario) -> Result<Option<Model>> {
    let traffic = &scenario.traffic;
    let given = [!traffic.files.is_empty(), traffic.model.is_some(), !traffic.connections.is_empty()];
    let count = given.iter().filter(|given| **given).count();
    if count > 1 || (count == 0 && traffic.bulk.is_none()) {
        let problem = if count == 0 { "nothing" } else { "more than one source" };
        return Err(Error::field("traffic", problem, "exactly one of files, model and connections, or bulk"));
    }
    if let Some(load) = traffic.load.filter(|load| !(*load > 0.0 && *load <= 2.0)) {
        return Err(Error::field("traffic.load", load, "a number above 0, at most 2"));
    }
    if let (Some(load), true) = (traffic.load, traffic.files.is_empty() && traffic.model.is_none()) {
        return Err(Error::field("traffic.load", load, "only files and models can be made to load the link"));
    }
    traffic.bulk.as_ref().map_or(Ok(()), check_bulk)?;
    let params = traffic.params.as_ref().unwrap_or(&serde_json::Value::Null);
    traffic.model.as_deref().map(|name| model::by_name(name, params)).transpose()
}

fn check_bulk(bulk: &BulkSpec) -> Result<()> {
    let fields = [
        ("flows", f64::from(bulk.flows), 1.0..=100_000.0),
        ("start_spread_s", bulk.start_spread_s, 0.0..=1e6),
        ("rtt_spread", bulk.rtt_spread, 0.0..=0.99),
    ];
    for (name, value, range) in fields {
        if !range.contains(&value) {
            let allowed = format!("{} to {}", range.start(), range.end());
            return Err(Error::field(format!("traffic.bulk.{name}"), value, allowed));
        }
    }
    Ok(())
}

/// The layout, and rate and delay of shared access links.
fn layout(spec: Option<&AccessSpec>, delay: Dur) -> Result<(Layout, Option<(Rate, Dur)>)> {
    let base_rtt = Dur(2 * delay.0);
    let none =
        Layout { access: Access::Unlimited, base_rtt, server_delay: Dur::ZERO, client_delay: Dur::ZERO };
    let Some(spec) = spec else { return Ok((none, None)) };
    let server = access_rate("access.rate", &spec.rate)?;
    let server_delay = parse_dur("access.delay", &spec.delay)?;
    match (spec.servers, spec.clients) {
        (None, None) => {
            let client = spec
                .client_rate
                .as_ref()
                .map_or(Ok(server), |text| access_rate("access.client_rate", text))?;
            let client_delay = spec
                .client_delay
                .as_ref()
                .map_or(Ok(server_delay), |text| parse_dur("access.client_delay", text))?;
            let access = Access::Private { server, client };
            let base_rtt = Dur(base_rtt.0 + 2 * server_delay.0 + 2 * client_delay.0);
            Ok((Layout { access, base_rtt, server_delay, client_delay }, None))
        }
        (Some(servers @ 1..=10_000), Some(clients @ 1..=10_000)) => {
            if let Some(text) = spec.client_rate.as_ref().or(spec.client_delay.as_ref()) {
                let allowed = "shared access links are alike at servers and clients; leave it out";
                return Err(Error::field(
                    "access.client_rate or access.client_delay",
                    format!("\"{text}\""),
                    allowed,
                ));
            }
            let rate = server.ok_or_else(|| {
                Error::field("access.rate", "\"unlimited\"", "shared access links need a rate")
            })?;
            let base_rtt = Dur(base_rtt.0 + 4 * server_delay.0);
            Ok((
                Layout { access: Access::Shared { servers, clients }, base_rtt, ..none },
                Some((rate, server_delay)),
            ))
        }
        (servers, clients) => {
            let value = format!("servers {servers:?}, clients {clients:?}");
            Err(Error::field("access", value, "both servers and clients from 1 to 10000, or neither"))
        }
    }
}

fn access_rate(field: &str, text: &str) -> Result<Option<Rate>> {
    if text == "unlimited" { Ok(None) } else { parse_rate(field, text).map(Some) }
}

fn faults(specs: &[FaultSpec]) -> Result<[Fault; 2]> {
    let mut faults = [Fault::default(), Fault::default()];
    for spec in specs {
        let fault = match spec.link.as_str() {
            "down" => &mut faults[0],
            "up" => &mut faults[1],
            other => {
                let hint = did_you_mean(other, ["down", "up"]);
                return Err(Error::field(
                    "faults.link",
                    format!("\"{other}\""),
                    format!("allowed: down or up{hint}"),
                ));
            }
        };
        if !(0.0..=1.0).contains(&spec.bernoulli) {
            return Err(Error::field("faults.bernoulli", spec.bernoulli, "a probability from 0 to 1"));
        }
        fault.drop.extend(&spec.drop);
        fault.drop.sort_unstable();
        fault.bernoulli = 1.0 - (1.0 - fault.bernoulli) * (1.0 - spec.bernoulli);
    }
    Ok(faults)
}

fn tcp(spec: &TcpSpec, direction: Direction) -> Result<Params> {
    let mut params = Params::profile(&spec.profile)?;
    let set = |target: &mut u32, given: Option<u32>, field: &str, from: u32, to: u32| match given {
        Some(value) if !(from..=to).contains(&value) => {
            Err(Error::field(field, value, format!("{from} to {to}")))
        }
        Some(value) => {
            *target = value;
            Ok(())
        }
        None => Ok(()),
    };
    set(&mut params.mss, spec.mss, "tcp.mss", 1, 9000)?;
    set(&mut params.header, spec.header, "tcp.header", 0, 120)?;
    set(&mut params.request_bytes, spec.request_bytes, "tcp.request_bytes", 0, 9000)?;
    set(&mut params.initial_window, spec.initial_window, "tcp.initial_window", 1, 1000)?;
    set(&mut params.receive_window, spec.receive_window, "tcp.receive_window", 1, 65_535)?;
    if spec.receive_window.is_some() && params.initial_ssthresh.is_some() {
        params.initial_ssthresh = Some(params.receive_window);
    }
    if let Some(0) = spec.initial_ssthresh {
        return Err(Error::field("tcp.initial_ssthresh", 0, "at least 1 segment"));
    }
    params.initial_ssthresh = spec.initial_ssthresh.or(params.initial_ssthresh);
    for (text, target, field) in [
        (&spec.initial_rto, &mut params.initial_rto, "tcp.initial_rto"),
        (&spec.min_rto, &mut params.min_rto, "tcp.min_rto"),
        (&spec.tick, &mut params.tick, "tcp.tick"),
    ] {
        if let Some(text) = text {
            *target = parse_dur(field, text)?;
        }
    }
    if params.tick == Dur::ZERO || params.initial_rto == Dur::ZERO {
        return Err(Error::field("tcp", "tick or initial_rto of zero", "times longer than zero"));
    }
    if let Some(phase) = spec.tick_phase_s.filter(|phase| !(0.0..=1e6).contains(phase)) {
        return Err(Error::field("tcp.tick_phase_s", phase, "seconds, 0 or more"));
    }
    params.tick_phase = spec.tick_phase_s.map(Dur::from_secs).or(params.tick_phase);
    params.variant = spec.variant.unwrap_or(params.variant);
    if params.variant != Variant::Sack {
        (params.prr, params.rack) = (false, false);
    }
    params.congestion = spec.congestion.unwrap_or(params.congestion);
    if params.congestion == Congestion::Cubic && !params.rfc5681 {
        return Err(Error::field("tcp.congestion", "\"cubic\"", "the ns2 profiles have reno only"));
    }
    params.limited_transmit = spec.limited_transmit.unwrap_or(params.limited_transmit);
    params.ecn = spec.ecn.unwrap_or(params.ecn);
    match spec.delayed_ack.as_deref() {
        Some("off") => params.delayed_ack = None,
        Some(text) => params.delayed_ack = Some(parse_dur("tcp.delayed_ack", text)?),
        None => {}
    }
    params.opening = match (params.opening, spec.syn, direction) {
        (Opening::OneWaySyn | Opening::None, Some(true), _) => Opening::OneWaySyn,
        (Opening::OneWaySyn | Opening::None, Some(false), _) => Opening::None,
        (Opening::Request, Some(_), _) => {
            return Err(Error::field("tcp.syn", "set", "only the ns2 profiles can do without"));
        }
        (Opening::Request, None, Direction::Up) => Opening::Sender,
        (opening, ..) => opening,
    };
    Ok(params)
}

fn connections(specs: &[ConnectionSpec]) -> Result<Vec<Connection>> {
    specs.iter().enumerate().map(|(index, spec)| connection(index, spec)).collect()
}

fn connection(index: usize, spec: &ConnectionSpec) -> Result<Connection> {
    let field = |name: &str| format!("traffic.connections[{index}].{name}");
    let seconds = |name: &str, value: f64| match value {
        value if value.is_finite() && (0.0..1e9).contains(&value) => Ok(Dur::from_secs(value)),
        value => Err(Error::field(field(name), value, "seconds, 0 or more")),
    };
    let writes = spec.writes.iter().map(|write| match write.bytes {
        1..=1_000_000_000_000 => {
            Ok(Write { idle: seconds("writes.idle_s", write.idle_s)?, bytes: write.bytes })
        }
        bytes => Err(Error::field(field("writes.bytes"), bytes, "1 to 10^12 bytes")),
    });
    let writes = writes.collect::<Result<Vec<_>>>()?;
    if writes.is_empty() {
        return Err(Error::field(field("writes"), "[]", "at least one write"));
    }
    Ok(Connection {
        start: Time(seconds("start_s", spec.start_s)?.0),
        client: spec.client,
        server: spec.server,
        rtt: spec.rtt_s.map(|rtt| seconds("rtt_s", rtt)).transpose()?,
        kind: Kind::Tcp,
        class: spec.class,
        writes,
    })
}
