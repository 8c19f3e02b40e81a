//! Builds adaptive RED.

use crate::error::Result;
use crate::queue::adaptive_red::Adaptation;
use crate::queue::{AdaptiveRed, Fifo, Policy, Queue};
use crate::scenario::link_context::LinkContext;
use crate::scenario::values::Values;
use mousehole_scheme::parts::adaptive_red::make_red;

/// Returns the FIFO of Adaptive RED, with the link's buffer.
///
/// # Errors
/// [`crate::error::Error::Field`] when a value does not fit the link.
pub(super) fn build_ared(values: &Values, context: LinkContext) -> Result<Queue> {
    let adaptation = Adaptation {
        interval: values.time("interval"),
        alpha: values.number("alpha"),
        beta: values.number("beta"),
        range: (values.number("lowest"), values.number("highest")),
        ..Adaptation::default()
    };
    let params = make_red(values, context)?;
    let red = values.accept(AdaptiveRed::new(params, values.number("maxp"), adaptation))?;
    Ok(Queue::Fifo(Fifo::new(context.buffer, Policy::Adaptive(Box::new(red)))))
}
