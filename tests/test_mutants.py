import json
import re
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from tools.mutants import c, python, rust, together, workspace
from tools.mutants.changes import Mutant, Outcome, Record, changed_lines, explanations, summary


def test_changed_lines__name_the_line_before_and_after() -> None:
    found = changed_lines("m.py", "def f(a):\n    return a - 1\n", "def f(a):\n    return a + 1\n")
    assert found == Mutant("m.py", "return a - 1", "return a + 1")


def test_changed_lines__a_line_that_is_gone_leaves_nothing() -> None:
    assert changed_lines("m.py", "a\n\n@cache\ndef f(): ...\n", "a\ndef f(): ...\n") == Mutant(
        "m.py", "@cache", ""
    )


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("def f(a: int | None = 1) -> int | None: return a", "def f(a: int & None = 1) -> int: return a"),
        ("x: int | None = 1", "x: int & None = 1"),
        ("f(not a < b)", "f(a >= b)"),
        ("f(not a in b)", "f(a not in b)"),
        ("f(1)  # one", "f(1)"),
    ],
)
def test_meaning__is_that_of_what_runs(text: str, same: str) -> None:
    assert python.meaning(text) == python.meaning(same)


@pytest.mark.parametrize(
    ("text", "other"), [("f(a < b)", "f(a <= b)"), ("x: int = 1", "x: int = 2"), ("f(not a)", "f(a)")]
)
def test_meaning__tells_programs_apart(text: str, other: str) -> None:
    assert python.meaning(text) != python.meaning(other)


def test_changes__leave_out_what_is_no_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("x = {**y}\nz = 1\n")
    texts = ("x = {*y, 'a': 1}\nz = 1\n", "x = {**y}\nz = 2\n", "x = {**y}\nz = 1  # the same\n")
    monkeypatch.setattr(python, "TREE", tmp_path)
    monkeypatch.setattr(python, "python_tools", lambda: tmp_path)
    monkeypatch.setattr(python, "run", lambda *_: "\n".join(json.dumps(["a.py", text]) for text in texts))
    assert list(python.changes(["a.py"])) == [("a.py", texts[1])]


def test_cheapest_first__sorts_by_the_times_of_the_first_run(tmp_path: Path) -> None:
    class Test:
        def __init__(self, nodeid: str, duration: float = 0.0) -> None:
            self.nodeid, self.duration = nodeid, duration

    first = python.CheapestFirst(tmp_path / "durations.json")
    for report in (Test("dear", 0.1), Test("dear", 2.0), Test("cheap", 0.5)):
        first.pytest_runtest_logreport(report)  # type: ignore[arg-type]
    first.pytest_sessionfinish()
    later = python.CheapestFirst(tmp_path / "durations.json")
    items = [Test("dear"), Test("cheap"), Test("new")]
    later.pytest_collection_modifyitems(items)  # type: ignore[arg-type]
    assert [item.nodeid for item in items] == ["new", "cheap", "dear"]


def test_without_comments__keeps_lines_where_they_are() -> None:
    text = "/* a\n * b */\nint x = 1; /* one */\nint y; /* two\n of them */\n"
    assert c.without_comments(text) == "\n\nint x = 1; \nint y; \n\n"


def test_with_comments__takes_the_changed_line_only() -> None:
    original = "/* a */\nint x = 1; /* one */\n"
    plain = c.without_comments(original)
    changed = c.with_comments(original, plain, plain.replace("1", "2"))
    assert changed == "/* a */\nint x = 2; \n"


def test_c_rules__are_all_understood() -> None:
    rules = [line for line in c.RULES.read_text().splitlines() if line and not line.startswith("#")]
    assert rules
    for rule in rules:
        pattern, arrow, _ = rule.partition(" ==>")
        assert arrow, rule
        re.compile(pattern)


def test_written__puts_the_text_back_after_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.h"
    path.write_text("old")

    def fails() -> None:
        with workspace.written(path, "new"):
            assert path.read_text() == "new"
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert path.read_text() == "old"


def test_limit_cpu__ends_an_endless_loop_but_no_wait() -> None:
    def loop() -> None:
        while True:
            pass

    endless, patient = (get_context("fork").Process(target=f) for f in (loop, lambda: time.sleep(1.5)))
    for process in (endless, patient):
        process.start()
        workspace.limit_cpu(process.pid or 0, 1)
    for process in (endless, patient):
        process.join(60)
    assert endless.exitcode not in (0, None)
    assert patient.exitcode == 0


def test_cargo_outcomes__leave_out_the_baseline_and_what_does_not_compile(tmp_path: Path) -> None:
    (tmp_path / "a.rs").write_text("fn f() -> u32 {\n    1 + g()\n}\n")

    def entry(summary: str) -> dict[str, Any]:
        span = {"start": {"line": 2, "column": 7}, "end": {"line": 2, "column": 8}}
        mutant = {"file": "a.rs", "name": "a.rs:2:7: replace + with - in f", "span": span}
        return {"scenario": {"Mutant": mutant}, "summary": summary}

    found: list[dict[str, Any]] = [{"scenario": "Baseline", "summary": "Success"}, entry("Unviable")]
    found += [entry(summary) for summary in ("CaughtMutant", "MissedMutant", "Timeout")]
    outcomes = list(rust.read_outcomes({"outcomes": found}, tmp_path))
    assert [outcome.is_noticed for outcome in outcomes] == [True, False, True]
    assert outcomes[0].mutant == Mutant("a.rs", "1 + g()", "7: replace + with - in f")


