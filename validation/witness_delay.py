"""A delay line for packets: what is read from one descriptor is written to another a fixed time later.

Run as a program it joins two TUN devices whose descriptors it inherits, until SIGTERM; then it prints as JSON
how late the packets left. Order is kept. There is no queue limit and no rate: it delays, nothing else.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import statistics
import sys
import time
from collections import deque
from collections.abc import Callable

LARGEST_PACKET = 65_536


class DelayLine:
    """Packets between two descriptors; each write is one packet."""

    def __init__(self, source: int, sink: int, delay_s: float) -> None:
        self.source, self.sink, self.delay_s = source, sink, delay_s
        self.waiting: deque[tuple[float, bytes]] = deque()
        self.lateness_s: list[float] = []
        self.lost = 0
        os.set_blocking(source, False)

    def step(self, most_s: float) -> None:
        """Waits for a packet or for the next departure, at most `most_s`; then do what is due."""
        if self.waiting:
            most_s = min(most_s, max(0.0, self.waiting[0][0] - time.monotonic()))
        if select.select([self.source], [], [], most_s)[0]:
            self._take()
        self._release()

    def _take(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(self.source, LARGEST_PACKET)
                self.waiting.append((time.monotonic() + self.delay_s, packet))

    def _release(self) -> None:
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            due, packet = self.waiting.popleft()
            try:
                os.write(self.sink, packet)
            except OSError:
                self.lost += 1
            self.lateness_s.append(time.monotonic() - due)

    def report(self) -> dict[str, float]:
        """Returns packets, packets that the far end refused, and lateness in µs: median, p99, greatest."""
        late = sorted(self.lateness_s) or [0.0]
        return {
            "packets": len(self.lateness_s),
            "lost": self.lost,
            "late_p50_us": statistics.median(late) * 1e6,
            "late_p99_us": late[int(0.99 * (len(late) - 1))] * 1e6,
            "late_max_us": late[-1] * 1e6,
        }


def run_until(line: DelayLine, stopped: Callable[[], bool]) -> None:
    """Pass packets on until `stopped` says so."""
    while not stopped():
        line.step(0.2)


def main() -> int:
    """Runs `witness_delay.py SOURCE_FD SINK_FD DELAY_S`."""
    line = DelayLine(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stop.append(number))
    with contextlib.suppress(OSError):  # ahead of other work, so that a busy machine delays little more
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    run_until(line, lambda: bool(stop))
    print(json.dumps(line.report()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
