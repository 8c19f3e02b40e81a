//! `explain`: says what happened to a flow's packets, by which rule, and why a flow has not been
//! seen here.

use crate::deployment::{Deployment, Shaper};
use crate::error::{Failure, Result};
use crate::flow_table::{FlowTable, parse_items};
use crate::flows::FlowReport;
use crate::human::{
    format_bytes, format_count, format_number, format_rate, format_span, format_table, format_waiting, to_ip,
};
use crate::kernel::monotonic_ns;
use crate::layout::{KEEP_DSCP, Key, Settings};
use crate::observe::{Entry, Observed, observe_running};
use crate::qdisc::format_id;
use crate::request::Mode;
use mousehole_policy::{Colour, Kind, Params, State};
use mousehole_scheme::units::Buffer;
use serde::Serialize;
use std::net::IpAddr;
use std::process::Command;

/// The name and version of the JSON document's format.
pub const FORM: &str = "mousehole-live.explain/1";

/// How many flows of each device are explained at most.
const MOST: usize = 20;

/// One endpoint of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Its address.
    pub address: IpAddr,
    /// Its port; `None` for any.
    pub port: Option<u16>,
}

/// The flows to explain, by one or both endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// One endpoint.
    pub one: End,
    /// The other endpoint; `None` for any.
    pub other: Option<End>,
}

impl End {
    /// Reads an address with or without a port; `None` for other text. Brackets around an IPv6
    /// address are needed only before a port.
    fn parse(text: &str) -> Option<End> {
        if let Ok(address) = text.parse() {
            return Some(End { address, port: None });
        }
        if let Ok(both) = text.parse::<std::net::SocketAddr>() {
            return Some(End { address: both.ip(), port: Some(both.port()) });
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        inner.parse().ok().map(|address| End { address: IpAddr::V6(address), port: None })
    }

    /// Returns whether an address and port in network order are this endpoint.
    fn matches(self, bytes: [u8; 16], port: [u8; 2]) -> bool {
        self.address == to_ip(bytes) && self.port.is_none_or(|number| number.to_be_bytes() == port)
    }
}

impl Wanted {
    /// Reads `ADDRESS`, `ADDRESS:PORT`, `[IPv6]:PORT`, or two of these with a hyphen between them.
    ///
    /// # Errors
    /// A sentence that says what is allowed.
    pub fn parse(text: &str) -> Result<Wanted> {
        let parsed = match text.split_once('-') {
            None => End::parse(text).map(|one| Wanted { one, other: None }),
            Some((one, other)) => {
                End::parse(one).zip(End::parse(other)).map(|(one, other)| Wanted { one, other: Some(other) })
            }
        };
        parsed.ok_or_else(|| {
            Failure::new(format!(
                "\"{text}\" names no flow; it must be ADDRESS, ADDRESS:PORT, [IPv6]:PORT, or two of them with a hyphen \
                 between, such as 10.0.0.5:443 or 10.0.0.5:443-192.0.2.7:40000"
            ))
        })
    }

    /// Returns whether the flow with this key is wanted, in either direction.
    pub fn matches(self, key: &Key) -> bool {
        let (from, to) = ((key.source, key.source_port), (key.destination, key.destination_port));
        let fits = |first: (_, _), second: (_, _)| {
            self.one.matches(first.0, first.1)
                && self.other.is_none_or(|other| other.matches(second.0, second.1))
        };
        fits(from, to) || fits(to, from)
    }
}

/// The JSON document of `explain --json`. Fields are added but neither renamed nor removed within a [`FORM`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// [`FORM`].
    pub schema: &'static str,
    /// The flows as the user named them.
    pub asked: String,
    /// The matching flows, those with the most bytes first; at most 20 of each device.
    pub flows: Vec<Explained>,
    /// How many flows match.
    pub matching: u64,
    /// If no flow matches: likely reasons, the most likely first.
    pub not_seen: Vec<String>,
}

/// One flow and what happened to its packets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// The device's name.
    pub device: String,
    /// The flow's counters.
    #[serde(flatten)]
    pub flow: FlowReport,
    /// The policies that decided its colour, in order.
    pub rules: Vec<Rule>,
    /// What was done with its packets.
    pub done: String,
    /// What the queue did with its packets.
    pub queue: String,
}

