"""Makes the rows of docs/validation.md: a function for each check reads the JSON or CSV that it prints.

A row's verdict follows from the numbers alone; results that are missing or unreadable count as not
compared. `reason` is always the reason why an output is empty.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from mousehole.statistics import find_p_value, holm

from papers.parts import describe_basis
from tools.cargo_tests import Outcome
from validation import oracle

ROOT = Path(__file__).resolve().parent.parent
AGREES, DIFFERS, NOT_COMPARED = "agrees", "**differs**", "**not compared**"
UNDECIDED = "undecided"
HOLDS, FAILS, NOT_RUN = "holds", "**fails**", "**not run**"
OF_TESTS = {AGREES: HOLDS, DIFFERS: FAILS, UNDECIDED: UNDECIDED, NOT_COMPARED: NOT_RUN}
"""The verdict on a rule that only our own tests check."""
TCP_GOLDENS = ROOT / "oracle" / "golden" / "tcp"
OVERLOAD_TABLE = ROOT / "oracle" / "golden" / "overload.csv"
RFCS = {
    "RFC 2018": "SACK: what the receiver reports",
    "RFC 3042": "limited transmit",
    "RFC 3168": "ECN",
    "RFC 5681": "slow start, congestion avoidance, fast retransmit, delayed ACKs, idle restart",
    "RFC 6298": "retransmission timer",
    "RFC 6582": "NewReno",
    "RFC 6675": "SACK-based recovery",
    "RFC 6928": "initial window",
    "RFC 9937": "PRR",
    "RFC 8985": "RACK-TLP",
    "RFC 9438": "CUBIC",
}
QUEUES = {
    "RED": "RED",
    "REDds": "multi-RED with one colour",
    "RIOds": "multi-RED, coupled",
    "RIOdsD": "multi-RED, decoupled",
    "WREDds": "multi-RED, total",
    "RIO": "RIO",
}
"""ns-2's queues in the overload table, and what they are here."""
CLAIM_VERDICTS = {
    "agrees": AGREES,
    "equivalent": AGREES,
    "differs": DIFFERS,
    "compatible": UNDECIDED,
    "undecided": UNDECIDED,
}
"""Verdicts for the papers' words; every other word means that nothing was compared."""
LEVEL = 0.05
"""The share of cases in which a test may find a difference that is not there."""
Json = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One claim: what it was compared with, the result, the command that repeats it, and the verdict."""

    claim: str
    compared: str
    result: str
    command: str
    verdict: str = AGREES
    basis: str = "evidence"
    """What a claim's word rests on: a key of `papers.parts.BASES`."""


@dataclass(frozen=True)
class Test:
    """The run of one Rust test: its package, its name with modules, its outcome and output."""

    package: str
    name: str
    passed: bool
    said: str = ""

    @property
    def module(self) -> str:
        """Returns the module of the integration tests that contains the test."""
        return self.name.partition("::")[0]


def parse_json_lines(output: str) -> list[Json]:
    """Returns the JSON objects among the lines of an output.

    Raises `ValueError` for a line that begins with `{` and is no JSON.
    """
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


# --- our own tests ---------------------------------------------------------------------------------


def parse_tests(output: str) -> list[Test]:
    """Returns every test that ran from the output of `tools.cargo_tests`."""
    return [
        Test(one["package"], one["name"], one["outcome"] == Outcome.PASSED, one["output"])
        for one in parse_json_lines(output)
        if one["outcome"] != Outcome.NOT_RUN
    ]


def filter_tests(all_tests: Iterable[Test], module: str, pattern: str = "") -> list[Test]:
    """Returns the tests of a module whose names match a regular expression.

    `module` may begin with a part of the package's name and a slash, such as `policy/golden`.
    """
    package, _, module = module.rpartition("/")
    return [
        test
        for test in all_tests
        if test.module == module and package in test.package and re.search(pattern, test.name)
    ]


