"""SHRED's figures of benefit over drop-tail, drawn from the numbers of the tables."""

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from papers import plots
from papers.shred.cases import Cell
from papers.shred.measures import Measured, benefit

Runs = dict[Cell, dict[str, list[Measured]]]

STYLES = {1: (plots.BLUE, "o"), 8: (plots.ORANGE, "s"), 16: (plots.GREEN, "^"), 32: (plots.PURPLE, "D")}
"""A colour and a marker for each largest number of objects per page."""


def draw(done: Runs, of_pages: bool, picture: Path, title: str) -> None:
    """Draws the benefit over the load, or over the number of FTP flows where only that changes."""
    by_flows = len({mix.load for mix in done}) == 1
    figure, (axis,) = plots.subplots(6.5, 4.2)
    for objects, (colour, marker) in STYLES.items():
        mixes = [mix for mix in done if mix.objects == objects]
        at = [float(mix.ftp) if by_flows else mix.load for mix in mixes]
        for name, line in (("SHRED", "-"), ("RED", ":")):
            gains = [benefit(done[mix][name], done[mix]["DT"], of_pages) for mix in mixes]
            label = f"{name}, {'1' if objects == 1 else f'1-{objects}'} object{'s' if objects > 1 else ''}"
            if mixes:
                means = [gain.mean for gain in gains]
                reach = [gain.half_width if gain.has_interval else 0.0 for gain in gains]
                axis.errorbar(at, means, reach, color=colour, linestyle=line, marker=marker, markersize=4,
                              capsize=2, label=label)  # fmt: skip
    _finish(axis, title, by_flows)
    plots.save(figure, picture)


def _finish(axis: Axes, title: str, by_flows: bool) -> None:
    axis.axhline(0, color="black", linewidth=0.8)
    axis.set(title=title, xlabel="FTP flows" if by_flows else "Web load, object bytes over the link's rate")
    axis.yaxis.set_major_formatter(PercentFormatter(1.0))
    if not by_flows:
        axis.xaxis.set_major_formatter(PercentFormatter(1.0))
    plots.tidy(axis)
    axis.legend(frameon=False, fontsize=8)
