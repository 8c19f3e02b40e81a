//! COBALT: CoDel for responsive flows and BLUE for unresponsive ones, together on one queue.
//!
//! Palmei et al., "Design and Evaluation of COBALT Queue Discipline", LANMAN 2019; BLUE is that of Feng et
//! al., "The BLUE Active Queue Management Algorithms", 2002: a probability that grows when the queue
//! overflows and shrinks when it is found empty, at most once per target time. BLUE drops what is ECN-capable too.
//! Neither drops the last packet of a queue.
//!
//! The CoDel part is the one of Linux's `sch_cake.c`, described here from its behaviour, and differs from RFC 8289:
//!
//! - It decides on each packet that leaves, and drops at most one for each time that a drop is due.
//! - A delay is too long beyond the target and beyond the time of four full packets.
//! - When the delay falls below, the count of drops falls step by step, each step when the next drop would be due.
//! - A queue that has never dropped has no pace of drops yet: the second packet with too long a delay is dropped at
//!   once, not an interval after the first.
//! - An overflow enters the dropping state, and the next packet with too long a delay is dropped.
//!
//! Deviations: inverse square roots are exact, those of Linux come from Newton steps in 32 bits.

use super::Dropped;
use super::packet_fifo::PacketFifo;
use crate::drop_reason::DropReason;
use crate::packet::{Packet, flag};
use crate::rng::Stream;
use crate::units::{Dur, Time};

/// Steps of BLUE's probability: up at an overflow, down at an empty queue (Linux' values).
const STEP_UP: f64 = 1.0 / 256.0;
const STEP_DOWN: f64 = 1.0 / 4096.0;

/// The parameters of CoDel's control law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CodelParams {
    /// Acceptable standing delay.
    pub target: Dur,
    /// Time over which the delay must have stayed above the target.
    pub interval: Dur,
    /// Mark ECT packets instead of dropping them.
    pub ecn: bool,
}

/// The parameters of COBALT.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CobaltParams {
    /// Target, interval, and whether packets are marked.
    pub codel: CodelParams,
    /// A delay up to this is never too long: the time of four full packets.
    pub spared: Dur,
}

/// COBALT's state of one queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cobalt {
    /// Drops or marks since the delay was last low, less the steps down since.
    count: u32,
    is_dropping: bool,
    drop_next: Time,
    /// 1 / √count; 0 before the count has ever changed.
    inverse_sqrt: f64,
    blue: f64,
    changed: Option<Time>,
}

