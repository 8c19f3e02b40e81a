"""`mousehole.run`: one scenario, all its records."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import polars as pl

from mousehole import _engine, jsonout
from mousehole.engine_types import InputEntry, QueueCounters, RunSummary, Scenario, TrafficSection
from mousehole.manifest import REVISION, input_entry, sources, tcp_parameters, without_directories
from mousehole.pool import interruptible, run_one
from mousehole.scenario import filled, load
from mousehole.traffic import of_section


@dataclass(frozen=True)
class Records:
    """The records of one run."""

    scenario: Scenario
    """The scenario with every parameter filled in."""
    transfers: pl.DataFrame
    """One row per measured transfer: sizes in bytes, times in seconds, NaN where it was not finished.

    `key` pairs a transfer across schemes; docs/json.md explains the columns.
    """
    queues: list[QueueCounters]
    """Counters of every link, the bottleneck first: the packets of each colour, and delays in seconds."""
    summary: RunSummary
    """Load, goodput, and how much was simulated."""
    trace: pl.DataFrame | None
    """Every packet event (time_s, event, flow, seq, bytes, colour, cwnd) if the scenario asks, else None."""
    inputs: tuple[Path, ...]
    """The input files."""
    sources: list[InputEntry]
    """Name and SHA-256 of the traffic's files as they were when they were read."""
    flows: pl.DataFrame
    """One row per long-lived flow: bytes delivered within the window."""
    datagrams: pl.DataFrame
    """One row per datagram flow: packets sent, received and lost, one-way delays, jitter."""
    series: pl.DataFrame
    """Adaptive values over time: link, name (such as threshold_packets), time_s, value from then on."""

    def to_json(self) -> str:
        """Returns the JSON document of schema `mousehole.run/1` (docs/json.md)."""
        manifest = {
            "mousehole_version": _engine.__version__,
            "git_revision": REVISION,
            "inputs": [input_entry(file, self.sources) for file in self.inputs],
            "scenario": without_directories(self.scenario),
            "tcp": tcp_parameters(self.scenario),
        }
        document = {
            "schema": jsonout.RUN_SCHEMA,
            "manifest": manifest,
            "summary": self.summary,
            "queues": self.queues,
            "flows": self.flows.to_dicts(),
            "datagrams": self.datagrams.fill_nan(None).to_dicts(),
            "series": self.series.to_dicts(),
        }
        return jsonout.dumps(document)


def run(scenario: str | Path | Mapping[str, object], **changes: object) -> Records:
    """Runs a scenario and returns its records.

    `scenario` is a TOML file or a dictionary with the fields of docs/scenario.md. `changes` replace fields of
    it, such as `scheme="sfd"` or `seed=3`; `replay` replaces its `traffic.replay`. A change that is None is
    ignored. The same scenario, seed and replication give the same records on any machine.

    Raises `MouseholeError` for a fault in the input, and `KeyboardInterrupt` at once on Ctrl-C.
    """
    loaded = load(scenario) if isinstance(scenario, str | Path) else scenario
    given = {name: value for name, value in changes.items() if value is not None}
    if "replay" in given:
        traffic = cast("TrafficSection", loaded.get("traffic", {}))
        given["traffic"] = {**traffic, "replay": given.pop("replay")}
    whole = filled(dict(loaded) | given)
    source = of_section(whole["traffic"], "")
    engine_traffic = source.read(seed=whole["seed"])
    cancel = _engine.Cancel()
    try:
        result = interruptible(lambda: run_one(whole, engine_traffic, cancel))
    finally:
        cancel.cancel()
    trace = result.trace()
    return Records(
        scenario=whole,
        transfers=pl.DataFrame(result.transfers()),
        queues=result.queues(),
        summary=result.summary(),
        trace=None if trace is None else pl.DataFrame(trace),
        inputs=source.files,
        sources=sources(engine_traffic),
        flows=pl.DataFrame(result.flows()),
        datagrams=pl.DataFrame(result.datagrams()),
        series=pl.DataFrame(result.series()),
    )


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Writes CSV if the name ends in .csv, else Parquet."""
    if path.suffix.lower() == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)
