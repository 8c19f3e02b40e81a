"""A comparison as a page: the answer, then charts, tables, the traffic, and how all was made."""

from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite

from mousehole import quantities
from mousehole._engine import Quantity
from mousehole.answer import (
    BETTER,
    NO_VERDICT,
    RECOMMENDED,
    WORSE,
    Advice,
    findings,
    is_ideal,
    notes,
    overview,
    tables,
)
from mousehole.answer.advice import advice
from mousehole.base import counted, engine_text, share_text, size_text, time_text, unit_text
from mousehole.charts.style import Series, of_schemes
from mousehole.document import (
    Block,
    Code,
    Column,
    Details,
    Document,
    Grid,
    Items,
    Prose,
    Row,
    Section,
    Table,
    Tone,
    Verdict,
)
from mousehole.document import Cell as TableCell
from mousehole.html.common import made_section, traffic_section
from mousehole.html.figures import change_cell
from mousehole.html.pictures import choices
from mousehole.inputs import replay_words
from mousehole.quantities import TableName
from mousehole.reports import _charts as report_charts
from mousehole.reports import _times as report_times
from mousehole.reports import report
from mousehole.reports._answer import is_command, of_grid
from mousehole.reports._groups import value_text
from mousehole.reports._times import time_cell
from mousehole.runs import BucketRow, Cell, ColourRow, Finding, Results, SchemeRow
from mousehole.scenario import bottleneck
from mousehole.statistics import LEAST_REPLICATIONS

OVERVIEW = ("queue_delay_p95_s", "reordered_share")
"""Quantities of schemes in the overview."""
LINK_TABLES: tuple[TableName, TableName] = ("link", "long")
"""The tables of the terminal whose quantities of schemes the page shows in one."""


def page(results: Results, command: Sequence[str] | None = None) -> Document:
    """Returns the page of a comparison; `command` is what was typed, None where Python was the caller."""
    plan = results.plan
    series = of_schemes(plan.schemes)
    link = bottleneck.words(results.manifest["scenario"])
    is_grid = len(plan.cells) > 1
    cells = [section for cell in plan.cells for section in _cell_sections(results, cell, series, is_grid)]
    return Document(
        title=f"{results.label} over {link}",
        subtitle=f"{len(plan.schemes)} schemes compared with common traffic, against {plan.baseline}; "
        f"{counted(plan.replications, 'replication')} of {plan.base['duration']}.",
        verdict=verdict([advice(results, cell)[0] for cell in plan.cells], plan.baseline),
        choices=choices(series),
        sections=[
            *([_grid_section(results, series)] if is_grid else []),
            *cells,
            *_method_sections(results),
            made_section(results.manifest, command),
        ],
        footer=f"Mousehole {engine_text()}",
    )


def verdict(found: Sequence[Advice], baseline: str) -> Verdict:
    """Returns the answer of one cell with the commands that install it, or which answer holds where."""
    if len(found) > 1:
        lines: list[str | Code] = list(of_grid(list(found), baseline))
        return Verdict(lines, "good" if any(one.outcome == RECOMMENDED for one in found) else "open")
    one = found[0]
    lines = [line for line in one.lines if not is_command(line) and not line.startswith("Install on ")]
    if one.installation is not None:
        lines.append(f"Install on {one.installation.place}:")
        lines.append(Code("\n".join(one.installation.lines), "Commands that install it"))
    tones: dict[str, Tone] = {RECOMMENDED: "good", NO_VERDICT: "open"}
    return Verdict(lines, tones.get(one.outcome, "open"))


def _grid_section(results: Results, series: Series) -> Section:
    charts = report_charts.grid_charts(results, series)
    trade = report_charts.trade_off_chart(results, results.plan.cells, series)
    return Section("grid", "Over the grid", [Grid([*charts, trade])], "Over the grid")


