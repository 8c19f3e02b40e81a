"""The bottleneck of a scenario: `[link]`, or a link of its topology, of which `[topology]` tells."""

from typing import Any

Json = dict[str, Any]

IN_TOPOLOGY = ("rate", "rtt", "buffer", "uplink_rate", "uplink_buffer")
"""Fields that stand in `[topology]` where there is one; the others are `link`'s everywhere."""


def changed(scenario: Json, **fields: Any) -> Json:
    """The scenario with these fields of its bottleneck; those that are None stay as they are."""
    given = {name: value for name, value in fields.items() if value is not None}
    if scenario.get("topology") is None:
        return {**scenario, "link": {**scenario["link"], **given}}
    of_topology = {name: value for name, value in given.items() if name in IN_TOPOLOGY}
    of_links = {name: value for name, value in given.items() if name not in IN_TOPOLOGY}
    return {
        **scenario,
        "topology": {**scenario["topology"], **of_topology},
        "link": {**scenario["link"], **of_links},
    }


def facts(scenario: Json) -> Json:
    """Rate, buffer and round-trip time of a filled scenario's bottleneck; None where only delays tell."""
    of = scenario.get("topology") or scenario["link"]
    return {name: of.get(name) for name in ("rate", "buffer", "rtt")}


def words(scenario: Json) -> str:
    """`10mbit, 80ms RTT`: what titles say of it."""
    of, topology = facts(scenario), scenario.get("topology")
    name = f"{topology['bottleneck']}, " if topology else ""
    return f"{name}{of['rate']}" + (f", {of['rtt']} RTT" if of["rtt"] else "")
