"""What runs in a guest of `make validation WHAT=kernels`: checks, and flows through its queues.

    server ── veth ── router ── veth, the queue at the router's end ── client
       └───────────── veth ◄── netem, the whole round-trip time ──────────┘   requests, ACKs

Run as `python -m validation.kernels_guest FILE`, which holds a task as JSON; prints a line for each result.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import shlex
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from validation.kernels_costs import make_frames, measure_costs
from validation.kernels_image import COMPILER, REPORT
from validation.lab.bottleneck import Case, Lab
from validation.lab.hosts import CLIENT as RECEIVER
from validation.lab.hosts import SERVER, Hosts, Transfer
from validation.lab.namespaces import BPF_ROOT, Namespace
from validation.lab.scheme_run import BEGIN_S, Task, play
from validation.lab.streams import Stream, Streams
from validation.shaping import measure_user_rates

LIVE = "mousehole-live"
DEVICE, UPSTREAM = "r1", "r0"
THRESHOLD, SIZE = 30_000, 200_000
LE = 1
# How long shaped connections are measured.
SHAPED_S = 4.0
RATE = "10mbit"
# What is beyond the threshold: headers add to it, and so do packets that are sent again.
BEYOND = range(SIZE - THRESHOLD - 10_000, SIZE - THRESHOLD + 40_000)
# How many packets each native queue is compared with.
PARITY_PACKETS = 250_000
SCHEMES = [
    *("droptail", "red", "sfd(th=30kB)|red", "p-sfd", "s-sfd", "rio-ps", "shred", "lfp", "pias"),
]
# The header of docs/own-policy.md, as it lies in /own.
OWN = "least-attained.h"
# Schemes whose queues are queue disciplines of their own.
NATIVE_SCHEMES = (
    *("pias", "lfp", "rio-ps|priority(shared=false)", "fq-codel(ecn=false)", "codel(ecn=false)"),
    *("fq-codel", "dualpi2"),
)
# The check that a guest with two CPUs makes, too.
SHARED_CHECK = "native queue between CPUs"
# Bursts at native queues: payload of a packet in bytes, and the rate at which they leave.
BURST_PAYLOAD, BURST_RATE = 1000, "5mbit"
NOT_ECT, ECT_1, ECT_0, CE = range(4)
# The DS field of a packet of a flow that builds no queue (RFC 9956).
NQB = 45 << 2
# Addresses of sender, router (twice) and client, beside those of IPv4.
IPV6 = (("s0", "fd00:1::1"), ("r0", "fd00:1::2"), ("r1", "fd00:2::2"), ("d0", "fd00:2::1"))


def mark_command(marker: str) -> str:
    """Returns the command that installs a marker before the device's queue."""
    return f"{LIVE} mark {DEVICE} --marker {marker} --no-agent --flows 4096"


MARK = mark_command("sfd(th=30kB)")


class Plan(TypedDict):
    """The installation of a scheme: lines of tc and `mousehole-live`, and the rate of CAKE.

    The lines name the device DEV, which is replaced by the guest's.
    """

    name: str
    lines: list[str]
    rate_bps: int


def report(value: Any) -> None:
    """Writes one JSON value to standard output as a line for the host, after the prefix `REPORT`."""
    print(f"{REPORT}{json.dumps(value)}", flush=True)


class GuestLab(Lab):
    """The lab whose delay is netem's, which this kernel has."""

    def __init__(self, rtt_s: float = 0.04) -> None:
        """Makes the lab, with netem as the delay of the way back.

        The delay, `rtt_s` seconds, is of requests and acknowledgements. Needs the rights of root.
        """
        super().__init__(Case("cubic", 0, rtt_s=rtt_s), shaped=False)
        self._pair(self.receiver, "b0", "10.9.3.1/24", self.sender, "b1", "10.9.3.2/24")
        self.receiver.command(f"tc qdisc add dev b0 root netem delay {rtt_s * 1e3:g}ms limit 100000")
        self.receiver.ip("route replace 10.9.1.0/24 via 10.9.3.2 dev b0")
        for end in (self.sender, self.receiver):
            end.write_settings({"ipv4/tcp_max_syn_backlog": "4096", "ipv4/conf/*/rp_filter": "0"})