def _cell_sections(results: Results, cell: Cell, series: Series, is_grid: bool) -> list[Section]:
    """Returns the sections of one cell: of a grid one with its tables, otherwise all figures."""
    remarks = notes.cell_notes(results, cell)
    said: list[Block] = [Items(remarks)] if remarks else []
    if is_grid:
        name = f"cell-{results.plan.cells.index(cell)}"
        blocks = [
            overview_table(results, cell),
            *said,
            *_verdict_tables(results, cell),
            Details("All tables", _tables(results, cell)),
        ]
        return [Section(name, capital(cell.title), blocks)]
    changes = report_charts.change_charts(results, cell)
    first = [
        *changes,
        report_charts.trade_off_chart(results, [cell], series),
        report_charts.heat_chart(results, cell),
    ]
    times = [
        report_times.by_size_chart(results, cell, series),
        report_times.tail_chart(results, cell, series),
        report_times.percentile_chart(results, cell, series),
        report_times.replication_chart(results, cell, series),
    ]
    link = report_times.link_charts(results, cell, series)
    return [
        Section(
            "gain",
            "What short and long transfers gain or lose",
            [overview_table(results, cell), *said, Grid(first)],
            "Gain and loss",
        ),
        Section("verdicts", "The verdicts", _verdict_tables(results, cell), "Verdicts"),
        Section("times", "Response times", [Grid(times)], "Response times"),
        Section("link", "The link", [Grid(link)], "The link"),
        Section("tables", "All tables", _tables(results, cell), "Tables"),
    ]


def overview_table(results: Results, cell: Cell) -> Table:
    """Returns a line per scheme: short transfers against every reference, long ones, delay."""
    plan = results.plan
    short, long = size_text(plan.short_bytes), size_text(plan.long_bytes)
    references = overview.references(plan)
    columns = [
        Column("scheme", is_number=False),
        Column(f"≤ {short}: mean"),
        *(Column(f"change to {reference}") for reference in references),
        Column(f"> {long}: change to {plan.baseline}"),
        *(Column(quantities.find("scheme", name).short) for name in OVERVIEW),
    ]
    rows: list[Row] = [
        [
            f"{row.scheme}*" if is_ideal(row.scheme) else row.scheme,
            _time(row.short_response_mean_s),
            *(change_cell(row.against.get(reference)) for reference in references),
            change_cell(row.long),
            _time(row.queue_delay_p95_s),
            TableCell(
                share_text(row.reordered_share) if row.reordered_share else "none", row.reordered_share
            ),
        ]
        for row in overview.overview_rows(results, cell)
    ]
    ends = (
        "In parentheses: 95 % intervals"
        if plan.replications >= LEAST_REPLICATIONS
        else "In parentheses: the smallest and the largest change of any replication"
    )
    star = " A star marks an ideal that nobody can deploy." if any(map(is_ideal, plan.schemes)) else ""
    caption = f"Mean response time of transfers ≤ {short} and its change; {capital(cell.title)}"
    return Table(caption, columns, rows, list(plan.schemes), f"{ends}.{star}")


def _verdict_tables(results: Results, cell: Cell) -> list[Block]:
    """Returns a table per reference with every verdict in words."""
    here = findings.findings(results, cell)
    if results.plan.replications < LEAST_REPLICATIONS:
        return [Prose(f"No verdict: {findings.few_replications_text(results.plan)}.")]
    primary = [finding for finding in here if not finding.exploratory]
    others = [finding for finding in here if finding.exploratory]
    short = size_text(results.plan.short_bytes)
    return [
        _verdict_table(f"Mean response time of transfers ≤ {short}, the primary endpoint", primary),
        Details("Other endpoints, which are exploratory", [_verdict_table("Other endpoints", others)]),
        Prose(findings.exploratory_note(results.plan), "dim"),
    ]


def _verdict_table(caption: str, own: Sequence[Finding]) -> Table:
    columns = [Column(name, is_number=False) for name in ("scheme", "against", "endpoint", "verdict")]
    is_one = len({finding.endpoint for finding in own}) == 1
    rows = [_verdict_row(finding, with_endpoint=not is_one) for finding in own]
    shown = [column for column in columns if not (is_one and column.heading == "endpoint")]
    return Table(caption, shown, rows, [finding.scheme for finding in own])


def _verdict_row(finding: Finding, with_endpoint: bool) -> Row:
    endpoint = finding.sentence.partition(", ")[2].partition(f": {finding.verdict}")[0]
    tones: dict[str, Tone] = {BETTER: "good", WORSE: "bad"}
    change = finding.change.mean
    judged = TableCell(finding.verdict, change if isfinite(change) else None, tones.get(finding.outcome, ""))
    return [finding.scheme, finding.reference, *([endpoint] if with_endpoint else []), judged]


def _tables(results: Results, cell: Cell) -> list[Block]:
    """Returns the tables that `--details` prints."""
    plan = results.plan
    by_bucket: dict[str, list[BucketRow]] = {}
    for row in tables.bucket_rows(results, cell):
        by_bucket.setdefault(row.bucket.name, []).append(row)
    return [
        *_group_tables(results, cell),
        _link_table(results, cell),
        *(
            Details(f"Transfers {name}", [_bucket_table(name, rows, list(plan.schemes))])
            for name, rows in by_bucket.items()
        ),
    ]


