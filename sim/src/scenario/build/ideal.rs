//! Builds the ideals.

use crate::queue::srpt::{Params, Rank};
use crate::queue::{Queue, Srpt, Unshared};
use crate::scenario::values::Values;

pub(super) fn srpt(values: &Values) -> Queue {
    ranked(Rank::Remaining, values)
}

pub(super) fn las(values: &Values) -> Queue {
    ranked(Rank::Attained, values)
}

pub(super) fn empty() -> Queue {
    Queue::Unshared(Unshared::default())
}

fn ranked(rank: Rank, values: &Values) -> Queue {
    Queue::Srpt(Box::new(Srpt::new(Params { rank, limit: values.buffer("limit") })))
}
