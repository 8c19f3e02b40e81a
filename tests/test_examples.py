"""Every example runs, quickly, and shows what it says it shows."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path
from typing import Any

import mousehole
import nbformat
import polars as pl
import pytest
from mousehole.inputs import from_section
from mousehole.runs import estimate_run
from mousehole.sweeps import Prepared, read
from nbclient import NotebookClient

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SWEEPS = sorted(path.name for path in (EXAMPLES / "sweeps").glob("*.toml"))
SCENARIOS = sorted(path.name for path in EXAMPLES.glob("*.toml"))


def run(name: str, **changes: Any) -> mousehole.Records:
    """Returns the records of an example's run with these changes."""
    return mousehole.run(EXAMPLES / name, **changes)


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario__runs_and_keeps_the_laws(name: str) -> None:
    records = run(name)
    assert records.summary["conservation_ok"]
    assert records.summary["packets"] > 0
    assert f"`{name}`" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["droptail", "red", "sfd", "p-sfd", "s-sfd(mode=coupled)", "fq-codel"])
@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario__fast_path_equals_the_slow_one(name: str, scheme: str) -> None:
    fast = run(name, scheme=scheme, at="both")
    slow = run(name, scheme=scheme, at="both", slow_path=True)
    assert fast.transfers.equals(slow.transfers, null_equal=True)
    assert fast.queues == slow.queues


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario__same_seed_same_result(name: str) -> None:
    once, again = run(name), run(name)
    assert once.transfers.equals(again.transfers, null_equal=True)
    assert once.to_json() == again.to_json()


def test_single_transfer__loses_one_packet() -> None:
    records = run("single-transfer.toml")
    assert records.trace is not None
    (dropped,) = records.trace.filter(pl.col("event") == "drop").iter_rows(named=True)
    assert dropped["seq"] == 5, "the sixth segment"
    (transfer,) = records.transfers.iter_rows(named=True)
    assert (transfer["retransmits"], transfer["timeouts"], transfer["dropped"]) == (1, 0, 1)
    assert transfer["end_s"] - transfer["start_s"] > transfer["ideal_s"] + 0.08


def test_single_transfer__takes_as_long_as_alone_without_the_loss() -> None:
    (transfer,) = run("single-transfer.toml", faults=[]).transfers.iter_rows(named=True)
    assert transfer["end_s"] - transfer["start_s"] == pytest.approx(transfer["ideal_s"], abs=1e-8)


def test_bulk_red__keeps_the_queue_shorter_than_drop_tail() -> None:
    red, droptail = (
        run("bulk-red.toml", scheme=scheme).queues[0]
        for scheme in ("red(min=10,max=30,gentle=true)", "droptail")
    )
    assert red["utilisation"] > 0.95
    assert red["delay_p50_s"] < 0.5 * droptail["delay_p50_s"]


def test_web_s_sfd__promotes_every_fourth_packet() -> None:
    promoted, plain = (run("web-s-sfd.toml", scheme=scheme) for scheme in ("s-sfd(k=4)", "sfd"))
    assert share_green(promoted) > share_green(plain) + 0.05


def share_green(records: mousehole.Records) -> float:
    """Returns the green packets' share of those that arrived at the first queue."""
    arrived = {colour["name"]: colour["arrived"] for colour in records.queues[0]["colours"]}
    return float(arrived["green"] / sum(arrived.values()))


def test_own_connections__short_writes_stay_green() -> None:
    records = run("own-connections.toml")
    short = records.transfers.filter(pl.col("client") == 1)
    assert short["bytes"].to_list() == [12_000, 9_000, 14_000]
    green = records.queues[0]["colours"][0]
    # 15 kB of the long one are green as well; the SYN-ACKs are.
    assert green["arrived"] == 2 + 10 + 9 + 7 + 10 - 1
    assert short["retransmits"].sum() == 0


def test_compare_my_traffic__on_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "".join(f"{start},10.0.0.{start % 7},{2000 + 977 * start % 40000}\n" for start in range(240))
    table = tmp_path / "mine.csv"
    table.write_text(f"start,client,bytes\n{rows}")
    main = runpy.run_path(str(EXAMPLES / "compare_my_traffic.py"))["main"]
    found = main([str(table), "--rate", "1mbit", "--duration", "20s", "--warmup", "5s"])
    printed = capsys.readouterr().out
    assert "sfd against droptail, mean response time of transfers ≤ 15 kB: " in printed
    assert "┆ droptail ┆ sfd " in printed
    assert found.plan.schemes == ("droptail", "sfd", "fq-codel")


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario__its_cost_can_be_estimated(name: str) -> None:
    records = run(name)
    cost = estimate_run(records.scenario, from_section(records.scenario["traffic"], "").read())
    assert 0 < cost.cpu_s < 60
    assert 40e6 <= cost.bytes_per_run < 1e9


def notebook_cells() -> Any:
    """The notebook of the examples, as nbformat reads it."""
    return nbformat.read(EXAMPLES / "own_capture.ipynb", as_version=4)  # type: ignore[no-untyped-call]


def test_notebook__is_stored_without_outputs() -> None:
    notebook = notebook_cells()
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert [cell.execution_count for cell in code] == [None] * len(code)


@pytest.mark.filterwarnings("ignore")  # of the kernel's connection
def test_notebook__runs_from_a_capture_to_a_policy(tmp_path: Path) -> None:
    notebook = notebook_cells()
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    pages = [output["data"]["text/html"] for output in shown if "text/html" in output.get("data", {})]
    texts = "".join(output.get("text", "") for output in shown)
    assert any("transfer size" in page for page in pages), "the summary is shown as inspect prints it"
    assert any("desk " in page for page in pages), "transfers carry the names of clients"
    assert "my-marker|multi-red against droptail" in texts
    assert {"own.pcap", "own.svg", "own-policy.svg", "my-marker.h"} <= {
        file.name for file in tmp_path.iterdir()
    }


@pytest.mark.parametrize("name", SWEEPS)
def test_sweep__runs_in_short_and_is_drawn(name: str, tmp_path: Path) -> None:
    """With one seed and a tenth of the time; every cell of the example itself is checked before."""
    with (EXAMPLES / "sweeps" / name).open("rb") as stream:
        given = tomllib.load(stream)
    Prepared(read(given))
    given["options"] |= {"duration": "2s", "warmup": "500ms"}
    found = mousehole.sweep({**given, "seeds": 1}, tmp_path / "found")
    assert found.finished == found.manifest["rows"]
    found.plot(tmp_path / "lines.svg")
    found.plot_surface(tmp_path / "surface.svg")
    assert all(scheme in (tmp_path / "surface.svg").read_text() for scheme in found.schemes[1:])
    assert f"`sweeps/{name}`" in (EXAMPLES / "README.md").read_text(encoding="utf-8")
