"""Plays several TCP flows over one bottleneck in ns-2 and in the simulator, and compares them.

Under drop-tail nothing is drawn at random, so every send, arrival at the sink, drop at the bottleneck and
acknowledgement of all flows must be the same, in the same order, within 2 µs, until the first tie: a packet
reaches a full queue in the instant in which another leaves it. In ns-2 rounding errors decide which is first.

RED, SFD and RED with ECN draw their drops, so only their figures can agree. Both sides play the same flows,
drawn by a seed: long ones, and short ones that start at random times. Each figure (utilisation, share of
packets lost, mean queue, mean response time of the short flows) is compared by a t test of the differences
over at least ten seeds, all figures together by Holm's procedure.

Ends with 1 if a flow parts without a tie or a figure differs. Needs ns-2.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np
from mousehole import _engine
from mousehole.runs import default_jobs, run_one
from mousehole.scenario import fill_in
from mousehole.statistics import find_p_value, t_interval

from tools import document
from validation.oracle_cases import DRAWN, ROOT, VARIANTS
from validation.rows import hold_after_holm

SCRIPT = ROOT / "oracle" / "tcl" / "m_flows.tcl"
CLOSE_S = 2e-6
TIE_S = 1e-9
RATE_MBIT, DELAY_MS, ACCESS_MBIT, ACCESS_MS, PAYLOAD = 2.0, 20.0, 100.0, 1.0, 1000
WARM_S, SHORTS_END_S, END_S = 10.0, 100.0, 130.0
"""The measured window begins, short flows start no later than, and the window ends."""
MOST_SHORT = 100
"""Packets of the smallest long flow."""
FIGURES = ("utilisation", "share lost", "mean queue", "short response")
DISCIPLINES = {
    "RED": ("RED", 0, "ns2-red(min=8,max=24,maxp=0.1,wq=0.02,gentle=true,wait=true)"),
    "SFD, coupled": ("SFD", 0, "ns2-sfd(mode=coupled)"),
    "RED with ECN": ("RED", 1, "ns2-red(min=8,max=24,maxp=0.1,wq=0.02,gentle=true,wait=true,ecn=true)"),
}
"""The queue of `m_flows.tcl`, whether hosts use ECN, and the scheme here."""

Event = tuple[float, str, int, int, int]  # time in s, event, flow, segment, bytes


@dataclass(frozen=True)
class Flow:
    """A transfer; `delay_us` is added to both of its access links, so four times to its round-trip time."""

    start_s: float
    packets: int
    delay_us: int

    def argument(self) -> str:
        """Returns the flow in the form that the ns-2 script takes."""
        return f"{self.start_s:.6f}:{self.packets}:{self.delay_us / 1000:.3f}"

    def connection(self, host: int) -> dict[str, object]:
        """Returns the flow as a connection of a scenario, between hosts number `host`."""
        return {
            "start_s": round(self.start_s, 6), "client": host, "server": host,
            "rtt_s": 2e-3 * DELAY_MS + 4e-3 * ACCESS_MS + 4e-6 * self.delay_us,
            "writes": [{"bytes": self.packets * PAYLOAD}],
        }  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Flows through a queue; `seed` is that of the random draws in ns-2 and in the simulator."""

    flows: tuple[Flow, ...]
    queue: str
    scheme: str
    buffer: int
    seed: int
    end_s: float
    variant: str = "Newreno"
    ecn: int = 0

    def command(self) -> list[str]:
        """Returns the command that plays the case in ns-2."""
        settings = {
            "q": self.queue, "qlim": self.buffer, "seed": self.seed, "tend": self.end_s,
            "variant": self.variant, "ecn": self.ecn,
            "flows": ",".join(flow.argument() for flow in self.flows),
        }  # fmt: skip
        return ["ns", str(SCRIPT), *(f"{name}={value}" for name, value in settings.items())]

    def scenario(self, phase_s: float, warm_s: float) -> dict[str, object]:
        """Returns the case as a scenario of the simulator, measured from `warm_s` on."""
        return fill_in({
            "seed": self.seed, "warmup": f"{warm_s}s", "duration": f"{self.end_s - warm_s}s",
            "max_windows": 1, "scheme": self.scheme,
            "link": {
                "rate": f"{RATE_MBIT}mbit", "delay": f"{DELAY_MS}ms", "buffer": f"{self.buffer}p",
                "rtt": f"{2 * DELAY_MS + 4 * ACCESS_MS}ms", "up_buffer": "10000p",
            },
            "access": {"rate": f"{ACCESS_MBIT}mbit", "delay": f"{ACCESS_MS}ms"},
            "tcp": {
                "profile": "ns2-2.35", "variant": VARIANTS[self.variant], "mss": PAYLOAD,
                "receive_window": 64, "tick": "10ms", "tick_phase_s": phase_s, "initial_window": 2,
                "initial_rto": "3s", "min_rto": "200ms", "syn": False, "delayed_ack": "off",
                "ecn": bool(self.ecn),
            },
            "traffic": {"connections": [flow.connection(n) for n, flow in enumerate(self.flows)]},
        })  # type: ignore[return-value]  # fmt: skip


