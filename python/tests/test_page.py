"""Pages, their server and what is made of loads, without a browser; tests/page_in_browser.py has one."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import struct
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import mousehole
import pytest
from mousehole import charts
from mousehole.base import EXTRAS, MouseholeError, OutputConsole, Silent, require_extra
from mousehole.commands.cli import main
from mousehole.document import print_document
from mousehole.page import (
    Behind,
    Errand,
    Fetch,
    Listener,
    Load,
    PageLoads,
    PageOptions,
    PageResults,
    Setting,
    Task,
    Trial,
    compute_request_times,
    conduct,
    example,
    make_application,
    predict,
)
from mousehole.page import _bulk as bulk
from mousehole.page import _content as content
from mousehole.page import _filling as filling
from mousehole.page import _har as har
from mousehole.page import _recording as recording
from mousehole.page import _waterfall as waterfalls
from support import MODULE

pytestmark = pytest.mark.alone

ORIGIN = "https://shop.example"


def make_entry(
    path: str, mime: str, text: str | None = None, size: int = 0, **response: Any
) -> dict[str, Any]:
    """Returns an entry of a recording."""
    body = {} if text is None else {"text": text}
    return {
        "pageref": "p1",
        "startedDateTime": "2026-01-01T00:00:00.000Z",
        "request": {"url": f"{ORIGIN}{path}", "httpVersion": "HTTP/2"},
        "response": {
            "status": 200,
            "httpVersion": "h2",
            "bodySize": size,
            "content": {"mimeType": mime, "size": size, **body},
            "headers": [],
            **response,
        },
    }


def write_har(folder: Path, *entries: Any) -> Path:
    """Writes entries as a HAR file, and returns its path."""
    path = folder / "page.har"
    path.write_text(json.dumps({"log": {"version": "1.2", "entries": list(entries)}}))
    return path


class TestFilling:
    @pytest.mark.parametrize(
        "mime",
        [
            "image/png",
            "image/svg+xml",
            "text/css",
            "text/html",
            "text/javascript",
            "font/woff2",
            "application/json",
        ],
    )
    @pytest.mark.parametrize("size", [0, 1, 5, 42, 43, 60, 61, 62, 63, 300, 301, 302, 700, 5000, 300_001])
    def test_fill_body__has_exactly_the_size(self, mime: str, size: int) -> None:
        assert len(filling.fill_body(mime, size)) == size

    def test_fill_body__of_a_picture_is_a_png_whose_chunks_are_whole(self) -> None:
        names = [name for name, _ in list_chunks(filling.fill_body("image/jpeg", 40_000, 7))]
        assert names == [b"IHDR", b"PLTE", b"IDAT", b"fiLl", b"IEND"]

    @pytest.mark.parametrize("size", [43, 61, 62, 63, 64, 120])
    def test_fill_body__of_few_bytes_is_a_gif_that_ends_as_one(self, size: int) -> None:
        picture = filling.fill_body("image/gif", size)
        assert picture.startswith(b"GIF89a")
        assert has_valid_blocks(picture)

    def test_pad__keeps_the_text_and_adds_a_comment(self) -> None:
        text = filling.pad(b"a { b: c }", "css", 100)
        assert text.startswith(b"a { b: c }/*")
        assert text.endswith(b"*/")
        assert text.count(b"*/") == 1

    def test_fill_document__refers_to_each_part_as_what_it_is(self) -> None:
        parts = [
            ("/a.css", "text/css"),
            ("/b.js", "text/javascript"),
            ("/c.png", "image/png"),
            ("/d?x=1&y", "font/woff2"),
        ]
        text = filling.fill_document("t", parts, 2000).decode()
        assert len(text) == 2000
        assert '<link rel="stylesheet" href="/a.css">' in text
        assert '<script src="/b.js" defer>' in text
        assert '<img src="/c.png"' in text
        assert 'as="font" href="/d?x=1&amp;y"' in text


def list_chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yields name and data of each chunk of a PNG; asserts the check sums."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place = 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        name, data = png[place + 4 : place + 8], png[place + 8 : place + 8 + length]
        (check,) = struct.unpack(">I", png[place + 8 + length : place + 12 + length])
        assert check == zlib.crc32(name + data)
        yield name, data
        place += 12 + length


def has_valid_blocks(gif: bytes) -> bool:
    """Returns whether the blocks of a GIF, read one after another, lead to its trailer."""
    place = 13 + 3 * 2  # header, and two colours
    while gif[place] != 0x3B:
        place += 2 if gif[place] == 0x21 else 11
        while gif[place]:
            place += gif[place] + 1
        place += 1
    return gif[place + 1 :] == bytes(len(gif) - place - 1)


class TestExample:
    def test_example__has_forty_objects_of_about_a_megabyte_and_is_the_same_again(self) -> None:
        page = example.make_page()
        assert len(page.answers) == 40
        assert 1_000_000 < page.size < 1_100_000
        assert page == example.make_page()
        assert page != example.make_page(seed=2)

    def test_example__document_names_every_other_object(self) -> None:
        first, *others = example.make_page(secure=True).answers
        text = first.body.decode()
        assert len(first.body) == example.DOCUMENT_BYTES
        assert all(f'"{one.url.removeprefix("https://page.test")}"' in text for one in others)


class TestFolder:
    def test_folder__serves_every_file_and_the_index_without_its_name(self, tmp_path: Path) -> None:
        (tmp_path / "index.html").write_text("<p>hello")
        (tmp_path / "a b.js").write_text("1")
        page = content.from_folder(tmp_path, secure=False)
        assert {one.url for one in page.answers} == {
            "http://page.test/", "http://page.test/index.html", "http://page.test/a%20b.js",
        }  # fmt: skip
        assert page.url == "http://page.test/"
        assert next(one for one in page.answers if one.url.endswith("js")).mime.startswith("text/javascript")

    def test_folder__without_a_document_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(MouseholeError, match=r"the folder has no index\.html"):
            content.from_folder(tmp_path, secure=False)

    def test_store__finds_what_was_written_and_what_differs_in_its_query_only(self, tmp_path: Path) -> None:
        page = content.Page(
            "x", "http://a/", (content.Answer("http://a/b?v=1", 200, "text/css", b"c", {"k": "v"}),)
        )
        content.write_page(page, tmp_path / "page")
        store = content.Store(tmp_path / "page")
        assert store.find("http://a/b?v=1") == page.answers[0]
        assert store.find("http://a/b?v=2") == page.answers[0]
        assert store.find("http://a/c") is None


class TestHar:
    def test_har__bodies_are_the_recorded_ones_or_of_the_recorded_size(self, tmp_path: Path) -> None:
        page = har.read(write_har(
            tmp_path, make_entry("/", "text/html; charset=utf-8", "<img src=/a.png>", 16),
            make_entry("/a.png", "image/png", None, 5000), make_entry("/b.js", "text/javascript", "1;", 2),
        ))  # fmt: skip
        assert [len(one.body) for one in page.answers] == [16, 5000, 2]
        assert page.url == f"{ORIGIN}/"
        assert page.version == "2"
        assert page.notes == (
            "page.har lacks the bodies of 1 of its answers; they were made of the recorded size.",
        )

    def test_har__without_the_document_s_text_one_is_made_that_refers_to_the_rest(
        self, tmp_path: Path
    ) -> None:
        page = har.read(
            write_har(
                tmp_path,
                make_entry("/", "text/html", None, 3000),
                make_entry("/a.png", "image/png", None, 90),
            )
        )
        text = page.answers[0].body.decode()
        assert f'<img src="{ORIGIN}/a.png"' in text
        assert len(text) == 3000
        assert any("lacks the text of the document" in note for note in page.notes)

    def test_har__compressed_text_is_sent_compressed(self, tmp_path: Path) -> None:
        headers = [{"name": "Content-Encoding", "value": "br"}]
        page = har.read(write_har(tmp_path, make_entry("/", "text/html", "long " * 500, 60, headers=headers)))
        assert page.answers[0].headers["content-encoding"] == "gzip"
        assert gzip.decompress(page.answers[0].body) == b"long " * 500

    def test_har__redirects_lead_to_the_document(self, tmp_path: Path) -> None:
        moved = make_entry(
            "/old", "", None, 0, status=301, headers=[{"name": "Location", "value": f"{ORIGIN}/"}]
        )
        page = har.read(write_har(tmp_path, moved, make_entry("/", "text/html", "x", 1)))
        assert page.url == f"{ORIGIN}/old"
        assert page.answers[0].headers == {"location": f"{ORIGIN}/"}

    def test_har__first_of_several_pages_and_what_had_no_answer(self, tmp_path: Path) -> None:
        second = {**make_entry("/two", "text/html", "2", 1), "pageref": "p2"}
        blocked = make_entry("/ad.js", "text/javascript", None, 0, status=0)
        page = har.read(write_har(tmp_path, make_entry("/", "text/html", "1", 1), blocked, second))
        assert [one.url for one in page.answers] == [f"{ORIGIN}/"]
        assert page.notes == (
            "Of the 2 pages in page.har the first is loaded.",
            "page.har has no answer from the network for 1 of its entries; they are not served.",
        )

    def test_origins__with_ports_and_of_this_machine_have_names_of_their_own(self) -> None:
        first = make_entry("/", "text/html", '<script src="http://localhost:8000/a.js">', 9)
        first["request"]["url"] = "http://localhost:8000/"
        second = make_entry("/a.js", "text/javascript", "fetch('http://127.0.0.1:8000/x')", 9)
        second["request"]["url"] = "http://127.0.0.1:8000/a.js"
        page = har.from_entries("x", [first, second], "x")
        assert [one.url for one in page.answers] == ["http://page.test/", "http://2.page.test/a.js"]
        assert page.answers[0].body == b'<script src="http://page.test/a.js">'
        assert page.answers[1].body == b"fetch('http://2.page.test/x')"

    @pytest.mark.parametrize(
        ("text", "fault"),
        [
            ("{", r"page\.har:1: is no HAR file; its JSON is broken"),
            ("[]", 'is no HAR file; it must be an object with "log"'),
            ('{"log": {"entries": 3}}', 'is no HAR file; it must be an object with "log"'),
            ('{"log": {"entries": []}}', "has no document: no entry of its page answers with status 200"),
            (
                '{"log": {"entries": [{"request": {"url": "http://a/"}}]}}',
                "entry 1 .* cannot be served: it lacks 'response'",
            ),
        ],
    )
    def test_har__broken_ones_are_refused_in_one_sentence(
        self, tmp_path: Path, text: str, fault: str
    ) -> None:
        (tmp_path / "page.har").write_text(text)
        with pytest.raises(MouseholeError, match=fault):
            har.read(tmp_path / "page.har")

    @pytest.mark.parametrize(
        ("part", "fault"),
        [
            ({"request": 3}, "entry 1 of the page cannot be served"),
            (
                {"request": {"url": "http://a:b/"}},
                "entry 1 of the page cannot be served: Port could not be cast",
            ),
            ({"request": {"url": "http://[a/"}}, "entry 1 of the page cannot be served: Invalid IPv6 URL"),
            ({"response": []}, "entry 1 of the page cannot be served"),
            ({"response": {"status": "ok"}}, "entry 1 of the page cannot be served"),
        ],
    )
    def test_har__entries_of_another_form_are_refused(
        self, tmp_path: Path, part: dict[str, Any], fault: str
    ) -> None:
        with pytest.raises(MouseholeError, match=fault):
            har.read(write_har(tmp_path, {**make_entry("/", "text/html", "x", 1), **part}))

    def test_har__that_is_not_text_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "page.har").write_bytes(b"\xff\xfe\x00")
        with pytest.raises(MouseholeError, match="it must be JSON in UTF-8"):
            har.read(tmp_path / "page.har")


def ask_application(
    folder: Path, path: str, method: str = "GET", origin: str = ""
) -> tuple[int, dict[str, str], bytes]:
    """Returns status, headers and body that the server's application answers."""
    sent: list[dict[str, Any]] = []
    headers = [(b"host", b"a.test"), *([(b"origin", origin.encode())] if origin else [])]
    scope = {"type": "http", "scheme": "http", "method": method, "raw_path": path.partition("?")[0].encode(),
             "query_string": path.partition("?")[2].encode(), "headers": headers}  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(make_application(content.Store(folder))(scope, receive, send))  # type: ignore[arg-type]
    start, body = sent
    return start["status"], {name.decode(): value.decode() for name, value in start["headers"]}, body["body"]


