"""Changes of the Rust crates, by cargo-mutants."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence

from tools.mutants.changes import Mutant, Outcome, ToolError
from tools.mutants.workspace import BUILD, cargo_mutants, copy_tree, run

FOLDERS = ("policy/src", "sim/src/tcp", "sim/src/queue", "sim/src/marker")
TREE = BUILD / "tree-rust"
LONGEST_S = 300
"""Seconds after which the tests of a change are ended; a change that makes a loop endless is noticed."""
BUILDING = {
    "CARGO_TARGET_DIR": str(BUILD / "target-rust"),
    # Each change is compiled once and run once: the time of the compiler counts.
    "CARGO_PROFILE_DEV_OPT_LEVEL": "0",
    "CARGO_PROFILE_DEV_DEBUG": "0",
}


def outcomes(files: Sequence[str], sample: int | None) -> Iterator[Outcome]:
    """Tries the changes that cargo-mutants makes to the Rust crates."""
    copy_tree(TREE)
    chosen = list(files) or [f"{folder}/**/*.rs" for folder in FOLDERS]
    command = [str(cargo_mutants()), "mutants", "--dir", str(TREE), "--output", str(BUILD), "--no-shuffle"]
    command += ["--in-place", "--test-workspace", "false", "--timeout", str(LONGEST_S)]
    command += ["--cargo-test-arg=--lib", "--cargo-test-arg=--tests"]
    command += [part for glob in chosen for part in ("--file", glob)]
    if sample is not None:
        every = max(1, len(run([*command, "--list"]).splitlines()) // max(1, sample))
        command += ["--sharding", "round-robin", "--shard", f"0/{every}"]
    environment = {**os.environ, **BUILDING}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    # 0: all noticed; 2: some missed; 3: some timed out.
    if done.returncode not in (0, 2, 3):
        raise ToolError(f"cargo-mutants ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
    yield from read_outcomes(json.loads((BUILD / "mutants.out" / "outcomes.json").read_text()))


def read_outcomes(found: dict[str, list[dict[str, object]]]) -> Iterator[Outcome]:
    """Yields the outcomes in cargo-mutants' `outcomes.json`, without changes that do not compile."""
    for one in found["outcomes"]:
        scenario = one["scenario"]
        if isinstance(scenario, dict) and one["summary"] != "Unviable":
            mutant = scenario["Mutant"]
            name = str(mutant["name"]).split(": ", 1)[-1]
            change = Mutant(str(mutant["file"]), name, str(mutant["replacement"]))
            yield Outcome(change, one["summary"] != "MissedMutant")
