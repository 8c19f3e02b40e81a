"""The Python interface for several days: `compare_days` compares schemes on each, and over all of them."""

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mousehole import _engine
from mousehole.base import Options, Silent, accepts_options, conflict_error, field_error, make_frame
from mousehole.comparison import Comparison, prepare, run_comparison
from mousehole.days import _days as over_days
from mousehole.days._days import Day, DaysFinding, find_over_days, list_effect_rows
from mousehole.days._document import make_days_document
from mousehole.document import Document
from mousehole.engine_types import InputEntry
from mousehole.html import Kept
from mousehole.inputs import traffic as traffics
from mousehole.runs import Cell, Plan, open_backend
from mousehole.scenario import sizefiles

if TYPE_CHECKING:
    import polars as pl

FIRST_SEED = 1
"""Seed of the first day if none is given."""


@accepts_options(Options)
def compare_days(days: Sequence[str | Path], options: Options) -> "DaysComparison":
    """Compares schemes on several captures, each of which is one day; intervals are over days.

    `days` are files as for `compare`, one for each day, at least two. Every day is replayed by itself with
    the same options, which are those of `compare`; `seed` is that of the first day, and each further day has
    the next one, so that days are independent. `mousehole.compare(day, seed=…)` repeats one of them.

    Raises `MouseholeError` for a fault in the input of any day, before any long work: fewer than two files,
    the same day twice, a day without transfers, and for `veto` and `reference`, which need a day by itself.
    Raises `Stopped` (a `KeyboardInterrupt`) on Ctrl-C.
    """
    names = _check_names(days)
    for name, value in (("veto", options.veto), ("reference", options.reference)):
        if value is not None:
            given = value if isinstance(value, str) else ", ".join(value)
            raise conflict_error(name, given, "days", "compare a day by itself to see who pays")
    seed = FIRST_SEED if options.seed is None else options.seed
    reporter = options.reporter or Silent()
    with open_backend(options.dask, options.executor, options.reporter) as backend:
        each = [
            prepare([name], replace(options, seed=seed + number), is_fitted=True)
            for number, name in enumerate(names)
        ]
        _refuse_same_content(names, [one.traffic.sources() if one.traffic else [] for one in each])
        titles = _shorten_names(names)
        found: list[Day] = []
        while each:  # the traffic of a day that is done is no longer kept
            reporter.say(f"day {len(found) + 1} of {len(names)}: {titles[len(found)]}")
            found.append(Day(titles[len(found)], run_comparison(each.pop(0), backend).results))
    return DaysComparison(tuple(found))


class DaysComparison(Kept):
    """What a comparison over days found, as polars frames, sentences, JSON and a page."""

    def __init__(self, days: tuple[Day, ...]) -> None:
        """Makes a comparison of days whose results exist; runs nothing."""
        self.days = days
        """The days, each with the results of its own comparison."""

    @property
    def plan(self) -> Plan:
        """Returns the grid, the schemes and the number of replications, which all days share."""
        return self.days[0].results.plan

    @cached_property
    def finding_list(self) -> list[DaysFinding]:
        """Returns every scheme against the baseline and against FQ-CoDel over all days, in every cell."""
        return [finding for cell in self.plan.cells for finding in find_over_days(self.days, cell)]

    @property
    def findings(self) -> "pl.DataFrame":
        """Returns the findings over days as a frame, one row each, with the sentence for people."""
        return make_frame([finding.as_row() for finding in self.finding_list])

    @property
    def effects(self) -> "pl.DataFrame":
        """Returns one row per finding and day: the change on that day, with the day's own interval."""
        return make_frame(list_effect_rows(self.finding_list))

    def comparison(self, day: str) -> Comparison:
        """Returns the comparison of one day, without its single transfers.

        `day` is the name of its file, as titles show it. Raises `MouseholeError` for a name that no day has.
        """
        for one in self.days:
            if one.name == day:
                return Comparison(one.results, None)
        raise field_error("day", day, f"one of {', '.join(one.name for one in self.days)}")

    def answer(self, cell: Cell | None = None) -> list[str]:
        """Returns, in sentences, what to install for short transfers over all days.

        `cell` is the first one by default.
        """
        return over_days.answer_over_days(self.days, cell or self.plan.cells[0])[0]

    def document(self, command: Sequence[str] | None = None) -> Document:
        """Returns the comparison as a document, which terminal, page and Markdown show.

        `command` is the command line as typed, None where Python was the caller.
        """
        from mousehole.days import _report  # loads Altair

        return _report.make_document(self.days, command)

    def to_json(self) -> str:
        """Returns the document of schema `mousehole.days/2` (docs/json.md)."""
        return _engine.json_text(make_days_document(self.days))

    def __repr__(self) -> str:
        """Returns the title, and a line for each confirmatory finding."""
        return self.plan.describe(f"over {len(self.days)} days", self.finding_list)


def _check_names(days: Sequence[str | Path]) -> list[str]:
    """Returns the names of the days' files.

    Raises `MouseholeError` for a model or a scenario, for fewer than two files, and for a file that is given
    twice.
    """
    if not isinstance(days, str | Path | Sequence):
        raise field_error("days", str(days), "a list of files, one for each day")
    names = [str(days)] if isinstance(days, str | Path) else [str(name) for name in days]
    for name in names:
        if traffics.is_model_or_place(name) or Path(name).suffix.lower() == ".toml":
            raise field_error("days", name, "captures or logs, one for each day", "is no capture")
    if len(names) < 2:
        given = names[0] if names else ""
        raise field_error("days", given, "two files or more, one for each day", "is a single day")
    places: dict[str, str] = {}
    for name in names:
        place = name if name == sizefiles.STANDARD_INPUT else os.path.realpath(name)
        if place in places:
            raise conflict_error(
                "days", name, f'"{places[place]}", which is the same file', "give every day once"
            )
        places[place] = name
    return names


def _refuse_same_content(names: Sequence[str], sources: Sequence[Sequence[InputEntry]]) -> None:
    """Raises `MouseholeError` if two files have the same content, by their SHA-256.

    `sources` has the entries of the files of each name.
    """
    seen: dict[str, str] = {}
    for name, read in zip(names, sources, strict=True):
        for entry in read:
            digest = entry["sha256"]
            if digest in seen:
                other = f'"{seen[digest]}", which has the same content'
                raise conflict_error("days", name, other, "give every day once")
            seen[digest] = name


def _shorten_names(names: Sequence[str]) -> list[str]:
    """Returns the names of the files without folders; all keep their folders if two would be the same."""
    short = [Path(name).name for name in names]
    return short if len(set(short)) == len(short) else list(names)
