"""What a paper's items yield: headings, tables, claims with their words, pictures; as data and as JSON."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from mousehole.statistics import Estimate

from papers.judge import GOOD, Word


@dataclass(frozen=True)
class Heading:
    """How the items were run."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table whose first columns hold labels and whose other columns hold numbers."""

    number: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int
    """How many columns hold labels."""
    note: str = ""


@dataclass(frozen=True)
class Line:
    """One judgement of a claim."""

    label: str
    published: str
    ours: str
    word: Word | None
    p_value: float
    """NaN where the word is not definite."""
    estimate: Estimate
    bar: str = ""
    """How far from the published number still agrees, such as `±40 %`."""
    adjusted: bool = False
    """Whether the p-value is adjusted by Holm's procedure, over all claims of the paper."""

    @property
    def p_name(self) -> str:
        """Returns what the p-value is called."""
        return "Holm p" if self.adjusted else "p"


@dataclass(frozen=True, kw_only=True)
class ClaimPart:
    """A statement of the paper with the word for it."""

    paper: str
    id: str
    part: str
    place: str
    says: str
    kind: str
    word: Word | None
    lines: Sequence[Line]
    fitted: Sequence[str]
    """What was chosen while looking at this claim: then it is no evidence."""
    cause: str
    note: str
    basis: str = "evidence"
    """`rule` for our own rules, `finding` for other people's data, `left` for what is left to others."""


@dataclass(frozen=True)
class TrialPart:
    """What becomes of a claim when an open parameter has another value."""

    id: str
    open: str
    trial: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Picture:
    """A figure that was written to a file, or was not drawn because its data is not on this machine."""

    number: str
    title: str
    path: Path | None
    """None where it was not drawn."""
    reason: str = ""
    """Why it was not drawn."""


@dataclass(frozen=True)
class Summary:
    """How many claims have which word."""

    text: str


Part = Heading | Table | ClaimPart | TrialPart | Picture | Summary


def as_json(part: Part) -> str:
    """Returns one part as a line of JSON: `kind` is that of the part, `claim_kind` a claim's; NaN is null."""
    kind = type(part).__name__.removesuffix("Part").lower()
    fields = {name: _plain(value) for name, value in asdict(part).items()}
    return json.dumps({"kind": kind, **{f"claim_{k}" if k == "kind" else k: v for k, v in fields.items()}},
                      ensure_ascii=False)  # fmt: skip


BASES = {
    "evidence": "evidence",
    "fitted": "fitted while looking",
    "rule": "our own rules",
    "finding": "other people's data",
    "left": "experiments that the paper leaves to others",
}
"""What words rest on, with their names for readers."""


def describe_basis(basis: str, fitted: Sequence[str]) -> str:
    """Returns what a word rests on: a key of `BASES`."""
    return "fitted" if basis == "evidence" and fitted else basis


def word_text(word: Word | None) -> str:
    """Returns the word as text, or that there is none."""
    return "no word" if word is None else word.value


def _plain(value: object) -> object:
    """Returns the value with paths as text and with None for what is no finite number."""
    match value:
        case StrEnum():
            return value.value
        case Estimate():
            return _plain(value.as_dict())
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case Path():
            return str(value)
        case float() if not math.isfinite(value):
            return None
    return value


def cells_text(words: Sequence[Word | None]) -> str:
    """Returns how many of a claim's cells come out: `7 of 9 cells`."""
    return f"{sum(one in GOOD for one in words)} of {len(words)} cells"
