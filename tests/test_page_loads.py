"""Figures of recorded page loads."""

import polars as pl
import pytest

from validation.page_loads import compute_figures, find_shape


def test_page_loads__counts_hosts_and_bytes() -> None:
    rows = pl.DataFrame(
        {
            "page": ["a", "a", "a", "b", "b"],
            "host_idx": [0, 0, 1, 0, 1],
            "resp_bytes": [100, 50, 1000, 30, 5000],
            "size_src": ["T", "T", "C", "T", "X"],
        }
    )
    found = compute_figures(rows)
    assert found["pages"] == 2
    assert found["hosts of a page, mean"] == 1.5
    assert found["bytes of a page, mean"] == 590
    assert found["bytes from the host that gives most, median"] == (1000 + 30) / 2
    assert found["bytes from each other host, mean"] == 150


def test_shape__gives_the_median() -> None:
    found = find_shape(10_000, 2_000)
    assert 10_000 * (found - 1) * (2 ** (1 / found) - 1) == pytest.approx(2_000, rel=1e-4)
