"""Reductions that tests send to other processes."""

import os
import signal
import time
from typing import Any

CULPRIT = 666
"""The seed of a scenario whose run ends its process."""
SLOW = 667
"""The seed of one whose run does so after a while, so that its task goes on after it was taken back."""
SLOW_S = 1.5


def reduce(result: Any, seed: int) -> int:
    """Kills the process if the seed is `CULPRIT` or `SLOW`; otherwise returns the number of transfers."""
    if seed == SLOW:
        time.sleep(SLOW_S)
    if seed in (CULPRIT, SLOW):
        os.kill(os.getpid(), signal.SIGKILL)
    return len(result.transfers()["bytes"])
