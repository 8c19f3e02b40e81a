"""A million new flows, and a sender that splits its data into many flows: others keep their colour."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from live.tests.support import DEVICE, FAR, FAR_ADDRESS, NEAR, NEAR_ADDRESS, wait_until
from validation.lab.live import Lab

FLOWS = 20_011
MILLION = 1_000_000
LE = 1 << 2
FLOOD = Path(__file__).with_name("flood.py")
NOBODY = "02:00:00:00:00:99"
SPLITTER = "10.7.0.77"


class Established:
    """A flow that sends 200 packets per second, and the traffic classes with which its packets arrive."""

    PACKETS_PER_S = 200

    def __init__(self, lab: Lab, port: int = 7100, size: int = 500) -> None:
        """Starts a sender at the near end and a receiver at the far end. `size` is the payload in bytes."""
        with lab.inside(FAR):
            self.receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
            self.receiver.bind((FAR_ADDRESS, port))
        with lab.inside(NEAR):
            self.sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.sender.connect((FAR_ADDRESS, port))
        self.receiver.settimeout(0.2)
        self.size = size
        self.marks: list[int] = []
        self.over = threading.Event()
        self.threads = [threading.Thread(target=one, daemon=True) for one in (self._send, self._receive)]
        for thread in self.threads:
            thread.start()

    def _send(self) -> None:
        """Sends packets until the flow is closed; a thread runs this."""
        while not self.over.is_set():
            self.sender.send(bytes(self.size))
            time.sleep(1 / self.PACKETS_PER_S)

    def _receive(self) -> None:
        """Records the traffic class of each packet until the flow is closed; a thread runs this."""
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                _, ancillary, _, _ = self.receiver.recvmsg(2048, 64)
                self.marks.append(ancillary[0][2][0])

    def close(self) -> None:
        """Stops both threads, waits for them and closes the sockets."""
        self.over.set()
        for thread in self.threads:
            thread.join()
        self.receiver.close()
        self.sender.close()


def find_flow_map(lab: Lab, flows: int) -> dict[str, Any]:
    """Returns bpftool's description of the only flow table with this many entries."""
    listed = json.loads(lab.run(NEAR, "bpftool", "-j", "map", "show"))
    found: list[dict[str, Any]] = [
        one for one in listed if one.get("name") == "ml_flows" and one["max_entries"] == flows
    ]
    assert len(found) == 1
    return found[0]


def run_flood(
    lab: Lab, count: int, *, source: str = NEAR_ADDRESS, length: int = 40, rate: float = 0
) -> float:
    """Sends `count` packets of new flows from one source, `rate` per second or as fast as possible.

    Returns how many seconds that took.
    """
    words = [DEVICE, NOBODY, source, str(count), str(length), str(rate)]
    process = lab.start(NEAR, sys.executable, FLOOD, *words)
    out, errors = process.communicate(timeout=400)
    assert process.returncode == 0, errors
    return float(out.split()[1])


def test_flood__of_a_million_flows__keeps_the_table_bounded_and_long_flows_marked(lab: Lab) -> None:
    words = ["--via", "dscp", "--marker", "sfd(th=3kB)", "--flows", str(FLOWS), "--no-agent"]
    done = lab.live(NEAR, "mark", DEVICE, *words)
    assert done.returncode == 0, done.stderr
    sizes = re.search(r"table of (\d+) flows, (\d+) MB", done.stdout)
    assert sizes
    before = find_flow_map(lab, FLOWS)
    assert int(sizes[1]) == FLOWS
    assert float(sizes[2]) == pytest.approx(before["bytes_memlock"] / 1e6, rel=0.15, abs=0.5)
    long_flow = Established(lab)
    wait_until(lambda: LE in long_flow.marks, 20)
    begun = len(long_flow.marks)
    seconds = run_flood(lab, MILLION)
    marks = long_flow.marks[begun:]
    long_flow.close()
    after = find_flow_map(lab, FLOWS)
    kept = marks.count(LE) / len(marks)
    print(
        f"a million flows in {seconds:.0f} s through {FLOWS} entries: {after['bytes_memlock'] / 1e6:.1f} MB, "
        f"told {sizes[2]} MB; {kept:.2%} of {len(marks)} packets of a long flow kept their mark"
    )
    assert after["bytes_memlock"] == before["bytes_memlock"]
    assert len(json.loads(lab.run(NEAR, "bpftool", "-j", "map", "dump", "id", str(after["id"])))) <= FLOWS
    assert len(marks) > 50
    assert kept > 0.95


class Seen:
    """Counts IPv4 packets from one source at the far end: IP bytes by DSCP."""

    def __init__(self, lab: Lab, source: str) -> None:
        self.source = socket.inet_aton(source)
        self.bytes: dict[int, int] = {}
        with lab.inside(FAR):
            self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
            self.wire.bind(("lan", 0x0800))
        self.wire.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        self.wire.settimeout(1.0)

    def count_arrivals(self) -> None:
        """Adds the bytes that have arrived, by DSCP, until none comes for 1 s, and closes the socket.

        To be called after the sender has stopped.
        """
        with contextlib.suppress(TimeoutError):
            while True:
                packet = self.wire.recv(2048)
                if packet[26:30] == self.source:
                    dscp = packet[15] >> 2
                    (length,) = struct.unpack_from(">H", packet, 16)
                    self.bytes[dscp] = self.bytes.get(dscp, 0) + length
        self.wire.close()


@pytest.mark.parametrize("budget", [None, 80_000])
def test_splitter__owns_the_fast_class_only_without_a_budget(lab: Lab, budget: int | None) -> None:
    burst, rate, packets, length = 6_000, 2_000, 8_000, 500
    behind = "" if budget is None else f"|policer(high_rate={budget}bit,burst={burst}B)"
    words = ["--via", "dscp", "--marker", f"sfd(th=3kB){behind}", "--flows", str(FLOWS), "--no-agent"]
    done = lab.live(NEAR, "mark", DEVICE, *words)
    assert done.returncode == 0, done.stderr
    honest = Established(lab, size=20)
    seen = Seen(lab, SPLITTER)
    seconds = run_flood(lab, packets, source=SPLITTER, length=length, rate=rate)
    honest.close()
    seen.count_arrivals()
    green, sent = seen.bytes.get(0, 0), packets * length
    print(f"a splitter sent {sent} bytes in {packets} flows within {seconds:.1f} s: {green} bytes were green")
    assert sum(seen.bytes.values()) == sent
    if budget is None:
        assert green == sent
    else:
        allowed = burst + budget / 8 * seconds
        assert 0.8 * allowed - burst < green <= 1.02 * allowed + length
    # Another user's short flow is not touched by the splitter's budget.
    first = honest.marks[: 3_000 // 48 - 1]
    assert first
    assert set(first) == {0}
