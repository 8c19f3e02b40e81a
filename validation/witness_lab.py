"""One run of real TCP over real veth and TBF, inside three network namespaces that nobody else can see.

    sender 10.9.1.1 ── veth ── router ── veth, TBF at the router's end ── receiver 10.9.2.2
       └──────────────── TUN ◄── delay line (the whole base round-trip time) ── TUN ──┘   acknowledgements

The namespaces have no name: they are held by this process alone, and the kernel removes them, their devices
and routes with it however it ends, SIGKILL included. Its first act is to leave the namespace it was started
in, which it has no descriptor of: no command here can reach another interface. The parent's death kills it,
an alarm bounds it.

Run as `witness_lab.py CASE_JSON`; prints the measurement as one line of JSON.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import re
import selectors
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

CLONE_NEWNET = 0x4000_0000
PR_SET_PDEATHSIG = 1
TUNSETIFF = 0x4004_54CA
IFF_TUN_NO_PI = 0x1001

RECEIVER = "10.9.2.2"
PORT = 5201
ETHERNET = 14
FULL_FRAME = 1500 + ETHERNET
BURST_FRAMES = 2
SAMPLE_S = 0.005
SOCKET_BUFFER = 8_000_000
SPARE_S = 8
BLOCK = bytes(65_536)
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Case:
    """What is measured: congestion control, flows, link (rate in bit/s, limit in full frames) and times."""

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
        """Length of a run without its set-up."""
        return self.warmup_s + self.window_s


@dataclass
class Measured:
    """One run: payload at the receiver, TBF's backlog sampled, its drops, and how good the delay was."""

    goodput_bps: float = 0.0
    queue_packets: float = 0.0
    drops: int = 0
    samples: int = 0
    frame_bytes: float = 0.0
    delay: dict[str, float] = field(default_factory=dict)


def die_with_parent() -> None:
    """Asks the kernel to kill this process as soon as its parent is gone."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def checked(result: int, what: str) -> None:
    """Raises an error if a C call failed, because continuing in the wrong namespace must be impossible."""
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


class Namespace:
    """A new network namespace, held open by a descriptor."""

    def __init__(self) -> None:
        checked(LIBC.unshare(CLONE_NEWNET), "unshare(CLONE_NEWNET)")
        self.fd = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.path = f"/proc/{os.getpid()}/fd/{self.fd}"
        self.ip("link set lo up")
        self.settings(SETTINGS)

    def __enter__(self) -> Namespace:
        checked(LIBC.setns(self.fd, CLONE_NEWNET), "setns")
        return self

    def __exit__(self, *_: object) -> None:
        """Stays in this namespace until another is entered; there is no way back to the first one."""

    def settings(self, values: dict[str, str]) -> None:
        """Writes files below /proc/sys/net, which shows each process its own namespace."""
        with self:
            for name, value in values.items():
                for file in Path("/proc/sys/net").glob(name):
                    file.write_text(value)

    def ip(self, arguments: str) -> None:
        """Runs `ip` in this namespace."""
        self.command("ip " + arguments)

    def command(self, line: str) -> None:
        """Runs a command in this namespace; an error ends the run with its message."""
        with self:
            done = subprocess.run(line.split(), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{line}: {done.stderr.strip() or done.stdout.strip()}")

    def tun(self, name: str) -> int:
        """Creates a TUN device in this namespace. Returns it as a descriptor that children inherit."""
        with self:
            fd = os.open("/dev/net/tun", os.O_RDWR)
            fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN_NO_PI))
        os.set_inheritable(fd, True)
        self.ip(f"link set {name} up")
        return fd


# Of the new namespaces only. The windows are wide enough never to limit; the rest is Linux's default.
SETTINGS = {
    "ipv4/ip_forward": "1",
    "ipv4/conf/*/rp_filter": "0",
    "ipv6/conf/*/disable_ipv6": "1",
    "ipv4/tcp_rmem": f"4096 {SOCKET_BUFFER} {SOCKET_BUFFER}",
    "ipv4/tcp_wmem": f"4096 {SOCKET_BUFFER} {SOCKET_BUFFER}",
    "ipv4/tcp_no_metrics_save": "1",
}


class Lab:
    """The three namespaces, wired; with a TBF at the router's end unless something else is to stand there."""

    def __init__(self, case: Case, *, shaped: bool = True) -> None:
        self.sender, self.router, self.receiver = Namespace(), Namespace(), Namespace()
        self._pair(self.sender, "s0", "10.9.1.1/24", self.router, "r0", "10.9.1.254/24")
        self._pair(self.router, "r1", "10.9.2.254/24", self.receiver, "d0", f"{RECEIVER}/24")
        for end in (self.sender, self.receiver):
            end.settings({"ipv4/tcp_sack": str(int(case.sack))})
        self.sender.ip("route add default via 10.9.1.254")
        self.back_in, self.back_out = self.receiver.tun("back0"), self.sender.tun("back1")
        self.receiver.ip("route add 10.9.1.0/24 dev back0")
        if shaped:
            self.router.command(
                f"tc qdisc add dev r1 root tbf rate {case.rate_bps}bit burst {BURST_FRAMES * FULL_FRAME} "
                f"limit {case.limit_packets * FULL_FRAME}"
            )

    def _pair(self, a: Namespace, dev_a: str, ip_a: str, b: Namespace, dev_b: str, ip_b: str) -> None:
        a.ip(f"link add {dev_a} type veth peer name {dev_b} netns {b.path}")
        for end, dev, address in ((a, dev_a, ip_a), (b, dev_b, ip_b)):
            end.command(f"ethtool -K {dev} tx off rx off sg off tso off gso off gro off")
            end.ip(f"link set {dev} gso_max_segs 1")
            end.ip(f"addr add {address} dev {dev}")
            end.ip(f"link set {dev} up")

    @contextlib.contextmanager
    def delay_line(self, case: Case, report: dict[str, float]) -> Iterator[None]:
        """Delays the acknowledgements while the context lasts; `report` gets its lateness."""
        program = str(Path(__file__).with_name("witness_delay.py"))
        command = [sys.executable, program, str(self.back_in), str(self.back_out), str(case.rtt_s)]
        line = subprocess.Popen(
            command,
            pass_fds=(self.back_in, self.back_out),
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=die_with_parent,
        )
        try:
            yield
        finally:
            line.terminate()
            report.update(json.loads(line.communicate(timeout=5)[0]))


