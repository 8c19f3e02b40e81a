"""Who pays: margins of harm, the vetoes that follow, and what the answer says of every class."""

from dataclasses import replace
from math import nan
from pathlib import Path
from typing import Any

import mousehole
import numpy as np
import pytest
from mousehole import MouseholeError, quantities
from mousehole._engine import Source
from mousehole.answer import MOST_LINES, NO_VERDICT, RECOMMENDED, VETOED, advice, vetoes
from mousehole.runs import Results
from support import HandMadeRun, make_results_of_schemes

ROOT = Path(__file__).parents[2]
INTERACTIVE = ROOT / "examples" / "negatives" / "interactive.toml"
CALLS = """
duration = "20s"
warmup = "5s"
[link]
down = "20mbit"
up = "1mbit"
rtt = "40ms"
buffer = "200p"
up_buffer = "200p"
[[traffic.mix]]
name = "calls"
model = "voip"
count = 2
[[traffic.mix]]
name = "download"
model = "ftp"
params = { users = 2, endless = true }
"""
DELAY, LOST, MISSED = "delay_p95_s", "loss_share", "missed_share"


def make_results(
    short_s: dict[str, float],
    figures: dict[str, dict[tuple[str, str], list[float]]],
    kinds: dict[str, str],
    count: int = 6,
    **plan: Any,
) -> Results:
    """Returns results by scheme: the mean of short transfers, and figures of applications by replication."""
    runs = {
        scheme: [HandMadeRun([1000] * 50, [mean * (1 + 0.001 * number)] * 50) for number in range(count)]
        for scheme, mean in short_s.items()
    }
    found: Results = make_results_of_schemes(runs, rate="5mbit", rtt="80ms")
    for task, run in found.facts.items():
        own = figures[found.plan.schemes[task.scheme]]
        run.groups.update({key: values[task.replication] for key, values in own.items()})
        run.kinds.update(kinds)
    own_plan = replace(found.plan, **plan)
    return replace(found, plan=own_plan)


def make_calls(cake_s: list[float], other_s: list[float], count: int = 6, **plan: Any) -> Results:
    """Returns results of CAKE and a faster scheme, FQ-CoDel, with the delays of calls under both."""
    key = ("phones", DELAY)
    figures = {"droptail": {key: [0.2] * count}, "cake": {key: cake_s}, "fq-codel": {key: other_s}}
    times = {"droptail": 1.0, "cake": 0.6, "fq-codel": 0.5}
    return make_results(times, figures, {"phones": "calls"}, count, **plan)


def find_advice(found: Results) -> advice.Advice:
    """Returns the answer; asserts that it has at most `MOST_LINES` lines besides commands."""
    (one,) = advice.advice(found)
    commands = one.installation.lines if one.installation else ()
    assert len(one.lines) - len(commands) <= MOST_LINES
    return one


STEADY = [0.030, 0.031, 0.030, 0.029, 0.030, 0.031]


def raise_by(by_s: float, values: list[float] = STEADY) -> list[float]:
    """Returns values raised by a time."""
    return [value + by_s for value in values]


def test_vetoes__a_class_that_pays_beyond_its_margin_rules_out() -> None:
    one = find_advice(make_calls(STEADY, raise_by(0.0101)))
    assert (one.outcome, one.scheme, one.ruled_out) == (RECOMMENDED, "cake", ("fq-codel",))
    (veto,) = one.vetoes
    assert veto.binds
    assert veto.change.mean == pytest.approx(0.0101)
    assert veto.text == (
        "calls: one-way delay, p95 30.2 ms → 40.3 ms, +10.1 ms (+10.1…+10.1), of +10 ms allowed"
    )
    assert "Not recommended, against cake: fq-codel (calls +10.1 ms)." in one.lines
    assert "fq-codel" not in one.lines[0]
    assert one.peers == ()


def test_vetoes__harm_within_the_margin_rules_nothing_out() -> None:
    one = find_advice(make_calls(STEADY, raise_by(0.0099)))
    assert (one.scheme, one.vetoes) == ("fq-codel", ())
    assert "Calls: one-way delay, p95 200 ms → 40.1 ms, −80 % (−80…−80)" in one.lines[1]


def test_vetoes__harm_that_is_not_shown_is_said() -> None:
    """Beyond the margin by the estimate, with an interval that reaches no harm."""
    wild = [0.030, 0.150, 0.010, 0.120, 0.012, 0.090]
    one = find_advice(make_calls(STEADY, wild))
    assert one.scheme == "fq-codel"
    (veto,) = one.vetoes
    assert not veto.binds
    assert veto.change.low < 0 < 0.01 < veto.change.mean
    assert any(line.startswith("May pay, against cake: calls +") for line in one.lines)


