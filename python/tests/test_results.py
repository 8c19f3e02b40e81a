"""Rows of results as plain values."""

from math import nan

from mousehole.base import buckets
from mousehole.runs import BucketRow, Change, GroupRow, SizeRow, to_record
from mousehole.statistics import Estimate

PLACE = {"buffer": "50p", "load": 0.9, "scheme": "sfd"}


def test_as_record__an_estimate_has_three_columns_with_the_unit_last() -> None:
    row = BucketRow(
        **PLACE,  # type: ignore[arg-type]
        is_baseline=False,
        bucket=buckets(15_000, 150_000)[0],
        count=7,
        censored=0,
        censored_share=0.0,
        is_bound=False,
        estimates={
            "response_mean_s": Estimate(1.0, 0.5, 1.5, 5),
            "slowdown_mean": Estimate(nan, nan, nan, 0),
        },
        response_mean_change=Estimate(-0.3, nan, nan, 3),
    )
    record = to_record(row)
    assert record == {
        **PLACE, "is_baseline": False, "bucket": "≤ 2 kB", "role": "size", "low_bytes": 0, "high_bytes": 2000,
        "count": 7, "censored": 0, "censored_share": 0.0, "is_bound": False,
        "response_mean_s": 1.0, "response_mean_low_s": 0.5, "response_mean_high_s": 1.5,
        "slowdown_mean": None, "slowdown_mean_low": None, "slowdown_mean_high": None,
        "response_mean_change": -0.3, "response_mean_change_low": None, "response_mean_change_high": None,
    }  # fmt: skip


def test_as_record__a_change_says_what_its_ends_are() -> None:
    row = SizeRow("50p", None, "sfd", "fq-codel", "≤ 2 kB", 3, Change(0.1, 0.0, 0.2, is_interval=False))
    record = to_record(row)
    assert record["load"] is None
    assert record["response_mean_change_high"] == 0.2
    assert record["response_mean_change_is_interval"] is False


def test_as_record__figures_keep_the_name_of_their_unit_in_what() -> None:
    figure = GroupRow(
        "50p",
        0.9,
        "sfd",
        False,
        "pages",
        None,
        "page_mean_s",
        True,
        Estimate(2, 1, 3, 5),
        Estimate(0, 0, 0, 5),
    )
    assert to_record(figure).keys() >= {"what", "value", "value_low", "value_high", "change_low"}
