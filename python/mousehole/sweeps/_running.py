"""Runs the rows that a sweep's folder lacks, for `mousehole.sweep`."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

from mousehole import _engine
from mousehole.answer import input_entry, strip_directories
from mousehole.base import (
    REVISION,
    Reporter,
    Silent,
    Stopped,
    Terminated,
    available_bytes,
    choose_evenly,
    counted,
    engine_digest,
    require_at_least,
    require_path,
)
from mousehole.engine_types import InputEntry, Scenario
from mousehole.runs import (
    Apart,
    Backend,
    Estimate,
    Job,
    Threads,
    choose_jobs,
    default_jobs,
    estimate_run,
    load_policies,
    open_backend,
    write_rough_time,
    yield_outcomes,
)
from mousehole.scenario import fill_in, try_scenarios
from mousehole.sweeps._cells import Planner
from mousehole.sweeps._description import SCHEMA, Description, read
from mousehole.sweeps._design import Cells
from mousehole.sweeps._result import Sweep
from mousehole.sweeps._rows import FAULT, Columns, reduce_row
from mousehole.sweeps._store import Store

CHECKED = 20_000
"""Cells that are checked before anything is run; of a larger sweep, as many, evenly spread."""
TRIED = 200
"""Scenarios that are set up with own policies in another process, evenly spread."""
SAMPLES = 4
"""Cells from whose runs the time of all is estimated."""
LEAST_ROWS, MOST_PARTS = 100, 1000
"""Rows of a file, at least, and files of a sweep, at most, unless its cells are larger."""
WORTH_ESTIMATING_BITS = 2e12
"""Bits that the links of all runs carry from which on the cost is estimated before they begin."""
BYTES_PER_ROW = 500
"""Bytes of a row in its Parquet file, as measured on rows of three axes."""
_Place = tuple[int, int]
"""Number of a part, and place of a row in it."""


@dataclass(frozen=True)
class Forecast:
    """What a sweep will cost."""

    cells: int
    rows: int
    parts: int
    estimate: Estimate
    jobs: int
    """Runs at once, here or on the workers of a scheduler."""

    @property
    def seconds(self) -> float:
        """Returns the wall time in seconds that all rows take."""
        return self.estimate.seconds(self.jobs, self.jobs)

    def lines(self) -> list[str]:
        """Returns the forecast for people, one fact per line."""
        gigabytes = self.estimate.bytes_at_once(self.jobs) / 1e9
        return [
            f"cells: {self.cells:,}",
            f"rows: {self.rows:,} in {counted(self.parts, 'file')}, "
            f"about {self.rows * BYTES_PER_ROW / 1e6:.1f} MB",
            f"time: {write_rough_time(self.seconds)} with {self.jobs} runs at once; "
            f"{write_rough_time(self.estimate.cpu_s)} of one core",
            f"memory: about {gigabytes:.2f} GB",
        ]


class Prepared:
    """A sweep whose cells are checked."""

    def __init__(self, made: Description) -> None:
        """Checks the cells, and loads own policies for the whole process.

        Raises `MouseholeError` for a fault in the description, before anything is written.
        """
        load_policies(list(made.policy) or None)
        self.made, self.cells = made, Cells(made)
        self.columns = Columns(self.cells.axes)
        self.planner = Planner(made, self.cells)
        self._files: dict[Path, None] = {}
        self.weight, self.heaviest = self._check_cells()
        per_cell = max(1, len(made.schemes) * made.seeds)
        self.part_cells = max(1, ceil(LEAST_ROWS / per_cell), ceil(len(self.cells) / MOST_PARTS))
        self.rows = made.seeds * sum(len(self.cells.schemes(number)) for number in range(len(self.cells)))

    @property
    def parts(self) -> int:
        """Returns the number of files."""
        return ceil(len(self.cells) / self.part_cells)

    def numbers(self, part: int) -> range:
        """Returns the numbers of the cells of a part; the last part may have fewer."""
        return range(part * self.part_cells, min((part + 1) * self.part_cells, len(self.cells)))

    def size(self, part: int) -> int:
        """Returns the number of rows of a part."""
        return self.made.seeds * sum(len(self.cells.schemes(number)) for number in self.numbers(part))

    def forecast(self, jobs: int | None, backend: Backend | None = None) -> Forecast:
        """Returns the forecast of time and memory, from parts of some runs, which are timed here.

        The traffic of these cells is read. Raises `MouseholeError` if the memory is too small.
        """
        samples = choose_evenly(range(len(self.cells)), SAMPLES)
        chosen = [self.heaviest, *(number for number in samples if self.cells.schemes(number))]
        seconds, bits, needed, slowdown = 0.0, 0.0, 0.0, 1.0
        for turn, number in enumerate(dict.fromkeys(chosen)):
            cell, traffic = self.planner.ready(self.planner.plan(number))
            scenario = cell.scenario(turn % len(cell.schemes), 0)
            found = estimate_run(fill_in(scenario), traffic)
            seconds, bits = seconds + found.cpu_s, bits + cell.weight
            needed, slowdown = max(needed, found.bytes_per_run), max(slowdown, found.slowdown)
        whole = Estimate(seconds / max(bits, 1.0) * self.weight, slowdown, needed, self.rows)
        if backend is None:
            at_once = min(choose_jobs(whole, jobs, available_bytes()), default_jobs())
        else:
            at_once = max(backend.at_once, 1)
        return Forecast(len(self.cells), self.rows, self.parts, whole, at_once)

    def manifest(self) -> dict[str, Any]:
        """Returns everything that determines the rows, and nothing else.

        Reads all input files for their digests. Raises `MouseholeError` for one that cannot be read.
        """
        document = self.made.document()
        return {
            "schema": SCHEMA,
            "mousehole_version": _engine.__version__,
            "git_revision": REVISION,
            "engine_sha256": engine_digest(),
            "sweep": document,
            "cells": len(self.cells),
            "cells_sha256": self.cells.digest(),
            "rows": self.rows,
            "rows_of_first_file": self.size(0),
            "scenario": strip_directories(fill_in(self.planner.plan(self.heaviest).scenario(0, 0))),
            "inputs": self._inputs(),
            "policies": self._policies(),
        }

    def _inputs(self) -> list[InputEntry]:
        """Returns name and SHA-256 of every file that the checked cells read."""
        entries = [input_entry(file, []) for file in self._files]
        return sorted(entries, key=lambda entry: (entry["name"], entry["sha256"]))

    def _policies(self) -> dict[str, str]:
        """Returns the SHA-256 of the headers of own policies in the schemes, by the policy's name."""
        own = [policy for scheme in self.made.schemes for policy in _engine.scheme_policies(scheme)]
        return {policy["name"]: policy["sha256"] for policy in own}

    def _check_cells(self) -> tuple[float, int]:
        """Checks up to `CHECKED` cells; returns the weight of all rows, and the heaviest of these cells.

        The weight of all is extrapolated from them; the engine tries up to `TRIED` of them. Stores the names
        of their files. Raises `MouseholeError` for a cell that cannot run.
        """
        count = len(self.cells)
        numbers = choose_evenly(range(count), CHECKED)
        tried = set(choose_evenly(range(count), TRIED))
        weights: dict[int, float] = {}
        scenarios: list[Scenario] = []
        for number in numbers:
            if not self.cells.schemes(number):
                continue
            cell = self.planner.plan(number)
            made = self.planner.check(cell)
            self._files |= dict.fromkeys(self.planner.files(cell))
            scenarios += made if number in tried else []
            weights[number] = cell.weight * len(made)
        try_scenarios(scenarios)
        whole = sum(weights.values()) * self.made.seeds * count / len(numbers)
        return whole, max(weights, key=lambda number: weights[number])


