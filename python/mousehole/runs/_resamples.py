"""Checks before anything runs that every replication's resample of a capture can meet the load."""

from mousehole import _engine
from mousehole.base import missing_error, run_interruptibly
from mousehole.engine_types import Scenario, TrafficSummary
from mousehole.runs._plan import Plan, is_overlaid


def check_resamples(plan: Plan, traffic: _engine.Traffic | None, native_load: float | None) -> None:
    """Raises `MouseholeError` if some replication's resample takes more connections than the engine has.

    A resample may lack the largest transfers of the capture, so that its copies are many times more. Where
    that may come near the limit, each replication is set up, which is what refuses it, with a window of a
    millisecond. Only cells with the first buffer and a load of their own are checked; traffic without a known
    native load, and a mix, never.
    """
    section = plan.base["traffic"]
    if traffic is None or not native_load or section.get("mix"):
        return
    for cell in plan.cells:
        is_first = cell.buffer == plan.buffers[0]
        load = cell.load
        if not is_first or load is None or not is_overlaid(plan.scenario(cell, plan.baseline)["traffic"]):
            continue
        runs = [plan.scenario(cell, plan.baseline, replication) for replication in range(plan.replications)]
        _check_runs(traffic, runs, load, native_load)


def require_load(plan: Plan, summary: TrafficSummary | None) -> None:
    """Raises `MouseholeError` if no load is given for traffic of which memory holds only a sample."""
    if summary is not None and summary["share"] < 1 and None in plan.loads:
        held = f"memory holds only one client in {1 / summary['share']:.0f} of this traffic"
        raise missing_error("traffic.load", f"a load, such as 0.9, as {held}")


def try_traffic(plan: Plan, traffic: _engine.Traffic) -> None:
    """Sets up a run of the traffic in the first cell; raises `MouseholeError` if it cannot be played.

    Ctrl-C ends the wait at once.
    """
    run = plan.scenario(plan.cells[0], plan.baseline)
    run_interruptibly(lambda: traffic.set_up(run))


def _check_runs(traffic: _engine.Traffic, runs: list[Scenario], load: float, native_load: float) -> None:
    """Raises `MouseholeError` for a load that a resample cannot meet; Ctrl-C ends the wait at once."""
    run_interruptibly(lambda: traffic.check_resamples(runs, load, native_load))
