"""Plays random cases of one TCP flow in ns-2 and in the simulator, and compares them event by event.

Every send, arrival at the sink, drop and acknowledgement must be the same, in the same order, within 2 µs,
given the phase of the sender's clock, which ns-2's script prints. Prints how many cases agree by variant and
by feature, and where the others part first.

Two events may fall into one instant, where ns-2's order is that of rounding errors of its 64-bit floats and
ours that of whole nanoseconds. A case that parts is therefore played again with our TCP on links that add up
time as ns-2 does; if every event is the same then, the case was such a tie. Ends with 1 if a case parts in
both.

`--traces DIR` compares with recorded traces instead, from their metadata alone, and needs no ns-2: a
`summary.json` and a `NAME.events.csv` each, as in `oracle/golden/tcp`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any

from validation.oracle_cases import DRAWN, FEATURES, IN_FORCE, ROOT, VARIANTS, Case, draw

CLOSE_S = 2e-6
# ns-2 traces whole microseconds; a run ends 1 s after the transfer, or here.
NS2_END_S = 400.0

Event = tuple[float, str, int, int]  # time in s, event, segment, bytes


# --- both sides ------------------------------------------------------------------------------------


@dataclass
class Played:
    """A run of ns-2: its events, the phase of its clock, and the time until which it was recorded."""

    events: list[Event]
    phase_s: float
    until_s: float
    done_s: float | None = None
    is_cut: bool = False  # a record may stop when the transfer is done


def play_ns2(case: Case) -> Played:
    """Plays a case in ns-2, in a temporary directory, and returns the run.

    Ends the program if ns-2 fails; raises `TimeoutExpired` after 60 s.
    """
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        command = [*case.command(), "out=t", f"tend={NS2_END_S}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        said = dict(line.split(" ", 1) for line in done.stdout.splitlines() if " " in line)
        if done.returncode != 0 or "boot" not in said:
            raise SystemExit(f"oracle: ns failed: {' '.join(command)}\n{done.stderr}")
        done_s = float(said["done"]) if "done" in said else None
        until = NS2_END_S if done_s is None else done_s + 1.0
        trace = (Path(folder) / "t.tr").read_text().splitlines()
        return Played(parse_ns2(trace), float(said["boot"]), until, done_s)


def parse_ns2(trace: Sequence[str]) -> list[Event]:
    """Returns the events of a packet trace: sends, arrivals at the sink, drops at the bottleneck, and ACKs.

    ACKs are those at the sender. Other lines are left out.
    """
    names = {"+01": "send", "r12": "receive", "d12": "drop", "r10": "ack"}
    events = []
    for line in trace:
        fields = line.split()
        name = names.get(fields[0] + fields[2] + fields[3])
        if name:
            events.append((float(fields[1]), name, int(fields[10]), int(fields[5])))
    return events


def list_faults(case: Case) -> list[dict[str, object]]:
    """Returns the losses of a case as the scenario's `faults`: for each link, the packets to drop.

    Packets are named by their indices on the link. A link without losses has no entry.
    """
    links = {"down": str(case.get("drops")), "up": str(case.get("ackdrops"))}
    return [
        {"link": link, "drop": [int(index) for index in drops.split(",")]}
        for link, drops in links.items()
        if drops != "-"
    ]


def make_scenario(case: Case, phase_s: float) -> dict[str, object]:
    """Returns a case as a scenario of the simulator; `phase_s` is the phase of the sender's clock.

    Raises `KeyError` for a variant that the simulator lacks.
    """
    delay_ms, number = case.number("d2"), case.number
    write = {"bytes": int(number("n") * number("size"))}
    return {
        "warmup": "0s",
        "duration": f"{NS2_END_S}s",
        "max_windows": 1,
        "scheme": "droptail(ns2=true)",
        "link": {
            "rate": f"{number('bw2')}mbit",
            "delay": f"{delay_ms}ms",
            "rtt": f"{2 * delay_ms + 2}ms",
            "buffer": f"{case.get('qlim')}p",
            "up_buffer": "10000p",
        },
        "access": {"rate": "100mbit", "delay": "1ms", "client_rate": "unlimited", "client_delay": "0ms"},
        "tcp": {
            "profile": "ns2-2001" if case.get("era") == "old" else "ns2-2.35",
            "variant": VARIANTS[str(case.get("variant"))],
            "mss": int(number("size")),
            "receive_window": int(number("win")),
            "tick": f"{number('tick') * 1e3}ms",
            "initial_window": int(number("iw")),
            "initial_rto": f"{number('rto0') * 1e3}ms",
            "min_rto": f"{number('minrto') * 1e3}ms",
            "tick_phase_s": phase_s,
            "syn": number("syn") != 0,
            "delayed_ack": "100ms" if case.delays_acks() else "off",
        },
        "traffic": {"connections": [{"start_s": 0, "writes": [write]}]},
        "faults": list_faults(case),
    }


def play_simulated(
    program: Path, scenarios: Sequence[dict[str, object]], floats: bool = False
) -> list[list[Event]]:
    """Plays all cases in the simulator and returns the events of each.

    `program` is the mousehole-trace binary; the program ends if it fails. With `floats`, its TCP runs on
    links that add up time in floats as ns-2 does. Raises `TimeoutExpired` after 300 s.
    """
    lines = "".join(json.dumps(one) + "\n" for one in scenarios)
    command = [str(program), *(["--floats"] if floats else [])]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise SystemExit(f"oracle: {done.stderr.strip()}")
    events: list[list[Event]] = [[] for _ in scenarios]
    for line in done.stdout.splitlines():
        number, time, name, seq, size = line.split(",")
        if name in {"send", "receive", "drop", "ack"}:
            events[int(number)].append((float(time), name, int(seq), int(size)))
    return events


# --- recorded traces -------------------------------------------------------------------------------


def read_records(folder: Path) -> list[tuple[Case, Played]]:
    """Returns the recorded cases of a folder: the settings given to ns-2, and its events.

    Raises `OSError` or `KeyError` for a folder without them.
    """
    return [read_record(one, folder) for one in json.loads((folder / "summary.json").read_text())]


def read_record(one: dict[str, Any], folder: Path) -> tuple[Case, Played]:
    """Returns the case and the run of an entry of `summary.json`, and reads its table of events.

    Settings that the entry omits are the defaults of `a_tcp.tcl`.
    """
    in_force = one.get("in_force", {})
    told = {name: in_force[key] for key, name in IN_FORCE.items() if key in in_force}
    done_s = one.get("done")
    until = NS2_END_S if done_s is None else done_s + 1.0
    events = read_recorded_events(folder / f"{one['name']}.events.csv")
    return Case(one["name"], one["params"] | told), Played(
        events, float(one["tick_phase_s"]), until, done_s, is_cut=True
    )


def read_recorded_events(table: Path) -> list[Event]:
    """Returns the events of a recorded table, with the simulator's names of events."""
    named = {"rcv_at_sink": "receive"}
    rows = [line.split(",") for line in table.read_text().splitlines()[1:]]
    return [
        (float(at), named.get(event, event), int(float(seq)), int(float(size)))
        for at, event, seq, size, *_ in rows
    ]