/// A policy with its parameters, in the policy's own texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    /// Its name.
    pub policy: String,
    /// Its summary.
    pub summary: &'static str,
    /// Its parameters, in the policy's order.
    pub parameters: Vec<Setting>,
    /// Names and values of the readings that the policy takes from its current state.
    pub readings: Vec<(&'static str, f64)>,
}

/// A parameter with its value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Setting {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: String,
    /// What it does.
    pub meaning: &'static str,
}

impl Rule {
    /// Returns a policy's rule. `state` is its shared state; without it, or if it is too short,
    /// there are no readings. A reading that is not finite is omitted.
    pub(crate) fn new(params: &Params, state: Option<&[u8]>) -> Rule {
        let policy = params.policy();
        let settings = policy.parameters().iter().map(|parameter| Setting {
            name: parameter.name,
            value: format_value(params, parameter.name, parameter.kind),
            meaning: parameter.meaning,
        });
        let bytes = state.filter(|bytes| bytes.len() >= policy.sizes().2);
        let numbers = bytes.map(|bytes| policy.read(params, &State::from_bytes(bytes)));
        let readings = policy.readings().into_iter().zip(numbers.unwrap_or_default());
        Rule {
            policy: policy.name().to_string(),
            summary: policy.summary(),
            parameters: settings.collect(),
            readings: readings.filter(|(_, number)| number.is_finite()).collect(),
        }
    }

    /// Returns the policy's name and parameters on one line.
    pub(crate) fn format_settings(&self) -> String {
        let all: Vec<String> =
            self.parameters.iter().map(|one| format!("{} = {}", one.name, one.value)).collect();
        match all.is_empty() {
            true => self.policy.clone(),
            false => format!("{}: {}", self.policy, all.join(", ")),
        }
    }

    /// Returns a rule of `sfd` for the tests of other modules.
    #[cfg(test)]
    pub(crate) fn sample() -> Rule {
        let setting = |name, value: &str| Setting { name, value: value.into(), meaning: "" };
        let parameters = vec![setting("th", "30 kB"), setting("timeout", "1 s")];
        Rule { policy: "sfd".into(), summary: "", parameters, readings: Vec::new() }
    }
}

/// Returns a parameter's value with its unit, as people write it; times beyond 1e9 s are `never`.
fn format_value(params: &Params, name: &'static str, kind: Kind) -> String {
    let number = params.number(name);
    match kind {
        Kind::Threshold => match is_in_packets(params, name, number) {
            true => format_count(number as u64, "packet"),
            false => format_bytes(number),
        },
        Kind::Size | Kind::Buffer => format_bytes(number),
        Kind::Length => format!("{} packets", format_rounded(number)),
        Kind::Rate => format_rate(number),
        Kind::Time | Kind::Timeout if number > 1e9 => "never".into(),
        Kind::Time | Kind::Timeout if number < 1.0 && number > 0.0 => {
            format!("{} ms", format_rounded(number * 1e3))
        }
        Kind::Time | Kind::Timeout => format_span(number),
        Kind::Percent => format!("{} %", format_rounded(number)),
        Kind::Fraction | Kind::Number => format_rounded(number),
        Kind::Count => format_number(number as u64),
        Kind::Flag => if number == 0.0 { "no" } else { "yes" }.into(),
        Kind::Choice(words) => words.get(number as usize).copied().unwrap_or("-").into(),
    }
}

/// Returns a number with at most three decimals.
fn format_rounded(number: f64) -> String {
    format!("{}", (number * 1000.0).round() / 1000.0)
}

/// Returns whether a threshold counts packets. The policy's parameters hold the unit, so they are
/// compared with those for the same number of packets and of bytes. False if either cannot be set.
fn is_in_packets(params: &Params, name: &str, number: f64) -> bool {
    let with = |unit: &str| {
        let text = format!("{}{unit}", number as u64);
        Params::from_text(params.policy(), &[(name, &text)], params.context()).map(|params| params.bytes())
    };
    let (Ok(packets), Ok(bytes)) = (with("p"), with("B")) else { return false };
    let mine = params.bytes();
    let differs = packets.iter().zip(&bytes).position(|(one, other)| one != other);
    differs.is_some_and(|at| mine[at] == packets[at])
}

