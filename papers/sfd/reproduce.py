"""SFD's tables and figures, published beside ours: `mousehole paper sfd --table 4`."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from mousehole.statistics import Estimate

from papers.common import Json, estimate, merged, percent, with_interval
from papers.paper import (
    NO_INTERVAL,
    Claim,
    Finding,
    Heading,
    Item,
    Paper,
    Part,
    Picture,
    Run,
    Table,
    Verdict,
    heading,
    judged,
)
from papers.sfd.cases import DATA, base, inter_session_s, load_case, variant_case, variants
from papers.sfd.measures import Measured, Reduction, measure, reduction

BUFFERS = ("15p", "25p", "50p", "100p")
BUFFER_VARIANTS = ("DT", "SFD, decoupled queues", "SFD, coupled queues")
LOADS = ("light", "medium", "heavy")
READINGS = ("SFD, decoupled queues", "SFD, coupled queues")
"""The paper's words, and what its simulator did by default."""
SESSIONS = (("calibrated", False), ("published", True))
"""Times between sessions and whether counts are rounded up, for the runs at medium load."""
NO_LONG = "NL (no long flows)"
PLACE = "Table 4 as published"
COLUMNS_4 = ("variant", "max", "min", "mean (95 %)", "std / DT's", "utilisation", "loss")


def table_3(run: Run) -> Iterator[Part]:
    """Yields utilisation and loss under drop-tail by load, session rates published and calibrated."""
    yield _heading(run)
    scenario, published = base(run.full), DATA.published()["table_3"]
    kinds = (("published", True), ("published", False), ("calibrated", False))
    cases = {
        f"{load} {times} {_rounding(literal)}": load_case(scenario, times, load, literal)
        for load in LOADS
        for times, literal in kinds
    }
    done = run.replicate(cases, measure)
    rows = []
    for load in LOADS:
        stated = published[load]
        rows.append([f"{load}, published", "", percent(stated["utilisation"]), percent(stated["loss"], 1)])
        for times, literal in kinds:
            runs = done[f"{load} {times} {_rounding(literal)}"]
            gap = f"{inter_session_s(times, load):g} s ({times})"
            rows.append([f"  ours, {_rounding(literal)}", gap, *_state_with_intervals(runs)])
    columns = ["load", "session every", "utilisation (95 %)", "loss (95 %)"]
    yield Table("Table 3: load of the bottleneck under drop-tail", columns, rows)


def table_4(run: Run) -> Iterator[Part]:
    """Yields the reduction of the mean transmission latency of short flows against drop-tail."""
    yield _heading(run)
    published = DATA.published()
    findings: list[Finding] = []
    for times, literal in SESSIONS:
        scenario = load_case(base(run.full), times, "medium", literal)
        done = run.replicate({name: variant_case(scenario, name) for name in variants()}, measure)
        every = f"every {inter_session_s(times, 'medium'):g} s"
        title = f"Table 4, row Simple: medium load, a session {every} ({times}), {_rounding(literal)}"
        results = {name: reduction(runs, done["DT"]) for name, runs in done.items() if name != "DT"}
        yield Table(title, COLUMNS_4, [_published_row_4(published), *_rows_4(done, results)])
        findings += _findings_4(published, results, f"{every} ({_rounding(literal)})")
    yield from _buffers(run, published)
    yield from _two_tier(run, published, findings)


def figure_6(run: Run) -> Iterator[Part]:
    """Yields Figure 6: mean and standard deviation of the latency of short flows by size, medium load."""
    from papers.sfd import figures

    yield _heading(run)
    scenario = load_case(base(run.full), "published", "medium", literal=True)
    done = run.replicate({name: variant_case(scenario, name) for name in figures.STYLES}, measure)
    picture = Path("sfd-figure-6.png")
    figures.figure_6(done, picture)
    yield Picture(picture)


def _two_tier(run: Run, published: Json, findings: list[Finding]) -> Iterator[Part]:
    """Yields row 2-tier, with rates and delays of the second tier that are ours, then all findings."""
    tiers = base(run.full, "two-tier")
    stated = published["table_4"]["two_tier"]
    found = []
    for times, literal in SESSIONS:
        scenario = load_case(tiers, times, "medium", literal)
        done = run.replicate({name: variant_case(scenario, name) for name in BUFFER_VARIANTS}, measure)
        results = {name: reduction(done[name], done["DT"]) for name in BUFFER_VARIANTS[1:]}
        session = f"a session every {inter_session_s(times, 'medium'):g} s, {_rounding(literal)}"
        published_row = ["published (SFD)", *(percent(stated[name]) for name in ("max", "min", "mean"))]
        rows = [[*published_row, "", "", ""], *_rows_4(done, results)]
        yield Table(f"Table 4, row 2-tier, with rates of our own: {session}", COLUMNS_4, rows)
        found += [f"{name}, {session}, {with_interval(result.mean)}" for name, result in results.items()]
    result = (
        "NOT COMPARED. The rates and delays of the second tier stand "
        f"only in a figure that is lost; with our own the mean reduction is: {'; '.join(found)}."
    )
    yield from findings
    statement = "Row 2-tier (published 26 / 20 / 23 %)"
    claim = Claim(statement, PLACE, result, Verdict.NOT_COMPARED)
    yield Finding(f"{statement}: {result}", claim)


