"""A comparison over days as a document: the answer, the days' effects, how much days differ."""

from collections.abc import Sequence
from math import isfinite

from mousehole.base import capitalise, capped, engine_text, share_text
from mousehole.charts import Series, make_scheme_series
from mousehole.days import _days as days
from mousehole.days._days import LEAST_DAYS, Day, DayEffect, DaysFinding
from mousehole.document import (
    Block,
    Chart,
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
    Verdict,
)
from mousehole.document import Cell as TableCell
from mousehole.html.common import make_provenance_section
from mousehole.html.figures import Point, make_change_cell, make_interval_chart, make_plane_chart
from mousehole.html.pictures import list_choices
from mousehole.inputs.show import make_traffic_section
from mousehole.reports import list_conditions, name_sizes, read_cell_report
from mousehole.runs import Cell
from mousehole.scenario import bottleneck

PRIMARY, LONG = "short_response_mean_s", "long_response_mean_s"
OVER_DAYS, ANOTHER_DAY = "over all days", "another day"


def make_document(own: Sequence[Day], command: Sequence[str] | None = None) -> Document:
    """Returns the document of a comparison over days.

    `command` is the command line as typed, None where Python was the caller.
    """
    plan = own[0].results.plan
    series = make_scheme_series(plan.schemes)
    return Document(
        title=write_title(own),
        subtitle=f"{', '.join(day.name for day in own)}; "
        f"{len(plan.schemes)} schemes against {plan.baseline}.",
        verdict=_make_verdict(own),
        choices=list_choices(series),
        sections=[
            *(section for cell in plan.cells for section in _list_cell_sections(own, cell, series)),
            Section("each-day", "Each day by itself", _list_day_blocks(own), "Each day", "details"),
            make_provenance_section(days.collect_manifests(own), command),
        ],
        footer=f"Mousehole {engine_text()}",
    )


def write_title(own: Sequence[Day]) -> str:
    """Returns the title: the number of days, and the link."""
    return f"{len(own)} days over {bottleneck.describe(own[0].results.manifest['scenario'])}"


def _make_verdict(own: Sequence[Day]) -> Verdict:
    """Returns the answers of all cells with the commands of installation.

    The tone is good if the answer of any cell names a best scheme, else open.
    """
    plan = own[0].results.plan
    lines: list[str | Code] = []
    is_good = False
    for cell in plan.cells:
        found, way = days.answer_over_days(own, cell)
        lines += [f"{capitalise(cell.title)}: {found[0]}", *found[1:]] if len(plan.cells) > 1 else found
        if way is not None:
            lines += [f"Install on {way.place}:", Code("\n".join(way.lines), "Commands that install it")]
        is_good = is_good or found[0].startswith("Best")
    return Verdict(lines, "good" if is_good else "open")


def _list_cell_sections(own: Sequence[Day], cell: Cell, series: Series) -> list[Section]:
    """Returns the sections of a cell: over all days, how days differ, and the verdicts."""
    plan = own[0].results.plan
    found = [item for item in days.find_over_days(own, cell) if item.reference == plan.baseline]
    primary = [item for item in found if item.endpoint == PRIMARY]
    long = {item.scheme: item for item in found if item.endpoint == LONG}
    is_grid = len(plan.cells) > 1
    at = f", {cell.title}" if is_grid else ""
    number = f"-{plan.cells.index(cell)}" if is_grid else ""
    short_words, long_words = name_sizes(plan)
    notes = days.list_day_notes(own, cell)
    points = [
        Point(item.scheme, "", item.change, long[item.scheme].change)
        for item in primary
        if item.scheme in long
    ]
    over = Grid([
        make_interval_chart(
            f"over-days{number}", f"Short transfers over {len(own)} days",
            f"Change of the mean response time of {short_words} against {plan.baseline} over days",
            {item.scheme: item.change for item in primary}, _describe_points(own),
        ),
        make_plane_chart(
            f"trade-off{number}", points, short_words,
                long_words,
            plan.baseline, series.without(plan.baseline),
        ),
    ])  # fmt: skip
    single = Grid([_make_forest_chart(item, f"day-effects{number}-{place}", short_words)
                   for place, item in enumerate(primary)])  # fmt: skip
    few = f"{len(own)} days give no interval over days; at least {LEAST_DAYS} are needed."
    words = [(primary, short_words), (list(long.values()), long_words)]
    tables = [
        _make_over_table(items, f"Mean response time of {what} against {plan.baseline}")
        for items, what in words
        if items
    ]
    return [
        Section(f"over{number}", f"Over all days{at}", [
            *tables, Items([*([few] if len(own) < LEAST_DAYS else []), *notes], "open"), over,
            Prose(days.DAYS_NOTE, "dim"),
        ], f"Over days{at}", is_ruled=is_grid),
        Section(f"days{number}", f"How much days differ{at}", [
            single, _make_difference_table(primary),
            *(_make_effects_table(items, what) for items, what in words if items),
        ], f"How days differ{at}"),
        Section(f"verdicts{number}", f"The verdicts{at}",
                [_make_sentence_table(days.find_over_days(own, cell))],
                f"Verdicts{at}", "details"),
    ]  # fmt: skip


def _describe_points(own: Sequence[Day]) -> str:
    """Returns the sentence that explains points and bars of the chart over days."""
    if len(own) < LEAST_DAYS:
        return f"Points are means over days. There are no intervals: {len(own)} days are too few."
    return "Points are means over days, bars 95 % intervals over days: each day counts once."


