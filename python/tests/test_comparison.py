import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import mousehole
import numpy as np
import polars as pl
import pytest
from mousehole.answer import list_endpoints, tables
from mousehole.comparison import Comparison
from mousehole.document import print_document
from rich.console import Console
from support import SMALL


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    """A small comparison on a model."""
    return mousehole.compare("web:sfd", seeds=5, **SMALL)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def grid() -> Comparison:
    """A comparison of two schemes with two buffers and two loads."""
    changes: dict[str, Any] = {**SMALL, "buffer": "20p,1bdp", "load": [0.5, 0.8], "schemes": "droptail,sfd"}
    return mousehole.compare("web:sfd", seeds=5, **changes)


def test_compare__same_bytes_whatever_the_jobs(comparison: Comparison) -> None:
    again = mousehole.compare("web:sfd", seeds=5, jobs=1, **SMALL)  # type: ignore[arg-type]
    four = mousehole.compare("web:sfd", seeds=5, jobs=4, **SMALL)  # type: ignore[arg-type]
    assert again.to_json() == four.to_json() == comparison.to_json()


def test_compare__another_seed_gives_other_numbers(comparison: Comparison) -> None:
    other = mousehole.compare("web:sfd", seeds=5, seed=2, **SMALL)  # type: ignore[arg-type]
    with pytest.raises(mousehole.MouseholeError, match=r"seed: .* from 0 to 18446744073709551615"):
        mousehole.compare("web:sfd", seeds=5, seed=1 << 64, **SMALL)  # type: ignore[arg-type]
    assert not other.buckets["response_mean_s"].equals(comparison.buckets["response_mean_s"])


def test_compare__baseline_comes_first_and_once() -> None:
    found = mousehole.compare("web:sfd", seeds=1, **{**SMALL, "schemes": "sfd,droptail"})  # type: ignore[arg-type]
    assert found.plan.schemes == ("droptail", "sfd")
    assert found.schemes["is_baseline"].to_list() == [True, False]


def test_compare__frames_have_a_row_for_everything(comparison: Comparison) -> None:
    assert comparison.schemes.height == 3
    assert comparison.buckets.height == 3 * len(comparison.plan.buckets)
    assert comparison.findings.height == 5 * (2 + 1)
    everything = comparison.buckets.filter(pl.col("role") == "all")
    by_size = (
        comparison.buckets.filter(pl.col("role") == "size").group_by("scheme").agg(pl.col("count").sum())
    )
    joined = everything.join(by_size, on="scheme", suffix="_by_size")
    assert (joined["count"] == joined["count_by_size"]).all()
    assert (everything["count"] > 0).all()


def test_compare__conserves_packets_by_colour(comparison: Comparison) -> None:
    colours = comparison.colours
    assert colours["arrived"].sum() > 0
    assert (colours["sent"] <= colours["arrived"]).all()


def test_compare__one_verdict_per_scheme(comparison: Comparison) -> None:
    primary = comparison.findings.filter(~pl.col("exploratory") & (pl.col("reference") == "droptail"))
    assert primary["scheme"].to_list() == ["sfd", "fq-codel"]
    assert set(primary["outcome"]) <= {"better", "worse", "equal within 5 %", "undecided"}
    assert "sfd against droptail" in repr(comparison)


def test_compare__no_interval_from_four_seeds() -> None:
    found = mousehole.compare("web:sfd", seeds=4, **SMALL)  # type: ignore[arg-type]
    assert found.buckets["response_mean_low_s"].null_count() == found.buckets.height
    assert set(found.findings["outcome"]) == {"undecided"}


def test_report__says_once_why_there_is_no_verdict() -> None:
    found = mousehole.compare("web:sfd", seeds=1, **SMALL)  # type: ignore[arg-type]
    console = Console(width=110, record=True, file=io.StringIO())
    print_document(console, found.document(), details=True)
    text = console.export_text()
    assert text.count("No verdict: 1 replication gives no interval; at least 5 are needed") == 1
    assert "undecided" not in text


