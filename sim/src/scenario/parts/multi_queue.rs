//! Several physical queues: strict priority by colour, and a weighted multi-queue by application.

use crate::error::Result;
use crate::queue::wrr::Child;
use crate::queue::{By, Dropper, Policy, Priority, Queue, Wrr, priority, wrr};
use crate::scenario::catalogue::{Build, Kind, NativePart, Parameter};
use crate::scenario::scheme::Place;
use crate::scenario::values::Values;
use mousehole_policy::{Params, find};

pub static PRIORITY: NativePart = NativePart {
    name: "priority",
    summary: "a physical queue for each colour under strict priority, drop-tail or RED",
    source: "SFD Figure 4 (b); LFP section 2; prio of tc",
    detail: "A worse colour is served when no better one waits, so that it may starve, and a flow that changes colour may \
             be reordered. The queues share the link's buffer, or each has as much.",
    parameters: priority_parameters,
    build: Build::Queue(strict_priority, |_| true),
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
        vec![weight.within(0.1, 99.9)]
    },
    build: Build::Queue(weighted, |_| false),
};

/// Parameters of the queues' REDs, which are those of multi-RED but for the coupling.
fn is_of_red(name: &str) -> bool {
    !["colours", "mode", "drop", "shared"].contains(&name)
}

fn priority_parameters() -> Vec<Parameter> {
    let own = [
        Parameter::new("colours", Kind::Count, "3", "how many queues; worse colours share the last", "ours")
            .within(1.0, 3.0),
        Parameter::new(
            "drop",
            Kind::Choice(&["none", "red"]),
            "none",
            "drop policy of each queue beside its limit; the parameters of lines are read with red",
            "prio of tc has none",
        ),
        Parameter::new(
            "shared",
            Kind::Flag,
            "true",
            "the queues share the link's buffer, or each has as much",
            "ours: the same memory as with virtual queues",
        ),
    ];
    let lines = find("multi-red").expect("multi-RED is shipped").parameters().iter().copied();
    own.into_iter().chain(lines.filter(|one| is_of_red(one.name))).collect()
}

fn strict_priority(values: &Values, place: Place) -> Result<Queue> {
    let count = values.count("colours") as usize;
    let policies = match values.text("drop") {
        "red" => lines(values, place, count)?,
        _ => vec![Policy::DropTail; count],
    };
    let children = policies.into_iter().map(|policy| (place.buffer, policy)).collect();
    let shared = values.flag("shared").then_some(place.buffer);
    Ok(Queue::Priority(Box::new(Priority::new(priority::Params { children, shared }))))
}

/// Returns a RED for each colour: multi-RED's parameters begin with one line of RED per colour.
fn lines(values: &Values, place: Place, count: usize) -> Result<Vec<Policy>> {
    let (multi_red, red) = (find("multi-red").expect("shipped"), find("red").expect("shipped"));
    let colours = count.to_string();
    let mut given = values.texts(is_of_red);
    given.push(("colours", &colours));
    let all = values.accept(Params::of(multi_red, &given, &place.of_policy()))?;
    let line = |index: usize| Policy::Dropper(Box::new(Dropper::new(all.part(red, index * red.sizes().0))));
    Ok((0..count).map(line).collect())
}

fn weighted(values: &Values, place: Place) -> Result<Queue> {
    let weight = values.number("weight");
    let child = |weight| Child { weight, limit: place.buffer, policy: Policy::DropTail };
    let children = vec![child(weight), child(100.0 - weight)];
    Ok(Queue::Wrr(Box::new(Wrr::new(wrr::Params { by: By::Class, children }))))
}
