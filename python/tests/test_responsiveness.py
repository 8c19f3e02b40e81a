"""Tests of responsiveness and the Quality of Outcome, as a run gives them and documents have them."""

import re
from pathlib import Path
from typing import Any

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
    documented = {row[0].strip(" `"): [cell.strip(" `") for cell in row[1:7]] for row in rows}
    profiles = _engine.outcome_profiles()
    assert set(documented) == {one["name"] for one in profiles}
    for one in profiles:
        percentiles = " and ".join(f"{percentile:g}" for percentile, _, _ in one["delays"])
        ((perfect, useless),) = {tuple(times) for _, *times in one["delays"]}
        losses = [f"{100 * share:g} %" for share in one["losses"]]
        expected = [one["kind"], percentiles, f"{1e3 * perfect:g} ms", f"{1e3 * useless:g} ms", *losses]
        assert documented[one["name"]] == expected


def test_application__of_a_place_is_one_tester_both_ways() -> None:
    own = applications()["responsiveness"]
    assert (own.model, own.payload) == ("responsiveness", "both")
