"""Charts of a sweep: small multiples of lines, trends of scattered cells, surfaces of each scheme."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, exp, floor, log, log2, log10
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from mousehole.base import (
    MouseholeError,
    capitalise,
    change_text,
    counted,
    rate_text,
    require_extra,
    signed,
    time_text,
    unknown_error,
    whole_percent,
)
from mousehole.charts import Panel, Series, arrange_picture, looks, make_scheme_series
from mousehole.charts.axes import (
    CHANGE_LABEL,
    TIME_LABEL,
    Encoding,
    change_axis,
    label_ticks,
    zero_line,
)
from mousehole.charts.marks import (
    CLEAR,
    LEAST_RATIO,
    UNCLEAR_NUMBER,
    Datum,
    draw_fields,
    empty_chart,
    make_chart,
    round_digits,
)
from mousehole.charts.style import DIM, SEQUENTIAL, STRONG
from mousehole.runs import none_to_nan
from mousehole.sweeps._found import VALUE, Found
from mousehole.sweeps._views import Scale, Trend, What, choose_scale, compute_trend, write_title

MOST_PANELS = 6
"""Panels side by side, or one above the other."""
FINE = 48
"""Fields of a fitted surface along each axis."""
LEAST_CELLS = 6
"""Scattered cells from which on a surface is fitted."""
DODGE = 0.012
"""Distance between the lines of different schemes, as a share of the axis."""
STEPS = 9
"""Levels of colour of a fitted surface, whose borders are lines of equal height."""
MOST_NUMBERS = 120
"""Grids of more fields have colours without numbers."""
RATE_LABEL = "format(datum.value, '~s') + 'b/s'"
AXIS_LABELS = {"seconds": TIME_LABEL, "bits_per_second": RATE_LABEL}
"""Expressions of Vega for the labels of an axis, by the unit of what is drawn."""
NONE_DRAWN = "no cells"


@dataclass(frozen=True)
class Drawing:
    """What the panels of a picture have in common."""

    sweep: Found
    cells: pl.DataFrame
    what: What

    @cached_property
    def series(self) -> Series:
        """Returns the schemes that are drawn, as they look in every panel."""
        series = make_scheme_series(self.sweep.schemes)
        return series if self.what.of_change is None else series.without(self.what.of_change)

    @cached_property
    def y(self) -> Encoding:
        """Returns the axis of the measure, which fits all cells and their intervals."""
        ends = [
            number for name in (self.what.column, *self.what.ends)
            for number in self.cells[name].drop_nulls().to_list()
        ]  # fmt: skip
        if self.what.of_change is not None:
            return change_axis([self.height(number) for number in ends], f"change (↓ {self.what.sides.less})")
        label = AXIS_LABELS.get(self.what.unit, alt.Undefined)
        scale = alt.Scale(domain=[min(ends, default=0), max(ends, default=1)], nice=True)
        axis = alt.Axis(labelExpr=label, tickCount=6)
        return lambda field, kind=alt.Y: kind(f"{field}:Q", scale=scale, title=None, axis=axis)

    def height(self, number: float) -> float:
        """Returns the position of a number on the axis: for a change, log2 of its ratio.

        It is at least that of `LEAST_RATIO`.
        """
        return round_digits(log2(max(1 + number, LEAST_RATIO)) if self.what.of_change is not None else number)

    def text(self, mean: float, count: int) -> str:
        """Returns a mean over cells as text, with the number of cells."""
        number = self.number(mean) if self.what.of_change is None else f"{signed(mean)} %"
        return f"{number} ({counted(count, 'cell')})"

    def number(self, value: float) -> str:
        """Returns a value as a short text with its unit."""
        if self.what.of_change is not None:
            return whole_percent(value)
        if self.what.unit == "bits_per_second":
            return rate_text(value)
        return time_text(value) if self.what.unit == "seconds" else f"{value:.3g}"

    def schemes(self) -> list[str]:
        """Returns the schemes that are drawn: all but the one that changes are against."""
        return [scheme for scheme in self.sweep.schemes if scheme != self.what.of_change]

    def own(self, scheme: str, cells: pl.DataFrame) -> pl.DataFrame:
        """Returns the cells of a scheme in which the measure is known."""
        return cells.filter((pl.col("scheme") == scheme) & pl.col(self.what.column).is_not_null())

    def zero(self) -> list[Any]:
        """Returns a list with the line of no change; empty unless changes are drawn."""
        return [zero_line(alt.Y)] if self.what.of_change is not None else []


def draw_small_multiples(
    sweep: Found, *, value: str = VALUE, against: str | None = None, x: str | None = None,
    columns: str | None = None, rows: str | None = None, absolute: bool = False,
) -> alt.VConcatChart:  # fmt: skip
    """Returns a measure along the axis `x`, one line per scheme, a panel for each value of other axes.

    `columns` and `rows` are the axes of the panels; the mean is taken over the remaining axes. Scattered
    cells, as those of a Latin hypercube, have a panel for each axis instead, with the trend of the cells. The
    change against the scheme `against` (the first one) is drawn, or the measure itself if `absolute` is set
    or if there is one scheme only. Raises `MouseholeError` for a measure, scheme or axis that the rows do not
    have.
    """
    drawing = Drawing(sweep, sweep.cells(value, against), What.choose(sweep, value, against, absolute))
    if sweep.manifest["sweep"]["design"] == "grid" or columns or rows:
        return _draw_facets(drawing, x, columns, rows)
    return _draw_trends(drawing, [x] if x else sweep.axes)


def draw_surfaces(
    sweep: Found, *, x: str | None = None, y: str | None = None, value: str = VALUE,
    against: str | None = None, absolute: bool = False,
) -> alt.VConcatChart:  # fmt: skip
    """Returns a measure over two axes as colour, a panel for each scheme.

    The axes are the first two of numbers by default. The mean is taken over the other axes. Between scattered
    cells a smooth surface is fitted. Raises `MouseholeError` where there are no two axes of numbers, and for
    a measure or scheme that the rows do not have.
    """
    numeric = [axis for axis in sweep.axes if sweep.number_column(axis) is not None]
    x, y = _choose_two_axes(sweep, numeric, x, y)
    drawing = Drawing(sweep, sweep.cells(value, against), What.choose(sweep, value, against, absolute))
    panels = [
        Panel(scheme, _draw_surface(drawing, scheme, x, y, value, against), 260, 230)
        for scheme in drawing.schemes()
    ]
    rest = [axis for axis in sweep.axes if axis not in (x, y)]
    how = "mean" if sweep.manifest["sweep"]["design"] == "grid" else "fitted through the cells,"
    over = f"  ·  {how} over {', '.join(rest)}" if rest else ""
    percent = ", %" if drawing.what.of_change is not None else ""
    heading = f"{capitalise(drawing.what.description)}{percent}  ·  {write_title(sweep)}{over}"
    return arrange_picture(heading, _arrange_in_rows(panels), one_legend=True)


def encode_axis(scale: Scale, cells: pl.DataFrame, room: float = 0.06, kind: Any = alt.X) -> Any:
    """Returns the encoding of a setting: numbers with their units, or names in order.

    `room` is a share of the axis that is left free at either end. Without cells the axis is from 0 to 1. The
    channel is x unless `altair.Y` is given.
    """
    known = cells.drop_nulls(scale.setting)
    places = scale.places(known)
    ticks = _choose_ticks(places, scale.is_log) if scale.column is not None else list(range(len(scale.names)))
    names = [scale.text(tick) for tick in ticks] if scale.column is not None else list(scale.names)
    low, high = (float(places.min()), float(places.max())) if len(places) else (0.0, 1.0)
    domain = _pad_range(low, high, scale.is_log, room)
    axis = alt.Axis(values=ticks, labelExpr=label_ticks(ticks, names), labelFlush=False)
    form: Any = "log" if scale.is_log else "linear"
    field = "x:Q" if kind is alt.X else "y:Q"
    return kind(field, title=scale.setting, axis=axis, scale=alt.Scale(type=form, domain=domain, nice=False))


def draw_trend(drawing: Drawing, setting: str, most: int | None = None) -> tuple[Any, list[Datum]]:
    """Returns scattered cells along a setting with the trend of each scheme, and the trend's points.

    With `most`, only every second, third, … cell is drawn if there are more. Without cells it is an empty
    chart and no points.
    """
    scale = choose_scale(drawing.sweep, drawing.cells, setting)
    dots: list[Datum] = []
    lines: list[Datum] = []
    for scheme in drawing.schemes():
        own = drawing.own(scheme, drawing.cells).drop_nulls(setting)
        if not len(own):
            continue
        places, values = scale.places(own), own[drawing.what.column].to_numpy()
        lines += [_make_trend_datum(drawing, scale, scheme, point)
                  for point in compute_trend(places, values, drawing.what, scale)]  # fmt: skip
        every = 1 if most is None else ceil(len(drawing.cells) / most)
        dots += [_make_dot(drawing, row, place)
                 for row, place in zip(own.gather_every(every).iter_rows(named=True), places[::every],
                                       strict=True)]  # fmt: skip
    if not lines:
        return empty_chart(NONE_DRAWN), []
    series, y = drawing.series, drawing.y
    x = encode_axis(scale, drawing.cells)
    tip = [alt.Tooltip("scheme:N"), alt.Tooltip("settings:N"), alt.Tooltip("text:N", title="value")]
    small, means = (
        series.filter_chosen(make_chart(data)).encode(x=x, color=series.colour()) for data in (dots, lines)
    )
    return alt.layer(
        *drawing.zero(),
        small.mark_point(opacity=0.3, size=20).encode(y=y("y", alt.Y), tooltip=tip),
        means.mark_line().encode(y=y("y", alt.Y), strokeDash=series.dash()),
        means.mark_point(opacity=1, size=60).encode(y=y("y", alt.Y), shape=series.shape(),
                                                    tooltip=[tip[0], tip[2]]),
    ), lines  # fmt: skip


def draw_field_chart(
    drawing: Drawing,
    data: Sequence[Datum],
    across: tuple[str, Sequence[str]],
    down: tuple[str, Sequence[str]],
) -> Any:
    """Returns the fields of a grid, each with its number.

    `across` and `down` are settings with their values. Each row of `data` has both as texts `x` and `y`, the
    number `value`, and a `text`. Grids of more than `MOST_NUMBERS` fields have no numbers; without data it is
    an empty chart.
    """
    if not data:
        return empty_chart(NONE_DRAWN)
    is_small = len(across[1]) * len(down[1]) <= MOST_NUMBERS
    rows = [
        {**datum, "change": drawing.height(datum["value"]), "weight": UNCLEAR_NUMBER if is_small else CLEAR,
         "label": drawing.number(datum["value"]) if is_small else ""}
        for datum in data
    ]  # fmt: skip
    step = max(1, ceil(len(across[1]) / 8))
    x = alt.X("x:N", sort=list(across[1]), title=across[0],
              axis=alt.Axis(labelAngle=0, labelFlush=False, values=list(across[1])[::step]))  # fmt: skip
    y = alt.Y("y:N", sort=list(down[1])[::-1], title=down[0])
    tip = [alt.Tooltip("x:N", title=across[0]), alt.Tooltip("y:N", title=down[0]), alt.Tooltip("text:N")]
    return draw_fields(
        rows, x, y, tip, colour=None if drawing.what.of_change is not None else _encode_sequential(drawing)
    )


def _draw_facets(drawing: Drawing, x: str | None, columns: str | None, rows: str | None) -> alt.VConcatChart:
    """Returns the picture of a grid: lines along x, panels by two other axes.

    Raises `MouseholeError` for a setting that is no axis. Axes that are not given are chosen: numbers with
    the most values along x, those of at most `MOST_PANELS` values for panels.
    """
    sweep, cells = drawing.sweep, drawing.cells
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
    scale = choose_scale(sweep, cells, x)
    panels = []
    for low in _list_values(cells, rows):
        line = []
        for left in _list_values(cells, columns):
            part = _select_cells(_select_cells(cells, columns, left), rows, low)
            titles = [
                f"{name} {_write_entry(entry)}" for name, entry in ((columns, left), (rows, low)) if name
            ]
            line.append(Panel(", ".join(titles), _draw_lines(drawing, part, scale), 230, 180))
        panels.append(line)
    rest = [axis for axis in sweep.axes if axis not in (x, columns, rows) and counts[axis] > 1]
    over = f"  ·  mean over {', '.join(rest)}" if rest else ""
    heading = f"{capitalise(drawing.what.description)} along {x}  ·  {write_title(sweep)}{over}"
    return arrange_picture(heading, panels, sweep.schemes, one_legend=True)


def _draw_trends(drawing: Drawing, settings: Sequence[str]) -> alt.VConcatChart:
    """Returns the picture of scattered cells: per axis a panel with dots and the trend of each scheme.

    Raises `MouseholeError` for a setting that is no axis; `settings` is not empty.
    """
    for name in settings:
        if name not in drawing.sweep.axes:
            raise unknown_error("x", "setting", name, drawing.sweep.axes)
    panels = [Panel("", draw_trend(drawing, name)[0], 300, 220) for name in settings]
    how = "Each dot is a cell; lines are the trend along one axis over all others."
    panels[0] = replace(panels[0], subtitle=[how])
    heading = f"{capitalise(drawing.what.description)}  ·  {write_title(drawing.sweep)}"
    return arrange_picture(heading, _arrange_in_rows(panels), drawing.sweep.schemes, one_legend=True)


def _arrange_in_rows(panels: list[Panel]) -> list[list[Panel]]:
    """Returns panels in rows: two by two for four panels, else up to three in a row."""
    across = 2 if len(panels) == 4 else min(len(panels), 3)
    return [panels[first : first + across] for first in range(0, len(panels), across)]


def _list_values(cells: pl.DataFrame, axis: str | None) -> list[Any]:
    """Returns the values on an axis in the order of the cells; None alone for no axis."""
    return [None] if axis is None else cells[axis].drop_nulls().unique(maintain_order=True).to_list()


def _select_cells(cells: pl.DataFrame, axis: str | None, entry: Any) -> pl.DataFrame:
    """Returns the cells with value `entry` on an axis, and those without any; all cells for no axis.

    A cell has no value on the axis if its scheme does not have the setting.
    """
    return cells if axis is None else cells.filter(pl.col(axis).eq_missing(entry) | pl.col(axis).is_null())


def _write_entry(entry: Any) -> str:
    """Returns a value of a setting as text."""
    return f"{entry:g}" if isinstance(entry, float) else str(entry)


def _draw_lines(drawing: Drawing, cells: pl.DataFrame, scale: Scale) -> Any:
    """Returns a panel with one line per scheme, and intervals where each point is a single cell.

    A scheme without the setting is a level line at its mean. Without cells it is an empty chart.
    """
    series, y = drawing.series, drawing.y
    flat: list[Datum] = []
    data: list[Datum] = []
    schemes = drawing.schemes()
    for number, scheme in enumerate(schemes):
        own = drawing.own(scheme, cells)
        if not len(own):
            continue
        if own[scale.setting].null_count() == len(own):  # the scheme does not have this setting
            mean = drawing.what.mean(own[drawing.what.column].to_numpy())
            flat.append({"scheme": scheme, "y": drawing.height(mean), "text": drawing.text(mean, len(own))})
            continue
        aside = DODGE * (number - (len(schemes) - 1) / 2)
        data += _list_line_data(drawing, own.drop_nulls(scale.setting), scheme, scale, aside)
    if not data and not flat:
        return empty_chart(NONE_DRAWN)
    base = series.filter_chosen(make_chart(data)).encode(
        x=encode_axis(scale, drawing.cells), color=series.colour(),
        tooltip=[alt.Tooltip("scheme:N"), alt.Tooltip("text:N", title="value")],
    )  # fmt: skip
    layers = [
        *drawing.zero(),
        base.mark_rule(strokeWidth=1.4, opacity=0.6).encode(y=y("low", alt.Y), y2="high:Q"),
        base.mark_line().encode(y=y("y", alt.Y), strokeDash=series.dash()),
        base.mark_point(opacity=1, size=55).encode(y=y("y", alt.Y), shape=series.shape()),
    ]
    if flat:
        level = series.filter_chosen(make_chart(flat)).mark_rule(strokeWidth=1.6)
        layers.append(level.encode(y=y("y", alt.Y), color=series.colour(), strokeDash=series.dash()))
    return alt.layer(*layers)


def _list_line_data(
    drawing: Drawing, own: pl.DataFrame, scheme: str, scale: Scale, aside: float
) -> list[Datum]:
    """Returns the points of a scheme's line: means over cells at the same position on the axis.

    They have intervals if each is a single cell. `aside` moves them by a share of the axis.
    """
    places = scale.places(own)
    values, lows, highs = (own[name].to_numpy() for name in (drawing.what.column, *drawing.what.ends))
    whole = scale.places(drawing.cells.drop_nulls(scale.setting))
    at = np.unique(places)
    is_single = len(at) == len(own) and own[drawing.what.ends[0]].null_count() == 0
    data = []
    for place in at:
        here = places == place
        mean = drawing.what.mean(values[here])
        ends = (lows[here][0], highs[here][0]) if is_single else (mean, mean)
        low, high = map(drawing.height, ends)
        data.append({
            "scheme": scheme, "x": _shift_place(float(place), aside, whole, scale), "y": drawing.height(mean),
            "low": low, "high": high, "text": drawing.text(mean, int(here.sum())),
        })  # fmt: skip
    return data


def _shift_place(place: float, aside: float, whole: Any, scale: Scale) -> float:
    """Returns a position moved by the share `aside` of the axis, so that intervals do not cover each other.

    `whole` are all positions on the axis. On a logarithmic scale the share is of logarithms.
    """
    low, high = float(whole.min()), float(whole.max())
    if scale.is_log:
        return round_digits(exp(log(place) + aside * (log(high) - log(low))))
    return round_digits(place + aside * (high - low))


def _pad_range(low: float, high: float, is_log: bool, share: float) -> list[float]:
    """Returns the range extended at both ends by `share` of it, on a logarithmic scale if `is_log`."""
    if is_log:
        room = exp(share * (log(high) - log(low)))
        return [low / room, high * room]
    room = share * (high - low) if low < high else 0.5
    return [low - room, high + room]


def _choose_ticks(places: Any, is_log: bool) -> list[float]:
    """Returns the ticks of an axis: the cells' own values up to six, else round numbers in their range."""
    own = np.unique(places)
    if len(own) <= 6:
        return [float(place) for place in own]
    low, high = float(own[0]), float(own[-1])
    if is_log:
        decades = range(floor(log10(low)), ceil(log10(high)) + 1)
        for steps in ((1, 2, 5), (1, 3), (1,)):
            made = [step * 10.0**decade for decade in decades for step in steps]
            shown = [place for place in made if 0.97 * low <= place <= 1.03 * high]
            if len(shown) <= 5:
                break
        return shown
    step = next(step for step in looks.steps() if (high - low) / step <= 5)
    return [round_digits(step * number, 12) for number in range(ceil(low / step), floor(high / step) + 1)]


