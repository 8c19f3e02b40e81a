"""What the figures measure: page times, echo delays, file times, losses at the bottleneck."""

from dataclasses import dataclass

import numpy as np
from mousehole.engine_types import TransferColumns
from mousehole.pool import RunResult
from numpy.typing import NDArray

from papers.common import drop_share

Floats = NDArray[np.float64]

LATE_S = 10.0
"""Beyond this the quality of a page is perceived as low (section III)."""
GOOD_ECHO_S = 0.15
"""Up to this an echo is good (section I)."""
SLOW_ECHO_S = 0.9
"""Beyond this it waited for a timeout: "about 1 second" (section III)."""
TAIL_S = 20.0
"""What begins in the last so many seconds of the window is left out: it has no time to be late."""
INDEX_BYTES = 1000
"""Of the probes' pages; nothing else on them is as small."""
HUNDREDTHS = np.linspace(0.0, 0.99, 100)


@dataclass(frozen=True)
class Pages:
    """Times of the probes' pages, seconds; an unfinished one is endless."""

    seconds: Floats

    @property
    def late(self) -> float:
        """Share beyond `LATE_S`."""
        return float(np.mean(self.seconds > LATE_S)) if self.seconds.size else np.nan

    @property
    def median(self) -> float:
        """The middle one."""
        return float(np.median(self.seconds)) if self.seconds.size else np.nan


@dataclass(frozen=True)
class Measured:
    """One run."""

    pages_10: Pages
    pages_11: Pages
    echo_s: Floats
    """Quantiles 0, 0.01, …, 0.99 of the echo delay of the sessions that were asked for."""
    bad_echoes: float
    """Share of them beyond `GOOD_ECHO_S`."""
    slow_echoes: float
    """Share of them beyond `SLOW_ECHO_S`."""
    loss: float
    """Share of what reached the bottleneck that was dropped there, in the direction of the pages."""
    green_loss: float
    """The same of green packets alone; NaN where there are no others."""
    utilisation: float
    files_per_s: float
    """Downloads by FTP that ended."""
    file_s: float
    """The middle one's time."""

    @property
    def late_10(self) -> float:
        """Share of HTTP/1.0 pages beyond `LATE_S`."""
        return self.pages_10.late

    @property
    def late_11(self) -> float:
        """Share of HTTP/1.1 pages beyond `LATE_S`."""
        return self.pages_11.late

    @property
    def median_10(self) -> float:
        """The middle HTTP/1.0 page, seconds."""
        return self.pages_10.median

    @property
    def median_11(self) -> float:
        """The middle HTTP/1.1 page, seconds."""
        return self.pages_11.median

    @property
    def echo_90_s(self) -> float:
        """90 % of echoes take at most this."""
        return float(self.echo_s[90])


def measure(result: RunResult, rtt_s: float | None = None) -> Measured:
    """Measures a run. Echoes are those of sessions with a round-trip time of about `rtt_s`, or of all."""
    transfers, down, summary = result.transfers(), result.queues()[0], result.summary()
    begin_s, until_s = summary["window_begin_s"], summary["window_end_s"] - TAIL_S
    source = np.array(transfers["source"])
    took = transfers["end_s"] - transfers["start_s"]
    took = np.where(np.isnan(took), np.inf, took)
    in_time = transfers["start_s"] < until_s
    echoes = took[in_time & _echoes(transfers, source, rtt_s)]
    files = took[in_time & (source == "ftp") & ~np.array(transfers["upload"], bool)]
    green, *others = down["colours"]
    is_coloured = any(colour["arrived"] for colour in others)
    return Measured(
        pages_10=page_times(transfers, took, source == "probe10", until_s),
        pages_11=page_times(transfers, took, source == "probe11", until_s),
        echo_s=np.quantile(echoes, HUNDREDTHS, method="lower")
        if echoes.size
        else np.full(HUNDREDTHS.size, np.nan),
        bad_echoes=float(np.mean(echoes > GOOD_ECHO_S)) if echoes.size else np.nan,
        slow_echoes=float(np.mean(echoes > SLOW_ECHO_S)) if echoes.size else np.nan,
        loss=drop_share(down["colours"]),
        green_loss=drop_share([green]) if is_coloured else np.nan,
        utilisation=float(down["utilisation"]),
        files_per_s=float(np.sum(np.isfinite(files))) / (until_s - begin_s),
        file_s=float(np.median(files)) if files.size else np.nan,
    )


def _echoes(transfers: TransferColumns, source: NDArray[np.str_], rtt_s: float | None) -> NDArray[np.bool_]:
    """Returns the echo delays, without the first echo of each session, which includes the handshake."""
    chosen: NDArray[np.bool_] = (source == "telnet") & (transfers["write"] > 0)
    if rtt_s is not None:
        chosen &= np.abs(transfers["rtt_s"] - rtt_s) < 0.1 * rtt_s
    return chosen


def page_times(transfers: TransferColumns, took: Floats, chosen: NDArray[np.bool_], until_s: float) -> Pages:
    """Returns the times of pages from request to last byte. They begin in the window and before `until_s`.

    What is left of pages that began before the window lacks its index. A page some transfer of which has not
    begun when the run ends is as endless as one some transfer of which has not ended.
    """
    page, start = transfers["page"][chosen], transfers["start_s"][chosen]
    names, inverse, count = np.unique(page, return_inverse=True, return_counts=True)
    first, last = np.full(names.size, np.inf), np.full(names.size, -np.inf)
    np.minimum.at(first, inverse, start)
    np.maximum.at(last, inverse, start + took[chosen])
    wanted, has_index = np.zeros(names.size), np.zeros(names.size, bool)
    wanted[inverse] = transfers["page_transfers"][chosen]
    has_index[inverse[transfers["bytes"][chosen] == INDEX_BYTES]] = True
    seconds = np.where(count == wanted, last - first, np.inf)
    return Pages(seconds[(names > 0) & has_index & (first < until_s)])
