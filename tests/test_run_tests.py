"""The tally that ends `make test` counts what really happened."""

from __future__ import annotations

import pytest

from tools.run_tests import Tally, cargo_troubles, exit_code, summed, tally_cargo, tally_junit

CARGO = """\
     Running unittests src/lib.rs (target/debug/deps/a-1)

running 4 tests
test units::tests::parse__rate ... ok
test golden__red ... ok
test needs_root ... ignored, needs root
test nasa__counts ... ok

successes:

---- golden__red stdout ----
worst error 3e-7

---- nasa__counts stdout ----
NOT RUN: no MOUSEHOLE_DATA


successes:
    golden__red
    nasa__counts

test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s

running 2 tests
test a ... ok
test b ... FAILED

failures:

---- b stdout ----
assertion failed: NOT RUN is not printed at the start of a line

failures:
    b

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""

JUNIT = """\
<testsuites><testsuite>
<testcase classname="tests.test_a" name="one"/>
<testcase classname="tests.test_a" name="two"><failure message="no">x</failure></testcase>
<testcase classname="tests.test_a" name="three"><error message="no">x</error></testcase>
<testcase classname="tests.test_a" name="four"><skipped message="no data">x</skipped></testcase>
</testsuite></testsuites>
"""


def test_tally_cargo__counts_not_run_apart() -> None:
    tally = tally_cargo(CARGO)
    assert (tally.passed, tally.failed) == (3, 1)
    assert tally.not_run == ["needs_root, needs root", "nasa__counts, no MOUSEHOLE_DATA"]


def test_cargo_troubles__shows_failed_tests_only() -> None:
    shown = cargo_troubles(CARGO)
    assert "---- b stdout ----" in shown
    assert "worst error" not in shown


def test_cargo_troubles__shows_compiler_errors() -> None:
    shown = cargo_troubles(
        "   Compiling a\nerror[E0425]: cannot find value `x`\n --> a.rs:1:1\n\nwarning: unused\n"
    )
    assert "E0425" in shown
    assert "unused" not in shown


def test_tally_junit__counts_errors_as_failures() -> None:
    tally = tally_junit(JUNIT)
    assert (tally.passed, tally.failed) == (1, 2)
    assert tally.not_run == ["tests.test_a.four, no data"]


def test_summed__adds_all_runners() -> None:
    total = summed([Tally("a", 2, 1, ["x"]), Tally("b", 3, 0, ["y"])])
    assert (total.passed, total.failed, total.not_run) == (5, 1, ["x", "y"])


@pytest.mark.parametrize(
    ("tally", "strict", "code"),
    [
        (Tally("all", 5), True, 0),
        (Tally("all", 5, 1), False, 1),
        (Tally("all", 0), False, 1),
        (Tally("all", 5, 0, ["x"]), False, 0),
        (Tally("all", 5, 0, ["x"]), True, 1),
    ],
)
def test_exit_code__fails_when_it_must(tally: Tally, strict: bool, code: int) -> None:
    assert exit_code(tally, strict=strict) == code
