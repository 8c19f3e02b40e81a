"""How a scheme is put on a link today: commands for Linux, thresholds for a router's WRED.

The names of queue disciplines and of their parameters are those of tc(8), tc-cake(8), tc-fq_codel(8),
tc-codel(8), tc-pie(8), tc-red(8) and tc-tbf(8). DEV stands for the device in front of the bottleneck.
"""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from math import ceil, log2

from mousehole import _engine, bottleneck
from mousehole.engine_types import Scenario
from mousehole.options import scheme_name

FULL_PACKET = 1500
"""Bytes of a full packet, to turn packets into bytes and back."""
LEAST_BURST = 2 * FULL_PACKET
"""A token bucket holds at least this many bytes, so that a full packet always fits."""
BURST_S = 0.002
"""Time that a token bucket's burst lasts at the link's rate, above `LEAST_BURST`."""
CAKE_LIMIT = 4 << 20
"""Bytes that CAKE may hold if tc is told nothing."""
LOWER_EFFORT = 1
"""DSCP of traffic that gives way to all other (LE, RFC 8622); yellow packets get it."""

LIVE_MARKERS = frozenset({"demotion", "rio-ps", "sfd"})
"""Markers that `mousehole-live` attaches to a device and that know a flow by its own packets alone."""
LIVE_QUEUES = frozenset({"droptail", "multi-red", "red"})
"""Queues that `mousehole-live up` decides in front of a token bucket."""
LIVE_LINK_HEADER = 14
"""The least that `mousehole-live up --overhead` takes on Ethernet, which is also its default there."""

LINUX, ROUTER = "Linux", "a router with WRED"


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


@dataclass(frozen=True)
class Installation:
    """Where a scheme can be installed, and the lines to type or to configure there."""

    place: str
    lines: tuple[str, ...]


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
    traffic = scenario["traffic"]
    return Link(rate_bps, packets, scenario["link"].get("overhead", 0), traffic.get("direction") == "up")


def buffer_packets(buffer: str, rate_bps: int, rtt: str | None) -> int | None:
    """Returns a buffer in full packets, None for one in bandwidth-delay products of an unknown RTT."""
    if rtt is None and buffer.lower().endswith("bdp"):
        return None
    packets, size = _engine.parse_buffer("buffer", buffer, f"{rate_bps}bit", rtt or "0s")
    return packets if size is None else size // FULL_PACKET


def installation(scheme: str, link: Link) -> Installation | None:
    """Returns how Linux or a common router installs a scheme, None if they cannot do it."""
    values = _engine.scheme_parameters(scheme)
    if "|" in scheme:
        return _combination(scheme, values, link) or _live(scheme, values, link)
    name = scheme_name(scheme)
    if name == "cake" and values["tins"] != "besteffort":  # nothing here marks packets for other tins
        return None
    if name in QUEUES:
        lines = QUEUES[name](values, link)
    elif name == "ct-cake":
        lines = _marked_cake(values["th"], values, link)
    elif name == "sfd" and values["mode"] == "total":  # a router's WRED has one average for all profiles
        profiles = wred_profiles(values, ("in", "out"), link)
        return Installation(ROUTER, (_size_marker(values["th"], link), *profiles))
    else:
        return _live(scheme, values, link)
    return Installation(LINUX, lines) if lines else None


def _live(scheme: str, values: Mapping[str, str], link: Link) -> Installation | None:
    """Returns the commands of `mousehole-live` for a marker with a FIFO or before CAKE, None for others."""
    *markers, queue = _stages(scheme)
    if len(markers) != 1 or markers[0] not in LIVE_MARKERS:
        return None
    if queue in LIVE_QUEUES:
        overhead = f" --overhead {link.overhead}" if link.overhead >= LIVE_LINK_HEADER else ""
        queue_of = f"--rate {rate_of_tc(link.rate_bps)} --buffer {link.buffer_packets}p{overhead}"
        return Installation(LINUX, (f"mousehole-live up DEV {queue_of} --scheme {shlex.quote(scheme)}",))
    # A flow that is promoted for some packets would be reordered between CAKE's tins.
    if queue != "cake" or values.get("cake.tins") != "bulk" or values.get("sfd.promotion", "none") != "none":
        return None
    own = {key.removeprefix("cake."): value for key, value in values.items() if key.startswith("cake.")}
    cake = _cake(own, link)
    return Installation(LINUX, (*cake, _mark(scheme.partition("|")[0]))) if cake else None


