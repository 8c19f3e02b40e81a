"""One plain sentence per scheme: better, worse, equal, or undecided."""

import re
from dataclasses import dataclass, replace
from math import nan

import numpy as np

from mousehole import quantities
from mousehole._engine import Quantity
from mousehole.answer.tables import complete, per_cell
from mousehole.base import MOST_PERCENT, Summary, counted, percent, size_text, unit_text
from mousehole.engine_types import Floats
from mousehole.quantities import Measure
from mousehole.runs import (
    CENSORED_SHARE,
    LEAST_TRANSFERS,
    Cell,
    Finding,
    Plan,
    Results,
    finite,
    overlaid,
)
from mousehole.statistics import (
    LEAST_REPLICATIONS,
    LEVEL,
    UNKNOWN,
    Design,
    Estimate,
    difference,
    log_ratio,
    replications_for,
    smaller_in,
)

SHORT_MEAN = quantities.find_measure("short_response_mean_s")
"""The primary endpoint wherever there are short transfers."""
MARGIN = 0.05
"""What is shown to lie within ±5 % of the reference is equal, even if its sign is certain."""
DOUBLED = 1.0
"""Of an interval that reaches beyond so much harm, a doubling, the end says nothing and is left out."""
PAGES = ("pages", "page_mean_s")
"""The figure of applications that is an endpoint: the mean time of a page."""
BETTER, WORSE, NO_BENEFIT, UNDECIDED = "better", "worse", f"equal within {100 * MARGIN:g} %", "undecided"
NOT_JUDGED = "not judged"
"""Begins the verdict of what is undecided because the capture has too few transfers."""
UNCLEAR = "no clear change"
"""Outcome of an exploratory endpoint whose interval contains zero."""

CAPTURE_NOTE = (
    "The intervals cover what another capture of this length and place would differ by: each replication "
    "draws the capture's clients anew, with replacement. They do not cover other times of day, users or "
    "links, or transfers too rare to be in the capture."
)
FITTED_NOTE = (
    "The intervals cover what another capture of this length and place would differ by: each replication "
    "plays a model that is fitted to a resample of the capture. Sizes beyond what was recorded are those of "
    "files on the Web elsewhere. Of models whose truth is known, effects had the right sign and looked "
    "smaller than they are. The intervals do not cover other times of day, users or links."
)
REPLAY_NOTE = (
    "The traffic is replayed as it is. The intervals cover the position of the measured window only; with a "
    "load (--load) they also cover what another capture would differ by."
)
MODEL_NOTE = "The intervals cover the random draws of the model."
ROUNDS_NOTE = (
    "The intervals cover what rounds of the same programs on this machine differ by. They do not cover other "
    "programs, machines or links."
)
EXPLORATORY_NOTE = (
    "The primary endpoint is the {primary}. A change is the geometric mean of "
    "the replications' ratios. Its 95 % intervals hold together for all schemes against one reference "
    "(largest t, by the bootstrap), {looks}. Everything else is exploratory, and its intervals stand alone."
)


@dataclass(frozen=True)
class Verdict:
    """The outcome for one endpoint, with a text such as `better by 32 % (95 % interval 28–36 %)`."""

    outcome: str
    text: str
    seeds_needed: int | None = None


@dataclass(frozen=True)
class Unit:
    """What intervals are taken over, in the words of verdicts."""

    interval: str
    """What an interval is called."""
    enough: str
    """What so many of them, `{}`, would do."""
    never: str
    """What is said if more of them would hardly decide."""
    name: str = "replication"


REPLICATIONS = Unit("95 % interval", "--seeds {} may decide", "even 1000 seeds would hardly decide")
ROUNDS = Unit("95 % interval", "--rounds {} may decide", "even 1000 rounds would hardly decide", "round")


@dataclass(frozen=True)
class InBucket:
    """A statistic of a summary bucket."""

    role: Summary
    statistic: str

    @property
    def quantity(self) -> Quantity:
        """What is measured."""
        return quantities.find("bucket", self.statistic)

    def values(self, results: Results, cell: Cell, scheme: str) -> Floats:
        """Returns one value per replication; no percentile unless all replications have it."""
        values = results.bucket_values(cell, scheme, self.role, self.statistic)
        return np.asarray(complete(values), float) if self.quantity.is_percentile else values


