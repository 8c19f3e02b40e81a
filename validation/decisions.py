"""How good the sentence is that `compare` prints first, for captures of traffic whose truth is known.

`make validation WHAT=decisions` draws captures of 1, 10 and 60 minutes from nine models of traffic,
compares the schemes on each, and sets the recommendation beside the truth: independent runs of the same
model. Smaller captures have 20, 50 and 90 short transfers: of these a fitted model is played. It keeps
validation/decisions.json and writes docs/decisions.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import mousehole
import numpy as np
import polars as pl
from mousehole.answer import NOT_SHOWN, RECOMMENDED, vetoes
from mousehole.runs import Results, default_jobs
from mousehole.statistics import Design, binomial_interval, log_ratio
from mousehole.tuning import objectives
from numpy.typing import NDArray

from tools import document
from validation import decisions_traffic as traffic

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "validation" / "decisions.json"
DOCUMENT = ROOT / "docs" / "decisions.md"
TARGET = "validation WHAT=decisions"
RATE_BPS, RTT, NATIVE_LOAD, LOAD = 5e6, "80ms", 0.25, 0.75
BASELINE = "droptail"
REFERENCE = "cake"
"""Who pays is counted against this, as in the answer."""
SCHEMES = (BASELINE, "sfd", "sfd(mode=coupled)", "fq-codel", REFERENCE, "ct-cake", "excess-cake")
TRANSFERS, SHORT_BYTES = (20, 50, 90), 15_000
"""Short transfers of the smallest captures."""
MINUTES, CAPTURES, TRUTH, REPLICATIONS, WINDOW_S, WARMUP_S = (1, 10, 60), 4, 40, 10, 120, 60
CAPTURE_SEED, TRUTH_SEED = 4711, 815
NEAR, CLEAR = 0.05, 0.20
"""A recommendation within 5 % of the best is right; an effect beyond 20 % should be shown."""


@dataclass(frozen=True)
class Line:
    """The link of a model: the load of its captures, the load that is compared, and the buffer."""

    native: float = NATIVE_LOAD
    load: float = LOAD
    buffer: str = "1bdp"
    runs: int = 1
    """So many times as many runs make the truth: a mean over few transfers has a wide spread."""


LINES = {"idle": Line(native=0.05, load=0.1, runs=8), "small buffer": Line(buffer="10p")}
"""Lines of models that need one of their own."""


@dataclass(frozen=True)
class Truth:
    """The result of independent runs of a model.

    It has the mean time of short transfers and each scheme's relative change.
    """

    model: str
    runs: int
    means_s: dict[str, float]
    changes: dict[str, float]
    """Geometric mean of the runs' ratios to the baseline, less one, as `compare` has it."""
    long_changes: dict[str, float] = field(default_factory=dict)
    """The same of long transfers."""
    pays: dict[str, list[str]] = field(default_factory=dict)
    """The figures, such as `calls lost`, that a scheme makes worse than under CAKE by more than allowed."""

    @property
    def best_s(self) -> float:
        """Returns the least mean response time, s, of the baseline and the schemes without a harmed class."""
        return min(
            mean for scheme, mean in self.means_s.items() if scheme == BASELINE or not self.pays.get(scheme)
        )

    @property
    def best_change(self) -> float:
        """Returns the least relative change among the schemes under which no class pays."""
        return min(change for scheme, change in self.changes.items() if not self.pays.get(scheme))

    def helps(self, scheme: str) -> bool:
        """Returns whether a scheme changes the mean of short transfers by more than 5 % for the better."""
        return self.changes[scheme] < -NEAR

    def is_in_vain(self, found: Decision) -> bool:
        """Returns whether a recommendation truly helps neither short transfers nor the class it is for.

        False without a recommendation.
        """
        if found.scheme is None or self.helps(found.scheme):
            return False
        return not (found.classes and self.long_changes.get(found.scheme, 0.0) < -NEAR)

    def is_harmful(self, found: Decision) -> bool:
        """Returns whether the recommended scheme truly makes some class pay."""
        return found.scheme is not None and bool(self.pays.get(found.scheme))

    def is_false(self, veto: tuple[str, str]) -> bool:
        """Returns whether a veto, given as scheme and figure, is against a scheme that respects that margin.

        A scheme without an entry respects all margins.
        """
        scheme, figure = veto
        return figure not in self.pays.get(scheme, [])


