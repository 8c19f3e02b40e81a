"""Real programs through the link of a scenario, in real time, between two network namespaces."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import polars as pl

from mousehole import _engine
from mousehole import scenario as scenarios
from mousehole.answer import findings, jsonout, manifest
from mousehole.base import MouseholeError, Options, interruptible
from mousehole.comparison import Comparison
from mousehole.engine_types import (
    ConnectionSpec,
    LinkAccount,
    LinkSettings,
    LinkStatus,
    Scenario,
    TrafficSection,
    WriteSpec,
)
from mousehole.inputs import Frame, of_section
from mousehole.records import Records, applications
from mousehole.records import run as simulate
from mousehole.runs import Facts, Plan, Results, Task, checked, planned, reduce_run
from mousehole.scenario import try_scenarios

MTU = 1500
NOTHING: TrafficSection = {"connections": [{"start_s": 0.0, "writes": [{"bytes": 1}]}]}
"""Stands for the traffic of a run in which no flow was seen; a scenario needs traffic."""
ENDING_S = 5.0
"""Seconds that a run is given to end after it was asked to."""
CONGESTION = Path("/proc/sys/net/ipv4/tcp_congestion_control")
"""What the kernel gives to connections of new namespaces, too."""
SIMULATED_CONGESTION = "cubic"
"""The kernel's name of what the simulator's profile plays."""
REPEATS = 2
"""How often a run of a comparison is repeated because it was invalid."""


@dataclass(frozen=True, kw_only=True)
class Programs:
    """What runs on both sides of the link, and where packets are written."""

    command: Sequence[str]
    server: Sequence[str] | None = None
    mtu: int = MTU
    duration_s: float | None = None
    names: Sequence[str] = ()
    """Names that are the server's, in addition to `server`."""
    user_namespace: bool = False
    """Use a user namespace even as root."""
    pcapng: Path | None = None

    def settings(self) -> LinkSettings:
        """Returns them as the engine takes them."""
        return {
            "command": list(self.command),
            "server": None if self.server is None else list(self.server),
            "mtu": self.mtu,
            "duration_s": self.duration_s,
            "names": list(self.names),
            "user_namespace": self.user_namespace,
            "pcapng": None if self.pcapng is None else str(self.pcapng),
        }


@dataclass(frozen=True)
class Observer:
    """Is told what happens while a run lasts."""

    begun: Callable[[tuple[int, int]], None] = field(default=lambda _: None)
    """The processes that hold the namespaces of the client and of the server."""
    told: Callable[[LinkStatus], None] = field(default=lambda _: None)
    """How the link is, once a second."""


@dataclass(frozen=True)
class Played:
    """One run on real packets: its records as `mousehole.run` has them, and how it went."""

    records: Records
    account: LinkAccount
    result: _engine.RunResult = field(repr=False)
    """The records before they are frames."""

    @property
    def scenario(self) -> Scenario:
        """The scenario with the flows that were seen as its traffic, so that it can be simulated."""
        return {**self.records.scenario, "traffic": recorded(self.records.transfers, self.records.flows)}


def check(scenario: Mapping[str, object], programs: Programs) -> None:
    """Raises `MouseholeError` for a fault in the scenario's link or scheme, or in the programs."""
    try_scenarios([{**scenario, "traffic": NOTHING}])
    _engine.link_check({**scenario, "traffic": {}}, programs.settings())


def play(scenario: Scenario, programs: Programs, observer: Observer | None = None) -> Played:
    """Runs the programs through the scenario's link until the command ends.

    The scenario's traffic does not matter, and that of the records' scenario stands for it. Raises
    `MouseholeError` for a fault in the input and for what the system denies, and `KeyboardInterrupt` on
    Ctrl-C, after everything in the namespaces has ended.
    """
    watcher, monitor = observer or Observer(), _engine.LinkMonitor()
    given = {**scenario, "traffic": {}}
    has_begun = False

    def tick() -> None:
        nonlocal has_begun
        holders = monitor.holders()
        if holders is not None and not has_begun:
            has_begun = True
            watcher.begun(holders)
        for status in monitor.told():
            watcher.told(status)

    over: list[bool] = []

    def work() -> tuple[_engine.RunResult, LinkAccount]:
        try:
            return _engine.link_run(given, programs.settings(), monitor)
        finally:
            over.append(True)

    try:
        result, account = interruptible(work, tick)
    finally:
        monitor.cancel()
        deadline = time.monotonic() + ENDING_S
        while not over and time.monotonic() < deadline:
            time.sleep(0.01)
    return Played(_records(scenario, result, account), account, result)


