"""Measures the cost of a packet in a guest, in our native queues and in Linux's, in instructions.

A guest's clock counts its instructions (`kernels_image`), so a time is a count. One program sends
frames by a device that carries nothing, and all processing of a packet behind `send` is in its
time. The cost of a queue is the excess over the same device without a queue.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

# Nanoseconds of an instruction: ICOUNT of kernels_image.
INSTRUCTION_NS = 4
DEVICE = "k0"
FLOWS, PACKETS, ROUNDS = 16, 2_000, 5
# A rate at which no packet waits.
RATE = "10gbit"
BUCKET = f"qdisc replace dev {DEVICE} root handle 1: tbf rate {RATE} burst 10mb limit 20mb"
UP = f"mousehole-live up {DEVICE} --native --rate {RATE} --buffer 1000p --no-agent --flows 4096 --scheme"
# The ECN field of packets that may be marked.
ECT_0 = 2
# Queues in the order of the table: name, commands, whether the program at the egress stays, and the packets'
# ECN field.
QUEUES: tuple[tuple[str, tuple[str, ...], bool, int], ...] = (
    ("none", (), True, 0),
    ("prio of Linux", (f"tc qdisc replace dev {DEVICE} root prio",), True, 0),
    ("tbf, prio of Linux", (f"tc {BUCKET}", f"tc qdisc replace dev {DEVICE} parent 1:1 prio"), True, 0),
    (
        "tbf, fq_codel of Linux",
        (f"tc {BUCKET}", f"tc qdisc replace dev {DEVICE} parent 1:1 fq_codel noecn"),
        True,
        0,
    ),
    ("native priority", (f"{UP} priority",), False, 0),
    ("native fq-codel", (f"{UP} fq-codel(ecn=false)",), False, 0),
    ("native fq-codel with the program at the egress", (f"{UP} fq-codel(ecn=false)",), True, 0),
    ("the same with ecn=true", (f"{UP} fq-codel",), True, 0),
    ("the same, and packets are ECN-capable", (f"{UP} fq-codel",), True, ECT_0),
)


def make_frames(ecn: int) -> list[bytes]:
    """Returns for each flow a frame of 1,000 bytes with IPv4 and UDP, to a host that does not exist.

    IPv4 has this ECN field and no checksum.
    """
    made = []
    for flow in range(FLOWS):
        udp = struct.pack(">HHHH", 1024 + flow, 9, 966, 0)
        ends = bytes((10, 8, 0, 1, 10, 8, 0, 2))
        ip = struct.pack(">BBHHHBBH8s", 0x45, ecn, 986, 0, 0, 64, 17, 0, ends)
        made.append(bytes(12) + b"\x08\x00" + ip + udp + bytes(958))
    return made


def measure_instructions(socket_: socket.socket, sent: Sequence[bytes], count: int) -> float:
    """Sends `count` frames, and returns the instructions per packet, including the system call.

    `socket_` is bound to the device; the frames of `FLOWS` flows are sent in turn.
    """
    start = time.monotonic_ns()
    for number in range(count):
        socket_.send(sent[number % FLOWS])
    return (time.monotonic_ns() - start) / INSTRUCTION_NS / count


def measure_costs(run: Callable[[str], str]) -> Iterator[tuple[str, float]]:
    """Yields each queue's name and cost per packet: the median of the rounds less that without a queue.

    `run` executes a command in the guest; the first of `QUEUES` is the device without a queue. Makes the
    device and, for each queue, installs and removes it; the device stays.
    """
    run(f"ip link add {DEVICE} type dummy")
    run(f"ip link set {DEVICE} up")
    base = 0.0
    for name, commands, has_program, ecn in QUEUES:
        sent = make_frames(ecn)
        for line in commands:
            run(line)
        if not has_program:
            for link in Path("/sys/fs/bpf/mousehole").glob("*/link"):
                link.unlink()
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as one:
            one.bind((DEVICE, 0x0800))
            measure_instructions(one, sent, PACKETS)
            cost = median(measure_instructions(one, sent, PACKETS) for _ in range(ROUNDS))
        base = base or cost
        yield name, cost - base
        if any(line.startswith("mousehole-live") for line in commands):
            run(f"mousehole-live down {DEVICE}")
        elif commands:
            run(f"tc qdisc del dev {DEVICE} root")
