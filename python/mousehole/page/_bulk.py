"""Downloads without end during the load of a page: the server sends until nobody reads, the client counts."""

import contextlib
import socket
import threading
import time

CHUNK = 1 << 18
"""Bytes that are handed to TCP at once, and received at once at most."""
PATIENCE_S = 15.0
"""Seconds within which the server must be there."""


def open_listener(address: str, port: int, congestion: str) -> socket.socket:
    """Returns a socket that listens; the connections that it accepts have this congestion control.

    An address with a colon is of IPv6. Raises `OSError` where the kernel lacks the congestion control or does
    not let everyone use it, and where the port is taken.
    """
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.create_server((address, port), family=family, backlog=256)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
    return listener


def serve(listener: socket.socket) -> None:
    """Sends zeros to everyone who connects, in daemon threads, until the socket is closed.

    Returns at once.
    """
    threading.Thread(target=_accept, args=(listener,), daemon=True).start()


def _accept(listener: socket.socket) -> None:
    """Accepts downloads until the listener is closed, a thread for each."""
    with contextlib.suppress(OSError):  # it was closed
        while True:
            end, _ = listener.accept()
            threading.Thread(target=_send, args=(end,), daemon=True).start()


def _send(end: socket.socket) -> None:
    """Sends zeros until the other side closes."""
    zeros = bytes(CHUNK)
    with end, contextlib.suppress(OSError):
        while True:
            end.sendall(zeros)


class Downloads:
    """Connections to `serve` that read all that comes, until they are closed."""

    def __init__(self, address: str, port: int, count: int) -> None:
        """Connects `count` times, and reads each connection in a daemon thread.

        Raises `OSError` if the server does not answer within `PATIENCE_S`.
        """
        self._received = [0] * count
        self._over = False
        self.broken = 0
        """Number of downloads that the other side ended."""
        self._ends: list[socket.socket] = []
        deadline = time.monotonic() + PATIENCE_S
        for number in range(count):
            end = _connect(address, port, deadline)
            self._ends.append(end)
            threading.Thread(target=self._read, args=(number, end), daemon=True).start()

    @property
    def received(self) -> int:
        """Returns the bytes received so far by all downloads."""
        return sum(self._received)

    def close(self) -> None:
        """Ends the downloads, which then do not count as broken; the threads end by themselves."""
        self._over = True
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _read(self, number: int, end: socket.socket) -> None:
        """Reads a download until it ends and counts its bytes, and counts it as broken if that is early."""
        buffer = bytearray(CHUNK)
        with contextlib.suppress(OSError):
            while got := end.recv_into(buffer):
                self._received[number] += got
        if not self._over:
            self.broken += 1


def wait_for(address: str, port: int) -> None:
    """Waits until a server listens, by a connection that is closed at once.

    Raises `OSError` if none does within `PATIENCE_S`.
    """
    _connect(address, port, time.monotonic() + PATIENCE_S).close()


def _connect(address: str, port: int, deadline: float) -> socket.socket:
    """Returns a connection, tried again and again until the deadline; raises `OSError` after it.

    The deadline is a value of `time.monotonic`. Each attempt waits at most 5 s; calls on the connection wait
    without a limit.
    """
    while True:
        try:
            return _clear_timeout(socket.create_connection((address, port), timeout=5))
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def _clear_timeout(end: socket.socket) -> socket.socket:
    """Returns the same socket, whose calls now wait without a limit."""
    end.settimeout(None)
    return end
