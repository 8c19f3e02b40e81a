"""A search of settings as a page: the answer, gain against price, what was judged, what it depends on."""

from collections.abc import Sequence
from math import isfinite

from mousehole.answer import Settings, wred_table
from mousehole.base import change_text, engine_text, signed
from mousehole.document import (
    Block,
    Chart,
    Code,
    Column,
    Details,
    Document,
    Facts,
    Grid,
    Prose,
    Row,
    Section,
    Table,
    Verdict,
)
from mousehole.document import Cell as TableCell
from mousehole.html.common import made_section, traffic_section
from mousehole.html.figures import change_cell, interval_chart
from mousehole.html.pictures import choices
from mousehole.runs import Results
from mousehole.tuning import _pareto as pareto
from mousehole.tuning import _report as report_tune
from mousehole.tuning._results import Spent, TuneResults
from mousehole.tuning.objectives import Quantity

MOST_TRIALS = 200
"""So many settings are listed at most, best first."""


def page(
    found: TuneResults, judged: Results, spent: Spent | None = None, command: Sequence[str] | None = None
) -> Document:
    """Returns the page of a search; `judged` are the results on unseen replications.

    `command` is what was typed, None where Python was the caller.
    """
    series = pareto.series_of(found)
    return Document(
        title=f"Settings for {found.label}",
        subtitle=f"{', '.join(found.families)}; changes are against {found.baseline}.",
        verdict=_verdict(found),
        choices=choices(series),
        sections=[
            Section("gain", "What is gained, and what it costs", _gain(found), "Gain and cost"),
            *_sensitivity(found),
            *_install(found),
            Section("trials", "What was tried", [_account(found, spent), _trials(found)], "Trials"),
            traffic_section(judged.traffic),
            made_section(judged.manifest, command, seed_note=False),
        ],
        footer=f"Mousehole {engine_text()}",
    )


def _verdict(found: TuneResults) -> Verdict:
    lines: list[str | Code] = list(found.lines)
    if found.settings is not None:
        lines += [f"Install on {found.settings.place}:", Code("\n".join(found.settings.lines), "Commands")]
    return Verdict(lines, "good" if found.recommended is not None else "open")


def _gain(found: TuneResults) -> list[Block]:
    first = found.goal.objectives[0]
    plane = [pareto.plane_chart(found, price, place) for place, price in enumerate(found.goal.prices)]
    changes = {
        row.scheme: row.unseen
        for row in found.judged
        if row.quantity == first.name and row.reference == found.baseline
    }
    names = {scheme: pareto.short_name(found, scheme) for scheme in changes}
    judged = interval_chart(
        "judged",
        f"{first.name}: every judged scheme",
        f"Change of {first.name} against {found.baseline}, unseen replications",
        {names[scheme]: change for scheme, change in changes.items()},
        f"Changes against {found.baseline} on {found.account.judged_replications} replications that the "
        "search has not seen, with 95 % intervals that hold for all of them at once.",
        "name",
        pareto.sides_of(first),
    )
    return [
        Grid([*plane, judged]),
        _judged_table(found),
        Prose(report_tune.NOTE, "dim"),
    ]


def _judged_table(found: TuneResults) -> Table:
    """Returns what was judged: the first objective where it was chosen, and every quantity unseen."""
    quantities, first = found.goal.quantities, found.goal.objectives[0]
    rows: list[Row] = []
    keys = []
    for scheme in dict.fromkeys(row.scheme for row in found.judged):
        own = {
            row.quantity: row
            for row in found.judged
            if row.scheme == scheme and row.reference == found.baseline
        }
        if first.name not in own:
            continue
        head = own[first.name]
        limits = [row for row in found.limits if row.scheme == scheme]
        rows.append(
            [
                pareto.short_name(found, scheme),
                head.role,
                TableCell("–", None) if head.seen is None else TableCell(f"{signed(head.seen)} %", head.seen),
                *(change_cell(own[one.name].unseen if one.name in own else None, one.smaller_is_better)
                  for one in quantities),
                "; ".join(f"{row.limit}: {row.outcome}" for row in limits) or "–",
                scheme,
            ]
        )  # fmt: skip
        keys.append(pareto.family_of(found, head))
    columns = [
        Column("name", is_number=False),
        Column("role", is_number=False),
        Column(f"{first.name}, where it was chosen"),
        *(Column(f"{one.name}, unseen (95 %)") for one in quantities),
        Column("limits", is_number=False),
        Column("setting", is_number=False),
    ]
    star = "A star marks what is recommended." if found.recommended else ""
    return Table(f"Every judged scheme against {found.baseline}", columns, rows, keys, star)


