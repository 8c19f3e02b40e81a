"""The answer of a comparison, and how its scheme is installed."""

import subprocess
import tomllib
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest
from mousehole.answer import (
    MOST_LINES,
    NO_VERDICT,
    NOT_SHOWN,
    NOTHING_BETTER,
    RECOMMENDED,
    Link,
    advice,
)
from mousehole.answer import _install as install
from mousehole.engine_types import TopologySection
from mousehole.reports import summarise_grid
from mousehole.runs import Capture, Counted, Results
from support import HandMadeRun, make_results_of_schemes

LINK = Link(rate_bps=5_000_000, buffer_packets=50, overhead=0)


def make_runs(
    short_s: float, long_s: float = 10.0, count: int = 6, spread: float = 0.001
) -> list[HandMadeRun]:
    """Returns replications of 50 short transfers around `short_s` and two long ones around `long_s`."""
    found = []
    for number in range(count):
        ends = [short_s * (1 + spread * number)] * 50 + [long_s * (1 + spread * number)] * 2
        found.append(HandMadeRun([1000] * 50 + [10**6] * 2, ends))
    return found


def make_results(by_scheme: dict[str, list[HandMadeRun]], **changes: object) -> Results:
    """Returns the results of schemes on a line of 5 Mb/s; `changes` replace their fields."""
    made = make_results_of_schemes(by_scheme, rate="5mbit", rtt="80ms")
    return replace(made, **changes)  # type: ignore[arg-type]


def find_advice(by_scheme: dict[str, list[HandMadeRun]], **changes: object) -> advice.Advice:
    """Returns the answer for these runs; asserts that it has at most `MOST_LINES` lines besides commands."""
    found = make_results(by_scheme, **changes)
    (one,) = advice.advice(found, found.plan.cells[0])
    commands = one.installation.lines if one.installation else ()
    assert 1 <= len(one.lines) - len(commands) <= MOST_LINES
    return one


def test_advice__recommends_the_best_that_can_be_installed() -> None:
    one = find_advice(
        {
            "droptail": make_runs(1.0),
            "cake": make_runs(0.5),
            "fq-codel": make_runs(0.6),
            "srpt": make_runs(0.1),
        }
    )
    assert (one.outcome, one.scheme, one.peers) == (RECOMMENDED, "cake", ())
    assert one.lines[0].startswith("Best for transfers ≤ 15 kB: cake, better by 50 %")
    assert one.lines[-2].startswith("Install on Linux: tc qdisc replace dev DEV root cake bandwidth 5mbit ")
    assert one.lines[-1] == install.AT_THE_LINE
    assert "srpt" not in "".join(one.lines), "nobody can deploy an ideal"
    assert one.ahead == (), "what can be installed is never ahead of the recommendation"


def test_advice__where_short_transfers_are_level_serves_long_ones() -> None:
    one = find_advice(
        {"droptail": make_runs(1.0), "cake": make_runs(1.01, long_s=5.0), "fq-codel": make_runs(0.99)}
    )
    assert (one.outcome, one.scheme, one.is_best) == (RECOMMENDED, "cake", False)
    assert one.classes == ("transfers > 150 kB",)
    assert one.lines[0].startswith(
        "Recommended for transfers > 150 kB: cake; transfers ≤ 15 kB: equal within"
    )
    assert summarise_grid([one], "droptail") == [
        "cake is recommended for transfers > 150 kB in 1 of 1 cells: buffer 50p at load 0.9."
    ]
    paid = find_advice({"droptail": make_runs(1.0), "cake": make_runs(1.1, long_s=5.0)})
    assert (paid.scheme, paid.classes) == (None, ()), "short transfers pay"


def test_advice__of_equals_takes_the_one_that_costs_long_transfers_least() -> None:
    wide = {"spread": 0.1}
    one = find_advice(
        {
            "droptail": make_runs(1.0),
            "cake": [*make_runs(0.50, 20.0, **wide)],
            "fq-codel": [*reversed(make_runs(0.51, 12.0, **wide))],
        }
    )
    assert (one.scheme, one.peers) == ("fq-codel", ("cake",))
    assert "Not shown to be slower: cake −2.0 % (faster in 3 of 6)." in "".join(one.lines)
    assert one.lines[0].startswith("Recommended for transfers ≤ 15 kB: fq-codel, better by ")
    assert one.lines[1].startswith("Worse for transfers > 150 kB: mean response time 10 s → 15 s, +48 % (")


