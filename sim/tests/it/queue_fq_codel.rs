//! FQ-CoDel against RFC 8290 (scheduler) and RFC 8289 (CoDel).
use crate::common::hop::{ms, packet};
use crate::common::params;
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::flow::Flow;
use mousehole_sim::packet::{Packet, flag};
use mousehole_sim::queue::{Bands, Dequeued, Dropped};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::Time;

struct Fair {
    queue: Bands,
    rng: Stream,
    drops: Vec<Dropped>,
}

impl Fair {
    /// Returns an empty queue with Ethernet's header in its quantum, and these parameters.
    fn new(given: &[(&str, &str)]) -> Fair {
        let given = [&[("quantum", "1514B")], given].concat();
        let rng = Stream::new(1, Purpose::Queue, 0);
        Fair { queue: Bands::new(params("fq-codel", &given, 1e7), 1), rng, drops: Vec::new() }
    }

    /// Adds a packet to the queue; what it drops goes into `drops`.
    fn enqueue(&mut self, packet: Packet, now: Time) {
        self.queue.enqueue(packet, now, &mut self.rng, &mut self.drops);
    }

    /// Adds `count` packets of a flow, numbered from 0.
    fn fill(&mut self, flow: u32, count: u32, bytes: u16, now: Time) {
        (0..count).for_each(|seq| self.enqueue(packet(flow, seq, bytes), now));
    }

    /// Returns the next packet, `None` if none waits; packets dropped go into `drops`.
    fn dequeue(&mut self, now: Time) -> Option<Packet> {
        match self.queue.dequeue(now, &mut self.drops) {
            Dequeued::Packet(packet, _) => Some(packet),
            _ => None,
        }
    }

    /// Removes up to `count` packets; returns their flows in order.
    fn dequeue_flows(&mut self, count: usize, now: Time) -> Vec<u32> {
        (0..count).filter_map(|_| self.dequeue(now)).map(|packet| packet.flow).collect()
    }
}

/// RFC 8290 section 4.2: a flow that was empty goes before all that have had their quantum.
#[test]
fn scheduler__sparse_flow_first() {
    let mut fair = Fair::new(&[]);
    fair.fill(1, 10, 1500, ms(0));
    fair.fill(2, 10, 1500, ms(0));
    // 1500 of 1514 bytes leave a flow in credit for one more packet of its first round.
    assert_eq!(fair.dequeue_flows(4, ms(0)), [1, 1, 2, 2]);
    fair.enqueue(packet(3, 0, 100), ms(0));
    assert_eq!(fair.dequeue(ms(0)).map(|packet| packet.flow), Some(3));
}

/// Deficit round robin (Shreedhar & Varghese 1995): bytes are shared, whatever the packets' sizes.
#[test]
fn scheduler__bytes_are_fair_between_large_and_small_packets() {
    let mut fair = Fair::new(&[]);
    fair.fill(1, 400, 1500, ms(0));
    fair.fill(2, 4000, 150, ms(0));
    let mut bytes = [0u64; 3];
    while bytes[1] + bytes[2] < 600_000 {
        let packet = fair.dequeue(ms(0)).expect("both are backlogged");
        bytes[packet.flow as usize] += u64::from(packet.bytes);
        assert!(bytes[1].abs_diff(bytes[2]) <= 2 * (1514 + 1500), "{bytes:?}");
    }
}

#[test]
fn scheduler__order_within_a_flow() {
    let mut fair = Fair::new(&[]);
    fair.fill(1, 20, 700, ms(0));
    fair.fill(2, 20, 1500, ms(0));
    let mut next = [0; 3];
    while let Some(packet) = fair.dequeue(ms(0)) {
        assert_eq!(packet.seq, next[packet.flow as usize]);
        next[packet.flow as usize] += 1;
    }
    assert_eq!(next, [0, 20, 20]);
    assert_eq!(fair.queue.backlog(), (0, 0));
}

