"""Figure 2: how long a transfer takes under random loss, by the analytic model and by simulation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from mousehole import tcp_model
from mousehole.errors import MouseholeError
from mousehole.pool import RunResult
from mousehole.statistics import Estimate
from numpy.typing import NDArray

from papers.common import Data, Json, estimate, merged, number, percent
from papers.paper import NO_INTERVAL, Claim, Finding, Heading, Part, Picture, Run, Table, Verdict

DATA = Data(Path(__file__).parent)
PICTURE = Path("rio-ps-figure-2.png")
PACKET_BYTES = 500
CLOSE = 0.10
"""Model and simulation agree if their ratio is so near to 1."""
SILENCE = 1.5
"""Round-trip times without a packet that mean a timeout."""


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


Estimates = Mapping[Cell, Estimate]


def figure_2(run: Run) -> Iterator[Part]:
    """Yields transfer times by model and simulation, their variation, and what makes the two differ."""
    from papers.rio_ps import figures

    variants, path = DATA.variants(), model_path()
    transfers = {size["packets"]: size["transfers"] for size in variants["figure_2"]["size"]}
    cells = [Cell(packets, p) for packets in transfers for p in variants["figure_2"]["loss"]]
    yield _heading(run, path)
    base = DATA.scenario("lossy-link")
    done = of_cells(run, {cell: case(base, cell, transfers[cell.packets]) for cell in cells})
    times = {cell: estimate(runs, "mean_s") for cell, runs in done.items()}
    variation = {cell: estimate(runs, "cov") for cell, runs in done.items()}
    yield _times(path, times)
    yield _variation(variation)
    yield from _causes(run, variants["cause"], transfers, times)
    yield _agreement(path, times)
    yield from _statements(path, times, variation)
    figures.draw(_columns(times, variation), path, PICTURE)
    yield Picture(PICTURE)


def model_path() -> tcp_model.Path:
    """Returns the path of section II.B."""
    return tcp_model.Path(**DATA.published()["figure_2"]["model"])


def of_cells(run: Run, cases: Mapping[Cell, Json]) -> dict[Cell, list[Measured]]:
    """Runs all cells in all replications."""
    names = {str(cell): cell for cell in cases}
    done = run.replicate({str(cell): scenario for cell, scenario in cases.items()}, measure)
    return {names[name]: runs for name, runs in done.items()}


def case(base: Json, cell: Cell, transfers: int) -> Json:
    """Returns the scenario with that many independent transfers of one size, spread over its window."""
    window_s = float(base["duration"].removesuffix("s"))
    connections = [
        {"start_s": number * window_s / transfers, "client": number, "writes": [{"bytes": size}]}
        for number, size in enumerate([cell.packets * PACKET_BYTES] * transfers)
    ]
    faults = [{"link": "down", "bernoulli": cell.p}]
    return {**base, "traffic": {"connections": connections}, "faults": faults}


def measure(result: RunResult) -> Measured:
    """Measures until the last acknowledgement is back, half a round trip after the last packet arrived."""
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
    """Returns the mean gap between a connection's sends that is too long for anything but a timeout."""
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
    """Returns the model's seconds for a cell."""
    return float(tcp_model.latency_s(cell.p, cell.packets, path, reading))


def ratio(cell: Cell, simulated: Estimate, path: tcp_model.Path) -> Estimate:
    """Returns simulated over model, with the first packet counted once."""
    modelled = model_s(cell, path, "consistent")
    ends = (simulated.mean / modelled, simulated.low / modelled, simulated.high / modelled)
    return Estimate(*ends, simulated.count)


