"""Searches settings of schemes with Optuna: the same replications for all, bad ones stopped early.

Every setting meets the same traffic (common random numbers), replication by replication, and is compared with
the references on the replications that it has run. Settings are tried in rounds of a fixed size, so that what
is tried next does not depend on how many runs go in parallel.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from mousehole import _engine
from mousehole.base import Bucket, MouseholeError, Reporter, Silent, field_error
from mousehole.engine_types import Manifest
from mousehole.runs import (
    Backend,
    Cell,
    Facts,
    Plan,
    Results,
    RunFacts,
    Shipment,
    Task,
    reduce_run,
    run_all,
)
from mousehole.scenario import fill_in
from mousehole.tuning import objectives
from mousehole.tuning._search_space import Space, Value, Values
from mousehole.tuning.objectives import Goal, Limit, Quantity

ROUND = 4
"""Settings of each scheme that are tried at once, before the search learns from them."""
LEAST_BEFORE_STOP = 4
"""A setting is stopped early only if at least this many others have run as many replications."""
STARTUP = 8
"""Settings of each scheme that are drawn at random before the search follows a model of what was found."""
MOST_DRAWS = 50
"""Settings that the engine may refuse in a row, because parameters exclude each other."""
WORST = 1e6
"""Stands for a quantity that is unknown under a setting, such as a percentile of too few transfers."""


@dataclass(frozen=True)
class Score:
    """What a setting reached on some replications: changes against references, as logarithms of ratios."""

    costs: tuple[float, ...]
    """One per objective; less is better."""
    excess: tuple[float, ...]
    """One per limit; above 0 it is broken by so much, as `Limit.weight` has it."""
    changes: tuple[float, ...]
    """The change of each quantity of the goal against the baseline."""

    @property
    def violation(self) -> float:
        """Returns the sum of the excesses above 0 over the limits; 0 if all hold.

        Excesses are as `Limit.weight` has them.
        """
        return sum(max(one, 0.0) for one in self.excess)

    def dominates(self, other: "Score") -> bool:
        """Returns whether it breaks the limits less, or equally and is better and nowhere worse.

        Source: K. Deb, "An efficient constraint handling method for genetic algorithms", Computer Methods in
        Applied Mechanics and Engineering 186 (2000).
        """
        if self.violation or other.violation:
            return self.violation < other.violation
        pairs = list(zip(self.costs, other.costs, strict=True))
        return all(own <= its for own, its in pairs) and any(own < its for own, its in pairs)


@dataclass(frozen=True)
class Trial:
    """A setting that was tried."""

    family: str
    """The scheme as the user gave it."""
    number: int
    """From 0 within the family; 0 is the scheme's own setting."""
    scheme: str
    values: Values
    score: Score
    """Over the replications that it has run."""
    replications: int
    is_stopped: bool
    """Whether it was stopped before the last replication of the search."""

    @property
    def is_feasible(self) -> bool:
        """Returns whether it ran all replications of the search and is within all limits on them.

        A trial with an unknown cost is not feasible.
        """
        return not self.is_stopped and not self.score.violation and all(map(isfinite, self.score.costs))


@dataclass(frozen=True)
class Where:
    """Where runs are: in `jobs` threads of this process, or by a backend, to which the traffic is shipped."""

    jobs: int
    backend: Backend | None = None
    shipment: Shipment | None = None


@dataclass(frozen=True)
class Effort:
    """What a part of the work took."""

    runs: int
    wall_s: float


@dataclass
class _Candidate:
    """A setting in the search: its place in the study, its values, and its scores so far."""

    space: Space
    study: Any
    asked: Any
    number: int
    scheme: str
    values: Values
    scores: list[Score] = field(default_factory=list)
    """After each replication."""
    is_stopped: bool = False


