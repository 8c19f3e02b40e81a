"""SHRED's folder: its measures, its cells, and what it prints."""

import math
from pathlib import Path

import numpy as np
import pytest
from mousehole.errors import MouseholeError
from mousehole.progress import Silent
from mousehole.statistics import jain_index

from papers.common import Data, replicate
from papers.shred import cases, measures, reproduce


def measured(in_time: float) -> measures.Measured:
    return measures.Measured(in_time, in_time / 2, 10.0, 0.0, 9.0, 1.0)


def test_jain__is_one_for_equals_and_one_over_n_for_one() -> None:
    assert math.isclose(jain_index(np.full(7, 3.0)), 1.0)
    assert math.isclose(jain_index(np.array([5.0, 0.0, 0.0, 0.0])), 0.25)
    assert math.isclose(jain_index(np.array([1.0, 3.0])), 0.8)


def test_benefit__is_the_ratio_of_shares_less_one() -> None:
    found = measures.benefit([measured(0.75)] * 5, [measured(0.6)] * 5, of_pages=False)
    assert math.isclose(found.mean, 0.25)
    found = measures.benefit([measured(0.6)] * 5, [measured(0.8)] * 5, of_pages=True)
    assert math.isclose(found.mean, -0.25)


def test_of_pages__is_the_slowest_object_and_nan_if_one_did_not_end() -> None:
    seconds = np.array([0.5, 2.0, 0.1, np.nan, 0.3])
    page = np.array([1, 1, 2, 2, 3], np.uint64)
    found = measures._of_pages(seconds, page)
    assert found[0] == 2.0
    assert np.isnan(found[1])
    assert found[2] == 0.3
    assert measures._in_time(found) == pytest.approx(1 / 3)


def test_case__has_the_mix_and_discards_the_start_only_with_ftp() -> None:
    alone = cases.case(cases.base(), cases.Cell(8, 0, 0.9), "shred")
    assert alone["traffic"] == {"model": "web:shred", "load": 0.9, "params": {"objects_max": 8}}
    assert (alone["warmup"], alone["duration"]) == ("0s", "160s")
    mixed = cases.case(cases.base(), cases.Cell(1, 10, 0.4), "droptail")
    assert mixed["traffic"]["bulk"]["flows"] == 10
    assert (mixed["warmup"], mixed["duration"]) == ("20s", "140s")
    assert cases.case(cases.base(), cases.Cell(1, 50, 0.0), "shred")["traffic"].keys() == {"bulk"}


def test_uncongested__takes_the_papers_whole_round_trips() -> None:
    scenario = cases.base()
    scenario["link"]["rate"] = "100mbit"
    sizes = [1, 2, 3, 4, 7, 8, 15]
    writes = [
        {"start_s": 5.0 * place, "client": place, "writes": [{"bytes": packets * 1000}]}
        for place, packets in enumerate(sizes)
    ]
    scenario |= {"traffic": {"connections": writes}, "scheme": "droptail"}
    found = replicate({"one": scenario}, 1, lambda result: result.transfers(), Silent())
    transfers = found["one"][0]
    rounds = (transfers["end_s"] - transfers["start_s"] + transfers["rtt_s"] / 2) / 0.12
    assert [math.floor(value) for value in rounds] == [1, 2, 2, 3, 3, 4, 4]
    assert (rounds - np.floor(rounds)).max() < 0.05, "the rest is transmission"


def test_queue__drains_in_the_published_time() -> None:
    mean_packet = 931.7 + 40  # of the clamped Pareto II in packets of 1000 B
    said = cases.DATA.published()["model"]["queue_ms"]
    assert math.isclose(225 * mean_packet * 8 / 10e6 * 1000, said, abs_tol=0.5)


def test_figure__prints_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    grid = {"load": [0.7], "ftp": [10], "objects": [1], "open": {"load": 0.7, "ftp": 10, "objects": 1}}
    data = cases.DATA.variants()
    data["figure"]["11"], data["open"] = grid, data["open"][:1]
    monkeypatch.setattr(Data, "variants", lambda _: data)
    assert reproduce.main(figure=11, seeds=5) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Published: SHRED 12 to 17 %" in text
    assert "SHRED is better than RED in 1 of 1 mixes" in text
    assert "SHRED is better than drop-tail in 1 of 1 mixes" in text
    assert "line 15 to 45 packets" in text
    assert (tmp_path / "shred-figure-11.png").exists()


def test_table_1__prints_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = cases.DATA.published()
    for name in ("table_1", "table_2"):
        said[name] = {key: values[8:9] for key, values in said[name].items()}
    monkeypatch.setattr(Data, "published", lambda _: said)
    assert reproduce.main(table=1, seeds=2) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "90" in text
    assert "8.7" in text
    assert "0.989" in text
    assert "Furthest from the published numbers: DT" in text


def test_shred__refuses_what_it_does_not_have() -> None:
    with pytest.raises(MouseholeError, match="figure 2 is not reproduced"):
        reproduce.main(figure=2)
    with pytest.raises(MouseholeError, match="give one table or figure"):
        reproduce.main()
