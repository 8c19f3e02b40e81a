"""Compares completion times of single transfers, the kernel's and the simulator's, by size and loss.

Both play the same paths: 10 Mb/s with a FIFO of 100 packets, a round-trip time, and random loss of
data before the FIFO. Each transfer is alone on its path: handshake, a request of 400 bytes, the
answer. The mean and the 95th percentile are compared, with bootstrap intervals of their ratio.
Other transfers overflow a small FIFO and lose nothing else: several packets in a row, as under
drop-tail. These runs are deterministic, and the medians are compared. On some of these connections
further answers follow, as on a browser's, whose window the losses have reduced.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tools import document
from validation import witness
from validation.lab.paths import Path as NetworkPath

ROOT = Path(__file__).resolve().parent.parent
RATE_BPS = 10_000_000
BUFFER_PACKETS = 100
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
LOSSES = (0.0, 0.01, 0.05)
RTTS_S = (0.010, 0.050, 0.200)
# Transfers of each size with loss; without, all are equal but for the machine.
TRANSFERS = {1_000: 300, 10_000: 300, 100_000: 120, 1_000_000: 36, 10_000_000: 10}
TRANSFERS_WITHOUT_LOSS = {1_000: 20, 10_000: 20, 100_000: 20, 1_000_000: 8, 10_000_000: 3}
SIMULATED = 4
OVERFLOW_SIZES = (8_000, 14_000, 20_000, 50_000, 100_000, 200_000, 500_000)
OVERFLOW_BUFFERS = (2, 4, 8, 16, 32)
OVERFLOW_RTTS_S = (0.02, 0.05, 0.13)
OVERFLOW_TRANSFERS = 5
ACKNOWLEDGED_BYTES, ACKNOWLEDGED_TRANSFERS = 2_000_000, 5
AMPLE_PACKETS = 2_000
FOLLOWED_SIZES, FOLLOWING = (14_000, 20_000, 50_000), (12_000, 12_000, 12_000)
MOST_APART = 0.25
"""Share of the small buffers at which the medians may differ: one packet more or less can cost a timeout."""
LIMIT_S = 420
BOUND = 0.10
RESAMPLES = 2_000
AGREES, UNDECIDED, DIFFERS = "agrees", "undecided", "DIFFERS"

Times = NDArray[np.float64]


@dataclass(frozen=True)
class Cell:
    """Transfers of one size on one path."""

    size: int
    loss: float
    rtt_s: float
    count: int = 0
    """How many transfers the kernel makes; 0 for the usual number."""
    buffer_packets: int = BUFFER_PACKETS
    following: tuple[int, ...] = ()
    """Sizes of further answers on the same connection, each asked for when the one before has ended."""

    @property
    def sizes(self) -> list[int]:
        """Returns the sizes of all answers, bytes."""
        return [self.size, *self.following]

    @property
    def transfers(self) -> int:
        """Returns the number of transfers in the kernel."""
        return self.count or (TRANSFERS if self.loss else TRANSFERS_WITHOUT_LOSS)[self.size]

    @property
    def path(self) -> NetworkPath:
        """Returns the path in the form of the lab's network."""
        return NetworkPath(RATE_BPS, self.buffer_packets, self.rtt_s, self.loss)

    @property
    def rate_bps(self) -> float:
        """Returns roughly the rate that a transfer reaches: the link's, or that which losses allow.

        The latter is by Mathis et al. 1997. With following answers it is the link's.
        """
        if self.following:
            return RATE_BPS  # few at once, so that the next request is never late
        short = 8 * self.size / (2 * self.rtt_s)
        with_loss = 1448 * 8 * (1.5 / self.loss) ** 0.5 / self.rtt_s if self.loss else RATE_BPS
        return min(RATE_BPS, short, with_loss)

    def __str__(self) -> str:
        """Returns size, loss and round-trip time as text."""
        return f"{format_size(self.size)}, {self.loss:.0%} loss, {self.rtt_s * 1e3:.0f} ms"


# The kernel's congestion control, the simulator's profile, and the losses at which they are compared.
PARTS = {"cubic": ("linux", LOSSES), "bbr": ("bbr", LOSSES[:2])}

