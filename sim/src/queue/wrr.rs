//! Weighted multi-queue: FIFOs by class or colour that share the link's bytes by weight.
//!
//! Deficit round robin (Shreedhar & Varghese, "Efficient Fair Queueing using Deficit Round Robin", SIGCOMM
//! 1995) with quanta proportional to the weights, the smallest one 1500 bytes so that each visit sends.
//! The multi-queue baseline of Noureddine & Tobagi, section V: Telnet in a queue of its own with weight w.
//! Work-conserving; what a queue does not use goes to the others by weight.

use super::classify::{Classifier, ClassifyBy};
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
    /// The property by which packets are classified.
    pub by: ClassifyBy,
    /// One to three queues, best first; the last also takes what is worse.
    pub children: Vec<Child>,
}

/// A child queue and its deficit counter.
struct DeficitQueue {
    fifo: Fifo,
    quantum: i64,
    deficit: i64,
}

/// A weighted multi-queue.
pub struct Wrr {
    classifier: Classifier,
    children: Vec<DeficitQueue>,
    turn: usize,
    /// The child whose turn it is has had its quantum.
    has_quantum: bool,
    /// The child whose packet is, or was last, in transmission.
    last: Option<usize>,
}

/// Bytes of the smallest quantum.
const SMALLEST: f64 = 1500.0;

impl Wrr {
    /// Returns an empty queue; at least one child is needed.
    pub fn new(params: Params) -> Wrr {
        assert!(!params.children.is_empty(), "a weighted multi-queue needs a child");
        let least = params.children.iter().map(|child| child.weight).fold(f64::INFINITY, f64::min);
        let child = |child: Child| DeficitQueue {
            fifo: Fifo::new(child.limit, child.policy),
            quantum: (SMALLEST * child.weight / least).round() as i64,
            deficit: 0,
        };
        Wrr {
            classifier: Classifier::new(params.by),
            children: params.children.into_iter().map(child).collect(),
            turn: 0,
            has_quantum: false,
            last: None,
        }
    }

    /// Notifies the queue that a new connection has `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.classifier.open(slot, flow);
    }

    /// Returns whether it keeps state per connection, so that `open` must be called for every new one.
    pub fn is_flow_aware(&self) -> bool {
        self.classifier.is_flow_aware()
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&mut self, now: Time) -> (u32, u64) {
        let each = self.children.iter_mut().map(|child| child.fifo.backlog(now));
        each.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    }

    /// Queues or drops an arrival; dropped packets go into `drops`.
    pub fn enqueue(&mut self, packet: Packet, now: Time, rng: &mut Stream, drops: &mut Vec<Dropped>) {
        let index = self.classifier.index(&packet).min(self.children.len() - 1);
        self.children[index].fifo.enqueue(packet, now, rng, drops);
    }

    /// Returns the next packet.
    pub fn dequeue(&mut self, now: Time) -> Dequeued {
        self.note_idle(now);
        if self.children.iter().all(|child| child.fifo.head().is_none()) {
            return Dequeued::Empty;
        }
        loop {
            let had_quantum = std::mem::replace(&mut self.has_quantum, true);
            let child = &mut self.children[self.turn];
            if !had_quantum {
                child.deficit += child.quantum;
            }
            match child.fifo.head().map(|head| i64::from(head.bytes)) {
                Some(bytes) if bytes <= child.deficit => {
                    child.deficit -= bytes;
                    self.last = Some(self.turn);
                    return child.fifo.dequeue(now);
                }
                Some(_) => {}
                // An empty queue keeps no deficit.
                None => child.deficit = 0,
            }
            self.turn = (self.turn + 1) % self.children.len();
            self.has_quantum = false;
        }
    }

    /// Notes the start of idle time. A FIFO is idle from the moment at which its last packet was sent: the
    /// first call after that finds it empty.
    fn note_idle(&mut self, now: Time) {
        if let Some(index) = self.last.take()
            && self.children[index].fifo.head().is_none()
        {
            self.children[index].fifo.dequeue(now);
        }
    }
}
