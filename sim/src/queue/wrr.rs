//! Weighted multi-queue: FIFOs by class or colour that share the link's bytes by weight.
//!
//! Deficit round robin (Shreedhar & Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM
//! 1995) with quanta proportional to the weights, the smallest one 1500 bytes so that each visit sends.
//! The multi-queue baseline of Noureddine & Tobagi, section V: Telnet in a queue of its own with weight w.
//! Work-conserving; what a queue does not use goes to the others by weight.

use super::classify::{By, Classifier};
use super::{Dequeued, Dropped, Fifo, Policy};
use crate::flow::Flow;
use crate::packet::Packet;
use crate::rng::Stream;
use crate::units::{Buffer, Time};

/// One of the queues.
pub struct Child {
    /// Share of the link's bytes, in any unit; above 0.
    pub weight: f64,
    /// Limit of the queue.
    pub limit: Buffer,
    /// Its drop policy.
    pub policy: Policy,
}

/// Parameters.
pub struct Params {
    /// What packets are sorted by.
    pub by: By,
    /// One to three queues, best first; the last also takes what is worse.
    pub children: Vec<Child>,
}

struct Lot {
    fifo: Fifo,
    quantum: i64,
    deficit: i64,
}

/// A weighted multi-queue.
pub struct Wrr {
    classifier: Classifier,
    lots: Vec<Lot>,
    turn: usize,
    /// The lot whose turn it is has had its quantum.
    granted: bool,
    /// The lot whose packet is, or was last, in transmission.
    last: Option<usize>,
}

/// Bytes of the smallest quantum.
const SMALLEST: f64 = 1500.0;

impl Wrr {
    /// An empty queue; at least one child is needed.
    pub fn new(params: Params) -> Wrr {
        assert!(!params.children.is_empty(), "a weighted multi-queue needs a child");
        let least = params.children.iter().map(|child| child.weight).fold(f64::INFINITY, f64::min);
        let lot = |child: Child| Lot {
            fifo: Fifo::new(child.limit, child.policy),
            quantum: (SMALLEST * child.weight / least).round() as i64,
            deficit: 0,
        };
        Wrr {
            classifier: Classifier::new(params.by),
            lots: params.children.into_iter().map(lot).collect(),
            turn: 0,
            granted: false,
            last: None,
        }
    }

    /// A connection took over `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.classifier.open(slot, flow);
    }

    /// Whether it must be told of every connection.
    pub fn knows_flows(&self) -> bool {
        self.classifier.knows_flows()
    }

    /// Packets and bytes waiting.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        let each = self.lots.iter_mut().map(|lot| lot.fifo.backlog(now));
        each.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    /// Takes an arrival.
    pub fn enqueue(&mut self, packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Dropped>) {
        let index = self.classifier.index(&packet).min(self.lots.len() - 1);
        self.lots[index].fifo.enqueue(packet, now, rng, drops);
    }

    /// Gives the next packet.
    pub fn dequeue(&mut self, now: Time) -> Dequeued {
        self.note_idle(now);
        if self.lots.iter().all(|lot| lot.fifo.head().is_none()) {
            return Dequeued::Empty;
        }
        loop {
            let granted = std::mem::replace(&mut self.granted, true);
            let lot = &mut self.lots[self.turn];
            if !granted {
                lot.deficit += lot.quantum;
            }
            match lot.fifo.head().map(|head| i64::from(head.bytes)) {
                Some(bytes) if bytes <= lot.deficit => {
                    lot.deficit -= bytes;
                    self.last = Some(self.turn);
                    return lot.fifo.dequeue(now);
                }
                Some(_) => {}
                // An empty queue saves nothing up.
                None => lot.deficit = 0,
            }
            self.turn = (self.turn + 1) % self.lots.len();
            self.granted = false;
        }
    }

    /// A FIFO is idle from when its last packet was sent: the first call after that finds it empty.
    fn note_idle(&mut self, now: Time) {
        if let Some(index) = self.last.take()
            && self.lots[index].fifo.head().is_none()
        {
            self.lots[index].fifo.dequeue(now);
        }
    }
}
