"""A comparison as a document: the answer, then charts, tables, the traffic, and how all was made."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import isfinite, nan

from mousehole import quantities
from mousehole._engine import Quantity
from mousehole.answer import (
    BETTER,
    NO_VERDICT,
    PAGES,
    RECOMMENDED,
    VETOED,
    WORSE,
    Advice,
    findings,
    notes,
    overview,
    tables,
    vetoes,
)
from mousehole.answer.advice import advice
from mousehole.base import (
    MOST_PERCENT,
    Summary,
    capitalise,
    counted,
    engine_text,
    scheme_name,
    share_text,
    size_text,
    time_text,
    unit_text,
    whole_percent,
)
from mousehole.charts.style import Series, make_scheme_series
from mousehole.document import (
    Block,
    Code,
    Column,
    Details,
    Document,
    Facts,
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
from mousehole.html.common import made_section
from mousehole.html.figures import change_cell
from mousehole.html.pictures import choices
from mousehole.inputs import account, describe_replay
from mousehole.inputs.show import traffic_section
from mousehole.quantities import TableName
from mousehole.reports import _charts, _times
from mousehole.reports._conditions import conditions
from mousehole.reports._times import time_cell
from mousehole.runs import (
    BucketRow,
    Cell,
    Change,
    ColourRow,
    Finding,
    GroupRow,
    OverviewRow,
    Results,
    SchemeRow,
    is_ideal,
)
from mousehole.scenario import bottleneck
from mousehole.statistics import LEAST_REPLICATIONS

Key = tuple[str, str]
"""An application and the name of a quantity of it."""
LINK_TABLES: tuple[TableName, TableName] = ("link", "long")
"""The quantities of schemes in the table of the link: those of the link, and those of long transfers."""
MOST_ANSWERS = 6
"""So many answers of the cells of a grid are named."""
COLUMNS_PER_TABLE = 3
"""Figures of applications beside each other."""
CHANGED = "response_mean_s"
"""The quantity of buckets whose change stands beside it."""
CHANGE = "change (95 %)"
TONES: dict[str, Tone] = {BETTER: "good", WORSE: "bad"}


def document(results: Results, command: Sequence[str] | None = None) -> Document:
    """Returns the document of a comparison; `command` is what was typed, None where Python was the caller."""
    plan = results.plan
    series = make_scheme_series(plan.schemes)
    is_grid = len(plan.cells) > 1
    return Document(
        title=f"{results.label} over {bottleneck.describe(results.manifest['scenario'])}",
        subtitle=f"{len(plan.schemes)} schemes compared with common traffic, against {plan.baseline}; "
        f"{counted(plan.replications, plan.run_word)} of {plan.base['duration']}.",
        verdict=verdict([advice(results, cell)[0] for cell in plan.cells], plan.baseline),
        choices=choices(series),
        sections=[
            *(_grid_sections(results, series) if is_grid else _cell_sections(results, plan.cells[0], series)),
            _conditions_section(results),
            traffic_section(results.traffic, shown="details"),
            made_section(results.manifest, command),
        ],
        footer=f"Mousehole {engine_text()}",
    )


def verdict(found: Sequence[Advice], baseline: str) -> Verdict:
    """Returns the answer of one cell with the commands that install it, or which answer holds where."""
    if len(found) > 1:
        lines: list[str | Code] = list(summarise_grid(found, baseline))
        return Verdict(lines, "good" if any(one.outcome == RECOMMENDED for one in found) else "open")
    one, way = found[0], found[0].installation
    commands = set(way.lines) if way else set()
    lines = [line for line in one.lines if line not in commands and not line.startswith("Install on ")]
    if way is not None:
        lines += [f"Install on {way.place}:", Code("\n".join(way.lines), "Commands that install it")]
    return Verdict(lines, "good" if one.outcome == RECOMMENDED else "open")


def summarise_grid(found: Sequence[Advice], baseline: str) -> list[str]:
    """Returns one line per answer that some cell of a grid has, the most frequent first."""
    by_answer: dict[str, list[Advice]] = {}
    for one in found:
        by_answer.setdefault(_describe_answer(one, baseline), []).append(one)
    ordered = sorted(by_answer.items(), key=lambda item: -len(item[1]))
    return [
        f"{words} in {len(own)} of {len(found)} cells: {'; '.join(_describe_cells(own))}."
        for words, own in ordered[:MOST_ANSWERS]
    ]


def _describe_answer(one: Advice, baseline: str) -> str:
    """Returns the outcome in a clause."""
    if one.classes:
        return f"{one.scheme} is recommended for {', '.join(one.classes)}"
    if one.outcome == RECOMMENDED:
        return f"{one.scheme} is best"
    if one.outcome == VETOED:
        return f"What beats {baseline} makes others pay"
    return "No verdict" if one.outcome == NO_VERDICT else f"Nothing is shown to beat {baseline}"


def _describe_cells(cells: Iterable[Advice]) -> list[str]:
    """Returns the cells by load, with the buffers of each: `buffer 20p, 50p at load 0.9`."""
    by_load: dict[float | None, list[str]] = {}
    for one in cells:
        by_load.setdefault(one.load, []).append(one.buffer)
    return [
        f"buffer {', '.join(buffers)}" + ("" if load is None else f" at load {load:g}")
        for load, buffers in by_load.items()
    ]


def _grid_sections(results: Results, series: Series) -> list[Section]:
    """Returns the grid as a whole with what to know of its cells, then each cell with its tables."""
    cells = results.plan.cells
    charts = _charts.grid_charts(results, series)
    trade = _charts.trade_off_chart(results, cells, series)
    remarks = [
        f"{capitalise(cell.title)}: {note}" for cell in cells for note in notes.cell_notes(results, cell)
    ]
    blocks = [*_grid_tables(results), Grid([*charts, trade]), Items(remarks, "open")]
    return [
        Section("grid", "Over the grid", blocks, "Over the grid"),
        *(
            Section(
                f"cell-{place}",
                capitalise(cell.title),
                [
                    *overview_blocks(results, cell),
                    *_verdict_blocks(results, cell),
                    Details("All tables", [*_application_blocks(results, cell), *_tables(results, cell)]),
                ],
                shown="details",
                is_ruled=True,
            )
            for place, cell in enumerate(cells)
        ),
    ]


def _grid_tables(results: Results) -> list[Block]:
    """Returns the mean times by scheme and buffer, a table per load, with the best cell named."""
    plan = results.plan
    words: dict[Summary, str] = {
        "short": f"≤ {size_text(plan.short_bytes)}", "long": f"> {size_text(plan.long_bytes)}"
    }  # fmt: skip
    return [
        _grid_table(results, role, load, f"Mean response time of transfers {limit}")
        for role, limit in words.items()
        for load in plan.loads
    ]


def _grid_table(results: Results, role: Summary, load: float | None, title: str) -> Table:
    """Returns the mean times of a class by scheme and buffer."""
    plan, times = results.plan, overview.grid_times(results, role, load)
    note = f"All percentages are against one cell, {plan.baseline} with buffer {plan.buffers[0]}."
    if best := overview.select_best_times(times):
        buffers = ", ".join(one.buffer for one in best)
        note = f"Smallest: {best[0].scheme} with buffer {buffers}, {time_text(best[0].mean_s)}. {note}"
    rows: list[Row] = [
        [mark_ideal(scheme), *(_grid_cell(one) for one in times if one.scheme == scheme)]
        for scheme in plan.schemes
    ]
    columns = [Column("scheme", is_number=False), *(Column(f"buffer {buffer}") for buffer in plan.buffers)]
    at_load = "" if load is None else f", load {load:g}"
    return Table(f"{title}{at_load}", columns, rows, list(plan.schemes), note=note)


def _grid_cell(one: overview.GridTime) -> TableCell:
    return _changed_cell(time_text(one.mean_s), one.mean_s, change_cell(one.change))


def _changed_cell(text: str, number: float, change: TableCell) -> TableCell:
    """Returns a number with its change, if that is known."""
    return TableCell(text if change.value is None else f"{text}  {change.text}", number, change.tone)


def _cell_sections(results: Results, cell: Cell, series: Series) -> list[Section]:
    """Returns the sections of a comparison of one cell."""
    gains = [
        *_charts.change_charts(results, cell),
        _charts.trade_off_chart(results, [cell], series),
        _charts.heat_chart(results, cell),
    ]
    times = [
        _times.by_size_chart(results, cell, series),
        _times.tail_chart(results, cell, series),
        _times.percentile_chart(results, cell, series),
        _times.replication_chart(results, cell, series),
    ]
    applications = _application_blocks(results, cell)
    remarks = Items(notes.cell_notes(results, cell), "open")
    has_transfers = _has_transfers(results, cell)
    gain = [*overview_blocks(results, cell), *([Grid(gains)] if has_transfers else [])]
    response = [Section("times", "Response times", [Grid(times)], "Response times")] if has_transfers else []
    return [
        *(
            [Section("gain", "What short and long transfers gain or lose", gain, "Gain and loss")]
            if gain
            else []
        ),
        Section("verdicts", "The verdicts", _verdict_blocks(results, cell), "Verdicts"),
        *([Section("applications", "Applications", applications, "Applications")] if applications else []),
        *response,
        Section("link", "The link", [Grid(_times.link_charts(results, cell, series))], "The link"),
        Section("tables", "All tables", _tables(results, cell), "Tables", "details"),
        *([Section("remarks", "What to know of this link", [remarks], "Remarks")] if remarks.texts else []),
    ]


def _has_transfers(results: Results, cell: Cell) -> bool:
    return any(row.count for row in tables.bucket_rows(results, cell))


def overview_blocks(results: Results, cell: Cell) -> list[Block]:
    """Returns a line per scheme: short transfers against every reference, long ones, pages, delay."""
    plan = results.plan
    table = [_overview_table(results, cell)] if _has_transfers(results, cell) else []
    if plan.replications >= LEAST_REPLICATIONS:
        return list(table)
    give = "gives" if plan.replications == 1 else "give"
    looked = (
        f"A quick look: {counted(plan.replications, plan.run_word)} of {plan.base['duration']} {give} no "
        f"interval and no verdict. In parentheses: the smallest and the largest change of any "
        f"{plan.run_word}."
    )
    return [*table, Prose(looked, "open")]


def _overview_table(results: Results, cell: Cell) -> Table:
    """Returns a row per scheme, with the columns that any scheme needs."""
    plan, rows = results.plan, overview.overview_rows(results, cell)
    short, long = size_text(plan.short_bytes), size_text(plan.long_bytes)
    references = overview.list_references(results)
    pages = {row.scheme: row.value.mean for row in _group_rows(results, cell, lambda key: key == PAGES)}
    columns = [
        Column("scheme", is_number=False),
        Column("mean"),
        *(Column(f"change\nto {reference}") for reference in references),
        Column(f"> {long}\nto {plan.baseline}"),
        *([Column("page\nmean")] if pages else []),
        Column("delay\np95"),
    ]
    lines: list[Row] = [
        [
            mark_ideal(row.scheme),
            _time(row.short_response_mean_s),
            *(whole_change_cell(row.against.get(reference)) for reference in references),
            whole_change_cell(row.long),
            *([_time(pages[row.scheme])] if pages else []),
            # On the empty link a packet waits for packets of its own connection only.
            _time(nan if scheme_name(row.scheme) == "empty" else row.queue_delay_p95_s),
        ]
        for row in rows
    ]
    stars = [scheme for scheme in plan.schemes if is_ideal(scheme)]
    ideal = f"* {', '.join(stars)}: ideals that nobody can deploy. " if stars else ""
    return Table(
        f"Transfers ≤ {short}: mean response time and its change, %",
        columns,
        lines,
        list(plan.schemes),
        ends="In parentheses: 95 % intervals." if plan.replications >= LEAST_REPLICATIONS else "",
        note=f"{ideal}{_reordering_text(rows)}",
        gives_way=["delay\np95", "change\nto red", "page\nmean"],
    )


def _reordering_text(rows: Sequence[OverviewRow]) -> str:
    """Returns which schemes reordered packets of a flow."""
    found = [f"{row.scheme} {share_text(row.reordered_share)}" for row in rows if row.reordered_share]
    if not found:
        return "No scheme reordered the packets of a flow."
    return (
        f"Data packets that a later packet of their flow overtook: {', '.join(found)}; other schemes: none."
    )


def mark_ideal(scheme: str) -> str:
    """Returns the scheme's name, with a star if it is an ideal."""
    return f"{scheme}*" if is_ideal(scheme) else scheme


