"""Real Linux beside the simulator: bulk TCP through a TBF bottleneck, throughput and mean queue within 10 %.

`make validation WHAT=witness` writes the table of docs/witness.md; with `--json` the rows are printed as JSON
lines instead. Linux runs in namespaces of its own (lab/witness_run.py); the simulator plays the same link,
flows and window. Exit code 1 when a case differs by more than the bound. Without root or a tool nothing can
be measured: the program then says NOT RUN and why, and fails only where CI is set.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev
from types import FrameType
from typing import Any

from mousehole.statistics import Design

from tools import document
from validation.lab.bottleneck import BURST_FRAMES, ETHERNET, FULL_FRAME, Case
from validation.lab.namespaces import die_with_parent
from validation.lab.tools import find_missing
from validation.lab.witness_run import SPARE_S, Measured

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "witness.md"
BOUND = 0.10
TOOLS = {"ip": "iproute2", "tc": "iproute2", "ethtool": "ethtool"}
CASES = [
    Case("reno", 1),
    Case("reno", 4),
    Case("cubic", 1),
    Case("cubic", 4),
    Case("reno", 1, limit_packets=30),
    Case("reno", 1, limit_packets=20),
    Case("reno", 1, sack=False),
    Case("bbr", 1),
    Case("bbr", 1, limit_packets=200),
    Case("bbr", 4, limit_packets=200),
]
# These may differ, as docs/witness.md says: printed as such, but no failure. The kernel's BBR is version 1.
KNOWN = CASES[-5:]
AGREES, DIFFERS, KNOWN_DIFFERENCE = "agrees", "DIFFERS", "differs, known"
# Linux's segments: 1500 bytes with 20 of IP, 20 of TCP and 12 of timestamps.
SEGMENT = {"mss": 1448, "header": 52, "delayed_ack": "40ms"}


@dataclass(frozen=True)
class Estimate:
    """A mean of independent runs and the half width of its 95 % interval (Student's t)."""

    mean: float
    half_width: float

    @staticmethod
    def from_runs(values: Sequence[float]) -> Estimate:
        """Returns the estimate from at least two runs; raises `StatisticsError` for fewer."""
        return Estimate(fmean(values), Design().half_width(stdev(values), len(values)))

    def __str__(self) -> str:
        """Returns the mean and the half-width as text."""
        return f"{self.mean:.2f} ± {self.half_width:.2f}"


@dataclass(frozen=True)
class Row:
    """One quantity of one case on both sides; `simulated` is None if the simulator lacks the algorithm."""

    case: Case
    quantity: str
    linux: Estimate
    simulated: Estimate | None
    held: bool = True
    known: bool = False

    @property
    def difference(self) -> float | None:
        """Returns the simulator's mean over Linux's, less one; None where there is nothing to compare."""
        if self.simulated is None or self.linux.mean == 0:
            return None
        return self.simulated.mean / self.linux.mean - 1

    @property
    def verdict(self) -> str:
        """Returns the outcome as text: `AGREES`, `DIFFERS`, `KNOWN_DIFFERENCE`, or why nothing is judged."""
        if self.simulated is None:
            return "not in the simulator"
        if not self.held or self.difference is None:
            return "shown only"
        if abs(self.difference) <= BOUND:
            return AGREES
        return KNOWN_DIFFERENCE if self.known else DIFFERS


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures all cases and prints the table; returns the exit code of `choose_exit_code`.

    Where it cannot run that is 0, but 1 if CI is set. With --congestion the document stays as it is.
    """
    options = parse_arguments(arguments)
    reason = find_obstacle()
    if reason:
        print(f"NOT RUN  witness: {reason}", file=sys.stderr if options.json else sys.stdout)
        return int(bool(os.environ.get("CI")))
    signal.signal(signal.SIGTERM, stop)
    cases = [case for case in CASES if options.congestion in (None, case.congestion)]
    conditions = (
        f"Linux {os.uname().release}, {os.cpu_count()} processors, {len(cases)} cases, "
        f"{options.reps} runs each, {options.jobs} at a time, simulator of commit {describe_commit()}"
    )
    print(f"witness: {conditions}", file=sys.stderr, flush=True)
    rows: list[Row] = []
    delays: list[dict[str, float]] = []
    for case in cases:
        measured = measure_linux(case, options.reps, options.jobs)
        rows += compare(case, measured)
        delays += [run.delay for run in measured]
        tcp = json.dumps(choose_tcp(case))
        print(f"witness: {write_label(case)}: simulated with {tcp}", file=sys.stderr, flush=True)
    result = (
        f"\n{conditions}; ± is half of the 95 % interval:\n\n{write_table(rows)}\n{write_lateness(delays)}\n"
    )
    if len(cases) == len(CASES):
        document.renew(options.document, "validation WHAT=witness", result)
    if options.json:
        print("\n".join(json.dumps(to_json(row)) for row in rows))
    else:
        print(f"{result}\n{write_conclusion(rows)}")
    return choose_exit_code(rows)


def describe_commit() -> str:
    """Returns the short name of the commit that is checked out, with a + where files are changed."""
    command = ["git", "describe", "--always", "--dirty=+"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line; ends the program, with status 2, if one is not allowed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reps", type=int, default=5, help="runs per case, at least 2 (default 5)")
    parser.add_argument("--jobs", type=int, default=5, help="runs at the same time (default 5)")
    parser.add_argument(
        "--congestion", choices=["reno", "cubic", "bbr"], help="only these cases; the document stays as it is"
    )
    parser.add_argument("--document", type=Path, default=DOCUMENT)
    parser.add_argument("--json", action="store_true", help="print rows as JSON")
    options = parser.parse_args(arguments)
    if options.reps < 2 or options.jobs < 1:
        parser.error("--reps must be at least 2 and --jobs at least 1")
    return options


def find_obstacle() -> str | None:
    """Returns the reason why nothing can be measured here, or None."""
    if sys.platform != "linux":
        return "network namespaces are Linux's"
    if reason := find_missing(TOOLS):
        return reason
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    return None


def stop(number: int, _: FrameType | None) -> None:
    """Exits on a signal, so that `finally` clauses end the runs; a signal handler."""
    sys.exit(128 + number)


def measure_linux(case: Case, reps: int, jobs: int) -> list[Measured]:
    """Runs one case `reps` times, `jobs` at a time, each in its own process and namespaces.

    Returns the results. Ends the program if a run fails.
    """
    results: list[Measured] = []
    while len(results) < reps:
        batch = min(jobs, reps - len(results))
        with contextlib.ExitStack() as stack:
            running = [stack.enter_context(start_linux_run(case)) for _ in range(batch)]
            results += [finish() for finish in running]
    return results


def run_module(module: str, task: Path, seconds: float, what: str) -> Any:
    """Runs a module of `validation.lab` on a file and returns the JSON that it prints.

    Its process dies with this one. If it fails, the program ends with `what` and the end of the process's
    errors. Raises `TimeoutExpired` after `seconds`.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", f"validation.lab.{module}", str(task)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        preexec_fn=die_with_parent,
    )
    try:
        out, errors = process.communicate(timeout=seconds)
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        raise SystemExit(f"{what} ended with {process.returncode}: {errors.strip()[-500:]}")
    return json.loads(out)


