"""The figures, drawn as the paper does: shares of delays that exceed a time."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from papers import plots

Floats = NDArray[np.float64]

COLOURS = (
    "#555555", plots.BLUE, plots.ORANGE, plots.GREEN, plots.PURPLE, plots.VERMILION, plots.SKY,
)  # fmt: skip
LINES = ("-", (0, (5, 2)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (3, 1)), (0, (1, 2)), (0, (7, 1)))


def ccdf(delays: Mapping[str, Floats], quantity: str, limit_s: float, picture: Path) -> None:
    """Draws one curve for each name that has a finite delay, and a dashed line at the limit."""
    figure, (axis,) = plots.subplots(7, 4.6)
    for (name, values), colour, line in zip(delays.items(), COLOURS, LINES, strict=False):
        finite = np.sort(values[np.isfinite(values)])
        if not finite.size:
            continue
        share = 1 - np.arange(finite.size) / max(1, values.size)
        axis.step(finite, share, where="post", color=colour, linestyle=line, label=name)
    axis.axvline(limit_s, color="#999999", linewidth=0.8, linestyle=(0, (4, 4)))
    axis.set(
        xscale="log",
        yscale="log",
        ylim=(1e-3, 1.0),
        xlabel=f"{quantity}, s",
        ylabel="share that takes longer",
    )
    axis.grid(alpha=0.3)
    if axis.get_legend_handles_labels()[0]:
        axis.legend(frameon=False)
    plots.save(figure, picture)