@dataclass(frozen=True)
class Decision:
    """The recommendation of `compare` for one capture."""

    model: str
    minutes: float
    number: int
    transfers: int
    outcome: str
    scheme: str | None
    is_best: bool
    changes: dict[str, tuple[float, float, float]]
    """Change against the baseline with the ends of a single interval of 95 %."""
    outcomes: dict[str, str]
    """The verdict of each scheme against the baseline."""
    first: int = 0
    """The capture ends with so many short transfers; 0 for captures of some minutes."""
    by_order: str | None = None
    """What the order alone would recommend; see `find_first_by_order`."""
    classes: tuple[str, ...] = ()
    """The classes that it is recommended for, where short transfers are not shown to gain."""
    vetoes: tuple[tuple[str, str], ...] = ()
    """Scheme and figure of each veto that rules a scheme out."""

    def regret(self, truth: Truth) -> float:
        """Returns the relative excess of the mean under the recommended scheme over the least possible mean.

        Without a recommendation the baseline is used. It is 0 for a scheme that is faster at the cost of
        others.
        """
        return max(truth.means_s[self.scheme or BASELINE] / truth.best_s - 1, 0.0)


@dataclass(frozen=True)
class Size:
    """The models, captures and numbers of runs of one measurement."""

    models: tuple[str, ...] = tuple(traffic.MODELS)
    minutes: tuple[float, ...] = MINUTES
    first: tuple[int, ...] = TRANSFERS
    """Numbers of short transfers of the smallest captures."""
    captures: int = CAPTURES
    truth: int = TRUTH
    replications: int = REPLICATIONS
    window_s: int = WINDOW_S
    jobs: int = 1


@dataclass(frozen=True)
class Score:
    """The counts and means over a group of decisions, as columns of the page."""

    decisions: int
    near: int
    """Recommendations within 5 % of the best under which nobody pays, and none where nothing helps."""
    regret: float
    """Mean regret as a share."""
    regret_s: float
    harmful: int
    """Recommendations of a scheme under which some class truly pays more than vetoes allow."""
    vetoes: int
    """Vetoes that rule a scheme out."""
    false_vetoes: int
    """Those against a scheme that truly keeps the margin."""
    useless: int
    """Recommendations of a scheme that helps neither short transfers nor the class it is for, by 5 %."""
    ordered: int
    """Captures without a recommendation, for which the order alone would make one."""
    ordered_useless: int
    """Those for which it would be one of a scheme that does not help by 5 %."""
    not_shown: int
    """No recommendation although the best changes the mean by more than 20 %."""
    clear: int
    """Decisions in which it does."""
    best_said: int
    false_best: int
    """`Best`, where another is better by more than 5 %."""
    shown: int
    """Effects beyond 20 % that have their verdict."""
    effects: int
    wrong: int
    """Verdicts of the wrong sign, beyond 5 %."""
    held: int
    """Single intervals that hold the truth."""
    intervals: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the chosen models, replaces their part of the record, and renews the page.

    The record is written after each model. Returns 0.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--models", nargs="*", default=tuple(traffic.MODELS), choices=tuple(traffic.MODELS))
    parser.add_argument("--minutes", nargs="*", type=int, default=MINUTES, help="lengths of captures")
    parser.add_argument("--first", nargs="*", type=int, default=TRANSFERS, help="transfers of the smallest")
    parser.add_argument("--captures", type=int, default=CAPTURES, help="per model and length")
    parser.add_argument("--truth", type=int, default=TRUTH, help="independent runs of each model")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    options = parser.parse_args(arguments)
    size = Size(
        models=tuple(options.models), minutes=tuple(options.minutes), first=tuple(options.first),
        captures=options.captures, truth=options.truth, jobs=options.jobs,
    )  # fmt: skip
    kept = read_record(options.record) if options.record.exists() else ([], [])
    for model in size.models:
        own = replace(size, models=(model,))
        kept = _replace_in_record(kept, measure(own, tells=True), own)
        rows = {"truths": [asdict(one) for one in kept[0]], "decisions": [asdict(one) for one in kept[1]]}
        options.record.write_text(json.dumps(rows, indent=1) + "\n")
    document.renew(options.document, TARGET, write_body(*kept))
    return 0


Record = tuple[list[Truth], list[Decision]]


