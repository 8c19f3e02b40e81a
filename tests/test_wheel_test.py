"""The trial of an installed wheel notices what is wrong, and the wheel's configuration takes every paper."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from tools import hygiene, wheel_test

ROOT = Path(__file__).resolve().parent.parent
STEP = wheel_test.Step(["schemes", "a|b"], ["first", "second"])


@pytest.mark.parametrize(
    ("status", "printed", "complaint"),
    [
        (0, "first and second", None),
        (0, "first", "mousehole schemes 'a|b': does not print 'second', but\nfirst"),
        (2, "first and second", "mousehole schemes 'a|b': status 2\nfirst and second"),
    ],
)
def test_faults__of_a_step(status: int, printed: str, complaint: str | None) -> None:
    done = subprocess.CompletedProcess([], status, stdout=printed, stderr="")
    assert wheel_test.find_faults(STEP, done) == ([] if complaint is None else [complaint])


def test_tried__runs_each_step_in_the_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\nls\necho "home $HOME $1 ${PYTHONPATH-none}"\n')
    program.chmod(0o755)
    folder = tmp_path / "elsewhere"
    monkeypatch.setenv("PYTHONPATH", "python")
    good = wheel_test.Step(["x"], ["connections.csv", f"home {folder} x none"])
    folder.mkdir()
    assert wheel_test.run_steps(str(program), folder, (good,)) == 0
    assert wheel_test.run_steps(str(program), folder, (good, STEP)) == 1


def test_main__needs_a_wheel_or_the_switch() -> None:
    for arguments in ([], ["--installed", "a.whl"]):
        with pytest.raises(SystemExit, match="2"):
            wheel_test.main(arguments)


def test_wheel__has_every_file_of_the_papers() -> None:
    described = tomllib.loads((ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8"))
    taken = [entry["path"] for entry in described["tool"]["maturin"]["include"] if "wheel" in entry["format"]]
    assert all(path.startswith("mousehole/bundled/papers/**/*.") for path in taken)
    papers = {name.suffix for name in hygiene.tracked_files(ROOT) if name.parts[0] == "papers"}
    assert papers == {Path(path).suffix for path in taken}
    assert (ROOT / "python" / "mousehole" / "bundled" / "papers").resolve() == ROOT / "papers"
