"""Prints a comparison: tables at most 110 columns wide, then the sentences."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from mousehole import quantities
from mousehole._engine import Quantity
from mousehole.answer import BETTER, MANY_SCHEMES, PAGES, WORSE, findings, notes, tables
from mousehole.base import (
    OutputConsole,
    Role,
    counted,
    natural_width,
    say,
    share_text,
    size_text,
    texts,
    unit_text,
)
from mousehole.inputs import account, replay_words
from mousehole.quantities import TableName
from mousehole.reports._answer import print_answer
from mousehole.reports._groups import print_groups
from mousehole.reports._overview import print_grid, print_overview
from mousehole.runs import (
    CENSORED_SHARE,
    BucketRow,
    Cell,
    ColourRow,
    Finding,
    LoadRow,
    Plan,
    Results,
    SchemeRow,
)
from mousehole.scenario import bottleneck
from mousehole.statistics import LEAST_REPLICATIONS

R = TypeVar("R")
S = TypeVar("S")

WIDEST = 110
CHANGED = "response_mean_s"
"""The quantity of buckets whose change stands beside it."""
CHANGE = "change (95 %)"


@dataclass(frozen=True)
class Column(Generic[R]):
    """A column of a table: its heading, and the text of a row's cell."""

    heading: str
    text: Callable[[R], str]


@dataclass(frozen=True)
class LongRow:
    """A row of the table of long transfers: their bucket, and the scheme at the bottleneck."""

    bucket: BucketRow
    scheme: SchemeRow


@dataclass(frozen=True)
class LinkRow:
    """A row of the table of the link: the scheme at the bottleneck, and its packets by colour."""

    scheme: SchemeRow
    colours: list[ColourRow]


def report_console(stderr: bool = False) -> Console:
    """Returns a console of at most 110 columns, and of exactly 110 if the output is not a terminal."""
    console = OutputConsole(stderr=stderr, highlight=False)
    console.width = min(console.width, WIDEST) if console.is_terminal else WIDEST
    return console


def print_report(console: Console, results: Results, details: bool = False) -> None:
    """Prints the whole report: the answer, then a line per scheme; `details` adds everything else."""
    plan = results.plan
    link = bottleneck.words(results.manifest["scenario"])
    console.print(Text(f"{results.label} over {link}", style="bold"))
    print_answer(console, results)
    if len(plan.cells) > 1:
        print_grid(console, results)
    for cell in plan.cells:
        _print_cell(console, results, cell, details)
    if results.traffic is not None:
        for remark in account.remarks(results.traffic):
            say(console, Text(str(remark), style="yellow"))
    _print_conditions(console, results)
    for note in (findings.exploratory_note(plan),) * details + (findings.coverage_note(results),):
        say(console, Text(note, style="dim"))
    if not details:
        say(console, Text("--details prints all tables and sentences.", style="dim"))


def _print_cell(console: Console, results: Results, cell: Cell, details: bool) -> None:
    """Prints a cell: of a grid, only the remarks unless details are wanted."""
    is_grid, is_whole = len(results.plan.cells) > 1, details or len(results.plan.cells) == 1
    remarks = notes.cell_notes(results, cell)
    if is_grid and (is_whole or remarks):
        console.rule(Text(cell.title), align="left")
    if is_whole:
        print_overview(console, results, cell, details or len(results.plan.schemes) > MANY_SCHEMES)
    if details:
        _print_tables(console, results, cell)
    if is_whole:
        print_groups(console, results, cell, set() if details else {PAGES}, details)
    for note in remarks:
        say(console, Text(note, style="yellow"))
    if details:
        _print_findings(console, results, cell)


def change_text(row: BucketRow) -> str:
    """Returns the change against the baseline with its interval: `−32 % (−36…−28)`."""
    change = row.response_mean_change
    return "–" if row.is_baseline else texts.change_text(change.mean, change.low, change.high)