def cut_to_record(ours: list[Event], played: Played) -> list[Event]:
    """Returns our events without those after a record that stops when the transfer is done.

    Such a record may end just before the last ACK. `ours` itself stays as it is.
    """
    rest, done_s = ours[len(played.events) :], played.done_s
    ends = played.is_cut and done_s is not None and all(event[0] >= done_s - CLOSE_S for event in rest)
    return ours[: len(played.events)] if ends else ours


# --- comparing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Divergence:
    """The first event in which two runs differ; an event is None where a run has ended."""

    number: int
    ours: Event | None
    theirs: Event | None

    def __str__(self) -> str:
        """Returns the number of the event and both events as text."""
        return f"event {self.number}: ours {describe_event(self.ours)}, ns-2 {describe_event(self.theirs)}"


def describe_event(event: Event | None) -> str:
    """Returns an event as text."""
    return "nothing" if event is None else f"{event[1]} {event[2]} ({event[3]} B) at {event[0]:.6f} s"


def is_equal(a: Event | None, b: Event | None) -> bool:
    """Returns whether two events are the same, with times within the tolerance."""
    return a is not None and b is not None and a[1:] == b[1:] and abs(a[0] - b[0]) <= CLOSE_S


def find_divergence(ours: Sequence[Event], played: Played) -> Divergence | None:
    """Returns the first difference between two runs, or None if they are equal."""
    mine = [event for event in ours if event[0] <= played.until_s]
    for number, (a, b) in enumerate(zip_longest(mine, played.events)):
        if not is_equal(a, b):
            return Divergence(number, a, b)
    return None


@dataclass(frozen=True)
class Outcome:
    """The result of a case: its divergence, and the one with time in floats."""

    case: Case
    where: Divergence | None
    in_floats: Divergence | None = None

    @property
    def is_tie(self) -> bool:
        """Returns whether the difference is due to the order within an instant only."""
        return self.where is not None and self.in_floats is None