@dataclass(frozen=True)
class OfScheme:
    """A statistic of the whole scheme; `role` names the summary bucket whose transfers it is about."""

    role: Summary
    statistic: str

    @property
    def quantity(self) -> Quantity:
        """What is measured."""
        return quantities.find("scheme", self.statistic)

    def values(self, results: Results, cell: Cell, scheme: str) -> Floats:
        """Returns one value per replication."""
        return results.scheme_values(cell, scheme, self.statistic)


@dataclass(frozen=True)
class OfGroup:
    """A figure of an application, by group and name; `role` names the bucket of its transfers."""

    role: Summary
    group: tuple[str, str]

    @property
    def quantity(self) -> Quantity:
        """What is measured."""
        return quantities.find("application", self.group[1])

    def values(self, results: Results, cell: Cell, scheme: str) -> Floats:
        """Returns one value per replication."""
        return results.group_values(cell, scheme, self.group)


@dataclass(frozen=True)
class OfKind:
    """A figure of a kind of application; `role` names the bucket of the transfers that it stands beside."""

    role: Summary
    measure: Measure

    @property
    def quantity(self) -> Quantity:
        """What is measured."""
        return self.measure.quantity

    def values(self, results: Results, cell: Cell, scheme: str) -> Floats:
        """Returns one value per replication."""
        return results.kind_values(cell, scheme, str(self.measure.kind), self.quantity.name)


@dataclass(frozen=True)
class Endpoint:
    """A quantity in which schemes are compared."""

    name: str
    words: str
    source: InBucket | OfScheme | OfGroup | OfKind
    """Where its values come from."""
    exploratory: bool = True


def source_of(measure: Measure) -> InBucket | OfScheme | OfKind:
    """Returns where the values of a measure come from."""
    name = measure.quantity.name
    if measure.kind:
        return OfKind("all", measure)
    return InBucket(measure.role, name) if measure.role else OfScheme(measure.quantity.role or "all", name)


def endpoints(short_bytes: int, long_bytes: int, has_pages: bool = False) -> tuple[Endpoint, ...]:
    """Returns the primary endpoint, then those that tell what other transfers gain or pay."""
    short, long = f"transfers ≤ {size_text(short_bytes)}", f"transfers > {size_text(long_bytes)}"

    def endpoint(
        name: str, source: InBucket | OfScheme | OfGroup, transfers: str, exploratory: bool = True
    ) -> Endpoint:
        return Endpoint(name, source.quantity.words_about(transfers), source, exploratory)

    pages = [endpoint("page_mean_s", OfGroup("all", PAGES), "")] if has_pages else []
    return (
        endpoint("short_response_mean_s", InBucket("short", "response_mean_s"), short, exploratory=False),
        endpoint("short_response_p95_s", InBucket("short", "response_p95_s"), short),
        endpoint("long_response_mean_s", InBucket("long", "response_mean_s"), long),
        endpoint("long_goodput_bps", OfScheme("long", "long_goodput_bps"), long),
        *pages,
    )


@per_cell
def findings(results: Results, cell: Cell) -> list[Finding]:
    """Returns every scheme against the baseline, and against FQ-CoDel if that is among the schemes."""
    plan = results.plan
    has_pages = any(PAGES in run.groups for run in results.runs(cell, plan.baseline))
    wanted = endpoints(plan.short_bytes, plan.long_bytes, has_pages)
    if (first := results.primary(cell)).role != "short":
        # Of transfers that there are not, nothing is said.
        others = [one for one in wanted if one.exploratory and _is_known(results, cell, one)]
        wanted = (Endpoint(first.name, first.description, source_of(first), exploratory=False), *others)
    return [
        _finding(results, cell, scheme, reference, endpoint)
        for reference in plan.references
        for scheme in plan.schemes
        if scheme not in (plan.baseline, reference)
        for endpoint in wanted
    ]


def _is_known(results: Results, cell: Cell, endpoint: Endpoint) -> bool:
    values = (endpoint.source.values(results, cell, scheme) for scheme in results.plan.schemes)
    return any(bool(np.any(np.isfinite(own))) for own in values)


def primary_words(results: Results, cell: Cell) -> str:
    """Returns whose primary endpoint a cell has: `transfers ≤ 15 kB`, or `calls (one-way delay, p95)`."""
    first = results.primary(cell)
    if first.kind is None:
        return f"transfers ≤ {size_text(results.plan.short_bytes)}"
    return f"{first.kind.replace('_', ' ')} ({first.quantity.axis})"


