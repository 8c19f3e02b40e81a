"""LFP's Figure 7, drawn from the numbers of its table."""

from pathlib import Path

import numpy as np
from mousehole.statistics import t_interval

from papers import plots
from papers.lfp.measures import SIZES, TAU, Measured

STYLES = {
    "DT": (plots.BLACK, "-", "o"),
    "RED": (plots.VERMILION, "--", "s"),
    "LFP": (plots.BLUE, "-", "^"),
}
"""The schemes, each with a colour, a line style and a marker."""


def draw(done: dict[str, list[Measured]], picture: Path) -> None:
    """Draws mean latency over size, log-log, with a point at the lower end of each class."""
    figure, (axis,) = plots.subplots(6.5, 4.2)
    at = [low for low, _ in SIZES]
    for name, runs in done.items():
        colour, line, marker = STYLES[name]
        estimates = [t_interval(column) for column in np.array([run.latency_s for run in runs]).T]
        reach = [one.half_width if one.has_interval else 0.0 for one in estimates]
        means = [one.mean for one in estimates]
        axis.errorbar(at, means, reach, color=colour, linestyle=line, marker=marker, markersize=4,
                      capsize=2, label=name)  # fmt: skip
    axis.axvline(TAU, color="black", linewidth=0.8, linestyle=":")
    axis.set(xscale="log", yscale="log", title="mean latency by size of flow")
    axis.set(xlabel="packets of data, from", ylabel="seconds")
    plots.tidy(axis)
    axis.legend(frameon=False, fontsize=8)
    plots.save(figure, picture)
