"""Figures: the style of a scheme is its own, and sparse traffic gives a figure that says why it is empty."""

import re
from itertools import combinations
from pathlib import Path

import mousehole
import pytest
from mousehole.reports import plots
from mousehole.runs import all_schemes, default_schemes


def sparse() -> mousehole.Comparison:
    """Three transfers in an hour: most windows have none, no bin of sizes has enough."""
    rows = [{"start_s": 1200.0 * n, "client": n, "server": 9, "bytes": 900} for n in range(3)]
    return mousehole.compare(
        rows, rate="1mbit", duration="5s", warmup="1s", seeds=2, schemes="droptail,sfd,fq-codel"
    )


@pytest.fixture(scope="module")
def of_three() -> mousehole.Comparison:
    return sparse()


def words_of(path: Path) -> str:
    return " ".join(re.findall(r">([^<>]+)</text>", path.read_text()))


def test_plot__of_sparse_traffic_says_why_a_panel_is_empty(
    of_three: mousehole.Comparison, tmp_path: Path
) -> None:
    of_three.plot(tmp_path / "a.svg")
    words = words_of(tmp_path / "a.svg")
    assert "no size bin has 20 transfers," in words
    assert "too few transfers ≤ 15 kB" in words
    assert all(scheme in words for scheme in of_three.plan.schemes), "the legend names every scheme"


def test_heatmap__of_sparse_traffic_says_why_it_is_empty(
    of_three: mousehole.Comparison, tmp_path: Path
) -> None:
    of_three.heatmap(tmp_path / "a.svg")
    assert "no size has 20 transfers under any scheme" in words_of(tmp_path / "a.svg")


def test_look__is_the_same_whatever_a_scheme_is_compared_with() -> None:
    for scheme in default_schemes():
        if "(" not in scheme:
            assert plots.look(scheme, default_schemes()) == plots.look(scheme, ("droptail", scheme))


def test_look__differs_between_all_schemes_of_the_default() -> None:
    looks = [plots.look(scheme, default_schemes()) for scheme in default_schemes()]
    for one, other in combinations(looks, 2):
        assert (one["color"], one["marker"]) != (other["color"], other["marker"])
        assert one["marker"] != other["marker"], "to be told apart in print"


def test_look__no_two_names_of_the_catalogue_look_alike() -> None:
    schemes = [scheme for scheme in all_schemes() if "(" not in scheme]
    looks = [(look["color"], look["marker"]) for look in (plots.look(name, schemes) for name in schemes)]
    assert len(set(looks)) == len(looks)


def test_look__own_policies_have_one_too() -> None:
    assert plots.look("my-marker|multi-red", ("my-marker|multi-red",)) == plots.look(
        "my-marker|multi-red", ("droptail", "my-marker|multi-red")
    )