class Search:
    """A search of several schemes at once; `plan` has the references, and the replications of the search."""

    def __init__(
        self, plan: Plan, traffic: _engine.Traffic | None, spaces: Sequence[Space], goal: Goal, seed: int,
        where: Where,
    ) -> None:  # fmt: skip
        """Creates the study of each space, with a random stream of its own that follows from `seed`.

        The clock of `effort` starts.
        """
        self._plan, self._traffic, self._spaces, self._goal, self._where = plan, traffic, spaces, goal, where
        self._facts: dict[tuple[str, int], RunFacts] = {}
        self._studies = [
            _make_study(space, goal, _derive_seed(seed, place)) for place, space in enumerate(spaces)
        ]
        self._asked = 0
        self._reached: dict[tuple[str, int], list[Score]] = {}
        self.trials: list[Trial] = []
        self.runs = 0
        self._begin = time.monotonic()

    @property
    def per_scheme(self) -> int:
        """Returns the number of settings tried of each scheme."""
        return self._asked

    @property
    def effort(self) -> Effort:
        """Returns the runs and the wall time since the search was created."""
        return Effort(self.runs, time.monotonic() - self._begin)

    def run_references(self) -> None:
        """Runs the references on all replications of the search; must be called before any round.

        Adds to `runs`. Raises `Stopped` on Ctrl-C, as `run_round` does.
        """
        for replication in range(self._plan.replications):
            self._run([(scheme, replication) for scheme in self._plan.schemes])

    def without_unknown(self) -> Goal:
        """Returns the goal without the default limits on quantities that the references do not have.

        The search uses it from then on. `run_references` must have been called before.
        """
        limits = (
            one
            for one in self._goal.limits
            if not one.is_default or not self.why_unknown(one.quantity, one.reference, one.is_relative)
        )
        self._goal = replace(self._goal, limits=tuple(limits))
        return self._goal

    def why_unknown(self, one: Quantity, reference: str | None = None, is_relative: bool = True) -> str:
        """Returns a clause on why changes against a reference, or else the baseline, are unknown.

        Empty if they are known. `run_references` must have been called before.
        """
        (cell,) = self._plan.cells
        results = self._results(self._plan.schemes, self._plan.replications)
        scheme = reference or self._plan.baseline
        values = results.values(cell, scheme, one.source)
        if not values.size or not np.isfinite(values).all():
            return one.why_unknown
        return f"it is 0 under {scheme}" if is_relative and not values.any() else ""

    def run_round(self, size: int = ROUND, reporter: Reporter | None = None) -> None:
        """Tries `size` more settings of each scheme, and stops hopeless ones early.

        It goes replication by replication. Adds to `trials` and `runs`, and tells the studies the scores.
        Advances `reporter` once for each setting. Raises `MouseholeError` as `_ask` does and for a run that
        was given up, `Stopped` on Ctrl-C.
        """
        shown = reporter or Silent()
        candidates = [
            self._ask(space, study, self._asked + more)
            for space, study in zip(self._spaces, self._studies, strict=True)
            for more in range(size)
        ]
        self._asked += size
        last = self._plan.replications
        for replication in range(last):
            live = [one for one in candidates if not one.is_stopped]
            self._run([(one.scheme, replication) for one in live])
            for one in live:
                one.scores.append(self._score(one.scheme, replication + 1))
            if replication + 1 < last:
                for one in live:
                    earlier = self._reached.get((one.space.template, replication), [])
                    one.is_stopped = one.number > 0 and _is_hopeless(one.scores[-1], earlier)
        for one in candidates:
            self._tell(one)
            shown.advance()

    def _ask(self, space: Space, study: Any, number: int) -> _Candidate:
        """Returns the next setting of a scheme; one that the engine refuses is drawn again.

        Setting 0 is the scheme as given. Advances the study; refused settings are reported to it as failed.
        Raises `MouseholeError` after `MOST_DRAWS` refused settings.
        """
        from optuna.trial import TrialState

        for _ in range(MOST_DRAWS):
            asked = study.ask()
            chosen = {dimension.name: _suggest_value(asked, dimension) for dimension in space.dimensions}
            if number == 0:
                return _Candidate(space, study, asked, number, space.template, space.defaults())
            values = space.values(chosen)
            scheme = space.scheme(values)
            if is_accepted(self._plan, scheme):
                return _Candidate(space, study, asked, number, scheme, values)
            study.tell(asked, state=TrialState.FAIL)
        allowed = "a scheme whose parameters do not exclude each other so often, or more of them given"
        raise field_error("scheme", space.template, allowed, f"had {MOST_DRAWS} settings refused")

    def _tell(self, one: _Candidate) -> None:
        """Reports the score of a setting to its study, and adds it to `trials` and to the scores reached.

        Unknown costs count as `WORST`.
        """
        for place, reached in enumerate(one.scores):
            self._reached.setdefault((one.space.template, place), []).append(reached)
        score, family, count = one.scores[-1], one.space.template, len(one.scores)
        for place, excess in enumerate(score.excess):
            one.asked.set_constraint(str(place), excess)
        one.study.tell(one.asked, [min(cost, WORST) for cost in score.costs])
        self.trials.append(Trial(family, one.number, one.scheme, one.values, score, count, one.is_stopped))

    def _run(self, wanted: Iterable[tuple[str, int]]) -> None:
        """Runs the replications of schemes that have not been run yet, and stores their facts.

        `wanted` are pairs of scheme and replication. Adds to `runs`. Raises what `run_all` raises.
        """
        missing = [key for key in dict.fromkeys(wanted) if key not in self._facts]
        (cell,) = self._plan.cells
        scenarios = {key: self._plan.scenario(cell, *key) for key in missing}
        reduce = partial(reduce_without_times, buckets=self._plan.buckets)
        account = partial(_describe_stop, len(self.trials))
        self._facts |= run_all(
            scenarios, reduce, Silent(), self._where.jobs, self._traffic, account,
            backend=self._where.backend, shipment=self._where.shipment,
            name=lambda key: f"scheme {key[0]}, replication {key[1]}",
        )  # fmt: skip
        self.runs += len(missing)

    def _score(self, scheme: str, count: int) -> Score:
        """Returns the score of a scheme over its first `count` replications, which have been run.

        Those of the references have been run, too.
        """
        (cell,) = self._plan.cells
        others = [limit.reference for limit in self._goal.limits if limit.reference]
        schemes = tuple(dict.fromkeys([self._plan.baseline, *others, scheme]))
        results = self._results(schemes, count)
        return compute_score(results, cell, self._goal, scheme)

    def _results(self, schemes: tuple[str, ...], count: int) -> Results:
        """Returns results of these schemes over the first `count` replications, which have been run."""
        plan = replace(self._plan, schemes=schemes, replications=count)
        facts: Facts = {
            Task(0, number, replication): self._facts[scheme, replication]
            for number, scheme in enumerate(schemes)
            for replication in range(count)
        }
        nothing: Manifest = {}  # type: ignore[typeddict-item]
        return Results(plan, facts, "", nothing, None)


