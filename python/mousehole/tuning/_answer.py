"""The answer of a search in sentences: the best setting, its gain and cost, and how it looked when chosen."""

from math import expm1, isfinite, log1p

import numpy as np

from mousehole import _engine
from mousehole._engine import Verdict
from mousehole.answer import BETTER, Link, find_link_of_cell, findings, stand_in
from mousehole.base import counted, find_shaper_rate, percent, rate_text, signed
from mousehole.runs import Cell, Results
from mousehole.scenario import bottleneck
from mousehole.statistics import Estimate
from mousehole.tuning import objectives
from mousehole.tuning._results import (
    BROKEN,
    FINALIST,
    KEPT,
    NOT_SHOWN,
    JudgedRow,
    LimitRow,
    TuneResults,
)
from mousehole.tuning._search_space import find_meaning
from mousehole.tuning.objectives import Quantity

MOST_SHOWN = 10.0
"""Increases beyond this, as shares, are only said to be beyond."""
RIVALS = ("fq-codel", "cake")
"""What people would install instead."""


def write_answer(found: TuneResults, results: Results, cell: Cell) -> tuple[str, ...]:
    """Returns the answer in sentences; `results` are those on the unseen replications.

    Without a recommended setting it says why there is none.
    """
    if found.recommended is None:
        return (*stand_in(results), *_explain_no_setting(found), *_describe_curse(found))
    lines = [
        *stand_in(results),
        _describe_best(found),
        *_describe_shaper(found, results, cell),
        *_describe_prices(found),
    ]
    lines += [_compare_with_rival(found, results, cell, rival) for rival in RIVALS if rival != found.baseline]
    lines += _compare_with_default(found, results, cell)
    return (*lines, *_describe_curse(found))


def write_change(change: Estimate) -> str:
    """Returns a change in percent with its interval: `−32 % (−36…−28)`; `unknown` for NaN."""
    if not isfinite(change.mean):
        return "unknown"
    interval = f" ({_write_share(change.low)}…{_write_share(change.high)})" if change.has_interval else ""
    return f"{_write_share(change.mean)} %{interval}"


def _write_share(share: float) -> str:
    """Returns a share in percent with its sign; one above `MOST_SHOWN` is written as above that."""
    return signed(share) if share < MOST_SHOWN else f"over +{100 * MOST_SHOWN:.0f}"


def describe_limit(row: LimitRow) -> str:
    """Returns how a limit fared on unseen replications, to follow "the limit is".

    A mean within the limit, without an interval or with one that reaches beyond, is "kept by the mean".
    """
    return {KEPT: "kept", BROKEN: "broken"}.get(row.outcome, "kept by the mean, not by the whole interval")


def _describe_best(found: TuneResults) -> str:
    """Returns the sentence on the recommended setting, its gain, and its estimate in the search."""
    account = found.account
    first = found.goal.objectives[0]
    row = found.change(found.recommended or "", first.name)
    many = f" of {counted(len(found.families), 'scheme')}" if len(found.families) > 1 else ""
    within = " within the limits" if found.goal.limits else ""
    said = f"Best of {counted(account.trials, 'setting')}{many}{within}: {found.recommended}"
    if row is None:  # it is the baseline itself
        return f"{said}, which is the baseline."
    seen = "" if row.seen is None else f"; where it was chosen it looked like {signed(row.seen)} %"
    seen += "" if _is_shown(first, row.unseen) else f"; it is not shown to beat {found.baseline}"
    return (
        f"{said}, {first.name} {write_change(row.unseen)} against {found.baseline} on "
        f"{counted(account.judged_replications, 'unseen replication')}{seen}."
    )


def _describe_shaper(found: TuneResults, results: Results, cell: Cell) -> list[str]:
    """Returns, as a list of one, the sentence on the rate of the shaper before the modem.

    Without such a shaper the list is empty. If none of the shapers searched is shown to help, the sentence
    says so.
    """
    scheme, link = found.recommended or "", find_link_of_cell(results, cell)
    first = found.goal.objectives[0]
    row = found.change(scheme, first.name)
    if link is None or link.line_bps is None or row is None:
        return []
    each = sorted((one for one in (link, link.other) if one is not None), key=lambda one: one.is_upload)
    rates = " and ".join(
        f"{rate_text(_find_shaper_bps(scheme, results, one))} {'up' if one.is_upload else 'down'}"
        for one in each
    )
    mean = "mean rate" if link.varies else "rate"
    rate = _name_rate(scheme, results, link)
    share = f"{rate} of the line's {mean}: {rates}" if rate.endswith("%") else rates
    if _is_shown(first, row.unseen) or not any(find_shaper_rate(one.scheme) for one in found.trials):
        return [f"The shaper sends at {share}."]
    return [f"No fixed shaper is shown to help here; the best, not shown to beat {found.baseline}: {share}."]


