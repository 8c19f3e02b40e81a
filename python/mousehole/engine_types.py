"""Types of what the engine takes and returns: scenarios, traffic summaries, counters and records.

`_engine.pyi` uses them, and `python/tests/test_engine_types.py` compares them with what the engine returns.
Units are in the names (`_s`, `_bps`, `_bytes`); docs/json.md and docs/scenario.md explain the fields.
"""

from typing import Literal, TypedDict

from mousehole.engine_structs import *  # noqa: F403 (all of them are types of the border)
from mousehole.engine_structs import Floats, JsonValue, ParameterEntry, UInts64, WredEntry

TransferKeys = tuple[UInts64, Floats]
"""Keys of transfers in rising order, and their response times."""
Role = Literal["size", "short", "long", "all"]
"""What a size bucket is for."""
TableRows = Literal["bucket", "scheme", "colour", "curve", "cdf", "group", "size"]
"""A table of a comparison whose rows the engine makes."""


ModelParams = dict[str, JsonValue]
"""Parameters of a traffic model, by name."""


class ApplicationColumns(TypedDict):
    """One row per figure of an application; `what` is a quantity's name, `kind` None without a kind."""

    group: list[str]
    kind: list[str | None]
    what: list[str]
    value: list[float | None]
    is_primary: list[bool]


Counter = Literal["arrived", "early", "forced", "fault", "policed", "dropped", "marked", "sent"]
"""What can be counted of a packet at a queue."""


class OwnPolicy(TypedDict):
    """A user's own policy in a scheme: its name, its header's path and SHA-256."""

    name: str
    header: str
    sha256: str


class CatalogueEntry(TypedDict):
    """Something that a scheme may name: its texts and its parameters."""

    name: str
    summary: str
    source: str
    detail: str
    params: list[ParameterEntry]


class SchemeEntry(CatalogueEntry):
    """One named scheme; `stages` are its parts, markers first."""

    stages: list[str]


class PartEntry(CatalogueEntry):
    """A marker or queue that schemes are made of; a user's own policy has a header and its SHA-256."""

    role: Literal["marker", "queue"]
    order: Literal["fifo", "several"]
    installed_by: str
    is_policy: bool
    header: str | None
    sha256: str | None


class InstallPlan(TypedDict):
    """What installs a scheme in one direction of a link."""

    place: str
    lines: list[str]
    live: str | None
    wred: list[WredEntry]
    needs: list[str]
    direction: str


class LinkWayStatus(TypedDict):
    """One direction of a link: what left it within a second, and what waits, by colour, best first."""

    rate_bps: float
    waiting: list[int]
    dropped: int
    marked: int


class LinkStatus(TypedDict):
    """Both directions of a link at a moment, and how late packets were in the second before."""

    at_s: float
    down: LinkWayStatus
    up: LinkWayStatus
    late_most_s: float
    late_share: float