def is_accepted(plan: Plan, scheme: str) -> bool:
    """Returns whether the engine accepts a setting on this link; runs nothing."""
    try:
        fill_in(plan.scenario(plan.cells[0], scheme))
    except MouseholeError:
        return False
    return True


def compute_score(results: Results, cell: Cell, goal: Goal, scheme: str) -> Score:
    """Returns the score of a scheme, from results that have the references of the goal as well.

    Costs, excesses and changes are NaN where a quantity is unknown, but for what `_weigh_excess` replaces.
    """

    def changed(one: objectives.Quantity) -> float:
        """Returns the logarithm of a quantity's ratio to the baseline, NaN if it is unknown."""
        return objectives.estimate_change(results, cell, one, scheme, results.plan.baseline).mean

    return Score(
        costs=tuple(objectives.to_cost(one, changed(one)) for one in goal.objectives),
        excess=tuple(
            _weigh_excess(limit, objectives.estimate_excess(results, cell, limit, scheme).mean)
            for limit in goal.limits
        ),
        changes=tuple(changed(one) for one in goal.quantities),
    )


def find_front(trials: Iterable[Trial]) -> list[Trial]:
    """Returns the feasible trials that no other one dominates, each scheme once, sorted by their costs.

    Of equal schemes the last one counts.
    """
    feasible = {trial.scheme: trial for trial in trials if trial.is_feasible}.values()
    kept = [one for one in feasible if not any(other.score.dominates(one.score) for other in feasible)]
    return sorted(kept, key=lambda trial: (*trial.score.costs, trial.number))


