"""Faults of files, terminals, memory and processes: each has one sentence, and nothing is left half-done."""

import asyncio
import fcntl
import gzip
import json
import multiprocessing
import os
import random
import resource
import signal
import struct
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import mousehole
import polars as pl
import pytest
from mousehole import _engine
from mousehole.base import MouseholeError, escape_controls, output
from mousehole.base import _memory as memory
from support import MODULE as COMMAND

pytestmark = pytest.mark.alone  # processes are forked, and memory is measured

SHORT: dict[str, Any] = {
    "rate": "2mbit", "rtt": "40ms", "schemes": "droptail,sfd", "duration": "3s", "warmup": "0s", "seeds": 2,
    "load": 0.5, "jobs": 1,
}  # fmt: skip
OPTIONS = [word for name, value in SHORT.items() for word in (f"--{name}", str(value))]


def run_command(*words: str, cwd: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs the command in a folder."""
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, capture_output=True, text=True, timeout=240, check=False, **more
    )


def write_rows(count: int, clients: int) -> str:
    """Returns a table of connections of random clients as CSV."""
    draws = random.Random(1)  # noqa: S311 (repeatable)
    lines = (
        f"{number / 50:.3f},10.0.{(host := draws.randrange(clients)) // 250}.{host % 250},"
        f"{int(draws.paretovariate(1.3) * 2000)}\n"
        for number in range(count)
    )
    return "start,client,bytes\n" + "".join(lines)


def make_capture(flows: int, clients: int) -> bytes:
    """Returns a capture of the headers of downloads, one every 20 ms."""
    draws = random.Random(1)  # noqa: S311 (repeatable)
    packets: list[tuple[float, bytes, int]] = []
    for number in range(flows):
        client, server = struct.pack(">BBH", 10, 1, draws.randrange(clients)), bytes([192, 0, 2, 1])
        port, at, size = 20_000 + number % 30_000, number / 50, int(draws.paretovariate(1.3) * 2000)
        segments = [(True, 0x02, 0, 0), (False, 0x12, 0, 0), (True, 0x10, 1, 0)]
        segments += [(False, 0x10, 1 + done, min(1460, size - done)) for done in range(0, size, 1460)]
        for place, (is_up, flags, sequence, length) in enumerate(segments):
            ends, ports = ((client, server), (port, 443)) if is_up else ((server, client), (443, port))
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + length, 0, 0, 64, 6, 0) + ends[0] + ends[1]
            tcp = struct.pack(">HHIIBBHHH", *ports, sequence, 1, 0x50, flags, 1000, 0, 0)
            packets.append((at + 0.02 * min(place, 3), bytes(12) + b"\x08\x00" + ip + tcp, 54 + length))
    packets.sort(key=lambda packet: packet[0])
    head = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 54, 1)
    times = ((divmod(round(at * 1e6), 1_000_000), kept, wire) for at, kept, wire in packets)
    return head + b"".join(struct.pack("<IIII", *at, len(kept), wire) + kept for at, kept, wire in times)


def with_memory_for(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Lets memory be left for this many rows."""
    monkeypatch.setattr(memory, "available_bytes", lambda: count * memory.ROW_BYTES)


@pytest.mark.parametrize(("clients", "unit"), [(3000, "client"), (1, "connection")])
def test_reading__keeps_a_sample_of_what_memory_does_not_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, clients: int, unit: str
) -> None:
    file = tmp_path / "many.csv"
    file.write_text(write_rows(40_000, clients))
    whole = mousehole.inspect(file, rate="100mbit")
    with_memory_for(monkeypatch, 1 << 14)
    sample = mousehole.inspect(file, rate="100mbit")
    assert sample == mousehole.inspect(file, rate="100mbit")
    assert whole["share"] == 1
    assert sample["share"] in (1 / 8, 1 / 16)
    assert 1000 < sample["connections"] <= 8192
    left_out = sum(entry["rows"] for entry in sample["skipped"])
    assert sample["connections"] + left_out == 40_000 == whole["connections"]
    assert any(f"one {unit} in {1 / sample['share']:.0f} is used" in note["text"] for note in sample["notes"])
    assert sample["size_bytes"]["p50"] == pytest.approx(whole["size_bytes"]["p50"], rel=0.05)
    assert sample["native_load"] == pytest.approx(whole["native_load"], rel=0.5)
    if unit == "client":
        kept = mousehole.read(file)["client"].value_counts()["count"].sum()
        assert kept == sample["connections"]


