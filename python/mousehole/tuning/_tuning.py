"""The Python interface of the search: `tune` finds settings and judges them on unseen replications.

`_search_space` has the settings that may be tried, `objectives` the goal, `_search` tries; `comparison`
judges the finalists on replications of their own. `_results` holds the results, `_report`, `_pareto` and
`Tuned.to_json` show it.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import expm1, isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from mousehole import _engine
from mousehole.answer import (
    Link,
    explain_no_installation,
    find_link,
    find_link_of_cell,
    find_settings,
    vetoes,
)
from mousehole.base import (
    SECONDS,
    MouseholeError,
    Options,
    RunOptions,
    accepts_options,
    choose_evenly,
    conflict_error,
    counted,
    defaults,
    field_error,
    missing_error,
    output,
    parse_texts,
    require_at_least,
    require_extra,
    require_path,
    require_texts,
    scheme_name,
    span_text,
    with_unit,
)
from mousehole.comparison import Comparison, Prepared, forecast, prepare, run_with_jobs
from mousehole.html import Kept
from mousehole.inputs import Source
from mousehole.runs import (
    Backend,
    Cell,
    Results,
    check_baseline,
    load_policies,
    make_row_frame,
    open_backend,
)
from mousehole.tuning import objectives
from mousehole.tuning._answer import write_answer
from mousehole.tuning._document import make_install_files, make_tune_document
from mousehole.tuning._options import SEARCH_SEEDS, SENSITIVITY_SEEDS, TRIALS, TuneOptions
from mousehole.tuning._results import (
    BROKEN,
    DEFAULT,
    FINALIST,
    KEPT,
    NOT_SHOWN,
    REFERENCE,
    Account,
    JudgedRow,
    LimitRow,
    SensitivityRow,
    Spent,
    TrialRow,
    TuneResults,  # fmt: skip
)
from mousehole.tuning._search import ROUND, Search, Trial, Where, find_front, is_accepted
from mousehole.tuning._search_space import (
    SHAPER,
    Range,
    Space,
    check_ranges,
    find_meaning,
    make_space,
    read_range,
)
from mousehole.tuning.objectives import Goal, Limit, Quantity

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from mousehole.document import Document

FINALISTS, FINALISTS_OF_MANY = 3, 2
"""Settings that are judged: of a scheme that is searched alone, and of each of several."""
ON_FRONT = 5
"""Points of a scheme's front that are judged if there are several objectives."""
REFERENCES = ("droptail", "red", "fq-codel", "cake")
"""What people have today: judged together with the finalists."""
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "wred": (
        "sfd(timeout=1s,mode=total,gentle=false,unit=packets)",
        "demotion(timeout=1s)|multi-red(colours=3,mode=total,gentle=false,mean=1500B)",
    ),
    "cake": (
        "excess|cake(tins=bulk)",
        "sfd|cake(tins=bulk)",
        "sfd|cake(tins=colour)",
        "demotion(timeout=1s)|cake(tins=colour)",
    ),
}
"""Schemes that a device can do, by what `for_` names: two or three WRED profiles, a marker before CAKE."""
BASELINES = {"cake": "cake"}
"""The baseline by what `for_` names; droptail for everything else."""


@dataclass(frozen=True)
class _Wanted:
    """What the user wants, read and checked before any traffic is read."""

    goal: Goal
    templates: tuple[str, ...]
    ranges: tuple[Range, ...]
    baseline: str
    trials: int | None
    budget_s: float | None
    search_seeds: int
    sensitivity_seeds: int
    beside: tuple[str, ...]
    """Schemes that the user wants judged in addition to the finalists."""


KEYWORDS = {
    "scheme": "schemes", "objective": "objectives", "limit": "limits", "range": "ranges", "for": "for_",
}  # fmt: skip
"""The keywords that give what errors call by the names of the parts of a search."""


