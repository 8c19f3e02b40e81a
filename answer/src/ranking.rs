//! Which scheme serves short transfers best, of those that can be installed and that make nobody pay too much, and which
//! one serves other classes where short transfers decide nothing.

use crate::comparison::{Cell, log_ratio};
use crate::judged::Judged;
use crate::margins::Class;
use crate::sizes::Role;
use crate::statistics::intervals::count_smaller;
use crate::statistics::{Design, Estimate, LEAST_REPLICATIONS};
use crate::verdicts::MARGIN;
use crate::vetoes::{Veto, find_gaining_classes};

/// What spares other classes may cost short transfers as much as a veto's margin allows other transfers: a choice.
const NEAR: f64 = 0.10;

/// The schemes among which one is recommended, the least mean of short transfers first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidates {
    /// Schemes by the geometric mean of their paired ratios: those that can be installed, if one helps.
    pub ranked: Vec<usize>,
    /// Schemes that nothing installs, in the same order.
    pub others: Vec<usize>,
    /// Those of `ranked` that are shown to beat the baseline; without any, those that were faster in every replication than
    /// one that is, but that makes a class pay too much.
    pub shown: Vec<usize>,
}

/// Returns the schemes that may be recommended, the least geometric mean of short transfers first.
///
/// Ideals are left out, and schemes whose mean is only a lower bound. The baseline and schemes
/// without a finite ratio to it are left out too.
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

/// Returns the schemes that may be recommended; `better` are those that are shown to beat the
/// baseline, and those of `out` make a class pay too much. If any of the shown ones can be
/// installed, the ranked ones are those that can be. `shown` may be empty.
pub fn find_candidates(
    cell: &Cell,
    better: &[usize],
    out: &[usize],
    is_installable: impl Fn(usize) -> bool,
) -> Candidates {
    let ranked = rank(cell).into_iter().filter(|scheme| !out.contains(scheme));
    let ranked: Vec<usize> = ranked.collect();
    let mut shown: Vec<usize> = ranked.iter().copied().filter(|scheme| better.contains(scheme)).collect();
    if shown.is_empty() {
        let beats_one = |scheme: &usize| better.iter().any(|own| is_always_faster(cell, *scheme, *own));
        shown = ranked.iter().copied().filter(beats_one).collect();
    }
    let has_way = shown.iter().any(|scheme| is_installable(*scheme));
    let is_taken = |scheme: &usize| !has_way || is_installable(*scheme);
    let (ranked, others): (Vec<usize>, Vec<usize>) = ranked.into_iter().partition(is_taken);
    shown.retain(is_taken);
    Candidates { ranked, others, shown }
}

/// The scheme recommended, and why another one is not.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The scheme.
    pub scheme: usize,
    /// Why it is preferred to other schemes, each of which would be recommended without the next reason.
    pub preferred_to: Vec<Preference>,
}

/// Why a scheme is preferred to one of a smaller mean: for [`Reason::Estimated`] and [`Reason::Demotes`] it is at most
/// 10 % slower than that one, otherwise at most 5 %.
#[derive(Debug, Clone, PartialEq)]
pub struct Preference {
    /// The scheme that it takes the place of.
    pub other: usize,
    /// Who pays under the other scheme, or may; see `reason`.
    pub pays: Vec<Veto>,
    /// Who gains less under this scheme than under the other one. If the preference is shown, none of them pays against the
    /// baseline.
    pub gains_less: Vec<Veto>,
    /// Why it is preferred.
    pub reason: Reason,
}

/// The reasons for a preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It is shown that classes pay under the other scheme against this one.
    Shown,
    /// It is shown that they pay under it against the baseline; under this one nobody does.
    Today,
    /// By estimate they pay under it, against what people would have.
    Estimated,
    /// The other scheme takes for a download a call that lasts longer than those of the capture; nobody pays in the runs.
    Demotes,
    /// The other scheme needs more than `tc`, this one does not.
    Simple,
}

/// A scheme other than the one chosen, under which some classes do better and others worse.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The scheme.
    pub scheme: usize,
    /// Whether its mean of short transfers is at most 5 % above that of the one chosen.
    pub is_level: bool,
    /// Who pays under the scheme chosen against this one.
    pub spares: Vec<Veto>,
    /// Who pays under this scheme against the one chosen, or may.
    pub costs: Vec<Veto>,
}

