"""Saved results: the same document again without a run, and files that hold none."""

import json
import re
import subprocess
from collections.abc import Callable
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

import mousehole
import pytest
from mousehole import MouseholeError, html
from mousehole.base import OutputConsole
from mousehole.charts import writing
from mousehole.document import print_document
from mousehole.tuning import objectives
from support import MODULE, SMALL

OWN = Path(__file__).parents[2] / "examples"
Result = mousehole.Comparison | mousehole.DaysComparison | mousehole.Tuned


def make_connections(count: int, shift_s: float = 0.0) -> list[dict[str, Any]]:
    """Returns a capture of short and long transfers of many clients."""
    return [
        {
            "start_s": 0.05 * number + shift_s * (number % 3),
            "client": f"c{number % 40}",
            "bytes": 400_000 if number % 20 == 0 else 2_000 + 150 * (number % 60),
        }
        for number in range(count)
    ]


def make_grid() -> Result:
    """Returns a comparison of a grid."""
    options: dict[str, Any] = {**SMALL, "buffer": "20p,1bdp", "load": [0.5, 0.8], "schemes": "droptail,sfd"}
    return mousehole.compare("web:sfd", seeds=2, **options)


def make_days(folder: Path) -> Result:
    """Returns a comparison of five days, each with a faulty row."""
    files = []
    for number in range(5):
        place = folder / f"day{number}.csv"
        rows = [
            f"{one['start_s']},{one['client']},{one['bytes']}" for one in make_connections(400, 0.01 * number)
        ]
        place.write_text("\n".join(["start_s,client,bytes", *rows, "x,broken,1"]) + "\n")
        files.append(str(place))
    return mousehole.compare_days(files, seeds=2, **{**SMALL, "schemes": "droptail,sfd"})  # type: ignore[arg-type]


def make_search() -> Result:
    """Returns a search with limits, a row of each kind, and WRED profiles; without the time that it took."""
    found = mousehole.tune(
        "web:sfd", rate="3mbit", load=0.9, for_="wred", limits="queue mean +90%",
        trials=2, search_seeds=1, seeds=5, sensitivity_seeds=1, duration="6s", warmup="2s",
    )  # fmt: skip
    found.spent = None
    return found


RESULTS: dict[str, Callable[[Path], Result]] = {
    "plain": lambda _: mousehole.compare("web:sfd", seeds=5, **SMALL),  # type: ignore[arg-type]
    "quick": lambda _: mousehole.compare("web:sfd", quick=True, **SMALL),  # type: ignore[arg-type]
    "grid": lambda _: make_grid(),
    "applications": lambda _: mousehole.compare(
        OWN / "many-applications.toml", seeds=5, duration="8s", warmup="2s", schemes="droptail,fq-codel"
    ),
    "vetoes": lambda _: mousehole.compare(
        OWN / "many-applications.toml",
        seeds=5,
        duration="8s",
        warmup="2s",
        schemes="droptail,fq-codel,red",
        veto=["calls p95 +1ms", "logins echo +5%"],
        reference="fq-codel",
    ),
    "capture": lambda _: mousehole.compare(make_connections(800), seeds=5, **SMALL),  # type: ignore[arg-type]
    "files": lambda _: mousehole.compare(
        OWN / "trace-and-calls.toml", seeds=2, duration="5s", warmup="1s", schemes="droptail,sfd"
    ),
    "warm-up": lambda _: mousehole.compare(
        "web:sfd", rate="10mbit", load=0.5, duration="4s", seeds=1, schemes="droptail,sfd"
    ),
    "days": make_days,
    "search": lambda _: make_search(),
}


def show_everywhere(found: Result) -> list[str]:
    """Returns a result as terminal, Markdown, page, JSON and repr show it."""
    console, document = OutputConsole(file=StringIO(), width=110, highlight=False), found.document()
    with console.capture() as captured:
        print_document(console, document, details=True)
        print_document(console, document)
    return [captured.get(), found.markdown(), html.render_page(document), found.to_json(), repr(found)]


@pytest.fixture
def drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws charts of the same description only once, since the tests compare descriptions."""
    as_svg = writing.as_svg
    draw = lru_cache(lambda text: as_svg(json.loads(text)))
    monkeypatch.setattr(writing, "as_svg", lambda spec: draw(json.dumps(spec)))


@pytest.mark.usefixtures("drawn_once")
@pytest.mark.parametrize("name", RESULTS)
def test_load__gives_the_same_document(name: str, tmp_path: Path) -> None:
    found = RESULTS[name](tmp_path)
    found.save(tmp_path / "found.json")
    assert (tmp_path / "found.json").read_text() == found.to_json()
    loaded = mousehole.load(tmp_path / "found.json")
    assert type(loaded) is type(found)
    for own, again in zip(show_everywhere(found), show_everywhere(loaded), strict=True):
        assert own == again
    if not isinstance(found, mousehole.Tuned) and not isinstance(loaded, mousehole.Tuned):
        assert loaded.findings.equals(found.findings)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a small comparison."""
    place = tmp_path_factory.mktemp("saved") / "found.json"
    mousehole.compare("web:sfd", seeds=5, **SMALL).save(place)  # type: ignore[arg-type]
    return place


