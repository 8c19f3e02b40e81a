from collections import Counter
from math import isnan, log, nan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mousehole.findings import BETTER, NO_BENEFIT, UNDECIDED, WORSE, verdict
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


# --- what happens over many comparisons ---


@pytest.mark.parametrize("replications", [5, 10, 30])
def test_verdict__calls_hardly_any_twin_better_or_worse(replications: int) -> None:
    """A/A: the same scheme under two names, other draws. At 95 % about one in forty errs to each side."""
    random, trials = np.random.default_rng(2026), 4000
    outcomes = Counter(
        verdict(log_ratio(*random.lognormal(-1, 0.2, (2, replications)))).outcome for _ in range(trials)
    )
    assert outcomes[BETTER] / trials < 0.03
    assert outcomes[WORSE] / trials < 0.03
    assert outcomes[BETTER] + outcomes[WORSE] > 0.03 * trials, "an interval far too wide errs too seldom"


def test_verdict__the_same_numbers_are_no_benefit() -> None:
    values = np.random.default_rng(1).lognormal(-1, 0.5, 10)
    assert verdict(log_ratio(values, values)).outcome == NO_BENEFIT


@pytest.mark.parametrize("change", [-0.3, -0.05, 0.2])
def test_log_ratio__interval_covers_the_truth_in_95_of_100(change: float) -> None:
    random, trials = np.random.default_rng(7), 4000
    held = 0
    for _ in range(trials):
        level = random.lognormal(-1, 1.0, 10)  # replications differ much; pairing takes that away
        noise = random.lognormal(0, 0.1, (2, 10))
        found = log_ratio(level * (1 + change) * noise[0], level * noise[1]).as_change()
        held += found.low <= change <= found.high
    assert held / trials == pytest.approx(0.95, abs=0.012)


def test_log_ratio__pairing_is_what_makes_it_narrow() -> None:
    random = np.random.default_rng(3)
    level, noise = random.lognormal(-1, 1.0, 10), random.lognormal(0, 0.05, (2, 10))
    paired = log_ratio(0.8 * level * noise[0], level * noise[1])
    shuffled = log_ratio(0.8 * level * noise[0], random.permutation(level * noise[1]))
    assert paired.half_width < 0.25 * shuffled.half_width


def test_verdict__seeds_needed_mostly_decide() -> None:
    """As many seeds as `undecided` asks for decide in more than half of the cases, where there is a gain."""
    random, asked, decided = np.random.default_rng(11), 0, 0
    for _ in range(2000):
        first = verdict(t_interval(random.normal(log(0.85), 0.25, 6)))
        if first.outcome == UNDECIDED and first.seeds_needed:
            asked += 1
            second = verdict(t_interval(random.normal(log(0.85), 0.25, first.seeds_needed)))
            decided += second.outcome != UNDECIDED
            assert first.seeds_needed > 6
    assert asked > 200
    assert decided / asked > 0.5


@given(
    st.lists(st.floats(0.01, 100), min_size=5, max_size=12),
    st.floats(0.001, 1000),
    st.randoms(use_true_random=False),
)
def test_log_ratio__is_independent_of_unit_and_order(
    values: list[float], scale: float, random: Random
) -> None:
    others = values[1:] + values[:1]
    plain = log_ratio(values, others)
    scaled = log_ratio([scale * v for v in values], [scale * v for v in others])
    assert scaled.mean == pytest.approx(plain.mean, abs=1e-9)
    assert scaled.half_width == pytest.approx(plain.half_width, abs=1e-9)
    pairs = list(zip(values, others, strict=True))
    random.shuffle(pairs)
    mixed = log_ratio(*zip(*pairs, strict=True))
    assert mixed.half_width == pytest.approx(plain.half_width, abs=1e-9)
