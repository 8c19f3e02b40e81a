"""A call beside fetches and downloads with real TCP through `mousehole link`, and in the simulator.

One call of 80 kb/s over UDP, 42 fetches a second of 20 kB and four CUBIC downloads without end share 10 Mb/s:
what is green fills two thirds of the link, so that what waits behind it starves. Each list of fetches is
played under every scheme, by the simulator (profile `linux`) and by real TCP. The programs want a processor
when they need it: beside other work, run it by `chrt -r 1`. `make validation WHAT=call_beside_fetches` writes
the table of docs/nobody-pays.md. A run that the link calls invalid is played again; exit code 1 when one
stays so, or when the aim is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean

import numpy as np
from mousehole import _engine, link
from mousehole.base import MouseholeError, counted
from mousehole.engine_types import ConnectionSpec, JsonValue, Scenario
from mousehole.statistics import Estimate, log_ratio, t_interval
from numpy.typing import ArrayLike

from tools import document
from validation import link_figures

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "nobody-pays.md"
TARGET = "validation WHAT=call_beside_fetches"
RATE_BPS, RTT_S = 10_000_000, 0.04
FETCHES_PER_S, FETCH_BYTES = 42, 20_000
DOWNLOADS, SPREAD_S, ENDLESS = 4, 0.4, 10**10
CALL_GAP_S, CALL_BYTES, HEADERS = 0.02, 200, 28
"""Time between packets of the call, their IP length, and what of it are headers."""
WARMUP_S, SPARE_S = 6.0, 10.0
THINK = "1ms"
"""A Python program from a request to its answer; a reading of its order of magnitude."""
CALL_P99_MS, FETCH_MEAN_MS = 25.0, 165.0
"""The aim for the marker, set by what a trial of it had."""
CAKE, MARKER = "cake", "excess-cake"
SCHEMES = {
    CAKE: CAKE,
    "ct-cake": "ct-cake",
    "sfd(th=30kB)": "sfd(th=30kB)|cake(tins=bulk)",
    "excess-cake": "excess-cake",
    "excess-budget-cake": "excess-budget-cake",
}
"""Schemes by the name on the page; the second and third are what was recommended before."""


@dataclass(frozen=True)
class Figures:
    """The results of one run: of the call, of the fetches and of the downloads.

    Delays and times are in ms, the call's loss is a share, and the downloads' rate is in Mb/s.
    """

    call_p50: float
    call_p99: float
    call_lost: float
    """Share of the call's packets."""
    fetch_mean: float
    fetch_p95: float
    downloads_mbps: float
    """All of them together."""


COLUMNS: tuple[tuple[str, Callable[[Figures], float]], ...] = (
    ("call p50, ms", lambda one: one.call_p50),
    ("call p99, ms", lambda one: one.call_p99),
    ("call lost, %", lambda one: 100 * one.call_lost),
    ("fetch mean, ms", lambda one: one.fetch_mean),
    ("fetch p95, ms", lambda one: one.fetch_p95),
    ("downloads, Mb/s", lambda one: one.downloads_mbps),
)


@dataclass(frozen=True)
class Run:
    """One list of fetches under one scheme, simulated and played by real TCP."""

    scheme: str
    number: int
    simulated: Figures
    real: Figures
    plays: int
    faults: list[str]
    """Why the real run cannot be relied on."""


def draw_starts(number: int, seconds: float) -> list[float]:
    """Returns the sorted start times, s, of a list's fetches, uniform over warm-up and window.

    `number` is the seed, `seconds` the length of the window.
    """
    drawn = np.random.default_rng(number).uniform(0, WARMUP_S + seconds, _count_fetches(WARMUP_S + seconds))
    return [float(one) for one in np.sort(drawn).round(6)]


def _count_fetches(seconds: float) -> int:
    """Returns the number of fetches that begin in so many seconds."""
    return round(FETCHES_PER_S * seconds)


def make_scenario(number: int, scheme: str, seconds: float) -> Scenario:
    """Returns list `number` under a scheme as a scenario with a window of `seconds`.

    All flows belong to one client host, as they do through the link.
    """
    begins = [SPREAD_S / DOWNLOADS * download for download in range(DOWNLOADS)]
    flows = [(one, ENDLESS) for one in begins] + [(one, FETCH_BYTES) for one in draw_starts(number, seconds)]
    connections: list[ConnectionSpec] = [
        {"start_s": start, "writes": [{"bytes": size}]} for start, size in sorted(flows)
    ]
    call: dict[str, JsonValue] = {
        "flows": 1, "rate_bps": 8 * CALL_BYTES / CALL_GAP_S, "packet_bytes": CALL_BYTES, "hosts": 1,
        "first_host": 0,
    }  # fmt: skip
    return {
        "schema": "mousehole.scenario/1", "seed": number, "warmup": f"{WARMUP_S}s", "duration": f"{seconds}s",
        "scheme": scheme,
        "link": {"rate": f"{RATE_BPS}bit", "rtt": f"{RTT_S * 1e3:g}ms", "buffer": "200p"},
        "tcp": {"profile": "linux"},
        "traffic": {
            "connections": connections, "server_think": THINK,
            "mix": [{"name": "call", "model": "udp", "params": call}],
        },
    }  # fmt: skip


