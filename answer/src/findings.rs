//! One plain sentence per scheme, reference and endpoint: better, worse, equal, or undecided.

use crate::columns::{self, estimate_columns};
use crate::comparison::{Capture, Cell, Endpoint, LEAST_TRANSFERS, Plan, Source, Whose, log_ratio};
use crate::quantities::{Better, Unit};
use crate::sizes::Role;
use crate::statistics::intervals::{count_smaller, difference};
use crate::statistics::sums::mean;
use crate::statistics::{Estimate, LEAST_REPLICATIONS};
use crate::texts::{count_text, percent, unit_text};
use crate::verdicts::{NOT_JUDGED, Outcome, Verdict, describe_change, judge};
use serde::Serialize;

/// What the intervals over resamples of a capture cover.
const CAPTURE_NOTE: &str = "The intervals cover what another capture of this length and place would differ by: each \
    replication draws the capture's clients anew, with replacement. They do not cover other times of day, users or \
    links, or transfers too rare to be in the capture.";
/// What those over models fitted to resamples of a capture cover.
const FITTED_NOTE: &str = "The intervals cover what another capture of this length and place would differ by: each \
    replication plays a model that is fitted to a resample of the capture. Sizes beyond what was recorded are those of \
    files on the Web elsewhere. Of models whose truth is known, effects had the right sign and looked smaller than they \
    are. The intervals do not cover other times of day, users or links.";
/// What those over a capture that is replayed unchanged cover.
const REPLAY_NOTE: &str = "The traffic is replayed as it is. The intervals cover the position of the measured window \
    only; with a load (--load) they also cover what another capture would differ by.";
/// What those over draws of a model cover.
const MODEL_NOTE: &str = "The intervals cover the random draws of the model.";
/// What those over rounds of real programs cover.
const ROUNDS_NOTE: &str = "The intervals cover what rounds of the same programs on this machine differ by. They do not \
    cover other programs, machines or links.";

/// One scheme against one reference on one endpoint, in one cell of the grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The scheme.
    pub scheme: String,
    /// The scheme that it is compared with.
    pub reference: String,
    /// Name of the figure that is compared, such as short_response_mean_s.
    pub endpoint: String,
    /// The endpoint in words, such as `mean response time of transfers ≤ 15 kB`.
    pub endpoint_words: String,
    /// False for the one primary endpoint.
    pub exploratory: bool,
    /// Better, worse, equal within 5 % or undecided; for an exploratory endpoint also no clear change.
    pub outcome: Outcome,
    /// How the endpoint changes.
    #[serde(flatten, serialize_with = "columns::write::<Change, _, _>")]
    #[cfg_attr(test, schemars(with = "Change"))]
    pub change: Estimate,
    /// How far apart the two means are.
    #[serde(flatten, serialize_with = "columns::write::<Difference, _, _>")]
    #[cfg_attr(test, schemars(with = "Difference"))]
    pub difference_s: Estimate,
    /// Share of the same short transfers that took longer than under the reference; null if unknown.
    pub slower_share: Option<f64>,
    /// Share of them that took less time; null if unknown.
    pub faster_share: Option<f64>,
    /// Replications in which both schemes have the endpoint.
    pub replications: u32,
    /// The error permitted to this one interval; 0.05 unless it must hold together with others.
    #[cfg_attr(test, schemars(with = "Option<f64>"))]
    pub error: f64,
    /// About how many replications would decide an undecided comparison; null for the others.
    pub seeds_needed: Option<u32>,
    /// The outcome in words, such as `better by 32 % (95 % interval 28–36 %)`.
    pub verdict: String,
    /// The verdict with the names of the two schemes and of the endpoint.
    pub sentence: String,
}

estimate_columns! {
    /// Geometric mean of the replications' ratios, less one: −0.3 is 30 % less.
    Change { change, change_low, change_high }
}

estimate_columns! {
    /// The mean less that of the reference; null for an endpoint that is no time.
    Difference { difference_s, difference_low_s, difference_high_s }
}

/// Returns every scheme against the references on every endpoint: by reference, then by scheme,
/// then by endpoint. The baseline and a reference itself are not compared.
pub fn compute_findings(cell: &Cell) -> Vec<Finding> {
    let endpoints = cell.list_endpoints();
    let (references, baseline) = (cell.plan.references.iter(), cell.baseline());
    let pairs = references.map(|name| cell.scheme_index(name)).flat_map(|reference| {
        let others = cell.schemes().filter(move |scheme| ![baseline, reference].contains(scheme));
        others.map(move |scheme| (scheme, reference))
    });
    pairs
        .flat_map(|(scheme, reference)| {
            endpoints.iter().map(move |endpoint| compute_finding(cell, scheme, reference, endpoint))
        })
        .collect()
}

