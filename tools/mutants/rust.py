"""Changes of the Rust crates, by cargo-mutants.

Changes are compiled together (`together.py`). What cannot be is compiled and tried by itself, but not where
it belongs to the simulator, whose compilation takes too long for that.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Container, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools.mutants import together
from tools.mutants.changes import Mutant, Outcome, ToolError
from tools.mutants.workspace import BUILD, cargo_mutants, copy_tree, run

SOURCES = (
    "policy/src/**/*.rs", "sim/src/link.rs", "sim/src/marker/**/*.rs", "sim/src/queue/**/*.rs",
    "sim/src/tcp/**/*.rs", "sim/src/traffic/overlay.rs",
)  # fmt: skip
TREE = BUILD / "tree-rust"
LONGEST_S = 300
"""Seconds after which the tests of a change are ended; a change that makes a loop endless is noticed."""
DEAR = (
    "properties::", "reference_models::", "rio_ps::", "size_history::", "token_buckets::", "lfp::", "shred::",
)  # fmt: skip
"""Tests of the policies that take longest: they run only for changes that the others do not notice."""
DEAR_OF_SIMULATOR = ("apps_", "engine_", "queue_overload::", "tcp_laws::", "traffic_")
"""The same among the simulator's integration tests, by the beginnings of their names."""
BUILDING = {
    "CARGO_TARGET_DIR": str(BUILD / "target-rust"),
    # Each change is compiled once and run once: the time of the compiler counts.
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
}


def outcomes(files: Sequence[str], sample: int | None, only: Container[Mutant] | None) -> Iterator[Outcome]:
    """Tries cargo-mutants' changes of `files`, or of all `SOURCES`; of `only`, if given."""
    copy_tree(TREE)
    listed = json.loads(run([*_command(files), "--list", "--json"]))
    found = [(one, mutant_of(one, TREE)) for one in listed]
    if only is not None:
        found = [(one, mutant) for one, mutant in found if mutant in only]
    if sample is not None and sample < len(found):
        found = random.Random(1).sample(found, sample)  # noqa: S311
    for crate, dear in (("policy", DEAR), ("sim", DEAR_OF_SIMULATOR)):
        described = [one for one, _ in found if one["file"].startswith(f"{crate}/")]
        left = yield from _together(crate, described, dear)
        if crate == "policy":
            yield from _one_by_one(files, left)
        elif left:
            print(f"mutants: {len(left)} changes of the simulator were left out", file=sys.stderr)


def _one_by_one(files: Sequence[str], found: Mapping[str, Mutant]) -> Iterator[Outcome]:
    """Tries changes by their names, each compiled by itself."""
    cheap = [part for name in DEAR for part in ("--skip", name)]
    first = _tried(files, found, cheap)
    yield from (outcome for outcome in first if outcome.is_noticed)
    left = {outcome.mutant for outcome in first if not outcome.is_noticed}
    yield from _tried(files, {name: mutant for name, mutant in found.items() if mutant in left}, DEAR)


def _together(
    crate: str, described: Sequence[dict[str, Any]], dear: Sequence[str]
) -> Generator[Outcome, None, dict[str, Mutant]]:
    """Tries changes of a crate that can be compiled together; returns the others by their names.

    `described` is cargo-mutants' list of them; `dear` tests run last. Raises `ToolError` if the tests fail
    without a change.
    """
    if not described:
        return {}
    mutants = {one["name"]: mutant_of(one, TREE) for one in described}
    environment = {"CARGO_TARGET_DIR": str(BUILD / "target-together"), "CARGO_PROFILE_DEV_DEBUG": "0"}
    changed = together.Crate(TREE, f"mousehole-{crate}", environment)
    chosen, programs = changed.build(described)
    own, integrated = sorted(programs, key=lambda path: path.name.startswith("it-"))
    cheap = [part for name in dear for part in ("--skip", name)]
    all_steps = [[str(own)], [str(integrated), *cheap], [str(integrated), *dear]]
    if any(together.is_noticed(step, TREE / crate, 0) for step in all_steps):
        raise ToolError(f"the tests of {crate} fail without any change")
    for number, one in chosen.items():
        modules = Path(one["file"]).with_suffix("").parts[2:]
        nearest = [[str(own), "::".join([*modules, "tests"])], [str(integrated), f"{modules[0]}_", *cheap]]
        noticed = any(together.is_noticed(step, TREE / crate, number) for step in [*nearest, *all_steps])
        yield Outcome(mutants.pop(one["name"]), noticed)
    changed.restore()
    return mutants


def _command(files: Sequence[str]) -> list[str]:
    chosen = [part for glob in files or SOURCES for part in ("--file", glob)]
    return [str(cargo_mutants()), "mutants", "--dir", str(TREE), *chosen]


def _tried(files: Sequence[str], chosen: Mapping[str, Mutant], tests: Sequence[str]) -> list[Outcome]:
    """Tries changes by their names; `tests` are the test programs' arguments."""
    if not chosen:
        return []
    command = [*_command(files), "--output", str(BUILD), "--no-shuffle", "--in-place"]
    command += ["--test-workspace", "false", "--timeout", str(LONGEST_S)]
    command += ["--cargo-test-arg=--lib", "--cargo-test-arg=--tests"]
    command += [part for name in chosen for part in ("--re", f"^{re.escape(name)}$")]
    environment = {**os.environ, **BUILDING}
    done = subprocess.run(
        [*command, "--", "--", *tests], check=False, capture_output=True, text=True, env=environment
    )
    # 0: all noticed; 2: some missed; 3: some timed out.
    if done.returncode not in (0, 2, 3):
        raise ToolError(f"cargo-mutants ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    outcomes = read_outcomes(json.loads((BUILD / "mutants.out" / "outcomes.json").read_text()), TREE)
    # cargo-mutants tries every change of a struct's fields, asked for or not.
    wanted = set(chosen.values())
    return [outcome for outcome in outcomes if outcome.mutant in wanted]


def read_outcomes(found: dict[str, list[dict[str, Any]]], tree: Path) -> Iterator[Outcome]:
    """Yields the outcomes in cargo-mutants' `outcomes.json`, without changes that do not compile."""
    for one in found["outcomes"]:
        scenario = one["scenario"]
        if isinstance(scenario, dict) and one["summary"] != "Unviable":
            yield Outcome(mutant_of(scenario["Mutant"], tree), one["summary"] != "MissedMutant")


def mutant_of(described: dict[str, Any], tree: Path) -> Mutant:
    """Returns a change: the line at which it begins; the column there, and what cargo-mutants calls it."""
    file, line = described["file"], described["span"]["start"]["line"]
    before = (tree / file).read_text().splitlines()[line - 1].strip()
    return Mutant(file, before, described["name"].removeprefix(f"{file}:{line}:"))
