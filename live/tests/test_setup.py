"""`setup`: sets up both directions of a line by one command, and `down` removes all of it.

The kernel may lack CAKE. A token bucket with its rate then stands in for it (cake.c), so that all but
CAKE's scheduling is real. What CAKE does with a mark is tested on kernels with CAKE (`make validation
WHAT=kernels`).
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live.tests.support import (
    DEVICE,
    FAR,
    FAR_ADDRESS,
    FLOWS,
    NEAR,
    assert_refused,
    assert_restored,
    pretend_cake,
    wait_until,
)
from live.tests.test_ifb import HOME, HOME_ADDRESS, LONG_PORT, redirect_to_ifb, router
from validation.lab.live import Lab, require_program, transfer

__all__ = ["router"]

MADE = f"ifb-{DEVICE}"
SETUP = ("setup", DEVICE, "--down", "20mbit", "--up", "4mbit")
RATES = {MADE: 18_000_000, DEVICE: 3_800_000}


class Caked:
    """Runs commands that take token buckets for CAKEs."""

    def __init__(self, lab: Lab, folder: Path) -> None:
        self.lab, self.first = lab, pretend_cake(folder)

    def live(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Runs `mousehole-live` at the near end as if the kernel had CAKE."""
        return self.lab.call(NEAR, *self.first, require_program(), *words)

    def run_ok(self, *words: str | Path) -> str:
        """Runs `mousehole-live`, which must succeed. Returns what it printed."""
        done = self.live(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def read_states(self) -> dict[str, dict[str, Any]]:
        """Returns the status of each device by its name; empty if nothing of ours is there."""
        done = self.live("status", "--json")
        devices = json.loads(done.stdout)["devices"] if done.returncode == 0 else []
        return {one["device"]: one for one in devices}

    def read_rates(self) -> dict[str, int]:
        """Returns the rates of our queue disciplines, bit/s, by device."""
        shown = json.loads(self.lab.run(NEAR, "tc", "-j", "qdisc", "show"))
        return {one["dev"]: one["options"]["rate"] * 8 for one in shown if one["handle"] == "6d48:"}


@pytest.fixture
def caked(router: Lab, tmp_path: Path) -> Iterator[Caked]:
    """Runs commands with a pretended CAKE; all devices are taken down when the test ends."""
    made = Caked(router, tmp_path)
    yield made
    made.live("down", "--all")


def measure_transfer_s(lab: Lab, source: str, target: str, address: str) -> float:
    """Returns how many seconds a transfer of 1 MB takes between two namespaces."""
    begin = time.monotonic()
    transfer(lab, source, target, address, 1_000_000, LONG_PORT)
    return time.monotonic() - begin


def test_setup__shapes_and_marks_both_ends_and_down_takes_all_back(caked: Caked) -> None:
    lab = caked.lab
    before, links = lab.state(NEAR, DEVICE), lab.run(NEAR, "ip", "-br", "link")
    said = caked.run_ok(*SETUP, "--link-layer", "vdsl", "--flows", str(FLOWS))
    assert f"18mbit at {MADE} (90 % of --down 20mbit), 3800kbit at {DEVICE} (95 % of --up 4mbit)" in said
    assert said.count("long flows go to 6d48:1, CAKE's Bulk tin") == 2
    assert caked.read_rates() == RATES
    cakes = [line for line in said.splitlines() if "of ours at its root: cake bandwidth" in line]
    assert all("diffserv4" in words and words.endswith("pppoe-ptm") for words in cakes)
    assert [" ingress " in words for words in cakes] == [True, False]
    states = caked.read_states()
    assert {name: (one["state"], one["problems"]) for name, one in states.items()} == {
        DEVICE: ("running", []),
        MADE: ("running", []),
    }
    assert states[DEVICE]["root_is_ours"] is states[MADE]["root_is_ours"] is True
    assert 8e6 / measure_transfer_s(lab, FAR, HOME, FAR_ADDRESS) < 18.5e6
    assert 8e6 / measure_transfer_s(lab, HOME, FAR, HOME_ADDRESS) < 4e6
    counted = {
        name: one["counters"]["colours"]["yellow"]["bytes"] for name, one in caked.read_states().items()
    }
    assert all(count > 100_000 for count in counted.values()), counted
    assert_refused(caked.live(*SETUP), f"(wan|{MADE}) is in use since")
    assert caked.run_ok("down", DEVICE).count("the program is removed") == 2
    assert_restored(lab, before)
    assert lab.run(NEAR, "ip", "-br", "link") == links


def test_setup__is_said_whole_before_it_is_done(caked: Caked) -> None:
    lab = caked.lab
    before = lab.state(NEAR, DEVICE)
    said = lab.live(NEAR, *SETUP, "--exact", "--overhead", "18", "--dry-run")
    assert said.returncode == 0, said.stderr
    assert f"{DEVICE}: 20mbit at {MADE}, 4mbit at {DEVICE}, as told" in said.stdout
    commands = [line for line in said.stdout.splitlines() if line.startswith("tc qdisc replace")]
    assert [line.split()[4] for line in commands] == [MADE, DEVICE]
    assert all("root handle 6d48: cake bandwidth" in line and "overhead 18" in line for line in commands)
    assert f"redirect dev {MADE}" in said.stdout
    assert lab.state(NEAR, DEVICE) == before
    assert MADE not in lab.run(NEAR, "ip", "-br", "link")


@pytest.mark.parametrize(
    ("up", "more", "filtered"),
    [
        ("4mbit", (), []),
        ("2mbit", (), [DEVICE]),
        ("2mbit", ("--ack-filter", "off"), []),
        ("4mbit", ("--ack-filter", "on"), [DEVICE]),
    ],
)
def test_setup__filters_acknowledgements_where_uploads_are_narrow(
    caked: Caked, up: str, more: tuple[str, ...], filtered: list[str]
) -> None:
    said = caked.lab.live(NEAR, "setup", DEVICE, "--down", "20mbit", "--up", up, *more, "--dry-run")
    assert said.returncode == 0, said.stderr
    commands = [line for line in said.stdout.splitlines() if line.startswith("tc qdisc replace")]
    assert [line.split()[4] for line in commands if " ack-filter" in line] == filtered


def test_setup__is_confirmed_tuned_and_taken_back_at_both_ends(caked: Caked) -> None:
    lab = caked.lab
    before = lab.state(NEAR, DEVICE)
    caked.run_ok(*SETUP, "--confirm", "30s", "--flows", str(FLOWS))
    assert all(one["unconfirmed_s"] for one in caked.read_states().values())
    assert caked.run_ok("confirm", DEVICE).count("confirmed") == 2
    assert_refused(caked.live("confirm", DEVICE), "waits for no confirmation")
    assert "10mbit" in caked.run_ok("tune", MADE, "--rate", "10mbit")
    assert caked.read_rates() == {**RATES, MADE: 10_000_000}
    assert caked.run_ok("upgrade", DEVICE).count("the program was replaced") == 2
    caked.run_ok("down", DEVICE)
    caked.run_ok(*SETUP, "--confirm", "2s", "--flows", str(FLOWS))
    wait_until(lambda: caked.read_states() == {}, 15)
    assert_restored(lab, before)
    assert MADE not in lab.run(NEAR, "ip", "-br", "link")


def test_setup_in_shadow__puts_no_queue_there(caked: Caked) -> None:
    lab = caked.lab
    before = lab.state(NEAR, DEVICE)
    caked.run_ok(*SETUP, "--shadow", "--flows", str(FLOWS))
    assert caked.read_rates() == {}
    assert all(one["shadow"] and not one["problems"] for one in caked.read_states().values())
    assert_refused(caked.live("tune", DEVICE, "--shadow", "off"), "was started without its CAKE")
    caked.run_ok("down", "--all")
    assert_restored(lab, before)


def test_queue_of_somebody_else__is_never_replaced(caked: Caked) -> None:
    lab = caked.lab
    for words, instead in (
        (
            f"tc qdisc add dev {DEVICE} root handle 9: tbf rate 3mbit burst 8k limit 99k",
            "--via dscp` marks before it",
        ),
        (
            f"tc qdisc replace dev {DEVICE} root handle 6d48: tbf rate 3mbit burst 8k limit 99k",
            "` marks before it",
        ),
    ):
        lab.run(NEAR, *words.split())
        before = lab.state(NEAR, DEVICE)
        done = caked.live(*SETUP)
        assert_refused(done, f"{DEVICE} has a qdisc of somebody's at its root")
        assert f"`mousehole-live mark {DEVICE}" in done.stderr
        assert instead in done.stderr
        assert lab.state(NEAR, DEVICE) == before
        assert MADE not in lab.run(NEAR, "ip", "-br", "link")
        lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
    redirect_to_ifb(lab)
    before = lab.state(NEAR, DEVICE)
    assert_refused(
        caked.live(*SETUP), f"what comes in at {DEVICE} goes to ifb0 already; `mousehole-live mark ifb0`"
    )
    assert lab.state(NEAR, DEVICE) == before


def test_kernel_without_cake__is_told_what_shapes_without(router: Lab) -> None:
    lab = router
    if lab.call(NEAR, *["tc", "qdisc", "add", "dev", "lo", "root", "cake"]).returncode == 0:
        pytest.skip("this kernel has CAKE")
    before = lab.state(NEAR, DEVICE)
    done = lab.live(NEAR, *SETUP)
    assert_refused(done, "the kernel has no cake; where it is a module, `modprobe sch_cake` loads it")
    assert f"`mousehole-live up {DEVICE} --download --rate 18mbit`" in done.stderr
    assert_restored(lab, before)
    assert MADE not in lab.run(NEAR, "ip", "-br", "link")
    for words in (("--down", "20mbit"), ("--up", "4mbit")):
        assert_refused(lab.live(NEAR, "setup", DEVICE, *words), "the kernel has no cake")
        assert_restored(lab, before)


def test_killed_at_any_moment__leaves_nothing_that_down_does_not_take_back(caked: Caked) -> None:
    lab = caked.lab
    before, links = lab.state(NEAR, DEVICE), lab.run(NEAR, "ip", "-br", "link")
    for step in range(12):
        process = lab.start(NEAR, *caked.first, require_program(), *SETUP, "--flows", str(FLOWS))
        time.sleep(0.02 * (step + 1))
        process.kill()
        process.communicate()
        caked.live("down", DEVICE)
        assert lab.state(NEAR, DEVICE) == before, step
        assert lab.run(NEAR, "ip", "-br", "link") == links, step
    assert_restored(lab, before)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--down", "fast"), "--down"),
        (("--up", "1mbit", "--link-layer", "docsys"), "--link-layer.*docsis"),
        (("--up", "1mbit", "--overhead", "300"), "--overhead is 300; it must be from 0 to 255"),
        (("--up", "1mbit", "--marker", "none"), 'there is no marker "none"'),
        (("--up", "1mbit", "--flows", "3"), "--flows is 3"),
        (("--up", "1mbit", "--confirm", "0s"), "--confirm"),
    ],
)
def test_setup__of_a_value_that_cannot_be_is_refused(lab: Lab, words: tuple[str, ...], reason: str) -> None:
    before = lab.state(NEAR, DEVICE)
    for more in ((), ("--dry-run",), ("--shadow",)):
        assert_refused(lab.live(NEAR, "setup", DEVICE, *words, *more), reason)
    assert lab.state(NEAR, DEVICE) == before


