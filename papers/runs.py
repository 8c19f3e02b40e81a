"""Runs the cells of a paper's grids, each once, and caches their measurements.

A cached measurement is found by the scenario, the replication, the engine's build and the source of
the measure, so that any change of these causes a new run.
"""

import hashlib
import inspect
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any
from zipfile import BadZipFile

import numpy as np
from mousehole.base import Reporter, Silent, available_bytes, engine_digest
from mousehole.engine_types import Scenario
from mousehole.inputs import from_section, make_shipment
from mousehole.runs import (
    Backend,
    RunResult,
    choose_jobs,
    default_jobs,
    estimate_run,
    read_lengths_s,
    require_memory,
    run_all,
    write_cost,
)
from mousehole.scenario import fill_in
from numpy.typing import NDArray

from papers.definition import TAKEN, Cell, Definition, Json, Labels, Length, NotAvailableError, read_toml
from papers.schemes import apply_trial, merge, write_scheme

Measured = Mapping[str, NDArray[np.float64]]
"""What is measured of one run: arrays by name; a single number is an array of no dimension."""
Measure = Callable[[RunResult], Mapping[str, Any]]
WORTH_ESTIMATING_S = 200_000.0
"""Simulated seconds of all runs from which on their cost is estimated before they begin."""


@dataclass(frozen=True)
class Request:
    """A cell whose runs are wanted."""

    grid: str
    cell: Labels
    change: str = "{}"
    """What a trial changes in the scenario, as JSON."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a paper's runs; None stands for the paper's own number."""

    full: bool = False
    seeds: int | None = None
    reading: str = TAKEN
    """The name of the reading."""
    settle: int | None = None
    """Replications are doubled, up to so many, until each word is settled; None adds none."""
    seed: int | None = None
    """The master seed in the place of the scenarios' own."""
    jobs: int | None = None
    cache: Path | None = None
    """The folder in which measures are kept; None keeps nothing."""
    fresh: bool = False
    """Whether to run again what was measured before."""
    reporter: Reporter = field(default_factory=Silent)
    backend: Backend | None = None
    """Where the runs are; None stands for threads of this process."""


@dataclass(frozen=True)
class Task:
    """One run: its scenario, its measure, and the digest that identifies its measurement."""

    scenario: Json
    measure: Measure
    digest: str

    @property
    def files(self) -> tuple[str, ...]:
        """Returns the files whose traffic is replayed."""
        return tuple(self.scenario["traffic"].get("files", ()))


Number = tuple[Request, int]
"""A replication of a cell."""


