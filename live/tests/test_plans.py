"""Every plan that installs a scheme is accepted by tc and by `mousehole-live`, which it names.

A scheme that nothing installs is refused by `mousehole-live` in the same sentence. `mousehole-live` runs
with --dry-run, so that nothing is attached; the commands of tc that it prints are run.
"""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator
from subprocess import CompletedProcess

import pytest
from mousehole import _engine
from mousehole.answer import Link, explain_no_installation, find_settings

from live.tests.support import (
    DEVICE,
    FAR,
    FAR_ADDRESS,
    NEAR,
    NEAR_ADDRESS,
    assert_refused,
    install_bucket,
    pretend_cake,
)
from validation.lab import live as live_lab
from validation.lab.live import Lab

LINK = Link(rate_bps=5_000_000, buffer_packets=50, overhead=0)
KERNEL_SAYS = (
    "Specified qdisc kind is unknown",  # it was built without; tc has accepted the line by then
    "Failed to find specified qdisc",  # a class behind such a one
)
PAIRS = 60


def list_schemes() -> list[str]:
    """Returns every named scheme, every queue alone, and every marker before a queue that reads colours."""
    shipped = [part for part in _engine.parts() if part["header"] is None]
    named = [entry["name"] for entry in _engine.schemes()]
    queues = [part["name"] for part in shipped if part["role"] == "queue"]
    markers = [f"{part['name']}|multi-red" for part in shipped if part["role"] == "marker"]
    return list(dict.fromkeys([*named, *queues, *markers]))


def draw_pairs() -> list[str]:
    """Returns random pairs of a marker and a queue whose settings decide the plan, always the same ones."""
    variants = {
        "sfd": ["", "(timeout=never)", "(promotion=one-of-k)"],
        "demotion": ["", "(second=4294967295B)"],
        "cake": ["", "(tins=bulk)", "(tins=colour)", "(tins=class)", "(ecn=false)"],
        "multi-red": ["", "(mode=total)", "(mode=total,gentle=true)"],
        "priority": ["", "(shared=false)", "(colours=2)"],
        "priority-red": ["", "(shared=false)"],
        "red": ["", "(gentle=false,wait=false)"],
        "sfq": ["", "(perturb=10)", "(limit=1p)"],
        "policer": ["", "(high_rate=5%)", "(police=drop)"],
    }
    shipped = [part for part in _engine.parts() if part["header"] is None]
    markers, queues = (
        [
            part["name"] + more
            for part in shipped
            if part["role"] == role
            for more in variants.get(part["name"], [""])
        ]
        for role in ("marker", "queue")
    )
    every = [f"{marker}|{queue}" for marker in markers for queue in queues]
    return random.Random(1).sample(every, PAIRS)  # noqa: S311 (no secret)


SCHEMES = [*list_schemes(), *draw_pairs()]


@pytest.fixture(scope="module")
def place() -> Iterator[Lab]:
    """Creates namespaces for all tests of this file; skips them where that is not possible."""
    reason = live_lab.find_obstacle()
    if reason:
        pytest.skip(reason)
    with Lab() as made:
        made.add(NEAR)
        made.add(FAR)
        made.pair(NEAR, DEVICE, f"{NEAR_ADDRESS}/24", FAR, "lan", f"{FAR_ADDRESS}/24")
        yield made


@pytest.fixture
def lab(place: Lab) -> Lab:
    """Returns the lab with the kernel's default queue discipline at the root."""
    place.call(NEAR, "tc", "qdisc", "delete", "dev", DEVICE, "root")
    return place


def rehearse(lab: Lab, line: str, *first: str) -> CompletedProcess[str]:
    """Runs a `mousehole-live` command with --dry-run.

    `first` is a program, with its arguments, that runs the command.
    """
    program, *words = shlex.split(line.replace("DEV", DEVICE))
    assert program == "mousehole-live"
    return lab.call(NEAR, *first, live_lab.require_program(), *words, "--dry-run")


