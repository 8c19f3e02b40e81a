"""Programs that a lab needs."""

import shutil
from collections.abc import Mapping


def find_missing(tools: Mapping[str, str], how: str = "make deps") -> str | None:
    """Returns in a sentence which of these programs, given with their packages, is not installed."""
    for tool, package in tools.items():
        if not shutil.which(tool):
            return f"{tool} is not installed; '{how}' installs it ({package})"
    return None
