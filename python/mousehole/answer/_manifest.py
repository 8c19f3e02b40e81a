"""The entries of a manifest on files: digests, scenario without directories; the rest is the engine's."""

import errno
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import cast

from mousehole import _engine
from mousehole._engine import scheme_parameters as scheme_parameters
from mousehole.base import file_error
from mousehole.engine_types import ConnectionSpec, InputEntry, Manifest, Scenario
from mousehole.inputs import TrafficInput
from mousehole.runs import Plan
from mousehole.scenario import bottleneck, fill_in, list_rate_traces, sizefiles, with_traces_moved

PLAIN = tuple(item.name for item in fields(Plan) if item.name not in ("base", "warmup"))
"""Fields of `Plan` that JSON holds as they are."""


def make_manifest(plan: Plan, traffic: TrafficInput, read: _engine.Traffic | None) -> Manifest:
    """Returns the manifest of a comparison; `read` is the traffic as the engine read it, or None.

    Reads every input file for its digest, and raises `MouseholeError` for one that cannot be read.
    `findings.with_endpoint` adds what follows only from the runs.
    """
    first = plan.scenario(plan.cells[0], plan.baseline)
    given = {
        "plan": {**plan_entry(plan), "warmup": None},
        "scenario": strip_directories(fill_in(first)),
        "inputs": [
            *list_inputs(traffic, list_sources(read)),
            *(input_entry(file, []) for file in list_rate_traces(plan.base)),
        ],
        "mean_rates": bottleneck.read_mean_rates(plan.base) or None,
    }
    made: Manifest = _engine.manifest(first, given)
    return made


def plan_entry(plan: Plan) -> dict[str, object]:
    """Returns the plan as an entry of a document: its plain fields and its scenario, without the warm-up.

    The names of the scenario's files lose their directories.
    """
    return {**{name: getattr(plan, name) for name in PLAIN}, "scenario": strip_directories(plan.base)}


def list_inputs(traffic: TrafficInput, read: list[InputEntry]) -> list[InputEntry]:
    """Returns name and SHA-256 of each input file, then of connections in memory, which count as one file.

    `read` has the entries of inputs that can be read only once, such as standard input. Raises
    `MouseholeError` for a file that cannot be read.
    """
    in_memory = traffic.in_memory()
    return [*(input_entry(file, read) for file in traffic.files), *([in_memory] if in_memory else [])]


def list_sources(read: _engine.Traffic | None) -> list[InputEntry]:
    """Returns name and SHA-256 of every file of a traffic when it was read; empty for None."""
    return read.sources() if read else []


def input_entry(file: Path, read: list[InputEntry]) -> InputEntry:
    """Returns name and SHA-256 of an input file, which is read for it.

    The entry of standard input or of a pipe, which can be read once only, is taken from `read`. Raises
    `MouseholeError` for a file that is missing, unreadable or not regular, and `StopIteration` if `read` has
    no entry of standard input.
    """
    if str(file) == sizefiles.STANDARD_INPUT:
        return next(entry for entry in read if entry["name"] == "standard input")
    try:
        if file.exists() and not file.is_file():
            for entry in read:
                if entry["name"] == file.name:  # a pipe, which is read once
                    return entry
            what = "is a directory" if file.is_dir() else "is no regular file"
            raise file_error(file, f"{what}; give a file")
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        reason = "no such file" if error.errno == errno.ENOENT else error.strerror
        raise file_error(file, str(reason)) from None
    return {"name": file.name, "sha256": digest}


def strip_directories(scenario: Scenario) -> Scenario:
    """Returns a copy of the scenario in which files are named without their directories.

    Listed connections are replaced by their number and digest, unless that was done before.
    """
    section = sizefiles.with_moved_files(scenario["traffic"], lambda file: Path(file).name)
    listed = section.get("connections")
    is_counted = isinstance(listed, Mapping)  # the scenario of a saved result
    entry = {**section, "connections": connections_entry(listed)} if listed and not is_counted else section
    named = with_traces_moved(scenario, lambda file: Path(file).name)
    return cast("Scenario", {**named, "traffic": entry})


def connections_entry(connections: Sequence[ConnectionSpec]) -> dict[str, str | int]:
    """Returns count and SHA-256 of connections that were given as data.

    The digest is that of their JSON with sorted keys and no spaces.
    """
    text = json.dumps(connections, sort_keys=True, separators=(",", ":"))
    return {"count": len(connections), "sha256": hashlib.sha256(text.encode()).hexdigest()}
