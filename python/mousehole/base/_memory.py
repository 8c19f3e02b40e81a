"""How much memory this process may still take."""

import os
from collections.abc import Iterator
from pathlib import Path

MEMINFO = Path("/proc/meminfo")
GROUP_OF_PROCESS = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")
ROW_BYTES = 300
"""Bytes of free memory for each row that reading may hold while half of them are kept; one takes some 110."""
LEAST_ROWS = 1 << 12
SHARE = 0.7
"""Share of the free memory that reading may take; what takes more is refused."""


def available_bytes() -> int | None:
    """Returns the bytes that this process may still take; None where the system does not report it.

    This is the least of what the machine has left, what the process's control groups leave, and the limit
    on address space (`ulimit -v`).
    """
    known = [
        limit for limit in (_read_machine(), *_read_groups(), address_space_bytes()) if limit is not None
    ]
    return max(min(known), 0) if known else None


def estimate_reading_room() -> tuple[int | None, int | None]:
    """Returns how many rows of traffic may be held at once, and how many bytes reading may take.

    The number of rows is a power of two, at least `LEAST_ROWS`, so that a machine whose memory is used a
    little differently reads the same. Both are None where the system does not report the memory that is left.
    """
    left = available_bytes()
    if left is None:
        return None, None
    rows = max(left // ROW_BYTES, LEAST_ROWS)
    return 1 << (rows.bit_length() - 1), int(left * SHARE)


def _read_machine() -> int | None:
    """Returns the bytes of memory that the machine can still give; None if unknown.

    Where there is no /proc/meminfo, as elsewhere than on Linux, it is all memory, used or not.
    """
    try:
        for line in MEMINFO.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return None


def _read_groups() -> Iterator[int]:
    """Yields the bytes that each control group of the process, and each above it, leaves (version 2 or 1).

    Groups without a limit, and all where the system reports none, are left out. A value may be negative.
    """
    try:
        lines = GROUP_OF_PROCESS.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, name = line.split(":", 2)
        if controllers == "":
            root, most, used = GROUPS, "memory.max", "memory.current"
        elif "memory" in controllers.split(","):
            root, most, used = GROUPS / "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        own = root / name.lstrip("/")
        for folder in (own, *own.parents):
            limit, taken = _read_number(folder / most), _read_number(folder / used)
            if limit is not None and taken is not None:
                yield limit - taken
            if folder == root:
                break


def address_space_bytes() -> int | None:
    """Returns the bytes that the limit on address space (`ulimit -v`) leaves.

    None without a limit, and where the system reports neither limit nor use. It may be negative.
    """
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return limit - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None


def _read_number(path: Path) -> int | None:
    """Returns the number in a file of the system; None if the file is absent or holds something else."""
    try:
        return int(path.read_text(encoding="ascii"))
    except (OSError, ValueError):  # absent, or "max"
        return None
