//! RIO-PS: packets counted at the edge, a threshold that follows the flows, coupled gentle REDs with ECN.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use super::red::{COMMON, spec};
use super::sfd::{MODES, multi_red};
use crate::error::Result;
use crate::marker::{Marker, RioPs};
use crate::units::Dur;
use mousehole_policy::rio_ps;

const PAPER: &str = "Guo & Matta, BU-CS-2001-005";
const TABLE_III: &str = "RIO-PS Table III";
const OURS: &str = "ours: the paper does not tell";

pub const RIO_PS: SchemeDoc = SchemeDoc {
    name: "rio-ps",
    summary: "a flow's first packets are Short, by a threshold that keeps a ratio of short to long flows",
    source: PAPER,
    detail: "The edge counts each flow's packets; up to a threshold they are Short. Every t_c it moves the threshold by one \
             packet so that short flows stay about slr times as many as long ones. The queue drops Short by the number of \
             Short packets alone and Long by all, gently, and marks where hosts use ECN.",
    parameters: &[MARKER, QUEUE, COMMON],
    marker,
    queue: |values, place| {
        let levels = vec![spec(values, "short_", place)?, spec(values, "long_", place)?];
        multi_red(values, place, levels)
    },
    host: None,
};

const MARKER: &[ParameterDoc] = &[
    parameter("slr", Kind::Number, "3", "short flows to be had for each long one", TABLE_III),
    parameter("t_c", Kind::Time, "10s", "the threshold moves so often", "RIO-PS section III.B"),
    parameter(
        "t_u",
        Kind::Time,
        "1s",
        "a flow silent for longer is forgotten; swept so often",
        "RIO-PS section III.B",
    ),
    parameter("l_t", Kind::Count, "20", "first threshold, packets", OURS),
    parameter("floor", Kind::Count, "1", "least threshold, packets", OURS),
    parameter("cap", Kind::Count, "1000", "greatest threshold, packets", OURS),
];

const QUEUE: &[ParameterDoc] = &[
    parameter("mode", MODES, "coupled", "as for sfd", "RIO-PS section III.C"),
    parameter("short_min", Kind::Packets, "15%", "Short: average queue where early drops begin", TABLE_III),
    parameter(
        "short_max",
        Kind::Packets,
        "35%",
        "Short: average queue where the gentle part begins",
        TABLE_III,
    ),
    parameter("short_maxp", Kind::Fraction, "0.05", "Short: drop probability at short_max", TABLE_III),
    parameter("long_min", Kind::Packets, "15%", "Long: average queue where early drops begin", TABLE_III),
    parameter(
        "long_max",
        Kind::Packets,
        "50%",
        "Long: average queue where the gentle part begins",
        TABLE_III,
    ),
    parameter("long_maxp", Kind::Fraction, "0.1", "Long: drop probability at long_max", TABLE_III),
    parameter(
        "wq",
        Kind::Fraction,
        "0.001953125",
        "weight of the newest queue length in the average",
        TABLE_III,
    ),
    parameter(
        "gentle",
        Kind::Flag,
        "true",
        "rise to certain drop between max and 2 max",
        "RIO-PS section III.C",
    ),
    parameter("wait", Kind::Flag, "true", "space early drops evenly", TABLE_III),
    parameter("mean", Kind::Size, "500B", "mean packet, for idle time and byte counts", TABLE_III),
    parameter(
        "ecn",
        Kind::Flag,
        "true",
        "mark ECN-capable packets instead of dropping them early",
        TABLE_III,
    ),
];

fn marker(values: &Values, _: Place) -> Result<Marker> {
    let (sweep, adapt) = (values.time("t_u")?, values.time("t_c")?);
    for (name, time) in [("t_u", sweep), ("t_c", adapt)] {
        if time < Dur(1_000_000) {
            return Err(values.refuse(name, "allowed: at least 1 ms"));
        }
    }
    let spec = rio_ps::Spec {
        timeout_ns: sweep.0,
        period_ns: adapt.0,
        ratio: values.number("slr")?,
        initial: values.count("l_t")?,
        floor: values.count("floor")?,
        cap: values.count("cap")?,
        ..rio_ps::Spec::default()
    };
    let params = rio_ps::Params::new(&spec).map_err(|error| values.reject(error))?;
    Ok(Marker::RioPs(RioPs::new(params, sweep, adapt)))
}
