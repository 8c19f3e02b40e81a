"""Runs every comparison with something outside and writes docs/validation.md from what they say.

`make validation` calls it. Each program's output is kept in build/validation; with --reuse an output that
stands there is taken instead of a new run. A program that cannot run gives "not compared", never silence.
Ends with 0 when the page was written, whatever stands on it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from validation import rows
from validation.rows import AGREES, DIFFERS, NOT_COMPARED, Row, Test, in_file, tally

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "validation.md"
KEPT = ROOT / "build" / "validation"
BEGIN = "<!-- from here on written by make validation -->\n"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
RELEASE = TARGET / "release"
MOUSEHOLE = Path(sys.executable).parent / "mousehole"
MOST_S = 1800
SIM = "cargo test -p mousehole-sim --test"
POLICY = "cargo test -p mousehole-policy --test"


@dataclass(frozen=True)
class Output:
    """What a program printed, both streams, and its exit code."""

    text: str
    code: int


@dataclass(frozen=True)
class Section:
    """A heading and its rows."""

    title: str
    rows: Sequence[Row]


# Programs in the order they run; the first builds what later ones use.
PROGRAMS: dict[str, list[str]] = {
    "tests": ["cargo", "test", "--locked", "--no-fail-fast", "--", "--show-output"],
    "overload": [str(RELEASE / "mousehole-overload"), "5"],
    "oracle": ["make", "oracle"],
    "model": [str(MOUSEHOLE), "paper", "rio-ps", "--figure", "2"],
    "table-4": [str(MOUSEHOLE), "paper", "sfd", "--table", "4"],
    "kernel": ["make", "bpf-parity"],
    "linux": ["make", "witness"],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything and renew the document."""
    options = parse(arguments)
    KEPT.mkdir(parents=True, exist_ok=True)
    outputs = {name: output(name, command, reuse=options.reuse) for name, command in PROGRAMS.items()}
    sections = list(compared(outputs))
    text = options.document.read_text(encoding="utf-8")
    options.document.write_text(renewed(text, sections), encoding="utf-8")
    print(f"validation: wrote {options.document.name}: {summary(sections)}")
    return 0


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    parser.add_argument(
        "--reuse", action="store_true", help="take the outputs in build/validation where there are any"
    )
    return parser.parse_args(arguments)


def output(name: str, command: Sequence[str], *, reuse: bool) -> Output:
    """A program's output, run now or kept from before; the first line of the kept file is the exit code."""
    kept = KEPT / f"{name}.txt"
    if reuse and kept.exists():
        code, _, text = kept.read_text(encoding="utf-8").partition("\n")
        return Output(text, int(code))
    print(f"validation: {' '.join(command)}", flush=True)
    environment = {**os.environ, "COLUMNS": "400", "NO_COLOR": "1"}
    environment.pop("CI", None)
    try:
        done = subprocess.run(
            command,
            # Figures are written where the command is run.
            cwd=KEPT if command[0] == str(MOUSEHOLE) else ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=MOST_S,
            check=False,
        )
        said = Output(done.stdout, done.returncode)
    except (OSError, subprocess.TimeoutExpired) as error:
        said = Output(f"NOT RUN: {error}", 127)
    kept.write_text(f"{said.code}\n{said.text}", encoding="utf-8")
    return said


def compared(outputs: dict[str, Output]) -> Iterable[Section]:
    """All sections of the page."""
    tests = rows.tests(outputs["tests"].text)
    tcp = [
        guarded(
            "One-way TCP against recorded ns-2 traces",
            lambda: rows.tcp_goldens(RELEASE / "mousehole-trace"),
        ),
        rows.random_tcp(outputs["oracle"].text, outputs["oracle"].code),
    ]
    yield Section("TCP against ns-2", tcp)
    yield Section("TCP against the standards", rows.dialogues(tests, ROOT / "sim" / "tests"))
    yield Section(
        "RED, multi-RED and SFD against ns-2",
        [*queue_rows(tests), *rows.overload(outputs["overload"].text)],
    )
    yield Section("Fixed point against floats", twin_rows(tests))
    yield Section("FQ-CoDel against RFC 8290 and RFC 8289", fq_codel_rows(tests))
    yield Section("The kernel against the simulator", rows.kernel(outputs["kernel"].text))
    real = rows.linux(outputs["linux"].text, outputs["linux"].code)
    yield Section("Bulk TCP as this machine's Linux sends it", [real])
    yield Section("The analytic model of RIO-PS", rows.model(outputs["model"].text))
    yield Section("SFD's published numbers", rows.table_4(outputs["table-4"].text))
    yield Section("Laws that every run must keep", law_rows(tests))
    yield Section("TCP's laws", tcp_laws(tests))


def guarded(claim: str, witness: Callable[[], Row]) -> Row:
    """A witness that may be unable to speak."""
    try:
        return witness()
    except (OSError, SystemExit, ValueError, KeyError, subprocess.SubprocessError) as error:
        return Row(claim, "ns-2", f"could not run: {error}", "make golden", NOT_COMPARED)