def _times(path: tcp_model.Path, times: Estimates) -> Table:
    rows = []
    for cell, simulated in times.items():
        printed, once = (model_s(cell, path, reading) for reading in ("paper", "consistent"))
        ratios = [f"{simulated.mean / printed:.3f}", number(ratio(cell, simulated, path))]
        modelled = [f"{printed:.3f}", f"{once:.3f}"]
        rows.append([_size(cell), f"{cell.p:g}", *modelled, number(simulated), *ratios])
    title = (
        "Figure 2(a): mean transfer time, seconds (95 %). Model: printed, as the paper adds up; "
        "once, the first packet counted once"
    )
    columns = ["packets", "loss", "printed", "once", "simulated", "simulated / printed", "simulated / once"]
    return Table(title, columns, rows)


def _variation(variation: Estimates) -> Table:
    sizes = list(dict.fromkeys(cell.packets for cell in variation))
    rows = [
        [f"{p:g}", *(number(variation[Cell(packets, p)]) for packets in sizes)]
        for p in dict.fromkeys(cell.p for cell in variation)
    ]
    columns = ["loss", *(f"{size:,} packet{'s' if size > 1 else ''}" for size in sizes)]
    return Table(
        "Figure 2(b): coefficient of variation of the transfer time, simulated (95 %)", columns, rows
    )


def _causes(run: Run, causes: list[Json], transfers: Mapping[int, int], times: Estimates) -> Iterator[Part]:
    """Yields ratios before and after one thing is changed, and why it matters."""
    scenario, model, cases = DATA.scenario("lossy-link"), model_path(), {}
    for cause in causes:
        becomes = cause["becomes"]
        cell = Cell(becomes.get("packets", cause["packets"]), cause["p"], cause["change"])
        base = merged(scenario, becomes.get("scenario", {}))
        cases[cell] = case(base, cell, becomes.get("transfers") or transfers[cause["packets"]])
    done, rows, findings = of_cells(run, cases), [], []
    for cause, (cell, runs) in zip(causes, done.items(), strict=True):
        before = Cell(cause["packets"], cause["p"])
        path, remark = _changed_path(model, cause["becomes"], cell, runs)
        now = ratio(cell, estimate(runs, "mean_s"), path)
        was = ratio(before, times[before], model)
        rows.append([cause["name"], _size(before), f"{before.p:g}", number(was), cell.change, number(now)])
        sentence = f"{cause['name'][0].upper()}{cause['name'][1:]}: {cause['why']}{remark}"
        findings.append(Finding(sentence, _cause_claim(cause["name"], before, cell, was, now)))
    columns = ["cause", "packets", "loss", "ratio", "changed to", "ratio then"]
    yield Table("Where they part, and why: simulated / once, one thing changed at a time", columns, rows)
    yield from findings


def _cause_claim(name: str, before: Cell, cell: Cell, was: Estimate, now: Estimate) -> Claim:
    """Returns the claim that a cause is the right one: with it removed, model and simulation agree."""
    return Claim(
        f"Why they differ: {name} ({_size(before)} packets, loss {before.p:g})",
        f"model and simulation with one thing changed: {cell.change}",
        f"simulated ÷ model {number(was)}; after the change {number(now)}",
        Verdict.AGREES if abs(now.mean - 1) <= CLOSE else Verdict.DIFFERS,
        (1 - CLOSE, 1 + CLOSE),
        now,
    )


def _changed_path(
    path: tcp_model.Path, becomes: Json, cell: Cell, runs: list[Measured]
) -> tuple[tcp_model.Path, str]:
    """Returns the model's path after the change; with `measured_wait` timeouts are as long as simulated."""
    if not becomes.get("measured_wait"):
        return replace(path, **becomes.get("model", {})), ""
    simulated = estimate(runs, "wait_s")
    modelled = float(tcp_model.backoff_factor(cell.p)) * path.rto_s
    remark = f" A timeout takes {number(simulated)} s on average, in the model {modelled:.3f} s."
    return replace(path, rto_s=path.rto_s * simulated.mean / modelled), remark


