"""The comparison for people: tables at most 110 columns wide, then the sentences."""

from collections.abc import Callable
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mousehole import bottleneck, findings, tables
from mousehole.comparison import Comparison
from mousehole.findings import BETTER, WORSE, Finding
from mousehole.overview import MANY_SCHEMES
from mousehole.plan import Cell, Plan
from mousehole.report_groups import print_groups
from mousehole.report_overview import PAGES, print_overview
from mousehole.sizes import size_text
from mousehole.texts import rate_text, share_text, signed, time_text

Row = dict[str, Any]
Column = tuple[str, Callable[[Row], str]]

WIDEST = 110


def report_console(stderr: bool = False) -> Console:
    """A console no wider than 110 columns, and that wide when the output is not a terminal."""
    console = Console(stderr=stderr, highlight=False)
    console.width = min(console.width, WIDEST) if console.is_terminal else WIDEST
    return console


def print_report(console: Console, comparison: Comparison, details: bool = False) -> None:
    """Prints the whole report."""
    _print_head(console, comparison)
    cells = comparison.plan.cells
    for cell in cells:
        if len(cells) > 1:
            console.rule(Text(cell_title(cell)), align="left")
        _print_cell(console, comparison, cell, details)
    if len(cells) > 1:
        _print_grid(console, comparison)
    for note in (findings.EXPLORATORY_NOTE, findings.OVERLAY_NOTE):
        console.print(Text(note, style="dim"))


def _print_cell(console: Console, comparison: Comparison, cell: Cell, details: bool) -> None:
    many = len(comparison.plan.schemes) > MANY_SCHEMES
    if many:
        print_overview(console, comparison, cell)
    if details or not (many or len(comparison.plan.cells) > 1):
        _print_tables(console, comparison, cell, details)
    print_groups(console, comparison, cell, {PAGES} if many else set())
    if details or not many:
        _print_findings(console, comparison, cell)
    else:
        _print_notes(console, comparison, cell)


def cell_title(cell: Cell) -> str:
    """`buffer 50p, load 0.9`."""
    return f"buffer {cell.buffer}, load {'as it is' if cell.load is None else f'{cell.load:g}'}"


def change_text(row: Row, name: str = "response_mean_change") -> str:
    """`−32 % (−36…−28)`: the change against the baseline with its interval."""
    change, low, high = (row.get(f"{name}{end}") for end in ("", "_low", "_high"))
    if change is None or row.get("is_baseline"):
        return "–"
    interval = "" if low is None or high is None else f" ({signed(low)}…{signed(high)})"
    return f"{signed(change)} %{interval}"


def _print_head(console: Console, comparison: Comparison) -> None:
    plan, link = comparison.plan, bottleneck.words(comparison.manifest["scenario"])
    console.print(Text(f"{comparison.label} over {link}", style="bold"))
    for cell in plan.cells:
        load = tables.load_row(comparison.results, cell)
        parts = [
            cell_title(cell),
            *_load_parts(load),
            f"{plan.replications} replications of {plan.base['duration']}",
        ]
        console.print(Text("; ".join(parts)))
    console.print()


def _load_parts(load: Row) -> list[str]:
    parts = []
    if load["load_native"] is not None:
        parts.append(f"native load {load['load_native']:.3g}")
        parts.append(f"{load['load_copies']:.0f} copies, time × {load['load_dilation'] or 1:.3g}")
    if load["load_achieved"] is not None:
        parts.append(f"achieved {load['load_achieved']:.3g}")
    return parts


def _print_tables(console: Console, comparison: Comparison, cell: Cell, details: bool) -> None:
    plan, results = comparison.plan, comparison.results
    rows = tables.bucket_rows(results, cell)
    links = {row["scheme"]: row for row in tables.scheme_rows(results, cell)}
    by_role = {role: [row for row in rows if row["role"] == role] for role in ("short", "long", "size")}
    long_rows = [{**row, **_without(links[row["scheme"]], row)} for row in by_role["long"]]
    short, long = size_text(plan.short_bytes), size_text(plan.long_bytes)
    _print_table(console, f"Short transfers (≤ {short}): response time", by_role["short"], SHORT_COLUMNS)
    _print_table(console, f"Long transfers (> {long})", long_rows, LONG_COLUMNS)
    _print_table(console, "The link", _with_colours(comparison, cell, list(links.values())), LINK_COLUMNS)
    _print_by_size(console, by_role["size"])
    for bucket in plan.buckets if details else ():
        chosen = [row for row in rows if (row["bucket"], row["role"]) == (bucket.name, bucket.role)]
        _print_table(console, f"Transfers: {bucket.name}", chosen, DETAIL_COLUMNS)


