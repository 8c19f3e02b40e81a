"""Traffic from files, from a named model, or from the user's own Python data."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import polars as pl

from mousehole import _engine, sizefiles
from mousehole.errors import MouseholeError, conflict_error, field_error, missing_error
from mousehole.pool import interruptible


@runtime_checkable
class FrameLike(Protocol):
    """A data frame of any library: its columns by name, each a sequence of values."""

    @property
    def columns(self) -> Iterable[Any]:
        """Names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """A column."""


Source = str | Path | FrameLike | Sequence[str | Path] | Sequence[Mapping[str, Any]]

IN_MEMORY = "(connections in memory)"
"""Stands for a file's name in scenarios whose traffic was given from Python."""

_MODEL = re.compile(r"[a-z][a-z0-9-]*:[\w.-]*\Z")
_COLUMNS = ("start_s", "client", "server", "bytes")


@dataclass(frozen=True)
class Loaded:
    """Traffic ready to run: the engine's object and the section that describes it in a scenario."""

    traffic: _engine.Traffic | None
    """None where the scenario says everything: bulk flows alone, a mix of models."""
    section: dict[str, Any]
    """Field `traffic` of a scenario; files by the paths given."""
    label: str
    """What a title calls it."""
    files: tuple[Path, ...]
    in_memory: dict[str, Any] | None = None
    """Name and SHA-256 of connections that were given as data instead of files."""


def load(source: Source, direction: str = "down", strict: bool = False, seed: int = 1,
         params: dict[str, Any] | None = None) -> Loaded:  # fmt: skip
    """Reads files, makes a model's traffic, or takes connections given as a frame or as dictionaries."""
    if isinstance(source, str | Path):
        source = [source]
    if isinstance(source, FrameLike):
        return _going(direction, _from_connections(_connections_of_frame(source)))
    items = list(source)
    if items and all(isinstance(item, Mapping) for item in items):
        connections = [dict(item) for item in items if isinstance(item, Mapping)]
        return _going(direction, _from_connections(connections))
    names = [str(item) for item in items]
    for name in names:
        if name in ("", "-"):
            raise field_error("traffic", name, "the name of a file or model; standard input is not read")
    if any(is_model(name) for name in names):
        return _going(direction, _from_model(names, params))
    return _from_files(names, direction, strict, seed)


def _going(direction: str, loaded: Loaded) -> Loaded:
    """The same with the direction that its payload goes; down is what a scenario takes for granted."""
    if direction == "down":
        return loaded
    return replace(loaded, section={**loaded.section, "direction": direction})


def is_model(name: str) -> bool:
    """Whether `name` is a model's, or reads like one such as `web:sfd`, and no file has that name."""
    is_named = name in _engine.models() or name.startswith(sizefiles.MODEL) or bool(_MODEL.match(name))
    return is_named and not Path(name).exists()


def is_scenario(source: Source) -> bool:
    """Whether the source is a scenario: one name that ends in .toml."""
    if scenario_path(source).suffix.lower() == ".toml":
        return True
    several = [] if isinstance(source, str | Path | FrameLike) else list(source)
    names = [str(item) for item in several if isinstance(item, str | Path)]
    if any(Path(name).suffix.lower() == ".toml" for name in names):
        (scenario, *_) = [name for name in names if Path(name).suffix.lower() == ".toml"]
        raise conflict_error("traffic", scenario, "other traffic", "a scenario stands alone")
    return False


def scenario_path(source: Source) -> Path:
    """The only name of a source as a path; an empty path if it is something else."""
    if isinstance(source, str | Path):
        return Path(source)
    if isinstance(source, FrameLike) or len(source) != 1 or isinstance(source[0], Mapping):
        return Path()
    return Path(source[0])


def of_scenario(scenario: dict[str, Any], path: Path, strict: bool = False) -> Loaded:
    """The traffic of a scenario that was read from `path`: its own, and the traces of its mix."""
    section, seed = scenario["traffic"], scenario.get("seed", 1)
    main = _main_of(section, path, strict, seed)
    parts = [
        (number, _read(entry, strict, seed), entry.get("direction") == "up")
        for number, entry in enumerate(section.get("mix") or (), 1)
        if entry.get("files")
    ]
    if parts:
        own = [(0, main.traffic, False)] if section.get("files") and main.traffic else []
        main = replace(main, traffic=_engine.beside([*own, *parts]))
    return replace(main, files=(*main.files, *sizefiles.named(section)))


def _read(entry: dict[str, Any], strict: bool, seed: int) -> _engine.Traffic:
    names, direction = entry["files"], entry.get("direction") or "down"
    return interruptible(lambda: _engine.read_traffic(names, direction, strict, seed))