def test_vetoes__a_quick_look_goes_by_the_estimate() -> None:
    one = find_advice(make_calls(STEADY[:3], raise_by(0.02)[:3], count=3))
    assert one.outcome == NO_VERDICT
    assert "So far cake has the smallest mean" in one.lines[0]
    assert one.lines[0].endswith("of those under which nobody pays too much.")
    assert "By estimate others pay, against cake: fq-codel (calls +20" in "".join(one.lines)


def test_vetoes__if_all_pay_nothing_is_recommended() -> None:
    found = make_calls(STEADY, raise_by(0.02), reference="droptail", vetoes=("calls p95 +1ms",))
    for task, run in found.facts.items():
        if task.scheme == 0:
            run.groups["phones", DELAY] = 0.01
    one = find_advice(found)
    assert (one.outcome, one.scheme, one.installation) == (VETOED, None, None)
    assert one.ruled_out == ("fq-codel", "cake")
    assert one.lines[0] == (
        "Nothing is recommended: what beats droptail for transfers ≤ 15 kB makes others pay."
    )
    assert one.lines[1].startswith("Not recommended, against droptail: ")
    assert "cake (calls +" in one.lines[1]


def test_vetoes__none_takes_the_defaults_away() -> None:
    far = raise_by(1.0)
    assert find_advice(make_calls(STEADY, far, vetoes=("none",))).scheme == "fq-codel"
    both = find_advice(make_calls(STEADY, far, vetoes=("none", "calls p95 +2s")))
    assert (both.scheme, both.vetoes) == ("fq-codel", ())
    assert find_advice(make_calls(STEADY, far, vetoes=("calls p95 +900ms",))).scheme == "cake"


@pytest.mark.parametrize(
    ("kind", "what", "most"),
    [
        ("calls", LOST, 0.005),
        ("games", LOST, 0.005),
        ("games", DELAY, 0.005),
        ("video_calls", "frames_missed_share", 0.005),
        ("streams", "rebuffering_share", 0.005),
    ],
)
def test_vetoes__every_kind_has_its_margin(kind: str, what: str, most: float) -> None:
    own = next(one for one in vetoes.margins(()) if one.quantity.name == what
               and one.whose == kind.replace("_", " "))  # fmt: skip
    assert own.most == pytest.approx(most)
    for more, binds in ((1.1 * most, True), (0.9 * most, False)):
        key, base = ("app", what), [0.02, 0.021, 0.02, 0.019, 0.02, 0.02]
        figures = {"droptail": {key: base}, "cake": {key: base}, "fq-codel": {key: raise_by(more, base)}}
        found = make_results({"droptail": 1.0, "cake": 0.6, "fq-codel": 0.5}, figures, {"app": kind})
        assert (find_advice(found).ruled_out == ("fq-codel",)) == binds


def test_vetoes__less_of_what_is_good_is_harm() -> None:
    key, base = ("phones", "mos"), [4.4, 4.3, 4.4, 4.4, 4.3, 4.4]
    for less, out in ((0.11, ("fq-codel",)), (0.09, ()), (-1.0, ())):
        figures = {"droptail": {key: base}, "cake": {key: base}, "fq-codel": {key: raise_by(-less, base)}}
        found = make_results({"droptail": 1.0, "cake": 0.6, "fq-codel": 0.5}, figures, {"phones": "calls"})
        assert find_advice(found).ruled_out == out


def test_reference__is_what_people_would_have() -> None:
    plan = make_calls(STEADY, STEADY).plan
    assert vetoes.reference(plan) == "cake"
    assert (
        vetoes.reference(replace(plan, schemes=("droptail", "sfd|cake(tins=bulk)", "fq-codel"))) == "fq-codel"
    )
    assert vetoes.reference(replace(plan, schemes=("droptail", "sfd"))) == "droptail"
    assert vetoes.reference(replace(plan, reference="droptail")) == "droptail"
    with pytest.raises(MouseholeError, match=r'^reference: "pie" .*: droptail, cake, fq-codel$'):
        vetoes.reference(replace(plan, reference="pie"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cals p95 +10ms", 'did you mean "calls"'),
        ("calls p59 +10ms", "the calls measures are delay p95, lost, mos and qoo"),
        ("calls +10ms", "no calls measure"),
        ("calls p95 -10ms", "more is worse"),
        ("calls mos +0.1", "less is worse"),
        ("calls p95 10ms", "CLASS QUANTITY"),
        ("calls p95 +1.2.3ms", "CLASS QUANTITY"),
        ("calls p95 +0ms", "CLASS QUANTITY"),
        ("calls loss +5ms", "it must be calls lost ±N%"),
        ("", "CLASS QUANTITY"),
    ],
)
def test_read_margin__refuses_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(MouseholeError, match=r"^veto: ") as caught:
        vetoes.read_margin(text)
    assert message in str(caught.value)


