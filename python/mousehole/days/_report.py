"""Prints a comparison over days: the answer, a line per scheme, the effects of single days, the remarks."""

from collections.abc import Iterator, Sequence
from math import isfinite

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mousehole.base import capped, change_text, dense, print_fitting, say, share_text, size_text
from mousehole.days import _days as days
from mousehole.days._days import LEAST_DAYS, Day, DayEffect, DaysFinding
from mousehole.reports import conditions, marked
from mousehole.runs import Cell
from mousehole.scenario import bottleneck
from mousehole.statistics import Estimate

PRIMARY, LONG = "short_response_mean_s", "long_response_mean_s"


def print_days(console: Console, own: Sequence[Day], details: bool = False) -> None:
    """Prints the whole report; `details` adds every sentence, and the conditions of each day."""
    plan = own[0].results.plan
    console.print(Text(title(own), style="bold"))
    for cell in plan.cells:
        if len(plan.cells) > 1:
            console.rule(Text(cell.title), align="left")
        _print_answer(console, own, cell)
        _print_cell(console, own, cell, details)
    for day in own if details else ():
        for condition in conditions(day.results):
            say(console, Text(f"{day.name}: {condition}", style="dim"))
    say(console, Text(days.DAYS_NOTE, style="dim"))
    if not details:
        say(console, Text("--details prints all sentences.", style="dim"))


def title(own: Sequence[Day]) -> str:
    """Returns how many days were compared over which link."""
    return f"{len(own)} days over {bottleneck.words(own[0].results.manifest['scenario'])}"


def _print_answer(console: Console, own: Sequence[Day], cell: Cell) -> None:
    lines, way = days.answer(own, cell)
    for place, line in enumerate(lines):
        say(console, Text(line, style="green" if place == 0 and way else "yellow" if place == 0 else ""))
    if way is not None:
        say(console, Text(f"Install on {way.place}:"))
        for command in way.lines:
            console.print(Text(command), soft_wrap=True)
    console.print()


def _print_cell(console: Console, own: Sequence[Day], cell: Cell, details: bool) -> None:
    found = days.days_findings(own, cell)
    plan = own[0].results.plan
    against = [item for item in found if item.reference == plan.baseline]
    by_endpoint = {name: [item for item in against if item.endpoint == name] for name in (PRIMARY, LONG)}
    short, long = size_text(plan.short_bytes), size_text(plan.long_bytes)
    words = {PRIMARY: f"Transfers ≤ {short}", LONG: f"Transfers > {long}"}
    for name, items in by_endpoint.items():
        if items:
            print_fitting(console, _over_days(items, f"{words[name]}: change of the mean response time, %"))
            print_fitting(console, _by_day(items, f"{words[name]}: single days, with their own intervals, %"))
    if len(own) < LEAST_DAYS:
        few = f"{len(own)} days give no interval over days; at least {LEAST_DAYS} are needed."
        say(console, Text(few, style="yellow"))
    for note in days.day_notes(own, cell):
        say(console, Text(note, style="yellow"))
    for item in found if details else ():
        say(console, Text(item.sentence))


def _over_days(items: Sequence[DaysFinding], heading: str) -> Iterator[tuple[Table, str]]:
    """Yields the table of the changes over days."""
    table = dense(heading)
    for name in ("scheme", "over days (95 %)", "another day (95 %)", "least", "most", "I²", "p"):
        table.add_column(name, justify="left" if name == "scheme" else "right", overflow="fold")
    for item in items:
        changes = [effect.change.mean for effect in item.known]
        ends = (min(changes), max(changes)) if changes else (float("nan"), float("nan"))
        one = item.heterogeneity
        table.add_row(
            marked(item.scheme),
            _coloured(item.change, change_text(item.change.mean, item.change.low, item.change.high)),
            prediction_text(item),
            *(capped(end) if isfinite(end) else "–" for end in ends),
            share_text(one.i_squared) if one else "–",
            f"{one.p_value:.2g}" if one else "–",
        )
    yield table, ""


def prediction_text(item: DaysFinding) -> str:
    """Returns the range of the change on one more day, `–` where there are too few days."""
    one = item.another_day
    return f"{capped(one.low)}…{capped(one.high)}" if one.has_interval else "–"


def _by_day(items: Sequence[DaysFinding], heading: str) -> Iterator[tuple[Table, str]]:
    """Yields a table with a line per day, with the intervals, and one without them."""
    for with_ends in (True, False):
        table = dense(heading)
        table.add_column("day", overflow="fold")
        for item in items:
            table.add_column(marked(item.scheme), justify="right", overflow="fold")
        for place, effect in enumerate(items[0].effects):
            own = [item.effects[place] for item in items]
            table.add_row(effect.day, *(_effect(one, with_ends) for one in own))
        yield table, "" if with_ends else "the intervals"


def _effect(effect: DayEffect, with_ends: bool) -> Text:
    change = effect.change
    if not isfinite(change.mean):
        return Text(without_change(effect))
    ends = f" ({capped(change.low)}…{capped(change.high)})" if with_ends and change.has_interval else ""
    return _coloured(change, f"{capped(change.mean)}{ends}")


def without_change(effect: DayEffect) -> str:
    """Returns why a day has no change: `too few` transfers to be judged, or `none`."""
    return "none" if effect.left_out is None else "too few"


def _coloured(change: Estimate, text: str) -> Text:
    return Text(text, style="green" if change.high < 0 else "red" if change.low > 0 else "")