def test_server__answers_by_host_path_and_query(tmp_path: Path) -> None:
    answers = (
        content.Answer("http://a.test/x?y=1", 200, "text/css", b"body", {"content-encoding": "gzip"}),
        content.Answer("http://a.test/gone", 301, "text/html", b"", {"location": "/x"}),
    )
    content.write_page(content.Page("p", "http://a.test/x", answers), tmp_path / "page")
    status, headers, body = ask_application(tmp_path / "page", "/x?y=1", origin="http://b.test")
    assert (status, body) == (200, b"body")
    assert headers["content-type"] == "text/css"
    assert headers["content-encoding"] == "gzip"
    assert headers["access-control-allow-origin"] == "http://b.test"
    assert ask_application(tmp_path / "page", "/x?y=1", "HEAD")[2] == b""
    assert ask_application(tmp_path / "page", "/gone")[1]["location"] == "/x"
    assert ask_application(tmp_path / "page", "/nothing")[0] == 404
    assert ask_application(tmp_path / "page", "/favicon.ico")[0] == 204


def test_connection__sends_what_is_written_in_one_turn_together() -> None:
    async def packets_of_an_answer() -> tuple[bytes, int]:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            writer.write(b"head ")
            await writer.drain()
            writer.write(b"body\n")

        listener = Listener.take_over(socket.create_server(("127.0.0.1", 0)))
        async with await asyncio.start_server(answer, sock=listener):
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            writer.write(b"give\n")
            line = await asyncio.wait_for(reader.readline(), 5)
            own = writer.get_extra_info("socket")
            # tcpi_data_segs_in of linux/tcp.h
            info = own.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
            (segments,) = struct.unpack_from("=I", info, 152)
            writer.close()
            return line, segments

    began = time.monotonic()
    assert asyncio.run(packets_of_an_answer()) == (b"head body\n", 1)
    assert time.monotonic() - began < 0.19, "it is not held back until TCP's own limit"


