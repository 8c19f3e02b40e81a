"""Connections from data frames and dictionaries as users have them."""

import datetime as dt
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from numbers import Integral, Real
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mousehole import _engine
from mousehole.base import MouseholeError, field_error, make_frame, missing_error, take_first_line
from mousehole.engine_types import ConnectionSpec, Floats

MOST_BYTES = 10**12
"""Largest number of bytes of one write."""
HOSTS = 1 << 32
"""Numbers of hosts are below this; anything else is a name."""
LONGEST_S = 1e9
"""Spans of time are shorter than this."""
_SUMS = ("packets", "reverse_packets", "reverse_bytes")
"""Columns of flows of datagrams in addition to `bytes`, which count the direction of the data."""
_CLASS = "flow_class"
"""The column of classes of flows, as `read` gives it."""
A_CLASS = "the name of a class of flows, or nothing"
A_HOST = "a name, an address or a whole number"
A_SIZE = "a whole number of bytes from 1 to 10^12"
A_TIME = "a datetime, a timedelta or a number of seconds"
A_SPAN = "a timedelta or a number of seconds, 0 or more; leave it empty where it is not known"


@runtime_checkable
class FrameLike(Protocol):
    """A data frame of any library: its columns by name, each a sequence of values."""

    @property
    def columns(self) -> Iterable[object]:
        """Returns the names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Returns the column of a name."""


@dataclass(frozen=True)
class Given:
    """Connections as the engine takes them."""

    connections: list[ConnectionSpec]
    clients: tuple[str, ...] | None
    """The user's names of clients by the engine's number; None if the numbers are the user's own."""


def is_stream(source: object) -> bool:
    """Returns whether the source is a table behind Arrow's C stream: a reader, or a relation of DuckDB."""
    return hasattr(source, "__arrow_c_stream__")


def is_lazy(source: object) -> bool:
    """Returns whether the source is a lazy frame of polars."""
    return _is_polars(source, "LazyFrame")