def tally_tests(claim: str, compared: str, chosen: Sequence[Test], command: str) -> Row:
    """Returns a row for a group of tests; it names those that failed, or has what all printed."""
    if not chosen:
        return Row(claim, compared, "no test", command, NOT_COMPARED)
    failed = [f"`{test.name}`" for test in chosen if not test.passed]
    passed = f"{len(chosen) - len(failed)} of {len(chosen)} tests pass"
    if failed:
        return Row(claim, compared, f"{passed}; failed: {', '.join(failed)}", command, DIFFERS)
    lines = [line.strip() for test in chosen for line in test.said.splitlines()]
    said = "; ".join(line for line in lines if line and not line.startswith("proptest:"))
    return Row(claim, compared, f"{passed}{': ' if said else ''}{said}", command)


def make_dialogue_rows(all_tests: Sequence[Test], folder: Path) -> list[Row]:
    """Returns a row for each RFC with the dialogue tests whose comments name it.

    A test may count for several. An RFC without a test has a row too. `folder` holds the sources of the
    tests.
    """
    by_rfc: dict[str, list[Test]] = defaultdict(list)
    outcome = {test.name: test for test in all_tests if test.module.startswith("tcp_")}
    for path in sorted(folder.glob("tcp_*.rs")):
        text = path.read_text()
        of_file = re.findall(r"RFC \d+", "".join(re.findall(r"^//!.*\n", text, re.M)))
        for comment, name in re.findall(r"((?:^///.*\n)*)(?:#\[.*\n)+fn (\w+)\(", text, re.M):
            # A file about one RFC need not name it again at every test.
            for rfc in sorted(set(re.findall(r"RFC \d+", comment) or of_file[:1])):
                if f"{path.stem}::{name}" in outcome:
                    by_rfc[rfc].append(outcome[f"{path.stem}::{name}"])
    rows = []
    for rfc, subject in RFCS.items():
        modules = sorted({test.module for test in by_rfc[rfc]})
        command = "cargo test -p mousehole-sim --test it -- " + " ".join(modules or ["…"])
        rows.append(tally_tests(f"{rfc}: {subject}", "its text, as dialogues", by_rfc[rfc], command))
    return rows


# --- ns-2 ------------------------------------------------------------------------------------------


def compare_tcp_goldens(program: Path) -> Row:
    """Plays every golden trace; returns a row with those that differ and the largest difference in time.

    `program` is the binary of mousehole-trace. Ends the program if it fails.
    """
    goldens = oracle.read_records(TCP_GOLDENS)
    scenarios = [oracle.make_scenario(case, played.phase_s) for case, played in goldens]
    events, worst_s, parted = 0, 0.0, []
    for (case, played), mine in zip(goldens, oracle.play_simulated(program, scenarios), strict=True):
        events += len(played.events)
        same = oracle.cut_to_record(mine, played)
        if oracle.find_divergence(same, played):
            parted.append(case.feature)
        apart = [abs(a[0] - b[0]) for a, b in zip(same, played.events, strict=False) if a[1:] == b[1:]]
        worst_s = max(worst_s, *apart)
    result = f"{len(goldens) - len(parted)} of {len(goldens)} traces, {events:,} events: same order; "
    result += f"times at most {worst_s * 1e6:.2f} µs apart" + (
        f"; different: {', '.join(parted)}" if parted else ""
    )
    return Row(
        "One-way TCP sends, receives, drops and acknowledges as ns-2",
        "recorded ns-2 2.35 traces of Reno, NewReno and SACK",
        result,
        "make golden",
        DIFFERS if parted else AGREES,
    )


