import json
from pathlib import Path

import pytest

from tools import mutants
from tools.mutants import Mutant, Outcome, ToolError


def cosmic_ray_line(test_outcome: str, worker_outcome: str = "normal") -> str:
    hunk = " def f(a):\n-    return a - 1\n+    return a + 1\n "
    diff = f"--- mutation diff ---\n--- a/m.py\n+++ b/m.py\n@@ -1,2 +1,2 @@\n{hunk}"
    item = {"mutations": [{"module_path": str(mutants.TREE / "python/m.py")}]}
    result = {"worker_outcome": worker_outcome, "test_outcome": test_outcome, "diff": diff}
    return json.dumps([item, result])


def test_cosmic_ray_outcomes__name_the_line_before_and_after() -> None:
    (outcome,) = mutants.cosmic_ray_outcomes([cosmic_ray_line("survived")])
    assert outcome == Outcome(Mutant("python/m.py", "return a - 1", "return a + 1"), is_noticed=False)


@pytest.mark.parametrize(
    ("test_outcome", "worker_outcome"), [("killed", "normal"), ("incompetent", "timeout")]
)
def test_cosmic_ray_outcomes__a_failure_or_an_endless_loop_is_noticed(
    test_outcome: str, worker_outcome: str
) -> None:
    (outcome,) = mutants.cosmic_ray_outcomes([cosmic_ray_line(test_outcome, worker_outcome)])
    assert outcome.is_noticed


def test_cosmic_ray_outcomes__a_change_that_was_not_tried_is_an_error() -> None:
    with pytest.raises(ToolError, match="did not try a change"):
        list(mutants.cosmic_ray_outcomes([cosmic_ray_line("survived", "exception")]))


def test_cargo_outcomes__leave_out_the_baseline_and_what_does_not_compile() -> None:
    def entry(summary: str) -> dict[str, object]:
        mutant = {"file": "sim/src/a.rs", "name": "sim/src/a.rs:1:1: replace f with 0", "replacement": "0"}
        return {"scenario": {"Mutant": mutant}, "summary": summary}

    found: list[dict[str, object]] = [{"scenario": "Baseline", "summary": "Success"}, entry("Unviable")]
    found += [entry(summary) for summary in ("CaughtMutant", "MissedMutant", "Timeout")]
    outcomes = list(mutants.cargo_outcomes({"outcomes": found}))
    assert [outcome.is_noticed for outcome in outcomes] == [True, False, True]
    assert outcomes[0].mutant == Mutant("sim/src/a.rs", "replace f with 0", "0")


def test_report__fails_for_unexplained_survivors_only() -> None:
    known, new = Mutant("a.py", "x", "y"), Mutant("a.py", "x", "z")
    outcomes = [Outcome(known, is_noticed=False), Outcome(new, is_noticed=True)]
    lines, is_clean = mutants.report("python", outcomes, {known: "equal"})
    assert is_clean
    assert lines == ["mutants: python: 2 changes, 1 noticed, 1 explained survivors, 0 unexplained"]
    lines, is_clean = mutants.report("python", [Outcome(new, is_noticed=False)], {known: "equal"})
    assert not is_clean
    assert lines[0] == "SURVIVED a.py:\n  - x\n  + z"


def test_report__nothing_tried_is_a_failure() -> None:
    assert not mutants.report("python", [], {})[1]


def test_explanations__name_lines_that_exist() -> None:
    explained = mutants.explanations(mutants.ROOT / "tools" / "mutants.toml")
    for mutant, why in explained.items():
        assert why.strip(), mutant
        if not mutant.file.endswith(".rs"):
            lines = {line.strip() for line in (mutants.ROOT / mutant.file).read_text().splitlines()}
            assert mutant.before in lines, mutant


def test_explanations__hold_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "mutants.toml"
    path.write_text('[[survivor]]\nfile = "a.py"\nbefore = "x"\nafter = "y"\nwhy = "the same"\n')
    assert mutants.explanations(path) == {Mutant("a.py", "x", "y"): "the same"}
