"""Pictures of a sweep: small multiples of lines, and response surfaces, one panel for each scheme."""

from collections.abc import Callable, Sequence
from math import ceil, floor, isfinite, log10
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator, PercentFormatter

from mousehole.base import MouseholeError, output, rate_text, time_text, unknown_error
from mousehole.reports import STYLE, look, save
from mousehole.sweeps._found import VALUE, Found
from mousehole.sweeps._scipy import scipy_module
from mousehole.sweeps._views import Scale, What, scale_of, title_of, trend

MOST_PANELS = 6
"""Panels side by side, or one above the other."""
FINE = 80
"""Points of a fitted surface along each axis."""
LEAST_CELLS = 6
"""Scattered cells from which on a surface is fitted."""
DODGE = 0.012
"""How far lines of different schemes stand beside each other, as a share of the axis."""
CONTOURS = 6
"""Lines of equal height on a fitted surface."""


def label_axis(scale: Scale, axis: Any) -> None:
    """Writes values and name on an axis of a picture."""
    axis.set_minor_locator(NullLocator())
    if scale.column is None:
        axis.set_major_locator(FixedLocator(list(range(len(scale.names)))))
        axis.set_major_formatter(FuncFormatter(lambda place, _: _name(scale, place)))
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: scale.text(value)))
    axis.set_label_text(scale.setting)


def _name(scale: Scale, place: float) -> str:
    at = round(place)
    return scale.names[at] if abs(at - place) < 1e-6 and 0 <= at < len(scale.names) else ""


def format_values(what: What, axis: Any) -> None:
    """Writes the values of what is drawn on an axis of a picture."""
    if what.of_change is not None:
        axis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    elif what.unit == "seconds":
        axis.set_major_formatter(FuncFormatter(lambda number, _: time_text(number)))
    elif what.unit == "bits_per_second":
        axis.set_major_formatter(FuncFormatter(lambda number, _: rate_text(number)))


def write(path: str | Path, draw: Callable[[Path], None]) -> None:
    """Draws into a file whose suffix gives the format; raises `MouseholeError` for any other suffix."""
    output.check_suffix("plot", str(path), output.PLOT_SUFFIXES)
    output.write_with(path, draw)


def small_multiples(
    sweep: Found, path: Path, *, value: str = VALUE, against: str | None = None, x: str | None = None,
    columns: str | None = None, rows: str | None = None, absolute: bool = False,
) -> None:  # fmt: skip
    """Draws a measure along the axis `x`, one line per scheme, a panel for each value of other axes.

    `columns` and `rows` are the axes of the panels; the mean is taken over axes that have no place. Where
    cells are scattered, as in a Latin hypercube, there is a panel for each axis instead, with the trend of
    the cells. What is drawn is the change against the scheme `against`, or the measure itself if `absolute`
    is set or if there is one scheme only.
    """
    cells = sweep.cells(value, against)
    what = What.of(sweep, value, against, absolute)
    with matplotlib.rc_context(STYLE):
        if sweep.manifest["sweep"]["design"] == "grid" or columns or rows:
            figure = _facets(sweep, cells, what, x, columns, rows)
        else:
            figure = _trends(sweep, cells, what, [x] if x else sweep.axes)
        save(figure, path)


def surfaces(
    sweep: Found, path: Path, *, x: str | None = None, y: str | None = None, value: str = VALUE,
    against: str | None = None, absolute: bool = False,
) -> None:  # fmt: skip
    """Draws a measure over two axes as colour, a panel for each scheme.

    The mean is taken over the other axes. Between scattered cells a smooth surface is fitted. Raises
    `MouseholeError` where there are no two axes of numbers.
    """
    numeric = [axis for axis in sweep.axes if sweep.number_column(axis) is not None]
    x, y = _two_axes(sweep, numeric, x, y)
    what = What.of(sweep, value, against, absolute)
    schemes = [scheme for scheme in sweep.schemes if what.of_change is None or scheme != what.of_change]
    with matplotlib.rc_context({**STYLE, "axes.grid": False}):
        save(_surface_figure(sweep, what, x, y, schemes), path)


