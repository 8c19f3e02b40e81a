from dataclasses import replace
from math import isnan, nan
from typing import Any

import numpy as np
import pytest
from mousehole.answer import (
    BETTER,
    UNDECIDED,
    WORSE,
    findings,
    notes,
)
from mousehole.base import counted, percent, share_text, span_text
from mousehole.engine_types import Floats
from mousehole.runs import Capture, Counted, Plan, Results, Warmup
from support import HandMadeRun, make_results, make_results_of_schemes


@pytest.mark.parametrize(
    ("share", "text"), [(0.3249, "32"), (0.0316, "3.2"), (-0.0004, "0.0"), (-0.05, "−5.0"), (1.5, "150")]
)
def test_percent__rounds(share: float, text: str) -> None:
    assert percent(share) == text


def make_runs(mean_s: float, unfinished: int = 0, **changes: Any) -> list[HandMadeRun]:
    """Returns six replications of 50 short transfers of about `mean_s` and two long ones of 10 s.

    The first `unfinished` short ones of each have no end.
    """
    ends = [[mean_s * (1 + 0.001 * number)] * 50 for number in range(6)]
    for end in ends:
        end[:unfinished] = [nan] * unfinished
    return [HandMadeRun([1000] * 50 + [10**6] * 2, [*end, 10.0, 10.0], **changes) for end in ends]


def find_primary(found: Results) -> findings.Finding:
    """Returns the first finding that is not exploratory."""
    return next(finding for finding in findings.findings(found) if not finding.exploratory)


def test_findings__better_with_sentence() -> None:
    finding = find_primary(make_results(make_runs(0.7), make_runs(1.0)))
    assert finding.outcome == BETTER
    assert finding.sentence == (
        "sfd against droptail, mean response time of transfers ≤ 15 kB: "
        "better by 30 % (95 % interval 30–30 %), mean 1 s → 702 ms"
    )
    assert finding.change.mean == pytest.approx(-0.3)
    assert finding.difference_s.mean == pytest.approx(-0.3 * 1.0025)


def test_findings__say_which_share_of_the_same_transfers_got_slower() -> None:
    mixed = [HandMadeRun([1000] * 50, [0.5] * 30 + [1.0] * 5 + [3.0] * 15) for _ in range(6)]
    same = [HandMadeRun([1000] * 50, [1.0] * 50) for _ in range(6)]
    finding = find_primary(make_results(mixed, same))
    assert (finding.slower_share, finding.faster_share) == (0.3, 0.6)
    other = [replace(run, size=run.size[:20], end_s=run.end_s[:20]) for run in mixed]
    assert find_primary(make_results(other, same)).slower_share is None, "not the same transfers"


def test_findings__unfinished_scheme_cannot_be_better() -> None:
    finding = find_primary(make_results(make_runs(0.001, unfinished=1, stop_s=0.01), make_runs(1.0)))
    assert finding.outcome == UNDECIDED
    assert "2.0 % of the transfers under sfd were left unfinished" in finding.verdict


def test_findings__unfinished_baseline_makes_it_at_least() -> None:
    finding = find_primary(make_results(make_runs(0.7), make_runs(1.0, unfinished=1)))
    assert finding.outcome == BETTER
    assert finding.verdict.startswith("better by at least ")


@pytest.mark.parametrize(("unfinished", "outcome"), [(1, BETTER), (2, UNDECIDED)])
def test_findings__one_percent_unfinished_is_no_bound(unfinished: int, outcome: str) -> None:
    ends = [*[nan] * unfinished, *[0.7] * (100 - unfinished)]
    own = [HandMadeRun([1000] * 100, ends, stop_s=0.8) for _ in range(6)]
    other = [HandMadeRun([1000] * 100, [1.0] * 100) for _ in range(6)]
    assert find_primary(make_results(own, other)).outcome == outcome


def test_findings__unfinished_scheme_may_be_worse_still() -> None:
    worse = find_primary(make_results(make_runs(2.0, unfinished=1), make_runs(1.0)))
    assert worse.outcome == WORSE
    assert worse.verdict.startswith("worse by at least ")


