from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from math import isnan, nan
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from mousehole.answer import _install as install
from mousehole.answer import advice
from mousehole.base import CDF_TIMES_S, CURVE_EDGES_BYTES, buckets, size_text
from mousehole.runs import RunFacts, Shares, reduce_run, with_shares
from mousehole.runs import _facts as facts_module
from numpy.typing import NDArray
from support import HandMadeRun, make_colour

BUCKETS = buckets(15_000, 150_000)
NAMES = [bucket.name for bucket in BUCKETS]


def reduce_by_hand(run: HandMadeRun) -> RunFacts:
    """Returns the facts of a run made by hand."""
    return reduce_run(run, BUCKETS)  # type: ignore[arg-type]


def test_buckets__divide_all_sizes() -> None:
    assert NAMES == [
        "≤ 2 kB", "2–5 kB", "5–15 kB", "15–50 kB", "50–150 kB", "150 kB–1 MB", "> 1 MB",
        "≤ 15 kB", "> 150 kB", "all",
    ]  # fmt: skip
    sizes = [1, 2000, 2001, 15_000, 15_001, 150_000, 10**6, 10**6 + 1, 10**9]
    for size in sizes:
        assert sum(bucket.holds(size) for bucket in BUCKETS if bucket.role == "size") == 1


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
    facts = reduce_by_hand(run)
    short, long, everything = NAMES.index("≤ 15 kB"), NAMES.index("> 150 kB"), NAMES.index("all")
    assert facts.count[short] == 2
    assert facts.statistics["response_mean_s"][short] == 2.0
    assert facts.statistics["transfer_mean_s"][short] == 1.5
    assert facts.statistics["slowdown_mean"][short] == 2.5
    assert facts.statistics["response_mean_s"][long] == 9.0
    assert facts.count[everything] == 4
    assert facts.scheme["long_goodput_bps"] == pytest.approx(8e7 / 9)


def test_reduce_run__unfinished_stand_at_their_age() -> None:
    facts = reduce_by_hand(HandMadeRun([1000, 1000], [1.0, nan], stop_s=21.0))
    short = NAMES.index("≤ 15 kB")
    assert facts.censored[short] == 1
    assert facts.statistics["response_mean_s"][short] == 11.0
    assert facts.cdf[-1] == 0.5


def test_reduce_run__percentiles_need_transfers_enough() -> None:
    few, many = (
        reduce_by_hand(HandMadeRun([1000] * n, [float(k) for k in range(1, n + 1)])) for n in (99, 101)
    )
    assert isnan(few.statistics["response_p99_s"][0])
    assert many.statistics["response_p99_s"][0] == pytest.approx(100.0)
    assert many.statistics["response_p95_s"][0] == pytest.approx(96.0)
    assert many.statistics["response_p50_s"][0] == pytest.approx(51.0)
    assert isnan(reduce_by_hand(HandMadeRun([1000] * 19, [1.0] * 19)).statistics["response_p95_s"][0])


def test_reduce_run__loss_and_marks() -> None:
    queue = [make_colour("green", 100, early=1, forced=2, marked=4), make_colour("yellow", 300, early=17)]
    facts = reduce_by_hand(HandMadeRun([1000], [1.0], colours=queue))
    assert facts.scheme["loss_share"] == pytest.approx(20 / 400)
    assert facts.scheme["mark_share"] == pytest.approx(4 / 400)
    assert facts.colours["yellow"]["early"] == 17


def test_reduce_run__loss_counts_every_reason() -> None:
    queue = [make_colour("green", 100, early=1, forced=2, policed=3, fault=4)]
    facts = reduce_by_hand(HandMadeRun([1000], [1.0], colours=queue))
    assert facts.scheme["loss_share"] == facts.scheme["uplink_loss_share"] == pytest.approx(0.1)


def test_reduce_run__cdf_rises_to_the_finished_share() -> None:
    facts = reduce_by_hand(HandMadeRun([1000] * 4, [0.01, 0.1, 1.0, nan]))
    assert facts.cdf[np.searchsorted(CDF_TIMES_S, 0.05)] == 0.25
    assert facts.cdf[-1] == 0.75


def test_reduce_run__refuses_broken_conservation() -> None:
    with pytest.raises(RuntimeError, match="conservation"):
        reduce_by_hand(HandMadeRun([1000], [1.0], conserved=False))


