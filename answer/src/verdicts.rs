//! What an interval says: better, worse, equal or undecided, as a sentence.

use crate::quantities::{Better, Quantity};
use crate::statistics::intervals::replications_for;
use crate::statistics::levels::LEVEL;
use crate::statistics::{Design, Estimate, LEAST_REPLICATIONS};
use crate::texts::{capped_percent, count_text, percent};
use serde::{Deserialize, Serialize};

/// What is shown to lie within ±5 % of the reference is equal, even if its sign is certain.
pub const MARGIN: f64 = 0.05;
/// Of an interval that reaches beyond so much harm, a doubling, the end says nothing and is left out.
const DOUBLED: f64 = 1.0;
/// Begins the verdict of what is undecided because the capture has too few transfers.
pub const NOT_JUDGED: &str = "not judged";

/// The outcome for one endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Outcome {
    /// Shown to be better.
    #[serde(rename = "better")]
    Better,
    /// Shown to be worse.
    #[serde(rename = "worse")]
    Worse,
    /// Shown to lie within the margin.
    #[serde(rename = "equal within 5 %")]
    Equal,
    /// None of these.
    #[serde(rename = "undecided")]
    Undecided,
    /// Of an exploratory endpoint, an interval that contains zero.
    #[serde(rename = "no clear change")]
    Unclear,
}

impl Outcome {
    /// Returns the outcome in words.
    pub fn text(self) -> &'static str {
        match self {
            Outcome::Better => "better",
            Outcome::Worse => "worse",
            Outcome::Equal => "equal within 5 %",
            Outcome::Undecided => "undecided",
            Outcome::Unclear => "no clear change",
        }
    }
}

/// What an interval is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Replications of a simulation.
    Replication,
    /// Rounds of real programs.
    Round,
    /// Days that were compared by themselves.
    Day,
}

impl Unit {
    /// Returns the noun for one of them.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Replication => "replication",
            Unit::Round => "round",
            Unit::Day => "day",
        }
    }

    /// Returns the name of a 95 % interval over `count` of them; only that over days has the number.
    fn interval_name(self, count: u32) -> String {
        match self {
            Unit::Day => format!("95 % interval over {count} days"),
            Unit::Replication | Unit::Round => "95 % interval".to_owned(),
        }
    }

    /// Returns the clause that this number of them may decide; for None, that even 1000 would
    /// hardly decide.
    fn needed_text(self, needed: Option<u32>) -> String {
        let (option, plural) = match self {
            Unit::Replication => ("--seeds ", "seeds"),
            Unit::Round => ("--rounds ", "rounds"),
            Unit::Day => ("", "days"),
        };
        match needed {
            Some(count) if option.is_empty() => format!("{count} {plural} may decide"),
            Some(count) => format!("{option}{count} may decide"),
            None => format!("even 1000 {plural} would hardly decide"),
        }
    }
}

/// The outcome for one endpoint, with a text such as `better by 32 % (95 % interval 28–36 %)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The outcome.
    pub outcome: Outcome,
    /// The outcome in words, with the evidence.
    pub text: String,
    /// About how many replications would decide an undecided comparison.
    pub seeds_needed: Option<u32>,
}

impl Verdict {
    /// Returns a verdict that more replications would not change.
    pub fn new(outcome: Outcome, text: String) -> Verdict {
        Verdict { outcome, text, seeds_needed: None }
    }

    /// Returns the verdict that nothing is decided, for this reason.
    pub fn undecided(why: &str) -> Verdict {
        Verdict::new(Outcome::Undecided, format!("undecided ({why})"))
    }

    /// Returns the verdict, withdrawn for the reason `why` if a mean that it relies on is only a
    /// lower bound; undecided ones stay.
    ///
    /// Where the true change can only be larger, the verdict remains, with `at least`.
    pub fn with_bounds(self, scheme_bound: bool, reference_bound: bool, why: &str) -> Verdict {
        if self.outcome == Outcome::Undecided || !(scheme_bound || reference_bound) {
            return self;
        }
        let is_harmless = match self.outcome {
            Outcome::Worse => !reference_bound,
            Outcome::Better => !scheme_bound,
            _ => false,
        };
        if is_harmless {
            return Verdict::new(self.outcome, self.text.replacen(" by ", " by at least ", 1));
        }
        Verdict::undecided(why)
    }
}