SOURCE = """fn f(a: u64, b: u64) -> u64 {
    // a + b
    if a < b && !(a == 1 || b == 2) {
        return g("a + b", a + b);
    }
    let c = xs.iter().map(|x| x - 1).sum() << 3;
    match c {
        0 if a > b => 1,
        n => { n }
    }
}
"""


@pytest.mark.parametrize(
    ("line", "operator", "expression"),
    [
        (3, "<", "a < b"),
        (3, "&&", "a < b && !(a == 1 || b == 2)"),
        (3, "!", "!(a == 1 || b == 2)"),
        (3, "==", "a == 1"),
        (3, "||", "a == 1 || b == 2"),
        (4, "+", "a + b"),
        (6, "-", "x - 1"),
        (6, "<<", "xs.iter().map(|x| x - 1).sum() << 3"),
        (8, ">", "a > b"),
    ],
)
def test_expression_around__holds_the_operands(line: int, operator: str, expression: str) -> None:
    plain = together.masked(SOURCE)
    lines = plain.splitlines(keepends=True)
    start = sum(map(len, lines[: line - 1])) + lines[line - 1].index(operator)
    begin, end = together.expression_around(plain, start, start + len(operator))
    assert SOURCE[begin:end] == expression


def described(genre: str, line: int, first: int, last: int, replacement: str) -> dict[str, Any]:
    span = {"start": {"line": line, "column": first}, "end": {"line": line, "column": last}}
    return {"genre": genre, "span": span, "replacement": replacement}


def test_with_changes__each_can_be_chosen_and_the_rest_stays() -> None:
    text = "fn f(a: u64) -> bool {\n    (a + 1) < 5\n}\n"
    found = [
        described("FnValue", 2, 5, 16, "true"),
        described("BinaryOperator", 2, 13, 14, ">"),
        described("BinaryOperator", 2, 8, 9, "-"),
    ]
    changes = [together.change_of(number, one, text) for number, one in enumerate(found, 1)]
    output = together.with_changes(text, [one for one in changes if one])
    made = "".join(output.parts)
    assert made.replace("crate::chosen_mutant()", "m") == (
        "fn f(a: u64) -> bool {\n"
        "    if m == 1 { return true; }\n"
        "(match m { 2 => { (a + 1) > 5 }\n"
        "_ => { ((match m { 3 => { a - 1 }\n"
        "_ => { a + 1 } })) < 5 } })\n"
        "}\n"
    )
    assert output.at_fault(made.index("a - 1"), made.index("a - 1") + 5) == (3,)
    assert output.at_fault(made.index("return"), made.index("return") + 6) == (1,)
    assert output.at_fault(0, 2) == (), "the source's own"


def test_change_of__an_arm_is_never_taken_and_a_guard_holds_always() -> None:
    text = "match a {\n    0 => 1,\n    _ if b => 2,\n    _ => 3,\n}\n"
    arm = together.change_of(7, described("MatchArm", 2, 5, 12, ""), text)
    guard = together.change_of(8, described("MatchArmGuard", 3, 10, 11, "true"), text)
    assert arm is not None
    assert guard is not None
    assert (arm.start, arm.end, arm.text) == (16, 16, "if crate::chosen_mutant() != 7 ")
    assert (text[guard.start : guard.end], guard.text) == ("b", "true")
    assert together.change_of(9, described("MatchArm", 3, 5, 16, ""), text) is None, "it has a guard"
    assert together.change_of(9, described("StructField", 2, 5, 6, ""), text) is None


def test_is_noticed__by_the_first_failure_or_the_exit_code(tmp_path: Path) -> None:
    program = tmp_path / "tests"
    program.write_text(
        "#!/bin/sh\n"
        'case $MOUSEHOLE_MUTANT in 1) echo "test a ... FAILED"; exec sleep 100;; 2) exit 3;; esac\n'
    )
    program.chmod(0o755)
    found = {number: together.is_noticed([str(program)], tmp_path, number) for number in range(3)}
    assert found == {0: False, 1: True, 2: True}


def test_summary__fails_for_unexplained_survivors_only() -> None:
    known, new = Mutant("a.py", "x", "y"), Mutant("a.py", "x", "z")
    outcomes = [Outcome(known, is_noticed=False), Outcome(new, is_noticed=True)]
    line, is_clean = summary("python", outcomes, {known: "equal"})
    assert is_clean
    assert line == "mutants: python: 2 changes, 1 noticed, 1 explained survivors, 0 unexplained"
    line, is_clean = summary("python", [Outcome(new, is_noticed=False)], {known: "equal"})
    assert not is_clean
    assert line.endswith("1 unexplained")


def test_summary__nothing_tried_is_a_failure() -> None:
    assert not summary("python", [], {})[1]


def test_record__keeps_what_survived_last(tmp_path: Path) -> None:
    one, two, three = (Mutant("a.py", "x", after) for after in "yzw")
    record = Record(tmp_path / "survivors.json")
    assert record.survivors() == frozenset()
    record.keep([Outcome(one, is_noticed=False), Outcome(two, is_noticed=False)])
    record.keep([Outcome(two, is_noticed=True), Outcome(three, is_noticed=True)])
    assert record.survivors() == {one}, "one was not tried again"


def test_explanations__name_lines_that_exist() -> None:
    explained = explanations(workspace.ROOT / "tools" / "mutants.toml")
    for mutant, why in explained.items():
        assert why.strip(), mutant
        lines = {line.strip() for line in (workspace.ROOT / mutant.file).read_text().splitlines()}
        assert mutant.before in lines, mutant


def test_explanations__hold_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "mutants.toml"
    path.write_text('[[survivor]]\nfile = "a.py"\nbefore = "x"\nafter = "y"\nwhy = "the same"\n')
    assert explanations(path) == {Mutant("a.py", "x", "y"): "the same"}