# --- ns-2 ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TraceLine:
    """A line of ns-2's packet trace."""

    at_s: float
    what: str
    link: tuple[int, int]
    bytes: int
    flow: int
    seq: int


def play_ns2(case: Case) -> tuple[list[TraceLine], float]:
    """Plays a case in ns-2 and returns its trace, and the phase of the senders' clocks, s.

    Ends the program if ns-2 fails; raises `TimeoutExpired` after 600 s.
    """
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        done = subprocess.run(
            [*case.command(), "out=t"], cwd=folder, capture_output=True, text=True, timeout=600, check=False
        )
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
        if done.returncode != 0 or "boot" not in said:
            raise SystemExit(f"oracle: ns failed: {' '.join(case.command())}\n{done.stderr}")
        lines = (Path(folder) / "t.tr").read_text().splitlines()
    return [parse_line(line.split()) for line in lines], float(said["boot"])


def parse_line(fields: Sequence[str]) -> TraceLine:
    """Returns the line of a trace that is given as its fields.

    The nodes are r0 = 0, r1 = 1, then sender and client of each flow.
    """
    link = (int(fields[2]), int(fields[3]))
    return TraceLine(float(fields[1]), fields[0], link, int(fields[5]), int(fields[7]), int(fields[10]))


def list_events(lines: Sequence[TraceLine]) -> list[Event]:
    """Returns sends, arrivals at the sinks, drops at the bottleneck and ACKs at the senders.

    They stay in the order of the trace.
    """
    found = []
    for one in lines:
        sender, client = 2 + 2 * one.flow, 3 + 2 * one.flow
        name = {
            ("+", (sender, 0)): "send",
            ("r", (1, client)): "receive",
            ("d", (0, 1)): "drop",
            ("r", (0, sender)): "ack",
        }.get((one.what, one.link))
        if name:
            found.append((one.at_s, name, one.flow, one.seq, one.bytes))
    return found