def _records(scenario: Scenario, result: _engine.RunResult, account: LinkAccount) -> Records:
    transfers, flows = Frame(result.transfers()), Frame(result.flows())
    whole = scenarios.filled({
        **scenario, "warmup": "0s", "duration": f"{account['seconds']:.6f}s", "max_windows": 5,
        "traffic": NOTHING,
    })  # fmt: skip
    return Records(
        scenario=whole,
        transfers=transfers,
        queues=result.queues(),
        summary=result.summary(),
        trace=None,
        inputs=scenarios.rate_traces(whole),
        sources=[],
        flows=flows,
        datagrams=Frame(result.datagrams()),
        series=Frame(result.series()),
        applications=applications(result),
    )


def recorded(transfers: pl.DataFrame, flows: pl.DataFrame) -> TrafficSection:
    """Returns the flows of a run as traffic: finished ones by their sizes, long-lived ones as bulk flows."""
    ended = transfers.filter(pl.col("end_s").is_not_nan() & (pl.col("bytes") > 0)).sort("key", "write")
    connections: list[ConnectionSpec] = []
    for _, rows in ended.group_by("key", maintain_order=True):
        starts, ends = rows["start_s"].to_list(), rows["end_s"].to_list()
        idle = [max(now - before, 0.0) for now, before in zip(starts[1:], ends, strict=False)]
        pauses = zip([0.0, *idle], rows["bytes"], strict=True)
        writes: list[WriteSpec] = [{"idle_s": round(pause, 9), "bytes": size} for pause, size in pauses]
        payload = "up" if rows["upload"][0] else "down"
        connections.append({"start_s": starts[0], "payload": payload, "writes": writes})
    connections.sort(key=lambda one: one["start_s"])
    section = cast("TrafficSection", {"connections": connections} if connections else {})
    bulk = flows.filter(~pl.col("upload")).height if flows.height else 0
    if bulk:
        section["bulk"] = {"flows": bulk}
    return section or NOTHING


def unlike(transfers: pl.DataFrame, flows: pl.DataFrame, congestion: str | None) -> list[str]:
    """Returns what `recorded` leaves out of a run or changes, with its number, in words.

    `congestion` is the congestion control that the programs had, by the kernel's name, None if unknown.
    """
    is_ended = pl.col("end_s").is_not_nan() & (pl.col("bytes") > 0)
    ended = transfers.filter(is_ended)
    uploads = flows.filter(pl.col("upload")).height if flows.height else 0
    ways = ended.group_by("key").agg(pl.col("upload").n_unique(), pl.col("is_quic").any())
    counts = {
        "left out: uploads without end": uploads,
        "left out: transfers that did not end": transfers.height - ended.height,
        "played from the run's beginning: downloads without end": flows.height - uploads,
        "played as TCP: flows of QUIC": int(ways["is_quic"].sum()),
        "played in one direction: connections with data in both": ways.filter(pl.col("upload") > 1).height,
    }
    found = [f"{what}, {count}" for what, count in counts.items() if count]
    if congestion not in (None, SIMULATED_CONGESTION):
        found.append(f"played with CUBIC: programs had {congestion} unless they chose another")
    return found


def default_congestion() -> str | None:
    """Returns the congestion control that programs have if they choose none; None if it cannot be read."""
    try:
        return CONGESTION.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def predict(played: Played) -> Records:
    """Plays the flows that a run has recorded in the simulator, under the same scheme."""
    return simulate(played.scenario)


def base_scenario(
    start: Scenario, options: Options, *, loss: float | None = None
) -> scenarios.SharedScenario:
    """Returns what all runs share: a scenario with the options of the link applied to it."""
    if loss is not None:
        start = {**start, "faults": [*start.get("faults", []), {"link": "down", "bernoulli": loss}]}
    return scenarios.shared(start, NOTHING, options)


@dataclass(frozen=True)
class Run:
    """One run of a comparison."""

    task: Task
    account: LinkAccount
    repeats: int
    """How many runs of the same task were invalid before."""
    is_last: bool
    """Whether the task is run no more: the run is valid, or was repeated often enough."""