def whole_change_cell(change: Change | None) -> TableCell:
    """Returns `−32 (−36…−28)` in whole percent, in colour if both ends have the same sign."""
    if change is None or not isfinite(change.mean):
        return TableCell("–", None)
    mean, low, high = (_whole(value) for value in (change.mean, change.low, change.high))
    return TableCell(f"{mean} ({low}…{high})", change.mean, change_cell(change).tone)


def _whole(share: float) -> str:
    return f">+{MOST_PERCENT}" if 100 * share > MOST_PERCENT else whole_percent(share)


def _verdict_blocks(results: Results, cell: Cell) -> list[Block]:
    """Returns the schemes by their verdict for each reference, then every verdict in words, and who pays."""
    plan = results.plan
    if plan.replications < LEAST_REPLICATIONS:
        few = Prose(f"No verdict: {results.compared(cell).few_replications_text('')}.")
        return [Details("Every verdict", [few], is_open=True), *_payers_blocks(results, cell)]
    here = findings.findings(results, cell)
    first = results.primary(cell)
    what = (
        f"{first.quantity.long} of {results.compared(cell).describe_primary()}"
        if first.kind is None
        else results.compared(cell).describe_primary()
    )
    groups: list[Block] = []
    for reference in dict.fromkeys(finding.reference for finding in here):
        found = overview.verdict_groups([finding for finding in here if finding.reference == reference])
        groups.append(
            Facts(
                [(outcome, ", ".join(schemes)) for outcome, schemes in found],
                f"Against {reference}, {what}:",
                [TONES.get(outcome, "") for outcome, _ in found],
            )
        )
    primary = [finding for finding in here if not finding.exploratory]
    others = [finding for finding in here if finding.exploratory]
    return [
        *groups,
        Details("Every verdict", [_primary_table(primary, what, size_text(plan.short_bytes))], is_open=True),
        *_payers_blocks(results, cell),
        Details(
            "Other endpoints, which are exploratory",
            [
                _secondary_table(others),
                Prose(findings.first_cell(results).exploratory_note(), "dim"),
            ],
        ),
    ]