def test_reduce_run__empty_bucket_has_no_mean() -> None:
    facts = reduce_by_hand(HandMadeRun([1000], [1.0]))
    assert isnan(facts.statistics["response_mean_s"][NAMES.index("> 1 MB")])
    assert isnan(facts.scheme["jain_long"])


def test_reduce_run__rates_leave_out_unfinished_transfers() -> None:
    # 8 Mbit in 8 s and in 4 s: 1 and 2 Mb/s; Jain's index is 3² / (2 · (1 + 4)). The third never ends.
    facts = reduce_by_hand(HandMadeRun([10**6] * 3, [8.0, 4.0, nan]))
    assert facts.scheme["long_goodput_bps"] == pytest.approx(1.5e6)
    assert facts.scheme["jain_long"] == pytest.approx(0.9)


def test_reduce_run__rates_leave_out_transfers_that_are_not_long() -> None:
    facts = reduce_by_hand(HandMadeRun([10**6, 150_000, 1000], [8.0, 1.0, 1.0]))
    assert facts.scheme["long_goodput_bps"] == pytest.approx(1e6)
    assert facts.scheme["jain_long"] == pytest.approx(1.0)


def test_reduce_run__counts_unfinished_transfers_per_bucket() -> None:
    facts = reduce_by_hand(HandMadeRun([1000, 1000, 3000, 10**7], [1.0, nan, nan, nan]))
    censored = dict(zip(NAMES, facts.censored.tolist(), strict=True))
    assert {name: count for name, count in censored.items() if count} == {
        "≤ 2 kB": 1, "2–5 kB": 1, "> 1 MB": 1, "≤ 15 kB": 2, "> 150 kB": 1, "all": 3,
    }  # fmt: skip


@pytest.mark.parametrize(("name", "least"), [("p50", 1), ("p95", 20), ("p99", 100)])
def test_reduce_run__percentiles_begin_at_their_number_of_transfers(name: str, least: int) -> None:
    def percentile(count: int) -> float:
        facts = reduce_by_hand(HandMadeRun([1000] * count + [10**7], [1.0] * (count + 1)))
        return float(facts.statistics[f"response_{name}_s"][0])  # type: ignore[index]

    assert percentile(least) == 1.0
    assert isnan(percentile(least - 1))


def test_reduce_run__curve_bins_hold_their_upper_edge() -> None:
    low, high = (float(edge) for edge in CURVE_EDGES_BYTES[10:12])  # 10 kB to 15.8 kB
    facts = reduce_by_hand(HandMadeRun([round(low), round(low) + 1, int(high)], [1.0, 3.0, 5.0]))
    assert facts.curve_count.tolist() == [0] * 9 + [1, 2] + [0] * 19
    assert facts.curve_mean_s[9] == 1.0
    assert facts.curve_mean_s[10] == 4.0


def test_reduce_run__curve_takes_sizes_beyond_its_ends() -> None:
    facts = reduce_by_hand(HandMadeRun([1, 10**9], [1.0, 2.0]))
    assert facts.curve_count.tolist() == [1] + [0] * (len(CURVE_EDGES_BYTES) - 3) + [1]
    assert facts.curve_mean_s[[0, -1]].tolist() == [1.0, 2.0]


def test_reduce_run__cdf_of_a_single_short_transfer_and_of_none() -> None:
    one = reduce_by_hand(HandMadeRun([1000, 10**7], [float(CDF_TIMES_S[300]), 1.0]))
    assert one.cdf.tolist() == [0.0] * 300 + [1.0] * (len(CDF_TIMES_S) - 300)
    with np.errstate(all="raise"):  # a share of nothing is missing, not divided by zero
        none = reduce_by_hand(HandMadeRun([10**7], [1.0]))
    assert np.isnan(none.cdf).all()


def test_reduce_run__cdf_holds_its_own_times_and_only_short_transfers() -> None:
    at = float(CDF_TIMES_S[300])
    facts = reduce_by_hand(HandMadeRun([1000, 1000, 10**7], [at, 2 * at, at / 10]))
    assert facts.cdf[299] == 0.0
    assert facts.cdf[300] == 0.5


