"""The server of a page, a program of its own: `python -m mousehole.page.serve TASK` until it is killed."""

import asyncio
import signal
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any

from mousehole.page import _bulk as bulk
from mousehole.page._content import Answer, Store
from mousehole.page._trial import BULK_PORT, CLEAR_PORT, SECURE_PORT, Task, parse_arguments

NOTHING = Answer("", 404, "text/plain", b"The page has nothing at this address.\n")
NO_ICON = Answer("", 204, "image/x-icon", b"")
"""For the icon that browsers ask for by themselves, of pages that have none."""
ALPN = {"1.1": ["http/1.1"], "2": ["h2", "http/1.1"], "3": ["h3", "h2", "http/1.1"]}
KEEP_ALIVE_S = 600.0

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class Listener(socket.socket):
    """A socket that listens, and whose connections gather what they send."""

    def accept(self) -> tuple["Gathering", Any]:
        """Waits for a connection; returns it, and the address of its other end."""
        connection, address = super().accept()
        return Gathering(fileno=connection.detach()), address

    @staticmethod
    def take_over(plain: socket.socket) -> socket.socket:
        """Returns the same socket as a `Listener`, which does not block; `plain` is detached."""
        own = Listener(fileno=plain.detach())
        own.setblocking(False)
        return own


class Gathering(socket.socket):
    """A connection that sends together what is written in one turn of the event loop.

    Hypercorn writes the headers and the body one after the other, and asyncio sends each at once, so that
    headers would take a packet of their own. Other servers hand both to TCP together.
    """

    def send(self, data: Any, flags: int = 0) -> int:
        """Sends full packets now, and the rest when the present turn of the event loop is over.

        Returns the bytes that the kernel took. Needs a running event loop.
        """
        sent = super().send(data, flags | socket.MSG_MORE)
        asyncio.get_running_loop().call_soon(self._push)
        return sent

    def _push(self) -> None:
        """Sends the bytes that Nagle's algorithm holds back, as TCP_NODELAY does when it is set (tcp(7)).

        Does nothing on a closed socket.
        """
        if self.fileno() >= 0:
            self.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def make_application(store: Store) -> Callable[[dict[str, Any], Receive, Send], Awaitable[None]]:
    """Returns the ASGI application that answers requests from the store; `NOTHING` for what it lacks.

    HEAD is answered without a body; a request's own body is read and dropped.
    """

    async def answer(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Answers one request, as ASGI prescribes; web sockets get no answer."""
        if scope["type"] == "lifespan":
            for step in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{step}.complete"})
            return
        if scope["type"] != "http":  # a web socket, which hypercorn then refuses
            return
        while (await receive()).get("more_body"):  # an answer before a request's end confuses HTTP/2 streams
            pass
        asked = dict(scope["headers"])
        host = (asked.get(b"host") or asked.get(b":authority") or b"").decode("ascii", "replace")
        query = scope["query_string"].decode("ascii", "replace")
        path = scope["raw_path"].decode("ascii", "replace")
        found = store.find(f"{scope['scheme']}://{host}{path}{'?' if query else ''}{query}")
        found = found or (NO_ICON if path == "/favicon.ico" else NOTHING)
        await send(
            {"type": "http.response.start", "status": found.status, "headers": _make_headers(found, asked)}
        )
        body = b"" if scope["method"] == "HEAD" else found.body
        await send({"type": "http.response.body", "body": body})

    return answer


def _make_headers(found: Answer, asked: dict[bytes, bytes]) -> Iterable[tuple[bytes, bytes]]:
    """Returns the headers of an answer to a request with the headers `asked`.

    Any origin may use it, so that pages can load scripts and fonts of other hosts. The answer's own headers
    replace the general ones.
    """
    origin = asked.get(b"origin")
    headers = {
        "content-type": found.mime, "content-length": str(len(found.body)), "timing-allow-origin": "*",
        "access-control-allow-origin": "*", "cache-control": "no-store", **found.headers,
    }  # fmt: skip
    if origin is not None:
        headers |= {"access-control-allow-origin": origin.decode("ascii", "replace"),
                    "access-control-allow-credentials": "true"}  # fmt: skip
    return [(name.encode(), value.encode("ascii", "replace")) for name, value in headers.items()]


async def _serve(task: Task, address: str, clear: int, secure: int) -> None:
    """Serves the task's page on two sockets that listen, given by their descriptors, until a signal.

    The signals are SIGTERM and SIGINT, whose handlers are set. HTTP/3 has a socket of its own at
    `SECURE_PORT` of `address`.
    """
    from hypercorn.asyncio import serve
    from hypercorn.config import Config, Sockets

    class Gathered(Config):  # a class here, since hypercorn need not be installed
        """Hypercorn's settings, with sockets whose connections send together what one turn writes."""

        def create_sockets(self) -> Sockets:
            """Returns hypercorn's sockets, those of TCP as `Listener`."""
            plain = super().create_sockets()
            secure, insecure = (
                [Listener.take_over(one) for one in some]
                for some in (plain.secure_sockets, plain.insecure_sockets)
            )
            return Sockets(secure, insecure, plain.quic_sockets)

    place = f"[{address}]" if ":" in address else address
    config = Gathered()
    config.bind, config.insecure_bind = [f"fd://{secure}"], [f"fd://{clear}"]
    config.quic_bind = [f"{place}:{SECURE_PORT}"] if task.version == "3" else []
    config.certfile, config.keyfile = task.certificate, task.key
    config.alpn_protocols = ALPN[task.version]
    config.keep_alive_timeout = KEEP_ALIVE_S
    config.h2_max_concurrent_streams = 100  # as most servers allow; the least that RFC 9113 recommends
    config.include_server_header = config.include_date_header = False
    config.accesslog = None
    config.loglevel = "WARNING"
    over = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, over.set)
    application: Any = make_application(Store(Path(task.folder)))
    await serve(application, config, shutdown_trigger=over.wait)


def main(given: list[str]) -> int:
    """Serves the page and the downloads until a signal; returns the exit status.

    It is 1, with a message on standard error, if a port or the congestion control cannot be used.
    """
    task, address = parse_arguments(given)
    try:
        clear, secure, endless = (
            bulk.open_listener(address, port, task.congestion)
            for port in (CLEAR_PORT, SECURE_PORT, BULK_PORT)
        )
    except OSError as error:
        why = f"congestion control {task.congestion}: {error.strerror}"
        print(f"the page's server cannot use {why}; name another, or run as root", file=sys.stderr)
        return 1
    with clear, secure, endless:
        bulk.serve(endless)
        asyncio.run(_serve(task, address, clear.fileno(), secure.fileno()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
