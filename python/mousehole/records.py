"""`mousehole.run`: one scenario, all its records."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from mousehole import _engine, jsonout, sizefiles, traffic
from mousehole.errors import MouseholeError
from mousehole.manifest import input_entry, tcp_parameters, versions, without_directories
from mousehole.plan import Json, normalised
from mousehole.pool import interruptible


@dataclass(frozen=True)
class Records:
    """The records of one run."""

    scenario: Json
    """The scenario with every parameter filled in."""
    transfers: pl.DataFrame
    """One row per measured transfer; `key` pairs a transfer across schemes."""
    queues: list[Json]
    """Counters of every link: per colour arrived, early, forced, marked, sent; delays in seconds."""
    summary: Json
    """Load, goodput, and how much was simulated."""
    trace: pl.DataFrame | None
    """Every packet event (time, event, flow, seq, bytes, colour, cwnd) if the scenario asks for it."""
    inputs: tuple[Path, ...]
    flows: pl.DataFrame
    """One row per flow without end: bytes delivered within the window."""
    datagrams: pl.DataFrame
    """One row per datagram flow: packets sent, received and lost, one-way delays, jitter."""

    series: pl.DataFrame
    """What is adaptive, over time: link, name (such as threshold_packets), time_s, value from then on."""

    def to_json(self) -> str:
        """The document of schema `mousehole.run/1`: manifest, summary and queues."""
        manifest = {
            **versions(),
            "inputs": [input_entry(file) for file in self.inputs],
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


def load_scenario(path: str | Path) -> Json:
    """A scenario from a TOML file; its traffic files are looked for beside it."""
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise MouseholeError(f"cannot read the scenario; {reason}", kind="file", file=str(source)) from error
    scenario: Json = json.loads(_engine.scenario_from_toml(text, str(source)))
    files = scenario.get("traffic", {}).get("files")
    if files:
        scenario["traffic"]["files"] = [str(source.parent / file) for file in files]
    if scenario.get("traffic"):
        scenario["traffic"] = sizefiles.moved(scenario["traffic"], lambda file: str(source.parent / file))
    return scenario


def scenario_text(scenario: Json, folder: Path) -> str:
    """The scenario as TOML, its traffic files named as seen from `folder`."""
    if traffic.IN_MEMORY in scenario["traffic"].get("files", []):
        raise MouseholeError(
            "scenario: connections given from Python cannot be saved; write them to a file first"
        )
    moved = {**scenario, "traffic": dict(scenario["traffic"])}
    if moved["traffic"].get("files"):
        names = [Path(file).resolve() for file in moved["traffic"]["files"]]
        moved["traffic"]["files"] = [_seen_from(name, folder.resolve()) for name in names]
    moved["traffic"] = sizefiles.moved(
        moved["traffic"], lambda file: _seen_from(Path(file).resolve(), folder.resolve())
    )
    return _engine.scenario_to_toml(json.dumps(moved))


def run(scenario: str | Path | Json, **changes: Any) -> Records:
    """Runs a scenario (a TOML file or a dictionary) with `changes` to its fields, such as scheme or seed."""
    loaded = dict(scenario) if isinstance(scenario, dict) else load_scenario(scenario)
    whole = {**loaded, **{name: value for name, value in changes.items() if value is not None}}
    filled = normalised(whole)
    source, files = _traffic_of(filled)
    cancel = _engine.Cancel()
    try:
        result = interruptible(lambda: _engine.run(json.dumps(filled), source, cancel))
    finally:
        cancel.cancel()
    trace = result.trace()
    frame = None if trace is None else pl.DataFrame(trace)
    tables = (result.transfers(), result.flows(), result.datagrams(), result.series())
    transfers, flows, datagrams, series = map(pl.DataFrame, tables)
    records = (transfers, result.queues(), result.summary(), frame, files, flows, datagrams, series)
    return Records(filled, *records)


def write_frame(frame: pl.DataFrame, path: Path) -> None:
    """Writes Parquet or CSV, by the ending of the name."""
    if path.suffix.lower() == ".csv":
        frame.write_csv(path)
    else:
        frame.write_parquet(path)


def _traffic_of(scenario: Json) -> tuple[_engine.Traffic | None, tuple[Path, ...]]:
    loaded = traffic.of_scenario(scenario, Path())
    return loaded.traffic, loaded.files


def _seen_from(file: Path, folder: Path) -> str:
    return os.path.relpath(file, folder)