CELLS = [Cell(*one) for one in itertools.product(SIZES, LOSSES, RTTS_S)]
OVERFLOWS = [
    Cell(size, 0.0, rtt_s, OVERFLOW_TRANSFERS, buffer)
    for rtt_s, size, buffer in itertools.product(OVERFLOW_RTTS_S, OVERFLOW_SIZES, OVERFLOW_BUFFERS)
]
FOLLOWED = [
    Cell(size, 0.0, rtt_s, OVERFLOW_TRANSFERS, buffer, FOLLOWING)
    for rtt_s, size, buffer in itertools.product(OVERFLOW_RTTS_S, FOLLOWED_SIZES, OVERFLOW_BUFFERS)
]
# Nothing is lost, so that ACKs show the receiver alone.
ACKNOWLEDGED = [
    Cell(ACKNOWLEDGED_BYTES, 0.0, rtt_s, ACKNOWLEDGED_TRANSFERS, AMPLE_PACKETS) for rtt_s in OVERFLOW_RTTS_S
]
# These may differ, as docs/witness.md says.
KNOWN: list[Cell] = []


@dataclass(frozen=True)
class Compared:
    """One figure of both sides, and the 95 % interval of the simulator's ratio to the kernel's, less one."""

    linux_s: float
    simulated_s: float
    low: float
    high: float

    @property
    def difference(self) -> float:
        """Returns the simulator's figure over the kernel's, less one."""
        return self.simulated_s / self.linux_s - 1

    @property
    def verdict(self) -> str:
        """Returns `AGREES` within the bound, `DIFFERS` with the whole interval beyond it, or `UNDECIDED`."""
        if abs(self.difference) <= BOUND:
            return AGREES
        return DIFFERS if self.low > BOUND or self.high < -BOUND else UNDECIDED

    @staticmethod
    def pair(linux: Times, simulated: Times, share: float | None) -> Compared:
        """Compares the means, or the quantiles at `share`, with a bootstrap interval of their ratio.

        `share` of None stands for the means. The seed is fixed, so that equal times give equal intervals.
        """

        def figure(values: Times, axis: int = -1) -> Any:
            """Returns the mean or the quantile of values along an axis."""
            return np.mean(values, axis) if share is None else np.quantile(values, share, axis)

        rng = np.random.default_rng(1)
        samples = [
            figure(values[rng.integers(len(values), size=(RESAMPLES, len(values)))])
            for values in (linux, simulated)
        ]
        ratios = samples[1] / samples[0] - 1
        low, high = np.quantile(ratios, [0.025, 0.975])
        return Compared(float(figure(linux)), float(figure(simulated)), float(low), float(high))


@dataclass(frozen=True)
class Row:
    """The mean and the 95th percentile of a cell; `unfinished` transfers of the kernel are left out."""

    cell: Cell
    mean: Compared
    p95: Compared
    unfinished: int


@dataclass(frozen=True)
class Overflow:
    """Transfers of one size through a small buffer: their times in the kernel and in the simulator."""

    cell: Cell
    linux_s: list[float]
    simulated_s: float
    linux_drops: list[int]
    simulated_drops: int

    @property
    def difference(self) -> float:
        """Returns the simulator's time over the kernel's median, less one."""
        return self.simulated_s / median(self.linux_s) - 1

    @property
    def agrees(self) -> bool:
        """Returns whether the simulator is within the bound of the kernel's median."""
        return abs(self.difference) <= BOUND


@dataclass(frozen=True)
class Part:
    """The rows of one congestion control, and the lateness of the network in user space."""

    congestion: str
    profile: str
    rows: list[Row]
    late_p50_us: float
    late_p99_us: float


def measure_linux(
    cells: Sequence[Cell], congestion: str, limit_s: float
) -> tuple[dict[Cell, list[float | None]], dict[str, Any]]:
    """Plays the cells in the kernel and returns their times, s, and the report.

    A transfer that did not end has None. Needs the rights of root; ends the program as `witness.run_module`
    does.
    """
    numbered = [
        (number, cell)
        for number, cell in enumerate(each for cell in cells for each in [cell] * cell.transfers)
    ]
    listed = [{"path": asdict(cell.path), "sizes": cell.sizes, "seed": number} for number, cell in numbered]
    # The slowest first, since many of them go on at the same time; the fast ones share what is left.
    order = sorted(numbered, key=lambda one: (one[1].rate_bps, one[1].size))
    with tempfile.TemporaryDirectory() as folder:
        paths, task = Path(folder, "paths.json"), Path(folder, "task.json")
        paths.write_text(json.dumps(listed), encoding="utf-8")
        transfers = [{"number": n, "sizes": cell.sizes, "rate_bps": cell.rate_bps} for n, cell in order]
        content = {"paths": str(paths), "transfers": transfers, "congestion": congestion, "seconds": limit_s}
        task.write_text(json.dumps(content), encoding="utf-8")
        report = witness.run_module("transfers_run", task, limit_s + 60, "witness: the transfers")
    times: dict[Cell, list[float | None]] = {cell: [] for cell in cells}
    for number, cell in numbered:
        ends = report["seconds"][number]
        times[cell].append(ends[-1] if len(ends) == len(cell.sizes) else None)
    return times, report