def test_list_endpoints__name_the_table_of_their_values(comparison: Comparison) -> None:
    results, cell = comparison.results, comparison.plan.cells[0]
    runs = results.runs(cell, "sfd")
    short, p95, long, rate, page = list_endpoints(15_000, 150_000, has_pages=True)
    for endpoint, expected in (
        (p95, results.bucket_values(cell, "sfd", "short", "response_p95_s")),
        (page, np.array([run.groups.get(("pages", "page_mean_s"), np.nan) for run in runs])),
        (short, results.bucket_values(cell, "sfd", "short", "response_mean_s")),
        (long, results.bucket_values(cell, "sfd", "long", "response_mean_s")),
        (rate, np.array([run.scheme["long_goodput_bps"] for run in runs])),
    ):
        assert np.array_equal(results.compared(cell).values(endpoint.source, "sfd"), expected, equal_nan=True)


def test_transfers__repeat_the_run(comparison: Comparison) -> None:
    first, again = (comparison.transfers("sfd", 1) for _ in range(2))
    assert first.equals(again)
    row = comparison.results.runs(comparison.plan.cells[0], "sfd")[1]
    assert first.height == row.count[-1]
    with pytest.raises(
        mousehole.MouseholeError, match='"spd" is not allowed; it must be one of this comparison'
    ):
        comparison.transfers("spd")


def test_manifest__says_what_determines_the_result(comparison: Comparison) -> None:
    manifest = json.loads(comparison.to_json())["manifest"]
    assert manifest["seed"] == 1
    assert manifest["scenario"]["link"]["down"]
    assert {entry["scheme"] for entry in manifest["schemes"]} == {"droptail", "sfd", "fq-codel"}
    assert all(entry["parameters"] is not None for entry in manifest["schemes"])


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_plot__is_written_whole(comparison: Comparison, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"plot{suffix}"
    comparison.plot(path)
    first = path.read_bytes()
    assert len(first) > 10_000
    comparison.plot(path)
    again = path.read_bytes()
    assert again == first or (suffix == ".pdf" and len(again) == len(first)), "a PDF's fonts have no order"
    assert list(tmp_path.iterdir()) == [path]


def test_plot__has_a_line_for_every_scheme(comparison: Comparison, tmp_path: Path) -> None:
    comparison.plot(tmp_path / "plot.svg")
    text = (tmp_path / "plot.svg").read_text()
    assert all(f">{scheme}<" in text for scheme in comparison.plan.schemes)


def test_plot__refuses_other_endings(comparison: Comparison, tmp_path: Path) -> None:
    with pytest.raises(mousehole.MouseholeError, match=r"\.png, \.svg or \.pdf"):
        comparison.plot(tmp_path / "plot.gif")
    assert list(tmp_path.iterdir()) == []


def test_grid__has_a_cell_for_every_buffer_and_load(grid: Comparison, tmp_path: Path) -> None:
    cells = json.loads(grid.to_json())["cells"]
    assert [(cell["buffer"], cell["load"]) for cell in cells] == [
        ("20p", 0.5), ("1bdp", 0.5), ("20p", 0.8), ("1bdp", 0.8)
    ]  # fmt: skip
    grid.plot(tmp_path / "grid.png")
    assert (tmp_path / "grid.png").stat().st_size > 10_000


def test_compare__takes_a_frame_or_dictionaries() -> None:
    rows = [
        {"start_s": 0.05 * n, "client": n % 5, "server": 0, "bytes": 12_000, "rtt_s": 0.05}
        for n in range(200)
    ]
    settings: dict[str, Any] = {**SMALL, "load": 0.5, "seeds": 1}
    from_frame = mousehole.compare(pl.DataFrame(rows), **settings)
    from_rows = mousehole.compare(rows, **settings)
    assert from_frame.buckets.equals(from_rows.buckets)
    assert from_frame.buckets.filter(pl.col("role") == "short")["count"].min() > 0  # type: ignore[operator]


def test_compare__frame_without_a_column() -> None:
    with pytest.raises(mousehole.MouseholeError, match="no column for the bytes"):
        mousehole.compare(pl.DataFrame({"start_s": [0.0], "client": [0], "server": [0]}), **SMALL)  # type: ignore[arg-type]


def test_compare__connection_without_bytes() -> None:
    with pytest.raises(mousehole.MouseholeError, match=r"traffic.connections\[0\]"):
        mousehole.compare([{"start_s": 0.0}], **SMALL)  # type: ignore[arg-type]


SCENARIO = """
schema = "mousehole.scenario/1"
seed = 3
duration = "20s"
warmup = "5s"
[link]
rate = "3mbit"
buffer = "40p"
[traffic]
model = "web:sfd"
load = 0.8
"""


def test_compare__takes_a_scenario_for_what_is_not_given(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SCENARIO)
    from_file = mousehole.compare(tmp_path / "a.toml", schemes="droptail,red", seeds=2)
    given = mousehole.compare(
        "web:sfd", rate="3mbit", buffer="40p", load=0.8, seed=3, duration="20s", warmup="5s",
        schemes="droptail,red", seeds=2, tcp="rfc",
    )  # fmt: skip
    assert from_file.label == "a.toml"
    assert from_file.buckets.equals(given.buckets)


def test_compare__options_go_before_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SCENARIO)
    done = mousehole.compare(tmp_path / "a.toml", schemes="droptail", buffer="20p,40p", rate="5mbit", seeds=1)
    assert [cell.buffer for cell in done.plan.cells] == ["20p", "40p"]
    assert done.manifest["scenario"]["link"]["down"] == "5mbit"
    assert done.manifest["scenario"]["seed"] == 3


