"""Prints a comparison of many schemes: one table, a heat map of sizes, verdicts in groups."""

from collections.abc import Iterator
from math import isfinite, log2

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mousehole.answer import BETTER, PAGES, WORSE, findings, is_ideal, overview, tables
from mousehole.base import (
    MOST_PERCENT,
    Summary,
    counted,
    dense,
    print_fitting,
    say,
    scheme_name,
    share_text,
    signed,
    size_text,
    time_text,
    whole_percent,
)
from mousehole.runs import Cell, Change, OverviewRow, Results, SizeRow
from mousehole.statistics import LEAST_REPLICATIONS

Cells = dict[str, Change | Text | None]
"""The cells of one line by their headings."""

FASTER, SLOWER = ("#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac", "#542788"), (
    "#f7f7f7", "#fee0b6", "#fdb863", "#e08214", "#b35806")  # fmt: skip
"""Background colours, from no change to a factor of four."""
GIVE_WAY = ((), ("delay p95",), ("delay p95", "to red"))
"""Columns that are left out on a narrow terminal before the intervals are; each entry is one attempt."""
ENDS = "the numbers in parentheses"
LAST_TO_GIVE_WAY = ("delay p95", "to red", "page")
"""Columns that are left out in the last attempt, together with the intervals."""
SIZES_GIVE_WAY = ("2–5 kB", "50–150 kB", "15–50 kB", "> 1 MB")
"""Size buckets that are left out of the heat map on a narrow terminal, in this order."""


def print_overview(console: Console, results: Results, cell: Cell, by_size: bool) -> None:
    """Prints one cell: a line per scheme, the verdicts in groups, and with `by_size` a heat map of sizes."""
    rows = overview.overview_rows(results, cell)
    pages = {
        row.scheme: row.value.mean
        for row in tables.group_rows(results, cell)
        if (row.group, row.what) == PAGES
    }
    wide = [_cells(results, row, pages.get(row.scheme)) for row in rows]
    left_out = print_fitting(console, _forms(results, wide))
    _print_legend(console, results, has_ends=ENDS not in left_out)
    say(console, Text(f"{_reordering_text(rows)}\n", style="dim"))
    if by_size:
        print_fitting(console, _heat_forms(results, overview.by_size_rows(results, cell)))
    if results.plan.replications >= LEAST_REPLICATIONS:
        _print_verdicts(console, results, cell)


def print_grid(console: Console, results: Results) -> None:
    """Prints the times of short and long transfers over the grid, a table per load, and names the best."""
    plan = results.plan
    words: dict[Summary, str] = {
        "short": f"≤ {size_text(plan.short_bytes)}", "long": f"> {size_text(plan.long_bytes)}"
    }  # fmt: skip
    for role, limit in words.items():
        for load in plan.loads:
            times = overview.grid_times(results, role, load)
            at_load = "" if load is None else f", load {load:g}"
            print_fitting(console, _grid_forms(f"Mean response time of transfers {limit}{at_load}", times))
            first = f"{plan.baseline} with buffer {plan.buffers[0]}"
            said = f"All percentages are against one cell, {first}."
            if best := overview.best_times(times):
                named = f"{best[0].scheme} with buffer {', '.join(one.buffer for one in best)}"
                said = f"Smallest: {named}, {time_text(best[0].mean_s)}. {said}"
            say(console, Text(f"{said}\n"))


def _grid_forms(title: str, times: list[overview.GridTime]) -> Iterator[tuple[Table, str]]:
    for with_ends in (True, False):
        table = dense(title)
        table.add_column("scheme", overflow="fold")
        for buffer in dict.fromkeys(one.buffer for one in times):
            table.add_column(f"buffer {buffer}", justify="right")
        for scheme in dict.fromkeys(one.scheme for one in times):
            own = [_grid_text(one, with_ends) for one in times if one.scheme == scheme]
            table.add_row(Text(marked(scheme)), *own)
        yield table, "" if with_ends else ENDS


def _grid_text(one: overview.GridTime, with_ends: bool) -> Text:
    time = Text(time_text(one.mean_s))
    return time if one.change is None else time + Text("  ") + change_text(one.change, with_ends) + Text(" %")


def _cells(results: Results, row: OverviewRow, page_s: float | None) -> Cells:
    plan = results.plan
    cells: Cells = {"scheme": Text(marked(row.scheme)), "mean": Text(time_text(row.short_response_mean_s))}
    cells |= {f"to {name}": row.against.get(name) for name in overview.references(plan)}
    cells[f"> {size_text(plan.long_bytes)}"] = row.long
    if page_s is not None:
        cells["page"] = Text(time_text(page_s))
    # On the empty link a packet waits for packets of its own connection only.
    is_empty = scheme_name(row.scheme) == "empty"
    cells["delay p95"] = Text("–" if is_empty else time_text(row.queue_delay_p95_s))
    return cells


def marked(scheme: str) -> str:
    """Returns the scheme's name, with a star if it is an ideal."""
    return f"{scheme}*" if is_ideal(scheme) else scheme


def _forms(results: Results, rows: list[Cells]) -> Iterator[tuple[Table, str]]:
    for with_ends in (True, False):
        for left_out in GIVE_WAY if with_ends else (*GIVE_WAY, LAST_TO_GIVE_WAY):
            dropped = [name for name in left_out if name in rows[0]]
            missing = [*dropped, *([] if with_ends else [ENDS])]
            yield _table(results, rows, dropped, with_ends), ", ".join(missing)


