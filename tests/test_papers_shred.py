"""SHRED's measures, quantities and scenarios on records with known answers."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from mousehole.base import MouseholeError, Silent
from mousehole.runs import run_all
from mousehole.scenario import fill_in

from papers import paper
from papers.definition import read_toml
from papers.runs import Measured, Options
from papers.schemes import merge, write_scheme
from papers.shred import measures, quantities

BASE = read_toml(paper.find_paper("shred").folder / "scenarios" / "dumbbell.toml")


class Records:
    """What the measures read of a run."""

    def __init__(self, **given: Any) -> None:
        self.given = given

    def queues(self) -> Any:
        return [{"colours": self.given["colours"], "delay_p99_s": 0.17}]

    def transfers(self) -> Any:
        return self.given["transfers"]

    def flows(self) -> Any:
        return {"goodput_bps": np.array(self.given.get("rates", []))}

    def summary(self) -> Any:
        return {"window_begin_s": 10.0, "window_end_s": 20.0}

    def trace(self) -> Any:
        return self.given.get("trace")


def make_colours(**counts: tuple[int, int]) -> list[dict[str, Any]]:
    """Returns the counters of three colours from (arrived, dropped) of some; the others are 0."""
    names = ("green", "yellow", "red")
    pairs = {name: counts.get(name, (0, 0)) for name in names}
    return [{"name": name, "arrived": pairs[name][0], "dropped": pairs[name][1]} for name in names]


def make_measured(**given: Any) -> Measured:
    """Returns these values as measures."""
    return {name: np.asarray(value, np.float64) for name, value in given.items()}


def run(change: Mapping[str, Any], measure: Any = measures.measure) -> Any:
    """Returns the measures of one run of the paper's scenario with a change."""
    scenario = measures.mix(merge(BASE, change), {})
    return run_all({0: scenario}, measure, Silent(), 1)[0]


# --- measures --------------------------------------------------------------------------------------


def test_measure__counts_objects_pages_and_drops() -> None:
    transfers = {
        "start_s": np.array([10.0, 10.0, 12.0, 19.0]),
        "end_s": np.array([10.44, 12.44, 12.94, np.nan]),
        "rtt_s": np.full(4, 0.12),
        "page": np.array([1, 1, 2, 3], np.uint64),
        "bytes": np.array([900, 3000, 7000, 500], np.uint64),
        "retransmits": np.array([0, 1, 0, 0], np.uint32),
    }
    records = Records(
        transfers=transfers, rates=[4e6, 4e6], colours=make_colours(yellow=(60, 3), red=(40, 1), green=(0, 0))
    )
    found = measures.measure(records)  # type: ignore[arg-type]
    assert found["within_1s"] == 0.5, "0.5 and 1.0 s; 2.5 s and the one without end are late"
    assert found["pages_within_1s"] == pytest.approx(1 / 3)
    assert found["active"] == pytest.approx((0.5 + 2.5 + 1.0 + 1.0) / 10), (
        "the last one until the window ends"
    )
    assert found["late"][0] == 0.5
    assert found["late"][-1] == 0.25
    assert found["typical_s"][0] == math.inf, "the median of 0.5 s and no end"
    assert np.isnan(found["typical_s"][1])
    assert found["typical_s"][2] == pytest.approx(1.0)
    assert found["delivered"] == pytest.approx(8.32)
    assert found["jain"] == 1.0
    shares = [found[name] for name in ("drops", "web_drops", "ftp_drops", "web_arrivals")]
    assert shares == pytest.approx([0.04, 0.03, 0.01, 0.6])


def test_done_by__is_a_distribution_function() -> None:
    found = measures.done_by(np.array([0.5, 1.0, np.inf, 3.0]), np.array([0.4, 0.5, 1.0, 10.0]))
    assert list(found) == [0.0, 0.25, 0.5, 0.75]
    assert np.isnan(measures.done_by(np.empty(0), np.ones(2))).all()


def test_slowest__is_the_longest_of_each_page() -> None:
    seconds = np.array([0.5, 2.0, 0.1, np.inf, 0.3])
    assert list(measures.slowest(seconds, np.array([1, 1, 2, 2, 3], np.uint64))) == [2.0, np.inf, 0.3]


def test_dropped_windows__are_those_when_the_packet_was_sent() -> None:
    event = np.array(["send", "send", "drop", "ack", "send", "drop", "receive", "drop"])
    flow = np.array([1, 2, 1, 2, 1, 1, 2, 2], np.uint32)
    seq = np.array([5, 5, 5, 4, 5, 5, 5, 5], np.int64)
    cwnd = np.array([3.7, 300.0, 9.0, 9.0, 1.0, 9.0, 9.0, 9.0])
    told = measures.dropped_windows(event, flow, seq, cwnd)
    assert list(told[event == "drop"]) == [3.0, 1.0, 255.0], "the latest sending of that number in its slot"
    assert np.isnan(told[event != "drop"]).all()