def test_vetoes__a_lower_bound_of_the_reference_proves_no_harm() -> None:
    """Unfinished long transfers of the reference count with their age, so the harm may be less."""
    long = {"cake": [nan] + [20.0] * 4, "fq-codel": [30.0] * 5, "droptail": [20.0] * 5}
    runs = {
        scheme: [HandMadeRun([1000] * 50 + [10**6] * 5, [short] * 50 + long[scheme], stop_s=21.0)] * 6
        for scheme, short in (("droptail", 1.0), ("cake", 0.6), ("fq-codel", 0.5))
    }
    one = find_advice(make_results_of_schemes(runs, rate="5mbit", rtt="80ms"))
    assert one.scheme == "fq-codel"
    assert [veto.binds for veto in one.vetoes] == [False]


@pytest.fixture(scope="module")
def calls_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a scenario with calls only."""
    place = tmp_path_factory.mktemp("calls") / "call.toml"
    place.write_text(CALLS)
    return place


@pytest.mark.filterwarnings("error")
def test_calls_alone__are_judged_by_their_delay(calls_alone: Path) -> None:
    found = mousehole.compare(calls_alone, seeds=5, schemes="droptail,fq-codel,cake")
    one = found.advice()
    assert one.outcome == RECOMMENDED
    assert one.lines[0].startswith(f"Best for calls (one-way delay, p95): {one.scheme}, better by ")
    assert "; lost " in one.lines[1]
    assert {item.endpoint for item in found.finding_list if not item.exploratory} == {"calls_delay_p95_s"}
    text = found.markdown()
    for word in ("had such a transfer", "Transfers ≤ 15 kB: mean", "short transfers"):
        assert word not in text.partition("## All tables")[0], word


def test_veto__of_a_class_that_is_absent(calls_alone: Path) -> None:
    message = r'^veto: "games p95 \+5ms" is about games, of which there are none; it must be a class of'
    with pytest.raises(MouseholeError, match=message):
        mousehole.compare(calls_alone, quick=True, schemes="droptail,cake", veto="games p95 +5ms")
    with pytest.raises(MouseholeError, match=r"is about pages, of which there are none; .*: calls$"):
        mousehole.compare(
            calls_alone, quick=True, duration="4s", schemes="droptail,cake", veto=["pages mean +5%"]
        )


def test_interactive__what_delays_calls_is_not_recommended() -> None:
    options: dict[str, Any] = {"baseline": "cake", "seeds": 6, "duration": "60s"}
    marked = mousehole.compare(INTERACTIVE, schemes="cake,ct-cake", **options)
    one = marked.advice()
    assert (one.outcome, one.scheme, one.reference) == (VETOED, None, "cake")
    assert one.lines[1].startswith("Not recommended, against cake: ct-cake (calls +")
    own = next(veto for veto in one.vetoes if veto.margin.name == "delay p95")
    delay = Source(quantities.find("application", DELAY), kind="calls")
    means = {
        scheme: np.mean(marked.results.values(marked.plan.cells[0], scheme, delay))
        for scheme in marked.plan.schemes
    }
    assert own.change.mean == pytest.approx(means["ct-cake"] - means["cake"])
    assert own.change.low > 0.01
    free = mousehole.compare(INTERACTIVE, schemes="cake,ct-cake", veto="none", **options)
    assert (free.advice().outcome, free.advice().scheme) == (RECOMMENDED, "ct-cake")
    assert free.buckets.equals(marked.buckets)


def test_veto__a_tunnel_that_loses_more_is_named() -> None:
    """Its packets beyond a fair share are lost where a call inside would be, too."""
    found = mousehole.compare(
        (),
        users=6,
        apps="web,vpn:1",
        down="5mbit",
        up="1mbit",
        schemes="cake,ct-cake",
        duration="60s",
        seeds=5,
    )
    one = found.advice()
    vpn = [veto for veto in one.vetoes if veto.margin.whose == "VPN"]
    assert {veto.scheme for veto in vpn if veto.binds} == {"ct-cake"}, one.lines


def test_veto__days_have_none(tmp_path: Path) -> None:
    with pytest.raises(MouseholeError, match=r'^veto: "long mean \+5%" .*days.*compare a day by itself'):
        mousehole.compare_days([tmp_path / "a.csv", tmp_path / "b.csv"], rate="1mbit", veto="long mean +5%")
