"""RIO-PS's figures and tables beside ours: `mousehole paper rio-ps --figure 2`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from mousehole import tcp_model
from mousehole.errors import MouseholeError
from mousehole.pool import RunResult
from mousehole.statistics import Estimate, t_interval
from numpy.typing import NDArray
from rich.text import Text

from papers.common import Json, Running, chosen, merged, percent, print_table, read_toml

HERE = Path(__file__).parent
PICTURE = Path("rio-ps-figure-2.png")
QUICK_SEEDS, FULL_SEEDS = 10, 50
PACKET_BYTES = 500
CLOSE = 0.10
"""Model and simulation agree if their ratio is so near to 1."""
SILENCE = 1.5
"""Round-trip times without a packet that mean a timeout."""

figures = import_module(f"{__package__}.figures")  # the folder's hyphen keeps `from … import` away
experiments = import_module(f"{__package__}.experiments")
PARTS: dict[tuple[str, int], Any] = {
    ("figure", 2): None,
    ("figure", 7): experiments.figure_7,
    ("table", 1): experiments.table_1,
    ("table", 4): experiments.table_4,
}
"""What can be repeated; Figure 2 is of this file."""


@dataclass(frozen=True)
class Settings(Running):
    """How a reproduction is run."""

    base: Json
    path: tcp_model.Path

    def run(self, cases: "Mapping[Cell, Json]") -> "dict[Cell, list[Measured]]":
        """All cases in all replications."""
        names = {str(cell): cell for cell in cases}
        done = self.replicate({str(cell): scenario for cell, scenario in cases.items()}, measure)
        return {names[name]: runs for name, runs in done.items()}


@dataclass(frozen=True, order=True)
class Cell:
    """One size under one loss, and what is changed for it ("" for nothing)."""

    packets: int
    p: float
    change: str = ""


@dataclass(frozen=True)
class Measured:
    """One run: the time from first packet to last acknowledgement, and the timeouts in it."""

    mean_s: float
    cov: float
    """Standard deviation over mean."""
    wait_s: float
    """Mean length of a timeout after the first packet; NaN in runs without a trace."""


def main(
    table: int | None = None,
    figure: int | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    full: bool = False,
) -> int:
    """Runs what was asked for and prints it; 0 if it was done, whatever came out."""
    part = PARTS[chosen("rio-ps", table, figure, *(_numbers(kind) for kind in ("table", "figure")))]
    if part is not None:
        count = seeds or (experiments.FULL_SEEDS if full else experiments.QUICK_SEEDS)
        part(experiments.Settings(full=full, seeds=count, jobs=jobs))
        return 0
    settings = Settings(
        base=read_toml(HERE / "scenarios" / "lossy-link.toml"),
        path=tcp_model.Path(**read_toml(HERE / "published.toml")["figure_2"]["model"]),
        seeds=seeds or (FULL_SEEDS if full else QUICK_SEEDS),
        jobs=jobs,
    )
    figure_2(settings)
    return 0


def _numbers(kind: str) -> list[int]:
    return [number for one, number in PARTS if one == kind]


def figure_2(settings: Settings) -> None:
    """Transfer time by model and simulation, its variation, and what makes the two part."""
    variants = read_toml(HERE / "variants.toml")
    transfers = {size["packets"]: size["transfers"] for size in variants["figure_2"]["size"]}
    cells = [Cell(packets, p) for packets in transfers for p in variants["figure_2"]["loss"]]
    settings.console.print(Text(_head(settings), style="dim"))
    done = settings.run({cell: case(settings.base, cell, transfers[cell.packets]) for cell in cells})
    times = {cell: t_interval([run.mean_s for run in runs]) for cell, runs in done.items()}
    variation = {cell: t_interval([run.cov for run in runs]) for cell, runs in done.items()}
    _print_times(settings, times)
    _print_variation(settings, variation)
    _print_causes(settings, variants["cause"], transfers, times)
    for sentence in [*_agreement(settings, times), *_claims(settings, times, variation)]:
        settings.say(sentence)
    figures.draw(_columns(times, variation), settings.path, PICTURE)
    settings.console.print(f"wrote {PICTURE}")


def case(base: Json, cell: Cell, transfers: int) -> Json:
    """The scenario with that many independent transfers of one size, spread over its window."""
    window_s = float(base["duration"].removesuffix("s"))
    connections = [
        {"start_s": number * window_s / transfers, "client": number, "writes": [{"bytes": size}]}
        for number, size in enumerate([cell.packets * PACKET_BYTES] * transfers)
    ]
    faults = [{"link": "down", "bernoulli": cell.p}]
    return {**base, "traffic": {"connections": connections}, "faults": faults}


def measure(result: RunResult) -> Measured:
    """Times until the last acknowledgement is back, half a round trip after the last packet arrived."""
    transfers = result.transfers()
    seconds = transfers["end_s"] - transfers["first_data_s"] + transfers["rtt_s"] / 2
    if np.isnan(seconds).any():
        raise MouseholeError("paper rio-ps: a transfer did not end within the run; raise max_windows")
    if any(colour["early"] + colour["forced"] for queue in result.queues() for colour in queue["colours"]):
        raise MouseholeError("paper rio-ps: the link's buffer overflowed, which this experiment excludes")
    mean_s = float(np.mean(seconds))
    wait_s = _mean_wait_s(result, SILENCE * float(transfers["rtt_s"].max()))
    return Measured(mean_s, float(np.std(seconds)) / mean_s, wait_s)


def _mean_wait_s(result: RunResult, silence_s: float) -> float:
    """Mean gap between a connection's sends that is too long for anything but a timeout."""
    trace = result.trace()
    if trace is None:
        return np.nan
    sends = np.flatnonzero(np.array(trace["event"]) == "send")
    order = sends[np.lexsort((trace["time_s"][sends], trace["flow"][sends]))]
    gaps = np.diff(trace["time_s"][order])
    same_connection = (np.diff(trace["flow"][order]) == 0) & (trace["seq"][order][1:] > 0)
    waits = gaps[same_connection & (gaps > silence_s)]
    return float(waits.mean()) if waits.size else np.nan


