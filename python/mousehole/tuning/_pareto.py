"""The picture of a search: the gain of one quantity against the cost of another, for all schemes."""

from collections.abc import Sequence
from math import isfinite, log2
from typing import Any

import altair as alt
import numpy as np

from mousehole.base import signed
from mousehole.charts import Panel, Series, arrange_picture, make_series
from mousehole.charts.axes import TIMES, Sides, change_axis, core_range, zero_line
from mousehole.charts.marks import Datum, draw_plane, make_chart, plane_datum, round_digits
from mousehole.charts.style import DIM, FORE
from mousehole.document import Cell, Chart, Column, Row, Table
from mousehole.tuning._results import DEFAULT, FINALIST, JudgedRow, TuneResults
from mousehole.tuning.objectives import Quantity

OTHERS = "other schemes"
"""The series of the schemes that were not searched."""
TRIED = "tried"
"""The role of a setting that was tried in the search."""
SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""Where a name may stand: right or left of its point, above or below."""
LETTER = 0.0125
"""Width of a letter of a name, as a part of the picture."""
LINE = 0.035
"""Height of a line of names, as a part of the picture."""
LEAST_SPAN = 0.15
"""The axes span at least so much on either side of zero, in powers of two."""
ROOM = 0.06
"""Room around what is shown, as a part of its extent."""


def draw_picture(found: TuneResults) -> alt.VConcatChart:
    """Returns the picture of the first objective's gain against the first price.

    The goal has a price, and something was judged.
    """
    made = make_plane_chart(found, found.goal.prices[0])
    account = found.account
    words = (
        f"large: {account.judged_replications} unseen replications, 95 % intervals; "
        f"small: settings tried, on {account.search_replications} others; hollow: schemes as they are"
    )
    panel = Panel(made.title, made.picture, 640, 460, [words])
    return arrange_picture(found.label, [[panel]], [*found.families, OTHERS])


def choose_series(found: TuneResults) -> Series:
    """Returns the series of the schemes searched, and of all others together."""
    return make_series([*found.families, OTHERS], "scheme")


def make_plane_chart(found: TuneResults, price: Quantity, place: int = 0) -> Chart:
    """Returns the chart of the first objective against a price: settings tried, and schemes judged.

    `place` numbers the figure in the page.
    """
    gain, series = found.goal.objectives[0], choose_series(found)
    tried, judged = _list_tried(found, price, gain), _list_judged(found, price, gain)
    x, y = (_Axis(axis, judged, tried) for axis in "xy")
    shown = [datum for datum in judged if x.holds(datum) and y.holds(datum)]
    beyond = _place_at_edges([datum for datum in judged if datum not in shown], x, y)
    across = change_axis(x.ends, f"{price.name} ({_write_arrows(price, '←', '→')})")
    down = change_axis(y.ends, f"{gain.name} ({_write_arrows(gain, '↓', '↑')})")
    tip = [alt.Tooltip("setting:N"), alt.Tooltip("role:N"), alt.Tooltip("y_text:N", title=gain.name),
           alt.Tooltip("x_text:N", title=price.name)]  # fmt: skip
    small = series.filter_chosen(make_chart(tried)).mark_point(opacity=0.45, clip=True, size=18)
    layers = [
        *_draw_limits(found, price, gain, across, down),
        small.encode(x=across("x"), y=down("y", alt.Y), color=series.colour(), tooltip=tip),
        *_draw_fronts(shown, series, across, down),
        draw_plane(shown, across, down, series, tip),
        *_draw_rings(shown, across, down),
        *_draw_names(_place_names(found, shown, x, y), across, down),
        *_draw_edges(beyond, series, across, down, tip),
    ]
    columns = [Column("name", is_number=False), Column("role", is_number=False),
               Column(f"{gain.name} (95 %)"), Column(f"{price.name} (95 %)")]  # fmt: skip
    rows: list[Row] = [
        [datum["name"], datum["role"], Cell(datum["y_text"], datum["y"]), Cell(datum["x_text"], datum["x"])]
        for datum in judged
    ]
    return Chart(
        f"gain-{place}",
        f"What {gain.name} gains, and what {price.name} pays",
        _describe_plane(found, bool(beyond)),
        alt.layer(*layers),
        Table(f"Changes against {found.baseline} on unseen replications", columns, rows,
              [datum["scheme"] for datum in judged]),
        height=420,
    )  # fmt: skip


class _Axis:
    """One axis: a range that shows what was judged without its outliers, and the settings tried near it."""

    def __init__(self, name: str, judged: Sequence[Datum], tried: Sequence[Datum]) -> None:
        """Computes the ends from the judged settings, without outliers; they include zero.

        For the quantiles 0.05 and 0.8 of `tried` the range grows on each side, at most by its own extent.
        Raises `IndexError` if nothing was judged.
        """
        self.name = name
        low, high = core_range([datum[name] for datum in judged] or [0.0])
        low, high = min(low, -LEAST_SPAN), max(high, LEAST_SPAN)
        near = [datum[name] for datum in tried]
        if near:
            lowest, highest = (float(np.quantile(near, share)) for share in (0.05, 0.8))
            extent = high - low
            low, high = min(low, max(lowest, low - extent)), max(high, min(highest, high + extent))
        room = ROOM * (high - low)
        self.ends = (low - room, high + room)

    def holds(self, datum: Datum) -> bool:
        """Returns whether the point is within the axis."""
        return bool(self.ends[0] <= datum[self.name] <= self.ends[1])

    def nearest(self, datum: Datum) -> float:
        """Returns the position on the axis that is nearest to the point."""
        return float(np.clip(datum[self.name], *self.ends))

    def share(self, place: float) -> float:
        """Returns a position as a part of the axis, 0 to 1 within it."""
        return (place - self.ends[0]) / (self.ends[1] - self.ends[0])


def _list_tried(found: TuneResults, price: Quantity, gain: Quantity) -> list[Datum]:
    """Returns the points of the settings that ran all replications of the search.

    A setting counts if both changes are known.
    """
    by_setting: dict[tuple[str, int], Datum] = {}
    for row in found.trials:
        if row.is_stopped or row.quantity not in (price.name, gain.name) or row.change <= -1:
            continue
        datum = by_setting.setdefault(
            (row.family, row.number), {"scheme": row.family, "setting": row.scheme, "role": TRIED}
        )
        axis = "x" if row.quantity == price.name else "y"
        if isfinite(row.change):
            datum |= {axis: round_digits(log2(1 + row.change)), f"{axis}_text": f"{signed(row.change)} %"}
    return [datum for datum in by_setting.values() if "x" in datum and "y" in datum]


def _list_judged(found: TuneResults, price: Quantity, gain: Quantity) -> list[Datum]:
    """Returns the points of the schemes that were judged, each once, if both changes are known."""
    points = []
    for scheme in dict.fromkeys(row.scheme for row in found.judged):
        across, down = (found.change(scheme, one.name) for one in (price, gain))
        if across is None or down is None or not isfinite(across.unseen.mean + down.unseen.mean):
            continue
        points.append(
            plane_datum(
                across.unseen, down.unseen, scheme=find_family(found, across),
                name=shorten_name(found, scheme), setting=scheme, role=across.role,
                recommended=scheme == found.recommended,
                filled=across.role != DEFAULT,
            )
        )  # fmt: skip
    return points


def _draw_fronts(shown: Sequence[Datum], series: Series, x: Any, y: Any) -> list[Any]:
    """Returns, as a list of one, a line for each searched scheme through its Pareto front of finalists.

    On the front no cheaper finalist gains as much. The list is empty without finalists.
    """
    kept: list[Datum] = []
    for family in dict.fromkeys(datum["scheme"] for datum in shown):
        own = sorted((datum for datum in shown if datum["scheme"] == family and datum["role"] == FINALIST),
                     key=lambda datum: datum["x"])  # fmt: skip
        lowest = float("inf")
        for datum in own:
            if datum["y"] < lowest:
                lowest = datum["y"]
                kept.append({name: datum[name] for name in ("scheme", "x", "y")})
    line = series.filter_chosen(make_chart(kept)).mark_line(strokeWidth=1.4)
    return [line.encode(x=x("x"), y=y("y", alt.Y), color=series.colour(), order="x:Q")] if kept else []


def _draw_rings(shown: Sequence[Datum], x: Any, y: Any) -> list[Any]:
    """Returns the layers of a ring with a text around the recommended setting; empty if it is not shown."""
    chosen = [{"x": datum["x"], "y": datum["y"], "text": "recommended"} for datum in shown
              if datum["recommended"]]  # fmt: skip
    if not chosen:
        return []
    base = make_chart(chosen).encode(x=x("x"), y=y("y", alt.Y))
    ring = base.mark_point(filled=False, size=420, color=FORE, strokeWidth=1.5, opacity=1)
    words = base.mark_text(dy=19, fontSize=11, color=FORE).encode(text="text:N")
    return [ring, words]


def _place_names(found: TuneResults, shown: Sequence[Datum], x: _Axis, y: _Axis) -> list[Datum]:
    """Returns the names of the schemes that were not searched, each with a side of its point.

    That is the side within the picture with the fewest other names and points. The baseline is at zero.
    """
    points = {datum["setting"]: (datum["x"], datum["y"]) for datum in shown if datum["scheme"] == OTHERS}
    points[found.baseline] = (0.0, 0.0)
    taken = [np.array([x.share(left), y.share(low)]) for left, low in points.values()]
    named = []
    for scheme, (left, low) in points.items():
        half = np.array([0.01 + LETTER * len(scheme) / 2, 0.022])
        at = np.array([x.share(left), y.share(low)])
        places = [at + np.array(side) * (half + 0.003) for side in SIDES]
        outside = [int(place[0] - half[0] < 0 or place[0] + half[0] > 1) for place in places]
        crowds = [sum(bool(np.all(np.abs(other - place) < half)) for other in taken) for place in places]
        side = min(range(len(SIDES)), key=lambda number: (outside[number], crowds[number]))
        named.append({"x": left, "y": low, "text": scheme, "side": side})
        taken.append(places[side])
    return named


def _draw_names(named: Sequence[Datum], x: Any, y: Any) -> list[Any]:
    """Returns the layers with the names of `_place_names`, one for each side that is used."""
    return [
        make_chart(own)
        .mark_text(fontSize=11.5, color=FORE, dx=9 * right, dy=-9 * above,
                   align="left" if right > 0 else "right")
        .encode(x=x("x"), y=y("y", alt.Y), text="text:N")
        for side, (right, above) in enumerate(SIDES)
        if (own := [datum for datum in named if datum["side"] == side])
    ]  # fmt: skip


def _place_at_edges(beyond: Sequence[Datum], x: _Axis, y: _Axis) -> list[Datum]:
    """Returns points beyond the axes as marks at their edges; marks that would overlap are stacked."""
    found: list[Datum] = []
    for datum in beyond:
        one = _make_edge_mark(datum, x, y)
        meet = [other for other in found if _is_overlapping(one, other, x) and other["edge"] == one["edge"]]
        step = LINE * (y.ends[1] - y.ends[0]) * len(meet)
        found.append(one | {"y": one["y"] + (step if y.share(one["y"]) < 0.5 else -step)})
    return found


def _is_overlapping(one: Datum, other: Datum, x: _Axis) -> bool:
    """Returns whether two names at the same height would overlap."""
    ends = []
    for datum in (one, other):
        at, width = x.share(datum["x"]), LETTER * len(datum["text"])
        ends.append((at, at + width) if datum["left"] else (at - width, at))
    (left, right), (start, end) = ends
    return left < end and start < right


def _make_edge_mark(datum: Datum, x: _Axis, y: _Axis) -> Datum:
    """Returns a point beyond the axes as a mark at their edge, with its name and its true changes."""
    parts = [f"{datum[f'{axis.name}_text'].partition(' (')[0]}" for axis in (x, y) if not axis.holds(datum)]
    is_left = x.share(x.nearest(datum)) < 0.5
    label = f"{datum['setting'] if datum['scheme'] == OTHERS else datum['name']} {', '.join(parts)}"
    arrow = "↑↓"[datum["y"] < y.ends[0]] if x.holds(datum) else "→←"[datum["x"] < x.ends[0]]
    text = f"{arrow} {label}" if is_left else f"{label} {arrow}"
    place = {"x": x.nearest(datum), "y": y.nearest(datum), "edge": y.nearest(datum)}
    return datum | place | {"text": text, "left": is_left}


def _draw_edges(
    beyond: Sequence[Datum], series: Series, x: Any, y: Any, tip: Sequence[alt.Tooltip]
) -> list[Any]:
    """Returns the layers with the marks of `_place_at_edges`, those at the left edge first."""
    return [
        series.filter_chosen(make_chart(own))
        .mark_text(fontSize=11.5, align="left" if is_left else "right", fontStyle="italic")
        .encode(x=x("x"), y=y("y", alt.Y), text="text:N", color=series.colour(), tooltip=list(tip))
        for is_left in (True, False)
        if (own := [datum for datum in beyond if datum["left"] == is_left])
    ]


def _draw_limits(found: TuneResults, price: Quantity, gain: Quantity, x: Any, y: Any) -> list[Any]:
    """Returns the lines of no change, and of each relative limit against the baseline."""
    lines = [zero_line(), zero_line(alt.Y)]
    for limit in found.goal.limits:
        if limit.reference not in (None, found.baseline) or not limit.is_relative or limit.change <= -1:
            continue
        one = make_chart([{"at": round_digits(log2(1 + limit.change)), "text": f"limit {limit.text}"}])
        rule = one.mark_rule(strokeDash=[5, 3], color=DIM, clip=True)
        if limit.quantity == price:
            edge = alt.value("width" if price.smaller_is_better else 0)
            area = one.mark_rect(color=DIM, opacity=0.08, clip=True).encode(x=x("at"), x2=edge)
            words = one.mark_text(angle=270, align="right", baseline="bottom", dx=-4, dy=-3, fontSize=10.5,
                                  color=DIM, clip=True)  # fmt: skip
            lines += [area, rule.encode(x=x("at")), words.encode(x=x("at"), y=alt.value(0), text="text:N")]
        elif limit.quantity == gain:
            lines.append(rule.encode(y=y("at", alt.Y)))
    return lines


def _describe_plane(found: TuneResults, has_outliers: bool) -> str:
    """Returns the sentences that explain the marks of the plane."""
    beyond = " What lies far outside is named at the edge, with its change." if has_outliers else ""
    return (
        f"Each small mark is a setting that was tried, on the search's {found.account.search_replications} "
        f"replications. Large marks are finalists, hollow ones the schemes as they are, on "
        f"{found.account.judged_replications} unseen ones with 95 % intervals. {found.baseline} is where the "
        f"lines cross.{beyond}"
    )


def letter_finalists(found: TuneResults) -> dict[str, str]:
    """Returns a letter for each finalist, A, B, C …, by its scheme.

    The order is that of the judged rows.
    """
    finalists = dict.fromkeys(row.scheme for row in found.judged if row.role == FINALIST)
    return {scheme: chr(ord("A") + place) for place, scheme in enumerate(finalists)}


def shorten_name(found: TuneResults, scheme: str) -> str:
    """Returns the letter of a finalist, or the scheme, with a star if it is recommended."""
    return letter_finalists(found).get(scheme, scheme) + (" *" if scheme == found.recommended else "")


def find_family(found: TuneResults, row: JudgedRow) -> str:
    """Returns the family of a setting, or `OTHERS` for a scheme that was not searched."""
    return row.family if row.role in (FINALIST, DEFAULT) and row.family in found.families else OTHERS


def name_sides(one: Quantity) -> Sides:
    """Returns the names of less and more of a quantity, and whether less is better."""
    return TIMES if one.source.quantity.unit == "seconds" else Sides("lower", "higher", one.smaller_is_better)


def _write_arrows(one: Quantity, less: str, more: str) -> str:
    """Returns the words for less and more of a quantity with arrows, for a title of an axis."""
    sides = name_sides(one)
    return f"{less} {sides.less}, {sides.more} {more}"
