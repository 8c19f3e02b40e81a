"""The browser's side of one load, a program of its own: `python -m mousehole.page.visit TASK`.

It starts the browser, then the downloads, lets them settle, loads the page and writes what was measured.
"""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

from mousehole.page import _bulk as bulk
from mousehole.page._browser import Browser, Tab
from mousehole.page._devtools import BrowserError
from mousehole.page._trial import BULK_PORT, Load, Task, parse_arguments


def list_browser_flags(task: Task, address: str) -> list[str]:
    """Returns the browser's flags that lead every name to `address` and accept the server's certificate.

    QUIC is forced for HTTP/3 and disabled for the others.
    """
    place = f"[{address}]" if ":" in address else address
    own = [
        f"--host-resolver-rules=MAP * {place}",
        f"--ignore-certificate-errors-spki-list={task.fingerprint}",
    ]
    if task.version == "3":
        forced = ",".join(f"{host}:443" for host in task.hosts)
        own += ["--enable-quic", f"--origin-to-force-quic-on={forced}"]
    else:
        own += ["--disable-quic"]
    return own


def visit(task: Task, address: str) -> Load:
    """Loads the page once during the downloads, and returns the load as it was measured.

    Waits for the server, then `settle_s` seconds if there are downloads. Raises `BrowserError` for the
    browser and `OSError` for the network; the browser and the downloads have ended then.
    """
    bulk.wait_for(address, BULK_PORT)
    browser = Browser(task.chromium, Path(task.profile), list_browser_flags(task, address))
    try:
        tab = browser.open()
        downloads = bulk.Downloads(address, BULK_PORT, task.bulk)
        try:
            if task.bulk:
                time.sleep(task.settle_s)
            return _load_page(task, tab, downloads)
        finally:
            downloads.close()
    finally:
        browser.close()


def _load_page(task: Task, tab: Tab, downloads: bulk.Downloads) -> Load:
    """Loads the page once during the downloads; returns the load with their rate in bit/s.

    The rate is None without downloads. The load has failed if a download ended before.
    """
    received, begin = downloads.received, time.monotonic()
    rate: list[float] = []

    def measure() -> None:
        """Stores the mean rate of the downloads up to now."""
        rate.append(8 * (downloads.received - received) / (time.monotonic() - begin))

    load = tab.load(task.url, task.timeout_s, measure, is_filmed=True)
    if downloads.broken:
        ended = f"{downloads.broken} of {task.bulk} downloads ended before the page was loaded"
        load = replace(load, outcome="failed", reason=load.reason or ended)
    return replace(load, bulk_bps=rate[0] if task.bulk and rate else None)


def main(given: list[str]) -> int:
    """Writes the record of the load, or one that says why it failed, into the task's file; returns 0."""
    task, address = parse_arguments(given)
    try:
        load = visit(task, address)
    except (BrowserError, OSError) as error:
        load = Load.failed(str(error))
    Path(task.result).write_text(json.dumps(load.record()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
