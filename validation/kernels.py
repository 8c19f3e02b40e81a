"""`mousehole-live` on Debian's kernels 6.1 and 6.12, and their real CAKE and FQ-CoDel beside the simulator's.

Each kernel runs in QEMU by software emulation and in virtual time (`kernels_image`), so a busy host changes
no figure. First come checks: the program loads, is attached in the kernel's way, marks arrive, `down`
restores. Then lists of flows as in `validation.live` go through the kernel's own queues and through the
simulator's. `--lines` plays other lines in their place (`kernels_lines`), on one kernel and without checks.
`make validation WHAT=kernels ARGS=--write` renews docs/live-validation.md and a table of nobody-pays.md;
`--lines --write` renews that of other lines, and `--lines --here --write` that of FIFO on a running kernel.

Exit code 1 when a check fails, or when a mean or a median differs by more than the bound. Where no guest can
run, the program says NOT RUN and why, and fails only where CI is set.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from mousehole.answer import Link, find_settings
from mousehole.engine_types import JsonValue

from tools import document
from validation import kernels_lines, live
from validation.kernels_guest import DEVICE, OWN, SHARED_CHECK, Plan, list_checks, mark_command
from validation.kernels_image import (
    COMPILER,
    ROOT,
    Kernel,
    ObstacleError,
    fetch,
    find_obstacle,
    make_image,
    play,
)
from validation.kernels_lines import LINES, cake_command, list_htb_commands
from validation.lab import live as live_lab
from validation.lab.scheme_run import Task
from validation.lab.streams import Stream
from validation.live import BULK, BULK_SPREAD_S, RATE_BPS, RTT_S, WARMUP_S, Compared, Figures, FlowList

TARGET = "validation WHAT=kernels"
LINES_TARGET = f"{TARGET} ARGS='--lines --write'"
HERE_TARGET = f"{TARGET} ARGS='--lines --here --write'"
NOBODY_PAYS = ROOT / "docs" / "nobody-pays.md"
ATTACHMENT = {"6.1": "clsact", "6.12": "tcx", "7.2": "tcx"}
# Kernels on which native queues are checked, and nothing else.
NATIVE = {"7.2"}
DEFAULT = "6.1,6.12"
SECONDS = 15.0
SIZES = ("mean", "p50", "p99")
LIMIT_S = 6 * 3600.0


@dataclass(frozen=True)
class Queue:
    """A queue of the kernel: the commands that make it, and the simulator's scheme beside it.

    `plain` is the queue without our marker that stands behind it.
    """

    commands: tuple[str, ...]
    scheme: str
    burst_bytes: int = 0
    plain: str = ""
    is_native: bool = False

    @property
    def streams(self) -> tuple[Stream, ...]:
        """Returns the datagram streams that run with the lists; none for native queues."""
        return () if self.is_native else STREAMS


def read_own_queue() -> str:
    """Returns the example queue header that docs/own-policy.md contains.

    Raises `ValueError` unless there is exactly one.
    """
    page = (ROOT / "docs/own-policy.md").read_text(encoding="utf-8")
    (found,) = (one for one in re.findall(r"^```c\n(.*?)^```", page, re.M | re.S) if "MH_QUEUE(" in one)
    return str(found)


def make_native_queue(scheme: str) -> Queue:
    """Returns a scheme as a queue discipline of the kernel, which has no token bucket."""
    words = f"--native --scheme {scheme} --rate {RATE_BPS}bit --buffer {live.BUFFER_PACKETS}p --flows 4096"
    return Queue((f"mousehole-live up {DEVICE} {words}",), scheme, is_native=True)


# In the guest all flows are between the same two hosts, so that hosts share nothing among them.
PLAIN = "cake(hosts=flows)"
CAKE = "CAKE"
QUEUES = {
    CAKE: Queue((cake_command("diffserv3"),), PLAIN),
    "sfd(th=30kB) + CAKE": Queue(
        (cake_command("diffserv3"), mark_command("sfd(th=30kB)")),
        "sfd(th=30kB)|cake(hosts=flows,tins=bulk)",
        plain=CAKE,
    ),
    "excess + CAKE": Queue(
        (cake_command("diffserv3"), mark_command("excess")), "excess|cake(hosts=flows,tins=bulk)", plain=CAKE
    ),
    "excess(levels=three) + CAKE": Queue(
        (cake_command("diffserv3 wash"), f"{mark_command('excess(levels=three)')} --via dscp --dscp 46,0,1"),
        "excess(levels=three)|cake(hosts=flows,tins=colour)",
        plain=CAKE,
    ),
    "FQ-CoDel": Queue(list_htb_commands("fq_codel"), "fq-codel", live.BURST_BYTES),
    "pias --native": make_native_queue("pias"),
    "lfp --native": make_native_queue("lfp"),
    "fq-codel --native": make_native_queue("fq-codel(ecn=false)"),
}
LINKS = {
    "excess-cake": Link(RATE_BPS, live.BUFFER_PACKETS, overhead=0),
    "excess-tins-cake": Link(8_000_000, live.BUFFER_PACKETS, overhead=0, layer="docsis", is_upload=True),
    "sfd(th=30kB)|cake(tins=bulk)": Link(9_500_000, live.BUFFER_PACKETS, overhead=0, layer="pppoe-ptm"),
}
"""Lines on which the plans of schemes are typed as they are printed."""


def list_plans() -> list[Plan]:
    """Returns the tc and mousehole-live lines that install each scheme of `LINKS`, with its rate in bit/s.

    Raises `RuntimeError` for a scheme that nothing installs.
    """
    found: list[Plan] = []
    for scheme, link in LINKS.items():
        way = find_settings(scheme, link)
        if way is None:
            raise RuntimeError(f"nothing installs {scheme}")
        lines = [line for line in way.lines if not line.startswith("#")]
        found.append({"name": scheme, "lines": lines, "rate_bps": link.rate_bps})
    return found


STREAMS = (Stream("call", 0.02, 200), Stream("game", 1 / 64, 120), Stream("video call", 0.01, 1000))
"""80, 61 and 800 kb/s, chosen before a run: less than a fair share of the link."""


@dataclass(frozen=True)
class Waits:
    """The 95th percentile of a stream's one-way delay, ms, and the share of its packets lost."""

    p95_ms: float
    lost: float

    @staticmethod
    def sum_up(delays_s: Sequence[float | None]) -> Waits:
        """Returns the result for one-way delays, s, to which half the round-trip time is added.

        None is a lost packet; there is at least one packet. The delay is NaN if all were lost.
        """
        arrived = [one for one in delays_s if one is not None]
        p95_s = float(np.quantile(arrived, 0.95)) + RTT_S / 2 if arrived else float("nan")
        return Waits(1e3 * p95_s, 1 - len(arrived) / len(delays_s))


