//! Who pays: the vetoes against schemes under which a class of traffic pays more than its margin.

use crate::columns::{self, estimate_columns};
use crate::comparison::{Cell, Endpoint, Plan, Source, Whose, log_ratio};
use crate::findings::means_text;
use crate::margins::{Class, Figure, Margin, difference_scale, list_figures};
use crate::quantities::{Better, Unit};
use crate::sizes::Role;
use crate::statistics::intervals::difference;
use crate::statistics::{Design, Estimate};
use crate::texts::{capitalise, change_text, signed_significant};
use serde::Serialize;

/// A class of traffic that pays more than its margin under a scheme, or may.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Veto {
    /// The scheme.
    pub scheme: String,
    /// The margin.
    #[serde(flatten)]
    pub margin: Margin,
    /// How its figure changes.
    #[serde(flatten, serialize_with = "columns::write::<Change, _, _>")]
    #[cfg_attr(test, schemars(with = "Change"))]
    pub change: Estimate,
    /// Whether the harm is shown, so that the scheme is not recommended; otherwise the class may pay.
    pub binds: bool,
    /// Who pays how much: `calls: one-way delay, p95 32.2 ms → 125 ms, +93 ms (77…109), of +10 ms allowed`.
    pub text: String,
    /// The same in few words, for the answer: `calls +93 ms`.
    #[serde(skip)]
    pub brief: String,
}

estimate_columns! {
    /// The change against the reference, as a share or in the figure's own unit.
    Change { change, low, high }
}

/// Returns the scheme that harm is measured against: what people would have anyway, which is CAKE, else FQ-CoDel, else the
/// baseline; or what the user gave. `schemes` are texts and names.
pub fn harm_reference<'a>(
    schemes: impl Iterator<Item = (&'a str, &'a str)> + Clone,
    baseline: &'a str,
    given: Option<&'a str>,
) -> &'a str {
    let named = |wanted: &str| schemes.clone().find(|(_, name)| *name == wanted).map(|(text, _)| text);
    given.or_else(|| named("cake")).or_else(|| named("fq-codel")).unwrap_or(baseline)
}

impl Plan {
    /// Returns the scheme that harm is measured against.
    pub fn harm_reference(&self) -> &str {
        let schemes = self.schemes.iter().map(|one| (one.text.as_str(), one.name.as_str()));
        harm_reference(schemes, &self.baseline, self.reference.as_deref())
    }
}

/// Returns who pays, or may, under a scheme against another one, in the order of the margins; empty
/// if nobody does.
///
/// A class pays if the estimate is beyond the margin and the interval of the change excludes no
/// harm. It may pay if only the first is so, or if a mean is a lower bound and the harm may be
/// less. With too few replications for an interval the estimate alone decides.
pub fn find_payers(cell: &Cell, margins: &[Margin], scheme: usize, other: usize) -> Vec<Veto> {
    margins.iter().filter_map(|margin| find_veto(cell, margin, scheme, other, &cell.design())).collect()
}

/// Returns the classes that are shown to gain under a scheme more than their margins: under the baseline they would pay
/// against it.
///
/// The intervals hold for all schemes and all figures with a margin at once, for a scheme may be recommended for the sake of
/// any class.
pub fn find_gaining_classes(cell: &Cell, margins: &[Margin], scheme: usize) -> Vec<Class> {
    let figures = margins.iter().filter(|one| cell.has_values(&one.figure.source)).count();
    let of_schemes = cell.primary_design(cell.baseline());
    let design = Design { comparisons: of_schemes.comparisons * figures.max(1) as f64, ..of_schemes };
    let found = margins.iter().filter_map(|margin| find_veto(cell, margin, cell.baseline(), scheme, &design));
    let shown = found.filter(|one| one.binds && one.change.has_interval());
    let gains: Vec<Class> = shown.map(|one| one.margin.figure.class).collect();
    Class::all().filter(|class| gains.contains(class)).collect()
}

/// Returns a veto against `scheme` if the mean harm to the margin's class, compared with `other`, exceeds the margin;
/// else `None`. It binds where the interval of `design` shows the harm, or there is no interval; otherwise the class may
/// pay.
fn find_veto(cell: &Cell, margin: &Margin, scheme: usize, other: usize, design: &Design) -> Option<Veto> {
    let source = &margin.figure.source;
    let change = estimate_change(cell, source, scheme, other, margin.is_relative, design);
    let harm = if source.quantity.better == Better::Less { change } else { change.negated() };
    // An unknown harm is beyond nothing.
    if harm.mean.is_nan() || harm.mean <= margin.most {
        return None;
    }
    let is_shown = !harm.has_interval() || harm.low > 0.0;
    let is_certain = is_certain(cell, source, &[other]) && cell.has_enough(source);
    let figure = &margin.figure;
    let said = change_line(cell, figure, scheme, other, margin.is_relative, "");
    let mean = mean_in_unit(&change, figure.source.quantity.unit, margin.is_relative);
    Some(Veto {
        scheme: cell.name(scheme).to_owned(),
        margin: margin.clone(),
        change,
        binds: is_shown && is_certain,
        text: format!("{said}, of {} allowed", margin.text()),
        brief: format!("{} {mean}", class_text(&cell.plan, figure.class)),
    })
}

