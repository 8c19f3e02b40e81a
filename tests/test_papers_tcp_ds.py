"""TCP-DS's folder: its measures, its cases, and what it prints."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mousehole.errors import MouseholeError
from mousehole.progress import Silent

from papers.common import merged, replicate
from papers.tcp_ds import cases, measures, reproduce

SHORT = {"warmup": "2s", "duration": "4s"}


def pages_of(rows: list[tuple[int, int, float, float]], until_s: float = 100.0) -> Any:
    """Times of pages of three transfers, from (page, bytes, start, end) of each."""
    page, size, start, end = (np.array(column) for column in zip(*rows, strict=True))
    transfers: Any = {"page": page, "bytes": size, "start_s": start, "page_transfers": np.full(page.size, 3)}
    took = np.where(np.isnan(end), np.inf, end - start)
    return measures.page_times(transfers, took, np.ones(page.size, bool), until_s)


def test_page_times__last_from_the_first_request_to_the_last_byte() -> None:
    found = pages_of([(1, 1000, 5.0, 6.0), (1, 10000, 6.0, 19.0), (1, 10000, 6.0, 8.0)])
    assert found.seconds.tolist() == [14.0]
    assert found.late == 1.0


def test_page_times__are_endless_where_a_transfer_did_not_end_or_begin() -> None:
    not_ended = [(1, 1000, 5.0, 6.0), (1, 10000, 6.0, np.nan), (1, 10000, 6.0, 8.0)]
    not_begun = [(2, 1000, 5.0, np.nan)]
    whole = [(3, 1000, 5.0, 6.0), (3, 10000, 6.0, 7.0), (3, 10000, 6.0, 8.0)]
    found = pages_of(not_ended + not_begun + whole)
    assert found.seconds.tolist() == [np.inf, np.inf, 3.0]
    assert found.late == pytest.approx(2 / 3)
    assert found.median == np.inf


def test_page_times__leave_out_pages_of_the_warm_up_and_of_the_end() -> None:
    begun_before = [(1, 10000, 6.0, 9.0), (1, 10000, 6.0, 8.0)]
    too_late = [(2, 1000, 81.0, 82.0), (2, 10000, 82.0, 83.0), (2, 10000, 82.0, 83.0)]
    found = pages_of(begun_before + too_late, until_s=80.0)
    assert found.seconds.size == 0
    assert np.isnan(found.late)


def test_case__has_the_scheme_its_host_stage_and_what_differs() -> None:
    base = cases.base(full=True)
    plain = cases.case(base, "DropTail", cases.at(60))
    assert plain["topology"]["params"] == {**base["topology"]["params"], "rate": "60mbit"}
    assert "host_stage" not in plain
    assert {**plain, "topology": base["topology"]} == base
    marked = cases.case(base, "TCP-DS", cases.at(60), "down", initial_rto="1s")
    assert (marked["scheme"], marked["host_stage"]) == ("tcp-ds", {"users": 400, "mark": True})
    assert [one["params"]["direction"] for one in marked["traffic"]["mix"] if one["name"] == "ftp"] == [
        "down"
    ]
    assert marked["tcp"] == {**base["tcp"], "initial_rto": "1s"}


def test_telnet_alone__has_the_published_load_and_no_queueing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measures, "TAIL_S", 1.0)
    base = merged(cases.base(full=True), {"warmup": "2s", "duration": "10s"})
    telnet = [one for one in base["traffic"]["mix"] if one["name"] == "telnet"]
    alone = {**cases.case(base, "DropTail", cases.at(100)), "traffic": {"mix": telnet}}
    found = replicate({"one": alone}, 1, measures.measure, Silent())["one"][0]
    assert 1e6 < found.utilisation * 100e6 < 2e6, "section II.B: less than 2 Mb/s"
    assert (found.loss, found.slow_echoes) == (0.0, 0.0)
    assert found.echo_s[50] == pytest.approx(0.08, abs=0.01)


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], figure: int) -> str:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(cases, "QUICK", SHORT)
    monkeypatch.setattr(measures, "TAIL_S", 1.0)
    assert reproduce.main(figure=figure, seeds=1) == 0
    return " ".join(capsys.readouterr().out.split())


def only(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """Fewer variants."""
    read = cases.variants
    monkeypatch.setattr(cases, "variants", lambda name: changes.get(name) or read(name))


def test_figure_2__prints_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    only(monkeypatch, figure_2={"mbit": [60, 100], "reading": [{"name": "both ways"}]})
    text = run(monkeypatch, capsys, figure=2)
    assert "60, both ways 7.0 %" in text
    assert "30.0 %" in text
    assert "echoes that wait for a timeout 10 % published" in text
    assert (tmp_path / "tcp-ds-figure-2.png").exists()


def test_figure_7__prints_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    text = run(monkeypatch, capsys, figure=7)
    assert "all about 0.7 s under APPL, 0.8 s under TCP-DS" in text
    assert "beyond 150 ms" in text
    assert "90 % of echoes within: APPL" in text


def test_figures_3_11_and_12__print_one_row_for_each_scheme(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    schemes = ["DropTail", "TCP-DS", "TCP-DS-R"]
    only(
        monkeypatch,
        figure_3={"mbit": [45], "initial_rto": ["6s", "1s"]},
        figure_11={"mbit": [45], "schemes": schemes[:2]},
        figure_12={"mbit": [45], "schemes": schemes},
    )
    assert "45 Mb/s, 1s" in run(monkeypatch, capsys, figure=3)
    assert "TCP-DS against drop-tail: median page" in run(monkeypatch, capsys, figure=11)
    text = run(monkeypatch, capsys, figure=12)
    assert "Figure 12: HTTP/1.0 pages of 81 kB at 45 Mb/s" in text
    assert "TCP-DS-R against drop-tail" in text


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, "give one table or figure; there are --figure 2, 3, 7, 11"),
        ({"table": 1, "figure": 2}, "give one table or figure; there are --figure 2, 3, 7, 11"),
        ({"table": 1}, "is not reproduced; there are --figure 2"),
        ({"figure": 8}, "is not reproduced; there are --figure 2"),
    ],
)
def test_tcp_ds__lists_its_figures(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(MouseholeError, match=told):
        reproduce.main(**asked)
