"""The bottleneck of a scenario: its section `link`, or one link of its section `topology`."""

from collections.abc import Mapping
from typing import TypedDict, cast

from mousehole import _engine
from mousehole.engine_types import LinkSection, Scenario, TopologySection

IN_TOPOLOGY = {"rate": "rate", "down": "rate", "up": "up", "rtt": "rtt", "buffer": "buffer"}
"""Fields of the bottleneck that a topology has itself, by their names in `link`, which has all others."""
BOTH, EACH = ("rate",), ("down", "up")
"""The fields of one rate for both directions, and of one for each; a link has either."""
WIRE = {"overhead": ("layer",), "layer": ("overhead",)}
"""What packets cost on the wire: each of these fields replaces the other."""


class LinkChanges(TypedDict, total=False):
    """Fields of the bottleneck to change; None leaves a field as it is."""

    rate: str | None
    down: str | None
    up: str | None
    rtt: str | None
    buffer: str | None
    overhead: int | None
    layer: str | None
    burst: str | None
    shape: str | None
    up_shape: str | None
    modem_buffer: str | None
    shape_layer: str | None
    ignore_trace_rtt: bool | None


class Facts(TypedDict):
    """Rate, buffer and round-trip time of a bottleneck; None where a topology does not have them."""

    rate: str | None
    """In the direction of the payload; None if it varies."""
    buffer: str | None
    rtt: str | None


def with_changes(scenario: Scenario, changes: LinkChanges) -> Scenario:
    """Returns a new scenario with the changes made to its bottleneck.

    A rate for both directions replaces one for each, and `down` replaces one for both; an overhead
    replaces the link layer, and the other way round. In a topology the fields of `IN_TOPOLOGY` are its
    own.
    """
    given = {name: value for name, value in changes.items() if value is not None}
    other = {replaced for name in given for replaced in WIRE.get(name, ())}
    link = {name: value for name, value in scenario["link"].items() if name not in other}
    if "topology" not in scenario:
        replaced = EACH if "rate" in given else BOTH if "down" in given else ()
        kept = {name: value for name, value in link.items() if name not in replaced}
        return {**scenario, "link": cast("LinkSection", {**kept, **given})}
    of_topology = {IN_TOPOLOGY[name]: value for name, value in given.items() if name in IN_TOPOLOGY}
    of_links = {name: value for name, value in given.items() if name not in IN_TOPOLOGY}
    return {
        **scenario,
        "topology": cast("TopologySection", {**scenario["topology"], **of_topology}),
        "link": cast("LinkSection", {**link, **of_links}),
    }


def is_up(scenario: Scenario) -> bool:
    """Returns whether all payload goes from clients to servers, as the engine's `Plan::data_link` does."""
    traffic = scenario.get("traffic", {})
    sources: list[object] = [*(traffic.get("mix") or ()), *(traffic.get("connections") or ())]
    sources += [traffic] if traffic.get("files") or traffic.get("model") or traffic.get("bulk") else []
    # A manifest has the number of connections in their place.
    known = [source for source in sources if isinstance(source, Mapping)]
    return bool(known) and all(source.get("payload") == "up" for source in known)


def read_rates(scenario: Scenario) -> tuple[str | None, str | None]:
    """Returns the rates down and up as they are given; for one that varies, the name of its file.

    A missing rate up is the mean of the rate down, for which the file of one that varies is read. The rate of
    a topology is None if it is not filled in.
    """
    topology, link = scenario.get("topology"), scenario["link"]
    down = topology.get("rate") if topology else link.get("down") or link.get("rate")
    return down, (topology or link).get("up") or _replace_by_mean(down)


def read_shape(scenario: Scenario, is_up: bool) -> str | None:
    """Returns the rate of the shaper in a direction as it is given; None without a shaper."""
    link = scenario["link"]
    return (link.get("up_shape") if is_up else None) or link.get("shape")


def read_rtt(scenario: Scenario) -> str | None:
    """Returns the round-trip time of a bottleneck, None where a topology does not have it."""
    return (scenario.get("topology") or scenario["link"]).get("rtt")


def read_facts(scenario: Scenario) -> Facts:
    """Returns rate, buffer and round-trip time of the bottleneck, None where they are not known."""
    section = scenario.get("topology") or scenario["link"]
    rate = read_rates(scenario)[is_up(scenario)]
    return {
        "rate": None if is_varying(rate) else rate,
        "buffer": section.get("buffer"),
        "rtt": read_rtt(scenario),
    }


def read_mean_rate(scenario: Scenario) -> str | None:
    """Returns the rate in the direction of the payload as text, or its mean if it varies; None if unknown.

    Reads the file of a rate that varies. Raises `MouseholeError` for a file that cannot be read, as those of
    a manifest, which have no folders.
    """
    return _replace_by_mean(read_rates(scenario)[is_up(scenario)])


def read_mean_rates(scenario: Scenario) -> dict[str, int]:
    """Returns the mean in bit/s of each direction, `down` or `up`, whose rate varies; reads their files.

    Raises `MouseholeError` for a file that cannot be read.
    """
    return {way: _engine.link_rate(way, file) for way, file in name_traces(scenario).items()}


def name_traces(scenario: Scenario) -> dict[str, str]:
    """Returns the names of the files of rates that vary, by direction, `down` or `up`."""
    link: Mapping[str, object] = scenario.get("link") or {}
    given = {way: link.get(way) for way in EACH}
    return {way: rate for way, rate in given.items() if isinstance(rate, str) and is_varying(rate)}


def compute_load_rate(scenario: Scenario) -> str | None:
    """Returns as text the rate, in the direction of the payload, of which a load is a share.

    It is None if the rate is unknown. Reads and raises as `read_mean_rate` does.
    """
    rate = read_mean_rate(scenario)
    layer = scenario["link"].get("layer")
    return rate if rate is None or layer is None else f"{_engine.load_rate(rate, layer)}bit"


def describe(scenario: Scenario) -> str:
    """Returns the bottleneck as text for titles: `10mbit, 80ms RTT`, or `20mbit down, 1mbit up, …`.

    A rate that varies is the name of its file.
    """
    (down, up), topology = read_rates(scenario), scenario.get("topology")
    name = f"{topology['bottleneck']}, " if topology else ""
    each = down if up == down else f"{down} down, {up} up"
    rtt = read_facts(scenario)["rtt"]
    return f"{name}{each}" + (f", {rtt} RTT" if rtt else "") + _describe_shaper(scenario)


def _describe_shaper(scenario: Scenario) -> str:
    """Returns `, shaped at 90% before a modem of 200ms`; empty without a shaper."""
    link = scenario["link"]
    shape, modem = link.get("shape"), link.get("modem_buffer") or link.get("buffer")
    if shape is None:
        return ""
    up = link.get("up_shape", shape)
    each = shape if up == shape else f"{shape} down, {up} up"
    return f", shaped at {each} before a modem" + (f" of {modem}" if modem else "")


def is_varying(rate: str | None) -> bool:
    """Returns whether a rate is given as the file of a rate trace."""
    return rate is not None and _engine.is_rate_trace(rate)


def _replace_by_mean(rate: str | None) -> str | None:
    """Returns the mean, in bit/s, of a rate that varies; any other rate, and None, unchanged."""
    return f"{_engine.link_rate('rate', rate)}bit" if rate is not None and is_varying(rate) else rate
