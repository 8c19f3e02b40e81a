"""Prints what a search of settings found: the answer, the finalists, what they depend on, how to install."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mousehole.answer import Settings, wred_table
from mousehole.base import counted, dense, print_fitting, say, signed, span_text
from mousehole.runs import finite
from mousehole.tuning._results import DEFAULT, FINALIST, JudgedRow, Spent, TuneResults
from mousehole.tuning._words import change_text
from mousehole.tuning.objectives import Quantity

NOTE = (
    "Unseen replications have draws of their own: the search has not run them. 95 % intervals; those of the "
    "objectives hold for all judged schemes at once. Negative is less."
)


def print_report(
    console: Console, found: TuneResults, spent: Spent | None = None, with_settings: bool = True
) -> None:
    """Prints the whole report; `with_settings` adds the files that install the recommended setting."""
    console.print(Text(found.label, style="bold"))
    for place, line in enumerate(found.lines):
        say(console, Text(line, style=("green" if found.recommended else "yellow") if place == 0 else ""))
    console.print()
    _print_judged(console, found)
    _print_sensitivity(console, found)
    if with_settings:
        _print_settings(console, found)
    _print_account(console, found, spent)
    say(console, Text(NOTE, style="dim"))


def sensitivity_columns(found: TuneResults) -> list[str]:
    """Returns the heading of the table of the sensitivity."""
    return ["parameter", "value", *(one.name for one in found.goal.quantities)]


def sensitivity_cells(found: TuneResults) -> list[list[str]]:
    """Returns a line per changed value; the recommended value stands before the others of its parameter."""
    lines: list[list[str]] = []
    names = [one.name for one in found.goal.quantities]
    places = dict.fromkeys((row.parameter, row.value) for row in found.sensitivity)
    told: set[str] = set()
    for parameter, value in places:
        own = [row for row in found.sensitivity if (row.parameter, row.value) == (parameter, value)]
        if parameter not in told:
            lines.append(
                [parameter, own[0].recommended, *("recommended" for _ in names[:1]), *("" for _ in names[1:])]
            )
            told.add(parameter)
        lines.append(
            ["", value, *(change_text(row.change) for name in names for row in own if row.quantity == name)]
        )
    return lines


def judged_columns(found: TuneResults, quantities: Sequence[Quantity]) -> list[str]:
    """Returns the heading of the table of judged schemes."""
    first = found.goal.objectives[0].name
    return ["scheme", f"{first}, seen", *(f"{one.name}, unseen" for one in quantities)]


def judged_cells(found: TuneResults, quantities: Sequence[Quantity]) -> list[list[str]]:
    """Returns a line per judged scheme but the baseline: finalists, own settings, then references."""
    first = found.goal.objectives[0].name
    order = (FINALIST, DEFAULT)
    rows = [row for row in found.judged if row.reference == found.baseline]
    schemes = dict.fromkeys(row.scheme for row in rows)
    roles = {row.scheme: row.role for row in rows}
    ranked = sorted(
        schemes, key=lambda scheme: order.index(roles[scheme]) if roles[scheme] in order else len(order)
    )
    names = letters(found)
    lines = []
    for scheme in ranked:
        own = {row.quantity: row for row in rows if row.scheme == scheme}
        name = names.get(scheme, scheme) + (" *" if scheme == found.recommended else "")
        lines.append([name, _seen(own[first]), *(change_text(own[one.name].unseen) for one in quantities)])
    return lines


def letters(found: TuneResults) -> dict[str, str]:
    """Returns a short name for each finalist: A, B, C …"""
    finalists = dict.fromkeys(row.scheme for row in found.judged if row.role == FINALIST)
    return {scheme: chr(ord("A") + place) for place, scheme in enumerate(finalists)}


def _seen(row: JudgedRow) -> str:
    return "–" if row.seen is None or finite(row.seen) is None else f"{signed(row.seen)} %"


def _print_judged(console: Console, found: TuneResults) -> None:
    """Prints the finalists, own settings and references against the baseline, seen and unseen."""
    quantities = found.goal.quantities
    title = f"Change against {found.baseline}"
    forms = []
    for count in range(len(quantities), 0, -1):
        left_out = ", ".join(one.name for one in quantities[count:])
        columns = judged_columns(found, quantities[:count])
        forms.append((_table(title, columns, judged_cells(found, quantities[:count])), left_out))
    print_fitting(console, forms)
    for scheme, letter in letters(found).items():
        marked = " (recommended)" if scheme == found.recommended else ""
        console.print(Text(f"{letter}  {scheme}{marked}"), soft_wrap=True)


def _print_sensitivity(console: Console, found: TuneResults) -> None:
    if not found.sensitivity:
        return
    console.print()
    table = _table(
        "One parameter changed at a time, against the recommended setting", sensitivity_columns(found),
        sensitivity_cells(found),
    )  # fmt: skip
    print_fitting(console, [(table, "")])


def _print_settings(console: Console, found: TuneResults) -> None:
    ways = found.settings
    if ways is None:
        if found.recommended is not None:
            say(console, Text(f"Nothing installs {found.recommended}: {found.why_nothing}.", style="yellow"))
        return
    console.print()
    for line in settings_lines(ways):
        console.print(Text(line), soft_wrap=True)


def settings_lines(ways: Settings) -> list[str]:
    """Returns the settings as lines: commands, the file of mousehole-live, the table for WRED."""
    lines = [f"Install on {ways.place}:", *(f"  {line}" for line in ways.lines)]
    if ways.live is not None:
        lines += ["mousehole-live.toml:", *(f"  {line}" for line in ways.live.splitlines())]
    if ways.wred:
        lines += [
            "Profiles for a router's WRED:",
            *(f"  {line}" for line in wred_table(ways.wred).splitlines()),
        ]
    return lines


def _print_account(console: Console, found: TuneResults, spent: Spent | None) -> None:
    """Prints what was run, and how the same is run again."""
    account = found.account
    text = (
        f"{counted(account.trials, 'setting')}, {account.trials_per_scheme} of each scheme; "
        f"{account.stopped} stopped early; {account.search_runs} runs of "
        f"{counted(account.search_replications, 'replication')}"
        f"{_time(spent.search_s if spent else None)}. Judged: {counted(account.judged_schemes, 'scheme')} × "
        f"{counted(account.judged_replications, 'replication')}{_time(spent.judged_s if spent else None)}."
    )
    if account.sensitivity_runs:
        text += (
            f" Sensitivity: {account.sensitivity_runs} runs{_time(spent.sensitivity_s if spent else None)}."
        )
    console.print()
    say(console, Text(text, style="dim"))
    again = f"--trials {account.trials_per_scheme} --seed {account.seed}"
    if spent is not None and spent.budget_s is not None:
        again = f"{again} in the place of --budget"
    say(console, Text(f"The same on any machine: {again}.", style="dim"))


def _time(seconds: float | None) -> str:
    return "" if seconds is None else f" in {span_text(round(seconds, 1))}"


def _table(title: str, columns: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    table = dense(title)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", overflow="fold")
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    return table