/// Returns how a scheme compares with a reference on one endpoint. Only the primary endpoint has shares of the same
/// transfers.
fn compute_finding(cell: &Cell, scheme: usize, reference: usize, endpoint: &Endpoint) -> Finding {
    let (own, other) = (cell.values(&endpoint.source, scheme), cell.values(&endpoint.source, reference));
    let design = if endpoint.exploratory { cell.design() } else { cell.primary_design(reference) };
    let ratio = match endpoint.exploratory {
        true => log_ratio(&own, &other, &design),
        false => log_ratio(&cell.primary_values(scheme), &cell.primary_values(reference), &design),
    };
    // A percentile may be missing under one of them.
    let is_time = own.len() == other.len() && endpoint.source.quantity.unit == Unit::Seconds;
    let judged = judge_endpoint(cell, scheme, reference, endpoint, &ratio);
    let shares = if endpoint.exploratory { None } else { cell.shares(scheme, reference) };
    let (scheme, reference) = (cell.name(scheme).to_owned(), cell.name(reference).to_owned());
    let remark = if endpoint.exploratory { " [exploratory]" } else { "" };
    Finding {
        sentence: format!("{scheme} against {reference}, {}: {}{remark}", endpoint.words, judged.text),
        scheme,
        reference,
        endpoint: endpoint.name.clone(),
        endpoint_words: endpoint.words.clone(),
        exploratory: endpoint.exploratory,
        outcome: judged.outcome,
        change: undo_cost(&ratio, endpoint).as_change(),
        difference_s: if is_time { difference(&own, &other, &design) } else { Estimate::UNKNOWN },
        slower_share: shares.map(|(slower, _)| slower),
        faster_share: shares.map(|(_, faster)| faster),
        replications: ratio.count,
        error: design.allowed_error(ratio.count),
        seeds_needed: judged.seeds_needed,
        verdict: judged.text,
    }
}

/// Returns the log-ratio of an endpoint itself from that of its costs, which the primary one is judged by.
fn undo_cost(ratio: &Estimate, endpoint: &Endpoint) -> Estimate {
    let is_inverse = !endpoint.exploratory && endpoint.source.quantity.better == Better::More;
    if is_inverse { ratio.negated() } else { *ratio }
}

/// Returns the verdict on an endpoint: of the primary one a decision, of an exploratory one a
/// description. It is undecided where values are missing or the capture has too few transfers, and
/// withdrawn where means are lower bounds. `ratio` is that of costs where the endpoint is the primary one.
fn judge_endpoint(
    cell: &Cell,
    scheme: usize,
    reference: usize,
    endpoint: &Endpoint,
    ratio: &Estimate,
) -> Verdict {
    let (source, unit) = (&endpoint.source, cell.plan.unit());
    let (own, other) = (cell.values(source, scheme), cell.values(source, reference));
    let verdict = if endpoint.exploratory {
        describe_change(ratio, &source.quantity, unit)
    } else {
        let faster = count_smaller(&cell.primary_values(scheme), &cell.primary_values(reference));
        judge(ratio, source.quantity.better, &cell.primary_design(reference), unit, Some(faster))
    };
    let missing =
        if ratio.has_interval() { None } else { explain_missing_values(cell, source, [scheme, reference]) };
    let mut verdict = missing.unwrap_or(verdict);
    if !cell.has_enough(source) {
        let text = format!("{NOT_JUDGED} ({})", floor_text(cell, source.role()));
        verdict = Verdict::new(Outcome::Undecided, text);
    }
    if matches!(verdict.outcome, Outcome::Better | Outcome::Worse) && !endpoint.exploratory {
        let means = means_text(&own, &other, source.quantity.unit);
        verdict = Verdict::new(verdict.outcome, format!("{}, mean {means}", verdict.text));
    }
    withdraw_if_censored(cell, scheme, reference, source, verdict)
}

