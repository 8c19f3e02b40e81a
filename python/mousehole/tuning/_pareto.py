"""The picture of a search: what one quantity gains against what another pays, schemes beside each other."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mousehole.reports import STYLE, ratio_axis, save
from mousehole.statistics import Estimate
from mousehole.tuning._results import DEFAULT, FINALIST, TuneResults
from mousehole.tuning.objectives import Quantity

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""One per searched scheme (Okabe & Ito's palette)."""
MARKERS = ("o", "s", "^", "D", "v", "P")
GREY, INK = "#777777", "#222222"
LEAST_SPAN = 0.15
"""The axes span at least so much on either side of zero, in powers of two."""
SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""Where a name may stand: right or left of its point, above or below."""
LETTER = 0.0105
"""Width of a letter of a name, as a part of the picture."""
ROOM = 0.09
"""Room around what is drawn, as a part of its extent."""


def draw(found: TuneResults, path: Path) -> None:
    """Draws the first objective against the first other quantity, in the format of the path's suffix."""
    with matplotlib.rc_context(STYLE):
        save(figure(found), path)


def figure(found: TuneResults) -> Figure:
    """Returns the picture."""
    made = Figure(figsize=(8.6, 6.2), layout="constrained")
    axes = made.subplots()
    gain, price = found.goal.objectives[0], found.goal.prices[0]
    points = _Points(found, price, gain)
    for place, family in enumerate(found.families):
        _draw_family(axes, points, family, COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)])
    _frame(axes, points)
    _draw_references(axes, points)
    _draw_limits(axes, found, price, gain)
    axes.axhline(0, color="#999999", linewidth=0.8, zorder=1)
    axes.axvline(0, color="#999999", linewidth=0.8, zorder=1)
    axes.set_xlabel(_label(price, found.baseline))
    axes.set_ylabel(_label(gain, found.baseline))
    ratio_axis(axes, "x")
    ratio_axis(axes, "y")
    made.suptitle(f"{found.label}: what {gain.name} gains, what {price.name} pays", x=0.01, ha="left",
                  fontsize=11, fontweight="bold")  # fmt: skip
    account = found.account
    axes.set_title(
        f"large: {account.judged_replications} unseen replications, 95 % intervals; "
        f"small: settings tried, on {account.search_replications} others",
        fontsize=8.5, color=GREY,
    )  # fmt: skip
    made.legend(loc="outside lower left", ncols=2, fontsize=8.5, handlelength=2.4)
    return made


class _Points:
    """Places of schemes in the picture: powers of two of the ratios to the baseline."""

    def __init__(self, found: TuneResults, price: Quantity, gain: Quantity) -> None:
        self.found, self.price, self.gain = found, price, gain

    def judged(self, role: str, family: str | None = None) -> list[tuple[str, Estimate, Estimate]]:
        """Returns scheme, price and gain of what was judged, cheapest first."""
        found = self.found
        rows = [row for row in found.judged if row.reference == found.baseline and row.role == role]
        schemes = dict.fromkeys(row.scheme for row in rows if family is None or row.family == family)
        places = [(scheme, self._of(scheme, self.price), self._of(scheme, self.gain)) for scheme in schemes]
        known = [place for place in places if isfinite(place[1].mean) and isfinite(place[2].mean)]
        return sorted(known, key=lambda place: place[1].mean)

    def tried(self, family: str) -> list[tuple[float, float]]:
        """Returns price and gain of the settings that were run on all replications of the search."""
        rows = [row for row in self.found.trials if row.family == family and not row.is_stopped]
        by_number: dict[int, dict[str, float]] = {}
        for row in rows:
            by_number.setdefault(row.number, {})[row.quantity] = row.change
        pairs = [(one[self.price.name], one[self.gain.name]) for one in by_number.values()]
        return [(_log(x), _log(y)) for x, y in pairs if isfinite(x) and isfinite(y)]

    def all_judged(self) -> list[tuple[str, Estimate, Estimate]]:
        """Returns everything that was judged."""
        roles = dict.fromkeys(row.role for row in self.found.judged)
        return [place for role in roles for place in self.judged(role)]

    def _of(self, scheme: str, one: Quantity) -> Estimate:
        row = self.found.change(scheme, one.name)
        if row is None:
            return Estimate(float("nan"), float("nan"), float("nan"), 0)
        change = row.unseen
        return Estimate(_log(change.mean), _log(change.low), _log(change.high), change.count)


def _log(change: float) -> float:
    return float(np.log2(1 + change)) if isfinite(change) and change > -1 else float("nan")


def _draw_family(axes: Axes, points: _Points, family: str, colour: str, marker: str) -> None:
    tried = points.tried(family)
    axes.scatter(
        [x for x, _ in tried], [y for _, y in tried], s=9, color=colour, alpha=0.35, linewidths=0, zorder=2
    )
    judged = points.judged(FINALIST, family)
    best = _lower_left(judged)
    axes.plot(
        [x.mean for _, x, _ in best], [y.mean for _, _, y in best], color=colour, linewidth=1.4, zorder=3
    )
    for scheme, x, y in judged:
        _cross(axes, x, y, colour)
        is_chosen = scheme == points.found.recommended
        axes.plot([x.mean], [y.mean], marker=marker, color=colour, markersize=8, markeredgecolor="white",
                  linestyle="none", zorder=5)  # fmt: skip
        if is_chosen:
            axes.plot([x.mean], [y.mean], marker="o", markersize=17, markerfacecolor="none",
                      markeredgecolor=INK, markeredgewidth=1.3, zorder=6)  # fmt: skip
    for _, x, y in points.judged(DEFAULT, family):
        _cross(axes, x, y, colour)
        axes.plot([x.mean], [y.mean], marker=marker, markerfacecolor="white", markeredgecolor=colour,
                  markeredgewidth=1.6, markersize=8, linestyle="none", zorder=4)  # fmt: skip
    axes.plot([], [], color=colour, marker=marker, markersize=7, markeredgecolor="white", linewidth=1.4,
              label=f"{family}  (hollow: as it is)")  # fmt: skip


