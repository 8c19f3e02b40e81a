"""SFD's tables and figures, published beside ours: `mousehole paper sfd --table 4`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mousehole.statistics import Estimate, t_interval
from rich.text import Text

from papers.common import (
    Json,
    Running,
    chosen,
    merged,
    percent,
    print_table,
    read_toml,
    with_interval,
)
from papers.sfd.cases import inter_session_s, load_case, variant_case, variants
from papers.sfd.measures import Measured, Reduction, measure, reduction

HERE = Path(__file__).parent
TABLES, FIGURES = (3, 4), (6,)
QUICK = {"warmup": "1000s", "duration": "3000s"}
"""Without --full: the paper's 2000 s and 10,000 s shortened."""
QUICK_SEEDS, FULL_SEEDS = 5, 10
BUFFERS = ("15p", "25p", "50p", "100p")
BUFFER_VARIANTS = ("DT", "SFD, decoupled queues", "SFD, coupled queues")
LOADS = ("light", "medium", "heavy")
READINGS = ("SFD, decoupled queues", "SFD, coupled queues")
"""The paper's words, and what its simulator did by default."""
NO_LONG = "NL (no long flows)"


@dataclass(frozen=True)
class Settings(Running):
    """How a reproduction is run."""

    base: Json

    def run(self, cases: dict[str, Json]) -> dict[str, list[Measured]]:
        """All cases in all replications."""
        return self.replicate(cases, measure)


def main(
    table: int | None = None,
    figure: int | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    full: bool = False,
) -> int:
    """Runs what was asked for and prints it; 0 if it was done, whatever came out."""
    chosen("sfd", table, figure, TABLES, FIGURES)
    base = read_toml(HERE / "scenarios" / "simple.toml")
    settings = Settings(
        base=base if full else merged(base, QUICK),
        seeds=seeds or (FULL_SEEDS if full else QUICK_SEEDS),
        jobs=jobs,
    )
    settings.console.print(Text(_head(settings, full), style="dim"))
    if figure == 6:
        from papers.sfd.figures import figure_6

        path = Path("sfd-figure-6.png")
        figure_6(settings.base, settings.run, path)
        settings.console.print(f"wrote {path}")
    else:
        (table_3 if table == 3 else table_4)(settings)
    return 0


def table_3(settings: Settings) -> None:
    """Utilisation and loss under drop-tail for the three loads, session rates published and calibrated."""
    published = read_toml(HERE / "published.toml")["table_3"]
    kinds = (("published", True), ("published", False), ("calibrated", False))
    cases = {
        f"{load} {times} {_rounding(literal)}": load_case(settings.base, times, load, literal)
        for load in LOADS
        for times, literal in kinds
    }
    done = settings.run(cases)
    rows = []
    for load in LOADS:
        said = published[load]
        rows.append([f"{load}, published", "", percent(said["utilisation"]), percent(said["loss"], 1)])
        for times, literal in kinds:
            runs = done[f"{load} {times} {_rounding(literal)}"]
            gap = f"{inter_session_s(times, load):g} s ({times})"
            rows.append([f"  ours, {_rounding(literal)}", gap, *_state_with_intervals(runs)])
    columns = ["load", "session every", "utilisation (95 %)", "loss (95 %)"]
    print_table(settings.console, "Table 3: load of the bottleneck under drop-tail", columns, rows)


def table_4(settings: Settings) -> None:
    """Reduction of the mean transmission latency of short flows against drop-tail."""
    said = read_toml(HERE / "published.toml")
    verdicts = []
    for times, literal in (("calibrated", False), ("published", True)):
        base = load_case(settings.base, times, "medium", literal)
        done = settings.run({name: variant_case(base, name) for name in variants()})
        title = (
            f"Table 4, row Simple: medium load, a session every {inter_session_s(times, 'medium'):g} s "
            f"({times}), {_rounding(literal)}"
        )
        results = {name: reduction(runs, done["DT"]) for name, runs in done.items() if name != "DT"}
        columns = ["variant", "max", "min", "mean (95 %)", "std / DT's", "utilisation", "loss"]
        print_table(settings.console, title, columns, _rows_4(said, done, results))
        verdicts += _verdicts(
            said, results, f"every {inter_session_s(times, 'medium'):g} s ({_rounding(literal)})"
        )
    _buffers(settings, said)
    verdicts.append(_two_tier(settings, said))
    for verdict in verdicts:
        settings.say(verdict)


