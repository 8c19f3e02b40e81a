"""Who pays: margins of harm to classes of traffic, and the vetoes against schemes that go beyond them.

Users write a margin as CLASS QUANTITY ±N with a unit: `calls p95 +10ms`, `games loss +0.2%`, `pages mean
+10%`. Of shares, percent are percentage points; of times and rates they are relative.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from mousehole import _engine, quantities
from mousehole.answer.findings import (
    PAGES,
    InBucket,
    OfGroup,
    OfKind,
    from_to_text,
    has_enough_of,
    is_bound,
    source_of,
)
from mousehole.answer.tables import per_cell
from mousehole.base import (
    change_text,
    field_error,
    scheme_name,
    size_text,
    unknown_error,
)
from mousehole.engine_types import Floats
from mousehole.quantities import Quantity
from mousehole.runs import Cell, Plan, Results
from mousehole.statistics import Estimate, difference, log_ratio

Source = InBucket | OfGroup | OfKind

NONE = "none"
"""Takes the default margins away."""
DEFAULTS = (
    "long mean +10%",
    "pages mean +10%",
    "calls delay p95 +10ms",
    "calls lost +0.5%",
    "calls mos -0.1",
    "games delay p95 +5ms",
    "games lost +0.5%",
    "video calls frames missed +0.5%",
    "streams rebuffering +0.5%",
    "logins echo mean +10%",
)
"""The margins that hold if none is given: choices, not measurements."""
CLASSES = ("short", "long", "pages", *(kind.replace("_", " ") for kind in quantities.KINDS))
"""The classes of traffic in the order of the answer: transfers by size, pages, kinds of applications."""
SYNONYMS = {"loss": "lost", "frames": "frames missed"}
"""Words for quantities beside those of `tune`."""
SCALES = {"seconds": (1000.0, " ms"), "share": (100.0, " points")}
"""How differences of a unit are written: the factor, and the unit's name."""
_FORM = 'CLASS QUANTITY ±N and a unit, such as "calls p95 +10ms" or "games loss +0.2%", or "none"'
_CHANGE = re.compile(r"(?P<whose>[^+\-−<>=]+?)\s*(?P<sign>[+\-−])\s*(?P<number>[0-9.]+)\s*(?P<unit>%|ms|s|)")


@dataclass(frozen=True)
class Figure:
    """A quantity of a class of traffic."""

    whose: str
    """The class, one of `CLASSES`."""
    name: str
    """What users write behind the class, such as `delay p95`."""
    source: Source

    def estimate(
        self, results: Results, cell: Cell, scheme: str, reference: str, is_relative: bool
    ) -> Estimate:
        """Returns how the figure changes against the reference: as a share of it, or as a difference.

        The interval stands alone. Nothing is known where a scheme lacks the figure.
        """
        own, other = (self.source.values(results, cell, name) for name in (scheme, reference))
        if own.shape != other.shape:
            return log_ratio([], [])
        design = results.design(cell)
        if is_relative:
            return log_ratio(own, other, design).as_change()
        return difference(own, other, design)

    def from_to(self, results: Results, cell: Cell, scheme: str, reference: str) -> str:
        """Returns the means over the replications that both have, such as `32.2 ms → 125 ms`."""
        own, other = (self.source.values(results, cell, name) for name in (scheme, reference))
        return from_to_text(own, other, self.source.quantity.unit)


@dataclass(frozen=True)
class Margin:
    """How much worse a figure may become against the reference."""

    figure: Figure
    most: float
    """The harm allowed, above 0: a share of the reference's figure, or in the figure's own unit."""
    is_relative: bool

    @property
    def text(self) -> str:
        """The margin as a change, such as `+10 ms`."""
        quantity = self.figure.source.quantity
        sign = "+" if quantity.less_is_better else "−"
        scale, name = (100.0, " %") if self.is_relative else SCALES.get(quantity.unit, (1.0, ""))
        return f"{sign}{scale * self.most:g}{name}"