def _print_conditions(console: Console, results: Results) -> None:
    """Prints under what load and from how much traffic the results came about."""
    plan = results.plan
    for condition in conditions(results):
        say(console, Text(condition, style="dim"))
    replay = tables.load_row(results, plan.cells[0]).replay
    words = replay_words(replay, results.manifest["scenario"], results.traffic)
    if words is not None:
        say(console, Text(words, style="dim"))


def conditions(results: Results) -> list[str]:
    """Returns for each cell its load and runs, and what of a capture stands behind its verdicts."""
    plan, found = results.plan, []
    for cell in plan.cells:
        load = _load_parts(tables.load_row(results, cell))
        if plan.in_rounds:
            found.append(_rounds_text(results, cell))
            continue
        window = f"{plan.base['duration']} after {plan.warmup_of(cell)} of warm-up"
        found.append(
            "; ".join([cell.title, *load, f"{counted(plan.replications, 'replication')} of {window}"])
        )
        found += filter(None, [_evidence_text(results, cell)])
    return found


def _load_parts(load: LoadRow) -> list[str]:
    parts = []
    if load.load_native is not None:
        parts.append(f"native load {load.load_native:.3g}")
        parts.append(f"{load.load_copies:.3g} copies, time × {load.load_dilation or 1:.3g}")
    if load.load_achieved is not None:
        parts.append(f"offered {load.load_achieved:.3g}")
    if load.load_window is not None and load.load_window_deviation is not None:
        spread = f"standard deviation {load.load_window_deviation:.2g}"
        parts.append(f"{load.load_window:.3g} in the windows ({spread})")
    return parts


def _rounds_text(results: Results, cell: Cell) -> str:
    """Returns buffer, load and length of rounds, which have neither windows nor a load of their choice."""
    plan, row = results.plan, tables.load_row(results, cell)
    rounds = (
        f"{counted(plan.replications, plan.run_word)}, whose runs took {plan.base['duration']} on average"
    )
    load = f"load {row.load_window or 0.0:.3g} (standard deviation {row.load_window_deviation or 0.0:.2g})"
    return f"buffer {cell.buffer}; {load}; {rounds}"


def _evidence_text(results: Results, cell: Cell) -> str:
    """Returns what of a capture stands behind the verdicts; empty for a model."""
    row, plan = tables.evidence_row(results, cell), results.plan
    if row is None:
        return ""
    short, long = size_text(plan.short_bytes), size_text(plan.long_bytes)
    copies = "1 copy" if row.copies_most == 1 else f"{row.copies_most} copies"
    if row.copies_least != row.copies_most:
        copies = f"{row.copies_least} to {copies}"
    return (
        f"Behind this stand {counted(row.short_transfers, 'distinct transfer')} ≤ {short} of "
        f"{counted(row.short_clients, 'client')} and {row.long_transfers} > {long} of "
        f"{counted(row.long_clients, 'client')}, in {copies} at a time; each window plays the capture "
        f"{row.laps:.2g} times."
    )


def _print_tables(console: Console, results: Results, cell: Cell) -> None:
    plan, rows = results.plan, tables.bucket_rows(results, cell)
    schemes = {row.scheme: row for row in tables.scheme_rows(results, cell)}
    by_role: dict[Role, list[BucketRow]] = {
        role: [row for row in rows if row.bucket.role == role] for role in ("short", "long", "size")
    }
    long_rows = [LongRow(row, schemes[row.scheme]) for row in by_role["long"]]
    short, long = size_text(plan.short_bytes), size_text(plan.long_bytes)
    _print_table(console, f"Short transfers (≤ {short}): response time", by_role["short"], short_columns())
    _print_table(console, f"Long transfers (> {long})", long_rows, long_columns())
    _print_table(console, "The link", _link_rows(results, cell), link_columns())
    _print_by_size(console, by_role["size"])
    for bucket in plan.buckets:
        chosen = [row for row in rows if row.bucket == bucket]
        _print_table(console, f"Transfers: {bucket.name}", chosen, detail_columns())


