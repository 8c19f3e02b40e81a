"""The guard maintains what files ask for while devices, queues, files and processes come and go."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from live.tests.support import (
    CAPABILITIES,
    DEVICE,
    FAR,
    FAR_ADDRESS,
    FLOWS,
    NEAR,
    NEAR_ADDRESS,
    assert_refused,
    install_bucket,
    pretend_cake,
    wait_until,
)
from validation import live_events
from validation.lab.live import Lab, require_program
from validation.lab.namespaces import BPF_ROOT

FOLDER = "/etc/mousehole"
MARK = f"mode = 'mark'\nvia = 'dscp'\nflows = {FLOWS}\n"
SFD = MARK + "scheme = 'sfd(th=30kB)'\n"
QUEUE = f"mode = 'up'\nrate = '10mbit'\nscheme = 'rio-ps'\nflows = {FLOWS}\n"
CONFINED = ("setpriv", "--bounding-set", CAPABILITIES, "--no-new-privs")
EVENTS = 40


class Guard:
    """A guard in the near namespace, which can be killed and started again."""

    def __init__(self, lab: Lab, log: Path) -> None:
        self.lab, self.log = lab, log
        self.process: subprocess.Popen[str] | None = None

    def start(self, *before: str) -> None:
        """Starts the guard, whose messages are appended to the log.

        `before` is a program, with its arguments, that runs it.
        """
        self.process = self.lab.start(NEAR, *before, require_program(), "guard", stderr=self.log.open("a"))

    def kill(self) -> None:
        """Kills the guard if it was started, and waits for its end."""
        if self.process:
            self.process.kill()
            self.process.communicate()

    def write_file(self, text: str) -> None:
        """Writes the device's file over the former one."""
        self.lab.run(NEAR, "bash", "-c", f"printf %s {shlex.quote(text)} > {FOLDER}/{DEVICE}.toml")

    def read_state(self) -> dict[str, Any]:
        """Returns the device's status; empty if nothing of ours is there."""
        done = self.lab.live(NEAR, "status", "--json")
        devices = json.loads(done.stdout)["devices"] if done.returncode == 0 else []
        return dict(devices[0]) if devices else {}

    def wait_for(self, holds: Callable[[dict[str, Any]], bool], seconds: float = 5) -> dict[str, Any]:
        """Waits until the device's status meets a condition; fails after `seconds`. Returns the status."""
        wait_until(lambda: holds(self.read_state()), seconds)
        return self.read_state()


@pytest.fixture
def guard(lab: Lab, tmp_path: Path) -> Iterator[Guard]:
    """Returns a guard that is not started; it is killed when the test ends."""
    made = Guard(lab, tmp_path / "guard.log")
    yield made
    made.kill()


def is_running(state: dict[str, Any]) -> bool:
    """Returns whether a status says that the program runs without problems."""
    return state.get("state") == "running" and not state["problems"]


def is_paused(state: dict[str, Any]) -> bool:
    """Returns whether a status says that the program is paused."""
    return bool(state) and any("it is paused" in problem for problem in state["problems"])


def replug(lab: Lab) -> None:
    """Removes the device and creates it again, with another interface index."""
    lab.run(NEAR, "ip", "link", "del", DEVICE)
    lab.pair(NEAR, DEVICE, f"{NEAR_ADDRESS}/24", FAR, "lan", f"{FAR_ADDRESS}/24")


def test_device__gets_what_its_file_says_each_time_it_comes(lab: Lab, guard: Guard) -> None:
    guard.write_file(MARK)
    guard.start(*CONFINED)
    assert guard.wait_for(is_running)["scheme"] == "excess"
    for _ in range(3):
        replug(lab)
        guard.wait_for(is_running)
    assert len(lab.run(NEAR, "ls", f"{BPF_ROOT}/mousehole").split()) == 1
    wait_until(lambda: str(lab.owned(FLOWS)).count("ml_flows") <= 1, 5)


def test_shaper_that_is_gone__pauses_the_queue_until_it_is_back(lab: Lab, guard: Guard) -> None:
    guard.write_file(QUEUE)
    guard.start()
    before = guard.wait_for(is_running)
    lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
    state = guard.wait_for(is_paused)
    assert "its qdisc 6d48: is gone" in " ".join(state["problems"])
    assert "shadow" in state["action"]
    lab.run(
        NEAR, *f"tc qdisc replace dev {DEVICE} root handle 6d48: tbf rate 10mbit burst 9k limit 150k".split()
    )
    assert guard.wait_for(is_running)["link_id"] == before["link_id"], "the program went on"
    lab.run(NEAR, *f"tc qdisc replace dev {DEVICE} root handle 9: tbf rate 3mbit burst 8k limit 100k".split())
    guard.wait_for(is_paused)
    lab.live(NEAR, "down", DEVICE)
    assert "rate 3Mbit" in lab.run(NEAR, "tc", "qdisc", "show", "dev", DEVICE), "it is somebody's"


