"""Values that know their cell, trials that change some cells, second curves, and runs that grids share."""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mousehole.base import Silent
from mousehole.engine_types import Scenario
from mousehole.runs import Estimate, RunResult

from papers import draw
from papers.definition import FigureItem, Panel, Trial, Value, read_definition
from papers.evaluate import Evaluator, Published, fill_labels
from papers.runs import Options, Runs

SCENARIO = """
schema = "mousehole.scenario/1"
warmup = "0s"
duration = "2s"
scheme = "droptail"
[link]
rate = "1mbit"
rtt = "20ms"
buffer = "20p"
[traffic]
connections = [{ start_s = 0.0, writes = [{ bytes = 5000 }] }]
"""
PAPER = """
[paper]
name = "cells"
title = "t"
authors = "a"
source = "s"
[quick]
replications = 2
[full]
replications = 2
[axis.rate]
1 = { link = { rate = "1mbit" } }
2 = { link = { rate = "2mbit" } }
[grid.one]
scenario = "one"
axes = { rate = "all" }
[grid.same]
scenario = "one"
axes = { rate = "all" }
"""


def measure(result: RunResult) -> Mapping[str, Any]:
    """A measure of the test's own paper: the link's rate in Mb/s."""
    return {"rate": result.queues()[0]["capacity_bps"] / 1e6}


def times(run: Mapping[str, Any], rate: str, factor: int) -> float:
    """A quantity of the test's own paper, which knows its cell's rate."""
    return float(run["rate"]) * float(rate) * factor


@pytest.fixture
def evaluator(tmp_path: Path) -> Evaluator:
    """Returns an evaluator of the test's own paper, without a cache."""
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "one.toml").write_text(SCENARIO)
    (tmp_path / "paper.toml").write_text(PAPER)
    definition = read_definition(tmp_path / "paper.toml")
    module = ModuleType("test_paper_cells")
    module.__dict__.update(measure=measure, times=times, __file__=__file__)
    runs = Runs(definition, tmp_path, module, Options(jobs=1))
    return Evaluator(definition, Published(tmp_path / "published.toml"), module, runs)


@pytest.fixture(autouse=True)
def any_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives modules that are not files a source."""
    monkeypatch.setattr("papers.runs._read_source", lambda _: "source")


def test_labelled__fills_text_only() -> None:
    assert fill_labels({"p": "{loss}", "n": 3, "name": "x"}, {"loss": "0.1"}) == {
        "p": "0.1",
        "n": 3,
        "name": "x",
    }


def test_values__hand_the_cells_labels_to_the_function(evaluator: Evaluator) -> None:
    value = Value(value="times", args={"rate": "{rate}", "factor": 10})
    assert evaluator.values(value, "one", {"rate": "2"}).tolist() == [40.0, 40.0]


def test_runs__make_what_two_grids_share_once(evaluator: Evaluator) -> None:
    cells = [evaluator.runs.request(grid, {"rate": "1"}) for grid in ("one", "same")]
    evaluator.runs.run(cells)
    assert evaluator.runs.made == 2
    assert evaluator.runs.measure(cells[0]) == evaluator.runs.measure(cells[1])


def test_runs__cost_is_that_of_the_dearest_rate(
    evaluator: Evaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run at ten times the rate has ten times the packets; the estimate must not be of another."""
    asked: dict[str, int] = {}

    def estimated(scenario: Scenario, _: object, runs: int) -> Estimate:
        rate = str(scenario["link"]["down"])
        asked[rate] = runs
        return Estimate(cpu_s=60.0 * int(rate[0]) * runs, slowdown=1.0, bytes_per_run=1e6, runs=runs)

    monkeypatch.setattr("papers.runs.WORTH_ESTIMATING_S", 1.0)
    monkeypatch.setattr("papers.runs.estimate_run", estimated)
    said: list[str] = []
    monkeypatch.setattr(Silent, "say", lambda _, text: said.append(text))
    evaluator.runs.run([evaluator.runs.request("one", {"rate": rate}) for rate in "12"])
    assert asked == {"1mbit": 4, "2mbit": 4}
    assert "4 runs, about 8 min at most" in said[0]


def test_trial__changes_the_cells_with_its_labels(evaluator: Evaluator) -> None:
    trial = Trial(name="faster", labels={"rate": {"2": {"link": {"rate": "3mbit"}}}})
    other = evaluator.with_trial(trial)
    rates = [float(other.values(Value(value="rate"), "one", {"rate": rate})[0]) for rate in ("1", "2")]
    assert rates == [1.0, 3.0]
    unchanged = other.list_requests(Value(value="rate"), "one", {"rate": "1"})
    assert unchanged[0].change == "{}"


def test_draw__draws_a_second_value_beside_each_curve(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from mousehole.statistics import Estimate

    shown: list[Any] = []
    monkeypatch.setattr("papers.draw.charts.write_chart", lambda chart, _: shown.append(chart.to_dict()))
    panel = Panel(value="a", beside="b", beside_name="model", xlabel="x", ylabel="y")
    item = FigureItem(number="1", title="t", grid="g", curves="c", names=("one",), panels=(panel,))
    points = [Estimate(1.0, 1.0, 1.0, 1), Estimate(2.0, 2.0, 2.0, 1)]
    draw.draw(item, [(panel, [draw.Curve("one", [1, 2], points, beside=[3.0, 4.0])])], tmp_path / "f.png")
    made = shown[0]["vconcat"][0]["hconcat"][0]
    assert made["title"]["subtitle"] == ["dashed: model"]
    dashed = next(layer for layer in made["layer"] if layer["mark"].get("strokeDash"))
    assert [datum["y"] for datum in shown[0]["datasets"][dashed["data"]["name"]]] == [3.0, 4.0]
