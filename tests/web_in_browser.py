"""The page of web/ in Chromium, as `make web` builds it: `make page-test`.

Not among the ordinary tests, since it needs Chromium and the built page; pytest does not collect it by its
name.
"""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote
from xml.etree import ElementTree

import mousehole
import pytest
from mousehole import _engine
from mousehole.engine_types import TrafficSummary

from tests.browser import WIDTHS, Browser, open_browser

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "build" / "site" / "try"
PICTURES = ROOT / "build" / "screenshots"
LONGEST_S = 240
SHORT = {"seeds": 5, "duration": "10s", "warmup": "5s"}
"""Options of comparisons that end soon; their intervals are wide."""
ASKED = [
    {"place": "home", "down": "20mbit", "up": "1mbit"},
    {"place": "home", "down": "20mbit", "up": "1mbit", "buffer": "100p", "schemes": "droptail,fq-codel,cake"},
    {"place": "home", "down": "8mbit", "up": "800kbit", "schemes": "droptail,sfd,sfd(mode=coupled)"},
    {"place": "home", "down": "50mbit", "up": "10mbit", "shape": "95%", "modem_buffer": "200ms"},
    {"place": "home", "down": "20mbit", "up": "1mbit", "users": "1", "schemes": "droptail,fq-codel"},
    {"place": "home", "down": "6mbit", "up": "1mbit", "apps": "web:1,calls:0.5,downloads:0.25"},
    {"place": "home", "down": "16mbit", "up": "2mbit", "rtt": "20ms", "schemes": "cake,ct-cake,fq-codel"},
    {"place": "home", "down": "16mbit", "up": "2mbit", "rtt": "200ms", "schemes": "droptail,sfd,srpt"},
    {"place": "home", "down": "10mbit", "up": "1mbit", "seed": "7", "schemes": "droptail,pias,shred"},
    {"place": "home", "down": "10mbit", "up": "1mbit", "seeds": "2", "schemes": "droptail,fq-codel"},
    {"place": "office", "down": "50mbit", "up": "10mbit", "schemes": "droptail,fq-codel,cake,excess-cake"},
    {"place": "office", "down": "20mbit", "up": "5mbit", "shape": "90%", "schemes": "droptail,cake"},
    {"place": "office", "down": "30mbit", "up": "3mbit", "users": "10", "schemes": "droptail,fq-codel"},
    {"place": "school", "down": "50mbit", "up": "10mbit", "schemes": "droptail,fq-codel"},
    {"place": "cafe", "down": "20mbit", "up": "2mbit", "schemes": "droptail,fq-codel,cake"},
    {"place": "cafe", "down": "20mbit", "up": "2mbit", "apps": "web:1,streams:0.4", "schemes": "fq-codel"},
    {"place": "village", "down": "50mbit", "up": "10mbit", "schemes": "droptail,fq-codel"},
    {"place": "village", "down": "30mbit", "up": "5mbit", "users": "20", "schemes": "droptail,rio-ps,lfp"},
    {"place": "campus", "down": "200mbit", "up": "100mbit", "users": "60", "schemes": "droptail,fq-codel"},
    {"place": "home", "down": "20mbit", "up": "1mbit", "schemes": "droptail,sfd|cake(tins=bulk),red"},
    {"place": "home", "down": "20mbit", "up": "1mbit", "load": "0.4", "schemes": "droptail,fq-codel"},
    {"model": "web:sfd", "down": "5mbit", "up": "1mbit", "load": "0.9", "schemes": "droptail,sfd"},
    {"model": "poisson", "down": "5mbit", "up": "5mbit", "load": "0.8", "schemes": "droptail,fq-codel"},
    {"model": "voip", "down": "2mbit", "up": "2mbit", "schemes": "droptail,fq-codel"},
]  # fmt: skip
"""Scenarios as addresses have them."""

