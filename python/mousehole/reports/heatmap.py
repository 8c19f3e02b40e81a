"""The heat map: transfer size across, schemes down, the change of the mean response time as colour."""

from math import isfinite
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import FixedLocator, FuncFormatter

from mousehole.answer import overview
from mousehole.base import signed
from mousehole.reports.plots import STYLE, figure_title, save
from mousehole.runs import Cell, Results, SizeRow

FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Ticks of the colour scale, up to its end: response time as a multiple of the reference's."""
LEAST_TRANSFERS = 20
"""A field with fewer transfers over all replications stays empty."""


def draw(results: Results, path: Path) -> None:
    """Draws a panel for each cell of the grid, in the format of the path's suffix."""
    plan = results.plan
    with matplotlib.rc_context({**STYLE, "axes.grid": False}):
        height = len(plan.cells) * (1.5 + 0.3 * len(plan.schemes)) + 0.6
        figure = Figure(figsize=(9.5, height), layout="constrained")
        panels = figure.subplots(len(plan.cells), 1, squeeze=False)
        images = [
            _draw_cell(axes, results, cell) for axes, cell in zip(panels[:, 0], plan.cells, strict=True)
        ]
        image = next((image for image in images if image is not None), None)
        if image is not None:
            _draw_scale(figure, image, list(panels[:, 0]), overview.heat_reference(plan))
        title = figure_title(results, plan.cells[0] if len(plan.cells) == 1 else None)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
        save(figure, path)


def _draw_cell(axes: Axes, results: Results, cell: Cell) -> AxesImage | None:
    """Draws one panel; returns None if there are too few transfers for any field."""
    rows = overview.by_size_rows(results, cell)
    schemes = list(dict.fromkeys(row.scheme for row in rows))
    sizes = list(dict.fromkeys(row.bucket for row in rows))
    shown = {
        (row.scheme, row.bucket): row
        for row in rows
        if row.count >= LEAST_TRANSFERS and isfinite(row.response_mean_change.mean)
    }
    few = [size for size in sizes if size not in {bucket for _, bucket in shown}]
    sizes = [size for size in sizes if size not in few]
    if not sizes:
        axes.text(0.5, 0.5, f"no size has {LEAST_TRANSFERS} transfers under any scheme", ha="center",
                  va="center", transform=axes.transAxes, color="#666666")  # fmt: skip
        axes.set_axis_off()
        axes.set_title(_panel_title(results, cell, rows))
        return None
    logs = np.full((len(schemes), len(sizes)), np.nan)
    for (scheme, size), row in shown.items():
        logs[schemes.index(scheme), sizes.index(size)] = np.log2(1 + row.response_mean_change.mean)
    ends = float(np.log2(FACTORS[-1]))
    shades = matplotlib.colormaps["PuOr_r"].with_extremes(bad="#EFEFEF")
    image = axes.imshow(logs, cmap=shades, norm=TwoSlopeNorm(0, -ends, ends), aspect="auto")
    for (scheme, size), row in shown.items():
        _write(axes, sizes.index(size), schemes.index(scheme), row, ends)
    for column, size in enumerate(sizes):
        for line, scheme in enumerate(schemes):
            if (scheme, size) not in shown:
                axes.text(column, line, "few", ha="center", va="center", fontsize=7, color="#AAAAAA")
    axes.set_xticks(range(len(sizes)), sizes)
    axes.set_yticks(range(len(schemes)), schemes)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    left_out = f" (too few transfers: {', '.join(few)})" if few else ""
    axes.set_xlabel(f"transfer size{left_out}")
    axes.set_title(_panel_title(results, cell, rows))
    return image


def _write(axes: Axes, column: int, line: int, row: SizeRow, ends: float) -> None:
    """Writes the change in percent, in grey if its interval or range contains zero."""
    change = row.response_mean_change
    is_reference = row.scheme == row.reference
    unclear = not isfinite(change.low) or change.low <= 0 <= change.high
    text = "reference" if is_reference else signed(change.mean)
    strong = abs(np.log2(1 + change.mean)) > 0.62 * ends
    colour = "white" if strong else "#8A8A8A" if unclear or is_reference else "black"
    weight = "normal" if unclear or is_reference else "bold"
    axes.text(column, line, text, ha="center", va="center", fontsize=7.5, color=colour, fontweight=weight)


def _panel_title(results: Results, cell: Cell, rows: list[SizeRow]) -> str:
    plan = results.plan
    words = f"Change of the mean response time against {overview.heat_reference(plan)}, %"
    doubt = "95 % interval" if rows[0].response_mean_change.is_interval else "range of replications"
    place = "" if len(plan.cells) == 1 else f"  ·  {cell.title}"
    return f"{words}; grey if its {doubt} contains zero{place}"


def _draw_scale(figure: Figure, image: AxesImage, panels: list[Axes], reference: str) -> None:
    scale = figure.colorbar(image, ax=panels, fraction=0.03, pad=0.01)
    scale.outline.set_visible(False)
    scale.ax.yaxis.set_major_locator(FixedLocator([float(np.log2(factor)) for factor in FACTORS]))
    scale.ax.yaxis.set_major_formatter(FuncFormatter(lambda log, _: f"× {2**log:g}"))
    scale.ax.set_ylabel(f"response time relative to {reference}\n← faster      slower →")
