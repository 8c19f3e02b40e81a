"""Parts of charts: changes with their intervals, the plane of gain and cost, fields with numbers."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite, log2
from typing import Any, Protocol

import altair as alt

from mousehole.base import change_text
from mousehole.charts.axes import TIMES, Encoding, Sides, change_axis, name_axis, zero_line
from mousehole.charts.style import BETTER, DIM, DIVERGING, FORE, UNCLEAR, WORSE, Series

Datum = dict[str, Any]
"""A row of a chart's data."""

UNDECIDED = "undecided"
"""The verdict on a change whose interval contains zero."""
VERDICT_SYMBOLS = ("circle", "diamond", "square")
"""Symbols of changes for the better, undecided, and for the worse."""
LEAST_RATIO = 1e-3
"""Smaller ratios are drawn as this."""
CLEAR, UNCLEAR_NUMBER, DIMMED, UNKNOWN = WEIGHTS = ("clear", "unclear", "dimmed", "unknown")
"""How numbers are written in fields: bold; as text; less important; and where there is no number."""
END = 2.0
"""The colours of changes end at a factor of four, which is this power of two."""


class Interval(Protocol):
    """An estimate or change: its mean and the ends of its interval, NaN where there is none."""

    @property
    def mean(self) -> float:
        """Returns the mean."""

    @property
    def low(self) -> float:
        """Returns the lower end, NaN without an interval."""

    @property
    def high(self) -> float:
        """Returns the upper end, NaN without an interval."""


def make_chart(values: Sequence[Datum]) -> Any:
    """Returns a chart, still without marks, whose description contains these rows as its data."""
    return alt.Chart(alt.InlineData(values=list(values)))


def empty_chart(reason: str) -> Any:
    """Returns a chart with only a text, in the lines of `reason`: why there is nothing to draw."""
    text = make_chart([{"reason": reason.split("\n")}]).mark_text(color=DIM, align="center")
    return text.encode(text="reason:N")


def draw_intervals(
    changes: Mapping[str, Interval], field: str = "scheme", sides: Sides = TIMES, legend: bool = True
) -> Any:
    """Returns the layers of changes with their intervals, one line per name, on a scale of ratios.

    Changes without a mean are left out; if none is left, the chart is a text that says so. `field` names the
    lines' column: `scheme`, of which readers choose some, or another, all of which is shown. `sides` are
    those of the quantity that changes.
    """
    better, worse = (sides.less, sides.more) if sides.less_is_better else (sides.more, sides.less)
    verdicts = {better: BETTER, UNDECIDED: UNCLEAR, worse: WORSE}
    data = [change_datum(field, name, change, sides) for name, change in changes.items()
            if isfinite(change.mean)]  # fmt: skip
    if not data:
        return empty_chart("too few transfers to compare")
    lines = make_chart(data)
    key = alt.Legend() if legend else None
    colours = alt.Scale(domain=list(verdicts), range=list(verdicts.values()))
    base = (Series(list(changes), (), (), ()).filter_chosen(lines) if field == "scheme" else lines).encode(
        y=name_axis(field, list(changes)),
        color=alt.Color("verdict:N", scale=colours, legend=key),
        tooltip=[alt.Tooltip(f"{field}:N"), alt.Tooltip("text:N", title="change (95 %)")],
    )
    x = change_axis([datum[end] for datum in data for end in ("low", "mean", "high")], sides.title)
    symbols = alt.Scale(domain=list(verdicts), range=list(VERDICT_SYMBOLS))
    return alt.layer(
        base.mark_rule(strokeWidth=3).encode(x=x("low"), x2="high:Q"),
        base.mark_point(size=110, opacity=1).encode(
            x=x("mean"), shape=alt.Shape("verdict:N", scale=symbols, legend=key)
        ),
        zero_line(),
    )


def draw_plane(
    data: Sequence[Datum], x: Encoding, y: Encoding, series: Series, tip: Sequence[alt.Tooltip]
) -> Any:
    """Returns points with intervals both ways; the lines of no change cross where the baseline is.

    Without rows the chart is a text that says so.

    Each row of `data` has `x` and `y` with the ends of their intervals (see `plane_datum`); its point is
    hollow if `filled` is there and False. What lies beyond the axes is not drawn.
    """
    if not data:
        return empty_chart("too few transfers to compare")
    base = series.filter_chosen(make_chart(data)).encode(tooltip=list(tip), color=series.colour())
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.55, clip=True)
    return alt.layer(
        zero_line(),
        zero_line(alt.Y),
        bars.encode(x=x("x_low"), x2="x_high:Q", y=y("y", alt.Y)),
        bars.encode(y=y("y_low", alt.Y), y2="y_high:Q", x=x("x")),
        *(
            base.transform_filter(f"(datum.filled !== false) === {'true' if is_filled else 'false'}")
            .mark_point(size=130, opacity=1, strokeWidth=1.8, filled=is_filled)
            .encode(x=x("x"), y=y("y", alt.Y), shape=series.shape())
            for is_filled in (False, True)
            if any(datum.get("filled", True) is is_filled for datum in data)
        ),
    )