def make_scaled_runs(factors: list[float], long_s: float = 10.0) -> list[HandMadeRun]:
    """Returns replications of 50 short transfers of 0.5 s, times a factor each, and two long ones."""
    return [HandMadeRun([1000] * 50 + [10**6] * 2, [0.5 * factor] * 50 + [long_s] * 2) for factor in factors]


def test_advice__names_the_least_mean_unless_long_transfers_decide_within_five_percent() -> None:
    slow = make_scaled_runs([1.0173] * 3 + [1.0473] * 3, long_s=8.0)
    one = find_advice({"droptail": make_runs(1.0), "cake": make_scaled_runs([1.0] * 6), "fq-codel": slow})
    assert (one.scheme, one.peers) == ("fq-codel", ("cake",)), "3 % slower, and long ones pay less"
    slower = make_scaled_runs([1.06, 1.07] * 3, long_s=8.0)
    far = find_advice({"droptail": make_runs(1.0), "cake": make_scaled_runs([1.0] * 6), "fq-codel": slower})
    assert (far.scheme, far.peers, far.is_best) == ("cake", (), True)


def test_advice__a_tie_is_not_broken_by_noise() -> None:
    """Long transfers that take less time by the mean, but not surely, change nothing."""
    noisy = [run for long_s in (4.0, 14.0, 5.0, 12.0, 6.0, 11.0) for run in make_scaled_runs([1.02], long_s)]
    one = find_advice({"droptail": make_runs(1.0), "cake": make_scaled_runs([1.0] * 6), "fq-codel": noisy})
    assert one.scheme == "cake"


@pytest.mark.parametrize(
    ("last", "scheme", "beside"), [(0.88, "fq-codel", "cake"), (0.92, "cake", "fq-codel")]
)
def test_advice__what_won_every_time_is_recommended(last: float, scheme: str, beside: str) -> None:
    """One that is not shown to help by itself, but was faster than what is: in 6 of 6, or in 5 of 6."""
    levels, factors = [1.0, 1.3, 0.8, 1.2, 0.9, 1.1], [0.05, 0.88, 0.05, 0.89, 0.05, last]
    base = [HandMadeRun([1000] * 50, [level] * 50) for level in levels]
    steady = [HandMadeRun([1000] * 50, [0.9 * level] * 50) for level in levels]
    wild = [
        HandMadeRun([1000] * 50, [factor * level] * 50) for factor, level in zip(factors, levels, strict=True)
    ]
    one = find_advice({"droptail": base, "cake": steady, "fq-codel": wild})
    assert (one.scheme, one.is_best, one.peers) == (scheme, scheme == "fq-codel", (beside,))
    if scheme == "fq-codel":
        assert one.lines[0].startswith(
            "Best for transfers ≤ 15 kB: fq-codel, faster in every replication than cake, which is "
            "better by 10 %"
        )
        assert " Slower in every replication, but not shown to be: cake +" in "".join(one.lines)
        assert "Not shown to be slower" not in "".join(one.lines)
    else:
        assert "Not shown to be slower: fq-codel −76 % (faster in 5 of 6)." in one.lines[1]


def test_advice__best_is_said_only_where_no_other_may_be_better() -> None:
    near = make_scaled_runs([1.0, 1.2, 0.9, 1.1, 0.95, 1.15])
    one = find_advice({"droptail": make_runs(1.0), "cake": make_scaled_runs([1.0] * 6), "fq-codel": near})
    assert (one.scheme, one.is_best, one.peers) == ("cake", False, ("fq-codel",))
    assert one.lines[0].startswith("Recommended for transfers ≤ 15 kB: cake, better by ")
    assert "Not shown to be slower: fq-codel +4.4 % (faster in 2 of 6)." in one.lines[2]


def test_advice__a_scheme_that_won_every_time_does_not_vanish() -> None:
    for faster in ("las", "cake"):  # one that nothing installs, and one that is installed
        least = make_scaled_runs([0.2, 0.9, 0.3, 0.95, 0.25, 0.99])
        one = find_advice(
            {"droptail": make_runs(1.0), "fq-codel": make_scaled_runs([1.0] * 6), faster: least}
        )
        assert faster in "".join(one.lines), one.lines


