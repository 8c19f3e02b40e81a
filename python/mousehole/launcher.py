"""Starts the command line, answers Ctrl-C from the first moment, and checks standard output before any work.

Importing the rest takes a good part of a second, so nothing of it is imported here.
"""

import os
import signal
import sys

from mousehole.exits import WRITE_STATUS, stop_at_once


def main() -> None:
    """Runs the command `mousehole`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is ignored, as by nohup
        signal.signal(signal.SIGINT, stop_at_once)
    _prepare_output()
    from mousehole.cli import main as run

    run()


def _prepare_output() -> None:
    """Ends the process if standard output is closed; lets both outputs take any text."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 (stays open; no imports)
    if sys.stdout is None:
        print("mousehole: error: cannot write standard output; it is closed", file=sys.stderr)
        sys.exit(WRITE_STATUS)
    from mousehole.plain_text import install

    for stream in (sys.stdout, sys.stderr):
        install(stream)