def draw_fields(
    data: Sequence[Datum], x: alt.X, y: alt.Y, tip: Sequence[alt.Tooltip], series: Series | None = None,
    colour: alt.Color | None = None,
) -> Any:  # fmt: skip
    """Returns the layers of a heat map: fields of colour with their numbers.

    Each row of `data` has the log2 of a ratio as `change`, which gives the colour, a `label`, and as `weight`
    one of `WEIGHTS`. The colours end at a factor of four; `colour` is the encoding of other numbers.
    """
    scale = alt.Scale(domain=[-END, -END / 2, 0, END / 2, END], range=list(DIVERGING), interpolate="rgb",
                      clamp=True)  # fmt: skip
    base = make_chart(data) if series is None else series.filter_chosen(make_chart(data))
    base = base.encode(x=x, y=y, tooltip=list(tip))
    coloured = base.transform_filter(f"datum.weight != '{UNKNOWN}'").mark_rect()
    used = dict.fromkeys(datum["weight"] for datum in data)
    texts = (
        base.transform_filter(f"datum.weight == '{weight}'")
        .mark_text(fontSize=11.5, fontWeight="bold" if weight == CLEAR else "normal",
                   color=FORE if weight in (CLEAR, UNCLEAR_NUMBER) else DIM)
        .encode(text="label:N")
        for weight in used
    )  # fmt: skip
    made = colour or alt.Color("change:Q", scale=scale, legend=None)
    return alt.layer(coloured.encode(color=made), *texts)


def change_datum(field: str, name: str, change: Interval, sides: Sides = TIMES) -> Datum:
    """Returns a change on the scale of ratios, log2 of one plus the change; without an interval, its mean.

    Ratios below `LEAST_RATIO` become it.
    """
    ends = (change.low, change.high) if isfinite(change.low) else (change.mean, change.mean)
    low, high = (round_digits(log2(max(1 + end, LEAST_RATIO))) for end in ends)
    verdict = sides.less if change.high < 0 else sides.more if change.low > 0 else UNDECIDED
    return {
        field: name,
        "mean": round_digits(log2(max(1 + change.mean, LEAST_RATIO))),
        "low": low,
        "high": high,
        "verdict": verdict,
        "text": change_text(change.mean, change.low, change.high),
    }


def estimate_datum(estimate: Interval, words: Callable[..., str], is_bound: bool = False) -> Datum:
    """Returns an estimate for a chart; `words` writes a number and, with a second argument, a lower bound.

    Without an interval, both ends are the mean.
    """
    low, high = (estimate.low, estimate.high) if isfinite(estimate.low) else (estimate.mean, estimate.mean)
    return {
        "mean": round_digits(estimate.mean),
        "low": round_digits(low),
        "high": round_digits(high),
        "text": interval_text(estimate, words, is_bound),
    }


def plane_datum(x: Interval, y: Interval, **more: Any) -> Datum:
    """Returns a point of the plane: both changes on the scale of ratios, with their ends and texts.

    `more` are further columns of the row.
    """
    across, down = (change_datum("", "", change) for change in (x, y))
    places = {
        f"{axis}{end}": datum[part]
        for axis, datum in (("x", across), ("y", down))
        for end, part in (("", "mean"), ("_low", "low"), ("_high", "high"), ("_text", "text"))
    }
    return {**more, **places}


def interval_text(estimate: Interval, words: Callable[..., str], is_bound: bool = False) -> str:
    """Returns `84 ms (80…90)`, or only the mean where there is no interval."""
    mean = words(estimate.mean, True) if is_bound else words(estimate.mean)
    return f"{mean} ({words(estimate.low)}…{words(estimate.high)})" if isfinite(estimate.low) else mean


def round_digits(value: float, digits: int = 5) -> float:
    """Returns the number with this many significant digits, which is all that a chart can show."""
    return float(f"{value:.{digits}g}")
