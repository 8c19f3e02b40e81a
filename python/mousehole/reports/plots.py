"""Plots of a comparison: response time against size, its distribution for short transfers, the changes.

Every scheme has one line, with the same style in every figure. Lines differ in colour (Okabe & Ito's
palette), line style and marker, so that they are readable in print and for the colour-blind.
"""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypedDict

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator, PercentFormatter

from mousehole.answer import overview, tables
from mousehole.base import Summary, looks, size_text
from mousehole.runs import BucketRow, CdfRow, Cell, CurveRow, Plan, Results
from mousehole.scenario import bottleneck
from mousehole.statistics import LEAST_REPLICATIONS

LineStyle = str | tuple[float, tuple[float, ...]]
"""A name, or an offset with lengths of dashes and gaps."""


class Look(TypedDict, total=False):
    """The style of a line, by matplotlib's names."""

    color: str
    linestyle: LineStyle
    marker: str
    linewidth: float
    zorder: float


COLOURS = ("#000000", "#E69F00", "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#7F7F7F")
LINES: tuple[LineStyle, ...] = (
    "-",
    (0, (5, 1.5)),
    "-",
    (0, (1, 1)),
    (0, (3, 1, 1, 1)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (2, 2)),
    "--",
)
MARKERS = ("o", "s", "^", "v", "D", "X", "P", "*")
QUIET: Look = {"color": "#BBBBBB", "linestyle": "-", "marker": "", "linewidth": 0.9, "zorder": 1.5}
"""The style of schemes that share one grey line style, in plots of many schemes."""
OTHERS = "other schemes (the heat map names them)"
SUMMARIES: tuple[Summary, ...] = ("short", "long")
LEAST_IN_BIN = 20
"""A size bin with fewer transfers over all replications is not drawn."""

STYLE: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "svg.hashsalt": "mousehole",
    "svg.fonttype": "none",
    "savefig.dpi": 160,
}