def _main_of(section: dict[str, Any], path: Path, strict: bool, seed: int) -> Loaded:
    """What a scenario has beside its mix."""
    if section.get("files"):
        found = _from_files(section["files"], section.get("direction", "down"), strict, seed)
        return replace(found, section={**section, **found.section}, label=path.name)
    if section.get("model"):
        traffic = _engine.model_traffic(section["model"], section.get("params"))
    elif section.get("connections"):
        traffic = _engine.connections_traffic(json.dumps(section["connections"]))
    else:
        traffic = None
    return Loaded(traffic, section, path.name, ())


def summary(loaded: Loaded, rate: str | None) -> dict[str, Any]:
    """What was understood of the traffic; empty where the scenario says everything."""
    return {} if loaded.traffic is None else loaded.traffic.summary(rate)


def read(paths: str | Path | Iterable[str | Path], direction: str = "down", strict: bool = False,
         seed: int = 1) -> pl.DataFrame:  # fmt: skip
    """The connections of traffic files as a frame, one row each."""
    names = [paths] if isinstance(paths, str | Path) else list(paths)
    traffic = load(names, direction, strict, seed).traffic
    return pl.DataFrame(traffic.frame() if traffic else [])


def inspect(paths: Source, rate: str | None = None, direction: str = "down", strict: bool = False,
            seed: int = 1) -> dict[str, Any]:  # fmt: skip
    """What was understood of files or a model: counts, sizes, RTTs, native load on `rate`, skipped rows."""
    if rate is not None:
        _engine.parse_rate("rate", rate)
    if is_scenario(paths):
        raise MouseholeError(
            "a scenario; inspect shows traffic, mousehole run runs it",
            kind="file", file=str(scenario_path(paths)),
        )  # fmt: skip
    loaded = load(paths, direction, strict, seed)
    return interruptible(lambda: summary(loaded, rate))


def _from_files(names: list[str], direction: str, strict: bool, seed: int) -> Loaded:
    if not names:
        raise missing_error("traffic", "files (Zeek logs, pcap, access log, table) or a model (web:sfd)")
    if direction not in ("down", "up"):
        raise field_error("direction", direction, '"down" (server to client) or "up"')
    traffic = interruptible(lambda: _engine.read_traffic(names, direction, strict, seed))
    files = tuple(Path(name) for name in names)
    label = ", ".join(file.name for file in files)
    return Loaded(traffic, {"files": names, "direction": direction}, label, files)


def _from_model(names: list[str], params: dict[str, Any] | None) -> Loaded:
    if len(names) > 1:
        (model, *_) = [name for name in names if is_model(name)]
        raise conflict_error("traffic", model, "other traffic", "a model stands alone")
    section: dict[str, Any] = {"model": names[0], **({"params": params} if params else {})}
    files = sizefiles.named(section)
    label = f"{sizefiles.MODEL}{files[0].name}" if names[0].startswith(sizefiles.MODEL) else names[0]
    return Loaded(_engine.model_traffic(names[0], params), section, label, files)


def _from_connections(connections: list[dict[str, Any]]) -> Loaded:
    text = json.dumps([_with_writes(number, connection) for number, connection in enumerate(connections)])
    entry = {"name": IN_MEMORY, "sha256": hashlib.sha256(text.encode()).hexdigest()}
    label = f"{len(connections)} connections"
    return Loaded(_engine.connections_traffic(text), {"files": [IN_MEMORY]}, label, (), entry)


def _connections_of_frame(frame: FrameLike) -> list[dict[str, Any]]:
    columns = [str(name) for name in frame.columns]
    missing = [name for name in _COLUMNS if name not in columns]
    if missing:
        found, wanted = ", ".join(columns), ", ".join(_COLUMNS)
        raise MouseholeError(
            f"the data frame has no column {missing[0]}; needed are {wanted}, found were {found}",
            kind="missing", field="traffic", allowed=wanted,
        )  # fmt: skip
    names = [*_COLUMNS, *(["rtt_s"] if "rtt_s" in columns else [])]
    own = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame({n: np.asarray(frame[n]) for n in names})
    return own.select(names).sort("start_s", maintain_order=True).to_dicts()


def _with_writes(number: int, connection: dict[str, Any]) -> dict[str, Any]:
    """A connection in the scenario's form; `bytes` alone means a single write."""
    whole = {key: value for key, value in connection.items() if key != "bytes" and value is not None}
    if "writes" not in whole:
        if "bytes" not in connection:
            raise missing_error(f"traffic.connections[{number}]", "bytes or writes")
        whole["writes"] = [{"idle_s": 0.0, "bytes": connection["bytes"]}]
    return {"client": 0, "server": 0, **whole}
