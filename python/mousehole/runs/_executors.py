"""Backends for runs in other processes: an executor of `concurrent.futures`, or Dask's workers.

The outcome of a run depends on its scenario and traffic only, so that all backends give the same bytes.
"""

import asyncio
import importlib
import logging
import time
import warnings
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any
from uuid import uuid4

from mousehole.base import (
    MouseholeError,
    Reporter,
    Silent,
    conflict_error,
    field_error,
    output,
    require_extra,
    take_first_line,
)
from mousehole.runs._pool import Apart, Backend, Job, Shipment, default_jobs
from mousehole.runs._worker import (
    DONE,
    REFUSED,
    Answers,
    count_tasks,
    execute,
    execute_all,
    explain_refusal,
    identify_build,
    pack_job,
)

CONNECT_S = 10.0
"""Seconds in which a scheduler must answer."""
BATCH_S = 0.25
"""Seconds that a task of Dask's should take: jobs that are shorter go out several in one task.

After twice that it begins no other job; those that are left go out again.
"""
LARGEST_BATCH = 256
"""Jobs in one task at most."""
ALONE = 2
"""Times that a job may end its worker while it runs alone; then it is given up."""
CRASHES = 2
"""Workers that may end while they run a job among others; after that it waits to run alone."""
COUNT_S = 0.5
"""Seconds between two counts of the workers, some of which may join late."""
SILENT_S, LOST_S = 5.0, 60.0
"""Seconds without an answer of the scheduler after which it is named, and after which it is given up."""
GATHER_S = 10.0
"""Seconds to wait for an outcome whose worker may just have ended; the scheduler has it computed again."""


@contextmanager
def open_backend(
    dask: str | None = None, executor: Executor | None = None, reporter: Reporter | None = None
) -> Iterator[Backend | None]:
    """Yields the backend that the options `dask` and `executor` name; None for threads of this process.

    At the end of the block, jobs that are not over are given up and temporary files are deleted; an executor
    stays open. Raises `MouseholeError` if both are given, if no scheduler answers, or if a worker has another
    Mousehole.
    """
    if dask is not None and executor is not None:
        raise conflict_error("dask", dask, "executor", "give one of them")
    if dask is None and executor is None:
        yield None
        return
    if executor is not None and not hasattr(executor, "submit"):
        raise field_error("executor", executor, "an executor of concurrent.futures")
    backend = Dask(dask, reporter or Silent()) if dask is not None else Futures(executor)  # type: ignore[arg-type]
    try:
        yield backend
    finally:
        backend.close()


class Futures:
    """Runs jobs in an executor of `concurrent.futures`, which the caller made and shuts down.

    Its workers read traffic from a folder of temporary files; those that cannot see it are sent the bytes.
    """

    def __init__(self, executor: Executor) -> None:
        """Creates the folder of temporary files, which `close` deletes."""
        self._executor = executor
        self._scratch = ExitStack()
        self._spool = self._scratch.enter_context(output.make_scratch_folder("traffic"))
        self._waiting: dict[Future[Any], tuple[Hashable, bytes, Shipment | None]] = {}

    @property
    def at_once(self) -> int:
        """Returns the executor's number of workers, or that of cores if it is not known."""
        return int(getattr(self._executor, "_max_workers", None) or default_jobs())

    @property
    def batch(self) -> int:
        """Returns 1: each job is handed over by itself."""
        return 1

    def submit(self, key: Hashable, job: Job[Any]) -> None:
        """Submits a job to the executor; its traffic is written to a temporary file once.

        Raises `MouseholeError` if the executor is broken or shut down.
        """
        parcel, content = pack_job(job), None
        if job.shipment is not None:
            place = self._spool / job.shipment.digest
            if not place.exists():
                place.write_bytes(job.shipment.packed())
            content = str(place)
        self._submit(key, parcel, job.shipment, content)

    def collect(self, timeout_s: float) -> list[tuple[Any, Any]]:
        """Returns keys and outcomes of the runs that are over; waits up to `timeout_s` for the first.

        A worker that lacks the traffic is sent its bytes and runs the job again. Raises what a job raised,
        and `MouseholeError` if the executor broke, or if a worker is another Mousehole.
        """
        found = []
        for future in wait(self._waiting, timeout=timeout_s, return_when=FIRST_COMPLETED).done:
            key, parcel, shipment = self._waiting.pop(future)
            try:
                kind, outcome = future.result()
            except BrokenExecutor as error:
                reason = (
                    f"a worker of the executor ended while it ran ({error or type(error).__name__}); a "
                    'script that starts processes needs if __name__ == "__main__":'
                )
                raise MouseholeError(reason, field="executor") from None
            if kind == DONE:
                found.append((key, outcome))
            elif kind == REFUSED or shipment is None:
                raise MouseholeError(str(outcome), field="executor")
            else:
                self._submit(key, parcel, shipment, shipment.packed())
        return found

    def abandon(self) -> None:
        """Cancels the jobs that have not begun, and drops the others, whose outcomes are then lost."""
        for future in self._waiting:
            future.cancel()
        self._waiting.clear()

    def close(self) -> None:
        """Gives up all jobs and deletes the temporary files. The executor stays open."""
        self.abandon()
        self._scratch.close()

    def _submit(
        self, key: Hashable, parcel: bytes, shipment: Shipment | None, content: bytes | str | None
    ) -> None:
        """Submits a parcel as a task; raises `MouseholeError` if the executor is broken or shut down.

        `content` is the packed traffic or the file that has it, None if the parcel needs none.
        """
        try:
            future = self._executor.submit(execute, identify_build(), parcel, content)
        except (BrokenExecutor, RuntimeError) as error:
            raise MouseholeError(f"the executor takes no work ({error})", field="executor") from None
        self._waiting[future] = key, parcel, shipment