def _make_trend_datum(drawing: Drawing, scale: Scale, scheme: str, point: Trend) -> Datum:
    """Returns the datum of a point of a trend, with its position on the axis as a label."""
    label = scale.text(point.place) if scale.column is not None else scale.names[round(point.place)]
    return {"scheme": scheme, "x": round_digits(point.place), "label": label, "y": drawing.height(point.mean),
            "text": drawing.text(point.mean, point.count)}  # fmt: skip


def _make_dot(drawing: Drawing, row: dict[str, Any], place: float) -> Datum:
    """Returns the datum of a cell's point, with its settings as text."""
    settings = ", ".join(f"{name}={row[name]}" for name in drawing.sweep.axes if row[name] is not None)
    low, high = (none_to_nan(row[end]) for end in drawing.what.ends)
    number = row[drawing.what.column]
    text = change_text(number, low, high) if drawing.what.of_change is not None else drawing.number(number)
    return {"scheme": row["scheme"], "x": round_digits(float(place)), "y": drawing.height(number),
            "settings": settings, "text": text}  # fmt: skip


def _choose_two_axes(sweep: Found, numeric: list[str], x: str | None, y: str | None) -> tuple[str, str]:
    """Returns two axes of numbers: `x` and `y` where given, else the first of `numeric` that are free.

    Raises `MouseholeError` if there are not two, or if a given one has no numbers.
    """
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