def call(net: AbstractContextManager[object], line: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a namespace until it ends, and returns its result.

    A failure is no exception; the result has the exit status. The thread stays in the namespace.
    """
    with net:
        return subprocess.run(shlex.split(line), capture_output=True, text=True, check=False)


def output(net: AbstractContextManager[object], line: str) -> str:
    """Runs a command in a namespace and returns its standard output; raises `RuntimeError` if it fails."""
    done = call(net, line)
    if done.returncode:
        raise RuntimeError(f"{line}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def read_state(net: Namespace, *devices: str) -> dict[str, Any]:
    """Returns pins, the number of BPF programs, and the queues and filters of devices, for comparison.

    The namespace stays as it is. Raises `RuntimeError` if tc lists no queue of a device.
    """
    said: dict[str, Any] = {"pinned": sorted(str(path) for path in BPF_ROOT.rglob("*") if path.is_file())}
    said["programs"] = len(json.loads(output(net, "bpftool -j prog show") or "[]"))
    for device in devices:
        kinds = ["qdisc show dev", "class show dev", "filter show egress dev", "filter show ingress dev"]
        lines = "".join(f"{kind} {device}\n" for kind in kinds)
        with net:
            shown = subprocess.run(
                ["tc", "-force", "-batch", "-"], input=lines, capture_output=True, text=True
            )
        # CAKE and FQ-CoDel list a class for each flow that they know.
        kept = [line for line in shown.stdout.splitlines() if not re.match("class (cake|fq_codel)", line)]
        expect(any(line.startswith("qdisc") for line in kept), f"tc shows no qdisc: {shown.stderr}")
        said[device] = kept
    return said


def find_leftovers(net: Namespace, before: dict[str, Any], *devices: str) -> str | None:
    """Returns the differences from an earlier state, or None once there are none.

    Waits up to 5 s, since the kernel frees programs a moment after their last use.
    """
    deadline = time.monotonic() + 5
    while (now := read_state(net, *devices)) != before:
        if time.monotonic() > deadline:
            return "; ".join(
                f"{name}: {before[name]} became {now[name]}" for name in now if now[name] != before[name]
            )
        time.sleep(0.1)
    return None


def transfer(lab: Lab, number: int, size: int = SIZE) -> float:
    """Makes one TCP transfer of `size` bytes through the router by CUBIC, and returns its time, s.

    It goes from the sender to the receiver. Raises `RuntimeError` after 30 s.
    """
    hosts = Hosts(lab.sender, lab.receiver, "cubic")
    one = Transfer(number, [size], 0.0)
    hosts.start(one)
    deadline = time.monotonic() + 30
    while number not in hosts.ended_s:
        if time.monotonic() > deadline:
            raise RuntimeError(f"a transfer of {size} bytes had {one.received} after 30 s")
        hosts.step(0.05)
    for end in hosts.kept:
        end.close()
    hosts.listener.close()
    return hosts.ended_s[number] - hosts.opened_s[number]


@dataclass(frozen=True)
class Seen:
    """A data packet that arrived at the client: its DS field, IPv4 checksum and payload."""

    tos: int
    is_sound: bool
    payload: int


class Wire:
    """A recorder of the data packets that arrive at the client's device."""

    def __init__(self, net: Namespace, device: str) -> None:
        """Begins to record at a device of a namespace; needs the rights of root."""
        with net:
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
        self.socket.setsockopt(socket.SOL_SOCKET, 33, 1 << 25)  # SO_RCVBUFFORCE
        self.socket.bind((device, 0x0800))
        self.socket.setblocking(False)

    def take(self) -> list[Seen]:
        """Returns the data packets that have arrived since the start, in order, and closes the recorder.

        Only IPv4 TCP packets from the server with payload count. It is called once.
        """
        seen = []
        with contextlib.suppress(BlockingIOError):
            while True:
                frame = self.socket.recv(65_536)
                packet = frame[14:]
                length, source = 4 * (packet[0] & 15), socket.inet_ntoa(packet[12:16])
                total = struct.unpack_from(">H", packet, 2)[0]
                payload = total - length - 4 * (packet[length + 12] >> 4)
                if packet[9] == socket.IPPROTO_TCP and source == SERVER and payload > 0:
                    words = sum(struct.unpack(f">{length // 2}H", packet[:length]))
                    folded = (words & 0xFFFF) + (words >> 16)
                    seen.append(Seen(packet[1], (folded & 0xFFFF) + (folded >> 16) == 0xFFFF, payload))
        self.socket.close()
        return seen


def read_bulk_bytes(net: Namespace, device: str) -> int:
    """Returns the bytes that CAKE's Bulk tin, the first that `tc` lists, has sent.

    Raises `RuntimeError` if tc fails, `KeyError` without a CAKE.
    """
    shown = json.loads(output(net, f"tc -s -j qdisc show dev {device} root"))
    return int(shown[0]["tins"][0]["sent_bytes"])


def read_class_bytes(net: Namespace, device: str, name: str) -> int:
    """Returns the bytes that a class of HTB has sent; raises `RuntimeError` if there is none."""
    text = output(net, f"tc -s class show dev {device}")
    found = re.search(rf"class htb {name} .*?Sent (\d+) bytes", text, re.DOTALL)
    if not found:
        raise RuntimeError(f"no class {name} in {text!r}")
    return int(found[1])


def read_attachment(net: Namespace) -> str:
    """Returns how the only program in a namespace is attached, by `status`.

    Raises `RuntimeError` if it is not running, `ValueError` if there are several devices or none.
    """
    (status,) = json.loads(output(net, f"{LIVE} status --json"))["devices"]
    if status["state"] != "running":
        raise RuntimeError(f"status says {status['state']}: {status['problems']}")
    return str(status["attachment"])


def expect(holds: bool, seen: str) -> str:
    """Returns the observation `seen`; raises it as a `RuntimeError` if the condition does not hold."""
    if not holds:
        raise RuntimeError(seen)
    return seen


def check_marker(lab: GuestLab, line: str, measure: Callable[[], int], *devices: str) -> str:
    """Checks that a marker diverts bytes beyond its threshold, and that none are diverted without it.

    Returns the observation. `line` installs the marker at the first of `devices`, by default `DEVICE`, and
    `measure` reads the bytes diverted so far. Makes three transfers: before, with and after the marker.
    Raises `RuntimeError` if the bytes are wrong, or if `down` does not restore the former state of all
    `devices`.
    """
    device, *others = devices or (DEVICE,)
    before = read_state(lab.router, device, *others)
    transfer(lab, 1)
    without = measure()
    output(lab.router, line)
    transfer(lab, 2)
    with_it = measure() - without
    output(lab.router, f"{LIVE} down {device}")
    left = find_leftovers(lab.router, before, device, *others)
    transfer(lab, 3)
    after = measure() - without - with_it
    seen = (
        f"of {SIZE} bytes beyond 30 kB: {without} without the marker, {with_it} with it, {after} after down"
    )
    expect(left is None, f"{seen}; down left {left}")
    return expect(without == 0 and with_it in BEYOND and after == 0, seen)


def check_attached(lab: GuestLab, wanted: str) -> str:
    """Checks how the program is attached, by `status` and by the kernel's list of filters.

    Returns the observation; raises `RuntimeError` if it is attached in another way than `wanted`, or if
    `down` leaves something. Installs a CAKE, which stays, and the marker, which it removes.
    """
    output(lab.router, f"tc qdisc add dev {DEVICE} root cake bandwidth {RATE} diffserv4")
    before = read_state(lab.router, DEVICE)
    output(lab.router, MARK)
    way = read_attachment(lab.router)
    filters = output(lab.router, f"tc filter show dev {DEVICE} egress")
    output(lab.router, f"{LIVE} down {DEVICE}")
    left = find_leftovers(lab.router, before, DEVICE)
    expect(left is None, f"down left {left}")
    return expect(way == wanted and bool(filters) == (wanted == "clsact"), f"{way}; filters: {filters!r}")


def check_priority(lab: GuestLab, tins: str) -> str:
    """Checks that bytes beyond the threshold go to CAKE's Bulk tin while the packets stay unchanged.

    Returns the observation; raises `RuntimeError` if this does not hold. Installs a CAKE with `tins`, such as
    diffserv4.
    """
    output(lab.router, f"tc qdisc add dev {DEVICE} root cake bandwidth {RATE} {tins}")
    wire = Wire(lab.receiver, "d0")
    seen = check_marker(lab, MARK, lambda: read_bulk_bytes(lab.router, DEVICE))
    packets = wire.take()
    fields = sorted({one.tos for one in packets})
    return expect(len(packets) > 300 and fields == [0], f"{seen}; DS fields on the wire: {fields}")


def check_cake_dscp(lab: GuestLab, tins: str) -> str:
    """Checks that CAKE puts packets with DSCP LE, which the marker writes, into its Bulk tin.

    Returns the observation; raises `RuntimeError` if this does not hold. Installs a CAKE with `tins`, such as
    diffserv4.
    """
    output(lab.router, f"tc qdisc add dev {DEVICE} root cake bandwidth {RATE} {tins}")
    return check_marker(lab, f"{MARK} --via dscp", lambda: read_bulk_bytes(lab.router, DEVICE))


def check_dscp(lab: GuestLab) -> str:
    """Checks that the packets on the wire are LE from the threshold on, with right checksums.

    Returns the observation; raises `RuntimeError` if this does not hold.
    """
    output(lab.router, f"tc qdisc add dev {DEVICE} root fq_codel")
    before = read_state(lab.router, DEVICE)
    output(lab.router, f"{MARK} --via dscp")
    wire = Wire(lab.receiver, "d0")
    transfer(lab, 1)
    packets = wire.take()
    output(lab.router, f"{LIVE} down {DEVICE}")
    left = find_leftovers(lab.router, before, DEVICE)
    expect(left is None, f"down left {left}")
    classes = [one.tos >> 2 for one in packets]
    plain = sum(one.payload for one in packets if one.tos >> 2 == 0)
    wrong = sum(not one.is_sound for one in packets)
    seen = f"{classes.count(0)} packets with CS0 ({plain} bytes), then {classes.count(LE)} with LE, "
    seen += f"{wrong} wrong checksums"
    is_right = classes == sorted(classes) and set(classes) == {0, LE} and wrong == 0
    return expect(is_right and abs(plain - THRESHOLD) < 4_000, seen)


def check_class(lab: GuestLab) -> str:
    """Checks that a class of HTB gets the bytes beyond the threshold.

    Installs HTB. Returns the observation; raises `RuntimeError` if this does not hold.
    """
    for line in (
        f"qdisc add dev {DEVICE} root handle 1: htb default 10",
        f"class add dev {DEVICE} parent 1: classid 1:1 htb rate {RATE}",
        f"class add dev {DEVICE} parent 1:1 classid 1:10 htb rate 9mbit ceil {RATE} prio 0",
        f"class add dev {DEVICE} parent 1:1 classid 1:30 htb rate 1mbit ceil {RATE} prio 1",
    ):
        output(lab.router, f"tc {line}")
    return check_marker(lab, f"{MARK} --classes 1:30", lambda: read_class_bytes(lab.router, DEVICE, "1:30"))


def check_ifb(lab: GuestLab) -> str:
    """Checks downloads: incoming packets are redirected to an IFB with CAKE, where the marker works.

    Makes ifb0. Returns the observation; raises `RuntimeError` if this does not hold.
    """
    lab.router.ip("link add ifb0 type ifb")
    lab.router.ip("link set ifb0 up")
    output(lab.router, f"tc qdisc add dev ifb0 root cake bandwidth {RATE} diffserv4 ingress")
    output(lab.router, f"tc qdisc add dev {UPSTREAM} clsact")
    output(
        lab.router,
        f"tc filter add dev {UPSTREAM} ingress matchall action mirred egress redirect dev ifb0",
    )
    found = [
        one["sentence"]
        for one in json.loads(call(lab.router, f"{LIVE} check {UPSTREAM} --json").stdout)["findings"]
    ]
    expect(
        any("redirected to ifb0" in one for one in found), f"check at {UPSTREAM} does not name ifb0: {found}"
    )
    line = f"{MARK.replace(DEVICE, 'ifb0')} --user destination"
    return check_marker(lab, line, lambda: read_bulk_bytes(lab.router, "ifb0"), "ifb0", UPSTREAM)


def check_up(lab: GuestLab, scheme: str) -> str:
    """Checks that a scheme's program loads, its queue carries traffic, and `down` restores a CAKE.

    Returns the observation; raises `RuntimeError` if one of these does not hold. Installs the CAKE.
    """
    output(lab.router, f"tc qdisc add dev {DEVICE} root handle 5: cake bandwidth 20mbit diffserv3 rtt 50ms")
    before = read_state(lab.router, DEVICE)
    output(
        lab.router,
        f"{LIVE} up {DEVICE} --rate {RATE} --buffer 100p --scheme {scheme} --replace --no-agent --flows 4096",
    )
    root = json.loads(output(lab.router, f"tc -j qdisc show dev {DEVICE} root"))[0]["kind"]
    seconds = transfer(lab, 1, 1_000_000)
    status = read_status(lab.router)
    packets = status["counters"]["kinds"]["ipv4"]["packets"]
    output(lab.router, f"{LIVE} down {DEVICE}")
    left = find_leftovers(lab.router, before, DEVICE)
    expect(left is None, f"down left {left}")
    seen = f"{root}, {packets} packets counted, 1 MB in {seconds:.2f} s"
    # That the agent of rio-ps and lfp is not at work is so by --no-agent.
    problems = [one for one in status["problems"] if not one.startswith("the agent was never at work")]
    # A megabyte takes 0.83 s at the rate that is asked for, and 0.4 s at the CAKE's.
    is_right = root in ("tbf", "htb") and packets > 690 and 0.83 <= seconds < 8 and not problems
    return expect(is_right, f"{seen}; {problems}")


def check_plan(lab: GuestLab, plan: Plan) -> str:
    """Checks that a plan's lines install a CAKE of its rate, and that its marker fills the Bulk tin.

    The lines stay installed. Returns the observation; raises `RuntimeError` if this does not hold.
    """
    for line in plan["lines"]:
        output(lab.router, line.replace("DEV", DEVICE))
    (root,) = json.loads(output(lab.router, f"tc -j qdisc show dev {DEVICE} root"))
    before = read_bulk_bytes(lab.router, DEVICE)
    seconds = transfer(lab, 1, 1_000_000)
    bulk = read_bulk_bytes(lab.router, DEVICE) - before
    rate_bps = 8 * root["options"]["bandwidth"]
    seen = f"{root['kind']} at {rate_bps} bit/s, 1 MB in {seconds:.2f} s, {bulk} bytes in the Bulk tin"
    least_s = 8e6 / plan["rate_bps"]
    is_right = rate_bps == plan["rate_bps"] and least_s < seconds < 4 * least_s and bulk > 900_000
    return expect(is_right and root["kind"] == "cake", seen)


def check_own_queue(lab: GuestLab) -> str:
    """Checks a user's queue header: as any native queue, then persisted and booted without a compiler.

    Returns the observation; raises `RuntimeError` if one of these fails.
    """
    own = f"{OWN.removesuffix('.h')} --policy /own/{OWN}"
    seen = check_native(lab, own)
    output(
        lab.router,
        f"{LIVE} up {DEVICE} --native --rate {RATE} --scheme {own} --replace --no-agent --flows 4096",
    )
    output(lab.router, f"{LIVE} persist {DEVICE}")
    kept = sorted(path.name for path in Path(f"/etc/mousehole/{DEVICE}").iterdir())
    output(lab.router, f"{LIVE} down {DEVICE}")
    with lab.router, hide_compiler():
        done = subprocess.run([LIVE, "boot", DEVICE], capture_output=True, text=True, check=False)
    root = json.loads(output(lab.router, f"tc -j qdisc show dev {DEVICE} root"))[0]["kind"]
    seconds = transfer(lab, 1, 1_000_000)
    output(lab.router, f"{LIVE} down {DEVICE}")
    output(lab.router, f"{LIVE} persist {DEVICE} --remove")
    seen += f"; kept {', '.join(kept)}; booted as {root}, 1 MB in {seconds:.2f} s {done.stderr.strip()}"
    is_kept = {"queue.o", "program.o", OWN} < set(kept)
    return expect(is_kept and done.returncode == 0 and root.startswith("mh_") and 0.83 <= seconds < 8, seen)


@contextlib.contextmanager
def hide_compiler() -> Iterator[None]:
    """Removes the compiler's name from the path during the block.

    `/bin` has it as a symbolic link, which is put back. Raises `OSError` if it is none.
    """
    path = Path("/bin", COMPILER)
    target = path.readlink()
    path.unlink()
    try:
        yield
    finally:
        path.symlink_to(target)


def check_native(lab: GuestLab, scheme: str) -> str:
    """Checks that a scheme's native queue is the device's queue discipline and that `tune` changes it in use.

    Checks too that its counters equal the kernel's, that only one queue of its kind can be installed, and
    that `down` restores a CAKE. Returns the observation; raises `RuntimeError` if one of these does not hold.
    """
    output(lab.router, f"tc qdisc add dev {DEVICE} root handle 5: cake bandwidth 20mbit diffserv3 rtt 50ms")
    before = read_state(lab.router, DEVICE)
    words = f"--native --rate 5mbit --buffer 100p --scheme {scheme} --replace --no-agent --flows 4096"
    output(lab.router, f"{LIVE} up {DEVICE} {words}")
    output(lab.router, f"{LIVE} tune {DEVICE} --rate {RATE}")
    seconds = transfer(lab, 1, 1_000_000)
    time.sleep(0.3)  # 100 packets leave within 0.13 s
    root = json.loads(output(lab.router, f"tc -s -j qdisc show dev {DEVICE} root"))[0]
    status = read_status(lab.router)
    native = status["native"]
    again = call(lab.sender, f"tc qdisc add dev s0 root {root['kind']}")
    output(lab.router, f"{LIVE} down {DEVICE}")
    left = find_leftovers(lab.router, before, DEVICE)
    expect(left is None, f"down left {left}")
    gone = call(lab.sender, f"tc qdisc add dev s0 root {root['kind']}")
    sent = sum(native["sent"])
    seen = f"{root['kind']}, {native['sent']} packets sent by colour, {root['packets']} as tc counts, "
    seen += f"1 MB in {seconds:.2f} s; a second queue of this kind: {again.stderr.strip()}; "
    seen += f"after down: {gone.stderr.strip()}"
    problems = [one for one in status["problems"] if not one.startswith("the agent was never at work")]
    is_counted = sent == root["packets"] > 690 and native["faults"] == 0
    is_right = is_counted and 0.83 <= seconds < 8
    is_alone = again.returncode != 0 and gone.returncode != 0
    return expect(is_right and is_alone and not problems, f"{seen}; {problems}")


def start_native(lab: GuestLab, device: str, scheme: str, rate: str, more: str = "") -> None:
    """Installs a scheme's native queue at a device of the router; raises `RuntimeError` if that fails."""
    words = f"up {device} --native --rate {rate} --buffer 2000p --scheme {scheme} --no-agent --flows 4096"
    output(lab.router, f"{LIVE} {words} {more}")


def read_status(net: Namespace) -> dict[str, Any]:
    """Returns what `status` says of a namespace's only device; raises `ValueError` for another number."""
    (status,) = json.loads(output(net, f"{LIVE} status --json"))["devices"]
    return dict(status)


def add_ipv6(lab: GuestLab) -> None:
    """Gives the sender, the router and the client addresses of IPv6, with a route one way."""
    for net in (lab.sender, lab.router, lab.receiver):
        net.write_settings({"ipv6/conf/*/disable_ipv6": "0"})
    for (device, address), net in zip(IPV6, (lab.sender, lab.router, lab.router, lab.receiver), strict=True):
        net.ip(f"-6 addr replace {address}/64 dev {device} nodad")
    lab.router.write_settings({"ipv6/conf/all/forwarding": "1"})
    lab.sender.ip("-6 route replace fd00:2::/64 via fd00:1::2")


def send_burst(lab: GuestLab, version: int, ecn: int, packets: int) -> list[int]:
    """Sends at most 600 datagrams at once to the client, with this ECN field, by IPv4 or IPv6.

    Returns the ECN fields of those that arrive, in order. Raises `RuntimeError` if one has a wrong checksum
    of IPv4, or if they are not in the order in which they were sent.
    """
    is_4 = version == 4
    family, ethertype = (socket.AF_INET, 0x0800) if is_4 else (socket.AF_INET6, 0x86DD)
    with lab.receiver:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ethertype))
    wire.setsockopt(socket.SOL_SOCKET, 33, 1 << 25)  # SO_RCVBUFFORCE
    wire.bind(("d0", ethertype))
    wire.setblocking(False)
    with lab.sender:
        end = socket.socket(family, socket.SOCK_DGRAM)
    level, option = (socket.IPPROTO_IP, socket.IP_TOS) if is_4 else (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)
    end.setsockopt(level, option, ecn)
    for number in range(packets):
        end.sendto(
            struct.pack(">I", number) + bytes(BURST_PAYLOAD - 4), (RECEIVER if is_4 else IPV6[3][1], 9)
        )
    # The burst leaves within 1 s.
    time.sleep(1.5)
    found, numbers, header = [], [], 20 if is_4 else 40
    with contextlib.suppress(BlockingIOError):
        while True:
            packet = wire.recv(65_536)[14:]
            if len(packet) != header + 8 + BURST_PAYLOAD:
                continue
            if is_4:
                words = sum(struct.unpack(">10H", packet[:20]))
                expect((words & 0xFFFF) + (words >> 16) == 0xFFFF, f"wrong checksum: {packet[:20].hex()}")
            found.append((packet[1] if is_4 else packet[1] >> 4) & 3)
            numbers.append(struct.unpack_from(">I", packet, header + 8)[0])
    wire.close()
    end.close()
    expect(numbers == sorted(set(numbers)), "packets arrive twice or in another order")
    return found


