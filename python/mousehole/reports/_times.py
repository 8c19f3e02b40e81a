"""The charts of a comparison's page that show times and the link, with their numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log2
from typing import Any

import altair as alt

from mousehole import quantities
from mousehole.answer import tables
from mousehole.base import share_text, signed, size_text, time_text
from mousehole.charts.axes import (
    SHARE_LABEL,
    SIZE_LABEL,
    TIME_LABEL,
    TIMES,
    Encoding,
    change_axis,
    log_axis,
    name_axis,
    zero_line,
)
from mousehole.charts.marks import Datum, empty_chart, estimate_datum, make_chart, round_digits
from mousehole.charts.style import DIM, Series
from mousehole.document import INTERVALS, Chart, Column, Row, Table
from mousehole.document import Cell as TableCell
from mousehole.html.figures import STEP, make_estimate_cell
from mousehole.reports._charts import name_figure, name_sizes
from mousehole.runs import (
    BucketRow,
    Cell,
    CurveRow,
    Plan,
    Results,
    SchemeRow,
)

Words = Callable[..., str]
"""Says a value, and with a second argument that it is a lower bound."""
LEAST_TRANSFERS = 20
"""A size bin with fewer transfers over all replications is not drawn."""
SHAPES = ("circle", "triangle-up", "square", "diamond", "cross", "triangle-down")
"""Marks of a chart's quantities, in their order."""
LEAST_TAIL = 0.0005
"""The distribution is drawn down to this share of transfers that take longer."""


def make_size_chart(results: Results, cell: Cell, series: Series) -> Chart:
    """Returns the chart and table of the mean response time by transfer size, with intervals."""
    plan = results.plan
    buckets = [bucket for bucket in plan.buckets if bucket.role == "size"]
    by_bucket = {(row.scheme, row.bucket.name): row for row in tables.bucket_rows(results, cell)}
    columns = [Column("scheme", is_number=False), *(Column(bucket.name) for bucket in buckets)]
    lines: list[Row] = [
        [scheme, *(make_time_cell(by_bucket[scheme, bucket.name], "response_mean_s") for bucket in buckets)]
        for scheme in plan.schemes
    ]
    seen = (
        "Mean time from the request to the last byte, by size; bands are 95 % intervals, dotted lines are "
        f"the limits of short and long transfers. Bins with fewer than {LEAST_TRANSFERS} transfers are left "
        "out."
    )
    return Chart(
        name_figure("by-size", results, cell),
        "Response time by transfer size",
        seen,
        _draw_curves(results, cell, series),
        Table(
            "Mean response time by transfer size (95 %)",
            columns,
            lines,
            list(plan.schemes),
            gives_way=[INTERVALS],
        ),
        height=340,
        printed="details",
    )


def _draw_curves(results: Results, cell: Cell, series: Series) -> Any:
    """Returns the chart of mean time by size, a line per scheme; empty if no bin has `LEAST_TRANSFERS`."""
    plan = results.plan
    rows = [row for row in tables.curve_rows(results, cell) if row.count >= LEAST_TRANSFERS]
    if not rows:
        return empty_chart(f"no size bin has {LEAST_TRANSFERS} transfers,\nall replications together")
    order = series.order_quiet_first()
    data = [_make_curve_datum(row) for row in sorted(rows, key=lambda row: order.index(row.scheme))]
    sizes = log_axis([datum["size"] for datum in data], "transfer size", SIZE_LABEL)
    y = log_axis(_list_ends(data), "mean response time", TIME_LABEL)
    base = series.filter_chosen(make_chart(data)).encode(x=sizes("size"), color=series.colour())
    nearest = alt.selection_point(
        nearest=True, on="pointerover", fields=["size", "scheme"], empty=False, name="over"
    )
    layers = [
        series.keep_named(base.mark_area(opacity=0.15)).encode(y=y("low", alt.Y), y2="high:Q"),
        base.mark_line().encode(y=y("mean", alt.Y), strokeDash=series.dash()),
        series.keep_named(base.mark_point(opacity=1))
        .encode(
            y=y("mean", alt.Y),
            shape=series.shape(),
            size=alt.condition(nearest, alt.value(160), alt.value(45)),
            tooltip=[
                alt.Tooltip("scheme:N"),
                alt.Tooltip("bin:N", title="size"),
                alt.Tooltip("text:N", title="mean (95 %)"),
                alt.Tooltip("count:Q", format=","),
            ],
        )
        .add_params(nearest),
        _draw_limits(plan, data).encode(x=sizes("edge")),
    ]
    return alt.layer(*layers)