def test_reduce_run__counts_marks_and_losses_of_every_colour_and_both_links() -> None:
    run = HandMadeRun([1000], [1.0], colours=[make_colour("green", 0), make_colour("red", 10, policed=5)])
    facts = reduce_by_hand(run)
    assert facts.scheme["loss_share"] == 0.5
    assert facts.colours["red"]["dropped"] == 5
    assert facts.colours["red"]["policed"] == 5


def test_reduce_run__means_of_retransmissions_and_timeouts_are_per_transfer() -> None:
    class Lossy(HandMadeRun):
        def transfers(self) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
            rows = super().transfers()
            return {**rows, "retransmits": np.array([3, 0]), "timeouts": np.array([0, 1])}

    facts = reduce_by_hand(Lossy([1000, 10**7], [1.0, 1.0]))
    assert facts.scheme["retransmits_per_transfer"] == 1.5
    assert facts.scheme["timeouts_per_transfer"] == 0.5


@dataclass
class Columns(HandMadeRun):
    """A run with some columns of its transfers, and entries of its summary, given by hand."""

    columns: dict[str, list[Any]] = field(default_factory=dict)
    entries: dict[str, Any] = field(default_factory=dict)

    def transfers(self) -> dict[str, NDArray[Any]]:
        """Returns the transfers with some columns replaced."""
        rows = super().transfers()
        return {**rows, **{name: np.array(self.columns[name], rows[name].dtype) for name in self.columns}}

    def summary(self) -> dict[str, Any]:
        """Returns the summary with some entries replaced."""
        return {**super().summary(), **self.entries}


def test_reduce_run__window_load_is_of_wire_bytes_downwards() -> None:
    run = Columns([1000, 1460, 1461, 10**6], [1.0] * 4, columns={"upload": [False, False, False, True]})
    # payload, a header for each segment and one for the SYN-ACK, over 1 Mbit/s in 100 s
    wire = (1000 + 2 * 40) + (1460 + 2 * 40) + (1461 + 3 * 40)
    assert reduce_by_hand(run).window_load == pytest.approx(8 * wire / (1e6 * 100))


def test_reduce_run__short_by_time_has_forty_parts_of_the_window() -> None:
    starts, times = [10.0, 11.9, 12.0, 89.9, 90.0, 30.0], [1, 2, 4, 8, 16, 32]
    ends = [start + time for start, time in zip(starts, times, strict=True)]
    window = {"window_begin_s": 10.0, "window_end_s": 90.0}
    run = Columns([1000] * 5 + [10**7], ends, columns={"start_s": starts}, entries=window)
    by_time = reduce_by_hand(run).short_by_time
    assert by_time[[0, 1, 39]] == pytest.approx([1.5, 4, 12])
    assert len(by_time) == 40
    assert np.isnan(by_time[2:39]).all()


def find_shares(own: HandMadeRun, other: HandMadeRun) -> Shares | None:
    """Returns the shares of `own` against `other`."""
    runs = {"own": reduce_by_hand(own), "other": reduce_by_hand(other)}
    return with_shares(runs, ["other"])["own"].shares.get("other")


def test_with_shares__one_percent_is_neither_slower_nor_faster() -> None:
    same = HandMadeRun([1000] * 8, [1.0] * 8)
    own = HandMadeRun([1000] * 8, [1.01, 1.02, 1.5, 1.9, 0.99, 0.98, 1.0, 1.0])
    assert find_shares(own, same) == Shares(slower=3 / 8, faster=1 / 8)


def test_with_shares__needs_95_of_100_transfers_in_both() -> None:
    many = HandMadeRun([1000] * 20, [1.0] * 20)
    assert find_shares(HandMadeRun([1000] * 19, [1.0] * 19), many) == Shares(0.0, 0.0)
    assert find_shares(many, HandMadeRun([1000] * 19, [1.0] * 19)) == Shares(0.0, 0.0)
    assert find_shares(HandMadeRun([1000] * 18, [1.0] * 18), many) is None
    assert find_shares(many, HandMadeRun([1000] * 18, [1.0] * 18)) is None
    assert find_shares(HandMadeRun([10**7], [1.0]), HandMadeRun([10**7], [1.0])) is None, "none is short"


