"""How often the interval of `compare` holds the truth, for captures of known traffic.

`make validation WHAT=coverage` cuts captures of several lengths from runs of a model at load 0.225, compares
two schemes on each at load 0.9, and asks whether the interval of the primary endpoint holds the change that
long runs of the model itself have. It writes validation/coverage.json, which `make validation` counts.
Captures tell starts only and are replayed open, or tell ends too and are replayed closed: with all users
behind the model's few addresses, and with an address for each session.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import mousehole
import numpy as np
from mousehole import _engine
from mousehole.engine_types import ModelParams, Scenario
from mousehole.runs import Results, default_jobs
from mousehole.statistics import Design, Estimate, binomial_interval, log_ratio

from validation.rows import AGREES, DIFFERS, NOT_COMPARED, Row

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "validation" / "coverage.json"
TITLE = "Intervals of compare on short captures"
COMMAND = "make validation WHAT=coverage"
MODELS, LENGTHS_S, CAPTURES = ("poisson", "web:sfd"), (12, 60, 600), 25
REPLAYS = ("open", "closed")
WITH_WAITING = ("web:sfd",)
"""Models whose clients wait for what they asked for; only these are replayed closed."""
EACH_ITS_OWN = 5000
"""So many addresses that each session of these models has its own."""
RATE, RTT, NATIVE_LOAD, LOAD = "10mbit", "80ms", 0.225, 0.9
BASELINE, SCHEMES = "droptail", ("sfd", "fq-codel")
REPLICATIONS, WINDOW, TRUTH_REPLICATIONS = 10, "300s", 40
CAPTURE_SEED, TRUTH_SEED = 777, 99
LEAST, MOST = 0.90, 0.98
"""The interval should hold the truth in such a share of captures."""


@dataclass(frozen=True)
class Coverage:
    """Results for one scheme on captures of one length from one model; each list has an entry per capture."""

    model: str
    length_s: int
    scheme: str
    captures: int
    window: str
    """Length of the measured windows of `compare`."""
    truth_runs: int
    truth: float
    """Change in long runs of the model."""
    truth_low: float
    truth_high: float
    """Its interval of 95 % over these runs."""
    changes: list[float]
    lows: list[float]
    highs: list[float]
    """A single interval of 95 %."""
    held: list[bool]
    """Whether it holds the truth."""
    held_printed: list[bool]
    """Whether the interval of the verdict does, which holds together with that of the other scheme."""
    held_without: list[bool]
    """Whether a single interval would if the variance between captures were left out."""
    judged: list[bool]
    """Whether the capture had transfers enough for a verdict."""
    replay: str = "open"
    """How `compare` replayed the captures."""
    addresses: int = 0
    """How many addresses the users had; 0 for as many as the model's."""

    @property
    def key(self) -> tuple[str, str, int, int, str]:
        """Returns the identity of the result, by which the record is sorted and replaced."""
        return self.model, self.replay, self.addresses, self.length_s, self.scheme


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures the coverage of the chosen models and captures, prints it, and stores it in the record.

    Results of the same key are replaced; the record is written after each kind of capture. Returns 0.
    """
    options = parse_arguments(arguments)
    kept = {one.key: one for one in read_record(options.record)}
    for model in options.models:
        truths = measure_true_log_ratios(model, options.truth, options.jobs)
        kinds = itertools.product(options.replays, options.addresses)
        chosen = [
            one for one in kinds if one == ("open", 0) or (one[0] == "closed" and model in WITH_WAITING)
        ]
        for (replay, addresses), length_s in itertools.product(chosen, options.lengths):
            for found in cover_captures(model, replay, addresses, length_s, truths, options):
                kept[found.key] = found
                print(f"coverage: {make_row(found).claim}: {make_row(found).result}", flush=True)
            options.record.write_text(json.dumps([asdict(one) for one in kept.values()], indent=1) + "\n")
    return 0


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Returns the options of the command line; ends the program, with status 2, for a faulty one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--models", nargs="*", default=MODELS, choices=MODELS)
    parser.add_argument("--lengths", nargs="*", type=int, default=LENGTHS_S, help="seconds")
    parser.add_argument("--replays", nargs="*", default=REPLAYS, choices=REPLAYS, help="of captures")
    parser.add_argument("--addresses", nargs="*", type=int, default=(0, EACH_ITS_OWN), help="0: the model's")
    parser.add_argument("--captures", type=int, default=CAPTURES, help="per model and length")
    parser.add_argument("--truth", type=int, default=TRUTH_REPLICATIONS, help="long runs of each model")
    parser.add_argument("--duration", default=WINDOW, help="length of the windows on captures")
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--record", type=Path, default=RECORD)
    return parser.parse_args(arguments)


def measure_true_log_ratios(model: str, replications: int, jobs: int) -> dict[str, Estimate]:
    """Returns the log-ratio of each scheme's mean to the baseline's in long runs of the model.

    It is paired by run. Runs the comparison.
    """
    found = mousehole.compare(
        model, rate=RATE, rtt=RTT, load=LOAD, schemes=[BASELINE, *SCHEMES], baseline=BASELINE,
        seed=TRUTH_SEED, warmup="600s", duration="1000s", seeds=replications, jobs=jobs,
    )  # fmt: skip
    return {scheme: log_ratio(*list_means(found.results, scheme)) for scheme in SCHEMES}


def cover_captures(
    model: str, replay: Literal["open", "closed"], addresses: int, length_s: int, truths: dict[str, Estimate],
    options: argparse.Namespace,
) -> Iterator[Coverage]:  # fmt: skip
    """Yields for each scheme the coverage of the true change by intervals on captures of one length.

    Runs a comparison for each capture. `addresses` is 0 for the model's own; `truths` are the logarithms of
    the true ratios.
    """
    params: ModelParams = {"clients": addresses, "servers": addresses} if addresses else {}
    results = [
        mousehole.compare(
            record_capture(model, length_s, number, replay == "closed", params),
            replay=replay, rate=RATE, rtt=RTT,
            load=LOAD, schemes=[BASELINE, *SCHEMES], baseline=BASELINE, seeds=REPLICATIONS,
            duration=options.duration, jobs=options.jobs,
        ).results
        for number in range(options.captures)
    ]  # fmt: skip
    cell = results[0].plan.cells[0]
    for scheme, true in truths.items():
        alone = [log_ratio(*list_means(found, scheme), found.design(cell)) for found in results]
        printed = [
            log_ratio(*list_means(found, scheme), found.primary_design(cell, BASELINE)) for found in results
        ]
        without = [log_ratio(*list_means(found, scheme), Design()) for found in results]
        change = true.as_change()
        yield Coverage(
            model, length_s, scheme, options.captures, options.duration, options.truth,
            change.mean, change.low, change.high,
            changes=[float(np.expm1(one.mean)) for one in alone],
            lows=[float(np.expm1(one.low)) for one in alone],
            highs=[float(np.expm1(one.high)) for one in alone],
            held=[one.low <= true.mean <= one.high for one in alone],
            held_printed=[one.low <= true.mean <= one.high for one in printed],
            held_without=[one.low <= true.mean <= one.high for one in without],
            judged=[found.capture is not None and found.capture.is_enough("short") for found in results],
            replay=replay,
            addresses=addresses,
        )  # fmt: skip


def record_capture(
    model: str, length_s: int, number: int, has_ends: bool = False, params: ModelParams | None = None
) -> list[dict[str, object]]:
    """Returns the connections of one run of the model, as `mousehole.inspect` and `compare` accept them.

    Starts count from the first one, in seconds. `length_s` is the length of the window and `number` the
    replication; `has_ends` adds durations to connections that ended. Runs the engine.
    """
    scenario: Scenario = {
        "schema": "mousehole.scenario/1", "seed": CAPTURE_SEED, "replication": number, "warmup": "100s",
        "duration": f"{length_s}s", "link": {"rate": RATE, "rtt": RTT, "buffer": "1bdp"},
        "tcp": {"profile": "rfc"}, "scheme": BASELINE,
        "traffic": {"model": model, "load": NATIVE_LOAD, "params": params or {}},
    }  # fmt: skip
    traffic = _engine.model_traffic(model, params)
    columns = _engine.run(scenario, traffic, _engine.Cancel()).transfers()
    begin, took = float(np.min(columns["start_s"])), columns["end_s"] - columns["start_s"]
    order = np.argsort(columns["start_s"], kind="stable")
    return [
        {
            "start_s": float(columns["start_s"][place]) - begin,
            "client": int(columns["client"][place]),
            "server": 0,
            "bytes": int(columns["bytes"][place]),
            **({"duration_s": float(took[place])} if has_ends and np.isfinite(took[place]) else {}),
        }
        for place in order
    ]


def make_rows(record: Path = RECORD) -> list[Row]:
    """Returns the rows of docs/validation.md from the record, sorted by key.

    One row says "not run yet" if the record is empty or missing.
    """
    found = read_record(record)
    if not found:
        return [Row("Coverage of intervals", "long runs of models", "not run yet", COMMAND, NOT_COMPARED)]
    return [make_row(one) for one in sorted(found, key=lambda one: one.key)]


def make_row(found: Coverage) -> Row:
    """Returns a row of the page, which agrees if the binomial interval of the coverage meets 90 to 98 %."""
    low, high = binomial_interval(sum(found.held), found.captures)
    share = f"{sum(found.held)} of {found.captures} ({100 * low:.0f}–{100 * high:.0f} %)"
    changes = 100 * np.quantile(found.changes, (0, 0.5, 1))
    width = 100 * np.median(np.subtract(found.highs, found.lows))
    without_zero = sum(low > 0 or high < 0 for low, high in zip(found.lows, found.highs, strict=True))
    result = (
        f"holds the truth ({100 * found.truth:+.0f} %, {100 * found.truth_low:+.0f} to "
        f"{100 * found.truth_high:+.0f}) in {share}; the verdict's in {sum(found.held_printed)}, one without "
        f"the variance between captures in {sum(found.held_without)}. Changes found: {changes[0]:+.0f} to "
        f"{changes[2]:+.0f} %, median {changes[1]:+.0f} %; intervals of {width:.0f} points in the median, "
        f"{without_zero} without 0; judged: {sum(found.judged)}"
    ).replace("-", "−")
    users = f" from {found.addresses} addresses" if found.addresses else ""
    claim = (
        f"{found.model}{users}, captures of {found.length_s} s, replayed {found.replay}, {found.scheme} "
        f"against {BASELINE}: the interval holds the truth in 90–98 %"
    )
    windows = "" if found.window == WINDOW else f" (windows of {found.window})"
    verdict = AGREES if low <= MOST and high >= LEAST else DIFFERS
    return Row(claim, f"long runs of the model{windows}", result, write_command(found), verdict)


def write_command(found: Coverage) -> str:
    """Returns the command that measures a result again.

    It is `COMMAND` for default sizes, else one with all options.
    """
    if (found.captures, found.window, found.truth_runs) == (CAPTURES, WINDOW, TRUTH_REPLICATIONS):
        return COMMAND
    chosen = f"--models {found.model} --replays {found.replay} --addresses {found.addresses}"
    chosen += f" --lengths {found.length_s} --captures {found.captures}"
    return f"python -m validation.coverage {chosen} --duration {found.window} --truth {found.truth_runs}"


def read_record(record: Path) -> list[Coverage]:
    """Returns the results in the record file, none if it does not exist."""
    return [Coverage(**one) for one in json.loads(record.read_text())] if record.exists() else []


def list_means(results: Results, scheme: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns the mean response time of short transfers, s, by replication, of scheme and baseline."""
    cell = results.plan.cells[0]
    own, other = (
        results.bucket_values(cell, name, "short", "response_mean_s") for name in (scheme, BASELINE)
    )
    return own, other


if __name__ == "__main__":
    sys.exit(main())