@accepts_options(TuneOptions)
def tune(traffic: Source, options: TuneOptions) -> "Tuned":
    """Searches settings of schemes, and judges the best ones on replications that the search has not seen.

    `traffic`, and the options of link, traffic, hosts and runs, are those of `compare`; there is one buffer
    and one load. The others:

    - `schemes`: schemes whose parameters are searched, such as "sfd" or "sfd|multi-red"; a parameter that is
      given in a scheme stays as it is
    - `for_`: "wred" searches what a router's WRED can do, "cake" a marker before CAKE's tins, in place of
      `schemes`
    - `objectives`: what to lower ("short mean"): "short", "long" or "all" with "mean", "p50", "p95", "p99" or
      "slowdown", "page mean", "queue mean", "queue p95", "queue p99", or to raise: "long rate",
      "utilisation"; several give a Pareto front
    - `limits`: how far others may change against the baseline, such as "long mean +10%" or "calls p95 +5ms",
      or against another scheme, such as "long mean +5% against fq-codel"; the margins of the vetoes
      (docs/compare.md) hold in addition, unless one is "none"
    - `ranges`: where to search a parameter, such as "th=5kB..200kB" or "mode=coupled,total"
    - `trials`: settings tried of each scheme (40); the same number and seed give the same result everywhere
    - `budget`: time for everything instead, such as "10min"; the number of trials then depends on the machine
    - `search_seeds`: replications of the search (4); `seeds`: unseen ones of the judgement (10)
    - `sensitivity_seeds`: unseen replications with which the recommended setting's parameters are changed one
      at a time (5; 0 leaves it out)
    - `beside`: further schemes to judge with the finalists, their own settings, drop-tail, RED, FQ-CoDel
      and CAKE
    - `baseline`: scheme that gains and limits are against ("droptail"; with `for_="cake"` "cake")

    Raises `MouseholeError` for a fault in the input and where no setting is within the limits, `TypeError`
    for an unknown keyword, and `Stopped` (a `KeyboardInterrupt`) on Ctrl-C.

    Examples:
        >>> found = tune("web:sfd", rate="3mbit", load=0.9, schemes="sfd(mode=coupled)", trials=2, seeds=5,
        ...              search_seeds=2, sensitivity_seeds=0, duration="10s", warmup="5s")
        >>> found.results.account.trials
        2
    """
    require_extra("tune", "tune")
    try:
        with open_backend(options.dask, options.executor, options.reporter) as backend:
            return _run_tuning(traffic, options, backend)
    except MouseholeError as error:
        raise error.renamed(KEYWORDS) from None


def _run_tuning(traffic: Source, options: TuneOptions, backend: Backend | None) -> "Tuned":
    """Searches, judges the finalists, and changes one parameter at a time, in threads or by a backend.

    Registers the policies of `options.policy`, and reports cost and progress. Returns the result; raises as
    `tune` does.
    """
    begin = time.monotonic()
    load_policies(options.policy)
    wanted = _parse_wanted(options)
    prepared = _prepare(traffic, options, wanted)
    (cell,) = prepared.plan.cells
    link = find_link(prepared.plan.base, cell.buffer)
    packets = link.buffer_packets if link else None
    percent = None
    if link is not None and link.line_bps is not None:
        percent = float(f"{100 * link.rate_bps / link.line_bps:.4g}")
        _check_shape(wanted, link)
    else:
        _refuse_shape(wanted)
    spaces = [make_space(one, packets, wanted.ranges, percent) for one in wanted.templates]
    where = _choose_where(prepared, wanted, len(spaces), backend)
    search, wanted = _run_search(prepared, wanted, spaces, where, begin)
    finalists = _choose_finalists(search.trials, wanted, spaces)
    if not finalists:
        raise _unmet_limits_error(search.trials, wanted)
    search_s, searched_at = time.monotonic() - begin, time.monotonic()
    judged = _judge_finalists(prepared, wanted, finalists, where)
    judged_s, judged_at = time.monotonic() - searched_at, time.monotonic()
    chosen = _choose_recommended(judged.results, cell, wanted.goal, finalists)
    space = next((space for space in spaces if chosen and space.template == chosen.family), None)
    more = None
    if chosen is not None and space is not None and wanted.sensitivity_seeds:
        more = _Sensitivity.run(prepared, wanted, chosen, space, where)
    spent = Spent(search_s, judged_s, time.monotonic() - judged_at, wanted.budget_s)
    found = _make_results(judged, wanted, search, finalists, chosen, more)
    return Tuned(found, judged, spent)


