"""The page of claims at full length: it counts words, and names the statements whose word changes."""

from __future__ import annotations

from math import nan
from pathlib import Path

import pytest
from mousehole.statistics import Estimate

from papers import paper
from papers.command import list_papers_with_claims
from papers.judge import Word
from papers.parts import ClaimPart, Line
from papers.runs import Options
from tools import document
from validation import full_length
from validation.full_length import Compared


def make_part(number: int, word: Word | None, ours: str = "5 %") -> ClaimPart:
    """Returns a part of claim `X<number>` with this word, and with one line that shows `ours`."""
    line = Line("60 %", "4 %", ours, word, nan, Estimate(0.05, 0.04, 0.06, 5))
    return ClaimPart(
        paper="x", id=f"X{number}", part="", place="", says="it helps", kind="value", word=word,
        lines=[line], fitted=(), cause="", note="",
    )  # fmt: skip


def test_section__counts_words_and_names_what_changes() -> None:
    quick = [
        make_part(1, Word.AGREES),
        make_part(2, Word.COMPATIBLE, "5 % (1…9)"),
        make_part(3, Word.LOST),
        make_part(4, None),
    ]
    full = [
        make_part(1, Word.EQUIVALENT),
        make_part(2, Word.DIFFERS, "7 % (6…8)"),
        make_part(3, Word.LOST),
        make_part(4, None),
    ]
    text = full_length.write_section([Compared("x", 9, "an hour", quick, full)])
    assert "2 of 4 statements have another word" in text
    assert "| x | 9 replications of an hour | 4 | 1 → 1 | 1 → 0 | 0 → 1 | 2 → 2 | 2 |" in text
    assert (
        "| X2 | it helps | **compatible**: 60 % 5 % (1…9) | **differs**: 60 % 7 % (6…8) | 60 % 4 % |" in text
    )
    assert "X3" not in text
    same = full_length.write_section([Compared("x", 9, "an hour", quick, quick)])
    assert "statement" in same
    assert "| claim |" not in same


def test_main__writes_the_document_only_for_all_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def statements(_: paper.Paper, options: Options) -> list[ClaimPart]:
        asked.append(options.full)
        return [make_part(1, Word.AGREES if options.full else Word.COMPATIBLE)]

    monkeypatch.setattr(full_length, "list_statements", statements)
    page = tmp_path / "page.md"
    page.write_text(document.make_marker(full_length.TARGET))
    assert full_length.main(["--papers", "sfd", "--document", str(page)]) == 0
    assert asked == [False, True]
    assert page.read_text() == document.make_marker(full_length.TARGET)
    assert full_length.main(["--document", str(page)]) == 0
    number = len(list_papers_with_claims())
    assert f"{number} of {number} statements have another word" in page.read_text()
