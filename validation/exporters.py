"""The same traffic through exporters of flows: each must give the same connections, clients and bytes.

`make validation WHAT=exporters` makes a capture, has nfdump's, softflowd's, Argus' and Wireshark's programs
export it, and reads what they wrote. The capture has keep-alive connections that their server closes
after a silence, which exporters report as flows of their own. The last line counts the ways that agree.
"""

from __future__ import annotations

import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import mousehole
from mousehole.base import MouseholeError

START = 1_700_000_000
CONNECTIONS = 40
CLIENTS = 5
SEGMENT = 1460
REQUEST = 300
SILENCE_S = 40.0
"""After this, the server closes every third connection."""
INACTIVE_S = 15
"""Exporters report a flow that is silent for so long."""
WAIT_S = 60.0


@dataclass(frozen=True)
class Counts:
    """The connections, clients, servers and payload bytes that Mousehole reads from an export."""

    connections: int
    clients: int
    servers: int
    payload_bytes: int


def answer_bytes(number: int) -> int:
    """Returns the payload of the answer on connection `number`, bytes.

    Its last segment is longer than an acknowledgement with options, which exporters cannot distinguish from
    it.
    """
    return 400 + (SEGMENT + 9) * number


EXPECTED = Counts(CONNECTIONS, CLIENTS, 1, sum(answer_bytes(number) for number in range(CONNECTIONS)))


def _make_headers(
    ends: tuple[bytes, bytes], ports: tuple[int, int], numbers: tuple[int, int], flags: int
) -> bytes:
    """Returns the headers of Ethernet, IPv4 and TCP; `_make_frames` fills in length and checksum.

    `numbers` are those of sequence and acknowledgement.
    """
    tcp = struct.pack(">HHIIBBHHH", *ports, *numbers, 0x50, flags, 65535, 0, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 0, 0, 0x4000, 64, 6, 0) + b"".join(ends)
    return bytes(range(12)) + b"\x08\x00" + ip + tcp


def _make_frames() -> Iterator[tuple[float, bytes]]:
    """Yields time, s, and bytes of each frame of all connections, connection by connection."""
    server = bytes([198, 51, 100, 7])
    for number in range(CONNECTIONS):
        client, port = bytes([192, 0, 2, 10 + number % CLIENTS]), 40_000 + number
        at, sent, received = float(number), 1, 1

        def frame(from_client: bool, flags: int, length: int = 0) -> bytes:
            """Returns a frame with the present numbers and `length` zero bytes of payload.

            It goes from the client or to it.
            """
            ends = (client, server) if from_client else (server, client)  # noqa: B023
            ports = (port, 443) if from_client else (443, port)  # noqa: B023
            numbers = (sent, received) if from_client else (received, sent)  # noqa: B023
            data = bytearray(_make_headers(ends, ports, numbers, flags)) + bytes(length)
            data[16:18] = struct.pack(">H", len(data) - 14)
            words = struct.unpack(">10H", data[14:34])
            total = sum(words)
            data[24:26] = struct.pack(">H", 0xFFFF - (total % 0xFFFF))
            return bytes(data)

        sent, received = 0, 0
        yield at, frame(True, 0x02)
        yield at + 0.04, frame(False, 0x12)
        sent, received = 1, 1
        yield at + 0.0405, frame(True, 0x10)
        yield at + 0.041, frame(True, 0x18, REQUEST)
        sent += REQUEST
        left, now = answer_bytes(number), at + 0.09
        while left:
            part = min(left, SEGMENT)
            yield now, frame(False, 0x18 if part == left else 0x10, part)
            received += part
            left -= part
            now += 0.0012
        yield now + 0.02, frame(True, 0x10)
        end = now + (SILENCE_S if number % 3 == 0 else 0.03)
        yield end, frame(False, 0x11)
        received += 1
        yield end + 0.02, frame(True, 0x11)
        sent += 1
        yield end + 0.04, frame(False, 0x10)


