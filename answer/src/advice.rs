//! The answer of a comparison: what to install, what every class gains or pays, how sure that is.

mod sentences;

use crate::comparison::{Cell, Source, Whose, mean_of_finite};
use crate::findings::{Finding, few_replications_text, floor_text};
use crate::judged::Judged;
use crate::margins::Class;
use crate::quantities::Better;
use crate::ranking::{
    Candidates, Service, Traits, choose, find_alternative, find_candidates, find_service, is_ahead, is_best,
    primary_ratio, rank,
};
use crate::setting::{Installation, Setting};
use crate::sizes::Role;
use crate::statistics::LEAST_REPLICATIONS;
use crate::texts::unit_text;
use crate::verdicts;
use crate::vetoes::{Veto, class_lines, class_text};
use sentences::Answer;
pub use sentences::{MOST_COMMANDS, SHORT_CAPTURE_S};
use serde::{Deserialize, Serialize};

/// Most lines of the answer for one cell, without the commands that install the scheme.
pub const MOST_LINES: usize = 12;
/// Least number of lines that other remarks leave for what classes gain or pay.
const LEAST_CLASS_LINES: usize = 2;

/// What an answer comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// A scheme is recommended.
    Recommended,
    /// No scheme beats the baseline.
    #[serde(rename = "nothing better")]
    NothingBetter,
    /// Some scheme may beat the baseline.
    #[serde(rename = "not shown")]
    NotShown,
    /// The schemes that beat the baseline make a class pay too much.
    Vetoed,
    /// Too little is known for a verdict.
    #[serde(rename = "no verdict")]
    NoVerdict,
}

/// The answer for a cell: what to do on its link.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Advice {
    /// recommended; nothing better: no scheme beats the baseline; not shown: some may, the runs do not tell; vetoed: those that do make
    /// a class of traffic pay more than its margin; no verdict: too little is known for one.
    pub outcome: Outcome,
    /// The scheme recommended, one that can be installed if any of the better ones can.
    pub scheme: Option<String>,
    /// The classes for whose sake it is recommended where short transfers are not shown to gain; else empty.
    pub classes: Vec<String>,
    /// Whether the intervals show that no other scheme that can be installed, and that no veto rules out, is faster by more
    /// than 5 %. A model fitted to a small capture does not show it.
    pub is_best: bool,
    /// Schemes that can be installed and are not shown to be slower for short transfers than the scheme recommended, the
    /// fastest first; where it is recommended for the sake of classes, those that serve them as well.
    pub peers: Vec<String>,
    /// Schemes that serve short transfers better still, but that nothing installs.
    pub ahead: Vec<String>,
    /// The scheme that harm is measured against.
    pub reference: String,
    /// Who pays, or may, under the schemes that are better than the baseline, and under the one recommended; without
    /// intervals, under all.
    pub vetoes: Vec<Veto>,
    /// How the scheme is installed; null without one.
    pub installation: Option<Installation>,
    /// The answer as `mousehole compare` prints it: a line for each class that gains or pays where there is room, and the
    /// commands that install the scheme.
    pub lines: Vec<String>,
}

/// Returns the answer for a cell: the scheme to install, the classes that gain and pay, and the
/// evidence. `setting` must have the schemes of the cell in their order. Computes and caches the
/// findings and vetoes of `judged`.
pub fn advise(judged: &Judged, setting: &Setting) -> Advice {
    let answer = Answer { judged, cell: &judged.cell, setting };
    let found = answer.decide();
    Advice { lines: answer.stand_in().into_iter().chain(found.lines).collect(), ..found }
}

/// Returns why no scheme could be recommended however long it ran; None if one could.
pub fn explain_no_candidate(cell: &Cell) -> Option<String> {
    let baseline = &cell.plan.baseline;
    let mut rivals = cell.plan.schemes.iter().filter(|one| one.text != *baseline).peekable();
    if rivals.peek().is_none() {
        return Some(format!("nothing is compared with {baseline}; name schemes with --schemes"));
    }
    rivals.all(|one| one.is_ideal).then(|| {
        format!(
            "only ideals are compared with {baseline}, which nobody can deploy; name others with --schemes"
        )
    })
}

