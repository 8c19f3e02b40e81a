"""Compares replays of known traffic, in an open and in a closed loop, with the true effect of a scheme.

A model has the true dependencies between transfers, so its own runs give the truth about a scheme.
Its run under drop-tail is recorded as a capture would show it, from an idle network on: start, end,
client and bytes of every connection. The recording is replayed on the same link in both loops,
once. Each replay's change of the mean response time of short transfers against drop-tail is
compared with the model's own, replication by replication. `make validation WHAT=replay_truth`
prints the table of docs/traffic.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import expm1, isnan

import numpy as np
from mousehole import _engine
from mousehole.base import parse_texts
from mousehole.engine_types import ConnectionSpec, Scenario, TrafficSection, TransferColumns
from mousehole.runs import default_jobs, run_one
from mousehole.scenario import IN_MEMORY, fill_in
from mousehole.statistics import Estimate, log_ratio, t_interval

from tools import document

SHORT_BYTES = 15_000
WARMUP_S = 30.0
BASELINE = "droptail"
LOOPS = ("open", "closed")


@dataclass(frozen=True)
class Case:
    """A model and its link; `what` describes its dependencies."""

    name: str
    what: str
    model: str
    params: Mapping[str, float | str]
    load: float = 0.9
    rate: str = "10mbit"


CASES = (
    Case("`web:http10`", "users wait, an address each", "web:http10", {"clients": 1000, "servers": 1000}),
    Case("`web:sfd`", "users wait, an address each", "web:sfd", {"clients": 5000, "servers": 5000}),
    Case("`web:sfd` behind 5 addresses", "users wait, many share an address", "web:sfd", {}),
    Case("`poisson` from 1000 addresses", "nobody waits", "poisson", {"clients": 1000}),
    Case("`poisson` from 100 addresses", "nobody waits", "poisson", {}),
    Case("`poisson` from 20 addresses", "nobody waits", "poisson", {"clients": 20}),
)


@dataclass
class Seen:
    """The results of runs of one kind, one number per replication."""

    short_mean_s: dict[str, list[float]] = field(default_factory=dict)
    """Mean response time of short transfers, by scheme."""
    utilisation: list[float] = field(default_factory=list)
    """Of the link under the baseline."""


Kind = str
"""`truth`, `open` or `closed`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cases and prints their tables; returns 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=10, help="replications (default 10)")
    parser.add_argument("--length", type=float, default=330.0, help="seconds of a recording (default 330)")
    parser.add_argument("--schemes", default="sfd,sfd(mode=coupled),fq-codel", help="schemes to compare")
    parser.add_argument("--only", type=int, nargs="*", help="numbers of cases, from 1")
    options = parser.parse_args(arguments)
    schemes = [BASELINE, *parse_texts("schemes", options.schemes)]
    chosen = [CASES[number - 1] for number in options.only or range(1, len(CASES) + 1)]
    lines: list[tuple[str, ...]] = []
    for case in chosen:
        print(f"replay-truth: {case.name}", file=sys.stderr, flush=True)
        lines += make_rows(case, play_all(case, schemes, options.seeds, options.length))
    header = ("traffic", "scheme", "truth", "open replay", "off by", "closed replay", "off by")
    print(document.table(header, lines), end="")
    return 0


def play_all(case: Case, schemes: Sequence[str], seeds: int, length_s: float) -> dict[Kind, Seen]:
    """Runs the model and both replays of it in all replications; returns the results by kind of run.

    Replications run side by side, one for each core.
    """
    with ThreadPoolExecutor(default_jobs()) as pool:
        each = list(pool.map(lambda number: play_replication(case, schemes, number, length_s), range(seeds)))
    found = {kind: Seen() for kind in ("truth", *LOOPS)}
    for one in each:
        for (kind, scheme), (short_mean_s, utilisation) in one.items():
            found[kind].short_mean_s.setdefault(scheme, []).append(short_mean_s)
            if scheme == BASELINE:
                found[kind].utilisation.append(utilisation)
    return found


