"""`mousehole link` beside the simulator, and what it carries.

Lists of flows are those of `validation.live`: endless CUBIC flows beside fetches of 1 to 20 kB, at 10 Mb/s.
Each list is played by the simulator (profile `linux`), and by real TCP through `mousehole link`, which times
the fetches. `make validation WHAT=link_figures` writes the tables of docs/link.md.

Exit code 1 when a mean, a median, or a ratio to RED differs by more than the bound, or when the link carries
less or later than it must. A run that the link itself calls invalid is played again; exit code 1 also when
it stays so.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mousehole import link
from mousehole import scenario as scenarios
from mousehole.base import MouseholeError, counted
from mousehole.engine_types import Scenario

from tools import document
from validation import live
from validation.lab.tools import keep_busy

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "link.md"
TARGET = "validation WHAT=link_figures"
PROGRAMS = Path(__file__).parent / "lab" / "link_programs.py"
NO_BURST = 0
SPARE_S = 15.0
MOST_PLAYS = 3
"""How often a list is played at most, if the link calls the run invalid."""
FASTEST = (("droptail", "1gbit"), ("fq-codel", "500mbit"))
LEAST_SHARE = 0.9
LATE_RATE = "100mbit"
LATE_IDLE_S, LATE_LOADED_S = 200e-6, 1e-3
MOST_GROWTH_BYTES = 200.0
"""What a flow may leave in memory, its row in the tables among it."""


@dataclass(frozen=True)
class Measured:
    """One figure of the link, its bound, and whether it holds; None for an invalid run."""

    what: str
    value: str
    bound: str
    holds: bool | None
    """None if the run was invalid."""

    @property
    def verdict(self) -> str:
        """Returns "holds", "MISSED", or "invalid run" if `holds` is None."""
        return "invalid run" if self.holds is None else "holds" if self.holds else "MISSED"


def list_words(name: str, task: dict[str, Any] | None, folder: Path) -> list[str]:
    """Returns the command of a program of `link_programs`, as a list.

    A task is written to a file in `folder`, which is the command's last argument; None writes nothing.
    """
    words = [sys.executable, str(PROGRAMS), name]
    if task is None:
        return words
    path = folder / f"{name}.json"
    path.write_text(json.dumps(task), encoding="utf-8")
    return [*words, str(path)]


def play(
    scenario: Scenario,
    task: dict[str, Any],
    observer: link.Observer | None = None,
    names: tuple[str, str] = ("play", "serve"),
) -> link.Played:
    """Plays a task of flows through a link; `names` are the programs of the client's and the server's end.

    Lasts as long as the task. Raises `MouseholeError` where there is no link.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = list_words(names[0], task, Path(folder))
        programs = link.Programs(command=command, server=list_words(names[1], None, Path(folder)))
        return link.play(scenario, programs, observer)


def emulate(flows: live.FlowList, scheme: str, window_s: float) -> tuple[live.Figures, list[str]]:
    """Returns the figures of a list of flows through the link, and its reasons to call the run invalid.

    Fetches that are missing in the records count as unfinished. A valid run has no reasons.
    """
    given = live.make_scenario(flows, scheme, 0, window_s, NO_BURST)
    task = {
        "starts_s": flows.starts_s, "sizes": flows.sizes, "bulk": live.BULK,
        "bulk_spread_s": live.BULK_SPREAD_S, "seconds": live.WARMUP_S + window_s + SPARE_S,
        "at_least_s": live.WARMUP_S + window_s,
    }  # fmt: skip
    played = play(given, task)  # type: ignore[arg-type]
    rows = played.records.transfers
    ended = rows.filter(rows["bytes"] <= live.LARGEST)
    seconds: list[float | None] = [
        end - start if end == end else None
        for start, end in zip(ended["start_s"], ended["end_s"], strict=True)
    ]
    seconds += [None] * (len(flows.sizes) - len(seconds))
    bulk_bytes = played.records.flows["bytes"].sum()
    figures = live.Figures.from_transfers(seconds, 8 * float(bulk_bytes) / played.account["seconds"])
    return figures, played.account["faults"]


