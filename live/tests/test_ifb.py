"""Downloads that are redirected to an IFB: long flows arrive marked at the hosts behind the router."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterator

import pytest

from live.tests.support import (
    DEVICE,
    FAR,
    FAR_ADDRESS,
    FLOWS,
    NEAR,
    NEAR_ADDRESS,
    UP,
    assert_refused,
    assert_restored,
    read_status,
)
from validation.lab.live import Lab, require_program, transfer

HOME, HOME_ADDRESS, ROUTER_ADDRESS = "home", "10.8.0.2", "10.8.0.1"
IFB = "ifb0"
MADE = f"ifb-{DEVICE}"
LE = 1
LONG, SHORT = 300_000, 5_000
LONG_PORT, SHORT_PORT = 7301, 7302
THRESHOLD = 30_000


@pytest.fixture
def router(lab: Lab) -> Lab:
    """Makes the near end a router for a host behind it. Returns the lab."""
    lab.add(HOME)
    lab.pair(NEAR, "home0", f"{ROUTER_ADDRESS}/24", HOME, "eth0", f"{HOME_ADDRESS}/24")
    lab.run(NEAR, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")
    lab.run(HOME, "ip", "route", "add", "default", "via", ROUTER_ADDRESS)
    lab.run(FAR, "ip", "route", "add", "default", "via", NEAR_ADDRESS)
    return lab


def redirect_to_ifb(lab: Lab) -> None:
    """Redirects incoming packets of the device to an IFB, as SQM does."""
    lab.run(NEAR, "ip", "link", "add", IFB, "type", "ifb")
    lab.run(NEAR, "ip", "link", "set", IFB, "up")
    lab.run(NEAR, "tc", "qdisc", "add", "dev", DEVICE, "clsact")
    # Kernels without matchall have u32, as SQM uses it.
    words = f"tc filter add dev {DEVICE} ingress protocol all prio 10 u32 match u32 0 0"
    lab.run(NEAR, *words.split(), "action", "mirred", "egress", "redirect", "dev", IFB)


class Arrivals:
    """Counts bytes that arrive at the host, by the sender's port and the DSCP."""

    def __init__(self, lab: Lab) -> None:
        self.bytes: dict[int, dict[int, int]] = {}
        with lab.inside(HOME):
            self.wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.wire.bind(("eth0", 0x0800))
        self.wire.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)  # SO_RCVBUFFORCE
        self.wire.settimeout(0.2)

    def count_arrivals(self) -> None:
        """Adds the bytes that have arrived from the far end, by port and DSCP, until none comes for 0.2 s.

        To be called after the sender has stopped.
        """
        with contextlib.suppress(TimeoutError):
            while True:
                packet, (*_, kind, _, _) = self.wire.recvfrom(64)
                if kind != socket.PACKET_HOST or packet[26:30] != socket.inet_aton(FAR_ADDRESS):
                    continue
                (length,), (port,) = (
                    struct.unpack_from(">H", packet, 16),
                    struct.unpack_from(">H", packet, 34),
                )
                by_mark = self.bytes.setdefault(port, {})
                by_mark[packet[15] >> 2] = by_mark.get(packet[15] >> 2, 0) + length


@pytest.fixture
def arrivals(router: Lab) -> Iterator[Arrivals]:
    """Counts arrivals at the host behind the router."""
    made = Arrivals(router)
    yield made
    made.wire.close()


def fetch_both(lab: Lab, arrivals: Arrivals) -> dict[int, dict[int, int]]:
    """Downloads a long and a short flow.

    Returns the IP bytes that arrived, by port and DSCP, of these two only.
    """
    arrivals.bytes = {}
    for port, size in ((LONG_PORT, LONG), (SHORT_PORT, SHORT)):
        transfer(lab, FAR, HOME, FAR_ADDRESS, size, port)
    arrivals.count_arrivals()
    return arrivals.bytes


def test_ifb__marks_the_long_flows_of_downloads(router: Lab, arrivals: Arrivals) -> None:
    lab = router
    redirect_to_ifb(lab)
    before = lab.state(NEAR, DEVICE, IFB)
    words = ("--via", "dscp", "--marker", f"sfd(th={THRESHOLD}B)", "--user", "destination")
    done = lab.live(NEAR, "mark", IFB, *words, "--flows", str(FLOWS))
    assert done.returncode == 0, done.stderr
    assert "long flows get DSCP 1" in done.stdout
    seen = fetch_both(lab, arrivals)
    assert set(seen[SHORT_PORT]) == {0}
    assert set(seen[LONG_PORT]) == {0, LE}
    assert seen[LONG_PORT][0] <= THRESHOLD
    assert seen[LONG_PORT][LE] >= LONG - THRESHOLD
    device = read_status(lab)
    assert (device["device"], device["problems"]) == (IFB, [])
    # Of a super-packet, each packet's headers are counted.
    counted = device["counters"]["colours"]["yellow"]["bytes"]
    assert seen[LONG_PORT][LE] <= counted <= 1.05 * seen[LONG_PORT][LE]
    assert lab.live(NEAR, "down", IFB).returncode == 0
    assert lab.state(NEAR, DEVICE, IFB) == before
    assert_restored(lab, lab.state(NEAR, DEVICE))
    assert {mark for marks in fetch_both(lab, arrivals).values() for mark in marks} == {0}


