"""One run by application: response times by source, pages, cheats and honest ones, calls, flows without end.

Every figure is one number per run under (group, what), so that comparison treats them all alike.
"""

from collections.abc import Mapping
from math import nan
from typing import Any

import numpy as np
import polars as pl

Columns = Mapping[str, Any]
"""A table of records as the engine gives it: an array or list for each column."""
Figures = dict[tuple[str, str], float]
"""(group, what) → value; `what` is one of `FIGURES`."""

FIGURES = {
    "response_mean_s": "mean response time",
    "page_mean_s": "mean page time",
    "delay_p95_s": "one-way delay, p95",
    "loss_share": "datagrams lost",
    "goodput_bps": "goodput of flows without end, each",
}
"""What is measured, in words."""
LESS_IS_BETTER = {name: name != "goodput_bps" for name in FIGURES}
_OF_OBJECTS = ("object_key", "write", "source", "cheats", "object_bytes", "start_s", "end_s")
_OF_PAGES = ("page", "page_transfers", "key", "object_key", "write", "cheats", "start_s", "end_s")
"""The columns that objects and pages are made of."""
CHEATING, HONEST = "cheating", "honest, as large"


def figures(transfers: Columns, datagrams: Columns, flows: Columns, end_s: float) -> Figures:
    """The figures of one run that ended at `end_s` seconds; those that do not apply are left out."""
    return {
        **_of_transfers(transfers, end_s),
        **_datagrams(pl.DataFrame(datagrams)),
        **_endless(pl.DataFrame(flows)),
    }


def _of_transfers(transfers: Columns, end_s: float) -> Figures:
    """Sources, pages and cheats; the columns are only looked at where there are any."""
    several, cheats = len(set(transfers["source"])) > 1, bool(np.asarray(transfers["cheats"]).any())
    found: Figures = {}
    if several or cheats:
        objects = _objects(pl.DataFrame({name: transfers[name] for name in _OF_OBJECTS}), end_s)
        found |= _by_source(objects)
    if np.asarray(transfers["page"]).any():
        found |= _pages(pl.DataFrame({name: transfers[name] for name in _OF_PAGES}), end_s)
    return found | _cheats(objects) if cheats else found


def _objects(transfers: pl.DataFrame, end_s: float) -> pl.DataFrame:
    """Whole objects: the pieces of a split one count together, from the first start to the last end."""
    ended = pl.col("end_s").fill_nan(end_s)
    return transfers.group_by("object_key", "write", maintain_order=True).agg(
        pl.col("source").first(),
        pl.col("cheats").first(),
        pl.col("object_bytes").first().alias("bytes"),
        (ended.max() - pl.col("start_s").min()).alias("response_s"),
    )


def _by_source(objects: pl.DataFrame) -> Figures:
    names = objects["source"].unique(maintain_order=True).to_list()
    if len(names) < 2:
        return {}
    return {
        (name, "response_mean_s"): _mean(objects.filter(pl.col("source") == name)["response_s"])
        for name in names
    }


def _pages(transfers: pl.DataFrame, end_s: float) -> Figures:
    """Pages of which every transfer was measured: from the first start to the last end.

    The pieces of a sender that cheats count as the one transfer that the page knows of.
    """
    ended = pl.col("end_s").fill_nan(end_s)
    whole = pl.when("cheats").then("object_key").otherwise("key")
    pages = (
        transfers.filter(pl.col("page") > 0)
        .group_by("page", maintain_order=True)
        .agg(
            (ended.max() - pl.col("start_s").min()).alias("page_s"),
            pl.col("page_transfers").first().alias("wanted"),
            pl.struct(whole, "write").n_unique().alias("measured"),
        )
        .filter(pl.col("measured") == pl.col("wanted"))
    )
    several = pages.filter(pl.col("wanted") > 1)
    return {("pages", "page_mean_s"): _mean(pages["page_s"])} if len(several) else {}


def _cheats(objects: pl.DataFrame) -> Figures:
    """Cheating senders, and honest ones with objects as large as the smallest of theirs."""
    cheating = objects.filter("cheats")
    least = cheating["bytes"].min()
    honest = objects.filter(~pl.col("cheats") & (pl.col("bytes") >= least))
    small = objects.filter(~pl.col("cheats") & (pl.col("bytes") < least))
    return {
        (CHEATING, "response_mean_s"): _mean(cheating["response_s"]),
        (HONEST, "response_mean_s"): _mean(honest["response_s"]),
        ("honest, smaller", "response_mean_s"): _mean(small["response_s"]),
    }


def _datagrams(flows: pl.DataFrame) -> Figures:
    found: Figures = {}
    for name in flows["source"].unique(maintain_order=True).to_list():
        own = flows.filter(pl.col("source") == name)
        found[name, "delay_p95_s"] = _mean(own["delay_p95_s"].drop_nans())
        sent = float(own["sent"].sum())
        found[name, "loss_share"] = float(own["lost"].sum()) / sent if sent else nan
    return found


def _endless(flows: pl.DataFrame) -> Figures:
    return {
        (name, "goodput_bps"): _mean(flows.filter(pl.col("source") == name)["goodput_bps"])
        for name in flows["source"].unique(maintain_order=True).to_list()
    }


def _mean(values: pl.Series) -> float:
    mean: Any = values.mean()
    return nan if mean is None else float(mean)
