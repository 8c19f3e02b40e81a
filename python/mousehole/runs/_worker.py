"""Runs jobs in a worker process: checks that it is the same Mousehole, makes the traffic, runs."""

import atexit
import hashlib
import os
import pickle
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from mousehole import _engine
from mousehole.base import engine_text, file_error, output
from mousehole.engine_types import PartEntry
from mousehole.inputs import Received, unpack
from mousehole.paper import make_importable
from mousehole.runs._pool import Job, run_one

DONE, REFUSED, MISSING = "done", "refused", "missing"
"""Kinds of answers: with the outcome, with a sentence, with the digest of the traffic that is not here."""
KEPT = 4
"""Traffics that a worker keeps; the one that was not used for longest makes place."""

Answer = tuple[str, Any]


@dataclass(frozen=True)
class Answers:
    """What came of the jobs of one task."""

    each: list[Answer]
    """In the order of the parcels; those that were not begun are missing at the end."""
    seconds: float
    """How long they took together."""


@dataclass(frozen=True)
class PolicyHeader:
    """A user's own policy header as it is sent to workers."""

    name: str
    file: str
    sha256: str
    content: bytes


@dataclass(frozen=True)
class Parcel:
    """A job as it is sent to workers; it is unpickled only where the version is the same."""

    scenario: Mapping[str, object]
    reduce: Callable[[_engine.RunResult], Any]
    digest: str | None
    """That of the traffic, None where the scenario alone makes it."""
    headers: tuple[PolicyHeader, ...]


@cache
def identify_build() -> tuple[str, str]:
    """Returns version and revision for people, and a digest of the sources of engine and package.

    Reads all files of the package once per process.
    """
    digest = hashlib.sha256(_engine.SOURCES.encode())
    for name, file in list_sources().items():
        digest.update(name.encode() + b"\0" + file.read_bytes())
    return engine_text(), digest.hexdigest()


def list_sources() -> dict[str, Path]:
    """Returns the package's Python files by their names in it, sorted, without those in `bundled`."""
    package = Path(__file__).parent.parent
    files = {file.relative_to(package).as_posix(): file for file in package.rglob("*.py")}
    return {name: files[name] for name in sorted(files) if not name.startswith("bundled/")}


def pack_job(job: Job[Any]) -> bytes:
    """Returns a job without its traffic, pickled.

    Raises `MouseholeError` if the header of an own policy was changed after it was loaded.
    """
    digest = None if job.shipment is None else job.shipment.digest
    scheme, stage = str(job.scenario.get("scheme", "")), str(job.scenario.get("host_stage", ""))
    headers = tuple(
        _read_header(part["name"], str(part["header"]), str(part["sha256"]))
        for part in _list_own_policies()
        if part["name"] in scheme or part["name"] in stage
    )
    return pickle.dumps(Parcel(job.scenario, job.reduce, digest, headers))


def execute(made_by: tuple[str, str], parcel: bytes, content: bytes | str | None) -> Answer:
    """Runs a parcel and returns the answer; called in workers of an executor.

    `content` is the packed traffic, or the path of the file that has it, if the parcel needs any. Makes the
    traffic here and loads headers for the whole process. Raises what a run raises. Every version must accept
    these arguments, since another version is recognised here.
    """
    fault = explain_refusal(made_by)
    if fault is not None:
        return REFUSED, fault
    given = _unpickle(parcel)
    fault = _load_headers(given.headers)
    if fault is not None:
        return REFUSED, fault
    received = Received(None, {})
    if given.digest is not None:
        found = _receive_traffic(given.digest, content)
        if found is None:
            return MISSING, given.digest
        received = found
    result = run_one(received.localise(given.scenario), received.traffic, _engine.Cancel())
    return DONE, given.reduce(result)


