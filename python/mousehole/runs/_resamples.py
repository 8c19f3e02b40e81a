"""Checks before anything runs that every replication's resample of a capture can meet the load."""

import numpy as np
from numpy.typing import NDArray

from mousehole import _engine
from mousehole.base import interruptible, missing_error
from mousehole.engine_types import Floats, Scenario, TrafficSummary
from mousehole.runs._plan import Plan, overlaid
from mousehole.runs._pool import run_one

MOST_ARRIVALS = 50_000_000
"""The engine refuses a load that takes more connections, all copies together."""
LEFT_OUT = 14
"""So many of the largest are taken to be missing from a resample: the chance is e^-14, one in a million."""
OTHERWISE = 2.0
"""Factor for whatever else makes a resample smaller than the capture."""


def check_resamples(plan: Plan, traffic: _engine.Traffic | None, native_load: float | None) -> None:
    """Raises `MouseholeError` if some replication's resample takes more connections than the engine has.

    A resample may lack the largest transfers of the capture, so that its copies are many times more. Where
    that may come near the limit, each replication is set up, which is what refuses it, with a window of a
    millisecond.
    """
    section = plan.base["traffic"]
    if traffic is None or not native_load or section.get("mix"):
        return
    columns = traffic.frame()
    for cell in plan.cells:
        is_first = cell.buffer == plan.buffers[0]
        load = cell.load
        if not is_first or load is None or not overlaid(plan.scenario(cell, plan.baseline)["traffic"]):
            continue
        sizes = columns["bytes"].astype(float)
        if most_arrivals(sizes, columns["client"], load / native_load) <= MOST_ARRIVALS:
            continue
        for replication in range(plan.replications):
            _set_up(plan.scenario(cell, plan.baseline, replication), traffic)


def require_load(plan: Plan, summary: TrafficSummary | None) -> None:
    """Raises `MouseholeError` for traffic without a load of which memory holds a sample only."""
    if summary is not None and summary["share"] < 1 and None in plan.loads:
        held = f"memory holds only one client in {1 / summary['share']:.0f} of this traffic"
        raise missing_error("traffic.load", f"a load, such as 0.9, as {held}")


def try_traffic(plan: Plan, traffic: _engine.Traffic) -> None:
    """Raises `MouseholeError` if the traffic cannot be played as asked; plays no more than a moment."""
    _set_up(plan.scenario(plan.cells[0], plan.baseline), traffic)


def most_arrivals(sizes_bytes: Floats, clients: NDArray[np.integer], copies: float) -> float:
    """Returns how many connections a resample hardly exceeds if the capture itself takes so many copies."""
    by_client = np.bincount(np.unique(clients, return_inverse=True)[1].ravel(), weights=sizes_bytes)
    total = float(np.sum(sizes_bytes))
    left = min(float(np.sum(np.sort(own)[:-LEFT_OUT])) for own in (sizes_bytes, by_client))
    return OTHERWISE * max(copies, 1.0) * sizes_bytes.size * (total / left if left > 0 else np.inf)


def _set_up(run: Scenario, traffic: _engine.Traffic) -> None:
    short: Scenario = {**run, "warmup": "0s", "duration": "0.001s", "max_windows": 1, "trace": False}
    interruptible(lambda: run_one(short, traffic, _engine.Cancel()))
