//! Builds ns-2.35's markers and queues.

use crate::error::Result;
use crate::marker::{Marker, Ns2Sfd};
use crate::queue::ns2_dsred::Mode;
use crate::queue::{Fifo, Ns2DsRed, Ns2Red, Ns2Rio, Policy, Queue, RedLine};
use crate::scenario::link_context::LinkContext;
use crate::scenario::values::Values;
use mousehole_scheme::parts::ns2::red_thresholds;

/// Returns ns-2's SFD marker.
pub(super) fn build_sfd(values: &Values) -> Marker {
    Marker::Ns2Sfd(Ns2Sfd::new(values.size("th") as u32, values.flag("selective")))
}

/// Returns ns-2's RED.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub(super) fn build_red(values: &Values, context: LinkContext) -> Result<Queue> {
    let line = parse_red_line(values, "", context)?;
    Ok(build_fifo(context, Policy::Ns2Red(Box::new(Ns2Red::new(line, context.buffer)))))
}

/// Returns ns-2's multi-RED for two drop precedences.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub(super) fn build_dsred(values: &Values, context: LinkContext) -> Result<Queue> {
    let lines = [parse_red_line(values, "in_", context)?, parse_red_line(values, "out_", context)?];
    let mode = match values.text("mode") {
        "decoupled" => Mode::Decoupled,
        "total" => Mode::Total,
        _ => Mode::Coupled,
    };
    Ok(build_fifo(context, Policy::Ns2DsRed(Box::new(Ns2DsRed::new(mode, &lines)))))
}

/// Returns ns-2's RIO.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub(super) fn build_rio(values: &Values, context: LinkContext) -> Result<Queue> {
    let (inside, out) = (parse_red_line(values, "in_", context)?, parse_red_line(values, "out_", context)?);
    Ok(build_fifo(context, Policy::Ns2Rio(Box::new(Ns2Rio::new(inside, out, context.buffer)))))
}

/// Returns the RED line whose parameters begin with `prefix`; some parameters are common to all
/// lines. Options that the queue does not have are off.
///
/// # Errors
/// [`crate::error::Error::Field`] when a threshold does not fit the link.
fn parse_red_line(values: &Values, prefix: &str, context: LinkContext) -> Result<RedLine> {
    let (min_packets, max_packets) = red_thresholds(values, prefix, context)?;
    let is_set = |name: &str| values.has(name) && values.flag(name);
    Ok(RedLine {
        min_packets,
        max_packets,
        max_p: values.number(&format!("{prefix}maxp")),
        w_q: values.number("wq"),
        mean_packet_bytes: values.size("mean") as f64,
        rate_bps: context.rate.0 as f64,
        gentle: is_set("gentle"),
        wait: is_set("wait"),
        byte_mode: is_set("byte"),
        queue_in_bytes: values.has("unit") && values.text("unit") == "bytes",
        ecn: values.flag("ecn"),
    })
}

/// Returns a FIFO with this drop policy and the link's buffer.
fn build_fifo(context: LinkContext, policy: Policy) -> Queue {
    Queue::Fifo(Fifo::new(context.buffer, policy))
}
