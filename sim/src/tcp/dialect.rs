//! TCP dialects: the rules of a TCP where the RFCs and ns-2 differ.
//!
//! Most of ns-2's rules are the same in all its versions. Congestion control and loss recovery by
//! them are in modules of their own. [`Ns2Quirks`] holds only what changed from version to version.

use serde::{Serialize, Serializer};

/// Segments that ns-2's NewReno sends at most per ACK in recovery (`maxburst_` there).
pub(super) const NS2_RECOVERY_BURST: u32 = 2;

/// Whose rules a TCP follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The current RFCs.
    Rfc,
    /// ns-2's one-way TCP (`oracle/semantics.md`, section 1.6). The window grows per ACK, a reduction
    /// halves the window, every repeated ACK counts as a duplicate, the retransmission timer runs on
    /// when everything is acknowledged, and events of equal time keep their order of scheduling.
    Ns2(Ns2Quirks),
}

/// The rules in which versions of ns-2 differ; the names in parentheses are ns-2's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Ns2Quirks {
    /// Without a SYN, segment 0 goes out without the header bytes (`useHeaders_`).
    pub first_without_header: bool,
    /// The least RTO applies before backoff, as in RFC 6298, not after it (`rfc2988_`).
    pub min_rto_before_backoff: bool,
    /// Halving keeps fractions of a segment (`precisionReduce_`).
    pub fractional_halving: bool,
    /// NewReno: a partial ACK deflates the window by what it covers (`partial_window_deflation_`).
    pub partial_deflation: bool,
    /// NewReno: only the first partial ACK restarts the timer (`newreno_changes1_`).
    pub impatient: bool,
    /// Fast retransmit is allowed while only the first segment is acknowledged (`bugfix_ss_`).
    pub early_fast_retransmit: bool,
    /// Duplicate ACKs inflate the window only in fast recovery.
    pub inflate_only_in_recovery: bool,
    /// A timeout of the first segment cuts the initial window to one segment (`bugfix_ss_`).
    pub first_loss_shrinks_iw: bool,
}

impl Dialect {
    /// Returns the rules in which versions of ns-2 differ; for the RFCs, the equivalent values.
    pub fn quirks(self) -> Ns2Quirks {
        match self {
            Dialect::Rfc => RFC,
            Dialect::Ns2(quirks) => quirks,
        }
    }
}

/// The RFCs' values of the rules in which versions of ns-2 differ.
const RFC: Ns2Quirks = Ns2Quirks {
    first_without_header: false,
    early_fast_retransmit: false,
    first_loss_shrinks_iw: false,
    ..Ns2Quirks::NS_2_35
};

impl Ns2Quirks {
    /// ns-2.35, the last release.
    pub const NS_2_35: Ns2Quirks = Ns2Quirks {
        first_without_header: true,
        min_rto_before_backoff: true,
        fractional_halving: true,
        partial_deflation: true,
        impatient: true,
        early_fast_retransmit: true,
        inflate_only_in_recovery: true,
        first_loss_shrinks_iw: true,
    };

    /// ns-2 as it was from early 2001 to early 2002.
    pub const YEAR_2001: Ns2Quirks = Ns2Quirks {
        first_without_header: false,
        min_rto_before_backoff: false,
        fractional_halving: false,
        partial_deflation: false,
        impatient: false,
        early_fast_retransmit: false,
        inflate_only_in_recovery: false,
        first_loss_shrinks_iw: false,
    };
}

/// The manifest has a key for every rule in force, also for those that a dialect implies.
impl Serialize for Dialect {
    /// Writes every rule in force under its own key, next to the other parameters.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Rules {
            rfc5681: bool,
            growth: &'static str,
            timer_runs_when_idle: bool,
            insertion_order: bool,
            recovery_burst: u32,
            #[serde(flatten)]
            quirks: Ns2Quirks,
        }
        let is_ns2 = matches!(self, Dialect::Ns2(_));
        let rules = Rules {
            rfc5681: !is_ns2,
            growth: if is_ns2 { "per-ack" } else { "byte-counting" },
            timer_runs_when_idle: is_ns2,
            insertion_order: is_ns2,
            recovery_burst: if is_ns2 { NS2_RECOVERY_BURST } else { 0 },
            quirks: self.quirks(),
        };
        rules.serialize(serializer)
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::super::Params;
    use serde_json::{Value, json};

    /// Returns the manifest's entry for a profile.
    fn manifest_of(profile: &str) -> Value {
        let params = Params::find_profile(profile).expect("a known profile");
        serde_json::to_value(params).expect("parameters are JSON")
    }

    /// The manifest's keys are flat, whichever dialect they come from.
    #[test]
    fn dialect__is_flat_in_the_manifest() {
        let rules = ["rfc5681", "growth", "timer_runs_when_idle", "recovery_burst", "impatient"];
        let values = |profile| rules.map(|rule| manifest_of(profile)[rule].clone());
        assert_eq!(values("rfc"), [json!(true), json!("byte-counting"), json!(false), json!(0), json!(true)]);
        assert_eq!(values("ns2-2.35"), [json!(false), json!("per-ack"), json!(true), json!(2), json!(true)]);
        assert_eq!(values("ns2-2001")[4], json!(false));
        assert!(manifest_of("rfc").get("dialect").is_none());
        let count = |profile| manifest_of(profile).as_object().map(serde_json::Map::len);
        assert_eq!(count("rfc"), count("ns2-2001"));
    }
}