/// Explains the flows that `asked` names, at one device or at all. At a device where none matches,
/// likely reasons are looked up, which takes a second and runs nft.
///
/// # Errors
/// A sentence when `asked` names no flow, nothing runs here, or a table cannot be read.
pub fn explain(asked: &str, only: Option<&str>) -> Result<Explanation> {
    let wanted = Wanted::parse(asked)?;
    let all = observe_running(only)?;
    let (mut flows, mut matching, mut not_seen) = (Vec::new(), 0, Vec::new());
    for one in &all {
        let (mut found, mut here): (Vec<Entry>, u64) = (Vec::new(), 0);
        let (entries, most) = one.visit_flows(|entry| {
            if wanted.matches(&entry.key) {
                here += 1;
                found.push(entry);
                if found.len() > 4 * MOST {
                    keep_largest(&mut found);
                }
            }
        })?;
        keep_largest(&mut found);
        if here == 0 {
            not_seen.extend(list_reasons_unseen(one, entries, most));
        }
        matching += here;
        // `status` says why there is no deployment.
        let deployment = one.deployment().ok().flatten();
        let settings = one.settings()?;
        let (now_ns, rules) = (monotonic_ns(), list_rules(one, deployment.as_ref()));
        flows.extend(found.iter().map(|entry| {
            let flow = FlowReport::new(&entry.key, &entry.flow, now_ns);
            Explained {
                device: one.title(),
                done: describe_action(one, &settings, &entry.key, &flow),
                queue: describe_queue(deployment.as_ref(), one, &settings, &flow),
                rules: rules.clone(),
                flow,
            }
        }));
    }
    if matching > 0 {
        not_seen.clear();
    }
    Ok(Explanation { schema: FORM, asked: asked.into(), flows, matching, not_seen })
}

/// Sorts entries by bytes, largest first, and drops those beyond [`MOST`].
fn keep_largest(found: &mut Vec<Entry>) {
    found.sort_by_key(|entry| std::cmp::Reverse(entry.flow.bytes));
    found.truncate(MOST);
}

/// Returns the rules of the flow marker and of the user marker, with the readings of their states;
/// none without a deployment.
fn list_rules(one: &Observed, deployment: Option<&Deployment>) -> Vec<Rule> {
    let Some(deployment) = deployment else { return Vec::new() };
    let shared = one.shared_state().unwrap_or_default();
    // struct ml_state: a lock of 8 bytes, then the state of each policy, aligned to 8 bytes.
    let mut at: usize = 8;
    let mut next = |bytes: usize| {
        let found = shared.get(at..at + bytes).map(<[u8]>::to_vec);
        at = (at + bytes.max(1)).next_multiple_of(8);
        found
    };
    let mut all = Vec::new();
    if let Some(params) = &deployment.marker {
        let (bytes, published) = (params.policy().sizes().2, params.policy().published());
        // A marker whose packets share no state has no part in it.
        let is_there =
            deployment.combination.marker.as_ref().is_some_and(|named| named.traits.contains(&"SHARES"));
        let mut state = if is_there { next(bytes) } else { Some(vec![0; bytes]) };
        if let (Some(state), Ok(news)) = (&mut state, one.published())
            && let Some(news) = news.get(..published.len())
        {
            state[published].copy_from_slice(news);
        }
        all.push(Rule::new(params, state.as_deref()));
    }
    if let Some(params) = &deployment.user {
        all.push(Rule::new(params, next(params.policy().sizes().2).as_deref()));
    }
    all
}

/// Returns what was done with a flow's packets, for each colour that they had. `settings` are those
/// of the program at `one`.
fn describe_action(one: &Observed, settings: &Settings, key: &Key, flow: &FlowReport) -> String {
    let host = if settings.has_destination_users() { key.destination } else { key.source };
    let is_mark = one.record.as_ref().is_none_or(|record| record.request.mode == Mode::Mark);
    let of_colour = |colour: Colour| {
        let (index, name) = (colour.index(), colour.name());
        match (settings.action.priority[index], settings.action.dscp[index]) {
            (0, KEEP_DSCP) => format!("{name} packets stay as they are"),
            (0, dscp) => format!("DSCP of {name} packets is set to {dscp}"),
            (priority, _) => format!("{name} packets go to class {}", format_id(priority)),
        }
    };
    let is_untouched = settings.action.priority.iter().all(|one| *one == 0)
        && settings.action.dscp.iter().all(|one| *one == KEEP_DSCP);
    let mut text = if settings.shadow != 0 {
        "nothing (shadow: it decides and counts only)".into()
    } else if settings.trial.spares(&host) {
        "nothing (--ab: its host is one of those that stay unmarked)".into()
    } else if is_untouched && !is_mark {
        "no mark: the queue here sees the colour itself".into()
    } else {
        let had = Colour::ALL.into_iter().filter(|colour| flow.colour_packets[colour.name()] > 0);
        had.map(of_colour).collect::<Vec<_>>().join("; ")
    };
    text += &format_waiting(settings.longest_wait_ms, settings.shadow != 0);
    if flow.already_marked > 0 {
        text += &format!(
            "; {} left alone because somebody had marked them",
            format_count(flow.already_marked.into(), "packet")
        );
    }
    text
}