# --- packet by packet --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """The agreement of a drop-tail case: its events, those equal up to a difference, and the reason.

    `ends` is "all", "tie", or the two events that differ. `drops` counts those among the equal events.
    """

    case: Case
    events: int
    same: int
    drops: int
    ends: str

    @property
    def agrees(self) -> bool:
        """Returns whether all events are equal, at least up to a tie."""
        return self.ends in ("all", "tie")


def draw_drop_tail_case(number: int, seed: int) -> Case:
    """Draws a drop-tail case: 2 to 6 flows whose delays are no multiples of the link's packet times.

    Equal numbers and seeds give equal cases.
    """
    rng = random.Random(f"{seed} {number}")  # noqa: S311 - not for secrets
    flows = tuple(
        Flow(rng.randrange(2_000_000) / 1e6, rng.choice((40, 200, 800)), rng.randrange(60_000))
        for _ in range(rng.randint(2, 6))
    )
    ordered = tuple(sorted(flows, key=lambda flow: flow.start_s))
    return Case(
        ordered, "DropTail", "droptail(ns2=true)", rng.choice((8, 15, 30)), rng.randrange(1, 2**31 - 1), 40.0,
        variant=DRAWN[number % len(DRAWN)],
    )  # fmt: skip


def compare_events(case: Case) -> Outcome:
    """Plays a case on both sides and compares all events in order, up to the first difference.

    Ends the program if ns-2 fails.
    """
    lines, phase_s = play_ns2(case)
    theirs = list_events(lines)
    all_mine = list(play_simulated(case, phase_s))
    mine = [event for event in all_mine if event[1] != "enqueue"]
    total = max(len(mine), len(theirs))
    for number, (a, b) in enumerate(zip_longest(mine, theirs)):
        if a is None or b is None or a[1:] != b[1:] or abs(a[0] - b[0]) > CLOSE_S:
            at_s = min(one[0] for one in (a, b) if one is not None)
            ends = "tie" if is_tie(case, all_mine, at_s) else f"ours {a}, ns-2 {b}"
            return Outcome(case, total, number, count_drops(theirs[:number]), ends)
    return Outcome(case, total, total, count_drops(theirs), "all")


def play_simulated(case: Case, phase_s: float) -> Iterator[Event]:
    """Plays a case in the simulator and yields its events, without marks.

    Its trace names slots, which are reused: a slot is the next flow's when it sends at that flow's start.
    Ends the program if the run has no trace.
    """
    scenario = {**case.scenario(phase_s, 0.0), "trace": True}
    trace = run_one(scenario, None, _engine.Cancel()).trace()
    if trace is None:
        raise SystemExit("oracle: the simulator kept no trace")
    columns = (trace[name] for name in ("time_s", "event", "flow", "seq", "bytes"))
    starts = deque((flow.start_s, number) for number, flow in enumerate(case.flows))
    flow_of: dict[int, int] = {}
    for at_s, event, slot, seq, size in zip(*columns, strict=True):
        if event == "send" and seq == 0 and starts and abs(at_s - starts[0][0]) < CLOSE_S:
            flow_of[int(slot)] = starts.popleft()[1]
        if event != "mark":
            yield (float(at_s), str(event), flow_of[int(slot)], int(seq), int(size))


def count_drops(found: Sequence[Event]) -> int:
    """Returns the number of drops among events."""
    return sum(event[1] == "drop" for event in found)


def is_tie(case: Case, found: Sequence[Event], at_s: float) -> bool:
    """Returns whether, at this time, a packet arrives in the instant in which one leaves the queue.

    Which of the two comes first decides whether a full queue has room. The time at which a packet left the
    queue of the bottleneck is computed back from its arrival at the sink.
    """
    arrivals = {
        event[0] for event in found if event[1] in ("enqueue", "drop") and abs(event[0] - at_s) < CLOSE_S
    }
    for arrived_s, name, flow, _, size in found:
        if name == "receive" and at_s < arrived_s < at_s + 1.0:
            sending_s = 8e-6 * size * (1 / RATE_MBIT + 1 / ACCESS_MBIT)
            left_s = arrived_s - sending_s - 1e-3 * (DELAY_MS + ACCESS_MS) - 1e-6 * case.flows[flow].delay_us
            if any(abs(left_s - other_s) < TIE_S for other_s in arrivals):
                return True
    return False


# --- figures -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    """A figure of a discipline on both sides, and the test of its differences over the seeds."""

    discipline: str
    figure: str
    seeds: int
    ns2: float
    ours: float
    difference: tuple[float, float, float]
    """Ours minus ns-2's: mean, and the ends of its 95 % interval."""
    p_value: float