def test_open_listener__needs_a_congestion_control_that_the_kernel_has() -> None:
    with bulk.open_listener("127.0.0.1", 0, "reno") as listener:
        used = listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    assert used.rstrip(b"\0") == b"reno"
    with pytest.raises(OSError, match="No such file"):
        bulk.open_listener("127.0.0.1", 0, "none-such")


def make_fetch(number: int, queued: float = 0.1, end: float | None = 0.5, **changes: Any) -> Fetch:
    """Returns an object of a load."""
    own = Fetch(
        url=f"http://page.test/{number or ''}",
        kind="Image" if number else "Document",
        status=200,
        protocol="http/1.1",
        priority="Low",
        connection=1,
        size=10_000,
        queued_s=queued,
        sent_s=queued + 0.01,
        first_byte_s=queued + 0.06,
        end_s=end,
        connecting_s=None,
        initiator="http://page.test/" if number else "",
        fault="",
    )
    return replace(own, **changes)


def make_load(load_s: float | None, **changes: Any) -> Load:
    """Returns a load of a document and eight objects; None is a load that does not end."""
    fetches = (
        make_fetch(0, 0.0, 0.1),
        *(make_fetch(number, 0.12, 0.3 + 0.05 * number) for number in range(1, 9)),
    )
    first, largest = (None, None) if load_s is None else (load_s / 2, 0.6 * load_s)
    steps = () if load_s is None else ((0.0, 0.0), (load_s / 2, 0.75), (load_s, 1.0))
    own = Load("loaded", "", first, largest, load_s, fetches, steps, 5e6, "Chrome/1", "")
    return replace(own, **changes)


