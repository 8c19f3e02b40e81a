"""The page of `compare --html` in a browser: at three widths, light and dark, by keyboard, on paper."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import mousehole
import pytest

from tests.browser import WIDTHS, Browser, open_browser

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "build" / "screenshots"
"""Where the screenshots of the last run of these tests are."""
SMALL = {"rate": "3mbit", "load": 0.9, "duration": "10s", "warmup": "5s", "seeds": 5}
LARGEST_BYTES = 5_000_000


def write_report(name: str, folder: Path, **changes: object) -> Path:
    """Writes the page of a small comparison with these changes of its options. Returns the path."""
    found = mousehole.compare("web:sfd", **{**SMALL, **changes})  # type: ignore[arg-type]
    path = folder / f"{name}.html"
    found.html(path, ["mousehole", "compare", "web:sfd", "--rate", "3mbit", "--html", path.name])
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a comparison of six schemes."""
    schemes = "sfd,sfd(mode=coupled),fq-codel,cake,shred,srpt"
    return write_report("compare", tmp_path_factory.mktemp("pages"), schemes=schemes)


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    """A browser for all tests of this file."""
    with open_browser() as opened:
        yield opened


def check_shown(window: Browser, page: Path) -> None:
    """Shows a page at all widths, light and dark, and asserts that nothing overflows, fails or is fetched."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    assert page.stat().st_size < LARGEST_BYTES
    for width in WIDTHS:
        for dark in (False, True):
            mode = "dark" if dark else "light"
            picture = PICTURES / f"{page.stem}-{width}-{mode}.png"
            shown = window.show(page, width, dark, picture)
            assert (shown.scroll_width, shown.console, shown.requests) == (width, [], []), (width, mode)
            assert picture.stat().st_size > 20_000
            cut = window.run(
                "return [...document.querySelectorAll('.live svg')].filter(svg => svg.getBoundingClientRect()"
                ".right > document.documentElement.clientWidth + 1).map(svg => svg.closest('figure').id)"
            )
            assert cut == [], f"charts wider than the page at {width}"


def test_report__fits_every_width_and_asks_for_nothing(report: Path, window: Browser) -> None:
    check_shown(window, report)


def test_grid__fits_every_width_and_asks_for_nothing(window: Browser, tmp_path: Path) -> None:
    page = write_report("grid", tmp_path, schemes="sfd,fq-codel", buffer="20p,1bdp", load=[0.7, 0.9])
    check_shown(window, page)


def test_quick_look__fits_every_width_and_asks_for_nothing(window: Browser, tmp_path: Path) -> None:
    page = write_report("quick", tmp_path, schemes="sfd,fq-codel", quick=True, seeds=2)
    check_shown(window, page)


def test_all_schemes__stay_within_the_size(tmp_path: Path) -> None:
    page = write_report("all", tmp_path, schemes="all", quick=True, seeds=1, duration="5s", warmup="2s")
    assert page.stat().st_size < LARGEST_BYTES


def test_days__fit_every_width_and_ask_for_nothing(window: Browser, tmp_path: Path) -> None:
    page = tmp_path / "days.html"
    traffic = mousehole.read("poisson")
    captures = [tmp_path / f"day{number}.csv" for number in range(5)]
    for number, capture in enumerate(captures):
        traffic.slice(2000 * number, 2000).write_csv(capture)
    changes = {**SMALL, "duration": "5s", "warmup": "2s", "schemes": "sfd,fq-codel"}
    mousehole.compare_days(captures, **changes).html(page)  # type: ignore[arg-type]
    check_shown(window, page)
    marks = window.run(
        "return document.querySelectorAll('#day-effects-0 .live svg .mark-symbol.role-mark path').length"
    )
    assert marks == 5 + 2, "each day, all days and another day"


def test_search__fits_every_width_and_asks_for_nothing(window: Browser, tmp_path: Path) -> None:
    page = tmp_path / "tune.html"
    options = {**SMALL, "duration": "20s", "trials": 5, "search_seeds": 2}
    schemes = ["sfd|multi-red", "sfd|cake(tins=bulk)"]
    found = mousehole.tune("web:sfd", schemes=schemes, limits="long mean +90%", **options)  # type: ignore[arg-type]
    found.html(page, ["mousehole", "tune", "web:sfd"])
    check_shown(window, page)
    tried = window.run(
        "return document.querySelectorAll('#gain-0 .live svg .mark-symbol.role-mark path').length"
    )
    judged = found.table.filter(found.table["quantity"] == "short mean")["scheme"].n_unique()
    assert isinstance(tried, int)
    assert tried > judged


def test_sweep__fits_every_width_and_asks_for_nothing(window: Browser, tmp_path: Path) -> None:
    page = tmp_path / "sweep.html"
    wanted = {
        "schema": "mousehole.sweep/1",
        "traffic": "web:sfd",
        "schemes": ["droptail", "sfd"],
        "seeds": 1,
        "options": {"rate": "3mbit", "duration": "5s", "warmup": "2s"},
        "axes": {"load": [0.6, 0.9], "buffer": ["15p", "60p"], "sfd.th": ["5kB", "15kB"]},
    }
    mousehole.sweep(wanted, tmp_path / "rows").html(page, command=["mousehole", "sweep", "show", "rows"])
    check_shown(window, page)
    dots = "return document.querySelectorAll('#axis-0 .live svg .layer_1_marks path').length"
    assert window.run(dots) == 8, "a dot for each cell of sfd"


def list_first_cells(window: Browser) -> list[str]:
    """Returns the first cells of the visible rows of the page's first sortable table."""
    found = window.run(
        "return [...document.querySelector('table.sortable').tBodies[0].rows]"
        ".filter(row => !row.hidden).map(row => row.cells[0].textContent)"
    )
    assert isinstance(found, list)
    return found