def play_replication(
    case: Case, schemes: Sequence[str], number: int, length_s: float
) -> dict[tuple[Kind, str], tuple[float, float]]:
    """Runs one replication of the model and its replays.

    Returns by kind of run and scheme the mean response time of short transfers, s, and the utilisation. Equal
    arguments give equal results.
    """
    found: dict[tuple[Kind, str], tuple[float, float]] = {}
    base: Scenario = {
        "schema": "mousehole.scenario/1", "replication": number, "duration": f"{length_s}s",
        "link": {"rate": case.rate, "rtt": "80ms", "buffer": "1bdp"},
    }  # fmt: skip
    model: TrafficSection = {"model": case.model, "params": {**case.params}, "load": case.load}
    recording: _engine.Traffic | None = None
    for scheme in schemes:
        truth = run_one(
            fill_in({**base, "scheme": scheme, "warmup": "0s", "traffic": model}), None, _engine.Cancel()
        )
        found["truth", scheme] = compute_figures(truth, WARMUP_S)
        if scheme == BASELINE:
            recording = _engine.connections_traffic(list(list_recorded(truth.transfers())))
    for loop in LOOPS:
        for scheme in schemes:
            traffic: TrafficSection = {"files": [IN_MEMORY], "replay": loop}
            replay = fill_in({**base, "scheme": scheme, "warmup": f"{WARMUP_S}s", "traffic": traffic})
            found[loop, scheme] = compute_figures(run_one(replay, recording, _engine.Cancel()), WARMUP_S)
    return found


def list_recorded(transfers: TransferColumns) -> Iterator[ConnectionSpec]:
    """Yields the connections as a capture shows them; one that never ended has no duration."""
    columns = zip(
        transfers["start_s"], transfers["end_s"], transfers["client"], transfers["bytes"],
        transfers["rtt_s"], strict=True,
    )  # fmt: skip
    for start_s, end_s, client, size, rtt_s in columns:
        seen: ConnectionSpec = {
            "start_s": float(start_s), "client": int(client), "server": int(client), "rtt_s": float(rtt_s),
            "writes": [{"idle_s": 0.0, "bytes": int(size)}],
        }  # fmt: skip
        yield seen if isnan(end_s) else {**seen, "duration_s": float(end_s - start_s)}


def compute_figures(result: _engine.RunResult, from_s: float) -> tuple[float, float]:
    """Returns the mean response time, s, of short transfers that start from `from_s` on, and the utilisation.

    The mean is NaN without such transfers. A transfer that never ended counts with its age, as in a
    comparison.
    """
    transfers = result.transfers()
    ends = np.where(np.isnan(transfers["end_s"]), result.summary()["end_s"], transfers["end_s"])
    chosen = (transfers["bytes"] <= SHORT_BYTES) & (transfers["start_s"] >= from_s)
    return float(np.mean((ends - transfers["start_s"])[chosen])), result.queues()[0]["utilisation"]


def make_rows(case: Case, found: Mapping[Kind, Seen]) -> Iterator[tuple[str, ...]]:
    """Yields the baseline's utilisation, then each scheme's change in the model and in both replays.

    Each is a row of the table of `main`.
    """
    use = {kind: f"{np.mean(seen.utilisation):.1%} of the link used" for kind, seen in found.items()}
    name = f"{case.name}: {case.what}"
    yield (name, f"`{BASELINE}`", use["truth"], use["open"], "", use["closed"], "")
    truth = found["truth"].short_mean_s
    for scheme in truth:
        if scheme == BASELINE:
            continue
        line = [format_percent(log_ratio(truth[scheme], truth[BASELINE]))]
        for loop in LOOPS:
            replay = found[loop].short_mean_s
            line.append(format_percent(log_ratio(replay[scheme], replay[BASELINE])))
            line.append(format_points(replay_error(replay, truth, scheme)))
        yield ("", f"`{scheme}`", *line)


def replay_error(
    replay: Mapping[str, list[float]], truth: Mapping[str, list[float]], scheme: str
) -> Estimate:
    """Returns the replay's change less the model's, paired, in percentage points."""
    changes = [np.asarray(seen[scheme]) / np.asarray(seen[BASELINE]) - 1.0 for seen in (replay, truth)]
    return t_interval(100 * (changes[0] - changes[1]))


def format_percent(log: Estimate) -> str:
    """Returns a log-ratio as text such as `−33 % (−36…−30)`."""
    mean, low, high = (f"{100 * expm1(value):+.0f}" for value in (log.mean, log.low, log.high))
    return f"{mean} % ({low}…{high})".replace("-", "−")


def format_points(difference: Estimate) -> str:
    """Returns a difference as text such as `−9 (−11…−7)`."""
    mean, low, high = (f"{value:+.1f}" for value in (difference.mean, difference.low, difference.high))
    return f"{mean} ({low}…{high})".replace("-", "−")


if __name__ == "__main__":
    sys.exit(main())
