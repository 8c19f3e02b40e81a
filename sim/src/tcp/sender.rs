//! The sending end: window, loss recovery, retransmission timer.
//!
//! Told acknowledgements ([`Sender::handle_ack`]) and time ([`Sender::handle_timeout`]); asked what to
//! send ([`Sender::poll_transmit`], until it answers `None`) and when to be woken
//! ([`Sender::poll_timeout`]). `una`, `nxt`, `max`, `recover` are exclusive segment numbers: `una` is
//! the first unacknowledged segment, `max` one more than the highest ever sent.
//!
//! Recovery by selective acknowledgement is in `sack.rs`.

use super::extras::Extras;
use super::profile::{Opening, Params, Variant};
use super::receiver::AckFields;
use super::rtt::Estimator;
use super::sack::Scoreboard;
use crate::units::{Dur, Time};

/// What last reduced the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    None,
    /// Fast retransmit; recovery is not over.
    FastRetransmit,
    /// Fast retransmit, and recovery is over.
    Recovered,
    Timeout,
    Ecn,
}

/// A segment to put on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit {
    /// Segment number.
    pub seq: u32,
    /// Sent before.
    pub retransmission: bool,
    /// Sent in fast recovery.
    pub in_recovery: bool,
    /// Tells the receiver that the window was reduced (RFC 3168 section 6.1.2).
    pub cwr: bool,
}

/// Sender state of one connection.
#[derive(Debug, Clone)]
pub struct Sender {
    pub(super) una: u32,
    pub(super) nxt: u32,
    pub(super) max: u32,
    pub(super) end: u32,
    pub(super) cwnd: f64,
    pub(super) ssthresh: f64,
    pub(super) dupacks: u32,
    /// Window inflation by duplicate ACKs in recovery.
    pub(super) dupwnd: u32,
    pub(super) recover: u32,
    pub(super) cut: Cut,
    pub(super) partial_seen: bool,
    pub(super) initial_window: u32,
    /// Segments that may be sent until the next input; recovery limits bursts.
    pub(super) burst: u32,
    /// Retransmission that goes out before anything else.
    pub(super) forced: Option<u32>,
    pub(super) limited: bool,
    /// Segments that limited transmit has sent for the present duplicate ACKs.
    pub(super) limited_sent: u32,
    /// The present acknowledgement echoes a congestion mark.
    pub(super) echoed: bool,
    /// One segment at a time is timed (Karn): its number plus one, and when it was sent.
    pub(super) timed: u32,
    pub(super) timed_at: Time,
    pub(super) timing: bool,
    pub(super) rto: Estimator,
    pub(super) deadline: Time,
    pub(super) last_sent: Time,
    pub(super) cwr_pending: bool,
    pub(super) ecn_recover: u32,
    pub(super) board: Scoreboard,
    pub(super) extras: Option<Box<Extras>>,
    pub(super) retransmits: u32,
    pub(super) timeouts: u32,
}

impl Sender {
    /// A sender with nothing to send yet; `phase` is the phase of its clock tick.
    pub fn new(params: &Params, phase: Dur) -> Sender {
        let initial_window = params.initial_window;
        let cwnd = if params.opening == Opening::OneWaySyn { 1 } else { initial_window };
        Sender {
            una: 0,
            nxt: 0,
            max: 0,
            end: 0,
            cwnd: f64::from(cwnd),
            ssthresh: params.initial_ssthresh.map_or(f64::INFINITY, f64::from),
            dupacks: 0,
            dupwnd: 0,
            recover: u32::from(!params.rfc5681),
            cut: Cut::None,
            partial_seen: false,
            initial_window,
            burst: 0,
            forced: None,
            limited: false,
            limited_sent: 0,
            echoed: false,
            timed: 0,
            timed_at: Time::ZERO,
            timing: false,
            rto: Estimator::new(phase),
            deadline: Time::NEVER,
            last_sent: Time::ZERO,
            cwr_pending: false,
            ecn_recover: 0,
            board: Scoreboard::default(),
            extras: None,
            retransmits: 0,
            timeouts: 0,
        }
    }

