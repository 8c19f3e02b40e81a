"""`tools/wasm-check` fails where numbers differ and says where it cannot run, shown on stand-ins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "wasm-check"
NATIVE = "0.12345678901234567"
TARGET = "wasm32-unknown-unknown"


def program(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def wasm_check(folder: Path, *, without: str = "", answer: str = NATIVE, ci: bool = False) -> tuple[int, str]:
    """Runs the script with stand-ins, one of which may be missing; Node's prints `answer`."""
    tools = dict.fromkeys(("cargo", "clang", "llvm-ar"), "true")
    tools |= {"node": f"echo {answer}", "rustc": f"echo {folder if without != TARGET else folder / 'none'}"}
    for name in set(tools) - {without}:
        program(folder / "bin" / name, tools[name])
    for name in ("bash", "dirname"):
        (folder / "bin" / name).symlink_to(str(shutil.which(name)))
    program(folder / "target" / "debug" / "mousehole-wasm", f"echo {NATIVE}")
    environment = {"PATH": str(folder / "bin"), "CARGO_TARGET_DIR": str(folder / "target")}
    done = subprocess.run(
        [folder / "bin" / "bash", SCRIPT],
        env=environment | ({"CI": "true"} if ci else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_wasm_check__equal(tmp_path: Path) -> None:
    code, said = wasm_check(tmp_path)
    assert (code, said) == (
        0,
        f"wasm-check: the mean response time is {NATIVE} s, natively and in WebAssembly\n",
    )


def test_wasm_check__differs_in_the_last_digit(tmp_path: Path) -> None:
    other = NATIVE[:-1] + "8"
    code, said = wasm_check(tmp_path, answer=other)
    assert code == 1
    assert NATIVE in said
    assert f"{other} s in WebAssembly" in said


@pytest.mark.parametrize("missing", ["node", "clang", "llvm-ar", TARGET])
@pytest.mark.parametrize("ci", [False, True])
def test_wasm_check__says_what_is_missing(tmp_path: Path, missing: str, ci: bool) -> None:
    code, said = wasm_check(tmp_path, without=missing, ci=ci)
    assert code == int(ci)
    assert said.startswith("NOT RUN  wasm-check: ")
    assert missing in said
    assert "is not installed" in said
