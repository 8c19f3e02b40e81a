//! Drop-tail, the default of most links.

use crate::install::line::{Install, Qdisc, behind_token_bucket};
use crate::native_part::{NativePart, Order, Role, accept_any_values};
use mousehole_policy::{Kind, Parameter};

pub(crate) static DROPTAIL: NativePart = NativePart {
    name: "droptail",
    summary: "one FIFO that drops what does not fit",
    source: "the default of most links",
    detail: "Every packet is taken while there is room and dropped when there is none.",
    parameters: || {
        vec![Parameter::new(
            "ns2",
            Kind::Flag,
            "false",
            "count the packet in transmission towards a packet limit, as ns-2's drop-tail queue does",
            "oracle/semantics.md 1.1",
        )]
    },
    role: Role::Queue,
    reads_colours: |_| false,
    check: accept_any_values,
    order: Order::Fifo,
    install: Install::Fifo(Qdisc {
        kind: "pfifo",
        kernel: "2.2",
        lines: |_, line| Ok(behind_token_bucket(&format!("pfifo limit {}", line.buffer_packets), line)),
    }),
};