@contextlib.contextmanager
def start_linux_run(case: Case) -> Iterator[Callable[[], Measured]]:
    """Starts a run for the block, and yields a function that waits for its result.

    The run never outlives the block. The function ends the program if the run fails, and raises
    `TimeoutExpired` if it takes too long.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "validation.lab.witness_run", json.dumps(asdict(case))],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    )

    def finish() -> Measured:
        """Waits for the run and returns its result; ends the program if it failed."""
        out, errors = process.communicate(timeout=case.seconds + 2 * SPARE_S)
        if process.returncode:
            raise SystemExit(f"witness: a run ended with {process.returncode}: {errors.strip()[-500:]}")
        return Measured(**json.loads(out))

    try:
        yield finish
    finally:
        process.kill()
        process.wait()


def choose_tcp(case: Case) -> dict[str, Any] | None:
    """Returns the simulator's nearest TCP settings for a case, or None if it lacks the congestion control."""
    from mousehole import MouseholeError, _engine

    choices = [{"profile": profile, "congestion": case.congestion} for profile in ("linux", "rfc")]
    if case.congestion == "reno":
        choices.append({"profile": "rfc"})
    for choice in choices:
        tcp = {**choice, **SEGMENT, "variant": "sack" if case.sack else "newreno"}
        with contextlib.suppress(MouseholeError):
            _engine.validate(make_scenario(case, tcp, 0))
            return tcp
    return None


def make_scenario(case: Case, tcp: dict[str, Any], replication: int) -> dict[str, Any]:
    """Returns the case as a scenario; `tcp` are its TCP settings.

    Its buffer has one packet less, since TBF's limit counts the packet in transmission.
    """
    return {
        "schema": "mousehole.scenario/1",
        "seed": 1,
        "replication": replication,
        "warmup": f"{case.warmup_s}s",
        "duration": f"{case.window_s}s",
        "max_windows": 1,
        "scheme": "droptail",
        "at": "down",
        "link": {
            "down": f"{case.rate_bps}bit",
            "rtt": f"{case.rtt_s * 1e3:g}ms",
            "buffer": f"{case.limit_packets - 1}p",
            "up": "10gbit",
            "up_buffer": "1000p",
            "overhead": ETHERNET,
        },
        "tcp": tcp,
        "traffic": {"bulk": {"flows": case.flows, "start_spread_s": case.spread_s, "rtt_spread": 0.01}},
    }


