"""The example of each page of docs/formats runs, and prints what stands behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import format_pages

PAGES = sorted(format_pages.FOLDER.glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page__shows_what_its_examples_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    examples = format_pages.EXAMPLE.findall(text)
    assert len(examples) == text.count("```sh") >= 1
    assert all(shown for _, shown in examples)
    assert format_pages.run_examples(text) == text


def test_printed__shows_errors_as_well(tmp_path: Path) -> None:
    assert format_pages.run_script("mousehole inspect no.csv", tmp_path) == (
        "mousehole: error: no.csv: no such file\n"
    )


def test_pages__are_in_the_site() -> None:
    site = (format_pages.ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if f"formats/{page.name}" not in site] == []