def _replace_in_record(kept: Record, new: Record, size: Size) -> Record:
    """Returns the record with new results in place of earlier ones of the same models and lengths, sorted."""
    kinds = {(model, *length) for model in size.models for length in _lengths(size)}
    truths = [one for one in kept[0] if one.model not in size.models]
    others = [one for one in kept[1] if (one.model, one.minutes, one.first) not in kinds]
    return sorted([*truths, *new[0]], key=_sort_key), sorted([*others, *new[1]], key=_sort_key)


def _sort_key(one: Truth | Decision) -> tuple[float, ...]:
    """Returns the key that orders a record: by model, fitted captures first, then by length and number."""
    model = list(traffic.MODELS).index(one.model)
    return (model,) if isinstance(one, Truth) else (model, not one.first, one.first, one.minutes, one.number)


def measure(size: Size, tells: bool = False) -> Record:
    """Returns truths and decisions of the chosen models, all of which it runs.

    If `tells` is set, each decision is printed.
    """
    truths, found = [], []
    for model in size.models:
        truths.append(measure_truth(model, size))
        for (minutes, first), number in itertools.product(_lengths(size), range(size.captures)):
            found.append(decide(model, minutes, number, size, first))
            if tells:
                one = found[-1]
                said = f"{one.outcome} {one.scheme or ''} {100 * one.regret(truths[-1]):.0f} %"
                print(f"decisions: {model}, {_describe_length(minutes, first)}, {number}: {said}", flush=True)
    return truths, found


def _lengths(size: Size) -> list[tuple[float, int]]:
    """Returns pairs of minutes and transfers for the kinds of captures, the smallest captures first.

    Those are the beginning of the shortest one; for whole captures the second number is 0.
    """
    return [*((min(MINUTES), first) for first in size.first), *((minutes, 0) for minutes in size.minutes)]


def _describe_length(minutes: float, first: int) -> str:
    """Returns the length of a capture as text: its number of transfers, or minutes if `first` is 0."""
    return f"{first} transfers" if first else f"{minutes:g} min"


def measure_truth(model: str, size: Size) -> Truth:
    """Returns the true means and changes of a model, from independent runs of it.

    Each run draws its own users until they meet the load, and is one comparison; the draws depend on the
    number of the run only.
    """
    line = LINES.get(model, Line())
    means: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    longs: dict[str, list[float]] = {scheme: [] for scheme in SCHEMES}
    harms = Harms()
    for number in range(size.truth * line.runs):
        random = np.random.default_rng([TRUTH_SEED, number])
        drawn = traffic.draw_meeting_load(
            model, random, RATE_BPS, line.load, 2 * WARMUP_S + 1.5 * size.window_s
        )
        found = mousehole.compare(
            pl.DataFrame(drawn), rate=RATE_BPS, rtt=RTT, buffer=line.buffer, replay="open",
            schemes=list(SCHEMES), baseline=BASELINE, warmup=WARMUP_S, duration=size.window_s, seeds=1,
            jobs=size.jobs,
        ).results  # fmt: skip
        (cell,) = found.plan.cells
        for scheme in SCHEMES:
            means[scheme].append(float(found.primary_values(cell, scheme)[0]))
            longs[scheme].append(float(found.bucket_values(cell, scheme, "long", "response_mean_s")[0]))
        harms.add(found)
    changes, long_changes = (
        {scheme: log_ratio(own[scheme], own[BASELINE]).as_change().mean for scheme in SCHEMES}
        for own in (means, longs)
    )
    all_means = {scheme: float(np.mean(means[scheme])) for scheme in SCHEMES}
    return Truth(model, size.truth * line.runs, all_means, changes, long_changes, harms.find_payers())


class Harms:
    """How far each scheme exceeds the veto margins against the reference, over the runs of a truth."""

    def __init__(self) -> None:
        """Begins without a measured harm; the limits are the default margins against `REFERENCE`."""
        names = [f"{one.whose} {one.name}" for one in vetoes.margins(())]
        self._limits = dict(zip(names, objectives.list_default_limits(REFERENCE), strict=True))
        self._excesses: dict[tuple[str, str], list[float]] = {}

    def add(self, found: Results) -> None:
        """Adds a run: the excess of each scheme over each margin, where both figures are known.

        `found` has one cell and one replication.
        """
        (cell,) = found.plan.cells
        for (name, limit), scheme in itertools.product(self._limits.items(), SCHEMES):
            excess = objectives.estimate_excess(found, cell, limit, scheme).mean
            if np.isfinite(excess):
                self._excesses.setdefault((scheme, name), []).append(excess)

    def find_payers(self) -> dict[str, list[str]]:
        """Returns for each scheme the figures whose mean excess over the runs is positive.

        Schemes without any are left out.
        """
        found: dict[str, list[str]] = {}
        for (scheme, name), excesses in self._excesses.items():
            if np.mean(excesses) > 0:
                found.setdefault(scheme, []).append(name)
        return found