class Tuned(Kept):
    """What a search found: rows as data, a picture, a document, and files that install a setting."""

    def __init__(self, results: TuneResults, judged: Comparison, spent: Spent | None) -> None:
        """Makes the answer of a search that has ended; runs nothing."""
        self.results = results
        """Everything that was found."""
        self.judged = judged
        """The finalists, their schemes' own settings and the references on unseen replications."""
        self.spent = spent
        """The time that it took; None for a search that was loaded."""

    @cached_property
    def trials(self) -> "pl.DataFrame":
        """Returns one row per setting that was tried and quantity."""
        return make_row_frame(self.results.trials)

    @cached_property
    def table(self) -> "pl.DataFrame":
        """Returns one row per judged scheme, quantity and reference: the change in the search, and unseen."""
        return make_row_frame(self.results.judged)

    @cached_property
    def sensitivity(self) -> "pl.DataFrame":
        """Returns one row per changed parameter of the recommended setting, its value, and quantity."""
        return make_row_frame(self.results.sensitivity)

    def plot(self, path: str | Path | None = None) -> "alt.VConcatChart":
        """Returns the picture of the first objective's gain against the price of another quantity.

        It is written into a file if `path` is given. Raises `MouseholeError` for a suffix other than .png,
        .svg and .pdf, and for a file that cannot be written.
        """
        from mousehole import charts  # loads Altair
        from mousehole.tuning import _pareto as pareto

        return charts.write_chart(pareto.draw_picture(self.results), path, "plot")

    def document(self, command: Sequence[str] | None = None) -> "Document":
        """Returns the search as a document, which terminal, page and Markdown show.

        `command` is the command line as typed, None where Python was the caller.
        """
        from mousehole.tuning import _report  # loads Altair

        return _report.make_document(self.results, self.judged.results, self.spent, command)

    def to_json(self) -> str:
        """Returns the document of schema `mousehole.tune/2` (docs/json.md); equal trials give equal bytes."""
        return _engine.json_text(make_tune_document(self.results, self.judged.results))

    def install(self, folder: str | Path) -> list[Path]:
        """Writes the files that install the recommended setting into a folder, and returns their paths.

        Makes the folder; files of these names are replaced. Raises `MouseholeError` if nothing is
        recommended, nothing installs it, or a file cannot be written.
        """
        found = self.results.settings
        if found is None:
            nothing = self.results.why_nothing
            why = f"nothing installs it: {nothing}" if nothing else "nothing is recommended"
            raise MouseholeError(f"cannot write settings to install; {why}", kind="value", field="install")
        place = require_path("folder", folder, "a folder")
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MouseholeError(
                f"cannot write {place}; {error.strerror}", kind="file", field="install"
            ) from None
        written = []
        for name, text in make_install_files(found).items():
            output.write_text(str(place / name), text)
            written.append(place / name)
        return written

    def __repr__(self) -> str:
        """Returns the title and the lines of the answer."""
        return "\n".join([f"Search of settings on {self.results.label}", *self.results.lines])


def _parse_wanted(options: TuneOptions) -> _Wanted:
    """Returns the search that the options ask for; raises `MouseholeError` for a fault in them.

    Own policies must be loaded before.
    """
    templates = _choose_templates(options)
    wants = _parse_list("objective", options.objectives) or ["short mean"]
    aims = tuple(objectives.parse_quantity("objective", one) for one in wants)
    goal = Goal(aims, _list_limits(options, aims, templates))
    beside = _parse_list("beside", options.beside)
    for field, schemes in (("scheme", templates), ("beside", beside)):
        for scheme in schemes:
            objectives.check_scheme(field, scheme)
    given = [options.ranges] if isinstance(options.ranges, str) else list(options.ranges or ())
    ranges = tuple(read_range(one) for one in given)
    check_ranges(ranges, templates, is_shaped=True)
    if options.trials is not None and options.budget is not None:
        raise conflict_error("trials", options.trials, "budget", "give one of them")
    budget_s = None
    if options.budget is not None:
        budget_s = _engine.parse_duration("budget", with_unit("budget", options.budget, SECONDS))
        if budget_s <= 0:
            raise field_error("budget", str(options.budget), "a time above 0, such as 10min")
    trials = TRIALS if options.trials is None else require_at_least("trials", options.trials, 1)
    baseline = _choose_baseline(options)
    search_seeds = SEARCH_SEEDS if options.search_seeds is None else options.search_seeds
    return _Wanted(
        _with_known_references(goal, baseline), templates, ranges, baseline,
        None if budget_s is not None else trials, budget_s, require_at_least("search_seeds", search_seeds, 1),
        _parse_sensitivity_seeds(options.sensitivity_seeds), beside,
    )  # fmt: skip


