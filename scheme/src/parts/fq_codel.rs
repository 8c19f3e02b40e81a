//! FQ-CoDel, what people would install instead.

use crate::install::line::{Install, Line, Qdisc, Written, behind_token_bucket, ecn, limit_packets};
use crate::native_part::{NativePart, Order, Role, any_values};
use crate::values::Values;
use mousehole_policy::{Kind, Parameter};

pub(crate) static FQ_CODEL: NativePart = NativePart {
    name: "fq-codel",
    summary: "flow queueing with CoDel, what people would install instead",
    source: "RFC 8290",
    detail: "Every flow has a queue of its own, served in turn, and a flow that sends little goes first. Short flows need \
             no marks and no thresholds: the bar that the papers' schemes have to clear.",
    parameters: || [PARAMETERS.to_vec()].concat(),
    role: Role::Queue,
    reads_colours: |_| false,
    check: any_values,
    order: Order::Several,
    install: Install::Qdisc(Qdisc { kind: "fq_codel", kernel: "3.5", lines }),
};

fn lines(values: &Values, line: &Line) -> Written {
    let queue = format!(
        "fq_codel limit {} flows {} quantum {} target {} interval {}{}",
        limit_packets(values.buffer("limit")),
        values.text("flows"),
        values.size("quantum"),
        values.text("target"),
        values.text("interval"),
        ecn(values, " noecn")
    );
    Ok(behind_token_bucket(&queue, line))
}

const PARAMETERS: &[Parameter] = &[
    Parameter::new(
        "flows",
        Kind::Count,
        "1024",
        "queues that flows are hashed into",
        "RFC 8290 section 5.2.5",
    )
    .with_range(1.0, 65536.0),
    Parameter::new(
        "quantum",
        Kind::Size,
        "1500B",
        "bytes a queue may send per round",
        "RFC 8290 section 5.2.4, without the 14 bytes of Ethernet's header, as sizes are here",
    )
    .with_range(1.0, 1e9),
    Parameter::new("target", Kind::Time, "5ms", "acceptable standing delay", "RFC 8290 section 5.2.2"),
    Parameter::new(
        "interval",
        Kind::Time,
        "100ms",
        "time the delay must stay above the target",
        "RFC 8290 section 5.2.1",
    )
    .with_range(1e-9, 1e9),
    Parameter::new(
        "limit",
        Kind::Buffer,
        "10240p",
        "limit over all queues; not --buffer, because people install it so",
        "RFC 8290 section 5.2.3",
    ),
    Parameter::new(
        "ecn",
        Kind::Flag,
        "true",
        "mark ECN-capable packets instead of dropping them",
        "RFC 8290 section 5.2.6",
    ),
];
