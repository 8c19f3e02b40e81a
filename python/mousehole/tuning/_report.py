"""A search of settings as a document: the answer, what was judged, what it depends on, how to install it."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf, isfinite, isnan, nan

from mousehole.answer import Settings, find_installation, find_link_of_cell, wred_table
from mousehole.base import change_text, counted, engine_text, signed, span_text
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
from mousehole.html.common import make_provenance_section
from mousehole.html.figures import make_change_cell, make_interval_chart
from mousehole.html.pictures import list_choices
from mousehole.inputs.show import make_traffic_section
from mousehole.runs import Results
from mousehole.tuning import _pareto as pareto
from mousehole.tuning._results import DEFAULT, FINALIST, KEPT, Spent, TuneResults
from mousehole.tuning.objectives import Quantity

MORE = "--html writes everything, with charts."
NOTE = (
    "Unseen replications have draws of their own: the search has not run them. 95 % intervals; those of the "
    "objectives hold for all judged schemes at once. Negative is less."
)
MOST_TRIALS = 200
"""So many settings are listed at most, best first."""
MOST_LINES = 6
"""Commands up to this number stand in the answer itself."""


def make_document(
    found: TuneResults,
    judged: Results,
    spent: Spent | None = None,
    command: Sequence[str] | None = None,
    with_settings: bool = True,
) -> Document:
    """Returns the document of a search; `judged` are the results on unseen replications.

    `spent` is None for a search that was loaded, whose document has no times. `command` is the command line
    as typed, None where Python was the caller; `with_settings` adds what installs the recommended setting.
    """
    ways = _find_settings_of_both(found, judged) if with_settings else None
    return Document(
        title=f"Settings for {found.label}",
        subtitle=f"{', '.join(found.families)}; changes are against {found.baseline}.",
        verdict=_make_verdict(found, ways),
        choices=list_choices(pareto.choose_series(found)),
        sections=[
            Section("gain", "What is gained, and what it costs", _list_gain_blocks(found), "Gain and cost"),
            *_list_sensitivity_sections(found),
            *_list_install_sections(ways),
            Section(
                "account", "What was run", [_list_account_facts(found, spent), Prose(NOTE, "dim")], "Account"
            ),
            Section("trials", "What was tried", [_make_trials_table(found)], "Trials", "details"),
            make_traffic_section(judged.traffic, shown="details"),
            make_provenance_section(judged.manifest, command, seed_note=False),
        ],
        footer=f"Mousehole {engine_text()}",
    )


def _find_settings_of_both(found: TuneResults, judged: Results) -> Settings | None:
    """Returns the settings of the recommended scheme, whose lines are those of both directions.

    None if nothing is recommended or nothing installs it.
    """
    if found.settings is None or found.recommended is None:
        return found.settings
    way = find_installation(found.recommended, find_link_of_cell(judged, judged.plan.cells[0]))
    return found.settings if way is None else replace(found.settings, lines=way.lines)


def _make_verdict(found: TuneResults, ways: Settings | None) -> Verdict:
    """Returns the answer, with the commands that install it if they are few, or the reason why nothing does.

    The tone is good if a setting is recommended, else open.
    """
    lines: list[str | Code] = list(found.lines)
    if ways is not None and not _needs_section(ways):
        lines += [f"Install on {ways.place}:", Code("\n".join(ways.lines), "Commands")]
    elif found.settings is None and found.recommended is not None:
        lines.append(f"Nothing installs {found.recommended}: {found.why_nothing}.")
    return Verdict(lines, "good" if found.recommended is not None else "open")


def _needs_section(ways: Settings) -> bool:
    """Returns whether settings need a section: a file, WRED profiles, more than `MOST_LINES` commands."""
    return ways.live is not None or bool(ways.wred) or len(ways.lines) > MOST_LINES


def _list_gain_blocks(found: TuneResults) -> list[Block]:
    """Returns the table of the judged schemes, their names, and the charts of gain and cost."""
    first = found.goal.objectives[0]
    plane = [pareto.make_plane_chart(found, price, place) for place, price in enumerate(found.goal.prices)]
    changes = {
        row.scheme: row.unseen
        for row in found.judged
        if row.quantity == first.name and row.reference == found.baseline
    }
    names = {scheme: pareto.shorten_name(found, scheme) for scheme in changes}
    judged = make_interval_chart(
        "judged",
        f"{first.name}: every judged scheme",
        f"Change of {first.name} against {found.baseline}, unseen replications",
        {names[scheme]: change for scheme, change in changes.items()},
        f"Changes against {found.baseline} on {found.account.judged_replications} replications that the "
        "search has not seen, with 95 % intervals that hold for all of them at once.",
        "name",
        pareto.name_sides(first),
    )
    finalists = [
        (letter, f"{scheme} (recommended)" if scheme == found.recommended else scheme)
        for scheme, letter in pareto.letter_finalists(found).items()
    ]
    return [_make_judged_table(found), Facts(finalists, "Settings that were judged:"), Grid([*plane, judged])]


def _make_judged_table(found: TuneResults) -> Table:
    """Returns the table of judged schemes: the first objective in the search, and every quantity unseen.

    Schemes without the first objective have no row.
    """
    quantities, first = found.goal.quantities, found.goal.objectives[0]
    given = {one.text for one in found.goal.limits if not one.is_default}
    rows: list[Row] = []
    keys = []
    for scheme in _rank_schemes(found):
        own = {
            row.quantity: row
            for row in found.judged
            if row.scheme == scheme and row.reference == found.baseline
        }
        if first.name not in own:
            continue
        head = own[first.name]
        judged = [row for row in found.limits if row.scheme == scheme]
        limits = [
            f"{row.limit}: {row.outcome}" for row in judged if row.limit in given or row.outcome != KEPT
        ]
        kept = "; ".join(limits) or ("kept" if judged else "–")
        rows.append(
            [
                pareto.shorten_name(found, scheme),
                head.role,
                TableCell("–", None) if head.seen is None else TableCell(f"{signed(head.seen)} %", head.seen),
                *(make_change_cell(own[one.name].unseen if one.name in own else None, one.smaller_is_better)
                  for one in quantities),
                *([kept] if found.limits else []),
            ]
        )  # fmt: skip
        keys.append(pareto.find_family(found, head))
    columns = [
        Column("name", is_number=False),
        Column("role", is_number=False),
        Column(f"{first.name},\nseen"),
        *(Column(f"{one.name},\nunseen") for one in quantities),
        *([Column("limits", is_number=False)] if found.limits else []),
    ]
    return Table(
        f"Change against {found.baseline}, seen by the search and unseen",
        columns,
        rows,
        keys,
        note="A star marks what is recommended." if found.recommended else "",
        gives_way=["role", "limits", *(f"{one.name},\nunseen" for one in reversed(quantities[1:]))],
    )


def _rank_schemes(found: TuneResults) -> list[str]:
    """Returns the judged schemes in order: finalists, schemes' own settings, references."""
    roles = {row.scheme: row.role for row in found.judged}
    order = (FINALIST, DEFAULT)
    return sorted(roles, key=lambda scheme: (*order, roles[scheme]).index(roles[scheme]))