@pytest.fixture(scope="module")
def cake(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Returns a program, with its arguments, that runs a command as if the kernel had CAKE."""
    return pretend_cake(tmp_path_factory.mktemp("cake"))


def assert_accepted(lab: Lab, line: str) -> None:
    """Runs a tc command at the device.

    The kernel may lack the queue discipline, but tc must accept the syntax.
    """
    done = lab.call(NEAR, *line.replace("DEV", DEVICE).split())
    assert done.returncode == 0 or any(text in done.stderr for text in KERNEL_SAYS), f"{line}: {done.stderr}"


def find_live_commands(lines: tuple[str, ...]) -> list[str]:
    """Returns the `mousehole-live` commands in a plan, remarks included."""
    found = (re.search(r"mousehole-live .*", line) for line in lines)
    return [match.group() for match in found if match]


@pytest.mark.parametrize("overhead", [0, 26])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_plan__is_accepted_by_tc(lab: Lab, scheme: str, overhead: int) -> None:
    way = find_settings(scheme, Link(rate_bps=5_000_000, buffer_packets=50, overhead=overhead))
    for line in way.lines if way else ():
        if line.startswith("tc "):
            assert_accepted(lab, line)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_plan__is_accepted_by_mousehole_live_or_refused_for_the_same_reason(
    lab: Lab, cake: tuple[str, ...], scheme: str
) -> None:
    way, reason = find_settings(scheme, LINK), explain_no_installation(scheme, LINK)
    if way is None:
        done = rehearse(lab, f"mousehole-live up DEV --rate 5mbit --scheme {shlex.quote(scheme)}")
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"mousehole-live: {reason}\n")
        return
    assert reason == ""
    has_cake = any(" root cake " in line for line in way.lines)
    for line in find_live_commands(way.lines):
        if has_cake:
            install_bucket(lab, "8001:")
        done = rehearse(lab, line, *(cake if has_cake else ()))
        assert done.returncode == 0, f"{line}: {done.stderr}"
        assert "would run, and nothing was changed" in done.stdout
        for command in [said for said in done.stdout.splitlines() if said.startswith("tc ")]:
            assert_accepted(lab, command)
        lab.call(NEAR, "tc", "qdisc", "delete", "dev", DEVICE, "root")


@pytest.mark.parametrize(
    "line",
    [
        "up DEV --rate 5mbit --scheme lfp",
        "up DEV --rate 1mbit --no-gso",
        "mark DEV --via dscp",
        "host DEV --shape",
    ],
)
def test_dry_run__changes_nothing(lab: Lab, line: str) -> None:
    before = lab.state(NEAR, DEVICE)
    assert rehearse(lab, f"mousehole-live {line}").returncode == 0
    assert lab.state(NEAR, DEVICE) == before


def test_dry_run__says_what_the_command_then_does(lab: Lab) -> None:
    line = f"up {DEVICE} --rate 5mbit --scheme sfd|priority --no-agent"
    said = lab.live(NEAR, *line.split(), "--dry-run").stdout.splitlines()
    try:
        assert lab.live(NEAR, *line.split()).returncode == 0
        shown = lab.run(NEAR, "tc", "qdisc", "show", "dev", DEVICE)
        classes = lab.run(NEAR, "tc", "class", "show", "dev", DEVICE)
        assert classes.count("class htb") == sum(word.startswith("tc class replace") for word in said)
        assert shown.count("qdisc pfifo") == sum(" pfifo limit 100" in word for word in said) == 3
        again = lab.live(NEAR, *line.split(), "--dry-run")
        assert_refused(again, f"{DEVICE} is in use since")
    finally:
        assert lab.live(NEAR, "down", DEVICE).returncode == 0


def test_dry_run__refuses_a_foreign_qdisc_as_the_command_does(lab: Lab) -> None:
    lab.run(NEAR, *f"tc qdisc replace dev {DEVICE} root handle 7: pfifo".split())
    line = ("up", DEVICE, "--rate", "5mbit")
    rehearsed, real = lab.live(NEAR, *line, "--dry-run"), lab.live(NEAR, *line)
    assert_refused(real, "a qdisc of somebody's at its root, pfifo 7:")
    assert rehearsed.stderr == real.stderr
    assert lab.live(NEAR, *line, "--dry-run", "--replace").returncode == 0
    assert "pfifo 7:" in lab.run(NEAR, "tc", "qdisc", "show", "dev", DEVICE)


def test_dry_run__needs_no_rights(lab: Lab) -> None:
    user = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--bounding-set=-all")
    line = ("up", DEVICE, "--rate", "5mbit", "--scheme", "rio-ps", "--dry-run")
    done = lab.call(NEAR, *user, live_lab.require_program(), *line)
    assert done.returncode == 0, done.stderr
    assert done.stdout == lab.live(NEAR, *line).stdout


def test_tc__refuses_a_line_with_a_fault(lab: Lab) -> None:
    """The checks above can fail: an unknown word is refused before the kernel is asked."""
    with pytest.raises(AssertionError, match="bandwith"):
        assert_accepted(lab, "tc qdisc replace dev DEV root cake bandwith 5mbit")


def test_matrix__holds_plans_and_refusals() -> None:
    installed = [find_settings(scheme, LINK) is not None for scheme in SCHEMES]
    assert len(set(draw_pairs())) == PAIRS
    assert 20 < sum(installed) < len(SCHEMES) - 20
