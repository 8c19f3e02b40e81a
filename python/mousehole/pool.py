"""Runs scenarios in several threads. Results do not depend on the order in which the threads finish."""

import os
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Thread
from typing import TypeVar

from mousehole import _engine
from mousehole._engine import RunResult as RunResult
from mousehole.errors import Stopped
from mousehole.plan import Plan, Task
from mousehole.progress import Reporter
from mousehole.reduction import reduce_run, with_shares
from mousehole.results import Facts

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

POLL_S = 0.1
"""Seconds between two checks for Ctrl-C by the main thread."""
GRACE_S = 0.6
"""Seconds that runs are given to stop after they were cancelled."""


def default_jobs() -> int:
    """Returns the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_one(
    scenario: Mapping[str, object], traffic: _engine.Traffic | None, cancel: _engine.Cancel
) -> _engine.RunResult:
    """Runs a scenario and returns its records; other threads go on meanwhile."""
    return _engine.run(scenario, traffic, cancel)


def run_plan(plan: Plan, traffic: _engine.Traffic | None, jobs: int, reporter: Reporter) -> Facts:
    """Runs the plan with `jobs` threads and returns the facts of every run.

    Ctrl-C raises `Stopped`, whose message says what was finished.
    """
    return run_all(
        {task: plan.task_scenario(task) for task in plan.tasks},
        lambda result: reduce_run(result, plan.buckets),
        reporter,
        jobs,
        traffic,
        lambda facts: _finished_text(plan, facts),
        lambda task, facts: _pair(plan, task, facts),
    )


def run_all(
    scenarios: Mapping[K, Mapping[str, object]],
    reduce: Callable[[_engine.RunResult], T],
    reporter: Reporter,
    jobs: int,
    traffic: _engine.Traffic | None = None,
    account: Callable[[dict[K, T]], str] | None = None,
    settle: Callable[[K, dict[K, T]], None] | None = None,
) -> dict[K, T]:
    """Runs every scenario, reduces its records with `reduce`, and returns the outcomes in the order given.

    `settle` is called in this thread after each run. It takes the run's key and the outcomes so far, which it
    may change.
    Ctrl-C cancels all runs and raises `Stopped` with the message that `account` makes of the outcomes so far.
    """
    cancel, done = _engine.Cancel(), dict[K, T]()
    pool = ThreadPoolExecutor(max_workers=jobs)

    def work(key: K) -> T:
        return reduce(run_one(scenarios[key], traffic, cancel))

    try:
        reporter.start(len(scenarios))
        waiting = {pool.submit(work, key): key for key in scenarios}
        _collect(waiting, done, reporter, pool, cancel, settle)
    except KeyboardInterrupt:
        text = account(done) if account else f"stopped after {len(done)} of {len(scenarios)} runs"
        raise Stopped(text) from None
    finally:
        cancel.cancel()
        reporter.finish()
        pool.shutdown(wait=False, cancel_futures=True)
    return {key: done[key] for key in scenarios}


def interruptible(work: Callable[[], T], while_waiting: Callable[[], None] | None = None) -> T:
    """Calls `work` in another thread, so that Ctrl-C ends the wait at once; the thread then goes on alone.

    `while_waiting` is called in this thread several times a second until the work is done.
    """
    future: Future[T] = Future()

    def fulfil() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # handed over to the waiting thread
            future.set_exception(error)

    Thread(target=fulfil, daemon=True).start()
    while not wait([future], timeout=POLL_S).done:
        if while_waiting is not None:
            while_waiting()
    return future.result()


def _collect(
    waiting: dict[Future[T], K],
    done: dict[K, T],
    reporter: Reporter,
    pool: ThreadPoolExecutor,
    cancel: _engine.Cancel,
    settle: Callable[[K, dict[K, T]], None] | None,
) -> None:
    try:
        while waiting:
            for future in wait(waiting, timeout=POLL_S, return_when=FIRST_COMPLETED).done:
                key = waiting.pop(future)
                done[key] = future.result()
                if settle is not None:
                    settle(key, done)
                reporter.advance()
    except BaseException:
        cancel.cancel()
        pool.shutdown(wait=False, cancel_futures=True)
        wait([future for future in waiting if future.running()], timeout=GRACE_S)
        raise


def _pair(plan: Plan, task: Task, facts: Facts) -> None:
    """Compares transfer by transfer once a replication has been run under every scheme."""
    tasks = [replace(task, scheme=number) for number in range(len(plan.schemes))]
    if all(each in facts for each in tasks):
        runs = {plan.schemes[each.scheme]: facts[each] for each in tasks}
        compared = with_shares(runs, plan.references)
        facts.update({each: compared[plan.schemes[each.scheme]] for each in tasks})


def _finished_text(plan: Plan, facts: Facts) -> str:
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