def test_advice__names_three_schemes_beside_it() -> None:
    names = ("fq-codel", "codel", "pie", "red", "sfd")
    wide = {
        name: make_scaled_runs([0.9 + place / 9, 1.2, 1.0, 1.1, 0.95, 1.3])
        for place, name in enumerate(names)
    }
    one = find_advice({"droptail": make_runs(1.0), "cake": make_scaled_runs([1.0] * 6), **wide})
    assert one.peers == names
    assert one.lines[2].endswith(" and 2 more.")


def test_advice__of_the_same_times_takes_the_first() -> None:
    one = find_advice({"droptail": make_runs(1.0), "cake": make_runs(0.5), "fq-codel": make_runs(0.5)})
    assert (one.scheme, one.peers, one.is_best) == ("cake", ("fq-codel",), True)
    ideal_like = find_advice({"droptail": make_runs(1.0), "cake": make_runs(0.5), "las": make_runs(0.5)})
    assert ideal_like.ahead == ()


def test_advice__without_long_transfers_there_is_no_price() -> None:
    none = [HandMadeRun([1000] * 50, [0.4] * 50) for _ in range(6)]
    one = find_advice(
        {"droptail": make_runs(1.0), "cake": make_scaled_runs([1.0] * 6, long_s=0.5), "fq-codel": none}
    )
    assert (one.scheme, one.peers) == ("fq-codel", ())
    assert one.lines[1] == "Transfers > 150 kB: mean response time unknown."


def test_advice__what_cannot_be_installed_is_ahead_only_if_it_is_better() -> None:
    one = find_advice({"droptail": make_runs(1.0), "cake": make_runs(0.5), "las": make_runs(0.8)})
    assert (one.scheme, one.ahead) == ("cake", ())
    wide = find_advice(
        {
            "droptail": make_runs(1.0),
            "cake": make_scaled_runs([1.0] * 6),
            "las": make_scaled_runs([0.9, 1.09] * 3),
        }
    )
    assert (wide.scheme, wide.ahead) == ("cake", ()), "0.5 % less is undecided"


def test_advice__has_room_for_three_lines_of_a_router() -> None:
    router = "sfd(mode=total)"
    one = find_advice({"droptail": make_runs(1.0), router: make_runs(0.5)})
    assert len(one.lines) == 7
    assert "sfd(mode=total) takes one that lasts for a download" in one.lines[2]
    assert one.lines[4].startswith("Install on a router with WRED: mousehole-live mark DEV ")
    assert [line[:14] for line in one.lines[5:]] == ["WRED for DSCP ", "WRED for DSCP "]
    full = find_advice({"droptail": make_runs(1.0), router: make_runs(0.5), "las": make_runs(0.3)})
    assert len(full.lines) == 8
    assert full.lines[-1].startswith("WRED for DSCP 1")


def test_advice__says_for_how_many_schemes_the_interval_holds() -> None:
    two = find_advice({"droptail": make_runs(1.0), "cake": make_runs(0.5), "fq-codel": make_runs(0.6)})
    assert two.lines[2] == (
        "How sure: 6 replications of 100s, faster than droptail in 6 of 6; intervals hold for all 2 schemes "
        "at once."
    )
    alone = find_advice({"droptail": make_runs(1.0), "cake": make_runs(0.5)})
    assert alone.lines[2] == "How sure: 6 replications of 100s, faster than droptail in 6 of 6."


def test_advice__warns_once_that_there_is_no_steady_state() -> None:
    found = make_results({"droptail": make_runs(1.0), "cake": make_runs(0.5)})
    full = replace(found, plan=replace(found.plan, loads=(1.0,)))
    (one,) = advice.advice(full)
    warnings = [line for line in one.lines if line.startswith("Take care: ")]
    assert [line[:57] for line in warnings] == [
        "Take care: at a load of 1 there is no steady state: queue"
    ]  # fmt: skip


def test_advice__names_what_is_better_but_cannot_be_installed() -> None:
    one = find_advice({"droptail": make_runs(1.0), "cake": make_runs(0.6), "las": make_runs(0.3)})
    assert (one.scheme, one.ahead) == ("cake", ("las",))
    assert "Better still in simulation, but nothing installs it: las." in one.lines


def test_advice__without_anything_installable_says_so() -> None:
    one = find_advice({"droptail": make_runs(1.0), "las": make_runs(0.3)})
    assert (one.scheme, one.installation) == ("las", None)
    assert one.lines[-1] == (
        "Nothing installs las: the queue las exists in the simulator only, since it serves whoever was "
        "served least, which no queue discipline of Linux does. Compare what Linux has as well: --schemes "
        "'…,fq-codel,cake'."
    )