@dataclass(frozen=True)
class Run:
    """One list of flows through one queue, simulated and measured.

    `busy` is the guest processor's share in use. `streams` maps each stream's name to its simulated and its
    measured delays.
    """

    kernel: str
    queue: str
    seed: int
    simulated: Figures
    measured: Figures
    busy: float
    streams: dict[str, tuple[Waits, Waits]]


def simulate(queue: Queue, flows: FlowList, window_s: float) -> tuple[Figures, dict[str, Waits]]:
    """Simulates a list through a queue; returns the figures of its fetches, and the delays of each stream.

    `window_s` is the length of the window, s.
    """
    mix: list[JsonValue] = []
    for one in queue.streams:
        rate_bps = 8 * one.packet_bytes / one.gap_s
        params: JsonValue = {"flows": 1, "rate_bps": rate_bps, "packet_bytes": one.packet_bytes}
        mix.append({"name": one.name, "model": "udp", "params": params})
    runs = live.play_simulated(flows, queue.scheme, window_s, queue.burst_bytes, mix)
    tables = [run.datagrams() for run in runs]
    waits = {}
    for one in queue.streams:
        rows = [(table, list(table["source"]).index(one.name)) for table in tables]
        sent, lost = (sum(int(table[what][at]) for table, at in rows) for what in ("sent", "lost"))
        waits[one.name] = Waits(
            1e3 * fmean(float(table["delay_p95_s"][at]) for table, at in rows), lost / sent
        )
    return live.sum_up(runs, flows, window_s), waits


def make_task(commands: Sequence[str], flows: FlowList, window_s: float) -> Task:
    """Returns a list of flows as a task of the guest, with the commands that install the queue."""
    return Task(commands, RTT_S, BULK, BULK_SPREAD_S, WARMUP_S, window_s, flows.starts_s, flows.sizes)