def _list_sensitivity_sections(found: TuneResults) -> list[Section]:
    """Returns, as a list of one, the section on changes of the recommended setting's parameters.

    The list is empty if nothing was run for it.
    """
    if not found.sensitivity:
        return []
    charts = [_make_sensitivity_chart(found, one, place) for place, one in enumerate(found.goal.quantities)]
    said = Prose(
        f"One parameter of {found.recommended} changed at a time, on unseen replications. A change that is "
        "undecided means that the parameter need not be set exactly."
    )
    blocks = [said, _make_sensitivity_table(found), Grid(charts)]
    return [Section("sensitivity", "What the recommended setting depends on", blocks, "Sensitivity")]


def _make_sensitivity_table(found: TuneResults) -> Table:
    """Returns a table with a row per changed value of a parameter, next to the value that is recommended."""
    quantities = found.goal.quantities
    by_place = {(row.parameter, row.value, row.quantity): row for row in found.sensitivity}
    rows: list[Row] = []
    for parameter, value in dict.fromkeys((row.parameter, row.value) for row in found.sensitivity):
        own = [by_place.get((parameter, value, one.name)) for one in quantities]
        recommended = next(row.recommended for row in own if row is not None)
        changes = (make_change_cell(None if row is None else row.change, one.smaller_is_better)
                   for row, one in zip(own, quantities, strict=True))  # fmt: skip
        rows.append([parameter, recommended, value, *changes])
    columns = [
        *(Column(name, is_number=False) for name in ("parameter", "recommended", "changed to")),
        *(Column(one.name) for one in quantities),
    ]
    return Table("One parameter changed at a time, against the recommended setting", columns, rows)


