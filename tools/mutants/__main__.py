"""Changes the sources in small ways, one at a time, and runs the tests; lists what no test notices.

Three kept tools make the changes: cosmic-ray those of the statistics in Python, cargo-mutants those of
the Rust crates, universalmutator those of the policy headers, by the rules in `c.rules`. Everything
happens in copies of the tree under build/mutants. `tools/mutants.toml` names the survivors that are
explained. Any other survivor is printed with its change, and the exit code is 1.

`python -m tools.mutants python|c|rust [--sample N] [--again] [--files PATH ...]`; `make mutants` runs all
three. A sample is drawn with a fixed seed; without `--sample` every change is tried. `--again` tries
only what survived the last time.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence

from tools.mutants import c, python, rust
from tools.mutants.changes import Outcome, Record, ToolError, explanations, summary
from tools.mutants.workspace import BUILD, ROOT


def main(arguments: Sequence[str] | None = None) -> int:
    """Tries the changes of one language; returns 1 if one survives that is not explained."""
    chosen = _parser().parse_args(arguments)
    explained = explanations(ROOT / "tools" / "mutants.toml")
    os.nice(10)
    os.environ["PROPTEST_DISABLE_FAILURE_PERSISTENCE"] = "1"  # else one change's inputs try the next, too
    record = Record(BUILD / f"survivors-{chosen.language}.json")
    outcomes: list[Outcome] = []
    try:
        for outcome in _tried(chosen, record):
            outcomes.append(outcome)
            if not outcome.is_noticed and outcome.mutant not in explained:
                print(f"SURVIVED {outcome.mutant}", flush=True)
            if len(outcomes) % 50 == 0:
                print(f"mutants: {len(outcomes)} changes tried", file=sys.stderr, flush=True)
    except ToolError as error:
        print(f"mutants: {error}", file=sys.stderr)
        return 2
    record.keep(outcomes)
    line, is_clean = summary(chosen.language, outcomes, explained)
    print(line)
    return 0 if is_clean else 1


def _tried(chosen: argparse.Namespace, record: Record) -> Iterator[Outcome]:
    only = record.survivors() if chosen.again else None
    outcomes = {"python": python.outcomes, "c": c.outcomes, "rust": rust.outcomes}[chosen.language]
    return outcomes(chosen.files, chosen.sample, only)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.mutants",
        description="Changes the sources in small ways, one at a time, and lists what no test notices.",
    )
    parser.add_argument("language", choices=["python", "c", "rust"])
    parser.add_argument("--sample", type=int, help="try this many changes, drawn at random (default: all)")
    parser.add_argument("--again", action="store_true", help="try only what survived the last time")
    parser.add_argument("--files", nargs="*", default=[], help="change these files only")
    return parser


if __name__ == "__main__":
    sys.exit(main())
