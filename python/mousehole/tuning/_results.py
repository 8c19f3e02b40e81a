"""What a search of settings found, as data: plain rows, which `_report` and `_pareto` show."""

from dataclasses import dataclass

from mousehole.answer import Settings
from mousehole.runs import Row
from mousehole.statistics import Estimate
from mousehole.tuning.objectives import Goal

FINALIST, DEFAULT, REFERENCE = "finalist", "its own setting", "reference"
KEPT, NOT_SHOWN, BROKEN = "kept", "not shown", "broken"


@dataclass(frozen=True)
class TrialRow(Row):
    """One setting that was tried, and one of its quantities on the replications of the search."""

    family: str
    """The scheme as the user gave it."""
    number: int
    """From 0 within the family; 0 is the scheme's own setting."""
    quantity: str
    change: float
    """Against the baseline: −0.3 is 30 % less."""
    replications: int
    is_stopped: bool
    """Whether it was stopped early."""
    is_feasible: bool
    """Whether it ran all replications of the search and keeps the limits on them."""
    is_front: bool
    """Whether no other setting of any scheme is better in every objective."""


@dataclass(frozen=True)
class JudgedRow(Row):
    """One scheme judged on replications that the search has not seen, in one quantity."""

    family: str
    role: str
    """finalist, its own setting (as it was before the search), or reference."""
    quantity: str
    reference: str
    """The scheme that it is compared with."""
    seen: float | None
    """The change on the replications of the search, against the baseline; None if it was not tried there."""
    unseen: Estimate
    """The change on the others; the intervals of objectives hold together for all schemes."""
    shrinkage: float | None
    """The ratio of unseen to seen, less one: 0.05 is a time 5 % longer than it looked where it was chosen."""


@dataclass(frozen=True)
class LimitRow(Row):
    """One finalist and one limit, on the unseen replications."""

    limit: str
    excess: Estimate
    """How far beyond the limit, as a ratio less one, where −0.05 is 5 % below it, or in the limit's unit."""
    unit: str
    """The unit of the excess, such as `seconds`; empty for a ratio."""
    outcome: str
    """kept: the interval lies below; not shown: the mean does; broken: the mean is beyond."""


@dataclass(frozen=True)
class SensitivityRow(Row):
    """The recommended setting with one parameter changed, on unseen replications."""

    parameter: str
    value: str
    recommended: str
    """The parameter's value in the recommended setting."""
    quantity: str
    change: Estimate
    """Against the recommended setting."""


@dataclass(frozen=True)
class Account:
    """The runs of a search; the same for the same number of trials, whatever the machine."""

    trials_per_scheme: int
    trials: int
    stopped: int
    search_replications: int
    search_runs: int
    judged_schemes: int
    judged_replications: int
    sensitivity_runs: int
    seed: int


@dataclass(frozen=True)
class Spent:
    """The time that the work took, which is no part of the results."""

    search_s: float
    judged_s: float
    sensitivity_s: float
    budget_s: float | None


@dataclass(frozen=True)
class TuneResults:
    """Everything that a search found."""

    label: str
    """Name of the traffic and the link, for titles."""
    goal: Goal
    baseline: str
    families: tuple[str, ...]
    trials: tuple[TrialRow, ...]
    judged: tuple[JudgedRow, ...]
    limits: tuple[LimitRow, ...]
    recommended: str | None
    """The finalist that is best within the limits on unseen replications; None if none keeps them."""
    family: str | None
    """The scheme as the user gave it of which it is a setting."""
    lines: tuple[str, ...]
    """The answer in sentences."""
    sensitivity: tuple[SensitivityRow, ...]
    settings: Settings | None
    """How the recommended setting is installed; None if nothing installs it."""
    why_nothing: str
    """Why nothing installs the recommended setting, as a clause; empty if something does or there is none."""
    account: Account

    def change(self, scheme: str, quantity: str, reference: str | None = None) -> JudgedRow | None:
        """Returns the row of a scheme and quantity; None if it was not judged.

        `reference` is the baseline by default.
        """
        wanted = (scheme, quantity, reference or self.baseline)
        return next((row for row in self.judged if (row.scheme, row.quantity, row.reference) == wanted), None)
