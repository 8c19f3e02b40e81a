"""The same 40 exchanges in tables and objects of many names, and rows that are no transfers."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import mousehole
import pytest
from mousehole.base import MouseholeError

NUMBER, SERVER = 40, "192.0.2.1"
SIZES = [900 + 700 * n for n in range(NUMBER)]
TIMES = [1_700_000_000.125 + 1.013 * n for n in range(NUMBER)]
CLIENTS = [f"10.0.0.{10 + n % 5}" for n in range(NUMBER)]

ONE_WAY = [
    "StartTime SrcAddr DstAddr Sport Dport Proto Bytes",
    "t_first srcip dstip srcport dstport prot octets",
    "time_received SrcAddr DstAddr SrcPort DstPort Proto Bytes",
    "timestamp saddr daddr sport dport protocol bytes",
    "ts ip_src ip_dst port_src port_dst ip_proto bytes",
    "begin from to from_port to_port proto bytes",
    "timestamp srcaddr dstaddr srcport dstport protocol numbytes",
]
REQUESTS = [
    "time remote_addr host body_bytes_sent",
    "timestamp client_ip domain response_size",
    "@timestamp clientip vhost bytes",
    "datetime c-ip cs-host sc-bytes",
    "time remote_ip server_name bytes_sent",
    "ts user host resp_bytes",
    "time ip site size",
    "time x_forwarded_for host bytes_sent",
    "EdgeStartTimestamp ClientIP ClientRequestHost EdgeResponseBytes",
]
PACKETS = [
    "No. Time Source Destination Protocol Length Info",
    "frame.number frame.time_epoch ip.src ip.dst tcp.srcport tcp.dstport frame.len",
    "timestamp src_ip dst_ip src_port dst_port packet_length tcp_seq",
    "ts src dst sport dport seq ack win bytes",
    "time src dst ttl ip_id len bytes",
]
CLOCKS = [
    "%Y/%m/%d %H:%M:%S",
    "%d/%b/%Y:%H:%M:%S +0000",
    "%Y-%m-%d %H:%M:%S.%f",
    "%d.%m.%Y %H:%M:%S",
    "%Y%m%d%H%M%S",
    "%Y%m%dT%H%M%SZ",
    "%a %b %d %H:%M:%S %Y",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%Y-%m-%dT%H:%M:%S,%f",
    "%Y-%m-%d %H:%M:%S UTC",
    "%Y-%m-%d %I:%M:%S %p",
]

Rows = list[list[Any]]
Write = Callable[[str, Rows], str]


def make_cell_writer(delimiter: str) -> Write:
    """Returns a function that writes a table with this delimiter below a header."""

    def write(names: str, rows: Rows) -> str:
        lines = [names.split(), *([str(value) for value in row] for row in rows)]
        return "\n".join(delimiter.join(line) for line in lines) + "\n"

    return write


def write_objects(names: str, rows: Rows) -> str:
    """Returns rows as JSON objects, one on each line."""
    return "\n".join(json.dumps(dict(zip(names.split(), row, strict=True))) for row in rows) + "\n"


def write_stamp(at: float, form: str) -> str:
    """Returns a time as text, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime(form)


def read_counts(folder: Path, text: str) -> tuple[int, int]:
    """Returns the number of clients and the payload bytes of a file with this text."""
    file = folder / "input"
    file.write_text(text, "utf-8")
    account = mousehole.inspect(file)
    return account["clients"], account["payload_bytes"]


@pytest.mark.parametrize("write", [make_cell_writer(","), make_cell_writer("\t"), write_objects])
@pytest.mark.parametrize("names", ONE_WAY)
def test_shapes__rows_of_one_direction_are_paired(tmp_path: Path, names: str, write: Write) -> None:
    there = [[at, CLIENTS[n], SERVER, 40_000 + n, 443, 6, 300] for n, at in enumerate(TIMES)]
    back = [[at + 0.02, SERVER, CLIENTS[n], 443, 40_000 + n, 6, SIZES[n]] for n, at in enumerate(TIMES)]
    assert read_counts(tmp_path, write(names, there + back)) == (5, sum(SIZES))


@pytest.mark.parametrize("write", [make_cell_writer(","), write_objects])
@pytest.mark.parametrize("names", REQUESTS)
def test_shapes__requests_have_the_client_that_a_name_says(tmp_path: Path, names: str, write: Write) -> None:
    form = "%Y-%m-%dT%H:%M:%S.%fZ"
    rows = [[write_stamp(at, form), CLIENTS[n], "www.example.org", SIZES[n]] for n, at in enumerate(TIMES)]
    assert read_counts(tmp_path, write(names, rows)) == (5, sum(SIZES))


@pytest.mark.parametrize("names", PACKETS)
def test_shapes__a_packet_per_row_is_refused(tmp_path: Path, names: str) -> None:
    width = len(names.split())
    rows = [[n, 0.01 * n, SERVER, CLIENTS[n], 443, 40_000 + n, 1514, 1448, 99][:width] for n in range(NUMBER)]
    with pytest.raises(MouseholeError, match="packet"):
        read_counts(tmp_path, make_cell_writer(",")(names, rows))


@pytest.mark.parametrize("form", CLOCKS)
def test_shapes__dates_of_one_meaning_are_read(tmp_path: Path, form: str) -> None:
    rows = [[write_stamp(at, form), CLIENTS[n], SERVER, SIZES[n]] for n, at in enumerate(TIMES)]
    assert read_counts(tmp_path, make_cell_writer(";")("start client server bytes", rows)) == (5, sum(SIZES))


@pytest.mark.parametrize("names", ["bytes sent,bytes received", "bytes_in,bytes_out", "RxBytes,TxBytes"])
def test_shapes__bytes_of_both_directions_are_refused(tmp_path: Path, names: str) -> None:
    rows = [[at, CLIENTS[n], 300 + SIZES[n], 300, SIZES[n]] for n, at in enumerate(TIMES)]
    text = make_cell_writer(",")("time client bytes one other", rows).replace("one,other", names)
    with pytest.raises(MouseholeError, match="may be the sum of"):
        read_counts(tmp_path, text)


def test_shapes__the_delimiter_that_excel_is_given(tmp_path: Path) -> None:
    rows = [[at, CLIENTS[n], SERVER, SIZES[n]] for n, at in enumerate(TIMES)]
    assert read_counts(tmp_path, "sep=;\n" + make_cell_writer(";")("start client server bytes", rows)) == (
        5,
        sum(SIZES),
    )


@pytest.mark.parametrize(
    ("head", "words"),
    [(b"PK\x03\x04\x14\x00\x06\x00", "Excel workbook; save it as CSV"), (b"ARROW1\x00\x00", "Arrow IPC")],
)
def test_shapes__binary_tables_are_named(tmp_path: Path, head: bytes, words: str) -> None:
    (tmp_path / "table").write_bytes(head + bytes(500))
    with pytest.raises(MouseholeError, match=words):
        mousehole.inspect(tmp_path / "table")
