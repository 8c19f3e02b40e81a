"""A check for the programs that a lab needs, and work that keeps processors busy."""

import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from validation.lab.namespaces import die_with_parent


def find_missing(tools: Mapping[str, str], how: str = "make deps") -> str | None:
    """Returns a sentence naming the first of these programs that is not installed, or None.

    `tools` maps each program to its package, and `how` is the command that installs them.
    """
    for tool, package in tools.items():
        if not shutil.which(tool):
            return f"{tool} is not installed; '{how}' installs it ({package})"
    return None


@contextmanager
def keep_busy(processes: int) -> Iterator[None]:
    """Runs so many processes that always want a CPU during the block, and kills them at its end."""
    words = [sys.executable, "-c", "while True: pass"]
    started = [subprocess.Popen(words, preexec_fn=die_with_parent) for _ in range(processes)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.communicate()
