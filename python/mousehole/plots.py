"""Plots worth looking at: response time against size, its distribution for short transfers, who gains what.

One line per scheme throughout, told apart by colour (Okabe & Ito's palette), line style and marker, so that
they are readable in print and by the colour-blind.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator, PercentFormatter

from mousehole import bottleneck, overview, tables
from mousehole.plan import Cell, Plan
from mousehole.sizes import size_text
from mousehole.statistics import LEAST_REPLICATIONS

if TYPE_CHECKING:
    from mousehole.comparison import Comparison

Row = dict[str, Any]

COLOURS = ("#000000", "#E69F00", "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#CC79A7", "#7F7F7F")
LINES = ("-", (0, (5, 1.5)), "-", (0, (1, 1)), (0, (3, 1, 1, 1)), (0, (5, 1, 1, 1, 1, 1)), (0, (2, 2)), "--")
MARKERS = ("o", "s", "^", "v", "D", "X", "P", "*")
QUIET: Any = {"color": "#BBBBBB", "linestyle": "-", "marker": "", "linewidth": 0.9, "zorder": 1.5}
"""The look of schemes that are not told apart, where there are many."""
OTHERS = "other schemes (the heat map tells them apart)"
SHARES = (0, -0.5, 1, -0.75, 3, 0.5, -0.3, -0.9, 9, 0.2, -0.2, 0.1, -0.1, 0.05, -0.05)
"""Ticks of a scale of ratios, the most wanted first; those too close to others are left out."""
LEAST_IN_BIN = 20
"""Transfers, over all replications, below which a size bin is not drawn."""

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


def draw(comparison: "Comparison", path: Path) -> None:
    """Draws a comparison of one cell, or its grid, in the format that the path's ending says."""
    with matplotlib.rc_context(STYLE):
        figure = _grid_figure(comparison) if len(comparison.plan.cells) > 1 else _cell_figure(comparison)
        save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Writes the figure, without the date that some formats would note."""
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower(), {})
    figure.savefig(path, metadata=metadata)


def _cell_figure(comparison: "Comparison") -> Figure:
    plan, results, cell = comparison.plan, comparison.results, comparison.plan.cells[0]
    height = 5.4 + 0.3 * len(plan.schemes)
    figure = Figure(figsize=(10, height), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[4.6, 0.9 + 0.3 * len(plan.schemes)])
    top, bottom = parts
    by_size, by_time = top.subplots(1, 2)
    _draw_curves(by_size, plan, tables.curve_rows(results))
    _draw_cdf(by_time, plan, tables.cdf_rows(results))
    _draw_changes(bottom, comparison)
    figure.suptitle(figure_title(comparison, cell), x=0.01, ha="left", fontsize=11, fontweight="bold")
    handles, labels = _legend_entries(by_size)
    top.legend(handles, labels, loc="outside upper left", ncols=min(len(labels), 6), handlelength=3.2)
    return figure


def _legend_entries(axes: Axes) -> tuple[list[Any], list[str]]:
    """Every label once; that of the schemes not told apart stands last."""
    entries = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    others = {label: entries.pop(label) for label in (OTHERS,) if label in entries}
    entries |= others
    return list(entries.values()), list(entries)


def _draw_curves(axes: Axes, plan: Plan, rows: list[Row]) -> None:
    """Mean response time against size, with intervals as bands."""
    for scheme in plan.schemes:
        own = [row for row in rows if row["scheme"] == scheme and row["count"] >= LEAST_IN_BIN]
        sizes = [(row["low_bytes"] * row["high_bytes"]) ** 0.5 for row in own]
        look = _look_of(plan, scheme)
        means = [row["response_mean_s"] for row in own]
        axes.plot(sizes, means, label=_label(plan, scheme), markersize=4, **look)
        if look is not QUIET and own and all(row["response_mean_low_s"] is not None for row in own):
            low, high = ([row[f"response_mean_{end}_s"] for row in own] for end in ("low", "high"))
            axes.fill_between(sizes, low, high, color=look["color"], alpha=0.15, linewidth=0)
    axes.set(xscale="log", yscale="log", xlabel="transfer size", ylabel="mean response time")
    intervals = ", 95 % intervals" if plan.replications >= LEAST_REPLICATIONS else ""
    axes.set_title(f"Response time by size{intervals}")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda size, _: size_text(size)))
    _time_axis(axes, "y")
    for edge in (plan.short_bytes, plan.long_bytes):
        axes.axvline(edge, color="#999999", linewidth=0.8, linestyle=":", zorder=0)
        axes.annotate(size_text(edge), (edge, 0.01), xycoords=("data", "axes fraction"), rotation=90,
                      ha="right", va="bottom", fontsize=7, color="#666666")  # fmt: skip


def _draw_cdf(axes: Axes, plan: Plan, rows: list[Row]) -> None:
    """Share of short transfers that responded within a time."""
    shown: list[float] = []
    for number, scheme in enumerate(plan.schemes):
        own = [row for row in rows if row["scheme"] == scheme and row["share"] is not None]
        times, shares = [row["response_s"] for row in own], [row["share"] for row in own]
        marks = [int(place) for place in np.searchsorted(shares, np.linspace(0.12, 0.92, 5) + 0.02 * number)]
        marks = [place for place in marks if place < len(shares)]
        axes.plot(times, shares, markevery=marks, markersize=4, **_look_of(plan, scheme))
        shown += [time for time, share in zip(times, shares, strict=True) if 0.002 < share < 0.998]
    axes.set(xscale="log", xlabel="response time", ylabel="share of transfers", ylim=(0, 1.01))
    if shown:
        axes.set_xlim(min(shown) * 0.9, max(shown) * 1.1)
    axes.set_title(f"Transfers ≤ {size_text(plan.short_bytes)}: done within …")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    _time_axis(axes, "x")


def _draw_changes(figure: Any, comparison: "Comparison") -> None:
    """Change of mean response time against the baseline: short and long side by side, schemes down."""
    plan, rows = comparison.plan, tables.bucket_rows(comparison.results)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, role in zip(panels, ("short", "long"), strict=True):
        own = {row["scheme"]: row for row in rows if row["role"] == role}
        for number, scheme in enumerate(plan.schemes):
            _draw_interval(axes, plan, -number, own[scheme])
        axes.axvline(0, color="#444444", linewidth=0.9)
        axes.set_title(f"Mean response time of transfers {_role_words(plan, role)}, against {plan.baseline}")
        axes.set_yticks([-number for number in range(len(plan.schemes))], plan.schemes)
        axes.set_ylim(0.6 - len(plan.schemes), 0.6)
        axes.set_xlabel("← faster      slower →")
        _ratio_axis(axes)


def _draw_interval(axes: Axes, plan: Plan, height: float, row: Row) -> None:
    """A scheme's change and interval, on a scale of ratios: −50 % lies as far from 0 as +100 %."""
    ends = [row[f"response_mean_change{end}"] for end in ("", "_low", "_high")]
    if ends[0] is None:
        return
    look = _look_of(plan, row["scheme"])
    colour, marker = ("#666666", "o") if look is QUIET else (look["color"], look["marker"])
    change, *interval = (float(np.log2(1 + end)) for end in ends if end is not None)
    if interval:
        axes.plot(interval, [height, height], color=colour, linewidth=2.2, solid_capstyle="butt")
    axes.plot([change], [height], marker=marker, color=colour, markersize=6, linestyle="none")


