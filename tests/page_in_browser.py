"""Pages in real Chromium, over loopback and through the emulated link: `make page-test`.

Not among the ordinary tests, since it needs Chromium and namespaces; pytest does not collect it by its name.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from mousehole.base import MouseholeError, Silent
from mousehole.page import Behind, Errand, Load, PageOptions, PageResults, conduct
from mousehole.page import _filling as filling
from mousehole.page._progress import speed_index_s

from tests.page_support import loopback

OBJECTS = 5
CLOCKS_S = 0.001
"""By how much the times that Chromium's processes note may contradict each other."""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder with a small page: a style sheet that refers to a picture, a script that fetches another."""
    folder = tmp_path / "small"
    folder.mkdir()
    (folder / "index.html").write_text(
        '<!doctype html><title>small</title><link rel="icon" href="data:,">'
        '<link rel="stylesheet" href="a.css">'
        '<script src="b.js" defer></script><h1>Hello</h1><p class="x">A page.</p>'
    )
    (folder / "a.css").write_bytes(filling.pad(b".x { background: url(c.png); }", "css", 4_000))
    script = b"fetch('d.png').then(answer => answer.blob());"
    (folder / "b.js").write_bytes(filling.pad(script, "script", 9_000))
    for number, name in enumerate(("c.png", "d.png")):
        (folder / name).write_bytes(filling.fill_body("image/png", 30_000, number))
    return folder


def measure(source: str | Path, join: conduct.Joining | None = loopback, **options: Any) -> PageResults:
    """Returns the results of loads: of one over loopback under drop-tail, without downloads, unless the
    arguments say otherwise.
    """
    given = {"schemes": "droptail", "loads": 1, "bulk": 0, "settle": "0s", "timeout": "20s", **options}
    return conduct.measure_loads(str(source), PageOptions(**given), Silent(), join)


def get_only_load(results: PageResults) -> Load:
    """Returns the load of results that have a single one."""
    (trial,) = results.trials
    return trial.load


def check_order(load: Load) -> None:
    """Asserts that the times of a load are in the only possible order."""
    assert load.outcome == "loaded", load.reason
    assert load.load_s is not None
    assert load.first_paint_s is not None
    assert load.largest_paint_s is not None
    assert 0 < load.first_paint_s <= load.largest_paint_s
    for fetch in load.fetches:
        assert fetch.is_complete, fetch
        assert fetch.sent_s is not None
        assert fetch.first_byte_s is not None
        assert fetch.end_s is not None
        assert (
            0 <= fetch.queued_s <= fetch.sent_s <= fetch.first_byte_s + CLOCKS_S <= fetch.end_s + 2 * CLOCKS_S
        )
    times, shares = zip(*load.progress, strict=True)
    assert times[0] == 0
    assert list(times) == sorted(times)
    assert (shares[0], shares[-1]) == (0, 1)
    assert 0 < (speed_index_s(load.progress) or 0) <= times[-1]
    document = load.fetches[0]
    assert document.kind == "Document"
    assert document.end_s is not None
    assert document.end_s < load.load_s


@pytest.mark.parametrize(("version", "protocol"), [("1.1", "http/1.1"), ("2", "h2"), ("3", "h3")])
def test_versions__all_objects_are_counted_and_their_times_ordered(
    small: Path, version: str, protocol: str
) -> None:
    load = get_only_load(measure(small, http=version, bulk=2 if version == "1.1" else 0, settle="0.2s"))
    check_order(load)
    assert (load.bulk_bps is not None and load.bulk_bps > 1e6) == (version == "1.1")
    assert len(load.fetches) == OBJECTS
    assert {fetch.protocol for fetch in load.fetches} == {protocol}
    by_name = {fetch.url.rsplit("/", 1)[-1]: fetch for fetch in load.fetches}
    assert by_name["c.png"].initiator.endswith("a.css")
    assert by_name["d.png"].initiator.endswith("b.js")
    assert 4_000 < by_name["a.css"].size < 4_600
    connections = {fetch.connection for fetch in load.fetches}
    assert len(connections) == 1 if version != "1.1" else len(connections) > 1


def test_har__without_bodies_is_loaded_with_the_recorded_sizes(tmp_path: Path) -> None:
    def entry(url: str, mime: str, size: int) -> dict[str, Any]:
        content_ = {"mimeType": mime, "size": size}
        response = {"status": 200, "content": content_, "bodySize": size, "headers": [], "httpVersion": "h2"}
        return {"startedDateTime": "2026", "request": {"url": url}, "response": response}

    entries = [
        entry("https://shop.example/", "text/html", 6_000),
        entry("https://cdn.example/a.css", "text/css", 8_000),
        entry("https://cdn.example/b.js?v=1", "text/javascript", 9_000),
        entry("https://img.example/c.jpg", "image/jpeg", 50_000),
        entry("https://img.example/d.gif", "image/gif", 43),
        entry("https://shop.example/favicon.ico", "image/x-icon", 700),
    ]
    path = tmp_path / "shop.har"
    path.write_text(json.dumps({"log": {"entries": entries}}))
    results = measure(path)
    load = get_only_load(results)
    check_order(load)
    assert results.setting.version == "2"
    assert {fetch.url for fetch in load.fetches} == {one["request"]["url"] for one in entries}
    assert sum(fetch.size for fetch in load.fetches) == pytest.approx(73_743, rel=0.02)


