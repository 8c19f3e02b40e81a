"""Server and browser of a page joined by a loopback device of their own, in the place of a link."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess

from mousehole.page import Behind, Errand

ADDRESS = "127.0.0.1"
NAMESPACES = ("--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc")


def loopback(errand: Errand) -> Behind:
    """Runs both programs in a network namespace that has nothing but its loopback device.

    Kills both when the browser's program has ended; raises `TimeoutExpired` if it goes on beyond the
    errand's patience.
    """
    script = (
        f"ip link set lo up; export MOUSEHOLE_SERVER={ADDRESS}; "
        f"{shlex.join(errand.server)} & exec {shlex.join(errand.visitor)}"
    )
    process = subprocess.Popen(
        ["unshare", *NAMESPACES, "sh", "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        status = process.wait(errand.patience_s)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
    return Behind("" if status == 0 else f"status {status}", None)
