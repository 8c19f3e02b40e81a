"""The evidence of a capture: its distinct transfers and clients, and the design that they imply."""

from collections.abc import Mapping
from dataclasses import dataclass

from mousehole import _engine
from mousehole._engine import LEAST_FITTED, LEAST_TRANSFERS
from mousehole.base import Summary
from mousehole.engine_types import Scenario, TrafficSection
from mousehole.quantities import CLASSES
from mousehole.scenario import bottleneck
from mousehole.statistics import Design, capture_freedom, capture_share


@dataclass(frozen=True)
class Counted:
    """The distinct transfers of one class in a capture, and the clients that they belong to."""

    transfers: int
    clients: int


@dataclass(frozen=True)
class Capture:
    """A capture that is replayed, with its transfers by class."""

    period_s: float
    """Length of the capture, after which it repeats."""
    counted: Mapping[Summary, Counted]
    freedom: float
    """Degrees of freedom for the variance between captures; see `statistics.capture_freedom`."""
    large: int
    """Connections with more bytes than the bandwidth-delay product."""
    pipe_bytes: float
    """The bandwidth-delay product, 0 if the bottleneck has no rate of its own."""
    is_fitted: bool = False
    """Whether a model fitted to the capture is played in its place."""

    @property
    def least(self) -> int:
        """Returns the number of distinct transfers of a class that a verdict on it needs."""
        return LEAST_FITTED if self.is_fitted else LEAST_TRANSFERS

    def is_enough(self, role: Summary) -> bool:
        """Returns whether a class has enough distinct transfers for a verdict."""
        return self.counted[role].transfers >= self.least


def find_capture(
    section: TrafficSection,
    traffic: _engine.Traffic | None,
    short_bytes: int,
    long_bytes: int,
    pipe_bytes: float,
) -> Capture | None:
    """Returns the capture that a comparison replays, None if a model draws any of its traffic.

    It is None too without traffic in memory or without files. `pipe_bytes` is the bandwidth-delay product.
    """
    mix = section.get("mix") or []
    models = bool(section.get("model")) or any(entry.get("model") for entry in mix)
    files = bool(section.get("files")) or any(entry.get("files") for entry in mix)
    if traffic is None or models or not files:
        return None
    found = traffic.capture(short_bytes, long_bytes, pipe_bytes, section.get("fitted", False))
    counted: dict[Summary, Counted] = {role: Counted(**found.pop(role)) for role in CLASSES}
    return Capture(counted=counted, **found)


def make_overlay_design(scenario: Scenario, traffic: _engine.Traffic) -> Design:
    """Returns the design of intervals over replications that overlay a capture to meet a load.

    The scenario is filled in, with `link.rtt`. Its replications play load ÷ native load times as much as was
    recorded. If rate, load or native load is unknown, it is the default design.
    """
    rate, load = bottleneck.read_mean_rate(scenario), scenario["traffic"]["load"]
    summary = traffic.summary(bottleneck.compute_load_rate(scenario))
    native = summary["native_load"]
    if native is None or load is None or rate is None:
        return Design()
    window_s = _engine.parse_duration("duration", scenario["duration"])
    material = load / native * window_s / summary["period_s"]
    pipe_bytes = _engine.parse_rate("rate", rate) * _engine.parse_duration("rtt", scenario["link"]["rtt"]) / 8
    freedom = capture_freedom(traffic.frame()["bytes"].astype(float), pipe_bytes)
    return Design(capture_share=capture_share(material), capture_freedom=freedom)