/// What the choice must know of the schemes besides their results.
pub trait Traits {
    /// Returns whether a scheme takes for a download a call that lasts longer than those of the traffic.
    fn demotes(&self, scheme: usize) -> bool;
    /// Returns whether something installs a scheme.
    fn is_installable(&self, scheme: usize) -> bool;
    /// Returns whether `tc` alone installs a scheme.
    fn is_by_tc(&self, scheme: usize) -> bool;
}

/// Returns the scheme to recommend: the least mean of those shown to help, or one near it under which others pay less.
///
/// A scheme with a smaller mean that was faster than the least in every replication takes its
/// place: what is recommended is beaten every time by nothing that can be installed. Of the schemes
/// within 5 % of the first one is preferred under which other classes pay less, by
/// `find_preference`; else one within 10 % under which nobody pays by estimate where somebody may
/// under the first; and else one of those within 5 % under which nobody pays against the first and
/// whose long transfers are shown to take less. One within 5 % under which nobody pays, against the
/// baseline either, takes the place of a scheme under which somebody is shown to pay against it; and
/// one that `tc` alone installs takes that of one that needs more and serves nobody better. Neither
/// of these two is further from the first than the scheme in whose place it comes may be.
///
/// # Panics
/// Without a scheme in `found.shown`.
pub fn choose(judged: &Judged, found: &Candidates, traits: &impl Traits) -> Choice {
    let cell = &judged.cell;
    let least = found.shown[0];
    let before = found.ranked.iter().take_while(|scheme| **scheme != least);
    let always = before.copied().find(|scheme| is_always_faster(cell, *scheme, least));
    let first = always.unwrap_or(least);
    let served = choose_by_service(judged, first, always.is_none(), &found.shown, traits);
    let most = if is_within(cell, served.scheme, first, MARGIN) { MARGIN } else { NEAR };
    let allowed: Vec<usize> =
        found.shown.iter().copied().filter(|scheme| is_within(cell, *scheme, first, most)).collect();
    let spared = find_harmless_today(judged, served.scheme, &allowed, traits);
    let spared = replace(judged, served, spared);
    let simple = find_simpler(judged, spared.scheme, &allowed, traits).map(|scheme| {
        let (other, pays, gains_less) = (spared.scheme, Vec::new(), Vec::new());
        Choice { scheme, preferred_to: vec![Preference { other, pays, gains_less, reason: Reason::Simple }] }
    });
    replace(judged, spared, simple)
}

/// Returns `next`, if there is one, with what still holds for it of the preferences of `former`; else `former`.
fn replace(judged: &Judged, former: Choice, next: Option<Choice>) -> Choice {
    let Some(Choice { scheme, preferred_to }) = next else { return former };
    let restate = |one: Preference| match one.reason {
        Reason::Shown => find_preference(judged, scheme, one.other),
        _ => Some(Preference { gains_less: judged.payers(scheme, one.other).to_vec(), ..one }),
    };
    let kept = former.preferred_to.into_iter().filter_map(restate);
    Choice { scheme, preferred_to: kept.chain(preferred_to).collect() }
}

/// Returns the choice near `first`, without regard to who pays against the baseline and to what is needed to install it.
/// `may_tie` says that shorter long transfers decide between schemes that are level.
fn choose_by_service(
    judged: &Judged,
    first: usize,
    may_tie: bool,
    shown: &[usize],
    traits: &impl Traits,
) -> Choice {
    let cell = &judged.cell;
    let level: Vec<usize> = select_within(cell, first, shown, MARGIN).collect();
    let preferred = find_preferred(judged, first, &level);
    if let Some(preferred) = preferred.or_else(|| find_cautious(judged, first, shown, traits)) {
        return preferred;
    }
    let long = |scheme: &usize| long_ratio(cell, *scheme, first).mean;
    let saves = |scheme: &usize| long_ratio(cell, *scheme, first).high < 0.0;
    let ties = level.into_iter().filter(|scheme| may_tie && saves(scheme));
    let ties = ties.filter(|scheme| judged.payers(*scheme, first).is_empty());
    let scheme = ties.min_by(|own, other| long(own).total_cmp(&long(other))).unwrap_or(first);
    Choice { scheme, preferred_to: Vec::new() }
}

