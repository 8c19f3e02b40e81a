"""A check for the programs that a lab needs."""

import shutil
from collections.abc import Mapping


def find_missing(tools: Mapping[str, str], how: str = "make deps") -> str | None:
    """Returns a sentence naming the first of these programs that is not installed, or None.

    `tools` maps each program to its package, and `how` is the command that installs them.
    """
    for tool, package in tools.items():
        if not shutil.which(tool):
            return f"{tool} is not installed; '{how}' installs it ({package})"
    return None