def _mark(marker: str) -> str:
    """Returns the command that puts a marker before the CAKE that is there, which it tells by priority."""
    return f"mousehole-live mark DEV --marker {shlex.quote(marker)}"


def _stages(scheme: str) -> list[str]:
    """Returns the names of a scheme's parts, markers first."""
    if "|" in scheme:
        return [scheme_name(part) for part in scheme.split("|")]
    return _named_stages().get(scheme_name(scheme), [scheme_name(scheme)])


@cache
def _named_stages() -> Mapping[str, list[str]]:
    return {entry["name"]: entry["stages"] for entry in _engine.schemes()}


def _combination(scheme: str, values: Mapping[str, str], link: Link) -> Installation | None:
    """Returns how SFD's marker in front of CAKE is installed: a firewall's rule and CAKE's Bulk tin."""
    # The firewall neither promotes nor forgets.
    kept = {"sfd.promotion": "none", "sfd.timeout": "never", "cake.tins": "bulk"}
    if [scheme_name(part) for part in scheme.split("|")] != [
        "sfd",
        "cake",
    ] or not kept.items() <= values.items():
        return None
    own = {key.removeprefix("cake."): value for key, value in values.items() if key.startswith("cake.")}
    lines = _marked_cake(values["sfd.th"], own, link)
    return Installation(LINUX, lines) if lines else None


def _marked_cake(threshold: str, values: Mapping[str, str], link: Link) -> tuple[str, ...]:
    """Returns the firewall's rule and the line for CAKE behind it, which knows its Bulk tin by the DSCP.

    The last line is what `mousehole-live` sets in the place of the rule, without firewall and conntrack.
    """
    cake = _cake({**values, "tins": "bulk"}, link)
    instead = f"# or in the place of the rule: {_mark(f'sfd(th={threshold},timeout=never)')}"
    return (_size_marker(threshold, link), *cake, instead) if cake else ()


def _size_marker(threshold: str, link: Link) -> str:
    """Returns the rule that marks a connection's packets once it has sent more than `threshold`."""
    sender = "original" if link.is_upload else "reply"
    unit = "packets" if threshold.endswith("p") else "bytes"
    count = threshold.removesuffix("p") if unit == "packets" else _engine.parse_size("th", threshold)
    return (
        f"nft add rule inet filter forward ct {sender} {unit} '>' {count} ip dscp set {LOWER_EFFORT}"
        "  # and ip6; needs nf_conntrack_acct=1"
    )


def wred_profiles(values: Mapping[str, str], prefixes: tuple[str, ...], link: Link) -> tuple[str, ...]:
    """Returns one line per colour: DSCP, thresholds in packets, probability and weight of the average.

    `prefixes` are those of the parameters of each colour, best first, such as `in` for `in_min`.
    """
    weight = f"2^-{max(0, round(-log2(float(values['wq']))))}"
    lines = []
    for place, prefix in enumerate(prefixes):
        low, high = (in_packets(values[f"{prefix}_{end}"], link.buffer_packets) for end in ("min", "max"))
        dscp = LOWER_EFFORT if place else 0
        probability = values[f"{prefix}_maxp"]
        lines.append(
            f"WRED for DSCP {dscp}: min {low}, max {high} packets, drop probability {probability}; "
            f"weight of the average {weight}"
        )
    return tuple(lines)


def in_packets(threshold: str, buffer: int) -> int:
    """Returns a threshold in packets; one in percent is of the buffer."""
    if threshold.endswith("%"):
        return round(float(threshold.removesuffix("%")) / 100 * buffer)
    return int(float(threshold.removesuffix("p")))


def rate_of_tc(rate_bps: int) -> str:
    """Returns a rate as tc writes it, in the largest unit that leaves a whole number: `5mbit`, `1500kbit`."""
    for unit, scale in (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)):
        if rate_bps % scale == 0:
            return f"{rate_bps // scale}{unit}"
    return f"{rate_bps}bit"