def test_download__makes_the_redirection_and_takes_it_back(router: Lab, arrivals: Arrivals) -> None:
    lab = router
    before = lab.state(NEAR, DEVICE)
    links = lab.run(NEAR, "ip", "-br", "link")
    words = ("--download", "--via", "dscp", "--marker", f"sfd(th={THRESHOLD}B)", "--flows", str(FLOWS))
    done = lab.live(NEAR, "mark", DEVICE, *words)
    assert done.returncode == 0, done.stderr
    seen = fetch_both(lab, arrivals)
    assert set(seen[SHORT_PORT]) == {0}
    assert seen[LONG_PORT][LE] >= LONG - THRESHOLD
    device = read_status(lab)
    assert (device["device"], device["problems"]) == (MADE, [])
    assert "in use since" in lab.live(NEAR, "mark", DEVICE, *words).stderr
    assert set(fetch_both(lab, arrivals)[LONG_PORT]) == {0, LE}, "the refusal left what runs"
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)
    assert lab.run(NEAR, "ip", "-br", "link") == links
    assert {mark for marks in fetch_both(lab, arrivals).values() for mark in marks} == {0}


def test_download__shapes_what_comes_in(router: Lab) -> None:
    lab = router
    before = lab.state(NEAR, DEVICE)
    line = (
        "up",
        DEVICE,
        "--download",
        "--rate",
        "4mbit",
        "--scheme",
        "rio-ps",
        "--no-agent",
        "--flows",
        str(FLOWS),
    )
    said = lab.live(NEAR, *line, "--dry-run")
    assert said.returncode == 0, said.stderr
    assert f"redirect dev {MADE}" in said.stdout
    assert lab.state(NEAR, DEVICE) == before
    assert lab.live(NEAR, *line).returncode == 0
    begin = time.monotonic()
    transfer(lab, FAR, HOME, FAR_ADDRESS, 1_000_000, LONG_PORT)
    seconds = time.monotonic() - begin
    assert 8e6 / seconds < 4.2e6
    assert lab.live(NEAR, "down", "--all").returncode == 0
    assert_restored(lab, before)
    assert MADE not in lab.run(NEAR, "ip", "-br", "link")


def test_download__is_refused_whole_or_cleared_after_a_kill(router: Lab) -> None:
    lab = router
    before = lab.state(NEAR, DEVICE)
    done = lab.live(NEAR, "mark", DEVICE, "--download")
    assert_refused(done, "--rate is missing; downloads wait in a CAKE")
    has_cake = lab.call(NEAR, *["tc", "qdisc", "add", "dev", "lo", "root", "cake"]).returncode == 0
    done = lab.live(NEAR, "mark", DEVICE, "--download", "--rate", "19mbit")
    assert (done.returncode == 0) == has_cake, done.stderr
    assert has_cake or "the kernel has no cake" in done.stderr
    lab.live(NEAR, "down", DEVICE)
    assert_restored(lab, before)
    assert MADE not in lab.run(NEAR, "ip", "-br", "link")
    for seconds in (0.01, 0.03, 0.06, 0.1):
        process = lab.start(
            NEAR, require_program(), "up", DEVICE, "--download", "--rate", "4mbit", "--no-agent"
        )
        time.sleep(seconds)
        process.kill()
        process.communicate()
        lab.live(NEAR, "down", DEVICE)
        assert lab.state(NEAR, DEVICE) == before
        assert MADE not in lab.run(NEAR, "ip", "-br", "link")
    redirect_to_ifb(lab)
    done = lab.live(NEAR, "mark", DEVICE, "--download", "--via", "dscp")
    assert_refused(done, f"what comes in at {DEVICE} goes to {IFB} already")
    assert_refused(lab.live(NEAR, "host", DEVICE, "--download"), "--download is no option of `host`")


def test_shared_block__is_named_and_in_the_way(router: Lab) -> None:
    lab = router
    lab.run(NEAR, "ip", "link", "add", IFB, "type", "ifb")
    lab.run(NEAR, "ip", "link", "set", IFB, "up")
    lab.run(NEAR, *f"tc qdisc add dev {DEVICE} ingress_block 7 egress_block 8 clsact".split())
    before = lab.state(NEAR, DEVICE, IFB)
    assert_refused(lab.live(NEAR, *UP, "--download"), f"comes in at {DEVICE} is filtered by block 7")
    assert_refused(lab.live(NEAR, *UP, "--attach", "clsact"), f"goes out of {DEVICE} is filtered by block 8")
    assert lab.state(NEAR, DEVICE, IFB) == before
    words = "tc filter add block 7 protocol all prio 10 u32 match u32 0 0 action mirred egress redirect dev"
    lab.run(NEAR, *words.split(), IFB)
    printed = lab.live(NEAR, "check", DEVICE).stdout
    assert f"what comes in at {DEVICE} is filtered by block 7" in printed
    assert f"what comes in at {DEVICE} is redirected to {IFB}" in printed
    assert_refused(lab.live(NEAR, *UP, "--download"), f"what comes in at {DEVICE} goes to {IFB} already")