def make_results(rounds: int = 6) -> PageResults:
    """Returns results of two schemes; the second takes 0.8 of the time and does not end in the last round."""
    setting = Setting("p", 90_000, (), "1.1", 2, "cubic", "10mbit", "40ms", "100p", 1.0, 9.0, 1, None, None)
    trials = [Trial("droptail", number, make_load(1.0 + 0.1 * number), None) for number in range(rounds)]
    trials += [
        Trial("red", number, make_load(0.8 * (1.0 + 0.1 * number)), None) for number in range(rounds - 1)
    ]
    late = make_load(None, outcome="timeout", reason="the load event did not come within 9 s")
    trials.append(Trial("red", rounds - 1, late, None))
    return PageResults(setting, ("droptail", "red"), "droptail", rounds, tuple(trials))


class TestResults:
    def test_rows__have_ratios_of_means_over_paired_rounds(self) -> None:
        _, red = make_results().rows()
        assert red.loads == 5
        assert red.missing == ("the load event did not come within 9 s",)
        assert red.changes["load"].mean == pytest.approx(-0.2)
        assert red.changes["load"].count == 5
        assert red.changes["load"].has_interval
        assert red.times["first_paint"].mean == pytest.approx(0.4 * 1.2)

    def test_rows__invalid_link_does_not_count(self) -> None:
        found = make_results()
        trials = (replace(found.trials[0], invalid="packets were late"), *found.trials[1:])
        first, _ = replace(found, trials=trials).rows()
        assert (first.loads, first.missing) == (5, ("packets were late",))
        assert isnan(replace(found, trials=trials).values("droptail", "load")[0])

    def test_middle__is_the_load_of_the_median(self) -> None:
        middle = make_results().middle("droptail")
        assert middle is not None
        assert middle.load.load_s == pytest.approx(1.2)

    def test_report__names_loads_that_did_not_end(self) -> None:
        console = OutputConsole(width=110, highlight=False)
        with console.capture() as captured:
            print_document(console, PageLoads(make_results()).document())
        text = captured.get()
        assert "red: 1 load of 6 not compared: the load event did not come within 9 s." in text
        assert "−20 % (−20…−20)" in text
        assert "9 objects arrived per load" in text

    def test_json__has_every_load_and_object(self) -> None:
        found = json.loads(PageLoads(make_results()).to_json())
        assert found["schema"] == "mousehole.page/1"
        assert len(found["loads"]) == 12
        assert found["loads"][-1]["outcome"] == "timeout"
        assert len(found["loads"][0]["fetches"]) == 9
        assert found["schemes"][1]["changes"]["load"]["mean"] == pytest.approx(-0.2)

    @pytest.mark.parametrize("is_predicted", [False, True])
    def test_load__gives_the_same_document(self, tmp_path: Path, is_predicted: bool) -> None:
        times = {"droptail": [1.0] * 5 + [float("nan")], "red": [0.9] * 6}
        prediction = predict.Prediction("droptail", times, "Simulated.") if is_predicted else None
        found = PageLoads(make_results(), prediction)
        found.save(tmp_path / "page.json")
        loaded = mousehole.load(tmp_path / "page.json")
        assert loaded.markdown() == found.markdown()
        assert isinstance(loaded, PageLoads)
        assert loaded.to_json() == found.to_json()
        loaded.html(tmp_path / "page.html")
        assert "object by object" in (tmp_path / "page.html").read_text(encoding="utf-8")

    def test_load__survives_its_record(self) -> None:
        one = make_load(1.5)
        assert Load.from_record(json.loads(json.dumps(one.record()))) == one

    def test_load__of_a_record_without_pictures_has_no_progress(self) -> None:
        record = make_load(1.5).record()
        del record["progress"]
        assert Load.from_record(record) == make_load(1.5, progress=())

    def test_rows__have_the_speed_index(self) -> None:
        droptail, red = make_results().rows()
        # Half the load's time at 0, half at 75 %.
        assert droptail.times["speed_index"].mean == pytest.approx(1.25 * (0.5 + 0.5 * 0.25))
        assert red.changes["speed_index"].mean == pytest.approx(-0.2)

    def test_report__draws_the_visual_progress(self, tmp_path: Path) -> None:
        text = PageLoads(make_results()).markdown()
        assert "speed index" in text
        PageLoads(make_results()).html(tmp_path / "page.html")
        assert "Visual progress of the median loads" in (tmp_path / "page.html").read_text(encoding="utf-8")
        bare = make_results()
        bare = replace(
            bare, trials=tuple(replace(one, load=replace(one.load, progress=())) for one in bare.trials)
        )
        assert "Visual progress" not in PageLoads(bare).markdown()

    def test_waterfall__draws_a_panel_per_scheme_with_every_object(self, tmp_path: Path) -> None:
        path = tmp_path / "a.svg"
        charts.write_chart(waterfalls.draw_picture(make_results()), path)
        text = path.read_text()
        assert all(
            f">{word}<" in text for word in ("droptail", "red", "8", "image", "first contentful paint")
        )

    @pytest.mark.parametrize(
        ("url", "name"),
        [
            ("https://a.example/", "/"),
            ("https://a.example", "/"),
            ("https://a.example/folder/photos/", "photos"),
            ("https://a.example/folder/one.css?v=2", "one.css"),
            (f"https://a.example/{'a' * 30}.js", f"{'a' * 11}…{'a' * 9}.js"),
        ],
    )
    def test_waterfall__names_the_last_part_of_a_path(self, url: str, name: str) -> None:
        assert waterfalls._shorten_name(url) == name

    def test_waterfall__says_where_no_load_counts(self, tmp_path: Path) -> None:
        found = make_results(1)
        charts.write_chart(waterfalls.draw_picture(found), tmp_path / "a.svg")
        assert ">no load that counts<" in (tmp_path / "a.svg").read_text()


