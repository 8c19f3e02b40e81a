"""One plain sentence per scheme: better, worse, no measurable benefit, or undecided."""

from dataclasses import asdict, dataclass
from math import ceil, isfinite
from typing import Any

from mousehole.manifest import CENSORED_SHARE
from mousehole.plan import Cell
from mousehole.sizes import size_text
from mousehole.statistics import LEAST_REPLICATIONS, Estimate, log_ratio, replications_for
from mousehole.tables import Results

TINY = 0.01
"""A change that lies within ±1 % with its whole interval is no benefit, however clear."""
EXCLUDED_GAIN = 0.05
"""An interval around zero that excludes larger gains than this counts as no measurable benefit."""
BETTER, WORSE, NO_BENEFIT, UNDECIDED = "better", "worse", "no measurable benefit", "undecided"
UNCLEAR = "no clear change"
"""Of an exploratory endpoint whose interval holds zero."""

OVERLAY_NOTE = (
    "The intervals cover how the traffic was laid over itself and where the window was cut (for a model: its "
    "draws); they do not cover other days, other users or other links."
)
EXPLORATORY_NOTE = (
    "The primary endpoint is the mean response time of short transfers; everything else is exploratory, "
    "and intervals are not widened for comparing several schemes."
)


@dataclass(frozen=True)
class Verdict:
    """The outcome for one endpoint, with its text such as `better by 32 % (95 % interval 28–36 %)`."""

    outcome: str
    text: str
    seeds_needed: int | None = None


@dataclass(frozen=True)
class Finding:
    """One scheme against one reference on one endpoint, in one cell of the grid."""

    buffer: str
    load: float | None
    scheme: str
    reference: str
    endpoint: str
    exploratory: bool
    outcome: str
    change: float | None
    change_low: float | None
    change_high: float | None
    replications: int
    seeds_needed: int | None
    verdict: str
    """`better by 32 % (95 % interval 28–36 %)` and the like."""
    sentence: str
    """The verdict with who is compared with whom, and on what."""

    def as_row(self) -> dict[str, Any]:
        """The finding as a plain dictionary."""
        return asdict(self)


@dataclass(frozen=True)
class Endpoint:
    """What is compared; `more` and `less` say in a word what a larger and a smaller number is."""

    name: str
    words: str
    more: str
    less: str
    smaller_is_better: bool
    exploratory: bool


def endpoints(short_bytes: int, long_bytes: int) -> tuple[Endpoint, ...]:
    """The primary endpoint first, then what long transfers pay."""
    short, long = f"transfers ≤ {size_text(short_bytes)}", f"transfers > {size_text(long_bytes)}"
    return (
        Endpoint("short_response_mean_s", f"mean response time of {short}", "longer", "shorter", True, False),
        Endpoint("long_response_mean_s", f"mean response time of {long}", "longer", "shorter", True, True),
        Endpoint("long_goodput_bps", f"mean rate of finished {long}", "higher", "lower", False, True),
    )


def findings(results: Results) -> list[Finding]:
    """Every scheme against the baseline, and against FQ-CoDel where it is among the schemes."""
    plan = results.plan
    rivals = [
        scheme for scheme in plan.schemes if scheme.split("(")[0] == "fq-codel" and scheme != plan.baseline
    ]
    pairs = [(scheme, plan.baseline) for scheme in plan.schemes if scheme != plan.baseline]
    pairs += [(scheme, rival) for rival in rivals for scheme, _ in pairs if scheme != rival]
    return [
        _finding(results, cell, scheme, reference, endpoint)
        for cell in plan.cells
        for scheme, reference in pairs
        for endpoint in endpoints(plan.short_bytes, plan.long_bytes)
    ]


def verdict(ratio: Estimate) -> Verdict:
    """Judges the primary endpoint by its log-ratio to the reference; less is better."""
    if not ratio.has_interval:
        return _no_interval(ratio)
    gain = ratio.as_change().negated()
    tiny = gain.low >= -TINY and gain.high <= TINY
    if tiny or gain.low <= 0 <= gain.high <= EXCLUDED_GAIN:
        return Verdict(NO_BENEFIT, f"no measurable benefit (gains above {_up(gain.high)} % excluded)")
    if gain.low > 0:
        return Verdict(BETTER, f"better by {percent(gain.mean)} % ({interval_text(gain)})")
    if gain.high < 0:
        loss = gain.negated()
        return Verdict(WORSE, f"worse by {percent(loss.mean)} % ({interval_text(loss)})")
    return _undecided(ratio.negated(), gain)