/// A scheme that serves other classes, where none is shown to serve short transfers better than the baseline does.
#[derive(Debug, Clone, PartialEq)]
pub struct Service {
    /// The scheme.
    pub scheme: usize,
    /// The classes that are shown to gain under it.
    pub classes: Vec<Class>,
    /// Other schemes that serve these classes, and under which none is shown to pay against this one.
    pub peers: Vec<usize>,
}

/// Returns the scheme under which most classes are shown to gain against the baseline, where short
/// transfers decide nothing.
///
/// Under it short transfers take at most 5 % longer and no class pays, by estimate. Of those that
/// serve as many classes, the first by order, unless another one takes its place for the sake of
/// other classes, as in `choose`. A scheme that serves fewer classes takes the place of that one if
/// it was faster for short transfers in every replication and nobody pays under it, by estimate.
/// One that `tc` alone installs takes the place of one that needs more and serves nobody better. Those of
/// `out` make a class pay too much against what people would have; of the others it is one that can
/// be installed if any is. None if no scheme serves any class in this way.
pub fn find_service(judged: &Judged, out: &[usize], traits: &impl Traits) -> Option<Service> {
    let (cell, baseline) = (&judged.cell, judged.cell.baseline());
    let is_harmless = |scheme: &usize| {
        let is_level = is_within(cell, *scheme, baseline, MARGIN);
        is_level && !out.contains(scheme) && judged.payers(*scheme, baseline).is_empty()
    };
    let with_classes = |scheme| (scheme, find_gaining_classes(cell, judged.margins(), scheme));
    let serving = rank(cell).into_iter().filter(is_harmless).map(with_classes);
    let mut serving: Vec<(usize, Vec<Class>)> = serving.filter(|(_, classes)| !classes.is_empty()).collect();
    if serving.iter().any(|(scheme, _)| traits.is_installable(*scheme)) {
        serving.retain(|(scheme, _)| traits.is_installable(*scheme));
    }
    let most = serving.iter().map(|(_, classes)| classes.len()).max()?;
    let (all, others): (Vec<_>, Vec<_>) = serving.iter().partition(|(_, classes)| classes.len() == most);
    let all: Vec<usize> = all.into_iter().map(|(scheme, _)| *scheme).collect();
    let preferred =
        find_preferred(judged, all[0], &all[1..]).or_else(|| find_cautious(judged, all[0], &all, traits));
    let first = preferred.map_or(all[0], |choice| choice.scheme);
    let first = find_simpler(judged, first, &all, traits).unwrap_or(first);
    let takes_place = |own: &usize| {
        let is_harmless = judged.possible_payers(*own).is_empty() && judged.payers(*own, first).is_empty();
        is_harmless && is_always_faster(cell, *own, first)
    };
    let scheme = others.into_iter().map(|(scheme, _)| *scheme).find(takes_place).unwrap_or(first);
    let serves_as_well = |own: &usize| *own != scheme && judged.shown_payers(*own, scheme).is_empty();
    let peers = all.iter().copied().filter(serves_as_well).collect();
    let classes = serving.into_iter().find(|(own, _)| *own == scheme)?.1;
    Some(Service { scheme, classes, peers })
}

/// Returns those of the schemes whose primary mean is at most the share `most` above that of
/// `first`, without `first` itself, in their order; a scheme without a ratio is left out.
fn select_within<'a>(
    cell: &'a Cell,
    first: usize,
    schemes: &'a [usize],
    most: f64,
) -> impl Iterator<Item = usize> + 'a {
    let is_near = move |scheme: &usize| *scheme != first && is_within(cell, *scheme, first, most);
    schemes.iter().copied().filter(is_near)
}

