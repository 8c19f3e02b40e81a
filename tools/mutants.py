"""Changes the sources in small ways, one at a time, and runs the tests; lists what no test notices.

Three kept tools make the changes: cosmic-ray those of the statistics in Python, cargo-mutants those of
the Rust crates, universalmutator those of the policy headers. Everything happens in a copy of the tree
under build/mutants. `tools/mutants.toml` names the survivors that are explained. Any other survivor is
printed with its change, and the exit code is 1.

`python -m tools.mutants python|rust|c [--sample N] [--files PATH ...]`; `make mutants` runs all three.
A sample is drawn with a fixed seed; without `--sample` every change is tried, which takes hours for C.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "mutants"
TREE = BUILD / "tree"
CARGO = os.environ.get("CARGO", "cargo")
PACKAGES = ("cosmic-ray==8.7.0", "universalmutator==1.14.1")
CARGO_MUTANTS = "27.1.0"
PYTHON_MODULES = tuple(
    f"python/mousehole/{name}.py"
    for name in (
        "statistics/capture",
        "statistics/indices",
        "statistics/intervals",
        "statistics/levels",
        "statistics/transient",
        "reduction",
        "findings",
    )
)
PYTHON_TESTS = tuple(f"python/tests/test_{name}.py" for name in ("statistics", "reduction", "findings"))
RUST_FOLDERS = ("policy/src", "sim/src/tcp", "sim/src/queue", "sim/src/marker")
LONGEST_S = 300
"""Seconds after which the tests of a change are ended; a change that makes a loop endless is noticed."""


@dataclass(frozen=True)
class Mutant:
    """A change of one line: its file, relative to the tree, and the line before and after, unindented."""

    file: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:\n  - {self.before}\n  + {self.after}"


@dataclass(frozen=True)
class Outcome:
    """A change and whether a test failed because of it."""

    mutant: Mutant
    is_noticed: bool


class ToolError(Exception):
    """A tool is missing or did not do its work."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Tries the changes of one language; returns 1 if one survives that is not explained."""
    chosen = _parser().parse_args(arguments)
    explained = explanations(ROOT / "tools" / "mutants.toml")
    try:
        _copy_tree()
        outcomes = list(LANGUAGES[chosen.language](chosen.files, chosen.sample))
    except ToolError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    lines, is_clean = report(chosen.language, outcomes, explained)
    print("\n".join(lines))
    return 0 if is_clean else 1


def explanations(path: Path) -> dict[Mutant, str]:
    """Returns the survivors that `path` explains, with the reason why no test can or need notice them."""
    entries = tomllib.loads(path.read_text()).get("survivor", [])
    return {Mutant(entry["file"], entry["before"], entry["after"]): entry["why"] for entry in entries}


def report(
    language: str, outcomes: Sequence[Outcome], explained: dict[Mutant, str]
) -> tuple[list[str], bool]:
    """Returns the lines to print, and whether changes were tried and every survivor is explained."""
    survivors = [outcome.mutant for outcome in outcomes if not outcome.is_noticed]
    unexplained = [mutant for mutant in survivors if mutant not in explained]
    lines = [f"SURVIVED {mutant}" for mutant in unexplained]
    lines.append(
        f"mutants: {language}: {len(outcomes)} changes, {len(outcomes) - len(survivors)} noticed, "
        f"{len(survivors) - len(unexplained)} explained survivors, {len(unexplained)} unexplained"
    )
    return lines, bool(outcomes) and not unexplained


