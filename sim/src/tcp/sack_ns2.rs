//! Loss recovery by selective acknowledgement as ns-2's Sack1 does it (`oracle/semantics.md`; Fall & Floyd 1996).
//!
//! `pipe` is a plain counter: what was in flight less the duplicate ACKs at the start, one less for each
//! ACK and two for a partial one, one more for each segment sent. Holes go out before new data, however
//! few segments above them have arrived.

use super::profile::{Opening, Params};
use super::receiver::AckFields;
use super::sack::DUP_THRESH;
use super::sender::Sender;
use crate::units::Time;

impl Sender {
    /// An acknowledgement: enter, continue or leave recovery.
    pub(super) fn handle_ns2_sack(&mut self, ack: &AckFields, now: Time, params: &Params) {
        if self.in_recovery() {
            self.board.update(ack);
            self.recover_by_ns2_sack(ack.next, now, params);
        } else if ack.next > self.una {
            self.accept_by_ns2_sack(ack.next, now, params);
        } else if !self.board.ignores_sacks && self.una > 0 && self.board.update(ack) > 0 {
            // Before the first segment is acknowledged the scoreboard takes nothing in.
            self.count_ns2_duplicate(now, params);
        }
    }

    /// New segments are acknowledged outside recovery: what SACK had told is forgotten.
    fn accept_by_ns2_sack(&mut self, next: u32, now: Time, params: &Params) {
        let (acked, flight) = (next - self.una, self.nxt.max(next) - self.una);
        let syn_done = self.una == 0 && next == 1 && params.opening == Opening::OneWaySyn;
        self.advance(next, now, params);
        self.open_window(acked, flight, now, params);
        if syn_done {
            self.open_after_syn();
        }
        self.board.clear(next);
        self.board.ignores_sacks = false;
        self.send_freely();
    }

    fn count_ns2_duplicate(&mut self, now: Time, params: &Params) {
        let duplicates = self.count_duplicate();
        if duplicates == DUP_THRESH && self.may_fast_retransmit(params) {
            self.start_ns2_recovery(now, params);
        } else if duplicates < DUP_THRESH && params.limited_transmit {
            self.limit_transmit();
        }
    }

    /// Three duplicate ACKs with news: recovery starts.
    fn start_ns2_recovery(&mut self, now: Time, params: &Params) {
        let in_flight = i64::from(self.max - self.una);
        self.board.pipe = in_flight - i64::from(DUP_THRESH);
        self.enter_recovery(params);
        self.board.retransmit_from(self.una + 1);
        self.restart_timer(now, params);
        self.force(self.una);
    }

    /// An acknowledgement in recovery.
    fn recover_by_ns2_sack(&mut self, next: u32, now: Time, params: &Params) {
        self.send_freely();
        self.board.pipe -= 1;
        if next >= self.recover {
            self.advance(next, now, params);
            self.end_ns2_recovery();
        } else if next > self.una {
            self.board.pipe -= 1;
            self.una = next;
            self.nxt = self.nxt.max(next);
            self.board.retransmit_from(next);
            self.restart_timer(now, params);
        }
    }

    /// What to send while the pipe has room; the ACK that starts recovery sends one segment only.
    pub(super) fn next_by_ns2_sack(&mut self, params: &Params) -> Option<u32> {
        let is_open = self.burst > 0 && self.board.pipe < self.cwnd as i64;
        let seq = self.board.next_hole(self.una).unwrap_or(self.nxt);
        if !is_open || seq >= self.end || seq >= self.una + params.receive_window {
            return None;
        }
        self.board.retransmit_from(if seq < self.nxt { seq + 1 } else { 0 });
        self.nxt = self.nxt.max(seq + 1);
        self.board.pipe += 1;
        Some(seq)
    }
}