def test_cake_that_is_made_again__is_aimed_at_again(lab: Lab, guard: Guard, tmp_path: Path) -> None:
    """SQM makes CAKE anew, under another handle, whenever an interface is brought up."""
    install_bucket(lab, "8001:")
    guard.write_file(f"mode = 'mark'\nflows = {FLOWS}\n")
    guard.start(*pretend_cake(tmp_path))

    def action() -> str:
        """Returns what the device's status says is done."""
        return str(guard.read_state().get("action"))

    wait_until(lambda: "8001:1" in action(), 5)
    link = guard.read_state()["link_id"]
    for handle in ("8002:", "8abc:"):
        install_bucket(lab, handle)
        wait_until(lambda one=handle: f"{one}1" in action(), 5)  # type: ignore[misc]
    lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
    state = guard.wait_for(is_paused)
    assert "nothing reads its marks" in " ".join(state["problems"])
    install_bucket(lab, "8003:")
    wait_until(lambda: "8003:1" in action(), 5)
    assert guard.read_state()["link_id"] == link
    assert not is_paused(guard.read_state())


def test_file__is_followed_when_it_changes(guard: Guard) -> None:
    guard.write_file(SFD)
    guard.start()
    link = guard.wait_for(is_running)["link_id"]
    guard.write_file(MARK + "scheme = 'sfd(th=5kB)'\n")
    assert guard.wait_for(lambda state: state.get("scheme") == "sfd(th=5kB)")["link_id"] == link, (
        "as `tune` does"
    )
    guard.write_file(MARK + "scheme = 'sfd(th=5kB'\n")
    wait_until(lambda: guard.log.read_text().count("th=5kB") > 1, 5)
    assert is_running(guard.read_state()), "as does one of the scheme"
    guard.write_file(MARK + "nothing = 3\n")
    wait_until(lambda: "unknown field `nothing`" in guard.log.read_text(), 5)
    assert is_running(guard.read_state()), "a fault of the file leaves what runs"
    guard.write_file(QUEUE)
    state = guard.wait_for(lambda state: state.get("mode") == "up")
    assert is_running(state)
    assert state["link_id"] != link
    assert guard.log.read_text().count("unknown field") == 1, "nothing is said twice"


def test_down_by_hand__stays_until_the_file_changes(lab: Lab, guard: Guard) -> None:
    guard.write_file(MARK)
    guard.start()
    guard.wait_for(is_running)
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    time.sleep(2.5)
    assert guard.read_state() == {}
    assert "taken down by hand" in guard.log.read_text()
    guard.write_file(MARK + "overrides = true\n".replace("overrides", "override"))
    guard.wait_for(is_running)


def test_guard_that_is_killed__is_followed_by_the_next_and_never_by_a_second(lab: Lab, guard: Guard) -> None:
    guard.write_file(f"mode = 'mark'\nvia = 'dscp'\nscheme = 'lfp'\nrate = '5mbit'\nflows = {FLOWS}\n")
    guard.start()
    link = guard.wait_for(lambda state: is_running(state) and state["agent_seen_s"] is not None)["link_id"]
    assert_refused(lab.live(NEAR, "guard"), r"guard is at work already, process \d+")
    assert_refused(lab.live(NEAR, "agent", DEVICE), r"agent-\d+-\d+ is at work already, process \d+")
    guard.kill()
    assert is_running(guard.read_state())
    guard.start()
    seen = guard.read_state()["agent_seen_s"]
    wait_until(lambda: guard.read_state()["agent_seen_s"] < max(seen, 1.5), 8)
    assert guard.read_state()["link_id"] == link


def test_guard_that_is_killed_before_the_queue_is_there__is_followed_by_one_that_puts_it_there(
    lab: Lab, guard: Guard, tmp_path: Path
) -> None:
    """The program runs by then, and a queue that is missing later is one that somebody took."""
    guard.write_file(QUEUE)
    guard.start(*pretend_cake(tmp_path, KILLED="1"))
    assert guard.process
    assert guard.process.wait(20) == -signal.SIGKILL
    assert guard.read_state()["problems"], "its queue is missing"
    guard.start()
    guard.wait_for(is_running)
    assert "qdisc tbf 6d48: root" in lab.run(NEAR, "tc", "qdisc", "show", "dev", DEVICE)


def test_what_is_not_confirmed__is_taken_back_though_its_timer_was_killed(lab: Lab, guard: Guard) -> None:
    done = lab.live(NEAR, "mark", DEVICE, "--via", "dscp", "--flows", str(FLOWS), "--confirm", "2s")
    assert done.returncode == 0, done.stderr
    lab.call(NEAR, "pkill", "-f", f"mousehole-live expire {DEVICE}")
    guard.start()
    wait_until(lambda: guard.read_state() == {}, 8)


