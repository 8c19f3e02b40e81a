"""What RuN2C measures of a run: response times of short and of large transfers, and by size."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.runs import RunResult

SHORT_BYTES, LONG_BYTES = 30_000, 300_000
EDGES_KB = np.geomspace(1, 5000, 25)


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures response times; one without an end counts until the run's end, which is too little.

    Times are in seconds, sizes in kB; a class of sizes without transfers has NaN.
    """
    transfers, end_s = result.transfers(), float(result.summary()["window_end_s"])
    ended = np.where(np.isnan(transfers["end_s"]), end_s, transfers["end_s"])
    took, size = ended - transfers["start_s"], transfers["bytes"]
    place = np.digitize(size / 1000, EDGES_KB)
    of_size = [took[place == one] for one in range(1, EDGES_KB.size)]
    large = took[size > LONG_BYTES]
    return {
        "short_s": np.mean(took[size <= SHORT_BYTES]),
        "long_s": np.mean(large),
        "long_p95_s": np.quantile(large, 0.95),
        "all_s": np.mean(took),
        "size_kb": EDGES_KB[:-1],
        "by_size_s": [one.mean() if one.size else np.nan for one in of_size],
    }
