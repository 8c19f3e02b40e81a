"""Several days as the unit: effects of single days, their mean with an interval, and how much days differ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import expm1, isfinite, log1p, nan

import numpy as np

from mousehole import _engine
from mousehole._engine import Endpoint, Verdict
from mousehole.answer import (
    BETTER,
    UNDECIDED,
    Installation,
    find_installation,
    find_link_of_cell,
    findings,
    notes,
)
from mousehole.base import Summary, capped, counted, share_text, size_text
from mousehole.runs import Cell, Finding, Plan, Record, Results, is_ideal, nan_to_none
from mousehole.statistics import (
    LEAST_REPLICATIONS,
    Design,
    Estimate,
    Heterogeneity,
    effective_comparisons,
    heterogeneity,
    smaller_in,
    t_interval,
)

LEAST_DAYS = LEAST_REPLICATIONS
"""Smallest number of days that gives an interval over days, and the number of the first look: days come one
after another, so that the looks are at 5, 10, 20, … of them."""
Key = tuple[str, str, str]
"""Scheme, reference and endpoint of a finding."""
ANOTHER_DAY = Design(capture_share=1.0)
"""The design whose interval is that of one more day: its variance is that of a day and that of the mean."""
DAYS_NOTE = (
    "The unit is the day. Each day was compared by itself and counts once, whatever its length: intervals "
    "are Student's over the logarithms of the days' changes, and cover what other days of the same kind "
    "would differ by. Replications make a day's own change more exact, more of them do not replace days."
)


@dataclass(frozen=True)
class Day:
    """One day, compared by itself."""

    name: str
    results: Results


@dataclass(frozen=True)
class DayEffect:
    """What a scheme changes on one day."""

    day: str
    change: Estimate
    """The day's own change with its own interval; NaN where the day has no such transfers."""
    outcome: str
    """The day's own verdict."""
    left_out: str | None = None
    """Why the day does not count although it has such transfers: they are too few to be judged."""

    def as_row(self) -> Record:
        """Returns the effect as plain values by column name."""
        own: Record = {"day": self.day, "outcome": self.outcome, "left_out": self.left_out}
        return own | _to_change_columns("change", self.change)


@dataclass(frozen=True)
class DaysFinding:
    """One scheme against one reference on one endpoint, over all days, in one cell of the grid."""

    buffer: str
    load: float | None
    scheme: str
    reference: str
    endpoint: str
    """Name of the figure that is compared, as in `results.Finding`."""
    exploratory: bool
    outcome: str
    change: Estimate
    """Mean change over days: the geometric mean of the days' ratios, less one."""
    another_day: Estimate
    """The same mean with the interval in which the change of one more day lies, with 95 %."""
    days: int
    """Days that count: they have the endpoint under both schemes, in enough distinct transfers."""
    error: float
    """The error permitted to the interval; 0.05 unless it must hold together with others."""
    days_needed: int | None
    """About how many days would decide an undecided comparison; None for the others."""
    heterogeneity: Heterogeneity | None
    """How much the days differ beyond their own intervals; its deviation is that of logarithms."""
    effects: tuple[DayEffect, ...]
    verdict: str
    sentence: str

    def __repr__(self) -> str:
        """Returns the finding's sentence with its cell."""
        return f"<DaysFinding: {self.sentence} ({Cell(self.buffer, self.load).title})>"

    @property
    def known(self) -> list[DayEffect]:
        """Returns the effects of the days that count, whose change is not NaN."""
        return [effect for effect in self.effects if isfinite(effect.change.mean)]

    @property
    def left_out(self) -> int:
        """Returns the number of days with too few distinct transfers to count."""
        return _count_left_out(self.effects)

    @property
    def about(self) -> Record:
        """Returns the cell, the two schemes and the figure by column name."""
        return {name: getattr(self, name) for name in ("buffer", "load", "scheme", "reference", "endpoint")}

    def as_row(self) -> Record:
        """Returns the finding without its days, as plain values by column name."""
        found = self.heterogeneity
        return {
            **self.about,
            "exploratory": self.exploratory,
            "outcome": self.outcome,
            **_to_change_columns("change", self.change),
            "another_day_low": nan_to_none(self.another_day.low),
            "another_day_high": nan_to_none(self.another_day.high),
            "days": self.days,
            "error": self.error,
            "days_needed": self.days_needed,
            "q": found.q if found else None,
            "q_freedom": found.freedom if found else None,
            "q_p_value": found.p_value if found else None,
            "i_squared": found.i_squared if found else None,
            "between_deviation": found.deviation if found else None,
            "verdict": self.verdict,
            "sentence": self.sentence,
        }