def is_bound(row: BucketRow, quantity: Quantity) -> bool:
    """Returns whether a number of a bucket is only a lower bound, as too many transfers are unfinished."""
    least_share = CENSORED_SHARE if quantity.percent is None else 1 - quantity.percent / 100
    return row.is_bound and row.censored_share > least_share


def _bucket_columns(name: TableName) -> list[Column[BucketRow]]:
    """Returns a table's columns of quantities of buckets; the change stands behind the mean it is of."""
    columns: list[Column[BucketRow]] = []
    for quantity in quantities.shown_in(name, "bucket"):
        columns.append(_bucket_column(quantity))
        if quantity.name == CHANGED:
            columns.append(Column(CHANGE, change_text))
    return columns


def _bucket_column(quantity: Quantity) -> Column[BucketRow]:
    def text(row: BucketRow) -> str:
        return unit_text(quantity.unit, row.estimates[quantity.name].mean, is_bound(row, quantity))

    return Column(quantity.short, text)


def _scheme_columns(name: TableName) -> list[Column[SchemeRow]]:
    """Returns a table's columns of quantities of schemes."""

    def column(quantity: Quantity) -> Column[SchemeRow]:
        return Column(quantity.short, lambda row: unit_text(quantity.unit, row.estimates[quantity.name].mean))

    return [column(quantity) for quantity in quantities.shown_in(name, "scheme")]


def short_columns() -> tuple[Column[BucketRow], ...]:
    """Returns the columns of the table of short transfers."""
    return (SCHEME, *_bucket_columns("short"), UNFINISHED)


def long_columns() -> tuple[Column[LongRow], ...]:
    """Returns the columns of the table of long transfers."""
    return (
        *(_of(column, lambda row: row.bucket) for column in (SCHEME, *_bucket_columns("long"))),
        *(_of(column, lambda row: row.scheme) for column in _scheme_columns("long")),
        _of(UNFINISHED, lambda row: row.bucket),
    )


def link_columns() -> tuple[Column[LinkRow], ...]:
    """Returns the columns of the table of the link, with losses and marks by colour."""
    by_colour: dict[str, Callable[[ColourRow], float | None]] = {
        "loss_share": lambda colour: colour.loss_share,
        "mark_share": lambda colour: colour.mark_share,
    }

    def column(quantity: Quantity) -> Column[LinkRow]:
        share = by_colour.get(quantity.name)
        if share is not None:
            return Column(quantity.short, lambda row: _by_colour(row.colours, share))
        return Column(
            quantity.short, lambda row: unit_text(quantity.unit, row.scheme.estimates[quantity.name].mean)
        )

    own = [column(quantity) for quantity in quantities.shown_in("link", "scheme")]
    return (Column("scheme", lambda row: row.scheme.scheme), *own)


def detail_columns() -> tuple[Column[BucketRow], ...]:
    """Returns the columns of the table of one size bucket."""
    return (SCHEME, Column("count", lambda row: str(row.count)), *_bucket_columns("bucket"))


def _of(column: Column[R], part: Callable[[S], R]) -> Column[S]:
    """Returns a column of rows from a column of a part of them."""
    return Column(column.heading, lambda row: column.text(part(row)))


SCHEME: Column[BucketRow] = Column("scheme", lambda row: row.scheme)
UNFINISHED: Column[BucketRow] = Column("unfinished", lambda row: share_text(row.censored_share))


def _print_table(console: Console, title: str, rows: list[R], columns: tuple[Column[R], ...]) -> None:
    """Prints a table; on a narrow console, the columns that do not fit follow in tables of their own."""
    names, rest = columns[:1], list(columns[1:])
    heading = title
    while rest:
        count = len(rest)
        while count > 1 and natural_width(console, _table(rows, (*names, *rest[:count]))) > console.width:
            count -= 1
        console.print(Text(heading, style="bold"))  # the title of a table would be folded to its width
        console.print(_table(rows, (*names, *rest[:count])))
        rest, heading = rest[count:], f"{title}, continued"