@dataclass(frozen=True)
class Veto:
    """A class of traffic that pays more than its margin under a scheme, or may."""

    scheme: str
    margin: Margin
    change: Estimate
    """The change against the reference, as a share or in the figure's own unit."""
    binds: bool
    """Whether the harm is shown; otherwise the class may pay."""
    text: str
    """Who pays how much: `calls: one-way delay, p95 32.2 ms → 125 ms, +93 ms (77…109)`."""


@cache
def ideals() -> frozenset[str]:
    """Returns the schemes that nobody can deploy; their summaries in the catalogue begin with `ideal`."""
    return frozenset(entry["name"] for entry in _engine.schemes() if entry["summary"].startswith("ideal"))


def is_ideal(scheme: str) -> bool:
    """Returns whether nobody can deploy the scheme."""
    return scheme_name(scheme) in ideals()


@cache
def figures() -> dict[tuple[str, str], Figure]:
    """Returns every figure that may have a margin, by class and name."""
    found: dict[tuple[str, str], Figure] = {}
    for measure in quantities.measures():
        asked = measure.asked_as
        whose = (measure.kind or measure.role or "").replace("_", " ")
        if asked is None or whose not in CLASSES:
            continue
        source = source_of(measure)
        if not isinstance(source, InBucket | OfKind):
            continue
        name = asked.removeprefix(f"{whose} ")
        found[whose, name] = Figure(whose, name, source)
    found["pages", "mean"] = Figure("pages", "mean", OfGroup("all", PAGES))
    return found


def first_figure(whose: str) -> Figure:
    """Returns what users of a class feel first."""
    return next(one for (name, _), one in figures().items() if name == whose)


def margins(given: Sequence[str]) -> list[Margin]:
    """Returns the margins that hold: the defaults, with those given in their places and beside them.

    `none` takes the defaults away. Raises `MouseholeError` for what is no margin.
    """
    own = [read_margin(text) for text in given if text.strip() != NONE]
    defaults = [] if any(text.strip() == NONE for text in given) else [read_margin(one) for one in DEFAULTS]
    by_figure = {(one.figure.whose, one.figure.name): one for one in (*defaults, *own)}
    return list(by_figure.values())


@cache
def read_margin(text: str) -> Margin:
    """Reads a margin such as `calls p95 +10ms`; raises `MouseholeError` for what is none."""
    whose, sign, number, unit = split_change("veto", text, _FORM)
    if number <= 0:
        raise field_error("veto", text, _FORM)
    figure = find_figure("veto", whose)
    quantity = figure.source.quantity
    most, is_relative = in_own_unit("veto", text, f"{figure.whose} {figure.name}", quantity, number, unit)
    if (sign == "+") != quantity.less_is_better:
        sign, worse = ("+", "more") if quantity.less_is_better else ("−", "less")
        raise field_error("veto", text, f"a margin with {sign}: of this quantity, {worse} is worse")
    return Margin(figure, most, is_relative)


def split_change(field: str, text: str, form: str) -> tuple[str, str, float, str]:
    """Splits a change such as `calls p95 +10ms` into what changes, sign, number and unit.

    Raises `MouseholeError`, which says that `form` is allowed.
    """
    found = _CHANGE.fullmatch(" ".join(text.split()))
    try:
        number = float(found["number"]) if found else 0.0
    except ValueError:
        found, number = None, 0.0
    if found is None:
        raise field_error(field, text, form)
    return found["whose"], "+" if found["sign"] == "+" else "−", number, found["unit"]


