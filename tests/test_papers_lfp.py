"""LFP's measures and quantities on hand-made records with known answers, and one short run of each grid."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from papers import paper
from papers.lfp import measures, quantities
from papers.paper import Wanted
from papers.parts import ClaimPart, Table
from papers.runs import Options


def make_record(**columns: Any) -> SimpleNamespace:
    """Returns the records of a run with five flows: three short, two long; one has not ended."""
    transfers = {
        "start_s": np.zeros(5),
        "end_s": np.array([0.1, 0.3, 0.2, 2.0, np.nan]),
        "bytes": np.array([100, 1460, 14_600, 14_601, 146_000], np.uint64),
        "retransmits": np.array([0, 1, 0, 0, 4], np.uint32),
        "dropped": np.array([0, 1, 0, 0, 3], np.uint32),
        **columns,
    }
    colours = [{"name": "green", "arrived": 90, "dropped": 1, "arrived_bytes": 125_000}]
    colours += [{"name": "red", "arrived": 110, "dropped": 3, "arrived_bytes": 125_000}]
    queue = {"window_s": 10.0, "sent_bytes": 240_000, "colours": colours}
    summary = {"goodput_bps": 180_000.0, "window_begin_s": 2.0, "window_end_s": 12.0}
    series = {"time_s": [0.0, 7.0], "value": [20.0, 40.0]}
    return SimpleNamespace(
        transfers=lambda: transfers, queues=lambda: [queue], summary=lambda: summary, series=lambda: series
    )


def measure(**columns: Any) -> dict[str, Any]:
    """Returns the measures of a run made by hand, with these columns in place of its own."""
    run: Any = make_record(**columns)
    return {name: np.asarray(value, np.float64) for name, value in measures.measure(run).items()}


def test_measure__load_is_of_what_reaches_the_bottleneck() -> None:
    run = measure()
    assert run["goodput"] == pytest.approx(0.18)
    assert run["throughput"] == pytest.approx(0.2)
    assert run["overhead"] == pytest.approx(0.1)
    assert run["utilisation"] == pytest.approx(0.09)


def test_measure__drops_are_of_packets_and_of_flows() -> None:
    run = measure()
    assert run["dropped"] == pytest.approx(4 / 200)
    assert run["hit"] == pytest.approx(2 / 5)
    assert run["short_dropped"] == pytest.approx(1 / (1 + 1 + 1 + 10))
    assert run["long_dropped"] == pytest.approx(3 / (11 + 100 + 4))


def test_measure__a_flow_of_ten_packets_is_short_and_one_byte_more_is_long() -> None:
    run = measure()
    assert run["short_flows"] == pytest.approx(3 / 5)
    assert run["short_bytes"] == pytest.approx(16_160 / 176_761)
    assert run["short_mean_s"] == pytest.approx(0.2)
    assert run["short_std_s"] == pytest.approx(np.std([0.1, 0.3, 0.2]))
    up_to_ten = list(run["size"]).index(10)
    assert run["flows_up_to"][up_to_ten] == run["short_flows"]
    assert run["bytes_up_to"][up_to_ten] == run["short_bytes"]


def test_measure__connections_are_latency_over_time_and_flows_linger() -> None:
    run = measure()
    assert run["connections"] == pytest.approx(2.6 / 10)
    assert run["flows"] == pytest.approx((2.6 + 5 * 5) / 10)


def test_measure__the_quantile_is_a_mean_over_the_measured_time() -> None:
    run = measure()
    assert run["quantile"] == pytest.approx((5 * 20 + 5 * 40) / 10)
    assert run["elephants"] == pytest.approx(110 / 200), "of packets, not of flows"
    plain = make_record()
    plain.series = lambda: {"time_s": [], "value": []}
    without: Any = plain
    assert np.isnan(measures.measure(without)["quantile"])


def test_latency_of__weights_classes_by_their_flows() -> None:
    run = measure(end_s=np.array([0.1, 0.2, 0.6, 2.0, 9.0]))
    assert quantities.average_latency(run, 1, 1) == pytest.approx(0.15)
    assert quantities.average_latency(run, 1, 10) == pytest.approx(0.3)
    assert quantities.average_latency(run, 11, 10**9) == pytest.approx(5.5)


def test_excess_of_worst__is_over_the_greater_of_the_others() -> None:
    slow, middle, fast = (measure(end_s=np.full(5, end)) for end in (0.9, 0.5, 0.2))
    assert quantities.excess_of_worst(slow, fast, middle, 1, 10) == pytest.approx(0.4)
    assert quantities.excess_of_worst(middle, slow, fast, 1, 10) == pytest.approx(-0.4)


def test_positions__begin_with_the_first_syn_ack_of_a_connection() -> None:
    slot = np.array([0, 0, 0, 0, 0, 1, 1, 1], np.uint32)
    opens = np.array([True, False, False, True, False, True, True, False])
    assert list(measures.positions(slot, opens)) == [1, 2, 3, 1, 2, 1, 2, 3], (
        "the repeated SYN-ACK is the second packet"
    )


def test_identities__hold_in_the_published_table() -> None:
    assert len(quantities.published_rows()) == 9
    assert quantities.utilisation_error() == pytest.approx(0.0005, abs=1e-9)
    assert quantities.overhead_error() == 0.0


def test_identities__find_a_wrong_row(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"utilisation": 0.19, "throughput": 0.371, "goodput": 0.356, "overhead": 0.05}
    monkeypatch.setattr(quantities, "published_rows", lambda: [row])
    assert quantities.utilisation_error() == pytest.approx(0.012)
    assert quantities.overhead_error() == pytest.approx(0.05 - 0.016 / 0.3715)


def test_classes__begin_where_the_claims_do() -> None:
    for claim in paper.find_paper("lfp").definition.claims:
        if "least" in claim.args:
            assert claim.args["least"] in measures.LATENCY_FROM
            assert claim.args["most"] + 1 in measures.LATENCY_FROM or claim.args["most"] >= 10**6


def shorten_paper() -> paper.Paper:
    """Returns the paper with runs of a minute."""
    own = paper.find_paper("lfp")
    definition = own.definition
    for grid in definition.grids.values():
        grid.quick.clear()
    definition.quick.scenario.update(warmup="5s", duration="60s")
    return own


@pytest.mark.filterwarnings("ignore:divide by zero")  # so short a run may lose nothing
def test_table_1__has_a_row_for_each_load_and_scheme() -> None:
    parts = list(shorten_paper().reproduce(Wanted(table="1"), Options(seeds=2)))
    table, drops, connections = [part for part in parts if isinstance(part, Table)]
    assert [tuple(row[:2]) for row in table.rows] == [
        (load, scheme) for load in ("6", "10", "14") for scheme in ("DT", "RED", "LFP")
    ]
    assert [row[2] for row in table.rows[:3]] == ["17.8 %", "18.1 %", "17.8 %"]
    assert [row[4] for row in drops.rows[:3]] == ["0.12 %", "1.56 %", "0.16 %"]
    assert [row[1] for row in connections.rows] == ["3.22", "4.81", "6.91"]


def test_offered__names_table_1_once() -> None:
    assert (
        paper.find_paper("lfp")
        .list_items()
        .startswith("table 1; figure 2, 5, 6, 7, 8, 9, 10; claim L1 to L10")
    )


def test_l9__the_first_packets_are_green_in_every_run() -> None:
    parts = list(shorten_paper().reproduce(Wanted(claim="L9"), Options(seeds=5)))
    (first,) = [part for part in parts if isinstance(part, ClaimPart) and part.part == "first packets"]
    assert first.word == "agrees"
    assert first.lines[0].ours == "100.00 %"