def _is_polars(value: object, kind: str) -> bool:
    """Returns whether a value is of this class of polars; polars is not imported for it."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(value, getattr(polars, kind))


def collect_frame(source: Any) -> FrameLike | Mapping[str, Any]:
    """Returns a frame whose columns are in memory: lazy frames are computed, streams read to their end.

    A stream can be read once only. Any other source is returned as it is. Raises `MouseholeError` for a
    source that its library cannot read, and for a stream with a column of intervals.
    """
    if isinstance(source, Mapping) or _is_polars(source, "DataFrame") or hasattr(source, "column_names"):
        return cast("FrameLike | Mapping[str, Any]", source)
    try:
        if is_lazy(source):
            return cast("FrameLike", source.collect())
        if is_stream(source) and not hasattr(source, "iloc"):
            _refuse_intervals(source)
            return make_frame(source)
    except MouseholeError:
        raise
    except Exception as error:
        raise MouseholeError(f"data frame: cannot be read ({take_first_line(error)})") from None
    return cast("FrameLike", source)


def _refuse_intervals(stream: Any) -> None:
    """Raises `MouseholeError` for a column of months, days and nanoseconds, which ends polars by a panic.

    A stream without known types passes.

    The types are read as DuckDB's relations and pyarrow's readers name them.
    """
    if hasattr(stream, "types"):
        types = dict(zip(stream.columns, stream.types, strict=True))
    else:
        types = {field.name: field.type for field in getattr(stream, "schema", ())}
    for name, kind in types.items():
        if "interval" in str(kind).lower():
            seconds = "seconds, as of DuckDB's epoch()"
            is_it = "is an interval of months, days and nanoseconds"
            raise field_error("data frame", f"column {name}", seconds, is_it)


def from_frame(frame: FrameLike | Mapping[str, Any], payload: str) -> Given:
    """Returns the connections of a frame, in the order of their starts, which count from the first one.

    Columns are known by the names that they may have in delimited text. `payload` ("down" or "up") chooses
    between bytes of the two directions. Rows whose `is_datagrams` is true are flows of datagrams, as those of
    `read`, and `flow_class` is the class of a row's flow. Raises `MouseholeError` for a column that is
    missing, and for a value that is not allowed, with its row and its column.
    """
    keys = _list_column_names(frame)
    known = {
        meaning: _Column(str(keys[place]), _read_column(frame, keys[place]), unit_ns)
        for meaning, place, unit_ns in _engine.table_columns([str(key) for key in keys], payload)
    }
    if "client" not in known:
        raise missing_error("data frame", "a column client, with the name, address or number of each client")
    lengths = {column.name: len(column.values) for column in known.values()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise field_error("data frame", found, "as many values in each column", "is not of one length")
    if not any(lengths.values()):
        raise MouseholeError("data frame: has no rows; a row is a connection")
    starts, origin = known["start"].times(None)
    flows = _find_flows(frame, keys)
    order = np.argsort(starts, kind="stable")
    clients, names = known["client"].hosts(order)
    servers = known["server"].hosts(order)[0] if "server" in known else np.zeros(len(starts), np.int64)
    columns: dict[str, list[Any]] = {
        "start_s": starts[order].tolist(),
        "client": clients[order].tolist(),
        "server": servers[order].tolist(),
        "bytes": known["bytes"].sizes(flows)[order].tolist(),
    }
    for name in _SUMS if np.any(flows) else ():
        columns[name] = _Column(name, _read_column(frame, name), 1).sizes(flows)[order].tolist()
    if _CLASS in keys:
        columns[_CLASS] = _Column(_CLASS, _read_column(frame, _CLASS), 1).texts(A_CLASS)[order].tolist()
    if "rtt" in known:
        columns["rtt_s"] = known["rtt"].spans()[order].tolist()
    if "duration" in known:
        columns["duration_s"] = known["duration"].spans()[order].tolist()
    elif "end" in known:
        columns["duration_s"] = known["end"].spans_since(starts, origin)[order].tolist()
    rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
    are_flows = flows[order].tolist()
    return Given([_make_connection(_make_row(*pair)) for pair in zip(rows, are_flows, strict=True)], names)


def from_dictionaries(given: Sequence[Mapping[str, object]]) -> Given:
    """Returns the connections of dictionaries with the keys of `traffic.connections`, in their order.

    `bytes` alone means a single write. Raises `MouseholeError` for a value that is not allowed.
    """
    rows = [_check_connection(number, row) for number, row in enumerate(given)]
    clients, names = _number_hosts([row.get("client", 0) for row in rows])
    servers, _ = _number_hosts([row.get("server", 0) for row in rows])
    numbered = ({**row, "client": clients[n], "server": servers[n]} for n, row in enumerate(rows))
    return Given([_make_connection(row) for row in numbered], names)


@dataclass(frozen=True)
class _Column:
    """A column of a frame; `unit_ns` is what numbers of a column of times count."""

    name: str
    values: NDArray[Any]
    unit_ns: int

    def fault(self, row: int, allowed: str) -> MouseholeError:
        """Returns the error of the value in this row, which is missing or not `allowed`; raises nothing."""
        place, value = f"data frame, row {row} (the first is 0), column {self.name}", self.values[row]
        if _is_missing(value):
            return MouseholeError(
                f"the value is missing; it must be {allowed}", kind="missing", field=place, allowed=allowed
            )
        shown = value.item() if isinstance(value, np.generic) and value.dtype.kind in "biuf" else value
        return field_error(place, shown if isinstance(shown, Real) else str(shown), allowed)

    def require(self, good: NDArray[np.bool_], allowed: str) -> None:
        """Raises the error of the first row that is not good; does nothing if all are good.

        `good` has one value per row; `allowed` names in the message what would be accepted.
        """
        if not np.all(good):
            raise self.fault(int(np.argmin(good)), allowed)

    def numbers(self, allowed: str) -> Floats:
        """Returns the values as floats, NaN where they are missing.

        Raises `MouseholeError` for a value that is no number; `allowed` is for its message.
        """
        if self.values.dtype.kind in "iuf":
            return self.values.astype(np.float64)
        found = np.full(len(self.values), np.nan)
        for row, value in enumerate(self.values):
            # NumPy has spans of time among its whole numbers.
            if isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_ | np.timedelta64):
                found[row] = float(value)
            elif not _is_missing(value):
                raise self.fault(row, allowed)
        return found

    def sizes(self, may_be_zero: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Returns the values as bytes or packets, at least 1, or 0 in rows that `may_be_zero`.

        Raises `MouseholeError` for any other value, and above `MOST_BYTES`. Rows that may not be zero count 1
        in a column of `_SUMS`.
        """
        found = self.numbers(A_SIZE)
        if self.name in _SUMS:
            found = np.where(may_be_zero, found, 1.0)  # of other rows they mean nothing
        with np.errstate(invalid="ignore"):
            least = np.where(may_be_zero, 0, 1)
            self.require((found >= least) & (found <= MOST_BYTES) & (found == np.floor(found)), A_SIZE)
        return found.astype(np.int64)

    def texts(self, allowed: str) -> NDArray[Any]:
        """Returns the values as texts, None where they are missing.

        Raises `MouseholeError` for any other value; `allowed` is for its message.
        """
        found = _make_array([None if _is_missing(value) else value for value in self.values])
        self.require(np.array([value is None or isinstance(value, str) for value in found], bool), allowed)
        return found

    def hosts(self, order: NDArray[np.intp]) -> tuple[NDArray[np.int64], tuple[str, ...] | None]:
        """Returns the hosts' numbers in the order of rows, and their names by number.

        The names are None if the user's values are whole numbers below `HOSTS`, which are then the numbers.
        Names are numbered as they appear in `order`. Raises `MouseholeError` for a missing value and for a
        collection.
        """
        if self.values.dtype.kind in "iu" and np.all((self.values >= 0) & (self.values < HOSTS)):
            return self.values.astype(np.int64), None
        bad = [_is_missing(value) or _has_several(value) for value in self.values]
        self.require(~np.array(bad, bool), A_HOST)
        numbers, names = _number_hosts([self.values[row] for row in order])
        found = np.empty(len(order), np.int64)
        found[order] = numbers
        return found, names

    def times(self, origin: Any) -> tuple[Floats, Any]:
        """Returns seconds since `origin`, and that origin: the earliest value if it is None.

        Without rows the origin is returned as it is. Raises `MouseholeError` for a missing value and where
        one side is datetimes and the other numbers.
        """
        values = _as_times(self)
        self.require(~_find_missing(values), A_TIME)
        if not len(values):
            return np.empty(0), origin
        if origin is None:
            origin = values.min()
        elif (values.dtype.kind == "M") != isinstance(origin, np.datetime64):
            raise self.fault(0, "of the same kind as the starts: both datetimes, or both numbers")
        return _to_seconds(values - origin, self.unit_ns), origin

    def spans(self) -> Floats:
        """Returns the values as seconds, NaN where they are missing.

        Raises `MouseholeError` for datetimes, and outside 0 to `LONGEST_S`.
        """
        values = _as_times(self)
        if values.dtype.kind == "M":
            raise self.fault(int(np.argmin(_find_missing(values))), A_SPAN)
        found = _to_seconds(values, self.unit_ns)
        self.require(np.isnan(found) | ((found >= 0) & (found < LONGEST_S)), A_SPAN)
        return found

    def spans_since(self, starts: Floats, origin: Any) -> Floats:
        """Returns the seconds from `starts` to the values, NaN where these are missing.

        Raises `MouseholeError` outside 0 to `LONGEST_S`.
        """
        known = ~_find_missing(_as_times(self))
        found = np.full(len(starts), np.nan)
        if np.any(known):
            part = _Column(self.name, self.values[known], self.unit_ns)
            found[known] = part.times(origin)[0] - starts[known]
        self.require(np.isnan(found) | ((found >= 0) & (found < LONGEST_S)), "a time at or after the start")
        return found


