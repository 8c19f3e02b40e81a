"""The picture: a waterfall per scheme side by side, of the load nearest to the scheme's median."""

from collections.abc import Iterable
from pathlib import Path
from textwrap import wrap
from typing import Any
from urllib.parse import urlsplit

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from mousehole.base import time_text
from mousehole.page._results import PageResults, Trial, order
from mousehole.page._trial import Fetch
from mousehole.page.show import title
from mousehole.reports import STYLE, save

COLOURS = {
    "Document": "#0072B2", "Stylesheet": "#CC79A7", "Script": "#E69F00", "Image": "#009E73",
    "Font": "#D55E00", "other": "#7F7F7F",
}  # fmt: skip
"""Okabe & Ito's palette, as in the other plots."""
WAITING = "#CCCCCC"
THIN, THICK = 0.12, 0.72
"""Heights of a bar while nothing is on its way, and from the request on."""
MARKS: tuple[tuple[str, str, str, Any], ...] = (
    ("first_paint_s", "first contentful paint", "#444444", (0, (1, 1.2))),
    ("largest_paint_s", "largest contentful paint", "#444444", (0, (4, 1.5))),
    ("load_s", "load", "#000000", "-"),
)
PALE = 0.35
"""Opacity of the time until the first byte."""
WIDTH, NARROW_WIDTH = 2.9, 2.3
"""Of a panel in inches, and of each of many panels."""
MANY_PANELS = 4
LONGEST_NAME = 30
"""Letters of a scheme's name in one line."""
MOST_NAMED = 70
"""With more objects than this their names would be too small to read."""


def draw(results: PageResults, path: Path) -> None:
    """Draws a panel per scheme, in the format of the path's suffix."""
    shown = {scheme: results.middle(scheme) for scheme in results.schemes}
    rows = _rows([trial for trial in shown.values() if trial is not None])
    with matplotlib.rc_context({**STYLE, "axes.grid": False}):
        height = min(max(0.13 * len(rows) + 1.7, 3.2), 14.0)
        width = WIDTH if len(shown) <= MANY_PANELS else NARROW_WIDTH
        figure = Figure(figsize=(1.6 + width * len(shown), height), layout="constrained")
        panels = figure.subplots(1, len(shown), sharey=True, sharex=True, squeeze=False)[0]
        panels[0].set_xlim(0, 1.02 * _last_s(shown.values()))
        for axes, (scheme, trial) in zip(panels, shown.items(), strict=True):
            _draw_panel(axes, results, scheme, trial, rows)
        _name_rows(panels[0], rows)
        figure.suptitle(title(results), x=0.01, ha="left", fontsize=11, fontweight="bold")
        _legend(figure, shown.values())
        save(figure, path)


def _rows(trials: list[Trial]) -> list[str]:
    """Returns the addresses in the order in which the first load asked for them, then those of others."""
    return list(dict.fromkeys(fetch.url for trial in trials for fetch in order(trial.load.fetches)))


def _last_s(trials: Iterable[Trial | None]) -> float:
    """Returns the last moment of all loads, at least a little."""
    known = [trial.load for trial in trials if trial is not None]
    ends = [fetch.end_s or 0.0 for load in known for fetch in load.fetches]
    return max([0.1, *ends, *(load.load_s or 0.0 for load in known)])


def _draw_panel(
    axes: Axes, results: PageResults, scheme: str, trial: Trial | None, rows: list[str]
) -> None:  # fmt: skip
    axes.set_title("\n".join(wrap(scheme, LONGEST_NAME)), fontweight="bold", pad=16)
    axes.set_xlabel("seconds")
    axes.grid(True, axis="x")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    if trial is None:
        axes.text(0.5, 0.5, "no load that counts", transform=axes.transAxes, ha="center", color="#666666")
        return
    for fetch in trial.load.fetches:
        _draw_fetch(axes, rows.index(fetch.url), fetch)
    for field, _, colour, line in MARKS:
        at = getattr(trial.load, field)
        if at is not None:
            axes.axvline(at, color=colour, linestyle=line, linewidth=1.1, zorder=3)
    number = sum(one.counts for one in results.of(scheme))
    median = f", median of {number}" if number > 1 else ""
    words = f"load {time_text(trial.load.load_s)}{median}"
    axes.annotate(words, (0, 1), (0, 4), "axes fraction", "offset points", fontsize=8)


def _draw_fetch(axes: Axes, row: int, fetch: Fetch) -> None:
    """Draws one object: waiting, then pale until its first byte, then full until its last."""
    colour = COLOURS.get(fetch.kind, COLOURS["other"])
    sent = fetch.queued_s if fetch.sent_s is None else fetch.sent_s
    first = sent if fetch.first_byte_s is None else fetch.first_byte_s
    end = first if fetch.end_s is None else fetch.end_s
    parts = ((fetch.queued_s, sent, WAITING, 1.0, THIN), (sent, first, colour, PALE, THICK),
             (first, end, colour, 1.0, THICK))  # fmt: skip
    for begin, finish, fill, opacity, height in parts:
        if finish > begin:
            axes.barh(row, finish - begin, left=begin, height=height, color=fill, alpha=opacity, linewidth=0)
    if fetch.fault or fetch.status >= 400 or fetch.end_s is None:
        axes.plot([end], [row], marker="x", color="#B00020", markersize=4, zorder=4)


def _name_rows(axes: Axes, rows: list[str]) -> None:
    if len(rows) > MOST_NAMED:
        axes.set_yticks([])
        axes.set_ylabel(f"{len(rows)} objects, in the order in which they were asked for")
        return
    axes.set_yticks(range(len(rows)), [_short_name(url) for url in rows], fontsize=6.5)


def _short_name(url: str) -> str:
    """Returns the end of an address that tells objects apart."""
    path = urlsplit(url).path
    name = path.rsplit("/", 1)[-1] or path.rsplit("/", 2)[0] or "/"
    return name if len(name) <= 24 else f"{name[:11]}…{name[-12:]}"


def _legend(figure: Figure, trials: Iterable[Trial | None]) -> None:
    kinds = dict.fromkeys(
        fetch.kind if fetch.kind in COLOURS else "other"
        for trial in trials if trial is not None for fetch in trial.load.fetches
    )  # fmt: skip
    shown = [kind for kind in COLOURS if kind in kinds]
    entries: dict[str, Any] = {kind.lower(): Patch(color=COLOURS[kind]) for kind in shown}
    entries["until the first byte"] = tuple(Patch(color=COLOURS[kind], alpha=PALE) for kind in shown[:3])
    entries["not yet sent"] = Line2D([], [], color=WAITING, linewidth=1.6)
    for _, name, colour, line in MARKS:
        entries[name] = Line2D([], [], color=colour, linestyle=line)
    figure.legend(
        list(entries.values()), list(entries), loc="outside lower left", ncols=5, handlelength=2.4,
        handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
    )  # fmt: skip
