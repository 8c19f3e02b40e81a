//! Quality of Outcome (draft-ietf-ippm-qoo-04, "Calculating Quality of Outcome"): how far the delays and losses of an
//! application are from those with which it is perfect, on the way to those with which it is of no use.

use super::{Datagrams, Records};
use crate::quantities::Kind;
use mousehole_scheme::outcome_profile::{FIELD, Needs, Span};

/// The profiles of kinds of applications, by their names.
pub const PROFILE_OF_KIND: [(Kind, &str); 3] =
    [(Kind::Calls, "voice"), (Kind::Games, "game"), (Kind::VideoCalls, "videophone")];

/// Returns the needs of a source: those of the user's profile for it, else those of its kind's
/// profile; None without either.
///
/// # Panics
/// If `records.kinds` does not have the source.
pub fn find_needs(records: &Records, source: usize) -> Option<Needs> {
    if let Some((_, own)) = records.needs.iter().find(|(number, _)| *number == source) {
        return Some(own.clone());
    }
    let kind = records.kinds[source]?;
    let (_, name) = PROFILE_OF_KIND.iter().find(|(other, _)| *other == kind)?;
    Needs::parse(FIELD, name).ok()
}

/// Returns the quality of outcome of a flow, from 0 to 1; None of a flow that sent nothing. A
/// percentile of the delay that the flow does not have counts as infinite, so that a flow of which
/// nothing arrived is of no use.
pub fn quality_of_flow(needs: &Needs, flow: &Datagrams) -> Option<f64> {
    let delay_s = |percentile: f64| match percentile {
        50.0 => flow.delay_p50_s,
        95.0 => flow.delay_p95_s,
        99.0 => flow.delay_p99_s,
        _ => flow.asked_s.iter().find(|(asked, _)| *asked == percentile).and_then(|(_, delay_s)| *delay_s),
    };
    let lost = flow.lost as f64 / flow.sent as f64;
    let delay_s = |percentile| delay_s(percentile).unwrap_or(f64::INFINITY);
    (flow.sent > 0).then(|| quality(needs, delay_s, lost))
}

/// Returns the smallest of the scores of loss and of the delay at every percentile; 1 if nothing is
/// needed.
fn quality(needs: &Needs, delay_s: impl Fn(f64) -> f64, lost: f64) -> f64 {
    let of_delays = needs.delays.iter().map(|(percentile, span)| score(delay_s(*percentile), *span));
    let of_loss = needs.loss.iter().map(|span| score(lost, *span));
    of_delays.chain(of_loss).fold(1.0, f64::min)
}

/// Returns 1 for what is perfect or better, 0 for what is of no use or worse, and between them the
/// share of the way.
fn score(measured: f64, span: Span) -> f64 {
    (1.0 - (measured - span.perfect) / (span.useless - span.perfect)).clamp(0.0, 1.0)
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::reduction::Played;

    /// Reads needs, which must be valid.
    fn needs(text: &str) -> Needs {
        Needs::parse(FIELD, text).unwrap()
    }

    /// The draft's example: 350 and 352 ms, 0.5 % lost; 33.33 and 96.08 by delay, 55.56 by loss, 33.33 in all.
    #[test]
    fn quality__of_the_drafts_example() {
        let measured = |percentile: f64| if percentile == 99.0 { 0.350 } else { 0.352 };
        let percent = |text: &str| (1e4 * quality(&needs(text), measured, 0.005)).round();
        let [first, second, loss] = ["p99 250ms..400ms", "p99.9 350ms..401ms", "loss 0.1%..1%"];
        assert_eq!(percent(&[first, second, loss].join(", ")), 3333.0);
        assert_eq!([first, second, loss].map(percent), [3333.0, 9608.0, 5556.0]);
    }

    #[test]
    fn quality__stays_within_perfect_and_useless() {
        let found = |delay_s: f64, lost: f64| quality(&needs("voice"), |_| delay_s, lost);
        assert_eq!([found(0.010, 0.0), found(0.150, 0.001)], [1.0, 1.0]);
        assert_eq!([found(0.400, 0.0), found(9.0, 0.0), found(0.010, 0.03)], [0.0; 3]);
    }

    #[test]
    fn profiles_of_kinds__exist() {
        assert!(PROFILE_OF_KIND.iter().all(|(_, name)| Needs::parse(FIELD, name).is_ok()));
    }

    #[test]
    fn quality_of_flow__takes_the_percentiles_asked_for() {
        let flow = Datagrams {
            source: 0,
            sent: 100,
            received: 100,
            lost: 0,
            late: 0,
            delay_p50_s: Some(0.020),
            delay_p95_s: Some(0.020),
            delay_p99_s: Some(0.125),
            asked_s: vec![(99.9, Some(0.150))],
            jitter_s: None,
            played: Played::Not,
        };
        let quality = |text: &str, flow: &Datagrams| quality_of_flow(&needs(text), flow);
        assert_eq!(quality("voice", &flow), Some(1.0));
        assert!((quality("game", &flow).unwrap() - 0.5).abs() < 1e-12);
        assert!((quality("p99.9 100ms..200ms", &flow).unwrap() - 0.5).abs() < 1e-12);
        let silent = Datagrams { delay_p99_s: None, delay_p50_s: None, received: 0, lost: 100, ..flow };
        assert_eq!(quality("voice", &silent), Some(0.0));
        assert_eq!(quality("loss 0%..100%", &silent), Some(0.0));
        assert_eq!(quality("voice", &Datagrams { sent: 0, ..silent }), None);
    }
}
