"""The programs that validations run at both ends of `mousehole link`: `python link_programs.py NAME
[FILE]`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

PORT = 5201
BLOCK = bytes(1 << 18)
REQUEST = struct.Struct("!Q")
ENDLESS = 10**15
CUBIC = b"cubic"
UDP_PORTS = range(6000, 6040)
CALL_PORT = 5004
CALL_HEADER = struct.Struct("!qI")
"""When a packet of a call was sent, nanoseconds of the machine's clock, and its number."""
ARRIVAL = struct.Struct("@qq")
SO_TIMESTAMPNS = 35
"""Has Linux tell when a datagram arrived; `socket` has no name for it."""


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends as many bytes as a request asks for, and waits for the client to close.

    A connection that breaks ends it without an error.
    """
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
    """Serves fetches on `PORT` with CUBIC, until the process is ended."""
    listener = socket.create_server(("", PORT), backlog=4096)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, CUBIC)
    async with await asyncio.start_server(answer, sock=listener) as server:
        await server.serve_forever()


async def fetch(size: int) -> None:
    """Fetches `size` bytes and resets the connection, so that the server's end sends nothing more.

    The server's address is the environment variable MOUSEHOLE_SERVER. Returns, without an error, too if the
    server closes early.
    """
    reader, writer = await asyncio.open_connection(os.environ["MOUSEHOLE_SERVER"], PORT)
    writer.write(REQUEST.pack(size))
    left = size
    while left and (data := await reader.read(1 << 18)):
        left -= len(data)
    plain: socket.socket = writer.get_extra_info("socket")
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def play(task: dict[str, Any]) -> None:
    """Starts the long flows and the fetches of a task at their times, and waits for the fetches.

    Raises `TimeoutError` if they last longer than the task's `seconds`. Long flows are cancelled after
    `at_least_s`.
    """
    begin = asyncio.get_running_loop().time()

    async def at(second: float, size: int) -> None:
        """Fetches `size` bytes at a second of the task."""
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


def answer_call() -> None:
    """Waits for a request of a call, and sends its packets at their times; answers one call only."""
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.bind(("", CALL_PORT))
    request, client = end.recvfrom(1000)
    call = json.loads(request)
    begin, filler = time.monotonic(), bytes(call["payload"] - CALL_HEADER.size)
    for number in range(round(call["seconds"] / call["gap_s"])):
        time.sleep(max(0.0, begin + number * call["gap_s"] - time.monotonic()))
        end.sendto(CALL_HEADER.pack(time.time_ns(), number) + filler, client)


def share_processor() -> None:
    """Pins this program to the last processor, which both ends share, so that the link has another one."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


async def serve_with_call() -> None:
    """Serves fetches and one call, until the process is ended."""
    share_processor()
    threading.Thread(target=answer_call, daemon=True).start()
    await serve()


def receive_call(call: dict[str, Any], delays_s: dict[int, float]) -> None:
    """Asks for a call and records each packet's one-way delay, s, by the kernel's time of its arrival.

    `delays_s` is filled by the packet's number. Never returns; the server's address is the environment
    variable MOUSEHOLE_SERVER.
    """
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    end.sendto(json.dumps(call).encode(), (os.environ["MOUSEHOLE_SERVER"], CALL_PORT))
    while True:
        packet, ancillary, _, _ = end.recvmsg(call["payload"], socket.CMSG_SPACE(ARRIVAL.size))
        seconds, nanoseconds = ARRIVAL.unpack(ancillary[0][2])
        sent_ns, number = CALL_HEADER.unpack_from(packet)
        delays_s[number] = (seconds * 10**9 + nanoseconds - sent_ns) / 1e9


async def play_with_call(task: dict[str, Any]) -> None:
    """Plays a task of flows and a call, and writes the delays of the call's packets to a file.

    The file's numbers are in seconds, by the packet's number; lost packets are missing.
    """
    share_processor()
    delays_s: dict[int, float] = {}
    threading.Thread(target=receive_call, args=(task["call"], delays_s), daemon=True).start()
    await play(task)
    Path(task["delays"]).write_text(json.dumps(dict(delays_s)), encoding="utf-8")


def echo() -> None:
    """Sends every datagram back to its sender, until the process is ended."""
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


def ask_many(task: dict[str, Any]) -> None:
    """Sends datagrams to the echo in `flows` flows at a given rate.

    Uses 200 sockets at a time, each to every port, and raises the limit on open files to the most allowed.
    Answers are not read.
    """
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
        case "serve_with_call":
            asyncio.run(serve_with_call())
        case "play_with_call":
            asyncio.run(play_with_call(given))
        case "echo":
            echo()
        case "many":
            ask_many(given)
