//! Builds the ideals.

use crate::queue::srpt::{Params, Rank};
use crate::queue::{Queue, Srpt, Unshared};
use crate::scenario::values::Values;

pub(super) fn build_srpt(values: &Values) -> Queue {
    make_srpt(Rank::Remaining, values)
}

pub(super) fn build_las(values: &Values) -> Queue {
    make_srpt(Rank::Attained, values)
}

pub(super) fn empty() -> Queue {
    Queue::Unshared(Unshared::default())
}

fn make_srpt(rank: Rank, values: &Values) -> Queue {
    Queue::Srpt(Box::new(Srpt::new(Params { rank, limit: values.buffer("limit") })))
}