class TestPrediction:
    def test_model__takes_order_parents_and_pauses_from_the_loads(self) -> None:
        model = predict.fit_model([make_load(1.0), make_load(1.2)], "1.1")
        assert model is not None
        assert [part.parent for part in model.parts] == [None] + 8 * [0]
        assert model.parts[1].pause_s == pytest.approx(0.02)
        assert model.tail_s == pytest.approx(1.1 - 0.7)
        assert not model.is_shared

    def test_model__objects_that_the_first_bytes_ask_for(self) -> None:
        """What is asked for before the document's end counts from its first byte, in the browser's order."""
        own = make_load(1.0)
        late = [replace(own.fetches[0], end_s=0.2), *own.fetches[1:]]
        late[3] = replace(late[3], queued_s=0.11)
        model = predict.fit_model([replace(own, fetches=tuple(late))], "1.1")
        assert model is not None
        assert all(part.is_early for part in model.parts[1:])
        # The document's first byte is at 0.06; the third object was asked for a little before the first two.
        assert [round(part.pause_s, 3) for part in model.parts[1:5]] == [0.05, 0.05, 0.05, 0.06]
        # Where the document came at once, another load tells that nothing waits for its end.
        at_once = make_load(1.0)
        alone = predict.fit_model([at_once], "1.1")
        told = predict.fit_model([at_once], "1.1", [replace(own, fetches=tuple(late))])
        assert alone is not None
        assert told is not None
        assert not any(part.is_early for part in alone.parts)
        assert [part.is_early for part in told.parts] == [False] + 8 * [True]
        assert told.parts[1].pause_s == pytest.approx(0.06)

    def test_prediction__does_not_wait_for_the_end_of_a_long_document(self) -> None:
        found = make_results()
        options = PageOptions(rate="10mbit", rtt="40ms", buffer="100p")

        def predicted(end_s: float) -> float:
            document = replace(make_fetch(0, 0.0, end_s), size=500_000)
            trials = tuple(
                replace(one, load=replace(one.load, fetches=(document, *one.load.fetches[1:])))
                for one in found.trials[:6]
            )
            alone = replace(found, setting=replace(found.setting, bulk=0), trials=trials)
            return predict.predict_loads(alone, options).time("droptail").mean

        # The other objects share the link with it, or follow it with round trips of their own.
        early, late = predicted(0.5), predicted(0.1)
        assert early < late - 0.08

    def test_prediction__more_often_than_in_the_browser(self) -> None:
        options = PageOptions(rate="10mbit", rtt="40ms", buffer="100p")
        made = predict.predict_loads(make_results(), options, times=3)
        assert len(made.times["red"]) == 18
        assert "18 times per scheme" in made.words
        assert made.times["red"][:6] == predict.predict_loads(make_results(), options).times["red"]

    def test_prediction__alone_is_bytes_over_the_rate_and_the_round_trips(self) -> None:
        found = make_results()
        alone = replace(found, setting=replace(found.setting, bulk=0), trials=found.trials[:6])
        made = predict.predict_loads(alone, PageOptions(rate="10mbit", rtt="40ms", buffer="100p"))
        # Handshake, document, handshakes of the others, then 8 objects on 6 connections.
        wire = 8 * 9 * 10_000 * (1500 / 1448) / 10e6
        trips, pauses = 4 * 0.04, 0.02 + (alone.trials[0].load.load_s or 0.0) - 0.7 + 0.25
        assert wire + trips < made.time("droptail").mean < wire + trips + pauses + 0.1
        assert made.time("droptail").mean == pytest.approx(made.time("red").mean, rel=0.05)

    def test_prediction__beside_downloads_takes_longer_and_is_the_same_again(self) -> None:
        options = PageOptions(rate="10mbit", rtt="40ms", buffer="100p")
        first, again = (
            predict.predict_loads(make_results(), options),
            predict.predict_loads(make_results(), options),
        )
        assert first == again
        assert first.time("droptail").mean > 1.0
        assert first.record("droptail")["change"] is None
        assert first.record("red")["change"]["count"] == 6

    def test_prediction__over_one_connection_has_one_handshake(self) -> None:
        secure = [replace(one, url=one.url.replace("http:", "https:")) for one in make_load(1.0).fetches]
        model = predict.fit_model([replace(make_load(1.0), fetches=tuple(secure))], "2")
        assert model is not None
        assert model.is_shared
        assert model.is_secure


