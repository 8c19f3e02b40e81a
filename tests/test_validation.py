"""Rows of docs/validation.md: a failure, a difference or a missing program is never called agreement."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tools import document
from tools.cargo_tests import Outcome
from validation import coverage, oracle, page, rows, shared_addresses, short_captures
from validation.oracle_cases import Case
from validation.page import Output, Section
from validation.rows import AGREES, DIFFERS, NOT_COMPARED, UNDECIDED, Row

ROOT = Path(__file__).resolve().parent.parent
SILENCE = "NOT RUN: nothing here"


def write_lines(*objects: Any) -> str:
    """Returns each object as a line of JSON."""
    return "".join(json.dumps(one) + "\n" for one in objects)


def make_outcome(package: str, name: str, outcome: Outcome, output: str = "") -> dict[str, str]:
    """Returns the outcome of a test as the tally writes it."""
    return {"package": package, "name": name, "outcome": outcome, "output": output}


TESTS = write_lines(
    make_outcome("mousehole-sim", "tcp_dialogues::rto__doubles", Outcome.PASSED, "worst 0.5"),
    make_outcome("mousehole-sim", "tcp_dialogues::ecn__halves", Outcome.FAILED),
    make_outcome("mousehole-policy", "golden::averages__as_ns2", Outcome.PASSED),
    make_outcome("mousehole-sim", "golden::averages__as_ns2", Outcome.PASSED),
    make_outcome("mousehole-policy", "reference_models::red__data", Outcome.NOT_RUN, "no data"),
)
OVERLOAD = """\
queue,rate,rule,seeds,scheme,out,ns2_out,sd_out,in,ns2_in,sd_in,queue_packets,ns2_queue_packets,sd_queue
RED,350,ns2,10,"ns2-red(min=8)",0.1,0.101,0.001,0,0,0,5.0,5.1,0.1
RED,400,ns2,10,"ns2-red(min=8)",0.2,{ns2},0.001,0,0,0,5.0,5.0,0.1
RED,400,policy,10,"red(min=8)",0.3,{ns2},0.001,0,0,0,6.0,5.0,0.1
"""


def list_verdicts(found: list[Row]) -> list[str]:
    """Returns the verdict of each row."""
    return [row.verdict for row in found]


def test_tests__outcomes_by_name_without_what_did_not_run() -> None:
    found = rows.parse_tests(TESTS)
    assert [(test.module, test.name, test.passed) for test in found] == [
        ("tcp_dialogues", "tcp_dialogues::rto__doubles", True),
        ("tcp_dialogues", "tcp_dialogues::ecn__halves", False),
        ("golden", "golden::averages__as_ns2", True),
        ("golden", "golden::averages__as_ns2", True),
    ]
    assert found[0].said == "worst 0.5"


def test_in_module__of_one_package_or_of_all() -> None:
    found = rows.parse_tests(TESTS)
    assert len(rows.filter_tests(found, "golden", "averages")) == 2
    assert [test.package for test in rows.filter_tests(found, "policy/golden")] == ["mousehole-policy"]
    assert rows.filter_tests(found, "tcp") == []


def test_tally__names_what_failed() -> None:
    row = rows.tally_tests("x", "y", rows.parse_tests(TESTS), "z")
    assert row.verdict == DIFFERS
    assert "3 of 4" in row.result
    assert "`tcp_dialogues::ecn__halves`" in row.result
    assert rows.tally_tests("x", "y", [], "z").verdict == NOT_COMPARED


def test_dialogues__by_the_rfc_of_the_comment(tmp_path: Path) -> None:
    first = "/// RFC 6298 section 5.5.\n#[test]\nfn rto__doubles() {\n}\n\n"
    source = first + "/// RFC 3168.\n#[test]\nfn ecn__halves() {\n}\n"
    (tmp_path / "tcp_dialogues.rs").write_text(source)
    found = {row.claim[:8]: row.verdict for row in rows.make_dialogue_rows(rows.parse_tests(TESTS), tmp_path)}
    assert found["RFC 6298"] == AGREES
    assert found["RFC 3168"] == DIFFERS
    assert found["RFC 9438"] == NOT_COMPARED


# Four values are tested, so the smallest p must be below 0.05 / 4. With 9 degrees of freedom that is
# t = 3.11, and a distance of 0.00326 here: 3.11 times 0.001 * sqrt(1.1).
@pytest.mark.parametrize(("ns2", "verdict"), [("0.2032", AGREES), ("0.2033", DIFFERS)])
def test_overload__tests_one_run_against_seeds_and_counts_rows_without_a_scheme(
    ns2: str, verdict: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "overload.csv"
    monkeypatch.setattr(rows, "OVERLOAD_TABLE", table)
    table.write_text("queue\nRED\nRED\n")
    assert list_verdicts(rows.make_overload_rows(OVERLOAD.format(ns2=ns2), "")) == [verdict]
    table.write_text("queue\nRED\nRED\nPIE\n")
    found = rows.make_overload_rows(OVERLOAD.format(ns2=ns2), "")
    assert list_verdicts(found) == [verdict, NOT_COMPARED]
    assert found[1].result.startswith("1 rows")


def test_one_more_run__has_students_distribution() -> None:
    """The p-value against the share of simulated runs that lie farther out."""
    draws = np.random.default_rng(1).normal(size=(20_000, 6))
    seen, other = draws[:, :5], draws[:, 5]
    each = zip(seen.mean(axis=1), seen.std(axis=1, ddof=1), other, strict=True)
    p_values = [rows.compare_one_run(mean, deviation, 5, one) for mean, deviation, one in each]
    for level in (0.01, 0.05, 0.5):
        assert np.mean(np.array(p_values) < level) == pytest.approx(level, rel=0.15)


def test_holm__corrects_step_by_step() -> None:
    assert rows.hold_after_holm([0.01, 0.04, 0.03, 0.005]) == [False, True, True, False]
    assert rows.hold_after_holm([0.02, 0.02, 0.02]) == [True, True, True]
    assert rows.hold_after_holm([]) == []


@pytest.mark.parametrize(
    ("differences", "seen", "noticed", "expected"),
    [
        (0, True, 26, [AGREES, AGREES]),
        (1, True, 26, [DIFFERS, AGREES]),
        (0, False, 26, [DIFFERS, AGREES]),
        (0, True, 25, [AGREES, DIFFERS]),
    ],
)
def test_kernel__differences_and_unnoticed_changes(
    differences: int, seen: bool, noticed: int, expected: list[str]
) -> None:
    parity = {"check": "parity", "policy": "red", "records": 8388608, "differences": differences}
    change = {"check": "sensitivity", "policy": "red", "changes": 27, "noticed": noticed, "unread": 1}
    found = rows.make_kernel_rows(write_lines({**parity, "outcomes_vary": seen}, change), "")
    assert list_verdicts(found) == expected
    assert found[0].result.startswith("8,388,608 records")


def test_flows__ties_agree_and_one_figure_may_differ() -> None:
    first = {"part": "drop-tail", "cases": 3, "all": 2, "ties": 1, "events": 9, "drops": 1}
    figure = {
        "part": "figure",
        "discipline": "RED",
        "figure": "mean queue",
        "seeds": 12,
        "ns2": 5.0,
        "ours": 5.1,
    }
    queues = [{**figure, "p_value": p, "holds": p > 0.01} for p in (0.5, 0.001)]
    assert list_verdicts(rows.make_flow_rows(write_lines(first, queues[0]), "")) == [AGREES, AGREES]
    assert list_verdicts(rows.make_flow_rows(write_lines({**first, "all": 1}, *queues), "")) == [
        DIFFERS,
        DIFFERS,
    ]


def make_paper_rows(output: str, reason: str) -> list[Row]:
    """Returns the rows of the papers, from the output of their command or the reason why there is none."""
    return rows.make_claim_rows(output, reason)["papers"]


@pytest.mark.parametrize(
    "witness",
    [
        rows.make_flow_rows,
        rows.make_kernel_rows,
        rows.make_linux_rows,
        rows.make_overload_rows,
        make_paper_rows,
    ],
)
def test_witnesses__missing_output_is_not_agreement(witness: Callable[[str, str], list[Row]]) -> None:
    (row,) = witness("", SILENCE)
    assert (row.verdict, row.result) == (NOT_COMPARED, SILENCE)


@pytest.mark.parametrize(
    ("same", "ties", "cases", "verdict"),
    [(229, 5, 234, AGREES), (228, 5, 234, DIFFERS), (0, 0, 0, NOT_COMPARED)],
)
def test_random_tcp__ties_agree_and_nothing_else_may_differ(
    same: int, ties: int, cases: int, verdict: str
) -> None:
    text = write_lines({"cases": cases, "same": same, "ties": ties, "differ": cases - same - ties})
    assert rows.make_random_tcp_row(text, SILENCE).verdict == verdict


def test_random_tcp__missing_output_is_not_agreement() -> None:
    row = rows.make_random_tcp_row("", SILENCE)
    assert (row.verdict, row.result) == (NOT_COMPARED, SILENCE)


def test_counts__of_the_oracle() -> None:
    where = oracle.Divergence(0, None, None)
    case = Case("x", {})
    outcomes = [
        oracle.Outcome(case, None),
        oracle.Outcome(case, where),
        oracle.Outcome(case, where, where),
    ]
    assert oracle.count_outcomes(outcomes) == {"cases": 3, "same": 1, "ties": 1, "differ": 1}


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("agrees", AGREES),
        ("DIFFERS", DIFFERS),
        ("differs, known", DIFFERS),
        ("not in the simulator", NOT_COMPARED),
    ],
)
def test_linux__only_required_quantities_count(said: str, verdict: str) -> None:
    row = {
        "case": "reno, 1 flow, 50p",
        "quantity": "mean queue, packets",
        "linux": {"mean": 31.01, "half_width": 0.12},
        "simulated": None,
        "held": True,
        "verdict": said,
    }
    found = rows.make_linux_rows(write_lines(row, {**row, "held": False, "verdict": "shown only"}), "")
    assert list_verdicts(found) == [verdict]
    assert found[0].result == "Linux 31.01 ±0.12, simulator none"


def test_claims__as_the_paper_judged_them() -> None:
    line = {"label": "", "published": "32 %", "ours": "29 % (21…36)", "bar": "±25 %"}
    claim = {
        "kind": "claim", "paper": "x", "id": "X1", "part": "mean", "says": "s", "place": "Table 4",
        "note": "", "lines": [line], "fitted": [], "word": "differs", "cause": "", "basis": "evidence",
    }  # fmt: skip
    text = write_lines(
        {"kind": "heading", "text": "x"},
        claim,
        {**claim, "paper": "y", "part": "", "word": "equivalent", "fitted": ["window"]},
        {**claim, "paper": "y", "word": "undecided", "lines": [{**line, "label": "a"}, line]},
        {**claim, "paper": "y", "word": "lost", "lines": [], "note": "the figure is lost"},
        {**claim, "paper": "y", "word": None},
        {**claim, "paper": "z", "fitted": ["window"], "cause": "its window is lost"},
        {**claim, "paper": "z", "word": "agrees", "cause": "at another length it differs"},
    )
    found = rows.make_claim_rows(text, "")
    assert {name: list_verdicts(of) for name, of in found.items()} == {
        "x": [DIFFERS],
        "y": [AGREES, UNDECIDED, NOT_COMPARED, NOT_COMPARED],
        "z": [DIFFERS, AGREES],
    }
    result = "published 32 % (±25 %), ours 29 % (21…36)"
    command = "mousehole paper x claim X1"
    assert found["x"] == [Row("X1 mean: s", "Table 4", result, command, DIFFERS)]
    assert found["y"][0].result == f"{result}; fitted: window"
    assert found["y"][1].result == f"a: {result}; {result}"
    assert found["y"][2].result == "the figure is lost"
    assert found["z"][0].result == f"{result}; fitted: window; cause: its window is lost"
    assert found["z"][1].result == result, "a cause stands where ours differs"


SECTIONS = [
    Section("S", [Row("good", "x", "0", ""), Row("bad", "x", "a|b", "c", DIFFERS)]),
    Section("T", [Row("rule", "x", "0", ""), Row("broken", "x", "1 of 2", "c", DIFFERS)], is_outside=False),
]


def test_summary__counts_our_own_tests_apart() -> None:
    said = page.write_summary(SECTIONS)
    assert said.startswith(
        "2 comparisons with something outside: 1 agree, 1 differ, 0 are undecided, 0 could not be made. "
    )
    assert said.endswith("2 rules under our own tests: 1 hold, 1 fail, 0 not run")


def test_summary__counts_what_was_fitted_while_looking_by_itself() -> None:
    fitted = Section("F", [Row("near", "x", "0", ""), Row("far", "x", "0", "", UNDECIDED)], is_fitted=True)
    said = page.write_summary([*SECTIONS, fitted])
    assert said.startswith("2 comparisons with something outside: 1 agree")
    assert "2 more to which something was fitted while looking: 1 agree, 0 differ, 1 are undecided." in said


def test_body__counts_verdicts_and_lists_problems() -> None:
    text = page.write_body(SECTIONS)
    assert "| S | 1 | 1 | 0 | 0 | `c` |" in text
    assert "|  | holds | fails | undecided | not run | commands |" in text
    assert "| T | 1 | 1 | 0 | 0 | `c` |" in text
    assert "- **differs**: bad. a|b" in text
    assert "- **fails**: broken" in text
    assert "good" not in text


def test_tables__have_every_row_and_rules_apart_from_agreement() -> None:
    text = page.write_tables(SECTIONS)
    assert "| good |" in text
    assert r"a\|b" in text
    own = text.partition("## Our own tests of a rule")[2]
    assert "| holds |" in own
    assert "| **fails** |" in own
    assert AGREES not in own


def test_output__keeps_and_reuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "KEPT", tmp_path)
    command = ["sh", "-c", "echo said; echo why >&2; exit 3"]
    assert page.obtain_output("x", command, reuse=True) == Output("said\n", "why")
    assert page.obtain_output("x", ["false"], reuse=True) == Output("said\n", "why")
    assert page.obtain_output("x", ["false"], reuse=False) == Output("", "nothing was printed")
    assert page.obtain_output("x", ["no-such-program"], reuse=False).reason.startswith("NOT RUN: ")


def test_programs__are_there() -> None:
    modules = [command[2] for command in page.PROGRAMS.values() if command[0] == sys.executable]
    assert len(modules) == 5
    for module in modules:
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists()


def test_document__counts_of_sections_add_up_to_the_summary() -> None:
    text = document.read_part((ROOT / "docs" / "validation.md").read_text(encoding="utf-8"), page.TARGET)
    said = [int(number) for number in re.findall(r"\d+", text.partition(".**")[0].replace("\n", " "))]
    rows_of = re.findall(r"^\| [^|]*[a-z][^|]* ((?:\| \d+ )+)\|", text, re.MULTILINE)
    counts = [[int(number) for number in re.findall(r"\d+", row)] for row in rows_of]
    outside = [sum(column) for column in zip(*(row for row in counts if len(row) == 4), strict=True)]
    own = [sum(column) for column in zip(*(row for row in counts if len(row) == 3), strict=True)]
    assert said == [sum(outside), *outside, sum(own), *own]
    assert text.count("\n- **differs**: ") == outside[1]


# --- coverage of intervals ---


def make_coverage(held: int, captures: int = 25) -> coverage.Coverage:
    """Returns intervals of which `held` of `captures` hold the truth."""
    truths = [True] * held + [False] * (captures - held)
    return coverage.Coverage(
        model="poisson",
        length_s=60,
        scheme="sfd",
        captures=captures,
        window="300s",
        truth_runs=40,
        truth=-0.3,
        truth_low=-0.33,
        truth_high=-0.27,
        changes=[-0.3] * captures,
        lows=[-0.5] * captures,
        highs=[-0.1] * captures,
        held=truths,
        held_printed=truths,
        held_without=[False] * captures,
        judged=[True] * captures,
    )


@pytest.mark.parametrize(("held", "verdict"), [(24, AGREES), (20, AGREES), (15, DIFFERS), (5, DIFFERS)])
def test_coverage__fails_if_90_to_98_percent_is_out_of_reach_of_the_count(held: int, verdict: str) -> None:
    assert coverage.make_row(make_coverage(held)).verdict == verdict


def test_coverage__row_has_counts_and_their_interval() -> None:
    result = coverage.make_row(make_coverage(24)).result
    assert "intervals of 40 points in the median, 25 without 0" in result
    assert "in 24 of 25 (80–100 %); the verdict's in 24, one without the variance" in result
    assert "between captures in 0. Changes" in result


def test_coverage__a_capture_is_a_piece_of_the_model() -> None:
    connections = coverage.record_capture("poisson", 12, 0)
    starts = [float(one["start_s"]) for one in connections]  # type: ignore[arg-type]
    assert starts[0] == 0
    assert starts == sorted(starts)
    assert 10 < starts[-1] <= 12
    assert all("duration_s" not in one for one in connections)
    with_ends = coverage.record_capture("web:sfd", 12, 0, has_ends=True)
    assert sum("duration_s" in one for one in with_ends) > 0.9 * len(with_ends)
    assert (
        connections == coverage.record_capture("poisson", 12, 0) != coverage.record_capture("poisson", 12, 1)
    )


def test_coverage__a_capture_shows_the_addresses_that_are_asked_for() -> None:
    shown = coverage.record_capture("web:sfd", 12, 0, params={"clients": 3})
    assert {one["client"] for one in shown} == {0, 1, 2}
    default = coverage.record_capture("web:sfd", 12, 0)
    assert [one["bytes"] for one in shown] == [one["bytes"] for one in default], "the same pages"


def test_shared_addresses__changes_are_geometric_means_over_captures() -> None:
    slower = {"droptail": 1.0, "sfd": 1.0, "fq-codel": 0.5}
    faster = {"droptail": 2.0, "sfd": 2.0, "fq-codel": 0.25}
    sfd, fq_codel = shared_addresses.list_changes([slower, faster] * 5)
    assert sfd == "+0 % (+0…+0)"
    assert fq_codel.startswith("−75 % (")


def test_shared_addresses__a_recording_shows_the_addresses() -> None:
    recorded = shared_addresses.record_run(12, 3, 0)
    assert recorded.summary()["clients"] == 3


def test_short_captures__follow_each_other_and_count_bytes_by_size() -> None:
    one: short_captures.Connections = [{"start_s": 0.0, "bytes": 100}, {"start_s": 2.0, "bytes": 300}]
    whole = short_captures.concatenate([one, one], 12)
    assert [connection["start_s"] for connection in whole] == [0.0, 2.0, 12.5, 14.5]
    assert short_captures.compute_share_above(whole, 100) == 0.75
    assert short_captures.compute_share_above(whole, 300) == 0
