"""The picture: a waterfall per scheme side by side, of the load nearest to the scheme's median."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any
from urllib.parse import urlsplit

import altair as alt

from mousehole.base import counted, size_text, time_text
from mousehole.charts import Panel, arrange_picture
from mousehole.charts.axes import label_ticks
from mousehole.charts.marks import Datum, empty_chart, make_chart
from mousehole.charts.style import COLOURS, FORE, QUIET, WORSE
from mousehole.page._results import PageResults, Trial, sort_by_request
from mousehole.page._trial import Fetch

KINDS = dict(zip(("Document", "Stylesheet", "Script", "Image", "Font", "other"),
                 (COLOURS[place] for place in (2, 6, 1, 4, 5, 7)), strict=True))  # fmt: skip
"""Colours of kinds of objects."""
WAITING = "not yet sent"
PALE, PALE_NAME = 0.35, "until the first byte"
"""Opacity of the time until the first byte."""
MARKS = (
    ("first_paint_s", "first contentful paint", [1, 2]),
    ("largest_paint_s", "largest contentful paint", [5, 3]),
    ("load_s", "load", [1, 0]),
)
WIDTH, NARROW_WIDTH = 280, 220
"""Of a panel in pixels, and of each of many panels."""
MANY_PANELS = 4
LONGEST_NAME = 30
"""Letters of a scheme's name in one line."""
MOST_NAMED = 70
"""With more objects than this their names would be too small to read."""
HIGHEST = 1300
"""Pixels of the frame of axes at most."""


def write_title(results: PageResults) -> str:
    """Returns page, protocol, number of downloads and link as text."""
    own = results.setting
    beside = f" beside {counted(own.bulk, 'download')}" if own.bulk else ""
    page = f"{own.page} ({size_text(own.size)}) over HTTP/{own.version}{beside}"
    return f"{page}; {own.rate}, {own.rtt}, buffer {own.buffer}"


@dataclass(frozen=True)
class Drawing:
    """The load nearest to each scheme's median, all with the same objects on the same axes."""

    shown: Mapping[str, Trial | None]
    rows: Sequence[str]
    """Addresses of all objects."""
    last_s: float

    @staticmethod
    def from_results(results: PageResults) -> "Drawing":
        """Returns the median load of each scheme, with the objects and the time span of all of them."""
        shown = {scheme: results.middle(scheme) for scheme in results.schemes}
        known = [trial for trial in shown.values() if trial is not None]
        return Drawing(shown, _list_addresses(known), _find_last_s(known))

    @property
    def height(self) -> int:
        """Returns the height of the frame of axes, in pixels."""
        return min(max(13 * len(self.rows), 120), HIGHEST)

    def panel(self, trial: Trial | None, is_first: bool) -> Any:
        """Returns the chart of a load, with the names of objects if `is_first`.

        For None it is an empty chart.
        """
        scale = alt.Scale(domain=[0, 1.02 * self.last_s], nice=False)
        x = alt.X("begin:Q", title="seconds", axis=alt.Axis(tickCount=6), scale=scale)
        return _draw_load(trial, list(self.rows), x, is_first=is_first)


def draw_picture(results: PageResults) -> alt.VConcatChart:
    """Returns the picture with a panel for the median load of each scheme."""
    drawn = Drawing.from_results(results)
    width = WIDTH if len(drawn.shown) <= MANY_PANELS else NARROW_WIDTH
    panels = [
        Panel("\n".join(wrap(scheme, LONGEST_NAME)), drawn.panel(trial, is_first=not place),
              width, drawn.height, [write_caption(results, scheme, trial)])
        for place, (scheme, trial) in enumerate(drawn.shown.items())
    ]  # fmt: skip
    return arrange_picture(write_title(results), [panels])


def _list_addresses(trials: list[Trial]) -> list[str]:
    """Returns the addresses in the order of the first load's requests, then those of other loads only."""
    return list(dict.fromkeys(fetch.url for trial in trials for fetch in sort_by_request(trial.load.fetches)))


def _find_last_s(trials: Iterable[Trial]) -> float:
    """Returns the last moment of all loads in seconds, at least 0.1."""
    known = [trial.load for trial in trials]
    ends = [fetch.end_s or 0.0 for load in known for fetch in load.fetches]
    return max([0.1, *ends, *(load.load_s or 0.0 for load in known)])


def write_caption(results: PageResults, scheme: str, trial: Trial | None) -> str:
    """Returns the time that a load took, and of how many loads it is the median; empty without a load."""
    if trial is None:
        return ""
    number = sum(one.counts for one in results.trials_under(scheme))
    median = f", median of {number}" if number > 1 else ""
    return f"load {time_text(trial.load.load_s)}{median}"


