"""Estimates how long a plan takes and how much memory its runs need, from parts of some of its runs.

A part that is a whole run is a run of the plan, and is not repeated.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from math import ceil, log

from mousehole import _engine
from mousehole.base import MouseholeError, field_error, run_interruptibly
from mousehole.engine_types import Scenario
from mousehole.runs._facts import RunFacts, reduce_run
from mousehole.runs._plan import Plan, Task
from mousehole.runs._pool import default_jobs, run_one
from mousehole.runs._results import Facts
from mousehole.scenario import fill_in

STEPS = 6
"""The first part that is timed is 4^-6 of a run, and each one four times as long as the one before."""
FIRST_S = 0.1
"""Largest length of the first part in simulated seconds, however long the run is."""
ALWAYS_S, MOST_S = 0.6, 2.4
"""Parts are timed up to the first of these, without the set-up; up to the second if the last two disagree."""
SAMPLES_S = 1.5
"""The parts of all schemes together are to take no longer, set-up left out."""
AGREEMENT = 1.25
"""Two parts agree if neither costs more than this many times the other per simulated second."""
BYTES_PER_RUN = 40_000_000
"""Memory of a run without its transfers and connections: queues, events, histograms."""
BYTES_PER_TRANSFER = 370
"""Memory of a measured transfer: the engine's record, its ideal time, and the columns it is reduced from."""
BYTES_PER_EVENT = 200
"""Memory of an event of a packet trace: the engine's record, and its columns."""
BYTES_PER_CONNECTION = 1500
"""Memory of a live connection: its state, and its packets and timers under way."""
WORTH_SAYING_GB = 1.0
"""Least memory, in gigabytes, that is reported in addition to the time."""
SAFE_SHARE = 0.9
"""Share of the memory that is left which a plan may take."""


@dataclass(frozen=True)
class Part:
    """What a run cost whose warm-up and window were cut down to `share`."""

    share: float
    cpu_s: float
    wall_s: float
    simulated_s: float
    transfers: int
    live: int
    facts: RunFacts | None = None
    """What a whole run of a plan came to."""


@dataclass(frozen=True)
class Estimate:
    """What a plan costs."""

    cpu_s: float
    """CPU time of all runs together."""
    slowdown: float
    """Wall time over CPU time of the parts that were timed: above 1 on a busy machine."""
    bytes_per_run: float
    runs: int
    finished: Facts = field(default_factory=dict, repr=False, compare=False)
    """The facts of the runs that were timed whole."""

    def seconds(self, jobs: int, cores: int | None = None) -> float:
        """Returns the wall time, s, with this many parallel runs on this many cores, by default those here.

        More runs at once than runs or cores do not help.
        """
        return self.cpu_s * self.slowdown / min(jobs, cores or default_jobs(), self.runs)

    def bytes_at_once(self, jobs: int) -> float:
        """Returns the memory that this many parallel runs need, in bytes."""
        return self.bytes_per_run * min(jobs, self.runs)