def _ratio_axis(axes: Axes) -> None:
    """Ticks in percent on an axis of log2 of the ratio."""
    low, high = axes.get_xlim()
    low, high = min(low, -0.1), max(high, 0.1)
    axes.set_xlim(low, high)
    kept: list[float] = []
    for share in SHARES:
        place = float(np.log2(1 + share))
        if low <= place <= high and all(abs(place - other) >= 0.14 * (high - low) for other in kept):
            kept.append(place)
    axes.xaxis.set_major_locator(FixedLocator(kept))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda log, _: _change_text(2**log - 1)))
    axes.xaxis.set_minor_locator(NullLocator())


def _label(plan: Plan, scheme: str) -> str:
    return OTHERS if _look_of(plan, scheme) is QUIET else scheme


def _look_of(plan: Plan, scheme: str) -> dict[str, Any]:
    """How a scheme is drawn; with many schemes only what they are set beside stands out."""
    if len(plan.schemes) <= overview.MANY_SCHEMES:
        return _look(plan.schemes.index(scheme))
    shown = overview.references(plan)
    return _look(shown.index(scheme)) if scheme in shown else QUIET


def _grid_figure(comparison: "Comparison") -> Figure:
    """Change over the grid: short transfers above, long ones below, one column per load."""
    plan = comparison.plan
    over_buffer = len(plan.buffers) > 1
    columns: tuple[float | None, ...] = plan.loads if over_buffer else (None,)
    figure = Figure(figsize=(max(3.4 * len(columns) + 1.2, 6.5), 7), layout="constrained")
    panels = figure.subplots(2, len(columns), sharex=True, sharey="row", squeeze=False)
    rows = tables.bucket_rows(comparison.results)
    for line, role in enumerate(("short", "long")):
        for column, load in enumerate(columns):
            own = [row for row in rows if row["role"] == role and (not over_buffer or row["load"] == load)]
            _draw_grid_panel(panels[line][column], plan, own, "buffer" if over_buffer else "load")
            panels[line][column].set_title(_panel_title(plan, role, load))
        panels[line][0].set_ylabel(f"mean response time against {plan.baseline}\n← faster      slower →")
    for axes in panels[-1]:
        axes.set_xlabel("buffer" if over_buffer else "load")
    figure.suptitle(figure_title(comparison, None), x=0.01, ha="left", fontsize=11, fontweight="bold")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=min(len(labels), 4), handlelength=3.2)
    return figure


