//! `flows`: lists the flows in the table that sent the most.

use crate::error::Result;
use crate::human::{
    format_bytes, format_count, format_flow, format_number, format_percent, format_protocol, format_span,
    format_table, to_ip,
};
use crate::kernel::monotonic_ns;
use crate::layout::{DROP_REASONS, Flow, Key};
use crate::observe::{Entry, observe_running};
use mousehole_policy::Colour;
use serde::Serialize;
use std::collections::BTreeMap;

/// The name and version of the JSON document's format.
pub const FORM: &str = "mousehole-live.flows/1";

/// The JSON document of `flows --json`. Within one [`FORM`], fields may be added but are neither
/// renamed nor removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Document<'a> {
    /// [`FORM`].
    pub schema: &'static str,
    /// The devices of this namespace, in the order of their indexes.
    pub devices: &'a [Table],
}

/// The flow table of one device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// The device's name.
    pub device: String,
    /// Flows in the table.
    pub entries: u64,
    /// Flows that it can hold.
    pub entries_most: u64,
    /// The flows that sent the most, the largest first.
    pub flows: Vec<FlowReport>,
}

/// One flow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowReport {
    /// The number of its IP protocol.
    pub protocol: u8,
    /// The sender's address.
    pub source: String,
    /// The sender's port; 0 if the protocol has none.
    pub source_port: u16,
    /// The receiver's address.
    pub destination: String,
    /// The receiver's port; 0 if the protocol has none.
    pub destination_port: u16,
    /// Seconds since its first packet.
    pub age_s: f64,
    /// Seconds since its last packet.
    pub idle_s: f64,
    /// IP bytes of all packets.
    pub bytes: u64,
    /// Packets on the wire.
    pub packets: u32,
    /// Colour of its last packet.
    pub colour: &'static str,
    /// Packets by colour.
    pub colour_packets: BTreeMap<&'static str, u32>,
    /// Packets dropped, by reason.
    pub dropped: BTreeMap<&'static str, u32>,
    /// Packets marked CE.
    pub ce_marked: u32,
    /// Packets left alone because they were marked before they came here.
    pub already_marked: u32,
    /// The flow as people write it.
    #[serde(skip)]
    pub title: String,
}

impl FlowReport {
    /// Returns the report of an entry at `now_ns` (CLOCK_MONOTONIC).
    pub fn new(key: &Key, flow: &Flow, now_ns: u64) -> FlowReport {
        let ago = |then_ns: u64| now_ns.saturating_sub(then_ns) as f64 / 1e9;
        FlowReport {
            protocol: key.protocol,
            source: to_ip(key.source).to_string(),
            source_port: u16::from_be_bytes(key.source_port),
            destination: to_ip(key.destination).to_string(),
            destination_port: u16::from_be_bytes(key.destination_port),
            age_s: f64::from(flow.age_ms(now_ns)) / 1e3,
            idle_s: ago(flow.last_seen_ns),
            bytes: flow.bytes,
            packets: flow.packets(),
            colour: Colour::from_c(flow.colour).name(),
            colour_packets: Colour::ALL
                .iter()
                .map(|colour| (colour.name(), flow.colour_packets[colour.index()]))
                .collect(),
            dropped: DROP_REASONS.iter().copied().zip(flow.dropped).collect(),
            ce_marked: flow.ce_marked,
            already_marked: flow.already_marked,
            title: format_flow(key),
        }
    }

    /// Returns how many packets were dropped, for all reasons.
    pub fn count_drops(&self) -> u64 {
        self.dropped.values().map(|packets| u64::from(*packets)).sum()
    }

    /// Returns the shares of the colours that occurred, joined by commas: `62 % green, 38 %
    /// yellow`. It is empty without packets.
    pub fn format_shares(&self) -> String {
        let share = |colour: &Colour| {
            let packets = self.colour_packets[colour.name()];
            (packets > 0)
                .then(|| format!("{} {}", format_percent(packets.into(), self.packets.into()), colour.name()))
        };
        Colour::ALL.iter().filter_map(share).collect::<Vec<_>>().join(", ")
    }
}

/// The order of flows: by bytes; the key breaks ties, so that the order is always the same.
type Rank = (u64, [u8; 16], [u8; 16], [u8; 2], [u8; 2], u8);

/// Keeps the `most` entries with the most bytes, in bounded memory.
#[derive(Debug)]
struct Top {
    most: usize,
    kept: BTreeMap<Rank, Entry>,
}

impl Top {
    /// Returns an empty list for `most` entries.
    fn new(most: usize) -> Top {
        Top { most, kept: BTreeMap::new() }
    }

    /// Adds an entry, or drops it if `most` larger ones are stored; the smallest makes room.
    fn add(&mut self, entry: Entry) {
        let key = &entry.key;
        let rank = (
            entry.flow.bytes,
            key.source,
            key.destination,
            key.source_port,
            key.destination_port,
            key.protocol,
        );
        if self.kept.len() == self.most && self.kept.keys().next().is_none_or(|least| *least >= rank) {
            return;
        }
        self.kept.insert(rank, entry);
        if self.kept.len() > self.most {
            self.kept.pop_first();
        }
    }

    /// Returns the entries, the largest first.
    fn into_sorted(self) -> impl Iterator<Item = Entry> {
        self.kept.into_values().rev()
    }
}

