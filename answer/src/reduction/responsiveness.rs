//! Responsiveness in round trips per minute (draft-ietf-ippm-responsiveness-06, section 4.3.1, "Aggregating the
//! Measurements").

use super::Probe;
use crate::statistics::sums::mean;

/// Percentile up to which times count (TMP), %.
const TRIMMED_AT: f64 = 95.0;

/// Seconds of a minute.
const MINUTE_S: f64 = 60.0;

/// Round trips per minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Responsiveness {
    /// On new connections: of TCP handshake, TLS handshake and request, each of the same weight.
    pub foreign: f64,
    /// On load-generating connections.
    pub own: f64,
    /// The mean of both.
    pub both: f64,
}

/// Returns the responsiveness that the probes show; a part without probes is NaN, and with it the
/// mean of both.
///
/// Without TLS the foreign part is that of TCP handshake and request ("For the TCP-Only Case").
pub fn compute_responsiveness(probes: &[&Probe]) -> Responsiveness {
    let times = |is_foreign: bool, span: fn(&Probe) -> Option<f64>| {
        let own = probes.iter().filter(|probe| probe.is_foreign == is_foreign);
        trimmed_mean(own.filter_map(|probe| span(probe)).collect())
    };
    let spans: [fn(&Probe) -> Option<f64>; 3] =
        [|probe| probe.tcp_s, |probe| probe.tls_s, |probe| probe.http_s];
    let parts: Vec<f64> = spans.iter().filter_map(|span| times(true, *span)).collect();
    let foreign = MINUTE_S / mean(&parts);
    let own = MINUTE_S / times(false, |probe| probe.http_s).unwrap_or(f64::NAN);
    Responsiveness { foreign, own, both: (foreign + own) / 2.0 }
}

/// Returns the mean of the times up to their 95th percentile: of the shortest ⌈0.95 n⌉ of n. None
/// of none.
fn trimmed_mean(mut times: Vec<f64>) -> Option<f64> {
    times.sort_unstable_by(f64::total_cmp);
    let count = (times.len() as f64 * TRIMMED_AT / 100.0).ceil() as usize;
    times.truncate(count);
    (count > 0).then(|| mean(&times))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a probe on a new connection.
    fn foreign(tcp_s: f64, tls_s: Option<f64>, http_s: f64) -> Probe {
        Probe { source: 0, is_foreign: true, tcp_s: Some(tcp_s), tls_s, http_s: Some(http_s) }
    }

    /// Returns a probe on a load-generating connection.
    fn own(http_s: f64) -> Probe {
        Probe { source: 0, is_foreign: false, tcp_s: None, tls_s: None, http_s: Some(http_s) }
    }

    /// Returns the responsiveness of these probes.
    fn from_probes(probes: &[Probe]) -> Responsiveness {
        compute_responsiveness(&probes.iter().collect::<Vec<_>>())
    }

    /// The draft's section 1: 60 ms are 1000 round trips per minute, 10 ms are 6000.
    #[test]
    fn compute_responsiveness__of_the_drafts_round_trips() {
        for (time_s, rpm) in [(0.060, 1000.0), (0.010, 6000.0)] {
            let found = from_probes(&[foreign(time_s, Some(time_s), time_s), own(time_s)]);
            for part in [found.foreign, found.own, found.both] {
                assert!((part - rpm).abs() < 1e-9, "{found:?}");
            }
        }
    }

    /// By the draft's formulas: 60000 ÷ ((20 + 30 + 40) ÷ 3) = 2000, 60000 ÷ 120 = 500, their mean 1250.
    #[test]
    fn compute_responsiveness__by_the_drafts_formula_with_tls() {
        let found = from_probes(&[foreign(0.020, Some(0.030), 0.040), own(0.120)]);
        assert!((found.foreign - 2000.0).abs() < 1e-9 && (found.own - 500.0).abs() < 1e-9, "{found:?}");
        assert!((found.both - 1250.0).abs() < 1e-9, "{found:?}");
    }

    /// Zeros cannot take the place of a TLS handshake: 60000 ÷ ((20 + 40) ÷ 2) = 2000.
    #[test]
    fn compute_responsiveness__without_tls_leaves_its_part_out() {
        let found = from_probes(&[foreign(0.020, None, 0.040), own(0.060)]);
        assert!((found.foreign - 2000.0).abs() < 1e-9 && (found.both - 1500.0).abs() < 1e-9, "{found:?}");
    }

    /// Of twenty times the longest is left out, of each kind by itself.
    #[test]
    fn trimmed_mean__leaves_out_the_longest_twentieth() {
        let mut times = vec![0.1; 19];
        times.push(30.0);
        assert!((trimmed_mean(times).unwrap() - 0.1).abs() < 1e-12);
        assert_eq!((trimmed_mean(vec![2.0]), trimmed_mean(Vec::new())), (Some(2.0), None));
        assert!(from_probes(&[own(0.1)]).both.is_nan());
    }
}
