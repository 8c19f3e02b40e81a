"""Who pays: margins of harm to classes of traffic, and the vetoes against schemes that go beyond them.

Users write a margin as CLASS QUANTITY ±N with a unit: `calls p95 +10ms`, `games loss +0.2%`, `pages mean
+10%`. Of shares, percent are percentage points; of times and rates they are relative. `answer/src/margins.rs`
reads them, and `answer/src/vetoes.rs` decides who pays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mousehole import _engine, quantities
from mousehole._engine import DEFAULT_VETOES as DEFAULTS
from mousehole._engine import NO_VETO as NONE
from mousehole._engine import TRAFFIC_CLASSES as CLASSES
from mousehole._engine import Margin
from mousehole.answer.tables import allow_all_cells
from mousehole.base import field_error, scheme_name
from mousehole.runs import Cell, Plan, Results
from mousehole.statistics import Estimate

__all__ = ["CLASSES", "DEFAULTS", "NONE", "Margin"]


@dataclass(frozen=True)
class Veto:
    """A class of traffic that pays more than its margin under a scheme, or may."""

    scheme: str
    """The scheme."""
    margin: Margin
    change: Estimate
    """The change against the reference, as a share or in the figure's own unit."""
    binds: bool
    """Whether the harm is shown, so that the scheme is not recommended; otherwise the class may pay."""
    text: str
    """Who pays how much: `calls: one-way delay, p95 32.2 ms → 125 ms, +93 ms (77…109), of +10 ms allowed`."""


def margins(given: Sequence[str]) -> list[Margin]:
    """Returns the margins in force: the defaults, replaced and extended by those in `given`.

    `none` takes the defaults away. Raises `MouseholeError` for a text that is not a margin.
    """
    return _engine.harm_margins(quantities.table(), list(given))


def read_margin(text: str) -> Margin:
    """Returns the margin of a text such as `calls p95 +10ms`; raises `MouseholeError` for any other text."""
    return _engine.read_margin(quantities.table(), text)


def split_change(field: str, text: str, form: str) -> tuple[str, str, float, str]:
    """Returns a change such as `calls p95 +10ms` as what changes, sign, number and unit.

    Raises `MouseholeError` for any other text, with `field` as its field; `form` is what its message names as
    allowed.
    """
    found = _engine.read_change(text)
    if found is None:
        raise field_error(field, text, form)
    return found


def reference(plan: Plan) -> str:
    """Returns the scheme that harm is measured against: CAKE, else FQ-CoDel, else the baseline, or as given.

    Raises `MouseholeError` if the given one is not compared.
    """
    if plan.reference is not None and plan.reference not in plan.schemes:
        raise field_error("reference", plan.reference, f"a scheme compared: {', '.join(plan.schemes)}")
    named = [(scheme, scheme_name(scheme)) for scheme in plan.schemes]
    return _engine.harm_reference(named, plan.baseline, plan.reference)


def check_margins(plan: Plan) -> None:
    """Raises `MouseholeError` for a faulty margin of the plan, and for a reference that is not compared."""
    margins(plan.vetoes)
    reference(plan)


def list_given_margins(plan: Plan) -> dict[str, str]:
    """Returns the margins that the user gave, as they were typed, by class of traffic."""
    return {read_margin(text).whose: text for text in plan.vetoes if text.strip() != NONE}


def check_kinds(plan: Plan, kinds: Iterable[str]) -> None:
    """Raises `MouseholeError` if the user gave a margin for a kind of application that is not of `kinds`."""
    own = {quantities.KIND_TEXTS[kind] for kind in kinds}
    _check_classes(plan, [whose for whose in CLASSES if whose in own or whose in ("short", "long", "pages")])


def check_present(results: Results) -> None:
    """Raises `MouseholeError` if a class that the user gave a margin for is in no cell."""
    if list_given_margins(results.plan):
        cells = (results.compared(cell) for cell in results.plan.cells)
        _check_classes(results.plan, list(dict.fromkeys(one for cell in cells for one in cell.present())))


def _check_classes(plan: Plan, known: Sequence[str]) -> None:
    """Raises `MouseholeError` for a margin of a class that the traffic does not have."""
    for whose, text in list_given_margins(plan).items():
        if whose not in known:
            allowed = f"a class of this traffic: {', '.join(known)}"
            raise field_error("veto", text, allowed, f"is about {whose}, of which there are none")


@allow_all_cells
def vetoes(results: Results, cell: Cell) -> list[Veto]:
    """Returns who pays, or may, under every scheme but the reference, the baseline and ideals.

    A class pays if the estimate is beyond the margin and the interval of the change excludes no harm. It may
    pay if only the first is so, or if a mean is a lower bound and the harm may be less. With too few
    replications for an interval the estimate alone speaks.
    """
    return [Veto(**one) for one in results.compared(cell).vetoes()]
