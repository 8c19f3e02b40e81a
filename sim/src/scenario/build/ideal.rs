//! Builds the queues of ideals, which cannot be deployed.

use crate::queue::srpt::{Params, Rank};
use crate::queue::{Queue, Srpt, Unshared};
use crate::scenario::values::Values;

/// Returns the queue that serves the flow with the fewest remaining segments first.
pub(super) fn build_srpt(values: &Values) -> Queue {
    build_ranking_queue(Rank::Remaining, values)
}

/// Returns the queue that serves the flow with the least attained service first.
pub(super) fn build_las(values: &Values) -> Queue {
    build_ranking_queue(Rank::Attained, values)
}

/// Returns the queue of a link that nobody shares, which has no parameters.
pub(super) fn build_empty() -> Queue {
    Queue::Unshared(Unshared::default())
}

/// Returns the queue that ranks flows by `rank`.
fn build_ranking_queue(rank: Rank, values: &Values) -> Queue {
    Queue::Srpt(Box::new(Srpt::new(Params { rank, limit: values.buffer("limit") })))
}