def test_findings__unfinished_baseline_may_be_no_better() -> None:
    for own in (
        make_runs(2.0),
        make_runs(0.01),
    ):  # a mean that is a bound excludes neither harm nor its absence
        found = find_primary(make_results(own, make_runs(0.01, unfinished=2, stop_s=0.01)))
        assert found.verdict == "undecided (4.0 % of the transfers under droptail were left unfinished)"
    both = find_primary(make_results(make_runs(2.0, unfinished=1), make_runs(1.0, unfinished=2)))
    assert both.verdict == "undecided (2.0 % of the transfers under sfd were left unfinished)"


def find_by_endpoint(found: Results, endpoint: str) -> findings.Finding:
    """Returns the first finding on an endpoint."""
    return next(finding for finding in findings.findings(found) if finding.endpoint == endpoint)


def test_findings__only_times_differ_in_seconds() -> None:
    found = make_results(make_runs(0.7), make_runs(1.0))
    rate = find_by_endpoint(found, "long_goodput_bps")
    assert (isnan(rate.difference_s.mean), rate.difference_s.count) == (True, 0)
    # 50 transfers of one time, so the 95th percentile is that time, too
    assert find_by_endpoint(found, "short_response_p95_s").difference_s.mean == pytest.approx(-0.3 * 1.0025)


def test_findings__primary_intervals_share_the_error() -> None:
    found = make_results_of_schemes(
        {"droptail": make_runs(1.0), "sfd": make_runs(0.7), "red": make_runs(0.9)}
    )
    # Replications are scaled alike under all schemes: they err as one, and it is the only look.
    assert find_primary(found).error == pytest.approx(0.05)
    looks = replace(found, plan=replace(found.plan, is_sequential=True))
    assert find_primary(looks).error == pytest.approx(0.05 / 2), "half for the first look"
    random = np.random.default_rng(1)
    noisy = {
        name: [one for scale in random.lognormal(0, 0.1, 6) for one in make_runs(scale)[:1]]
        for name in ("droptail", "sfd", "red")
    }
    assert 1 - 0.95 ** (1 / 2) <= find_primary(make_results_of_schemes(noisy)).error < 0.05
    assert find_by_endpoint(found, "long_response_mean_s").error == pytest.approx(0.05)


def test_findings__long_transfers_are_exploratory() -> None:
    others = [
        item for item in findings.findings(make_results(make_runs(0.7), make_runs(1.0))) if item.exploratory
    ]
    assert [item.endpoint for item in others] == [
        "short_response_p95_s", "long_response_mean_s", "long_goodput_bps"
    ]  # fmt: skip
    assert all(item.sentence.endswith("[exploratory]") for item in others)


def test_cell_notes__unloaded_link() -> None:
    idle = make_runs(1.0, achieved=0.05, delay_s=1e-5, utilisation=0.05)
    quiet = make_results(idle, idle)
    assert "hardly loaded" in notes.cell_notes(quiet, quiet.plan.cells[0])[0]
    loaded = make_results(make_runs(1.1), make_runs(1.0))
    assert notes.cell_notes(loaded, loaded.plan.cells[0]) == []


def test_cell_notes__nothing_against_nothing_is_not_the_same() -> None:
    none = [HandMadeRun([], []) for _ in range(3)]
    empty = make_results(none, none)
    assert not [note for note in notes.cell_notes(empty, empty.plan.cells[0]) if "exactly the same" in note]
    some = make_results(make_runs(1.0), make_runs(1.0))
    assert [note for note in notes.cell_notes(some, some.plan.cells[0]) if "exactly the same" in note]


def test_cell_notes__thresholds_far_below_the_buffer() -> None:
    packets = "sfd(in_min=10,in_max=30,out_min=8,out_max=24)"
    found = make_results_of_schemes(
        {"droptail": make_runs(1.0), "sfd": make_runs(1.0), packets: make_runs(1.0)}
    )
    for buffer, is_noted in (("50p", False), ("150p", True)):
        base = {**found.plan.base, "link": {"rate": "100mbit", "rtt": "80ms"}}
        plan = replace(found.plan, buffers=(buffer,), base=base)  # type: ignore[arg-type]
        at_buffer = replace(found, plan=plan, manifest={"scenario": base})  # type: ignore[typeddict-item]
        said = [note for note in notes.cell_notes(at_buffer, plan.cells[0]) if "thresholds" in note]
        assert bool(said) == is_noted
        if said:
            assert said[0].startswith(f"The thresholds of {packets} are numbers of packets")
            assert "far below the buffer of 150p (150 packets)" in said[0]
            assert "'sfd(in_min=20%,in_max=60%,out_min=16%,out_max=48%)'" in said[0]