def play_guest(kernel: Kernel, base: Path, task: Any) -> list[Any]:
    """Runs a task in a guest and returns its reports; prints checks and costs as they arrive.

    Lasts until the guest ends. Raises as `kernels_image.play` does.
    """
    said = []
    for one in play(kernel, base, task, LIMIT_S):
        said.append(one)
        if "check" in one:
            print(format_check(kernel.release, one), flush=True)
        if "cost" in one:
            print(
                f"cost  {kernel.release}  {one['cost']}: {one['instructions']:.0f} instructions", flush=True
            )
    return said


def format_check(kernel: str, result: dict[str, Any]) -> str:
    """Returns the line that is printed for one check."""
    return f"{'pass' if result['ok'] else 'FAIL'}  {kernel}  {result['check']}: {result['seen']}"


def list_failed_checks(kernel: str, said: Sequence[dict[str, Any]], wanted: Iterable[str]) -> list[str]:
    """Returns those of the wanted checks that failed or did not report, each with its kernel."""
    passed = {one["check"] for one in said if one.get("ok")}
    return [f"{kernel} {name}" for name in wanted if name not in passed]


def pair_runs(
    kernel: str, said: Sequence[dict[str, Any]], lists: dict[int, FlowList], window_s: float
) -> list[Run]:
    """Returns the runs among a guest's reports, each of which it also simulates.

    `lists` are the lists of flows by seed. Raises `RuntimeError` for a run that reports an error.
    """
    runs = []
    for one in said:
        if "run" not in one:
            continue
        if "error" in one:
            raise RuntimeError(f"{kernel}, {one['run']}, list {one['seed']}: {one['error']}")
        queue, flows = QUEUES[one["run"]], lists[one["seed"]]
        simulated, waits = simulate(queue, flows, window_s)
        measured = Figures.from_transfers(one["seconds"], one["bulk_bps"])
        streams = {name: (waits[name], Waits.sum_up(delays)) for name, delays in one["delays_s"].items()}
        runs.append(Run(kernel, one["run"], one["seed"], simulated, measured, one["busy"], streams))
    return runs


def simulate_again(file: Path, window_s: float) -> list[Run]:
    """Returns the runs that `--json` stored in a file, with a new simulation of each.

    Raises `KeyError` for a queue that is not known any more.
    """
    runs = []
    for line in file.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        queue, flows = QUEUES[one["queue"]], FlowList.draw(one["seed"], window_s)
        simulated, waits = simulate(queue, flows, window_s)
        measured = Figures(**one["measured"])
        streams = {name: (waits[name], Waits(**both[1])) for name, both in one["streams"].items()}
        runs.append(Run(one["kernel"], one["queue"], one["seed"], simulated, measured, one["busy"], streams))
    return runs


@dataclass(frozen=True)
class Row:
    """One figure of one queue on one kernel; `gain` is its ratio to the queue without the marker less one."""

    kernel: str
    queue: str
    figure: str
    time: Compared
    gain: tuple[Compared, Compared] | None

    @property
    def verdict(self) -> str:
        """Returns the verdict on the simulator's time: `agrees` within the bound, else `DIFFERS`.

        It is `shown only` for figures that are not judged.
        """
        if self.figure not in live.HELD:
            return "shown only"
        return "agrees" if self.time.is_within else "DIFFERS"


def compare(runs: Sequence[Run]) -> list[Row]:
    """Returns a row for each kernel, queue and figure of `SIZES` that the runs cover.

    The gain is None without runs of the plain queue on equal lists.
    """
    rows = []
    values = dict(live.FIGURES)
    for kernel in sorted({run.kernel for run in runs}):
        for name, queue in QUEUES.items():
            mine = {run.seed: run for run in runs if (run.kernel, run.queue) == (kernel, name)}
            plain = {run.seed: run for run in runs if (run.kernel, run.queue) == (kernel, queue.plain)}
            for figure in SIZES if mine else []:
                value = values[figure]
                time = Compared.pair(
                    [value(run.simulated) for run in mine.values()],
                    [value(run.measured) for run in mine.values()],
                )
                gain = None
                both = [seed for seed in mine if seed in plain]
                if both:
                    gain = (
                        Compared.pair(
                            [value(mine[seed].simulated) for seed in both],
                            [value(plain[seed].simulated) for seed in both],
                        ),
                        Compared.pair(
                            [value(mine[seed].measured) for seed in both],
                            [value(plain[seed].measured) for seed in both],
                        ),
                    )
                rows.append(Row(kernel, name, figure, time, gain))
    return rows