def test_with_shares__pairs_transfers_by_connection_and_write() -> None:
    own = Columns([1000] * 3, [1.0, 2.0, 3.0], columns={"key": [7, 7, 9], "write": [0, 1, 1]})
    other = Columns([1000] * 3, [3.0, 2.0, 1.0], columns={"key": [9, 7, 7], "write": [1, 1, 0]})
    assert find_shares(own, other) == Shares(0.0, 0.0)
    # connections whose keys differ by one, as the writes do
    own = Columns([1000] * 4, [1.0, 2.0, 3.0, 4.0], columns={"key": [2, 2, 3, 3], "write": [0, 1, 0, 1]})
    other = Columns([1000] * 4, [4.0, 3.0, 2.0, 1.0], columns={"key": [3, 3, 2, 2], "write": [1, 0, 1, 0]})
    assert find_shares(own, other) == Shares(0.0, 0.0)


def test_with_shares__drops_the_times_and_compares_with_others_only() -> None:
    runs = {name: reduce_by_hand(HandMadeRun([1000], [1.0])) for name in ("a", "b")}
    found = with_shares(runs, ["a"])
    assert [run.short_times for run in found.values()] == [None, None]
    assert [list(run.shares) for run in found.values()] == [[], ["a"]]
    assert with_shares(found, ["a"])["b"].shares == {}, "the times are gone"
    for gone in runs:
        one = {**runs, gone: replace(runs[gone], short_times=None)}
        assert with_shares(one, ["a"])["b"].shares == {}


def test_reduce_run__transfer_time_begins_with_the_first_data() -> None:
    run = HandMadeRun([1000, 1000], [3.0, 3.0], first_data_s=[1.0, nan])
    assert reduce_by_hand(run).statistics["transfer_mean_s"][0] == 1.0, "2 s, and 0 where none was sent"


def test_reduce_run__reordered_share_is_of_all_packets() -> None:
    def reordered(packets: int, late: int) -> float:
        entries = {"packets": packets, "reordered": late}
        return reduce_by_hand(Columns([1000], [1.0], entries=entries)).scheme["reordered_share"]

    assert (reordered(4, 1), reordered(1, 1), reordered(0, 0)) == (0.25, 1.0, 0.0)


def test_reduce_run__statistics_of_the_two_links_come_from_their_own_counters() -> None:
    class TwoLinks(HandMadeRun):
        def queues(self) -> list[dict[str, Any]]:
            down, up = super().queues()
            own = {"utilisation": 0.1, "capacity_bps": 1, "colours": [make_colour("green", 10, early=5)]}
            return [down, {**up, **own}, {**up, **own, "utilisation": 0.3}]

    facts = reduce_by_hand(TwoLinks([1000], [1.0]))
    assert facts.colours["green"]["arrived"] == 100
    assert facts.window_load == pytest.approx(8 * 1080 / (1e6 * 100))
    scheme = facts.scheme
    assert (scheme["utilisation"], scheme["uplink_utilisation"]) == (0.8, 0.1)
    assert (scheme["loss_share"], scheme["uplink_loss_share"]) == (pytest.approx(3 / 150), 0.5)
    assert scheme["queue_mean_packets"] == 3.0


def test_reduce_run__without_arrivals_nothing_is_lost() -> None:
    assert (
        reduce_by_hand(HandMadeRun([1000], [1.0], colours=[make_colour("green", 0)])).scheme["loss_share"]
        == 0.0
    )


def test_reduce_run__rates_of_long_transfers_are_of_finished_ones() -> None:
    scheme = reduce_by_hand(HandMadeRun([10**6, 10**6, 10**6, 1000], [1.0, 2.0, nan, 0.5])).scheme
    assert scheme["long_goodput_bps"] == pytest.approx((8e6 + 4e6) / 2)
    assert scheme["jain_long"] == pytest.approx((8 + 4) ** 2 / (2 * (64 + 16)))


@pytest.mark.parametrize("module", [facts_module, advice, install])
def test_records__are_frozen(module: ModuleType) -> None:
    """Threads make them, and tables, findings and notes share them."""
    kinds = [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and is_dataclass(kind) and kind.__module__ == module.__name__
    ]
    assert kinds
    for kind in kinds:
        made = kind(**{one.name: None for one in fields(kind)})
        with pytest.raises(FrozenInstanceError):
            setattr(made, fields(kind)[0].name, 0)
