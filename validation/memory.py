"""Measures the peak memory of reading large files, in control groups with little memory.

`make validation WHAT=memory`, as root on Linux with control groups of memory (version 1 or 2): a
capture, a table under gzip that is 500 times as large, and a long table, each read by `mousehole
inspect` under three limits. It fails if a reading does not succeed. `ARGS='--connections 4200000'` takes
a capture of 2 GB only.
"""

import argparse
import gzip
import os
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mousehole.base import MouseholeError

GROUPS = Path("/sys/fs/cgroup")
LIMITS_MB = (200, 300, 500)
CONNECTIONS = 350_000
CLIENTS = 5_000
ROWS_OF_GZIP = 25_000_000
ROWS_OF_TABLE = 4_000_000
LONGEST_S = 300.0
"""A reading that takes longer is ended."""


def write_capture(file: Path, connections: int = CONNECTIONS) -> None:
    """Writes a capture of connections of seven packets, cut to headers.

    Each has a handshake, a request and 4,380 bytes of answer.
    """
    with file.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        for number in range(connections):
            out.write(b"".join(_make_packets(number)))


def _make_packets(number: int) -> Iterator[bytes]:
    """Yields the pcap records of one connection."""
    client = socket.inet_aton(f"10.{number % CLIENTS // 256}.{number % CLIENTS % 256}.1")
    server = socket.inet_aton("192.0.2.1")
    there = (client, 10_000 + number % 50_000, server, 443)
    back = (server, 443, client, 10_000 + number % 50_000)
    steps = [(there, 0, 0, 2, 0), (back, 9, 1, 18, 0), (there, 1, 10, 16, 0), (there, 1, 10, 24, 300)]
    steps += [(back, 10 + 1460 * place, 301, 24, 1460) for place in range(3)]
    for place, (ends, sequence, acknowledged, flags, payload) in enumerate(steps):
        micros = 1_000_000_000 + 1000 * number + 100 * place
        source, source_port, target, target_port = ends
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0, source, target)
        tcp = struct.pack(
            ">HHIIBBHHH", source_port, target_port, sequence, acknowledged, 0x50, flags, 65535, 0, 0
        )
        frame = bytes(12) + b"\x08\x00" + ip + tcp
        yield struct.pack("<IIII", *divmod(micros, 1_000_000), len(frame), 14 + 40 + payload) + frame


def write_gzip(file: Path) -> None:
    """Writes a gzip file of equal rows, which expands enormously."""
    with gzip.open(file, "wb") as out:
        out.write(b"start,client,bytes\n")
        for _ in range(ROWS_OF_GZIP // 100_000):
            out.write(b"1,10.0.0.1,1500\n" * 100_000)


def write_table(file: Path) -> None:
    """Writes a table with a row for each transfer of many clients."""
    with file.open("w", encoding="utf-8") as out:
        out.write("start,client,server,bytes\n")
        for number in range(ROWS_OF_TABLE):
            client = f"10.{number % 100}.{number // 100 % 50}.7"
            out.write(f"{number / 1000:.3f},{client},192.0.2.1,{1000 + number % 9000}\n")


FILES: dict[str, Callable[[Path], None]] = {
    "capture.pcap": write_capture, "table.csv.gz": write_gzip, "table.csv": write_table,
}  # fmt: skip


@contextmanager
def memory_group(limit_bytes: int) -> Iterator[tuple[Path, Path]]:
    """Makes a control group with a limit of memory for the block, and removes it at the end.

    Yields its list of processes and the file of its peak, bytes. No process may be left in it at the end.
    Raises `MouseholeError` where such groups cannot be made.
    """
    is_old = (GROUPS / "memory").is_dir()
    folder = (GROUPS / "memory" if is_old else GROUPS) / f"mousehole-{os.getpid()}"
    limit, peak = (
        ("memory.limit_in_bytes", "memory.max_usage_in_bytes") if is_old else ("memory.max", "memory.peak")
    )
    try:
        folder.mkdir()
    except OSError as error:
        raise MouseholeError(f"{folder}: no control group can be made ({error.strerror})") from None
    try:
        try:
            (folder / limit).write_text(f"{limit_bytes}\n", encoding="ascii")
        except OSError as error:
            raise MouseholeError(f"{folder / limit}: memory cannot be limited ({error.strerror})") from None
        yield folder / "cgroup.procs", folder / peak
    finally:
        folder.rmdir()


def measure_reading(file: Path, limit_mb: int) -> tuple[int, float]:
    """Runs `mousehole inspect` on a file under a memory limit; returns exit status and peak memory, MB.

    Raises `TimeoutExpired` after `LONGEST_S`, `MouseholeError` where memory cannot be limited.
    """
    with memory_group(limit_mb * 1_000_000) as (processes, peak):
        done = subprocess.run(
            [sys.executable, "-m", "mousehole", "inspect", str(file)],
            preexec_fn=lambda: processes.write_text(f"{os.getpid()}\n", encoding="ascii"),
            stdout=subprocess.DEVNULL, timeout=LONGEST_S, check=False,
        )  # fmt: skip
        return done.returncode, int(peak.read_text(encoding="ascii")) / 1e6


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints a row for each file; returns 1 if a reading failed.

    The files are made in a temporary folder and deleted. Raises `MouseholeError` where memory cannot be
    limited.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--connections", type=int, help="only a capture of so many")
    connections = parser.parse_args(arguments).connections
    files = (
        FILES if connections is None else {"capture.pcap": partial(write_capture, connections=connections)}
    )
    failed = 0
    print("| file | size | " + " | ".join(f"limit {limit} MB" for limit in LIMITS_MB) + " |")
    print("|---" * (len(LIMITS_MB) + 2) + "|")
    with tempfile.TemporaryDirectory(prefix="mousehole-memory-") as folder:
        for name, write in files.items():
            file = Path(folder) / name
            write(file)
            cells = []
            for limit in LIMITS_MB:
                status, held_mb = measure_reading(file, limit)
                failed += status != 0
                cells.append(f"{held_mb:.0f} MB" if status == 0 else f"status {status}")
            print(f"| {name} | {file.stat().st_size / 1e6:.1f} MB | " + " | ".join(cells) + " |", flush=True)
            file.unlink()
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except MouseholeError as error:
        sys.exit(f"memory: {error}")