def simulate(number: int, scheme: str, seconds: float) -> Figures:
    """Returns the figures of list `number` under a scheme, which it simulates.

    Fetches that did not end are left out of times and downloads.
    """
    run = _engine.run(make_scenario(number, scheme, seconds), None, _engine.Cancel())
    calls, fetches = run.datagrams(), run.transfers()
    is_fetch = np.asarray(fetches["bytes"]) == FETCH_BYTES
    took = (np.asarray(fetches["end_s"]) - np.asarray(fetches["start_s"]))[is_fetch]
    lost = float(calls["lost"][0]) / float(calls["sent"][0])
    fetched_bps = 8 * FETCH_BYTES * np.count_nonzero(np.isfinite(took)) / seconds
    downloads = 1e-6 * (run.summary()["goodput_bps"] - fetched_bps)
    return _sum_up((calls["delay_p50_s"][0], calls["delay_p99_s"][0]), lost, took, downloads)


def _sum_up(call_s: tuple[float, float], lost: float, took_s: ArrayLike, downloads_mbps: float) -> Figures:
    """Returns the figures of one run, in the units of `Figures`.

    `call_s` holds the median and p99 of the call's delay; fetches whose time is not finite did not end and
    are left out. At least one fetch ended.
    """
    ended = np.asarray(took_s)
    ended = 1e3 * ended[np.isfinite(ended)]
    p50, p99 = (1e3 * float(one) for one in call_s)
    return Figures(p50, p99, lost, float(ended.mean()), float(np.quantile(ended, 0.95)), downloads_mbps)


def emulate(number: int, scheme: str, seconds: float) -> tuple[Figures, list[str]]:
    """Returns the figures of a list with real TCP through the link, and the link's faults of the run.

    Lasts as long as the list, with warm-up, in real time. Raises as `link_figures.play` does.
    """
    whole = WARMUP_S + seconds
    with tempfile.TemporaryDirectory() as folder:
        task = {
            "starts_s": draw_starts(number, seconds), "sizes": [FETCH_BYTES] * _count_fetches(whole),
            "bulk": DOWNLOADS,
            "bulk_spread_s": SPREAD_S, "seconds": whole + SPARE_S, "at_least_s": whole,
            "call": {"seconds": whole, "gap_s": CALL_GAP_S, "payload": CALL_BYTES - HEADERS},
            "delays": str(Path(folder, "delays.json")),
        }  # fmt: skip
        names = ("play_with_call", "serve_with_call")
        played = link_figures.play(make_scenario(number, scheme, seconds), task, names=names)
        delays = json.loads(Path(folder, "delays.json").read_text(encoding="utf-8"))
    first, behind = round(WARMUP_S / CALL_GAP_S), round(whole / CALL_GAP_S)
    counted_s = [seconds for packet, seconds in delays.items() if first <= int(packet) < behind]
    p50, p99 = np.quantile(counted_s, [0.5, 0.99])
    transfers, flows = played.records.transfers, played.records.flows
    rows = transfers.filter((transfers["bytes"] == FETCH_BYTES) & (transfers["start_s"] >= WARMUP_S))
    downloads = 8e-6 * float(flows["bytes"].sort(descending=True)[:DOWNLOADS].sum())
    figures = _sum_up(
        (p50, p99), 1 - len(counted_s) / (behind - first), (rows["end_s"] - rows["start_s"]).to_numpy(),
        downloads / played.account["seconds"],
    )  # fmt: skip
    return figures, played.account["faults"]


def measure(name: str, number: int, seconds: float) -> Run:
    """Simulates a list and plays it with real TCP; returns both.

    An invalid run is played again, at most `MOST_PLAYS` times in all. Each play is reported on standard
    error.
    """
    scheme, plays = SCHEMES.get(name, name), 0
    simulated = simulate(number, scheme, seconds)
    while True:
        plays += 1
        real, faults = emulate(number, scheme, seconds)
        print(f"call_beside_fetches: list {number}, {name}: {real} {faults}", file=sys.stderr, flush=True)
        if not faults or plays == link_figures.MOST_PLAYS:
            return Run(name, number, simulated, real, plays, faults)


def format_mean(values: Sequence[float]) -> str:
    """Returns the mean of the lists' values as text, with its 95 % interval if that has a width."""
    mean = t_interval(values)
    if not mean.has_interval or mean.low == mean.high:
        return f"{mean.mean:.3g}"
    return f"{mean.mean:.3g} ({mean.low:.3g}…{mean.high:.3g})"


