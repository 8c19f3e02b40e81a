//! Which scheme serves short transfers best, of those that can be installed and that make nobody pay too much.

use crate::comparison::{Cell, log_ratio};
use crate::sizes::Role;
use crate::statistics::intervals::smaller_in;
use crate::statistics::{Design, Estimate, LEAST_REPLICATIONS};
use crate::verdicts::MARGIN;

/// The schemes among which one is recommended, the least mean of short transfers first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    /// Schemes by the geometric mean of their paired ratios: those that can be installed, if one helps.
    pub ranked: Vec<usize>,
    /// Schemes that nothing installs, in the same order.
    pub others: Vec<usize>,
    /// Those of `ranked` that are shown to beat the baseline.
    pub shown: Vec<usize>,
}

/// Returns the schemes that may be recommended, the least geometric mean of short transfers first.
///
/// An ideal is none of them, nor one whose mean is only a lower bound.
pub fn rank(cell: &Cell) -> Vec<usize> {
    let base = cell.primary_values(cell.baseline());
    let may_be = |scheme: &usize| {
        let is_bound = cell.is_about_short() && cell.is_bound(*scheme, Role::Short);
        *scheme != cell.baseline() && !cell.plan.schemes[*scheme].is_ideal && !is_bound
    };
    let ratio = |scheme| log_ratio(&cell.primary_values(scheme), &base, &Design::default()).mean;
    let mut known: Vec<(f64, usize)> =
        cell.schemes().filter(may_be).map(|scheme| (ratio(scheme), scheme)).collect();
    known.retain(|(ratio, _)| ratio.is_finite());
    known.sort_by(|(own, _), (other, _)| own.total_cmp(other));
    known.into_iter().map(|(_, scheme)| scheme).collect()
}

/// Returns the schemes that may be recommended; `better` are those that are shown to beat the baseline, and those of `out`
/// make a class pay too much.
pub fn candidates(
    cell: &Cell,
    better: &[usize],
    out: &[usize],
    is_installable: impl Fn(usize) -> bool,
) -> Candidates {
    let ranked = rank(cell).into_iter().filter(|scheme| !out.contains(scheme));
    let has_way = better.iter().any(|scheme| is_installable(*scheme));
    let (ranked, others): (Vec<usize>, Vec<usize>) =
        ranked.partition(|scheme| !has_way || is_installable(*scheme));
    let shown = ranked.iter().copied().filter(|scheme| better.contains(scheme)).collect();
    Candidates { ranked, others, shown }
}

/// Returns the least mean of those shown to help; of means within 5 % of it, the one that costs less.
///
/// It costs less if its long transfers are shown to take less time than under the least. A scheme with a smaller mean that
/// was faster than the least in every replication takes its place: what is recommended is beaten every time by nothing
/// that can be installed.
pub fn choose(cell: &Cell, found: &Candidates) -> usize {
    let least = found.shown[0];
    let before = found.ranked.iter().take_while(|scheme| **scheme != least);
    if let Some(always) = before.copied().find(|scheme| is_always_faster(cell, *scheme, least)) {
        return always;
    }
    let costs_less = |scheme: &usize| {
        ratio(cell, *scheme, least).mean <= MARGIN.ln_1p() && long_ratio(cell, *scheme, least).high < 0.0
    };
    let long = |scheme: &usize| long_ratio(cell, *scheme, least).mean;
    let ties = found.shown.iter().copied().filter(costs_less);
    ties.min_by(|own, other| long(own).total_cmp(&long(other))).unwrap_or(least)
}

/// Returns whether it is shown that no rival is faster by more than 5 %, all of them together.
///
/// Source: J. C. Hsu, "Constrained simultaneous confidence intervals for multiple comparisons with the best", Annals of
/// Statistics 12 (1984): what matters is the difference to the best of the others.
pub fn is_best(cell: &Cell, chosen: usize, mut rivals: impl Iterator<Item = usize>) -> bool {
    rivals.all(|rival| lowest(cell, rival, chosen) >= (-MARGIN).ln_1p())
}

/// Returns the lower one-sided limit of a ratio; infinity for a scheme without the primary endpoint.
fn lowest(cell: &Cell, scheme: usize, reference: usize) -> f64 {
    let (design, ratio) = (pair_design(cell, scheme, reference), ratio(cell, scheme, reference));
    if ratio.count == 0 { f64::INFINITY } else { design.limits(&ratio, design.error(ratio.count)).low }
}

/// Returns whether a scheme is shown to be faster than the chosen one, or was in every replication.
pub fn is_ahead(cell: &Cell, scheme: usize, chosen: usize) -> bool {
    is_always_faster(cell, scheme, chosen) || ratio(cell, scheme, chosen).high < 0.0
}

/// Returns whether a scheme was faster than another in every replication, of five at least.
fn is_always_faster(cell: &Cell, scheme: usize, other: usize) -> bool {
    let (faster, of) = smaller_in(&cell.primary_values(scheme), &cell.primary_values(other));
    faster == of && of as usize >= LEAST_REPLICATIONS
}

/// Returns the logarithm of the ratio of primary endpoints, with the interval for all schemes.
pub fn ratio(cell: &Cell, scheme: usize, reference: usize) -> Estimate {
    let (own, other) = (cell.primary_values(scheme), cell.primary_values(reference));
    log_ratio(&own, &other, &pair_design(cell, scheme, reference))
}

/// Returns the design of a pair; where `scheme` is a reference of verdicts too, the wider of both.
///
/// So the answer never takes for shown what a verdict calls undecided.
fn pair_design(cell: &Cell, scheme: usize, reference: usize) -> Design {
    let design = cell.primary_design(reference);
    if !cell.plan.references.iter().any(|one| one == cell.name(scheme)) {
        return design;
    }
    let own = cell.primary_design(scheme);
    if own.comparisons > design.comparisons { own } else { design }
}

/// Returns the logarithm of the ratio of long transfers, with an interval of its own.
fn long_ratio(cell: &Cell, scheme: usize, reference: usize) -> Estimate {
    let long = cell.of_bucket(Role::Long, "response_mean_s");
    log_ratio(&cell.values(&long, scheme), &cell.values(&long, reference), &cell.design())
}
