"""Prints what loads of a page found: a line per scheme, then what must be known of them."""

from collections import Counter
from collections.abc import Iterator
from math import isfinite

from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from mousehole.base import counted, dense, print_fitting, rate_text, say, signed, size_text, time_text
from mousehole.page._results import PageResults, SchemeRow
from mousehole.page.predict import Prediction
from mousehole.statistics import LEAST_REPLICATIONS, Estimate

SCHEME = "\nscheme"
FIRST_PAINT, FIRST_CHANGE = "first\npaint", "first paint\nto {baseline}"
LARGEST_PAINT, BULK = "largest\npaint", "\nbulk"
GIVE_WAY = (FIRST_CHANGE, LARGEST_PAINT, BULK, FIRST_PAINT)
"""Columns that are left out of a table that is too wide, in this order."""


def title(results: PageResults) -> str:
    """Returns page, protocol, downloads and link in words."""
    own = results.setting
    beside = f" beside {counted(own.bulk, 'download')}" if own.bulk else ""
    page = f"{own.page} ({size_text(own.size)}) over HTTP/{own.version}{beside}"
    return f"{page}; {own.rate}, {own.rtt}, buffer {own.buffer}"


def print_page(console: Console, results: PageResults, prediction: Prediction | None) -> None:
    """Prints the table and the remarks."""
    console.print(Text(title(results), style="bold"))
    console.print()
    rows = results.rows()
    print_fitting(console, _forms(results, rows, prediction))
    for text, style in remarks(results, rows, prediction):
        say(console, Text(text, style=style))


def remarks(
    results: PageResults, rows: list[SchemeRow], prediction: Prediction | None
) -> Iterator[tuple[str, str]]:
    """Yields what is to be said under the table, each with its style."""
    repeats = sum(trial.repeats for trial in results.trials)
    if repeats:
        yield f"{counted(repeats, 'load')} repeated because the link was late.", "dim"
    for row in rows:
        for reason, number in Counter(row.missing).items():
            yield (
                f"{row.scheme}: {counted(number, 'load')} of {results.rounds} not compared: {reason}.",
                "yellow",
            )
        if row.incomplete > 0:
            yield f"{row.scheme}: {row.incomplete:.3g} objects per load did not arrive whole.", "yellow"
    whole = [row.objects for row in rows if isfinite(row.objects)]
    if whole:
        least, most = min(whole), max(whole)
        whole_text = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}"
        yield f"{whole_text} objects arrived per load. The time is that of the load event's end.", "dim"
    if results.rounds >= LEAST_REPLICATIONS:
        yield (
            "In parentheses: 95 % intervals over loads, paired by round. Those of the load hold for all "
            "schemes together; paints are exploratory.", "dim",
        )  # fmt: skip
    else:
        yield f"{counted(results.rounds, 'load')} per scheme give no interval; five do.", "yellow"
    if prediction is not None:
        yield prediction.words, "dim"
    for note in results.setting.notes:
        yield note, "dim"
    for sandbox in dict.fromkeys(trial.load.sandbox for trial in results.trials if trial.load.sandbox):
        yield f"Chromium ran with --no-sandbox: {sandbox}.", "dim"


def _forms(
    results: PageResults, rows: list[SchemeRow], prediction: Prediction | None
) -> Iterator[tuple[Table, str]]:
    cells = [_cells(results, row, prediction) for row in rows]
    for count in range(len(GIVE_WAY) + 1):
        left_out = [heading for heading in GIVE_WAY[:count] if heading in cells[0]]
        table = dense("Mean times, and changes of the mean in %")
        for heading in cells[0]:
            if heading not in left_out:
                justify: JustifyMethod = "left" if heading == SCHEME else "right"
                table.add_column(heading.format(baseline=results.baseline), justify=justify)
        for row in cells:
            table.add_row(*(cell for heading, cell in row.items() if heading not in left_out))
        named = (heading.format(baseline=results.baseline) for heading in left_out)
        yield table, ", ".join(name.strip().replace("\n", " ") for name in named)


def _cells(results: PageResults, row: SchemeRow, prediction: Prediction | None) -> dict[str, Text]:
    """Returns the cells of a row by heading."""
    cells = {
        SCHEME: Text(row.scheme),
        "\nload": _time(row.times["load"]),
        "load to\n{baseline}": _change(row.changes.get("load")),
    }
    if prediction is not None:
        is_baseline = row.scheme == results.baseline
        cells |= {
            "simulated\nload": _time(prediction.time(row.scheme)),
            "simulated to\n{baseline}": _change(None if is_baseline else prediction.change(row.scheme)),
        }
    cells |= {
        FIRST_PAINT: _time(row.times["first_paint"]),
        FIRST_CHANGE: _change(row.changes.get("first_paint")),
        LARGEST_PAINT: _time(row.times["largest_paint"]),
    }
    return cells | ({BULK: Text(rate_text(row.bulk_bps.mean))} if results.setting.bulk else {})


def _time(time: Estimate) -> Text:
    return Text(time_text(time.mean))


def _change(change: Estimate | None) -> Text:
    """Returns a change in percent, green or red if both ends of its interval have the same sign."""
    if change is None or not isfinite(change.mean):
        return Text("–")
    if not change.has_interval:
        return Text(signed(change.mean))
    style = "green" if change.high < 0 else "red" if change.low > 0 else ""
    return Text(f"{signed(change.mean)} ({signed(change.low)}…{signed(change.high)})", style=style)
