"""What the checks said, as rows for docs/validation.md: a function for each, from a program's output.

A row's verdict is what the output says, never what is hoped for; what cannot be read counts as not compared.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import oracle

ROOT = Path(__file__).resolve().parent.parent
AGREES, DIFFERS, NOT_COMPARED = "agrees", "**differs**", "**not compared**"
TCP_GOLDENS = ROOT / "oracle" / "golden" / "tcp"
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


@dataclass(frozen=True)
class Row:
    """One claim: what it was compared with, how far apart, and how to see it again."""

    claim: str
    compared: str
    result: str
    command: str
    verdict: str = AGREES


@dataclass(frozen=True)
class Test:
    """One test of `cargo test`: the file it stands in, whether it passed, and what it printed."""

    file: str
    name: str
    passed: bool
    said: str = ""


# --- cargo test ------------------------------------------------------------------------------------


def tests(log: str) -> list[Test]:
    """Every test in the output of `cargo test -- --show-output`, ignored ones left out."""
    found = []
    for block in re.split(r"^ +Running ", log, flags=re.MULTILINE)[1:]:
        file = block.split(" (", 1)[0].removeprefix("unittests ")
        said = dict(
            re.findall(r"^---- (\S+) stdout ----\n(.*?)(?=^----|^successes:|^failures:)", block, re.M | re.S)
        )
        for name, outcome in re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (ok|FAILED)", block, re.M):
            if not re.search(r"^NOT RUN", said.get(name, ""), re.M):
                found.append(Test(file, name, outcome == "ok", said.get(name, "").strip()))
    return found


def in_file(all_tests: Iterable[Test], file: str, pattern: str = "") -> list[Test]:
    """Those of a file whose names contain a pattern."""
    return [test for test in all_tests if test.file.endswith(file) and re.search(pattern, test.name)]


def tally(claim: str, compared: str, chosen: Sequence[Test], command: str) -> Row:
    """A row for a group of tests; failed ones are named."""
    if not chosen:
        return Row(claim, compared, "no test", command, NOT_COMPARED)
    failed = [f"`{test.name}`" for test in chosen if not test.passed]
    passed = f"{len(chosen) - len(failed)} of {len(chosen)} tests pass"
    if failed:
        return Row(claim, compared, f"{passed}; failed: {', '.join(failed)}", command, DIFFERS)
    lines = [line.strip() for test in chosen for line in test.said.splitlines()]
    said = "; ".join(line for line in lines if line and not line.startswith("proptest:"))
    return Row(claim, compared, f"{passed}{': ' if said else ''}{said}", command)


def dialogues(all_tests: Sequence[Test], folder: Path) -> list[Row]:
    """The dialogue tests by the RFCs that their comments name; one test may show several."""
    by_rfc: dict[str, list[Test]] = defaultdict(list)
    outcome = {test.name: test for test in all_tests if "tests/tcp_" in test.file}
    for path in sorted(folder.glob("tcp_*.rs")):
        text = path.read_text()
        of_file = re.findall(r"RFC \d+", "".join(re.findall(r"^//!.*\n", text, re.M)))
        for comment, name in re.findall(r"((?:^///.*\n)*)(?:#\[.*\n)+fn (\w+)\(", text, re.M):
            # A file about one RFC need not name it again at every test.
            for rfc in sorted(set(re.findall(r"RFC \d+", comment) or of_file[:1])):
                if name in outcome:
                    by_rfc[rfc].append(outcome[name])
    rows = []
    for rfc, subject in RFCS.items():
        files = sorted({Path(test.file).stem for test in by_rfc[rfc]})
        command = "cargo test -p mousehole-sim " + " ".join(f"--test {file}" for file in files or ["…"])
        rows.append(tally(f"{rfc}: {subject}", "its text, as dialogues", by_rfc[rfc], command))
    return rows


def random_cases(path: Path) -> int:
    """How many random cases a proptest file asks for by itself."""
    asked = re.findall(r"cases: (\d+)|with_cases\((\d+)\)", path.read_text())
    return max((int(first or second) for first, second in asked), default=256)


# --- ns-2 ------------------------------------------------------------------------------------------


def tcp_goldens(program: Path) -> Row:
    """Every golden trace played by ours: events that differ, and the largest difference in time."""
    goldens = oracle.recorded(TCP_GOLDENS)
    scenarios = [oracle.scenario(case, played.phase_s) for case, played in goldens]
    events, worst_s, parted = 0, 0.0, []
    for (case, played), mine in zip(goldens, oracle.ours(program, scenarios), strict=True):
        events += len(played.events)
        same = oracle.beside_record(mine, played)
        if oracle.parting(same, played):
            parted.append(case.feature)
        apart = [abs(a[0] - b[0]) for a, b in zip(same, played.events, strict=False) if a[1:] == b[1:]]
        worst_s = max(worst_s, *apart)
    result = f"{len(goldens) - len(parted)} of {len(goldens)} traces, {events:,} events: same order; "
    result += f"times at most {worst_s * 1e6:.2f} µs apart" + (
        f"; parted: {', '.join(parted)}" if parted else ""
    )
    return Row(
        "One-way TCP sends, receives, drops and acknowledges as ns-2",
        "recorded ns-2 2.35 traces of Reno, NewReno and SACK",
        result,
        "make golden",
        DIFFERS if parted else AGREES,
    )


def random_tcp(output: str, code: int) -> Row:
    """The last line of `make oracle`."""
    claim, compared = "The same on random losses, windows, timers and paths", "ns-2 2.35, run beside ours"
    found = re.search(r"oracle: (\d+) of (\d+) cases agree.*", output)
    if not found:
        return Row(claim, compared, last_line(output), "make oracle", NOT_COMPARED)
    same = found[1] == found[2] and code == 0
    return Row(claim, compared, found[0].removeprefix("oracle: "), "make oracle", AGREES if same else DIFFERS)


def linux(output: str, code: int) -> Row:
    """The last line of `make witness`."""
    claim, compared = (
        "Throughput and mean queue of bulk Reno and CUBIC, within 10 %",
        "Linux TCP over veth and TBF",
    )
    found = re.search(r"^witness: (\d+ within .*)$", output, re.MULTILINE)
    if not found:
        return Row(claim, compared, last_line(output), "sudo make witness", NOT_COMPARED)
    return Row(claim, compared, found[1], "sudo make witness", DIFFERS if code else AGREES)


def overload(output: str) -> list[Row]:
    """Groups of rows of mousehole-overload: how many agree within twice our spread, and the worst."""
    names = {
        "RED": "RED",
        "REDds": "multi-RED with one colour",
        "RIOds": "multi-RED, coupled",
        "RIOdsD": "multi-RED, decoupled",
        "WREDds": "multi-RED, total",
        "RIO": "RIO",
    }
    command = "mousehole-overload 5"
    lines = list(csv.DictReader(io.StringIO(output)))
    groups = {queue: [line for line in lines if line["queue"] == queue] for queue in names}
    found = [overload_row(names[queue], queue, rows) for queue, rows in groups.items() if rows]
    rest = re.search(r"^\d+ rows left out.*", output, re.MULTILINE)
    if rest or not found:
        said = rest[0] if rest else last_line(output)
        found.append(Row("Other rows of the overload table", "ns-2 2.35", said, command, NOT_COMPARED))
    return found


def overload_row(name: str, queue: str, rows: Sequence[dict[str, str]]) -> Row:
    """One kind of queue: judged by ns-2's own rule; how far the policy's rule is from it is told."""
    same = [row for row in rows if row["rule"] == "ns2"]
    policy = [row for row in rows if row["rule"] == "policy"]
    near = sum(is_near(row) for row in same)
    result = (
        f"{near} of {len(same)} settings within twice the spread over seeds; {distance(same)}. "
        f"By the policy's rule, which is not ns-2's: {distance(policy)}"
    )
    compared = f"ns-2 2.35's {queue}, 600 s a setting"
    verdict = AGREES if same and near == len(same) else DIFFERS
    return Row(
        f"{name}: drops and queue under open-loop overload", compared, result, "mousehole-overload 5", verdict
    )


def distance(rows: Sequence[dict[str, str]]) -> str:
    """The greatest distances from ns-2's shares and queues."""
    shares = [abs(float(row[key]) - float(row[f"ns2_{key}"])) for row in rows for key in ("out", "in")]
    lengths = [abs(float(row["queue_packets"]) / float(row["ns2_queue_packets"]) - 1) for row in rows]
    return f"shares dropped at most {max(shares):.4f} apart, mean queues {max(lengths):.1%}"


