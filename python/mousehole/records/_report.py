"""One run as a document: what was measured, every link, and the flows beside the transfers."""

from collections.abc import Iterator, Sequence
from math import isfinite
from typing import Protocol

import polars as pl

from mousehole import quantities
from mousehole._engine import DROP_REASONS
from mousehole.base import counted, engine_text, rate_text, share_text, time_text, unit_text
from mousehole.document import Cell, Column, Document, Items, Prose, Row, Section, Table
from mousehole.engine_types import Counter, QueueCounters, RunSummary, Scenario
from mousehole.html.common import made_section

SIMULATED = "simulated"
MOST_LINES = 10
"""Lines of a run as text."""


class OneRun(Protocol):
    """What is shown of the records of a run; see `records.Records`."""

    @property
    def scenario(self) -> Scenario:
        """The scenario, filled in."""

    @property
    def manifest(self) -> dict[str, object]:
        """Everything that determines the run."""

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per measured transfer."""

    @property
    def queues(self) -> list[QueueCounters]:
        """The counters of every link."""

    @property
    def summary(self) -> RunSummary:
        """Load, goodput, and how much was simulated."""

    @property
    def flows(self) -> pl.DataFrame:
        """One row per long-lived flow."""

    @property
    def datagrams(self) -> pl.DataFrame:
        """One row per datagram flow."""

    @property
    def applications(self) -> pl.DataFrame:
        """One row per figure of an application."""


def run_document(done: OneRun, command: Sequence[str] | None = None, how: str = SIMULATED) -> Document:
    """Returns the document of a run; `command` is what was typed, `how` says what its seconds are."""
    beside = list(_beside_transfers(done))
    blocks = [_queue_table(done.queues), Prose(_simulated(done, how)), *([Items(beside)] if beside else [])]
    made = made_section(done.manifest, command, seed_note=how == SIMULATED)
    sections = [Section("links", "The links", blocks), made]
    return Document(_measured(done), "", sections, footer=f"Mousehole {engine_text()}")


def run_text(done: OneRun) -> str:
    """Returns a run as text of at most ten lines."""
    links = [_link_text(queue) for queue in done.queues]
    lines = [_measured(done), _simulated(done), *links, *_beside_transfers(done)]
    rest = len(lines) - MOST_LINES + 1
    return "\n".join(lines if rest <= 1 else [*lines[:-rest], f"and {rest} lines more"])


def _measured(done: OneRun) -> str:
    count, unfinished = len(done.transfers), int(done.transfers["end_s"].is_nan().sum())
    return f"{done.scenario['scheme']}: {counted(count, 'transfer')} measured, {unfinished} unfinished"


def _simulated(done: OneRun, how: str = SIMULATED) -> str:
    summary = done.summary
    return (
        f"goodput {rate_text(summary['goodput_bps'])}, {summary['packets']} packets, "
        f"{summary['simulated_s']:.6g} s {how}"
    )


def _link_text(queue: QueueCounters) -> str:
    arrived, dropped = (sum(colour[name] for colour in queue["colours"]) for name in ("arrived", "dropped"))
    rate, used = rate_text(queue["capacity_bps"]), share_text(queue["utilisation"])
    lost, delay = share_text(dropped / arrived if arrived else 0.0), time_text(queue["delay_p95_s"])
    return f"link {queue['name']}: {rate}, {used} utilised, {lost} lost, delay p95 {delay}"


def _beside_transfers(done: OneRun) -> Iterator[str]:
    """Returns a line per source and direction of long-lived flows and datagrams, and per application."""
    for (source, upload), group in done.flows.group_by(["source", "upload"], maintain_order=True):
        rate = rate_text(float(group["goodput_bps"].sum()))
        flows = "flow" if len(group) == 1 else "flows"
        yield f"{source} {_direction(upload)}: {len(group)} long-lived {flows}, {rate}"
    for (source, upload), group in done.datagrams.group_by(["source", "upload"], maintain_order=True):
        sent, lost = int(group["sent"].sum()), int(group["lost"].sum())
        share = share_text(lost / sent if sent else 0.0)
        late = group["delay_p95_s"].fill_nan(None).max()
        delay = f", one-way delay p95 up to {time_text(late)}" if isinstance(late, float) else ""
        yield f"{source} {_direction(upload)}: {sent} datagrams, {share} lost{delay}"
    felt = done.applications.filter(pl.col("kind").is_not_null() & pl.col("is_primary"))
    for (group,), rows in felt.group_by(["group"], maintain_order=True):
        figures = (_figure(row["what"], row["value"]) for row in rows.to_dicts())
        yield f"{group}: {', '.join(figures)}"


def _figure(what: str, value: float) -> str:
    one = quantities.find("application", what)
    return f"{one.short} {unit_text(one.unit, value)}"


def _direction(upload: object) -> str:
    return "up" if upload else "down"


def _queue_table(queues: list[QueueCounters]) -> Table:
    """Returns a row per link and colour; a reason for which nothing was dropped has no column."""
    colours = [colour for queue in queues for colour in queue["colours"]]
    reasons = [name for name in DROP_REASONS if any(colour[name] for colour in colours)]
    names: tuple[Counter, ...] = ("arrived", *reasons, "marked", "sent")
    rows: list[Row] = [
        [
            queue["name"],
            _cell(rate_text(queue["capacity_bps"]), queue["capacity_bps"]),
            _cell(share_text(queue["utilisation"]), queue["utilisation"]),
            colour["name"],
            *(_cell(str(colour[name]), colour[name]) for name in names),
            *(_cell(time_text(delay), delay)
              for delay in (queue["delay_p50_s"], queue["delay_p95_s"], queue["delay_p99_s"])),
        ]
        for queue in queues for colour in queue["colours"] if colour["arrived"]
    ]  # fmt: skip
    texts = ("link", "colour")
    headings = ("link", "rate", "utilised", "colour", *names, "delay p50", "p95", "p99")
    columns = [Column(heading, is_number=heading not in texts) for heading in headings]
    return Table("Packets of each link by colour", columns, rows)


def _cell(text: str, value: float | None) -> Cell:
    return Cell(text, value if value is not None and isfinite(value) else None)
