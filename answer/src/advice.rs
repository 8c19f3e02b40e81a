//! The answer of a comparison: what to install, what every class gains or pays, how sure that is.

use crate::comparison::{Capture, Cell, known_mean};
use crate::findings::{Finding, few_replications_text, floor_text};
use crate::installation::AT_THE_LINE;
use crate::judged::Judged;
use crate::margins::Class;
use crate::notes::unsteady;
use crate::quantities::Kind;
use crate::ranking::{
    Alternative, Candidates, Preference, Service, candidates, choose, find_alternative, find_service,
    is_ahead, is_always_faster, is_best, rank, ratio,
};
use crate::setting::{Installation, Modem, Setting};
use crate::sizes::Role;
use crate::statistics::LEAST_REPLICATIONS;
use crate::statistics::intervals::smaller_in;
use crate::texts::{capped, counted, unit_text};
use crate::verdicts;
use crate::vetoes::{Veto, class_lines, name_class, present};
use serde::{Deserialize, Serialize};

/// The answer for one cell has at most so many lines, beside the commands that install it.
pub const MOST_LINES: usize = 12;
/// What is said of the answer leaves so many lines for what classes gain or pay.
const LEAST_CLASS_LINES: usize = 2;
/// At most so many commands and remarks on them are part of the answer.
pub const MOST_COMMANDS: usize = 6;
/// So many lines more where a scheme is at both ends: two heads, the other commands, a remark on the rate.
const LINES_OF_OTHER: usize = 6;
/// So many schemes beside the recommended one are named.
const MOST_PEERS: usize = 3;
/// So many schemes that a veto rules out are named with who pays how much.
const MOST_VETOED: usize = 2;
/// A shorter capture does not tell whether users act together, and the answer says so. Seconds; the simulator, which
/// `mousehole-compare` holds against it, looks for that in longer ones only.
pub const SHORT_CAPTURE_S: f64 = 240.0;

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
    /// than 5 %.
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

/// Returns the answer for a cell.
pub fn advise(judged: &Judged, setting: &Setting) -> Advice {
    let answer = Answer { judged, cell: &judged.cell, setting };
    let found = answer.decide();
    Advice { lines: answer.stand_in().into_iter().chain(found.lines).collect(), ..found }
}

/// Returns why no scheme could be recommended however long it ran; None if one could.
pub fn nothing_compared(cell: &Cell) -> Option<String> {
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

/// Says what is played in the place of a capture that is too small to be played as it is. `instead_of` is the traffic
/// that was given, and why ready-made traffic stands in its place.
pub fn stand_in(cell: &Cell, label: &str, instead_of: Option<&str>) -> Option<String> {
    if let Some(why) = instead_of {
        return Some(format!("Not your traffic: ready-made users stand in for {why} for a model of it."));
    }
    let is_fitted = cell.capture.as_ref().is_some_and(|capture| capture.is_fitted);
    is_fitted.then(|| {
        let word = cell.plan.unit().name();
        format!(
            "Played is {label}, drawn anew in each {word}; the intervals are of these transfers, not of another \
             day."
        )
    })
}

struct Answer<'a> {
    judged: &'a Judged,
    cell: &'a Cell,
    setting: &'a Setting,
}

