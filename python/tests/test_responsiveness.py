"""Tests of responsiveness and the Quality of Outcome, as a run gives them and documents have them."""

import re
from pathlib import Path
from typing import Any

import mousehole
import polars as pl
import pytest
from mousehole import _engine
from mousehole.base import applications, buckets
from mousehole.runs import reduce_run

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "compare.md"


def measure_figures(scheme: str, mix: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """Returns the figures of applications in a run of a mix under a scheme."""
    scenario = {
        "schema": "mousehole.scenario/1", "scheme": scheme, "at": "both", "warmup": "12s", "duration": "20s",
        "link": {"rate": "10mbit", "rtt": "40ms", "buffer": "200p", "up_buffer": "200p"},
        "traffic": {"mix": mix},
    }  # fmt: skip
    run = _engine.run(scenario, None, _engine.Cancel())
    return reduce_run(run, buckets(15_000, 150_000)).groups


def test_round_trips__are_few_in_a_fifo_and_foreign_ones_many_with_fair_queues() -> None:
    found = {
        scheme: measure_figures(scheme, [{"name": "test", "model": "responsiveness"}])
        for scheme in ("droptail", "fq-codel")
    }
    for own in found.values():
        foreign, within, both = (
            own["test", f"{part}round_trips_per_minute"] for part in ("foreign_", "self_", "")
        )
        assert both == pytest.approx((foreign + within) / 2)
    fifo, fair = (found[name]["test", "foreign_round_trips_per_minute"] for name in found)
    # A round trip of 40 ms is 1500 a minute, with 200 packets of 1.2 ms before it 214.
    assert 214 < fifo < 500
    assert 1000 < fair < 1500
    assert found["droptail"]["test", "self_round_trips_per_minute"] < 500


def test_outcome_quality__falls_with_the_queue_that_a_call_meets() -> None:
    mix = [
        {"name": "calls", "model": "voip", "count": 2},
        {"name": "load", "model": "ftp", "payload": "both", "params": {"endless": True}, "count": 2},
    ]
    fair, fifo = (
        measure_figures(scheme, mix)["calls", "outcome_quality"] for scheme in ("fq-codel", "droptail")
    )
    assert fair == pytest.approx(1)
    assert fifo < 0.95


def test_profiles__stand_in_the_documents() -> None:
    text = DOCUMENT.read_text("utf-8").partition("### Quality of Outcome")[2].partition("\n## ")[0]
    rows = [re.findall(r"[^|]+", line) for line in text.splitlines() if line.startswith("| `")]
    documented = [tuple(cell.strip(" `") for cell in row) for row in rows]
    assert documented == _engine.outcome_profiles()


def quality(qoo: str | list[str] | None) -> dict[str, float]:
    """Returns the Quality of Outcome by application in a short comparison of a home, for the requirements
    `qoo`.
    """
    found = mousehole.compare(
        "home", down="20mbit", up="2mbit", schemes="droptail", seeds=1, duration="5s", warmup="1s", qoo=qoo
    )
    rows = found.groups.filter(pl.col("what") == "outcome_quality")
    return dict(rows.select("group", "value").iter_rows())


def test_qoo__is_a_profile_of_ones_own() -> None:
    named = quality(None)
    assert set(named) == {"calls", "games", "video"}
    assert quality(["calls=voice", "video calls = videophone"]) == named
    own = quality(["calls=p99.9 1ms..2ms", "Games=p90 1s..2s", "dns=loss 0%..100%"])
    assert (own["calls"], own["games"], own["dns"]) == (0, 1, 1)
    assert own["video"] == named["video"]


def test_qoo__at_a_percentile_is_that_of_the_records() -> None:
    mix = [{"model": "voip", "count": 1, "payload": "down"}, {"model": "ftp", "params": {"endless": True}}]
    scenario = {"link": {"rate": "5mbit", "rtt": "20ms"}, "duration": "5s", "traffic": {"mix": mix}}
    done = mousehole.run(scenario, qoo="calls=p95 10ms..1s")
    (delay_s,) = done.datagrams["delay_p95_s"]
    found = next(row for row in done.applications.iter_rows(named=True) if row["what"] == "outcome_quality")
    assert found["value"] == pytest.approx(1 - (delay_s - 0.01) / 0.99)


@pytest.mark.parametrize(
    ("qoo", "words"),
    [
        ("web=voice", "is about web, of which no datagrams are sent; it must be a class of this traffic"),
        ("calls=voise", 'did you mean "voice"?'),
        ("calls=p99 60ms..40ms", "the second above the first"),
        (["calls=voice", "CALLS=game"], "is a second profile of CALLS"),
    ],
)
def test_qoo__is_checked(qoo: str | list[str], words: str) -> None:
    with pytest.raises(mousehole.MouseholeError, match=re.escape(words)) as caught:
        quality(qoo)
    assert caught.value.field == "traffic.qoo"


def test_application__of_a_place_is_one_tester_both_ways() -> None:
    own = applications()["responsiveness"]
    assert (own.model, own.payload) == ("responsiveness", "both")
