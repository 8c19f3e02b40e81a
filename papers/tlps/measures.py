"""What 2LPS measures of a run: the mean response time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.runs import RunResult


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures response times in seconds.

    One without an end counts until the run's end, which is too little.
    """
    transfers, end_s = result.transfers(), float(result.summary()["window_end_s"])
    ended = np.where(np.isnan(transfers["end_s"]), end_s, transfers["end_s"])
    return {"all_s": np.mean(ended - transfers["start_s"])}
