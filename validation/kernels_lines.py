"""Lines of other rates and numbers of downloads through a kernel's FIFO, FQ-CoDel and CAKE.

They are the `--lines` of `validation.kernels`. Fetches are the same share of each line as in its lists, and
nothing but downloads goes beside them.

A full FIFO is chaotic: who loses a packet hangs on microseconds. So the simulator plays a list several times,
with its fetches a little later each time, and `--here` lets the kernel of the machine play more lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from math import isnan, nan
from pathlib import Path
from statistics import fmean, median, stdev
from typing import Any

from tools import document
from validation import live
from validation.kernels_guest import DEVICE
from validation.lab.scheme_run import Task
from validation.live import BULK_SPREAD_S, RATE_BPS, RTT_S, WARMUP_S, Compared, FlowList, Line

KERNEL = "6.12"
SHIFT = 0
"""The guests have a billion instructions a second, so that 50 Mb/s leave their processor time to spare."""
THINK = "250us"
"""A quarter of the time that servers of the other lists' guests are simulated to think."""
MBPS = 1_000_000
LINES = {
    "2 Mb/s, 6 downloads": Line(2 * MBPS, 6, 100, THINK),
    "50 Mb/s, 6 downloads": Line(50 * MBPS, 6, 500, THINK),
    "10 Mb/s, 2 downloads": Line(10 * MBPS, 2, 100, THINK),
    "10 Mb/s, 7 downloads": Line(10 * MBPS, 7, 100, THINK),
    "10 Mb/s, 30 downloads": Line(10 * MBPS, 30, 100, THINK),
}
"""A buffer, which is FIFO's, holds 120 ms, and at 2 Mb/s 100 packets."""
SECONDS = 10.0
STRETCH = {2 * MBPS: 4.0, RATE_BPS: 1.0, 50 * MBPS: 1 / 3}
"""How much longer lists are than at 10 Mb/s, so that each has enough fetches and takes bearable time."""
LATE_S = 0.002
"""Fetches of real programs start up to so late (`start_late_p99_us` of a run)."""
REPLICATIONS = 10
"""Of the simulator, for each list."""
AIM, FIFO_AIM = 0.02, 0.05
FIFO = "FIFO"
CLASSES = {"mean ≤ 3 kB": (0, 3_000), "mean ≤ 15 kB": (3_000, 15_000), "mean above": (15_000, 10**9)}


def cake_command(tins: str, rate_bps: int = RATE_BPS) -> str:
    """Returns the tc command for CAKE; with `raw` its sizes are those of frames, as in the simulator."""
    return f"tc qdisc add dev {DEVICE} root cake bandwidth {rate_bps}bit {tins} raw"


def list_htb_commands(queue: str, rate_bps: int = RATE_BPS) -> tuple[str, ...]:
    """Returns the tc commands for a queue below a class of HTB that has the link's burst."""
    return (
        f"tc qdisc add dev {DEVICE} root handle 1: htb default 1",
        f"tc class add dev {DEVICE} parent 1: classid 1:1 htb rate {rate_bps}bit burst {live.BURST_BYTES} "
        f"cburst {live.BURST_BYTES}",
        f"tc qdisc add dev {DEVICE} parent 1:1 {queue}",
    )


@dataclass(frozen=True)
class Queue:
    """A scheme of the simulator and its link's bucket, beside a queue of the kernel."""

    scheme: str
    burst_bytes: int

    def commands(self, line: Line) -> tuple[str, ...]:
        """Returns the commands that install the kernel's queue on a line."""
        if not self.burst_bytes:
            return (cake_command("diffserv3", line.rate_bps),)
        own = "fq_codel" if self.scheme == "fq-codel" else f"pfifo limit {line.buffer_packets}"
        return list_htb_commands(own, line.rate_bps)


QUEUES = {
    FIFO: Queue("droptail", live.BURST_BYTES),
    "FQ-CoDel": Queue("fq-codel", live.BURST_BYTES),
    "CAKE": Queue("cake(hosts=flows)", 0),
}

Times = list[tuple[int, float | None]]
"""Size in bytes and seconds of each fetch; `None` stands for one that did not end."""


@dataclass(frozen=True)
class Run:
    """One list of a line through one queue, simulated and measured.

    `busy` is the guest processor's share in use.
    """

    kernel: str
    line: str
    queue: str
    seed: int
    window_s: float
    simulated: Times
    measured: Times
    bulk_mbps: tuple[float, float]
    """What the downloads got together, simulated and measured."""
    busy: float
    spread: float = nan
    """Standard deviation of the mean over the simulator's replications, as a share of it."""
    is_here: bool = False
    """Whether the kernel is that of the machine, which has no virtual time; `busy` is its load then."""
    acks_each: bool | None = None
    """Whether clients acknowledge each segment at once, or never do; None: as the kernel does."""
    acks: float = nan
    """Segments that the clients sent for each that arrived, where that was counted."""


