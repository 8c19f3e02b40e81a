//! SFD and its promotions, with virtual queues; and SFD's marker as ns-2.35 ships it.

use super::super::catalogue::{Kind, ParameterDoc, SchemeDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use super::codel::positive;
use super::red::{COMMON, SFD_TABLE_1, spec};
use crate::error::Result;
use crate::marker::{Marker, Ns2Sfd};
use crate::queue::{Fifo, Ns2DsRed, Policy, Queue};
use mousehole_policy::{multi_red, promotion, sfd};

const PAPER_3_2: &str = "Chen & Heidemann, ISI-TR-2001-548, section 3.2";
const PAPER_3_3: &str = "Chen & Heidemann, ISI-TR-2001-548, section 3.3";

pub const SFD: SchemeDoc = SchemeDoc {
    name: "sfd",
    summary: "short-flow differentiating: a flow's first bytes are IN, the rest OUT; two virtual REDs",
    source: PAPER_3_2,
    detail: "The edge counts each flow's bytes; up to th they are IN, beyond OUT. One FIFO holds both, with an average \
             and thresholds for each colour, so that OUT is dropped first and order is kept. Short flows gain by \
             fewer losses and a shorter queue; long flows pay.",
    parameters: &[MARKER, COUPLING, REDS, COMMON],
    marker: |values, place| marker(values, place, promotion::Spec::None),
    queue,
    host: None,
};

pub const P_SFD: SchemeDoc = SchemeDoc {
    name: "p-sfd",
    summary: "SFD that promotes OUT packets with probability threshold / bytes sent",
    source: PAPER_3_3,
    detail: "As sfd, but a long flow's packets are IN with a probability that falls as the flow grows, which takes most \
             of the penalty from flows just above the threshold.",
    marker: |values, place| marker(values, place, promotion::Spec::Probabilistic),
    ..SFD
};

pub const S_SFD: SchemeDoc = SchemeDoc {
    name: "s-sfd",
    summary: "SFD that promotes every k-th OUT packet of a flow",
    source: PAPER_3_3,
    detail: "As sfd, but every k-th packet of a long flow is IN, however long it is. The paper's results from section \
             4.3 on are of this variant, with k = 4.",
    parameters: &[MARKER, SELECTIVE, COUPLING, REDS, COMMON],
    marker: |values, place| marker(values, place, promotion::Spec::OneOfK(values.count("k")?)),
    ..SFD
};

pub const NS2_SFD: SchemeDoc = SchemeDoc {
    name: "ns2-sfd",
    summary: "SFD as ns-2.35 ships it: 5 s lazy timeout, 5 OUT then 1 IN, drops spaced its way",
    source: "ns-2.35 SFDPolicy and dsRED, oracle/semantics.md 1.2, 1.3",
    detail: "What the authors' code does where it differs from their paper; a witness, not a proposal.",
    parameters: &[NS2_MARKER, NS2_MODE, REDS, NS2_COMMON],
    queue: ns2_queue,
    marker: |values, _| {
        let threshold = values.size("th")?.min(u64::from(u32::MAX)) as u32;
        Ok(Marker::Ns2Sfd(Ns2Sfd::new(threshold, values.flag("selective")?)))
    },
    host: None,
};

/// How the averages of virtual queues hang together.
pub const MODES: Kind = Kind::Choice(&["decoupled", "coupled", "total"]);

const COUPLING: &[ParameterDoc] = &[parameter(
    "mode",
    MODES,
    "decoupled",
    "a colour's average counts its own packets (decoupled), also better ones (coupled), or all (total)",
    "SFD section 3.2",
)];

/// The REDs of IN and OUT.
pub const REDS: &[ParameterDoc] = &[
    parameter(
        "in_min",
        Kind::Packets,
        "10",
        "IN: average queue where early drops begin, packets",
        SFD_TABLE_1,
    ),
    parameter(
        "in_max",
        Kind::Packets,
        "30",
        "IN: average queue where every packet is dropped, packets",
        SFD_TABLE_1,
    ),
    parameter("in_maxp", Kind::Fraction, "0.02", "IN: drop probability just below in_max", SFD_TABLE_1),
    parameter(
        "out_min",
        Kind::Packets,
        "8",
        "OUT: average queue where early drops begin, packets",
        SFD_TABLE_1,
    ),
    parameter(
        "out_max",
        Kind::Packets,
        "24",
        "OUT: average queue where every packet is dropped, packets",
        SFD_TABLE_1,
    ),
    parameter("out_maxp", Kind::Fraction, "0.1", "OUT: drop probability just below out_max", SFD_TABLE_1),
];

/// The meter and threshold of SFD.
pub const MARKER: &[ParameterDoc] = &[
    parameter(
        "th",
        Kind::Threshold,
        "15kB",
        "a flow's packets are IN up to this count, bytes of IP length or packets",
        "SFD section 4",
    ),
    parameter(
        "timeout",
        Kind::Time,
        "1s",
        "a flow silent for longer starts again at zero",
        "SFD section 3.2",
    ),
];

const SELECTIVE: &[ParameterDoc] = &[parameter(
    "k",
    Kind::Count,
    "4",
    "every k-th OUT packet of a flow is promoted to IN",
    "SFD section 4.3",
)];

pub const NS2_MARKER: &[ParameterDoc] = &[
    parameter(
        "th",
        Kind::Size,
        "15kB",
        "a flow's packets are IN up to this count of bytes",
        "ns-2.35 SFDPolicy",
    ),
    parameter(
        "selective",
        Kind::Flag,
        "false",
        "promote one packet after every five OUT ones",
        "ns-2.35 SFDPolicy",
    ),
];

/// What ns-2's DiffServ queue has of RED's common parameters: weight, mean packet, ECN.
const NS2_COMMON: &[ParameterDoc] = &[COMMON[0], COMMON[5], COMMON[6]];

const NS2_MODE: &[ParameterDoc] =
    &[parameter("mode", MODES, "coupled", "as for sfd; ns-2's own default is coupled", "ns-2.35 dsRED")];

fn marker(values: &Values, place: Place, promotion: promotion::Spec) -> Result<Marker> {
    let (threshold, unit) = values.threshold("th")?;
    let timeout_ns = positive(values, "timeout")?.0;
    let spec = sfd::Spec { threshold, unit, timeout_ns, promotion, ..sfd::Spec::default() };
    let params = Box::new(sfd::Params::new(&spec).map_err(|error| values.reject(error))?);
    let seed = (promotion == promotion::Spec::Probabilistic).then_some(place.dice());
    Ok(Marker::Sfd { params, flows: Vec::new(), seed })
}

fn queue(values: &Values, place: Place) -> Result<Queue> {
    let levels = vec![spec(values, "in_", place)?, spec(values, "out_", place)?];
    multi_red(values, place, levels)
}

/// One FIFO with a virtual RED for each colour; the coupling is the parameter `mode`.
pub fn multi_red(values: &Values, place: Place, levels: Vec<mousehole_policy::red::Spec>) -> Result<Queue> {
    let params = multi_red::Params::new(&multi_spec(values, levels)).map_err(|error| values.reject(error))?;
    let policy = Policy::MultiRed(Box::new(params), multi_red::State::default());
    Ok(Queue::Fifo(Fifo::new(place.buffer, policy)))
}

fn ns2_queue(values: &Values, place: Place) -> Result<Queue> {
    let levels = vec![spec(values, "in_", place)?, spec(values, "out_", place)?];
    let red = Ns2DsRed::new(&multi_spec(values, levels)).map_err(|error| values.reject(error))?;
    Ok(Queue::Fifo(Fifo::new(place.buffer, Policy::Ns2DsRed(Box::new(red)))))
}

fn multi_spec(values: &Values, levels: Vec<mousehole_policy::red::Spec>) -> multi_red::Spec {
    let mode = match values.text("mode").as_str() {
        "coupled" => multi_red::Mode::Coupled,
        "total" => multi_red::Mode::Total,
        _ => multi_red::Mode::Decoupled,
    };
    multi_red::Spec { mode, levels }
}
