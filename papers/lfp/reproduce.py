"""LFP's table and figures, published beside ours: `mousehole paper lfp --table 1`."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

from mousehole.statistics import Estimate, t_interval
from rich.text import Text

from papers.common import Json, Running, chosen, percent, print_table, read_toml, with_interval
from papers.lfp.cases import SCHEMES, Variant, base, case, readings, schemes
from papers.lfp.measures import SIZES, Measured, measure

HERE = Path(__file__).parent
TABLES, FIGURES = (1,), (2, 5, 7, 8)
QUICK_SEEDS, FULL_SEEDS = 10, 20
MEDIUM = 10.0
COLUMNS = (
    ("utilisation", "U, %", 1), ("throughput", "throughput, Mb/s", 3), ("goodput", "goodput, Mb/s", 3),
    ("overhead", "overhead, %", 2), ("dropped", "packets dropped", 4), ("hit", "flows with drops", 4),
)  # fmt: skip
"""Of Table 1: the field, its heading, digits."""
IN_FIGURE_8 = ("RED, limit in bytes", "LFP, 50 for all three")
Runs = dict[str, list[Measured]]


@dataclass(frozen=True)
class Settings(Running):
    """How a reproduction is run."""

    base: Json

    def run(self, connections_per_s: float, of: dict[str, Variant]) -> Runs:
        """The schemes `of` names under one load, in all replications."""
        cases = {name: case(self.base, connections_per_s, variant) for name, variant in of.items()}
        return self.replicate(cases, measure)


def main(
    table: int | None = None,
    figure: int | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    full: bool = False,
) -> int:
    """Runs what was asked for and prints it; 0 if it was done, whatever came out."""
    chosen("lfp", table, figure, TABLES, FIGURES)
    settings = Settings(base=base(full), seeds=seeds or (FULL_SEEDS if full else QUICK_SEEDS), jobs=jobs)
    settings.console.print(Text(_head(settings), style="dim"))
    said = read_toml(HERE / "published.toml")
    if table == 1:
        table_1(settings, said["table_1"])
        return 0
    {2: figure_2, 5: figure_5, 7: figure_7, 8: figure_8}[figure or 2](settings, said)
    return 0


def table_1(settings: Settings, said: Json) -> None:
    """Table 1: load, overhead and drops by level of load."""
    for level, published in said.items():
        rate = float(published["connections_per_s"])
        done = settings.run(rate, {**schemes(), **readings()})
        rows = []
        for name, runs in done.items():
            if name in published:
                cells = [
                    f"{value:.{digits}f}"
                    for value, (_, _, digits) in zip(published[name], COLUMNS, strict=True)
                ]
                rows.append([f"{name}, published", *cells])
            rows.append(
                [f"{name}, ours", *(_number(_of(runs, field), digits) for field, _, digits in COLUMNS)]
            )
        title = f"Table 1, {level}: R = {rate:g} connections/s (95 %)"
        print_table(settings.console, title, ["", *(heading for _, heading, _ in COLUMNS)], rows)
        for sentence in _claims_1(published, done):
            settings.say(sentence)


def _claims_1(said: Json, done: Runs) -> list[str]:
    """Orders of Table 1, and the mean numbers of connections and flows."""
    at_once = [
        f"{name} {said[name]:g} published, {_number(_of(done['DT'], name), 2)} ours"
        for name in ("connections", "flows")
    ]
    sentences = [f"At once, under drop-tail: {'; '.join(at_once)}."]
    for place, (field, heading, _) in enumerate(COLUMNS):
        if field in ("overhead", "dropped", "hit"):
            order = _published_order(said, place)
            found = [
                _order({**done, "RED": done[red]}, order, attrgetter(field))
                for red in ("RED", "RED, limit in bytes")
            ]
            sentences.append(
                f"{heading[0].upper()}{heading[1:]}: published {' < '.join(order)}; ours {found[0]}; "
                f"with RED's limit in bytes {found[1]}."
            )
    return sentences


def _published_order(said: Json, column: int) -> list[str]:
    return sorted(SCHEMES, key=lambda name: float(said[name][column]))


def _order(done: Runs, order: list[str], of: Callable[[Measured], float]) -> str:
    """Which of the neighbours in an order are so in our runs, paired by replication."""
    verdicts = []
    for less, more in itertools.pairwise(order):
        pairs = zip(done[less], done[more], strict=True)
        difference = t_interval([of(one) - of(other) for one, other in pairs])
        sign = "<" if difference.high < 0 else ">" if difference.low > 0 else "not told apart from"
        verdicts.append(f"{less} {sign} {more}")
    return ", ".join(verdicts)


def figure_2(settings: Settings, said: Json) -> None:
    """Figure 2: shares of flows and bytes that are short."""
    runs = settings.run(MEDIUM, {"DT": schemes()["DT"]})["DT"]
    rows = [
        [what, percent(said["figure_2"][field]), with_interval(_of(runs, field))]
        for what, field in (("of flows", "short_flows"), ("of bytes", "short_bytes"))
    ]
    print_table(
        settings.console, "Figure 2: share of flows of up to 10 packets", ["", "published", "ours"], rows
    )


def figure_5(settings: Settings, said: Json) -> None:
    """Figure 5: the quantile in packets and the share of long flows that are elephants, by u."""
    levels = [str(one["u"]) for one in said["figure_5"]]
    done = settings.run(MEDIUM, {u: Variant(f"lfp(shared=false,u={u})") for u in levels})
    rows = []
    for one in said["figure_5"]:
        runs = done[str(one["u"])]
        share = t_interval([run.elephants[one["packets"]] for run in runs])
        rows.append(
            [
                f"{one['u']} %",
                str(one["packets"]),
                _number(_of(runs, "quantile"), 1),
                percent(one["elephants"]),
                with_interval(share),
            ]
        )
    columns = [
        "u",
        "packets, published",
        "ours",
        "elephants of long flows, published",
        "ours, at the published packets",
    ]
    print_table(settings.console, "Figure 5: what makes an elephant (95 %)", columns, rows)


def figure_7(settings: Settings, said: Json) -> None:
    """Figure 7: mean latency by size at medium load."""
    from papers.lfp import figures

    done = settings.run(MEDIUM, {**schemes(), **readings()})
    rows = []
    for place, (low, high) in enumerate(SIZES):
        means = [t_interval([run.latency_s[place] for run in runs]) for runs in done.values()]
        rows.append([_class(low, high), *(_number(mean, 3) for mean in means)])
    print_table(settings.console, "Figure 7: mean latency by size, s (95 %)", ["packets", *done], rows)
    settings.say(f"Published: {said['figure_7']['says']}.")
    for place, (low, high) in enumerate(SIZES):
        found = _order(done, ["RED", "LFP", "DT"], _latency_of(place))
        settings.say(f"{_class(low, high)} packets: {found}.")
    picture = Path("lfp-figure-7.png")
    figures.draw({name: done[name] for name in SCHEMES}, picture)
    settings.console.print(f"wrote {picture}")


def figure_8(settings: Settings, said: Json) -> None:
    """Figure 8: mean and deviation of short flows' latency by load."""
    levels = read_toml(HERE / "published.toml")["table_1"]
    rows, sentences = [], []
    for level, published in levels.items():
        others = {name: one for name, one in readings().items() if name in IN_FIGURE_8}
        done = settings.run(float(published["connections_per_s"]), {**schemes(), **others})
        for name, runs in done.items():
            fields = ("short_mean_s", "short_std_s", "short_hit", "long_hit")
            rows.append([f"{level}, {name}", *(_number(_of(runs, field), 4) for field in fields)])
        for what, field, order in (
            ("mean", "short_mean_s", ["RED", "LFP", "DT"]),
            ("deviation", "short_std_s", ["LFP", "RED", "DT"]),
        ):  # fmt: skip
            found = _order(done, order, attrgetter(field))
            sentences.append(f"{level}, {what}: {found}.")
    columns = ["", "mean, s", "deviation, s", "short flows with drops", "long flows with drops"]
    print_table(settings.console, "Figures 8 and 10: short flows by load (95 %)", columns, rows)
    for sentence in [f"Published: {said['figure_8']['says']}.", *sentences]:
        settings.say(sentence)


def _latency_of(place: int) -> Callable[[Measured], float]:
    return lambda run: float(run.latency_s[place])


def _class(low: int, high: int) -> str:
    if high >= 10**9:
        return f"{low} and more"
    return str(low) if low == high else f"{low}-{high}"


def _of(runs: list[Measured], field: str) -> Estimate:
    return t_interval([getattr(run, field) for run in runs])


def _number(estimate: Estimate, digits: int) -> str:
    text = f"{estimate.mean:.{digits}f}"
    return f"{text} ±{estimate.half_width:.{digits}f}" if estimate.has_interval else text


def _head(settings: Settings) -> str:
    return (
        f"LFP: {settings.seeds} replications of {settings.base['duration']}. What the paper leaves open "
        "(tokens, hysteresis, history, delays, TCP) is filled in as papers/lfp/README.md says."
    )
