"""What Noureddine & Tobagi's figures measure: pages, echoes, files, losses; and how scenarios are built."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from mousehole.base import MouseholeError
from mousehole.engine_types import ColourCounters, QueueCounters, TransferColumns
from mousehole.runs import RunResult
from numpy.typing import NDArray

from papers.counters import arrived_share

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

LATE_S = 10.0
"""Beyond this the quality of a page is perceived as low (section III)."""
GOOD_ECHO_S = 0.15
"""Up to this an echo is good (section I)."""
SLOW_ECHO_S = 0.9
"""Beyond this an echo waited for a timeout: "about 1 second" (section III)."""
TAIL_S = 30.0
"""What begins in the last so many seconds is left out: longer times than this are not known of all."""
INDEX_BYTES = 1000
"""Of the probes' pages; nothing else on them is as small."""
LEVELS = np.linspace(0.0, 0.995, 200)
"""The quantiles that are kept of a distribution."""
RTTS_S = (0.02, 0.04, 0.08, 0.12, 0.2)
"""Round-trip times of the five groups of users."""
TIMES_S = np.geomspace(0.5, TAIL_S, 60)
"""Times at which the share of pages done is kept for each round-trip time."""
SAMPLE_S = 2.0
"""Length of a sample of a flow's throughput (section VI.A: "2 or 4 second intervals")."""


def build(scenario: dict[str, Any], _cell: Mapping[str, str]) -> dict[str, Any]:
    """Returns the scenario with keys carried out that scenarios do not have: `sources` and two of
    thresholds.
    The scenario stays as it is. Raises `KeyError` without a mix.

    `sources` maps the name of a source, without the number of its group, to what changes in its entries of
    `traffic.mix`; to false to leave it out. Only those that are named stay if it has `only = true`.
    `thresholds` are further parameters of a scheme that drops by colour, `red_thresholds` those of RED.
    """
    scenario = dict(scenario)
    sources = dict(scenario.pop("sources", {}))
    thresholds, red_thresholds = scenario.pop("thresholds", ""), scenario.pop("red_thresholds", "")
    if scenario["scheme"].startswith("red("):
        thresholds = red_thresholds
    elif not scenario["scheme"].startswith(("appl", "er-tbm", "tcp-ds")):
        thresholds = ""
    if thresholds:
        scenario["scheme"] = f"{scenario['scheme'].removesuffix(')')},{thresholds})"
    only = sources.pop("only", False)
    mix = []
    for entry in scenario["traffic"]["mix"]:
        change = sources.get(strip_group(entry["name"]), False if only else {})
        if change is False:
            continue
        change = {} if change is True else change
        params = {**entry.get("params", {}), **change.get("params", {})}
        mix.append({**entry, **change, **({"params": params} if params else {})})
    scenario["traffic"] = {**scenario["traffic"], "mix": mix}
    return scenario