/// Returns the first of the schemes near the chosen one under which some class is shown to do
/// better, and none is shown to pay against the baseline. Of several, a later one takes the place
/// of an earlier one that it is preferred to. None without any.
pub fn find_alternative(judged: &Judged, chosen: usize, shown: &[usize]) -> Option<Alternative> {
    let cell = &judged.cell;
    let alternatives = select_within(cell, chosen, shown, NEAR).filter_map(|scheme| {
        let spares = judged.shown_payers(chosen, scheme);
        let is_one = !spares.is_empty() && judged.shown_payers(scheme, cell.baseline()).is_empty();
        let is_level = is_within(cell, scheme, chosen, MARGIN);
        let costs = judged.payers(scheme, chosen).to_vec();
        is_one.then_some(Alternative { scheme, is_level, spares, costs })
    });
    alternatives.reduce(
        |best, next| {
            if find_preference(judged, next.scheme, best.scheme).is_some() { next } else { best }
        },
    )
}

/// Returns which of the schemes that are level with the first is preferred to it for the sake of
/// other classes; None if none is.
///
/// Of several, a later one takes the place of an earlier one by the same rule.
fn find_preferred(judged: &Judged, first: usize, level: &[usize]) -> Option<Choice> {
    let against_first = level.iter().filter_map(|scheme| {
        let preferred_to = vec![find_preference(judged, *scheme, first)?];
        Some(Choice { scheme: *scheme, preferred_to })
    });
    let takes_place = |best: Choice, next: Choice| {
        if find_preference(judged, next.scheme, best.scheme).is_some() { next } else { best }
    };
    against_first.reduce(takes_place)
}

/// Returns the first of the schemes near `first` under which no class pays against what people
/// would have, not even by estimate, and none would that outlasts the capture, where under `first`
/// some class may or would. None if nobody may pay under `first`, or there is no such scheme.
///
/// A capture of seconds, or a few replications, rarely show that a class pays; to recommend what
/// probably harms it would leave the proof to those who are harmed.
fn find_cautious(judged: &Judged, first: usize, shown: &[usize], traits: &impl Traits) -> Option<Choice> {
    let pays: Vec<Veto> = judged.possible_payers(first).iter().filter(|one| !one.binds).cloned().collect();
    let reason = if pays.is_empty() { Reason::Demotes } else { Reason::Estimated };
    if reason == Reason::Demotes && !traits.demotes(first) {
        return None;
    }
    let is_harmless = |scheme: &usize| judged.possible_payers(*scheme).is_empty() && !traits.demotes(*scheme);
    let scheme = select_within(&judged.cell, first, shown, NEAR).find(is_harmless)?;
    let gains_less = judged.payers(scheme, first).to_vec();
    Some(Choice { scheme, preferred_to: vec![Preference { other: first, pays, gains_less, reason }] })
}

/// Returns the first of the schemes level with `first` under which nobody pays by estimate, neither against the baseline nor
/// against what people would have, where under `first` some class is shown to pay against the baseline. None if no class
/// is, or there is no such scheme.
fn find_harmless_today(
    judged: &Judged,
    first: usize,
    shown: &[usize],
    traits: &impl Traits,
) -> Option<Choice> {
    let baseline = judged.cell.baseline();
    let pays = judged.shown_payers(first, baseline);
    if pays.is_empty() {
        return None;
    }
    let is_harmless = |scheme: &usize| {
        let payers = [judged.payers(*scheme, baseline), judged.possible_payers(*scheme)];
        payers.iter().all(|one| one.is_empty()) && !traits.demotes(*scheme)
    };
    let scheme = select_within(&judged.cell, first, shown, MARGIN).find(is_harmless)?;
    let gains_less = judged.payers(scheme, first).to_vec();
    let preferred_to = vec![Preference { other: first, pays, gains_less, reason: Reason::Today }];
    Some(Choice { scheme, preferred_to })
}

/// Returns the first of the schemes level with `first` that `tc` alone installs, where `first` needs more, and under
/// which nobody does worse: no class pays by estimate against `first` or what people would have, and against the
/// baseline only if some class does under `first`. None without any.
fn find_simpler(judged: &Judged, first: usize, shown: &[usize], traits: &impl Traits) -> Option<usize> {
    if traits.is_by_tc(first) || !traits.is_installable(first) {
        return None;
    }
    let baseline = judged.cell.baseline();
    let nobody_pays = |scheme: usize| judged.payers(scheme, baseline).is_empty();
    let is_as_good = |scheme: &usize| {
        let payers = [judged.payers(*scheme, first), judged.possible_payers(*scheme)];
        let is_harmless = payers.iter().all(|one| one.is_empty()) && !traits.demotes(*scheme);
        is_harmless && traits.is_by_tc(*scheme) && (nobody_pays(*scheme) || !nobody_pays(first))
    };
    select_within(&judged.cell, first, shown, MARGIN).find(is_as_good)
}

