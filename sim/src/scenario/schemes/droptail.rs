//! Drop-tail, the default of most links.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter, unmarked};
use super::super::scheme::Place;
use super::super::values::Values;
use crate::error::Result;
use crate::queue::{Fifo, Policy, Queue};
use crate::units::Buffer;

pub const DROPTAIL: SchemeDoc = SchemeDoc {
    name: "droptail",
    summary: "one FIFO that drops what does not fit",
    source: "the default of most links",
    detail: "Every packet is taken while there is room and dropped when there is none. Long flows keep the buffer \
             full, so that everybody waits behind it and short flows lose whole windows at once. The baseline of \
             every paper here.",
    parameters: &[PARAMETERS],
    marker: unmarked,
    queue,
    host: None,
};

const PARAMETERS: &[ParameterDoc] = &[parameter(
    "ns2",
    Kind::Flag,
    "false",
    "count the packet in transmission towards a packet limit, as ns-2's drop-tail queue does",
    "oracle/semantics.md 1.1",
)];

fn queue(values: &Values, place: Place) -> Result<Queue> {
    let limit = match place.buffer {
        Buffer::Packets(packets) if values.flag("ns2")? => Buffer::Packets(packets.saturating_sub(1)),
        other => other,
    };
    Ok(Queue::Fifo(Fifo::new(limit, Policy::DropTail)))
}
