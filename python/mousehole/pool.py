"""Runs a plan on all cores. Results are kept by index, so they do not depend on who finished first."""

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from threading import Thread
from typing import TypeVar

from mousehole import _engine
from mousehole.errors import Stopped
from mousehole.plan import Json, Plan, Task
from mousehole.progress import Reporter
from mousehole.reduction import RunFacts, reduce_run

T = TypeVar("T")
Facts = dict[Task, RunFacts]

POLL_S = 0.1
"""How often the main thread wakes up to see Ctrl-C."""
GRACE_S = 0.6
"""How long runs are given to notice that they are cancelled."""
SLICE_SHARE, LONGEST_SLICE_S = 0.05, 20.0
"""Part of a run, and most of simulated time, that is timed to estimate the whole."""


def default_jobs() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_one(scenario: Json, traffic: _engine.Traffic | None, cancel: _engine.Cancel) -> _engine.RunResult:
    """One engine run; other threads go on meanwhile."""
    return _engine.run(json.dumps(scenario), traffic, cancel)


def run_plan(plan: Plan, traffic: _engine.Traffic | None, jobs: int, reporter: Reporter) -> Facts:
    """The facts of every run of the plan.

    Ctrl-C cancels the runs under way and raises `Stopped`, which says what was finished.
    """
    cancel, facts = _engine.Cancel(), dict[Task, RunFacts]()
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        reporter.start(len(plan.tasks))
        _collect(pool, plan, traffic, cancel, facts, reporter)
    except KeyboardInterrupt:
        cancel.cancel()
        raise Stopped(_what_was_finished(plan, facts)) from None
    finally:
        cancel.cancel()
        reporter.finish()
        pool.shutdown(wait=False, cancel_futures=True)
    return {task: facts[task] for task in plan.tasks}


def estimated_seconds(plan: Plan, traffic: _engine.Traffic | None, jobs: int) -> float:
    """Wall time of the whole plan, from timing a slice of one run; good to a factor of about two."""
    scenario = plan.scenario(plan.cells[0], plan.baseline)
    whole = _seconds(plan, "warmup") + _seconds(plan, "duration")
    sliced = {**scenario, "warmup": "0s", "duration": f"{_slice_s(whole):.3f}s"}
    begin = time.perf_counter()
    result = interruptible(lambda: run_one(sliced, traffic, _engine.Cancel()))
    per_simulated_s = (time.perf_counter() - begin) / max(float(result.summary()["simulated_s"]), 1e-9)
    first = plan.cells[0].load or 1.0
    weight = sum((cell.load or 1.0) / first for cell in plan.cells) * len(plan.schemes) * plan.replications
    return per_simulated_s * whole * weight / min(jobs, len(plan.tasks))


def interruptible(work: Callable[[], T]) -> T:
    """Does `work` in another thread, so that Ctrl-C is seen at once; the thread is then left to itself."""
    future: Future[T] = Future()

    def fulfil() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # handed over to the waiting thread
            future.set_exception(error)

    Thread(target=fulfil, daemon=True).start()
    while not wait([future], timeout=POLL_S).done:
        pass
    return future.result()


def _collect(
    pool: ThreadPoolExecutor,
    plan: Plan,
    traffic: _engine.Traffic | None,
    cancel: _engine.Cancel,
    facts: Facts,
    reporter: Reporter,
) -> None:
    def run_task(task: Task) -> RunFacts:
        return reduce_run(run_one(plan.task_scenario(task), traffic, cancel), plan.buckets)

    waiting = {pool.submit(run_task, task): task for task in plan.tasks}
    try:
        while waiting:
            for future in wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED).done:
                facts[waiting.pop(future)] = future.result()
                reporter.advance()
    except BaseException:
        cancel.cancel()
        pool.shutdown(wait=False, cancel_futures=True)
        wait([future for future in waiting if future.running()], timeout=GRACE_S)
        raise


def _what_was_finished(plan: Plan, facts: Facts) -> str:
    done, total = len(facts), len(plan.tasks)
    if not done:
        return f"stopped before the first of {total} runs was finished; nothing was written"
    schemes = range(len(plan.schemes))
    places = {(task.cell, task.replication) for task in plan.tasks}
    whole = sum(
        all(Task(cell, scheme, replication) in facts for scheme in schemes) for cell, replication in places
    )
    return (
        f"stopped after {done} of {total} runs: {whole} of {len(places)} replications were finished "
        "for every scheme; nothing was written"
    )


def _slice_s(whole_s: float) -> float:
    return min(max(SLICE_SHARE * whole_s, 0.001), LONGEST_SLICE_S)


def _seconds(plan: Plan, field: str) -> float:
    return _engine.parse_duration(field, plan.base[field])
