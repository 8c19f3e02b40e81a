from pathlib import Path
from typing import Any

import pytest
from mousehole import paper
from mousehole.base import MouseholeError

SOURCE = """
def list_papers():
    return "xyz table 1"

def run(name, **wanted):
    print(name, sorted(name for name, value in wanted.items() if value))
    return 3 if wanted["full"] else None or 0
"""
NOTHING: dict[str, Any] = dict.fromkeys(("tried", "readings", "dask", "full", "fresh"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of papers that notes what it is asked for."""
    place = tmp_path / "pretended"
    (place / "xyz").mkdir(parents=True)
    (place / "xyz" / "paper.toml").write_text("")
    (place / "command.py").write_text(SOURCE)
    monkeypatch.setattr(paper, "find_papers", lambda: place)
    return place


def run_reproduce(name: str | None = "xyz", html: str | None = None, **wanted: Any) -> int:
    """Calls `paper.reproduce`, by default with nothing wanted."""
    return paper.reproduce(name, None, html, **{**NOTHING, **wanted})


@pytest.mark.usefixtures("folder")
def test_reproduce__hands_over(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_reproduce(table="4", seeds=5, full=True) == 3
    assert run_reproduce(None, html="report") == 0
    assert capsys.readouterr().out.splitlines() == [
        "xyz ['full', 'seeds', 'table']",
        "None ['html_folder']",
    ]
    assert paper.list_papers() == "xyz table 1"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("wanted", "says"),
    [
        ({"html": "x", "claim": "S1"}, "claim: not together with --html"),
        ({"tried": True}, "--tried: only together with claim ID"),
        ({"readings": True, "table": "4"}, "--readings: only with claims"),
        ({"html": "/dev/null"}, '--html: "/dev/null" is a file; it must be a folder'),
    ],
)
def test_reproduce__refuses_what_does_not_go_together(wanted: dict[str, Any], says: str) -> None:
    with pytest.raises(MouseholeError, match=says):
        run_reproduce(**wanted)


def test_parse_item__is_a_word_with_its_number() -> None:
    assert paper.parse_item("section", "4.3") == {"section": "4.3"}
    assert paper.parse_item("claims", None) == paper.parse_item(None, None) == {}


def test_list_papers__names_the_bundled_papers() -> None:
    named = [line.split()[0] for line in paper.list_papers().splitlines()]
    folders = [path.parent.name for path in paper.find_papers().glob("*/paper.toml")]
    assert named == sorted(name.replace("_", "-") for name in folders)