def simulate(case: Case, tcp: dict[str, Any], replication: int) -> Measured:
    """Simulates a case once and returns the same measures; the queue counts the packet in transmission."""
    from mousehole import _engine

    run = _engine.run(make_scenario(case, tcp, replication), None, _engine.Cancel())
    queue = next(entry for entry in run.queues() if entry["name"] == "down")
    frame_bytes = queue["sent_bytes"] / queue["sent_packets"] + ETHERNET
    in_transmission = queue["sent_packets"] * frame_bytes * 8 / (case.rate_bps * case.window_s)
    return Measured(
        goodput_bps=run.summary()["goodput_bps"],
        queue_packets=queue["mean_queue_packets"] + in_transmission,
        drops=sum(colour["forced"] + colour["early"] for colour in queue["colours"]),
        frame_bytes=frame_bytes,
    )


QUANTITIES: list[tuple[str, Callable[[Measured], float], bool]] = [
    ("goodput, Mb/s", lambda run: run.goodput_bps / 1e6, True),
    ("mean queue, packets", lambda run: run.queue_packets, True),
    ("drops in the window", lambda run: float(run.drops), False),
]


def compare(case: Case, measured: list[Measured], tcp: dict[str, Any] | None = None) -> list[Row]:
    """Returns the rows of one case, with as many simulated runs as measured ones.

    Without `tcp`, the nearest settings are chosen. Ends the program if frames are larger than a full one, as
    with segmentation offload.
    """
    oversized = [run.frame_bytes for run in measured if run.frame_bytes > FULL_FRAME]
    if oversized:
        raise SystemExit(f"witness: frames of {max(oversized):.0f} bytes: segmentation offload is not off")
    tcp = tcp or choose_tcp(case)
    simulated = [simulate(case, tcp, index) for index in range(len(measured))] if tcp else []
    return [
        Row(
            case,
            name,
            Estimate.from_runs([value(run) for run in measured]),
            Estimate.from_runs([value(run) for run in simulated]) if simulated else None,
            held,
            case in KNOWN,
        )
        for name, value, held in QUANTITIES
    ]


def write_table(rows: Sequence[Row]) -> str:
    """Returns the rows as a Markdown table."""
    header = ("case", "quantity", "Linux", "simulator", "differs by", "")
    return document.table(header, [list_cells(row) for row in rows])


def list_cells(row: Row) -> list[str]:
    """Returns the cells of a table row."""
    difference = "" if row.difference is None else f"{100 * row.difference:+.1f} %"
    simulated = str(row.simulated or "none")
    return [write_label(row.case), row.quantity, str(row.linux), simulated, difference, row.verdict]


def to_json(row: Row) -> dict[str, Any]:
    """Returns a row for JSON; `simulated` is null where the simulator lacks the algorithm."""
    return {
        "case": write_label(row.case),
        "quantity": row.quantity,
        "linux": asdict(row.linux),
        "simulated": asdict(row.simulated) if row.simulated else None,
        "held": row.held,
        "verdict": row.verdict,
    }


def write_label(case: Case) -> str:
    """Returns the name of a case in the table."""
    flows = f"{case.flows} flow{'s' if case.flows > 1 else ''}"
    return f"{case.congestion}, {flows}, {case.limit_packets}p" + ("" if case.sack else ", no SACK")


def write_lateness(delays: Sequence[dict[str, float]]) -> str:
    """Returns how late the acknowledgements were in the worst run, as text; `delays` must not be empty."""
    worst = {name: max(delay[name] for delay in delays) for name in delays[0]}
    return (
        f"delay line, worst run: {worst['late_p50_us']:.0f} µs late in the median, "
        f"{worst['late_p99_us']:.0f} µs at p99, {worst['late_max_us']:.0f} µs at most; "
        f"{worst['lost']:.0f} lost. TBF burst {BURST_FRAMES} frames."
    )


def choose_exit_code(rows: Sequence[Row]) -> int:
    """Returns 0 if something agrees and nothing differs that is not documented, else 1.

    Figures that are shown only do not count.
    """
    verdicts = [row.verdict for row in rows if row.held]
    return int(DIFFERS in verdicts or AGREES not in verdicts)


def write_conclusion(rows: Sequence[Row]) -> str:
    """Returns the counts as one sentence."""
    verdicts = [row.verdict for row in rows if row.held]
    agree, differ, known = (verdicts.count(word) for word in (AGREES, DIFFERS, KNOWN_DIFFERENCE))
    missing = len(verdicts) - agree - differ - known
    return (
        f"witness: {agree} within {BOUND:.0%}, {differ} differ, {known} differ as documented, "
        f"{missing} without a counterpart"
    )


if __name__ == "__main__":
    sys.exit(main())
