//! The means that install a native part, and the commands of tc that install a queue discipline on a link.
//!
//! The names of queue disciplines and of their parameters are those of tc(8), tc-cake(8), tc-fq_codel(8),
//! tc-codel(8), tc-pie(8), tc-red(8), tc-sfq(8) and tc-tbf(8). DEV stands for the device in front of the
//! bottleneck. A line that begins with # is a remark.

use crate::link_layer::{Framing, Wire};
use crate::units::{Buffer, Rate};
use crate::values::Values;

/// Bytes of a full packet, to turn packets into bytes and back.
pub const FULL_PACKET: u64 = 1500;
/// A token bucket holds at least this many bytes, so that a full packet always fits.
const LEAST_BURST: u64 = 2 * FULL_PACKET;

/// A line whose download rate is at least so many times that of the upload is asymmetric: acknowledgements of a full
/// download, 40 to 52 B for each two segments of 1500 B, take a sixth of the upload.
const ASYMMETRIC: u64 = 10;

/// Returns whether acknowledgements of downloads may fill the upload of a line of these rates.
pub fn is_asymmetric(down: Rate, up: Rate) -> bool {
    down.0 >= up.0.saturating_mul(ASYMMETRIC)
}

/// Bytes of the header of an Ethernet device, which Linux counts as a packet's.
const ETHERNET: i64 = 14;

/// The link that something is installed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Its rate.
    pub rate: Rate,
    /// Its buffer in full packets, at least one.
    pub buffer_packets: u64,
    /// The rule for the bytes of packets on its wire.
    pub wire: Wire,
    /// Whether the data go from client to server.
    pub is_upload: bool,
    /// Depth of the token bucket in bytes; by default that of [`default_burst`].
    pub burst: Option<u64>,
}

impl Line {
    /// Returns the rate for bytes with their overhead: on PTM 64/65 of the link's rate (tc-cake(8): ptm), at least 1
    /// bit/s, else all of it.
    pub fn frame_rate(&self) -> Rate {
        match self.wire.layer {
            Some(layer) if layer.framing == Framing::Ptm => {
                Rate((u128::from(self.rate.0) * 64 / 65).max(1) as u64)
            }
            _ => self.rate,
        }
    }
}