def coverage_note(results: Results) -> str:
    """Returns the sentence that says what the intervals cover."""
    if results.plan.in_rounds:
        return ROUNDS_NOTE
    if results.capture is None:
        return MODEL_NOTE
    if results.capture.is_fitted:
        return FITTED_NOTE
    plan = results.plan
    resampled = overlaid(plan.scenario(plan.cells[0], plan.baseline)["traffic"])
    return CAPTURE_NOTE if resampled else REPLAY_NOTE


def primary_of(results: Results) -> str:
    """Returns the primary endpoint in words: that of the first cell, if cells differ."""
    return results.primary(results.plan.cells[0]).description


def with_endpoint(results: Results) -> Results:
    """Returns the results with the primary endpoint in their manifest."""
    statistics = {**results.manifest["statistics"], "primary_endpoint": primary_of(results)}
    return replace(results, manifest={**results.manifest, "statistics": statistics})


def exploratory_note(plan: Plan, primary: str = SHORT_MEAN.description) -> str:
    """Returns which endpoint is the primary one, and which intervals hold together."""
    looks = (
        "and for all looks if replications are doubled for each (10, 20, 40, …)"
        if plan.is_sequential
        else "for one look at this number of replications"
    )
    return EXPLORATORY_NOTE.format(looks=looks, primary=primary).replace("replications", f"{plan.run_word}s")


def verdict(
    ratio: Estimate,
    design: Design | None = None,
    unit: Unit = REPLICATIONS,
    faster: tuple[int, int] | None = None,
) -> Verdict:
    """Judges the primary endpoint by the interval of its log-ratio to the reference; smaller is better.

    `design` is that of the interval, which is over `unit`; `faster` says in how many of how many of them the
    scheme was. Equal is what two one-sided tests place within the margin (`Design.limits`). Each may err in
    5 %, by itself: nobody installs what is equal, so schemes do not share this error.
    """
    if not ratio.has_interval:
        return _no_interval(ratio, unit)
    design = design or Design()
    gain = ratio.as_change().negated()
    limits = design.limits(ratio, 1 - LEVEL).as_change()
    if limits.low >= -MARGIN and limits.high <= MARGIN:
        return Verdict(NO_BENEFIT, f"{NO_BENEFIT} ({interval_text(gain, unit)} of the gain)")
    if gain.low > 0:
        return Verdict(BETTER, f"better by {percent(gain.mean)} % ({interval_text(gain, unit)})")
    if gain.high < 0:
        loss = gain.negated()
        return Verdict(WORSE, f"worse by {capped_percent(loss.mean)} % ({interval_text(loss, unit)})")
    return _undecided(ratio.negated(), gain, design, unit, faster)


def description(ratio: Estimate, endpoint: Endpoint, unit: Unit = REPLICATIONS) -> Verdict:
    """Describes how an exploratory endpoint changed, and whether for the better."""
    if not ratio.has_interval:
        return _no_interval(ratio, unit)
    change = ratio.as_change()
    if change.low <= 0 <= change.high:
        return Verdict(UNCLEAR, f"no clear change ({interval_text(change, unit)})")
    more, less = endpoint.source.quantity.more_and_less
    word = more if change.low > 0 else less
    size = change if change.low > 0 else change.negated()
    better = (change.high < 0) == endpoint.source.quantity.less_is_better
    return Verdict(
        BETTER if better else WORSE, f"{word} by {capped_percent(size.mean)} % ({interval_text(size, unit)})"
    )


def interval_text(change: Estimate, unit: Unit = REPLICATIONS) -> str:
    """Returns `95 % interval 28–36 %`, with `to` in place of the dash if an end is negative."""
    low, high = capped_percent(change.low), capped_percent(change.high)
    between = " to " if re.search("[−<>]", low + high) else "–"
    return f"{unit.interval} {low}{between}{high} %"


def capped_percent(share: float) -> str:
    """Returns a share in percent, `> 999` or `< −999` for what is further from zero."""
    if 100 * abs(share) <= MOST_PERCENT:
        return percent(share)
    return f"> {MOST_PERCENT}" if share > 0 else f"< −{MOST_PERCENT}"


