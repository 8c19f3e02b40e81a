"""Helpers that all papers share: reading a folder's data, running cases, estimates as text."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from mousehole.engine_types import ColourCounters
from mousehole.estimate import cost_text, estimated_run, fitting_jobs, lengths_s, require_memory
from mousehole.memory import available_bytes
from mousehole.pool import RunResult, default_jobs, run_all
from mousehole.progress import Reporter
from mousehole.scenario import filled
from mousehole.statistics import Estimate, t_interval

Json = dict[str, Any]
T = TypeVar("T")

WORTH_ESTIMATING_S = 50_000.0
"""Simulated seconds of all runs from which on their cost is estimated before they begin."""


@dataclass(frozen=True)
class Data:
    """The TOML files of a paper's folder."""

    folder: Path

    def published(self) -> Json:
        """Returns the numbers that the paper prints."""
        return read_toml(self.folder / "published.toml")

    def variants(self) -> Json:
        """Returns what is run on the scenarios: schemes, loads, readings of the paper."""
        return read_toml(self.folder / "variants.toml")

    def scenario(self, name: str) -> Json:
        """Returns the scenario `scenarios/NAME.toml`."""
        return read_toml(self.folder / "scenarios" / f"{name}.toml")


def read_toml(path: Path) -> Json:
    """Returns the contents of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def merged(base: Json, changes: Mapping[str, Any]) -> Json:
    """Returns `base` with `changes`: tables are merged, everything else is replaced."""
    result = dict(base)
    for name, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(result.get(name), dict)
        result[name] = merged(result[name], value) if both else value
    return result


def replicate(
    cases: Mapping[str, Json],
    replications: int,
    reduce: Callable[[RunResult], T],
    reporter: Reporter,
    jobs: int | None = None,
) -> dict[str, list[T]]:
    """Runs every case in every replication; returns the reduced results by case, replications in order."""
    numbers = range(replications)
    scenarios = {(name, n): {**case, "replication": n} for n in numbers for name, case in cases.items()}
    done = run_all(scenarios, reduce, reporter, _announced(list(scenarios.values()), jobs, reporter))
    return {name: [done[name, number] for number in numbers] for name in cases}


def _announced(scenarios: Sequence[Json], jobs: int | None, reporter: Reporter) -> int:
    """Reports time and memory if the runs are many or long; returns how many to have at once.

    Raises `MouseholeError` if one run does not fit into the memory.
    """
    first = filled(scenarios[0])
    if len(scenarios) * sum(lengths_s(first)) < WORTH_ESTIMATING_S:
        return jobs or default_jobs()
    needed = estimated_run(first, None, len(scenarios))
    require_memory(needed, available_bytes())
    at_once = fitting_jobs(needed, jobs, available_bytes())
    reporter.say(f"{cost_text(needed, at_once)}: {len(scenarios)} runs")
    return at_once


def drop_share(colours: list[ColourCounters]) -> float:
    """Returns dropped over arrived, of a link's packets of these colours; NaN where none arrived."""
    arrived = sum(colour["arrived"] for colour in colours)
    dropped = sum(colour["dropped"] for colour in colours)
    return dropped / arrived if arrived else nan


def estimate(runs: Sequence[Any], field: str) -> Estimate:
    """Returns mean and interval of one attribute of the runs; `a.b` reads an attribute's attribute."""
    return t_interval([attrgetter(field)(run) for run in runs])


def paired(runs: Sequence[Any], others: Sequence[Any], difference: Callable[[Any, Any], float]) -> Estimate:
    """Returns mean and interval of `difference(run, other)` over runs paired by replication."""
    return t_interval([difference(one, other) for one, other in zip(runs, others, strict=True)])


def number(value: Estimate, digits: int = 3) -> str:
    """Returns `1,234.5 ±6.7`, without the interval where there is none; a dash where there is no number."""
    if value.mean != value.mean:
        return "–"
    text = f"{value.mean:,.{digits}f}".replace("-", "−")
    return f"{text} ±{value.half_width:,.{digits}f}" if value.has_interval else text


def percent(share: float, digits: int = 0) -> str:
    """Returns `32 %`, with a true minus sign; a dash where there is no number."""
    if share != share:
        return "–"
    return f"{100 * share:.{digits}f} %".replace("-", "−")


def with_interval(value: Estimate, digits: int = 0) -> str:
    """Returns `20 % (16…24)`."""
    text = percent(value.mean, digits)
    if not value.has_interval:
        return f"{text} (no interval)"
    low, high = (f"{100 * end:.{digits}f}".replace("-", "−") for end in (value.low, value.high))
    return f"{text} ({low}…{high})"
