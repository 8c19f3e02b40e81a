import pickle
from collections import Counter
from math import exp, inf, isnan, log, nan
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mousehole.answer import BETTER, NO_BENEFIT, UNDECIDED, WORSE, verdict
from mousehole.statistics import (
    Design,
    Estimate,
    Heterogeneity,
    binomial_interval,
    capture_freedom,
    capture_share,
    difference,
    effective_comparisons,
    effective_number,
    find_look,
    find_p_value,
    heterogeneity,
    jain_index,
    log_ratio,
    look_error,
    mser,
    paired_logs,
    positive_interval,
    ratio_of_means,
    relaxation_s,
    replications_for,
    replications_of_look,
    simultaneous_error,
    smaller_in,
    t_interval,
)
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


@pytest.mark.filterwarnings("error")
def test_t_interval__missing_replications_are_left_out() -> None:
    assert t_interval([1, 2, nan, 3, 4, 5]) == t_interval([1, 2, 3, 4, 5])
    assert t_interval([nan]).count == 0
    assert positive_interval([nan]).count == 0


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
    assert log_ratio([1] * 6, [0.0] * 6).count == 0
    with np.errstate(all="raise"):
        only_one = log_ratio([0.0, 0, 0, 0, 0, 1], [1] * 6)
    assert (only_one.has_interval, only_one.count) == (False, 6)


def test_log_ratio__is_the_geometric_mean_of_the_ratios() -> None:
    one = log_ratio([1], [2])
    assert (one.mean, one.count, one.has_interval) == (pytest.approx(log(0.5)), 1, False)
    # the ratios are 1/4 and 5/4; the means are 3 and 4
    assert log_ratio([1, 5], [4, 4]).as_change().mean == pytest.approx((5 / 16) ** 0.5 - 1)
    assert ratio_of_means([1, 5], [4, 4]).as_change().mean == pytest.approx(3 / 4 - 1)


def test_log_ratio__with_a_zero_is_that_of_the_means() -> None:
    own, other = [0, 0.1, 0.2, 0.1, 0.3], [0.2, 0.1, 0.4, 0.3, 0.2]
    assert log_ratio(own, other) == ratio_of_means(own, other)
    assert list(paired_logs([0, 2, nan], [1, 1, 1])[:2]) == [-inf, log(2)]
    assert smaller_in(own, other) == (3, 5)
    assert smaller_in([1, nan, 2], [2, 1, 2]) == (1, 2), "equal numbers are not smaller"


def test_ratio_of_means__pseudo_values_by_hand() -> None:
    own, other = [1.0, 2, 3, 4, 5], [5.0, 5, 4, 6, 5]
    whole = log(15 / 25)
    pseudo = [5 * whole - 4 * log((15 - a) / (25 - b)) for a, b in zip(own, other, strict=True)]
    half = stats.t.ppf(0.975, 4) * np.std(pseudo, ddof=1) / 5**0.5
    found = ratio_of_means(own, other)
    assert (found.mean, found.low, found.high) == pytest.approx((whole, whole - half, whole + half))


def test_difference__is_paired_and_in_the_unit() -> None:
    found = difference([1, 2, 3, 4, 5.5], [2, 3, 4, 5, 6])
    assert found.mean == pytest.approx(-0.9)
    assert found.half_width == pytest.approx(stats.t.ppf(0.975, 4) * 0.1, rel=1e-9)


@given(st.lists(st.floats(1e-6, 1e6), min_size=5, max_size=12))
def test_positive_interval__never_reaches_zero(values: list[float]) -> None:
    found = positive_interval(values)
    assert 0 <= found.low <= found.mean * (1 + 1e-12)
    assert found.mean == pytest.approx(np.mean(values))


def test_positive_interval__is_that_of_the_ratio_of_means_to_one() -> None:
    values = [1.0, 2, 3, 4, 5]
    pseudo = [5 * log(15 / 5) - 4 * log((15 - value) / 4) for value in values]
    half = stats.t.ppf(0.975, 4) * np.std(pseudo, ddof=1) / 5**0.5
    found = positive_interval(values)
    assert (found.mean, found.low, found.high) == pytest.approx((3, 3 * exp(-half), 3 * exp(half)))


def test_estimate__one_end_is_no_interval() -> None:
    assert not Estimate(0.5, 0.0, inf, 5).has_interval
    assert not Estimate(0.5, -inf, 1.0, 5).has_interval