def _list_limits(
    options: TuneOptions, aims: Sequence[Quantity], templates: Sequence[str]
) -> tuple[Limit, ...]:
    """Returns the limits given, and the margins of the vetoes on what neither a limit nor an aim is about.

    These are against CAKE where a scheme that is searched has it, and else against the baseline.
    """
    words = _parse_list("limit", options.limits)
    given = tuple(objectives.parse_limit("limit", one) for one in words if one != vetoes.NONE)
    if vetoes.NONE in words:
        return given
    stages = {entry["name"]: entry["stages"] for entry in _engine.schemes()}
    queues = (scheme_name(one.split("|")[-1]) for one in templates)
    has_cake = any(stages.get(queue, [queue])[-1] == "cake" for queue in queues)
    named = {one.name for one in (*aims, *(limit.quantity for limit in given))}
    defaults = objectives.list_default_limits("cake" if has_cake else None)
    return (*given, *(one for one in defaults if one.quantity.name not in named))


def _with_known_references(goal: Goal, baseline: str) -> Goal:
    """Returns the goal with the schemes of its limits as they are written where they are compared."""
    others = [limit.reference for limit in goal.limits if limit.reference]
    known = {find_meaning(scheme): scheme for scheme in reversed([baseline, *REFERENCES, *others])}
    limits = tuple(
        replace(limit, reference=known[find_meaning(limit.reference)]) if limit.reference else limit
        for limit in goal.limits
    )
    return replace(goal, limits=limits)


def _parse_list(field: str, given: str | Sequence[str] | None) -> tuple[str, ...]:
    """Returns the items of an option, split at commas; empty for none.

    Raises `MouseholeError` for an empty item and one given twice.
    """
    if given is None or not given:
        return ()
    return parse_texts(field, given if isinstance(given, str) else ",".join(require_texts(field, given)))


def _parse_sensitivity_seeds(given: int | None) -> int:
    """Returns the replications of the sensitivity; raises `MouseholeError` for a number below 0."""
    return SENSITIVITY_SEEDS if given is None else require_at_least("sensitivity_seeds", given, 0)


def _choose_baseline(options: TuneOptions) -> str:
    """Returns the baseline that is given, or else that of `for_`; raises `MouseholeError` for no scheme."""
    return check_baseline(options.baseline or BASELINES.get(options.for_ or "", defaults.BASELINE))


def _choose_templates(options: TuneOptions) -> tuple[str, ...]:
    """Returns the schemes to search: those given, or those of `for_`.

    Raises `MouseholeError` for both or neither.
    """
    if options.for_ is None:
        if not options.schemes:
            raise missing_error(
                "scheme",
                "a scheme to search, such as sfd or sfd|multi-red, or --for wred or cake",
            )
        return _parse_list("scheme", options.schemes)
    if options.for_ not in FAMILIES:
        raise field_error("for", options.for_, " or ".join(FAMILIES))
    if options.schemes:
        raise conflict_error("for", options.for_, "schemes", "give one of them")
    return FAMILIES[options.for_]


def _check_shape(wanted: _Wanted, link: Link) -> None:
    """Raises `MouseholeError` for a range of the shaper's rate that a direction of the link does not have."""
    asked = (word for one in wanted.ranges if one.name == SHAPER for word in one.words)
    words = [word for word in asked if word.endswith("%")]
    for one in (link, link.other):
        if one is not None and one.line_bps is not None and not one.has_own_shape:
            for word in words:
                _engine.shaped_rate("range", word, one.line_bps, one.varies)


