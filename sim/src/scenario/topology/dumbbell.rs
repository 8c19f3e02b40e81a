//! The dumbbell of `[link]` and `[access]`: one bottleneck, and hosts around it.

use super::super::spec::{AccessSpec, LinkSpec, Scenario};
use super::network::{FULL_PACKET, Network, PlannedLink, parse_access_rate};
use super::shaper;
use super::wire::parse_wire;
use crate::engine::layout::{Access, Layout};
use crate::error::{Error, Result, quote};
use crate::link_layer::Wire;
use crate::rate_trace::RateTrace;
use crate::units::{Dur, Rate, parse_buffer, parse_dur, parse_rate, parse_size};
use std::sync::Arc;

/// The deepest token bucket, in bytes.
const MOST_BURST: u64 = 1_000_000_000;

/// The longest time that a token bucket may take to fill.
const LONGEST_BURST: Dur = Dur::from_millis(10_000);

/// Returns the links and paths of a scenario without a topology.
///
/// # Errors
/// [`Error::Field`] naming a field of `link` or `access`, or `scheme`.
pub fn build_network(scenario: &Scenario) -> Result<Network> {
    let link = &scenario.link;
    check_rates(link)?;
    let (rate, trace) = parse_link_rate(link, link.down_rate())?;
    let rtt = parse_dur("link.rtt", &link.rtt)?;
    let delay = parse_dur("link.delay", &link.delay)?;
    let (layout, shared) = build_layout(scenario.access.as_ref(), delay)?;
    check_rtt(link, rtt, layout.base_rtt)?;
    let (up_rate, up_trace) = match &link.up {
        Some(_) => parse_link_rate(link, link.up_rate())?,
        None => (rate, None),
    };
    let wire = parse_wire(link)?;
    let burst = parse_burst(link, wire, rate.min(up_rate))?;
    let bottleneck = |name: &str, rate, buffer, has_scheme| {
        let plain = PlannedLink::with_unlimited_buffer(name.into(), rate, delay);
        let planned = PlannedLink { buffer, wire, burst, ..plain };
        if has_scheme { planned.with_scheme() } else { planned }
    };
    let buffer = parse_buffer("link.buffer", &link.buffer, rate, rtt)?;
    let (field, text) = link.buffer_up();
    let up_buffer = parse_buffer(field, text, up_rate, rtt)?;
    let ends = scenario.ends();
    let mut links = vec![
        PlannedLink { trace, ..bottleneck("down", rate, buffer, ends.has_down()) },
        PlannedLink { trace: up_trace, ..bottleneck("up", up_rate, up_buffer, ends.has_up()) },
    ];
    shaper::put_shapers(scenario, &mut links, rtt)?;
    if let (Access::Shared { servers, clients }, Some((rate, delay))) = (&layout.access, shared) {
        let access = |number| PlannedLink::with_unlimited_buffer(format!("access-{number}"), rate, delay);
        links.extend((0..2 * (servers + clients)).map(access));
    }
    Ok(Network { links, layout, rtt, own_rtt: rtt })
}

/// Checks that the link has one rate for both directions, or one for each; without any rate the
/// default holds.
///
/// # Errors
/// [`Error::Field`] naming `link.rate` or `link.down`.
fn check_rates(link: &LinkSpec) -> Result<()> {
    match link {
        LinkSpec { rate: Some(rate), down: Some(_), .. } => {
            let allowed = "give down and up, or rate for both directions";
            Err(Error::conflict("link.rate", quote(rate), "link.down", allowed))
        }
        LinkSpec { rate: Some(rate), up: Some(_), .. } => {
            let allowed = "rate is that of both directions; write it as down";
            Err(Error::conflict("link.rate", quote(rate), "link.up", allowed))
        }
        LinkSpec { down: None, up: Some(_), .. } => {
            Err(Error::missing("link.down", "a rate in addition to up, such as down = \"20mbit\""))
        }
        _ => Ok(()),
    }
}