/// Returns what the queue did with a flow's packets. Without a deployment, only the drops and marks
/// are given.
fn describe_queue(
    deployment: Option<&Deployment>,
    one: &Observed,
    settings: &Settings,
    flow: &FlowReport,
) -> String {
    let reasons: Vec<String> = ["early", "forced", "full-buffer", "policed"]
        .iter()
        .filter(|reason| flow.dropped[*reason] > 0)
        .map(|reason| format!("{} {}", format_number(flow.dropped[reason].into()), reason.replace('-', " ")))
        .collect();
    let ours = deployment.map(|deployment| &deployment.shaper);
    let dropper = deployment.and_then(|deployment| deployment.dropper.as_ref());
    let who = match (ours, dropper) {
        (Some(Shaper::Fifo(fifo)), dropper) => {
            let buffer = match fifo.buffer {
                Buffer::Packets(packets) => format_count(packets.into(), "packet"),
                Buffer::Bytes(size) => format_bytes(size as f64),
            };
            let policy = dropper.map_or("FIFO".into(), |params| params.policy().name().to_string());
            format!("{policy} at {}, buffer {buffer}: ", format_rate(fifo.rate.0 as f64))
        }
        _ => String::new(),
    };
    let verb = if settings.shadow != 0 { "would have dropped" } else { "dropped" };
    let drops = match (flow.count_drops(), ours) {
        (
            0,
            Some(
                Shaper::None
                | Shaper::Departures
                | Shaper::Cake(_)
                | Shaper::Classes { .. }
                | Shaper::Native { .. },
            ),
        ) => {
            let title = one.title();
            return format!(
                "it decides by itself behind the mark; `tc -s qdisc show dev {title}` has its counters"
            );
        }
        (0, _) => format!("{verb} nothing"),
        (all, _) => format!("{verb} {} ({})", format_count(all, "packet"), reasons.join(", ")),
    };
    let marks = match flow.ce_marked {
        0 => String::new(),
        marked => format!(", marked {} CE", format_number(marked.into())),
    };
    format!("{who}{drops}{marks}")
}

/// Returns likely reasons why a device has not seen a flow; those that can be checked are checked
/// first. `entries` of the `most` entries of its flow table are in use. Counts packets for a second
/// and runs nft. A program that does not run is the only reason then.
fn list_reasons_unseen(one: &Observed, entries: u64, most: u64) -> Vec<String> {
    let title = one.title();
    let mut reasons = Vec::new();
    let counters = one.counters().unwrap_or_default();
    let seen = counters.ipv4.packets + counters.ipv6.packets;
    let running = one.record.as_ref().is_some_and(|record| crate::stop::is_running(&one.place, record));
    if !running {
        return vec![format!("{title}: the program does not run; `mousehole-live status {title}` says why")];
    }
    let tables = list_flowtables(&title);
    if let Some((sent, came_by)) =
        count_for_a_second(one, &title).filter(|(sent, came_by)| *sent > 10 + 2 * came_by)
    {
        let names = match tables.is_empty() {
            true => {
                "no flowtable of nft names the device, so its card's or switch's own offload is likely".into()
            }
            false => format!("nft's flowtable {} names the device", tables.join(" and ")),
        };
        reasons.push(format!(
            "{title}: packets go past every program: the device sent {} within a second, and {came_by} came by here; flow \
             offload does that, and {names}",
            format_count(sent, "packet")
        ));
    } else if !tables.is_empty() {
        reasons.push(format!(
            "{title}: nft's flowtable {} names the device: in hardware (`flags offload`) it takes established flows past every \
             program, in software they are seen here",
            tables.join(" and ")
        ));
    }
    let deployment = one.deployment().ok().flatten();
    if deployment.is_some_and(|deployment| deployment.marker.is_none()) {
        reasons.push(format!(
            "{title}: this scheme keeps no account of flows, since no marker stands before its queue"
        ));
        return reasons;
    }
    if seen == 0 {
        reasons.push(format!("{title}: no IP packet left through the device yet"));
    }
    // A new flow may evict others from its two buckets before the whole table is full.
    if entries >= most / 4 * 3 || counters.without_state > 0 {
        reasons.push(format!(
            "{title}: the table of {} flows is nearly full, and older ones make room for new ones; `--flows` at the start sets its \
             size",
            format_number(most)
        ));
    }
    if seen > 0 {
        reasons.push(format!(
            "{title}: {} came by, none of this flow; what comes in by {title} is seen where it goes out (the LAN's side, or an IFB)",
            format_count(seen, "IP packet")
        ));
        reasons.push(format!(
            "{title}: behind NAT the addresses are those on the wire; ask for the far end, such as `explain 192.0.2.7:443`"
        ));
    }
    reasons
}

