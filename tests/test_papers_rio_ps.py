"""RIO-PS's measures and quantities on records made by hand; and that its definition is complete."""

from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from mousehole.base import MouseholeError
from mousehole.runs import RunResult

from papers import paper
from papers.parts import ClaimPart
from papers.rio_ps import measures, quantities
from papers.runs import Options

PAPER = paper.find_paper("rio-ps")
COUNTERS = ("arrived", "early", "forced", "dropped", "marked", "sent")


def make_colour(name: str, **counted: int) -> dict[str, Any]:
    """Returns the counters of a colour; those that are not given are 0."""
    return {"name": name, **dict.fromkeys(COUNTERS, 0), **counted}


class Records:
    """What a run leaves, as far as a measure asks for it."""

    def __init__(self, **records: Any) -> None:
        self._records = records

    def __getattr__(self, name: str) -> Any:
        """Returns a function that returns the records of this name."""
        return lambda: self._records[name]


def make_run(**records: Any) -> RunResult:
    """Returns these records as a run."""
    return cast(RunResult, Records(**records))


def test_definition__has_every_table_and_figure() -> None:
    assert [one.number for one in PAPER.definition.tables] == ["1", "4", "4-2", "SLR", "ECN", "reverse"]
    assert [one.number for one in PAPER.definition.figures] == ["2", "2b", "3", "7", "8", "9", "10", "11"]


# --- Figure 2 -------------------------------------------------------------------------------------


def test_with_transfers__spreads_transfers_of_one_size() -> None:
    made = measures.with_transfers({"duration": "100s"}, {"packets": "1000"})
    connections = made["traffic"]["connections"]
    assert len(connections) == 100
    assert connections[3] == {"start_s": 3.0, "client": 3, "writes": [{"bytes": 500_000}]}
    traced = measures.with_transfers({"duration": "100s", "trace": True}, {"packets": "1000"})
    assert len(traced["traffic"]["connections"]) == measures.TRACED_TRANSFERS


def make_transfers(seconds: list[float]) -> dict[str, Any]:
    """Returns transfers whose first byte comes at 1 s, and whose last byte `seconds` later."""
    count = len(seconds)
    return {"first_data_s": np.ones(count), "end_s": 1 + np.array(seconds), "rtt_s": np.full(count, 0.2)}


def test_transfer_times__counts_until_the_last_acknowledgement() -> None:
    queue = {"colours": [make_colour("green", arrived=9)]}
    found = measures.transfer_times(
        make_run(transfers=make_transfers([1.0, 3.0]), queues=[queue], trace=None)
    )
    assert found["mean_s"] == pytest.approx(2.1)
    assert found["cov"] == pytest.approx(1 / 2.1)
    assert np.isnan(found["wait_s"])


def test_transfer_times__refuses_what_the_experiment_excludes() -> None:
    unfinished = make_run(transfers=make_transfers([np.nan]), queues=[], trace=None)
    with pytest.raises(MouseholeError, match="did not end"):
        measures.transfer_times(unfinished)
    full = {"colours": [make_colour("green", forced=1)]}
    with pytest.raises(MouseholeError, match="overflowed"):
        measures.transfer_times(make_run(transfers=make_transfers([1.0]), queues=[full], trace=None))


def test_mean_wait__leaves_out_the_first_packet_and_other_connections() -> None:
    rows = [(0.0, 7, 0), (3.0, 7, 0), (3.1, 7, 1), (4.1, 7, 1), (9.0, 8, 0), (9.1, 8, 1), (11.1, 8, 2)]
    time_s, flow, seq = (np.array(column) for column in zip(*rows, strict=True))
    trace = {"event": ["send"] * 7, "time_s": time_s, "flow": flow, "seq": seq}
    assert measures.mean_wait_s(cast(Any, trace), 0.5) == pytest.approx(1.5)


def test_over_model__compares_with_the_model_of_the_cell() -> None:
    measured = {"mean_s": np.array(2 * 0.653), "wait_s": np.array(0.4)}
    assert quantities.over_model(measured, "10", "0.05") == pytest.approx(2.0, rel=1e-3)
    longer = quantities.over_model(measured, "10", "0.05", path={"rtt_s": 0.2})
    assert longer < 1.5
    waits = {**measured, "wait_s": np.array(4.0)}
    assert quantities.over_model(waits, "10", "0.05", measured_wait=True) < 1.7
    assert quantities.model_s(measured, "10", "0.05", "paper") == pytest.approx(0.760, abs=5e-4)


