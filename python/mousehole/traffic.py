"""Traffic from files, from a named model, or from data given in Python."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import polars as pl

from mousehole import _engine, parquet, sizefiles
from mousehole.engine_types import (
    ConnectionSpec,
    InputEntry,
    MixEntry,
    ModelParams,
    TrafficSection,
    TrafficSummary,
)
from mousehole.errors import MouseholeError, conflict_error, field_error, missing_error
from mousehole.pool import interruptible
from mousehole.scenario import IN_MEMORY
from mousehole.sizefiles import STANDARD_INPUT


@runtime_checkable
class FrameLike(Protocol):
    """A data frame of any library: its columns by name, each a sequence of values."""

    @property
    def columns(self) -> Iterable[object]:
        """Names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Returns a column."""


Source = str | Path | FrameLike | Sequence[str | Path] | Sequence[Mapping[str, object]]

_MODEL = re.compile(r"[a-z][a-z0-9-]*:[\w.-]*\Z")
_COLUMNS = ("start_s", "client", "server", "bytes")
_OPTIONAL_COLUMNS = ("rtt_s", "duration_s")


@dataclass(frozen=True)
class TrafficInput:
    """Traffic as the user gave it, before anything is read."""

    section: TrafficSection
    """Section `traffic` of a scenario with this traffic; files have the names given."""
    label: str
    """Name for titles."""
    files: tuple[Path, ...]
    connections: list[ConnectionSpec] | None = None
    """Connections that were given as data instead of files."""

    def read(self, strict: bool = False, seed: int = 1) -> _engine.Traffic | None:
        """Reads files, or prepares a model or connections; None if the scenario generates all traffic.

        `strict` makes any faulty row an error; `seed` is the base of the random draws for what files leave
        open. Raises `MouseholeError` for a fault in the input, and `KeyboardInterrupt` at once on Ctrl-C.
        """
        main = self._read_main(strict, seed)
        parts = [
            (number, _read_files(entry, strict, seed), entry.get("direction") == "up")
            for number, entry in enumerate(self.section.get("mix") or (), 1)
            if entry.get("files")
        ]
        if not parts:
            return main
        own = [(0, main, False)] if self.section.get("files") and main else []
        return _engine.combine([*own, *parts])

    def in_memory(self) -> InputEntry | None:
        """Returns name and SHA-256 of connections that were given as data."""
        if self.connections is None:
            return None
        digest = hashlib.sha256(json.dumps(self.connections).encode()).hexdigest()
        return {"name": IN_MEMORY, "sha256": digest}

    def _read_main(self, strict: bool, seed: int) -> _engine.Traffic | None:
        """Reads everything but the mix."""
        section = self.section
        if self.connections is not None:
            return _engine.connections_traffic(self.connections)
        if section.get("files"):
            return _read_files(section, strict, seed)
        if section.get("model"):
            return _engine.model_traffic(section["model"], section.get("params"))
        if section.get("connections"):
            return _engine.connections_traffic(section["connections"])
        return None


def described(
    source: Source, direction: str | None = None, params: Mapping[str, object] | None = None
) -> TrafficInput:
    """Returns what files, a model, a frame or dictionaries say of the traffic; `params` are of a model."""
    if isinstance(source, str | Path):
        source = [source]
    if isinstance(source, FrameLike):
        return _of_connections(_connections_of_frame(source), direction)
    items = list(source)
    if items and all(isinstance(item, Mapping) for item in items):
        return _of_connections([dict(item) for item in items if isinstance(item, Mapping)], direction)
    names = [str(item) for item in items]
    if "" in names:
        raise field_error("traffic", "", "the name of a file or model, or - for standard input")
    if names.count(STANDARD_INPUT) > 1:
        raise field_error("traffic", STANDARD_INPUT, "given at most once", "is given twice")
    if any(is_model(name) for name in names):
        return _of_model(names, direction, params)
    return _of_files(names, direction)


def of_section(section: TrafficSection, label: str) -> TrafficInput:
    """Returns the traffic of a scenario."""
    if section.get("files"):
        section = {"direction": "down", **section}
    return TrafficInput(section, label, sizefiles.named(section))


def is_model(name: str) -> bool:
    """Returns whether `name` is a model or looks like one, such as `web:sfd`, and no file has that name."""
    is_named = name in _engine.models() or name.startswith(sizefiles.MODEL) or bool(_MODEL.match(name))
    return is_named and not Path(name).exists()


def is_scenario(source: Source) -> bool:
    """Returns whether the source is a scenario: one name that ends in .toml.

    Raises `MouseholeError` for a scenario that is given together with something else.
    """
    if scenario_path(source).suffix.lower() == ".toml":
        return True
    several = [] if isinstance(source, str | Path | FrameLike) else list(source)
    names = [str(item) for item in several if isinstance(item, str | Path)]
    if any(Path(name).suffix.lower() == ".toml" for name in names):
        (scenario, *_) = [name for name in names if Path(name).suffix.lower() == ".toml"]
        raise conflict_error("traffic", scenario, "other traffic", "a scenario stands alone")
    return False


def scenario_path(source: Source) -> Path:
    """Returns the only name of a source as a path, an empty path if the source is something else."""
    if isinstance(source, str | Path):
        return Path(source)
    if isinstance(source, FrameLike) or len(source) != 1 or isinstance(source[0], Mapping):
        return Path()
    return Path(source[0])


def read(paths: str | Path | Iterable[str | Path], direction: str = "down", strict: bool = False,
         seed: int = 1) -> pl.DataFrame:  # fmt: skip
    """Reads traffic files into a polars frame with one row per connection.

    Columns: `start_s` (seconds from the first connection), `client` and `server` (numbers of hosts), `rtt_s`
    (seconds, NaN if unknown), `writes` (number of writes), `bytes` (payload of all writes), `is_quic`.

    `direction` is that of the data, "down" (server to client) or "up". With `strict`, a faulty row is an
    error; without, it is counted and left out. `seed` is the base of the draws for what files leave open.

    Raises `MouseholeError` for a file that cannot be used.
    """
    names = [paths] if isinstance(paths, str | Path) else list(paths)
    traffic = described(names, direction).read(strict, seed)
    return pl.DataFrame(traffic.frame() if traffic else [])


def inspect(paths: Source, rate: str | None = None, direction: str = "down", strict: bool = False,
            seed: int = 1) -> TrafficSummary:  # fmt: skip
    """Returns what was understood of files or of a model: counts, sizes, RTTs, skipped and faulty rows.

    The dictionary is the document of `mousehole inspect --json` (docs/json.md) without its schema; times are
    in seconds, sizes in bytes of payload. `native_load` is the load on a link of `rate` (such as "10mbit");
    without one it is None. `direction`, `strict` and `seed` are as for `read`.

    Raises `MouseholeError` for a file that cannot be used, and for a scenario, which has nothing to inspect.
    """
    if rate is not None:
        _engine.parse_rate("rate", rate)
    if is_scenario(paths):
        raise MouseholeError(
            "a scenario; inspect shows traffic, mousehole run runs it",
            kind="file", file=str(scenario_path(paths)),
        )  # fmt: skip
    traffic = described(paths, direction).read(strict, seed)
    if traffic is None:
        raise missing_error("traffic", "something to inspect")
    return interruptible(lambda: traffic.summary(rate))


def _read_files(section: TrafficSection | MixEntry, strict: bool, seed: int) -> _engine.Traffic:
    names, direction = section["files"], section.get("direction") or "down"
    tables = parquet.tables(names)
    return interruptible(lambda: _engine.read_traffic(names, direction, strict, seed, tables))


def _of_files(names: list[str], direction: str | None) -> TrafficInput:
    if not names:
        raise missing_error("traffic", "files (Zeek logs, pcap, access log, table) or a model (web:sfd)")
    files = tuple(Path(name) for name in names)
    section: TrafficSection = {"files": names, "direction": direction or "down"}
    labels = ["standard input" if str(file) == STANDARD_INPUT else file.name for file in files]
    return TrafficInput(section, ", ".join(labels), files)


def _of_model(names: list[str], direction: str | None, params: Mapping[str, object] | None) -> TrafficInput:
    if len(names) > 1:
        (model, *_) = [name for name in names if is_model(name)]
        raise conflict_error("traffic", model, "other traffic", "a model stands alone")
    section: TrafficSection = {"model": names[0]}
    if params:
        section["params"] = cast("ModelParams", dict(params))
    files = sizefiles.named(section)
    label = f"{sizefiles.MODEL}{files[0].name}" if names[0].startswith(sizefiles.MODEL) else names[0]
    return TrafficInput(_going(section, direction), label, files)


def _of_connections(given: list[dict[str, object]], direction: str | None) -> TrafficInput:
    connections = [_with_writes(number, connection) for number, connection in enumerate(given)]
    section = _going({"files": [IN_MEMORY]}, direction)
    return TrafficInput(section, f"{len(given)} connections", (), connections)


def _going(section: TrafficSection, direction: str | None) -> TrafficSection:
    """Returns the section with the direction that its payload goes; a scenario takes down for granted."""
    return section if direction in (None, "down") else {**section, "direction": direction}


def _connections_of_frame(frame: FrameLike) -> list[dict[str, object]]:
    columns = [str(name) for name in frame.columns]
    missing = [name for name in _COLUMNS if name not in columns]
    if missing:
        found, wanted = ", ".join(columns), ", ".join(_COLUMNS)
        raise MouseholeError(
            f"the data frame has no column {missing[0]}; needed are {wanted}, found were {found}",
            kind="missing", field="traffic", allowed=wanted,
        )  # fmt: skip
    names = [*_COLUMNS, *(name for name in _OPTIONAL_COLUMNS if name in columns)]
    own = frame if isinstance(frame, pl.DataFrame) else pl.DataFrame({n: np.asarray(frame[n]) for n in names})
    return own.select(names).sort("start_s", maintain_order=True).to_dicts()


def _with_writes(number: int, connection: dict[str, object]) -> ConnectionSpec:
    """Returns a connection in the form of a scenario; `bytes` alone means a single write."""
    whole = {key: value for key, value in connection.items() if key != "bytes" and value is not None}
    if "writes" not in whole:
        if "bytes" not in connection:
            raise missing_error(f"traffic.connections[{number}]", "bytes or writes")
        whole["writes"] = [{"idle_s": 0.0, "bytes": connection["bytes"]}]
    return cast("ConnectionSpec", {"client": 0, "server": 0, **whole})
