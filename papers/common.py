"""What all papers' folders share: what is asked for, reading data, running cases, printing tables."""

import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any, TypeVar

from mousehole.engine_types import ColourCounters
from mousehole.errors import MouseholeError
from mousehole.pool import RunResult, default_jobs, run_all
from mousehole.progress import ConsoleReporter, Reporter
from mousehole.report import report_console
from mousehole.statistics import Estimate
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

Json = dict[str, Any]
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Running:
    """How a reproduction is run, and where it prints."""

    seeds: int
    jobs: int | None
    console: Console = field(default_factory=report_console)
    reporter: Reporter = field(default_factory=lambda: ConsoleReporter(report_console(stderr=True)))

    def replicate(self, cases: Mapping[str, Json], reduce: Callable[[RunResult], T]) -> dict[str, list[T]]:
        """All cases in all replications."""
        return replicate(cases, self.seeds, reduce, self.reporter, self.jobs)

    def say(self, sentence: str) -> None:
        """Prints one finding."""
        self.console.print(Text(f"• {sentence}"))


def chosen(
    paper: str, table: int | None, figure: int | None, tables: Collection[int], figures: Collection[int]
) -> tuple[str, int]:
    """Which one of a paper's tables and figures is asked for, as ("table", 4).

    Raises `MouseholeError` naming what there is, unless it is one of them.
    """
    there = {"table": tables, "figure": figures}
    listed = {kind: ", ".join(str(number) for number in numbers) for kind, numbers in there.items()}
    offered = " and ".join(f"--{kind} {numbers}" for kind, numbers in listed.items() if numbers)
    asked = [(kind, n) for kind, n in (("table", table), ("figure", figure)) if n is not None]
    if len(asked) != 1:
        raise MouseholeError(f"paper {paper}: give one table or figure; there are {offered}")
    ((kind, number),) = asked
    if number not in there[kind]:
        raise MouseholeError(f"paper {paper}: {kind} {number} is not reproduced; there are {offered}")
    return kind, number


def read_toml(path: Path) -> Json:
    """A TOML file of a paper's folder."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def merged(base: Json, changes: Mapping[str, Any]) -> Json:
    """`base` with `changes`, tables merged and everything else replaced."""
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
    """Every case in every replication, reduced; by case, replications in order."""
    numbers = range(replications)
    scenarios = {(name, n): {**case, "replication": n} for n in numbers for name, case in cases.items()}
    done = run_all(scenarios, reduce, reporter, jobs or default_jobs())
    return {name: [done[name, number] for number in numbers] for name in cases}


def drop_share(colours: list[ColourCounters]) -> float:
    """Dropped over arrived, of a link's packets of these colours; NaN where none arrived."""
    arrived = sum(colour["arrived"] for colour in colours)
    dropped = sum(colour["dropped"] for colour in colours)
    return dropped / arrived if arrived else nan


def percent(share: float, digits: int = 0) -> str:
    """`32 %`, with a true minus sign; a dash where there is no number."""
    if share != share:
        return "–"
    return f"{100 * share:.{digits}f} %".replace("-", "−")


def with_interval(estimate: Estimate, digits: int = 0) -> str:
    """`20 % (16…24)`."""
    text = percent(estimate.mean, digits)
    if not estimate.has_interval:
        return f"{text} (no interval)"
    low, high = (f"{100 * end:.{digits}f}".replace("-", "−") for end in (estimate.low, estimate.high))
    return f"{text} ({low}…{high})"


def print_table(console: Console, title: str, columns: list[str], rows: list[list[str]]) -> None:
    """A table whose first column is text and whose others are numbers."""
    table = Table(title=Text(title, style="bold"), title_justify="left", box=box.SIMPLE, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="left" if position == 0 else "right")
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    console.print(table)