/// Returns why there is no interval if some replications lack the endpoint. None if none lacks it, or if there would be
/// too few replications anyway.
fn explain_missing_values(cell: &Cell, source: &Source, schemes: [usize; 2]) -> Option<Verdict> {
    let [own, other] = schemes.map(|scheme| cell.all_values(source, scheme));
    let having = own.iter().zip(&other).filter(|(own, other)| own.is_finite() && other.is_finite()).count();
    let replications = cell.plan.replications as usize;
    if replications < LEAST_REPLICATIONS || having == replications {
        return None;
    }
    let word = cell.plan.unit().name();
    let had = match having {
        0 => format!("no {word} had"),
        _ => format!("only {having} of {replications} {word}s had"),
    };
    let what = match source.whose {
        Whose::Kind(kind) => kind.text(),
        _ if source.quantity.is_percentile() => "enough such transfers for a percentile".to_owned(),
        _ => "such a transfer".to_owned(),
    };
    Some(Verdict::undecided(&format!("{had} {what}")))
}

/// Returns the verdict, withdrawn if a mean that it relies on is only a lower bound. Verdicts on
/// kinds of applications stay.
fn withdraw_if_censored(
    cell: &Cell,
    scheme: usize,
    reference: usize,
    source: &Source,
    verdict: Verdict,
) -> Verdict {
    if matches!(source.whose, Whose::Kind(_)) {
        return verdict;
    }
    let role = source.role();
    let bounds = [scheme, reference].map(|one| cell.is_bound(one, role));
    let who = if bounds[0] { scheme } else { reference };
    let share = percent(cell.censored_share(who, role));
    let why = format!("{share} % of the transfers under {} were left unfinished", cell.name(who));
    verdict.with_bounds(bounds[0], bounds[1], &why)
}

/// Returns the means over the replications that both know, from the other's to the own, such as `128 ms → 87 ms`; without
/// such replications it is `unknown`.
pub fn means_text(own: &[f64], other: &[f64], unit: Unit) -> String {
    if own.len() != other.len() {
        return "unknown".to_owned();
    }
    let known = || own.iter().zip(other).filter(|(own, other)| own.is_finite() && other.is_finite());
    if known().count() == 0 {
        return "unknown".to_owned();
    }
    let from = mean(&known().map(|(_, other)| *other).collect::<Vec<_>>());
    let to = mean(&known().map(|(own, _)| *own).collect::<Vec<_>>());
    format!("{} → {}", unit_text(unit, from, false), unit_text(unit, to, false))
}

/// Returns how many distinct transfers of a size the capture has, and how many a verdict needs.
/// Without a capture it has none.
pub fn floor_text(cell: &Cell, role: Role) -> String {
    let sizes = cell.plan.sizes(role);
    let transfers = cell.capture.as_ref().map_or(0, |capture| capture.class_counts(role).transfers);
    let least = cell.capture.as_ref().map_or(LEAST_TRANSFERS, Capture::least);
    format!(
        "the capture has {}{sizes}, of at least {least}",
        count_text(transfers as i64, "distinct transfer")
    )
}

/// Returns why there is no interval: too few replications, each of `length` if it is given.
pub fn few_replications_text(plan: &Plan, length: &str) -> String {
    let each = if length.is_empty() { String::new() } else { format!(" of {length}") };
    let give = if plan.replications == 1 { "gives" } else { "give" };
    let option = if plan.in_rounds { "--rounds" } else { "--seeds" };
    let runs = count_text(i64::from(plan.replications), plan.unit().name());
    format!("{runs}{each} {give} no interval; at least {LEAST_REPLICATIONS} are needed ({option})")
}

/// Returns the sentence that says what the intervals cover.
pub fn coverage_note(cell: &Cell) -> &'static str {
    match &cell.capture {
        _ if cell.plan.in_rounds => ROUNDS_NOTE,
        None => MODEL_NOTE,
        Some(capture) if capture.is_fitted => FITTED_NOTE,
        Some(_) if cell.plan.is_overlaid => CAPTURE_NOTE,
        Some(_) => REPLAY_NOTE,
    }
}