class QueueSampler:
    """TBF's counters, read through one `tc` that stays open."""

    def __init__(self, router: Namespace) -> None:
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
        """Reads the counters."""
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
        """Ends `tc`."""
        self.tc.kill()
        self.tc.communicate()


@dataclass(frozen=True)
class Counters:
    """What `tc -s qdisc show` says of one queue."""

    sent_bytes: int
    sent_packets: int
    dropped: int
    backlog_packets: int

    @staticmethod
    def parse(text: str) -> Counters:
        """Counters from tc's text."""
        found = re.search(
            r"Sent (\d+) bytes (\d+) pkt \(dropped (\d+),.*?backlog \S+ (\d+)p", text, re.DOTALL
        )
        if not found:
            raise ValueError(f"tc: no counters in {text!r}")
        return Counters(*map(int, found.groups()))


class Flows:
    """Bulk senders and receivers, all in this process, their sockets in two namespaces."""

    def __init__(self, lab: Lab, case: Case) -> None:
        self.lab, self.case = lab, case
        self.selector = selectors.DefaultSelector()
        self.received = 0
        self.sockets: list[socket.socket] = []
        with lab.receiver:
            self.listener = socket.create_server((RECEIVER, PORT))
        self.sockets.append(self.listener)

    def start_one(self) -> None:
        """Opens a connection, which sends until the end."""
        with self.lab.sender:
            out = socket.socket()
            out.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.case.congestion.encode())
            out.settimeout(5)
            out.connect((RECEIVER, PORT))
        far, _ = self.listener.accept()
        for end, event in ((out, selectors.EVENT_WRITE), (far, selectors.EVENT_READ)):
            end.setblocking(False)
            self.selector.register(end, event)
            self.sockets.append(end)

    def step(self, most_s: float) -> None:
        """Reads and write what is possible, after waiting at most `most_s`."""
        for key, event in self.selector.select(max(0.0, most_s)):
            end = key.fileobj
            if not isinstance(end, socket.socket):
                continue
            with contextlib.suppress(BlockingIOError):
                if event == selectors.EVENT_READ:
                    self.received += len(end.recv(1 << 20))
                else:
                    end.send(BLOCK)

    def close(self) -> None:
        """Closes every socket."""
        for end in self.sockets:
            end.close()
        self.selector.close()


def measure(case: Case) -> Measured:
    """Builds the laboratory, runs the case and removes the laboratory."""
    lab = Lab(case)
    delay: dict[str, float] = {}
    with lab.delay_line(case, delay):
        flows, sampler = Flows(lab, case), QueueSampler(lab.router)
        try:
            result = play(case, flows, sampler)
        finally:
            sampler.close()
            flows.close()
    result.delay = delay
    return result


def play(case: Case, flows: Flows, sampler: QueueSampler) -> Measured:
    """Starts the flows, waits until they are established, and measures."""
    begin = time.monotonic()
    for index in range(case.flows):
        pump(flows, begin + case.spread_s * index / case.flows)
        flows.start_one()
    pump(flows, begin + case.warmup_s)
    opened, first, received = time.monotonic(), sampler.read(), flows.received
    backlogs: list[int] = []
    while time.monotonic() < opened + case.window_s:
        pump(flows, opened + SAMPLE_S * (len(backlogs) + 1))
        backlogs.append(sampler.read().backlog_packets)
    last, closed = sampler.read(), time.monotonic()
    return Measured(
        goodput_bps=(flows.received - received) * 8 / (closed - opened),
        queue_packets=sum(backlogs) / len(backlogs),
        drops=last.dropped - first.dropped,
        samples=len(backlogs),
        frame_bytes=(last.sent_bytes - first.sent_bytes) / (last.sent_packets - first.sent_packets),
    )


def pump(flows: Flows, until: float) -> None:
    """Serves the sockets until a moment of the monotonic clock."""
    while (left := until - time.monotonic()) > 0:
        flows.step(left)


def main() -> int:
    """Runs one case, given as JSON."""
    die_with_parent()
    case = Case(**json.loads(sys.argv[1]))
    signal.alarm(int(case.seconds) + SPARE_S)
    print(json.dumps(asdict(measure(case))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
