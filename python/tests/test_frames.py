"""Traffic as frames and dictionaries as users have it, and the frames that users get."""

import datetime as dt
import importlib.util
import ipaddress
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mousehole
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mousehole.base._polars import Frame

COUNT = 300
SETTINGS: dict[str, Any] = {
    "rate": "10mbit", "load": 0.5, "schemes": "droptail", "duration": "4s", "warmup": "2s", "seeds": 1,
}  # fmt: skip
SIZES = np.random.default_rng(1).integers(1000, 20_000, COUNT)
STARTS_S = 0.05 * np.arange(COUNT)
NAMES = [f"10.0.0.{n % 50}" for n in range(COUNT)]
RTTS_S = [np.nan if n % 3 else 0.05 for n in range(COUNT)]


def make_columns(**changes: Any) -> dict[str, Any]:
    """Returns columns of connections; `changes` replace some, None leaves one out."""
    plain = {"start_s": STARTS_S, "client": NAMES, "bytes": SIZES, "rtt_s": RTTS_S}
    return {name: values for name, values in {**plain, **changes}.items() if values is not None}


def compare_buckets(traffic: Any) -> pl.DataFrame:
    """Returns the rows by bucket of a comparison on the traffic."""
    return mousehole.compare(traffic, **SETTINGS).buckets


@pytest.fixture(scope="module")
def expected() -> pl.DataFrame:
    """The rows by bucket that all forms of the traffic must give."""
    return compare_buckets(pl.DataFrame(make_columns()))


BEGIN = pd.Timestamp("2026-03-01 12:00:00", tz="Europe/Berlin")
ZONED = BEGIN + pd.to_timedelta(STARTS_S, unit="s")
FORMS: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(make_columns()),
    "a dictionary of columns": make_columns,
    "a lazy frame": lambda: pl.LazyFrame(make_columns()),
    "addresses": lambda: pd.DataFrame(make_columns(client=[ipaddress.ip_address(name) for name in NAMES])),
    "addresses in polars": lambda: pl.DataFrame(
        make_columns(client=pl.Series([ipaddress.ip_address(name) for name in NAMES], dtype=pl.Object))
    ),
    "numbers of clients": lambda: pl.DataFrame(make_columns(client=[n % 50 for n in range(COUNT)])),
    "whole floats": lambda: pd.DataFrame(make_columns(bytes=SIZES.astype(float))),
    "nullable integers": lambda: pd.DataFrame(make_columns(bytes=pd.array(SIZES, dtype="Int64"))),
    "categories": lambda: pd.DataFrame(make_columns(client=pd.Categorical(NAMES))),
    "missing as null": lambda: pl.DataFrame(
        make_columns(rtt_s=[None if n % 3 else 0.05 for n in range(COUNT)])
    ),
    "milliseconds": lambda: pl.DataFrame(make_columns(rtt_s=None, rtt_ms=[1000 * rtt for rtt in RTTS_S])),
    "timedeltas": lambda: pd.DataFrame(make_columns(rtt_s=pd.to_timedelta(RTTS_S, unit="s"))),
    "durations": lambda: pl.DataFrame(
        make_columns(rtt_s=[None if rtt != rtt else dt.timedelta(seconds=rtt) for rtt in RTTS_S])
    ),
    "datetimes with a zone": lambda: pd.DataFrame(make_columns(start_s=None, ts=ZONED)),
    "datetimes without": lambda: pd.DataFrame(make_columns(start_s=None, ts=ZONED.tz_localize(None))),
    "datetimes in polars": lambda: pl.DataFrame(make_columns(start_s=None, ts=list(ZONED.to_pydatetime()))),
    "datetimes as objects": lambda: pd.DataFrame(
        make_columns(start_s=None, ts=pd.Series(list(ZONED.to_pydatetime()), dtype=object))
    ),
    "seconds since 1970": lambda: pl.DataFrame(make_columns(start_s=None, ts=STARTS_S + 2**20)),
    "one server": lambda: pl.DataFrame(make_columns(server=["www"] * COUNT)),
    "any order": lambda: pl.DataFrame(make_columns())[list(range(COUNT))[::-1]].sort("start_s"),
    "what read returns": lambda: mousehole.read(pl.DataFrame(make_columns())),
}