def test_figure_2__draws_model_beside_simulation_and_judges_the_causes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measures, "TRANSFERS", dict.fromkeys(measures.TRANSFERS, 3))
    monkeypatch.setattr(measures, "TRACED_TRANSFERS", 3)
    wanted = paper.Wanted(figure="2", pictures=tmp_path)
    parts = list(PAPER.reproduce(wanted, Options(seeds=1, jobs=1)))
    assert (tmp_path / "rio-ps-figure-2.png").stat().st_size > 20_000
    claims = [part for part in parts if isinstance(part, ClaimPart)]
    exact = [part.word for part in claims if part.kind == "exact"]
    assert len(exact) == 7
    assert set(exact) == {"agrees"}
    assert sum("why they part" in part.place for part in claims) == 6


# --- Figure 3, Table I ----------------------------------------------------------------------------

ROWS = (
    ("send", 0, 0), ("send", 1, 0), ("send", 0, 0), ("receive", 0, 0), ("receive", 1, 0), ("send", 0, 1),
    ("receive", 0, 1), ("receive", 0, 1), ("send", 1, 150), ("receive", 1, 150),
    ("send", 0, 0), ("receive", 0, 0), ("send", 0, 1),
)  # fmt: skip
"""Two connections that share slot 0, and a long one in slot 1; one event every tenth of a second."""


def make_trace() -> dict[str, Any]:
    """Returns `ROWS` as columns."""
    event, flow, seq = zip(*ROWS, strict=True)
    times = np.arange(len(ROWS)) / 10
    return {"event": list(event), "flow": np.array(flow), "seq": np.array(seq), "time_s": times}


def test_delivered__counts_every_segment_once_and_knows_slots_that_were_taken_over() -> None:
    short, long = measures.delivered(cast(Any, make_trace()))
    assert (short.packets, long.packets) == (3, 2)
    assert short.time_s.tolist() == pytest.approx([0.3, 0.6, 0.7, 1.1])


def test_two_classes__measures_shares_and_active_flows() -> None:
    under_way = {
        "bytes": np.array([1000, 500_000, 1000]),
        "start_s": np.array([0.0, 0.1, 1.0]),
        "end_s": np.array([0.7, np.nan, np.nan]),
    }
    queue = {"window_s": 1.5, "capacity_bps": 16_000}  # two packets in a window of half a second
    found = measures.two_classes(make_run(trace=make_trace(), transfers=under_way, queues=[queue]))
    assert found["short_share"].tolist() == [0.5, 1.0, 0.5]
    assert found["long_share"].tolist() == [0.5, 0.5, 0.0]
    assert found["short_active"].tolist() == [1.0, 0.0, 1.0]
    assert found["long_active"].tolist() == [1.0, 1.0, 1.0]
    arrays = {name: np.asarray(value) for name, value in found.items()}
    assert quantities.over_fair(arrays) == pytest.approx(1.0 / 0.75)


def test_share_by_phase__averages_over_periods() -> None:
    measured = {"short_share": np.concatenate([np.arange(20.0), np.arange(20.0) + 2, [99.0]])}
    assert quantities.share_by_phase(measured, "short_share").tolist() == list(range(1, 21))
    assert quantities.peak_share(measured) == 20.0


# --- Figures 7 and 9 to 11, Table IV --------------------------------------------------------------


def make_web_transfers(
    source: list[str], start_s: list[float], seconds: list[float], packets: list[int]
) -> dict[str, Any]:
    """Returns transfers in packets of 500 bytes; those of the source `reverse` are uploads."""
    return {
        "source": source,
        "start_s": np.array(start_s),
        "end_s": np.array(start_s) + np.array(seconds),
        "bytes": 500 * np.array(packets),
        "retransmits": np.full(len(source), 2),
        "upload": np.array([name == "reverse" for name in source]),
    }


QUEUE = {
    "name": "n3-n1",
    "window_s": 10.0,
    "utilisation": 0.9,
    "mean_queue_packets": 5.0,
    "colours": [
        make_colour("green", arrived=100, dropped=1, marked=1, sent=99),
        make_colour("yellow", arrived=50, dropped=2, marked=3, sent=48),
    ],
}
SERIES = {
    "link": ["n0-n3", "n0-n3", "n0-n3", "n3-n0"],
    "name": ["threshold_packets", "other", "threshold_packets", "threshold_packets"],
    "value": np.array([10.0, 99.0, 20.0, 99.0]),
}
SUMMARY = {"goodput_bps": 56_000.0}


