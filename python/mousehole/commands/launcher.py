"""Starts the command line, answers Ctrl-C from the first moment, and checks standard output before any work.

Importing the rest takes a good part of a second, so nothing of it is imported here.
"""

import errno
import os
import signal
import sys
from typing import NoReturn

from mousehole.base import USAGE_STATUS, WRITE_STATUS, stop_at_once

ADDRESS_SPACE, ADDRESS_SPACE_PER_CORE = 1_300_000_000, 100_000_000
"""Bytes of address space that the libraries reserve; with less some of them abort while they are loaded."""

FILES = 256
"""Files that a run with pictures may have open."""


def main() -> None:
    """Runs the command `mousehole`, after checks of standard output, open files and address space.

    Does not return. Sets the answer to Ctrl-C, unless that is ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored, as by nohup
        signal.signal(signal.SIGINT, stop_at_once)
    try:
        _prepare_output()
        _require_files()
        _require_address_space()
        from mousehole.commands.cli import main as run
    except OSError as error:
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            raise
        _refuse("too many open files; raise the limit (ulimit -n)")
    run()


def _prepare_output() -> None:
    """Ends the process if standard output is closed; lets both outputs take any text.

    Replaces `sys.stdout`, and a closed `sys.stderr` by the null device.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 (stays open; no imports)
    if sys.stdout is None:
        print("mousehole: error: cannot write standard output; it is closed", file=sys.stderr)
        sys.exit(WRITE_STATUS)
    from mousehole.base import guard_standard_output, install_ascii_fallback

    guard_standard_output()
    for stream in (sys.stdout, sys.stderr):
        install_ascii_fallback(stream)


def _require_files() -> None:
    """Raises the soft limit on open files to `FILES` if it is lower; ends the process if it may not."""
    import resource

    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= limit < FILES:
        if 0 <= most < FILES:
            _refuse(f"the limit on open files (ulimit -n) is {limit}; it must be {FILES} or more")
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, most))


def _refuse(problem: str) -> NoReturn:
    """Prints the problem as an error on standard error and exits with the status of a usage error."""
    print(f"mousehole: error: {problem}", file=sys.stderr)
    sys.exit(USAGE_STATUS)


def _require_address_space() -> None:
    """Ends the process if the limit on address space is below what the libraries reserve."""
    from mousehole.base import address_space_bytes

    left, cores = address_space_bytes(), os.cpu_count() or 1
    needed = ADDRESS_SPACE + cores * ADDRESS_SPACE_PER_CORE
    if left is not None and left < needed:
        _refuse(
            f"out of memory: the limit on address space (ulimit -v) leaves {max(left, 0) / 1e9:.1f} GB; "
            f"on {cores} cores it must leave {needed / 1e9:.1f} GB or more"
        )