SAVED = """
window.keptFiles = {};
const click = HTMLAnchorElement.prototype.click;
HTMLAnchorElement.prototype.click = function () {
    if (!this.download) return click.call(this);
    const blob = keptBlobs.get(this.href);
    blob.text().then(text => { window.keptFiles[this.download] = text; });
    if (blob.type === 'image/png') createImageBitmap(blob).then(picture => {
        const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
        context.drawImage(picture, 0, 0);
        const dots = new Uint32Array(context.getImageData(0, 0, picture.width, picture.height).data.buffer);
        window.keptPicture = [picture.width, picture.height, new Set(dots).size];
    });
};
const keptBlobs = new Map();
const address = URL.createObjectURL;
URL.createObjectURL = (blob) => {
    const made = address.call(URL, blob);
    keptBlobs.set(made, blob);
    return made;
};
"""
"""Keeps the text of files that a page saves, by their names, and width, height and number of colours of a
picture, instead of saving them."""
COMPLETE = "return /^(\\d+) of \\1 runs$/.test(document.querySelector('#over').textContent)"
WATCHED = "return [...document.querySelectorAll('.felt b')].map(one => one.textContent)"
NAMED = """
const top = (one) => one.getBoundingClientRect().top;
const texts = (chart) =>
    [...chart.querySelectorAll('.role-axis-label text')].sort((one, other) => top(one) - top(other));
return [...document.querySelectorAll('.chart svg')].map(chart =>
    texts(chart).map(one => one.textContent).filter(text => !/^\\d/.test(text)));
"""
"""The schemes of each chart, from above."""
WORKERS = """
const Kept = window.Worker;
window.keptWorkers = [];
window.Worker = class extends Kept {
    constructor(...given) { super(...given); window.keptWorkers.push(this); }
};
"""
"""Keeps a list of the workers of a page, so that one can be ended as a browser short of memory does."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serves a folder over loopback while the context lasts; yields its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the built page, served while the tests of this file run; fails them if it is not
    built.
    """
    if not (SITE / "index.html").is_file():
        pytest.fail("build/site/try is not there; make web builds it")
    with serve(SITE) as found:
        yield found


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    """A browser for all tests of this file."""
    with open_browser() as opened:
        yield opened


def wait_for(found: Callable[[], Any], what: str, longest_s: float = LONGEST_S) -> Any:
    """Waits for a true value of `found` and returns it; fails after `longest_s`."""
    end = time.monotonic() + longest_s
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.1)
    raise AssertionError(f"{what} within {longest_s} s")


def open_screen(window: Browser, address: str, hash_: str) -> None:
    """Opens a screen anew, and waits until the simulator has started."""
    window.show("about:blank", 1400)
    window.show(f"{address}#{hash_}", 1400)
    wait_for(
        lambda: window.run("return document.querySelector('main form, main canvas, #files, #knob') !== null"),
        "a screen",
    )


def write_hash(asked: dict[str, str]) -> str:
    """Returns the part of an address that names a scenario."""
    return "line?" + "&".join(f"{name}={quote(value, safe=':,()')}" for name, value in asked.items())


def ask(window: Browser) -> dict[str, list[str]]:
    """Starts the comparison. Returns the texts of the page's answer."""
    window.run("document.querySelector('button.main').click()")
    over = "return document.querySelector('#took, .fault') !== null"
    wait_for(lambda: window.run(over), "an answer")
    found = window.run("""
        const texts = (which) => [...document.querySelectorAll(which)].map(one => one.textContent);
        const details = [...document.querySelectorAll('details')].at(-1);
        return {
            fault: texts('.fault'), lead: texts('.verdict .lead'), classes: texts('.verdict li'),
            commands: texts('.take pre'),
            findings: [...details.querySelectorAll('li')].map(one => one.textContent),
        }""")
    assert isinstance(found, dict)
    return found


def press_button(window: Browser, button: str) -> None:
    """Presses the button with this text."""
    window.run(
        f"[...document.querySelectorAll('button')].find(one => one.textContent === {button!r}).click()"
    )


def compare_by_command(asked: dict[str, str]) -> mousehole.Comparison:
    """Returns the result of the same comparison by the package."""
    options: dict[str, Any] = {**SHORT, **asked}
    options.update({name: int(options[name]) for name in ("users", "seed", "seeds") if name in options})
    place = options.pop("place")
    return mousehole.compare(place, **options)


def save_numbers(window: Browser) -> str:
    """Returns the JSON that the page saves. The page must have been opened with `SAVED`."""
    press_button(window, "Save the numbers (JSON)")
    return str(wait_for(lambda: window.run("return window.keptFiles['mousehole.json']"), "a file", 20))


def run_with_json(command: str, folder: Path) -> str:
    """Runs a command with --json in a folder. Returns the content of the file."""
    program, *rest = shlex.split(command)
    file = folder / "typed.json"
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *rest, "--json", str(file)],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return file.read_text()


def save_report(window: Browser, folder: Path) -> Path:
    """Returns the path of the report that the page saves, in the folder.

    The page must have been opened with `SAVED`.
    """
    press_button(window, "Save the report (HTML)")
    text = wait_for(lambda: window.run("return window.keptFiles['mousehole.html']"), "a report", 60)
    file = folder / "saved.html"
    file.write_text(str(text))
    return file


