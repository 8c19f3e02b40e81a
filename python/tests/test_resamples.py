"""Loads that the resample of some replication cannot meet are refused before anything runs."""

from typing import Any

import mousehole
import pytest
from mousehole.base import Options
from mousehole.comparison import _comparison as comparison
from mousehole.comparison import prepare


def make_capture(giants: int) -> list[dict[str, Any]]:
    """Returns a capture of 300 clients with small transfers, and of `giants` with a large one."""
    small = [{"start_s": 0.1 * number, "client": f"a{number}", "bytes": 200} for number in range(300)]
    large = [{"start_s": 1.0 + number, "client": f"b{number}", "bytes": 10**9} for number in range(giants)]
    return [*small, *large]


def fail_if_called(*_: object) -> None:
    """Fails the test."""
    pytest.fail("nothing is to be estimated or run")


def test_compare__refuses_before_it_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "estimate_plan", fail_if_called)
    monkeypatch.setattr(comparison, "run_plan", fail_if_called)
    # Of ten resamples, some lack the only large transfer: then the load takes 10^4 times as many copies.
    with pytest.raises(mousehole.MouseholeError, match=r"load: 0.9 takes \d+ connections in \d+ copies"):
        mousehole.compare(make_capture(1), rate="10gbit", load="0.2,0.9", schemes="sfd", seeds=10)


def test_check_resamples__sets_nothing_up_where_the_limit_is_far() -> None:
    options = {"rate": "1mbit", "load": 0.5, "schemes": "sfd", "duration": "1s", "warmup": "1s"}
    prepared = prepare(make_capture(20), Options(**options))
    assert prepared.traffic is not None
    runs = [prepared.plan.scenario(prepared.plan.cells[0], "sfd", number) for number in range(3)]
    assert prepared.traffic.check_resamples(runs, 0.5, 0.25) == 0
    assert prepared.traffic.check_resamples(runs, 0.5, 1e-9) == 3
