"""What loads of a page under several schemes found: the loads as they were, and the rows of the table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import nan
from statistics import median_low

import numpy as np

from mousehole import _engine
from mousehole.base import REVISION
from mousehole.page._progress import speed_index_s
from mousehole.page._trial import Fetch, Load
from mousehole.runs import none_to_nan
from mousehole.statistics import (
    Design,
    Estimate,
    effective_comparisons,
    log_ratio,
    paired_logs,
    positive_interval,
    t_interval,
)

Figure = Callable[[Load], float | None]

FIGURES: Mapping[str, Figure] = {
    "first_paint": lambda load: load.first_paint_s,
    "largest_paint": lambda load: load.largest_paint_s,
    "speed_index": lambda load: speed_index_s(load.progress),
    "load": lambda load: load.load_s,
}
"""What is compared, by name. The load is the primary endpoint, the others are exploratory."""
PRIMARY = "load"
SETTLE_SPREAD_S = 1.0
"""The time for which downloads settle is longer by up to so much, drawn for each round."""


def make_draws(seed: int, number: int) -> np.random.Generator:
    """Returns the generator of a round's random numbers; the first is its share of `SETTLE_SPREAD_S`.

    The same seed and round give the same numbers.
    """
    return np.random.default_rng([seed, number])


@dataclass(frozen=True)
class Setting:
    """What all loads have in common."""

    page: str
    size: int
    """Bytes of all bodies that the server has."""
    notes: tuple[str, ...]
    version: str
    """Of HTTP."""
    bulk: int
    congestion: str
    """Congestion control of the server, by the kernel's name."""
    rate: str
    rtt: str
    buffer: str
    settle_s: float
    timeout_s: float
    seed: int
    uplink: str | None
    policy: str | None


@dataclass(frozen=True)
class Trial:
    """One load under one scheme."""

    scheme: str
    round: int
    load: Load
    link: Mapping[str, object] | None
    """What the link said of itself (its JSON), None where there was none."""
    invalid: str = ""
    """Why the link was not what it should have been, empty if it was."""
    repeats: int = 0
    """How many loads before it were given up for such a reason."""

    @property
    def counts(self) -> bool:
        """Returns whether its times are compared: the page was loaded over a valid link."""
        return self.load.outcome == "loaded" and not self.invalid


@dataclass(frozen=True)
class SchemeRow:
    """One scheme: its times in seconds, and their changes against the baseline."""

    scheme: str
    loads: int
    """Loads that are compared."""
    missing: tuple[str, ...]
    """Why each of the others is not, in order of their rounds."""
    objects: float
    """Mean number of objects that arrived whole."""
    incomplete: float
    """Mean number of those that did not."""
    times: Mapping[str, Estimate]
    changes: Mapping[str, Estimate]
    """Relative change of the mean, −0.3 is 30 % less; not for the baseline."""
    bulk_bps: Estimate


@dataclass(frozen=True)
class PageResults:
    """All loads, with the baseline first among the schemes."""

    setting: Setting
    schemes: tuple[str, ...]
    baseline: str
    rounds: int
    trials: tuple[Trial, ...]

    @property
    def manifest(self) -> dict[str, object]:
        """Returns the page, the link, the number of loads, and the version that measured them."""
        return {
            "mousehole_version": _engine.__version__,
            "git_revision": REVISION,
            **asdict(self.setting),
            "baseline": self.baseline,
            "loads": self.rounds,
        }

    def trials_under(self, scheme: str) -> list[Trial]:
        """Returns the loads under a scheme in order of their rounds."""
        return sorted((one for one in self.trials if one.scheme == scheme), key=lambda one: one.round)

    def values(self, scheme: str, figure: str) -> list[float]:
        """Returns a figure of `FIGURES` by round in seconds, NaN for rounds that do not count."""
        found = [nan] * self.rounds
        for trial in self.trials_under(scheme):
            found[trial.round] = none_to_nan(FIGURES[figure](trial.load) if trial.counts else None)
        return found

    def change(self, scheme: str, figure: str) -> Estimate:
        """Returns the change of a figure's mean against the baseline, paired by round.

        NaN without a round in which both count.
        """
        base = self.values(self.baseline, figure)
        return log_ratio(self.values(scheme, figure), base, self._design(figure)).as_change()

    def _design(self, figure: str) -> Design:
        """Returns the design of a figure's intervals.

        Those of the primary figure hold for all schemes together, and are exact for one scheme otherwise.
        """
        if figure != PRIMARY:
            return Design()
        base = self.values(self.baseline, figure)
        others = [self.values(scheme, figure) for scheme in self.schemes if scheme != self.baseline]
        return Design(effective_comparisons(paired_logs(own, base) for own in others))

    def rows(self) -> list[SchemeRow]:
        """Returns a row per scheme, in the order of schemes."""
        return [self._row(scheme) for scheme in self.schemes]

    def middle(self, scheme: str) -> Trial | None:
        """Returns the load with the scheme's median time, the lower of two; None if no load counts."""
        own = [trial for trial in self.trials_under(scheme) if trial.counts]
        if not own:
            return None
        middle = median_low([trial.load.load_s or 0.0 for trial in own])
        return next(trial for trial in own if trial.load.load_s == middle)

    def _row(self, scheme: str) -> SchemeRow:
        """Returns the row of a scheme: its loads, means of its times, and changes against the baseline."""
        own = self.trials_under(scheme)
        counted = [trial.load for trial in own if trial.counts]
        whole = [sum(fetch.is_complete for fetch in load.fetches) for load in counted]
        rest = [len(load.fetches) - good for load, good in zip(counted, whole, strict=True)]
        others = [figure for figure in FIGURES if scheme != self.baseline]
        return SchemeRow(
            scheme=scheme,
            loads=len(counted),
            missing=tuple(trial.invalid or trial.load.reason for trial in own if not trial.counts),
            objects=_mean_or_nan(whole),
            incomplete=_mean_or_nan(rest),
            times={figure: positive_interval(self.values(scheme, figure)) for figure in FIGURES},
            changes={figure: self.change(scheme, figure) for figure in others},
            bulk_bps=t_interval([none_to_nan(load.bulk_bps) for load in counted]),
        )


def sort_by_request(fetches: Sequence[Fetch]) -> list[Fetch]:
    """Returns fetches in the order in which the page asked for them."""
    return sorted(fetches, key=lambda one: one.queued_s)


def _mean_or_nan(values: Sequence[int]) -> float:
    """Returns the mean; NaN for an empty sequence."""
    return sum(values) / len(values) if values else nan
