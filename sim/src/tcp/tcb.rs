//! The transmission control block: the sender's state that every kind of loss recovery shares.

use super::ack_clock::AckClock;
use super::congestion::{Controller, Feedback, NewAck};
use super::profile::Params;
use super::receiver::AckFields;
use super::sequence::Sequence;
use super::timer::RetransmissionTimer;
use crate::units::{Dur, Time};

/// Congestion avoidance state, with Linux's names: the last reduction of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CaState {
    /// None, or a fast recovery that is over.
    Open,
    /// Fast recovery.
    Recovery,
    /// A timeout; its repair is over when the recovery point is acknowledged.
    Loss,
    /// A congestion mark.
    Cwr,
}

/// State of a sending connection (RFC 9293 section 3.3.1), as far as loss recovery works on it.
///
/// The methods here are the events that concern several of the parts.
#[derive(Debug, Clone)]
pub(super) struct Tcb {
    pub(super) sequence: Sequence,
    pub(super) congestion: Controller,
    pub(super) clock: AckClock,
    pub(super) timer: RetransmissionTimer,
    ca_state: CaState,
    /// The recovery point: one more than the highest segment sent at the last loss (RFC 6582).
    recover: u32,
    /// A segment that goes out before anything else, whatever the window allows.
    forced: Option<u32>,
    /// The present acknowledgement echoes a congestion mark.
    is_echo: bool,
    /// The next new segment carries CWR.
    cwr_pending: bool,
    /// Echoes of marks reduce the window again when more than this is acknowledged.
    ecn_recover: u32,
    retransmits: u32,
    timeouts: u32,
}

impl Tcb {
    /// Returns the state of a connection that has sent nothing; `phase` is that of its clock tick,
    /// `salt` seeds its random draws.
    pub(super) fn new(params: &Params, phase: Dur, salt: u64) -> Tcb {
        Tcb {
            sequence: Sequence::default(),
            congestion: Controller::new(params, salt),
            clock: AckClock::default(),
            timer: RetransmissionTimer::new(phase),
            ca_state: CaState::Open,
            recover: u32::from(params.is_ns2()),
            forced: None,
            is_echo: false,
            cwr_pending: false,
            ecn_recover: 0,
            retransmits: 0,
            timeouts: 0,
        }
    }

    /// Returns the numbers of retransmitted segments and of timeouts so far.
    pub(super) fn losses(&self) -> (u32, u32) {
        (self.retransmits, self.timeouts)
    }

    /// Returns whether fast recovery is under way.
    #[inline]
    pub(super) fn in_recovery(&self) -> bool {
        self.ca_state == CaState::Recovery
    }

    /// Returns whether data that was outstanding at the last timeout is still unacknowledged.
    pub(super) fn is_after_timeout(&self) -> bool {
        self.ca_state == CaState::Loss && self.sequence.una() < self.recover
    }

    /// Returns the recovery point: one more than the highest segment sent at the last loss.
    #[inline]
    pub(super) fn recovery_point(&self) -> u32 {
        self.recover
    }

    /// Returns the data in flight from which a reduction starts, in segments; limited transmit's
    /// does not count (RFC 5681 section 3.2 step 2).
    pub(super) fn flight(&self) -> f64 {
        f64::from(self.sequence.outstanding().saturating_sub(self.clock.limited_sent()))
    }

    /// Returns the send window in segments with `inflation` for duplicate ACKs, bounded by the
    /// receive window.
    #[inline]
    pub(super) fn send_window(&self, inflation: u32, params: &Params) -> f64 {
        let receive = f64::from(params.receive_window);
        (self.congestion.cwnd().min(receive) + f64::from(inflation)).min(receive)
    }

