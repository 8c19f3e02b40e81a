"""UDP streams at constant rates between the hosts of a lab, such as calls and games, and their delays.

A separate process sends. Nothing reads while a run lasts: the client's sockets hold every packet
with the kernel's time of its arrival.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass

from validation.lab.hosts import CLIENT
from validation.lab.link_programs import ARRIVAL, CALL_HEADER, SO_TIMESTAMPNS
from validation.lab.namespaces import Namespace, die_with_parent

FIRST_PORT = 5004
IP_AND_UDP = 28
SO_RCVBUFFORCE = 33
BUFFER = 1 << 26
"""Bytes of a client's socket, which `SO_RCVBUFFORCE` allows beyond the system's limit."""


@dataclass(frozen=True)
class Stream:
    """A flow of datagrams: one of `packet_bytes`, IP and UDP headers included, every `gap_s`."""

    name: str
    gap_s: float
    packet_bytes: int


class Streams:
    """Streams from the server to the client; `start` sends, and `delays_s` reads the arrivals."""

    def __init__(self, server: Namespace, client: Namespace, streams: Sequence[Stream]) -> None:
        """Opens a socket for each stream at the client, whose namespace the calling thread enters.

        Needs CAP_NET_ADMIN; raises `OSError` without it.
        """
        self._server, self._streams, self._sender = server, streams, 0
        self._ends: list[socket.socket] = []
        with client:
            for number in range(len(streams)):
                end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
                end.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
                end.bind((CLIENT, FIRST_PORT + number))
                end.setblocking(False)
                self._ends.append(end)

    def start(self, begin_s: float, seconds: float) -> None:
        """Forks a process that sends for `seconds` from the monotonic time `begin_s` on; returns at once."""
        self._sender = os.fork()
        if self._sender:
            return
        try:
            die_with_parent()
            with self._server:
                ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in self._streams]
            for number, end in enumerate(ends):
                end.connect((CLIENT, FIRST_PORT + number))
            for due_s, number, packet in schedule_packets(self._streams, seconds):
                time.sleep(max(0.0, begin_s + due_s - time.monotonic()))
                filler = bytes(self._streams[number].packet_bytes - IP_AND_UDP - CALL_HEADER.size)
                with contextlib.suppress(OSError):  # a queue may refuse a packet to the sender
                    ends[number].send(CALL_HEADER.pack(time.time_ns(), packet) + filler)
        finally:
            os._exit(0)

    def delays_s(self, from_s: float, to_s: float) -> dict[str, list[float | None]]:
        """Ends the sender and returns the one-way delays, s, of the packets due from `from_s` to `to_s`.

        They are by the stream's name, None for a packet that was lost. Times count from the start of sending.
        Closes the sockets; is called once, after `start`.
        """
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._sender, signal.SIGKILL)
        os.waitpid(self._sender, 0)
        found: dict[str, list[float | None]] = {}
        for stream, end in zip(self._streams, self._ends, strict=True):
            arrived = dict(_received(end))
            end.close()
            due = range(round(from_s / stream.gap_s), round(to_s / stream.gap_s))
            found[stream.name] = [arrived.get(packet) for packet in due]
        return found


def schedule_packets(streams: Sequence[Stream], seconds: float) -> list[tuple[float, int, int]]:
    """Returns for each packet its time, s, the index of its stream, and its number in the stream.

    They are in order of time.
    """
    due = [
        (packet * stream.gap_s, number, packet)
        for number, stream in enumerate(streams)
        for packet in range(round(seconds / stream.gap_s))
    ]
    return sorted(due)


def _received(end: socket.socket) -> list[tuple[int, float]]:
    """Returns number and one-way delay, s, of every packet that waits in a socket, and empties it."""
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            packet, ancillary, _, _ = end.recvmsg(2048, socket.CMSG_SPACE(ARRIVAL.size))
            seconds, nanoseconds = ARRIVAL.unpack(ancillary[0][2])
            sent_ns, number = CALL_HEADER.unpack_from(packet)
            found.append((number, (seconds * 10**9 + nanoseconds - sent_ns) / 1e9))
    return found
