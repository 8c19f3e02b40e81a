"""Transfers by the kernel's TCP over paths of their own, in two network namespaces that nobody else sees.

As in `witness_lab`, the namespaces have no name and vanish with this process, which can reach no other
interface, dies with its parent and is bounded by an alarm. The network between the two hosts is
`transfer_path`, a process of its own.

Run as `transfer_lab.py FILE`, which holds the transfers as JSON; prints one line of JSON.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from validation.transfer_path import FIRST_PORT, hurry
from validation.witness_lab import Namespace, die_with_parent

SERVER, CLIENT, PORT = "10.9.1.1", "10.9.2.2", 5201
REQUEST_BYTES = 400
BLOCK = bytes(1 << 20)
# What all transfers under way may send together, so that the user-space network keeps up.
BUDGET_BPS = 40e6
MOST_AT_ONCE = 120


@dataclass
class Transfer:
    """A connection: its number, which is that of its path, its answers' sizes, and the rate it may reach."""

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

    def __init__(self, server: Namespace, client: Namespace, congestion: str) -> None:
        self.client = client
        self.selector = selectors.DefaultSelector()
        self.left: dict[int, Transfer] = {}
        with server:
            self.listener = socket.create_server((SERVER, PORT), backlog=4096)
        self.listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion.encode())
        self.listener.setblocking(False)
        self.selector.register(self.listener, selectors.EVENT_READ, ("accept", None))

    def start(self, transfer: Transfer) -> None:
        """Open the connection of a transfer."""
        with self.client:
            end = socket.socket()
            end.setblocking(False)
            end.bind((CLIENT, FIRST_PORT + transfer.number))
            end.connect_ex((SERVER, PORT))
        self.left[transfer.number] = transfer
        transfer.sockets.append(end)
        self.selector.register(end, selectors.EVENT_WRITE, ("ask", transfer))

    def step(self, most_s: float) -> None:
        """Do what is possible, after waiting at most `most_s`."""
        for key, _ in self.selector.select(most_s):
            what, transfer = key.data
            end = key.fileobj
            if not isinstance(end, socket.socket):
                continue
            with contextlib.suppress(BlockingIOError):
                getattr(self, "_" + what)(end, transfer)

    def _accept(self, listener: socket.socket, _: None) -> None:
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
        end.send(bytes(REQUEST_BYTES))
        self.selector.modify(end, selectors.EVENT_READ, ("receive", transfer))

    def _answer(self, end: socket.socket, transfer: Transfer) -> None:
        transfer.request += end.recv(REQUEST_BYTES)
        if len(transfer.request) == REQUEST_BYTES:
            transfer.request = b""
            transfer.to_send = transfer.sizes[transfer.answered]
            transfer.answered += 1
            self.selector.modify(end, selectors.EVENT_WRITE, ("send", transfer))
            self._send(end, transfer)

    def _send(self, end: socket.socket, transfer: Transfer) -> None:
        while transfer.to_send:
            transfer.to_send -= end.send(memoryview(BLOCK)[: min(transfer.to_send, len(BLOCK))])
        if transfer.answered < len(transfer.sizes):
            self.selector.modify(end, selectors.EVENT_READ, ("answer", transfer))
        else:
            self.selector.unregister(end)

    def _receive(self, end: socket.socket, transfer: Transfer) -> None:
        while True:
            transfer.received += len(end.recv(1 << 20))
            if transfer.received >= sum(transfer.sizes):
                return self.end(transfer)
            if transfer.received >= sum(transfer.sizes[: transfer.asked]):
                transfer.asked += 1
                return self._ask(end, transfer)

    def end(self, transfer: Transfer) -> None:
        """Reset both ends: no packets after a transfer."""
        for end in transfer.sockets:
            with contextlib.suppress(KeyError, ValueError):
                self.selector.unregister(end)
            with contextlib.suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            end.close()
        del self.left[transfer.number]


def play(hosts: Hosts, transfers: list[Transfer], seconds: float) -> None:
    """Start the transfers as the budget allows, and serve them until all have ended or time is up."""
    deadline = time.monotonic() + seconds
    # The network's process has to be there before the first packet.
    time.sleep(1)
    waiting = list(transfers)
    while (waiting or hosts.left) and time.monotonic() < deadline:
        # One at a time, so that those under way are served in between.
        used = sum(one.rate_bps for one in hosts.left.values())
        fits = (one for one in waiting if used == 0 or used + one.rate_bps <= BUDGET_BPS)
        chosen = next(fits, None) if len(hosts.left) < MOST_AT_ONCE else None
        if chosen:
            waiting.remove(chosen)
            hosts.start(chosen)
        hosts.step(0.0 if chosen else 0.05)


def main() -> int:
    """Build the laboratory, play the transfers, print the report of the network."""
    die_with_parent()
    task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    signal.alarm(int(task["seconds"]) + 20)
    server, client = Namespace(), Namespace()
    server_fd, client_fd = server.tun("t0"), client.tun("t1")
    for end, device, own, far in ((server, "t0", SERVER, CLIENT), (client, "t1", CLIENT, SERVER)):
        end.ip(f"link set {device} gso_max_segs 1 txqueuelen 10000")
        end.ip(f"addr add {own}/32 dev {device}")
        end.ip(f"route add {far}/32 dev {device}")
    # All paths lead to one address. What a transfer leaves behind about it must not change the next one.
    for end in (server, client):
        with end:
            Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")
    program = str(Path(__file__).with_name("transfer_path.py"))
    network = subprocess.Popen(
        [sys.executable, program, str(server_fd), str(client_fd), task["paths"]],
        pass_fds=(server_fd, client_fd),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=die_with_parent,
    )
    try:
        hosts = Hosts(server, client, task["congestion"])
        hurry()
        play(hosts, [Transfer(**one) for one in task["transfers"]], task["seconds"])
    finally:
        network.terminate()
        report = network.communicate(timeout=20)[0]
    print(report, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
