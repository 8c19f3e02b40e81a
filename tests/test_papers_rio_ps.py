"""RIO-PS's tables: published beside ours, from runs cut short; and that deliveries are counted once."""

from typing import Any, cast

import numpy as np
import pytest
from mousehole.errors import MouseholeError
from mousehole.pool import RunResult

from papers.rio_ps import experiments, measures, reproduce

SHORT = {"warmup": "20s", "duration": "40s"}


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_table_1__prints_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    read = experiments._read
    monkeypatch.setattr(experiments, "_read", lambda name: {**read(name), "duration": "20s"})
    assert reproduce.main(table=1, seeds=5) == 0
    text = printed(capsys)
    assert "1.25 Mb/s short 40,973" in text
    assert "133,164" in text
    assert text.count("±") >= 18
    assert "1.5 Mb/s, packets of short flows: RIO-PS" in text


def test_experiment_1__prints_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(experiments, "QUICK", SHORT)
    assert reproduce.main(table=4, seeds=1) == 0
    assert "published, initial RTO 3s 4,207,841 4,264,890 4,255,711" in printed(capsys)
    assert reproduce.main(figure=7, seeds=1) == 0
    text = printed(capsys)
    assert "published, initial RTO 1s, medium (32 to 511 packets) 15 % to 25 %" in text
    assert "no interval, at least five seeds are needed" in text


def test_refuses_what_it_does_not_have() -> None:
    with pytest.raises(MouseholeError, match="table 3 is not reproduced; there are --table 1"):
        reproduce.main(table=3)
    neither: dict[str, Any] = {}
    for both in (neither, {"table": 1, "figure": 2}):
        with pytest.raises(MouseholeError, match="give one table or figure"):
            reproduce.main(**both)


class Traced:
    """Two connections that share slot 0, and a long one in slot 1."""

    ROWS = (
        ("send", 0, 0), ("send", 1, 0), ("send", 0, 0), ("receive", 0, 0), ("receive", 1, 0), ("send", 0, 1),
        ("receive", 0, 1), ("receive", 0, 1), ("send", 1, 150), ("receive", 1, 150),
        ("send", 0, 0), ("receive", 0, 0), ("send", 0, 1),
    )  # fmt: skip

    def trace(self) -> dict[str, Any]:
        event, flow, seq = zip(*self.ROWS, strict=True)
        return {"event": list(event), "flow": np.array(flow), "seq": np.array(seq)}


def test_delivered__counts_every_segment_once_and_knows_slots_that_were_taken_over() -> None:
    found = measures.delivered(cast(RunResult, Traced()))
    assert (found.short, found.long, found.all) == (3, 2, 5)


def test_reduction__averages_bins_of_size() -> None:
    def run(scale: float) -> Any:
        response = np.full(measures.EDGES.size - 1, 2.0)
        response[:2] *= scale
        return measures.Experiment1(0.0, response, 0.0, 0.0, 0.0, 0.0, 0.0)

    assert measures.reduction(run(0.7), run(1.0), 4, 32) == pytest.approx(0.2)  # 0.3, 0.3 and 0
    assert measures.reduction(run(0.7), run(1.0), 32, 512) == 0.0
