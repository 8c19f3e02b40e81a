"""TCP-DS's figures beside ours: `mousehole paper tcp-ds --figure 2`."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from mousehole.statistics import t_interval
from numpy.typing import NDArray

from papers.common import Json, estimate, number, paired, percent, with_interval
from papers.paper import Finding, Heading, Item, Paper, Part, Picture, Run, Table, heading
from papers.tcp_ds import cases, measures
from papers.tcp_ds.measures import Measured

Floats = NDArray[np.float64]
ORDERS_7 = (
    ("RED", "DropTail"),
    ("APPL", "RED"),
    ("TCP-DS", "RED"),
    ("APPL", "TCP-DS"),
    ("WRR 20 %", "APPL"),
)
"""Of Figure 7: the scheme that is better as published, and the one that it is compared with."""


def under(run: Run, scenarios: Mapping[str, Json], rtt_s: float | None = None) -> dict[str, list[Measured]]:
    """Runs all scenarios in all replications; echoes are those of sessions with about this RTT, or all."""
    return run.replicate(scenarios, partial(measures.measure, rtt_s=rtt_s))


def figure_2(run: Run) -> Iterator[Part]:
    """Yields losses and late pages under drop-tail by the speed of the bottleneck."""
    yield _heading(run)
    base, published = cases.base(run.full), cases.DATA.published()["figure_2"]
    speeds = {one["mbit"]: one for one in published["speed"]}
    names = {f"{mbit}, {reading['name']}": (mbit, reading) for mbit, reading in _pairs_2()}
    done = under(
        run,
        {
            name: cases.case(base, "DropTail", cases.at(mbit), reading.get("direction", "both"))
            for name, (mbit, reading) in names.items()
        },
    )
    rows = []
    for name, (mbit, _) in names.items():
        stated = [_published(speeds[mbit].get(field)) for field in ("loss", "late_10", "late_11")]
        ours = [_share(done[name], field) for field in ("loss", "late_10", "late_11")]
        cells = [cell for pair in zip(stated, ours, strict=True) for cell in pair]
        rows.append([name, *cells, _share(done[name], "utilisation")])
    columns = [
        "Mb/s, FTP", "loss", "ours", "1.0 > 10 s", "ours", "1.1 > 10 s", "ours", "used",
    ]  # fmt: skip
    yield Table("Figure 2: drop-tail, pages of 81 kB by HTTP/1.0 and 1.1 beyond 10 s (95 %)", columns, rows)
    yield Finding(f"Published: {published['says']}.")
    for name, runs in done.items():
        less = number(t_interval([one.median_10 - one.median_11 for one in runs]), 2)
        yield Finding(f"{name}: the median page takes {less} s longer by HTTP/1.0 than by 1.1.")
    for name in (name for name, (mbit, _) in names.items() if mbit == 100):
        slow = _share(done[name], "slow_echoes")
        yield Finding(
            f"{name}: echoes that wait for a timeout {percent(published['slow_echoes'])} published, "
            f"{slow} ours."
        )
    first = cases.variants("figure_2")["reading"][0]["name"]
    pages = {name: _pages(runs) for name, runs in done.items() if name.endswith(first)}
    yield _drawn(2, pages, "HTTP/1.0 page time", measures.LATE_S)


def _pairs_2() -> list[tuple[int, Json]]:
    data = cases.variants("figure_2")
    return [(mbit, reading) for reading in data["reading"] for mbit in data["mbit"]]


def figure_3(run: Run) -> Iterator[Part]:
    """Yields page times under drop-tail with a shorter initial RTO."""
    yield _heading(run)
    base, data = cases.base(run.full), cases.variants("figure_3")
    rows, pages = [], {}
    for mbit in data["mbit"]:
        done = under(
            run,
            {
                rto: cases.case(base, "DropTail", cases.at(mbit), initial_rto=rto)
                for rto in data["initial_rto"]
            },
        )
        for rto, runs in done.items():
            name = f"{mbit} Mb/s, {rto}"
            rows.append([name, _share(runs, "late_10"), _value(runs, "median_10"), _share(runs, "loss")])
            pages[name] = _pages(runs)
    columns = ["bottleneck, initial RTO", "HTTP/1.0 beyond 10 s", "median page, s", "loss"]
    yield Table("Figure 3: drop-tail by the initial RTO (95 %)", columns, rows)
    yield Finding(f"Published: {cases.DATA.published()['figure_3']['says']}.")
    yield _drawn(3, pages, "HTTP/1.0 page time", measures.LATE_S)


def figure_7(run: Run) -> Iterator[Part]:
    """Yields the echo delay with rates a tenth."""
    yield _heading(run)
    base, data = cases.base(run.full), cases.variants("figure_7")
    published = cases.DATA.published()["figure_7"]
    scenarios = {name: cases.case(base, name, data["rates"]) for name in data["schemes"]}
    done = under(run, scenarios, data["rtt_s"])
    rows = []
    for name, runs in done.items():
        quantiles = [number(t_interval([one.echo_s[place] for one in runs]), 2) for place in (50, 90, 99)]
        shares = [_share(runs, field) for field in ("bad_echoes", "loss", "green_loss")]
        rows.append([name, *quantiles, *shares])
    columns = ["scheme", "median, s", "90 %, s", "99 %, s", "beyond 150 ms", "loss", "green loss"]
    yield Table("Figure 7: echo delay of Telnet, 80 ms, rates a tenth (95 %)", columns, rows)
    yield Finding(f"Published: {published['says']}.")
    for better, worse in ORDERS_7:
        change = _change(done[better], done[worse], "echo_90_s")
        yield Finding(f"90 % of echoes within: {better} {change} against {worse}.")
    echoes = {name: np.concatenate([one.echo_s for one in runs]) for name, runs in done.items()}
    yield _drawn(7, echoes, "echo delay", published["good_s"])


def by_scheme(run: Run, figure: int) -> Iterator[Part]:
    """Yields Figures 11 and 12: pages, echoes and files by scheme, at one rate."""
    yield _heading(run)
    base, data = cases.base(run.full), cases.variants(f"figure_{figure}")
    (mbit,) = data["mbit"]
    done = under(run, {name: cases.case(base, name, cases.at(mbit)) for name in data["schemes"]})
    rows = []
    for name, runs in done.items():
        pages = [_share(runs, "late_10"), _value(runs, "median_10"), _value(runs, "echo_90_s")]
        files = [_value(runs, "files_per_s", 1), _value(runs, "file_s")]
        rows.append([name, *pages, *files, _share(runs, "loss"), _share(runs, "green_loss")])
    columns = [
        "scheme", "beyond 10 s", "median page, s", "90 % of echoes, s", "FTP files/s", "median file, s",
        "loss", "green loss",
    ]  # fmt: skip
    yield Table(f"Figure {figure}: HTTP/1.0 pages of 81 kB at {mbit} Mb/s (95 %)", columns, rows)
    yield Finding(f"Published: {cases.DATA.published()[f'figure_{figure}']['says']}.")
    for name in data["schemes"][1:]:
        page, rate, time = (
            _change(done[name], done["DropTail"], field) for field in ("median_10", "files_per_s", "file_s")
        )
        yield Finding(f"{name} against drop-tail: median page {page}, files {rate}, median file {time}.")
    page_times = {name: _pages(runs) for name, runs in done.items()}
    yield _drawn(figure, page_times, "HTTP/1.0 page time", measures.LATE_S)


def _share(runs: list[Measured], field: str) -> str:
    found = estimate(runs, field)
    return with_interval(found, 1) if found.count else "–"


def _value(runs: list[Measured], field: str, digits: int = 2) -> str:
    return number(estimate(runs, field), digits)


def _change(runs: list[Measured], others: list[Measured], field: str) -> str:
    """Returns the relative change against `others`; a pair whose other has no end is left out."""

    def change(one: Measured, other: Measured) -> float:
        reference = float(getattr(other, field))
        return getattr(one, field) / reference - 1 if np.isfinite(reference) else np.nan

    return with_interval(paired(runs, others, change))


def _published(share: float | None) -> str:
    return "" if share is None else percent(share, 1)


def _pages(runs: list[Measured]) -> Floats:
    return np.concatenate([run.pages_10.seconds for run in runs])


def _drawn(figure: int, delays: Mapping[str, Floats], quantity: str, limit_s: float) -> Picture:
    from papers.tcp_ds import figures

    picture = Path(f"tcp-ds-figure-{figure}.png")
    figures.ccdf(delays, quantity, limit_s, picture)
    return Picture(picture)


def _heading(run: Run) -> Heading:
    base = cases.base(run.full)
    length = f"{base['duration']} after {base['warmup']}"
    left_open = "drop thresholds, pages, delays of links, times"
    return heading(run, "TCP-DS, tree of 400 pairs", length, left_open, "tcp_ds")


PAPER = Paper(
    name="tcp-ds",
    items=[
        Item("figure", 2, figure_2),
        Item("figure", 3, figure_3),
        Item("figure", 7, figure_7),
        Item("figure", 11, partial(by_scheme, figure=11)),
        Item("figure", 12, partial(by_scheme, figure=12)),
    ],
)
main = PAPER.main
