//! A minimal FIFO and its transmitter, for the backlog that policies are called with.

use mousehole_policy::{Backlog, Colour, NEVER};
use std::collections::VecDeque;

/// A link of a fixed rate; the packet in transmission is not waiting.
pub struct Link {
    ns_per_byte: f64,
    waiting: VecDeque<(Colour, u32)>,
    free_at_ns: f64,
    pub backlog: Backlog,
}

/// A packet whose transmission started, and the backlog after it.
pub struct Departure {
    pub at_ns: u64,
    pub colour: Colour,
    pub after: Backlog,
}

impl Link {
    pub fn new(rate_bps: f64) -> Link {
        Link {
            ns_per_byte: 8e9 / rate_bps,
            waiting: VecDeque::new(),
            free_at_ns: 0.0,
            backlog: Backlog::default(),
        }
    }

    /// Starts every transmission that begins by `now_ns` and returns them in order.
    pub fn advance(&mut self, now_ns: u64) -> Vec<Departure> {
        let mut departures = Vec::new();
        while self.free_at_ns <= now_ns as f64 {
            let Some((colour, bytes)) = self.waiting.pop_front() else { break };
            self.backlog.remove(colour, bytes);
            departures.push(Departure { at_ns: self.free_at_ns as u64, colour, after: self.backlog });
            self.free_at_ns += f64::from(bytes) * self.ns_per_byte;
        }
        departures
    }

    /// Returns when the transmitter ran out of packets; [`NEVER`] while it sends.
    pub fn idle_since_ns(&self, now_ns: u64) -> u64 {
        if self.free_at_ns <= now_ns as f64 { self.free_at_ns as u64 } else { NEVER }
    }

    /// Queues a packet and returns the transmissions that begin by `now_ns`: an idle transmitter starts it at once.
    pub fn enqueue(&mut self, colour: Colour, bytes: u32, now_ns: u64) -> Vec<Departure> {
        self.free_at_ns =
            if self.waiting.is_empty() { self.free_at_ns.max(now_ns as f64) } else { self.free_at_ns };
        self.waiting.push_back((colour, bytes));
        self.backlog.add(colour, bytes);
        self.advance(now_ns)
    }
}
