//! The opening side: SYN, and the request for each write, with their retransmissions.
//!
//! The opener's SYN and requests are single packets with an RTO of their own; the answer (SYN-ACK,
//! or any data of the requested write) acknowledges them. The answering side needs no timer: it
//! answers a repeated SYN again, and its own timer would fire at the same instant.

use super::profile::Params;
use super::rtt::Estimator;
use crate::packet::Kind;
use crate::units::{Dur, Time};

/// What the opener is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Nothing,
    SynAck,
    Write(u32),
}

/// State of the opening side of one connection.
#[derive(Debug, Clone, Copy)]
pub struct Opener {
    waiting: Waiting,
    established: bool,
    tries: u8,
    sent: Time,
    deadline: Time,
    rto: Estimator,
}

impl Default for Opener {
    fn default() -> Self {
        Opener {
            waiting: Waiting::Nothing,
            established: false,
            tries: 0,
            sent: Time::ZERO,
            deadline: Time::NEVER,
            rto: Estimator::new(Dur::ZERO),
        }
    }
}

impl Opener {
    /// When a SYN or request must be repeated.
    pub fn poll_timeout(&self) -> Time {
        self.deadline
    }

    /// Whether the handshake is over.
    pub fn is_established(&self) -> bool {
        self.established
    }

    /// When the SYN or request now waiting for its answer was last sent.
    pub fn sent(&self) -> Time {
        self.sent
    }

    /// How often the packet now waiting for its answer was sent again.
    pub fn repeats(&self) -> u8 {
        self.tries.saturating_sub(1)
    }

    /// Sends the SYN.
    pub fn open(&mut self, now: Time, params: &Params) -> (Kind, u32) {
        self.waiting = Waiting::SynAck;
        self.transmit(now, params)
    }

    /// A SYN-ACK came; `false` if it is a repeated one.
    pub fn handle_syn_ack(&mut self, now: Time, params: &Params) -> bool {
        if self.waiting != Waiting::SynAck {
            return false;
        }
        if self.tries == 1 {
            self.rto.sample(self.sent, now, params);
        } else {
            self.rto.after_syn_loss();
        }
        self.rto.end_backoff();
        self.established = true;
        self.settle();
        true
    }

    /// Asks for write `number`.
    pub fn request(&mut self, number: u32, now: Time, params: &Params) -> (Kind, u32) {
        self.waiting = Waiting::Write(number);
        self.tries = 0;
        self.transmit(now, params)
    }

    /// Data of write `number` came: its request has arrived.
    pub fn handle_data_of(&mut self, number: u32) {
        if matches!(self.waiting, Waiting::Write(asked) if number >= asked) {
            self.rto.end_backoff();
            self.settle();
        }
    }

    /// The timer fired: what to send again.
    pub fn handle_timeout(&mut self, now: Time, params: &Params) -> Option<(Kind, u32)> {
        if self.waiting == Waiting::Nothing {
            self.deadline = Time::NEVER;
            return None;
        }
        self.rto.back_off(params);
        Some(self.transmit(now, params))
    }

    fn transmit(&mut self, now: Time, params: &Params) -> (Kind, u32) {
        self.tries = self.tries.saturating_add(1);
        self.sent = now;
        self.deadline = now + self.rto.rto(params);
        match self.waiting {
            Waiting::Write(number) => (Kind::Request, number),
            _ => (Kind::Syn, 0),
        }
    }

    fn settle(&mut self) {
        self.waiting = Waiting::Nothing;
        self.deadline = Time::NEVER;
    }
}
