"""Traffic from files, from a named model, or from data given in Python."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from mousehole import _engine
from mousehole.base import (
    BITS,
    Apps,
    Direction,
    MouseholeError,
    Reporter,
    Silent,
    as_html,
    conflict_error,
    counted,
    escape_controls,
    estimate_reading_room,
    field_error,
    file_error,
    is_place,
    make_frame,
    missing_error,
    parquet,
    place_traffic,
    places,
    require_at_least,
    require_path,
    require_switch,
    require_texts,
    run_interruptibly,
    suggest_keywords,
    with_unit,
)
from mousehole.document import Document, print_document
from mousehole.engine_types import (
    ConnectionSpec,
    Floats,
    InputEntry,
    MixEntry,
    TrafficSection,
    TrafficSummary,
)
from mousehole.inputs import frames, show
from mousehole.inputs.frames import FrameLike, Given
from mousehole.scenario import IN_MEMORY, STANDARD_INPUT, sizefiles, with_params

if TYPE_CHECKING:
    import polars as pl
    from typing_extensions import TypeIs

Source = (
    str | Path | FrameLike | Mapping[str, Sequence[object]] | Sequence[str | Path]
    | Sequence[Mapping[str, object]]
)  # fmt: skip
"""Files, one model, one scenario, or connections as data."""

MEGABYTE = 1_000_000
LARGE_MB = 50
"""Files of this many megabytes together take a second to read; progress is reported from there on."""

NEARLY = 0.75
"""Likeness from which a name is taken for a misspelt one."""

_MODEL = re.compile(r"[a-z][a-z0-9-]*:[\w.-]*\Z")


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
    clients: tuple[str, ...] | None = None
    """The user's names of clients by number; None if clients have no names."""
    budget: tuple[int | None, int | None] = field(default_factory=estimate_reading_room, compare=False)
    """Rows that may be held, of which other processes keep the same, and bytes that reading may take."""

    def read(
        self, strict: bool = False, seed: int = 1, reporter: Reporter | None = None
    ) -> _engine.Traffic | None:
        """Returns the traffic in the engine's form; None if the scenario generates all of it.

        All files are read as a whole; `reporter` receives the progress of large ones. `strict` makes any
        faulty row an error; `seed` is the base of the random draws for what files leave open. Raises
        `MouseholeError` for a fault in the input, and `KeyboardInterrupt` at once on Ctrl-C.
        """
        show = reporter or Silent()
        main = self._read_main(strict, seed, show)
        parts = [
            (number, _read_files(entry, strict, seed, show, budget=self.budget))
            for number, entry in enumerate(self.section.get("mix") or (), 1)
            if entry.get("files")
        ]
        if not parts:
            return main
        own = [(0, main)] if self.section.get("files") and main else []
        return _engine.combine([*own, *parts])

    def in_memory(self) -> InputEntry | None:
        """Returns name and SHA-256 of connections that were given as data; None for other traffic."""
        if self.connections is None:
            return None
        digest = hashlib.sha256(json.dumps(self.connections).encode()).hexdigest()
        return {"name": IN_MEMORY, "sha256": digest}

    def _read_main(self, strict: bool, seed: int, reporter: Reporter) -> _engine.Traffic | None:
        """Returns the traffic without the mix; None if there is nothing but the mix, or nothing at all.

        Arguments and errors are those of `read`.
        """
        section = self.section
        if self.connections is not None:
            return _engine.connections_traffic(self.connections)
        if section.get("files"):
            classes, log_format = section.get("classes") or (), section.get("format") or ""
            return _read_files(section, strict, seed, reporter, classes, self.budget, log_format)
        if section.get("model"):
            return _engine.model_traffic(section["model"], section.get("params"), section.get("payload"))
        if section.get("connections"):
            return _engine.connections_traffic(section["connections"])
        return None


