import tomllib
from math import inf
from pathlib import Path

import numpy as np
import pytest
from mousehole import run
from mousehole import tcp_model as model
from mousehole._engine import parse_duration
from mousehole.base import MouseholeError
from numpy.testing import assert_allclose

LOSSY = Path(__file__).parents[2] / "papers" / "rio_ps" / "scenarios" / "lossy-link.toml"
SIZES = (1, 10, 100, 1000, 10000)
REFERENCE = """
.001  .203/.103   .451/.351   .785/.685   2.087/1.985 25.39/25.29
.003  .210/.109   .463/.362   .849/.748   4.351/4.247 47.84/47.74
.01   .233/.131   .501/.400   1.173/1.069 9.688/9.580 97.30/97.19
.02   .268/.163   .558/.456   1.718/1.610 15.46/15.35 153.5/153.4
.05   .376/.267   .760/.653   3.424/3.310 31.32/31.20 310.3/310.2
.10   .577/.475   1.197/1.092 6.453/6.344 59.37/59.26 588.6/588.5
.20   1.112/1.100 2.418/2.416 14.01/13.99 129.6/129.6 1286/1286
.30   1.995/2.350 4.373/4.808 25.92/26.36 241.2/241.7 2394/2395
"""
"""Seconds, as the paper adds up / first packet counted once; RTT 0.1 s, RTO 0.4 s, ITO 3 s, b = 1, no W_max.

Worked out from the published equations by other code than ours.
"""


def list_reference_cells() -> list[tuple[float, int, model.Reading, str]]:
    """Returns the reference values: p, packets, reading, and the text of the latency."""
    cells: list[tuple[float, int, model.Reading, str]] = []
    for line in REFERENCE.strip().splitlines():
        p, *pairs = line.split()
        for packets, pair in zip(SIZES, pairs, strict=True):
            paper_s, consistent_s = pair.split("/")
            cells += [
                (float(p), packets, "paper", paper_s),
                (float(p), packets, "consistent", consistent_s),
            ]
    return cells


def test_latency__is_the_reference_table_to_its_last_digit() -> None:
    cells = list_reference_cells()
    assert len(cells) == 80
    for p, packets, reading, expected in cells:
        digits = len(expected.partition(".")[2])
        ours = f"{float(model.latency_s(p, packets, reading=reading)):.{digits}f}"
        assert ours.removeprefix("0") == expected, (p, packets, reading)


def test_latency__broadcasts() -> None:
    p, packets = np.array([[0.001], [0.05], [0.2]]), np.array([1, 10, 1000])
    table = model.latency_s(p, packets)
    assert table.shape == (3, 3)
    assert table[1, 2] == float(model.latency_s(0.05, 1000))


def test_latency__without_loss_is_slow_start_alone() -> None:
    assert_allclose(model.latency_s(0, [1, 3, 7, 1023], reading="consistent"), [0.1, 0.2, 0.3, 1.0])
    assert_allclose(model.latency_s(0, [1, 3, 7, 1023]), [0.2, 0.3, 0.4, 1.1])
    assert_allclose(model.latency_s(1e-9, SIZES), model.latency_s(0, SIZES), rtol=1e-4)


def test_first_packet__matches_drawn_waits() -> None:
    losses = np.random.default_rng(1).geometric(0.8, 400_000) - 1
    waits = 0.1 + 3.0 * (2.0**losses - 1)
    # The mean of 2^losses has a heavy tail: its variance is finite for p < 1/4 only.
    assert_allclose(model.first_packet_s(0.2), waits.mean(), rtol=0.02)
    assert_allclose(model.first_packet_s([0.05, 0.2]), [0.26667, 1.1], rtol=1e-4)
    assert_allclose(model.first_packet_approximate_s([0.05, 0.2]), [0.2533, 0.8787], rtol=1e-3)


def test_slow_start_packets__is_the_mean_over_where_the_first_loss_falls() -> None:
    p, packets = 0.05, 10
    first_loss = np.arange(1, packets + 1)
    chance = (1 - p) ** (first_loss - 1) * p
    before = np.sum(chance * (first_loss - 1)) + (1 - p) ** packets * packets
    assert_allclose(model.slow_start_packets(p, packets), before + 1)
    assert_allclose(model.slow_start_packets([0, 1e-6], packets), packets)


def test_slow_start__at_the_window_limit_adds_full_rounds() -> None:
    path = model.Path(max_window=4)
    # Windows 1, 2, 4, 4, 4 carry 15 packets; without the limit 1, 2, 4, 8 do.
    assert_allclose(model.slow_start_s(15, path), 0.5)
    assert_allclose(model.slow_start_s(15), 0.4)
    assert_allclose(model.slow_start_s(3, path), 0.2)


def test_timeout_share__is_the_sum_over_the_round_and_the_next() -> None:
    def by_cases(p: float, window: int) -> float:
        kept = np.arange(window)
        chance = (1 - p) ** kept * p / (1 - (1 - p) ** window)
        too_few = 1 - (1 - p) ** 3
        return float(np.sum(chance * np.where(kept < 3, 1.0, too_few)))

    for p in (0.001, 0.05, 0.3):
        for window in (4, 10, 60):
            assert_allclose(model.timeout_share(p, window), by_cases(p, window))
    assert_allclose(model.timeout_share(0.1, [0, 1, 3]), 1.0)
    assert_allclose(model.timeout_share([0.0, 1e-8], 30), 0.1, rtol=1e-6)