def _make_sensitivity_chart(found: TuneResults, one: Quantity, place: int) -> Chart:
    """Returns the chart of the changes of a quantity by changed parameter."""
    changes = {
        f"{row.parameter}={row.value}": row.change for row in found.sensitivity if row.quantity == one.name
    }
    values = dict.fromkeys(f"{row.parameter}={row.recommended}" for row in found.sensitivity)
    return make_interval_chart(
        f"sensitivity-{place}",
        one.name,
        f"Change of {one.name} against the recommended setting",
        changes,
        f"Changes of {one.name} against the recommended setting ({', '.join(values)}), with 95 % intervals.",
        "change",
        pareto.name_sides(one),
    )


def _list_install_sections(ways: Settings | None) -> list[Section]:
    """Returns, as a list of one, the section with the settings to install; empty if the answer has them."""
    if ways is None or not _needs_section(ways):
        return []
    return [Section("install", "Settings to install", _list_setting_blocks(ways), "Install")]


def _list_setting_blocks(ways: Settings) -> list[Block]:
    """Returns the blocks of settings: commands, configuration, WRED profiles."""
    blocks: list[Block] = [Prose(f"Install on {ways.place}:"), Code("\n".join(ways.lines), "Commands")]
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


def _list_account_facts(found: TuneResults, spent: Spent | None) -> Facts:
    """Returns the runs with their times, and the options that run the same again.

    Without `spent` it has no times.
    """
    account = found.account
    again = f"--trials {account.trials_per_scheme} --seed {account.seed}"
    if spent is not None and spent.budget_s is not None:
        again = f"{again} in the place of --budget"
    times = (None, None, None) if spent is None else (spent.search_s, spent.judged_s, spent.sensitivity_s)
    search, judgement, sensitivity = map(_write_time, times)
    tried = counted(account.trials, "setting")
    judged = counted(account.judged_schemes, "scheme")
    pairs = [
        ("tried", f"{tried}, {account.trials_per_scheme} of each scheme; {account.stopped} stopped early"),
        (
            "search",
            f"{account.search_runs} runs of {counted(account.search_replications, 'replication')}{search}",
        ),
        ("judgement", f"{judged} × {counted(account.judged_replications, 'replication')}{judgement}"),
    ]
    if account.sensitivity_runs:
        pairs.append(("sensitivity", f"{account.sensitivity_runs} runs{sensitivity}"))
    return Facts([*pairs, ("the same on any machine", again)], "What was run:")


def _write_time(seconds: float | None) -> str:
    """Returns a clause with a time in seconds as text, such as ` in 3 min`; empty for None."""
    return "" if seconds is None else f" in {span_text(round(seconds, 1))}"


def _make_trials_table(found: TuneResults) -> Table:
    """Returns the settings that were run on all replications of the search, best first.

    At most `MOST_TRIALS` are listed; those stopped early are left out.
    """
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

    def rank(key: tuple[str, int]) -> float:
        """Returns the position of a setting by the first objective, infinite without its value."""
        change = by_setting[key].get(first.name, nan)
        return inf if isnan(change) else sign * change

    ranked = sorted(by_setting, key=rank)
    shown = ranked[:MOST_TRIALS]
    rows: list[Row] = [
        [TableCell(str(key[1]), key[1]),
         *(_make_single_change_cell(by_setting[key].get(one.name)) for one in quantities),
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


def _make_single_change_cell(change: float | None) -> TableCell:
    """Returns a table cell with a change without interval; a dash if it is unknown."""
    if change is None or not isfinite(change):
        return TableCell("–", None)
    return TableCell(change_text(change, float("nan"), float("nan")), change)
