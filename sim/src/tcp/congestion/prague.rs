//! Prague congestion control, for senders of L4S (draft-briscoe-iccrg-prague-congestion-control-04), in segments.
//!
//! The window shrinks by half of the average share of marked packets, once in a round trip, and grows by one segment per
//! round trip in between. A loss halves it, as Reno's. Each ACK counts the marks that have arrived (RFC 9768).
//!
//! *Deviations*: segments are not paced. Averages are taken once per round trip and growth is slowed below 25 ms from the
//! first round on; the draft takes both at 25 ms at least, and begins after 500 rounds.

use super::{Feedback, NewAck, Window};
use crate::tcp::profile::Params;
use crate::units::Dur;

/// Weight of a round trip in the average, as the draft has it.
const GAIN: f64 = 1.0 / 16.0;
/// Below this round-trip time growth is slowed, so that rates do not depend on it.
const REFERENCE_RTT: Dur = Dur::from_millis(25);

/// State of one connection.
#[derive(Debug, Clone)]
pub(in crate::tcp) struct Prague {
    window: Window,
    /// Average share of packets with marks.
    alpha: f64,
    /// Marks counted so far, as the last ACK said.
    marks: u16,
    /// Marks of the present ACK.
    new_marks: u32,
    /// Segments acknowledged, and marks, in the present round trip.
    acked: u32,
    marked: u32,
    /// The round trip ends when more than this is acknowledged.
    round_end: u32,
    /// Marks reduce the window again when more than this is acknowledged.
    reduced_until: u32,
}

impl Prague {
    /// Returns the state with the initial window; the share of marks begins at 1, as in DCTCP.
    pub(super) fn new(params: &Params) -> Prague {
        Prague {
            window: Window::new(params.initial_window, params.initial_ssthresh),
            alpha: 1.0,
            marks: 0,
            new_marks: 0,
            acked: 0,
            marked: 0,
            round_end: 0,
            reduced_until: 0,
        }
    }

    /// Returns the congestion window.
    pub(super) fn window(&self) -> &Window {
        &self.window
    }

    /// Returns the congestion window for changing.
    pub(super) fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Counts an ACK's marks, and reduces the window at most once in a round trip; returns whether
    /// it did. In recovery marks only count. A count of marks below the last one is that of an
    /// overtaken ACK and adds none.
    pub(super) fn on_feedback(&mut self, feedback: &Feedback) -> bool {
        let more = feedback.marks.wrapping_sub(self.marks);
        self.new_marks = if more <= u16::MAX / 2 { u32::from(more) } else { 0 };
        self.marks = self.marks.wrapping_add(self.new_marks as u16);
        self.acked += feedback.acked;
        self.marked += self.new_marks;
        if feedback.una > self.round_end {
            self.end_round(feedback.sent_below);
        }
        let reduces = self.new_marks > 0 && feedback.una > self.reduced_until && !feedback.in_recovery;
        if reduces {
            self.window.reduce_to(self.window.cwnd() * (1.0 - self.alpha / 2.0));
            self.reduced_until = feedback.sent_below;
        }
        reduces
    }

    /// Ends a round trip: its share of marks enters the moving average (EWMA). The next one ends
    /// when more than `sent_below` is acknowledged.
    fn end_round(&mut self, sent_below: u32) {
        let share = f64::from(self.marked) / f64::from(self.acked.max(self.marked).max(1));
        self.alpha += GAIN * (share - self.alpha);
        (self.acked, self.marked, self.round_end) = (0, 0, sent_below);
    }

    /// Opens the window by the segments acknowledged without a mark, if the window was used.
    /// [`Prague::on_feedback`] must have handled the same ACK before.
    pub(super) fn on_ack(&mut self, ack: &NewAck) {
        if !self.window.is_used_by(ack.flight) {
            return;
        }
        let unmarked = NewAck { acked: ack.acked.saturating_sub(self.new_marks), ..*ack };
        let left = if self.window.is_slow_start() {
            self.window.grow_in_slow_start(&unmarked)
        } else {
            unmarked.acked.into()
        };
        if left > 0.0 {
            let cwnd = self.window.cwnd();
            let share = (ack.srtt.0 as f64 / REFERENCE_RTT.0 as f64).min(1.0);
            self.window.open_to(cwnd + share * share * left / cwnd);
        }
    }

    /// Halves window and threshold (RFC 5681 section 3.2 step 2), to at least two segments.
    pub(super) fn on_congestion(&mut self, flight: f64) {
        self.window.halve(flight);
    }

    /// Halves the threshold (RFC 5681 section 3.1), in whole segments, at least two; the caller
    /// closes the window.
    pub(super) fn on_timeout(&mut self, flight: f64) {
        self.window.halve_threshold(flight);
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::units::Time;

    /// Returns a connection in congestion avoidance at `cwnd` segments.
    fn prague(cwnd: f64) -> Prague {
        let mut prague = Prague::new(&Params::find_profile("prague").expect("a known profile"));
        prague.window.reduce_to(cwnd);
        prague
    }

    /// Acknowledges a round of `segments`, one by one, of which `marked` came with marks; returns
    /// the next segment expected.
    fn play_round(prague: &mut Prague, una: u32, segments: u32, marked: u16) -> u32 {
        let (mut next, marks) = (una, prague.marks);
        for done in 1..=segments {
            next += 1;
            let marks = marks.wrapping_add(marked.min(done as u16));
            let sent_below = next + segments;
            prague.on_feedback(&Feedback { acked: 1, marks, una: next, sent_below, in_recovery: false });
            let ack = NewAck {
                acked: 1,
                flight: segments,
                after_timeout: false,
                is_counted_in_full: true,
                now: Time::ZERO,
                srtt: Dur::from_millis(50),
            };
            prague.on_ack(&ack);
        }
        next
    }

    #[test]
    fn alpha__comes_to_the_share_of_marks() {
        let mut prague = prague(20.0);
        let mut una = 0;
        for _ in 0..200 {
            una = play_round(&mut prague, una, 20, 4);
        }
        assert!((prague.alpha - 0.2).abs() < 0.01, "{}", prague.alpha);
    }

    #[test]
    fn marks__reduce_once_per_round_by_half_of_alpha() {
        let mut prague = prague(20.0);
        (prague.alpha, prague.round_end) = (0.5, 1000);
        let mut feedback = Feedback { acked: 1, marks: 1, una: 10, sent_below: 30, in_recovery: false };
        assert!(prague.on_feedback(&feedback));
        assert_eq!(prague.window.cwnd(), 15.0);
        (feedback.marks, feedback.una) = (2, 30);
        assert!(!prague.on_feedback(&feedback), "the same round trip");
        feedback.marks = 3;
        feedback.una = 31;
        assert!(prague.on_feedback(&feedback));
        assert_eq!(prague.window.cwnd(), 11.25);
    }

    #[test]
    fn counts__wrap() {
        let mut prague = prague(20.0);
        prague.marks = u16::MAX;
        prague.on_feedback(&Feedback { acked: 3, marks: 1, una: 0, sent_below: 30, in_recovery: false });
        assert_eq!(prague.marked, 2);
        prague.on_feedback(&Feedback { acked: 0, marks: 0, una: 0, sent_below: 30, in_recovery: false });
        assert_eq!((prague.marked, prague.marks), (2, 1), "an ACK that was overtaken counts nothing");
    }

    #[test]
    fn growth__is_one_segment_per_round_without_marks() {
        let mut prague = prague(20.0);
        play_round(&mut prague, 0, 20, 0);
        assert!((prague.window.cwnd() - 21.0).abs() < 0.05, "{}", prague.window.cwnd());
    }
}