/// Returns the nft flowtables that name a device, as "family table name"; none if nft is missing. Runs nft.
fn list_flowtables(device: &str) -> Vec<String> {
    let Ok(done) = Command::new("nft").args(["-j", "list", "flowtables"]).output() else { return Vec::new() };
    let items = parse_items(&String::from_utf8_lossy(&done.stdout));
    let tables = items.iter().filter_map(FlowTable::parse).filter(|table| table.has_device(device));
    tables.map(|table| table.title).collect()
}

/// Counts, for one second, the packets that a device sent and those that the program saw; blocks
/// meanwhile. `None` if either count cannot be read.
fn count_for_a_second(one: &Observed, device: &str) -> Option<(u64, u64)> {
    let seen = || {
        one.counters()
            .ok()
            .map(|all| [all.ipv4, all.ipv6, all.not_ip, all.malformed].iter().map(|c| c.packets).sum())
    };
    let (sent, came_by): (u64, u64) = (read_sent_packets(device)?, seen()?);
    std::thread::sleep(std::time::Duration::from_secs(1));
    Some((read_sent_packets(device)?.saturating_sub(sent), seen()?.saturating_sub(came_by)))
}

/// Returns how many packets a device sent, by /proc/net/dev; `None` if it is not listed there.
fn read_sent_packets(device: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/net/dev").ok()?;
    let line = text.lines().find_map(|line| line.trim().strip_prefix(device)?.strip_prefix(':'))?;
    line.split_whitespace().nth(9)?.parse().ok()
}

/// Returns the JSON document.
pub fn format_json(explanation: &Explanation) -> String {
    serde_json::to_string_pretty(explanation).expect("plain data is written")
}

/// Returns the lines for the terminal: the flows, a repeated rule only once, or why none was seen.
pub fn format_text(explanation: &Explanation) -> Vec<String> {
    let mut lines = Vec::new();
    if explanation.flows.is_empty() {
        lines.push(format!("{}: not seen here", explanation.asked));
        lines.extend(explanation.not_seen.iter().map(|reason| format!("  {reason}")));
        return lines;
    }
    let mut shown: Option<&Vec<Rule>> = None;
    for one in &explanation.flows {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let flow = &one.flow;
        lines.push(format!("{} at {}", flow.title, one.device));
        lines.push(format!(
            "  sent    {} in {}{}; the last {} ago",
            format_bytes(flow.bytes as f64),
            format_count(flow.packets.into(), "packet"),
            match flow.age_s - flow.idle_s {
                short if short < 0.01 => String::new(),
                long => format!(" within {}", format_span(long)),
            },
            format_span(flow.idle_s)
        ));
        lines.push(format!("  colour  {} now; {}", flow.colour, flow.format_shares()));
        if shown == Some(&one.rules) {
            lines.push("  rule    as above".into());
        } else {
            lines.extend(one.rules.iter().flat_map(format_rule));
            shown = Some(&one.rules);
        }
        lines.push(format!("  done    {}", one.done));
        lines.push(format!("  queue   {}", one.queue));
    }
    let rest = explanation.matching.saturating_sub(explanation.flows.len() as u64);
    if rest > 0 {
        lines.extend([String::new(), format!("and {} more with fewer bytes", format_number(rest))]);
    }
    lines
}

