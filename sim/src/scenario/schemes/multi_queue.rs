//! Schemes of several physical queues: SFD's strict priority of two REDs, and a weighted multi-queue by application.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter, unmarked};
use super::super::scheme::Place;
use super::super::values::Values;
use super::red::{COMMON, spec};
use super::sfd::{MARKER, REDS, SFD};
use crate::error::Result;
use crate::queue::wrr::Child;
use crate::queue::{By, Policy, Priority, Queue, Wrr, priority, wrr};
use mousehole_policy::red;

pub const PQ_SFD: SchemeDoc = SchemeDoc {
    name: "pq-sfd",
    summary: "SFD's marker before two physical REDs under strict priority to IN",
    source: "Chen & Heidemann, ISI-TR-2001-548, Figure 4 (b), PQ",
    detail: "The paper's other architecture, without results there: IN never waits for OUT, so that short flows gain more \
             than with virtual queues, OUT may starve, and a flow that comes back after its timeout may overtake itself.",
    parameters: &[MARKER, REDS, SHARED, COMMON],
    queue: |values, place| {
        let levels = vec![spec(values, "in_", place)?, spec(values, "out_", place)?];
        strict_priority(values, place, &levels)
    },
    ..SFD
};

pub const WRR: SchemeDoc = SchemeDoc {
    name: "wrr",
    summary: "interactive traffic in a queue of its own with a share of the link, all else in another",
    source: "Noureddine & Tobagi, section V",
    detail: "The multi-queue baseline: two drop-tail FIFOs share the link's bytes by weight, each with the link's buffer; \
             what one does not use the other has. It serves what it knows by application, and no short web transfer.",
    parameters: &[WEIGHT],
    marker: unmarked,
    queue: weighted,
    host: None,
};

/// Whether physical queues share the link's buffer.
pub const SHARED: &[ParameterDoc] = &[parameter(
    "shared",
    Kind::Flag,
    "true",
    "the queues share the link's buffer, or each has as much",
    "ours: the same memory as with virtual queues",
)];

const WEIGHT: &[ParameterDoc] = &[parameter(
    "weight",
    Kind::Percent,
    "20",
    "share of the link for interactive traffic, % (the paper: 5 to 30)",
    "Noureddine & Tobagi, section V",
)];

/// A RED for each colour under strict priority.
pub fn strict_priority(values: &Values, place: Place, levels: &[red::Spec]) -> Result<Queue> {
    let child = |level| {
        let params = red::Params::new(level).map_err(|error| values.reject(error))?;
        Ok((place.buffer, Policy::Red(Box::new(params), red::State::default())))
    };
    let children = levels.iter().map(child).collect::<Result<_>>()?;
    let shared = values.flag("shared")?.then_some(place.buffer);
    Ok(Queue::Priority(Box::new(Priority::new(priority::Params { children, shared }))))
}

fn weighted(values: &Values, place: Place) -> Result<Queue> {
    let weight = values.percent("weight")?;
    if !(0.1..=99.9).contains(&weight) {
        return Err(values.refuse("weight", "allowed: 0.1 to 99.9"));
    }
    let child = |weight| Child { weight, limit: place.buffer, policy: Policy::DropTail };
    let children = vec![child(weight), child(100.0 - weight)];
    Ok(Queue::Wrr(Box::new(Wrr::new(wrr::Params { by: By::Class, children }))))
}
