"""What Tables I and IV and Figure 7 measure: packets delivered, and response time by size."""

from dataclasses import dataclass

import numpy as np
from mousehole.engine_types import Counter
from mousehole.errors import MouseholeError
from mousehole.pool import RunResult
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PACKET_BYTES = 500
LONG_FROM = 100
"""Segments beyond this are sent by long flows only (section II.C: 100 packets and 10,000)."""
EDGES = 4 * 2.0 ** np.arange(17)
"""Sizes are averaged between these, in packets, before they are averaged with each other."""


@dataclass(frozen=True)
class Delivered:
    """Packets of section II.C that arrived within the run, none counted twice."""

    short: float
    long: float

    @property
    def all(self) -> float:
        """Both classes."""
        return self.short + self.long


def delivered(result: RunResult) -> Delivered:
    """Counts the different segments of the packet trace that reached their client."""
    trace = result.trace()
    if trace is None:
        raise MouseholeError("paper rio-ps: this measure needs trace = true")
    event, flow = np.array(trace["event"]), trace["flow"].astype(np.int64)
    seq = trace["seq"]
    data = np.flatnonzero((event == "send") | (event == "receive"))
    data = data[np.argsort(flow[data], kind="stable")]
    event, flow, seq = event[data], flow[data], seq[data]
    connection = _connections(event, flow, seq)
    arrived = event == "receive"
    name = np.unique(connection[arrived] * (1 << 24) + seq[arrived])
    most = np.zeros(int(connection.max()) + 1, np.int64)
    np.maximum.at(most, connection, seq)
    is_long = most[name >> 24] >= LONG_FROM
    return Delivered(short=float(np.sum(~is_long)), long=float(np.sum(is_long)))


def _connections(
    event: NDArray[np.str_], flow: NDArray[np.int64], seq: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Numbers the connections of a trace sorted by slot. With an initial window of one, segment 0 is sent
    again only before any other, so a slot that sends it later has been taken over."""
    new = np.zeros(flow.size, bool)
    highest, last_slot = -1, -1
    for position in np.flatnonzero(event == "send"):
        slot, number = int(flow[position]), int(seq[position])
        if slot != last_slot or (number == 0 and highest > 0):
            new[position], last_slot, highest = True, slot, -1
        highest = max(highest, number)
    return np.cumsum(new)


@dataclass(frozen=True)
class Experiment1:
    """One run of experiment 1: the bottleneck's packets, and mean response times between `EDGES`."""

    goodput: float
    """Packets that the bottleneck sent, less those that were sent again without having been dropped."""
    response_s: Floats
    forced: float
    """Share of arrivals dropped by a full buffer or beyond the end of the line."""
    early: float
    """Share dropped by chance."""
    marked: float
    unfinished: float
    threshold: float
    """Mean of RIO-PS's threshold within the window, packets; NaN under other schemes."""


def experiment_1(result: RunResult) -> Experiment1:
    """Measures a run. Response time is from the request sent to last byte received."""
    transfers, down = result.transfers(), result.queues()[0]
    response = transfers["end_s"] - transfers["start_s"]
    packets = np.ceil(transfers["bytes"] / PACKET_BYTES)
    ended = ~np.isnan(response)
    bin_of = np.digitize(packets, EDGES) - 1
    counted: tuple[Counter, ...] = ("arrived", "early", "forced", "dropped", "marked", "sent")
    sums = {name: float(sum(colour[name] for colour in down["colours"])) for name in counted}
    again = float(np.sum(transfers["retransmits"])) - sums["dropped"]
    return Experiment1(
        goodput=sums["sent"] - max(0.0, again),
        response_s=np.array([_mean(response[ended & (bin_of == index)]) for index in range(EDGES.size - 1)]),
        forced=sums["forced"] / sums["arrived"],
        early=sums["early"] / sums["arrived"],
        marked=sums["marked"] / sums["arrived"],
        unfinished=1 - float(ended.mean()),
        threshold=_threshold(result),
    )


def reduction(scheme: Experiment1, reference: Experiment1, low: float, high: float) -> float:
    """Returns how far the scheme's mean response time is below the reference's, averaged over size bins."""
    within = (EDGES[:-1] >= low) & (EDGES[1:] <= high)
    return float(np.nanmean(1 - scheme.response_s[within] / reference.response_s[within]))


def _mean(values: Floats) -> float:
    return float(values.mean()) if values.size else np.nan


def _threshold(result: RunResult) -> float:
    series = result.series()
    of_threshold = np.array(series["name"]) == "threshold_packets"
    return _mean(np.asarray(series["value"])[of_threshold])
