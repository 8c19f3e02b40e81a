//! Builds several physical queues: by colour under strict priority, and by application with weights.

use crate::error::Result;
use crate::queue::wrr::Child;
use crate::queue::{self, ClassifyBy, Dropper, Policy, Priority, Queue, Wrr};
use crate::scenario::link_context::LinkContext;
use crate::scenario::values::Values;
use mousehole_scheme::parts::multi_queue::reds;

pub(super) fn priority(values: &Values, context: LinkContext) -> Queue {
    strict_priority(values, context, vec![Policy::DropTail; values.count("colours") as usize])
}

pub(super) fn priority_red(values: &Values, context: LinkContext) -> Result<Queue> {
    let policy = |params| Policy::Dropper(Box::new(Dropper::new(params)));
    Ok(strict_priority(values, context, reds(values, context)?.into_iter().map(policy).collect()))
}

pub(super) fn wrr(values: &Values, context: LinkContext) -> Queue {
    let weight = values.number("weight");
    let child = |weight| Child { weight, limit: context.buffer, policy: Policy::DropTail };
    let children = vec![child(weight), child(100.0 - weight)];
    Queue::Wrr(Box::new(Wrr::new(queue::wrr::Params { by: ClassifyBy::Class, children })))
}

fn strict_priority(values: &Values, context: LinkContext, policies: Vec<Policy>) -> Queue {
    let children = policies.into_iter().map(|policy| (context.buffer, policy)).collect();
    let shared = values.flag("shared").then_some(context.buffer);
    let push_out = values.flag("pushout");
    Queue::Priority(Box::new(Priority::new(queue::priority::Params { children, shared, push_out })))
}