def reduce_without_times(result: _engine.RunResult, buckets: tuple[Bucket, ...]) -> RunFacts:
    """Returns the facts of a run without the times of single transfers, which the search does not compare."""
    return replace(reduce_run(result, buckets), short_times=None)


def _is_hopeless(own: Score, earlier: Sequence[Score]) -> bool:
    """Returns whether more than half of the earlier settings were better after as many replications.

    With one objective this is the median stopping rule: D. Golovin et al., "Google Vizier: a service for
    black-box optimization", KDD 2017. With m it is a part of 2^-m, which is how often a setting in the middle
    of each of m independent objectives is worse in all of them. Optuna's pruners know one objective only.
    """
    if len(earlier) < LEAST_BEFORE_STOP:
        return False
    better = sum(other.dominates(own) for other in earlier)
    return better << len(own.costs) > len(earlier)


def _make_study(space: Space, goal: Goal, seed: int) -> Any:
    """Returns an Optuna study with the TPE sampler, whose first setting is the scheme's own.

    Equal seeds draw equal settings. Silences Optuna's messages in this process.
    """
    import optuna  # takes a fifth of a second to load

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=STARTUP)
    study = optuna.create_study(sampler=sampler, directions=["minimize"] * len(goal.objectives))
    defaults = space.defaults()
    study.enqueue_trial({dimension.name: dimension.start(defaults) for dimension in space.dimensions})
    return study


def _derive_seed(seed: int, place: int) -> int:
    """Returns the seed of the search of scheme number `place`.

    Searches that differ in their scheme or in the user's seed draw independently.
    """
    return int(np.random.SeedSequence([seed, place]).generate_state(1)[0])


def _suggest_value(asked: Any, dimension: Any) -> Value:
    """Returns the value of a dimension that the study suggests: a choice, or a number of its range.

    Draws from the study's sampler. Of a tied parameter it is the part or the multiple.
    """
    kind = dimension.kind
    if kind is None:
        return str(asked.suggest_categorical(dimension.name, list(dimension.choices)))
    is_tied = dimension.part_of is not None or dimension.times is not None
    if kind.is_whole and not is_tied:
        low, high = round(dimension.low), round(dimension.high)
        return float(asked.suggest_int(dimension.name, low, high, log=kind.is_log))
    is_log = kind.is_log or dimension.times is not None
    return float(asked.suggest_float(dimension.name, dimension.low, dimension.high, log=is_log))


def _weigh_excess(limit: Limit, beyond: float) -> float:
    """Returns an excess over a limit as the search adds them up: a share of the allowed change.

    An unknown one is `WORST`, or 0 for a default limit.
    """
    if isfinite(beyond):
        return limit.weight(beyond)
    return 0.0 if limit.keeps(beyond) else WORST


def _describe_stop(trials: int, done: dict[Any, Any]) -> str:  # noqa: ARG001 (what the pool calls it with)
    """Returns the sentence on the number of settings that were tried before a stop."""
    settings = "1 setting" if trials == 1 else f"{trials} settings"
    return f"stopped after {settings}; nothing was written"
