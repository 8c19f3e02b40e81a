//! SHRED: one RED whose line moves with the window of the packet's sender.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use super::red::{COMMON, spec};
use crate::error::Result;
use crate::marker::{Marker, ShredEdge};
use crate::queue::{Fifo, Policy, Queue};
use mousehole_policy::{shred, shred_edge};
use std::cell::RefCell;
use std::rc::Rc;

const OURS: &str = "ours: the paper's Figure 3 is lost";
const PAPER: &str = "SHRED section 3.2";
const FLOYD: &str = "Floyd 1997, as SHRED section 4.3 says";
const NS2: &str = "ns-2's default of 2002; the paper does not tell";
const HINTS: Kind = Kind::Choice(&["sender", "edge", "none"]);
const UNITS: Kind = Kind::Choice(&["packets", "bytes"]);

pub const SHRED: SchemeDoc = SchemeDoc {
    name: "shred",
    summary: "RED that drops a packet the less, the smaller its sender's window against the average one",
    source: "Hartling, Claypool & Kinicki 2002",
    detail: "Every data packet carries its sender's window, 1 to 255 segments, or an edge that sees both directions writes \
             what is outstanding. The queue keeps the average window and moves RED's line for each packet: a window of \
             half the average meets a line that begins half-way to max. Short flows, and long ones that have just lost, are \
             spared. With a buffer below min it is a drop-tail queue.",
    parameters: &[OWN, COMMON],
    marker,
    queue,
    host: None,
};

const OWN: &[ParameterDoc] = &[
    parameter(
        "hint",
        HINTS,
        "sender",
        "who writes the window into packets; an edge needs both directions: not with a topology or host stage",
        "SHRED sections 3.2 and 6",
    ),
    parameter(
        "min",
        Kind::Packets,
        "30",
        "average queue where early drops begin for an average window",
        OURS,
    ),
    parameter(
        "max",
        Kind::Packets,
        "90",
        "average queue where the gentle part begins",
        "ours: three times min, as Floyd 1997",
    ),
    parameter("maxp", Kind::Fraction, "0.1", "drop probability at max for an average window", FLOYD),
    parameter("floor", Kind::Packets, "5", "the line begins no earlier than this, or than min", PAPER),
    parameter("wc", Kind::Fraction, "0.002", "weight of the newest window in the average window", PAPER),
    parameter(
        "wq",
        Kind::Fraction,
        "0.002",
        "weight of the newest queue length in the average",
        "SHRED section 3.2, of RED",
    ),
    parameter(
        "gentle",
        Kind::Flag,
        "true",
        "rise to certain drop between max and 2 max",
        "SHRED section 2.1",
    ),
    parameter("wait", Kind::Flag, "true", "space early drops evenly", NS2),
    parameter(
        "restart",
        Kind::Flag,
        "false",
        "a packet below its own line starts the spacing of drops anew; else only the queue below min does",
        "ours: the paper leaves it open; papers/shred tries both",
    ),
    parameter("byte", Kind::Flag, "false", "scale the drop probability with packet size", NS2),
    parameter(
        "unit",
        UNITS,
        "bytes",
        "measure the queue in packets, or in bytes over the mean packet",
        "SHRED section 4.3",
    ),
];

fn marker(values: &Values, _: Place) -> Result<Marker> {
    match values.text("hint").as_str() {
        "edge" => {
            let params = shred_edge::Params::new(&shred_edge::Spec { packet: 1 })
                .map_err(|error| values.reject(error))?;
            Ok(Marker::ShredEdge(Rc::new(RefCell::new(ShredEdge::new(params)))))
        }
        "none" => Ok(Marker::NoHint),
        _ => Ok(Marker::None),
    }
}

fn queue(values: &Values, place: Place) -> Result<Queue> {
    let red = spec(values, "", place)?;
    let floor = values.depth("floor", place, red.mean_packet_bytes)?.min(red.min_packets);
    let spec = shred::Spec {
        red,
        floor_packets: floor,
        w_hint: values.number("wc")?,
        restart: values.flag("restart")?,
    };
    let params = shred::Params::new(&spec).map_err(|error| values.reject(error))?;
    Ok(Queue::Fifo(Fifo::new(place.buffer, Policy::Shred(Box::new(params), shred::State::default()))))
}
