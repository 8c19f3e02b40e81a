//! Loss recovery by RACK-TLP (RFC 8985): the response to losses that [`super::rack`] detects, and tail loss
//! probes (section 7).
//!
//! As in Linux, and in no RFC, the retransmission timeout starts anew when the first segment is sent again, and
//! with every segment delivered that left before. Otherwise it would fire where a retransmission is lost, one round
//! trip before RACK can detect that.
//!
//! One timer serves four purposes: to detect losses when the reordering window has passed, to send a probe when
//! acknowledgements have stopped, the retransmission timeout, and pacing. The functions that every packet calls are not
//! inlined, so that senders without RACK do not pay for them.

use super::pacer::Pacer;
use super::prr::{Delivery, Prr};
use super::rack::{DeliveredRtt, Rack};
use super::window_use::WindowUse;
use crate::tcp::congestion::{ModelAck, RttSample};
use crate::tcp::linux_rtt::LinuxRtt;
use crate::tcp::profile::{Congestion, Params};
use crate::tcp::receiver::AckFields;
use crate::tcp::tcb::Tcb;
use crate::tcp::timer::expiry_time;
use crate::units::{Dur, Time};

/// Longest delay of an acknowledgement that is expected when one segment is outstanding (section 7.2).
const MAX_ACK_DELAY: Dur = Dur::from_millis(200);
/// Probe timeout before any round-trip sample (section 7.2).
const INITIAL_PROBE_TIMEOUT: Dur = Dur::from_millis(1000);

/// Time that Linux adds to the timers of reordering and of probes (`TCP_TIMEOUT_MIN_US`).
const TIMER_ALLOWANCE: Dur = Dur::from_millis(2);

/// The purpose for which the timer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TimerKind {
    #[default]
    Retransmission,
    Probe,
    Reordering,
    Pacing,
}

/// A tail loss probe that is outstanding.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// One more than the highest segment sent when it went out (`TLP.end_seq`).
    end: u32,
    is_retransmission: bool,
}

/// State of one connection.
#[derive(Debug, Clone)]
pub(in crate::tcp) struct RackTlp {
    rack: Rack,
    prr: Prr,
    timer: TimerKind,
    /// When the retransmission timeout is due.
    timeout: Time,
    /// When the reordering window has passed for segments that may be lost.
    reordering_due: Time,
    probe: Option<Probe>,
    /// A probe went out, and no round-trip time was measured since.
    awaits_sample: bool,
    rtt: LinuxRtt,
    window_use: WindowUse,
    /// A segment went out since sending stopped last.
    has_sent: bool,
    /// Present where congestion control paces.
    pacer: Option<Pacer>,
}

impl RackTlp {
    /// Returns the state of a connection that has sent nothing; with BBR it paces and samples
    /// delivery rates.
    pub(super) fn new(params: &Params) -> RackTlp {
        let paces = params.congestion == Congestion::Bbr;
        RackTlp {
            rack: Rack::new(paces),
            prr: Prr::default(),
            timer: TimerKind::Retransmission,
            timeout: Time::NEVER,
            reordering_due: Time::NEVER,
            probe: None,
            awaits_sample: false,
            rtt: LinuxRtt::default(),
            window_use: WindowUse::default(),
            has_sent: false,
            pacer: paces.then(Pacer::default),
        }
    }