def make_tail_chart(results: Results, cell: Cell, series: Series) -> Chart:
    """Returns the chart of the share of short transfers that take longer than a time, on logarithmic scales.

    Shares below `LEAST_TAIL` are not drawn. The table has percentiles.
    """
    plan = results.plan
    data: list[Datum] = []
    for scheme in series.order_quiet_first():
        own = [row for row in tables.cdf_rows(results, cell) if row.scheme == scheme]
        last = None
        for row in own:
            longer = 1 - row.share.mean
            if not isfinite(longer) or longer >= 0.9995 or longer < LEAST_TAIL or longer == last:
                continue
            last = longer
            data.append(
                {
                    "scheme": scheme,
                    "time": round_digits(row.response_s),
                    "share": round_digits(longer),
                    "text": f"{share_text(longer)} take longer than {time_text(row.response_s)}",
                }
            )
    short, _ = name_sizes(plan)
    base = series.filter_chosen(make_chart(data)).encode(
        x=log_axis([datum["time"] for datum in data], "response time", TIME_LABEL)("time"),
        y=alt.Y(
            "share:Q",
            scale=alt.Scale(type="log", domain=[LEAST_TAIL, 1], clamp=True),
            title="transfers that take longer",
            axis=alt.Axis(labelExpr=SHARE_LABEL, values=[1, 0.5, 0.2, 0.1, 0.05, 0.01, 0.005, 0.001]),
        ),
        color=series.colour(),
        tooltip=[alt.Tooltip("scheme:N"), alt.Tooltip("text:N", title="share")],
    )
    lines_and_marks = alt.layer(
        base.mark_line(interpolate="step-after").encode(strokeDash=series.dash()),
        base.mark_point(opacity=0, size=60).encode(shape=series.shape()),
    )
    drawn = lines_and_marks if data else empty_chart(f"no {short} responded\nwithin the measured windows")
    percentiles = [one for one in quantities.list_columns("short", "bucket") if one.is_percentile]
    columns = [Column("scheme", is_number=False), *(Column(one.short) for one in percentiles)]
    found = {row.scheme: row for row in tables.bucket_rows(results, cell) if row.bucket.role == "short"}
    lines: list[Row] = [
        [scheme, *(make_time_cell(found[scheme], one.name) for one in percentiles)] for scheme in plan.schemes
    ]
    seen = (
        f"The share of {short} that take longer than a time: the lower the line, the fewer wait. A line that "
        f"falls late has a long tail. It ends at {share_text(LEAST_TAIL)}."
    )
    return Chart(
        name_figure("tail", results, cell),
        "Who waits long: the tail of short transfers",
        seen,
        drawn,
        Table(f"Percentiles of the response time of {short} (95 %)", columns, lines, list(plan.schemes)),
        height=340,
    )


def make_percentile_chart(results: Results, cell: Cell, series: Series) -> Chart:
    """Returns median, mean, p95 and p99 of short transfers with their intervals, one line per scheme."""
    times = [one for one in quantities.list_columns("short", "bucket") if one.unit == "seconds"]
    rows = [row for row in tables.bucket_rows(results, cell) if row.bucket.role == "short"]
    short, _ = name_sizes(results.plan)
    return _make_figures_chart(
        name_figure("percentiles", results, cell),
        "Short transfers: median, mean, p95 and p99",
        f"Response times of {short} with 95 % intervals over replications, on a logarithmic scale.",
        f"Response time of {short} (95 %)",
        rows,
        {one.name: one.short for one in times},
        _Look("response time", time_text, "time (95 %)", SHAPES),
        series,
    )


