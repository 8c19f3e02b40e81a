"""Finds the best pair of marker and queue that can be installed today, and writes it into docs/findings.md.

For every traffic, `mousehole.tune` searches what Linux and common routers have: a marker before CAKE's tins,
two and three profiles of WRED, strict priority between FIFOs, and CAKE and FQ-CoDel by themselves. The page
tells what the best one gains on replications that the search has not seen. `make validation
WHAT=best_installable` runs all.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mousehole.base import ConsoleReporter, MouseholeError, counted, percent
from mousehole.document import report_console
from mousehole.statistics import Estimate
from mousehole.tuning import FINALIST, JudgedRow, Tuned, change_text, objectives, tune

from tools import document
from validation.findings import DOCUMENT

TARGET = "validation WHAT=best_installable"
CAKE, FQ_CODEL = "cake", "fq-codel"
GAIN, PRICE = "short p99", "long mean"
AIM, ALLOWED = 0.30, 0.05
"""The aim: so much less for the 99th percentile of short transfers, at no more than so much for long ones."""
MARKED = "sfd(th=30kB)|cake(tins=bulk)"
"""A marker by size alone, with a threshold that no search has chosen; judged beside the finalists."""
PAIRS = {
    "sfd|cake(tins=bulk)": "size marker, CAKE's Bulk tin",
    "sfd|cake(tins=colour)": "size marker, CAKE's Voice tin",
    "demotion(timeout=1s)|cake(tins=colour)": "three levels, CAKE's three tins",
    "sfd(timeout=1s,mode=total,gentle=false)": "two WRED profiles",
    "demotion(timeout=1s)|multi-red(colours=3,mode=total,gentle=false,mean=1500B)": "three WRED profiles",
    "demotion(timeout=1s)|priority(shared=false)": "three levels, strict priority",
    "fq-codel": "FQ-CoDel, no marker",
    "cake": "CAKE, no marker",
}
"""What is searched, and what the page calls it."""
MODELS = ("web:sfd", "web:rio-ps", "web:shred", "web:packmime")
LOGS = {
    "NASA log": "httplogs/nasa_19950801_dev_first8h.tsv.gz",
    "M57 log": "flowlogs/zeek_m57-short_conn.log.gz",
}
"""Real traffic, in the folder that MOUSEHOLE_DATA names."""


@dataclass(frozen=True)
class Size:
    """How much is run for each traffic."""

    trials: int
    search_seeds: int
    seeds: int
    duration: str
    warmup: str

    @property
    def text(self) -> str:
        """The size in words."""
        return (
            f"{self.trials} settings of each pair on {counted(self.search_seeds, 'replication')}, the "
            f"finalists on {self.seeds} others, each of {self.duration} after {self.warmup} of warm-up"
        )


QUICK = Size(12, 3, 8, "90s", "30s")
FULL = Size(60, 6, 20, "360s", "120s")


@dataclass(frozen=True)
class Found:
    """What a search found for one traffic."""

    traffic: str
    tuned: Tuned
    limits_fq_codel: bool
    """Whether the limit against FQ-CoDel could be kept during the search."""

    def change(self, scheme: str, reference: str, quantity: str) -> Estimate:
        """Returns a change on the unseen replications."""
        results = self.tuned.judged.results
        (cell,) = results.plan.cells
        one, is_primary = objectives.quantities()[quantity], quantity == GAIN
        return objectives.change(results, cell, one, scheme, reference, is_primary).as_change()

    def find_best(self, family: str) -> JudgedRow | None:
        """Returns the finalist of a pair with the smallest p99 within the limits, None if none is."""
        found = self.tuned.results
        broken = {row.scheme for row in found.limits if row.outcome == "broken"}
        rows = [
            row
            for row in found.judged
            if row.family == family and row.role == FINALIST and row.scheme not in broken
            and (row.quantity, row.reference) == (GAIN, found.baseline)
        ]  # fmt: skip
        return min(rows, key=lambda row: row.unseen.mean, default=None)


def main(arguments: Sequence[str] | None = None) -> int:
    """Searches for every traffic and renews the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args(arguments)
    begin = time.monotonic()
    size = FULL if options.full else QUICK
    found = []
    for name, source in traffics().items():
        found.append(search(name, source, size, options.jobs))
        print(f"{TARGET}: {name} after {(time.monotonic() - begin) / 60:.0f} min", flush=True)
    minutes = (time.monotonic() - begin) / 60
    document.renew(DOCUMENT, TARGET, body(found, size))
    print(f"{TARGET}: wrote {DOCUMENT.name} in {minutes:.0f} min")
    return 0