@pytest.mark.parametrize(
    ("scheme", "verb"),
    [(scheme, "up") for scheme in ("pias", "lfp", "pq-sfd", "sfd|priority", "appl", "er-tbm", "ct-bytes")]
    + [("shred", "host"), ("tcp-ds", "host")],
)
def test_advice__says_what_mousehole_live_runs(scheme: str, verb: str) -> None:
    one = find_advice({"droptail": make_runs(1.0), scheme: make_runs(0.3)})
    assert one.installation is not None
    assert any(
        line.startswith(f"Install on Linux: mousehole-live {verb} DEV ") and scheme in line
        for line in one.lines
    ), one.lines


def test_advice__a_link_without_a_constant_rate_is_the_reason() -> None:
    assert install.explain_no_installation("cake", None).startswith("its commands have a fixed rate")
    assert install.explain_no_installation("cake", LINK) == ""


def test_advice__says_what_long_transfers_pay() -> None:
    one = find_advice({"droptail": make_runs(1.0, 10.0), "cake": make_runs(0.5, 12.0)})
    text = "Worse for transfers > 150 kB: mean response time 10 s → 12 s, +20 % (+20…+20)."
    assert one.lines[1].startswith(text)


def test_advice__nothing_beats_the_baseline() -> None:
    one = find_advice({"droptail": make_runs(1.0), "cake": make_runs(1.3), "fq-codel": make_runs(1.0)})
    assert (one.outcome, one.scheme) == (NOTHING_BETTER, None)
    assert one.lines[0] == (
        "Nothing here beats droptail for transfers ≤ 15 kB (fq-codel: equal within 5 %; cake: worse)."
    )


def test_advice__what_may_be_better_is_not_called_so() -> None:
    one = find_advice(
        {"droptail": make_runs(1.0, spread=0.2), "cake": [*reversed(make_runs(0.8, spread=0.2))]}
    )
    assert (one.outcome, one.scheme) == (NOT_SHOWN, None)
    assert one.lines[0].startswith("No scheme is shown to beat droptail for transfers ≤ 15 kB")
    assert one.lines[1].startswith("cake comes nearest: undecided, faster in 4 of 6 replications: ")


def test_advice__few_replications_and_few_transfers_give_no_verdict() -> None:
    few = find_advice({"droptail": make_runs(1.0, count=3), "cake": make_runs(0.5, count=3)})
    assert few.outcome == NO_VERDICT
    assert few.lines[0] == (
        "No verdict: 3 replications of 100s give no interval; at least 5 are needed (--seeds). So far cake "
        "has the smallest mean of transfers ≤ 15 kB: 500 ms."
    )
    counted = {"short": Counted(99, 9), "long": Counted(2, 1), "all": Counted(101, 9)}
    sparse = find_advice(
        {"droptail": make_runs(1.0), "cake": make_runs(0.5)},
        capture=Capture(10.0, counted, 50.0, 50, 1e5),  # type: ignore[arg-type]
    )
    assert sparse.lines == (
        "No verdict: the capture has 99 distinct transfers ≤ 15 kB, of at least 100.",
    )  # fmt: skip


def test_advice__a_quick_look_names_the_floor_as_well() -> None:
    counted = {"short": Counted(3, 2), "long": Counted(2, 1), "all": Counted(5, 2)}
    quick = find_advice(
        {"droptail": make_runs(1.0, count=3), "cake": make_runs(0.5, count=3)},
        capture=Capture(10.0, counted, 50.0, 50, 1e5),  # type: ignore[arg-type]
    )
    assert quick.lines[0] == (
        "No verdict: 3 replications of 100s give no interval; at least 5 are needed (--seeds). More of them "
        "give none either: the capture has 3 distinct transfers ≤ 15 kB, of at least 100."
    )


def test_advice__five_replications_give_a_verdict() -> None:
    assert (
        find_advice({"droptail": make_runs(1.0, count=5), "cake": make_runs(0.5, count=5)}).outcome
        == RECOMMENDED
    )


@pytest.mark.parametrize(
    ("count", "text"), [(1, "1 replication of 100s gives no"), (2, "2 replications of 100s give no")]
)
def test_advice__counts_few_replications(count: int, text: str) -> None:
    few = find_advice({"droptail": make_runs(1.0, count=count), "cake": make_runs(0.5, count=count)})
    assert few.lines[0].startswith(f"No verdict: {text} interval")


