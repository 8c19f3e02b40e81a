"""`host --shape`: users' TCP connections keep to their profiles, red packets do not wait, all comes back."""

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
    status,
)
from validation.lab.live import Lab
from validation.shaping import user_rates

SECOND_ADDRESS = "10.7.0.11"
USERS = (NEAR_ADDRESS, SECOND_ADDRESS)
# Of 6 MB in the time that is measured, one super-packet of 64 kB is a hundredth.
PROFILE = "high_rate=16mbit,med_rate=32mbit"
# Every window is green, or yellow, or red.
GREEN, YELLOW, RED = (
    f"tcp-ds(high={high},med={med},{PROFILE})" for high, med in ((65535, 65535), (0, 65535), (0, 0))
)
SECONDS = 3.0


def host(scheme: str, *words: str) -> tuple[str, ...]:
    """Returns the command that shapes what the host sends."""
    return ("host", DEVICE, "--scheme", scheme, "--shape", *words, "--no-agent", "--flows", str(FLOWS))


def has_fq(lab: Lab) -> bool:
    """Says whether the kernel has `fq`, which it loads on demand."""
    if lab.call(NEAR, "tc", "qdisc", "add", "dev", "lo", "root", "fq").returncode:
        return False
    lab.run(NEAR, "tc", "qdisc", "del", "dev", "lo", "root")
    return True


@pytest.fixture
def before(lab: Lab) -> dict[str, Any]:
    lab.run(NEAR, "ip", "addr", "add", f"{SECOND_ADDRESS}/24", "dev", DEVICE)
    return lab.state(NEAR, DEVICE)


def rates(lab: Lab) -> list[float]:
    return user_rates(lambda: lab.inside(NEAR), lambda: lab.inside(FAR), FAR_ADDRESS, USERS, SECONDS)


def is_refused_and_changes_nothing(lab: Lab, before: dict[str, Any]) -> None:
    """Checks a kernel without fq."""
    assert_refused(lab.live(NEAR, *host(GREEN)), "fq")
    assert_restored(lab, before)
    # As a shadow it decides and counts, and needs no fq.
    done = lab.live(NEAR, *host(GREEN, "--shadow"))
    assert done.returncode == 0, done.stderr
    assert "without --shadow packets beyond a user's profile wait for tokens, at most 2 s" in done.stdout
    assert min(rates(lab)) > 40e6
    assert status(lab)["counters"]["held"]["packets"] > 0
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def holds_each_user_to_the_profile(lab: Lab, before: dict[str, Any], scheme: str, bps: float) -> None:
    done = lab.live(NEAR, *host(scheme))
    assert done.returncode == 0, done.stderr
    assert rates(lab) == pytest.approx([bps, bps], rel=0.05)
    seen = status(lab)
    assert seen["problems"] == []
    assert seen["counters"]["held"]["packets"] > 100
    assert seen["counters"]["dropped"]["policed"]["packets"] == 0
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def leaves_red_traffic_as_fast_as_it_was(lab: Lab, before: dict[str, Any]) -> None:
    without = sum(rates(lab))
    assert lab.live(NEAR, *host(RED)).returncode == 0
    assert sum(rates(lab)) > without / 2
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, before)


def uses_an_fq_that_is_there_and_respects_other_qdiscs(lab: Lab, before: dict[str, Any]) -> None:
    lab.run(NEAR, "tc", "qdisc", "add", "dev", DEVICE, "root", "handle", "77:", "fq")
    with_fq = lab.state(NEAR, DEVICE)
    done = lab.live(NEAR, *host(GREEN))
    assert "in the fq that is there" in done.stdout, done.stderr
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, with_fq)
    lab.run(NEAR, "tc", "qdisc", "replace", "dev", DEVICE, "root", "handle", "78:", "pfifo", "limit", "77")
    foreign = lab.state(NEAR, DEVICE)
    assert_refused(lab.live(NEAR, *host(GREEN)), "--replace")
    assert lab.live(NEAR, *host(GREEN, "--replace")).returncode == 0
    assert lab.live(NEAR, "down", DEVICE).returncode == 0
    assert_restored(lab, foreign)
    lab.run(NEAR, "tc", "qdisc", "del", "dev", DEVICE, "root")
    assert lab.state(NEAR, DEVICE) == before


def test_shape__holds_users_to_profiles_where_the_kernel_has_fq_and_is_refused_elsewhere(
    lab: Lab, before: dict[str, Any]
) -> None:
    """Debian's kernels have fq; `make validation WHAT=kernels` measures the same there."""
    if not has_fq(lab):
        is_refused_and_changes_nothing(lab, before)
        return
    holds_each_user_to_the_profile(lab, before, GREEN, 16e6)
    holds_each_user_to_the_profile(lab, before, YELLOW, 32e6)
    leaves_red_traffic_as_fast_as_it_was(lab, before)
    uses_an_fq_that_is_there_and_respects_other_qdiscs(lab, before)