TABLES = """
    return Object.fromEntries([...document.querySelectorAll('table.sortable')].map(table => [
        table.caption.querySelector('span').textContent,
        [...table.rows].map(row => [...row.cells].map(cell => cell.textContent.trim()))]))"""
"""Caption and cells of every table."""


def read_report_tables(window: Browser, command: str, folder: Path) -> dict[str, list[list[str]]]:
    """Returns the tables of the report that a command writes with --html."""
    program, *rest = shlex.split(command)
    file = folder / "typed.html"
    subprocess.run(
        [str(Path(sys.executable).with_name(program)), *rest, "--html", str(file)],
        capture_output=True, check=True, cwd=folder,
    )  # fmt: skip
    window.show(file, 820)
    return cast("dict[str, list[list[str]]]", window.run(TABLES))


def run_and_print(command: str, folder: Path) -> list[str]:
    """Runs a command. Returns the lines of its output up to the first empty one."""
    program, *rest = shlex.split(command)
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *rest],
        capture_output=True, text=True, check=True, cwd=folder,
    )  # fmt: skip
    return done.stdout.partition("\n\n")[0].splitlines()


@pytest.mark.parametrize("asked", ASKED, ids=lambda one: write_hash(one))
def test_numbers__are_the_bytes_of_the_command_that_is_shown(
    window: Browser, address: str, asked: dict[str, str], tmp_path: Path
) -> None:
    with window.run_before_pages(SAVED):
        open_screen(
            window, address, write_hash({**{name: str(value) for name, value in SHORT.items()}, **asked})
        )
        shown = ask(window)
        assert shown["fault"] == []
        text = save_numbers(window)
    assert text == run_with_json(shown["commands"][-1], tmp_path)
    (cell,) = json.loads(text)["cells"]
    advice = cell["advice"]
    end = next((n for n, line in enumerate(advice["lines"]) if line.startswith("Install on ")), None)
    assert [*shown["lead"], *shown["classes"]] == advice["lines"][:end]
    installed = advice["installation"]
    assert shown["commands"][:-1] == (["\n".join(installed["lines"])] if installed else [])
    assert shown["findings"] == [one["sentence"] for one in cell["findings"] if not one["exploratory"]]


def make_packet(from_client: bool, client: int, port: int, flags: int, seq: int, payload: int = 0) -> bytes:
    """Returns an IPv4 packet between a client and port 443 of a server."""
    ends = [(bytes([10, 0, 0, client]), port), (bytes([192, 0, 2, 1]), 443)]
    (source, source_port), (target, target_port) = ends if from_client else reversed(ends)
    header = struct.pack("!HHIIBBHHH", source_port, target_port, seq, 1, 0x50, flags, 1000, 0, 0)
    ip = struct.pack("!BBHHHBBH", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0) + source + target
    return ip + header + bytes(payload)


def write_pcap(file: Path, connections: int) -> None:
    """Writes a capture of downloads of a few packets each."""
    packets: list[tuple[float, bytes]] = []
    for number in range(connections):
        ends = (1 + number % 9, 20_000 + number)
        rows = [(0.0, True, 2, 99, 0), (0.02, False, 0x12, 899, 0), (0.04, True, 0x10, 100, 0)]
        rows += [(0.06 + n / 1000, False, 0x10, 900 + 1400 * n, 1400) for n in range(1 + number % 6)]
        packets += [
            (1000 + number / 5 + at, make_packet(up, *ends, flags, seq, payload))
            for at, up, flags, seq, payload in rows
        ]
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)
    for at, data in sorted(packets):
        out += struct.pack("<IIII", *divmod(round(at * 1e6), 1_000_000), len(data), len(data)) + data
    file.write_bytes(out)


def write_zeek(file: Path) -> None:
    """Writes a conn.log of Zeek's."""
    names = ["ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto", "service",
             "duration", "orig_bytes", "resp_bytes", "conn_state"]  # fmt: skip
    kinds = ["time", "string", "addr", "port", "addr", "port", "enum", "string", "interval", "count", "count",
             "string"]  # fmt: skip
    tab = "\t"
    head = ["#separator \\x09", "#set_separator\t,", "#empty_field\t(empty)", "#unset_field\t-",
            "#path\tconn", f"#fields\t{tab.join(names)}", f"#types\t{tab.join(kinds)}"]  # fmt: skip
    rows = [
        f"{1000 + n / 4:.6f}\tC{n}\t10.0.0.{1 + n % 8}\t{30_000 + n}\t192.0.2.7\t443\ttcp\tssl\t0.4\t300"
        f"\t{900 + 431 * n % 60_000}\tSF"
        for n in range(240)
    ]
    file.write_text("\n".join([*head, *rows, ""]))


