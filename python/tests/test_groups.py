"""Figures by application: sources of a mix, cheats, calls."""

import io
import json
from pathlib import Path
from typing import Any

import mousehole
import polars as pl
import pytest
from mousehole import _engine, quantities
from mousehole import scenario as scenarios
from mousehole._engine import Source
from mousehole.answer import PAGES
from mousehole.base import MouseholeError, buckets
from mousehole.document import print_document
from mousehole.reports import make_document
from mousehole.runs import Results, reduce_run
from mousehole.sweeps._rows import reduce_row
from mousehole.tuning import objectives
from rich.console import Console

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


DATAGRAMS = ("delay_p50_s", "delay_p95_s", "delay_p99_s", "loss_share", "late_share", "jitter_s")
FELT: dict[str, tuple[str, ...]] = {
    "calls": ("delay_p95_s", "loss_share", "mos", "outcome_quality"),
    "game": ("delay_p95_s", "delay_p99_s", "loss_share", "late_share", "outcome_quality"),
    "videocall": ("frames_missed_share", "freezes_per_minute", "outcome_quality"),
    "stream": ("startup_mean_s", "rebuffering_share", "video_rate_bps"),
    "telnet": ("echo_mean_s", "echo_p95_s"),
    "responsiveness": (
        "round_trips_per_minute",
        "foreign_round_trips_per_minute",
        "self_round_trips_per_minute",
    ),
}
"""Sources of `FELT_MIX` → what their users feel first, in order."""
FELT_MIX = {
    **MIX,
    "duration": "30s",
    "at": "both",
    "link": {"rate": "10mbit", "buffer": "250p"},
    "traffic": {
        "mix": [
            {"model": "voip", "name": "calls", "count": 1},
            *(
                {"model": name, "count": 1}
                for name in ("game", "videocall", "stream", "telnet", "responsiveness")
            ),
            {"model": "ftp", "payload": "both", "params": {"endless": True}, "count": 1},
        ]
    },
}


def print_to_text(results: Results, details: bool) -> str:
    """Returns the report of results as text."""
    console = Console(record=True, width=110, file=io.StringIO())
    print_document(console, make_document(results), details)
    return console.export_text()


def measure_figures(scenario: dict[str, Any]) -> dict[tuple[str, str], float]:
    """Returns the figures of applications in a run of a scenario."""
    run = _engine.run(scenario, None, _engine.Cancel())
    return reduce_run(run, buckets(15_000, 150_000)).groups


def test_figures__one_for_each_source_and_what_it_is() -> None:
    ran, found = mousehole.run(MIX), measure_figures(MIX)
    assert set(found) == {
        ("poisson", "response_mean_s"), ("backup", "goodput_bps"),
        *(("logins", what) for what in ("response_mean_s", "echo_mean_s", "echo_p95_s")),
        *(("calls", what) for what in (*DATAGRAMS, "mos", "rating", "outcome_quality")),
    }  # fmt: skip
    logins = ran.transfers.filter(pl.col("source") == "logins")
    expected = (logins["end_s"] - logins["start_s"]).mean()
    assert found["logins", "response_mean_s"] == pytest.approx(expected)
    assert 0 < found["backup", "goodput_bps"] < 3e6
    assert 0 <= found["calls", "loss_share"] < 1


def test_figures__pieces_of_a_split_transfer_are_one_object() -> None:
    gaming = {"share": 0.5, "split": 4, "min_bytes": "20kB"}
    scenario = {**MIX, "traffic": {"model": "poisson", "load": 0.7, "gaming": gaming}}
    ran, found = mousehole.run(scenario), measure_figures(scenario)
    misbehaving = ran.transfers.filter("misbehaves")
    objects = misbehaving.group_by("object_key").agg(pl.col("end_s").max() - pl.col("start_s").min())
    assert len(objects) * 4 == len(misbehaving)
    assert found["misbehaving", "response_mean_s"] == pytest.approx(objects["end_s"].mean())
    assert found["honest, as large", "response_mean_s"] > 0


def test_figures__pages_with_misbehaving_senders_are_complete() -> None:
    gaming = {"share": 1.0, "split": 4, "min_bytes": "20kB"}
    params = {"users": 20, "objects_min": 3}
    scenario = {**MIX, "traffic": {"model": "web:http10", "params": params, "gaming": gaming}}
    ran = mousehole.run(scenario)
    names = pl.struct(pl.when("misbehaves").then("object_key").otherwise("key")).n_unique()
    pages = ran.transfers.group_by("page").agg(
        names.alias("objects"), pl.len().alias("records"), pl.col("page_transfers").first(),
        (pl.col("end_s").max() - pl.col("start_s").min()).alias("page_s"),
    )  # fmt: skip
    whole = pages.filter(pl.col("objects") == pl.col("page_transfers"))
    assert len(whole.filter(pl.col("records") > pl.col("objects"))) > 10
    found = measure_figures(scenario)["pages", "page_mean_s"]
    assert found == pytest.approx(whole["page_s"].mean())


