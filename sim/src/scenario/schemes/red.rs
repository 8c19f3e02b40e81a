//! RED without colours, and what every scheme built on RED shares: its parameters and their values.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter, unmarked};
use super::super::scheme::Place;
use super::super::values::Values;
use crate::error::Result;
use crate::queue::{Fifo, Ns2Red, Policy, Queue};
use mousehole_policy::red;

pub const RED: SchemeDoc = SchemeDoc {
    name: "red",
    summary: "Random Early Detection, no colours",
    source: "Floyd & Jacobson 1993; parameters of SFD Table 1, OUT",
    detail: "Drops at random as the average queue rises from min to max, so that flows back off before the buffer is \
             full. It knows nothing of short and long: a short flow's first packet is dropped as readily as any.",
    parameters: &[OWN, COMMON],
    marker: unmarked,
    queue,
    host: None,
};

pub const SFD_TABLE_1: &str = "SFD Table 1";

/// Parameters of every RED in a scheme.
pub const COMMON: &[ParameterDoc] = &[
    parameter("wq", Kind::Fraction, "0.02", "weight of the newest queue length in the average", SFD_TABLE_1),
    parameter(
        "gentle",
        Kind::Flag,
        "false",
        "rise to certain drop between max and 2 max instead of at max",
        "SFD used plain RED",
    ),
    parameter(
        "wait",
        Kind::Flag,
        "false",
        "space early drops between 1/p and 2/p packets apart instead of 1 and 1/p",
        "Floyd & Jacobson 1993, section 7",
    ),
    parameter(
        "byte",
        Kind::Flag,
        "false",
        "scale the drop probability with packet size",
        "Floyd & Jacobson 1993, section 7",
    ),
    parameter(
        "unit",
        Kind::Choice(&["packets", "bytes"]),
        "packets",
        "measure the queue in packets, or in bytes over the mean packet",
        SFD_TABLE_1,
    ),
    parameter(
        "mean",
        Kind::Size,
        "1000B",
        "mean packet, for idle time and byte counts",
        "ns-2's packet in SFD",
    ),
    parameter(
        "ecn",
        Kind::Flag,
        "false",
        "mark ECN-capable packets instead of dropping them early",
        "RFC 3168 section 7",
    ),
];

const OWN: &[ParameterDoc] = &[
    parameter("min", Kind::Packets, "8", "average queue where early drops begin, packets", SFD_TABLE_1),
    parameter(
        "max",
        Kind::Packets,
        "24",
        "average queue where every packet is dropped, packets",
        SFD_TABLE_1,
    ),
    parameter("maxp", Kind::Fraction, "0.1", "drop probability just below max", SFD_TABLE_1),
    parameter(
        "guard",
        Kind::Packets,
        "0",
        "an arrival that finds fewer packets waiting is not dropped early (ns-2: 2)",
        "off, as in Floyd & Jacobson 1993",
    ),
    parameter(
        "ns2",
        Kind::Flag,
        "false",
        "spacing, guard and full buffer as in ns-2.35's RED, to repeat its runs",
        "oracle/semantics.md 1.4",
    ),
];

fn queue(values: &Values, place: Place) -> Result<Queue> {
    let guard =
        values.depth("guard", place, values.size("mean")? as f64)?.round().min(f64::from(u32::MAX)) as u32;
    let own = red::Spec { spare_below_packets: guard, ..spec(values, "", place)? };
    let policy = if values.flag("ns2")? {
        Ns2Red::new(own, place.buffer).map(|red| Policy::Ns2Red(Box::new(red)))
    } else {
        red::Params::new(&own).map(|params| Policy::Red(Box::new(params), red::State::default()))
    };
    Ok(Queue::Fifo(Fifo::new(place.buffer, policy.map_err(|error| values.reject(error))?)))
}

/// The RED whose own parameters begin with `prefix`, the rest from [`COMMON`].
pub fn spec(values: &Values, prefix: &str, place: Place) -> Result<red::Spec> {
    let name = |suffix: &str| format!("{prefix}{suffix}");
    let mean = values.size("mean")? as f64;
    let (min_packets, max_packets) = line(values, prefix, place, mean)?;
    Ok(red::Spec {
        min_packets,
        max_packets,
        max_p: values.number(&name("maxp"))?,
        w_q: values.number("wq")?,
        mean_packet_bytes: mean,
        rate_bps: place.rate.0 as f64,
        gentle: values.is_set("gentle")?,
        wait: values.is_set("wait")?,
        byte_mode: values.is_set("byte")?,
        queue_in_bytes: values.text("unit") == "bytes",
        ecn: values.flag("ecn")?,
        spare_below_packets: 0,
    })
}

/// Where the line of the RED whose parameters begin with `prefix` begins and ends, in packets. Shares of a small
/// buffer may come too close for a line; they are kept a packet apart.
pub fn line(values: &Values, prefix: &str, place: Place, mean: f64) -> Result<(f64, f64)> {
    let [min, max] = [format!("{prefix}min"), format!("{prefix}max")];
    let [low, high] = [values.depth(&min, place, mean)?, values.depth(&max, place, mean)?];
    let shares = [&min, &max].map(|name| values.text(name).ends_with('%'));
    if shares == [true, true] && high <= low && low > 0.0 {
        let allowed = format!("allowed: more than {min}, which is {}", values.text(&min));
        return Err(values.refuse(&max, &allowed));
    }
    Ok((low, if shares.contains(&true) { high.max(low + 1.0) } else { high }))
}
