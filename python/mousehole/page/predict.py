"""The same page in the simulator: its objects as writes of TCP connections, with the same downloads.

A browser decides while it loads which connection fetches what. So does this: it simulates what has been asked
for so far, finds the first moment at which something else can be asked for, adds that, and simulates again.
What is added begins at that moment, so that nothing before it changes, and a run takes milliseconds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import inf, isnan, nan
from typing import Any

import numpy as np

from mousehole import _engine
from mousehole.base import Reporter, Silent, counted, run_interruptibly
from mousehole.page._options import PageOptions
from mousehole.page._results import SETTLE_SPREAD_S, PageResults, make_draws
from mousehole.page._trial import Fetch, Load
from mousehole.runs import run_one
from mousehole.scenario import fill_in
from mousehole.statistics import (
    Design,
    Estimate,
    effective_comparisons,
    log_ratio,
    paired_logs,
    positive_interval,
)

PARALLEL = 6
"""Connections that Chromium opens to a host for HTTP/1.1."""
HANDSHAKE_BYTES = 1000
"""About what a server sends to agree on TLS 1.3: its certificate of a P-256 key, and what comes with it."""
BULK_BYTES = 10**10
"""More than any download receives while a page is loaded."""
BULK_SPREAD_S = 0.05
"""The downloads begin within this time."""
HORIZON_S = 2.0
"""How much further than the last known moment is simulated; it is doubled where that is not enough."""


@dataclass(frozen=True)
class Prediction:
    """Simulated times of the load event, in seconds, by scheme and round."""

    baseline: str
    times: Mapping[str, Sequence[float]]
    words: str
    """What was simulated, for people."""

    def time(self, scheme: str) -> Estimate:
        """Returns the mean time of a scheme in seconds, with its interval."""
        return positive_interval(self.times[scheme])

    def change(self, scheme: str) -> Estimate:
        """Returns the relative change of the mean against the baseline.

        NaN without a round in which both are known. The intervals hold for all schemes together.
        """
        base = self.times[self.baseline]
        others = [own for name, own in self.times.items() if name != self.baseline]
        design = Design(effective_comparisons(paired_logs(own, base) for own in others))
        return log_ratio(self.times[scheme], base, design).as_change()

    def record(self, scheme: str) -> dict[str, Any]:
        """Returns the prediction for a scheme as plain data for JSON: mean, change and all times in seconds.

        The change is None for the baseline.
        """
        change = None if scheme == self.baseline else self.change(scheme).as_dict()
        return {"load_s": self.time(scheme).as_dict(), "change": change, "loads_s": list(self.times[scheme])}


@dataclass(frozen=True)
class Part:
    """An object of the page: its bytes, and what must have ended before it is asked for."""

    size: int
    parent: int | None
    """Number of the object that asks for it, None for the document."""
    pause_s: float
    """From its parent's end until it is asked for, or from its first byte; the browser's own time."""
    is_early: bool = False
    """Whether it is asked for before its parent has ended: as soon as the first bytes have been read."""


@dataclass(frozen=True)
class PageModel:
    """A page as the simulator plays it."""

    parts: tuple[Part, ...]
    """In the order in which the browser asks for them, the document first."""
    tail_s: float
    """From the last object's end to the end of the load event."""
    is_secure: bool
    is_shared: bool
    """Whether all objects share one connection, as with HTTP/2 and HTTP/3."""


def predict_loads(
    results: PageResults, options: PageOptions, reporter: Reporter | None = None, times: int = 1
) -> Prediction:
    """Returns the simulated loads of the page under every scheme, `times` as many as the browser's.

    Order, dependencies and the browser's own pauses are those of the baseline's loads. Times are NaN for
    loads that do not end within the bound, and for all if no load of the baseline counts. Raises
    `KeyboardInterrupt` at once on Ctrl-C.
    """
    shown = reporter or Silent()
    loads = [trial.load for trial in results.trials_under(results.baseline) if trial.counts]
    others = [trial.load for trial in results.trials if trial.counts]
    model = fit_model(loads, results.setting.version, others)
    scenario = _make_scenario(options)
    rounds = times * results.rounds
    found: dict[str, list[float]] = {scheme: [nan] * rounds for scheme in results.schemes}
    if model is not None:
        shown.start(len(results.schemes) * rounds, "simulated loads")
        try:
            for scheme, number in product(results.schemes, range(rounds)):
                work = partial(_simulate_load_s, model, results, scenario, scheme, number)
                found[scheme][number] = run_interruptibly(work)
                shown.advance()
        finally:
            shown.finish()
    count = len(model.parts) if model else 0
    unfinished = sum(isnan(time) for row in found.values() for time in row)
    words = (
        f"Simulated: {count} objects and {counted(results.setting.bulk, 'download')} over TCP, "
        f"{rounds} times per scheme; the browser's own pauses are those of its loads under "
        f"{results.baseline}."
        + (f" {unfinished} did not end in time and are left out." if unfinished else "")
    )
    return Prediction(results.baseline, found, words)


