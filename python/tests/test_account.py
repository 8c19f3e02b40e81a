"""The account of traffic: what `inspect` says of captures, and the facts it is made of."""

import gzip
import struct
from pathlib import Path
from typing import get_type_hints

import mousehole
import pytest
from mousehole import engine_types
from mousehole.document import print_document
from mousehole.engine_types import TrafficSummary
from mousehole.inputs import account, show
from rich.console import Console

Packet = tuple[float, bytes]
YEAR = 365.25 * 86_400


def make_tcp_packet(from_client: bool, flags: int, seq: int, payload: int = 0, protocol: int = 6) -> bytes:
    """Returns an IPv4 packet between port 5000 of a client and port 80 of a server."""
    ends = [(bytes([10, 0, 0, 1]), 5000), (bytes([10, 0, 0, 2]), 80)]
    (source, source_port), (target, target_port) = ends if from_client else reversed(ends)
    header = struct.pack("!HHIIBBHHH", source_port, target_port, seq, 1, 0x50, flags, 1000, 0, 0)
    total = 20 + len(header) + payload
    ip = struct.pack("!BBHHHBBH", 0x45, 0, total, 0, 0, 64, protocol, 0) + source + target
    return ip + header + bytes(payload)


def make_udp_packet(from_client: bool, payload: int, port: int = 5004) -> bytes:
    """Returns a datagram between port 50000 of a client and a port of a server."""
    ends = [(bytes([10, 0, 0, 1]), 50_000), (bytes([192, 0, 2, 2]), port)]
    (source, source_port), (target, target_port) = ends if from_client else reversed(ends)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 28 + payload, 0, 0, 64, 17, 0) + source + target
    return ip + struct.pack("!HHHH", source_port, target_port, 8 + payload, 0) + bytes(payload)


def make_connection(at: float, payload: int) -> list[Packet]:
    """Returns the packets of a connection that begins at a time and delivers one segment."""
    return [
        (at, make_tcp_packet(True, 0x02, 100)),
        (at + 0.02, make_tcp_packet(False, 0x12, 900)),
        (at + 0.04, make_tcp_packet(True, 0x10, 101)),
        (at + 0.06, make_tcp_packet(False, 0x10, 901, payload)),
    ]