def make_replication_chart(results: Results, cell: Cell, series: Series) -> Chart:
    """Returns the chart of each replication's mean of short transfers against the baseline in the same one.

    A replication counts if it has such transfers under both.
    """
    plan = results.plan
    base_values = results.bucket_values(cell, plan.baseline, "short", "response_mean_s")
    data: list[Datum] = []
    rows: list[Row] = []
    schemes = [scheme for scheme in plan.schemes if scheme != plan.baseline]
    for scheme in schemes:
        own = results.bucket_values(cell, scheme, "short", "response_mean_s")
        ratios = [
            (number, float(a / b))
            for number, (a, b) in enumerate(zip(own, base_values, strict=True))
            if isfinite(a) and isfinite(b) and a > 0 and b > 0
        ]
        data += [
            {
                "scheme": scheme,
                "replication": number,
                "change": round_digits(log2(ratio)),
                "text": f"{signed(ratio - 1)} %: {time_text(own[number])}, {plan.baseline} "
                f"{time_text(base_values[number])}",
            }
            for number, ratio in ratios
        ]
        shares = [ratio - 1 for _, ratio in ratios]
        faster = sum(share < 0 for share in shares)
        rows.append(
            [
                scheme,
                f"{faster} of {len(shares)}",
                _make_share_cell(min(shares, default=float("nan"))),
                _make_share_cell(max(shares, default=float("nan"))),
            ]
        )
    x = change_axis([datum["change"] for datum in data], TIMES.title)
    base = series.filter_chosen(make_chart(data)).encode(
        y=name_axis("scheme", schemes),
        color=series.colour(legend=False),
        shape=series.shape(legend=False),
        tooltip=[
            alt.Tooltip("scheme:N"),
            alt.Tooltip("replication:Q"),
            alt.Tooltip("text:N", title="change"),
        ],
    )
    layers = [zero_line(), base.mark_point(size=70, opacity=0.75).encode(x=x("change"))]
    short, _ = name_sizes(plan)
    columns = [Column("scheme", is_number=False), Column("faster in"), Column("least"), Column("greatest")]
    return Chart(
        name_figure("replications", results, cell),
        "How much replications differ",
        f"Each mark is one replication: the mean response time of {short} against {plan.baseline} with the "
        "same traffic. Marks on both sides of the line mean that the outcome hangs on the traffic.",
        alt.layer(*layers),
        Table(f"Replications against {plan.baseline}, mean response time of {short}", columns, rows, schemes),
        height=STEP * len(schemes),
    )


def list_link_charts(results: Results, cell: Cell, series: Series) -> list[Chart]:
    """Returns the charts of the bottleneck: utilisation, loss and marks, and queueing delay."""
    rows = tables.scheme_rows(results, cell)

    def chart(name: str, title: str, told: str, names: list[str], axis: str, words: Words) -> Chart:
        """Returns a chart of the quantities `names` of the link.

        Those that are 0 under every scheme are left out, unless all are.
        """
        shown = [one for one in names if any(row.estimates[one].mean for row in rows)] or names
        figures = {one: quantities.find("scheme", one).short for one in shown}
        look = _Look(axis, words, "value (95 %)", ("circle", "square"))
        place = name_figure(name, results, cell)
        return _make_figures_chart(place, title, told, f"{title} (95 %)", rows, figures, look, series)

    return [
        chart(
            "utilisation",
            "Utilisation of the link",
            "The share of the link's rate that was used in the measured windows, with 95 % intervals.",
            ["utilisation"],
            "utilisation",
            share_text,
        ),
        chart(
            "loss",
            "Packets lost and marked",
            "The share of the packets arriving at the bottleneck that were dropped, and that were marked "
            "(ECN) instead, with 95 % intervals.",
            ["loss_share", "mark_share"],
            "share of packets",
            share_text,
        ),
        chart(
            "delay",
            "Waiting in the queue",
            "How long packets wait at the bottleneck: the median and the 95th percentile, with 95 % "
            "intervals.",
            ["queue_delay_p50_s", "queue_delay_p95_s"],
            "queueing delay",
            time_text,
        ),
    ]


def make_time_cell(row: BucketRow, name: str) -> TableCell:
    """Returns a time of a bucket with its interval, marked where it is only a lower bound."""
    estimate = row.estimates[name]
    return make_estimate_cell(estimate, time_text, row.is_bound)


@dataclass(frozen=True)
class _Look:
    """How figures are drawn: their axis, the words for their values, and their symbols in order."""

    axis: str
    words: Words
    tip: str
    """What a value is called where a mark is pointed at."""
    shapes: Sequence[str]


