"""Figures by application: sources of a mix, cheats, calls."""

from typing import Any

import mousehole
import polars as pl
import pytest
from mousehole import _engine
from mousehole.base import buckets
from mousehole.runs import reduce_run

MIX = {
    "schema": "mousehole.scenario/1",
    "scheme": "droptail",
    "warmup": "2s",
    "duration": "20s",
    "link": {"rate": "3mbit", "buffer": "50p"},
    "traffic": {
        "mix": [
            {"model": "poisson", "load": 0.6},
            {"name": "logins", "model": "telnet", "count": 3},
            {"name": "calls", "model": "voip", "count": 2},
            {"name": "backup", "model": "ftp", "params": {"endless": True}, "count": 1},
        ]
    },
}


def figures_of(scenario: dict[str, Any]) -> dict[tuple[str, str], float]:
    run = _engine.run(scenario, None, _engine.Cancel())
    return reduce_run(run, buckets(15_000, 150_000)).groups


def test_figures__one_for_each_source_and_what_it_is() -> None:
    ran, found = mousehole.run(MIX), figures_of(MIX)
    assert set(found) == {
        ("poisson", "response_mean_s"), ("logins", "response_mean_s"),
        ("calls", "delay_p95_s"), ("calls", "loss_share"), ("backup", "goodput_bps"),
    }  # fmt: skip
    logins = ran.transfers.filter(pl.col("source") == "logins")
    expected = (logins["end_s"] - logins["start_s"]).mean()
    assert found["logins", "response_mean_s"] == pytest.approx(expected)
    assert 0 < found["backup", "goodput_bps"] < 3e6
    assert 0 <= found["calls", "loss_share"] < 1


def test_figures__pieces_of_a_split_transfer_are_one_object() -> None:
    gaming = {"share": 0.5, "split": 4, "min_bytes": "20kB"}
    scenario = {**MIX, "traffic": {"model": "poisson", "load": 0.7, "gaming": gaming}}
    ran, found = mousehole.run(scenario), figures_of(scenario)
    cheats = ran.transfers.filter("cheats")
    objects = cheats.group_by("object_key").agg(pl.col("end_s").max() - pl.col("start_s").min())
    assert len(objects) * 4 == len(cheats)
    assert found["cheating", "response_mean_s"] == pytest.approx(objects["end_s"].mean())
    assert found["honest, as large", "response_mean_s"] > 0


def test_figures__pages_with_misbehaving_senders_are_complete() -> None:
    gaming = {"share": 1.0, "split": 4, "min_bytes": "20kB"}
    params = {"users": 20, "objects_min": 3}
    scenario = {**MIX, "traffic": {"model": "web:http10", "params": params, "gaming": gaming}}
    ran = mousehole.run(scenario)
    names = pl.struct(pl.when("cheats").then("object_key").otherwise("key")).n_unique()
    pages = ran.transfers.group_by("page").agg(
        names.alias("objects"), pl.len().alias("records"), pl.col("page_transfers").first(),
        (pl.col("end_s").max() - pl.col("start_s").min()).alias("page_s"),
    )  # fmt: skip
    whole = pages.filter(pl.col("objects") == pl.col("page_transfers"))
    assert len(whole.filter(pl.col("records") > pl.col("objects"))) > 10
    found = figures_of(scenario)["pages", "page_mean_s"]
    assert found == pytest.approx(whole["page_s"].mean())


def test_figures__are_absent_for_a_single_source() -> None:
    assert figures_of({**MIX, "traffic": {"model": "poisson", "load": 0.5}}) == {}