def check_nqb(lab: GuestLab) -> str:
    """Checks that native DualPI2 sends packets with NQB's code point before others that wait longer.

    Returns the observation; raises `RuntimeError` if this does not hold.
    """
    start_native(lab, DEVICE, "dualpi2", BURST_RATE)
    with lab.receiver:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    wire.bind(("d0", 0x0800))
    wire.setblocking(False)
    with lab.sender:
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sent = [0] * 60 + [NQB] * 10
    for field in sent:
        end.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, field)
        end.sendto(bytes(BURST_PAYLOAD), (RECEIVER, 9))
    time.sleep(0.5)
    found = []
    with contextlib.suppress(BlockingIOError):
        while True:
            packet = wire.recv(65_536)[14:]
            if len(packet) == 28 + BURST_PAYLOAD:
                found.append(packet[1])
    wire.close()
    end.close()
    output(lab.router, f"{LIVE} down {DEVICE}")
    after = len(found) - max((index for index, field in enumerate(found) if field == NQB), default=0) - 1
    seen = f"of 60 packets and 10 of NQB behind them {found.count(0)} and {found.count(NQB)} arrive, "
    seen += f"{after} of the former last"
    return expect(found.count(NQB) == 10 and after >= 10, seen)


def check_marks(lab: GuestLab, scheme: str, ecn: int, packets: int) -> str:
    """Checks that a native queue marks ECN-capable packets, and drops others where it would mark.

    Sends bursts by IPv4 and by IPv6. A second queue of the kind is refused, also below a class, and the first
    marks on. After `tune` to `ecn=false`, and when another queue has taken its place, packets arrive once and
    unchanged. Returns the observation; raises `RuntimeError` if this does not hold.
    """
    add_ipv6(lab)
    before = read_state(lab.router, DEVICE)
    seen = []
    for version in (4, 6):
        start_native(lab, DEVICE, scheme, BURST_RATE)
        plain = send_burst(lab, version, NOT_ECT, packets)
        lost = read_status(lab.router)["native"]
        (root,) = json.loads(output(lab.router, f"tc -j qdisc show dev {DEVICE} root"))
        output(lab.sender, "tc qdisc add dev s0 root handle 7: prio")
        for parent in ("parent 7:1", "root"):
            again = call(lab.sender, f"tc qdisc replace dev s0 {parent} {root['kind']}")
            expect(again.returncode != 0, f"a second queue at {parent} is accepted")
        output(lab.sender, "tc qdisc del dev s0 root")
        marked = send_burst(lab, version, ecn, packets)
        native = read_status(lab.router)["native"]
        if scheme == "codel":
            with lab.router:
                words = [LIVE, "tune", DEVICE, "--scheme", "codel(ecn=false)"]
                tuned = subprocess.Popen(words, stdout=subprocess.DEVNULL)
            send_burst(lab, version, ecn, packets)
            expect(tuned.wait() == 0, "tune fails")
            without = send_burst(lab, version, ecn, packets)
            expect(set(without) == {ecn}, f"after tune to ecn=false arrive {without}")
        output(lab.router, f"tc qdisc replace dev {DEVICE} root pfifo limit 2000")
        behind_other = send_burst(lab, version, ecn, packets)
        output(lab.router, f"tc qdisc del dev {DEVICE} root")
        output(lab.router, f"{LIVE} down {DEVICE}")
        left = find_leftovers(lab.router, before, DEVICE)
        expect(left is None, f"down left {left}")
        expect(behind_other == [ecn] * packets, f"behind another queue arrive {behind_other}")
        marks, dropped = marked.count(CE), native["dropped_early"] - lost["dropped_early"]
        seen.append(
            f"IPv{version}: of {packets} not ECN-capable {len(plain)} arrive, {plain.count(NOT_ECT)} alike, "
            f"{lost['dropped_early']} dropped; of as many that are {len(marked)} arrive, {marks} with CE and "
            f"{marked.count(ecn)} unchanged, {dropped} dropped; the queue counts {native['marked']} marks"
        )
        is_plain_right = set(plain) == {NOT_ECT} and len(plain) == packets - lost["dropped_early"]
        is_right = set(marked) == {ecn, CE} and len(marked) == packets and dropped == 0
        is_counted = marks == native["marked"] and lost["marked"] == 0 and native["without_memory"] == 0
        is_lossy = scheme == "dualpi2" or lost["dropped_early"] > 5
        expect(is_plain_right and is_right and is_counted and is_lossy and marks > 5, "; ".join(seen))
    return "; ".join(seen)


