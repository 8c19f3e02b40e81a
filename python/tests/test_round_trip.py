"""The lines that a plan prints, read back as a scenario, are what was simulated.

Whoever types them gets, in each direction, the rate, overhead, burst and scheme of the run that the answer is
about. So the plans of 100 random lines are read as tc and `mousehole-live` would read them.
"""

import random
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mousehole import Comparison, _engine, compare, load
from mousehole.answer import find_link, find_link_of_cell
from mousehole.answer._install import AT_THE_LINE, TO_CLIENTS, TO_PROVIDER, find_installation
from mousehole.engine_types import Scenario
from mousehole.scenario import bottleneck, fill_in

ETHERNET = 14
"""Bytes that Linux counts of a packet beside its IP length on an Ethernet device (tc-stab(8))."""
ROUNDING = 5e-6
"""A rate in whole bits, and of PTM 64 parts in 65 of it."""
CAKES = {"pppoe-llcsnap": "adsl", "pppoe-ptm": "vdsl"}
"""Keywords of CAKE that the scenario's names are others for."""
SCHEMES = ("cake", "fq-codel", "codel", "red(gentle=false,wait=false)", "sfd(mode=coupled)", "ct-cake", "lfp")
LAYERS = ("docsis", "ethernet", "vdsl", "bridged-ptm", "adsl", "ipoa-vcmux")


@dataclass(frozen=True)
class Installed:
    """What the lines of one direction put on a device."""

    rate_bps: float
    """Rate in bit/s, of the bytes that are counted: those of the line, with its cells."""
    overhead: int
    layer: str | None
    burst: int | None
    queue: str
    """The queue discipline, or the scheme that `mousehole-live up` runs."""


def split_by_direction(lines: Sequence[str]) -> dict[str, list[str]]:
    """Returns the commands of each direction by the remark before them; download without a remark."""
    found: dict[str, list[str]] = {}
    way = "down"
    for line in lines:
        heads = [
            (name, head)
            for name, head in (("down", TO_CLIENTS), ("up", TO_PROVIDER))
            if line.startswith(head)
        ]
        if heads:
            way = heads[0][0]
        elif not line.startswith("#"):
            found.setdefault(way, []).append(line)
    return found


def split_line(line: str) -> dict[str, str]:
    """Returns each word of a command with the word after it."""
    words = shlex.split(line)
    return dict(pairwise(words))


def read_installed(lines: Sequence[str]) -> Installed:
    """Returns what the commands of one direction install."""
    shaping = next(
        line for line in lines if re.search(r" tbf rate | cake bandwidth |mousehole-live up ", line)
    )
    words = split_line(shaping)
    if shaping.startswith("mousehole-live up"):
        rate = _engine.parse_rate("rate", words["--rate"])
        return Installed(rate, int(words.get("--overhead", "0")), None, None, words["--scheme"])
    if " cake " in shaping:
        rate = _engine.parse_rate("rate", words["bandwidth"])
        keyword = next((word for word in shlex.split(shaping) if word in list_keywords()), None)
        layer = CAKES.get(keyword or "", keyword)
        return Installed(rate, int(words.get("overhead", "0")), layer, None, "cake")
    rate, burst = _engine.parse_rate("rate", words["rate"]), int(words["burst"])
    queue = split_line(lines[lines.index(shaping) + 1])["2:"]
    if "stab" not in words:
        return Installed(rate, 0, None, burst, queue)
    overhead = int(words["overhead"]) + ETHERNET
    return with_layer(Installed(rate, overhead, None, burst, queue), words)


def list_keywords() -> set[str]:
    """Returns the names of link layers and the keywords of CAKE for them."""
    return {*LAYERS, *CAKES}


