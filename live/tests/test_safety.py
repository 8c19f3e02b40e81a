"""Killed anywhere, run twice, without privileges or its device: traffic flows, and all is restored."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import time
from typing import Any

import pytest

from live.tests.support import (
    DEVICE,
    FAR,
    FLOWS,
    NEAR,
    UP,
    assert_refused,
    assert_restored,
    read_cookie,
    run_up,
    wait_until,
)
from validation.lab.live import Echo, Lab, require_program
from validation.lab.namespaces import BPF_ROOT

ATTACHMENTS = ("tcx", "clsact")
TUNE = ("tune", DEVICE, "--rate", "8mbit")
RANDOM_POINTS = 6
POINTS_PER_CALL = 2
# System calls that change something: maps, programs and pins; folders; netlink messages; processes.
CALLS = ("bpf", "mkdir", "sendto", "clone", "unlink", "rmdir")
ANSWER_S = 5.0


@pytest.fixture
def before(lab: Lab) -> dict[str, Any]:
    """Returns the device's state."""
    return lab.state(NEAR, DEVICE)


def run_down(lab: Lab) -> None:
    """Runs `down`, which must succeed or say that nothing of ours is there."""
    done = lab.live(NEAR, "down", DEVICE)
    assert done.returncode in {0, 2}
    assert done.returncode == 0 or "nothing of ours" in done.stderr


def measure_s(lab: Lab, *words: str) -> float:
    """Returns how many seconds a command takes; it must succeed."""
    begin = time.monotonic()
    done = lab.live(NEAR, *words)
    assert done.returncode == 0, done.stderr
    return time.monotonic() - begin


def kill_after(lab: Lab, words: tuple[str, ...], seconds: float) -> None:
    """Starts a command, kills it after some seconds and waits for its end; its children may go on."""
    process = lab.start(NEAR, require_program(), *words)
    time.sleep(seconds)
    process.kill()
    process.communicate()


def kill_at_call(lab: Lab, words: tuple[str, ...], call: str, number: int) -> None:
    """Runs a command that is killed at the `number`-th system call of a kind."""
    inject = f"inject={call}:signal=KILL:when={number}"
    lab.call(
        NEAR,
        "strace",
        "-f",
        "-o",
        "/dev/null",
        "-e",
        f"trace={call}",
        "-e",
        inject,
        require_program(),
        *words,
    )


def count_calls(lab: Lab, words: tuple[str, ...], call: str) -> int:
    """Returns how many system calls of a kind a command makes, without its children."""
    done = lab.call(NEAR, "strace", "-o", "/dev/stderr", "-e", f"trace={call}", require_program(), *words)
    assert done.returncode == 0, done.stderr
    return len(re.findall(rf"^{call}\w*\(", done.stderr, re.MULTILINE))


@pytest.mark.parametrize("attach", ATTACHMENTS)
def test_kill__at_random_moments__never_blocks_and_is_taken_back(
    lab: Lab, echo: Echo, before: dict[str, Any], attach: str
) -> None:
    start = (*UP, "--attach", attach)
    verbs = {"up": start, "tune": TUNE, "upgrade": ("upgrade", DEVICE), "down": ("down", DEVICE)}
    lasts = {name: measure_s(lab, *words) for name, words in verbs.items()}
    assert_restored(lab, before)
    draws = random.Random(attach)  # noqa: S311, moments
    for name, words in verbs.items():
        for _ in range(RANDOM_POINTS):
            if name != "up":
                run_up(lab, "--attach", attach)
            kill_after(lab, words, draws.uniform(0, lasts[name]))
            assert echo.answers_within(ANSWER_S), f"{name} was killed"
            if draws.random() < 0.5:
                # Another `up` succeeds too, or is refused because the first one runs.
                assert lab.live(NEAR, *start).returncode in {0, 2}
                assert echo.answers_within(ANSWER_S), f"{name} was killed, then up"
            run_down(lab)
            assert_restored(lab, before)


@pytest.mark.parametrize("attach", ATTACHMENTS)
def test_kill__at_each_kind_of_call__never_blocks_and_is_taken_back(
    lab: Lab, echo: Echo, before: dict[str, Any], attach: str
) -> None:
    if not shutil.which("strace"):
        pytest.skip("strace is not installed; 'make deps' installs it")
    start = (*UP, "--attach", attach)
    draws = random.Random(attach)  # noqa: S311, moments
    killed = 0
    for call in CALLS:
        counts = {}
        for words in (start, TUNE, ("upgrade", DEVICE), ("down", DEVICE)):
            counts[words] = count_calls(lab, words, call)
        for words, count in counts.items():
            for number in sorted(draws.sample(range(1, count + 1), min(count, POINTS_PER_CALL))):
                if words[0] != "up":
                    run_up(lab, "--attach", attach)
                kill_at_call(lab, words, call, number)
                killed += 1
                where = f"{words[0]} was killed at {call} {number} of {count}"
                assert echo.answers_within(ANSWER_S), where
                run_down(lab)
                assert lab.state(NEAR, DEVICE) == before, where
    assert_restored(lab, before)
    assert killed >= 15