/// Returns the rate of a direction, given by a field and its text. A rate that changes over time is
/// read from its file, and returned as its mean with its trace.
///
/// # Errors
/// [`Error::Field`] naming the field, also for a file that cannot be read.
fn parse_link_rate(link: &LinkSpec, (field, text): (&str, &str)) -> Result<(Rate, Option<Arc<RateTrace>>)> {
    if !RateTrace::is_file_name(text) {
        return Ok((parse_rate(field, text)?, None));
    }
    if field == "link.rate" {
        let allowed =
            "a rate such as 10mbit; the file of one that varies is given as link.down, or as link.up";
        return Err(Error::field(field, quote(text), allowed));
    }
    if link.burst.is_some() && link.shape.is_none() {
        let allowed =
            "a link is a token bucket or has a trace; a shaper before it (link.shape) may have both";
        return Err(Error::conflict(field, quote(text), "link.burst", allowed));
    }
    let trace = RateTrace::read(field, text)?;
    Ok((trace.mean(), Some(Arc::new(trace))))
}

/// Returns the depth of the token bucket in bytes; 0 without one. At the rate of the slower
/// direction, a bucket must fill within the pause before the next connection whose ideal completion
/// time is computed.
///
/// # Errors
/// [`Error::Field`] naming `link.burst`.
fn parse_burst(link: &LinkSpec, wire: Wire, slowest: Rate) -> Result<u64> {
    let Some(text) = &link.burst else { return Ok(0) };
    let (bytes, least) = (parse_size("link.burst", text)?, wire.bytes(u64::from(FULL_PACKET)));
    if (least..=MOST_BURST).contains(&bytes) && slowest.tx_time(bytes) <= LONGEST_BURST {
        return Ok(bytes);
    }
    let seconds = LONGEST_BURST.as_secs();
    let allowed = format!(
        "from {least}B, a full packet with its overhead, to 1GB, and at most what the link sends in {seconds:.0} s"
    );
    Err(Error::field("link.burst", quote(text), allowed))
}

/// Refuses a round-trip time of zero, or one below `base`, that of the links.
///
/// # Errors
/// [`Error::Field`] naming `link.rtt`.
fn check_rtt(link: &LinkSpec, rtt: Dur, base: Dur) -> Result<()> {
    if rtt >= base && rtt > Dur::ZERO {
        return Ok(());
    }
    let least = format!("positive, and at least the {} ms of the links themselves", base.as_secs() * 1e3);
    Err(Error::field("link.rtt", quote(&link.rtt), least))
}

/// Returns the layout, and rate and delay of shared access links; `None` without such links.
/// `delay` is that of the bottleneck, one way.
///
/// # Errors
/// [`Error::Field`] naming a field of `access`.
fn build_layout(spec: Option<&AccessSpec>, delay: Dur) -> Result<(Layout, Option<(Rate, Dur)>)> {
    let base_rtt = Dur(2 * delay.0);
    let none =
        Layout { access: Access::Unlimited, base_rtt, server_delay: Dur::ZERO, client_delay: Dur::ZERO };
    let Some(spec) = spec else { return Ok((none, None)) };
    let server = parse_access_rate("access.rate", &spec.rate)?;
    let server_delay = parse_dur("access.delay", &spec.delay)?;
    match (spec.servers, spec.clients) {
        (None, None) => {
            let client = spec
                .client_rate
                .as_ref()
                .map_or(Ok(server), |text| parse_access_rate("access.client_rate", text))?;
            let client_delay = spec
                .client_delay
                .as_ref()
                .map_or(Ok(server_delay), |text| parse_dur("access.client_delay", text))?;
            let access = Access::Private { server, client };
            let base_rtt = Dur(base_rtt.0 + 2 * server_delay.0 + 2 * client_delay.0);
            Ok((Layout { access, base_rtt, server_delay, client_delay }, None))
        }
        (Some(servers @ 1..=10_000), Some(clients @ 1..=10_000)) => {
            let rate = parse_shared_rate(spec, server)?;
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
///
/// # Errors
/// [`Error::Field`] naming a field of `access` that only private links have, or `access.rate`
/// without a limit.
fn parse_shared_rate(spec: &AccessSpec, rate: Option<Rate>) -> Result<Rate> {
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