def _refuse_shape(wanted: _Wanted) -> None:
    """Raises `MouseholeError` for a range of the shaper's rate on a link without one."""
    if any(one.name == SHAPER for one in wanted.ranges):
        try:
            check_ranges(wanted.ranges, wanted.templates)
        except MouseholeError:
            allowed = "given beside --shape, such as --shape 90%, which says that a modem is behind"
            raise field_error("range", SHAPER, allowed) from None


def _prepare(traffic: Source, options: TuneOptions, wanted: _Wanted) -> Prepared:
    """Returns traffic and plan, whose schemes are the references and the schemes to search.

    Reads the traffic. Raises `MouseholeError` for a fault in the input and for several buffers or loads.
    """
    others = [limit.reference for limit in wanted.goal.limits if limit.reference]
    schemes = _drop_duplicates([wanted.baseline, *REFERENCES, *others, *wanted.beside, *wanted.templates])
    shared = {item.name: getattr(options, item.name) for item in fields(RunOptions)}
    shared |= {"policy": None, "seeds": defaults.REPLICATIONS if options.seeds is None else options.seeds}
    asked = Options(**shared, schemes=schemes, baseline=wanted.baseline)
    prepared = prepare(traffic, asked, is_fitted=True, is_replaced=True)
    for field, given in (("buffer", prepared.plan.buffers), ("load", prepared.plan.loads)):
        if len(given) > 1:
            raise field_error(
                field, ",".join(map(str, given)), f"one {field}; a search is for one link and load"
            )
    return prepared


def _drop_duplicates(schemes: Iterable[str]) -> list[str]:
    """Returns the schemes without those that mean the same as an earlier one."""
    found: dict[object, str] = {}
    for scheme in schemes:
        found.setdefault(find_meaning(scheme), scheme)
    return list(found.values())


def _choose_where(prepared: Prepared, wanted: _Wanted, families: int, backend: Backend | None) -> Where:
    """Reports the cost of the search, and returns where its runs are.

    Times short runs for that. Raises `MouseholeError` if the memory is too small.
    """
    estimate, jobs, cores = forecast(prepared, backend)
    each_s = estimate.seconds(jobs, cores) / estimate.runs
    schemes = counted(families, "scheme")
    if wanted.trials is None:
        run = span_text(round(each_s, 2))
        text = f"a run takes about {run}; settings of {schemes} within {wanted.budget_s:g} s"
    else:
        runs = families * wanted.trials * wanted.search_seeds
        judged = len(prepared.plan.schemes) + families * _count_finalists(wanted, families)
        runs += judged * prepared.plan.replications
        most = span_text(round(runs * each_s))
        text = f"at most about {most}: {counted(wanted.trials, 'setting')} of {schemes}"
    prepared.reporter.say(f"{text} × {counted(wanted.search_seeds, 'replication')}")
    return Where(jobs, backend, None if backend is None else prepared.shipment)


def _run_search(
    prepared: Prepared, wanted: _Wanted, spaces: Sequence[Space], where: Where, begin: float
) -> tuple[Search, _Wanted]:
    """Runs the search within its number of trials or its time; returns it, and what is wanted from then on.

    The latter lacks default limits on quantities that this traffic does not have. Raises `MouseholeError` for
    a quantity that is unknown here, and as `Search.run_round`.
    """
    others = [limit.reference for limit in wanted.goal.limits if limit.reference]
    schemes = tuple(_drop_duplicates([wanted.baseline, *others]))
    plan = replace(prepared.plan, schemes=schemes, replications=wanted.search_seeds)
    search = Search(plan, prepared.traffic, spaces, wanted.goal, plan.base["seed"], where)
    search.run_references()
    wanted = replace(wanted, goal=search.without_unknown())
    _refuse_unknown(search, wanted)
    reporter = prepared.reporter
    try:
        if wanted.trials is not None:
            reporter.start(wanted.trials * len(spaces), "settings")
            while search.per_scheme < wanted.trials:
                search.run_round(min(ROUND, wanted.trials - search.per_scheme), reporter)
        else:
            _run_within(search, prepared, wanted, spaces, begin)
    finally:
        reporter.finish()
    return search, wanted