def _name_rate(scheme: str, results: Results, link: Link) -> str:
    """Returns the rate of the shaper in a direction as text: by the scheme, else by the link, else empty."""
    own = None if link.has_own_shape else find_shaper_rate(scheme)
    return own or bottleneck.read_shape(results.manifest["scenario"], link.is_upload) or ""


def _find_shaper_bps(scheme: str, results: Results, link: Link) -> int:
    """Returns the rate of the shaper in a direction in bit/s; the link must have a line rate."""
    text = _name_rate(scheme, results, link)
    return _engine.shaped_rate("link.shape", text, link.line_bps or 0, link.varies)


def _is_shown(one: Quantity, change: Estimate) -> bool:
    """Returns whether the interval of a change shows that it is for the better."""
    gain = change.negated() if one.smaller_is_better else change
    return gain.has_interval and gain.low > 0


def _describe_prices(found: TuneResults) -> list[str]:
    """Returns, as a list of one, the sentence on the prices of other quantities and on the limits.

    The list is empty if there is neither a known price nor a limit.
    """
    parts = []
    own = {row.limit: row for row in found.limits if row.scheme == found.recommended}
    for one in found.goal.prices:
        row = found.change(found.recommended or "", one.name)
        if row is not None:
            parts.append(f"{one.name} {write_change(row.unseen)} against {found.baseline}")
    given = {one.text for one in found.goal.limits if not one.is_default}
    parts += [f"the limit {text} is {describe_limit(row)}" for text, row in own.items() if text in given]
    others = [row for text, row in own.items() if text not in given]
    not_shown = [row.limit for row in others if row.outcome == NOT_SHOWN]
    if others:
        but = f", but by the whole interval not {', '.join(not_shown)}" if not_shown else ""
        parts.append(f"the default limits are kept{but}")
    return [f"It costs: {'; '.join(parts)}."] if parts else []


def _judge(results: Results, cell: Cell, one: Quantity, scheme: str, reference: str) -> Verdict:
    """Returns the verdict on a quantity under `scheme` against `reference`.

    Its intervals hold for all schemes together.
    """
    ratio = objectives.estimate_change(results, cell, one, scheme, reference, is_primary=True)
    ratio = ratio if one.smaller_is_better else ratio.negated()
    return findings.verdict(ratio, objectives.make_family_design(results, cell, one, reference))


def _compare_with_rival(found: TuneResults, results: Results, cell: Cell, rival: str) -> str:
    """Returns the sentence on whether the recommended setting, or else another finalist, beats a rival.

    The other finalist breaks no limit. `results` must have the recommended setting and the rival.
    """
    first = found.goal.objectives[0]
    known = {find_meaning(scheme): scheme for scheme in results.plan.schemes}
    own, other = known[find_meaning(found.recommended or "")], known[find_meaning(rival)]
    if own == other:
        return f"The recommended setting is {rival} as it is."
    price = _write_prices(found, own, other)
    own_verdict = _judge(results, cell, first, own, other)
    if own_verdict.outcome == BETTER:
        return f"Against {rival}: {first.name} {own_verdict.text}{price}."
    broken = {row.scheme for row in found.limits if row.outcome == BROKEN}
    others = [row.scheme for row in found.judged if row.role == FINALIST and row.scheme not in broken]
    better = [
        scheme
        for scheme in dict.fromkeys(others)
        if scheme not in (own, other) and _judge(results, cell, first, scheme, other).outcome == BETTER
    ]
    said = f"{first.name} {own_verdict.text}{price}"
    if better:
        return f"The recommended setting is not shown to beat {rival} ({said}), but {better[0]} is."
    return f"No setting is shown to beat {rival}: for the recommended one, {said}."


def _write_prices(found: TuneResults, scheme: str, reference: str) -> str:
    """Returns clauses on the changes of other quantities under a scheme, each with a semicolon before it."""
    rows = [found.change(scheme, one.name, reference) for one in found.goal.prices]
    return "".join(f"; {row.quantity} {write_change(row.unseen)}" for row in rows if row is not None)


