"""The short form of `make validation WHAT=hostile` and WHAT=strangers, and bad samples for their checks."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from validation import hostile, payload, strangers
from validation.hostile import Ending, list_faults
from validation.hostile_cases import KINDS, draw_tries
from validation.hostile_try import CSV, Try

pytestmark = pytest.mark.alone  # it waits for processes
DATA = Path(os.environ.get("MOUSEHOLE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
SENTENCE = "mousehole: error: --rate: no\n"


def test_hostile__no_fault_in_a_short_form() -> None:
    counts, found = hostile.run_tries(draw_tries(70, 3))
    assert set(counts) == set(KINDS)
    assert {kind: dict(faults) for kind, faults in found.items() if faults} == {}


def test_tries__are_those_of_their_seed() -> None:
    assert draw_tries(50, 1) == draw_tries(50, 1) != draw_tries(50, 2)


@pytest.mark.parametrize(
    ("status", "err", "out", "files", "fault"),
    [
        (1, "Traceback (most recent call last):\n", b"", {}, "traceback"),
        (70, "mousehole: error: a fault of mousehole itself\n", b"", {}, "traceback"),
        (-11, "", b"", {}, "signal"),
        (None, "", b"", {}, "no end"),
        (3, SENTENCE, b"", {}, "wrong status"),
        (2, "", b"", {}, "no sentence"),
        (2, SENTENCE * 2, b"", {}, "several lines"),
        (2, f"mousehole: error: {'x' * 9000}\n", b"", {}, "several lines"),
        (0, "", "\u202e".encode(), {}, "raw control characters"),
        (2, SENTENCE + "\x1b]0;", b"", {}, "raw control characters"),
        (0, "", b"a\x9b31m", {}, "raw control characters"),
        (0, "\udc9b", b"", {}, "raw control characters"),
        (0, "", b"", {"o.json": b'{"a":'}, "half-written"),
        (0, "", b"", {".o.0.part.html": b"</html>"}, "half-written"),
        (0, "", b"", {"o.png": b"\x89PNG"}, "half-written"),
    ],
)
def test_faults_of__bad_endings(
    status: int | None, err: str, out: bytes, files: dict[str, bytes], fault: str
) -> None:
    assert fault in list_faults(Try("kind", ("compare",)), Ending(status, out, err, files, False))


def test_faults_of__a_letter_with_the_byte_of_a_control_character() -> None:
    assert list_faults(Try("kind", ("compare",)), Ending(0, "\u06db".encode(), "", {}, False)) == []


def test_faults_of__refusals_and_inputs() -> None:
    tried = Try("kind", ("compare",), is_refused=True)
    assert list_faults(tried, Ending(2, b"", SENTENCE, {}, False)) == []
    assert list_faults(tried, Ending(0, b"", "", {}, False)) == ["silent success"]
    assert list_faults(tried, Ending(2, b"", SENTENCE, {}, True)) == ["input changed"]


def test_faults_of__a_progress_bar_before_the_sentence_is_none() -> None:
    moved = "\x1b[?25lruns \x1b[90m--\x1b[0m\n\x1b[?25h\r\x1b[1A\x1b[2K" + SENTENCE
    assert list_faults(Try("kind"), Ending(2, b"", moved, {}, False)) == []


def test_play__code_and_kills_and_limits(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    code = Try("kind", code="mousehole.inspect('no.csv')")
    ended = hostile.run_try(code, folder)
    assert (ended.status, ended.err) == (2, "mousehole: error: no.csv: no such file\n")
    assert list_faults(code, hostile.run_try(Try("kind", code="1 / 0"), folder)) == ["traceback"]
    gone = Try("kind", code="assert 'HOME' not in __import__('os').environ", environment={"HOME": None})
    assert hostile.run_try(gone, folder).status == 0
    killed = Try(
        "kind", ("inspect", "in.csv", "--json", "o.json"), {"in.csv": CSV.encode()}, kill_after_s=0.0
    )
    ended = hostile.run_try(killed, folder)
    assert (ended.status, set(ended.new_files)) == (0, {"o.json"})


def test_play__tells_how_a_command_ends(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    files = {"in.csv": CSV.encode()}
    ended = hostile.run_try(Try("kind", ("inspect", "in.csv", "--json", "o.json"), files), tmp_path / "work")
    assert (ended.status, set(ended.new_files), ended.is_input_changed) == (0, {"o.json"}, False)
    assert b"connections" in ended.out
    ended = hostile.run_try(Try("kind", ("inspect", "no.csv"), files), tmp_path / "work")
    assert (ended.status, ended.err) == (2, "mousehole: error: no.csv: no such file\n")


def test_strangers__both_counts_of_the_shared_captures_are_equal() -> None:
    if not DATA.is_dir():
        pytest.skip("no folder of real traffic")
    rows = strangers.read_rows(DATA / "pcap")
    verdicts = [row.verdict for row in rows]
    assert verdicts.count(strangers.DIFFERS) == 0, strangers.write_table(rows)
    assert verdicts.count(strangers.SAME) >= 15


def make_record(sequence: int, content: bytes, flags: int = 0x10) -> bytes:
    """Returns a pcap record of a TCP segment."""
    tcp = struct.pack(">HHIIBBHHH", 443, 5000, sequence % (1 << 32), 1, 0x50, flags, 1000, 0, 0)
    ends = bytes([192, 0, 2, 1, 10, 0, 0, 1])
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(content), 0, 0, 64, 6, 0) + ends
    frame = bytes(12) + b"\x08\x00" + ip + tcp + content
    return struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame


def test_payload__counts_repetitions_once_and_wraps(tmp_path: Path) -> None:
    file = tmp_path / "a.pcap"
    head = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    begin = (1 << 32) - 100
    packets = [
        make_record(begin - 1, b"", 0x02), make_record(begin, bytes(150)), make_record(begin, bytes(150)),
        make_record(begin + 120, bytes(80)), make_record(7_000, b"", 0x02), make_record(7_001, bytes(10)),
    ]  # fmt: skip
    file.write_bytes(head + b"".join(packets))
    assert payload.count_payload(file) == payload.Count(2, 210)
    assert strangers.read_row(file).verdict == strangers.SAME
    file.write_bytes(file.read_bytes()[:-5])
    with pytest.raises(payload.OtherFormatError, match="middle of a packet"):
        payload.count_payload(file)
    wrong = strangers.Row("a", (1, 2), (1, 3))
    assert wrong.verdict == strangers.DIFFERS
    assert "**differs**" in strangers.write_table([wrong])
