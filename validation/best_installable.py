"""Finds the best pair of marker and queue that can be installed today, and writes it into docs/findings.md.

Every traffic has calls, a game, a video call and a tunnel beside it. `mousehole.tune` searches what Linux and
`mousehole-live` have: markers before CAKE's tins, strict priority between FIFOs, and CAKE and FQ-CoDel by
themselves. The page says what the best one gains on replications that the search has not seen. `make
validation WHAT=best_installable` runs all.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path

from mousehole.answer import vetoes
from mousehole.base import ConsoleReporter, MouseholeError, counted, percent
from mousehole.document import make_report_console
from mousehole.statistics import Estimate
from mousehole.tuning import FINALIST, JudgedRow, Tuned, objectives, tune, write_change

from tools import document
from validation.findings import DOCUMENT

TARGET = "validation WHAT=best_installable"
CAKE, FQ_CODEL = "cake", "fq-codel"
GAIN, PAGES, PRICE = "short p99", "page mean", "long mean"
AIM, PAGES_AIM, ALLOWED = 0.30, 0.10, 0.05
"""The aim: so much less for the 99th percentile of short transfers, and for pages, and so much more at most
for long ones."""
MARKED = "excess|cake(tins=bulk)"
"""The marker that `mousehole-live mark` takes by default, with no setting that a search has chosen; judged
beside the finalists."""
PAIRS = {
    "excess|cake(tins=bulk)": "excess, CAKE's Bulk tin",
    "excess(levels=three)|cake(tins=colour)": "excess in three levels, CAKE's three tins",
    "sfd|cake(tins=bulk)": "size marker, CAKE's Bulk tin",
    "demotion(timeout=1s)|priority(shared=false)": "three levels, strict priority",
    "fq-codel": "FQ-CoDel, no marker",
    "cake": "CAKE, no marker",
}
"""What is searched, and what the page calls it."""
MODELS = ("web:sfd", "web:rio-ps", "web:shred", "web:packmime")
LOGS = {
    "NASA log": "httplogs/nasa_19950801_dev_first8h.tsv.gz",
    "M57 log": "flowlogs/zeek_m57-short_http.log.gz",
}
"""Real traffic, in the folder that MOUSEHOLE_DATA names."""
LOAD = 0.7
"""Load of the traffic itself. What is beside it adds about 2.1 Mb/s of the link's 10."""
SCENARIO = """
[link]
rate = "10mbit"
rtt = "80ms"
buffer = "1bdp"

[tcp]
profile = "linux"

[traffic]
{source}
load = {load}

[[traffic.mix]]
name = "calls"
model = "voip"
count = 2

[[traffic.mix]]
name = "game"
model = "game"
count = 1

[[traffic.mix]]
name = "video"
model = "videocall"
count = 1

[[traffic.mix]]
name = "tunnel"
model = "udp"
params = {{ flows = 1, rate_bps = 500e3, packet_bytes = 1300 }}
"""
"""A traffic and what is beside it."""


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

    def change(self, scheme: str, reference: str, quantity: str) -> Estimate:
        """Returns a change on the unseen replications."""
        results = self.tuned.judged.results
        (cell,) = results.plan.cells
        one, is_primary = objectives.list_quantities()[quantity], quantity == GAIN
        return objectives.estimate_change(results, cell, one, scheme, reference, is_primary).as_change()

    def find_payers(self, scheme: str) -> tuple[str, ...]:
        """Returns the classes that pay under a scheme against CAKE beyond the margins of vetoes, or may."""
        results = self.tuned.judged.results
        (cell,) = results.plan.cells
        own = (one.margin.whose for one in vetoes.vetoes(results, cell) if one.scheme == scheme)
        return tuple(dict.fromkeys(own))

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
    """Returns the lines of a scenario that name each traffic.

    Raises `MouseholeError` if the folder of logs is not known.
    """
    folder = os.environ.get("MOUSEHOLE_DATA")
    if not folder:
        raise MouseholeError("MOUSEHOLE_DATA names the folder of real traces; set it")
    models = {name: f'model = "{name}"' for name in MODELS}
    return models | {name: f'files = ["{Path(folder).resolve() / file}"]' for name, file in LOGS.items()}