def list_effect_rows(found: Sequence[DaysFinding]) -> list[Record]:
    """Returns one row per finding and day as plain values by column name, finding by finding."""
    return [
        {"day": effect.day, **finding.about, **effect.as_row()}
        for finding in found
        for effect in finding.effects
    ]


def find_over_days(days: Sequence[Day], cell: Cell) -> list[DaysFinding]:
    """Returns every scheme against the baseline, and against FQ-CoDel if it is compared, over all days.

    All days have the same plan.
    """
    by_day = [{_finding_key(item): item for item in findings.findings(day.results, cell)} for day in days]
    keys = dict.fromkeys(key for found in by_day for key in found)
    each = {key: [found.get(key) for found in by_day] for key in keys}
    designs = _make_designs(days, each)
    return [
        _combine_findings(days, cell, items, designs.get(key[1:], Design())) for key, items in each.items()
    ]


def _make_designs(
    days: Sequence[Day], each: Mapping[Key, Sequence[Finding | None]]
) -> dict[tuple[str, str], Design]:
    """Returns the designs by reference and endpoint; each holds for all schemes together.

    Exploratory endpoints have none: the caller takes the design of a single comparison for them.
    """
    families: dict[tuple[str, str], list[list[float]]] = {}
    for (_, reference, endpoint), items in each.items():
        if not next(item for item in items if item is not None).exploratory:
            logs = _list_log_ratios([_make_day_effect(*one) for one in _pair_with_endpoint(days, items)])
            families.setdefault((reference, endpoint), []).append(logs)
    sequential = days[0].results.plan.is_sequential
    return {
        key: Design(effective_comparisons(logs), sequential, first_look=LEAST_DAYS)
        for key, logs in families.items()
    }


def _pair_with_endpoint(
    days: Sequence[Day], items: Sequence[Finding | None]
) -> list[tuple[Day, Finding | None, Endpoint]]:
    """Returns each day with its finding, None without one, and the endpoint that the findings are about.

    At least one day has a finding.
    """
    first = next(item for item in items if item is not None)
    endpoint = _find_endpoint(days[0].results.plan, first)
    return [(day, item, endpoint) for day, item in zip(days, items, strict=True)]


def _list_log_ratios(effects: Sequence[DayEffect]) -> list[float]:
    """Returns the natural logarithms of the days' ratios; NaN for days that do not count.

    A change of −100 % or less gives NaN, too.
    """
    return [log1p(effect.change.mean) if effect.change.mean > -1 else nan for effect in effects]


def answer_over_days(days: Sequence[Day], cell: Cell) -> tuple[list[str], Installation | None]:
    """Returns in sentences what to install for short transfers over all days, and how it is installed.

    The installation is None as in `_answer_cell`.
    """
    lines, way = _answer_cell(days, cell)
    return [*_describe_replacement(days), *lines], way


def _describe_replacement(days: Sequence[Day]) -> list[str]:
    """Returns a note on the days whose small captures are replaced by a model; empty if there are none."""
    fitted = [day.name for day in days if day.results.capture is not None and day.results.capture.is_fitted]
    if not fitted:
        return []
    return [
        f"Played on {', '.join(fitted)} is a model fitted to the day's transfers, drawn anew in each "
        f"{days[0].results.plan.run_word}; the day's own interval is of these transfers."
    ]