impl Cobalt {
    /// Raises BLUE's probability, at most once per target time, and enters the dropping state: a
    /// packet was dropped because the buffer is full.
    pub fn on_overflow(&mut self, params: &CobaltParams, now: Time) {
        self.change_blue(params, now, STEP_UP);
        self.is_dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Returns the next packet of `fifo` with its arrival time, marked if CoDel says so; `None` if
    /// the queue is empty, which lowers BLUE and the count. Packets dropped before it go to
    /// `drops`; the last packet in the queue is never dropped.
    pub fn dequeue(
        &mut self,
        params: &CobaltParams,
        fifo: &mut PacketFifo,
        now: Time,
        rng: &mut Stream,
        drops: &mut Vec<Dropped>,
    ) -> Option<(Packet, Time)> {
        while let Some((mut packet, at)) = fifo.pop() {
            if !self.decide_drop(params, &mut packet, at, now, rng) || fifo.is_empty() {
                return Some((packet, at));
            }
            drops.push(Dropped { packet, reason: DropReason::Early });
        }
        self.on_empty(params, now);
        None
    }

    /// Updates CoDel and BLUE by a packet that arrived `at` and leaves `now`. Returns whether it
    /// should be dropped; where CoDel can, it marks the packet instead. One number of `rng` is
    /// drawn while BLUE's probability is above zero.
    fn decide_drop(
        &mut self,
        params: &CobaltParams,
        packet: &mut Packet,
        at: Time,
        now: Time,
        rng: &mut Stream,
    ) -> bool {
        let delay = now.since(at);
        let is_due = self.count > 0 && now >= self.drop_next;
        let mut is_past = now > self.drop_next;
        let mut drops = false;
        if delay > params.codel.target && delay > params.spared {
            if !self.is_dropping {
                self.is_dropping = true;
                self.drop_next = now + self.drop_spacing(params);
            }
            self.count = self.count.max(1);
        } else {
            self.is_dropping = false;
        }
        if is_due && self.is_dropping {
            drops = !(params.codel.ecn && packet.has(flag::ECT));
            if !drops {
                packet.flags |= flag::CE;
            }
            self.change_count(self.count.saturating_add(1));
            self.drop_next += self.drop_spacing(params);
            is_past = now > self.drop_next;
        } else if is_due {
            while self.count > 0 && now >= self.drop_next {
                self.change_count(self.count - 1);
                self.drop_next += self.drop_spacing(params);
                is_past = now > self.drop_next;
            }
        }
        // BLUE drops ECN-capable packets too.
        drops |= self.blue > 0.0 && rng.uniform() < self.blue;
        // The time of the next drop is also that until which the queue counts as active.
        if self.count == 0 {
            self.drop_next = now + params.codel.interval;
        } else if is_past && !drops {
            self.drop_next = now;
        }
        drops
    }

    /// Records that the queue has nothing to send: the dropping state ends, and BLUE's probability
    /// and the count fall by a step where one is due.
    pub fn on_empty(&mut self, params: &CobaltParams, now: Time) {
        if self.blue > 0.0 {
            self.change_blue(params, now, -STEP_DOWN);
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.change_count(self.count - 1);
            self.drop_next += self.drop_spacing(params);
        }
    }

    /// Returns whether no state is left that decays with time in an empty queue.
    pub fn is_at_rest(&self, now: Time) -> bool {
        self.blue == 0.0 && self.count == 0 && now >= self.drop_next
    }

    /// Sets the count and its inverse square root.
    fn change_count(&mut self, count: u32) {
        self.count = count;
        self.inverse_sqrt = 1.0 / f64::from(count.max(1)).sqrt();
    }

    /// Returns the time to the next drop: the interval over the square root of the count; zero
    /// before the count has ever changed.
    fn drop_spacing(&self, params: &CobaltParams) -> Dur {
        Dur((params.codel.interval.0 as f64 * self.inverse_sqrt) as u64)
    }

    /// Changes BLUE's probability by `by`, within 0 and 1, if more than the target time has passed
    /// since the last change; otherwise it stays.
    fn change_blue(&mut self, params: &CobaltParams, now: Time, by: f64) {
        if self.changed.is_none_or(|changed| now.since(changed) > params.codel.target) {
            self.blue = (self.blue + by).clamp(0.0, 1.0);
            self.changed = Some(now);
        }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::packet::Kind;
    use crate::rng::Purpose;

    const PARAMS: CobaltParams = CobaltParams {
        codel: CodelParams { target: Dur::from_millis(5), interval: Dur::from_millis(100), ecn: true },
        spared: Dur::from_millis(5),
    };

    /// Returns the time `ms` milliseconds after the start.
    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Returns a data packet of 1000 bytes.
    fn packet(seq: u32) -> Packet {
        Packet::new(1, Kind::Data, seq, 1000)
    }

    /// A queue that always holds packets of one age.
    struct Standing {
        cobalt: Cobalt,
        fifo: PacketFifo,
        rng: Stream,
    }

    impl Standing {
        /// Returns an empty queue.
        fn new() -> Standing {
            let rng = Stream::new(1, Purpose::Queue, 0);
            Standing { cobalt: Cobalt::default(), fifo: PacketFifo::default(), rng }
        }

        /// Dequeues a packet at a time. It and those behind it have waited for `delay_ms`. Returns
        /// how many were dropped.
        fn dequeue_at(&mut self, now_ms: u64, delay_ms: u64) -> usize {
            let mut drops = Vec::new();
            self.fifo = PacketFifo::default();
            (0..4).for_each(|seq| self.fifo.push(packet(seq), at(now_ms - delay_ms)));
            let head = self.cobalt.dequeue(&PARAMS, &mut self.fifo, at(now_ms), &mut self.rng, &mut drops);
            assert!(head.is_some());
            drops.len()
        }
    }

    #[test]
    fn first_drop__comes_with_the_second_late_packet_of_a_new_queue() {
        let mut queue = Standing::new();
        assert_eq!(queue.dequeue_at(100, 5), 0, "not above the target");
        assert_eq!(queue.dequeue_at(101, 6), 0, "the first late packet");
        assert_eq!(queue.dequeue_at(102, 6), 1, "no pace is known yet");
        assert_eq!((103..172).map(|ms| queue.dequeue_at(ms, 6)).sum::<usize>(), 0);
        assert_eq!(queue.dequeue_at(173, 6), 1, "100 ms / √2 later");
        assert_eq!((174..230).map(|ms| queue.dequeue_at(ms, 6)).sum::<usize>(), 0);
        assert_eq!(queue.dequeue_at(231, 6), 1, "100 ms / √3 later");
    }

    /// The count falls by one each time that a drop would be due, so that a new standing delay meets a pace at once.
    #[test]
    fn count__falls_step_by_step_while_the_delay_is_low() {
        let mut queue = Standing::new();
        let dropped: usize = (101..=400).map(|ms| queue.dequeue_at(ms, 6)).sum();
        let count = queue.cobalt.count;
        assert_eq!(count as usize, dropped + 1);
        let due = queue.cobalt.drop_next;
        assert!(due > at(401), "{due:?}");
        queue.dequeue_at(401, 1);
        assert_eq!(queue.cobalt.count, count, "no drop is due yet");
        assert_eq!((402..=420).map(|ms| queue.dequeue_at(ms, 1)).sum::<usize>(), 0);
        assert_eq!(queue.cobalt.count, count - 1);
        assert_eq!((421..=1500).map(|ms| queue.dequeue_at(ms, 1)).sum::<usize>(), 0);
        assert_eq!(queue.cobalt.count, 0);
        assert_eq!(
            (queue.dequeue_at(1501, 6), queue.dequeue_at(1502, 6)),
            (0, 0),
            "a queue with a past waits an interval"
        );
        assert_eq!((1503..1601).map(|ms| queue.dequeue_at(ms, 6)).sum::<usize>(), 0);
        assert_eq!(queue.dequeue_at(1601, 6), 1);
    }

    #[test]
    fn marks__replace_drops_one_at_a_time() {
        let mut queue = Standing::new();
        queue.dequeue_at(101, 6);
        let (mut fifo, mut drops) = (PacketFifo::default(), Vec::new());
        for seq in 0..3 {
            fifo.push(Packet { flags: flag::ECT, ..packet(seq) }, at(90));
        }
        let head = queue.cobalt.dequeue(&PARAMS, &mut fifo, at(102), &mut queue.rng, &mut drops);
        assert!(head.is_some_and(|(packet, _)| packet.seq == 0 && packet.has(flag::CE)));
        let head = queue.cobalt.dequeue(&PARAMS, &mut fifo, at(103), &mut queue.rng, &mut drops);
        assert!(head.is_some_and(|(packet, _)| packet.seq == 1 && !packet.has(flag::CE)));
        assert!(drops.is_empty());
    }

    #[test]
    fn overflow__has_the_next_late_packet_dropped() {
        let mut queue = Standing::new();
        queue.cobalt.on_overflow(&PARAMS, at(100));
        queue.cobalt.blue = 0.0;
        assert_eq!(queue.dequeue_at(101, 6), 1);
        assert_eq!(queue.dequeue_at(102, 6), 0);
    }

    #[test]
    fn spared__four_packets_on_a_slow_link_are_no_standing_queue() {
        let params = CobaltParams { spared: Dur::from_millis(50), ..PARAMS };
        let (mut queue, mut drops) = (Standing::new(), Vec::new());
        for ms in 100..400 {
            (0..4).for_each(|seq| queue.fifo.push(packet(seq), at(ms - 50)));
            queue.cobalt.dequeue(&params, &mut queue.fifo, at(ms), &mut queue.rng, &mut drops);
            queue.fifo = PacketFifo::default();
        }
        assert!(drops.is_empty());
    }

    /// Linux: the last packet may be marked, not dropped.
    #[test]
    fn blue__spares_the_last_packet() {
        let mut queue = Standing::new();
        queue.cobalt.blue = 1.0;
        assert_eq!(queue.dequeue_at(1, 1), 3);
    }

    #[test]
    fn blue__moves_once_per_target() {
        let mut queue = Standing::new();
        for ms in 1..=60 {
            queue.cobalt.on_overflow(&PARAMS, at(ms));
        }
        assert_eq!(queue.cobalt.blue, 10.0 / 256.0, "every 6 ms: strictly more than the target of 5 ms");
        for ms in 66..=125 {
            let mut empty = PacketFifo::default();
            let head = queue.cobalt.dequeue(&PARAMS, &mut empty, at(ms), &mut queue.rng, &mut Vec::new());
            assert!(head.is_none());
        }
        assert_eq!(queue.cobalt.blue, 10.0 / 256.0 - 10.0 / 4096.0);
    }
}
