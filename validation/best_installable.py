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
    """The length of the runs and their number for each traffic."""

    trials: int
    search_seeds: int
    seeds: int
    duration: str
    warmup: str

    @property
    def text(self) -> str:
        """Returns the size as a clause of a sentence."""
        return (
            f"{self.trials} settings of each pair on {counted(self.search_seeds, 'replication')}, the "
            f"finalists on {self.seeds} others, each of {self.duration} after {self.warmup} of warm-up"
        )


QUICK = Size(12, 3, 8, "90s", "30s")
FULL = Size(60, 6, 20, "360s", "120s")


@dataclass(frozen=True)
class SearchResult:
    """The result of the search on one traffic."""

    traffic: str
    tuned: Tuned

    def change(self, scheme: str, reference: str, quantity: str) -> Estimate:
        """Returns the relative change of a quantity under `scheme` against `reference`, unseen by the search.

        NaN if it is unknown. Raises `KeyError` for an unknown quantity.
        """
        results = self.tuned.judged.results
        (cell,) = results.plan.cells
        one, is_primary = objectives.list_quantities()[quantity], quantity == GAIN
        return objectives.estimate_change(results, cell, one, scheme, reference, is_primary).as_change()

    def find_payers(self, scheme: str) -> tuple[str, ...]:
        """Returns the classes of traffic that a scheme harms, or may harm, beyond the margins, each once."""
        results = self.tuned.judged.results
        (cell,) = results.plan.cells
        own = (one.margin.whose for one in vetoes.vetoes(results, cell) if one.scheme == scheme)
        return tuple(dict.fromkeys(own))

    def find_best(self, family: str) -> JudgedRow | None:
        """Returns the finalist of a pair with the smallest p99 within all limits.

        None if every one breaks a limit.
        """
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
    """Searches for every traffic and renews the page; returns 0, whatever the result.

    Takes hours with --full. Prints a line after each traffic.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--jobs", type=int)
    options = parser.parse_args(arguments)
    begin = time.monotonic()
    size = FULL if options.full else QUICK
    found = []
    for name, source in list_traffics().items():
        found.append(search(name, source, size, options.jobs))
        print(f"{TARGET}: {name} after {(time.monotonic() - begin) / 60:.0f} min", flush=True)
    minutes = (time.monotonic() - begin) / 60
    document.renew(DOCUMENT, TARGET, write_body(found, size))
    print(f"{TARGET}: wrote {DOCUMENT.name} in {minutes:.0f} min")
    return 0


def list_traffics() -> dict[str, str]:
    """Returns for each traffic its name and the TOML line of a scenario that selects it.

    The logs need not exist. Raises `MouseholeError` if MOUSEHOLE_DATA, the folder of the logs, is not set.
    """
    folder = os.environ.get("MOUSEHOLE_DATA")
    if not folder:
        raise MouseholeError("MOUSEHOLE_DATA names the folder of real traces; set it")
    models = {name: f'model = "{name}"' for name in MODELS}
    return models | {name: f'files = ["{Path(folder).resolve() / file}"]' for name, file in LOGS.items()}


def search(name: str, source: str, size: Size, jobs: int | None = None) -> SearchResult:
    """Returns the result of tuning all pairs on one traffic, which it runs.

    The limits are the veto margins and a tighter one for long transfers. `source` is the TOML line of the
    traffic, `jobs` the number of parallel runs. Raises `MouseholeError` as `tune` does.
    """
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
        return SearchResult(name, tuned)


def write_body(found: Sequence[SearchResult], size: Size) -> str:
    """Returns the generated Markdown.

    It has the sentences, the best pair of each traffic, and the best setting of each pair.
    """
    parts = ["\n", document.wrap(f"{size.text}. {NOTE}"), "\n\n"]
    parts += [document.wrap(f"- {sentence}", "  ") + "\n" for sentence in write_sentences(found)]
    parts += [
        "\n### The best pair\n\n",
        document.table(BEST_COLUMNS, [list_best_cells(one) for one in found]),
    ]
    parts += [
        "\n### Its setting\n\n",
        document.table(SETTING_COLUMNS, [list_setting_cells(one) for one in found]),
    ]
    columns = ["pair", *(one.traffic for one in found)]
    title = f"\n### The best setting of each pair: {GAIN} against CAKE\n\n"
    parts += [title, document.table(columns, list_pair_cells(found)), "\n", document.wrap(DASH), "\n\n"]
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


def format_change(change: Estimate) -> str:
    """Returns a change as text, or a dash if it is not finite."""
    return write_change(change) if isfinite(change.mean) else "–"


def list_best_cells(one: SearchResult) -> list[str]:
    """Returns a traffic's table row: its best pair against CAKE and FQ-CoDel, who pays, and the aim."""
    scheme = one.tuned.results.recommended
    if scheme is None:
        return [one.traffic, "none keeps the limits", *[""] * (1 + len(COLUMNS)), "not reached"]
    changes = [format_change(one.change(scheme, reference, quantity)) for quantity, reference in COLUMNS]
    name = PAIRS[one.tuned.results.family or ""]
    return [one.traffic, name, *changes, ", ".join(one.find_payers(scheme)) or "nobody", judge_aim(one)]


