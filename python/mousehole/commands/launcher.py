"""Starts the command line, answers Ctrl-C from the first moment, and checks standard output before any work.

Importing the rest takes a good part of a second, so nothing of it is imported here.
"""

import os
import signal
import sys

from mousehole.base import USAGE_STATUS, WRITE_STATUS, stop_at_once

ADDRESS_SPACE, ADDRESS_SPACE_PER_CORE = 1_300_000_000, 100_000_000
"""Bytes of address space that the libraries reserve; with less some of them abort while they are loaded."""


def main() -> None:
    """Runs the command `mousehole`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored, as by nohup
        signal.signal(signal.SIGINT, stop_at_once)
    _prepare_output()
    _require_address_space()
    from mousehole.commands.cli import main as run

    run()


def _prepare_output() -> None:
    """Ends the process if standard output is closed; lets both outputs take any text."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 (stays open; no imports)
    if sys.stdout is None:
        print("mousehole: error: cannot write standard output; it is closed", file=sys.stderr)
        sys.exit(WRITE_STATUS)
    from mousehole.base import guard_standard_output, install

    guard_standard_output()
    for stream in (sys.stdout, sys.stderr):
        install(stream)


def _require_address_space() -> None:
    """Ends the process if the limit on address space is below what the libraries reserve."""
    from mousehole.base import address_space_bytes

    left, cores = address_space_bytes(), os.cpu_count() or 1
    needed = ADDRESS_SPACE + cores * ADDRESS_SPACE_PER_CORE
    if left is not None and left < needed:
        print(
            f"mousehole: error: out of memory: the limit on address space (ulimit -v) leaves "
            f"{max(left, 0) / 1e9:.1f} GB; on {cores} cores it must leave {needed / 1e9:.1f} GB or more",
            file=sys.stderr,
        )
        sys.exit(USAGE_STATUS)
