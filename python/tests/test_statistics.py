from math import isnan, log, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mousehole.statistics import jain_index, log_ratio, replications_for, t_interval
from scipy import stats

positive = st.lists(st.floats(0.01, 100), min_size=5, max_size=12)


def test_t_interval__by_hand() -> None:
    # mean 3, variance 2.5, t(0.975; 4) = 2.776445: half width 2.776445 · sqrt(2.5 / 5) = 1.963243
    estimate = t_interval([1, 2, 3, 4, 5])
    assert estimate.mean == 3
    assert estimate.low == pytest.approx(3 - 1.963243, abs=1e-6)
    assert estimate.high == pytest.approx(3 + 1.963243, abs=1e-6)


def test_t_interval__four_replications_give_none() -> None:
    estimate = t_interval([1, 2, 3, 4])
    assert estimate.mean == 2.5
    assert not estimate.has_interval


def test_t_interval__missing_replications_are_left_out() -> None:
    assert t_interval([1, 2, nan, 3, 4, 5]) == t_interval([1, 2, 3, 4, 5])
    assert t_interval([nan]).count == 0


@given(positive)
def test_t_interval__agrees_with_scipy(values: list[float]) -> None:
    error = stats.sem(values)
    estimate = t_interval(values)
    if error > 0:
        low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), error)
        assert estimate.low == pytest.approx(low, rel=1e-6, abs=1e-9)
        assert estimate.high == pytest.approx(high, rel=1e-6, abs=1e-9)


def test_log_ratio__is_paired() -> None:
    # every replication has its own level, and the scheme halves it exactly: no spread is left
    estimate = log_ratio([1, 2, 4, 8, 16], [2, 4, 8, 16, 32])
    assert estimate.mean == pytest.approx(log(0.5))
    assert estimate.half_width == pytest.approx(0, abs=1e-12)
    assert estimate.as_change().mean == pytest.approx(-0.5)


@given(positive)
def test_log_ratio__turns_over(values: list[float]) -> None:
    ones = np.ones(len(values))
    there, back = log_ratio(values, ones), log_ratio(ones, values)
    assert there.mean == pytest.approx(-back.mean)
    assert there.low == pytest.approx(-back.high, abs=1e-9)


def test_log_ratio__nothing_to_compare() -> None:
    assert log_ratio([nan] * 6, [1] * 6).count == 0
    assert log_ratio([0.0] * 6, [1] * 6).count == 0


def test_replications_for__known_case() -> None:
    spread = t_interval([-1, 1, -1, 1, -1, 1, -1, 1, -1, 1])
    needed = replications_for(spread, 0.2)
    assert needed is not None
    deviation = np.std([-1, 1] * 5, ddof=1)
    assert stats.t.ppf(0.975, needed - 1) * deviation / needed**0.5 <= 0.2
    assert stats.t.ppf(0.975, needed - 2) * deviation / (needed - 1) ** 0.5 > 0.2
    assert replications_for(spread, 0.001) is None


def test_jain_index__known_cases() -> None:
    assert jain_index([5, 5, 5]) == pytest.approx(1)
    assert jain_index([1, 0, 0, 0]) == pytest.approx(0.25)
    assert jain_index([1, 3]) == pytest.approx(16 / 20)
    assert isnan(jain_index([]))
