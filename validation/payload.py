"""Counts the TCP payload of captures independently of our readers, from the formats' specifications alone.

It is slow and supports few formats. Sources: the pcap and pcapng drafts of the IETF's opsawg, IEEE
802.3, RFC 791, RFC 8200 and RFC 9293. A connection begins with a SYN whose sequence number differs
from that of the last one between the same ends. Payload is counted once, by the sequence numbers
that it covers.
"""

from __future__ import annotations

import gzip
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

PCAP = {
    b"\xd4\xc3\xb2\xa1": "<",
    b"\xa1\xb2\xc3\xd4": ">",
    b"\x4d\x3c\xb2\xa1": "<",
    b"\xa1\xb2\x3c\x4d": ">",
}
PCAPNG = b"\x0a\x0d\x0d\x0a"
ETHERNET, LOOP, RAW, COOKED = 1, (0, 108), (12, 14, 101, 228, 229), 113
VLAN, IPV4, IPV6 = (0x8100, 0x88A8), 0x0800, 0x86DD
TCP, FRAGMENT = 6, 44
EXTENSIONS = (0, 43, 60)
LEAST_TYPE, SNAP = 0x0600, b"\xaa\xaa\x03"
WITHIN = (0x8864, 0x8847, 0x8848)
"""PPPoE and MPLS."""
SYN = 0x02
HALF, WHOLE = 1 << 31, 1 << 32

End = tuple[bytes, int]


class OtherFormatError(Exception):
    """The file is of no format that is supported here."""


@dataclass
class Count:
    """The TCP connections and payload of a capture."""

    connections: int = 0
    payload: int = 0
    left_out: str = ""
    """Why packets could not be counted; empty if all could."""


@dataclass
class _Side:
    """One direction of a connection: the ranges of sequence numbers seen, unwrapped."""

    base: int | None = None
    spans: list[tuple[int, int]] = field(default_factory=list)

    def add(self, sequence: int, length: int) -> None:
        """Adds a segment; its sequence number is unwrapped to the value nearest the last one.

        The first segment's number stays as it is.
        """
        near = sequence if self.base is None else self.base + (sequence - self.base + HALF) % WHOLE - HALF
        self.base = near
        if length:
            self.spans.append((near, near + length))

    def covered(self) -> int:
        """Returns the number of distinct sequence numbers that the segments cover, bytes."""
        total, end = 0, None
        for first, last in sorted(self.spans):
            begin = first if end is None else max(first, end)
            total += max(last - begin, 0)
            end = last if end is None else max(end, last)
        return total


@dataclass
class _Connection:
    """A connection: its two directions, and the sequence number of each end's SYN."""

    sides: dict[End, _Side] = field(default_factory=dict)
    syn: dict[End, int] = field(default_factory=dict)


def is_capture(file: Path) -> bool:
    """Returns whether a file begins as pcap or pcapng do, gzipped or not."""
    try:
        return _open_plain(file).read(4) in (*PCAP, PCAPNG)
    except (OSError, EOFError):
        return False


def count_payload(file: Path) -> Count:
    """Returns the number of connections in a capture and their payload in both directions.

    Raises `OtherFormatError` for a file that is no capture, or that ends in the middle of a packet.
    """
    current: dict[frozenset[End], _Connection] = {}
    every: list[_Connection] = []
    left_out: set[str] = set()
    for link, data, length in _read_packets(file):
        try:
            segment = _parse_frame(link, data, length)
        except (struct.error, IndexError):
            left_out.add("headers that the capture cut")
            continue
        if isinstance(segment, str):
            left_out.add(segment)
        elif segment is not None:
            sender, receiver, sequence, flags, size = segment
            ends = frozenset((sender, receiver))
            known = current.get(ends)
            is_new = bool(flags & SYN) and known is not None and known.syn.get(sender, sequence) != sequence
            if known is None or is_new:
                known = current[ends] = _Connection()
                every.append(known)
            if flags & SYN:
                known.syn[sender] = sequence
            known.sides.setdefault(sender, _Side()).add((sequence + bool(flags & SYN)) % WHOLE, size)
    total = sum(side.covered() for connection in every for side in connection.sides.values())
    return Count(len(every), total, ", ".join(sorted(left_out)))


def _open_plain(file: Path) -> BinaryIO:
    """Opens a file, decompressed if it is gzipped; the caller closes it."""
    with file.open("rb") as stream:
        is_gzip = stream.read(2) == b"\x1f\x8b"
    return cast("BinaryIO", gzip.open(file)) if is_gzip else file.open("rb")


def _read_packets(file: Path) -> Iterator[tuple[int, bytes, int]]:
    """Yields link type, captured bytes and original length of each packet of a capture.

    Raises `OtherFormatError` for a file that is no capture. The whole file is in memory.
    """
    with _open_plain(file) as stream:
        data = stream.read()
    if data[:4] in PCAP:
        yield from _read_pcap(data, PCAP[data[:4]])
    elif data[:4] == PCAPNG:
        yield from _read_pcapng(data)
    else:
        raise OtherFormatError("no capture")


