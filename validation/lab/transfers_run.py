"""Transfers by the kernel's TCP over paths of their own, in two network namespaces that nobody else sees.

The network between the two hosts is `paths`, a process of its own. This process can reach no other interface,
dies with its parent and is bounded by an alarm.

Run as `python -m validation.lab.transfers_run FILE`, which holds the transfers as JSON; prints one line
of JSON.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from pathlib import Path

from validation.lab.hosts import CLIENT, SERVER, Hosts, Transfer
from validation.lab.namespaces import Namespace, die_with_parent, raise_priority, run_network

# What all transfers under way may send together, so that the user-space network keeps up.
BUDGET_BPS = 40e6
MOST_AT_ONCE = 120


def play(hosts: Hosts, transfers: list[Transfer], seconds: float) -> None:
    """Starts the transfers while their rates fit the budget, and serves them until all end or time is up.

    Waits 1 s first. A transfer that exceeds the budget by itself runs alone.
    """
    deadline = time.monotonic() + seconds
    # The network's process has to be there before the first packet.
    time.sleep(1)
    waiting = list(transfers)
    while (waiting or hosts.left) and time.monotonic() < deadline:
        # One at a time, so that those under way are served in between.
        used = sum(one.rate_bps for one in hosts.left.values())
        fits = (one for one in waiting if used == 0 or used + one.rate_bps <= BUDGET_BPS)
        chosen = next(fits, None) if len(hosts.left) < MOST_AT_ONCE else None
        if chosen:
            waiting.remove(chosen)
            hosts.start(chosen)
        hosts.step(0.0 if chosen else 0.05)


def main() -> int:
    """Builds the lab, plays the transfers and prints the report of the network; returns 0.

    An alarm ends the process 20 s after the task's time.
    """
    die_with_parent()
    task = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    signal.alarm(int(task["seconds"]) + 20)
    server, client = Namespace(), Namespace()
    server_fd, client_fd = server.add_tun("t0"), client.add_tun("t1")
    for end, device, own, far in ((server, "t0", SERVER, CLIENT), (client, "t1", CLIENT, SERVER)):
        end.ip(f"link set {device} gso_max_segs 1 txqueuelen 10000")
        end.ip(f"addr add {own}/32 dev {device}")
        end.ip(f"route add {far}/32 dev {device}")
    # All paths lead to one address. What a transfer leaves behind about it must not change the next one.
    for end in (server, client):
        with end:
            Path("/proc/sys/net/ipv4/tcp_no_metrics_save").write_text("1")
    report: dict[str, object] = {}
    with run_network("paths", (server_fd, client_fd), [task["paths"]], report):
        hosts = Hosts(server, client, task["congestion"], resets_both=True)
        raise_priority()
        play(hosts, [Transfer(**one) for one in task["transfers"]], task["seconds"])
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