@dataclass
class _Flight:
    """One task: a job or several on their way, and how they fared so far."""

    parcels: dict[Hashable, bytes]
    """By the keys of the jobs."""
    shipment: Shipment | None
    """The traffic of all of them."""
    crashes: int = 0
    last_worker: str = ""
    alone: int = 0
    """How often it has gone out alone."""
    future: Any = None
    """Dask's future; None while it waits to run alone."""


@dataclass
class _Batches:
    """Collects jobs of one traffic until they fill a task; learns how many do from how long jobs take."""

    size: int = 1
    """Jobs that take about `BATCH_S` together."""
    _job_s: float | None = None
    """Seconds of a job, of the newest with the most weight."""
    _parcels: dict[Hashable, bytes] = field(default_factory=dict)
    _shipment: Shipment | None = None

    def add(self, key: Hashable, parcel: bytes, shipment: Shipment | None) -> Iterator[_Flight]:
        """Adds a job; yields the tasks that are full, or whose jobs have another traffic.

        They are dropped here. The iterator must be used up, else nothing is added.
        """
        if _digest_or_none(shipment) != _digest_or_none(self._shipment):
            yield from self.flush()
        self._parcels[key], self._shipment = parcel, shipment
        if len(self._parcels) >= self.size:
            yield from self.flush()

    def flush(self) -> Iterator[_Flight]:
        """Yields the collected jobs as a task, although they do not fill it, and drops them.

        Yields nothing if there are none.
        """
        if self._parcels:
            yield _Flight(self._parcels, self._shipment)
            self._parcels = {}

    def learn(self, jobs: int, seconds: float) -> None:
        """Adapts `size` to the time in seconds that a task with this many jobs took.

        The size is from 1 to `LARGEST_BATCH`.
        """
        newest = max(seconds, 1e-6) / jobs
        self._job_s = newest if self._job_s is None else (self._job_s + newest) / 2
        self.size = min(max(int(BATCH_S / self._job_s), 1), LARGEST_BATCH)

    def clear(self) -> None:
        """Drops the jobs that were not yielded."""
        self._parcels = {}


