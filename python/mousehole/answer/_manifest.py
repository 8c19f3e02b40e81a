"""Everything that determines a result, and nothing that does not (no times, hosts, jobs or directories)."""

import errno
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from mousehole import _engine
from mousehole.base import REVISION, MouseholeError
from mousehole.engine_types import ConnectionSpec, InputEntry, JsonValue, Scenario
from mousehole.inputs import TrafficInput
from mousehole.runs import Manifest, Plan, SchemeParameters
from mousehole.scenario import bottleneck, filled, rate_traces, sizefiles, with_traces_moved


def manifest(plan: Plan, traffic: TrafficInput, read: _engine.Traffic | None) -> Manifest:
    """Returns the manifest of a comparison; `read` is what was read of the traffic.

    What only the runs tell is added by `findings.with_endpoint`.
    """
    first = plan.scenario(plan.cells[0], plan.baseline)
    means = bottleneck.mean_rates(plan.base)
    varying: Manifest = {"mean_rates": means} if means else {}  # type: ignore[typeddict-item]
    return {
        **varying,
        "mousehole_version": _engine.__version__,
        "git_revision": REVISION,
        "inputs": [
            *inputs(traffic, sources(read)),
            *(input_entry(file, []) for file in rate_traces(plan.base)),
        ],
        "seed": plan.base["seed"],
        "replications": plan.replications,
        "buffers": list(plan.buffers),
        "loads": list(plan.loads),
        "baseline": plan.baseline,
        "schemes": [_scheme_entry(scheme) for scheme in plan.schemes],
        "scenario": without_directories(filled(first)),
        "tcp": tcp_parameters(first),
        "statistics": _engine.statistics_entry(plan.is_sequential, plan.short_bytes, plan.long_bytes),
    }


def scheme_parameters(scheme: str) -> dict[str, str]:
    """Returns the parameters of a scheme by their names, those that it leaves out with their defaults."""
    return _engine.scheme_parameters(scheme)


def _scheme_entry(scheme: str) -> SchemeParameters:
    """Returns a scheme with its parameters and, where it uses own policies, their headers' SHA-256."""
    entry: SchemeParameters = {"scheme": scheme, "parameters": scheme_parameters(scheme)}
    own = _engine.scheme_policies(scheme)
    if own:
        entry["policies"] = {policy["name"]: policy["sha256"] for policy in own}
    return entry


def inputs(traffic: TrafficInput, read: list[InputEntry]) -> list[InputEntry]:
    """Returns the input files by name and SHA-256; connections given as data count as one."""
    in_memory = traffic.in_memory()
    return [*(input_entry(file, read) for file in traffic.files), *([in_memory] if in_memory else [])]


def sources(read: _engine.Traffic | None) -> list[InputEntry]:
    """Returns name and SHA-256 of every file of a traffic, as they were when it was read."""
    return read.sources() if read else []


def input_entry(file: Path, read: list[InputEntry]) -> InputEntry:
    """Returns name and SHA-256 of an input file; `read` has that of standard input, which is read once."""
    if str(file) == sizefiles.STANDARD_INPUT:
        return next(entry for entry in read if entry["name"] == "standard input")
    try:
        if file.exists() and not file.is_file():
            for entry in read:
                if entry["name"] == file.name:  # a pipe, which is read once
                    return entry
            what = "is a directory" if file.is_dir() else "is no regular file"
            raise MouseholeError(f"{what}; give a file", kind="file", file=str(file))
        with file.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        reason = "no such file" if error.errno == errno.ENOENT else error.strerror
        raise MouseholeError(str(reason), kind="file", file=str(file)) from None
    return {"name": file.name, "sha256": digest}


def tcp_parameters(scenario: Scenario) -> dict[str, JsonValue]:
    """Returns every TCP parameter in force; the names of times end in `_ns`.

    Where senders have shares, these are the values by profile, each with its `share`.
    """
    return _engine.tcp_parameters(scenario)


def without_directories(scenario: Scenario) -> Scenario:
    """Returns the scenario without directories, and with count and digest in place of listed connections."""
    section = sizefiles.moved(scenario["traffic"], lambda file: Path(file).name)
    listed = section.get("connections")
    is_counted = isinstance(listed, Mapping)  # the scenario of a saved result
    entry = {**section, "connections": connections_entry(listed)} if listed and not is_counted else section
    named = with_traces_moved(scenario, lambda file: Path(file).name)
    return cast("Scenario", {**named, "traffic": entry})


def connections_entry(connections: Sequence[ConnectionSpec]) -> dict[str, str | int]:
    """Returns count and SHA-256 of connections that were given as data."""
    text = json.dumps(connections, sort_keys=True, separators=(",", ":"))
    return {"count": len(connections), "sha256": hashlib.sha256(text.encode()).hexdigest()}