def measure_at_once(source: str, **options: Any) -> tuple[PageResults, list[Errand]]:
    """Returns the results of loads that a stub answers at once, and the errands it got."""
    errands: list[Errand] = []

    def join(errand: Errand) -> Behind:
        errands.append(errand)
        task = Task.read(errand.folder / "task.json")
        Path(task.result).write_text(json.dumps(make_load(1.0).record()))
        return Behind("", {"schema": "x"})

    given = {"schemes": "droptail,red,sfd", "loads": 4, "settle": "0s", "bulk": 0, **options}
    return conduct.measure_loads(source, PageOptions(**given), Silent(), join), errands


@pytest.mark.parametrize(("send_end", "sent"), [(2.0, 7.002), (9.0, 7.004)])
def test_request__counts_as_sent_by_the_first_byte_of_its_answer(send_end: float, sent: float) -> None:
    timing = {"requestTime": 8.0, "connectStart": -1.0, "sendEnd": send_end, "receiveHeadersStart": 4.0}
    times = compute_request_times(timing, begin=1.0)
    assert times == {
        "connecting_s": None,
        "sent_s": pytest.approx(sent),
        "first_byte_s": pytest.approx(7.004),
    }


def test_request__without_an_answer_has_no_times() -> None:
    assert compute_request_times({}, begin=1.0) == {
        "connecting_s": None,
        "sent_s": None,
        "first_byte_s": None,
    }