def strip_group(name: str) -> str:
    """Returns the name of a source without the number of its group: `ftp` of `ftp 3`."""
    return name.split(" ")[0]


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures a run. Times of what did not end are infinite; where nothing was measured, a number is NaN."""
    transfers, queues, summary = result.transfers(), result.queues(), result.summary()
    begin_s, until_s = summary["window_begin_s"], summary["window_end_s"] - TAIL_S
    source = np.array([strip_group(name) for name in transfers["source"]])
    took = transfers["end_s"] - transfers["start_s"]
    took = np.where(np.isnan(took), np.inf, took)
    in_time = transfers["start_s"] < until_s
    # the first echo of a session includes the handshake
    telnet = (source == "telnet") & (transfers["write"] > 0)
    echoes, echoes_80 = took[in_time & telnet], took[in_time & telnet & near_rtt(transfers, 0.08)]
    probes = source == "ftp-probe"
    files = took[in_time & (source == "ftp") & ~np.array(transfers["upload"], bool)]
    down = queues[0]
    return {
        **pages(transfers, took, source, until_s),
        **shares(down["colours"]),
        "loss": arrived_share(down["colours"], "dropped"),
        "green_dropped": dropped_green(queues),
        "telnet_resent": average(transfers["retransmits"][telnet] > 0),
        "load_mbps": down["utilisation"] * down["capacity_bps"] / 1e6,
        "utilisation": down["utilisation"],
        "echo_s": quantiles(echoes),
        "slow_echoes": average(echoes > SLOW_ECHO_S),
        "middling_echoes": average((echoes > 0.5) & (echoes <= SLOW_ECHO_S)),
        "echo_80_s": quantiles(echoes_80),
        "bad_echoes_80": average(echoes_80 > GOOD_ECHO_S),
        "file_s": quantiles(files),
        "probe_file_s": quantiles(took[in_time & probes]),
        "probe_files": np.sum(np.isfinite(took[probes])) / max(1, np.unique(transfers["client"][probes]).size)
        / (summary["window_end_s"] - begin_s) * 60.0,
        "files_per_s": np.sum(np.isfinite(files)) / (until_s - begin_s),
    }  # fmt: skip


def measure_long(result: RunResult) -> Mapping[str, Any]:
    """Measures the throughput of flows without end: among flows, and of each flow over time.

    Rates are in bit/s. These flows begin at time zero before everything else, so that they have the first
    slots of the trace. Raises `MouseholeError` without a packet trace.
    """
    trace, summary = result.trace(), result.summary()
    if trace is None:
        raise MouseholeError("the throughput of flows needs a packet trace; the scenario has trace = false")
    goodputs = result.flows()["goodput_bps"]
    received = (np.array(trace["event"]) == "receive") & (trace["flow"] < goodputs.size)
    samples = samples_bps(
        trace["time_s"][received], trace["flow"][received], trace["bytes"][received], goodputs.size,
        summary["window_begin_s"], summary["window_end_s"],
    )  # fmt: skip
    return {
        "goodput_bps": goodputs,
        "cov_among_flows": np.std(goodputs) / np.mean(goodputs),
        "cov_over_time": np.mean(np.std(samples, axis=1)) / np.mean(samples),
        "throughput_bps": np.mean(samples, axis=1),
    }


def samples_bps(
    time_s: Floats, flow: NDArray[Any], size: NDArray[Any], flows: int, begin_s: float, end_s: float
) -> Floats:
    """Returns the throughput of each flow (rows) in consecutive intervals of `SAMPLE_S` (columns).

    They begin at `begin_s`; a last one that is cut short is left out. `size` is in bytes.
    """
    count = int((end_s - begin_s) / SAMPLE_S)
    edges = begin_s + SAMPLE_S * np.arange(count + 1)
    bits = 8.0 * np.asarray(size, np.float64)
    counted, _, _ = np.histogram2d(flow, time_s, bins=(np.arange(flows + 1) - 0.5, edges), weights=bits)
    return np.asarray(counted / SAMPLE_S, np.float64)


def pages(
    transfers: TransferColumns, took: Floats, source: NDArray[np.str_], until_s: float
) -> dict[str, Any]:
    """Returns what is measured of the probes' pages of both versions of HTTP.

    Times are in seconds, NaN where there is no page; `done` has a row for each of `RTTS_S`, a column for
    each of `TIMES_S`.
    """
    made: dict[str, Any] = {}
    for version in ("10", "11"):
        seconds, rtt_s = page_times(transfers, took, source == f"probe{version}", until_s)
        made[f"page_{version}_s"] = quantiles(seconds)
        made[f"late_{version}"] = average(seconds > LATE_S)
        of_rtt = [seconds[np.abs(rtt_s - one) < 0.1 * one] for one in RTTS_S]
        made[f"done_{version}"] = [[average(one <= time) for time in TIMES_S] for one in of_rtt]
    return made


def page_times(
    transfers: TransferColumns, took: Floats, chosen: Bools, until_s: float
) -> tuple[Floats, Floats]:
    """Returns times of pages from request to last byte, and round-trip times. They begin before `until_s`.

    Both are in seconds; a time is infinite for an endless page.

    What is left of pages that began before the window lacks its index. A page some transfer of which has not
    begun when the run ends is as endless as one some transfer of which has not ended.
    """
    page, start = transfers["page"][chosen], transfers["start_s"][chosen]
    names, inverse, count = np.unique(page, return_inverse=True, return_counts=True)
    first, last = np.full(names.size, np.inf), np.full(names.size, -np.inf)
    np.minimum.at(first, inverse, start)
    np.maximum.at(last, inverse, start + took[chosen])
    wanted, has_index, rtt_s = np.zeros(names.size), np.zeros(names.size, bool), np.zeros(names.size)
    wanted[inverse] = transfers["page_transfers"][chosen]
    rtt_s[inverse] = transfers["rtt_s"][chosen]
    has_index[inverse[transfers["bytes"][chosen] == INDEX_BYTES]] = True
    seconds = np.where(count == wanted, last - first, np.inf)
    counted = (names > 0) & has_index & (first < until_s)
    return seconds[counted], rtt_s[counted]


def near_rtt(transfers: TransferColumns, rtt_s: float) -> Bools:
    """Returns which transfers have this round-trip time, s, within 10 %."""
    return np.asarray(np.abs(transfers["rtt_s"] - rtt_s) < 0.1 * rtt_s)


def quantiles(values: Floats) -> Floats:
    """Returns the quantiles of `LEVELS`, each a value that occurred. NaN without values."""
    if not values.size:
        return np.full(LEVELS.size, np.nan)
    return np.asarray(np.quantile(values, LEVELS, method="lower"), np.float64)


def average(values: NDArray[Any]) -> float:
    """Returns the mean, NaN of nothing."""
    return float(np.mean(values)) if values.size else np.nan


def shares(colours: list[ColourCounters]) -> dict[str, float]:
    """Returns the loss of each colour and its share of the arrivals at a link.

    A loss is NaN if nothing of the colour arrived.
    """
    arrived = max(1, sum(colour["arrived"] for colour in colours))
    made = {}
    for colour in colours:
        made[f"{colour['name']}_loss"] = arrived_share([colour], "dropped")
        made[f"{colour['name']}_share"] = colour["arrived"] / arrived
    return made


def dropped_green(queues: list[QueueCounters]) -> float:
    """Returns how many green packets were dropped at all links that run the scheme."""
    return float(
        sum(colour["dropped"] for queue in queues for colour in queue["colours"] if colour["name"] == "green")
    )
