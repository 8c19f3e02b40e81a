"""Reductions that tests send to other processes."""

import os
import signal
from typing import Any

CULPRIT = 666
"""The seed of a scenario whose run ends its process."""


def reduce(result: Any, seed: int) -> int:
    """Ends the process if the seed is the culprit's, else returns the number of transfers."""
    if seed == CULPRIT:
        os.kill(os.getpid(), signal.SIGKILL)
    return len(result.transfers()["bytes"])
