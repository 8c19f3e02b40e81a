"""Loads of a page as a document: a line per scheme, what must be known of them, and the median loads."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isfinite

import altair as alt

from mousehole.base import counted, engine_text, rate_text, share_text, signed, size_text, time_text
from mousehole.charts import make_scheme_series
from mousehole.charts.marks import make_chart
from mousehole.document import (
    Block,
    Cell,
    Chart,
    Column,
    Document,
    Items,
    Prose,
    Row,
    Section,
    Table,
    Tone,
    Verdict,
)
from mousehole.html.common import make_provenance_section
from mousehole.html.figures import describe_changes, make_change_cell, make_interval_chart
from mousehole.html.pictures import list_choices
from mousehole.page import _waterfall as waterfall
from mousehole.page._progress import Steps
from mousehole.page._results import PRIMARY, PageResults, SchemeRow, Trial, sort_by_request
from mousehole.page.predict import Prediction
from mousehole.statistics import LEAST_REPLICATIONS, Estimate

FIRST_PAINT, LARGEST_PAINT, SPEED, BULK = "first\npaint", "largest\npaint", "speed\nindex", "\nbulk"
PARTS = (0.5, 0.85, 1.0)
"""Parts of the visual progress whose times the chart's table has."""
ENDS = "In parentheses: 95 % intervals over loads, paired by round. Those of the load hold for all schemes " \
       "together; paints and speed index are exploratory."  # fmt: skip


def make_document(
    results: PageResults, prediction: Prediction | None = None, command: Sequence[str] | None = None
) -> Document:
    """Returns the document of loads, with a column of simulated times if there is a prediction.

    `command` is the command line as typed, None where Python was the caller.
    """
    rows = results.rows()
    loads: list[Block] = [
        _make_times_table(results, rows, prediction),
        *_list_change_charts(results, rows),
        *_list_progress_charts(results),
    ]
    remarks = [
        Items(texts, tone)
        for tone, texts in _group_by_tone(_yield_remarks(results, rows, prediction)).items()
    ]
    return Document(
        title=waterfall.write_title(results),
        subtitle=f"{counted(results.rounds, 'load')} under each of {len(results.schemes)} schemes.",
        verdict=Verdict(_describe_answer(results, rows), "open", "What was measured"),
        choices=list_choices(make_scheme_series(results.schemes)),
        sections=[
            Section("loads", "Times of the page", [*loads, *remarks], "Times"),
            Section("objects", "The median loads, object by object",
                    list(_yield_waterfalls(results)), "Objects", "page"),
            make_provenance_section(results.manifest, command, seed_note=False),
        ],
        footer=f"Mousehole {engine_text()}",
    )  # fmt: skip


def _describe_answer(results: PageResults, rows: Sequence[SchemeRow]) -> list[str]:
    """Returns a sentence for each scheme whose load is clearly faster or slower than the baseline's.

    If there is none, one sentence says so.
    """
    lines = []
    for row in rows:
        change = row.changes.get(PRIMARY)
        if change is not None and change.has_interval and change.low * change.high > 0:
            word = "faster" if change.high < 0 else "slower"
            lines.append(
                f"Under {row.scheme} the page loads {word}: {time_text(row.times[PRIMARY].mean)}, "
                f"{signed(change.mean)} % ({signed(change.low)}…{signed(change.high)})."
            )
    return lines or [f"No scheme clearly changes the load against {results.baseline}."]


def _make_times_table(
    results: PageResults, rows: Sequence[SchemeRow], prediction: Prediction | None
) -> Table:
    """Returns the table of times and changes by scheme; a narrow terminal leaves out paints and downloads."""
    baseline = results.baseline
    first_change, speed_change = f"first paint\nto {baseline}", f"speed index\nto {baseline}"
    headings = ["\nload", f"load to\n{baseline}"]
    headings += [] if prediction is None else ["simulated\nload", f"simulated to\n{baseline}"]
    headings += [SPEED, speed_change, FIRST_PAINT, first_change, LARGEST_PAINT]
    headings += [BULK] if results.setting.bulk else []
    cells: list[Row] = []
    for row in rows:
        simulated = [] if prediction is None else [
            _make_time_cell(prediction.time(row.scheme)),
            make_change_cell(None if row.scheme == baseline else prediction.change(row.scheme)),
        ]  # fmt: skip
        bulk = [Cell(rate_text(row.bulk_bps.mean), row.bulk_bps.mean)] if results.setting.bulk else []
        cells.append([
            row.scheme, _make_time_cell(row.times["load"]), make_change_cell(row.changes.get("load")),
            *simulated,
            _make_time_cell(row.times["speed_index"]), make_change_cell(row.changes.get("speed_index")),
            _make_time_cell(row.times["first_paint"]), make_change_cell(row.changes.get("first_paint")),
            _make_time_cell(row.times["largest_paint"]), *bulk,
        ])  # fmt: skip
    columns = [Column("\nscheme", is_number=False), *map(Column, headings)]
    return Table(
        "Mean times, and changes of the mean", columns, cells, [row.scheme for row in rows],
        ends=ENDS if results.rounds >= LEAST_REPLICATIONS else "",
        gives_way=(first_change, LARGEST_PAINT, speed_change, BULK, FIRST_PAINT, SPEED),
    )  # fmt: skip


def _make_time_cell(time: Estimate) -> Cell:
    """Returns a table cell with a mean time."""
    return Cell(time_text(time.mean), time.mean)