def sweep(
    source: str | Path | Mapping[str, Any], folder: str | Path, *, jobs: int | None = None,
    dask: str | None = None, executor: Executor | None = None, reporter: Reporter | None = None,
) -> Sweep:  # fmt: skip
    """Runs a sweep into `folder`, goes on where an earlier call ended, and returns its rows so far.

    `source` is a TOML file or a dictionary with the same fields (docs/sweep.md). The folder gets a data set
    of Parquet files, `rows/*.parquet`, with one row per cell, scheme and replication; other programs may read
    it while it grows. `jobs` is the number of parallel runs (one per core), `dask` the address of a Dask
    scheduler, `executor` one of `concurrent.futures`; the rows do not depend on any of these. `reporter`
    receives the progress.

    Raises `MouseholeError` for a fault in the input before anything is written, for a folder of another
    sweep, and if the disk is full; `Stopped` (a `KeyboardInterrupt`) on Ctrl-C. After all of these, and after
    a crash, the same call goes on where the rows end.
    """
    place = require_path("folder", folder, "a folder")
    prepared, show = Prepared(read(source)), reporter or Silent()
    if jobs is not None:
        require_at_least("jobs", jobs, 1)
    with open_backend(dask, executor, show) as backend:
        run_missing(prepared, place, jobs, backend, show)
    return Sweep(place)


def forecast(
    source: str | Path | Mapping[str, Any], jobs: int | None = None, dask: str | None = None
) -> Forecast:
    """Returns the cost of a sweep, from parts of some of its runs, which are timed; nothing is written.

    Raises `MouseholeError` as `sweep` does before it writes.
    """
    prepared = Prepared(read(source))
    with open_backend(dask) as backend:
        return prepared.forecast(jobs, backend)