def list_setting_cells(one: SearchResult) -> list[str]:
    """Returns a table row: the best setting, the default marker's gain, the best's change seen and unseen.

    Dashes stand for a search that recommends nothing.
    """
    found = one.tuned.results
    beside = format_change(one.change(MARKED, CAKE, GAIN))
    if found.recommended is None:
        return [one.traffic, "–", beside, "–"]
    row = found.change(found.recommended, GAIN)
    seen = None if row is None else row.seen
    both = "–" if row is None or seen is None else f"{percent(seen)} %, {percent(row.unseen.mean)} %"
    return [one.traffic, f"`{found.recommended}`", beside, both]


def list_pair_cells(found: Sequence[SearchResult]) -> list[list[str]]:
    """Returns a table row for each pair, with a cell for each traffic.

    The cell is the change of p99 under the pair's best setting against CAKE, or a dash.
    """
    lines = []
    for family, name in PAIRS.items():
        rows = [one.find_best(family) for one in found]
        lines.append([name, *("–" if row is None else write_change(row.unseen) for row in rows)])
    return lines


def judge_aim(one: SearchResult) -> str:
    """Returns "reached" if the intervals show the aim, "by the means" if only the means do.

    Else, and if nothing is recommended or somebody pays, it is "not reached".
    """
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


def write_sentences(found: Sequence[SearchResult]) -> Iterator[str]:
    """Yields the sentences of the page: the number of traffics that reach the aim, then one for each."""
    words = [judge_aim(one) for one in found]
    by_intervals, by_means = words.count("reached"), words.count("by the means")
    yield (
        f"**The aim**, {100 * AIM:.0f} % below plain CAKE in {GAIN} and {100 * PAGES_AIM:.0f} % for pages, "
        f"with no more than {100 * ALLOWED:.0f} % more for long transfers and nobody who pays: of "
        f"{len(found)} traffics the intervals show it on {by_intervals}, the means alone on {by_means} more; "
        f"on {len(found) - by_intervals - by_means} it is not reached."
    )
    for one in found:
        yield write_sentence(one)


def write_sentence(one: SearchResult) -> str:
    """Returns a sentence with the gain of the best pair on a traffic, or that no pair keeps the limits."""
    scheme = one.tuned.results.recommended
    if scheme is None:
        return f"**{one.traffic}**: no finalist keeps the limits on unseen replications."
    changes = ((what, one.change(scheme, CAKE, what)) for what in (GAIN, PAGES, PRICE))
    texts = [f"{what} {write_change(change)}" for what, change in changes if isfinite(change.mean)]
    name = PAIRS[one.tuned.results.family or ""]
    return f"**{one.traffic}**: {name}. Against plain CAKE: {', '.join(texts)}."


if __name__ == "__main__":
    sys.exit(main())
