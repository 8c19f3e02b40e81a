"""The account of traffic as it was read: what was left out, what was faulty, what a reader should know.

`TrafficSummary` holds it as data; every report takes its words from the engine (`compare/src/account.rs`).
"""

from dataclasses import dataclass
from typing import Literal

from mousehole import _engine
from mousehole.engine_types import TrafficSummary


@dataclass(frozen=True)
class Remark:
    """One sentence of the account."""

    kind: Literal["skipped", "faulty", "note"]
    text: str

    def __str__(self) -> str:
        """Returns the sentence with its kind before it."""
        return f"{self.kind}: {self.text}"


def list_remarks(summary: TrafficSummary) -> list[Remark]:
    """Returns the account in sentences: rows left out by reason, faulty rows, then the notes."""
    return [Remark(kind, text) for kind, text in _engine.traffic_account(summary)[2]]
