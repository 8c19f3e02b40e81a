"""The classes of recorded flows: of captures and logs, against what users say, and as groups of results."""

import json
import struct
import subprocess
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address
from pathlib import Path

import mousehole
import polars
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import MODULE

CLIENT, SERVER = "192.0.2.10", "198.51.100.9"
Packet = tuple[float, bytes]


def run_command(*arguments: str, cwd: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    """Runs the command; asserts its exit status."""
    done = subprocess.run([*MODULE, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    return done


def make_ip_packet(source: str, target: str, protocol: int, content: bytes, length: int) -> bytes:
    """Returns an IPv4 packet with `length` bytes after its header, of which `content` was captured."""
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, protocol, 0)
    return head + IPv4Address(source).packed + IPv4Address(target).packed + content


def make_udp_packet(
    at: float, from_client: bool, payload: int, head: bytes = b"", hosts: tuple[str, str] = (CLIENT, SERVER)
) -> Packet:
    """Returns a datagram between two hosts at a time; its payload begins with `head`, the rest is cut off."""
    ends = list(zip(hosts, (50_000, 50_002), strict=True))
    (source, source_port), (target, target_port) = ends if from_client else reversed(ends)
    header = struct.pack("!HHHH", source_port, target_port, 8 + payload, 0)
    return at, make_ip_packet(source, target, 17, header + head[:payload], 8 + payload)


def make_tcp_packet(at: float, from_client: bool, flags: int, seq: int, payload: int = 0) -> Packet:
    """Returns a segment between client and server at a time, whose payload is cut off."""
    ends = [(CLIENT, 40_000), (SERVER, 8443)]
    (source, source_port), (target, target_port) = ends if from_client else reversed(ends)
    header = struct.pack("!HHIIBBHHH", source_port, target_port, seq, 1, 0x50, flags, 1000, 0, 0)
    return at, make_ip_packet(source, target, 6, header, 20 + payload)


def make_pcap(packets: list[Packet]) -> bytes:
    """Returns a capture of raw IP, in the order of time; packets may be cut off."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    for at, packet in sorted(packets):
        length = struct.unpack("!H", packet[2:4])[0]
        out += (
            struct.pack("<IIII", *divmod(round((1000 + at) * 1e6), 1_000_000), len(packet), length) + packet
        )
    return out


def make_connection(packets: Iterator[tuple[float, bool, int]]) -> list[Packet]:
    """Returns a TCP connection that carries these payloads at these times."""
    made = [
        make_tcp_packet(0, True, 0x02, 99),
        make_tcp_packet(0.02, False, 0x12, 899),
        make_tcp_packet(0.04, True, 0x10, 100),
    ]
    seq = {True: 100, False: 900}
    for at, from_client, payload in packets:
        made.append(make_tcp_packet(0.05 + at, from_client, 0x18, seq[from_client], payload))
        seq[from_client] += payload
    return made


def make_call(hosts: tuple[str, str] = (CLIENT, SERVER)) -> list[Packet]:
    """Returns a call of ten seconds: packets of RTP every 20 ms each way."""
    return [
        make_udp_packet(n / 50, side, 172, b"\x80\0" + bytes(10), hosts=hosts)
        for n in range(500)
        for side in (True, False)
    ]


def make_game(hosts: tuple[str, str] = (CLIENT, SERVER)) -> list[Packet]:
    """Returns a game of ten seconds: 60 small packets a second upwards, 20 larger ones downwards."""
    up = [make_udp_packet(n / 60, True, 40 + n * 13 % 30, hosts=hosts) for n in range(600)]
    return up + [make_udp_packet(n / 20, False, 80 + n * 29 % 150, hosts=hosts) for n in range(200)]


def make_video(hosts: tuple[str, str] = (CLIENT, SERVER)) -> list[Packet]:
    """Returns a video call of ten seconds: 30 frames a second each way, each of several packets."""
    sides = (True, False)
    frames = [(n, k, side) for n in range(300) for k in range(2 + n % 4) for side in sides]
    return [make_udp_packet(n / 30 + k / 2000, side, 1100, hosts=hosts) for n, k, side in frames]


def make_login() -> list[Packet]:
    """Returns a terminal session: key strokes with their echoes, and a longer answer after every eighth."""

    def keys() -> Iterator[tuple[float, bool, int]]:
        for n in range(80):
            at = n * 0.18 + n // 8 * 2.5
            yield at, True, 36
            yield at + 0.04, False, 36 + 80 * (n % 8 == 7)

    return make_connection(keys())


def make_stream() -> list[Packet]:
    """Returns a stream: a request and a chunk of 560 kB every four seconds."""

    def chunks() -> Iterator[tuple[float, bool, int]]:
        for n in range(5):
            yield 4.0 * n, True, 400
            yield from ((4.0 * n + 0.05 + k / 5000, False, 1400) for k in range(400))

    return make_connection(chunks())


def make_bulk() -> list[Packet]:
    """Returns a download of 1.26 MB in one connection."""
    return make_connection(iter([(0.0, True, 300), *((0.05 + k / 5000, False, 1400) for k in range(900))]))


def make_page() -> list[Packet]:
    """Returns a connection with 30 requests, each with an answer of nine segments."""
    pairs = ((n, k) for n in range(30) for k in range(10))
    return make_connection((n / 20 + k / 1000, k == 0, 400 if k == 0 else 1400) for n, k in pairs)


def make_esp() -> list[Packet]:
    """Returns 200 packets of ESP, alternately in both directions."""
    ends = (CLIENT, SERVER), (SERVER, CLIENT)
    return [(n / 100, make_ip_packet(*ends[n % 2], 50, bytes(16), 200)) for n in range(200)]


QUERY, ANSWER = bytes([7, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]), bytes([7, 9, 0x81, 0x80, 0, 1, 0, 2, 0, 0, 0, 0])
CAPTURES = {
    "call": make_call(),
    "game": make_game(),
    "video-call": make_video(),
    "login": make_login(),
    "stream": make_stream(),
    "transfer": make_bulk(),
    "page": make_page(),
    "dns": [make_udp_packet(0, True, 40, QUERY), make_udp_packet(0.02, False, 90, ANSWER)],
    "vpn": make_esp(),
}
OPENVPN = [
    make_udp_packet(0, True, 14, bytes([7 << 3]) * 14),
    make_udp_packet(0.03, False, 26, bytes([8 << 3]) * 26),
]
WIREGUARD = [make_udp_packet(0, True, 148, b"\1\0\0\0"), make_udp_packet(0.03, False, 92, b"\2\0\0\0")]


def count_classes(folder: Path, content: bytes, **options: object) -> dict[str, int]:
    """Returns the number of flows by class that `inspect` finds in a capture."""
    (folder / "in.pcap").write_bytes(content)
    found = mousehole.inspect(folder / "in.pcap", **options)["flow_classes"]  # type: ignore[arg-type]
    return {count["class"]: count["flows"] for count in found}


@pytest.mark.parametrize("name", CAPTURES)
def test_capture__has_its_class(name: str, tmp_path: Path) -> None:
    assert count_classes(tmp_path, make_pcap(CAPTURES[name])) == {name: 1}


@pytest.mark.parametrize("packets", [OPENVPN, WIREGUARD])
def test_tunnel__by_its_handshake(packets: list[Packet], tmp_path: Path) -> None:
    assert count_classes(tmp_path, make_pcap(packets)) == {"vpn": 1}


TWO_HOSTS = st.lists(st.ip_addresses(v=4).map(str), min_size=2, max_size=2, unique=True)


@settings(max_examples=10, deadline=None)
@given(kind=st.sampled_from([make_call, make_game, make_video]), hosts=TWO_HOSTS)
def test_class__does_not_depend_on_the_hosts_names(
    tmp_path_factory: pytest.TempPathFactory, kind: Callable[..., list[Packet]], hosts: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("hosts")
    expected = count_classes(folder, make_pcap(kind()))
    assert count_classes(folder, make_pcap(kind((hosts[0], hosts[1])))) == expected


ZEEK = """#separator \\x09
#path\tconn
#fields\tts\tuid\tid.orig_h\tid.orig_p\tid.resp_h\tid.resp_p\tproto\tservice\tduration\torig_bytes\tresp_bytes
1000.0\tC1\t192.0.2.10\t40000\t198.51.100.9\t443\ttcp\tssl\t2.0\t900\t30000
1001.0\tC2\t192.0.2.10\t40001\t198.51.100.9\t443\ttcp\tssl\t9.0\t900\t30000000
"""
NFDUMP_ROWS = [
    ("00.500", "59.500", "59.000", "40000,198.51.100.9,22", "400,32000,400,40000"),
    ("01.500", "03.500", "2.000", "40001,198.51.100.9,443", "20,2000,30,40000"),
]
NFDUMP = "ts,te,td,sa,sp,da,dp,pr,ipkt,ibyt,opkt,obyt\n" + "".join(
    f"2024-01-01 00:00:{begin},2024-01-01 00:00:{end},{span},192.0.2.10,{ends},TCP,{amounts}\n"
    for begin, end, span, ends, amounts in NFDUMP_ROWS
)


@pytest.mark.parametrize(
    ("text", "expected"), [(ZEEK, {"page": 1, "transfer": 1}), (NFDUMP, {"login": 1, "page": 1})]
)
def test_logs__have_classes_by_their_totals(text: str, expected: dict[str, int], tmp_path: Path) -> None:
    assert count_classes(tmp_path, text.encode()) == expected


@pytest.mark.parametrize("text", [make_pcap(make_bulk()).hex(), ZEEK.encode().hex(), NFDUMP.encode().hex()])
def test_correction__holds_for_every_source(text: str, tmp_path: Path) -> None:
    found = count_classes(tmp_path, bytes.fromhex(text), class_="net 198.51.100.0/24 and proto tcp=stream")
    assert set(found) == {"stream"}
    hidden = '"proto tcp=call" classifies no flow, as "net 198.51.100.0/24=page" comes first'
    with pytest.raises(mousehole.MouseholeError, match=hidden):
        count_classes(tmp_path, bytes.fromhex(text), class_=["net 198.51.100.0/24=page", "proto tcp=call"])
    with pytest.raises(mousehole.MouseholeError, match=r"port 9=call.*matches no flow"):
        count_classes(tmp_path, bytes.fromhex(text), class_=["proto tcp=page", "port 9=call"])


@pytest.mark.parametrize(
    ("given_class", "sentence"),
    [
        ("port 50002=cal", 'did you mean "call"?'),
        ("port 50002", "is no correction"),
        ("port 0=call", "a port from 1 to 65535"),
        ("prot udp=call", 'did you mean "port"?'),
        ("port 9=call", "matches no flow"),
    ],
)
@pytest.mark.parametrize("command", [["inspect"], ["compare", "--rate", "1mbit"]])
def test_class__refuses_in_one_sentence(
    command: list[str], given_class: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "in.pcap").write_bytes(make_pcap(make_call()))
    done = run_command(command[0], "in.pcap", *command[1:], "--class", given_class, cwd=tmp_path, status=2)
    assert "--class: " in done.stderr
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not done.stdout


def test_class__is_for_files_only(tmp_path: Path) -> None:
    done = run_command("inspect", "web:sfd", "--class", "port 1=call", cwd=tmp_path, status=2)
    assert "not read from files" in done.stderr


def test_inspect__shows_flows_bytes_and_share(tmp_path: Path) -> None:
    (tmp_path / "in.pcap").write_bytes(make_pcap([*make_page(), *make_call()]))
    shown = run_command("inspect", "in.pcap", cwd=tmp_path).stdout
    assert "call: 1 flow, 100 kB" in shown
    assert "page: 1 flow, 378 kB" in shown
    made = json.loads(run_command("inspect", "in.pcap", "--json", "-", cwd=tmp_path).stdout)["flow_classes"]
    assert [set(count) for count in made] == [{"class", "flows", "bytes", "share"}] * 2
    assert sum(count["share"] for count in made) == pytest.approx(1)
    frame = mousehole.read(tmp_path / "in.pcap")
    assert sorted(frame["flow_class"]) == ["call", "page"]


def test_inspect__a_frame_keeps_the_classes_of_its_flows(tmp_path: Path) -> None:
    (tmp_path / "in.pcap").write_bytes(make_pcap([*make_page(), *make_call()]))
    frame = mousehole.read(tmp_path / "in.pcap")
    kept = mousehole.inspect(frame)["flow_classes"]
    assert {one["class"]: one["flows"] for one in kept} == {"call": 1, "page": 1}
    with pytest.raises(mousehole.MouseholeError, match=r"flow_class.*\"voip\".*call, game"):
        mousehole.inspect(frame.with_columns(flow_class=polars.lit("voip")))
    with pytest.raises(mousehole.MouseholeError, match=r"row 0 .*column flow_class.*a class of flows"):
        mousehole.inspect(frame.with_columns(flow_class=polars.lit(3)))


@pytest.mark.parametrize(
    ("packets", "size", "reverse_size", "name"),
    [(50, 200, 200, "call"), (60, 150, 90, "game"), (90, 1100, 1100, "video-call"), (5, 700, 700, "other")],
)
def test_inspect__sums_of_a_frame_show_the_class(
    packets: int, size: int, reverse_size: int, name: str
) -> None:
    count = 20 * packets
    flow = {
        "start_s": [0.0], "client": ["a"], "bytes": [count * size], "duration_s": [20.0],
        "is_datagrams": [True], "packets": [count], "reverse_packets": [count],
        "reverse_bytes": [count * reverse_size],
    }  # fmt: skip
    (found,) = mousehole.inspect(polars.DataFrame(flow))["flow_classes"]
    assert (found["class"], found["flows"]) == (name, 1)


def test_compare__groups_a_capture_by_class(tmp_path: Path) -> None:
    (tmp_path / "in.pcap").write_bytes(make_pcap([*make_page(), *make_bulk_elsewhere(), *make_call()]))
    options = {"rate": "5mbit", "schemes": "sfd", "duration": "20s", "warmup": "1s", "seeds": 2, "jobs": 1}
    found = mousehole.compare(tmp_path / "in.pcap", **options)
    groups = {(group, what) for group, what in found.groups.select("group", "what").iter_rows()}
    assert {
        ("calls", "delay_p95_s"),
        ("pages", "response_mean_s"),
        ("transfers", "response_mean_s"),
    } <= groups
    corrected = mousehole.compare(tmp_path / "in.pcap", class_="port 50002=game", **options)
    assert ("games", "delay_p95_s") in set(corrected.groups.select("group", "what").iter_rows())


def test_compare__judges_a_recorded_video_call_by_delay_and_loss(tmp_path: Path) -> None:
    (tmp_path / "in.pcap").write_bytes(make_pcap(make_video()))
    options = {"duration": "5s", "warmup": "1s", "schemes": "fq-codel", "seeds": 5}
    found = mousehole.compare(tmp_path / "in.pcap", down="20mbit", up="20mbit", **options)
    assert next(found.findings.select("endpoint").iter_rows()) == ("video_calls_delay_p95_s",)
    rows = found.groups.select("what", "is_primary").iter_rows()
    assert {"delay_p95_s", "loss_share"} <= {what for what, is_primary in rows if is_primary}


@pytest.mark.parametrize("is_given", [False, True])
def test_compare__judges_a_tunnel_by_delay_and_loss(tmp_path: Path, *, is_given: bool) -> None:
    """By its protocol, or by a correction of what does not show what it is."""
    (tmp_path / "in.pcap").write_bytes(make_pcap(make_video() if is_given else make_esp()))
    options = {"duration": "5s", "warmup": "1s", "schemes": "fq-codel", "seeds": 5}
    correction = "proto udp=vpn" if is_given else None
    found = mousehole.compare(
        tmp_path / "in.pcap", down="20mbit", up="20mbit", class_=correction, veto="VPN p95 +1ms", **options
    )
    assert next(found.findings.select("endpoint").iter_rows()) == ("vpn_delay_p95_s",)
    rows = found.groups.select("what", "is_primary").iter_rows()
    assert {what for what, is_primary in rows if is_primary} == {"delay_p95_s", "loss_share"}


def make_bulk_elsewhere() -> list[Packet]:
    """Returns the download with another server, so that it is no part of the page's connection."""
    other = IPv4Address("203.0.113.5").packed
    return [
        (at, packet[:12] + _replace_server(packet[12:20], other) + packet[20:]) for at, packet in make_bulk()
    ]


def _replace_server(ends: bytes, other: bytes) -> bytes:
    """Returns two addresses with the server's replaced by another."""
    return ends.replace(IPv4Address(SERVER).packed, other)


def test_names__are_escaped_wherever_they_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "a\nb\x1b[31m.csv"
    path.write_text("start,client,bytes\n1,a,2000\n2,b,3000\n")
    done = run_command("inspect", path.name, cwd=tmp_path)
    assert "\x1b" not in done.stdout
    assert done.stdout.startswith(r"a\nb\u{1b}[31m.csv: 2 connections")


def test_counts__of_one_have_the_singular(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("start,client,bytes\n1,a,2000\n")
    told = run_command("inspect", "one.csv", cwd=tmp_path).stdout
    assert "1 row, 1 used" in told
    assert "1 with 1 transfer" in told
    assert "1 transfers" not in told