def _payers_blocks(results: Results, cell: Cell) -> list[Block]:
    """Returns who pays how much under which scheme, or may; nothing where nobody does."""
    found = vetoes.vetoes(results, cell)
    if not found:
        return []
    columns = [Column(name, is_number=False) for name in ("scheme", "who pays how much", "shown")]
    lines: list[Row] = [[one.scheme, one.text, "yes" if one.binds else "no: may pay"] for one in found]
    reference = vetoes.reference(results.plan)
    caption = f"Who pays beyond the margins, against {reference}"
    return [Details("Who pays", [Table(caption, columns, lines, [one.scheme for one in found])])]


def _primary_table(own: Sequence[Finding], what: str, short: str) -> Table:
    """Returns the findings on the primary endpoint."""
    columns = [Column("scheme", is_number=False), Column("against", is_number=False),
               Column("verdict", is_number=False), Column("faster"), Column("slower")]  # fmt: skip
    lines: list[Row] = [
        [finding.scheme, finding.reference, _verdict_cell(finding),
         *(TableCell(share_text(share), share) for share in (finding.faster_share, finding.slower_share))]
        for finding in own
    ]  # fmt: skip
    caption = f"{capitalise(what)}, the primary endpoint"
    note = f"Faster and slower: shares of the same transfers ≤ {short}, where the traffic is the same."
    return Table(caption, columns, lines, [finding.scheme for finding in own], note=note)


