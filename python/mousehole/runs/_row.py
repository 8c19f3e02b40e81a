"""What the rows of all tables have, which `_rows` describes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """The cell that something is about."""

    buffer: str
    load: float | None


@dataclass(frozen=True)
class Row(Place):
    """The cell and scheme that a row of a table is about."""

    scheme: str


@dataclass(frozen=True)
class Change:
    """A relative change over replications: its mean with a 95 % interval, or with the range of values."""

    mean: float
    low: float
    high: float
    is_interval: bool
    """False if there are too few replications: then `low` and `high` are the smallest and largest one."""