def fit_model(loads: Sequence[Load], version: str, others: Sequence[Load] = ()) -> PageModel | None:
    """Returns a model of the page: the first load's objects in their order, with median pauses of all loads.

    The first load needs an object that ended. The loads in `others` only show which objects wait for which.
    Returns None without a load.
    """
    if not loads:
        return None
    own = sorted((fetch for fetch in loads[0].fetches if fetch.end_s is not None), key=_find_request_time_s)
    numbers = {fetch.url: number for number, fetch in reversed(list(enumerate(own)))}
    parts = _order_pauses(
        Part(fetch.size, _find_parent(fetch, number, numbers), *_find_pause_s(fetch, loads, others))
        for number, fetch in enumerate(own)
    )
    tails = [(load.load_s or 0.0) - max(one.end_s or 0.0 for one in load.fetches) for load in loads]
    secure = own[0].url.startswith("https:")
    return PageModel(parts, max(float(np.median(tails)), 0.0), secure, secure and version != "1.1")


def _find_request_time_s(fetch: Fetch) -> float:
    """Returns the time when a request was sent, or when it was queued if that is not known.

    Requests need not be sent in the order in which the page asked.
    """
    return fetch.queued_s if fetch.sent_s is None else fetch.sent_s


def _find_parent(fetch: Fetch, number: int, numbers: Mapping[str, int]) -> int | None:
    """Returns the number of the object that asked for this one; None for the document.

    It is that of the document where the object is not known or comes later.
    """
    if number == 0:
        return None
    found = numbers.get(fetch.initiator, 0)
    return found if found < number else 0


def _find_pause_s(fetch: Fetch, loads: Sequence[Load], others: Sequence[Load]) -> tuple[float, bool]:
    """Returns the median time in seconds until an object was asked for, and whether it is early.

    It is early, and the time counts from its parent's first byte, if in any load it was asked for before the
    parent had ended: then the end is not what it waits for. Else the time counts from the parent's end, or
    without a parent from the navigation's beginning. The time is 0 if no load has the object.
    """
    own = [pair for load in loads if (pair := _find_with_parent(fetch, load))]
    every = [*own, *(pair for load in others if (pair := _find_with_parent(fetch, load)))]
    is_early = any(
        parent is not None and parent.end_s is not None and one.queued_s < parent.end_s
        for one, parent in every
    )
    pauses = [
        one.queued_s - ((parent.first_byte_s if is_early else parent.end_s) or 0.0 if parent else 0.0)
        for one, parent in own
    ]
    return max(float(np.median(pauses)), 0.0) if pauses else 0.0, is_early


def _find_with_parent(fetch: Fetch, load: Load) -> tuple[Fetch, Fetch | None] | None:
    """Returns an object as it is in a load, and the object that asked for it; None if the load lacks it.

    The second is None if the load lacks that.
    """
    by_url = {one.url: one for one in load.fetches}
    own = by_url.get(fetch.url)
    return None if own is None else (own, by_url.get(fetch.initiator))


