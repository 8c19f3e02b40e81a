"""Loads that the resample of some replication cannot meet are refused before anything runs."""

from typing import Any

import mousehole
import numpy as np
import pytest
from mousehole.comparison import _comparison as comparison
from mousehole.runs import _resamples as resamples


def capture(giants: int) -> list[dict[str, Any]]:
    """A capture of 300 clients with small transfers, and of so many with a large one."""
    small = [{"start_s": 0.1 * number, "client": f"a{number}", "bytes": 200} for number in range(300)]
    large = [{"start_s": 1.0 + number, "client": f"b{number}", "bytes": 10**9} for number in range(giants)]
    return [*small, *large]


def never(*_: object) -> None:
    pytest.fail("nothing is to be estimated or run")


def test_compare__refuses_before_it_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "estimated", never)
    monkeypatch.setattr(comparison, "run_plan", never)
    # Of ten resamples, some lack the only large transfer: then the load takes 10^4 times as many copies.
    with pytest.raises(mousehole.MouseholeError, match=r"load: 0.9 takes \d+ connections in \d+ copies"):
        mousehole.compare(capture(1), rate="10gbit", load="0.2,0.9", schemes="sfd", seeds=10)


def test_compare__sets_nothing_up_where_the_limit_is_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resamples, "_set_up", never)
    found = mousehole.compare(
        capture(0), rate="1mbit", load=0.5, schemes="sfd", seeds=1, duration="1s", warmup="1s"
    )  # fmt: skip
    assert found.plan.replications == 1


def test_most_arrivals__takes_the_largest_clients_to_be_missing() -> None:
    sizes, clients = np.ones(114), np.arange(114)
    assert resamples.most_arrivals(sizes, clients, 3.0) == pytest.approx(2 * 3 * 114 * 114 / 100)
    assert resamples.most_arrivals(sizes, clients, 0.1) == pytest.approx(2 * 114 * 114 / 100)
    assert resamples.most_arrivals(sizes, np.zeros(114, int), 3.0) == np.inf, "one client may be missing"
    sizes[7] = 1e6
    assert resamples.most_arrivals(sizes, clients, 1.0) > 1e6
