"""Delays packets: what is read from one descriptor is written to another at a later time.

Run as `python -m validation.lab.delay SOURCE_FD SINK_FD DELAY_S` it joins two TUN devices whose
descriptors it inherits, until SIGTERM; then it prints as JSON how late the packets left. Their
order is preserved. There is no queue limit and no rate limit.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import os
import select
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from validation.lab.namespaces import raise_priority

LARGEST_PACKET = 65_536


class Delay:
    """A set of packets that wait for their departure times; each write is one packet."""

    def __init__(self, sources: Sequence[int]) -> None:
        """Makes the descriptors of `sources` non-blocking."""
        self.sources = sources
        self.waiting: list[tuple[float, int, int, bytes, Callable[[float], None] | None]] = []
        self.count = 0
        self.lateness_s: list[float] = []
        self.lost = 0
        """Packets that the far end refused."""
        for descriptor in sources:
            os.set_blocking(descriptor, False)

    def take(self, source: int, packet: bytes, now: float) -> None:
        """Handles a packet that arrived from `source` at the time `now`: passes it to `hold`, or drops it.

        Subclasses define it; this one raises `NotImplementedError`.
        """
        raise NotImplementedError

    def hold(self, due: float, sink: int, packet: bytes, left: Callable[[float], None] | None = None) -> None:
        """Schedules a packet to be written to `sink` at the time `due` of the monotonic clock, s.

        `left` is then called with the actual time, also if `sink` refuses the packet. Packets of equal times
        keep their order.
        """
        self.count += 1
        heapq.heappush(self.waiting, (due, self.count, sink, packet, left))

    def step(self, most_s: float) -> None:
        """Waits at most `most_s` for a packet or the next departure; then takes and writes packets.

        Packets that the far end refuses are counted in `lost`.
        """
        if self.waiting:
            most_s = min(most_s, max(0.0, self.waiting[0][0] - time.monotonic()))
        for source in select.select(self.sources, [], [], most_s)[0]:
            for packet in _read(source):
                self.take(source, packet, time.monotonic())
        self._release()

    def _release(self) -> None:
        """Writes the packets that are due, and records their lateness.

        A packet that its sink refuses counts as lost.
        """
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            due, _, sink, packet, left = heapq.heappop(self.waiting)
            try:
                os.write(sink, packet)
            except OSError:
                self.lost += 1
            now = time.monotonic()
            self.lateness_s.append(now - due)
            if left is not None:
                left(now)

    def lateness(self) -> dict[str, float]:
        """Returns the lateness of packets in µs: median, p99, greatest; zeros without packets."""
        late = sorted(self.lateness_s) or [0.0]
        return {
            "late_p50_us": statistics.median(late) * 1e6,
            "late_p99_us": late[int(0.99 * (len(late) - 1))] * 1e6,
            "late_max_us": late[-1] * 1e6,
        }

    def run_until(self, stopped: Callable[[], bool]) -> None:
        """Passes packets on until `stopped` returns true; it is asked at least every 0.2 s."""
        while not stopped():
            self.step(0.2)

    def run(self) -> None:
        """Passes packets on until SIGTERM, at real-time priority where that is allowed.

        Sets the handler of SIGTERM.
        """
        stop: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: stop.append(number))
        raise_priority()
        self.run_until(lambda: bool(stop))


class DelayLine(Delay):
    """A fixed delay between two descriptors."""

    def __init__(self, source: int, sink: int, delay_s: float) -> None:
        """Makes the descriptor `source` non-blocking."""
        super().__init__([source])
        self.sink, self.delay_s = sink, delay_s

    def take(self, source: int, packet: bytes, now: float) -> None:  # noqa: ARG002 (there is one)
        """Schedules the packet for the fixed delay later."""
        self.hold(now + self.delay_s, self.sink, packet)

    def report(self) -> dict[str, float]:
        """Returns the numbers of packets and of those that the far end refused, and the lateness in µs."""
        return {"packets": len(self.lateness_s), "lost": self.lost, **self.lateness()}


def _read(source: int) -> Iterator[bytes]:
    """Yields the packets that wait at a non-blocking descriptor, until there is none."""
    with contextlib.suppress(BlockingIOError):
        while True:
            yield os.read(source, LARGEST_PACKET)


def main() -> int:
    """Runs a delay line until SIGTERM, and prints its report as JSON; returns 0.

    The arguments are the descriptors of source and sink, and the delay in s.
    """
    line = DelayLine(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    line.run()
    print(json.dumps(line.report()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