    /// Handles an ACK of everything below `ack.next`: round-trip time, loss detection by RACK, end
    /// of a probe or of recovery, window growth, BBR's model, and the next timer.
    #[inline(never)]
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, ack: &AckFields, now: Time, params: &Params) {
        self.check_app_limited(tcb);
        let una = tcb.sequence.una();
        let was_after_timeout = tcb.is_after_timeout();
        let before = self.rack.delivered();
        let summary = self.rack.on_ack(ack, now);
        let has_advanced = ack.next > una;
        if has_advanced {
            tcb.sequence.advance(ack.next);
            tcb.clock.end_duplicates();
            tcb.timer.end_backoff();
        }
        self.sample_rtt(tcb, &summary.rtt, now, params);
        if was_after_timeout && !tcb.is_after_timeout() {
            tcb.congestion.end_timeout_repair();
        }
        self.awaits_sample &= !summary.has_sample;
        self.end_probe(tcb, ack, has_advanced || summary.has_blocks, params);
        let was_recovering = tcb.in_recovery();
        if was_recovering && ack.next >= tcb.recovery_point() {
            tcb.leave_recovery_at_ssthresh();
        }
        let lost = self.find_losses(tcb, now, params);
        // In Linux the acknowledgement that ends recovery counts already towards the next growth.
        if has_advanced && (!was_recovering || params.hystart) && !tcb.in_recovery() {
            let flight = if self.window_use.is_used(tcb) { u32::MAX } else { 0 };
            tcb.open_window(summary.delivered, flight, now, params);
        }
        if params.prr {
            let (delivered, in_flight) = (summary.delivered, self.rack.in_flight());
            let is_safe = has_advanced && lost == 0;
            self.prr.on_ack(tcb, Delivery { before, delivered, in_flight, is_safe });
        }
        if self.pacer.is_some() {
            self.update_model(tcb, summary.delivered, summary.rtt.last_rtt(), now);
        }
        let restarts = has_advanced || self.sacks_older_segment(&summary.rtt, now);
        self.set_timer(tcb, restarts, now, params);
    }

    /// Returns whether an acknowledgement SACKs a segment that left before the first unacknowledged
    /// one was retransmitted: it does not show the fate of that retransmission yet (Linux's
    /// `FLAG_SET_XMIT_TIMER`).
    fn sacks_older_segment(&self, shown: &DeliveredRtt, now: Time) -> bool {
        let sent = self.rack.first_retransmitted_at();
        shown.first_sacked_rtt().zip(sent).is_some_and(|(rtt, sent)| rtt > now.since(sent))
    }

    /// Handles the expiry of the timer: pacing, reordering, probe or retransmission, by what it was
    /// set for, and sets it anew. If nothing is outstanding it is stopped.
    #[inline(never)]
    pub(super) fn on_timer(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        if let Some(pacer) = self.pacer.as_mut().filter(|_| self.timer == TimerKind::Pacing) {
            pacer.end_wait();
        }
        if tcb.sequence.is_idle() {
            return tcb.timer.stop();
        }
        self.check_app_limited(tcb);
        match self.timer {
            TimerKind::Pacing => self.set_timer(tcb, false, now, params),
            TimerKind::Reordering => self.on_reordering_timer(tcb, now, params),
            TimerKind::Probe => self.send_probe(tcb, now, params),
            TimerKind::Retransmission => self.on_retransmission_timeout(tcb, now, params),
        }
    }

    /// Returns the next segment while the window has room and pacing allows it: a lost one, or else
    /// new data; `None` otherwise. When sending stops, the use of the window is recorded; where
    /// pacing forbids it, the timer is set.
    #[inline(never)]
    pub(super) fn next_segment(&mut self, tcb: &mut Tcb, now: Time, params: &Params) -> Option<u32> {
        let is_limit = f64::from(self.rack.in_flight()) + 1.0 > tcb.congestion.cwnd();
        let mut next = None;
        if !is_limit && self.may_send(tcb, now, params) {
            let has_data = tcb.sequence.has_data_within(params.receive_window);
            next = self.rack.next_lost().or_else(|| has_data.then(|| tcb.sequence.take_next()));
        }
        if next.is_none() && (self.has_sent || is_limit) {
            self.has_sent = false;
            self.window_use.on_stopped(tcb, is_limit, now, params);
        }
        next
    }

    /// Records the handshake's round-trip time.
    pub(super) fn on_handshake(&mut self, rtt: Dur) {
        self.rack.on_handshake(rtt);
    }

    /// Records that the window restarts after an idle time: its use counts from `now` on.
    pub(super) fn on_restart(&mut self, now: Time) {
        self.window_use.on_restart(now);
    }

    /// Records that a segment is sent, in pacer, RACK and PRR, and sets the timer; new data delays
    /// the probe. A probe of new data is sent out of turn, so that the next segment in order is the
    /// one after it.
    #[inline(never)]
    pub(super) fn on_sent(&mut self, tcb: &mut Tcb, seq: u32, now: Time, params: &Params) {
        if self.pacer.is_some() {
            self.pace_segment(tcb, now, params);
        }
        self.rack.on_sent(seq, now);
        self.has_sent = true;
        // Every segment is timed here.
        tcb.timer.cancel_timing();
        tcb.sequence.skip_to(seq + 1);
        let is_first_again = seq == tcb.sequence.una() && self.rack.first_retransmitted_at().is_some();
        self.set_timer(tcb, is_first_again, now, params);
        if tcb.in_recovery() {
            self.prr.on_sent();
        }
    }

    /// Checks whether the application leaves the path without data, and marks the rate samples if
    /// so (draft-ietf-ccwg-bbr-06 section 4.1.2.4). Without rate samples nothing happens.
    pub(super) fn check_app_limited(&mut self, tcb: &Tcb) {
        let in_flight = self.rack.in_flight();
        let is_unused = f64::from(in_flight) < tcb.congestion.cwnd().floor() && self.rack.lost() == 0;
        if let Some(rate) = &mut self.rack.rate
            && is_unused
            && !tcb.sequence.has_unsent()
        {
            rate.mark_app_limited(in_flight);
        }
    }

    /// Passes an acknowledgement and the losses before it to BBR's model of the path, which sets
    /// the window; without BBR it does nothing.
    #[inline(never)]
    fn update_model(&mut self, tcb: &mut Tcb, newly_acked: u32, rtt: Option<Dur>, now: Time) {
        self.report_losses(tcb, now);
        let is_window_limit = self.window_use.is_used(tcb);
        let (in_flight, min_rtt) = (self.rack.in_flight(), self.rack.min_rtt());
        let (Some(rate), Some(bbr)) = (&mut self.rack.rate, tcb.congestion.bbr()) else { return };
        let sample = rate.sample(min_rtt);
        let delivered = rate.delivered();
        let ack = ModelAck { now, rtt, newly_acked, in_flight, delivered, is_window_limit, rate: sample };
        if bbr.on_model_ack(&ack) {
            rate.mark_app_limited(in_flight);
        }
    }

    /// Reports the segments newly marked lost to BBR; without BBR it does nothing.
    fn report_losses(&mut self, tcb: &mut Tcb, now: Time) {
        let (Some(rate), Some(bbr)) = (&mut self.rack.rate, tcb.congestion.bbr()) else { return };
        for lost in rate.take_losses() {
            bbr.on_lost(&lost, rate.delivered(), now);
        }
    }

    /// Returns whether pacing allows a segment to be sent now; if one must wait, the timer is set
    /// to that time. Without pacing, or without data, nothing forbids it.
    fn may_send(&mut self, tcb: &mut Tcb, now: Time, params: &Params) -> bool {
        let has_data = tcb.sequence.has_data_within(params.receive_window) || self.rack.lost() > 0;
        let Some(pacer) = self.pacer.as_mut().filter(|_| has_data) else { return true };
        let srtt = tcb.timer.srtt(params);
        let Some(bbr) = tcb.congestion.bbr() else { return true };
        let (_, quantum) = bbr.pacing(srtt, now);
        let is_open = pacer.try_open(quantum, now);
        if !is_open {
            self.set_timer(tcb, false, now, params);
        }
        is_open
    }

    /// Records in pacer and model that a segment is sent; after an idle time the model restarts.
    /// Without BBR it does nothing.
    #[inline(never)]
    fn pace_segment(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let srtt = tcb.timer.srtt(params);
        let (Some(pacer), Some(rate), Some(bbr)) = (&mut self.pacer, &self.rack.rate, tcb.congestion.bbr())
        else {
            return;
        };
        let (pacing_rate, _) = bbr.pacing(srtt, now);
        if self.rack.in_flight() == 0 && rate.is_app_limited() {
            bbr.restart_from_idle(rate.delivered(), now);
        }
        pacer.on_sent(pacing_rate, now);
    }

    /// Passes the round-trip times that an acknowledgement shows to the estimator and to congestion
    /// control; an acknowledgement may show none.
    fn sample_rtt(&mut self, tcb: &mut Tcb, shown: &DeliveredRtt, now: Time, params: &Params) {
        let (una, nxt) = (tcb.sequence.una(), tcb.sequence.nxt());
        if let Some(rtt) = shown.first_rtt() {
            self.rtt.sample(rtt, (una, nxt), &mut tcb.timer, params);
        }
        if let Some(rtt) = shown.last_rtt() {
            tcb.congestion.on_rtt(&RttSample { rtt, una, nxt, now });
        }
    }

    /// Marks losses, sets when the reordering timer is due, and returns how many losses there are.
    /// The first of a window starts recovery, which reduces the window and forgets an outstanding
    /// probe (section 7.1).
    fn find_losses(&mut self, tcb: &mut Tcb, now: Time, params: &Params) -> u32 {
        let is_repairing = is_repairing(tcb);
        let (lost, due) = self.rack.detect_losses(now, is_repairing, smoothed_rtt(tcb, params));
        self.reordering_due = match due {
            Time::NEVER => due,
            due => expiry_time(now, due.since(now) + timer_allowance(params), params.timer_tick),
        };
        if lost > 0 && !is_repairing {
            tcb.enter_recovery(tcb.congestion.cwnd(), params);
            self.prr = Prr::default();
            self.probe = None;
            if !params.prr
                && let Some(seq) = self.rack.next_lost()
            {
                tcb.force_segment(seq);
            }
        }
        lost
    }

    /// Detects losses when the reordering window has passed, which may start recovery, and sets the
    /// timer.
    fn on_reordering_timer(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let was_recovering = tcb.in_recovery();
        self.find_losses(tcb, now, params);
        if params.prr && !was_recovering {
            // No acknowledgement pays for the fast retransmit, so it counts as one segment delivered.
            let (before, in_flight) = (self.rack.delivered(), self.rack.in_flight());
            self.prr.on_ack(tcb, Delivery { before, delivered: 1, in_flight, is_safe: false });
        }
        self.set_timer(tcb, false, now, params);
    }

    /// Sends a probe (section 7.3): a new segment if there is one, otherwise the last one again.
    /// The retransmission timeout starts anew.
    fn send_probe(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let has_new = tcb.sequence.has_data_within(params.receive_window);
        let seq = if has_new { tcb.sequence.nxt() } else { tcb.sequence.max() - 1 };
        self.probe = Some(Probe { end: tcb.sequence.nxt().max(seq + 1), is_retransmission: !has_new });
        self.timeout = expiry_time(now, tcb.timer.timeout(params), params.timer_tick);
        self.awaits_sample = true;
        tcb.force_segment(seq);
        self.set_timer(tcb, false, now, params);
    }

    /// Ends a probe that is acknowledged. If the probe repaired a loss (section 7.4.2), the window
    /// is reduced as for any loss. `is_news` says that the acknowledgement advances or has SACK
    /// blocks.
    fn end_probe(&mut self, tcb: &mut Tcb, ack: &AckFields, is_news: bool, params: &Params) {
        let Some(probe) = self.probe.filter(|probe| ack.next >= probe.end) else { return };
        if !probe.is_retransmission || !is_news {
            self.probe = None;
        } else if ack.next > probe.end {
            self.probe = None;
            if !tcb.in_recovery() {
                tcb.reduce_for_repaired_loss(tcb.congestion.cwnd(), params);
            }
        }
    }

    /// Handles a retransmission timeout (RFC 6298 section 5 with RFC 8985 section 6.3): the first
    /// unacknowledged segment goes out again, with a window of one more than is in flight.
    /// Deliveries reported so far are not forgotten.
    fn on_retransmission_timeout(&mut self, tcb: &mut Tcb, now: Time, params: &Params) {
        let flight = (!is_repairing(tcb)).then(|| tcb.congestion.cwnd());
        tcb.time_out(flight, params);
        self.rack.on_timeout(now, smoothed_rtt(tcb, params));
        // What is still in flight does not keep the first segment from going out (`tcp_enter_loss`).
        tcb.congestion.set_cwnd(f64::from(self.rack.in_flight() + 1));
        self.timeout = expiry_time(now, tcb.timer.timeout(params), params.timer_tick);
        (self.reordering_due, self.probe) = (Time::NEVER, None);
        tcb.force_segment(tcb.sequence.una());
        self.set_timer(tcb, false, now, params);
    }

    /// Sets the timer to the event that is due first: reordering, probe or retransmission, or
    /// pacing; with `restarts` the retransmission timeout starts anew. If nothing is outstanding
    /// only pacing may run it.
    fn set_timer(&mut self, tcb: &mut Tcb, restarts: bool, now: Time, params: &Params) {
        let is_idle = tcb.sequence.is_idle();
        if is_idle {
            (self.timeout, self.reordering_due) = (Time::NEVER, Time::NEVER);
        } else if restarts || self.timeout == Time::NEVER {
            self.timeout = expiry_time(now, tcb.timer.timeout(params), params.timer_tick);
        }
        let pacing_due = self.pacer.as_ref().map_or(Time::NEVER, Pacer::due);
        let (kind, due) = if self.reordering_due < self.timeout {
            (TimerKind::Reordering, self.reordering_due)
        } else if !is_idle && self.may_probe(tcb) {
            (
                TimerKind::Probe,
                expiry_time(now, probe_timeout(tcb, params), params.timer_tick).min(self.timeout),
            )
        } else {
            (TimerKind::Retransmission, self.timeout)
        };
        self.timer = kind;
        if pacing_due < due {
            self.timer = TimerKind::Pacing;
        }
        tcb.timer.set_deadline(due.min(pacing_due));
    }

    /// Returns whether a probe may be sent (section 7.3): one at a time, none in a repair, and only
    /// if a round-trip time was measured since the last one.
    fn may_probe(&self, tcb: &Tcb) -> bool {
        !is_repairing(tcb) && self.probe.is_none() && !self.awaits_sample && self.rack.is_clean()
    }
}