/// Judges the primary endpoint by the interval of the log-ratio of its costs to those of the reference.
///
/// Where more is better the costs are inverse values, and the gain is by how much the values themselves are larger.
/// `design` is that of the interval, which is over `unit`; `faster` says in how many of how many of them the scheme was.
/// Equal is what two one-sided tests place within the margin ([`Design::limits`]). Each may err in 5 %, by itself: nobody
/// installs what is equal, so schemes do not share this error.
pub fn judge(
    ratio: &Estimate,
    better: Better,
    design: &Design,
    unit: Unit,
    faster: Option<(u32, u32)>,
) -> Verdict {
    if !ratio.has_interval() {
        return judge_without_interval(ratio, unit);
    }
    let gain = match better {
        Better::More => ratio.negated().as_change(),
        Better::Less | Better::Neither => ratio.as_change().negated(),
    };
    let limits = design.limits(ratio, 1.0 - LEVEL).as_change();
    if limits.low >= -MARGIN && limits.high <= MARGIN {
        let equal = Outcome::Equal;
        return Verdict::new(equal, format!("{} ({} of the gain)", equal.text(), interval_text(&gain, unit)));
    }
    if gain.low > 0.0 {
        let text = format!("better by {} % ({})", capped_percent(gain.mean), interval_text(&gain, unit));
        return Verdict::new(Outcome::Better, text);
    }
    if gain.high < 0.0 {
        let loss = gain.negated();
        let text = format!("worse by {} % ({})", capped_percent(loss.mean), interval_text(&loss, unit));
        return Verdict::new(Outcome::Worse, text);
    }
    judge_undecided(&ratio.negated(), &gain, design, unit, faster)
}

/// Describes how an exploratory endpoint changed, and whether for the better. Without an interval, and for a quantity of
/// which no direction is better, the outcome says neither.
pub fn describe_change(ratio: &Estimate, quantity: &Quantity, unit: Unit) -> Verdict {
    if !ratio.has_interval() {
        return judge_without_interval(ratio, unit);
    }
    let change = ratio.as_change();
    if change.low <= 0.0 && 0.0 <= change.high {
        return Verdict::new(Outcome::Unclear, format!("no clear change ({})", interval_text(&change, unit)));
    }
    let (more, less) = quantity.unit.more_and_less();
    let (word, size) = if change.low > 0.0 { (more, change) } else { (less, change.negated()) };
    let fell = change.high < 0.0;
    let outcome = match quantity.better {
        Better::Neither => Outcome::Unclear,
        better if fell == (better == Better::Less) => Outcome::Better,
        _ => Outcome::Worse,
    };
    Verdict::new(
        outcome,
        format!("{word} by {} % ({})", capped_percent(size.mean), interval_text(&size, unit)),
    )
}

/// Returns `faster in 7 of 10 replications`.
pub fn faster_text((faster, of): (u32, u32), unit: Unit) -> String {
    format!("faster in {faster} of {}", count_text(i64::from(of), unit.name()))
}

/// Returns `95 % interval 28–36 %`, with `to` in place of the dash if an end is negative or beyond
/// what is written.
fn interval_text(change: &Estimate, unit: Unit) -> String {
    let (low, high) = (capped_percent(change.low), capped_percent(change.high));
    let has_sign = [&low, &high].iter().any(|end| end.contains(['−', '<', '>']));
    let between = if has_sign { " to " } else { "–" };
    format!("{} {low}{between}{high} %", unit.interval_name(change.count))
}

/// Returns the verdict that nothing is decided, because there are no such transfers or too few
/// replications.
fn judge_without_interval(ratio: &Estimate, unit: Unit) -> Verdict {
    if ratio.count == 0 {
        return Verdict::undecided("there were no such transfers to compare");
    }
    let (word, count, least) = (unit.name(), ratio.count, LEAST_REPLICATIONS);
    let few = format!("too few {word}s for an interval: {count} of at least {least}");
    Verdict { seeds_needed: Some(least as u32), ..Verdict::undecided(&few) }
}