def describe_traffic(
    source: Source, payload: str | None = None, params: Mapping[str, object] | None = None,
    users: int | None = None, apps: Apps | None = None,
) -> TrafficInput:  # fmt: skip
    """Returns the traffic of files, of a model or a place, of a frame, or of dictionaries; reads no file.

    `payload` is the direction of payload. `params` are those of a model. `users` and `apps` go with a place,
    or with no source at all. Raises `MouseholeError` for what does not go together, for a name that is empty
    or misspelt, and for faulty values in a frame or in dictionaries.
    """
    if isinstance(source, str | Path):
        source = [source]
    if is_of_users(source, users, apps) and not _is_data(source):
        return _from_users([str(item) for item in source], payload, params, users, apps)
    refuse_users(users, apps, "other traffic")
    if _is_data(source):
        given = frames.from_frame(frames.collect_frame(source), "down" if payload is None else payload)
        return _from_connections(given, payload, params)
    items = list(source)
    if items and all(isinstance(item, Mapping) for item in items):
        rows = [item for item in items if isinstance(item, Mapping)]
        return _from_connections(frames.from_dictionaries(rows), payload, params)
    names = [str(item) for item in items]
    if "" in names:
        raise field_error("traffic", "", "the name of a file or model, or - for standard input")
    if names.count(STANDARD_INPUT) > 1:
        raise field_error("traffic", STANDARD_INPUT, "given at most once", "is given twice")
    if any(is_model_or_place(name) for name in names):
        return _from_model(names, payload, params)
    if params:
        with_params({"files": names}, params)  # refuses them
    _refuse_misspelt(names)
    return _from_files(names, payload)


def is_of_users(source: Source, users: int | None = None, apps: Apps | None = None) -> bool:
    """Returns whether the traffic is users with applications: a place, or `users` and `apps` alone."""
    if isinstance(source, str | Path):
        source = [source]
    if _is_data(source):
        return False
    if len(source) == 0:
        return users is not None or apps is not None
    return any(isinstance(item, str) and is_place(item) for item in source)


def refuse_users(users: int | None, apps: Apps | None, other: str) -> None:
    """Raises `MouseholeError` if users or applications are given together with `other`."""
    allowed = "give them alone or with a place, such as home"
    if users is not None:
        raise conflict_error("users", users, other, allowed)
    if apps is not None:
        raise conflict_error("apps", apps if isinstance(apps, str) else str(apps), other, allowed)


def from_section(section: TrafficSection, label: str) -> TrafficInput:
    """Returns the traffic of a scenario's section `traffic`; `label` is its name for titles.

    Files without a direction of payload get `down`.
    """
    if section.get("files"):
        section = {"payload": "down", **section}
    return TrafficInput(section, label, sizefiles.list_files(section))


def with_classes(given: TrafficInput, classes: str | Sequence[str] | None) -> TrafficInput:
    """Returns the traffic with corrections of the classes of its flows, such as `port 5060=call`.

    Without classes the traffic is returned as it is.

    Raises `MouseholeError` for traffic that is not read from files, whose flows have no classes.
    """
    texts = [] if classes is None else require_texts("class", classes)
    if not texts:
        return given
    if not given.section.get("files") or given.connections is not None:
        raise conflict_error(
            "traffic.classes", texts[0], "traffic that is not read from files", "its flows have no classes"
        )
    return replace(given, section={**given.section, "classes": texts})


def with_format(given: TrafficInput, path: str | Path | None) -> TrafficInput:
    """Returns the traffic whose files have the format that the file `path` describes, which is read.

    Without a path the traffic is returned as it is. Raises `MouseholeError` for a fault in the file, and for
    traffic that is not read from files.
    """
    if path is None:
        return given
    if not str(require_path("traffic.format", path)):
        raise field_error("traffic.format", "", "the name of a file")
    if not given.section.get("files") or given.connections is not None:
        raise conflict_error(
            "traffic.format", str(path), "traffic that is not read from files", "leave it out"
        )
    try:
        described = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) and error.strerror else "not UTF-8"
        raise file_error(path, f"cannot be read ({problem})") from None
    _engine.check_format(str(path), described)
    return replace(given, section={**given.section, "format": described})


def is_model_or_place(name: str) -> bool:
    """Returns whether `name` is a place, or is or looks like a model, such as `web:sfd`, and not a file.

    A model that is also a file's name is a file.
    """
    if is_place(name):
        return True
    is_named = name in _engine.models() or name.startswith(sizefiles.MODEL) or bool(_MODEL.match(name))
    return is_named and not Path(name).exists()


