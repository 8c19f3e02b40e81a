"""TCP-DS's folder: how scenarios are built, what is measured of a run, and the quantities made of it."""

import tomllib
from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mousehole import _engine
from mousehole.runs import RunResult, run_one

from papers import paper
from papers.counters import arrived_share
from papers.runs import Options, Runs
from papers.schemes import merge
from papers.tcp_ds import measures, quantities

SCENARIO = Path(__file__).parents[1] / "papers" / "tcp_ds" / "scenarios" / "tree.toml"


def read_tree() -> dict[str, Any]:
    """Returns the paper's scenario as its file has it."""
    return tomllib.loads(SCENARIO.read_text(encoding="utf-8"))


def run_short_tree(change: dict[str, Any]) -> RunResult:
    """Returns 6 s, after 2 s of warm-up, of the paper's tree with `change` merged in."""
    scenario = merge(read_tree(), {"warmup": "2s", "duration": "6s", **change})
    return run_one(measures.build(scenario, {}), None, _engine.Cancel())


def list_sources(scenario: dict[str, Any]) -> set[str]:
    """Returns the sources of a scenario, without the numbers of their groups."""
    return {measures.strip_group(entry["name"]) for entry in scenario["traffic"]["mix"]}


def list_hosts(kinds: tuple[str, ...]) -> Iterator[int]:
    """Yields the numbers of the hosts of all users of these sources."""
    for entry in read_tree()["traffic"]["mix"]:
        if measures.strip_group(entry["name"]) in kinds:
            params = entry["params"]
            for user in range(params["users"]):
                yield params["first_host"] + user * params.get("host_step", 1)


@pytest.mark.parametrize(
    "kinds", [("http10", "http11", "probe10", "probe11"), ("ftp", "ftp-probe")], ids=["browsers", "files"]
)
def test_tree__has_one_source_of_a_kind_on_every_host(kinds: tuple[str, ...]) -> None:
    assert Counter(list_hosts(kinds)) == Counter(range(400))


def test_tree__has_reverse_files_on_one_host_in_four_and_on_one_probe_in_four() -> None:
    reverse = set(list_hosts(("reverse",)))
    assert len(reverse) == 100
    for kind in ("probe10", "probe11", "ftp-probe"):
        probes = list(list_hosts((kind,)))
        assert len(probes) == 20
        assert len(reverse.intersection(probes)) == 5


def test_build__leaves_a_scenario_without_changes_as_it_is() -> None:
    assert measures.build(read_tree(), {}) == read_tree()


def test_build__changes_leaves_out_and_picks_sources() -> None:
    changed = measures.build(
        {**read_tree(), "sources": {"reverse": False, "ftp": {"params": {"off_s": 5}}}}, {}
    )
    assert "sources" not in changed
    assert list_sources(changed) == list_sources(read_tree()) - {"reverse"}
    files = [one["params"] for one in changed["traffic"]["mix"] if one["name"].startswith("ftp ")]
    assert files[0] == {"users": 25, "first_host": 0, "off_s": 5}
    assert all(one["off_s"] == 5 for one in files)
    assert list_sources(measures.build({**read_tree(), "sources": {"only": True, "telnet": True}}, {})) == {
        "telnet"
    }


@pytest.mark.parametrize(
    ("scheme", "built"),
    [
        ("tcp-ds(high=4)", "tcp-ds(high=4,low_min=1%)"),
        ("red(maxp=0.1)", "red(maxp=0.1,min=20%)"),
        ("droptail", "droptail"),
    ],
)
def test_build__gives_thresholds_to_the_schemes_that_have_them(scheme: str, built: str) -> None:
    scenario = {**read_tree(), "scheme": scheme, "thresholds": "low_min=1%", "red_thresholds": "min=20%"}
    assert measures.build(scenario, {})["scheme"] == built


