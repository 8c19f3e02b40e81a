"""A paper as data: the tables and figures that can be repeated, and the parts that each of them yields.

An item (a table or a figure of the paper) is a function from a `Run` to parts, yielded as the runs end:
`Heading`, `Table`, `Finding` and `Picture`. A finding may carry a `Claim`, which is the paper's statement
judged on our runs. `Paper.main` prints the parts; `python -m papers NAME` writes them as JSON lines.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple, TypeVar

from mousehole.errors import MouseholeError
from mousehole.pool import RunResult
from mousehole.progress import ConsoleReporter, Reporter
from mousehole.report import report_console
from mousehole.statistics import Estimate
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from papers.common import Json, replicate

T = TypeVar("T")
Kind = Literal["table", "figure"]
NO_INTERVAL = "no interval, at least five seeds are needed"


class Verdict(StrEnum):
    """What our runs say about a statement of the paper."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_COMPARED = "not compared"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, judged on our runs."""

    statement: str
    compared_with: str
    """Where the statement stands, or what else it is compared with."""
    result: str
    """Published number and ours, as one sentence."""
    verdict: Verdict
    published: tuple[float, float] | None = None
    """The published range; both ends are equal where the paper prints one number."""
    ours: Estimate | None = None


@dataclass(frozen=True)
class Heading:
    """How the item was run."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table whose first column is text and whose other columns are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Finding:
    """One sentence about the runs; `claim` holds the statement it judges, if it judges one."""

    sentence: str
    claim: Claim | None = None


@dataclass(frozen=True)
class Picture:
    """A figure that was written to a file."""

    path: Path


Part = Heading | Table | Finding | Picture


def console_reporter() -> Reporter:
    """Returns a reporter that draws its progress bar on standard error."""
    return ConsoleReporter(report_console(stderr=True))


@dataclass(frozen=True, kw_only=True)
class Run:
    """How an item is run: replications, threads, and whether for the paper's whole length."""

    seeds: int
    jobs: int | None = None
    full: bool = False
    reporter: Reporter = field(default_factory=console_reporter)

    def replicate(self, cases: Mapping[str, Json], reduce: Callable[[RunResult], T]) -> dict[str, list[T]]:
        """Runs every case in every replication; returns the reduced results by case."""
        return replicate(cases, self.seeds, reduce, self.reporter, self.jobs)


class Seeds(NamedTuple):
    """How many replications are run unless the user says so."""

    quick: int
    full: int


USUAL_SEEDS = Seeds(5, 10)


@dataclass(frozen=True)
class Item:
    """A table or a figure of the paper."""

    kind: Kind
    number: int
    parts: Callable[[Run], Iterable[Part]]
    seeds: Seeds | None = None
    """Replications, where they are not the paper's usual ones."""


@dataclass(frozen=True, kw_only=True)
class Paper:
    """What can be repeated of a paper; `name` is what users type."""

    name: str
    items: Sequence[Item]
    seeds: Seeds = USUAL_SEEDS

    def item(self, table: int | None, figure: int | None) -> Item:
        """Returns the one table or figure asked for; raises `MouseholeError` naming what there is."""
        asked = [(kind, n) for kind, n in (("table", table), ("figure", figure)) if n is not None]
        if len(asked) != 1:
            raise MouseholeError(f"paper {self.name}: give one table or figure; there are {self.offered()}")
        found = [item for item in self.items if (item.kind, item.number) == asked[0]]
        if not found:
            kind, number = asked[0]
            raise MouseholeError(
                f"paper {self.name}: {kind} {number} is not reproduced; there are {self.offered()}"
            )
        return found[0]

    def offered(self) -> str:
        """Returns what there is as options, such as `--table 3, 4 and --figure 6`."""
        numbers = {
            kind: [str(i.number) for i in self.items if i.kind == kind] for kind in ("table", "figure")
        }
        return " and ".join(f"--{kind} {', '.join(found)}" for kind, found in numbers.items() if found)

    def reproduce(
        self,
        table: int | None = None,
        figure: int | None = None,
        seeds: int | None = None,
        jobs: int | None = None,
        full: bool = False,
    ) -> Iterator[Part]:
        """Runs one table or figure and yields its parts as they are ready."""
        item = self.item(table, figure)
        usual = item.seeds or self.seeds
        run = Run(seeds=seeds or (usual.full if full else usual.quick), jobs=jobs, full=full)
        yield from item.parts(run)

    def main(
        self,
        table: int | None = None,
        figure: int | None = None,
        seeds: int | None = None,
        jobs: int | None = None,
        full: bool = False,
    ) -> int:
        """Runs one table or figure and prints it; returns 0 if it was run, whatever came out."""
        console = report_console()
        for part in self.reproduce(table, figure, seeds, jobs, full):
            show(console, part)
        return 0


def heading(run: Run, subject: str, length: str, left_open: str, folder: str) -> Heading:
    """Returns the line above an item: how many replications, how long, and what we filled in."""
    return Heading(
        f"{subject}: {run.seeds} replications of {length}. What the paper leaves open ({left_open}) is "
        f"filled in as papers/{folder}/README.md says."
    )


def judged(ours: Estimate, least: float, most: float) -> Verdict:
    """Judges by whether our interval meets the published range; without an interval nothing is judged."""
    if not ours.has_interval:
        return Verdict.NOT_COMPARED
    return Verdict.AGREES if ours.low <= most and ours.high >= least else Verdict.DIFFERS


def show(console: Console, part: Part) -> None:
    """Prints one part."""
    match part:
        case Heading(text):
            console.print(Text(text, style="dim"))
        case Table():
            console.print(_rich(part))
        case Finding(sentence):
            console.print(Text(f"• {sentence}"))
        case Picture(path):
            console.print(f"wrote {path}")


def _rich(part: Table) -> RichTable:
    shown = RichTable(
        title=Text(part.title, style="bold"), title_justify="left", box=box.SIMPLE, pad_edge=False
    )
    for position, column in enumerate(part.columns):
        shown.add_column(column, justify="left" if position == 0 else "right")
    for row in part.rows:
        shown.add_row(*[Text(cell) for cell in row])
    return shown


def as_json(part: Part) -> str:
    """Returns one part as a line of JSON; `part` names its kind, and NaN and infinity become null."""
    fields = {name: _plain(value) for name, value in asdict(part).items()}
    return json.dumps({"part": type(part).__name__.lower(), **fields}, ensure_ascii=False)


def _plain(value: object) -> object:
    """Returns the value with paths as text and with None for what is no finite number."""
    match value:
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case Path():
            return str(value)
        case float() if not math.isfinite(value):
            return None
    return value
