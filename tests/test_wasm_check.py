"""`tools/wasm-check` fails where numbers differ and says where it cannot run, shown on stand-ins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "wasm-check"
NATIVE = "0.12345678901234567"
TARGET = "wasm32-unknown-unknown"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def program(path: Path, line: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def wasm_check(
    folder: Path, *, without: str = "", native: str = NATIVE, answer: str = NATIVE, ci: bool = False
) -> tuple[int, str]:
    """Runs the script with stand-ins, one of which may be missing.

    The native program prints `native`. Node prints `answer`, but compares two documents as it is.
    """
    tools = dict.fromkeys(("cargo", "clang", "llvm-ar"), "true")
    compares = f'case "$1" in *same.mjs) exec {shutil.which("node")} "$@" ;; esac'
    tools |= {
        "node": f"{compares}; echo '{answer}'",
        "rustc": f"echo {folder if without != TARGET else folder / 'none'}",
    }
    for name in set(tools) - {without}:
        program(folder / "bin" / name, tools[name])
    for name in ("bash", "dirname"):
        (folder / "bin" / name).symlink_to(str(shutil.which(name)))
    program(folder / "target" / "debug" / "mousehole-wasm", f"echo '{native}'")
    environment = {"PATH": str(folder / "bin"), "CARGO_TARGET_DIR": str(folder / "target")}
    done = subprocess.run(
        [folder / "bin" / "bash", SCRIPT],
        env=environment | ({"CI": "true"} if ci else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@needs_node
@pytest.mark.parametrize("answer", [NATIVE, NATIVE.replace("901234567", "901234568"), '{"mean": 0.5}'])
def test_wasm_check__takes_the_same_within_rounding(tmp_path: Path, answer: str) -> None:
    native = answer if answer.startswith("{") else NATIVE
    assert wasm_check(tmp_path, native=native, answer=answer) == (
        0,
        "wasm-check: the same document natively and in WebAssembly\n",
    )


@needs_node
@pytest.mark.parametrize(
    ("native", "answer", "place"),
    [
        (NATIVE, "0.1234567891", ": 0.12345678901234566, 0.1234567891"),
        ('{"cells": [1, 2]}', '{"cells": [1, 3]}', "/cells/1: 2, 3"),
        ('{"cells": [1, 2]}', '{"cells": [1]}', "/cells/1: 2, null"),
        ('{"text": "a"}', '{"text": "b"}', "/text: a, b"),
    ],
)
def test_wasm_check__names_what_differs(tmp_path: Path, native: str, answer: str, place: str) -> None:
    code, said = wasm_check(tmp_path, native=native, answer=answer)
    assert code == 1
    assert said == f"the documents differ at {place}\n"


@pytest.mark.parametrize("missing", ["node", "clang", "llvm-ar", TARGET])
@pytest.mark.parametrize("ci", [False, True])
def test_wasm_check__says_what_is_missing(tmp_path: Path, missing: str, ci: bool) -> None:
    code, said = wasm_check(tmp_path, without=missing, ci=ci)
    assert code == int(ci)
    assert said.startswith("NOT RUN  wasm-check: ")
    assert missing in said
    assert "is not installed" in said