    /// Returns the next segment in order and counts it as sent, if ACK clock, window and data allow
    /// it; otherwise `None`. Limited transmit may pass the window by the duplicate ACKs counted
    /// (RFC 3042).
    #[inline]
    pub(super) fn next_in_window(&mut self, inflation: u32, params: &Params) -> Option<u32> {
        let (is_limited, is_released) = (self.clock.is_limited(), self.clock.is_released());
        if !is_released && !is_limited {
            return None;
        }
        let window = if is_limited {
            let cwnd = self.congestion.cwnd() + f64::from(self.clock.duplicates());
            (cwnd as u32).min(params.receive_window)
        } else {
            self.send_window(inflation, params) as u32
        };
        // Limited transmit is for data never sent before (RFC 3042), not for what a timeout sends again.
        let is_again = !is_released && !params.is_ns2() && self.sequence.nxt() < self.sequence.max();
        if is_again || !self.sequence.has_data_within(window) {
            return None;
        }
        self.clock.on_sent();
        Some(self.sequence.take_next())
    }

    /// Makes `seq` the next segment to go out, whatever the window allows. It replaces a forced
    /// segment that is pending.
    pub(super) fn force_segment(&mut self, seq: u32) {
        self.forced = Some(seq);
    }

    /// Returns whether a forced segment is pending.
    pub(super) fn has_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// Returns the forced segment, once; `None` if there is none.
    #[inline]
    pub(super) fn take_forced(&mut self) -> Option<u32> {
        self.forced.take()
    }

    /// Records a cumulative acknowledgement of new data in sequence numbers, duplicate ACKs and
    /// round-trip time, and restarts the timer. It stops when everything is acknowledged (RFC 6298
    /// section 5.2), except in ns-2.
    #[inline]
    pub(super) fn advance(&mut self, next: u32, now: Time, params: &Params) {
        self.sequence.advance(next);
        self.clock.end_duplicates();
        self.timer.on_ack(next, now, params);
        // ns-2's timer runs on when everything is acknowledged; else it stops (RFC 6298 section 5.2).
        if !self.sequence.is_idle() || params.is_ns2() {
            self.timer.restart(now, params);
        } else {
            self.timer.stop();
        }
    }

    /// Opens the window for `acked` new segments; `flight` segments were in flight before. The echo
    /// of a congestion mark opens nothing (RFC 3168 section 6.1.2).
    #[inline]
    pub(super) fn open_window(&mut self, acked: u32, flight: u32, now: Time, params: &Params) {
        if self.is_echo {
            return;
        }
        let after_timeout = self.ca_state == CaState::Loss && self.sequence.una() <= self.recover;
        let srtt = self.timer.srtt(params).unwrap_or(Dur::ZERO);
        let is_counted_in_full = params.rack;
        self.congestion.on_ack(&NewAck { acked, flight, after_timeout, is_counted_in_full, now, srtt });
    }

    /// Records whether the present acknowledgement echoes a congestion mark. Returns whether the
    /// echo reduces the window, as one echo per window of data does (RFC 3168 section 6.1.2).
    #[inline]
    pub(super) fn note_echo(&mut self, next: u32, is_echo: bool) -> bool {
        self.is_echo = is_echo;
        is_echo && next > self.ecn_recover && !self.in_recovery() && self.sequence.max() > 0
    }

    /// Passes the count of marks that an acknowledgement carries to congestion control, which may
    /// reduce the window. It must come before the sequence numbers advance.
    pub(super) fn take_feedback(&mut self, ack: &AckFields) {
        let feedback = Feedback {
            acked: ack.next.saturating_sub(self.sequence.una()),
            marks: ack.marks,
            una: ack.next,
            sent_below: self.sequence.max(),
            in_recovery: self.in_recovery(),
        };
        if self.congestion.on_feedback(&feedback) && self.ca_state != CaState::Loss {
            self.ca_state = CaState::Cwr;
        }
    }

    /// Reduces the window for a congestion mark, with `flight` segments in flight; the next new
    /// segment carries CWR.
    pub(super) fn reduce_for_mark(&mut self, flight: f64, params: &Params) {
        self.congestion.on_mark(flight);
        if self.ca_state != CaState::Loss {
            self.ca_state = CaState::Cwr;
        }
        self.announce_reduction(params);
    }

