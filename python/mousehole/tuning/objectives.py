"""What a search of settings wants: quantities to lower or raise, and limits of what others may pay.

A quantity, which users give as MEASURE, is named by its subject and its figure: `short mean`, `long p95`,
`page mean`, `queue p99`. All changes are geometric means of the replications' ratios, by the statistics of
`compare`.
"""

from dataclasses import dataclass
from math import expm1, isfinite, log1p
from typing import cast

import numpy as np

from mousehole import _engine
from mousehole import quantities as measured
from mousehole._engine import Source
from mousehole.answer import PAGES, find_source, vetoes
from mousehole.base import MouseholeError, field_error, percent, unknown_error
from mousehole.runs import Cell, Results
from mousehole.statistics import Design, Estimate, difference, log_ratio

_FORM = (
    'MEASURE ±N% or, of calls and the like, ±Nms, such as "long mean +10%" or "calls p95 +5ms", perhaps with '
    '"against SCHEME"'
)


@dataclass(frozen=True)
class Quantity:
    """A figure of a scheme, by which settings are compared."""

    name: str
    """As users write it, such as `short p99`."""
    source: Source

    @property
    def smaller_is_better(self) -> bool:
        """Returns whether a decrease is wanted."""
        return self.source.quantity.less_is_better

    @property
    def unit(self) -> str:
        """Returns the unit, as in the table of quantities."""
        return self.source.quantity.unit

    @property
    def why_unknown(self) -> str:
        """Returns a clause on why some traffic does not have it."""
        if self.source.kind:
            return f"no {self.source.kind.replace('_', ' ')}"
        if self.source.group:
            return "no pages"
        return "too few such transfers (a p99 needs 100, a p95 20)"

    @property
    def description(self) -> str:
        """Returns the quantity as text, such as `mean response time of short transfers`."""
        if self.source.kind:
            return measured.Measure(self.source.quantity, kind=self.source.kind).description
        return self.source.quantity.describe(f"{self.source.role} transfers")


@dataclass(frozen=True)
class Limit:
    """How far a quantity may change against a scheme."""

    quantity: Quantity
    change: float
    """The change allowed: relative, where 0.1 is 10 % more, or in the quantity's own unit."""
    reference: str | None
    """The scheme it is compared with; None is the baseline."""
    is_relative: bool = True
    is_default: bool = False
    """Whether it holds because nobody said otherwise: a quantity that is unknown then breaks nothing."""

    @property
    def text(self) -> str:
        """Returns the limit as users write it, such as `long mean +10%` or `calls delay p95 +5ms`."""
        sign = "−" if self.change < 0 else "+"
        other = f" against {self.reference}" if self.reference else ""
        scale, unit = (100, "%") if self.is_relative else _SCALES.get(self.quantity.unit, (1, ""))
        return f"{self.quantity.name} {sign}{abs(scale * self.change):.10g}{unit}{other}"

    def excess(self, change: float) -> float:
        """Returns the amount by which a change is beyond the limit; at most 0 is within it.

        Changes are on a logarithmic scale, or in the quantity's own unit. NaN stays NaN.
        """
        over = change - (log1p(self.change) if self.is_relative else self.change)
        return over if self.quantity.smaller_is_better else -over

    def weight(self, excess: float) -> float:
        """Returns an excess as a share of the allowed change, so that it can be added to others.

        With a limit of no change the excess stays in its own unit.
        """
        return excess if self.is_relative or not self.change else excess / abs(self.change)

    def amount(self, weight: float) -> str:
        """Returns a result of `weight` as text, such as `12 %` or `3.1 ms`."""
        if self.is_relative:
            return f"{percent(expm1(weight))} %"
        return write_amount(weight * (abs(self.change) or 1), self.quantity.unit)

    def keeps(self, excess: float) -> bool:
        """Returns whether an excess, as a mean, is within the limit.

        An unknown excess is within a default limit.
        """
        return excess <= 0 or (self.is_default and not isfinite(excess))


_SCALES = {"seconds": (1000, "ms"), "share": (100, "%")}
"""How changes in a quantity's own unit are written in limits: the factor, and the unit."""


def write_amount(amount: float, unit: str) -> str:
    """Returns a difference in a quantity's own unit as text, such as `3.1 ms` or `0.2 points`."""
    scale, name = _engine.difference_scale(unit)
    return f"{scale * amount:.3g}{name}".replace("-", "−")


