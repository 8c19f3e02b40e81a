"""Measures the rates of users whose TCP connections are shaped, for tests of `mousehole-live host
--shape`.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

PORT = 7100
# Of a full packet over IPv4 with timestamps: bytes of IP, and bytes of data.
PACKET, DATA = 1500, 1448
WARMUP_S = 1.0

Inside = Callable[[], AbstractContextManager[Any]]


def measure_user_rates(
    near: Inside, far: Inside, address: str, users: Sequence[str], seconds: float
) -> list[float]:
    """Returns the rate of a bulk connection from each of the users' addresses, bit/s of IP length.

    The connections go to `address` at the same time; `near` and `far` enter the namespaces of senders and
    receiver. Takes `seconds` and a second more: bytes that arrive within the first second are not counted.
    """
    with contextlib.ExitStack() as open_sockets, selectors.DefaultSelector() as ready:
        with far():
            listener = open_sockets.enter_context(socket.create_server((address, PORT)))
        received = dict.fromkeys(users, 0)
        for user in users:
            with near():
                sender = open_sockets.enter_context(socket.socket())
            sender.bind((user, 0))
            sender.connect((address, PORT))
            receiver = open_sockets.enter_context(listener.accept()[0])
            for end, events in ((sender, selectors.EVENT_WRITE), (receiver, selectors.EVENT_READ)):
                end.setblocking(False)
                ready.register(end, events, user)
        begin = time.monotonic() + WARMUP_S
        end_s, payload = begin + seconds, bytes(1 << 16)
        while (now := time.monotonic()) < end_s:
            for key, events in ready.select(end_s - now):
                with contextlib.suppress(BlockingIOError):
                    if events & selectors.EVENT_WRITE:
                        key.fileobj.send(payload)  # type: ignore[union-attr]
                    else:
                        count = len(key.fileobj.recv(1 << 20))  # type: ignore[union-attr]
                        received[key.data] += count if time.monotonic() >= begin else 0
    return [8 * received[user] / seconds * PACKET / DATA for user in users]