def _time(name: str) -> Callable[[Row], str]:
    return lambda row: time_text(row[name], row.get("is_bound", False) and name.endswith(("mean_s", "p99_s")))


def _slowdown(row: Row) -> str:
    value = row["slowdown_mean"]
    return "–" if value is None else f"{'≥ ' if row['is_bound'] else ''}{value:.3g} ×"


_SCHEME: Column = ("scheme", lambda row: row["scheme"])
_MEAN: Column = ("mean", _time("response_mean_s"))
_CHANGE: Column = ("change (95 %)", change_text)
_PERCENTILES: tuple[Column, ...] = tuple(
    (name, _time(f"response_{name}_s")) for name in ("p50", "p95", "p99")
)
_UNFINISHED: Column = ("unfinished", lambda row: share_text(row["censored_share"]))

DISPENSABLE = (
    "Jain's index", "reordered", "marked", "goodput", "unfinished", "p50", "delay p50", "slowdown",
    "mean rate", "2–5 kB", "50–150 kB",
)  # fmt: skip
"""Columns that give way on a narrow terminal, in this order; --json has everything."""
SHORT_COLUMNS: tuple[Column, ...] = (
    _SCHEME,
    _MEAN,
    _CHANGE,
    *_PERCENTILES,
    ("slowdown", _slowdown),
    _UNFINISHED,
)
LONG_COLUMNS: tuple[Column, ...] = (
    _SCHEME,
    ("mean response", _time("response_mean_s")),
    _CHANGE,
    ("mean rate", lambda row: rate_text(row["long_goodput_bps"])),
    ("Jain's index", lambda row: "–" if row["jain_long"] is None else f"{row['jain_long']:.2f}"),
    ("slowdown", _slowdown),
    _UNFINISHED,
)
LINK_COLUMNS: tuple[Column, ...] = (
    _SCHEME,
    ("utilised", lambda row: share_text(row["utilisation"])),
    ("goodput", lambda row: rate_text(row["goodput_bps"])),
    ("lost", lambda row: row["lost"]),
    ("marked", lambda row: row["marked"]),
    ("reordered", lambda row: share_text(row["reordered_share"]) if row["reordered_share"] else "none"),
    ("delay p50", lambda row: time_text(row["queue_delay_p50_s"])),
    ("delay p95", lambda row: time_text(row["queue_delay_p95_s"])),
    ("delay p99", lambda row: time_text(row["queue_delay_p99_s"])),
)
DETAIL_COLUMNS: tuple[Column, ...] = (
    _SCHEME, ("count", lambda row: f"{row['count']}"), _MEAN, _CHANGE, *_PERCENTILES, ("slowdown", _slowdown),
    ("transfer", _time("transfer_mean_s")),
)  # fmt: skip


def _print_table(console: Console, title: str, rows: list[Row], columns: tuple[Column, ...]) -> None:
    """Prints a table, without its dispensable columns as far as the console is too narrow for them."""
    left_out: list[str] = []
    spare = [name for name in DISPENSABLE if name in {heading for heading, _ in columns}]
    table = _table(title, rows, columns)
    while (
        spare
        and Measurement.get(console, console.options.update(max_width=1000), table).maximum > console.width
    ):
        left_out.append(spare.pop(0))
        table = _table(title, rows, tuple(column for column in columns if column[0] not in left_out))
    console.print(table)
    if left_out:
        console.print(Text(f"(too narrow for: {', '.join(left_out)})\n", style="dim"))


def _table(title: str, rows: list[Row], columns: tuple[Column, ...]) -> Table:
    table = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
    )
    for position, (heading, _) in enumerate(columns):
        table.add_column(heading, justify="right" if position else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(text(row)) for _, text in columns))
    return table


