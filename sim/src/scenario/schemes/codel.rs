//! CoDel and PIE: one FIFO whose delay is held to a target, what routers and modems ship.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter, unmarked};
use super::super::scheme::Place;
use super::super::values::Values;
use crate::error::Result;
use crate::queue::pie::{Delay, Params};
use crate::queue::{Codel, Pie, Queue, codel};
use crate::units::{Buffer, Dur, parse_buffer};

pub const CODEL: SchemeDoc = SchemeDoc {
    name: "codel",
    summary: "one FIFO that drops from its head when the delay stays above a target",
    source: "RFC 8289",
    detail: "Every packet is stamped; when the delay has stayed above target for an interval, the head is dropped, and \
             then ever more often until the delay falls. All flows wait in one queue, so that short ones gain by the \
             queue's being short, and by nothing else.",
    parameters: &[CODEL_LAW, LIMIT],
    marker: unmarked,
    queue: |values, place| {
        let law = codel::CodelParams {
            target: values.time("target")?,
            interval: positive(values, "interval")?,
            ecn: values.flag("ecn")?,
        };
        Ok(Queue::Codel(Box::new(Codel::new(codel::Params { law, limit: limit(values, place)? }))))
    },
    host: None,
};

pub const PIE: SchemeDoc = SchemeDoc {
    name: "pie",
    summary: "one FIFO that drops arrivals with a probability steered by the delay",
    source: "RFC 8033",
    detail: "Every 15 ms a controller raises or lowers the probability by the delay's distance from the target and by its \
             change; bursts pass unpunished. Like CoDel it keeps one queue short for all and knows nothing of flows.",
    parameters: &[CONTROLLER, LIMIT],
    marker: unmarked,
    queue: |values, place| Ok(Queue::Pie(Box::new(Pie::new(pie(values, place)?)))),
    host: None,
};

const CODEL_LAW: &[ParameterDoc] = &[
    parameter("target", Kind::Time, "5ms", "acceptable standing delay", "RFC 8289"),
    parameter("interval", Kind::Time, "100ms", "time the delay must stay above the target", "RFC 8289"),
    parameter("ecn", Kind::Flag, "true", "mark ECN-capable packets instead of dropping them", "as fq-codel"),
];

const LIMIT: &[ParameterDoc] = &[parameter(
    "limit",
    Kind::Buffer,
    "1000p",
    "limit of the queue; not --buffer, because people install it so",
    "Linux' default, which the RFC leaves open",
)];

const CONTROLLER: &[ParameterDoc] = &[
    parameter("target", Kind::Time, "15ms", "delay to hold, QDELAY_REF", "RFC 8033"),
    parameter("period", Kind::Time, "15ms", "time between steps of the controller, T_UPDATE", "RFC 8033"),
    parameter("burst", Kind::Time, "150ms", "time for which a burst passes, MAX_BURST", "RFC 8033"),
    parameter("alpha", Kind::Number, "0.125", "weight of the distance from the target, 1/s", "RFC 8033"),
    parameter("beta", Kind::Number, "1.25", "weight of the delay's change, 1/s", "RFC 8033"),
    parameter(
        "ecn",
        Kind::Flag,
        "true",
        "mark ECN-capable packets while the probability is below mark_ecnth",
        "as fq-codel",
    ),
    parameter(
        "mark_ecnth",
        Kind::Fraction,
        "0.1",
        "probability from which ECN-capable packets are dropped too",
        "RFC 8033",
    ),
    parameter(
        "delay",
        Kind::Choice(&["timestamp", "rate"]),
        "timestamp",
        "the last packet's own delay, or the queue over the measured departure rate",
        "Linux; the RFC allows both",
    ),
    parameter(
        "derandomise",
        Kind::Flag,
        "false",
        "space drops between 0.85/p and 8.5/p packets apart",
        "RFC 8033, optional",
    ),
    parameter("cap", Kind::Flag, "false", "rise by at most 0.02 a step from 0.1 on", "RFC 8033, optional"),
    parameter(
        "mean",
        Kind::Size,
        "1500B",
        "mean packet; two may always wait",
        "ours: the RFC leaves it open",
    ),
];

fn pie(values: &Values, place: Place) -> Result<Params> {
    Ok(Params {
        target: values.time("target")?,
        period: positive(values, "period")?,
        burst: values.time("burst")?,
        alpha: values.number("alpha")?,
        beta: values.number("beta")?,
        mean_packet: match values.size("mean")? {
            mean @ 1..=65_535 => mean as u32,
            _ => return Err(values.refuse("mean", "allowed: 1 to 65535 bytes")),
        },
        limit: limit(values, place)?,
        ecn: values.flag("ecn")?,
        mark_ecnth: values.number("mark_ecnth")?,
        delay: if values.text("delay") == "rate" { Delay::DepartureRate } else { Delay::Timestamp },
        derandomise: values.flag("derandomise")?,
        cap: values.flag("cap")?,
    })
}

/// The parameter `limit`, apart from the link's buffer.
pub fn limit(values: &Values, place: Place) -> Result<Buffer> {
    parse_buffer(&values.field("limit"), &values.text("limit"), place.rate, Dur::ZERO)
}

/// A span of time longer than zero.
pub fn positive(values: &Values, name: &str) -> Result<Dur> {
    match values.time(name)? {
        Dur::ZERO => Err(values.refuse(name, "allowed: a time longer than zero")),
        span => Ok(span),
    }
}