def make_scenario(cell: Cell, profile: str, transfers: int, seed: int) -> dict[str, Any]:
    """Returns the cell as a scenario: transfers one after another, so far apart that none meets another."""
    apart_s = 120 + 40 * cell.size * 8 / cell.rate_bps
    writes = [{"bytes": size} for size in cell.sizes]
    connection = {"client": 0, "server": 0, "rtt_s": cell.rtt_s, "writes": writes}
    return {
        "schema": "mousehole.scenario/1",
        "seed": seed,
        "warmup": "0s",
        "duration": f"{apart_s * transfers}s",
        "max_windows": 2,
        "scheme": "droptail",
        "at": "down",
        "link": {
            "down": f"{RATE_BPS}bit",
            "rtt": f"{cell.rtt_s * 1e3:g}ms",
            "buffer": f"{cell.buffer_packets}p",
            "up": "10gbit",
            "up_buffer": "1000p",
        },
        "tcp": {"profile": profile},
        "faults": [{"link": "down", "bernoulli": cell.loss}] if cell.loss else [],
        # The program behind the kernel's transfers sends without a request. The ACK of the simulator's
        # request leaves before the answer, so that it takes no place in the queue.
        "traffic": {
            "connections": [{**connection, "start_s": apart_s * n} for n in range(transfers)],
            "server_think": "100us",
        },
    }


def simulate(cell: Cell, profile: str) -> Times:
    """Returns the simulator's times, s; NaN for a transfer that did not end.

    If losses are random, there are `SIMULATED` times as many transfers as in the kernel, else one.
    """
    from mousehole import _engine

    transfers = cell.transfers * SIMULATED if cell.loss else 1
    frame = _engine.run(make_scenario(cell, profile, transfers, 1), None, _engine.Cancel()).transfers()
    return np.asarray(frame["end_s"]) - np.asarray(frame["start_s"])


def compare(times: dict[Cell, list[float | None]], profile: str) -> list[Row]:
    """Returns a row for each cell of which at least two transfers ended; simulates each of them."""
    rows = []
    for cell, measured in times.items():
        linux = np.array([one for one in measured if one is not None])
        if len(linux) < 2:
            continue
        simulated = simulate(cell, profile)
        mean, p95 = (Compared.pair(linux, simulated, share) for share in (None, 0.95))
        rows.append(Row(cell, mean, p95, len(measured) - len(linux)))
    return rows


def measure_overflows(cells: Sequence[Cell] = tuple(OVERFLOWS), limit_s: float = LIMIT_S) -> list[Overflow]:
    """Plays transfers through small buffers on both sides, and returns those with losses on either side.

    Ends the program as `witness.run_module` does.
    """
    from mousehole import _engine

    times, report = measure_linux(cells, "cubic", limit_s)
    drops = iter(report["overflowed"])
    found = []
    for cell in cells:
        linux = [one for one in times[cell] if one is not None]
        lost = [int(next(drops)) for _ in range(cell.transfers)]
        frame = _engine.run(make_scenario(cell, "linux", 1, 1), None, _engine.Cancel()).transfers()
        seconds, dropped = frame["end_s"][0] - frame["start_s"][0], int(frame["dropped"][0])
        if linux and (dropped or any(lost)):
            found.append(Overflow(cell, linux, float(seconds), lost, dropped))
    return found


def measure_following_answers(
    cells: Sequence[Cell] = tuple(FOLLOWED), limit_s: float = LIMIT_S
) -> list[Overflow]:
    """Plays connections with several answers through small buffers, in Linux and in the simulator.

    Returns an `Overflow` for each cell in which either side lost a packet and Linux finished a connection.
    Its times, in seconds, are from the end of the first answer to the end of the last. Ends the program as
    `witness.run_module` does.
    """
    from mousehole import _engine

    _, report = measure_linux(cells, "cubic", limit_s)
    ends, drops = iter(report["seconds"]), iter(report["overflowed"])
    found = []
    for cell in cells:
        own = [next(ends) for _ in range(cell.transfers)]
        lost = [int(next(drops)) for _ in range(cell.transfers)]
        linux = [one[-1] - one[0] for one in own if len(one) == len(cell.sizes)]
        frame = _engine.run(make_scenario(cell, "linux", 1, 1), None, _engine.Cancel()).transfers()
        dropped = int(sum(frame["dropped"]))
        if linux and (dropped or any(lost)):
            seconds = float(frame["end_s"][-1] - frame["end_s"][0])
            found.append(Overflow(cell, linux, seconds, lost, dropped))
    return found