def make_pcap(packets: list[Packet], kept: int = 65_535) -> bytes:
    """Returns a capture of raw IP, with at most `kept` bytes of each packet."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    for at, packet in packets:
        micros = round(at * 1e6)
        out += struct.pack("<IIII", *divmod(micros, 1_000_000), len(packet[:kept]), len(packet))
        out += packet[:kept]
    return out


def inspect_files(folder: Path, **files: bytes) -> TrafficSummary:
    """Writes files of these contents and returns their summary."""
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return mousehole.inspect([str(folder / name) for name in files])


def list_remark_texts(summary: TrafficSummary) -> list[str]:
    """Returns the remarks on traffic as texts."""
    return [str(remark) for remark in account.list_remarks(summary)]


def test_remarks__left_out_is_named_with_packets_and_bytes(tmp_path: Path) -> None:
    gre = (1000.5, make_tcp_packet(True, 0, 1, 2960, protocol=47)[:20] + bytes([0, 2, 8, 0]) + bytes(2976))
    lone = [(1001.0, make_tcp_packet(True, 0x02, 5_000))]
    summary = inspect_files(tmp_path, a=make_pcap([*make_connection(1000, 1000), gre, *lone]))
    first, second, note = list_remark_texts(summary)
    assert first == "skipped: 1 packet with 3 kB: IP protocol 47 GRE"
    assert second == "skipped: 1 packet with 40 B of 1 connection: no payload in this direction"
    assert note.startswith("note: a: 72 % of its bytes were left out: 71 % IP protocol 47 GRE")
    (fact,) = summary["notes"]
    assert (fact["kind"], fact["file"], fact["count"], fact["bytes"]) == ("left_out", "a", 2, 3040)


def test_remarks__time(tmp_path: Path) -> None:
    later = 1000 + 4.2 * YEAR
    stray = (later - 3, make_tcp_packet(True, 0x10, 101))
    summary = inspect_files(
        tmp_path, a=make_pcap([*make_connection(1000, 1000), *make_connection(later, 1000), stray])
    )
    leap, back = (note for note in summary["notes"] if note["kind"].startswith("time_"))
    assert (leap["text"], leap["row"]) == ("a: time jumps by 4.2 years after packet 4", 4)
    assert (back["text"], back["row"]) == ("a: the clock goes back by 3.1 s after packet 8", 8)


@pytest.mark.parametrize("change", ["same", "packed", "cut"])
def test_remarks__a_file_given_twice(change: str, tmp_path: Path) -> None:
    packets = make_connection(1000, 1000)
    whole = make_pcap(packets)
    other = {"same": whole, "packed": gzip.compress(whole), "cut": make_pcap(packets, 60)}[change]
    (note,) = inspect_files(tmp_path, a=whole, b=other)["notes"]
    assert (note["kind"], note["file"]) == ("given_twice", "b")
    assert "the same content was given twice" in note["text"]
    assert inspect_files(tmp_path, a=whole, b=make_pcap(make_connection(1000, 1001)))["notes"] == []


def test_remarks__began_before_and_lengths_beyond_the_frame(tmp_path: Path) -> None:
    data = bytearray(make_tcp_packet(False, 0x10, 901, 500))
    data[2:4] = struct.pack("!H", 9000)
    before, length = inspect_files(tmp_path, a=make_pcap([(1000, bytes(data))]))["notes"]
    assert (before["kind"], before["count"], before["bytes"]) == ("began_before", 1, 500)
    assert (length["kind"], length["count"], length["bytes"]) == ("length_not_believed", 1, 9000 - 540)


def test_summary__types_of_its_parts(tmp_path: Path) -> None:
    icmp, lone = make_tcp_packet(True, 0, 1, 1, protocol=1), make_tcp_packet(True, 0x02, 5_000)
    summary = inspect_files(tmp_path, a=make_pcap([*make_connection(1000, 1000), (1001, icmp), (1002, lone)]))
    (source,), (skipped,) = summary["sources"], summary["skipped"]
    assert set(source) == set(get_type_hints(engine_types.TrafficSource))
    assert set(source["capture"] or {}) == set(get_type_hints(engine_types.CaptureCounts))
    assert set(skipped) == set(get_type_hints(engine_types.SkippedRows))
    assert source["capture"] == {
        "bytes": 1160 + 41 + 40, "used_bytes": 1160 + 41, "tcp_connections": 2, "tcp_packets": 5,
        "tcp_bytes": 1000, "quic_flows": 0, "quic_packets": 0, "quic_bytes": 0,
        "datagram_flows": 1, "datagram_packets": 1, "datagram_bytes": 41,
    }  # fmt: skip


def test_inspect__prints_the_account(tmp_path: Path) -> None:
    esp = (1000.5, make_tcp_packet(False, 0, 1, 1400, protocol=50))
    console = Console(width=120, record=True, file=(tmp_path / "out").open("w", encoding="utf-8"))
    summary = inspect_files(tmp_path, a=make_pcap([*make_connection(1000, 1000), esp]))
    print_document(console, show.make_summary_document(summary))
    printed = console.export_text()
    assert "pcap, 5 rows, 5 used: 100 % of 2.6 kB" in printed
    assert "1 flow, 1 packet, 1.44 kB with the data, 0 B against it, replayed as recorded" in printed
    assert "1 tunnel of IPsec with 55 % of its bytes: what is inside cannot be distinguished" in printed


def make_call(seconds: int) -> list[Packet]:
    """Returns a call: 50 packets of 200 B a second each way, those of the client 5 ms later."""
    ways = [
        (k / 50 + (0.005 if up else 0), make_udp_packet(up, 172))
        for k in range(50 * seconds)
        for up in (False, True)
    ]
    return [(1000 + at, packet) for at, packet in ways]


def test_compare__a_capture_of_datagrams_alone(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(make_pcap(make_call(20)))
    options = {"rate": "150kbit", "duration": "10s", "warmup": "1s", "seeds": 2, "quick": True}
    found = mousehole.compare(str(tmp_path / "a"), schemes="droptail,fq-codel", load=0.9, **options)
    figures = {row["what"]: row["value"] for row in found.groups.to_dicts() if row["scheme"] == "droptail"}
    assert figures["delay_p95_s"] > 0.04
    assert 0 <= figures["loss_share"] < 0.5
    text = found.markdown()
    assert "nothing usable" not in text
    assert "ends of only" not in text
    assert "larger than the bandwidth-delay product" not in text
    assert "did exactly the same" not in text


def test_read__flows_of_datagrams_and_back(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(make_pcap([*make_connection(1000, 1000), *make_call(4)]))
    frame = mousehole.read(str(tmp_path / "a"))
    flow = frame.filter(frame["is_datagrams"]).to_dicts()[0]
    sums = ("packets", "bytes", "reverse_packets", "reverse_bytes")
    assert [flow[name] for name in sums] == [200, 40_000, 200, 40_000]
    kinds = mousehole.inspect(frame)["kinds"]
    names = (
        "datagram_flows",
        "datagram_packets",
        "datagram_bytes",
        "datagram_reverse_bytes",
        "tcp_connections",
    )
    assert [kinds[name] for name in names] == [1, 400, 40_000, 40_000, 1]
    row = {
        "start_s": 1.0,
        "client": "a",
        "duration_s": 2.0,
        "datagrams": {"reverse_packets": 100, "reverse_bytes": 9000},
    }
    summary = mousehole.inspect([row])
    assert (summary["kinds"]["datagram_reverse_bytes"], summary["wire_bytes"], summary["span_s"]) == (
        9000,
        0,
        2.0,
    )
    with pytest.raises(mousehole.MouseholeError, match="a column packets"):
        mousehole.inspect(frame.drop("packets"))
    with pytest.raises(mousehole.MouseholeError, match="datagrams"):
        mousehole.inspect([{"start_s": 1.0, "datagrams": {"packets": 0}}])


def test_inspect__fragments_and_ipv6_are_packets_of_their_flows(tmp_path: Path) -> None:
    whole = make_udp_packet(False, 2000)
    ip, content = whole[:20], whole[20:]
    parts = [(0x2000, content[:1480]), (1480 // 8, content[1480:])]
    fragments = [
        ip[:2] + struct.pack("!HHH", 20 + len(part), 7, place) + ip[8:] + part for place, part in parts
    ]
    ends = bytes.fromhex("20010db8000000000000000000000001") + bytes.fromhex(
        "20010db8000000000000000000000002"
    )
    v6 = struct.pack("!IHBB", 0x60000000, 108, 17, 64) + ends + struct.pack("!HHHH", 50_000, 53, 108, 0)
    packets = [(1000.0, fragments[0]), (1000.1, fragments[1]), (1000.2, v6 + bytes(100))]
    summary = inspect_files(tmp_path, a=make_pcap(packets))
    names = ("datagram_flows", "datagram_packets", "datagram_bytes", "datagram_reverse_bytes")
    assert [summary["kinds"][name] for name in names] == [2, 3, 2008 + 2 * 20, 148]
    assert summary["skipped"] == []