def compare(program: Path, cases: Sequence[Case], theirs: Sequence[Played]) -> list[Outcome]:
    """Plays all cases in the simulator, and those that diverge once more with time in floats.

    Returns the outcomes in the order of the cases. Ends the program if the simulator fails.
    """
    scenarios = [make_scenario(case, played.phase_s) for case, played in zip(cases, theirs, strict=True)]
    places = list_divergences(play_simulated(program, scenarios), theirs)
    parted = [k for k, where in enumerate(places) if where]
    again = play_simulated(program, [scenarios[k] for k in parted], floats=True)
    in_floats = dict(zip(parted, list_divergences(again, [theirs[k] for k in parted]), strict=True))
    return [Outcome(case, places[k], in_floats.get(k)) for k, case in enumerate(cases)]


def list_divergences(mine: Sequence[list[Event]], theirs: Sequence[Played]) -> list[Divergence | None]:
    """Returns the first difference of each run from ns-2's, None where there is none."""
    return [find_divergence(cut_to_record(m, t), t) for m, t in zip(mine, theirs, strict=True)]


@dataclass
class Tally:
    """The number of cases that agree, by variant and by feature."""

    agree: Counter[str] = field(default_factory=Counter)
    total: Counter[str] = field(default_factory=Counter)

    def add(self, case: Case, agrees: bool) -> None:
        """Counts one case under its variant, its era, its feature and `all`."""
        for name in (str(case.get("variant")), str(case.get("era")), case.feature, "all"):
            self.total[name] += 1
            self.agree[name] += agrees

    def lines(self) -> list[str]:
        """Returns the lines of a table, one for each variant, era or feature that has cases."""
        names = [*VARIANTS, "now", "old", *FEATURES, "all"]
        return [f"  {n:22} {self.agree[n]:4} of {self.total[n]:4}" for n in names if self.total[n]]


def report(outcomes: Sequence[Outcome]) -> tuple[list[str], int]:
    """Returns the lines to print, and the number of cases that differ for another reason than a tie."""
    tally, told = Tally(), []
    for one in outcomes:
        tally.add(one.case, one.where is None)
        if one.where is not None:
            told += [f"parts ({'a tie' if one.is_tie else 'NO KNOWN REASON'}): {one.case.feature}"]
            told += [f"  {one.where}", *([] if one.is_tie else [f"  with time in floats: {one.in_floats}"])]
            told.append("  " + " ".join(one.case.command()).replace(f"{ROOT}/", ""))
    ties = sum(one.is_tie for one in outcomes)
    agree = tally.agree["all"] + ties
    told += ["agreement with ns-2 2.35, ties apart:", *tally.lines()]
    told.append(
        f"oracle: {agree} of {len(outcomes)} cases agree event by event, {ties} of them with time in floats"
    )
    told[-1] += f" as ns-2 has it; {len(outcomes) - agree} part without a known reason"
    return told, len(outcomes) - agree


def count_outcomes(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Returns the numbers of cases that agree at once, agree with time in floats, and differ in both."""
    same = sum(one.where is None for one in outcomes)
    ties = sum(one.is_tie for one in outcomes)
    return {"cases": len(outcomes), "same": same, "ties": ties, "differ": len(outcomes) - same - ties}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the comparison and prints its lines; returns 1 if a case differs that is no tie, else 0.

    It is 1 too where ns-2 is needed and not installed.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=Path, required=True, help="the mousehole-trace binary")
    parser.add_argument("--cases", type=int, default=234, help="how many random cases (default 234)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the cases (default 1)")
    parser.add_argument(
        "--variant", choices=VARIANTS, help="one variant only; default: all but Tahoe, in turn"
    )
    parser.add_argument("--traces", type=Path, help="a folder of recorded traces to compare with instead")
    parser.add_argument("--json", action="store_true", help="print the counts as a line of JSON instead")
    given = parser.parse_args(arguments)
    if given.traces:
        cases, theirs = map(list, zip(*read_records(given.traces), strict=True))
    elif shutil.which("ns") is None:
        print("oracle: NOT RUN: ns-2 is not installed (as root: make deps)", file=sys.stderr)
        return 1
    else:
        cases = draw(given.cases, given.seed, [given.variant] if given.variant else DRAWN)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            theirs = list(pool.map(play_ns2, cases))
    outcomes = compare(given.program, cases, theirs)
    lines, unexplained = report(outcomes)
    print(json.dumps(count_outcomes(outcomes)) if given.json else "\n".join(lines))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
