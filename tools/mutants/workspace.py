"""The folder build/mutants: copies of the tree in which changes are made, and the tools that make them."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.mutants.changes import ToolError

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"
CARGO = os.environ.get("CARGO", "cargo")
PACKAGES = ("cosmic-ray==8.7.0", "universalmutator==1.14.1")
CARGO_MUTANTS = "27.1.0"


def copy_tree(tree: Path) -> None:
    """Copies the tracked files and the built engine to the folder `tree`, and removes what was there.

    Each language has a tree of its own, so that all three can be tried at the same time.
    """
    shutil.rmtree(tree, ignore_errors=True)
    tracked = run(["git", "-C", str(ROOT), "ls-files", "-z"]).split("\0")
    engine = [str(path.relative_to(ROOT)) for path in (ROOT / "python/mousehole").glob("_engine*.so")]
    for name in filter(None, [*tracked, *engine]):
        source, target = ROOT / name, tree / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


@contextmanager
def written(path: Path, text: str) -> Iterator[None]:
    """Holds `text` in the file `path` of the copied tree, and puts the original text back afterwards."""
    original = path.read_text()
    path.write_text(text)
    try:
        yield
    finally:
        path.write_text(original)


def python_tools() -> Path:
    """Returns the folder of the mutation tools' programs; installs them first if they are not there."""
    venv = BUILD / "venv"
    if not (venv / "bin" / "mutate").exists():
        print(f"mutants: installing {' and '.join(PACKAGES)} into {venv.relative_to(ROOT)}", flush=True)
        run([sys.executable, "-m", "venv", "--clear", str(venv)])
        run([str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
    return venv / "bin"


def cargo_mutants() -> Path:
    """Returns the program cargo-mutants; installs it first if it is not there."""
    root = BUILD / "cargo"
    program = root / "bin" / "cargo-mutants"
    if not program.exists():
        print(f"mutants: installing cargo-mutants {CARGO_MUTANTS} into {root.relative_to(ROOT)}", flush=True)
        install = [CARGO, "install", "--quiet", "--locked", "--root", str(root), "--version", CARGO_MUTANTS]
        run([*install, "cargo-mutants"])
    return program


def run(command: Sequence[str], folder: Path = ROOT, environment: Mapping[str, str] | None = None) -> str:
    """Runs a command in a folder and returns what it printed; raises `ToolError` if it fails."""
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **(environment or {})}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if done.returncode:
        raise ToolError(f"{command[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    return done.stdout


def limit_cpu(process: int, seconds: int) -> None:
    """Ends a process after so many seconds on the processor, however long it waits for one.

    A change may make a loop endless. A limit in wall-clock time would count a busy machine as noticing.
    """
    resource.prlimit(process, resource.RLIMIT_CPU, (seconds, seconds))
