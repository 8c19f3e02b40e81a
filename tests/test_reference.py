"""The comparison with tshark: what is counted from its fields, and how a difference is shown."""

from __future__ import annotations

import gzip
import shutil
from os import environ
from pathlib import Path

import pytest

from validation import reference
from validation.reference import Counts

PCAP = bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000")


def make_fields(stream: int, port: int, seq: int, length: int, syn: int = 0, reset: int = 0) -> list[str]:
    """Returns the fields of a TCP packet as tshark prints them."""
    return [str(stream), "10.0.0.1", "", str(port), str(seq), str(length), str(syn), str(reset), "", ""]


def test_counted__payload_without_repetitions() -> None:
    rows = [
        make_fields(0, 80, 4_294_967_290, 0, syn=1),
        make_fields(0, 80, 4_294_967_291, 100),
        make_fields(0, 80, 95, 50),
        make_fields(0, 80, 45, 60),  # its last 10 and the 50 bytes before were seen
        make_fields(0, 80, 4_294_967_290, 1),  # a keep-alive, before the first byte
        make_fields(0, 5000, 7, 30),
        make_fields(0, 5000, 7, 30),
        make_fields(1, 80, 1000, 8, reset=1),
    ]
    assert reference.count_packets(rows) == Counts(connections=2, packets=8, payload=100 + 50 + 30)


def test_counted__quic_by_datagrams() -> None:
    quic = ["", "10.0.0.1", "", "", "", "", "", "", "4", "1208"]
    assert reference.count_packets([quic, quic]) == Counts(quic_flows=1, quic_packets=2, quic_payload=2400)


def test_captures__are_found_by_content(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a").write_bytes(PCAP)
    (tmp_path / "b.gz").write_bytes(gzip.compress(PCAP))
    (tmp_path / "c.pcap").write_bytes(b"no capture")
    (tmp_path / "d.gz").write_bytes(gzip.compress(PCAP)[:12])
    assert [path.name for path in reference.list_captures(tmp_path)] == ["b.gz", "a"]


def test_differences__names_each() -> None:
    assert reference.list_differences(Counts(3, 20, 100), Counts(2, 20, 90)) == [
        "TCP connections: 3 here, 2 tshark",
        "TCP payload: 100 here, 90 tshark",
    ]


def test_report__a_capture_without_anything_usable_is_not_compared(tmp_path: Path) -> None:
    (tmp_path / "a.pcap").write_bytes(PCAP)
    line, total = reference.compare_all(reference.list_captures(tmp_path), tmp_path)
    assert line.startswith("a.pcap: NOT COMPARED: nothing usable here")
    assert total == "reference: 0 of 0 captures agree in all counts; 1 not compared"


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_report__a_real_capture() -> None:
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(environ.get("MOUSEHOLE_DATA", default)) / "pcap" / "zeek__http_bro.org.pcap.gz"
    if not path.exists():
        pytest.skip("NOT RUN: no MOUSEHOLE_DATA")
    lines = list(reference.compare_all([path], path))
    assert lines[-1] == "reference: 1 of 1 captures agree in all counts; 0 not compared", lines
