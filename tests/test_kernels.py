"""Debian's kernels in QEMU: what is fetched, what a guest is given, and how its report is judged."""

from __future__ import annotations

import io
import struct
from math import sqrt
from pathlib import Path
from typing import Any

import pytest

from validation import kernels, kernels_costs, kernels_guest
from validation.kernels import Waits
from validation.kernels_image import Archive, Kernel, find_newest, list_libraries
from validation.lab.streams import Stream, schedule_packets
from validation.live import Figures, FlowList

NAMES = [
    *("linux-image-6.1.0-9-amd64", "linux-image-6.1.0-50-amd64", "linux-image-6.1.0-50-cloud-amd64"),
    *(
        "linux-image-6.12.101+deb12-amd64",
        "linux-image-6.12.9+deb12-amd64",
        "linux-image-6.12.101+deb12-rt-amd64",
    ),
    *("linux-binary-7.2.9+deb13-amd64", "linux-binary-7.2.12+deb13-amd64"),
    *("linux-binary-7.2.12+deb13-cloud-amd64", "linux-binary-7.3.4+deb13-amd64"),
]


@pytest.mark.parametrize(
    ("series", "wanted"),
    [
        ("6.1", "linux-image-6.1.0-50-amd64"),
        ("6.12", "linux-image-6.12.101+deb12-amd64"),
        ("7.2", "linux-binary-7.2.12+deb13-amd64"),
        ("6.6", None),
    ],
)
def test_newest__compares_numbers_within_a_series(series: str, wanted: str | None) -> None:
    assert find_newest(NAMES, series) == wanted