def write_access_log(file: Path) -> None:
    """Writes a log of a web server, with one invalid line."""
    rows = [
        f'10.0.0.{1 + n % 6} - - [10/Oct/2025:13:{n // 60:02d}:{n % 60:02d} +0000] "GET /{n} HTTP/1.1" 200 '
        f"{700 + 613 * n % 90_000}"
        for n in range(300)
    ]
    file.write_text("\n".join([*rows[:100], "<script>document.title = 1</script>", *rows[100:], ""]))


def write_table(file: Path, rows: int = 60) -> None:
    """Writes a gzipped table; so few transfers are played by a model."""
    lines = [f"{n / 3},user {n % 3},{600 + 977 * n % 14_000}" for n in range(rows)]
    file.write_bytes(gzip.compress("\n".join(["start_s,client,bytes", *lines, ""]).encode()))


def write_har(file: Path) -> None:
    """Writes a HAR file of a page; it has too few transfers even for a model."""
    entries = [
        {
            "startedDateTime": f"2025-10-10T13:00:0{n}.000Z",
            "time": 120,
            "connection": str(n),
            "serverIPAddress": "192.0.2.9",
            "request": {"method": "GET", "url": f"https://example.org/{n}", "headers": []},
            "response": {"status": 200, "headers": [], "content": {"size": 4000}, "bodySize": 4000 + n},
            "timings": {"send": 0, "wait": 60, "receive": 60},
        }
        for n in range(6)
    ]
    file.write_text(json.dumps({"log": {"version": "1.2", "pages": [], "entries": entries}}))


WRITERS: dict[str, Callable[[Path], None]] = {
    "downloads.pcap": lambda file: write_pcap(file, 150),
    "conn.log": write_zeek,
    "access.log": write_access_log,
    "it's a table.csv.gz": write_table,
    "-page.har": write_har,
}
"""Captures by their names, which are not all easy ones."""
IN_DATA = ["flowlogs/zeek_m57-short_conn.log.gz", "flowlogs/zeek_m57-short_http.log.gz"]
CAPTURED = "capture?down=4mbit&up=1mbit&schemes=droptail,fq-codel&seeds=5&duration=10s&warmup=5s"


def choose_files(window: Browser, address: str, files: list[Path], hash_: str = CAPTURED) -> list[str]:
    """Gives files to the page. Returns its account of them, or the fault."""
    open_screen(window, address, hash_)
    window.choose("#files", files)
    wait_for(lambda: window.run("return document.querySelector('#account, .fault') !== null"), "an account")
    found = window.run(
        "return [...document.querySelectorAll('#account h2, #account dd, #account li, .fault')]"
        ".map(one => one.innerText)"
    )
    assert isinstance(found, list)
    return found


def inspect_by_command(files: list[Path]) -> TrafficSummary:
    """Returns the package's summary of the files, for a link of 4 Mb/s."""
    return mousehole.inspect([str(file) for file in files], rate="4mbit")


@pytest.mark.parametrize("load", ["", "&load=0.7"])
@pytest.mark.parametrize("name", [*WRITERS, *(["data"] if "MOUSEHOLE_DATA" in os.environ else [])])
def test_capture__account_and_numbers_are_those_of_the_command(
    window: Browser, address: str, name: str, load: str, tmp_path: Path
) -> None:
    if name == "data":
        files = [Path(shutil.copy(Path(os.environ["MOUSEHOLE_DATA"]) / one, tmp_path)) for one in IN_DATA]
    else:
        files = [tmp_path / name]
        WRITERS[name](files[0])
    with window.run_before_pages(SAVED):
        title, *said = choose_files(window, address, files, CAPTURED + load)
        expected, facts, remarks = _engine.traffic_account(inspect_by_command(files))
        assert title == expected
        assert said == [*(value for _, value in facts), *(f"{kind}: {text}" for kind, text in remarks)]
        shown = ask(window)
        assert shown["fault"] == []
        text = save_numbers(window)
    assert text == run_with_json(shown["commands"][-1], tmp_path)
    played = window.run("return document.querySelector('.played')?.textContent ?? ''")
    lines = json.loads(text)["cells"][0]["advice"]["lines"]
    assert lines[: len(shown["lead"]) + bool(played)] == [*([played] if played else []), *shown["lead"]]