impl Answer<'_> {
    fn stand_in(&self) -> Option<String> {
        stand_in(self.cell, &self.setting.label, self.setting.instead_of.as_deref())
    }

    /// Returns how many lines the answer has at most below what stands in for a capture.
    fn most_lines(&self) -> usize {
        MOST_LINES - usize::from(self.stand_in().is_some())
    }

    /// Decides what the answer comes to.
    fn decide(&self) -> Advice {
        let primary = self.primary();
        if self.has_few_replications() || primary.is_empty() {
            let (line, least) = self.explain_few_replications();
            return self.without_verdict(line, least);
        }
        if self.is_small_capture() {
            return self
                .without_verdict(format!("No verdict: {}.", floor_text(self.cell, Role::Short)), None);
        }
        let is_better = |one: &&&Finding| one.outcome == verdicts::Outcome::Better;
        let better: Vec<usize> =
            primary.iter().filter(is_better).map(|one| self.cell.place(&one.scheme)).collect();
        let binding = self.judged.vetoes().iter().filter(|one| one.binds);
        let out: Vec<usize> = binding.map(|one| self.cell.place(&one.scheme)).collect();
        if better.is_empty() {
            return self.for_classes(&out, &[]).unwrap_or_else(|| self.nothing_better(&primary));
        }
        let order = rank(self.cell);
        let place = |one: &Veto| {
            let scheme = self.cell.place(&one.scheme);
            order.iter().position(|own| *own == scheme).unwrap_or(order.len())
        };
        let pays = |one: &&Veto| better.contains(&self.cell.place(&one.scheme));
        let mut found: Vec<Veto> = self.judged.vetoes().iter().filter(pays).cloned().collect();
        found.sort_by_key(place);
        let ways = &self.setting.ways;
        let candidates = candidates(self.cell, &better, &out, |scheme| ways[scheme].is_some());
        if candidates.shown.is_empty() {
            return self.for_classes(&out, &found).unwrap_or_else(|| self.vetoed(found));
        }
        self.recommended(&candidates, &found)
    }

    /// Returns the primary endpoint of every scheme that is no ideal against the baseline.
    fn primary(&self) -> Vec<&Finding> {
        let is_ideal = |name: &str| self.cell.plan.schemes[self.cell.place(name)].is_ideal;
        let is_own = |one: &&Finding| {
            !one.exploratory && one.reference == self.cell.plan.baseline && !is_ideal(&one.scheme)
        };
        self.judged.findings().iter().filter(is_own).collect()
    }

    fn has_few_replications(&self) -> bool {
        (self.cell.plan.replications as usize) < LEAST_REPLICATIONS
    }

    /// Returns whether short transfers are judged, and the capture has too few of them.
    fn is_small_capture(&self) -> bool {
        let capture = self.cell.capture.as_ref();
        self.cell.is_about_short() && capture.is_some_and(|capture| !capture.is_enough(Role::Short))
    }

    /// Returns an answer that recommends nothing.
    fn recommend_nothing(&self, outcome: Outcome, lines: Vec<String>, vetoes: Vec<Veto>) -> Advice {
        let reference = self.cell.plan.harm_reference().to_owned();
        let lines = lines.into_iter().chain(self.left_out()).take(self.most_lines()).collect();
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

    /// Says why there is no verdict, and what the estimates are under `least`, which is ahead so far.
    fn without_verdict(&self, line: String, least: Option<usize>) -> Advice {
        let found = if self.has_few_replications() { self.judged.vetoes().to_vec() } else { Vec::new() };
        let others: Vec<String> = self
            .pays_text(found.iter(), "By estimate others pay")
            .into_iter()
            .chain(self.remarks())
            .collect();
        let least = least.filter(|scheme| *scheme != self.cell.baseline());
        let classes = least.map(|scheme| self.class_lines(scheme, &self.harmed(scheme))).unwrap_or_default();
        let room = self.most_lines().saturating_sub(1 + others.len());
        let lines = [line].into_iter().chain(pack(&classes, room)).chain(others).collect();
        self.recommend_nothing(Outcome::NoVerdict, lines, found)
    }

    /// Returns who is shown to pay under a scheme against the baseline.
    fn harmed(&self, scheme: usize) -> Vec<Veto> {
        self.judged.shown_payers(scheme, self.cell.baseline())
    }

    /// Returns what classes gain or pay, without short transfers if the first line has them; `harmed` are those who pay.
    fn class_lines(&self, scheme: usize, harmed: &[Veto]) -> Vec<String> {
        class_lines(self.cell, scheme, self.cell.primary(), harmed)
    }

    /// Returns the schemes that a veto rules out, and of the first of them who pays how much.
    fn pays_text<'b>(&self, found: impl Iterator<Item = &'b Veto>, begin: &str) -> Option<String> {
        let found: Vec<&Veto> = found.filter(|one| one.binds).collect();
        let schemes = each_once(found.iter().map(|one| one.scheme.as_str()));
        let who_pays = |scheme: &&str| {
            let own = found.iter().copied().filter(|one| one.scheme == **scheme);
            format!("{scheme} ({})", briefs(own))
        };
        let first: Vec<String> = schemes.iter().take(MOST_VETOED).map(who_pays).collect();
        let rest = schemes.get(MOST_VETOED..).filter(|rest| !rest.is_empty());
        let rest = rest.map(|rest| format!("; also {}", rest.join(", "))).unwrap_or_default();
        let other = self.cell.plan.harm_reference();
        (!first.is_empty()).then(|| format!("{begin}, against {other}: {}{rest}.", first.join("; ")))
    }

    /// Says that every scheme that beats the baseline makes a class pay more than its margin.
    fn vetoed(&self, found: Vec<Veto>) -> Advice {
        let (baseline, words) = (&self.cell.plan.baseline, self.cell.describe_primary());
        let first = format!("Nothing is recommended: what beats {baseline} for {words} makes others pay.");
        let pays = self.pays_text(found.iter(), "Not recommended");
        let after = [self.sureness_text(None, &[])].into_iter().chain(self.remarks());
        let lines = [first].into_iter().chain(pays).chain(after).collect();
        self.recommend_nothing(Outcome::Vetoed, lines, found)
    }

    /// Returns why there is no verdict, and the scheme that is ahead so far.
    fn explain_few_replications(&self) -> (String, Option<usize>) {
        if let Some(nothing) = nothing_compared(self.cell) {
            return (format!("No verdict: {nothing}."), None);
        }
        let few = format!("No verdict: {}.", few_replications_text(&self.cell.plan, &self.setting.duration));
        if self.is_small_capture() {
            let floor = floor_text(self.cell, Role::Short);
            return (format!("{few} More of them give none either: {floor}."), None);
        }
        let pays =
            |scheme: usize| self.judged.vetoes().iter().any(|one| one.scheme == self.cell.name(scheme));
        let mean = |scheme: &usize| known_mean(&self.cell.primary_values(*scheme));
        let deployable = self.cell.schemes().filter(|scheme| !self.cell.plan.schemes[*scheme].is_ideal);
        let known = deployable.filter(|scheme| mean(scheme).is_finite() && !pays(*scheme));
        let Some(least) = known.min_by(|own, other| mean(own).total_cmp(&mean(other))) else {
            return (few, None);
        };
        let has_vetoes = !self.judged.vetoes().is_empty();
        let rest = if has_vetoes { ", of those under which nobody pays too much" } else { "" };
        let unit = self.cell.primary().source.quantity.unit;
        let (name, words) = (self.cell.name(least), self.cell.describe_primary());
        let mean = unit_text(unit, mean(&least), false);
        (format!("{few} So far {name} has the smallest mean of {words}: {mean}{rest}."), Some(least))
    }

    /// Says that no scheme is known to beat the baseline, and which one might.
    fn nothing_better(&self, primary: &[&Finding]) -> Advice {
        use verdicts::Outcome::{Equal, Undecided, Worse};
        let (baseline, words) = (&self.cell.plan.baseline, self.cell.describe_primary());
        let named = |outcome| {
            let own = primary.iter().filter(move |one| one.outcome == outcome);
            own.map(|one| one.scheme.as_str()).collect::<Vec<_>>().join(", ")
        };
        let kept = [self.sureness_text(None, &[])].into_iter().chain(self.remarks()).collect::<Vec<_>>();
        let open_ones = primary.iter().filter(|one| one.outcome == Undecided);
        let key = |one: &Finding| (!one.change.mean.is_finite(), one.change.mean);
        let nearest = open_ones.min_by(|own, other| {
            let ((own_open, own), (other_open, other)) = (key(own), key(other));
            own_open.cmp(&other_open).then(own.total_cmp(&other))
        });
        let Some(nearest) = nearest else {
            let judged = [Equal, Worse].map(|outcome| (named(outcome), outcome.text()));
            let parts = judged.iter().filter(|(schemes, _)| !schemes.is_empty());
            let parts: Vec<String> = parts.map(|(schemes, word)| format!("{schemes}: {word}")).collect();
            let first = format!("Nothing here beats {baseline} for {words} ({}).", parts.join("; "));
            let lines = [first].into_iter().chain(kept).collect();
            return self.recommend_nothing(Outcome::NothingBetter, lines, Vec::new());
        };
        let tried = primary.iter().map(|one| one.scheme.as_str()).collect::<Vec<_>>().join(", ");
        let scheme = self.cell.place(&nearest.scheme);
        let classes = self.class_lines(scheme, &self.harmed(scheme));
        let room = self.most_lines().saturating_sub(kept.len() + 2);
        let lines = [
            format!("No scheme is shown to beat {baseline} for {words} (compared: {tried})."),
            format!("{} comes nearest: {}.", nearest.scheme, nearest.verdict),
        ];
        let lines = lines.into_iter().chain(pack(&classes, room)).chain(kept).collect();
        self.recommend_nothing(Outcome::NotShown, lines, Vec::new())
    }

    /// Recommends what serves other classes, where nothing that may be recommended is shown to serve short transfers better.
    ///
    /// `pays` says who pays under the schemes that are shown to, which a veto rules out.
    fn for_classes(&self, out: &[usize], pays: &[Veto]) -> Option<Advice> {
        let (cell, ways) = (self.cell, &self.setting.ways);
        let Service { scheme, classes, peers: level } =
            find_service(self.judged, out, |scheme| ways[scheme].is_some())?;
        let name = cell.name(scheme).to_owned();
        let classes: Vec<String> = classes.into_iter().map(|class| name_class(&cell.plan, class)).collect();
        let words = cell.describe_primary();
        let verdict = self.primary().into_iter().find(|one| one.scheme == name).map(|one| &one.verdict)?;
        let first = format!("Recommended for {}: {name}; {words}: {verdict}.", join_names(&classes));
        let peers: Vec<String> = level.iter().map(|scheme| cell.name(*scheme).to_owned()).collect();
        let as_good = (!peers.is_empty()).then(|| format!(" As good for them: {}.", peers.join(", ")));
        let sureness = format!("{}{}", self.sureness_text(None, &[]), as_good.unwrap_or_default());
        let mut lines: Vec<String> = self.pays_text(pays.iter(), "Not recommended").into_iter().collect();
        lines.extend(self.may_pay(scheme));
        lines.extend(self.price_text(scheme, &level));
        lines.push(sureness);
        lines.extend(self.remarks().chain(self.left_out()));
        let room = self.most_lines().saturating_sub(lines.len() + 1).max(LEAST_CLASS_LINES);
        let classes_text = pack(&self.class_lines(scheme, &[]), room);
        let how = self.install_lines(scheme);
        Some(Advice {
            outcome: Outcome::Recommended,
            vetoes: self.listed_vetoes(pays, &name),
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

    /// Returns the vetoes of `pays`, and those of the scheme recommended.
    fn listed_vetoes(&self, pays: &[Veto], scheme: &str) -> Vec<Veto> {
        let is_listed = |one: &&Veto| pays.contains(one) || one.scheme == scheme;
        self.judged.vetoes().iter().filter(is_listed).cloned().collect()
    }

    /// Recommends what serves short transfers best, of those that can be installed if there are any.
    ///
    /// `pays` says who pays under the schemes that are shown to beat the baseline.
    fn recommended(&self, found: &Candidates, pays: &[Veto]) -> Advice {
        let (cell, ways) = (self.cell, &self.setting.ways);
        let choice = choose(self.judged, found);
        let chosen = choice.scheme;
        let rivals = || found.ranked.iter().copied().filter(|scheme| *scheme != chosen);
        let is_near = |scheme: usize| {
            let low = ratio(cell, scheme, chosen).low;
            low.is_nan() || low <= 0.0
        };
        let peers: Vec<usize> = rivals().filter(|scheme| is_near(*scheme)).collect();
        let ahead = found.others.iter().copied().filter(|scheme| is_ahead(cell, *scheme, chosen));
        let ahead: Vec<String> = ahead.map(|scheme| cell.name(scheme).to_owned()).collect();
        let is_best = is_best(cell, chosen, rivals().chain([cell.baseline()]));
        let near = pays.iter().filter(|one| is_near(cell.place(&one.scheme)));
        let mut lines: Vec<String> = self.pays_text(near, "Not recommended").into_iter().collect();
        lines.extend(choice.preferred_to.as_ref().map(|preference| self.preferred_text(chosen, preference)));
        lines.extend(self.may_pay(chosen));
        lines.extend(self.price_text(chosen, &found.shown));
        let alternative = find_alternative(self.judged, chosen, &found.shown);
        let is_other = |scheme: &usize| alternative.as_ref().is_none_or(|one| one.scheme != *scheme);
        let others: Vec<usize> = peers.iter().copied().filter(is_other).collect();
        let harmed = self.harmed(chosen);
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
        lines.extend(self.left_out().filter(|_| room > LEAST_CLASS_LINES));
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
            vetoes: self.listed_vetoes(pays, cell.name(chosen)),
            installation: ways[chosen].clone(),
            lines: [first].into_iter().chain(pack(&classes, room)).chain(lines).chain(how).collect(),
        }
    }

    /// Returns who may pay under a scheme beyond the margins, where the harm is not shown.
    fn may_pay(&self, scheme: usize) -> Option<String> {
        let texts = briefs(self.judged.held_payers(scheme).iter().filter(|one| !one.binds));
        let other = self.cell.plan.harm_reference();
        (!texts.is_empty()).then(|| format!("May pay, against {other}: {texts}."))
    }

    /// Says of a scheme that takes a call that lasts for a download that no call is there to pay for it, and which of these
    /// does not.
    fn price_text(&self, scheme: usize, others: &[usize]) -> Option<String> {
        let (cell, demotes) = (self.cell, &self.setting.demotes_calls);
        let would_pay =
            |class: &Class| matches!(class, Class::Kind(Kind::Calls | Kind::Games | Kind::VideoCalls));
        if !demotes[scheme] || present(cell).iter().any(would_pay) {
            return None;
        }
        let name = cell.name(scheme);
        let other = others.iter().find(|other| !demotes[**other]).map(|other| {
            let change = capped(ratio(cell, *other, scheme).as_change().mean);
            format!(" {} does not ({change} % for {}).", cell.name(*other), cell.describe_primary())
        });
        let other = other.unwrap_or_default();
        Some(format!(
            "Take care: no calls or games are in this traffic, and {name} takes one that lasts for a download.{other}"
        ))
    }

    /// Returns the fastest of the schemes shown to help under which no class pays against the baseline.
    fn find_harmless(&self, shown: &[usize]) -> Option<usize> {
        let baseline = self.cell.baseline();
        shown.iter().copied().find(|scheme| self.judged.payers(*scheme, baseline).is_empty())
    }

    /// Says that no class pays under a scheme, and what short transfers gain.
    fn harmless_text(&self, scheme: usize) -> Option<String> {
        let name = self.cell.name(scheme);
        let verdict = &self.primary().into_iter().find(|one| one.scheme == name)?.verdict;
        let (baseline, words) = (&self.cell.plan.baseline, self.cell.describe_primary());
        Some(format!("With {name} nobody is worse off than under {baseline}, and {words} are {verdict}."))
    }

    /// Returns which scheme serves short transfers as well or nearly so, whom it spares and whom it costs how much; and where
    /// it is the `harmless` one, that nobody pays under it.
    fn alternative_text(&self, chosen: usize, one: &Alternative, harmless: Option<usize>) -> String {
        let name = self.cell.name(one.scheme);
        let change = capped(ratio(self.cell, one.scheme, chosen).as_change().mean);
        let spares = briefs(one.spares.iter());
        let costs = briefs(one.costs.iter());
        let costs = if costs.is_empty() { costs } else { format!(", and costs {costs}") };
        let harmless = match harmless == Some(one.scheme) {
            true => format!(" Nobody is worse off with it than under {}.", self.cell.plan.baseline),
            false => String::new(),
        };
        if one.is_level {
            return format!("As good is {name} ({change} %): it spares {spares}{costs}.{harmless}");
        }
        let words = self.cell.describe_primary();
        format!("{name} is slower for {words} ({change} %), but spares {spares}{costs}.{harmless}")
    }

    /// Returns in whose place a scheme stands, who pays under that one, and who gains more.
    fn preferred_text(&self, scheme: usize, preference: &Preference) -> String {
        let name = self.cell.name(preference.other);
        let change = capped(ratio(self.cell, preference.other, scheme).as_change().mean);
        let pays = briefs(preference.pays.iter());
        let less = briefs(preference.gains_less.iter());
        let gains = if less.is_empty() { less } else { format!(" Less gain than there: {less}.") };
        let Preference { other, is_shown, .. } = *preference;
        let is_level = is_shown || ratio(self.cell, scheme, other).mean <= libm::log1p(verdicts::MARGIN);
        let is = if is_level { "level" } else { "faster" };
        let pay = match is_shown {
            true => "pay".to_owned(),
            false => format!("may pay, against {}", self.cell.plan.harm_reference()),
        };
        format!("Preferred to {name}, which is {is} ({change} %), but under which {pay}: {pays}.{gains}")
    }

    /// Returns what was left out of the traffic as it was read.
    fn left_out(&self) -> impl Iterator<Item = String> {
        let texts = self.setting.left_out.join("; ");
        (!texts.is_empty()).then(|| format!("Left out: {texts}.")).into_iter()
    }

    /// Returns what short transfers gain; `Best` is said only where it is shown.
    ///
    /// A scheme that is not shown to help by itself was faster in every replication than the first one that is.
    fn gain_text(&self, scheme: usize, is_best: bool) -> String {
        let primary = self.primary();
        let verdict = |scheme: usize| {
            let is_one = |one: &&&Finding| {
                one.scheme == self.cell.name(scheme) && one.outcome == verdicts::Outcome::Better
            };
            primary.iter().find(is_one).map(|one| one.verdict.as_str())
        };
        let beaten = || {
            let all = rank(self.cell).into_iter().filter(|own| is_always_faster(self.cell, scheme, *own));
            let (other, said) = all.filter_map(|own| Some((own, verdict(own)?))).next()?;
            let (word, other) = (self.cell.plan.unit().name(), self.cell.name(other));
            Some(format!("faster in every {word} than {other}, which is {said}"))
        };
        let said = verdict(scheme).map(str::to_owned).or_else(beaten).unwrap_or_default();
        let word = if is_best { "Best" } else { "Recommended" };
        format!("{word} for {}: {}, {said}.", self.cell.describe_primary(), self.cell.name(scheme))
    }

    /// Returns what stands behind the verdict, and the schemes that may serve as well.
    fn sureness_text(&self, chosen: Option<usize>, peers: &[usize]) -> String {
        let (cell, plan) = (self.cell, &self.cell.plan);
        let runs = counted(i64::from(plan.replications), plan.unit().name());
        let mut parts = vec![format!("{runs} of {}", self.setting.duration)];
        if let Some(chosen) = chosen {
            let (faster, of) = self.faster(chosen, cell.baseline());
            parts.push(format!("faster than {} in {faster} of {of}", plan.baseline));
        }
        if let Some(capture) = &cell.capture {
            let transfers = counted(capture.short.transfers as i64, "distinct transfer");
            parts.push(format!("{transfers} of {}", counted(capture.short.clients as i64, "client")));
        }
        let number = plan.schemes.len() - 1;
        let held = format!("; intervals hold for all {number} schemes at once");
        let held = if number > 1 { held } else { String::new() };
        let peers = chosen.map(|chosen| self.peers_text(chosen, peers)).unwrap_or_default();
        format!("How sure: {}{held}.{peers}{}", parts.join(", "), self.short_capture_text())
    }

    /// Says of a capture of few minutes, whose copies are played, what no interval can hold.
    fn short_capture_text(&self) -> String {
        let capture = self.cell.capture.as_ref();
        let is_short = |one: &&Capture| !one.is_fitted && one.period_s < SHORT_CAPTURE_S;
        let Some(capture) = capture.filter(is_short).filter(|_| self.cell.capture_share() > 0.0) else {
            return String::new();
        };
        format!(
            " {:.0} s hardly tell whether users act together: intervals are of this capture, not of another \
             time.",
            capture.period_s
        )
    }

    fn faster(&self, scheme: usize, other: usize) -> (u32, u32) {
        smaller_in(&self.cell.primary_values(scheme), &self.cell.primary_values(other))
    }

    /// Returns how the schemes that are not shown to be slower than the chosen one compare with it; those that were slower
    /// every time have a sentence of their own.
    fn peers_text(&self, chosen: usize, peers: &[usize]) -> String {
        let (level, slower): (Vec<usize>, Vec<usize>) =
            peers.iter().partition(|scheme| self.faster(**scheme, chosen).0 > 0);
        let change = |scheme: usize| capped(ratio(self.cell, scheme, chosen).as_change().mean);
        let level = self.list_peers(&level, |scheme| {
            let (faster, of) = self.faster(scheme, chosen);
            format!(" {} % (faster in {faster} of {of})", change(scheme))
        });
        let slower = self.list_peers(&slower, |scheme| format!(" {} %", change(scheme)));
        let unit = self.cell.plan.unit().name();
        [
            ("Not shown to be slower".to_owned(), level),
            (format!("Slower in every {unit}, but not shown to be"), slower),
        ]
        .into_iter()
        .filter_map(|(title, list)| list.map(|list| format!(" {title}: {list}.")))
        .collect()
    }

    /// Returns the first peers, each with what is said of it, and how many there are more; None without any.
    fn list_peers(&self, peers: &[usize], text: impl Fn(usize) -> String) -> Option<String> {
        let texts: Vec<String> = peers
            .iter()
            .take(MOST_PEERS)
            .map(|&scheme| format!("{}{}", self.cell.name(scheme), text(scheme)))
            .collect();
        let more = peers.len().saturating_sub(MOST_PEERS);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!texts.is_empty()).then(|| format!("{}{rest}", texts.join(", ")))
    }

    /// Returns how schemes stand before a modem, and whether there is no steady state.
    fn remarks(&self) -> impl Iterator<Item = String> {
        let unsteady = unsteady(self.cell, self.setting);
        let unsteady = unsteady.map(|note| format!("Take care: {}", lowered(&note)));
        self.setting.modem.as_ref().map(|modem| self.before_modem(modem)).into_iter().chain(unsteady)
    }

    /// Returns which scheme is the modem's FIFO alone, and at which rate the others send into it.
    fn before_modem(&self, modem: &Modem) -> String {
        let Modem { shape, up_shape, buffer, has_own_rates } = modem;
        let of_line = if shape.ends_with('%') { " of the line" } else { "" };
        let up = if up_shape == shape { String::new() } else { format!(" ({up_shape} up)") };
        let own = if *has_own_rates { "; those with @ at their own rate" } else { "" };
        let each = format!("at {shape}{of_line}{up}{own}");
        if self.cell.plan.schemes.iter().any(|one| one.text == "droptail") {
            let alone = format!("droptail is what is there: the modem's FIFO of {buffer} alone");
            return format!("{alone}; the others send into it {each}.");
        }
        format!("Schemes send into a modem's FIFO of {buffer} {each}.")
    }

    /// Returns how a scheme is installed, in commands where they are few.
    fn install_lines(&self, scheme: usize) -> Vec<String> {
        let Some(way) = &self.setting.ways[scheme] else {
            let (name, why) = (self.cell.name(scheme), &self.setting.why_nothing[scheme]);
            return vec![format!(
                "Nothing installs {name}: {why}. Compare what Linux has as well: --schemes '…,fq-codel,cake'."
            )];
        };
        let most = MOST_COMMANDS + if self.setting.is_both_ways { LINES_OF_OTHER } else { 0 };
        let all: Vec<&String> = way.lines.iter().collect();
        let shorter: Vec<&String> = way.lines.iter().filter(|line| *line != AT_THE_LINE).collect();
        for lines in [all, shorter] {
            if lines.len() <= most {
                let first = format!("Install on {}: {}", way.place, lines[0]);
                return [first].into_iter().chain(lines.into_iter().skip(1).cloned()).collect();
            }
        }
        vec![format!("Install on {}: the {} lines that --details prints.", way.place, way.lines.len())]
    }
}

