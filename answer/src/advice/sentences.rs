//! The sentences of an answer, and what they are made of.

use crate::comparison::{Capture, Cell};
use crate::findings::Finding;
use crate::installation::AT_THE_LINE;
use crate::judged::Judged;
use crate::margins::Class;
use crate::notes::note_transient;
use crate::quantities::Kind;
use crate::ranking::{Alternative, Preference, Reason, is_always_faster, is_within, primary_ratio, rank};
use crate::setting::{Modem, Setting};
use crate::statistics::intervals::count_smaller;
use crate::texts::{capped, count_text};
use crate::verdicts;
use crate::vetoes::{Veto, present_classes};

/// At most so many commands and remarks on them are part of the answer.
pub const MOST_COMMANDS: usize = 6;
/// A shorter capture does not tell whether users act together, and the answer says so. Seconds; the simulator, which
/// `mousehole-compare` holds against it, looks for that in longer ones only.
pub const SHORT_CAPTURE_S: f64 = 240.0;
/// Most peers of the recommended scheme that are named.
const MOST_PEERS: usize = 3;
/// So many schemes that a veto rules out are named with who pays how much.
const MOST_VETOED: usize = 2;
/// So many lines more where a scheme is at both ends: two heads, the other commands, a remark on the rate.
const LINES_OF_OTHER: usize = 6;

/// What an answer is made of.
pub(super) struct Answer<'a> {
    pub(super) judged: &'a Judged,
    pub(super) cell: &'a Cell,
    pub(super) setting: &'a Setting,
}

