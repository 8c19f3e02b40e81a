"""LFP's table and figures, published beside ours: `mousehole paper lfp --table 1`."""

import itertools
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path

from mousehole.statistics import t_interval

from papers.common import Json, estimate, number, paired, percent, with_interval
from papers.lfp.cases import DATA, SCHEMES, Variant, base, case, readings, schemes
from papers.lfp.measures import SIZES, Measured, measure
from papers.paper import Finding, Heading, Item, Paper, Part, Picture, Run, Seeds, Table, heading

MEDIUM = 10.0
COLUMNS = (
    ("utilisation", "U, %", 1), ("throughput", "throughput, Mb/s", 3), ("goodput", "goodput, Mb/s", 3),
    ("overhead", "overhead, %", 2), ("dropped", "packets dropped", 4), ("hit", "flows with drops", 4),
)  # fmt: skip
"""Of Table 1: the field, its heading, digits."""
IN_FIGURE_8 = ("RED, limit in bytes", "LFP, 50 for all three")
SHORT_FLOWS = (
    ("short_mean_s", "mean, s"), ("short_std_s", "deviation, s"),
    ("short_hit", "short flows with drops"), ("long_hit", "long flows with drops"),
)  # fmt: skip
"""Of Figures 8 and 10: the field and its heading."""
ORDERS_8 = (
    ("mean", "short_mean_s", ["RED", "LFP", "DT"]),
    ("deviation", "short_std_s", ["LFP", "RED", "DT"]),
)
"""Of Figure 8: what is compared, its field, the published order."""
Runs = dict[str, list[Measured]]


def under_load(run: Run, connections_per_s: float, variants: dict[str, Variant]) -> Runs:
    """Runs the variants under one load, in all replications."""
    scenario = base(run.full)
    cases = {name: case(scenario, connections_per_s, variant) for name, variant in variants.items()}
    return run.replicate(cases, measure)


def table_1(run: Run) -> Iterator[Part]:
    """Yields Table 1: load, overhead and drops by level of load."""
    yield _heading(run)
    for level, published in DATA.published()["table_1"].items():
        rate = float(published["connections_per_s"])
        done = under_load(run, rate, {**schemes(), **readings()})
        rows = []
        for name, runs in done.items():
            if name in published:
                cells = [
                    f"{value:.{digits}f}"
                    for value, (_, _, digits) in zip(published[name], COLUMNS, strict=True)
                ]
                rows.append([f"{name}, published", *cells])
            cells = [number(estimate(runs, field), digits) for field, _, digits in COLUMNS]
            rows.append([f"{name}, ours", *cells])
        title = f"Table 1, {level}: R = {rate:g} connections/s (95 %)"
        yield Table(title, ["", *(title for _, title, _ in COLUMNS)], rows)
        yield from _findings_1(published, done)


def _findings_1(published: Json, done: Runs) -> Iterator[Finding]:
    """Yields the mean numbers of connections and flows, and the orders of Table 1."""
    at_once = [
        f"{name} {published[name]:g} published, {number(estimate(done['DT'], name), 2)} ours"
        for name in ("connections", "flows")
    ]
    yield Finding(f"At once, under drop-tail: {'; '.join(at_once)}.")
    for place, (field, title, _) in enumerate(COLUMNS):
        if field in ("overhead", "dropped", "hit"):
            order = _published_order(published, place)
            found = [
                _order({**done, "RED": done[red]}, order, attrgetter(field))
                for red in ("RED", "RED, limit in bytes")
            ]
            yield Finding(
                f"{title[0].upper()}{title[1:]}: published {' < '.join(order)}; ours {found[0]}; "
                f"with RED's limit in bytes {found[1]}."
            )


def _published_order(published: Json, column: int) -> list[str]:
    return sorted(SCHEMES, key=lambda name: float(published[name][column]))


def _order(done: Runs, order: list[str], quantity: Callable[[Measured], float]) -> str:
    """Says which neighbours of an order are so in our runs, paired by replication."""
    verdicts = []
    for less, more in itertools.pairwise(order):
        difference = paired(done[less], done[more], lambda one, other: quantity(one) - quantity(other))
        sign = "<" if difference.high < 0 else ">" if difference.low > 0 else "not told apart from"
        verdicts.append(f"{less} {sign} {more}")
    return ", ".join(verdicts)


