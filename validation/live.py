"""Compares the simulator's prediction for short flows with the kernel's measurement.

One list of flows is played by the simulator (profile `linux`) and by real TCP through
`mousehole-live up`: endless CUBIC flows and fetches of 1 to 20 kB. The fetches' completion times
are compared per scheme, over several lists. `make validation WHAT=live` writes the table of
docs/live-validation.md. Exit code 1 when a mean, a median, or a ratio to RED differs by more than
the bound and is not named as known. Without root or a tool nothing can be measured: the program
says NOT RUN and why, and fails only where CI is set.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
from mousehole import _engine
from mousehole.engine_types import JsonValue
from mousehole.statistics import log_ratio
from numpy.typing import NDArray

from tools import document
from validation import witness
from validation.lab import live as live_lab
from validation.lab.bottleneck import BURST_FRAMES, ETHERNET, FULL_FRAME
from validation.lab.scheme_run import DEVICE, Task

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "live-validation.md"
BOUND = 0.10
RATE_BPS = 10_000_000
RTT_S = 0.04
BUFFER_PACKETS = 100
BULK = 6
BULK_SPREAD_S = 0.4
WARMUP_S = 5.0
SERVER_THINK = "1ms"
"""A Python program from a request to its answer; a reading of its order of magnitude."""
FETCHES_PER_S = 1_850 / 60
SMALLEST, LARGEST = 1_000, 20_000
BURST_BYTES = BURST_FRAMES * FULL_FRAME
REPLICATIONS = 3
JOBS = 5
"""Runs in the kernel at the same time."""
BASELINE_NAME = "RED"
# RIO-PS's threshold is held: in the kernel the agent moves it, and the fast path is what is compared here.
SCHEMES = {
    "FIFO": "droptail",
    "RED": "red(min=8,max=24,maxp=0.1,wq=0.02,gentle=false,wait=false,mean=1000B)",
    "RIO-PS": "rio-ps(floor=20,cap=20)",
    "S-SFD": "s-sfd(in_min=10,in_max=30,out_min=8,out_max=24,unit=packets,mean=1000B)",
}

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A link and the long flows on it; `think` is a server's time from a request to its answer."""

    rate_bps: int = RATE_BPS
    bulk: int = BULK
    buffer_packets: int = BUFFER_PACKETS
    think: str = SERVER_THINK
    acks_each: bool = False
    """Whether clients acknowledge each segment at once."""


LINE = Line()


@dataclass(frozen=True)
class FlowList:
    """A list of fetches: their starts, s from the beginning of a run, and their sizes, bytes."""

    starts_s: list[float]
    sizes: list[int]

    @staticmethod
    def draw(seed: int, window_s: float, rate_bps: int = RATE_BPS) -> FlowList:
        """Returns fetches with uniform starts in the window and uniform sizes; `seed` is the list's number.

        The fetches are the same share of any link's rate. Starts are in rising order. Equal seeds draw equal
        lists.
        """
        rng = np.random.default_rng(seed)
        count = round(FETCHES_PER_S * window_s * rate_bps / RATE_BPS)
        starts = np.sort(WARMUP_S + rng.uniform(0, window_s, count))
        return FlowList(starts.round(6).tolist(), rng.integers(SMALLEST, LARGEST + 1, count).tolist())


@dataclass(frozen=True)
class Figures:
    """Completion times of short flows in ms, and the total rate of the long flows in Mb/s."""

    mean: float
    p50: float
    p90: float
    p99: float
    bulk_mbps: float
    unfinished: int

    @staticmethod
    def from_transfers(seconds: Sequence[float | None], bulk_bps: float) -> Figures:
        """Returns the figures of transfers that took so many seconds; None stands for one that did not end.

        Raises `IndexError` if none ended.
        """
        ended = np.array([one for one in seconds if one is not None]) * 1e3
        p50, p90, p99 = np.quantile(ended, [0.5, 0.9, 0.99])
        return Figures(
            float(ended.mean()),
            float(p50),
            float(p90),
            float(p99),
            bulk_bps / 1e6,
            len(seconds) - len(ended),
        )


FIGURES: list[tuple[str, Callable[[Figures], float]]] = [
    ("mean", lambda one: one.mean),
    ("p50", lambda one: one.p50),
    ("p90", lambda one: one.p90),
    ("p99", lambda one: one.p99),
]
HELD = {"mean", "p50"}