@pytest.fixture
def _browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives the conductor a program that it takes for Chromium."""
    monkeypatch.setenv("MOUSEHOLE_CHROMIUM", "/bin/true")


@pytest.mark.usefixtures("_browser")
class TestConductor:
    def test_rounds__mix_the_schemes_by_the_seed(self) -> None:
        found, errands = measure_at_once("example")
        assert len(errands) == 12
        orders = [tuple(one.scheme for one in errands[3 * number : 3 * number + 3]) for number in range(4)]
        assert all(sorted(order) == ["droptail", "red", "sfd"] for order in orders)
        assert len(set(orders)) > 1
        assert [one.seed for one in errands] == [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3
        assert [one.scheme for one in measure_at_once("example")[1]] == [one.scheme for one in errands]
        assert [trial.round for trial in found.trials_under("red")] == [0, 1, 2, 3]

    def test_load__without_a_result_is_reported(self) -> None:
        options = PageOptions(schemes="droptail", loads=1, bulk=0)
        found = conduct.measure_loads("example", options, Silent(), lambda _: Behind("the link broke", None))
        assert found.trials[0].load.reason == "the link broke"
        assert found.rows()[0].missing == ("the link broke",)

    def test_load__is_repeated_while_the_link_is_late(self) -> None:
        answers = iter(["late", "", "late", "late", "late"])
        options = PageOptions(schemes="droptail", loads=2, bulk=0)
        found = conduct.measure_loads("example", options, Silent(), lambda _: Behind("", None, next(answers)))
        assert [(trial.invalid, trial.repeats) for trial in found.trials] == [("", 1), ("late", 2)]

    @pytest.mark.parametrize(
        ("given", "fault"),
        [
            ({"http": "4"}, 'http: "4" is not allowed'),
            (
                {"congestion": "vegas"},
                'congestion: "vegas" is not allowed; it must be one of cubic, reno, bbr',
            ),
            ({"loads": 0}, "loads: 0 is not allowed"),
            ({"bulk": -1}, "bulk: -1 is not allowed"),
            ({"schemes": "droptail,nothing"}, "nothing"),
            ({"rate": "10"}, "rate"),
            ({"timeout": "0s"}, 'timeout: "0s" is not allowed'),
            ({"settle": "soon"}, "settle"),
            ({"baseline": "nothing"}, "baseline"),
        ],
    )
    def test_options__that_are_not_allowed(self, given: dict[str, Any], fault: str) -> None:
        with pytest.raises(MouseholeError, match=fault):
            measure_at_once("example", **given)

    @pytest.mark.parametrize(
        ("source", "fault"),
        [
            (
                "no-such-folder",
                'no such page; it must be a folder, a HAR file, an address such as .* or "example"',
            ),
            ("http://example.com/", r"http://example\.com/ is not on this machine"),
            ("https://localhost.evil.example/", "is not on this machine"),
            ("http://localhost:port/", "is no address"),
        ],
    )
    def test_sources__that_are_no_page(self, source: str, fault: str) -> None:
        with pytest.raises(MouseholeError, match=fault):
            measure_at_once(source)

    def test_chromium__that_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("MOUSEHOLE_CHROMIUM", "/no/such/browser")
        with pytest.raises(
            MouseholeError, match="MOUSEHOLE_CHROMIUM is /no/such/browser, which is no program"
        ):
            measure_at_once("example")
        monkeypatch.delenv("MOUSEHOLE_CHROMIUM")
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(MouseholeError, match="no Chromium is installed"):
            measure_at_once("example")

    def test_server__that_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(EXTRAS["page"], "no_such_module", "a-package")
        with pytest.raises(
            MouseholeError, match=r"needs the package a-package.*pip install 'mousehole\[page\]'"
        ):
            measure_at_once("example")

    def test_server__needs_quic_for_http_3_only(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "aioquic", None)  # it cannot be found now
        require_extra("page", "a server", without=("aioquic",))
        with pytest.raises(MouseholeError, match="needs the package aioquic"):
            measure_at_once("example", http="3")


def test_check__addresses_of_this_machine_are_allowed() -> None:
    for url in ("http://localhost:8000/", "http://127.0.0.1/", "http://[::1]:80/x"):
        recording.check(url)


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (["no-such-page"], "no-such-page: no such page; it must be a folder, a HAR file"),
        (["example", "--loads", "0"], "--loads: 0 is not allowed; it must be a whole number of at least 1"),
        (["example", "--http", "4"], '--http: "4" is not allowed; it must be one of 1.1, 2, 3'),
        (["example", "--rate", "fast"], "--rate: "),
        (["example", "--plot", "page.txt"], "--plot: "),
        (["http://example.com/"], "http://example.com/ is not on this machine"),
    ],
)
def test_command__bad_input_is_one_line_and_status_2(given: list[str], fault: str) -> None:
    environment = {**os.environ, "MOUSEHOLE_CHROMIUM": "/bin/true"}
    done = subprocess.run(
        [*MODULE, "page", *given], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"mousehole: error: {fault}")


@pytest.mark.parametrize(("red", "status"), [(1, 1), (2, 0)])
def test_command__no_load_under_a_scheme_is_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, red: int, status: int
) -> None:
    """Of two rounds; in the last one, the load under red does not end."""
    found = make_results(2)
    own = tuple(one for one in found.trials if one.scheme != "red" or one.round >= 2 - red)
    monkeypatch.setattr(conduct, "measure_loads", lambda *_: replace(found, trials=own))
    place = tmp_path / "page.json"
    monkeypatch.setattr(sys, "argv", ["mousehole", "page", "example", "--json", str(place)])
    monkeypatch.setattr("os._exit", sys.exit)
    with pytest.raises(SystemExit) as leaving:
        main()
    assert (leaving.value.code or 0) == status
    assert "red: 1 load of 2 not compared" in capsys.readouterr().out
    assert [one["loads"] for one in json.loads(place.read_text())["schemes"]] == [2, red - 1]
