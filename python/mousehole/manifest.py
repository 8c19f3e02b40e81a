"""Everything that determines a result, and nothing that does not (no times, hosts, jobs or directories)."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from mousehole import _engine, sizefiles
from mousehole.plan import Json, Plan, normalised
from mousehole.sizes import CDF_TIMES_S
from mousehole.statistics import LEAST_REPLICATIONS, LEVEL
from mousehole.traffic import Loaded

REVISION: str = getattr(_engine, "BUILD", "unknown")
"""The git revision the engine was built from."""
TCP_TIMES = {"initial_rto", "min_rto", "max_rto", "tick", "tick_phase", "delayed_ack"}
"""TCP parameters that the engine gives in nanoseconds."""


def manifest(plan: Plan, loaded: Loaded) -> Json:
    """The manifest of a comparison."""
    scenarios = {scheme: normalised(plan.scenario(plan.cells[0], scheme)) for scheme in plan.schemes}
    return {
        **versions(),
        "inputs": inputs(loaded),
        "seed": plan.base["seed"],
        "replications": plan.replications,
        "buffers": list(plan.buffers),
        "loads": list(plan.loads),
        "baseline": plan.baseline,
        "schemes": [
            {"scheme": scheme, "parameters": _engine.scheme_parameters(scheme)} for scheme in plan.schemes
        ],
        "scenario": without_directories(scenarios[plan.baseline]),
        "tcp": tcp_parameters(plan.scenario(plan.cells[0], plan.baseline)),
        "statistics": _statistics(plan),
    }


def versions() -> Json:
    """Version and revision of what ran."""
    return {"mousehole_version": _engine.__version__, "git_revision": REVISION}


def inputs(loaded: Loaded) -> list[Json]:
    """The input files by name and SHA-256; connections in memory count as one."""
    return [*map(input_entry, loaded.files), *([loaded.in_memory] if loaded.in_memory else [])]


def input_entry(file: Path) -> Json:
    """Name and SHA-256 of an input file."""
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return {"name": file.name, "sha256": digest}


def tcp_parameters(scenario: Json) -> Json:
    """Every TCP parameter in force, times by their names in nanoseconds."""
    parameters: Json = json.loads(_engine.tcp_parameters(json.dumps(scenario)))
    return {f"{name}_ns" if name in TCP_TIMES else name: value for name, value in parameters.items()}


def without_directories(scenario: Json) -> Json:
    """The scenario with files by their last name, and long lists of connections only by count and digest."""
    traffic = dict(scenario.get("traffic", {}))
    if traffic.get("files"):
        traffic["files"] = base_names(traffic["files"])
    traffic = sizefiles.moved(traffic, lambda file: Path(file).name)
    if traffic.get("connections"):
        traffic["connections"] = connections_entry(traffic["connections"])
    return {**scenario, "traffic": traffic}


def connections_entry(connections: list[Json]) -> Json:
    """Count and SHA-256 of connections that were given as data."""
    text = json.dumps(connections, sort_keys=True, separators=(",", ":"))
    return {"count": len(connections), "sha256": hashlib.sha256(text.encode()).hexdigest()}


def base_names(files: Iterable[str]) -> list[str]:
    """Last part of every path."""
    return [Path(file).name for file in files]


def _statistics(plan: Plan) -> Json:
    return {
        "unit": "replication",
        "interval": "Student t over replications of the statistic, or of its log-ratio to the reference",
        "level": LEVEL,
        "least_replications": LEAST_REPLICATIONS,
        "primary_endpoint": "mean response time of short transfers",
        "short_bytes": plan.short_bytes,
        "long_bytes": plan.long_bytes,
        "censored_share_for_bound": CENSORED_SHARE,
        "cdf_points": len(CDF_TIMES_S),
    }


CENSORED_SHARE = 0.01
"""Above this share of unfinished transfers a mean is only a lower bound."""