def _make_forest_chart(item: DaysFinding, name: str, words: str) -> Chart:
    """Returns the chart of a scheme's change on each day with the day's own interval.

    The changes over all days and on another day follow if they have intervals. `words` names the transfers.
    """
    changes = {effect.day: effect.change for effect in item.effects}
    if item.change.has_interval:
        changes[OVER_DAYS] = item.change
        changes[ANOTHER_DAY] = item.another_day
    seen = days.describe_heterogeneity(item)
    title = f"{item.scheme}: {words} on each day"
    what = f"Change of the mean response time of {words} under {item.scheme} against {item.reference}"
    return make_interval_chart(
        name, title, what, changes, f"Bars are each day's own 95 % interval. {seen}", "day"
    )


def _make_over_table(items: Sequence[DaysFinding], caption: str) -> Table:
    """Returns a table with a row per scheme: its change over days and on another day, and the verdict."""
    columns = [
        Column("scheme", is_number=False), Column("over days (95 %)"), Column("another day (95 %)"),
        Column("days that are faster"), Column("verdict", is_number=False),
    ]  # fmt: skip
    rows: list[Row] = []
    for item in items:
        known = item.known
        faster = sum(effect.change.mean < 0 for effect in known)
        rows.append([
            item.scheme, make_change_cell(item.change),
            TableCell(write_prediction(item), item.another_day.low),
            TableCell(f"{faster} of {len(known)}", float(faster)), item.verdict,
        ])  # fmt: skip
    narrow = ("verdict", "days that are faster")
    return Table(caption, columns, rows, [item.scheme for item in items], gives_way=narrow)


def _make_difference_table(items: Sequence[DaysFinding]) -> Table:
    """Returns a table of the heterogeneity of each scheme's effects: I², deviation, Q and p."""
    columns = [
        Column("scheme", is_number=False), Column("I²"), Column("deviation between days"), Column("Q"),
        Column("degrees of freedom"), Column("p"),
    ]  # fmt: skip
    rows: list[Row] = []
    for item in items:
        one = item.heterogeneity
        rows.append(
            [item.scheme, *[TableCell("–", None)] * 5] if one is None else [
                item.scheme, TableCell(share_text(one.i_squared), one.i_squared),
                TableCell(f"{one.deviation:.2g}", one.deviation), TableCell(f"{one.q:.3g}", one.q),
                TableCell(str(one.freedom), one.freedom), TableCell(f"{one.p_value:.2g}", one.p_value),
            ]
        )  # fmt: skip
    note = (
        "I² is the share of the variance between the days' changes that their own intervals do not explain "
        "(Higgins & Thompson 2002); the deviation is that of the true logarithms of ratios (DerSimonian & "
        "Laird 1986); Q tests whether all days have the same change (Cochran 1954). With few days all are "
        "uncertain."
    )
    return Table("How much days differ beyond chance", columns, rows, [item.scheme for item in items], note)


def _make_effects_table(items: Sequence[DaysFinding], words: str) -> Table:
    """Returns a table with a row per day and a column per scheme: the change under that scheme.

    It has no rows if there are no findings. `words` names the transfers.
    """
    columns = [Column("day", is_number=False), *(Column(item.scheme) for item in items)]
    rows: list[Row] = [
        [effect.day, *(_make_effect_cell(item.effects[place]) for item in items)]
        for place, effect in enumerate(items[0].effects if items else ())
    ]
    return Table(f"{capitalise(words)}: change on each day, with the day's own interval", columns, rows)


def _make_effect_cell(effect: DayEffect) -> TableCell:
    """Returns a table cell with a day's change, or with the reason why it has none."""
    is_known = isfinite(effect.change.mean)
    return make_change_cell(effect.change) if is_known else TableCell(explain_no_change(effect), None)


def _make_sentence_table(found: Sequence[DaysFinding]) -> Table:
    """Returns a table of every finding with its verdict."""
    columns = [Column(name, is_number=False) for name in ("scheme", "against", "endpoint", "verdict")]
    rows: list[Row] = []
    for item in found:
        endpoint = item.sentence.partition(", ")[2].partition(", over ")[0]
        rows.append([item.scheme, item.reference, endpoint + (" (exploratory)" if item.exploratory else ""),
                     TableCell(item.verdict, item.change.mean)])  # fmt: skip
    return Table("Every endpoint over days", columns, rows, [item.scheme for item in found])


def _list_day_blocks(own: Sequence[Day]) -> list[Block]:
    """Returns for each day its tables, its conditions and its traffic, folded."""
    return [
        Details(
            day.name,
            [
                *(
                    block
                    for cell in day.results.plan.cells
                    for block in read_cell_report(day.results, cell)["overview"]
                ),
                Items(list_conditions(day.results)),
                *make_traffic_section(day.results.traffic).blocks,
            ],
        )
        for day in own
    ]


def write_prediction(item: DaysFinding) -> str:
    """Returns the range of the change on one more day, `–` where there are too few days."""
    one = item.another_day
    return f"{capped(one.low)}…{capped(one.high)}" if one.has_interval else "–"


def explain_no_change(effect: DayEffect) -> str:
    """Returns why a day has no change: `too few` transfers to be judged, or `none` if there are none."""
    return "none" if effect.left_out is None else "too few"