def _list_change_charts(results: PageResults, rows: Sequence[SchemeRow]) -> list[Chart]:
    """Returns the chart of the changes of the load's time, in a list; empty if no change is known."""
    changes = {row.scheme: row.changes[PRIMARY] for row in rows if PRIMARY in row.changes}
    if not any(isfinite(change.mean) for change in changes.values()):
        return []
    seen = describe_changes(changes, "loads", results.baseline)
    title = f"Change of the load's time against {results.baseline}"
    return [make_interval_chart("changes", title, title, changes, seen)]


def _list_progress_charts(results: PageResults) -> list[Chart]:
    """Returns the chart of the visual progress of the median loads, in a list; empty if none was filmed."""
    known = {
        scheme: trial.load.progress
        for scheme in results.schemes
        if (trial := results.middle(scheme)) is not None and trial.load.progress
    }
    if not known:
        return []
    end = max(steps[-1][0] for steps in known.values())
    rows = [
        {"scheme": scheme, "time": time, "progress": share}
        for scheme, steps in known.items()
        for time, share in [*steps, (end, steps[-1][1])]
    ]
    series = make_scheme_series(results.schemes)
    lines = series.filter_chosen(make_chart(rows).mark_line(interpolate="step-after")).encode(
        x=alt.X("time:Q", title="seconds", scale=alt.Scale(domain=[0, 1.02 * end], nice=False)),
        y=alt.Y("progress:Q", title="looks complete", axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1])),
        color=series.colour(), strokeDash=series.dash(),
    )  # fmt: skip
    names = [f"{share_text(part)} complete" for part in PARTS]
    reached = {
        scheme: [_find_time_to_reach(steps, part) for part in PARTS] for scheme, steps in known.items()
    }
    table = Table(
        "When the median loads reached this progress",
        [Column("scheme", is_number=False), *map(Column, names)],
        [[scheme, *(Cell(time_text(time), time) for time in times)] for scheme, times in reached.items()],
        list(known),
    )  # fmt: skip
    title = "Visual progress of the median loads"
    seen = (
        "How alike a picture of the page is to the complete page; the area above a line is its speed index."
    )
    return [Chart("progress", title, seen, lines, table, height=260, printed="details")]


def _find_time_to_reach(steps: Steps, part: float) -> float:
    """Returns the time, in seconds, from which on at least the share `part` of a page is shown.

    If the share is never reached, it is the last time known.
    """
    below = [place for place, (_, share) in enumerate(steps) if share < part]
    return steps[min(below[-1] + 1, len(steps) - 1)][0] if below else 0.0


def _yield_remarks(
    results: PageResults, rows: Sequence[SchemeRow], prediction: Prediction | None
) -> Iterator[tuple[str, Tone]]:
    """Yields the remarks on the loads, each with its tone: repeats, loads and objects missing, conditions."""
    repeats = sum(trial.repeats for trial in results.trials)
    if repeats:
        yield f"{counted(repeats, 'load')} repeated because the link was late.", "dim"
    for row in rows:
        for reason, number in Counter(row.missing).items():
            yield (
                f"{row.scheme}: {counted(number, 'load')} of {results.rounds} not compared: {reason}.",
                "open",
            )
        if row.incomplete > 0:
            yield f"{row.scheme}: {row.incomplete:.3g} objects per load did not arrive whole.", "open"
    whole = [row.objects for row in rows if isfinite(row.objects)]
    if whole:
        least, most = min(whole), max(whole)
        whole_text = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}"
        yield f"{whole_text} objects arrived per load. The time is that of the load event's end.", "dim"
    if results.rounds < LEAST_REPLICATIONS:
        yield f"{counted(results.rounds, 'load')} per scheme give no interval; five do.", "open"
    if prediction is not None:
        yield prediction.words, "dim"
    for note in results.setting.notes:
        yield note, "dim"
    for sandbox in dict.fromkeys(trial.load.sandbox for trial in results.trials if trial.load.sandbox):
        yield f"Chromium ran with --no-sandbox: {sandbox}.", "dim"


def _group_by_tone(remarks: Iterator[tuple[str, Tone]]) -> dict[Tone, list[str]]:
    """Returns the texts of remarks by tone, in their order."""
    found: dict[Tone, list[str]] = {}
    for text, tone in remarks:
        found.setdefault(tone, []).append(text)
    return found


def _yield_waterfalls(results: PageResults) -> Iterator[Chart | Prose]:
    """Yields a waterfall chart for each scheme of its median load, or a sentence if it has none."""
    drawn = waterfall.Drawing.from_results(results)
    for place, (scheme, trial) in enumerate(drawn.shown.items()):
        if trial is None:
            yield Prose(f"{scheme}: no load that counts")
            continue
        yield Chart(
            f"waterfall-{place}",
            scheme,
            f"{waterfall.write_caption(results, scheme, trial)}. Each line is an object, in the order in "
            "which the page asked for it: thin while it waits, pale until its first byte, full until its "
            "last.",
            drawn.panel(trial, is_first=True),
            _make_object_table(scheme, trial),
            height=drawn.height,
        )


def _make_object_table(scheme: str, trial: Trial) -> Table:
    """Returns a table of the objects of a load with sizes, times and faults."""
    rows: list[Row] = [
        [
            fetch.url, fetch.kind.lower(), Cell(size_text(fetch.size), fetch.size),
            *(Cell("–" if time is None else time_text(time), time)
              for time in (fetch.queued_s, fetch.sent_s, fetch.first_byte_s, fetch.end_s)),
            fetch.fault,
        ]
        for fetch in sort_by_request(trial.load.fetches)
    ]  # fmt: skip
    columns = [
        Column("object", is_number=False), Column("kind", is_number=False),
        *map(Column, ("size", "asked for", "sent", "first byte", "end")), Column("fault", is_number=False),
    ]  # fmt: skip
    return Table(f"{scheme}: the objects of the median load", columns, rows)
