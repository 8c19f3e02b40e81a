"""Runs every check of the simulator and writes docs/validation.md from what they print.

`make validation` calls it. The document has how many rows each section has of each verdict, and those that
differ; every row is written to build/validation/tables.md. Each check prints JSON or CSV, which is kept in
build/validation; with --reuse an output that stands there is taken instead of a new run. A check that cannot
run gives "not compared", never silence. Comparisons with something outside are counted apart from our own
tests of a rule. Ends with 0 when the page was written, whatever stands on it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from papers.parts import BASES
from tools import document
from validation import coverage, rows
from validation.rows import (
    AGREES,
    DIFFERS,
    HOLDS,
    NOT_COMPARED,
    OF_TESTS,
    UNDECIDED,
    Row,
    Test,
    filter_tests,
    tally_tests,
)

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "validation.md"
KEPT = ROOT / "build" / "validation"
TARGET = "validation"
RELEASE = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
MOST_S = 1800
SIM = "cargo test -p mousehole-sim --test it --"
POLICY = "cargo test -p mousehole-policy --test it --"
TABLES = "tables.md"
VERDICTS, OF_RULES = (AGREES, DIFFERS, UNDECIDED, NOT_COMPARED), tuple(OF_TESTS.values())
GROUPS = (("Comparisons with something outside", True), ("Our own tests of a rule", False))


@dataclass(frozen=True)
class Output:
    """The standard output of a check, and the reason if it printed nothing useful."""

    text: str
    reason: str = ""


@dataclass(frozen=True)
class Section:
    """A heading and its rows; `is_outside` is set if the rows compare with something that is not ours."""

    title: str
    rows: Sequence[Row]
    is_outside: bool = True
    is_fitted: bool = False
    """Whether something was chosen while looking at what the rows compare with."""


# Programs in the order they run; the first builds what later ones use.
PYTHON = [sys.executable, "-m"]
CARGO_RUN = ["cargo", "run", "--quiet", "--release", "--locked"]
PROGRAMS: dict[str, list[str]] = {
    "tests": [*PYTHON, "tools.cargo_tests"],
    "overload": [str(RELEASE / "mousehole-overload"), "10"],
    "oracle": [*PYTHON, "validation.oracle", "--program", str(RELEASE / "mousehole-trace"), "--json"],
    "flows": [*PYTHON, "validation.oracle_flows", "--json"],
    "papers": [*PYTHON, "papers", "all"],
    "kernel": [*CARGO_RUN, "-p", "mousehole-check", "--bin", "bpf-parity", "--", "--json"],
    "linux": [*PYTHON, "validation.witness", "--json"],
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs all checks and renews the document; returns 0, whatever they find.

    Takes hours; files of earlier runs in build/validation are replaced unless --reuse is given.
    """
    options = parse_arguments(arguments)
    KEPT.mkdir(parents=True, exist_ok=True)
    outputs = {name: obtain_output(name, command, reuse=options.reuse) for name, command in PROGRAMS.items()}
    sections = list(make_sections(outputs))
    document.renew(options.document, TARGET, write_body(sections))
    (KEPT / TABLES).write_text(write_tables(sections), encoding="utf-8")
    print(f"validation: wrote {options.document.name} and {KEPT / TABLES}: {write_summary(sections)}")
    return 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the command line's options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    parser.add_argument(
        "--reuse", action="store_true", help="take the outputs in build/validation where there are any"
    )
    return parser.parse_args(arguments)


def obtain_output(name: str, command: Sequence[str], *, reuse: bool) -> Output:
    """Returns a program's output, from a new run or, with `reuse`, from a stored one.

    A stored one may be of an older version. The program's standard error goes to a file of the same name with
    the suffix `.err`.
    """
    kept, errors = KEPT / f"{name}.out", KEPT / f"{name}.err"
    if not (reuse and kept.exists()):
        print(f"validation: {' '.join(command)}", flush=True)
        kept.write_text("")
        run(command, kept, errors)
    return Output(kept.read_text(encoding="utf-8"), read_last_line(errors))