def _order_pauses(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Returns the parts with pauses lowered so that they are asked for in their order.

    The pause of a part is the least of its own and of those after it with the same parent and the same start
    (`is_early`). A browser gives a connection that has just opened to the most important object, so that
    another, asked for a little earlier, may be sent later.
    """
    least: dict[tuple[int | None, bool], float] = {}
    found = []
    for part in reversed(list(parts)):
        group = part.parent, part.is_early
        least[group] = min(part.pause_s, least.get(group, inf))
        found.append(replace(part, pause_s=least[group]))
    return tuple(reversed(found))


def _make_scenario(options: PageOptions) -> dict[str, Any]:
    """Returns the part of a scenario that all runs share: TCP, link, one window, no warm-up."""
    link = {**options.rates, "rtt": options.rtt, "buffer": options.buffer}
    return {
        "warmup": "0s",
        "max_windows": 1,
        "tcp": {"profile": "linux", "congestion": options.congestion},
        "link": {name: value for name, value in link.items() if value is not None},
    }


_Moments = tuple[float, float]
"""When the first and when the last byte of a write arrived, in seconds; NaN if it did not."""


@dataclass
class _Connection:
    """A connection as far as it is known."""

    start_s: float
    writes: list[dict[str, float]] = field(default_factory=list)
    parts: list[tuple[int, ...]] = field(default_factory=list)
    """The objects of each write; none for a handshake."""


def _simulate_load_s(
    model: PageModel, results: PageResults, scenario: Mapping[str, Any], scheme: str, number: int
) -> float:
    """Returns the simulated time of one load; NaN if it is not over within the bound.

    The draws are those of round `number`, the bound is the setting's time limit. Each step of the browser
    is a run of the engine.
    """
    own = results.setting
    draws = make_draws(own.seed, number)
    start_s = (own.settle_s + SETTLE_SPREAD_S * float(draws.random())) if own.bulk else 0.0
    bulk = [
        {"start_s": float(at), "class": "bulk", "writes": [{"bytes": BULK_BYTES}]}
        for at in sorted(draws.random(own.bulk) * BULK_SPREAD_S)
    ]

    def moments(connections: Sequence[_Connection], until_s: float) -> list[list[_Moments]]:
        """Simulates the connections until `until_s` and returns the moments of each write, in their order."""
        specs = [*bulk, *({"start_s": one.start_s, "writes": one.writes} for one in connections)]
        run: Any = {**scenario, "scheme": scheme, "seed": own.seed, "replication": number,
                    "duration": f"{until_s:.6f}s",
                    "traffic": {"connections": specs, "server_think": "0s"}}  # fmt: skip
        traffic = _engine.connections_traffic(specs)
        columns = run_one(fill_in(run), traffic, _engine.Cancel()).transfers()
        found = [[(nan, nan)] * len(one.writes) for one in connections]
        rows = zip(columns["key"], columns["write"], columns["first_byte_s"], columns["end_s"], strict=True)
        for key, write, first_byte_s, end_s in rows:
            if key >= len(bulk):
                found[int(key) - len(bulk)][int(write)] = float(first_byte_s), float(end_s)
        return found

    return _Player(model, moments, start_s, own.timeout_s).play() - start_s + model.tail_s


class _Player:
    """A browser that loads a page in simulated time."""

    def __init__(
        self, model: PageModel, moments: Callable[[Sequence[_Connection], float], list[list[_Moments]]],
        start_s: float, timeout_s: float,
    ) -> None:  # fmt: skip
        """Begins with no object asked for; `moments` predicts when the bytes of connections arrive.

        A load begins at `start_s` and may take `timeout_s`.
        """
        self._model, self._moments_of = model, moments
        self._start_s, self._last_s = start_s, start_s + timeout_s
        self._connections: list[_Connection] = []
        self._waiting = list(range(len(model.parts)))
        self._begun: dict[int, float] = {}
        """When the first byte of an object arrived."""
        self._done: dict[int, float] = {}
        """When its last byte did."""
        self._free: list[float] = []

    def play(self) -> float:
        """Returns the time when the last object has arrived, in seconds; NaN if that is beyond the bound.

        Called once.
        """
        while self._waiting:
            self._ask(self._next_s())
            if not self._simulate():
                return nan
        return max(self._done.values())

    def _simulate(self) -> bool:
        """Simulates all requests so far, and stores when each object arrived and each connection is free.

        Runs the engine with a horizon that doubles until all have ended. Returns False, and stores nothing,
        if an object does not end within the bound.
        """
        horizon = HORIZON_S
        known = max([self._start_s, *self._done.values()])
        while True:
            until_s = min(known + horizon, self._last_s)
            moments = self._moments_of(self._connections, until_s)
            if not any(isnan(end) for one in moments for _, end in one):
                break
            if until_s >= self._last_s:
                return False
            horizon *= 2
        self._free = [one[-1][1] for one in moments]
        for connection, own in zip(self._connections, moments, strict=True):
            for parts, (first_byte, end) in zip(connection.parts, own, strict=True):
                self._begun |= dict.fromkeys(parts, first_byte)
                self._done |= dict.fromkeys(parts, end)
        return True

    def _ready_s(self, part: int) -> float:
        """Returns the earliest moment for a request; infinity if the object that asks for it is waiting.

        The moment is in seconds of simulated time.
        """
        own = self._model.parts[part]
        if own.parent is None:
            return self._start_s + own.pause_s
        return (self._begun if own.is_early else self._done).get(own.parent, inf) + own.pause_s

    def _next_s(self) -> float:
        """Returns the first moment at which a request can be sent, in seconds; infinity if none ever can."""
        ready = min(self._ready_s(part) for part in self._waiting)
        can_open = len(self._connections) < (1 if self._model.is_shared else PARALLEL)
        return ready if can_open else max(ready, min(self._free))

    def _ask(self, now: float) -> None:
        """Sends all requests that can be sent at this moment, on free connections first, then on new ones.

        On a shared connection, all that is ready before it is free becomes one request.
        """
        # What is asked for while a shared connection is busy is answered as one.
        by = max([now, *self._free]) if self._model.is_shared else now
        ready = [part for part in self._waiting if self._ready_s(part) <= by]
        if self._model.is_shared:
            self._request(0, ready, by)
            return
        free = [number for number, end in enumerate(self._free) if end <= now]
        while ready and (free or len(self._connections) < PARALLEL):
            number = free.pop(0) if free else len(self._connections)
            self._request(number, [ready.pop(0)], now)

    def _request(self, number: int, parts: Sequence[int], now: float) -> None:
        """Adds a request for `parts` to connection `number`, which is opened at `now` if it is new.

        These parts are no longer waiting. On an open connection the write follows after the time for which
        it was idle.
        """
        if number == len(self._connections):
            self._connections.append(_Connection(now))
            self._free.append(now)
            if self._model.is_secure:
                self._connections[number].writes.append({"bytes": HANDSHAKE_BYTES})
                self._connections[number].parts.append(())
        own = self._connections[number]
        idle_s = max(now - self._free[number], 0.0) if own.writes and own.parts != [()] else 0.0
        own.writes.append({"bytes": sum(self._model.parts[part].size for part in parts), "idle_s": idle_s})
        own.parts.append(tuple(parts))
        self._waiting = [part for part in self._waiting if part not in parts]
