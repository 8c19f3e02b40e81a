"""Server and browser of a page joined by a loopback device of their own, without a link and without its delays."""

from __future__ import annotations

import shlex

from mousehole.page import conduct
from mousehole.page.conduct import Behind, Errand

ADDRESS = "127.0.0.1"


def loopback(errand: Errand) -> Behind:
    """Runs both programs in a network namespace that has nothing but its loopback device."""
    script = (
        f"ip link set lo up; export MOUSEHOLE_SERVER={ADDRESS}; "
        f"{shlex.join(errand.server)} & exec {shlex.join(errand.visitor)}"
    )
    words = ["unshare", "--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    status, said = conduct.run([*words, "sh", "-c", script], errand.patience_s)
    return Behind("" if status == 0 else f"{said} ({status})", None)
