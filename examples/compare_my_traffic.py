"""Compares schemes on your traffic from Python, and prints what short and long transfers gain or lose.

    .venv/bin/python examples/compare_my_traffic.py --rate 10mbit access.log
    .venv/bin/python examples/compare_my_traffic.py --rate 10mbit --plot found.svg capture.pcap

Everything that `mousehole compare` prints is in data frames here; see docs/compare.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import mousehole
import polars as pl


def main(arguments: Sequence[str] | None = None) -> mousehole.Comparison:
    """Reads the command line, compares, and prints."""
    asked = parser().parse_args(arguments)
    found = mousehole.compare(
        asked.traffic,
        rate=asked.rate,
        load=asked.load,
        buffer=asked.buffer,
        schemes="droptail, sfd, fq-codel",
        duration=asked.duration,
        warmup=asked.warmup,
        seeds=asked.seeds,
    )
    print(found)
    print(response_times(found))
    if asked.plot:
        found.plot(asked.plot)
    return found


def response_times(found: mousehole.Comparison) -> pl.DataFrame:
    """Mean response time in seconds: one row per size range, one column per scheme."""
    return found.buckets.pivot(on="scheme", index="bucket", values="response_mean_s")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description="Compare schemes on your traffic.")
    made.add_argument("traffic", nargs="+", help="files, or one model such as web:sfd")
    made.add_argument("--rate", required=True, help="rate of the link, such as 10mbit")
    made.add_argument("--load", type=float, default=0.9, help="wire bytes over capacity")
    made.add_argument("--buffer", default="1bdp", help="50p, 64kB or 1bdp")
    made.add_argument("--duration", default="60s", help="length of the measured window")
    made.add_argument("--warmup", default="20s", help="time before it")
    made.add_argument("--seeds", type=int, default=5, help="replications; five at least give intervals")
    made.add_argument("--plot", help="write a plot to this file (.png, .svg or .pdf)")
    return made


if __name__ == "__main__":
    main()
