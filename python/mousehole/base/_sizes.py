"""Size classes of transfers: the buckets of the tables and the narrower bins of the curves."""

from typing import Literal

from mousehole import _engine
from mousehole._engine import Bucket as Bucket
from mousehole._engine import size_text as size_text
from mousehole.engine_types import Floats
from mousehole.engine_types import Role as Role

CURVE_EDGES_BYTES: Floats = _engine.curve_edges_bytes()
"""Edges of the size bins of the response time curve, in bytes: five bins per decade."""
CDF_TIMES_S: Floats = _engine.cdf_times_s()
"""Response times at which the distribution of short transfers is sampled: a hundred per decade."""
Summary = Literal["short", "long", "all"]
"""Roles of which there is exactly one bucket each."""


def buckets(short_bytes: int, long_bytes: int) -> tuple[Bucket, ...]:
    """Returns the buckets in the order of the tables: by size, then short, long and all.

    The limits of short and long transfers are in bytes.
    """
    return tuple(_engine.buckets(short_bytes, long_bytes))