/// Returns an undecided verdict, whose text names the gain and the harm that the interval leaves possible.
///
/// `log_gain` is the negated log-ratio of the costs, `gain` the gain as a share, and `faster` in how many of how many
/// units the scheme was faster. The field `seeds_needed` is the number of replications that would decide if mean and
/// spread stayed the same; it is None if that exceeds 1000, or if only a longer capture could.
fn judge_undecided(
    log_gain: &Estimate,
    gain: &Estimate,
    design: &Design,
    unit: Unit,
    faster: Option<(u32, u32)>,
) -> Verdict {
    let wanted = log_gain.mean.abs().max(MARGIN - log_gain.mean.abs());
    let seeds_needed = replications_for(log_gain, wanted, design);
    let is_open = gain.low < -DOUBLED;
    let most = percent(gain.high);
    let harm = if is_open {
        format!("more than {} %", percent(DOUBLED))
    } else {
        format!("up to {} %", percent(-gain.low))
    };
    let left = if gain.high <= MARGIN {
        format!("gains above {most} % are excluded, but it may harm by {harm}")
    } else if gain.low >= -MARGIN {
        format!("harm above {} % is excluded, and it may help by up to {most} %", percent(-gain.low))
    } else {
        format!("it may help by up to {most} % or harm by {harm}")
    };
    let more = match seeds_needed {
        None if design.capture_share != 0.0 => "a longer capture may decide, more seeds hardly".to_owned(),
        needed => unit.needed_text(needed),
    };
    let shown = if is_open { String::new() } else { format!(" ({} of the gain)", interval_text(gain, unit)) };
    let often = faster.filter(|(_, of)| *of > 0);
    let often = often.map(|often| format!(", {}", faster_text(often, unit))).unwrap_or_default();
    let text = format!("undecided{often}: {left}{shown}; {more}");
    Verdict { outcome: Outcome::Undecided, text, seeds_needed }
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    /// Returns a log-ratio whose change has this interval, from ten replications.
    fn ratio(low_percent: f64, high_percent: f64) -> Estimate {
        let (low, high) = (libm::log1p(low_percent / 100.0), libm::log1p(high_percent / 100.0));
        Estimate { mean: (low + high) / 2.0, low, high, count: 10 }
    }

    /// Judges a change with this interval in percent.
    fn judged(low: f64, high: f64) -> Verdict {
        judge(&ratio(low, high), Better::Less, &Design::default(), Unit::Replication, None)
    }

    #[test]
    fn judge__of_decided_intervals() {
        for (low, high, outcome, text) in [
            (-36.0, -28.0, Outcome::Better, "better by 32 % (95 % interval 28–36 %)"),
            (-9.0, -0.5, Outcome::Better, "better by 4.8 % (95 % interval 0.5–9.0 %)"),
            (5.0, 20.0, Outcome::Worse, "worse by 12 % (95 % interval 5.0–20 %)"),
            (-2.04, 3.0, Outcome::Equal, "equal within 5 % (95 % interval −3.0 to 2.0 % of the gain)"),
            (-30.0, -0.2, Outcome::Better, "better by 16 % (95 % interval 0.2–30 %)"),
            (-0.9, -0.2, Outcome::Equal, "equal within 5 % (95 % interval 0.2–0.9 % of the gain)"),
            (0.2, 0.9, Outcome::Equal, "equal within 5 % (95 % interval −0.9 to −0.2 % of the gain)"),
            (0.0, 0.0, Outcome::Equal, "equal within 5 % (95 % interval 0.0–0.0 % of the gain)"),
        ] {
            assert_eq!(judged(low, high), Verdict::new(outcome, text.to_owned()));
        }
        assert_eq!(judged(1000.0, 4000.0).text, "worse by > 999 % (95 % interval > 999 to > 999 %)");
    }

    #[test]
    fn judge__an_undecided_interval_says_what_is_left() {
        for (low, high, text) in [
            (-4.9, 30.0, "gains above 4.9 % are excluded, but it may harm by up to 30 %"),
            (-30.0, 2.0, "harm above 2.0 % is excluded, and it may help by up to 30 %"),
            (-30.0, 10.0, "it may help by up to 30 % or harm by up to 10 %"),
        ] {
            let found = judged(low, high);
            assert_eq!(found.outcome, Outcome::Undecided);
            assert!(found.text.starts_with(&format!("undecided: {text} (95 % interval ")), "{}", found.text);
        }
        let wide = Estimate { mean: libm::log(0.4), low: libm::log(0.01), high: libm::log(16.0), count: 10 };
        let wide = judge(&wide, Better::Less, &Design::default(), Unit::Replication, Some((10, 10)));
        let begin = "undecided, faster in 10 of 10 replications: it may help by up to 99 % or harm by more than 100 %; ";
        assert!(wide.text.starts_with(begin), "{}", wide.text);
    }

    #[test]
    fn judge__an_end_at_zero_is_undecided() {
        for (low, high) in [(0.0, 20.0), (-20.0, 0.0)] {
            assert_eq!(judged(low, high).outcome, Outcome::Undecided);
        }
        for (low, high) in [(0.0, 4.0), (-4.0, 0.0)] {
            assert_eq!(judged(low, high).outcome, Outcome::Equal);
        }
    }

    #[test]
    fn judge__names_the_look_that_may_decide() {
        // To exclude zero, half a width of 0.131: 0.148 with 20 replications, 0.101 with 40.
        let found = judged(-30.0, 10.0);
        assert_eq!(found.seeds_needed, Some(40));
        assert!(found.text.ends_with("; --seeds 40 may decide"), "{}", found.text);
        // Around no difference, to be within 5 %: 0.069 with 80, 0.049 with 160.
        assert_eq!(judged(-20.0, 25.0).seeds_needed, Some(160));
        let of_capture = Design { capture_share: 1.0, ..Design::default() };
        let found = judge(&ratio(-30.0, 10.0), Better::Less, &of_capture, Unit::Replication, None);
        assert_eq!(found.seeds_needed, None);
        assert!(found.text.ends_with("; a longer capture may decide, more seeds hardly"));
        let days = judge(&ratio(-30.0, 10.0), Better::Less, &Design::default(), Unit::Day, None);
        assert!(
            days.text.ends_with("(95 % interval over 10 days −10 to 30 % of the gain); 40 days may decide")
        );
    }

    #[test]
    fn judge__one_sided_limits_are_narrower_than_the_interval() {
        assert_eq!(judged(-4.9, -0.5).outcome, Outcome::Equal);
        assert_eq!(judged(-5.5, 5.5).outcome, Outcome::Equal);
        assert_eq!(judged(-7.5, 7.5).outcome, Outcome::Undecided);
        let family = Design { comparisons: 8.0, ..Design::default() };
        assert_eq!(
            judge(&ratio(-7.5, 7.5), Better::Less, &family, Unit::Replication, None).outcome,
            Outcome::Equal
        );
    }

    #[test]
    fn judge__the_margins_themselves_are_equal_and_exclude_more() {
        let exactly = |low: f64, high: f64| {
            let (low, high) = (libm::log1p(low), libm::log1p(high));
            let mean = (low + high) / 2.0;
            judge(
                &Estimate { mean, low, high, count: 10 },
                Better::Less,
                &Design::default(),
                Unit::Replication,
                None,
            )
        };
        for (low, high) in [(-0.01, -0.005), (0.005, 0.01), (-0.05, 0.02), (-0.02, 0.05), (-0.05, 0.05)] {
            assert_eq!(exactly(low, high).outcome, Outcome::Equal);
        }
        assert!(exactly(-0.05, 0.3).text.contains("gains above 5.0 % are excluded"));
        assert!(exactly(-0.3, 0.05).text.contains("harm above 5.0 % is excluded"));
    }

    #[test]
    fn judge__without_an_interval_says_why() {
        let none = |count| {
            let one = Estimate { count, mean: -0.5, ..Estimate::UNKNOWN };
            judge(&one, Better::Less, &Design::default(), Unit::Replication, None)
        };
        assert_eq!(none(4).seeds_needed, Some(5));
        assert_eq!(none(4).text, "undecided (too few replications for an interval: 4 of at least 5)");
        assert_eq!(none(0), Verdict::undecided("there were no such transfers to compare"));
    }

    #[test]
    fn describe_change__says_more_or_less() {
        let table = crate::quantities::table();
        let quantity = |name: &str| table.iter().find(|one| one.name() == name).unwrap();
        let (rate, time) = (quantity("long_goodput_bps"), quantity("response_mean_s"));
        for (low, high, outcome, text) in [
            (10.0, 30.0, Outcome::Better, "higher by 20 % (95 % interval 10–30 %)"),
            (-30.0, -10.0, Outcome::Worse, "lower by 21 % (95 % interval 10–30 %)"),
            (-3.0, 5.0, Outcome::Unclear, "no clear change (95 % interval −3.0 to 5.0 %)"),
            (0.0, 5.0, Outcome::Unclear, "no clear change (95 % interval 0.0–5.0 %)"),
            (-5.0, 0.0, Outcome::Unclear, "no clear change (95 % interval −5.0 to 0.0 %)"),
        ] {
            let found = describe_change(&ratio(low, high), rate, Unit::Replication);
            assert_eq!(found, Verdict::new(outcome, text.to_owned()));
        }
        assert_eq!(describe_change(&ratio(10.0, 30.0), time, Unit::Replication).outcome, Outcome::Worse);
        let marks = quantity("mark_share");
        assert_eq!(describe_change(&ratio(10.0, 30.0), marks, Unit::Replication).outcome, Outcome::Unclear);
        assert!(
            describe_change(&ratio(-30.0, -10.0), time, Unit::Replication).text.starts_with("shorter by ")
        );
    }

    #[test]
    fn with_bounds__keeps_what_can_only_be_clearer() {
        let better = || Verdict::new(Outcome::Better, "better by 3 %, by far".to_owned());
        assert_eq!(better().with_bounds(false, true, "why").text, "better by at least 3 %, by far");
        assert_eq!(better().with_bounds(true, false, "why"), Verdict::undecided("why"));
        assert_eq!(better().with_bounds(false, false, "why"), better());
        let worse = || Verdict::new(Outcome::Worse, "worse by 3 %".to_owned());
        assert_eq!(worse().with_bounds(true, false, "why").text, "worse by at least 3 %");
        assert_eq!(worse().with_bounds(true, true, "why"), Verdict::undecided("why"));
    }
}
