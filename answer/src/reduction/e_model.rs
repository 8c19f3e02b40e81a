//! The quality of a call by the E-model of Recommendation ITU-T G.107 (06/2015): its rating R and the mean opinion
//! score.
//!
//! Everything but delay and loss has its default value, and echo is cancelled: R = Ro − Is − Id −
//! Ie,eff, where Id has its default value and Idd, and the advantage factor is 0.

use serde::{Deserialize, Serialize};

/// A codec, by its robustness to loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Codec {
    /// G.711 without packet loss concealment.
    G711,
    /// G.711 with the packet loss concealment of its Appendix I.
    G711Plc,
}

impl Codec {
    /// Returns the equipment impairment factor Ie and the robustness factor Bpl (Recommendation ITU-T G.113,
    /// Appendix I).
    fn impairment(self) -> (f64, f64) {
        match self {
            Codec::G711 => (0.0, 4.3),
            Codec::G711Plc => (0.0, 25.1),
        }
    }
}

/// Returns the rating R of a call with this delay from mouth to ear, of whose packets `missing` of
/// `packets` are not played, in `gaps` runs; 0 at the least, as for a call of which nothing is
/// played or whose delay is NaN.
pub fn rating(codec: Codec, mouth_to_ear_s: f64, packets: u64, missing: u64, gaps: u64) -> f64 {
    if missing >= packets {
        return 0.0;
    }
    let share = missing as f64 / packets as f64;
    let effective = effective_impairment(codec, share, burst_ratio(share, missing, gaps));
    (default_rating() - delay_impairment(1e3 * mouth_to_ear_s) - effective).max(0.0)
}

/// Returns the mean opinion score of a rating (Annex B), which counts as 0 or 100 beyond these; at
/// least 1, below which its cubic falls near R = 3.
pub fn opinion_score(rating: f64) -> f64 {
    let rating = rating.clamp(0.0, 100.0);
    (1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6).max(1.0)
}

/// Returns BurstR: the mean length of the runs of missing packets over that under random loss of
/// this `share` (clause 7.5); 1 if it would be less, or there are no gaps.
fn burst_ratio(share: f64, missing: u64, gaps: u64) -> f64 {
    if gaps == 0 { 1.0 } else { (missing as f64 / gaps as f64 * (1.0 - share)).max(1.0) }
}

/// Returns Ie,eff (clause 7.5); `share` is that of the packets that are missing, from 0 to 1.
fn effective_impairment(codec: Codec, share: f64, burst_ratio: f64) -> f64 {
    let ((ie, bpl), loss) = (codec.impairment(), 100.0 * share);
    ie + (95.0 - ie) * loss / (loss / burst_ratio + bpl)
}

/// Returns Idd (clause 7.4) of a one-way delay in milliseconds, with the default sensitivity to
/// delay; 0 up to 100 ms.
fn delay_impairment(delay_ms: f64) -> f64 {
    if delay_ms <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(delay_ms / 100.0);
    let root = |value: f64| libm::pow(1.0 + libm::pow(value, 6.0), 1.0 / 6.0);
    25.0 * (root(x) - 3.0 * root(x / 3.0) + 2.0)
}