def _answer_cell(days: Sequence[Day], cell: Cell) -> tuple[list[str], Installation | None]:
    """Returns the lines of the answer over days for a cell, and the installation of the best scheme.

    The installation is None if no scheme is shown to be better, or if nothing installs the best one.
    """
    plan, found = days[0].results.plan, find_over_days(days, cell)
    short = size_text(plan.short_bytes)
    primary = [
        item
        for item in found
        if not item.exploratory and item.reference == plan.baseline and not is_ideal(item.scheme)
    ]
    if len(days) < LEAST_DAYS or not primary:
        return [
            _explain_few_days(days[0].results, len(days)),
            *(item.sentence + "." for item in primary),
        ], None
    most = max(primary, key=lambda item: item.days)
    if most.days < LEAST_DAYS and most.left_out:
        return [_explain_few_left(plan, most), *(item.sentence + "." for item in primary)], None
    better = [item for item in primary if item.outcome == BETTER]
    if not better:
        over = _write_over_days(most.days, most.left_out)
        lines = [f"No scheme is shown to beat {plan.baseline} for transfers ≤ {short} {over}."]
        return [*lines, *(item.sentence + "." for item in primary)], None
    link = find_link_of_cell(days[0].results, cell)
    ways = {item.scheme: find_installation(item.scheme, link) for item in better}
    can = [item for item in better if ways[item.scheme] is not None] or better
    best = min(can, key=lambda item: item.change.mean)
    smaller = [
        item.scheme for item in primary if item.outcome == UNDECIDED and item.change.mean < best.change.mean
    ]
    long = next(
        item for item in found if _finding_key(item) == (best.scheme, plan.baseline, "long_response_mean_s")
    )
    over = _write_over_days(best.days, best.left_out)
    lines = [
        f"Best for transfers ≤ {short} {over}: {best.scheme}, {best.verdict}.",
        f"Transfers > {size_text(plan.long_bytes)}: {long.verdict}.",
        describe_another_day(best),
        describe_heterogeneity(best),
    ]
    others = [item.scheme for item in better if item is not best]
    lines += [f"Also better than {plan.baseline} over these days: {', '.join(others)}."] if others else []
    lines += [f"Not shown, but with a smaller mean still: {', '.join(smaller)}."] if smaller else []
    return lines, ways[best.scheme]


def describe_another_day(found: DaysFinding) -> str:
    """Returns the sentences on the range of the change of one more day, and on that of the days.

    Raises `ValueError` if no day counts.
    """
    one = found.another_day
    if not one.has_interval:
        return _describe_range(found)
    return (
        f"On another day of the same kind, {found.scheme} changes it by {capped(one.low)} to "
        f"{capped(one.high)} % (95 % prediction interval). {_describe_range(found)}"
    )


def describe_heterogeneity(found: DaysFinding) -> str:
    """Returns the sentence on how much days differ beyond their own intervals: I², Q and its p-value."""
    one = found.heterogeneity
    if one is None:
        return "Whether days differ beyond chance is not known: fewer than two have intervals of their own."
    p_value = "< 0.001" if one.p_value < 0.001 else f"= {one.p_value:.2g}"
    spread = f"standard deviation between days {share_text(expm1(one.deviation))}"
    test = f"I² {share_text(one.i_squared)}, Q = {one.q:.3g} on {one.freedom}, p {p_value}"
    if one.deviation == 0:
        return f"Days differ no more than their own intervals explain ({test})."
    return f"Of the variance between days, {share_text(one.i_squared)} is real ({spread}; {test})."


def list_day_notes(days: Sequence[Day], cell: Cell) -> list[str]:
    """Returns the remarks of single days, each after the names of the days that it is about.

    A note that several days have stands once. Notes on classes left out come first.
    """
    by_note: dict[str, list[str]] = {}
    for day in days:
        for note in _list_floor_notes(day.results):
            by_note.setdefault(note, []).append(day.name)
    for day in days:
        for note in notes.cell_notes(day.results, cell):
            by_note.setdefault(note, []).append(day.name)
    return [f"{', '.join(names)}: {note}" for note, names in by_note.items()]


