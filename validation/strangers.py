"""Counts captures that others recorded twice: by Mousehole, and by a reader that shares no code with it.

`make validation WHAT=strangers ARGS=FOLDER` prints a row for each capture of a folder, with the
share of its bytes that is left out, and ends with status 1 if one differs without a reason. The
second count is `validation.payload`, written from the formats' specifications. It supports
Ethernet, raw IP, Linux cooked and loopback frames with IPv4 or IPv6; a file with anything else is
not compared, and the reason is named.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import mousehole
from mousehole.base import MouseholeError

from tools import document
from validation import payload

SAME, DIFFERS, EXPLAINED = "same", "**differs**", "not compared"


@dataclass(frozen=True)
class Row:
    """The counts of TCP connections and bytes of a file, by two readers."""

    name: str
    ours: tuple[int, int] | None
    """Connections and bytes of payload in both directions, repetitions counted once; None if refused."""
    others: tuple[int, int] | None
    reason: str = ""
    on_wire: tuple[int, int] = (0, 0)
    """Bytes on the wire: used, and all of the file; 0 and its size of a file that is refused."""

    @property
    def left_out(self) -> float:
        """Returns the share of the bytes on the wire that our reader left out; 0 if there are none."""
        used, whole = self.on_wire
        return 1 - used / whole if whole else 0.0

    @property
    def verdict(self) -> str:
        """Returns whether both counts are the same: `SAME`, `DIFFERS`, or `EXPLAINED`.

        A file that either reader refuses, or that has a reason, is `EXPLAINED`, that is, not compared.
        """
        if self.ours is None or self.others is None or self.reason:
            return EXPLAINED
        return SAME if self.ours == self.others else DIFFERS


def read_row(file: Path) -> Row:
    """Returns the counts of a file by both readers; a capture of uploads only is read as such."""
    reason, others = "", None
    try:
        counted = payload.count_payload(file)
        others, reason = (counted.connections, counted.payload), counted.left_out
    except payload.OtherFormatError as error:
        reason = str(error)
    try:
        try:
            capture = mousehole.inspect(file)["sources"][0]["capture"]
        except MouseholeError:  # perhaps it has no download
            capture = mousehole.inspect(file, payload="up")["sources"][0]["capture"]
    except MouseholeError as error:
        said = reason or f"refused: {error.sentence[:60]}"
        return Row(file.name, None, others, said, (0, file.stat().st_size))
    if capture is None:
        return Row(file.name, None, others, reason)
    ours = (capture["tcp_connections"], capture["tcp_bytes"])
    return Row(file.name, ours, others, reason, (capture["used_bytes"], capture["bytes"]))


def read_rows(folder: Path) -> list[Row]:
    """Returns a row for each capture in a folder and those below it, by name."""
    return [
        read_row(file) for file in sorted(folder.rglob("*")) if file.is_file() and payload.is_capture(file)
    ]


def write_table(rows: list[Row]) -> str:
    """Returns the rows as a Markdown table, those that differ first."""

    def shown(counts: tuple[int, int] | None) -> list[str]:
        """Returns the two cells of a reader's counts, empty for None."""
        return ["", ""] if counts is None else [f"{number:,}" for number in counts]

    ordered = sorted(rows, key=lambda row: [DIFFERS, EXPLAINED, SAME].index(row.verdict))
    head = (
        "file",
        "connections",
        "bytes",
        "counted again: connections",
        "bytes",
        "left out",
        "verdict",
        "why",
    )
    return document.table(
        head,
        [
            [row.name, *shown(row.ours), *shown(row.others), f"{row.left_out:.1%}", row.verdict, row.reason]
            for row in ordered
        ],
    )


def main() -> None:
    """Prints the table of a folder and ends the program.

    The exit status is 1 if a file differs or there is none, else 0.
    """
    parser = argparse.ArgumentParser(prog="make validation WHAT=strangers", description=__doc__)
    parser.add_argument("folder", type=Path)
    rows = read_rows(parser.parse_args().folder)
    verdicts = [row.verdict for row in rows]
    print(write_table(rows))
    said = ", ".join(
        f"{verdicts.count(verdict)} {verdict.strip('*')}" for verdict in (SAME, DIFFERS, EXPLAINED)
    )
    used, whole = (sum(row.on_wire[place] for row in rows) for place in (0, 1))
    print(f"{len(rows)} captures: {said}; {1 - used / max(whole, 1):.2%} of the bytes on the wire left out")
    sys.exit(1 if DIFFERS in verdicts or not rows else 0)


if __name__ == "__main__":
    main()