def traffics() -> dict[str, str]:
    """Returns the traffics by their names; raises `MouseholeError` if the folder of logs is not known."""
    folder = os.environ.get("MOUSEHOLE_DATA")
    if not folder:
        raise MouseholeError("MOUSEHOLE_DATA names the folder of real traces; set it")
    logs = {name: str(Path(folder) / file) for name, file in LOGS.items()}
    return {name: name for name in MODELS} | logs


def search(name: str, source: str, size: Size, jobs: int | None = None) -> Found:
    """Searches all pairs on one traffic, within the limits against CAKE and, if one keeps it, FQ-CoDel."""
    of_cake = f"{PRICE} +{100 * ALLOWED:g}%"
    for limits in ([of_cake, f"{of_cake} against {FQ_CODEL}"], [of_cake]):
        try:
            tuned = tune(
                source, schemes=list(PAIRS), objectives=[GAIN], limits=[*limits, "none"], baseline=CAKE,
                beside=[MARKED],
                trials=size.trials, search_seeds=size.search_seeds, seeds=size.seeds, sensitivity_seeds=0,
                duration=size.duration, warmup=size.warmup, jobs=jobs,
                rate="10mbit", rtt="80ms", buffer="1bdp", load=0.9, long="100kB",
                reporter=ConsoleReporter(report_console(stderr=True)),
            )  # fmt: skip
        except MouseholeError as error:
            if error.field != "limit" or len(limits) == 1:
                raise
            continue
        return Found(name, tuned, len(limits) > 1)
    raise RuntimeError("a search with one limit neither ended nor failed")


def body(found: Sequence[Found], size: Size) -> str:
    """Returns the generated part: sentences, the best pair of each traffic, and the best of each pair."""
    parts = ["\n", document.wrapped(f"{size.text}. {NOTE}"), "\n\n"]
    parts += [document.wrapped(f"- {sentence}", "  ") + "\n" for sentence in sentences(found)]
    parts += ["\n### The best pair\n\n", document.table(BEST_COLUMNS, [best_cells(one) for one in found])]
    parts += ["\n### Its setting\n\n", document.table(SETTING_COLUMNS, [setting_cells(one) for one in found])]
    columns = ["pair", *(one.traffic for one in found)]
    title = f"\n### The best setting of each pair: {GAIN} against CAKE\n\n"
    parts += [title, document.table(columns, pair_cells(found)), "\n", document.wrapped(DASH), "\n\n"]
    return "".join(parts)


NOTE = (
    f"Wanted is the smallest 99th percentile of short transfers ({GAIN}) with the mean of long ones "
    f"({PRICE}) no more than {100 * ALLOWED:g} % above plain CAKE's and FQ-CoDel's. All figures are from the "
    "replications that the search has not seen; intervals hold 95 %, those of the p99 for all judged schemes "
    "at once. Negative is faster."
)
DASH = "A dash is a pair of which no setting keeps the limits."
BEST_COLUMNS = (
    "traffic", "best pair", "short p99, CAKE", "short p99, FQ-CoDel", "short mean, CAKE", "long mean, CAKE",
    "long mean, FQ-CoDel", "aim",
)  # fmt: skip
COLUMNS = ((GAIN, CAKE), (GAIN, FQ_CODEL), ("short mean", CAKE), (PRICE, CAKE), (PRICE, FQ_CODEL))
"""Quantity and reference of the columns of figures."""
SETTING_COLUMNS = ("traffic", "setting", f"`{MARKED}`: short p99, CAKE", "seen, unseen")


