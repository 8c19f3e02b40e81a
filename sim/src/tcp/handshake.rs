//! The side that opens a connection: its SYN, its request for each write, and their retransmissions.
//!
//! SYN and requests are single packets with a separate retransmission timeout. The answer (a SYN-ACK, any data of
//! the requested write, or an ACK of the request) acknowledges them. The answering side needs no timer: it
//! answers a repeated SYN again, and its own timer would fire at the same instant.

use super::profile::Params;
use super::rtt::Estimator;
use crate::packet::Kind;
use crate::units::{Dur, Time};

/// The answer that is outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Nothing,
    SynAck,
    Write(u32),
}

/// State of the opening side of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Handshake {
    waiting: Waiting,
    transmissions: u8,
    sent: Time,
    deadline: Time,
    rto: Estimator,
}

impl Default for Handshake {
    /// Returns the state before the SYN.
    fn default() -> Self {
        Handshake {
            waiting: Waiting::Nothing,
            transmissions: 0,
            sent: Time::ZERO,
            deadline: Time::NEVER,
            rto: Estimator::new(Dur::ZERO),
        }
    }
}

impl Handshake {
    /// Returns when [`Handshake::handle_timeout`] is due; [`Time::NEVER`] if no answer is outstanding.
    pub fn poll_timeout(&self) -> Time {
        self.deadline
    }

    /// Returns when the last SYN or request was sent, the first time or again; [`Time::ZERO`]
    /// before any.
    pub fn sent_at(&self) -> Time {
        self.sent
    }

    /// Returns how often the last SYN or request was retransmitted; 0 before any.
    pub fn repeats(&self) -> u8 {
        self.transmissions.saturating_sub(1)
    }

    /// Opens the connection and starts the timer; returns the SYN to send, as kind and number.
    pub fn open(&mut self, now: Time, params: &Params) -> (Kind, u32) {
        self.waiting = Waiting::SynAck;
        self.transmit(now, params)
    }

    /// Ends the wait for a SYN-ACK; returns `false` if none was awaited, which changes nothing. The
    /// SYN's round-trip time is sampled unless it was repeated without time stamps (RFC 6298
    /// section 3).
    pub fn handle_syn_ack(&mut self, now: Time, params: &Params) -> bool {
        if self.waiting != Waiting::SynAck {
            return false;
        }
        if self.transmissions == 1 || params.timestamps {
            self.rto.sample(self.sent, now, params);
        } else {
            self.rto.note_syn_loss();
        }
        self.rto.end_backoff();
        self.end_wait();
        true
    }

    /// Requests write `number` and starts the timer; returns the packet to send, as kind and
    /// number.
    pub fn request(&mut self, number: u32, now: Time, params: &Params) -> (Kind, u32) {
        self.waiting = Waiting::Write(number);
        self.transmissions = 0;
        self.transmit(now, params)
    }

    /// Ends the wait for write `number`: its data, or an acknowledgement of its request, has
    /// arrived. An answer to an earlier write changes nothing.
    pub fn handle_answer_to(&mut self, number: u32) {
        if matches!(self.waiting, Waiting::Write(requested) if number >= requested) {
            self.rto.end_backoff();
            self.end_wait();
        }
    }

    /// Handles the timer's expiry: doubles the timeout, except for the first timeouts of a SYN
    /// where the profile says so, and restarts the timer. Returns the packet to retransmit, `None`
    /// if no answer is outstanding.
    pub fn handle_timeout(&mut self, now: Time, params: &Params) -> Option<(Kind, u32)> {
        if self.waiting == Waiting::Nothing {
            self.deadline = Time::NEVER;
            return None;
        }
        let is_linear = self.waiting == Waiting::SynAck && self.transmissions <= params.linear_syn_timeouts;
        if !is_linear {
            self.rto.back_off(params);
        }
        Some(self.transmit(now, params))
    }

    /// Records a transmission at `now` and sets the retransmission deadline. Returns the packet's
    /// kind and the number of its write, 0 for a SYN.
    fn transmit(&mut self, now: Time, params: &Params) -> (Kind, u32) {
        self.transmissions = self.transmissions.saturating_add(1);
        self.sent = now;
        self.deadline = now + self.rto.rto(params);
        match self.waiting {
            Waiting::Write(number) => (Kind::Request, number),
            _ => (Kind::Syn, 0),
        }
    }

    /// Stops the timer, since the answer has arrived.
    fn end_wait(&mut self) {
        self.waiting = Waiting::Nothing;
        self.deadline = Time::NEVER;
    }
}