def _facets(
    sweep: Found, cells: pl.DataFrame, what: What, x: str | None, columns: str | None, rows: str | None
) -> Figure:
    """Draws a grid: lines along x, panels by two other axes."""
    for field, name in (("x", x), ("columns", columns), ("rows", rows)):
        if name is not None and name not in sweep.axes:
            raise unknown_error(field, "setting", name, sweep.axes)
    counts = {axis: cells[axis].n_unique() for axis in sweep.axes}
    taken = [name for name in (x, columns, rows) if name is not None]
    free = sorted((axis for axis in sweep.axes if axis not in taken),
                  key=lambda axis: (sweep.number_column(axis) is None, -counts[axis]))  # fmt: skip
    x = x or free.pop(0)
    few = [axis for axis in free if axis != x and counts[axis] <= MOST_PANELS]
    columns = columns or (few.pop(0) if few else None)
    rows = rows or next((axis for axis in few if axis != columns), None)
    scale = scale_of(sweep, cells, x)
    across, down = _values(cells, columns), _values(cells, rows)
    figure = Figure(figsize=(max(2.9 * len(across) + 1.2, 6.4), 2.5 * len(down) + 1.5), layout="constrained")
    panels = figure.subplots(len(down), len(across), sharex=True, sharey=True, squeeze=False)
    for line, low in enumerate(down):
        for place, left in enumerate(across):
            part = _at(_at(cells, columns, left), rows, low)
            _lines(panels[line][place], sweep, part, what, scale)
            titles = [f"{name} {_short(entry)}" for name, entry in ((columns, left), (rows, low)) if name]
            panels[line][place].set_title(", ".join(titles))
    for axes in panels[-1]:
        label_axis(scale, axes.xaxis)
    rest = [axis for axis in sweep.axes if axis not in (x, columns, rows) and counts[axis] > 1]
    over = f"  ·  mean over {', '.join(rest)}" if rest else ""
    _finish(figure, sweep, what, f"along {x}{over}")
    return figure


def _values(cells: pl.DataFrame, axis: str | None) -> list[Any]:
    return [None] if axis is None else cells[axis].drop_nulls().unique(maintain_order=True).to_list()


def _at(cells: pl.DataFrame, axis: str | None, entry: Any) -> pl.DataFrame:
    """Returns the cells with a value on an axis; those whose scheme does not have the setting are in all."""
    return cells if axis is None else cells.filter(pl.col(axis).eq_missing(entry) | pl.col(axis).is_null())


def _short(entry: Any) -> str:
    return f"{entry:g}" if isinstance(entry, float) else str(entry)


def _lines(axes: Axes, sweep: Found, cells: pl.DataFrame, what: What, scale: Scale) -> None:
    """Draws one line per scheme, with intervals where each point is a single cell."""
    schemes = [scheme for scheme in sweep.schemes if scheme != what.of_change]
    for number, scheme in enumerate(schemes):
        own = cells.filter((pl.col("scheme") == scheme) & pl.col(what.column).is_not_null())
        aside = DODGE * (number - (len(schemes) - 1) / 2)
        style = look(scheme, sweep.schemes)
        if not len(own):
            continue
        if own[scale.setting].null_count() == len(own):  # the scheme does not have this setting
            axes.axhline(what.mean(own[what.column].to_numpy()), label=scheme, color=style["color"],
                         linestyle=style["linestyle"], linewidth=1.2)  # fmt: skip
            continue
        own = own.drop_nulls(scale.setting)
        places = scale.places(own)
        values, low, high = (own[name].to_numpy() for name in (what.column, *what.ends))
        at, whole = np.unique(places), scale.places(cells.drop_nulls(scale.setting))
        means = [what.mean(values[places == place]) for place in at]
        axes.plot(_beside(at, aside, whole, scale), means, label=scheme, markersize=4, **style)
        if len(at) == len(own) and own[what.ends[0]].null_count() == 0:
            beside = _beside(places, aside, whole, scale)
            axes.vlines(beside, low, high, color=style["color"], linewidth=1.1, alpha=0.6)
    axes.margins(x=0.06)
    _scale_axes(axes, cells, what, scale)