def run(command: Sequence[str], kept: Path, errors: Path) -> None:
    """Runs a check with its outputs in two files; its own exit status does not matter.

    An error that stops it becomes the last line of the second file. A check that takes longer than `MOST_S`
    is ended.
    """
    # The checks that cannot run here say so, but fail only where CI is set.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("CI", None)
    with kept.open("w") as out, errors.open("w") as err:
        try:
            subprocess.run(
                command, cwd=ROOT, env=environment, stdout=out, stderr=err, timeout=MOST_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            err.write(f"\nNOT RUN: {error}\n")


def read_last_line(errors: Path) -> str:
    """Returns the last line of a program's errors, the reason why it printed nothing useful.

    Without any it is `nothing was printed`.
    """
    lines = errors.read_text(encoding="utf-8").split("\n") if errors.exists() else []
    said = [line.strip() for line in lines if line.strip()]
    return said[-1] if said else "nothing was printed"


def make_sections(outputs: dict[str, Output]) -> Iterator[Section]:
    """Yields all sections of the page, the comparisons with something outside first.

    Plays the recorded ns-2 traces, and reads the record of coverage.
    """

    def read_rows(name: str, read: Callable[[str, str], list[Row]]) -> list[Row]:
        """Returns the rows that `read` makes of a program's output."""
        return read(outputs[name].text, outputs[name].reason)

    tests = rows.parse_tests(outputs["tests"].text)
    tcp = [
        make_row_or_reason(
            "One-way TCP against recorded ns-2 traces",
            lambda: rows.compare_tcp_goldens(RELEASE / "mousehole-trace"),
        ),
        rows.make_random_tcp_row(outputs["oracle"].text, outputs["oracle"].reason),
        *read_rows("flows", rows.make_flow_rows),
    ]
    yield Section("TCP against ns-2", tcp)
    yield Section(
        "RED, multi-RED and SFD against ns-2",
        [*make_queue_rows(tests), *read_rows("overload", rows.make_overload_rows)],
    )
    yield Section("The kernel against the simulator", read_rows("kernel", rows.make_kernel_rows))
    yield Section("Bulk TCP as this machine's Linux sends it", read_rows("linux", rows.make_linux_rows))
    for paper, claims in rows.make_claim_rows(outputs["papers"].text, outputs["papers"].reason).items():
        title = f"Claims of the paper {paper}"
        of_basis = {basis: [row for row in claims if row.basis == basis] for basis in BASES}
        yield Section(title, of_basis["evidence"])
        yield Section(f"{title}, fitted while looking", of_basis["fitted"], is_fitted=True)
        yield Section(f"{title}: our own rules", of_basis["rule"], False)
    yield Section("TCP's rules", rows.make_dialogue_rows(tests, ROOT / "sim" / "tests" / "it"), False)
    yield Section("Fixed point against floats", make_reference_model_rows(tests), False)
    yield Section("The rules of RFC 8290 and RFC 8289", make_fq_codel_rows(tests), False)
    yield Section("Laws that every run must keep", make_law_rows(tests), False)
    yield Section("TCP's laws", make_tcp_law_rows(tests), False)
    yield Section(coverage.TITLE, coverage.make_rows(), False)


def make_row_or_reason(claim: str, witness: Callable[[], Row]) -> Row:
    """Returns the row that `witness` makes, or a row with the reason why it could not.

    Faults in the data and programs that fail are such reasons; other exceptions are raised.
    """
    try:
        return witness()
    except (OSError, SystemExit, ValueError, KeyError, subprocess.SubprocessError) as error:
        return Row(claim, "ns-2", f"could not run: {error}", "make golden", NOT_COMPARED)


def make_queue_rows(tests: Sequence[Test]) -> list[Row]:
    """Returns the rows on averages, drop decisions and marks of queues, step by step."""
    recorded = "ns-2 2.35, step by step"
    wanted = (
        (
            "Averages of RED and multi-RED after every arrival, to 1e-5",
            filter_tests(tests, "policy/golden", "averages"),
            f"{POLICY} golden",
        ),
        (
            "The same inside a queue, on its fast and slow path",
            filter_tests(tests, "queue_red", "averages__equal"),
            f"{SIM} queue_red",
        ),
        (
            "Drop decisions of RED and DiffServ RED after every arrival, given the random number",
            filter_tests(tests, "queue_ns2", "decisions__"),
            f"{SIM} queue_ns2",
        ),
        ("SFD marks of single flows", filter_tests(tests, "policy/golden", "sfd"), f"{POLICY} golden"),
        ("SFD marks with timeouts and promotion", filter_tests(tests, "queue_marks"), f"{SIM} queue_marks"),
    )
    return [tally_tests(claim, recorded, found, command) for claim, found, command in wanted]


def make_reference_model_rows(tests: Sequence[Test]) -> list[Row]:
    """Returns a row for each comparison of a policy with its reference model in floats."""
    return [
        tally_tests(
            test.name.partition("::")[2].replace("__", ": ").replace("_", " "),
            "the same formula in floats",
            [test],
            f"{POLICY} reference_models",
        )
        for test in filter_tests(tests, "reference_models")
    ] or [tally_tests("Policies in fixed point", "floats", [], f"{POLICY} reference_models")]


def make_fq_codel_rows(tests: Sequence[Test]) -> list[Row]:
    """Returns the rows on FQ-CoDel: scheduler, overflow and the control law."""
    parts = {
        "scheduler": "Order of flows and byte fairness",
        "overflow": "Drops when full",
        "codel": "CoDel's control law",
    }
    return [
        tally_tests(
            claim,
            "the RFC's rules",
            filter_tests(tests, "queue_fq_codel", f"::{part}"),
            f"{SIM} queue_fq_codel",
        )
        for part, claim in parts.items()
    ]


def make_law_rows(tests: Sequence[Test]) -> list[Row]:
    """Returns the rows on conservation laws, equal paths and determinism."""
    wanted = (
        (
            "Packets and bytes are conserved, delivered once, no faster than the path",
            "random cases",
            "engine_laws",
            "random",
        ),
        (
            "The same under every scheme; a backlogged link never rests; faults add up",
            "fixed cases",
            "engine_laws",
            "::laws__[^h]|every|faults",
        ),
        ("Fast path = slow path, packet by packet", "random cases", "engine_paths", "hop__fast"),
        ("Fast path = slow path, in whole runs", "fixed cases", "engine_paths", "::paths__"),
        ("Same seed, same records with any number of threads", "fixed cases", "engine_determinism", ""),
        ("No traffic file makes a reader panic", "random cases", "traffic_fuzz", "never"),
    )
    return [
        tally_tests(claim, against, filter_tests(tests, module, pattern), f"{SIM} {module}")
        for claim, against, module, pattern in wanted
    ]


def make_tcp_law_rows(tests: Sequence[Test]) -> list[Row]:
    """Returns the rows on the laws that TCP obeys: rate against loss, sawtooth, fairness."""
    wanted = {
        "Rate against loss: √(3/2)/√p, and CUBIC's own law": (
            "response",
            "the formulas, within stated bands",
        ),
        "Amplitude of the sawtooth": ("sawtooth", "one half; seven tenths for CUBIC"),
        "Fairness of equal flows, unfairness of unequal round trips": ("fairness|unfairness", "stated bands"),
    }
    return [
        tally_tests(
            claim, against, filter_tests(tests, "tcp_laws", f"::(?:rtt_)?(?:{pattern})__"), f"{SIM} tcp_laws"
        )
        for claim, (pattern, against) in wanted.items()
    ]


def write_summary(sections: Sequence[Section]) -> str:
    """Returns the counts of verdicts as text.

    Comparisons with something outside, those that were fitted, and our own tests are counted separately.
    """
    outside, fitted, own = (
        [row.verdict for section in sections
         if (section.is_outside, section.is_fitted) == kind for row in section.rows]
        for kind in ((True, False), (True, True), (False, False))
    )  # fmt: skip
    agree, differ, open_, missing = (
        outside.count(verdict) for verdict in (AGREES, DIFFERS, UNDECIDED, NOT_COMPARED)
    )
    hold, fail, not_run = (own.count(verdict) for verdict in (AGREES, DIFFERS, NOT_COMPARED))
    return (
        f"{len(outside)} comparisons with something outside: {agree} agree, {differ} differ, {open_} are "
        f"undecided, {missing} could not be made. {len(fitted)} more to which something "
        f"was fitted while looking: {fitted.count(AGREES)} agree, {fitted.count(DIFFERS)} differ, "
        f"{fitted.count(UNDECIDED)} are undecided. {len(own)} rules under our own tests: {hold} hold, "
        f"{fail} fail, {not_run} not run"
    )


def write_body(sections: Sequence[Section]) -> str:
    """Returns the generated part of the document: the counts of each section, then the rows that fail.

    Our own tests are counted separately.
    """
    right = (AGREES, UNDECIDED, HOLDS)
    wrong = [row for section in sections for row in word_verdicts(section) if row.verdict not in right]
    parts = ["\n" + document.wrap(f"**{write_summary(sections)}.**") + "\n"]
    for title, is_outside in GROUPS:
        chosen = [section for section in sections if section.is_outside is is_outside and section.rows]
        parts.append(f"\n## {title}\n\n{write_counts(chosen, VERDICTS if is_outside else OF_RULES)}")
    if wrong:
        lines = (document.wrap(f"- {row.verdict}: {row.claim}. {row.result}", "  ") + "\n" for row in wrong)
        parts.append("\n## What differs, fails or is not compared\n\n" + "".join(lines))
    return "".join(parts)


def write_counts(sections: Iterable[Section], verdicts: Sequence[str]) -> str:
    """Returns a Markdown table: for each section the number of rows of each verdict, and the commands."""
    header = ["", *(verdict.strip("*") for verdict in verdicts), "commands"]
    lines = []
    for section in sections:
        words = [row.verdict for row in word_verdicts(section)]
        commands = dict.fromkeys(_strip_choice(row.command) for row in section.rows)
        lines.append([section.title, *(str(words.count(verdict)) for verdict in verdicts),
                      ", ".join(f"`{command}`" for command in commands if command)])  # fmt: skip
    return document.table(header, lines)


def _strip_choice(command: str) -> str:
    """Returns a row's command without the options that select the row."""
    return re.sub(r" (?:claim |--claim|--models|--case|-- ).*", "", command.partition("; ")[0])


def write_tables(sections: Sequence[Section]) -> str:
    """Returns all rows in Markdown, a table for each section."""
    parts = []
    for title, is_outside in GROUPS:
        parts.append(f"\n## {title}\n")
        chosen = [section for section in sections if section.is_outside is is_outside and section.rows]
        parts += [f"\n### {section.title}\n\n{write_table(word_verdicts(section))}" for section in chosen]
    return "".join(parts)


def word_verdicts(section: Section) -> list[Row]:
    """Returns the rows with the verdict that suits the section: a rule holds or fails.

    The rows of a comparison, which agrees or differs, stay as they are.
    """
    if section.is_outside:
        return list(section.rows)
    return [replace(row, verdict=OF_TESTS[row.verdict]) for row in section.rows]


def write_table(found: Iterable[Row]) -> str:
    """Returns rows as a Markdown table."""
    header = ("claim", "compared with", "result", "verdict", "command")
    return document.table(
        header,
        [(row.claim, row.compared, row.result, row.verdict, f"`{row.command}`") for row in found],
    )


if __name__ == "__main__":
    sys.exit(main())