@dataclass(frozen=True)
class Trial:
    """A comparison on real packets, and every run of it in order."""

    comparison: Comparison | None
    """Of the rounds in which a run under every scheme was valid; None if there is no such round."""
    runs: tuple[Run, ...]
    plan: Plan

    @property
    def left_out(self) -> tuple[int, ...]:
        """The rounds that are not in the comparison, from 0 on."""
        return tuple(run.task.replication for run in self.runs if run.is_last and not run.account["is_valid"])

    @property
    def faults(self) -> list[str]:
        """One line for each round that is left out."""
        return [
            f"round {run.task.replication + 1} is left out: under {self.plan.schemes[run.task.scheme]} "
            f"{run.repeats + 1} runs were invalid, the last because {'; '.join(run.account['faults'])}"
            for run in self.runs
            if run.is_last and not run.account["is_valid"]
        ]

    def to_json(self) -> str:
        """Returns the document of the comparison, with every run as `link`.

        Raises `MouseholeError` if no round is left.
        """
        if self.comparison is None:
            raise MouseholeError("rounds: no round is left to compare")
        left_out = self.left_out
        runs = [
            {
                "scheme": self.plan.schemes[run.task.scheme],
                "buffer": self.plan.cells[run.task.cell].buffer,
                "round": run.task.replication + 1,
                "is_valid": run.account["is_valid"],
                "counts": run.account["is_valid"] and run.task.replication not in left_out,
                "account": run.account,
            }
            for run in self.runs
        ]
        return jsonout.dumps({**jsonout.comparison_document(self.comparison.results), "link": runs})


def plan_rounds(shared: scenarios.SharedScenario, options: Options, own_scheme: str | None) -> Plan:
    """Returns the plan of a comparison: each scheme once in each round.

    Raises `MouseholeError` for a fault in the input.
    """
    return replace(checked(planned(shared, options, own_scheme)), in_rounds=True)


def compare(
    plan: Plan, programs: Programs, label: str, observer: Callable[[Task], Observer] | None = None,
    played: Callable[[Run], None] | None = None,
) -> Trial:  # fmt: skip
    """Runs the same programs once per scheme in each round, and compares the schemes.

    A run that is invalid is repeated, `REPEATS` times at most; then its round is left out, and what is left
    of that round is not run. `observer` returns the observer of a run, and `played` is called after each.
    Raises as `play` does, and `MouseholeError` if some scheme cannot be run on real packets, before anything
    is run.
    """
    for cell in plan.cells:
        for scheme in plan.schemes:
            check(plan.scenario(cell, scheme), programs)
    found: dict[Task, Played] = {}
    runs: list[Run] = []
    left_out: set[int] = set()
    for task in plan.tasks:
        for repeats in range(1 + REPEATS):
            if task.replication in left_out:
                break
            one = play(plan.task_scenario(task), programs, observer(task) if observer else None)
            is_valid = one.account["is_valid"]
            runs.append(Run(task, one.account, repeats, is_valid or repeats == REPEATS))
            if played is not None:
                played(runs[-1])
            if is_valid:
                found[task] = one
                break
            if repeats == REPEATS:
                left_out.add(task.replication)
    rounds = [number for number in range(plan.replications) if number not in left_out]
    if not rounds:
        return Trial(None, tuple(runs), plan)
    return Trial(_compared(plan, found, rounds, label), tuple(runs), plan)


def _compared(plan: Plan, found: Mapping[Task, Played], rounds: Sequence[int], label: str) -> Comparison:
    """Returns the comparison of these rounds, which are its replications."""
    own = {
        replace(task, replication=rounds.index(task.replication)): one
        for task, one in found.items()
        if task.replication in rounds
    }
    facts: Facts = {
        task: replace(reduce_run(one.result, plan.buckets), short_times=None) for task, one in own.items()
    }
    # What the first run recorded stands for the traffic, which differs a little from run to run.
    first = next(iter(own.values()))
    seconds = sum(one.account["seconds"] for one in own.values()) / len(own)
    base: Scenario = {**plan.base, "traffic": first.scenario["traffic"]}
    base = {**base, "warmup": "0s", "duration": f"{seconds:.3g}s"}
    whole = replace(plan, base=base, replications=len(rounds))
    given = replace(of_section(whole.base["traffic"], label), label=label)
    results = Results(whole, facts, label, manifest(whole, given, None), None)
    return Comparison(findings.with_endpoint(results), None)