@dataclass(frozen=True)
class StreamRow:
    """The delay and loss of a stream in one queue on one kernel, over the lists."""

    kernel: str
    queue: str
    stream: str
    p95: Compared
    lost: tuple[float, float]
    """Share of the packets, simulated and measured."""


def compare_streams(runs: Sequence[Run]) -> list[StreamRow]:
    """Returns a row for each stream of each queue on each kernel."""
    rows = []
    for kernel in sorted({run.kernel for run in runs}):
        for queue in QUEUES:
            mine = [run.streams for run in runs if (run.kernel, run.queue) == (kernel, queue)]
            for name in mine[0] if mine else ():
                simulated, measured = zip(*(streams[name] for streams in mine), strict=True)
                p95 = Compared.pair([one.p95_ms for one in simulated], [one.p95_ms for one in measured])
                lost = fmean(one.lost for one in simulated), fmean(one.lost for one in measured)
                rows.append(StreamRow(kernel, queue, name, p95, lost))
    return rows


STREAM_HEADER = (
    *("kernel", "queue", "stream", "p95: simulator, ms", "kernel, ms"),
    *("differs by", "lost: simulator", "kernel"),
)
STREAMS_TEXT = "Beside the lists: 95th percentile of the one-way delay, 20 ms of propagation included."


def list_stream_cells(row: StreamRow) -> list[str]:
    """Returns the cells of a table row on a stream."""
    p95, lost = row.p95, [f"{100 * one:.2g} %" for one in row.lost]
    return [row.kernel, row.queue, row.stream, f"{p95.simulated:.1f}", f"{p95.kernel:.1f}", str(p95), *lost]


def list_cells(row: Row) -> list[str]:
    """Returns the cells of a table row on fetches."""
    gain = [str(one) for one in row.gain] if row.gain else ["", ""]
    time = row.time
    return [
        *(row.kernel, row.queue, row.figure, f"{time.simulated:.0f}", f"{time.kernel:.0f}", str(time)),
        *(*gain, row.verdict),
    ]


def write_text(runs: Sequence[Run], window_s: float) -> str:
    """Returns the generated section of docs/live-validation.md; `runs` is not empty."""
    rows = compare(runs)
    counts = {
        kernel: len({run.seed for run in runs if run.kernel == kernel})
        for kernel in sorted({run.kernel for run in runs})
    }
    bulk = [
        f"{name} {fmean(one.simulated.bulk_mbps for one in mine):.2f} and "
        f"{fmean(one.measured.bulk_mbps for one in mine):.2f}"
        for name in QUEUES
        if (mine := [run for run in runs if run.queue == name])
    ]
    listed = ", ".join(f"{count} on {kernel}" for kernel, count in counts.items())
    busy = [run.busy for run in runs]
    conditions = (
        f"Lists of flows: {listed}, {window_s:g} s each; {live.REPLICATIONS} replications of the simulator "
        f"for each. The guest's processor was busy for {min(busy):.0%} to {max(busy):.0%} of the time. ± is "
        f"half of the 95 % interval over the lists. The long flows together got, in Mb/s simulated and "
        f"measured: {'; '.join(bulk)}. {sum(run.measured.unfinished for run in runs)} fetches in the kernels "
        f"did not end in time."
    )
    header = (
        "kernel",
        "queue",
        "figure",
        "simulator, ms",
        "kernel, ms",
        "differs by",
        "marker: sim.",
        "kernel",
        "",
    )
    held = [row.verdict for row in rows if row.verdict != "shown only"]
    total = f"{held.count('agrees')} of {len(held)} means and medians are within {live.BOUND:.0%}."
    table = document.table(header, [list_cells(row) for row in rows])
    text = f"\n{document.wrap(conditions)}\n\n{table}\n{total}\n"
    streams = [list_stream_cells(row) for row in compare_streams(runs)]
    return f"{text}\n{STREAMS_TEXT}\n\n{document.table(STREAM_HEADER, streams)}\n" if streams else text


