"""The claims of the papers at the papers' own lengths beside the shorter runs that validation uses.

`make validation WHAT=full_length` judges every claim twice, as `mousehole paper NAME` and as `mousehole paper
NAME --full` do, and writes docs/full-length.md: how many statements have which word, and those whose word
changes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from papers.command import list_papers_with_claims
from papers.definition import LEFT
from papers.judge import Word
from papers.paper import Paper, Wanted
from papers.parts import ClaimPart, format_word
from papers.runs import Options, default_cache
from tools import document

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "full-length.md"
TARGET = "validation WHAT=full_length"
GROUPS = {
    "agrees": (Word.AGREES, Word.EQUIVALENT),
    "undecided": (Word.COMPATIBLE, Word.UNDECIDED),
    "differs": (Word.DIFFERS,),
    "other": (Word.LOST, Word.NOT_RUN, None),
}
"""Words that are counted together."""


@dataclass(frozen=True)
class Compared:
    """One paper's statements at both lengths, in the same order."""

    paper: str
    replications: int
    says: str
    """What the full length is."""
    quick: Sequence[ClaimPart]
    full: Sequence[ClaimPart]

    @property
    def changed(self) -> list[tuple[ClaimPart, ClaimPart]]:
        """Returns the statements whose verdict at full length is another, as pairs of quick and full."""
        pairs = zip(self.quick, self.full, strict=True)
        return [(quick, full) for quick, full in pairs if quick.word is not full.word]


def judge_both_lengths(one: Paper, jobs: int | None) -> Compared:
    """Returns the claims of a paper as judged at both lengths; runs in the cache are not repeated.

    Takes hours without the cache.
    """
    quick, full = (list_statements(one, Options(full=is_full, jobs=jobs, cache=default_cache()))
                   for is_full in (False, True))  # fmt: skip
    length = one.definition.full
    return Compared(one.name, length.replications, length.says, quick, full)


def list_statements(one: Paper, options: Options) -> list[ClaimPart]:
    """Returns the judged statements of a paper, without those judged at full length only; runs it."""
    parts = one.reproduce(Wanted(), options)
    return [part for part in parts if isinstance(part, ClaimPart) and part.basis != LEFT]


def count_group(parts: Sequence[ClaimPart], group: str) -> int:
    """Returns the number of statements with a verdict of the group, a key of `GROUPS`."""
    return sum(part.word in GROUPS[group] for part in parts)


def write_counts(found: Sequence[Compared]) -> str:
    """Returns a Markdown table of the number of statements with each verdict, at both lengths."""
    header = ["paper", "full length", "statements", *GROUPS, "another word"]
    rows = [
        [
            one.paper, f"{one.replications} replications of {one.says}", str(len(one.full)),
            *(f"{count_group(one.quick, group)} → {count_group(one.full, group)}" for group in GROUPS),
            str(len(one.changed)),
        ]
        for one in found
    ]  # fmt: skip
    return document.table(header, rows)


def write_changes(found: Sequence[Compared]) -> str:
    """Returns a Markdown table of the statements whose verdict changes, with every judged number."""
    header = ["claim", "statement", "at quick length", "at full length", "published"]
    rows = [
        [
            " ".join(filter(None, (quick.id, quick.part))), quick.says, format_part(quick), format_part(full),
            format_published(full),
        ]
        for one in found
        for quick, full in one.changed
    ]  # fmt: skip
    return document.table(header, rows)


def format_part(part: ClaimPart) -> str:
    """Returns the verdict on a statement in bold, and the numbers that it rests on."""
    numbers = "; ".join(f"{line.label} {line.ours}".strip() for line in part.lines)
    return f"**{format_word(part.word)}**: {numbers}"


def format_published(part: ClaimPart) -> str:
    """Returns the published value of each number of a statement, as text."""
    return "; ".join(f"{line.label} {line.published}".strip() for line in part.lines if line.published)


def write_section(found: Sequence[Compared]) -> str:
    """Returns the Markdown of the generated section."""
    total = sum(len(one.full) for one in found)
    changed = sum(len(one.changed) for one in found)
    words = (
        f"{changed} of {total} statements have another word at full length. For each group of words stands "
        "its number of statements at quick and at full length."
    )
    text = f"\n{document.wrap(words)}\n\n{write_counts(found)}"
    return f"{text}\n{write_changes(found)}" if changed else text


def main(arguments: Sequence[str] | None = None) -> int:
    """Judges all claims at both lengths, prints the tables, and writes the document; returns 0.

    With --papers the document stays as it is.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--papers", nargs="*", help="only these; the document stays as it is")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    given = parser.parse_args(arguments)
    found = []
    for one in list_papers_with_claims():
        if not given.papers or one.name in given.papers:
            found.append(judge_both_lengths(one, given.jobs))
            print(f"{one.name}: {len(found[-1].changed)} statements have another word", flush=True)
    text = write_section(found)
    print(text)
    if not given.papers:
        document.renew(given.document, TARGET, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
