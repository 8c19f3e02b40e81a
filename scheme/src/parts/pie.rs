//! PIE: one FIFO whose delay a controller holds at a target, as in cable modems (RFC 8033).

use crate::install::line::{Install, Line, Qdisc, Written, behind_token_bucket, ecn_option, limit_packets};
use crate::native_part::{NativePart, Order, Role, accept_any_values};
use crate::values::Values;
use mousehole_policy::{Kind, Parameter};

pub(crate) static PIE: NativePart = NativePart {
    name: "pie",
    summary: "one FIFO that drops arrivals with a probability steered by the delay",
    source: "RFC 8033",
    detail: "Every 15 ms a controller raises or lowers the probability by the delay's distance from the target and by its \
             change; bursts pass unpunished. Like CoDel it keeps one queue short for all and knows nothing of flows.",
    parameters: || [CONTROLLER.to_vec(), LIMIT.to_vec()].concat(),
    role: Role::Queue,
    reads_colours: |_| false,
    check: accept_any_values,
    order: Order::Fifo,
    install: Install::Qdisc(Qdisc { kind: "pie", kernel: "3.14", lines: qdisc_lines }),
};

/// Returns the lines that install Linux's pie with these values; alpha and beta are rounded to sixteenths.
fn qdisc_lines(values: &Values, line: &Line) -> Written {
    // tc-pie(8): alpha and beta are in sixteenths.
    let sixteenths = |name| (16.0 * values.number(name)).round_ties_even() as u64;
    let queue = format!(
        "pie limit {} target {} tupdate {} alpha {} beta {}{}",
        limit_packets(values.buffer("limit")),
        values.text("target"),
        values.text("period"),
        sixteenths("alpha"),
        sixteenths("beta"),
        ecn_option(values, "")
    );
    Ok(behind_token_bucket(&queue, line))
}

const LIMIT: &[Parameter] = &[Parameter::new(
    "limit",
    Kind::Buffer,
    "1000p",
    "limit of the queue; not --buffer, because people install it so",
    "Linux' default, which the RFC leaves open",
)];

const CONTROLLER: &[Parameter] = &[
    Parameter::new("target", Kind::Time, "15ms", "delay to hold, QDELAY_REF", "RFC 8033"),
    Parameter::new(
        "period",
        Kind::Time,
        "15ms",
        "time between steps of the controller, T_UPDATE",
        "RFC 8033",
    )
    .with_range(1e-9, 1e9),
    Parameter::new("burst", Kind::Time, "150ms", "time for which a burst passes, MAX_BURST", "RFC 8033"),
    Parameter::new("alpha", Kind::Number, "0.125", "weight of the distance from the target, 1/s", "RFC 8033"),
    Parameter::new("beta", Kind::Number, "1.25", "weight of the delay's change, 1/s", "RFC 8033"),
    Parameter::new(
        "ecn",
        Kind::Flag,
        "true",
        "mark ECN-capable packets while the probability is below mark_ecnth",
        "as fq-codel",
    ),
    Parameter::new(
        "mark_ecnth",
        Kind::Fraction,
        "0.1",
        "probability from which ECN-capable packets are dropped too",
        "RFC 8033",
    ),
    Parameter::new(
        "delay",
        Kind::Choice(&["timestamp", "rate"]),
        "timestamp",
        "the last packet's own delay, or the queue over the measured departure rate",
        "Linux; the RFC allows both",
    ),
    Parameter::new(
        "derandomise",
        Kind::Flag,
        "false",
        "space drops between 0.85/p and 8.5/p packets apart",
        "RFC 8033, optional",
    ),
    Parameter::new(
        "cap",
        Kind::Flag,
        "false",
        "rise by at most 0.02 a step from 0.1 on",
        "RFC 8033, optional",
    ),
    Parameter::new(
        "mean",
        Kind::Size,
        "1500B",
        "mean packet; two may always wait",
        "ours: the RFC leaves it open",
    )
    .with_range(1.0, 65535.0),
];
