//! Builds the CAKE-like queue.

use crate::queue::cake::{AckFilter, Isolation, Params};
use crate::queue::{Cake, ClassifyBy, Queue};
use crate::rng::{Purpose, Stream};
use crate::scenario::link_context::LinkContext;
use crate::scenario::values::Values;
use crate::units::Rate;

/// Returns the CAKE-like queue; `shape` is its shaper in percent of the link's rate, 0 for none,
/// which leaves the rate to the link. Its hash is drawn from the context's seed.
pub(super) fn build_cake(values: &Values, context: LinkContext) -> Queue {
    let percent = values.number("shape");
    let rate = if percent == 0.0 { context.rate.0 as f64 } else { context.rate.0 as f64 * percent / 100.0 };
    let params = Params {
        rate: Rate(rate.round().max(1.0) as u64),
        layer: context.wire.layer,
        shape: percent != 0.0,
        rtt: values.time("rtt"),
        tins: match values.text("tins") {
            "class" => Some(ClassifyBy::Class),
            "colour" => Some(ClassifyBy::Colour),
            "bulk" => Some(ClassifyBy::Demoted),
            _ => None,
        },
        isolation: match values.text("hosts") {
            "dual-srchost" => Isolation::DualSource,
            "dual-dsthost" => Isolation::DualDestination,
            "flows" => Isolation::Flows,
            _ => Isolation::Triple,
        },
        limit: values.buffer("limit"),
        ecn: values.flag("ecn"),
        ack_filter: match values.text("ack_filter") {
            "ack-filter" => Some(AckFilter::Conservative),
            "ack-filter-aggressive" => Some(AckFilter::Aggressive),
            _ => None,
        },
    };
    let hash = Stream::new(context.seed, Purpose::Hash, context.link).draw_at(0);
    Queue::Cake(Box::new(Cake::new(params, hash)))
}
