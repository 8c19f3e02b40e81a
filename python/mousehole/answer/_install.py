"""How a scheme is put on a link today: what the engine's plan says, and files made of it.

The plan itself, with the commands of tc and of `mousehole-live`, is the engine's
(`scheme/src/install`), and `mousehole-live` decides by the same code. DEV stands for the device in
front of the bottleneck. A line that begins with # is a remark.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mousehole import _engine
from mousehole._engine import AT_THE_LINE as AT_THE_LINE
from mousehole._engine import TO_CLIENTS as TO_CLIENTS
from mousehole._engine import TO_PROVIDER as TO_PROVIDER
from mousehole.base import find_shaper_rate
from mousehole.engine_types import InstallPlan, Scenario
from mousehole.runs import Cell, Results
from mousehole.scenario import bottleneck

FULL_PACKET = 1500
"""Bytes of a full packet, to turn a buffer in bytes into packets."""

NO_LAYER = "none"
"""The name of no link layer, by which a shaper counts nothing for it."""

DOWNLOAD, UPLOAD = "download", "upload"
"""The directions of a link, in the order in which they are listed."""

FIREWALL = (
    "sysctl -q -w net.netfilter.nf_conntrack_acct=1",
    "nft add table inet filter",
    "nft add chain inet filter forward '{ type filter hook forward priority 0; }'",
)
"""What a firewall's rule that counts bytes needs; nothing changes where it is there."""


@dataclass(frozen=True)
class Shaping:
    """How the scheme stands before a modem, whose the line is."""

    rate: str
    """Rate of the shaper, as a share of the line's or a rate."""
    is_of_direction: bool
    """Whether it is this direction's alone, so that a scheme's own rate does not replace it."""
    line_bps: int
    """Rate of the line, of one that varies its mean."""
    varies: bool
    buffer: str
    """Buffer of the scheme's queue, as it was given."""
    rtt: str | None


@dataclass(frozen=True)
class Link:
    """What the commands need to know of a link."""

    rate_bps: int
    """Rate at which the scheme sends: the link's, or the shaper's before a modem."""
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
    burst: int | None = None
    """Depth of the token bucket in bytes, if it was given."""
    shaping: Shaping | None = None
    """The modem behind, if there is one."""

    def under(self, scheme: str) -> "Link":
        """Returns the link as a scheme has it, whose shaper may have a rate of its own."""
        own = find_shaper_rate(scheme)
        if own is None or self.shaping is None:
            return self
        link = self if self.other is None else replace(self, other=self.other.under(scheme))
        return link if self.shaping.is_of_direction else _shaped(link, replace(self.shaping, rate=own))


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
    """Everything that installs a scheme in one direction."""

    place: str
    lines: tuple[str, ...]
    """Commands and remarks, as `installation` has them."""
    live: str | None
    """A file for `mousehole-live --config`, whose first line says how it is used; None if it has no part."""
    wred: tuple[WredProfile, ...]
    """The profiles of a router's WRED, best colour first; none for other queues."""
    needs: tuple[str, ...] = ()
    """Kernels and programs that must be there."""
    direction: str = DOWNLOAD
    """Which direction of the link they are for: `DOWNLOAD` or `UPLOAD`."""
    back: "Settings | None" = None
    """The same for the other direction, if the scheme is there too."""

    @property
    def directions(self) -> "tuple[Settings, ...]":
        """The settings of each direction, the download first."""
        return tuple(sorted((self, self.back), key=lambda one: one.direction)) if self.back else (self,)


def find_link(scenario: Scenario, buffer: str, means: Mapping[str, int] | None = None) -> Link | None:
    """Returns the bottleneck of a scenario that is filled in, None if its rate is not constant or unknown.

    A rate that varies must have a shaper at a constant one before it. `buffer` is that of the cell of the
    grid, such as `50p`, `64kB` or `1bdp`; `means` are the manifest's, whose scenario has no folders of files.
    """
    at, data_are_up = scenario.get("at"), bottleneck.is_up(scenario)
    # The scheme is where `at` has it, also if the data go the other way.
    is_upload = at == "up" if at in bottleneck.EACH and "topology" not in scenario else data_are_up
    if means is None:
        means = bottleneck.mean_rates(scenario) if bottleneck.shape(scenario, is_upload) else {}
    own = _direction(scenario, buffer, is_upload, means)
    if own is None or at != "both" or "topology" in scenario:
        return own
    back = buffer if is_upload else scenario["link"].get("up_buffer", buffer)
    other = _direction(scenario, back, not is_upload, means)
    return None if other is None else replace(own, other=other)


def link_of_cell(results: Results, cell: Cell) -> Link | None:
    """Returns the bottleneck in a cell of a comparison, None as `find_link` does."""
    return find_link(results.manifest["scenario"], cell.buffer, results.manifest.get("mean_rates", {}))


