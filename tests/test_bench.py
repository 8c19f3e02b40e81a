"""The bench's arithmetic and its bars, on programs whose cost is known."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import engine as bench

CASE = bench.Case("bulk", "a test", ("ns", "x.tcl", "{seconds}"), 10, 110, 0.25, 0.03)


def make_program(us_per_packet: float, packets_per_s: float, setup_s: float) -> bench.Program:
    """Returns a program of five short and five long runs of `CASE` with this cost per packet and of the
    start.
    """

    def run(seconds: float) -> bench.Run:
        packets = packets_per_s * seconds
        return bench.Run(setup_s + us_per_packet * packets / 1e6, 1_000_000, packets, {})

    return bench.Program([run(CASE.short_s)] * 5, [run(CASE.long_s)] * 5)


def test_result__leaves_setup_out() -> None:
    row = bench.make_row(CASE, make_program(0.3, 12_000, 5.0), make_program(1.5, 12_000, 0.7))
    assert row["us_per_packet"] == pytest.approx(0.3)
    assert row["ns2_us_per_packet"] == pytest.approx(1.5)
    assert row["ratio"] == pytest.approx(0.2)
    assert bench.list_misses(CASE, row) == []


def test_misses__too_slow() -> None:
    row = bench.make_row(CASE, make_program(0.5, 12_000, 0), make_program(1.5, 12_000, 0))
    assert len(bench.list_misses(CASE, row)) == 1


def test_misses__needs_the_whole_interval_above_the_bar() -> None:
    noisy, theirs = make_program(0.5, 12_000, 0), make_program(1.5, 12_000, 0)
    noisy.long[2] = make_program(0.3, 12_000, 0).long[0]
    noisy.short[2] = make_program(0.3, 12_000, 0).short[0]
    row = bench.make_row(CASE, noisy, theirs)
    ratio, least = row["ratio"], row["ratio_low"]
    assert ratio is not None
    assert least is not None
    assert ratio > CASE.most_ratio > least
    assert bench.list_misses(CASE, row) == []


def test_misses__less_work() -> None:
    row = bench.make_row(CASE, make_program(0.3, 6_000, 0), make_program(1.5, 12_000, 0))
    assert len(bench.list_misses(CASE, row)) == 1


def test_result__without_ns2_says_null() -> None:
    row = bench.make_row(CASE, make_program(0.3, 12_000, 0), None)
    assert row["ratio"] is None
    assert row["ns2_us_per_packet"] is None
    assert bench.list_misses(CASE, row) == []


def test_run_child__counts_cpu_and_reports_failure() -> None:
    burn = "import time\nwhile time.process_time() < 0.2: pass\nprint('done')"
    cpu_s, rss, output = bench.run_child([sys.executable, "-c", burn])
    assert 0.2 <= cpu_s < 2
    assert rss > 1_000_000
    assert output == "done\n"
    with pytest.raises(SystemExit, match="ended with 3"):
        bench.run_child([sys.executable, "-c", "raise SystemExit(3)"])


def test_main__writes_bench_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    binary = tmp_path / "fake"
    burn = "import sys, json, time\nn = 1000 * int(sys.argv[2])\nwhile time.process_time() < n * 2e-6: pass\n"
    burn += "print(json.dumps({'data_packets_forward': n, 'bytes_live_connection': 200}))\n"
    binary.write_text(f"#!{sys.executable}\n{burn}")
    binary.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda _: None)
    monkeypatch.setattr(bench, "CASES", (CASE,))
    output = tmp_path / "bench.json"
    assert bench.main(["--binary", str(binary), "--rounds", "1", "--output", str(output)]) == 0
    row = json.loads(output.read_text())["bulk"]
    assert row["bytes_per_flow"] == 200
    assert 0.5 < row["us_per_packet"] < 4
    assert "NOT RUN: ns-2" in capsys.readouterr().out