def format_change(change: Estimate) -> str:
    """Returns a change given as a log-ratio as text in percent, with its interval if it has one."""
    found = change.as_change()
    ends = f" ({100 * found.low:+.0f}…{100 * found.high:+.0f})" if found.has_interval else ""
    return f"{100 * found.mean:+.0f} %{ends}".replace("-", "−")


def write_table(runs: Sequence[Run]) -> str:
    """Returns a Markdown table with a row for each scheme, real and simulated.

    The last column has the change of its fetches against CAKE.
    """
    rows = []
    for way in ("real", "simulated"):
        base = [getattr(run, way).fetch_mean for run in runs if run.scheme == CAKE]
        for name in dict.fromkeys(run.scheme for run in runs):
            own = [getattr(run, way) for run in runs if run.scheme == name]
            cells = [format_mean([value(one) for one in own]) for _, value in COLUMNS]
            has_change = name != CAKE and len(base) == len(own)
            change = format_change(log_ratio([one.fetch_mean for one in own], base)) if has_change else "–"
            rows.append([f"`{name}`", way, *cells, change])
    header = ["scheme", "", *(name for name, _ in COLUMNS), "fetch mean against CAKE"]
    return document.table(header, rows)


def meets_aim(runs: Sequence[Run]) -> bool:
    """Returns whether the marker meets the aim with real TCP in the mean over the lists.

    True if it was not run.
    """
    own = [run.real for run in runs if run.scheme == MARKER]
    if not own:
        return True
    late, mean = fmean(one.call_p99 for one in own), fmean(one.fetch_mean for one in own)
    return late <= CALL_P99_MS and mean <= FETCH_MEAN_MS


def write_text(runs: Sequence[Run], options: argparse.Namespace) -> str:
    """Returns the generated part of the page: conditions, table, and whether the aim is met."""
    plays, invalid = sum(run.plays for run in runs), [run for run in runs if run.faults]
    conditions = (
        f"{counted(options.lists, 'list')} of {options.seconds:g} s after {WARMUP_S:g} s of warm-up; "
        f"10 Mb/s, 40 ms, 200 packets; one call, {FETCHES_PER_S} fetches of 20 kB a second, {DOWNLOADS} "
        f"CUBIC downloads. Linux {os.uname().release}, {os.cpu_count()} processors. {plays} runs were played "
        f"for {len(runs)}, since one that is invalid is played again; {len(invalid) or 'none'} of those "
        f"shown {'is' if len(invalid) == 1 else 'are'} invalid. In brackets are 95 % intervals over the "
        "lists."
    )
    aim = (
        f"The aim with real TCP is a call's p99 of at most {CALL_P99_MS:g} ms at a fetch mean of at most "
        f"{FETCH_MEAN_MS:g} ms. `{MARKER}` {'keeps' if meets_aim(runs) else 'misses'} it in the mean."
    )
    return f"\n{document.wrap(conditions)}\n\n{write_table(runs)}\n{document.wrap(aim)}\n\n"


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line; `names` of the result are the schemes to play.

    Ends the program, with status 2, for an option that is not allowed.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=int, default=5, help="lists of fetches (default 5)")
    parser.add_argument("--seconds", type=float, default=20, help="length of each (default 20)")
    parser.add_argument("--schemes", nargs="*", help="only these, or others; the document stays as it is")
    parser.add_argument("--simulated", action="store_true", help="only the simulator; writes no page")
    options = parser.parse_args(arguments)
    if options.lists < 1 or not 5 <= options.seconds <= 600:
        parser.error("--lists must be at least 1, --seconds from 5 to 600")
    options.names = options.schemes or list(SCHEMES)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints the table and renews the document, which stays as it is with chosen schemes.

    Returns 1 if the aim is missed or a run stays invalid. Where there is no link it returns 0, but 1 if CI is
    set; --simulated needs none.
    """
    options = parse_arguments(arguments)
    numbers = range(1, options.lists + 1)
    if options.simulated:
        for name in options.names:
            for number in numbers:
                figures = simulate(number, SCHEMES.get(name, name), options.seconds)
                print(name, number, json.dumps(asdict(figures)))
        return 0
    try:
        link.play(link_figures.make_link_scenario("droptail", "10mbit"), link.Programs(command=["true"]))
    except MouseholeError as error:
        print(f"NOT RUN  {TARGET}: {error}")
        return int(bool(os.environ.get("CI")))
    runs = [measure(name, number, options.seconds) for number in numbers for name in options.names]
    result = write_text(runs, options)
    print(result)
    if not options.schemes:
        document.renew(DOCUMENT, TARGET, result)
    return int(not meets_aim(runs) or any(run.faults for run in runs))


if __name__ == "__main__":
    sys.exit(main())