@pytest.mark.parametrize("attach", ATTACHMENTS)
def test_up__twice_at_once__exactly_one_wins(lab: Lab, before: dict[str, Any], attach: str) -> None:
    for _ in range(10):
        both = [lab.start(NEAR, require_program(), *UP, "--attach", attach) for _ in range(2)]
        errors = [process.communicate(timeout=60)[1] for process in both]
        assert sorted(process.returncode for process in both) == [0, 2]
        assert any("is in use" in one for one in errors)
        assert len(list_programs(lab)) == 1
        assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def test_down__after_the_device_is_deleted__removes_what_was_kept(lab: Lab) -> None:
    for attach in ATTACHMENTS:
        run_up(lab, "--attach", attach)
        lab.run(NEAR, "ip", "link", "delete", DEVICE)
        done = lab.live(NEAR, "down", DEVICE)
        assert done.returncode == 0, done.stderr
        assert "gone" in done.stdout
        assert lab.pinned() in ([], [str(BPF_ROOT / "mousehole")])
        lab.pair(NEAR, DEVICE, "10.7.0.1/24", FAR, "lan", "10.7.0.2/24")


def test_down__after_the_device_has_moved__ends_the_program_there(lab: Lab) -> None:
    run_up(lab)
    lab.add("third")
    lab.run(NEAR, "ip", "link", "set", DEVICE, "netns", "third")
    assert lab.tcx("third", DEVICE), "the link follows the device"
    done = lab.live(NEAR, "down", DEVICE)
    assert done.returncode == 0, done.stderr
    assert not lab.tcx("third", DEVICE)
    assert lab.pinned() in ([], [str(BPF_ROOT / "mousehole")])


@pytest.mark.parametrize(
    "words", [("--reuid", "65534", "--clear-groups"), ("--bounding-set", "-all", "--inh-caps", "-all")]
)
def test_up__without_privileges__says_so(lab: Lab, before: dict[str, Any], words: tuple[str, ...]) -> None:
    done = lab.call(NEAR, "setpriv", *words, require_program(), *UP)
    assert_refused(done, r"root|ermission|permitted")
    assert lab.state(NEAR, DEVICE) == before


def test_up__without_a_bpf_file_system__says_how_to_mount_it(lab: Lab, before: dict[str, Any]) -> None:
    lab.run(NEAR, "umount", BPF_ROOT)
    assert_refused(lab.live(NEAR, *UP), "no BPF file system")
    lab.run(NEAR, "mount", "-t", "bpf", "bpf", BPF_ROOT)
    assert lab.state(NEAR, DEVICE) == before


def test_up__with_a_read_only_bpf_file_system__changes_nothing(lab: Lab, before: dict[str, Any]) -> None:
    lab.run(NEAR, "mount", "-o", "remount,ro", BPF_ROOT)
    assert_refused(lab.live(NEAR, *UP), "cannot be made|ead-only")
    lab.run(NEAR, "mount", "-o", "remount,rw", BPF_ROOT)
    assert lab.state(NEAR, DEVICE) == before