def parse_archive(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Returns mode and content of each entry of an archive, parsed by the description of the format
    `newc`.
    """
    stream = io.BytesIO(data)
    found: dict[str, tuple[int, bytes]] = {}
    while True:
        head = stream.read(110)
        assert head[:6] == b"070701"
        values = [int(head[6 + 8 * index : 14 + 8 * index], 16) for index in range(13)]
        name = stream.read(values[11]).rstrip(b"\0").decode()
        stream.seek(-stream.tell() % 4, 1)
        content = stream.read(values[6])
        stream.seek(-stream.tell() % 4, 1)
        if name == "TRAILER!!!":
            return found
        found[name] = (values[1], content)


def test_archive__has_folders_before_their_files_and_pads() -> None:
    archive = Archive()
    archive.file("/a/b/c", b"12345", 0o644)
    archive.file("/a/d", b"", 0o755)
    archive.file("/a/d", b"a second time", 0o755)
    found = parse_archive(archive.whole())
    assert list(found) == ["a", "a/b", "a/b/c", "a/d"]
    assert found["a/b/c"] == (0o100644, b"12345")
    assert found["a/b"] == (0o040755, b"")
    assert found["a/d"] == (0o100755, b"")


def test_failed_checks__one_that_says_nothing_has_failed() -> None:
    said: list[dict[str, Any]] = [
        {"kernel": "6.1"},
        {"check": "one", "ok": True, "seen": "fine"},
        {"check": "two", "ok": False, "seen": "0 bytes"},
    ]
    assert kernels.list_failed_checks("6.1", said, ["one", "two", "three"]) == ["6.1 two", "6.1 three"]
    assert kernels.format_check("6.1", said[1]) == "pass  6.1  one: fine"
    assert kernels.format_check("6.1", said[2]) == "FAIL  6.1  two: 0 bytes"


def test_plans__have_a_cake_and_a_marker() -> None:
    for plan in kernels.list_plans():
        first, second = plan["lines"]
        assert f"bandwidth {plan['rate_bps'] // 1000}kbit".replace("000kbit", "mbit") in first
        assert second.startswith("mousehole-live mark DEV ")


def test_checks__have_names_of_their_own() -> None:
    names = [name for name, _ in kernels_guest.list_checks("tcx", plans=kernels.list_plans())]
    assert len(names) == len(set(names))


class Recorded:
    """Frames that a socket gives, one after the other."""

    def __init__(self, frames: list[bytes]) -> None:
        self.frames = frames

    def recv(self, _: int) -> bytes:
        """Returns the next frame, and removes it; raises `BlockingIOError` after the last one."""
        if not self.frames:
            raise BlockingIOError
        return self.frames.pop(0)

    def close(self) -> None:
        """Does nothing."""


def make_frame(tos: int, checksum: int | None = None) -> bytes:
    """Returns a frame with 100 bytes of TCP from the server; its IPv4 checksum is right unless one
    is given.
    """
    head = struct.pack(">BBHHHBBH", 0x45, tos, 140, 0, 0, 64, 6, 0) + bytes([10, 9, 1, 1, 10, 9, 2, 2])
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    right = checksum if checksum is not None else 0xFFFF - total
    return bytes(14) + head[:10] + struct.pack(">H", right) + head[12:] + bytes(12) + b"\x50" + bytes(107)


def test_wire__reads_the_ds_field_and_judges_checksums() -> None:
    wire: Any = kernels_guest.Wire.__new__(kernels_guest.Wire)
    wire.socket = Recorded([make_frame(0), make_frame(4), make_frame(4, 0x1234)])
    seen = wire.take()
    assert [one.tos for one in seen] == [0, 4, 4]
    assert [one.is_sound for one in seen] == [True, True, False]
    assert [one.payload for one in seen] == [100, 100, 100]


def make_run(queue: str, seed: int, simulated: float, measured: float) -> kernels.Run:
    """Returns a run with these means, from which its other figures follow."""

    def figures(mean: float) -> Figures:
        return Figures(mean, mean, 2 * mean, 3 * mean, 7.0, 0)

    waits = {one.name: (Waits(simulated, 0.0), Waits(measured, 0.02)) for one in kernels.STREAMS}
    return kernels.Run("6.12", queue, seed, figures(simulated), figures(measured), 0.3, waits)


def test_compare__holds_the_marked_queue_against_the_plain_one() -> None:
    marked = next(name for name, queue in kernels.QUEUES.items() if queue.plain)
    plain = kernels.QUEUES[marked].plain
    runs = [
        *(make_run(plain, 1, 200, 180), make_run(plain, 2, 220, 200)),
        *(make_run(marked, 1, 100, 99), make_run(marked, 2, 110, 130)),
    ]
    rows = {(row.queue, row.figure): row for row in kernels.compare(runs)}
    mean = rows[marked, "mean"]
    assert mean.gain
    assert mean.gain[0].difference == pytest.approx(-0.5)
    assert mean.gain[1].difference == pytest.approx(sqrt(99 / 180 * 130 / 200) - 1)
    assert rows[plain, "mean"].verdict == "DIFFERS"
    assert rows[marked, "mean"].verdict == "agrees"
    assert rows[plain, "p99"].verdict == "shown only"
    assert marked in kernels.write_text(runs, 30)
    (plain_row, own_row) = (line for line in kernels.write_summary(runs).splitlines() if "| 6.12 |" in line)
    assert plain_row.startswith(f"| {plain} | 6.12 | 190 | – ")
    assert own_row.startswith(f"| {marked} | 6.12 | 114 | -40.2 % ")
    call = next(row for row in kernels.compare_streams(runs) if row.queue == marked)
    assert kernels.list_stream_cells(call)[2:5] == ["call", "105.0", "114.5"]
    assert kernels.list_stream_cells(call)[6:] == ["0 %", "2 %"]


def test_waits__count_lost_packets_and_add_propagation() -> None:
    delays_s: list[float | None] = [0.001 * one for one in range(1, 100)]
    found = Waits.sum_up([*delays_s, None])
    assert found.p95_ms == pytest.approx(95.1 - 1 + 20, abs=0.2)
    assert found.lost == pytest.approx(0.01)


def test_simulate__gives_what_streams_meet() -> None:
    figures, waits = kernels.simulate(kernels.QUEUES["CAKE"], FlowList.draw(1, 5), 5)
    assert set(waits) == {one.name for one in kernels.STREAMS}
    assert all(20 < one.p95_ms < 100 and 0 <= one.lost < 0.1 for one in waits.values())
    assert figures.unfinished == 0


def test_schedule__is_in_order_and_has_every_packet() -> None:
    due = schedule_packets([Stream("a", 0.02, 200), Stream("b", 0.05, 200)], 0.1)
    assert [(number, packet) for _, number, packet in due] == [
        *((0, 0), (1, 0), (0, 1), (0, 2), (1, 1), (0, 3), (0, 4)),
    ]
    assert [one[0] for one in due] == sorted(one[0] for one in due)


def test_runs_of__a_run_that_failed_ends_with_its_reason() -> None:
    said = [{"run": "FQ-CoDel", "seed": 1, "error": "tc: no such qdisc"}]
    with pytest.raises(RuntimeError, match=r"6\.12, FQ-CoDel, list 1: tc: no such qdisc"):
        kernels.pair_runs("6.12", said, {1: FlowList.draw(1, 5)}, 5)


def test_main__says_why_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernels, "find_obstacle", lambda: "there is no QEMU")
    monkeypatch.delenv("CI", raising=False)
    assert kernels.main([]) == 0
    assert "NOT RUN  live-kernels: there is no QEMU" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    assert kernels.main([]) == 1


@pytest.mark.parametrize("words", [["--kernels", "7.2"], ["--queues", "CAKE"]])
def test_parse__writes_the_page_of_all_kernels_and_queues_only(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        kernels.parse_arguments([*words, "--write"])
    assert kernels.parse_arguments(["--write"]).write


def test_libraries__of_a_program_are_there() -> None:
    assert all(path.exists() for path in list_libraries(Path("/bin/sh")))


def test_tasks__have_the_queues_that_are_asked_for() -> None:
    options = kernels.parse_arguments(["--queues", "FQ-CoDel", "--seconds", "5"])
    kernel = Kernel("6.12", "6.12.1", Path("vmlinuz"), Path("modules"))
    first, second = kernels.list_tasks([kernel], options, {1: FlowList.draw(1, 5)})
    assert first[1] == {
        "attachment": "tcx", "native": False, "plans": kernels.list_plans(), "checks": True, "runs": [],
    }  # fmt: skip
    assert [one["name"] for one in second[1]["runs"]] == ["FQ-CoDel"]


def test_tasks__kernels_with_native_queues_check_and_play_these_only() -> None:
    options = kernels.parse_arguments(["--kernels", "7.2", "--seconds", "5"])
    kernel = Kernel("7.2", "7.2.12", Path("vmlinuz"), Path("modules"))
    first, shared, second = kernels.list_tasks([kernel], options, {1: FlowList.draw(1, 5)})
    assert first[1]["native"]
    assert "cpus" not in first[1]
    assert (shared[1]["cpus"], shared[1]["only"]) == (2, kernels_guest.SHARED_CHECK)
    assert [one["name"] for one in second[1]["runs"]] == [
        *("pias --native", "lfp --native", "fq-codel --native"),
    ]
    assert all("--native" in command for one in second[1]["runs"] for command in one["task"]["commands"])
    names = [name for name, _ in kernels_guest.list_checks("tcx", is_native=True)]
    assert names[-1] == "native queues decide as simulated"
    assert all("native" in name for name in names)
    assert any(kernels_guest.OWN in name for name in names)
    assert names.count(kernels_guest.SHARED_CHECK) == 1
    costs = kernels.parse_arguments(["--kernels", "7.2", "--no-checks", "--costs", "--lists", "0"])
    ((_, task),) = kernels.list_tasks([kernel], costs, {})
    assert task["costs"]
    assert not task["checks"]


def test_own_queue__is_that_of_the_document() -> None:
    assert "MH_QUEUE(least_attained," in kernels.read_own_queue()


def test_frames__are_packets_of_as_many_flows() -> None:
    made = kernels_costs.make_frames(kernels_costs.ECT_0)
    assert {one[15] for one in made} == {2}
    lengths = {(len(one), int.from_bytes(one[16:18])) for one in made}
    assert lengths == {(1000, 986)}
    assert len({one[34:36] for one in made}) == len(made) == kernels_costs.FLOWS


@pytest.mark.parametrize(
    "words",
    [
        *(["--queues", "RED"], ["--kernels", "5.4"], ["--seconds", "1"], ["--costs"]),
        *(["--lines", "1 Mb/s"], ["--lines", "--kernels", "6.1"], ["--lines", "--queues", "CAKE"]),
        *(["--lines", "--lists", "0"], ["--lines", "2 Mb/s, 6 downloads", "--write"]),
    ],
)
def test_parse__refuses_what_is_not_known(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        kernels.parse_arguments(words)
    assert words[0] in capsys.readouterr().err
