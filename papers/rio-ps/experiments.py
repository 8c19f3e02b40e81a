"""Tables I and IV and Figure 7: RIO-PS beside RED and drop-tail."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from mousehole.pool import RunResult
from mousehole.statistics import Estimate, t_interval

from papers.common import Json, Running, merged, percent, print_table, read_toml, with_interval

T = TypeVar("T")
HERE = Path(__file__).parent
QUICK = {"warmup": "400s", "duration": "600s"}
"""Experiment 1 without --full: the paper's 2000 s and 2000 s shortened."""
QUICK_SEEDS, FULL_SEEDS = 5, 10

measures = import_module(f"{__package__}.measures")  # the folder's hyphen keeps `from … import` away


@dataclass(frozen=True)
class Settings(Running):
    """How the experiments are run."""

    full: bool

    def run(self, cases: Mapping[str, Json], reduce: Callable[[RunResult], T]) -> dict[str, list[T]]:
        """All cases in all replications."""
        return self.replicate(cases, reduce)


def schemes(bdp_packets: float) -> dict[str, Json]:
    """What each scheme changes in a scenario: itself and its buffer."""
    listed = read_toml(HERE / "variants.toml")["scheme"]
    return {one["name"]: _queue(one["scheme"], one["buffer_bdp"] * bdp_packets) for one in listed}


def _queue(scheme: str, packets: float) -> Json:
    return {"scheme": scheme, "buffer": f"{round(packets)}p"}


def table_1(settings: Settings) -> None:
    """Packets that long and short flows get through one link in 500 s."""
    base, bdp = _read("two-classes"), read_toml(HERE / "variants.toml")["table_1"]["bdp_packets"]
    cases = {
        f"{rate} {name}": merged(
            base,
            {
                "scheme": queue["scheme"],
                "link": {"rate": f"{float(rate) * 1000:g}kbit", "buffer": queue["buffer"]},
            },
        )
        for rate, packets in bdp.items()
        for name, queue in schemes(packets).items()
    }
    done = settings.run(cases, measures.delivered)
    rows, gaps = [], {}
    for line in read_toml(HERE / "published.toml")["table_1"]["packets"]:
        rate, flows = line["rate"], line["flows"]
        ours = {
            name: [getattr(run, flows) for run in done[f"{rate} {name}"]] for name in line.keys() & _names()
        }
        cells = [_beside(line[name], ours[name]) for name in _names()]
        rows.append([f"{rate} Mb/s", flows, *(cell for pair in cells for cell in pair)])
        gaps[rate, flows] = ours
    title = "Table I: packets delivered in 500 s, published and ours (95 %)"
    columns = ["link", "flows", *(cell for name in _names() for cell in (name, "ours"))]
    print_table(settings.console, title, columns, rows)
    for rate in bdp:
        _say_order(settings, f"{rate} Mb/s, all packets", gaps[rate, "all"])
        _say_order(settings, f"{rate} Mb/s, packets of short flows", gaps[rate, "short"])


def table_4(settings: Settings) -> None:
    """Goodput of experiment 1, per 2000 s."""
    said, done = read_toml(HERE / "published.toml")["table_4"], _experiment_1(settings)
    scale = said["seconds"] / float(_length(settings)["duration"].removesuffix("s"))
    rows = []
    for line in said["packets"]:
        cells = [f"{line[name]:,}" for name in _names()]
        rows.append([f"published, initial RTO {line['initial_rto']}", *cells])
        for reading in _readings():
            ours = {name: _goodput(done[_case(reading, line["initial_rto"], name)]) for name in _names()}
            cells = [_number(t_interval([scale * value for value in ours[name]]), 0) for name in _names()]
            rows.append([f"  ours, {reading['name']}", *cells])
            _say_order(settings, f"{reading['name']}, initial RTO {line['initial_rto']}, goodput", ours)
    title = "Table IV, experiment 1: packets delivered in 2000 s, published and ours (95 %)"
    print_table(settings.console, title, ["", *_names()], rows)
    _print_state(settings, done)


