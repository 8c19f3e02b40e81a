"""Size classes of transfers: the buckets of the tables and the finer bins of the curves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EDGES_BYTES = (2_000, 5_000, 50_000, 1_000_000)
"""Bucket edges beside the two that the user sets (short and long); KB = 1000 B."""
CURVE_EDGES_BYTES: NDArray[np.float64] = np.geomspace(100, 1e8, 31)
"""Edges of the bins of the response-against-size curve: five to the decade."""
CDF_TIMES_S: NDArray[np.float64] = np.geomspace(1e-3, 1e3, 601)
"""Response times at which the distribution of short transfers is taken: a hundred to the decade."""


@dataclass(frozen=True)
class Bucket:
    """Transfers of more than `low_bytes` and at most `high_bytes` of payload (None: no upper end).

    `role` is `size` for the buckets that divide all transfers, `short`, `long` or `all` for the summaries.
    """

    name: str
    low_bytes: int
    high_bytes: int | None
    role: str

    def mask(self, sizes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which of `sizes` (bytes) are inside."""
        inside = sizes > self.low_bytes
        return inside if self.high_bytes is None else inside & (sizes <= self.high_bytes)


def buckets(short_bytes: int, long_bytes: int) -> tuple[Bucket, ...]:
    """The buckets in the order of the tables: by size, then short, long and all."""
    edges = [0, *sorted({*EDGES_BYTES, short_bytes, long_bytes})]
    by_size = [_bucket(low, high, "size") for low, high in zip(edges, [*edges[1:], None], strict=True)]
    short, long = _bucket(0, short_bytes, "short"), _bucket(long_bytes, None, "long")
    return (*by_size, short, long, Bucket("all", 0, None, "all"))


def size_text(size: float) -> str:
    """`15000` as `15 kB`, `1000000` as `1 MB`."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.4g} {unit}"
    return f"{size:.4g} B"


def _bucket(low: int, high: int | None, role: str) -> Bucket:
    return Bucket(_range_text(low, high), low, high, role)


def _range_text(low: int, high: int | None) -> str:
    if high is None:
        return f"> {size_text(low)}"
    if low == 0:
        return f"≤ {size_text(high)}"
    first, last = size_text(low), size_text(high)
    same_unit = first.split()[1] == last.split()[1]
    return f"{first.split()[0] if same_unit else first}–{last}"
