"""The arithmetic of the bench by scheme, and its bar."""

from __future__ import annotations

from bench import schemes as bench_schemes


def test_ratios__are_taken_within_a_round() -> None:
    costs = {"droptail": [0.1, 0.4, 0.2], "red": [0.2, 0.8, 0.4], "slow": [0.1, 0.8, 0.8]}
    found = bench_schemes.ratios(costs)
    assert {scheme: spread.median for scheme, spread in found.items()} == {
        "droptail": 1.0,
        "red": 2.0,
        "slow": 2.0,
    }
    assert str(found["slow"]) == "2.00 (1.00–4.00)"


def test_misses__names_what_the_document_does_not() -> None:
    rows = {"bulk": {"droptail": 1.0, "red": 1.9, "srpt": 2.4}}
    (line,) = bench_schemes.misses(rows, "")
    assert line.startswith("srpt: 2.40 times the instructions of drop-tail on bulk")
    assert bench_schemes.misses(rows, "What costs more than twice drop-tail: `las` and `srpt` on bulk.") == []
    assert len(bench_schemes.misses(rows, "What costs more than twice drop-tail: `las`. And `srpt`.")) == 1


def test_over__is_a_share_of_droptail() -> None:
    assert bench_schemes.over({"droptail": 200.0, "red": 300.0}) == {"droptail": 1.0, "red": 1.5}


def test_with_droptail__comes_first_once() -> None:
    assert bench_schemes.with_droptail(["red", "droptail"]) == ["droptail", "red"]
