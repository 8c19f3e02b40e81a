//! LFP: long flows are promoted while tokens abound, elephants go last; three REDs under strict priority.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use super::codel::positive;
use super::multi_queue::{SHARED, strict_priority};
use super::red::{COMMON, spec};
use crate::error::Result;
use crate::marker::{Lfp, Marker};
use mousehole_policy::{lfp, size_history};

const PAPER: &str = "LFP section 2";
const TABLE: &str = "LFP section 3";
const OURS: &str = "ours: the paper does not tell";

pub const LFP: SchemeDoc = SchemeDoc {
    name: "lfp",
    summary: "short flows first, long ones too while tokens abound, elephants last; strict priority",
    source: "Alcaraz, Gilly, Juiz & Puigjaner, EPEW 2011",
    detail: "A flow's first tau packets are green. Green packets spend tokens; while the bucket is fuller than a set point, \
             packets of longer flows are green as well, else yellow. A flow longer than the u-quantile of the last h \
             flows is an elephant: red from then on. The colours are physical queues under strict priority, so a flow \
             that changes colour is reordered and red may starve.",
    parameters: &[MARKER, QUEUE, SHARED, COMMON],
    marker,
    queue: |values, place| {
        let level = spec(values, "", place)?;
        strict_priority(values, place, &[level, level, level])
    },
    host: None,
};

const MARKER: &[ParameterDoc] = &[
    parameter("tau", Kind::Count, "10", "a flow's first packets are green, up to this count", PAPER),
    parameter(
        "omega",
        Kind::Number,
        "0.5",
        "tokens per second over the link's rate in packets of 1500 B",
        OURS,
    ),
    parameter("zeta", Kind::Count, "50", "tokens in a full bucket", OURS),
    parameter(
        "kappa",
        Kind::Percent,
        "50",
        "fill of the bucket around which promotion opens and closes, %",
        OURS,
    ),
    parameter(
        "delta",
        Kind::Percent,
        "25",
        "it opens at kappa + delta and closes below kappa - delta, %",
        OURS,
    ),
    parameter(
        "u",
        Kind::Percent,
        "95",
        "a flow beyond this quantile of the last flows is an elephant, %",
        "LFP section 2.4",
    ),
    parameter("h", Kind::Count, "1000", "so many last flows, at most 4096", OURS),
    parameter(
        "memoryless",
        Kind::Flag,
        "false",
        "an elephant may become an ordinary flow again",
        "off: LFP Fig. 4 has no way out of q2",
    ),
    parameter(
        "timeout",
        Kind::Time,
        "5s",
        "a flow silent for longer starts again at zero",
        "derived from LFP Table 1",
    ),
];

const QUEUE: &[ParameterDoc] = &[
    parameter("min", Kind::Packets, "10", "average queue where early drops begin, each queue", TABLE),
    parameter("max", Kind::Packets, "40", "average queue where every packet is dropped, each queue", TABLE),
    parameter("maxp", Kind::Fraction, "0.02", "drop probability just below max", TABLE),
    parameter("wq", Kind::Fraction, "0.001", "weight of the newest queue length in the average", TABLE),
];

fn marker(values: &Values, place: Place) -> Result<Marker> {
    let quantile = values.percent("u")? / 100.0;
    if !(1e-6..=1.0).contains(&quantile) {
        return Err(values.refuse("u", "allowed: 0.0001 to 100 percent"));
    }
    let sizes = size_history::Spec { quantile, flows: values.count("h")? };
    // A host's own link may be without limit.
    let rate = place.rate.min(place.bottleneck).0 as f64;
    let spec = lfp::Spec {
        threshold: values.count("tau")?,
        timeout_ns: positive(values, "timeout")?.0,
        rate: values.number("omega")? * rate / (1500.0 * 8.0),
        burst: values.count("zeta")?,
        set_point: values.percent("kappa")?,
        hysteresis: values.percent("delta")?,
        sizes,
        memoryless: values.flag("memoryless")?,
        ..lfp::Spec::default()
    };
    Ok(Marker::Lfp(Lfp::new(lfp::Params::new(&spec).map_err(|error| values.reject(error))?)))
}
