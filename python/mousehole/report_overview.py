"""The comparison of many schemes for people: one table, a heat map of sizes, verdicts in groups."""

from math import log2
from typing import Any

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mousehole import overview
from mousehole.comparison import Comparison
from mousehole.findings import BETTER, WORSE
from mousehole.overview import Change
from mousehole.plan import Cell
from mousehole.sizes import size_text
from mousehole.statistics import LEAST_REPLICATIONS
from mousehole.texts import share_text, signed, time_text

Row = dict[str, Any]

FASTER, SLOWER = ("#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac", "#542788"), (
    "#f7f7f7", "#fee0b6", "#fdb863", "#e08214", "#b35806")  # fmt: skip
"""Backgrounds from no change to a factor of four."""


def print_overview(console: Console, comparison: Comparison, cell: Cell) -> None:
    """The table, the heat map and the verdicts of one cell."""
    rows = overview.overview_rows(comparison.results, cell)
    console.print(_table(comparison, rows))
    _print_legend(console, comparison)
    console.print(Text(f"{_reordering_text(rows)}\n", style="dim"))
    sizes = overview.by_size_rows(comparison.results, cell)
    console.print(_heat_table(comparison, sizes))
    if comparison.plan.replications >= LEAST_REPLICATIONS:
        _print_groups(console, comparison, cell)


def _table(comparison: Comparison, rows: list[Row]) -> Table:
    plan = comparison.plan
    references = overview.references(plan)
    short, long = size_text(plan.short_bytes), size_text(plan.long_bytes)
    table = _empty(
        f"Mean response time of transfers ≤ {short}: change in % against others, and what long pay"
    )
    table.add_column("scheme", overflow="fold")
    for heading in (
        "mean",
        *(f"to {name}" for name in references),
        f"> {long} to {plan.baseline}",
        "delay p95",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        changes = [change_text(row["against"].get(name)) for name in references]
        mean, delay = (Text(time_text(row[name])) for name in ("short_response_mean_s", "queue_delay_p95_s"))
        table.add_row(Text(row["scheme"]), mean, *changes, change_text(row["long"]), delay)
    return table


def _empty(title: str) -> Table:
    return Table(
        title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0),
        pad_edge=False,
    )  # fmt: skip


def change_text(change: Change | None) -> Text:
    """`−32 (−36…−28)`, green or red where the ends agree on the sign."""
    if change is None or change.mean != change.mean:
        return Text("–")
    mean, low, high = (signed(value) for value in (change.mean, change.low, change.high))
    style = "green" if change.high < 0 else "red" if change.low > 0 else ""
    return Text(f"{mean} ({low}…{high})", style=style)


def _reordering_text(rows: list[Row]) -> str:
    found = [
        f"{row['scheme']} {share_text(row['reordered_share'])}" for row in rows if row["reordered_share"]
    ]
    if not found:
        return "No scheme reordered packets of a flow."
    return f"Data packets that arrived after a later one of their flow: {', '.join(found)}; others none."


def _print_legend(console: Console, comparison: Comparison) -> None:
    plan = comparison.plan
    if plan.replications >= LEAST_REPLICATIONS:
        console.print(Text("In parentheses 95 % intervals.", style="dim"))
        return
    few = (
        f"A quick look: {plan.replications} replications of {plan.base['duration']} give no interval. In "
        "parentheses the least and the greatest replication; none of this is a finding."
    )
    console.print(Text(few, style="yellow"))


def _heat_table(comparison: Comparison, rows: list[Row]) -> Table:
    reference = overview.heat_reference(comparison.plan)
    title = f"Change of the mean response time against {reference} by transfer size, %"
    table = _empty(title)
    table.add_column("scheme", overflow="fold")
    for size in dict.fromkeys(row["bucket"] for row in rows):
        table.add_column(f" {size}", justify="right")
    for scheme in dict.fromkeys(row["scheme"] for row in rows):
        cells = [_heat_cell(row) for row in rows if row["scheme"] == scheme]
        table.add_row(Text(f"{scheme} "), *cells)
    return table


def _heat_cell(row: Row) -> Text:
    change = row["response_mean_change"]
    if change is None:
        return Text("– ")
    if row["scheme"] == row["reference"]:
        return Text("· ", style="dim")
    return Text(f" {signed(change)} ", style=_background(change))


def _background(change: float) -> str:
    """A colour that grows with the logarithm of the ratio, at a factor of four at its strongest."""
    strength = log2(1 + change) / 2
    shades = FASTER if strength < 0 else SLOWER
    place = min(round(abs(strength) * (len(shades) - 1) + 0.25), len(shades) - 1)
    return f"{'white' if place > 2 else 'black'} on {shades[place]}"


def _print_groups(console: Console, comparison: Comparison, cell: Cell) -> None:
    here = [item for item in comparison.finding_list if (item.buffer, item.load) == (cell.buffer, cell.load)]
    short = size_text(comparison.plan.short_bytes)
    for reference in dict.fromkeys(finding.reference for finding in here):
        console.print(Text(f"Against {reference}, mean response time of transfers ≤ {short}:", style="bold"))
        own = [finding for finding in here if finding.reference == reference]
        for outcome, schemes in overview.verdict_groups(own):
            style = {BETTER: "green", WORSE: "red"}.get(outcome, "")
            line = Text(f"{outcome}: ", style=style) + Text(", ".join(schemes), style="not bold")
            console.print(Padding(line, (0, 0, 0, 2), expand=False))
    console.print(Text("--details prints every sentence.\n", style="dim"))
