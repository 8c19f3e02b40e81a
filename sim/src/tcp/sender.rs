//! The sending end: congestion control, loss recovery, retransmission timer.
//!
//! The caller reports acknowledgements ([`Sender::handle_ack`]), writes ([`Sender::write`]) and expired
//! timers ([`Sender::handle_timeout`]). After each it asks for segments to send
//! ([`Sender::poll_transmit`], until that returns `None`) and for the time of the next timeout
//! ([`Sender::poll_timeout`]).
//!
//! `congestion/` decides how large the window is, `recovery/` which segment is sent.

use super::profile::{IdleRestart, Params};
use super::receiver::AckFields;
use super::recovery::Recovery;
use super::tcb::Tcb;
use crate::units::{Dur, Time};

/// A segment to put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// Segment number.
    pub seq: u32,
    /// Sent before.
    pub retransmission: bool,
    /// Sent in fast recovery.
    pub in_recovery: bool,
    /// It carries CWR: the window was reduced (RFC 3168 section 6.1.2).
    pub cwr: bool,
}

/// Sender state of one connection.
#[derive(Debug, Clone)]
pub struct Sender {
    tcb: Tcb,
    recovery: Recovery,
    last_sent: Time,
}

impl Sender {
    /// Returns a sender with nothing to send yet; `phase` is the phase of its clock tick.
    pub fn new(params: &Params, phase: Dur) -> Sender {
        Sender::with_salt(params, phase, 0)
    }

    /// Returns a sender with nothing to send yet; `salt` seeds BBR's random times between two
    /// probes.
    pub fn with_salt(params: &Params, phase: Dur, salt: u64) -> Sender {
        Sender { tcb: Tcb::new(params, phase, salt), recovery: Recovery::new(params), last_sent: Time::ZERO }
    }

    /// Records the handshake's round trip from `sent` to `now`. If its packets were retransmitted,
    /// `repeats` times, only time stamps give a sample; otherwise the next RTO is that after a lost
    /// SYN. More than one repeat leaves a window of one segment.
    pub fn sample_handshake(&mut self, sent: Time, now: Time, repeats: u8, params: &Params) {
        if repeats == 0 || (params.timestamps && now.since(sent) <= params.initial_rto) {
            self.tcb.timer.sample(sent, now, params);
            self.recovery.on_handshake(now.since(sent));
        } else {
            self.tcb.timer.note_syn_loss();
        }
        // RFC 6928 section 2: one may be due to a long round trip; more are a loss: the window is one segment.
        if repeats > 1 {
            self.tcb.congestion.set_loss_window();
        }
    }

    /// Adds `segments` of the application to the data to send; the caller asks for them by
    /// [`Sender::poll_transmit`]. After an idle time the window may restart.
    pub fn write(&mut self, segments: u32, now: Time, params: &Params) {
        let idle = now.since(self.last_sent);
        if self.tcb.sequence.is_idle() && self.tcb.sequence.max() > 0 {
            self.tcb.congestion.on_idle(idle);
            let timeout = self.tcb.timer.timeout(params);
            if idle > timeout {
                self.restart_window(idle, timeout, now, params);
            }
        }
        self.recovery.on_write(&mut self.tcb);
        self.tcb.sequence.write(segments);
        self.tcb.clock.release_all();
        self.check_invariants();
    }

    /// Returns when [`Sender::handle_timeout`] is due; [`Time::NEVER`] if no timer runs.
    pub fn poll_timeout(&self) -> Time {
        self.tcb.timer.deadline()
    }

    /// Returns the present retransmission timeout.
    pub fn timeout(&self, params: &Params) -> Dur {
        self.tcb.timer.timeout(params)
    }

    /// Returns whether everything written has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.tcb.sequence.is_done()
    }

    /// Returns the first unacknowledged segment.
    pub fn una(&self) -> u32 {
        self.tcb.sequence.una()
    }

    /// Returns one more than the highest segment ever sent.
    pub fn sent_below(&self) -> u32 {
        self.tcb.sequence.max()
    }

    /// Returns the congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.tcb.congestion.cwnd()
    }

    /// Returns the numbers of retransmitted segments and of timeouts so far.
    pub fn losses(&self) -> (u32, u32) {
        self.tcb.losses()
    }

    /// Handles an acknowledgement, which may change window, recovery and timer. One of data never
    /// sent, or older than the last, only ends what earlier inputs allowed to be sent.
    pub fn handle_ack(&mut self, ack: &AckFields, now: Time, params: &Params) {
        self.tcb.clock.on_ack();
        if self.tcb.sequence.accepts(ack.next) {
            if params.is_l4s() {
                self.tcb.take_feedback(ack);
            } else if self.tcb.note_echo(ack.next, params.ecn && ack.ece) {
                self.reduce_for_mark(params);
            }
            self.recovery.on_ack(&mut self.tcb, ack, now, params);
        }
        self.check_invariants();
    }

    /// Handles the expiry of the timer, at [`Sender::poll_timeout`]'s time. The segments to send
    /// follow by [`Sender::poll_transmit`].
    pub fn handle_timeout(&mut self, now: Time, params: &Params) {
        self.recovery.on_timeout(&mut self.tcb, now, params);
        self.check_invariants();
    }

    /// Returns the next segment to send now and records it as sent; `None` if there is none, until
    /// the next input.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, params: &Params) -> Option<Transmit> {
        let seq = match self.tcb.take_forced() {
            Some(forced) => forced,
            None => self.recovery.next_segment(&mut self.tcb, now, params)?,
        };
        let transmit = self.emit(seq, now, params);
        self.check_invariants();
        Some(transmit)
    }

    /// Restarts the window after an `idle` time longer than the `timeout` (RFC 5681 section 4.1),
    /// as the profile says; it never grows.
    fn restart_window(&mut self, idle: Dur, timeout: Dur, now: Time, params: &Params) {
        match params.idle_restart {
            IdleRestart::Off => {}
            IdleRestart::InitialWindow => self.tcb.congestion.set_restart_window(params.initial_window),
            IdleRestart::Halving => {
                self.tcb.congestion.restart_by_halving(idle, timeout, params.initial_window);
                self.recovery.on_restart(now);
            }
        }
    }

    /// Reduces the window for a congestion mark.
    #[inline(never)]
    fn reduce_for_mark(&mut self, params: &Params) {
        let flight = self.recovery.flight(&self.tcb, params);
        self.tcb.reduce_for_mark(flight, params);
    }

    /// Records the transmission of segment `seq` in all parts of the sender, and returns it.
    #[inline]
    fn emit(&mut self, seq: u32, now: Time, params: &Params) -> Transmit {
        let was_idle = self.tcb.sequence.is_idle();
        let retransmission = self.tcb.on_sent(seq, now, params);
        self.recovery.on_sent(&mut self.tcb, seq, was_idle, now, params);
        self.last_sent = now;
        let cwr = !retransmission && self.tcb.take_cwr();
        Transmit { seq, retransmission, in_recovery: self.tcb.in_recovery(), cwr }
    }

    /// Checks in debug builds the order of the sequence numbers, which holds at the end of every
    /// public call.
    #[inline]
    fn check_invariants(&self) {
        debug_assert!(self.tcb.sequence.is_ordered(), "out of order: {:?}", self.tcb.sequence);
    }
}