def is_near(row: dict[str, str]) -> bool:
    """Shares and queue are no farther from ns-2's than twice what another seed does to ours.

    Evenly spaced arrivals have hardly any spread: 2e-5 of the packets, about five of such a run, and 0.1 %
    of the queue always count as near.
    """
    for key, ns2, spread, least in (
        ("out", "ns2_out", "spread_out", 2e-5),
        ("in", "ns2_in", "spread_in", 2e-5),
        ("queue_packets", "ns2_queue_packets", "spread_queue", 1e-3 * float(row["ns2_queue_packets"])),
    ):
        if abs(float(row[key]) - float(row[ns2])) > max(2 * float(row[spread]), least) + 1e-9:
            return False
    return True


# --- papers and the kernel -------------------------------------------------------------------------


def bullets(output: str) -> list[str]:
    """The statements at the end of a paper's output, each put together again where it was wrapped."""
    found: list[str] = []
    for line in output.splitlines():
        if line.startswith("• "):
            found.append(line.removeprefix("• ").strip())
        elif line.strip() and not line.startswith("wrote ") and found:
            found[-1] += " " + line.strip()
    return found


def model(output: str) -> list[Row]:
    """RIO-PS's analytic model against the simulation."""
    compared = "Cardwell's and Padhye's formulas, RIO-PS figure 2"
    command = "mousehole paper rio-ps --figure 2"
    near = next((line for line in bullets(output) if "is within 10 %" in line), "")
    found = re.search(r"in (\d+) of (\d+) cells", near)
    claim = "Mean time of a transfer under random loss, 1 to 1,000 packets, 0.1 to 20 %"
    if not found:
        return [Row(claim, compared, last_line(output), command, NOT_COMPARED)]
    rows = [Row(claim, compared, near, command, AGREES if found[1] == found[2] else DIFFERS)]
    for line in output.splitlines():
        cells = [cell for cell in re.split(r" {2,}", line.strip()) if cell]
        if len(cells) == 6 and "±" in cells[3] and "±" in cells[5]:
            result = f"simulated ÷ model {cells[3]}; after the change {cells[5]}"
            where = f"model and simulation with one thing changed: {cells[4]}"
            after = float(cells[5].split()[0])
            verdict = AGREES if abs(after - 1) <= 0.1 else DIFFERS
            title = f"Why they part: {cells[0]} ({cells[1]} packets, loss {cells[2]})"
            rows.append(Row(title, where, result, command, verdict))
    return rows