def test_intervals__stay_where_values_can_be() -> None:
    assert t_interval([0, 0, 0, 0, 9]).low < 0
    assert positive_interval([0, 0, 0, 0, 9]).low == 0


def test_design__by_hand() -> None:
    # the mean of ten varies by 1/10 of the variance, and by a quarter of it between captures
    half = Design(capture_share=0.25).half_width(2.0, 10)
    assert half == pytest.approx(stats.t.ppf(0.975, 9) * 2 * (0.25 + 0.1) ** 0.5)
    assert Design().half_width(2.0, 10) == pytest.approx(stats.t.ppf(0.975, 9) * 2 / 10**0.5)
    assert Design().comparisons == 1
    assert Design(comparisons=3, is_sequential=True).error(10) == pytest.approx(1 - 0.975 ** (1 / 3))


def test_looks__double_and_spend_the_whole_error() -> None:
    assert [find_look(count) for count in (1, 5, 10, 11, 20, 21, 40, 320)] == [0, 0, 0, 1, 1, 2, 2, 5]
    assert find_look(0) == 0
    assert [replications_of_look(look) for look in range(4)] == [10, 20, 40, 80]
    assert [find_look(count, 5) for count in (4, 5, 6, 10, 11, 20, 21)] == [0, 0, 1, 1, 2, 2, 3]
    assert [find_look(count, 1) for count in (0, 1, 2, 3)] == [0, 0, 1, 2]
    assert [replications_of_look(look, 5) for look in range(3)] == [5, 10, 20]
    assert look_error(10) == pytest.approx(0.025)
    assert look_error(10, first=5) == pytest.approx(0.0125)
    assert sum(look_error(10 * 2**look) for look in range(40)) == pytest.approx(0.05)


def test_simultaneous_error__by_hand() -> None:
    assert simultaneous_error(0.05, 1) == pytest.approx(0.05)
    assert simultaneous_error(0.05, 0) == pytest.approx(0.05), "without comparisons as with one"
    assert (1 - simultaneous_error(0.05, 24)) ** 24 == pytest.approx(0.95)