def draw_random_case(discipline: str, seed: int) -> Case:
    """Draws four long flows, and 180 short ones that start at random times.

    Equal seeds give equal cases. Raises `KeyError` for an unknown discipline.
    """
    queue, ecn, scheme = DISCIPLINES[discipline]
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    long = [Flow(rng.uniform(0, 2), 100_000, rng.randrange(20_000)) for _ in range(4)]
    starts = (rng.uniform(WARM_S, SHORTS_END_S) for _ in range(180))
    short = [Flow(start, rng.randint(2, 14), rng.randrange(20_000)) for start in starts]
    flows = tuple(sorted([*long, *short], key=lambda flow: flow.start_s))
    return Case(flows, queue, scheme, 60, seed, END_S, ecn=ecn)


def measure_both(case: Case) -> tuple[list[float], list[float]]:
    """Plays a case on both sides; returns the figures of ns-2 and those of the simulator.

    Both are in the order of `FIGURES`.
    """
    lines, phase_s = play_ns2(case)
    result = run_one(case.scenario(phase_s, WARM_S), None, _engine.Cancel())
    return compute_ns2_figures(case, lines), compute_simulated_figures(result)


def compute_ns2_figures(case: Case, lines: Sequence[TraceLine]) -> list[float]:
    """Returns utilisation, share lost, mean queue (packets) and mean response time, s, from ns-2's trace.

    Only the measured window counts, from `WARM_S` on; responses are those of flows that ended.
    """
    sent_bits, arrived, lost, waiting, area, last_s = 0.0, 0, 0, 0, 0.0, WARM_S
    for one in (line for line in lines if line.link == (0, 1)):
        if one.at_s > WARM_S:
            area += waiting * (one.at_s - last_s)
            last_s = one.at_s
            arrived += one.what == "+"
            lost += one.what == "d"
            sent_bits += 8 * one.bytes * (one.what == "-")
        waiting += {"+": 1, "-": -1, "d": -1}.get(one.what, 0)
    span_s = case.end_s - WARM_S
    short = {n: flow for n, flow in enumerate(case.flows) if flow.packets < MOST_SHORT}
    ends = find_end_times(lines, short)
    times = [ends[n] - flow.start_s for n, flow in short.items() if n in ends]
    return [sent_bits / (RATE_MBIT * 1e6 * span_s), lost / arrived, area / span_s, float(np.mean(times))]


def find_end_times(lines: Sequence[TraceLine], flows: Mapping[int, Flow]) -> dict[int, float]:
    """Returns for each flow that ended the time at which the last missing packet reached its client."""
    missing = {number: set(range(flow.packets)) for number, flow in flows.items()}
    ends: dict[int, float] = {}
    for one in lines:
        if one.what == "r" and one.flow in missing and one.link == (1, 3 + 2 * one.flow):
            missing[one.flow].discard(one.seq)
            if not missing[one.flow]:
                ends.setdefault(one.flow, one.at_s)
    return ends


def compute_simulated_figures(result: _engine.RunResult) -> list[float]:
    """Returns the same figures from a run of the simulator, in the order of `FIGURES`."""
    down, transfers = result.queues()[0], result.transfers()
    counts = [(colour["arrived"], colour["dropped"]) for colour in down["colours"]]
    is_short = transfers["bytes"] < MOST_SHORT * PAYLOAD
    times = (transfers["end_s"] - transfers["start_s"])[is_short]
    arrived, lost = (sum(column) for column in zip(*counts, strict=True))
    return [down["utilisation"], lost / arrived, down["mean_queue_packets"], float(np.nanmean(times))]


def compare_figures(discipline: str, seeds: int) -> list[Compared]:
    """Returns a discipline's figures over seeds 1 to `seeds`; plays all cases on both sides."""
    with ThreadPoolExecutor(default_jobs()) as pool:
        cases = [draw_random_case(discipline, seed) for seed in range(1, seeds + 1)]
        theirs, mine = (np.array(side) for side in zip(*pool.map(measure_both, cases), strict=True))
    return [run_t_test(discipline, name, theirs[:, n], mine[:, n]) for n, name in enumerate(FIGURES)]