def in_own_unit(
    field: str, text: str, name: str, quantity: Quantity, number: float, unit: str
) -> tuple[float, bool]:
    """Returns a number as a share of a quantity, or in the quantity's own unit; and whether it is the former.

    Raises `MouseholeError` for a unit that the quantity does not have.
    """
    units = {"seconds": ("ms", "s", "%"), "share": ("%",), "number": ("", "%")}.get(quantity.unit, ("%",))
    if unit not in units:
        allowed = " or ".join(f"N{one}" for one in units)
        raise field_error(field, text, f"{name} ±{allowed}")
    return number * {"%": 0.01, "ms": 0.001}.get(unit, 1.0), unit == "%" and quantity.unit != "share"


def find_figure(field: str, text: str) -> Figure:
    """Returns the figure of a text such as `calls p95`, a part of its name being enough.

    Raises `MouseholeError` for a class or a name that there is not.
    """
    whose = class_of(text)
    if whose is None:
        raise unknown_error(field, "class name", text.split()[0], list(CLASSES))
    own = {name: one for (of, name), one in figures().items() if of == whose}
    asked = text.removeprefix(whose).strip()
    name = SYNONYMS.get(asked, asked)
    part = next((full for full in own if name and name in full.split()), None)
    if name not in own and part is None:
        raise unknown_error(field, f"{whose} measure", asked or text, list(own))
    return own.get(name) or own[part or name]


def class_of(text: str) -> str | None:
    """Returns the class with which a figure's text begins, such as `video calls`."""
    return max((name for name in CLASSES if f"{text} ".startswith(f"{name} ")), key=len, default=None)


def reference(plan: Plan) -> str:
    """Returns what people would have anyway: CAKE, else FQ-CoDel, else the baseline; or what is given.

    Raises `MouseholeError` if what is given is not compared.
    """
    if plan.reference is not None:
        if plan.reference not in plan.schemes:
            raise field_error("reference", plan.reference, f"a scheme compared: {', '.join(plan.schemes)}")
        return plan.reference
    usual = (one for name in ("cake", "fq-codel") for one in plan.schemes if scheme_name(one) == name)
    return next(usual, plan.baseline)


def check(plan: Plan) -> None:
    """Raises `MouseholeError` if a margin or the reference of the plan makes no sense."""
    margins(plan.vetoes)
    reference(plan)


def given(plan: Plan) -> dict[str, str]:
    """Returns the classes for which the user gave margins, with what was written."""
    return {read_margin(text).figure.whose: text for text in plan.vetoes if text.strip() != NONE}


def check_kinds(plan: Plan, kinds: Iterable[str]) -> None:
    """Raises `MouseholeError` if the user gave a margin for a kind of application that is not of `kinds`."""
    own = {kind.replace("_", " ") for kind in kinds}
    _check_classes(plan, [whose for whose in CLASSES if whose in own or whose in ("short", "long", "pages")])


def check_present(results: Results) -> None:
    """Raises `MouseholeError` if a class that the user gave a margin for is in no cell."""
    if given(results.plan):
        found = dict.fromkeys(one for cell in results.plan.cells for one in present(results, cell))
        _check_classes(results.plan, list(found))


def _check_classes(plan: Plan, known: Sequence[str]) -> None:
    for whose, text in given(plan).items():
        if whose not in known:
            allowed = f"a class of this traffic: {', '.join(known)}"
            raise field_error("veto", text, allowed, f"is about {whose}, of which there are none")


def present(results: Results, cell: Cell) -> list[str]:
    """Returns the classes of traffic of which some run of a cell has a figure."""
    return [whose for whose in CLASSES if _is_present(results, cell, first_figure(whose).source)]


def _is_present(results: Results, cell: Cell, source: Source) -> bool:
    return any(_is_known(source.values(results, cell, scheme)) for scheme in results.plan.schemes)


def _is_known(values: Floats) -> bool:
    return bool(np.any(np.isfinite(values)))


