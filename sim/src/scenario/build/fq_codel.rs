//! Builds FQ-CoDel.

use crate::queue::{FqCodel, Queue, fq_codel};
use crate::rng::{Purpose, Stream};
use crate::scenario::link_context::LinkContext;
use crate::scenario::values::Values;

pub(super) fn fq_codel(values: &Values, context: LinkContext) -> Queue {
    let params = fq_codel::Params {
        flows: values.count("flows"),
        quantum: values.count("quantum"),
        target: values.time("target"),
        interval: values.time("interval"),
        limit: values.buffer("limit"),
        ecn: values.flag("ecn"),
    };
    let hash = Stream::new(context.seed, Purpose::Hash, context.link).draw_at(0);
    Queue::FqCodel(Box::new(FqCodel::new(params, hash)))
}
