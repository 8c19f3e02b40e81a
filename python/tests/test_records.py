"""The records of single runs: what adaptive schemes noted, and samples over time."""

from pathlib import Path

import mousehole
import polars as pl
import pytest
from mousehole import MouseholeError

SCENARIO = {
    "schema": "mousehole.scenario/1",
    "warmup": "5s",
    "duration": "60s",
    "link": {"rate": "3mbit", "buffer": "60p"},
    "traffic": {"model": "web:sfd", "load": 0.9},
}


def test_series__rio_ps_moves_its_threshold_by_one_every_t_c() -> None:
    series = mousehole.run({**SCENARIO, "scheme": "rio-ps(t_c=2s,l_t=7)"}).series
    threshold = series.filter(series["name"] == "threshold_packets")
    assert threshold["value"][0] == 7
    assert set(threshold["value"].diff().abs().drop_nulls()) <= {0.0, 1.0}
    assert set(threshold["time_s"].diff().drop_nulls().round(6)) == {2.0}
    assert set(threshold["link"]) == {"down"}


def test_series__adaptive_red_stays_within_its_range() -> None:
    series = mousehole.run({**SCENARIO, "scheme": "ared"}).series
    steps = series.filter(series["name"] == "max_p")["value"]
    assert len(steps) > 1
    # A step begins within 0.01 to 0.5 and may end a step beyond.
    assert steps.is_between(0.009, 0.51).all()


def test_series__plain_schemes_note_nothing() -> None:
    assert mousehole.run({**SCENARIO, "scheme": "sfd"}).series.is_empty()


def run_sampled(**changes: object) -> mousehole.Records:
    """Returns a run of 20 s with two downloads, sampled every 500 ms."""
    base = {**SCENARIO, "warmup": "5s", "duration": "15s", "series": "500ms"}
    traffic = {"model": "web:sfd", "load": 0.5, "bulk": {"flows": 2}}
    return mousehole.run({**base, "traffic": traffic, "scheme": "sfd", **changes})


def test_series__samples_sum_to_what_the_queues_count() -> None:
    done = run_sampled()
    counted = done.series.filter(
        (pl.col("link") == "down") & (pl.col("name") == "dropped") & (pl.col("time_s") > 5)
    )
    sums = dict(counted.group_by("colour").agg(pl.col("value").sum()).iter_rows())
    (down,) = (queue for queue in done.queues if queue["name"] == "down")
    assert sums == {colour["name"]: colour["dropped"] for colour in down["colours"] if colour["arrived"]}
    assert sum(sums.values()) > 0


def test_series__windows_are_of_the_flows_with_their_keys() -> None:
    done = run_sampled()
    windows = done.series.filter(pl.col("name") == "cwnd_segments")
    assert set(windows["flow"]) == set(done.flows["key"])
    assert set(windows["link"]) == {""}
    assert len(windows) == 2 * 40


def test_plot__draws_a_panel_for_each_queue_rate_loss_and_window(tmp_path: Path) -> None:
    chart = run_sampled().plot(tmp_path / "run.svg").to_dict()
    titles = [row["hconcat"][0]["title"]["text"][0] for row in chart["vconcat"]]
    assert titles[:3] == [
        "What waits at link down, in time to send it",
        "Sent by link down, by colour; the line is its rate",
        "Dropped at link down, by colour",
    ]
    assert titles[-2:] == ["Congestion windows of long-lived flows", "Open connections"]
    assert (tmp_path / "run.svg").read_text().startswith("<svg")


def test_plot__thins_lines_without_losing_a_drop() -> None:
    done = run_sampled(series="5ms", duration="15s")
    dropped = done.series.filter((pl.col("name") == "dropped") & (pl.col("link") == "down"))
    chart = done.plot().to_dict()
    (panel,) = (row["hconcat"][0] for row in chart["vconcat"]
                if row["hconcat"][0]["title"]["text"][0].startswith("Dropped"))  # fmt: skip
    drawn = chart["datasets"][panel["layer"][0]["data"]["name"]]
    assert sum(row["v"] for row in drawn) == dropped["value"].sum() > 0
    assert len(drawn) < 1000


def test_plot__without_samples_says_what_to_give() -> None:
    with pytest.raises(MouseholeError, match=r"series.*such as 100ms"):
        mousehole.run({**SCENARIO, "scheme": "sfd", "duration": "10s"}).plot()