def _run_within(
    search: Search, prepared: Prepared, wanted: _Wanted, spaces: Sequence[Space], begin: float
) -> None:
    """Runs rounds while another one, the judgement and the sensitivity fit into the budget.

    At least one round is run. The time counts from `begin`, of `time.monotonic`. The progress is in seconds.
    """
    budget_s = wanted.budget_s or 0.0
    schemes = len(prepared.plan.schemes) + len(spaces) * _count_finalists(wanted, len(spaces))
    changed = 2 * max(len(space.dimensions) for space in spaces) + 1
    later = schemes * prepared.plan.replications + changed * min(
        wanted.sensitivity_seeds, prepared.plan.replications
    )
    prepared.reporter.start(round(budget_s), "seconds of the search")
    shown = 0
    while True:
        before, runs = time.monotonic(), search.runs
        search.run_round()
        now = time.monotonic()
        each_s = search.effort.wall_s / max(search.runs, 1)
        most_s = max(now - before, each_s * (search.runs - runs))
        for _ in range(shown, round(now - begin)):
            prepared.reporter.advance()
        shown = round(now - begin)
        if now - begin + most_s + later * each_s > budget_s:
            return


def _refuse_unknown(search: Search, wanted: _Wanted) -> None:
    """Raises `MouseholeError` for an objective or a given limit that some replication does not have."""
    goal = wanted.goal
    asked = [("objective", one.name, search.why_unknown(one)) for one in goal.objectives]
    asked += [
        ("limit", one.text, search.why_unknown(one.quantity, one.reference, one.is_relative))
        for one in goal.limits
        if not one.is_default
    ]
    for field, name, why in asked:
        if why:
            allowed = "about a quantity that every replication has; a longer --duration may give it"
            raise field_error(field, name, allowed, f"is about what is unknown here: {why}")


def _choose_finalists(trials: Sequence[Trial], wanted: _Wanted, spaces: Sequence[Space]) -> list[Trial]:
    """Returns the best settings of each scheme; for several objectives, points along its front.

    Each is feasible on the search's replications; settings that mean the same stand once. Empty if none is
    feasible.
    """
    chosen: list[Trial] = []
    most = _count_finalists(wanted, len(spaces))
    for space in spaces:
        own = [trial for trial in trials if trial.family == space.template]
        if len(wanted.goal.objectives) > 1:
            chosen += choose_evenly(find_front(own), most)
            continue
        feasible = {trial.scheme: trial for trial in reversed(own) if trial.is_feasible}.values()
        chosen += sorted(feasible, key=lambda trial: (trial.score.costs, trial.number))[:most]
    once: dict[object, Trial] = {}
    for trial in chosen:
        once.setdefault(find_meaning(trial.scheme), trial)
    return list(once.values())


def _count_finalists(wanted: _Wanted, families: int) -> int:
    """Returns the number of settings of each scheme that are judged at most."""
    if len(wanted.goal.objectives) > 1:
        return ON_FRONT
    return FINALISTS if families == 1 else FINALISTS_OF_MANY


def _unmet_limits_error(trials: Sequence[Trial], wanted: _Wanted) -> MouseholeError:
    """Returns the error that no setting is within the limits, with those that bind and the nearest setting.

    At least one setting ran all replications. Without limits it is the error of an objective that is unknown.
    """
    limits = wanted.goal.limits
    if not limits:
        objective = wanted.goal.objectives[0].name
        allowed = "a measure that every replication has under some setting"
        return field_error("objective", objective, allowed, "is unknown under every setting")
    whole = [trial for trial in trials if not trial.is_stopped]
    nearest = min(whole, key=lambda trial: (trial.score.violation, trial.score.costs))
    broken = [place for place in range(len(limits)) if nearest.score.excess[place] > 0]
    binding = [place for place in broken if all(trial.score.excess[place] > 0 for trial in whole)]
    each = " and ".join(f'"{limits[place].text}"' for place in binding)
    beyond = " and ".join(
        f'"{limits[place].text}" by {limits[place].amount(nearest.score.excess[place])}' for place in broken
    )
    said = f": each exceeds {each}" if each else ""
    return MouseholeError(
        f"none of {counted(len(trials), 'setting')} keeps the limits{said}; {nearest.scheme} comes nearest, "
        f"beyond {beyond}; allow more, or search another scheme",
        kind="value", field="limit", value=each,
    )  # fmt: skip


