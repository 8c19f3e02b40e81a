"""LFP's folder: the identities of its table, its cases, and what it prints."""

from pathlib import Path

import pytest
from mousehole.errors import MouseholeError

from papers.lfp import cases, measures, reproduce

SHORT = {"warmup": "10s", "duration": "60s"}
SCHEMES = ("DT", "RED", "LFP")


def table() -> dict[str, dict[str, list[float]]]:
    """Table 1 as published."""
    said = cases.DATA.published()["table_1"]
    return {level: {name: rows[name] for name in SCHEMES} for level, rows in said.items()}


def test_table_1__utilisation_is_goodput_over_capacity() -> None:
    for rows in table().values():
        for utilisation, _, goodput, *_ in rows.values():
            assert utilisation == pytest.approx(100 * goodput / measures.RATE_MBPS, abs=0.06)


def test_table_1__overhead_is_what_of_the_throughput_is_not_goodput() -> None:
    for rows in table().values():
        for _, throughput, goodput, overhead, *_ in rows.values():
            most = 100 * (throughput + 0.0005 - goodput + 0.0005) / (throughput + 0.0005)
            least = 100 * (throughput - 0.0005 - goodput - 0.0005) / (throughput - 0.0005)
            assert least <= overhead <= most


def test_case__changes_load_and_scheme_and_the_buffer_if_given() -> None:
    base = cases.base(full=True)
    red = cases.case(base, 14.0, cases.readings()["RED, limit in bytes"])
    assert (red["link"]["buffer"], red["traffic"]["params"]["connections_per_s"]) == ("25kB", 14.0)
    assert "unit=bytes" in red["scheme"]
    plain = cases.case(base, 6.0, cases.schemes()["LFP"])
    assert (plain["link"], plain["scheme"]) == (base["link"], "lfp(shared=false)")


def test_sizes__are_all_sizes_once() -> None:
    assert measures.SIZES[0][0] == 1
    assert any(high == measures.TAU for _, high in measures.SIZES)
    assert all(
        high + 1 == low for (_, high), (low, _) in zip(measures.SIZES, measures.SIZES[1:], strict=False)
    )


def run(
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    table: int | None = None,
    figure: int | None = None,
) -> str:
    monkeypatch.setattr(cases, "QUICK", SHORT)
    assert reproduce.main(table=table, figure=figure, seeds=3) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert name in text
    return text


def test_table_1__prints_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = run("Table 1, heavy", monkeypatch, capsys, table=1)
    assert "DT, published 46.8 0.986 0.936 5.15 0.0160 0.0563" in text
    assert "At once, under drop-tail: connections 3.22 published" in text
    assert "Flows with drops: published LFP < DT < RED" in text


def test_figures__print_published_beside_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "of flows 90 %" in run("Figure 2", monkeypatch, capsys, figure=2)
    assert "95 % 30" in run("Figure 5", monkeypatch, capsys, figure=5)
    run("Figure 7", monkeypatch, capsys, figure=7)
    assert (tmp_path / "lfp-figure-7.png").exists()
    assert "heavy, deviation: LFP" in run("Figures 8 and 10", monkeypatch, capsys, figure=8)


def test_lfp__refuses_what_it_does_not_have() -> None:
    with pytest.raises(MouseholeError, match="figure 3 is not reproduced"):
        reproduce.main(figure=3)
    with pytest.raises(MouseholeError, match="give one table or figure"):
        reproduce.main()
