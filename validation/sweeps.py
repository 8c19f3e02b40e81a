"""Kills a large sweep repeatedly and compares its files: `make validation WHAT=sweeps`.

It also reports the memory of the uninterrupted sweep in each tenth of its duration.
"""

import argparse
import filecmp
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SWEEP = """\
traffic = "web:sfd"
schemes = ["droptail", "sfd"]
seeds = 1
[options]
rate = "1mbit"
duration = "2s"
warmup = "1s"
[axes]
load = {{ from = 0.4, to = 0.95, steps = 10 }}
buffer = {{ from = "10p", to = "100p", steps = 10 }}
rtt = {{ from = "20ms", to = "400ms", steps = {steps} }}
"""
"""A hundred cells for each round-trip time."""
PARTS = 10


def main() -> int:
    """Runs the sweeps in a temporary folder; returns 1 if they differ, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=10)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="mousehole-sweep-test-"))
    try:
        return _compare_files(folder, given.cells, given.kills)
    finally:
        shutil.rmtree(folder)


def _compare_files(folder: Path, cells: int, kills: int) -> int:
    """Runs a sweep whole, and another one with kills, in `folder`; returns 1 if their files differ.

    Returns 1 too if a sweep fails to end or was killed less often than asked for.
    """
    source = folder / "large.toml"
    source.write_text(SWEEP.format(steps=max(2, cells // 100)))
    begin = time.monotonic()
    memory = _run_watched(source, folder / "whole")
    took = time.monotonic() - begin
    print(f"not killed: {_count_rows(folder / 'whole')} rows in {took:.0f} s")
    tenths = [int(part.max()) if part.size else 0 for part in np.array_split(np.array(memory), PARTS)]
    print(f"largest resident memory in each tenth of its time, in MB: {', '.join(map(str, tenths))}")
    total, killed = _count_rows(folder / "whole"), 0
    for stop in range(1, kills + 1):
        killed += _kill_at(source, folder / "stopped", stop * total // (kills + 1))
    print(f"killed {killed} times, after the last with {_count_rows(folder / 'stopped')} rows in whole files")
    if _start_sweep(source, folder / "stopped").wait():
        print("the sweep that was killed did not end")
        return 1
    same, other = (sorted(path.relative_to(one) for path in one.rglob("*.*"))
                   for one in (folder / "whole", folder / "stopped"))  # fmt: skip
    _, differing, missing = filecmp.cmpfiles(folder / "whole", folder / "stopped", same, shallow=False)
    print(f"{len(same)} files compared, {len(differing) + len(missing)} differ")
    return int(bool(differing or missing or same != other or killed < kills))


def _start_sweep(source: Path, folder: Path) -> "subprocess.Popen[bytes]":
    """Starts the sweep that `source` describes, with its results in `folder`; the caller waits for it."""
    command = [sys.executable, "-m", "mousehole", "sweep", str(source), "--out", str(folder)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _run_watched(source: Path, folder: Path) -> list[int]:
    """Runs a sweep to its end and returns its resident memory, MB, ten times a second, once it has rows.

    Ends the program if it fails.
    """
    process, found = _start_sweep(source, folder), list[int]()
    while process.poll() is None:
        try:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
            resident = [int(line.split()[1]) // 1000 for line in lines if line.startswith("VmRSS:")]
            found += resident if folder.exists() else []
        except (OSError, ValueError):
            pass
        time.sleep(0.1)
    if process.returncode:
        raise SystemExit("the sweep failed")
    return found


def _kill_at(source: Path, folder: Path, at: int) -> bool:
    """Kills a sweep with SIGKILL once it has `at` rows; returns whether it was still running."""
    process = _start_sweep(source, folder)
    while process.poll() is None and _count_rows(folder) + _count_lines(folder) < at:
        time.sleep(0.02)
    was_running = process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    return was_running


def _count_rows(folder: Path) -> int:
    """Returns the number of rows in finished files, 0 if there are none or they cannot be read."""
    import polars as pl

    try:
        return int(pl.scan_parquet(folder / "rows" / "*.parquet").select(pl.len()).collect().item())
    except (OSError, pl.exceptions.PolarsError):
        return 0


def _count_lines(folder: Path) -> int:
    """Returns the number of rows in unfinished files."""
    count = 0
    for path in folder.glob("unfinished/*.jsonl"):
        try:
            count += path.read_bytes().count(b"\n")
        except OSError:
            continue
    return count


if __name__ == "__main__":
    sys.exit(main())