def _published_row_4(published: Json) -> list[str]:
    simple, medium = published["table_4"]["simple"], published["table_3"]["medium"]
    reductions = [percent(simple[name]) for name in ("max", "min", "mean")]
    ratio = f"{published['short_flows']['std_ratio']:.2g}"
    return ["published (SFD)", *reductions, ratio, percent(medium["utilisation"]), percent(medium["loss"], 1)]


def _rows_4(done: dict[str, list[Measured]], results: dict[str, Reduction]) -> list[list[str]]:
    rows = [["DT", "", "", "", "1", *_state(done["DT"])]]
    for name, result in results.items():
        extremes = [percent(result.most.mean), percent(result.least.mean), with_interval(result.mean)]
        rows.append([name, *extremes, f"{result.std_ratio.mean:.2f}", *_state(done[name])])
    return rows


def _buffers(run: Run, published: Json) -> Iterator[Part]:
    """Yields the mean reduction by the buffer, which the paper does not give."""
    for times, literal in SESSIONS:
        scenario = load_case(base(run.full), times, "medium", literal)
        rows = []
        for buffer in BUFFERS:
            sized = merged(scenario, {"link": {"buffer": buffer, "uplink_buffer": buffer}})
            done = run.replicate({name: variant_case(sized, name) for name in BUFFER_VARIANTS}, measure)
            means = [with_interval(reduction(done[name], done["DT"]).mean) for name in BUFFER_VARIANTS[1:]]
            rows.append([buffer.replace("p", " packets"), *means, *_state(done["DT"])])
        columns = ["buffer", *BUFFER_VARIANTS[1:], "DT's utilisation", "DT's loss"]
        stated = percent(published["table_4"]["simple"]["mean"])
        title = (
            f"Mean reduction by buffer (published {stated}): a session "
            f"every {inter_session_s(times, 'medium'):g} s, {_rounding(literal)}"
        )
        yield Table(title, columns, rows)


def _findings_4(published: Json, results: dict[str, Reduction], session: str) -> list[Finding]:
    """Returns one finding for each claim that these runs can judge; every reading of the paper is judged."""
    mean, stated = published["table_4"]["simple"]["mean"], published["short_flows"]
    no_long = results[NO_LONG].mean
    findings = []
    for name in READINGS:
        ours = results[name].mean
        result = (
            f"{name}, mean reduction {with_interval(ours)}, published {percent(mean)}: "
            f"{_agreement(ours, mean)}; {percent(ours.mean / no_long.mean)} of the bound without long flows "
            f"(published {percent(stated['share_of_nl_bound'])})."
        )
        findings.append(_finding(name, result, judged(ours, mean, mean), session, mean, ours))
    least = stated["nl_reduction_at_least"]
    result = (
        f"without long flows, {with_interval(no_long)}, published at least {percent(least)}: "
        f"{_agreement(no_long, least)}."
    )
    verdict = judged(no_long, least, least)
    findings.append(_finding("without long flows", result, verdict, session, least, no_long))
    red = results["RED"].mean
    holds = red.low <= 0.0
    word = "so here too" if holds else "which does not hold here"
    result = f"RED is not better than drop-tail (published); ours {with_interval(red)}, {word}."
    verdict = judged(red, -np.inf, 0.0)
    findings.append(_finding("RED", result, verdict, session, ours=red))
    return findings


def _finding(
    statement: str,
    result: str,
    verdict: Verdict,
    session: str,
    published: float | None = None,
    ours: Estimate | None = None,
) -> Finding:
    both_ends = None if published is None else (published, published)
    claim = Claim(f"{statement}, {session}", PLACE, result, verdict, both_ends, ours)
    return Finding(f"{session}: {result}", claim)


def _agreement(ours: Estimate, published: float) -> str:
    if not ours.has_interval:
        return NO_INTERVAL
    if ours.low <= published <= ours.high:
        return "the published number lies in our interval"
    return f"the published number lies {'above' if published > ours.high else 'below'} our interval"


def _state(runs: list[Measured]) -> list[str]:
    return [percent(estimate(runs, "utilisation").mean), percent(estimate(runs, "loss").mean, 1)]


def _state_with_intervals(runs: list[Measured]) -> list[str]:
    return [with_interval(estimate(runs, "utilisation")), with_interval(estimate(runs, "loss"), 1)]


def _rounding(literal: bool) -> str:
    return "counts rounded up" if literal else "counts max(1, floor)"


def _heading(run: Run) -> Heading:
    short = "4,000 s instead of the paper's 12,000 s; --full for all of it"
    length = "the paper's 12,000 s" if run.full else short
    return heading(run, "SFD, simple dumbbell", length, "buffer, initial window and RTO, rounding", "sfd")


PAPER = Paper(
    name="sfd",
    items=[Item("table", 3, table_3), Item("table", 4, table_4), Item("figure", 6, figure_6)],
)
main = PAPER.main
