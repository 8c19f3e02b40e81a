"""The arithmetic of the bench by scheme, and its bar."""

from __future__ import annotations

from tools import bench_schemes


def test_ratios__are_taken_within_a_round() -> None:
    costs = {"droptail": [0.1, 0.4, 0.2], "red": [0.2, 0.8, 0.4], "slow": [0.1, 0.8, 0.8]}
    assert bench_schemes.ratios(costs) == {"droptail": 1.0, "red": 2.0, "slow": 2.0}


def test_misses__names_what_the_document_does_not() -> None:
    rows = {"bulk": {"droptail": 1.0, "red": 1.9, "srpt": 2.4}}
    assert bench_schemes.misses(rows, "")[0].startswith("srpt: 2.40 times drop-tail on bulk")
    assert bench_schemes.misses(rows, "costs more than twice drop-tail: `srpt`") == []


def test_with_droptail__comes_first_once() -> None:
    assert bench_schemes.with_droptail(["red", "droptail"]) == ["droptail", "red"]