def test_capture__broken_files_are_refused_in_one_sentence(
    window: Browser, address: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.pcap"
    write_pcap(broken, 40)
    torn = tmp_path / "torn.csv.gz"
    write_table(torn)
    torn.write_bytes(torn.read_bytes()[:-9])
    broken.write_bytes(broken.read_bytes()[:20])
    scenario = tmp_path / "home.toml"
    scenario.write_text("seed = 1")
    empty = tmp_path / "empty.log"
    empty.touch()
    for file in (broken, torn, empty):
        with pytest.raises(mousehole.MouseholeError) as fault:
            mousehole.inspect(str(file))
        assert choose_files(window, address, [file]) == [str(fault.value).replace(f"{tmp_path}/", "")]
    (sentence,) = choose_files(window, address, [scenario])
    assert sentence.startswith("home.toml: a scenario")
    assert window.run("return document.querySelectorAll('main form').length") == 0


def test_capture__names_and_contents_run_no_script(window: Browser, address: str, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=document.title=1>"
    file = tmp_path / f"{hostile}.csv"
    file.write_text(
        f"start_s,client,bytes\n{hostile},1,1\n" + "".join(f"{n},{hostile},{n}\n" for n in range(99))
    )
    with window.run_before_pages(SAVED):
        title, *said = choose_files(window, address, [file])
        assert title.startswith(file.name)
        assert any(hostile in one for one in said if one.startswith("faulty: "))
        shown = ask(window)
        assert hostile in shown["commands"][-1]
        assert shlex.split(shown["commands"][-1])[2] == f"{file.name}"
        assert window.run("return document.title") == "Mousehole: your line"
        assert window.run("return document.querySelectorAll('img').length") == 0
        report = save_report(window, tmp_path)
    assert window.show(report, 820).console == []
    assert hostile in str(window.run("return document.title"))
    assert hostile in str(window.run("return document.querySelector('.code pre').textContent"))
    assert window.run("return [document.images.length, document.scripts.length]") == [0, 1]
    changed = report.with_name("changed.html")
    changed.write_text(report.read_text().replace("</main>", "<img src=x onerror='document.title=1'>"
                                                  "<script>document.title = 1</script></main>"))  # fmt: skip
    assert any("Content Security Policy" in one for one in window.show(changed, 820).console)
    assert hostile in str(window.run("return document.title")), "the file runs its own script only"


def test_capture__more_than_the_page_takes_is_told_what_to_type(
    window: Browser, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "large.pcap"
    with file.open("wb") as sparse:
        sparse.truncate(200_000_001)
    (sentence,) = choose_files(window, address, [file])
    assert "200 MB are more than this page takes" in sentence
    typed_instead = window.run("return document.querySelector('.take pre').textContent")
    assert isinstance(typed_instead, str)
    assert typed_instead.startswith("mousehole inspect large.pcap\nmousehole compare large.pcap --down 4mbit")


def test_capture__is_streamed_in_bounded_memory(window: Browser, address: str, tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    with file.open("w") as out:
        out.write("start_s,client,bytes,note\n")
        for n in range(60_000):
            out.write(f"{n / 100},{n % 50},{600 + n % 9000},{'-' * 1000}\n")
    assert file.stat().st_size > 50_000_000
    before = window.run("return performance.memory.usedJSHeapSize")
    title, *_ = choose_files(window, address, [file])
    assert title.startswith("long.csv: 60000 connections")
    after = window.run("return performance.memory.usedJSHeapSize")
    assert isinstance(before, int)
    assert isinstance(after, int)
    assert after - before < 20_000_000


def test_capture__a_worker_that_ends_again_and_again_is_a_sentence(
    window: Browser, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv.gz"
    write_table(file)
    with window.run_before_pages("""
        const Kept = window.Worker;
        window.Worker = class extends Kept {
            postMessage(one) {
                if (one.name !== 'inspect') return super.postMessage(one);
                this.terminate();
                setTimeout(() => this.dispatchEvent(new ErrorEvent('error')), 10);
            }
        };
    """):
        (sentence,) = choose_files(window, address, [file])
    assert sentence.startswith("The simulator broke: a worker ended.")


def test_charts__are_saved_as_the_page_shows_them(window: Browser, address: str) -> None:
    asked = {"place": "home", "down": "20mbit", "up": "1mbit", "schemes": "droptail,fq-codel"}
    with window.run_before_pages(SAVED):
        open_screen(
            window, address, write_hash({**asked, **{name: str(value) for name, value in SHORT.items()}})
        )
        ask(window)
        count = window.run("return document.querySelectorAll('.charts figure').length")
        drawn = "return document.querySelectorAll('.chart svg').length"
        wait_for(lambda: window.run(drawn) == count, "charts")
        titles = window.run("return [...document.querySelectorAll('figcaption')].map(one => one.textContent)")
        assert isinstance(titles, list)
        press_button(window, "Save the charts (SVG)")
        saved = wait_for(lambda: window.run("return window.keptFiles['mousehole.svg']"), "a file", 20)
        press_button(window, "Save the charts (PNG)")
        width, height, colours = wait_for(lambda: window.run("return window.keptPicture"), "a picture", 20)
    assert "var(" not in saved, "a file by itself has no colours of a page"
    picture = ElementTree.fromstring(saved)  # noqa: S314 - the page made it
    assert [one for one in titles if one not in "".join(picture.itertext())] == []
    assert any(title.startswith("calls: ") for title in map(str.lower, titles))
    assert (width, height) == (2 * int(picture.attrib["width"]), 2 * int(picture.attrib["height"]))
    assert colours > 20


REPORTED = [
    {"place": "home", "down": "20mbit", "up": "1mbit", "seeds": "5", "duration": "40s"},
    {"place": "home", "down": "20mbit", "up": "20mbit", "shape": "90%", "schemes": "droptail,fq-codel"},
]


@pytest.mark.parametrize("asked", REPORTED, ids=lambda one: write_hash(one))
def test_report__says_what_the_command_prints_and_shows_it_anywhere(
    window: Browser, address: str, asked: dict[str, str], tmp_path: Path
) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    with window.run_before_pages(SAVED):
        open_screen(
            window, address, write_hash({**{name: str(value) for name, value in SHORT.items()}, **asked})
        )
        command = ask(window)["commands"][-1]
        file = save_report(window, tmp_path)
        text = file.read_text()
        window.run("delete window.keptFiles['mousehole.html']")
        assert save_report(window, tmp_path).read_text() == text
    for width in WIDTHS:
        for dark in (False, True):
            picture = PICTURES / f"web-report-{width}-{'dark' if dark else 'light'}.png"
            shown = window.show(file, width, dark, picture)
            assert (shown.scroll_width, shown.console, shown.requests) == (width, [], [])
    texts = """
        const texts = (which) => [...document.querySelectorAll(which)].map(one => one.textContent);
        return [...texts('h1'), ...texts('.verdict p, .verdict li')]"""
    title, *lines = run_and_print(command, tmp_path)
    end = next((n for n, line in enumerate(lines) if line.startswith("Install on ")), len(lines))
    assert window.run(texts) == [title, *lines[:end]]
    blocks = window.run("return [...document.querySelectorAll('.code pre')].map(one => one.textContent)")
    assert isinstance(blocks, list)
    assert blocks[:-1] == [*(["\n".join(lines[end + 1 :])] if end < len(lines) else []), command]
    assert json.loads(blocks[-1])["scenario"]["link"]["down"] == asked["down"]
    colour = "return getComputedStyle(document.querySelector('figure svg text')).fill"
    dark_text = window.run(colour)
    window.set_dark(False)
    assert window.run(colour) != dark_text, "charts are in the colours of the page"
    window.run("document.querySelector('table th:nth-child(2) button').click()")
    assert window.run("return document.querySelector('th[aria-sort]').ariaSort") == "ascending"
    window.show(file, 820)
    tables = cast("dict[str, list[list[str]]]", window.run(TABLES))
    typed_tables = read_report_tables(window, command, tmp_path)
    own = [caption for caption in tables if caption in typed_tables]
    assert [caption for caption in own if tables[caption] != typed_tables[caption]] == []
    assert {"The link", "Other endpoints"} <= set(own)
    assert len(own) >= 10, own


@pytest.mark.parametrize("screen", ["line", "capture", "watch", "papers"])
def test_screens__fit_every_width_and_ask_no_other_host(
    window: Browser, address: str, screen: str, tmp_path: Path
) -> None:
    PICTURES.mkdir(parents=True, exist_ok=True)
    log = tmp_path / "access.log"
    write_access_log(log)
    asked = {"place": "home", "down": "20mbit", "up": "1mbit"}
    short = write_hash({**asked, **{name: str(value) for name, value in SHORT.items()}})
    for width in WIDTHS:
        for dark in (False, True):
            picture = PICTURES / f"web-{screen}-{width}-{'dark' if dark else 'light'}.png"
            window.show("about:blank", width)
            hash_ = {"line": short, "capture": f"{CAPTURED}&load=0.7"}.get(screen, screen)
            shown = window.show(f"{address}#{hash_}", width, dark)
            began = "return document.querySelector('form, canvas, #files, #knob') !== null"
            wait_for(lambda: window.run(began), "a screen")  # noqa: B023
            if screen == "capture":
                window.choose("#files", [log])
                wait_for(
                    lambda: window.run("return document.querySelector('#account') !== null"), "an account"
                )
            if screen == "papers":
                wait_for(
                    lambda: window.run("return document.querySelectorAll('.curves svg').length"), "a chart"
                )
                one_each = "return parseInt(document.querySelector('#over').textContent) >= 3"
                wait_for(lambda: window.run(one_each), "a run of each curve")  # noqa: B023
            elif screen in ("line", "capture"):
                ask(window)
                drawn = "return document.querySelectorAll('.chart svg').length"
                count = window.run("return document.querySelectorAll('.charts figure').length")
                wait_for(lambda: window.run(drawn) == count, "charts")  # noqa: B023
                named = window.run(NAMED)
                assert isinstance(named, list)
                assert len(set(map(tuple, named))) == 1, (
                    "the schemes of every chart, also of those without a value"
                )
                assert named[0][0].endswith("droptail")
            else:
                wait_for(lambda: window.run(WATCHED), "what users feel")
            assert window.run("return document.documentElement.scrollWidth") == width
            assert window.take_screenshot(picture) == []
            foreign = [one for one in shown.requests if not one.startswith((address, "blob:"))]
            assert foreign == []
            assert picture.stat().st_size > 20_000


def test_papers__show_what_another_threshold_does_beside_what_is_printed(
    window: Browser, address: str
) -> None:
    means = """
        return [...document.querySelectorAll('tbody tr')].map(
            row => [...row.querySelectorAll('th, td')].map(one => one.textContent)
        )"""
    found = []
    for threshold in (15, 4):
        open_screen(window, address, f"papers?paper=sfd&threshold={threshold}")
        wait_for(lambda: window.run(COMPLETE), "all runs")
        rows = window.run(means)
        assert isinstance(rows, list)
        found.append({size: [parse_seconds(time) for time in times] for size, *times in rows})
    before, after = found
    (ten_kb,) = [size for size in before if size.startswith("12,")]
    droptail, _, sfd = before[ten_kb]
    assert sfd < 0.8 * droptail, "short transfers gain"
    assert after[ten_kb][0] == droptail, "drop-tail has no threshold"
    assert after[ten_kb][2] > 1.05 * sfd, "they gain less where fewer of their packets are IN"
    label = window.run("return document.querySelector('.curves .chart').getAttribute('aria-label')")
    assert isinstance(label, str)
    assert "SFD: " in label


def test_watch__shows_what_a_better_queue_does(window: Browser, address: str) -> None:
    open_screen(window, address, "watch")
    felt = wait_for(lambda: window.run(WATCHED), "what users feel")
    assert len(felt) == 6
    left, right = (parse_seconds(felt[place]) for place in (0, 3))
    assert right < left / 3, "a call waits less under fq-codel"
    played = "return Number(document.querySelector('.time input').value)"
    before = window.run(played)
    wait_for(lambda: window.run(played) != before, "another moment", 10)


def parse_seconds(text: str) -> float:
    """Returns a time that the page shows in s or ms, in seconds."""
    number, unit = text.split()
    return float(number) / (1000 if unit == "ms" else 1)


def test_request__at_fault_is_one_sentence(window: Browser, address: str) -> None:
    open_screen(window, address, write_hash({"place": "home", "down": "fast", "up": "1mbit"}))
    (fault,) = ask(window)["fault"]
    assert fault.startswith('down: "fast"')
    assert "10mbit" in fault
    hostile = "<img src=x onerror=document.title=1>"
    open_screen(window, address, write_hash({"place": hostile, "down": "1mbit", "up": "1mbit"}))
    (fault,) = ask(window)["fault"]
    assert fault.startswith("place: ")
    assert hostile in fault
    assert window.run("return document.title") == "Mousehole: your line"
    assert window.run("return document.querySelectorAll('img').length") == 0


def test_stop__ends_all_runs_at_once(window: Browser, address: str) -> None:
    open_screen(window, address, write_hash({"place": "campus", "down": "200mbit", "up": "100mbit"}))
    window.run("document.querySelector('button.main').click()")
    wait_for(lambda: window.run("return document.querySelector('progress') !== null"), "progress")
    time.sleep(1)
    press_button(window, "Stop")
    wait_for(lambda: window.run("return document.querySelector('progress') === null"), "the end", 5)
    assert window.run("return document.querySelectorAll('.fault, #verdict').length") == 0


def test_worker__that_ends_is_replaced(window: Browser, address: str) -> None:
    asked = {"place": "home", "down": "20mbit", "up": "1mbit", "schemes": "droptail,fq-codel"}
    with window.run_before_pages(WORKERS):
        open_screen(
            window, address, write_hash({**asked, **{name: str(value) for name, value in SHORT.items()}})
        )
        window.run("document.querySelector('button.main').click()")
        wait_for(lambda: window.run("return window.keptWorkers.length > 0"), "a worker")
        window.run(
            "const one = keptWorkers.at(-1); one.terminate(); one.dispatchEvent(new ErrorEvent('error'))"
        )
        wait_for(lambda: window.run("return document.querySelector('#took') !== null"), "an answer")
    lead = window.run("return document.querySelector('.verdict .lead').textContent")
    assert lead == compare_by_command(asked).advice().lines[0]


def test_page__may_connect_to_nothing_and_its_workers_neither(window: Browser, address: str) -> None:
    open_screen(window, address, "line")
    tried = f"fetch('{address}index.html').then(() => 'connected', () => 'refused')"
    window.run(f"window.tried = []; {tried}.then(one => tried.push(one))")
    worker = f"{tried}.then(one => postMessage(one))"
    window.run(
        f"const place = URL.createObjectURL(new Blob([{worker!r}], {{type: 'text/javascript'}}));"
        "new Worker(place, {type: 'module'}).onmessage = (event) => tried.push(event.data)"
    )
    wait_for(lambda: window.run("return tried.length === 2"), "both tries", 20)
    assert window.run("return tried") == ["refused", "refused"]
    window.messages()  # the two refusals are there


def test_page__works_without_its_host(window: Browser) -> None:
    with serve(SITE) as address:
        open_screen(window, address, "line")
        controlled = "return navigator.serviceWorker.controller !== null"
        wait_for(lambda: window.run(controlled), "a service worker", 20)
        open_screen(window, address, "watch")  # asks for every file once more, now by way of it
        wait_for(lambda: window.run(WATCHED), "what users feel")
        open_screen(window, address, write_hash({"place": "home", "down": "20mbit", "up": "1mbit"}))
    open_screen(window, address, "watch")
    wait_for(lambda: window.run(WATCHED), "what users feel")


def test_page__opened_as_a_file_says_how_to_serve_it(window: Browser, address: str) -> None:
    seen = "return getComputedStyle(document.querySelector('.early')).visibility === 'visible'"
    window.show(SITE / "index.html", 820)
    wait_for(lambda: window.run(seen), "a sentence", 20)
    assert "python3 -m http.server" in str(window.run("return document.body.innerText"))
    window.messages()  # the scripts that a file may not load are there
    open_screen(window, address, "line")
    assert window.run("return document.querySelector('.early')") is None


def test_page__without_the_library_of_charts_says_so_and_tries_again(window: Browser, tmp_path: Path) -> None:
    site = Path(shutil.copytree(SITE, tmp_path / "site"))
    (library,) = site.glob("assets/chart-*.js")
    aside = library.rename(tmp_path / library.name)
    asked = {"place": "home", "down": "20mbit", "up": "1mbit", "schemes": "droptail,fq-codel"}
    drawn = "return document.querySelectorAll('.chart svg').length"
    said = "return document.querySelector('.charts [role=status]')?.textContent ?? ''"
    with serve(site) as address:
        open_screen(
            window, address, write_hash({**asked, **{name: str(value) for name, value in SHORT.items()}})
        )
        ask(window)
        assert wait_for(lambda: window.run(said), "a sentence", 20) == (
            "This chart’s library could not be loaded; the page tries again."
        )
        press_button(window, "Save the report (HTML)")
        refused = "return [...document.querySelectorAll('.go [role=status]')].at(-1).textContent"
        assert "there is no report" in wait_for(lambda: window.run(refused), "a sentence", 20)
        aside.rename(library)
        count = window.run("return document.querySelectorAll('.charts figure').length")
        wait_for(lambda: window.run(drawn) == count, "charts")
        assert window.run(said) == ""
    window.messages()  # the library that was not found is there


def test_page__whose_files_cannot_be_kept_shows_them_all_the_same(window: Browser, tmp_path: Path) -> None:
    site = Path(shutil.copytree(SITE, tmp_path / "site"))
    keeper = site / "sw.js"
    full = "Cache.prototype.put = () => Promise.reject(new Error('full'));\n"
    keeper.write_text(full + keeper.read_text())
    with serve(site) as address:
        open_screen(window, address, "watch")
        controlled = "return navigator.serviceWorker.controller !== null"
        wait_for(lambda: window.run(controlled), "a service worker", 20)
        open_screen(window, address, "watch")  # every file once more, now by way of it
        wait_for(lambda: window.run(WATCHED), "what users feel", 60)
    assert window.messages() == []