def _judge_finalists(
    prepared: Prepared, wanted: _Wanted, finalists: Sequence[Trial], where: Where
) -> Comparison:
    """Runs the finalists, their schemes' own settings and the references on unseen replications.

    Raises as `run_with_jobs` does.
    """
    schemes = _drop_duplicates([*prepared.plan.schemes, *(trial.scheme for trial in finalists)])
    plan = replace(prepared.plan, schemes=tuple(schemes), first_replication=wanted.search_seeds)
    return run_with_jobs(replace(prepared, plan=plan), where.jobs, where.backend)


def _choose_recommended(results: Results, cell: Cell, goal: Goal, finalists: Sequence[Trial]) -> Trial | None:
    """Returns the finalist within the limits with the smallest sum of costs; None if none is within.

    A finalist whose costs are unknown does not count.
    """
    known = {find_meaning(scheme): scheme for scheme in results.plan.schemes}

    def total(trial: Trial) -> float:
        """Returns the sum of the costs of all objectives, infinite if one is unknown."""
        scheme = known[find_meaning(trial.scheme)]
        changes = (
            objectives.to_cost(
                one, objectives.estimate_change(results, cell, one, scheme, results.plan.baseline).mean
            )
            for one in goal.objectives
        )
        return sum(changes)

    within = [
        trial
        for trial in finalists
        if all(
            one.keeps(objectives.estimate_excess(results, cell, one, known[find_meaning(trial.scheme)]).mean)
            for one in goal.limits
        )
        and isfinite(total(trial))
    ]
    return min(within, key=total) if within else None


@dataclass(frozen=True)
class _Sensitivity:
    """The runs of the recommended setting with one parameter changed at a time."""

    rows: tuple[SensitivityRow, ...]
    runs: int

    @classmethod
    def run(
        cls, prepared: Prepared, wanted: _Wanted, chosen: Trial, space: Space, where: Where
    ) -> "_Sensitivity":
        """Runs the recommended setting with one parameter changed at a time, on unseen replications.

        Returns a row per change and quantity. Changes that the engine refuses are left out.
        """
        moved = [
            (dimension, value, space.scheme({**chosen.values, dimension.name: value}))
            for dimension, value in space.neighbours(chosen.values)
        ]
        moved = [one for one in moved if is_accepted(prepared.plan, one[2])]
        schemes = tuple(_drop_duplicates([chosen.scheme, *(scheme for _, _, scheme in moved)]))
        count = min(wanted.sensitivity_seeds, prepared.plan.replications)
        plan = replace(
            prepared.plan, schemes=schemes, baseline=chosen.scheme, replications=count,
            first_replication=wanted.search_seeds,
        )  # fmt: skip
        found = run_with_jobs(replace(prepared, plan=plan), where.jobs, where.backend).results
        (cell,) = plan.cells
        rows = tuple(
            SensitivityRow(
                cell.buffer, cell.load, scheme, dimension.name, dimension.text(value),
                dimension.text(chosen.values[dimension.name]), one.name,
                objectives.estimate_change(found, cell, one, scheme, chosen.scheme).as_change(),
            )
            for dimension, value, scheme in moved
            if scheme in schemes
            for one in wanted.goal.quantities
        )  # fmt: skip
        return cls(rows, len(schemes) * count)


def _make_results(
    judged: Comparison, wanted: _Wanted, search: Search, finalists: Sequence[Trial], chosen: Trial | None,
    more: _Sensitivity | None,
) -> TuneResults:  # fmt: skip
    """Returns the results of the search, with the answer in sentences.

    `chosen` is None if no finalist is recommended, `more` if no parameter was changed.
    """
    results = judged.results
    (cell,) = results.plan.cells
    link = find_link_of_cell(results, cell)
    ways = find_settings(chosen.scheme, link) if chosen else None
    stopped = sum(trial.is_stopped for trial in search.trials)
    known = {find_meaning(scheme): scheme for scheme in results.plan.schemes}
    found = TuneResults(
        label=judged.label,
        goal=wanted.goal,
        baseline=wanted.baseline,
        families=wanted.templates,
        trials=_list_trial_rows(search.trials, wanted.goal, cell),
        judged=_list_judged_rows(results, cell, wanted, search.trials, finalists),
        limits=_list_limit_rows(results, cell, wanted.goal, finalists),
        recommended=known[find_meaning(chosen.scheme)] if chosen else None,
        family=chosen.family if chosen else None,
        lines=(),
        sensitivity=more.rows if more else (),
        settings=ways,
        why_nothing=explain_no_installation(chosen.scheme, link) if chosen else "",
        account=Account(
            search.per_scheme, len(search.trials), stopped, wanted.search_seeds, search.runs,
            len(results.plan.schemes), results.plan.replications, more.runs if more else 0,
            results.plan.base["seed"],
        ),
    )  # fmt: skip
    return replace(found, lines=write_answer(found, results, cell))


