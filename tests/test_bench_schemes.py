"""The arithmetic of the bench by scheme, and its bar."""

from __future__ import annotations

from bench import schemes as bench_schemes


def test_ratios__are_taken_within_a_round() -> None:
    costs = {"droptail": [0.1, 0.4, 0.2], "red": [0.2, 0.8, 0.4], "slow": [0.1, 0.8, 0.8]}
    found = bench_schemes.compute_ratios(costs)
    assert {scheme: spread.median for scheme, spread in found.items()} == {
        "droptail": 1.0,
        "red": 2.0,
        "slow": 2.0,
    }
    assert str(found["slow"]) == "2.00 (1.00–4.00)"


def test_misses__are_above_the_bar_of_scheme_and_case() -> None:
    rows = {
        "bulk": {"droptail": 1.0, "red": 1.9, "srpt": 2.4, "ns2-rio": 2.1},
        "web": {"ns2-sfd": 4.9, "ns2-rio": 5.2},
    }
    assert bench_schemes.list_misses(rows) == [
        "srpt: 2.40 times the instructions of drop-tail on bulk, above 2",
        "ns2-rio: 2.10 times the instructions of drop-tail on bulk, above 2",
        "ns2-rio: 5.20 times the instructions of drop-tail on web, above 5",
    ]


def test_bars__are_of_schemes_and_cases_that_there_are() -> None:
    for scheme, case in bench_schemes.BARS:
        assert scheme in bench_schemes.list_schemes()
        assert case in bench_schemes.CASES


def test_over__is_a_share_of_droptail() -> None:
    assert bench_schemes.relate_to_droptail({"droptail": 200.0, "red": 300.0}) == {
        "droptail": 1.0,
        "red": 1.5,
    }


def test_with_droptail__comes_first_once() -> None:
    assert bench_schemes.put_droptail_first(["red", "droptail"]) == ["droptail", "red"]
