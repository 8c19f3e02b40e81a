//! Adaptive RED: RED that finds its own `max_p`, and its thresholds from the link's rate.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter, unmarked};
use super::super::scheme::Place;
use super::super::values::Values;
use super::codel::positive;
use super::red::{COMMON, spec};
use crate::error::Result;
use crate::queue::adaptive_red::{Adaptation, automatic};
use crate::queue::{AdaptiveRed, Fifo, Policy, Queue};

const PAPER: &str = "Floyd, Gummadi & Shenker 2001";

pub const ARED: SchemeDoc = SchemeDoc {
    name: "ared",
    summary: "RED whose max_p follows the average queue, with thresholds set from the link's rate",
    source: PAPER,
    detail: "Twice a second max_p grows when the average is above the middle of min and max, and shrinks when it is below: \
             the average stays in the middle at every load. No colours; the fairest RED to compare with.",
    parameters: &[OWN, COMMON],
    marker: unmarked,
    queue,
    host: None,
};

const OWN: &[ParameterDoc] = &[
    parameter("auto", Kind::Flag, "true", "set min, max, wq and gentle from the link's rate", PAPER),
    parameter("delay", Kind::Time, "5ms", "auto: delay at min, at least 5 packets", PAPER),
    parameter("min", Kind::Packets, "5", "not auto: average where early drops begin, packets", PAPER),
    parameter("max", Kind::Packets, "15", "not auto: average where max_p is reached, packets", PAPER),
    parameter(
        "wq",
        Kind::Fraction,
        "0.002",
        "not auto: weight of the newest queue length",
        "Floyd & Jacobson 1993",
    ),
    parameter("gentle", Kind::Flag, "true", "rise to certain drop between max and 2 max", PAPER),
    parameter("maxp", Kind::Fraction, "0.1", "where max_p starts", "Floyd & Jacobson 1993"),
    parameter("interval", Kind::Time, "500ms", "time between steps", PAPER),
    parameter("alpha", Kind::Fraction, "0.01", "most that a step adds; a quarter of max_p if less", PAPER),
    parameter("beta", Kind::Fraction, "0.9", "what a step multiplies by to lower max_p", PAPER),
    parameter("lowest", Kind::Fraction, "0.01", "from below this max_p falls no more", PAPER),
    parameter("highest", Kind::Fraction, "0.5", "from above this max_p rises no more", PAPER),
];

fn queue(values: &Values, place: Place) -> Result<Queue> {
    let adaptation = Adaptation {
        interval: positive(values, "interval")?,
        alpha: values.number("alpha")?,
        beta: values.number("beta")?,
        range: (values.number("lowest")?, values.number("highest")?),
        ..Adaptation::default()
    };
    if adaptation.range.0 > adaptation.range.1 {
        let allowed = format!("allowed: at most highest, which is {}", values.text("highest"));
        return Err(values.refuse("lowest", &allowed));
    }
    let automatically = values.flag("auto")?;
    let idle: &[&str] = if automatically { &["min", "max", "wq", "gentle"] } else { &["delay"] };
    if let Some(name) = idle.iter().find(|name| values.is_given(name)) {
        return Err(values.refuse(name, &format!("allowed: only with auto={}", !automatically)));
    }
    let own = spec(values, "", place)?;
    let own = if automatically { automatic(own, place.rate, values.time("delay")?) } else { own };
    let red = AdaptiveRed::new(&own, adaptation).map_err(|error| values.reject(error))?;
    Ok(Queue::Fifo(Fifo::new(place.buffer, Policy::Adaptive(Box::new(red)))))
}
