//! The output scheduler and shaper of a sending host: a FIFO per connection, classes, colours, token buckets.
//!
//! Noureddine & Tobagi, "Improving the Performance of Interactive TCP Applications Using Service
//! Differentiation", section VI.B: classes in order (interactive, web, bulk), in each
//! the colours in order. Green and yellow packets need tokens for their bytes, red ones none. A colour that
//! lacks tokens in one class is blocked in the classes below, so that small packets there cannot starve the
//! ones that wait. Packets wait for tokens, they are not demoted; only the head of a FIFO may go.
//!
//! Within a class and colour connections take turns by packets. Deviation: their weights are equal, as in the
//! experiments. When the head whose turn it is lacks tokens, its colour waits, so that no connection of the
//! class is passed by smaller packets either. A packet larger than the burst takes a full bucket.

use super::classify::{By, Classifier};
use super::lists::Lists;
use super::packet_fifo::{Occupancy, PacketFifo};
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::packet::{Colour, Kind, Packet};
use crate::units::{Buffer, Time};
use mousehole_policy::{ParamError, token_bucket};

/// Parameters; the defaults are the profiles of the paper's TCP-state experiments.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Params {
    /// Tokens of green packets, in bytes.
    pub green: token_bucket::Spec,
    /// Tokens of yellow packets, in bytes.
    pub yellow: token_bucket::Spec,
    /// Pure acknowledgements need no tokens.
    pub exempt_acks: bool,
    /// Arrivals beyond this are dropped.
    pub limit: Buffer,
}

impl Default for Params {
    /// 250 kb/s and 500 kb/s with bursts of 6000 bytes; acknowledgements exempt; 1000 packets.
    fn default() -> Params {
        Params {
            green: token_bucket::Spec::bytes(250e3, 6000),
            yellow: token_bucket::Spec::bytes(500e3, 6000),
            exempt_acks: true,
            limit: Buffer::Packets(1000),
        }
    }
}

const CLASSES: usize = 3;
const COLOURS: usize = 3;
const RED: usize = Colour::Red as usize;

struct Bucket {
    params: token_bucket::Params,
    state: token_bucket::State,
    burst: u32,
}

impl Bucket {
    fn new(name: &str, spec: &token_bucket::Spec) -> Result<Bucket, ParamError> {
        let named = |error: ParamError| ParamError { field: format!("{name}.{}", error.field), ..error };
        if spec.rate == 0.0 {
            let allowed = "1 to 100000000000 bytes/s, for a shaper without tokens never sends".to_string();
            return Err(ParamError { field: format!("{name}.rate"), value: "0".into(), allowed });
        }
        let params = token_bucket::Params::new(spec).map_err(named)?;
        Ok(Bucket { params, state: token_bucket::State::default(), burst: spec.burst })
    }

    /// Takes the tokens of a packet.
    ///
    /// # Errors
    /// The time at which there will be enough tokens, if there are not.
    fn take_tokens(&mut self, packet: &Packet, now: Time) -> Result<(), Time> {
        let tokens = u32::from(packet.bytes).min(self.burst);
        if token_bucket::packet(&self.params, &mut self.state, tokens, now.0) {
            return Ok(());
        }
        let wait = token_bucket::wait_ns(&self.params, &self.state, tokens);
        Err(wait.map_or(Time::NEVER, |wait| Time(now.0 + wait)))
    }
}

/// A host's scheduler and shaper.
pub struct HostScheduler {
    params: Params,
    classifier: Classifier,
    /// By connection and direction.
    fifos: Vec<PacketFifo>,
    /// Connections by class and colour of their head, the one whose turn it is first.
    turns: Lists,
    buckets: [Bucket; 2],
    occupancy: Occupancy,
}

impl HostScheduler {
    /// Returns an empty queue with full buckets.
    ///
    /// # Errors
    /// [`ParamError`] naming the field that is out of range, such as `green.rate`.
    pub fn new(params: Params) -> Result<HostScheduler, ParamError> {
        Ok(HostScheduler {
            classifier: Classifier::new(By::Class),
            fifos: Vec::new(),
            turns: Lists::new(CLASSES * COLOURS),
            buckets: [Bucket::new("green", &params.green)?, Bucket::new("yellow", &params.yellow)?],
            occupancy: Occupancy::default(),
            params,
        })
    }

    /// Notifies the queue that a new connection has `slot`.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.classifier.open(slot, flow);
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        (self.occupancy.packets, self.occupancy.bytes)
    }

    /// Queues or drops an arrival; dropped packets go into `drops`.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        if self.occupancy.is_full_for(&packet, self.params.limit) {
            drops.push(Dropped { packet, reason: DropReason::Forced });
            return;
        }
        let index = packet.flow as usize * 2 + usize::from(packet.is_reverse());
        if index >= self.fifos.len() {
            self.fifos.resize_with(index + 1, PacketFifo::default);
            self.turns.reserve(index + 1);
        }
        self.occupancy.add(&packet);
        self.fifos[index].push(packet, now);
        if self.turns.list_of(index as u32).is_none() {
            self.take_turn(index as u32);
        }
    }

    /// Returns the next packet, or the time at which one has its tokens.
    pub fn dequeue(&mut self, now: Time) -> Dequeued {
        let mut ready = [Time::ZERO; COLOURS];
        for list in 0..CLASSES * COLOURS {
            let colour = list % COLOURS;
            let Some(index) = self.turns.first(list).filter(|_| ready[colour] == Time::ZERO) else {
                continue;
            };
            match self.try_tokens(index, colour, now) {
                Ok(()) => return self.send(index),
                Err(time) => ready[colour] = time,
            }
        }
        match ready.into_iter().filter(|time| *time > Time::ZERO).min() {
            Some(time) => Dequeued::WaitUntil(time),
            None => Dequeued::Empty,
        }
    }

    /// Takes the tokens of the head of a connection's FIFO, or returns when there will be enough.
    fn try_tokens(&mut self, index: u32, colour: usize, now: Time) -> Result<(), Time> {
        match (self.buckets.get_mut(colour), self.fifos[index as usize].head()) {
            (Some(bucket), Some(head)) => bucket.take_tokens(head, now),
            _ => Ok(()),
        }
    }

    /// Removes and returns the head of a connection's FIFO.
    fn send(&mut self, index: u32) -> Dequeued {
        let Some((packet, at)) = self.fifos[index as usize].pop() else { return Dequeued::Empty };
        self.occupancy.remove(&packet);
        self.take_turn(index);
        Dequeued::Packet(packet, at)
    }

    /// Appends a connection to the list of the class and colour of its head, or removes it if it has no packets.
    fn take_turn(&mut self, index: u32) {
        match self.fifos[index as usize].head() {
            Some(head) => {
                let is_free = self.params.exempt_acks && head.kind == Kind::Ack;
                let colour = if is_free { RED } else { head.colour.index() };
                self.turns.push(self.classifier.index(head) * COLOURS + colour, index);
            }
            None => self.turns.remove(index),
        }
    }
}