def write_summary(runs: Sequence[Run]) -> str:
    """Returns the generated section of docs/nobody-pays.md: the kernel's measurements with CAKE."""
    rows = []
    gains = {(one.kernel, one.queue): one.gain for one in compare(runs) if one.figure == "mean"}
    for name, queue in QUEUES.items():
        for kernel in sorted({run.kernel for run in runs if run.queue == name}):
            if CAKE not in (name, queue.plain):
                continue
            mine = [run for run in runs if (run.kernel, run.queue) == (kernel, name)]
            gain = gains[kernel, name]
            waits = [fmean(run.streams[one.name][1].p95_ms for run in mine) for one in STREAMS]
            rows.append([
                *(name, kernel, f"{fmean(run.measured.mean for run in mine):.0f}"),
                *(str(gain[1]) if gain else "–", *(f"{one:.1f}" for one in waits)),
                f"{fmean(run.measured.bulk_mbps for run in mine):.2f}",
            ])  # fmt: skip
    streams = [f"{one.name} p95, ms" for one in STREAMS]
    header = ["queue", "kernel", "fetches, ms", "against CAKE", *streams, "downloads, Mb/s"]
    lists = max(
        len({run.seed for run in runs if run.kernel == kernel}) for kernel in {run.kernel for run in runs}
    )
    said = (
        f"{lists} lists of fetches on each kernel; ± is half of the 95 % interval over the lists. One-way "
        "delays contain 20 ms of propagation."
    )
    return f"\n{document.wrap(said)}\n\n{document.table(header, rows)}\n"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line, with the defaults of the chosen mode.

    Ends the program, with status 2, for options that do not fit.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernels", help=f"series (default {DEFAULT}; 7.2: native queues)")
    parser.add_argument(
        "--lists", type=int, default=5, help="lists of flows on each (default 5; 0: checks only)"
    )
    parser.add_argument("--seconds", type=float,
        help=f"length of each (default {SECONDS:g}; of lines at 10 Mb/s {kernels_lines.SECONDS:g})",
    )  # fmt: skip
    parser.add_argument("--jobs", type=int, default=2, help="guests at the same time (default 2)")
    parser.add_argument("--queues", default=",".join(QUEUES), help="only these (default all)")
    parser.add_argument(
        "--lines", nargs="?", const=";".join(LINES), metavar="LINES",
        help="in place of the lists and checks: lines of other rates and numbers of downloads, "
        f"on {kernels_lines.KERNEL} (default all: '{';'.join(LINES)}')",
    )  # fmt: skip
    parser.add_argument(
        "--here", action="store_true",
        help="of --lines FIFO only, by this machine's own kernel in real time, one run after the other",
    )  # fmt: skip
    parser.add_argument(
        "--acks", choices=("late", "each"), help="of --here: clients delay every ACK that may wait, or none"
    )
    parser.add_argument("--no-checks", action="store_true", help="only the lists of flows")
    parser.add_argument(
        "--costs", action="store_true", help="instructions of a packet in native queues and in Linux's (7.2)"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="add each run to a file, a line of JSON each"
    )
    parser.add_argument(
        "--again", type=Path, metavar="FILE",
        help="no guests: the runs that --json wrote, of as many --seconds, beside the simulator as it is now",
    )  # fmt: skip
    parser.add_argument("--write", action="store_true", help="renew the table of docs/live-validation.md")
    options = parser.parse_args(arguments)
    if options.seconds is None:
        options.seconds = SECONDS if options.lines is None else kernels_lines.SECONDS
    if options.lines is not None:
        return parse_lines(parser, options)
    if options.here or options.acks:
        parser.error("--here and --acks are of --lines")
    options.kernels = (options.kernels or DEFAULT).split(",")
    unknown = [series for series in options.kernels if series not in ATTACHMENT]
    if unknown:
        parser.error(f"--kernels has {unknown[0]!r}; it must be of {', '.join(ATTACHMENT)}")
    options.queues = options.queues.split(",")
    unknown = [name for name in options.queues if name not in QUEUES]
    if unknown:
        parser.error(f"--queues has {unknown[0]!r}; it must be of {', '.join(QUEUES)}")
    if options.write and (options.kernels != DEFAULT.split(",") or options.queues != list(QUEUES)):
        parser.error("--write renews the page of all lists; leave --kernels and --queues out")
    if options.costs and not NATIVE.issuperset(options.kernels):
        parser.error("--costs is of native queues, which --kernels 7.2 has")
    if options.lists < 0 or options.jobs < 1 or not 5 <= options.seconds <= 600:
        parser.error("--lists must be at least 0, --jobs at least 1, --seconds from 5 to 600")
    return options


