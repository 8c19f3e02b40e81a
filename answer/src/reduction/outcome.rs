//! Quality of Outcome (draft-ietf-ippm-qoo-04, "Calculating Quality of Outcome"): how far the delays and losses of an
//! application are from those with which it is perfect, on the way to those with which it is of no use.

use super::Datagrams;
use crate::quantities::Kind;

/// What an application needs at a percentile of the one-way delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Delay {
    /// The percentile, one of those that records have: 50, 95 or 99.
    pub percentile: f64,
    /// The delay up to which it is perfect (NRP).
    pub perfect_s: f64,
    /// The delay from which on it is of no use (NRPoU).
    pub useless_s: f64,
}

/// The needs of a class of applications, for one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// The kind of applications that it is for.
    pub kind: Kind,
    /// Needs by percentile of the delay.
    pub delays: &'static [Delay],
    /// The share of packets lost up to which it is perfect, and from which on it is of no use.
    pub losses: (f64, f64),
}

/// All profiles. docs/compare.md says where their numbers come from.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "voice",
        kind: Kind::Calls,
        delays: &[
            Delay { percentile: 50.0, perfect_s: 0.150, useless_s: 0.400 },
            Delay { percentile: 99.0, perfect_s: 0.150, useless_s: 0.400 },
        ],
        losses: (0.001, 0.03),
    },
    Profile {
        name: "game",
        kind: Kind::Games,
        delays: &[
            Delay { percentile: 50.0, perfect_s: 0.050, useless_s: 0.200 },
            Delay { percentile: 99.0, perfect_s: 0.050, useless_s: 0.200 },
        ],
        losses: (0.001, 0.03),
    },
    Profile {
        name: "videophone",
        kind: Kind::VideoCalls,
        delays: &[
            Delay { percentile: 50.0, perfect_s: 0.150, useless_s: 0.400 },
            Delay { percentile: 99.0, perfect_s: 0.150, useless_s: 0.400 },
        ],
        losses: (0.001, 0.01),
    },
];

/// Returns the quality of outcome of a flow by the profile of its kind, from 0 to 1; None of a kind without a profile
/// and of a flow that sent nothing. A flow of which nothing arrived is of no use.
pub fn quality_of_flow(kind: Kind, flow: &Datagrams) -> Option<f64> {
    let profile = PROFILES.iter().find(|profile| profile.kind == kind)?;
    let delay_s = |percentile: f64| match percentile {
        50.0 => flow.delay_p50_s,
        95.0 => flow.delay_p95_s,
        _ => flow.delay_p99_s,
    };
    let lost = flow.lost as f64 / flow.sent as f64;
    (flow.sent > 0).then(|| quality(profile, |percentile| delay_s(percentile).unwrap_or(f64::INFINITY), lost))
}

/// Returns the smallest of the scores of loss and of the delay at every percentile.
fn quality(profile: &Profile, delay_s: impl Fn(f64) -> f64, lost: f64) -> f64 {
    let of_delay = |need: &Delay| score(delay_s(need.percentile), need.perfect_s, need.useless_s);
    let of_loss = score(lost, profile.losses.0, profile.losses.1);
    profile.delays.iter().map(of_delay).fold(of_loss, f64::min)
}

/// Returns 1 for what is perfect, 0 for what is of no use, and between them the share of the way.
fn score(measured: f64, perfect: f64, useless: f64) -> f64 {
    (1.0 - (measured - perfect) / (useless - perfect)).clamp(0.0, 1.0)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::reduction::Played;

    /// The draft's example: 350 and 352 ms, 0.5 % lost; 33.33 and 96.08 by delay, 55.56 by loss, 33.33 in all.
    #[test]
    fn quality__of_the_drafts_example() {
        const DELAYS: &[Delay] = &[
            Delay { percentile: 99.0, perfect_s: 0.250, useless_s: 0.400 },
            Delay { percentile: 99.9, perfect_s: 0.350, useless_s: 0.401 },
        ];
        let example = |delays| Profile { name: "example", kind: Kind::Calls, delays, losses: (0.001, 0.01) };
        let measured = |percentile: f64| if percentile == 99.0 { 0.350 } else { 0.352 };
        let percent = |delays, lost| 1e4 * quality(&example(delays), measured, lost);
        assert_eq!(percent(DELAYS, 0.005).round(), 3333.0);
        assert_eq!(percent(&DELAYS[..1], 0.0).round(), 3333.0);
        assert_eq!(percent(&DELAYS[1..], 0.0).round(), 9608.0);
        assert_eq!(percent(&[], 0.005).round(), 5556.0);
    }

    #[test]
    fn quality__stays_within_perfect_and_useless() {
        let found = |delay_s: f64, lost: f64| quality(&PROFILES[0], |_| delay_s, lost);
        assert_eq!([found(0.010, 0.0), found(0.150, 0.001)], [1.0, 1.0]);
        assert_eq!([found(0.400, 0.0), found(9.0, 0.0), found(0.010, 0.03)], [0.0; 3]);
    }

    #[test]
    fn profiles__ask_for_percentiles_of_records_and_worsen_from_perfect_to_useless() {
        for profile in PROFILES {
            assert!(profile.losses.0 < profile.losses.1, "{}", profile.name);
            for need in profile.delays {
                assert!([50.0, 95.0, 99.0].contains(&need.percentile), "{}", profile.name);
                assert!(need.perfect_s < need.useless_s, "{}", profile.name);
            }
        }
    }

    #[test]
    fn quality_of_flow__has_a_profile_for_datagrams_that_people_hear_and_see() {
        let flow = Datagrams {
            source: 0,
            sent: 100,
            received: 100,
            lost: 0,
            late: 0,
            delay_p50_s: Some(0.020),
            delay_p95_s: Some(0.020),
            delay_p99_s: Some(0.125),
            jitter_s: None,
            played: Played::Not,
        };
        assert_eq!(quality_of_flow(Kind::Calls, &flow), Some(1.0));
        assert!((quality_of_flow(Kind::Games, &flow).unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(quality_of_flow(Kind::Streams, &flow), None);
        let silent = Datagrams { delay_p99_s: None, delay_p50_s: None, ..flow };
        assert_eq!(quality_of_flow(Kind::Calls, &silent), Some(0.0));
        assert_eq!(quality_of_flow(Kind::Calls, &Datagrams { sent: 0, ..silent }), None);
    }
}
