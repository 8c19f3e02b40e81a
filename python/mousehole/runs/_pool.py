"""Runs scenarios in several threads, or where a `Backend` runs them; results do not depend on their order.

`_executors.py` has the backends that are not threads of this process.
"""

import os
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

from mousehole import _engine
from mousehole._engine import RunResult as RunResult
from mousehole.base import POLL_S, MouseholeError, Reporter, Stopped
from mousehole.runs._facts import reduce_run, with_shares
from mousehole.runs._plan import Plan, Task
from mousehole.runs._results import Facts

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

GRACE_S = 0.6
"""Seconds that runs are given to stop after they were cancelled."""
AHEAD = 3
"""Batches that are submitted for each one that runs, so that no worker that is free waits for the next."""


class Shipment(Protocol):
    """How another process gets the traffic of a run; `inputs/_shipping.py` has the one implementation."""

    @property
    def digest(self) -> str:
        """Returns the SHA-256 of all that determines the traffic, which identifies it."""

    def packed(self) -> bytes:
        """Returns the traffic as bytes, from which a worker makes the same traffic."""


@dataclass(frozen=True)
class Job(Generic[T]):
    """One run: its scenario, what its records are reduced by, and the traffic that it replays."""

    scenario: Mapping[str, object]
    reduce: Callable[[_engine.RunResult], T]
    """For other processes a function of a module, or a `functools.partial` of one: it is pickled."""
    traffic: _engine.Traffic | None = None
    shipment: Shipment | None = None
    """The same traffic for other processes; None if the scenario alone makes it."""


@dataclass(frozen=True)
class Apart:
    """Stands for the outcome of a job that is given up because it ends the processes that run it."""

    reason: str


class Backend(Protocol):
    """Where jobs run. Every method is called by one thread."""

    @property
    def at_once(self) -> int:
        """Returns the number of jobs that run at once, as far as it is known now."""

    @property
    def batch(self) -> int:
        """Returns the number of jobs that a worker is given together, as far as it is known now."""

    def submit(self, key: Hashable, job: Job[Any]) -> None:
        """Accepts a job; `key` identifies it in what `collect` returns."""

    def collect(self, timeout_s: float) -> list[tuple[Any, Any]]:
        """Returns keys and outcomes of jobs that are over, an `Apart` for one that was given up.

        It waits up to `timeout_s` for the first one. Raises what a job raised.
        """

    def abandon(self) -> None:
        """Gives up all jobs that were submitted and are not over."""


class Threads:
    """Runs jobs in threads of this process."""

    def __init__(self, jobs: int) -> None:
        """Starts no thread yet; `jobs` is the most that run at once."""
        self._jobs = jobs
        self._cancel = _engine.Cancel()
        self._pool: ThreadPoolExecutor | None = None
        self._waiting: dict[Future[Any], Hashable] = {}

    @property
    def at_once(self) -> int:
        """Returns the number of threads."""
        return self._jobs

    @property
    def batch(self) -> int:
        """Returns 1: each thread takes one job."""
        return 1

    def submit(self, key: Hashable, job: Job[Any]) -> None:
        """Submits a job, which starts as soon as a thread is free; after `abandon`, new threads are made."""
        if self._pool is None:
            self._pool, self._cancel = ThreadPoolExecutor(max_workers=self._jobs), _engine.Cancel()
        self._waiting[self._pool.submit(_run_job, job, self._cancel)] = key

    def collect(self, timeout_s: float) -> list[tuple[Any, Any]]:
        """Returns keys and outcomes of the runs that are over; waits up to `timeout_s` seconds for the first.

        Raises what a job raised.
        """
        over = wait(self._waiting, timeout=timeout_s, return_when=FIRST_COMPLETED).done
        return [(self._waiting.pop(future), future.result()) for future in over]

    def abandon(self) -> None:
        """Stops all runs, waits for those that have begun, and drops their outcomes.

        It waits at most `GRACE_S` seconds.
        """
        self._cancel.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None
        wait([future for future in self._waiting if future.running()], timeout=GRACE_S)
        self._waiting.clear()


def _run_job(job: Job[T], cancel: _engine.Cancel) -> T:
    """Runs a job in this thread and returns its outcome."""
    return job.reduce(run_one(job.scenario, job.traffic, cancel))


