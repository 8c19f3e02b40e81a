"""A shaper before a modem: options, what the answer says of it, and the search of its rate."""

from pathlib import Path
from typing import Any

import mousehole
import pytest
from mousehole.base import MouseholeError, find_shaper_rate, scheme_name, without_rate
from mousehole.scenario import bottleneck
from mousehole.tuning._search_space import RATE_OF_SHAPER, find_meaning, make_space, read_range

SMALL: dict[str, Any] = {
    "down": "5mbit",
    "up": "1mbit",
    "load": 0.6,
    "seeds": 1,
    "duration": "5s",
    "warmup": "0s",
}


def test_droptail__is_what_it_is_without_a_shaper() -> None:
    """Nothing that is there without a shaper depends on one."""
    bare = mousehole.compare("poisson", **SMALL, schemes="droptail", buffer="100ms")
    shaped = mousehole.compare(
        "poisson", **SMALL, schemes="droptail", buffer="30p", shape="70%", modem_buffer="100ms"
    )
    one, other = (each.schemes.drop("buffer", "change_percent", strict=False) for each in (bare, shaped))
    assert one.equals(other)


def test_answer__says_who_is_before_the_modem() -> None:
    done = mousehole.compare("poisson", **SMALL, schemes="cake,cake@80%", shape="90%", modem_buffer="200ms")
    (line,) = [line for line in done.advice().lines if "modem" in line]
    assert line == (
        "droptail is what is there: the modem's FIFO of 200ms alone; the others send into it at 90% of the "
        "line; those with @ at their own rate."
    )
    words = bottleneck.describe(done.manifest["scenario"])
    assert words == "5mbit down, 1mbit up, 80ms RTT, shaped at 90% before a modem of 200ms"
    used = dict(done.schemes.select("scheme", "utilisation").iter_rows())
    assert used["cake@80%"] <= 0.8 + 1e-3


def test_scheme__has_a_rate_behind_its_name() -> None:
    scheme = "sfd(th=15kB)|cake(tins=bulk)@87.5%"
    assert (find_shaper_rate(scheme), without_rate(scheme)) == ("87.5%", "sfd(th=15kB)|cake(tins=bulk)")
    assert (scheme_name("cake@90%"), find_shaper_rate("cake")) == ("cake", None)
    assert find_meaning("cake@90%") != find_meaning("cake@80%")


def test_space_of__has_the_rate_of_the_shaper() -> None:
    space = make_space("cake(rtt=100ms)", 100, [read_range("shape=30%..120%")], shaped_percent=80)
    (dimension,) = space.dimensions
    assert (dimension.name, dimension.low, dimension.high, dimension.default) == (RATE_OF_SHAPER, 30, 120, 80)
    assert space.scheme(space.values({RATE_OF_SHAPER: 57.3})) == "cake(rtt=100ms)@57%"
    both = make_space("sfd|cake(tins=bulk)", 100, [read_range("shape=50%,90%")], shaped_percent=80)
    values = {**both.defaults(), RATE_OF_SHAPER: "90%"}
    assert both.scheme(values).endswith("@90%")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"ranges": "shape=50..100"}, "shares of the line's rate, such as shape=50%..100%"),
        ({"ranges": "shape=50%..120%"}, "above the line's rate"),
        ({"ranges": "shape=50%..90%", "schemes": "cake@70%"}, "is given in cake@70%"),
        ({"ranges": "shape=50%..90%", "schemes": "sfd", "shape": None}, "given beside --shape"),
    ],
)
def test_tune__refuses_rates_that_no_shaper_has(given: dict[str, Any], said: str) -> None:
    options = {**SMALL, "shape": "80%", "schemes": "cake(rtt=100ms)", "trials": 1, "search_seeds": 1, **given}
    with pytest.raises(MouseholeError, match=said):
        mousehole.tune("poisson", **options)


def test_tune__names_the_rate(tmp_path: Path) -> None:
    (tmp_path / "line.trace").write_text("0 4mbit\n1 6mbit\n")
    found = mousehole.tune(
        "poisson", down=str(tmp_path / "line.trace"), up="1mbit", load=0.8, shape="80%", up_shape="90%",
        modem_buffer="400ms", schemes="cake(rtt=100ms)", ranges="shape=40%..110%", trials=2, search_seeds=1,
        seeds=5, sensitivity_seeds=0, duration="10s", warmup="2s",
    )  # fmt: skip
    assert "@" in "".join(row.scheme for row in found.results.trials)
    (line,) = [line for line in found.results.lines if "shaper" in line]
    assert "of the line's mean rate: " in line
    assert line.endswith(" down and 900 kb/s up.")
    shown = found.markdown()
    assert "as it was simulated" in shown
    assert "bandwidth 900kbit" in shown


@pytest.mark.parametrize(
    "text", ["0 0\n100 10mbit\n200 10mbit\n", "0 1kbit\n60 1mbit\n120 1mbit\n", "4000\n" * 1000]
)
def test_trace__that_sends_nothing_within_the_run_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "out.trace").write_text(text)
    with pytest.raises(MouseholeError, match=r"sends no packet within the 3 s of the run") as caught:
        mousehole.compare(
            "poisson", down=str(tmp_path / "out.trace"), up="1mbit", seeds=1, duration="2s", warmup="1s"
        )
    assert caught.value.field == "link.down"


@pytest.mark.parametrize("shape", ["0.9", "0%", "-5%", "nan%", "90", "1e9gbit", "fast"])
def test_shape__that_is_none_is_refused_with_both_forms(shape: str) -> None:
    with pytest.raises(MouseholeError, match="a share above 0 such as 90%, or a rate"):
        mousehole.compare("poisson", down="5mbit", up="1mbit", seeds=1, duration="2s", shape=shape)
