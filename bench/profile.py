"""Prints the parts of the sources to which a data packet's instructions belong, by callgrind.

`python -m bench.profile web` runs a case of mousehole-bench for a long and a short simulated time;
the difference leaves set-up out. Inlined code counts where it is written, so that code which the
compiler inlined from Rust's library (indexing, vectors, saturating arithmetic) is a separate part.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench import BINARY

TIMES = {"bulk": (4, 2), "web": (20, 1)}
"""Simulated seconds of the long and the short run of each case."""
PARTS = (
    ("engine: hosts, forwarding, events", r"sim/src/engine/"),
    ("wheel", r"sim/src/wheel\.rs"),
    ("TCP", r"sim/src/tcp/"),
    ("links, queues and packets", r"sim/src/(link|packet)\.rs|sim/src/queue/|policy/src/base\.rs"),
    ("policies in C, and calls of them", r"policy/"),
    ("records", r"sim/src/record\.rs"),
    ("random draws", r"sim/src/rng\.rs|/libm-"),
    ("traffic, scenario and ideal times", r"sim/src/(traffic|scenario)/"),
    ("Rust's library, inlined", r"^/rustc/|/library/"),
    ("C library and the rest", r""),
)
"""Each part and the pattern of its files; the first that matches counts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Profiles one case and prints its parts, in instructions per data packet.

    Returns 0; ends the program if a run fails.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("case", choices=sorted(TIMES))
    parser.add_argument("--binary", type=Path, default=BINARY)
    options = parser.parse_args(arguments)
    (long, packets), (short, fewer) = (
        profile([str(options.binary), options.case, str(seconds)]) for seconds in TIMES[options.case]
    )
    long.subtract(short)
    per_packet = {part: count / (packets - fewer) for part, count in sum_by_part(long).items()}
    total = sum(per_packet.values())
    for part, count in per_packet.items():
        print(f"{part:36}{count:8.0f}{count / total:7.0%}")
    print(f"{'all':36}{total:8.0f}")
    return 0


def profile(command: Sequence[str]) -> tuple[Counter[str], int]:
    """Runs a command under callgrind; returns its instructions by source file, and its data packets.

    Ends the program if it fails.
    """
    with tempfile.NamedTemporaryFile("r", suffix=".callgrind") as output:
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={output.name}", *command]
        environment = {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
        done = subprocess.run(valgrind, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            raise SystemExit(f"profile: {' '.join(valgrind)} failed:\n{done.stderr[-2000:]}")
        return sum_by_file(output), int(json.loads(done.stdout)["data_packets_forward"])


def sum_by_file(lines: Iterable[str]) -> Counter[str]:
    """Returns the instructions by source file from a profile in callgrind's format.

    A name follows its number at its first occurrence only. The line after `calls=` holds the cost of the
    called function, which is counted in that function.
    """
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    file, is_call = "", False
    for line in lines:
        named = re.match(r"(fl|fi|fe|cfi|cfl)=\((\d+)\)(?: (.*))?", line)
        if named:
            kind, number, name = named.groups()
            if name:
                names[number] = name
            if kind in {"fl", "fi", "fe"}:
                file = names[number]
        elif line.startswith("calls="):
            is_call = True
        elif re.match(r"[\d+*-]", line):
            if not is_call:
                counts[file] += int(line.split()[1])
            is_call = False
    return counts


def sum_by_part(files: Counter[str]) -> dict[str, int]:
    """Returns the instructions of each of `PARTS`, in their order, from those by file."""
    parts = dict.fromkeys((part for part, _ in PARTS), 0)
    for file, count in files.items():
        parts[next(part for part, pattern in PARTS if re.search(pattern, file))] += count
    return parts


if __name__ == "__main__":
    sys.exit(main())
