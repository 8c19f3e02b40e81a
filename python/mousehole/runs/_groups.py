"""Figures of one run by application: sources, pages, misbehaving senders, calls, long-lived flows.

Every figure is one number per run, addressed by (group, what), so that a comparison can treat all of them in
the same way.
"""

from math import nan

import numpy as np
import polars as pl

from mousehole.engine_types import DatagramColumns, FlowColumns, TransferColumns

Figures = dict[tuple[str, str], float]
"""(group, what) → value; `what` is one of `FIGURES`."""

FIGURES = {
    "response_mean_s": "mean response time",
    "page_mean_s": "mean page time",
    "delay_p95_s": "one-way delay, p95",
    "loss_share": "datagrams lost",
    "goodput_bps": "goodput per long-lived flow",
}
"""What a figure measures, with its name for people."""
LESS_IS_BETTER = {name: name != "goodput_bps" for name in FIGURES}
_OF_OBJECTS = ("object_key", "write", "source", "cheats", "object_bytes", "start_s", "end_s")
_OF_PAGES = ("page", "page_transfers", "key", "object_key", "write", "cheats", "start_s", "end_s")
"""The columns from which objects and pages are computed."""
CHEATING, HONEST = "cheating", "honest, as large"


def figures(
    transfers: TransferColumns, datagrams: DatagramColumns, flows: FlowColumns, end_s: float
) -> Figures:
    """Returns the figures of one run that ended at `end_s` seconds, without those that do not apply."""
    return {
        **_of_transfers(transfers, end_s),
        **_datagrams(pl.DataFrame(datagrams)),
        **_long_lived(pl.DataFrame(flows)),
    }


def _of_transfers(transfers: TransferColumns, end_s: float) -> Figures:
    """Returns the figures of sources, pages and misbehaving senders; builds frames only if there are any."""
    several, cheats = len(set(transfers["source"])) > 1, bool(np.asarray(transfers["cheats"]).any())
    found: Figures = {}
    if several or cheats:
        objects = _objects(_frame(transfers, _OF_OBJECTS), end_s)
        found |= _by_source(objects)
    if np.asarray(transfers["page"]).any():
        found |= _pages(_frame(transfers, _OF_PAGES), end_s)
    return found | _cheats(objects) if cheats else found


def _frame(transfers: TransferColumns, names: tuple[str, ...]) -> pl.DataFrame:
    columns: dict[str, object] = dict(transfers)
    return pl.DataFrame({name: columns[name] for name in names})


def _objects(transfers: pl.DataFrame, end_s: float) -> pl.DataFrame:
    """Returns one row per object; its time is from the first start to the last end of its pieces."""
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
    """Returns the mean time from first start to last end, of pages all of whose transfers were measured.

    The pieces in which a misbehaving sender sends an object count as one transfer of the page.
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
    """Returns the figures of misbehaving senders, and of honest ones with objects as large as theirs."""
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


def _long_lived(flows: pl.DataFrame) -> Figures:
    return {
        (name, "goodput_bps"): _mean(flows.filter(pl.col("source") == name)["goodput_bps"])
        for name in flows["source"].unique(maintain_order=True).to_list()
    }


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, float) else nan
