"""A call beside fetches and downloads: what is played, and what the page says of it."""

from dataclasses import replace

import pytest

from tools import document
from validation import call_beside_fetches as call
from validation.call_beside_fetches import CAKE, MARKER, Figures, Run

GOOD = Figures(21.0, 22.0, 0.0, 160.0, 250.0, 2.1)
RUNS = [
    Run(name, number, GOOD, replace(GOOD, fetch_mean=mean + number), 1, [])
    for number in range(5)
    for name, mean in ((CAKE, 300.0), (MARKER, 150.0))
]


def test_scenario__all_flows_are_of_one_host() -> None:
    given = call.make_scenario(1, CAKE, 5.0)
    connections, (mix,) = given["traffic"]["connections"], given["traffic"]["mix"]
    assert len(connections) == call.DOWNLOADS + round(call.FETCHES_PER_S * (call.WARMUP_S + 5.0))
    assert not any("client" in one for one in connections), "all have the first client"
    assert (mix["params"]["hosts"], mix["params"]["first_host"]) == (1, 0)
    assert call.draw_starts(1, 5.0) == call.draw_starts(1, 5.0) != call.draw_starts(2, 5.0)


def test_simulate__a_marker_of_lives_starves_the_call_and_one_of_rates_does_not() -> None:
    cake, marker, old = (call.simulate(1, call.SCHEMES[name], 8.0) for name in (CAKE, MARKER, "ct-cake"))
    assert cake.call_p99 < 25
    assert marker.call_p99 < 25 < 100 < old.call_p99
    assert marker.fetch_mean < 0.7 * cake.fetch_mean
    assert marker.downloads_mbps > 1


@pytest.mark.parametrize(("late", "mean", "keeps"), [(25, 165, True), (25.1, 165, False), (25, 166, False)])
def test_keeps_aim__looks_at_call_and_fetches(late: float, mean: float, keeps: bool) -> None:
    real = replace(GOOD, call_p99=late, fetch_mean=mean)
    assert call.meets_aim([Run(MARKER, 1, GOOD, real, 1, [])]) is keeps


def test_table__has_each_way_with_the_change_against_cake() -> None:
    rows = call.write_table(RUNS).splitlines()[2:]
    assert [row.split(" | ")[:2] for row in rows] == [
        [f"| `{name}`", way] for way in ("real", "simulated") for name in (CAKE, MARKER)
    ]
    assert "−50 %" in rows[1]
    assert rows[0].endswith("| – |")


def test_page__says_what_the_last_run_found() -> None:
    text = document.read_part(call.DOCUMENT.read_text(encoding="utf-8"), call.TARGET)
    assert all(f"| `{name}` | {way} |" in text for name in call.SCHEMES for way in ("real", "simulated"))
