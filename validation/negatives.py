"""Writes docs/when-it-does-not-help.md: where letting short flows go first gains nothing, or costs others.

Every case is one or more `mousehole compare` commands, which anyone can run, and what came of them. `make
negatives` runs them all and puts the tables in place; the words stand in this file.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import document
from validation import negative_cases

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "when-it-does-not-help.md"
SHORT = "short"
"""A column for the primary endpoint; other columns are (group, what) of the application's figures."""

Comparison = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A situation, the commands that show it, and the columns of its tables."""

    title: str
    words: str
    commands: tuple[str, ...]
    columns: tuple[str | tuple[str, str], ...] = (SHORT,)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cases and renews the document; with `--only`, prints those cases instead.

    Returns 0; ends the program with a message if a command fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--mousehole", default=str(Path(sys.executable).parent / "mousehole"))
    parser.add_argument(
        "--only", type=int, nargs="*", help="numbers of cases, from 1; prints and writes nothing"
    )
    options = parser.parse_args(arguments)
    cases = [Case(**case) for case in negative_cases.CASES]
    if options.only:
        for number in options.only:
            print(write_section(number, cases[number - 1], options.mousehole))
        return 0
    sections = [write_section(number, case, options.mousehole) for number, case in enumerate(cases, 1)]
    document.renew(DOCUMENT, "validation WHAT=negatives", "".join(f"\n{part}" for part in sections))
    return 0


def write_section(number: int, case: Case, mousehole: str) -> str:
    """Runs the commands of a case and returns its section in Markdown.

    Prints its title to standard error. Ends the program if a command fails.
    """
    print(f"negatives: {number}. {case.title}", file=sys.stderr, flush=True)
    runs = [
        f"```\nmousehole compare {command}\n```\n\n{write_table(run_compare(mousehole, command), case)}"
        for command in case.commands
    ]
    return "\n".join([f"## {number}. {case.title}\n\n{document.wrap(case.words.strip())}\n", *runs])


def run_compare(mousehole: str, command: str) -> Comparison:
    """Runs `mousehole compare` with these arguments and returns its JSON; ends the program if it fails."""
    line = [mousehole, "compare", *shlex.split(command), "--json", "-"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"negatives: {command} ended with {done.returncode}: {done.stderr.strip()}")
    comparison: Comparison = json.loads(done.stdout)
    return comparison


def write_table(comparison: Comparison, case: Case) -> str:
    """Returns a table of schemes and figures, with changes against the baseline and their intervals.

    The comparison must have exactly one cell; raises `ValueError` otherwise.
    """
    (cell,) = comparison["cells"]
    baseline = comparison["manifest"]["baseline"]
    names = [write_heading(column) for column in case.columns]
    rows = []
    for scheme in cell["schemes"]:
        cells = [format_figure(scheme, column, scheme["scheme"] == baseline) for column in case.columns]
        rows.append([f"`{scheme['scheme']}`", *cells])
    return document.table(["scheme", *names], rows)


def write_heading(column: str | tuple[str, str]) -> str:
    """Returns the heading of a column: a role of transfers, or a pair of group and quantity.

    Raises `KeyError` for an unknown role or quantity.
    """
    if isinstance(column, str):
        return {"short": "transfers ≤ 15 kB", "long": "transfers > 150 kB"}[column]
    words = {
        "response_mean_s": "response time", "page_mean_s": "page time", "delay_p95_s": "delay p95",
        "loss_share": "lost", "goodput_bps": "goodput",
    }  # fmt: skip
    return f"{column[0]}: {words[column[1]]}"


def format_figure(scheme: Comparison, column: str | tuple[str, str], is_baseline: bool) -> str:
    """Returns a figure as text, such as `226 ms, −32 % (−36…−28)`.

    It has no change for the baseline, nor where the change is unknown. A dash stands for a figure that the
    scheme lacks.
    """
    if isinstance(column, str):
        (row,) = [row for row in scheme["buckets"] if row["role"] == column]
        value, prefix, what = row["response_mean_s"], "response_mean_change", "response_mean_s"
    else:
        found = [row for row in scheme["groups"] if (row["group"], row["what"]) == column]
        if not found:
            return "–"
        (row,) = found
        value, prefix, what = row["value"], "change", column[1]
    text = format_value(what, value)
    change, low, high = (row[f"{prefix}{end}"] for end in ("", "_low", "_high"))
    if is_baseline or change is None or low is None:
        return text
    return f"{text}, {format_percent(change)} % ({format_percent(low)}…{format_percent(high)})"


def format_value(what: str, value: float | None) -> str:
    """Returns a value in its unit, or a dash for None.

    `what` names the quantity. Goodput is in bit/s and `loss_share` a share; any other quantity is in seconds.
    """
    if value is None:
        return "–"
    if what == "goodput_bps":
        return f"{value / 1e6:.3g} Mb/s"
    if what == "loss_share":
        return f"{100 * value:.2g} %"
    if value >= 1000:
        return f"{value:.0f} s"
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def format_percent(share: float) -> str:
    """Returns a change in percent with its sign; rounding errors of floats count as 0."""
    if abs(share) < 1e-12:
        return "0"
    text = f"{100 * share:+.2g}" if abs(share) < 0.995 else f"{100 * share:+.0f}"
    return text.replace("-", "−")


if __name__ == "__main__":
    sys.exit(main())