def test_axes__make_scenarios_of_every_cell_that_the_engine_accepts() -> None:
    definition = paper.find_paper("tcp-ds").definition
    runs = Runs(definition, SCENARIO.parents[1], measures, Options())
    scenario = runs.scenario(runs.request("main", {"speed": "60", "scheme": "TCP-DS", "rto": "1 s"}))
    assert scenario["topology"]["params"]["rate"] == "60mbit"
    assert scenario["host_stage"] == {"users": 400, "mark": True}
    assert scenario["tcp"]["initial_rto"] == "1s"
    tenth = runs.scenario(runs.request("tenth", {"scheme": "WRR 5 %"}))
    assert tenth["topology"]["params"]["user_rate"] == "150kbit"
    assert tenth["scheme"] == "wrr(weight=5)"


def time_pages(rows: list[tuple[int, int, float, float]], until_s: float = 100.0) -> list[float]:
    """Returns the times of pages of three transfers, given (page, bytes, start, end) of each."""
    page, size, start, end = (np.array(column) for column in zip(*rows, strict=True))
    transfers: Any = {
        "page": page,
        "bytes": size,
        "start_s": start,
        "page_transfers": np.full(page.size, 3),
        "rtt_s": np.full(page.size, 0.08),
    }
    took = np.where(np.isnan(end), inf, end - start)
    seconds, rtt_s = measures.page_times(transfers, took, np.ones(page.size, bool), until_s)
    assert rtt_s.tolist() == [0.08] * seconds.size
    return list(seconds)


def test_page_times__last_from_the_first_request_to_the_last_byte() -> None:
    assert time_pages([(1, 1000, 5.0, 6.0), (1, 10000, 6.0, 19.0), (1, 10000, 6.0, 8.0)]) == [14.0]


def test_page_times__are_endless_where_a_transfer_did_not_end_or_begin() -> None:
    not_ended = [(1, 1000, 5.0, 6.0), (1, 10000, 6.0, np.nan), (1, 10000, 6.0, 8.0)]
    not_begun = [(2, 1000, 5.0, np.nan)]
    whole = [(3, 1000, 5.0, 6.0), (3, 10000, 6.0, 7.0), (3, 10000, 6.0, 8.0)]
    assert time_pages(not_ended + not_begun + whole) == [inf, inf, 3.0]


def test_page_times__leave_out_pages_of_the_warm_up_and_of_the_end() -> None:
    begun_before = [(1, 10000, 6.0, 9.0), (1, 10000, 6.0, 8.0)]
    too_late = [(2, 1000, 81.0, 82.0), (2, 10000, 82.0, 83.0), (2, 10000, 82.0, 83.0)]
    assert time_pages(begun_before + too_late, until_s=80.0) == []


def test_quantiles__are_values_that_occurred() -> None:
    found = measures.quantiles(np.array([3.0, 1.0, inf, 2.0]))
    assert found.size == measures.LEVELS.size
    assert (found[0], found[100], found[-1]) == (1.0, 2.0, 3.0)
    assert np.isnan(measures.quantiles(np.array([]))).all()


def make_colour(name: str, arrived: int, dropped: int) -> Any:
    """Returns a colour with these counts of packets."""
    return {"name": name, "arrived": arrived, "dropped": dropped}


def test_losses__are_of_a_colour_of_a_link_and_of_all_links() -> None:
    colours = [make_colour("green", 60, 3), make_colour("yellow", 40, 10), make_colour("red", 0, 0)]
    assert arrived_share(colours, "dropped") == pytest.approx(0.13)
    shares = measures.shares(colours)
    assert (shares["green_loss"], shares["green_share"]) == (0.05, 0.6)
    assert np.isnan(shares["red_loss"])
    queues: Any = [{"colours": colours}, {"colours": [make_colour("green", 9, 2), make_colour("red", 9, 9)]}]
    assert measures.dropped_green(queues) == 5.0


def test_samples_bps__count_the_bits_of_each_flow_and_interval() -> None:
    time_s = np.array([10.5, 11.0, 12.5, 13.0, 9.0, 14.5])
    flow, size = np.array([0, 1, 1, 1, 0, 0]), np.full(6, 1000)
    found = measures.samples_bps(time_s, flow, size, 2, 10.0, 14.9)
    assert found.tolist() == [[4000.0, 0.0], [4000.0, 8000.0]]


