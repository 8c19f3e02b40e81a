"""The answer of a comparison: what to install, what every class gains or pays, how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, log1p
from typing import Final

import numpy as np

from mousehole._engine import MARGIN
from mousehole.answer import findings, notes, tables, vetoes
from mousehole.answer._entries import Outcome
from mousehole.answer._install import AT_THE_LINE, Installation, Link, installation, link_of_cell, why_nothing
from mousehole.answer.findings import BETTER, NO_BENEFIT, UNDECIDED, WORSE
from mousehole.answer.tables import per_cell
from mousehole.answer.vetoes import Veto
from mousehole.base import capped, counted, rate_of, unit_text
from mousehole.inputs import account
from mousehole.runs import Cell, Finding, Plan, Results, is_ideal
from mousehole.statistics import LEAST_REPLICATIONS, Design, Estimate, log_ratio, smaller_in

RECOMMENDED: Final = "recommended"
NOTHING_BETTER: Final = "nothing better"
NOT_SHOWN: Final = "not shown"
NO_VERDICT: Final = "no verdict"
VETOED: Final = "vetoed"

MOST_LINES = 12
"""The answer for one cell has at most so many lines."""
LEAST_CLASS_LINES = 2
"""Commands leave so many lines for what classes gain or pay."""
LINES_OF_OTHER = 5
"""So many lines more where a scheme is at both ends: two heads, the other commands, a remark on the rate."""
MOST_PEERS = 3
"""So many schemes beside the recommended one are named."""
MOST_VETOED = 2
"""So many schemes that a veto rules out are named with who pays."""


@dataclass(frozen=True)
class Advice:
    """What to do on the link of one cell."""

    buffer: str
    load: float | None
    outcome: Outcome
    """recommended, nothing better (no scheme beats the baseline), not shown (some may), vetoed (those that do
    make a class pay too much), or no verdict."""
    scheme: str | None
    """The scheme recommended; otherwise None."""
    is_best: bool
    """Whether no other scheme that can be installed, and that no veto rules out, may be faster by more than
    5 %, by the intervals."""
    peers: tuple[str, ...]
    """Schemes that can be installed and are not shown to be slower for short transfers, the fastest first."""
    ahead: tuple[str, ...]
    """Schemes that serve short transfers better still, but that nothing installs."""
    reference: str
    """The scheme that harm is measured against."""
    vetoes: tuple[Veto, ...]
    """Who pays, or may, under the schemes that are shown to beat the baseline, and under the recommended one;
    without intervals, under all."""
    installation: Installation | None
    """How the scheme is installed; None without one."""
    lines: tuple[str, ...]
    """The answer in sentences and commands, at most `MOST_LINES` and those of the other direction."""

    @property
    def ruled_out(self) -> tuple[str, ...]:
        """The schemes that a veto rules out, the fastest first."""
        return tuple(dict.fromkeys(one.scheme for one in self.vetoes if one.binds))


@per_cell
def advice(results: Results, cell: Cell) -> list[Advice]:
    """Returns the answer for a cell, as a list of one."""
    found = _answer(results, cell)
    return [replace(found, lines=(*stand_in(results), *found.lines))]


def stand_in(results: Results) -> list[str]:
    """Says what is played in the place of a capture that is too small to be played as it is."""
    if why := results.plan.instead_of:
        return [f"Not your traffic: ready-made users stand in for {why} for a model of it."]
    if results.capture is not None and results.capture.is_fitted:
        return [
            f"Played is {results.label}, drawn anew in each {results.plan.run_word}; the intervals allow for "
            "how little they tell."
        ]
    return []


def _most_lines(results: Results) -> int:
    """Returns how many lines the answer has at most below what stands in for a capture."""
    return MOST_LINES - len(stand_in(results))


def _answer(results: Results, cell: Cell) -> Advice:
    primary = _primary(results, cell)
    if results.plan.replications < LEAST_REPLICATIONS or not primary:
        return _without_verdict(results, cell, *_few_replications(results, cell))
    if _is_small_capture(results, cell):
        return _without_verdict(results, cell, f"No verdict: {findings.floor_text(results, 'short')}.")
    better = [finding.scheme for finding in primary if finding.outcome == BETTER]
    if not better:
        return _nothing_better(results, cell, primary)
    order = {scheme: place for place, scheme in enumerate(_ranked(results, cell))}
    found = sorted(
        (one for one in vetoes.vetoes(results, cell) if one.scheme in better),
        key=lambda one: order.get(one.scheme, len(order)),
    )
    out = {one.scheme for one in found if one.binds}
    left = [scheme for scheme in better if scheme not in out]
    if not left:
        return _vetoed(results, cell, found)
    return _recommended(results, cell, _candidates(results, cell, left, out), found)


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


def _is_small_capture(results: Results, cell: Cell) -> bool:
    """Returns whether short transfers are judged, and the capture has too few of them."""
    has_short = results.primary(cell).role == "short"
    return has_short and results.capture is not None and not results.capture.is_enough("short")


def _advice(
    results: Results, cell: Cell, outcome: Outcome, lines: Sequence[str], found: Sequence[Veto] = ()
) -> Advice:
    """Returns an answer that recommends nothing."""
    other = vetoes.reference(results.plan)
    return Advice(
        cell.buffer, cell.load, outcome, None, False, (), (), other, tuple(found), None,
        tuple([*lines, *_left_out(results)][:_most_lines(results)]),
    )  # fmt: skip


def _without_verdict(results: Results, cell: Cell, line: str, least: str | None = None) -> Advice:
    """Says why there is no verdict, and what the estimates are under `least`, which is ahead so far."""
    found = vetoes.vetoes(results, cell) if results.plan.replications < LEAST_REPLICATIONS else []
    others = [*_pays_lines(results, found, "By estimate, some pay under "), *_remarks(results, cell)]
    classes = [] if least in (None, results.plan.baseline) else _class_lines(results, cell, least or "")
    lines = [line, *_packed(classes, _most_lines(results) - 1 - len(others)), *others]
    return _advice(results, cell, NO_VERDICT, lines, found)


def _class_lines(results: Results, cell: Cell, scheme: str) -> list[str]:
    """Returns what classes gain or pay, without short transfers if the first line has them."""
    return results.compared(cell).class_lines(scheme)


def _pays_lines(results: Results, found: Sequence[Veto], begin: str) -> list[str]:
    """Returns who pays under the schemes that a veto rules out: a line for each of the first schemes."""
    schemes = list(dict.fromkeys(one.scheme for one in found if one.binds))
    other = vetoes.reference(results.plan)
    lines = [
        f"{begin}{scheme} against {other}: "
        + f"{_first_texts([one for one in found if one.binds and one.scheme == scheme])}."
        for scheme in schemes[:MOST_VETOED]
    ]
    if rest := schemes[MOST_VETOED:]:
        lines.append(f"Others under which some class pays too much: {_names(rest)}.")
    return lines


def _first_texts(found: Sequence[Veto]) -> str:
    """Returns who pays, of every class the first figure that is beyond its margin."""
    texts: dict[str, str] = {}
    for one in found:
        texts.setdefault(one.margin.whose, one.text)
    return "; ".join(texts.values())


def _vetoed(results: Results, cell: Cell, found: Sequence[Veto]) -> Advice:
    """Says that every scheme that beats the baseline makes a class pay more than its margin."""
    words = results.compared(cell).primary_words()
    lines = [
        f"Nothing is recommended: what beats {results.plan.baseline} for {words} makes others pay.",
        *_pays_lines(results, found, "Not recommended: "),
        _sureness(results, cell),
        *_remarks(results, cell),
    ]
    return _advice(results, cell, VETOED, lines, found)


def _few_replications(results: Results, cell: Cell) -> tuple[str, str | None]:
    """Returns why there is no verdict, and the scheme that is ahead so far."""
    plan = results.plan
    if nothing := nothing_compared(plan):
        return f"No verdict: {nothing}.", None
    deployable = [scheme for scheme in plan.schemes if not is_ideal(scheme)]
    means = {scheme: _mean(results, cell, scheme) for scheme in deployable}
    out = {one.scheme for one in vetoes.vetoes(results, cell)}
    known = [scheme for scheme in deployable if np.isfinite(means[scheme]) and scheme not in out]
    few = f"No verdict: {results.compared(cell).few_replications_text(plan.base['duration'])}."
    if _is_small_capture(results, cell):
        return f"{few} More of them give none either: {findings.floor_text(results, 'short')}.", None
    if not known:
        return few, None
    least = min(known, key=lambda scheme: means[scheme])
    mean = unit_text(results.primary(cell).quantity.unit, means[least])
    rest = ", of those under which nobody pays too much" if out else ""
    words = results.compared(cell).primary_words()
    return f"{few} So far {least} has the smallest mean of {words}: {mean}{rest}.", least


def _nothing_better(results: Results, cell: Cell, primary: list[Finding]) -> Advice:
    """Says that no scheme is known to beat the baseline, and which one might."""
    plan = results.plan
    words = results.compared(cell).primary_words()
    lines_kept = [_sureness(results, cell), *_remarks(results, cell)]
    open_ones = [finding for finding in primary if finding.outcome == UNDECIDED]
    tried = _names([finding.scheme for finding in primary])
    if not open_ones:
        worse = [finding.scheme for finding in primary if finding.outcome == WORSE]
        even = [finding.scheme for finding in primary if finding.outcome == NO_BENEFIT]
        judged = {NO_BENEFIT: even, WORSE: worse}
        parts = [f"{_names(schemes)}: {word}" for word, schemes in judged.items() if schemes]
        lines = [f"Nothing here beats {plan.baseline} for {words} ({'; '.join(parts)})."]
    else:
        nearest = min(
            open_ones, key=lambda finding: (not np.isfinite(finding.change.mean), finding.change.mean)
        )
        lines = [
            f"No scheme is shown to beat {plan.baseline} for {words} (compared: {tried}).",
            f"{nearest.scheme} comes nearest: {nearest.verdict}.",
            *_packed(_class_lines(results, cell, nearest.scheme), _most_lines(results) - len(lines_kept) - 2),
        ]
    outcome: Outcome = NOT_SHOWN if open_ones else NOTHING_BETTER
    return _advice(results, cell, outcome, [*lines, *lines_kept])


@dataclass(frozen=True)
class _Candidates:
    """The schemes among which one is recommended, the least mean of short transfers first."""

    ranked: tuple[str, ...]
    """Schemes by the geometric mean of their paired ratios: those that can be installed, if one helps."""
    others: tuple[str, ...]
    """Schemes that nothing installs, in the same order."""
    shown: tuple[str, ...]
    """Those of `ranked` that are shown to beat the baseline."""
    ways: dict[str, Installation | None]


def _candidates(results: Results, cell: Cell, better: list[str], out: set[str]) -> _Candidates:
    """Returns the schemes that may be recommended; `better` are those that are shown to beat the baseline.

    Vetoes rule out those of `out`.
    """
    link = link_of_cell(results, cell)
    pays = out | {one.scheme for one in vetoes.vetoes(results, cell) if one.binds}
    ranked = [scheme for scheme in _ranked(results, cell) if scheme not in pays]
    ways = {scheme: installation(scheme, link) for scheme in ranked}
    has_way = any(ways[scheme] is not None for scheme in better)
    candidates = [scheme for scheme in ranked if not has_way or ways[scheme] is not None]
    shown = [scheme for scheme in candidates if scheme in better]
    others = tuple(scheme for scheme in ranked if scheme not in candidates)
    return _Candidates(tuple(candidates), others, tuple(shown), ways)


def _ranked(results: Results, cell: Cell) -> list[str]:
    """Returns the schemes that may be recommended, the least geometric mean of short transfers first.

    An ideal is none of them, nor one whose mean is only a lower bound.
    """
    base = results.primary_values(cell, results.plan.baseline)
    has_short = results.primary(cell).role == "short"
    ratios = {
        scheme: log_ratio(results.primary_values(cell, scheme), base).mean
        for scheme in results.plan.schemes
        if scheme != results.plan.baseline
        and not is_ideal(scheme)
        and not (has_short and results.compared(cell).is_bound(scheme, "short"))
    }
    known = [scheme for scheme in ratios if np.isfinite(ratios[scheme])]
    return sorted(known, key=lambda scheme: ratios[scheme])


def _chosen(results: Results, cell: Cell, found: _Candidates) -> str:
    """Returns the least mean of those shown to help; of means within 5 % of it, the one that costs less.

    It costs less if its long transfers are shown to take less time than under the least. A scheme with a
    smaller mean that was faster than the least in every replication takes its place: what is recommended is
    beaten every time by nothing that can be installed.
    """
    least = found.shown[0]
    before = found.ranked[: found.ranked.index(least)]
    if always := [scheme for scheme in before if _is_always_faster(results, cell, scheme, least)]:
        return always[0]
    ties = [
        scheme
        for scheme in found.shown
        if _ratio(results, cell, scheme, least).mean <= log1p(MARGIN)
        and _long_ratio(results, cell, scheme, least).high < 0
    ]
    return min(ties, key=lambda scheme: _long_ratio(results, cell, scheme, least).mean, default=least)


def _is_best(results: Results, cell: Cell, chosen: str, rivals: Sequence[str]) -> bool:
    """Returns whether it is shown that no rival is faster by more than 5 %, all of them together.

    Source: J. C. Hsu, "Constrained simultaneous confidence intervals for multiple comparisons with the best",
    Annals of Statistics 12 (1984): what matters is the difference to the best of the others.
    """
    return all(_lowest(results, cell, rival, chosen) >= log1p(-MARGIN) for rival in rivals)


def _lowest(results: Results, cell: Cell, scheme: str, reference: str) -> float:
    """Returns the lower one-sided limit of a ratio; infinity for a scheme without short transfers."""
    design, ratio = _pair_design(results, cell, scheme, reference), _ratio(results, cell, scheme, reference)
    return design.limits(ratio, design.error(ratio.count)).low if ratio.count else inf


def _recommended(results: Results, cell: Cell, found: _Candidates, pays: Sequence[Veto]) -> Advice:
    """Recommends what serves short transfers best, of those that can be installed if there are any.

    `pays` says who pays under the schemes that are shown to beat the baseline.
    """
    link = link_of_cell(results, cell)
    chosen = _chosen(results, cell, found)
    way = found.ways[chosen]
    rivals = [scheme for scheme in found.ranked if scheme != chosen]
    peers = [scheme for scheme in rivals if not _ratio(results, cell, scheme, chosen).low > 0]
    ahead = [scheme for scheme in found.others if _is_ahead(results, cell, scheme, chosen)]
    is_best = _is_best(results, cell, chosen, [*rivals, results.plan.baseline])
    near = [one for one in pays if not _ratio(results, cell, one.scheme, chosen).low > 0]
    lines = [
        *_pays_lines(results, near, "Not recommended: "),
        *_may_pay(results, cell, chosen),
        _sureness(results, cell, chosen, peers),
        *_remarks(results, cell),
    ]
    if ahead:
        where = "here" if results.plan.in_rounds else "in simulation"
        lines.append(f"Better still {where}, but nothing installs it: {_names(ahead)}.")
    classes = _class_lines(results, cell, chosen)
    lines += _left_out(results)[: max(_most_lines(results) - len(lines) - LEAST_CLASS_LINES - 2, 0)]
    room = _most_lines(results) - len(lines) - 2  # without the first line, and the heading of the commands
    how = _how(chosen, way, link, room - min(len(classes), LEAST_CLASS_LINES))
    return Advice(
        cell.buffer, cell.load, RECOMMENDED, chosen, is_best, tuple(peers), tuple(ahead),
        vetoes.reference(results.plan),
        tuple(one for one in vetoes.vetoes(results, cell) if one in pays or one.scheme == chosen),
        way,
        (_gain(results, cell, chosen, is_best, found.shown[0]),
         *_packed(classes, max(room - len(how), LEAST_CLASS_LINES)), *lines, *how),
    )  # fmt: skip


def _packed(texts: Sequence[str], most: int) -> list[str]:
    """Returns the texts on at most so many lines, several on one where they are more; `most` is 1 or more."""
    per_line = -(-len(texts) // max(most, 1)) if texts else 1
    return [". ".join(texts[first : first + per_line]) + "." for first in range(0, len(texts), per_line)]


def _may_pay(results: Results, cell: Cell, scheme: str) -> list[str]:
    """Returns who may pay under a scheme beyond the margins, where the harm is not shown."""
    found = [one for one in vetoes.vetoes(results, cell) if one.scheme == scheme and not one.binds]
    return [f"May pay, against {vetoes.reference(results.plan)}: {_first_texts(found)}."] if found else []


def _left_out(results: Results) -> list[str]:
    """Returns what was left out of the traffic as it was read."""
    if results.traffic is None:
        return []
    texts = [one.text for one in account.remarks(results.traffic) if one.kind == "skipped"]
    return [f"Left out: {'; '.join(texts)}."] if texts else []


def _is_ahead(results: Results, cell: Cell, scheme: str, chosen: str) -> bool:
    """Returns whether a scheme is shown to be faster than the chosen one, or was in every replication."""
    always = _is_always_faster(results, cell, scheme, chosen)
    return always or _ratio(results, cell, scheme, chosen).high < 0


def _is_always_faster(results: Results, cell: Cell, scheme: str, other: str) -> bool:
    """Returns whether a scheme was faster than another in every replication, of five at least."""
    faster, of = smaller_in(*(results.primary_values(cell, name) for name in (scheme, other)))
    return faster == of >= LEAST_REPLICATIONS


def _gain(results: Results, cell: Cell, scheme: str, is_best: bool, shown: str) -> str:
    """Returns what short transfers gain; `Best` is said only where it is shown.

    A scheme that is not shown to help by itself was faster than `shown`, which is, in every replication.
    """
    endpoint = results.primary(cell).name
    own = _finding(results, cell, scheme, endpoint)
    word = "Best" if is_best else "Recommended"
    said = own.verdict
    if own.outcome != BETTER:
        verdict = _finding(results, cell, shown, endpoint).verdict
        said = f"faster in every {results.plan.run_word} than {shown}, which is {verdict}"
    return f"{word} for {results.compared(cell).primary_words()}: {scheme}, {said}."


def _sureness(results: Results, cell: Cell, chosen: str | None = None, peers: Sequence[str] = ()) -> str:
    """Returns what stands behind the verdict, and the schemes that may serve as well."""
    plan, evidence = results.plan, tables.evidence_row(results, cell)
    parts = [f"{counted(plan.replications, plan.run_word)} of {plan.base['duration']}"]
    if chosen is not None:
        faster, of = smaller_in(*(results.primary_values(cell, name) for name in (chosen, plan.baseline)))
        parts.append(f"faster than {plan.baseline} in {faster} of {of}")
    if evidence is not None:
        transfers = counted(evidence.short_transfers, "distinct transfer")
        parts.append(f"{transfers} of {counted(evidence.short_clients, 'client')}")
    number = len(plan.schemes) - 1
    held = f"; the interval holds for all {number} schemes at once" if number > 1 else ""
    return f"How sure: {', '.join(parts)}{held}.{_peers_text(results, cell, chosen, peers)}"


def _peers_text(results: Results, cell: Cell, chosen: str | None, peers: Sequence[str]) -> str:
    """Returns how the schemes that are not shown to be slower than the chosen one compare with it."""
    if chosen is None or not peers:
        return ""
    texts = [_beside(results, cell, scheme, chosen) for scheme in peers[:MOST_PEERS]]
    rest = f" and {len(peers) - MOST_PEERS} more" if len(peers) > MOST_PEERS else ""
    return f" Not shown to be slower than it: {', '.join(texts)}{rest}."


def _beside(results: Results, cell: Cell, scheme: str, chosen: str) -> str:
    """Returns `cake +8.0 % (faster in 3 of 10)`."""
    faster, of = smaller_in(*(results.primary_values(cell, name) for name in (scheme, chosen)))
    change = _ratio(results, cell, scheme, chosen).as_change().mean
    return f"{scheme} {capped(change)} % (faster in {faster} of {of})"


def _remarks(results: Results, cell: Cell) -> list[str]:
    """Returns how schemes stand before a modem, and whether there is no steady state."""
    return [*_before_modem(results, cell), *_unsteady(results, cell)]


def _before_modem(results: Results, cell: Cell) -> list[str]:
    """Returns which scheme is the modem's FIFO alone, and at which rate the others send into it."""
    link = results.manifest["scenario"]["link"]
    if (shape := link.get("shape")) is None:
        return []
    up = link.get("up_shape", shape)
    each = f"at {shape} of the line" if shape.endswith("%") else f"at {shape}"
    each += "" if up == shape else f" ({up} up)"
    own = "; those with @ at their own rate" if any(map(rate_of, results.plan.schemes)) else ""
    modem = link.get("modem_buffer", cell.buffer)
    unshaped = [one for one in results.plan.schemes if one == "droptail"]
    alone = f"{unshaped[0]} is what is there: the modem's FIFO of {modem} alone" if unshaped else ""
    others = f"the others send into it {each}{own}"
    return [f"{alone}; {others}." if alone else f"Schemes send into a modem's FIFO of {modem} {each}{own}."]