def table_4(output: str) -> list[Row]:
    """SFD's Table 4."""
    rows = []
    for line in bullets(output):
        where, _, result = line.partition(": ")
        verdict = DIFFERS
        if "NOT RUN" in line or "NOT COMPARED" in line:
            verdict = NOT_COMPARED
        elif "lies in our interval" in line or line.endswith("so here too."):
            verdict = AGREES
        what = re.split(r", mean|, \d| is not", result)[0]
        claim = where if verdict == NOT_COMPARED else f"{what}, {where}"
        rows.append(Row(claim, "Table 4 as published", result, "mousehole paper sfd --table 4", verdict))
    return rows or [
        Row("Table 4", "as published", last_line(output), "mousehole paper sfd --table 4", NOT_COMPARED)
    ]


def kernel(output: str) -> list[Row]:
    """`make bpf-parity`: records and differences of each policy, then whether changes were noticed."""
    command = "sudo make bpf-parity"
    rows = []
    for name, *counts in re.findall(
        r"^([\w-]+) +(\d+) +(\d+) +\d+ +\d+ +\S+ +(\d+) +(\d+) +(\d+) ", output, re.M
    ):
        records, differences, changes, noticed, unread = map(int, counts)
        verdict = AGREES if differences == 0 else DIFFERS
        result = f"{records:,} records, {differences} differences"
        claim = f"`{name}` decides in the kernel as in the simulator"
        rows.append(Row(claim, "the eBPF program, by BPF_PROG_TEST_RUN", result, command, verdict))
        claim = f"`{name}`: a parameter off by its smallest step is noticed"
        verdict = AGREES if changes == noticed else DIFFERS
        result = (
            f"{noticed} of {changes} changes noticed; {unread} of fields that are not read made no difference"
        )
        rows.append(Row(claim, "random records", result, command, verdict))
    if rows:
        return rows
    return [
        Row(
            "The policies decide in the kernel as in the simulator",
            "eBPF",
            last_line(output),
            command,
            NOT_COMPARED,
        )
    ]


def last_line(output: str) -> str:
    """What to say where a program's output could not be used."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "nothing was printed"
