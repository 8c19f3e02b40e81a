//! Noureddine & Tobagi's: three colours by application, by the state of TCP, or by a user's aggregate, and one FIFO
//! with three coupled REDs behind them.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use super::sfd::multi_red;
use crate::error::Result;
use crate::marker::{Aggregate, ClassMarker, Marker, Policer};
use crate::queue::Queue;
use crate::units::Buffer;
use mousehole_policy::{aggregate_marker, policer, red, token_bucket};

const PAPER: &str = "Noureddine & Tobagi, section IV.A";
const FIGURE_4: &str = "ours: the paper's Figure 4 is lost; staggered as its text asks";

pub const APPL: SchemeDoc = SchemeDoc {
    name: "appl",
    summary: "a colour by application: interactive first, web next, file transfer last; three coupled REDs",
    source: "Noureddine & Tobagi, section V",
    detail: "Telnet and its like are green, the web yellow, file transfer red, by what each connection is for. Each user's \
             green and yellow are held to a contract of two token buckets; beyond it they become red. Interactive \
             traffic loses nothing while it fits its contract; file transfer pays when the link is narrow. Traffic files \
             tell the application by the server's port.",
    parameters: &[CONTRACT, QUEUE],
    marker: |values, _| {
        Ok(Marker::Policed(Box::new(Marker::Class(ClassMarker::default())), contract(values)?))
    },
    queue,
};

pub const ER_TBM: SchemeDoc = SchemeDoc {
    name: "er-tbm",
    summary: "an edge router colours each user's aggregate by two token buckets; three coupled REDs",
    source: "Noureddine & Tobagi, section VI.C",
    detail: "What common DiffServ edges do: a user's packets are green while one bucket has tokens, yellow while the \
             second has, red beyond, whatever they carry. The paper's baseline: a user's own bulk transfer spends the \
             tokens that its web page needs.",
    parameters: &[AGGREGATE, QUEUE],
    marker: aggregate,
    queue,
};

/// A user's contract.
pub const CONTRACT: &[ParameterDoc] = &[
    parameter("high", Kind::Rate, "250kbit", "a user's contract for green", "Noureddine & Tobagi, section V"),
    parameter("med", Kind::Rate, "250kbit", "a user's contract for yellow", "Noureddine & Tobagi, section V"),
    parameter("burst", Kind::Size, "6000B", "burst of each contract", "Noureddine & Tobagi, section V"),
];

const AGGREGATE: &[ParameterDoc] = &[
    parameter("high", Kind::Rate, "250kbit", "a user's rate for green", "Noureddine & Tobagi, section VI.C"),
    parameter("med", Kind::Rate, "500kbit", "a user's rate for yellow", "Noureddine & Tobagi, section VI.C"),
    parameter("burst", Kind::Size, "6000B", "burst of each", "Noureddine & Tobagi, section VI.C"),
];

/// Three coupled REDs whose thresholds are shares of the buffer.
pub const QUEUE: &[ParameterDoc] = &[
    parameter("mode", super::sfd::MODES, "coupled", "as for sfd", PAPER),
    parameter("high_min", Kind::Percent, "70", "green: where early drops begin, % of the buffer", FIGURE_4),
    parameter(
        "high_max",
        Kind::Percent,
        "100",
        "green: where every packet is dropped, % of the buffer",
        FIGURE_4,
    ),
    parameter("med_min", Kind::Percent, "40", "yellow: where early drops begin, % of the buffer", FIGURE_4),
    parameter(
        "med_max",
        Kind::Percent,
        "70",
        "yellow: where every packet is dropped, % of the buffer",
        FIGURE_4,
    ),
    parameter("low_min", Kind::Percent, "20", "red: where early drops begin, % of the buffer", FIGURE_4),
    parameter(
        "low_max",
        Kind::Percent,
        "40",
        "red: where every packet is dropped, % of the buffer",
        FIGURE_4,
    ),
    parameter("maxp", Kind::Fraction, "0.1", "drop probability just below each max", PAPER),
    parameter("wq", Kind::Fraction, "0.5", "weight of the newest queue length in the average", PAPER),
    parameter("mean", Kind::Size, "1000B", "mean packet, for idle time and byte buffers", "ns-2's packet"),
    parameter(
        "ecn",
        Kind::Flag,
        "false",
        "mark ECN-capable packets instead of dropping them early",
        "RFC 3168",
    ),
];

fn contract(values: &Values) -> Result<Policer> {
    let burst = burst(values)?;
    let spec = policer::Spec {
        green: token_bucket::Spec::bytes(values.rate("high")?.0 as f64, burst),
        yellow: token_bucket::Spec::bytes(values.rate("med")?.0 as f64, burst),
        ..policer::Spec::default()
    };
    Ok(Policer::new(policer::Params::new(&spec).map_err(|error| values.reject(error))?))
}

fn aggregate(values: &Values, _: Place) -> Result<Marker> {
    let burst = burst(values)?;
    let spec = aggregate_marker::Spec {
        green: token_bucket::Spec::bytes(values.rate("high")?.0 as f64, burst),
        yellow: token_bucket::Spec::bytes(values.rate("med")?.0 as f64, burst),
    };
    let params = aggregate_marker::Params::new(&spec).map_err(|error| values.reject(error))?;
    Ok(Marker::Aggregate(Aggregate::new(params)))
}

fn burst(values: &Values) -> Result<u32> {
    u32::try_from(values.size("burst")?).map_err(|_| values.refuse("burst", "allowed: at most 4 GB"))
}

/// One FIFO with a coupled RED for each of three colours.
pub fn queue(values: &Values, place: Place) -> Result<Queue> {
    let levels = ["high", "med", "low"].map(|level| share_of_buffer(values, place, level));
    multi_red(values, place, levels.into_iter().collect::<Result<_>>()?)
}

fn share_of_buffer(values: &Values, place: Place, level: &str) -> Result<red::Spec> {
    let mean = values.size("mean")? as f64;
    let packets = match place.buffer {
        Buffer::Packets(packets) => f64::from(packets),
        Buffer::Bytes(bytes) => bytes as f64 / mean,
    };
    let at = |end: &str| Ok(values.number(&format!("{level}_{end}"))? / 100.0 * packets);
    Ok(red::Spec {
        min_packets: at("min")?,
        max_packets: at("max")?,
        max_p: values.number("maxp")?,
        w_q: values.number("wq")?,
        mean_packet_bytes: mean,
        rate_bps: place.rate.0 as f64,
        ecn: values.flag("ecn")?,
        ..red::Spec::default()
    })
}