def of_python(files: Sequence[str], sample: int | None) -> Iterator[Outcome]:
    """Tries the changes that cosmic-ray makes to the statistics."""
    tools = _python_tools()
    tests = " ".join(PYTHON_TESTS)
    configuration = {
        "module-path": [str(TREE / file) for file in files or PYTHON_MODULES],
        "timeout": float(LONGEST_S),
        "excluded-modules": [],
        "test-command": f"{sys.executable} -m pytest -x -q -p no:cacheprovider -p no:randomly {tests}",
    }
    config, session = BUILD / "cosmic-ray.toml", BUILD / "session.sqlite"
    session.unlink(missing_ok=True)
    body = "\n".join(f"{key} = {json.dumps(value)}" for key, value in configuration.items())
    config.write_text(f'[cosmic-ray]\n{body}\n[cosmic-ray.distributor]\nname = "local"\n')
    # The tests must see the copy of the package, not the one that is installed.
    environment = {**os.environ, "PYTHONPATH": str(TREE / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = str(tools / "cosmic-ray")
    _run([command, "init", str(config), str(session)], environment)
    _run([command, "baseline", str(config)], environment)
    if sample is not None:
        _drop_all_but(session, sample)
    _run([command, "exec", str(config), str(session)], environment)
    yield from cosmic_ray_outcomes(_run([command, "dump", str(session)], environment).splitlines())


def cosmic_ray_outcomes(lines: Iterable[str]) -> Iterator[Outcome]:
    """Yields the outcomes in a dump of cosmic-ray; raises `ToolError` if a change was not tried."""
    for line in lines:
        item, result = json.loads(line)
        where = item["mutations"][0]["module_path"]
        if result is None or result["worker_outcome"] not in ("normal", "timeout"):
            raise ToolError(f"cosmic-ray did not try a change of {where}")
        yield Outcome(_changed_line(where, result["diff"]), result["test_outcome"] != "survived")


def of_rust(files: Sequence[str], sample: int | None) -> Iterator[Outcome]:
    """Tries the changes that cargo-mutants makes to the Rust crates."""
    root = BUILD / "cargo"
    program = root / "bin" / "cargo-mutants"
    if not program.exists():
        print(f"mutants: installing cargo-mutants {CARGO_MUTANTS} into {root.relative_to(ROOT)}", flush=True)
        install = [CARGO, "install", "--quiet", "--locked", "--root", str(root), "--version", CARGO_MUTANTS]
        _run([*install, "cargo-mutants"])
    chosen = list(files) or [f"{folder}/**/*.rs" for folder in RUST_FOLDERS]
    command = [str(program), "mutants", "--dir", str(TREE), "--output", str(BUILD), "--no-shuffle"]
    command += ["--in-place", "--test-workspace", "false", "--timeout", str(LONGEST_S)]
    command += [part for glob in chosen for part in ("--file", glob)]
    if sample is not None:
        every = max(1, len(_run([*command, "--list"]).splitlines()) // max(1, sample))
        command += ["--shard", f"0/{every}"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    # 0: all noticed; 2: some missed; 3: some timed out.
    if done.returncode not in (0, 2, 3):
        raise ToolError(f"cargo-mutants ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    found = json.loads((BUILD / "mutants.out" / "outcomes.json").read_text())
    yield from cargo_outcomes(found)


def cargo_outcomes(found: dict[str, list[dict[str, object]]]) -> Iterator[Outcome]:
    """Yields the outcomes in cargo-mutants' `outcomes.json`, without changes that do not compile."""
    for one in found["outcomes"]:
        scenario = one["scenario"]
        if isinstance(scenario, dict) and one["summary"] != "Unviable":
            mutant = scenario["Mutant"]
            name = str(mutant["name"]).split(": ", 1)[-1]
            change = Mutant(str(mutant["file"]), name, str(mutant["replacement"]))
            yield Outcome(change, one["summary"] != "MissedMutant")


def of_c(files: Sequence[str], sample: int | None) -> Iterator[Outcome]:
    """Tries the changes that universalmutator makes to the policy headers."""
    tools = _python_tools()
    headers = [TREE / file for file in files] or sorted((TREE / "policy/include/mousehole").glob("*.h"))
    changes = [change for header in headers for change in _c_changes(tools, header)]
    if sample is not None and sample < len(changes):
        changes = random.Random(1).sample(changes, sample)  # noqa: S311
    if not _c_tests_pass():
        raise ToolError("the policy tests fail without any change")
    for header, changed in changes:
        original = header.read_text()
        header.write_text(changed)
        try:
            is_noticed = not _c_tests_pass()
        finally:
            header.write_text(original)
        yield Outcome(_first_difference(str(header.relative_to(TREE)), original, changed), is_noticed)


LANGUAGES = {"python": of_python, "rust": of_rust, "c": of_c}


def _c_changes(tools: Path, header: Path) -> Iterator[tuple[Path, str]]:
    """Yields the header and each changed text of it, without changes of comments and of blank lines."""
    folder = BUILD / "c" / header.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _run([str(tools / "mutate"), str(header), "c", "--mutantDir", str(folder), "--noCheck"])
    original = header.read_text()
    for path in sorted(folder.iterdir()):
        changed = path.read_text()
        before = _first_difference(header.name, original, changed).before
        if before and not before.startswith(("/*", "*", "#")):
            yield header, changed


def _c_tests_pass() -> bool:
    command = [CARGO, "test", "--quiet", "--locked", "-p", "mousehole-policy"]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILD / "target")}
    try:
        done = subprocess.run(
            command, cwd=TREE, env=environment, capture_output=True, timeout=LONGEST_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _first_difference(file: str, original: str, changed: str) -> Mutant:
    before, after = original.splitlines(), changed.splitlines()
    for old, new in zip(before, after, strict=False):
        if old != new:
            return Mutant(file, old.strip(), new.strip())
    return Mutant(file, "", "")


def _changed_line(where: str, diff: str) -> Mutant:
    body = [line for line in diff.splitlines() if not line.startswith(("---", "+++"))]
    before = " ".join(line[1:].strip() for line in body if line.startswith("-"))
    after = " ".join(line[1:].strip() for line in body if line.startswith("+"))
    return Mutant(str(Path(where).relative_to(TREE)), before, after)


def _drop_all_but(session: Path, sample: int) -> None:
    """Leaves a random sample of the changes in a session of cosmic-ray."""
    import sqlite3

    with sqlite3.connect(session) as database:
        jobs = [row[0] for row in database.execute("SELECT job_id FROM work_items ORDER BY rowid")]
        kept = set(random.Random(1).sample(range(len(jobs)), min(sample, len(jobs))))  # noqa: S311
        dropped = [(job,) for index, job in enumerate(jobs) if index not in kept]
        for table in ("mutation_specs", "work_items"):
            database.executemany(f"DELETE FROM {table} WHERE job_id = ?", dropped)  # noqa: S608


def _copy_tree() -> None:
    """Copies the tracked files and the built engine to build/mutants/tree."""
    shutil.rmtree(TREE, ignore_errors=True)
    tracked = _run(["git", "-C", str(ROOT), "ls-files", "-z"]).split("\0")
    engine = [str(path.relative_to(ROOT)) for path in (ROOT / "python/mousehole").glob("_engine*.so")]
    for name in filter(None, [*tracked, *engine]):
        source, target = ROOT / name, TREE / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def _python_tools() -> Path:
    """Returns the folder of the mutation tools' programs; installs them first if they are not there."""
    venv = BUILD / "venv"
    if not (venv / "bin" / "mutate").exists():
        print(f"mutants: installing {' and '.join(PACKAGES)} into {venv.relative_to(ROOT)}", flush=True)
        _run([sys.executable, "-m", "venv", "--clear", str(venv)])
        _run([str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
    return venv / "bin"


def _run(command: Sequence[str], environment: dict[str, str] | None = None) -> str:
    """Runs a command in the copied tree and returns what it printed; raises `ToolError` if it fails."""
    folder = TREE if TREE.is_dir() else ROOT
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolError(f"{command[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    return done.stdout


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("language", choices=sorted(LANGUAGES))
    parser.add_argument("--sample", type=int, help="try this many changes, drawn at random (default: all)")
    parser.add_argument("--files", nargs="*", default=[], help="change these files only")
    return parser


if __name__ == "__main__":
    sys.exit(main())
