//! Pacing: segments leave in quanta, spaced by the pacing rate (draft-ietf-ccwg-bbr-06 sections 5.6.2, 5.6.3).

use crate::units::{Dur, Time};

/// State of one connection.
#[derive(Debug, Clone, Default)]
pub(super) struct Pacer {
    /// When the next quantum may leave (`C.next_send_time`).
    next: Time,
    /// Segments of the present quantum that may still be sent.
    left: u32,
    /// A segment waits for the next quantum.
    is_waiting: bool,
}

impl Pacer {
    /// Returns whether a segment may be sent now; if not, a segment is recorded as waiting. When
    /// the next quantum is due, it is refilled with `quantum` segments first.
    pub(super) fn try_open(&mut self, quantum: u32, now: Time) -> bool {
        if now >= self.next {
            (self.next, self.left) = (now, quantum);
        }
        self.is_waiting = self.left == 0;
        !self.is_waiting
    }

    /// Records that the wait of a segment is over.
    pub(super) fn end_wait(&mut self) {
        self.is_waiting = false;
    }

    /// Records that a segment is sent: the quantum shrinks by it, and the next quantum moves away
    /// by 1/`rate`; `rate` is in segments per second, above 0.
    pub(super) fn on_sent(&mut self, rate: f64, now: Time) {
        self.next = self.next.max(now) + Dur::from_secs(1.0 / rate);
        self.left = self.left.saturating_sub(1);
    }

    /// Returns when a waiting segment may be sent; [`Time::NEVER`] if none waits.
    pub(super) fn due(&self) -> Time {
        if self.is_waiting { self.next } else { Time::NEVER }
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn quanta__leave_at_the_pacing_rate() {
        let mut pacer = Pacer::default();
        let mut now = Time::ZERO;
        let mut sent = 0;
        while now < Time(1_000_000_000) {
            while pacer.try_open(2, now) {
                pacer.on_sent(100.0, now);
                sent += 1;
            }
            assert_eq!(pacer.due().since(now), Dur::from_millis(20), "two segments of 10 ms each");
            now = pacer.due();
        }
        assert_eq!(sent, 100);
    }

    #[test]
    fn due__is_never_unless_a_segment_waits() {
        let mut pacer = Pacer::default();
        assert!(pacer.try_open(1, Time::ZERO));
        pacer.on_sent(100.0, Time::ZERO);
        assert_eq!(pacer.due(), Time::NEVER);
        assert!(!pacer.try_open(1, Time(5_000_000)));
        assert_eq!(pacer.due(), Time(10_000_000));
    }
}
