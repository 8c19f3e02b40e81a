"""The arithmetic and the tables of docs/performance.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import engine as bench
from bench import performance
from tools import document

ROOT = Path(__file__).resolve().parent.parent


def make_run(cpu_s: float, packets: float) -> bench.Run:
    """Returns a run with four events per packet."""
    return bench.Run(cpu_s, 0, packets, {"events": 4 * packets, "utilisation": 0.9})


def test_measured__leaves_setup_out() -> None:
    measured = performance.Measured(performance.make_flows_case(100, 100, 10, 110))
    measured.add(make_run(5.1, 100_000), make_run(6.1, 1_100_000))
    assert measured.us_per_packet == [pytest.approx(1.0)]
    assert measured.ns_per_event == [pytest.approx(250)]
    row = measured.row()
    assert row[0] == "100 flows, 100 Mb/s"
    assert row[3] == "100"  # 100 simulated seconds in one of CPU
    assert row[-1] == "`mousehole-bench flows 100 100 110` less `… 10`"


@pytest.mark.parametrize(("cores", "counts"), [(1, [1]), (2, [1, 2]), (6, [1, 2, 4, 6]), (8, [1, 2, 4, 8])])
def test_thread_counts__up_to_all_cores(cores: int, counts: list[int]) -> None:
    assert performance.list_thread_counts(cores) == counts


def test_rate__in_words() -> None:
    assert [performance.format_rate(mbps) for mbps in (10, 1000, 10_000)] == ["10 Mb/s", "1 Gb/s", "10 Gb/s"]


def test_document__has_every_table() -> None:
    text = document.read_part(
        (ROOT / "docs" / "performance.md").read_text(encoding="utf-8"), "bench WHAT=performance"
    )
    for case in (*performance.BASIC, *performance.BY_FLOWS, *performance.BY_RATE):
        assert f"| {case.label} |" in text
