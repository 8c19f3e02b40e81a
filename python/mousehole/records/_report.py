"""One run as a document: its transfers, every link, and its other flows."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any, Protocol

import numpy as np

from mousehole import quantities
from mousehole._engine import DROP_REASONS
from mousehole.base import (
    counted,
    engine_text,
    rate_text,
    share_text,
    time_text,
    transpose_columns,
    unit_text,
)
from mousehole.document import Cell, Column, Document, Items, Prose, Row, Section, Table
from mousehole.engine_types import Counter, QueueCounters, RunSummary, Scenario
from mousehole.html.common import make_provenance_section
from mousehole.records._columns import RecordColumns

SIMULATED = "simulated"
MOST_LINES = 10
"""Lines of a run as text."""


class OneRun(Protocol):
    """The part of a run's records that is shown; see `records.Records`."""

    @property
    def scenario(self) -> Scenario:
        """Returns the scenario, filled in."""

    @property
    def manifest(self) -> dict[str, object]:
        """Returns everything that determines the run."""

    @property
    def columns(self) -> RecordColumns:
        """Returns the tables of the run."""

    @property
    def queues(self) -> list[QueueCounters]:
        """Returns the counters of every link, the bottleneck first."""

    @property
    def summary(self) -> RunSummary:
        """Returns load, goodput, and the amount of simulated work."""


def make_run_document(done: OneRun, command: Sequence[str] | None = None, how: str = SIMULATED) -> Document:
    """Returns the document of a run.

    `command` is the command line as typed, None where Python was the caller. `how` is the word for its
    seconds: simulated, or in real time; only a simulated run has the note on seeds.
    """
    beside = list(_describe_other_flows(done))
    blocks = [
        _make_queue_table(done.queues),
        Prose(_describe_simulated(done, how)),
        *([Items(beside)] if beside else []),
    ]
    made = make_provenance_section(done.manifest, command, seed_note=how == SIMULATED)
    sections = [Section("links", "The links", blocks), made]
    return Document(_describe_measured(done), "", sections, footer=f"Mousehole {engine_text()}")


def describe_run(done: OneRun) -> str:
    """Returns a run as text of at most `MOST_LINES` lines, the last of which counts the lines left out."""
    links = [_describe_link(queue) for queue in done.queues]
    lines = [_describe_measured(done), _describe_simulated(done), *links, *_describe_other_flows(done)]
    rest = len(lines) - MOST_LINES + 1
    return "\n".join(lines if rest <= 1 else [*lines[:-rest], f"and {rest} lines more"])


def _describe_measured(done: OneRun) -> str:
    """Returns a clause with the scheme, the number of measured transfers, and that of unfinished ones."""
    ends = done.columns.transfers["end_s"]
    count, unfinished = len(ends), int(np.isnan(ends).sum())
    return f"{done.scenario['scheme']}: {counted(count, 'transfer')} measured, {unfinished} unfinished"


def _describe_simulated(done: OneRun, how: str = SIMULATED) -> str:
    """Returns a clause with goodput, packets and simulated time."""
    summary = done.summary
    return (
        f"goodput {rate_text(summary['goodput_bps'])}, {summary['packets']} packets, "
        f"{summary['simulated_s']:.6g} s {how}"
    )


def _describe_link(queue: QueueCounters) -> str:
    """Returns a line with rate, utilisation, loss and 95th percentile of delay of a link."""
    arrived, dropped = (sum(colour[name] for colour in queue["colours"]) for name in ("arrived", "dropped"))
    rate, used = rate_text(queue["capacity_bps"]), share_text(queue["utilisation"])
    lost, delay = share_text(dropped / arrived if arrived else 0.0), time_text(queue["delay_p95_s"])
    return f"link {queue['name']}: {rate}, {used} utilised, {lost} lost, delay p95 {delay}"


def _describe_other_flows(done: OneRun) -> Iterator[str]:
    """Yields a line per source and direction of long-lived flows and datagrams, and per application."""
    tables = done.columns
    for (source, upload), flows in _group_rows(tables.flows, "source", "upload"):
        rate = rate_text(sum(flow["goodput_bps"] for flow in flows))
        noun = "flow" if len(flows) == 1 else "flows"
        yield f"{source} {_name_direction(upload)}: {len(flows)} long-lived {noun}, {rate}"
    for (source, upload), flows in _group_rows(tables.datagrams, "source", "upload"):
        sent, lost = (sum(flow[name] for flow in flows) for name in ("sent", "lost"))
        share = share_text(lost / sent if sent else 0.0)
        late = [flow["delay_p95_s"] for flow in flows if not isnan(flow["delay_p95_s"])]
        delay = f", one-way delay p95 up to {time_text(max(late))}" if late else ""
        yield f"{source} {_name_direction(upload)}: {sent} datagrams, {share} lost{delay}"
    for (group,), rows in _group_rows(tables.applications, "group"):
        figures = [
            _describe_figure(row["what"], row["value"]) for row in rows if row["kind"] and row["is_primary"]
        ]
        if figures:
            yield f"{group}: {', '.join(figures)}"


def _group_rows(
    columns: Mapping[str, Any], *keys: str
) -> Iterable[tuple[tuple[Any, ...], list[dict[str, Any]]]]:
    """Returns the rows of a table by the values of `keys`, in the order in which these first appear."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in transpose_columns(columns):
        groups.setdefault(tuple(row[key] for key in keys), []).append(row)
    return groups.items()


def _describe_figure(what: str, value: float) -> str:
    """Returns a figure of an application as text, with its short name.

    Raises `KeyError` for an unknown one.
    """
    one = quantities.find("application", what)
    return f"{one.short} {unit_text(one.unit, value)}"


def _name_direction(upload: object) -> str:
    """Returns `up` for an upload, else `down`."""
    return "up" if upload else "down"


def _make_queue_table(queues: list[QueueCounters]) -> Table:
    """Returns a table with a row per link and colour that has packets.

    A reason for which nothing was dropped has no column.
    """
    colours = [colour for queue in queues for colour in queue["colours"]]
    reasons = [name for name in DROP_REASONS if any(colour[name] for colour in colours)]
    names: tuple[Counter, ...] = ("arrived", *reasons, "marked", "sent")
    rows: list[Row] = [
        [
            queue["name"],
            Cell(rate_text(queue["capacity_bps"]), queue["capacity_bps"]),
            Cell(share_text(queue["utilisation"]), queue["utilisation"]),
            colour["name"],
            *(Cell(str(colour[name]), colour[name]) for name in names),
            *(Cell(time_text(delay), delay)
              for delay in (queue["delay_p50_s"], queue["delay_p95_s"], queue["delay_p99_s"])),
        ]
        for queue in queues for colour in queue["colours"] if colour["arrived"]
    ]  # fmt: skip
    texts = ("link", "colour")
    headings = ("link", "rate", "utilised", "colour", *names, "delay p50", "p95", "p99")
    columns = [Column(heading, is_number=heading not in texts) for heading in headings]
    return Table("Packets of each link by colour", columns, rows)