def _behind_token_bucket(queue: str, link: Link) -> tuple[str, ...]:
    """Returns the two lines that put a queue behind a token bucket of the link's rate."""
    burst = max(LEAST_BURST, ceil(link.rate_bps / 8 * BURST_S))
    table = f"stab overhead {link.overhead} linklayer ethernet " if link.overhead else ""
    # TBF has a limit of its own that only its built-in queue uses; tc asks for it all the same.
    bucket = f"tbf rate {rate_of_tc(link.rate_bps)} burst {burst} limit {link.buffer_packets * FULL_PACKET}"
    return (
        f"tc qdisc replace dev DEV root handle 1: {table}{bucket}",
        f"tc qdisc replace dev DEV parent 1: handle 2: {queue}",
    )


def _fifo(values: Mapping[str, str], link: Link) -> tuple[str, ...]:  # noqa: ARG001 (one signature for all)
    return _behind_token_bucket(f"pfifo limit {link.buffer_packets}", link)


def _red(values: Mapping[str, str], link: Link) -> tuple[str, ...]:
    low, high = (in_packets(values[name], link.buffer_packets) * FULL_PACKET for name in ("min", "max"))
    # tc-red(8): the burst that it recommends; tc derives the weight of the average from it.
    burst = ceil((2 * low + high) / (3 * FULL_PACKET))
    return _behind_token_bucket(
        f"red limit {link.buffer_packets * FULL_PACKET} min {low} max {high} avpkt {FULL_PACKET} "
        f"burst {burst} bandwidth {rate_of_tc(link.rate_bps)} probability {values['maxp']}{_ecn(values)}",
        link,
    )


def _codel(values: Mapping[str, str], link: Link) -> tuple[str, ...]:
    limit = _limit(values["limit"])
    times = f"target {values['target']} interval {values['interval']}"
    return _behind_token_bucket(f"codel limit {limit} {times}{_ecn(values)}", link)


def _pie(values: Mapping[str, str], link: Link) -> tuple[str, ...]:
    # tc-pie(8): alpha and beta are in sixteenths.
    alpha, beta = (round(16 * float(values[name])) for name in ("alpha", "beta"))
    return _behind_token_bucket(
        f"pie limit {_limit(values['limit'])} target {values['target']} tupdate {values['period']} "
        f"alpha {alpha} beta {beta}{_ecn(values)}",
        link,
    )


def _fq_codel(values: Mapping[str, str], link: Link) -> tuple[str, ...]:
    quantum = _engine.parse_size("quantum", values["quantum"])
    return _behind_token_bucket(
        f"fq_codel limit {_limit(values['limit'])} flows {values['flows']} quantum {quantum} "
        f"target {values['target']} interval {values['interval']}{_ecn(values, ' noecn')}",
        link,
    )


def _cake(values: Mapping[str, str], link: Link) -> tuple[str, ...]:
    """Returns the line for CAKE, which shapes by itself; none without ECN, which it always has."""
    if values["ecn"] != "true":
        return ()
    tins = "besteffort" if values["tins"] == "besteffort" else "diffserv3"
    share = float(values["shape"].removesuffix("%")) / 100 or 1.0
    limit = values["limit"]
    memory = _limit(limit) * FULL_PACKET if limit.endswith("p") else _engine.parse_size("limit", limit)
    overhead = f" overhead {link.overhead}" if link.overhead else ""
    return (
        f"tc qdisc replace dev DEV root cake bandwidth {rate_of_tc(round(share * link.rate_bps))} "
        f"rtt {values['rtt']} {tins} {values['hosts']}{overhead}"
        + (f" memlimit {memory}" if memory != CAKE_LIMIT else ""),
    )


def _limit(limit: str) -> int:
    """Returns the limit of a queue in packets; one in bytes is of full packets."""
    if limit.endswith("p"):
        return int(limit.removesuffix("p"))
    return max(1, _engine.parse_size("limit", limit) // FULL_PACKET)


def _ecn(values: Mapping[str, str], otherwise: str = "") -> str:
    return " ecn" if values["ecn"] == "true" else otherwise


QUEUES: Mapping[str, Callable[[Mapping[str, str], Link], tuple[str, ...]]] = {
    "droptail": _fifo, "red": _red, "codel": _codel, "pie": _pie, "fq-codel": _fq_codel, "cake": _cake,
}  # fmt: skip
"""Queue disciplines that Linux has, by the scheme's name: the lines that install it."""
