//! Ideals for comparison: shortest remaining processing time and the empty link, which cannot be deployed, and least attained
//! service.

use crate::install::line::Install;
use crate::native_part::{NativePart, Order, Role, accept_any_values};
use mousehole_policy::{Kind, Parameter};

pub(crate) static SRPT: NativePart = NativePart {
    name: "srpt",
    summary: "ideal: the transfer with the fewest segments left goes first; sizes must be known",
    source: "Schrage 1968",
    detail: "Every packet carries how much of its transfer is left. When the buffer is full the largest transfer loses.",
    parameters: limit_parameter,
    role: Role::Queue,
    reads_colours: |_| false,
    check: accept_any_values,
    order: Order::Several,
    install: Install::Simulated("must know how much of every transfer is left, which no header carries"),
};

pub(crate) static LAS: NativePart = NativePart {
    name: "las",
    summary: "the connection that has been served least goes first; no sizes needed",
    source: "Kleinrock 1976, foreground-background",
    detail: "Counts the packets served of every connection; the one with fewest goes first.",
    parameters: limit_parameter,
    role: Role::Queue,
    reads_colours: |_| false,
    check: accept_any_values,
    order: Order::Several,
    install: Install::Nothing("serves whoever was served least, which no queue discipline of Linux does"),
};

pub(crate) static EMPTY: NativePart = NativePart {
    name: "empty",
    summary: "ideal: the empty link; every connection has its whole rate to itself",
    source: "SHRED section 5.1, \"uncongested\"",
    detail: "Nobody waits for anybody and nothing is dropped: what remains is the path and TCP.",
    parameters: Vec::new,
    role: Role::Queue,
    reads_colours: |_| false,
    check: accept_any_values,
    order: Order::Several,
    install: Install::Simulated("gives every connection a link of its own, which one link cannot"),
};

/// Returns the parameter `limit`, the only one.
fn limit_parameter() -> Vec<Parameter> {
    let meaning = "limit over all flows; not --buffer: an ideal is not to pay for a small memory";
    vec![Parameter::new("limit", Kind::Buffer, "10240p", meaning, "ours: as fq-codel's")]
}
