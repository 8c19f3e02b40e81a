//! The driver on a simulated clock does the same as the engine's link, event for event.
#![allow(non_snake_case)]

use mousehole_link::driver::{Driver, Ends, Way};
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::flow::Flow;
use mousehole_sim::packet::{Kind, Packet};
use mousehole_sim::record::{QueueRecord, TraceEvent, TraceRow};
use mousehole_sim::scenario::spec::{self, FaultSpec, LinkSpec, TrafficSpec};
use mousehole_sim::scenario::{Emulation, Plan, SCHEMES, Scenario, Scheme, run};
use mousehole_sim::traffic::model::FlowDirection;
use mousehole_sim::traffic::model::datagrams::{Begin, Stream, Udp};
use mousehole_sim::units::{Dur, Time};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::AtomicBool;

/// An event of the engine's trace: time, event, flow, number, bytes and colour.
type Line = (Time, u8, u32, i64, u16, u8);

/// Returns the event of a row of the trace.
fn to_line(row: &TraceRow) -> Line {
    (row.at, row.event as u8, row.flow, row.seq, row.bytes, row.colour as u8)
}

/// Records the events at the ends; drops only on the link to the client, as the trace does.
#[derive(Default)]
struct Notes {
    lines: Vec<Line>,
    delivered: [u64; 2],
    dropped: [u64; 2],
}

impl Notes {
    /// Records an event.
    fn add(&mut self, at: Time, event: TraceEvent, packet: &Packet) {
        let colour = packet.colour as u8;
        self.lines.push((at, event as u8, packet.flow, i64::from(packet.seq), packet.bytes, colour));
    }
}

impl Ends for Notes {
    fn deliver(&mut self, way: Way, packet: &Packet, due: Time) {
        self.delivered[way as usize] += 1;
        self.add(due, TraceEvent::Receive, packet);
    }

    fn drop(&mut self, way: Way, packet: &Packet, _: DropReason, at: Time) {
        self.dropped[way as usize] += 1;
        if way == Way::Down {
            self.add(at, TraceEvent::Drop, packet);
        }
    }
}

/// A flow of datagrams, sent as by the engine's `send_datagram`.
struct Sender {
    begin: Begin,
    stream: Stream,
    slot: u32,
    number: u32,
    spurt: u64,
    left: u64,
}

impl Sender {
    /// Returns the packet that it sends now, and the time until its next one. Advances its number
    /// and spurt.
    fn send(&mut self) -> (Packet, Dur) {
        if self.left == 0 {
            self.left = self.stream.spurt_packets(self.spurt);
            self.spurt += 1;
        }
        self.left -= 1;
        let pause = if self.left == 0 { self.stream.pause(self.spurt) } else { Dur::ZERO };
        let packet = Packet::new(self.slot, Kind::Datagram, self.number, self.stream.packet_bytes);
        self.number += 1;
        let upload = if self.begin.upload { mousehole_sim::packet::flag::UPLOAD } else { 0 };
        (Packet { window_hint: 0, flags: upload, ..packet }, self.stream.interval + pause)
    }
}

