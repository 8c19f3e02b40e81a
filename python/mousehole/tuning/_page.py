"""A search of settings as a page: the answer, gain against price, what was judged, what it depends on."""

from collections.abc import Sequence
from math import isfinite, log2

import altair as alt

from mousehole.answer import Settings, wred_table
from mousehole.base import change_text, engine_text, signed
from mousehole.html import (
    Block,
    Chart,
    Code,
    Column,
    Details,
    Facts,
    Grid,
    Page,
    Prose,
    Row,
    Section,
    Table,
    Verdict,
)
from mousehole.html import Cell as TableCell
from mousehole.html.axes import TIMES, Sides, change_axis, zero_line
from mousehole.html.charts import Series, of_names
from mousehole.html.common import made_section, traffic_section
from mousehole.html.figures import Datum, change_cell, change_datum, interval_chart, rounded
from mousehole.runs import Results
from mousehole.tuning import _report as report_tune
from mousehole.tuning._results import DEFAULT, FINALIST, JudgedRow, Spent, TuneResults
from mousehole.tuning.objectives import Quantity

OTHERS = "other schemes"
"""The series of the schemes that were not searched."""
MOST_TRIALS = 200
"""So many settings are listed at most, best first."""


def page(
    found: TuneResults, judged: Results, spent: Spent | None = None, command: Sequence[str] | None = None
) -> Page:
    """Returns the page of a search; `judged` are the results on unseen replications.

    `command` is what was typed, None where Python was the caller.
    """
    series = of_names([*found.families, OTHERS], "scheme")
    return Page(
        title=f"Settings for {found.label}",
        subtitle=f"{', '.join(found.families)}; changes are against {found.baseline}.",
        verdict=_verdict(found),
        choices=series.choices,
        sections=[
            Section("gain", "What is gained, and what it costs", _gain(found, series), "Gain and cost"),
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


def _gain(found: TuneResults, series: Series) -> list[Block]:
    first = found.goal.objectives[0]
    plane = [_plane(found, series, price, place) for place, price in enumerate(found.goal.prices)]
    changes = {
        row.scheme: row.unseen
        for row in found.judged
        if row.quantity == first.name and row.reference == found.baseline
    }
    names = {scheme: _short_name(found, scheme) for scheme in changes}
    judged = interval_chart(
        "judged",
        f"{first.name}: every judged scheme",
        f"Change of {first.name} against {found.baseline}, unseen replications",
        {names[scheme]: change for scheme, change in changes.items()},
        f"Changes against {found.baseline} on {found.account.judged_replications} replications that the "
        "search has not seen, with 95 % intervals that hold for all of them at once.",
        "name",
        _sides(first),
    )
    return [
        Grid([*plane, judged]),
        _judged_table(found),
        Prose(report_tune.NOTE, "dim"),
    ]


def _plane(found: TuneResults, series: Series, price: Quantity, place: int) -> Chart:
    """Returns the plane of the first objective and a price: settings tried, and schemes that were judged."""
    gain = found.goal.objectives[0]
    data = [*_tried(found, price, gain), *_points(found, price, gain)]
    judged = [datum for datum in data if datum["role"] != "tried"]
    ends = {
        axis: [datum[f"{axis}{end}"] for datum in judged for end in ("", "_low", "_high")] for axis in "xy"
    }
    x = change_axis(ends["x"], f"{price.name} ({_arrows(price, '←', '→')})")
    y = change_axis(ends["y"], f"{gain.name} ({_arrows(gain, '↓', '↑')})")
    base = series.kept(alt.Chart(alt.InlineData(values=data)))
    tip = [
        alt.Tooltip("setting:N"),
        alt.Tooltip("role:N"),
        alt.Tooltip("gain:N", title=gain.name),
        alt.Tooltip("price:N", title=price.name),
    ]
    own = base.transform_filter("datum.role != 'tried'").encode(color=series.colour(), tooltip=tip)
    tried = base.transform_filter("datum.role == 'tried'").encode(color=series.colour(), tooltip=tip)
    hollow = f"datum.role == '{DEFAULT}'"
    marks = [
        own.transform_filter(f"{hollow} == {str(is_hollow).lower()}")
        .mark_point(opacity=1, strokeWidth=1.8, filled=not is_hollow, size=120)
        .encode(x=x("x"), y=y("y", alt.Y), shape=series.shape())
        for is_hollow in (True, False)
    ]
    picture = alt.layer(
        zero_line(),
        zero_line(alt.Y),
        tried.mark_point(opacity=0.45, clip=True, size=18).encode(x=x("x"), y=y("y", alt.Y)),
        own.mark_rule(strokeWidth=1.5, opacity=0.55).encode(x=x("x_low"), x2="x_high:Q", y=y("y", alt.Y)),
        own.mark_rule(strokeWidth=1.5, opacity=0.55).encode(y=y("y_low", alt.Y), y2="y_high:Q", x=x("x")),
        *marks,
    )
    told = (
        f"Each small mark is a setting that was tried, on the search's {found.account.search_replications} "
        f"replications. Large marks are finalists, hollow ones the schemes as they are, on "
        f"{found.account.judged_replications} unseen ones with 95 % intervals. {found.baseline} is where the "
        "lines cross."
    )
    columns = [
        Column("name", is_number=False),
        Column("role", is_number=False),
        Column(f"{gain.name} (95 %)"),
        Column(f"{price.name} (95 %)"),
    ]
    rows: list[Row] = [
        [datum["name"], datum["role"], TableCell(datum["gain"], datum["y"]),
         TableCell(datum["price"], datum["x"])]
        for datum in judged
    ]  # fmt: skip
    return Chart(
        f"gain-{place}",
        f"What {gain.name} gains, and what {price.name} pays",
        told,
        series.choosing(picture),
        Table(
            f"Changes against {found.baseline} on unseen replications",
            columns,
            rows,
            [datum["scheme"] for datum in judged],
        ),
        height=420,
    )


def _tried(found: TuneResults, price: Quantity, gain: Quantity) -> list[Datum]:
    """Returns the settings that were run on all replications of the search."""
    by_setting: dict[tuple[str, int], Datum] = {}
    for row in found.trials:
        if row.is_stopped or row.quantity not in (price.name, gain.name) or row.change <= -1:
            continue
        datum = by_setting.setdefault(
            (row.family, row.number), {"scheme": row.family, "setting": row.scheme, "role": "tried"}
        )
        place, words = ("x", "price") if row.quantity == price.name else ("y", "gain")
        if isfinite(row.change):
            datum |= {place: rounded(log2(1 + row.change)), words: f"{signed(row.change)} %"}
    return [datum for datum in by_setting.values() if "x" in datum and "y" in datum]


def _points(found: TuneResults, price: Quantity, gain: Quantity) -> list[Datum]:
    """Returns the schemes that were judged."""
    points = []
    for scheme in dict.fromkeys(row.scheme for row in found.judged):
        rows = [found.change(scheme, one.name) for one in (price, gain)]
        if any(row is None or not isfinite(row.unseen.mean) for row in rows):
            continue
        across, down = (row for row in rows if row is not None)
        x, y = (change_datum("scheme", scheme, row.unseen) for row in (across, down))
        points.append(
            {
                "scheme": _series_of(found, across),
                "name": _short_name(found, scheme),
                "setting": scheme,
                "role": across.role,
                "price": x["text"],
                "gain": y["text"],
                **{end: x[part] for end, part in (("x", "mean"), ("x_low", "low"), ("x_high", "high"))},
                **{end: y[part] for end, part in (("y", "mean"), ("y_low", "low"), ("y_high", "high"))},
            }
        )
    return points


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
                _short_name(found, scheme),
                head.role,
                TableCell("–", None) if head.seen is None else TableCell(f"{signed(head.seen)} %", head.seen),
                *(change_cell(own[one.name].unseen if one.name in own else None, one.smaller_is_better)
                  for one in quantities),
                "; ".join(f"{row.limit}: {row.outcome}" for row in limits) or "–",
                scheme,
            ]
        )  # fmt: skip
        keys.append(_series_of(found, head))
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
        _sides(one),
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


def _short_name(found: TuneResults, scheme: str) -> str:
    """Returns the letter of a finalist, or the scheme, with a star if it is recommended."""
    return report_tune.letters(found).get(scheme, scheme) + (" *" if scheme == found.recommended else "")


def _series_of(found: TuneResults, row: JudgedRow) -> str:
    """Returns the family of a setting, or `OTHERS` for a scheme that was not searched."""
    return row.family if row.role in (FINALIST, DEFAULT) and row.family in found.families else OTHERS


def _sides(one: Quantity) -> Sides:
    if one.name.endswith(("rate", "utilisation")):
        return Sides("lower", "higher", one.smaller_is_better)
    return TIMES


def _arrows(one: Quantity, less: str, more: str) -> str:
    sides = _sides(one)
    return f"{less} {sides.less}, {sides.more} {more}"