def make_levels(value: float, above: float, share: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns quantiles of which a share is `above` and the rest `value`."""
    return np.where(measures.LEVELS + share + 1e-9 < 1.0, value, above)


def test_quantities__count_long_and_endless_times_as_the_tail() -> None:
    run = {"x": make_levels(1.0, inf, 0.5)}
    assert quantities.mean_s(run, "x") == pytest.approx((1.0 + measures.TAIL_S) / 2)
    assert quantities.mean_change(run, {"x": make_levels(2.0, 2.0, 0.0)}, "x") == pytest.approx(6.75)
    assert quantities.level_change(run, {"x": make_levels(2.0, inf, 0.5)}, "x", 0.25) == pytest.approx(-0.5)
    assert quantities.level_change(run, {"x": make_levels(1.0, 10.0, 0.5)}, "x", 0.75) == pytest.approx(2.0)
    assert quantities.at_level(run, "x", 0.49) == 1.0
    assert quantities.at_level(run, "x", 0.5) == inf
    known = quantities.known_s(run, "x")
    assert np.isnan(known[100:]).all()
    assert (known[:100] == 1.0).all()


def test_quantities__compare_both_versions_of_http() -> None:
    run = {"page_10_s": make_levels(2.0, 10.0, 0.4), "page_11_s": make_levels(1.0, 2.0, 0.4)}
    assert quantities.slower(run) == pytest.approx(0.6 * 2 + 0.4 * 10 - 0.6 - 0.4 * 2)
    assert quantities.more_variable(run) == pytest.approx(8.0 - 1.0)


def test_rtt_matters_less__is_the_distance_of_speeds_less_that_of_round_trip_times() -> None:
    slow = {"done_10": np.array([[0.0, 0.1], [0.0, 0.3]])}
    fast = {"done_10": np.array([[0.5, 1.0], [0.3, 1.0]])}
    mine = {"done_10": np.array([[0.4, 0.8], [0.3, 0.5]])}
    assert quantities.rtt_matters_less(mine, slow, fast) == pytest.approx(0.8 - 0.3)


def test_scaled_share__is_negative_where_a_share_is_small_enough() -> None:
    assert quantities.scaled_share({"late": np.array(0.02)}, {"late": np.array(0.3)}, "late", 0.1) < 0
    assert quantities.scaled_share({"late": np.array(0.04)}, {"late": np.array(0.3)}, "late", 0.1) > 0


def test_telnet_alone__has_the_published_load_and_no_queueing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "TAIL_S", 1.0)
    found = measures.measure(run_short_tree({"duration": "10s", "sources": {"only": True, "telnet": True}}))
    assert 1.0 < found["load_mbps"] < 2.0, "section II.B: less than 2 Mb/s"
    assert (found["loss"], found["slow_echoes"], found["telnet_resent"]) == (0.0, 0.0, 0.0)
    assert found["echo_80_s"][100] == pytest.approx(0.08, abs=0.01)
    assert found["bad_echoes_80"] == 0.0
    assert np.isnan(found["late_10"])


def test_measure_long__finds_the_endless_flows_in_the_trace() -> None:
    endless = {"params": {"endless": True, "start_spread_s": 0}}
    change = {"trace": True, "topology": {"params": {"rate": "60mbit"}}, "sources": {"ftp-probe": endless}}
    found = measures.measure_long(run_short_tree(change))
    assert found["goodput_bps"].size == 20
    # goodput counts payload at the time when all before it has come, the trace packets as they come
    assert np.corrcoef(found["goodput_bps"], found["throughput_bps"])[0, 1] > 0.98
    assert np.sum(found["throughput_bps"]) == pytest.approx(np.sum(found["goodput_bps"]), rel=0.15)
    assert found["cov_over_time"] > 0
