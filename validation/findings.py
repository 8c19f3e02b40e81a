"""Writes docs/findings.md: the five papers' schemes and what people would install, side by side.

The tables are those of `papers/side_by_side`; `mousehole paper side-by-side table NAME` prints each. The
sentences are made of paired estimates from the same runs. `make validation WHAT=findings` runs all and renews
the page.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mousehole.base import ConsoleReporter
from mousehole.document import make_report_console
from mousehole.statistics import Estimate, effective_comparisons

from papers import paper
from papers.definition import Value
from papers.evaluate import Evaluator
from papers.paper import make_table
from papers.parts import Table
from papers.runs import Options, default_cache
from papers.text import format_estimate
from tools import document

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "findings.md"
TARGET = "validation WHAT=findings"
NAME = "side-by-side"
BASE = "as above"
OF_PAPERS = ("SFD", "SFD, coupled", "S-SFD, coupled", "RIO-PS", "SHRED", "LFP", "TCP-DS")
"""Schemes of the papers; all but LFP are one FIFO with drop profiles."""
PROFILES = ("SFD", "SFD, coupled", "S-SFD, coupled")
"""What a router with two WRED profiles can do, with a marker at the edge."""
INSTALLED = ("RED", "CoDel", "PIE", "FQ-CoDel", "CAKE", "marker + CAKE")
GRID = "all"


@dataclass(frozen=True)
class Change:
    """The relative change of a quantity between two schemes, paired by replication."""

    estimate: Estimate

    @property
    def word(self) -> str:
        """Returns "lower" or "higher" if the interval excludes 0, else "undecided".

        Without an interval it is "not compared".
        """
        if not self.estimate.has_interval:
            return "not compared"
        if self.estimate.high < 0:
            return "lower"
        return "higher" if self.estimate.low > 0 else "undecided"

    def __str__(self) -> str:
        """Returns the change in percent with its interval."""
        return format_estimate(self.estimate, "%", 0)


class Findings:
    """The estimates behind the sentences of the page."""

    def __init__(self, evaluator: Evaluator) -> None:
        """Reads the axes of the grid `GRID`; evaluates nothing yet."""
        self._evaluator = evaluator
        axes = evaluator.definition.grids[GRID].axes
        self.traffics, self.conditions = axes["traffic"], axes["condition"]
        self._known: dict[tuple[str, str, str, str], float] = {}
        self.models = [name for name in self.traffics if name.startswith("web:")]

    def change(self, field: str, scheme: str, other: str, traffic: str, condition: str = BASE) -> Change:
        """Returns the relative change of a field under `scheme` against `other`.

        Its interval holds for all schemes against `other` at once. NaN where it is unknown. Raises
        `NotAvailableError` for data that is not on this machine.
        """
        cell = {"traffic": traffic, "condition": condition, "scheme": scheme}
        value = Value(value=field, of=cell, against={"scheme": other}, change="relative")
        number = self._comparisons(field, other, traffic, condition)
        return Change(self._evaluator.estimate(value, GRID, {}, number))

    def _comparisons(self, field: str, other: str, traffic: str, condition: str) -> float:
        """Returns the effective number of comparisons against `other`, for all of the page's schemes.

        It is less than their count where their values correlate. Computed once for each combination.
        """
        key = field, other, traffic, condition
        if key not in self._known:
            cell = {"traffic": traffic, "condition": condition}
            values = [
                Value(value=field, of={**cell, "scheme": one}, against={"scheme": other}, change="relative")
                for one in (*OF_PAPERS, *INSTALLED)
                if one != other
            ]
            columns = [np.log1p(self._evaluator.values(value, GRID, {})) for value in values]
            self._known[key] = effective_comparisons(columns)
        return self._known[key]

    def best(self, field: str, schemes: Sequence[str], traffic: str, condition: str = BASE) -> str:
        """Returns the scheme with the lowest mean change of a field against drop-tail.

        Raises as `change` does.
        """
        found = {
            one: self.change(field, one, "drop-tail", traffic, condition).estimate.mean for one in schemes
        }
        return min(found, key=lambda one: found[one])

    def count(self, field: str, scheme: str, other: str) -> str:
        """Returns the numbers of conditions in which a scheme is lower, higher or undecided, as text.

        The conditions are those of all models.
        """
        words = [
            self.change(field, scheme, other, traffic, condition).word
            for traffic in self.models
            for condition in self.conditions
        ]
        lower, higher = words.count("lower"), words.count("higher")
        rest = len(words) - lower - higher
        return f"lower in {lower}, higher in {higher}, undecided in {rest} of {len(words)}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs all cells of the tables, or reads them from the cache, and renews the page.

    Returns 0. Raises `NotAvailableError` for data that is not on this machine.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args(arguments)
    own = paper.find_paper(NAME)
    reporter = ConsoleReporter(make_report_console(stderr=True))
    evaluator = own.evaluator(
        Options(full=options.full, jobs=options.jobs, cache=default_cache(), reporter=reporter)
    )
    evaluator.runs.run(
        [one for table in own.definition.tables for one in evaluator.list_table_requests(table)]
    )
    tables = [make_table(evaluator, table) for table in own.definition.tables]
    document.renew(DOCUMENT, TARGET, write_body(Findings(evaluator), tables, evaluator))
    print(f"findings: wrote {DOCUMENT.name}")
    return 0


def write_body(findings: Findings, tables: Sequence[Table], evaluator: Evaluator) -> str:
    """Returns the page's generated part: sentences, then the tables."""
    length = evaluator.runs.length
    parts = [
        "\n",
        document.wrap(
            f"{length.replications} replications of {length.says}; a change is the geometric mean of the "
            "replications' ratios. In the sentences, intervals of 95 % hold for all schemes against one at "
            "once, in the tables each by itself. Those of logs allow for what another capture would differ "
            "by. Negative is faster."
        ),
        "\n\n## In short\n\n",
        *(document.wrap(f"- {sentence}", "  ") + "\n" for sentence in write_sentences(findings)),
    ]
    for table in tables:
        title = table.title.partition(": ")[2]
        parts.append(f"\n## {title[:1].upper()}{title[1:]}\n\n")
        parts.append(f"`mousehole paper {NAME} table {table.number}`\n\n")
        parts.append(document.table(table.columns, table.rows))
    return "".join(parts)