@per_cell
def vetoes(results: Results, cell: Cell) -> list[Veto]:
    """Returns who pays, or may, under every scheme but the reference, the baseline and ideals.

    A class pays if the estimate is beyond the margin and the interval of the change excludes no harm. It may
    pay if only the first is so, or if a mean is a lower bound and the harm may be less. With too few
    replications for an interval the estimate alone speaks.
    """
    plan, other = results.plan, reference(results.plan)
    found = [
        _veto(results, cell, margin, scheme, other)
        for scheme in plan.schemes
        if scheme not in (other, plan.baseline) and not is_ideal(scheme)
        for margin in margins(plan.vetoes)
    ]
    return [one for one in found if one is not None]


def _veto(results: Results, cell: Cell, margin: Margin, scheme: str, other: str) -> Veto | None:
    figure = margin.figure
    change = figure.estimate(results, cell, scheme, other, margin.is_relative)
    harm = change if figure.source.quantity.less_is_better else change.negated()
    if not harm.mean > margin.most:
        return None
    is_shown = harm.low > 0 if harm.has_interval else True
    is_certain = _is_certain(results, cell, figure.source, (other,)) and has_enough_of(results, figure.source)
    said = line(results, cell, figure, scheme, other, is_relative=margin.is_relative)
    return Veto(scheme, margin, change, is_shown and is_certain, f"{said}, of {margin.text} allowed")


def _is_certain(results: Results, cell: Cell, source: Source, schemes: Sequence[str]) -> bool:
    """Returns whether a figure is no lower bound under any of the schemes."""
    return not isinstance(source, InBucket) or not any(
        is_bound(results, cell, scheme, source.role) for scheme in schemes
    )


def line(
    results: Results,
    cell: Cell,
    figure: Figure,
    scheme: str,
    other: str,
    is_relative: bool = True,
    about: str = "",
) -> str:
    """Returns `calls: one-way delay, p95 32.2 ms → 125 ms, +288 % (+243…+339)`.

    `about` stands before the change.
    """
    quantity = figure.source.quantity
    change = figure.estimate(results, cell, scheme, other, is_relative)
    said = _change_text(change, quantity.unit, is_relative)
    words = f"{class_words(results.plan, figure.whose)}: {quantity.axis}"
    return f"{words} {figure.from_to(results, cell, scheme, other)}{f', {about}{said}' if said else ''}"


def _change_text(change: Estimate, unit: str, is_relative: bool) -> str:
    if not np.isfinite(change.mean):
        return ""
    if is_relative:
        return change_text(change.mean, change.low, change.high)
    scale, name = SCALES.get(unit, (1.0, ""))
    numbers = (change.mean, change.low, change.high)
    mean, low, high = (f"{scale * one:+.3g}".replace("-", "−") for one in numbers)
    return f"{mean}{name}" + (f" ({low}…{high})" if change.has_interval else "")


def class_words(plan: Plan, whose: str) -> str:
    """Returns a class in words, such as `transfers ≤ 15 kB`."""
    sizes = {"short": f"transfers ≤ {size_text(plan.short_bytes)}",
             "long": f"transfers > {size_text(plan.long_bytes)}"}  # fmt: skip
    return sizes.get(whose, whose)


def class_lines(results: Results, cell: Cell, scheme: str, without: str = "") -> list[str]:
    """Returns what each class present gains or loses under a scheme against the baseline, a line each.

    It has what users of the class feel first, and of datagrams how many are lost. One class may be left out.
    """
    classes = [whose for whose in present(results, cell) if whose != without]
    return [_class_line(results, cell, whose, scheme) for whose in classes]


def _class_line(results: Results, cell: Cell, whose: str, scheme: str) -> str:
    first, baseline = first_figure(whose), results.plan.baseline
    is_share = first.source.quantity.unit == "share"
    about = "" if _is_certain(results, cell, first.source, (scheme, baseline)) else "about "
    said = line(results, cell, first, scheme, baseline, not is_share, about)
    said = said[:1].upper() + said[1:]
    lost = figures().get((whose, "lost"))
    return f"{said}; lost {lost.from_to(results, cell, scheme, baseline)}" if lost else said
