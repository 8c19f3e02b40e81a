"""What `validation.link_figures` runs on both sides of a link: `python link_programs.py NAME [FILE]`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

PORT = 5201
BLOCK = bytes(1 << 18)
REQUEST = struct.Struct("!Q")
ENDLESS = 10**15
CUBIC = b"cubic"
UDP_PORTS = range(6000, 6040)


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends as many bytes as the request says; the client closes."""
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        (left,) = REQUEST.unpack(await reader.readexactly(REQUEST.size))
        while left:
            block = BLOCK[: min(left, len(BLOCK))]
            writer.write(block)
            left -= len(block)
            await writer.drain()
        await reader.read(1)
    writer.transport.abort()


async def serve() -> None:
    """Serves until it is ended."""
    listener = socket.create_server(("", PORT), backlog=4096)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CUBIC)
    async with await asyncio.start_server(answer, sock=listener) as server:
        await server.serve_forever()


async def fetch(size: int) -> None:
    """Fetches so many bytes, and resets: the server's end then sends nothing more."""
    reader, writer = await asyncio.open_connection(os.environ["MOUSEHOLE_SERVER"], PORT)
    writer.write(REQUEST.pack(size))
    left = size
    while left and (data := await reader.read(1 << 18)):
        left -= len(data)
    plain: socket.socket = writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def play(task: dict[str, Any]) -> None:
    """Plays a list of flows: long-lived ones, and fetches at their times."""
    begin = asyncio.get_running_loop().time()

    async def at(second: float, size: int) -> None:
        await asyncio.sleep(begin + second - asyncio.get_running_loop().time())
        await fetch(size)

    spread = task["bulk_spread_s"] / max(task["bulk"], 1)
    bulk = [asyncio.create_task(at(spread * number, ENDLESS)) for number in range(task["bulk"])]
    fetches = [at(*one) for one in zip(task["starts_s"], task["sizes"], strict=True)]
    await asyncio.wait_for(asyncio.gather(*fetches), task["seconds"])
    left = begin + task["at_least_s"] - asyncio.get_running_loop().time()
    await asyncio.sleep(max(left, 0.0))
    for one in bulk:
        one.cancel()


def echo() -> None:
    """Returns every datagram."""
    import selectors

    chosen = selectors.DefaultSelector()
    for port in UDP_PORTS:
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        end.bind(("", port))
        end.setblocking(False)
        chosen.register(end, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select():
            plain = key.fileobj
            if isinstance(plain, socket.socket):
                with contextlib.suppress(BlockingIOError):
                    while True:
                        plain.sendto(*plain.recvfrom(100))


def many(task: dict[str, Any]) -> None:
    """Asks the echo in many flows: so many sockets, each to every port, as often as needed at a rate."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    server, begin, sent = os.environ["MOUSEHOLE_SERVER"], time.monotonic(), 0
    while sent < task["flows"]:
        ends = []
        for _ in range(200):
            end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            ends.append(end)
            for port in UDP_PORTS:
                end.sendto(b"x", (server, port))
            sent += len(UDP_PORTS)
            time.sleep(max(0.0, begin + sent / task["flows_per_s"] - time.monotonic()))
        for end in ends:
            end.close()


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")) if len(sys.argv) > 2 else {}
    match sys.argv[1]:
        case "serve":
            asyncio.run(serve())
        case "play":
            asyncio.run(play(given))
        case "echo":
            echo()
        case "many":
            many(given)
