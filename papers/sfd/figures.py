"""SFD's figures, drawn from the same runs as its tables."""

from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from mousehole.statistics import t_interval

from papers.common import Json
from papers.sfd.cases import load_case, variant_case
from papers.sfd.measures import SIZES, Measured

STYLES = {
    "DT": ("#000000", "-", "o"),
    "RED": ("#D55E00", "--", "s"),
    "SFD, decoupled queues": ("#56B4E9", "-.", "^"),
    "SFD, coupled queues": ("#0072B2", "-", "v"),
    "NL (no long flows)": ("#009E73", ":", "D"),
    "L2S (long flows chopped)": ("#CC79A7", (0, (5, 1)), "P"),
}
"""Colours of Okabe & Ito, each with a line style and a marker, for print and for the colour-blind."""


Run = Callable[[dict[str, Json]], dict[str, list[Measured]]]
"""Runs all cases in all replications."""


def figure_6(base: Json, run: Run, path: Path) -> None:
    """Figure 6: mean and standard deviation of the latency of short flows by size, medium load."""
    base = load_case(base, "published", "medium", literal=True)
    done = run({name: variant_case(base, name) for name in STYLES})
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharex=True, layout="constrained")
    for name, runs in done.items():
        _draw(axes[0], name, [run.mean_s for run in runs])
        _draw(axes[1], name, [run.std_s for run in runs])
    axes[0].set(
        title="(a) mean transmission latency", xlabel="object size, packets of 1000 B", ylabel="seconds"
    )
    axes[1].set(title="(b) standard deviation", xlabel="object size, packets of 1000 B")
    for axis in axes:
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.25)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _draw(axis: Axes, name: str, by_size: list[np.ndarray]) -> None:
    colour, line, marker = STYLES[name]
    estimates = [t_interval(column) for column in np.array(by_size).T]
    means = [estimate.mean for estimate in estimates]
    axis.plot(SIZES, means, color=colour, linestyle=line, marker=marker, markersize=4, label=name)
    if estimates[0].has_interval:
        lows, highs = [e.low for e in estimates], [e.high for e in estimates]
        axis.fill_between(SIZES, lows, highs, color=colour, alpha=0.12, linewidth=0)