def write_capture(path: Path) -> None:
    """Writes the pcap file that all exporters read, its frames in order of time.

    Its content is the same each time; an older file is replaced.
    """
    head = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    records = []
    for at, frame in sorted(_make_frames(), key=lambda pair: pair[0]):
        micros = round(at * 1e6)
        seconds, rest = divmod(micros, 1_000_000)
        records.append(struct.pack("<IIII", START + seconds, rest, len(frame), len(frame)) + frame)
    path.write_bytes(head + b"".join(records))


def read_counts(path: Path) -> Counts:
    """Returns the counts that Mousehole reads from a file.

    Raises `MouseholeError` for a file that cannot be read.
    """
    found = mousehole.inspect(path)
    return Counts(found["connections"], found["clients"], found["servers"], found["payload_bytes"])


def _run(*words: str | Path, out: Path | None = None) -> None:
    """Runs a program with its standard output in `out`, if given, and waits for it.

    Raises `CalledProcessError` if it fails, `FileNotFoundError` if it is not installed, and `TimeoutExpired`
    after `WAIT_S`.
    """
    with (out or Path("/dev/null")).open("wb") as stream:
        subprocess.run(
            [_locate(str(words[0])) or words[0], *map(str, words[1:])],
            stdout=stream,
            stderr=subprocess.DEVNULL,
            timeout=WAIT_S,
            check=True,
        )


def _export_nfdump(capture: Path, folder: Path, *options: str) -> Path:
    """Has nfpcapd make flows of the capture, and nfdump print them; returns the file of the flows.

    Raises as `_run` does.
    """
    kept = folder / "kept"
    kept.mkdir()
    _run("nfpcapd", "-r", capture, "-w", kept, "-e", f"300,{INACTIVE_S}")
    _run("nfdump", "-R", kept, "-N", *options, out=folder / "flows")
    return folder / "flows"


