"""Real programs through the link of a scenario, in real time, between two network namespaces."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import Any, cast

import numpy as np

from mousehole import _engine
from mousehole import scenario as scenarios
from mousehole.base import Options, run_interruptibly, transpose_columns
from mousehole.engine_types import (
    ConnectionSpec,
    LinkAccount,
    LinkSettings,
    LinkStatus,
    Scenario,
    TrafficSection,
    WriteSpec,
)
from mousehole.link._options import MTU
from mousehole.records import RecordColumns, Records, take_columns
from mousehole.records import run as simulate
from mousehole.scenario import try_scenarios

NOTHING: TrafficSection = {"connections": [{"start_s": 0.0, "writes": [{"bytes": 1}]}]}
"""Stands for the traffic of a run in which no flow was seen; a scenario needs traffic."""
ENDING_S = 5.0
"""Seconds that a run is given to end after it was asked to."""
CONGESTION = Path("/proc/sys/net/ipv4/tcp_congestion_control")
"""What the kernel gives to connections of new namespaces, too."""
SIMULATED_CONGESTION = "cubic"
"""The kernel's name of what the simulator's profile plays."""


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
        """Returns the settings in the form that the engine takes."""
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
    """Receives what happens while a run lasts."""

    begun: Callable[[tuple[int, int]], None] = field(default=lambda _: None)
    """The processes that hold the namespaces of the client and of the server."""
    report: Callable[[LinkStatus], None] = field(default=lambda _: None)
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
        """Returns the scenario with the flows that were seen as its traffic, so that it can be simulated."""
        return {**self.records.scenario, "traffic": make_traffic(self.records.columns)}


def check(scenario: Mapping[str, object], programs: Programs) -> None:
    """Raises `MouseholeError` if link or scheme of the scenario, or the programs, cannot be run.

    Nothing is run.
    """
    try_scenarios([{**scenario, "traffic": NOTHING}])
    _engine.link_check({**scenario, "traffic": {}}, programs.settings())


def play(scenario: Scenario, programs: Programs, observer: Observer | None = None) -> Played:
    """Runs the programs through the scenario's link until the command ends, and returns the records.

    `observer` is called in this thread. The scenario's traffic does not matter, and the records' scenario has
    a placeholder for it. Raises `MouseholeError` for a fault in the input and for what the system denies, and
    `KeyboardInterrupt` on Ctrl-C, after everything in the namespaces has ended or `ENDING_S` have passed.
    """
    watcher, monitor = observer or Observer(), _engine.LinkMonitor()
    given = {**scenario, "traffic": {}}
    has_begun = False

    def tick() -> None:
        """Reports the namespaces to the observer once they exist, and each second of the run."""
        nonlocal has_begun
        holders = monitor.holders()
        if holders is not None and not has_begun:
            has_begun = True
            watcher.begun(holders)
        for status in monitor.take_statuses():
            watcher.report(status)

    over: list[bool] = []

    def work() -> tuple[_engine.RunResult, LinkAccount]:
        """Plays the scenario through the link; sets `over` at the end, also after a fault."""
        try:
            return _engine.link_run(given, programs.settings(), monitor)
        finally:
            over.append(True)

    try:
        result, account = run_interruptibly(work, tick)
    finally:
        monitor.cancel()
        deadline = time.monotonic() + ENDING_S
        while not over and time.monotonic() < deadline:
            time.sleep(0.01)
    return Played(_collect_records(scenario, result, account), account, result)


def _collect_records(scenario: Scenario, result: _engine.RunResult, account: LinkAccount) -> Records:
    """Returns the records of a run on real packets in the form that `run` gives to those of a simulation.

    Section `traffic` of their scenario is `NOTHING`.
    """
    whole = scenarios.fill_in({
        **scenario, "warmup": "0s", "duration": f"{account['seconds']:.6f}s", "max_windows": 5,
        "traffic": NOTHING,
    })  # fmt: skip
    return Records(
        scenario=whole,
        columns=take_columns(result),
        queues=result.queues(),
        summary=result.summary(),
        inputs=scenarios.list_rate_traces(whole),
        sources=[],
    )


def make_traffic(columns: RecordColumns) -> TrafficSection:
    """Returns the flows of a run as section `traffic` of a scenario.

    Transfers that ended are connections with their sizes and pauses, in the order of their starts; downloads
    without end are bulk flows. `list_differences` names the rest. Times are seconds from the run's beginning,
    pauses never negative. Without any flow the section is `NOTHING`.
    """
    connections: list[ConnectionSpec] = []
    for writes in _group_ended_transfers(columns).values():
        writes.sort(key=lambda one: one["write"])
        pauses = [0.0, *(max(one["start_s"] - before["end_s"], 0.0) for before, one in pairwise(writes))]
        specs: list[WriteSpec] = [
            {"idle_s": round(pause, 9), "bytes": one["bytes"]}
            for pause, one in zip(pauses, writes, strict=True)
        ]
        payload = "up" if writes[0]["upload"] else "down"
        connections.append({"start_s": writes[0]["start_s"], "payload": payload, "writes": specs})
    connections.sort(key=lambda one: one["start_s"])
    section = cast("TrafficSection", {"connections": connections} if connections else {})
    bulk = int(np.sum(~columns.flows["upload"]))
    if bulk:
        section["bulk"] = {"flows": bulk}
    return section or NOTHING


def list_differences(columns: RecordColumns, congestion: str | None) -> list[str]:
    """Returns the differences between a run and its `make_traffic`, each as a clause with its number.

    `congestion` is the kernel's name of the congestion control that the programs had; None if unknown.
    """
    ended, uploads = list(_group_ended_transfers(columns).values()), int(np.sum(columns.flows["upload"]))
    transfers, flows = len(columns.transfers["key"]), len(columns.flows["key"])
    counts = {
        "left out: uploads without end": uploads,
        "left out: transfers that did not end": transfers - sum(map(len, ended)),
        "played from the run's beginning: downloads without end": flows - uploads,
        "played as TCP: flows of QUIC": sum(any(one["is_quic"] for one in writes) for writes in ended),
        "played in one direction: connections with data in both":
            sum(len({one["upload"] for one in writes}) > 1 for writes in ended),
    }  # fmt: skip
    found = [f"{what}, {count}" for what, count in counts.items() if count]
    if congestion not in (None, SIMULATED_CONGESTION):
        found.append(f"played with CUBIC: programs had {congestion} unless they chose another")
    return found


def _group_ended_transfers(columns: RecordColumns) -> dict[int, list[dict[str, Any]]]:
    """Returns the rows of transfers with payload that ended, by the key of their connection, rising."""
    ended: dict[int, list[dict[str, Any]]] = {}
    for row in transpose_columns(columns.transfers):
        if not isnan(row["end_s"]) and row["bytes"] > 0:
            ended.setdefault(row["key"], []).append(row)
    return dict(sorted(ended.items()))


def read_default_congestion() -> str | None:
    """Returns the congestion control that programs have if they choose none; None if it cannot be read."""
    try:
        return CONGESTION.read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def predict(played: Played) -> Records:
    """Returns the records of a simulation of the flows that a run has recorded, under the same scheme.

    Raises `MouseholeError` as `simulate` does.
    """
    return simulate(played.scenario)


def make_base_scenario(
    start: Scenario, options: Options, *, loss: float | None = None
) -> scenarios.SharedScenario:
    """Returns the scenario that all runs share: `start` with the options of the link.

    `loss` is the share of packets that are lost at random on the way down, None for none. Raises
    `MouseholeError` as `scenario.make_shared` does.
    """
    if loss is not None:
        start = {**start, "faults": [*start.get("faults", []), {"link": "down", "bernoulli": loss}]}
    return scenarios.make_shared(start, NOTHING, options)