def estimate_plan(plan: Plan, traffic: _engine.Traffic | None, jobs: int) -> Estimate:
    """Returns the estimated cost of a plan that is run with up to `jobs` parallel runs.

    Parts of the baseline's first run, each four times as long as the one before, are timed until two agree.
    Then a part of a run of each scheme is timed, in as many threads as the plan will have; the replications
    take turns. The set-up is measured by itself, since longer runs do not repeat it. Of short runs the parts
    are whole runs; their facts are in the estimate. Takes some seconds of CPU time. Ctrl-C and faults of a
    run cancel all parts; `MouseholeError` of a run passes.
    """
    cancel = _engine.Cancel()

    def timed(share: float, task: Task) -> Part:
        """Returns the cost of a share of a task's run; Ctrl-C stops it."""
        return run_interruptibly(lambda: _time_plan_part(plan, traffic, share, task, cancel))

    first_run = fill_in(plan.scenario(plan.cells[0], plan.baseline))
    threads = ThreadPoolExecutor(max_workers=min(jobs, default_jobs(), len(plan.schemes)))
    try:
        parts = _time_baseline_parts(
            lambda share: timed(share, Task(0, 0, 0)), sum(read_lengths_s(first_run))
        )
        setup_s = _estimate_setup_s(parts)
        tasks = [Task(0, number, number % plan.replications) for number in range(len(plan.schemes))]
        if setup_s * len(tasks) > SAMPLES_S:
            tasks = [tasks[place] for place in sorted({0, len(tasks) // 2, len(tasks) - 1})]
        affordable = [part.share for part in parts if (part.cpu_s - setup_s) * len(tasks) <= SAMPLES_S]
        share = max(affordable, default=parts[0].share)
        futures = [threads.submit(timed, share, task) for task in tasks[1:]]
        samples = [part for part in parts if part.share == share]
        samples += [run_interruptibly(future.result) for future in futures]
    finally:
        cancel.cancel()
        threads.shutdown(wait=False, cancel_futures=True)
    whole = [_extrapolate_run(part, parts, setup_s, first_run) for part in samples]
    each_s = sum(part.cpu_s for part in whole) / len(whole)
    first = plan.cells[0].load or 1.0
    cells = sum((cell.load or 1.0) / first for cell in plan.cells)
    needed = max(map(_estimate_bytes, whole))
    most = max((cell.load or 1.0) / first for cell in plan.cells)
    return Estimate(
        cpu_s=each_s * cells * len(plan.schemes) * plan.replications,
        slowdown=max(1.0, sum(part.wall_s for part in samples) / sum(part.cpu_s for part in samples)),
        bytes_per_run=needed * most,
        runs=len(plan.tasks),
        finished={task: part.facts for task, part in zip(tasks, samples, strict=True) if part.facts},
    )


def estimate_run(scenario: Scenario, traffic: _engine.Traffic | None, runs: int = 1) -> Estimate:
    """Returns the estimated cost of `runs` runs like this one, from parts of it that are timed.

    The scenario is filled in. The memory of a packet trace is that of the events of the longest part,
    extrapolated. `MouseholeError` of a run passes.
    """
    cancel, events = _engine.Cancel(), 0

    def count_events(result: _engine.RunResult) -> None:
        """Stores the number of events of the run's packet trace, 0 without one."""
        nonlocal events
        trace = result.trace()
        events = 0 if trace is None else len(trace["time_s"])

    def timed(share: float) -> Part:
        """Returns the cost of a share of the run; Ctrl-C stops it."""
        return run_interruptibly(lambda: _time_part(scenario, traffic, share, count_events, cancel))

    try:
        parts = _time_baseline_parts(timed, sum(read_lengths_s(scenario)))
    finally:
        cancel.cancel()
    whole = _extrapolate_run(parts[-1], parts, _estimate_setup_s(parts), scenario)
    return Estimate(
        cpu_s=whole.cpu_s * runs,
        slowdown=max(1.0, sum(part.wall_s for part in parts) / max(sum(part.cpu_s for part in parts), 1e-9)),
        bytes_per_run=_estimate_bytes(whole) + BYTES_PER_EVENT * events / parts[-1].share,
        runs=runs,
    )


def require_memory(estimate: Estimate, available: int | None) -> None:
    """Raises `MouseholeError` if one run does not fit into `available` bytes.

    Does nothing if `available` is None.
    """
    if available is not None and estimate.bytes_per_run > SAFE_SHARE * available:
        raise MouseholeError(
            f"this run needs about {_write_memory(estimate.bytes_per_run)} of memory, and "
            f"{_write_memory(available)} are left here; give a shorter duration, a lower rate or a lower load"
        )


def read_lengths_s(run: Scenario) -> tuple[float, float]:
    """Returns the lengths of warm-up and window of a scenario, in seconds."""
    return (
        _engine.parse_duration("warmup", run["warmup"]),
        _engine.parse_duration("duration", run["duration"]),
    )


def write_cost(estimate: Estimate, jobs: int, cores: int | None = None) -> str:
    """Returns the estimated time and, if it is large, the memory: `about 3 min and 2.1 GB of memory`.

    `cores` are those that share the work, by default those here.
    """
    gigabytes = estimate.bytes_at_once(jobs) / 1e9
    memory = f" and {gigabytes:.1f} GB of memory" if gigabytes >= WORTH_SAYING_GB else ""
    return f"{write_rough_time(estimate.seconds(jobs, cores))}{memory}"


def write_rough_time(seconds: float) -> str:
    """Returns a time that is only estimated, such as `about 25 s` or `about 3.1 h`.

    `seconds` is of wall time; from two days on the text is in days.
    """
    if seconds < 2:
        return "about a second"
    if seconds < 90:
        return f"about {seconds:.0f} s" if seconds < 10 else f"about {5 * round(seconds / 5)} s"
    if seconds < 48 * 3600:
        return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
    return f"about {seconds / 86400:.0f} days"


def choose_jobs(estimate: Estimate, jobs: int | None, available: int | None) -> int:
    """Returns the number of runs at once: `jobs`, or for None as many as cores and memory allow.

    `available` are the bytes of memory that are left, None if unknown: then memory sets no limit. Raises
    `MouseholeError` if not even one run fits into them, or not as many as `jobs` asks for.
    """
    wanted = default_jobs() if jobs is None else jobs
    if available is None:
        return wanted
    left = f"{_write_memory(available)} are left here"
    fitting = int(SAFE_SHARE * available // estimate.bytes_per_run)
    if fitting < 1:
        raise MouseholeError(
            f"a run of this comparison needs about {_write_memory(estimate.bytes_per_run)} of memory, "
            f"and {left}; give a shorter --duration, a lower --rate or a lower --load"
        )
    if jobs is not None and min(jobs, estimate.runs) > fitting:
        needed = _write_memory(estimate.bytes_at_once(jobs))
        allowed = f"at most {fitting}, or the duration, the rate or the load lower"
        raise field_error("jobs", jobs, allowed, f"needs about {needed} of memory, and {left}")
    return min(wanted, fitting)


def _time_baseline_parts(timed: Callable[[float], Part], span_s: float) -> list[Part]:
    """Times parts of a run of `span_s` simulated seconds, and returns them, shortest first.

    `timed` runs the share of the run that it is given. Each part is four times as long as the one before;
    there are at least two. It stops where another part would take longer than `ALWAYS_S`, or `MOST_S` if the
    last two disagree.
    """
    steps = max(STEPS, ceil(log(span_s / FIRST_S, 4)))
    shares = [4.0 ** (step - steps) for step in range(steps + 1)]
    parts = [timed(shares[0]), timed(shares[1])]
    for share in shares[2:]:
        setup_s, last = _estimate_setup_s(parts), parts[-1]
        computed = last.cpu_s - setup_s
        ratio = _cpu_per_second(last, setup_s) / max(_cpu_per_second(parts[-2], setup_s), 1e-12)
        agrees = 1 / AGREEMENT <= ratio <= AGREEMENT
        if 4 * computed > (ALWAYS_S if agrees else MOST_S):
            break
        parts.append(timed(share))
    return parts


def _estimate_setup_s(parts: list[Part]) -> float:
    """Returns the set-up time in CPU seconds: the cost of a part of length zero, from the two shortest.

    It is never negative; `parts` has two or more.
    """
    one, other = parts[:2]
    gained = max(other.simulated_s - one.simulated_s, 1e-9)
    rate = max(other.cpu_s - one.cpu_s, 0.0) / gained
    return max(0.0, min(one.cpu_s, other.cpu_s) - rate * one.simulated_s)


def _cpu_per_second(part: Part, setup_s: float) -> float:
    """Returns the CPU seconds of a part per simulated second, without the set-up."""
    return max(part.cpu_s - setup_s, 0.0) / max(part.simulated_s, 1e-9)


def _estimate_bytes(part: Part) -> float:
    """Returns the memory of a run in bytes, a packet trace left out."""
    return BYTES_PER_RUN + BYTES_PER_TRANSFER * part.transfers + BYTES_PER_CONNECTION * part.live


def _extrapolate_run(part: Part, parts: list[Part], setup_s: float, run: Scenario) -> Part:
    """Returns the cost of a whole run, extrapolated from `part`; `parts` are those of the baseline.

    After the window a run continues until its measured transfers have ended. That time, and the connections
    alive at once, grow with the run as they did between the last two parts of the baseline. The result has no
    facts.
    """
    warmup_s, window_s = read_lengths_s(run)
    steps = -log(part.share) / log(4)
    extra_s = [max(one.simulated_s - one.share * (warmup_s + window_s), 0.0) for one in (*parts[-2:], part)]
    most_s = (run["max_windows"] - 1) * window_s
    extra = min(extra_s[2] * _bound_growth(extra_s[0], extra_s[1]) ** steps, most_s)
    simulated_s = warmup_s + window_s + extra
    live = part.live * _bound_growth(parts[-2].live, parts[-1].live) ** steps
    cpu_s = setup_s + _cpu_per_second(part, setup_s) * simulated_s if steps else part.cpu_s
    return Part(1.0, cpu_s, cpu_s, simulated_s, round(part.transfers / part.share), round(live))


def _bound_growth(before: float, after: float) -> float:
    """Returns the growth from one part to the next, which is four times as long: from 1 to 4.

    It is 4 if nothing was there before.
    """
    return min(max(after / before, 1.0), 4.0) if before > 0 else 4.0


def _time_plan_part(
    plan: Plan, traffic: _engine.Traffic | None, share: float, task: Task, cancel: _engine.Cancel
) -> Part:
    """Runs the share `share` of a task's run in this thread, reduces it and returns its cost.

    A whole run is the plan's, and the part has its facts.
    """
    reduce = partial(reduce_run, buckets=plan.buckets)
    return _time_part(plan.task_scenario(task), traffic, share, reduce, cancel)


def _time_part(
    run: Scenario, traffic: _engine.Traffic | None, share: float,
    reduce: Callable[[_engine.RunResult], RunFacts | None], cancel: _engine.Cancel,
) -> Part:  # fmt: skip
    """Runs a scenario in this thread with warm-up and window cut to `share`, and returns its cost.

    The cost includes the reduction; the part has the result of `reduce` if nothing was cut. Times are in
    seconds. Raises what the run raises, also when `cancel` stops it.
    """
    scenario = run if share == 1 else _shorten_run(run, share)
    begin, begin_cpu = time.perf_counter(), time.thread_time()
    result = run_one(scenario, traffic, cancel)
    facts = reduce(result)
    cpu_s, wall_s = time.thread_time() - begin_cpu, time.perf_counter() - begin
    summary = result.summary()
    return Part(
        share, cpu_s, wall_s, summary["simulated_s"], summary["measured"], summary["connections_most_live"],
        facts if share == 1 else None,
    )  # fmt: skip


def _shorten_run(run: Scenario, share: float) -> Scenario:
    """Returns a copy of the scenario with this share of its warm-up and of its window."""
    scenario = run.copy()
    scenario["warmup"] = _scale_duration("warmup", run["warmup"], share)
    scenario["duration"] = _scale_duration("duration", run["duration"], share)
    return scenario


def _scale_duration(field: str, duration: str, share: float) -> str:
    """Returns a share of a duration as text in seconds; `field` is named in errors."""
    return f"{_engine.parse_duration(field, duration) * share:.9f}s"


def _write_memory(amount: float) -> str:
    """Returns an amount of memory in bytes as text: `42 MB` below 0.1 GB, then `2.1 GB`, then `21 GB`."""
    if amount < 1e8:
        return f"{amount / 1e6:.0f} MB"
    return f"{amount / 1e9:.1f} GB" if amount < 1e10 else f"{amount / 1e9:.0f} GB"
