"""Measures the CPU and memory that a large log takes: `python -m bench.logs [ROWS]` (default 5,000,000).

Writes a Zeek conn.log of random connections into a temporary folder. Then separate processes read
and summarise it, and read its columns with polars.
"""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FIELDS = (
    "ts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tduration\torig_bytes\tresp_bytes\t"
    "conn_state\tlocal_orig\tlocal_resp\tmissed_bytes\thistory\torig_pkts\torig_ip_bytes\tresp_pkts\t"
    "resp_ip_bytes\ttunnel_parents"
)
CLIENTS, SERVERS = 20_000, 100_000
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
OURS = """
import sys
from mousehole import _engine
traffic = _engine.read_traffic([sys.argv[1]])
print(traffic.summary(None)["connections"])
"""
POLARS = """
import sys
import polars as pl
frame = pl.read_csv(sys.argv[1], separator="\\t", comment_prefix="#", has_header=False, null_values="-",
                    quote_char=None, infer_schema_length=10_000)
print(frame.height)
"""


@dataclass(frozen=True)
class Cost:
    """The CPU seconds and peak memory of a process, and its output."""

    cpu_s: float
    peak_bytes: int
    printed: str


def generate_lines(rows: int) -> Iterator[str]:
    """Yields the lines of a log: nine tenths TCP, some DNS and QUIC, and rows without payload.

    The draws have a fixed seed, so that equal `rows` give equal lines.
    """
    yield "#separator \\x09\n#unset_field\t-\n#path\tconn\n#fields\t" + FIELDS + "\n"
    draw = random.Random(7)  # noqa: S311 (no secret)
    clients = [
        f"10.{draw.getrandbits(4)}.{draw.getrandbits(6)}.{draw.getrandbits(8)}" for _ in range(CLIENTS)
    ]
    servers = [
        f"{20 + draw.getrandbits(7)}.{draw.getrandbits(8)}.{draw.getrandbits(8)}.{draw.getrandbits(8)}"
        for _ in range(SERVERS)
    ]
    now = 1.7e9
    for _ in range(rows):
        now += draw.random() * 0.04
        duration = draw.random() ** 4 * 30
        up, down = int(200 + draw.random() * 900), int(100 / (draw.random() + 1e-6) ** 0.83)
        port, transport, service = 443 if draw.random() < 0.8 else 80, "tcp", "ssl"
        kind = draw.random()
        if kind > 0.97:
            port, service, down = 22, "-", 0
        elif kind > 0.95:
            transport, service = "udp", "quic,ssl"
        elif kind > 0.8:
            port, transport, service, down = 53, "udp", "dns", int(draw.random() * 300)
        uid = "".join(draw.choices(LETTERS, k=17))
        client, server = (
            clients[int(CLIENTS * draw.random() ** 2)],
            servers[int(SERVERS * draw.random() ** 3)],
        )
        sent, received = up // 1000 + 4, down // 1448 + 3
        ends = f"{client}\t{1024 + draw.getrandbits(15)}\t{server}\t{port}"
        first = f"{now - duration:.6f}\tC{uid}\t{ends}\t{transport}\t{service}\t{duration:.6f}\t{up}\t{down}"
        packets = f"{sent}\t{up + sent * 40}\t{received}\t{down + received * 52}"
        yield f"{first}\tSF\tT\tF\t0\tShADadFf\t{packets}\t-\n"


def measure_cost(program: str, file: Path) -> Cost:
    """Runs a Python program with the file as its argument and returns its cost.

    Ends the program if it fails.
    """
    with subprocess.Popen(
        [sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE, text=True
    ) as child:
        printed = child.stdout.read() if child.stdout else ""
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"logs: the program ended with {child.returncode}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, printed.strip())


def main(arguments: list[str]) -> None:
    """Prints the cost of both readers beyond that of starting Python with their packages.

    Writes the log into a temporary folder.
    """
    rows = int(arguments[0]) if arguments else 5_000_000
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "conn.log"
        with file.open("w") as out:
            out.writelines(generate_lines(rows))
        ours, polars = measure_cost(OURS, file), measure_cost(POLARS, file)
        ours_start, polars_start = measure_cost("import mousehole", file), measure_cost("import polars", file)
    connections = int(ours.printed)
    each = (ours.peak_bytes - ours_start.peak_bytes) / connections
    ours_s, polars_s = ours.cpu_s - ours_start.cpu_s, polars.cpu_s - polars_start.cpu_s
    print(f"{rows} rows, {connections} connections")
    print(
        f"mousehole: {ours_s:.1f} s of CPU, peak {ours.peak_bytes / 1e9:.2f} GB, {each:.0f} B per connection"
    )
    print(f"polars:    {polars_s:.1f} s of CPU, peak {polars.peak_bytes / 1e9:.2f} GB, for reading alone")
    print(f"ratio of CPU: {ours_s / polars_s:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
