//! Drop-tail, the default of most links.

use crate::queue::{Fifo, Policy, Queue};
use crate::scenario::install::line::{Install, Qdisc, behind_token_bucket};
use crate::scenario::native_part::{Build, NativePart, Order};
use crate::units::Buffer;
use mousehole_policy::{Kind, Parameter};

pub static DROPTAIL: NativePart = NativePart {
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
    build: Build::Queue(
        |values, context| {
            let limit = match context.buffer {
                Buffer::Packets(packets) if values.flag("ns2") => Buffer::Packets(packets.saturating_sub(1)),
                other => other,
            };
            Ok(Queue::Fifo(Fifo::new(limit, Policy::DropTail)))
        },
        |_| false,
    ),
    order: Order::Fifo,
    install: Install::Fifo(Qdisc {
        kind: "pfifo",
        kernel: "2.2",
        lines: |_, line| Ok(behind_token_bucket(&format!("pfifo limit {}", line.buffer_packets), line)),
    }),
};
