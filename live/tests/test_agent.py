"""The agent sweeps and publishes; its death is reported; started again, it goes on from what it published."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live.tests.support import (
    DEVICE,
    FAR,
    FAR_ADDRESS,
    FLOWS,
    NEAR,
    assert_restored,
    read_status,
    read_table,
    wait_until,
)
from validation.lab.live import Echo, Lab, require_program
from validation.lab.namespaces import BPF_ROOT

PORT = 7200
INITIAL = 20
# The threshold moves by one packet five times a second: up, unless short flows are more than long ones.
RIO_PS = f"rio-ps(slr=1,t_c=100ms,t_u=200ms,l_t={INITIAL})"
# A flow of `tau` packets or more is an elephant if half of the flows that ended were shorter.
LFP = "lfp(u=50,tau=5,timeout=50ms)"
MISSING_S = 10.0


@pytest.fixture
def before(lab: Lab) -> dict[str, Any]:
    """Turns IPv6 off at the device, whose packets would be flows too. Returns the device's state then."""
    lab.run(NEAR, "sh", "-c", f"echo 1 > /proc/sys/net/ipv6/conf/{DEVICE}/disable_ipv6")
    return lab.state(NEAR, DEVICE)


def run_up(lab: Lab, scheme: str) -> None:
    """Runs `up` with this scheme at 20 Mbit/s, which starts an agent if needed; it must succeed."""
    words = ("--rate", "20mbit", "--scheme", scheme, "--flows", str(FLOWS))
    done = lab.live(NEAR, "up", DEVICE, *words)
    assert done.returncode == 0, done.stderr


def find_agents(lab: Lab) -> list[int]:
    """Returns the process numbers of the lab's agents of the device."""
    ours = Path(f"/proc/{lab.keeper}/ns/pid").readlink()
    numbers = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (path / "cmdline").read_bytes().split(b"\0")
            if words[1:3] == [b"agent", DEVICE.encode()] and (path / "ns/pid").readlink() == ours:
                numbers.append(int(path.name))
    return numbers


def read_published(lab: Lab) -> list[int]:
    """Returns the numbers that the agent published last."""
    (folder,) = [name for name in lab.pinned() if name.endswith("/maps")]
    assert folder.startswith(str(BPF_ROOT))

    def words(name: str, index: int) -> list[int]:
        """Returns an entry of a map as 32-bit numbers."""
        listed = json.loads(lab.run(NEAR, "bpftool", "-j", "map", "dump", "pinned", f"{folder}/{name}"))
        value = bytes(int(byte, 16) for byte in listed[index]["value"])
        return [int.from_bytes(value[at : at + 4], "little") for at in range(0, len(value), 4)]

    return words("ml_published", words("ml_agent", 0)[0] & 1)


def read_threshold(lab: Lab) -> int:
    """Returns the threshold in packets that is in force: the published one, or the initial one before."""
    return read_published(lab)[0] or INITIAL


def read_explained_threshold(lab: Lab) -> float:
    """Returns the threshold that `explain` shows."""
    explained = json.loads(lab.live(NEAR, "explain", FAR_ADDRESS, "--json").stdout)
    return float(dict(explained["flows"][0]["rules"][0]["readings"])["threshold_packets"])


class Mixed:
    """TCP connections through the device: two long ones, and short ones while `short` is set."""

    def __init__(self, lab: Lab) -> None:
        with lab.inside(FAR):
            self.listener = socket.create_server((FAR_ADDRESS, PORT), backlog=64)
        self.listener.settimeout(0.1)
        self.over, self.short = threading.Event(), threading.Event()
        self.ends: list[socket.socket] = []
        self.lab = lab
        own = [self._accept, self._open_short, self._keep_sending, self._keep_sending]
        self.threads = [threading.Thread(target=one, daemon=True) for one in own]
        for thread in self.threads:
            thread.start()

    def _connect(self) -> socket.socket:
        """Opens a connection from the near end."""
        with self.lab.inside(NEAR):
            end = socket.socket()
        end.settimeout(5)
        end.connect((FAR_ADDRESS, PORT))
        return end

    def _accept(self) -> None:
        """Accepts connections and reads all data; a thread runs this."""
        drains = []
        while not self.over.is_set():
            with contextlib.suppress(TimeoutError):
                drains.append(threading.Thread(target=drain, args=(self.listener.accept()[0],), daemon=True))
                drains[-1].start()
        for one in drains:
            one.join()

    def _keep_sending(self) -> None:
        """Sends on one connection until the end; a thread runs this."""
        with self._connect() as end:
            while not self.over.is_set():
                end.sendall(bytes(3_000))
                time.sleep(0.02)

    def _open_short(self) -> None:
        """Opens short connections while `short` is set; a thread runs this."""
        while not self.over.is_set():
            if self.short.wait(0.1):
                with self._connect() as end:
                    end.sendall(bytes(1_000))
                time.sleep(0.005)

    def close(self) -> None:
        """Stops all threads and waits for them."""
        self.over.set()
        for thread in self.threads:
            thread.join()
        self.listener.close()


