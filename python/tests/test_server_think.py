"""How long servers think: by option, by default, and as captures tell it."""

import struct
from pathlib import Path

import mousehole
import numpy as np
import pytest
from mousehole import MouseholeError, _engine

ACK, SYN = 0x10, 0x02
CLIENT, SERVER = (0x0A000001, 5000), (0x0A000002, 80)


def make_packet(at_ms: int, is_request: bool, flags: int, seq: tuple[int, int], payload: int = 0) -> bytes:
    """Returns a record of a pcap file of raw IPv4: a segment of TCP between the two hosts."""
    (source, port), (target, to_port) = (CLIENT, SERVER) if is_request else (SERVER, CLIENT)
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0, source, target)
    tcp = struct.pack(">HHIIBBHHH", port, to_port, *seq, 0x50, flags, 1000, 0, 0)
    content = ip + tcp + bytes(payload)
    return struct.pack("<IIII", at_ms // 1000, at_ms % 1000 * 1000, len(content), len(content)) + content


def make_capture(think_ms: int) -> bytes:
    """Returns a capture 30 ms of round trip away from a server that thinks for `think_ms`."""
    asked = 41
    packets = [
        make_packet(0, True, SYN, (100, 0)),
        make_packet(30, False, SYN | ACK, (900, 101)),
        make_packet(40, True, ACK, (101, 901)),
        make_packet(asked, True, ACK, (101, 901), 200),
        make_packet(asked + 30, False, ACK, (901, 301)),
        make_packet(asked + 30 + think_ms, False, ACK, (901, 301), 1000),
    ]
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101) + b"".join(packets)


def test_inspect__tells_how_long_servers_think(tmp_path: Path) -> None:
    (tmp_path / "in.pcap").write_bytes(make_capture(25))
    found = mousehole.inspect(tmp_path / "in.pcap")
    assert found["server_think_known"] == 1
    assert found["server_think_s"] == {"p10": 0.025, "p50": 0.025, "p90": 0.025}


def measure_mean_s(**traffic: str) -> float:
    """Returns the mean response time of transfers of 1000 bytes, ten a second, on a fast link."""
    connections = [{"start_s": 0.1 * k, "writes": [{"bytes": 1000}]} for k in range(50)]
    scenario = {
        "schema": "mousehole.scenario/1", "warmup": "0s", "duration": "6s", "tcp": {"profile": "linux"},
        "link": {"rate": "100mbit"}, "traffic": {"connections": connections, **traffic},
    }  # fmt: skip
    columns = _engine.run(scenario, None, _engine.Cancel()).transfers()
    return float(np.mean(np.asarray(columns["end_s"]) - np.asarray(columns["start_s"])))


@pytest.mark.parametrize(("think", "difference_s"), [("0s", -0.006), ("30ms", 0.024)])
def test_server_think__is_added_to_response_times(think: str, difference_s: float) -> None:
    assert measure_mean_s(server_think=think) - measure_mean_s() == pytest.approx(difference_s, abs=1e-5)


@pytest.mark.parametrize(("tcp", "think", "word"), [("linux", "61s", "60s"), ("ns2-2.35", "1ms", "leave it")])
def test_server_think__is_checked(tcp: str, think: str, word: str) -> None:
    with pytest.raises(MouseholeError, match=word):
        mousehole.compare("web:sfd", rate="5mbit", load=0.5, seeds=1, tcp=tcp, server_think=think)
