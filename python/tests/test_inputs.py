"""Traffic from standard input and from Parquet tables."""

import gzip
import hashlib
import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import mousehole
import polars as pl
import pytest
from mousehole.base import MouseholeError, Silent
from mousehole.inputs import traffic
from support import MODULE

ROWS = 300
TABLE = pl.DataFrame(
    {
        "start": [0.1 * n for n in range(ROWS)],
        "client": [f"c{n % 7}" for n in range(ROWS)],
        "bytes": [500 + 997 * n % 40_000 for n in range(ROWS)],
        "rtt_ms": [None if n % 5 else 40.5 for n in range(ROWS)],
        "duration": [0.05] * ROWS,
        "remark": [["not", "read"]] * ROWS,
    }
)
LINK = [
    "--rate",
    "5mbit",
    "--load",
    "0.8",
    "--schemes",
    "droptail,sfd",
    "--duration",
    "20s",
    "--warmup",
    "2s",
]


def run_with_input(data: bytes, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Runs the command with data on its standard input."""
    return subprocess.run([*MODULE, *arguments], input=data, capture_output=True, cwd=cwd, check=False)


def to_csv(frame: pl.DataFrame) -> bytes:
    """Returns a frame as CSV without the column `remark`."""
    return frame.drop("remark", strict=False).write_csv().encode()


def test_standard_input__is_read_like_a_file(tmp_path: Path) -> None:
    data = gzip.compress(to_csv(TABLE))
    (tmp_path / "t.csv.gz").write_bytes(data)
    done = run_with_input(data, "inspect", "-", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["sources"][0]["name"] == "standard input"
    assert summary["sources"][0]["sha256"] == hashlib.sha256(data).hexdigest()
    assert summary["connections"] == mousehole.inspect(tmp_path / "t.csv.gz")["connections"] == ROWS


def test_standard_input__is_compared_and_run(tmp_path: Path) -> None:
    data = to_csv(TABLE)
    done = run_with_input(
        data, "compare", "-", *LINK, "--seeds", "2", "--json", "-", "--save-scenario", "s.toml", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    entry = {"name": "standard input", "sha256": hashlib.sha256(data).hexdigest()}
    assert json.loads(done.stdout)["manifest"]["inputs"] == [entry]
    done = run_with_input(data, "run", "s.toml", "--json", "-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["manifest"]["inputs"] == [entry]


def test_parquet__equals_the_same_table_as_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(to_csv(TABLE))
    TABLE.write_parquet(tmp_path / "t.data", row_group_size=70)
    read, expected = (mousehole.read(tmp_path / name) for name in ("t.data", "t.csv"))
    assert read.equals(expected)
    assert read.height == ROWS
    (source,) = mousehole.inspect(tmp_path / "t.data")["sources"]
    stored = hashlib.sha256((tmp_path / "t.data").read_bytes()).hexdigest()
    assert (source["kind"], source["rows"], source["sha256"]) == ("parquet", ROWS, stored)


def test_parquet__joins_other_files(tmp_path: Path) -> None:
    later = TABLE.with_columns(pl.col("start") + 100)
    (tmp_path / "a.csv").write_bytes(to_csv(TABLE))
    later.write_parquet(tmp_path / "b.parquet")
    both = mousehole.read([tmp_path / "b.parquet", tmp_path / "a.csv"])
    assert both.height == 2 * ROWS
    assert both["client"].n_unique() == 7


def test_parquet__times_may_have_types(tmp_path: Path) -> None:
    start = datetime(2024, 5, 1, 12, 0, 0, 250_000, tzinfo=UTC)
    starts = [start + timedelta(seconds=1.5 * n) for n in range(4)]
    frame = pl.DataFrame({"time": starts, "size": [10, 20, 30, 40], "dur": [timedelta(milliseconds=250)] * 4})
    in_zone = frame.with_columns(pl.col("time").dt.convert_time_zone("Asia/Tokyo"))
    for table in (frame, in_zone, frame.with_columns(pl.col("time").dt.replace_time_zone(None))):
        table.write_parquet(tmp_path / "t.parquet")
        assert mousehole.read(tmp_path / "t.parquet")["start_s"].to_list() == [0.0, 1.5, 3.0, 4.5]
        assert mousehole.inspect(tmp_path / "t.parquet")["ends_known"] == 4


def test_parquet__faults_are_named(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    TABLE.with_columns(
        pl.when(pl.col("start") > 29.8).then(float("nan")).otherwise(8.0).alias("bytes")
    ).write_parquet(file)
    faults = mousehole.inspect(file)["faults"]
    assert faults["count"] == 1
    assert (
        faults["first"]
        == 't.parquet:301: bytes "NaN" is not allowed; a whole number of bytes from 0 to 1e12 is'
    )
    pl.DataFrame({"a": [1]}).write_parquet(file)
    with pytest.raises(MouseholeError, match="no column of the Parquet table has a known name"):
        mousehole.inspect(file)
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(MouseholeError, match="the Parquet file cannot be read") as caught:
        mousehole.inspect(file)
    assert "\n" not in str(caught.value)
    done = run_with_input(file.read_bytes() + b"\0", "inspect", "-", cwd=tmp_path)
    assert done.returncode == 2
    assert b"standard input: unknown format" in done.stderr


class Recorder(Silent):
    """Records what a reader reports."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def start(self, total: int, what: str = "runs") -> None:
        """Notes the arguments."""
        self.calls.append((total, what))

    def advance(self) -> None:
        """Notes the call."""
        self.calls.append("advance")

    def finish(self) -> None:
        """Notes the call."""
        self.calls.append("finish")


def test_reading__reports_its_progress_in_megabytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "MEGABYTE", 1000)
    for number, rows in enumerate((1000, 500)):
        wide = pl.concat([TABLE] * (rows // 100))
        (tmp_path / f"{number}.csv").write_bytes(to_csv(wide))
    files = sorted(tmp_path.glob("*.csv"))
    whole = sum(file.stat().st_size for file in files) // 1000
    assert whole > traffic.LARGE_MB
    seen = Recorder()
    mousehole.inspect(files, reporter=seen)
    assert seen.calls == [(whole, "MB read"), *["advance"] * whole, "finish"]
    small = Recorder()
    monkeypatch.setattr(traffic, "LARGE_MB", whole + 1)
    mousehole.inspect(files, reporter=small)
    assert small.calls == []


SHOP = """
name = "shop"
title = "Our shop's log"
lines = "delimited"
row = "request"
only = { state = "done" }

[fields]
end = "finished|done_at"
duration = "seconds?"
source = "customer"
received = "bytes out"
"""
"""A description of a format of one's own, as docs/traffic.md has it."""


def shop(tmp_path: Path) -> tuple[Path, Path]:
    """Writes a log in the format of `SHOP`, of which one row in three was not done, and the description."""
    log, described = tmp_path / "shop.csv", tmp_path / "shop.toml"
    rows = "".join(
        f"user{n % 4},{1_700_000_000_500 + 250 * n},0.2,{'failed' if n % 3 == 2 else 'done'},{900 + n}\n"
        for n in range(30)
    )
    log.write_text(f"customer,finished,seconds,state,bytes out\n{rows}", encoding="utf-8")
    described.write_text(SHOP, encoding="utf-8")
    return log, described


def test_format__of_ones_own_is_read(tmp_path: Path) -> None:
    log, described = shop(tmp_path)
    read = mousehole.read(log, format_=described)
    assert read["bytes"].to_list() == [900 + n for n in range(30) if n % 3 != 2]
    summary = mousehole.inspect(log, format_=described)
    assert (summary["clients"], summary["sources"][0]["kind"]) == (4, "shop")
    with pytest.raises(MouseholeError, match=r"shop\.csv: unknown format"):
        mousehole.inspect(log)


def test_format__by_the_command(tmp_path: Path) -> None:
    log, described = shop(tmp_path)
    done = run_with_input(b"", "inspect", str(log), "--format", str(described), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"20 connections" in done.stdout
    listed = run_with_input(b"", "inspect", "--formats", cwd=tmp_path)
    assert listed.returncode == 0
    for name in (b"suricata", b"squid", b"nfdump-1.7", b"wireshark-packets"):
        assert name in listed.stdout
    described.write_text('name = "x"\nbad = 1\n', encoding="utf-8")
    for given, sentence in {"shop.toml": b"shop.toml:2: unknown field", "none.toml": b"none.toml"}.items():
        done = run_with_input(b"", "inspect", str(log), "--format", given, cwd=tmp_path)
        assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
        assert sentence in done.stderr


@pytest.mark.parametrize(
    ("names", "first"),
    [
        ("StartTime,SrcAddr,DstAddr,Sport,Dport,Bytes", "20231114221320"),
        ("first;sip;dip;Src Port;Dst Port;Num Bytes", "14.11.2023 22:13:20"),
        ("@timestamp,src.ip,dst.ip,src.port,dst.port,bytes", "1700000000000"),
    ],
)
def test_tables__names_and_times_in_many_forms(tmp_path: Path, names: str, first: str) -> None:
    mark = ";" if ";" in names else ","
    rows = [
        (first, "10.0.0.1", "192.0.2.1", "40000", "443", "300"),
        (first, "192.0.2.1", "10.0.0.1", "443", "40000", "9000"),
    ]
    file = tmp_path / "a.csv"
    for times in (1, 2):  # an export that was made twice says nothing new
        file.write_text("\n".join([names, *map(mark.join, rows * times), ""]))
        read = mousehole.inspect(file)
        assert (read["connections"], read["clients"], read["payload_bytes"]) == (1, 1, 9000)
    twice = [note for note in read["notes"] if note["kind"] == "doubled"]
    assert [note["count"] for note in twice] == [2]


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("time,client,bytes,seq,ack", "seq, ack are headers of packets"),
        ("time,sender,sport,bytes,receiver", "names a port, and no column has a known name"),
    ],
)
def test_tables__packets_and_ports_alone_are_refused(tmp_path: Path, header: str, sentence: str) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"{header}\n1,a,2,3,4\n")
    with pytest.raises(MouseholeError, match=sentence):
        mousehole.inspect(file)