/// Returns how a quantity changes against the reference: as a share of it, or as a difference.
///
/// The interval is made by itself, not for all schemes together. The change is unknown if a scheme lacks the quantity.
pub fn figure_change(
    cell: &Cell,
    source: &Source,
    scheme: usize,
    reference: usize,
    is_relative: bool,
) -> Estimate {
    estimate_change(cell, source, scheme, reference, is_relative, &cell.design())
}

/// Estimates the change that [`figure_change`] returns, but with the interval of `design`.
fn estimate_change(
    cell: &Cell,
    source: &Source,
    scheme: usize,
    reference: usize,
    is_relative: bool,
    design: &Design,
) -> Estimate {
    let (own, other) = (cell.values(source, scheme), cell.values(source, reference));
    if own.len() != other.len() {
        Estimate::UNKNOWN
    } else if is_relative {
        log_ratio(&own, &other, design).as_change()
    } else {
        difference(&own, &other, design)
    }
}

/// Returns whether a quantity is no lower bound under any of the schemes.
fn is_certain(cell: &Cell, source: &Source, schemes: &[usize]) -> bool {
    let is_bucket = matches!(source.whose, Whose::Bucket(_));
    !is_bucket || !schemes.iter().any(|scheme| cell.is_bound(*scheme, source.role()))
}

/// Returns how a figure of a class changes, such as `calls: one-way delay, p95 32.2 ms → 125 ms, +288 % (+243…+339)`;
/// `about` precedes the change.
fn change_line(
    cell: &Cell,
    figure: &Figure,
    scheme: usize,
    other: usize,
    is_relative: bool,
    about: &str,
) -> String {
    let quantity = &figure.source.quantity;
    let change = figure_change(cell, &figure.source, scheme, other, is_relative);
    let said = change_in_unit(&change, quantity.unit, is_relative);
    let said = if said.is_empty() { said } else { format!(", {about}{said}") };
    let class = class_text(&cell.plan, figure.class);
    format!("{class}: {} {}{said}", quantity.words.axis, write_figures(cell, figure, scheme, other))
}

/// Returns a figure's means under the other scheme and under this one, such as `128 ms → 87 ms`;
/// `unknown` where no replication has both.
fn write_figures(cell: &Cell, figure: &Figure, scheme: usize, other: usize) -> String {
    let (own, other) = (cell.values(&figure.source, scheme), cell.values(&figure.source, other));
    means_text(&own, &other, figure.source.quantity.unit)
}

/// Returns a change with its interval, if it has one, as a percentage or in the unit's scale for
/// differences; empty if it is unknown.
fn change_in_unit(change: &Estimate, unit: Unit, is_relative: bool) -> String {
    if !change.mean.is_finite() {
        return String::new();
    }
    if is_relative {
        return change_text(change.mean, change.low, change.high);
    }
    let is_long =
        [change.mean, change.low, change.high].iter().any(|one| one.is_finite() && one.abs() >= 1.0);
    let (scale, name) = if unit == Unit::Seconds && is_long { (1.0, " s") } else { difference_scale(unit) };
    let [mean, low, high] =
        [change.mean, change.low, change.high].map(|one| signed_significant(scale * one, 3));
    if change.has_interval() { format!("{mean}{name} ({low}…{high})") } else { format!("{mean}{name}") }
}

/// Returns the text of [`change_in_unit`] without the interval.
fn mean_in_unit(change: &Estimate, unit: Unit, is_relative: bool) -> String {
    change_in_unit(&Estimate { low: f64::NAN, high: f64::NAN, ..*change }, unit, is_relative)
}

/// Returns a class in words, such as `transfers ≤ 15 kB`.
pub fn class_text(plan: &Plan, class: Class) -> String {
    match class {
        Class::Short => plan.transfers(Role::Short),
        Class::Long => plan.transfers(Role::Long),
        Class::Pages | Class::Kind(_) => class.name(),
    }
}

/// Returns the classes of traffic of which some run of a cell has what their users feel first.
pub fn present_classes(cell: &Cell) -> Vec<Class> {
    let all = list_figures(&cell.table);
    Class::all().filter(|class| find_first(cell, &all, *class).is_some()).collect()
}

/// Returns whether a figure stands in for one of its class of which some run has values.
pub fn is_known_before(cell: &Cell, figure: &Figure) -> bool {
    let all = list_figures(&cell.table);
    figure.is_stand_in() && find_first(cell, &all, figure.class).is_some_and(|one| !one.is_stand_in())
}

