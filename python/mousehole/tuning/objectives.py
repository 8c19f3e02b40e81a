"""What a search of settings wants: quantities to lower or raise, and limits of what others may pay.

A quantity, which users give as MEASURE, is named by whose it is and what of it: `short mean`, `long p95`,
`page mean`, `queue p99`. All changes are geometric means of the replications' ratios, by the statistics of
`compare`.
"""

import re
from dataclasses import dataclass
from math import isfinite, log1p
from typing import cast

from mousehole import _engine
from mousehole import quantities as measured
from mousehole.answer import PAGES, InBucket, OfGroup, OfKind, OfScheme, source_of
from mousehole.base import MouseholeError, field_error, unknown_error
from mousehole.runs import Cell, Results
from mousehole.statistics import Design, Estimate, log_ratio

_LIMIT = re.compile(
    r"(?P<quantity>[^+\-−<>=]+?)\s*(?P<change>[+\-−]\s*[0-9.]+)\s*%(\s+against\s+(?P<other>.+))?"
)
_FORM = 'MEASURE ±N%, such as "long mean +10%", perhaps with "against SCHEME"'


@dataclass(frozen=True)
class Quantity:
    """A figure of a scheme, by which settings are compared."""

    name: str
    """As users write it, such as `short p99`."""
    source: InBucket | OfScheme | OfGroup | OfKind

    @property
    def smaller_is_better(self) -> bool:
        """Whether a decrease is wanted."""
        return self.source.quantity.less_is_better

    @property
    def words(self) -> str:
        """What is measured, in words."""
        if isinstance(self.source, OfKind):
            return self.source.measure.words
        return self.source.quantity.words_about(f"{self.source.role} transfers")


@dataclass(frozen=True)
class Limit:
    """How far a quantity may change against a scheme."""

    quantity: Quantity
    change: float
    """The relative change allowed: 0.1 is 10 % more."""
    reference: str | None
    """The scheme it is compared with; None is the baseline."""

    @property
    def text(self) -> str:
        """The limit as users write it, such as `long mean +10%`."""
        sign = "−" if self.change < 0 else "+"
        other = f" against {self.reference}" if self.reference else ""
        return f"{self.quantity.name} {sign}{abs(100 * self.change):g}%{other}"

    def excess(self, log_change: float) -> float:
        """Returns by how much a change, on a logarithmic scale, is beyond the limit; at most 0 keeps it."""
        over = log_change - log1p(self.change)
        return over if self.quantity.smaller_is_better else -over


@dataclass(frozen=True)
class Goal:
    """What a search is to find."""

    objectives: tuple[Quantity, ...]
    limits: tuple[Limit, ...]

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Everything that is measured for the goal; long transfers stand for the price if nothing does."""
        wanted = (*self.objectives, *(limit.quantity for limit in self.limits))
        named = {quantity.name: quantity for quantity in wanted}
        if len(named) == 1 and "long mean" not in named:
            named["long mean"] = quantities()["long mean"]
        return tuple(named.values())

    @property
    def prices(self) -> tuple[Quantity, ...]:
        """The quantities that may pay for the first objective."""
        return tuple(one for one in self.quantities if one != self.objectives[0])


def quantities() -> dict[str, Quantity]:
    """Returns every quantity by its name."""
    found: dict[str, Quantity] = {}
    for measure in measured.measures():
        one = measure.quantity
        if measure.asked_as is not None:
            found[measure.asked_as] = Quantity(measure.asked_as, source_of(measure))
    for one in measured.about("application"):
        if one.measure is not None and not one.primary_of:
            found[one.measure] = Quantity(one.measure, OfGroup("all", PAGES))
    return found


def quantity(field: str, text: str) -> Quantity:
    """Returns a quantity by its name; raises `MouseholeError` for an unknown one, with the nearest name."""
    name = " ".join(text.split())
    known = quantities()
    if name not in known:
        raise unknown_error(field, "measure", name, list(known))
    return known[name]


def limit(field: str, text: str) -> Limit:
    """Reads a limit such as `long mean +10%` or `long mean +5% against fq-codel`."""
    found = _LIMIT.fullmatch(" ".join(text.split()))
    if not found:
        raise field_error(field, text, _FORM)
    number = found["change"].replace("−", "-").replace(" ", "")
    try:
        share = float(number) / 100
    except ValueError:
        raise field_error(field, text, _FORM) from None
    if not -1 < share <= 100:
        raise field_error(field, text, "a change above −100 % and at most 10000 %")
    other = found["other"]
    if other is not None:
        check_scheme(field, other)
    return Limit(quantity(field, found["quantity"]), share, other)


def check_scheme(field: str, scheme: str) -> None:
    """Raises `MouseholeError` about `field` for a scheme that there is not."""
    try:
        _engine.scheme_parameters(scheme)
    except MouseholeError as error:
        raise error.renamed({"scheme": field}) from None


def change(
    results: Results, cell: Cell, one: Quantity, scheme: str, reference: str, is_primary: bool = False
) -> Estimate:
    """Returns the logarithm of the ratio of a quantity under `scheme` to that under `reference`.

    With `is_primary` the intervals hold together for all schemes of the results, as those of compare's
    primary endpoint do.
    """
    own, other = (one.source.values(results, cell, name) for name in (scheme, reference))
    design = family_design(results, cell, one, reference) if is_primary else results.design(cell)
    return log_ratio(own, other, design) if own.shape == other.shape else log_ratio([], [])


def family_design(results: Results, cell: Cell, one: Quantity, reference: str) -> Design:
    """Returns the design of intervals of a quantity that hold together for all schemes of the results."""
    key = (f"design of {one.name} against {reference}", cell)
    if key not in results.kept:
        family = {scheme: one.source.values(results, cell, scheme) for scheme in results.plan.schemes}
        results.kept[key] = [results.design(cell, family, reference)]
    return cast("Design", results.kept[key][0])


def cost(one: Quantity, log_change: float) -> float:
    """Returns a change as something to lower, infinite where the quantity is unknown."""
    if not isfinite(log_change):
        return float("inf")
    return log_change if one.smaller_is_better else -log_change