@dataclass(frozen=True)
class Run:
    """One scheme with one list: figures of simulator and kernel, and the machine's load and lateness."""

    scheme: str
    seed: int
    simulated: Figures
    kernel: Figures
    load: float
    late_p99_us: float


def make_scenario(
    flows: FlowList, scheme: str, replication: int, window_s: float, burst_bytes: int, line: Line = LINE
) -> dict[str, Any]:
    """Returns a list as a scenario; a burst of 0 gives a link without a token bucket.

    `window_s` is its length, s, after the warm-up.
    """
    connections = [
        {"start_s": start, "rtt_s": RTT_S, "writes": [{"bytes": size}]}
        for start, size in zip(flows.starts_s, flows.sizes, strict=True)
    ]
    return {
        "schema": "mousehole.scenario/1",
        "seed": 1,
        "replication": replication,
        "warmup": f"{WARMUP_S}s",
        "duration": f"{window_s}s",
        "scheme": scheme,
        "at": "down",
        "link": {
            "down": f"{line.rate_bps}bit",
            "rtt": f"{RTT_S * 1e3:g}ms",
            "buffer": f"{line.buffer_packets}p",
            "up": "10gbit",
            "up_buffer": "1000p",
            "overhead": ETHERNET,
            **({"burst": f"{burst_bytes}B"} if burst_bytes else {}),
        },
        "tcp": {"profile": "linux", **({"delayed_ack": "0s"} if line.acks_each else {})},
        "traffic": {
            "connections": connections,
            "bulk": {"flows": line.bulk, "start_spread_s": BULK_SPREAD_S},
            "server_think": line.think,
        },
    }


def simulate(flows: FlowList, scheme: str, window_s: float, burst_bytes: int = BURST_BYTES) -> Figures:
    """Returns the simulator's figures of a list over all replications."""
    return sum_up(play_simulated(flows, scheme, window_s, burst_bytes), flows, window_s)


def play_simulated(
    flows: FlowList,
    scheme: str,
    window_s: float,
    burst_bytes: int,
    mix: Sequence[JsonValue] = (),
    line: Line = LINE,
    replications: int = REPLICATIONS,
    late_s: float = 0.0,
) -> list[_engine.RunResult]:
    """Simulates a list in several replications, which differ in the queue's random draws.

    Returns a run for each. Equal arguments give equal runs. `mix` is further traffic, in the form of
    `traffic.mix`. Fetches start up to `late_s` late, as those of real programs do; each replication draws by
    how much.
    """
    runs = []
    for replication in range(replications):
        own = make_scenario(flows, scheme, replication, window_s, burst_bytes, line)
        late = Random(replication)  # noqa: S311 - no secret
        for one in own["traffic"]["connections"]:
            one["start_s"] += late.uniform(0.0, late_s)
        own["traffic"] |= {"mix": [*mix]} if mix else {}
        runs.append(_engine.run(own, None, _engine.Cancel()))
    return runs


def sum_up(runs: Sequence[_engine.RunResult], flows: FlowList, window_s: float) -> Figures:
    """Returns the figures of a list over several simulated runs of it.

    The rate of the long flows is the goodput without all of the list's payload.
    """
    payload_bps = sum(flows.sizes) * 8 / window_s
    bulk_bps = fmean(run.summary()["goodput_bps"] for run in runs) - payload_bps
    return Figures.from_transfers([seconds for run in runs for _, seconds in list_transfers(run)], bulk_bps)


def list_transfers(run: _engine.RunResult) -> list[tuple[int, float | None]]:
    """Returns size, bytes, and time, s, of each transfer of a run; the time is None if it did not end."""
    frame = run.transfers()
    times: Times = np.asarray(frame["end_s"]) - np.asarray(frame["start_s"])
    seconds = [float(one) if np.isfinite(one) else None for one in times]
    return list(zip(map(int, frame["bytes"]), seconds, strict=True))


def measure_kernel(flows: FlowList, scheme: str, window_s: float, program: Path) -> dict[str, Any]:
    """Plays a list through a scheme in this machine's kernel, and returns the report of `scheme_run`.

    Needs the rights of root; `program` is `mousehole-live`. Raises as `play_in_kernel` does.
    """
    words = [
        *("--scheme", scheme, "--rate", f"{RATE_BPS}bit", "--buffer", f"{BUFFER_PACKETS}p"),
        *("--burst", f"{BURST_BYTES}B", "--no-agent"),
    ]
    commands = (f"{program} up {DEVICE} {' '.join(words)}",)
    task = Task(commands, RTT_S, BULK, BULK_SPREAD_S, WARMUP_S, window_s, flows.starts_s, flows.sizes)
    return play_in_kernel(task)