def _make_figures_chart(
    name: str, title: str, told: str, caption: str, rows: Sequence[BucketRow] | Sequence[SchemeRow],
    figures: Mapping[str, str], look: _Look, series: Series,
) -> Chart:  # fmt: skip
    """Returns the chart and table of figures of every scheme with their intervals.

    `figures` has their headings by name. Figures without a mean are in the table only.
    """
    data = [
        {"scheme": row.scheme, "what": word, **estimate_datum(estimate, look.words, _is_bound(row))}
        for row in rows
        for figure, word in figures.items()
        if isfinite((estimate := row.estimates[figure]).mean)
    ]
    x = _choose_value_axis(data, look)
    schemes = [row.scheme for row in rows]
    base = series.filter_chosen(make_chart(data)).encode(
        y=name_axis("scheme", schemes),
        color=series.colour(legend=False),
        tooltip=[
            alt.Tooltip("scheme:N"),
            alt.Tooltip("what:N", title="figure"),
            alt.Tooltip("text:N", title=look.tip),
        ],
    )
    scale = alt.Scale(domain=list(figures.values()), range=list(look.shapes[: len(figures)]))
    legend = alt.Legend(symbolFillColor=DIM) if len(figures) > 1 else None
    layers = [
        base.mark_rule(strokeWidth=2.5).encode(x=x("low"), x2="high:Q"),
        base.mark_point(size=95, opacity=1).encode(
            x=x("mean"), shape=alt.Shape("what:N", scale=scale, legend=legend)
        ),
    ]
    columns = [Column("scheme", is_number=False), *(Column(word) for word in figures.values())]
    lines: list[Row] = [
        [row.scheme, *(make_estimate_cell(row.estimates[one], look.words, _is_bound(row)) for one in figures)]
        for row in rows
    ]
    return Chart(
        name,
        title,
        told,
        alt.layer(*layers),
        Table(caption, columns, lines, schemes),
        height=STEP * len(rows),
    )


def _is_bound(row: BucketRow | SchemeRow) -> bool:
    """Returns whether the times of a row are only lower bounds."""
    return isinstance(row, BucketRow) and row.is_bound


def _choose_value_axis(data: Sequence[Datum], look: _Look) -> Encoding:
    """Returns a function for an axis of shares, or of times: logarithmic where all of them are above zero.

    The values are shares if `look.words` writes shares.
    """
    if look.words is not share_text and all(datum["low"] > 0 for datum in data):
        return log_axis(_list_ends(data), look.axis, TIME_LABEL)
    label = SHARE_LABEL if look.words is share_text else TIME_LABEL
    axis = alt.Axis(labelExpr=label, tickCount=6)
    return lambda field: alt.X(f"{field}:Q", title=look.axis, axis=axis)


def _draw_limits(plan: Plan, data: Sequence[Datum]) -> Any:
    """Returns labelled lines at the limits of short and of long transfers that are among the sizes shown."""
    sizes = [datum["size"] for datum in data]
    limits = (plan.short_bytes, plan.long_bytes)
    edges = make_chart([
        {"edge": float(edge), "label": size_text(edge)}
        for edge in limits if sizes and min(sizes) <= edge <= max(sizes)
    ])  # fmt: skip
    words = edges.mark_text(angle=270, align="left", baseline="bottom", dx=4, dy=-2, fontSize=10, color=DIM)
    return alt.layer(
        edges.mark_rule(color=DIM, strokeDash=[2, 3], strokeWidth=1),
        words.encode(y=alt.value(alt.expr("height")), text="label:N"),
    )


def _list_ends(data: Sequence[Datum]) -> list[float]:
    """Returns the ends of intervals and the means of all rows, which an axis must show."""
    return [datum[end] for datum in data for end in ("low", "mean", "high")]


def _make_curve_datum(row: CurveRow) -> Datum:
    """Returns the datum of a point of the curve, at the geometric middle of its bin."""
    middle = (row.low_bytes * row.high_bytes) ** 0.5
    return {
        "scheme": row.scheme,
        "size": round_digits(middle),
        "count": row.count,
        "bin": f"{size_text(round_digits(row.low_bytes, 3))}–{size_text(round_digits(row.high_bytes, 3))}",
        **estimate_datum(row.response_mean_s, time_text),
    }


def _make_share_cell(share: float) -> TableCell:
    """Returns a table cell with a signed share in percent; a dash if it is not finite."""
    return TableCell(f"{signed(share)} %", share) if isfinite(share) else TableCell("–", None)
