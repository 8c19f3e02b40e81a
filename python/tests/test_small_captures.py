"""What is played in the place of a capture that is too small to be played as it is."""

import json
from pathlib import Path
from typing import Any

import mousehole
import numpy as np
import polars as pl
import pytest
from mousehole import Comparison
from mousehole.answer import NO_VERDICT, findings, tables
from mousehole.tuning import tune

SETTINGS: dict[str, Any] = {
    "rate": "2mbit", "load": 0.7, "schemes": "droptail,fq-codel", "duration": "10s", "warmup": "2s",
    "seeds": 5,
}  # fmt: skip
"""Options of a comparison that takes a second."""


def make_rows(transfers: int) -> list[dict[str, Any]]:
    """Returns this many short transfers of three clients within about a minute."""
    sizes = np.random.default_rng(11).lognormal(7.5, 0.8, transfers)
    return [
        {
            "start_s": 60.0 * n / transfers,
            "client": f"user {n % 3}",
            "server": 0,
            "bytes": int(min(size, 15_000)),
        }
        for n, size in enumerate(sizes)
    ]


def write_capture(folder: Path, transfers: int, name: str = "small.csv") -> Path:
    """Writes the rows as a table, and returns its path."""
    path = folder / name
    pl.DataFrame(make_rows(transfers)).write_csv(path)
    return path


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """A comparison on a capture that is so small that a model is fitted to it."""
    return mousehole.compare(write_capture(tmp_path_factory.mktemp("small"), 60), **SETTINGS)


def test_compare__plays_a_model_of_twenty_transfers_and_more(fitted: Comparison) -> None:
    cell = fitted.plan.cells[0]
    traffic = fitted.plan.scenario(cell, "fq-codel", 2)["traffic"]
    assert traffic["fitted"] is True
    assert "resample" not in traffic
    assert fitted.manifest["scenario"]["traffic"]["fitted"] is True
    assert fitted.label == "a model fitted to the 60 transfers of small.csv"
    assert fitted.advice().lines[0].startswith(f"Played is {fitted.label}, drawn anew in each replication")
    assert not any("not judged" in one.verdict for one in fitted.finding_list if not one.exploratory)
    row = tables.evidence_row(fitted.results, cell)
    assert row is not None
    assert (row.is_fitted, row.is_resampled, row.short_transfers, row.short_clients) == (True, False, 60, 3)
    assert (row.capture_share, row.capture_freedom) == (1, 59), "all of the spread is between captures"
    assert row.copies_least > 1
    assert "fitted to a resample" in findings.first_cell(fitted.results).coverage_note()


def test_compare__a_model_draws_sizes_and_users_of_its_own(fitted: Comparison) -> None:
    recorded = {one["bytes"] for one in make_rows(60)}
    drawn = [
        fitted.transfers(scheme, number)
        for scheme, number in (("droptail", 0), ("fq-codel", 0), ("droptail", 1))
    ]
    sizes = [set(one["bytes"]) for one in drawn]
    assert len(sizes[0] - recorded) > 30
    assert max(sizes[0]) > max(recorded), "sizes that sixty transfers do not show"
    assert drawn[0]["client"].n_unique() > 3
    assert sizes[0] == sizes[1] != sizes[2], "the same under every scheme, and others in each replication"


def test_compare__a_model_is_the_same_again_and_after_loading(fitted: Comparison, tmp_path: Path) -> None:
    again = mousehole.compare(write_capture(tmp_path, 60), **SETTINGS, jobs=1)
    assert again.to_json() == fitted.to_json()
    fitted.save(tmp_path / "kept.json")
    loaded = mousehole.load(tmp_path / "kept.json")
    assert isinstance(loaded, Comparison)
    assert loaded.advice().lines == fitted.advice().lines
    found = json.loads(fitted.to_json())
    assert found["capture"]["is_fitted"] is True
    assert found["cells"][0]["evidence"]["is_fitted"] is True


@pytest.mark.parametrize(("transfers", "is_fitted"), [(19, False), (20, True), (99, True), (100, False)])
def test_compare__from_a_hundred_transfers_on_a_capture_is_played_itself(
    transfers: int, is_fitted: bool
) -> None:
    settings = {**SETTINGS, "seeds": 1, "schemes": "droptail"}
    found = mousehole.compare(pl.DataFrame(make_rows(transfers)), **settings)
    capture = found.results.capture
    assert capture is not None
    assert capture.is_fitted is is_fitted


def test_compare__without_a_load_a_model_has_as_many_users(tmp_path: Path) -> None:
    found = mousehole.compare(
        write_capture(tmp_path, 60), **{**SETTINGS, "load": None, "duration": "60s", "schemes": "droptail"}
    )
    cell = found.plan.cells[0]
    loads = [run.load for run in found.results.runs(cell, "droptail")]
    assert all((load["copies"], load["dilation"]) == (1, 1) for load in loads)
    assert len({load["achieved"] for load in loads}) == 5, "each replication has a load of its own"


def test_compare__ready_made_traffic_stands_in_for_a_few_transfers(tmp_path: Path) -> None:
    settings = {**SETTINGS, "rate": "10mbit", "seeds": 1, "replay": "open"}
    found = mousehole.compare(write_capture(tmp_path, 5), **settings)
    assert found.label == "home, in place of small.csv"
    assert found.plan.instead_of == "small.csv, which has 5 transfers ≤ 15 kB, of at least 20"
    assert found.advice().lines[0] == (
        "Not your traffic: ready-made users stand in for small.csv, which has 5 transfers ≤ 15 kB, of at "
        "least 20 for a model of it."
    )
    assert "files" not in found.manifest["scenario"]["traffic"]
    assert found.results.capture is None
    document = json.loads(found.to_json())
    assert document["plan"]["instead_of"] == found.plan.instead_of


def test_compare__a_few_transfers_of_data_are_played_as_they_are() -> None:
    found = mousehole.compare(make_rows(5), **SETTINGS)
    assert found.plan.instead_of is None
    assert found.advice().outcome == NO_VERDICT
    assert found.advice().lines[0] == (
        "No verdict: the capture has 5 distinct transfers ≤ 15 kB, of at least 100."
    )


def test_tune__searches_on_a_model_of_a_small_capture(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "rate": "2mbit", "load": 0.7, "duration": "10s", "warmup": "2s", "seeds": 5, "trials": 2,
        "search_seeds": 1,
    }  # fmt: skip
    found = tune(write_capture(tmp_path, 60), schemes="sfd", **settings)
    assert found.results.lines[0].startswith(
        "Played is a model fitted to the 60 transfers of small.csv, drawn anew in each replication"
    )
    settings |= {"rate": "10mbit", "limits": "none"}
    few = tune(write_capture(tmp_path, 5, "few.csv"), schemes="sfd", **settings)
    assert few.results.lines[0].startswith("Not your traffic: ready-made users stand in for few.csv")


def test_days__a_model_is_played_on_days_with_few_transfers(tmp_path: Path) -> None:
    days = [write_capture(tmp_path, transfers, f"day{transfers}.csv") for transfers in (60, 120, 5)]
    found = mousehole.compare_days(days, **{**SETTINGS, "seeds": 1})
    assert found.answer()[0] == (
        "Played on day60.csv is a model fitted to the day's transfers, drawn anew in each replication; the "
        "day's own interval is of these transfers."
    )
    captures = [day.results.capture for day in found.days]
    assert [one is not None and one.is_fitted for one in captures] == [True, False, False]
    assert [day.results.plan.instead_of for day in found.days] == [None, None, None], "no day is made up"
