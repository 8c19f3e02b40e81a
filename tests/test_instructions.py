"""The instruction guard fails on a rise, tells of a fall, and widens for another compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import instructions

THEN = instructions.Counts("1.95.0", {"bulk": 1000, "web": 2000})


def make_counts(bulk: int, web: int = 2000, rustc: str = "1.95.0") -> instructions.Counts:
    """Returns the counts of the two cases, and the compiler that they belong to."""
    return instructions.Counts(rustc, {"bulk": bulk, "web": web})


@pytest.mark.parametrize(("bulk", "faults"), [(1000, 0), (1029, 0), (971, 0), (1031, 1), (969, 0)])
def test_compare__three_per_cent(bulk: int, faults: int) -> None:
    assert len(list(instructions.compare(make_counts(bulk), THEN))) == faults


def test_compare__distinguishes_rise_from_fall(capsys: pytest.CaptureFixture[str]) -> None:
    (rise,) = instructions.compare(make_counts(1100), THEN)
    assert "+10.0%, at most +3% is allowed" in rise
    assert "records it" not in capsys.readouterr().out
    assert list(instructions.compare(make_counts(900), THEN)) == []
    assert "bulk: -10.0% is good; make instructions BLESS=1 records it" in capsys.readouterr().out


@pytest.mark.parametrize(("bulk", "faults"), [(1090, 0), (910, 0), (1110, 1), (890, 0)])
def test_compare__another_compiler(bulk: int, faults: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(list(instructions.compare(make_counts(bulk, rustc="1.99.0"), THEN))) == faults
    assert "recorded with rustc 1.95.0" in capsys.readouterr().out


def test_compare__other_cases() -> None:
    other = instructions.Counts("1.95.0", {"bulk": 1000})
    assert list(instructions.compare(other, THEN)) != []


def test_counts__survive_the_file() -> None:
    assert instructions.parse_record(THEN.text()) == THEN


def test_record__is_for_these_cases() -> None:
    record = instructions.parse_record(instructions.RECORD.read_text())
    assert list(record.instructions) == [case.name for case in instructions.CASES]
    assert min(record.instructions.values()) > 1_000_000


def test_main__without_valgrind_is_not_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.delenv("CI", raising=False)
    assert instructions.main([]) == 0
    monkeypatch.setenv("CI", "true")
    assert instructions.main([]) == 2
    assert "NOT RUN" in capsys.readouterr().out


def test_main__blesses_then_agrees_then_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = ["--record", str(tmp_path / "instructions.txt")]
    taken = {"bulk": 5_000_000, "web-set-up": 3_000_000, "web": 9_000_000}
    monkeypatch.setattr(instructions, "count_all", lambda _: taken)
    monkeypatch.setattr("shutil.which", lambda name: name)
    assert instructions.main(record) == 2
    assert instructions.main([*record, "--bless"]) == 0
    assert instructions.main(record) == 0
    taken["web"] = 10_000_000
    assert instructions.main(record) == 1
