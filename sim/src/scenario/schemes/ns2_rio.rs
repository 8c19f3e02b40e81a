//! ns-2's RIO behind its SFD marker, to repeat its runs.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use super::red::{COMMON, spec};
use super::sfd::{NS2_MARKER, NS2_SFD, REDS};
use crate::error::Result;
use crate::queue::{Fifo, Ns2Rio, Policy, Queue};

const SOURCE: &str = "ns-2.35 Queue/RED/RIO, oracle/semantics.md 1.5";

pub const NS2_RIO: SchemeDoc = SchemeDoc {
    name: "ns2-rio",
    summary: "RIO as ns-2.35 ships it (Queue/RED/RIO), with the marks of ns2-sfd",
    source: SOURCE,
    detail: "IN is judged by the average of IN packets, OUT by the average of all, but OUT arrivals move neither average. \
             In ns-2 nothing can mark packets for this queue one by one; here ns2-sfd's marker does. A witness, not a \
             proposal.",
    parameters: &[NS2_MARKER, REDS, OWN, OTHER],
    queue,
    ..NS2_SFD
};

/// Weight, gentle, mean packet, ECN as for `red`.
const OTHER: &[ParameterDoc] = &[COMMON[0], COMMON[1], COMMON[5], COMMON[6]];

const OWN: &[ParameterDoc] = &[parameter(
    "wait",
    Kind::Flag,
    "true",
    "space early drops between 1/p and 2/p packets apart instead of 1 and 1/p",
    SOURCE,
)];

fn queue(values: &Values, place: Place) -> Result<Queue> {
    let (inside, out) = (spec(values, "in_", place)?, spec(values, "out_", place)?);
    let rio = Ns2Rio::new(inside, out, place.buffer).map_err(|error| values.reject(error))?;
    Ok(Queue::Fifo(Fifo::new(place.buffer, Policy::Ns2Rio(Box::new(rio)))))
}
