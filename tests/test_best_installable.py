"""The section on what can be installed today: its sentences and tables of a search that takes a moment."""

import pytest
from mousehole.base import MouseholeError
from mousehole.statistics import Estimate

from tools import document
from validation import best_installable
from validation.best_installable import PAIRS, Found, Size
from validation.findings import DOCUMENT

TINY = Size(2, 1, 5, "6s", "2s")


@pytest.fixture(scope="module")
def found() -> Found:
    return best_installable.search("web:sfd", "web:sfd", TINY)


def test_search__keeps_both_limits_or_says_so(found: Found) -> None:
    wanted = [limit.text for limit in found.tuned.results.goal.limits]
    both = ["long mean +5%", "long mean +5% against fq-codel"]
    assert wanted == (both if found.limits_fq_codel else both[:1])
    assert found.tuned.results.baseline == "cake"
    assert best_installable.MARKED in found.tuned.judged.plan.schemes


def test_body__has_a_line_for_each_traffic_and_pair(found: Found) -> None:
    body = best_installable.body([found, found], TINY)
    assert body.startswith("\n2 settings of each pair on 1 replication")
    for name in PAIRS.values():
        assert f"| {name} |" in body
    assert (
        "**The aim**, 30 % below CAKE and FQ-CoDel in short p99 at no more than 5 % for long ones: of 2"
        in body
    )
    assert body.count("- **web:sfd**: ") == 2
    assert document.long_lines(body) == []


def test_reached__only_where_both_rivals_are_beaten_and_long_ones_do_not_pay(
    found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_verdict(gain: tuple[float, float], price: tuple[float, float]) -> str:
        def change(_self: Found, _scheme: str, _reference: str, quantity: str) -> Estimate:
            mean, high = gain if quantity == best_installable.GAIN else price
            return Estimate(mean, mean - (high - mean), high, 10)

        monkeypatch.setattr(Found, "change", change)
        return best_installable.reached(found)

    monkeypatch.setattr("mousehole.tuning._results.TuneResults.recommended", "cake", raising=False)
    assert write_verdict((-0.5, -0.35), (0.0, 0.04)) == "reached"
    assert write_verdict((-0.5, -0.25), (0.0, 0.04)) == "by the means"
    assert write_verdict((-0.5, -0.35), (0.0, 0.06)) == "by the means"
    assert write_verdict((-0.29, -0.2), (0.0, 0.04)) == "not reached"
    assert write_verdict((-0.5, -0.35), (0.06, 0.07)) == "not reached"


def test_traffics__need_the_folder_of_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOUSEHOLE_DATA", raising=False)
    with pytest.raises(MouseholeError, match="MOUSEHOLE_DATA names the folder of real traces"):
        best_installable.traffics()
    monkeypatch.setenv("MOUSEHOLE_DATA", "/nowhere")
    assert list(best_installable.traffics()) == [*best_installable.MODELS, *best_installable.LOGS]


def test_page__has_the_section() -> None:
    text = document.written(DOCUMENT.read_text(encoding="utf-8"), best_installable.TARGET)
    for name in (*PAIRS.values(), *best_installable.MODELS, *best_installable.LOGS):
        assert f"| {name} |" in text, "run make validation WHAT=best_installable"
    assert "**The aim**" in text