def _sensitivity(found: TuneResults) -> list[Section]:
    if not found.sensitivity:
        return []
    charts = [_sensitivity_chart(found, one, place) for place, one in enumerate(found.goal.quantities)]
    said = Prose(
        f"One parameter of {found.recommended} changed at a time, on unseen replications. A change that is "
        "not told apart means that the parameter need not be set exactly."
    )
    return [Section("sensitivity", "What the recommended setting depends on", [said, Grid(charts)],
                    "Sensitivity")]  # fmt: skip


def _sensitivity_chart(found: TuneResults, one: Quantity, place: int) -> Chart:
    changes = {
        f"{row.parameter}={row.value}": row.change for row in found.sensitivity if row.quantity == one.name
    }
    values = dict.fromkeys(f"{row.parameter}={row.recommended}" for row in found.sensitivity)
    return interval_chart(
        f"sensitivity-{place}",
        one.name,
        f"Change of {one.name} against the recommended setting",
        changes,
        f"Changes of {one.name} against the recommended setting ({', '.join(values)}), with 95 % intervals.",
        "change",
        pareto.sides_of(one),
    )


def _install(found: TuneResults) -> list[Section]:
    ways = found.settings
    if ways is None:
        return []
    return [Section("install", "Settings to install", _settings(ways), "Install")]


def _settings(ways: Settings) -> list[Block]:
    blocks: list[Block] = [Prose(f"On {ways.place}:"), Code("\n".join(ways.lines), "Commands")]
    if ways.live is not None:
        blocks += [Prose("mousehole-live.toml:"), Code(ways.live, "Configuration of mousehole-live")]
    if ways.wred:
        columns = [Column(name) for name in ("DSCP", "min", "max", "probability", "weight")]
        rows: list[Row] = [
            [str(one.dscp), TableCell(str(one.min_packets), one.min_packets),
             TableCell(str(one.max_packets), one.max_packets), one.probability, f"2^-{one.weight_exponent}"]
            for one in ways.wred
        ]  # fmt: skip
        words = wred_table(ways.wred)
        blocks += [
            Table("Profiles for a router's WRED", columns, rows),
            Details("What each number means, and the table as text", [Code(words, "WRED table")]),
        ]
    return blocks


def _account(found: TuneResults, spent: Spent | None) -> Facts:
    account = found.account
    pairs = [
        ("settings", f"{account.trials}, {account.trials_per_scheme} of each scheme"),
        ("stopped early", str(account.stopped)),
        ("search", f"{account.search_runs} runs of {account.search_replications} replications"),
        ("judgement", f"{account.judged_schemes} schemes × {account.judged_replications} replications"),
        ("sensitivity", f"{account.sensitivity_runs} runs"),
        ("the same again", f"--trials {account.trials_per_scheme} --seed {account.seed}"),
    ]
    if spent is not None:
        took = spent.search_s + spent.judged_s + spent.sensitivity_s
        pairs.append(("took", f"{took:.0f} s"))
    return Facts(pairs)


def _trials(found: TuneResults) -> Table:
    """Returns the settings that were run on all replications of the search, best first."""
    quantities = found.goal.quantities
    by_setting: dict[tuple[str, int], dict[str, float]] = {}
    schemes: dict[tuple[str, int], str] = {}
    good: dict[tuple[str, int], bool] = {}
    for row in found.trials:
        if row.is_stopped:
            continue
        key = (row.family, row.number)
        by_setting.setdefault(key, {})[row.quantity] = row.change
        schemes[key], good[key] = row.scheme, row.is_feasible
    first = found.goal.objectives[0]
    sign = 1 if first.smaller_is_better else -1
    ranked = sorted(by_setting, key=lambda key: sign * by_setting[key].get(first.name, float("inf")))
    shown = ranked[:MOST_TRIALS]
    rows: list[Row] = [
        [TableCell(str(key[1]), key[1]), *(_single(by_setting[key].get(one.name)) for one in quantities),
         "yes" if good[key] else "no", schemes[key]]
        for key in shown
    ]  # fmt: skip
    columns = [
        Column("number", is_number=False),
        *(Column(one.name) for one in quantities),
        Column("keeps the limits", is_number=False),
        Column("setting", is_number=False),
    ]
    caption = f"Settings on the search's replications, against {found.baseline}"
    note = "" if len(shown) == len(ranked) else f"The best {len(shown)} of {len(ranked)}; --json has all."
    return Table(caption, columns, rows, [family for family, _ in shown], note)


def _single(change: float | None) -> TableCell:
    if change is None or not isfinite(change):
        return TableCell("–", None)
    return TableCell(change_text(change, float("nan"), float("nan")), change)