def test_reading__a_sample_of_several_files_does_not_depend_on_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, count in (("a.csv", 20_000), ("b.csv", 9_000)):
        (tmp_path / name).write_text(write_rows(count, 2000))
    with_memory_for(monkeypatch, 1 << 13)
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    one, other = mousehole.read(files), mousehole.read(files[::-1])
    assert one["bytes"].sort().to_list() == other["bytes"].sort().to_list()
    assert 500 < one.height <= 4096


@pytest.mark.parametrize("form", ["csv", "pcap"])
def test_compare__a_sample_gives_the_same_answer_within_its_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    file = tmp_path / f"many.{form}"
    content = write_rows(40_000, 3000).encode() if form == "csv" else make_capture(10_000, 3000)
    file.write_bytes(content)
    options = {**SHORT, "duration": "12s", "seeds": 5, "load": 0.9}
    whole = mousehole.compare(file, **options).findings.to_dicts()[0]
    with_memory_for(monkeypatch, 1 << 14)
    with pytest.raises(MouseholeError, match="memory holds only one client in"):
        mousehole.compare(file, **{**options, "load": None})
    sample = mousehole.compare(file, **options).findings.to_dicts()[0]
    assert sample["change_low"] <= whole["change_high"]
    assert whole["change_low"] <= sample["change_high"]


