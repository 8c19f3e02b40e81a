//! CoDel against a second implementation of the pseudo-code of RFC 8289.
use crate::common::hop::{ms, packet};
use crate::common::params;
use mousehole_sim::drop_reason::DropReason;
use mousehole_sim::packet::{Packet, flag};
use mousehole_sim::queue::{Bands, Dequeued, Dropped};
use mousehole_sim::rng::{Purpose, Stream};
use mousehole_sim::units::Time;
use std::collections::VecDeque;

/// RFC 8289 section 5 in whole nanoseconds, with no regard for ours: sizes and arrival times only.
#[derive(Default)]
struct Reference {
    queue: VecDeque<(u32, f64, f64)>,
    first_above: f64,
    drop_next: f64,
    count: f64,
    last_count: f64,
    dropping: bool,
    dropped: Vec<u32>,
}

impl Reference {
    /// Removes and returns the head and whether CoDel may drop it (`dodequeue`, RFC 8289 section
    /// 5.6); no head if the queue is empty. `now` is in ns.
    fn do_dequeue(&mut self, now: f64) -> (Option<u32>, bool) {
        let Some((seq, bytes, at)) = self.queue.pop_front() else {
            self.first_above = 0.0;
            return (None, false);
        };
        let _ = bytes;
        let left: f64 = self.queue.iter().map(|(_, bytes, _)| bytes).sum();
        let mut ok = false;
        if now - at < 5e6 || left <= 1500.0 {
            self.first_above = 0.0;
        } else if self.first_above == 0.0 {
            self.first_above = now + 100e6;
        } else if now >= self.first_above {
            ok = true;
        }
        (Some(seq), ok)
    }

    /// Returns the next packet under CoDel (`dequeue`, RFC 8289 section 5.5), `None` if none is
    /// left; packets dropped before it go into `dropped`. `now` is in ns.
    fn dequeue(&mut self, now: f64) -> Option<u32> {
        let (mut seq, mut ok) = self.do_dequeue(now);
        if self.dropping {
            if !ok {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                self.dropped.extend(seq);
                self.count += 1.0;
                (seq, ok) = self.do_dequeue(now);
                if ok {
                    self.drop_next += (100e6 / self.count.sqrt()).floor();
                } else {
                    self.dropping = false;
                }
            }
        } else if ok {
            self.dropped.extend(seq);
            (seq, _) = self.do_dequeue(now);
            self.dropping = true;
            let delta = self.count - self.last_count;
            self.count = if delta > 1.0 && now - self.drop_next < 1600e6 { delta } else { 1.0 };
            self.drop_next = now + (100e6 / self.count.sqrt()).floor();
            self.last_count = self.count;
        }
        seq
    }
}

/// Returns an empty CoDel queue.
fn make_codel(given: &[(&str, &str)]) -> Bands {
    Bands::new(params("codel", given, 1e7), 0)
}

/// Adds a packet to the queue.
fn enqueue(codel: &mut Bands, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
    codel.enqueue(packet, now, &mut Stream::new(1, Purpose::Queue, 0), drops);
}

/// Returns the next packet, `None` if none waits.
fn dequeue(codel: &mut Bands, now: Time, drops: &mut Vec<Dropped>) -> Option<Packet> {
    match codel.dequeue(now, drops) {
        Dequeued::Packet(packet, _) => Some(packet),
        _ => None,
    }
}

/// Bursts of random length every few hundred ms, one packet a ms out: every drop is the pseudo-code's.
#[test]
fn dequeue__is_the_pseudo_code() {
    let mut rng = Stream::new(5, Purpose::Arrival, 0);
    let (mut codel, mut reference) = (make_codel(&[("limit", "100000p")]), Reference::default());
    let (mut drops, mut seq) = (Vec::new(), 0);
    for now in 0..60_000 {
        if rng.below(100) == 0 {
            for _ in 0..rng.below(200) {
                let bytes = 40 + rng.below(1461) as u16;
                enqueue(&mut codel, packet(1, seq, bytes), ms(now), &mut drops);
                reference.queue.push_back((seq, f64::from(bytes), now as f64 * 1e6));
                seq += 1;
            }
        }
        let ours = dequeue(&mut codel, ms(now), &mut drops).map(|packet| packet.seq);
        assert_eq!(ours, reference.dequeue(now as f64 * 1e6), "at {now} ms");
    }
    let dropped: Vec<u32> = drops.iter().map(|drop| drop.packet.seq).collect();
    assert_eq!(dropped, reference.dropped);
    assert!(dropped.len() > 1000, "{} drops are few to compare", dropped.len());
    assert!(drops.iter().all(|drop| drop.reason == DropReason::Early));
}

#[test]
fn enqueue__drops_the_tail_when_full() {
    for (limit, held) in [("3p", 3), ("3999B", 3)] {
        let mut codel = make_codel(&[("limit", limit)]);
        let mut drops = Vec::new();
        (0..5).for_each(|seq| enqueue(&mut codel, packet(1, seq, 1000), ms(0), &mut drops));
        assert_eq!(codel.backlog(), (held, u64::from(held) * 1000));
        assert_eq!(drops.iter().map(|drop| drop.packet.seq).collect::<Vec<_>>(), [3, 4]);
        assert!(drops.iter().all(|drop| drop.reason == DropReason::Forced));
    }
}

/// What would be dropped is marked, at the same times, and keeps its place.
#[test]
fn ecn__marks_where_it_would_drop() {
    let times = |ecn: bool| {
        let mut codel = make_codel(&[("ecn", if ecn { "true" } else { "false" })]);
        let (mut drops, mut hits, mut next, mut out) = (Vec::new(), Vec::new(), 0, Vec::new());
        for now in 0..1000 {
            while codel.backlog().0 < 30 {
                enqueue(
                    &mut codel,
                    Packet { flags: flag::ECT, ..packet(1, next, 1000) },
                    ms(now),
                    &mut drops,
                );
                next += 1;
            }
            let packet = dequeue(&mut codel, ms(now), &mut drops).expect("a standing queue");
            out.push(packet.seq);
            hits.extend((packet.has(flag::CE) || !drops.is_empty()).then_some(now));
            assert!(!ecn || drops.is_empty(), "nothing is lost that can be marked");
            drops.clear();
        }
        assert!(out.is_sorted());
        hits
    };
    let marked = times(true);
    assert_eq!(marked, times(false));
    assert_eq!(marked[..3], [105, 205, 276]);
}
