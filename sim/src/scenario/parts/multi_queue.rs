//! Several physical queues: strict priority by colour, and a weighted multi-queue by application.

use crate::error::Result;
use crate::queue::wrr::Child;
use crate::queue::{ClassifyBy, Dropper, Policy, Priority, Queue, Wrr, priority, wrr};
use crate::scenario::install::line::Install;
use crate::scenario::link_context::LinkContext;
use crate::scenario::native_part::{Build, NativePart, Order};
use crate::scenario::values::Values;
use mousehole_policy::{Kind, Parameter};
use mousehole_policy::{Params, find};

pub static PRIORITY: NativePart = NativePart {
    name: "priority",
    summary: "a drop-tail queue for each colour under strict priority",
    source: "prio of tc; PIAS",
    detail: "A worse colour is served when no better one waits, so that it may starve, and a flow that changes colour may \
             be reordered. The queues share the link's buffer, or each has as much. A full shared buffer drops the newest \
             packet of the worst colour in it: otherwise packets that nobody serves would lock out better ones.",
    parameters: || own_parameters().to_vec(),
    build: Build::Queue(
        |values, context| {
            strict_priority(values, context, vec![Policy::DropTail; values.count("colours") as usize])
        },
        |_| true,
    ),
    order: Order::Several,
    install: Install::Classes(|values| {
        values
            .flag("shared")
            .then_some("each class has a buffer of its own, so nothing is shared or pushed out")
    }),
};

pub static PRIORITY_RED: NativePart = NativePart {
    name: "priority-red",
    summary: "a queue with RED for each colour under strict priority",
    source: "SFD Figure 4 (b); LFP section 2",
    detail: "As priority, and each queue drops early by a RED of its own. The lines are multi-red's.",
    parameters: || {
        let lines = find("multi-red").expect("multi-RED is shipped").parameters().iter().copied();
        own_parameters().into_iter().chain(lines.filter(|one| is_of_red(one.name))).collect()
    },
    build: Build::Queue(
        |values, context| strict_priority(values, context, lines(values, context)?),
        |_| true,
    ),
    order: Order::Several,
    install: Install::Classes(|values| {
        Some(match values.flag("shared") {
            true => {
                "each class drops what does not fit a buffer of its own: no RED, and nothing is shared or pushed out"
            }
            false => "each class drops what does not fit its buffer: no RED",
        })
    }),
};

pub static WRR: NativePart = NativePart {
    name: "wrr",
    summary: "interactive traffic in a queue of its own with a share of the link, all else in another",
    source: "Noureddine & Tobagi, section V",
    detail: "Two drop-tail FIFOs share the link's bytes by weight, each with the link's buffer; what one does not use the \
             other has.",
    parameters: || {
        let meaning = "share of the link for interactive traffic, % (the paper: 5 to 30)";
        let weight = Parameter::new("weight", Kind::Percent, "20", meaning, "Noureddine & Tobagi, section V");
        vec![weight.with_range(0.1, 99.9)]
    },
    build: Build::Queue(weighted, |_| false),
    order: Order::Several,
    install: Install::Nothing("shares the link by application, for which nothing here makes classes"),
};

/// Returns whether a parameter is of the queues' REDs: those of multi-RED but for the coupling.
fn is_of_red(name: &str) -> bool {
    !["colours", "mode", "shared", "pushout"].contains(&name)
}

fn own_parameters() -> [Parameter; 3] {
    [
        Parameter::new("colours", Kind::Count, "3", "how many queues; worse colours share the last", "ours")
            .with_range(1.0, 3.0),
        Parameter::new(
            "shared",
            Kind::Flag,
            "true",
            "the queues share the link's buffer, or each has as much",
            "ours: the same memory as with virtual queues",
        ),
        Parameter::new(
            "pushout",
            Kind::Flag,
            "true",
            "a full shared buffer drops the newest packet of the worst colour in it, not the arrival",
            "ours: else low priority locks out high; full_buffer.h",
        ),
    ]
}

fn strict_priority(values: &Values, context: LinkContext, policies: Vec<Policy>) -> Result<Queue> {
    let children = policies.into_iter().map(|policy| (context.buffer, policy)).collect();
    let shared = values.flag("shared").then_some(context.buffer);
    let push_out = values.flag("pushout");
    if shared.is_none() && push_out && values.is_given("pushout") {
        return Err(values.refuse("pushout", "false, as shared is false: each queue has a buffer of its own"));
    }
    Ok(Queue::Priority(Box::new(Priority::new(priority::Params { children, shared, push_out }))))
}

/// Returns a RED for each colour: multi-RED's parameters begin with one line of RED per colour.
fn lines(values: &Values, context: LinkContext) -> Result<Vec<Policy>> {
    let (multi_red, red) = (find("multi-red").expect("shipped"), find("red").expect("shipped"));
    let mut given = values.texts(is_of_red);
    given.push(("colours", values.text("colours")));
    let all = values.accept(Params::from_text(multi_red, &given, &context.for_policies()))?;
    let line = |index: usize| Policy::Dropper(Box::new(Dropper::new(all.part(red, index * red.sizes().0))));
    Ok((0..values.count("colours") as usize).map(line).collect())
}

fn weighted(values: &Values, context: LinkContext) -> Result<Queue> {
    let weight = values.number("weight");
    let child = |weight| Child { weight, limit: context.buffer, policy: Policy::DropTail };
    let children = vec![child(weight), child(100.0 - weight)];
    Ok(Queue::Wrr(Box::new(Wrr::new(wrr::Params { by: ClassifyBy::Class, children }))))
}
