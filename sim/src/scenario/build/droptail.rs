//! Builds drop-tail.

use crate::queue::{Fifo, Policy, Queue};
use crate::scenario::link_context::LinkContext;
use crate::scenario::values::Values;
use crate::units::Buffer;

/// Returns a drop-tail FIFO; with `ns2` a buffer in packets holds one packet less, as ns-2 counts.
pub(super) fn build_droptail(values: &Values, context: LinkContext) -> Queue {
    let limit = match context.buffer {
        Buffer::Packets(packets) if values.flag("ns2") => Buffer::Packets(packets.saturating_sub(1)),
        other => other,
    };
    Queue::Fifo(Fifo::new(limit, Policy::DropTail))
}
