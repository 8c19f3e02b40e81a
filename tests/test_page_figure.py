"""The table of pages in a browser beside the simulator's: quotients of ratios, and loads that were kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from mousehole.page import Fetch, Load, PageLoads, PageResults, Prediction, Setting, Trial

from validation import browser

FETCH = Fetch(
    "http://page.test/", "Document", 200, "http/1.1", "High", 1, 9000, 0.0, 0.01, 0.06, 0.1, 0.001, "", ""
)


def make_load(load_s: float) -> Load:
    """Returns a load that ended after `load_s`, of one object."""
    return Load("loaded", "", load_s / 2, load_s / 2, load_s, (FETCH,), (), 5e6, "Chrome/1", "")


def make_results() -> PageResults:
    """Returns results of two schemes in six rounds; `droptail` takes twice as long as `red`."""
    setting = Setting("p", 9000, (), "1.1", 6, "cubic", "10mbit", "40ms", "100p", 1.0, 9.0, 1, None, None)
    trials = [
        Trial(scheme, number, make_load(factor * (2 + 0.1 * number)), {"is_valid": True})
        for number in range(6)
        for scheme, factor in (("red", 1), ("droptail", 2))
    ]
    return PageResults(setting, ("red", "droptail"), "red", 6, tuple(trials))


def make_prediction(factor: float) -> Prediction:
    """Returns six predicted times of two schemes; `droptail` takes `factor` times as long as `red`."""
    times = {
        "red": [2 + 0.1 * n for n in range(6)],
        "droptail": [factor * (2 + 0.1 * n) for n in range(6)],
    }
    return Prediction("red", times, "")


@pytest.mark.parametrize(("factor", "is_within"), [(2.1, True), (1.6, False), (2.5, False)])
def test_rows__compare_ratios_to_the_baseline(factor: float, is_within: bool) -> None:
    red, droptail = browser.make_rows(make_results(), make_prediction(factor))
    assert red.is_within
    assert red.quotient.mean == 1
    assert droptail.quotient.mean == pytest.approx(2 / factor)
    assert droptail.is_within is is_within


def test_section__has_a_row_per_scheme_and_what_was_left_out() -> None:
    found = make_results()
    text = browser.write_section(found, browser.make_rows(found, make_prediction(2.0)))
    assert "| `red` | 2.25 s | 1 | 2.25 s | 1 |  |" in text
    assert "| `droptail` | 4.5 s | 2.00 (2.00–2.00) | 4.5 s | 2.00 (2.00–2.00) | 1.00 (1.00–1.00) |" in text
    assert "6 loads per scheme" in text
    assert "left out" not in text


def test_read__gives_the_loads_that_were_written(tmp_path: Path) -> None:
    path = tmp_path / "loads.json"
    PageLoads(make_results()).save(path)
    assert browser.read_loads(path) == make_results()
