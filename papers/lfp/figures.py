"""LFP's Figure 7, drawn from the numbers of its table."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from mousehole.statistics import t_interval

from papers.lfp.measures import SIZES, TAU, Measured

STYLES = {"DT": ("#000000", "-", "o"), "RED": ("#D55E00", "--", "s"), "LFP": ("#0072B2", "-", "^")}
"""Colours of Okabe & Ito, each with a line style and a marker."""


def draw(done: dict[str, list[Measured]], picture: Path) -> None:
    """Mean latency over size, log-log, a point at the lower end of each class."""
    figure, axis = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
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
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, fontsize=8)
    figure.savefig(picture, dpi=150)
    plt.close(figure)