def test_advice__few_replications_without_short_transfers_name_no_scheme() -> None:
    none = [HandMadeRun([10**6], [1.0])] * 3
    assert find_advice({"droptail": none, "cake": none}).lines == (
        "No verdict: 3 replications of 100s give no interval; at least 5 are needed (--seeds).",
    )


@pytest.mark.parametrize("count", [3, 6])
def test_advice__an_ideal_is_nothing_to_compare_with(count: int) -> None:
    one = find_advice({"droptail": make_runs(1.0, count=count), "srpt": make_runs(0.1, count=count)})
    assert one.outcome == NO_VERDICT
    assert one.lines == (
        "No verdict: only ideals are compared with droptail, which nobody can deploy; name others with "
        "--schemes.",
    )
    assert find_advice({"droptail": make_runs(1.0, count=count)}).lines == (
        "No verdict: nothing is compared with droptail; name schemes with --schemes.",
    )  # fmt: skip


def test_advice__an_ideal_may_be_the_baseline() -> None:
    few = find_advice({"srpt": make_runs(0.1, count=3), "sfd": make_runs(0.5, count=3)})
    assert "So far sfd has the smallest mean" in few.lines[0]


def test_advice__the_nearest_has_short_transfers() -> None:
    none = [HandMadeRun([10**6], [1.0]) for _ in range(6)]
    wide = [*reversed(make_runs(0.8, spread=0.2))]
    one = find_advice({"droptail": make_runs(1.0, spread=0.2), "fq-codel": none, "cake": wide})
    assert one.outcome == NOT_SHOWN
    assert one.lines[1].startswith("cake comes nearest: undecided, faster in 4 of 6 replications: ")


def test_advice__no_short_transfer_at_all() -> None:
    none = [HandMadeRun([10**6], [nan]) for _ in range(6)]
    assert find_advice({"droptail": none, "cake": none}).outcome == NO_VERDICT


def test_of_grid__groups_the_cells_by_answer() -> None:
    one = find_advice({"droptail": make_runs(1.0), "cake": make_runs(0.5)})
    other = replace(one, buffer="20p", outcome=NOTHING_BETTER, scheme=None)
    low = replace(one, load=0.5)
    assert summarise_grid([one, other, low], "droptail") == [
        "cake is best in 2 of 3 cells: buffer 50p at load 0.9; buffer 50p at load 0.5.",
        "Nothing is shown to beat droptail in 1 of 3 cells: buffer 20p at load 0.9.",
    ]


def test_find_link__takes_what_the_scenario_says() -> None:
    plain = {"link": {"rate": "5mbit", "rtt": "80ms"}, "traffic": {}}
    assert install.find_link(plain, "50p") == Link(5_000_000, 50, 0, is_upload=False)  # type: ignore[arg-type]
    up = {
        "link": {"rate": "5mbit", "rtt": "80ms", "overhead": 26},
        "traffic": {"model": "poisson", "payload": "up"},
    }
    assert install.find_link(up, "1bdp") == Link(5_000_000, 33, 26, is_upload=True)  # type: ignore[arg-type]
    cable = {"link": {"rate": "5mbit", "rtt": "80ms", "layer": "docsis"}, "traffic": {}}
    docsis = install.find_link(cable, "50p")  # type: ignore[arg-type]
    assert docsis == Link(5_000_000, 50, 0, layer="docsis")
    way = install.find_installation("cake", docsis)
    assert way is not None
    assert way.lines[0].endswith(" docsis")
    assert install.find_link({"link": {"rtt": "80ms"}, "traffic": {}}, "50p") is None
    topology: TopologySection = {"kind": "y", "rate": "5mbit"}
    assert install.find_link({"link": {}, "topology": topology, "traffic": {}}, "1bdp") is None, (
        "without a RTT"
    )
    assert install.find_link({"link": {}, "topology": topology, "traffic": {}}, "50p") == Link(5_000_000, 50)


def test_installation__says_what_linuxs_red_does_otherwise() -> None:
    """tc-red(8) has neither a gentle part nor wait: the kernel drops every packet from max on."""
    way = install.find_installation("red", LINK)
    assert way is not None
    assert (
        "drops every packet from max on, where the scheme rises to certain drop at twice max" in way.lines[2]
    )
    assert "spaces drops 1 to 1/p packets apart" in way.lines[2]
    assert (
        way.lines[3] == "# as it was simulated: mousehole-live up DEV --rate 5mbit --buffer 50p --scheme red"
    )
    same = install.find_installation("red(gentle=false,wait=false)", LINK)
    assert same is not None
    assert len(same.lines) == 3, "that is what Linux does; the last line is on the rate"