def test_experiment__measures_web_transfers_by_octave_and_the_bottleneck() -> None:
    records = make_web_transfers(
        ["web", "web", "web", "reverse"], [0.0] * 4, [1.0, 3.0, np.nan, 9.0], [4, 7, 8, 5]
    )
    found = measures.experiment(make_run(transfers=records, queues=[QUEUE], series=SERIES, summary=SUMMARY))
    assert found["response_s"][0] == 2.0
    assert np.isnan(found["response_s"][1])
    assert found["unfinished"] == pytest.approx(1 / 3)
    assert found["goodput"] == 14.0
    assert found["signals"] == pytest.approx(7 / 150)
    assert (found["short_signals"], found["long_signals"]) == (pytest.approx(0.02), pytest.approx(0.1))
    assert found["threshold"] == 15.0
    assert "short_mean_s" not in found


def test_experiment__groups_foreground_flows_that_start_together() -> None:
    records = make_web_transfers(
        ["web", "short", "short", "short", "short"], [0.0, 25.0, 0.2, 25.5, 0.0], [9.0, 1, 1, 4, 3], [4] * 5
    )
    found = measures.experiment(make_run(transfers=records, queues=[QUEUE], series=SERIES, summary=SUMMARY))
    assert found["short_start_s"] == [0.0, 25.0]
    assert found["short_batch_s"] == [2.0, 2.5]
    assert found["short_fairness"] == [pytest.approx(0.8), pytest.approx(25 / 34)]
    assert found["short_outliers"] == 0.25
    assert found["short_times_s"][[0, -1]].tolist() == pytest.approx([1.0, 4.0], abs=0.1)


def test_fairness__is_one_for_equal_times_and_unknown_if_one_did_not_end() -> None:
    assert measures.fairness(np.array([2.0, 2.0])) == 1.0
    assert measures.fairness(np.array([1.0, 0.0])) == 0.5
    assert np.isnan(measures.fairness(np.array([2.0, np.nan])))


def make_responses(*response_s: float) -> dict[str, Any]:
    """Returns measured response times of three sizes."""
    return {"packets": np.array([4.0, 8.0, 16.0]), "response_s": np.array(response_s)}


def test_reduction__averages_octaves_between_two_sizes() -> None:
    red, rio = make_responses(2.0, 4.0, 8.0), make_responses(1.0, 3.0, 8.0)
    assert quantities.reduction(rio, red, 4, 16) == pytest.approx(0.375)
    assert quantities.reduction(rio, red, 8, 32) == pytest.approx(0.125)
    assert quantities.more_reduction(rio, red, red, red, 4, 16) == pytest.approx(0.375)


def test_goodput__is_per_2000_s() -> None:
    assert quantities.goodput({"goodput": np.array(2100.0)}) == 4_200_000
    rates = {"short_signals": np.array(0.01), "long_signals": np.array(0.04)}
    assert quantities.class_ratio(rates) == 0.25


# --- Figure 8 -------------------------------------------------------------------------------------


def test_queue_at__follows_arrivals_and_the_link() -> None:
    entered = np.array([0.0, 0.1, 0.2, 5.0])
    times = np.array([0.05, 0.25, 1.5, 2.5, 3.5, 5.5])
    assert measures.queue_at(entered, 1.0, times).tolist() == [1, 3, 2, 1, 0, 1]


def test_traced__has_rates_of_the_last_seconds_by_place_in_the_flow() -> None:
    events = [
        ("enqueue", 1.0, 0),
        ("mark", 1.0, 0),
        ("enqueue", 2.0, 50),
        ("drop", 2.0, 50),
        ("enqueue", 30.0, 0),
    ]
    event, time_s, seq = zip(*events, strict=True)
    trace = {"event": list(event), "time_s": np.array(time_s), "seq": np.array(seq)}
    summary = {"window_begin_s": 20.0, "window_end_s": 41.0}
    found = measures.traced(make_run(trace=trace, queues=[{"capacity_bps": 4000}], summary=summary))
    assert found["time_s"][-1] == 20.0
    assert found["signals"][[0, 10, 20]].tolist() == [1.0, 0.0, 0.0]
    assert found["first_signals"][0] == 1.0
    assert found["later_signals"][[0, 1, 10]].tolist() == [1.0, 1.0, 0.0]
    assert found["queue_packets"][[10, 11, 12]].tolist() == [0.0, 1.0, 0.0]  # entered at 30, sent in 1 s


def test_traced__needs_a_trace() -> None:
    with pytest.raises(MouseholeError, match="trace = true"):
        measures.traced(make_run(trace=None, queues=[{}], summary={}))
