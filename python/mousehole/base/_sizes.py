"""Size classes of transfers: the buckets of the tables and the narrower bins of the curves."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

EDGES_BYTES = (2_000, 5_000, 50_000, 1_000_000)
"""Fixed bucket edges; the user's limits of short and long transfers are added to them (1 kB = 1000 B)."""
CURVE_EDGES_BYTES: NDArray[np.float64] = np.geomspace(100, 1e8, 31)
"""Edges of the size bins of the response time curve, in bytes: five bins per decade."""
CDF_TIMES_S: NDArray[np.float64] = np.geomspace(1e-3, 1e3, 601)
"""Response times at which the distribution of short transfers is sampled: a hundred per decade."""
Role = Literal["size", "short", "long", "all"]
Summary = Literal["short", "long", "all"]
"""Roles of which there is exactly one bucket each."""


@dataclass(frozen=True)
class Bucket:
    """Transfers of more than `low_bytes` and at most `high_bytes` of payload (None: no upper limit).

    The buckets of role `size` divide all transfers; there is one summary bucket each for `short`, `long` and
    `all`.
    """

    name: str
    low_bytes: int
    high_bytes: int | None
    role: Role

    def mask(self, sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Returns, for each of `sizes` in bytes, whether it belongs to this bucket."""
        inside = sizes > self.low_bytes
        return inside if self.high_bytes is None else inside & (sizes <= self.high_bytes)


def buckets(short_bytes: int, long_bytes: int) -> tuple[Bucket, ...]:
    """Returns the buckets in the order of the tables: by size, then short, long and all."""
    edges = [0, *sorted({*EDGES_BYTES, short_bytes, long_bytes})]
    by_size = [_bucket(low, high, "size") for low, high in zip(edges, [*edges[1:], None], strict=True)]
    short, long = _bucket(0, short_bytes, "short"), _bucket(long_bytes, None, "long")
    return (*by_size, short, long, Bucket("all", 0, None, "all"))


def size_text(size: float) -> str:
    """Returns a size in bytes as text: `15 kB` for 15000, `1 MB` for 1000000."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.4g} {unit}"
    return f"{size:.4g} B"


def _bucket(low: int, high: int | None, role: Role) -> Bucket:
    return Bucket(_range_text(low, high), low, high, role)


def _range_text(low: int, high: int | None) -> str:
    if high is None:
        return f"> {size_text(low)}"
    if low == 0:
        return f"≤ {size_text(high)}"
    first, last = size_text(low), size_text(high)
    same_unit = first.split()[1] == last.split()[1]
    return f"{first.split()[0] if same_unit else first}–{last}"