def parse_lines(parser: argparse.ArgumentParser, options: argparse.Namespace) -> argparse.Namespace:
    """Checks the options of `--lines`, splits its names, and sets its kernel; returns the changed `options`.

    Ends the program, with status 2, for options that do not fit.
    """
    options.lines = options.lines.split(";")
    unknown = [name for name in options.lines if name not in LINES]
    if unknown:
        parser.error(f"--lines has {unknown[0]!r}; it must be of {'; '.join(LINES)}")
    if options.kernels or options.costs or options.queues != ",".join(QUEUES):
        parser.error("--lines has a kernel and queues of its own; leave --kernels, --queues and --costs out")
    if options.write and (options.lines != list(LINES) or options.acks):
        parser.error("--write renews the page of all lines; give --lines without names, and no --acks")
    if options.acks and not options.here:
        parser.error("--acks is of --here")
    if options.lists < 1 or options.jobs < 1 or not 5 <= options.seconds <= 600:
        parser.error("--lines needs --lists and --jobs of at least 1, --seconds from 5 to 600")
    options.kernels, options.no_checks = [kernels_lines.KERNEL], True
    return options


def list_tasks(
    kernels: Sequence[Kernel], options: argparse.Namespace, lists: dict[int, FlowList]
) -> list[tuple[Kernel, Any]]:
    """Returns the guests' tasks, each with its kernel.

    One guest makes a kernel's checks, one with two CPUs that of a native queue between CPUs, one its costs,
    and one plays each list through all queues.
    """
    todo: list[tuple[Kernel, Any]] = []
    for kernel in kernels:
        common = {
            "attachment": ATTACHMENT[kernel.series], "native": kernel.series in NATIVE, "plans": list_plans(),
        }  # fmt: skip
        if not options.no_checks:
            todo.append((kernel, common | {"checks": True, "runs": []}))
            if common["native"]:
                todo.append((kernel, common | {"checks": True, "runs": [], "only": SHARED_CHECK, "cpus": 2}))
        if options.costs:
            todo.append((kernel, common | {"checks": False, "costs": True, "runs": []}))
    for seed, flows in lists.items():
        for kernel in kernels:
            runs = [
                {
                    "name": name,
                    "seed": seed,
                    "streams": [asdict(one) for one in queue.streams],
                    "task": asdict(make_task(queue.commands, flows, options.seconds)),
                }
                for name, queue in QUEUES.items()
                if name in options.queues and queue.is_native == (kernel.series in NATIVE)
            ]
            todo.append((kernel, {"attachment": ATTACHMENT[kernel.series], "checks": False, "runs": runs}))
    return todo


def report(runs: Sequence[Run], failed: Sequence[str], options: argparse.Namespace) -> int:
    """Prints the results, writes the documents if asked, and returns the exit code.

    It is 1 if a check failed or a judged figure differs.
    """
    if runs:
        result_text = write_text(runs, options.seconds)
        print(result_text)
        if options.write:
            document.renew(live.DOCUMENT, TARGET, result_text)
            document.renew(NOBODY_PAYS, TARGET, write_summary(runs))
    if not options.again:
        print(f"live-kernels: {len(failed)} checks failed{': ' if failed else ''}{'; '.join(failed)}")
    return int(bool(failed) or any(row.verdict == "DIFFERS" for row in compare(runs)))


def find_kernels(options: argparse.Namespace) -> tuple[list[Kernel], Path, Path]:
    """Returns the kernels, `mousehole-live` and the program that compares native queues.

    Downloads kernels that are not in the cache. Raises `ObstacleError` where they, or a tool, are missing.
    """
    program, reason = live_lab.find_program(), find_obstacle()
    if reason or program is None:
        raise ObstacleError(reason or "mousehole-live is not built; 'make live' builds it")
    parity = program.parent / "examples" / "native_parity"
    if NATIVE.intersection(options.kernels) and not parity.exists():
        raise ObstacleError(
            f"{parity} is not built; `cargo build -p mousehole-live --example native_parity` builds it"
        )
    if NATIVE.intersection(options.kernels) and not shutil.which(COMPILER):
        raise ObstacleError(f"{COMPILER} is not installed; 'make deps' installs it")
    return [fetch(series) for series in options.kernels], program, parity


