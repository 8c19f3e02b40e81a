"""One run of bulk TCP through a TBF: goodput, queue and drops, and how good the delay was.

Its first act is to leave the namespace it was started in, which it has no descriptor of: no command here can
reach another interface. The parent's death kills it, an alarm bounds it.

Run as `python -m validation.lab.witness_run CASE_JSON`; prints the measurement as one line of JSON.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import asdict, dataclass, field
from typing import Any

from validation.lab.bottleneck import Case, Lab, QueueSampler
from validation.lab.hosts import ENDLESS, Hosts, Transfer
from validation.lab.namespaces import die_with_parent

SAMPLE_S = 0.005
SPARE_S = 8


@dataclass
class Measured:
    """The results of a run: goodput, sampled backlog and drops of TBF, and the lateness of the delay line."""

    goodput_bps: float = 0.0
    queue_packets: float = 0.0
    drops: int = 0
    samples: int = 0
    frame_bytes: float = 0.0
    delay: dict[str, float] = field(default_factory=dict)


def measure(case: Case) -> Measured:
    """Builds the lab, runs the case in it, and returns the results; needs the rights of root."""
    lab = Lab(case)
    delay: dict[str, Any] = {}
    with lab.delay_line(case, delay):
        hosts, sampler = Hosts(lab.sender, lab.receiver, case.congestion), QueueSampler(lab.router)
        try:
            result = play(case, hosts, sampler)
        finally:
            sampler.close()
    result.delay = delay
    return result


def play(case: Case, hosts: Hosts, sampler: QueueSampler) -> Measured:
    """Starts the flows, waits for the warm-up, and returns the measurements of the window.

    The flows are still open at the end. The result has no lateness yet.
    """
    begin = time.monotonic()
    for index in range(case.flows):
        serve_until(hosts, begin + case.spread_s * index / case.flows)
        hosts.start(Transfer(index, [ENDLESS], 0.0))
    serve_until(hosts, begin + case.warmup_s)
    opened, first, received = time.monotonic(), sampler.read(), hosts.received
    backlogs: list[int] = []
    while time.monotonic() < opened + case.window_s:
        serve_until(hosts, opened + SAMPLE_S * (len(backlogs) + 1))
        backlogs.append(sampler.read().backlog_packets)
    last, closed = sampler.read(), time.monotonic()
    return Measured(
        goodput_bps=(hosts.received - received) * 8 / (closed - opened),
        queue_packets=sum(backlogs) / len(backlogs),
        drops=last.dropped - first.dropped,
        samples=len(backlogs),
        frame_bytes=(last.sent_bytes - first.sent_bytes) / (last.sent_packets - first.sent_packets),
    )


def serve_until(hosts: Hosts, until: float) -> None:
    """Serves the sockets until a time of the monotonic clock, s."""
    while (left := until - time.monotonic()) > 0:
        hosts.step(left)


def main() -> int:
    """Runs one case, given as JSON, and prints the results as JSON; returns 0.

    An alarm ends the process `SPARE_S` after the run's length.
    """
    die_with_parent()
    case = Case(**json.loads(sys.argv[1]))
    signal.alarm(int(case.seconds) + SPARE_S)
    print(json.dumps(asdict(measure(case))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
