"""The cases of docs/nobody-pays.md: their scenarios, what breaks a limit, and what the page holds."""

import tomllib
from dataclasses import replace

import pytest

from tools import document
from validation import nobody_pays, places
from validation.nobody_pays import CHOOSING, FIGURES, HELD_OUT, JUDGED, NAMES, TARGET, Change, Line, Size

TINY = Size(2, "4s", "1s")
LINE = Line("uplink", 2e6, "20ms", "web:sfd", 0.4, logins=2, downloads=1, calls=1, games=(1, 60e3, 150),
            video=3e5, tunnel=1e5, swarm=(2, 5e4, 300))  # fmt: skip


def test_text__has_the_line_and_everything_on_it() -> None:
    scenario = tomllib.loads(LINE.text("4s", "1s"))
    assert scenario["link"] == {"rate": "2000000bit", "rtt": "20ms", "buffer": "200p"}
    names = ["pages", "logins", "calls", "games", "video", "tunnel", "swarm"]
    assert [part["name"] for part in scenario["traffic"]["mix"]] == names
    assert scenario["traffic"]["bulk"] == {"flows": 1}
    assert scenario["traffic"]["mix"][3]["params"] == {"flows": 1, "rate_bps": 60e3, "packet_bytes": 150}


def test_text__a_swarm_is_of_one_host() -> None:
    def swarm(line: Line) -> dict[str, object]:
        params: dict[str, object] = tomllib.loads(line.text("4s", "1s"))["traffic"]["mix"][-1]["params"]
        return params

    alone = swarm(LINE)
    assert (alone["flows"], alone["hosts"], alone["first_host"]) == (2, 1, nobody_pays.SWARM_HOST)
    beside = swarm(replace(LINE, is_swarm_beside=True))
    assert (beside["hosts"], beside["first_host"]) == (1, 0)


def test_lines__have_names_of_their_own() -> None:
    lines = (*CHOOSING, *HELD_OUT)
    assert len({line.name for line in lines}) == len(lines)


def test_compared__has_the_figures_of_the_case() -> None:
    found = nobody_pays.compare_case(LINE, ["excess|cake(tins=bulk)"], TINY)["excess|cake(tins=bulk)"]
    assert {"short transfers", "calls p95", "games p95", "video lost", "tunnel p95", "swarm lost"} <= set(
        found
    )
    assert all(change.value >= 0 for change in found.values())
    alone = Line("web", 2e6, "20ms", "web:sfd", 0.4)
    found = nobody_pays.compare_case(alone, ["sfd|cake(tins=bulk)"], TINY)["sfd|cake(tins=bulk)"]
    assert not {"calls p95", "logins", "video lost"} & set(found)


@pytest.mark.parametrize(
    ("name", "change", "is_broken"),
    [
        ("games p95", Change(0.026, 0.020, 0.3, 0.1, 0.5), True),
        ("games p95", Change(0.024, 0.020, 0.2, 0.1, 0.5), False),
        ("calls p95", Change(0.029, 0.020, 0.45, 0.1, 0.5), False),
        ("calls lost", Change(0.006, 0.0, 0.0, None, None), True),
        ("calls lost", Change(0.004, 0.0, 0.0, None, None), False),
        ("pages", Change(1.11, 1.0, 0.11, 0.0, 0.2), True),
        ("long transfers", Change(1.09, 1.0, 0.09, 0.0, 0.2), False),
    ],
)
def test_breaks__goes_by_difference_or_share(name: str, change: Change, is_broken: bool) -> None:
    (figure,) = [figure for figure in FIGURES if figure.name == name]
    assert nobody_pays.breaks(figure, {name: change}) is is_broken
    assert bool(nobody_pays.list_broken_limits({name: change})) is is_broken


def test_page__is_of_the_cases_and_schemes() -> None:
    text = document.read_part(nobody_pays.DOCUMENT.read_text(encoding="utf-8"), TARGET)
    for line in (*CHOOSING, *HELD_OUT):
        assert f"**{line.name}**: {nobody_pays.describe_traffic(line.name)}\n" in text, f"run make {TARGET}"
    for scheme in JUDGED:
        assert text.count(NAMES[scheme]) > len(CHOOSING) + len(HELD_OUT)


def test_places__page_is_of_the_cases_and_schemes() -> None:
    text = document.read_part(nobody_pays.DOCUMENT.read_text(encoding="utf-8"), places.TARGET)
    for case in places.CASES:
        for scheme in places.SCHEMES:
            assert f"| {case.name} | `{scheme}` |" in text, f"run make {places.TARGET}"


def test_places__cell_is_bold_beyond_its_limit() -> None:
    short, *_, call, _ = places.FIGURES
    late = Change(0.062, 0.05, 0.24, 0.2, 0.28)
    assert places.format_cell(call, {call.name: late}).startswith("**50 → 62 ms")
    assert places.format_cell(call, {}) == "–"
    assert places.format_cell(short, {short.name: Change(1.0, 1.1, -0.09, -0.1, -0.08)}) == "−9 % (−10…−8)"