def test_setup__comes_back_with_the_guard(caked: Caked, tmp_path: Path) -> None:
    lab = caked.lab
    before = lab.state(NEAR, DEVICE)
    caked.run_ok(*SETUP, "--link-layer", "docsis", "--flows", str(FLOWS))
    said = caked.run_ok("persist", DEVICE, "--directory", tmp_path)
    assert f"/etc/mousehole/{MADE}.toml is written" in said
    assert f"/etc/mousehole/{DEVICE}.toml is written" in said
    caked.run_ok("down", DEVICE)
    log = (tmp_path / "guard.log").open("w")
    guard = lab.start(NEAR, *caked.first, require_program(), "guard", stderr=log)

    def is_whole() -> bool:
        """Returns whether both directions run without problems."""
        states = caked.read_states()
        return set(states) == {DEVICE, MADE} and not any(one["problems"] for one in states.values())

    try:
        wait_until(is_whole, 8)
        assert caked.read_rates() == RATES
        lab.run(NEAR, "ip", "link", "del", MADE)
        wait_until(lambda: is_whole() and MADE in lab.run(NEAR, "ip", "-br", "link"), 8)
        lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
        wait_until(lambda: "its qdisc 6d48: is gone" in str(caked.read_states()[DEVICE]["problems"]), 8)
    finally:
        guard.kill()
        guard.communicate()
    assert caked.run_ok("persist", DEVICE, "--remove", "--directory", tmp_path).count(".toml is removed") == 2
    caked.run_ok("down", DEVICE)
    assert_restored(lab, before)
