"""Shows a paper in a notebook: its figures and claims, and a claim under other values of a parameter."""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mousehole.document import Document
from mousehole.html import Shown

from papers import paper, report
from papers.definition import TAKEN, Definition, Json, Trial
from papers.parts import Part, TrialPart
from papers.runs import Options, default_cache


@dataclass(frozen=True)
class Items(Shown):
    """The parts of some items of a paper, shown as the terminal prints them."""

    definition: Definition
    parts: list[Part]

    def document(self, command: object = None) -> Document:  # noqa: ARG002
        """Returns the parts as a document; `command` is ignored."""
        return report.make_document(report.Reported(self.definition, self.parts))


@dataclass(frozen=True)
class Drawing:
    """A figure as SVG; crosses are published points."""

    svg: str

    def _repr_svg_(self) -> str:
        """Returns the SVG, which notebooks draw."""
        return self.svg


class Study:
    """A paper whose runs may have any length."""

    def __init__(self, name: str, *, seeds: int = 5, reading: str = TAKEN, **length: str) -> None:
        """Takes the paper's name, its replications and a reading; runs nothing.

        `length` has `warmup` and `duration`, as a scenario has them; without, runs are as long as `--quick`.
        Raises `MouseholeError` for an unknown paper.
        """
        self._paper = paper.find_paper(name)
        if length:
            self._paper.definition = shorten(self._paper.definition, **length)
        self._options = Options(seeds=seeds, reading=reading, cache=default_cache())

    def _items(self, parts: Iterable[Part]) -> Items:
        """Returns parts of the paper for display, after making the runs that they need."""
        return Items(self._paper.definition, list(parts))

    def claim(self, number: str) -> Items:
        """Returns the judged claims with this id; makes the runs that the cache lacks.

        Raises `MouseholeError` for an unknown id.
        """
        return self._items(self._paper.reproduce(paper.Wanted(claim=number), self._options))

    def table(self, number: str) -> Items:
        """Returns a table with the published numbers and ours; makes the runs that the cache lacks.

        Raises `MouseholeError` for an unknown number.
        """
        return self._items(self._paper.reproduce(paper.Wanted(table=number), self._options))

    def figure(self, number: str) -> Drawing:
        """Returns a figure as a drawing; makes the runs that the cache lacks.

        Raises `MouseholeError` for an unknown number, `StopIteration` if its data is not on this machine.
        """
        with tempfile.TemporaryDirectory() as place:
            wanted = paper.Wanted(figure=number, pictures=Path(place), form="svg")
            list(self._paper.reproduce(wanted, self._options))
            return Drawing(next(Path(place).glob("*.svg")).read_text(encoding="utf-8"))

    def turned(self, name: str, knob: str, values: Mapping[str, Json]) -> Items:
        """Returns a claim under each value of a parameter, `knob`; makes the runs that the cache lacks.

        `name` is the claim's id, with that of its part if it has one. `values` maps labels to changes of a
        scenario, as in the trials of `paper.toml`. Raises `StopIteration` for an unknown claim.
        """
        evaluator = self._paper.evaluator(self._options)
        claim = next(one for one in self._paper.definition.claims if one.name == name)
        parts = []
        for label, change in values.items():
            other = evaluator.with_trial(Trial(name=label, change=change))
            parts.append(TrialPart(claim.id, knob, label, paper.run_judgements(other, claim)))
        return self._items(parts)


def shorten(definition: Definition, warmup: str, duration: str) -> Definition:
    """Returns a copy of a paper whose quick runs have this length in all grids.

    Grids lose their own numbers of replications.
    """
    length = {"warmup": warmup, "duration": duration}
    quick = replace(
        definition.quick,
        scenario={**definition.quick.scenario, **length},
        says=f"{duration} after {warmup} that are not counted, much shorter than the paper's",
    )
    grids = {
        name: replace(grid, replications=None, quick={**grid.quick, **length})
        for name, grid in definition.grids.items()
    }
    return replace(definition, quick=quick, grids=grids)
