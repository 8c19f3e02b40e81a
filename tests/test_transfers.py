"""The witness of single transfers: its network and verdicts on known numbers; as root a short run."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from validation import transfers, witness
from validation.lab.paths import Connection, Segment
from validation.lab.paths import Path as NetworkPath
from validation.transfers import Cell, Compared, Overflow, Row

needs_lab = pytest.mark.skipif(witness.find_obstacle() is not None, reason=str(witness.find_obstacle()))


def make_connection(loss: float = 0.0, size: int = 3000) -> Connection:
    """Returns a connection that sends two answers, of `size` and 1000 bytes, with this share of losses."""
    return Connection(NetworkPath(8_000_000, 2, 0.02, loss), [size, 1000], random.Random(1))  # noqa: S311, losses


def make_data(number: int, payload: int, flags: int = 0x10) -> Segment:
    """Returns a segment from the server."""
    return Segment((5201, 20_000), number, flags, payload)


def test_departure__is_that_of_a_fifo() -> None:
    path = make_connection()
    # A packet of 1000 bytes takes a millisecond; one is in transmission and two wait.
    departures = [path.departure(0.0, 1000) for _ in range(4)]
    assert departures == [pytest.approx(0.001), pytest.approx(0.002), pytest.approx(0.003), None]
    assert path.overflowed == 1
    assert path.departure(0.0015, 1000) == pytest.approx(0.004)


def test_departure__loses_the_share_that_it_is_given() -> None:
    path = make_connection(loss=0.05)
    lost = sum(path.departure(float(second), 1000) is None for second in range(10_000))
    assert lost == path.lost
    assert lost == pytest.approx(500, abs=100)


def test_on_data__completes_with_the_last_byte_in_any_order() -> None:
    path = make_connection(size=3000)
    path.on_data(make_data(0xFFFF_FFFE, 0, flags=0x12), 0.0)
    first = 0xFFFF_FFFF
    for when, (begin, payload) in enumerate([(0, 1000), (2000, 1000), (2000, 1000), (1000, 1000)]):
        assert not path.completed
        path.on_data(make_data((first + begin) & 0xFFFF_FFFF, payload), 1.0 + when)
    assert path.completed == [4.0]
    path.on_data(make_data((first + 3000) & 0xFFFF_FFFF, 999), 5.0)
    path.on_data(make_data((first + 3999) & 0xFFFF_FFFF, 1), 6.0)
    assert path.completed == [4.0, 6.0]


def make_ack(number: int) -> Segment:
    """Returns an acknowledgement of the client."""
    return Segment((20_000, 5201), 1, 0x10, 0, number)


def test_on_ack__counts_segments_until_an_ack_covers_two() -> None:
    path = make_connection(size=9000)
    path.on_ack(make_ack(1))  # of the handshake
    path.on_data(make_data(0, 0, flags=0x12), 0.0)
    path.on_ack(make_ack(1))
    for begin in (1, 1001, 2001, 3001, 4001, 5001):
        path.on_data(make_data(begin, 1000), 1.0)
    for reached, count in [(1001, 1), (2001, 2), (2001, 2), (4001, 2), (5001, 2)]:
        path.on_ack(make_ack(reached))
        assert path.single_acks == count


def test_parse__reads_a_segment_and_refuses_the_rest() -> None:
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 60, 0, 0, 64, 6, 0, bytes(4), bytes(4))
    tcp = struct.pack(">HHIIBBHHH", 5201, 20_001, 7, 5, 0x80, 0x12, 0, 0, 0) + bytes(12)
    packet = ip + tcp + bytes(8)
    assert Segment.parse(packet) == Segment((5201, 20_001), 7, 0x12, 8, 5)
    assert Segment.parse(b"\x60" + packet[1:]) is None
    assert Segment.parse(packet[:30]) is None


@pytest.mark.parametrize(
    ("simulated", "verdict"), [((1.0, 1.1), "agrees"), ((0.4, 2.4), "undecided"), ((1.5, 1.6), "DIFFERS")]
)
def test_verdict__needs_the_whole_interval(simulated: tuple[float, float], verdict: str) -> None:
    linux = np.tile([0.9, 1.1], 20)
    compared = Compared.pair(linux, np.tile(simulated, 4), None)
    assert compared.verdict == verdict
    assert compared.low <= compared.difference <= compared.high


def test_fails__unless_it_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Cell(10_000, 0.01, 0.05)
    monkeypatch.setattr(transfers, "KNOWN", [known])
    apart = Compared(1.0, 1.5, 0.4, 0.6)
    close = Compared(1.0, 1.0, -0.1, 0.1)
    assert transfers.is_unexpected(Row(Cell(1_000, 0.01, 0.05), close, apart, 0))
    assert not transfers.is_unexpected(Row(known, apart, apart, 0))
    assert not transfers.is_unexpected(Row(Cell(1_000, 0.01, 0.05), close, close, 0))


def test_simulated_times__are_those_of_the_path() -> None:
    (seconds,) = transfers.simulate(Cell(1_000, 0.0, 0.2), "linux")
    assert seconds == pytest.approx(0.4 + 1052 * 8 / 10e6, abs=1e-3)


def test_overflows__a_quarter_may_differ() -> None:
    close = Overflow(Cell(8_000, 0.0, 0.05, 3, 4), [0.30, 0.31, 0.50], 0.32, [2, 2, 1], 2)
    apart = Overflow(Cell(14_000, 0.0, 0.05, 3, 2), [0.60, 0.61, 0.62], 0.42, [7, 7, 7], 6)
    assert close.agrees
    assert not apart.agrees
    assert not transfers.too_many_differ([close] * 3 + [apart])
    assert transfers.too_many_differ([close] * 2 + [apart])
    text = transfers.write_overflows([close, apart])
    assert "In 2 cases packets were lost; in 1 of them" in text.replace("\n", " ")
    assert "| 14 kB | 2 | 50 ms | 600, 610, 620 | 420 | -31 % | 7, 7, 7 | 6 |" in text
    assert "8 kB | 4" not in text


@needs_lab
def test_lab__transfers_overflow_a_small_buffer() -> None:
    """Half of the first window is lost in a row; both repair it in fast recovery."""
    cells = [Cell(20_000, 0.0, 0.05, 5, buffer) for buffer in (4, 100)]
    (lossy,) = transfers.measure_overflows(cells, limit_s=20)
    assert lossy.cell == cells[0]
    # A busy machine delays some of them; the others agree.
    assert lossy.simulated_drops in lossy.linux_drops
    assert min(abs(seconds - lossy.simulated_s) for seconds in lossy.linux_s) < 0.03


@needs_lab
def test_lab__answers_that_follow_losses_on_a_connection() -> None:
    """The receiver delays ACKs between requests, and the sender's window is what the losses left."""
    cells = [Cell(14_000, 0.0, 0.05, 5, buffer, (12_000, 12_000)) for buffer in (4, 100)]
    (lossy,) = transfers.measure_following_answers(cells, limit_s=20)
    assert lossy.cell == cells[0]
    assert min(abs(seconds - lossy.simulated_s) for seconds in lossy.linux_s) < 0.03
    assert "14 kB" in transfers.write_following([replace(lossy, simulated_s=9.0)])


@needs_lab
def test_lab__a_receiver_acknowledges_many_segments_one_by_one() -> None:
    cell = Cell(500_000, 0.0, 0.02, 2, 1000)
    counts = transfers.count_single_acks([cell], limit_s=20)[cell]
    assert all(16 < count <= 500_000 / 1448 + 1 for count in counts)
    assert f"500 kB, 20 ms: {min(counts)}" in transfers.write_single_acks({cell: counts})


@needs_lab
def test_lab__small_transfers_take_two_round_trips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfers, "TRANSFERS_WITHOUT_LOSS", {1_000: 5, 10_000: 5})
    before = Path("/proc/net/dev").read_text().splitlines()[2:]
    cells = [Cell(1_000, 0.0, 0.05), Cell(10_000, 0.0, 0.05)]
    part = transfers.measure(cells, "cubic", "linux", limit_s=20)
    assert [row.unfinished for row in part.rows] == [0, 0]
    for row in part.rows:
        assert row.mean.linux_s == pytest.approx(row.mean.simulated_s, abs=0.02)
        assert row.mean.linux_s > 0.1
    after = Path("/proc/net/dev").read_text().splitlines()[2:]
    assert [line.split(":")[0] for line in after] == [line.split(":")[0] for line in before]
