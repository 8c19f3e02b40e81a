"""How `make oracle` draws its cases and tells agreement from a difference; needs no ns-2."""

from __future__ import annotations

import json

import oracle_cases
import pytest

import oracle

SEND, RECEIVE, DROP, ACK = "send", "receive", "drop", "ack"
EVENTS: list[oracle.Event] = [(0.0, SEND, 0, 1000), (0.025, RECEIVE, 0, 1000), (0.046, ACK, 0, 40)]
CASE = oracle_cases.Case("small queue", {"n": 5})


def played(events: list[oracle.Event], starts_us: frozenset[int] = frozenset()) -> oracle.Played:
    return oracle.Played(events, 0.001, 1.0, starts_us)


def test_draw__equal_seeds_give_equal_cases_and_every_feature_meets_every_variant() -> None:
    cases = oracle_cases.draw(234, 1)
    assert cases == oracle_cases.draw(234, 1)
    assert cases != oracle_cases.draw(234, 2)
    met = {(case.feature, case.get("variant")) for case in cases}
    assert len(met) == len(oracle_cases.FEATURES) * len(oracle_cases.VARIANTS)


def test_parting__none_within_two_microseconds_and_after_the_watch_ends() -> None:
    ours = [(time + 1.9e-6, name, seq, size) for time, name, seq, size in EVENTS]
    assert oracle.parting([*ours, (1.5, SEND, 1, 1040)], played(EVENTS)) is None


CHANGED = [(0.025003, RECEIVE, 0, 1000), (0.025, DROP, 0, 1000), (0.025, RECEIVE, 1, 1000)]


@pytest.mark.parametrize("changed", CHANGED)
def test_parting__found_where_time_kind_or_segment_differs(changed: oracle.Event) -> None:
    where = oracle.parting([EVENTS[0], changed, EVENTS[2]], played(EVENTS))
    assert where == oracle.Parting(1, changed, EVENTS[1])
    assert oracle.reason(CASE, where) is None
    lines, unexplained = oracle.report([CASE], [where])
    assert unexplained == 1
    assert "0 of 1 cases agree" in lines[-1]


def test_parting__found_where_one_ends_early() -> None:
    assert oracle.parting(EVENTS[:2], played(EVENTS)) == oracle.Parting(2, None, EVENTS[2])
    assert oracle.parting(EVENTS, played(EVENTS[:2])) == oracle.Parting(2, EVENTS[2], None)


def test_parting__order_within_one_instant_is_a_known_reason_only_if_nothing_else_differs() -> None:
    tied: list[oracle.Event] = [(0.1, SEND, 1, 1000), (0.1, RECEIVE, 0, 1000), (0.2, ACK, 0, 40)]
    where = oracle.parting(tied, played([tied[1], tied[0], tied[2]]))
    assert where is not None
    assert where.is_tie
    assert oracle.reason(CASE, where) is not None
    worse = oracle.parting(tied, played([tied[1], tied[0]]))
    assert worse is not None
    assert oracle.reason(CASE, worse) is None


def test_parting__a_drop_is_excused_only_by_a_departure_in_its_instant() -> None:
    theirs: list[oracle.Event] = [(0.1, DROP, 7, 1000)]
    ours: list[oracle.Event] = [(0.10008, DROP, 8, 1000)]
    with_departure = oracle.parting(ours, played(theirs, frozenset({100_000})))
    without = oracle.parting(ours, played(theirs, frozenset({100_080})))
    assert with_departure is not None
    assert without is not None
    assert oracle.reason(CASE, with_departure) is not None
    assert oracle.reason(CASE, without) is None


def test_parse_ns2__reads_the_four_events() -> None:
    row = "{} 0.5 {} {} tcp 1040 ------- 1 0.0 2.0 3 9"
    ends = [("+", 0, 1), ("r", 1, 2), ("d", 1, 2), ("r", 1, 0), ("-", 0, 1), ("-", 1, 2)]
    trace = [row.format(*end) for end in ends]
    assert [event[1] for event in oracle.parse_ns2(trace)] == [SEND, RECEIVE, DROP, ACK]
    assert oracle.starts_us(trace) == frozenset({500_000})


def test_scenario__follows_the_case() -> None:
    case = oracle_cases.Case("ACKs lost", {"era": "old", "iw": 4, "drops": "3,5", "ackdrops": "2", "qlim": 7})
    spec = json.loads(json.dumps(oracle.scenario(case, 0.25)))
    assert spec["tcp"]["profile"] == "ns2-2001"
    assert spec["tcp"]["initial_window"] == 1  # the old era has its own
    assert spec["faults"] == [{"link": "down", "drop": [3, 5]}, {"link": "up", "drop": [2]}]
    assert spec["link"]["buffer"] == "7p"