def draw_list(line: Line, seed: int, window_s: float) -> FlowList:
    """Returns flow list number `seed` of a line; `window_s` is the length of its window, s."""
    return FlowList.draw(seed, window_s, line.rate_bps)


def make_tasks(names: Sequence[str], seeds: Iterable[int], seconds: float) -> list[dict[str, Any]]:
    """Returns the guests' tasks: each plays one list of a line through one queue.

    Runs after others in the same guest differ from runs alone (docs/live-validation.md).
    """
    return [make_task(name, queue, seed, seconds) for seed in seeds for name in names for queue in QUEUES]


def draw_task(
    name: str, queue: str, seed: int, seconds: float, acks_each: bool | None = None
) -> Task:  # fmt: skip
    """Returns the lab's task for a list of a line: its flows and the commands that install a queue.

    Equal seeds draw equal flows. `seconds` is the window at 10 Mb/s; the window of another rate is longer or
    shorter by `STRETCH`. `acks_each` is that of `Hosts`.
    """
    line = LINES[name]
    window_s = seconds * STRETCH[line.rate_bps]
    flows = draw_list(line, seed, window_s)
    commands = QUEUES[queue].commands(line)
    times = (BULK_SPREAD_S, WARMUP_S, window_s, flows.starts_s)
    return Task(commands, RTT_S, line.bulk, *times, flows.sizes, acks_each)


def make_task(name: str, queue: str, seed: int, seconds: float) -> dict[str, Any]:
    """Returns a guest's task as JSON: one list of a line through one queue.

    `seconds` is the window at 10 Mb/s, as in `draw_task`.
    """
    task = asdict(draw_task(name, queue, seed, seconds))
    run = {"name": queue, "seed": seed, "streams": [], "task": task}
    return {"attachment": "tcx", "checks": False, "shift": SHIFT, "line": name, "runs": [run]}


def simulate(run: Run) -> Run:
    """Returns a run with its simulated times, of `REPLICATIONS` runs of the simulator.

    The long flows' simulated rate and the spread of the means are new too. On this machine (`is_here`)
    servers think longer than in a guest.
    """
    line, queue = LINES[run.line], QUEUES[run.queue]
    if run.is_here:
        line = replace(line, think=live.SERVER_THINK, acks_each=run.acks_each is True)
    flows = draw_list(line, run.seed, run.window_s)
    runs = live.play_simulated(
        flows, queue.scheme, run.window_s, queue.burst_bytes, (), line, REPLICATIONS, LATE_S
    )
    bulk_mbps = (live.sum_up(runs, flows, run.window_s).bulk_mbps, run.bulk_mbps[1])
    each = [live.list_transfers(one) for one in runs]
    means = [fmean(seconds for _, seconds in own if seconds is not None) for own in each]
    spread = stdev(means) / fmean(means)
    return replace(run, simulated=[one for own in each for one in own], bulk_mbps=bulk_mbps, spread=spread)


def play_here(name: str, seed: int, seconds: float, acks_each: bool | None = None) -> Run:
    """Plays a list through FIFO of this machine's kernel in real time, and returns the run, simulated too.

    Needs the rights of root. Raises as `live.play_in_kernel` does.
    """
    task = draw_task(name, FIFO, seed, seconds, acks_each)
    said = live.play_in_kernel(task)
    measured: Times = list(zip(task.sizes, said["seconds"], strict=True))
    mbps = (nan, said["bulk_bps"] / 1e6)
    return simulate(
        Run(
            said["kernel"],
            name,
            FIFO,
            seed,
            task.window_s,
            [],
            measured,
            mbps,
            said["load"],
            is_here=True,
            acks_each=acks_each,
            acks=said["acks"],
        )
    )


def pair_runs(kernel: str, name: str, said: Sequence[dict[str, Any]], seconds: float) -> list[Run]:
    """Returns the runs among a guest's reports, each simulated too; raises `RuntimeError` for a failed one.

    Reports of other things are skipped. `seconds` is the window at 10 Mb/s.
    """
    window_s = seconds * STRETCH[LINES[name].rate_bps]
    runs = []
    for one in said:
        if "run" not in one:
            continue
        if "error" in one:
            raise RuntimeError(f"{name}, {one['run']}, list {one['seed']}: {one['error']}")
        sizes = draw_list(LINES[name], one["seed"], window_s).sizes
        measured: Times = list(zip(sizes, one["seconds"], strict=True))
        mbps = (nan, one["bulk_bps"] / 1e6)
        run = Run(kernel, name, one["run"], one["seed"], window_s, [], measured, mbps, one["busy"])
        runs.append(simulate(run))
    return runs