@pytest.mark.parametrize("form", FORMS)
def test_compare__takes_the_frame(form: str, expected: pl.DataFrame) -> None:
    found = compare_buckets(FORMS[form]())
    times = [name for name, kind in found.schema.items() if kind == pl.Float64]
    assert found.drop(times).equals(expected.drop(times))
    for name in times:
        near = np.isclose(found[name].fill_null(0), expected[name].fill_null(0), rtol=1e-6)
        assert near.all(), name


def test_read_and_inspect__take_a_frame() -> None:
    read = mousehole.read(pd.DataFrame(make_columns()))
    assert read["client"].to_list() == NAMES
    assert read["bytes"].to_list() == SIZES.tolist()
    assert read["rtt_s"].is_nan().sum() == sum(rtt != rtt for rtt in RTTS_S)
    summary = mousehole.inspect(pd.DataFrame(make_columns()), rate=10e6)
    assert (summary["connections"], summary["clients"], summary["servers"]) == (COUNT, 50, 1)
    assert summary["native_load"] == mousehole.inspect(make_columns(), rate="10mbit")["native_load"]


def test_read__gives_a_frame_that_compares_as_the_file_does(tmp_path: Path) -> None:
    table = tmp_path / "users.csv"
    pl.DataFrame(make_columns(rtt_s=[0.05] * COUNT, duration_s=[0.2] * COUNT)).write_csv(table)
    from_file, from_frame = (mousehole.compare(given, **SETTINGS) for given in (table, mousehole.read(table)))
    assert from_frame.buckets.equals(from_file.buckets)
    assert from_frame.traffic_summary is not None
    assert from_frame.traffic_summary["ends_known"] == COUNT


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bytes": [*[1500.0] * 7, 1500.5]}, "row 7 (the first is 0), column bytes: 1500.5 is not allowed; "
         "it must be a whole number of bytes"),
        ({"bytes": [*[1500] * 7, 0]}, "row 7 (the first is 0), column bytes: 0 is not allowed"),
        ({"bytes": [*[1500] * 7, None]}, "row 7 (the first is 0), column bytes: the value is missing"),
        ({"bytes": ["many"] * 8}, 'row 0 (the first is 0), column bytes: "many" is not allowed'),
        ({"bytes": [True] * 8}, "column bytes: True is not allowed"),
        ({"client": ["a", *[None] * 7]}, "row 1 (the first is 0), column client: the value is missing"),
        ({"start_s": [*[0.0] * 5, np.nan, 0.0, 0.0]}, "row 5 (the first is 0), column start_s: the value"),
        ({"start_s": ["12:00"] * 8}, 'column start_s: "12:00" is not allowed; it must be a datetime'),
        ({"rtt_s": [*[0.1] * 6, -0.1, 0.1]}, "row 6 (the first is 0), column rtt_s: -0.1 is not allowed"),
        ({"rtt_s": [dt.datetime(2026, 1, 1)] * 8}, "column rtt_s: "),
        ({"end": [1.0, *[-1.0] * 7]}, "row 1 (the first is 0), column end: -1.0 is not allowed; it must be a "
         "time at or after the start"),
        ({"client": None}, "data frame: give a column client"),
        ({"start_s": None}, "data frame: no column for the start time"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame], ids=["polars", "pandas"])
def test_frame__faults_name_row_column_and_value(make: Any, changes: dict[str, Any], words: str) -> None:
    plain = {"start_s": [0.0] * 8, "client": list("abababab"), "bytes": [1500] * 8}
    given = {name: values for name, values in {**plain, **changes}.items() if values is not None}
    with pytest.raises(mousehole.MouseholeError) as refused:
        mousehole.read(make(given))
    assert words in str(refused.value)


def test_frame__direction_chooses_the_bytes() -> None:
    given = {"ts": [0.0], "src": ["a"], "orig_bytes": [10], "resp_bytes": [20]}
    assert mousehole.read(given)["bytes"].to_list() == [20]
    assert mousehole.read(given, payload="up")["bytes"].to_list() == [10]


