"""A change of one line, what the tests said to it, and the survivors that are explained."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutant:
    """A change of one line: its file, relative to the tree, and the line before and after, unindented."""

    file: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:\n  - {self.before}\n  + {self.after}"


@dataclass(frozen=True)
class Outcome:
    """A change and whether a test failed because of it."""

    mutant: Mutant
    is_noticed: bool


class ToolError(Exception):
    """A tool is missing or did not do its work."""


class Record:
    """A file with the changes that survived the last time that they were tried."""

    def __init__(self, path: Path) -> None:
        """Reads and writes `path`."""
        self.path = path

    def survivors(self) -> frozenset[Mutant]:
        """Returns the changes that survived; none if nothing was tried."""
        found = json.loads(self.path.read_text()) if self.path.exists() else []
        return frozenset(Mutant(*one) for one in found)

    def keep(self, outcomes: Iterable[Outcome]) -> None:
        """Adds the survivors among `outcomes` and removes what was noticed."""
        tried = list(outcomes)
        found = self.survivors() - {outcome.mutant for outcome in tried}
        found |= {outcome.mutant for outcome in tried if not outcome.is_noticed}
        self.path.write_text(json.dumps(sorted(map(astuple, found)), indent=1))


def explanations(path: Path) -> dict[Mutant, str]:
    """Returns the survivors that `path` explains, with the reason why no test can or need notice them."""
    entries = tomllib.loads(path.read_text()).get("survivor", [])
    return {Mutant(entry["file"], entry["before"], entry["after"]): entry["why"] for entry in entries}


def summary(language: str, outcomes: Sequence[Outcome], explained: dict[Mutant, str]) -> tuple[str, bool]:
    """Returns the line that counts the outcomes, and whether changes were tried and no survivor is left."""
    survivors = [outcome.mutant for outcome in outcomes if not outcome.is_noticed]
    unexplained = sum(mutant not in explained for mutant in survivors)
    line = (
        f"mutants: {language}: {len(outcomes)} changes, {len(outcomes) - len(survivors)} noticed, "
        f"{len(survivors) - unexplained} explained survivors, {unexplained} unexplained"
    )
    return line, bool(outcomes) and not unexplained


def changed_lines(file: str, original: str, changed: str) -> Mutant:
    """Returns the change between two texts of a file; several changed lines are joined by spaces."""
    lines = list(difflib.unified_diff(original.splitlines(), changed.splitlines(), n=0, lineterm=""))[2:]
    before = " ".join(line[1:].strip() for line in lines if line.startswith("-")).strip()
    after = " ".join(line[1:].strip() for line in lines if line.startswith("+")).strip()
    return Mutant(file, before, after)