def drain(end: socket.socket) -> None:
    """Reads a connection to its end; a thread runs this."""
    with end, contextlib.suppress(ConnectionError):
        while end.recv(1 << 16):
            pass


@pytest.fixture
def mixed(lab: Lab, before: dict[str, Any]) -> Iterator[Mixed]:
    """Sends TCP connections through the device while the test lasts."""
    del before  # made first
    made = Mixed(lab)
    yield made
    made.close()


def test_agent__moves_the_threshold__and_is_missed_and_replaced_when_killed(
    lab: Lab, before: dict[str, Any], echo: Echo, mixed: Mixed
) -> None:
    run_up(lab, RIO_PS)
    wait_until(lambda: read_status(lab)["agent_seen_s"] is not None, 10)
    assert read_status(lab)["problems"] == []
    wait_until(lambda: read_threshold(lab) >= INITIAL + 6, 10)
    first, shown, last = read_threshold(lab), read_explained_threshold(lab), read_threshold(lab)
    assert min(first, last) - 1 <= shown <= max(first, last) + 1
    mixed.short.set()
    most = read_threshold(lab)
    wait_until(lambda: read_threshold(lab) < most, 10)
    wait_until(lambda: read_status(lab)["counters"]["new_flows"] > 20, 10)
    mixed.short.clear()
    # Those that fell silent are swept; the two that last and the echo stay.
    wait_until(lambda: read_table(lab)["entries"] <= 3, 10)
    wait_until(lambda: read_threshold(lab) >= INITIAL + 3, 10)
    (agent,) = find_agents(lab)

    os.kill(agent, signal.SIGKILL)
    wait_until(lambda: find_agents(lab) == [], 10)
    killed, kept = time.monotonic(), read_threshold(lab)
    mixed.short.set()
    wait_until(lambda: read_table(lab)["entries"] > 10, 10)
    mixed.short.clear()
    wait_until(lambda: read_status(lab)["problems"] != [], MISSING_S + 10)
    (problem,) = read_status(lab)["problems"]
    assert re.search(r"the agent was last at work 1\d(\.\d)? s ago", problem), problem
    assert f"`mousehole-live agent {DEVICE}` starts it" in problem
    assert read_status(lab)["agent_seen_s"] == pytest.approx(time.monotonic() - killed, abs=2)
    assert read_threshold(lab) == kept >= INITIAL + 3
    assert echo.answers_within(2)
    assert read_table(lab)["entries"] > 10, "somebody sweeps"

    agent_again = lab.start(NEAR, require_program(), "agent", DEVICE)
    wait_until(lambda: read_status(lab)["problems"] == [], 10)
    assert read_threshold(lab) >= kept - 1, "it goes on from what was published"
    wait_until(lambda: read_threshold(lab) > kept, 10)
    wait_until(lambda: read_table(lab)["entries"] <= 3, 10)

    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    _, errors = agent_again.communicate(timeout=10)
    assert (agent_again.returncode, errors) == (0, "")
    assert find_agents(lab) == []
    assert_restored(lab, before)


class Datagrams:
    """Sends flows of datagrams, each from another port."""

    def __init__(self, lab: Lab) -> None:
        with lab.inside(FAR):
            self.sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sink.bind((FAR_ADDRESS, PORT))
        self.lab = lab

    def send(self, port: int, packets: int) -> None:
        """Sends datagrams of 100 bytes from a port of the near end; nobody reads them."""
        with self.lab.inside(NEAR):
            sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with sender:
            sender.bind(("", port))
            for _ in range(packets):
                sender.sendto(bytes(100), (FAR_ADDRESS, PORT))


def count_red_packets(lab: Lab) -> int:
    """Returns how many packets were red."""
    return int(read_status(lab)["counters"]["colours"]["red"]["packets"])


def test_agent__learns_the_sizes_of_flows_that_ended(lab: Lab, before: dict[str, Any]) -> None:
    flows = Datagrams(lab)
    run_up(lab, LFP)
    wait_until(lambda: read_status(lab)["agent_seen_s"] is not None, 10)
    assert read_published(lab) == [0, 0]
    for port, packets in ((5001, 3), (5002, 3), (5003, 3), (5004, 100)):
        flows.send(port, packets)
    # They have gone silent, so the agent sweeps them: of four sizes, half are 3, and a greater one is known.
    wait_until(lambda: read_table(lab)["entries"] == 0, 10)
    wait_until(lambda: read_published(lab) == [3, 1], 10)
    reds = count_red_packets(lab)
    flows.send(5005, 8)
    assert count_red_packets(lab) == reds + 3
    # One that sends again after a moment's silence has ended too; sweeps, once a second, miss most of these.
    for _ in range(12):
        flows.send(5006, 40)
        time.sleep(0.1)
    wait_until(lambda: read_published(lab) == [40, 1], 10)
    reds = count_red_packets(lab)
    flows.send(5007, 8)
    assert count_red_packets(lab) == reds
    assert read_status(lab)["problems"] == []

    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    wait_until(lambda: find_agents(lab) == [], 10)
    assert_restored(lab, before)
    flows.sink.close()
