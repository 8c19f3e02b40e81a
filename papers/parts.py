"""The parts of a paper's results: headings, tables, claims with their words, pictures; and their JSON."""

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
    """The conditions of the runs."""

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
        """Returns the name of the p-value."""
        return "Holm p" if self.adjusted else "p"


@dataclass(frozen=True, kw_only=True)
class ClaimPart:
    """A statement of the paper with its outcome."""

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
    """A claim's outcome under another value of an open parameter."""

    id: str
    open: str
    trial: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Picture:
    """A figure that was written to a file, or not drawn because its data is not on this machine."""

    number: str
    title: str
    path: Path | None
    """None where it was not drawn."""
    reason: str = ""
    """Why it was not drawn."""


@dataclass(frozen=True)
class Summary:
    """The number of claims with each verdict."""

    text: str


Part = Heading | Table | ClaimPart | TrialPart | Picture | Summary


def to_json(part: Part) -> str:
    """Returns one part as a line of JSON, without an end of line.

    `kind` is that of the part, `claim_kind` a claim's; NaN is null.
    """
    kind = type(part).__name__.removesuffix("Part").lower()
    fields = {name: _to_plain(value) for name, value in asdict(part).items()}
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
    """Returns the basis of a verdict, a key of `BASES`; evidence that was fitted to is `fitted`."""
    return "fitted" if basis == "evidence" and fitted else basis


def format_word(word: Word | None) -> str:
    """Returns the verdict as text; "no word" for None."""
    return "no word" if word is None else word.value


def _to_plain(value: object) -> object:
    """Returns a value for JSON: paths become text, numbers that are not finite become None.

    Other values stay as they are.
    """
    match value:
        case StrEnum():
            return value.value
        case Estimate():
            return _to_plain(value.as_dict())
        case dict():
            return {name: _to_plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_to_plain(one) for one in value]
        case Path():
            return str(value)
        case float() if not math.isfinite(value):
            return None
    return value


def count_agreeing(words: Sequence[Word | None]) -> str:
    """Returns the number of a claim's cells with a verdict of `GOOD`, as text: `7 of 9 cells`."""
    return f"{sum(one in GOOD for one in words)} of {len(words)} cells"
