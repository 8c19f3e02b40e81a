"""The page of findings: what its sentences say of known numbers."""

from math import nan
from typing import Any, ClassVar

import numpy as np
import pytest
from mousehole.base import MouseholeError
from mousehole.statistics import Design, Estimate, log_ratio

from papers import paper
from papers.runs import Options
from papers.side_by_side import measures
from tools import document
from validation import findings
from validation.findings import Change, Findings


class Told:
    """An evaluator that knows how much less than drop-tail each scheme takes: the same in every condition."""

    SECONDS: ClassVar = {
        "drop-tail": 1.0, "RED": 1.2, "CoDel": 0.95, "PIE": 1.0, "FQ-CoDel": 0.6, "CAKE": 0.62,
        "marker + CAKE": 0.5, "SFD": 0.9, "SFD, coupled": 0.7, "S-SFD, coupled": 0.8, "RIO-PS": 0.9,
        "SHRED": 1.0, "LFP": 0.55, "TCP-DS": 1.1,
    }  # fmt: skip
    definition = paper.find_paper(findings.NAME).definition

    def values(self, value: Any, _grid: str, _labels: Any) -> Any:
        """Returns five replications around the change."""
        if value.value == "page_s":
            return np.full(5, nan)
        change = self.SECONDS[value.of["scheme"]] / self.SECONDS[value.against["scheme"]] - 1
        return change + np.array([-0.001, 0.001, 0.0, 0.0, 0.0])

    def estimate(self, value: Any, grid: str, labels: Any, comparisons: float) -> Estimate:
        """Returns the change with its interval, as an evaluator does for a model."""
        ratios = 1 + self.values(value, grid, labels)
        return log_ratio(ratios, np.ones(len(ratios)), Design(comparisons)).as_change()


@pytest.mark.parametrize(
    ("low", "high", "word"), [(-0.3, -0.1, "lower"), (0.1, 0.2, "higher"), (-0.1, 0.1, "undecided")]
)
def test_change__is_told_by_its_interval(low: float, high: float, word: str) -> None:
    assert Change(Estimate((low + high) / 2, low, high, 5)).word == word
    assert Change(Estimate(0.5, nan, nan, 2)).word == "not compared"


def test_sentences__name_the_best_and_what_it_costs() -> None:
    found = Findings(Told())  # type: ignore[arg-type]
    assert found.best("short_s", findings.OF_PAPERS, "web:sfd") == "LFP"
    sentence = findings.write_best_of_papers(found, "web:sfd")
    assert "of the papers' schemes LFP helps short transfers most, −45 %" in sentence
    assert "what people would install marker + CAKE, −50 %" in sentence
    assert "LFP against marker + CAKE: 10 % (10…10) (higher)" in sentence
    assert "pages" not in sentence, "this traffic has none"
    assert found.count("short_s", "LFP", "FQ-CoDel") == "lower in 36, higher in 0, undecided in 0 of 36"
    assert found.count("short_s", "SHRED", "drop-tail") == "lower in 0, higher in 0, undecided in 36 of 36"
    assert "SFD, coupled is the best of them" in findings.write_wred(found, "web:sfd")
    assert "mean −19 %" in findings.write_marked_cake(found, "web:sfd")
    assert len(list(findings.write_sentences(found))) == 6 + 6 + 7 + 4 + 4


def test_page__is_there_with_its_sentences_and_tables() -> None:
    text = document.read_part(findings.DOCUMENT.read_text(encoding="utf-8"), findings.TARGET)
    definition = paper.find_paper(findings.NAME).definition
    for table in definition.tables:
        command = f"`mousehole paper side-by-side table {table.number}`"
        assert command in text, "run make validation WHAT=findings"
    for scheme in definition.grids[findings.GRID].axes["scheme"]:
        assert f"| {scheme} |" in text or scheme == "drop-tail"
    assert text.count("against FQ-CoDel**") == len(findings.OF_PAPERS)


def test_measure__counts_the_unfinished_with_the_time_they_took() -> None:
    class Run:
        def transfers(self) -> dict[str, Any]:
            return {
                "start_s": np.array([0.0, 1.0, 2.0]),
                "end_s": np.array([0.5, np.nan, 6.0]),
                "bytes": np.array([1000, 15_000, 200_000], np.uint64),
                "page": np.array([1, 1, 0], np.uint64),
                "page_transfers": np.array([2, 2, 1], np.uint16),
            }

        def queues(self) -> list[dict[str, Any]]:
            return [{"utilisation": 0.5, "colours": [{"arrived": 10, "dropped": 1}]}]

        def summary(self) -> dict[str, Any]:
            return {"end_s": 5.0}

    found = measures.measure(Run())  # type: ignore[arg-type]
    assert found["short_s"] == (0.5 + 4.0) / 2
    assert (found["long_s"], found["page_s"]) == (4.0, 5.0)
    assert (found["unfinished"], found["loss"]) == (1 / 3, 0.1)
    assert np.isnan(found["middle_s"])


def test_build__puts_real_traces_into_their_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOUSEHOLE_DATA", "/nowhere")
    made = measures.build({"traffic": {"model": "web:sfd", "load": 0.9, "files": ["a/b.tsv"]}}, {})
    assert made["traffic"] == {"load": 0.9, "files": ["/nowhere/a/b.tsv"]}
    runs = paper.find_paper(findings.NAME).evaluator(Options()).runs
    request = runs.request("all", {"traffic": "NASA log", "condition": "ECN", "scheme": "CAKE"})
    with pytest.raises(MouseholeError, match="MOUSEHOLE_DATA names the folder of real traces"):
        runs.run([request])


@pytest.mark.parametrize(
    ("scheme", "built"),
    [
        ("red", "red(ecn=true)"),
        ("sfd(mode=coupled)", "sfd(mode=coupled,ecn=true)"),
        ("fq-codel", "fq-codel"),  # marks by default
        ("sfd(th=30kB)|cake(tins=bulk)", "sfd(th=30kB)|cake(tins=bulk)"),
        ("droptail", "droptail"),
    ],
)
def test_build__has_schemes_mark_that_can(scheme: str, built: str) -> None:
    scenario = {"scheme": scheme, "traffic": {"model": "web:sfd"}}
    assert measures.build({**scenario, "ecn": True}, {}) == {**scenario, "scheme": built}
    assert measures.build(scenario, {}) == scenario