/// Returns the figure that users of a class feel first, of which some run has values. None if no run has any.
fn find_first<'a>(cell: &Cell, all: &'a [Figure], class: Class) -> Option<&'a Figure> {
    let mut own = all.iter().filter(|one| one.class == class);
    match class {
        Class::Kind(kind) => {
            let source = cell.find_first_felt(kind)?;
            own.find(|one| one.source == source)
        }
        _ => own.next().filter(|one| cell.has_values(&one.source)),
    }
}

/// Returns what each class present gains or loses under a scheme against the baseline, a line each,
/// but for the class of `without`. Classes that are in `pays` come first, as `Worse for …`.
///
/// A line has what users of the class feel first, and of datagrams how many are lost. Classes
/// without a figure have no line.
pub fn class_lines(cell: &Cell, scheme: usize, without: &Endpoint, pays: &[Veto]) -> Vec<String> {
    let all = list_figures(&cell.table);
    let is_left_out = |class: &Class| *class == Class::Short && without.source.is_of_transfers();
    let is_paid_by = |class: &Class| pays.iter().any(|one| one.margin.figure.class == *class);
    let classes = present_classes(cell).into_iter().filter(|class| !is_left_out(class));
    let (paying, others): (Vec<Class>, Vec<Class>) = classes.partition(is_paid_by);
    let worse = paying
        .into_iter()
        .filter_map(|class| Some(format!("Worse for {}", class_line(cell, &all, class, scheme)?)));
    let rest = others.into_iter().filter_map(|class| class_line(cell, &all, class, scheme));
    worse.chain(rest.map(|text| capitalise(&text))).collect()
}

/// Returns what a class gains or loses under a scheme against the baseline; None if the class has no figure.
fn class_line(cell: &Cell, all: &[Figure], class: Class, scheme: usize) -> Option<String> {
    let baseline = cell.baseline();
    let first = find_first(cell, all, class)?;
    let is_share = first.source.quantity.unit == Unit::Share;
    let about = if is_certain(cell, &first.source, &[scheme, baseline]) { "" } else { "about " };
    let said = change_line(cell, first, scheme, baseline, !is_share, about);
    let is_lost = |one: &&Figure| one.class == class && one.name == "lost";
    let lost = all.iter().find(is_lost).filter(|lost| lost.is_stand_in() == first.is_stand_in());
    let lost = lost.map(|lost| format!("; lost {}", write_figures(cell, lost, scheme, baseline)));
    Some(format!("{said}{}", lost.unwrap_or_default()))
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;
    use crate::margins::read_margins;
    use crate::tests_support::{make_cell, with_calls};

    /// Returns a cell in which calls wait as long as given under drop-tail, CAKE and FQ-CoDel.
    fn make_calls(delays_s: [f64; 3]) -> Cell {
        let schemes = [("droptail", 1.0, 10.0), ("cake", 0.6, 10.0), ("fq-codel", 0.5, 10.0)];
        make_cell(&schemes, |index, facts| {
            let spread = facts.simulated_s * 1e-6; // the same in every run
            with_calls(facts, "delay_p95_s", delays_s[index] + spread)
        })
    }

    #[test]
    fn find_payers__names_who_pays_more_than_the_margin() {
        let find = |cell: &Cell| find_payers(cell, &read_margins(&cell.table, &[]).unwrap(), 2, 1);
        let all = find(&make_calls([0.3, 0.03, 0.05]));
        let [one] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((one.scheme.as_str(), one.binds), ("fq-codel", true));
        let text = "calls: one-way delay, p95 30.1 ms → 50.1 ms, +20 ms (+20…+20), of +10 ms allowed";
        assert_eq!(one.text, text);
        assert!(find(&make_calls([0.3, 0.03, 0.039])).is_empty());
        assert_eq!(find(&make_calls([0.3, 0.03, 1.03]))[0].brief, "calls +1 s");
    }

    #[test]
    fn harm_reference__is_cake_then_fq_codel_then_the_baseline() {
        let of = |names: &[&'static str], given| {
            harm_reference(names.iter().map(|name| (*name, *name)), "droptail", given)
        };
        assert_eq!(of(&["droptail", "fq-codel", "cake"], None), "cake");
        assert_eq!(of(&["droptail", "fq-codel"], None), "fq-codel");
        assert_eq!(of(&["droptail", "sfd"], None), "droptail");
        assert_eq!(of(&["droptail", "cake"], Some("droptail")), "droptail");
    }

    #[test]
    fn class_lines__leave_out_what_the_first_line_says() {
        let found = make_calls([0.3, 0.03, 0.05]);
        let lines = class_lines(&found, 1, found.primary(), &[]);
        assert_eq!(
            lines,
            [
                "Transfers > 150 kB: mean response time 10 s → 10 s, 0.0 % (0.0…0.0)",
                "Calls: one-way delay, p95 300 ms → 30.1 ms, −90 % (−90…−90); lost unknown"
            ]
        );
    }
}
