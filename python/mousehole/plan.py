"""What a comparison runs, as engine scenarios: grid of buffers and loads, schemes, replications."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from mousehole import _engine, bottleneck
from mousehole.errors import MouseholeError, conflict_error, field_error
from mousehole.options import text_list
from mousehole.sizes import Bucket, buckets

Json = dict[str, Any]

MOST_RUNS = 1_000_000
"""Runs of one comparison beyond which its own book-keeping would fill the memory."""


@dataclass(frozen=True)
class Cell:
    """One point of the grid; a load of None is the traffic's own."""

    buffer: str
    load: float | None


@dataclass(frozen=True)
class Task:
    """One engine run, by its indices."""

    cell: int
    scheme: int
    replication: int


@dataclass(frozen=True)
class Plan:
    """A whole comparison, before anything is run."""

    base: Json
    """The scenario that all runs share, without scheme, buffer, load and replication."""
    buffers: tuple[str, ...]
    loads: tuple[float | None, ...]
    schemes: tuple[str, ...]
    baseline: str
    replications: int
    short_bytes: int
    long_bytes: int

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The grid, loads outermost."""
        return tuple(Cell(buffer, load) for load in self.loads for buffer in self.buffers)

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """Size classes of the results."""
        return buckets(self.short_bytes, self.long_bytes)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All runs; replications go slowest inside a cell, so that schemes progress together."""
        return tuple(
            Task(cell, scheme, replication)
            for cell in range(len(self.cells))
            for replication in range(self.replications)
            for scheme in range(len(self.schemes))
        )

    def scenario(self, cell: Cell, scheme: str, replication: int = 0) -> Json:
        """The engine scenario of one run."""
        traffic = dict(self.base["traffic"])
        if cell.load is not None:
            traffic["load"] = cell.load
        changed = {"scheme": scheme, "replication": replication, "traffic": traffic}
        return {**bottleneck.changed(self.base, buffer=cell.buffer), **changed}

    def task_scenario(self, task: Task) -> Json:
        """The engine scenario of a task."""
        return self.scenario(self.cells[task.cell], self.schemes[task.scheme], task.replication)

    def validated(self) -> Iterator[Json]:
        """The normalised scenario of every cell and scheme; the first fault is raised."""
        for cell in self.cells:
            for scheme in self.schemes:
                yield normalised(self.scenario(cell, scheme))


def normalised(scenario: Json) -> Json:
    """The scenario with every parameter filled in, as the engine understands it."""
    filled: Json = json.loads(_engine.validate(json.dumps(scenario)))
    return filled


def checked(plan: Plan) -> Plan:
    """The plan itself if the engine accepts all of it and its sizes make sense."""
    if plan.short_bytes < 1:
        raise field_error("short", plan.short_bytes, "a size of at least 1 byte")
    if plan.long_bytes < plan.short_bytes:
        allowed = f"a size of at least that of short transfers ({plan.short_bytes} B)"
        raise field_error("long", plan.long_bytes, allowed)
    runs = len(plan.schemes) * plan.replications * len(plan.buffers) * len(plan.loads)
    if runs > MOST_RUNS:
        raise field_error(
            "seeds", plan.replications, f"fewer, for at most {MOST_RUNS} runs", f"makes {runs} runs"
        )
    filled = list(plan.validated())
    _refuse_twins(plan.schemes, [json.dumps(scenario["scheme"], sort_keys=True) for scenario in filled])
    return plan


def with_baseline(schemes: tuple[str, ...], baseline: str) -> tuple[str, ...]:
    """The schemes with the baseline in front."""
    return (baseline, *(scheme for scheme in schemes if scheme != baseline))


def chosen_schemes(given: str | Sequence[str] | None, own: str | None = None) -> tuple[str, ...]:
    """The schemes to compare: the default ones and a scenario's own, those named, or `all`."""
    if given is None:
        return tuple(dict.fromkeys((*default_schemes(), *([own.strip()] if own else []))))
    named = text_list("schemes", given)
    each = (all_schemes() if item == "all" else (item,) for item in named)
    return tuple(dict.fromkeys(chain.from_iterable(each)))


def known_baseline(given: str) -> str:
    """The baseline, if there is such a scheme."""
    try:
        _engine.scheme_parameters(given.strip())
    except MouseholeError as error:
        raise error.renamed({"scheme": "baseline"}) from None
    return given.strip()


def all_schemes() -> tuple[str, ...]:
    """Every scheme by its defaults but the witnesses of ns-2; SFD also with coupled averages."""
    names = [scheme["name"] for scheme in _engine.schemes() if not scheme["name"].startswith("ns2-")]
    after_sfd = names.index("sfd") + 1
    return (*names[:after_sfd], "sfd(mode=coupled)", *names[after_sfd:])


def default_schemes() -> tuple[str, ...]:
    """What is compared unless told otherwise: SFD both ways beside the baselines and FQ-CoDel."""
    known = {scheme["name"] for scheme in _engine.schemes()}
    wanted = ("droptail", "red", "sfd", "sfd(mode=coupled)", "s-sfd", "fq-codel")
    return tuple(scheme for scheme in wanted if scheme.split("(")[0] in known)


def _refuse_twins(schemes: tuple[str, ...], meanings: list[str]) -> None:
    for position, scheme in enumerate(schemes):
        first = meanings.index(meanings[position])
        if first < position:
            other = f'"{schemes[first]}", which is the same'
            raise conflict_error("schemes", scheme, other, "give every scheme once")