def _secondary_table(own: Sequence[Finding]) -> Table:
    """Returns the findings on all other endpoints."""
    columns = [Column(name, is_number=False) for name in ("scheme", "against", "endpoint", "verdict")]
    lines: list[Row] = [
        [finding.scheme, finding.reference, finding.endpoint_words, _verdict_cell(finding)] for finding in own
    ]
    return Table("Other endpoints", columns, lines, [finding.scheme for finding in own])


def _verdict_cell(finding: Finding) -> TableCell:
    return TableCell(finding.verdict, finding.change.mean, TONES.get(finding.outcome, ""))


def _tables(results: Results, cell: Cell) -> list[Block]:
    """Returns the tables that `--details` prints."""
    plan = results.plan
    by_bucket: dict[str, list[BucketRow]] = {}
    for row in tables.bucket_rows(results, cell):
        by_bucket.setdefault(row.bucket.name, []).append(row)
    return [
        *_group_tables(results, cell, lambda key: key == PAGES),
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
        if quantity.name == CHANGED:
            columns += [Column(f"{quantity.short} (95 %)"), Column(CHANGE)]
            cells += [partial(_interval_cell, quantity), _row_change]
        else:
            columns.append(Column(quantity.short))
            cells.append(partial(_mean_cell, quantity))
    columns.append(Column("unfinished"))
    cells.append(lambda row: TableCell(share_text(row.censored_share), row.censored_share))
    lines: list[Row] = [[row.scheme, *(cell(row) for cell in cells)] for row in rows]
    return Table(
        f"Transfers {name}: response time",
        [Column("scheme", is_number=False), *columns],
        lines,
        schemes,
        gives_way=["unfinished", "transfer"],
    )


def _count_cell(row: BucketRow) -> TableCell:
    return TableCell(f"{row.count:,}", row.count)


def _interval_cell(quantity: Quantity, row: BucketRow) -> TableCell:
    return time_cell(row, quantity.name)


def _row_change(row: BucketRow) -> TableCell:
    return change_cell(None if row.is_baseline else row.response_mean_change)


def _mean_cell(quantity: Quantity, row: BucketRow | SchemeRow) -> TableCell:
    mean = row.estimates[quantity.name].mean
    return TableCell(unit_text(quantity.unit, mean), mean)


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


def _application_blocks(results: Results, cell: Cell) -> list[Block]:
    """Returns what users of applications feel first, then other figures; the overview has those of pages."""
    rows = _group_rows(results, cell, lambda key: key != PAGES)
    first = {(row.group, row.what) for row in rows if row.is_primary}
    rest = {(row.group, row.what) for row in rows} - first
    others = _group_tables(results, cell, lambda key: key in rest)
    return [
        *_group_tables(results, cell, lambda key: key in first),
        *([Details("Other figures of applications", others)] if others else []),
    ]


def _group_tables(results: Results, cell: Cell, is_wanted: Callable[[Key], bool]) -> list[Block]:
    """Returns the figures of applications with their changes, a few columns per table."""
    plan, rows = results.plan, _group_rows(results, cell, is_wanted)
    keys = list(dict.fromkeys((row.group, row.what) for row in rows))
    by_place = {(row.scheme, row.group, row.what): row for row in rows}
    caption = f"By application, change against {plan.baseline}"
    blocks: list[Block] = []
    for first in range(0, len(keys), COLUMNS_PER_TABLE):
        own = keys[first : first + COLUMNS_PER_TABLE]
        columns = [Column(f"{group}: {quantities.find('application', what).axis}") for group, what in own]
        lines: list[Row] = [
            [scheme, *(_group_cell(by_place[scheme, *key]) for key in own)] for scheme in plan.schemes
        ]
        heading = f"{caption}{', continued' if first else ''}"
        scheme = Column("scheme", is_number=False)
        blocks.append(Table(heading, [scheme, *columns], lines, list(plan.schemes)))
    return blocks


def _group_rows(results: Results, cell: Cell, is_wanted: Callable[[Key], bool]) -> list[GroupRow]:
    return [row for row in tables.group_rows(results, cell) if is_wanted((row.group, row.what))]


def _group_cell(row: GroupRow) -> TableCell:
    """Returns `547 ms  −2.9 % (−16…+12)`: the figure, and its change against the baseline."""
    quantity = quantities.find("application", row.what)
    change = change_cell(None if row.is_baseline else row.change, quantity.less_is_better)
    return _changed_cell(unit_text(quantity.unit, row.value.mean), row.value.mean, change)


def _conditions_section(results: Results) -> Section:
    """Returns what the account of the traffic remarks, and how the load and the replay came about."""
    replay = tables.load_row(results, results.plan.cells[0]).replay
    words = describe_replay(replay, results.manifest["scenario"], results.traffic)
    said = [] if results.traffic is None else [str(remark) for remark in account.remarks(results.traffic)]
    blocks: list[Block] = [
        *([Items(said, "open")] if said else []),
        Items(
            [*conditions(results), *([words] if words else []), findings.first_cell(results).coverage_note()],
            "dim",
        ),
    ]
    return Section("conditions", "Conditions", blocks, "Conditions")


def _time(seconds: float) -> TableCell:
    return TableCell(time_text(seconds), seconds)
