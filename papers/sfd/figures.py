"""SFD's figures, drawn from the same runs as its tables."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from mousehole.statistics import t_interval

from papers import plots
from papers.sfd.measures import SIZES, Measured

STYLES = {
    "DT": (plots.BLACK, "-", "o"),
    "RED": (plots.VERMILION, "--", "s"),
    "SFD, decoupled queues": (plots.SKY, "-.", "^"),
    "SFD, coupled queues": (plots.BLUE, "-", "v"),
    "NL (no long flows)": (plots.GREEN, ":", "D"),
    "L2S (long flows chopped)": (plots.PURPLE, (0, (5, 1)), "P"),
}
"""The variants of Figure 6, each with a colour, a line style and a marker that print tells apart."""


def figure_6(done: dict[str, list[Measured]], picture: Path) -> None:
    """Draws mean and standard deviation of the latency of short flows by size."""
    figure, axes = plots.subplots(10, 4.2, columns=2, share_x=True)
    for name, runs in done.items():
        _draw(axes[0], name, [run.mean_s for run in runs])
        _draw(axes[1], name, [run.std_s for run in runs])
    axes[0].set(
        title="(a) mean transmission latency", xlabel="object size, packets of 1000 B", ylabel="seconds"
    )
    axes[1].set(title="(b) standard deviation", xlabel="object size, packets of 1000 B")
    for axis in axes:
        axis.set_ylim(bottom=0)
        plots.tidy(axis)
    axes[0].legend(frameon=False, fontsize=8)
    plots.save(figure, picture)


def _draw(axis: Axes, name: str, by_size: list[np.ndarray]) -> None:
    colour, line, marker = STYLES[name]
    estimates = [t_interval(column) for column in np.array(by_size).T]
    means = [estimate.mean for estimate in estimates]
    axis.plot(SIZES, means, color=colour, linestyle=line, marker=marker, markersize=4, label=name)
    if estimates[0].has_interval:
        lows, highs = [e.low for e in estimates], [e.high for e in estimates]
        axis.fill_between(SIZES, lows, highs, color=colour, alpha=0.12, linewidth=0)
