//! A user's contract with the network: token buckets for green and yellow, who is held to them, and how.
//!
//! Noureddine & Tobagi, section IV.B: per-user profiles of rate and burst, policed at the network's edge, where
//! offending packets are dropped or remarked; sources had better shape what they send to the same profile.

use super::super::catalogue::{Kind, ParameterDoc, parameter};
use super::super::scheme::Place;
use super::super::values::Values;
use crate::error::Result;
use crate::marker::{Marker, Policer};
use crate::queue::{HostScheduler, Queue, host_scheduler};
use mousehole_policy::{policer, token_bucket};

/// The contract of the application experiments: 250 kb/s and 6000 B of each colour.
pub const CONTRACT: &[ParameterDoc] = &contract_of("250kbit", "Noureddine & Tobagi, section V");

/// The contract of the TCP-state experiments: twice as much yellow.
pub const WIDER: &[ParameterDoc] = &contract_of("500kbit", "Noureddine & Tobagi, section VI.C");

const fn contract_of(med: &'static str, source: &'static str) -> [ParameterDoc; 3] {
    [
        parameter("high_rate", Kind::Rate, "250kbit", "a user's rate of green packets", source),
        parameter("med_rate", Kind::Rate, med, "a user's rate of yellow packets", source),
        parameter("burst", Kind::Size, "6000B", "burst of each", "Noureddine & Tobagi, section V"),
    ]
}

/// How users are held to their contracts.
pub const HELD: &[ParameterDoc] = &[
    parameter(
        "police",
        Kind::Choice(&["remark", "drop", "none"]),
        "remark",
        "what the edge does with green and yellow beyond the contract: remark it red, drop it, or let it pass",
        "Noureddine & Tobagi, section IV.B, has the first two; ours: which",
    ),
    parameter(
        "hold_acks",
        Kind::Flag,
        "false",
        "pure acknowledgements need tokens as well, at the host and at the edge",
        "ours: the paper does not tell",
    ),
];

/// `marker` with a policer of each user's contract behind it, unless there is to be none.
pub fn policed(values: &Values, place: Place, marker: Marker) -> Result<Marker> {
    let action = match values.text("police").as_str() {
        "none" => return Ok(marker),
        "drop" => policer::Action::Drop,
        _ => policer::Action::Recolour,
    };
    let [green, yellow] = buckets(values, place)?;
    let spec = policer::Spec { green, yellow, action };
    let params = policer::Params::new(&spec).map_err(|error| values.reject(error))?;
    Ok(Marker::Policed(Box::new(marker), Policer::new(params, !values.flag("hold_acks")?)))
}

/// The token buckets of a user's green and yellow packets.
pub fn buckets(values: &Values, place: Place) -> Result<[token_bucket::Spec; 2]> {
    let burst = u32::try_from(values.size("burst")?).ok().filter(|burst| *burst <= 1_000_000_000);
    let burst = burst.ok_or_else(|| values.refuse("burst", "allowed: at most 1 GB"))?;
    let bucket = |name: &str| match values.rate_at(name, place)?.0 {
        rate @ 8..=800_000_000_000 => Ok(token_bucket::Spec::bytes(rate as f64, burst)),
        _ => Err(values.refuse(name, "allowed: 8bit to 800gbit")),
    };
    Ok([bucket("high_rate")?, bucket("med_rate")?])
}

/// The host's scheduler and shaper, for scenarios with a stage at the hosts.
pub fn host(values: &Values, place: Place) -> Result<Queue> {
    let [green, yellow] = buckets(values, place)?;
    let exempt_acks = !values.flag("hold_acks")?;
    let params = host_scheduler::Params { green, yellow, exempt_acks, limit: place.buffer };
    Ok(Queue::HostScheduler(Box::new(HostScheduler::new(params).map_err(|error| values.reject(error))?)))
}
