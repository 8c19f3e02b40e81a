"""Rows of docs/validation.md: a failure, a difference or a missing program is never called agreement."""

from __future__ import annotations

from pathlib import Path

import pytest
import validation
import validation_rows as rows
from validation_rows import AGREES, DIFFERS, NOT_COMPARED, Row

ROOT = Path(__file__).resolve().parent.parent
LOG = """\
     Running tests/tcp_dialogues.rs (target/debug/deps/tcp_dialogues-1)

running 2 tests
test rto__doubles ... ok
test ecn__halves ... FAILED

successes:

---- rto__doubles stdout ----
worst 0.5

successes:
    rto__doubles

     Running tests/twins.rs (target/debug/deps/twins-1)
test red__twin ... ok
test red__data ... ok

successes:

---- red__data stdout ----
NOT RUN: no data

successes:
    red__data
"""
OVERLOAD = """\
queue,rate,rule,scheme,out,ns2_out,spread_out,in,ns2_in,spread_in,queue_packets,ns2_queue_packets,spread_queue
RED,350,ns2,"red(min=8,ns2=true)",0.1,0.101,0.001,0,0,0,5.0,5.1,0.1
RED,400,ns2,"red(min=8,ns2=true)",0.2,{ns2},0.001,0,0,0,5.0,5.0,0.1
RED,400,policy,"red(min=8)",0.3,{ns2},0.001,0,0,0,6.0,5.0,0.1
"""
KERNEL = """\
policy               records differences ns/record
red                  8388608  {differences}  46  444  8969  26 {noticed}  1  9 (x + 1)   2.1 s
"""


def verdicts(found: list[Row]) -> list[str]:
    return [row.verdict for row in found]


def test_tests__outcomes_by_file_without_what_did_not_run() -> None:
    found = rows.tests(LOG)
    assert [(test.file, test.name, test.passed) for test in found] == [
        ("tests/tcp_dialogues.rs", "rto__doubles", True),
        ("tests/tcp_dialogues.rs", "ecn__halves", False),
        ("tests/twins.rs", "red__twin", True),
    ]
    assert found[0].said == "worst 0.5"


def test_tally__names_what_failed() -> None:
    row = rows.tally("x", "y", rows.tests(LOG), "z")
    assert row.verdict == DIFFERS
    assert "2 of 3" in row.result
    assert "`ecn__halves`" in row.result
    assert rows.tally("x", "y", [], "z").verdict == NOT_COMPARED


def test_dialogues__by_the_rfc_of_the_comment(tmp_path: Path) -> None:
    first = "/// RFC 6298 section 5.5.\n#[test]\nfn rto__doubles() {\n}\n\n"
    source = first + "/// RFC 3168.\n#[test]\nfn ecn__halves() {\n}\n"
    (tmp_path / "tcp_dialogues.rs").write_text(source)
    found = {row.claim[:8]: row.verdict for row in rows.dialogues(rows.tests(LOG), tmp_path)}
    assert found["RFC 6298"] == AGREES
    assert found["RFC 3168"] == DIFFERS
    assert found["RFC 9438"] == NOT_COMPARED


@pytest.mark.parametrize(("ns2", "verdict"), [("0.2019", AGREES), ("0.2021", DIFFERS)])
def test_overload__twice_the_spread(ns2: str, verdict: str) -> None:
    assert verdicts(rows.overload(OVERLOAD.format(ns2=ns2))) == [verdict]


@pytest.mark.parametrize(
    ("differences", "noticed", "expected"),
    [(0, 26, [AGREES, AGREES]), (1, 26, [DIFFERS, AGREES]), (0, 25, [AGREES, DIFFERS])],
)
def test_kernel__differences_and_unnoticed_changes(
    differences: int, noticed: int, expected: list[str]
) -> None:
    assert verdicts(rows.kernel(KERNEL.format(differences=differences, noticed=noticed))) == expected


@pytest.mark.parametrize("witness", [rows.kernel, rows.model, rows.table_4, rows.overload])
def test_witnesses__silence_is_not_agreement(witness: object) -> None:
    assert callable(witness)
    assert verdicts(witness("NOT RUN: nothing here")) == [NOT_COMPARED]


@pytest.mark.parametrize(
    ("line", "code", "verdict"),
    [
        ("oracle: 234 of 234 cases agree event by event", 0, AGREES),
        ("oracle: 233 of 234 cases agree event by event", 1, DIFFERS),
        ("oracle: 0 of 0 cases agree", 1, DIFFERS),
        ("make: *** No rule to make target 'oracle'.", 2, NOT_COMPARED),
    ],
)
def test_random_tcp__from_the_last_line(line: str, code: int, verdict: str) -> None:
    assert rows.random_tcp(line, code).verdict == verdict


@pytest.mark.parametrize(
    ("line", "code", "verdict"),
    [
        ("witness: 4 within 10%, 0 part, 0 without a counterpart", 0, AGREES),
        ("witness: 3 within 10%, 1 part, 0 without a counterpart", 1, DIFFERS),
        ("NOT RUN  witness: needs root", 0, NOT_COMPARED),
    ],
)
def test_linux__from_the_last_line(line: str, code: int, verdict: str) -> None:
    assert rows.linux(f"table\n{line}\n", code).verdict == verdict


def test_table_4__above_the_interval_differs() -> None:
    text = "table\n• a: 6 %, published 32 %: the\npublished number lies above our interval; so.\n"
    text += "• b: 29 %: the published number lies in our\ninterval.\n• c: said in other words\n"
    assert verdicts(rows.table_4(text)) == [DIFFERS, AGREES, DIFFERS]


def test_model__twelve_of_twenty_eight_differs() -> None:
    text = "• Simulated / once is within 10 % of 1 in 12 of 28 cells. Farthest: one.\n"
    assert verdicts(rows.model(text)) == [DIFFERS]


def test_renewed__failures_first() -> None:
    section = validation.Section("S", [Row("good", "x", "0", ""), Row("bad", "x", "a|b", "c", DIFFERS)])
    text = validation.renewed(f"head\n{validation.BEGIN}old", [section])
    assert "1 claims agree, 1 differ, 0 are not compared" in text
    assert text.index("bad. a|b") < text.index("| good |")
    assert "a\\|b" in text
    assert "old" not in text


def test_output__keeps_and_reuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "KEPT", tmp_path)
    first = validation.output("x", ["sh", "-c", "echo said; exit 3"], reuse=True)
    assert first == validation.Output("said\n", 3)
    assert validation.output("x", ["false"], reuse=True) == first
    assert validation.output("x", ["no-such-program"], reuse=False).code == 127


def test_document__states_every_verdict() -> None:
    text = (ROOT / "docs" / "validation.md").read_text(encoding="utf-8").partition(validation.BEGIN)[2]
    assert text.count("\n## ") >= 8
    assert text.count(f"| {AGREES} |") > 30
