"""Estimates and changes in tables of pages, and the charts of changes with their numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

import altair as alt

from mousehole.base import change_text
from mousehole.charts.axes import TIMES, Sides, change_axis
from mousehole.charts.marks import Interval, draw_intervals, draw_plane, interval_text, plane_datum
from mousehole.charts.style import Series
from mousehole.document.blocks import Cell, Chart, Column, Row, Table, Tone

STEP = 34
"""Height of a line in charts with one line per name, in pixels."""


def make_interval_chart(
    name: str,
    title: str,
    what: str,
    changes: Mapping[str, Interval],
    seen: str,
    field: str = "scheme",
    sides: Sides = TIMES,
) -> Chart:
    """Returns a chart of changes with their intervals, one line per name, on a scale of ratios.

    `name` is the figure's name in the page and `what` the caption of its table; `seen` describes in a
    sentence what can be seen. `field` names the lines' column: `scheme`, of which readers choose some, or
    another, all of which is shown. `sides` are those of the quantity that changes.
    """
    picture = draw_intervals(changes, field, sides)
    columns = [Column(field, is_number=False), Column("change (95 %)")]
    rows: list[Row] = [
        [name_of, make_change_cell(change, sides.less_is_better)] for name_of, change in changes.items()
    ]
    return Chart(
        name,
        title,
        seen,
        picture,
        Table(what, columns, rows, list(changes)),
        height=STEP * len(changes),
    )


@dataclass(frozen=True)
class Point:
    """A point of the plane of gain and cost."""

    scheme: str
    """Its series."""
    label: str
    """What distinguishes it from others of the series, such as its cell; empty if nothing does."""
    short: Interval
    """Change of the mean response time of short transfers."""
    long: Interval
    """Change of the mean response time of long transfers."""


def make_plane_chart(
    name: str, points: Sequence[Point], short: str, long: str, baseline: str, series: Series, what: str = ""
) -> Chart:
    """Returns the chart of the gains of short transfers against the costs of long ones, with both intervals.

    Points without a mean of both changes are in the table only. `short` and `long` name these transfers;
    `what` names the labels of the points, if they have any. The baseline is where the lines cross.
    """
    is_labelled = bool(what) and any(point.label for point in points)
    tip = [
        alt.Tooltip("scheme:N"),
        *([alt.Tooltip("label:N", title=what)] if is_labelled else []),
        alt.Tooltip("y_text:N", title=short),
        alt.Tooltip("x_text:N", title=long),
    ]
    data = [
        plane_datum(point.long, point.short, scheme=point.scheme, label=point.label)
        for point in points
        if isfinite(point.short.mean + point.long.mean)
    ]
    x = change_axis(
        [datum[end] for datum in data for end in ("x", "x_low", "x_high")], f"{long} (← faster, slower →)"
    )
    y = change_axis([datum[end] for datum in data for end in ("y", "y_low", "y_high")], f"{short} (↓ faster)")
    picture = draw_plane(data, x, y, series, tip)
    free = list(dict.fromkeys(point.scheme for point in points if point.short.high < 0 >= point.long.low))
    gained = (
        "There are no intervals."
        if not any(isfinite(point.short.low) for point in points)
        else f"Bars are 95 % intervals. Short transfers gain, and long ones do not clearly lose, under "
        f"{join_names(free)}."
        if free
        else "Bars are 95 % intervals. Under nothing here do short transfers clearly gain without a clear "
        "loss of long ones."
    )
    labels = [Column(what, is_number=False)] if is_labelled else []
    columns = [
        Column("scheme", is_number=False),
        *labels,
        Column(f"{short}: change (95 %)"),
        Column(f"{long}: change (95 %)"),
    ]
    rows: list[Row] = [
        [
            point.scheme,
            *([point.label] if labels else []),
            make_change_cell(point.short),
            make_change_cell(point.long),
        ]
        for point in points
    ]
    return Chart(
        name,
        "What short transfers gain, and what long ones pay",
        f"Down is better for short transfers, left is better for long ones; {baseline} is where the lines "
        f"cross. {gained}",
        picture,
        Table(
            f"Change of the mean response time against {baseline}",
            columns,
            rows,
            [point.scheme for point in points],
        ),
        height=380,
    )


def describe_changes(changes: Mapping[str, Interval], what: str, baseline: str) -> str:
    """Returns the sentence on a chart of changes of `what`: under which names they are faster or slower.

    Only changes whose interval excludes zero count. `what` is a plural noun, and not empty.
    """
    known = {name: change for name, change in changes.items() if isfinite(change.low)}
    faster = [name for name, change in known.items() if change.high < 0]
    slower = [name for name, change in known.items() if change.low > 0]
    sides = {"faster": faster, "slower": slower}
    parts = [f"{word} under {join_names(names)}" for word, names in sides.items() if names]
    seen = f"{what[0].upper()}{what[1:]} are {' and '.join(parts)}." if parts else "No change is clear."
    if not known:
        return f"Points are changes against {baseline}; there are too few replications for intervals."
    return f"Points are changes against {baseline}, bars 95 % intervals. {seen}"


def make_change_cell(change: Interval | None, less_is_better: bool = True) -> Cell:
    """Returns a change with its interval, coloured where the interval excludes zero.

    The text is `–`, and the value None, where there is no change: None or NaN.
    """
    if change is None or not isfinite(change.mean):
        return Cell("–", None)
    tones: tuple[Tone, Tone] = ("good", "bad") if less_is_better else ("bad", "good")
    tone = tones[0] if change.high < 0 else tones[1] if change.low > 0 else ""
    return Cell(change_text(change.mean, change.low, change.high), change.mean, tone)


def make_estimate_cell(estimate: Interval, words: Callable[..., str], is_bound: bool = False) -> Cell:
    """Returns an estimate with its interval; a lower bound is marked.

    `words` writes a number, as for `charts.interval_text`.
    """
    return Cell(interval_text(estimate, words, is_bound), estimate.mean)


def join_names(names: Sequence[str]) -> str:
    """Returns names as an enumeration, `a, b and c`; empty without names."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