def test_measure_windows__leaves_out_what_was_before_the_window() -> None:
    trace = {
        "time_s": np.array([1.0, 2.0, 11.0, 12.0, 13.0, 14.0]),
        "event": ["send", "drop", "send", "drop", "send", "drop"],
        "flow": np.array([0, 0, 0, 0, 1, 1], np.uint32),
        "seq": np.array([0, 0, 1, 1, 0, 0]),
        "cwnd": np.array([1.0, 1.0, 2.0, 2.0, 4.0, 4.0]),
    }
    found = measures.measure_windows(Records(trace=trace))  # type: ignore[arg-type]
    assert list(found["window"][:4]) == [1.0, 2.0, 3.0, 4.0]
    assert list(found["dropped"][:5]) == [0.0, 0.5, 0.5, 1.0, 1.0]
    with pytest.raises(MouseholeError, match="needs trace"):
        measures.measure_windows(Records())  # type: ignore[arg-type]


# --- scenarios -------------------------------------------------------------------------------------


def test_mean_object__is_that_of_the_clamped_distribution() -> None:
    size, packets = measures.mean_object()
    assert size == pytest.approx(7490, abs=5)
    assert packets == pytest.approx(8.04, abs=0.005)
    drawn = np.clip(2000 * (np.random.default_rng(1).random(2_000_000) ** (-1 / 1.2) - 1), 12, 2e6)
    assert size == pytest.approx(drawn.mean(), rel=0.05)
    assert packets == pytest.approx(np.ceil(drawn / 1000).mean(), rel=0.05)


def test_mix__counts_the_load_in_wire_bytes_unless_a_trial_says_otherwise() -> None:
    traffic = {"load": 0.95, "params": {"objects_max": 8}}
    wire = measures.mix(merge(BASE, {"traffic": traffic}), {})
    assert wire["traffic"]["params"]["load_bps"] == pytest.approx(9.5e6 / 1.0429, rel=1e-4)
    assert wire["traffic"]["params"]["objects_max"] == 8
    assert "load" not in wire["traffic"]
    objects = measures.mix(merge(BASE, {"traffic": {**traffic, "counted": "objects"}}), {})
    assert objects["traffic"]["params"]["load_bps"] == 9.5e6
    bulk = {"flows": 10, "start_spread_s": 2.0}
    assert measures.mix(merge(BASE, {"traffic": {"load": 0, "bulk": bulk}}), {})["traffic"] == {"bulk": bulk}


def test_with_parameters__replaces_what_the_scheme_names() -> None:
    scheme = "application|shred(min=30,max=90,byte=false,mean=1000B)"
    assert measures.with_parameters(scheme, {"min": 45, "max": 135, "byte": True, "guard": 1}) == (
        "application|shred(min=45,max=135,byte=true,mean=1000B)"
    )
    assert measures.with_parameters("application|droptail", {"min": 45}) == "application|droptail"


def test_scenarios__are_accepted_by_the_engine() -> None:
    made = paper.find_paper("shred").evaluator(Options())
    requests = {request for claim in made.definition.claims for request in made.list_claim_requests(claim)}
    for figure in made.definition.figures:
        requests |= set(made.list_figure_requests(figure))
    for table in made.definition.tables:
        requests |= set(made.list_table_requests(table))
    for request in requests:
        assert fill_in(made.runs.scenario(request))["duration"] in {"140s", "160s"}, request
    for one in made.definition.opens:
        for trial in one.tried:
            claim = next(claim for claim in made.definition.claims if one.select_trials(claim))
            for request in made.with_trial(trial).list_claim_requests(claim):
                assert fill_in(made.runs.scenario(request)), trial.name


def test_run__tells_drops_of_the_web_from_those_of_ftp() -> None:
    bulk = {"flows": 40, "start_spread_s": 0.5}
    change = {"warmup": "1s", "duration": "9s", "scheme": "application|droptail"}
    both = run({**change, "traffic": {"load": 0.5, "bulk": bulk}})
    assert both["web_drops"] > 0
    assert both["ftp_drops"] > 0
    assert both["drops"] == pytest.approx(both["web_drops"] + both["ftp_drops"])
    alone = run({**change, "traffic": {"load": 0, "bulk": bulk}})
    assert (alone["web_drops"], alone["web_arrivals"]) == (0, 0)
    assert 8 < alone["delivered"] < 10.5
    assert np.isnan(alone["within_1s"])