def run_missing(
    prepared: Prepared, folder: Path, jobs: int | None, backend: Backend | None, reporter: Reporter
) -> None:
    """Runs the rows that the folder lacks; raises as `sweep` does.

    Makes the folder, and locks it until the end. Reports how many rows are there already.
    """
    store = Store(folder, prepared.manifest(), prepared.columns)
    try:
        store.tidy()
        missing = _count_missing(prepared, store)
        there = prepared.rows - missing
        if there:
            reporter.say(f"{there:,} of {prepared.rows:,} rows are there already")
        if missing:
            _run_rows(
                prepared,
                store,
                missing,
                backend or Threads(_choose_jobs(prepared, jobs, reporter)),
                reporter,
            )
    finally:
        store.close()


def _choose_jobs(prepared: Prepared, jobs: int | None, reporter: Reporter) -> int:
    """Returns the number of runs at once: `jobs`, or the number of cores.

    For a long sweep the cost is estimated and reported before, and memory may allow fewer.
    """
    if prepared.weight < WORTH_ESTIMATING_BITS:
        return jobs or default_jobs()
    expected = prepared.forecast(jobs)
    reporter.say("; ".join(expected.lines()))
    return expected.jobs


def _count_missing(prepared: Prepared, store: Store) -> int:
    """Returns the number of rows that the folder lacks; first writes the files whose rows are all there."""
    missing = 0
    for part in range(prepared.parts):
        if not store.is_written(part):
            store.finish_if_whole(part, prepared.size(part))
        if not store.is_written(part):
            missing += prepared.size(part) - store.count(part)
    return missing


def _run_rows(prepared: Prepared, store: Store, missing: int, backend: Backend, reporter: Reporter) -> None:
    """Runs the rows that are missing and stores each as its run ends.

    A row whose job is given up is stored too, with the reason and without numbers. Raises what a run raises,
    `Stopped` on Ctrl-C and `Terminated` on a signal to end; rows that are stored stay.
    """
    done, given_up, heads = 0, 0, dict[_Place, dict[str, Any]]()
    try:
        reporter.start(missing, "rows")
        with closing(yield_outcomes(backend, _yield_missing_jobs(prepared, store, heads))) as found:
            for (part, place), outcome in found:
                numbers = {FAULT: outcome.reason} if isinstance(outcome, Apart) else outcome
                given_up += isinstance(outcome, Apart)
                store.add(part, place, heads.pop((part, place)) | numbers, prepared.size(part))
                done += 1
                reporter.advance()
    except KeyboardInterrupt:
        raise Stopped(_describe_stop("stopped", done, missing)) from None
    except Terminated:
        raise Terminated(_describe_stop("terminated", done, missing)) from None
    finally:
        reporter.finish()
    if given_up:
        reporter.say(f"warning: {given_up} rows have no numbers; their column {FAULT} says why")


def _yield_missing_jobs(
    prepared: Prepared, store: Store, heads: dict[_Place, dict[str, Any]]
) -> Iterator[tuple[_Place, Job[Any]]]:
    """Yields the jobs of the rows that are missing, in the order of the files.

    Reads traffic as it comes to its cells. Adds to `heads`, by part and index, the columns of a row that are
    known before its run; the caller removes them.
    """
    planner, seeds = prepared.planner, prepared.made.seeds
    for part in range(prepared.parts):
        if store.is_written(part):
            continue
        kept, first = store.stored(part), 0
        for number in prepared.numbers(part):
            schemes = prepared.cells.schemes(number)
            places = range(first, first + seeds * len(schemes))
            first = places.stop
            if not schemes or all(place in kept for place in places):
                continue
            cell, traffic = planner.ready(planner.plan(number))
            reduce = partial(reduce_row, buckets=cell.plan.buckets)
            shipment = planner.shipment(cell)
            for place in places:
                if place in kept:
                    continue
                replication, scheme = divmod(place - places.start, len(schemes))
                heads[part, place] = {
                    "cell": number, "replication": replication,
                    "scheme": cell.schemes[scheme], "scheme_as_run": cell.plan.schemes[scheme],
                    **prepared.columns.settings(cell.settings, prepared.cells.foreign(cell.schemes[scheme])),
                }  # fmt: skip
                scenario = cell.scenario(scheme, replication)
                yield (part, place), Job(scenario, reduce, traffic, shipment)


def _describe_stop(word: str, done: int, missing: int) -> str:
    """Returns the sentence on the number of rows that were finished before a stop."""
    return f"{word} after {done:,} of {missing:,} rows, which are kept; the same command goes on from there"
