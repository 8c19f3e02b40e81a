"""The papers' notebooks: each runs from an empty cache, shows a figure and words, and keeps its form."""

import re
from pathlib import Path
from typing import Any

import pytest

from papers import paper
from tools import notebooks

SOURCES = sorted(notebooks.SOURCES.glob("*.py"))
PARTS = ["The figure", "One knob", "Where it breaks", "Exercise"]
LINES = 60
IN_SHORT = {"lfp", "run2c", "shred", "tlps"}
"""Those that show all they should in short as well; the others need more transfers."""


def test_notebooks__there_is_one_for_each_paper() -> None:
    with_claims = [name for name in paper.list_names() if paper.find_paper(name).definition.claims]
    assert [path.stem.replace("_", "-") for path in SOURCES] == with_claims


def test_cells__are_text_and_code_by_their_marks() -> None:
    source = "# %% [markdown]\n# # Title\n#\n# Text.\n\n# %%\n1 + 1\n\n# %%\n# a remark\n2\n"
    found = [(cell.cell_type, cell.source) for cell in notebooks.list_cells(source)]
    assert found == [("markdown", "# Title\n\nText."), ("code", "1 + 1"), ("code", "# a remark\n2")]


@pytest.mark.parametrize("path", SOURCES, ids=[path.stem for path in SOURCES])
def test_notebook__has_its_parts_in_few_lines(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= LINES
    headings = [line[5:].split(":")[0] for line in text.splitlines() if line.startswith("# ## ")]
    assert headings == PARTS
    assert text.count("**Answer.**") == 1


def shorten(text: str) -> str:
    """Returns a notebook whose runs take a third of the given time; every cell stays."""
    return re.sub(r'(warmup|duration)="(\d+)s"', lambda one: f'{one[1]}="{-(-int(one[2]) // 3)}s"', text)


@pytest.mark.filterwarnings("ignore")  # of the kernel's connection
@pytest.mark.parametrize("path", SOURCES, ids=[path.stem for path in SOURCES])
def test_notebook__runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No number is checked here, so that some run in short; `make notebooks` runs all at their own length."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    text, given = path.read_text("utf-8"), tmp_path / path.name
    given.write_text(shorten(text) if path.stem in IN_SHORT else text, "utf-8")
    shown: list[Any] = [one for cell in notebooks.execute(given).cells for one in cell.get("outputs", [])]
    assert [one for one in shown if one.get("name") == "stderr"] == []
    forms = [set(one["data"]) for one in shown]
    assert sum("image/svg+xml" in one for one in forms) == 1
    pages = " ".join(one["data"].get("text/html", "") for one in shown)
    assert "agrees" in pages
    assert "ours" in pages