def _unsteady(results: Results, cell: Cell) -> list[str]:
    return ["Take care: " + _lowered(note) for note in notes.unsteady(results, cell)[:1]]


def _how(scheme: str, way: Installation | None, link: Link | None, most: int) -> list[str]:
    if way is None:
        return [
            f"Nothing installs {scheme}: {why_nothing(scheme, link)}. Compare what Linux has as well: "
            "--schemes '…,fq-codel,cake'."
        ]
    most += LINES_OF_OTHER if link is not None and link.other else 0
    for lines in (way.lines, [line for line in way.lines if line != AT_THE_LINE]):
        if len(lines) <= most:
            return [f"Install on {way.place}: {lines[0]}", *lines[1:]]
    return [f"Install on {way.place}: the {len(way.lines)} lines that --details prints."]


def _ratio(results: Results, cell: Cell, scheme: str, reference: str) -> Estimate:
    """Returns the logarithm of the ratio of primary endpoints, with the interval for all schemes."""
    own, other = (results.primary_values(cell, name) for name in (scheme, reference))
    return log_ratio(own, other, _pair_design(results, cell, scheme, reference))


def _pair_design(results: Results, cell: Cell, scheme: str, reference: str) -> Design:
    """Returns the design of a pair; where `scheme` is a reference of verdicts too, the wider of both.

    So the answer never takes for shown what a verdict calls undecided.
    """
    names = [reference, *({scheme} & set(results.plan.references))]
    designs = [results.primary_design(cell, name) for name in names]
    return max(designs, key=lambda design: design.comparisons)


def _long_ratio(results: Results, cell: Cell, scheme: str, reference: str) -> Estimate:
    """Returns the same of long transfers, with an interval of its own."""
    own, other = (
        results.bucket_values(cell, name, "long", "response_mean_s") for name in (scheme, reference)
    )
    return log_ratio(own, other, results.design(cell))


def _mean(results: Results, cell: Cell, scheme: str) -> float:
    """Returns the primary endpoint's mean over the replications that have it, NaN if none has."""
    values = results.primary_values(cell, scheme)
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
