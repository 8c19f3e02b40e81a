"""The page of words under other seeds: it counts cells whose word hangs on the seed, and names them."""

from pathlib import Path

import pytest
from mousehole.statistics import Estimate

from papers.judge import Word
from papers.paper import Paper
from papers.parts import ClaimPart, Line
from papers.runs import Options
from tools import document
from validation import seeds
from validation.seeds import SeededWords

AGREES, DIFFERS, OPEN = Word.AGREES, Word.DIFFERS, Word.COMPATIBLE
DRAWN = SeededWords("x", 40, [("X1", [AGREES, AGREES, AGREES]), ("X2 low", [AGREES, OPEN, DIFFERS])])


def test_drawn__counts_cells_and_pairs() -> None:
    assert [name for name, _ in DRAWN.changed] == ["X2 low"]
    assert DRAWN.opposite == 1
    assert DRAWN.share == pytest.approx(3 / 6)
    assert SeededWords("x", None, [("X1", [OPEN, AGREES])]).opposite == 0


def test_section__has_counts_and_names_what_settling_leaves() -> None:
    plain = SeededWords("x", None, DRAWN.cells)
    text = seeds.write_section([plain, DRAWN], [7, 8, 9])
    assert "| x | – | 2 | 1 | 1 | 50.0 % |" in text
    assert "| x | 40 | 2 | 1 | 1 | 50.0 % |" in text
    assert "| cell, with --settle | 7 | 8 | 9 |" in text
    assert text.count("| x: X2 low | agrees | compatible | differs |") == 1


def test_main__judges_under_each_seed_and_writes_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def statements(one: Paper, options: Options) -> list[ClaimPart]:
        asked.append((one.name, options.seed, options.settle))
        line = Line("low", "", "", AGREES if options.settle else OPEN, 0.5, Estimate(0.0, 0.0, 0.0, 5))
        return [
            ClaimPart(
                paper=one.name, word=line.word, lines=[line], id="X1", part="", place="", says="",
                kind="value", fitted=(), cause="", note="",
            )
        ]  # fmt: skip

    monkeypatch.setattr(seeds, "list_statements", statements)
    page = tmp_path / "page.md"
    page.write_text(document.make_marker(seeds.TARGET))
    arguments = ["--papers", "lfp", "--seeds", "3", "4", "--settle", "80", "--document", str(page)]
    assert seeds.main(arguments) == 0
    assert asked == [("lfp", 3, None), ("lfp", 4, None), ("lfp", 3, 80), ("lfp", 4, 80)]
    assert "| lfp | 80 | 1 | 0 | 0 | 0.0 % |" in page.read_text()
    with pytest.raises(SystemExit):
        seeds.main(["--seeds", "3", "--document", str(page)])