def _list_trial_rows(trials: Sequence[Trial], goal: Goal, cell: Cell) -> tuple[TrialRow, ...]:
    """Returns a row per setting tried and quantity; a change is relative, NaN if unknown."""
    on_front = {trial.scheme for trial in find_front(trials)}
    return tuple(
        TrialRow(
            cell.buffer, cell.load, trial.scheme, trial.family, trial.number, one.name, expm1(change),
            trial.replications, trial.is_stopped, trial.is_feasible, trial.scheme in on_front,
        )
        for trial in trials
        for one, change in zip(goal.quantities, trial.score.changes, strict=True)
    )  # fmt: skip


def _list_judged_rows(
    results: Results, cell: Cell, wanted: _Wanted, trials: Sequence[Trial], finalists: Sequence[Trial]
) -> tuple[JudgedRow, ...]:
    """Returns a row per judged scheme, quantity and reference.

    The references are the baseline, the schemes of limits, FQ-CoDel, CAKE and the scheme's own setting.
    """
    seen = {find_meaning(trial.scheme): trial for trial in reversed(trials) if not trial.is_stopped}
    chosen = {find_meaning(trial.scheme) for trial in finalists}
    own = {find_meaning(template): template for template in wanted.templates}
    plan, rows = results.plan, []
    known = {find_meaning(scheme): scheme for scheme in plan.schemes}
    rivals = [known[find_meaning(rival)] for rival in ("fq-codel", "cake")]
    limited = [limit.reference for limit in wanted.goal.limits if limit.reference]
    for scheme in plan.schemes:
        what = find_meaning(scheme)
        trial = seen.get(what)
        role = FINALIST if what in chosen else DEFAULT if what in own else REFERENCE
        family = trial.family if trial else ""
        against = [plan.baseline, *rivals, *limited]
        against += [known[find_meaning(family)]] if family else []
        for place, one in enumerate(wanted.goal.quantities):
            for reference in dict.fromkeys(against):
                if reference == scheme:
                    continue
                is_primary = one in wanted.goal.objectives
                found = objectives.estimate_change(
                    results, cell, one, scheme, reference, is_primary
                ).as_change()
                where = expm1(trial.score.changes[place]) if trial and reference == plan.baseline else None
                shrinkage = None if where is None else (1 + found.mean) / (1 + where) - 1
                rows.append(
                    JudgedRow(
                        cell.buffer,
                        cell.load,
                        scheme,
                        family,
                        role,
                        one.name,
                        reference,
                        where,
                        found,
                        shrinkage,
                    )
                )
    return tuple(rows)


def _list_limit_rows(
    results: Results, cell: Cell, goal: Goal, finalists: Sequence[Trial]
) -> tuple[LimitRow, ...]:
    """Returns a row per finalist and limit."""
    rows = []
    known = {find_meaning(scheme): scheme for scheme in results.plan.schemes}
    for trial in finalists:
        scheme = known[find_meaning(trial.scheme)]
        for limit in goal.limits:
            excess = objectives.estimate_excess(results, cell, limit, scheme)
            kept = KEPT if excess.has_interval and excess.high <= 0 else NOT_SHOWN
            outcome = kept if limit.keeps(excess.mean) else BROKEN
            shown, unit = (excess.as_change(), "") if limit.is_relative else (excess, limit.quantity.unit)
            rows.append(LimitRow(cell.buffer, cell.load, scheme, limit.text, shown, unit, outcome))
    return tuple(rows)