/// Returns the tables of one device or of all, each with the `most` flows that sent the most.
///
/// # Errors
/// A sentence when nothing runs there or a table cannot be read.
pub fn read_flows(only: Option<&str>, most: usize) -> Result<Vec<Table>> {
    observe_running(only)?
        .iter()
        .map(|one| {
            let mut top = Top::new(most);
            let (entries, entries_most) = one.visit_flows(|entry| top.add(entry))?;
            let now_ns = monotonic_ns();
            let flows =
                top.into_sorted().map(|entry| FlowReport::new(&entry.key, &entry.flow, now_ns)).collect();
            Ok(Table { device: one.title(), entries, entries_most, flows })
        })
        .collect()
}

/// Returns the JSON document.
pub fn format_json(all: &[Table]) -> String {
    serde_json::to_string_pretty(&Document { schema: FORM, devices: all }).expect("plain data is written")
}

/// Returns the lines for the terminal: for each device the number of flows and a table of those
/// listed.
pub fn format_text(all: &[Table]) -> Vec<String> {
    let mut lines = Vec::new();
    for one in all {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let what = match one.entries {
            0 => "no flow was seen yet".to_string(),
            all if one.flows.len() as u64 == all => format!("{}, by bytes", format_count(all, "flow")),
            all => format!(
                "{}, the first {} by bytes",
                format_count(all, "flow"),
                format_number(one.flows.len() as u64)
            ),
        };
        lines.push(format!("{}: {what} (the table holds {})", one.device, format_number(one.entries_most)));
        if one.flows.is_empty() {
            continue;
        }
        let head = ["  flow", "", "", "age", "idle", "bytes", "packets", "now", "dropped", "CE", "shares"];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(one.flows.iter().map(|flow| {
            let (from, to) = split_title(flow);
            vec![
                format!("  {}", format_protocol(flow.protocol)),
                from,
                format!("> {to}"),
                format_span(flow.age_s),
                format_span(flow.idle_s),
                format_bytes(flow.bytes as f64),
                format_number(flow.packets.into()),
                flow.colour.to_string(),
                format_number(flow.count_drops()),
                format_number(flow.ce_marked.into()),
                flow.format_shares(),
            ]
        }));
        lines.extend(format_table(&rows, &[0, 1, 2, 7, 10]));
    }
    lines
}

/// Returns the two endpoints in a flow's title; the second is empty if the title names one only.
fn split_title(flow: &FlowReport) -> (String, String) {
    let title = flow.title.split_once(' ').map_or("", |(_, rest)| rest);
    let (from, to) = title.split_once(" > ").unwrap_or((title, ""));
    (from.to_string(), to.to_string())
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns the entry of a UDP flow of four packets from 10.0.0.1 to 10.0.0.`last`.
    fn build_entry(last: u8, bytes: u64) -> Entry {
        let mapped = |last: u8| std::net::Ipv4Addr::new(10, 0, 0, last).to_ipv6_mapped().octets();
        let key = Key {
            source: mapped(1),
            destination: mapped(last),
            source_port: 5000u16.to_be_bytes(),
            destination_port: 53u16.to_be_bytes(),
            protocol: 17,
            reserved: [0; 3],
        };
        let flow = Flow {
            colour: 1,
            first_seen_ms: 1_000,
            last_seen_ns: 3_000_000_000,
            bytes,
            colour_packets: [1, 3, 0],
            dropped: [1, 0, 0, 0],
            ..Flow::default()
        };
        Entry { key, flow }
    }

    #[test]
    fn top__keeps_the_largest_in_order() {
        let mut top = Top::new(3);
        for (last, bytes) in [(2, 50), (3, 900), (4, 10), (5, 900), (6, 70), (7, 1)] {
            top.add(build_entry(last, bytes));
        }
        assert_eq!(top.kept.len(), 3);
        let order: Vec<(u8, u64)> =
            top.into_sorted().map(|entry| (entry.key.destination[15], entry.flow.bytes)).collect();
        assert_eq!(order, [(5, 900), (3, 900), (6, 70)]);
    }

    #[test]
    fn top__of_nothing_keeps_nothing() {
        let mut top = Top::new(0);
        top.add(build_entry(2, 50));
        assert_eq!(top.into_sorted().count(), 0);
    }

    #[test]
    fn screen__says_ages_and_shares() {
        let one = build_entry(2, 4321);
        let report = FlowReport::new(&one.key, &one.flow, 4_000_000_000);
        let tables = [Table { device: "wan".into(), entries: 7, entries_most: 1024, flows: vec![report] }];
        assert_eq!(
            format_text(&tables),
            [
                "wan: 7 flows, the first 1 by bytes (the table holds 1,024)",
                "  flow                                age  idle    bytes  packets  now     dropped  CE  shares",
                "  udp   10.0.0.1:5000  > 10.0.0.2:53  3 s   1 s  4.32 kB        4  yellow        1   0  25 % green, 75 % yellow",
            ]
        );
        let parsed: serde_json::Value = serde_json::from_str(&format_json(&tables)).unwrap();
        assert_eq!(parsed["schema"], FORM);
        let flow = &parsed["devices"][0]["flows"][0];
        assert_eq!(flow["destination"], "10.0.0.2");
        assert_eq!(flow["colour_packets"]["yellow"], 3);
        assert_eq!(flow["dropped"]["early"], 1);
        assert_eq!(flow["idle_s"], 1.0);
    }
}