    /// The handshake gave a round-trip sample from `sent` to `now`, or its packets were sent `again` so often.
    pub fn handshake_sample(&mut self, sent: Time, now: Time, again: u8, params: &Params) {
        if again == 0 {
            self.rto.sample(sent, now, params);
            return;
        }
        self.rto.after_syn_loss();
        // RFC 6928 section 2: one may be due to a long round trip; more are a loss, and the window is one segment.
        if again > 1 {
            self.cwnd = 1.0;
        }
    }

    /// The application adds `segments` to send.
    pub fn write(&mut self, segments: u32, now: Time, params: &Params) {
        let idle = now.since(self.last_sent);
        if self.una == self.max && self.max > 0 {
            self.rest_cubic(idle, params);
            if params.idle_restart && idle > self.rto.rto(params) {
                self.cwnd = self.cwnd.min(f64::from(self.initial_window));
            }
        }
        self.end += segments;
        self.burst = u32::MAX;
    }

    /// When the retransmission timer fires; [`Time::NEVER`] if it does not run.
    pub fn poll_timeout(&self) -> Time {
        self.deadline
    }

    /// Whether everything written has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.una >= self.end
    }

    /// First unacknowledged segment.
    pub fn una(&self) -> u32 {
        self.una
    }

    /// One more than the highest segment ever sent.
    pub fn sent_below(&self) -> u32 {
        self.max
    }

    /// Congestion window in segments.
    pub fn cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Retransmitted segments and timeouts so far.
    pub fn losses(&self) -> (u32, u32) {
        (self.retransmits, self.timeouts)
    }

    /// Takes an acknowledgement.
    pub fn handle_ack(&mut self, ack: &AckFields, now: Time, params: &Params) {
        self.burst = 0;
        self.limited = false;
        if ack.next > self.max || ack.next < self.una {
            return;
        }
        self.echoed = params.ecn && ack.ece;
        if self.echoed {
            self.handle_echo(ack.next, params);
        }
        if params.variant == Variant::Sack {
            return match (params.rack, params.prr) {
                (true, _) => self.handle_by_rack(ack, now, params),
                (false, true) => self.handle_sack_in_proportion(ack, now, params),
                (false, false) => self.handle_sack(ack, now, params),
            };
        }
        if ack.next == self.una {
            self.handle_duplicate(now, params);
        } else if params.variant == Variant::Newreno
            && self.cut == Cut::FastRetransmit
            && ack.next < self.recover
        {
            self.handle_partial(ack.next, now, params);
        } else {
            self.handle_new(ack.next, now, params);
        }
    }

    /// The retransmission timer fired.
    pub fn handle_timeout(&mut self, now: Time, params: &Params) {
        if params.rack {
            return self.handle_alarm(now, params);
        }
        self.dupacks = 0;
        self.dupwnd = 0;
        if self.una == self.max {
            if params.timer_runs_when_idle {
                self.cwnd = 1.0;
                self.restart_timer(now, params);
            } else {
                self.deadline = Time::NEVER;
            }
            return;
        }
        self.timeouts += 1;
        let repeated =
            params.rfc5681 && self.cut == Cut::Timeout && self.una < self.recover && self.nxt <= self.una + 1;
        if !repeated {
            self.ssthresh = self.reduced_by_timeout(params);
        }
        if self.una == 0 && params.first_loss_shrinks_iw {
            self.initial_window = 1;
        }
        self.recover = self.max;
        self.cwnd = 1.0;
        self.cut = Cut::Timeout;
        self.note_reduction(params);
        self.rto.back_off(params);
        self.nxt = self.una;
        self.timing = false;
        self.board.clear(self.una);
        self.board.is_deaf = true;
        self.restart_timer(now, params);
        self.burst = u32::MAX;
    }

    /// The next segment to send now, if any.
    #[inline]
    pub fn poll_transmit(&mut self, now: Time, params: &Params) -> Option<Transmit> {
        let seq = match self.forced.take() {
            Some(forced) => forced,
            None => self.next_segment(params)?,
        };
        Some(self.emit(seq, now, params))
    }

    /// Number of the next segment that the window and recovery allow.
    #[inline]
    fn next_segment(&mut self, params: &Params) -> Option<u32> {
        if params.rack {
            return self.next_by_rack(params);
        }
        if params.variant == Variant::Sack && self.cut == Cut::FastRetransmit {
            return if params.rfc5681 { self.next_by_sack(params) } else { self.next_by_ns2_sack(params) };
        }
        if self.burst == 0 && !self.limited {
            return None;
        }
        if params.rfc5681 {
            self.nxt = self.board.skip_sacked(self.nxt);
        }
        // Limited transmit is for data never sent before (RFC 3042), not for what a timeout sends again.
        let is_again = self.limited && self.burst == 0 && params.rfc5681 && self.nxt < self.max;
        if is_again || self.nxt >= self.end || self.nxt >= self.una + self.allowed(params) {
            return None;
        }
        self.burst = self.burst.saturating_sub(1);
        self.limited_sent += u32::from(self.limited);
        self.limited = false;
        self.nxt += 1;
        Some(self.nxt - 1)
    }

    /// Segments past `una` that may be in flight.
    fn allowed(&self, params: &Params) -> u32 {
        if self.limited {
            ((self.cwnd + f64::from(self.dupacks)) as u32).min(params.receive_window)
        } else {
            self.window(params) as u32
        }
    }

    pub(super) fn window(&self, params: &Params) -> f64 {
        let receive = f64::from(params.receive_window);
        (self.cwnd.min(receive) + f64::from(self.dupwnd)).min(receive)
    }

    fn handle_new(&mut self, next: u32, now: Time, params: &Params) {
        let recovered = self.cut == Cut::FastRetransmit;
        if self.dupwnd > 0 {
            self.dupwnd = 0;
            if recovered {
                self.cut = Cut::Recovered;
            }
        }
        self.partial_seen = false;
        let acked = next - self.una;
        let flight = self.nxt.max(next) - self.una;
        let was_first = self.una == 0;
        self.advance(next, now, params);
        if recovered && params.rfc5681 {
            self.cwnd = self.ssthresh.min(f64::from((self.nxt - self.una).max(1) + 1));
        } else {
            self.open_window(acked, flight, now, params);
        }
        if was_first && next == 1 && params.opening == Opening::OneWaySyn {
            self.open_after_syn();
        }
        self.burst = u32::MAX;
    }

    /// Accounts for the cumulative acknowledgement: RTT sample, timer, counters.
    pub(super) fn advance(&mut self, next: u32, now: Time, params: &Params) {
        self.una = next;
        self.nxt = self.nxt.max(next);
        self.dupacks = 0;
        self.limited_sent = 0;
        if self.timing && next >= self.timed {
            self.rto.end_backoff();
            self.timing = false;
            self.rto.sample(self.timed_at, now, params);
        }
        self.restart_or_stop_timer(now, params);
    }

    pub(super) fn restart_or_stop_timer(&mut self, now: Time, params: &Params) {
        if self.una < self.max || params.timer_runs_when_idle {
            self.restart_timer(now, params);
        } else {
            self.deadline = Time::NEVER;
        }
    }

    pub(super) fn count_duplicate(&mut self) -> u32 {
        self.dupacks += 1;
        self.dupacks
    }

    pub(super) fn limit_transmit(&mut self) {
        self.limited = true;
    }

    pub(super) fn send_freely(&mut self) {
        self.burst = u32::MAX;
    }

    pub(super) fn force(&mut self, seq: u32) {
        self.forced = Some(seq);
        self.timing = false;
    }

    pub(super) fn restart_timer(&mut self, now: Time, params: &Params) {
        self.deadline = now + self.rto.rto(params);
    }

    #[inline]
    fn emit(&mut self, seq: u32, now: Time, params: &Params) -> Transmit {
        let retransmission = seq < self.max;
        let was_idle = self.una == self.max;
        if retransmission {
            self.retransmits += 1;
            self.timing &= !params.rfc5681;
        } else {
            self.max = seq + 1;
            if !self.timing {
                self.timing = true;
                if seq + 1 > self.timed {
                    self.timed = seq + 1;
                    self.timed_at = now;
                }
            }
        }
        if params.rack {
            self.note_sent(seq, now, params);
        } else if self.deadline == Time::NEVER || was_idle {
            self.restart_timer(now, params);
        }
        if params.prr && self.cut == Cut::FastRetransmit {
            self.extras().prr.out += 1;
        }
        self.last_sent = now;
        let cwr = !retransmission && std::mem::take(&mut self.cwr_pending);
        Transmit { seq, retransmission, in_recovery: self.cut == Cut::FastRetransmit, cwr }
    }
}
