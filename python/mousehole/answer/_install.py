"""How a scheme is put on a link today: what the engine's plan says, and files made of it.

The plan itself, with the commands of tc and of `mousehole-live`, is the engine's
(`sim/src/scenario/install`), and `mousehole-live` decides by the same code. DEV stands for the device in
front of the bottleneck. A line that begins with # is a remark.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mousehole import _engine
from mousehole.engine_types import InstallPlan, Scenario
from mousehole.scenario import bottleneck

FULL_PACKET = 1500
"""Bytes of a full packet, to turn a buffer in bytes into packets."""

TO_CLIENTS = "# download direction: DEV is the device towards the clients"
TO_PROVIDER = "# upload direction: DEV is the device towards the provider"
"""What stands before the lines of each direction where a scheme is at both."""

FIREWALL = (
    "sysctl -q -w net.netfilter.nf_conntrack_acct=1",
    "nft add table inet filter",
    "nft add chain inet filter forward '{ type filter hook forward priority 0; }'",
)
"""What a firewall's rule that counts bytes needs; nothing changes where it is there."""


@dataclass(frozen=True)
class Link:
    """What the commands need to know of a link."""

    rate_bps: int
    buffer_packets: int
    """Its buffer in full packets, at least one."""
    overhead: int
    """Bytes that the link layer adds to each packet."""
    is_upload: bool = False
    """Whether the data go from client to server."""
    other: "Link | None" = None
    """The other direction, if the scheme is there too."""
    layer: str | None = None
    """The link layer, in place of `overhead`."""


@dataclass(frozen=True)
class Installation:
    """Where a scheme can be installed, and the lines to type or to configure there."""

    place: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class WredProfile:
    """What a router's WRED needs to know of one DSCP, in the words of no vendor."""

    dscp: int
    min_packets: int
    """Average queue from which on packets are dropped by chance."""
    max_packets: int
    """Average queue from which on every packet is dropped."""
    probability: str
    """Probability of a drop just below the upper threshold."""
    weight_exponent: int
    """The newest queue length has the weight 2 to the power of minus this in the average."""


@dataclass(frozen=True)
class Settings:
    """Everything that installs a scheme."""

    place: str
    lines: tuple[str, ...]
    """Commands and remarks, as `installation` has them."""
    live: str | None
    """A file for `mousehole-live --config`, whose first line says how it is used; None if it has no part."""
    wred: tuple[WredProfile, ...]
    """The profiles of a router's WRED, best colour first; none for other queues."""
    needs: tuple[str, ...] = ()
    """Kernels and programs that must be there."""


def link_of(scenario: Scenario, buffer: str) -> Link | None:
    """Returns the bottleneck of a scenario that is filled in, None if its rate is not constant or unknown.

    `buffer` is that of the cell of the grid, such as `50p`, `64kB` or `1bdp`.
    """
    facts = bottleneck.facts(scenario)
    if facts["rate"] is None:
        return None
    rate_bps = _engine.parse_rate("rate", facts["rate"])
    packets = buffer_packets(buffer, rate_bps, facts["rtt"])
    if packets is None:
        return None
    wire, is_upload = scenario["link"], bottleneck.is_up(scenario)
    overhead, layer = wire.get("overhead", 0), wire.get("layer")
    other = None
    if scenario.get("at") == "both" and "topology" not in scenario:
        rate = bottleneck.rates(scenario)[not is_upload]
        own = buffer if is_upload else scenario["link"].get("up_buffer", buffer)
        if rate is None or bottleneck.varies(rate):
            return None
        bps = _engine.parse_rate("rate", rate)
        other = Link(
            bps, buffer_packets(own, bps, facts["rtt"]) or packets, overhead, not is_upload, layer=layer
        )
    return Link(rate_bps, packets, overhead, is_upload, other, layer)


def buffer_packets(buffer: str, rate_bps: int, rtt: str | None) -> int | None:
    """Returns a buffer in full packets, None for one in bandwidth-delay products of an unknown RTT."""
    if rtt is None and buffer.lower().endswith("bdp"):
        return None
    packets, size = _engine.parse_buffer("buffer", buffer, f"{rate_bps}bit", rtt or "0s")
    return packets if size is None else size // FULL_PACKET


def installation(scheme: str, link: Link | None) -> Installation | None:
    """Returns how Linux or a common router installs a scheme, None if they cannot do it."""
    found = settings(scheme, link)
    if found is None or link is None:
        return None
    back = None if link.other is None else settings(scheme, link.other)
    if back is None:
        return Installation(found.place, found.lines)
    ways = sorted([(link.is_upload, found.lines), (not link.is_upload, back.lines)])
    (_, down), (_, up) = ways
    return Installation(found.place, (TO_CLIENTS, *down, TO_PROVIDER, *up))


def settings(scheme: str, link: Link | None) -> Settings | None:
    """Returns everything that installs a scheme, None if nothing does."""
    if link is None or "reason" in (way := _plan(scheme, link)):
        return None
    names = WredProfile.__dataclass_fields__
    profiles = (WredProfile(**{name: one[name] for name in names}) for one in way["wred"])  # type: ignore[literal-required]
    return Settings(way["place"], tuple(way["lines"]), way["live"], tuple(profiles), tuple(way["needs"]))


def why_nothing(scheme: str, link: Link | None) -> str:
    """Returns why nothing installs a scheme, as a clause; empty if something does."""
    if link is None:
        return "its commands have a fixed rate and buffer, and those of this link vary or are not known"
    return _plan(scheme, link).get("reason", "")


def _plan(scheme: str, link: Link) -> InstallPlan:
    return _engine.install(
        scheme, link.rate_bps, link.buffer_packets, link.overhead, link.layer, link.is_upload
    )


def install_script(found: Settings) -> str:
    """Returns the commands as a script, whose argument is the device."""
    head = ["#!/bin/sh", "# Usage: install.sh DEVICE, as root."]
    head += [f"# Needs {need}." for need in found.needs]
    head += ["set -eu", 'DEV="${1:?give the device}"']
    lines = [
        line if line.startswith(("tc ", "nft ", "mousehole-live ")) else f"# {line.removeprefix('# ')}"
        for line in found.lines
    ]
    if any(line.startswith("nft ") for line in lines):
        lines = [*FIREWALL, *lines]
    return "\n".join([*head, *(re.sub(r"\bDEV\b", '"$DEV"', line) for line in lines), ""])


def wred_table(profiles: Sequence[WredProfile]) -> str:
    """Returns the profiles as a table in Markdown, with what each number means."""
    rows = [
        f"| {one.dscp} | {one.min_packets} | {one.max_packets} | {one.probability} "
        f"| 2^-{one.weight_exponent} |"
        for one in profiles
    ]
    return "\n".join(
        ["| DSCP | min | max | probability | weight |", "|---|---|---|---|---|", *rows, "", *WRED_WORDS, ""]
    )


def in_packets(threshold: str, buffer: int) -> int:
    """Returns a threshold in packets; one in percent is of the buffer."""
    if threshold.endswith("%"):
        return round(float(threshold.removesuffix("%")) / 100 * buffer)
    return int(float(threshold.removesuffix("p")))


WRED_WORDS = (
    "- DSCP: the packets that the line is for. All lines share one queue and its one average.",
    "- min, max: average length of the queue, in packets. Below min nothing is dropped, from max on all.",
    "- probability: of a drop just below max; it rises in a straight line from 0 at min. Some take its",
    "  reciprocal, the mark probability denominator.",
    "- weight: of the newest length in the average. Most routers take the exponent; some subtract one.",
)
"""What the columns of `wred_table` mean, whoever made the router."""
