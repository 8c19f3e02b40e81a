"""How a scheme is put on a link today: commands for Linux, thresholds for a router's WRED.

The names of queue disciplines and of their parameters are those of tc(8), tc-cake(8), tc-fq_codel(8),
tc-codel(8), tc-pie(8), tc-red(8) and tc-tbf(8). DEV stands for the device in front of the bottleneck. A line
that begins with # is a remark.
"""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, log2

from mousehole import _engine
from mousehole.base import scheme_name
from mousehole.engine_types import Scenario
from mousehole.scenario import bottleneck

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

TIN_DSCPS = (46, 0, LOWER_EFFORT)
"""DSCPs that CAKE's diffserv3 sorts into its tins Voice, Best Effort and Bulk: EF, the default, LE."""
PROFILE_DSCPS: Mapping[int, tuple[int, ...]] = {2: (0, LOWER_EFFORT), 3: (10, 12, 14)}
"""DSCPs by the number of WRED profiles, best first: the default and LE, or AF11, AF12 and AF13."""

FIREWALL = (
    "sysctl -q -w net.netfilter.nf_conntrack_acct=1",
    "nft add table inet filter",
    "nft add chain inet filter forward '{ type filter hook forward priority 0; }'",
)
"""What a firewall's rule that counts bytes needs; nothing changes where it is there."""

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

    def __str__(self) -> str:
        """Returns the profile in one line."""
        return (
            f"WRED for DSCP {self.dscp}: min {self.min_packets}, max {self.max_packets} packets, "
            f"drop probability {self.probability}; weight of the average 2^-{self.weight_exponent}"
        )


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
    profiles = _profiles(scheme, values, link)
    if profiles:
        lines = (_profile_marker(scheme, values, link), *map(str, profiles))
        return Installation(ROUTER, lines)
    if "|" in scheme:
        return _combination(scheme, values, link) or _live(scheme, values, link)
    name = scheme_name(scheme)
    if name == "cake" and values["tins"] != "besteffort":  # nothing here marks packets for other tins
        return None
    if name in QUEUES:
        lines = QUEUES[name](values, link)
        if name == "red":
            lines += _differences_of_red(scheme, values, link)
    elif name == "ct-cake":
        lines = _marked_cake(values["th"], values, link)
    else:
        return _live(scheme, values, link)
    return Installation(LINUX, lines) if lines else None


def settings(scheme: str, link: Link) -> Settings | None:
    """Returns everything that installs a scheme, None if nothing does."""
    way = installation(scheme, link)
    if way is None:
        return None
    profiles = _profiles(scheme, _engine.scheme_parameters(scheme), link)
    return Settings(way.place, way.lines, _live_file(scheme, link), profiles)


def install_script(found: Settings) -> str:
    """Returns the commands as a script, whose argument is the device."""
    head = ["#!/bin/sh", "# Usage: install.sh DEVICE, as root.", "set -eu", 'DEV="${1:?give the device}"']
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


def _live(scheme: str, values: Mapping[str, str], link: Link) -> Installation | None:
    """Returns the commands of `mousehole-live` for a marker with a FIFO or before CAKE, None for others."""
    *markers, queue = _stages(scheme)
    if len(markers) != 1 or markers[0] not in LIVE_MARKERS:
        return None
    if queue in LIVE_QUEUES or _has_classes(values):
        return Installation(LINUX, (_live_up(scheme, link),))
    # A flow that is promoted for some packets would be reordered between CAKE's tins.
    tins = values.get("cake.tins")
    if queue != "cake" or tins not in MARKED_TINS or values.get("sfd.promotion", "none") != "none":
        return None
    own = {key.removeprefix("cake."): value for key, value in values.items() if key.startswith("cake.")}
    cake = _cake(own, link)
    marker = scheme.partition("|")[0]
    if tins == "colour":  # the marks are for CAKE alone, which clears them
        cake = tuple(f"{line} wash" for line in cake)
        return Installation(LINUX, (*cake, _mark(marker, TIN_DSCPS))) if cake else None
    return Installation(LINUX, (*cake, _mark(marker))) if cake else None


def _has_classes(values: Mapping[str, str]) -> bool:
    """Returns whether colours have drop-tail queues of their own: classes of HTB in Linux."""
    return values.get("priority.shared") == "false"


def _live_up(scheme: str, link: Link) -> str:
    overhead = f" --overhead {link.overhead}" if link.overhead >= LIVE_LINK_HEADER else ""
    queue_of = f"--rate {rate_of_tc(link.rate_bps)} --buffer {link.buffer_packets}p{overhead}"
    return f"mousehole-live up DEV {queue_of} --scheme {shlex.quote(scheme)}"