def make_random_tcp_row(output: str, reason: str) -> Row:
    """Returns the row of `make oracle` on random cases of one flow."""
    claim, compared = "The same on random losses, windows, timers and paths", "ns-2 2.35, run beside ours"
    found = parse_json_lines(output)
    if not found or not found[0]["cases"]:
        return Row(claim, compared, reason, "make oracle", NOT_COMPARED)
    cases, same, ties, differ = (found[0][name] for name in ("cases", "same", "ties", "differ"))
    result = (
        f"{same + ties} of {cases} cases agree event by event, {ties} of them with time in floats as ns-2"
    )
    return Row(claim, compared, result, "make oracle", DIFFERS if differ else AGREES)


def make_flow_rows(output: str, reason: str) -> list[Row]:
    """Returns a row for several flows under drop-tail, and one for each discipline with random drops.

    Without output it is one row with `reason`.
    """
    command = "make oracle"
    claim = "Several flows send, receive, drop and acknowledge as in ns-2 under drop-tail"
    found = parse_json_lines(output)
    if not found:
        return [Row(claim, "ns-2 2.35, run beside ours", reason, command, NOT_COMPARED)]
    first, figures = found[0], found[1:]
    agree = first["all"] + first["ties"]
    result = (
        f"{agree} of {first['cases']} cases: {first['all']} in every event, {first['ties']} until the first "
        f"tie; {first['events']:,} events, {first['drops']:,} drops"
    )
    verdict = AGREES if agree == first["cases"] else DIFFERS
    rows = [Row(claim, "ns-2 2.35, run beside ours", result, command, verdict)]
    for discipline in dict.fromkeys(one["discipline"] for one in figures):
        own = [one for one in figures if one["discipline"] == discipline]
        words = "; ".join(
            f"{one['figure']} {one['ours']:.4g} against {one['ns2']:.4g} (p {one['p_value']:.2g})"
            for one in own
        )
        result = f"{words}; t test over {own[0]['seeds']} seeds, Holm's correction for {len(figures)} figures"
        verdict = AGREES if all(one["holds"] for one in own) else DIFFERS
        claim = f"{discipline}: figures of four long and 180 short flows"
        rows.append(Row(claim, "ns-2 2.35, the same flows", result, command, verdict))
    return rows


def make_overload_rows(output: str, reason: str) -> list[Row]:
    """Returns a row for each kind of queue in the overload table, and one for its rows without a scheme.

    `output` is CSV. Reads the recorded table.
    """
    command = "mousehole-overload 10"
    lines = list(csv.DictReader(io.StringIO(output)))
    tested = run_overload_tests([line for line in lines if line["rule"] == "ns2"])
    policy = [line for line in lines if line["rule"] == "policy"]
    found = [
        make_overload_row(
            queue,
            [one for one in tested if one.line["queue"] == queue],
            [line for line in policy if line["queue"] == queue],
            sum(len(one.p_values) for one in tested),
            command,
        )
        for queue in QUEUES
        if any(one.line["queue"] == queue for one in tested)
    ]
    recorded = list(csv.DictReader(io.StringIO(OVERLOAD_TABLE.read_text())))
    left_out = len(recorded) - len(tested)
    if left_out:
        result = f"{left_out} rows: a queue that is not among our schemes" if found else reason
        found.append(Row("Other rows of the overload table", "ns-2 2.35", result, command, NOT_COMPARED))
    return found


def make_overload_row(
    queue: str, tested: Sequence[Setting], policy: Sequence[Mapping[str, str]], tests: int, command: str
) -> Row:
    """Returns the row of one kind of queue, judged by ns-2's own rule.

    It also has the distance of the policy's rule. `tested` is not empty. `tests` is the number of values that
    were tested in the whole table.
    """
    same = sum(one.is_same for one in tested)
    smallest = min(p for one in tested for p in one.p_values)
    result = (
        f"{same} of {len(tested)} settings without a significant difference (t test at 5 % of one run of "
        f"ns-2 against {tested[0].line['seeds']} seeds, Holm's correction for {tests} values; smallest p "
        f"{smallest:.2g}); {describe_distance([one.line for one in tested])}. "
        f"By the policy's rule, which is not ns-2's: {describe_distance(policy)}"
    )
    claim = f"{QUEUES[queue]}: drops and queue under open-loop overload"
    verdict = AGREES if same == len(tested) else DIFFERS
    return Row(claim, f"ns-2 2.35's {queue}, 600 s a setting", result, command, verdict)