def compare_lists(options: argparse.Namespace) -> tuple[str, bool]:
    """Plays the lists in every way; returns the tables, and whether all runs are valid and agree.

    An invalid run is played again, at most `MOST_PLAYS` times in all. Each run is reported on standard error.
    """
    runs: list[live.Run] = []
    invalid = plays = 0
    for seed in range(1, options.lists + 1):
        for name, scheme in live.SCHEMES.items():
            flows = live.FlowList.draw(seed, options.seconds)
            simulated = live.simulate(flows, scheme, options.seconds, NO_BURST)
            for _ in range(MOST_PLAYS):
                emulated, faults = emulate(flows, scheme, options.seconds)
                plays += 1
                print(f"link-figures: list {seed}, {name}: {emulated} {faults}", file=sys.stderr, flush=True)
                if not faults:
                    break
            else:
                invalid += 1
            runs.append(live.Run(name, seed, simulated, emulated, os.getloadavg()[0], 0.0))
    validity = (
        f"{plays} runs were played for {len(runs)}, since one that is invalid is played again, at most "
        f"{counted(MOST_PLAYS - 1, 'time')}; {invalid or 'none'} of those shown "
        f"{'is' if invalid == 1 else 'are'} invalid."
    )
    rows = live.compare(runs)
    loads = [run.load for run in runs]
    conditions = (
        f"Simulator and link: {options.lists} lists of {options.seconds:g} s, {live.BULK} CUBIC flows "
        f"without end beside about {live.FETCHES_PER_S:.0f} fetches a second of 1 to 20 kB, 10 Mb/s, 40 ms, "
        f"100 packets; Linux {os.uname().release}, {os.cpu_count()} processors, load {min(loads):.0f} to "
        f"{max(loads):.0f}. {validity} ± is half of the 95 % interval over the lists."
    )
    text = f"{document.wrap(conditions)}\n\n{live.write_table(rows).replace('kernel', 'link')}"
    return text, not invalid and not any(row.verdict == "DIFFERS" for row in rows)


def make_bulk_task(flows: int, seconds: float) -> dict[str, Any]:
    """Returns a task of endless flows only, which are cancelled after `seconds`."""
    return {
        "starts_s": [], "sizes": [], "bulk": flows, "bulk_spread_s": 0.1, "seconds": seconds + SPARE_S,
        "at_least_s": seconds,
    }  # fmt: skip


def make_link_scenario(scheme: str, rate: str) -> Scenario:
    """Returns a scenario of a link with an RTT of 20 ms and no traffic."""
    start = scenarios.make_default()
    return {**start, "scheme": scheme, "link": {"rate": rate, "rtt": "20ms", "buffer": "1bdp"}}


def measure_throughput(seconds: float) -> list[Measured]:
    """Returns a row for each of `FASTEST`: the rate of four TCP flows through the link.

    The first three seconds do not count. Plays `seconds` for each. Raises as `play` does.
    """
    found = []
    for scheme, rate in FASTEST:
        rates: list[float] = []
        observer = link.Observer(report=lambda status, rates=rates: rates.append(status["down"]["rate_bps"]))  # type: ignore[misc]
        played = play(make_link_scenario(scheme, rate), make_bulk_task(4, seconds), observer)
        nominal = played.records.queues[0]["capacity_bps"]
        mean = sum(rates[3:]) / max(len(rates[3:]), 1)
        lost = played.account["lost_in_client"] + played.account["lost_in_server"]
        found.append(
            Measured(
                f"{scheme} at {rate}: mean rate, and packets lost in the devices",
                f"{mean / 1e6:.0f} Mb/s ({mean / nominal:.0%}), {lost}",
                f"at least {LEAST_SHARE:.0%}",
                mean >= LEAST_SHARE * nominal,
            )
        )
    return found


