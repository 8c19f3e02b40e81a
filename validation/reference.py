"""Compares our reading of captures with tshark's: connections, packets and payload.

`make validation WHAT=reference ARGS=FOLDER` takes every capture below a folder. tshark dissects
each packet; from its fields the connections are counted, and the payload without repetitions by
joining intervals of sequence numbers. So the readers are compared to the byte. For each capture a
line is printed; if the two differ, so are the figures of both and our account of left-out packets.
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
    """The capture could not be read, or not in time, by one of the readers."""


@dataclass(frozen=True)
class Counts:
    """One reader's counts in a capture; payload in bytes, of both directions."""

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


def list_captures(folder: Path) -> list[Path]:
    """Returns the captures below a folder, or the one file itself, recognised by content; sorted by path."""
    files = [folder] if folder.is_file() else sorted(path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if _read_magic(path) in MAGICS]


def _read_magic(path: Path) -> bytes:
    """Returns the first four bytes of a file, decompressed if it is gzipped.

    They are empty if it cannot be decompressed.
    """
    with path.open("rb") as plain:
        head = plain.read(4)
    if head[:2] != b"\x1f\x8b":
        return head
    try:
        with gzip.open(path) as packed:
            return packed.read(4)
    except (OSError, EOFError):
        return b""


def read_ours(path: Path) -> tuple[Counts, TrafficSummary]:
    """Returns our counts and the whole summary; a capture of uploads only is read as such.

    It is read a second time then. Raises `NotComparedError` if it cannot be read.
    """
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


def read_theirs(path: Path) -> Counts:
    """Returns tshark's counts; raises `NotComparedError` if tshark fails or takes too long."""
    command = ["tshark", "-n", "-r", str(path), "-Y", FILTER, "-T", "fields", "-E", "occurrence=l"]
    command += [word for option in OPTIONS for word in ("-o", option)]
    command += [word for name in FIELDS for word in ("-e", name)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise NotComparedError(f"tshark took more than {LIMIT_S:.0f} s") from None
    if done.returncode and not done.stdout:
        raise NotComparedError(f"tshark: {done.stderr.strip().splitlines()[-1]}")
    return count_packets(line.split("\t") for line in done.stdout.splitlines())


def count_packets(rows: Iterable[list[str]]) -> Counts:
    """Returns the counts of packets that are given as the values of `FIELDS`.

    Payload is in bytes; retransmitted bytes count once.
    """
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
    payload = sum(_count_covered(spans[side], first.get(side)) for side in spans)
    return Counts(len(streams), packets, payload, len(flows), quic_packets, quic_payload)


def _is_set(flag: str) -> bool:
    """Returns whether a flag is set, which tshark prints as `1` or `True`."""
    return flag in ("1", "True")


def _count_covered(spans: list[tuple[int, int]], start: int | None) -> int:
    """Returns the number of bytes that the spans cover; there must be at least one span.

    Spans are pairs of sequence number and length, in order of arrival. `start` is the first sequence number
    of the connection, before which nothing counts, or None if it is unknown.
    """
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


def compare_all(paths: Iterable[Path], folder: Path) -> Iterator[str]:
    """Yields a line for each capture, more where the readers differ, and the totals.

    Captures after `LIMIT_ALL_S` are not compared. Names are relative to `folder`.
    """
    began, compared, agreed, missed = time.monotonic(), 0, 0, 0
    for path in paths:
        name = str(path.relative_to(folder)) if path != folder else path.name
        if time.monotonic() - began > LIMIT_ALL_S:
            yield f"{name}: NOT COMPARED: {LIMIT_ALL_S:.0f} s are over"
            missed += 1
            continue
        try:
            (mine, summary), other = read_ours(path), read_theirs(path)
        except NotComparedError as error:
            yield f"{name}: NOT COMPARED: {error}"
            missed += 1
            continue
        compared += 1
        parted = list_differences(mine, other)
        agreed += not parted
        verdict = "parts" if parted else "agrees"
        yield f"{name}: {verdict}: {mine.connections} connections, {mine.packets} packets, {mine.payload} B"
        yield from (f"    {line}" for line in parted)
        if parted:
            yield from (f"    here {remark}" for remark in account.list_remarks(summary))
    yield f"reference: {agreed} of {compared} captures agree in all counts; {missed} not compared"


def list_differences(mine: Counts, other: Counts) -> list[str]:
    """Returns a line for each count in which the readers differ."""
    rows = zip(NAMES, astuple(mine), astuple(other), strict=True)
    return [f"{name}: {here} here, {there} tshark" for name, here, there in rows if here != there]


def main() -> int:
    """Prints the comparison; returns 0 whether the readers agree or not.

    The exit status is 1 if tshark is missing where CI asks for it, and 2 for a folder that does not exist or
    has no capture.
    """
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
    found = list_captures(folder)
    if not found:
        print(f"reference: {folder}: holds no pcap or pcapng file", file=sys.stderr)
        return 2
    for line in compare_all(found, folder):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
