"""What is stored about a device belongs to that device alone, although interface indexes are reused."""

from __future__ import annotations

import os
import time

from live.tests.support import (
    DEVICE,
    FAR,
    FLOWS,
    NEAR,
    NEAR_ADDRESS,
    assert_refused,
    read_cookie,
    read_status,
    wait_until,
)
from validation.lab.live import Lab, require_program
from validation.lab.namespaces import BPF_ROOT

OLD, NEW = "old", "new"
SHADOW = ("mark", DEVICE, "--shadow", "--flows", str(FLOWS))
QUEUE = ("up", DEVICE, "--rate", "10mbit", "--replace", "--no-agent", "--flows", str(FLOWS))


def add_net(lab: Lab, net: str) -> int:
    """Creates a namespace with a device, as for a container. Returns the namespace's inode."""
    lab.add(net)
    lab.pair(net, DEVICE, "10.8.0.1/24", FAR, f"to-{net}", "10.8.0.2/24")
    return os.fstat(lab.nets[net]).st_ino


def remove_net(lab: Lab, net: str) -> None:
    """Removes a namespace and waits until its device is gone, for at most 10 s."""
    os.close(lab.nets.pop(net))
    lab.run(FAR, "ip", "netns", "del", net)
    wait_until(lambda: f"to-{net}" not in lab.run(FAR, "ip", "-br", "link"), 10)


def list_places(lab: Lab) -> list[str]:
    """Returns the names of the folders that hold something about devices; none if there is no folder."""
    done = lab.call(NEAR, "ls", f"{BPF_ROOT}/mousehole")
    return done.stdout.split() if done.returncode == 0 else []


