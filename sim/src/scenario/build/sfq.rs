//! Builds stochastic fairness queueing.

use crate::queue::{self, Queue, Sfq};
use crate::rng::{Purpose, Stream};
use crate::scenario::link_context::LinkContext;
use crate::scenario::values::Values;
use crate::units::Dur;

/// Returns the queue of stochastic fairness queueing; `perturb` is in seconds, 0 for a constant
/// hash. The hash is drawn from the context's seed.
pub(super) fn build_sfq(values: &Values, context: LinkContext) -> Queue {
    let perturb_s = values.number("perturb");
    let params = queue::sfq::Params {
        flows: values.count("flows"),
        divisor: values.count("divisor"),
        depth: values.count("depth"),
        limit: values.buffer("limit"),
        quantum: values.count("quantum"),
        perturb: (perturb_s > 0.0).then(|| Dur::from_secs(perturb_s)),
    };
    let hash = Stream::new(context.seed, Purpose::Hash, context.link).draw_at(0);
    Queue::Sfq(Box::new(Sfq::new(params, hash)))
}