def test_cell_notes__unfinished_transfers() -> None:
    found = make_results(make_runs(1.0, unfinished=2), make_runs(1.0))
    (note,) = notes.cell_notes(found, found.plan.cells[0])
    assert note.startswith("Under sfd more than 1 % of the transfers of some size were unfinished")


def test_findings__few_distinct_transfers_are_not_judged() -> None:
    counted = {"short": Counted(99, 9), "long": Counted(2, 1), "all": Counted(101, 9)}
    small = Capture(10.0, counted, 50.0, 50, 1e5)  # type: ignore[arg-type]
    few = replace(make_results(make_runs(0.7), make_runs(1.0)), capture=small)
    finding = find_primary(few)
    assert finding.outcome == UNDECIDED
    assert finding.verdict == "not judged (the capture has 99 distinct transfers ≤ 15 kB, of at least 100)"
    enough = Capture(10.0, {**counted, "short": Counted(100, 9)}, 50.0, 50, 1e5)  # type: ignore[dict-item]
    assert find_primary(replace(few, capture=enough)).outcome == BETTER


def test_cell_notes__a_capture_with_few_large_connections() -> None:
    counted = dict.fromkeys(("short", "long", "all"), Counted(200, 9))
    found = make_results(make_runs(0.7), make_runs(1.0))
    base = {**found.plan.base, "traffic": {"files": ["capture.pcap"]}}

    def remarks(large: int, loads: tuple[float | None, ...] = (0.9,)) -> list[str]:
        capture = Capture(10.0, counted, 5.0, large, 1e5)  # type: ignore[arg-type]
        plan = replace(found.plan, base=base, loads=loads)  # type: ignore[arg-type]
        return notes.cell_notes(replace(found, plan=plan, capture=capture), plan.cells[0])

    (note,) = remarks(29)
    assert note.startswith(
        "The capture has only 29 connections larger than the bandwidth-delay product (100 kB)."
    )
    assert remarks(30) == []
    assert remarks(0, loads=(None,)) == [], "as it is, it is not laid over itself"
    assert notes.cell_notes(found, found.plan.cells[0]) == [], "a model"


def test_findings__say_how_many_replications_had_such_a_transfer() -> None:
    some = [replace(run, size=[1000] * 50, end_s=run.end_s[:50]) for run in make_runs(1.0)]
    sparse = make_runs(1.0)[:2] + some[2:]
    found = findings.findings(make_results(sparse, make_runs(1.0)))
    long = next(item for item in found if item.endpoint == "long_response_mean_s")
    assert long.verdict == "undecided (only 2 of 6 replications had such a transfer)"
    none = findings.findings(make_results(some, some))
    long = next(item for item in none if item.endpoint == "long_response_mean_s")
    assert long.verdict == "undecided (no replication had such a transfer)"


def test_findings__with_few_replications_ask_for_more_first() -> None:
    sparse = [replace(run, size=[1000] * 50, end_s=run.end_s[:50]) for run in make_runs(1.0)]
    three, five = ([*make_runs(1.0)[: count - 1], sparse[0]] for count in (3, 5))
    long = find_by_endpoint(make_results(three, make_runs(1.0)[:3]), "long_response_mean_s")
    assert long.verdict == "undecided (too few replications for an interval: 2 of at least 5)"
    long = find_by_endpoint(make_results(five, make_runs(1.0)[:5]), "long_response_mean_s")
    assert long.verdict == "undecided (only 4 of 5 replications had such a transfer)"


def test_findings__a_mean_may_be_missing_where_a_percentile_may_not() -> None:
    rest = make_runs(0.7)[1:]
    no_long = HandMadeRun([1000] * 50, [0.7] * 50)
    found = find_by_endpoint(make_results([no_long, *rest], make_runs(1.0)), "long_response_mean_s")
    assert (found.replications, found.change.has_interval) == (5, True)
    few_short = HandMadeRun([1000] * 19, [0.7] * 19)
    found = find_by_endpoint(make_results([few_short, *rest], make_runs(1.0)), "short_response_p95_s")
    assert found.verdict == (
        "undecided (only 5 of 6 replications had enough such transfers for a percentile)"
    )  # fmt: skip


