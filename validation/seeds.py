"""Judges the papers' claims under several master seeds: how many verdicts depend on the random draws.

`make validation WHAT=seeds` judges every cell of the papers named under each seed, as `mousehole
paper NAME --seed N` does and once more with `--settle`, and writes docs/seeds.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from papers import paper
from papers.judge import GOOD, Word
from papers.parts import ClaimPart, format_word
from papers.runs import Options, default_cache
from tools import document
from validation.full_length import list_statements

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "seeds.md"
TARGET = "validation WHAT=seeds"
PAPERS = ("lfp",)
"""The paper whose words hang most on the seed; these seeds of it take half an hour of CPU time."""
SEEDS = (201, 202, 203, 204)
SETTLE = 640


@dataclass(frozen=True)
class SeededWords:
    """The verdicts on one paper's cells under several seeds."""

    paper: str
    settle: int | None
    """Up to how many replications were made until words were settled; None where none were added."""
    cells: Sequence[tuple[str, Sequence[Word | None]]]
    """The name of each cell with its word under each seed, in the order of the seeds."""

    @property
    def changed(self) -> list[tuple[str, Sequence[Word | None]]]:
        """Returns the cells whose verdict is not the same under all seeds, each with its verdicts."""
        return [(name, words) for name, words in self.cells if len(set(words)) > 1]

    @property
    def opposite(self) -> int:
        """Returns the number of cells that agree under one seed and differ under another."""
        return sum(Word.DIFFERS in words and any(one in GOOD for one in words) for _, words in self.cells)

    @property
    def share(self) -> float:
        """Returns the share of cells whose verdict changes between two seeds, the mean over all pairs.

        Raises `ZeroDivisionError` without cells or with fewer than two seeds.
        """
        pairs = [pair for _, words in self.cells for pair in combinations(words, 2)]
        return sum(one is not other for one, other in pairs) / len(pairs)


def judge_under_seeds(name: str, seeds: Sequence[int], settle: int | None, jobs: int | None) -> SeededWords:
    """Judges a paper under each seed; runs that the cache holds are not repeated.

    `settle` is the most replications until verdicts are settled; None adds none. `jobs` is the number of
    threads, None for all cores. Raises `ValueError` if seeds give different numbers of cells.
    """
    found = [
        list_statements(
            paper.find_paper(name), Options(seed=seed, settle=settle, jobs=jobs, cache=default_cache())
        )
        for seed in seeds
    ]
    named = [list_cells(parts) for parts in found]
    names = [name for name, _ in named[0]]
    words = zip(*([word for _, word in one] for one in named), strict=True)
    return SeededWords(name, settle, list(zip(names, words, strict=True)))


def list_cells(parts: Sequence[ClaimPart]) -> list[tuple[str, Word | None]]:
    """Returns the name and the verdict of each cell of some statements; None stands for no verdict."""
    return [
        (" ".join(filter(None, (part.id, part.part, line.label))), line.word)
        for part in parts
        for line in part.lines
    ]


def write_section(found: Sequence[SeededWords], seeds: Sequence[int]) -> str:
    """Returns the Markdown of the generated section: the counts, and the cells whose verdict changes."""
    counts = [
        [
            one.paper, "–" if one.settle is None else str(one.settle), str(len(one.cells)),
            str(len(one.changed)), str(one.opposite), f"{100 * one.share:.1f} %",
        ]
        for one in found
    ]  # fmt: skip
    header = ["paper", "--settle", "cells", "with more than one word", "with opposite words",
              "words that change between two seeds"]  # fmt: skip
    names = [str(seed) for seed in seeds]
    changed = [
        [f"{one.paper}: {name}", *map(format_word, words)]
        for one in found
        if one.settle
        for name, words in one.changed
    ]
    text = f"\n{document.table(header, counts)}"
    return f"{text}\n{document.table(['cell, with --settle', *names], changed)}" if changed else text


def main(arguments: Sequence[str] | None = None) -> int:
    """Judges the papers under all seeds, prints the tables, and writes the document.

    Returns 0; ends the program with status 2 for fewer than two seeds.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--papers", nargs="+", default=PAPERS, help=f"without: {', '.join(PAPERS)}")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, help="two master seeds or more")
    parser.add_argument("--settle", type=int, default=SETTLE, help="most replications of a cell")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    given = parser.parse_args(arguments)
    if len(given.seeds) < 2:
        parser.error("--seeds: give two or more")
    found = []
    for name in given.papers:
        for settle in (None, given.settle):
            found.append(judge_under_seeds(name, given.seeds, settle, given.jobs))
            print(f"{name}: {len(found[-1].changed)} cells change, settle {settle}", flush=True)
    text = write_section(found, given.seeds)
    print(text)
    document.renew(given.document, TARGET, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