/// Returns the lines about a rule: its summary, its parameters with their meanings, its readings.
fn format_rule(rule: &Rule) -> Vec<String> {
    let mut lines = vec![format!("  rule    {}: {}", rule.policy, rule.summary)];
    let mut rows: Vec<Vec<String>> = rule
        .parameters
        .iter()
        .map(|one| vec![format!("          {} = {}", one.name, one.value), one.meaning.to_string()])
        .collect();
    rows.extend(rule.readings.iter().map(|(name, number)| {
        vec![
            format!("          {} = {}", name.replace('_', " "), format_rounded(*number)),
            "at the moment".to_string(),
        ]
    }));
    lines.extend(format_table(&rows, &[0, 1]));
    lines
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use mousehole_policy::{LinkContext, find};

    /// Returns the endpoint that a text names.
    fn parse_end(text: &str) -> End {
        End::parse(text).unwrap()
    }

    /// Returns the key of a TCP flow between two endpoints.
    fn build_key(source: &str, destination: &str) -> Key {
        let bytes = |text: &str| match parse_end(text).address {
            IpAddr::V4(four) => four.to_ipv6_mapped().octets(),
            IpAddr::V6(six) => six.octets(),
        };
        let port = |text: &str| parse_end(text).port.unwrap_or(0).to_be_bytes();
        Key {
            source: bytes(source),
            destination: bytes(destination),
            source_port: port(source),
            destination_port: port(destination),
            protocol: 6,
            reserved: [0; 3],
        }
    }

    #[test]
    fn ends__are_addresses_with_or_without_ports() {
        assert_eq!(parse_end("10.0.0.5").port, None);
        assert_eq!(parse_end("10.0.0.5:443").port, Some(443));
        assert_eq!(parse_end("fe80::1").port, None);
        assert_eq!(parse_end("[fe80::1]").port, None);
        assert_eq!(parse_end("[fe80::1]:443").port, Some(443));
        for text in
            ["", "host", "10.0.0", "10.0.0.5:", "10.0.0.5:70000", "1.2.3.4-", "-1.2.3.4", "1.2.3.4-5.6.7.8-9"]
        {
            let failure = Wanted::parse(text).unwrap_err().to_string();
            assert!(failure.contains("names no flow; it must be ADDRESS"), "{failure}");
        }
    }

    #[test]
    fn flows__match_in_both_directions() {
        let flow = build_key("10.0.0.1:40000", "192.0.2.7:443");
        for text in ["10.0.0.1", "192.0.2.7:443", "10.0.0.1-192.0.2.7", "192.0.2.7:443-10.0.0.1:40000"] {
            assert!(Wanted::parse(text).unwrap().matches(&flow), "{text}");
        }
        for text in
            ["10.0.0.2", "192.0.2.7:80", "10.0.0.1:443", "10.0.0.1-10.0.0.1", "10.0.0.1:40000-192.0.2.7:80"]
        {
            assert!(!Wanted::parse(text).unwrap().matches(&flow), "{text}");
        }
        assert!(
            Wanted::parse("[2001:db8::7]:443")
                .unwrap()
                .matches(&build_key("[2001:db8::1]:9", "[2001:db8::7]:443"))
        );
    }

    /// Returns the rule of a policy with these parameters.
    fn build_rule(policy: &str, given: &[(&str, &str)]) -> Rule {
        Rule::new(&Params::from_text(find(policy).unwrap(), given, &LinkContext::EXAMPLE).unwrap(), None)
    }

    #[test]
    fn rules__are_shown_in_the_texts_of_the_policy() {
        let lines = format_rule(&build_rule("sfd", &[("th", "30kB")]));
        let summary = find("sfd").unwrap().summary();
        assert_eq!(lines[0], format!("  rule    sfd: {summary}"));
        assert!(lines[1].starts_with("          th = 30 kB "), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("timeout = 1 s ")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("promotion = none ")), "{lines:#?}");
        assert!(lines.iter().any(|line| line.contains("syn = yes ")), "{lines:#?}");
    }

    #[test]
    fn thresholds__keep_their_unit() {
        assert_eq!(build_rule("sfd", &[("th", "20p")]).parameters[0].value, "20 packets");
        assert_eq!(build_rule("sfd", &[("th", "20B")]).parameters[0].value, "20 B");
        assert_eq!(build_rule("sfd", &[("timeout", "never")]).parameters[1].value, "never");
    }

    #[test]
    fn every_policy__has_texts_for_its_parameters() {
        for policy in mousehole_policy::policies() {
            let Ok(params) = Params::from_text(policy, &[], &LinkContext::EXAMPLE) else { continue };
            for one in Rule::new(&params, None).parameters {
                assert!(!one.value.is_empty() && !one.meaning.is_empty(), "{policy:?} {one:?}");
            }
        }
    }
}