def _list_column_names(frame: FrameLike | Mapping[str, Any]) -> list[Any]:
    """Returns the names of the columns in order; raises `MouseholeError` for one that two columns have."""
    if isinstance(frame, Mapping):
        return list(frame)
    names = list(getattr(frame, "column_names", None) or frame.columns)
    for place, name in enumerate(names):
        if name in names[:place]:
            raise field_error("data frame", str(name), "the name of one column", "is the name of two columns")
    return names


def _read_column(frame: FrameLike | Mapping[str, Any], key: Any) -> NDArray[Any]:
    """Returns a column as an array of one dimension.

    Raises `MouseholeError` for a column that cannot be read or has lists.
    """
    try:
        found = _to_array(frame[key])
    except Exception as error:
        raise MouseholeError(f"data frame, column {key}: cannot be read ({take_first_line(error)})") from None
    if found.ndim != 1:
        raise MouseholeError(f"data frame, column {key}: has lists, not one value in each row")
    return found


def _to_array(column: Any) -> NDArray[Any]:
    """Returns a column as an array, of objects where NumPy has no type for it.

    Datetimes of pandas with a time zone become those of UTC.
    """
    if getattr(getattr(column, "dtype", None), "kind", None) == "M" and hasattr(column, "to_numpy"):
        return np.asarray(column.to_numpy(dtype="datetime64[ns]"))  # of pandas
    if _is_polars(column, "Series"):
        is_wide = str(column.dtype) in ("Int128", "UInt128")  # numpy has no such numbers
        return _make_array(column.to_list()) if is_wide or column.dtype.is_nested() else column.to_numpy()
    return np.asarray(column) if hasattr(column, "__array__") else _make_array(list(column))