class Runs:
    """The runs of one paper that have been requested so far."""

    def __init__(self, definition: Definition, folder: Path, measures: ModuleType, options: Options) -> None:
        """Prepares the runs of a paper; makes none and reads nothing."""
        self._definition, self._folder, self._measures = definition, folder, measures
        self._options = options
        self._done: dict[Request, list[Measured]] = {}
        self.made, self.kept = 0, 0
        """Runs that were made, and runs whose measures were found in the cache."""

    @property
    def length(self) -> Length:
        """Returns the chosen length, with the number of replications that was asked for."""
        chosen = self._definition.full if self._options.full else self._definition.quick
        return replace(chosen, replications=self._options.seeds or chosen.replications)

    @property
    def settle(self) -> int | None:
        """Returns the limit of replications for settling open verdicts, or None."""
        return self._options.settle

    def replications(self, grid: str) -> int:
        """Returns the number of replications of a grid's cells.

        It is the number asked for, else the grid's in quick runs, else that of the length.
        """
        usual = self._definition.grids[grid].replications if not self._options.full else None
        return self._options.seeds or usual or self.length.replications

    def request(self, grid: str, *cells: Cell) -> Request:
        """Returns the request for the cell that the given labels select; later labels replace earlier ones.

        Raises `MouseholeError` as `Definition.find_cell` does.
        """
        return Request(grid, self._definition.find_cell(grid, *cells))

    def run(
        self, requests: Iterable[Request], *, available: bool = False, replications: int | None = None
    ) -> None:
        """Runs the requests that have not been run, in all replications or in `replications`.

        Measurements are read from the cache or made, and counted in `kept` and `made`. With `available`,
        cells whose traffic is not on this machine are left out; otherwise such a cell raises
        `NotAvailableError`. Raises `Stopped` on Ctrl-C; all measurements made by then are in the cache.
        """
        wanted: dict[Number, Task] = {}
        for request in dict.fromkeys(requests):
            known = self._done.get(request, [])
            number = replications or self.replications(request.grid)
            if len(known) >= number:
                continue
            try:
                wanted |= self._make_tasks(request, range(len(known), number))
            except NotAvailableError:
                if not available:
                    raise
            else:
                self._done[request] = known
        tasks = {task.digest: task for task in wanted.values()}
        stored = {digest: found for digest in tasks if (found := self._load(digest)) is not None}
        made = self._run_tasks([task for digest, task in tasks.items() if digest not in stored])
        self.kept += len(stored)
        self.made += len(made)
        for (request, _), task in wanted.items():
            self._done[request].append((stored | made)[task.digest])

    def measure(self, request: Request, replications: int | None = None) -> Sequence[Measured]:
        """Returns the measurements of a request's replications in their order, after running those missing.

        There may be more than `replications`. Raises `NotAvailableError` if its traffic is not on this
        machine.
        """
        self.run([request], replications=replications)
        return self._done[request]

    def scenario(self, request: Request) -> Json:
        """Returns the scenario of a cell, without the number of the replication; reads the scenario's file.

        Raises `MouseholeError` for a faulty one.
        """
        grid = self._definition.grids[request.grid]
        scenario = merge(
            read_toml(self._folder / "scenarios" / f"{grid.scenario}.toml"), self.length.scenario
        )
        scenario = self._definition.apply_changes(
            scenario, request.grid, request.cell, full=self._options.full
        )
        scenario = apply_trial(scenario, json.loads(request.change))
        scenario["scheme"] = write_scheme(scenario["scheme"], self._definition.schemes)
        if self._options.seed is not None:
            scenario["seed"] = self._options.seed
        build = getattr(self._measures, grid.build) if grid.build else None
        return build(scenario, dict(request.cell)) if build else scenario

    def _make_tasks(self, request: Request, numbers: Iterable[int]) -> dict[Number, Task]:
        """Returns the task of each replication of a request.

        Raises `NotAvailableError` if its traffic is not on this machine.
        """
        grid = self._definition.grids[request.grid]
        scenario = self.scenario(request)
        measure: Measure = getattr(self._measures, grid.measure)
        tasks = {}
        for number in numbers:
            one = {**scenario, "replication": number}
            tasks[request, number] = Task(one, measure, self._digest(one, measure))
        return tasks

    def _digest(self, scenario: Json, measure: Measure) -> str:
        """Returns the hash of all that determines a measurement.

        That is engine, measure (by its name and the source of its module), scenario and replication, and the
        files of the scenario's traffic, which are read. Raises `NotAvailableError` for a file that is
        missing.
        """
        text = json.dumps(scenario, sort_keys=True, separators=(",", ":"))
        files = [_hash_file(Path(one)) for one in scenario["traffic"].get("files", ())]
        known = "\0".join([engine_digest(), measure.__name__, _read_source(self._measures), *files, text])
        return hashlib.sha256(known.encode()).hexdigest()[:40]

    def _cache_path(self, digest: str) -> Path | None:
        """Returns the path of a cached measurement, or None without a cache."""
        folder = self._options.cache
        return None if folder is None else folder / self._definition.name / f"{digest}.npz"

    def _load(self, digest: str) -> Measured | None:
        """Returns a cached measurement, or None if there is none or it is damaged.

        None too without a cache and with the option `fresh`.
        """
        place = self._cache_path(digest)
        if place is None or self._options.fresh or not place.exists():
            return None
        try:
            with np.load(place, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        except (OSError, ValueError, EOFError, BadZipFile):
            return None  # cut short when it was written: run again

    def _run_tasks(self, tasks: Sequence[Task]) -> dict[str, Measured]:
        """Runs the tasks and returns their measurements by digest; each is cached as soon as it is there.

        Reads the files of traffic. Raises `MouseholeError` if the memory is too small, and `Stopped` on
        Ctrl-C.
        """
        if not tasks:
            return {}
        jobs = self._choose_jobs([task.scenario for task in tasks])
        done: dict[str, Measured] = {}
        for measure, files in dict.fromkeys((task.measure, task.files) for task in tasks):
            same = [task for task in tasks if task.measure is measure and task.files == files]
            scenarios = {task.digest: task.scenario for task in same}
            first, reporter = fill_in(same[0].scenario), self._options.reporter
            given = from_section(first["traffic"], "")
            traffic = given.read(seed=first["seed"]) if files else None
            done |= run_all(
                scenarios, partial(_reduce, measure), reporter, jobs, traffic, settle=self._store_result,
                backend=self._options.backend, shipment=make_shipment(given, False, first["seed"]),
            )  # fmt: skip
        return done

    def _store_result(self, digest: str, done: dict[str, Measured]) -> None:
        """Caches the measurement of one run; called as soon as the run ends."""
        _store(self._cache_path(digest), done[digest])

    def _choose_jobs(self, scenarios: Sequence[Json]) -> int:
        """Returns the number of runs at a time.

        Reports time and memory first if the runs are many or long; for that it times parts of some runs.
        Raises `MouseholeError` if the memory is too small.
        """
        jobs, backend = self._options.jobs, self._options.backend
        if backend is not None:
            return max(backend.at_once, 1)
        # The longest run at each rate, since a run costs as much as it has packets.
        longest: dict[str, Scenario] = {}
        for one in map(fill_in, scenarios):
            known = longest.setdefault(_find_rate(one), one)
            if sum(read_lengths_s(one)) > sum(read_lengths_s(known)):
                longest[_find_rate(one)] = one
        most_s = max(sum(read_lengths_s(one)) for one in longest.values())
        if len(scenarios) * most_s < WORTH_ESTIMATING_S:
            return jobs or default_jobs()
        # The cost of a capture is not known before it is read.
        known_costs = [one for one in longest.values() if not one["traffic"].get("files")]
        if not known_costs:
            return jobs or default_jobs()
        estimates = [estimate_run(one, None, len(scenarios)) for one in known_costs]
        needed = max(estimates, key=lambda one: one.cpu_s)
        require_memory(needed, available_bytes())
        at_once = choose_jobs(needed, jobs, available_bytes())
        self._options.reporter.say(f"{len(scenarios)} runs, {write_cost(needed, at_once)} at most")
        return at_once


def default_cache() -> Path:
    """Returns the cache folder, `mousehole/papers` in $XDG_CACHE_HOME or ~/.cache, which need not exist."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "mousehole" / "papers"


def _reduce(measure: Measure, result: RunResult) -> Measured:
    """Returns the measurement of a run as arrays of floats, by name."""
    return {name: np.asarray(value, np.float64) for name, value in measure(result).items()}


def _store(place: Path | None, measured: Measured) -> None:
    """Writes the measurement of one run, whole or not at all; does nothing without a path.

    If it cannot be written, as on a full disk, the next command repeats the run.
    """
    if place is None:
        return
    part = place.with_name(f"{place.stem}.{os.getpid()}.part")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as stream:
            np.savez_compressed(stream, allow_pickle=False, **measured)
        part.replace(place)
    except OSError:
        part.unlink(missing_ok=True)


def _find_rate(scenario: Scenario) -> str:
    """Returns the rate of a scenario's bottleneck, empty if the scenario has none."""
    own: Json = dict(scenario)
    given = own.get("topology", {}).get("params", own.get("link", {}))
    return str(given.get("rate") or given.get("down") or "")


@cache
def _hash_file(path: Path) -> str:
    """Returns the SHA-256 of a file; raises `NotAvailableError` if it cannot be read.

    It is read once per process.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise NotAvailableError(
            f"{path}: {error.strerror}; MOUSEHOLE_DATA names the folder of real traces"
        ) from None


@cache
def _read_source(module: ModuleType) -> str:
    """Returns a module's source, read once per process; raises `OSError` if it has no file."""
    return inspect.getsource(module)