def run_ok(lab: Lab, net: str, *words: str) -> str:
    """Runs `mousehole-live` in a namespace; it must succeed. Returns what it printed."""
    done = lab.live(net, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_queue_of_a_container_that_is_gone__comes_to_no_other(lab: Lab) -> None:
    inode = add_net(lab, OLD)
    lab.run(OLD, *f"tc qdisc replace dev {DEVICE} root handle 5: tbf rate 3mbit burst 8k limit 100k".split())
    run_ok(lab, OLD, *QUEUE)
    remove_net(lab, OLD)
    # A new namespace gets the inode of the former, now or a few attempts later.
    attempts = 20
    while add_net(lab, NEW) != inode and attempts:
        remove_net(lab, NEW)
        time.sleep(0.2)
        attempts -= 1
    before = lab.state(NEW, DEVICE)[f"{DEVICE} qdisc"]
    said = run_ok(lab, NEW, *SHADOW)
    assert "was in a network namespace that is gone" in said
    after = [one for one in lab.state(NEW, DEVICE)[f"{DEVICE} qdisc"] if one["kind"] != "clsact"]
    assert after == before
    assert run_ok(lab, NEW, "down", DEVICE).count("\n") == 1
    assert lab.state(NEW, DEVICE)[f"{DEVICE} qdisc"] == before
    wait_until(lambda: lab.owned(FLOWS) == [], 5)


def test_device_that_comes_back__leaves_no_tables_behind(lab: Lab) -> None:
    """As ppp0 after each reconnect."""
    for _ in range(4):
        said = run_ok(lab, NEAR, *SHADOW)
        assert len(list_places(lab)) == 1
        lab.run(NEAR, "ip", "link", "del", DEVICE)
        lab.pair(NEAR, DEVICE, f"{NEAR_ADDRESS}/24", FAR, "lan", "10.7.0.2/24")
    assert f"{DEVICE} is gone; what was stored about it is removed" in said
    run_ok(lab, NEAR, *SHADOW)
    wait_until(lambda: len([one for one in lab.owned(FLOWS) if "ml_flows" in str(one)]) <= 1, 5)
    run_ok(lab, NEAR, "down", DEVICE)
    assert list_places(lab) == []


def test_down_all__reaches_namespaces_that_are_gone_and_spares_those_that_live(lab: Lab) -> None:
    add_net(lab, OLD)
    run_ok(lab, OLD, *SHADOW)
    run_ok(lab, NEAR, *SHADOW)
    alive = read_cookie(lab, NEAR)
    assert len(list_places(lab)) == 2
    said = run_ok(lab, FAR, "down", "--all")
    assert "nothing of ours" in said
    assert len(list_places(lab)) == 2
    remove_net(lab, OLD)
    assert "was in a network namespace that is gone" in run_ok(lab, FAR, "down", "--all")
    (left,) = list_places(lab)
    assert left.startswith(f"{alive}-")
    assert read_status(lab)["state"] == "running"


def test_number_of_a_device__given_again_is_another_device(lab: Lab) -> None:
    lab.run(NEAR, "ip", "link", "add", "d0", "index", "777", "type", "veth", "peer", "name", "d1")
    run_ok(lab, NEAR, "up", "d0", *QUEUE[2:])
    lab.run(NEAR, "ip", "link", "del", "d0")
    lab.run(NEAR, "ip", "link", "add", "d0", "index", "777", "type", "veth", "peer", "name", "d1")
    bucket = "tbf rate 3mbit burst 8k limit 100k"
    lab.run(NEAR, *f"tc qdisc replace dev d0 root handle 6d48: {bucket}".split())
    before = lab.state(NEAR, "d0")["d0 qdisc"]
    assert "d0 is gone; what was stored about it is removed" in run_ok(lab, NEAR, "down", "--all")
    assert lab.state(NEAR, "d0")["d0 qdisc"] == before
    assert list_places(lab) == []


def test_agent__ends_with_its_namespace_and_does_not_hold_it(lab: Lab) -> None:
    add_net(lab, OLD)
    run_ok(
        lab, OLD, "mark", DEVICE, "--via", "dscp", "--rate", "5mbit", "--marker", "lfp", "--flows", str(FLOWS)
    )
    agents = f"mousehole-live agent {DEVICE}"
    wait_until(lambda: agents in lab.run(FAR, "ps", "-eo", "args"), 5)
    wait_until(lambda: "at work" in run_ok(lab, OLD, "status", DEVICE), 5)
    remove_net(lab, OLD)
    wait_until(lambda: agents not in lab.run(FAR, "ps", "-eo", "args"), 10)


def test_check_of_status__has_the_exit_statuses_of_monitoring(lab: Lab) -> None:
    def check(*words: str, expected: int) -> str:
        """Runs `status --check`, whose exit status must be `expected`. Returns what it printed."""
        done = lab.live(NEAR, "status", "--check", *words)
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stdout

    assert check(expected=2) == "CRITICAL - nothing of ours is in this network namespace\n"
    assert check(DEVICE, expected=2) == f"CRITICAL - nothing of ours is at {DEVICE}\n"
    run_ok(lab, NEAR, *QUEUE)
    assert check(expected=0).startswith(f"OK - {DEVICE}: up rio-ps runs since ")
    lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
    assert check(DEVICE, expected=2).startswith(
        f"CRITICAL - {DEVICE}: the qdisc 6d48: that belongs to it is gone"
    )
    run_ok(lab, NEAR, "down", DEVICE)
    run_ok(lab, NEAR, *SHADOW, "--confirm", "100s")
    assert check(expected=1).startswith(f"WARNING - {DEVICE}: mark excess, shadow is taken back in ")
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all")
    done = lab.call(NEAR, *user, require_program(), "status", "--check")
    assert done.returncode == 3, done.stdout
    assert done.stdout.startswith("UNKNOWN - ")
    assert "killed" not in done.stdout
    done = lab.call(NEAR, *user, require_program(), "status")
    assert_refused(done, "belongs to user 0")
    run_ok(lab, NEAR, "down", DEVICE)


def test_name_of_a_renamed_device__taken_by_another__is_the_other_ones(lab: Lab) -> None:
    run_ok(lab, NEAR, *QUEUE, "--confirm", "4s")
    for line in (f"{DEVICE} down", f"{DEVICE} name former", "former up"):
        lab.run(NEAR, "ip", "link", "set", *line.split())
    lab.pair(NEAR, DEVICE, "10.8.0.1/24", FAR, "to-other", "10.8.0.2/24")
    assert_refused(lab.live(NEAR, "down", DEVICE), f"nothing of ours is at {DEVICE}")
    assert read_status(lab)["device"] == "former"
    run_ok(lab, NEAR, "mark", DEVICE, "--via", "dscp", "--no-agent", "--flows", str(FLOWS))
    # The timer knows the device by the name that it had.
    wait_until(lambda: "tbf" not in lab.run(NEAR, "tc", "qdisc", "show", "dev", "former"), 15)
    assert read_status(lab)["device"] == DEVICE
    run_ok(lab, NEAR, "down", DEVICE)
    assert list_places(lab) == []