def test_dictionaries__take_names_and_whole_floats() -> None:
    rows = [
        {"start_s": 0.0, "client": ipaddress.ip_address("::1"), "bytes": 1500.0, "rtt_s": None},
        {"start_s": np.float64(1), "client": "b", "bytes": np.int64(9), "rtt_s": dt.timedelta(seconds=1)},
    ]
    read = mousehole.read(rows)
    assert (read["client"].to_list(), read["bytes"].to_list()) == (["::1", "b"], [1500, 9])
    assert read["rtt_s"][1] == 1
    with pytest.raises(mousehole.MouseholeError, match=r"connections\[0\]\.bytes: 1500\.5 is not allowed"):
        mousehole.read([{"start_s": 0.0, "bytes": 1500.5}])


def test_transfers__have_the_users_names_of_clients() -> None:
    sizes = {f"user {n}": 1000 + n for n in range(40)}  # the size tells whose transfer it is
    frame = pd.DataFrame({
        "start_s": np.arange(200) / 20, "client": list(sizes) * 5, "bytes": list(sizes.values()) * 5,
    })  # fmt: skip
    transfers = mousehole.compare(frame, **SETTINGS).transfers("droptail")
    assert transfers.height > 50
    assert all(sizes[row["client"]] == row["bytes"] for row in transfers.to_dicts())


def hide_modules(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Lets modules look as if they were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name in modules else find(name, *rest)
    )


def test_to_pandas__without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_modules(monkeypatch, "pyarrow")
    frame = Frame({"name": ["a", None], "count": [1, 2], "share": [0.5, None]})
    found = frame.to_pandas()
    assert list(found.columns) == ["name", "count", "share"]
    assert found["count"].tolist() == [1, 2]
    assert found["share"].isna().tolist() == found["name"].isna().tolist() == [False, True]


def test_to_pandas__says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_modules(monkeypatch, "pyarrow")
    with pytest.raises(ModuleNotFoundError, match="needs pyarrow"):
        Frame({"a": [1]}).to_pandas(use_pyarrow_extension_array=True)
    hide_modules(monkeypatch, "pandas")
    with pytest.raises(ModuleNotFoundError, match=r"^to_pandas needs pandas; install it by: pip install"):
        Frame({"a": [1]}).to_pandas()


def test_results__are_frames_for_pandas() -> None:
    done = mousehole.run({
        "link": {"rate": "1mbit"}, "duration": "2s", "warmup": "0s", "scheme": "droptail",
        "traffic": {"connections": [{"start_s": 0.1, "writes": [{"bytes": 3000}]}]},
    })  # fmt: skip
    assert done.transfers.to_pandas()["bytes"].tolist() == [3000]
    assert mousehole.read({"ts": [0], "client": ["a"], "bytes": [1]}).to_pandas()["client"].tolist() == ["a"]


def test_read__takes_any_iterable_of_files(tmp_path: Path) -> None:
    table = tmp_path / "users.csv"
    pl.DataFrame(make_columns()).write_csv(table)
    of_one = mousehole.read(table)
    for several in (iter([table]), {table}, (str(table),)):
        assert mousehole.read(several).equals(of_one)  # type: ignore[arg-type]


ROWS = {"start_s": [0.0, 1.0], "client": ["a", "b"], "bytes": [1500, 3000]}


def test_frames__of_other_kinds_are_taken() -> None:
    expected = mousehole.read(ROWS)
    table = pa.table(ROWS)
    wide = pl.DataFrame(ROWS).with_columns(pl.col("bytes").cast(pl.Int128))
    assert mousehole.read(wide).equals(expected)
    assert mousehole.read(table.to_reader()).equals(expected)
    assert mousehole.read(pl.DataFrame(ROWS).lazy()).equals(expected)


def test_frames__of_duckdb_are_taken() -> None:
    duckdb = pytest.importorskip("duckdb")
    made = pa.table(ROWS)
    relation = duckdb.from_arrow(made)
    assert mousehole.read(relation).equals(mousehole.read(ROWS))


