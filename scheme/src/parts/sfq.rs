//! Stochastic fairness queueing, the oldest of Linux's fair queues.

use crate::error::Result;
use crate::install::line::{Install, Line, Qdisc, Written, behind_token_bucket, limit_packets};
use crate::link_context::LinkContext;
use crate::native_part::{NativePart, Order, Role};
use crate::values::Values;
use mousehole_policy::{Kind, Parameter};

pub(crate) static SFQ: NativePart = NativePart {
    name: "sfq",
    summary: "stochastic fairness queueing: flows hashed into FIFOs that are served in turn",
    source: "McKenney, INFOCOM 1990; tc-sfq(8)",
    detail: "Each flow has a FIFO of its own, unless its hash meets another's, and all are served in turn, a quantum at a \
             time. Short flows do not wait behind long ones. Nothing holds a flow's own delay down, and a full queue takes \
             the newest packet from the longest FIFO. FQ-CoDel has followed it.",
    parameters: || PARAMETERS.to_vec(),
    role: Role::Queue,
    reads_colours: |_| false,
    check: check_values,
    order: Order::Several,
    install: Install::Qdisc(Qdisc { kind: "sfq", kernel: "3.3", lines: qdisc_lines }),
};

const MAN: &str = "tc-sfq(8)";

const PARAMETERS: &[Parameter] = &[
    Parameter::new(
        "flows",
        Kind::Count,
        "128",
        "flows that may have packets waiting at once",
        "sch_sfq of Linux",
    )
    .with_range(1.0, 65408.0),
    Parameter::new("divisor", Kind::Count, "1024", "buckets of the hash, a power of two", MAN)
        .with_range(1.0, 65536.0),
    Parameter::new("depth", Kind::Count, "127", "packets that one flow may have waiting", MAN)
        .with_range(1.0, 127.0),
    Parameter::new(
        "limit",
        Kind::Buffer,
        "127p",
        "limit over all flows; not --buffer, because people install it so",
        MAN,
    ),
    Parameter::new(
        "quantum",
        Kind::Size,
        "1500B",
        "bytes a flow may send per round",
        "tc-sfq(8): an MTU; without Ethernet's header, as sizes are here",
    )
    .with_range(1.0, 1e9),
    Parameter::new("perturb", Kind::Count, "0", "seconds after which the hash changes; 0 is never", MAN)
        .with_range(0.0, 1e6),
];

/// Refuses a `divisor` that is no power of two, with an error that names it.
fn check_values(values: &Values, _: LinkContext) -> Result<()> {
    match values.count("divisor").is_power_of_two() {
        true => Ok(()),
        false => Err(values.refuse("divisor", "a power of two")),
    }
}

/// Returns the lines that install Linux's sfq with these values; fails for a limit of one packet.
fn qdisc_lines(values: &Values, line: &Line) -> Written {
    let limit = limit_packets(values.buffer("limit"));
    if limit < 2 {
        return Err("has a limit of one packet, which Linux refuses");
    }
    let text = |name| values.text(name);
    let queue = format!(
        "sfq limit {limit} flows {} divisor {} depth {} quantum {} perturb {}",
        text("flows"),
        text("divisor"),
        text("depth"),
        values.size("quantum"),
        text("perturb")
    );
    Ok(behind_token_bucket(&queue, line))
}