FOREIGN = {
    "tbf": ("tbf", "rate", "5mbit", "burst", "16kb", "limit", "100kb"),
    "pfifo": ("pfifo", "limit", "77"),
    "bfifo": ("bfifo", "limit", "77000"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_up__on_a_foreign_qdisc__is_refused_and_with_replace_puts_it_back(lab: Lab, kind: str) -> None:
    lab.run(NEAR, "tc", "qdisc", "add", "dev", DEVICE, "root", "handle", "77:", *FOREIGN[kind])
    before = lab.state(NEAR, DEVICE)
    assert_refused(lab.live(NEAR, *UP), "--replace")
    assert lab.state(NEAR, DEVICE) == before
    run_up(lab, "--replace")
    assert lab.state(NEAR, DEVICE) != before
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def test_up__on_a_foreign_htb_with_classes__is_refused(lab: Lab) -> None:
    lab.run(NEAR, "tc", "qdisc", "add", "dev", DEVICE, "root", "handle", "77:", "htb", "default", "10")
    words = "tc class add dev wan parent 77: classid 77:10 htb rate 5mbit ceil 8mbit"
    lab.run(NEAR, *words.split())
    before = lab.state(NEAR, DEVICE)
    assert_refused(lab.live(NEAR, *UP), "--replace")
    assert_refused(lab.live(NEAR, *UP, "--replace"), "cannot be put back")
    assert lab.state(NEAR, DEVICE) == before


def test_up__beside_a_foreign_filter__leaves_it(lab: Lab) -> None:
    lab.run(NEAR, "tc", "qdisc", "add", "dev", DEVICE, "clsact")
    words = "tc filter add dev wan egress prio 5 handle 9 bpf bytecode"
    lab.run(NEAR, *words.split(), "1,6 0 0 4294967295")
    before = lab.state(NEAR, DEVICE)
    for attach in ATTACHMENTS:
        run_up(lab, "--attach", attach)
        assert lab.live(NEAR, "upgrade", DEVICE).returncode == 0
        assert lab.live(NEAR, "down", DEVICE).returncode == 0
        assert_restored(lab, before)


def test_up__beside_an_empty_clsact_of_somebody__leaves_it(lab: Lab) -> None:
    lab.run(NEAR, "tc", "qdisc", "add", "dev", DEVICE, "clsact")
    before = lab.state(NEAR, DEVICE)
    for attach in ATTACHMENTS:
        run_up(lab, "--attach", attach)
        assert lab.live(NEAR, "down", DEVICE).returncode == 0
        assert_restored(lab, before)


@pytest.mark.parametrize("attach", ATTACHMENTS)
def test_upgrade__keeps_one_program_and_the_flows(
    lab: Lab, echo: Echo, before: dict[str, Any], attach: str
) -> None:
    run_up(lab, "--attach", attach)
    assert echo.answers_within(ANSWER_S)
    first = list_programs(lab)
    maps = [one for one in lab.owned(FLOWS) if one.startswith("map")]
    assert lab.live(NEAR, "upgrade", DEVICE).returncode == 0
    second = list_programs(lab)
    assert len(second) == len(first) == 1
    assert second != first
    assert [one for one in lab.owned(FLOWS) if one.startswith("map")] == maps
    assert lab.live(NEAR, "upgrade", DEVICE).returncode == 0
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def list_programs(lab: Lab) -> list[int]:
    """Returns the numbers of the programs at the device's egress, as tcx or as filters."""
    filters: list[dict[str, Any]] = lab.tc(NEAR, DEVICE, ["filter", "egress"])
    return lab.tcx(NEAR, DEVICE) + [int(one["options"]["prog"]["id"]) for one in filters if "options" in one]


@pytest.mark.parametrize("attach", ATTACHMENTS)
def test_confirm__not_given__takes_all_back_though_the_shell_was_killed(
    lab: Lab, before: dict[str, Any], attach: str
) -> None:
    line = f"{require_program()} {' '.join(UP)} --attach {attach} --confirm 2s; sleep 60"
    shell = lab.start(NEAR, "bash", "-c", line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: "record" in " ".join(lab.pinned()), 30)
    wait_until(lambda: lab.state(NEAR, DEVICE) != before, 30)
    shell.kill()
    shell.communicate()
    wait_until(lambda: lab.state(NEAR, DEVICE) == before, 30)
    assert_restored(lab, before)


@pytest.mark.parametrize("attach", ATTACHMENTS)
def test_confirm__given__lets_all_stay(lab: Lab, before: dict[str, Any], attach: str) -> None:
    run_up(lab, "--attach", attach, "--confirm", "3s")
    assert lab.live(NEAR, "confirm", DEVICE).returncode == 0
    standing = lab.state(NEAR, DEVICE)
    time.sleep(4)
    assert lab.state(NEAR, DEVICE) == standing != before
    assert_refused(lab.live(NEAR, "confirm", DEVICE), "waits for no confirmation")
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def test_up__begins_anew_where_only_a_folder_was_left(lab: Lab, before: dict[str, Any]) -> None:
    """A command that is killed between its folder and its record leaves one."""
    namespace = read_cookie(lab, NEAR)
    index = lab.run(NEAR, "ip", "-o", "link", "show", DEVICE).split(":")[0]
    lab.run(NEAR, "mkdir", "-p", f"{BPF_ROOT}/mousehole/{namespace}-{index}")
    run_up(lab)
    run_down(lab)
    assert_restored(lab, before)