def set_offload(net: Namespace, device: str, segments: int) -> None:
    """Lets a host leave segmentation to its device, of so many segments at once."""
    net.command(f"ethtool -K {device} tx on sg on tso on gso on")
    net.ip(f"link set {device} gso_max_segs {segments}")


def check_native_super_packets(lab: GuestLab) -> str:
    """Checks how a native queue takes super-packets of an ECN-capable connection.

    Forwarded ones are counted, marked and shaped by their segments and bytes on the wire, also with
    `--no-gso`, which keeps apart the machine's own; `down` restores that. Returns the observation; raises
    `RuntimeError` if this does not hold.
    """
    set_offload(lab.sender, "s0", 64)
    for net in (lab.sender, lab.receiver):
        net.write_settings({"ipv4/tcp_ecn": "1"})
    start_native(lab, DEVICE, "fq-codel(limit=1000p)", BURST_RATE, "--no-gso")
    wire = Wire(lab.receiver, "d0")
    began = time.monotonic()
    transfer(lab, 1, 2_000_000)
    seconds = time.monotonic() - began
    forwarded = read_status(lab.router)
    output(lab.router, f"{LIVE} down {DEVICE}")
    packets = wire.take()
    large = forwarded["counters"]["kinds"]["super-packets"]["packets"]
    native, marks = forwarded["native"], sum(one.payload for one in packets if one.tos & 3 == CE)
    sent, sent_bytes = sum(native["sent"]), native["sent_bytes"]
    rate = 8 * (sent_bytes + 14 * sent) / seconds
    before = output(lab.sender, "ip -d -o link show s0")
    words = f"up s0 --native --rate {RATE} --scheme pias --no-agent --flows 4096 --no-gso"
    output(lab.sender, f"{LIVE} {words}")
    transfer(lab, 2, 500_000)
    own = read_status(lab.sender)
    output(lab.sender, f"{LIVE} down s0")
    after = output(lab.sender, "ip -d -o link show s0")
    apart = own["counters"]["kinds"]["super-packets"]["packets"]
    seen = (
        f"2 MB in {seconds:.2f} s: {large} packets in super-packets, {sent} packets and {sent_bytes} bytes "
        f"sent, {rate / 1e6:.2f} Mb/s; {native['marked']} marks, {marks} bytes arrive with CE; with --no-gso "
        f"{apart} packets in super-packets of {sum(own['native']['sent'])}"
    )
    is_right = 0.9 * 5e6 < rate < 1.02 * 5e6 and sent >= 1382 and sent_bytes >= 2_000_000 + 40 * 1382
    whole = 1448 * native["marked"]
    is_marked = 0.9 * whole <= marks <= whole > 0 == native["faults"]
    is_apart = apart == 0 and sum(own["native"]["sent"]) > 345
    is_restored = "gso_max_segs 64" in before and "gso_max_segs 64" in after
    return expect(large > 100 and is_right and is_marked and is_apart and is_restored, seen)


