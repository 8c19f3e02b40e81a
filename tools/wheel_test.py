"""Installs a wheel into an empty environment and uses it outside the repository, for `make wheel-test`.

    python -m tools.wheel_test dist/mousehole-*.whl   installs the wheel, then tries it
    python tools/wheel_test.py --installed            tries the `mousehole` of the current environment

It needs nothing but Python, and gcc for the step that checks a policy.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
import venv
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TABLE = "start,client,server,bytes\n" + "".join(
    f"{0.4 * number:.1f},10.0.0.{number % 7},192.0.2.1,{(3 if number % 5 else 200) * 1000}\n"
    for number in range(200)
)
RUN = """scheme = "droptail"
duration = "10s"
warmup = "2s"
[link]
rate = "3mbit"
[traffic]
model = "web:sfd"
load = 0.5
"""
QUICK = ["--quick", "--duration", "10s", "--warmup", "2s"]


@dataclass(frozen=True)
class Step:
    """A command of the installed program, texts that it must print, and its exit status."""

    arguments: Sequence[str]
    printed: Sequence[str]
    status: int = 0


STEPS = (
    Step(["--version"], ["mousehole "]),
    Step(["schemes"], ["rio-ps", "Markers", "shred-edge"]),
    Step(["schemes", "sfd"], ["Chen & Heidemann", "out_maxp"]),
    Step(
        ["compare", "web:sfd", "--rate", "3mbit", "--load", "0.9", "--schemes", "sfd,fq-codel", *QUICK],
        ["Transfers ≤ 15 kB", "droptail", "fq-codel"],
    ),
    Step(["inspect", "connections.csv", "--rate", "5mbit"], ["200 rows", "native load"]),
    Step(
        ["compare", "connections.csv", "--rate", "5mbit", "--load", "0.8", "--schemes", "rio-ps",
         "--heatmap", "heat.png", *QUICK],
        ["--heatmap needs the package vl-convert-python", "pip install 'mousehole[report]'"], status=2,
    ),
    Step(["paper", "list"], ["rio-ps ", "claim M-1 to M-16"]),
    Step(["paper", "sfd", "claim", "S1"], ["S1", "agrees", "90.7 %"]),
    Step(["policy", "new", "my-marker"], ["my-marker.h"]),
    Step(["policy", "check", "my-marker.h", "--no-kernel", "--records", "5000"], ["passed"]),
    Step(
        ["compare", "web:sfd", "--rate", "3mbit", "--load", "0.9", "--policy", "my-marker.h",
         "--schemes", "my-marker|multi-red", *QUICK],
        ["my-marker|multi-red"],
    ),
    Step(["run", "run.toml"], ["droptail: ", "goodput"]),
    Step(
        ["run", "run.toml", "--records", "records.csv"],
        ["--records needs the package polars", "pip install 'mousehole[frames]'"], status=2,
    ),
    Step(
        ["sweep", "run.toml", "--out", "cells"],
        ["a sweep needs the package polars", "pip install 'mousehole[sweep]'"], status=2,
    ),
    Step(
        ["tune", "web:sfd", "--rate", "3mbit", "--load", "0.9", "--scheme", "sfd"],
        ["tune needs the package optuna", "pip install 'mousehole[tune]'"], status=2,
    ),
)  # fmt: skip
"""What the base package does, and says where an extra is missing."""
STEPS_WITH_LIVE = (
    Step(["live", "--version"], ["mousehole-live "]),
    Step(["live", "no-such-verb"], ["unrecognized subcommand", "Usage: mousehole-live"], status=2),
    Step(
        [
            "live",
            "mark",
            "lo",
            "--via",
            "dscp",
            "--marker",
            "my-marker",
            "--policy",
            "my-marker.h",
            "--dry-run",
        ],
        ["mousehole-live: ", "my-marker.h: is a header of your own, which a static program cannot load"],
        status=2,
    ),
)
"""Where the wheel brings `mousehole-live`."""
STEPS_WITHOUT_LIVE = (Step(["live", "status"], ["mousehole-live is not installed", "make live"], status=2),)
EXTRAS = "frames,report,tune"
STEPS_WITH_EXTRAS = (
    Step(["run", "run.toml", "--records", "records.csv"], ["droptail: "]),
    Step(
        ["compare", "connections.csv", "--rate", "5mbit", "--load", "0.8", "--schemes", "rio-ps",
         "--heatmap", "heat.png", *QUICK],
        ["Transfers ≤ 15 kB", "rio-ps"],
    ),
    Step(["paper", "rio-ps", "figure", "2", "--seeds", "1"], ["M-4", "rio-ps-figure-2.png"]),
    Step(
        ["tune", "web:sfd", "--rate", "3mbit", "--load", "0.9", "--scheme", "sfd", "--trials", "2",
         "--seeds", "5", "--search-seeds", "2", "--sensitivity-seeds", "0", "--duration", "10s",
         "--warmup", "2s"],
        ["sfd("],
    ),
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Tests every step in a temporary folder; prints the results, and returns 0 if all succeed, else 1.

    Ends the program, with status 2, unless either wheels or --installed are given.
    """
    parser = argparse.ArgumentParser(description="Tries an installed wheel.")
    parser.add_argument("wheels", nargs="*", type=Path, metavar="WHEEL")
    parser.add_argument("--installed", action="store_true", help="try what is installed already")
    asked = parser.parse_args(arguments)
    if asked.installed == bool(asked.wheels):
        parser.error("give the wheel, or --installed")
    with tempfile.TemporaryDirectory(prefix="mousehole-wheel-") as scratch:
        folder, environment = Path(scratch) / "elsewhere", Path(scratch) / "venv"
        folder.mkdir()
        if asked.installed:
            # A release's wheels for Linux bring it, or the test fails.
            live = STEPS_WITH_LIVE if sys.platform == "linux" else STEPS_WITHOUT_LIVE
            return run_steps("mousehole", folder, (*STEPS, *live, *STEPS_WITH_EXTRAS))
        live = STEPS_WITH_LIVE if brings_live(asked.wheels) else STEPS_WITHOUT_LIVE
        status = run_steps(install(asked.wheels, environment), folder, (*STEPS, *live))
        program = install([f"{wheel}[{EXTRAS}]" for wheel in asked.wheels], environment)
        return status or run_steps(program, folder, STEPS_WITH_EXTRAS)


