"""Shares of a link's packets, from its counters by colour."""

from math import nan

from mousehole.engine_types import ColourCounters, Counter


def arrived_share(colours: list[ColourCounters], *counters: Counter) -> float:
    """Returns the sum of `counters` over the packets that arrived; NaN if none arrived."""
    arrived = sum(colour["arrived"] for colour in colours)
    counted = sum(colour[counter] for colour in colours for counter in counters)
    return counted / arrived if arrived else nan
