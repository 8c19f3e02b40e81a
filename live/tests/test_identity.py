"""What is kept of a device belongs to that device alone: numbers are given again."""

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
    cookie,
    status,
    wait_until,
)
from validation.lab.live import Lab, find_live
from validation.lab.namespaces import BPF_ROOT

OLD, NEW = "old", "new"
SHADOW = ("mark", DEVICE, "--shadow", "--flows", str(FLOWS))
QUEUE = ("up", DEVICE, "--rate", "10mbit", "--replace", "--no-agent", "--flows", str(FLOWS))


def add(lab: Lab, net: str) -> int:
    """Makes a namespace with a device as a container's. Returns the inode of the namespace."""
    lab.add(net)
    lab.pair(net, DEVICE, "10.8.0.1/24", FAR, f"to-{net}", "10.8.0.2/24")
    return os.fstat(lab.nets[net]).st_ino


def remove(lab: Lab, net: str) -> None:
    os.close(lab.nets.pop(net))
    lab.run(FAR, "ip", "netns", "del", net)
    wait_until(lambda: f"to-{net}" not in lab.run(FAR, "ip", "-br", "link"), 10)


def kept(lab: Lab) -> list[str]:
    """Returns the folders of devices of which something is kept."""
    done = lab.call(NEAR, "ls", f"{BPF_ROOT}/mousehole")
    return done.stdout.split() if done.returncode == 0 else []


