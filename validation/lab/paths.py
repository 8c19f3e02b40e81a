"""The network of the transfers' witness: a path of its own for each connection, between two TUN devices.

    server ── TUN ── loss, FIFO of a fixed rate, half the round-trip time ── TUN ── client
       └──────────── TUN ◄──────────── half the round-trip time ──────────── TUN ──┘   requests, ACKs

Packets of the client's port n take path n. The path is arithmetic on the clock: a departure is never later
because an earlier one was handled late, and the FIFO counts as the simulator's does. It also measures: a
transfer lasts from the client's first SYN to the arrival of its last byte.

Run as `python -m validation.lab.paths SERVER_FD CLIENT_FD FILE`.
"""

from __future__ import annotations

import json
import random
import struct
import sys
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path as File

from validation.lab.delay import Delay
from validation.lab.hosts import FIRST_PORT

SYN = 0x02


@dataclass(frozen=True)
class Path:
    """A path: rate, buffer in packets besides the one in transmission, and share of data packets lost."""

    rate_bps: float
    buffer_packets: int
    rtt_s: float
    loss: float


@dataclass
class Connection:
    """The state of one connection's path, and the progress of its transfer."""

    path: Path
    sizes: list[int]
    """Of its answers, one after the other."""
    draws: random.Random
    opened: float = 0.0
    completed: list[float] = field(default_factory=list)
    """When the last byte of each answer arrived."""
    free: float = 0.0
    starts: deque[float] = field(default_factory=deque)
    first: int | None = None
    received: int = 0
    ahead: dict[int, int] = field(default_factory=dict)
    lost: int = 0
    overflowed: int = 0
    segment_bytes: int = 0
    acknowledged: int = 0
    single_acks: int = 0
    is_single: bool = True

    def departure(self, now: float, length: int) -> float | None:
        """Returns the time at which a packet that arrives now will leave the FIFO, or None if it is lost.

        It is lost by chance, for which it draws one random number, or if the FIFO is full; both are counted.
        Times are in seconds, `length` is in bytes.
        """
        if self.draws.random() < self.path.loss:
            self.lost += 1
            return None
        while self.starts and self.starts[0] <= now:
            self.starts.popleft()
        if len(self.starts) >= self.path.buffer_packets:
            self.overflowed += 1
            return None
        start = max(now, self.free)
        if start > now:
            self.starts.append(start)
        self.free = start + 8 * length / self.path.rate_bps
        return self.free

    def on_data(self, segment: Segment, now: float) -> None:
        """Records the bytes that have arrived at the client, and the times at which answers are complete.

        `now` is the time of arrival, s. Sequence numbers count from the SYN's. Segments before the SYN, and
        those without data, change nothing.
        """
        if segment.flags & SYN:
            self.first = (segment.number + 1) & 0xFFFF_FFFF
            return
        if self.first is None or segment.payload == 0:
            return
        begin = (segment.number - self.first) & 0xFFFF_FFFF
        self.segment_bytes = max(self.segment_bytes, segment.payload)
        self.ahead[begin] = max(self.ahead.get(begin, 0), begin + segment.payload)
        if begin <= self.received:
            for start in sorted(self.ahead):
                if start > self.received:
                    break
                self.received = max(self.received, self.ahead.pop(start))
        while len(self.completed) < len(self.sizes) and self.received >= self._end():
            self.completed.append(now)

    def _end(self) -> int:
        """Returns the number of bytes up to the end of the answer in progress."""
        return sum(self.sizes[: len(self.completed) + 1])

    def on_ack(self, segment: Segment) -> None:
        """Counts the segments that the client acknowledges one by one, until an ACK covers several.

        ACKs that acknowledge nothing new are ignored.
        """
        if self.first is None or not self.segment_bytes:
            return
        reached = (segment.acknowledges - self.first) & 0xFFFF_FFFF
        if not self.acknowledged < reached < 1 << 31:
            return
        self.is_single &= reached - self.acknowledged <= self.segment_bytes
        self.single_acks += self.is_single
        self.acknowledged = reached


@dataclass(frozen=True)
class Segment:
    """The fields of a TCP segment over IPv4 that the paths use."""

    ports: tuple[int, int]
    number: int
    flags: int
    payload: int
    acknowledges: int = 0

    @staticmethod
    def parse(packet: bytes) -> Segment | None:
        """Returns the segment in a packet, or None for anything but TCP over IPv4."""
        if len(packet) < 40 or packet[0] >> 4 != 4 or packet[9] != 6:
            return None
        begin = 4 * (packet[0] & 15)
        source, target, number, acknowledges = struct.unpack_from(">HHII", packet, begin)
        header = begin + 4 * (packet[begin + 12] >> 4)
        flags, payload = packet[begin + 13], len(packet) - header
        return Segment((source, target), number, flags, payload, acknowledges)


class Network(Delay):
    """All paths, between two descriptors: that of the server's device and that of the client's."""

    def __init__(self, server: int, client: int, connections: list[Connection]) -> None:
        """Makes both descriptors non-blocking; the connection at index n has the client's port n."""
        super().__init__([server, client])
        self.server, self.client, self.connections = server, client, connections

    def take(self, source: int, packet: bytes, now: float) -> None:
        """Sends a packet along its path; packets of no path are dropped.

        The first SYN of a client opens its connection.
        """
        segment, is_data = Segment.parse(packet), source == self.server
        if segment is None:
            return
        index = segment.ports[int(is_data)] - FIRST_PORT
        if not 0 <= index < len(self.connections):
            return
        connection = self.connections[index]
        if not is_data:
            if segment.flags & SYN and not connection.opened:
                connection.opened = now
            connection.on_ack(segment)
            self.hold(now + connection.path.rtt_s / 2, self.server, packet)
            return
        left = connection.departure(now, len(packet))
        if left is not None:
            due = left + connection.path.rtt_s / 2
            self.hold(due, self.client, packet, partial(connection.on_data, segment))

    def report(self) -> dict[str, object]:
        """Returns the measurements of all paths, and the lateness of packets in µs.

        Each list has an entry for each connection: seconds from the SYN to the end of each answer that ended,
        packets lost by chance and by overflow, and the number of segments that were acknowledged one by one
        at its start.
        """
        return {
            "seconds": [[end - c.opened for end in c.completed] for c in self.connections],
            "lost": [c.lost for c in self.connections],
            "overflowed": [c.overflowed for c in self.connections],
            "single_acks": [c.single_acks for c in self.connections],
            **self.lateness(),
        }


def main() -> int:
    """Runs the paths that a file lists as JSON, with sizes and seeds, and prints their report.

    Lasts until SIGTERM; returns 0.
    """
    listed = json.loads(File(sys.argv[3]).read_text(encoding="utf-8"))
    connections = [
        Connection(Path(**one["path"]), one["sizes"], random.Random(one["seed"]))  # noqa: S311, losses
        for one in listed
    ]
    network = Network(int(sys.argv[1]), int(sys.argv[2]), connections)
    network.run()
    print(json.dumps(network.report()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