def figure_7(settings: Settings) -> None:
    """By how much RIO-PS shortens the response time of short and medium objects against RED's."""
    said, done = read_toml(HERE / "published.toml")["figure_7"]["claims"], _experiment_1(settings)
    sizes = read_toml(HERE / "variants.toml")["experiment_1"]["sizes"]
    rows = []
    for claim in said:
        low, high = sizes[claim["sizes"]]
        published = f"{percent(claim['least'])} to {percent(claim['most'])}"
        what = f"initial RTO {claim['initial_rto']}, {claim['sizes']} ({low} to {high - 1} packets)"
        rows.append([f"published, {what}", published, ""])
        for reading in _readings():
            runs = {name: done[_case(reading, claim["initial_rto"], name)] for name in _names()}
            ours = {name: _reduction(runs[name], runs["RED"], low, high) for name in ("RIO-PS", "DropTail")}
            rows.append([f"  ours, {reading['name']}", *(with_interval(one, 1) for one in ours.values())])
            word = _within(ours["RIO-PS"], claim["least"], claim["most"])
            settings.say(f"{reading['name']}, {what}: {with_interval(ours['RIO-PS'], 1)}: {word}.")
    title = "Figure 7: mean response time below RED's (95 %)"
    print_table(settings.console, title, ["", "RIO-PS", "DropTail"], rows)
    _print_state(settings, done)


def _experiment_1(settings: Settings) -> dict[str, list[Any]]:
    variants = read_toml(HERE / "variants.toml")["experiment_1"]
    base = merged(_read("experiment-1"), _length(settings))
    cases = {}
    for reading in _readings():
        link = {name: reading[name] for name in ("rate", "rtt")}
        for initial_rto in variants["initial_rto"]:
            for name, queue in schemes(variants["bdp_packets"]).items():
                changes = {
                    "scheme": queue["scheme"],
                    "tcp": {"initial_rto": initial_rto},
                    "topology": {"params": {**link, "buffer": queue["buffer"]}},
                    "traffic": {"params": {"sessions": reading["sessions"]}},
                }
                cases[_case(reading, initial_rto, name)] = merged(base, changes)
    return settings.run(cases, measures.experiment_1)


def _print_state(settings: Settings, done: Mapping[str, list[Any]]) -> None:
    """What the paper's Figure 8 shows without numbers: what became of packets at the bottleneck."""
    shares = ("marked", "early", "forced")
    rows = [
        [
            name,
            *(with_interval(t_interval([getattr(run, share) for run in runs]), 2) for share in shares),
            _number(t_interval([run.threshold for run in runs]), 1),
        ]
        for name, runs in done.items()
    ]
    columns = ["", "marked", "dropped by chance", "forced", "mean threshold, packets"]
    print_table(settings.console, "The bottleneck, shares of arrivals (95 %)", columns, rows)


def _readings() -> list[Json]:
    return list(read_toml(HERE / "variants.toml")["experiment_1"]["reading"])


def _case(reading: Json, initial_rto: str, name: str) -> str:
    return f"{reading['name']}, {initial_rto}, {name}"


def _goodput(runs: list[Any]) -> list[float]:
    return [run.goodput for run in runs]


def _reduction(runs: list[Any], reference: list[Any], low: float, high: float) -> Estimate:
    pairs = zip(runs, reference, strict=True)
    return t_interval([measures.reduction(*pair, low, high) for pair in pairs])


def _length(settings: Settings) -> Json:
    return {name: _read("experiment-1")[name] for name in QUICK} if settings.full else QUICK


def _read(scenario: str) -> Json:
    return read_toml(HERE / "scenarios" / f"{scenario}.toml")


def _names() -> list[str]:
    return list(schemes(1.0))


def _beside(published: int, ours: list[float]) -> tuple[str, str]:
    return f"{published:,}", _number(t_interval(ours), 0)


def _number(estimate: Estimate, digits: int) -> str:
    if estimate.count == 0:
        return "–"
    text = f"{estimate.mean:,.{digits}f}"
    return f"{text} ±{estimate.half_width:,.{digits}f}" if estimate.has_interval else text


def _say_order(settings: Settings, what: str, ours: Mapping[str, list[float]]) -> None:
    """The paired differences that the paper's sentence is about."""
    against = []
    for reference in ("DropTail", "RED"):
        pairs = zip(ours["RIO-PS"], ours[reference], strict=True)
        change = t_interval([scheme / other - 1 for scheme, other in pairs])
        against.append(f"{with_interval(change, 2)} against {reference}")
    settings.say(f"{what}: RIO-PS {' and '.join(against)}.")


def _within(ours: Estimate, least: float, most: float) -> str:
    if not ours.has_interval:
        return "no interval, at least five seeds are needed"
    if ours.low <= most and ours.high >= least:
        return "the interval meets the published range"
    return f"{'less' if ours.high < least else 'more'} than published"
