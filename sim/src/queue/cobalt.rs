//! COBALT: CoDel for responsive flows and BLUE for unresponsive ones, together on one queue.
//!
//! Palmei et al., "Design and Evaluation of COBALT Queue Discipline", LANMAN 2019; BLUE is that of Feng et
//! al., "The BLUE Active Queue Management Algorithms", 2002: a probability that grows when the queue
//! overflows and shrinks when it is found empty, at most once per target time. BLUE drops what is ECN-capable too.
//! Neither drops the last packet of a queue.
//!
//! Deviations: CoDel is that of RFC 8289; Linux' COBALT lowers its count step by step when the delay falls, spares a
//! delay of up to four packets' time where ours spares a backlog of one packet, and drops from an overflow on.

use super::Dropped;
use super::codel::{CodelParams, QueueContext, State};
use super::packet_fifo::PacketFifo;
use crate::drop_reason::DropReason;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::Time;

/// Steps of BLUE's probability: up at an overflow, down at an empty queue (Linux' values).
const STEP_UP: f64 = 1.0 / 256.0;
const STEP_DOWN: f64 = 1.0 / 4096.0;

/// COBALT's state of one queue.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cobalt {
    codel: State,
    blue: f64,
    changed: Option<Time>,
}

impl Cobalt {
    /// Raises BLUE's probability: a packet was dropped because the buffer is full.
    pub fn overflowed(&mut self, params: &CodelParams, now: Time) {
        self.change(params, now, STEP_UP);
    }

    /// Returns the next packet of `fifo`; `elsewhere` bytes wait in the link's other queues.
    pub fn dequeue(
        &mut self,
        params: &CodelParams,
        fifo: &mut PacketFifo,
        elsewhere: u64,
        now: Time,
        rng: &mut Stream,
        drops: &mut Vec<Dropped>,
    ) -> Option<(Packet, Time)> {
        let context = QueueContext { elsewhere, keeps_last: true };
        while let Some((packet, at)) = self.codel.dequeue(params, fifo, context, now, drops) {
            if self.blue == 0.0 || fifo.is_empty() || rng.uniform() >= self.blue {
                return Some((packet, at));
            }
            drops.push(Dropped { packet, reason: DropReason::Early });
        }
        if self.blue > 0.0 {
            self.change(params, now, -STEP_DOWN);
        }
        None
    }

    /// Changes BLUE's probability, at most once per target time.
    fn change(&mut self, params: &CodelParams, now: Time, by: f64) {
        if self.changed.is_none_or(|changed| now.since(changed) > params.target) {
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

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Linux: the last packet may be marked, not dropped.
    #[test]
    fn blue__spares_the_last_packet() {
        let mut cobalt = Cobalt { blue: 1.0, ..Cobalt::default() };
        let (mut fifo, mut drops) = (PacketFifo::default(), Vec::new());
        (0..3).for_each(|seq| fifo.push(Packet::new(1, Kind::Data, seq, 1000), at(0)));
        let mut rng = Stream::new(1, Purpose::Queue, 0);
        let head = cobalt.dequeue(&CodelParams::default(), &mut fifo, 0, at(1), &mut rng, &mut drops);
        assert_eq!((head.map(|(packet, _)| packet.seq), drops.len()), (Some(2), 2));
    }

    #[test]
    fn blue__moves_once_per_target() {
        let (params, mut cobalt, mut fifo) =
            (CodelParams::default(), Cobalt::default(), PacketFifo::default());
        let mut rng = Stream::new(1, Purpose::Queue, 0);
        for ms in 1..=60 {
            cobalt.overflowed(&params, at(ms));
        }
        assert_eq!(cobalt.blue, 10.0 / 256.0, "every 6 ms: strictly more than the target of 5 ms");
        for ms in 66..=125 {
            assert!(cobalt.dequeue(&params, &mut fifo, 0, at(ms), &mut rng, &mut Vec::new()).is_none());
        }
        assert_eq!(cobalt.blue, 10.0 / 256.0 - 10.0 / 4096.0);
    }
}
