"""A lab for each test: two namespaces, joined by a veth pair, with `mousehole-live` at the near end."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest

from live.tests.support import DEVICE, FAR, FAR_ADDRESS, NEAR, NEAR_ADDRESS
from validation.lab import live as live_lab
from validation.lab.live import Echo, Lab


@pytest.fixture
def lab() -> Iterator[Lab]:
    """The namespaces `near`, whose device is `wan`, and `far`."""
    reason = live_lab.find_obstacle()
    if reason:
        pytest.skip(reason)
    # A test that hangs is ended, and its lab with it.
    signal.alarm(600)
    with Lab() as made:
        made.add(NEAR)
        made.add(FAR)
        made.pair(NEAR, DEVICE, f"{NEAR_ADDRESS}/24", FAR, "lan", f"{FAR_ADDRESS}/24")
        yield made
    signal.alarm(0)


@pytest.fixture
def echo(lab: Lab) -> Iterator[Echo]:
    """Exchanges datagrams with the far end through the device while the test lasts."""
    made = Echo(lab, NEAR, FAR, FAR_ADDRESS)
    yield made
    made.close()