    /// Reduces the window for a loss that is repaired already and needs no recovery.
    pub(super) fn reduce_for_repaired_loss(&mut self, flight: f64, params: &Params) {
        self.congestion.on_repaired_loss(flight);
        self.announce_reduction(params);
    }

    /// Begins fast recovery: sets the recovery point, and reduces the window for `flight` segments
    /// in flight.
    pub(super) fn enter_recovery(&mut self, flight: f64, params: &Params) {
        self.recover = self.sequence.max();
        self.ca_state = CaState::Recovery;
        self.announce_reduction(params);
        self.congestion.on_congestion(flight);
    }

    /// Ends fast recovery; the window does not change.
    pub(super) fn leave_recovery(&mut self) {
        self.ca_state = CaState::Open;
    }

    /// Ends fast recovery with the threshold as the window (RFC 6675 section 5), or BBR's former
    /// window.
    pub(super) fn leave_recovery_at_ssthresh(&mut self) {
        self.leave_recovery();
        self.congestion.end_recovery();
    }

    /// Sets the recovery point.
    pub(super) fn set_recovery_point(&mut self, recover: u32) {
        self.recover = recover;
    }

    /// Records a retransmission timeout (RFC 5681 section 3.1, RFC 6298 section 5): the window
    /// closes to one segment, the timeout doubles, and the recovery point is set. The threshold is
    /// reduced for `flight` segments in flight; with `None` it stays. The caller restarts the
    /// timer.
    pub(super) fn time_out(&mut self, flight: Option<f64>, params: &Params) {
        self.timeouts += 1;
        match flight {
            Some(flight) => self.congestion.on_timeout(flight),
            None => self.congestion.set_loss_window(),
        }
        self.recover = self.sequence.max();
        self.ca_state = CaState::Loss;
        self.announce_reduction(params);
        self.timer.back_off(params);
        self.timer.cancel_timing();
    }

    /// Rewinds to the first unacknowledged segment, so that everything outstanding is sent again,
    /// and restarts the timer.
    pub(super) fn go_back(&mut self, now: Time, params: &Params) {
        self.sequence.rewind();
        self.timer.cancel_timing();
        self.timer.restart(now, params);
    }

    /// Returns whether the timeout now due concerns the segment that the last timeout
    /// retransmitted: then the threshold stays (RFC 5681 section 3.1).
    pub(super) fn is_repeated_timeout(&self) -> bool {
        self.is_after_timeout() && self.sequence.nxt() <= self.sequence.una() + 1
    }

    /// Records that `seq` is being sent; returns whether that is a retransmission, which it counts.
    /// New segments may be timed; a retransmission is so only with time stamps (Karn's algorithm).
    #[inline]
    pub(super) fn on_sent(&mut self, seq: u32, now: Time, params: &Params) -> bool {
        let is_retransmission = self.sequence.on_sent(seq);
        if is_retransmission {
            self.retransmits += 1;
            if params.timestamps {
                self.timer.time_retransmission(seq, now);
            } else if !params.is_ns2() {
                self.timer.cancel_timing();
            }
        } else {
            self.timer.on_new_segment(seq, now);
        }
        is_retransmission
    }

    /// Returns whether the new segment going out carries CWR, as one does per reduction (RFC 3168
    /// section 6.1.2).
    #[inline]
    pub(super) fn take_cwr(&mut self) -> bool {
        std::mem::take(&mut self.cwr_pending)
    }

    /// Makes the next new segment carry CWR; echoes of this window do not reduce it again. Without
    /// ECN nothing happens.
    fn announce_reduction(&mut self, params: &Params) {
        if params.ecn {
            self.ecn_recover = self.sequence.max();
            self.cwr_pending = true;
        }
    }
}
