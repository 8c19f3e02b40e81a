"""Which settings a search may try."""

import random
from typing import Any

import pytest
from mousehole import _engine
from mousehole.base import MouseholeError
from mousehole.tuning import Space, check_ranges, find_meaning, make_space, read_range

BUFFER = 100
COMBINATIONS = [
    "sfd|multi-red", "demotion|multi-red(mode=total,gentle=false)", "demotion(timeout=1s)|cake(tins=colour)",
    "rio-ps|red", "sfd|priority-red(colours=2)", "lfp|priority", "sfd(promotion=one-of-k)|multi-red",
    "window-marker|policer|multi-red",
]  # fmt: skip


def draw_choice(space: Space, source: random.Random) -> dict[str, Any]:
    """Returns what a search might choose; ends of ranges are frequent."""
    chosen: dict[str, Any] = {}
    for dimension in space.dimensions:
        if dimension.kind is None:
            chosen[dimension.name] = source.choice(dimension.choices)
        else:
            ends = (dimension.low, dimension.high, source.uniform(dimension.low, dimension.high))
            chosen[dimension.name] = source.choice(ends)
    return chosen


REFUSED = ("shred(maxp)", "lfp(delta)")
"""What the engine asks beyond ranges and ties: a search draws such settings again."""


def assert_accepted(scheme: str, buffer: int = BUFFER) -> None:
    """Asserts that the engine accepts a scheme, or refuses it for a parameter in `REFUSED`."""
    link = {"rate": "10mbit", "rtt": "80ms", "buffer": f"{buffer}p"}
    try:
        _engine.validate({"link": link, "traffic": {"model": "web:sfd", "load": 0.9}, "scheme": scheme})
    except MouseholeError as error:
        assert (error.field or "").removeprefix("scheme ") in REFUSED, error  # noqa: PT017


def list_searchable() -> list[str]:
    """Returns the names of the schemes with parameters."""
    return [
        name
        for name in (entry["name"] for entry in _engine.schemes())
        if name not in ("droptail", "srpt", "las", "empty")
    ]


@pytest.mark.parametrize("template", [*list_searchable(), *COMBINATIONS])
def test_space__the_engine_takes_whatever_is_drawn(template: str) -> None:
    space, source = make_space(template, BUFFER), random.Random(1)  # noqa: S311 (no secret)
    for _ in range(20):
        values = space.values(draw_choice(space, source))
        assert_accepted(space.scheme(values))
        assert space.values({one.name: one.start(values) for one in space.dimensions}).keys() == values.keys()
        for dimension, value in space.neighbours(values):
            assert_accepted(space.scheme({**values, dimension.name: value}))


@pytest.mark.parametrize("buffer", [5, 20, 100, 5000])
def test_space__thresholds_fit_any_buffer(buffer: int) -> None:
    source = random.Random(2)  # noqa: S311 (no secret)
    for template in ("sfd", "sfd(mode=total)", "red", "sfd|multi-red"):
        space = make_space(template, buffer)
        for _ in range(20):
            assert_accepted(space.scheme(space.values(draw_choice(space, source))), buffer)


def test_space__keeps_what_is_given_and_leaves_the_structure_alone() -> None:
    space = make_space("sfd(th=20kB)|multi-red(mode=coupled)", BUFFER)
    names = [dimension.name for dimension in space.dimensions]
    assert "sfd.th" not in names
    assert "multi-red.mode" not in names
    assert not {"sfd.syn", "multi-red.mean", "multi-red.unit", "multi-red.ecn", "sfd.promotion"} & set(names)
    assert not any("red_m" in name.rpartition(".")[2][:5] for name in names), (
        "SFD gives no packet the third colour"
    )
    scheme = space.scheme(space.values(draw_choice(space, random.Random(3))))  # noqa: S311 (no secret)
    assert scheme.startswith("sfd(th=20kB,timeout=")
    assert "mode=coupled" in scheme
    three = [one.name for one in make_space("demotion|multi-red", BUFFER).dimensions]
    assert "multi-red.red_max" in three