def test_tables__are_sorted_by_keyboard_and_say_so(report: Path, window: Browser) -> None:
    from selenium.webdriver import Keys

    window.show(report, 1400)
    before = list_first_cells(window)
    window.run("document.querySelectorAll('table.sortable')[0].querySelectorAll('th button')[1].focus()")
    window.press(Keys.ENTER)
    up = list_first_cells(window)
    state = "const t = document.querySelector('table.sortable'), h = t.tHead.rows[0].cells[1];"
    assert window.run(f"{state} return h.getAttribute('aria-sort')") == "ascending"
    window.press(Keys.SPACE)
    assert window.run(f"{state} return h.getAttribute('aria-sort')") == "descending"
    assert up != before
    spoken = window.run("return document.getElementById('status').textContent")
    assert spoken == "Sorted by mean, descending."
    means = window.run(
        "return [...document.querySelector('table.sortable').tBodies[0].rows]"
        ".map(row => Number(row.cells[1].dataset.value))"
    )
    assert isinstance(means, list)
    assert means == sorted(means, reverse=True)


def test_page__is_reached_by_tab_from_the_skip_link(report: Path, window: Browser) -> None:
    from selenium.webdriver import Keys

    window.show(report, 1400)
    window.press(Keys.TAB)
    assert window.run("return document.activeElement.className") == "skip"
    outline = window.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    window.press(Keys.ENTER)
    assert window.run("return document.activeElement.id") == "main"


def test_choices__hide_a_scheme_in_tables_and_charts(report: Path, window: Browser) -> None:
    from selenium.webdriver import Keys

    window.show(report, 1400)
    marks = "return document.querySelectorAll('#replications .live svg .mark-symbol.role-mark path').length"
    before = window.run(marks)
    window.run("document.querySelector('.choices input[value=\"fq-codel\"]').focus()")
    window.press(Keys.SPACE)
    window.run("return new Promise(done => setTimeout(done, 300))")
    assert "fq-codel" not in list_first_cells(window)
    after = window.run(marks)
    assert isinstance(before, int)
    assert after == before - 5
    window.press(Keys.SPACE)
    window.run("return new Promise(done => setTimeout(done, 300))")
    assert "fq-codel" in list_first_cells(window)
    assert window.run(marks) == before


def test_charts__turn_with_the_colours_of_the_system(report: Path, window: Browser) -> None:
    window.show(report, 820)
    colour = "return document.querySelector('#tail .live svg text').getAttribute('fill')"
    light = window.run(colour)
    window.set_dark(True)
    window.run("return new Promise(done => setTimeout(done, 1500))")
    assert window.run(colour) != light


def test_report__on_paper_shows_still_pictures_and_all_tables(report: Path, window: Browser) -> None:
    window.show(report, 820, dark=True)
    window.set_paper(True)
    try:
        shown = window.run(
            "return [...document.querySelectorAll('figure.chart')].map(figure => "
            "[getComputedStyle(figure.querySelector('.live')).display, "
            "getComputedStyle(figure.querySelector('.static')).display, "
            "getComputedStyle(document.body).backgroundColor])"
        )
        assert shown == [["none", "block", "rgb(255, 255, 255)"]] * 11
        window.run("dispatchEvent(new Event('beforeprint'))")
        assert window.run("return document.querySelectorAll('details:not([open])').length") == 0
    finally:
        window.set_paper(False)


def test_report__without_script_has_pictures_tables_and_the_answer(report: Path, window: Browser) -> None:
    with window.without_script():
        shown = window.show(report, 820)
        assert shown.scroll_width == 820
        assert shown.console == []
    text = report.read_text()
    assert text.index("The answer") < text.index("What short and long transfers gain")
