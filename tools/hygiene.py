"""Finds files that do not belong in the repository: traces, machine paths, unfinished work,
conflicts, large files.

tests/test_hygiene.py asserts that there is none.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

MOST_BYTES = 300_000

TRACE_NAMES = re.compile(r"\.(pcap|pcapng|cap|erf|log|tsv|parquet|gz|xz|zst|zip)$", re.IGNORECASE)
TRACE_MAGIC = {
    b"\xd4\xc3\xb2\xa1": "a pcap capture",
    b"\xa1\xb2\xc3\xd4": "a pcap capture",
    b"\x4d\x3c\xb2\xa1": "a pcap capture",
    b"\xa1\xb2\x3c\x4d": "a pcap capture",
    b"\x0a\x0d\x0d\x0a": "a pcapng capture",
    b"\x1f\x8b": "gzip data",
    b"PAR1": "a Parquet file",
    b"#separator \\x09": "a Zeek log",
}

# The words are put together here so that this file does not complain about itself.
MACHINE_PATH = re.compile(
    r"(?<![\w./~-])/(?:wo" r"rk|ro" r"ot|ho" r"me/\w+|opt/wh" r"eels|Us" r"ers/\w+)(?![\w-])"
)
UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b|\b(?:to" r"do|unimple" r"mented)!\(")
CONFLICT = re.compile(r"^(?:<{7}|\|{7}|>{7})(?: |$)")
LINE_RULES = {
    CONFLICT: "is left of a conflict of git's",
    MACHINE_PATH: "names a path of one machine",
    UNFINISHED: "marks unfinished work",
}


def tracked_files(root: Path) -> list[Path]:
    """Returns every file that git tracks or would add, relative to `root`, sorted.

    Raises `CalledProcessError` outside a repository.
    """
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listing = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return sorted(Path(name) for name in set(listing.split("\0")) if name and (root / name).is_file())


def find_faults(name: Path, content: bytes) -> list[str]:
    """Returns all faults of one file."""
    return [
        *find_trace_faults(name, content),
        *find_size_faults(name, content),
        *find_line_faults(name, content),
    ]


def find_trace_faults(name: Path, content: bytes) -> list[str]:
    """Returns a fault if the name or the content is that of a trace or an archive."""
    found = [f"{name}: looks like {what}" for magic, what in TRACE_MAGIC.items() if content.startswith(magic)]
    if TRACE_NAMES.search(name.name):
        found.append(f"{name}: traces and archives stay out of the repository")
    return found


def find_size_faults(name: Path, content: bytes) -> list[str]:
    """Returns a fault if the file is larger than `MOST_BYTES`."""
    return [f"{name}: {len(content)} bytes, at most {MOST_BYTES}"] if len(content) > MOST_BYTES else []


def find_line_faults(name: Path, content: bytes) -> list[str]:
    """Returns a fault for each line that breaks one of the LINE_RULES; binary files have none."""
    if b"\0" in content:
        return []
    text = content.decode("utf-8", errors="replace")
    return [
        f"{name}:{number}: {what}: {match[0]}"
        for number, line in enumerate(text.splitlines(), 1)
        for rule, what in LINE_RULES.items()
        if (match := rule.search(line))
    ]


def list_make_targets(makefile: str) -> set[str]:
    """Returns the targets of a makefile that a user can name."""
    return {
        name
        for line in makefile.splitlines()
        if (match := re.match(r"([a-z][\w -]*):(?!=)", line))
        for name in match[1].split()
    }


def list_targets_without_help(makefile: str, help_text: str) -> set[str]:
    """Returns the targets that `make help` does not list."""
    return {
        name for name in list_make_targets(makefile) if not re.search(rf"^\s*make {name}\s", help_text, re.M)
    }


def list_called_targets(script: str) -> set[str]:
    """Returns the make targets that .ci/run calls."""
    return set(re.findall(r"^step (\S+)", script, re.MULTILINE))


def find_all_faults(root: Path, names: Iterable[Path]) -> list[str]:
    """Returns the faults of all named files under `root`."""
    return [fault for name in names for fault in find_faults(name, (root / name).read_bytes())]
