"""What becomes of captures of users behind few addresses: whether they are told, and what replays say.

`python -m validation.shared_addresses` records runs of `web:sfd` at the load of `make validation
WHAT=coverage`, with all users behind few addresses or with an address each. It plays each recording at the
higher load in both loops, as a plain overlay and as resamples as `compare` does, and prints the change of the
mean response time of short transfers beside that of the model itself. With `--told` it prints instead in how
many recordings of several models and lengths most clients are taken for several users.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import mousehole
import numpy as np
from mousehole import _engine
from mousehole.engine_types import ModelParams, TrafficSection
from mousehole.inputs import frames
from mousehole.runs import default_jobs, run_one
from mousehole.scenario import IN_MEMORY, fill_in
from mousehole.statistics import t_interval

from tools import document
from validation import coverage, replay_truth

MODEL = "web:sfd"
ADDRESSES = (5, 5000)
"""Few addresses, as in the paper's Figure 5, and so many that each session has its own."""
SCHEMES = (coverage.BASELINE, *coverage.SCHEMES)
RECORDED: tuple[tuple[str, str, str, int], ...] = (
    ("`web:sfd`, an address each", "no", "web:sfd", 5000),
    ("`web:http10`, an address each", "no", "web:http10", 1000),
    ("`web:rio-ps`, an address each", "no", "web:rio-ps", 5000),
    ("`web:sfd` behind 5 addresses", "yes", "web:sfd", 5),
    ("`web:sfd` behind 20 addresses", "yes", "web:sfd", 20),
    ("`web:http10` behind 5 addresses", "yes", "web:http10", 5),
    ("`poisson` from 20 addresses", "yes", "poisson", 20),
    ("`poisson` from 100 addresses", "yes", "poisson", 100),
)
"""Recordings that are told: a name, whether connections are independent, the model, how many addresses."""
RUNS, WARMUP_S, DURATION_S = 4, 100.0, 200.0
"""Replications of each recording, and their windows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the replays and prints their table; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--told", action="store_true", help="only count what is taken for several users")
    parser.add_argument("--length", type=int, default=coverage.LENGTHS_S[-1], help="seconds of a recording")
    parser.add_argument("--captures", type=int, default=coverage.CAPTURES)
    parser.add_argument("--truth", type=int, default=coverage.TRUTH_REPLICATIONS, help="runs of the model")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    options = parser.parse_args(arguments)
    if options.told:
        print(tabulate_detections(options.captures, options.jobs), end="")
        return 0
    truths = coverage.measure_true_log_ratios(MODEL, options.truth, options.jobs)
    lines = [("the model itself", "", "", *(replay_truth.format_percent(one) for one in truths.values()))]
    with ThreadPoolExecutor(options.jobs) as pool:
        for addresses in ADDRESSES:
            recorded = partial(record_run, options.length, addresses)
            captures = list(pool.map(recorded, range(options.captures)))
            for loop in replay_truth.LOOPS:
                for is_resampled in (False, True):
                    means = list(pool.map(partial(play_recording, loop, is_resampled), captures))
                    copied = "resamples of it" if is_resampled else "the capture"
                    lines.append((str(addresses), loop, copied, *list_changes(means)))
                    print(f"shared-addresses: {' | '.join(lines[-1])}", file=sys.stderr, flush=True)
    print(document.table(("addresses", "loop", "copies of", *coverage.SCHEMES), lines), end="")
    return 0


def tabulate_detections(captures: int, jobs: int) -> str:
    """Returns a Markdown table: in how many recordings most clients were taken for several users."""
    lengths = coverage.LENGTHS_S
    lines = []
    with ThreadPoolExecutor(jobs) as pool:
        for name, are_shared, model, addresses in RECORDED:
            told = [
                sum(pool.map(partial(detects_sharing, model, addresses, length_s), range(captures)))
                for length_s in lengths
            ]
            lines.append((name, are_shared, *(f"{one} of {captures}" for one in told)))
    header = ("recording", "independent", *(f"{length_s} s" for length_s in lengths))
    return document.table(header, lines)


def detects_sharing(model: str, addresses: int, length_s: int, number: int) -> bool:
    """Returns whether at least half of the clients of a recording are taken for several users."""
    params: ModelParams = {"clients": addresses}
    if model != "poisson":
        params["servers"] = addresses
    shown = coverage.record_capture(model, length_s, number, True, params)
    return 2 * mousehole.inspect(shown)["shared_addresses"] >= len({one["client"] for one in shown})


def record_run(length_s: int, addresses: int, number: int) -> _engine.Traffic:
    """Records one run as a capture shows it, with all users behind `addresses` addresses.

    Returns the traffic. Equal arguments record the same run.
    """
    shown = coverage.record_capture(
        MODEL, length_s, number, True, {"clients": addresses, "servers": addresses}
    )
    return _engine.connections_traffic(frames.from_dictionaries(shown).connections)


def play_recording(loop: str, is_resampled: bool, recorded: _engine.Traffic) -> dict[str, float]:
    """Returns the mean response time of short transfers, s, under each scheme, over a recording's runs."""
    traffic: TrafficSection = {
        "files": [IN_MEMORY], "replay": loop, "load": coverage.LOAD, "resample": is_resampled,
    }  # fmt: skip
    return {scheme: float(np.mean(list(list_means(scheme, traffic, recorded)))) for scheme in SCHEMES}


def list_means(scheme: str, traffic: TrafficSection, recorded: _engine.Traffic) -> Iterator[float]:
    """Yields the mean response time of short transfers, s, of each run.

    Each run is made when its value is asked for.
    """
    for number in range(RUNS):
        scenario = fill_in({
            "schema": "mousehole.scenario/1", "replication": number, "warmup": f"{WARMUP_S}s",
            "duration": f"{DURATION_S}s", "scheme": scheme, "traffic": traffic,
            "link": {"rate": coverage.RATE, "rtt": coverage.RTT, "buffer": "1bdp"},
        })  # fmt: skip
        result = run_one(scenario, recorded, _engine.Cancel())
        yield replay_truth.compute_figures(result, WARMUP_S)[0]


def list_changes(means_of_captures: Sequence[Mapping[str, float]]) -> Iterator[str]:
    """Yields each scheme's change as text: the geometric mean over captures with its 95 % interval."""
    for scheme in coverage.SCHEMES:
        ratios = [one[scheme] / one[coverage.BASELINE] for one in means_of_captures]
        yield replay_truth.format_percent(t_interval(np.log(ratios)))


if __name__ == "__main__":
    sys.exit(main())