def _finding_key(item: Finding | DaysFinding) -> Key:
    """Returns scheme, reference and endpoint, which identify a finding within a cell."""
    return item.scheme, item.reference, item.endpoint


def _combine_findings(
    days: Sequence[Day], cell: Cell, each: Sequence[Finding | None], design: Design
) -> DaysFinding:
    """Returns the finding over days; `each` has the days' own, None for a day without the endpoint."""
    first = next(item for item in each if item is not None)
    exploratory, endpoint = first.exploratory, _find_endpoint(days[0].results.plan, first)
    effects = tuple(_make_day_effect(*one) for one in _pair_with_endpoint(days, each))
    logs = _list_log_ratios(effects)
    ratio = t_interval(logs, design)
    judged = _judge_days(days, cell, first, effects, ratio, design)
    remark = " [exploratory]" if exploratory else ""
    about = f"{first.scheme} against {first.reference}, {endpoint.words}"
    over = _write_over_days(ratio.count, _count_left_out(effects))
    return DaysFinding(
        cell.buffer,
        cell.load,
        first.scheme,
        first.reference,
        first.endpoint,
        exploratory,
        judged.outcome,
        change=ratio.as_change(),
        another_day=t_interval(logs, ANOTHER_DAY).as_change(),
        days=ratio.count,
        error=design.error(ratio.count) if ratio.count else 1.0,
        days_needed=judged.seeds_needed,
        heterogeneity=heterogeneity(
            logs, [_change_error(day, cell, item) for day, item in zip(days, each, strict=True)]
        ),
        effects=effects,
        verdict=judged.text,
        sentence=f"{about}, {over}: {judged.text}{remark}",
    )


def _judge_days(
    days: Sequence[Day],
    cell: Cell,
    first: Finding,
    effects: Sequence[DayEffect],
    ratio: Estimate,
    design: Design,
) -> Verdict:
    """Returns the verdict over days, withdrawn where a day's mean is only a lower bound.

    It is undecided for fewer than `LEAST_DAYS` days.
    """
    known = [effect for effect in effects if isfinite(effect.change.mean)]
    endpoint = _find_endpoint(days[0].results.plan, first)
    if ratio.count < LEAST_DAYS:
        least = f"{counted(ratio.count, 'day')} of at least {LEAST_DAYS} for an interval over days"
        found = f"; on single days {_effects_range(known)}" if known else ""
        if out := _count_left_out(effects):
            few = f"{out} left out with too few distinct transfers"
            return Verdict(UNDECIDED, f"{findings.NOT_JUDGED} ({least}; {few}{found})")
        return Verdict(UNDECIDED, f"undecided ({least}{found})", LEAST_DAYS)
    judged = (
        _engine.describe(ratio, endpoint.source.quantity, "day")
        if first.exploratory
        else findings.verdict(
            ratio, design, "day", smaller_in(np.exp(_list_log_ratios(effects)), np.ones(len(effects)))
        )
    )
    role = endpoint.source.role
    bounds = [
        [
            effect.left_out is None and day.results.compared(cell).is_bound(scheme, role)
            for day, effect in zip(days, effects, strict=True)
        ]
        for scheme in (first.scheme, first.reference)
    ]
    late = [day.name for day, *are in zip(days, *bounds, strict=True) if any(are)]
    why = f"on {', '.join(late)} more than 1 % of the transfers were left unfinished"
    return judged.with_bounds(any(bounds[0]), any(bounds[1]), why)


def _find_endpoint(plan: Plan, first: Finding) -> Endpoint:
    """Returns the endpoint that a finding is about.

    Raises `StopIteration` if the plan has none of its name.
    """
    known = findings.list_endpoints(plan.short_bytes, plan.long_bytes, has_pages=True)
    return next(endpoint for endpoint in known if endpoint.name == first.endpoint)


