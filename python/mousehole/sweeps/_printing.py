"""Prints a sweep: how far it is, and what each axis changes."""

from typing import Any

from rich.console import Console
from rich.text import Text

from mousehole import quantities
from mousehole.base import dense, print_fitting, signed, unit_text
from mousehole.sweeps._found import VALUE
from mousehole.sweeps._result import Sweep


def print_sweep(console: Console, found: Sweep, value: str = VALUE, against: str | None = None) -> None:
    """Prints how far a sweep is, and a table of what each value of an axis changes."""
    total, cells = found.manifest["rows"], found.manifest["cells"]
    console.print(Text(f"{found.finished:,} of {total:,} rows, {cells:,} cells", style="bold"))
    effects = found.effects(value, against)
    reference = against or found.schemes[0]
    others = [scheme for scheme in found.schemes if scheme != reference]
    table = dense(f"{value}: mean over cells, and change against {reference} (least to most of a cell)")
    for heading in ("axis", "value", reference, *others):
        table.add_column(heading, justify="left" if heading in ("axis", "value") else "right")
    previous = ""
    for axis, label in effects.select("axis", "value").unique(maintain_order=True).iter_rows():
        entries = {row["scheme"]: row for row in effects.iter_rows(named=True)
                   if (row["axis"], row["value"]) == (axis, label)}  # fmt: skip
        texts = [
            _mean_text(entries.get(reference), value),
            *(_change_text(entries.get(one), value) for one in others),
        ]
        table.add_row(*map(Text, ("" if axis == previous else axis, label, *texts)))
        previous = axis
    print_fitting(console, [(table, "")])


def _mean_text(row: dict[str, Any] | None, value: str) -> str:
    if row is None or row["mean"] is None:
        return "–"
    return unit_text(quantities.find_measure(value).quantity.unit, row["mean"])


def _change_text(row: dict[str, Any] | None, value: str) -> str:
    if row is None or row["change"] is None:
        return _mean_text(row, value)
    return f"{signed(row['change'])} % ({signed(row['change_least'])} to {signed(row['change_most'])})"
