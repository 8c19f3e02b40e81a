"""A comparison as a document: the answer, then charts, tables, the traffic, and how all was made."""

from collections.abc import Iterable, Sequence
from typing import Literal

from mousehole.answer import (
    NO_VERDICT,
    RECOMMENDED,
    VETOED,
    Advice,
    findings,
    notes,
    overview,
    tables,
)
from mousehole.answer.advice import advice
from mousehole.base import (
    Summary,
    capitalise,
    counted,
    engine_text,
    size_text,
    time_text,
)
from mousehole.charts.style import Series, make_scheme_series
from mousehole.document import (
    Block,
    Code,
    Column,
    Details,
    Document,
    Grid,
    Items,
    Row,
    Section,
    Table,
    Verdict,
    read_block,
)
from mousehole.document import Cell as TableCell
from mousehole.html.common import make_provenance_section
from mousehole.html.figures import make_change_cell
from mousehole.html.pictures import list_choices
from mousehole.inputs import account, describe_replay
from mousehole.inputs.show import make_traffic_section
from mousehole.reports import _charts, _times
from mousehole.reports._conditions import list_conditions
from mousehole.runs import (
    Cell,
    Results,
    is_ideal,
)
from mousehole.scenario import bottleneck

ReportPart = Literal["overview", "verdicts", "applications", "tables"]
MOST_ANSWERS = 6
"""So many answers of the cells of a grid are named."""


def make_document(results: Results, command: Sequence[str] | None = None) -> Document:
    """Returns the document of a comparison.

    A grid has a section for each cell, one cell a section for each subject. `command` is the command line as
    typed, None where Python was the caller.
    """
    plan = results.plan
    series = make_scheme_series(plan.schemes)
    is_grid = len(plan.cells) > 1
    return Document(
        title=f"{results.label} over {bottleneck.describe(results.manifest['scenario'])}",
        subtitle=f"{len(plan.schemes)} schemes compared with common traffic, against {plan.baseline}; "
        f"{counted(plan.replications, plan.run_word)} of {plan.base['duration']}.",
        verdict=make_verdict([advice(results, cell)[0] for cell in plan.cells], plan.baseline),
        choices=list_choices(series),
        sections=[
            *(
                _list_grid_sections(results, series)
                if is_grid
                else _list_cell_sections(results, plan.cells[0], series)
            ),
            _make_conditions_section(results),
            make_traffic_section(results.traffic, shown="details"),
            make_provenance_section(results.manifest, command),
        ],
        footer=f"Mousehole {engine_text()}",
    )


def make_verdict(found: Sequence[Advice], baseline: str) -> Verdict:
    """Returns the answer of one cell with the commands that install it, or that of several cells.

    The second says which answer holds where, without commands. `found` is not empty. The tone is good if any
    cell has a recommendation for short transfers.
    """
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
    """Returns one line per answer that some cell of a grid has, the most frequent first.

    There are at most `MOST_ANSWERS` lines; further answers are left out.
    """
    by_answer: dict[str, list[Advice]] = {}
    for one in found:
        by_answer.setdefault(_describe_answer(one, baseline), []).append(one)
    ordered = sorted(by_answer.items(), key=lambda item: -len(item[1]))
    return [
        f"{words} in {len(own)} of {len(found)} cells: {'; '.join(_describe_cells(own))}."
        for words, own in ordered[:MOST_ANSWERS]
    ]


def _describe_answer(one: Advice, baseline: str) -> str:
    """Returns the outcome of a cell's advice as a clause."""
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


def _list_grid_sections(results: Results, series: Series) -> list[Section]:
    """Returns a section on the whole grid with the remarks on its cells, then one for each cell."""
    cells = results.plan.cells
    charts = _charts.list_grid_charts(results, series)
    trade = _charts.make_trade_off_chart(results, cells, series)
    remarks = [
        f"{capitalise(cell.title)}: {note}" for cell in cells for note in notes.cell_notes(results, cell)
    ]
    blocks = [*_list_grid_tables(results), Grid([*charts, trade]), Items(remarks, "open")]
    return [
        Section("grid", "Over the grid", blocks, "Over the grid"),
        *(
            Section(
                f"cell-{place}",
                capitalise(cell.title),
                [
                    *(report := read_cell_report(results, cell))["overview"],
                    *report["verdicts"],
                    Details("All tables", [*report["applications"], *report["tables"]]),
                ],
                shown="details",
                is_ruled=True,
            )
            for place, cell in enumerate(cells)
        ),
    ]