/// Returns why `scheme` is preferred to `other`; None if it is not. Callers compare their means.
///
/// Some class is shown to pay under `other` against `scheme` (its veto binds), and no class pays under `scheme` against
/// `other`, even by estimate. Exception: classes may, if none of them pays under `scheme` against the baseline, and a class
/// of the first kind is shown to pay under `other` against the baseline: what people have today is not taken from one class
/// to add to what another one gains. Without margins nothing is preferred; without an interval a veto binds by its
/// estimate alone.
fn find_preference(judged: &Judged, scheme: usize, other: usize) -> Option<Preference> {
    let pays = judged.shown_payers(other, scheme);
    let gains_less = judged.payers(scheme, other);
    let baseline = judged.cell.baseline();
    let has = |all: &[Veto], one: &Veto| all.iter().any(|it| it.margin.figure == one.margin.figure);
    let (own_harm, other_harm) = (judged.payers(scheme, baseline), judged.shown_payers(other, baseline));
    let nobody_loses = gains_less.iter().all(|one| !has(own_harm, one));
    let someone_is_spared = pays.iter().any(|one| has(&other_harm, one));
    let serves = !pays.is_empty() && (gains_less.is_empty() || (nobody_loses && someone_is_spared));
    serves.then(|| Preference { other, pays, gains_less: gains_less.to_vec(), reason: Reason::Shown })
}

/// Returns whether it is shown that no rival is faster than the chosen scheme by more than 5 %, all
/// of them together. True without rivals.
///
/// Source: J. C. Hsu, "Constrained simultaneous confidence intervals for multiple comparisons with
/// the best", Annals of Statistics 12 (1984): what matters is the difference to the best of the
/// others.
pub fn is_best(cell: &Cell, chosen: usize, mut rivals: impl Iterator<Item = usize>) -> bool {
    rivals.all(|rival| lower_limit(cell, rival, chosen) >= libm::log1p(-MARGIN))
}

/// Returns the lower one-sided confidence limit of the logarithm of the ratio of two schemes'
/// primary endpoints; infinity where no replication has a ratio.
fn lower_limit(cell: &Cell, scheme: usize, reference: usize) -> f64 {
    let (design, ratio) = (pair_design(cell, scheme, reference), primary_ratio(cell, scheme, reference));
    if ratio.count == 0 {
        f64::INFINITY
    } else {
        design.limits(&ratio, design.allowed_error(ratio.count)).low
    }
}

/// Returns whether a scheme is shown to be faster than the chosen one, or was in every replication.
pub fn is_ahead(cell: &Cell, scheme: usize, chosen: usize) -> bool {
    is_always_faster(cell, scheme, chosen) || primary_ratio(cell, scheme, chosen).high < 0.0
}

/// Returns whether a scheme had the smaller primary value in every replication that both have, of
/// [`LEAST_REPLICATIONS`] at least.
pub fn is_always_faster(cell: &Cell, scheme: usize, other: usize) -> bool {
    let (faster, of) = count_smaller(&cell.primary_values(scheme), &cell.primary_values(other));
    faster == of && of as usize >= LEAST_REPLICATIONS
}