def _lower_left(judged: Sequence[tuple[str, Estimate, Estimate]]) -> list[tuple[str, Estimate, Estimate]]:
    """Returns those for which no cheaper one gains as much."""
    kept: list[tuple[str, Estimate, Estimate]] = []
    for place in judged:
        if not kept or place[2].mean < kept[-1][2].mean:
            kept.append(place)
    return kept


def _draw_references(axes: Axes, points: _Points) -> None:
    found = points.found
    names = {found.baseline: (0.0, 0.0)}
    special = {row.scheme for row in found.judged if row.role in (FINALIST, DEFAULT)}
    for scheme, x, y in points.all_judged():
        if scheme in special:
            continue
        _cross(axes, x, y, GREY)
        axes.plot([x.mean], [y.mean], marker="X", color=INK, markersize=7.5, markeredgecolor="white",
                  linestyle="none", zorder=5)  # fmt: skip
        names[scheme] = x.mean, y.mean
    axes.plot(
        [0], [0], marker="X", color=INK, markersize=7.5, markeredgecolor="white", linestyle="none", zorder=5
    )
    _name(axes, names)
    if found.recommended is not None:
        axes.plot([], [], marker="o", markersize=12, markerfacecolor="none", markeredgecolor=INK,
                  linestyle="none", label="recommended")  # fmt: skip


def _name(axes: Axes, names: Mapping[str, tuple[float, float]]) -> None:
    """Writes names beside their points, on the side where there are the fewest other names and points."""
    box = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.75}
    (left, right_end), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    extent = np.array([right_end - left, top - bottom])
    taken = [np.array(point) / extent for point in names.values()]
    for scheme, point in names.items():
        half = np.array([0.01 + LETTER * len(scheme) / 2, 0.022])
        places = [np.array(point) / extent + np.array(side) * (half + 0.003) for side in SIDES]
        crowds = [sum(bool(np.all(np.abs(other - place) < half)) for other in taken) for place in places]
        chosen = crowds.index(min(crowds))
        right, above = SIDES[chosen]
        offset = (7 * right, 6 if above > 0 else -13)
        axes.annotate(scheme, point, xytext=offset, textcoords="offset points", fontsize=8.5, color=INK,
                      ha="left" if right > 0 else "right", zorder=7, bbox=box)  # fmt: skip
        taken.append(places[chosen])


def _cross(axes: Axes, x: Estimate, y: Estimate, colour: str) -> None:
    """Draws both intervals of a point."""
    if x.has_interval:
        axes.plot([x.low, x.high], [y.mean, y.mean], color=colour, linewidth=1.0, alpha=0.38, zorder=2.5)
    if y.has_interval:
        axes.plot([x.mean, x.mean], [y.low, y.high], color=colour, linewidth=1.0, alpha=0.38, zorder=2.5)


def _frame(axes: Axes, points: _Points) -> None:
    """Shows everything judged with most of its intervals, and the settings tried as far as they are near."""
    judged = [(x.mean, y.mean) for _, x, y in points.all_judged()]
    tried = [place for family in points.found.families for place in points.tried(family)]
    for number, setter in ((0, axes.set_xlim), (1, axes.set_ylim)):
        own = [place[number] for place in judged] + [-LEAST_SPAN, LEAST_SPAN]
        low, high = min(own), max(own)
        near = [place[number] for place in tried]
        if near:
            lowest, highest = (float(np.quantile(near, share)) for share in (0.05, 0.8))
            extent = high - low
            low, high = min(low, max(lowest, low - extent)), max(high, min(highest, high + extent))
        room = ROOM * (high - low)
        setter(low - room, high + room)


def _draw_limits(axes: Axes, found: TuneResults, price: Quantity, gain: Quantity) -> None:
    """Shades what the limits against the baseline forbid."""
    for limit in found.goal.limits:
        if limit.reference not in (None, found.baseline):
            continue
        place = _log(limit.change)
        if limit.quantity == price:
            low, high = axes.get_xlim()
            ends = (place, high) if price.smaller_is_better else (low, place)
            axes.axvspan(*ends, color="#000000", alpha=0.05, linewidth=0, zorder=0)
            axes.axvline(place, color=GREY, linewidth=0.9, linestyle="--", zorder=1)
            axes.annotate(f"limit {limit.text}", (place, 0.99), xycoords=("data", "axes fraction"),
                          xytext=(3, 0), textcoords="offset points", rotation=90, ha="left", va="top",
                          fontsize=7.5, color=GREY)  # fmt: skip
            axes.set_xlim(low, high)
        elif limit.quantity == gain:
            axes.axhline(place, color=GREY, linewidth=0.9, linestyle="--", zorder=1)


def _label(one: Quantity, baseline: str) -> str:
    ends = "← faster, slower →" if one.smaller_is_better else "← less, more →"
    return f"{one.words}, change against {baseline}  ({ends})"