def _bucket_table(name: str, rows: list[BucketRow], schemes: list[str]) -> Table:
    """Returns every quantity of a bucket; the change stands behind the mean it is of."""
    columns = [Column("count")]
    cells: list[Callable[[BucketRow], TableCell]] = [_count_cell]
    for quantity in quantities.shown_in("bucket", "bucket"):
        if quantity.name == report.CHANGED:
            columns += [Column(f"{quantity.short} (95 %)"), Column(report.CHANGE)]
            cells += [partial(_interval_cell, quantity), _row_change]
        else:
            columns.append(Column(quantity.short))
            cells.append(partial(_mean_cell, quantity))
    columns.append(Column("unfinished"))
    cells.append(lambda row: TableCell(share_text(row.censored_share), row.censored_share))
    lines: list[Row] = [[row.scheme, *(cell(row) for cell in cells)] for row in rows]
    return Table(
        f"Transfers {name}: response time", [Column("scheme", is_number=False), *columns], lines, schemes
    )


def _count_cell(row: BucketRow) -> TableCell:
    return TableCell(f"{row.count:,}", row.count)


def _interval_cell(quantity: Quantity, row: BucketRow) -> TableCell:
    return time_cell(row, quantity.name)


def _row_change(row: BucketRow) -> TableCell:
    return change_cell(None if row.is_baseline else row.response_mean_change)


def _mean_cell(quantity: Quantity, row: BucketRow | SchemeRow) -> TableCell:
    mean = row.estimates[quantity.name].mean
    return TableCell(unit_text(quantity.unit, mean), mean if isfinite(mean) else None)


def _link_table(results: Results, cell: Cell) -> Table:
    """Returns the quantities of a scheme at the link, with losses by colour, and of its long transfers."""
    of_link, of_long = (quantities.shown_in(name, "scheme") for name in LINK_TABLES)
    columns = [Column("scheme", is_number=False)]
    for quantity in of_link:
        columns.append(Column(quantity.short))
        if quantity.name == "loss_share":
            columns.append(Column("lost by colour", is_number=False))
    columns += [Column(f"{quantity.short} of long") for quantity in of_long]
    colours = [row for row in tables.colour_rows(results, cell) if row.counts["arrived"]]
    lines: list[Row] = []
    for row in tables.scheme_rows(results, cell):
        line: list[TableCell | str] = [row.scheme]
        for quantity in (*of_link, *of_long):
            line.append(_mean_cell(quantity, row))
            if quantity.name == "loss_share":
                line.append(_losses_by_colour([one for one in colours if one.scheme == row.scheme]))
        lines.append(line)
    return Table("The link", columns, lines, list(results.plan.schemes))


def _losses_by_colour(own: list[ColourRow]) -> str:
    by_colour = ", ".join(f"{share_text(colour.loss_share)} {colour.colour}" for colour in own)
    return by_colour if len(own) > 1 else "–"


def _group_tables(results: Results, cell: Cell) -> list[Block]:
    """Returns the figures of applications, a table per figure."""
    rows = tables.group_rows(results, cell)
    blocks: list[Block] = []
    for key in dict.fromkeys((row.group, row.what) for row in rows):
        own = [row for row in rows if (row.group, row.what) == key]
        lines: list[Row] = [
            [
                row.scheme,
                TableCell(value_text(row.what, row.value.mean), row.value.mean),
                change_cell(None if row.is_baseline else row.change),
            ]
            for row in own
        ]
        words = quantities.find("application", key[1]).axis
        columns = [Column("scheme", is_number=False), Column(words), Column(report.CHANGE)]
        caption = f"{capital(key[0])}: {words}, change against {results.plan.baseline}"
        blocks.append(Table(caption, columns, lines, [row.scheme for row in own]))
    return blocks


def _method_sections(results: Results) -> list[Section]:
    """Returns under what conditions the results came about, and the traffic as it was understood."""
    replay = tables.load_row(results, results.plan.cells[0]).replay
    words = replay_words(replay, results.manifest["scenario"], results.traffic)
    conditions = [*report.conditions(results), *([capital(words)] if words else [])]
    return [
        Section(
            "conditions", "Conditions", [Items([*conditions, findings.coverage_note(results)])], "Conditions"
        ),
        traffic_section(results.traffic),
    ]


def _time(seconds: float) -> TableCell:
    return TableCell(time_text(seconds), seconds if isfinite(seconds) else None)


def capital(text: str) -> str:
    """Returns the text with a capital first letter."""
    return text[:1].upper() + text[1:]
