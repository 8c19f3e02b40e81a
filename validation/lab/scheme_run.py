"""One run of the prediction in the kernel: real TCP through a queue, in namespaces of its own.

The network is that of `bottleneck`, with what the task's commands put on the router's device in the place of
a bare TBF, and the transfers are those of `hosts`. The mounts are private too, so that what is pinned in the
BPF file system vanishes with this process.

Run as `python -m validation.lab.scheme_run FILE`, which holds a task as JSON; prints one line of JSON.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation.lab.bottleneck import Case, Lab
from validation.lab.hosts import ENDLESS, Hosts, Transfer
from validation.lab.namespaces import Namespace, die_with_parent, make_mounts_private, raise_priority

DEVICE = "r1"
LAST_S = 15.0
BEGIN_S = 0.5
"""Until the first transfer is due, seconds."""


@dataclass(frozen=True)
class Task:
    """A run: commands that install the queue, round-trip time, flows, and lengths."""

    commands: Sequence[str]
    rtt_s: float
    bulk: int
    bulk_spread_s: float
    warmup_s: float
    window_s: float
    starts_s: list[float]
    sizes: list[int]
    acks_each: bool | None = None
    """Whether clients acknowledge each segment at once, or never do; None: as the kernel does."""

    @property
    def seconds(self) -> float:
        """Returns the longest time that the traffic may last, s."""
        return self.warmup_s + self.window_s + LAST_S


def play(hosts: Hosts, task: Task) -> dict[str, Any]:
    """Starts the transfers at their times and returns their results.

    These are the time of each short transfer, s, None if it did not end; the rate of all long ones in the
    window, bit/s; and the p99 of how late transfers started, µs. Lasts at most `task.seconds`.
    """
    begin = time.monotonic() + BEGIN_S
    bulk = [Transfer(number, [ENDLESS], 0.0) for number in range(task.bulk)]
    fetches = [Transfer(task.bulk + index, [size], 0.0) for index, size in enumerate(task.sizes)]
    spread = [task.bulk_spread_s * index / max(task.bulk, 1) for index in range(task.bulk)]
    due = sorted(zip([*spread, *task.starts_s], [*bulk, *fetches], strict=True), key=lambda one: one[0])
    window, at_start, late_s = begin + task.warmup_s, [0], []
    marks = [(window, at_start)]
    at_end = [0]
    marks.append((window + task.window_s, at_end))
    left = set(range(task.bulk, task.bulk + len(fetches)))
    position = 0
    while time.monotonic() < begin + task.seconds and (position < len(due) or marks or left):
        now = time.monotonic()
        while marks and now >= marks[0][0]:
            marks.pop(0)[1][0] = sum(one.received for one in bulk)
        if position < len(due) and now >= begin + due[position][0]:
            late_s.append(now - begin - due[position][0])
            hosts.start(due[position][1])
            position += 1
            hosts.step(0.0)
            continue
        moments = [begin + due[position][0]] if position < len(due) else []
        moments += [mark[0] for mark in marks]
        hosts.step(min([max(0.0, moment - now) for moment in moments] + [0.05]))
        left -= hosts.ended_s.keys()
    numbers = range(task.bulk, task.bulk + len(fetches))
    late_s.sort()
    return {
        "seconds": [
            hosts.ended_s[number] - hosts.opened_s[number] if number in hosts.ended_s else None
            for number in numbers
        ],
        "bulk_bps": (at_end[0] - at_start[0]) * 8 / task.window_s,
        "start_late_p99_us": late_s[int(0.99 * (len(late_s) - 1))] * 1e6,
    }


def count_segments(end: Namespace) -> tuple[int, int]:
    """Returns the numbers of TCP segments that a namespace has received and sent.

    The thread stays in the namespace.
    """
    with end:
        rows = Path("/proc/thread-self/net/snmp").read_text(encoding="ascii").splitlines()
    names, values = (row.split() for row in rows if row.startswith("Tcp:"))
    found = dict(zip(names[1:], values[1:], strict=True))
    return int(found["InSegs"]), int(found["OutSegs"])


def measure(task: Task) -> dict[str, Any]:
    """Builds the lab, installs the queue at the router, plays the transfers and returns their results.

    Adds the kernel's release, the report of the delay line, the load, and the segments that clients sent for
    each that arrived. Gives the process real-time priority and switches the garbage collector off. Raises
    `RuntimeError` if a command fails.
    """
    make_mounts_private()
    case = Case("cubic", task.bulk, rtt_s=task.rtt_s)
    lab = Lab(case, shaped=False)
    for end in (lab.sender, lab.router, lab.receiver):
        end.write_settings({"ipv4/tcp_max_syn_backlog": "4096"})
    for line in task.commands:
        lab.router.command(line)
    delay: dict[str, object] = {}
    with lab.delay_line(case, delay):
        hosts = Hosts(lab.sender, lab.receiver, "cubic", acks_each=task.acks_each)
        time.sleep(0.5)
        before = count_segments(lab.receiver)
        raise_priority()
        gc.disable()
        result = play(hosts, task)
        arrived, sent = (now - then for now, then in zip(count_segments(lab.receiver), before, strict=True))
        for transfer in list(hosts.left.values()):
            hosts.end(transfer)
    result |= {"kernel": os.uname().release, "delay": delay, "load": os.getloadavg()[0]}
    result["acks"] = sent / max(arrived, 1)
    return result


def main() -> int:
    """Runs one task, given as a file of JSON, and prints the result as JSON; returns 0.

    An alarm ends the process 30 s after the longest time.
    """
    die_with_parent()
    task = Task(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
    signal.alarm(int(task.seconds) + 30)
    socket.setdefaulttimeout(10)
    print(json.dumps(measure(task)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
