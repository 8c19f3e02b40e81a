"""Sweeps: what their files say, their rows, and that no stop loses or repeats a row."""

import errno
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import mousehole
import pandas as pd
import polars as pl
import pytest
from mousehole.base import MouseholeError, Silent, Stopped
from mousehole.runs import AHEAD, Apart, Job, Threads, yield_outcomes
from mousehole.sweeps import FAULT, Cells, Prepared, interpolate, parse_numbers, read, with_parameter
from mousehole.sweeps import _running as running
from mousehole.sweeps import _store as store
from support import MODULE

SMALL: dict[str, Any] = {
    "traffic": "web:sfd", "schemes": ["droptail", "sfd"], "seeds": 2,
    "options": {"rate": "2mbit", "duration": "3s", "warmup": "1s"},
    "axes": {"load": [0.5, 0.9], "buffer": ["20p", "60p"], "sfd": {"th": ["5kB", "15kB"]}},
}  # fmt: skip
"""A grid of 8 cells; SFD is run in all, drop-tail in half of them."""


def make_description(**changes: Any) -> dict[str, Any]:
    """Returns the description of the small sweep with these changes."""
    return {**SMALL, **changes}


def read_files(folder: Path) -> dict[str, bytes]:
    """Returns the content of every file in a folder, by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> mousehole.Sweep:
    """A small sweep."""
    return mousehole.sweep(SMALL, tmp_path_factory.mktemp("sweep") / "small")


def test_sweep__one_row_per_cell_scheme_and_replication(small: mousehole.Sweep) -> None:
    rows = small.rows.collect()
    assert len(rows) == small.manifest["rows"] == 2 * (8 + 4)
    assert rows.select("cell", "scheme", "replication").is_unique().all()
    assert rows.filter(pl.col("scheme") == "droptail")["sfd.th"].null_count() == 8
    assert set(rows["scheme_as_run"]) == {"droptail", "sfd(th=5kB)", "sfd(th=15kB)"}
    assert rows["buffer_packets"].unique().sort().to_list() == [20.0, 60.0]
    assert rows["sfd.th_bytes"].drop_nulls().unique().sort().to_list() == [5000.0, 15000.0]
    assert rows[FAULT].null_count() == len(rows)
    assert (rows["short_count"] > 0).all()


def test_sweep__a_cell_is_what_compare_says(small: mousehole.Sweep) -> None:
    """So all schemes of a cell meet the same draws, those of `compare`."""
    found = mousehole.compare(
        "web:sfd", rate="2mbit", duration="3s", warmup="1s", load=0.9, buffer="60p", seeds=2,
        schemes="droptail,sfd(th=5kB)",
    )  # fmt: skip
    document = json.loads(found.to_json())["cells"][0]
    of_cell = small.rows.filter((pl.col("load") == 0.9) & (pl.col("buffer") == "60p")).collect()
    for entry in document["schemes"]:
        own = of_cell.filter(pl.col("scheme_as_run") == entry["scheme"]).sort("replication")
        assert own["short_response_mean_s"].to_list() == entry["short_response_mean_per_replication_s"]
    change = small.cells().filter(
        (pl.col("load") == 0.9) & (pl.col("buffer") == "60p") & (pl.col("sfd.th") == "5kB")
    )["change"]
    (short,) = [row for row in document["schemes"][1]["buckets"] if row["role"] == "short"]
    assert change.to_list() == pytest.approx([short["response_mean_change"]])


def test_sweep__the_manifest_is_in_each_file(small: mousehole.Sweep) -> None:
    (part,) = (small.folder / "rows").iterdir()
    assert json.loads(pl.read_parquet_metadata(part)["mousehole.sweep"]) == small.manifest
    assert small.manifest["sweep"]["axes"][0] == {"setting": "load", "values": [0.5, 0.9]}
    assert str(small.folder.parent) not in (small.folder / "sweep.json").read_text()
    assert sorted(path.name for path in small.folder.iterdir()) == ["rows", "sweep.json"]


def test_sweep__ends_at_once_where_all_rows_are_there(small: mousehole.Sweep) -> None:
    before = read_files(small.folder)
    again = mousehole.sweep(SMALL, small.folder)
    assert read_files(small.folder) == before
    assert again.finished == 24


def test_show__effects_and_pictures(small: mousehole.Sweep, tmp_path: Path) -> None:
    effects = small.effects()
    assert effects["axis"].unique(maintain_order=True).to_list() == ["load", "buffer", "sfd.th"]
    of_sfd = effects.filter((pl.col("scheme") == "sfd") & (pl.col("axis") == "load"))
    assert of_sfd["cells"].to_list() == [4, 4]
    assert (of_sfd["change_least"] <= of_sfd["change"]).all()
    for name in ("plot.png", "plot.svg", "surface.pdf"):
        draw = small.plot_surface if name.startswith("surface") else small.plot
        draw(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 5000
    arguments = [
        "--plot",
        "a.png",
        "--surface",
        "b.png",
        "--cells",
        "c.csv",
        "--value",
        "long_response_p95_s",
    ]
    again = mousehole.load(small.folder)
    assert isinstance(again, mousehole.Sweep)
    assert "**Mean over cells, and change against droptail**" in again.markdown()
    small.html(tmp_path / "page.html")
    assert "Along sfd.th" in (tmp_path / "page.html").read_text(encoding="utf-8")
    done = run_sweep("show", str(small.folder), *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "8 cells × 2 seeds\nNothing is compared with droptail: no cell has" in done.stdout
    assert "sfd.th  5kB" in done.stdout
    assert len(pl.read_csv(tmp_path / "c.csv")) == 12
    for option, word in (("--value", "nope"), ("--against", "red"), ("--x", "rate")):
        refused = run_sweep("show", str(small.folder), option, word, "--plot", "p.png", cwd=tmp_path)
        assert refused.returncode == 2
        assert f"error: {option}: there is no" in refused.stderr


def test_scipy__is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("scipy", "scipy.stats", "scipy.stats.qmc"):
        monkeypatch.setitem(sys.modules, name, None)  # an import of it fails now
    described = make_description(design="latin-hypercube", cells=3, axes={"load": {"from": 0.5, "to": 0.9}})
    with pytest.raises(
        MouseholeError, match=r"^a Latin hypercube needs the package scipy, .*mousehole\[sweep\]"
    ):
        mousehole.sweep(described, tmp_path / "cube")
    assert list(tmp_path.iterdir()) == []


def test_hypercube__fills_each_axis_and_draws_trends(tmp_path: Path) -> None:
    sweep = make_description(
        design="latin-hypercube", cells=10, schemes=["droptail", "sfd"], seeds=1,
        options={"duration": "2s", "warmup": "1s", "ecn": True},
        axes={"rate": {"from": "1mbit", "to": "4mbit", "scale": "log"}, "load": {"from": 0.4, "to": 0.9},
              "buffer": {"from": "10p", "to": "100p"}, "tcp.min_rto": ["200ms", "1s"]},
    )  # fmt: skip
    found = mousehole.sweep(sweep, tmp_path / "found")
    rows = found.rows.collect()
    cells = rows.unique("cell")
    assert len(rows) == 20
    places = sorted(int(10 * (load - 0.4) / 0.5) for load in cells["load"])
    assert places == list(range(10)), "one cell in each tenth of an axis"
    assert cells["rate_bps"].is_between(1e6, 4e6).all()
    assert all(text.endswith("p") and text[:-1].isdecimal() for text in cells["buffer"])
    assert sorted(cells["tcp.min_rto"]) == ["1s"] * 5 + ["200ms"] * 5
    found.plot(tmp_path / "trends.png")
    found.plot_surface(tmp_path / "surface.png", x="rate", y="load")
    assert (tmp_path / "surface.png").stat().st_size > 5000


def test_list__has_the_cells_that_are_given() -> None:
    cells = [{"rate": "1mbit", "load": 0.5}, {"rate": "2mbit", "load": 0.9}]
    made = Cells(read({"traffic": "web:sfd", "schemes": ["droptail"], "design": "list", "cells": cells}))
    assert [made.settings(number) for number in range(len(made))] == cells


def test_grid__the_axes_of_traffic_change_slowest() -> None:
    axes = {"load": [0.5, 0.9], "params.sessions": [10, 20]}
    made = Cells(read(make_description(axes=axes, options={})))
    assert [made.settings(number)["params.sessions"] for number in range(4)] == [10, 10, 20, 20]


def test_scheme__is_an_axis_too(tmp_path: Path) -> None:
    sweep = {"traffic": "web:sfd", "axes": {"scheme": ["red", "sfd"], "load": [0.5]}, "seeds": 1,
             "options": {"rate": "2mbit", "duration": "1s", "warmup": "0s"}}  # fmt: skip
    assert mousehole.sweep(sweep, tmp_path / "a").rows.collect()["scheme"].to_list() == ["red", "sfd"]


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("sfd", "sfd(th=9kB)"),
        ("sfd(k=4, th=1kB)|multi-red(wq=0)", "sfd(k=4,th=9kB)|multi-red(wq=0)"),
        ("red|droptail", "red|droptail"),
    ],
)
def test_with_parameter__changes_the_part_that_is_named(scheme: str, expected: str) -> None:
    assert with_parameter(scheme, "sfd", "th", "9kB") == expected


def test_quantities() -> None:
    assert parse_numbers(["1mbit", "500kbit"]) == ("bps", [1e6, 5e5])
    assert parse_numbers(["20ms", "2s"]) == ("s", [0.02, 2.0])
    assert parse_numbers([1, 2.5]) == ("", [1.0, 2.5])
    assert parse_numbers(["20p", "1bdp"]) is None
    assert parse_numbers([True, 2]) is None
    assert interpolate("axes.rate", "1mbit", "100mbit", 0.5, True) == "10mbit"
    assert interpolate("axes.x", 1, 4, 0.5, False) == 2
    assert interpolate("axes.buffer", "10p", "21p", 0.5, False) == "16p"


BAD = {
    "unknown axis": (
        make_description(axes={"raet": ["1mbit"]}), 'axes: there is no setting "raet";.* did you mean "rate"',
    ),
    "unknown option": (
        make_description(options={"durration": "1s"}), 'options: .*"durration".* did you mean "duration"',
    ),
    "unknown field": (make_description(axis={}), 'there is no field "axis";.* did you mean "axes"'),
    "unknown parameter": (
        make_description(axes={"sfd.thh": ["1kB"]}), 'there is no parameter "thh";.* did you mean "th"',
    ),
    "unknown TCP parameter": (
        make_description(axes={"tcp.min_rt": ["1s"]}), 'tcp: .*"min_rt".* did you mean "min_rto"',
    ),
    "unknown part": (
        make_description(axes={"sdf.th": ["1kB"]}), 'axes: there is no setting "sdf.th";.*sfd.th',
    ),
    "unknown model": (make_description(traffic="web:sdf"), "web:sdf"),
    "no axes": (make_description(axes={}), "axes: .*is empty"),
    "empty axis": (
        make_description(axes={"load": []}), "axes.load: .*is empty, so that the sweep has no cell",
    ),
    "twice": (make_description(axes={"load": [0.5, 0.5]}), "axes.load: .*is given twice"),
    "too many": (
        make_description(axes={f"params.p{n}": list(range(1000)) for n in range(3)}),
        r"1,000,000,000 cells \(params.p0 1000 × .*at most 1,000,000 are allowed",
    ),
    "bad value": (make_description(axes={"load": [0.5, 3]}), r"cell \d+ \(load=3\): load: "),
    "both": (make_description(options={"load": 0.5}), '"load" is also an axis'),
    "two buffers": (
        make_description(options={"rate": "2mbit", "buffer": "20p,30p"}, axes={"load": [0.5]}), "one value",
    ),
    "no schemes": ({"traffic": "web:sfd", "axes": {"load": [0.5]}}, "schemes: "),
    "units": (
        make_description(design="latin-hypercube", cells=3, axes={"rtt": {"from": "9ms", "to": "1s"}}),
        "same unit",
    ),
    "order": (
        make_description(axes={"load": {"from": 0.9, "to": 0.5, "steps": 3}}),
        "from a smaller number to a larger",
    ),
    "steps": (make_description(axes={"load": {"from": 0.5, "to": 0.9}}), "axes.load.steps"),
    "baseline": (make_description(options={"rate": "1mbit", "short": "0B"}), "short: "),
    "rows differ": (
        make_description(axes={"short": ["15kB", "30kB"]}), "rows of all cells must mean the same",
    ),
    "design": (make_description(design="random"), "grid, list or latin-hypercube"),
    "standard input": (make_description(traffic="-"), "files, which can be read again"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input__one_sentence_and_nothing_is_written(case: str, tmp_path: Path) -> None:
    source, said = BAD[case]
    with pytest.raises(MouseholeError, match=said) as caught:
        mousehole.sweep(source, tmp_path / "found")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def run_sweep(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs `mousehole sweep`."""
    return subprocess.run(
        [*MODULE, "sweep", *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


def write_sweep(folder: Path, **changes: Any) -> Path:
    """Writes a small sweep as TOML, and returns its path; `axes` are lines of it."""
    text = {"axes": 'load = [0.5, 0.9]\nbuffer = ["20p", "60p"]', "seeds": 2, **changes}
    place = folder / "small.toml"
    place.write_text(
        f'traffic = "web:sfd"\nschemes = ["droptail", "sfd"]\nseeds = {text["seeds"]}\n'
        f'[options]\nrate = "2mbit"\nduration = "3s"\nwarmup = "1s"\n[axes]\n{text["axes"]}\n'
    )
    return place


def test_command__runs_says_costs_and_refuses(tmp_path: Path) -> None:
    write_sweep(tmp_path)
    dry = run_sweep("small.toml", "--dry-run", cwd=tmp_path)
    assert dry.stdout.splitlines()[:2] == ["cells: 4", "rows: 16 in 1 file, about 0.0 MB"]
    assert "time: about" in dry.stdout
    assert "memory: about" in dry.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]
    gone = run_sweep("small.toml", "--dask", "none.json", cwd=tmp_path)
    assert gone.stderr == "mousehole: error: --dask: there is no scheduler file none.json\n"
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]
    done = run_sweep("small.toml", cwd=tmp_path)
    assert done.stdout == "16 rows in small/rows; mousehole sweep show small shows them\n", done.stderr
    write_sweep(tmp_path, axes="load = [0.5, 0.8]")
    other = run_sweep("small.toml", cwd=tmp_path)
    assert other.returncode == 2
    assert other.stderr.startswith("mousehole: error: small: it holds another sweep: there sweep.axes is ")
    assert other.stderr.count("\n") == 1
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    full = run_sweep("small.toml", "--out", "full", cwd=tmp_path)
    assert full.stderr == "mousehole: error: full: it is not empty and holds no sweep; give another folder\n"
    bad = run_sweep("none.toml", cwd=tmp_path)
    assert (bad.returncode, bad.stderr) == (
        2, "mousehole: error: none.toml: cannot read the sweep; No such file or directory\n",
    )  # fmt: skip
    assert run_sweep("show", "full", cwd=tmp_path).returncode == 2
    write_sweep(tmp_path, axes="laod = [0.5]")
    assert 'small.toml: axes: there is no setting "laod"' in run_sweep("small.toml", cwd=tmp_path).stderr


