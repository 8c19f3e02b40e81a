"""`host --shape`: users' TCP connections keep to their profiles, red packets do not wait, all is restored."""

from __future__ import annotations

from typing import Any

import pytest

from live.tests.support import (
    DEVICE,
    FAR,
    FAR_ADDRESS,
    FLOWS,
    NEAR,
    NEAR_ADDRESS,
    assert_refused,
    assert_restored,
    read_status,
)
from validation.lab.live import Lab
from validation.shaping import measure_user_rates

SECOND_ADDRESS = "10.7.0.11"
USERS = (NEAR_ADDRESS, SECOND_ADDRESS)
# Of 6 MB in the time that is measured, one super-packet of 64 kB is a hundredth.
PROFILE = "high_rate=16mbit,med_rate=32mbit"
# Every window is green, or yellow, or red.
GREEN, YELLOW, RED = (
    f"tcp-ds(high={high},med={med},{PROFILE})" for high, med in ((65535, 65535), (0, 65535), (0, 0))
)
SECONDS = 3.0


def build_host_command(scheme: str, *words: str) -> tuple[str, ...]:
    """Returns the command that shapes what the host sends."""
    return ("host", DEVICE, "--scheme", scheme, "--shape", *words, "--no-agent", "--flows", str(FLOWS))


def has_fq(lab: Lab) -> bool:
    """Returns whether the kernel has `fq`, which it loads on demand."""
    if lab.call(NEAR, "tc", "qdisc", "add", "dev", "lo", "root", "fq").returncode:
        return False
    lab.run(NEAR, "tc", "qdisc", "del", "dev", "lo", "root")
    return True


@pytest.fixture
def before(lab: Lab) -> dict[str, Any]:
    """Adds the second user's address. Returns the device's state."""
    lab.run(NEAR, "ip", "addr", "add", f"{SECOND_ADDRESS}/24", "dev", DEVICE)
    return lab.state(NEAR, DEVICE)


def measure_rates(lab: Lab) -> list[float]:
    """Returns the rate of each user's connection, bit/s, measured for some seconds."""
    return measure_user_rates(lambda: lab.inside(NEAR), lambda: lab.inside(FAR), FAR_ADDRESS, USERS, SECONDS)


def assert_refused_without_fq(lab: Lab, before: dict[str, Any]) -> None:
    """Asserts that a kernel without fq refuses to shape, and that nothing changes."""
    assert_refused(lab.live(NEAR, *build_host_command(GREEN)), "fq")
    assert_restored(lab, before)
    # As a shadow it decides and counts, and needs no fq.
    done = lab.live(NEAR, *build_host_command(GREEN, "--shadow"))
    assert done.returncode == 0, done.stderr
    assert "without --shadow packets beyond a user's profile wait for tokens, at most 2 s" in done.stdout
    assert min(measure_rates(lab)) > 40e6
    assert read_status(lab)["counters"]["held"]["packets"] > 0
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def assert_users_held_to_profile(lab: Lab, before: dict[str, Any], scheme: str, bps: float) -> None:
    """Asserts that each user sends at `bps` while the scheme runs."""
    done = lab.live(NEAR, *build_host_command(scheme))
    assert done.returncode == 0, done.stderr
    assert measure_rates(lab) == pytest.approx([bps, bps], rel=0.05)
    seen = read_status(lab)
    assert seen["problems"] == []
    assert seen["counters"]["held"]["packets"] > 100
    assert seen["counters"]["dropped"]["policed"]["packets"] == 0
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def assert_red_traffic_fast(lab: Lab, before: dict[str, Any]) -> None:
    """Asserts that red packets are not held."""
    without = sum(measure_rates(lab))
    assert lab.live(NEAR, *build_host_command(RED)).returncode == 0
    assert sum(measure_rates(lab)) > without / 2
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def assert_fq_used_and_others_respected(lab: Lab, before: dict[str, Any]) -> None:
    """Asserts that an existing fq is used, and others are replaced only on demand."""
    lab.run(NEAR, "tc", "qdisc", "add", "dev", DEVICE, "root", "handle", "77:", "fq")
    with_fq = lab.state(NEAR, DEVICE)
    done = lab.live(NEAR, *build_host_command(GREEN))
    assert "in the fq that is there" in done.stdout, done.stderr
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, with_fq)
    lab.run(NEAR, "tc", "qdisc", "replace", "dev", DEVICE, "root", "handle", "78:", "pfifo", "limit", "77")
    foreign = lab.state(NEAR, DEVICE)
    assert_refused(lab.live(NEAR, *build_host_command(GREEN)), "--replace")
    assert lab.live(NEAR, *build_host_command(GREEN, "--replace")).returncode == 0
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, foreign)
    lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
    assert lab.state(NEAR, DEVICE) == before


def test_shape__holds_users_to_profiles_where_the_kernel_has_fq_and_is_refused_elsewhere(
    lab: Lab, before: dict[str, Any]
) -> None:
    """Debian's kernels have fq; `make validation WHAT=kernels` measures the same there."""
    if not has_fq(lab):
        assert_refused_without_fq(lab, before)
        return
    assert_users_held_to_profile(lab, before, GREEN, 16e6)
    assert_users_held_to_profile(lab, before, YELLOW, 32e6)
    assert_red_traffic_fast(lab, before)
    assert_fq_used_and_others_respected(lab, before)