/// Sends the scenario's datagrams through the driver until the end of its measurement. Returns the
/// events at the ends and both queues' records. `jumps` are delays of the clock in ns, used in
/// turn.
fn drive_datagrams(scenario: &Scenario, udp: &Udp, jumps: &[u64]) -> (Notes, [QueueRecord; 2]) {
    let plan = Plan::new(scenario).expect("a valid scenario");
    let mut driver = Driver::new(Emulation::new(scenario).expect("a link for real packets"));
    let (begin, end) = plan.window();
    Way::BOTH.into_iter().for_each(|way| driver.link(way).measure(begin, end));
    let mut flows = udp.to_senders().draw_streams(plan.replication_seed());
    flows.sort_by_key(|(begin, _)| begin.at);
    let mut senders: Vec<Sender> = (0..)
        .zip(flows)
        .map(|(slot, (begin, stream))| Sender { begin, stream, slot, number: 0, spurt: 0, left: 0 })
        .collect();
    let mut due: BinaryHeap<Reverse<(Time, usize)>> =
        senders.iter().enumerate().map(|(index, sender)| Reverse((Time(sender.begin.at.0), index))).collect();
    let mut notes = Notes::default();
    let mut before = [Default::default(); 2];
    let mut at_end = [Default::default(); 2];
    let mut marks = vec![(end, 1), (begin, 0)];
    let mut jumps = jumps.iter().copied().cycle();
    while let Some(Reverse((at, index))) = due.pop() {
        while marks.last().is_some_and(|(mark, _)| *mark <= at) {
            let (mark, which) = marks.pop().expect("seen");
            driver.advance(Time(mark.0 - 1), &mut notes);
            let counts = Way::BOTH.map(|way| driver.link(way).counts_before(mark));
            *(if which == 0 { &mut before } else { &mut at_end }) = counts;
        }
        if marks.is_empty() {
            break;
        }
        // A driver that sleeps too long handles the events in between at their own times all the same.
        let late = Time(at.0.saturating_sub(1 + jumps.next().unwrap_or(0)));
        driver.advance(late, &mut notes);
        driver.advance(at, &mut notes);
        let sender = &mut senders[index];
        if sender.number == 0 {
            let Begin { flow, client, server, class, .. } = sender.begin;
            driver.open(sender.slot, &Flow { key: u64::from(flow), client, server, class });
        }
        let (packet, pause) = sender.send();
        let way = if sender.begin.upload { Way::Up } else { Way::Down };
        notes.add(at, TraceEvent::Send, &packet);
        driver.send(way, packet, at);
        due.push(Reverse((at + pause, index)));
    }
    let window_s = end.since(begin).as_secs();
    let queues = Way::BOTH.map(|way| {
        let link = driver.link(way);
        QueueRecord {
            name: link.name.clone(),
            capacity: link.mean_rate(begin, end),
            colours: link.window_counts(&before[way as usize], &at_end[way as usize]),
            delay_s: link.counts.delay_s(),
            wire_bytes: link.wire_bytes(),
            busy: None,
            window_s,
        }
    });
    (notes, queues)
}

/// Returns every scheme that real packets can cross.
fn list_schemes() -> Vec<&'static str> {
    let more = [
        "sfd|cake(tins=colour)",
        "cake(shape=90)",
        "cake(hosts=dual-srchost)",
        "droptail",
        "las",
        "shred-edge|shred",
    ];
    let all = SCHEMES.iter().map(|scheme| scheme.name).chain(more);
    all.filter(|name| Scheme::parse(name).expect("known").only_simulated().is_none()).collect()
}

/// How the rate of a link changes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Pace {
    Constant,
    Bucket,
    Trace,
}

/// Writes a file with a rate that changes to the folder for tests. Returns its path.
fn write_trace_file() -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("steps.trace");
    std::fs::write(&path, "0 2mbit\n0.4 500kbit\n0.7 0\n0.75 6mbit\n1.6 900kbit\n")
        .expect("a folder for tests");
    path.display().to_string()
}

/// Returns a strategy for scenarios of datagrams, with clock delays.
fn any_case() -> impl Strategy<Value = (Scenario, Udp, Vec<u64>)> {
    let udp =
        (1u32..12, 60u32..1500, 100_000u32..3_000_000, prop::sample::select(vec![(0.0, 0.0), (0.3, 0.2)]));
    let link = (
        200u64..6_000,
        0u64..60,
        prop::sample::select(vec!["1p", "7p", "40p", "9kB", "60kB"]),
        prop::sample::select(vec![Pace::Constant, Pace::Constant, Pace::Bucket, Pace::Trace]),
        0u32..40,
    );
    let parts = (
        prop::sample::select(list_schemes()),
        udp,
        link,
        (any::<u64>(), any::<bool>(), any::<bool>(), prop::sample::select(vec![0.0, 0.02])),
        prop::collection::vec(0u64..20_000_000, 1..6),
    );
    parts.prop_map(|(scheme, udp, (kbit, ms, buffer, pace, overhead), (seed, both, slow, loss), jumps)| {
        let (flows, packet_bytes, rate_bps, (on_s, off_s)) = udp;
        let udp = Udp {
            flows,
            direction: FlowDirection::Both,
            packet_bytes,
            rate_bps: f64::from(rate_bps),
            on_s,
            off_s,
            start_spread_s: 0.7,
            ..Udp::default()
        };
        let is_adsl = overhead > 30;
        let link = LinkSpec {
            down: Some(if pace == Pace::Trace { write_trace_file() } else { format!("{kbit}kbit") }),
            rtt: format!("{}ms", 4 + 3 * ms),
            delay: format!("{}us", 250 * ms),
            buffer: buffer.into(),
            up: Some(format!("{}kbit", 100 + kbit / 3)),
            up_buffer: Some("20p".into()),
            burst: (pace == Pace::Bucket).then(|| "4kB".into()),
            overhead: if is_adsl { 0 } else { overhead },
            layer: is_adsl.then(|| "adsl".into()),
            ..LinkSpec::default()
        };
        let faults = if loss > 0.0 {
            vec![FaultSpec { link: "down".into(), drop: vec![3], bernoulli: loss }]
        } else {
            vec![]
        };
        let scenario = Scenario {
            seed,
            scheme: scheme.into(),
            at: Some(if both { spec::Ends::Both } else { spec::Ends::Down }),
            slow_path: slow,
            warmup: "500ms".into(),
            duration: "1500ms".into(),
            max_windows: 1,
            link,
            faults,
            trace: true,
            traffic: build_traffic(&udp),
            ..Scenario::default()
        };
        (scenario, udp, jumps)
    })
}