def _read_pcap(data: bytes, order: str) -> Iterator[tuple[int, bytes, int]]:
    """Yields the packets of a pcap file; `order` is its byte order for `struct`.

    Raises `OtherFormatError` where it ends in the middle of a packet.
    """
    link = struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF
    place = 24
    while place < len(data):
        if place + 16 > len(data):
            raise OtherFormatError("ends in the middle of a packet")
        _, _, held, length = struct.unpack_from(order + "IIII", data, place)
        place += 16
        if place + held > len(data):
            raise OtherFormatError("ends in the middle of a packet")
        yield link, data[place : place + held], length
        place += held


def _read_pcapng(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yields the packets of a pcapng file.

    Raises `OtherFormatError` where it ends in the middle of a block, and for packet blocks of the obsolete
    form.
    """
    place, order = 0, "<"
    links: list[tuple[int, int]] = []
    while place + 12 <= len(data):
        if data[place : place + 4] == PCAPNG:
            order = "<" if data[place + 8 : place + 12] == b"\x4d\x3c\x2b\x1a" else ">"
            links = []
        kind, size = struct.unpack_from(order + "II", data, place)
        if size < 12 or place + size > len(data):
            raise OtherFormatError("ends in the middle of a block")
        if kind == 1:
            link, _, snap = struct.unpack_from(order + "HHI", data, place + 8)
            links.append((link, snap))
        elif kind == 6:
            interface, _, _, held, length = struct.unpack_from(order + "IIIII", data, place + 8)
            yield links[interface][0], data[place + 28 : place + 28 + held], length
        elif kind == 3:
            (length,) = struct.unpack_from(order + "I", data, place + 8)
            held = min(length, size - 16, links[0][1] or length)
            yield links[0][0], data[place + 12 : place + 12 + held], length
        elif kind == 2:
            raise OtherFormatError("has packet blocks of the obsolete form")
        place += size


def _parse_frame(link: int, data: bytes, length: int) -> tuple[End, End, int, int, int] | str | None:
    """Returns ends, sequence number, flags and payload of a TCP segment; a reason not to count it; or None.

    None stands for other packets. `length` is that on the wire, bytes. Raises `struct.error` or `IndexError`
    for headers that were cut.
    """
    if link == ETHERNET:
        kind, place = struct.unpack_from(">H", data, 12)[0], 14
    elif link == COOKED:
        kind, place = struct.unpack_from(">H", data, 14)[0], 16
    elif link in LOOP:
        kind, place = (IPV4 if data[4] >> 4 == 4 else IPV6), 4
    elif link in RAW:
        kind, place = (IPV4 if data[0] >> 4 == 4 else IPV6), 0
    else:
        return f"frames of link type {link}"
    while kind in VLAN:
        kind, place = struct.unpack_from(">H", data, place + 2)[0], place + 4
    if kind == IPV4:
        return _parse_ipv4(data, place, length)
    if kind == IPV6:
        return _parse_ipv6(data, place, length)
    if kind < LEAST_TYPE and data[place : place + 3] == SNAP:
        kind, place = struct.unpack_from(">H", data, place + 6)[0], place + 8
    if kind in WITHIN:
        return "frames within frames"
    return None


def _parse_ipv4(data: bytes, place: int, length: int) -> tuple[End, End, int, int, int] | str | None:
    """Returns the segment in the IPv4 packet at offset `place`, a reason or None, as `_parse_frame` does."""
    header = 4 * (data[place] & 15)
    (total,) = struct.unpack_from(">H", data, place + 2)
    (fragment,) = struct.unpack_from(">H", data, place + 6)
    protocol = data[place + 9]
    if protocol in (4, 41, 47):
        return "tunnels"
    if protocol != TCP:
        return None
    if fragment & 0x3FFF:
        return "fragments"
    total = total or length - place
    ends = data[place + 12 : place + 16], data[place + 16 : place + 20]
    return _parse_tcp(data, place + header, total - header, ends)


def _parse_ipv6(data: bytes, place: int, length: int) -> tuple[End, End, int, int, int] | str | None:
    """Returns the segment in the IPv6 packet at offset `place`, a reason or None, as `_parse_frame` does."""
    (total,) = struct.unpack_from(">H", data, place + 4)
    following, ends = data[place + 6], (data[place + 8 : place + 24], data[place + 24 : place + 40])
    total = total or length - place - 40
    place += 40
    while following in EXTENSIONS:
        size = 8 * (data[place + 1] + 1)
        following, place, total = data[place], place + size, total - size
    if following == FRAGMENT:
        return "fragments"
    if following in (4, 41, 47):
        return "tunnels"
    return _parse_tcp(data, place, total, ends) if following == TCP else None


def _parse_tcp(
    data: bytes, place: int, total: int, ends: tuple[bytes, bytes]
) -> tuple[End, End, int, int, int]:
    """Returns the segment whose TCP header is at an offset `place`, as `_parse_frame` does.

    `total` is the length of header and payload, bytes.
    """
    source, target, sequence = struct.unpack_from(">HHI", data, place)
    header, flags = 4 * (data[place + 12] >> 4), data[place + 13]
    return (ends[0], source), (ends[1], target), sequence, flags, max(total - header, 0)