def count_rows(folder: Path) -> int:
    """Returns the number of a sweep's rows in whole files and in lines of unfinished ones."""
    lines = sum(path.read_bytes().count(b"\n") for path in folder.glob("unfinished/*.jsonl") if path.exists())
    return lines + sum(pl.read_parquet(path).height for path in folder.glob("rows/*.parquet"))


def run_killed(source: Path, folder: Path, at: int) -> None:
    """Starts a sweep, and kills it once it has `at` rows.

    It is killed after 60 s in any case, unless it has ended.
    """
    process = subprocess.Popen(
        [*MODULE, "sweep", str(source), "--out", str(folder), "--jobs", "2"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        try:
            if count_rows(folder) >= at:
                break
        except (OSError, pl.exceptions.PolarsError):
            pass  # a file was renamed meanwhile
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_sweep__killed_ten_times_equals_one_that_was_not(tmp_path: Path) -> None:
    """File by file; the files are small here, so that several are written between the stops."""
    source = write_sweep(
        tmp_path, axes='load = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9]\nbuffer = ["20p", "60p"]', seeds=10
    )
    whole = mousehole.sweep(source, tmp_path / "whole")
    total = whole.finished
    assert total == 240
    for stop in range(1, 11):  # the last one halfway, since a busy machine is slow to kill
        run_killed(source, tmp_path / "stopped", stop * total // 20)
    assert 0 < count_rows(tmp_path / "stopped") < total
    again = mousehole.sweep(source, tmp_path / "stopped")
    assert again.finished == total
    assert read_files(tmp_path / "stopped") == read_files(tmp_path / "whole")


class Reading(Silent):
    """Reads a sweep by three libraries whenever a row is added, and keeps how many rows each has found."""

    def __init__(self, folder: Path) -> None:
        self.rows = f"{folder}/rows/*.parquet"
        self.folder = folder / "rows"
        self.found: list[tuple[int, int, int]] = []

    def advance(self) -> None:
        """Counts the rows that each library reads at this moment."""
        if any(self.folder.glob("*.parquet")):
            self.found.append((len(self.by_polars()), len(self.by_pandas()), len(self.by_duckdb())))

    def by_polars(self) -> pl.DataFrame:
        """Returns the rows as polars reads them."""
        return pl.read_parquet(self.rows)

    def by_pandas(self) -> pl.DataFrame:
        """Returns the rows as pandas reads them."""
        return pl.from_pandas(pd.read_parquet(self.folder))

    def by_duckdb(self) -> pl.DataFrame:
        """Returns the rows as DuckDB reads them."""
        return duckdb.sql(f"SELECT * FROM '{self.rows}'").pl()  # noqa: S608 - the test's own folder


def test_sweep__is_read_by_polars_pandas_and_duckdb_as_it_grows(tmp_path: Path) -> None:
    source = write_sweep(tmp_path, axes='load = [0.4, 0.6, 0.8, 0.9]\nbuffer = ["20p", "60p"]', seeds=10)
    reporter = Reading(tmp_path / "found")
    found = mousehole.sweep(source, tmp_path / "found", jobs=1, reporter=reporter)
    assert all(len(set(counts)) == 1 for counts in reporter.found)
    assert len({counts[0] for counts in reporter.found}) >= 2, "rows were read while there were few"
    key = ["cell", "scheme", "replication"]
    whole = found.rows.collect().sort(key)
    for read_by in (reporter.by_polars, reporter.by_pandas, reporter.by_duckdb):
        rows = read_by().sort(key)
        assert rows.columns == whole.columns
        for name in whole.columns:
            assert rows[name].to_list() == whole[name].to_list(), name


def test_sweep__a_line_that_was_cut_short_is_run_again(tmp_path: Path, small: mousehole.Sweep) -> None:
    folder = tmp_path / "cut"
    with pytest.raises(
        Stopped, match=r"stopped after 5 of 24 rows, which are kept; the same command goes on"
    ):
        mousehole.sweep(SMALL, folder, jobs=1, reporter=make_stopping_reporter(5))
    (journal,) = (folder / "unfinished").iterdir()
    journal.write_bytes(journal.read_bytes()[:-40])
    reporter = Saying()
    mousehole.sweep(SMALL, folder, reporter=reporter)
    assert reporter.said == ["4 of 24 rows are there already"]
    assert read_files(folder) == read_files(small.folder)


class Saying(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        """Notes the text."""
        self.said.append(text)


def make_stopping_reporter(rows: int) -> Silent:
    """Returns a reporter that presses Ctrl-C after this many rows."""

    class Stopping(Silent):
        count = 0

        def advance(self) -> None:
            self.count += 1
            if self.count == rows:
                raise KeyboardInterrupt

    return Stopping()


def limit_file_size(size: int) -> Callable[[], None]:
    """Returns a function that lets no file of a process grow above a size, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [3_000, 25_000])
def test_sweep__a_full_disk_loses_nothing(tmp_path: Path, small: mousehole.Sweep, size: int) -> None:
    """A line does not fit any more, of which a piece may have been written."""
    program = (
        "import json, sys, mousehole\n"
        "try:\n mousehole.sweep(json.loads(sys.argv[1]), sys.argv[2], jobs=1)\n"
        "except mousehole.MouseholeError as error:\n print(error)\n"
    )
    folder = tmp_path / "found"
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(SMALL), str(folder)],
        preexec_fn=limit_file_size(size), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == (
        f"{folder}: cannot be written; File too large; what is there is whole, and the same command goes on "
        "from it\n"
    ), done.stderr
    assert not list(folder.glob("rows/*"))
    assert 0 < count_rows(folder) <= 24
    mousehole.sweep(SMALL, folder)
    assert read_files(folder) == read_files(small.folder)


def test_sweep__a_full_disk_when_a_file_is_whole(
    tmp_path: Path, small: mousehole.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path) -> None:
        if path.suffix == ".parquet":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / "found"
    with monkeypatch.context() as patched:
        patched.setattr(store, "_sync_to_disk", full)
        with pytest.raises(MouseholeError, match="No space left on device; what is there is whole"):
            mousehole.sweep(SMALL, folder)
    assert [path.name for path in folder.rglob("*.*")] == ["sweep.json", "part-00000.jsonl"]
    reporter = Saying()
    mousehole.sweep(SMALL, folder, reporter=reporter)
    assert reporter.said == ["24 of 24 rows are there already"]
    assert read_files(folder) == read_files(small.folder)


def test_sweep__one_process_at_a_time(tmp_path: Path) -> None:
    class Second(Silent):
        said = ""

        def advance(self) -> None:
            try:
                mousehole.sweep(SMALL, tmp_path / "found")
            except MouseholeError as error:
                self.said = str(error)

    reporter = Second()
    mousehole.sweep(SMALL, tmp_path / "found", reporter=reporter)
    assert "another process is writing this sweep" in reporter.said


class Refusing(Threads):
    """Gives one job up, as Dask does with one that ends its workers."""

    def submit(self, key: Any, job: Job[Any]) -> None:
        """Submits a job, and notes which one will be given up."""
        super().submit(key, job)
        self.given_up = (0, 3)

    def collect(self, timeout_s: float) -> list[tuple[Any, Any]]:
        """Returns outcomes, with one job given up."""
        return [(key, Apart("3 workers ended") if key == self.given_up else outcome)
                for key, outcome in super().collect(timeout_s)]  # fmt: skip


def test_sweep__a_row_that_was_given_up_says_why(tmp_path: Path) -> None:
    reporter = Saying()
    running.run_missing(Prepared(read(SMALL)), tmp_path / "found", 1, Refusing(1), reporter)
    found = mousehole.Sweep(tmp_path / "found")
    (row,) = found.rows.filter(pl.col(FAULT).is_not_null()).collect().iter_rows(named=True)
    assert (row["cell"], row["replication"], row["scheme"], row[FAULT]) == (0, 1, "sfd", "3 workers ended")
    assert row["short_response_mean_s"] is None
    assert reporter.said == ["warning: 1 rows have no numbers; their column fault says why"]
    assert found.cells().filter((pl.col("cell") == 0) & (pl.col("scheme") == "sfd"))["replications"][0] == 1


def test_yield_outcomes__few_jobs_are_in_memory_at_once() -> None:
    """So the memory of a sweep does not grow with its length."""
    taken, over, most = 0, 0, 0

    def jobs() -> Any:
        nonlocal taken
        for number in range(60):
            taken += 1
            yield (
                number,
                Job({"duration": "1ms", "warmup": "0s", "traffic": {"model": "web:sfd"}}, measure_length),
            )

    for _ in yield_outcomes(Threads(2), jobs()):
        over += 1
        most = max(most, taken - over)
    assert over == 60
    assert most <= AHEAD * 3


def measure_length(result: Any) -> int:
    """Returns the number of transfers of a run."""
    return len(result.transfers()["bytes"])


def test_sweep__reads_files_and_own_policies(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text(
        "start,client,bytes\n" + "".join(f"{n * 0.1},c{n % 5},{4000 + n}\n" for n in range(90))
    )
    subprocess.run([*MODULE, "policy", "new", "sweep-marker"], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "own.toml").write_text(
        'schemes = ["droptail", "sweep-marker|multi-red"]\npolicy = "sweep-marker.h"\nseeds = 1\n'
        '[options]\nrate = "1mbit"\nduration = "2s"\nwarmup = "0s"\nload = 0.8\n'
        '[axes]\ntraffic = ["mine.csv", "web:sfd"]\n'
    )
    found = mousehole.sweep(tmp_path / "own.toml", tmp_path / "found")
    assert found.rows.collect()["traffic"].to_list() == ["mine.csv"] * 2 + ["web:sfd"] * 2
    assert [entry["name"] for entry in found.manifest["inputs"]] == ["mine.csv"]
    assert list(found.manifest["policies"]) == ["sweep-marker"]
    assert os.fspath(tmp_path) not in (tmp_path / "found" / "sweep.json").read_text()