def _draw_grid_panel(axes: Axes, plan: Plan, rows: list[Row], along: str) -> None:
    places: list[Any] = list(plan.buffers if along == "buffer" else plan.loads)
    schemes = [scheme for scheme in plan.schemes if scheme != plan.baseline]
    for scheme in schemes:
        number = plan.schemes.index(scheme)
        own = [row for row in rows if row["scheme"] == scheme and row["response_mean_change"] is not None]
        shift = 0.09 * (schemes.index(scheme) - (len(schemes) - 1) / 2)
        x = [places.index(row[along]) + shift for row in own]
        change = [row["response_mean_change"] for row in own]
        look = _look(number)
        axes.plot(x, change, label=scheme, markersize=4.5, **look)
        for place, row in zip(x, own, strict=True):
            if row["response_mean_change_low"] is not None:
                ends = [row["response_mean_change_low"], row["response_mean_change_high"]]
                axes.plot([place, place], ends, color=look["color"], linewidth=1.4)
    axes.axhline(0, color="#444444", linewidth=0.9)
    axes.set_xticks(
        range(len(places)), [f"{place:g}" if isinstance(place, float) else str(place) for place in places]
    )
    axes.margins(x=0.12)
    _change_axis(axes, "y")


def _panel_title(plan: Plan, role: str, load: float | None) -> str:
    at_load = "" if load is None else f", load {load:g}"
    return f"{_role_words(plan, role)}{at_load}"


def _role_words(plan: Plan, role: str) -> str:
    return f"≤ {size_text(plan.short_bytes)}" if role == "short" else f"> {size_text(plan.long_bytes)}"


def figure_title(comparison: "Comparison", cell: Cell | None) -> str:
    """Traffic, link and, for one cell, its buffer and load."""
    parts = [comparison.label, bottleneck.words(comparison.manifest["scenario"])]
    if cell is not None:
        parts.append(f"buffer {cell.buffer}")
        achieved = tables.load_row(comparison.results, cell)["load_achieved"]
        parts += [] if achieved is None else [f"load {achieved:.2g}"]
    parts.append(f"{comparison.plan.replications} × {comparison.plan.base['duration']}")
    return "  ·  ".join(parts)


def _look(number: int) -> dict[str, Any]:
    """Colour, line and marker of the scheme at this place; beyond eight they repeat with other lines."""
    place, lap = number % len(COLOURS), number // len(COLOURS)
    line = LINES[(place + lap) % len(LINES)]
    return {
        "color": COLOURS[place],
        "linestyle": line,
        "marker": MARKERS[(place + lap) % len(MARKERS)],
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