def from_to_text(own: Floats, other: Floats, unit: str = "seconds") -> str:
    """Returns the means over the replications that both know, from the other's to the own.

    An example is `128 ms → 87 ms`. Without such replications it is `unknown`.
    """
    known = np.isfinite(own) & np.isfinite(other) if own.shape == other.shape else np.zeros(0, bool)
    if not np.any(known):
        return "unknown"
    return " → ".join(unit_text(unit, float(np.mean(one[known]))) for one in (other, own))


def _finding(results: Results, cell: Cell, scheme: str, reference: str, endpoint: Endpoint) -> Finding:
    own, other = (endpoint.source.values(results, cell, name) for name in (scheme, reference))
    design = results.design(cell) if endpoint.exploratory else results.primary_design(cell, reference)
    both = own.shape == other.shape  # a percentile may be missing under one of them
    ratio = log_ratio(own, other, design) if both else log_ratio([], [])
    is_time = both and endpoint.source.quantity.unit == "seconds"
    apart = difference(own, other, design) if is_time else UNKNOWN
    unit = ROUNDS if results.plan.in_rounds else REPLICATIONS
    judged = (
        description(ratio, endpoint, unit)
        if endpoint.exploratory
        else verdict(ratio, design, unit, smaller_in(own, other))
    )
    if not ratio.has_interval:
        judged = _with_missing(results, endpoint, cell, (scheme, reference)) or judged
    judged = _with_floor(results, endpoint, judged)
    if judged.outcome in (BETTER, WORSE) and not endpoint.exploratory:
        means = from_to_text(own, other, endpoint.source.quantity.unit)
        judged = Verdict(judged.outcome, f"{judged.text}, mean {means}")
    judged = _with_censoring(results, cell, scheme, reference, endpoint, judged)
    slower, faster = (nan, nan) if endpoint.exploratory else results.shares(cell, scheme, reference)
    remark = " [exploratory]" if endpoint.exploratory else ""
    return Finding(
        cell.buffer, cell.load, scheme, reference, endpoint.name, endpoint.exploratory, judged.outcome,
        change=ratio.as_change(),
        difference_s=apart,
        slower_share=finite(slower),
        faster_share=finite(faster),
        replications=ratio.count,
        error=design.error(ratio.count),
        seeds_needed=judged.seeds_needed,
        verdict=judged.text,
        sentence=f"{scheme} against {reference}, {endpoint.words}: {judged.text}{remark}",
    )  # fmt: skip


def _with_missing(
    results: Results, endpoint: Endpoint, cell: Cell, schemes: tuple[str, str]
) -> Verdict | None:
    """Returns why there is no interval if some replications lack the endpoint; None if none lacks it."""
    plan, source = results.plan, endpoint.source
    is_percentile = source.quantity.is_percentile
    if isinstance(source, InBucket):
        columns = [results.bucket_values(cell, name, source.role, source.statistic) for name in schemes]
    else:
        columns = [source.values(results, cell, name) for name in schemes]
    having = int(np.sum(np.all(np.isfinite(columns), axis=0)))
    if plan.replications < LEAST_REPLICATIONS or having == plan.replications:
        return None
    word = plan.run_word
    had = f"only {having} of {plan.replications} {word}s had" if having else f"no {word} had"
    if isinstance(source, OfKind):
        what = str(source.measure.kind).replace("_", " ")
    else:
        what = "enough such transfers for a percentile" if is_percentile else "such a transfer"
    return Verdict(UNDECIDED, f"undecided ({had} {what})")


def _with_floor(results: Results, endpoint: Endpoint, judged: Verdict) -> Verdict:
    """Withdraws a verdict if the capture has too few distinct transfers of the class."""
    if has_enough_of(results, endpoint.source):
        return judged
    return Verdict(UNDECIDED, f"{NOT_JUDGED} ({floor_text(results, endpoint.source.role)})")


def has_enough_of(results: Results, source: InBucket | OfScheme | OfGroup | OfKind) -> bool:
    """Returns whether the capture has so many distinct transfers of the class that it may be judged.

    Pages and kinds of applications are no transfers.
    """
    capture = results.capture
    return capture is None or isinstance(source, OfGroup | OfKind) or capture.is_enough(source.role)


