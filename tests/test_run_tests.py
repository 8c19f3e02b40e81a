"""The tally that ends `make test` counts what really happened."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tools import cargo_tests, run_tests
from tools.cargo_tests import Outcome, Program, Result
from tools.run_tests import Tally, add_tallies, choose_exit_code, run_pytest, tally_cargo, tally_junit

TESTS = """\
mod inner {
    #[test]
    fn good() { println!("worst error 3e-7\\n\\nsecond line"); }
    #[test]
    #[should_panic]
    fn panics() { panic!("as it should"); }
}
#[test]
fn bad() { println!("before"); assert_eq!(1, 2); }
#[test]
fn no_data() { eprintln!("NOT RUN: no MOUSEHOLE_DATA"); }
#[test]
#[ignore = "slow"]
fn slow() { panic!(); }
"""

JUNIT = """\
<testsuites><testsuite>
<testcase classname="tests.test_a" name="one"/>
<testcase classname="tests.test_a" name="two"><failure message="no">x</failure></testcase>
<testcase classname="tests.test_a" name="three"><error message="no">x</error></testcase>
<testcase classname="tests.test_a" name="four"><skipped message="no data">x</skipped></testcase>
</testsuite></testsuites>
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """Every test of a program that rustc made from TESTS."""
    folder = tmp_path_factory.mktemp("tests")
    (folder / "a.rs").write_text(TESTS)
    subprocess.run(["rustc", "--test", "-o", "a", "a.rs"], cwd=folder, check=True, capture_output=True)
    program = Program("crate", "a", str(folder / "a"), str(folder))
    tests, ignored = cargo_tests.list_tests(program)
    return {name: cargo_tests.run(program, name, name in ignored) for name in tests}


def test_run__outcome_is_the_exit_code(outcomes: dict[str, Result]) -> None:
    assert {name: one.outcome for name, one in outcomes.items()} == {
        "inner::good": Outcome.PASSED,
        "inner::panics": Outcome.PASSED,
        "bad": Outcome.FAILED,
        "no_data": Outcome.NOT_RUN,
        "slow": Outcome.NOT_RUN,
    }


def test_run__keeps_what_a_test_printed_and_why_it_did_not_run(outcomes: dict[str, Result]) -> None:
    assert outcomes["inner::good"].output == "worst error 3e-7\n\nsecond line"
    assert "before" in outcomes["bad"].output
    assert "left: 1" in outcomes["bad"].output
    assert outcomes["no_data"].output == "no MOUSEHOLE_DATA"
    assert outcomes["slow"].output == "ignored"


def test_tally_cargo__counts_not_run_apart(outcomes: dict[str, Result]) -> None:
    tally = tally_cargo(outcomes.values())
    assert (tally.passed, tally.failed) == (2, 1)
    assert sorted(tally.not_run) == ["crate a no_data, no MOUSEHOLE_DATA", "crate a slow, ignored"]


def test_programs__are_the_executables_that_cargo_built_for_tests() -> None:
    def message(**changes: object) -> str:
        usual = {
            "reason": "compiler-artifact",
            "package_id": "path+file:///x/sim#mousehole-sim@0.1.0",
            "manifest_path": "/x/sim/Cargo.toml",
            "target": {"name": "it"},
            "profile": {"test": True},
            "executable": "/x/target/it",
        }
        return json.dumps({**usual, **changes})

    lines = [
        message(),
        message(package_id="path+file:///x/policy#0.1.0"),
        message(executable=None),
        message(profile={"test": False}),
        '{"reason": "build-finished", "success": true}',
    ]
    found = list(cargo_tests.list_programs(lines))
    assert [program.package for program in found] == ["mousehole-sim", "policy"]
    assert found[0] == Program("mousehole-sim", "it", "/x/target/it", "/x/sim")


def test_built__raises_what_the_compiler_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text("fn f() -> u32 { missing }")
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "a"\nversion = "0.1.0"\nedition = "2024"\n')
    subprocess.run(["cargo", "generate-lockfile", "--offline"], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setattr(cargo_tests, "ROOT", tmp_path)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    with pytest.raises(cargo_tests.BuildError, match="E0425"):
        cargo_tests.build()


def test_doc_tests__count_as_failed_if_one_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text("//! ```\n//! assert_eq!(1, 2);\n//! ```\n")
    (tmp_path / "Cargo.toml").write_text('[package]\nname = "a"\nversion = "0.1.0"\nedition = "2024"\n')
    subprocess.run(["cargo", "generate-lockfile", "--offline"], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setattr(cargo_tests, "ROOT", tmp_path)
    monkeypatch.setenv("CARGO_TARGET_DIR", str(tmp_path / "target"))
    (found,) = cargo_tests.run_doc_tests()
    assert (found.name, found.outcome) == ("src/lib.rs - (line 1)", Outcome.FAILED)
    assert "assertion `left == right` failed" in found.output
    (tmp_path / "src" / "lib.rs").write_text("")
    assert cargo_tests.run_doc_tests(["a"]) == []


def test_naming_alone__finds_the_files_with_the_mark(tmp_path: Path) -> None:
    for name, text in (("test_a.py", "pytest.mark.alone"), ("test_b.py", ""), ("a.py", "pytest.mark.alone")):
        (tmp_path / name).write_text(text)
    assert run_tests.list_alone([str(tmp_path)]) == [str(tmp_path / "test_a.py")]


def test_tally_junit__counts_errors_as_failures() -> None:
    tally = tally_junit(JUNIT)
    assert (tally.passed, tally.failed) == (1, 2)
    assert tally.not_run == ["tests.test_a.four, no data"]


def test_run_pytest__in_parallel_runs_each_test_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_tests, "BUILD", tmp_path)
    (tmp_path / "test_a.py").write_text("def test_one(): pass\ndef test_two(): assert False\n")
    alone = "import pytest\npytestmark = pytest.mark.alone\ndef test_three(): pass\n"
    (tmp_path / "test_b.py").write_text(alone)
    tally = run_pytest([str(tmp_path)], parallel=True)
    assert (tally.runner, tally.passed, tally.failed) == ("pytest", 2, 1)
    (tmp_path / "test_b.py").unlink()
    assert run_pytest([str(tmp_path)], parallel=True).failed == 2, "a part without tests counts as failed"


def test_summed__adds_all_runners() -> None:
    total = add_tallies([Tally("a", 2, 1, ["x"]), Tally("b", 3, 0, ["y"])])
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
    assert choose_exit_code(tally, strict=strict) == code
