"""The options of `mousehole tune`, declared once for the command line and for `tune`."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from mousehole.base import COMPARED, RUN, RunOptions, defaults, option

SEARCH = "Search"
TRIALS, SEARCH_SEEDS, SENSITIVITY_SEEDS = 40, 4, 5


@dataclass(frozen=True, kw_only=True)
class TuneOptions(RunOptions):
    """The options of a search; None means the value of the user's scenario, or else the default."""

    schemes: str | Sequence[str] | None = option(
        None, "Scheme whose parameters are searched; those given in it stay. Repeat it for several.",
        "NAME[(…)][|…]", SEARCH, list,
    )  # fmt: skip
    for_: Literal["wred", "cake"] | None = option(
        None, "Search what a router's WRED can do, or a marker before CAKE's tins.", "wred|cake", SEARCH
    )
    objectives: str | Sequence[str] | None = option(
        None, 'What to lower (default: "short mean"); several give a Pareto front.', "MEASURE", SEARCH, list
    )
    limits: str | Sequence[str] | None = option(
        None, 'What others may pay, as "calls p95 +5ms", beside the defaults; or none. It may be repeated.',
        "'MEASURE ±N% [against SCHEME]'", SEARCH, list,
    )  # fmt: skip
    beside: str | Sequence[str] | None = option(
        None, "Scheme to judge beside the finalists, such as what you have now; repeat it for several.",
        "NAME[(…)][|…]", COMPARED, list,
    )  # fmt: skip
    ranges: str | Sequence[str] | None = option(
        None,
        "Range of a parameter, such as th=5kB..200kB or mode=coupled,total.",
        "NAME=LOW..HIGH",
        SEARCH,
        list,
    )
    trials: int | None = option(None, f"Settings tried of each scheme (default: {TRIALS}).", "N", SEARCH, int)
    budget: str | float | timedelta | None = option(  # noqa: RUF009 (the call only declares)
        None, "Time for everything, instead of --trials.", "TIME", SEARCH
    )
    search_seeds: int | None = option(
        None, f"Replications of the search (default: {SEARCH_SEEDS}); --seeds are those of the judgement.",
        "N", RUN, int,
    )  # fmt: skip
    sensitivity_seeds: int | None = option(
        None, f"Replications of the sensitivity (default: {SENSITIVITY_SEEDS}; 0: none).", "N", RUN, int
    )
    baseline: str | None = option(
        None,
        f"Scheme that limits and gains are against (default: {defaults.BASELINE}; cake with --for cake).",
        "NAME[(…)]", COMPARED,
    )  # fmt: skip
