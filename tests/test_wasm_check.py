"""`tools/wasm-check` fails where a byte differs and says where it cannot run, shown on stand-ins."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "tools" / "wasm-check"
NATIVE = "0.12345678901234567"
TARGET = "wasm32-unknown-unknown"


def write_program(path: Path, line: str) -> None:
    """Writes an executable script of one line; its folder is created."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


def run_wasm_check(
    folder: Path, *, without: str = "", native: str = NATIVE, answer: str = NATIVE, ci: bool = False
) -> tuple[int, str]:
    """Runs the script with stand-ins, one of which may be missing; they print `native` and `answer`."""
    tools = dict.fromkeys(("cargo", "clang", "llvm-ar"), "true")
    tools |= {
        "node": f"echo '{answer}'",
        "rustc": f"echo {folder if without != TARGET else folder / 'none'}",
    }
    for name in set(tools) - {without}:
        write_program(folder / "bin" / name, tools[name])
    for name in ("bash", "cmp", "dirname", "wc"):
        (folder / "bin" / name).symlink_to(str(shutil.which(name)))
    write_program(folder / "target" / "debug" / "mousehole-wasm", f"echo '{native}'")
    environment = {"PATH": str(folder / "bin"), "CARGO_TARGET_DIR": str(folder / "target")}
    done = subprocess.run(
        [folder / "bin" / "bash", SCRIPT],
        env=environment | ({"CI": "true"} if ci else {}),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_wasm_check__takes_the_same_bytes(tmp_path: Path) -> None:
    assert run_wasm_check(tmp_path) == (
        0,
        "wasm-check: the same document natively and in WebAssembly, 20 bytes\n",
    )


@pytest.mark.parametrize("answer", [NATIVE.replace("901234567", "901234568"), f" {NATIVE}", ""])
def test_wasm_check__refuses_any_other_byte(tmp_path: Path, answer: str) -> None:
    code, said = run_wasm_check(tmp_path, answer=answer)
    assert code == 1
    assert "native.json" in said
    assert "the same document" not in said


@pytest.mark.parametrize("missing", ["node", "clang", "llvm-ar", TARGET])
@pytest.mark.parametrize("ci", [False, True])
def test_wasm_check__says_what_is_missing(tmp_path: Path, missing: str, ci: bool) -> None:
    code, said = run_wasm_check(tmp_path, without=missing, ci=ci)
    assert code == int(ci)
    assert said.startswith("NOT RUN  wasm-check: ")
    assert missing in said
    assert "is not installed" in said
