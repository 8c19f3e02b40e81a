//! Describes traffic that was read, and the rows that were left out, as text: every report takes its sentences from here.

use mousehole_answer::sizes::size_text;
use mousehole_answer::texts::{count_text, rate_text, share_text, significant, span_text, time_text};
use mousehole_sim::error::escape;
use mousehole_sim::traffic::Skipped;
use mousehole_sim::traffic::Source;
use mousehole_sim::traffic::summary::{Classes, Kinds, Summary, TimePercentiles};
use serde::Serialize;

/// Kinds of files whose rows are packets.
const CAPTURES: [&str; 4] = ["pcap", "pcapng", "snoop", "erf"];

/// The subject of a sentence of the account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RemarkKind {
    /// Rows that were understood and left out.
    Skipped,
    /// Rows that could not be understood.
    Faulty,
    /// What a reader should know.
    Note,
}

impl RemarkKind {
    /// Returns its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            RemarkKind::Skipped => "skipped",
            RemarkKind::Faulty => "faulty",
            RemarkKind::Note => "note",
        }
    }
}

/// One sentence of the account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// Its subject.
    pub kind: RemarkKind,
    /// The sentence.
    pub text: String,
}

/// Returns the account in sentences: rows left out by reason, faulty rows with the first fault,
/// then the notes. Empty if there is nothing to say.
pub fn list_remarks(summary: &Summary) -> Vec<Remark> {
    let unit = row_unit(&summary.sources);
    let remark = |kind, text| Remark { kind, text };
    let skipped = summary.skipped.iter().map(|entry| remark(RemarkKind::Skipped, skipped_text(entry, unit)));
    let first = summary.faults.first.as_deref().unwrap_or_default();
    let count = summary.faults.count;
    let faulty = format!("{}; the first: {first}", count_text(count as i64, unit));
    let faulty = (count > 0).then(|| remark(RemarkKind::Faulty, faulty));
    let notes = summary.notes.iter().map(|note| remark(RemarkKind::Note, note.text.clone()));
    skipped.chain(faulty).chain(notes).collect()
}

/// Returns the sentences on rows that were left out, one for each reason.
pub fn list_left_out(summary: &Summary) -> Vec<String> {
    let all = list_remarks(summary).into_iter();
    all.filter(|one| one.kind == RemarkKind::Skipped).map(|one| one.text).collect()
}

/// Returns the traffic in a line: its files, connections and bytes. Without files it is a model.
pub fn title_text(summary: &Summary) -> String {
    let names: Vec<String> = summary.sources.iter().map(|source| escape(&source.name)).collect();
    let names = if names.is_empty() { "A model of traffic".to_owned() } else { names.join(", ") };
    let connections = count_text(summary.connections as i64, "connection");
    format!("{names}: {connections}, {}", size_text(summary.payload_bytes as f64))
}

/// Returns the facts about the traffic, each a name and its value as text: sources, amounts, sizes, then the link.
pub fn list_facts(summary: &Summary) -> Vec<(String, String)> {
    let sources = summary.sources.iter().map(|source| (escape(&source.name), source_text(source)));
    let named = |(name, value): (&str, String)| (name.to_owned(), value);
    let amounts = amount_facts(summary).into_iter().chain(size_facts(summary)).chain(link_facts(summary));
    sources.chain(amounts.map(named)).collect()
}

/// Returns the end of a sentence that says how many clients are taken for several users; empty if none are.
pub fn describe_sharing(summary: &Summary) -> String {
    match summary.shared_addresses {
        0 => String::new(),
        shared => format!(
            "; {shared} of {} clients taken for several users or programs, which do not wait",
            summary.clients
        ),
    }
}

/// Returns the noun for a row of the sources: `packet` if all are captures, also if there are none,
/// else `row`.
fn row_unit(sources: &[Source]) -> &'static str {
    if sources.iter().all(|source| CAPTURES.contains(&source.kind.as_str())) { "packet" } else { "row" }
}

/// Returns the sentence on rows left out for one reason; `unit` is the noun for a row.
fn skipped_text(entry: &Skipped, unit: &str) -> String {
    let within = match entry.connections {
        0 => String::new(),
        whole => format!(" of {}", count_text(whole as i64, "connection")),
    };
    let rows = count_text(entry.rows as i64, unit);
    format!("{rows} with {}{within}: {}", size_text(entry.bytes as f64), entry.reason)
}

/// Returns a source's kind, its rows, how many were used and, of a capture, the share of its bytes used.
fn source_text(source: &Source) -> String {
    let wire = match source.capture {
        Some(capture) if capture.bytes > 0 => {
            let used = share_text(capture.used_bytes as f64 / capture.bytes as f64);
            format!(": {used} of {}", size_text(capture.bytes as f64))
        }
        _ => String::new(),
    };
    format!("{}, {}, {} used{wire}", source.kind, count_text(source.rows as i64, "row"), source.used)
}