/// RFC 8290 section 4.2: a new flow that empties becomes old, so that sending rarely gains nothing more.
#[test]
fn scheduler__an_emptied_new_flow_becomes_old() {
    let mut fair = Fair::new(&[]);
    fair.fill(1, 30, 500, ms(0));
    assert_eq!(fair.dequeue_flows(4, ms(0)), [1, 1, 1, 1]);
    fair.enqueue(packet(2, 0, 100), ms(0));
    // Flow 2 is served and empty, then found empty and made old: it waits until flow 1 has had its quantum.
    assert_eq!(fair.dequeue_flows(2, ms(0)), [2, 1]);
    fair.enqueue(packet(2, 1, 100), ms(0));
    assert_eq!(fair.dequeue_flows(3, ms(0)), [1, 1, 2]);
    // Found empty among the old ones it is forgotten, and new again later.
    assert_eq!(fair.dequeue_flows(1, ms(0)), [1]);
    fair.enqueue(packet(2, 2, 100), ms(0));
    assert_eq!(fair.dequeue_flows(1, ms(0)), [2]);
}

/// RFC 8290 section 4.1: the flow with most bytes loses, from its head, half its packets or 64.
#[test]
fn overflow__drops_from_the_head_of_the_fattest() {
    let mut fair = Fair::new(&[("limit", "100p")]);
    fair.fill(1, 80, 200, ms(0));
    fair.fill(2, 20, 1500, ms(0));
    assert!(fair.drops.is_empty());
    fair.enqueue(packet(3, 0, 100), ms(0));
    let dropped: Vec<(u32, u32)> =
        fair.drops.iter().map(|drop| (drop.packet.flow, drop.packet.seq)).collect();
    let expected: Vec<(u32, u32)> = (0..10).map(|seq| (2, seq)).collect();
    assert_eq!(dropped, expected, "30 kB of flow 2 are more than 16 kB of flow 1");
    assert!(fair.drops.iter().all(|drop| drop.reason == DropReason::Forced));
    assert_eq!(fair.queue.backlog(), (91, 80 * 200 + 10 * 1500 + 100));
}

/// RFC 8290 section 4.1: half the number of packets, whatever their sizes.
#[test]
fn overflow__halves_packets_not_bytes() {
    let mut fair = Fair::new(&[("limit", "100p")]);
    fair.fill(1, 80, 90, ms(0));
    fair.fill(2, 4, 1500, ms(0));
    fair.fill(2, 16, 100, ms(0));
    fair.enqueue(packet(3, 0, 100), ms(0));
    assert_eq!(fair.drops.len(), 10, "of 20 packets; half of 7600 bytes would be 3");
    assert!(fair.drops.iter().all(|drop| drop.packet.flow == 2));
}

#[test]
fn overflow__at_most_64_packets_at_once() {
    let mut fair = Fair::new(&[("limit", "300kB")]);
    fair.fill(1, 201, 1500, ms(0));
    assert_eq!(fair.drops.len(), 64);
}

/// Plays a queue that always has 20 packets of one flow and is served every millisecond for
/// `for_ms`. Returns the times of losses and of marks in ms; panics at a loss that is not by delay.
fn play_standing_queue(ect: bool, ecn: bool, for_ms: u64) -> (Vec<u64>, Vec<u64>) {
    let mut fair = Fair::new(&[("ecn", if ecn { "true" } else { "false" })]);
    let of = |seq| Packet { flags: if ect { flag::ECT } else { 0 }, ..packet(1, seq, 1000) };
    let (mut lost, mut marked) = (Vec::new(), Vec::new());
    let mut next = 0;
    for now in 0..for_ms {
        while fair.queue.backlog().0 < 20 {
            fair.enqueue(of(next), ms(now));
            next += 1;
        }
        let packet = fair.dequeue(ms(now)).expect("a standing queue");
        marked.extend(packet.has(flag::CE).then_some(now));
        lost.extend(
            fair.drops
                .drain(..)
                .map(|drop| (drop.reason == DropReason::Early).then_some(now).expect("by delay")),
        );
    }
    (lost, marked)
}

/// Returns the times of drops by RFC 8289 section 5.5: the first when the delay has been 5 ms for
/// 100 ms, then at `drop_next + interval / sqrt(count)`, each at the next whole millisecond.
fn control_law_ms(first: f64, until: f64) -> Vec<u64> {
    let mut times = vec![first as u64];
    let (mut next, mut count) = (first + 100.0, 1.0f64);
    while next < until {
        times.push(next.ceil() as u64);
        count += 1.0;
        next += 100.0 / count.sqrt();
    }
    times
}

