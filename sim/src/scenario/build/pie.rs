//! Builds PIE.

use crate::queue::pie::{Delay, Params};
use crate::queue::{Pie, Queue};
use crate::scenario::values::Values;

/// Returns the queue of PIE.
pub(super) fn build_pie(values: &Values) -> Queue {
    Queue::Pie(Box::new(Pie::new(read_params(values))))
}

/// Returns PIE's parameters from checked values, under the names of the scheme's settings.
fn read_params(values: &Values) -> Params {
    Params {
        target: values.time("target"),
        period: values.time("period"),
        burst: values.time("burst"),
        alpha: values.number("alpha"),
        beta: values.number("beta"),
        mean_packet: values.count("mean"),
        limit: values.buffer("limit"),
        ecn: values.flag("ecn"),
        mark_ecnth: values.number("mark_ecnth"),
        delay: if values.text("delay") == "rate" { Delay::DepartureRate } else { Delay::Timestamp },
        derandomise: values.flag("derandomise"),
        cap: values.flag("cap"),
    }
}