@dataclass(frozen=True)
class Goal:
    """What a search is to find."""

    objectives: tuple[Quantity, ...]
    limits: tuple[Limit, ...]

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Returns the quantities whose relative change is shown, each once, the objectives first.

        Long transfers stand for the price if there is only one quantity. Limits in units of their own and
        default ones are only judged.
        """
        limited = (limit.quantity for limit in self.limits if limit.is_relative and not limit.is_default)
        wanted = (*self.objectives, *limited)
        named = {quantity.name: quantity for quantity in wanted}
        if len(named) == 1 and "long mean" not in named:
            named["long mean"] = list_quantities()["long mean"]
        return tuple(named.values())

    @property
    def prices(self) -> tuple[Quantity, ...]:
        """Returns the quantities that may pay for the first objective: all shown ones but that."""
        return tuple(one for one in self.quantities if one != self.objectives[0])


def list_quantities() -> dict[str, Quantity]:
    """Returns every quantity that a search may have by its name, such as `short p99`."""
    found: dict[str, Quantity] = {}
    for measure in measured.measures():
        one = measure.quantity
        if measure.asked_as is not None:
            found[measure.asked_as] = Quantity(measure.asked_as, find_source(measure))
    for one in measured.list_of_subject("application"):
        if one.measure is not None and not one.primary_of:
            found[one.measure] = Quantity(one.measure, Source(one, group=PAGES[0]))
    return found


def parse_quantity(field: str, text: str) -> Quantity:
    """Returns a quantity by its name, or by a part of it as vetoes have it, such as `calls p95`.

    Raises `MouseholeError` for an unknown one, with a suggestion.
    """
    name = " ".join(text.split())
    known = list_quantities()
    if name in known:
        return known[name]
    if _engine.find_class(name) not in (None, *measured.CLASSES):
        return _find_quantity(*_engine.find_figure(measured.table(), field, name))
    raise unknown_error(field, "measure", name, list(known))


def parse_limit(field: str, text: str) -> Limit:
    """Returns a limit such as `long mean +10%`, `calls p95 +5ms` or `long mean +5% against fq-codel`.

    For shares, percent are percentage points, as in vetoes. Raises `MouseholeError` for any other text.
    """
    body, against, other = " ".join(text.split()).partition(" against ")
    name, sign, number, unit = vetoes.split_change(field, body, _FORM)
    one = parse_quantity(field, name)
    change, is_relative = _engine.in_own_unit(field, text, one.name, one.source.quantity, number, unit)
    change = -change if sign == "−" else change
    if is_relative and not -1 < change <= 100:
        raise field_error(field, text, "a change above −100 % and at most 10000 %")
    if against:
        check_scheme(field, other)
    return Limit(one, change, other or None, is_relative)


def list_default_limits(reference: str | None) -> tuple[Limit, ...]:
    """Returns the margins of the vetoes as limits against a scheme; None stands for the baseline.

    Raises `KeyError` for a margin on something else than a quantity of a search.
    """
    found = []
    for margin in vetoes.margins(()):
        one = _find_quantity(margin.whose, margin.name)
        change = margin.most if one.smaller_is_better else -margin.most
        found.append(Limit(one, change, reference, margin.is_relative, is_default=True))
    return tuple(found)


def _find_quantity(whose: str, what: str) -> Quantity:
    """Returns the quantity of a figure of the vetoes."""
    name = f"{whose} {what}"
    return list_quantities().get(name) or list_quantities()[name.replace("pages", "page")]


def check_scheme(field: str, scheme: str) -> None:
    """Raises `MouseholeError` about `field` for a text that is not a scheme."""
    try:
        _engine.scheme_parameters(scheme)
    except MouseholeError as error:
        raise error.renamed({"scheme": field}) from None


def estimate_change(
    results: Results, cell: Cell, one: Quantity, scheme: str, reference: str, is_primary: bool = False
) -> Estimate:
    """Returns the logarithm of the ratio of a quantity under `scheme` to that under `reference`.

    It is NaN if a quantity is unknown. With `is_primary` the intervals hold together for all schemes of the
    results, as those of `compare`'s primary endpoint do.
    """
    own, other = (results.values(cell, name, one.source) for name in (scheme, reference))
    design = make_family_design(results, cell, one, reference) if is_primary else results.design(cell)
    return log_ratio(own, other, design) if own.shape == other.shape else log_ratio([], [])


def estimate_excess(results: Results, cell: Cell, one: Limit, scheme: str) -> Estimate:
    """Returns the amount by which a scheme is beyond a limit, with its interval, as `Limit.excess` has it.

    Replications in which a quantity is unknown are left out; it is NaN if there are no others.
    """
    reference = one.reference or results.plan.baseline
    if one.is_relative:
        found = estimate_change(results, cell, one.quantity, scheme, reference)
    else:
        found = _estimate_difference(results, cell, one.quantity, scheme, reference)
    low, high = sorted(one.excess(end) for end in (found.low, found.high))
    return Estimate(one.excess(found.mean), low, high, found.count)


def _estimate_difference(
    results: Results, cell: Cell, one: Quantity, scheme: str, reference: str
) -> Estimate:
    """Returns the difference of a quantity between two schemes, in its own unit; NaN if it is unknown."""
    own, other = (results.values(cell, name, one.source) for name in (scheme, reference))
    if own.shape != other.shape:
        return log_ratio([], [])
    known = np.isfinite(own) & np.isfinite(other)
    return difference(own[known], other[known], results.design(cell)) if known.any() else log_ratio([], [])


def make_family_design(results: Results, cell: Cell, one: Quantity, reference: str) -> Design:
    """Returns the design of intervals of a quantity that hold together for all schemes of the results.

    It is made once and stored in `results.kept`.
    """
    key = (f"design of {one.name} against {reference}", cell)
    if key not in results.kept:
        family = {scheme: results.values(cell, scheme, one.source) for scheme in results.plan.schemes}
        results.kept[key] = [results.design(cell, family, reference)]
    return cast("Design", results.kept[key][0])


def to_cost(one: Quantity, log_change: float) -> float:
    """Returns a logarithmic change as a number to be lowered; infinite if the quantity is unknown."""
    if not isfinite(log_change):
        return float("inf")
    return log_change if one.smaller_is_better else -log_change
