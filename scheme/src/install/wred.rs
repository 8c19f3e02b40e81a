//! Expresses a scheme as profiles of a router's WRED: one average for all packets, and thresholds for each DSCP.

use super::line::{Line, threshold_packets};
use crate::catalogue::Part;
use crate::units::parse_size;
use mousehole_policy::{Counterpart, CounterpartKind, Key};
use std::collections::BTreeMap;

/// DSCP of traffic that gives way to all other (LE, RFC 8622); yellow packets get it.
pub const LOWER_EFFORT: u8 = 1;
/// DSCPs of two profiles, best first: the default and LE.
const TWO: [u8; 2] = [0, LOWER_EFFORT];
/// DSCPs of three: AF11, AF12 and AF13.
const THREE: [u8; 3] = [10, 12, 14];

/// The values of a part as text.
pub type Texts = BTreeMap<&'static str, String>;

/// What a router's WRED needs to know of one DSCP, in the words of no vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WredProfile {
    /// The DSCP.
    pub dscp: u8,
    /// Average queue from which on packets are dropped by chance.
    pub min_packets: u64,
    /// Average queue from which on every packet is dropped.
    pub max_packets: u64,
    /// Probability of a drop just below the upper threshold.
    pub probability: String,
    /// The newest queue length has the weight 2 to the power of minus this in the average.
    pub weight_exponent: u32,
}

impl WredProfile {
    /// Returns the profile as one line of text.
    pub fn line(&self) -> String {
        format!(
            "WRED for DSCP {}: min {}, max {} packets, drop probability {}; weight of the average 2^-{}",
            self.dscp, self.min_packets, self.max_packets, self.probability, self.weight_exponent
        )
    }
}

/// Returns the profiles for a queue behind markers, best colour first; none if the queue is not what WRED does, or the
/// markers and it have fewer than two colours in common, or more than three.
pub fn wred_profiles(markers: &[Part], (queue, values): (Part, &Texts), line: &Line) -> Vec<WredProfile> {
    let Part::Policy(policy) = queue else { return Vec::new() };
    let is_wred =
        policy.counterpart().is_some_and(|one| one.kind == CounterpartKind::Wred && fits(&one, values));
    let given = |part: &Part| match part {
        Part::Policy(policy) => policy.colours(),
        Part::Native(_) => 0,
    };
    let read: usize = values.get("colours").and_then(|text| text.parse().ok()).unwrap_or(0);
    let colours = markers.iter().map(given).max().unwrap_or(0).min(read);
    let dscps: &[u8] = match (is_wred, colours) {
        (true, 2) => &TWO,
        (true, 3) => &THREE,
        _ => return Vec::new(),
    };
    let text = |name: &str| values.get(name).cloned().unwrap_or_default();
    let weight: f64 = text("wq").parse().unwrap_or(1.0);
    let weight_exponent = (-libm::log2(weight)).round_ties_even().max(0.0) as u32;
    let profile = |(dscp, colour): (&u8, &str)| WredProfile {
        dscp: *dscp,
        min_packets: threshold_packets(&text(&format!("{colour}_min")), line.buffer_packets),
        max_packets: threshold_packets(&text(&format!("{colour}_max")), line.buffer_packets),
        probability: text(&format!("{colour}_maxp")),
        weight_exponent,
    };
    dscps.iter().zip(["green", "yellow", "red"]).map(profile).collect()
}

/// Returns the DSCPs that a marker of ours writes for these profiles: with two profiles only that of long flows, as short
/// ones keep the default.
pub fn profile_dscps(profiles: &[WredProfile]) -> Vec<u8> {
    match profiles {
        [_, long] => vec![long.dscp],
        all => all.iter().map(|one| one.dscp).collect(),
    }
}

/// Returns nftables' rule that marks as the only marker does, with LE for yellow; `None` for several markers, and for
/// one without such a rule at these values.
pub fn firewall_rule(markers: &[(Part, Texts)], line: &Line) -> Option<String> {
    let [(Part::Policy(policy), values)] = markers else { return None };
    let counterpart = policy.counterpart().filter(|one| fits(one, values))?;
    let CounterpartKind::Firewall(name) = counterpart.kind else { return None };
    let threshold = values.get(name).filter(|_| policy.key() == Key::Flow)?;
    let (unit, count) = match threshold.strip_suffix('p') {
        Some(packets) => ("packets", packets.to_string()),
        None => ("bytes", parse_size(name, threshold).ok()?.to_string()),
    };
    let sender = if line.is_upload { "original" } else { "reply" };
    Some(format!(
        "nft add rule inet filter forward ct {sender} {unit} '>' {count} ip dscp set {LOWER_EFFORT}  # and ip6; needs \
         nf_conntrack_acct=1"
    ))
}

/// Returns whether the values are those that a counterpart requires.
fn fits(counterpart: &Counterpart, values: &Texts) -> bool {
    counterpart.requires.iter().all(|(name, value)| values.get(name).is_some_and(|text| text == value))
}