def _beside(places: Any, aside: float, whole: Any, scale: Scale) -> Any:
    """Returns places moved by a share of the axis, so that intervals do not cover each other."""
    if scale.is_log:
        return np.exp(np.log(places) + aside * (np.log(whole.max()) - np.log(whole.min())))
    return places + aside * (whole.max() - whole.min())


def _ticks(places: Any, is_log: bool) -> list[float]:
    """Returns the values that cells have if they are few, else round ones between them."""
    own = np.unique(places)
    if len(own) <= 6:
        return [float(place) for place in own]
    low, high = float(own[0]), float(own[-1])
    if not is_log:
        return [float(place) for place in MaxNLocator(4).tick_values(low, high) if low <= place <= high]
    decades = range(floor(log10(low)), ceil(log10(high)) + 1)
    for steps in ((1, 2, 5), (1, 3), (1,)):
        made = [step * 10.0**decade for decade in decades for step in steps]
        shown = [place for place in made if 0.97 * low <= place <= 1.03 * high]
        if len(shown) <= 5:
            break
    return shown


def _trends(sweep: Found, cells: pl.DataFrame, what: What, axes_wanted: Sequence[str]) -> Figure:
    """Draws scattered cells: a panel for each axis, a dot for each cell, and the trend of each scheme."""
    for name in axes_wanted:
        if name not in sweep.axes:
            raise unknown_error("x", "setting", name, sweep.axes)
    across = 2 if len(axes_wanted) == 4 else min(len(axes_wanted), 3)
    down = ceil(len(axes_wanted) / across)
    figure = Figure(figsize=(max(3.4 * across + 0.6, 6.4), 2.9 * down + 1.4), layout="constrained")
    panels = figure.subplots(down, across, sharey=True, squeeze=False)
    for axes, name in zip(panels.flat, axes_wanted, strict=False):
        scale = scale_of(sweep, cells, name)
        _scatter(axes, sweep, cells, what, scale)
        label_axis(scale, axes.xaxis)
    for axes in list(panels.flat)[len(axes_wanted) :]:
        axes.set_visible(False)
    _finish(figure, sweep, what, "each dot a cell, lines the trend along one axis over all others")
    return figure


def _scatter(axes: Axes, sweep: Found, cells: pl.DataFrame, what: What, scale: Scale) -> None:
    schemes = [scheme for scheme in sweep.schemes if scheme != what.of_change]
    for scheme in schemes:
        own = cells.filter((pl.col("scheme") == scheme) & pl.col(what.column).is_not_null())
        own = own.drop_nulls(scale.setting)
        if not len(own):
            continue
        style = look(scheme, sweep.schemes)
        places, values = scale.places(own), own[what.column].to_numpy()
        dot = min(9.0, 1200 / len(own))
        axes.scatter(places, values, s=dot, color=style["color"], alpha=0.25, linewidths=0)
        at, means = trend(places, values, what, scale)
        axes.plot(at, means, label=scheme, markersize=4, **style)
    _scale_axes(axes, cells, what, scale)


def _scale_axes(axes: Axes, cells: pl.DataFrame, what: What, scale: Scale) -> None:
    """Scales the axis of settings, marks no change, and formats the axis of values."""
    if what.of_change is not None:
        axes.axhline(0, color="#444444", linewidth=0.9, zorder=1)
    if scale.is_log:
        axes.set_xscale("log")
    if scale.column is not None:
        axes.xaxis.set_major_locator(
            FixedLocator(_ticks(scale.places(cells.drop_nulls(scale.setting)), scale.is_log))
        )
    format_values(what, axes.yaxis)


def _two_axes(sweep: Found, numeric: list[str], x: str | None, y: str | None) -> tuple[str, str]:
    for field, name in (("x", x), ("y", y)):
        if name is not None:
            sweep.require_numbers(field, name)
    free = [axis for axis in numeric if axis not in (x, y)]
    wanted = [name if name is not None else (free.pop(0) if free else None) for name in (x, y)]
    if wanted[0] is None or wanted[1] is None:
        raise MouseholeError(
            f"a surface needs two axes of numbers; this sweep has {', '.join(numeric) or 'none'}"
        )
    return wanted[0], wanted[1]