def run_t_test(discipline: str, figure: str, theirs: np.ndarray, mine: np.ndarray) -> Compared:
    """Returns a figure with the test of its differences, paired by seed, by Student's t test.

    Without any spread the p-value is 1. There must be at least two seeds.
    """
    difference = mine - theirs
    interval = t_interval(difference)
    error = float(np.std(difference, ddof=1)) / math.sqrt(difference.size)
    p_value = find_p_value(interval.mean, error, difference.size - 1) if error else 1.0
    ends = (interval.mean, interval.low, interval.high)
    return Compared(
        discipline, figure, int(difference.size), float(theirs.mean()), float(mine.mean()), ends, p_value
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs both comparisons and prints their lines; returns 1 if a flow or a figure differs, else 0.

    It is 1 too if ns-2 is not installed.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=30, help="drop-tail cases (default 30)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the drop-tail cases (default 1)")
    parser.add_argument("--seeds", type=int, default=12, help="seeds of the others (default 12)")
    parser.add_argument("--json", action="store_true", help="print lines of JSON instead")
    given = parser.parse_args(arguments)
    if shutil.which("ns") is None:
        print("oracle: NOT RUN: ns-2 is not installed (as root: make deps)", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(default_jobs()) as pool:
        cases = [draw_drop_tail_case(number, given.seed) for number in range(given.cases)]
        outcomes = list(pool.map(compare_events, cases))
    figures = [one for discipline in DISCIPLINES for one in compare_figures(discipline, given.seeds)]
    holds = hold_after_holm([one.p_value for one in figures])
    lines = to_json(outcomes, figures, holds) if given.json else to_text(outcomes, figures, holds)
    print("\n".join(lines))
    return 0 if all(one.agrees for one in outcomes) and all(holds) else 1


def to_json(outcomes: Sequence[Outcome], figures: Sequence[Compared], holds: Sequence[bool]) -> list[str]:
    """Returns lines of JSON: one for drop-tail, and one for each figure."""
    first = {
        "part": "drop-tail", "cases": len(outcomes), "all": sum(one.ends == "all" for one in outcomes),
        "ties": sum(one.ends == "tie" for one in outcomes), "events": sum(one.same for one in outcomes),
        "drops": sum(one.drops for one in outcomes),
    }  # fmt: skip
    rest = [
        {"part": "figure", **asdict(one), "holds": same} for one, same in zip(figures, holds, strict=True)
    ]
    return [json.dumps(line) for line in (first, *rest)]


def to_text(outcomes: Sequence[Outcome], figures: Sequence[Compared], holds: Sequence[bool]) -> list[str]:
    """Returns the lines to print: drop-tail cases that differ, counts, and a table of the figures."""
    lines = [
        f"parts after {one.same} of {one.events} events: {one.ends}\n  {' '.join(one.case.command())}"
        for one in outcomes
        if not one.agrees
    ]
    count, whole = len(outcomes), sum(one.ends == "all" for one in outcomes)
    ties = sum(one.ends == "tie" for one in outcomes)
    events_same, dropped = (sum(getattr(one, name) for one in outcomes) for name in ("same", "drops"))
    lines.append(
        f"drop-tail, several flows: {whole} of {count} cases agree in every event, {ties} up to a tie; "
        f"{events_same:,} events, {dropped:,} drops"
    )
    header = ("queue", "figure", "ns-2", "ours", "ours − ns-2", "p", "")
    body = [
        (one.discipline, one.figure, f"{one.ns2:.4g}", f"{one.ours:.4g}",
         "{:+.2g} ({:+.2g}…{:+.2g})".format(*one.difference), f"{one.p_value:.2g}",
         "" if same else "differs")
        for one, same in zip(figures, holds, strict=True)
    ]  # fmt: skip
    return [*lines, "", document.table(header, body)]


if __name__ == "__main__":
    sys.exit(main())