def write_sentences(found: Findings) -> Iterator[str]:
    """Yields the sentences of the page, those on one question together."""
    for traffic in found.traffics:
        yield write_best_of_papers(found, traffic)
    for traffic in found.traffics:
        yield write_marked_cake(found, traffic)
    for scheme in OF_PAPERS:
        yield (
            f"**{scheme} against FQ-CoDel**, mean of short transfers, four models under nine conditions: "
            f"{found.count('short_s', scheme, 'FQ-CoDel')}; against drop-tail: "
            f"{found.count('short_s', scheme, 'drop-tail')}."
        )
    for traffic in found.models:
        yield write_wred(found, traffic)
    for traffic in found.models:
        yield write_then_and_now(found, traffic)


def write_best_of_papers(found: Findings, traffic: str) -> str:
    """Returns a sentence on the papers' scheme that is best for short transfers, and its price."""
    best = found.best("short_s", OF_PAPERS, traffic)
    installed = found.best("short_s", INSTALLED, traffic)
    against = found.change("short_s", best, installed, traffic)
    pays = found.change("long_s", best, "drop-tail", traffic)
    page = found.change("page_s", best, "drop-tail", traffic)
    pages = f"; pages {page}" if page.estimate.count else ""
    return (
        f"**{traffic}**: of the papers' schemes {best} helps short transfers most, "
        f"{found.change('short_s', best, 'drop-tail', traffic)} against drop-tail; of what people would "
        f"install {installed}, {found.change('short_s', installed, 'drop-tail', traffic)}. "
        f"{best} against {installed}: "
        f"{against} ({against.word}). Under {best} long transfers change by {pays} against drop-tail{pages}."
    )


def write_marked_cake(found: Findings, traffic: str) -> str:
    """Returns a sentence on the change that the marker `excess` before CAKE's Bulk tin makes."""
    mean, p99, long = (
        found.change(field, "marker + CAKE", "CAKE", traffic)
        for field in ("short_s", "short_p99_s", "long_s")
    )
    return (
        f"**`excess` before CAKE's Bulk tin, {traffic}**: short transfers' mean {mean} and "
        f"p99 {p99} against plain CAKE, long transfers {long}."
    )


def write_wred(found: Findings, traffic: str) -> str:
    """Returns a sentence on the best that a router with two WRED profiles can do."""
    best = found.best("short_s", PROFILES, traffic)
    return (
        f"**Two WRED profiles, {traffic}**: {best} is the best of them, short transfers "
        f"{found.change('short_s', best, 'drop-tail', traffic)} against drop-tail and "
        f"{found.change('short_s', best, 'RED', traffic)} against RED, long ones "
        f"{found.change('long_s', best, 'drop-tail', traffic)}."
    )


def write_then_and_now(found: Findings, traffic: str) -> str:
    """Returns a sentence on each paper's scheme with the TCP of 2001 and of today."""
    texts = []
    for scheme in ("SFD, coupled", "RIO-PS", "SHRED", "LFP", "TCP-DS"):
        then, now = (
            found.change("short_s", scheme, "drop-tail", traffic, condition)
            for condition in ("TCP of 2001", BASE)
        )
        texts.append(f"{scheme} {then} then and {now} now")
    return f"**TCP of 2001 and of today, {traffic}**, short transfers against drop-tail: {'; '.join(texts)}."


if __name__ == "__main__":
    sys.exit(main())