def test_load__has_frames_and_pictures_but_no_single_transfers(saved: Path, tmp_path: Path) -> None:
    loaded = mousehole.load(saved)
    assert isinstance(loaded, mousehole.Comparison)
    assert loaded.buckets.height == 3 * len(loaded.plan.buckets)
    loaded.plot(tmp_path / "a.svg")
    assert "<svg" in (tmp_path / "a.svg").read_text()
    with pytest.raises(MouseholeError, match="the traffic is not kept here, so compare again"):
        loaded.transfers("sfd")


def change_document(saved: Path, change: Callable[[dict[str, Any]], object]) -> str:
    """Returns the text of the saved document after a change."""
    document = json.loads(saved.read_text())
    change(document)
    return json.dumps(document)


FAULTS: dict[str, tuple[Callable[[Path], str], str]] = {
    "no JSON": (lambda _: "start_s,bytes\n1,2\n", "is not JSON, or is cut off (Expecting value: line 1"),
    "cut off": (lambda saved: saved.read_text()[:5000], "is not JSON, or is cut off ("),
    "empty": (lambda _: "", "is not JSON, or is cut off ("),
    "deep": (lambda _: "[" * 200_000, "is no result; it is nested too deeply"),
    "binary": (lambda _: "\udcff\udcfe", "is not JSON, or is cut off ("),
    "no schema": (lambda _: "[1]", "names no schema; allowed is what --json"),
    "a list as schema": (lambda _: '{"schema": []}', "names no schema; allowed is what --json"),
    "other": (lambda _: '{"schema": "mousehole.run/2"}', 'has the schema "mousehole.run/2"; allowed is'),
    "older": (
        lambda _: '{"schema": "mousehole.compare/2"}',
        'has the schema "mousehole.compare/2", of another version of Mousehole',
    ),
    "part": (
        lambda _: '{"schema": "mousehole.compare/3"}',
        "is no whole document of mousehole.compare/3; 'manifest' is missing",
    ),
    "a run less": (
        lambda saved: change_document(saved, lambda one: one["runs"].pop()), "'runs' is missing"
    ),
    "a bucket less": (
        lambda saved: change_document(saved, lambda one: one["runs"][3]["count"].pop()),
        "count of a run has 9 values, not 10",
    ),
    "a share less": (
        lambda saved: change_document(saved, lambda one: one["runs"][3]["cdf"].pop()), "cdf of a run has"
    ),
    "a text for a number": (
        lambda saved: change_document(
            saved, lambda one: one["runs"][0]["scheme_statistics"].update(utilisation="x")
        ),
        "is no whole document",
    ),
    "no duration": (
        lambda saved: change_document(saved, lambda one: one["plan"]["scenario"].pop("duration")),
        "'duration' is missing",
    ),
    "a wrong duration": (
        lambda saved: change_document(saved, lambda one: one["plan"]["scenario"].update(duration="soon")),
        "is no whole document",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_load__refuses_what_is_no_result_in_one_sentence(name: str, saved: Path, tmp_path: Path) -> None:
    write, expected = FAULTS[name]
    place = tmp_path / "wrong.json"
    place.write_text(write(saved), encoding="utf-8", errors="surrogateescape")
    with pytest.raises(MouseholeError, match=re.escape(expected)) as caught:
        mousehole.load(place)
    assert str(caught.value).startswith(f"{place}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["long mean −2.5%", "queue p95 +10% against fq-codel"])
def test_limits__are_read_as_they_are_written(text: str) -> None:
    assert objectives.parse_limit("limits", text).text == text


def run_show(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Runs `mousehole show`."""
    return subprocess.run(
        [*MODULE, "show", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def test_show__prints_and_writes_what_compare_did(saved: Path, tmp_path: Path) -> None:
    page, plot = tmp_path / "a.html", tmp_path / "a.png"
    done = run_show(saved, "--html", page, "--plot", plot)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("web:sfd over 10mbit, 80ms RTT\n")
    assert page.read_text().startswith("<!doctype html>")
    assert plot.read_bytes().startswith(b"\x89PNG")
    found = mousehole.load(saved)
    assert run_show(saved, "--markdown").stdout == found.markdown()
    assert "Other endpoints" in run_show(saved, "--details").stdout
    assert "Other endpoints" not in done.stdout


def test_show__refuses_in_one_line(saved: Path, tmp_path: Path) -> None:
    for arguments, expected in (
        ([tmp_path / "none.json"], "none.json: cannot be read; No such file or directory"),
        ([Path(__file__)], "is not JSON, or is cut off"),
        ([saved, "--html", saved], "--html"),
        ([saved, "--plot", "a.txt"], "--plot"),
    ):
        done = run_show(*arguments)
        assert (done.returncode, done.stdout) == (2, ""), arguments
        assert done.stderr.startswith("mousehole: error: ")
        assert expected in done.stderr
        assert done.stderr.count("\n") == 1


def test_load__names_own_policies_that_are_not_at_hand(saved: Path, tmp_path: Path) -> None:
    place = tmp_path / "own.json"

    def add_policy(document: dict[str, Any]) -> None:
        document["manifest"]["schemes"][1]["policies"] = {"mine": "00" * 32}

    place.write_text(change_document(saved, add_policy))
    with pytest.raises(MouseholeError, match="its scheme sfd uses the own policy mine, whose header is not"):
        mousehole.load(place)