def is_scenario(source: Source) -> bool:
    """Returns whether the source is a scenario: one name that ends in .toml.

    Raises `MouseholeError` for a scenario that is given together with something else.
    """
    if find_scenario_path(source).suffix.lower() == ".toml":
        return True
    several = [] if isinstance(source, str | Path) or _is_data(source) else list(source)
    names = [str(item) for item in several if isinstance(item, str | Path)]
    if any(Path(name).suffix.lower() == ".toml" for name in names):
        (scenario, *_) = [name for name in names if Path(name).suffix.lower() == ".toml"]
        raise conflict_error("traffic", scenario, "other traffic", "a scenario stands alone")
    return False


def make_repeatable(source: Source) -> Source:
    """Returns a source that can be iterated more than once: an iterator or a set becomes a list.

    Raises `MouseholeError` for anything that is no source.
    """
    if isinstance(source, Iterator | Set) and not frames.is_stream(source):
        return make_repeatable(list(source))
    if hasattr(source, "to_frame"):
        raise field_error(
            "traffic", "a column by itself", "a frame with columns such as start, client and bytes"
        )
    is_one = isinstance(source, str | Path) or _is_data(source)
    if not is_one and (isinstance(source, bytes) or not isinstance(source, Sequence)):
        raise field_error("traffic", source, "the name of a file or model, a list of files, or a frame")
    others = [] if is_one else [one for one in source if not isinstance(one, str | Path | Mapping)]  # type: ignore[union-attr]
    if others:
        found = f"a list with {type(others[0]).__name__}"
        raise field_error("traffic", found, "a list of names of files, or of dictionaries, or one frame")
    return source


def find_scenario_path(source: Source) -> Path:
    """Returns the only name in a source as a path; an empty path if the source is anything else.

    It need not exist.
    """
    if isinstance(source, str | Path):
        return Path(source)
    if _is_data(source) or len(source) != 1 or isinstance(source[0], Mapping):
        return Path()
    return Path(str(source[0]))


@suggest_keywords
def read(paths: Source, payload: Direction = "down", strict: bool = False, seed: int = 1,
         params: Mapping[str, object] | None = None, class_: str | Sequence[str] | None = None,
         format_: str | Path | None = None) -> "pl.DataFrame":  # fmt: skip
    """Reads traffic into a polars frame with one row per connection; `compare` takes this frame as traffic.

    Columns: `start_s` (seconds from the first connection), `client` and `server` (numbers of hosts; names of
    clients where `paths` is a frame that has names), `rtt_s` and `duration_s` (from the start to the last
    byte; seconds, NaN if unknown), `writes` (number of writes), `bytes` (payload of all writes), `is_quic`,
    `is_datagrams` (a flow of datagrams: no writes, `bytes` are IP lengths in the direction of the data),
    `packets`, `reverse_packets` and `reverse_bytes` of such a flow (`reverse`: in the other direction), and
    `flow_class` (docs/classes.md; None for a model).

    Of a flow a frame has these sums only, so that `compare` spreads its packets evenly over `duration_s`.

    `paths` is what `compare` takes, but no scenario and no place. `payload` says which way it goes, "down"
    (server to client) or "up". With `strict`, a faulty row of a file is an error; without, it is counted and
    left out. `seed` is the base of the draws for what files leave open, `params` are those of a model.
    `class_` is a class of flows against the rule, such as "port 5060=call", or several. `format_` is a file
    that describes the format of logs (docs/traffic.md).

    Raises `MouseholeError` for traffic that cannot be used, and where polars is not installed.
    """
    given, traffic = _describe_and_read(paths, payload, strict, seed, params, class_, log_format=format_)
    return make_frame(traffic.frame(), clients=given.clients)