/// Returns who pays how much in few words, of every class the first figure that is beyond its margin.
fn briefs<'a>(found: impl Iterator<Item = &'a Veto>) -> String {
    let mut texts: Vec<(Class, &str)> = Vec::new();
    for one in found {
        let class = one.margin.figure.class;
        if texts.iter().all(|(known, _)| *known != class) {
            texts.push((class, &one.brief));
        }
    }
    texts.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(", ")
}

/// Returns the texts on at most so many lines, several on one where they are more; at least on one.
fn pack(texts: &[String], most: usize) -> Vec<String> {
    let per_line = texts.len().div_ceil(most.max(1)).max(1);
    texts.chunks(per_line).map(|own| format!("{}.", own.join(". "))).collect()
}

fn each_once<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns `a`, `a and b`, or `a, b and c`.
fn join_names(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.join(", "),
    }
}

/// Returns the text with a small first letter.
fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::comparison::{Counted, Scheme};
    use crate::tests_support::{cell, make_cell, with_calls};

    /// Returns the answer where `tc` installs every scheme but those named, and `ct-cake` takes calls for downloads.
    fn answer(cell: Cell, not_installed: &[&str]) -> Advice {
        let way = |scheme: &Scheme| {
            let lines = vec![format!("tc qdisc replace dev DEV root {}", scheme.text)];
            let is_installed = !not_installed.contains(&scheme.text.as_str());
            is_installed.then(|| Installation { place: "Linux".to_owned(), lines })
        };
        let ways: Vec<_> = cell.plan.schemes.iter().map(way).collect();
        let why = |way: &Option<Installation>| if way.is_some() { "" } else { "it is no queue of Linux" };
        let setting = Setting {
            label: "by hand".to_owned(),
            duration: "100s".to_owned(),
            instead_of: None,
            left_out: Vec::new(),
            why_nothing: ways.iter().map(|way| why(way).to_owned()).collect(),
            demotes_calls: cell.plan.schemes.iter().map(|scheme| scheme.text == "ct-cake").collect(),
            ways,
            is_both_ways: false,
            modem: None,
            warmup_s: 20.0,
            warmup_needed_s: None,
            rate_bps: Some(1e7),
            buffer_packets: Some(50),
            rtt: None,
            is_up: false,
            has_transfers: true,
        };
        advise(&Judged::new(cell), &setting)
    }

    #[test]
    fn advise__recommends_with_commands_and_says_how_sure() {
        let found = cell(&[("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("cake", 0.52, 12.0)]);
        let one = answer(found, &[]);
        assert_eq!(
            (one.outcome, one.scheme.as_deref(), one.is_best),
            (Outcome::Recommended, Some("fq-codel"), true)
        );
        assert_eq!(
            one.lines,
            [
                "Best for transfers ≤ 15 kB: fq-codel, better by 50 % (95 % interval 50–50 %), mean 1 s → 500 ms.",
                "Transfers > 150 kB: mean response time 10 s → 10 s, 0.0 % (0.0…0.0).",
                "How sure: 6 replications of 100s, faster than droptail in 6 of 6; intervals hold for all 2 schemes at \
                 once.",
                "Install on Linux: tc qdisc replace dev DEV root fq-codel",
            ]
        );
    }

    #[test]
    fn advise__without_calls_says_what_a_scheme_would_cost_them() {
        let schemes = [("droptail", 1.0, 10.0), ("ct-cake", 0.5, 10.0), ("cake", 0.52, 10.0)];
        let price = |found: Cell| {
            let lines = answer(found, &[]).lines;
            lines.into_iter().find(|line| line.starts_with("Take care: no calls"))
        };
        let said = "Take care: no calls or games are in this traffic, and ct-cake takes one that lasts for a download. \
                    cake does not (+4.0 % for transfers ≤ 15 kB).";
        assert_eq!(price(cell(&schemes)).as_deref(), Some(said));
        assert_eq!(price(make_cell(&schemes, |_, facts| with_calls(facts, "delay_p95_s", 0.03))), None);
        assert_eq!(price(cell(&[schemes[0], ("cake", 0.5, 10.0)])), None);
    }

    #[test]
    fn advise__of_a_short_capture_says_what_its_intervals_are_of() {
        let said_of = |period_s: f64| {
            let mut found = cell(&[("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0)]);
            let counted = Counted { transfers: 500, clients: 40 };
            let (freedom, large, pipe_bytes, is_fitted) = (50.0, 50, 1e5, false);
            let (short, long, all) = (counted, counted, counted);
            found.capture =
                Some(Capture { period_s, short, long, all, freedom, large, pipe_bytes, is_fitted });
            found.plan.is_overlaid = true;
            for run in found.runs.iter_mut().flatten() {
                (run.load.copies, run.load.dilation) = (3, 1.0);
            }
            answer(found, &[]).lines.iter().any(|line| {
                line.starts_with("How sure: ")
                    && line.ends_with(
                        " 60 s hardly tell whether users act together: intervals are of this capture, not of \
                         another time.",
                    )
            })
        };
        assert!(said_of(60.0) && !said_of(600.0));
    }

    #[test]
    fn advise__takes_what_can_be_installed_and_names_what_is_ahead() {
        let found =
            cell(&[("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0), ("cake", 0.8, 10.0), ("srpt", 0.1, 10.0)]);
        let one = answer(found, &["sfd"]);
        assert_eq!(one.scheme.as_deref(), Some("cake"));
        assert_eq!(one.ahead, ["sfd"]);
        let alone = cell(&[("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0)]);
        let one = answer(alone, &["sfd"]);
        assert!(one.lines.last().unwrap().starts_with("Nothing installs sfd: it is no queue of Linux."));
    }

    #[test]
    fn advise__of_schemes_under_which_calls_pay_recommends_none() {
        let found = make_cell(
            &[("droptail", 1.0, 10.0), ("fq-codel", 0.9, 10.0), ("sfd", 0.5, 10.0)],
            |place, facts| with_calls(facts, "loss_share", [0.01, 0.001, 0.02][place]),
        );
        let one = answer(found, &[]);
        assert_eq!(one.scheme.as_deref(), Some("fq-codel"), "the reference itself makes nobody pay");
        assert!(
            one.lines
                .iter()
                .any(|line| line == "Not recommended, against fq-codel: sfd (calls +1.9 points).")
        );
        let found = make_cell(&[("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0)], |place, facts| {
            with_calls(facts, "loss_share", [0.001, 0.02][place])
        });
        let one = answer(found, &[]);
        assert_eq!((one.outcome, one.scheme), (Outcome::Vetoed, None));
        let first = "Nothing is recommended: what beats droptail for transfers ≤ 15 kB makes others pay.";
        assert_eq!(one.lines[0], first);
    }

    #[test]
    fn advise__recommends_what_was_always_faster_than_a_vetoed_scheme() {
        let schemes = [("droptail", 1.0, 10.0), ("sfd", 0.5, 10.0), ("cake", 0.49, 10.0)];
        let found = make_cell(&schemes, |place, mut facts| {
            let times = facts.statistics.get_mut("response_mean_s").unwrap();
            if place == 2 && times[0] < 0.49 {
                // Faster in every replication, by nothing that an interval could hold.
                times.iter_mut().filter(|one| **one < 0.49).for_each(|one| *one /= 500.0);
            }
            with_calls(facts, "loss_share", [0.3, 0.2, 0.1][place])
        });
        let one = answer(found, &[]);
        assert_eq!((one.outcome, one.scheme.as_deref()), (Outcome::Recommended, Some("cake")));
        assert!(
            one.lines[0].contains("faster in every replication than sfd, which is better by 50 %"),
            "{:#?}",
            one.lines
        );
        assert!(
            one.lines.iter().any(|line| line == "Not recommended, against cake: sfd (calls +10 points).")
        );
    }

    #[test]
    fn advise__of_level_schemes_says_for_whose_sake_one_is_preferred() {
        let found = make_cell(
            &[("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("sfd", 0.51, 10.0)],
            |place, facts| with_calls(facts, "loss_share", [0.3, 0.2, 0.1][place]),
        );
        let one = answer(found, &[]);
        assert_eq!((one.scheme.as_deref(), one.is_best), (Some("sfd"), true));
        let why = "Preferred to fq-codel, which is level (−2.0 %), but under which pay: calls +10 points.";
        assert!(one.lines.iter().any(|line| line == why), "{:#?}", one.lines);
    }

    #[test]
    fn advise__of_near_schemes_says_who_may_pay_under_the_one_passed_over() {
        let schemes =
            [("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("sfd", 0.54, 10.0), ("cake", 0.6, 10.0)];
        let found = make_cell(&schemes, |place, facts| {
            let off = 15.0 * (facts.statistics["response_mean_s"][0] / schemes[place].1 - 1.0);
            let lost = [0.3, 0.2 + off, 0.101, 0.1][place];
            with_calls(facts, "loss_share", lost)
        });
        let one = answer(found, &[]);
        assert_eq!((one.scheme.as_deref(), one.is_best), (Some("sfd"), false));
        let why = "Preferred to fq-codel, which is faster (−7.4 %), but under which may pay, against cake: calls +10 \
                   points.";
        assert!(one.lines.iter().any(|line| line == why), "{:#?}", one.lines);
    }

    #[test]
    fn advise__names_the_fastest_scheme_that_harms_nobody() {
        let schemes =
            [("droptail", 1.0, 10.0), ("fq-codel", 0.5, 10.0), ("sfd", 0.6, 10.0), ("red", 0.7, 10.0)];
        let lines_of = |lost: [f64; 4]| {
            let found = make_cell(&schemes, |place, facts| with_calls(facts, "loss_share", lost[place]));
            answer(found, &[]).lines
        };
        let line = "With sfd nobody is worse off than under droptail, and transfers ≤ 15 kB are better by 40 % (95 % \
                    interval 40–40 %), mean 1 s → 600 ms.";
        let harmful = lines_of([0.1, 0.2, 0.1, 0.1]);
        assert_eq!(harmful.iter().filter(|one| *one == line).count(), 1, "{harmful:#?}");
        let near = [schemes[0], schemes[1], ("sfd", 0.54, 10.0), schemes[3]];
        let found =
            make_cell(&near, |place, facts| with_calls(facts, "loss_share", [0.1, 0.2, 0.1, 0.1][place]));
        let lines = answer(found, &[]).lines;
        let named: Vec<&String> = lines.iter().filter(|one| one.contains("obody is worse off")).collect();
        let line = "sfd is slower for transfers ≤ 15 kB (+8.0 %), but spares calls +10 points. Nobody is worse off with it \
                    than under droptail.";
        assert_eq!(named, [line], "one line for one scheme");
        let is_named = |lines: &[String]| lines.iter().any(|one| one.contains("nobody is worse off"));
        assert!(!is_named(&lines_of([0.1, 0.2, 0.2, 0.2])), "all harm calls");
        assert!(!is_named(&lines_of([0.1, 0.1, 0.1, 0.1])), "the best harms nobody");
    }

    #[test]
    fn advise__where_short_transfers_are_level_serves_other_classes() {
        let schemes =
            [("droptail", 1.0, 10.0), ("cake", 1.01, 10.0), ("fq-codel", 0.99, 10.0), ("sfd", 1.0, 10.0)];
        let answer_of = |delays_s: [f64; 4], spread: f64, way: &[&str]| {
            let found = make_cell(&schemes, |place, facts| {
                let spread = if place == 0 { -spread } else { spread };
                let off = 1.0 + spread * (facts.statistics["response_mean_s"][0] / schemes[place].1 - 1.0);
                with_calls(facts, "delay_p95_s", delays_s[place] * off)
            });
            answer(found, way)
        };
        let one = answer_of([0.3, 0.03, 0.05, 0.3], 0.1, &[]);
        assert_eq!(
            (one.outcome, one.scheme.as_deref(), one.is_best),
            (Outcome::Recommended, Some("cake"), false)
        );
        assert_eq!(
            (one.classes, one.peers),
            (vec!["calls".to_owned()], Vec::new()),
            "fq-codel costs calls 20 ms"
        );
        let first = "Recommended for calls: cake; transfers ≤ 15 kB: equal within 5 % (95 % interval −1.0 to −1.0 % of \
                     the gain).";
        assert_eq!(one.lines[0], first);
        assert!(one.lines[1].starts_with("Transfers > 150 kB"), "{:#?}", one.lines);
        assert!(one.lines[2].starts_with("Calls: one-way delay, p95 300 ms → 30"), "{:#?}", one.lines);
        assert_eq!(one.lines.last().unwrap(), "Install on Linux: tc qdisc replace dev DEV root cake");
        let not_installed = answer_of([0.3, 0.03, 0.05, 0.3], 0.1, &["cake"]);
        assert_eq!((not_installed.scheme.as_deref(), not_installed.installation), (Some("cake"), None));
        let installed = answer_of([0.3, 0.03, 0.031, 0.3], 0.1, &["fq-codel"]);
        assert_eq!(installed.scheme.as_deref(), Some("cake"), "rather what can be installed");
        let level = answer_of([0.3, 0.03, 0.031, 0.3], 0.1, &[]);
        assert_eq!((level.scheme.as_deref(), level.peers), (Some("fq-codel"), vec!["cake".to_owned()]));
        assert_eq!(answer_of([0.3, 0.295, 0.3, 0.3], 0.1, &[]).scheme, None, "within the margin");
        assert_eq!(answer_of([0.3, 0.27, 0.27, 0.3], 3.0, &[]).scheme, None, "not shown");
    }

    #[test]
    fn advise__for_other_classes_lists_who_may_pay() {
        let answer_of = |cake: f64| {
            let schemes = [("droptail", 1.0, 10.0), ("cake", cake, 10.0), ("sfd", 0.99, 10.0)];
            let found = make_cell(&schemes, |place, facts| {
                let off = 50.0 * (facts.statistics["response_mean_s"][0] / schemes[place].1 - 1.0);
                let delay_s = [0.3, 0.03, 0.045 * (1.0 + off)][place];
                with_calls(facts, "delay_p95_s", delay_s)
            });
            answer(found, &[])
        };
        assert_eq!(answer_of(1.01).scheme.as_deref(), Some("cake"), "nobody may pay under it");
        let one = answer_of(1.07);
        assert_eq!((one.scheme.as_deref(), one.classes), (Some("sfd"), vec!["calls".to_owned()]));
        assert_eq!(
            one.vetoes.iter().map(|veto| (veto.scheme.as_str(), veto.binds)).collect::<Vec<_>>(),
            [("sfd", false)]
        );
        assert!(
            one.lines.iter().any(|line| line == "May pay, against cake: calls +15 ms."),
            "{:#?}",
            one.lines
        );
    }

    #[test]
    fn advise__for_other_classes_takes_what_was_faster_every_time_and_harms_nobody() {
        let answer_of = |sfd_s: f64| {
            let schemes = [("droptail", 1.0, 10.0), ("cake", 1.0, 8.5), ("sfd", sfd_s, 9.3)];
            let found = make_cell(&schemes, |place, facts| {
                with_calls(facts, "delay_p95_s", [0.3, 0.03, 0.03][place])
            });
            answer(found, &[])
        };
        assert_eq!(answer_of(0.98).scheme.as_deref(), Some("sfd"));
        assert_eq!(answer_of(1.02).scheme.as_deref(), Some("cake"));
    }

    #[test]
    fn advise__serves_no_class_at_the_cost_of_another() {
        let schemes = [("droptail", 1.0, 10.0), ("sfd", 1.0, 12.0)];
        let found = make_cell(&schemes, |place, facts| with_calls(facts, "delay_p95_s", [0.3, 0.03][place]));
        assert_eq!(answer(found, &[]).scheme, None, "long transfers pay 20 %");
        let schemes = [("droptail", 1.0, 10.0), ("sfd", 1.1, 10.0)];
        let found = make_cell(&schemes, |place, facts| with_calls(facts, "delay_p95_s", [0.3, 0.03][place]));
        assert_eq!(answer(found, &[]).scheme, None, "short transfers do");
    }

    #[test]
    fn advise__without_a_better_scheme_says_which_are_equal_or_worse() {
        let found = cell(&[("droptail", 1.0, 10.0), ("red", 1.01, 10.0), ("sfd", 1.5, 10.0)]);
        let one = answer(found, &[]);
        let first = "Nothing here beats droptail for transfers ≤ 15 kB (red: equal within 5 %; sfd: worse).";
        assert_eq!((one.outcome, one.lines[0].as_str()), (Outcome::NothingBetter, first));
        let ideal = cell(&[("droptail", 1.0, 10.0), ("srpt", 0.1, 10.0)]);
        let one = answer(ideal, &[]);
        assert_eq!(one.outcome, Outcome::NoVerdict);
        assert!(one.lines[0].starts_with("No verdict: only ideals are compared with droptail"));
    }

    #[test]
    fn pack__puts_texts_on_few_lines() {
        let texts = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(pack(&texts, 3), ["a.", "b.", "c."]);
        assert_eq!(pack(&texts, 2), ["a. b.", "c."]);
        assert_eq!(pack(&texts, 0), ["a. b. c."]);
        assert!(pack(&[], 2).is_empty());
    }
}