def best_cells(one: Found) -> list[str]:
    """Returns the line of a traffic: its best pair against CAKE and FQ-CoDel."""
    scheme = one.tuned.results.recommended
    if scheme is None:
        return [one.traffic, "none keeps the limit", *[""] * 5, "not reached"]
    changes = [
        one.change(scheme, reference, quantity)
        for quantity, reference in COLUMNS
    ]  # fmt: skip
    name = PAIRS[one.tuned.results.family or ""]
    return [one.traffic, name, *map(change_text, changes), reached(one)]


def setting_cells(one: Found) -> list[str]:
    """Returns the setting of a traffic, the usual marker beside it, and how much better it looked."""
    found = one.tuned.results
    if found.recommended is None:
        return [one.traffic, "–", change_text(one.change(MARKED, CAKE, GAIN)), "–"]
    row = found.change(found.recommended, GAIN)
    seen = None if row is None else row.seen
    both = "–" if row is None or seen is None else f"{percent(seen)} %, {percent(row.unseen.mean)} %"
    beside = change_text(one.change(MARKED, CAKE, GAIN))
    return [one.traffic, f"`{found.recommended}`", beside, both]


def pair_cells(found: Sequence[Found]) -> list[list[str]]:
    """Returns a line per pair: the p99 of its best setting against CAKE on each traffic."""
    lines = []
    for family, name in PAIRS.items():
        rows = [one.find_best(family) for one in found]
        lines.append([name, *("–" if row is None else change_text(row.unseen) for row in rows)])
    return lines


def reached(one: Found) -> str:
    """Returns whether the aim is reached against both: by the intervals, by the means, or not."""
    scheme = one.tuned.results.recommended
    if scheme is None:
        return "not reached"
    gains = [one.change(scheme, reference, GAIN) for reference in (CAKE, FQ_CODEL)]
    prices = [one.change(scheme, reference, PRICE) for reference in (CAKE, FQ_CODEL)]
    if all(gain.high <= -AIM for gain in gains) and all(price.high <= ALLOWED for price in prices):
        return "reached"
    if all(gain.mean <= -AIM for gain in gains) and all(price.mean <= ALLOWED for price in prices):
        return "by the means"
    return "not reached"


def sentences(found: Sequence[Found]) -> Iterator[str]:
    """Yields what the page says in words: how often the aim is reached, and one sentence for each traffic."""
    words = [reached(one) for one in found]
    shown, by_mean = words.count("reached"), words.count("by the means")
    yield (
        f"**The aim**, {100 * AIM:.0f} % below CAKE and FQ-CoDel in {GAIN} at no more than "
        f"{100 * ALLOWED:g} % for long ones: of {len(found)} traffics the intervals show it on {shown}, "
        f"the means alone on {by_mean} "
        f"more; on {len(found) - shown - by_mean} it is not reached."
    )
    for one in found:
        yield sentence(one)


def sentence(one: Found) -> str:
    """Returns what the best pair gains on a traffic, or that none keeps the limit."""
    scheme = one.tuned.results.recommended
    limit = (
        ""
        if one.limits_fq_codel
        else " No setting kept the limit against FQ-CoDel; only that against CAKE holds."
    )
    if scheme is None:
        return f"**{one.traffic}**: no finalist keeps the limits on unseen replications.{limit}"
    gains = [change_text(one.change(scheme, reference, GAIN)) for reference in (CAKE, FQ_CODEL)]
    price = change_text(one.change(scheme, CAKE, PRICE))
    name = PAIRS[one.tuned.results.family or ""]
    return (
        f"**{one.traffic}**: {name}. Short p99 {gains[0]} against plain CAKE and {gains[1]} against "
        f"FQ-CoDel, long mean {price} against CAKE.{limit}"
    )


if __name__ == "__main__":
    sys.exit(main())