def measure_lateness(seconds: float) -> list[Measured]:
    """Returns the lateness of packets at 100 Mb/s, idle and with two busy processes per processor.

    Plays `seconds` through the link for each. Raises as `play` does.
    """
    found = []
    cores = os.cpu_count() or 1
    for processes, bound in ((0, LATE_IDLE_S), (2 * cores, LATE_LOADED_S)):
        with keep_busy(processes):
            played = play(make_link_scenario("rio-ps", LATE_RATE), make_bulk_task(4, seconds))
        late = played.account["lateness"]
        beside = f"beside {processes} busy processes" if processes else "without other load of ours"
        found.append(
            Measured(
                f"lateness at {LATE_RATE} {beside} (load {os.getloadavg()[0]:.0f}), "
                f"{'real-time' if played.account['is_real_time'] else 'ordinary'} priority",
                f"p50 {late['p50_s'] * 1e6:.0f} µs, p99 {late['p99_s'] * 1e6:.0f} µs, "
                f"{late['beyond_2ms'] / max(late['packets'], 1):.3%} beyond 2 ms",
                f"p99 at most {bound * 1e6:.0f} µs",
                late["p99_s"] <= bound,
            )
        )
    return found


def read_resident_bytes() -> int:
    """Returns the resident memory of this process, in which the link runs."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def measure_memory(flows: int) -> list[Measured]:
    """Returns the growth of memory per flow over the second half of a run with many flows of datagrams."""
    seen: list[tuple[float, int]] = []
    observer = link.Observer(report=lambda _: seen.append((time.monotonic(), read_resident_bytes())))
    task = {"flows": flows, "flows_per_s": 20_000}
    with tempfile.TemporaryDirectory() as folder:
        programs = link.Programs(
            command=list_words("many", task, Path(folder)), server=list_words("echo", None, Path(folder))
        )
        played = link.play(make_link_scenario("sfd", "200mbit"), programs, observer)
    account, half = played.account, len(seen) // 2
    growth = (seen[-1][1] - seen[half][1]) / max(account["flows"] / 2, 1)
    return [
        Measured(
            f"memory over {account['flows']:,} flows, {account['most_flows']:,} of them at once",
            f"{seen[-1][1] / 1e6:.0f} MB at the end, {growth:.0f} B more for each flow of the second half",
            f"at most {MOST_GROWTH_BYTES:.0f} B: rows of transfers",
            growth <= MOST_GROWTH_BYTES,
        )
    ]


def write_capacity(found: Sequence[Measured]) -> str:
    """Returns the table of the measured figures."""
    rows = [[one.what, one.value, one.bound, one.verdict] for one in found]
    return document.table(["measured", "", "must be", ""], rows)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line; ends the program, with status 2, if one is not allowed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=int, default=5, help="lists of flows (default 5)")
    parser.add_argument("--seconds", type=float, default=60, help="length of each (default 60)")
    parser.add_argument("--flows", type=int, default=1_000_000, help="flows of the test of memory")
    parser.add_argument("--only", choices=["lists", "throughput", "lateness", "memory"], help="only this")
    options = parser.parse_args(arguments)
    if options.lists < 1 or not 5 <= options.seconds <= 600 or options.flows < 1000:
        parser.error("--lists must be at least 1, --seconds from 5 to 600, --flows at least 1000")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the tables and writes the document.

    Returns 1 if a bound is missed or a run is invalid. Where there is no link it returns 0, but 1 if CI is
    set. With --only the document stays as it is.
    """
    options = parse_arguments(arguments)
    try:
        link.play(make_link_scenario("droptail", "10mbit"), link.Programs(command=["true"]))
    except MouseholeError as error:
        print(f"NOT RUN  {TARGET}: {error}")
        return int(bool(os.environ.get("CI")))
    figures: dict[str, Callable[[], list[Measured]]] = {
        "throughput": lambda: measure_throughput(12.0),
        "lateness": lambda: measure_lateness(10.0),
        "memory": lambda: measure_memory(options.flows),
    }
    found = [one for name, run in figures.items() if options.only in {None, name} for one in run()]
    text = write_capacity(found) if found else ""
    agrees = True
    if options.only in {None, "lists"}:
        lists, agrees = compare_lists(options)
        text = f"{text}\n{lists}"
    print(text)
    if options.only is None:
        document.renew(DOCUMENT, TARGET, f"\n{text}")
    return int(not agrees or any(one.holds is False for one in found))


if __name__ == "__main__":
    sys.exit(main())
