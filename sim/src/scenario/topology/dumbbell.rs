//! The dumbbell of `[link]` and `[access]`: one bottleneck, and hosts around it.

use super::super::spec::{AccessSpec, LinkSpec, Scenario};
use super::network::{FULL_PACKET, Network, PlannedLink, access_rate};
use crate::engine::layout::{Access, Layout};
use crate::error::{Error, Result, quote};
use crate::rate_trace::RateTrace;
use crate::units::{Dur, Rate, parse_buffer, parse_dur, parse_rate, parse_size};
use std::sync::Arc;

/// The deepest token bucket, in bytes.
const MOST_BURST: u64 = 1_000_000_000;

/// The longest time that a token bucket may take to fill.
const LONGEST_BURST: Dur = Dur::from_millis(10_000);

/// Returns the links and paths of a scenario without a topology.
pub fn network(scenario: &Scenario) -> Result<Network> {
    let link = &scenario.link;
    let [trace, uplink_trace] = traces(link)?;
    let rate =
        trace.as_ref().map_or_else(|| parse_rate("link.rate", &link.rate), |trace| Ok(trace.mean()))?;
    let rtt = parse_dur("link.rtt", &link.rtt)?;
    let delay = parse_dur("link.delay", &link.delay)?;
    let (layout, shared) = layout(scenario.access.as_ref(), delay)?;
    check_rtt(link, rtt, layout.base_rtt)?;
    let uplink_rate = match (&uplink_trace, &link.uplink_rate) {
        (Some(trace), _) => trace.mean(),
        (None, Some(text)) => parse_rate("link.uplink_rate", text)?,
        (None, None) => rate,
    };
    let burst = burst(link, rate.min(uplink_rate))?;
    let bottleneck = |name: &str, rate, buffer, has_scheme| {
        let plain = PlannedLink::plain(name.into(), rate, delay);
        let planned = PlannedLink { buffer, overhead: link.overhead, burst, ..plain };
        if has_scheme { planned.with_scheme() } else { planned }
    };
    let buffer = parse_buffer("link.buffer", &link.buffer, rate, rtt)?;
    let uplink_buffer = parse_buffer("link.uplink_buffer", &link.uplink_buffer, uplink_rate, rtt)?;
    let mut links = vec![
        PlannedLink { trace, ..bottleneck("down", rate, buffer, true) },
        PlannedLink {
            trace: uplink_trace,
            ..bottleneck("up", uplink_rate, uplink_buffer, scenario.both_directions)
        },
    ];
    if let (Access::Shared { servers, clients }, Some((rate, delay))) = (&layout.access, shared) {
        let access = |number| PlannedLink::plain(format!("access-{number}"), rate, delay);
        links.extend((0..2 * (servers + clients)).map(access));
    }
    Ok(Network { links, layout, rtt, own_rtt: rtt })
}

/// Reads the rate traces of both directions.
fn traces(link: &LinkSpec) -> Result<[Option<Arc<RateTrace>>; 2]> {
    let read = |field: &str, path: &Option<String>| match (path, &link.burst) {
        (Some(path), Some(_)) => {
            Err(Error::conflict(field, quote(path), "link.burst", "a link is a token bucket or has a trace"))
        }
        (Some(path), None) => RateTrace::read(field, path).map(|trace| Some(Arc::new(trace))),
        (None, _) => Ok(None),
    };
    Ok([read("link.rate_trace", &link.rate_trace)?, read("link.uplink_rate_trace", &link.uplink_rate_trace)?])
}

/// Returns the depth of the token bucket in bytes; 0 without one. At the rate of the slower direction, an idle bucket
/// must be full before the next connection whose ideal completion time is computed.
fn burst(link: &LinkSpec, slowest: Rate) -> Result<u64> {
    let Some(text) = &link.burst else { return Ok(0) };
    let (bytes, least) = (parse_size("link.burst", text)?, u64::from(FULL_PACKET + link.overhead));
    if (least..=MOST_BURST).contains(&bytes) && slowest.tx_time(bytes) <= LONGEST_BURST {
        return Ok(bytes);
    }
    let seconds = LONGEST_BURST.as_secs();
    let allowed = format!(
        "from {least}B, a full packet with its overhead, to 1GB, and at most what the link sends in {seconds:.0} s"
    );
    Err(Error::field("link.burst", quote(text), allowed))
}

fn check_rtt(link: &LinkSpec, rtt: Dur, base: Dur) -> Result<()> {
    if rtt >= base && rtt > Dur::ZERO {
        return Ok(());
    }
    let least = format!("positive, and at least the {} ms of the links themselves", base.as_secs() * 1e3);
    Err(Error::field("link.rtt", quote(&link.rtt), least))
}

/// Returns the layout, and rate and delay of shared access links.
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
            let rate = shared_rate(spec, server)?;
            let base_rtt = Dur(base_rtt.0 + 4 * server_delay.0);
            let access = Access::Shared { servers, clients };
            Ok((Layout { access, base_rtt, ..none }, Some((rate, server_delay))))
        }
        (servers, clients) => {
            let allowed = "from 1 to 10000, and both servers and clients given, or neither";
            Err(match (servers, clients) {
                (Some(servers), None) => Error::field("access.servers", servers, allowed),
                (Some(servers), _) if !(1..=10_000).contains(&servers) => {
                    Error::field("access.servers", servers, allowed)
                }
                (_, clients) => Error::field("access.clients", clients.unwrap_or_default(), allowed),
            })
        }
    }
}

/// Returns the rate of the shared access links, which all have the same rate.
fn shared_rate(spec: &AccessSpec, rate: Option<Rate>) -> Result<Rate> {
    for (field, given) in
        [("access.client_rate", &spec.client_rate), ("access.client_delay", &spec.client_delay)]
    {
        if let Some(text) = given {
            let allowed = "leave it out, since all shared access links are alike";
            return Err(Error::conflict(field, quote(text), "shared access links", allowed));
        }
    }
    let allowed = "give the links that hosts share a rate";
    rate.ok_or_else(|| Error::conflict("access.rate", quote("unlimited"), "access.servers", allowed))
}