def _has_several(value: object) -> bool:
    """Returns whether a value of a column is itself a collection of values."""
    return isinstance(value, (list, tuple, set, dict, np.ndarray)) or _is_polars(value, "Series")


def _make_array(values: list[Any]) -> NDArray[Any]:
    """Returns an array of objects, which numpy does not try to convert."""
    found = np.empty(len(values), object)
    found[:] = values
    return found


def _as_times(column: _Column) -> NDArray[Any]:
    """Returns datetimes, timedeltas or numbers; a column of objects must hold one of these kinds.

    Raises `MouseholeError` otherwise. Datetimes are in UTC, and resolve nanoseconds as timedeltas do;
    those of objects have microseconds.
    """
    values = column.values
    if values.dtype.kind == "M":
        return values.astype("datetime64[ns]")
    if values.dtype.kind == "m":
        return values.astype("timedelta64[ns]")
    known = [value for value in values if not _is_missing(value)] if values.dtype.kind == "O" else []
    kind = next((kind for kind in (dt.datetime, dt.timedelta) if known and isinstance(known[0], kind)), None)
    if kind is None:
        return column.numbers(A_TIME)
    made: list[Any] = []
    for row, value in enumerate(values):
        if _is_missing(value):
            made.append("NaT")
        elif isinstance(value, kind):
            made.append(_to_utc(value))
        else:
            raise column.fault(row, "of the same kind as the values before it")
    return np.array(made, "datetime64[ns]" if kind is dt.datetime else "timedelta64[ns]")


def _to_utc(value: Any) -> Any:
    """Returns a datetime of UTC without its time zone; any other value is returned as it is."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    return value


def _to_seconds(spans: NDArray[Any], unit_ns: int) -> Floats:
    """Returns time spans in seconds, NaN where they are missing.

    Plain numbers count units of `unit_ns` nanoseconds.
    """
    if spans.dtype.kind == "m":
        found = spans.astype("timedelta64[ns]").astype(np.int64) / 1e9
        return np.where(np.isnat(spans), np.nan, found)
    return spans.astype(np.float64) if unit_ns == 10**9 else spans.astype(np.float64) * (unit_ns / 1e9)


def _find_missing(times: NDArray[Any]) -> NDArray[np.bool_]:
    """Returns a mask that is True where an array of times, time spans or numbers has no finite value."""
    missing = np.isnat(times) if times.dtype.kind in "mM" else ~np.isfinite(times)
    return cast("NDArray[np.bool_]", missing)


def _is_missing(value: Any) -> bool:
    """Returns whether a value is missing: None, NaN, not-a-time, or pandas' NA; False for a collection."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        return True  # NA has no truth value
    except ValueError:
        return False  # several values have none either