@contextmanager
def _run_collector(kept: Path) -> Iterator[int]:
    """Runs nfcapd on a free port of loopback during the block; yields the port.

    It has a second to take the datagrams under way. Raises `TimeoutError` if it does not open its port.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    words = [
        _locate("nfcapd") or "nfcapd",
        "-w",
        str(kept),
        "-p",
        str(port),
        "-b",
        "127.0.0.1",
        "-t",
        "3600",
    ]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(lambda: f":{port:04X} " in Path("/proc/net/udp").read_text(encoding="ascii"))
            yield port
            time.sleep(1)  # datagrams are on their way
        finally:
            process.terminate()


def _wait_for(is_so: Callable[[], bool]) -> None:
    """Waits until the condition holds; raises `TimeoutError` after `WAIT_S`."""
    begin = time.monotonic()
    while not is_so():
        if time.monotonic() - begin > WAIT_S:
            raise TimeoutError("the collector did not open its port")
        time.sleep(0.05)


def _export_softflowd(capture: Path, folder: Path, version: str) -> Path:
    """Has softflowd export the capture to nfcapd, and nfdump write a table; returns the table.

    Raises as `_run` and `_run_collector` do.
    """
    kept = folder / "kept"
    kept.mkdir()
    with _run_collector(kept) as port:
        _run(
            "softflowd", "-r", capture, "-d", "-a", "-v", version, "-n", f"127.0.0.1:{port}", "-c", "none",
            "-p", folder / "pid", "-t", f"general={INACTIVE_S}", "-t", f"tcp={INACTIVE_S}",
        )  # fmt: skip
    _run("nfdump", "-R", kept, "-N", "-o", "csv", out=folder / "flows")
    return folder / "flows"


def _export_argus(capture: Path, folder: Path) -> Path:
    """Has Argus read the capture, and ra write a table of its flows; returns the table.

    Raises as `_run` does.
    """
    _run("argus", "-r", capture, "-w", folder / "kept")
    fields = [
        "stime",
        "dur",
        "proto",
        "saddr",
        "sport",
        "daddr",
        "dport",
        "spkts",
        "dpkts",
        "sbytes",
        "dbytes",
    ]
    _run("ra", "-r", folder / "kept", "-n", "-c", ",", "-u", "-s", *fields, out=folder / "flows")
    return folder / "flows"


def _export_tshark(capture: Path, folder: Path, form: str) -> Path:
    """Has tshark rewrite the capture in another file format; returns the file.

    Raises as `_run` does.
    """
    _run("tshark", "-r", capture, "-F", form, "-w", folder / "packets")
    return folder / "packets"


WAYS: dict[str, tuple[tuple[str, ...], Callable[[Path, Path], Path]]] = {
    "nfpcapd, nfdump -o csv": (("nfpcapd", "nfdump"), lambda c, f: _export_nfdump(c, f, "-o", "csv")),
    "nfpcapd, nfdump -q -o csv": (
        ("nfpcapd", "nfdump"),
        lambda c, f: _export_nfdump(c, f, "-q", "-o", "csv"),
    ),
    "nfpcapd, nfdump -b -o csv": (
        ("nfpcapd", "nfdump"),
        lambda c, f: _export_nfdump(c, f, "-b", "-o", "csv"),
    ),
    "nfpcapd, nfdump -o json": (("nfpcapd", "nfdump"), lambda c, f: _export_nfdump(c, f, "-o", "json")),
    "nfpcapd, nfdump -o pipe": (("nfpcapd", "nfdump"), lambda c, f: _export_nfdump(c, f, "-o", "pipe")),
    "softflowd, NetFlow 5": (("softflowd", "nfcapd", "nfdump"), lambda c, f: _export_softflowd(c, f, "5")),
    "softflowd, NetFlow 9": (("softflowd", "nfcapd", "nfdump"), lambda c, f: _export_softflowd(c, f, "9")),
    "softflowd, IPFIX": (("softflowd", "nfcapd", "nfdump"), lambda c, f: _export_softflowd(c, f, "10")),
    "Argus, ra": (("argus", "ra"), _export_argus),
    "tshark, pcapng": (("tshark",), lambda c, f: _export_tshark(c, f, "pcapng")),
    "tshark, snoop": (("tshark",), lambda c, f: _export_tshark(c, f, "snoop")),
}
"""Programs that each way needs, and what makes a file of a capture."""


def list_missing(way: str) -> list[str]:
    """Returns the programs that a way of export needs and that are not installed."""
    return [name for name in WAYS[way][0] if _locate(name) is None]


def _locate(program: str) -> str | None:
    """Returns the path of a program, also from /usr/sbin and /sbin, or None if it is not installed."""
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")


def export(way: str, capture: Path, folder: Path) -> Path:
    """Exports a capture in one of `WAYS` into a new folder; returns the file for Mousehole to read.

    Raises `FileExistsError` if the folder exists, and as `_run` does.
    """
    folder.mkdir()
    return WAYS[way][1](capture, folder)


def main() -> None:
    """Prints the counts read from each export; exits with 1 unless all ways ran and agree.

    A way whose programs are missing counts as not run.
    """
    agree = tried = 0
    with tempfile.TemporaryDirectory(prefix="exporters-") as name:
        folder = Path(name)
        write_capture(folder / "a.pcap")
        print(f"the capture itself: {read_counts(folder / 'a.pcap')}")
        for number, way in enumerate(WAYS):
            if lacking := list_missing(way):
                print(f"{way}: NOT RUN: {', '.join(lacking)} is not installed (make deps)")
                continue
            tried += 1
            try:
                found = read_counts(export(way, folder / "a.pcap", folder / str(number)))
            except (MouseholeError, subprocess.SubprocessError, OSError) as error:
                print(f"{way}: {error}")
                continue
            agree += found == EXPECTED
            print(f"{way}: {'equal' if found == EXPECTED else found}")
    print(f"exporters: {agree} of {tried} ways give {EXPECTED}")
    sys.exit(0 if agree == tried == len(WAYS) else 1)


if __name__ == "__main__":
    main()
