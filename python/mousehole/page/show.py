"""Prints what loads of a page found: a line per scheme, then what must be known of them."""

from collections import Counter
from collections.abc import Iterator
from math import isfinite

from rich.console import Console
from rich.table import Table
from rich.text import Text

from mousehole.page.predict import Prediction
from mousehole.page.results import PageResults, SchemeRow
from mousehole.report_overview import change_text
from mousehole.sizes import size_text
from mousehole.statistics import LEAST_REPLICATIONS, Estimate
from mousehole.tabling import dense, print_fitting, say
from mousehole.texts import counted, rate_text, time_text

GIVE_WAY = ("bulk", "largest\npaint", "change\n", "first\npaint")
"""Columns that are left out of a narrow table, in this order; the second change is that of the first paint."""


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
    for row in rows:
        for reason, number in Counter(row.missing).items():
            yield f"{row.scheme}: {counted(number, 'load')} of {results.rounds} not compared: {reason}.", "yellow"
        if row.incomplete > 0:
            yield f"{row.scheme}: {row.incomplete:.3g} objects per load did not arrive whole.", "yellow"
    whole = [row.objects for row in rows if isfinite(row.objects)]
    if whole:
        least, most = min(whole), max(whole)
        number = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}"
        yield f"{number} objects arrived per load. The time is that of the load event's end.", "dim"
    if results.rounds >= LEAST_REPLICATIONS:
        yield (
            "In parentheses: 95 % intervals over loads, paired by round. Those of the load hold for all schemes "
            "together; paints are exploratory.", "dim",
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
    left_out: list[str] = []
    for more in (None, *GIVE_WAY):
        left_out += [] if more is None else [more]
        columns = _columns(results, prediction, left_out)
        table = dense("Mean times, and changes against the baseline in %")
        for name in columns:
            table.add_column(name, justify="left" if name.endswith("scheme") else "right")
        for row in rows:
            cells = _cells(results, row, prediction)
            table.add_row(*(cells[name] for name in columns))
        yield table, ", ".join(name.strip().replace("\n", " ") for name in left_out)


def _columns(results: PageResults, prediction: Prediction | None, left_out: list[str]) -> list[str]:
    names = list(_cells(results, results.rows()[0], prediction))
    return [name for name in names if name not in left_out]


def _cells(results: PageResults, row: SchemeRow, prediction: Prediction | None) -> dict[str, Text]:
    """Returns the cells of a row by heading."""
    to_baseline = f"to {results.baseline}"
    cells = {
        "\nscheme": Text(row.scheme),
        "\nload": _time(row.times["load"]),
        f"change\n{to_baseline}": change_text(row.changes.get("load")),
    }
    if prediction is not None:
        cells["simulated\nload"] = Text(time_text(prediction.time(row.scheme).mean))
        is_baseline = row.scheme == results.baseline
        cells[f"simulated\n{to_baseline}"] = change_text(None if is_baseline else prediction.change(row.scheme))
    cells |= {
        "first\npaint": _time(row.times["first_paint"]),
        "change\n": change_text(row.changes.get("first_paint")),
        "largest\npaint": _time(row.times["largest_paint"]),
    }
    if results.setting.bulk:
        cells["bulk"] = Text(rate_text(row.bulk_bps.mean))
    return cells


def _time(time: Estimate) -> Text:
    return Text(time_text(time.mean))