def simulate_again(file: Path) -> list[Run]:
    """Returns the runs that `--json` stored in a file, with a new simulation of each.

    Raises `KeyError` or `TypeError` for a file of another version.
    """
    runs = [Run(**json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
    return [simulate(run) for run in runs]


def to_json(run: Run) -> str:
    """Returns a run as a line of JSON, without the simulated times, which can be computed again."""
    return json.dumps(asdict(run) | {"simulated": []})


@dataclass(frozen=True)
class Row:
    """One figure of one queue on one line; `aim` is the allowed relative difference, None without one."""

    line: str
    queue: str
    figure: str
    time: Compared
    aim: float | None

    @property
    def verdict(self) -> str:
        """Returns whether the difference is "within" or "beyond" the aim; "shown only" without an aim."""
        if self.aim is None:
            return "shown only"
        return "within" if abs(self.time.difference) <= self.aim else "beyond"


def find_values(times: Times) -> dict[str, float]:
    """Returns mean and median of fetches, ms, and the mean of each size class.

    A class without fetches that ended has NaN. Raises `StatisticsError` if none ended at all.
    """
    ended = [(size, 1e3 * seconds) for size, seconds in times if seconds is not None]
    found = {"mean": fmean(ms for _, ms in ended), "p50": median(ms for _, ms in ended)}
    for name, (above, most) in CLASSES.items():
        mine = [ms for size, ms in ended if above < size <= most]
        found[name] = fmean(mine) if mine else nan
    return found


def compare(runs: Sequence[Run]) -> list[Row]:
    """Returns the rows of all runs: mean and median of each queue, and of FIFO also the mean by size.

    Lines and queues without a run have no row.
    """
    rows = []
    for line in LINES:
        for queue in QUEUES:
            mine = [run for run in runs if (run.line, run.queue) == (line, queue)]
            both = [(find_values(run.simulated), find_values(run.measured)) for run in mine]
            for figure in ("mean", "p50", *(CLASSES if queue == FIFO else ())) if both else ():
                time = Compared.pair([one[figure] for one, _ in both], [one[figure] for _, one in both])
                aim = AIM if queue != FIFO else FIFO_AIM if figure in CLASSES else None
                rows.append(Row(line, queue, figure, time, aim))
    return rows


def list_cells(row: Row) -> list[str]:
    """Returns the cells of a table row."""
    time = row.time
    return [
        *(row.line, row.queue, row.figure, f"{time.simulated:.0f}", f"{time.kernel:.0f}", str(time)),
        row.verdict,
    ]


def write_text(runs: Sequence[Run]) -> str:
    """Returns the generated section of the document, Markdown; `runs` must not be empty.

    The conditions of the first run are taken for those of all.
    """
    rows = compare(runs)
    lines = [name for name in LINES if any(run.line == name for run in runs)]
    lists, got = [], []
    for name in lines:
        mine = [run for run in runs if run.line == name]
        lists.append(f"{len({run.seed for run in mine})} of {mine[0].window_s:.3g} s with {name}")
        for queue in QUEUES:
            mbps = [run.bulk_mbps for run in mine if run.queue == queue]
            if mbps:
                simulated, measured = (fmean(way) for way in zip(*mbps, strict=True))
                got.append([name, queue, f"{simulated:.2f}", f"{measured:.2f}"])
    busy = [run.busy for run in runs]
    unfinished = sum(seconds is None for run in runs for _, seconds in run.measured)
    machine = (
        f"Its load average was {min(busy):.1f} to {max(busy):.1f}"
        if runs[0].is_here
        else f"The guest's processor was busy for {min(busy):.0%} to {max(busy):.0%} of the time"
    )
    spreads = [
        f"{100 * fmean(run.spread for run in runs if (run.line, run.queue) == (name, FIFO)):.1f} % ({name})"
        for name in lines
        if any((run.line, run.queue) == (name, FIFO) for run in runs)
    ]
    conditions = (
        f"Linux {runs[0].kernel}; lists: {'; '.join(lists)}. {REPLICATIONS} replications of the simulator "
        f"for each, whose fetches start up to {1e3 * LATE_S:g} ms late. {machine}. ± is half of the 95 % "
        f"interval over the lists. {unfinished} fetches in the kernel did not end in time."
    )
    if not isnan(acks := fmean(run.acks for run in runs)):
        conditions += f" The clients sent {acks:.2f} segments for each that arrived."
    if spreads:
        conditions += (
            " Through FIFO, so small a change of the starts moves a list's simulated mean by a standard "
            f"deviation of {', '.join(spreads)}."
        )
    header = ("line", "queue", "figure", "simulator, ms", "kernel, ms", "differs by", "aim")
    held = [row.verdict for row in rows if row.aim is not None]
    total = (
        f"{held.count('within')} of {len(held)} figures are within their aim: {AIM:.0%} for means and "
        f"medians of FQ-CoDel and CAKE, {FIFO_AIM:.0%} for FIFO's means by size."
    )
    bulk = document.table(("line", "queue", "downloads: simulator, Mb/s", "kernel"), got)
    return "\n".join([
        f"\n{document.wrap(conditions)}\n",
        document.table(header, [list_cells(row) for row in rows]),
        document.wrap(total) + "\n",
        f"What the downloads got together:\n\n{bulk}",
    ])  # fmt: skip