def _draw_surface(drawing: Drawing, scheme: str, x: str, y: str, value: str, against: str | None) -> Any:
    """Returns a panel: fields of a grid with their numbers, or a surface fitted to scattered cells.

    Cells with the same values on both axes are averaged. Without cells it is an empty chart.
    """
    column = drawing.what.column
    frame = drawing.sweep.surface(x, y, scheme, value, against).drop_nulls(column)
    if not len(frame):
        return empty_chart(NONE_DRAWN)
    merged = frame.group_by("x", "y", maintain_order=True).agg(pl.col(column).mean())
    places, values = (merged["x"].to_numpy(), merged["y"].to_numpy()), merged[column].to_numpy()
    across, down = (np.unique(own) for own in places)
    scales = choose_scale(drawing.sweep, drawing.cells, x), choose_scale(drawing.sweep, drawing.cells, y)
    if len(across) * len(down) > 4 * len(values) or len(across) < 2 or len(down) < 2:
        return _fit_surface(drawing, places, values, scales)
    texts = [{float(place): scale.text(float(place)) for place in own}
             for own, scale in zip((across, down), scales, strict=True)]  # fmt: skip
    data = [
        {"x": texts[0][float(left)], "y": texts[1][float(low)], "value": float(number),
         "text": drawing.number(float(number))}
        for left, low, number in zip(*places, values, strict=True)
    ]  # fmt: skip
    return draw_field_chart(drawing, data, (x, list(texts[0].values())), (y, list(texts[1].values())))


