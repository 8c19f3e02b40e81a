"""A page in a real browser behind the emulated link, and the same page in the simulator.

Chromium loads the example page of `mousehole page` beside downloads, so many times under each scheme;
`mousehole.page.predict` simulates the same. Compared are the ratios of the mean load time to that under RED.
`make validation WHAT=browser` writes the table of docs/page.md and its picture.

Exit code 1 when a ratio differs by more than the bound. Without Chromium or a link nothing can be measured:
the program says NOT RUN and why, and fails only where CI is set.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, hypot, log
from pathlib import Path

from mousehole.base import ConsoleReporter, MouseholeError, counted, time_text
from mousehole.page import (
    PageLoads,
    PageOptions,
    PageResults,
    Prediction,
    conduct,
    example,
    predict,
    restore_loads,
)
from mousehole.statistics import Estimate
from rich.console import Console

from tools import document as documents

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "page.md"
PICTURE = ROOT / "docs" / "images" / "page.png"
BOUND = 0.10
SIMULATED = 5
"""How often each load is simulated: a browser takes minutes for what this takes seconds for."""
BASELINE = "red"
SCHEMES = "droptail,red,rio-ps,s-sfd,fq-codel,cake,excess-cake"
HEADER = (
    *(
        "scheme",
        "browser",
        "to RED",
        "simulator",
        "to RED",
        "browser ÷ simulator",
        "first paint",
        "downloads",
    ),
)


@dataclass(frozen=True)
class Row:
    """A scheme: mean load times in seconds, and their ratios to the baseline."""

    scheme: str
    browser: Estimate
    simulator: Estimate
    browser_ratio: Estimate
    simulator_ratio: Estimate
    first_paint: Estimate
    bulk_bps: float

    @property
    def quotient(self) -> Estimate:
        """Returns the ratio in the browser divided by that in the simulator, with a 95 % interval.

        The interval treats the two as independent; without both intervals it is NaN. Raises `ValueError` for
        a ratio that is not positive.
        """
        centre = log(self.browser_ratio.mean / self.simulator_ratio.mean)
        widths = [
            max(log(one.high / one.mean), log(one.mean / one.low))
            for one in (self.browser_ratio, self.simulator_ratio)
            if one.has_interval
        ]
        half = hypot(*widths) if len(widths) == 2 else float("nan")
        ends = exp(centre - half), exp(centre + half)
        return Estimate(exp(centre), *ends, self.browser_ratio.count)

    @property
    def is_within(self) -> bool:
        """Returns whether browser and simulator agree within `BOUND`."""
        return abs(self.quotient.mean - 1) <= BOUND


def make_rows(results: PageResults, prediction: Prediction) -> list[Row]:
    """Returns a row for each scheme, with ratios of mean load time to the baseline.

    The baseline's own ratios are 1.
    """
    same = Estimate(1.0, 1.0, 1.0, results.rounds)
    found = []
    for row in results.rows():
        is_baseline = row.scheme == results.baseline
        found.append(
            Row(
                row.scheme,
                row.times["load"],
                prediction.time(row.scheme),
                same if is_baseline else to_ratio(row.changes["load"]),
                same if is_baseline else to_ratio(prediction.change(row.scheme)),
                row.times["first_paint"],
                row.bulk_bps.mean,
            )
        )
    return found


def read_loads(path: Path) -> PageResults:
    """Returns the page loads that an earlier run wrote with `--json`.

    Raises `OSError`, `KeyError`, `TypeError` or `ValueError` for a file without them.
    """
    return restore_loads(json.loads(path.read_text(encoding="utf-8"))).results


def to_ratio(change: Estimate) -> Estimate:
    """Returns a relative change as a ratio: one is added to the mean and to both ends of the interval."""
    return Estimate(1 + change.mean, 1 + change.low, 1 + change.high, change.count)


def write_table(rows: Sequence[Row]) -> str:
    """Returns the rows as a Markdown table, with times as text and no quotient for the baseline."""
    cells = [
        [
            f"`{row.scheme}`",
            time_text(row.browser.mean),
            "1" if row.scheme == BASELINE else format_ratio(row.browser_ratio),
            time_text(row.simulator.mean),
            "1" if row.scheme == BASELINE else format_ratio(row.simulator_ratio),
            "" if row.scheme == BASELINE else format_ratio(row.quotient),
            time_text(row.first_paint.mean),
            f"{row.bulk_bps / 1e6:.1f} Mb/s",
        ]
        for row in rows
    ]
    return documents.table(HEADER, cells)


def format_ratio(ratio: Estimate) -> str:
    """Returns a ratio as text, with its interval in parentheses if it has one."""
    interval = f" ({ratio.low:.2f}–{ratio.high:.2f})" if ratio.has_interval else ""
    return f"{ratio.mean:.2f}{interval}"


def write_section(results: PageResults, rows: Sequence[Row]) -> str:
    """Returns the Markdown of the generated section: the conditions of measurement, then the table."""
    own = results.setting
    browser = next((trial.load.browser for trial in results.trials if trial.load.browser), "Chromium")
    missing = sum(not trial.counts for trial in results.trials)
    left_out = f" {counted(missing, 'load')} {'is' if missing == 1 else 'are'} left out." if missing else ""
    words = (
        f"{results.rounds} loads per scheme of `example` in {browser} over HTTP/{own.version} beside "
        f"{own.bulk} downloads; {own.rate}, {own.rtt}, {own.buffer}.{left_out} {SIMULATED} times as many "
        "were simulated. In parentheses: 95 % intervals, for all schemes together; that of the quotient "
        "takes both as independent."
    )
    return f"\n{documents.wrap(words)}\n\n{write_table(rows)}\n"


def main() -> int:
    """Measures the loads, or reads earlier ones, compares them with the simulator and renews the document.

    With --dry neither document nor picture is written. Returns the exit code: 1 if a ratio differs by more
    than the bound. Where nothing can be measured it is 0, but 1 if CI is set.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--loads", type=int, default=20)
    parser.add_argument("--schemes", default=SCHEMES)
    parser.add_argument("--json", type=Path, help="also write all loads here")
    parser.add_argument("--again", type=Path, help="simulate the loads that --json wrote, without a browser")
    parser.add_argument("--dry", action="store_true", help="write no document")
    given = parser.parse_args()
    options = PageOptions(schemes=given.schemes, baseline=BASELINE, loads=given.loads)
    try:
        reporter = ConsoleReporter(Console(stderr=True))
        results = (
            read_loads(given.again) if given.again else conduct.measure_loads(example.NAME, options, reporter)
        )
    except MouseholeError as error:
        print(f"NOT RUN: {error}")
        return int(bool(os.environ.get("CI")))
    prediction = predict.predict_loads(results, options, times=SIMULATED)
    rows = make_rows(results, prediction)
    found = PageLoads(results, prediction)
    print(found.markdown())
    print(write_table(rows))
    if given.json:
        found.save(given.json)
    if not given.dry:
        documents.renew(DOCUMENT, "validation WHAT=browser", write_section(results, rows))
        found.plot(PICTURE)
    far = [row.scheme for row in rows if not row.is_within]
    if far:
        print(f"browser: beyond {BOUND:.0%}: {', '.join(far)}")
    return int(bool(far))


if __name__ == "__main__":
    sys.exit(main())