@dataclass(frozen=True)
class Setting:
    """A row of the overload table under ns-2's rule: the p-values of its tests, and whether all hold."""

    line: Mapping[str, str]
    p_values: Sequence[float]
    is_same: bool


def run_overload_tests(lines: Sequence[Mapping[str, str]]) -> list[Setting]:
    """Tests all rows together, so that the probability of a false alarm anywhere in the table is 5 %."""
    each = [compute_p_values(line) for line in lines]
    holds = iter(hold_after_holm([p for own in each for p in own]))
    return [
        Setting(line, own, all(list(islice(holds, len(own))))) for line, own in zip(lines, each, strict=True)
    ]


def describe_distance(rows: Sequence[Mapping[str, str]]) -> str:
    """Returns the greatest distances from ns-2's drop shares and mean queues, as text.

    There must be at least one row; raises `ValueError` otherwise.
    """
    shares = [abs(float(row[key]) - float(row[f"ns2_{key}"])) for row in rows for key in ("out", "in")]
    lengths = [abs(float(row["queue_packets"]) / float(row["ns2_queue_packets"]) - 1) for row in rows]
    return f"shares dropped at most {max(shares):.4f} apart, mean queues {max(lengths):.1%}"


def compute_p_values(row: Mapping[str, str]) -> list[float]:
    """Returns the p-values of the hypothesis that ns-2's run is one more run of ours.

    They are those of the shares dropped and of the mean queue. Evenly spaced arrivals have hardly any spread,
    so a standard deviation counts as at least 1e-5 of the packets, two or three of such a run, and 0.05 % of
    the queue. A quantity that is 0 in both, such as IN packets, is not tested.
    """
    seeds = int(row["seeds"])
    wanted = (
        ("out", "ns2_out", "sd_out", 1e-5),
        ("in", "ns2_in", "sd_in", 1e-5),
        ("queue_packets", "ns2_queue_packets", "sd_queue", 5e-4 * float(row["ns2_queue_packets"])),
    )
    values = [(*(float(row[name]) for name in names), least) for *names, least in wanted]
    return [
        compare_one_run(mean, deviation, seeds, theirs, least)
        for mean, theirs, deviation, least in values
        if mean or theirs
    ]


def compare_one_run(
    mean: float, deviation: float, runs: int, other: float, least_deviation: float = 0.0
) -> float:
    """Returns the two-sided p-value of Student's t test that `other` is a single run of the same kind.

    The mean and the sample standard deviation are those of `runs` runs; with n of them (other - mean) /
    (deviation * sqrt(1 + 1/n)) has n - 1 degrees of freedom. There must be two runs at least.
    """
    error = max(deviation, least_deviation) * math.sqrt(1 + 1 / runs)
    return find_p_value(other - mean, error, runs - 1)


