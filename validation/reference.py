"""Compares what is read from captures with what tshark reads: connections, packets and payload.

`make validation WHAT=reference ARGS=FOLDER` takes every capture below a folder. tshark dissects each packet;
from its fields the connections are counted, and the payload without repetitions by joining intervals of
sequence numbers. So the readers are compared to the byte. For each capture there is a line, and where the two
part the figures of both and the account of what was left out here.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from os import environ
from pathlib import Path

import mousehole
from mousehole.base import MouseholeError
from mousehole.engine_types import TrafficSummary
from mousehole.inputs import account

MAGICS = (
    b"\xa1\xb2\xc3\xd4",
    b"\xd4\xc3\xb2\xa1",
    b"\xa1\xb2\x3c\x4d",
    b"\x4d\x3c\xb2\xa1",
    b"\x0a\x0d\x0d\x0a",
)
LIMIT_S = 60.0
"""tshark is stopped after this time on one capture."""
LIMIT_ALL_S = 900.0
"""No further capture is begun after this time."""
FIELDS = (
    "tcp.stream", "ip.src", "ipv6.src", "tcp.srcport", "tcp.seq_raw", "tcp.len", "tcp.flags.syn",
    "tcp.flags.reset", "udp.stream", "udp.length",
)  # fmt: skip
OPTIONS = ("tcp.desegment_tcp_streams:FALSE",)
# An ICMP error quotes the header of a packet that is not there.
FILTER = "(tcp or udp.port == 443) and not icmp and not icmpv6"
HALF = 1 << 31


class NotComparedError(Exception):
    """A capture that one of the readers could not read in time or at all."""


@dataclass(frozen=True)
class Counts:
    """What one reader found in a capture; payload in bytes, of both directions."""

    connections: int = 0
    packets: int = 0
    payload: int = 0
    quic_flows: int = 0
    quic_packets: int = 0
    quic_payload: int = 0


NAMES = (
    "TCP connections",
    "TCP packets",
    "TCP payload",
    "UDP/443 flows",
    "UDP/443 packets",
    "UDP/443 payload",
)


def captures(folder: Path) -> list[Path]:
    """Returns the captures below a folder, or the one file, by content."""
    files = [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if _magic(path) in MAGICS]


def _magic(path: Path) -> bytes:
    with path.open("rb") as plain:
        head = plain.read(4)
    if head[:2] != b"\x1f\x8b":
        return head
    try:
        with gzip.open(path) as packed:
            return packed.read(4)
    except (OSError, EOFError):
        return b""


def ours(path: Path) -> tuple[Counts, TrafficSummary]:
    """Returns our counts and the whole account; a capture of uploads alone is read as such."""
    try:
        summary = mousehole.inspect(str(path))
    except MouseholeError as error:
        if "nothing usable" not in str(error):
            raise NotComparedError(f"not read here: {error}") from None
        try:
            summary = mousehole.inspect(str(path), payload="up")
        except MouseholeError as no_better:
            raise NotComparedError(f"nothing usable here: {no_better}") from None
    capture = summary["sources"][0]["capture"]
    if capture is None:
        raise NotComparedError("not read as a capture here")
    return Counts(
        capture["tcp_connections"], capture["tcp_packets"], capture["tcp_bytes"],
        capture["quic_flows"], capture["quic_packets"], capture["quic_bytes"],
    ), summary  # fmt: skip


def theirs(path: Path) -> Counts:
    """Returns tshark's counts."""
    command = ["tshark", "-n", "-r", str(path), "-Y", FILTER, "-T", "fields", "-E", "occurrence=l"]
    command += [word for option in OPTIONS for word in ("-o", option)]
    command += [word for name in FIELDS for word in ("-e", name)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise NotComparedError(f"tshark took more than {LIMIT_S:.0f} s") from None
    if done.returncode and not done.stdout:
        raise NotComparedError(f"tshark: {done.stderr.strip().splitlines()[-1]}")
    return counted(line.split("\t") for line in done.stdout.splitlines())


def counted(rows: Iterable[list[str]]) -> Counts:
    """Returns the counts of packets with the fields of `FIELDS`."""
    spans: defaultdict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
    first: dict[tuple[str, str, str], int] = {}
    streams, flows = set(), set()
    packets = quic_packets = quic_payload = 0
    for stream, source4, source6, port, seq_text, length_text, syn, reset, flow, udp_length in rows:
        if not stream and not flow:
            continue  # cut before its ports, for tshark
        if not stream:
            quic_packets += 1
            quic_payload += max(int(udp_length or 8) - 8, 0)
            flows.add(flow)
            continue
        packets += 1
        streams.add(stream)
        side = (stream, source4 + source6, port)
        begins = int(_is_set(syn))
        seq, length = int(seq_text) + begins, int(length_text or 0)
        # Nothing counts before the first byte after a SYN.
        if begins:
            first[side] = seq
        if length and not _is_set(reset):
            spans[side].append((seq, length))
    payload = sum(_union(spans[side], first.get(side)) for side in spans)
    return Counts(len(streams), packets, payload, len(flows), quic_packets, quic_payload)


def _is_set(flag: str) -> bool:
    return flag in ("1", "True")


def _union(spans: list[tuple[int, int]], start: int | None) -> int:
    """Returns how many bytes are covered; `start` is the first sequence number, None if it is not known."""
    top = origin = spans[0][0] if start is None else start
    unwrapped = []
    for seq, length in spans:
        place = top + (seq - top + HALF) % (2 * HALF) - HALF
        unwrapped.append((place, place + length))
        top = max(top, place + length)
    floor = -sys.maxsize if start is None else origin
    covered, end = 0, floor
    for low, high in sorted(unwrapped):
        covered += max(high - max(low, end), 0)
        end = max(end, high)
    return covered


def report(paths: Iterable[Path], folder: Path) -> Iterator[str]:
    """Returns a line for each capture, more where the readers part, and the sum."""
    began, compared, agreed, missed = time.monotonic(), 0, 0, 0
    for path in paths:
        name = str(path.relative_to(folder)) if path != folder else path.name
        if time.monotonic() - began > LIMIT_ALL_S:
            yield f"{name}: NOT COMPARED: {LIMIT_ALL_S:.0f} s are over"
            missed += 1
            continue
        try:
            (mine, summary), other = ours(path), theirs(path)
        except NotComparedError as error:
            yield f"{name}: NOT COMPARED: {error}"
            missed += 1
            continue
        compared += 1
        parted = differences(mine, other)
        agreed += not parted
        verdict = "parts" if parted else "agrees"
        yield f"{name}: {verdict}: {mine.connections} connections, {mine.packets} packets, {mine.payload} B"
        yield from (f"    {line}" for line in parted)
        if parted:
            yield from (f"    here {remark}" for remark in account.list_remarks(summary))
    yield f"reference: {agreed} of {compared} captures agree in all counts; {missed} not compared"


def differences(mine: Counts, other: Counts) -> list[str]:
    """Returns a line for each count in which the readers differ."""
    rows = zip(NAMES, astuple(mine), astuple(other), strict=True)
    return [f"{name}: {here} here, {there} tshark" for name, here, there in rows if here != there]


def main() -> int:
    """Prints the comparison; returns 1 only if it could not run where CI asks for it."""
    program = "make validation WHAT=reference ARGS="
    parser = argparse.ArgumentParser(prog=program, description="Compares with tshark.")
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder of captures, or one capture")
    folder = parser.parse_args().folder
    if shutil.which("tshark") is None:
        print("NOT RUN  reference: tshark is not installed (as root: make deps)")
        return 1 if environ.get("CI") else 0
    if not folder.exists():
        print(f"reference: {folder}: no such folder", file=sys.stderr)
        return 2
    found = captures(folder)
    if not found:
        print(f"reference: {folder}: holds no pcap or pcapng file", file=sys.stderr)
        return 2
    for line in report(found, folder):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