def _number_hosts(hosts: Sequence[Any]) -> tuple[list[int], tuple[str, ...] | None]:
    """Returns a number for each host, and the names by number: None if all hosts are such numbers already.

    Names are numbered from 0 as they first appear.
    """
    if all(map(_is_number, hosts)):
        return [int(host) for host in hosts], None
    places: dict[str, int] = {}
    numbers = [places.setdefault(_name_host(host), len(places)) for host in hosts]
    return numbers, tuple(places)


def _is_number(host: Any) -> bool:
    """Returns whether a host is a whole number from 0 to below `HOSTS`, of any numeric type."""
    # numpy's spans of time are integers by their type.
    if isinstance(host, bool | np.bool_ | np.timedelta64):
        return False
    if not isinstance(host, int | float | np.integer | np.floating):
        return False
    number = float(host)
    return isfinite(number) and number.is_integer() and 0 <= number < HOSTS


def _name_host(host: Any) -> str:
    """Returns the name of a host: a whole number without a decimal point, else its text."""
    return str(int(host)) if _is_number(host) else str(host)


def _find_flows(frame: FrameLike | Mapping[str, Any], keys: list[Any]) -> NDArray[np.bool_]:
    """Returns for each row whether it is a flow of datagrams.

    Raises `MouseholeError` if one is and a column of `_SUMS` is missing, `StopIteration` for a frame
    without columns.
    """
    start = next(iter(keys))
    if "is_datagrams" not in keys:
        return np.zeros(len(_read_column(frame, start)), np.bool_)
    flows = np.array([value is True or value == 1 for value in _read_column(frame, "is_datagrams")], np.bool_)
    missing = [name for name in _SUMS if name not in keys]
    if np.any(flows) and missing:
        raise missing_error("data frame", f"a column {missing[0]}, for the rows whose is_datagrams is true")
    return flows


def _make_row(row: dict[str, Any], is_flow: bool) -> dict[str, Any]:
    """Returns a row with the sums of a flow of datagrams under `datagrams`; other rows lose these columns.

    They are removed from the argument `row` too.
    """
    sums = {name: row.pop(name) for name in _SUMS if name in row}
    return {**row, "datagrams": {**sums, "bytes": row["bytes"]}} if is_flow else row


def _make_connection(row: Mapping[str, Any]) -> ConnectionSpec:
    """Returns a connection in the form of a scenario, without missing values.

    Its `bytes` become a single write if it has neither writes nor datagrams.
    """
    known = {key: value for key, value in row.items() if key != "bytes" and not _is_missing(value)}
    if "writes" not in known and "datagrams" not in known:
        known["writes"] = [{"idle_s": 0.0, "bytes": row["bytes"]}]
    return cast("ConnectionSpec", known)


def _check_connection(number: int, given: Mapping[str, object]) -> dict[str, Any]:
    """Returns the dictionary with plain Python numbers, whole ones for bytes, and seconds for time spans.

    Raises `MouseholeError` if a host or every form of payload is missing, and for `bytes` that are not whole.
    """
    place = f"traffic.connections[{number}]"
    row: dict[str, Any] = {
        str(key): value.item() if isinstance(value, np.generic) else value for key, value in given.items()
    }
    if row.get("writes") is None and row.get("datagrams") is None:
        if row.get("bytes") is None:
            raise missing_error(place, "bytes, writes or datagrams")
        row["bytes"] = _check_bytes(f"{place}.bytes", row["bytes"])
    for name in ("rtt_s", "duration_s"):
        if isinstance(row.get(name), dt.timedelta):
            row[name] = row[name].total_seconds()
    for name in ("client", "server"):
        if name in row and _is_missing(row[name]):
            raise missing_error(f"{place}.{name}", A_HOST)
    return row


def _check_bytes(field: str, value: Any) -> int:
    """Returns a whole number of bytes; raises `MouseholeError` for anything else."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise field_error(field, value if isinstance(value, Real) else str(value), A_SIZE)