def test_figures__are_absent_for_a_single_source() -> None:
    assert measure_figures({**MIX, "traffic": {"model": "poisson", "load": 0.5}}) == {}


def test_run__has_the_figures_of_applications() -> None:
    done, found = mousehole.run(FELT_MIX), measure_figures(FELT_MIX)
    rows = done.applications.to_dicts()
    assert {(row["group"], row["what"]): row["value"] for row in rows} == pytest.approx(found, nan_ok=True)
    for group, felt in FELT.items():
        own = [row for row in rows if row["group"] == group]
        assert tuple(row["what"] for row in own)[: len(felt)] == felt
        assert [row["is_primary"] for row in own] == [row["what"] in felt for row in own]
    of_kind = [row for row in json.loads(done.to_json())["applications"] if row["kind"] == "video_calls"]
    assert {row["what"] for row in of_kind} >= {"frames_missed_share", "freezes_per_minute", "jitter_s"}
    console = Console(record=True, width=110, file=io.StringIO())
    print_document(console, done.document())
    text = console.export_text()
    assert "videocall: frames late or lost " in text
    assert "calls: delay p95 " in text
    assert "MOS " in text


def test_figures__are_those_of_the_records() -> None:
    done, found = mousehole.run(FELT_MIX), measure_figures(FELT_MIX)
    games = done.datagrams.filter(pl.col("source") == "game")
    assert found["game", "delay_p99_s"] == pytest.approx(games["delay_p99_s"].mean())
    late, received = games["late"].sum(), games["received"].sum()
    assert found["game", "late_share"] == pytest.approx(late / received)
    echoes = done.transfers.filter(pl.col("source") == "telnet")
    assert found["telnet", "echo_mean_s"] == pytest.approx((echoes["end_s"] - echoes["start_s"]).mean())
    # A full buffer before the slow link: late sound, and videos slower than the top of their ladder.
    assert 1 <= found["calls", "mos"] < 4.5
    assert 0 < found["stream", "video_rate_bps"] < 4.3e6


def test_compare__calls_are_better_where_they_do_not_wait(tmp_path: Path) -> None:
    file = tmp_path / "felt.toml"
    file.write_text(scenarios.to_toml(scenarios.fill_in(FELT_MIX), tmp_path))
    found = mousehole.compare(file, schemes=["droptail", "fq-codel"], seeds=5)
    rows = {(row["scheme"], row["group"], row["what"]): row for row in found.groups.to_dicts()}
    mos = [rows[scheme, "calls", "mos"]["value"] for scheme in ("droptail", "fq-codel")]
    assert mos[0] < mos[1] - 0.2
    assert rows["fq-codel", "calls", "mos"]["change_low"] > 0
    assert rows["fq-codel", "game", "delay_p95_s"]["change"] < 0
    assert rows["fq-codel", "calls", "mos"]["kind"] == "calls"
    text, whole = (print_to_text(found.results, details) for details in (False, True))
    for part in ("calls: MOS", "telnet: echo time", "stream: rebuffering", "game: later than 50 ms"):
        assert part in text, part
    assert "calls: rating R" in whole
    assert "calls: rating R" not in text


def test_measures__of_a_kind_are_columns_of_sweeps_and_asked_for_by_tune() -> None:
    names = {measure.name: measure for measure in quantities.measures() if measure.kind}
    assert names["calls_mos"].asked_as == "calls mos"
    assert names["video_calls_freezes_per_minute"].asked_as == "video calls freezes"
    assert len({measure.asked_as for measure in names.values()}) == len(names)
    run = _engine.run(FELT_MIX, None, _engine.Cancel())
    row = reduce_row(run, buckets(15_000, 150_000))
    found = measure_figures(FELT_MIX)
    assert row["calls_mos"] == found["calls", "mos"]
    assert row["games_delay_p99_s"] == found["game", "delay_p99_s"]
    two = {**FELT_MIX, "traffic": {"mix": [{"model": "game", "count": n} for n in (1, 2)]}}
    own = measure_figures(two)
    both = [own[group, "delay_p95_s"] for group in ("game", "game-2")]
    run = _engine.run(two, None, _engine.Cancel())
    assert reduce_row(run, buckets(15_000, 150_000))["games_delay_p95_s"] == pytest.approx(sum(both) / 2)
    assert row["video_calls_frames_missed_share"] is not None
    assert reduce_row(run, buckets(15_000, 150_000))["calls_mos"] is None


def test_objectives__of_a_kind() -> None:
    mos = objectives.parse_quantity("objective", "calls mos")
    assert not mos.smaller_is_better
    assert mos.description.endswith(", calls")
    assert objectives.parse_quantity("objective", "page mean").source == Source(
        quantities.find("application", PAGES[1]), group=PAGES[0]
    )
    with pytest.raises(MouseholeError, match="calls measures are delay p95, lost, mos and qoo"):
        objectives.parse_quantity("objective", "calls moss")