def _direction(scenario: Scenario, buffer: str, is_upload: bool, means: Mapping[str, int]) -> Link | None:
    """Returns one direction of a bottleneck."""
    rate, shape = bottleneck.rates(scenario)[is_upload], bottleneck.shape(scenario, is_upload)
    rtt = bottleneck.rtt(scenario)
    varies = bottleneck.varies(rate)
    if rate is None or (varies and shape is None):
        return None
    wire, way = scenario["link"], bottleneck.EACH[is_upload]
    rate_bps = means[way] if varies else _engine.parse_rate("rate", rate)
    packets = buffer_packets(buffer, rate_bps, rtt)
    if packets is None:
        return None
    burst = wire.get("burst")
    link = Link(
        rate_bps, packets, wire.get("overhead", 0), is_upload, layer=wire.get("layer"),
        burst=None if burst is None else _engine.parse_size("burst", burst),
    )  # fmt: skip
    if shape is None:
        return link
    if (counted := wire.get("shape_layer")) is not None:
        link = replace(link, overhead=0, layer=None if counted == NO_LAYER else counted)
    return _shaped(link, Shaping(shape, is_upload and "up_shape" in wire, rate_bps, varies, buffer, rtt))


def _shaped(link: Link, shaping: Shaping) -> Link:
    """Returns the link behind which a modem is, with the rate and buffer of the shaper."""
    rate_bps = _engine.shaped_rate("link.shape", shaping.rate, shaping.line_bps, shaping.varies)
    packets = buffer_packets(shaping.buffer, rate_bps, shaping.rtt)
    return replace(link, rate_bps=rate_bps, buffer_packets=packets or link.buffer_packets, shaping=shaping)


def buffer_packets(buffer: str, rate_bps: int, rtt: str | None) -> int | None:
    """Returns a buffer in full packets, None for one in bandwidth-delay products of an unknown RTT."""
    if rtt is None and buffer.lower().endswith("bdp"):
        return None
    packets, size = _engine.parse_buffer("buffer", buffer, f"{rate_bps}bit", rtt or "0s")
    return packets if size is None else size // FULL_PACKET


def installation(scheme: str, link: Link | None) -> Installation | None:
    """Returns how Linux or a common router installs a scheme, None if they cannot do it.

    The lines of each direction follow a remark on its device; what was simulated stands in it too where the
    rate is a shaper's before a modem.
    """
    found = settings(scheme, link)
    if found is None or link is None:
        return None
    own = link.under(scheme)
    ends = [(own, found)]
    if own.other is not None and found.back is not None:
        ends.append((own.other, found.back))
    directions = [_direction_entry(end, way.lines) for end, way in ends]
    place, lines = _engine.join_installation(found.place, directions)
    return Installation(place, tuple(lines))


def _direction_entry(link: Link, lines: tuple[str, ...]) -> dict[str, object]:
    """Returns a direction with its lines as the engine takes it."""
    shaping = link.shaping
    modem = None if shaping is None else {"rate_bps": shaping.line_bps, "varies": shaping.varies}
    return {
        "is_upload": link.is_upload,
        "rate_bps": link.rate_bps,
        "modem": modem,
        "lines": list(lines),
    }


def settings(scheme: str, link: Link | None) -> Settings | None:
    """Returns everything that installs a scheme, None if nothing does."""
    if link is None or "reason" in (way := _plan(scheme, link)):
        return None
    names = WredProfile.__dataclass_fields__
    profiles = (WredProfile(**{name: one[name] for name in names}) for one in way["wred"])  # type: ignore[literal-required]
    return Settings(
        way["place"], tuple(way["lines"]), way["live"], tuple(profiles), tuple(way["needs"]),
        UPLOAD if link.is_upload else DOWNLOAD, settings(scheme, link.under(scheme).other),
    )  # fmt: skip


def why_nothing(scheme: str, link: Link | None) -> str:
    """Returns why nothing installs a scheme, as a clause; empty if something does."""
    if link is None:
        return (
            "its commands have a fixed rate and buffer, and those of this link vary or are not known "
            "(--shape simulates a fixed rate before it)"
        )
    return _plan(scheme, link).get("reason", "")


def _plan(scheme: str, link: Link) -> InstallPlan:
    own = link.under(scheme)
    return _engine.install(
        scheme, own.rate_bps, own.buffer_packets, own.overhead, own.layer, own.is_upload, own.burst
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


WRED_WORDS = (
    "- DSCP: the packets that the line is for. All lines share one queue and its one average.",
    "- min, max: average length of the queue, in packets. Below min nothing is dropped, from max on all.",
    "- probability: of a drop just below max; it rises in a straight line from 0 at min. Some take its",
    "  reciprocal, the mark probability denominator.",
    "- weight: of the newest length in the average. Most routers take the exponent; some subtract one.",
)
"""What the columns of `wred_table` mean, whoever made the router."""