def description(ratio: Estimate, endpoint: Endpoint) -> Verdict:
    """Says how an exploratory endpoint changed, and whether for the better."""
    if not ratio.has_interval:
        return _no_interval(ratio)
    change = ratio.as_change()
    if change.low <= 0 <= change.high:
        return Verdict(UNCLEAR, f"no clear change ({interval_text(change)})")
    word = endpoint.more if change.low > 0 else endpoint.less
    size = change if change.low > 0 else change.negated()
    better = (change.high < 0) == endpoint.smaller_is_better
    return Verdict(BETTER if better else WORSE, f"{word} by {percent(size.mean)} % ({interval_text(size)})")


def interval_text(change: Estimate) -> str:
    """`95 % interval 28–36 %`, with `to` where a minus sign would meet the dash."""
    low, high = percent(change.low), percent(change.high)
    between = " to " if "−" in low + high else "–"
    return f"95 % interval {low}{between}{high} %"


def percent(share: float) -> str:
    """A share in percent with two or three digits and a true minus sign, without the sign for percent."""
    value = 100 * share
    text = f"{value:.0f}" if abs(value) >= 9.95 else f"{value:.1f}"
    return text.replace("-0.0", "0.0").replace("-", "−")


def _finding(results: Results, cell: Cell, scheme: str, reference: str, endpoint: Endpoint) -> Finding:
    ratio = log_ratio(_values(results, cell, scheme, endpoint), _values(results, cell, reference, endpoint))
    judged = description(ratio, endpoint) if endpoint.exploratory else verdict(ratio)
    judged = _with_censoring(results, cell, scheme, reference, endpoint, judged)
    change = ratio.as_change()
    remark = " [exploratory]" if endpoint.exploratory else ""
    return Finding(
        cell.buffer, cell.load, scheme, reference, endpoint.name, endpoint.exploratory, judged.outcome,
        _or_none(change.mean), _or_none(change.low), _or_none(change.high), ratio.count, judged.seeds_needed,
        judged.text,
        f"{scheme} against {reference}, {endpoint.words}: {judged.text}{remark}",
    )  # fmt: skip


def _values(results: Results, cell: Cell, scheme: str, endpoint: Endpoint) -> Any:
    role, _, statistic = endpoint.name.partition("_")
    if endpoint.smaller_is_better:
        return results.bucket_values(cell, scheme, role, statistic)
    return results.scheme_values(cell, scheme, endpoint.name)


def _with_censoring(
    results: Results, cell: Cell, scheme: str, reference: str, endpoint: Endpoint, judged: Verdict
) -> Verdict:
    """Withdraws a verdict that rests on a mean which is only a lower bound on the side that would matter."""
    role = endpoint.name.partition("_")[0]
    scheme_bound, reference_bound = (_is_bound(results, cell, name, role) for name in (scheme, reference))
    if judged.outcome == UNDECIDED or not (scheme_bound or reference_bound):
        return judged
    harmless = {WORSE: not reference_bound, BETTER: not scheme_bound}
    if harmless.get(judged.outcome, False):
        return Verdict(judged.outcome, judged.text.replace(" by ", " by at least ", 1))
    who = scheme if scheme_bound else reference
    share = results.censored_share(cell, who, role)
    return Verdict(
        UNDECIDED, f"undecided ({percent(share)} % of the transfers under {who} were left unfinished)"
    )


def _no_interval(ratio: Estimate) -> Verdict:
    if ratio.count == 0:
        return Verdict(UNDECIDED, "undecided (there were no such transfers to compare)")
    reason = f"no interval from {ratio.count}, {LEAST_REPLICATIONS} at least"
    return Verdict(UNDECIDED, f"undecided (more seeds needed: {reason})", LEAST_REPLICATIONS)


def _undecided(log_gain: Estimate, gain: Estimate) -> Verdict:
    """Says how many seeds would settle the sign, or exclude a gain worth having, if mean and spread stay."""
    seeds = replications_for(log_gain, max(abs(log_gain.mean), EXCLUDED_GAIN - log_gain.mean))
    about = f"about {seeds}" if seeds else "more than 1000"
    text = (
        f"undecided (more seeds needed, {about}; gain so far {percent(gain.mean)} %, {interval_text(gain)})"
    )
    return Verdict(UNDECIDED, text, seeds)


def _is_bound(results: Results, cell: Cell, scheme: str, role: str) -> bool:
    return results.censored_share(cell, scheme, role) > CENSORED_SHARE


def _up(share: float) -> str:
    """Percent rounded up to a tenth, at least 0.1: a bound must not be rounded below itself."""
    return f"{max(ceil(round(1000 * share, 6)), 1) / 10:g}"


def _or_none(value: float) -> float | None:
    return value if isfinite(value) else None