def count_single_acks(
    cells: Sequence[Cell] = tuple(ACKNOWLEDGED), limit_s: float = LIMIT_S
) -> dict[Cell, list[int]]:
    """Returns the numbers of segments that the kernel acknowledges one by one at the start of each transfer.

    Plays them in the kernel.
    """
    _, report = measure_linux(cells, "cubic", limit_s)
    counts = iter(report["single_acks"])
    return {cell: [int(next(counts)) for _ in range(cell.transfers)] for cell in cells}


def format_size(size: int) -> str:
    """Returns a size as text such as `100 kB`."""
    return f"{size // 1_000_000} MB" if size >= 1_000_000 else f"{size // 1_000} kB"


def format_seconds(seconds: float) -> str:
    """Returns a time as text, in ms below a second."""
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def list_cells(row: Row) -> list[str]:
    """Returns the cells of a table row."""
    cell = row.cell
    line = [format_size(cell.size), f"{cell.loss:.0%}", f"{cell.rtt_s * 1e3:.0f} ms"]
    for one in (row.mean, row.p95):
        interval = f"{100 * one.difference:+.0f} % [{100 * one.low:+.0f}, {100 * one.high:+.0f}]"
        line += [format_seconds(one.linux_s), format_seconds(one.simulated_s), interval, one.verdict]
    return line


def write_table(rows: Sequence[Row]) -> str:
    """Returns the rows as a Markdown table."""
    header = ["size", "loss", "RTT"]
    for name in ("mean", "p95"):
        header += [f"{name}: Linux", "simulator", "differs by", ""]
    return document.table(header, [list_cells(row) for row in rows])


def write_conclusion(rows: Iterable[Row]) -> str:
    """Returns the counts as one sentence."""
    rows = list(rows)
    verdicts = [one.verdict for row in rows for one in (row.mean, row.p95)]
    agree, open_, differ = (verdicts.count(word) for word in (AGREES, UNDECIDED, DIFFERS))
    left = sum(row.unfinished for row in rows)
    return (
        f"transfers: {agree} of {len(verdicts)} figures within {BOUND:.0%}, {open_} undecided, "
        f"{differ} differ; {left} transfers did not end in time"
    )


def measure(cells: Sequence[Cell], congestion: str, profile: str, limit_s: float = LIMIT_S) -> Part:
    """Returns one part: the kernel with this congestion control against a profile of the simulator.

    Ends the program as `witness.run_module` does.
    """
    times, report = measure_linux(cells, congestion, limit_s)
    return Part(congestion, profile, compare(times, profile), report["late_p50_us"], report["late_p99_us"])


def write_markdown(part: Part) -> str:
    """Returns a part in Markdown."""
    return (
        f"\nLinux {os.uname().release} with `{part.congestion}`, simulator with `{part.profile}`; brackets "
        f"hold 95 % intervals of the difference. Packets were {part.late_p50_us:.0f} µs late in the median, "
        f"{part.late_p99_us:.0f} µs at p99.\n\n{write_table(part.rows)}\n{write_conclusion(part.rows)}.\n"
    )


def write_overflows(found: Sequence[Overflow]) -> str:
    """Returns the number of overflows that agree, and a table of the others, in Markdown.

    `found` must not be empty.
    """
    agree = sum(one.agrees for one in found)
    apart = [abs(one.difference) for one in found]
    rtts = ", ".join(f"{1e3 * rtt_s:.0f}" for rtt_s in OVERFLOW_RTTS_S)
    said = (
        f"Transfers of {format_size(min(OVERFLOW_SIZES))} to "
        f"{format_size(max(OVERFLOW_SIZES))} through a FIFO "
        f"of {', '.join(map(str, OVERFLOW_BUFFERS))} packets, at base round-trip times of {rtts} ms, each "
        f"{OVERFLOW_TRANSFERS} times in the kernel. In {len(found)} cases packets were lost; in {agree} of "
        f"them the simulator's time is within {BOUND:.0%} of the kernel's median. The median of the "
        f"differences is {median(apart):.1%}. The others:"
    )
    return f"\n{document.wrap(said)}\n\n{write_others(found)}"