def _make_day_effect(day: Day, item: Finding | None, endpoint: Endpoint) -> DayEffect:
    """Returns the effect of one day; its change is NaN if the day does not count."""
    if item is None:
        return DayEffect(day.name, Estimate(nan, nan, nan, 0), UNDECIDED)
    source, capture = endpoint.source, day.results.capture
    if source.is_of_transfers and capture is not None and not capture.is_enough(source.role):
        why = findings.first_cell(day.results).floor_text(source.role)
        return DayEffect(day.name, Estimate(nan, nan, nan, 0), UNDECIDED, why)
    return DayEffect(day.name, item.change, item.outcome)


def _change_error(day: Day, cell: Cell, item: Finding | None) -> float:
    """Returns the standard error of the logarithm of a day's ratio; NaN without an interval."""
    if item is None or not item.change.has_interval:
        return nan
    change = item.change
    logs = Estimate(log1p(change.mean), log1p(change.low), log1p(change.high), change.count)
    results = day.results
    design = results.design(cell) if item.exploratory else results.primary_design(cell, item.reference)
    return design.standard_error(logs)


def _explain_few_days(results: Results, count: int) -> str:
    """Returns the sentence on why a comparison of `count` days has no verdict."""
    few = findings.first_cell(results).nothing_compared() or (
        f"{counted(count, 'day')} {'gives' if count == 1 else 'give'} no interval over days; at least "
        f"{LEAST_DAYS} are needed"
    )  # fmt: skip
    return f"No verdict: {few}."


def _explain_few_left(plan: Plan, most: DaysFinding) -> str:
    """Returns the sentence for too few days that have enough distinct transfers."""
    days, out = len(most.effects), most.left_out
    why = "is left out, as its capture has" if out == 1 else "are left out, as their captures have"
    return (
        f"No verdict: {out} of {days} days {why} too few distinct transfers "
        f"≤ {size_text(plan.short_bytes)}; at least {LEAST_DAYS} others are needed."
    )


def _count_left_out(effects: Sequence[DayEffect]) -> int:
    """Returns the number of days that are left out because they have too few transfers."""
    return sum(effect.left_out is not None for effect in effects)


def _write_over_days(days: int, left_out: int) -> str:
    """Returns the number of days as text, and how many more were left out: `over 5 days (1 left out)`."""
    return f"over {counted(days, 'day')}{f' ({left_out} left out)' if left_out else ''}"


def _list_floor_notes(results: Results) -> list[str]:
    """Returns a sentence for each class of transfers that a day is left out of, short ones first."""
    roles: tuple[Summary, ...] = ("short", "long")
    return [
        f"Left out for these transfers: {findings.first_cell(results).floor_text(role)}."
        for role in roles
        if results.capture is not None and not results.capture.is_enough(role)
    ]


def _describe_range(found: DaysFinding) -> str:
    """Returns the sentence on how many days were lower, with the smallest and largest change of a day.

    Raises `ValueError` if no day counts.
    """
    faster = sum(effect.change.mean < 0 for effect in found.known)
    return f"It was lower on {faster} of {counted(len(found.known), 'day')} ({_effects_range(found.known)})."


def _effects_range(known: Sequence[DayEffect]) -> str:
    """Returns the smallest and the largest change of a day, such as `−40 % (mon.log) to −12 % (tue.log)`.

    Raises `ValueError` for no days.
    """
    least = min(known, key=lambda effect: effect.change.mean)
    most = max(known, key=lambda effect: effect.change.mean)
    return f"{capped(least.change.mean)} % ({least.day}) to {capped(most.change.mean)} % ({most.day})"


def _to_change_columns(name: str, change: Estimate) -> Record:
    """Returns mean and ends of a change as the columns `name`, `name_low` and `name_high`, None for NaN."""
    return {
        name: nan_to_none(change.mean),
        f"{name}_low": nan_to_none(change.low),
        f"{name}_high": nan_to_none(change.high),
    }


def collect_manifests(days: Sequence[Day]) -> dict[str, object]:
    """Returns the manifest of each day by its name: everything that determines the results."""
    return {"days": [{"day": day.name, "manifest": day.results.manifest} for day in days]}
