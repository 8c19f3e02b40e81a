"""Measures how a sweep's time falls with Dask workers and with threads: `make bench WHAT=scaling`.

Writes the table into docs/cluster.md, and marks the lines that are computed rather than measured.
"""

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from mousehole.base import buckets
from mousehole.runs import Backend, Job, Threads, open_backend, yield_outcomes
from mousehole.sweeps import Prepared, read, reduce_row

from tools import document
from tools.dask_cluster import Cluster

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cluster.md"
TARGET = "bench WHAT=scaling"
SWEEP: dict[str, Any] = {
    "traffic": "web:sfd", "schemes": ["droptail", "sfd", "fq-codel"], "seeds": 10,
    "options": {"rate": "10mbit", "warmup": "10s", "buffer": "100p"},
    "axes": {"load": [0.6, 0.7, 0.8, 0.9]},
}  # fmt: skip
DURATIONS = ("200s", "1000s")
"""Short and long runs: what the client costs weighs less on long ones."""
REPEATS = 3
EMPTY = 2000
"""Runs that do next to nothing, for the rate at which the client can give out work."""
NOTE = document.wrap(
    "The computed lines are no measurements: they assume that workers do not wait for each other, until "
    "the client can give out no more runs a second than it did here."
) + "\n"  # fmt: skip
COMPUTED = (8, 32, 128, 512)
"""Numbers of workers whose speed-up is computed."""


@dataclass(frozen=True)
class Timed:
    """The times of a sweep with one kind and number of workers, a value per repeat."""

    kind: str
    workers: int
    seconds: list[float]


def main() -> int:
    """Measures, prints the table and writes the page; returns 0. With --dry the page stays as it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--dry", action="store_true", help="do not write docs/cluster.md")
    given = parser.parse_args()
    text = "\n".join(measure(duration, given.workers) for duration in DURATIONS) + "\n" + NOTE
    print(text)
    if not given.dry:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(document.replace_part(page, TARGET, text), encoding="utf-8")
    return 0


def measure(duration: str, workers: int) -> str:
    """Measures the sweep, with runs of this length, on one worker, two, and so on; returns its table.

    Starts and ends a scheduler and workers for each number. Prints each time to standard error.
    """
    options = {**SWEEP["options"], "duration": duration}
    prepared = Prepared(read({**SWEEP, "options": options}))
    found: dict[tuple[str, int], list[float]] = {}
    rate = 0.0
    with tempfile.TemporaryDirectory() as place:
        for repeat in range(REPEATS):
            for count in range(1, workers + 1):
                found.setdefault(("threads", count), []).append(_time_sweep(prepared, Threads(count)))
                taken, rate_here = _measure_workers(prepared, Path(place) / f"{repeat}-{count}", count)
                found.setdefault(("Dask", count), []).append(taken)
                rate = max(rate, rate_here)
                print(f"repeat {repeat + 1}: {count} worker(s), {taken:.1f} s", file=sys.stderr)
    timed = [Timed(kind, count, seconds) for (kind, count), seconds in sorted(found.items())]
    return write_table(timed, prepared.rows, rate)


def write_table(timed: list[Timed], rows: int, rate: float) -> str:
    """Returns the table of measured lines, and of lines computed from the rate at which runs are given out.

    `timed` must have each kind with one worker. `rate` is in runs per second.
    """
    alone = {one.kind: median(one.seconds) for one in timed if one.workers == 1}
    cell_s = alone["Dask"] / rows
    lines = [
        [f"{one.kind}, {one.workers}", f"{median(one.seconds):.1f} s",
         f"{min(one.seconds):.1f} to {max(one.seconds):.1f} s",
         f"{alone[one.kind] / median(one.seconds):.2f}", "measured"]
        for one in timed
    ]  # fmt: skip
    for count in COMPUTED:
        most = min(float(count), rate * cell_s)
        lines.append([f"Dask, {count}", f"{alone['Dask'] / most:.2f} s", "", f"{most:.0f}", "computed"])
    head = ["workers", "median", "range of repeats", "times one worker", "from"]
    said = (
        f"{rows} runs of {1000 * cell_s:.0f} ms each (`make bench WHAT=scaling`, {REPEATS} repeats in turns, "
        "on "
        f"{len(os.sched_getaffinity(0))} cores). The client gave out {rate:.0f} runs a second "
        "that did next to nothing."
    )
    return f"{document.wrap(said)}\n\n{document.table(head, lines)}"


def _measure_workers(prepared: Prepared, folder: Path, count: int) -> tuple[float, float]:
    """Returns the time of the sweep on `count` Dask workers, s, and the rate of empty runs, per second.

    `folder` must not exist. The scheduler and its workers have ended then. Raises `TimeoutError` if the
    scheduler does not start, and as `_time_sweep` does.
    """
    folder.mkdir()
    cluster = Cluster(folder)
    try:
        cluster.wait()
        for _ in range(count):
            cluster.add()
        with open_backend(dask=cluster.address) as backend:
            if backend is None:
                raise RuntimeError("no backend")
            while backend.at_once < count:
                time.sleep(0.1)
            rate = EMPTY / _time_empty_runs(backend, EMPTY)  # workers import and read at their first task
        with open_backend(dask=cluster.address) as fresh:  # as a command begins, which knows no job's time
            if fresh is None:
                raise RuntimeError("no backend")
            return _time_sweep(prepared, fresh), rate
    finally:
        cluster.stop()


def _time_sweep(prepared: Prepared, backend: Backend) -> float:
    """Returns the time of all rows of a sweep, s; traffic is read before.

    Raises `RuntimeError` if a row is missing.
    """
    jobs: list[tuple[tuple[int, int, int], Job[Any]]] = []
    for number in range(len(prepared.cells)):
        cell, traffic = prepared.planner.ready(prepared.planner.plan(number))
        reduce = partial(reduce_row, buckets=cell.plan.buckets)
        places = product(range(len(cell.schemes)), range(prepared.made.seeds))
        jobs += [((number, *one), Job(cell.scenario(*one), reduce, traffic)) for one in places]
    begin = time.monotonic()
    count = sum(1 for _ in yield_outcomes(backend, jobs))
    if count != prepared.rows:
        raise RuntimeError(f"{count} of {prepared.rows} rows")
    return time.monotonic() - begin


def _time_empty_runs(backend: Backend, count: int) -> float:
    """Returns the time of `count` runs of a millisecond with hardly any traffic, s; infinity if one fails."""
    writes = {"start_s": 0.0, "writes": [{"bytes": 1000}]}
    scenario = {"warmup": "0s", "duration": "1ms", "link": {"rate": "1mbit"}, "scheme": "droptail",
                "max_windows": 1, "traffic": {"connections": [writes]}}  # fmt: skip
    reduce = partial(reduce_row, buckets=buckets(15_000, 150_000))
    begin = time.monotonic()
    done = sum(
        1 for _ in yield_outcomes(backend, ((number, Job(scenario, reduce)) for number in range(count)))
    )
    return (time.monotonic() - begin) if done == count else float("inf")


if __name__ == "__main__":
    sys.exit(main())
