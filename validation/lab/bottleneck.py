"""A link with real TCP over real veth and TBF, inside three network namespaces that nobody else can see.

sender 10.9.1.1 ── veth ── router ── veth, TBF at the router's end ── receiver 10.9.2.2
   └──────────────── TUN ◄── delay line (the whole base round-trip time) ── TUN ──┘   acknowledgements
"""

from __future__ import annotations

import contextlib
import re
import subprocess
from dataclasses import dataclass

from validation.lab.hosts import CLIENT as RECEIVER
from validation.lab.hosts import SERVER as SENDER
from validation.lab.namespaces import Namespace, die_with_parent, run_network

ETHERNET = 14
FULL_FRAME = 1500 + ETHERNET
BURST_FRAMES = 2


@dataclass(frozen=True)
class Case:
    """A case: congestion control, flows, link (rate in bit/s, limit in full frames) and times."""

    congestion: str
    flows: int
    sack: bool = True
    rate_bps: int = 10_000_000
    limit_packets: int = 50
    rtt_s: float = 0.04
    spread_s: float = 0.4
    warmup_s: float = 5.0
    window_s: float = 14.0

    @property
    def seconds(self) -> float:
        """Returns the length of a run without its set-up, s."""
        return self.warmup_s + self.window_s


class Lab:
    """The three connected namespaces; with `shaped`, a TBF is installed at the router's end."""

    def __init__(self, case: Case, *, shaped: bool = True) -> None:
        """Creates the namespaces, devices and routes of a case, and its token bucket if `shaped`.

        The calling thread leaves its own namespace. Needs the rights of root; raises `OSError` or
        `RuntimeError` without them.
        """
        self.sender, self.router, self.receiver = Namespace(), Namespace(), Namespace()
        self._pair(self.sender, "s0", f"{SENDER}/24", self.router, "r0", "10.9.1.254/24")
        self._pair(self.router, "r1", "10.9.2.254/24", self.receiver, "d0", f"{RECEIVER}/24")
        for end in (self.sender, self.receiver):
            end.write_settings({"ipv4/tcp_sack": str(int(case.sack))})
        self.sender.ip("route add default via 10.9.1.254")
        self.back_in, self.back_out = self.receiver.add_tun("back0"), self.sender.add_tun("back1")
        self.receiver.ip("route add 10.9.1.0/24 dev back0")
        if shaped:
            self.router.command(
                f"tc qdisc add dev r1 root tbf rate {case.rate_bps}bit burst {BURST_FRAMES * FULL_FRAME} "
                f"limit {case.limit_packets * FULL_FRAME}"
            )

    def _pair(self, a: Namespace, dev_a: str, ip_a: str, b: Namespace, dev_b: str, ip_b: str) -> None:
        """Joins two namespaces by a veth pair with addresses, without offloads.

        Raises `RuntimeError` if a command fails.
        """
        a.ip(f"link add {dev_a} type veth peer name {dev_b} netns {b.path}")
        for end, dev, address in ((a, dev_a, ip_a), (b, dev_b, ip_b)):
            end.command(f"ethtool -K {dev} tx off rx off sg off tso off gso off gro off")
            end.ip(f"link set {dev} gso_max_segs 1")
            end.ip(f"addr add {address} dev {dev}")
            end.ip(f"link set {dev} up")

    def delay_line(self, case: Case, report: dict[str, object]) -> contextlib.AbstractContextManager[None]:
        """Returns a context manager that delays the acknowledgements during its block.

        At its end `report` is filled with the number of packets, those lost, and their lateness in µs.
        """
        return run_network("delay", (self.back_in, self.back_out), [str(case.rtt_s)], report)


class QueueSampler:
    """A reader of TBF's counters, through one `tc` process that stays open."""

    def __init__(self, router: Namespace) -> None:
        """Starts `tc` in the router's namespace, which the calling thread enters."""
        with router:
            self.tc = subprocess.Popen(
                ["tc", "-s", "-batch", "-"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
                preexec_fn=die_with_parent,
            )

    def read(self) -> Counters:
        """Returns the counters of the queue at the router's end; raises `RuntimeError` if `tc` has ended."""
        if not self.tc.stdin or not self.tc.stdout:
            raise RuntimeError("tc has no pipes")
        self.tc.stdin.write("qdisc show dev r1\n")
        self.tc.stdin.flush()
        text = ""
        while "backlog" not in text:
            line = self.tc.stdout.readline()
            if not line:
                raise RuntimeError("tc ended early")
            text += line
        return Counters.parse(text)

    def close(self) -> None:
        """Ends `tc`; nothing can be read after it."""
        self.tc.kill()
        self.tc.communicate()


@dataclass(frozen=True)
class Counters:
    """The counters of one queue, as `tc -s qdisc show` prints them."""

    sent_bytes: int
    sent_packets: int
    dropped: int
    backlog_packets: int

    @staticmethod
    def parse(text: str) -> Counters:
        """Returns the counters in the text of tc; raises `ValueError` if it has none."""
        found = re.search(
            r"Sent (\d+) bytes (\d+) pkt \(dropped (\d+),.*?backlog \S+ (\d+)p", text, re.DOTALL
        )
        if not found:
            raise ValueError(f"tc: no counters in {text!r}")
        return Counters(*map(int, found.groups()))
