//! The output scheduler and shaper of a sending host: a FIFO per connection, classes, colours, token buckets.
//!
//! Noureddine & Tobagi, "Improving the Performance of Interactive TCP Applications Using Service
//! Differentiation", section VI.B: classes in order (interactive, web, bulk), in each
//! the colours in order. Green and yellow packets need tokens for their bytes, red ones none. A colour that
//! lacks tokens in one class is blocked in the classes below, so that small packets there cannot starve the
//! ones that wait. Packets wait for tokens and are not demoted; only the head of a FIFO may leave.
//!
//! Within a class and colour connections take turns by packets. Deviation: their weights are equal, as in the
//! experiments. When the head whose turn it is lacks tokens, its colour waits, so that no connection of the
//! class is passed by smaller packets either. A packet larger than the burst waits for a full bucket and leaves a debt.

use super::classify::{Classifier, ClassifyBy};
use super::lists::Lists;
use super::packet_fifo::{Occupancy, PacketFifo};
use super::{Dequeued, Dropped};
use crate::drop_reason::DropReason;
use crate::flow::Flow;
use crate::packet::{Colour, Kind, Packet};
use crate::units::{Buffer, Time};
use mousehole_policy::{NEVER, Params, State};

const CLASSES: usize = 3;
const COLOURS: usize = 3;
const RED: usize = Colour::Red as usize;

/// The shaper of a user: a policy that decides when a packet has its tokens.
struct Shaper {
    params: Params,
    user: State,
    state: State,
}

impl Shaper {
    /// Takes the tokens of a packet; without enough, none is taken.
    ///
    /// # Errors
    /// The time at which there will be enough; [`Time::NEVER`] if there never will.
    fn take_tokens(&mut self, packet: &Packet, now: Time) -> Result<(), Time> {
        let policy = self.params.policy();
        match policy.shape(&self.params, &mut self.user, &mut self.state, &packet.view(), now.0) {
            0 => Ok(()),
            NEVER => Err(Time::NEVER),
            wait => Err(Time(now.0 + wait)),
        }
    }
}

/// A host's scheduler and shaper.
pub struct HostScheduler {
    limit: Buffer,
    /// Whether pure acknowledgements need no tokens.
    exempts_acks: bool,
    classifier: Classifier,
    /// By connection and direction.
    fifos: Vec<PacketFifo>,
    /// Connections by class and colour of their head, the one whose turn it is first.
    turns: Lists,
    shaper: Shaper,
    occupancy: Occupancy,
}

impl HostScheduler {
    /// Returns an empty queue with full buckets, shaped by a policy's parameters. Arrivals beyond `limit` are dropped.
    /// `exempts_acks` says whether pure acknowledgements need no tokens; the policy must say the same.
    ///
    /// # Panics
    /// When the policy does not shape.
    pub fn new(params: Params, exempts_acks: bool, limit: Buffer) -> HostScheduler {
        let policy = params.policy();
        assert!(policy.shapes(), "{} does not shape", policy.name());
        HostScheduler {
            limit,
            exempts_acks,
            classifier: Classifier::new(ClassifyBy::Class),
            fifos: Vec::new(),
            turns: Lists::new(CLASSES * COLOURS),
            shaper: Shaper { user: policy.new_flow(), state: policy.new_state(), params },
            occupancy: Occupancy::default(),
        }
    }

    /// Records the class of a new connection in `slot`. It must precede the connection's packets.
    pub fn open(&mut self, slot: u32, flow: &Flow) {
        self.classifier.open(slot, flow);
    }

    /// Returns the packets and bytes waiting.
    pub fn backlog(&self) -> (u32, u64) {
        (self.occupancy.packets, self.occupancy.bytes)
    }

    /// Stores an arrival at the end of its connection's FIFO, or adds it to `drops` if the user's
    /// buffer is full.
    pub fn enqueue(&mut self, packet: Packet, now: Time, drops: &mut Vec<Dropped>) {
        if self.occupancy.is_full_for(&packet, self.limit) {
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
        if self.turns.find_list(index as u32).is_none() {
            self.queue_for_turn(index as u32);
        }
    }

    /// Returns the next packet and takes its tokens, or the earliest time at which one has its
    /// tokens. [`Dequeued::Empty`] if none waits.
    pub fn dequeue(&mut self, now: Time) -> Dequeued {
        let mut ready = [Time::ZERO; COLOURS];
        for list in 0..CLASSES * COLOURS {
            let colour = list % COLOURS;
            let Some(index) = self.turns.first(list).filter(|_| ready[colour] == Time::ZERO) else {
                continue;
            };
            match self.take_tokens_for_head(index, colour, now) {
                Ok(()) => return self.pop_head(index),
                Err(time) => ready[colour] = time,
            }
        }
        match ready.into_iter().filter(|time| *time > Time::ZERO).min() {
            Some(time) => Dequeued::WaitUntil(time),
            None => Dequeued::Empty,
        }
    }

    /// Takes the tokens of the head of FIFO `index`, if its colour needs any; errors are those of
    /// [`Shaper::take_tokens`].
    fn take_tokens_for_head(&mut self, index: u32, colour: usize, now: Time) -> Result<(), Time> {
        match self.fifos[index as usize].head() {
            Some(head) if colour != RED => self.shaper.take_tokens(head, now),
            _ => Ok(()),
        }
    }

    /// Removes and returns the head of FIFO `index`, whose connection then queues for its next
    /// turn; [`Dequeued::Empty`] if there is none.
    fn pop_head(&mut self, index: u32) -> Dequeued {
        let Some((packet, at)) = self.fifos[index as usize].pop() else { return Dequeued::Empty };
        self.occupancy.remove(&packet);
        self.queue_for_turn(index);
        Dequeued::Packet(packet, at)
    }

    /// Appends a connection to the list of the class and colour of its head; removes one without
    /// packets from its list.
    fn queue_for_turn(&mut self, index: u32) {
        match self.fifos[index as usize].head() {
            Some(head) => {
                let is_free = self.exempts_acks && head.kind == Kind::Ack;
                let colour = if is_free { RED } else { head.colour.index() };
                self.turns.push(self.classifier.classify(head) * COLOURS + colour, index);
            }
            None => self.turns.remove(index),
        }
    }
}