def model_s(cell: Cell, path: tcp_model.Path, reading: tcp_model.Reading) -> float:
    """The model's seconds for a cell."""
    return float(tcp_model.latency_s(cell.p, cell.packets, path, reading))


def ratio(cell: Cell, simulated: Estimate, path: tcp_model.Path) -> Estimate:
    """Simulated over model, with the first packet counted once."""
    modelled = model_s(cell, path, "consistent")
    ends = (simulated.mean / modelled, simulated.low / modelled, simulated.high / modelled)
    return Estimate(*ends, simulated.count)


def _print_times(settings: Settings, times: Mapping[Cell, Estimate]) -> None:
    rows = []
    for cell, simulated in times.items():
        printed, once = (model_s(cell, settings.path, reading) for reading in ("paper", "consistent"))
        of_printed, of_once = (
            f"{simulated.mean / printed:.3f}",
            _number(ratio(cell, simulated, settings.path)),
        )
        modelled = [f"{printed:.3f}", f"{once:.3f}"]
        rows.append([_size(cell), f"{cell.p:g}", *modelled, _number(simulated), of_printed, of_once])
    title = (
        "Figure 2(a): mean transfer time, seconds (95 %). Model: printed, as the paper adds up; "
        "once, the first packet counted once"
    )
    columns = ["packets", "loss", "printed", "once", "simulated", "simulated / printed", "simulated / once"]
    print_table(settings.console, title, columns, rows)


def _print_variation(settings: Settings, variation: Mapping[Cell, Estimate]) -> None:
    sizes = list(dict.fromkeys(cell.packets for cell in variation))
    rows = [
        [f"{p:g}", *(_number(variation[Cell(packets, p)]) for packets in sizes)]
        for p in dict.fromkeys(cell.p for cell in variation)
    ]
    columns = ["loss", *(f"{size:,} packet{'s' if size > 1 else ''}" for size in sizes)]
    title = "Figure 2(b): coefficient of variation of the transfer time, simulated (95 %)"
    print_table(settings.console, title, columns, rows)


def _print_causes(
    settings: Settings, causes: list[Json], transfers: Mapping[int, int], times: Mapping[Cell, Estimate]
) -> None:
    """Ratios before and after one thing is changed, and why it matters."""
    cases = {}
    for cause in causes:
        becomes = cause["becomes"]
        cell = Cell(becomes.get("packets", cause["packets"]), cause["p"], cause["change"])
        base = merged(settings.base, becomes.get("scenario", {}))
        cases[cell] = case(base, cell, becomes.get("transfers") or transfers[cause["packets"]])
    done, rows, sentences = settings.run(cases), [], []
    for cause, (cell, runs) in zip(causes, done.items(), strict=True):
        before = Cell(cause["packets"], cause["p"])
        path, remark = _changed_path(settings.path, cause["becomes"], cell, runs)
        now = _number(ratio(cell, t_interval([run.mean_s for run in runs]), path))
        was = _number(ratio(before, times[before], settings.path))
        rows.append([cause["name"], _size(before), f"{before.p:g}", was, cell.change, now])
        sentences.append(f"{cause['name'][0].upper()}{cause['name'][1:]}: {cause['why']}{remark}")
    columns = ["cause", "packets", "loss", "ratio", "changed to", "ratio then"]
    title = "Where they part, and why: simulated / once, one thing changed at a time"
    print_table(settings.console, title, columns, rows)
    for sentence in sentences:
        settings.say(sentence)


