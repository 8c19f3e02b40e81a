//! A sender under RACK-TLP: what it does with losses that [`super::rack`] finds, and tail loss probes
//! (RFC 8985 section 7).
//!
//! One timer serves three ends: to look again when the reordering window has passed, to probe when
//! acknowledgements have stopped, and the retransmission timeout. What the common path of the sender calls
//! stays out of line, so that senders without RACK do not pay for it.

use super::profile::Params;
use super::prr::Delivery;
use super::rack::Rack;
use super::receiver::AckFields;
use super::sender::{CaState, Sender};
use crate::units::{Dur, Time};

/// Longest delay of an acknowledgement to reckon with when one segment is out (section 7.2).
const ACK_DELAY: Dur = Dur::from_millis(200);
/// Probe timeout before any sample (section 7.2).
const FIRST_PROBE: Dur = Dur::from_millis(1000);

/// What the sender's timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Alarm {
    #[default]
    Timeout,
    Probe,
    Reordering,
}

/// A probe that is out.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// One more than the highest segment sent when it went out (`TLP.end_seq`).
    end: u32,
    is_retransmission: bool,
}

/// Timers and the probe of one connection.
#[derive(Debug, Clone)]
pub(super) struct Tail {
    alarm: Alarm,
    /// When the retransmission timeout is due.
    timeout: Time,
    /// When to look for losses again.
    reordering_due: Time,
    probe: Option<Probe>,
    /// A probe went out, and no round-trip time was measured since.
    awaits_sample: bool,
}

impl Default for Tail {
    fn default() -> Tail {
        let (alarm, probe) = (Alarm::Timeout, None);
        Tail { alarm, timeout: Time::NEVER, reordering_due: Time::NEVER, probe, awaits_sample: false }
    }
}

impl Sender {
    fn rack(&mut self) -> &mut Rack {
        &mut self.extras().rack
    }

    /// An acknowledgement.
    #[inline(never)]
    pub(super) fn handle_by_rack(&mut self, ack: &AckFields, now: Time, params: &Params) {
        let (una, flight) = (self.una, self.nxt - self.una);
        let before = self.rack().delivered();
        let summary = self.rack().take(ack, now);
        let has_advanced = ack.next > una;
        if has_advanced {
            self.advance(ack.next, now, params);
        }
        self.extras().tail.awaits_sample &= !summary.has_sample;
        self.end_probe(ack, summary.has_blocks, has_advanced, params);
        let was_recovering = self.in_recovery();
        if was_recovering && self.una >= self.recover {
            self.leave_recovery();
        }
        let lost = self.find_losses(now, params);
        if has_advanced && !was_recovering && !self.in_recovery() {
            self.open_window(ack.next - una, flight, now, params);
        }
        if params.prr {
            let (news, in_flight) = (summary.delivered, self.rack().in_flight);
            let is_safe = has_advanced && lost == 0;
            self.reduce_in_proportion(Delivery { before, news, in_flight, is_safe });
        }
        self.set_alarm(has_advanced, now, params);
        self.send_freely();
    }

    /// Marks losses; the first of a window starts recovery, in which a probe is forgotten (section 7.1).
    fn find_losses(&mut self, now: Time, params: &Params) -> u32 {
        let (is_repairing, srtt) = (self.is_repairing(), self.smoothed(params));
        let (lost, reordering_due) = self.rack().detect(now, is_repairing, srtt);
        self.extras().tail.reordering_due = reordering_due;
        if lost > 0 && !is_repairing {
            self.enter_recovery(params);
            self.extras().tail.probe = None;
            if !params.prr {
                self.forced = self.rack().next_lost();
            }
        }
        lost
    }

    /// In fast recovery, or sending again after a timeout.
    fn is_repairing(&self) -> bool {
        self.in_recovery() || (self.ca_state == CaState::Loss && self.una < self.recover)
    }

    /// The smoothed round-trip time; none after a far backoff has forgotten it.
    fn smoothed(&self, params: &Params) -> Option<Dur> {
        self.rto.srtt(params).filter(|srtt| *srtt > Dur::ZERO)
    }

    /// What to send next: what is lost, else new data, while the pipe has room.
    #[inline(never)]
    pub(super) fn next_by_rack(&mut self, params: &Params) -> Option<u32> {
        let (end, nxt, limit) = (self.end, self.nxt, self.una.saturating_add(params.receive_window));
        let cwnd = self.cwnd;
        let rack = self.rack();
        if f64::from(rack.in_flight) + 1.0 > cwnd {
            return None;
        }
        if let Some(seq) = rack.next_lost() {
            return Some(seq);
        }
        if nxt < end && nxt < limit {
            self.nxt += 1;
            return Some(nxt);
        }
        None
    }

    /// A segment goes out: its time is noted, and new data puts off the probe.
    #[inline(never)]
    pub(super) fn note_sent(&mut self, seq: u32, now: Time, params: &Params) {
        self.rack().send(seq, now);
        self.set_alarm(false, now, params);
    }

