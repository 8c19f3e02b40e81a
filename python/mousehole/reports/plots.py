"""Whole pictures of a comparison: of one cell, of a grid, and the heat map of sizes."""

from dataclasses import replace
from textwrap import wrap

import altair as alt

from mousehole.answer import overview, tables
from mousehole.base import capitalise
from mousehole.charts import Panel, Series, arrange_picture, make_scheme_series
from mousehole.document import Chart
from mousehole.reports import _charts, _times
from mousehole.runs import Cell, Results
from mousehole.scenario import bottleneck
from mousehole.statistics import LEAST_REPLICATIONS

OTHERS = "Grey: other schemes, which the heat map names."
LOW_STEP = 20
"""Height of a line in pixels where there are many."""
WIDTH = 440
"""Pixels of a panel where there are two side by side."""


def draw_picture(results: Results) -> alt.VConcatChart:
    """Returns the picture of a comparison: the charts of its one cell, or the change over the grid."""
    return _draw_grid(results) if len(results.plan.cells) > 1 else _draw_cell(results)


def draw_heat_map(results: Results) -> alt.VConcatChart:
    """Returns the change by transfer size and scheme, a panel for each cell of the grid."""
    plan = results.plan
    rows = []
    for cell in plan.cells:
        made = _charts.make_heat_chart(results, cell)
        place = "" if len(plan.cells) == 1 else f"; {cell.title}"
        rows.append([_make_panel(made, f"{made.title}{place}", 780, wrap(made.description, 120))])
    return arrange_picture(
        _write_title(results, plan.cells[0] if len(plan.cells) == 1 else None), rows, plan.schemes
    )


def _draw_cell(results: Results) -> alt.VConcatChart:
    """Returns the charts of the first cell as one picture: times by size, the tail, and changes."""
    plan, cell = results.plan, results.plan.cells[0]
    series = _choose_series(results)
    quiet = [OTHERS] if series.named is not None else []
    bands = ["Bands: 95 % intervals."] if plan.replications >= LEAST_REPLICATIONS else []
    short, long = _charts.name_sizes(plan)
    sizes = _times.make_size_chart(results, cell, series)
    tail = _times.make_tail_chart(results, cell, series)
    changes = _charts.list_change_charts(results, cell)
    if len(plan.schemes) > overview.MANY_SCHEMES:
        changes = [replace(made, height=LOW_STEP * (len(plan.schemes) - 1)) for made in changes]
    titles = (f"{capitalise(words)}: change against {plan.baseline}" for words in (short, long))
    return arrange_picture(
        _write_title(results, cell),
        [
            [
                _make_panel(sizes, "Mean response time by transfer size", WIDTH,
                            [" ".join([*bands, *quiet])]),
                _make_panel(tail, f"{capitalise(short)}: how many wait longer", WIDTH,
                            ["The lower the line, the fewer."]),
            ],
            [_make_panel(made, title, WIDTH - 60) for made, title in zip(changes, titles, strict=True)],
        ],
        plan.schemes,
    )  # fmt: skip


def _draw_grid(results: Results) -> alt.VConcatChart:
    """Returns the change over the grid: short transfers above, long ones below, one column per load.

    It expects as many charts of short as of long transfers.
    """
    made = _charts.list_grid_charts(results, make_scheme_series(results.plan.schemes))
    half = len(made) // 2
    width = max(60 * len(results.plan.buffers), 60 * len(results.plan.loads), 240 if half > 1 else 420)
    rows = [
        [
            Panel(chart.title.removeprefix("Mean response time of "), chart.picture, width, 260)
            for chart in own
        ]
        for own in (made[:half], made[half:])
    ]
    heading = f"{_write_title(results, None)}: change of the mean response time"
    return arrange_picture(heading, rows, results.plan.schemes, one_legend=True)


def _make_panel(made: Chart, title: str, width: int, subtitle: list[str] | None = None) -> Panel:
    """Returns a panel with the picture of a chart, as high as the chart."""
    return Panel(title, made.picture, width, made.height, subtitle or [])


def _choose_series(results: Results) -> Series:
    """Returns the series of the schemes; of many, all but the references are grey."""
    schemes = results.plan.schemes
    series = make_scheme_series(schemes)
    return (
        series.quieten(overview.list_references(results)) if len(schemes) > overview.MANY_SCHEMES else series
    )


def _write_title(results: Results, cell: Cell | None) -> str:
    """Returns traffic, link and replications as text; for one cell, also its buffer and load."""
    parts = [results.label, bottleneck.describe(results.manifest["scenario"])]
    if cell is not None:
        parts.append(f"buffer {cell.buffer}")
        achieved = tables.load_row(results, cell).load_achieved
        parts += [] if achieved is None else [f"load {achieved:.2g}"]
    parts.append(f"{results.plan.replications} × {results.plan.base['duration']}")
    return "  ·  ".join(parts)
