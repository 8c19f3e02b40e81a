"""One plain sentence per scheme: better, worse, no measurable benefit, or undecided."""

from dataclasses import dataclass
from math import ceil

from mousehole.engine_types import Floats
from mousehole.plan import Cell
from mousehole.reduction import BucketStatistic, SchemeStatistic
from mousehole.results import CENSORED_SHARE, Finding, Results, finite
from mousehole.sizes import Summary, size_text
from mousehole.statistics import LEAST_REPLICATIONS, Estimate, log_ratio, replications_for
from mousehole.tables import per_cell
from mousehole.texts import percent

TINY = 0.01
"""A change whose whole interval lies within ±1 % is no benefit, even if its sign is certain."""
EXCLUDED_GAIN = 0.05
"""An interval around zero that excludes larger gains than this counts as no measurable benefit."""
BETTER, WORSE, NO_BENEFIT, UNDECIDED = "better", "worse", "no measurable benefit", "undecided"
UNCLEAR = "no clear change"
"""Outcome of an exploratory endpoint whose interval contains zero."""

OVERLAY_NOTE = (
    "The intervals cover the random shifts at which copies of the traffic are overlaid, and the position of "
    "the measured window (for a model: its random draws). They do not cover other days, users or links."
)
EXPLORATORY_NOTE = (
    "The primary endpoint is the mean response time of short transfers; everything else is exploratory. "
    "Intervals are not corrected for comparing several schemes."
)


@dataclass(frozen=True)
class Verdict:
    """The outcome for one endpoint, with a text such as `better by 32 % (95 % interval 28–36 %)`."""

    outcome: str
    text: str
    seeds_needed: int | None = None


@dataclass(frozen=True)
class InBucket:
    """A statistic of a summary bucket."""

    role: Summary
    statistic: BucketStatistic

    def values(self, results: Results, cell: Cell, scheme: str) -> Floats:
        """Returns one value per replication."""
        return results.bucket_values(cell, scheme, self.role, self.statistic)


@dataclass(frozen=True)
class OfScheme:
    """A statistic of the whole scheme; `role` names the summary bucket whose transfers it is about."""

    role: Summary
    statistic: SchemeStatistic

    def values(self, results: Results, cell: Cell, scheme: str) -> Floats:
        """Returns one value per replication."""
        return results.scheme_values(cell, scheme, self.statistic)


@dataclass(frozen=True)
class Endpoint:
    """A quantity in which schemes are compared."""

    name: str
    words: str
    source: InBucket | OfScheme
    """Where its values come from."""
    more: str
    """The word for an increase."""
    less: str
    """The word for a decrease."""
    smaller_is_better: bool
    exploratory: bool


def endpoints(short_bytes: int, long_bytes: int) -> tuple[Endpoint, ...]:
    """Returns the primary endpoint, then those that tell what long transfers pay."""
    short, long = f"transfers ≤ {size_text(short_bytes)}", f"transfers > {size_text(long_bytes)}"
    return (
        Endpoint(
            "short_response_mean_s", f"mean response time of {short}", InBucket("short", "response_mean_s"),
            "longer", "shorter", smaller_is_better=True, exploratory=False,
        ),
        Endpoint(
            "long_response_mean_s", f"mean response time of {long}", InBucket("long", "response_mean_s"),
            "longer", "shorter", smaller_is_better=True, exploratory=True,
        ),
        Endpoint(
            "long_goodput_bps", f"mean rate of finished {long}", OfScheme("long", "long_goodput_bps"),
            "higher", "lower", smaller_is_better=False, exploratory=True,
        ),
    )  # fmt: skip


@per_cell
def findings(results: Results, cell: Cell) -> list[Finding]:
    """Returns every scheme against the baseline, and against FQ-CoDel if that is among the schemes."""
    plan = results.plan
    rivals = [
        scheme for scheme in plan.schemes if scheme.split("(")[0] == "fq-codel" and scheme != plan.baseline
    ]
    pairs = [(scheme, plan.baseline) for scheme in plan.schemes if scheme != plan.baseline]
    pairs += [(scheme, rival) for rival in rivals for scheme, _ in pairs if scheme != rival]
    return [
        _finding(results, cell, scheme, reference, endpoint)
        for scheme, reference in pairs
        for endpoint in endpoints(plan.short_bytes, plan.long_bytes)
    ]


def verdict(ratio: Estimate) -> Verdict:
    """Judges the primary endpoint by the interval of its log-ratio to the reference; smaller is better."""
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
    """Describes how an exploratory endpoint changed, and whether for the better."""
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
    """Returns `95 % interval 28–36 %`, with `to` in place of the dash if an end is negative."""
    low, high = percent(change.low), percent(change.high)
    between = " to " if "−" in low + high else "–"
    return f"95 % interval {low}{between}{high} %"


def _finding(results: Results, cell: Cell, scheme: str, reference: str, endpoint: Endpoint) -> Finding:
    own, other = (endpoint.source.values(results, cell, name) for name in (scheme, reference))
    ratio = log_ratio(own, other)
    judged = description(ratio, endpoint) if endpoint.exploratory else verdict(ratio)
    judged = _with_censoring(results, cell, scheme, reference, endpoint, judged)
    change = ratio.as_change()
    remark = " [exploratory]" if endpoint.exploratory else ""
    return Finding(
        cell.buffer, cell.load, scheme, reference, endpoint.name, endpoint.exploratory, judged.outcome,
        finite(change.mean), finite(change.low), finite(change.high), ratio.count, judged.seeds_needed,
        judged.text,
        f"{scheme} against {reference}, {endpoint.words}: {judged.text}{remark}",
    )  # fmt: skip


def _with_censoring(
    results: Results, cell: Cell, scheme: str, reference: str, endpoint: Endpoint, judged: Verdict
) -> Verdict:
    """Withdraws a verdict if a mean that it relies on is only a lower bound."""
    role = endpoint.source.role
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
    text = f"undecided (too few replications for an interval: {ratio.count} of at least {LEAST_REPLICATIONS})"
    return Verdict(UNDECIDED, text, LEAST_REPLICATIONS)


def _undecided(log_gain: Estimate, gain: Estimate) -> Verdict:
    """Returns `undecided` with the number of seeds that would decide, if mean and spread stay the same."""
    seeds = replications_for(log_gain, max(abs(log_gain.mean), EXCLUDED_GAIN - log_gain.mean))
    about = f"about {seeds}" if seeds else "more than 1000"
    text = (
        f"undecided (more seeds needed, {about}; gain so far {percent(gain.mean)} %, {interval_text(gain)})"
    )
    return Verdict(UNDECIDED, text, seeds)


def _is_bound(results: Results, cell: Cell, scheme: str, role: Summary) -> bool:
    return results.censored_share(cell, scheme, role) > CENSORED_SHARE


def _up(share: float) -> str:
    """Returns a share in percent, rounded up to a tenth so that the bound remains true; at least 0.1."""
    return f"{max(ceil(round(1000 * share, 6)), 1) / 10:g}"