def default_jobs() -> int:
    """Returns the number of cores that this process may use, at least 1."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_one(
    scenario: Mapping[str, object], traffic: _engine.Traffic | None, cancel: _engine.Cancel
) -> _engine.RunResult:
    """Runs a scenario and returns its records; other threads run meanwhile.

    Raises `MouseholeError` for a scenario that the engine refuses. `cancel` stops it from another thread.
    """
    return _engine.run(scenario, traffic, cancel)


def run_plan(
    plan: Plan, traffic: _engine.Traffic | None, jobs: int, reporter: Reporter,
    backend: Backend | None = None, shipment: Shipment | None = None,
    finished: Facts | None = None,
) -> Facts:  # fmt: skip
    """Runs the plan with `jobs` threads, or by `backend`, and returns the facts of every run.

    The runs whose facts are in `finished` are not run again. Transfers are compared across schemes once a
    replication is complete. Ctrl-C raises `Stopped`, with a message on the finished runs. Raises
    `MouseholeError` as `run_all` does.
    """
    return run_all(
        {task: plan.task_scenario(task) for task in plan.tasks},
        partial(reduce_run, buckets=plan.buckets),
        reporter,
        jobs,
        traffic,
        lambda facts: _describe_finished(plan, facts),
        lambda task, facts: _pair_transfers(plan, task, facts),
        backend=backend,
        shipment=shipment,
        finished=finished,
        name=lambda task: f"scheme {plan.schemes[task.scheme]}, replication {task.replication}",
    )


def run_all(
    scenarios: Mapping[K, Mapping[str, object]],
    reduce: Callable[[_engine.RunResult], T],
    reporter: Reporter,
    jobs: int,
    traffic: _engine.Traffic | None = None,
    account: Callable[[dict[K, T]], str] | None = None,
    settle: Callable[[K, dict[K, T]], None] | None = None,
    *,
    backend: Backend | None = None,
    shipment: Shipment | None = None,
    finished: Mapping[K, T] | None = None,
    name: Callable[[K], str] | None = None,
) -> dict[K, T]:
    """Runs every scenario, reduces its records with `reduce`, and returns the outcomes in the order given.

    The runs are in `jobs` threads of this process, or where `backend` has them; other processes pickle
    `reduce`, and get the traffic from `shipment`. A scenario whose outcome is in `finished` is not run; its
    outcome counts as the first to end. `settle` is called in this thread after each run. It takes the run's
    key and the outcomes so far, which it may change. The progress goes to `reporter`.

    Raises what a run raises; the others are given up then. Ctrl-C cancels all runs and raises `Stopped` with
    the message that `account` makes of the outcomes so far. Raises `MouseholeError` for a run that the
    backend gave up; `name` names the run.
    """
    done, known = dict[K, T](), finished or {}
    rest = (item for item in scenarios.items() if item[0] not in known)
    each = ((key, Job(scenario, reduce, traffic, shipment)) for key, scenario in rest)

    def note(key: K, outcome: T) -> None:
        """Adds an outcome, calls `settle` and advances the progress."""
        done[key] = outcome
        if settle is not None:
            settle(key, done)
        reporter.advance()

    try:
        reporter.start(len(scenarios))
        for key, outcome in known.items():
            note(key, outcome)
        with closing(yield_outcomes(backend or Threads(jobs), each)) as found:
            for key, outcome in found:
                if isinstance(outcome, Apart):
                    raise MouseholeError(f"{name(key) if name else 'a run'}: {outcome.reason}")
                note(key, outcome)
    except KeyboardInterrupt:
        text = account(done) if account else f"stopped after {len(done)} of {len(scenarios)} runs"
        raise Stopped(text) from None
    finally:
        reporter.finish()
    return {key: done[key] for key in scenarios}


def yield_outcomes(
    backend: Backend, jobs: Iterable[tuple[K, Job[Any]]]
) -> Generator[tuple[K, Any], None, None]:
    """Yields key and outcome of every job as they end; an `Apart` stands for a job that was given up.

    Jobs are taken from `jobs` when there is room for them, so that not all of them are in memory at once. A
    caller that ends early closes the iterator, which gives up the rest. Raises what a job raised.
    """
    rest, under_way, exhausted = iter(jobs), 0, False
    try:
        while not exhausted or under_way:
            while not exhausted and under_way < AHEAD * (backend.at_once + 1) * backend.batch:
                following = next(rest, None)
                if following is None:
                    exhausted = True
                else:
                    backend.submit(*following)
                    under_way += 1
            for key, outcome in backend.collect(POLL_S) if under_way else ():
                under_way -= 1
                yield key, outcome
    finally:
        backend.abandon()


def _pair_transfers(plan: Plan, task: Task, facts: Facts) -> None:
    """Adds shares to the facts of a replication once it has been run under every scheme; does nothing before.

    Changes `facts`: the shares replace the times of single transfers.
    """
    tasks = [replace(task, scheme=number) for number in range(len(plan.schemes))]
    if all(each in facts for each in tasks):
        runs = {plan.schemes[each.scheme]: facts[each] for each in tasks}
        compared = with_shares(runs, plan.references)
        facts.update({each: compared[plan.schemes[each.scheme]] for each in tasks})


def _describe_finished(plan: Plan, facts: Facts) -> str:
    """Returns a sentence on the number of runs and replications that were finished before a stop."""
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