def play_in_kernel(task: Task) -> dict[str, Any]:
    """Plays a task in this machine's kernel, in a process with its own namespaces; returns its report.

    Needs the rights of root. Ends the program as `witness.run_module` does.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "task.json")
        path.write_text(json.dumps(asdict(task)), encoding="utf-8")
        report: dict[str, Any] = witness.run_module(
            "scheme_run", path, task.seconds + 60, "a run in the kernel"
        )
    return report


def measure(name: str, seed: int, window_s: float, program: Path) -> Run:
    """Plays list `seed` under the scheme of this name, simulated and in the kernel.

    Raises as `play_in_kernel` does.
    """
    flows, scheme = FlowList.draw(seed, window_s), SCHEMES[name]
    report = measure_kernel(flows, scheme, window_s, program)
    return Run(
        name,
        seed,
        simulate(flows, scheme, window_s),
        Figures.from_transfers(report["seconds"], report["bulk_bps"]),
        report["load"],
        report["delay"]["late_p99_us"],
    )


def measure_all(names: Sequence[str], lists: int, window_s: float, jobs: int, program: Path) -> list[Run]:
    """Runs lists 1 to `lists` under these schemes, `jobs` at a time.

    Returns the runs list by list. Prints each to standard error.
    """
    todo = [(name, seed) for seed in range(1, lists + 1) for name in names]
    runs: list[Run] = []
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(measure, name, seed, window_s, program) for name, seed in todo]
        for one in waiting:
            runs.append(one.result())
            print(f"live-prediction: {json.dumps(asdict(runs[-1]))}", file=sys.stderr, flush=True)
    return runs


@dataclass(frozen=True)
class Compared:
    """One figure, simulated and in the kernel, and the geometric mean of the lists' ratios, less one.

    `half_width` is half of its 95 % interval, NaN without one.
    """

    simulated: float
    kernel: float
    difference: float
    half_width: float

    @staticmethod
    def pair(simulated: Sequence[float], kernel: Sequence[float]) -> Compared:
        """Compares list by list, since the same list is played both ways.

        Fewer than five lists give no interval. Raises `ValueError` for lists of different lengths.
        """
        change = log_ratio(simulated, kernel).as_change()
        return Compared(fmean(simulated), fmean(kernel), change.mean, change.half_width)

    @property
    def is_within(self) -> bool:
        """Returns whether the difference is within `BOUND`."""
        return abs(self.difference) <= BOUND

    def __str__(self) -> str:
        """Returns the difference in percent, with its half-width if that is known."""
        interval = "" if np.isnan(self.half_width) else f" ± {100 * self.half_width:.1f}"
        return f"{100 * self.difference:+.1f}{interval} %"


@dataclass(frozen=True)
class Row:
    """One figure of one scheme; `ratio` compares the scheme's ratio to RED, and is None for RED."""

    scheme: str
    figure: str
    time: Compared
    ratio: Compared | None

    @property
    def is_held(self) -> bool:
        """Returns whether the bound applies to the figure."""
        return self.figure in HELD

    @property
    def verdict(self) -> str:
        """Returns "agrees" or "DIFFERS" by the bound for time and ratio; "shown only" without a bound."""
        if not self.is_held:
            return "shown only"
        parts = [self.time.is_within, self.ratio is None or self.ratio.is_within]
        return "agrees" if all(parts) else "DIFFERS"


def compare(runs: Sequence[Run]) -> list[Row]:
    """Returns a row for each scheme and figure; RED must be among the runs for ratios.

    A ratio compares only lists that RED has played too.
    """
    by_scheme = {name: [run for run in runs if run.scheme == name] for name in SCHEMES}
    base = {run.seed: run for run in by_scheme[BASELINE_NAME]}
    rows = []
    for name, mine in by_scheme.items():
        for figure, value in FIGURES if mine else []:
            time = Compared.pair([value(run.simulated) for run in mine], [value(run.kernel) for run in mine])
            ratio = None
            beside = [run for run in mine if run.seed in base]
            if name != BASELINE_NAME and beside:
                ratio = Compared.pair(
                    [value(run.simulated) / value(base[run.seed].simulated) for run in beside],
                    [value(run.kernel) / value(base[run.seed].kernel) for run in beside],
                )
            rows.append(Row(name, figure, time, ratio))
    return rows


