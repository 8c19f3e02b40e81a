"""2LPS's folder: the model of two levels against known answers, and its measure on records."""

from collections.abc import Sequence
from heapq import heappop, heappush
from math import inf
from typing import Any, cast

import numpy as np
import pytest
from mousehole.runs import RunResult

from papers import two_levels
from papers.tlps import measures, quantities

MIXED = two_levels.Mixture(np.array([0.9, 0.1]), np.array([0.3, 7.3]))


@pytest.mark.parametrize("threshold", [0.01, 0.3, 1.0, 5.0])
def test_two_levels__of_exponential_sizes_no_threshold_changes_the_mean(threshold: float) -> None:
    # By hand: 1 ÷ (1 − 0.7).
    assert two_levels.two_levels(two_levels.exponential(1.0), 0.7, threshold) == pytest.approx(1 / 0.3)


@pytest.mark.parametrize("threshold", [1e-9, 200.0])
def test_two_levels__is_sharing_where_one_level_is_empty(threshold: float) -> None:
    assert two_levels.gain(MIXED, 0.7, threshold) == pytest.approx(0, abs=1e-6)


def test_two_levels__is_what_a_simulated_queue_does() -> None:
    ours = [(simulate(one, 1.5), simulate(one, inf)) for one in range(20)]
    gains = np.array([1 - two / one for two, one in ours])
    error = gains.std(ddof=1) / np.sqrt(gains.size)
    assert error < 0.01
    assert gains.mean() == pytest.approx(two_levels.gain(MIXED, 0.7, 1.5), abs=3 * error)


def simulate(seed: int, threshold: float, jobs: int = 10_000) -> float:
    """Simulates a queue of two levels with processor sharing.

    Returns the mean response time of mixed sizes.
    """
    stream = np.random.default_rng(seed)
    sizes = stream.exponential(MIXED.means[stream.choice(2, jobs, p=MIXED.shares)])
    arrivals: Sequence[float] = [*np.cumsum(stream.exponential(MIXED.mean / 0.7, jobs)), inf]
    # Of each level: what a job present from the start would have been served, and when jobs leave by that.
    served, levels = [0.0, 0.0], cast(list[list[tuple[float, int]]], [[], []])
    now, total, coming = 0.0, 0.0, 0
    while coming < jobs or levels[0] or levels[1]:
        place = 0 if levels[0] else 1
        queue = levels[place]
        leaves = now + (queue[0][0] - served[place]) * len(queue) if queue else inf
        if arrivals[coming] <= leaves:
            served[place] += (arrivals[coming] - now) / len(queue) if queue else 0.0
            now = arrivals[coming]
            heappush(levels[0], (served[0] + min(sizes[coming], threshold), coming))
            coming += 1
            continue
        now = leaves
        served[place], job = heappop(queue)
        if place == 0 and sizes[job] > threshold:
            heappush(levels[1], (served[1] + sizes[job] - threshold, job))
        else:
            total += now - arrivals[job]
    return total / jobs


def test_pareto__has_its_mean_and_its_tail() -> None:
    sizes = two_levels.pareto(60.0, 2.0)
    assert sizes.mean == pytest.approx(60)
    assert float(sizes.shares @ np.exp(-90 / sizes.means)) == pytest.approx((1 + 90 / 60) ** -2)


def test_best_threshold__is_the_one_that_is_taken() -> None:
    thresholds = np.arange(20.0, 600.0, 5.0)
    law = quantities.LAWS["heavy"]
    best = max(thresholds, key=lambda one: two_levels.gain(law, quantities.LOAD, one))
    assert best == quantities.BEST_KB


def test_quantities__are_shares_of_gains() -> None:
    sharing, two = ({"all_s": np.array(one)} for one in (0.4, 0.3))
    predicted = two_levels.gain(quantities.LAWS["heavy"], quantities.LOAD, quantities.BEST_KB)
    assert quantities.share_of_predicted(two, sharing) == pytest.approx(0.25 / predicted)
    assert quantities.gain_difference(two, sharing, sharing, sharing) == pytest.approx(0.25)
    assert quantities.model_s(two, "exponential", "90kB") == pytest.approx(0.06 / 1.25 / 0.2)


def test_measure__an_endless_transfer_counts_until_the_end() -> None:
    class Recorded:
        """A run of two transfers, one of which did not end."""

        def transfers(self) -> dict[str, Any]:
            return {"start_s": np.array([0.0, 1.0]), "end_s": np.array([0.5, np.nan])}

        def summary(self) -> dict[str, float]:
            return {"window_end_s": 9.0}

    assert measures.measure(cast(RunResult, Recorded()))["all_s"] == pytest.approx((0.5 + 8.0) / 2)
