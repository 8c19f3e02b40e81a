"""Times the simulator on two cases and, where `ns` is installed, ns-2 on the same cases in the same run.

The measure is µs of CPU per data packet that leaves the bottleneck forward, its ACKs included. Each program
runs a case for a short and a long simulated time; the difference leaves set-up out. Runs of the two programs
alternate, and the medians over the rounds are shown, the ratio with its interval. CPU time is what the
kernel counted for the child process, user and system. Writes bench.json and ends with 1 when a bar is
missed: when the whole interval of the ratio is above it.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import BINARY, ROOT

ROUNDS = 6
"""The least and the most of so many rounds are a 97 % interval for the median."""


@dataclass(frozen=True)
class Case:
    """A case that both simulators can run."""

    name: str
    what: str
    ns2_command: tuple[str, ...]  # {seconds} stands for the simulated time
    short_s: float
    long_s: float
    most_ratio: float  # ours ÷ ns-2, at most
    same_work_within: float  # packets forward per second may differ by this share

    def ns2(self, seconds: float) -> list[str]:
        """Returns the command line that runs the case in ns-2 for so many simulated seconds."""
        return [part.replace("{seconds}", f"{seconds:g}") for part in self.ns2_command]


TCL = str(ROOT / "oracle" / "tcl")
CASES = (
    Case(
        name="bulk",
        what="100 bulk NewReno flows, 100 Mb/s, 80 ms, three links each way",
        ns2_command=("ns", f"{TCL}/p_heavy.tcl", "100", "{seconds}"),
        short_s=10,
        long_s=130,
        most_ratio=0.2,
        same_work_within=0.03,
    ),
    Case(
        name="web",
        what="Poisson web transfers, Lomax 12 kB shape 1.2, 70 % of 10 Mb/s, and 10 bulk flows",
        ns2_command=("ns", f"{TCL}/p_dumbbell.tcl", *["s2", "10", "10", "80", "{seconds}", "1000", "RED"]),
        short_s=30,
        long_s=630,
        most_ratio=0.04,
        same_work_within=0.08,
    ),
)


@dataclass(frozen=True)
class Run:
    """The cost and the output of one child process."""

    cpu_s: float
    peak_rss_bytes: int
    packets: float
    said: dict[str, float]


@dataclass
class Program:
    """The rounds of one simulator on one case."""

    short: list[Run] = field(default_factory=list)
    long: list[Run] = field(default_factory=list)

    def us_per_packet(self) -> list[float]:
        """Returns µs of CPU per forward packet, one value per round, without set-up."""
        return [
            1e6 * (long.cpu_s - short.cpu_s) / (long.packets - short.packets)
            for short, long in zip(self.short, self.long, strict=True)
        ]

    def packets_per_s(self, case: Case) -> float:
        """Returns the forward packets per simulated second between the short and the long run."""
        gained = self.long[-1].packets - self.short[-1].packets
        return gained / (case.long_s - case.short_s)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cases, prints a table and writes bench.json; returns 1 if a bar is missed.

    Without ns-2 only our own cost is measured, and no bar can be missed.
    """
    options = make_parser(__doc__, ROUNDS, "bench.json").parse_args(arguments)
    ns2 = shutil.which("ns")
    if not ns2:
        print("bench: NOT RUN: ns-2 (ns is not installed; `make deps` as root installs it)")
    results = {}
    missed = []
    for case in CASES:
        print(f"bench: {case.name}: {case.what}", flush=True)
        ours, theirs = measure(case, options.binary, options.rounds, with_ns2=bool(ns2))
        results[case.name] = make_row(case, ours, theirs)
        missed += list_misses(case, results[case.name])
    print_table(results)
    options.output.write_text(json.dumps(results, indent=2) + "\n")
    for line in missed:
        print(f"MISSED   {line}")
    return 1 if missed else 0


def make_parser(document: str | None, rounds: int, output: str) -> argparse.ArgumentParser:
    """Returns the parser of a benchmark's command line; the defaults are those of `make bench`."""
    found = argparse.ArgumentParser(description=document.splitlines()[0] if document else None)
    found.add_argument("--binary", type=Path, default=BINARY)
    found.add_argument("--rounds", type=int, default=rounds)
    found.add_argument("--output", type=Path, default=ROOT / output)
    return found


def measure(case: Case, binary: Path, rounds: int, *, with_ns2: bool) -> tuple[Program, Program | None]:
    """Runs all rounds of one case, with the two simulators alternating; returns ours and ns-2's.

    Without `with_ns2` the second result is None. Ends the program if a run fails.
    """
    ours, theirs = Program(), Program()
    for _ in range(rounds):
        for seconds, runs in ((case.short_s, ours.short), (case.long_s, ours.long)):
            runs.append(run_ours([str(binary), case.name, f"{seconds:g}"]))
        if with_ns2:
            for seconds, runs in ((case.short_s, theirs.short), (case.long_s, theirs.long)):
                runs.append(run_ns2(case.ns2(seconds)))
    return ours, theirs if with_ns2 else None