def test_settings__of_wred_have_a_profile_for_each_colour() -> None:
    scheme = (
        "demotion(first=10kB,second=1MB)|multi-red(mode=total,green_min=20,green_max=40,green_maxp=0.02,"
        "yellow_min=10,yellow_max=30,yellow_maxp=0.1,red_min=10%,red_max=20%,red_maxp=1,wq=0.00390625)"
    )
    found = install.find_settings(scheme, LINK)
    assert found is not None
    assert found.place == "a router with WRED"
    assert [(one.dscp, one.min_packets, one.max_packets, one.probability) for one in found.wred] == [
        (10, 20, 40, "0.02"), (12, 10, 30, "0.1"), (14, 5, 10, "1"),
    ]  # fmt: skip
    assert {one.weight_exponent for one in found.wred} == {8}
    table = install.wred_table(found.wred)
    assert "| 12 | 10 | 30 | 0.1 | 2^-8 |" in table
    assert all(f"- {word}" in table for word in ("DSCP", "min, max", "probability", "weight"))
    assert found.lines[0].endswith("--via dscp --dscp 10,12,14")
    assert found.live == (
        "# mousehole-live mark DEV --config mousehole-live.toml\nmode = 'mark'\n"
        "scheme = 'demotion(first=10kB,second=1MB)'\nvia = 'dscp'\ndscp = '10,12,14'\n"
    )
    gentle = install.find_settings("sfd(mode=total,gentle=true)", LINK)
    assert gentle is not None
    assert (gentle.place, gentle.wred) == ("Linux", ()), "a router's WRED drops every packet from max on"


def test_settings__are_files_of_mousehole_live() -> None:
    up = install.find_settings("sfd|multi-red(mode=coupled)", Link(5_000_000, 50, overhead=26))
    assert up is not None
    assert tomllib.loads(up.live or "") == {
        "mode": "up", "scheme": "sfd|multi-red(mode=coupled)", "rate": "5mbit", "buffer": "50p",
        "overhead": 26,
    }  # fmt: skip
    mark = install.find_settings("sfd(th=20kB)|cake(tins=bulk)", LINK)
    assert mark is not None
    assert tomllib.loads(mark.live or "") == {"mode": "mark", "scheme": "sfd(th=20kB)"}
    two = install.find_settings("sfd(mode=total,th=20kB,timeout=1s)", LINK)
    assert two is not None
    assert tomllib.loads(two.live or "") == {
        "mode": "mark", "scheme": "sfd(th=20kB,timeout=1s)", "via": "dscp", "dscp": "1",
    }  # fmt: skip
    alone = install.find_settings("fq-codel", LINK)
    assert alone is not None
    assert alone.live is None
    host = install.find_settings("tcp-ds", LINK)
    assert host is not None
    assert tomllib.loads(host.live or "") == {"scheme": "tcp-ds"}
    assert install.find_settings("las", LINK) is None


def test_settings__a_script_has_the_device_as_its_argument(tmp_path: Path) -> None:
    found = install.find_settings("sfd(th=20kB,mode=total)", LINK)
    assert found is not None
    script = install.install_script(found)
    (tmp_path / "install.sh").write_text(script)
    checked = subprocess.run(["sh", "-n", str(tmp_path / "install.sh")], capture_output=True, check=False)
    assert checked.returncode == 0, checked.stderr
    assert "\n# WRED for DSCP 1: " in script, "no shell configures a router"
    cake = install.find_settings("sfd|cake(tins=bulk)", LINK)
    assert cake is not None
    assert 'tc qdisc replace dev "$DEV" root cake' in install.install_script(cake)


@pytest.mark.parametrize(
    ("buffer", "packets"),
    [
        ("50p", 50),
        ("64kB", 42),
        ("1bdp", 33),
        ("0.03bdp", 1),
        ("4MiB", 2796),
        ("50P", 50),
        ("1BDP", 33),
        ("1500B", 1),
    ],
)
def test_find_link__counts_a_buffer_of_every_unit_in_packets(buffer: str, packets: int) -> None:
    link = install.find_link({"link": {"rate": "5mbit", "rtt": "80ms"}, "traffic": {}}, buffer)
    assert link is not None
    assert link.buffer_packets == packets