def with_layer(found: Installed, words: dict[str, str]) -> Installed:
    """Returns `found` with the link layer of a size table instead of its overhead, if there is one.

    tc lacks PTM, for which a lower rate is installed; the rate before that is put back.
    """
    tables = {
        "docsis": (18, "64", "ethernet"), "ethernet": (38, "84", "ethernet"), "adsl": (40, "", "atm"),
        "ipoa-vcmux": (8, "", "atm"), "vdsl": (30, "", "ethernet"), "bridged-ptm": (22, "", "ethernet"),
    }  # fmt: skip
    table = (found.overhead, words.get("mpu", ""), words["linklayer"])
    layer = next((name for name, one in tables.items() if one == table), None)
    if layer in ("vdsl", "bridged-ptm"):
        found = replace(found, rate_bps=found.rate_bps * 65 / 64)
    return found if layer is None else replace(found, overhead=0, layer=layer)


def random_line(draw: random.Random, folder: Path) -> tuple[Scenario, str]:
    """Returns a scenario and a scheme: a random line, layered or not, shaped or not, varying or not."""
    trace = folder / "line.trace"
    trace.write_text("0 4mbit\n1 9mbit\n2 2mbit\n3 5mbit\n")
    shaped = draw.random() < 0.7
    link: dict[str, object] = {
        "down": str(trace) if shaped and draw.random() < 0.3 else f"{draw.randint(2000, 100_000)}kbit",
        "up": f"{draw.randint(500, 20_000)}kbit",
        "rtt": f"{draw.randint(20, 300)}ms",
        "buffer": draw.choice(["50p", "1bdp", "64kB", "150ms"]),
    }
    scheme = draw.choice(SCHEMES)
    if draw.random() < 0.6:
        link["layer"] = draw.choice(LAYERS)
    elif draw.random() < 0.5 and scheme != "lfp":
        link["overhead"] = draw.randint(15, 60)
    if shaped:
        link["shape"] = f"{draw.randint(300, 1000) / 10:g}%"
        link |= {"up_shape": f"{draw.randint(30, 99)}%"} if draw.random() < 0.4 else {}
        link |= {"modem_buffer": "200ms"} if draw.random() < 0.5 else {}
        link |= {"shape_layer": draw.choice(["docsis", "adsl"])} if draw.random() < 0.2 else {}
        link |= {"burst": "20kB"} if draw.random() < 0.2 else {}
        scheme += f"@{draw.randint(40, 99)}%" if draw.random() < 0.2 else ""
    traffic = {"model": "poisson", "load": 0.5, "payload": draw.choice(["down", "up"])}
    base: dict[str, object] = {
        "schema": "mousehole.scenario/1",
        "link": link,
        "traffic": traffic,
        "scheme": scheme,
    }
    if draw.random() < 0.3 and "up_shape" not in link:
        base["at"] = "down"
    return fill_in(base), scheme