/// All queued at 0 leave one a millisecond: the sixth waits 5 ms, so the first drop comes at 105 ms.
#[test]
fn codel__drop_times_follow_the_control_law() {
    let (lost, marked) = play_standing_queue(false, true, 2000);
    assert_eq!(lost, control_law_ms(105.0, 2000.0));
    assert!(marked.is_empty());
}

#[test]
fn codel__marks_what_is_ecn_capable() {
    let (lost, marked) = play_standing_queue(true, true, 2000);
    assert!(lost.is_empty());
    assert_eq!(marked, control_law_ms(105.0, 2000.0));
    let (lost, marked) = play_standing_queue(true, false, 2000);
    assert_eq!((lost, marked.len()), (control_law_ms(105.0, 2000.0), 0));
}

/// RFC 8289 section 5.6: a delay below target even once starts the interval anew; a short queue is left alone.
#[test]
fn codel__leaves_good_queues_alone() {
    let mut fair = Fair::new(&[]);
    for now in 0..1000 {
        fair.fill(1, if now % 50 == 0 { 50 } else { 0 }, 1000, ms(now));
        fair.dequeue(ms(now));
    }
    assert!(fair.drops.is_empty(), "a burst of 50 packets drains in 50 ms");
    let mut fair = Fair::new(&[]);
    for now in (0..5000).step_by(100) {
        fair.fill(1, 1, 1500, ms(now));
        assert!(fair.dequeue(ms(now + 90)).is_some());
    }
    assert!(fair.drops.is_empty(), "one packet is no standing queue");
}

/// RFC 8289 section 5.5: dropping that resumes soon starts near the old rate.
#[test]
fn codel__resumes_near_its_last_rate() {
    let mut fair = Fair::new(&[]);
    let mut lost = Vec::new();
    let mut next = 0;
    for now in 0..1500 {
        // The queue empties for a moment at 1000 ms.
        let keep = if (1000..1030).contains(&now) { 0 } else { 20 };
        while fair.queue.backlog().0 < keep {
            fair.enqueue(packet(1, next, 1000), ms(now));
            next += 1;
        }
        fair.dequeue(ms(now));
        lost.extend(fair.drops.drain(..).map(|_| now));
    }
    let again: Vec<u64> = lost.iter().copied().filter(|at| *at > 1030).collect();
    let before = lost.iter().filter(|at| **at < 1030).count() as f64;
    let gap = again[1] - again[0];
    let expected = 100.0 / (before - 1.0).sqrt();
    assert!(
        (gap as f64 - expected).abs() <= 1.0,
        "{gap} ms between the first two, {expected} expected; {lost:?}"
    );
}

/// RFC 8289 section 4.4: the backlog is that of all queues, so that many flows of one packet each are a standing queue.
#[test]
fn codel__counts_the_backlog_of_all_flows() {
    let mut fair = Fair::new(&[]);
    (0..40).for_each(|flow| fair.enqueue(packet(flow, 0, 1514), ms(0)));
    for now in 0..1000 {
        let sent = fair.dequeue(ms(now)).expect("40 flows wait");
        // Whoever is served sends a quantum again at once.
        fair.enqueue(packet(sent.flow, 0, 1514), ms(now));
    }
    assert!(!fair.drops.is_empty(), "each waits for 40 ms");
    assert!(fair.drops.iter().all(|drop| drop.reason == DropReason::Early));
}

/// Two connections that have the same slot one after the other have queues of their own: while the first one's packets
/// wait, the second is a new flow.
#[test]
fn queues__are_of_connections_and_not_of_slots() {
    let mut fair = Fair::new(&[]);
    for key in 0..50 {
        fair.queue.open(1, &Flow { key: 2 * key, ..Flow::default() });
        fair.fill(1, 10, 1500, ms(0));
        assert_eq!(fair.dequeue_flows(4, ms(0)), [1; 4], "has had its quantum");
        fair.queue.open(1, &Flow { key: 2 * key + 1, ..Flow::default() });
        fair.enqueue(Packet { seq: 99, ..packet(1, 0, 100) }, ms(0));
        assert_eq!(fair.dequeue(ms(0)).map(|packet| packet.seq), Some(99), "the new connection goes first");
        assert_eq!(fair.dequeue_flows(6, ms(0)).len(), 6);
        assert!(fair.dequeue(ms(0)).is_none());
    }
    assert!(fair.drops.is_empty());
}
