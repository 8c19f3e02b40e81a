from pathlib import Path

import pytest
from mousehole import paper
from mousehole.errors import MouseholeError

SOURCE = """
def main(table=None, figure=None, seeds=None, jobs=None, full=False):
    print(table, figure, seeds, jobs, full)
    return 3 if full else None
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "pretended"
    (place / "xyz").mkdir(parents=True)
    (place / "xyz" / "reproduce.py").write_text(SOURCE)
    monkeypatch.setattr(paper, "papers_folder", lambda: place)
    return place


@pytest.mark.usefixtures("folder")
def test_reproduce__hands_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert paper.reproduce("xyz", table=4, figure=None, seeds=5, jobs=None, full=True) == 3
    assert capsys.readouterr().out == "4 None 5 None True\n"
    assert paper.reproduce("xyz", full=False) == 0


def test_offered__names_tables_and_figures_of_the_bundled_papers() -> None:
    offered = paper.offered()
    assert list(offered) == ["lfp", "rio-ps", "sfd", "shred", "tcp-ds"]
    assert offered["sfd"] == "--table 3, 4 and --figure 6"


@pytest.mark.usefixtures("folder")
def test_reproduce__unknown_paper() -> None:
    with pytest.raises(MouseholeError, match='there is no paper "abc"; the only paper is xyz'):
        paper.reproduce("abc")