def _fit_surface(drawing: Drawing, places: tuple[Any, Any], values: Any, scales: tuple[Scale, Scale]) -> Any:
    """Returns the chart of a smooth surface through scattered cells, with the cells on it.

    It is a smoothing thin-plate spline, cut to the range of the values. Below `LEAST_CELLS` cells, or three
    values on an axis, it shows only the cells. Raises `MouseholeError` if the surface needs a library that is
    not installed.
    """
    logs = [np.log(own) if scale.is_log else own for own, scale in zip(places, scales, strict=True)]
    x = encode_axis(scales[0], drawing.cells, 0.0)
    y = encode_axis(scales[1], drawing.cells, 0.0, alt.Y)
    colour = _encode_surface_colour(drawing)
    cells = [
        {"x": round_digits(float(left)), "y": round_digits(float(low)),
         "level": drawing.height(float(number)), "text": drawing.number(float(number))}
        for left, low, number in zip(*places, values, strict=True)
    ]  # fmt: skip
    dots = make_chart(cells).encode(x=x, y=y, tooltip=[alt.Tooltip("text:N", title="value")])
    if len(values) < LEAST_CELLS or any(len(np.unique(own)) < 3 for own in logs):
        return dots.mark_point(size=70, opacity=1).encode(color=colour)
    require_extra("sweep", "a surface through scattered cells")
    from scipy.interpolate import RBFInterpolator

    points = np.column_stack([_scale_to_unit(own) for own in logs])
    smooth = RBFInterpolator(points, values, smoothing=0.05 * len(values), kernel="thin_plate_spline")
    steps = (np.arange(FINE) + 0.5) / FINE
    grid = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2)
    table = np.clip(smooth(grid), values.min(), values.max())
    heights = np.array([drawing.height(float(number)) for number in table])
    levels = np.linspace(heights.min(), heights.max(), STEPS)
    nearest = levels[np.abs(heights[:, None] - levels).argmin(axis=1)]
    begins, ends = ([_scale_back(own_steps, own, scale) for own, scale in zip(logs, scales, strict=True)]
                    for own_steps in (steps - 0.5 / FINE, np.minimum(steps + 0.6 / FINE, 1.0)))  # fmt: skip
    data = [
        {"x": begins[0][number % FINE], "x2": ends[0][number % FINE], "y": begins[1][number // FINE],
         "y2": ends[1][number // FINE], "level": round_digits(float(level), 4)}
        for number, level in enumerate(nearest)
    ]  # fmt: skip
    fine = make_chart(data).mark_rect().encode(x=x, x2="x2:Q", y=y, y2="y2:Q", color=colour)
    return alt.layer(fine, dots.mark_point(size=14, opacity=0.5, color=DIM))


def _encode_surface_colour(drawing: Drawing) -> Any:
    """Returns the encoding of levels by colour: diverging around no change for changes, else sequential.

    The diverging colours end at the 90 % quantile of changes, and at 7 % at least.
    """
    legend = alt.Legend(type="gradient", orient="right", gradientLength=200, title=None)
    if drawing.what.of_change is None:
        return _encode_sequential(drawing, legend)
    end = max(
        0.1, float(np.quantile(np.abs([drawing.height(number) for number in _list_numbers(drawing)]), 0.9))
    )
    scale = alt.Scale(domain=[-end, -end / 2, 0, end / 2, end], range=list(STRONG), interpolate="rgb",
                      clamp=True)  # fmt: skip
    legend.labelExpr, legend.values = CHANGE_LABEL, looks.ratio_ticks(-end, end)
    return alt.Color("level:Q", scale=scale, legend=legend)


def _encode_sequential(drawing: Drawing, legend: Any = None) -> Any:
    """Returns the encoding of a measure by colour: darker is more.

    The scale is logarithmic where positive numbers span more than a factor of 8. Raises `ValueError`
    without cells.
    """
    numbers = _list_numbers(drawing)
    kind: Any = "log" if numbers and min(numbers) > 0 and max(numbers) / min(numbers) > 8 else "linear"
    scale = alt.Scale(type=kind, domain=[min(numbers), max(numbers)], range=list(SEQUENTIAL), nice=False,
                      interpolate="rgb")  # fmt: skip
    if legend is None:
        return alt.Color("change:Q", scale=scale, legend=None)
    legend.labelExpr = AXIS_LABELS.get(drawing.what.unit, alt.Undefined)
    return alt.Color("level:Q", scale=scale, legend=legend)


def _list_numbers(drawing: Drawing) -> list[float]:
    """Returns the numbers of all cells that are drawn, scheme by scheme."""
    return [number for scheme in drawing.schemes()
            for number in drawing.own(scheme, drawing.cells)[drawing.what.column].to_list()]  # fmt: skip


def _scale_to_unit(own: Any) -> Any:
    """Returns numbers scaled to 0 to 1; they must have two different values."""
    return (own - own.min()) / (own.max() - own.min())


def _scale_back(steps: Any, own: Any, scale: Scale) -> list[float]:
    """Returns steps from 0 to 1 as numbers in the range of `own`; logarithms become numbers again."""
    made = own.min() + steps * (own.max() - own.min())
    return [round_digits(float(place), 6) for place in (np.exp(made) if scale.is_log else made)]
