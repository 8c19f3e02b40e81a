"""TCP transfers by the kernel between the hosts of a lab: handshake, request, answer, then a reset."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import time
from dataclasses import dataclass, field

from validation.lab.namespaces import Namespace

SERVER, CLIENT, PORT = "10.9.1.1", "10.9.2.2", 5201
FIRST_PORT = 20_000
"""Port of the client for transfer 0; transfer n has the n-th after it."""
REQUEST_BYTES = 400
BLOCK = bytes(1 << 20)
ENDLESS = 10**12
"""Size of an answer that lasts longer than any run."""


@dataclass
class Transfer:
    """A connection: the number of its path, the sizes of its answers, and the rate that it may reach."""

    number: int
    sizes: list[int]
    rate_bps: float
    answered: int = 0
    """How many answers have been sent."""
    asked: int = 1
    """How many answers have been asked for."""
    received: int = 0
    to_send: int = 0
    request: bytes = b""
    sockets: list[socket.socket] = field(default_factory=list)


class Hosts:
    """Clients and servers, all in this process, their sockets in two namespaces."""

    def __init__(
        self, server: Namespace, client: Namespace, congestion: str, *, resets_both: bool = False,
        acks_each: bool | None = None,
    ) -> None:  # fmt: skip
        """Listens in the server's namespace; `resets_both` resets the server's end with the client's.

        A reset by the server crosses the queue, where the simulator has no packet. With `acks_each`, clients
        acknowledge each segment at once; False delays ACKs whenever that is allowed, and None leaves it to
        the kernel. The thread stays in the namespace. Raises `OSError` for an unknown congestion control.
        """
        self.client, self.resets_both, self.acks_each = client, resets_both, acks_each
        self.selector = selectors.DefaultSelector()
        self.left: dict[int, Transfer] = {}
        self.received = 0
        """Bytes of all transfers."""
        self.opened_s: dict[int, float] = {}
        self.ended_s: dict[int, float] = {}
        self.kept: list[socket.socket] = []
        with server:
            self.listener = socket.create_server((SERVER, PORT), backlog=4096)
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ, ("accept", None))

    def start(self, transfer: Transfer) -> None:
        """Opens the connection of a transfer, whose number is used once.

        Returns at once; `step` serves the connection. The thread stays in the client's namespace.
        """
        self.opened_s[transfer.number] = time.monotonic()
        with self.client:
            end = socket.socket()
            end.setblocking(False)
            end.bind((CLIENT, FIRST_PORT + transfer.number))
            end.connect_ex((SERVER, PORT))
        self.left[transfer.number] = transfer
        transfer.sockets.append(end)
        self.selector.register(end, selectors.EVENT_WRITE, ("ask", transfer))

    def step(self, most_s: float) -> None:
        """Serves the sockets that are ready, after waiting for one at most `most_s`.

        Opens, answers and ends transfers as their sockets allow.
        """
        for key, _ in self.selector.select(most_s):
            what, transfer = key.data
            end = key.fileobj
            if not isinstance(end, socket.socket):
                continue
            with contextlib.suppress(BlockingIOError):
                getattr(self, "_" + what)(end, transfer)

    def _accept(self, listener: socket.socket, _: None) -> None:
        """Accepts all waiting connections; unknown ones are closed.

        Raises `BlockingIOError` when no other waits.
        """
        while True:
            end, (_, port) = listener.accept()
            transfer = self.left.get(port - FIRST_PORT)
            if transfer is None:
                end.close()
                continue
            end.setblocking(False)
            transfer.sockets.append(end)
            self.selector.register(end, selectors.EVENT_READ, ("answer", transfer))

    def _ask(self, end: socket.socket, transfer: Transfer) -> None:
        """Sends a request, and waits for its answer."""
        end.send(bytes(REQUEST_BYTES))
        self.selector.modify(end, selectors.EVENT_READ, ("receive", transfer))

    def _answer(self, end: socket.socket, transfer: Transfer) -> None:
        """Reads a request; once it is complete, starts to send the next answer."""
        transfer.request += end.recv(REQUEST_BYTES)
        if len(transfer.request) == REQUEST_BYTES:
            transfer.request = b""
            transfer.to_send = transfer.sizes[transfer.answered]
            transfer.answered += 1
            self.selector.modify(end, selectors.EVENT_WRITE, ("send", transfer))
            self._send(end, transfer)

    def _send(self, end: socket.socket, transfer: Transfer) -> None:
        """Sends as much of the answer as the socket takes; raises `BlockingIOError` if that is not all."""
        while transfer.to_send:
            transfer.to_send -= end.send(memoryview(BLOCK)[: min(transfer.to_send, len(BLOCK))])
        if transfer.answered < len(transfer.sizes):
            self.selector.modify(end, selectors.EVENT_READ, ("answer", transfer))
        else:
            self.selector.unregister(end)

    def _receive(self, end: socket.socket, transfer: Transfer) -> None:
        """Reads what has arrived; asks for the next answer, or ends the transfer after the last one.

        Raises `BlockingIOError` if more is to come, `ConnectionError` if the server ended early.
        """
        if self.acks_each is not None:  # the kernel forgets it
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, int(self.acks_each))
        while True:
            count = len(end.recv(1 << 20))
            if count == 0:
                raise ConnectionError("the server closed a connection within an answer")
            transfer.received += count
            self.received += count
            if transfer.received >= sum(transfer.sizes):
                return self.end(transfer)
            if transfer.received >= sum(transfer.sizes[: transfer.asked]):
                transfer.asked += 1
                return self._ask(end, transfer)

    def end(self, transfer: Transfer) -> None:
        """Records the time of the end and resets the connection, so that no packets follow the transfer.

        The server's end stays open in `kept` unless `resets_both`.
        """
        self.ended_s[transfer.number] = time.monotonic()
        if not self.resets_both:
            self.kept += transfer.sockets[1:]  # the server's end stays until the reset has arrived
            del transfer.sockets[1:]
        for end in transfer.sockets:
            with contextlib.suppress(KeyError, ValueError):
                self.selector.unregister(end)
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()
        del self.left[transfer.number]
