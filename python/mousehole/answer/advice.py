"""The answer of a comparison: what to install for short transfers, what it costs, how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from mousehole import _engine
from mousehole.answer import findings, notes, tables
from mousehole.answer._install import Installation, Link, installation, link_of, why_nothing
from mousehole.answer.findings import BETTER, NO_BENEFIT, UNDECIDED, WORSE
from mousehole.answer.tables import per_cell
from mousehole.base import Summary, counted, scheme_name, signed, size_text, time_text
from mousehole.runs import Cell, Finding, Plan, Results
from mousehole.statistics import LEAST_REPLICATIONS, log_ratio

RECOMMENDED = "recommended"
NOTHING_BETTER = "nothing better"
NOT_SHOWN = "not shown"
NO_VERDICT = "no verdict"

MOST_LINES = 6
"""The answer for one cell has at most so many lines."""
LINES_OF_OTHER = 4
"""So many lines more where a scheme is at both ends: two heads, and the commands of the other direction."""


@dataclass(frozen=True)
class Advice:
    """What to do on the link of one cell."""

    buffer: str
    load: float | None
    outcome: str
    """recommended, nothing better (no scheme beats the baseline), not shown (some may), or no verdict."""
    scheme: str | None
    """The scheme recommended; otherwise None."""
    not_told_apart: tuple[str, ...]
    """Schemes that can be installed and serve short transfers as well, as far as the runs tell."""
    ahead: tuple[str, ...]
    """Schemes that serve short transfers better still, but that nothing installs."""
    installation: Installation | None
    """How the scheme is installed; None without one."""
    lines: tuple[str, ...]
    """The answer in sentences and commands, at most `MOST_LINES` and those of the other direction."""


@per_cell
def advice(results: Results, cell: Cell) -> list[Advice]:
    """Returns the answer for a cell, as a list of one."""
    primary = _primary(results, cell)
    if results.plan.replications < LEAST_REPLICATIONS or not primary:
        return [_without_verdict(results, cell, _few_replications(results, cell))]
    if results.capture is not None and not results.capture.is_enough("short"):
        return [_without_verdict(results, cell, f"No verdict: {findings.floor_text(results, 'short')}.")]
    better = [finding.scheme for finding in primary if finding.outcome == BETTER]
    if not better:
        return [_nothing_better(results, cell, primary)]
    return [_recommended(results, cell, better)]


@cache
def ideals() -> frozenset[str]:
    """Returns the schemes that nobody can deploy; their summaries in the catalogue begin with `ideal`."""
    return frozenset(entry["name"] for entry in _engine.schemes() if entry["summary"].startswith("ideal"))


def is_ideal(scheme: str) -> bool:
    """Returns whether nobody can deploy the scheme."""
    return scheme_name(scheme) in ideals()


def nothing_compared(plan: Plan) -> str:
    """Returns why no scheme could be recommended however long it ran; empty if one could."""
    rivals = [scheme for scheme in plan.schemes if scheme != plan.baseline]
    if not rivals:
        return f"nothing is compared with {plan.baseline}; name schemes with --schemes"
    if all(map(is_ideal, rivals)):
        return (
            f"only ideals are compared with {plan.baseline}, which nobody can deploy; name others with "
            "--schemes"
        )
    return ""


def _primary(results: Results, cell: Cell) -> list[Finding]:
    """Returns the primary endpoint of every scheme that is no ideal against the baseline."""
    return [
        finding
        for finding in findings.findings(results, cell)
        if not finding.exploratory
        and finding.reference == results.plan.baseline
        and not is_ideal(finding.scheme)
    ]


def _without_verdict(results: Results, cell: Cell, line: str) -> Advice:
    return Advice(cell.buffer, cell.load, NO_VERDICT, None, (), (), None, (line, *_unsteady(results, cell)))


def _few_replications(results: Results, cell: Cell) -> str:
    plan = results.plan
    if nothing := nothing_compared(plan):
        return f"No verdict: {nothing}."
    deployable = [scheme for scheme in plan.schemes if not is_ideal(scheme)]
    means = {scheme: _mean(results, cell, scheme, "short") for scheme in deployable}
    known = [scheme for scheme in deployable if np.isfinite(means[scheme])]
    few = f"No verdict: {findings.few_replications_text(plan, plan.base['duration'])}."
    if results.capture is not None and not results.capture.is_enough("short"):
        return f"{few} More of them give none either: {findings.floor_text(results, 'short')}."
    if not known:
        return few
    least = min(known, key=lambda scheme: means[scheme])
    short = size_text(plan.short_bytes)
    mean = time_text(means[least])
    return f"{few} So far {least} has the smallest mean of transfers ≤ {short}: {mean}."


def _nothing_better(results: Results, cell: Cell, primary: list[Finding]) -> Advice:
    """Says that no scheme is known to beat the baseline, and which one might."""
    plan = results.plan
    short = size_text(plan.short_bytes)
    open_ones = [finding for finding in primary if finding.outcome == UNDECIDED]
    tried = _names([finding.scheme for finding in primary])
    if not open_ones:
        worse = [finding.scheme for finding in primary if finding.outcome == WORSE]
        even = [finding.scheme for finding in primary if finding.outcome == NO_BENEFIT]
        judged = {"no measurable benefit": even, "worse": worse}
        parts = [f"{_names(schemes)}: {word}" for word, schemes in judged.items() if schemes]
        lines = [f"Nothing here beats {plan.baseline} for transfers ≤ {short} ({'; '.join(parts)})."]
    else:
        nearest = min(
            open_ones, key=lambda finding: (not np.isfinite(finding.change.mean), finding.change.mean)
        )
        lines = [
            f"No scheme is shown to beat {plan.baseline} for transfers ≤ {short} (compared: {tried}).",
            f"{nearest.scheme} comes nearest: {nearest.verdict}.",
        ]
    outcome = NOT_SHOWN if open_ones else NOTHING_BETTER
    lines += [_sureness(results, cell), *_unsteady(results, cell)]
    return Advice(cell.buffer, cell.load, outcome, None, (), (), None, tuple(lines[:MOST_LINES]))


def _recommended(results: Results, cell: Cell, better: list[str]) -> Advice:
    """Recommends what serves short transfers best, of those that can be installed if there are any."""
    link = link_of(results.manifest["scenario"], cell.buffer)
    ways = {scheme: installation(scheme, link) for scheme in better}
    can = [scheme for scheme in better if ways[scheme] is not None]
    candidates = can or better
    best = min(candidates, key=lambda scheme: _mean(results, cell, scheme, "short"))
    peers = [
        scheme
        for scheme in candidates
        if scheme != best and not _told_apart(results, cell, scheme, best)
    ]  # fmt: skip
    chosen = min([best, *peers], key=lambda scheme: _cost(results, cell, scheme))
    ahead = [
        scheme
        for scheme in better
        if scheme not in candidates
        and _mean(results, cell, scheme, "short") < _mean(results, cell, chosen, "short")
        and _told_apart(results, cell, scheme, chosen)
    ]
    others = tuple(scheme for scheme in [best, *peers] if scheme != chosen)
    lines = [_gain(results, cell, chosen), _price(results, cell, chosen), _sureness(results, cell, others)]
    lines += _unsteady(results, cell)
    if ahead:
        where = "here" if results.plan.in_rounds else "in simulation"
        lines.append(f"Better still {where}, but nothing installs it: {_names(ahead)}.")
    lines += _how(chosen, ways[chosen], link, MOST_LINES - len(lines))
    return Advice(
        cell.buffer, cell.load, RECOMMENDED, chosen, others, tuple(ahead), ways[chosen], tuple(lines)
    )  # fmt: skip


def _gain(results: Results, cell: Cell, scheme: str) -> str:
    verdict = _finding(results, cell, scheme, "short_response_mean_s").verdict
    return f"Best for transfers ≤ {size_text(results.plan.short_bytes)}: {scheme}, {verdict}."


def _price(results: Results, cell: Cell, scheme: str) -> str:
    """Returns what becomes of long transfers, and of pages where there are some."""
    time, rate = (
        _change(results, cell, scheme, name) for name in ("long_response_mean_s", "long_goodput_bps")
    )
    line = f"Transfers > {size_text(results.plan.long_bytes)}: mean response time {time}, rate {rate}"
    has_pages = any(item.endpoint == "page_mean_s" for item in _of_scheme(results, cell, scheme))
    return line + (f"; pages: {_change(results, cell, scheme, 'page_mean_s')}." if has_pages else ".")


def _change(results: Results, cell: Cell, scheme: str, endpoint: str) -> str:
    """Returns `+26 % (+5.1…+52)`, with `about` before it where unfinished transfers count with their age."""
    finding = _finding(results, cell, scheme, endpoint)
    if not finding.change.has_interval:
        return "unknown"
    change = finding.change
    about = "about " if finding.outcome == UNDECIDED else ""
    return f"{about}{signed(change.mean)} % ({signed(change.low)}…{signed(change.high)})"


def _sureness(results: Results, cell: Cell, others: Sequence[str] = ()) -> str:
    """Returns what stands behind the verdict, and the schemes that it does not tell apart."""
    plan, evidence = results.plan, tables.evidence_row(results, cell)
    parts = [f"{counted(plan.replications, plan.run_word)} of {plan.base['duration']}"]
    if evidence is not None:
        transfers = counted(evidence.short_transfers, "distinct transfer")
        parts.append(f"{transfers} of {counted(evidence.short_clients, 'client')}")
    number = len(plan.schemes) - 1
    held = f"; the interval holds for all {number} schemes at once" if number > 1 else ""
    apart = f" Not told apart from it: {_names(others)}." if others else ""
    return f"How sure: {', '.join(parts)}{held}.{apart}"


def _unsteady(results: Results, cell: Cell) -> list[str]:
    return ["Take care: " + _lowered(note) for note in notes.unsteady(results, cell)[:1]]


def _how(scheme: str, way: Installation | None, link: Link | None, most: int) -> list[str]:
    if way is None:
        return [
            f"Nothing installs {scheme}: {why_nothing(scheme, link)}. Compare what Linux has as well: "
            "--schemes '…,fq-codel,cake'."
        ]
    if len(way.lines) <= most + (LINES_OF_OTHER if link is not None and link.other else 0):
        return [f"Install on {way.place}: {way.lines[0]}", *way.lines[1:]]
    return [f"Install on {way.place}: the {len(way.lines)} lines that --details prints."]


def _told_apart(results: Results, cell: Cell, one: str, other: str) -> bool:
    """Returns whether the interval of the ratio of the short means of two schemes excludes one."""
    first, second = (
        results.bucket_values(cell, scheme, "short", "response_mean_s") for scheme in (one, other)
    )
    ratio = log_ratio(first, second, results.design(cell, is_primary=True))
    return ratio.has_interval and not ratio.low <= 0 <= ratio.high


def _cost(results: Results, cell: Cell, scheme: str) -> float:
    """Returns the mean response time of long transfers, and zero where there are none."""
    mean = _mean(results, cell, scheme, "long")
    return mean if np.isfinite(mean) else 0.0


def _mean(results: Results, cell: Cell, scheme: str, role: Summary) -> float:
    """Returns the mean response time over the replications that have such transfers, NaN if none has."""
    values = results.bucket_values(cell, scheme, role, "response_mean_s")
    known = values[np.isfinite(values)]
    return float(np.mean(known)) if known.size else float("nan")


def _of_scheme(results: Results, cell: Cell, scheme: str) -> list[Finding]:
    return [
        finding
        for finding in findings.findings(results, cell)
        if finding.scheme == scheme and finding.reference == results.plan.baseline
    ]


def _finding(results: Results, cell: Cell, scheme: str, endpoint: str) -> Finding:
    return next(item for item in _of_scheme(results, cell, scheme) if item.endpoint == endpoint)


def _names(schemes: Sequence[str]) -> str:
    return ", ".join(schemes)


def _lowered(text: str) -> str:
    """Returns the text with a small first letter."""
    return text[:1].lower() + text[1:]