def play_all(
    options: argparse.Namespace, todo: Callable[[Sequence[Kernel]], Sequence[tuple[Kernel, Any]]]
) -> Iterator[tuple[Kernel, Any, list[Any]]]:
    """Runs the guests of all tasks, `options.jobs` at a time.

    Yields kernel, task and reports of each in order. Images are in a temporary folder. Raises `ObstacleError`
    where no guest can run.
    """
    kernels, program, parity = find_kernels(options)
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(options.jobs) as pool:
        bases = {kernel: Path(place, kernel.series) for kernel in kernels}
        for kernel, base in bases.items():
            is_native = kernel.series in NATIVE
            base.write_bytes(
                make_image(kernel, program, *((parity, {OWN: read_own_queue()}) if is_native else ()))
            )
        waiting = [
            (kernel, task, pool.submit(play_guest, kernel, bases[kernel], task))
            for kernel, task in todo(kernels)
        ]
        for kernel, task, result in waiting:
            yield kernel, task, result.result()


def record_run(line: str, options: argparse.Namespace) -> None:
    """Prints a run, as a line of JSON, to standard error and appends it to the file of `--json`."""
    print(f"live-kernels: {line}", file=sys.stderr, flush=True)
    if options.json:
        with options.json.open("a") as file:
            file.write(line + "\n")


def play_lists(options: argparse.Namespace) -> int:
    """Makes the checks and plays the lists; returns the exit code.

    Each run is recorded as `record_run` does. Raises `ObstacleError` where no guest can run, `RuntimeError`
    for a run that reports an error.
    """
    lists = {seed: FlowList.draw(seed, options.seconds) for seed in range(1, options.lists + 1)}
    failed: list[str] = []
    runs: list[Run] = []
    for kernel, task, said in play_all(options, lambda kernels: list_tasks(kernels, options, lists)):
        if task["checks"]:
            names = (name for name, _ in list_checks(task["attachment"], task["native"], task["plans"]))
            wanted = [name for name in names if re.search(task.get("only", ""), name)]
            failed += list_failed_checks(kernel.release, said, wanted)
        new = pair_runs(kernel.release, said, lists, options.seconds)
        runs += new
        for run in new:
            record_run(json.dumps(asdict(run)), options)
    return report(runs, failed, options)


def play_lines(options: argparse.Namespace) -> int:
    """Plays the lists of other lines, in guests or on this kernel; returns the exit code.

    Raises `ObstacleError` where nothing can run.
    """
    runs: list[kernels_lines.Run] = []
    if options.here:
        if reason := live_lab.find_obstacle(needs_program=False):
            raise ObstacleError(reason)
        acks_each = None if options.acks is None else options.acks == "each"
        for seed in range(1, options.lists + 1):
            for name in options.lines:
                runs.append(kernels_lines.play_here(name, seed, options.seconds, acks_each))
                record_run(kernels_lines.to_json(runs[-1]), options)
        return report_lines(runs, options)
    todo = kernels_lines.make_tasks(options.lines, range(1, options.lists + 1), options.seconds)
    for kernel, task, said in play_all(options, lambda kernels: [(kernels[0], one) for one in todo]):
        new = kernels_lines.pair_runs(kernel.release, task["line"], said, options.seconds)
        runs += new
        for run in new:
            record_run(kernels_lines.to_json(run), options)
    return report_lines(runs, options)


def report_lines(runs: Sequence[kernels_lines.Run], options: argparse.Namespace) -> int:
    """Prints the table of lines, writes the document if it is asked for, and returns the exit code.

    It is 1 if a judged line is beyond the bound.
    """
    result_text = kernels_lines.write_text(runs)
    print(result_text)
    if options.write:
        if options.here:
            document.renew(live.DOCUMENT, HERE_TARGET, result_text)
        else:
            document.renew(live.DOCUMENT, LINES_TARGET, result_text)
    return int(any(row.aim is not None and not row.time.is_within for row in kernels_lines.compare(runs)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the mode that the command line selects; returns the exit code.

    It is 0 where nothing can run, but 1 if CI is set.
    """
    options = parse_arguments(arguments)
    if options.again and options.lines:
        return report_lines(kernels_lines.simulate_again(options.again), options)
    if options.again:
        return report(simulate_again(options.again, options.seconds), [], options)
    try:
        return play_lines(options) if options.lines else play_lists(options)
    except ObstacleError as error:
        print(f"NOT RUN  live-kernels: {error}")
        return int(bool(os.environ.get("CI")))


if __name__ == "__main__":
    sys.exit(main())
