"""Traffic for other processes: packed where it was read, and made again from the same bytes at a worker."""

import hashlib
import json
import pickle
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from mousehole import _engine
from mousehole.base import MouseholeError, conflict_error, file_error
from mousehole.engine_types import MixEntry, TrafficSection
from mousehole.inputs.traffic import TrafficInput
from mousehole.scenario import sizefiles


@dataclass(frozen=True)
class TrafficShipment:
    """The traffic of runs as files, connections and reading options, identified by its content."""

    given: TrafficInput
    strict: bool
    seed: int

    @cached_property
    def digest(self) -> str:
        """Returns the SHA-256 of all that determines the traffic, as hexadecimal digits.

        The files are read once; the value is stored. Raises `MouseholeError` for a file that cannot be read.
        """
        digests = []
        for file in self._files():
            with _open_file(file) as stream:
                digests.append(hashlib.file_digest(stream, "sha256").digest())
        return self._digest(digests)

    def packed(self) -> bytes:
        """Returns the traffic as pickled bytes, from which `unpack` makes the same traffic.

        Every file is in memory as a whole. Raises `MouseholeError` if a file cannot be read, or has changed
        since `digest` was computed.
        """
        files = []
        for file in self._files():
            with _open_file(file) as stream:
                files.append((str(file), stream.read()))
        if self._digest([hashlib.sha256(data).digest() for _, data in files]) != self.digest:
            raise MouseholeError("a file of the traffic has changed since it was read; start again")
        return pickle.dumps({**self._settings(), "connections": self.given.connections, "files": files})

    def _digest(self, digests: Iterable[bytes]) -> str:
        """Returns the digest of the traffic, given those of its files."""
        text = json.dumps([self._settings(), self.given.connections])
        return hashlib.sha256(text.encode() + b"".join(digests)).hexdigest()

    def _settings(self) -> dict[str, Any]:
        """Returns all settings that determine the traffic but files and connections.

        They are the section, the options of reading and the budget of memory.
        """
        return {
            "section": self.given.section,
            "strict": self.strict,
            "seed": self.seed,
            "most_rows": self.given.budget[0],
        }

    def _files(self) -> list[Path]:
        """Returns the files of the traffic, each once."""
        return list(dict.fromkeys(self.given.files))


@dataclass(frozen=True)
class Received:
    """Traffic as a worker has it."""

    traffic: _engine.Traffic | None
    sizes: Mapping[str, str]
    """Where the worker has the files of flow sizes, by the names that scenarios give them.

    A name that is not here stays as it is.
    """

    def localise(self, scenario: Mapping[str, object]) -> Mapping[str, object]:
        """Returns a copy of the scenario with the worker's own files of flow sizes in section `traffic`.

        Names of other files stay as they are; without files of flow sizes the scenario itself is returned.
        """
        if not self.sizes:
            return scenario
        section = cast("TrafficSection", {**cast("TrafficSection", scenario["traffic"])})
        section = cast("TrafficSection", self._with_sizes(section))
        if section.get("mix"):
            section["mix"] = [cast("MixEntry", self._with_sizes(entry)) for entry in section["mix"]]
        return {**scenario, "traffic": section}

    def _with_sizes(self, entry: TrafficSection | MixEntry) -> TrafficSection | MixEntry:
        """Returns a copy of a section whose parameter `sizes` is local; without sizes, the section itself.

        The parameter counts before the name in the model. It is set where only the model names a file.
        """
        params, model = entry.get("params") or {}, entry.get("model") or ""
        name = params.get("sizes") or (
            model.removeprefix(sizefiles.MODEL) if model.startswith(sizefiles.MODEL) else None
        )
        if name is None:
            return entry
        whole = entry.copy()
        whole["params"] = {**params, "sizes": self.sizes.get(str(name), str(name))}
        return whole


def make_shipment(given: TrafficInput, strict: bool, seed: int) -> TrafficShipment | None:
    """Returns how other processes get this traffic; None if the scenario alone describes it.

    Raises `MouseholeError` for standard input, which other processes cannot read.
    """
    if given.connections is None and not given.files:
        return None
    if any(str(file) == sizefiles.STANDARD_INPUT for file in given.files):
        raise conflict_error(
            "traffic", sizefiles.STANDARD_INPUT, "runs in other processes", "give it as a file"
        )
    return TrafficShipment(given, strict, seed)


def unpack(content: bytes, folder: Path) -> Received:
    """Returns the traffic of a shipment from the bytes of `TrafficShipment.packed`.

    Its files are written into `folder`; those of flow sizes stay there, as runs need them, and those of
    replayed connections are deleted after they are read. `content` must be trusted, as it is unpickled.
    Raises `MouseholeError` for a fault in a file.
    """
    held = pickle.loads(content)  # noqa: S301 (of the process that asks for the run)
    local: dict[str, str] = {}
    for number, (name, data) in enumerate(held["files"]):
        place = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=folder)) / Path(name).name
        place.write_bytes(data)
        local[name] = str(place)
    section: TrafficSection = held["section"]
    if held["connections"] is None:
        section = sizefiles.with_moved_files(section, lambda name: local.get(name, name))
    files = tuple(Path(name) for name in local.values())
    here = TrafficInput(section, "", files, held["connections"], budget=(held["most_rows"], None))
    received = here.read(held["strict"], held["seed"])
    traces = _list_traces(held["section"])
    for name in traces & local.keys():
        Path(local.pop(name)).unlink()
    return Received(received, local)


def _list_traces(section: TrafficSection) -> set[str]:
    """Returns the names of files whose connections are replayed; runs do not need these files any more."""
    mixed = (name for entry in section.get("mix") or () for name in entry.get("files") or ())
    return {str(name) for name in (*(section.get("files") or ()), *mixed)}


def _open_file(file: Path) -> Any:
    """Opens a file for reading; raises `MouseholeError` that names it."""
    try:
        return file.open("rb")
    except OSError as error:
        raise file_error(file, f"cannot be read; {error.strerror}") from None