/// Returns what is played instead of a capture that is too small to be replayed; None if the capture itself is played.
/// `instead_of` is the traffic that was given, with the reason why ready-made traffic replaces it.
pub fn stand_in(cell: &Cell, label: &str, instead_of: Option<&str>) -> Option<String> {
    if let Some(why) = instead_of {
        return Some(format!("Not your traffic: ready-made users stand in for {why} for a model of it."));
    }
    cell.is_fitted().then(|| {
        let word = cell.plan.unit().name();
        format!(
            "Played is {label}, drawn anew in each {word}; the intervals are of these transfers, not of another \
             day."
        )
    })
}

impl Answer<'_> {
    /// Returns the line that says what is played in the place of the capture; None if the capture itself is played.
    fn stand_in(&self) -> Option<String> {
        stand_in(self.cell, &self.setting.label, self.setting.instead_of.as_deref())
    }

    /// Returns how many lines the answer may have below the line that says what is played instead of a capture.
    fn most_lines(&self) -> usize {
        MOST_LINES - usize::from(self.stand_in().is_some())
    }

    /// Decides the outcome and returns the answer, without the line that says what is played instead of a capture.
    ///
    /// Without enough replications or transfers there is no verdict. Else it recommends a scheme that beats the
    /// baseline and that no veto rules out, or one that serves other classes. Without such a scheme it recommends
    /// nothing.
    fn decide(&self) -> Advice {
        let primary = self.primary();
        if self.has_few_replications() || primary.is_empty() {
            let (line, least) = self.explain_few_replications();
            return self.report_no_verdict(line, least);
        }
        if self.is_small_capture() {
            return self
                .report_no_verdict(format!("No verdict: {}.", floor_text(self.cell, Role::Short)), None);
        }
        if primary.iter().all(|one| one.change.mean.is_nan()) {
            let (baseline, words) = (&self.cell.plan.baseline, self.cell.describe_primary());
            let word = self.cell.plan.unit().name();
            let line = match self.cell.has_values(&self.cell.primary().source) {
                true => {
                    format!("No verdict: no {word} had {words} both under {baseline} and another scheme.")
                }
                false => {
                    format!("No verdict: no {word} had {words}, or another class whose users feel a queue.")
                }
            };
            return self.report_no_verdict(line, None);
        }
        let is_better = |one: &&&Finding| one.outcome == verdicts::Outcome::Better;
        let better = primary.iter().filter(is_better).map(|one| self.cell.scheme_index(&one.scheme));
        let (same_pay, better): (Vec<usize>, Vec<usize>) =
            better.partition(|scheme| !self.find_own_harm(*scheme).is_empty());
        let has_same_pay = !same_pay.is_empty();
        let binding = self.judged.vetoes().iter().filter(|one| one.binds);
        let out: Vec<usize> =
            binding.map(|one| self.cell.scheme_index(&one.scheme)).chain(same_pay).collect();
        if better.is_empty() {
            return self.recommend_for_classes(&out, &[]).unwrap_or_else(|| match has_same_pay {
                true => self.report_vetoes(Vec::new()),
                false => self.report_nothing_better(&primary),
            });
        }
        let order = rank(self.cell);
        let place = |one: &Veto| {
            let scheme = self.cell.scheme_index(&one.scheme);
            order.iter().position(|own| *own == scheme).unwrap_or(order.len())
        };
        let pays = |one: &&Veto| better.contains(&self.cell.scheme_index(&one.scheme));
        let mut found: Vec<Veto> = self.judged.vetoes().iter().filter(pays).cloned().collect();
        found.sort_by_key(place);
        let ways = &self.setting.ways;
        let candidates = find_candidates(self.cell, &better, &out, |scheme| ways[scheme].is_some());
        if candidates.shown.is_empty() {
            return self.recommend_for_classes(&out, &found).unwrap_or_else(|| self.report_vetoes(found));
        }
        self.recommend(&candidates, &found)
    }

    /// Returns whether there are fewer than [`LEAST_REPLICATIONS`], too few for an interval.
    fn has_few_replications(&self) -> bool {
        (self.cell.plan.replications as usize) < LEAST_REPLICATIONS
    }

    /// Returns whether short transfers are judged, and the capture has too few of them.
    fn is_small_capture(&self) -> bool {
        let capture = self.cell.capture.as_ref();
        self.cell.is_about_short() && capture.is_some_and(|capture| !capture.is_enough(Role::Short))
    }

    /// Returns an answer that recommends nothing: these lines and the remark on rows left out, cut
    /// to the lines that an answer may have.
    fn recommend_nothing(&self, outcome: Outcome, lines: Vec<String>, vetoes: Vec<Veto>) -> Advice {
        let reference = self.cell.plan.harm_reference().to_owned();
        let lines = lines.into_iter().chain(self.left_out_text()).take(self.most_lines()).collect();
        let (peers, ahead, classes) = (Vec::new(), Vec::new(), Vec::new());
        Advice {
            outcome,
            scheme: None,
            classes,
            is_best: false,
            peers,
            ahead,
            reference,
            vetoes,
            installation: None,
            lines,
        }
    }

    /// Returns an answer without a verdict: `line` says why. The estimates are those under `least`, which is ahead so
    /// far.
    fn report_no_verdict(&self, line: String, least: Option<usize>) -> Advice {
        let found = if self.has_few_replications() { self.judged.vetoes().to_vec() } else { Vec::new() };
        let others: Vec<String> = self
            .pays_text(found.iter(), "By estimate others pay", self.cell.plan.harm_reference())
            .into_iter()
            .chain(self.remarks())
            .collect();
        let least = least.filter(|scheme| *scheme != self.cell.baseline());
        let classes =
            least.map(|scheme| self.class_lines(scheme, &self.find_harm(scheme))).unwrap_or_default();
        let room = self.most_lines().saturating_sub(1 + others.len());
        let lines = [line].into_iter().chain(pack_lines(&classes, room)).chain(others).collect();
        self.recommend_nothing(Outcome::NoVerdict, lines, found)
    }

    /// Returns the harm that a scheme is shown to do against the baseline to the class that the first line is about: a
    /// call gains nothing by less delay of fewer packets.
    fn find_own_harm(&self, scheme: usize) -> Vec<Veto> {
        let Whose::Kind(kind) = self.cell.primary().source.whose else { return Vec::new() };
        let is_own = |one: &Veto| one.margin.figure.class == Class::Kind(kind);
        self.find_harm(scheme).into_iter().filter(is_own).collect()
    }

    /// Returns the sentence on the schemes that are better by the primary endpoint, but under which its own class is
    /// shown to pay against the baseline. None without any.
    fn own_harm_text(&self) -> Option<String> {
        let better = self.primary().into_iter().filter(|one| one.outcome == verdicts::Outcome::Better);
        let harm = better.flat_map(|one| self.find_own_harm(self.cell.scheme_index(&one.scheme)));
        let harm: Vec<Veto> = harm.collect();
        self.pays_text(harm.iter(), "Better, but not recommended", &self.cell.plan.baseline)
    }

    /// Returns the harm that a scheme is shown to do against the baseline.
    fn find_harm(&self, scheme: usize) -> Vec<Veto> {
        self.judged.shown_payers(scheme, self.cell.baseline())
    }

    /// Returns what classes gain or pay, without short transfers if the first line has them; `harmed` are those who pay.
    fn class_lines(&self, scheme: usize, harmed: &[Veto]) -> Vec<String> {
        class_lines(self.cell, scheme, self.cell.primary(), harmed)
    }

    /// Returns the answer where every scheme that beats the baseline makes a class pay more than its margin; `found`
    /// says who pays.
    fn report_vetoes(&self, found: Vec<Veto>) -> Advice {
        let (baseline, words) = (&self.cell.plan.baseline, self.cell.describe_primary());
        let own = self.own_harm_text();
        let whom = if own.is_some() { "somebody" } else { "others" };
        let first = format!("Nothing is recommended: what beats {baseline} for {words} makes {whom} pay.");
        let pays = self.pays_text(found.iter(), "Not recommended", self.cell.plan.harm_reference());
        let after = [self.sureness_text(None, &[])].into_iter().chain(self.remarks());
        let lines = [first].into_iter().chain(pays).chain(own).chain(after).collect();
        self.recommend_nothing(Outcome::Vetoed, lines, found)
    }

    /// Returns why there is no verdict, as a line, and the scheme that is ahead so far: the one
    /// with the smallest primary mean that can be deployed and under which nobody pays. None if no
    /// scheme is compared, the capture is too small, or nothing is known.
    fn explain_few_replications(&self) -> (String, Option<usize>) {
        if let Some(nothing) = explain_no_candidate(self.cell) {
            return (format!("No verdict: {nothing}."), None);
        }
        let few = format!("No verdict: {}.", few_replications_text(&self.cell.plan, &self.setting.duration));
        if self.is_small_capture() {
            let floor = floor_text(self.cell, Role::Short);
            return (format!("{few} More of them give none either: {floor}."), None);
        }
        let pays =
            |scheme: usize| self.judged.vetoes().iter().any(|one| one.scheme == self.cell.name(scheme));
        let Source { quantity, .. } = &self.cell.primary().source;
        let mean = |scheme: &usize| mean_of_finite(&self.cell.values(&self.cell.primary().source, *scheme));
        let gains_by_more = quantity.better == Better::More;
        let cost = |scheme: &usize| if gains_by_more { -mean(scheme) } else { mean(scheme) };
        let deployable = self.cell.schemes().filter(|scheme| !self.cell.plan.schemes[*scheme].is_ideal);
        let known = deployable.filter(|scheme| mean(scheme).is_finite() && !pays(*scheme));
        let Some(least) = known.min_by(|own, other| cost(own).total_cmp(&cost(other))) else {
            return (few, None);
        };
        let has_vetoes = !self.judged.vetoes().is_empty();
        let rest = if has_vetoes { ", of those under which nobody pays too much" } else { "" };
        let (name, words) = (self.cell.name(least), self.cell.describe_primary());
        let mean = unit_text(quantity.unit, mean(&least), false);
        let most = if gains_by_more { "largest" } else { "smallest" };
        (format!("{few} So far {name} has the {most} mean of {words}: {mean}{rest}."), Some(least))
    }

    /// Returns the answer where no scheme is known to beat the baseline: that nothing does, or else
    /// which undecided scheme comes nearest. `primary` are the findings on the primary endpoint.
    fn report_nothing_better(&self, primary: &[&Finding]) -> Advice {
        use verdicts::Outcome::{Equal, Undecided, Worse};
        let (baseline, words) = (&self.cell.plan.baseline, self.cell.describe_primary());
        let named = |outcome| {
            let own = primary.iter().filter(move |one| one.outcome == outcome);
            own.map(|one| one.scheme.as_str()).collect::<Vec<_>>().join(", ")
        };
        let last = [self.sureness_text(None, &[])].into_iter().chain(self.remarks()).collect::<Vec<_>>();
        let open_ones = primary.iter().filter(|one| one.outcome == Undecided);
        let gains_by_more = self.cell.primary().source.quantity.better == Better::More;
        let cost = |change: f64| if gains_by_more { -change } else { change };
        let key = |one: &Finding| (!one.change.mean.is_finite(), cost(one.change.mean));
        let nearest = open_ones.min_by(|own, other| {
            let ((own_open, own), (other_open, other)) = (key(own), key(other));
            own_open.cmp(&other_open).then(own.total_cmp(&other))
        });
        let Some(nearest) = nearest else {
            let judged = [Equal, Worse].map(|outcome| (named(outcome), outcome.text()));
            let parts = judged.iter().filter(|(schemes, _)| !schemes.is_empty());
            let parts: Vec<String> = parts.map(|(schemes, word)| format!("{schemes}: {word}")).collect();
            let first = format!("Nothing here beats {baseline} for {words} ({}).", parts.join("; "));
            let lines = [first].into_iter().chain(last).collect();
            return self.recommend_nothing(Outcome::NothingBetter, lines, Vec::new());
        };
        let tried = primary.iter().map(|one| one.scheme.as_str()).collect::<Vec<_>>().join(", ");
        let scheme = self.cell.scheme_index(&nearest.scheme);
        let classes = self.class_lines(scheme, &self.find_harm(scheme));
        let room = self.most_lines().saturating_sub(last.len() + 2);
        let lines = [
            format!("No scheme is shown to beat {baseline} for {words} (compared: {tried})."),
            format!("{} comes nearest: {}.", nearest.scheme, nearest.verdict),
        ];
        let lines = lines.into_iter().chain(pack_lines(&classes, room)).chain(last).collect();
        self.recommend_nothing(Outcome::NotShown, lines, Vec::new())
    }

    /// Recommends what serves other classes, where nothing that may be recommended is shown to
    /// serve short transfers better. None if no scheme is shown to serve any.
    ///
    /// `out` are the schemes that vetoes rule out; `pays` says who pays under those that are shown
    /// to serve short transfers better.
    fn recommend_for_classes(&self, out: &[usize], pays: &[Veto]) -> Option<Advice> {
        let (cell, ways) = (self.cell, &self.setting.ways);
        let Service { scheme, classes, peers: level } = find_service(self.judged, out, self)?;
        let name = cell.name(scheme).to_owned();
        let classes: Vec<String> = classes.into_iter().map(|class| class_text(&cell.plan, class)).collect();
        let words = cell.describe_primary();
        let verdict = self.primary().into_iter().find(|one| one.scheme == name).map(|one| &one.verdict)?;
        let first = format!("Recommended for {}: {name}; {words}: {verdict}.", join_names(&classes));
        let peers: Vec<String> = level.iter().map(|scheme| cell.name(*scheme).to_owned()).collect();
        let as_good = (!peers.is_empty()).then(|| format!(" As good for them: {}.", peers.join(", ")));
        let sureness = format!("{}{}", self.sureness_text(None, &[]), as_good.unwrap_or_default());
        let mut lines: Vec<String> = self
            .pays_text(pays.iter(), "Not recommended", self.cell.plan.harm_reference())
            .into_iter()
            .collect();
        lines.extend(self.own_harm_text());
        lines.extend(self.may_pay_text(scheme));
        lines.extend(self.price_text(scheme, &level));
        lines.push(sureness);
        lines.extend(self.remarks().chain(self.left_out_text()));
        let room = self.most_lines().saturating_sub(lines.len() + 1).max(LEAST_CLASS_LINES);
        let classes_text = pack_lines(&self.class_lines(scheme, &[]), room);
        let how = self.install_lines(scheme);
        Some(Advice {
            outcome: Outcome::Recommended,
            vetoes: self.collect_vetoes(pays, &name),
            scheme: Some(name),
            classes,
            is_best: false,
            peers,
            ahead: Vec::new(),
            reference: cell.plan.harm_reference().to_owned(),
            installation: ways[scheme].clone(),
            lines: [first].into_iter().chain(classes_text).chain(lines).chain(how).collect(),
        })
    }

    /// Returns the vetoes in `pays` and those against the scheme recommended, in the order of all vetoes.
    fn collect_vetoes(&self, pays: &[Veto], scheme: &str) -> Vec<Veto> {
        let is_listed = |one: &&Veto| pays.contains(one) || one.scheme == scheme;
        self.judged.vetoes().iter().filter(is_listed).cloned().collect()
    }

    /// Recommends what serves short transfers best, of those that can be installed if there are
    /// any. `found` has at least one candidate.
    ///
    /// `pays` says who pays under the schemes that are shown to beat the baseline.
    fn recommend(&self, found: &Candidates, pays: &[Veto]) -> Advice {
        let (cell, ways) = (self.cell, &self.setting.ways);
        let choice = choose(self.judged, found, self);
        let chosen = choice.scheme;
        let rivals = || found.ranked.iter().copied().filter(|scheme| *scheme != chosen);
        let is_near = |scheme: usize| {
            let low = primary_ratio(cell, scheme, chosen).low;
            low.is_nan() || low <= 0.0
        };
        let peers: Vec<usize> = rivals().filter(|scheme| is_near(*scheme)).collect();
        let ahead = found.others.iter().copied().filter(|scheme| is_ahead(cell, *scheme, chosen));
        let ahead: Vec<String> = ahead.map(|scheme| cell.name(scheme).to_owned()).collect();
        let is_best = !self.cell.is_fitted() && is_best(cell, chosen, rivals().chain([cell.baseline()]));
        let near = pays.iter().filter(|one| is_near(cell.scheme_index(&one.scheme)));
        let mut lines: Vec<String> =
            self.pays_text(near, "Not recommended", self.cell.plan.harm_reference()).into_iter().collect();
        lines.extend(self.own_harm_text());
        lines.extend(choice.preferred_to.iter().map(|preference| self.preferred_text(chosen, preference)));
        lines.extend(self.may_pay_text(chosen));
        lines.extend(self.price_text(chosen, &found.shown));
        let alternative = find_alternative(self.judged, chosen, &found.shown);
        let is_other = |scheme: &usize| alternative.as_ref().is_none_or(|one| one.scheme != *scheme);
        let others: Vec<usize> = peers.iter().copied().filter(is_other).collect();
        let harmed = self.find_harm(chosen);
        let harmless = if harmed.is_empty() { None } else { self.find_harmless(&found.shown) };
        lines.extend(alternative.as_ref().map(|one| self.alternative_text(chosen, one, harmless)));
        lines.extend(harmless.filter(is_other).and_then(|scheme| self.harmless_text(scheme)));
        lines.push(self.sureness_text(Some(chosen), &others));
        lines.extend(self.remarks());
        if !ahead.is_empty() {
            let place = if cell.plan.in_rounds { "here" } else { "in simulation" };
            lines.push(format!("Better still {place}, but nothing installs it: {}.", ahead.join(", ")));
        }
        let classes = self.class_lines(chosen, &harmed);
        let room = self.most_lines().saturating_sub(lines.len() + 1); // without the first line
        lines.extend(self.left_out_text().filter(|_| room > LEAST_CLASS_LINES));
        let room = self.most_lines().saturating_sub(lines.len() + 1).max(LEAST_CLASS_LINES);
        let how = self.install_lines(chosen);
        let first = self.gain_text(chosen, is_best);
        Advice {
            outcome: Outcome::Recommended,
            scheme: Some(cell.name(chosen).to_owned()),
            classes: Vec::new(),
            is_best,
            peers: peers.iter().map(|scheme| cell.name(*scheme).to_owned()).collect(),
            ahead,
            reference: cell.plan.harm_reference().to_owned(),
            vetoes: self.collect_vetoes(pays, cell.name(chosen)),
            installation: ways[chosen].clone(),
            lines: [first].into_iter().chain(pack_lines(&classes, room)).chain(lines).chain(how).collect(),
        }
    }

    /// Returns the first of these schemes, given in order of speed, under which no class pays
    /// against the baseline; None if under each one does.
    fn find_harmless(&self, shown: &[usize]) -> Option<usize> {
        let baseline = self.cell.baseline();
        shown.iter().copied().find(|scheme| self.judged.payers(*scheme, baseline).is_empty())
    }
}

impl Traits for Answer<'_> {
    /// Only a model fitted to a capture with calls counts: other traffic's calls last, and the runs show who pays.
    fn demotes(&self, scheme: usize) -> bool {
        self.setting.demotes_calls[scheme] && self.cell.is_fitted() && self.has_calls()
    }

    fn is_installable(&self, scheme: usize) -> bool {
        self.setting.ways[scheme].is_some()
    }

    fn is_by_tc(&self, scheme: usize) -> bool {
        self.setting.ways[scheme].as_ref().is_some_and(Installation::is_by_tc)
    }
}

/// Returns the texts on at most `most` lines, of which there is at least one if there are texts:
/// several on a line if there are more. Each line ends with a full stop.
fn pack_lines(texts: &[String], most: usize) -> Vec<String> {
    let per_line = texts.len().div_ceil(most.max(1)).max(1);
    texts.chunks(per_line).map(|own| format!("{}.", own.join(". "))).collect()
}

/// Returns `a`, `a and b`, or `a, b and c`.
fn join_names(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.join(", "),
    }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests;