class Dask:
    """Runs jobs on the workers of a Dask scheduler (the extra `mousehole[dask]`).

    The scheduler is asked for its workers again and again, so that one that is frozen is noticed.

    A task costs client and scheduler some 10 ms, so that short jobs go out several in one task.

    The scheduler repeats the tasks of a worker that ends; tasks of several jobs are divided into their jobs
    first. A job that was under way in two workers that ended runs again after all others, alone; if that
    worker ends as well, it runs alone once more before the job is given up. So jobs that ran
    with it are not blamed, nor those that ran with a cancelled task.
    """

    def __init__(self, address: str, reporter: Reporter) -> None:
        """Connects to the scheduler and asks for its workers.

        Raises `MouseholeError` as `_connect_client` does.
        """
        self._address, self._reporter = address, reporter
        self._client = _connect_client(address)
        self._name = f"mousehole-{uuid4().hex[:12]}"
        self.tasks = 0
        """Tasks that have gone out."""
        self._batches = _Batches()
        self._flights: dict[str, _Flight] = {}
        self._over: SimpleQueue[str] = SimpleQueue()
        self._ended: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._suspects: deque[_Flight] = deque()
        self._contents: dict[str, Any] = {}
        self._workers, self._has_waited = 0, False
        self._asked: Future[dict[str, int]] | None = None
        self._asked_s, self._is_silent = -COUNT_S, False
        self._client.subscribe_topic("all", self._queue_ended_worker)
        self._check_workers()

    @property
    def at_once(self) -> int:
        """Returns the number of threads of all workers that have joined so far.

        Waits up to `COUNT_S` while there is none. Raises `MouseholeError` if the scheduler is gone.
        """
        self._require_scheduler()
        if self._asked is not None and self._workers == 0:
            wait([self._asked], timeout=COUNT_S)
            self._require_scheduler()
        return self._workers

    @property
    def batch(self) -> int:
        """Returns the number of jobs that go out in one task, from the time that jobs took so far.

        It is 1 at first.
        """
        return self._batches.size

    def submit(self, key: Hashable, job: Job[Any]) -> None:
        """Adds a job to the next task, which goes out when it is full, or with the next `collect`."""
        self._launch(self._batches.add(key, pack_job(job), job.shipment))

    def collect(self, timeout_s: float) -> list[tuple[Any, Any]]:
        """Returns keys and outcomes of the runs that are over; waits up to `timeout_s` for the first.

        Jobs that were collected for a task go out before. Jobs that wait to run alone go out, one at a time,
        when no other is under way. Raises what a job raised, and `MouseholeError` if the scheduler is gone,
        or if a worker is another Mousehole.
        """
        self._launch(self._batches.flush())
        found = self._handle_crashes()
        names = self._list_finished(0.0 if found else timeout_s)
        self._require_scheduler()
        fetched = self._fetch_answers(names)
        for name in names:
            flight = self._flights.pop(name, None)
            if flight is not None:
                found += self._collect_outcomes(name, flight, fetched.get(name))
        if not self._flights and self._suspects and self._is_idle():
            flight = self._suspects.popleft()
            flight.alone += 1
            self._launch([flight])
        return found

    def abandon(self) -> None:
        """Cancels the jobs that are not over; runs that have begun end at their workers without effect.

        Without an answer of the scheduler nothing is cancelled there.
        """
        if self._is_silent:
            self._flights.clear()
        futures = [flight.future for flight in self._flights.values()]
        self._batches.clear()
        self._flights.clear()
        self._suspects.clear()
        if futures:
            with suppress(Exception):  # the scheduler may be gone
                self._client.cancel(futures, force=True)

    def close(self) -> None:
        """Gives up all jobs and disconnects from the scheduler; faults of the network are ignored."""
        self.abandon()
        self._contents.clear()
        with suppress(Exception):
            self._client.close(timeout=2)

    def _check_workers(self) -> None:
        """Raises `MouseholeError` for a worker with another Mousehole, or if the scheduler does not answer.

        Later workers are checked by their first task.
        """
        try:
            answers = self._client.run(explain_refusal, identify_build(), on_error="return")
        except (OSError, TimeoutError) as error:
            raise _unreachable_error(self._address, error) from None
        for address, answer in answers.items():
            if isinstance(answer, OSError):
                continue  # it has just ended; what follows it is checked by its first task
            if isinstance(answer, BaseException):
                raise self._fault(f"the worker at {address} cannot run mousehole ({take_first_line(answer)})")
            if answer is not None:
                raise self._fault(answer)

    def _launch(self, flights: Iterable[_Flight]) -> None:
        """Submits the tasks to Dask, with the traffic that they need, and watches and counts them.

        The number is in `tasks`.
        """
        for flight in flights:
            self.tasks += 1
            name = f"{self._name}-{self.tasks}"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that a task's arguments are large; they are sent once
                content = None if flight.shipment is None else self._submit_content(flight.shipment)
                flight.future = self._client.submit(
                    execute_all, identify_build(), list(flight.parcels.values()), content, 2 * BATCH_S,
                    key=name, pure=False,
                )  # fmt: skip
            self._flights[name] = flight
            self._watch(name, flight)

    def _watch(self, name: str, flight: _Flight) -> None:
        """Registers the name of a task for the queue of finished ones, which it enters when it is over."""
        flight.future.add_done_callback(lambda _: self._over.put(name))

    def _submit_content(self, shipment: Shipment) -> Any:
        """Returns the future of a packed traffic, submitted once; Dask makes it again if it is lost."""
        if shipment.digest not in self._contents:
            self._contents[shipment.digest] = self._client.submit(
                bytes, shipment.packed(), key=f"mousehole-traffic-{shipment.digest}"
            )
        return self._contents[shipment.digest]

    def _list_finished(self, timeout_s: float) -> list[str]:
        """Returns the names of the tasks that are over; waits up to `timeout_s` seconds for the first."""
        names = []
        with suppress(Empty):
            names.append(self._over.get(timeout=timeout_s) if timeout_s else self._over.get_nowait())
            while True:
                names.append(self._over.get_nowait())
        return names

    def _fetch_answers(self, names: list[str]) -> dict[str, Answers]:
        """Returns the answers of the tasks by name, fetched together.

        It is empty if there are fewer than two, if one has not ended well, or if they cannot be fetched.
        """
        finished = [name for name in names if name in self._flights]
        futures = [self._flights[name].future for name in finished]
        if len(futures) < 2 or any(future.status != "finished" for future in futures):
            return {}
        try:
            return dict(zip(finished, self._client.gather(futures), strict=True))
        except Exception:  # they are asked one by one, and each one's fault is seen to
            return {}

    def _collect_outcomes(self, name: str, flight: _Flight, fetched: Answers | None) -> list[tuple[Any, Any]]:
        """Returns keys and outcomes of the jobs of a task that is over; none if they are on their way again.

        Jobs that the task has not begun are launched again. `fetched` are its answers if they are here
        already, else they are waited for. Raises what a job raised, and `MouseholeError` if a worker cannot
        run a job, or if the scheduler is gone.
        """
        from distributed import KilledWorker

        try:
            answers = fetched or flight.future.result(timeout=GATHER_S)
        except KilledWorker as error:
            return self._handle_crash(flight, str(getattr(error.last_worker, "address", "")), CRASHES)
        except TimeoutError:  # its worker has ended, and the run is repeated
            self._flights[name] = flight
            self._watch(name, flight)
            return []
        except CancelledError:
            self._require_scheduler()
            self._launch([flight])
            return []
        except (ImportError, AttributeError) as error:
            raise self._fault(f"a worker cannot run mousehole ({take_first_line(error)})") from None
        for kind, outcome in answers.each:
            if kind != DONE:
                raise self._fault(str(outcome))
        self._batches.learn(len(answers.each), answers.seconds)
        for key, parcel in list(flight.parcels.items())[len(answers.each) :]:
            self._launch(self._batches.add(key, parcel, flight.shipment))
        return [(key, outcome) for key, (_, outcome) in zip(flight.parcels, answers.each, strict=False)]

    def _queue_ended_worker(self, event: Any) -> None:
        """Queues the event of a worker that has ended unexpectedly; ignores any other event.

        Called in the client's thread with every event of the topic `all`.
        """
        told = event[1] if isinstance(event, tuple | list) else event
        if isinstance(told, dict) and told.get("action") == "remove-worker" and not told.get("expected"):
            self._ended.put(told)

    def _handle_crashes(self) -> list[tuple[Any, Any]]:
        """Repeats the tasks of workers that have ended unexpectedly, from the queue of their events.

        Returns keys and outcomes (`Apart`) of the jobs that are given up.
        """
        found: list[tuple[Any, Any]] = []
        with suppress(Empty):
            while True:
                told = self._ended.get_nowait()
                for name in [name for name in self._flights if name in told["processing-tasks"]]:
                    flight, worker = self._flights[name], str(told.get("worker", ""))
                    if len(flight.parcels) == 1 and flight.crashes + 1 < CRASHES:
                        flight.crashes, flight.last_worker = flight.crashes + 1, worker
                        continue  # the scheduler repeats it
                    del self._flights[name]
                    self._client.cancel([flight.future], force=True)
                    found += self._handle_crash(flight, worker, 0)
        return found

    def _handle_crash(self, flight: _Flight, worker: str, least: int) -> list[tuple[Any, Any]]:
        """Counts one more crash of the task's workers, at least `least`, and repeats its jobs one by one.

        Jobs with `CRASHES` crashes wait to run alone. Jobs that have run alone `ALONE` times are given up:
        their keys are returned, with the reasons as `Apart`. The list is empty if none is given up.
        """
        crashes, worker = max(flight.crashes + 1, least), worker or flight.last_worker
        if flight.alone >= ALONE:
            reason = (
                f"{crashes} workers ended while they ran it, the last of them ({worker}) "
                "with no other run beside it"
            )
            return [(key, Apart(reason)) for key in flight.parcels]
        for key, parcel in flight.parcels.items():
            single = _Flight({key: parcel}, flight.shipment, crashes, worker, flight.alone)
            if crashes >= CRASHES:
                self._suspects.append(single)
            else:
                self._launch([single])
        return []

    def _require_scheduler(self) -> None:
        """Raises `MouseholeError` once the scheduler is gone, or silent for `LOST_S` seconds.

        Also asks it again and again for the number of threads, and warns after `SILENT_S` seconds of silence.
        """
        if self._client.status not in ("running", "connecting"):
            raise self._fault("the scheduler is gone; what was finished before is kept where it is written")
        now = time.monotonic()
        if self._asked is not None and self._asked.done():
            self._store_thread_count(self._asked)
            self._asked, self._is_silent = None, False
        if self._asked is None and now - self._asked_s > COUNT_S:
            loop = self._client.loop.asyncio_loop
            self._asked, self._asked_s = (
                asyncio.run_coroutine_threadsafe(_count_threads(self._client), loop),
                now,
            )
        silent_s = 0.0 if self._asked is None else now - self._asked_s
        if silent_s > LOST_S:
            raise self._fault(
                f"the scheduler has not answered for {silent_s:.0f} s; what was finished is kept"
            )
        if silent_s > SILENT_S and not self._is_silent:
            self._is_silent = True
            self._reporter.say(
                f"warning: no answer of the scheduler {self._address} for {silent_s:.0f} s; it may be frozen"
            )

    def _store_thread_count(self, answer: "Future[dict[str, int]]") -> None:
        """Stores the number of the workers' threads from the scheduler's answer.

        Ignores an answer that failed. Reports once if there is no worker.
        """
        with suppress(Exception):  # a connection that broke; the status of the client shows it
            self._workers = sum(answer.result().values())
            if self._workers == 0 and not self._has_waited:
                self._has_waited = True
                self._reporter.say(f"no worker has joined the scheduler {self._address} yet; waiting for one")

    def _is_idle(self) -> bool:
        """Returns whether no worker runs a task, so that a job that starts is alone.

        Cancelled tasks count, too. Asks all workers; False also if a worker does not answer.
        """
        try:
            running = self._client.run(count_tasks, on_error="return")
        except Exception:  # a worker has just ended; it is asked again
            return False
        return all(count == 0 for count in running.values())

    def _fault(self, sentence: str) -> MouseholeError:
        """Returns the error of this scheduler."""
        return MouseholeError(sentence, field="dask", value=self._address)


