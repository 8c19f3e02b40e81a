"""Draws a paper's figures: our curves with their intervals, and as crosses what the paper prints."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from mousehole.base import MouseholeError
from mousehole.statistics import Estimate

from papers.definition import FigureItem, Panel
from papers.text import SCALES

COLOURS = ("#000000", "#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F")
"""Those of Okabe and Ito, which the colour-blind can tell apart, and a grey."""
LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)), (0, (8, 2, 2, 2)))
BESIDE = (0, (4, 2))
"""How the second value of a panel is drawn."""
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")


@dataclass(frozen=True)
class Curve:
    """One curve: a point for each abscissa, and the points that the paper prints."""

    name: str
    x: Sequence[float]
    y: Sequence[Estimate]
    published: Sequence[tuple[float, float]] = ()
    beside: Sequence[float] = ()
    """The panel's second value at each abscissa."""


def draw(item: FigureItem, panels: Sequence[tuple[Panel, Sequence[Curve]]], picture: Path) -> None:
    """Draws all panels side by side and writes the picture.

    Raises `MouseholeError` if a panel has fewer curves than the figure has names.
    """
    for panel, curves in panels:
        missing = set(item.names) - {curve.name for curve in curves if len(curve.x)}
        if missing:
            raise MouseholeError(
                f"figure {item.number}, {panel.ylabel}: no curve for {', '.join(sorted(missing))}"
            )
    width = max(6.5, 4.6 * len(panels))
    figure, axes = plt.subplots(1, len(panels), figsize=(width, 4.4), squeeze=False, layout="constrained")
    for axis, (panel, curves) in zip(axes[0], panels, strict=True):
        _draw_panel(axis, panel, curves, item)
    _legend(figure, axes[0][0], width)
    picture.parent.mkdir(parents=True, exist_ok=True)
    vector = picture.suffix == ".svg"
    if not vector:  # the page has a heading of its own
        figure.suptitle(f"Figure {item.number}: {item.title}", fontsize=10)
    with plt.rc_context({"svg.fonttype": "none", "svg.hashsalt": item.number}):
        figure.savefig(picture, dpi=150, transparent=vector, metadata={"Date": None} if vector else None)
    plt.close(figure)


def _draw_panel(axis: Axes, panel: Panel, curves: Sequence[Curve], item: FigureItem) -> None:
    for curve in curves:
        _draw_curve(axis, panel, curve, item.names.index(curve.name))
    if panel.beside:
        axis.plot([], [], color="#555555", linestyle=BESIDE, linewidth=1.1, label=panel.beside_name)
    axis.set(xlabel=panel.xlabel, ylabel=panel.ylabel)
    axis.set_title(panel.title, fontsize=10)
    if "x" in panel.log:
        axis.set_xscale("log")
    if "y" in panel.log:
        axis.set_yscale("log")
    elif all(one.mean >= 0 for curve in curves for one in curve.y if one.mean == one.mean):
        axis.set_ylim(bottom=0)
    if panel.top is not None:
        axis.set_ylim(top=panel.top)
    if panel.change and "y" not in panel.log:
        axis.axhline(1.0 if panel.change == "ratio" else 0.0, color="black", linewidth=0.6)
    axis.grid(alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _draw_curve(axis: Axes, panel: Panel, curve: Curve, place: int) -> None:
    colour, line = COLOURS[place % len(COLOURS)], LINES[place % len(LINES)]
    scale = SCALES.get(panel.unit, 1.0)
    x = np.asarray(curve.x, float)
    mean, low, high = (
        scale * np.array([getattr(one, end) for one in curve.y]) for end in ("mean", "low", "high")
    )
    few = x.size <= 30
    marker = MARKERS[place % len(MARKERS)] if few else ""
    if panel.kind != "lines":  # the values are quantiles: they lie on the abscissa
        level = x if panel.kind == "cdf" else 1 - x
        axis.plot(mean, level, color=colour, linestyle=line, linewidth=1.4, label=curve.name)
        return
    axis.plot(
        x, mean, color=colour, linestyle=line, marker=marker, markersize=4, linewidth=1.4, label=curve.name
    )
    known = np.isfinite(low) & np.isfinite(high)
    axis.fill_between(x[known], low[known], high[known], color=colour, alpha=0.12, linewidth=0)
    if curve.beside:
        axis.plot(x, scale * np.array(curve.beside), color=colour, linestyle=BESIDE, linewidth=1.1)
    if curve.published:
        at, printed = zip(*curve.published, strict=True)
        axis.plot(at, scale * np.array(printed), color=colour, linestyle="", marker="x", markersize=8,
                  markeredgewidth=1.8, label=f"{curve.name}, published")  # fmt: skip


def _legend(figure: Figure, axis: Axes, width: float) -> None:
    """Places one legend for all panels below them."""
    handles, labels = axis.get_legend_handles_labels()
    columns = max(1, min(len(labels), int(width / 1.9)))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=8)