def _live_file(scheme: str, link: Link) -> str | None:
    """Returns the file that `mousehole-live up` or `mark` reads with --config, None without a part for it."""
    *markers, queue = _stages(scheme)
    if len(markers) > 1 or not LIVE_MARKERS.issuperset(markers):
        return None
    values = _engine.scheme_parameters(scheme)
    profiles = _profiles(scheme, values, link)
    if (queue in LIVE_QUEUES or _has_classes(values)) and not profiles:
        entries = {"mode": "up", "scheme": scheme, "rate": rate_of_tc(link.rate_bps)}
        entries["buffer"] = f"{link.buffer_packets}p"
        more = [f"overhead = {link.overhead}"] if link.overhead >= LIVE_LINK_HEADER else []
        return _toml("up", entries, more)
    if not markers:
        return None
    entries = {"mode": "mark", "scheme": _marker_of(scheme, values)}
    if profiles:
        entries |= {"via": "dscp", "dscp": ",".join(str(one.dscp) for one in profiles)}
        if len(profiles) == 2:  # one DSCP is that of long flows; short ones keep theirs
            entries["dscp"] = str(profiles[1].dscp)
    elif values.get("cake.tins") == "colour":
        entries |= {"via": "dscp", "dscp": ",".join(map(str, TIN_DSCPS))}
    return _toml("mark", entries)


def _toml(verb: str, entries: Mapping[str, str], more: Sequence[str] = ()) -> str:
    first = f"# mousehole-live {verb} DEV --config mousehole-live.toml"
    return "\n".join([first, *(f"{name} = '{value}'" for name, value in entries.items()), *more, ""])


def _marker_of(scheme: str, values: Mapping[str, str]) -> str:
    """Returns the marker of a scheme; that of a named scheme is written out."""
    if "|" in scheme:
        return scheme.partition("|")[0].strip()
    if scheme_name(scheme) == "ct-cake":
        return f"sfd(th={values['th']},timeout=never)"
    return f"sfd(th={values['th']},timeout={values['timeout']})"


def _mark(marker: str, dscps: Sequence[int] = ()) -> str:
    """Returns the command that puts a marker before the queue that is there, told by priority or by DSCPs."""
    via = f" --via dscp --dscp {','.join(map(str, dscps))}" if dscps else ""
    return f"mousehole-live mark DEV --marker {shlex.quote(marker)}{via}"


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


def _profiles(scheme: str, values: Mapping[str, str], link: Link) -> tuple[WredProfile, ...]:
    """Returns the WRED profiles of a scheme, none if no router can do it: WRED has one average for all."""
    *markers, queue = _stages(scheme)
    is_combination = "|" in scheme
    prefix = f"{scheme_name(scheme.rpartition('|')[2])}." if is_combination else ""
    if queue != "multi-red" or values.get(f"{prefix}mode") != "total":
        return ()
    if not is_combination:
        colours: tuple[str, ...] = ("in", "out") if scheme_name(scheme) == "sfd" else ()
    elif len(markers) == 1 and markers[0] in LIVE_MARKERS and prefix == "multi-red.":
        number = int(values["multi-red.colours"])
        number = min(number, 2) if markers[0] in TWO_COLOURED else number
        colours = ("green", "yellow", "red")[:number]
    else:
        colours = ()
    if len(colours) not in PROFILE_DSCPS or values.get("sfd.promotion", "none") != "none":
        return ()
    if values[f"{prefix}gentle"] == "true":  # a router drops every packet from max on
        return ()
    exponent = max(0, round(-log2(float(values[f"{prefix}wq"]))))
    return tuple(
        WredProfile(
            dscp,
            in_packets(values[f"{prefix}{colour}_min"], link.buffer_packets),
            in_packets(values[f"{prefix}{colour}_max"], link.buffer_packets),
            values[f"{prefix}{colour}_maxp"],
            exponent,
        )
        for dscp, colour in zip(PROFILE_DSCPS[len(colours)], colours, strict=True)
    )


def _profile_marker(scheme: str, values: Mapping[str, str], link: Link) -> str:
    """Returns the line that marks packets for WRED: a rule of the firewall, or `mousehole-live mark`."""
    if "|" not in scheme:
        return _size_marker(values["th"], link)
    marker = scheme.partition("|")[0].strip()
    dscps = PROFILE_DSCPS[3] if _stages(scheme)[0] not in TWO_COLOURED else PROFILE_DSCPS[2][1:]
    return _mark(marker, dscps)


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


def _differences_of_red(scheme: str, values: Mapping[str, str], link: Link) -> tuple[str, ...]:
    """Returns remarks on what tc's red does otherwise than the scheme, and the command that does as it says.

    sch_red drops, or with ecn marks, every packet once the average is at max: it has no gentle part. Its
    drops are between 1 and 1/p packets apart.
    """
    found = []
    if values["gentle"] == "true":
        found.append("drops every packet from max on, where the scheme rises to certain drop at twice max")
    if values["wait"] == "true":
        found.append("spaces drops 1 to 1/p packets apart, where the scheme has 1/p to 2/p")
    if not found:
        return ()
    says = f"# Linux's red has no other way: it {'; it '.join(found)}"
    return (says, f"# as it was simulated: {_live_up(scheme, link)}")


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
MARKED_TINS = ("bulk", "colour")
"""Ways in which CAKE takes the colours of a marker."""
TWO_COLOURED = frozenset({"rio-ps", "sfd"})
"""Of `LIVE_MARKERS` those that give no packet the third colour."""
WRED_WORDS = (
    "- DSCP: the packets that the line is for. All lines share one queue and its one average.",
    "- min, max: average length of the queue, in packets. Below min nothing is dropped, from max on all.",
    "- probability: of a drop just below max; it rises in a straight line from 0 at min. Some take its",
    "  reciprocal, the mark probability denominator.",
    "- weight: of the newest length in the average. Most routers take the exponent; some subtract one.",
)
"""What the columns of `wred_table` mean, whoever made the router."""
