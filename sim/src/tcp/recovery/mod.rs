//! Loss recovery: which segments are lost, and what is sent next.
//!
//! A connection has one kind of recovery for its whole life, chosen by [`Recovery::new`]. Each kind owns
//! its state and works on the [`Tcb`], which all share.

mod common;
mod delivery_rate;
mod newreno;
mod ns2;
mod ns2_reno;
mod ns2_sack;
mod pacer;
mod prr;
mod rack;
mod sack;
mod scoreboard;
mod tlp;
mod window_use;

use super::dialect::Dialect;
use super::profile::{Params, Variant};
use super::receiver::AckFields;
use super::tcb::Tcb;
use crate::units::{Dur, Time};
use newreno::NewReno;
use ns2_reno::Ns2Reno;
use ns2_sack::Ns2Sack;
use sack::Sack;
use tlp::RackTlp;

/// Loss recovery of one connection. The tag is a separate byte: every packet reads it several times, and a tag in the
/// spare values of a field takes twice the instructions.
#[derive(Debug, Clone)]
#[repr(u8)]
pub(super) enum Recovery {
    /// Reno and NewReno (RFC 5681, RFC 6582).
    NewReno(NewReno),
    /// Selective acknowledgements (RFC 6675), with or without PRR (RFC 9937).
    Sack(Sack),
    /// RACK-TLP (RFC 8985), with or without PRR.
    Rack(Box<RackTlp>),
    /// ns-2's Tahoe, Reno and NewReno.
    Ns2Reno(Ns2Reno),
    /// ns-2's Sack1.
    Ns2Sack(Ns2Sack),
}

impl Recovery {
    /// Returns the recovery that `params` select.
    pub(super) fn new(params: &Params) -> Recovery {
        match (params.dialect, params.variant) {
            (Dialect::Ns2(_), Variant::Sack) => Recovery::Ns2Sack(Ns2Sack::default()),
            (Dialect::Ns2(_), _) => Recovery::Ns2Reno(Ns2Reno::default()),
            (Dialect::Rfc, Variant::Sack) if params.rack => Recovery::Rack(Box::new(RackTlp::new(params))),
            (Dialect::Rfc, Variant::Sack) => Recovery::Sack(Sack::default()),
            (Dialect::Rfc, _) => Recovery::NewReno(NewReno::default()),
        }
    }

    /// Returns the segments that a reduction of the window starts from: the data in flight; the
    /// window under RACK, as in Linux; the window in use in ns-2.
    pub(super) fn flight(&self, tcb: &Tcb, params: &Params) -> f64 {
        match self {
            Recovery::NewReno(_) | Recovery::Sack(_) => tcb.flight(),
            Recovery::Rack(_) => tcb.congestion.cwnd(),
            Recovery::Ns2Reno(reno) => reno.used_window(tcb, params),
            Recovery::Ns2Sack(_) => tcb.send_window(0, params),
        }
    }

    /// Handles an acknowledgement of everything below `ack.next`, which is at least the last one's:
    /// moves the sequence on, opens or reduces the window, sets the timer, and decides what may be
    /// sent.
    #[inline]
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, ack: &AckFields, now: Time, params: &Params) {
        match self {
            Recovery::NewReno(newreno) => newreno.on_ack(tcb, ack, now, params),
            Recovery::Sack(sack) => sack.on_ack(tcb, ack, now, params),
            Recovery::Rack(rack) => rack.on_ack(tcb, ack, now, params),
            Recovery::Ns2Reno(reno) => reno.on_ack(tcb, ack, now, params),
            Recovery::Ns2Sack(sack) => sack.on_ack(tcb, ack, now, params),
        }
    }

    /// Handles the expiry of the sender's timer: the retransmission timeout, and with RACK also
    /// reordering, probe and pacing. The timer is set anew or stopped.
    pub(super) fn on_timeout(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        match self {
            Recovery::NewReno(newreno) => newreno.on_timeout(tcb, now, params),
            Recovery::Sack(sack) => sack.on_timeout(tcb, now, params),
            Recovery::Rack(rack) => rack.on_timer(tcb, now, params),
            Recovery::Ns2Reno(reno) => reno.on_timeout(tcb, now, params),
            Recovery::Ns2Sack(sack) => sack.on_timeout(tcb, now, params),
        }
    }

    /// Returns the number of the next segment to send now, `None` if window, pacing or data allow
    /// none. The caller sends it and reports it by [`Recovery::on_sent`] before the next call.
    #[inline]
    pub(super) fn next_segment(&mut self, tcb: &mut Tcb, now: Time, params: &Params) -> Option<u32> {
        match self {
            Recovery::NewReno(newreno) => newreno.next_segment(tcb, params),
            Recovery::Sack(sack) => sack.next_segment(tcb, params),
            Recovery::Rack(rack) => rack.next_segment(tcb, now, params),
            Recovery::Ns2Reno(reno) => reno.next_segment(tcb, params),
            Recovery::Ns2Sack(sack) => sack.next_segment(tcb, params),
        }
    }

    /// Passes the handshake's round-trip time, the first of the connection, to RACK; other kinds
    /// ignore it.
    pub(super) fn on_handshake(&mut self, rtt: Dur) {
        if let Recovery::Rack(rack) = self {
            rack.on_handshake(rtt);
        }
    }

    /// Checks, before a write of the application is counted, whether the application has limited
    /// the rate (RACK only).
    pub(super) fn on_write(&mut self, tcb: &mut Tcb) {
        if let Recovery::Rack(rack) = self {
            rack.check_app_limited(tcb);
        }
    }

    /// Records that the window restarts after an idle time (RACK only).
    pub(super) fn on_restart(&mut self, now: Time) {
        if let Recovery::Rack(rack) = self {
            rack.on_restart(now);
        }
    }

    /// Records that `seq` is sent, and starts the timer if need be; `was_idle` says that nothing
    /// was outstanding before.
    #[inline]
    pub(super) fn on_sent(&mut self, tcb: &mut Tcb, seq: u32, was_idle: bool, now: Time, params: &Params) {
        if let Recovery::Rack(rack) = self {
            return rack.on_sent(tcb, seq, now, params);
        }
        if was_idle || !tcb.timer.is_running() {
            tcb.timer.restart(now, params);
        }
        if let Recovery::Sack(sack) = self {
            sack.on_sent(tcb);
        }
    }
}
