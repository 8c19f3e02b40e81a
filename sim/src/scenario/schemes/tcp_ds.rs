//! Noureddine & Tobagi's: three colours by application, by the state of TCP, or by a user's aggregate, and one FIFO
//! with three coupled REDs behind them.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use super::contract::{CONTRACT, HELD, WIDER, buckets, host, policed};
use super::red::line;
use super::sfd::multi_red;
use crate::error::Result;
use crate::marker::{Aggregate, ClassMarker, Marker, WindowMarker};
use crate::queue::Queue;
use mousehole_policy::{aggregate_marker, red, window_marker};

const PAPER: &str = "Noureddine & Tobagi, section IV.A";
const FIGURE_4: &str = "ours: the paper's Figure 4 is lost; staggered as its text asks";

pub const APPL: SchemeDoc = SchemeDoc {
    name: "appl",
    summary: "a colour by application: interactive first, web next, file transfer last; three coupled REDs",
    source: "Noureddine & Tobagi, section V",
    detail: "Telnet and its like are green, the web yellow, file transfer red, by what each connection is for. Each user's \
             green and yellow are held to a contract of two token buckets by a policer at the edge; beyond it they become \
             red, or are dropped. Interactive traffic loses nothing while it fits its contract; file transfer pays when \
             the link is narrow. Traffic files tell the application by the server's port. With a host_stage in the \
             scenario each user's host shapes what it sends: packets beyond the contract wait there.",
    parameters: &[CONTRACT, HELD, QUEUE],
    marker: |values, place| policed(values, place, Marker::Class(ClassMarker::default())),
    queue,
    host: Some(host),
};

pub const TCP_DS: SchemeDoc = SchemeDoc {
    name: "tcp-ds",
    summary: "a colour by the state of TCP: small windows, SYNs and recovery first; three coupled REDs",
    source: "Noureddine & Tobagi, section VI",
    detail: "The sending host colours every segment: green while its window is at most high, or while it recovers from a \
             loss; yellow up to med; red beyond. Short transfers never get past green and yellow, and a long one gets \
             help exactly when a loss would cost a timeout. Initial windows of 10 begin beyond both thresholds. The edge \
             polices each user's green and yellow by the contract; with a host_stage in the scenario, each user's host \
             schedules and shapes what it sends to the same contract, which leaves the policer little or nothing to do.",
    parameters: &[WINDOW, WIDER, HELD, QUEUE],
    marker: |values, place| window(values, place, false),
    queue,
    host: Some(host),
};

pub const TCP_DS_R: SchemeDoc = SchemeDoc {
    name: "tcp-ds-r",
    summary: "TCP-DS that keeps about the first threshold's packets green in larger windows, by chance",
    source: "Noureddine & Tobagi, section VI.A",
    detail: "As tcp-ds, but a packet of a larger window is green with probability high / window, and else yellow with \
             probability med / window, so that about so many packets of every connection are always protected.",
    marker: |values, place| window(values, place, true),
    ..TCP_DS
};

pub const ER_TBM: SchemeDoc = SchemeDoc {
    name: "er-tbm",
    summary: "an edge router colours each user's aggregate by two token buckets; three coupled REDs",
    source: "Noureddine & Tobagi, section VI.C",
    detail: "What common DiffServ edges do: a user's packets are green while one bucket has tokens, yellow while the \
             second has, red beyond, whatever they carry. The paper's baseline: a user's own bulk transfer spends the \
             tokens that its web page needs.",
    parameters: &[WIDER, QUEUE],
    marker: aggregate,
    queue,
    host: None,
};

const WINDOW: &[ParameterDoc] = &[
    parameter(
        "high",
        Kind::Count,
        "4",
        "windows up to this are green, segments",
        "Noureddine & Tobagi, section VI.C",
    ),
    parameter(
        "med",
        Kind::Count,
        "8",
        "windows up to this are yellow, segments",
        "Noureddine & Tobagi, section VI.C",
    ),
];

/// Three coupled REDs whose thresholds are shares of the buffer.
pub const QUEUE: &[ParameterDoc] = &[
    parameter("mode", super::sfd::MODES, "coupled", "as for sfd", PAPER),
    parameter("high_min", Kind::Packets, "70%", "green: average queue where early drops begin", FIGURE_4),
    parameter(
        "high_max",
        Kind::Packets,
        "100%",
        "green: average queue where every packet is dropped",
        FIGURE_4,
    ),
    parameter("med_min", Kind::Packets, "40%", "yellow: average queue where early drops begin", FIGURE_4),
    parameter(
        "med_max",
        Kind::Packets,
        "70%",
        "yellow: average queue where every packet is dropped",
        FIGURE_4,
    ),
    parameter("low_min", Kind::Packets, "20%", "red: average queue where early drops begin", FIGURE_4),
    parameter("low_max", Kind::Packets, "40%", "red: average queue where every packet is dropped", FIGURE_4),
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

fn window(values: &Values, place: Place, randomised: bool) -> Result<Marker> {
    let at = |name: &str| {
        u16::try_from(values.count(name)?).map_err(|_| values.refuse(name, "allowed: 1 to 65535 segments"))
    };
    let spec = window_marker::Spec { high: at("high")?, medium: at("med")?, randomised };
    let [params, always] =
        [spec, window_marker::Spec::ALWAYS_GREEN].map(|spec| window_marker::Params::new(&spec));
    let reject = |error| values.reject(error);
    let seed = randomised.then_some(place.dice());
    let marker = WindowMarker::new(params.map_err(reject)?, always.map_err(reject)?, seed);
    policed(values, place, Marker::Window(marker))
}

fn aggregate(values: &Values, place: Place) -> Result<Marker> {
    let [green, yellow] = buckets(values, place)?;
    let params = aggregate_marker::Params::new(&aggregate_marker::Spec { green, yellow });
    Ok(Marker::Aggregate(Aggregate::new(params.map_err(|error| values.reject(error))?)))
}

/// One FIFO with a coupled RED for each of three colours.
pub fn queue(values: &Values, place: Place) -> Result<Queue> {
    let levels = ["high", "med", "low"].map(|name| level(values, place, name));
    multi_red(values, place, levels.into_iter().collect::<Result<_>>()?)
}

fn level(values: &Values, place: Place, name: &str) -> Result<red::Spec> {
    let mean = values.size("mean")? as f64;
    let (min_packets, max_packets) = line(values, &format!("{name}_"), place, mean)?;
    Ok(red::Spec {
        min_packets,
        max_packets,
        max_p: values.number("maxp")?,
        w_q: values.number("wq")?,
        mean_packet_bytes: mean,
        rate_bps: place.rate.0 as f64,
        ecn: values.flag("ecn")?,
        ..red::Spec::default()
    })
}