def _print_by_size(console: Console, rows: list[Row]) -> None:
    """Mean response time: schemes down, size buckets across."""
    names = list(dict.fromkeys(row["bucket"] for row in rows))
    columns: list[Column] = [_SCHEME, *((name, _from_bucket(name)) for name in names)]
    schemes = list(dict.fromkeys(row["scheme"] for row in rows))
    wide = [
        {"scheme": scheme, **{row["bucket"]: row for row in rows if row["scheme"] == scheme}}
        for scheme in schemes
    ]
    _print_table(console, "Mean response time by transfer size", wide, tuple(columns))


def _from_bucket(name: str) -> Callable[[Row], str]:
    return lambda row: time_text(row[name]["response_mean_s"], row[name]["is_bound"])


def _with_colours(comparison: Comparison, cell: Cell, links: list[Row]) -> list[Row]:
    """The link's rows with loss and marks by colour, `0.1 % green, 4 % yellow` where there are several."""
    colours = tables.colour_rows(comparison.results, cell)
    return [
        {**link, "lost": _by_colour(own, "loss_share"), "marked": _by_colour(own, "mark_share")}
        for link in links
        for own in [[row for row in colours if row["scheme"] == link["scheme"] and row["arrived"]]]
    ]


def _by_colour(rows: list[Row], name: str) -> str:
    if len(rows) < 2 or not any(row[name] for row in rows):
        return share_text(rows[0][name]) if rows else "–"
    return ", ".join(f"{share_text(row[name])} {row['colour']}" for row in rows)


def _print_notes(console: Console, comparison: Comparison, cell: Cell) -> None:
    for note in comparison.notes(cell):
        console.print(Text(note, style="yellow"))


def _print_findings(console: Console, comparison: Comparison, cell: Cell) -> None:
    _print_notes(console, comparison, cell)
    here = [item for item in comparison.finding_list if (item.buffer, item.load) == (cell.buffer, cell.load)]
    short, long = (size_text(size) for size in (comparison.plan.short_bytes, comparison.plan.long_bytes))
    for reference in dict.fromkeys(finding.reference for finding in here):
        console.print(Text(f"Against {reference}, mean response time of transfers ≤ {short}:", style="bold"))
        rivals = [item for item in here if item.reference == reference]
        for scheme in dict.fromkeys(finding.scheme for finding in rivals):
            _print_verdicts(console, [item for item in rivals if item.scheme == scheme], long)
    console.print()


def _print_verdicts(console: Console, own: list[Finding], long: str) -> None:
    """The verdict on short transfers, and under it what long ones pay."""
    primary, long_time, long_rate = own
    style = {BETTER: "green", WORSE: "red"}.get(primary.outcome, "")
    verdict = Text(f"{primary.scheme}: ") + Text(primary.verdict, style=style)
    pays = f"transfers > {long}: response time {long_time.verdict}, rate {long_rate.verdict}"
    console.print(Padding(verdict, (0, 0, 0, 2), expand=False))
    console.print(Padding(Text(pays, style="dim"), (0, 0, 0, 6), expand=False))


def _print_grid(console: Console, comparison: Comparison) -> None:
    """The change of the short and the long mean over the grid: schemes down, cells across."""
    plan, rows = comparison.plan, tables.bucket_rows(comparison.results)
    for role, words in (
        ("short", f"≤ {size_text(plan.short_bytes)}"),
        ("long", f"> {size_text(plan.long_bytes)}"),
    ):
        for load in plan.loads:
            chosen = [row for row in rows if row["role"] == role and row["load"] == load]
            title = f"Mean response time of transfers {words} against {plan.baseline}"
            at_load = "" if load is None else f", load {load:g}"
            _print_grid_table(console, title + at_load, chosen, plan)


def _print_grid_table(console: Console, title: str, rows: list[Row], plan: Plan) -> None:
    found = {(row["scheme"], row["buffer"]): row for row in rows}
    wide = [
        {"scheme": scheme, **{buffer: found[scheme, buffer] for buffer in plan.buffers}}
        for scheme in plan.schemes
    ]
    columns: list[Column] = [_SCHEME, *((f"buffer {buffer}", _change_at(buffer)) for buffer in plan.buffers)]
    _print_table(console, title, wide, tuple(columns))


def _change_at(buffer: str) -> Callable[[Row], str]:
    return lambda row: change_text(row[buffer])


def _without(row: Row, other: Row) -> Row:
    return {key: value for key, value in row.items() if key not in other}
