"""The account of traffic as it was read: what was left out, what was faulty, what a reader should know.

`TrafficSummary` holds it as data; every report takes its sentences from here.
"""

from dataclasses import dataclass
from typing import Literal

from mousehole.base import counted, size_text
from mousehole.engine_types import SkippedRows, TrafficSummary

CAPTURES = ("pcap", "pcapng", "snoop", "erf")
"""Kinds of files whose rows are packets."""


@dataclass(frozen=True)
class Remark:
    """One sentence of the account."""

    kind: Literal["skipped", "faulty", "note"]
    text: str

    def __str__(self) -> str:
        """Returns the sentence with its kind before it."""
        return f"{self.kind}: {self.text}"


def remarks(summary: TrafficSummary) -> list[Remark]:
    """Returns the account in sentences: rows left out by reason, faulty rows, then the notes."""
    unit = row_unit(summary)
    skipped = [Remark("skipped", _skipped_text(entry, unit)) for entry in summary["skipped"]]
    faults = summary["faults"]
    faulty = [Remark("faulty", f"{counted(faults['count'], unit)}; the first: {faults['first']}")]
    notes = [Remark("note", note["text"]) for note in summary["notes"]]
    return [*skipped, *(faulty if faults["count"] else []), *notes]


def row_unit(summary: TrafficSummary) -> str:
    """Returns what a row is: a packet if all files are captures."""
    return "packet" if all(source["kind"] in CAPTURES for source in summary["sources"]) else "row"


def _skipped_text(entry: SkippedRows, unit: str) -> str:
    whole = entry["connections"]
    within = f" of {counted(whole, 'connection')}" if whole else ""
    return f"{counted(entry['rows'], unit)} with {size_text(entry['bytes'])}{within}: {entry['reason']}"
