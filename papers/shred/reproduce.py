"""SHRED's tables and figures, published beside ours: `mousehole paper shred --figure 11`."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mousehole.statistics import Estimate, t_interval

from papers.common import Json, estimate, number, percent, with_interval
from papers.paper import Finding, Heading, Item, Paper, Part, Picture, Run, Seeds, Table, heading
from papers.shred.cases import DATA, SCHEMES, Cell, base, case, cells, schemes
from papers.shred.measures import Measured, benefit, measure, share

FIGURES, BY_PAGE = (7, 11, 13, 14, 15), (14, 15)
ByScheme = dict[str, list[Measured]]
Runs = dict[Cell, ByScheme]
"""By cell and scheme, replications in order."""


def mixes_under(run: Run, mixes: list[Cell], variants: dict[str, str]) -> Runs:
    """Runs all mixes under the schemes that `variants` names, in all replications."""
    scenario = base()
    cases = {f"{mix} {name}": case(scenario, mix, text) for mix in mixes for name, text in variants.items()}
    done = run.replicate(cases, measure)
    return {mix: {name: done[f"{mix} {name}"] for name in variants} for mix in mixes}


def tables(run: Run) -> Iterator[Part]:
    """Yields Tables 1 and 2: goodput and fairness of FTP flows alone. Both come from the same runs."""
    yield _heading(run)
    published = DATA.published()
    done = mixes_under(run, [Cell(1, flows, 0.0) for flows in published["table_1"]["flows"]], schemes())
    for name, title, field, digits in (
        ("table_1", "Table 1: goodput of all flows, Mb/s (95 %)", "goodput_mbps", 1),
        ("table_2", "Table 2: Jain's fairness (95 %)", "jain", 3),
    ):
        rows, off = [], dict.fromkeys(SCHEMES, 0.0)
        for place, runs in enumerate(done.values()):
            row = [str(published[name]["flows"][place])]
            for scheme in SCHEMES:
                ours, stated = estimate(runs[scheme], field), published[name][scheme][place]
                row += [f"{stated:.{digits}f}", number(ours, digits)]
                off[scheme] = max(off[scheme], abs(ours.mean - stated))
            rows.append(row)
        columns = ["flows", *(f"{scheme} {whose}" for scheme in SCHEMES for whose in ("published", "ours"))]
        yield Table(title, columns, rows)
        worst = ", ".join(f"{scheme} {value:.{digits}f}" for scheme, value in off.items())
        yield Finding(f"Furthest from the published numbers: {worst}.")


def benefits(run: Run, figure: int) -> Iterator[Part]:
    """Yields Figures 7, 11 and 13 to 15: what RED and SHRED do for objects or pages within a second."""
    from papers.shred import figures

    yield _heading(run)
    published = DATA.published()[f"figure_{figure}"]
    grid = DATA.variants()["figure"][str(figure)]
    of_pages = figure in BY_PAGE
    done = mixes_under(run, cells(grid), schemes())
    unit = "pages" if of_pages else "objects"
    columns = ["mix", f"DT: {unit} within 1 s", "DT: active", "published", "RED (95 %)", "SHRED (95 %)",
               "published", "SHRED − RED (95 %)", "drops DT, RED, SHRED"]  # fmt: skip
    rows = [_row(mix, runs, published, of_pages) for mix, runs in done.items()]
    yield Table(f"Figure {figure}: benefit over drop-tail", columns, rows)
    yield Finding(f"Published: {published['says']}.")
    yield from _orders(done, of_pages)
    yield _what_is_open(run, Cell(**grid["open"]), of_pages)
    picture = Path(f"shred-figure-{figure}.png")
    figures.draw(done, of_pages, picture, f"benefit over drop-tail: {unit} within 1 s")
    yield Picture(picture)


def _row(mix: Cell, runs: ByScheme, published: Json, of_pages: bool) -> list[str]:
    gains = {name: benefit(runs[name], runs["DT"], of_pages) for name in ("RED", "SHRED")}
    within = t_interval([share(run, of_pages) for run in runs["DT"]])
    published_active = published.get("active_flows", {}).get(f"{mix.load:g}", "")
    return [name_of(mix), with_interval(within), number(estimate(runs["DT"], "active"), 0),
            str(published_active), with_interval(gains["RED"]), with_interval(gains["SHRED"]),
            _published(mix, published), with_interval(_lead(runs, of_pages)),
            _drops(runs, SCHEMES)]  # fmt: skip


def _published(mix: Cell, published: Json) -> str:
    """Returns what is published of SHRED in this mix; an upper end of 10 means "over"."""
    given = published.get("SHRED")
    given = given.get(objects_of(mix)) if isinstance(given, dict) else given
    if given is None:
        return ""
    return f"> {percent(given[0])}" if given[1] >= 10 else f"{percent(given[0])} to {percent(given[1])}"


def _drops(runs: ByScheme, names: tuple[str, ...]) -> str:
    """Returns the shares dropped under some schemes."""
    return ", ".join(percent(estimate(runs[name], "drops").mean, 1) for name in names)


def _lead(runs: ByScheme, of_pages: bool) -> Estimate:
    triples = zip(runs["SHRED"], runs["RED"], runs["DT"], strict=True)
    return t_interval([(share(s, of_pages) - share(r, of_pages)) / share(d, of_pages) for s, r, d in triples])


def _orders(done: Runs, of_pages: bool) -> Iterator[Finding]:
    """Yields which of SHRED > RED > drop-tail hold, by the mixes in which the interval excludes 0."""
    orders = {
        "SHRED is better than RED": [_lead(runs, of_pages) for runs in done.values()],
        "SHRED is better than drop-tail": [
            benefit(runs["SHRED"], runs["DT"], of_pages) for runs in done.values()
        ],
        "RED is better than drop-tail": [
            benefit(runs["RED"], runs["DT"], of_pages) for runs in done.values()
        ],
    }
    for order, found in orders.items():
        yield Finding(
            f"Ours: {order} in {sum(one.low > 0 for one in found)} of {len(found)} mixes, worse in "
            f"{sum(one.high < 0 for one in found)}, not told apart in the others."
        )


def _what_is_open(run: Run, mix: Cell, of_pages: bool) -> Table:
    """Runs one mix again for each thing that the paper leaves open, with that one thing changed."""
    rows = []
    for one in [{"name": "as above", **schemes()}, *DATA.variants()["open"]]:
        runs = mixes_under(run, [mix], {**schemes(), "RED": one["RED"], "SHRED": one["SHRED"]})[mix]
        gains = [with_interval(benefit(runs[name], runs["DT"], of_pages)) for name in ("RED", "SHRED")]
        rows.append([one["name"], *gains, _drops(runs, ("RED", "SHRED"))])
    columns = ["changed", "RED (95 %)", "SHRED (95 %)", "drops RED, SHRED"]
    return Table(f"What the paper leaves open: {name_of(mix)}", columns, rows)


def objects_of(mix: Cell) -> str:
    """Returns `1-8`, or `1`."""
    return f"1-{mix.objects}" if mix.objects > 1 else "1"


def name_of(mix: Cell) -> str:
    """Returns `70 % Web, 10 FTP, 1-8 objects`."""
    parts = [f"{percent(mix.load)} Web"] + ([f"{mix.ftp} FTP"] if mix.ftp else [])
    return ", ".join(parts + ([f"{objects_of(mix)} objects"] if mix.objects > 1 else []))


def _heading(run: Run) -> Heading:
    length = "160 s (with FTP flows 20 s of it not measured)"
    return heading(run, "SHRED", length, "RED's line, TCP's details, Figure 3", "shred")


PAPER = Paper(
    name="shred",
    items=[
        Item("table", 1, tables),
        Item("table", 2, tables),
        *(Item("figure", figure, partial(benefits, figure=figure)) for figure in FIGURES),
    ],
    seeds=Seeds(5, 20),
)
main = PAPER.main