def queue_rows(tests: Sequence[Test]) -> list[Row]:
    """Averages and marks, step by step."""
    table = "ns-2 2.35, step by step"
    return [
        tally(
            "Averages of RED and multi-RED after every arrival, to 1e-5",
            table,
            in_file(tests, "golden.rs", "averages"),
            f"{POLICY} golden",
        ),
        tally(
            "The same inside a queue, on its fast and slow path",
            table,
            in_file(tests, "queue_red.rs", "averages__equal"),
            f"{SIM} queue_red",
        ),
        tally(
            "Drop decisions of RED and DiffServ RED after every arrival, given the random number",
            table,
            in_file(tests, "queue_ns2.rs", "decisions__"),
            f"{SIM} queue_ns2",
        ),
        tally(
            "SFD marks of single flows",
            table,
            in_file(tests, "policy/tests/golden.rs", "sfd") or in_file(tests, "golden.rs", "sfd"),
            f"{POLICY} golden",
        ),
        tally(
            "SFD marks with timeouts and promotion",
            table,
            in_file(tests, "queue_marks.rs"),
            f"{SIM} queue_marks",
        ),
    ]


def twin_rows(tests: Sequence[Test]) -> list[Row]:
    """What the float twins said about themselves."""
    return [
        tally(
            test.name.replace("__", ": ").replace("_", " "),
            "the same formula in floats",
            [test],
            f"{POLICY} twins",
        )
        for test in in_file(tests, "twins.rs")
    ] or [tally("Policies in fixed point", "floats", [], f"{POLICY} twins")]


def fq_codel_rows(tests: Sequence[Test]) -> list[Row]:
    """The scheduler, overflow and CoDel."""
    parts = {
        "scheduler": "Order of flows and byte fairness",
        "overflow": "Drops when full",
        "codel": "CoDel's control law",
    }
    return [
        tally(
            claim, "the RFC's rules", in_file(tests, "queue_fq_codel.rs", f"^{part}"), f"{SIM} queue_fq_codel"
        )
        for part, claim in parts.items()
    ]


def law_rows(tests: Sequence[Test]) -> list[Row]:
    """Conservation and its relatives, each with the number of random cases."""
    folder = ROOT / "sim" / "tests"

    def row(claim: str, file: str, pattern: str, *, random: bool) -> Row:
        compared = f"{rows.random_cases(folder / f'{file}.rs')} random cases" if random else "fixed cases"
        return tally(claim, compared, in_file(tests, f"{file}.rs", pattern), f"{SIM} {file}")

    return [
        row(
            "Packets and bytes are conserved, delivered once, no faster than the path",
            "engine_laws",
            "random",
            random=True,
        ),
        row(
            "The same under every scheme; a backlogged link never rests; faults add up",
            "engine_laws",
            "laws__[^h]|every|faults",
            random=False,
        ),
        row("Fast path = slow path, packet by packet", "engine_paths", "hop__fast", random=True),
        row("Fast path = slow path, in whole runs", "engine_paths", "paths", random=False),
        row("Same seed, same records with any number of threads", "engine_determinism", "", random=False),
        row("No traffic file makes a reader panic", "traffic_fuzz", "never", random=True),
    ]


def tcp_laws(tests: Sequence[Test]) -> list[Row]:
    """What the rules add up to: rate against loss, sawtooth, fairness."""
    command = f"{SIM} tcp_laws"
    wanted = {
        "Rate against loss: √(3/2)/√p, and CUBIC's own law": (
            "response",
            "the formulas, within stated bands",
        ),
        "Amplitude of the sawtooth": ("sawtooth", "one half; seven tenths for CUBIC"),
        "Fairness of equal flows, unfairness of unequal round trips": ("fairness|unfairness", "stated bands"),
    }
    return [
        tally(
            claim,
            compared,
            [test for test in tests if re.match(f"(?:rtt_)?(?:{pattern})__", test.name)],
            command,
        )
        for claim, (pattern, compared) in wanted.items()
    ]


def summary(sections: Iterable[Section]) -> str:
    """Counts of verdicts."""
    verdicts = [row.verdict for section in sections for row in section.rows]
    counts = (verdicts.count(verdict) for verdict in (AGREES, DIFFERS, NOT_COMPARED))
    return "{} claims agree, {} differ, {} are not compared".format(*counts)


def renewed(text: str, sections: Sequence[Section]) -> str:
    """The document with everything after its marker replaced: first what is wrong, then everything."""
    head, marker, _ = text.partition(BEGIN)
    if not marker:
        raise ValueError(f"docs/validation.md has no line {BEGIN.strip()}")
    wrong = [row for section in sections for row in section.rows if row.verdict != AGREES]
    parts = [f"\n**{summary(sections)}.**\n"]
    if wrong:
        lines = (f"- {row.verdict}: {row.claim}. {row.result}\n" for row in wrong)
        parts.append("\n## What differs or is not compared\n\n" + "".join(lines))
    parts += [f"\n## {section.title}\n\n{table(section.rows)}" for section in sections if section.rows]
    return head + marker + "".join(parts)


def table(rows: Sequence[Row]) -> str:
    """One section's rows."""
    lines = ["| claim | compared with | result | verdict | command |\n|---|---|---|---|---|\n"]
    for row in rows:
        command = f"`{row.command}`" if row.command else ""
        cells = (row.claim, row.compared, row.result, row.verdict, command)
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.exit(main())