def _list_grid_tables(results: Results) -> list[Block]:
    """Returns the mean times by scheme and buffer, a table per class and load, with the best cell named."""
    plan = results.plan
    words: dict[Summary, str] = {
        "short": f"≤ {size_text(plan.short_bytes)}", "long": f"> {size_text(plan.long_bytes)}"
    }  # fmt: skip
    return [
        _make_grid_table(results, role, load, f"Mean response time of transfers {limit}")
        for role, limit in words.items()
        for load in plan.loads
    ]


def _make_grid_table(results: Results, role: Summary, load: float | None, title: str) -> Table:
    """Returns a table of the mean times of class `role` by scheme and buffer, at one load."""
    plan, times = results.plan, overview.grid_times(results, role, load)
    note = f"All percentages are against one cell, {plan.baseline} with buffer {plan.buffers[0]}."
    if best := overview.select_best_times(times):
        buffers = ", ".join(one.buffer for one in best)
        note = f"Smallest: {best[0].scheme} with buffer {buffers}, {time_text(best[0].mean_s)}. {note}"
    rows: list[Row] = [
        [name + "*" * is_ideal(name), *(_make_grid_cell(one) for one in times if one.scheme == name)]
        for name in plan.schemes
    ]
    columns = [Column("scheme", is_number=False), *(Column(f"buffer {buffer}") for buffer in plan.buffers)]
    at_load = "" if load is None else f", load {load:g}"
    return Table(f"{title}{at_load}", columns, rows, list(plan.schemes), note=note)


def _make_grid_cell(one: overview.GridTime) -> TableCell:
    """Returns a table cell with a time, and with its change if that is known."""
    text, change = time_text(one.mean_s), make_change_cell(one.change)
    return TableCell(text if change.value is None else f"{text}  {change.text}", one.mean_s, change.tone)


def _list_cell_sections(results: Results, cell: Cell, series: Series) -> list[Section]:
    """Returns the sections of a comparison of one cell; those without content are left out."""
    gains = [
        *_charts.list_change_charts(results, cell),
        _charts.make_trade_off_chart(results, [cell], series),
        _charts.make_heat_chart(results, cell),
    ]
    times = [
        _times.make_size_chart(results, cell, series),
        _times.make_tail_chart(results, cell, series),
        _times.make_percentile_chart(results, cell, series),
        _times.make_replication_chart(results, cell, series),
    ]
    report = read_cell_report(results, cell)
    applications = report["applications"]
    remarks = Items(notes.cell_notes(results, cell), "open")
    has_transfers = any(row.count for row in tables.bucket_rows(results, cell))
    gain = [*report["overview"], *([Grid(gains)] if has_transfers else [])]
    response = [Section("times", "Response times", [Grid(times)], "Response times")] if has_transfers else []
    return [
        *(
            [Section("gain", "What short and long transfers gain or lose", gain, "Gain and loss")]
            if gain
            else []
        ),
        Section("verdicts", "The verdicts", report["verdicts"], "Verdicts"),
        *([Section("applications", "Applications", applications, "Applications")] if applications else []),
        *response,
        Section("link", "The link", [Grid(_times.list_link_charts(results, cell, series))], "The link"),
        Section("tables", "All tables", report["tables"], "Tables", "details"),
        *([Section("remarks", "What to know of this link", [remarks], "Remarks")] if remarks.texts else []),
    ]


def read_cell_report(results: Results, cell: Cell) -> dict[ReportPart, list[Block]]:
    """Returns overview, verdicts, applications and all tables of a cell (`answer/src/report.rs`).

    A part without anything to say may be empty.
    """
    parts = results.compared(cell).report(results.plan.base["duration"])
    return {name: [read_block(block) for block in blocks] for name, blocks in parts.items()}


def _make_conditions_section(results: Results) -> Section:
    """Returns the section with the remarks of the traffic's account, load, replay and coverage."""
    replay = tables.load_row(results, results.plan.cells[0]).replay
    words = describe_replay(replay, results.manifest["scenario"], results.traffic)
    said = (
        [] if results.traffic is None else [str(remark) for remark in account.list_remarks(results.traffic)]
    )
    blocks: list[Block] = [
        *([Items(said, "open")] if said else []),
        Items(
            [
                *list_conditions(results),
                *([words] if words else []),
                findings.first_cell(results).coverage_note(),
            ],
            "dim",
        ),
    ]
    return Section("conditions", "Conditions", blocks, "Conditions")