def test_random_events__leave_the_right_state_and_no_tables(lab: Lab, tmp_path: Path) -> None:
    """`make validation WHAT=live_events` plays a thousand."""
    outcome = live_events.play(lab, EVENTS, 20261126, tmp_path / "guard.log")
    assert outcome.events.total() == EVENTS
    assert outcome.is_sound, (outcome, (tmp_path / "guard.log").read_text()[-4000:])


def test_guard__starts_no_program(lab: Lab, guard: Guard, tmp_path: Path) -> None:
    """It puts queues there, looks twice a second and follows what changes by asking the kernel itself."""
    guard.write_file(QUEUE)
    ifb = f"ifb-{DEVICE}"
    text = shlex.quote(QUEUE + f"download = '{DEVICE}'\n")
    lab.run(NEAR, "bash", "-c", f"printf %s {text} > {FOLDER}/{ifb}.toml")
    trace = tmp_path / "trace"
    trace.touch()
    guard.start("strace", "-D", "-f", "-o", str(trace), "-e", "trace=execve,recvfrom")

    def count(call: str) -> int:
        """Returns how often a system call was made."""
        return trace.read_text().count(f" {call}(")

    def both_run() -> bool:
        """Returns whether both devices run without problems."""
        done = lab.live(NEAR, "status", "--json")
        devices = json.loads(done.stdout)["devices"] if done.returncode == 0 else []
        return len(devices) == 2 and all(is_running(one) for one in devices)

    wait_until(both_run, 60)
    asked = count("recvfrom")
    time.sleep(6)
    assert count("recvfrom") > asked + 8, "it looks at rest, too"
    lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
    wait_until(lambda: "it is paused" in lab.live(NEAR, "status").stdout, 5)
    assert count("execve") == 1, trace.read_text()[-3000:]


def test_start_that_fails__is_put_off_longer_each_time(lab: Lab, guard: Guard, tmp_path: Path) -> None:
    """Its own steps are changes of the network, and must not have it try again at once."""
    if lab.call(NEAR, *["tc", "qdisc", "add", "dev", "lo", "root", "cake"]).returncode == 0:
        pytest.skip("this kernel has CAKE, so that nothing fails")
    text = shlex.quote(f"mode = 'mark'\ndownload = '{DEVICE}'\nrate = '9mbit'\n")
    lab.run(NEAR, "bash", "-c", f"printf %s {text} > {FOLDER}/ifb-{DEVICE}.toml")
    trace = tmp_path / "trace"
    trace.touch()
    guard.start("strace", "-D", "-f", "-s", "99", "-o", str(trace), "-e", "trace=sendto")

    def tries() -> int:
        # As strace prints "cake" in a message.
        """Returns how often a CAKE was asked for."""
        return trace.read_text().count(r"\x63\x61\x6b\x65")

    wait_until(lambda: tries() >= 2, 10)
    time.sleep(8)
    assert 3 <= tries() <= 8
    assert guard.log.read_text().count("the kernel has no cake") == 1, "said once"
    # Another thing to try is tried at once.
    guard.write_file(MARK)
    guard.wait_for(is_running)
    lab.run(NEAR, "bash", "-c", f"printf %s {shlex.quote(QUEUE)} > {FOLDER}/ifb-{DEVICE}.toml")


def test_downloads__are_redirected_again_after_anything(lab: Lab, guard: Guard) -> None:
    ifb = f"ifb-{DEVICE}"
    text = QUEUE + f"download = '{DEVICE}'\n"
    lab.run(NEAR, "bash", "-c", f"printf %s {shlex.quote(text)} > {FOLDER}/{ifb}.toml")
    guard.start()

    def is_whole(state: dict[str, Any]) -> bool:
        """Returns whether the program runs at the IFB and the device's packets are redirected there."""
        shown = lab.call(NEAR, "tc", "filter", "show", "dev", DEVICE, "ingress").stdout
        return is_running(state) and state["device"] == ifb and ifb in shown

    guard.wait_for(is_whole)
    for words in (f"ip link del {ifb}", f"tc filter del dev {DEVICE} ingress"):
        lab.run(NEAR, *words.split())
        guard.wait_for(is_whole)
    link = guard.read_state()["link_id"]
    for take in (lambda: lab.run(NEAR, *f"tc qdisc del dev {DEVICE} clsact".split()), lambda: replug(lab)):
        take()
        assert guard.wait_for(is_whole)["link_id"] == link, "the IFB's queue and flows went on"
    assert lab.live(NEAR, "down", ifb).returncode == 0
    assert "clsact" not in lab.run(NEAR, "tc", "qdisc", "show", "dev", DEVICE), "all of it is taken back"
    assert ifb not in lab.run(NEAR, "ip", "-br", "link")
    wait_until(lambda: lab.owned(FLOWS) == [], 5)
