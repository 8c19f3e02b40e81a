//! One link under one scheme, packet by packet: a call and pages beside downloads, from the engine's own trace.

use mousehole_sim::error::{Error, Result};
use mousehole_sim::record::{TraceEvent, TraceRow};
use mousehole_sim::scenario::spec::{
    ConnectionSpec, DatagramsSpec, LinkSpec, TcpSpec, TrafficSpec, WriteSpec,
};
use mousehole_sim::scenario::{Plan, RunResult, Scenario, run};
use mousehole_sim::units::Time;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;

/// The client number of the call, and the first ones of pages and of downloads.
const CALL: u32 = 0;
const PAGE: u32 = 1;
const DOWNLOAD: u32 = 1000;
/// A page begins this often, and comes over so many connections.
const PAGE_EVERY_S: f64 = 4.0;
const CONNECTIONS_PER_PAGE: u32 = 4;
/// A call sends a packet of this size every 20 ms (G.711: 160 bytes of sound and 40 of headers).
const CALL_BYTES: u64 = 200;
const CALLS_PER_S: f64 = 50.0;
const MOST_DOWNLOADS: u32 = 20;
const MOST_SECONDS: f64 = 60.0;
const MOST_BPS: u64 = 50_000_000;

/// The settings of the link to watch.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watch {
    /// The scheme.
    pub scheme: String,
    /// Rate of the link.
    pub rate: String,
    /// Round-trip time.
    pub rtt: String,
    /// Buffer.
    pub buffer: String,
    /// Downloads at once.
    pub downloads: u32,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Length in seconds.
    pub seconds: f64,
}

/// The fate of every packet that arrived at the queue, in columns, and the results for users.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Watched {
    /// When it arrived, s.
    pub arrived_s: Vec<f64>,
    /// When its transmission began, or when it was dropped.
    pub left_s: Vec<f64>,
    /// When its transmission was over; the time of the drop of one that was dropped.
    pub sent_s: Vec<f64>,
    /// Whose it is: 0 the call's, 1 a page's, 2 a download's.
    pub app: Vec<u8>,
    /// IP length.
    pub bytes: Vec<u16>,
    /// Colour: 0 green, 1 yellow, 2 red.
    pub colour: Vec<u8>,
    /// Whether it was dropped.
    pub dropped: Vec<bool>,
    /// Rate of the link, bit/s.
    pub rate_bps: u64,
    /// Length, s.
    pub seconds: f64,
    /// When each page began, s.
    pub page_start_s: Vec<f64>,
    /// How long it took, s; None for one that did not come to its end.
    pub page_s: Vec<Option<f64>>,
    /// 95th percentile of the one-way delay of the call, s.
    pub call_delay_p95_s: Option<f64>,
    /// Share of the call's packets that were lost.
    pub call_lost: Option<f64>,
    /// Payload of downloads that arrived, bit/s.
    pub download_bps: f64,
}

/// Runs the link and returns what happened to its packets and what users felt. The same settings give the same result,
/// by the scenario's default seed.
///
/// # Errors
/// [`Error::Field`] naming the field, the value and what is allowed, also for more than 50 Mbit/s.
pub fn watch_link(watch: &Watch) -> Result<Watched> {
    let plan = Plan::new(&make_scenario(watch)?)?;
    if plan.rate.0 > MOST_BPS {
        return Err(Error::field(
            "rate",
            watch.rate.clone(),
            "at most 50mbit, or packets are too many to see",
        ));
    }
    let found = run(&plan, None, &AtomicBool::new(false))?;
    let packets = collect_packets(&found.outcome.trace, plan.rate.0, watch.seconds);
    Ok(add_experience(packets, &found, watch))
}