def _draw_load(trial: Trial | None, rows: list[str], x: alt.X, is_first: bool) -> Any:
    """Returns the waterfall of a load, with an object in each of `rows`; an empty chart for None."""
    if trial is None:
        return empty_chart("no load that counts")
    bars = make_chart([datum for fetch in trial.load.fetches for datum in _list_bars(fetch, rows)])
    names = [kind.lower() for kind in KINDS]
    colour = alt.Color("kind:N", scale=alt.Scale(domain=[*names, WAITING], range=[*KINDS.values(), QUIET]),
                       legend=alt.Legend(columns=4))  # fmt: skip
    opacity = alt.Opacity("state:N", legend=alt.Legend(columns=1),
                          scale=alt.Scale(domain=[PALE_NAME, "arriving"], range=[PALE, 1.0]))  # fmt: skip
    y = _make_row_axis(rows, is_first)
    base = bars.encode(x=x, x2="end:Q", y=y, color=colour, tooltip=[alt.Tooltip("url:N")])
    thick = base.transform_filter(f"datum.kind !== '{WAITING}'").mark_bar(height={"band": 0.72})
    thin = base.transform_filter(f"datum.kind === '{WAITING}'").mark_bar(height={"band": 0.12})
    faults = [{"begin": datum["end"], "row": datum["row"]} for datum in _mark_faults(trial, rows)]
    cross = make_chart(faults).mark_text(text="×", color=WORSE, fontSize=12, fontWeight="bold")
    marks = [
        {"begin": at, "what": name}
        for field, name, _ in MARKS if (at := getattr(trial.load, field)) is not None
    ]  # fmt: skip
    dashes = alt.Scale(domain=[name for _, name, _ in MARKS], range=[dash for *_, dash in MARKS])
    lines = make_chart(marks).mark_rule(color=FORE, strokeWidth=1.2)
    return alt.layer(
        thin,
        thick.encode(opacity=opacity),
        *([cross.encode(x=x, y=y)] if faults else []),
        lines.encode(x=x, strokeDash=alt.StrokeDash("what:N", scale=dashes, legend=alt.Legend(columns=3))),
    )


def _list_bars(fetch: Fetch, rows: list[str]) -> list[Datum]:
    """Returns the bars of an object: waiting, pale until its first byte, full until its last.

    A time that is not known counts as the one before it; bars without length are left out.
    """
    kind = (fetch.kind if fetch.kind in KINDS else "other").lower()
    sent = fetch.queued_s if fetch.sent_s is None else fetch.sent_s
    first = sent if fetch.first_byte_s is None else fetch.first_byte_s
    end = first if fetch.end_s is None else fetch.end_s
    parts = ((fetch.queued_s, sent, WAITING, "arriving"), (sent, first, kind, PALE_NAME),
             (first, end, kind, "arriving"))  # fmt: skip
    return [
        {"row": rows.index(fetch.url), "begin": begin, "end": finish, "kind": name, "state": state,
         "url": fetch.url}
        for begin, finish, name, state in parts if finish > begin
    ]  # fmt: skip


def _mark_faults(trial: Trial, rows: list[str]) -> list[Datum]:
    """Returns a mark for each object with a fault, with a status of error, or without an end.

    It is at the last time that is known of the object.
    """
    found = []
    for fetch in trial.load.fetches:
        if fetch.fault or fetch.status >= 400 or fetch.end_s is None:
            times = (fetch.end_s, fetch.first_byte_s, fetch.sent_s, fetch.queued_s)
            found.append({"row": rows.index(fetch.url),
                          "end": next(time for time in times if time is not None)})  # fmt: skip
    return found


def _make_row_axis(rows: list[str], is_first: bool) -> alt.Y:
    """Returns the axis of objects; only the first panel names them, up to `MOST_NAMED`, else counts them."""
    places = list(range(len(rows)))
    names = [_shorten_name(url) for url in rows]
    is_named = is_first and len(rows) <= MOST_NAMED
    words = f"{len(rows)} objects, in the order in which they were asked for"
    axis = alt.Axis(labels=is_named, labelExpr=label_ticks(places, names), ticks=False, domain=False,
                    grid=False, labelFontSize=10)  # fmt: skip
    heading = words if is_first and not is_named else None
    return alt.Y("row:O", scale=alt.Scale(domain=places), axis=axis, title=heading)


def _shorten_name(url: str) -> str:
    """Returns the last part of an address' path that is not empty, or `/`, cut to 24 characters."""
    name = urlsplit(url).path.rstrip("/").rpartition("/")[-1] or "/"
    return name if len(name) <= 24 else f"{name[:11]}…{name[-12:]}"