/// Returns the logarithm of the ratio of primary endpoints, with the interval for all schemes;
/// negative if `scheme` is smaller, unknown where a value is missing.
pub fn primary_ratio(cell: &Cell, scheme: usize, reference: usize) -> Estimate {
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

/// Returns whether a scheme's primary mean is at most the share `most` above another one's; `false` without a ratio.
pub fn is_within(cell: &Cell, scheme: usize, other: usize, most: f64) -> bool {
    primary_ratio(cell, scheme, other).mean <= libm::log1p(most)
}

/// Returns the logarithm of the ratio of long transfers, with an interval of its own.
fn long_ratio(cell: &Cell, scheme: usize, reference: usize) -> Estimate {
    let long = cell.find_bucket_source(Role::Long, "response_mean_s");
    log_ratio(&cell.values(&long, scheme), &cell.values(&long, reference), &cell.design())
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::tests_support::{cell, make_cell, with_calls};

    const SCHEMES: [(&str, f64, f64); 4] =
        [("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("sfd", 0.51, 10.0), ("cake", 0.52, 10.0)];

    /// Schemes that `tc` installs, of which these demote long calls.
    struct Demoting<'a>(&'a [usize]);

    impl Traits for Demoting<'_> {
        fn demotes(&self, scheme: usize) -> bool {
            self.0.contains(&scheme)
        }
        fn is_installable(&self, _: usize) -> bool {
            true
        }
        fn is_by_tc(&self, _: usize) -> bool {
            true
        }
    }

    /// Returns the choice among these schemes where calls lose the shares `lost`, the same in every
    /// replication but for `spread`; `vetoes` are the margins.
    fn chosen(schemes: &[(&str, f64, f64); 4], lost: [f64; 4], spread: f64, vetoes: &[&str]) -> Choice {
        let mut found = make_cell(schemes, |index, facts| {
            let short_s = facts.statistics["response_mean_s"][0]; // differs between replications
            let sign = if index == 1 { 1.0 } else { -1.0 };
            let off = spread * sign * (short_s / schemes[index].1 - 1.0);
            with_calls(facts, "loss_share", lost[index] + off)
        });
        found.plan.vetoes = vetoes.iter().map(|text| (*text).to_owned()).collect();
        let better: Vec<usize> = found.schemes().filter(|scheme| *scheme != found.baseline()).collect();
        let all = find_candidates(&found, &better, &[], |_| true);
        choose(&Judged::new(found), &all, &Demoting(&[]))
    }

    #[test]
    fn choose__of_level_schemes_prefers_the_one_under_which_calls_do_better() {
        let found = chosen(&SCHEMES, [0.3, 0.2, 0.15, 0.1], 0.0, &[]);
        assert_eq!(found.scheme, 3, "it serves calls better than the second, too");
        let Preference { other, pays, .. } = found.preferred_to.into_iter().next().unwrap();
        let text = "calls: datagrams lost 10 % → 20 %, +10 points (+10…+10), of +0.5 points allowed";
        assert_eq!((other, pays.len(), pays[0].text.as_str()), (1, 1, text));
        assert_eq!(chosen(&SCHEMES, [0.3, 0.2, 0.1, 0.1], 0.0, &[]).scheme, 2, "of equals the smaller mean");
    }

    #[test]
    fn choose__prefers_nothing_by_chance_nor_within_a_margin() {
        let first = Choice { scheme: 1, preferred_to: Vec::new() };
        assert_eq!(chosen(&SCHEMES, [0.3, 0.104, 0.101, 0.1], 0.0, &[]), first, "within half a point");
        assert_eq!(chosen(&SCHEMES, [0.3, 0.2, 0.15, 0.1], 0.0, &["none"]), first, "without margins");
        let slower = [SCHEMES[0], SCHEMES[1], ("sfd", 0.53, 10.0), ("cake", 0.54, 10.0)];
        assert_eq!(chosen(&slower, [0.3, 0.2, 0.15, 0.1], 0.0, &[]), first, "not level");
    }

    #[test]
    fn choose__spares_near_by_a_class_that_may_pay() {
        let found = |cake: f64, lost| {
            let near = [SCHEMES[0], SCHEMES[1], ("sfd", cake, 10.0), ("cake", 0.6, 10.0)];
            chosen(&near, lost, 5.0, &[])
        };
        let one = found(0.54, [0.3, 0.2, 0.101, 0.1]);
        let why = one.preferred_to.into_iter().next().unwrap();
        assert_eq!((one.scheme, why.other, why.reason), (2, 1, Reason::Estimated));
        assert_eq!(why.pays.iter().map(|one| one.brief.as_str()).collect::<Vec<_>>(), ["calls +10 points"]);
        assert_eq!(found(0.56, [0.3, 0.2, 0.101, 0.1]).scheme, 1, "12 % slower");
        assert_eq!(found(0.54, [0.3, 0.2, 0.15, 0.1]).scheme, 1, "calls may pay there, too");
        assert_eq!(found(0.54, [0.3, 0.101, 0.101, 0.1]).scheme, 1, "nobody may pay");
    }

    #[test]
    fn choose__spares_calls_that_last_longer_than_the_capture() {
        let found = cell(&SCHEMES);
        let all = find_candidates(&found, &[1, 2, 3], &[], |_| true);
        let judged = Judged::new(found);
        let of = |demoting: &[usize]| {
            let one = choose(&judged, &all, &Demoting(demoting));
            (one.scheme, one.preferred_to.first().map(|why| (why.other, why.reason)))
        };
        assert_eq!(of(&[1, 2]), (3, Some((1, Reason::Demotes))));
        assert_eq!(of(&[2, 3]), (1, None));
        assert_eq!(of(&[1, 2, 3]), (1, None), "none does better");
    }

    #[test]
    fn find_alternative__is_near_spares_a_class_and_costs_another() {
        let found = |lost: [f64; 4], long: f64| {
            let schemes = [("droptail", 1.0, 30.0), SCHEMES[1], ("sfd", 0.51, long), SCHEMES[3]];
            let cell = make_cell(&schemes, |index, facts| with_calls(facts, "loss_share", lost[index]));
            find_alternative(&Judged::new(cell), 1, &[1, 2, 3])
        };
        let one = found([0.3, 0.2, 0.1, 0.2], 20.0).unwrap();
        assert!(one.is_level);
        let briefs = |all: &[Veto]| all.iter().map(|one| one.brief.clone()).collect::<Vec<_>>();
        assert_eq!(one.scheme, 2);
        assert_eq!(briefs(&one.spares), ["calls +10 points"]);
        assert_eq!(briefs(&one.costs), ["transfers > 150 kB +100 %"]);
        let near = |short: f64| {
            let schemes = [("droptail", 1.0, 10.0), SCHEMES[1], ("sfd", short, 10.0)];
            let cell =
                make_cell(&schemes, |index, facts| with_calls(facts, "loss_share", [0.3, 0.2, 0.1][index]));
            find_alternative(&Judged::new(cell), 1, &[1, 2]).map(|one| (one.scheme, one.is_level))
        };
        assert_eq!((near(0.54), near(0.56)), (Some((2, false)), None), "8 % and 12 % slower");
        assert_eq!(found([0.3, 0.2, 0.2, 0.2], 20.0), None, "it spares nobody");
        assert_eq!(found([0.05, 0.2, 0.1, 0.2], 20.0), None, "calls are worse off than today");
    }

    #[test]
    fn choose__takes_from_no_class_what_it_has_today_to_add_to_the_gain_of_another() {
        // Calls pay against today under the first scheme, and long transfers gain most under it.
        let gains = |long: f64| [SCHEMES[0], ("fq-codel", 0.5, 5.0), ("sfd", 0.51, long), SCHEMES[3]];
        let spared = chosen(&gains(7.0), [0.05, 0.3, 0.15, 0.4], 0.0, &[]);
        assert_eq!(spared.scheme, 2);
        let why = spared.preferred_to.into_iter().next().unwrap();
        assert_eq!((why.other, why.pays.len(), why.gains_less.len()), (1, 1, 1));
        assert_eq!(
            chosen(&gains(12.0), [0.05, 0.3, 0.15, 0.4], 0.0, &[]).scheme,
            1,
            "long transfers pay, too"
        );
        assert_eq!(chosen(&gains(7.0), [0.35, 0.3, 0.15, 0.4], 0.0, &[]).scheme, 1, "calls gain under both");
    }

    #[test]
    fn choose__takes_shorter_long_transfers_only_if_nobody_pays() {
        let long = [SCHEMES[0], SCHEMES[1], ("sfd", 0.51, 9.5), ("cake", 0.52, 9.4)];
        let by_long = |lost| chosen(&long, lost, 0.0, &[]);
        assert_eq!(by_long([0.3, 0.1, 0.1, 0.1]), Choice { scheme: 3, preferred_to: Vec::new() });
        assert_eq!(by_long([0.3, 0.1, 0.1, 0.2]), Choice { scheme: 2, preferred_to: Vec::new() });
    }
}