impl Answer<'_> {
    /// Returns the findings on the primary endpoint of every scheme that is no ideal against the
    /// baseline.
    pub(super) fn primary(&self) -> Vec<&Finding> {
        let is_ideal = |name: &str| self.cell.plan.schemes[self.cell.scheme_index(name)].is_ideal;
        let is_own = |one: &&Finding| {
            !one.exploratory && one.reference == self.cell.plan.baseline && !is_ideal(&one.scheme)
        };
        self.judged.findings().iter().filter(is_own).collect()
    }

    /// Returns whether the cell has calls, games or video calls, whose long flows a scheme may
    /// demote like downloads.
    pub(super) fn has_calls(&self) -> bool {
        let is_one =
            |class: &Class| matches!(class, Class::Kind(Kind::Calls | Kind::Games | Kind::VideoCalls));
        present_classes(self.cell).iter().any(is_one)
    }

    /// Returns the sentence, after `begin`, on the schemes that a binding veto in `found` rules
    /// out, and for the first of them who pays how much, against `other`. None without any.
    pub(super) fn pays_text<'b>(
        &self,
        found: impl Iterator<Item = &'b Veto>,
        begin: &str,
        other: &str,
    ) -> Option<String> {
        let found: Vec<&Veto> = found.filter(|one| one.binds).collect();
        let schemes = remove_repeats(found.iter().map(|one| one.scheme.as_str()));
        let who_pays = |scheme: &&str| {
            let own = found.iter().copied().filter(|one| one.scheme == **scheme);
            format!("{scheme} ({})", summarise_vetoes(own))
        };
        let first: Vec<String> = schemes.iter().take(MOST_VETOED).map(who_pays).collect();
        let rest = schemes.get(MOST_VETOED..).filter(|rest| !rest.is_empty());
        let rest = rest.map(|rest| format!("; also {}", rest.join(", "))).unwrap_or_default();
        (!first.is_empty()).then(|| format!("{begin}, against {other}: {}{rest}.", first.join("; ")))
    }

    /// Returns who may pay under a scheme beyond the margins, where the harm is not shown; None if
    /// nobody may.
    pub(super) fn may_pay_text(&self, scheme: usize) -> Option<String> {
        let texts = summarise_vetoes(self.judged.possible_payers(scheme).iter().filter(|one| !one.binds));
        let other = self.cell.plan.harm_reference();
        (!texts.is_empty()).then(|| format!("May pay, against {other}: {texts}."))
    }

    /// Returns a warning that a scheme demotes calls that last like downloads, where no call, or
    /// none that lasts, is in the traffic to show that; it names the first of `others` that does
    /// not. None if the scheme does not, or if the traffic's calls show it.
    pub(super) fn price_text(&self, scheme: usize, others: &[usize]) -> Option<String> {
        let (cell, demotes) = (self.cell, &self.setting.demotes_calls);
        let calls = match self.has_calls() {
            true => "calls and games are seconds long in this capture",
            false => "no calls or games are in this traffic",
        };
        if !demotes[scheme] || (self.has_calls() && !self.cell.is_fitted()) {
            return None;
        }
        let name = cell.name(scheme);
        let other = others.iter().find(|other| !demotes[**other]).map(|other| {
            let change = capped(primary_ratio(cell, *other, scheme).as_change().mean);
            format!(" {} does not ({change} % for {}).", cell.name(*other), cell.describe_primary())
        });
        let other = other.unwrap_or_default();
        Some(format!("Take care: {calls}, and {name} takes one that lasts for a download.{other}"))
    }

    /// Returns that no class pays under a scheme against the baseline, and the verdict for short
    /// transfers; None if there is no finding on the scheme. The caller knows that nobody pays.
    pub(super) fn harmless_text(&self, scheme: usize) -> Option<String> {
        let name = self.cell.name(scheme);
        let verdict = &self.primary().into_iter().find(|one| one.scheme == name)?.verdict;
        let (baseline, words) = (&self.cell.plan.baseline, self.cell.describe_primary());
        Some(format!("With {name} nobody is worse off than under {baseline}, and {words} are {verdict}."))
    }

    /// Returns which scheme serves short transfers as well or nearly so, whom it spares and whom it costs how much; and where
    /// it is the `harmless` one, that nobody pays under it.
    pub(super) fn alternative_text(
        &self,
        chosen: usize,
        one: &Alternative,
        harmless: Option<usize>,
    ) -> String {
        let name = self.cell.name(one.scheme);
        let change = capped(primary_ratio(self.cell, one.scheme, chosen).as_change().mean);
        let spares = summarise_vetoes(one.spares.iter());
        let costs = summarise_vetoes(one.costs.iter());
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

    /// Returns which scheme this one is preferred to, who pays under that one, and who gains more.
    pub(super) fn preferred_text(&self, scheme: usize, preference: &Preference) -> String {
        let name = self.cell.name(preference.other);
        let change = capped(primary_ratio(self.cell, preference.other, scheme).as_change().mean);
        let pays = summarise_vetoes(preference.pays.iter());
        let less = summarise_vetoes(preference.gains_less.iter());
        let gains = if less.is_empty() { less } else { format!(" Less gain than there: {less}.") };
        let is_level = is_within(self.cell, scheme, preference.other, verdicts::MARGIN);
        let is = if is_level { "level" } else { "faster" };
        let but = match preference.reason {
            Reason::Shown => format!("under which pay: {pays}"),
            Reason::Today => format!("under which pay, against {}: {pays}", self.cell.plan.baseline),
            Reason::Simple => "needs more than tc".to_owned(),
            Reason::Estimated => {
                format!("under which may pay, against {}: {pays}", self.cell.plan.harm_reference())
            }
            Reason::Demotes => "takes a call that lasts longer than this capture for a download".to_owned(),
        };
        format!("Preferred to {name}, which is {is} ({change} %), but {but}.{gains}")
    }

    /// Returns the line on what was left out of the traffic as it was read; none if nothing was.
    pub(super) fn left_out_text(&self) -> impl Iterator<Item = String> {
        let texts = self.setting.left_out.join("; ");
        (!texts.is_empty()).then(|| format!("Left out: {texts}.")).into_iter()
    }

    /// Returns what short transfers gain; `Best` is said only where it is shown.
    ///
    /// A scheme that is not shown to help by itself was faster in every replication than the first one that is.
    pub(super) fn gain_text(&self, scheme: usize, is_best: bool) -> String {
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

    /// Returns the evidence for the verdict: replications, in how many `chosen` was faster than the
    /// baseline, the capture's transfers; then the schemes that may serve as well.
    pub(super) fn sureness_text(&self, chosen: Option<usize>, peers: &[usize]) -> String {
        let (cell, plan) = (self.cell, &self.cell.plan);
        let runs = count_text(i64::from(plan.replications), plan.unit().name());
        let mut parts = vec![format!("{runs} of {}", self.setting.duration)];
        if let Some(chosen) = chosen {
            let (faster, of) = self.count_faster(chosen, cell.baseline());
            parts.push(format!("faster than {} in {faster} of {of}", plan.baseline));
        }
        if let Some(capture) = cell.capture.as_ref().filter(|_| cell.is_about_short()) {
            let transfers = count_text(capture.short.transfers as i64, "distinct transfer");
            parts.push(format!("{transfers} of {}", count_text(capture.short.clients as i64, "client")));
        }
        let number = plan.schemes.len() - 1;
        let held = format!("; intervals hold for all {number} schemes at once");
        let held = if number > 1 { held } else { String::new() };
        let peers = chosen.map(|chosen| self.peers_text(chosen, peers)).unwrap_or_default();
        format!("How sure: {}{held}.{peers}{}", parts.join(", "), self.short_capture_text())
    }

    /// Returns the remark on what no interval can cover if the copies of a capture of less than
    /// [`SHORT_CAPTURE_S`] are played; else empty.
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

    /// Returns in how many replications a scheme was faster than another, and in how many they can be compared.
    fn count_faster(&self, scheme: usize, other: usize) -> (u32, u32) {
        count_smaller(&self.cell.primary_values(scheme), &self.cell.primary_values(other))
    }

    /// Returns how the schemes that are not shown to be slower than the chosen one compare with it; those that were slower
    /// every time have a sentence of their own.
    fn peers_text(&self, chosen: usize, peers: &[usize]) -> String {
        let (level, slower): (Vec<usize>, Vec<usize>) =
            peers.iter().partition(|scheme| self.count_faster(**scheme, chosen).0 > 0);
        let change = |scheme: usize| capped(primary_ratio(self.cell, scheme, chosen).as_change().mean);
        let level = self.list_peers(&level, |scheme| {
            let (faster, of) = self.count_faster(scheme, chosen);
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

    /// Returns the first peers, each followed by its `text`, and the number of further ones; None without any.
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

    /// Returns a line on how schemes send into a modem, if there is one, and a warning where
    /// [`note_transient`] has one.
    pub(super) fn remarks(&self) -> impl Iterator<Item = String> {
        let unsteady = note_transient(self.cell, self.setting);
        let unsteady = unsteady.map(|note| format!("Take care: {}", lower_first_letter(&note)));
        self.setting.modem.as_ref().map(|modem| self.modem_text(modem)).into_iter().chain(unsteady)
    }

    /// Returns which scheme is the modem's FIFO alone, and at which rate the others send into it.
    fn modem_text(&self, modem: &Modem) -> String {
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

    /// Returns the commands that install a scheme; only where they are printed if they are too
    /// many, or why nothing installs it. There is at least one line.
    pub(super) fn install_lines(&self, scheme: usize) -> Vec<String> {
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

/// Returns which classes pay how much, in short: the first figure of each class. Empty without any.
fn summarise_vetoes<'a>(found: impl Iterator<Item = &'a Veto>) -> String {
    let mut texts: Vec<(Class, &str)> = Vec::new();
    for one in found {
        let class = one.margin.figure.class;
        if texts.iter().all(|(known, _)| *known != class) {
            texts.push((class, &one.brief));
        }
    }
    texts.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(", ")
}

/// Returns each name once, in the order of first occurrence.
fn remove_repeats<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Returns the text with its first letter in lower case.
fn lower_first_letter(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