def derive_installed(scenario: Scenario, scheme: str, way: str) -> Installed:
    """Returns what must be installed in direction `way` (`down` or `up`) to match the simulation.

    Nothing runs: the rate is the shaper's, else the line's; burst is None but for fq_codel, codel and red.
    """
    link, is_up = scenario["link"], way == "up"
    rate = link[way]  # type: ignore[literal-required]
    line_bps = _engine.link_rate("rate", rate)
    own, _, at = scheme.partition("@")
    has_own = is_up and "up_shape" in link
    shape = at if at and not has_own else bottleneck.read_shape(scenario, is_up)
    bps = line_bps if shape is None else compute_share(shape, line_bps)
    layer, overhead = link.get("layer"), link.get("overhead", 0)
    if "shape_layer" in link:
        layer, overhead = link["shape_layer"], 0
    burst = (
        _engine.parse_size("burst", link["burst"]) if "burst" in link else max(3000, -(-round(bps) // 4000))
    )
    queue = {"fq-codel": "fq_codel", "red(gentle=false,wait=false)": "red", "ct-cake": "cake"}.get(own, own)
    is_tc = queue in ("fq_codel", "codel", "red")
    return Installed(bps, overhead, layer, burst if is_tc else None, queue)


def compute_share(shape: str, line_bps: int) -> float:
    """Returns a percentage of a rate, in bit/s."""
    return float(shape.removesuffix("%")) / 100 * line_bps


def assert_same(found: Installed, wanted: Installed) -> None:
    """Asserts that what was installed is what was simulated, with rates up to whole bits."""
    assert abs(found.rate_bps / wanted.rate_bps - 1) < ROUNDING, (found, wanted)
    assert replace(found, rate_bps=wanted.rate_bps) == wanted


def assert_as_simulated(lines: Sequence[str], scenario: Scenario, scheme: str) -> None:
    """Asserts that the lines of a plan install what was simulated, in each direction."""
    found = split_by_direction(lines)
    assert set(found) == ({"down"} if scenario["at"] == "down" else {"down", "up"})
    for name, own_lines in found.items():
        wanted, own = derive_installed(scenario, scheme, name), read_installed(own_lines)
        if own.queue == wanted.queue == "cake" or own.burst is not None:
            assert_same(own, wanted)
        else:  # mousehole-live up knows bytes per packet, and PTM by its rate
            assert own.queue.partition("(")[0] == wanted.queue.partition("(")[0]
            assert own.rate_bps <= wanted.rate_bps * (1 + ROUNDING)
    assert (AT_THE_LINE in lines) == ("shape" not in scenario["link"])


@pytest.mark.parametrize("number", range(100))
def test_plan__read_back_is_what_was_simulated(number: int, tmp_path: Path) -> None:
    scenario, scheme = random_line(random.Random(number), tmp_path)  # noqa: S311 (a seed is wanted)
    way = find_installation(scheme, find_link(scenario, scenario["link"]["buffer"]))
    if way is None:  # nothing counts cells before mousehole-live's own queue
        counted = scenario["link"].get("shape_layer", scenario["link"].get("layer", ""))
        assert counted in ("adsl", "ipoa-vcmux")
        assert scheme.partition("@")[0] in ("sfd(mode=coupled)", "lfp")
        return
    assert_as_simulated(way.lines, scenario, scheme)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("tbf rate 4500kbit", "tbf rate 5mbit"),
        lambda text: text.replace("burst 3000", "burst 6000"),
        lambda text: text.replace("overhead 26", "overhead 40"),
        lambda text: re.sub(r"stab .* atm ", "", text),
        lambda text: text.replace("fq_codel", "codel"),
        lambda text: text[: text.index(TO_PROVIDER)],
        lambda text: TO_CLIENTS.join(
            part.replace(TO_CLIENTS, TO_PROVIDER) for part in text.split(TO_PROVIDER)
        ),
        lambda text: f"{text}\n{AT_THE_LINE}",
    ],
)
def test_read_back__notices_a_plan_that_is_another(change: Callable[[str], str]) -> None:
    link = {"down": "5mbit", "up": "900kbit", "rtt": "40ms", "buffer": "50p", "layer": "adsl", "shape": "90%"}
    traffic = {"model": "poisson", "load": 0.5}
    scenario = fill_in(
        {"schema": "mousehole.scenario/1", "link": link, "traffic": traffic, "scheme": "fq-codel"}
    )
    way = find_installation("fq-codel", find_link(scenario, "50p"))
    assert way is not None
    assert_as_simulated(way.lines, scenario, "fq-codel")
    text = change("\n".join(way.lines))
    assert text != "\n".join(way.lines)
    with pytest.raises((AssertionError, KeyError)):
        assert_as_simulated(text.splitlines(), scenario, "fq-codel")


