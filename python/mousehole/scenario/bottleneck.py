"""The bottleneck of a scenario: its section `link`, or one link of its section `topology`."""

from typing import TypedDict, cast

from mousehole.engine_types import LinkSection, Scenario, TopologySection

IN_TOPOLOGY = ("rate", "rtt", "buffer", "uplink_rate", "uplink_buffer")
"""Fields of the bottleneck that a topology has itself; the others are in `link` in every scenario."""


class LinkChanges(TypedDict, total=False):
    """Fields of the bottleneck to change; None leaves a field as it is."""

    rate: str | None
    rtt: str | None
    buffer: str | None
    uplink_rate: str | None
    uplink_buffer: str | None
    overhead: int | None
    burst: str | None
    ignore_trace_rtt: bool | None


class Facts(TypedDict):
    """Rate, buffer and round-trip time of a bottleneck; None where a topology has delays only."""

    rate: str | None
    buffer: str | None
    rtt: str | None


def changed(scenario: Scenario, changes: LinkChanges) -> Scenario:
    """Returns the scenario with the changes made to its bottleneck."""
    given = {name: value for name, value in changes.items() if value is not None}
    if "topology" not in scenario:
        return {**scenario, "link": cast("LinkSection", {**scenario["link"], **given})}
    of_topology = {name: value for name, value in given.items() if name in IN_TOPOLOGY}
    of_links = {name: value for name, value in given.items() if name not in IN_TOPOLOGY}
    return {
        **scenario,
        "topology": cast("TopologySection", {**scenario["topology"], **of_topology}),
        "link": cast("LinkSection", {**scenario["link"], **of_links}),
    }


def facts(scenario: Scenario) -> Facts:
    """Returns rate, buffer and round-trip time of the bottleneck of a scenario that is filled in."""
    section = scenario.get("topology") or scenario["link"]
    return {"rate": section.get("rate"), "buffer": section.get("buffer"), "rtt": section.get("rtt")}


def words(scenario: Scenario) -> str:
    """Returns the bottleneck in words for titles, such as `10mbit, 80ms RTT`."""
    of, topology = facts(scenario), scenario.get("topology")
    name = f"{topology['bottleneck']}, " if topology else ""
    return f"{name}{of['rate']}" + (f", {of['rtt']} RTT" if of["rtt"] else "")