def _surface_figure(sweep: Found, what: What, x: str, y: str, schemes: list[str]) -> Figure:
    across = min(len(schemes), 3)
    down = ceil(len(schemes) / across)
    figure = Figure(figsize=(3.5 * across + 1.5, 3.1 * down + 0.9), layout="constrained")
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    cells = sweep.cells(what.value, what.of_change)
    scales = scale_of(sweep, cells, x), scale_of(sweep, cells, y)
    found = {scheme: sweep.surface(x, y, scheme, what.value, what.of_change) for scheme in schemes}
    norm = _norm([frame[what.column].drop_nulls().to_numpy() for frame in found.values()], what)
    shades = "PuOr_r" if what.of_change is not None else "viridis"
    image = None
    for axes, scheme in zip(panels.flat, schemes, strict=False):
        image = _surface(axes, found[scheme].drop_nulls(what.column), what, scales, norm, shades) or image
        axes.set_title(scheme)
    for axes in list(panels.flat)[len(schemes) :]:
        axes.set_visible(False)
    for axes in panels[-1]:
        axes.set_xlabel(x)
    for line in panels:
        line[0].set_ylabel(y)
    if image is not None:
        bar = figure.colorbar(image, ax=list(panels.flat), fraction=0.04, pad=0.01)
        bar.outline.set_visible(False)
        bar.ax.set_ylabel(_wrapped(what.words))
        format_values(what, bar.ax.yaxis)
        bar.ax.yaxis.set_minor_locator(NullLocator())
    rest = [axis for axis in sweep.axes if axis not in (x, y)]
    how = "mean" if sweep.manifest["sweep"]["design"] == "grid" else "fitted through the cells,"
    over = f"  ·  {how} over {', '.join(rest)}" if rest else ""
    figure.suptitle(f"{title_of(sweep)}{over}", x=0.01, ha="left", fontsize=11, fontweight="bold")
    return figure


def _norm(values: list[Any], what: What) -> Normalize:
    held = np.concatenate(values) if values else np.zeros(1)
    held = held[np.isfinite(held)]
    if not held.size:
        return Normalize(0, 1)
    if what.of_change is not None:
        end = max(float(np.max(np.abs(held))), 0.01)
        return TwoSlopeNorm(0, -end, end)
    low, high = float(held.min()), float(held.max())
    return LogNorm(low, high) if low > 0 and high / low > 8 else Normalize(low, high)


def _surface(
    axes: Axes, frame: pl.DataFrame, what: What, scales: tuple[Scale, Scale], norm: Normalize, shades: str
) -> Any:
    """Draws one panel: fields of a grid with their numbers, or a surface fitted to scattered cells."""
    if not len(frame):
        axes.text(0.5, 0.5, "no cells", transform=axes.transAxes, ha="center", va="center", color="#666666")
        return None
    merged = frame.group_by("x", "y", maintain_order=True).agg(pl.col(what.column).mean())
    x, y, values = (merged[name].to_numpy() for name in ("x", "y", what.column))
    across, down = np.unique(x), np.unique(y)
    if len(across) * len(down) <= 4 * len(values) and len(across) > 1 and len(down) > 1:
        return _fields(axes, x, y, values, what, scales, norm, shades)
    return _fitted(axes, x, y, values, what, scales, norm, shades)