def write_table(rows: Sequence[Row]) -> str:
    """Returns the rows as a Markdown table."""
    header = ("scheme", "figure", "simulator, ms", "kernel, ms", "differs by", "of RED: sim.", "kernel")
    return document.table([*header, "differs by", ""], [list_cells(row) for row in rows])


def list_cells(row: Row) -> list[str]:
    """Returns the cells of a table row."""
    ratio = row.ratio
    beside = ["", "", ""] if ratio is None else [f"{ratio.simulated:.2f}", f"{ratio.kernel:.2f}", str(ratio)]
    time = row.time
    return [
        *(row.scheme, row.figure, f"{time.simulated:.0f}", f"{time.kernel:.0f}", str(time)),
        *(*beside, row.verdict),
    ]


def write_text(runs: Sequence[Run], window_s: float, jobs: int) -> str:
    """Returns the generated section of the document, Markdown; `runs` must not be empty."""
    rows = compare(runs)
    lists = len({run.seed for run in runs})
    loads = [run.load for run in runs]
    bulk = [
        f"{name} {fmean(one.simulated.bulk_mbps for one in mine):.2f} and "
        f"{fmean(one.kernel.bulk_mbps for one in mine):.2f}"
        for name in SCHEMES
        if (mine := [run for run in runs if run.scheme == name])
    ]
    unfinished = sum(run.kernel.unfinished for run in runs)
    conditions = (
        f"Linux {os.uname().release}, {os.cpu_count()} processors, load {min(loads):.0f} to "
        f"{max(loads):.0f}, "
        f"{lists} lists of flows, {window_s:g} s each, {jobs} at a time, {REPLICATIONS} replications of the "
        f"simulator for each; packets left the delay line up to "
        f"{max(run.late_p99_us for run in runs) / 1e3:.1f} ms late at p99. ± is half of the 95 % interval "
        f"over the lists. The long flows together got, in Mb/s simulated and measured: {'; '.join(bulk)}. "
        f"{unfinished} fetches of the kernel did not end in time."
    )
    within = [row.verdict for row in rows if row.is_held]
    total = f"{within.count('agrees')} of {len(within)} means and medians are within {BOUND:.0%}."
    return f"\n{document.wrap(conditions)}\n\n{write_table(rows)}\n{total}\n"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line; `names` of the result are the schemes to run.

    Ends the program, with status 2, for an option that is not allowed.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=int, default=5, help="lists of flows (default 5)")
    parser.add_argument("--seconds", type=float, default=60, help="length of each (default 60)")
    parser.add_argument("--jobs", type=int, default=JOBS, help=f"runs at the same time (default {JOBS})")
    parser.add_argument("--schemes", help="only these, such as RED,RIO-PS; the document stays as it is")
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    parser.add_argument("--json", action="store_true", help="print runs as JSON, leave the document alone")
    options = parser.parse_args(arguments)
    if options.lists < 1 or options.jobs < 1 or not 5 <= options.seconds <= 600:
        parser.error("--lists and --jobs must be at least 1, --seconds from 5 to 600")
    options.names = options.schemes.split(",") if options.schemes else list(SCHEMES)
    unknown = [name for name in options.names if name not in SCHEMES]
    if unknown:
        parser.error(f"--schemes has {unknown[0]!r}; it must be of {', '.join(SCHEMES)}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the table and writes the document; returns 1 if a figure differs.

    Where it cannot run, it returns 0, but 1 if CI is set. With --json or --schemes the document stays as it
    is.
    """
    options = parse_arguments(arguments)
    reason = witness.find_obstacle() or live_lab.find_obstacle()
    program = live_lab.find_program()
    if reason or program is None:
        print(f"NOT RUN  live-prediction: {reason}", file=sys.stderr if options.json else sys.stdout)
        return int(bool(os.environ.get("CI")))
    signal.signal(signal.SIGTERM, witness.stop)
    runs = measure_all(options.names, options.lists, options.seconds, options.jobs, program)
    if options.json:
        print("\n".join(json.dumps(asdict(run)) for run in runs))
    else:
        result = write_text(runs, options.seconds, options.jobs)
        print(result)
        if not options.schemes:
            document.renew(options.document, "validation WHAT=live", result)
    return int(any(row.verdict == "DIFFERS" for row in compare(runs)))


if __name__ == "__main__":
    sys.exit(main())
