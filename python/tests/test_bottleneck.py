"""Options of `compare` with a scenario: what is said of the link goes for its bottleneck."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import mousehole
import pytest
from mousehole import scenario as scenarios
from mousehole.base import MouseholeError
from mousehole.commands.cli import OPTION_OF_FIELD
from mousehole.scenario import bottleneck
from support import SMALL

Y = """
warmup = "1s"
duration = "4s"
scheme = "red"
[topology]
kind = "y"
[traffic]
model = "poisson"
load = 0.5
"""
TWO = """
warmup = "1s"
duration = "4s"
[topology]
servers = ["a"]
clients = ["d"]
[[topology.links]]
from = "a"
to = "b"
rate = "5mbit"
delay = "10ms"
scheme = true
[[topology.links]]
from = "b"
to = "d"
rate = "3mbit"
delay = "10ms"
scheme = true
[traffic]
model = "poisson"
load = 0.5
"""


def compare_text(tmp_path: Path, text: str, **options: Any) -> mousehole.Comparison:
    """Returns the comparison of the scenario in a text."""
    (tmp_path / "a.toml").write_text(text)
    return mousehole.compare(tmp_path / "a.toml", **{"schemes": "droptail", "seeds": 1, **options})


def find_refusal(tmp_path: Path, text: str, **options: Any) -> str:
    """Returns the message with which `compare` refuses the scenario in a text, as the command prints it."""
    with pytest.raises(MouseholeError) as fault:
        compare_text(tmp_path, text, **options)
    return str(fault.value.renamed(OPTION_OF_FIELD))


def test_topology__as_it_is(tmp_path: Path) -> None:
    done = compare_text(tmp_path, Y)
    topology = done.manifest["scenario"]["topology"]
    assert (topology["bottleneck"], topology["rate"], topology["buffer"]) == ("n3-n1", "10mbit", "1.5bdp")
    assert [cell.buffer for cell in done.plan.cells] == ["1.5bdp"]
    assert bottleneck.describe(done.manifest["scenario"]) == "n3-n1, 10mbit, 80ms RTT"


def test_topology__options_change_its_bottleneck(tmp_path: Path) -> None:
    options = {"down": "6mbit", "up": "1mbit", "rtt": "120ms", "overhead": 20}
    done = compare_text(tmp_path, Y, buffer="20p,40p", load="0.4,0.6", **options)
    topology, link = (done.manifest["scenario"][name] for name in ("topology", "link"))
    told = {"rate": "6mbit", "rtt": "120ms", "up": "1mbit", "buffer": "20p"}
    assert told.items() <= topology.items()
    assert link["overhead"] == 20
    cells = [(cell.buffer, cell.load) for cell in done.plan.cells]
    assert cells == [("20p", 0.4), ("40p", 0.4), ("20p", 0.6), ("40p", 0.6)]
    assert done.scenario(cell=done.plan.cells[1])["topology"]["buffer"] == "40p"
    again = mousehole.run(done.scenario(cell=done.plan.cells[1]))
    assert again.queues[0]["capacity_bps"] == 6_000_000
    assert again.queues[1]["capacity_bps"] == 1_000_000
    assert again.transfers["rtt_s"].min() == pytest.approx(0.12)


def test_topology__without_a_name_two_bottlenecks_are_refused(tmp_path: Path) -> None:
    assert compare_text(tmp_path, TWO).manifest["scenario"]["topology"]["bottleneck"] == "b-d"
    for option, value in {"rate": "2mbit", "buffer": "20p", "up": "1mbit"}.items():
        complaint = find_refusal(tmp_path, TWO, **{option: value})
        assert complaint.startswith(f"--{option}: ")
        assert "topology.bottleneck" in complaint
    named = TWO.replace("[topology]\n", '[topology]\nbottleneck = "b-d"\n')
    assert compare_text(tmp_path, named, rate="2mbit").manifest["scenario"]["topology"]["rate"] == "2mbit"
    assert "--rtt: " in find_refusal(tmp_path, TWO, rtt="30ms")


def test_topology__a_saved_scenario_is_the_same_run(tmp_path: Path) -> None:
    done = compare_text(tmp_path, Y, rate="6mbit", buffer="30p")
    (tmp_path / "b.toml").write_text(scenarios.to_toml(done.scenario(), tmp_path))
    assert tomllib.loads((tmp_path / "b.toml").read_text())["topology"]["rate"] == "6mbit"
    same = compare_text(tmp_path, (tmp_path / "b.toml").read_text())
    assert same.buckets.equals(done.buckets)


def test_scenario__its_own_scheme_is_compared_too(tmp_path: Path) -> None:
    own = Y.replace('"red"', '"red(gentle=false)"')
    assert compare_text(tmp_path, own, schemes=None).plan.schemes[-1] == "red(gentle=false)"
    assert compare_text(tmp_path, Y, schemes=None).plan.schemes.count("red") == 1


def test_scenario__payload_and_parameters(tmp_path: Path) -> None:
    dumbbell = Y.replace('[topology]\nkind = "y"\n', "")
    up = compare_text(tmp_path, dumbbell, payload="up", params={"cap_bytes": 9000})
    traffic = up.manifest["scenario"]["traffic"]
    assert (traffic["payload"], traffic["params"]["cap_bytes"]) == ("up", 9000)
    assert up.transfers("droptail")["bytes"].max() <= 9000
    assert find_refusal(tmp_path, dumbbell, payload="side").startswith("--payload: ")
    mixed = dumbbell.replace('[traffic]\nmodel = "poisson"\nload = 0.5', '[[traffic.mix]]\nmodel = "ftp"')
    assert "mix" in find_refusal(tmp_path, mixed, payload="up")
    assert "--load: " in find_refusal(tmp_path, mixed, load=0.5)
    assert find_refusal(tmp_path, mixed, params={"users": 2}).startswith("--param: ")


def test_scenario__stands_alone(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(Y)
    for company in ([tmp_path / "a.toml"] * 2, [str(tmp_path / "a.toml"), "web:sfd"]):
        with pytest.raises(MouseholeError, match="a scenario stands alone"):
            mousehole.compare(company)


def test_scenario__keeps_no_trace_for_a_comparison(tmp_path: Path) -> None:
    assert compare_text(tmp_path, "trace = true\n" + Y).manifest["scenario"]["trace"] is False


def test_model__payload() -> None:
    small = {**SMALL, "schemes": "droptail", "seeds": 1}
    done = mousehole.compare("poisson", payload="up", **small)
    assert done.manifest["scenario"]["traffic"]["payload"] == "up"
    with pytest.raises(MouseholeError, match="payload"):
        mousehole.compare("poisson", payload="sideways", **small)


PLAIN = """
warmup = "1s"
duration = "4s"
[link]
rate = "3mbit"
[traffic]
model = "poisson"
load = 0.3
"""


def test_burst__lets_packets_leave_early(tmp_path: Path) -> None:
    done = compare_text(tmp_path, PLAIN, burst=20_000)
    assert done.manifest["scenario"]["link"]["burst"] == "20000B"
    scenario = done.scenario(cell=done.plan.cells[0])
    bucket = mousehole.run(scenario)
    link = {name: value for name, value in scenario["link"].items() if name != "burst"}
    transmitter = mousehole.run({**scenario, "link": link})
    ideal_s = [run.transfers.sort("key", "write")["ideal_s"] for run in (bucket, transmitter)]
    assert ideal_s[0].len() == ideal_s[1].len() > 20
    gain_s = (ideal_s[1] - ideal_s[0]).max()
    assert 0 < gain_s <= 20_000 * 8 / 3e6 + 0.004  # the burst, and a packet that is not sent bit by bit


def test_burst__may_be_a_number_of_bytes() -> None:
    traffic = {"model": "poisson", "load": 0.3}
    base = {"warmup": "1s", "duration": "1s", "traffic": traffic}
    number, text = (
        mousehole.run({**base, "link": {"rate": "3mbit", "burst": burst}}) for burst in (20_000, "20kB")
    )
    assert number.transfers.equals(text.transfers)


def test_burst__of_a_topology_is_refused(tmp_path: Path) -> None:
    assert "burst" in find_refusal(tmp_path, Y, burst="20kB")


def test_changed__layer_and_overhead_replace_each_other() -> None:
    plain = {"link": {"rate": "5mbit", "overhead": 26}, "traffic": {}}
    layered = bottleneck.with_changes(plain, {"layer": "adsl"})  # type: ignore[arg-type]
    assert layered["link"] == {"rate": "5mbit", "layer": "adsl"}
    assert bottleneck.with_changes(layered, {"overhead": 26})["link"] == plain["link"]


def test_load_rate__is_what_full_packets_leave() -> None:
    """1500 bytes and 40 of PPPoE over LLC/SNAP are 33 cells of 53 bytes."""
    adsl = {"link": {"rate": "1749kbit", "layer": "adsl"}, "traffic": {}}
    assert bottleneck.compute_load_rate(adsl) == "1500000bit"  # type: ignore[arg-type]
    plain = {"link": {"rate": "1749kbit", "overhead": 40}, "traffic": {}}
    assert bottleneck.compute_load_rate(plain) == "1749kbit"  # type: ignore[arg-type]
