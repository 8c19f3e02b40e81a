//! Cousins that demote by bytes sent: PIAS, and the firewall rule that administrators write.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use crate::error::Result;
use crate::marker::{Demotion, Marker};
use crate::queue::{Policy, Priority, Queue, priority};
use mousehole_policy::demotion;

pub const PIAS: SchemeDoc = SchemeDoc {
    name: "pias",
    summary: "a flow falls by two steps with the bytes it has sent; three drop-tail queues, strict priority",
    source: "Bai et al., NSDI 2015",
    detail: "The data centre's descendant of these schemes: no size is known in advance, a flow begins at the top and is \
             demoted at thresholds of bytes. No idle timeout: a connection that is used again stays where it was. Its \
             thresholds were meant for 10 Gb/s.",
    parameters: &[THRESHOLDS],
    marker: |values, _| {
        let (first, second) = (bytes(values, "first")?, Some(bytes(values, "second")?));
        marker(values, &demotion::Spec { first, second, ..demotion::Spec::default() })
    },
    queue: |_, place| Ok(drop_tail_queues(place, 3)),
    host: None,
};

pub const CT_BYTES: SchemeDoc = SchemeDoc {
    name: "ct-bytes",
    summary: "a firewall's rule: connections beyond so many bytes go into the slow class; two drop-tail queues",
    source: "nftables `ct original bytes`, iptables `connbytes`",
    detail: "What administrators write today: once a connection has carried more than the threshold it is bulk for as long \
             as it lives, however long it idles between. An SSH session or a reused HTTP/2 connection ends up there.",
    parameters: &[THRESHOLD],
    marker: |values, _| marker(values, &demotion::Spec::connection_bytes(bytes(values, "th")?)),
    queue: |_, place| Ok(drop_tail_queues(place, 2)),
    host: None,
};

const THRESHOLDS: &[ParameterDoc] = &[
    parameter(
        "first",
        Kind::Size,
        "20480B",
        "a flow is green up to this many bytes",
        "the authors' tagging module",
    ),
    parameter(
        "second",
        Kind::Size,
        "1MB",
        "and yellow up to this",
        "ours; PIAS computes it for a given traffic",
    ),
];

const THRESHOLD: &[ParameterDoc] = &[parameter(
    "th",
    Kind::Size,
    "1MB",
    "connections are bulk beyond this many bytes in the data direction",
    "a common choice in such rules; ours",
)];

fn marker(values: &Values, spec: &demotion::Spec) -> Result<Marker> {
    let params = demotion::Params::new(spec).map_err(|error| values.reject(error))?;
    Ok(Marker::Demotion(Demotion::new(params)))
}

fn bytes(values: &Values, name: &str) -> Result<u32> {
    u32::try_from(values.size(name)?).map_err(|_| values.refuse(name, "allowed: at most 4 GB"))
}

fn drop_tail_queues(place: Place, count: usize) -> Queue {
    let children = (0..count).map(|_| (place.buffer, Policy::DropTail)).collect();
    Queue::Priority(Box::new(Priority::new(priority::Params { children, shared: Some(place.buffer) })))
}
