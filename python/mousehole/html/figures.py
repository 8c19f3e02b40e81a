"""Estimates and changes in charts and tables of pages, and the chart of changes with their intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log2
from typing import Any, Protocol

import altair as alt

from mousehole.base import change_text
from mousehole.html.axes import TIMES, Sides, change_axis, name_axis, zero_line
from mousehole.html.charts import BETTER, UNCLEAR, WORSE, Series
from mousehole.html.parts import Cell, Chart, Column, Row, Table, Tone

Datum = dict[str, Any]
"""A row of a chart's data."""

STEP = 34
"""Height of a line in charts with one line per name, in pixels."""
UNTOLD = "not told apart"
"""What a change is called whose interval contains zero."""
VERDICT_SYMBOLS = ("circle", "diamond", "square")
"""Symbols of changes for the better, not told apart, and for the worse."""
LEAST_RATIO = 1e-3
"""Smaller ratios are drawn as this."""


class Interval(Protocol):
    """An estimate or change: its mean and the ends of its interval, NaN where there is none."""

    @property
    def mean(self) -> float:
        """The mean."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


def interval_chart(
    name: str,
    title: str,
    what: str,
    changes: Mapping[str, Interval],
    told: str,
    field: str = "scheme",
    sides: Sides = TIMES,
) -> Chart:
    """Returns a chart of changes with their intervals, one line per scheme, on a scale of ratios.

    `what` says what changes, for the table; `told` is what can be seen, in a sentence; `field` names what
    the lines are: schemes, which readers choose, or something else, all of which is shown. `sides` are those
    of the quantity that changes.
    """
    series = Series(list(changes), (), (), (), field)
    better, worse = (sides.less, sides.more) if sides.less_is_better else (sides.more, sides.less)
    verdicts = {better: BETTER, UNTOLD: UNCLEAR, worse: WORSE}
    data = [
        change_datum(field, name_of, change, sides)
        for name_of, change in changes.items()
        if isfinite(change.mean)
    ]
    lines = alt.Chart(alt.InlineData(values=data))
    base = (series.kept(lines) if field == "scheme" else lines).encode(
        y=name_axis(field, list(changes)),
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(domain=list(verdicts), range=list(verdicts.values())),
            legend=alt.Legend(),
        ),
        tooltip=[alt.Tooltip(f"{field}:N"), alt.Tooltip("text:N", title="change (95 %)")],
    )
    x = change_axis(
        [end for datum in data for end in (datum["low"], datum["mean"], datum["high"])], sides.title
    )
    symbols = alt.Scale(domain=list(verdicts), range=list(VERDICT_SYMBOLS))
    picture = alt.layer(
        base.mark_rule(strokeWidth=3).encode(x=x("low"), x2="high:Q"),
        base.mark_point(size=110, opacity=1).encode(
            x=x("mean"), shape=alt.Shape("verdict:N", scale=symbols, legend=alt.Legend())
        ),
        zero_line(),
    )
    columns = [Column(field, is_number=False), Column("change (95 %)")]
    rows: list[Row] = [
        [name_of, change_cell(change, sides.less_is_better)] for name_of, change in changes.items()
    ]
    return Chart(
        name,
        title,
        told,
        series.choosing(picture) if field == "scheme" else picture,
        Table(what, columns, rows, list(changes)),
        height=STEP * len(changes),
    )


@dataclass(frozen=True)
class Point:
    """A point of the plane of gain and cost."""

    scheme: str
    """Its series."""
    label: str
    """What tells it from others of the series, such as the cell or the parameters; empty if nothing does."""
    short: Interval
    """Change of the mean response time of short transfers."""
    long: Interval
    """Change of the mean response time of long transfers."""


def plane_chart(
    name: str, points: Sequence[Point], short: str, long: str, baseline: str, series: Series, what: str = ""
) -> Chart:
    """Returns what short transfers gain against what long ones pay, with intervals both ways.

    `short` and `long` say which transfers these are; `what` names the labels of the points, if they have
    some. The baseline is where the lines cross.
    """
    data = [_plane_datum(point) for point in points if isfinite(point.short.mean + point.long.mean)]
    x = change_axis(
        [datum[end] for datum in data for end in ("x", "x_low", "x_high")], f"{long} (← faster, slower →)"
    )
    y = change_axis([datum[end] for datum in data for end in ("y", "y_low", "y_high")], f"{short} (↓ faster)")
    tip = [
        alt.Tooltip("scheme:N"),
        *([alt.Tooltip("label:N", title=what)] if what and any(point.label for point in points) else []),
        alt.Tooltip("short:N", title=short),
        alt.Tooltip("long:N", title=long),
    ]
    base = series.kept(alt.Chart(alt.InlineData(values=data))).encode(tooltip=tip, color=series.colour())
    picture = alt.layer(
        zero_line(),
        zero_line(alt.Y),
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(x=x("x_low"), x2="x_high:Q", y=y("y", alt.Y)),
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=y("y_low", alt.Y), y2="y_high:Q", x=x("x")),
        base.mark_point(size=130, opacity=1).encode(x=x("x"), y=y("y", alt.Y), shape=series.shape()),
    )
    free = list(dict.fromkeys(point.scheme for point in points if point.short.high < 0 >= point.long.low))
    gained = (
        "There are no intervals."
        if not any(isfinite(point.short.low) for point in points)
        else f"Bars are 95 % intervals. Short transfers gain, and long ones do not clearly lose, under "
        f"{listed(free)}."
        if free
        else "Bars are 95 % intervals. Under nothing here do short transfers clearly gain without a clear "
        "loss of long ones."
    )
    labels = [Column(what, is_number=False)] if what and any(point.label for point in points) else []
    columns = [
        Column("scheme", is_number=False),
        *labels,
        Column(f"{short}: change (95 %)"),
        Column(f"{long}: change (95 %)"),
    ]
    rows: list[Row] = [
        [point.scheme, *([point.label] if labels else []), change_cell(point.short), change_cell(point.long)]
        for point in points
    ]
    return Chart(
        name,
        "What short transfers gain, and what long ones pay",
        f"Down is better for short transfers, left is better for long ones; {baseline} is where the lines "
        f"cross. {gained}",
        series.choosing(picture),
        Table(
            f"Change of the mean response time against {baseline}",
            columns,
            rows,
            [point.scheme for point in points],
        ),
        height=380,
    )


def _plane_datum(point: Point) -> Datum:
    x, y = (change_datum("scheme", point.scheme, change) for change in (point.long, point.short))
    return {
        "scheme": point.scheme,
        "label": point.label,
        "short": y["text"],
        "long": x["text"],
        **{end: x[part] for end, part in (("x", "mean"), ("x_low", "low"), ("x_high", "high"))},
        **{end: y[part] for end, part in (("y", "mean"), ("y_low", "low"), ("y_high", "high"))},
    }


def told(changes: Mapping[str, Interval], what: str, baseline: str) -> str:
    """Returns in words what a chart of changes of `what` shows: what is clearly faster, and what slower."""
    known = {name: change for name, change in changes.items() if isfinite(change.low)}
    faster = [name for name, change in known.items() if change.high < 0]
    slower = [name for name, change in known.items() if change.low > 0]
    sides = {"faster": faster, "slower": slower}
    parts = [f"{word} under {listed(names)}" for word, names in sides.items() if names]
    seen = f"{what[0].upper()}{what[1:]} are {' and '.join(parts)}." if parts else "No change is clear."
    if not known:
        return f"Points are changes against {baseline}; there are too few replications for intervals."
    return f"Points are changes against {baseline}, bars 95 % intervals. {seen}"


def change_datum(field: str, name: str, change: Interval, sides: Sides = TIMES) -> Datum:
    """Returns a change on the scale of ratios, log2 of one plus the change; without an interval, its mean."""
    ends = (change.low, change.high) if isfinite(change.low) else (change.mean, change.mean)
    low, high = (rounded(log2(max(1 + end, LEAST_RATIO))) for end in ends)
    verdict = sides.less if change.high < 0 else sides.more if change.low > 0 else UNTOLD
    return {
        field: name,
        "mean": rounded(log2(max(1 + change.mean, LEAST_RATIO))),
        "low": low,
        "high": high,
        "verdict": verdict,
        "text": change_text(change.mean, change.low, change.high),
    }


def estimate_datum(estimate: Interval, words: Callable[..., str], is_bound: bool = False) -> Datum:
    """Returns an estimate for a chart; `words` makes text of a number and may mark a lower bound."""
    low, high = (estimate.low, estimate.high) if isfinite(estimate.low) else (estimate.mean, estimate.mean)
    return {
        "mean": rounded(estimate.mean),
        "low": rounded(low),
        "high": rounded(high),
        "text": interval_text(estimate, words, is_bound),
    }


def change_cell(change: Interval | None, less_is_better: bool = True) -> Cell:
    """Returns a change with its interval, coloured where the interval excludes zero."""
    if change is None or not isfinite(change.mean):
        return Cell("–", None)
    tones: tuple[Tone, Tone] = ("good", "bad") if less_is_better else ("bad", "good")
    tone = tones[0] if change.high < 0 else tones[1] if change.low > 0 else ""
    return Cell(change_text(change.mean, change.low, change.high), change.mean, tone)


def estimate_cell(estimate: Interval, words: Callable[..., str], is_bound: bool = False) -> Cell:
    """Returns an estimate with its interval; a lower bound is marked."""
    known = isfinite(estimate.mean)
    return Cell(interval_text(estimate, words, is_bound) if known else "–", estimate.mean if known else None)


def interval_text(estimate: Interval, words: Callable[..., str], is_bound: bool = False) -> str:
    """Returns `84 ms (80…90)`, or only the mean where there is no interval."""
    mean = words(estimate.mean, True) if is_bound else words(estimate.mean)
    return f"{mean} ({words(estimate.low)}…{words(estimate.high)})" if isfinite(estimate.low) else mean


def listed(names: Sequence[str]) -> str:
    """Returns names in a row: `a, b and c`."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def rounded(value: float, digits: int = 5) -> float:
    """Returns the number with so many digits, which is all that a chart can show."""
    return float(f"{value:.{digits}g}")