def search(name: str, source: str, size: Size, jobs: int | None = None) -> Found:
    """Searches all pairs on one traffic within the margins of vetoes, for long transfers a tighter one."""
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        file.write(SCENARIO.format(source=source, load=LOAD))
        file.flush()
        tuned = tune(
            file.name, schemes=list(PAIRS), objectives=[GAIN], limits=[f"{PRICE} +{100 * ALLOWED:g}%"],
            baseline=CAKE, beside=[MARKED, FQ_CODEL],
            trials=size.trials, search_seeds=size.search_seeds, seeds=size.seeds, sensitivity_seeds=0,
            duration=size.duration, warmup=size.warmup, jobs=jobs, long="100kB",
            reporter=ConsoleReporter(make_report_console(stderr=True)),
        )  # fmt: skip
        return Found(name, tuned)


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
    f"({PRICE}) no more than {100 * ALLOWED:g} % above plain CAKE's, and calls, games, video calls and pages "
    "within the margins of vetoes. All figures are from the replications that the search has not seen; "
    "intervals hold 95 %, those of the p99 for all judged schemes at once. Negative is faster. Who pays is "
    "said by the same margins, by estimate."
)
DASH = "A dash is a pair of which no setting keeps the limits, or a traffic without pages."
COLUMNS = ((GAIN, CAKE), (PAGES, CAKE), ("short mean", CAKE), (PRICE, CAKE), (GAIN, FQ_CODEL))
"""Quantity and reference of the columns of figures."""
BEST_COLUMNS = ("traffic", "best pair", *(f"{what}, {name}" for what, name in COLUMNS), "who pays", "aim")
SETTING_COLUMNS = ("traffic", "setting", f"`{MARKED}`: short p99, CAKE", "seen, unseen")


def shown(change: Estimate) -> str:
    """Returns a change, or a dash where there is none."""
    return write_change(change) if isfinite(change.mean) else "–"


def best_cells(one: Found) -> list[str]:
    """Returns the line of a traffic: its best pair against CAKE and FQ-CoDel."""
    scheme = one.tuned.results.recommended
    if scheme is None:
        return [one.traffic, "none keeps the limits", *[""] * (1 + len(COLUMNS)), "not reached"]
    changes = [shown(one.change(scheme, reference, quantity)) for quantity, reference in COLUMNS]
    name = PAIRS[one.tuned.results.family or ""]
    return [one.traffic, name, *changes, ", ".join(one.find_payers(scheme)) or "nobody", reached(one)]


def setting_cells(one: Found) -> list[str]:
    """Returns the setting of a traffic, the default marker beside it, and how much better it looked."""
    found = one.tuned.results
    beside = shown(one.change(MARKED, CAKE, GAIN))
    if found.recommended is None:
        return [one.traffic, "–", beside, "–"]
    row = found.change(found.recommended, GAIN)
    seen = None if row is None else row.seen
    both = "–" if row is None or seen is None else f"{percent(seen)} %, {percent(row.unseen.mean)} %"
    return [one.traffic, f"`{found.recommended}`", beside, both]


def pair_cells(found: Sequence[Found]) -> list[list[str]]:
    """Returns a line per pair: the p99 of its best setting against CAKE on each traffic."""
    lines = []
    for family, name in PAIRS.items():
        rows = [one.find_best(family) for one in found]
        lines.append([name, *("–" if row is None else write_change(row.unseen) for row in rows)])
    return lines


def reached(one: Found) -> str:
    """Returns whether the aim is reached: by the intervals, by the means, or not."""
    scheme = one.tuned.results.recommended
    if scheme is None or one.find_payers(scheme):
        return "not reached"
    gain, pages, price = (one.change(scheme, CAKE, what) for what in (GAIN, PAGES, PRICE))
    has_pages = isfinite(pages.mean)
    if gain.high <= -AIM and price.high <= ALLOWED and not (has_pages and pages.high > -PAGES_AIM):
        return "reached"
    if gain.mean <= -AIM and price.mean <= ALLOWED and not (has_pages and pages.mean > -PAGES_AIM):
        return "by the means"
    return "not reached"


def sentences(found: Sequence[Found]) -> Iterator[str]:
    """Yields what the page says in words: how often the aim is reached, and one sentence for each traffic."""
    words = [reached(one) for one in found]
    by_intervals, by_means = words.count("reached"), words.count("by the means")
    yield (
        f"**The aim**, {100 * AIM:.0f} % below plain CAKE in {GAIN} and {100 * PAGES_AIM:.0f} % for pages, "
        f"with no more than {100 * ALLOWED:.0f} % more for long transfers and nobody who pays: of "
        f"{len(found)} traffics the intervals show it on {by_intervals}, the means alone on {by_means} more; "
        f"on {len(found) - by_intervals - by_means} it is not reached."
    )
    for one in found:
        yield sentence(one)


def sentence(one: Found) -> str:
    """Returns what the best pair gains on a traffic, or that none keeps the limits."""
    scheme = one.tuned.results.recommended
    if scheme is None:
        return f"**{one.traffic}**: no finalist keeps the limits on unseen replications."
    changes = ((what, one.change(scheme, CAKE, what)) for what in (GAIN, PAGES, PRICE))
    texts = [f"{what} {write_change(change)}" for what, change in changes if isfinite(change.mean)]
    name = PAIRS[one.tuned.results.family or ""]
    return f"**{one.traffic}**: {name}. Against plain CAKE: {', '.join(texts)}."


if __name__ == "__main__":
    sys.exit(main())