def brings_live(wheels: Sequence[Path]) -> bool:
    """Returns whether one of the wheels contains `mousehole-live`."""
    names = [name for wheel in wheels for name in zipfile.ZipFile(wheel).namelist()]
    return any(name.endswith(".data/scripts/mousehole-live") for name in names)


def install(wheels: Sequence[Path | str], place: Path) -> str:
    """Installs wheels and their dependencies into an environment; returns the path of its `mousehole`.

    The environment is created if missing. Uses the network for dependencies. Raises `CalledProcessError` if
    pip fails; ends the program if the wheel has no manual pages.
    """
    began = time.monotonic()
    if not place.exists():
        venv.create(place, with_pip=True)
    python = str(place / "bin" / "python")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *map(str, wheels)], env=clean_environment(os.environ), check=True)
    if not (place / "share" / "man" / "man1" / "mousehole-compare.1").is_file():
        sys.exit("wheel-test: the wheel has no manual pages")
    names = ", ".join(Path(path).name for path in wheels)
    size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file()) / 1e6
    print(f"wheel-test: installed {names} in {time.monotonic() - began:.0f} s; {size:.0f} MB", flush=True)
    return str(place / "bin" / "mousehole")


def run_steps(program: str, folder: Path, steps: Sequence[Step]) -> int:
    """Runs steps in a folder and prints one line for each; returns the exit status.

    Writes their input files into the folder first. The status is 1 if a step has a fault.
    """
    (folder / "connections.csv").write_text(TABLE, encoding="utf-8")
    (folder / "run.toml").write_text(RUN, encoding="utf-8")
    # A home of its own: no headers or settings that an earlier run left are found.
    environment = {**clean_environment(os.environ), "HOME": str(folder), "COLUMNS": "110"}
    found = []
    for step in steps:
        began = time.monotonic()
        command = [program, *step.arguments]
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        complaints = find_faults(step, done)
        outcome, took = "FAILED" if complaints else "passed", time.monotonic() - began
        print(f"  {outcome}  {took:4.1f} s  {format_command(step)}", flush=True)
        found += complaints
    print("\n".join(found) if found else f"wheel-test: {len(steps)} commands did what they should")
    return 1 if found else 0


def find_faults(step: Step, done: subprocess.CompletedProcess[str]) -> list[str]:
    """Returns the faults in the result of a step."""
    command = format_command(step)
    if done.returncode != step.status:
        return [f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}"]
    missing = [text for text in step.printed if text not in done.stdout + done.stderr]
    return [f"{command}: does not print {text!r}, but\n{done.stdout}{done.stderr}" for text in missing]


def format_command(step: Step) -> str:
    """Returns the command of a step as a user would type it."""
    return shlex.join(["mousehole", *step.arguments])


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns the environment without variables that lead Python or Mousehole back into the repository."""
    leading = ("PYTHON", "MOUSEHOLE", "VIRTUAL_ENV", "XDG_")
    return {name: value for name, value in environment.items() if not name.startswith(leading)}


if __name__ == "__main__":
    sys.exit(main())