def _table(rows: list[R], columns: tuple[Column[R], ...]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column.heading, justify="right" if position else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(column.text(row)) for column in columns))
    return table


def _print_by_size(console: Console, rows: list[BucketRow]) -> None:
    """Prints the mean response time: one row per scheme, one column per size bucket."""
    names = list(dict.fromkeys(row.bucket.name for row in rows))
    wide = [
        {row.bucket.name: row for row in rows if row.scheme == scheme}
        for scheme in dict.fromkeys(row.scheme for row in rows)
    ]
    mean = _bucket_column(quantities.find("bucket", CHANGED))
    _print_wide(console, "Mean response time by transfer size", wide, names, mean.text)


def _print_wide(
    console: Console, title: str, wide: list[dict[str, BucketRow]], names: list[str],
    text: Callable[[BucketRow], str],
) -> None:  # fmt: skip
    """Prints one row per scheme and one column per name."""

    def column(name: str) -> Column[dict[str, BucketRow]]:
        return Column(name, lambda row: text(row[name]))

    scheme = Column[dict[str, BucketRow]]("scheme", lambda row: next(iter(row.values())).scheme)
    _print_table(console, title, wide, (scheme, *map(column, names)))


def _link_rows(results: Results, cell: Cell) -> list[LinkRow]:
    colours = [row for row in tables.colour_rows(results, cell) if row.counts["arrived"]]
    return [
        LinkRow(scheme, [row for row in colours if row.scheme == scheme.scheme])
        for scheme in tables.scheme_rows(results, cell)
    ]


def _by_colour(rows: list[ColourRow], share: Callable[[ColourRow], float | None]) -> str:
    """Returns a share by colour, `0.1 % green, 4 % yellow`; without the name if there is one colour only."""
    if len(rows) < 2 or not any(share(row) for row in rows):
        return share_text(share(rows[0])) if rows else "–"
    return ", ".join(f"{share_text(share(row))} {row.colour}" for row in rows)


def _print_findings(console: Console, results: Results, cell: Cell) -> None:
    here, plan = findings.findings(results, cell), results.plan
    short = size_text(plan.short_bytes)
    for reference in dict.fromkeys(finding.reference for finding in here):
        console.print(Text(f"Against {reference}, mean response time of transfers ≤ {short}:", style="bold"))
        if plan.replications < LEAST_REPLICATIONS:
            console.print(Text(f"  no verdict: {findings.few_replications_text(plan)}"))
            continue
        rivals = [item for item in here if item.reference == reference]
        for scheme in dict.fromkeys(finding.scheme for finding in rivals):
            _print_verdicts(console, [item for item in rivals if item.scheme == scheme], plan)
    console.print()


def _print_verdicts(console: Console, own: list[Finding], plan: Plan) -> None:
    """Prints the verdict on short transfers, and under it what became of the other endpoints."""
    short, long = (size_text(size) for size in (plan.short_bytes, plan.long_bytes))
    by_name = {finding.endpoint: finding for finding in own}
    primary = by_name["short_response_mean_s"]
    style = {BETTER: "green", WORSE: "red"}.get(primary.outcome, "")
    verdict = Text(f"{primary.scheme}: ") + Text(primary.verdict, style=style)
    say(console, verdict, indent=2)
    time, rate = by_name["long_response_mean_s"].verdict, by_name["long_goodput_bps"].verdict
    lines = [
        f"transfers ≤ {short}: p95 {by_name['short_response_p95_s'].verdict}",
        f"transfers > {long}: response time {time}, rate {rate}",
    ]
    if primary.slower_share is not None:
        slower, faster = share_text(primary.slower_share), share_text(primary.faster_share)
        lines.insert(0, f"of the same transfers ≤ {short}, {faster} were faster and {slower} slower")
    if "page_mean_s" in by_name:
        lines.append(f"mean time of a page {by_name['page_mean_s'].verdict}")
    for line in lines:
        say(console, Text(line, style="dim"), indent=6)