def test_compare__without_a_rate_says_what_to_give() -> None:
    with pytest.raises(
        mousehole.MouseholeError, match="down: give the rate of the link, such as --down 20mbit --up 1mbit"
    ):
        mousehole.compare("web:sfd")


def test_rows__are_made_once_for_each_cell(grid: Comparison) -> None:
    made: list[str] = []
    bucket_rows = tables.table_rows("bucket", lambda *_, **__: made.append(""))
    results = replace(grid.results)
    for cell in [*grid.plan.cells, None]:
        bucket_rows(results, cell)
    assert len(made) == len(grid.plan.cells) * len(grid.plan.schemes) * len(grid.plan.buckets)


class PandasLike:
    """Columns by name, as pandas has them, without polars' methods."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.columns = list(rows[0])
        self._rows = rows

    def __getitem__(self, name: str) -> np.ndarray:
        return np.array([row[name] for row in self._rows])


def test_compare__takes_any_librarys_frame() -> None:
    rows = [{"start_s": 0.05 * n, "client": n % 5, "server": 0, "bytes": 12_000} for n in range(200)]
    settings: dict[str, Any] = {**SMALL, "load": 0.5, "seeds": 1, "schemes": "droptail"}
    own = mousehole.compare(PandasLike(rows), **settings)
    assert own.buckets.equals(mousehole.compare(pl.DataFrame(rows), **settings).buckets)
    with pytest.raises(mousehole.MouseholeError, match="no column for the bytes"):
        mousehole.compare(PandasLike([{"start_s": 0}]), **settings)


def make_small_capture(transfers: int = 400, clients: int = 80) -> list[dict[str, Any]]:
    """Returns connections with sizes of a Pareto distribution, one every 50 ms."""
    random = np.random.default_rng(3)
    sizes = np.minimum(2000 * (1 + random.pareto(1.2, transfers)), 1e6).astype(int)
    return [
        {"start_s": 0.05 * n, "client": n % clients, "server": 0, "bytes": int(size)}
        for n, size in enumerate(sizes)
    ]


@pytest.fixture(scope="module")
def captured() -> Comparison:
    """A small comparison on a capture."""
    return mousehole.compare(make_small_capture(), seeds=5, **SMALL)  # type: ignore[arg-type]


def test_compare__resamples_a_capture_in_each_replication(captured: Comparison) -> None:
    cell = captured.plan.cells[0]
    assert captured.plan.scenario(cell, "sfd")["traffic"]["resample"] is True
    clients = [set(captured.transfers("sfd", number)["client"]) for number in range(3)]
    assert clients[0] != clients[1] != clients[2]
    assert all(len(own) < 70 for own in clients), "of 80 clients, about 51 are drawn"
    assert clients[0] == set(captured.transfers("fq-codel", 0)["client"]), "the same under every scheme"
    assert captured.scenario("sfd", 2)["traffic"]["resample"] is True, "so that run repeats the same"
    native = {run.load["native"] for run in captured.results.runs(cell, "droptail")}
    assert len(native) == 1, "that of the capture"


def test_compare__a_model_is_not_resampled(comparison: Comparison) -> None:
    cell = comparison.plan.cells[0]
    assert "resample" not in comparison.plan.scenario(cell, "sfd")["traffic"]
    assert comparison.results.compared(cell).capture_share == 0
    assert tables.evidence_row(comparison.results, cell) is None


def test_evidence__counts_what_stands_behind_a_verdict(captured: Comparison) -> None:
    row = tables.evidence_row(captured.results, captured.plan.cells[0])
    assert row is not None
    short = [one for one in make_small_capture() if one["bytes"] <= 15_000]
    assert row.short_transfers == len(short)
    assert row.short_clients == len({one["client"] for one in short})
    assert 1 <= row.copies_least <= row.copies_most
    assert row.is_resampled
    assert 0 < row.capture_share <= 1
    capture = captured.results.capture
    assert capture is not None
    assert capture.pipe_bytes == 100_000, "of 10 Mbit/s and 80 ms"
    assert capture.large == sum(one["bytes"] > 100_000 for one in make_small_capture())
    primary = captured.finding_list[0]
    assert primary.slower_share is not None
    assert 0 < primary.slower_share + (primary.faster_share or 0) <= 1


def test_evidence__intervals_of_a_capture_do_not_shrink_with_replications(captured: Comparison) -> None:
    results, cell = captured.results, captured.plan.cells[0]
    wide, narrow = results.design(cell), replace(results, capture=None).design(cell)
    assert wide.half_width(1, 1000) > 0.3 > narrow.half_width(1, 1000)


def test_compare__two_transfers_get_no_verdict() -> None:
    found = mousehole.compare(make_small_capture(2, 2), seeds=5, **SMALL)  # type: ignore[arg-type]
    assert {item.outcome for item in found.finding_list} == {"undecided"}
    assert "2 distinct transfers" in found.finding_list[0].sentence


def test_report__says_what_stands_behind_the_verdicts(captured: Comparison) -> None:
    console = Console(width=110, record=True, file=io.StringIO())
    print_document(console, captured.document())
    text = " ".join(console.export_text().split())
    assert "distinct transfers ≤ 15 kB of 80 clients" in text
    assert "draws the capture's clients anew" in text
    assert "by transfers in the windows (standard deviation" in text


def test_report__says_that_there_is_no_steady_state() -> None:
    found = mousehole.compare("web:sfd", seeds=1, **{**SMALL, "load": 1.2})  # type: ignore[arg-type]
    assert "there is no steady state" in found.notes(found.plan.cells[0])[0]


def test_compare__warm_up_is_chosen_unless_given() -> None:
    chosen: dict[str, Any] = {
        **SMALL,
        "load": [0.3, 0.9],
        "duration": "40s",
        "schemes": "droptail",
        "seeds": 1,
    }
    del chosen["warmup"]
    found = mousehole.compare("poisson", **chosen)
    low, high = (found.plan.choose_warmup(cell) for cell in found.plan.cells)
    assert (low, high) == ("30s", "40s"), "no shorter than 30 s, no longer than the window"
    assert found.scenario(cell=found.plan.cells[1])["warmup"] == "40s"
    quick = mousehole.compare("poisson", quick=True, **{**chosen, "load": 0.9})
    assert quick.plan.choose_warmup(quick.plan.cells[0]) == "30s"