@suggest_keywords
def inspect(paths: Source, rate: str | float | None = None, payload: Direction = "down",
            strict: bool = False, seed: int = 1, params: Mapping[str, object] | None = None,
            class_: str | Sequence[str] | None = None, reporter: Reporter | None = None,
            format_: str | Path | None = None) -> TrafficSummary:  # fmt: skip
    """Returns a summary of traffic as it was read: counts, sizes, RTTs, skipped and faulty rows.

    The dictionary is the document of `mousehole inspect --json` (docs/json.md) without its schema; times are
    in seconds, sizes in bytes of payload. `native_load` is the load on a link of `rate` (such as "10mbit");
    without one it is None. `payload`, `strict`, `seed`, `params`, `class_` and `format_` are as for `read`;
    `reporter` receives the progress of reading large files.

    Raises `MouseholeError` for traffic that cannot be used, and for a scenario or a place, which have nothing
    to inspect.
    """
    rate_text = None if rate is None else with_unit("rate", rate, BITS)
    if rate_text is not None:
        _engine.parse_rate("rate", rate_text)
    _, traffic = _describe_and_read(paths, payload, strict, seed, params, class_, reporter, format_)
    summary = run_interruptibly(lambda: traffic.summary(rate_text))
    if summary["native_load"] is not None:
        summary["native_load"] /= summary["share"]
    return cast("TrafficSummary", _Summary(summary))


def list_transfer_sizes(traffic: _engine.Traffic | None) -> Floats:
    """Returns the bytes of each connection except flows of datagrams; empty without traffic in memory."""
    return np.empty(0) if traffic is None else traffic.sizes_bytes()


class _Summary(dict[str, object]):
    """The summary of traffic, which notebooks show as `mousehole inspect` prints it."""

    def document(self) -> Document:
        """Returns the summary as a document, which terminal, page and Markdown show."""
        return show.make_summary_document(cast("TrafficSummary", self))

    def _repr_html_(self) -> str:
        """Returns the output of `mousehole inspect` as HTML, for notebooks."""
        return as_html(lambda console: print_document(console, self.document()))


def _describe_and_read(
    paths: Source, payload: str, strict: bool, seed: int, params: Mapping[str, object] | None,
    classes: str | Sequence[str] | None, reporter: Reporter | None = None,
    log_format: str | Path | None = None,
) -> tuple[TrafficInput, _engine.Traffic]:  # fmt: skip
    """Returns the traffic of `read` and `inspect`, as it was given and as it was read.

    Raises `MouseholeError` for a scenario or a place, where there is nothing to read, and as
    `describe_traffic` and `TrafficInput.read` do.
    """
    paths = make_repeatable(paths)
    require_switch("strict", strict)
    require_at_least("seed", seed, 0)
    if is_scenario(paths):
        raise file_error(
            find_scenario_path(paths), "a scenario; inspect and read show traffic, mousehole run runs it"
        )
    if is_of_users(paths):
        raise MouseholeError(
            "a place, whose users are simulated; inspect and read show traffic, mousehole run runs it",
            kind="value", field="traffic",
        )  # fmt: skip
    given = with_format(with_classes(describe_traffic(paths, payload, params), classes), log_format)
    traffic = given.read(strict, seed, reporter)
    if traffic is None:
        raise missing_error("traffic", "something to inspect")
    return given, traffic


def _read_files(
    section: TrafficSection | MixEntry, strict: bool, seed: int, reporter: Reporter,
    classes: Sequence[str] = (), budget: tuple[int | None, int | None] = (None, None), log_format: str = "",
) -> _engine.Traffic:  # fmt: skip
    """Returns the traffic of a section's files, after reading them as a whole.

    `classes` are corrections of classes, `budget` is that of `TrafficInput`, and `log_format` is the text
    that describes the format of logs, or empty. The progress of large files is reported in megabytes. Raises
    `MouseholeError` for a fault in the files. Ctrl-C ends the wait at once.
    """
    names, payload = section["files"], section.get("payload") or "down"
    tables = parquet.read_tables(names)
    megabytes = sum(Path(name).stat().st_size for name in names if Path(name).is_file()) // MEGABYTE
    before, shown = _engine.bytes_read(), 0

    def read() -> _engine.Traffic:
        """Returns the traffic of the files."""
        return _engine.read_traffic(names, payload, strict, seed, tables, list(classes), *budget, log_format)

    def advance() -> None:
        """Reports the megabytes that were read since the last call."""
        nonlocal shown
        done = (_engine.bytes_read() - before) // MEGABYTE
        for _ in range(shown, min(done, megabytes)):
            reporter.advance()
            shown += 1

    if megabytes < LARGE_MB:
        return run_interruptibly(read)
    reporter.start(megabytes, "MB read")
    try:
        traffic = run_interruptibly(read, advance)
        advance()
    finally:
        reporter.finish()
    return traffic