def test_list_endpoints__have_pages_only_where_there_are_some() -> None:
    names = [endpoint.name for endpoint in findings.list_endpoints(15_000, 150_000)]
    assert names == [
        "short_response_mean_s", "short_response_p95_s", "long_response_mean_s", "long_goodput_bps"
    ]  # fmt: skip
    pages = findings.list_endpoints(15_000, 150_000, has_pages=True)[-1]
    assert (pages.name, pages.exploratory, pages.source.quantity.less_is_better) == (
        "page_mean_s",
        True,
        True,
    )


def test_findings__pages_are_judged_however_few_distinct_transfers() -> None:
    counted = dict.fromkeys(("short", "long", "all"), Counted(99, 9))
    found = replace(
        make_results(make_runs(0.7), make_runs(1.0)), capture=Capture(10.0, counted, 50.0, 50, 1e5)
    )  # type: ignore[arg-type]
    paged = {
        task: replace(run, groups={**run.groups, findings.PAGES: 2.0 - task.scheme})
        for task, run in found.facts.items()
    }
    page = find_by_endpoint(replace(found, facts=paged), "page_mean_s")
    assert page.outcome == BETTER
    assert page.verdict == "shorter by 50 % (95 % interval 50–50 %)"
    assert find_by_endpoint(replace(found, facts=paged), "long_response_mean_s").verdict == (
        "not judged (the capture has 99 distinct transfers > 150 kB, of at least 100)"
    )


def test_coverage_note__follows_how_the_traffic_is_made() -> None:
    model = make_results(make_runs(0.7), make_runs(1.0))
    assert "draws of the model" in findings.first_cell(model).coverage_note()
    counted = dict.fromkeys(("short", "long", "all"), Counted(100, 9))
    capture = Capture(10.0, counted, 50.0, 50, 1e5)  # type: ignore[arg-type]
    base = {**model.plan.base, "traffic": {"files": ["capture.pcap"]}}
    for loads, note in (((0.9,), "draws the capture's clients anew"), ((None,), "replayed as it is")):
        plan = replace(model.plan, base=base, loads=loads)  # type: ignore[arg-type]
        assert note in findings.first_cell(replace(model, plan=plan, capture=capture)).coverage_note()


def test_findings__percentile_of_few_transfers() -> None:
    few = [replace(run, size=[1000] * 3, end_s=run.end_s[:3]) for run in make_runs(1.0)]
    p95 = next(
        item for item in findings.findings(make_results(few, few)) if item.endpoint == "short_response_p95_s"
    )
    assert p95.verdict == "undecided (no replication had enough such transfers for a percentile)"


def test_cell_notes__no_steady_state_at_full_load() -> None:
    found = make_results(make_runs(1.1), make_runs(1.0))
    for load in (1.0, 1.2):
        plan = replace(found.plan, loads=(load,))
        (note,) = notes.cell_notes(replace(found, plan=plan), plan.cells[0])
        assert note.startswith(f"At a load of {load:.3g} there is no steady state")


def test_cell_notes__windows_that_begin_too_early() -> None:
    found = make_results(make_runs(1.1), make_runs(1.0))
    # 1 MB takes 8 s, which is 2 · 0.9 · 8 / 0.01 s until the steady state; the window is 100 s
    plan = replace(found.plan, warmup=Warmup(np.array([1e6]), 1e6, None, is_chosen=True))
    assert plan.choose_warmup(plan.cells[0]) == "100s"
    (note,) = notes.cell_notes(replace(found, plan=plan), plan.cells[0])
    assert "only after about 1440 s. The windows begin after 100 s" in note


def make_transient() -> Floats:
    """Returns means of forty parts of a window that rise over the first eight, then waver."""
    return np.concatenate([np.linspace(0.2, 0.9, 8), 1 + 0.02 * np.cos(2.0 * np.arange(32))])