/// Returns the scenario of the link: without warm-up, in one window, with the trace.
///
/// # Errors
/// [`Error::Field`] for downloads, seconds or bytes of a page out of range; texts such as the rate are not checked
/// here.
fn make_scenario(watch: &Watch) -> Result<Scenario> {
    if watch.downloads > MOST_DOWNLOADS {
        let allowed = format!("a whole number from 0 to {MOST_DOWNLOADS}");
        return Err(Error::field("downloads", watch.downloads.to_string(), allowed));
    }
    if !(1.0..=MOST_SECONDS).contains(&watch.seconds) {
        let allowed = format!("from 1 to {MOST_SECONDS}");
        return Err(Error::field("seconds", watch.seconds.to_string(), allowed));
    }
    if !(1_000..=20_000_000).contains(&watch.page_bytes) {
        return Err(Error::field("page_bytes", watch.page_bytes.to_string(), "from 1000 to 20000000"));
    }
    Ok(Scenario {
        scheme: watch.scheme.clone(),
        warmup: "0s".into(),
        duration: format!("{}s", watch.seconds),
        max_windows: 1,
        link: LinkSpec {
            rate: Some(watch.rate.clone()),
            rtt: watch.rtt.clone(),
            buffer: watch.buffer.clone(),
            ..LinkSpec::default()
        },
        tcp: TcpSpec { profile: "linux".into(), ..TcpSpec::default() },
        traffic: TrafficSpec { connections: make_connections(watch), ..TrafficSpec::default() },
        trace: true,
        ..Scenario::default()
    })
}

/// Returns a call that lasts, pages every few seconds, and downloads that begin one by one from 1 s after the first
/// page. Each connection has a client of its own; they are in the order of their starts.
fn make_connections(watch: &Watch) -> Vec<ConnectionSpec> {
    let plain = |start_s: f64, client: u32, bytes: u64| ConnectionSpec {
        start_s,
        client,
        server: client,
        writes: vec![WriteSpec { idle_s: 0.0, bytes }],
        ..ConnectionSpec::default()
    };
    let call_packets = (watch.seconds * CALLS_PER_S) as u64;
    let call = ConnectionSpec {
        duration_s: Some(call_packets as f64 / CALLS_PER_S),
        datagrams: Some(DatagramsSpec {
            packets: call_packets,
            bytes: call_packets * CALL_BYTES,
            ..DatagramsSpec::default()
        }),
        writes: Vec::new(),
        ..plain(0.0, CALL, 0)
    };
    let mut all = vec![call];
    for page in 0..count_pages(watch) {
        for number in 0..CONNECTIONS_PER_PAGE {
            let client = PAGE + page * CONNECTIONS_PER_PAGE + number;
            let bytes = watch.page_bytes / u64::from(CONNECTIONS_PER_PAGE);
            all.push(plain(page_start_s(page), client, bytes.max(1)));
        }
    }
    for number in 0..watch.downloads {
        all.push(plain(1.5 + 0.3 * f64::from(number), DOWNLOAD + number, 1_000_000_000));
    }
    all.sort_by(|one, other| one.start_s.total_cmp(&other.start_s));
    all
}

/// Returns the number of pages that begin before the run's end, at least 1 for a run of a second.
fn count_pages(watch: &Watch) -> u32 {
    ((watch.seconds - 0.5) / PAGE_EVERY_S).ceil() as u32
}

/// Returns when a page begins, s; pages count from 0.
fn page_start_s(page: u32) -> f64 {
    0.5 + PAGE_EVERY_S * f64::from(page)
}

