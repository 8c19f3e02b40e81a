"""Queue disciplines are installed without `tc` and `ip`, and equal those of the printed tc commands.

If the kernel has a kind, the resulting queue disciplines are compared. If it lacks one, the netlink
messages of `tc` and of `mousehole-live` are.
"""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from live.tests.support import (
    DEVICE,
    FLOWS,
    NEAR,
    assert_refused,
    assert_restored,
    pretend_cake,
    wait_until,
)
from validation.lab.live import Lab, require_program

RTM_NEWQDISC = 36
TCA_KIND, TCA_OPTIONS = 1, 2
MADE = f"ifb-{DEVICE}"
MORE = ("--flows", str(FLOWS))
QUEUES = [
    f"up {DEVICE} --no-agent {options}"
    for options in (
        "--rate 10mbit",
        "--rate 8kbit --buffer 20kB",
        "--rate 33333333bit --overhead 38",
        "--rate 40gbit --burst 1MB",
        "--rate 10mbit --scheme sfd|priority",
        "--rate 1234567bit --scheme pias --buffer 30kB --overhead 42",
        "--rate 100gbit --scheme lfp",
    )
]
CAKES = [
    "--up 4mbit --down 20mbit",
    "--up 60gbit --exact --link-layer ethernet",
    "--up 1234567bit --exact --link-layer docsis --ack-filter on",
    "--down 20mbit --link-layer vdsl",
    "--down 20mbit --link-layer adsl",
    "--up 1mbit --overhead 44",
]
FQ = f"host {DEVICE} --shape --no-agent"


def has_qdisc(lab: Lab, kind: str) -> bool:
    """Returns whether the kernel has a kind of queue discipline, which it loads on demand."""
    done = lab.call(NEAR, "tc", "qdisc", "add", "dev", "lo", "root", kind)
    return done.returncode == 0 and lab.run(NEAR, "tc", "qdisc", "del", "dev", "lo", "root") == ""


def read_queues(lab: Lab, device: str) -> object:
    """Returns the device's queue disciplines and classes, without handles that the kernel chose."""
    queues = json.loads(lab.run(NEAR, "tc", "-s", "-d", "-j", "qdisc", "show", "dev", device))
    chosen = {one.pop("handle") for one in queues if not one["handle"].startswith("6d48")}
    classes = lab.run(NEAR, "tc", "-s", "-d", "class", "show", "dev", device)
    for handle in chosen:
        classes = classes.replace(f"leaf {handle}", "leaf")
    queues = [one for one in queues if one["kind"] != "clsact"]
    return sorted(queues, key=str), sorted(classes.split("\n\n"))


def rehearse(lab: Lab, *words: str) -> list[list[str]]:
    """Returns the tc commands of queue disciplines and classes that a command prints with --dry-run.

    Each is a list of words.
    """
    done = lab.live(NEAR, *words, "--dry-run")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    return [line for line in lines if line[:3] in (["tc", "qdisc", "replace"], ["tc", "class", "replace"])]