def draw(results: Results, path: Path) -> None:
    """Draws a comparison of one cell, or of a grid, in the format of the path's suffix."""
    with matplotlib.rc_context(STYLE):
        figure = _grid_figure(results) if len(results.plan.cells) > 1 else _cell_figure(results)
        save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Writes the figure without a date, so that equal figures give equal files."""
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})
    figure.savefig(path, metadata=metadata)


def _cell_figure(results: Results) -> Figure:
    plan, cell = results.plan, results.plan.cells[0]
    height = 5.4 + 0.3 * len(plan.schemes)
    figure = Figure(figsize=(10, height), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[4.6, 0.9 + 0.3 * len(plan.schemes)])
    top, bottom = parts
    by_size, by_time = top.subplots(1, 2)
    _draw_curves(by_size, plan, tables.curve_rows(results))
    _draw_cdf(by_time, plan, tables.cdf_rows(results))
    _draw_changes(bottom, results)
    figure.suptitle(figure_title(results, cell), x=0.01, ha="left", fontsize=11, fontweight="bold")
    handles, labels = _legend_entries(by_size)
    top.legend(handles, labels, loc="outside upper left", ncols=min(len(labels), 6), handlelength=3.2)
    return figure


def _legend_entries(axes: Axes) -> tuple[list[Artist], list[str]]:
    """Returns every label once, that of the other schemes last."""
    entries = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    others = {label: entries.pop(label) for label in (OTHERS,) if label in entries}
    entries |= others
    return list(entries.values()), list(entries)


def _draw_curves(axes: Axes, plan: Plan, rows: list[CurveRow]) -> None:
    """Draws the mean response time against size, with intervals as bands."""
    intervals = ", 95 % intervals" if plan.replications >= LEAST_REPLICATIONS else ""
    axes.set_title(f"Mean response time by transfer size{intervals}")
    if not any(row.count >= LEAST_IN_BIN for row in rows):
        _say_empty(axes, f"no size bin has {LEAST_IN_BIN} transfers,\nall replications together")
        _explain_looks(axes, plan)
        return
    for scheme in plan.schemes:
        own = [row for row in rows if row.scheme == scheme and row.count >= LEAST_IN_BIN]
        sizes = [(row.low_bytes * row.high_bytes) ** 0.5 for row in own]
        style = _look_of(plan, scheme)
        means = [row.response_mean_s for row in own]
        axes.plot(sizes, [mean.mean for mean in means], label=_label(plan, scheme), markersize=4, **style)
        if style is not QUIET and own and all(mean.has_interval for mean in means):
            low, high = [mean.low for mean in means], [mean.high for mean in means]
            axes.fill_between(sizes, low, high, color=style["color"], alpha=0.15, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel="transfer size", ylabel="mean response time")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_text(size)))
    _time_axis(axes, "y")
    for edge in (plan.short_bytes, plan.long_bytes):
        axes.axvline(edge, color="#999999", linewidth=0.8, linestyle=":", zorder=0)
        axes.annotate(size_text(edge), (edge, 0.01), xycoords=("data", "axes fraction"), rotation=90,
                      ha="right", va="bottom", fontsize=7, color="#666666")  # fmt: skip


def _draw_cdf(axes: Axes, plan: Plan, rows: list[CdfRow]) -> None:
    """Draws the share of short transfers that responded within a time."""
    axes.set_title(f"Transfers ≤ {size_text(plan.short_bytes)}: distribution of response time")
    if not any(row.share.mean > 0 for row in rows):
        _say_empty(
            axes, f"no transfer ≤ {size_text(plan.short_bytes)} responded\nwithin the measured windows"
        )
        return
    shown: list[float] = []
    for number, scheme in enumerate(plan.schemes):
        own = [row for row in rows if row.scheme == scheme and isfinite(row.share.mean)]
        times, shares = [row.response_s for row in own], [row.share.mean for row in own]
        marks = [int(place) for place in np.searchsorted(shares, np.linspace(0.12, 0.92, 5) + 0.02 * number)]
        marks = [place for place in marks if place < len(shares)]
        axes.plot(times, shares, markevery=marks, markersize=4, **_look_of(plan, scheme))
        shown += [time for time, share in zip(times, shares, strict=True) if 0.002 < share < 0.998]
    axes.set(xscale="log", xlabel="response time", ylabel="transfers that responded", ylim=(0, 1.01))
    if shown:
        axes.set_xlim(min(shown) * 0.9, max(shown) * 1.1)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    _time_axis(axes, "x")


def _draw_changes(figure: SubFigure, results: Results) -> None:
    """Draws the change of the mean response time against the baseline: one panel for short, one for long."""
    plan, rows = results.plan, tables.bucket_rows(results)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, role in zip(panels, SUMMARIES, strict=True):
        own = {row.scheme: row for row in rows if row.bucket.role == role}
        for number, scheme in enumerate(plan.schemes):
            _draw_interval(axes, plan, -number, own[scheme])
        if not any(isfinite(row.response_mean_change.mean) for row in own.values() if not row.is_baseline):
            _say_empty(axes, f"too few transfers {_role_words(plan, role)}\nto compare")
        axes.axvline(0, color="#444444", linewidth=0.9)
        axes.set_title(f"Transfers {_role_words(plan, role)}: change against {plan.baseline}")
        axes.set_yticks([-number for number in range(len(plan.schemes))], plan.schemes)
        axes.set_ylim(0.6 - len(plan.schemes), 0.6)
        axes.set_xlabel("change of the mean response time (← faster, slower →)")
        ratio_axis(axes)


def _draw_interval(axes: Axes, plan: Plan, height: float, row: BucketRow) -> None:
    """Draws a scheme's change and interval on a scale of ratios: −50 % is as far from 0 as +100 %."""
    change = row.response_mean_change
    if not isfinite(change.mean):
        return
    style = _look_of(plan, row.scheme)
    colour, marker = ("#666666", "o") if style is QUIET else (style["color"], style["marker"])
    if change.has_interval:
        ends = [float(np.log2(1 + end)) for end in (change.low, change.high)]
        axes.plot(ends, [height, height], color=colour, linewidth=2.2, solid_capstyle="butt")
    log = float(np.log2(1 + change.mean))
    axes.plot([log], [height], marker=marker, color=colour, markersize=6, linestyle="none")