def _connect_client(address: str) -> Any:
    """Returns a client of the scheduler at this address, or of the one that a scheduler file (.json) names.

    Silences the logs of `distributed` in this process. Raises `MouseholeError` if Dask is not installed, if
    the file is missing, or if no scheduler answers within `CONNECT_S`.
    """
    require_extra("dask", "--dask")
    distributed = importlib.import_module("distributed")
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    place: dict[str, Any] = {"address": address}
    if address.endswith(".json"):
        if not Path(address).is_file():
            raise MouseholeError(f"there is no scheduler file {address}", field="dask", value=address)
        place = {"scheduler_file": address}
    client = distributed.Client.__new__(distributed.Client)
    try:
        client.__init__(**place, timeout=CONNECT_S, set_as_default=False, name="mousehole")
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise _unreachable_error(address, error) from None
    except MemoryError:  # the first bytes of another protocol, taken for a length
        client.status = "closed"  # else it would wait for an answer when it is thrown away
        raise _unreachable_error(address, OSError("what listens there speaks another protocol")) from None
    return client


async def _count_threads(client: Any) -> dict[str, int]:
    """Returns the number of threads of each worker, by address, which the scheduler is asked for."""
    found: dict[str, int] = await client.scheduler.ncores()
    return found


def _digest_or_none(shipment: Shipment | None) -> str | None:
    """Returns the digest of a traffic, None for None."""
    return None if shipment is None else shipment.digest


def _unreachable_error(address: str, error: BaseException) -> MouseholeError:
    """Returns the error for a scheduler that does not answer."""
    return MouseholeError(
        f"no Dask scheduler answers at {address} ({take_first_line(error)}); "
        "give its address, such as tcp://10.0.0.1:8786",
        field="dask", value=address,
    )  # fmt: skip
