"""The lab's streams: each packet is counted, with its delay or as lost."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from validation import witness
from validation.lab.namespaces import ROOT

PROGRAM = """
import json, sys, time
from validation.lab.bottleneck import Case, Lab
from validation.lab.streams import Stream, Streams
lab = Lab(Case("cubic", 0, rate_bps=int(sys.argv[1]), limit_packets=10))
streams = Streams(lab.sender, lab.receiver, [Stream("call", 0.02, 200), Stream("video call", 0.01, 1000)])
streams.start(time.monotonic() + 0.2, 2.0)
time.sleep(2.5)
print(json.dumps(streams.delays_s(0.5, 2.0)))
"""


def measure_delays(rate_bps: int) -> dict[str, list[float | None]]:
    """Returns the delays of two streams of 880 kb/s through a token bucket, by the stream's name.

    They are in s, None for a lost packet.
    """
    words = [sys.executable, "-c", PROGRAM, str(rate_bps)]
    said = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    found: dict[str, list[float | None]] = json.loads(said.stdout)
    assert {name: len(delays_s) for name, delays_s in found.items()} == {"call": 75, "video call": 150}
    return found


def test_streams__say_what_each_packet_waited_and_which_were_lost() -> None:
    reason = witness.find_obstacle()
    if reason:
        pytest.skip(reason)
    for delays_s in measure_delays(10_000_000).values():
        arrived = sorted(one for one in delays_s if one is not None)
        assert len(arrived) == len(delays_s)
        assert 0 < arrived[len(arrived) // 2] < 0.02
    arrived = [one for delays_s in measure_delays(400_000).values() for one in delays_s if one is not None]
    assert 0.3 * 225 < len(arrived) < 0.7 * 225, "half of what is sent fits through the link"
    assert sorted(arrived)[len(arrived) // 2] > 0.1, "the queue is full: ten frames take 0.3 s"