def flood(net: Namespace, device: str, sender: int, packets: int) -> int:
    """Forks a process that sends ECN-capable frames by a device, all on one CPU; returns its process id.

    The frames are of one UDP flow, 1,000 bytes long, and numbered from 0 after the sender's number.
    """
    child = os.fork()
    if child:
        return child
    try:
        os.sched_setaffinity(0, {sender % (os.cpu_count() or 1)})
        with net, socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as end:
            end.setsockopt(socket.SOL_SOCKET, 32, 1 << 25)  # SO_SNDBUFFORCE
            end.bind((device, 0x0800))
            frame = bytearray(make_frames(ECT_0)[sender])
            for number in range(packets):
                struct.pack_into(">II", frame, 42, sender, number)
                with contextlib.suppress(OSError):  # the queue may refuse a frame to the sender
                    end.send(frame)
    finally:
        os._exit(0)


def check_shared(lab: GuestLab) -> str:
    """Checks a native queue at a device with several hardware queues, which all CPUs use at once.

    The queue takes the place of `mq`, which `down` restores. Of frames that two CPUs send at once each leaves
    once or is counted as dropped, those of a sender in their order, and those with CE are as many as the
    queue counts. Makes devices m0 and m1. Returns the observation; raises `RuntimeError` if this does not
    hold.
    """
    lab.router.ip("link add m1 numtxqueues 4 type ifb")
    lab.router.ip("link set m1 up")
    before = read_state(lab.router, "m1")
    said = output(lab.router, f"{LIVE} up m1 --native --rate {RATE} --scheme lfp --no-agent --flows 4096")
    inside = output(lab.router, "tc qdisc show dev m1")
    output(lab.router, f"{LIVE} down m1")
    left = find_leftovers(lab.router, before, "m1")
    expect(left is None and "qdisc mq" in str(before["m1"]), f"down left {left} of {before['m1']}")
    expect("the 4 hardware queues of m1 share it" in said and "mq" not in inside, f"{said}; {inside}")
    lab.router.ip("link add m0 numtxqueues 4 type dummy")
    lab.router.ip("link set m0 up")
    start_native(lab, "m0", "fq-codel(limit=800p,target=1ms,interval=10ms)", "20mbit")
    with lab.router:
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    tap.setsockopt(socket.SOL_SOCKET, 33, 1 << 26)  # SO_RCVBUFFORCE
    tap.bind(("m0", 0x0003))
    tap.setblocking(False)
    each = 4000
    for child in [flood(lab.router, "m0", sender, each) for sender in range(2)]:
        os.waitpid(child, 0)
    deadline = time.monotonic() + 10
    while json.loads(output(lab.router, "tc -s -j qdisc show dev m0 root"))[0]["qlen"]:
        expect(time.monotonic() < deadline, "packets wait for 10 s after the last arrival")
        time.sleep(0.05)
    native = read_status(lab.router)["native"]
    output(lab.router, f"{LIVE} down m0")
    numbers: dict[int, list[int]] = {0: [], 1: []}
    marks = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            frame = tap.recv(2048)
            if frame[12:14] == b"\x08\x00" and len(frame) == 1000:
                sender, number = struct.unpack_from(">II", frame, 42)
                numbers[sender].append(number)
                marks += frame[15] & 3 == CE
    tap.close()
    arrived = sum(map(len, numbers.values()))
    dropped = native["dropped_early"] + native["dropped_forced"]
    seen = (
        f"{os.cpu_count()} CPUs: of {2 * each} frames {arrived} leave, {dropped} are dropped, "
        f"{native['without_memory']} lose their twin; {marks} leave with CE, and the queue counts "
        f"{native['marked']}"
    )
    is_ordered = all(one == sorted(set(one)) for one in numbers.values())
    is_whole = arrived == sum(native["sent"]) == 2 * each - dropped - native["without_memory"]
    is_right = is_ordered and is_whole and marks == native["marked"] > 0 and dropped > 0
    return expect(is_right and native["without_memory"] == 0 and native["faults"] == 0, seen)