def decide(model: str, minutes: float, number: int, size: Size, first: int = 0) -> Decision:
    """Runs `compare` on one capture of a model and returns its recommendation.

    If `first` is not 0, only the beginning with so many short transfers is used. `number` is the seed of the
    capture. Draws depend on model, number, length and `first` only.
    """
    line = LINES.get(model, Line())
    random = np.random.default_rng([CAPTURE_SEED, number, round(60 * minutes), *([first] if first else [])])
    drawn = traffic.draw_for_load(model, random, RATE_BPS, line.native, 60 * minutes)
    if first:
        drawn = traffic.take_first_short(drawn, first, SHORT_BYTES)
    compared = mousehole.compare(
        pl.DataFrame(drawn), rate=RATE_BPS, rtt=RTT, load=line.load, buffer=line.buffer, replay="open",
        schemes=list(SCHEMES), baseline=BASELINE, duration=size.window_s, seeds=size.replications,
        seed=number + 1, jobs=size.jobs,
    )  # fmt: skip
    results, advice = compared.results, compared.advice()
    (cell,) = results.plan.cells
    base, design = results.primary_values(cell, BASELINE), results.design(cell)
    changes = {
        scheme: log_ratio(results.primary_values(cell, scheme), base, design).as_change()
        for scheme in SCHEMES[1:]
    }
    return Decision(
        model, minutes, number, results.capture.counted["short"].transfers if results.capture else 0,
        advice.outcome, advice.scheme, advice.is_best,
        {scheme: (one.mean, one.low, one.high) for scheme, one in changes.items()},
        {
            one.scheme: one.outcome
            for one in compared.finding_list
            if not one.exploratory and one.reference == BASELINE
        },
        first,
        find_first_by_order({scheme: results.primary_values(cell, scheme) for scheme in SCHEMES}, design),
        advice.classes,
        tuple((one.scheme, f"{one.margin.whose} {one.margin.name}") for one in advice.vetoes if one.binds),
    )  # fmt: skip


def find_first_by_order(values: Mapping[str, NDArray[np.float64]], design: Design) -> str | None:
    """Returns the scheme that beats the baseline in every replication, and every other by its interval.

    None if there is none. It is the scheme that a recommendation by the order alone would name; each interval
    is a single one. Values are paired by replication.
    """

    def is_first(scheme: str) -> bool:
        """Returns whether a scheme beats the baseline in all replications, and the others by its interval."""
        others = [other for other in values if other not in (scheme, BASELINE)]
        is_always = bool(np.all(values[scheme] < values[BASELINE]))
        return is_always and all(log_ratio(values[scheme], values[one], design).high < 0 for one in others)

    return next((scheme for scheme in values if scheme != BASELINE and is_first(scheme)), None)


@dataclass(frozen=True)
class EstimateErrors:
    """The distances of some decisions' estimates from the truth, as differences of logarithms."""

    baseline: float
    """Root mean square for the ratios to the baseline."""
    among: float
    """The same for the ratios of two schemes."""
    ordered: int
    """Pairs of schemes in their true order."""
    pairs: int
    """Pairs whose true ratio is beyond 5 %."""
    best: int
    """Decisions in which the scheme of the least estimate truly has the least."""


def measure_errors(truths: Sequence[Truth], found: Sequence[Decision]) -> EstimateErrors:
    """Returns the errors of the estimated changes, and the counts of pairs and schemes in the true order.

    Every model among the decisions needs its truth, and there is a pair beyond 5 %.
    """
    true = {
        one.model: {scheme: np.log1p(one.changes[scheme]) for scheme in one.changes if scheme != BASELINE}
        for one in truths
    }
    estimated = [
        (true[one.model], {scheme: np.log1p(ends[0]) for scheme, ends in one.changes.items()})
        for one in found
    ]
    off = [estimates[scheme] - own[scheme] for own, estimates in estimated for scheme in estimates]
    pairs = np.array([
        (estimates[one] - estimates[two], own[one] - own[two])
        for own, estimates in estimated
        for one, two in itertools.combinations(estimates, 2)
    ])  # fmt: skip
    clear = pairs[np.abs(pairs[:, 1]) > np.log1p(NEAR)]
    return EstimateErrors(
        baseline=float(np.sqrt(np.mean(np.square(off)))),
        among=float(np.sqrt(np.mean((pairs[:, 0] - pairs[:, 1]) ** 2))),
        ordered=int(np.sum(clear[:, 0] * clear[:, 1] > 0)),
        pairs=len(clear),
        best=sum(
            min(estimates, key=lambda scheme: estimates[scheme]) == min(own, key=lambda scheme: own[scheme])
            for own, estimates in estimated
        ),
    )