def test_replications_for__is_the_first_look_that_is_narrow_enough() -> None:
    spread = t_interval([-1, 1, -1, 1, -1, 1, -1, 1, -1, 1])
    deviation = float(np.std([-1, 1] * 5, ddof=1))
    needed = replications_for(spread, 0.2)
    assert needed == 160
    assert Design().half_width(deviation, needed) <= 0.2 < Design().half_width(deviation, needed // 2)
    assert replications_for(spread, 0.001) is None
    assert replications_for(spread, 0.5) == 20, "the look after this one"
    assert replications_for(spread, 1.0) == 20, "not this one, even where it would do"
    exactly = Design().half_width(spread.half_width / Design().half_width(1.0, 10), 80)
    assert replications_for(spread, exactly) == 80


def test_replications_for__its_most_is_1000() -> None:
    design = Design(first_look=125)
    spread = t_interval([-1, 1] * 250, design)
    needed = design.half_width(spread.half_width / design.half_width(1.0, 500), 1000)
    assert replications_for(spread, needed, design) == 1000
    assert replications_for(spread, 0.99 * needed, design) is None


def test_replications_for__a_short_capture_is_never_enough() -> None:
    design = Design(capture_share=0.5)
    spread = t_interval([-1, 1, -1, 1, -1, 1, -1, 1, -1, 1], design)
    assert replications_for(spread, 0.5, design) is None


def test_jain_index__known_cases() -> None:
    assert jain_index([5, 5, 5]) == pytest.approx(1)
    assert jain_index([1, 0, 0, 0]) == pytest.approx(0.25)
    assert jain_index([1, 3]) == pytest.approx(16 / 20)
    assert isnan(jain_index([]))


@pytest.mark.parametrize(
    ("made", "other"),
    [
        (Design(3, True, 5, 0.5, 7.0), Design()),
        (Estimate(0.5, 0.25, 0.75, 5), Estimate(0.5, 0.25, 0.75, 6)),
        (Heterogeneity(8.0, 2, 0.1, 0.5, 0.3), Heterogeneity(8.0, 2, 0.1, 0.5, 0.4)),
    ],
)
def test_estimates_and_designs__are_frozen_and_travel(made: object, other: object) -> None:
    """Tables, findings and threads share them, and a cluster's workers send them."""
    for name in [name for name in dir(type(made)) if not name.startswith("_")]:
        with pytest.raises(AttributeError):
            setattr(made, name, 0)
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301
    assert made != other


@given(st.floats(1, 400), st.integers(1, 10_000))
def test_student__agrees_with_scipy(capture_freedom: float, comparisons: int) -> None:
    """Degrees of freedom that are no whole number come from captures."""
    design = Design(comparisons, capture_share=0.5, capture_freedom=capture_freedom)
    freedom, tail = design.freedom(20), design.error(20) / 2
    assert design.half_width(1.0, 20) == pytest.approx(stats.t.isf(tail, freedom) * 0.55**0.5, rel=1e-11)
    assert find_p_value(-1.3, 1.0, freedom) == pytest.approx(2 * stats.t.sf(1.3, freedom), rel=1e-11)


def test_heterogeneity__agrees_with_scipy() -> None:
    effects, errors = [0.1, 0.3, -0.2, 0.4], [0.1, 0.05, 0.2, 0.1]
    found = heterogeneity(effects, errors)
    assert found is not None
    assert found.p_value == pytest.approx(stats.chi2.sf(found.q, 3), rel=1e-12)
    assert heterogeneity([1.0], [1.0]) is None


def test_binomial_interval__agrees_with_scipy() -> None:
    for count, of in [(0, 25), (3, 25), (24, 25), (25, 25)]:
        exact = stats.binomtest(count, of).proportion_ci(method="exact")
        assert binomial_interval(count, of) == pytest.approx((exact.low, exact.high), rel=1e-12)


def test_pairs__of_different_lengths_are_refused() -> None:
    for paired in (difference, log_ratio, heterogeneity):
        with pytest.raises(ValueError, match="3 numbers stand beside 2"):
            paired([1, 2, 3], [1, 2])


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
        level = random.lognormal(-1, 0.3, 10)  # replications differ much; pairing takes that away
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


@pytest.mark.parametrize("spread", [0.1, 0.3])
def test_ratio_of_means__jackknife_covers_it(spread: float) -> None:
    """Replications of unequal weight, so that the ratio of means is not the mean of ratios."""
    random, trials = np.random.default_rng(17), 4000
    held = 0
    for _ in range(trials):
        level = random.lognormal(0, spread, 10)
        own = 0.7 * level**1.5 * random.lognormal(0, 0.1, 10)
        found = ratio_of_means(own, level)
        truth = log(0.7) + (1.5**2 - 1) * spread**2 / 2 + 0.1**2 / 2
        held += found.low <= truth <= found.high
    assert 0.92 <= held / trials <= 0.965


def judge_outcome(values: np.ndarray, comparisons: int = 1) -> str:
    """Returns the outcome of a verdict on log-ratios as `compare` gives it."""
    design = Design(comparisons, is_sequential=True)
    return verdict(t_interval(values, design), design).outcome


@pytest.mark.parametrize("harm", [0.05, 0.2])
def test_verdict__harm_is_hardly_ever_no_benefit(harm: float) -> None:
    """Two one-sided tests: a scheme beyond the margin is called the same in at most 5 % of cases."""
    random, trials = np.random.default_rng(5), 3000
    for spread in (0.02, 0.07, 0.2, 0.5):
        outcomes = Counter(judge_outcome(random.normal(log(1 + harm), spread, 10)) for _ in range(trials))
        assert outcomes[NO_BENEFIT] / trials < 0.06
        assert outcomes[BETTER] / trials < 0.025


def test_limits__are_those_of_the_interval_of_twice_the_error() -> None:
    values = np.random.default_rng(3).normal(0, 1, 10)
    half = stats.t.ppf(0.95, 9) * np.std(values, ddof=1) / 10**0.5
    for design in (Design(), Design(5.5), Design(3, is_sequential=True)):
        found = design.limits(t_interval(values, design), 0.05)
        assert (found.low, found.high) == pytest.approx((np.mean(values) - half, np.mean(values) + half))


def test_effective_comparisons__uses_what_schemes_share() -> None:
    random = np.random.default_rng(12)
    shared, own = random.normal(0, 1, 12), random.normal(0, 1, (4, 12))
    alike = effective_comparisons(shared + 0.05 * own)
    apart = effective_comparisons(own)
    assert 1 <= alike < 1.5 < 3 < apart <= 4
    assert effective_comparisons(own) == apart, "the draws are the same"
    assert effective_comparisons([np.full(12, inf), own[0]]) == pytest.approx(1)
    with pytest.raises(ValueError, match="same length"):
        effective_comparisons([[1, 2], [1, 2, 3]])


@pytest.mark.parametrize("schemes", [2, 6])
def test_log_ratio__intervals_of_all_schemes_hold_together(schemes: int) -> None:
    """Paired times that share a baseline: all intervals hold in about 95 %, and Šidák's more often."""
    random, trials, held, sidak = np.random.default_rng(schemes), 300, 0, 0
    for _ in range(trials):
        base = random.lognormal(0, 0.2, 10)
        times = random.lognormal(0, 0.05, (schemes, 10))
        number = effective_comparisons([paired_logs(own, base) for own in times])
        for design, is_ours in ((Design(number), True), (Design(schemes), False)):
            truths = [log_ratio(own, base, design) for own in times]
            all_hold = all(one.low <= 0 <= one.high for one in truths)
            held, sidak = held + (all_hold and is_ours), sidak + (all_hold and not is_ours)
    assert 0.92 <= held / trials <= 0.98
    assert sidak >= held


def test_verdict__no_difference_is_found_where_the_spread_is_small() -> None:
    random = np.random.default_rng(5)
    outcomes = Counter(judge_outcome(random.normal(0, 0.03, 10)) for _ in range(1000))
    assert outcomes[NO_BENEFIT] > 900


@pytest.mark.parametrize("shared", [0.0, 0.7])
def test_verdict__24_null_schemes_are_claimed_in_one_family_of_twenty(shared: float) -> None:
    """The error of the family, for schemes that are independent and for such that share a baseline."""
    random, trials = np.random.default_rng(24), 1500
    claims = 0
    for _ in range(trials):
        common, own = random.normal(0, 0.2, 10), random.normal(0, 0.2, (24, 10))
        outcomes = {judge_outcome(shared * common + (1 - shared**2) ** 0.5 * one, 24) for one in own}
        claims += bool(outcomes & {BETTER, WORSE})
    assert claims / trials < 0.05
    if not shared:
        assert claims / trials > 0.01, "an interval far too wide errs too seldom"


@pytest.mark.parametrize("least", [5, 10])
def test_verdict__following_the_advice_makes_at_most_5_percent_false_claims(least: int) -> None:
    """Repeated looks: go on while the verdict is undecided, as its text advises, up to 320 replications."""
    random, trials, claims, fixed = np.random.default_rng(8), 1500, 0, 0
    for _ in range(trials):
        values = random.normal(0, 0.3, 320)
        count: int | None = least
        while count is not None and count <= 320:
            design = Design(is_sequential=True)
            found = verdict(t_interval(values[:count], design), design)
            if found.outcome != UNDECIDED:
                break
            count = found.seeds_needed
        claims += found.outcome in (BETTER, WORSE)
        # without division of the error, every look on the way
        plain = [t_interval(values[:n]) for n in (10, 20, 40, 80)]
        fixed += any(not found.low <= 0 <= found.high for found in plain)
    assert claims / trials < 0.05
    assert fixed / trials > 0.09


def test_verdict__seeds_needed_mostly_decide() -> None:
    """As many seeds as `undecided` asks for decide in more than half of the cases, where there is a gain."""
    random, asked, decided = np.random.default_rng(11), 0, 0
    for _ in range(2000):
        design = Design(is_sequential=True)
        first = verdict(t_interval(random.normal(log(0.85), 0.25, 6), design), design)
        if first.outcome == UNDECIDED and first.seeds_needed:
            asked += 1
            second = verdict(t_interval(random.normal(log(0.85), 0.25, first.seeds_needed), design), design)
            decided += second.outcome != UNDECIDED
            assert first.seeds_needed > 6
    assert asked > 200
    assert decided / asked > 0.5


def test_design__capture_variance_is_covered() -> None:
    """Replications share a capture: without its share the interval holds the truth in far fewer cases."""
    random, trials, held, without = np.random.default_rng(9), 3000, 0, 0
    between, within = 0.1, 0.1
    for _ in range(trials):
        capture = random.normal(0, between)  # what this capture differs from the truth
        # each replication sees a resample of the capture, which differs from it as it does from the truth
        values = capture + random.normal(0, between, 10) + random.normal(0, within, 10)
        found = t_interval(values, Design(capture_share=0.5))
        held += found.low <= 0 <= found.high
        naive = t_interval(values)
        without += naive.low <= 0 <= naive.high
    assert 0.93 <= held / trials <= 0.97
    assert without / trials < 0.8


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
    mixed = log_ratio([own for own, _ in pairs], [other for _, other in pairs])
    assert mixed.half_width == pytest.approx(plain.half_width, abs=1e-9)


# --- captures and transients ---


def test_capture_share__is_what_of_the_capture_a_replication_plays() -> None:
    assert [capture_share(material) for material in (0.01, 0.5, 1, 100)] == [0.01, 0.5, 1, 1]


@pytest.mark.parametrize("length", [100, 800, 20_000])
def test_capture_share__interval_covers_whatever_the_length_of_the_capture(length: int) -> None:
    """Captures of a stationary series; a replication is the mean of a stretch of 400 of a resample."""
    random, trials, held, without = np.random.default_rng(length), 600, 0, 0
    for _ in range(trials):
        capture = random.exponential(1, length)
        values = []
        for _ in range(10):
            resampled = random.choice(capture, length)
            begin = random.integers(length)
            values.append(float(np.mean(resampled[(begin + np.arange(400)) % length])))
        found = t_interval(values, Design(capture_share=capture_share(400 / length)))
        held += found.low <= 1 <= found.high
        naive = t_interval(values)
        without += naive.low <= 1 <= naive.high
    assert held / trials > 0.92
    assert without / trials < (0.6 if length < 400 else 0.99)


def test_relaxation__workload_is_near_its_steady_state_after_two_of_them() -> None:
    """M/M/1 at load 0.9 and mean service 1: E[S²] / E[S] = 2, steady state of the workload 9."""
    random, replications = np.random.default_rng(4), 4000
    tau = relaxation_s(random.exponential(1, 200_000), 8, 0.9)
    assert tau == pytest.approx(0.9 * 2 / 0.01, rel=0.03)

    def workload_at(time: float) -> float:
        work, clock, seen = np.zeros(replications), np.zeros(replications), np.zeros(replications)
        while np.any(clock <= time):
            gap = random.exponential(1 / 0.9, replications)
            passes = (clock <= time) & (clock + gap > time)
            seen = np.where(passes, np.maximum(work - (time - clock), 0), seen)
            work = np.maximum(work - gap, 0) + random.exponential(1, replications)
            clock += gap
        return float(np.mean(seen))

    assert workload_at(0.2 * tau) < 0.65 * 9
    assert 0.87 * 9 < workload_at(2 * tau) < 1.1 * 9


def test_mser__finds_where_a_transient_ends() -> None:
    random = np.random.default_rng(6)
    noise = random.normal(0, 0.05, (50, 40))
    rising = 1 - np.exp(-np.arange(40) / 4)
    ends = [mser(rising + one) for one in noise]
    assert 8 <= np.median(ends) <= 20
    assert min(ends) >= 4
    assert np.median([mser(1 + one) for one in noise]) <= 4
    assert mser(np.linspace(0, 1, 40)) >= 20, "it never ends"
    assert mser([1, 2]) == 0
    assert mser([0, 1, 2, 3, 4]) == 0, "none may be removed"
    assert mser(np.arange(40)) == 34, "of a straight line, as few as possible are left: six"


def test_effective_number__by_hand() -> None:
    assert effective_number([5, 5, 5, 5]) == pytest.approx(4)
    assert effective_number([1, 0, 0]) == pytest.approx(1)
    assert effective_number([3, 1]) == pytest.approx(16 / 10)
    assert effective_number([]) == 0


def test_design__few_large_transfers_leave_few_degrees_of_freedom() -> None:
    assert Design().freedom(10) == pytest.approx(9)
    assert Design(capture_freedom=2).freedom(10) == pytest.approx(9), "no share between captures"
    few = Design(capture_share=1, capture_freedom=4)
    assert few.freedom(10) == pytest.approx(1 / (1 / 9 + (10 / 11) ** 2 / 4))
    assert Design(capture_share=1, capture_freedom=0).freedom(10) == 1


def test_capture_freedom__is_that_of_the_large_transfers() -> None:
    assert capture_freedom([10] * 5, 5) == pytest.approx(4)
    assert capture_freedom([10] * 5 + [1] * 50, 5) == pytest.approx(5), "as many as fill the pipe"
    assert capture_freedom([10, 1, 1], 5) == pytest.approx(144 / 102 - 1)
    assert capture_freedom([1] * 100, 5) == 0, "none of them is large"
    assert capture_freedom([5] * 5, 5) == 0, "one that is as large as the pipe does not fill it"
    assert capture_freedom([], 5) == 0