def _changed_path(
    path: tcp_model.Path, becomes: Json, cell: Cell, runs: list[Measured]
) -> tuple[tcp_model.Path, str]:
    """The model's path after the change; with `measured_wait` timeouts are as long as simulated."""
    if not becomes.get("measured_wait"):
        return replace(path, **becomes.get("model", {})), ""
    simulated = t_interval([run.wait_s for run in runs])
    modelled = float(tcp_model.backoff_factor(cell.p)) * path.rto_s
    remark = f" A timeout takes {_number(simulated)} s on average, in the model {modelled:.3f} s."
    return replace(path, rto_s=path.rto_s * simulated.mean / modelled), remark


def _agreement(settings: Settings, times: Mapping[Cell, Estimate]) -> list[str]:
    """How many cells agree, and the farthest one of every size."""
    ratios = {cell: ratio(cell, simulated, settings.path).mean for cell, simulated in times.items()}
    close = sum(abs(value - 1) <= CLOSE for value in ratios.values())
    farthest = []
    for packets in dict.fromkeys(cell.packets for cell in ratios):
        cell = max((c for c in ratios if c.packets == packets), key=lambda c: abs(np.log(ratios[c])))
        farthest.append(f"{ratios[cell]:.2f} for {_size(cell)} at loss {cell.p:g}")
    return [
        f"Simulated / once is within {percent(CLOSE)} of 1 in {close} of {len(ratios)} "
        f"cells. Farthest by size: {', '.join(farthest)}."
    ]


def _claims(
    settings: Settings, times: Mapping[Cell, Estimate], variation: Mapping[Cell, Estimate]
) -> list[str]:
    """The paper's statements about its curves, with our numbers."""
    said = read_toml(HERE / "published.toml")["figure_2"]["claims"]
    sentences = []
    for packets, of in ((10, "short"), (1000, "long")):
        low, high = (
            f"{times[Cell(packets, end)].mean / times[Cell(packets, begin)].mean:.2g}-fold (model "
            f"{_growth(settings, packets, begin, end):.2g})"
            for begin, end in ((0.001, 0.01), (0.02, 0.2))
        )
        sentences.append(
            f"Published: the time of {of} transfers {said[f'{of}_latency']}. Ours, {packets:,} packets: "
            f"{low} from 0.1 % to 1 %, {high} from 2 % to 20 %."
        )
        by_loss = {cell.p: value for cell, value in variation.items() if cell.packets == packets}
        first, last = by_loss[0.001], by_loss[0.2]
        least = min(by_loss, key=lambda p: by_loss[p].mean)
        sentences.append(
            f"Published: the variation of {of} transfers {said[f'{of}_cov']}. Ours, {packets:,} packets: "
            f"{_number(first)} at 0.1 %, {_number(last)} at 20 %: {_trend(first, last)}; it is least, "
            f"{_number(by_loss[least])}, at {100 * least:g} %."
        )
    return sentences


def _growth(settings: Settings, packets: int, begin: float, end: float) -> float:
    first, last = (model_s(Cell(packets, p), settings.path, "paper") for p in (begin, end))
    return last / first


def _trend(first: Estimate, last: Estimate) -> str:
    if not (first.has_interval and last.has_interval):
        return "no interval, at least five seeds are needed"
    if first.high < last.low:
        return "it rises"
    return "it falls" if last.high < first.low else "the intervals overlap"


def _columns(
    times: Mapping[Cell, Estimate], variation: Mapping[Cell, Estimate]
) -> dict[str, NDArray[np.float64]]:
    """One row per cell, for the figure."""
    rows: list[dict[str, Any]] = [
        {"packets": cell.packets, "p": cell.p}
        | {f"{name}_{end}": getattr(estimates[cell], end) for name, estimates in
           (("time", times), ("cov", variation)) for end in ("mean", "low", "high")}
        for cell in times
    ]  # fmt: skip
    return {name: np.array([row[name] for row in rows], np.float64) for name in rows[0]}


def _number(estimate: Estimate, digits: int = 3) -> str:
    text = f"{estimate.mean:.{digits}f}"
    return f"{text} ±{estimate.half_width:.{digits}f}" if estimate.has_interval else text


def _size(cell: Cell) -> str:
    return f"{cell.packets:,}"


def _head(settings: Settings) -> str:
    path = settings.path
    return (
        f"RIO-PS, Figure 2: {settings.seeds} replications of NewReno transfers (one-way ns-2 TCP of 2001, "
        f"packets of {PACKET_BYTES} B, RTT {path.rtt_s:g} s, RTO at least {path.rto_s:g} s, initial RTO "
        f"{path.initial_rto_s:g} s) over a link that loses data at random and never queues, beside the "
        "analytic model (docs/tcp-model.md) with the same times."
    )