/// Returns the time that Linux adds to some timers; zero where timers are not Linux's.
fn timer_allowance(params: &Params) -> Dur {
    if params.timer_tick == Dur::ZERO { Dur::ZERO } else { TIMER_ALLOWANCE }
}

/// Returns whether fast recovery or the repair after a timeout is under way.
fn is_repairing(tcb: &Tcb) -> bool {
    tcb.in_recovery() || tcb.is_after_timeout()
}

/// Returns the smoothed round-trip time; `None` before any sample, or after a backoff so long that
/// it was forgotten.
fn smoothed_rtt(tcb: &Tcb, params: &Params) -> Option<Dur> {
    tcb.timer.srtt(params).filter(|srtt| *srtt > Dur::ZERO)
}

/// Returns the time until a probe (section 7.2): two round trips, plus the longest delay of an
/// acknowledgement if only one segment is outstanding, or else the timer allowance. Before any
/// sample it is [`INITIAL_PROBE_TIMEOUT`].
fn probe_timeout(tcb: &Tcb, params: &Params) -> Dur {
    let Some(srtt) = smoothed_rtt(tcb, params) else { return INITIAL_PROBE_TIMEOUT };
    let is_last = tcb.sequence.max() - tcb.sequence.una() == 1;
    srtt + srtt + if is_last { MAX_ACK_DELAY } else { timer_allowance(params) }
}
