"""`mark --ab`: a random share of hosts stays unmarked, and `status --ab` shows what marking changes.

Each host has its own line, as a provider's customers do: a class of HTB, with another class below it for
packets that are marked LE, which has lower priority. A long download of each host fills the line while the
host fetches small files.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from typing import Any

import pytest

from live.tests.support import DEVICE, FAR, FLOWS, NEAR, NEAR_ADDRESS, assert_refused
from validation.lab.live import Lab, require_program

HOSTS = [f"10.7.0.{number}" for number in range(10, 34)]
KEY = "a key of this test"
MARK = ("mark", DEVICE, "--via", "dscp", "--marker", "sfd(th=30kB)", "--user", "destination")
TRIAL = (*MARK, "--ab", "50%", "--ab-key", KEY, "--no-agent", "--flows", str(FLOWS))
PORT, FETCH, SECONDS, PAUSE = 7020, 20_000, 12.0, 5.0


def build_lines(lab: Lab) -> None:
    """Gives each host at the far end an address and a line of 2 Mbit/s.

    Marked packets have a class of their own there.
    """
    lab.run(NEAR, "ip", "link", "set", "dev", DEVICE, "gso_max_segs", "1")
    lines = [f"qdisc add dev {DEVICE} root handle 1: htb"]
    for at, host in enumerate(HOSTS, 0x10):
        lab.run(FAR, "ip", "addr", "add", f"{host}/24", "dev", "lan")
        lines.append(f"class add dev {DEVICE} parent 1: classid 1:{at:x} htb rate 2mbit quantum 1514")
        for band, of_mark in enumerate(["", "match ip dsfield 0x04 0xfc"]):
            leaf = f"1:{(band + 1) * 0x100 + at:x}"
            lines += [
                f"class add dev {DEVICE} parent 1:{at:x} classid {leaf} htb rate 8kbit ceil 2mbit "
                f"prio {band} quantum 1514",
                f"qdisc add dev {DEVICE} parent {leaf} pfifo limit 60",
                f"filter add dev {DEVICE} parent 1: protocol ip prio {9 - band} u32 match ip dst {host} "
                f"{of_mark} flowid {leaf}",
            ]
    lab.run(NEAR, "sh", "-c", "\n".join(f"tc {line} || exit 1" for line in lines))


class Traffic:
    """A server at the near end, and hosts that fetch from it."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.over = lab, threading.Event()
        with lab.inside(NEAR):
            self.listener = socket.create_server((NEAR_ADDRESS, PORT), backlog=256)
        self.threads = [threading.Thread(target=self._accept, daemon=True)]
        self.threads += [
            threading.Thread(target=self._host, args=(host, size), daemon=True)
            for host in HOSTS
            for size in (FETCH, 1 << 30)
        ]

    def run(self) -> None:
        """Lets all hosts fetch for some seconds, and waits until the last transfers are over.

        Call it once.
        """
        for thread in self.threads:
            thread.start()
        time.sleep(SECONDS)
        self.over.set()
        self.listener.close()
        for thread in self.threads[1:]:
            thread.join()
        time.sleep(PAUSE + 0.5)

    def _accept(self) -> None:
        """Accepts connections until the listener is closed; a thread runs this."""
        with contextlib.suppress(OSError):
            while True:
                end, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(end,), daemon=True).start()

    def _serve(self, end: socket.socket) -> None:
        """Sends as many bytes as the client asks for; a thread runs this."""
        with end, contextlib.suppress(OSError):
            left = int.from_bytes(end.recv(8), "little")
            while left > 0 and not self.over.is_set():
                left -= end.send(bytes(min(left, 16_384)))

    def _host(self, host: str, size: int) -> None:
        """Fetches files of one size again and again; a thread runs this."""
        with self.lab.inside(FAR):
            while not self.over.is_set():
                with socket.socket() as end, contextlib.suppress(OSError):
                    end.settimeout(10)
                    end.bind((host, 0))
                    end.connect((NEAR_ADDRESS, PORT))
                    end.send(size.to_bytes(8, "little"))
                    while not self.over.is_set() and end.recv(65_536):
                        pass
                time.sleep(0.3)


def run_trial(lab: Lab, *more: str) -> dict[str, Any]:
    """Runs a trial with traffic of some seconds. Returns what `status --ab` shows."""
    build_lines(lab)
    done = lab.live(NEAR, *TRIAL, *more)
    assert done.returncode == 0, done.stderr
    assert "50% of the hosts stay unmarked" in done.stdout
    Traffic(lab).run()
    (device,) = json.loads(lab.run(NEAR, require_program(), "status", "--ab", "--json"))["devices"]
    print(lab.live(NEAR, "status", "--ab").stdout)
    return dict(device)


def find_small_files_row(device: dict[str, Any]) -> dict[str, Any]:
    """Returns the row of the small files."""
    (row,) = [row for row in device["sizes"] if row["size"] == "15–50 kB"]
    return dict(row)


def test_trial__shows_what_marking_gains_each_host(lab: Lab) -> None:
    device = run_trial(lab)
    row = find_small_files_row(device)
    assert row["marked"]["hosts"] + row["spared"]["hosts"] == len(HOSTS)
    assert min(row["marked"]["hosts"], row["spared"]["hosts"]) >= 5
    assert row["change"]["high"] < 0, device
    assert "less time at marked hosts" in device["sentence"]


def test_trial__is_undecided_where_nobody_is_marked(lab: Lab) -> None:
    device = run_trial(lab, "--shadow")
    change = find_small_files_row(device)["change"]
    # Of twenty trials without an effect one shows some; a large one is none of them.
    assert abs(change["mean"]) < 0.2, device
    assert (change["low"] < 0 < change["high"]) == device["sentence"].startswith("undecided")


def test_key__is_drawn_kept_and_followed_by_the_guard_file(lab: Lab) -> None:
    done = lab.live(NEAR, *MARK, "--ab", "10%", "--no-agent", "--flows", str(FLOWS))
    assert done.returncode == 0, done.stderr
    said = lab.live(NEAR, "persist", DEVICE, "--print").stdout
    (line,) = [line for line in said.splitlines() if line.startswith("ab-key")]
    key = line.split('"')[1]
    assert len(key) == 32
    assert key in done.stdout
    assert 'ab = "10%"' in said
    assert "at most 0 and 0 had" in lab.live(NEAR, "status", "--ab").stdout


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--ab", "half"), r'--ab is "half"; it must be the part of the hosts'),
        (("--ab", "50%", "--ab-key", "short"), r'--ab-key is "short"; it must have 16 characters'),
        (("--ab", "50%", "--marker", "policer(high_rate=5%)", "--rate", "5mbit"), "no marker of flows"),
    ],
)
def test_trial__refuses(lab: Lab, words: tuple[str, ...], reason: str) -> None:
    assert_refused(lab.live(NEAR, "mark", DEVICE, "--via", "dscp", *words), reason)


def test_status__without_a_trial_says_how_to_start_one(lab: Lab) -> None:
    assert lab.live(NEAR, *MARK, "--no-agent", "--flows", str(FLOWS)).returncode == 0
    assert_refused(lab.live(NEAR, "status", "--ab"), "no trial runs here; `mousehole-live mark DEV --ab 50%`")