def figure_2(run: Run) -> Iterator[Part]:
    """Yields Figure 2: shares of flows and bytes that are short."""
    yield _heading(run)
    published = DATA.published()["figure_2"]
    runs = under_load(run, MEDIUM, {"DT": schemes()["DT"]})["DT"]
    rows = [
        [what, percent(published[field]), with_interval(estimate(runs, field))]
        for what, field in (("of flows", "short_flows"), ("of bytes", "short_bytes"))
    ]
    yield Table("Figure 2: share of flows of up to 10 packets", ["", "published", "ours"], rows)


def figure_5(run: Run) -> Iterator[Part]:
    """Yields Figure 5: the quantile in packets and the share of long flows that are elephants, by u."""
    yield _heading(run)
    published = DATA.published()["figure_5"]
    levels = [str(one["u"]) for one in published]
    done = under_load(run, MEDIUM, {u: Variant(f"lfp(shared=false,u={u})") for u in levels})
    rows = []
    for one in published:
        runs = done[str(one["u"])]
        share = t_interval([measured.elephants[one["packets"]] for measured in runs])
        ours = [number(estimate(runs, "quantile"), 1), percent(one["elephants"]), with_interval(share)]
        rows.append([f"{one['u']} %", str(one["packets"]), *ours])
    columns = [
        "u",
        "packets, published",
        "ours",
        "elephants of long flows, published",
        "ours, at the published packets",
    ]
    yield Table("Figure 5: what makes an elephant (95 %)", columns, rows)


def figure_7(run: Run) -> Iterator[Part]:
    """Yields Figure 7: mean latency by size at medium load."""
    from papers.lfp import figures

    yield _heading(run)
    done = under_load(run, MEDIUM, {**schemes(), **readings()})
    rows = []
    for place, (low, high) in enumerate(SIZES):
        means = [t_interval([_latency_of(place)(one) for one in runs]) for runs in done.values()]
        rows.append([_class(low, high), *(number(mean) for mean in means)])
    yield Table("Figure 7: mean latency by size, s (95 %)", ["packets", *done], rows)
    yield Finding(f"Published: {DATA.published()['figure_7']['says']}.")
    for place, (low, high) in enumerate(SIZES):
        found = _order(done, ["RED", "LFP", "DT"], _latency_of(place))
        yield Finding(f"{_class(low, high)} packets: {found}.")
    picture = Path("lfp-figure-7.png")
    figures.draw({name: done[name] for name in SCHEMES}, picture)
    yield Picture(picture)


def figure_8(run: Run) -> Iterator[Part]:
    """Yields Figures 8 and 10: mean and deviation of short flows' latency, and flows with drops, by load."""
    yield _heading(run)
    published = DATA.published()
    rows, findings = [], []
    for level, stated in published["table_1"].items():
        others = {name: one for name, one in readings().items() if name in IN_FIGURE_8}
        done = under_load(run, float(stated["connections_per_s"]), {**schemes(), **others})
        for name, runs in done.items():
            cells = [number(estimate(runs, field), 4) for field, _ in SHORT_FLOWS]
            rows.append([f"{level}, {name}", *cells])
        for what, field, order in ORDERS_8:
            findings.append(Finding(f"{level}, {what}: {_order(done, order, attrgetter(field))}."))
    columns = ["", *(title for _, title in SHORT_FLOWS)]
    yield Table("Figures 8 and 10: short flows by load (95 %)", columns, rows)
    yield Finding(f"Published: {published['figure_8']['says']}.")
    yield from findings


def _latency_of(place: int) -> Callable[[Measured], float]:
    return lambda run: float(run.latency_s[place])


def _class(low: int, high: int) -> str:
    if high >= 10**9:
        return f"{low} and more"
    return str(low) if low == high else f"{low}-{high}"


def _heading(run: Run) -> Heading:
    left_open = "tokens, hysteresis, history, delays, TCP"
    return heading(run, "LFP", base(run.full)["duration"], left_open, "lfp")


PAPER = Paper(
    name="lfp",
    items=[
        Item("table", 1, table_1),
        Item("figure", 2, figure_2),
        Item("figure", 5, figure_5),
        Item("figure", 7, figure_7),
        Item("figure", 8, figure_8),
    ],
    seeds=Seeds(10, 20),
)
main = PAPER.main