def hold_after_holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Returns for each hypothesis whether Holm's procedure retains it.

    Any false rejection has at most probability `level`. S. Holm, "A simple sequentially rejective multiple
    test procedure", Scandinavian Journal of Statistics 6 (1979).
    """
    return [adjusted > level for adjusted in holm(p_values)]


# --- Linux, the kernel and the papers --------------------------------------------------------------


def make_linux_rows(output: str, reason: str) -> list[Row]:
    """Returns a row for each quantity of `make validation WHAT=witness` that is held to a bound.

    Without any it is one row with `reason`.
    """
    command = "sudo make validation WHAT=witness"
    verdicts = {"agrees": AGREES, "not in the simulator": NOT_COMPARED}
    rows = []
    for one in parse_json_lines(output):
        if one["held"]:
            linux, simulated = (format_estimate(one[side]) for side in ("linux", "simulated"))
            verdict = verdicts.get(one["verdict"], DIFFERS)
            claim = f"{one['quantity']} within 10 %: {one['case']}"
            result = f"Linux {linux}, simulator {simulated}"
            rows.append(Row(claim, "Linux TCP over veth and TBF", result, command, verdict))
    claim = "Throughput and mean queue of bulk Reno and CUBIC, within 10 %"
    return rows or [Row(claim, "Linux TCP over veth and TBF", reason, command, NOT_COMPARED)]


def format_estimate(value: Mapping[str, float] | None) -> str:
    """Returns a mean and half its interval as text."""
    return "none" if value is None else f"{value['mean']:.2f} ±{value['half_width']:.2f}"


def make_claim_rows(output: str, reason: str) -> dict[str, list[Row]]:
    """Returns the rows of each paper's claims, by the paper's name, from the output of `python -m papers`.

    Without any it is one row with `reason`, under the name `papers`.
    """
    found: dict[str, list[Row]] = {}
    for one in parse_json_lines(output):
        if one["kind"] == "claim":
            found.setdefault(one["paper"], []).append(_make_claim_row(one))
    command = "mousehole paper --all"
    return found or {"papers": [Row(command, "the papers", reason, command, NOT_COMPARED)]}


def _make_claim_row(claim: Json) -> Row:
    """Returns the row of one claim.

    It has the judgements, the parameters fitted to the claim, and the cause of a difference.
    """
    lines = [
        f"{line['label'] + ': ' if line['label'] else ''}"
        f"{'published ' + _format_published(line) + ', ' if line['published'] else ''}ours {line['ours']}"
        for line in claim["lines"]
    ]
    fitted = [f"fitted: {', '.join(claim['fitted'])}"] if claim["fitted"] else []
    verdict = CLAIM_VERDICTS.get(claim["word"] or "", NOT_COMPARED)
    cause = [f"cause: {claim['cause']}"] if verdict == DIFFERS and claim["cause"] else []
    result = "; ".join([*lines, *fitted, *cause]) or claim["note"]
    command = f"mousehole paper {claim['paper']} claim {claim['id']}"
    name = " ".join(filter(None, [claim["id"], claim["part"]]))
    basis = describe_basis(claim["basis"], claim["fitted"])
    return Row(f"{name}: {claim['says']}", claim["place"], result, command, verdict, basis)


def _format_published(line: Json) -> str:
    """Returns a published value, with the distance within which ours agrees."""
    return f"{line['published']} ({line['bar']})" if line["bar"] else str(line["published"])


def make_kernel_rows(output: str, reason: str) -> list[Row]:
    """Returns two rows for each policy: its differences in the kernel, and the changed parameters noticed.

    Without output it is one row with `reason`.
    """
    command = "sudo make bpf-parity"
    rows = []
    for one in parse_json_lines(output):
        policy = f"`{one['policy']}`"
        if one["check"] == "parity":
            claim = f"{policy} decides in the kernel as in the simulator"
            result = f"{one['records']:,} records, {one['differences']} differences"
            verdict = DIFFERS if one["differences"] or not one["outcomes_vary"] else AGREES
            rows.append(Row(claim, "the eBPF program, by BPF_PROG_TEST_RUN", result, command, verdict))
        else:
            claim = f"{policy}: a parameter off by its smallest step is noticed"
            changes, noticed, unread = (one[name] for name in ("changes", "noticed", "unread"))
            result = (
                f"{noticed} of {changes} changes noticed, {unread} rightly not (fields that are not read)"
            )
            verdict = AGREES if changes == noticed + unread else DIFFERS
            rows.append(Row(claim, "the same records", result, command, verdict))
    claim = "The policies decide in the kernel as in the simulator"
    return rows or [Row(claim, "eBPF", reason, command, NOT_COMPARED)]