def check_parity(_lab: GuestLab) -> str:
    """Checks that queue headers decide in the kernel as in the simulator, packet by packet.

    Returns what the program printed; raises `RuntimeError` if this does not hold.
    """
    words = ["native_parity", "/queues", str(PARITY_PACKETS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return expect(done.returncode == 0 and "pass" in done.stdout, done.stdout + done.stderr)


def check_offload(lab: GuestLab) -> str:
    """Checks that `check` reports a flow table of nft, and reports none while there is none.

    Returns the observation; raises `RuntimeError` if this does not hold. Makes a flow table and flushes the
    rule set.
    """

    def sentences() -> list[str]:
        """Returns the sentences of `check` on flow tables."""
        findings = json.loads(call(lab.router, f"{LIVE} check {DEVICE} --json").stdout)["findings"]
        return [one["sentence"] for one in findings if "flow table" in one["sentence"]]

    none = sentences()
    rules = Path("/tmp/rules")  # noqa: S108, in the guest
    rules.write_text(
        "table inet t {\n"
        "flowtable quick { hook ingress priority 0; devices = { r0, r1 }; }\n"
        "chain forward { type filter hook forward priority 0; ip protocol tcp flow add @quick; }\n"
        "}\n"
    )
    output(lab.router, f"nft -f {rules}")
    found = sentences()
    output(lab.router, "nft flush ruleset")
    named = [one for one in found if "quick" in one]
    return expect(bool(named) and not any("quick" in one for one in none), f"{found}; before: {none}")


def check_host(lab: GuestLab) -> str:
    """Checks that `host` loads, which needs the kernel's type information, and that its colours arrive.

    Returns the observation; raises `RuntimeError` if this does not hold.
    """
    before = read_state(lab.sender, "s0")
    output(lab.sender, f"{LIVE} host s0 --no-agent --flows 4096")
    wire = Wire(lab.receiver, "d0")
    transfer(lab, 1)
    classes = {one.tos >> 2 for one in wire.take()}
    output(lab.sender, f"{LIVE} down s0")
    left = find_leftovers(lab.sender, before, "s0")
    expect(left is None, f"down left {left}")
    return expect(bool(classes) and classes <= {10, 12, 14}, f"DSCPs on the wire: {sorted(classes)}")


def check_super_packets(lab: GuestLab) -> str:
    """Checks that the profile's rate holds where the sender's packets leave as super-packets.

    Turns segmentation offload on. Returns the observation; raises `RuntimeError` if this does not hold.
    """
    lab.sender.command("ethtool -K s0 tx on sg on tso on gso on")
    lab.sender.ip("link set s0 gso_max_segs 65535")
    seen = check_shape(lab, "high=65535,med=65535", 500e3)
    count = int(re.search(r"(\d+) in super-packets", seen)[1])  # type: ignore[index]
    return expect(count > 50, seen)


def check_shape(lab: GuestLab, limits: str, wanted_bps: float) -> str:
    """Checks that two users' bulk connections keep to the rate of a colour, and that `down` removes fq.

    Returns the observation; raises `RuntimeError` if this does not hold. `limits` are the parameters that
    give the packets this colour. `wanted_bps` is the rate of each user; 0 stands for red packets, which no
    profile slows.
    """

    def rates() -> list[float]:
        """Returns the rate of each user, bit/s."""
        users = (SERVER, "10.9.1.7")
        return measure_user_rates(lambda: lab.sender, lambda: lab.receiver, RECEIVER, users, SHAPED_S)

    lab.sender.ip("addr replace 10.9.1.7/24 dev s0")
    before = read_state(lab.sender, "s0")
    free = 0 if wanted_bps else sum(rates())
    scheme = f"tcp-ds({limits},high_rate=500kbit,med_rate=1mbit)"
    output(lab.sender, f"{LIVE} host s0 --scheme {scheme} --shape --no-agent --flows 4096")
    root = json.loads(output(lab.sender, "tc -j qdisc show dev s0 root"))[0]
    shaped = rates()
    status = read_status(lab.sender)
    output(lab.sender, f"{LIVE} down s0")
    left = find_leftovers(lab.sender, before, "s0")
    expect(left is None, f"down left {left}")
    held = status["counters"]["held"]["packets"]
    large = status["counters"]["kinds"]["super-packets"]["packets"]
    told = ", ".join(f"{rate / 1e3:.0f} kb/s" for rate in shaped)
    seen = f"{told} of IP, {held} packets held, {large} in super-packets, {root['kind']}"
    expect(root["kind"] == "fq" and not status["problems"], f"{seen}; {status['problems']}")
    if not wanted_bps:
        return expect(sum(shaped) > free / 2 > 3e6, f"{seen}; {free / 1e3:.0f} kb/s together without it")
    return expect(all(abs(rate / wanted_bps - 1) < 0.05 for rate in shaped) and held > 100, seen)


def check_printed(lab: GuestLab) -> str:
    """Checks that installed queues equal those made by the tc lines that --dry-run prints.

    Returns a summary; raises `RuntimeError` if one differs.
    """
    made = f"ifb-{DEVICE}"
    for command, device in (
        (f"setup {DEVICE} --up 60gbit --exact --link-layer ethernet", DEVICE),
        (f"setup {DEVICE} --up 1234567bit --exact --link-layer docsis --ack-filter on", DEVICE),
        (f"setup {DEVICE} --up 4mbit --link-layer adsl", DEVICE),
        (f"setup {DEVICE} --down 20mbit --link-layer vdsl", made),
        (f"setup {DEVICE} --down 20mbit --overhead 44", made),
        (f"host {DEVICE} --shape --no-agent", DEVICE),
    ):
        said = output(lab.router, f"{LIVE} {command} --dry-run").splitlines()
        (line,) = [one for one in said if one.startswith("tc qdisc replace")]
        output(lab.router, f"{LIVE} {command} --flows 4096")
        show = f"tc -d -j qdisc show dev {device} root"
        put = output(lab.router, show)
        output(lab.router, f"tc qdisc del dev {device} root")
        output(lab.router, line)
        typed = output(lab.router, show)
        expect(put == typed and "6d48:" in put, f"{line}: {put} {typed}")
        output(lab.router, f"{LIVE} down {DEVICE}")
    return "CAKE at five kinds of line, and fq"


def list_checks(
    wanted: str, is_native: bool = False, plans: Sequence[Plan] = ()
) -> Iterator[tuple[str, Callable[[GuestLab], str]]]:
    """Yields name and function of each check; with `is_native`, those of native queues only.

    `wanted` is the expected attachment, tcx or clsact, and each of `plans` is a check more.
    """
    if is_native:
        for scheme in NATIVE_SCHEMES:
            yield f"up {scheme} --native, tune, down", lambda lab, scheme=scheme: check_native(lab, scheme)  # type: ignore[misc]
        yield "native CoDel marks ECT(0)", lambda lab: check_marks(lab, "codel", ECT_0, 600)
        yield "native DualPI2 marks ECT(1)", lambda lab: check_marks(lab, "dualpi2", ECT_1, 60)
        yield "native DualPI2 reads NQB", check_nqb
        yield "native queue and super-packets", check_native_super_packets
        yield SHARED_CHECK, check_shared
        yield f"up {OWN} --native, persist, guard", check_own_queue
        yield "native queues decide as simulated", check_parity
        return
    yield f"attaches as {wanted}", lambda lab: check_attached(lab, wanted)
    for tins in ("diffserv4", "diffserv3"):
        yield f"CAKE {tins}, Bulk by priority", lambda lab, tins=tins: check_priority(lab, tins)  # type: ignore[misc]
        yield f"CAKE {tins}, Bulk by LE", lambda lab, tins=tins: check_cake_dscp(lab, tins)  # type: ignore[misc]
    yield "LE on the wire", check_dscp
    yield "class of HTB", check_class
    yield "IFB, downloads", check_ifb
    for scheme in SCHEMES:
        yield f"up {scheme}, down", lambda lab, scheme=scheme: check_up(lab, scheme)  # type: ignore[misc]
    for plan in plans:
        yield f"plan of {plan['name']}", lambda lab, plan=plan: check_plan(lab, plan)  # type: ignore[misc]
    yield "queues are those of the printed lines", check_printed
    yield "check names a flow table", check_offload
    yield "host tcp-ds", check_host
    yield "host --shape, green", lambda lab: check_shape(lab, "high=65535,med=65535", 500e3)
    yield "host --shape, yellow", lambda lab: check_shape(lab, "high=0,med=65535", 1e6)
    yield "host --shape, red", lambda lab: check_shape(lab, "high=0,med=0", 0)
    yield "host --shape, super-packets", check_super_packets


def run_in_child(work: Callable[[], Any]) -> None:
    """Runs `work` in a child process, whose namespaces vanish with it, and waits for the child.

    Its result and its exceptions are ignored.
    """
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            sys.stdout.flush()
            os._exit(0)
    os.waitpid(child, 0)


def run_check(lab: GuestLab, name: str, check: Callable[[GuestLab], str]) -> None:
    """Makes one check, reports its result, and removes what it installed.

    An exception of the check is reported as its failure.
    """
    try:
        ok, seen = True, check(lab)
    except Exception as error:
        ok, seen = False, str(error) or repr(error)
    report({"check": name, "ok": ok, "seen": " ".join(seen.split())})
    for net in (lab.router, lab.sender):
        call(net, f"{LIVE} down --all")
    for line in (f"qdisc del dev {DEVICE} root", f"qdisc del dev {UPSTREAM} clsact"):
        call(lab.router, f"tc {line}")
    call(lab.router, "ip link del ifb0")


def read_busy_s() -> tuple[float, float]:
    """Returns the processor's busy time and the whole time since the start, s."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / 100, sum(ticks) / 100


def run_flows(name: str, seed: int, task: Task, beside: Sequence[Stream]) -> None:
    """Plays a list of flows through a queue, together with streams, and reports the clients' times.

    An exception is reported as an error. Switches the garbage collector off.
    """
    try:
        lab = GuestLab(task.rtt_s)
        for line in task.commands:
            output(lab.router, line)
        hosts = Hosts(lab.sender, lab.receiver, "cubic")
        streams = Streams(lab.sender, lab.receiver, beside)
        gc.disable()
        busy, whole = read_busy_s()
        window_end_s = task.warmup_s + task.window_s
        streams.start(time.monotonic() + BEGIN_S, window_end_s)
        result = play(hosts, task)
        result["delays_s"] = streams.delays_s(task.warmup_s, window_end_s)
        busy_after, whole_after = read_busy_s()
        result["busy"] = (busy_after - busy) / (whole_after - whole)
        result["tc"] = output(lab.router, f"tc -s qdisc show dev {DEVICE}")
        report({"run": name, "seed": seed} | result)
    except Exception as error:
        report({"run": name, "seed": seed, "error": str(error) or repr(error)})


def run_task(one: dict[str, Any]) -> None:
    """Plays one of a task's runs, given as its JSON object, and reports the result, also if it fails."""
    streams = [Stream(**stream) for stream in one["streams"]]
    run_flows(one["name"], one["seed"], Task(**one["task"]), streams)


def main() -> int:
    """Makes the checks, runs and costs that the task file asks for.

    Reports the kernel first and "end" last; returns 0, also if a check fails.
    """
    task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    report({"kernel": os.uname().release})
    only = re.compile(task.get("only", ""))
    if task["checks"]:
        lab = GuestLab()
        for name, check in list_checks(task["attachment"], task["native"], task["plans"]):
            if only.search(name):
                run_in_child(lambda name=name, check=check: run_check(lab, name, check))  # type: ignore[misc]
    for one in task["runs"]:
        run_in_child(lambda one=one: run_task(one))  # type: ignore[misc]
    if task.get("costs"):
        for name, instructions in measure_costs(lambda line: output(contextlib.nullcontext(), line)):
            report({"cost": name, "instructions": instructions})
    report("end")
    return 0


if __name__ == "__main__":
    sys.exit(main())
