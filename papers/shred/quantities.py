"""SHRED's quantities: the numbers of its claims, tables and figures, computed from measurements."""

import numpy as np

from papers.runs import Measured
from papers.shred.measures import HEADER_BYTES, RATE_BPS, mean_object

BUFFER_PACKETS = 225
RTT_S = 0.12


def drain_s() -> float:
    """Returns the time, s, in which a buffer full of packets of mean size drains."""
    size, packets = mean_object()
    return BUFFER_PACKETS * (size / packets + HEADER_BYTES) * 8 / RATE_BPS


def step_s(run: Measured, place: int) -> float:
    """Returns the median time, s, of objects that need `place` + 1 rounds of slow start."""
    return float(run["typical_s"][place])


def rounds(run: Measured, place: int) -> float:
    """Returns the time of `step_s` in round-trip times of the empty network."""
    return step_s(run, place) / RTT_S


def share_after(run: Measured, seconds: float) -> float:
    """Returns the share of objects that are incomplete after `seconds`, from 1 to 10."""
    return float(np.interp(seconds, run["tail_s"], run["late"]))


def share_between(run: Measured, begin_s: float) -> float:
    """Returns the share of objects that become complete within the second from `begin_s` on."""
    return share_after(run, begin_s) - share_after(run, begin_s + 1)


def step_up(run: Measured, begin_s: float, beside_s: float) -> float:
    """Returns the share of objects complete within the second from `begin_s` less that from `beside_s`."""
    return share_between(run, begin_s) - share_between(run, beside_s)


def pages_within(run: Measured, seconds: float) -> float:
    """Returns the share of pages that are complete after `seconds`, at most 1."""
    return float(np.interp(seconds, run["body_s"], run["pages_body"]))


def mean_active(one: Measured, two: Measured, three: Measured) -> float:
    """Returns the mean number of objects in progress over three schemes."""
    return float(np.mean([run["active"] for run in (one, two, three)]))


def benefit(run: Measured, baseline: Measured, of: str = "within_1s") -> float:
    """Returns the relative gain of the share complete within a second over the baseline's (section 5.1)."""
    return float(run[of] / baseline[of] - 1)


def growth(
    run: Measured, baseline: Measured, first: Measured, first_baseline: Measured, of: str = "within_1s"
) -> float:
    """Returns the benefit of `run` over its baseline less that of `first` over its own.

    Both are relative, so the result is a difference of shares; `of` names the measure.
    """
    return benefit(run, baseline, of) - benefit(first, first_baseline, of)


def growth_of_lead(
    run: Measured,
    other: Measured,
    baseline: Measured,
    first: Measured,
    first_other: Measured,
    first_baseline: Measured,
) -> float:
    """Returns the growth of the difference between two schemes' benefits, from `first` runs to these.

    Benefits are relative, so the result is a difference of shares.
    """
    return growth(run, baseline, first, first_baseline) - growth(other, baseline, first_other, first_baseline)


def goodput(run: Measured) -> float:
    """Returns the goodput of all FTP flows, Mb/s: the delivered rate less the share that is resent."""
    return float(run["delivered"] * (1 - run["drops"]))


def goodput_fall(few: Measured, many: Measured, other_few: Measured, other_many: Measured) -> float:
    """Returns the excess of one scheme's loss of goodput, Mb/s, from few flows to many over another's."""
    return goodput(few) - goodput(many) - goodput(other_few) + goodput(other_many)


def disproportion(run: Measured) -> float:
    """Returns the distance of the Web's share of drops from its share of arrivals (section 5.2)."""
    return float(abs(run["web_drops"] / run["drops"] - run["web_arrivals"]))


def dropped_up_to(run: Measured, window: int) -> float:
    """Returns the share of dropped packets that carried this window or a smaller one.

    `window` counts packets, from 1 on.
    """
    return float(run["dropped"][window - 1])


def crossing(run: Measured, baseline: Measured) -> float:
    """Returns the first window at which `run`'s share of drops exceeds the baseline's after being smaller.

    It is NaN if there is none.
    """
    lead = run["dropped"] - baseline["dropped"]
    since = np.maximum.accumulate(lead < 0)
    places = np.flatnonzero(since & (lead > 0))
    return float(run["window"][places[0]]) if places.size else np.nan