def few_replications_text(plan: Plan, length: str = "") -> str:
    """Returns why there is no interval: too few replications, each of `length` if it is given."""
    each = f" of {length}" if length else ""
    give = "gives" if plan.replications == 1 else "give"
    return (
        f"{counted(plan.replications, plan.run_word)}{each} {give} no interval; "
        f"at least {LEAST_REPLICATIONS} are needed ({'--rounds' if plan.in_rounds else '--seeds'})"
    )


def floor_text(results: Results, role: Summary) -> str:
    """Returns how many distinct transfers of a size the capture has, and how many a verdict needs."""
    transfers = results.capture.counted[role].transfers if results.capture else 0
    short, long = size_text(results.plan.short_bytes), size_text(results.plan.long_bytes)
    sizes = {"short": f" ≤ {short}", "long": f" > {long}"}.get(role, "")
    least = results.capture.least if results.capture else LEAST_TRANSFERS
    return f"the capture has {counted(transfers, 'distinct transfer')}{sizes}, of at least {least}"


def _with_censoring(
    results: Results, cell: Cell, scheme: str, reference: str, endpoint: Endpoint, judged: Verdict
) -> Verdict:
    """Withdraws a verdict if a mean that it relies on is only a lower bound."""
    role = endpoint.source.role
    if isinstance(endpoint.source, OfKind):
        return judged
    bounds = (is_bound(results, cell, scheme, role), is_bound(results, cell, reference, role))
    who = scheme if bounds[0] else reference
    share = percent(results.censored_share(cell, who, role))
    return with_bounds(judged, *bounds, f"{share} % of the transfers under {who} were left unfinished")


def with_bounds(judged: Verdict, scheme_bound: bool, reference_bound: bool, why: str) -> Verdict:
    """Withdraws a verdict for the reason `why` if a mean that it relies on is only a lower bound.

    Where the truth can only be further from no change, the verdict stands, with `at least`.
    """
    if judged.outcome == UNDECIDED or not (scheme_bound or reference_bound):
        return judged
    harmless = {WORSE: not reference_bound, BETTER: not scheme_bound}
    if harmless.get(judged.outcome, False):
        return Verdict(judged.outcome, judged.text.replace(" by ", " by at least ", 1))
    return Verdict(UNDECIDED, f"undecided ({why})")


def _no_interval(ratio: Estimate, unit: Unit) -> Verdict:
    if ratio.count == 0:
        return Verdict(UNDECIDED, "undecided (there were no such transfers to compare)")
    few = f"too few {unit.name}s for an interval: {ratio.count} of at least {LEAST_REPLICATIONS}"
    return Verdict(UNDECIDED, f"undecided ({few})", LEAST_REPLICATIONS)


def _undecided(
    log_gain: Estimate, gain: Estimate, design: Design, unit: Unit, faster: tuple[int, int] | None
) -> Verdict:
    """Returns `undecided` with what remains possible, and the look that would decide if the spread stays."""
    wanted = max(abs(log_gain.mean), MARGIN - abs(log_gain.mean))
    seeds = replications_for(log_gain, wanted, design)
    is_open = gain.low < -DOUBLED
    most = f"{percent(gain.high)} %"
    harm = f"more than {percent(DOUBLED)} %" if is_open else f"up to {percent(-gain.low)} %"
    if gain.high <= MARGIN:
        left = f"gains above {most} are excluded, but it may harm by {harm}"
    elif gain.low >= -MARGIN:
        left = f"harm above {percent(-gain.low)} % is excluded, and it may help by up to {most}"
    else:
        left = f"it may help by up to {most} or harm by {harm}"
    if seeds:
        more = unit.enough.format(seeds)
    elif design.capture_share:
        more = "a longer capture may decide, more seeds hardly"
    else:
        more = unit.never
    shown = "" if is_open else f" ({interval_text(gain, unit)} of the gain)"
    often = f", {faster_text(faster, unit)}" if faster and faster[1] else ""
    return Verdict(UNDECIDED, f"undecided{often}: {left}{shown}; {more}", seeds)


def faster_text(faster: tuple[int, int], unit: Unit = REPLICATIONS) -> str:
    """Returns `faster in 7 of 10 replications`."""
    return f"faster in {faster[0]} of {counted(faster[1], unit.name)}"


def is_bound(results: Results, cell: Cell, scheme: str, role: Summary) -> bool:
    """Returns whether so many transfers of a class are unfinished that their mean is only a lower bound."""
    return results.censored_share(cell, scheme, role) > CENSORED_SHARE
