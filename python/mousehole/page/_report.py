"""Loads of a page as a document: a line per scheme, what must be known of them, and the median loads."""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isfinite

from mousehole.base import counted, engine_text, rate_text, signed, size_text, time_text
from mousehole.charts import of_schemes
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
from mousehole.html.common import made_section
from mousehole.html.figures import change_cell, changes_sentence, interval_chart
from mousehole.html.pictures import choices
from mousehole.page import _waterfall as waterfall
from mousehole.page._results import PRIMARY, PageResults, SchemeRow, Trial, order
from mousehole.page.predict import Prediction
from mousehole.statistics import LEAST_REPLICATIONS, Estimate

FIRST_PAINT, LARGEST_PAINT, BULK = "first\npaint", "largest\npaint", "\nbulk"
ENDS = "In parentheses: 95 % intervals over loads, paired by round. Those of the load hold for all schemes " \
       "together; paints are exploratory."  # fmt: skip


def document(
    results: PageResults, prediction: Prediction | None = None, command: Sequence[str] | None = None
) -> Document:
    """Returns the document of loads; `command` is what was typed, None where Python was the caller."""
    rows = results.rows()
    loads: list[Block] = [_table(results, rows, prediction), *_changes(results, rows)]
    remarks = [Items(texts, tone) for tone, texts in _by_tone(_remarks(results, rows, prediction)).items()]
    return Document(
        title=waterfall.title_of(results),
        subtitle=f"{counted(results.rounds, 'load')} under each of {len(results.schemes)} schemes.",
        verdict=Verdict(_answer(results, rows), "open", "What was measured"),
        choices=choices(of_schemes(results.schemes)),
        sections=[
            Section("loads", "Times of the page", [*loads, *remarks], "Times"),
            Section("objects", "The median loads, object by object",
                    list(_waterfalls(results)), "Objects", "page"),
            made_section(results.manifest, command, seed_note=False),
        ],
        footer=f"Mousehole {engine_text()}",
    )  # fmt: skip


def _answer(results: PageResults, rows: Sequence[SchemeRow]) -> list[str]:
    """Returns a sentence for each scheme whose load is clearly faster or slower than the baseline's."""
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


def _table(results: PageResults, rows: Sequence[SchemeRow], prediction: Prediction | None) -> Table:
    """Returns times and changes by scheme; paints and downloads give way on a narrow terminal."""
    baseline = results.baseline
    first_change = f"first paint\nto {baseline}"
    headings = ["\nload", f"load to\n{baseline}"]
    headings += [] if prediction is None else ["simulated\nload", f"simulated to\n{baseline}"]
    headings += [FIRST_PAINT, first_change, LARGEST_PAINT, *([BULK] if results.setting.bulk else [])]
    cells: list[Row] = []
    for row in rows:
        simulated = [] if prediction is None else [
            _time(prediction.time(row.scheme)),
            change_cell(None if row.scheme == baseline else prediction.change(row.scheme)),
        ]  # fmt: skip
        bulk = [Cell(rate_text(row.bulk_bps.mean), row.bulk_bps.mean)] if results.setting.bulk else []
        cells.append([
            row.scheme, _time(row.times["load"]), change_cell(row.changes.get("load")), *simulated,
            _time(row.times["first_paint"]), change_cell(row.changes.get("first_paint")),
            _time(row.times["largest_paint"]), *bulk,
        ])  # fmt: skip
    columns = [Column("\nscheme", is_number=False), *map(Column, headings)]
    return Table(
        "Mean times, and changes of the mean", columns, cells, [row.scheme for row in rows],
        ends=ENDS if results.rounds >= LEAST_REPLICATIONS else "",
        gives_way=(first_change, LARGEST_PAINT, BULK, FIRST_PAINT),
    )  # fmt: skip


def _time(time: Estimate) -> Cell:
    return Cell(time_text(time.mean), time.mean if isfinite(time.mean) else None)


def _changes(results: PageResults, rows: Sequence[SchemeRow]) -> list[Chart]:
    changes = {row.scheme: row.changes[PRIMARY] for row in rows if PRIMARY in row.changes}
    if not any(isfinite(change.mean) for change in changes.values()):
        return []
    seen = changes_sentence(changes, "loads", results.baseline)
    title = f"Change of the load's time against {results.baseline}"
    return [interval_chart("changes", title, title, changes, seen)]


def _remarks(
    results: PageResults, rows: Sequence[SchemeRow], prediction: Prediction | None
) -> Iterator[tuple[str, Tone]]:
    """Yields what is to be said of the loads, each with its tone."""
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


def _by_tone(remarks: Iterator[tuple[str, Tone]]) -> dict[Tone, list[str]]:
    found: dict[Tone, list[str]] = {}
    for text, tone in remarks:
        found.setdefault(tone, []).append(text)
    return found


def _waterfalls(results: PageResults) -> Iterator[Chart | Prose]:
    """Yields the load nearest to each scheme's median, with the times of its objects."""
    drawn = waterfall.Drawing.from_results(results)
    for place, (scheme, trial) in enumerate(drawn.shown.items()):
        if trial is None:
            yield Prose(f"{scheme}: no load that counts")
            continue
        yield Chart(
            f"waterfall-{place}",
            scheme,
            f"{waterfall.caption(results, scheme, trial)}. Each line is an object, in the order in which the "
            "page asked for it: thin while it waits, pale until its first byte, full until its last.",
            drawn.panel(trial, is_first=True),
            _objects(scheme, trial),
            height=drawn.height,
        )


def _objects(scheme: str, trial: Trial) -> Table:
    rows: list[Row] = [
        [
            fetch.url, fetch.kind.lower(), Cell(size_text(fetch.size), fetch.size),
            *(Cell("–" if time is None else time_text(time), time)
              for time in (fetch.queued_s, fetch.sent_s, fetch.first_byte_s, fetch.end_s)),
            fetch.fault,
        ]
        for fetch in order(trial.load.fetches)
    ]  # fmt: skip
    columns = [
        Column("object", is_number=False), Column("kind", is_number=False),
        *map(Column, ("size", "asked for", "sent", "first byte", "end")), Column("fault", is_number=False),
    ]  # fmt: skip
    return Table(f"{scheme}: the objects of the median load", columns, rows)