@pytest.mark.parametrize("is_reader", [False, True])
def test_frames__intervals_of_duckdb_are_refused(is_reader: bool) -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = "range(3) t(i)"
    relation = duckdb.sql(f"SELECT i AS start_s, i AS client, 9 AS bytes, INTERVAL 1 SECOND AS d FROM {rows}")  # noqa: S608
    with pytest.raises(mousehole.MouseholeError, match=r'"column d" is an interval of months.*epoch'):
        mousehole.read(relation.arrow() if is_reader else relation)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pl.DataFrame({**ROWS, "bytes": [[1], [2, 3]]}), "column bytes: \"[1]\" is not allowed"),
        (pl.DataFrame({**ROWS, "client": [["a"], ["b"]]}), "column client: "),
        (pl.DataFrame({**ROWS, "rtt_s": [{"a": 1.0}, {"a": 2.0}]}), "column rtt_s: "),
        (pd.DataFrame({**ROWS, "bytes": [np.array([1, 2]), np.array([3, 4])]}), "column bytes: "),
        (pd.DataFrame({**ROWS, "start_s": [[1], [2]]}), "column start_s: "),
        (pd.concat([pd.DataFrame(ROWS), pd.DataFrame(ROWS)], axis=1), '"start_s" is the name of two columns'),
        (pa.table([[0.0], ["a"], [1], [2]], names=["ts", "client", "bytes", "bytes"]), '"bytes" is the name'),
        (pl.LazyFrame(ROWS).select("nothing"), "data frame: cannot be read"),
        (pl.DataFrame(ROWS)[:0], "data frame: has no rows"),
        ({**ROWS, "bytes": [1, 2, 3]}, "as many values in each column"),
    ],
)  # fmt: skip
def test_frames__that_cannot_be_used_are_refused_in_a_sentence(frame: Any, words: str) -> None:
    with pytest.raises(mousehole.MouseholeError) as refused:
        mousehole.read(frame)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("traffic", "words"),
    [
        ([pd.DataFrame(ROWS)], "a list with DataFrame"),
        (pd.Series([1, 2]), "a column by itself"),
        (pl.Series([1, 2]), "a column by itself"),
        (b"home", "traffic: "),
        ([5], "a list with int"),
    ],
)
def test_compare__refuses_what_is_no_traffic_in_a_sentence(traffic: Any, words: str) -> None:
    with pytest.raises(mousehole.MouseholeError) as refused:
        mousehole.compare(traffic, rate="1mbit")
    assert words in str(refused.value)


@pytest.mark.parametrize(("option", "value"), [("veto", 5), ("veto", [5]), ("executor", 5)])
def test_compare__refuses_options_of_another_type_in_a_sentence(option: str, value: object) -> None:
    few = {
        "down": "5mbit",
        "up": "1mbit",
        "duration": "1s",
        "warmup": "1s",
        "seeds": 1,
        "schemes": "droptail",
    }
    with pytest.raises(mousehole.MouseholeError, match=f"^{option}: "):
        mousehole.compare("home", **few, **{option: value})  # type: ignore[arg-type]


def test_compare__takes_any_iterable_and_an_empty_frame_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "start,client,bytes\n" + "".join(f"{n / 9},a{n},{900 + n}\n" for n in range(40))
    )
    few: dict[str, Any] = {
        "rate": "2mbit",
        "rtt": "40ms",
        "seeds": 1,
        "duration": "1s",
        "warmup": "0s",
        "load": 0.5,
    }
    of_list = mousehole.compare([tmp_path / "a.csv"], schemes="droptail", **few)
    of_iterator = mousehole.compare(iter([tmp_path / "a.csv"]), schemes="droptail", **few)
    assert of_list.plan.base == of_iterator.plan.base
    for empty in (
        pl.DataFrame({"start": [0.5], "bytes": [1]}),
        pl.DataFrame({"start": [dt.datetime(2026, 1, 1)], "bytes": [1]}),
    ):
        with pytest.raises(mousehole.MouseholeError, match="none was given"):
            mousehole.compare(empty.head(0), **few)
    spans = pd.DataFrame({"start": [0.5, 1.5], "client": ["a", "b"], "bytes": [dt.timedelta(days=1)] * 2})
    with pytest.raises(mousehole.MouseholeError, match="bytes"):
        mousehole.compare(spans, **few)