def _compare_with_default(found: TuneResults, results: Results, cell: Cell) -> list[str]:
    """Returns, as a list of one, the sentence on whether the setting beats its scheme's own setting.

    It names the cost. The list is empty if the scheme's own setting is the baseline.
    """
    known = {find_meaning(scheme): scheme for scheme in results.plan.schemes}
    own, template = known[find_meaning(found.recommended or "")], known[find_meaning(found.family or "")]
    if own == template:
        return [f"No setting is better than {found.family} as it is."]
    if template == found.baseline:
        return []
    first = found.goal.objectives[0]
    judged = _judge(results, cell, first, own, template)
    rows = [found.change(own, one.name, template) for one in found.goal.prices]
    dearer = [row for row in rows if row is not None and _is_dearer(found, row)]
    price = _write_prices(found, own, template)
    if judged.outcome != BETTER:
        word = "is not shown to beat"
    else:
        word = "beats, at a higher cost," if dearer else "beats, at no higher cost,"
    return [f"It {word} {found.family} as it is: {first.name} {judged.text}{price}."]


def _is_dearer(found: TuneResults, row: JudgedRow) -> bool:
    """Returns whether the interval shows that a quantity is worse than under the reference."""
    one = next(each for each in found.goal.quantities if each.name == row.quantity)
    return row.unseen.low > 0 if one.smaller_is_better else row.unseen.high < 0


def _describe_curse(found: TuneResults) -> list[str]:
    """Returns, as a list of one, the sentence on how much better finalists were in the search than unseen.

    The list is empty if that is known of none.
    """
    first = found.goal.objectives[0]
    rows = [
        row
        for row in found.judged
        if row.role == FINALIST and (row.quantity, row.reference) == (first.name, found.baseline)
        and row.shrinkage is not None and isfinite(row.shrinkage)
    ]  # fmt: skip
    if not rows:
        return []
    mean = expm1(float(np.mean([log1p(row.shrinkage or 0.0) for row in rows])))
    whose = "of the finalist" if len(rows) == 1 else f"of {len(rows)} finalists"
    own = next((row for row in rows if row.scheme == found.recommended and len(rows) > 1), None)
    also = f" (of the recommended one {_write_shift(own.shrinkage or 0.0)})" if own else ""
    return [
        f"The winner's curse: unseen, {first.name} {whose} is {_write_shift(mean)} than on the "
        f"{counted(found.account.search_replications, 'replication')} that chose it{also}, each as a ratio "
        f"to {found.baseline}."
    ]


def _write_shift(share: float) -> str:
    """Returns a change in percent as `higher` or `lower`."""
    return f"{percent(abs(share))} % {'higher' if share >= 0 else 'lower'}"


def _explain_no_setting(found: TuneResults) -> list[str]:
    """Returns, as a list of one, the sentence that no finalist is within the limits, and which is nearest.

    Distances are compared as `Limit.weight` has them.
    """
    broken = [row for row in found.limits if row.outcome == BROKEN and isfinite(row.excess.mean)]
    if not broken:
        return ["No setting is recommended: its quantities are unknown on unseen replications."]
    limits = {one.text: one for one in found.goal.limits}
    worst: dict[str, tuple[float, LimitRow]] = {}
    for row in broken:
        by = limits[row.limit].weight(row.excess.mean)
        if row.scheme not in worst or worst[row.scheme][0] < by:
            worst[row.scheme] = by, row
    _, nearest = min(worst.values(), key=lambda one: one[0])
    return [
        f"No setting is recommended: none of {counted(len(worst), 'finalist')} keeps the limits on "
        f"{counted(found.account.judged_replications, 'unseen replication')}. {nearest.scheme} comes "
        f"nearest: beyond {nearest.limit} by {_write_excess(nearest)}."
    ]


def _write_excess(row: LimitRow) -> str:
    """Returns the amount by which a limit is exceeded, with its interval, in percent or the limit's unit."""
    if not row.unit:
        return write_change(row.excess)
    mean, low, high = (
        objectives.write_amount(one, row.unit) for one in (row.excess.mean, row.excess.low, row.excess.high)
    )
    return f"{mean} ({low}…{high})" if row.excess.has_interval else mean
