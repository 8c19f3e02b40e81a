"""Prints how long the page of web/ takes in headless Chromium on this machine: `python -m tests.web_time`.

Needs what `make web` builds. Times mean something only on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import statistics
from pathlib import Path

from tests.browser import Browser, open_browser
from tests.web_in_browser import SITE, ask, open_screen, serve, wait_for, write_hash

LOADS, FRAMES_S = 5, 5
HOME = {"place": "home", "down": "20mbit", "up": "1mbit"}
PAINT = "return performance.getEntriesByName('first-contentful-paint').map(one => one.startTime)[0]"
COUNT = """
window.keptFrames = [];
const note = (now) => { window.keptFrames.push(now); requestAnimationFrame(note); };
requestAnimationFrame(note);
"""


def main() -> None:
    """Prints each time with its meaning."""
    parser = argparse.ArgumentParser(prog="python -m tests.web_time", description=__doc__)
    parser.add_argument("--answers", type=int, default=3, help="comparisons of home (default 3)")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    print(f"{cores} cores, load average {load:.1f}")
    with serve(SITE) as address, open_browser() as window:
        print(
            f"first picture, median of {LOADS} loads: "
            f"{statistics.median(_measure_paints(window, address)):.2f} s"
        )
        for _ in range(options.answers):
            before_s = _add_up_cpu_times()
            took_s = _measure_answer(window, address)
            spent_s = _add_up_cpu_times() - before_s
            print(f"home answered in {took_s:.1f} s, with {spent_s:.1f} s of CPU time of the browser")
        per_s, longest_ms = _measure_frames(window, address)
        print(f"Watch: {per_s:.0f} pictures a second, 99 of 100 within {longest_ms:.0f} ms")


def _measure_paints(window: Browser, address: str) -> list[float]:
    """Returns the time from a page's request to its first picture, s, of several loads."""
    found = []
    for _ in range(LOADS):
        window.show("about:blank", 1400)
        window.show(address, 1400)
        found.append(float(str(wait_for(lambda: window.run(PAINT), "a first picture"))) / 1000)
    return found


def _measure_answer(window: Browser, address: str) -> float:
    """Returns the time of the comparison of `home` that a newly opened page reports, s."""
    open_screen(window, address, write_hash(HOME))
    if fault := ask(window)["fault"]:
        raise SystemExit(f"the page refuses its first example: {fault[0]}")
    words = str(window.run("return document.querySelector('#took').textContent")).split()
    return float(words[words.index("in") + 1])


def _add_up_cpu_times() -> float:
    """Returns the CPU time so far of all processes that descend from this one and still run, s.

    Other work on the machine changes it less than a time by the clock.
    """
    words = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # of a process that ends meanwhile
            words[int(path.parent.name)] = path.read_text().rpartition(") ")[2].split()
    family = {os.getpid()}
    while more := {number for number, one in words.items() if int(one[1]) in family} - family:
        family |= more
    ticks = sum(int(words[number][place]) for number in family - {os.getpid()} for place in (11, 12))
    return ticks / os.sysconf("SC_CLK_TCK")


def _measure_frames(window: Browser, address: str) -> tuple[float, float]:
    """Returns pictures per second of the screen Watch, and the 99th percentile of their intervals, ms."""
    open_screen(window, address, "watch")
    wait_for(lambda: window.run("return document.querySelectorAll('.felt b').length === 6"), "a queue")
    window.run(COUNT)
    enough = f"return window.keptFrames.at(-1) - window.keptFrames[0] > {1000 * FRAMES_S}"
    wait_for(lambda: window.run(enough), "pictures")
    times = window.run("return window.keptFrames")
    assert isinstance(times, list)
    gaps = [after - before for before, after in itertools.pairwise(times)]
    return 1000 * len(gaps) / (times[-1] - times[0]), statistics.quantiles(gaps, n=100)[98]


if __name__ == "__main__":
    main()