/// Returns the paragraph that names the primary endpoint, says for what its intervals are simultaneous, and calls all
/// else exploratory.
pub fn exploratory_note(plan: &Plan, primary: &str) -> String {
    let word = plan.unit().name();
    let looks = if plan.is_sequential {
        format!("and for all looks if {word}s are doubled for each (10, 20, 40, …)")
    } else {
        format!("for one look at this number of {word}s")
    };
    format!(
        "The primary endpoint is the {primary}. A change is the geometric mean of the {word}s' ratios. Its 95 % \
         intervals hold together for all schemes against one reference (largest t, by the bootstrap), {looks}. \
         Everything else is exploratory, and its intervals stand alone."
    )
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::comparison::Counted;
    use crate::tests_support::{cell, make_cell};

    /// Returns the first finding of the primary endpoint, which must exist.
    fn find_primary(cell: &Cell) -> Finding {
        compute_findings(cell).into_iter().find(|one| !one.exploratory).unwrap()
    }

    #[test]
    fn compute_findings__name_schemes_endpoint_and_means() {
        let found = cell(&[("droptail", 1.0, 10.0), ("sfd", 0.7, 11.0)]);
        let sentence = "sfd against droptail, mean response time of transfers ≤ 15 kB: better by 30 % (95 % interval \
            30–30 %), mean 1 s → 700 ms";
        assert_eq!(find_primary(&found).sentence, sentence);
        assert!((find_primary(&found).difference_s.mean + 0.3).abs() < 1e-9);
        let all = compute_findings(&found);
        let names: Vec<&str> = all.iter().map(|one| one.endpoint.as_str()).collect();
        let endpoints =
            ["short_response_mean_s", "short_response_p95_s", "long_response_mean_s", "long_goodput_bps"];
        assert_eq!(names, endpoints);
        assert_eq!(find_primary(&found).endpoint_words, "mean response time of transfers ≤ 15 kB");
        let long = &all[2];
        assert_eq!(long.verdict, "longer by 10 % (95 % interval 10–10 %)");
        assert!(long.sentence.ends_with("[exploratory]"));
        assert!(all[3].difference_s.mean.is_nan(), "a rate is no time");
    }

    #[test]
    fn compute_findings__of_lower_bounds_are_withdrawn_or_hold_at_least() {
        let unfinished = |place: usize| {
            make_cell(&[("droptail", 1.0, 10.0), ("sfd", 0.7, 10.0)], |own, facts| {
                let censored = vec![if own == place { 2 } else { 0 }; facts.count.len()];
                crate::reduction::Facts { censored, ..facts }
            })
        };
        let why = "undecided (2.0 % of the transfers under sfd were left unfinished)";
        assert_eq!(find_primary(&unfinished(1)).verdict, why);
        assert!(find_primary(&unfinished(0)).verdict.starts_with("better by at least 30 %"));
    }

    #[test]
    fn compute_findings__of_a_small_capture_are_not_judged() {
        let mut few = cell(&[("droptail", 1.0, 10.0), ("sfd", 0.7, 10.0)]);
        let counted = Counted { transfers: 99, clients: 9 };
        few.capture = Some(Capture {
            large: 50,
            pipe_bytes: 1e5,
            period_s: 10.0,
            short: counted,
            long: counted,
            all: counted,
            freedom: 50.0,
            is_fitted: false,
        });
        let text = "not judged (the capture has 99 distinct transfers ≤ 15 kB, of at least 100)";
        assert_eq!(find_primary(&few).verdict, text);
        assert_eq!(coverage_note(&few), REPLAY_NOTE);
        few.plan.is_overlaid = true;
        assert_eq!(coverage_note(&few), CAPTURE_NOTE);
    }

    #[test]
    fn compute_findings__say_how_many_replications_have_the_endpoint() {
        let found = make_cell(&[("droptail", 1.0, 10.0), ("sfd", 0.7, 10.0)], |place, mut facts| {
            if place == 1 && facts.scheme["long_goodput_bps"] > 1e5 {
                facts.scheme.clear();
                facts.statistics.insert("response_p95_s".to_owned(), vec![f64::NAN; facts.count.len()]);
            }
            facts
        });
        let p95 = "undecided (only 4 of 6 replications had enough such transfers for a percentile)";
        assert_eq!(compute_findings(&found)[1].verdict, p95);
        let rate = "undecided (only 4 of 6 replications had such a transfer)";
        assert_eq!(compute_findings(&found)[3].verdict, rate);
    }

    #[test]
    fn means_text__is_of_what_both_know() {
        let nan = f64::NAN;
        assert_eq!(means_text(&[0.1, 0.2], &[0.2, 0.3], Unit::Seconds), "250 ms → 150 ms");
        assert_eq!(means_text(&[0.1, nan, 5.0], &[0.2, 5.0, nan], Unit::Seconds), "200 ms → 100 ms");
        assert_eq!(means_text(&[], &[1.0], Unit::Seconds), "unknown");
    }
}
