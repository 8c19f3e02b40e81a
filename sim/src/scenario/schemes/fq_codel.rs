//! FQ-CoDel, what people would install instead.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter, unmarked};
use super::super::scheme::Place;
use super::super::values::Values;
use crate::error::Result;
use crate::queue::{FqCodel, Queue, fq_codel};
use crate::rng::{Purpose, Stream};
use crate::units::{Dur, parse_buffer};

pub const FQ_CODEL: SchemeDoc = SchemeDoc {
    name: "fq-codel",
    summary: "flow queueing with CoDel, what people would install instead",
    source: "RFC 8290",
    detail: "Every flow has a queue of its own, served in turn, and a flow that sends little goes first. Short flows need \
             no marks and no thresholds: the bar that the papers' schemes have to clear.",
    parameters: &[PARAMETERS],
    marker: unmarked,
    queue,
    host: None,
};

const PARAMETERS: &[ParameterDoc] = &[
    parameter("flows", Kind::Count, "1024", "queues that flows are hashed into", "RFC 8290 section 5.2.5"),
    parameter(
        "quantum",
        Kind::Size,
        "1500B",
        "bytes a queue may send per round",
        "RFC 8290 section 5.2.4, without the 14 bytes of Ethernet's header, as sizes are here",
    ),
    parameter("target", Kind::Time, "5ms", "acceptable standing delay", "RFC 8290 section 5.2.2"),
    parameter(
        "interval",
        Kind::Time,
        "100ms",
        "time the delay must stay above the target",
        "RFC 8290 section 5.2.1",
    ),
    parameter(
        "limit",
        Kind::Buffer,
        "10240p",
        "limit over all queues; not --buffer, because people install it so",
        "RFC 8290 section 5.2.3",
    ),
    parameter(
        "ecn",
        Kind::Flag,
        "true",
        "mark ECN-capable packets instead of dropping them",
        "RFC 8290 section 5.2.6",
    ),
];

fn queue(values: &Values, place: Place) -> Result<Queue> {
    let params = fq_codel::Params {
        flows: match values.count("flows")? {
            flows @ 1..=65_536 => flows,
            _ => return Err(values.refuse("flows", "allowed: 1 to 65536")),
        },
        quantum: match values.size("quantum")? {
            quantum @ 1..=1_000_000_000 => quantum as u32,
            _ => return Err(values.refuse("quantum", "allowed: at most 1 GB")),
        },
        target: values.time("target")?,
        interval: match values.time("interval")? {
            Dur::ZERO => return Err(values.refuse("interval", "allowed: a time longer than zero")),
            interval => interval,
        },
        limit: parse_buffer(&values.field("limit"), &values.text("limit"), place.rate, Dur::ZERO)?,
        ecn: values.flag("ecn")?,
    };
    let hash = Stream::new(place.seed, Purpose::Hash, place.link).at(0);
    Ok(Queue::FqCodel(Box::new(FqCodel::new(params, hash))))
}
