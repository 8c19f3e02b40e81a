//! Ideals: the shortest remaining transfer first and the empty link, which nobody can deploy, and the least served first.

use super::super::catalogue::{SchemeDoc, unmarked};
use super::super::scheme::Place;
use crate::queue::srpt::{Params, Rank};
use crate::queue::{Queue, Srpt, Unshared};

pub const SRPT: SchemeDoc = SchemeDoc {
    name: "srpt",
    summary: "ideal: the transfer with the fewest segments left goes first; sizes must be known",
    source: "Schrage 1968",
    detail: "Every packet tells how much of its transfer is left. No queue can be faster on average for transfers of known \
             size; it bounds what any marker could gain. When the buffer is full the largest transfer loses.",
    parameters: &[],
    marker: unmarked,
    queue: |_, place| Ok(ranked(Rank::Remaining, place)),
    host: None,
};

pub const LAS: SchemeDoc = SchemeDoc {
    name: "las",
    summary: "the connection that has been served least goes first; no sizes needed",
    source: "Kleinrock 1976, foreground-background",
    detail: "Counts the packets served of every connection; the one with fewest goes first. Near srpt where most transfers \
             are short and few are long. A long connection of many short requests looks long: it has no idle timeout.",
    queue: |_, place| Ok(ranked(Rank::Attained, place)),
    ..SRPT
};

pub const EMPTY: SchemeDoc = SchemeDoc {
    name: "empty",
    summary: "ideal: the empty link; every connection has its whole rate to itself",
    source: "SHRED section 5.1, \"uncongested\"",
    detail: "Nobody waits for anybody and nothing is dropped: what remains is the path and TCP. It bounds what any scheme \
             could do for anyone. Together the connections may send more than the link carries, so its use can pass 100 %.",
    parameters: &[],
    marker: unmarked,
    queue: |_, _| Ok(Queue::Unshared(Unshared::default())),
    host: None,
};

fn ranked(rank: Rank, place: Place) -> Queue {
    Queue::Srpt(Box::new(Srpt::new(Params { rank, limit: place.buffer })))
}