/// Returns traffic that consists of these datagrams.
fn build_traffic(udp: &Udp) -> TrafficSpec {
    TrafficSpec {
        model: Some("udp".into()),
        params: Some(serde_json::to_value(udp).expect("plain fields")),
        payload: Some("both".into()),
        ..TrafficSpec::default()
    }
}

/// Returns the events that both sides record, before the end: sends, drops and deliveries, sorted.
fn select_comparable(lines: impl IntoIterator<Item = Line>, end: Time) -> Vec<Line> {
    let kept = [TraceEvent::Send as u8, TraceEvent::Drop as u8, TraceEvent::Receive as u8];
    let mut lines: Vec<Line> =
        lines.into_iter().filter(|line| line.0 < end && kept.contains(&line.1)).collect();
    lines.sort_unstable();
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    /// Every packet is sent, dropped and received at the same nanosecond and in the same colour, and both queues'
    /// records are the same.
    #[test]
    fn driver__is_the_engines_link((scenario, udp, jumps) in any_case()) {
        let plan = Plan::new(&scenario).expect("a valid scenario");
        let simulated = run(&plan, None, &AtomicBool::new(false)).expect("it runs").outcome;
        let (notes, queues) = drive_datagrams(&scenario, &udp, &jumps);
        let end = plan.window().1;
        let ours = select_comparable(notes.lines, end);
        let theirs = select_comparable(simulated.trace.iter().map(to_line), end);
        let first = ours.iter().zip(&theirs).position(|(one, other)| one != other);
        prop_assert_eq!(first.map(|at| (ours[at], theirs[at])), None);
        prop_assert_eq!(ours.len(), theirs.len());
        prop_assert_eq!(queues.to_vec(), simulated.queues);
    }
}

/// Every scheme once, so that none is left out by chance.
#[test]
fn driver__is_the_engines_link_under_every_scheme() {
    for scheme in list_schemes() {
        let udp = Udp {
            flows: 6,
            direction: FlowDirection::Both,
            packet_bytes: 700,
            rate_bps: 600_000.0,
            ..Udp::default()
        };
        let link = LinkSpec {
            down: Some("3mbit".into()),
            rtt: "40ms".into(),
            delay: "2ms".into(),
            buffer: "30p".into(),
            up: Some("1mbit".into()),
            up_buffer: Some("20p".into()),
            ..LinkSpec::default()
        };
        let scenario = Scenario {
            scheme: scheme.into(),
            at: Some(spec::Ends::Both),
            warmup: "1s".into(),
            duration: "3s".into(),
            max_windows: 1,
            link,
            trace: true,
            traffic: build_traffic(&udp),
            ..Scenario::default()
        };
        let plan = Plan::new(&scenario).expect("a valid scenario");
        let simulated = run(&plan, None, &AtomicBool::new(false)).expect("it runs").outcome;
        let (notes, queues) = drive_datagrams(&scenario, &udp, &[0, 3_000_000]);
        assert!(notes.delivered[0] > 500 && notes.delivered.iter().all(|count| *count > 0), "{scheme}");
        let end = plan.window().1;
        let ours = select_comparable(notes.lines, end);
        assert_eq!(ours, select_comparable(simulated.trace.iter().map(to_line), end), "{scheme}");
        assert_eq!(queues.to_vec(), simulated.queues, "{scheme}");
    }
}