    /// The timer fired.
    #[inline(never)]
    pub(super) fn handle_alarm(&mut self, now: Time, params: &Params) {
        self.send_freely();
        if self.una == self.max {
            self.deadline = Time::NEVER;
            return;
        }
        match self.extras().tail.alarm {
            Alarm::Reordering => {
                let was_recovering = self.in_recovery();
                self.find_losses(now, params);
                if params.prr && !was_recovering {
                    // No acknowledgement pays for the fast retransmit.
                    let (before, in_flight) = (self.rack().delivered(), self.rack().in_flight);
                    self.reduce_in_proportion(Delivery { before, news: 1, in_flight, is_safe: false });
                }
                self.set_alarm(false, now, params);
            }
            Alarm::Probe => self.send_probe(now, params),
            Alarm::Timeout => self.time_out_by_rack(now, params),
        }
    }

    /// Section 7.3: a new segment if there is one, else the last one again.
    fn send_probe(&mut self, now: Time, params: &Params) {
        let has_new = self.nxt < self.end && self.nxt < self.una.saturating_add(params.receive_window);
        let seq = if has_new { self.nxt } else { self.max - 1 };
        self.nxt = self.nxt.max(seq + 1);
        let (probe, timeout) =
            (Probe { end: self.nxt, is_retransmission: !has_new }, now + self.rto.rto(params));
        let tail = &mut self.extras().tail;
        (tail.probe, tail.timeout, tail.awaits_sample) = (Some(probe), timeout, true);
        self.forced = Some(seq);
        self.set_alarm(false, now, params);
        self.burst = 0;
    }

    /// Section 7.4.2: whether the probe repaired a loss, which then costs what any loss costs.
    fn end_probe(&mut self, ack: &AckFields, has_blocks: bool, has_advanced: bool, params: &Params) {
        let Some(probe) = self.extras().tail.probe.filter(|probe| ack.next >= probe.end) else { return };
        let is_plain_duplicate = !has_advanced && !has_blocks;
        if !probe.is_retransmission || is_plain_duplicate {
            self.extras().tail.probe = None;
        } else if ack.next > probe.end {
            self.extras().tail.probe = None;
            if !self.in_recovery() {
                self.halve(params);
                self.note_reduction(params);
            }
        }
    }

    /// RFC 6298 section 5 with RFC 8985 section 6.3: what was delivered stays known.
    fn time_out_by_rack(&mut self, now: Time, params: &Params) {
        self.timeouts += 1;
        if !self.is_repairing() {
            self.ssthresh = self.reduced_by_timeout(params);
        }
        self.recover = self.max;
        self.cwnd = 1.0;
        self.ca_state = CaState::Loss;
        self.note_reduction(params);
        self.rto.back_off(params);
        self.timing = false;
        let srtt = self.smoothed(params);
        self.rack().time_out(now, srtt);
        let timeout = now + self.rto.rto(params);
        let awaits_sample = self.extras().tail.awaits_sample;
        self.extras().tail = Tail { timeout, awaits_sample, ..Tail::default() };
        self.forced = Some(self.una);
        self.set_alarm(false, now, params);
    }

    /// Sets the one timer to what is due first; an ACK that advances restarts the retransmission timeout.
    fn set_alarm(&mut self, has_advanced: bool, now: Time, params: &Params) {
        let (rto, probe_in) = (self.rto.rto(params), self.probe_timeout(params));
        let is_idle = self.una == self.max;
        let may_probe = !self.is_repairing();
        let extras = self.extras();
        let (rack, tail) = (&extras.rack, &mut extras.tail);
        if is_idle {
            *tail = Tail { probe: tail.probe, awaits_sample: tail.awaits_sample, ..Tail::default() };
        } else if has_advanced || tail.timeout == Time::NEVER {
            tail.timeout = now + rto;
        }
        // Section 7.3: one probe at a time, and a round-trip time measured between two.
        let may_probe =
            may_probe && !is_idle && tail.probe.is_none() && !tail.awaits_sample && rack.is_clean();
        let (alarm, due) = if tail.reordering_due < tail.timeout {
            (Alarm::Reordering, tail.reordering_due)
        } else if may_probe {
            (Alarm::Probe, (now + probe_in).min(tail.timeout))
        } else {
            (Alarm::Timeout, tail.timeout)
        };
        tail.alarm = alarm;
        self.deadline = due;
    }

    /// Section 7.2: two round trips, and the longest delay of an acknowledgement if it may be delayed.
    fn probe_timeout(&self, params: &Params) -> Dur {
        let Some(srtt) = self.smoothed(params) else { return FIRST_PROBE };
        if self.max - self.una == 1 { srtt + srtt + ACK_DELAY } else { srtt + srtt }
    }
}