def test_cell_notes__a_transient_that_is_left() -> None:
    found = make_results(make_runs(1.1), make_runs(1.0))
    assert found.compared(found.plan.cells[0]).transient_share("sfd") == 0
    rising = make_transient()
    facts = {task: replace(run, short_by_time=rising) for task, run in found.facts.items()}
    (note,) = notes.cell_notes(replace(found, facts=facts), found.plan.cells[0])
    assert note.startswith("Under droptail, sfd the first 20 s of the windows ")


def test_cell_notes__an_empty_part_does_not_hide_a_transient() -> None:
    found = make_results(make_runs(1.1), make_runs(1.0))
    cell = found.plan.cells[0]
    rising = make_transient()

    def with_parts(gaps: dict[int, list[int]]) -> Results:
        facts = {}
        for task, run in found.facts.items():
            parts = rising.copy()
            parts[gaps.get(task.replication, gaps.get(-1, []))] = np.nan
            facts[task] = replace(run, short_by_time=parts)
        return replace(found, facts=facts)

    whole = with_parts({}).compared(cell).transient_share("sfd")
    assert whole == 8 / 40
    assert with_parts({0: [3], 2: [20, 39]}).compared(cell).transient_share("sfd") == whole
    # A part that no replication has is left out, and the others keep their places in the window.
    assert with_parts({-1: [0, 1, 30]}).compared(cell).transient_share("sfd") == pytest.approx(
        whole, abs=0.03
    )
    assert with_parts({-1: list(range(40))}).compared(cell).transient_share("sfd") == 0
    assert with_parts({-1: list(range(31))}).compared(cell).transient_share("sfd") == 0, "nine are too few"


def test_cell_notes__windows_too_short_for_a_steady_state() -> None:
    found = make_results(make_runs(1.1), make_runs(1.0))
    facts = {task: replace(run, short_by_time=np.linspace(1, 3, 40)) for task, run in found.facts.items()}
    (note,) = notes.cell_notes(replace(found, facts=facts), found.plan.cells[0])
    assert note == (
        "Under droptail, sfd the search for a transient (MSER) ends in the second half of the windows: at "
        "100s they are too short to show whether there is a steady state. Give a longer --duration."
    )


def test_warmup__follows_load_and_sizes() -> None:
    base = {"duration": "300s", "warmup": "30s"}
    plan = Plan(base, ("50p",), (0.5,), ("droptail",), "droptail", 5, 1, 2)  # type: ignore[arg-type]
    small = replace(plan, warmup=Warmup(np.array([1e4]), 1e7, 0.9, is_chosen=True))
    large = replace(plan, warmup=Warmup(np.array([1e6]), 1e7, 0.9, is_chosen=True))
    cell = plan.cells[0]
    assert (plan.choose_warmup(cell), small.choose_warmup(cell)) == ("30s", "30s")
    assert large.choose_warmup(replace(cell, load=0.9)) == "144s"  # 2 · 0.9 · 0.8 s / 0.01
    assert large.choose_warmup(replace(cell, load=None)) == "144s", "the traffic's own load"
    assert large.choose_warmup(replace(cell, load=0.99)) == "300s", "no longer than the window"
    assert large.choose_warmup(replace(cell, load=1.0)) == "30s", "there is no steady state to wait for"
    given = replace(plan, warmup=Warmup(np.array([1e6]), 1e7, 0.9, is_chosen=False))
    assert given.choose_warmup(replace(cell, load=0.9)) == "30s"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (90, "90 s"), (210, "3.5 min (210 s)"), (28_800, "8 h (28,800 s)"),
        (1e6, "11.6 days (1,000,000 s)"), (0.25, "0.25 s"),
    ],
)  # fmt: skip
def test_span_text__has_a_unit_that_people_use(seconds: float, text: str) -> None:
    assert span_text(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (3e-7, "< 0.001 %"), (0.0042, "0.42 %"), (0.5, "50 %"), (nan, "–")]
)
def test_share_text__is_readable_when_tiny(share: float, text: str) -> None:
    assert share_text(share) == text


@pytest.mark.parametrize(("number", "text"), [(0, "0 clients"), (1, "1 client"), (2, "2 clients")])
def test_counted__has_the_plural_but_for_one(number: int, text: str) -> None:
    assert counted(number, "client") == text