def _two_tier(settings: Settings, said: Json) -> str:
    """Row 2-tier, with rates and delays of the second tier that are chosen here: the paper's are lost."""
    length = {name: settings.base[name] for name in QUICK}
    tiers = merged(read_toml(HERE / "scenarios" / "two-tier.toml"), length)
    published = said["table_4"]["two_tier"]
    found = []
    for times, literal in (("calibrated", False), ("published", True)):
        base = load_case(tiers, times, "medium", literal)
        done = settings.run({name: variant_case(base, name) for name in BUFFER_VARIANTS})
        results = {name: reduction(done[name], done["DT"]) for name in BUFFER_VARIANTS[1:]}
        session = f"a session every {inter_session_s(times, 'medium'):g} s, {_rounding(literal)}"
        said_here = [percent(published[name]) for name in ("max", "min", "mean")]
        rows = [["published (SFD)", *said_here, "", "", ""], *_rows_of(done, results)]
        columns = ["variant", "max", "min", "mean (95 %)", "std / DT's", "utilisation", "loss"]
        title = f"Table 4, row 2-tier, with rates of our own: {session}"
        print_table(settings.console, title, columns, rows)
        found += [f"{name}, {session}, {with_interval(result.mean)}" for name, result in results.items()]
    return (
        "Row 2-tier (published 26 / 20 / 23 %): NOT COMPARED. The rates and delays of the second tier stand "
        f"only in a figure that is lost; with our own the mean reduction is: {'; '.join(found)}."
    )


def _rows_4(said: Json, done: dict[str, list[Measured]], results: dict[str, Reduction]) -> list[list[str]]:
    simple, medium = said["table_4"]["simple"], said["table_3"]["medium"]
    rows = [[
        "published (SFD)", percent(simple["max"]), percent(simple["min"]), percent(simple["mean"]),
        f"{said['short_flows']['std_ratio']:.2g}", percent(medium["utilisation"]), percent(medium["loss"], 1),
    ]]  # fmt: skip
    return rows + _rows_of(done, results)


def _rows_of(done: dict[str, list[Measured]], results: dict[str, Reduction]) -> list[list[str]]:
    rows = [["DT", "", "", "", "1", *_state(done["DT"])]]
    for name, result in results.items():
        extremes = [percent(result.most.mean), percent(result.least.mean), with_interval(result.mean)]
        rows.append([name, *extremes, f"{result.std_ratio.mean:.2f}", *_state(done[name])])
    return rows


def _buffers(settings: Settings, said: Json) -> None:
    """The mean reduction against the buffer, which the paper does not give."""
    for times, literal in (("calibrated", False), ("published", True)):
        base = load_case(settings.base, times, "medium", literal)
        rows = []
        for buffer in BUFFERS:
            sized = merged(base, {"link": {"buffer": buffer, "uplink_buffer": buffer}})
            done = settings.run({name: variant_case(sized, name) for name in BUFFER_VARIANTS})
            means = [with_interval(reduction(done[name], done["DT"]).mean) for name in BUFFER_VARIANTS[1:]]
            rows.append([buffer.replace("p", " packets"), *means, *_state(done["DT"])])
        columns = ["buffer", *BUFFER_VARIANTS[1:], "DT's utilisation", "DT's loss"]
        title = (
            f"Mean reduction by buffer (published {percent(said['table_4']['simple']['mean'])}): a session "
            f"every {inter_session_s(times, 'medium'):g} s, {_rounding(literal)}"
        )
        print_table(settings.console, title, columns, rows)


def _verdicts(said: Json, results: dict[str, Reduction], session: str) -> list[str]:
    """One sentence per claim that can be checked on these runs; every reading of the paper is judged."""
    published, claims = said["table_4"]["simple"]["mean"], said["short_flows"]
    nl = results[NO_LONG].mean
    judged = [
        f"{session}: {name}, mean reduction {with_interval(results[name].mean)}, published "
        f"{percent(published)}: {_agreement(results[name].mean, published)}; "
        f"{percent(results[name].mean.mean / nl.mean)} of the bound without long flows (published "
        f"{percent(claims['share_of_nl_bound'])})."
        for name in READINGS
    ]
    judged.append(
        f"{session}: without long flows, {with_interval(nl)}, published at least "
        f"{percent(claims['nl_reduction_at_least'])}: "
        f"{_agreement(nl, claims['nl_reduction_at_least'])}."
    )
    red = results["RED"].mean
    word = "so here too" if red.low <= 0.0 else "which does not hold here"
    judged.append(
        f"{session}: RED is not better than drop-tail (published); ours {with_interval(red)}, {word}."
    )
    return judged


def _agreement(ours: Estimate, published: float) -> str:
    if not ours.has_interval:
        return "no interval, at least five seeds are needed"
    if ours.low <= published <= ours.high:
        return "the published number lies in our interval"
    return f"the published number lies {'above' if published > ours.high else 'below'} our interval"


def _state(runs: list[Measured]) -> list[str]:
    loss = float(np.mean([run.loss for run in runs]))
    return [percent(float(np.mean([run.utilisation for run in runs]))), percent(loss, 1)]


def _state_with_intervals(runs: list[Measured]) -> list[str]:
    utilisation, loss = t_interval([run.utilisation for run in runs]), t_interval([run.loss for run in runs])
    return [with_interval(utilisation), with_interval(loss, 1)]


def _rounding(literal: bool) -> str:
    return "counts rounded up" if literal else "counts max(1, floor)"


def _head(settings: Settings, full: bool) -> str:
    length = (
        "the paper's 12,000 s" if full else "4,000 s instead of the paper's 12,000 s; --full for all of it"
    )
    return (
        f"SFD, simple dumbbell: {settings.seeds} replications of {length}. What the paper leaves open "
        "(buffer, initial window and RTO, rounding) is filled in as papers/sfd/README.md says."
    )