def _refuse_misspelt(names: list[str]) -> None:
    """Raises `MouseholeError` for a file that is not there and whose name is a word or nearly a place's."""
    for name in names:
        near = get_close_matches(name, places(), 1, NEARLY)
        if (near or name.isalpha()) and not Path(name).exists():
            hint = f'did you mean "{near[0]}"?' if near else f"ready-made users are {', '.join(places())}"
            raise file_error(name, f"no such file; {hint}")


def _from_files(names: list[str], payload: str | None) -> TrafficInput:
    """Returns the traffic of files, with payload `down` for None; raises `MouseholeError` without files."""
    if not names:
        raise missing_error("traffic", "files (Zeek logs, pcap, access log, table) or a model (web:sfd)")
    files = tuple(Path(name) for name in names)
    section: TrafficSection = {"files": names, "payload": "down" if payload is None else payload}
    labels = ["standard input" if str(file) == STANDARD_INPUT else file.name for file in files]
    return TrafficInput(section, escape_controls(", ".join(labels), lines=True), files)


def _from_model(names: list[str], payload: str | None, params: Mapping[str, object] | None) -> TrafficInput:
    """Returns the traffic of a model; raises `MouseholeError` if other traffic is given as well.

    Parameters that the model's section does not take are refused as well.
    """
    if len(names) > 1:
        (model, *_) = [name for name in names if is_model_or_place(name)]
        raise conflict_error("traffic", model, "other traffic", "a model stands alone")
    section: TrafficSection = {"model": names[0]}
    if params:
        section = with_params(section, params)
    files = sizefiles.list_files(section)
    label = f"{sizefiles.MODEL}{files[0].name}" if names[0].startswith(sizefiles.MODEL) else names[0]
    return TrafficInput(_set_direction(section, payload), label, files)


def _from_users(
    names: list[str], payload: str | None, params: Mapping[str, object] | None, users: int | None,
    apps: Apps | None,
) -> TrafficInput:  # fmt: skip
    """Returns the traffic of users with applications, who may be those of a place.

    Raises `MouseholeError` together with other traffic, `payload` or `params`, and as `place_traffic` does.
    """
    place = next((name for name in names if is_place(name)), None)
    if place is not None and len(names) > 1:
        raise conflict_error("traffic", place, "other traffic", "a place stands alone")
    section, label = place_traffic(place, users, apps)
    if payload is not None:
        raise conflict_error("payload", payload, f"traffic of {label}", "each application has its own")
    if params:
        with_params(section, params)  # refuses them
    return TrafficInput(section, label, ())


def _from_connections(given: Given, payload: str | None, params: Mapping[str, object] | None) -> TrafficInput:
    """Returns the traffic of connections in memory; raises `MouseholeError` for parameters.

    Connections without a direction of their own get `payload`.
    """
    section = _set_direction({"files": [IN_MEMORY]}, payload)
    if "payload" in section:
        given = replace(
            given, connections=[{"payload": section["payload"], **one} for one in given.connections]
        )
    if params:
        with_params(section, params)  # refuses them
    label = counted(len(given.connections), "connection")
    return TrafficInput(section, label, (), given.connections, given.clients)


def _is_data(source: Source) -> "TypeIs[FrameLike | Mapping[str, Sequence[object]]]":
    """Returns whether the source is a frame or a dictionary of columns."""
    return frames.is_lazy(source) or isinstance(source, (Mapping, FrameLike)) or frames.is_stream(source)


def _set_direction(section: TrafficSection, payload: str | None) -> TrafficSection:
    """Returns the section with the direction of payload, left out for None and the default `down`."""
    return section if payload in (None, "down") else {**section, "payload": payload}