/// Returns R with all parameters at their defaults (clauses 7.1 to 7.5): without delay, loss and quantizing distortion of
/// more than one codec.
fn default_rating() -> f64 {
    let (slr, rlr, stmr, dr, ds) = (8.0, 2.0, 15.0, 3.0, 3.0);
    let (telr, wepl, qdu, nc, nfor, ps, pr) = (65.0, 110.0, 1.0, -70.0, -64.0, 35.0, 35.0);
    let olr = slr + rlr;
    let level = |sum: f64| 10.0 * libm::log10(sum);
    let power = |level: f64| libm::pow(10.0, level / 10.0);
    let root = |value: f64, degree: i32| {
        libm::pow(1.0 + libm::pow(value, f64::from(degree)), 1.0 / f64::from(degree))
    };
    // Basic signal-to-noise ratio.
    let square = |value: f64| value * value;
    let nos = ps - slr - ds - 100.0 + 0.004 * square(ps - olr - ds - 14.0);
    let pre = pr + level(1.0 + power(10.0 - (stmr + dr)));
    let nor = rlr - 121.0 + pre + 0.008 * square(pre - 35.0);
    let no = level(power(nc) + power(nos) + power(nor) + power(nfor + rlr));
    let ro = 15.0 - 1.5 * (slr + no);
    // Impairments simultaneous with the voice.
    let xolr = olr + 0.2 * (64.0 + no - rlr);
    let iolr = 20.0 * (root(xolr / 8.0, 8) - xolr / 8.0);
    let stmro = -level(power(-stmr) + power(-telr));
    let sidetone = 12.0 * root((stmro - 13.0) / 6.0, 8)
        - 28.0 * root((stmro + 1.0) / 19.4, 35)
        - 13.0 * root((stmro - 3.0) / 33.0, 13)
        + 29.0;
    let q = 37.0 - 15.0 * libm::log10(qdu);
    let g = 1.07 + 0.258 * q + 0.0602 * q * q;
    let (y, z) = ((ro - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0, 46.0 / 30.0 - g / 40.0);
    let iq = 15.0 * libm::log10(1.0 + libm::pow(10.0, y) + libm::pow(10.0, z));
    // Listener echo without a delay; talker echo is 0 then.
    let rle = 10.5 * (wepl + 7.0);
    let half = (ro - rle) / 2.0;
    let idle = half + f64::sqrt(half * half + 169.0);
    ro - (iolr + sidetone + iq) - idle
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// G.107: R = 93.2 with all default values, for which Annex B gives a score of 4.41.
    #[test]
    fn rating__of_the_defaults() {
        let found = rating(Codec::G711, 0.0, 100, 0, 0);
        assert!((found - 93.2).abs() < 0.05, "{found}");
        assert!((opinion_score(found) - 4.41).abs() < 0.005, "{}", opinion_score(found));
    }

    /// G.107 Table B.1: the lower limits of R of the categories of satisfaction and their scores.
    #[test]
    fn opinion_score__of_table_b_1() {
        for (rating, score) in [(90.0, 4.34), (80.0, 4.03), (70.0, 3.60), (60.0, 3.10), (50.0, 2.58)] {
            assert!((opinion_score(rating) - score).abs() < 0.01, "{rating}: {}", opinion_score(rating));
        }
        assert_eq!((opinion_score(-5.0), opinion_score(3.0), opinion_score(120.0)), (1.0, 1.0, 4.5));
    }

    /// Worked by hand: X = log2(Ta ÷ 100) is 1 at 200 ms and 2 at 400 ms.
    #[test]
    fn delay_impairment__by_hand() {
        assert_eq!((delay_impairment(20.0), delay_impairment(100.0)), (0.0, 0.0));
        let at = |x: f64| {
            25.0 * (libm::pow(1.0 + libm::pow(x, 6.0), 1.0 / 6.0)
                - 3.0 * libm::pow(1.0 + libm::pow(x / 3.0, 6.0), 1.0 / 6.0)
                + 2.0)
        };
        for (delay_ms, x, expected) in [(200.0, 1.0, 3.045), (400.0, 2.0, 24.07)] {
            assert!((delay_impairment(delay_ms) - at(x)).abs() < 1e-9);
            assert!((at(x) - expected).abs() < 0.01, "{}", at(x));
        }
    }

    /// One per cent of random loss costs 95 ÷ 5.3 without concealment and 95 ÷ 26.1 with it; twice as long bursts
    /// cost more.
    #[test]
    fn effective_impairment__by_hand() {
        assert!((effective_impairment(Codec::G711, 0.01, 1.0) - 95.0 / 5.3).abs() < 1e-9);
        assert!((effective_impairment(Codec::G711Plc, 0.01, 1.0) - 95.0 / 26.1).abs() < 1e-9);
        assert!((effective_impairment(Codec::G711Plc, 0.02, 2.0) - 190.0 / 26.1).abs() < 1e-9);
    }

    #[test]
    fn burst_ratio__compares_runs_with_random_loss() {
        // 10 of 100 are missing in 5 runs of 2: random loss would make runs of 1 ÷ 0.9.
        assert!((burst_ratio(0.1, 10, 5) - 1.8).abs() < 1e-12);
        assert_eq!((burst_ratio(0.1, 10, 10), burst_ratio(0.0, 0, 0)), (1.0, 1.0));
        assert!(rating(Codec::G711Plc, 0.1, 100, 10, 5) < rating(Codec::G711Plc, 0.1, 100, 10, 10));
        assert_eq!(rating(Codec::G711Plc, f64::NAN, 100, 100, 1), 0.0);
    }
}
