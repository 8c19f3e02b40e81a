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
    """What is read of an export."""

    connections: int
    clients: int
    servers: int
    payload_bytes: int


def size(number: int) -> int:
    """Returns the payload of the answer of a connection.

    Its last packet is longer than an acknowledgement with options, which exporters do not tell from it.
    """
    return 400 + (SEGMENT + 9) * number


EXPECTED = Counts(CONNECTIONS, CLIENTS, 1, sum(size(number) for number in range(CONNECTIONS)))


def _packet(ends: tuple[bytes, bytes], ports: tuple[int, int], numbers: tuple[int, int], flags: int) -> bytes:
    """Returns the headers of Ethernet, IPv4 and TCP; a length is put in by `_frames`."""
    tcp = struct.pack(">HHIIBBHHH", *ports, *numbers, 0x50, flags, 65535, 0, 0)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 0, 0, 0x4000, 64, 6, 0) + b"".join(ends)
    return bytes(range(12)) + b"\x08\x00" + ip + tcp


def _frames() -> Iterator[tuple[float, bytes]]:
    server = bytes([198, 51, 100, 7])
    for number in range(CONNECTIONS):
        client, port = bytes([192, 0, 2, 10 + number % CLIENTS]), 40_000 + number
        at, sent, received = float(number), 1, 1

        def frame(from_client: bool, flags: int, length: int = 0) -> bytes:
            ends = (client, server) if from_client else (server, client)  # noqa: B023
            ports = (port, 443) if from_client else (443, port)  # noqa: B023
            numbers = (sent, received) if from_client else (received, sent)  # noqa: B023
            data = bytearray(_packet(ends, ports, numbers, flags)) + bytes(length)
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
        left, now = size(number), at + 0.09
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
    """Writes the capture that is exported."""
    head = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    records = []
    for at, frame in sorted(_frames(), key=lambda pair: pair[0]):
        micros = round(at * 1e6)
        seconds, rest = divmod(micros, 1_000_000)
        records.append(struct.pack("<IIII", START + seconds, rest, len(frame), len(frame)) + frame)
    path.write_bytes(head + b"".join(records))


def counted(path: Path) -> Counts:
    """Returns what Mousehole reads of a file."""
    found = mousehole.inspect(path)
    return Counts(found["connections"], found["clients"], found["servers"], found["payload_bytes"])


def _run(*words: str | Path, out: Path | None = None) -> None:
    """Runs a program; raises `CalledProcessError` if it fails."""
    with (out or Path("/dev/null")).open("wb") as stream:
        subprocess.run(
            [_locate(str(words[0])) or words[0], *map(str, words[1:])],
            stdout=stream,
            stderr=subprocess.DEVNULL,
            timeout=WAIT_S,
            check=True,
        )


def _nfdump(capture: Path, folder: Path, *options: str) -> Path:
    """Has nfpcapd make flows of the capture, and nfdump text of them."""
    kept = folder / "kept"
    kept.mkdir()
    _run("nfpcapd", "-r", capture, "-w", kept, "-e", f"300,{INACTIVE_S}")
    _run("nfdump", "-R", kept, "-N", *options, out=folder / "flows")
    return folder / "flows"


@contextmanager
def _collector(kept: Path) -> Iterator[int]:
    """Runs nfcapd on a free port of loopback, which it hands over."""
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
    begin = time.monotonic()
    while not is_so():
        if time.monotonic() - begin > WAIT_S:
            raise TimeoutError("the collector did not open its port")
        time.sleep(0.05)


def _softflowd(capture: Path, folder: Path, version: str) -> Path:
    """Has softflowd export the capture to nfcapd, and nfdump write a table."""
    kept = folder / "kept"
    kept.mkdir()
    with _collector(kept) as port:
        _run(
            "softflowd", "-r", capture, "-d", "-a", "-v", version, "-n", f"127.0.0.1:{port}", "-c", "none",
            "-p", folder / "pid", "-t", f"general={INACTIVE_S}", "-t", f"tcp={INACTIVE_S}",
        )  # fmt: skip
    _run("nfdump", "-R", kept, "-N", "-o", "csv", out=folder / "flows")
    return folder / "flows"


def _argus(capture: Path, folder: Path) -> Path:
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


def _tshark(capture: Path, folder: Path, form: str) -> Path:
    _run("tshark", "-r", capture, "-F", form, "-w", folder / "packets")
    return folder / "packets"


WAYS: dict[str, tuple[tuple[str, ...], Callable[[Path, Path], Path]]] = {
    "nfpcapd, nfdump -o csv": (("nfpcapd", "nfdump"), lambda c, f: _nfdump(c, f, "-o", "csv")),
    "nfpcapd, nfdump -q -o csv": (("nfpcapd", "nfdump"), lambda c, f: _nfdump(c, f, "-q", "-o", "csv")),
    "nfpcapd, nfdump -b -o csv": (("nfpcapd", "nfdump"), lambda c, f: _nfdump(c, f, "-b", "-o", "csv")),
    "nfpcapd, nfdump -o json": (("nfpcapd", "nfdump"), lambda c, f: _nfdump(c, f, "-o", "json")),
    "nfpcapd, nfdump -o pipe": (("nfpcapd", "nfdump"), lambda c, f: _nfdump(c, f, "-o", "pipe")),
    "softflowd, NetFlow 5": (("softflowd", "nfcapd", "nfdump"), lambda c, f: _softflowd(c, f, "5")),
    "softflowd, NetFlow 9": (("softflowd", "nfcapd", "nfdump"), lambda c, f: _softflowd(c, f, "9")),
    "softflowd, IPFIX": (("softflowd", "nfcapd", "nfdump"), lambda c, f: _softflowd(c, f, "10")),
    "Argus, ra": (("argus", "ra"), _argus),
    "tshark, pcapng": (("tshark",), lambda c, f: _tshark(c, f, "pcapng")),
    "tshark, snoop": (("tshark",), lambda c, f: _tshark(c, f, "snoop")),
}
"""Programs that each way needs, and what makes a file of a capture."""


def missing(way: str) -> list[str]:
    """Returns the programs of a way that are not installed."""
    return [name for name in WAYS[way][0] if _locate(name) is None]


def _locate(program: str) -> str | None:
    """Returns the path of a program; those for root are not on everybody's path."""
    return shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")


def exported(way: str, capture: Path, folder: Path) -> Path:
    """Returns the file that a way makes of a capture."""
    folder.mkdir()
    return WAYS[way][1](capture, folder)


def main() -> None:
    """Prints what is read of each export."""
    agree = tried = 0
    with tempfile.TemporaryDirectory(prefix="exporters-") as name:
        folder = Path(name)
        write_capture(folder / "a.pcap")
        print(f"the capture itself: {counted(folder / 'a.pcap')}")
        for number, way in enumerate(WAYS):
            if lacking := missing(way):
                print(f"{way}: NOT RUN: {', '.join(lacking)} is not installed (make deps)")
                continue
            tried += 1
            try:
                found = counted(exported(way, folder / "a.pcap", folder / str(number)))
            except (MouseholeError, subprocess.SubprocessError, OSError) as error:
                print(f"{way}: {error}")
                continue
            agree += found == EXPECTED
            print(f"{way}: {'equal' if found == EXPECTED else found}")
    print(f"exporters: {agree} of {tried} ways give {EXPECTED}")
    sys.exit(0 if agree == tried == len(WAYS) else 1)


if __name__ == "__main__":
    main()