/// Returns the fate of each packet that arrived at the queue, in the order of the trace.
///
/// Without other links, a packet is at its host a fixed time after its transmission: the least that any took. Packets
/// of one client with the same number end in the order of their arrival. One without an end within `seconds` gets times
/// of twice `seconds`; rows of the trace after `seconds` are left out. Leaves the fields of [`add_experience`] empty.
fn collect_packets(trace: &[TraceRow], rate_bps: u64, seconds: f64) -> Watched {
    let mut waiting: BTreeMap<(u32, i64), VecDeque<usize>> = BTreeMap::new();
    let mut rows: Vec<(f64, Option<f64>, bool, &TraceRow)> = Vec::new();
    for row in trace.iter().filter(|row| row.at.as_secs() <= seconds) {
        let key = (row.client, row.seq);
        match row.event {
            TraceEvent::Enqueue => {
                waiting.entry(key).or_default().push_back(rows.len());
                rows.push((row.at.as_secs(), None, false, row));
            }
            TraceEvent::Drop | TraceEvent::Receive => {
                if let Some(place) = waiting.get_mut(&key).and_then(VecDeque::pop_front) {
                    (rows[place].1, rows[place].2) = (Some(row.at.as_secs()), row.event == TraceEvent::Drop);
                }
            }
            TraceEvent::Send | TraceEvent::Ack | TraceEvent::Mark => {}
        }
    }
    let tx_s = |row: &TraceRow| f64::from(row.bytes) * 8.0 / rate_bps as f64;
    let spans = rows.iter().filter(|(_, _, dropped, _)| !dropped);
    let way_s = spans
        .filter_map(|(arrived, end, _, row)| Some(end.as_ref()? - arrived - tx_s(row)))
        .fold(f64::INFINITY, f64::min);
    let mut found = Watched { rate_bps, seconds, ..Watched::default() };
    for (arrived, end, dropped, row) in rows {
        let sent = match (end, dropped) {
            (Some(end), true) => end,
            (Some(end), false) => end - way_s,
            (None, _) => f64::INFINITY,
        };
        let left = if dropped { sent } else { sent - tx_s(row) };
        found.arrived_s.push(arrived);
        found.left_s.push(left.max(arrived).min(2.0 * seconds));
        found.sent_s.push(sent.min(2.0 * seconds));
        found.app.push(find_app(row.client));
        found.bytes.push(row.bytes);
        found.colour.push(row.colour as u8);
        found.dropped.push(dropped);
    }
    found
}

/// Returns the application of a client, as [`make_connections`] numbers them: 0 the call, 1 a page, 2 a download.
fn find_app(client: u32) -> u8 {
    match client {
        CALL => 0,
        PAGE..DOWNLOAD => 1,
        _ => 2,
    }
}

/// Adds the results for users: the times of pages, delay and loss of the call, and the rate of downloads, for which
/// each packet has 40 bytes of headers. A page counts as come if all its connections were over within the run.
fn add_experience(mut found: Watched, run: &RunResult, watch: &Watch) -> Watched {
    for page in 0..count_pages(watch) {
        let first = PAGE + page * CONNECTIONS_PER_PAGE;
        let own = run.outcome.transfers.iter();
        let ends: Vec<Time> = own
            .filter(|one| (first..first + CONNECTIONS_PER_PAGE).contains(&one.client))
            .map(|one| one.end)
            .collect();
        let start_s = page_start_s(page);
        let end_s = ends.iter().max().map(|end| end.as_secs()).filter(|end| *end <= watch.seconds);
        found.page_start_s.push(start_s);
        found
            .page_s
            .push(end_s.filter(|_| ends.len() == CONNECTIONS_PER_PAGE as usize).map(|end| end - start_s));
    }
    if let Some(call) = run.outcome.datagrams.first() {
        found.call_delay_p95_s = Some(call.delay_s[2]).filter(|delay| delay.is_finite());
        found.call_lost = (call.sent > 0).then(|| call.lost as f64 / call.sent as f64);
    }
    let packets = found.app.iter().zip(&found.bytes).zip(found.dropped.iter().zip(&found.sent_s));
    let own =
        packets.filter(|((app, _), (dropped, sent))| **app == 2 && !**dropped && **sent <= watch.seconds);
    let bytes: u64 = own.map(|((_, bytes), _)| u64::from(bytes.saturating_sub(40))).sum();
    found.download_bps = bytes as f64 * 8.0 / watch.seconds;
    found
}