def _table(results: Results, rows: list[Cells], left_out: list[str], with_ends: bool) -> Table:
    plan = results.plan
    table = dense(f"Transfers ≤ {size_text(plan.short_bytes)}: mean response time and its change, %")
    names = [name for name in rows[0] if name not in left_out]
    for name in names:
        table.add_column(_heading(name, plan.baseline), justify="left" if name == "scheme" else "right",
                         overflow="fold")  # fmt: skip
    for row in rows:
        cells = (row[name] for name in names)
        table.add_row(*(cell if isinstance(cell, Text) else change_text(cell, with_ends) for cell in cells))
    return table


def _heading(name: str, baseline: str) -> str:
    """Returns the heading in two lines, so that it is no wider than the cells under it."""
    if name.startswith(">"):
        return f"{name}\nto {baseline}"
    if name.startswith("to "):
        return f"change\n{name}"
    return {"delay p95": "delay\np95", "page": "page\nmean"}.get(name, f"\n{name}")


def change_text(change: Change | None, with_ends: bool = True) -> Text:
    """Returns `−32 (−36…−28)` in whole percent, green or red if both ends have the same sign."""
    if change is None or not isfinite(change.mean):
        return Text("–")
    mean, low, high = (_whole(value) for value in (change.mean, change.low, change.high))
    style = "green" if change.high < 0 else "red" if change.low > 0 else ""
    return Text(f"{mean} ({low}…{high})" if with_ends else mean, style=style)


def _whole(share: float) -> str:
    if 100 * share > MOST_PERCENT:
        return f">+{MOST_PERCENT}"
    return whole_percent(share)


def _reordering_text(rows: list[OverviewRow]) -> str:
    found = [f"{row.scheme} {share_text(row.reordered_share)}" for row in rows if row.reordered_share]
    if not found:
        return "No scheme reordered the packets of a flow."
    return (
        f"Data packets that a later packet of their flow overtook: {', '.join(found)}; other schemes: none."
    )


def _print_legend(console: Console, results: Results, has_ends: bool) -> None:
    plan = results.plan
    stars = [scheme for scheme in plan.schemes if is_ideal(scheme)]
    ideal = f" * {', '.join(stars)}: ideals that nobody can deploy." if stars else ""
    if plan.replications >= LEAST_REPLICATIONS:
        ends = "In parentheses: 95 % intervals." if has_ends else ""
        say(console, Text(f"{ends}{ideal}".strip(), style="dim"))
        return
    give = "gives" if plan.replications == 1 else "give"
    few = (
        f"A quick look: {counted(plan.replications, plan.run_word)} of {plan.base['duration']} {give} no "
        f"interval and no verdict. In parentheses: the smallest and the largest change of any "
        f"{plan.run_word}.{ideal}"
    )
    say(console, Text(few, style="yellow"))


def _heat_forms(results: Results, rows: list[SizeRow]) -> Iterator[tuple[Table, str]]:
    sizes = list(dict.fromkeys(row.bucket for row in rows))
    spare = [name for name in SIZES_GIVE_WAY if name in sizes]
    for count in range(len(spare) + 1):
        shown = [size for size in sizes if size not in spare[:count]]
        yield _heat_table(results, rows, shown), ", ".join(spare[:count])


def _heat_table(results: Results, rows: list[SizeRow], sizes: list[str]) -> Table:
    reference = overview.heat_reference(results.plan)
    table = dense(f"By transfer size: change of the mean response time against {reference}, %")
    table.add_column("scheme", overflow="fold")
    for size in sizes:
        table.add_column(f" {size}", justify="right", no_wrap=True)
    for scheme in dict.fromkeys(row.scheme for row in rows):
        own = {row.bucket: row for row in rows if row.scheme == scheme}
        table.add_row(Text(f"{marked(scheme)} "), *(_heat_cell(own[size]) for size in sizes))
    return table


def _heat_cell(row: SizeRow) -> Text:
    change = row.response_mean_change.mean
    if not isfinite(change):
        return Text("– ")
    if row.scheme == row.reference:
        return Text("· ", style="dim")
    return Text(f" {signed(change)} ", style=_background(change))


def _background(change: float) -> str:
    """Returns a colour whose strength grows with the logarithm of the ratio up to a factor of four."""
    strength = log2(1 + change) / 2
    shades = FASTER if strength < 0 else SLOWER
    place = min(round(abs(strength) * (len(shades) - 1) + 0.25), len(shades) - 1)
    return f"{'white' if place > 2 else 'black'} on {shades[place]}"


def _print_verdicts(console: Console, results: Results, cell: Cell) -> None:
    here = findings.findings(results, cell)
    short = size_text(results.plan.short_bytes)
    for reference in dict.fromkeys(finding.reference for finding in here):
        console.print(Text(f"Against {reference}, mean response time of transfers ≤ {short}:", style="bold"))
        own = [finding for finding in here if finding.reference == reference]
        for outcome, schemes in overview.verdict_groups(own):
            style = {BETTER: "green", WORSE: "red"}.get(outcome, "")
            line = Text(f"{outcome}: ", style=style) + Text(", ".join(schemes), style="not bold")
            say(console, line, indent=2)
    console.print()