def test_reading__a_bomb_under_a_limit_is_a_sample(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "bomb.csv.gz", "wb") as stream:
        stream.write(b"start,client,bytes\n" + b"1,a,9\n" * 6_000_000)
    limit = (2_400_000_000, 2_400_000_000)
    done = run_command(
        "inspect",
        "bomb.csv.gz",
        cwd=tmp_path,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "one connection in" in done.stdout


def test_reading__what_cannot_be_sampled_is_refused(tmp_path: Path) -> None:
    (tmp_path / "many.csv").write_text(write_rows(400_000, 100))
    with pytest.raises(MouseholeError, match=r"many\.csv: takes more memory than there is after \d+ MB"):
        _engine.read_traffic([str(tmp_path / "many.csv")], most_bytes=0)


def test_files__a_fault_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'traffic = "no.csv"\nschemes = ["sfd"]\noptions = {rate = "1mbit"}\n[axes]\nload = [0.5]\n'
    )
    done = run_command("sweep", "s.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "mousehole: error: no.csv: no such file\n")
    done = run_command("inspect", "x" * 300, cwd=tmp_path)
    assert done.returncode == 2
    assert "standard output" not in done.stderr


def test_outputs__all_that_are_lost_are_named(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(write_rows(200, 9))
    lost = ("--json", "/dev/full", "--html", "a.html", "--save-scenario", "/proc/none.toml")
    done = run_command("compare", "in.csv", *OPTIONS, "--json", "/dev/full", "--plot", "a.png", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot write /dev/full; No space left on device" in done.stderr
    assert (tmp_path / "a.png").read_bytes().endswith(b"IEND\xaeB`\x82")
    done = run_command("compare", "in.csv", *OPTIONS, *lost, cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot write /dev/full; No space" in done.stderr
    assert "cannot write /proc/none.toml; No such file" in done.stderr
    assert (tmp_path / "a.html").read_text(encoding="utf-8").endswith("</html>\n")


def test_write_all__names_every_fault(tmp_path: Path) -> None:
    def fail(place: str) -> None:
        with output.name_write_errors(place):
            raise pl.exceptions.ComputeError("No space left on device (os error 28)\nmore")

    with pytest.raises(MouseholeError) as refused:
        output.write_all(
            [("a", fail), (str(tmp_path / "b"), lambda p: output.write_text(p, "x")), ("c", fail)]
        )
    assert str(refused.value) == (
        "cannot write a; No space left on device (os error 28); "
        "cannot write c; No space left on device (os error 28)"
    )
    assert (tmp_path / "b").read_text() == "x"


def test_standard_output__its_own_faults_only(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "schemes"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "mousehole: error: cannot write standard output; No space left on device\n"


def test_terminal__names_do_not_steer_it(tmp_path: Path) -> None:
    name = "\x1b]0;x\x07\u202ered.csv"
    (tmp_path / name).write_text(write_rows(200, 9))
    for words in (("inspect", name), ("compare", name, *OPTIONS, "--html", "page.html")):
        done = run_command(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert not set("\x1b\x07\u202e") & set(done.stdout + done.stderr)
    assert not set("\x1b\x07\u202e") & set((tmp_path / "page.html").read_text(encoding="utf-8"))
    done = subprocess.run([*COMMAND, "inspect", b"\xff.csv"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 2
    assert b'the argument "\\xff.csv" is not UTF-8 text' in done.stderr


def test_json__names_do_not_steer_the_terminal_that_shows_it(tmp_path: Path) -> None:
    name = "a\u202eb\x9b.csv"
    (tmp_path / name).write_text("start,client,bytes\n1.5,a,900\n")
    shown = run_command("inspect", name, "--json", "-", cwd=tmp_path).stdout
    assert not {"\u202e", "\x9b"} & set(shown)
    assert json.loads(shown)["sources"][0]["name"] == name


@pytest.mark.parametrize("files", [3, 16, 64, 300])
def test_limits__few_open_files_are_a_sentence(tmp_path: Path, files: int) -> None:
    (tmp_path / "a.csv").write_text("start,client,bytes\n1.5,a,900\n")
    code = (
        "import resource, sys\nfrom mousehole.commands import launcher\n"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))\n"
        "sys.argv = ['mousehole', 'inspect', 'a.csv']\nlauncher.main()"
    )
    ended = subprocess.run(
        [*COMMAND[:1], "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False
    )
    assert (ended.returncode == 0) == (files == 300), ended.stderr
    if files < 300:
        assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
        assert "ulimit -n" in ended.stderr


@pytest.mark.parametrize("source", [True, 5, 1.5, None])
def test_traffic__what_is_no_source_is_named(source: Any) -> None:
    for call in (lambda: mousehole.inspect(source), lambda: mousehole.compare(source, **SHORT)):
        with pytest.raises(MouseholeError, match="traffic"):
            call()


def test_errors__long_values_are_cut() -> None:
    shown = str(MouseholeError(f"field: {'x' * 100_000} is not allowed; it must be short"))
    assert len(shown) < 500
    assert "(99,700 characters left out)" in shown
    assert shown.endswith("is not allowed; it must be short")
    assert escape_controls("a\u2066b\udcffc\n", lines=True) == r"a\u{2066}b\xffc\n"


def test_drafts__of_killed_processes_are_deleted(tmp_path: Path) -> None:
    left, used, others = (tmp_path / f".o.{digit * 12}.part.json" for digit in "abc")
    others = tmp_path / f".other.{'c' * 12}.part.json"
    for path in (left, used, others):
        path.write_text("half")
        os.utime(path, (time.time() - 3600,) * 2)
    with used.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        output.write_text(str(tmp_path / "o.json"), "{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([used.name, others.name, "o.json"])


def write_for_ever(path: str) -> None:
    """Writes a file again and again."""
    while True:
        output.write_text(path, "{}" * 5000)


def test_drafts__of_a_process_killed_just_now_are_deleted(tmp_path: Path) -> None:
    target = tmp_path / "o.json"
    for delay in (0.01, 0.013, 0.017, 0.02, 0.023, 0.027, 0.03, 0.033, 0.037, 0.04):
        child = os.fork()
        if child == 0:
            write_for_ever(str(target))
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        # Killed between its making and its lock, it stays for a minute.
        left = [path for path in tmp_path.iterdir() if path.name.endswith("~")]
        output.write_text(str(target), "{}")
        assert sorted(tmp_path.iterdir()) == sorted([target, *left])
        assert target.read_text(encoding="utf-8") == "{}"
        for path in left:
            path.unlink()


def test_drafts__of_writers_at_once_are_left_alone(tmp_path: Path) -> None:
    def write() -> None:
        for _ in range(200):
            output.write_text(str(tmp_path / "o.json"), "{}")

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: run_forked(write), range(4))) == [0] * 4
    assert [path.name for path in tmp_path.iterdir()] == ["o.json"]


def test_sweep_scratch__without_a_lock_is_deleted_when_it_is_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    young, old = tmp_path / "mousehole-trial-young", tmp_path / "mousehole-trial-old"
    for folder in (young, old):
        folder.mkdir()
    os.utime(old, (time.time() - 3600,) * 2)
    output.delete_abandoned_folders("mousehole-trial-")
    assert young.exists()
    assert not old.exists()


def test_make_scratch_folder__of_killed_processes_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    child = os.fork()
    if child == 0:
        with output.make_scratch_folder("trial") as folder:
            (folder / "more").write_text("x")
            os._exit(0)  # as by a kill
    os.waitpid(child, 0)
    (left,) = tmp_path.iterdir()
    with output.make_scratch_folder("trial") as folder:
        assert not left.exists()
        with output.make_scratch_folder("trial") as second:
            assert folder.exists()
            assert second != folder
    assert not list(tmp_path.iterdir())


def run_forked(work: Callable[[], object], seconds: float = 60) -> int:
    """Returns the status of a forked child that calls `work`; kills one that does not end in time."""
    child = os.fork()
    if child == 0:
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -9


def use_polars() -> None:
    """Has polars start its threads, which a forked process does not have."""
    frame = pl.DataFrame({"a": range(50_000), "b": [1, 2] * 25_000})
    frame.lazy().group_by("b").agg(pl.col("a").sum()).collect()


def test_fork__compare_ends_in_a_child(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(write_rows(400, 9))
    use_polars()
    expected = mousehole.compare(tmp_path / "in.csv", **SHORT).to_json()

    def work() -> None:
        assert mousehole.compare(tmp_path / "in.csv", **SHORT).to_json() == expected

    assert run_forked(work) == 0


def test_fork__parquet_is_refused_in_a_child(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(write_rows(400, 9))
    pl.read_csv(tmp_path / "in.csv").write_parquet(tmp_path / "in.parquet")

    def work() -> None:
        with pytest.raises(MouseholeError, match='context "spawn"'):
            mousehole.read(tmp_path / "in.parquet")

    assert run_forked(work) == 0


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_executor__of_processes_gives_the_same(tmp_path: Path, method: str) -> None:
    (tmp_path / "in.csv").write_text(write_rows(400, 9))
    use_polars()
    expected = mousehole.compare(tmp_path / "in.csv", **SHORT).to_json()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert mousehole.compare(tmp_path / "in.csv", executor=pool, **SHORT).to_json() == expected


def test_compare__in_threads_and_asyncio_at_once() -> None:
    expected = mousehole.compare("web:sfd", **SHORT).to_json()

    def work() -> str:
        return mousehole.compare("web:sfd", **SHORT).to_json()

    async def both() -> list[str]:
        return list(await asyncio.gather(*(asyncio.to_thread(work) for _ in range(2))))

    with ThreadPoolExecutor(2) as pool:
        assert [future.result() for future in [pool.submit(work) for _ in range(2)]] == [expected] * 2
    assert asyncio.run(both()) == [expected] * 2


def test_compare__many_in_one_process_take_no_more_memory() -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    tiny = {**SHORT, "duration": "0.5s", "seeds": 1}
    sizes = []
    for number in range(90):
        mousehole.compare("web:sfd", **tiny).to_json()
        if number % 30 == 29:
            sizes.append(resident())
    assert sizes[2] - sizes[1] < 4_000_000, sizes


def test_scenario__a_file_of_a_million_links_is_refused_at_once(tmp_path: Path) -> None:
    link = '[[topology.links]]\nfrom = "a"\nto = "b"\nrate = "1mbit"\n'
    (tmp_path / "many.toml").write_text(link * 1_000_000)
    with pytest.raises(MouseholeError, match="it is longer than 16 MB"):
        mousehole.run(tmp_path / "many.toml")


def test_scenario__wrong_types_are_named(tmp_path: Path) -> None:
    with pytest.raises(MouseholeError, match=r"traffic: .*it must be a table"):
        mousehole.run({"traffic": "web:sfd"})
    (tmp_path / "s.toml").write_text('scheme = "sfd"\ntraffic = "web:sfd"\n')
    with pytest.raises(MouseholeError, match=r's\.toml:2: .*"web:sfd", it must be a table of fields'):
        mousehole.run(tmp_path / "s.toml")
    texts = (
        "schemes = 5", "schemes = true", "schemes = [1]", "policy = 2020-01-01",
        'schemes = ["sfd"]\noptions = {rate = "1mbit", seed = ""}',
        'schemes = ["sfd"]\noptions = {rate = "1mbit", "traffic.mix" = ["a"]}',
    )  # fmt: skip
    for text in texts:
        (tmp_path / "w.toml").write_text(f'traffic = "web:sfd"\n{text}\n[axes]\nload = [0.5]\n')
        done = run_command("sweep", "w.toml", "--dry-run", cwd=tmp_path)
        assert done.returncode == 2, done.stderr
        assert done.stderr.count("\n") == 1


def test_options__empty_values_are_refused(tmp_path: Path) -> None:
    for option in ("duration", "warmup", "rate", "rtt", "buffer", "load", "seeds"):
        words = [
            word for name, value in SHORT.items() if name != option for word in (f"--{name}", str(value))
        ]
        done = run_command("compare", "web:sfd", *words, f"--{option}", "", cwd=tmp_path)
        assert done.returncode == 2, option
        assert f"--{option}" in done.stderr