type Facts = Vec<(&'static str, String)>;

/// Returns the facts on the amount of traffic: connections, hosts, time, bytes and applications;
/// QUIC, datagrams and classes of flows only if they occur.
fn amount_facts(summary: &Summary) -> Facts {
    let kinds = &summary.kinds;
    let hosts = [(summary.clients, "client"), (summary.servers, "server")];
    let [clients, servers] = hosts.map(|(number, noun)| count_text(number.into(), noun));
    let [payload, wire] = [summary.payload_bytes, summary.wire_bytes].map(|bytes| size_text(bytes as f64));
    let mut found = vec![
        (
            "connections",
            format!("{} with {}", summary.connections, count_text(summary.transfers as i64, "transfer")),
        ),
        ("hosts", format!("{clients}, {servers}")),
        ("span", span_text(summary.span_s)),
        ("payload", format!("{payload}, {wire} on the wire")),
    ];
    if kinds.quic_connections > 0 {
        let bytes = size_text(kinds.quic_bytes as f64);
        found.push((
            "QUIC",
            format!("{}, {bytes}, replayed as TCP", count_text(kinds.quic_connections as i64, "flow")),
        ));
    }
    if kinds.datagram_flows > 0 {
        found.push(("datagrams", datagrams_text(kinds)));
    }
    found.push(("applications", classes_text(&summary.classes)));
    if !summary.flow_classes.is_empty() {
        found.push(("classes", flow_classes_text(summary)));
    }
    found
}

/// Returns the flows of datagrams, with IP lengths in the direction of the data and in the other one.
fn datagrams_text(kinds: &Kinds) -> String {
    let [along, against] =
        [kinds.datagram_bytes, kinds.datagram_reverse_bytes].map(|bytes| size_text(bytes as f64));
    let flows = count_text(kinds.datagram_flows as i64, "flow");
    let packets = count_text(kinds.datagram_packets as i64, "packet");
    format!("{flows}, {packets}, {along} with the data, {against} against it, replayed as recorded")
}

/// Returns the connections and bytes of each application class, on one line.
fn classes_text(classes: &Classes) -> String {
    let all = [
        ("interactive", classes.interactive_connections, classes.interactive_bytes),
        ("web", classes.web_connections, classes.web_bytes),
        ("bulk", classes.bulk_connections, classes.bulk_bytes),
    ];
    all.map(|(name, count, bytes)| format!("{count} {name} ({})", size_text(bytes as f64))).join(", ")
}

/// Returns a line for each class of flows that occurs: its flows, its bytes and its share of all bytes.
fn flow_classes_text(summary: &Summary) -> String {
    let lines = summary.flow_classes.iter().map(|count| {
        let (name, flows) = (count.class.name(), count_text(count.flows as i64, "flow"));
        format!("{name}: {flows}, {}, {}", size_text(count.bytes as f64), share_text(count.share))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the facts on the sizes of transfers; none without transfers.
fn size_facts(summary: &Summary) -> Facts {
    if summary.transfers == 0 {
        return Vec::new();
    }
    let sizes = &summary.size_bytes;
    let all = [
        ("p10", sizes.p10 as f64),
        ("p25", sizes.p25 as f64),
        ("p50", sizes.p50 as f64),
        ("p75", sizes.p75 as f64),
        ("p90", sizes.p90 as f64),
        ("p95", sizes.p95 as f64),
        ("p99", sizes.p99 as f64),
        ("max", summary.size_max_bytes as f64),
        ("mean", summary.size_mean_bytes),
    ];
    let [count, volume] = [summary.short_share_count, summary.short_share_bytes].map(share_text);
    vec![
        ("transfer size", all.map(|(name, size)| format!("{name} {}", size_text(size))).join(", ")),
        ("up to 15 kB", format!("{count} of the transfers, {volume} of the payload")),
    ]
}

/// Returns the percentiles 10, 50 and 90 of a time, on one line.
fn times_text(times: &TimePercentiles) -> String {
    let all = [("p10", times.p10), ("p50", times.p50), ("p90", times.p90)];
    all.map(|(name, time)| format!("{name} {}", time_text(time, false))).join(", ")
}

/// Returns the facts that a replay on a link uses: ends of connections and round-trip times, and
/// think times and the load if they are known.
fn link_facts(summary: &Summary) -> Facts {
    let connections = |number: u64| count_text(number as i64, "connection");
    let waiting = format!("{} wait for an earlier one{}", summary.waiting, describe_sharing(summary));
    let times = summary.rtt_s.map_or(String::new(), |times| format!(": {}", times_text(&times)));
    let mut found = vec![
        ("ends", format!("known for {}; {waiting}", connections(summary.ends_known))),
        ("RTT", format!("known for {}{times}", connections(summary.rtt_known))),
    ];
    if let Some(thinks) = &summary.server_think_s {
        let known = connections(summary.server_think_known);
        found.push(("server think", format!("known for {known}: {}", times_text(thinks))));
    }
    if let Some(load) = summary.native_load {
        let rate = rate_text(summary.rate_bps.map_or(f64::NAN, |rate| rate as f64));
        found.push(("native load", format!("{} of {rate}", significant(load, 3))));
    }
    found
}
