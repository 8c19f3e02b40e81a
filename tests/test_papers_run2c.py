"""RuN2C's folder: its measure on records with known answers."""

from typing import Any, cast

import numpy as np
import pytest
from mousehole.runs import RunResult

from papers.run2c import measures


class Recorded:
    """A run of a short transfer, and of two large ones, one of which did not end."""

    def transfers(self) -> dict[str, Any]:
        """Returns three transfers."""
        return {
            "start_s": np.array([0.0, 1.0, 2.0]),
            "end_s": np.array([0.5, 4.0, np.nan]),
            "bytes": np.array([10_000, 400_000, 900_000]),
        }

    def summary(self) -> dict[str, float]:
        """Returns the end of the window."""
        return {"window_end_s": 9.0}


def test_measure__an_endless_transfer_counts_until_the_end() -> None:
    found = measures.measure(cast(RunResult, Recorded()))
    assert found["short_s"] == 0.5
    assert found["long_s"] == pytest.approx((3.0 + 7.0) / 2)
    assert found["all_s"] == pytest.approx(10.5 / 3)
    assert np.nansum(found["by_size_s"]) == pytest.approx(10.5)
