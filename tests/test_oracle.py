"""How `make oracle` draws its cases and tells agreement from a difference; needs no ns-2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from validation import oracle, oracle_cases, oracle_flows

SEND, RECEIVE, DROP, ACK = "send", "receive", "drop", "ack"
EVENTS: list[oracle.Event] = [(0.0, SEND, 0, 1000), (0.025, RECEIVE, 0, 1000), (0.046, ACK, 0, 40)]
CASE = oracle_cases.Case("small queue", {"n": 5})


def make_played(events: list[oracle.Event], done_s: float | None = None) -> oracle.Played:
    """Returns a run of ns-2 that was recorded for 1 s, with a clock phase of 1 ms.

    The record stops early if the transfer is done.
    """
    return oracle.Played(events, 0.001, 1.0, done_s, is_cut=done_s is not None)


def test_draw__equal_seeds_give_equal_cases_and_every_feature_meets_every_variant() -> None:
    cases = oracle_cases.draw(234, 1)
    assert cases == oracle_cases.draw(234, 1)
    assert cases != oracle_cases.draw(234, 2)
    met = {(case.feature, case.get("variant")) for case in cases}
    assert len(met) == len(oracle_cases.FEATURES) * len(oracle_cases.DRAWN)
    assert {case.get("variant") for case in oracle_cases.draw(5, 1, ["Tahoe"])} == {"Tahoe"}


def test_parting__none_within_two_microseconds_or_after_the_recording() -> None:
    ours = [(time + 1.9e-6, name, seq, size) for time, name, seq, size in EVENTS]
    assert oracle.find_divergence([*ours, (1.5, SEND, 1, 1040)], make_played(EVENTS)) is None


CHANGED = [(0.025003, RECEIVE, 0, 1000), (0.025, DROP, 0, 1000), (0.025, RECEIVE, 1, 1000)]


@pytest.mark.parametrize("changed", CHANGED)
def test_parting__found_where_time_kind_or_segment_differs(changed: oracle.Event) -> None:
    where = oracle.find_divergence([EVENTS[0], changed, EVENTS[2]], make_played(EVENTS))
    assert where == oracle.Divergence(1, changed, EVENTS[1])
    lines, unexplained = oracle.report([oracle.Outcome(CASE, where, in_floats=where)])
    assert unexplained == 1
    assert "0 of 1 cases agree" in lines[-1]


def test_parting__found_where_one_ends_early() -> None:
    assert oracle.find_divergence(EVENTS[:2], make_played(EVENTS)) == oracle.Divergence(2, None, EVENTS[2])
    assert oracle.find_divergence(EVENTS, make_played(EVENTS[:2])) == oracle.Divergence(2, EVENTS[2], None)


def test_report__a_case_that_agrees_with_time_in_floats_is_a_tie_and_said_to_be_one() -> None:
    tie = oracle.Outcome(CASE, oracle.Divergence(0, EVENTS[0], EVENTS[1]))
    lines, unexplained = oracle.report([tie, oracle.Outcome(CASE, None)])
    assert unexplained == 0
    assert lines[0].startswith("parts (a tie)")
    assert "2 of 2 cases agree event by event, 1 of them with time in floats" in lines[-1]


def test_beside_record__forgives_only_what_follows_the_end_of_a_record() -> None:
    record = make_played(EVENTS[:2], done_s=0.046)
    assert oracle.cut_to_record(EVENTS, record) == EVENTS[:2]
    early: oracle.Event = (0.044, ACK, 0, 40)
    assert oracle.cut_to_record([*EVENTS[:2], early], record) == [*EVENTS[:2], early]
    assert oracle.cut_to_record(EVENTS, make_played(EVENTS[:2])) == EVENTS


def test_recorded__takes_what_the_record_leaves_out_from_the_script(tmp_path: Path) -> None:
    entry = {
        "name": "one",
        "params": {"drops": "3"},
        "in_force": {"window": 20},
        "tick_phase_s": 0.25,
        "done": 2.0,
    }
    (tmp_path / "summary.json").write_text(json.dumps([entry]))
    (tmp_path / "one.events.csv").write_text("time,event,seq,size\n0.5,rcv_at_sink,3,1040\n")
    [(case, run)] = oracle.read_records(tmp_path)
    assert (case.number("win"), case.number("n"), case.get("variant")) == (20, 100, "Newreno")
    assert run == oracle.Played([(0.5, RECEIVE, 3, 1040)], 0.25, 3.0, 2.0, is_cut=True)


def test_delays_acks__of_sack_only_with_2() -> None:
    asked = [("Reno", 1), ("Sack1", 1), ("Sack1", 2)]
    cases = [oracle_cases.Case("", {"variant": variant, "delack": delack}) for variant, delack in asked]
    assert [case.delays_acks() for case in cases] == [True, False, True]


def test_parse_ns2__reads_the_four_events() -> None:
    row = "{} 0.5 {} {} tcp 1040 ------- 1 0.0 2.0 3 9"
    ends = [("+", 0, 1), ("r", 1, 2), ("d", 1, 2), ("r", 1, 0), ("-", 0, 1), ("-", 1, 2)]
    trace = [row.format(*end) for end in ends]
    assert [event[1] for event in oracle.parse_ns2(trace)] == [SEND, RECEIVE, DROP, ACK]


def test_scenario__follows_the_case() -> None:
    case = oracle_cases.Case("ACKs lost", {"era": "old", "iw": 4, "drops": "3,5", "ackdrops": "2", "qlim": 7})
    spec = json.loads(json.dumps(oracle.make_scenario(case, 0.25)))
    assert spec["tcp"]["profile"] == "ns2-2001"
    assert spec["tcp"]["initial_window"] == 1  # the old era has its own
    assert spec["faults"] == [{"link": "down", "drop": [3, 5]}, {"link": "up", "drop": [2]}]
    assert spec["link"]["buffer"] == "7p"


FLOWS = (oracle_flows.Flow(0.0, 2, 500), oracle_flows.Flow(0.5, 300, 0))
FLOW_CASE = oracle_flows.Case(FLOWS, "RED", "ns2-red", 10, 1, 20.0)


def parse_flow_lines(*lines: str) -> list[oracle_flows.TraceLine]:
    """Parses a trace of `m_flows.tcl`: event, time, from, to, bytes, flow, segment."""
    fields = (line.split() for line in lines)
    return [
        oracle_flows.parse_line([what, at, a, b, "tcp", size, "-------", flow, "0.0", "1.0", seq, "0"])
        for what, at, a, b, size, flow, seq in fields
    ]


def test_flows__events_of_each_flow_at_its_own_hosts() -> None:
    lines = parse_flow_lines(
        "+ 0.1 4 0 1040 1 7", "d 0.2 0 1 1040 1 7", "r 0.3 1 5 1040 1 6", "r 0.4 0 4 40 1 6",
        "r 0.3 1 3 1040 1 6", "- 0.1 4 0 1040 1 7",
    )  # fmt: skip
    assert oracle_flows.list_events(lines) == [
        (0.1, "send", 1, 7, 1040), (0.2, "drop", 1, 7, 1040),
        (0.3, "receive", 1, 6, 1040), (0.4, "ack", 1, 6, 40),
    ]  # fmt: skip


def test_flows__a_transfer_is_complete_when_nothing_is_missing() -> None:
    lines = parse_flow_lines(
        "r 0.3 1 3 1040 0 1", "r 0.4 1 3 1040 0 1", "r 0.9 1 3 1040 0 0", "r 1.1 1 3 1040 0 0"
    )
    assert oracle_flows.find_end_times(lines, {0: FLOWS[0]}) == {0: 0.9}


def test_flows__figures_of_the_window() -> None:
    lines = parse_flow_lines(
        "+ 9.0 0 1 1000 1 1", "+ 12.0 0 1 1000 1 2", "- 14.0 0 1 1000 1 1", "d 15.0 0 1 1000 1 2",
        "r 0.9 1 3 1040 0 0", "r 1.1 1 3 1040 0 1",
    )  # fmt: skip
    used, lost, waiting, response_s = oracle_flows.compute_ns2_figures(FLOW_CASE, lines)
    assert used == pytest.approx(8000 / (2e6 * 10))
    assert lost == 1.0
    assert waiting == pytest.approx((2 * 1 + 2 * 2 + 1 * 1) / 10)
    assert response_s == pytest.approx(1.1)


@pytest.mark.parametrize(("apart_s", "tied"), [(0.0, True), (1e-8, False)])
def test_flows__a_tie_is_an_arrival_as_another_packet_leaves(apart_s: float, tied: bool) -> None:
    """What leaves the queue at 3 s is 4.16 ms and 83.2 us in transmission, and 21.5 ms on its way."""
    received = (3.0 + 4.16e-3 + 83.2e-6 + 21.5e-3, "receive", 0, 1, 1040)
    arrival = (3.0 + apart_s, "enqueue", 1, 9, 1040)
    assert oracle_flows.is_tie(FLOW_CASE, [arrival, received], 3.0) is tied