def _fields(
    axes: Axes, x: Any, y: Any, values: Any, what: What, scales: tuple[Scale, Scale], norm: Normalize,
    shades: str,
) -> Any:  # fmt: skip
    """Draws the cells of a grid as fields of equal size, each with its number."""
    across, down = np.unique(x), np.unique(y)
    table = np.full((len(down), len(across)), np.nan)
    table[np.searchsorted(down, y), np.searchsorted(across, x)] = values
    image = axes.imshow(table, origin="lower", aspect="auto", cmap=shades, norm=norm)
    if table.size <= 120:
        for (line, place), number in np.ndenumerate(table):
            if isfinite(number):
                axes.text(place, line, _number_text(number, what), ha="center", va="center", fontsize=7,
                          color=_ink(image, number))  # fmt: skip
    for axis, ticks, scale in ((axes.xaxis, across, scales[0]), (axes.yaxis, down, scales[1])):
        names = [scale.text(float(tick)) for tick in ticks]
        step = max(1, ceil(len(ticks) / 8))
        axis.set_ticks(list(range(0, len(ticks), step)), names[::step])
    return image


def _number_text(number: float, what: What) -> str:
    if what.of_change is not None:
        return "0" if abs(number) < 0.005 else f"{100 * number:+.0f}".replace("-", "−")
    return time_text(number) if what.unit == "seconds" else f"{number:.3g}"


def _ink(image: Any, number: float) -> str:
    red, green, blue, _ = image.cmap(image.norm(number))
    return "white" if 0.299 * red + 0.587 * green + 0.114 * blue < 0.5 else "black"


def _fitted(
    axes: Axes, x: Any, y: Any, values: Any, what: What, scales: tuple[Scale, Scale], norm: Normalize,
    shades: str,
) -> Any:  # fmt: skip
    """Draws a smooth surface through scattered cells, and the cells; only the cells where they are few."""
    across, down = (
        np.log(held) if scale.is_log else held for held, scale in zip((x, y), scales, strict=True)
    )
    image: Any
    if len(values) >= LEAST_CELLS and len(np.unique(across)) > 2 and len(np.unique(down)) > 2:
        interpolate = scipy_module("interpolate", "a surface through scattered cells")
        points = np.column_stack([_unit(across, across), _unit(down, down)])
        smooth = interpolate.RBFInterpolator(
            points, values, smoothing=0.05 * len(values), kernel="thin_plate_spline"
        )
        steps = np.linspace(0, 1, FINE)
        grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
        table = np.clip(smooth(grid).reshape(FINE, FINE), values.min(), values.max())
        edges = [_back(steps, held, scale) for held, scale in ((across, scales[0]), (down, scales[1]))]
        image = axes.pcolormesh(*edges, table, cmap=shades, norm=norm, shading="gouraud", rasterized=True)
        lines = axes.contour(*edges, table, levels=CONTOURS, colors="#444444", linewidths=0.6)
        axes.clabel(lines, fontsize=7, fmt=lambda number: _number_text(number, what))
        axes.scatter(x, y, s=min(9.0, 900 / len(values)), color="#333333", alpha=0.35, linewidths=0)
    else:
        image = axes.scatter(x, y, c=values, cmap=shades, norm=norm, s=40)
    for scale, set_scale, axis, held in ((scales[0], axes.set_xscale, axes.xaxis, x),
                                         (scales[1], axes.set_yscale, axes.yaxis, y)):  # fmt: skip
        if scale.is_log:
            set_scale("log")
        label_axis(scale, axis)
        axis.set_major_locator(FixedLocator(_ticks(held, scale.is_log)))
        axis.set_label_text("")
    return image


def _unit(held: Any, whole: Any) -> Any:
    return (held - whole.min()) / (whole.max() - whole.min())


def _back(steps: Any, held: Any, scale: Scale) -> Any:
    made = held.min() + steps * (held.max() - held.min())
    return np.exp(made) if scale.is_log else made


def _finish(figure: Figure, sweep: Found, what: What, how: str) -> None:
    """Writes title, legend and the name of what is drawn."""
    figure.supylabel(_wrapped(what.words), fontsize=9)
    figure.suptitle(f"{title_of(sweep)}  ·  {how}", x=0.01, ha="left", fontsize=11, fontweight="bold")
    entries: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    figure.legend(list(entries.values()), list(entries), loc="outside lower left", ncols=min(len(entries), 5),
                  handlelength=3.2)  # fmt: skip


def _wrapped(text: str) -> str:
    first, separator, rest = text.partition(" against ")
    return f"{first}\nagainst {rest}" if separator else text