def test_url__of_this_machine_is_recorded_and_served(small: Path) -> None:
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(small))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        results = measure(f"http://localhost:{server.server_address[1]}/", http="2")
        server.shutdown()
    load = get_only_load(results)
    check_order(load)
    assert len(load.fetches) == OBJECTS
    assert {fetch.url.partition(".test")[0] for fetch in load.fetches} == {"https://page"}


def test_object__that_is_missing_is_counted_as_such(small: Path) -> None:
    (small / "c.png").unlink()
    results = measure(small)
    assert [fetch.status for fetch in get_only_load(results).fetches if not fetch.is_complete] == [404]
    (row,) = results.rows()
    assert (row.loads, row.objects, row.incomplete) == (1, OBJECTS - 1, 1)


def test_url__that_nobody_serves_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(MouseholeError, match=r"cannot be loaded: .*ERR_CONNECTION_REFUSED"):
        measure(f"http://localhost:{port}/")


def test_load__that_does_not_end_is_reported(small: Path) -> None:
    """A page whose script never gives the browser a chance to end."""
    (small / "b.js").write_text("for (;;) {}")
    results = measure(small, timeout="2s")
    load = get_only_load(results)
    assert load.outcome == "timeout"
    assert load.reason == "the load event did not come within 2 s"
    assert any(fetch.url.endswith("b.js") for fetch in load.fetches)
    assert results.rows()[0].missing == (load.reason,)


def test_link__two_schemes_and_what_they_say(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conduct, "REPEATS", 0)  # on a busy machine the link may be late
    options = {"schemes": "droptail,s-sfd", "rate": "20mbit", "rtt": "20ms", "bulk": 2, "settle": "0.5s"}
    results = measure(small, None, **options)
    for trial in results.trials:
        check_order(trial.load)
        assert len(trial.load.fetches) == OBJECTS
        # Handshake and request of the document, then another request: at least three round trips.
        assert trial.load.load_s is not None
        assert trial.load.load_s > 0.06
        assert trial.load.bulk_bps is not None
        # A client may find what has waited for it up to a tenth of a second before.
        assert 1e6 < trial.load.bulk_bps < 20e6 * (1 + 0.1 / trial.load.load_s)
        assert trial.link is not None
        assert trial.link["status"] == 0
    assert {trial.scheme for trial in results.trials} == {"droptail", "s-sfd"}


def list_descendants(ancestor: int) -> dict[tuple[int, str], str]:
    """Returns the commands of a process's descendants, by process id and start time, which together
    are unique. Zombies are left out.
    """
    parents: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = path.read_text().rpartition(") ")[2].split()
            if words[0] not in "ZX":
                parents[int(path.parent.name)] = int(words[1]), words[19]
    found: dict[tuple[int, str], str] = {}
    for number, (_, start) in parents.items():
        line = [number]
        while line[-1] in parents and line[-1] != ancestor:
            line.append(parents[line[-1]][0])
        if line[-1] == ancestor and len(line) > 1:
            with contextlib.suppress(OSError):
                words_ = Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ")
                found[number, start] = words_.decode(errors="replace")
    return found


def list_alive(processes: Iterable[tuple[int, str]]) -> list[int]:
    """Returns the ids of those processes that still run."""
    found = []
    for number, start in processes:
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{number}/stat").read_text().rpartition(") ")[2].split()
            found += [number] if words[0] not in "ZX" and words[19] == start else []
    return found


def wait_until(is_so: Callable[[], bool], seconds: float) -> bool:
    """Waits until the condition holds, at most so many seconds. Returns whether it holds."""
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


@pytest.mark.parametrize(
    ("number", "status", "leaves_files"),
    [(signal.SIGINT, 130, False), (signal.SIGTERM, 143, False), (signal.SIGKILL, -9, True)],
)
def test_command__that_is_ended_leaves_no_process(
    small: Path, tmp_path: Path, number: signal.Signals, status: int, leaves_files: bool
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-m", "mousehole", "page", str(small), "--schemes", "droptail", "--loads", "1"]
    process = subprocess.Popen(
        [*command, "--settle", "60s"], env={**os.environ, "TMPDIR": str(scratch)}, stderr=subprocess.PIPE
    )
    try:
        is_up = wait_until(
            lambda: any("=renderer" in one for one in list_descendants(process.pid).values()), 60
        )
        own = list_descendants(process.pid)
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert is_up, said
    assert process.returncode == status, said
    assert wait_until(lambda: not list_alive(own), 5), own
    assert bool(list(scratch.glob("mousehole-page-*"))) == leaves_files


def test_browser__that_dies_is_reported(small: Path) -> None:
    """The browser's name is that of a program that is none."""

    def with_another(errand: Errand) -> Behind:
        task = errand.folder / "task.json"
        given = json.loads(task.read_text())
        task.write_text(json.dumps({**given, "chromium": shutil.which("false")}))
        return loopback(errand)

    load = get_only_load(measure(small, with_another))
    assert load.outcome == "failed"
    assert "the browser ended with status 1" in load.reason
