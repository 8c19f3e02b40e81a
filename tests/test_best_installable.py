"""The section on what can be installed today: its sentences and tables of a search that takes a moment."""

from math import nan

import pytest
from mousehole.base import MouseholeError
from mousehole.statistics import Estimate

from tools import document
from validation import best_installable
from validation.best_installable import PAIRS, SearchResult, Size
from validation.findings import DOCUMENT

TINY = Size(2, 1, 5, "6s", "2s")
Ends = tuple[float, float]
"""A change and the upper end of its interval."""


@pytest.fixture(scope="module")
def found() -> SearchResult:
    """The result of a search that takes a moment."""
    return best_installable.search("web:sfd", 'model = "web:sfd"', TINY)


def test_search__keeps_the_margins_of_every_class_beside_it(found: SearchResult) -> None:
    limits = [limit.text for limit in found.tuned.results.goal.limits]
    assert limits[0] == "long mean +5%"
    for whose in ("page", "calls", "games", "video calls"):
        assert any(limit.startswith(f"{whose} ") for limit in limits), whose
    assert found.tuned.results.baseline == "cake"
    assert best_installable.MARKED in found.tuned.judged.plan.schemes


def test_body__has_a_line_for_each_traffic_and_pair(found: SearchResult) -> None:
    body = best_installable.write_body([found, found], TINY)
    assert body.startswith("\n2 settings of each pair on 1 replication")
    for name in PAIRS.values():
        assert f"| {name} |" in body
    assert (
        "- **The aim**, 30 % below plain CAKE in short p99 and 10 % for pages, with no more than 5 % more for"
        in body
    )
    assert body.count("- **web:sfd**: ") == 2
    assert document.find_long_lines(body) == []


@pytest.mark.parametrize(
    ("gain", "pages", "price", "payers", "verdict"),
    [
        ((-0.5, -0.35), (-0.2, -0.11), (0.0, 0.04), (), "reached"),
        ((-0.5, -0.35), (nan, nan), (0.0, 0.04), (), "reached"),
        ((-0.5, -0.25), (-0.2, -0.11), (0.0, 0.04), (), "by the means"),
        ((-0.5, -0.35), (-0.2, -0.05), (0.0, 0.04), (), "by the means"),
        ((-0.5, -0.35), (-0.2, -0.11), (0.0, 0.06), (), "by the means"),
        ((-0.29, -0.2), (-0.2, -0.11), (0.0, 0.04), (), "not reached"),
        ((-0.5, -0.35), (-0.09, -0.05), (0.0, 0.04), (), "not reached"),
        ((-0.5, -0.35), (-0.2, -0.11), (0.06, 0.07), (), "not reached"),
        ((-0.5, -0.35), (-0.2, -0.11), (0.0, 0.04), ("calls",), "not reached"),
    ],
)
def test_reached__only_where_short_transfers_and_pages_gain_and_nobody_pays(
    found: SearchResult, monkeypatch: pytest.MonkeyPatch, gain: Ends, pages: Ends, price: Ends,
    payers: tuple[str, ...], verdict: str,
) -> None:  # fmt: skip
    ends = {best_installable.GAIN: gain, best_installable.PAGES: pages, best_installable.PRICE: price}

    def change(_self: SearchResult, _scheme: str, _reference: str, quantity: str) -> Estimate:
        mean, high = ends[quantity]
        return Estimate(mean, mean - (high - mean), high, 10)

    monkeypatch.setattr(SearchResult, "change", change)
    monkeypatch.setattr(SearchResult, "find_payers", lambda *_: payers)
    monkeypatch.setattr("mousehole.tuning._results.TuneResults.recommended", "cake", raising=False)
    assert best_installable.judge_aim(found) == verdict


def test_traffics__need_the_folder_of_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOUSEHOLE_DATA", raising=False)
    with pytest.raises(MouseholeError, match="MOUSEHOLE_DATA names the folder of real traces"):
        best_installable.list_traffics()
    monkeypatch.setenv("MOUSEHOLE_DATA", "/nowhere")
    assert list(best_installable.list_traffics()) == [*best_installable.MODELS, *best_installable.LOGS]


def test_page__has_the_section() -> None:
    text = document.read_part(DOCUMENT.read_text(encoding="utf-8"), best_installable.TARGET)
    for name in (*PAIRS.values(), *best_installable.MODELS, *best_installable.LOGS):
        assert f"| {name} |" in text, "run make validation WHAT=best_installable"
    assert "**The aim**" in text