def test_run__without_hints_shred_is_red() -> None:
    own = paper.find_paper("shred").definition
    axis = {
        name: {**label, "scheme": write_scheme(label["scheme"], own.schemes)}
        for name, label in own.axes["scheme"].items()
    }
    change = {"warmup": "1s", "duration": "9s", "traffic": {"load": 0.8, "bulk": {"flows": 20}}}
    one, other = (run({**change, **axis[name]}) for name in ("SHRED, no hints", "RED, no guard"))
    assert one["drops"] == other["drops"] > 0
    assert run({**change, **axis["SHRED"]})["drops"] != one["drops"]


def test_run__of_an_empty_network_takes_the_papers_round_trips() -> None:
    sizes = [1, 2, 3, 4, 7, 8, 15]
    writes = [
        {"start_s": 5.0 * place, "client": place, "writes": [{"bytes": packets * 1000}]}
        for place, packets in enumerate(sizes)
    ]
    scenario = {**BASE, "traffic": {"connections": writes}, "scheme": "droptail"}
    transfers = run_all({0: scenario}, lambda result: result.transfers(), Silent(), 1)[0]
    rounds = (transfers["end_s"] - transfers["start_s"] + transfers["rtt_s"] / 2) / quantities.RTT_S
    assert [math.floor(value) for value in rounds] == [1, 2, 2, 3, 3, 4, 4]
    assert (rounds - np.floor(rounds)).max() < 0.15, "the rest is transmission"


# --- quantities ------------------------------------------------------------------------------------


def test_drain__is_the_published_time_of_a_full_queue() -> None:
    assert quantities.drain_s() == pytest.approx(0.1749, abs=1e-4)


def test_shares__are_those_between_two_times() -> None:
    one = make_measured(tail_s=[1, 2, 3, 4, 5], late=[0.3, 0.2, 0.15, 0.05, 0.04])
    assert quantities.share_after(one, 3.0) == pytest.approx(0.15)
    assert quantities.share_between(one, 1.0) == pytest.approx(0.1)
    assert quantities.step_up(one, 3.0, 2.0) == pytest.approx(0.05)


def test_benefit__is_the_ratio_of_shares_less_one_and_grows() -> None:
    one, other = (
        make_measured(within_1s=0.75, pages_within_1s=0.4),
        make_measured(within_1s=0.6, pages_within_1s=0.2),
    )
    assert quantities.benefit(one, other) == pytest.approx(0.25)
    assert quantities.benefit(one, other, "pages_within_1s") == pytest.approx(1.0)
    assert quantities.growth(one, other, other, other) == pytest.approx(0.25)
    assert quantities.growth_of_lead(one, other, other, other, other, other) == pytest.approx(0.25)
    assert quantities.growth_of_lead(one, one, other, one, other, other) == pytest.approx(-0.25)


def test_goodput__is_without_what_was_sent_again() -> None:
    few, many = make_measured(delivered=10.0, drops=0.02), make_measured(delivered=10.0, drops=0.10)
    assert quantities.goodput(few) == pytest.approx(9.8)
    assert quantities.goodput_fall(few, many, few, few) == pytest.approx(0.8)


def test_mean_active__is_over_the_schemes() -> None:
    assert quantities.mean_active(*(make_measured(active=one) for one in (60, 90, 120))) == 90


def test_disproportion__is_zero_for_drops_in_proportion() -> None:
    assert quantities.disproportion(
        make_measured(web_drops=0.03, drops=0.05, web_arrivals=0.6)
    ) == pytest.approx(0)
    assert quantities.disproportion(
        make_measured(web_drops=0.05, drops=0.05, web_arrivals=0.6)
    ) == pytest.approx(0.4)


def test_pages_within__reads_the_distribution() -> None:
    one = make_measured(body_s=[0, 0.5, 1], pages_body=[0, 0.2, 0.6])
    assert quantities.pages_within(one, 0.75) == pytest.approx(0.4)


def test_crossing__is_where_the_share_becomes_greater() -> None:
    window = np.arange(1.0, 6.0)
    shred = make_measured(window=window, dropped=[0.0, 0.1, 0.4, 0.9, 1.0])
    other = make_measured(window=window, dropped=[0.1, 0.3, 0.5, 0.6, 1.0])
    assert quantities.crossing(shred, other) == 4
    assert np.isnan(quantities.crossing(shred, shred))
    assert np.isnan(quantities.crossing(other, shred)), "it never drops a greater share again"
    assert quantities.dropped_up_to(shred, 3) == pytest.approx(0.4)


def test_step__is_the_typical_time_in_round_trips() -> None:
    one = make_measured(typical_s=[0.12, 0.24, 0.36])
    assert quantities.step_s(one, 1) == pytest.approx(0.24)
    assert quantities.rounds(one, 2) == pytest.approx(3)
