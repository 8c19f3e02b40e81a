"""TCP-DS's figures beside ours: `mousehole paper tcp-ds --figure 2`."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from mousehole.statistics import Estimate, t_interval
from rich.text import Text

from papers.common import Json, Running, chosen, percent, print_table, read_toml, with_interval

HERE = Path(__file__).parent
QUICK_SEEDS, FULL_SEEDS = 5, 10

cases = import_module(f"{__package__}.cases")  # the folder's hyphen keeps `from … import` away
measures = import_module(f"{__package__}.measures")
figures = import_module(f"{__package__}.figures")
Runs = Mapping[str, list[Any]]


@dataclass(frozen=True)
class Settings(Running):
    """How a reproduction is run."""

    base: Json

    def run(self, of: Mapping[str, Json], rtt_s: float | None = None) -> dict[str, list[Any]]:
        """All cases in all replications."""
        return self.replicate(of, partial(measures.measure, rtt_s=rtt_s))


def main(
    table: int | None = None,
    figure: int | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    full: bool = False,
) -> int:
    """Runs what was asked for and prints it; 0 if it was done, whatever came out."""
    _, number = chosen("tcp-ds", table, figure, (), FIGURES)
    settings = Settings(
        base=cases.base(full),
        seeds=seeds or (FULL_SEEDS if full else QUICK_SEEDS),
        jobs=jobs,
    )
    settings.console.print(Text(_head(settings), style="dim"))
    FIGURES[number](settings, read_toml(HERE / "published.toml")[f"figure_{number}"])
    return 0


def figure_2(settings: Settings, said: Json) -> None:
    """Drop-tail: losses and late pages by the speed of the bottleneck."""
    speeds = {one["mbit"]: one for one in said["speed"]}
    names = {f"{mbit}, {reading['name']}": (mbit, reading) for mbit, reading in _pairs_2()}
    done = settings.run(
        {
            name: cases.case(settings.base, "DropTail", cases.at(mbit), reading.get("direction", "both"))
            for name, (mbit, reading) in names.items()
        }
    )
    rows = []
    for name, (mbit, _) in names.items():
        published = [speeds[mbit].get(field) for field in ("loss", "late_10", "late_11")]
        ours = [_share(done[name], field) for field in ("loss", "late_10", "late_11")]
        cells = [cell for pair in zip(map(_said, published), ours, strict=True) for cell in pair]
        rows.append([name, *cells, _share(done[name], "utilisation")])
    columns = [
        "Mb/s, FTP", "loss", "ours", "1.0 > 10 s", "ours", "1.1 > 10 s", "ours", "used",
    ]  # fmt: skip
    print_table(
        settings.console,
        "Figure 2: drop-tail, pages of 81 kB by HTTP/1.0 and 1.1 beyond 10 s (95 %)",
        columns,
        rows,
    )
    settings.say(f"Published: {said['says']}.")
    for name, runs in done.items():
        less = t_interval([run.median_10 - run.median_11 for run in runs])
        settings.say(f"{name}: the median page takes {_plain(less)} s longer by HTTP/1.0 than by 1.1.")
    for name in (name for name, (mbit, _) in names.items() if mbit == 100):
        slow = _share(done[name], "slow_echoes")
        settings.say(
            f"{name}: echoes that wait for a timeout {percent(said['slow_echoes'])} published, {slow} ours."
        )
    first = cases.variants("figure_2")["reading"][0]["name"]
    pages = {name: _pages(runs) for name, runs in done.items() if name.endswith(first)}
    _draw(settings, 2, pages, "HTTP/1.0 page time", measures.LATE_S)


def _pairs_2() -> list[tuple[int, Json]]:
    data = cases.variants("figure_2")
    return [(mbit, reading) for reading in data["reading"] for mbit in data["mbit"]]


def figure_3(settings: Settings, said: Json) -> None:
    """Drop-tail with a shorter initial RTO."""
    data = cases.variants("figure_3")
    rows, pages = [], {}
    for mbit in data["mbit"]:
        done = settings.run(
            {
                rto: cases.case(settings.base, "DropTail", cases.at(mbit), initial_rto=rto)
                for rto in data["initial_rto"]
            }
        )
        for rto, runs in done.items():
            name = f"{mbit} Mb/s, {rto}"
            rows.append([name, _share(runs, "late_10"), _seconds(runs, "median_10"), _share(runs, "loss")])
            pages[name] = _pages(runs)
    columns = ["bottleneck, initial RTO", "HTTP/1.0 beyond 10 s", "median page, s", "loss"]
    print_table(settings.console, "Figure 3: drop-tail by the initial RTO (95 %)", columns, rows)
    settings.say(f"Published: {said['says']}.")
    _draw(settings, 3, pages, "HTTP/1.0 page time", measures.LATE_S)


def figure_7(settings: Settings, said: Json) -> None:
    """Echo delay with rates a tenth."""
    data = cases.variants("figure_7")
    done = settings.run(
        {name: cases.case(settings.base, name, data["rates"]) for name in data["schemes"]}, data["rtt_s"]
    )
    rows = []
    for name, runs in done.items():
        quantiles = [_plain(t_interval([run.echo_s[place] for run in runs])) for place in (50, 90, 99)]
        shares = [_share(runs, field) for field in ("bad_echoes", "loss", "green_loss")]
        rows.append([name, *quantiles, *shares])
    columns = ["scheme", "median, s", "90 %, s", "99 %, s", "beyond 150 ms", "loss", "green loss"]
    title = "Figure 7: echo delay of Telnet, 80 ms, rates a tenth (95 %)"
    print_table(settings.console, title, columns, rows)
    settings.say(f"Published: {said['says']}.")
    orders = (
        ("RED", "DropTail"),
        ("APPL", "RED"),
        ("TCP-DS", "RED"),
        ("APPL", "TCP-DS"),
        ("WRR 20 %", "APPL"),
    )
    for better, worse in orders:
        change = _change(done[better], done[worse], "echo_90_s")
        settings.say(f"90 % of echoes within: {better} {change} against {worse}.")
    echoes = {name: _all(run.echo_s for run in runs) for name, runs in done.items()}
    _draw(settings, 7, echoes, "echo delay", said["good_s"])


def by_scheme(settings: Settings, said: Json, figure: int) -> None:
    """Figures 11 and 12: pages, echoes and files by scheme, at one rate."""
    data = cases.variants(f"figure_{figure}")
    (mbit,) = data["mbit"]
    done = settings.run({name: cases.case(settings.base, name, cases.at(mbit)) for name in data["schemes"]})
    rows = []
    for name, runs in done.items():
        pages = [_share(runs, "late_10"), _seconds(runs, "median_10"), _seconds(runs, "echo_90_s")]
        files = [_seconds(runs, "files_per_s", 1), _seconds(runs, "file_s")]
        rows.append([name, *pages, *files, _share(runs, "loss"), _share(runs, "green_loss")])
    columns = [
        "scheme", "beyond 10 s", "median page, s", "90 % of echoes, s", "FTP files/s", "median file, s",
        "loss", "green loss",
    ]  # fmt: skip
    title = f"Figure {figure}: HTTP/1.0 pages of 81 kB at {mbit} Mb/s (95 %)"
    print_table(settings.console, title, columns, rows)
    settings.say(f"Published: {said['says']}.")
    for name in data["schemes"][1:]:
        of = {
            field: _change(done[name], done["DropTail"], field)
            for field in ("median_10", "files_per_s", "file_s")
        }
        settings.say(
            f"{name} against drop-tail: median page {of['median_10']}, files {of['files_per_s']}, "
            f"median file {of['file_s']}."
        )
    _draw(
        settings,
        figure,
        {name: _pages(runs) for name, runs in done.items()},
        "HTTP/1.0 page time",
        measures.LATE_S,
    )


FIGURES: dict[int, Callable[[Settings, Json], None]] = {
    2: figure_2,
    3: figure_3,
    7: figure_7,
    11: partial(by_scheme, figure=11),
    12: partial(by_scheme, figure=12),
}


def _of(runs: list[Any], field: str) -> Estimate:
    return t_interval([attrgetter(field)(run) for run in runs])


def _share(runs: list[Any], field: str) -> str:
    estimate = _of(runs, field)
    return with_interval(estimate, 1) if estimate.count else "–"


def _seconds(runs: list[Any], field: str, digits: int = 2) -> str:
    return _plain(_of(runs, field), digits)


def _plain(estimate: Estimate, digits: int = 2) -> str:
    if estimate.mean != estimate.mean:
        return "–"
    text = f"{estimate.mean:.{digits}f}".replace("-", "−")
    return f"{text} ±{estimate.half_width:.{digits}f}" if estimate.has_interval else text


def _change(runs: list[Any], others: list[Any], field: str) -> str:
    """Relative change against `others`, paired by replication; what has no end is not compared."""
    of = attrgetter(field)
    pairs = [(of(one), of(other)) for one, other in zip(runs, others, strict=True)]
    return with_interval(t_interval([a / b - 1 if np.isfinite(b) else np.nan for a, b in pairs]))


def _said(share: float | None) -> str:
    return "" if share is None else percent(share, 1)


def _pages(runs: list[Any]) -> Any:
    return _all(run.pages_10.seconds for run in runs)


def _all(values: Iterable[Any]) -> Any:
    return np.concatenate(list(values))


def _draw(settings: Settings, number: int, delays: Mapping[str, Any], quantity: str, limit_s: float) -> None:
    picture = Path(f"tcp-ds-figure-{number}.png")
    figures.ccdf(delays, quantity, limit_s, picture)
    settings.console.print(f"wrote {picture}")


def _head(settings: Settings) -> str:
    return (
        f"TCP-DS, tree of 400 pairs: {settings.seeds} replications of {settings.base['duration']} after "
        f"{settings.base['warmup']}. What the paper leaves open (drop thresholds, pages, delays of links, "
        "times) is filled in as papers/tcp-ds/README.md says."
    )