def parse_attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields type and value of each netlink attribute, until fewer than 4 bytes are left."""
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        yield kind, data[4:length]
        data = data[(length + 3) & ~3 :]


def read_messages(file: Path, kind: str) -> list[tuple[object, ...]]:
    """Returns the recorded messages about a kind, and deletes the record.

    Each has flags, handle and parent, and the options that are not zero; zero is the default.
    """
    found: list[tuple[object, ...]] = []
    for line in file.read_text().split():
        whole = bytes.fromhex(line)
        inner = dict(parse_attributes(whole[36:]))
        if struct.unpack_from("H", whole, 4)[0] == RTM_NEWQDISC and inner[TCA_KIND] == kind.encode() + b"\0":
            flags, place = struct.unpack_from("H", whole, 6)[0] & ~4, struct.unpack_from("II", whole, 24)
            found.append((flags, place, {one for one in parse_attributes(inner[TCA_OPTIONS]) if any(one[1])}))
    file.unlink()
    return found


def assert_same_queues(lab: Lab, *words: str, devices: tuple[str, ...] = (DEVICE,)) -> None:
    """Asserts that a command installs what its printed tc commands install.

    The device is set down and stays so; the queues are removed.
    """
    # Where no packet passes, all counters are compared too.
    lab.run(NEAR, "ip", "link", "set", DEVICE, "down")
    lines = rehearse(lab, *words)
    done = lab.live(NEAR, *words, *MORE)
    assert done.returncode == 0, done.stderr
    put = {device: read_queues(lab, device) for device in devices}
    assert all("6d48:" in str(one) for one in put.values())
    assert {line[4] for line in lines} == set(devices)
    for device in devices:
        lab.run(NEAR, "tc", "qdisc", "del", "dev", device, "root")
    for line in lines:
        lab.run(NEAR, *line)
    assert {device: read_queues(lab, device) for device in devices} == put
    for device in devices:
        lab.run(NEAR, "tc", "qdisc", "del", "dev", device, "root")
    assert lab.live(NEAR, "down", DEVICE).returncode == 0


def assert_same_messages(lab: Lab, folder: Path, kind: str, *words: str) -> None:
    """Asserts that a command and its printed tc commands send the same messages of a kind, at least one."""
    file = folder / "asked"
    spy = pretend_cake(folder, ASKED=file)
    lines = [line for line in rehearse(lab, *words) if kind in line]
    lab.call(NEAR, *spy, require_program(), *words, *MORE)
    asked = read_messages(file, kind)
    lab.live(NEAR, "down", DEVICE)
    # `tc` is asked about a device that is there.
    for line in lines:
        lab.call(NEAR, *spy, *(DEVICE if word == MADE else word for word in line))
    assert asked == read_messages(file, kind)
    assert len(asked) == len(lines) > 0


@pytest.mark.parametrize("line", QUEUES)
def test_queue__is_that_of_the_printed_lines(lab: Lab, line: str) -> None:
    assert_same_queues(lab, *line.split())


@pytest.mark.parametrize("options", CAKES)
def test_cake__is_that_of_the_printed_line(lab: Lab, tmp_path: Path, options: str) -> None:
    words = ("setup", DEVICE, *options.split())
    assert_same_messages(lab, tmp_path, "cake", *words)
    if has_qdisc(lab, "cake"):
        devices = {"--up": DEVICE, "--down": MADE}
        assert_same_queues(lab, *words, devices=tuple(devices[word] for word in words if word in devices))


def test_fq__is_that_of_the_printed_line(lab: Lab, tmp_path: Path) -> None:
    assert_same_messages(lab, tmp_path, "fq", *FQ.split())
    if has_qdisc(lab, "fq"):
        assert_same_queues(lab, *FQ.split())


def test_kind_that_the_kernel_lacks__is_said_with_what_loads_it(lab: Lab) -> None:
    for kind, words in (("cake", ("setup", DEVICE, "--up", "4mbit")), ("fq", FQ.split())):
        if not has_qdisc(lab, kind):
            before = lab.state(NEAR, DEVICE)
            reason = (
                f"{DEVICE}: the kernel has no {kind}; where it is a module, `modprobe sch_{kind}` loads it"
            )
            assert_refused(lab.live(NEAR, *words), reason)
            assert_restored(lab, before)


def test_what_the_kernel_refuses__is_said_of_the_device_and_the_queue(lab: Lab) -> None:
    assert lab.live(NEAR, *QUEUES[5].split(), *MORE).returncode == 0
    before = lab.run(NEAR, "tc", "class", "show", "dev", DEVICE, "classid", "6d48:1")
    lab.run(NEAR, "tc", "class", "del", "dev", DEVICE, "classid", "6d48:12")
    done = lab.live(NEAR, "tune", DEVICE, "--rate", "2mbit")
    assert_refused(done, f"{DEVICE}: the kernel refuses the class htb 6d48:12; ")
    assert lab.run(NEAR, "tc", "class", "show", "dev", DEVICE, "classid", "6d48:1") == before, "as it was"


def test_everything__works_without_tc_and_ip(lab: Lab, tmp_path: Path) -> None:
    first = (*pretend_cake(tmp_path), "PATH=/nowhere")

    def live(*words: str) -> subprocess.CompletedProcess[str]:
        """Runs `mousehole-live` as if the kernel had CAKE."""
        return lab.call(NEAR, *first, require_program(), *words)

    def done(*words: str) -> str:
        """Runs `mousehole-live`, which must succeed. Returns what it printed."""
        said = live(*words)
        assert said.returncode == 0, said.stderr
        return said.stdout

    before, links = lab.state(NEAR, DEVICE), lab.run(NEAR, "ip", "-br", "link")
    for command, kept in (
        (("mark", DEVICE, "--via", "dscp"), {DEVICE}),
        (("up", DEVICE, "--rate", "10mbit"), {DEVICE}),
        (("up", DEVICE, "--rate", "10mbit", "--scheme", "pias"), {DEVICE}),
        (("up", DEVICE, "--rate", "10mbit", "--download"), {MADE}),
        (("setup", DEVICE, "--up", "4mbit", "--down", "20mbit"), {DEVICE, MADE}),
    ):
        assert "the root of wan is noqueue" in done("check", DEVICE)
        done(*command, *MORE)
        devices = json.loads(done("status", "--json"))["devices"]
        assert {one["device"] for one in devices} == kept
        assert all(one["state"] == "running" and not one["problems"] for one in devices), devices
        if command[0] != "mark":
            assert "keep their state" in done("tune", min(kept, key=len), "--rate", "12mbit")
        done("upgrade", DEVICE)
        assert_refused(live(*command), "is in use since")
        done("down", DEVICE)
        wait_until(lambda: lab.state(NEAR, DEVICE) == before, 3)
        assert lab.run(NEAR, "ip", "-br", "link") == links
    assert_restored(lab, before)
    # Somebody's queue is put aside and comes back.
    lab.run(NEAR, "tc", "qdisc", "add", "dev", DEVICE, "root", "handle", "77:", "pfifo", "limit", "77")
    before = lab.state(NEAR, DEVICE)
    assert_refused(live("up", DEVICE, "--rate", "10mbit"), "a qdisc of somebody's at its root, pfifo 77:")
    done("up", DEVICE, "--rate", "10mbit", "--replace", *MORE)
    done("down", DEVICE)
    assert_restored(lab, before)