def test_backoff_factor__doubles_six_times() -> None:
    assert_allclose(model.backoff_factor([0, 0.1]), [1, 1.124992])
    assert_allclose(model.timeouts_s(0.1), 0.4 * 1.124992 / 0.9)


def test_steady_state__window_and_both_rates() -> None:
    assert_allclose(model.steady_window([0.01, 0.1]), [17.2788, 6.0], rtol=1e-4)
    assert_allclose(model.steady_rate([0.01, 0.1]), [102.7, 17.0], rtol=1e-3)
    assert_allclose(model.steady_rate([0.01, 0.1], form="send rate"), [111.0, 21.1], rtol=2e-3)


def test_steady_rate__follows_the_square_root_law_where_timeouts_do_not_count() -> None:
    quick = model.Path(rto_s=1e-9)
    for acks in (1, 2):
        path = model.Path(rto_s=quick.rto_s, packets_per_ack=acks)
        assert_allclose(model.steady_rate(1e-8, path) * 0.1 * np.sqrt(1e-8), np.sqrt(1.5 / acks), rtol=1e-3)


def test_steady_rate__is_limited_by_the_receiver() -> None:
    small = model.Path(max_window=20)
    assert_allclose(model.steady_rate(1e-6, small), 200, rtol=0.01)
    assert_allclose(model.steady_rate(0.05, small), model.steady_rate(0.05))
    assert_allclose(model.steady_rate(0.001, model.Path(max_window=1e6)), model.steady_rate(0.001))


def test_latency__grows_with_loss_size_and_every_time_of_the_path() -> None:
    p = np.geomspace(1e-4, 0.4, 60)
    for packets in SIZES:
        assert np.all(np.diff(model.latency_s(p, packets)) > 0)
    assert np.all(np.diff(model.latency_s(0.03, np.arange(1, 500))) > 0)
    base = float(model.latency_s(0.05, 50))
    for slower in ({"rtt_s": 0.2}, {"rto_s": 1.0}, {"initial_rto_s": 6.0}, {"packets_per_ack": 2}):
        assert float(model.latency_s(0.05, 50, model.Path(**slower))) > base


@pytest.mark.parametrize("p", [-0.1, 1.0, float("nan")])
def test_latency__refuses_what_is_no_probability(p: float) -> None:
    with pytest.raises(MouseholeError, match=rf"p is {p}; it must be a probability"):
        model.latency_s([0.1, p], 10)


def test_model__refuses_what_it_is_not_defined_for() -> None:
    with pytest.raises(MouseholeError, match=r"packets is 0\.0; it must be a finite number, 1 or more"):
        model.latency_s(0.1, [3, 0])
    with pytest.raises(MouseholeError, match="finite"):
        model.latency_s(0.1, inf)
    with pytest.raises(MouseholeError, match=r"p is 0\.5; it must be below 0\.5"):
        model.latency_s(0.5, 10, reading="consistent")
    with pytest.raises(MouseholeError, match="without loss the steady rate is not defined"):
        model.steady_rate(0)
    with pytest.raises(MouseholeError, match="rtt_s is 0"):
        model.Path(rtt_s=0)
    with pytest.raises(MouseholeError, match="max_window"):
        model.Path(max_window=0.5)


@pytest.mark.parametrize("p", [0.01, 0.05, 0.1])
def test_simulation__of_one_packet_is_the_exact_wait(p: float) -> None:
    connections = [{"start_s": i / 200, "client": i, "writes": [{"bytes": 500}]} for i in range(20_000)]
    scenario = {
        "schema": "mousehole.scenario/1",
        "warmup": "0s",
        "duration": "100s",
        "link": {"rate": "1000gbit", "rtt": "100ms", "buffer": "100000p"},
        "tcp": {"profile": "ns2-2001", "mss": 500, "initial_rto": "3s"},
        "traffic": {"connections": connections},
        "faults": [{"link": "down", "bernoulli": p}],
    }
    transfers = run(scenario).transfers
    seconds = (transfers["end_s"] - transfers["start_s"]).to_numpy() + 0.05
    half = 4 * float(np.std(seconds)) / np.sqrt(len(seconds))
    assert abs(float(np.mean(seconds)) - float(model.first_packet_s(p))) < half < 0.15


@pytest.mark.skipif(not LOSSY.exists(), reason="NOT RUN: papers/ is part of the source checkout only")
def test_paper_figure_2__simulates_the_path_of_the_model() -> None:
    scenario = tomllib.loads(LOSSY.read_text(encoding="utf-8"))
    seconds = {
        "rtt_s": scenario["link"]["rtt"],
        "rto_s": scenario["tcp"]["min_rto"],
        "initial_rto_s": scenario["tcp"]["initial_rto"],
    }
    for name, text in seconds.items():
        assert parse_duration(name, text) == getattr(model.FIGURE_2, name)
