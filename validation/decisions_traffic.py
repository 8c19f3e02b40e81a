"""Models of traffic whose truth is known, on which no setting of Mousehole was tuned, for `decisions`.

Each draws the connections of some users: their starts, addresses and bytes. Sizes are IP payloads; those of
flows of datagrams are IP lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[np.generic]]
"""`start_s`, `client` and `bytes` of connections, in the order of their starts; and where flows of datagrams
are among them, the columns of such flows that `mousehole.read` has."""
Model = Callable[[np.random.Generator, int, float], Columns]
"""Draws what so many users do in so many seconds."""

SMALLEST, LARGEST = 200, 4_000_000
AMPLE = 4
"""So many times as many users as are needed on average are drawn where a load is to be met."""
RATE_USERS, RATE_S, RATE_SEED = 3000, 900.0, 5
"""From so many users, for so long, it is taken how many bytes a user of a model asks for."""


def draw_uneven(random: np.random.Generator, users: int, length_s: float) -> Columns:
    """Draws users of lognormal activity, whose pages are bursts of objects of similar sizes.

    All models take the number of users and the length in seconds, and advance `random`; rows are sorted by
    start. Starts of objects may lie a little beyond the length.
    """
    activity = random.lognormal(-(1.2**2) / 2, 1.2, users) * length_s / 40
    pages = random.poisson(activity)
    owner = np.repeat(np.arange(users), pages)
    return _draw_pages(random, owner, random.uniform(0, length_s, owner.size), np.zeros(users), 0.012)


def draw_bursts(random: np.random.Generator, users: int, length_s: float) -> Columns:
    """Draws users who act together: about 57 % of the pages start in bursts of 15 s a minute apart.

    Arguments and effects are those of `draw_uneven`.
    """
    begins = np.cumsum(random.exponential(60, int(length_s / 20) + 20))
    wanted = random.poisson(length_s / 30, users)
    owner = np.repeat(np.arange(users), wanted)
    alone = random.uniform(0, length_s, owner.size)
    place = np.searchsorted(begins, alone)
    moved = begins[np.minimum(place, begins.size - 1)] + random.uniform(0, 15, owner.size)
    start = np.where(random.random(owner.size) < 0.57, moved, alone)
    kept = start < length_s
    return _draw_pages(random, owner[kept], start[kept], np.zeros(users), 0.015)


def draw_individual_sizes(random: np.random.Generator, users: int, length_s: float) -> Columns:
    """Draws users who differ in the sizes they fetch: some exchange hundreds of bytes, some megabytes.

    Arguments and effects are those of `draw_uneven`.
    """
    kind = random.normal(0, 1.4, users)
    pages = random.poisson(length_s / 35, users)
    owner = np.repeat(np.arange(users), pages)
    return _draw_pages(random, owner, random.uniform(0, length_s, owner.size), kind, 0.004)


def draw_translated(random: np.random.Generator, users: int, length_s: float) -> Columns:
    """Draws uneven users behind few addresses, each of which about eight users share, as with NAT.

    Arguments and effects are those of `draw_uneven`.
    """
    found = draw_uneven(random, users, length_s)
    address = random.integers(0, max(users // 8, 1), users)
    return {**found, "client": address[found["client"]]}


def draw_diurnal(random: np.random.Generator, users: int, length_s: float) -> Columns:
    """Draws users whose page starts rise and fall by 60 % within half an hour.

    The share of large objects falls and rises inversely. Arguments and effects are those of `draw_uneven`.
    """
    phase = random.uniform(0, 2 * np.pi)
    pages = random.poisson(length_s / 30, users)
    owner = np.repeat(np.arange(users), pages)
    start = random.uniform(0, length_s, owner.size)
    wave = 0.6 * np.sin(2 * np.pi * start / 1800 + phase)
    kept = random.random(owner.size) < (1 + wave) / 1.6
    share = 0.012 * (1 - wave)
    return _draw_pages(random, owner[kept], start[kept], np.zeros(users), share[kept])


def draw_pages_only(random: np.random.Generator, users: int, length_s: float) -> Columns:
    """Draws users of pages without large downloads.

    Arguments and effects are those of `draw_uneven`.
    """
    owner = np.repeat(np.arange(users), random.poisson(length_s / 30, users))
    return _draw_pages(random, owner, random.uniform(0, length_s, owner.size), np.zeros(users), 0.0)


def draw_equal_sizes(random: np.random.Generator, users: int, length_s: float) -> Columns:
    """Draws users of pages whose objects all have 12,000 bytes, so that no transfer is the shorter one.

    Arguments and effects are those of `draw_uneven`.
    """
    found = draw_pages_only(random, users, length_s)
    return {**found, "bytes": np.full(found["bytes"].size, 12_000)}


@dataclass(frozen=True)
class Kind:
    """The datagram flows of one application, with equal numbers of packets in both directions."""

    share: float
    """Share of the time for which a user is in one."""
    length_s: float
    """Mean length; it is exponential."""
    packets_per_s: float
    packet_bytes: int
    reverse_bytes: int


APPLICATIONS = (
    Kind(0.02, 180, 50, 200, 200),
    Kind(0.015, 600, 60, 150, 90),
    Kind(0.002, 400, 90, 1100, 1100),
)
"""Calls, games and video calls."""


def draw_with_calls(random: np.random.Generator, users: int, length_s: float) -> Columns:
    """Draws uneven users, some of whom take part in calls, games or video calls; rows are sorted by start.

    Arguments and effects are those of `draw_uneven`.
    """
    web = draw_uneven(random, users, length_s)
    parts = [
        web | _make_datagram_columns(web["bytes"].size),
        *(_draw_datagram_flows(random, users, length_s, one) for one in APPLICATIONS),
    ]
    found = {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}
    order = np.argsort(found["start_s"], kind="stable")
    return {column: values[order] for column, values in found.items()}


def _make_datagram_columns(count: int) -> Columns:
    """Returns the datagram columns for `count` rows that are not flows of datagrams."""
    none = np.zeros(count, np.int64)
    return {
        "duration_s": np.full(count, np.nan), "is_datagrams": np.zeros(count, bool), "packets": none,
        "reverse_packets": none, "reverse_bytes": none,
    }  # fmt: skip


def _draw_datagram_flows(random: np.random.Generator, users: int, length_s: float, kind: Kind) -> Columns:
    """Draws the flows of one application and cuts them to the time from 0 to `length_s`.

    Flows that last a second or less then are left out. Advances `random`.
    """
    before = 5 * kind.length_s
    count = random.poisson(users * kind.share * (length_s + before) / kind.length_s)
    begin = random.uniform(-before, length_s, count)
    end = begin + random.exponential(kind.length_s, count)
    client = random.integers(0, users, count)
    begin, end = np.maximum(begin, 0.0), np.minimum(end, length_s)
    kept = end > begin + 1
    length = (end - begin)[kept]
    packets = np.round(length * kind.packets_per_s).astype(np.int64)
    return {
        "start_s": begin[kept], "client": client[kept], "bytes": packets * kind.packet_bytes,
        "duration_s": length, "is_datagrams": np.ones(length.size, bool), "packets": packets,
        "reverse_packets": packets, "reverse_bytes": packets * kind.reverse_bytes,
    }  # fmt: skip


MODELS: dict[str, Model] = {
    "uneven": draw_uneven,
    "bursts": draw_bursts,
    "own sizes": draw_individual_sizes,
    "translated": draw_translated,
    "diurnal": draw_diurnal,
    "idle": draw_pages_only,
    "equal sizes": draw_equal_sizes,
    "small buffer": draw_uneven,
    "with calls": draw_with_calls,
}


def draw_for_load(
    name: str, random: np.random.Generator, rate_bps: float, load: float, length_s: float
) -> Columns:
    """Draws so many users of a model that they offer this load of a link on average; at least one.

    `load` is a share of `rate_bps`. Advances `random`.
    """
    users = round(load * rate_bps / 8 / measure_user_rate(name))
    return MODELS[name](random, max(users, 1), length_s)


def draw_meeting_load(
    name: str, random: np.random.Generator, rate_bps: float, load: float, length_s: float
) -> Columns:
    """Draws users of a model until this very draw offers the load of a link, a share of `rate_bps`.

    `compare` meets a load that is asked of it, whereas a fixed number of users offers it on average only:
    where users differ much, some draws would exceed the link. If even `AMPLE` times as many users do not
    offer it, all are returned. Advances `random`.
    """
    found = draw_for_load(name, random, rate_bps, AMPLE * load, length_s)
    wire = _wire_bytes(found)
    of_client = np.bincount(found["client"].astype(np.int64), weights=wire)
    enough = int(np.searchsorted(np.cumsum(of_client), load * rate_bps / 8 * length_s))
    kept = found["client"].astype(np.int64) <= enough
    return {column: values[kept] for column, values in found.items()}


def take_first_short(found: Columns, transfers: int, short_bytes: int) -> Columns:
    """Returns the rows up to the `transfers`-th short transfer, which has at most `short_bytes`.

    Flows of datagrams are cut at its start, but last at least 0.1 s. Raises `IndexError` if there are fewer.
    """
    is_flow = _are_flows(found)
    last = np.flatnonzero((found["bytes"].astype(np.int64) <= short_bytes) & ~is_flow)[transfers - 1]
    end_s = float(found["start_s"][last])
    first = {column: values[: last + 1] for column, values in found.items()}
    if not np.any(is_flow):
        return first
    length = np.minimum(first["duration_s"], np.maximum(end_s - first["start_s"].astype(float), 0.1))
    part = np.where(is_flow[: last + 1], length / first["duration_s"], 1.0)
    sums = {
        column: np.ceil(part * first[column]).astype(np.int64)
        for column in ("packets", "bytes", "reverse_packets", "reverse_bytes")
    }
    return {**first, **sums, "duration_s": length}


@cache
def measure_user_rate(name: str) -> float:
    """Returns the bytes per second that a user of a model asks for on average, headers included.

    Draws with a seed of its own, once per process.
    """
    found = MODELS[name](np.random.default_rng(RATE_SEED), RATE_USERS, RATE_S)
    return float(np.sum(_wire_bytes(found))) / RATE_USERS / RATE_S


def _are_flows(found: Columns) -> NDArray[np.bool_]:
    """Returns a mask of the rows that are flows of datagrams."""
    return found.get("is_datagrams", np.zeros(found["bytes"].size, bool)).astype(bool)


def _wire_bytes(found: Columns) -> Floats:
    """Returns the IP lengths of each row in bytes.

    Those of transfers are payload and headers of 1,460-byte segments, those of datagram flows as given.
    """
    given = found["bytes"].astype(float)
    return np.where(_are_flows(found), given, given + 40 * np.ceil(given / 1460))


def _draw_pages(
    random: np.random.Generator,
    owner: NDArray[np.int64],
    start_s: Floats,
    kind: Floats,
    share: float | Floats,
) -> Columns:
    """Draws pages of about seven objects that start within about a second; rows are sorted by start.

    `owner` and `start_s` have an entry per page; `share` is the share of heavy-tailed objects. `kind` has an
    entry per user: the excess of the logarithms of his sizes over the usual. Advances `random`.
    """
    objects = random.geometric(1 / 7, owner.size)
    page = np.repeat(np.arange(owner.size), objects)
    user = owner[page]
    size = random.lognormal(8.3 + kind[user] + 0.5 * random.normal(size=owner.size)[page], 1.0)
    heavy = random.random(page.size) < np.broadcast_to(share, owner.shape)[page]
    size = np.where(heavy, 60_000 * (random.pareto(1.2, page.size) + 1), size)
    start = start_s[page] + random.exponential(0.4, page.size)
    order = np.argsort(start, kind="stable")
    return {
        "start_s": start[order],
        "client": user[order],
        "bytes": np.clip(size, SMALLEST, LARGEST).astype(np.int64)[order],
    }
