"""Scenarios of several sources, with datagrams, flows without end, files of sizes and cheats."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import mousehole
import pytest
from mousehole import scenario as scenarios
from mousehole.base import MouseholeError
from mousehole.document import Items, print_document
from mousehole.scenario import sizefiles
from rich.console import Console

SIZES = "# bytes, share\n1000 0.5\n20000 1\n"


def make_scenario(**traffic: Any) -> dict[str, Any]:
    """Returns a short scenario with this traffic."""
    return {
        "warmup": "0s",
        "duration": "4s",
        "link": {"rate": "4mbit", "rtt": "40ms", "buffer": "30p"},
        "traffic": traffic,
    }


MIX = [
    {"model": "poisson", "load": 0.5},
    {"model": "ftp", "payload": "both", "params": {"endless": True}, "count": 1},
    {"model": "voip", "name": "calls", "count": 2},
]


def test_run__names_sources_in_every_table() -> None:
    done = mousehole.run(make_scenario(mix=MIX, gaming={"share": 1.0, "split": 2, "min_bytes": "20kB"}))
    assert done.summary["sources"] == ["poisson", "ftp", "calls"]
    assert set(done.transfers["source"]) == {"poisson"}
    assert list(done.flows["source"]) == ["ftp"] * 4  # the two flows without end cheat too
    assert done.flows["upload"].sum() == 2
    assert list(done.datagrams["source"]) == ["calls"] * 4
    assert (done.datagrams["received"] + done.datagrams["lost"] == done.datagrams["sent"]).all()
    pieces = done.transfers.filter(done.transfers["misbehaves"])
    assert len(pieces) > 0
    assert pieces["bytes"].sum() * 2 == pieces["object_bytes"].sum()
    document = json.loads(done.to_json())
    assert len(document["datagrams"]) == 4
    assert len(document["flows"]) == 4
    assert document["summary"]["goodput_up_bps"] > 1e6


def test_sizes__are_relative_to_the_scenarios_folder(tmp_path: Path) -> None:
    (tmp_path / "own.cdf").write_text(SIZES)
    text = 'warmup = "0s"\nduration = "4s"\n[traffic]\nmodel = "sizes:own.cdf"\nload = 0.5\n'
    (tmp_path / "scenario.toml").write_text(text)
    done = mousehole.run(tmp_path / "scenario.toml")
    assert done.transfers["bytes"].min() == 1000
    assert done.transfers["bytes"].max() <= 20000
    manifest = json.loads(done.to_json())["manifest"]
    assert [entry["name"] for entry in manifest["inputs"]] == ["own.cdf"]
    assert str(tmp_path) not in json.dumps(manifest)
    saved = scenarios.to_toml(done.scenario, tmp_path)
    assert 'model = "sizes:own.cdf"' in saved
    assert 'sizes = "own.cdf"' in saved


def test_sizes__of_a_mix_move_too() -> None:
    section = {"mix": [{"model": "ftp", "params": {"sizes": "a.cdf"}}, {"model": "sizes:b.cdf"}]}
    moved = sizefiles.with_moved_files(section, lambda name: f"x/{name}")
    assert moved["mix"][0]["params"]["sizes"] == "x/a.cdf"
    assert moved["mix"][1]["model"] == "sizes:x/b.cdf"
    assert section["mix"][1]["model"] == "sizes:b.cdf"
    assert [file.name for file in sizefiles.list_files(section)] == ["a.cdf", "b.cdf"]


def test_sizes__faults_name_the_line(tmp_path: Path) -> None:
    bad = tmp_path / "bad.cdf"
    bad.write_text("10 0.5\n20 zwei\n")
    with pytest.raises(MouseholeError, match=r'bad\.cdf:2: "zwei" is no number'):
        mousehole.run(make_scenario(model=f"sizes:{bad}"))
    with pytest.raises(MouseholeError, match=r"no\.cdf: "):
        mousehole.inspect(str(f"sizes:{tmp_path}/no.cdf"))


def test_inspect__counts_applications(tmp_path: Path) -> None:
    table = tmp_path / "flows.csv"
    table.write_text("start,bytes,server_port\n0.5,10,22\n1,20,443\n2,30,873\n")
    classes = mousehole.inspect(table)["classes"]
    assert [classes[f"{name}_bytes"] for name in ("interactive", "web", "bulk")] == [10, 20, 30]


def test_show__a_line_for_flows_and_datagrams() -> None:
    done = mousehole.run(make_scenario(mix=MIX, bulk={"flows": 2}))
    console = Console(record=True, width=100, file=io.StringIO())
    print_document(console, done.document())
    text = console.export_text()
    for part in ("ftp up: 1 long-lived flow,", "bulk down: 2 long-lived flows,", "calls up: "):
        assert part in text
    assert "datagrams" in text


def test_show__omits_flows_and_datagrams_if_there_are_none() -> None:
    done = mousehole.run(make_scenario(model="poisson", load=0.5))
    assert done.flows.is_empty()
    assert not any(isinstance(block, Items) for block in done.document().sections[0].blocks)


TRACED = """
warmup = "0s"
duration = "6s"
[link]
rate = "4mbit"
rtt = "40ms"
buffer = "30p"
[[traffic.connections]]
start_s = 1.0
writes = [{ bytes = 500000 }]
[[traffic.mix]]
files = ["own.csv"]
load = 0.4
[[traffic.mix]]
name = "sent"
files = ["up.csv"]
payload = "up"
load = 0.2
[[traffic.mix]]
model = "voip"
count = 2
"""


def write_traced(folder: Path) -> Path:
    """Writes a scenario and the traces that it names; returns its path."""
    rows = "".join(f"{0.3 * number},c{number % 4},{4000 + number}\n" for number in range(20))
    (folder / "own.csv").write_text("start,client,bytes\n" + rows)
    (folder / "up.csv").write_text("start,client,bytes_up\n0,a,3000\n2,b,9000\n")
    (folder / "scenario.toml").write_text(TRACED)
    return folder / "scenario.toml"


def test_traces__stand_in_a_mix(tmp_path: Path) -> None:
    done = mousehole.run(write_traced(tmp_path))
    assert done.summary["sources"] == ["traffic", "own.csv", "sent", "voip"]
    names = ("own.csv", "sent", "traffic")
    of = {name: done.transfers.filter(done.transfers["source"] == name) for name in names}
    assert of["own.csv"]["bytes"].is_between(4000, 4019).all()
    assert set(of["sent"]["bytes"]) <= {3000, 9000}
    assert of["traffic"]["bytes"].to_list() == [500000]
    assert min(len(frame) for frame in of.values()) > 0
    manifest = json.loads(done.to_json())["manifest"]
    assert [entry["name"] for entry in manifest["inputs"]] == ["own.csv", "up.csv"]
    assert manifest["scenario"]["traffic"]["mix"][0]["files"] == ["own.csv"]
    assert str(tmp_path) not in json.dumps(manifest)
    saved = scenarios.to_toml(done.scenario, tmp_path)
    assert 'files = ["up.csv"]' in saved
    (tmp_path / "again.toml").write_text(saved)
    assert mousehole.run(tmp_path / "again.toml").transfers.equals(done.transfers, null_equal=True)


def test_traces__are_compared(tmp_path: Path) -> None:
    done = mousehole.compare(write_traced(tmp_path), schemes="droptail,sfd", seeds=1, rate="3mbit", ecn=True)
    assert [entry["name"] for entry in done.manifest["inputs"]] == ["own.csv", "up.csv"]
    told = set(done.groups["group"])
    assert told >= {"own.csv", "sent", "voip"}


def test_traces__faults_name_the_file(tmp_path: Path) -> None:
    path = write_traced(tmp_path)
    (tmp_path / "own.csv").unlink()
    with pytest.raises(MouseholeError, match=r"own\.csv"):
        mousehole.run(path)
    path.write_text(TRACED.replace('"up"', '"sideways"'))
    with pytest.raises(MouseholeError, match=r"traffic\.mix\[1\]\.payload"):
        mousehole.run(path)
