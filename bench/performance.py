"""Measures the cost of an event and its growth, and writes the tables of docs/performance.md.

`make bench WHAT=performance` calls it. CPU time is that which the kernel counted for the child
process. Each case runs for a short and a long simulated time and the difference counts, so that
set-up is left out; the cases of a table take turns, and the table shows the median of the rounds
and, in brackets, the minimum and the maximum.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench import BINARY, ROOT, engine
from bench.instructions import read_compiler
from tools import document

TARGET = "bench WHAT=performance"
DOCUMENT = ROOT / "docs" / "performance.md"


@dataclass(frozen=True)
class Case:
    """A case of mousehole-bench, run for two simulated times."""

    label: str
    command: tuple[str, ...]
    short_s: int
    long_s: int


def make_flows_case(count: int, mbps: int, short_s: int, long_s: int) -> Case:
    """Returns the case of `count` bulk flows over a link of `mbps` Mb/s."""
    return Case(f"{count:,} flows, {format_rate(mbps)}", ("flows", str(count), str(mbps)), short_s, long_s)


def format_rate(mbps: int) -> str:
    """Returns a rate as text, such as 10 Mb/s or 1 Gb/s."""
    return f"{mbps // 1000} Gb/s" if mbps >= 1000 else f"{mbps} Mb/s"


BASIC = (Case("bulk", ("bulk",), 10, 130), Case("web", ("web",), 30, 630))
# A megabit per second for each flow, but for the last two: links end at 10 Gb/s here.
BY_FLOWS = (
    make_flows_case(10, 10, 10, 610),
    make_flows_case(100, 100, 10, 110),
    make_flows_case(1000, 1000, 5, 20),
    make_flows_case(10_000, 10_000, 2, 4),
    make_flows_case(100_000, 10_000, 2, 4),
    make_flows_case(1_000_000, 10_000, 2, 4),
)
BY_RATE = (
    make_flows_case(100, 10, 10, 610),
    make_flows_case(100, 100, 10, 110),
    make_flows_case(100, 1000, 5, 20),
    make_flows_case(100, 10_000, 2, 5),
)
MEMORY_FLOWS = (10, 1000, 10_000, 100_000, 1_000_000)
MEMORY_COMMAND = ("100", "3")
THREAD_SECONDS = 200


@dataclass
class Measured:
    """The rounds of one case."""

    case: Case
    us_per_packet: list[float] = field(default_factory=list)
    ns_per_event: list[float] = field(default_factory=list)
    cpu_per_simulated: list[float] = field(default_factory=list)
    utilisation: float = 0.0

    def add(self, short: engine.Run, long: engine.Run) -> None:
        """Adds one round, of a short and a long run; `utilisation` is then that of the long one."""
        cpu_s = long.cpu_s - short.cpu_s
        self.us_per_packet.append(1e6 * cpu_s / (long.packets - short.packets))
        self.ns_per_event.append(1e9 * cpu_s / (long.said["events"] - short.said["events"]))
        self.cpu_per_simulated.append(cpu_s / (self.case.long_s - self.case.short_s))
        self.utilisation = long.said["utilisation"]

    def row(self) -> list[str]:
        """Returns the cells of the case's table row."""
        realtime = 1 / statistics.median(self.cpu_per_simulated)
        cells = [format_spread(self.us_per_packet, "{:.2f}"), format_spread(self.ns_per_event, "{:.0f}")]
        return [
            self.case.label,
            *cells,
            f"{float(f'{realtime:.3g}'):,g}",
            f"{self.utilisation:.2f}",
            write_command(self.case),
        ]


COST_HEADER = ("case", "µs per packet", "ns per event", "× real time", "use of the link", "command")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures everything and renews the document; returns 0, and ends the program if a run fails."""
    options = parse_arguments(arguments)
    binary = options.binary
    sections = [
        describe_machine(),
        measure_costs("What an event costs", BASIC, binary, options.rounds),
        measure_costs("More flows", BY_FLOWS, binary, options.rounds),
        measure_costs("Faster links", BY_RATE, binary, options.rounds),
        measure_threads(binary, options.rounds),
        measure_memory(binary),
    ]
    document.renew(
        options.document, "bench WHAT=performance", "".join(f"\n{section}" for section in sections)
    )
    print(f"performance: wrote {options.document.name}")
    return 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--binary", type=Path, default=BINARY)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    return parser.parse_args(arguments)


def describe_machine() -> str:
    """Returns the processor, kernel, compiler and load of this machine, as text.

    Raises `OSError` or `CalledProcessError` without a Rust compiler.
    """
    found = re.search(r"^model name\s*: (.*)$", read_or_empty("/proc/cpuinfo"), re.MULTILINE)
    model = found[1] if found else platform.machine()
    load = os.getloadavg()[0]
    others = "**Other programs were running**, so clocks are noisy."
    calm = "Nothing else of weight was running."
    lines = [
        f"Measured on {model}, {os.cpu_count()} cores to this machine, Linux {platform.release()}, "
        f"rustc {read_compiler()}.",
        f"One-minute load average when it began: {load:.1f}. {calm if load < 0.5 else others}",
    ]
    return "\n".join(lines) + "\n"


def read_or_empty(path: str) -> str:
    """Returns a file's text, empty if it does not exist."""
    file = Path(path)
    return file.read_text() if file.exists() else ""