def test_space__ties_lower_thresholds_to_upper_ones() -> None:
    space = make_space("demotion|multi-red(mode=total)", BUFFER)
    by_name = {dimension.name: dimension for dimension in space.dimensions}
    assert by_name["multi-red.green_min"].part_of == "multi-red.green_max"
    assert by_name["demotion.second"].times == "demotion.first"
    source = random.Random(4)  # noqa: S311 (no secret)
    for _ in range(50):
        values = space.values(draw_choice(space, source))
        for colour in ("green", "yellow", "red"):
            low, high = (float(values[f"multi-red.{colour}_{end}"]) for end in ("min", "max"))
            assert low < high
            assert (low, high) == (round(low), round(high)), "routers take whole packets"
        assert float(values["demotion.first"]) <= float(values["demotion.second"])
    weights = {
        space.scheme(space.values(draw_choice(space, source))).split("wq=")[1].split(",")[0]
        for _ in range(20)
    }
    assert weights <= {f"{2.0**-exponent:.14f}".rstrip("0") for exponent in range(1, 15)}


def test_space__the_default_is_where_the_search_begins() -> None:
    space = make_space("sfd(mode=coupled)", BUFFER)
    starts = {one.name: one.start(space.defaults()) for one in space.dimensions}
    again = _engine.scheme_parameters(space.scheme(space.values(starts)))
    assert again == _engine.scheme_parameters("sfd(mode=coupled)")


def test_space__takes_the_users_range() -> None:
    space = make_space("sfd|multi-red", BUFFER, [read_range("th=2kB..4kB"), read_range("mode=coupled,total")])
    by_name = {dimension.name: dimension for dimension in space.dimensions}
    assert (by_name["sfd.th"].low, by_name["sfd.th"].high) == (2000, 4000)
    assert by_name["multi-red.mode"].choices == ("coupled", "total")
    tied = make_space("demotion|cake(tins=colour)", BUFFER, [read_range("second=100kB..200kB")])
    source = random.Random(5)  # noqa: S311 (no secret)
    seconds = {tied.values(draw_choice(tied, source))["demotion.second"] for _ in range(50)}
    assert all(100_000 <= float(second) <= 200_000 for second in seconds)
    asked = make_space("sfd|multi-red", BUFFER, [read_range("promotion=none,one-of-k")])
    assert "sfd.promotion" in [dimension.name for dimension in asked.dimensions]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("th", "NAME=LOW..HIGH"),
        ("th=", "NAME=LOW..HIGH"),
        ("th=1kB..", "NAME=LOW..HIGH"),
        ("th=3kB", "NAME=LOW..HIGH"),
        ("th=3kB,3kB", "NAME=LOW..HIGH"),
    ],
)
def test_range__of_another_form_is_refused(text: str, told: str) -> None:
    with pytest.raises(MouseholeError, match=told):
        read_range(text)


@pytest.mark.parametrize(
    ("template", "text", "told"),
    [
        ("sfd", "th=4kB..2kB", "a lower end below the upper one"),
        ("sfd", "th=4..2", "the parameter's unit"),
        ("sfd", "mode=coupled..total", "two or more of coupled, decoupled, total"),
        ("sfd", "mode=coupled,totl", 'did you mean "total"'),
        ("sfd|multi-red", "promotion=none,on-of-k", 'did you mean "one-of-k"'),
        ("sfd(th=3kB)", "th=1kB..4kB", "is given in sfd"),
    ],
)
def test_space__a_range_that_does_not_fit(template: str, text: str, told: str) -> None:
    with pytest.raises(MouseholeError, match=told) as refused:
        make_space(template, BUFFER, [read_range(text)])
    assert refused.value.field == "range"


def test_check_ranges__unknown_and_twice() -> None:
    with pytest.raises(MouseholeError, match=r'there is no parameter "thh".*did you mean "th"'):
        check_ranges([read_range("thh=1kB..2kB")], ["sfd|multi-red"])
    with pytest.raises(MouseholeError, match="twice"):
        check_ranges([read_range("th=1kB..2kB"), read_range("th=1kB..3kB")], ["sfd"])


@pytest.mark.parametrize(
    "template", ["droptail", "srpt", "cake(rtt=50ms)", "sfd(th=1kB,timeout=1s)|droptail"]
)
def test_space__nothing_to_search(template: str) -> None:
    with pytest.raises(MouseholeError, match="no parameter to search"):
        make_space(template, BUFFER)


def test_meaning__of_texts_that_write_the_same() -> None:
    assert find_meaning("sfd(th=15kB)") == find_meaning("sfd") == find_meaning(" sfd ")
    assert find_meaning("sfd") != find_meaning("sfd(th=16kB)")
    assert find_meaning("sfd|red") != find_meaning("rio-ps|red")
