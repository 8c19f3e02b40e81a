"""The search of settings: what it tries, how it judges, and what it says."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import expm1, log1p
from pathlib import Path
from typing import Any

import mousehole
import numpy as np
import pytest
from mousehole import quantities
from mousehole._engine import Source
from mousehole.answer import Link, vetoes
from mousehole.answer import _install as install
from mousehole.base import MouseholeError, OutputConsole, RunOptions, command_line_options
from mousehole.base.cli_options import make_flag
from mousehole.document import print_document
from mousehole.runs import Results
from mousehole.statistics import Estimate
from mousehole.tuning import (
    BROKEN,
    FAMILIES,
    FINALIST,
    KEPT,
    NOT_SHOWN,
    Account,
    Goal,
    JudgedRow,
    LimitRow,
    Score,
    Tuned,
    TuneOptions,
    TuneResults,
    _answer,
    objectives,
    tune,
)
from mousehole.tuning import _pareto as pareto
from mousehole.tuning._document import make_install_files
from mousehole.tuning._search import _is_hopeless
from mousehole.tuning.command import TuneOutputs
from support import MODULE, HandMadeRun, make_results_of_schemes

TINY: dict[str, Any] = {
    "rate": "3mbit", "load": 0.9, "duration": "6s", "warmup": "2s", "seeds": 5, "search_seeds": 2,
    "sensitivity_seeds": 0, "trials": 6,
}  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Tuned:
    """A search with two objectives and a limit that any setting keeps."""
    return tune(
        "web:sfd", schemes="sfd|multi-red(mode=coupled),sfd|cake(tins=bulk)", jobs=2,
        objectives=["short mean", "all p95"], limits="short mean +2000% against fq-codel",
        **{**TINY, "sensitivity_seeds": 5},
    )  # fmt: skip


# Quantities, limits


def test_quantity__is_known_by_its_name() -> None:
    one = objectives.parse_quantity("objective", " short   p99 ")
    assert one.source == Source(quantities.find("bucket", "response_p99_s"), role="short")
    assert not objectives.list_quantities()["long rate"].smaller_is_better
    with pytest.raises(
        MouseholeError, match=r'there is no measure "shrt mean".*did you mean "short mean"'
    ) as refused:
        objectives.parse_quantity("objective", "shrt mean")
    assert refused.value.field == "objective"


@pytest.mark.parametrize(
    ("text", "change", "reference", "again"),
    [
        ("long mean +10%", 0.1, None, "long mean +10%"),
        ("long mean  + 2.5 %", 0.025, None, "long mean +2.5%"),
        ("short p99 −30% against fq-codel", -0.3, "fq-codel", "short p99 −30% against fq-codel"),
        ("long rate -5%", -0.05, None, "long rate −5%"),
    ],
)
def test_limit__is_read(text: str, change: float, reference: str | None, again: str) -> None:
    limit = objectives.parse_limit("limit", text)
    assert limit.change == pytest.approx(change)
    assert (limit.reference, limit.text) == (reference, again)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("long mean", "MEASURE ±N%"),
        ("long mean 10%", "MEASURE ±N%"),
        ("long mean +1.2.3%", "MEASURE ±N%"),
        ("long mean -100%", "above −100 %"),
        ("lng mean +10%", 'did you mean "long mean"'),
        ("long mean +10% against fqcodel", 'did you mean "fq-codel"'),
    ],
)
def test_limit__that_is_none_is_refused(text: str, told: str) -> None:
    with pytest.raises(MouseholeError, match=re.escape(told)) as refused:
        objectives.parse_limit("limit", text)
    assert refused.value.field == "limit"


@pytest.mark.parametrize(
    ("text", "change", "again"),
    [
        ("calls p95 +5ms", 0.005, "calls delay p95 +5ms"),
        ("calls delay p95 +0.01s", 0.01, "calls delay p95 +10ms"),
        ("games loss +0.2%", 0.002, "games lost +0.2%"),
        ("calls mos -0.1", -0.1, "calls mos −0.1"),
        ("video calls frames +0.5% against cake", 0.005, "video calls frames missed +0.5% against cake"),
    ],
)
def test_limit__of_an_application_is_in_its_own_unit(text: str, change: float, again: str) -> None:
    limit = objectives.parse_limit("limit", text)
    assert limit.change == pytest.approx(change)
    assert (limit.is_relative, limit.text) == (False, again)
    assert objectives.parse_limit("limit", again) == limit
    sign = 1 if limit.quantity.smaller_is_better else -1
    assert limit.excess(2 * change) == pytest.approx(sign * change)
    assert limit.weight(limit.excess(2 * change)) == pytest.approx(1.0)


def test_default_limits__are_the_margins_of_the_vetoes() -> None:
    found = objectives.list_default_limits("cake")
    names = {"pages mean +10%": "page mean +10%"}
    wanted = [names.get(text, text).replace("-", "−") for text in vetoes.DEFAULTS]
    assert [one.text for one in found] == [f"{text} against cake" for text in wanted]
    assert all(one.is_default and one.keeps(float("nan")) for one in found)
    assert not objectives.parse_limit("limit", "long mean +10%").keeps(float("nan"))


def test_limit__of_a_rate_is_a_least_value() -> None:
    time, rate = (
        objectives.parse_limit("limit", "long mean +10%"),
        objectives.parse_limit("limit", "long rate -10%"),
    )
    assert time.excess(log1p(0.2)) > 0 > time.excess(log1p(0.05))
    assert rate.excess(log1p(-0.2)) > 0 > rate.excess(log1p(-0.05))


def test_goal__has_a_price_even_if_none_is_named() -> None:
    short, long = objectives.list_quantities()["short mean"], objectives.list_quantities()["long mean"]
    assert Goal((short,), ()).quantities == (short, long)
    assert Goal((short,), ()).prices == (long,)
    assert Goal((short, long), (objectives.parse_limit("limit", "long mean +1%"),)).quantities == (
        short,
        long,
    )


# Early stopping


def make_score(*costs: float, excess: float = 0.0) -> Score:
    """Returns a score with these costs and one excess."""
    return Score(costs, (excess,), costs)


def test_score__a_kept_limit_comes_first() -> None:
    assert make_score(0.5).dominates(make_score(-0.5, excess=0.1))
    assert make_score(0.5, excess=0.05).dominates(make_score(-0.5, excess=0.1))
    assert make_score(-0.2, 0.1).dominates(make_score(-0.1, 0.1))
    assert not make_score(-0.2, 0.2).dominates(make_score(-0.1, 0.1))
    assert not make_score(-0.2).dominates(make_score(-0.2))


def test_stopping__is_the_median_rule_with_one_objective() -> None:
    earlier = [make_score(cost) for cost in (-0.4, -0.3, -0.2, -0.1)]
    assert _is_hopeless(make_score(-0.15), earlier), "three of four were better"
    assert not _is_hopeless(make_score(-0.25), earlier), "two of four were better"
    assert not _is_hopeless(make_score(9.0), earlier[:3]), "too few to tell"
    assert not _is_hopeless(make_score(-0.1, 0.1), [make_score(-0.2, 0.2)] * 6), (
        "it is better in one objective"
    )
    better, other = make_score(-0.2, -0.2), make_score(0.2, -0.2)
    assert _is_hopeless(make_score(-0.1, -0.1), [better, better, *[other] * 5]), (
        "two of seven: more than a quarter"
    )
    assert not _is_hopeless(make_score(-0.1, -0.1), [better, *[other] * 5])


# The search


def test_tune__the_same_trials_give_the_same_bytes_whatever_jobs_is(found: Tuned) -> None:
    again = tune(
        "web:sfd", schemes=["sfd|multi-red(mode=coupled)", "sfd|cake(tins=bulk)"], jobs=1,
        objectives="short mean,all p95", limits=["short mean +2000% against fq-codel"],
        **{**TINY, "sensitivity_seeds": 5},
    )  # fmt: skip
    assert again.to_json() == found.to_json()
    other = tune("web:sfd", schemes="sfd|cake(tins=bulk)", **{**TINY, "seed": 2})
    assert (
        other.trials["scheme"].to_list()
        != found.trials.filter(family="sfd|cake(tins=bulk)")["scheme"].to_list()
    )


def test_tune__an_executor_gives_the_same_bytes() -> None:
    here = tune("web:sfd", schemes="sfd|cake(tins=bulk)", **TINY)
    with ThreadPoolExecutor(2) as executor:
        there = tune("web:sfd", schemes="sfd|cake(tins=bulk)", executor=executor, **TINY)
    assert there.to_json() == here.to_json()


def test_tune__begins_with_the_schemes_own_setting(found: Tuned) -> None:
    first = found.trials.filter(number=0)
    assert set(first["scheme"]) == {"sfd|multi-red(mode=coupled)", "sfd|cake(tins=bulk)"}
    assert found.trials["scheme"].n_unique() > 6
    judged = set(found.table["scheme"])
    assert {"droptail", "red", "fq-codel", "cake"} < judged | {"droptail"}
    assert {"sfd|multi-red(mode=coupled)", "sfd|cake(tins=bulk)"} < judged


def test_tune__judges_on_replications_of_their_own(found: Tuned) -> None:
    plan = found.judged.plan
    numbers = [found.judged.scenario("cake", replication)["replication"] for replication in range(5)]
    assert numbers == [2, 3, 4, 5, 6], "the search has run 0 and 1"
    compared = mousehole.compare(
        "web:sfd",
        schemes="cake",
        **{key: TINY[key] for key in ("rate", "load", "duration", "warmup")},
        seeds=7,
    )
    own = compared.results.bucket_values(plan.cells[0], "cake", "short", "response_mean_s")
    there = found.judged.results.bucket_values(plan.cells[0], "cake", "short", "response_mean_s")
    assert own[2:].tolist() == there.tolist()


def test_tune__recommends_what_is_best_where_it_has_not_looked(found: Tuned) -> None:
    results = found.results
    finalists = {row.scheme for row in results.judged if row.role == FINALIST}
    changes = {
        (row.scheme, row.quantity): row.unseen.mean for row in results.judged if row.reference == "droptail"
    }
    totals = {
        scheme: sum(log1p(changes[scheme, name]) for name in ("short mean", "all p95"))
        for scheme in finalists
    }
    assert results.recommended == min(totals, key=lambda scheme: totals[scheme])
    row = next(row for row in results.judged if row.shrinkage is not None)
    assert row.shrinkage == pytest.approx((1 + row.unseen.mean) / (1 + (row.seen or 0)) - 1)


def test_tune__changes_one_parameter_at_a_time(found: Tuned) -> None:
    rows = found.results.sensitivity
    assert rows
    assert {row.quantity for row in rows} == {"short mean", "all p95"}
    for row in rows:
        assert row.value != row.recommended
        name = row.parameter.rpartition(".")[2]
        assert f"{name}={row.value}" in row.scheme
    assert found.sensitivity.height == len(rows)


def test_tune__a_budget_is_an_account_to_repeat() -> None:
    budget = {key: value for key, value in TINY.items() if key != "trials"} | {"budget": "2s"}
    one = tune("web:sfd", schemes="sfd|cake(tins=bulk)", **budget)
    number = one.results.account.trials_per_scheme
    assert number >= 4
    again = tune("web:sfd", schemes="sfd|cake(tins=bulk)", **{**TINY, "trials": number})
    assert again.to_json() == one.to_json()
    console = OutputConsole(record=True, width=110, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    print_document(console, one.document())
    assert f"--trials {number} --seed 1 in the place of --budget" in console.export_text()


def test_tune__a_limit_that_no_setting_keeps() -> None:
    told = 'none of 6 settings keeps the limits: each exceeds "short mean −99%"; .* nearest, beyond "short'
    with pytest.raises(MouseholeError, match=told) as refused:
        tune("web:sfd", schemes="sfd|cake(tins=bulk)", limits="short mean -99%", **TINY)
    assert refused.value.field == "limits"


def test_tune__the_report_stands_where_no_setting_can_be_drawn() -> None:
    few = {**TINY, "duration": "3s", "seeds": 1, "search_seeds": 1, "trials": 2, "load": None}
    one = tune("web:sfd", schemes="sfd(th=5kB,timeout=1s)", limits="none", **few)
    assert "Best of 2 settings" in one.markdown()


INTERACTIVE = str(Path(__file__).parents[2] / "examples" / "negatives" / "interactive.toml")


def test_tune__default_limits_are_of_what_is_there() -> None:
    options = {name: value for name, value in TINY.items() if name not in ("rate", "load")} | {"trials": 1}
    one = tune(INTERACTIVE, schemes="sfd(th=3kB)|cake(tins=bulk)", limits="calls p95 +900ms", **options)
    limits = {limit.text: limit.is_default for limit in one.results.goal.limits}
    assert limits["calls delay p95 +900ms"] is False
    assert limits["calls lost +0.5% against cake"] is True
    assert not any(text.startswith(("games", "streams", "calls delay p95 +10ms")) for text in limits)
    row = next(row for row in one.results.limits if row.limit == "calls delay p95 +900ms")
    assert row.unit == "seconds"
    assert -1.2 < row.excess.mean < 0
    none = tune(INTERACTIVE, schemes="sfd|multi-red", limits="none", **options)
    assert none.results.goal.limits == ()


def test_tune__a_measure_that_the_traffic_does_not_have() -> None:
    with pytest.raises(MouseholeError, match="too few such transfers") as refused:
        tune("web:sfd", schemes="sfd", objectives="long p99", **TINY)
    assert refused.value.field == "objectives"


@pytest.mark.parametrize(
    ("options", "field", "told"),
    [
        ({}, "schemes", "give a scheme to search"),
        ({"schemes": "sfdd"}, "schemes", 'did you mean "sfd"'),
        ({"schemes": "sfd(thh=1kB)"}, "schemes sfd", 'did you mean "th"'),
        ({"schemes": "droptail"}, "schemes", "no parameter to search"),
        ({"schemes": "sfd", "for_": "cake"}, "for_", "give one of them"),
        ({"for_": "wredd"}, "for_", "wred or cake"),
        ({"schemes": "sfd", "budget": "10s"}, "trials", "give one of them"),
        ({"schemes": "sfd", "trials": None, "budget": "0s"}, "budget", "above 0"),
        ({"schemes": "sfd", "trials": None, "budget": "10"}, "budget", "unit"),
        ({"schemes": "sfd", "trials": 0}, "trials", "at least 1"),
        ({"schemes": "sfd", "search_seeds": 0}, "search_seeds", "at least 1"),
        ({"schemes": "sfd", "load": [0.5, 0.9]}, "load", "one load"),
        ({"schemes": "sfd", "buffer": "50p,100p"}, "buffer", "one buffer"),
        ({"schemes": "sfd", "baseline": "dropptail"}, "baseline", 'did you mean "droptail"'),
        ({"schemes": "sfd", "beside": "fq"}, "beside", "there is no scheme"),
        ({"schemes": "sfd", "ranges": "thh=1kB..2kB"}, "ranges", 'did you mean "th"'),
        ({"schemes": ["sfd", None]}, "schemes", "a list of texts"),
        ({"schemes": "sfd", "ecn": "no"}, "ecn", "True or False"),
        ({"schemes": "sfd", "objectives": ["short mean", ""]}, "objectives", "empty"),
    ],
)
def test_tune__refuses_what_it_cannot_do(options: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(MouseholeError, match=re.escape(told)) as refused:
        tune("web:sfd", **{**TINY, **options})
    assert refused.value.field == field


def test_tune__schemes_that_are_written_differently_are_one() -> None:
    one = tune(
        "web:sfd", schemes="cake,sfd|cake(tins=bulk)", baseline="cake(rtt=100ms)",
        beside="fq-codel(flows=1024)", limits="short mean +900% against fq-codel(quantum=1500B)", **TINY,
    )  # fmt: skip
    names = one.judged.plan.schemes
    assert names[0] == "cake(rtt=100ms)"
    assert [name for name in names if name.startswith("fq-codel")] == ["fq-codel"]
    assert "cake" not in names
    assert one.results.recommended in names
    assert [row.limit for row in one.results.limits][:1] == ["short mean +900% against fq-codel"]


def test_tune__unknown_keyword() -> None:
    with pytest.raises(TypeError, match="did you mean objectives"):
        tune("web:sfd", objective="short mean")  # type: ignore[call-arg]


@pytest.mark.parametrize("name", FAMILIES)
def test_for__searches_what_the_device_can_do(name: str) -> None:
    one = tune("web:sfd", for_=name, **{**TINY, "trials": 3})
    link = Link(3_000_000, 20, 0)
    for scheme in one.trials["scheme"].unique():
        way = install.find_settings(scheme, link)
        assert way is not None, scheme
        assert (way.place == "a router with WRED") is (name == "wred")
    assert one.results.baseline == ("cake" if name == "cake" else "droptail")


# What it says


def make_judged_row(scheme: str, name: str, mean: float, half: float = 0.02, **more: Any) -> JudgedRow:
    """Returns a row of a judged scheme whose interval is `mean` ± `half`."""
    given: dict[str, Any] = {"family": "sfd", "role": FINALIST, "reference": "droptail", "seen": None, **more}
    shrinkage = None if given["seen"] is None else (1 + mean) / (1 + given["seen"]) - 1
    unseen = Estimate(mean, mean - half, mean + half, 5)
    return JudgedRow("50p", 0.9, scheme, unseen=unseen, quantity=name, shrinkage=shrinkage, **given)


def answer_for(
    rows: list[JudgedRow], limits: list[LimitRow], recommended: str | None, **means: float
) -> list[str]:
    """Returns the answer for schemes whose short transfers take this many seconds."""

    def runs(mean: float) -> list[HandMadeRun]:
        jitters = (0.99, 1.0, 1.01, 1.0, 0.995, 1.005)
        return [HandMadeRun([1000, 200_000], [mean * jitter, 4 * mean]) for jitter in jitters]

    names = {"sfd_new": NEW, "fq_codel": "fq-codel"}
    results: Results = make_results_of_schemes(
        {names.get(name, name): runs(mean) for name, mean in means.items()}
    )
    goal = Goal(
        (objectives.list_quantities()["short mean"],), (objectives.parse_limit("limit", "long mean +10%"),)
    )
    account = Account(40, 40, 10, 4, 200, 6, 6, 0, 1)
    found = TuneResults(
        "web", goal, "droptail", ("sfd",), (), tuple(rows), tuple(limits), recommended,
        "sfd" if recommended else None, (), (), None, "", account,
    )  # fmt: skip
    return list(_answer.write_answer(found, results, results.plan.cells[0]))


NEW = "sfd(th=20kB)"


def make_limit_row(outcome: str, excess: float = -0.05) -> LimitRow:
    """Returns a row on a limit with this outcome."""
    return LimitRow(
        "50p", 0.9, NEW, "long mean +10%", Estimate(excess, excess - 0.01, excess + 0.01, 5), "", outcome
    )


def test_answer__says_what_it_beats_and_by_how_much_it_looked_better() -> None:
    rows = [
        make_judged_row(NEW, "short mean", -0.45, seen=-0.50),
        make_judged_row(NEW, "long mean", 0.04),
        make_judged_row(NEW, "long mean", -0.01, reference="sfd"),
    ]
    lines = answer_for(
        rows, [make_limit_row(KEPT)], NEW, droptail=1.0, fq_codel=0.6, cake=0.5, sfd=0.8, sfd_new=0.55
    )
    text = "\n".join(lines)
    assert (
        f"Best of 40 settings within the limits: {NEW}, short mean −45 % (−47…−43) against droptail" in text
    )
    assert "where it was chosen it looked like −50 %" in text
    assert "the limit long mean +10% is kept" in text
    assert re.search(r"Against fq-codel: short mean better by 8\.3 %", text)
    assert "No setting is shown to beat cake: for the recommended one, short mean worse by 10 %" in text
    assert "It beats, at no higher cost, sfd as it is: short mean better by 31 %" in text
    assert (
        "unseen, short mean of the finalist is 10 % higher than on the 4 replications that chose it" in text
    )


def test_answer__says_when_the_own_setting_is_cheaper() -> None:
    rows = [
        make_judged_row(NEW, "short mean", -0.45),
        make_judged_row(NEW, "long mean", 0.30, reference="sfd"),
    ]
    lines = answer_for(
        rows, [make_limit_row(NOT_SHOWN)], NEW, droptail=1.0, fq_codel=0.6, cake=0.5, sfd=0.8, sfd_new=0.55
    )
    assert any("It beats, at a higher cost, sfd as it is" in line for line in lines)
    assert any("kept by the mean, not by the whole interval" in line for line in lines)
    worse = answer_for(rows, [], NEW, droptail=1.0, fq_codel=0.6, cake=0.5, sfd=0.5, sfd_new=0.55)
    assert any("It is not shown to beat sfd as it is: short mean worse by 10 %" in line for line in worse)


def test_answer__where_no_finalist_keeps_the_limit_unseen() -> None:
    rows, limits = [make_judged_row(NEW, "short mean", -0.4)], [make_limit_row(BROKEN, 0.07)]
    lines = answer_for(rows, limits, None, droptail=1.0, fq_codel=0.6, cake=0.5, sfd=0.8, sfd_new=0.55)
    assert lines[0].startswith("No setting is recommended: none of 1 finalist keeps the limits on 6 unseen")
    assert f"{NEW} comes nearest: beyond long mean +10% by +7.0 %" in lines[0]


def test_answer__where_the_own_setting_is_best() -> None:
    rows = [make_judged_row("sfd", "short mean", -0.2)]
    lines = answer_for(rows, [], "sfd", droptail=1.0, fq_codel=0.6, cake=0.5, sfd=0.8)
    assert "No setting is better than sfd as it is." in lines


def test_winners_curse__is_what_choosing_among_equals_gives() -> None:
    """Settings that differ by nothing look better where the best is chosen: the statistic shows it."""
    source = np.random.default_rng(1)
    shrunk = []
    for _ in range(200):
        seen, unseen = source.normal(0.0, 0.1, 20), source.normal(0.0, 0.05, 20)
        best = int(np.argmin(seen))
        row = make_judged_row(NEW, "short mean", expm1(unseen[best]), seen=expm1(seen[best]))
        shrunk.append(row.shrinkage or 0.0)
    assert 0.15 < float(np.mean(shrunk)) < 0.27


# What it writes


def test_document__and_frames(found: Tuned) -> None:
    document = json.loads(found.to_json())
    assert document["schema"] == "mousehole.tune/2"
    assert document["account"]["trials"] == 12
    assert len(document["trials"]) == found.trials.height == 24
    assert document["comparison"]["manifest"]["scenario"]["replication"] == 2
    assert "search_s" not in found.to_json()
    assert repr(found).startswith("Search of settings on web:sfd")


def test_plot__shows_schemes_beside_each_other(found: Tuned, tmp_path: Path) -> None:
    found.plot(tmp_path / "front.svg")
    text = (tmp_path / "front.svg").read_text()
    for word in (
        "sfd|multi-red(mode=coupled)",
        "sfd|cake(tins=bulk)",
        "hollow: schemes as they are",
        "fq-codel",
        "recommended",
    ):
        assert word in text, word
    again = tmp_path / "again.svg"
    found.plot(again)
    assert again.read_text() == text
    with pytest.raises(MouseholeError, match="ends in"):
        found.plot(tmp_path / "front.gif")


def test_report__names_finalists_and_settings(found: Tuned) -> None:
    console = OutputConsole(record=True, width=110, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    print_document(console, found.document())
    text = console.export_text()
    assert "Change against droptail" in text
    for scheme, letter in pareto.letter_finalists(found.results).items():
        assert f"{letter}: {scheme}" in text, "finalists can be copied whole"
    assert "Install on Linux:" in text
    assert "12 settings, 6 of each scheme" in text
    assert found._repr_html_().startswith("<")


def test_install__writes_files_that_say_how_they_are_used(found: Tuned, tmp_path: Path) -> None:
    written = found.install(tmp_path / "new" / "folder")
    assert "install.sh" in [path.name for path in written]
    assert all(path.read_text() for path in written)
    nothing = Tuned(
        replace(found.results, settings=None, why_nothing="", recommended=None), found.judged, found.spent
    )
    with pytest.raises(MouseholeError, match="nothing is recommended"):
        nothing.install(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(MouseholeError, match="cannot write"):
        found.install(tmp_path / "file")


@pytest.mark.parametrize("is_upload", [False, True])
def test_install_files__are_of_both_directions(is_upload: bool) -> None:
    slow, fast = (1_000_000, 20), (20_000_000, 100)
    own, other = (slow, fast) if is_upload else (fast, slow)
    one = install.find_settings("sfd|cake(tins=bulk)", Link(*own, is_upload=is_upload))
    back = Link(*other, is_upload=not is_upload)
    both = install.find_settings("sfd|cake(tins=bulk)", Link(*own, is_upload=is_upload, other=back))
    assert one is not None
    assert both is not None
    assert set(make_install_files(one)) == {"install.sh", "mousehole-live.toml"}
    files = make_install_files(both)
    assert set(files) == {
        f"{name}-{way}{suffix}"
        for way in ("download", "upload")
        for name, suffix in (("install", ".sh"), ("mousehole-live", ".toml"))
    }
    assert "bandwidth 20mbit" in files["install-download.sh"]
    assert "bandwidth 1mbit" in files["install-upload.sh"]
    assert "--config mousehole-live-upload.toml" in files["mousehole-live-upload.toml"].splitlines()[0]


# The command


ARGUMENTS = [
    "tune", "web:sfd", "--rate", "3mbit", "--load", "0.9", "--duration", "6s", "--warmup", "2s",
    "--seeds", "5", "--search-seeds", "1", "--sensitivity-seeds", "0", "--trials", "2",
]  # fmt: skip


def test_command__writes_what_is_asked_for(tmp_path: Path) -> None:
    options = [
        "--scheme",
        "sfd|cake(tins=bulk)",
        "--json",
        "found.json",
        "--plot",
        "found.svg",
        "--install",
        "here",
    ]
    done = subprocess.run(
        [*MODULE, *ARGUMENTS, *options], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "found.json").read_text())["schema"] == "mousehole.tune/2"
    assert "<svg" in (tmp_path / "found.svg").read_text()
    assert {path.name for path in (tmp_path / "here").iterdir()} == {"install.sh", "mousehole-live.toml"}
    assert "Best of 2 settings" in done.stdout
    assert "mousehole-live mark DEV" not in done.stdout, "it stands in the folder"
    assert "2 settings of 1 scheme × 1 replication" in done.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "--scheme: give a scheme to search"),
        (["--scheme", "sfd(thh=1kB)"], '--scheme sfd: there is no parameter "thh"'),
        (["--scheme", "sfd", "--objective", "shrt mean"], '--objective: there is no measure "shrt mean"'),
        (["--scheme", "sfd", "--limit", "long mean"], '--limit: "long mean" is not allowed'),
        (
            ["--scheme", "sfd", "--limit", "short mean -99%"],
            "--limit: none of 2 settings keeps the limits: each",
        ),
        (
            ["--scheme", "sfd", "--limit", "short p50 +5 points"],
            '--limit: "short p50 +5 points" is not allowed',
        ),
        (
            ["--scheme", "sfd", "--limit", "calls p95 +5ms"],
            '"calls delay p95 +5ms" is about what is unknown here: no calls',
        ),
        (["--scheme", "sfd", "--range", "thh=1kB..2kB"], '--range: there is no parameter "thh"'),
        (["--scheme", "sfd", "--budget", "9s"], "--trials: 2 cannot be combined with --budget"),
        (["--scheme", "srpt"], '--scheme: "srpt" has no parameter to search'),
        (["--for", "cak"], '--for: "cak" is not allowed'),
        (["--scheme", "sfd", "--install", "file"], '--install: "file" is a file'),
        (["--scheme", "sfd", "--plot", "found.gif"], "--plot"),
        (["--scheme", "sfd", "--json", "no/where.json"], "--json"),
        (["--scheme", "sfd", "--search-seeds", "x"], "search_seeds"),
    ],
)
def test_command__a_fault_is_one_line_and_status_2(options: list[str], told: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [*MODULE, *ARGUMENTS, *options], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stdout
    assert done.stdout == ""
    fault = [line for line in done.stderr.splitlines() if not line.startswith("at most about")]
    assert len(fault) == 1, done.stderr
    assert told in fault[0]
    assert [path.name for path in tmp_path.iterdir()] == ["file"], "nothing is written"


def test_command__is_described_with_every_option() -> None:
    text = (Path(__file__).parents[2] / "docs" / "tune.md").read_text(encoding="utf-8")
    shared = command_line_options(RunOptions).keys() - {"seeds"}
    for kind in (TuneOptions, TuneOutputs):
        for name, (_, words) in command_line_options(kind).items():
            if name not in shared:
                assert f"`{make_flag(name, words)}" in text, name


def test_picture__shows_zero_beside_points_that_lie_together() -> None:
    points = [
        {"x": place, "y": place} for place in (-0.13, -0.12, -0.11, -0.1, -0.12, -0.13, -0.11, 0.04, 1.0)
    ]
    axis = pareto._Axis("y", points, [])
    assert axis.holds({"y": 0.0})
    assert axis.holds({"y": 0.04})
    assert not axis.holds({"y": 1.0})


def test_picture__names_at_an_edge_stand_in_lines_where_they_would_meet() -> None:
    near = [{"x": 0.1 * place, "y": 0.0} for place in range(8)]
    x, y = (pareto._Axis(axis, near, []) for axis in "xy")
    far = {"y": 5.0, "x_text": "0 %", "y_text": "+900 % (1…2)", "scheme": pareto.OTHERS}
    beyond = [far | {"x": place, "setting": f"scheme{place}"} for place in (0.6, 0.61, -0.1)]
    found = pareto._place_at_edges(beyond, x, y)
    assert found[0]["y"] == found[2]["y"] == y.ends[1]
    assert found[1]["y"] < y.ends[1]
    assert all("+900 %" in one["text"] for one in found)