def measure_costs(title: str, cases: Sequence[Case], binary: Path, rounds: int) -> str:
    """Measures the cases alternately; returns a section with the table of their costs.

    Prints the name of each case before its runs. Ends the program if a run fails.
    """
    measured = [Measured(case) for case in cases]
    for _ in range(rounds):
        for one in measured:
            print(f"performance: {one.case.label}", flush=True)
            short, long = (
                engine.run_ours([str(binary), *one.case.command, str(seconds)])
                for seconds in (one.case.short_s, one.case.long_s)
            )
            one.add(short, long)
    return f"## {title}\n\n{document.table(COST_HEADER, [one.row() for one in measured])}"


def measure_threads(binary: Path, rounds: int) -> str:
    """Returns a section: packets per second of 1, 2, 4 … concurrent threads with one replication each.

    Prints each number before its run. Ends the program if a run fails.
    """
    counts = list_thread_counts(os.cpu_count() or 1)
    speeds: dict[int, list[float]] = {count: [] for count in counts}
    cpu: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(rounds):
        for count in counts:
            print(f"performance: {count} threads", flush=True)
            began = time.monotonic()
            run = engine.run_ours([str(binary), "threads", str(count), str(THREAD_SECONDS)])
            speeds[count].append(run.packets / (time.monotonic() - began) / 1e6)
            cpu[count].append(1e6 * run.cpu_s / run.packets)
    one = statistics.median(speeds[counts[0]])
    rows = [
        [
            str(count),
            format_spread(speeds[count], "{:.2f}"),
            f"{statistics.median(speeds[count]) / one:.2f}",
            format_spread(cpu[count], "{:.2f}"),
            f"`mousehole-bench threads {count} {THREAD_SECONDS}`",
        ]
        for count in counts
    ]
    header = ("threads", "million packets per wall-clock s", "× one thread", "µs CPU per packet", "command")
    return f"## One core to all\n\n{document.table(header, rows)}"


def list_thread_counts(cores: int) -> list[int]:
    """Returns 1, 2, 4 … and the number of cores."""
    powers = [1 << power for power in range(cores.bit_length()) if 1 << power < cores]
    return [*powers, cores]


def measure_memory(binary: Path) -> str:
    """Returns a section: peak resident memory by live connections, and the increment for each further one.

    Prints each number before its run. Ends the program if a run fails.
    """
    runs = {}
    for count in MEMORY_FLOWS:
        print(f"performance: memory of {count} flows", flush=True)
        runs[count] = engine.run_ours([str(binary), "flows", str(count), *MEMORY_COMMAND])
    base = MEMORY_FLOWS[0]
    rows = []
    for count, run in runs.items():
        more = run.said["peak_resident_bytes"] - runs[base].said["peak_resident_bytes"]
        each = f"{more / (count - base):,.0f}" if count > base else ""
        live = f"{run.said['connections_most_live']:,.0f}"
        command = f"`mousehole-bench flows {count} {' '.join(MEMORY_COMMAND)}`"
        rows.append([live, f"{run.said['peak_resident_bytes'] / 1e6:,.1f}", each, command])
    said = runs[base].said
    header = ("live connections", "peak resident MB", f"bytes for each beyond {base}", "command")
    claim = (
        f"\nThe engine's own figure is {said['bytes_live_connection']:,.0f} bytes for a live connection and "
        f"{said['bytes_finished_connection']:,.0f} for a finished transfer's record; the rest is packets and "
        "timers under way.\n"
    )
    return f"## Memory\n\n{document.table(header, rows)}{claim}"


def format_spread(values: Sequence[float], form: str) -> str:
    """Returns the median, with the minimum and the maximum in brackets."""
    median, least, most = (form.format(f(values)) for f in (statistics.median, min, max))
    return f"{median} ({least}–{most})"


def write_command(case: Case) -> str:
    """Returns the commands of a case, for the table."""
    return f"`mousehole-bench {' '.join(case.command)} {case.long_s}` less `… {case.short_s}`"


if __name__ == "__main__":
    sys.exit(main())