def execute_all(
    made_by: tuple[str, str], parcels: Sequence[bytes], content: bytes | None, limit_s: float
) -> Answers:
    """Runs parcels of one traffic one after the other; called in workers of Dask.

    It begins none after `limit_s` seconds, nor after one that cannot be run; their answers are missing.
    Raises what a run raises. Every version must accept these arguments, as those of `execute`.
    """
    begin = time.monotonic()
    each: list[Answer] = []
    _running.append(1)
    try:
        for parcel in parcels:
            each.append(execute(made_by, parcel, content))
            if each[-1][0] != DONE or time.monotonic() - begin > limit_s:
                break
    finally:
        _running.pop()
    return Answers(each, time.monotonic() - begin)


def count_tasks() -> int:
    """Returns the number of tasks of `execute_all` that this process runs, cancelled ones included."""
    return len(_running)


def explain_refusal(made_by: tuple[str, str]) -> str | None:
    """Returns the reason why this process cannot run the sender's parcels, or None.

    None means that both have the same Mousehole. `made_by` is the sender's `identify_build`.
    """
    own_text, own_digest = identify_build()
    text, digest = made_by
    if own_digest == digest:
        return None
    other = own_text if own_text != text else f"another build of {own_text}"
    return (
        f"the worker at {_name_process()} has mousehole {other}, not {text}; install the same on all workers"
    )


def _name_process() -> str:
    """Returns host and process, for messages."""
    return f"{socket.gethostname()} (process {os.getpid()})"


def _unpickle(parcel: bytes) -> Parcel:
    """Returns the parcel; makes the package `papers` importable if the parcel needs it.

    Raises `ModuleNotFoundError` for any other module that is missing. `parcel` must be trusted.
    """
    try:
        made: Parcel = pickle.loads(parcel)  # noqa: S301 (of the process that asks for the run)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "papers":
            raise
        make_importable()
        made = pickle.loads(parcel)  # noqa: S301
    return made


def _list_own_policies() -> list[PartEntry]:
    """Returns the user's own policies that are loaded in this process."""
    return [part for part in _engine.parts() if part["header"]]


@cache
def _read_header(name: str, path: str, sha256: str) -> PolicyHeader:
    """Returns the header of an own policy; it is read once.

    Raises `MouseholeError` if it cannot be read or no longer has this digest.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise file_error(path, f"cannot be read; {error.strerror}") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise file_error(path, "has changed since it was loaded; start again")
    return PolicyHeader(name, Path(path).name, sha256, content)


_lock = Lock()
_running: list[int] = []
"""One entry for each task that runs; threads add and take away."""
_traffics: OrderedDict[str, Received] = OrderedDict()


@cache
def _make_folder() -> Path:
    """Returns the folder of this process for traffic and headers, made at the first call.

    It is deleted when the process ends.
    """
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(output.make_scratch_folder("worker"))


def _receive_traffic(digest: str, content: bytes | str | None) -> Received | None:
    """Returns the traffic of this digest, unpacked from `content` if it is not here yet.

    `content` may be the file that holds it. Returns None if there is no content or the file cannot be read.
    The `KEPT` traffics that were used last are stored.
    """
    with _lock:
        if digest in _traffics:
            _traffics.move_to_end(digest)
            return _traffics[digest]
        if isinstance(content, str):
            try:
                content = Path(content).read_bytes()
            except OSError:
                return None  # another machine
        if content is None:
            return None
        _traffics[digest] = unpack(content, _make_folder())
        while len(_traffics) > KEPT:
            _traffics.popitem(last=False)
        return _traffics[digest]


def _load_headers(headers: tuple[PolicyHeader, ...]) -> str | None:
    """Writes and loads own policies that are not loaded yet, for the whole process.

    Returns a sentence if another header has the name of one, else None.
    """
    if not headers:
        return None
    with _lock:
        known = {part["name"]: part["sha256"] for part in _list_own_policies()}
        for header in headers:
            if header.name not in known:
                place = _make_folder() / header.sha256
                place.mkdir(exist_ok=True)
                (place / header.file).write_bytes(header.content)
                _engine.load_policy(str(place / header.file))
            elif known[header.name] != header.sha256:
                return (
                    f"the worker at {_name_process()} has loaded another header as policy {header.name} "
                    f"(SHA-256 {str(known[header.name])[:12]}, not {header.sha256[:12]}); restart the workers"
                )
    return None
