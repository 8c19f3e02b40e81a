"""Real applications: nginx's pages are marked by their length, and iperf3 gets the queue's rate."""

from __future__ import annotations

import http.client
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from live.tests.support import (
    DEVICE,
    FAR,
    FAR_ADDRESS,
    FLOWS,
    NEAR,
    NEAR_ADDRESS,
    assert_restored,
    find_flow,
    read_status,
)
from validation.lab.live import Lab

HTTP_PORT, IPERF_PORT = 7400, 7401
FILES = {"short": bytes(range(256)) * 16, "long": bytes(range(256)) * 8_192}
CONFIGURATION = """\
daemon off;
user root;
worker_processes 1;
pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen {address}:{port};
        root {folder}/pages;
    }}
}}
"""


@pytest.fixture
def before(lab: Lab) -> dict[str, Any]:
    """Returns the device's state."""
    return lab.state(NEAR, DEVICE)


@pytest.fixture
def nginx(lab: Lab, tmp_path: Path) -> Iterator[None]:
    """Serves the files at the near end while the test lasts; skips the test without nginx."""
    if not shutil.which("nginx"):
        pytest.skip("nginx is not installed; 'make deps' installs it (nginx-light)")
    (tmp_path / "pages").mkdir()
    for name, content in FILES.items():
        (tmp_path / "pages" / name).write_bytes(content)
    path = tmp_path / "nginx.conf"
    path.write_text(CONFIGURATION.format(folder=tmp_path, address=NEAR_ADDRESS, port=HTTP_PORT))
    process = lab.start(NEAR, "nginx", "-p", tmp_path, "-e", "stderr", "-c", path)
    deadline = time.monotonic() + 10
    while not (tmp_path / "nginx.pid").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield
    process.terminate()
    process.communicate(timeout=10)


@dataclass(frozen=True)
class Page:
    """A fetched file, and the client's port of its connection."""

    content: bytes
    port: int


def fetch_page(lab: Lab, name: str) -> Page:
    """Fetches a file from the far end by a new connection.

    Returns its content and the client's port; fails unless the status is 200.
    """
    connection = http.client.HTTPConnection(NEAR_ADDRESS, HTTP_PORT, timeout=20)
    with lab.inside(FAR):
        connection.connect()
    port = connection.sock.getsockname()[1]
    connection.request("GET", f"/{name}", headers={"Connection": "close"})
    answer = connection.getresponse()
    assert answer.status == http.client.OK
    content = answer.read()
    connection.close()
    return Page(content, port)


MARK = ("mark", DEVICE, "--via", "dscp")
QUEUE = ("up", DEVICE, "--scheme", "sfd", "--rate", "20mbit")


@pytest.mark.usefixtures("nginx")
@pytest.mark.parametrize("words", [MARK, QUEUE], ids=["mark", "up"])
def test_nginx__short_and_long_pages_differ_in_colour(
    lab: Lab, before: dict[str, Any], words: tuple[str, ...]
) -> None:
    done = lab.live(NEAR, *words, "--flows", str(FLOWS))
    assert done.returncode == 0, done.stderr
    pages = {name: fetch_page(lab, name) for name in FILES}
    assert {name: page.content for name, page in pages.items()} == FILES
    flows = {
        name: find_flow(lab, source_port=HTTP_PORT, destination_port=page.port)
        for name, page in pages.items()
    }
    assert {name: flow["colour"] for name, flow in flows.items()} == {"short": "green", "long": "yellow"}
    assert flows["short"]["colour_packets"]["yellow"] == 0
    for name, flow in flows.items():
        # What the queue drops is counted, and sent again.
        dropped = 1_500 * sum(flow["dropped"].values())
        assert len(FILES[name]) < flow["bytes"] < 1.1 * len(FILES[name]) + 2_000 + dropped
    assert read_status(lab)["problems"] == []
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def measure_goodput(lab: Lab, seconds: int) -> float:
    """Returns the goodput of one iperf3 connection of `seconds` from the near to the far end, bit/s."""
    port = ("-p", str(IPERF_PORT))
    server = lab.start(FAR, "iperf3", "--server", "--one-off", "-B", FAR_ADDRESS, *port)
    client = ("iperf3", "--client", FAR_ADDRESS, "-B", NEAR_ADDRESS, *port, "-t", str(seconds), "--json")
    deadline = time.monotonic() + 10
    # Until the server listens, the client says what failed, as JSON and with any exit code.
    while "end" not in (said := json.loads(lab.call(NEAR, *client).stdout)) or not said["end"]:
        assert time.monotonic() < deadline, said["error"]
        time.sleep(0.1)
    server.communicate(timeout=10)
    return float(said["end"]["sum_received"]["bits_per_second"])


def test_iperf3__has_the_rate_of_the_queue(lab: Lab, before: dict[str, Any]) -> None:
    if not shutil.which("iperf3"):
        pytest.skip("iperf3 is not installed; 'make deps' installs it")
    rate = 20e6
    done = lab.live(NEAR, "up", DEVICE, "--rate", "20mbit", "--flows", str(FLOWS))
    assert done.returncode == 0, done.stderr
    # Of a full frame, 14 bytes are Ethernet's, 20 IPv4's and 32 TCP's.
    assert measure_goodput(lab, 2) == pytest.approx(rate * 1448 / 1514, rel=0.1)
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)