def ratio_axis(axes: Axes, which: str = "x") -> None:
    """Labels an axis of log2 of the ratio in percent."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    low, high = min(low, -0.1), max(high, 0.1)
    axes.set(**{f"{which}lim": (low, high)})
    axis.set_major_locator(FixedLocator(looks.ratio_ticks(low, high)))
    axis.set_major_formatter(FuncFormatter(lambda log, _: _change_text(2**log - 1)))
    axis.set_minor_locator(NullLocator())


def _say_empty(axes: Axes, reason: str) -> None:
    """Writes why a panel is empty into it."""
    axes.text(0.5, 0.5, reason, transform=axes.transAxes, ha="center", va="center", color="#666666")
    axes.tick_params(labelbottom=False, labelleft=axes.get_shared_y_axes().joined(axes, axes))
    axes.grid(False)


def _explain_looks(axes: Axes, plan: Plan) -> None:
    """Gives the legend its entries where no line is drawn."""
    for scheme in plan.schemes:
        axes.plot([], [], label=_label(plan, scheme), markersize=4, **_look_of(plan, scheme))


def _label(plan: Plan, scheme: str) -> str:
    return OTHERS if _look_of(plan, scheme) is QUIET else scheme


def _look_of(plan: Plan, scheme: str) -> Look:
    """Returns the style of a scheme; with many schemes, only the references have a style of their own."""
    if len(plan.schemes) > overview.MANY_SCHEMES and scheme not in overview.references(plan):
        return QUIET
    return look(scheme, plan.schemes)


def _grid_figure(results: Results) -> Figure:
    """Draws the change over the grid: short transfers above, long ones below, one column per load."""
    plan = results.plan
    over_buffer = len(plan.buffers) > 1
    columns: tuple[float | None, ...] = plan.loads if over_buffer else (None,)
    figure = Figure(figsize=(max(3.4 * len(columns) + 1.2, 6.5), 7), layout="constrained")
    panels = figure.subplots(2, len(columns), sharex=True, sharey="row", squeeze=False)
    rows = tables.bucket_rows(results)
    for line, role in enumerate(SUMMARIES):
        for column, load in enumerate(columns):
            own = [row for row in rows if row.bucket.role == role and (not over_buffer or row.load == load)]
            _draw_grid_panel(panels[line][column], plan, own, over_buffer)
            panels[line][column].set_title(_panel_title(plan, role, load))
        panels[line][0].set_ylabel("change of the mean response time\n← faster      slower →")
    for axes in panels[-1]:
        axes.set_xlabel("buffer" if over_buffer else "load")
    figure.suptitle(figure_title(results, None), x=0.01, ha="left", fontsize=11, fontweight="bold")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=min(len(labels), 4), handlelength=3.2)
    return figure


def _draw_grid_panel(axes: Axes, plan: Plan, rows: list[BucketRow], over_buffer: bool) -> None:
    """Draws the change of every scheme over the buffer, or else over the load."""
    ticks: list[str | float | None] = list(plan.buffers if over_buffer else plan.loads)
    schemes = [scheme for scheme in plan.schemes if scheme != plan.baseline]
    for scheme in schemes:
        own = [row for row in rows if row.scheme == scheme and isfinite(row.response_mean_change.mean)]
        shift = 0.09 * (schemes.index(scheme) - (len(schemes) - 1) / 2)
        x = [ticks.index(row.buffer if over_buffer else row.load) + shift for row in own]
        changes = [row.response_mean_change for row in own]
        own_look = look(scheme, plan.schemes)
        axes.plot(x, [change.mean for change in changes], label=scheme, markersize=4.5, **own_look)
        for place, change in zip(x, changes, strict=True):
            if change.has_interval:
                axes.plot([place, place], [change.low, change.high], color=own_look["color"], linewidth=1.4)
    axes.axhline(0, color="#444444", linewidth=0.9)
    axes.set_xticks(
        range(len(ticks)), [f"{tick:g}" if isinstance(tick, float) else str(tick) for tick in ticks]
    )
    axes.margins(x=0.12)
    _change_axis(axes, "y")


def _panel_title(plan: Plan, role: Summary, load: float | None) -> str:
    at_load = "" if load is None else f", load {load:g}"
    return f"Transfers {_role_words(plan, role)}{at_load}, against {plan.baseline}"


def _role_words(plan: Plan, role: Summary) -> str:
    return f"≤ {size_text(plan.short_bytes)}" if role == "short" else f"> {size_text(plan.long_bytes)}"


def figure_title(results: Results, cell: Cell | None) -> str:
    """Returns traffic and link in words; for one cell, also its buffer and load."""
    parts = [results.label, bottleneck.words(results.manifest["scenario"])]
    if cell is not None:
        parts.append(f"buffer {cell.buffer}")
        achieved = tables.load_row(results, cell).load_achieved
        parts += [] if achieved is None else [f"load {achieved:.2g}"]
    parts.append(f"{results.plan.replications} × {results.plan.base['duration']}")
    return "  ·  ".join(parts)


def look(scheme: str, schemes: Sequence[str]) -> Look:
    """Returns the style of a scheme: the same one in every figure (see `looks.place`)."""
    own = looks.place(scheme, schemes)
    return {
        "color": COLOURS[own.colour],
        "linestyle": LINES[own.line],
        "marker": MARKERS[own.line],
        "linewidth": 1.5,
    }


def _time_axis(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(
        FuncFormatter(lambda time, _: f"{1000 * time:g} ms" if time < 1 else f"{time:g} s")
    )
    low, high = axis.get_view_interval()
    crowded = high / low > (100 if which == "x" else 3000)
    axis.set_major_locator(LogLocator(subs=(1.0,) if crowded else (1.0, 2.0, 5.0)))
    axis.set_minor_locator(NullLocator())


def _change_axis(axes: Axes, which: str) -> None:
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_formatter(FuncFormatter(lambda share, _: _change_text(share)))


def _change_text(share: float) -> str:
    return f"{100 * share:+.3g} %".replace("-", "−") if abs(share) > 1e-9 else "0 %"