def begin(lab: Lab, net: str, *words: str) -> str:
    done = lab.live(net, *words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_queue_of_a_container_that_is_gone__comes_to_no_other(lab: Lab) -> None:
    inode = add(lab, OLD)
    lab.run(OLD, *f"tc qdisc replace dev {DEVICE} root handle 5: tbf rate 3mbit burst 8k limit 100k".split())
    begin(lab, OLD, *QUEUE)
    remove(lab, OLD)
    # A new namespace gets the inode of the former, now or a few attempts later.
    attempts = 20
    while add(lab, NEW) != inode and attempts:
        remove(lab, NEW)
        time.sleep(0.2)
        attempts -= 1
    before = lab.state(NEW, DEVICE)[f"{DEVICE} qdisc"]
    said = begin(lab, NEW, *SHADOW)
    assert "was in a network namespace that is gone" in said
    after = [one for one in lab.state(NEW, DEVICE)[f"{DEVICE} qdisc"] if one["kind"] != "clsact"]
    assert after == before
    assert begin(lab, NEW, "down", DEVICE).count("\n") == 1
    assert lab.state(NEW, DEVICE)[f"{DEVICE} qdisc"] == before
    wait_until(lambda: lab.owned(FLOWS) == [], 5)


def test_device_that_comes_back__leaves_no_tables_behind(lab: Lab) -> None:
    """As ppp0 after each reconnect."""
    for _ in range(4):
        said = begin(lab, NEAR, *SHADOW)
        assert len(kept(lab)) == 1
        lab.run(NEAR, "ip", "link", "del", DEVICE)
        lab.pair(NEAR, DEVICE, f"{NEAR_ADDRESS}/24", FAR, "lan", "10.7.0.2/24")
    assert f"{DEVICE} is gone; what was kept of it is removed" in said
    begin(lab, NEAR, *SHADOW)
    wait_until(lambda: len([one for one in lab.owned(FLOWS) if "ml_flows" in str(one)]) <= 1, 5)
    begin(lab, NEAR, "down", DEVICE)
    assert kept(lab) == []


def test_down_all__reaches_namespaces_that_are_gone_and_spares_those_that_live(lab: Lab) -> None:
    add(lab, OLD)
    begin(lab, OLD, *SHADOW)
    begin(lab, NEAR, *SHADOW)
    alive = cookie(lab, NEAR)
    assert len(kept(lab)) == 2
    said = begin(lab, FAR, "down", "--all")
    assert "nothing of ours" in said
    assert len(kept(lab)) == 2
    remove(lab, OLD)
    assert "was in a network namespace that is gone" in begin(lab, FAR, "down", "--all")
    (left,) = kept(lab)
    assert left.startswith(f"{alive}-")
    assert status(lab)["state"] == "running"


def test_number_of_a_device__given_again_is_another_device(lab: Lab) -> None:
    lab.run(NEAR, "ip", "link", "add", "d0", "index", "777", "type", "veth", "peer", "name", "d1")
    begin(lab, NEAR, "up", "d0", *QUEUE[2:])
    lab.run(NEAR, "ip", "link", "del", "d0")
    lab.run(NEAR, "ip", "link", "add", "d0", "index", "777", "type", "veth", "peer", "name", "d1")
    bucket = "tbf rate 3mbit burst 8k limit 100k"
    lab.run(NEAR, *f"tc qdisc replace dev d0 root handle 6d48: {bucket}".split())
    before = lab.state(NEAR, "d0")["d0 qdisc"]
    assert "d0 is gone; what was kept of it is removed" in begin(lab, NEAR, "down", "--all")
    assert lab.state(NEAR, "d0")["d0 qdisc"] == before
    assert kept(lab) == []


def test_agent__ends_with_its_namespace_and_does_not_hold_it(lab: Lab) -> None:
    add(lab, OLD)
    begin(
        lab, OLD, "mark", DEVICE, "--via", "dscp", "--rate", "5mbit", "--marker", "lfp", "--flows", str(FLOWS)
    )
    agents = f"mousehole-live agent {DEVICE}"
    wait_until(lambda: agents in lab.run(FAR, "ps", "-eo", "args"), 5)
    wait_until(lambda: "at work" in begin(lab, OLD, "status", DEVICE), 5)
    remove(lab, OLD)
    wait_until(lambda: agents not in lab.run(FAR, "ps", "-eo", "args"), 10)


def test_check_of_status__has_the_exit_statuses_of_monitoring(lab: Lab) -> None:
    def check(*words: str, expected: int) -> str:
        done = lab.live(NEAR, "status", "--check", *words)
        assert done.returncode == expected, done.stdout + done.stderr
        return done.stdout

    assert check(expected=2) == "CRITICAL - nothing of ours is in this network namespace\n"
    assert check(DEVICE, expected=2) == f"CRITICAL - nothing of ours is at {DEVICE}\n"
    begin(lab, NEAR, *QUEUE)
    assert check(expected=0).startswith(f"OK - {DEVICE}: up rio-ps runs since ")
    lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
    assert check(DEVICE, expected=2).startswith(
        f"CRITICAL - {DEVICE}: the qdisc 6d48: that belongs to it is gone"
    )
    begin(lab, NEAR, "down", DEVICE)
    begin(lab, NEAR, *SHADOW, "--confirm", "100s")
    assert check(expected=1).startswith(f"WARNING - {DEVICE}: mark excess, shadow is taken back in ")
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all")
    done = lab.call(NEAR, *user, find_live(), "status", "--check")
    assert done.returncode == 3, done.stdout
    assert done.stdout.startswith("UNKNOWN - ")
    assert "killed" not in done.stdout
    done = lab.call(NEAR, *user, find_live(), "status")
    assert_refused(done, "belongs to user 0")
    begin(lab, NEAR, "down", DEVICE)


def test_name_of_a_renamed_device__taken_by_another__is_the_other_ones(lab: Lab) -> None:
    begin(lab, NEAR, *QUEUE, "--confirm", "4s")
    for line in (f"{DEVICE} down", f"{DEVICE} name former", "former up"):
        lab.run(NEAR, "ip", "link", "set", *line.split())
    lab.pair(NEAR, DEVICE, "10.8.0.1/24", FAR, "to-other", "10.8.0.2/24")
    assert_refused(lab.live(NEAR, "down", DEVICE), f"nothing of ours is at {DEVICE}")
    assert status(lab)["device"] == "former"
    begin(lab, NEAR, "mark", DEVICE, "--via", "dscp", "--no-agent", "--flows", str(FLOWS))
    # The timer knows the device by the name that it had.
    wait_until(lambda: "tbf" not in lab.run(NEAR, "tc", "qdisc", "show", "dev", "former"), 15)
    assert status(lab)["device"] == DEVICE
    begin(lab, NEAR, "down", DEVICE)
    assert kept(lab) == []
