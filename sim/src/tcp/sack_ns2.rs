//! Loss recovery by selective acknowledgement as ns-2's Sack1 does it (`oracle/semantics.md`; Fall & Floyd 1996).
//!
//! `pipe` is a plain counter: what was in flight less the duplicate ACKs at the start, one less for each
//! ACK and two for a partial one, one more for each segment sent. Holes go out before new data.

use super::profile::Params;
use super::sack::DUP_THRESH;
use super::sender::Sender;
use crate::units::Time;

impl Sender {
    /// Three duplicate ACKs with news: recovery starts.
    pub(super) fn start_ns2_recovery(&mut self, now: Time, params: &Params) {
        let in_flight = i64::from(self.max - self.una);
        self.board.pipe = in_flight - i64::from(DUP_THRESH);
        self.enter_recovery(params);
        self.board.retransmit_from(self.una + 1);
        self.restart_timer(now, params);
        self.force(self.una);
    }

    /// An acknowledgement in recovery.
    pub(super) fn recover_by_ns2_sack(&mut self, next: u32, now: Time, params: &Params) {
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

    /// What to send while the pipe has room.
    pub(super) fn next_by_ns2_sack(&mut self, params: &Params) -> Option<u32> {
        if self.board.pipe >= self.cwnd as i64 {
            return None;
        }
        let seq = match self.board.next_lost(self.una) {
            Some(hole) => {
                self.board.retransmit_from(hole + 1);
                hole
            }
            None if self.nxt < self.end && self.nxt < self.una + params.receive_window => {
                self.nxt += 1;
                self.nxt - 1
            }
            None => return None,
        };
        self.board.pipe += 1;
        Some(seq)
    }
}