/// The means that installs a native part on a link.
#[derive(Debug, Clone, Copy)]
pub enum Install {
    /// A queue discipline of Linux.
    Qdisc(Qdisc),
    /// A FIFO behind `mousehole-live up`; without a marker, a queue discipline of Linux.
    Fifo(Qdisc),
    /// Nothing. The reason completes "it …".
    Nothing(&'static str),
    /// Nothing, and no real packets can pass it either. The reason completes "it …".
    Simulated(&'static str),
}

/// A queue discipline of Linux.
#[derive(Debug, Clone, Copy)]
pub struct Qdisc {
    /// Its name in tc.
    pub kind: &'static str,
    /// The oldest kernel that has it.
    pub kernel: &'static str,
    /// Returns the lines that install it.
    pub lines: Lines,
}

/// Returns the lines that install a queue discipline, or why these values have none; the reason completes "it …".
pub type Lines = fn(&Values, &Line) -> Written;

/// Lines to type, or the reason why there are none, which completes "it …".
pub type Written = Result<Vec<String>, &'static str>;

impl Install {
    /// Returns the queue discipline of Linux that does the same; `None` if there is none.
    pub fn qdisc(&self) -> Option<&Qdisc> {
        match self {
            Install::Qdisc(qdisc) | Install::Fifo(qdisc) => Some(qdisc),
            Install::Nothing(_) | Install::Simulated(_) => None,
        }
    }
}

/// Returns the default depth of a token bucket: the bytes that leave in two milliseconds, at least two full packets.
pub fn default_burst(rate: Rate) -> u64 {
    rate.0.div_ceil(8 * 500).max(LEAST_BURST)
}

/// Returns the two lines that install a queue behind a token bucket of the link's rate, and a remark if
/// the link has overhead. `queue` is the queue discipline with its options, as tc takes them.
pub fn behind_token_bucket(queue: &str, line: &Line) -> Vec<String> {
    let burst = line.burst.unwrap_or_else(|| default_burst(line.rate));
    let (table, overhead) = match (line.wire.layer, line.wire.overhead) {
        (Some(layer), _) => (size_table(layer.overhead, layer.mpu, layer.framing), layer.overhead),
        (None, 0) => (String::new(), 0),
        (None, bytes) => (size_table(bytes, 0, Framing::Plain), bytes),
    };
    // TBF has a limit of its own that only its built-in queue uses; tc asks for it all the same.
    let limit = line.buffer_packets * FULL_PACKET;
    let bucket = format!("tbf rate {} burst {burst} limit {limit}", format_tc_rate(line.frame_rate()));
    let mut lines = vec![
        format!("tc qdisc replace dev DEV root handle 1: {table}{bucket}"),
        format!("tc qdisc replace dev DEV parent 1: handle 2: {queue}"),
    ];
    if !table.is_empty() {
        lines.push(format!(
            "# DEV is an Ethernet device, whose header of {ETHERNET} bytes Linux counts already; on another one: overhead \
             {overhead}"
        ));
    }
    lines
}

/// Returns the size table of tc-stab(8) for a link layer, followed by a space. Overheads here are beyond the IP length; tc
/// adds its overhead to a length with the header of an Ethernet device ("ethernet header […] will already be added",
/// tc-stab(8)). The table has no PTM, for which [`Line::frame_rate`] is lower.
fn size_table(overhead: u32, mpu: u32, framing: Framing) -> String {
    let mpu = if mpu == 0 { String::new() } else { format!("mpu {mpu} ") };
    let cells = if framing == Framing::Atm { "atm" } else { "ethernet" };
    format!("stab overhead {} {mpu}linklayer {cells} ", i64::from(overhead) - ETHERNET)
}

/// Returns a rate as tc writes it, in the largest unit that leaves a whole number: `5mbit`, `1500kbit`.
pub fn format_tc_rate(rate: Rate) -> String {
    let units = [("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1000)];
    match units.iter().find(|(_, scale)| rate.0.is_multiple_of(*scale)) {
        Some((unit, scale)) => format!("{}{unit}", rate.0 / scale),
        None => format!("{}bit", rate.0),
    }
}

/// Returns a threshold such as `30`, `7p` or `50%`, which is of the buffer, in whole packets; 0 for text that is none.
pub fn threshold_packets(threshold: &str, buffer_packets: u64) -> u64 {
    let number = |text: &str| text.parse::<f64>().unwrap_or_default();
    match threshold.strip_suffix('%') {
        Some(percent) => (number(percent) / 100.0 * buffer_packets as f64).round_ties_even() as u64,
        None => number(threshold.trim_end_matches('p')) as u64,
    }
}

/// Returns the limit of a queue in packets; a limit in bytes counts full packets, at least one.
pub fn limit_packets(limit: Buffer) -> u64 {
    match limit {
        Buffer::Packets(packets) => u64::from(packets),
        Buffer::Bytes(bytes) => (bytes / FULL_PACKET).max(1),
    }
}

/// Returns tc's option ` ecn` if the parameter `ecn` is true, else `otherwise`.
pub fn ecn_option(values: &Values, otherwise: &'static str) -> &'static str {
    if values.flag("ecn") { " ecn" } else { otherwise }
}

/// Returns the lines that install Linux's codel with these parameters of CoDel; panics for values of another part.
pub fn codel_lines(values: &Values, line: &Line) -> Vec<String> {
    let limit = limit_packets(values.buffer("limit"));
    let times = format!("target {} interval {}", values.text("target"), values.text("interval"));
    behind_token_bucket(&format!("codel limit {limit} {times}{}", ecn_option(values, "")), line)
}

/// Returns the lines that install Linux's fq_codel with these parameters of FQ-CoDel; panics for values of another
/// part.
pub fn fq_codel_lines(values: &Values, line: &Line) -> Vec<String> {
    let queue = format!(
        "fq_codel limit {} flows {} quantum {} target {} interval {}{}",
        limit_packets(values.buffer("limit")),
        values.text("flows"),
        values.size("quantum"),
        values.text("target"),
        values.text("interval"),
        ecn_option(values, " noecn")
    );
    behind_token_bucket(&queue, line)
}

/// Returns the lines that install Linux's red with these parameters of RED and the options `more`, and a remark on the
/// differences. `text` returns the text of a parameter.
///
/// sch_red drops, or with ecn marks, every packet once the average is at max: it has no gentle part. Its drops are between
/// 1 and 1/p packets apart.
pub fn red_lines(text: impl Fn(&'static str) -> String, more: &str, line: &Line) -> Vec<String> {
    let [low, high] =
        ["min", "max"].map(|name| threshold_packets(&text(name), line.buffer_packets) * FULL_PACKET);
    // tc-red(8): the burst that it recommends; tc derives the weight of the average from it.
    let burst = (2 * low + high).div_ceil(3 * FULL_PACKET);
    let ecn = if text("ecn") == "true" { " ecn" } else { "" };
    let queue = format!(
        "red limit {} min {low} max {high} avpkt {FULL_PACKET} burst {burst} bandwidth {} probability {}{ecn}{more}",
        line.buffer_packets * FULL_PACKET,
        format_tc_rate(line.rate),
        text("maxp")
    );
    let mut lines = behind_token_bucket(&queue, line);
    let differences = [
        ("gentle", "drops every packet from max on, where the scheme rises to certain drop at twice max"),
        ("wait", "spaces drops 1 to 1/p packets apart, where the scheme has 1/p to 2/p"),
    ];
    let found: Vec<&str> =
        differences.iter().filter(|(name, _)| text(name) == "true").map(|(_, words)| *words).collect();
    if !found.is_empty() {
        lines.push(format!("# Linux's red has no other way: it {}", found.join("; it ")));
    }
    lines
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::link_layer::LinkLayer;

    #[test]
    fn format_tc_rate__in_the_largest_whole_unit() {
        let text = |bps| format_tc_rate(Rate(bps));
        assert_eq!(
            [5_000_000, 1_500_000, 1_000_000_000, 999].map(text),
            ["5mbit", "1500kbit", "1gbit", "999bit"]
        );
    }

    #[test]
    fn threshold_packets__of_a_share_of_the_buffer() {
        let cases = [("50%", 500), ("12.5%", 125), ("16%", 160), ("30", 30), ("7p", 7), ("0.05%", 0)];
        for (threshold, packets) in cases {
            assert_eq!(threshold_packets(threshold, 1000), packets, "{threshold}");
        }
    }

    #[test]
    fn limit_packets__of_bytes_and_packets() {
        let limits = [Buffer::Packets(1000), Buffer::Bytes(15_000), Buffer::Bytes(1500)];
        assert_eq!(limits.map(limit_packets), [1000, 10, 1]);
    }

    #[test]
    fn behind_token_bucket__counts_a_link_layer() {
        let first = |name| {
            let wire = Wire { overhead: 0, layer: Some(LinkLayer::find_layer("layer", name).unwrap()) };
            let line =
                Line { rate: Rate(65_000_000), buffer_packets: 50, wire, is_upload: true, burst: None };
            behind_token_bucket("pfifo", &line)[0].clone()
        };
        assert!(first("adsl").contains(" stab overhead 26 linklayer atm tbf rate 65mbit "));
        assert!(first("ipoa-vcmux").contains(" stab overhead -6 linklayer atm tbf rate 65mbit "));
        assert!(first("docsis").contains(" stab overhead 4 mpu 64 linklayer ethernet tbf rate 65mbit "));
        assert!(first("vdsl").contains(" stab overhead 16 linklayer ethernet tbf rate 64mbit "));
    }

    /// The simulator adds bytes to the IP length, tc to a length that has Ethernet's 14 already (tc-stab(8)).
    #[test]
    fn behind_token_bucket__counts_plain_bytes_beyond_ethernets() {
        let lines = |overhead| {
            let wire = Wire::plain(overhead);
            let line = Line { rate: Rate(5_000_000), buffer_packets: 50, wire, is_upload: true, burst: None };
            behind_token_bucket("pfifo", &line)
        };
        for (overhead, own) in [(40, 26), (18, 4), (14, 0), (4, -10)] {
            let table = format!(" stab overhead {own} linklayer ethernet tbf rate 5mbit ");
            assert!(lines(overhead)[0].contains(&table), "{overhead}");
            assert!(
                lines(overhead)[2].ends_with(&format!("on another one: overhead {overhead}")),
                "{overhead}"
            );
        }
        assert_eq!(lines(0).len(), 2);
        assert!(!lines(0)[0].contains("stab"));
    }

    #[test]
    fn token_bucket__holds_two_milliseconds() {
        let line = Line {
            rate: Rate(100_000_000),
            buffer_packets: 50,
            wire: Wire::plain(26),
            is_upload: false,
            burst: None,
        };
        // 100 Mbit/s are 12.5 MB/s, and 25,000 bytes in 2 ms.
        let bucket = "stab overhead 12 linklayer ethernet tbf rate 100mbit burst 25000 limit 75000";
        assert!(behind_token_bucket("pfifo", &line)[0].ends_with(bucket));
        assert!(
            behind_token_bucket("pfifo", &Line { rate: Rate(1_000_000), ..line })[0].contains("burst 3000 ")
        );
    }
}