def test_plan__of_a_line_that_varies_has_the_shapers_rate(tmp_path: Path) -> None:
    (tmp_path / "lte.trace").write_text("0 4mbit\n1 8mbit\n2 0\n3 4mbit\n")
    options: dict[str, Any] = {
        "load": 0.5,
        "seeds": 1,
        "duration": "2s",
        "warmup": "0s",
        "schemes": "cake@50%",
        "buffer": "50p",
    }
    done = compare("poisson", down=str(tmp_path / "lte.trace"), up="1mbit", shape="80%", **options)
    assert done.manifest["mean_rates"] == {"down": 4_000_000}
    link = find_link_of_cell(done.results, done.plan.cells[0])
    way = find_installation("cake@50%", link)
    assert way is not None
    assert way.lines[0] == f"{TO_CLIENTS}; 50 % of the line's mean of 4 Mb/s, as it was simulated"
    assert " bandwidth 2mbit " in way.lines[1]
    assert " bandwidth 500kbit " in way.lines[3]
    # A result that is read again has no trace, and the same plan.
    done.save(tmp_path / "kept.json")
    (tmp_path / "lte.trace").unlink()
    kept = load(tmp_path / "kept.json")
    assert isinstance(kept, Comparison)
    assert find_installation("cake@50%", find_link_of_cell(kept.results, kept.plan.cells[0])) == way


SAME = 0.03
"""By so much the gain of what was read back may differ from that of what was simulated."""


@pytest.mark.parametrize(
    ("link", "scheme"),
    [
        ({"down": "8mbit", "up": "1mbit", "link_layer": "adsl", "shape": "90%"}, "cake"),
        ({"down": "5mbit", "up": "700kbit", "overhead": 18, "shape": "85%", "up_shape": "70%"}, "fq-codel"),
        ({"down": "TRACE", "up": "1mbit", "shape": "60%"}, "cake@50%"),
    ],
)
def test_plan__typed_in_gives_the_gain_that_was_simulated(
    link: dict[str, Any], scheme: str, tmp_path: Path
) -> None:
    """The scenario of the lines, on the same line and traffic, has its gain within the interval."""
    (tmp_path / "lte.trace").write_text("0 6mbit\n5 3mbit\n10 5mbit\n15 6mbit\n")
    given: dict[str, Any] = {
        name: str(tmp_path / "lte.trace") if text == "TRACE" else text for name, text in link.items()
    }
    options: dict[str, Any] = {
        "load": 0.6, "seeds": 5, "duration": "20s", "warmup": "5s", "rtt": "40ms", "modem_buffer": "300ms",
        "buffer": "100p",
    }  # fmt: skip
    done = compare("web:sfd", **given, **options, schemes=scheme)
    way = find_installation(scheme, find_link_of_cell(done.results, done.plan.cells[0]))
    assert way is not None
    typed = read_back(way.lines, given)
    again = compare("web:sfd", **{**given, **typed["link"]}, **options, schemes=typed["scheme"])
    simulated_gain, gain = (
        next(one for one in each.finding_list if one.reference == "droptail" and not one.exploratory)
        for each in (done, again)
    )
    assert simulated_gain.change.low <= gain.change.mean <= simulated_gain.change.high
    assert abs(gain.change.mean - simulated_gain.change.mean) < SAME
    # A plan of the line's whole rate, which nobody simulated, is another one.
    other = compare("web:sfd", **{**given, "shape": "30%", "up_shape": "30%"}, **options, schemes="cake")
    wrong = next(one for one in other.finding_list if one.reference == "droptail" and not one.exploratory)
    assert not simulated_gain.change.low <= wrong.change.mean <= simulated_gain.change.high


def read_back(lines: Sequence[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options of `compare` that lines of both directions mean, on a line as `given`."""
    found = {way: read_installed(own) for way, own in split_by_direction(lines).items()}
    queues = {one.queue for one in found.values()}
    (queue,) = queues
    rates = {"shape": f"{round(found['down'].rate_bps)}bit", "up_shape": f"{round(found['up'].rate_bps)}bit"}
    assert found["down"].layer == given.get("link_layer")
    assert found["down"].overhead == given.get("overhead", 0)
    return {"link": rates, "scheme": {"fq_codel": "fq-codel"}.get(queue, queue)}