def run_ours(command: list[str]) -> Run:
    """Runs mousehole-bench once and returns its cost and the numbers of the JSON that it prints.

    Ends the program if it fails.
    """
    cpu_s, rss, output = run_child(command)
    said = json.loads(output.strip().splitlines()[-1])
    numbers = {key: float(value) for key, value in said.items() if isinstance(value, int | float)}
    return Run(cpu_s, rss, numbers["data_packets_forward"], numbers)


def run_ns2(command: list[str]) -> Run:
    """Runs ns once and returns its cost and the numbers that its scripts print in the form name=number.

    Ends the program if it fails.
    """
    cpu_s, rss, output = run_child(command)
    said = {name: float(value) for name, value in re.findall(r"([\w<]+)=([\d.]+)", output)}
    return Run(cpu_s, rss, said["fwd"] if "fwd" in said else said["bneck_pkts"], said)


def run_child(command: list[str]) -> tuple[float, int, str]:
    """Runs a child in a scratch directory; returns CPU seconds, peak resident bytes and output.

    Ends the program with a message if it fails.
    """
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryFile("w+") as output:
        child = subprocess.Popen(command, cwd=scratch, stdout=output)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read()
    if child.returncode:
        raise SystemExit(f"bench: {' '.join(command)} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, said


def make_row(case: Case, ours: Program, theirs: Program | None) -> dict[str, float | None]:
    """Returns the row of bench.json for one case; ns-2's fields are null if it did not run."""
    costs = ours.us_per_packet()
    said = ours.long[-1].said
    row: dict[str, float | None] = {
        "us_per_packet": statistics.median(costs),
        "us_per_packet_min": min(costs),
        "us_per_packet_max": max(costs),
        "ns2_us_per_packet": None,
        "ratio": None,
        "ratio_low": None,
        "ratio_high": None,
        "most_ratio": case.most_ratio,
        "bytes_per_flow": said.get("bytes_live_connection"),
        "bytes_per_live_connection": said.get("bytes_live_connection"),
        "bytes_per_finished_connection": said.get("bytes_finished_connection"),
        "peak_rss_short_bytes": max(run.peak_rss_bytes for run in ours.short),
        "peak_rss_long_bytes": max(run.peak_rss_bytes for run in ours.long),
        "packets_per_s": ours.packets_per_s(case),
        "utilisation": said.get("utilisation"),
        "ns2_packets_per_s": None,
        "ns2_utilisation": None,
        "simulated_s": case.long_s - case.short_s,
        "rounds": len(costs),
    }
    if theirs:
        their_costs = theirs.us_per_packet()
        row["ns2_us_per_packet"] = statistics.median(their_costs)
        ratios = [our / their for our, their in zip(costs, their_costs, strict=True)]
        row["ratio"] = statistics.median(ratios)
        row["ratio_low"], row["ratio_high"] = min(ratios), max(ratios)
        row["ns2_packets_per_s"] = theirs.packets_per_s(case)
        row["ns2_utilisation"] = theirs.long[-1].said.get("util")
    return row


def list_misses(case: Case, row: dict[str, float | None]) -> list[str]:
    """Returns the faults of a row: too slow, or not the same work; without ns-2 there are none."""
    least, packets, ns2_packets = row["ratio_low"], row["packets_per_s"], row["ns2_packets_per_s"]
    found = []
    if least is not None and not 0 < least <= case.most_ratio:
        found.append(f"{case.name}: at least {least:.3f} of ns-2's cost, {case.most_ratio} is allowed")
    if packets and ns2_packets and abs(packets / ns2_packets - 1) > case.same_work_within:
        found.append(
            f"{case.name}: not the same work, {packets:.0f} packets/s forward beside ns-2's {ns2_packets:.0f}"
        )
    return found


COLUMNS = {
    "us_per_packet": ("µs/packet", "{:.3f}"),
    "ns2_us_per_packet": ("ns-2", "{:.3f}"),
    "ratio": ("ratio", "{:.3f}"),
    "ratio_low": ("least", "{:.3f}"),
    "ratio_high": ("most", "{:.3f}"),
    "most_ratio": ("bar", "{:.2f}"),
    "packets_per_s": ("packets/s", "{:.0f}"),
    "ns2_packets_per_s": ("ns-2", "{:.0f}"),
    "utilisation": ("use", "{:.3f}"),
    "ns2_utilisation": ("ns-2", "{:.3f}"),
    "bytes_per_live_connection": ("B/live", "{:.0f}"),
    "bytes_per_finished_connection": ("B/done", "{:.0f}"),
    "peak_rss_long_bytes": ("peak B", "{:.0f}"),
}


def print_table(results: dict[str, dict[str, float | None]]) -> None:
    """Prints one line per case; "-" stands for a value that is missing."""
    print("case " + "".join(f"{title:>11}" for title, _ in COLUMNS.values()))
    for name, row in results.items():
        cells = ("-" if row[key] is None else form.format(row[key]) for key, (_, form) in COLUMNS.items())
        print(f"{name:5}" + "".join(f"{cell:>11}" for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
