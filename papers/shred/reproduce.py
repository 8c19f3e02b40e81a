"""SHRED's tables and figures, published beside ours: `mousehole paper shred --figure 11`."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from mousehole.statistics import Estimate, t_interval
from rich.text import Text

from papers.common import Json, Running, chosen, percent, print_table, read_toml, with_interval
from papers.shred.cases import SCHEMES, Cell, base, case, cells, schemes
from papers.shred.measures import Measured, benefit, measure, share

HERE = Path(__file__).parent
TABLES, FIGURES, BY_PAGE = (1, 2), (7, 11, 13, 14, 15), (14, 15)
QUICK_SEEDS, FULL_SEEDS = 5, 20
Runs = dict[Cell, dict[str, list[Measured]]]
"""By cell and scheme, replications in order."""


@dataclass(frozen=True)
class Settings(Running):
    """How a reproduction is run."""

    def run(self, mixes: list[Cell], of: dict[str, str]) -> Runs:
        """All mixes under the schemes `of` names, in all replications."""
        scenario = base()
        cases = {f"{mix} {name}": case(scenario, mix, text) for mix in mixes for name, text in of.items()}
        done = self.replicate(cases, measure)
        return {mix: {name: done[f"{mix} {name}"] for name in of} for mix in mixes}


def main(
    table: int | None = None,
    figure: int | None = None,
    seeds: int | None = None,
    jobs: int | None = None,
    full: bool = False,
) -> int:
    """Runs what was asked for and prints it; 0 if it was done, whatever came out."""
    chosen("shred", table, figure, TABLES, FIGURES)
    settings = Settings(seeds=seeds or (FULL_SEEDS if full else QUICK_SEEDS), jobs=jobs)
    settings.console.print(Text(_head(settings), style="dim"))
    said = read_toml(HERE / "published.toml")
    if figure is None:
        tables(settings, said)
    else:
        benefits(settings, said[f"figure_{figure}"], figure)
    return 0


def tables(settings: Settings, said: Json) -> None:
    """Tables 1 and 2: goodput and fairness of FTP flows alone. Both come from the same runs."""
    done = settings.run([Cell(1, flows, 0.0) for flows in said["table_1"]["flows"]], schemes())
    for name, title, of, digits in (
        ("table_1", "Table 1: goodput of all flows, Mb/s (95 %)", "goodput_mbps", 1),
        ("table_2", "Table 2: Jain's fairness (95 %)", "jain", 3),
    ):
        rows, off = [], dict.fromkeys(SCHEMES, 0.0)
        for place, runs in enumerate(done.values()):
            row = [str(said[name]["flows"][place])]
            for scheme in SCHEMES:
                ours, published = (
                    t_interval([getattr(run, of) for run in runs[scheme]]),
                    said[name][scheme][place],
                )
                row += [f"{published:.{digits}f}", _number(ours, digits)]
                off[scheme] = max(off[scheme], abs(ours.mean - published))
            rows.append(row)
        columns = ["flows", *(f"{scheme} {whose}" for scheme in SCHEMES for whose in ("published", "ours"))]
        print_table(settings.console, title, columns, rows)
        worst = ", ".join(f"{scheme} {value:.{digits}f}" for scheme, value in off.items())
        settings.say(f"Furthest from the published numbers: {worst}.")


def benefits(settings: Settings, said: Json, figure: int) -> None:
    """Figures 7, 11 and 13 to 15: what RED and SHRED do for objects or pages within a second."""
    from papers.shred import figures

    grid = read_toml(HERE / "variants.toml")["figure"][str(figure)]
    of_pages = figure in BY_PAGE
    done = settings.run(cells(grid), schemes())
    unit = "pages" if of_pages else "objects"
    columns = ["mix", f"DT: {unit} within 1 s", "DT: active", "published", "RED (95 %)", "SHRED (95 %)",
               "published", "SHRED − RED (95 %)", "drops DT, RED, SHRED"]  # fmt: skip
    rows = [_row(mix, runs, said, of_pages) for mix, runs in done.items()]
    print_table(settings.console, f"Figure {figure}: benefit over drop-tail", columns, rows)
    settings.say(f"Published: {said['says']}.")
    for sentence in _verdicts(done, of_pages):
        settings.say(sentence)
    _what_is_open(settings, Cell(**grid["open"]), of_pages)
    picture = Path(f"shred-figure-{figure}.png")
    figures.draw(done, of_pages, picture, f"benefit over drop-tail: {unit} within 1 s")
    settings.console.print(f"wrote {picture}")


def _row(mix: Cell, runs: dict[str, list[Measured]], said: Json, of_pages: bool) -> list[str]:
    gains = {name: benefit(runs[name], runs["DT"], of_pages) for name in ("RED", "SHRED")}
    within = t_interval([share(run, of_pages) for run in runs["DT"]])
    active = t_interval([run.active for run in runs["DT"]])
    drops = ", ".join(percent(float(np.mean([run.drops for run in runs[name]])), 1) for name in SCHEMES)
    published_active = said.get("active_flows", {}).get(f"{mix.load:g}", "")
    return [name_of(mix), with_interval(within), _number(active, 0), str(published_active),
            with_interval(gains["RED"]), with_interval(gains["SHRED"]), _published(mix, said),
            with_interval(_lead(runs, of_pages)), drops]  # fmt: skip


def _published(mix: Cell, said: Json) -> str:
    """What is said of SHRED in this mix; an upper end of 10 means "over"."""
    given = said.get("SHRED")
    given = given.get(objects_of(mix)) if isinstance(given, dict) else given
    if given is None:
        return ""
    return f"> {percent(given[0])}" if given[1] >= 10 else f"{percent(given[0])} to {percent(given[1])}"


def _lead(runs: dict[str, list[Measured]], of_pages: bool) -> Estimate:
    pairs = zip(runs["SHRED"], runs["RED"], runs["DT"], strict=True)
    return t_interval([(share(s, of_pages) - share(r, of_pages)) / share(d, of_pages) for s, r, d in pairs])


def _verdicts(done: Runs, of_pages: bool) -> list[str]:
    """Which of SHRED > RED > drop-tail hold, by mixes where the interval excludes 0."""
    orders = {
        "SHRED is better than RED": [_lead(runs, of_pages) for runs in done.values()],
        "SHRED is better than drop-tail": [
            benefit(runs["SHRED"], runs["DT"], of_pages) for runs in done.values()
        ],
        "RED is better than drop-tail": [
            benefit(runs["RED"], runs["DT"], of_pages) for runs in done.values()
        ],
    }
    return [
        f"Ours: {claim} in {sum(one.low > 0 for one in found)} of {len(found)} mixes, worse in "
        f"{sum(one.high < 0 for one in found)}, not told apart in the others."
        for claim, found in orders.items()
    ]


def _what_is_open(settings: Settings, mix: Cell, of_pages: bool) -> None:
    """One mix again, with one thing changed that the paper does not tell."""
    rows = []
    for one in [{"name": "as above", **schemes()}, *read_toml(HERE / "variants.toml")["open"]]:
        runs = settings.run([mix], {**schemes(), "RED": one["RED"], "SHRED": one["SHRED"]})[mix]
        gains = [with_interval(benefit(runs[name], runs["DT"], of_pages)) for name in ("RED", "SHRED")]
        drops = [percent(float(np.mean([run.drops for run in runs[name]])), 1) for name in ("RED", "SHRED")]
        rows.append([one["name"], *gains, ", ".join(drops)])
    columns = ["changed", "RED (95 %)", "SHRED (95 %)", "drops RED, SHRED"]
    print_table(settings.console, f"What the paper leaves open: {name_of(mix)}", columns, rows)


def objects_of(mix: Cell) -> str:
    """`1-8`, or `1`."""
    return f"1-{mix.objects}" if mix.objects > 1 else "1"


def name_of(mix: Cell) -> str:
    """`70 % Web, 10 FTP, 1-8 objects`."""
    parts = [f"{percent(mix.load)} Web"] + ([f"{mix.ftp} FTP"] if mix.ftp else [])
    return ", ".join(parts + ([f"{objects_of(mix)} objects"] if mix.objects > 1 else []))


def _number(estimate: Estimate, digits: int) -> str:
    text = f"{estimate.mean:.{digits}f}"
    return f"{text} ±{estimate.half_width:.{digits}f}" if estimate.has_interval else text


def _head(settings: Settings) -> str:
    return (
        f"SHRED: {settings.seeds} replications of 160 s (with FTP flows 20 s of it not measured). What the "
        "paper leaves open (RED's line, TCP's details, Figure 3) is filled in as papers/shred/README.md says."
    )