def write_following(found: Sequence[Overflow]) -> str:
    """Returns the number of following answers that agree, and a table of the others, in Markdown.

    `found` must not be empty.
    """
    agree = sum(one.agrees for one in found)
    sizes = ", ".join(format_size(size) for size in FOLLOWING)
    said = (
        f"Then answers of {sizes} follow one {format_size(min(FOLLOWED_SIZES))} to "
        f"{format_size(max(FOLLOWED_SIZES))} large on the same connection, through the same FIFOs. In "
        f"{len(found)} cases packets were lost; in {agree} of them the simulator's time for the following "
        f"answers is within {BOUND:.0%} of the kernel's median. The median of the differences is "
        f"{median(abs(one.difference) for one in found):.1%}. The others:"
    )
    return f"\n{document.wrap(said)}\n\n{write_others(found)}"


def write_others(found: Sequence[Overflow]) -> str:
    """Returns a Markdown table of those that do not agree."""
    header = ["size", "buffer", "RTT", "Linux, ms", "simulator, ms", "differs by", "lost: Linux", "simulator"]
    rows = [
        [
            format_size(one.cell.size), str(one.cell.buffer_packets), f"{one.cell.rtt_s * 1e3:.0f} ms",
            ", ".join(f"{1e3 * seconds:.0f}" for seconds in sorted(one.linux_s)),
            f"{1e3 * one.simulated_s:.0f}", f"{100 * one.difference:+.0f} %",
            ", ".join(map(str, sorted(one.linux_drops))), str(one.simulated_drops),
        ]
        for one in found if not one.agrees
    ]  # fmt: skip
    return document.table(header, rows)


def write_single_acks(found: dict[Cell, list[int]]) -> str:
    """Returns the counts of each path as lines of text."""
    lines = [
        f"{format_size(cell.size)}, {1e3 * cell.rtt_s:.0f} ms: {', '.join(map(str, sorted(counts)))}"
        for cell, counts in found.items()
    ]
    return "Segments that the kernel acknowledges one by one at the start of a transfer:\n" + "\n".join(lines)


def too_many_differ(found: Sequence[Overflow]) -> bool:
    """Returns whether more than a share `MOST_APART` of the overflows differ."""
    return sum(not one.agrees for one in found) > MOST_APART * len(found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures all parts and writes the document; returns 1 if CUBIC differs where it is not known to.

    Returns 1 too if too many overflows differ. Where it cannot run it returns 0, but 1 if CI is set. With a
    choice of parts the document stays as it is.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--congestion", choices=list(PARTS), help="only this one; the document stays as it is"
    )
    parser.add_argument("--largest", type=int, default=max(SIZES), help="largest size in bytes")
    parser.add_argument(
        "--cell", nargs=4, type=float, metavar=("BYTES", "LOSS", "RTT_S", "TRANSFERS"),
        help="only this cell, with so many transfers of the kernel's; the document stays as it is",
    )  # fmt: skip
    parser.add_argument(
        "--overflows", action="store_true", help="only small buffers; the document stays as it is"
    )
    parser.add_argument(
        "--acks", action="store_true",
        help="only count the segments that are acknowledged one by one; the document stays as it is",
    )  # fmt: skip
    parser.add_argument("--document", type=Path, default=witness.DOCUMENT)
    options = parser.parse_args(arguments)
    reason = witness.find_obstacle()
    if reason:
        print(f"NOT RUN  witness-transfers: {reason}")
        return int(bool(os.environ.get("CI")))
    signal.signal(signal.SIGTERM, witness.stop)
    if options.acks:
        print(write_single_acks(count_single_acks()))
        return 0
    if options.overflows:
        found, following = measure_overflows(), measure_following_answers()
        print(write_overflows(found) + write_following(following))
        return int(too_many_differ(found) or too_many_differ(following))
    parts = []
    for congestion, (profile, losses) in PARTS.items():
        if options.congestion in (None, congestion):
            cells = [cell for cell in CELLS if cell.size <= options.largest and cell.loss in losses]
            if options.cell:
                size, loss, rtt_s, count = options.cell
                cells = [Cell(int(size), loss, rtt_s, int(count))]
            parts.append(measure(cells, congestion, profile))
            print(write_markdown(parts[-1]), flush=True)
    if options.congestion is None and options.cell is None and options.largest >= max(SIZES):
        found, following = measure_overflows(), measure_following_answers()
        text = "".join(map(write_markdown, parts)) + write_overflows(found) + write_following(following)
        document.renew(options.document, "validation WHAT=transfers", text)
        if too_many_differ(found) or too_many_differ(following):
            return 1
    return int(any(is_unexpected(row) for part in parts if part.congestion == "cubic" for row in part.rows))


def is_unexpected(row: Row) -> bool:
    """Returns whether a row differs that docs/witness.md does not name."""
    return row.cell not in KNOWN and DIFFERS in (row.mean.verdict, row.p95.verdict)


if __name__ == "__main__":
    sys.exit(main())
