"""RIO-PS's Figure 2, drawn from the numbers of its tables."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator
from mousehole import tcp_model
from numpy.typing import NDArray

from papers import plots

Columns = Mapping[str, NDArray[np.float64]]

STYLES = ((plots.BLUE, "o"), (plots.ORANGE, "s"), (plots.GREEN, "^"), (plots.PURPLE, "D"))
"""A colour and a marker for each size."""
GREY, DASHES = "#555555", (0, (4, 2))


def draw(cells: Columns, path: tcp_model.Path, picture: Path) -> None:
    """Draws times, simulated over model, and variation over the loss; one row of `cells` is one point."""
    figure, axes = plots.subplots(14, 4.8, columns=3)
    sizes = list(dict.fromkeys(cells["packets"].astype(int)))
    for packets, (colour, marker) in zip(sizes, STYLES, strict=False):
        rows = {name: column[cells["packets"] == packets] for name, column in cells.items()}
        _times(axes[0], rows, packets, path, colour, marker)
        _ratio(axes[1], rows, packets, path, colour, marker)
        _points(axes[2], rows, "cov", colour, marker, line="-", label=_label(packets))
    for axis in axes:
        _over_loss(axis, cells["p"])
    _finish(axes)
    plots.save(figure, picture)


def _times(axis: Axes, rows: Columns, packets: int, path: tcp_model.Path, colour: str, marker: str) -> None:
    p = np.geomspace(rows["p"].min(), rows["p"].max(), 200)
    axis.plot(p, tcp_model.latency_s(p, packets, path), color=colour, linewidth=1.5)
    once = tcp_model.latency_s(p, packets, path, "consistent")
    axis.plot(p, once, color=colour, linewidth=1.1, linestyle=DASHES)
    _points(axis, rows, "time", colour, marker)
    at = (float(p[-1]), float(once[-1]))
    axis.annotate(_label(packets), at, (9, -5), textcoords="offset points", color=colour, fontsize=9)


def _ratio(axis: Axes, rows: Columns, packets: int, path: tcp_model.Path, colour: str, marker: str) -> None:
    once = tcp_model.latency_s(rows["p"], packets, path, "consistent")
    ratios = {name: column / once if name.startswith("time") else column for name, column in rows.items()}
    _points(axis, ratios, "time", colour, marker, line="-")


def _points(
    axis: Axes, rows: Columns, name: str, colour: str, marker: str, line: str = "none", label: str = ""
) -> None:
    mean = rows[f"{name}_mean"]
    reach = np.nan_to_num(np.array([mean - rows[f"{name}_low"], rows[f"{name}_high"] - mean]))
    axis.errorbar(
        rows["p"], mean, reach, color=colour, marker=marker, markersize=5, linestyle=line, linewidth=1,
        elinewidth=1, capsize=2, label=label or None,
    )  # fmt: skip


def _label(packets: int) -> str:
    return f"{packets:,} packet{'' if packets == 1 else 's'}"


def _over_loss(axis: Axes, p: NDArray[np.float64]) -> None:
    axis.set_xscale("log")
    axis.xaxis.set_major_locator(FixedLocator(sorted(set(p.tolist()))))
    axis.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{100 * value:g} %"))
    axis.xaxis.set_minor_locator(NullLocator())
    axis.set_xlabel("loss of data packets")
    plots.tidy(axis)


def _finish(axes: list[Axes]) -> None:
    axes[0].set(yscale="log", ylabel="seconds, log scale", title="(a) mean transfer time")
    axes[0].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes[0].legend(handles=_key(), frameon=False, fontsize=8, loc="upper left")
    axes[1].axhline(1, color="black", linewidth=0.8)
    axes[1].axhspan(0.9, 1.1, color="black", alpha=0.06, linewidth=0)
    axes[1].set(title="simulated / model (first packet counted once)")
    axes[1].annotate("±10 %", (0.01, 0.905), xycoords=("axes fraction", "data"), fontsize=8)
    axes[2].set(yscale="log", title="(b) variation of the transfer time, simulated")
    axes[2].set(ylabel="standard deviation / mean, log scale")
    axes[2].set_ylim(bottom=0.07)
    axes[2].yaxis.set_major_locator(FixedLocator([0.1, 0.2, 0.5, 1, 2, 5]))
    axes[2].yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes[2].yaxis.set_minor_formatter(NullFormatter())
    axes[2].legend(frameon=False, fontsize=8, loc="lower left")


def _key() -> list[Line2D]:
    return [
        Line2D([], [], color=GREY, linewidth=1.5, label="model, as printed"),
        Line2D([], [], color=GREY, linewidth=1.1, linestyle=DASHES, label="model, first packet counted once"),
        Line2D([], [], color=GREY, marker="o", linestyle="none", label="simulation, 95 % interval"),
    ]