def read_record(record: Path) -> Record:
    """Returns truths and decisions from a record.

    Raises `OSError`, `KeyError`, `TypeError` or `ValueError` for a file without them.
    """
    kept = json.loads(record.read_text())
    decisions = [
        one | {"classes": tuple(one["classes"]), "vetoes": tuple(map(tuple, one["vetoes"]))}
        for one in kept["decisions"]
    ]
    return [Truth(**one) for one in kept["truths"]], [Decision(**one) for one in decisions]


def score_decisions(truths: Sequence[Truth], found: Sequence[Decision]) -> Score:
    """Returns the counts and means of some decisions; `found` is not empty.

    Every model among them needs its truth.
    """
    truth = {one.model: one for one in truths}
    regrets = [one.regret(truth[one.model]) for one in found]
    clear = [one for one in found if truth[one.model].best_change < -CLEAR]
    ruled_out = [(truth[one.model], veto) for one in found for veto in one.vetoes]
    rows = [
        (truth[one.model].changes[scheme], one.outcomes[scheme], one.changes[scheme])
        for one in found
        for scheme in one.changes
    ]
    effects = [(true, word) for true, word, _ in rows if abs(true) > CLEAR]
    intervals = [(true, ends) for true, _, ends in rows if np.isfinite(ends[1])]
    by_order = [(one.model, one.by_order) for one in found if one.scheme is None and one.by_order is not None]
    return Score(
        decisions=len(found),
        near=sum(
            regret <= NEAR
            and not truth[one.model].is_harmful(one)
            and (one.outcome == RECOMMENDED or not _has_helpful_scheme(truth[one.model]))
            for one, regret in zip(found, regrets, strict=True)
        ),
        regret=float(np.mean(regrets)),
        regret_s=float(
            np.mean([regret * truth[one.model].best_s for one, regret in zip(found, regrets, strict=True)])
        ),
        harmful=sum(truth[one.model].is_harmful(one) for one in found),
        vetoes=len(ruled_out),
        false_vetoes=sum(own.is_false(veto) for own, veto in ruled_out),
        useless=sum(truth[one.model].is_in_vain(one) for one in found),
        ordered=len(by_order),
        ordered_useless=sum(not truth[model].helps(scheme) for model, scheme in by_order),
        not_shown=sum(one.outcome == NOT_SHOWN for one in clear),
        clear=len(clear),
        best_said=sum(one.is_best for one in found),
        false_best=sum(one.is_best and regret > NEAR for one, regret in zip(found, regrets, strict=True)),
        shown=sum(word == ("better" if true < 0 else "worse") for true, word in effects),
        effects=len(effects),
        wrong=sum(
            (word == "better" and true > NEAR) or (word == "worse" and true < -NEAR) for true, word, _ in rows
        ),
        held=sum(low <= true <= high for true, (_, low, high) in intervals),
        intervals=len(intervals),
    )


def _has_helpful_scheme(truth: Truth) -> bool:
    """Returns whether some scheme helps and nobody pays under it."""
    return any(truth.helps(scheme) and not truth.pays.get(scheme) for scheme in truth.changes)