def _agreement(path: tcp_model.Path, times: Estimates) -> Finding:
    """Returns how many cells agree, and for each size the cell that is farthest from the model."""
    ratios = {cell: ratio(cell, simulated, path).mean for cell, simulated in times.items()}
    close = sum(abs(value - 1) <= CLOSE for value in ratios.values())
    farthest = []
    for packets in dict.fromkeys(cell.packets for cell in ratios):
        cell = max((c for c in ratios if c.packets == packets), key=lambda c: abs(np.log(ratios[c])))
        farthest.append(f"{ratios[cell]:.2f} for {_size(cell)} at loss {cell.p:g}")
    sentence = (
        f"Simulated / once is within {percent(CLOSE)} of 1 in {close} of {len(ratios)} "
        f"cells. Farthest by size: {', '.join(farthest)}."
    )
    claim = Claim(
        "Mean time of a transfer under random loss, 1 to 1,000 packets, 0.1 to 20 %",
        "Cardwell's and Padhye's formulas, RIO-PS figure 2",
        sentence,
        Verdict.AGREES if close == len(ratios) else Verdict.DIFFERS,
    )
    return Finding(sentence, claim)


def _statements(path: tcp_model.Path, times: Estimates, variation: Estimates) -> Iterator[Finding]:
    """Yields the paper's statements about its curves, with our numbers."""
    stated = DATA.published()["figure_2"]["claims"]
    for packets, of in ((10, "short"), (1000, "long")):
        low, high = (
            f"{times[Cell(packets, end)].mean / times[Cell(packets, begin)].mean:.2g}-fold (model "
            f"{_growth(path, packets, begin, end):.2g})"
            for begin, end in ((0.001, 0.01), (0.02, 0.2))
        )
        yield Finding(
            f"Published: the time of {of} transfers {stated[f'{of}_latency']}. Ours, {packets:,} packets: "
            f"{low} from 0.1 % to 1 %, {high} from 2 % to 20 %."
        )
        by_loss = {cell.p: value for cell, value in variation.items() if cell.packets == packets}
        first, last = by_loss[0.001], by_loss[0.2]
        least = min(by_loss, key=lambda p: by_loss[p].mean)
        yield Finding(
            f"Published: the variation of {of} transfers {stated[f'{of}_cov']}. Ours, {packets:,} packets: "
            f"{number(first)} at 0.1 %, {number(last)} at 20 %: {_trend(first, last)}; it is least, "
            f"{number(by_loss[least])}, at {100 * least:g} %."
        )


def _growth(path: tcp_model.Path, packets: int, begin: float, end: float) -> float:
    first, last = (model_s(Cell(packets, p), path, "paper") for p in (begin, end))
    return last / first


def _trend(first: Estimate, last: Estimate) -> str:
    if not (first.has_interval and last.has_interval):
        return NO_INTERVAL
    if first.high < last.low:
        return "it rises"
    return "it falls" if last.high < first.low else "the intervals overlap"


def _columns(times: Estimates, variation: Estimates) -> dict[str, NDArray[np.float64]]:
    """Returns one row per cell, for the figure."""
    rows: list[dict[str, Any]] = [
        {"packets": cell.packets, "p": cell.p}
        | {f"{name}_{end}": getattr(estimates[cell], end) for name, estimates in
           (("time", times), ("cov", variation)) for end in ("mean", "low", "high")}
        for cell in times
    ]  # fmt: skip
    return {name: np.array([row[name] for row in rows], np.float64) for name in rows[0]}


def _size(cell: Cell) -> str:
    return f"{cell.packets:,}"


def _heading(run: Run, path: tcp_model.Path) -> Heading:
    return Heading(
        f"RIO-PS, Figure 2: {run.seeds} replications of NewReno transfers (one-way ns-2 TCP of 2001, "
        f"packets of {PACKET_BYTES} B, RTT {path.rtt_s:g} s, RTO at least {path.rto_s:g} s, initial RTO "
        f"{path.initial_rto_s:g} s) over a link that loses data at random and never queues, beside the "
        "analytic model (docs/tcp-model.md) with the same times."
    )
