from math import isnan, nan

import numpy as np
import pytest
from mousehole.reduction import RunFacts, reduce_run
from mousehole.sizes import CDF_TIMES_S, buckets, size_text
from support import HandMadeRun, colour

BUCKETS = buckets(15_000, 150_000)
NAMES = [bucket.name for bucket in BUCKETS]


def reduced(run: HandMadeRun) -> RunFacts:
    return reduce_run(run, BUCKETS)  # type: ignore[arg-type]


def test_buckets__divide_all_sizes() -> None:
    assert NAMES == [
        "≤ 2 kB", "2–5 kB", "5–15 kB", "15–50 kB", "50–150 kB", "150 kB–1 MB", "> 1 MB",
        "≤ 15 kB", "> 150 kB", "all",
    ]  # fmt: skip
    sizes = np.array([1, 2000, 2001, 15_000, 15_001, 150_000, 1e6, 1e6 + 1, 1e9])
    hits = np.array([bucket.mask(sizes) for bucket in BUCKETS if bucket.role == "size"])
    assert hits.sum(axis=0).tolist() == [1] * len(sizes)


def test_buckets__take_the_users_edges() -> None:
    names = [bucket.name for bucket in buckets(10_000, 10_000) if bucket.role == "size"]
    assert names == ["≤ 2 kB", "2–5 kB", "5–10 kB", "10–50 kB", "50 kB–1 MB", "> 1 MB"]


@pytest.mark.parametrize(
    ("size", "text"), [(999, "999 B"), (1500, "1.5 kB"), (10**6, "1 MB"), (2.5e9, "2.5 GB")]
)
def test_size_text__units(size: float, text: str) -> None:
    assert size_text(size) == text


def test_reduce_run__counts_and_means() -> None:
    run = HandMadeRun(
        [1000, 15_000, 15_001, 10**7], [1.0, 3.0, 5.0, 9.0], [0.5, 0.5, 0.5, 0.5], [0.5, 1, 1, 3]
    )
    facts = reduced(run)
    short, long, everything = NAMES.index("≤ 15 kB"), NAMES.index("> 150 kB"), NAMES.index("all")
    assert facts.count[short] == 2
    assert facts.statistics["response_mean_s"][short] == 2.0
    assert facts.statistics["transfer_mean_s"][short] == 1.5
    assert facts.statistics["slowdown_mean"][short] == 2.5
    assert facts.statistics["response_mean_s"][long] == 9.0
    assert facts.count[everything] == 4
    assert facts.scheme["long_goodput_bps"] == pytest.approx(8e7 / 9)


def test_reduce_run__unfinished_stand_at_their_age() -> None:
    facts = reduced(HandMadeRun([1000, 1000], [1.0, nan], stop_s=21.0))
    short = NAMES.index("≤ 15 kB")
    assert facts.censored[short] == 1
    assert facts.statistics["response_mean_s"][short] == 11.0
    assert facts.cdf[-1] == 0.5


def test_reduce_run__percentiles_need_transfers_enough() -> None:
    few, many = (reduced(HandMadeRun([1000] * n, [float(k) for k in range(1, n + 1)])) for n in (99, 101))
    assert isnan(few.statistics["response_p99_s"][0])
    assert many.statistics["response_p99_s"][0] == pytest.approx(100.0)
    assert many.statistics["response_p50_s"][0] == pytest.approx(51.0)
    assert isnan(reduced(HandMadeRun([1000] * 19, [1.0] * 19)).statistics["response_p95_s"][0])


def test_reduce_run__loss_and_marks() -> None:
    queue = [colour("green", 100, early=1, forced=2, marked=4), colour("yellow", 300, early=17)]
    facts = reduced(HandMadeRun([1000], [1.0], colours=queue))
    assert facts.scheme["loss_share"] == pytest.approx(20 / 400)
    assert facts.scheme["mark_share"] == pytest.approx(4 / 400)
    assert facts.colours["yellow"]["early"] == 17


def test_reduce_run__loss_counts_every_reason() -> None:
    queue = [colour("green", 100, early=1, forced=2, policed=3, fault=4)]
    facts = reduced(HandMadeRun([1000], [1.0], colours=queue))
    assert facts.scheme["loss_share"] == facts.scheme["uplink_loss_share"] == pytest.approx(0.1)


def test_reduce_run__cdf_rises_to_the_finished_share() -> None:
    facts = reduced(HandMadeRun([1000] * 4, [0.01, 0.1, 1.0, nan]))
    assert facts.cdf[np.searchsorted(CDF_TIMES_S, 0.05)] == 0.25
    assert facts.cdf[-1] == 0.75


def test_reduce_run__refuses_broken_conservation() -> None:
    with pytest.raises(RuntimeError, match="conservation"):
        reduced(HandMadeRun([1000], [1.0], conserved=False))


def test_reduce_run__empty_bucket_has_no_mean() -> None:
    facts = reduced(HandMadeRun([1000], [1.0]))
    assert isnan(facts.statistics["response_mean_s"][NAMES.index("> 1 MB")])
    assert isnan(facts.scheme["jain_long"])