def write_body(truths: Sequence[Truth], found: Sequence[Decision]) -> str:
    """Returns the generated part of the page: the truth, who pays, and the scores of the decisions.

    Neither sequence is empty.
    """
    captures, runs = 1 + max(one.number for one in found), truths[0].runs
    more = [f"{one.runs} for *{one.model}*" for one in truths if one.runs != runs]
    command = f"`make {TARGET} ARGS='--captures {captures} --truth {runs}'`"
    length = f"windows of {WINDOW_S} s, {REPLICATIONS} replications"
    parts = [
        "\n",
        document.wrap(
            f"{command}: {captures} captures of each model and length, compared with {length}; "
            f"the truth is that of {runs} independent runs{''.join(', ' + one for one in more)}."
        ),
        "\n\n## The truth\n\n",
        document.table(("model", *SCHEMES), [_list_truth_cells(one) for one in truths]),
        "\n**Who pays in truth**, against CAKE, by more than the margins of vetoes:\n\n",
        *(document.wrap(_write_payers(one), "  ") + "\n" for one in truths),
        "\n## The sentence\n\n",
        document.table(
            COLUMNS,
            [
                _list_score_cells(name, score_decisions(truths, own))
                for name, own in _group_decisions(truths, found)
            ],
        ),
        "\n## Order and level\n\n",
        document.table(
            ERROR_COLUMNS,
            [
                _list_error_cells(name, len(own), measure_errors(truths, own))
                for name, own in _group_decisions(truths, found)
            ],
        ),
    ]
    return "".join(parts)


COLUMNS = (
    "captures", "within 5 % of the best", "regret", "somebody pays", "false vetoes", "recommended in vain",
    "by order alone", "not shown",
    "false `Best`", "effects shown", "wrong sign", "intervals that hold the truth",
)  # fmt: skip


ERROR_COLUMNS = (
    "captures", f"error against {BASELINE}", "error among schemes", "pairs in order", "least is best",
)  # fmt: skip


def _list_error_cells(name: str, decisions: int, one: EstimateErrors) -> list[str]:
    """Returns the cells of a table row for a group of decisions, with the errors in percent."""
    return [
        name,
        f"{100 * np.expm1(one.baseline):.0f} %",
        f"{100 * np.expm1(one.among):.0f} %",
        _format_share(one.ordered, one.pairs),
        _format_share(one.best, decisions),
    ]


def _group_decisions(truths: Sequence[Truth], found: Sequence[Decision]) -> list[tuple[str, list[Decision]]]:
    """Returns named groups of decisions: by length, by model, and all; empty groups are left out."""
    whole = [one for one in found if not one.first]
    of_length: dict[str, list[Decision]] = {}
    for one in sorted(found, key=lambda one: (not one.first, one.first, one.minutes)):
        of_length.setdefault(f"all of {_describe_length(one.minutes, one.first)}", []).append(one)
    groups = [*of_length.items()]
    for chosen, name in ((whole, ""), ([one for one in found if one.first], ", fitted")):
        groups += [(one.model + name, [item for item in chosen if item.model == one.model]) for one in truths]
        groups.append((f"all{name}", chosen))
    return [group for group in groups if group[1]]


def _list_truth_cells(one: Truth) -> list[str]:
    """Returns the cells of a table row: each scheme's mean time, and its change against the baseline."""
    changes = [f"{1000 * one.means_s[BASELINE]:.0f} ms"]
    for scheme in SCHEMES[1:]:
        change = f"{100 * one.changes[scheme]:+.0f}".replace("-", "−")
        changes.append(f"{1000 * one.means_s[scheme]:.0f} ms ({change} %)")
    return [one.model, *changes]


def _write_payers(one: Truth) -> str:
    """Returns a list item with the figures that each scheme truly makes worse than allowed."""
    schemes = (f"`{scheme}`: {', '.join(figures)}" for scheme, figures in one.pays.items())
    return f"- *{one.model}*: {'; '.join(schemes) or 'nobody'}"


def _list_score_cells(name: str, one: Score) -> list[str]:
    """Returns the cells of a table row for a group of decisions, in the order of `COLUMNS`."""
    return [
        name,
        _format_share(one.near, one.decisions),
        f"{100 * one.regret:.1f} %, {1000 * one.regret_s:.0f} ms",
        _format_share(one.harmful, one.decisions),
        _format_share(one.false_vetoes, one.vetoes),
        _format_share(one.useless, one.decisions),
        f"{one.ordered}, {one.ordered_useless} in vain" if one.ordered else "–",
        _format_share(one.not_shown, one.clear),
        _format_share(one.false_best, one.best_said),
        _format_share(one.shown, one.effects),
        str(one.wrong),
        _format_share(one.held, one.intervals),
    ]


def _format_share(count: int, of: int) -> str:
    """Returns `3 of 4 (20–99 %)` with a binomial 95 % interval, or a dash if `of` is 0."""
    if not of:
        return "–"
    low, high = binomial_interval(count, of)
    return f"{count} of {of} ({100 * low:.0f}–{100 * high:.0f} %)"


if __name__ == "__main__":
    sys.exit(main())
