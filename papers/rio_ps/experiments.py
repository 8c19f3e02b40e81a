"""Tables I and IV and Figure 7: RIO-PS beside RED and drop-tail."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from mousehole.statistics import Estimate, t_interval

from papers.common import Data, Json, estimate, merged, number, paired, percent, with_interval
from papers.paper import NO_INTERVAL, Claim, Finding, Part, Run, Table, judged
from papers.rio_ps import measures
from papers.rio_ps.measures import Experiment1

DATA = Data(Path(__file__).parent)
QUICK = {"warmup": "400s", "duration": "600s"}
"""Experiment 1 without --full: the paper's 2000 s and 2000 s shortened."""
STATE = (
    ("marked", "marked"),
    ("early", "dropped by chance"),
    ("forced", "forced"),
)
"""What became of packets at the bottleneck: the field, its heading."""


def schemes(bdp_packets: float) -> dict[str, Json]:
    """Returns what each scheme changes in a scenario: itself and its buffer."""
    listed = DATA.variants()["scheme"]
    return {one["name"]: _queue(one["scheme"], one["buffer_bdp"] * bdp_packets) for one in listed}


def _queue(scheme: str, packets: float) -> Json:
    return {"scheme": scheme, "buffer": f"{round(packets)}p"}


def table_1(run: Run) -> Iterator[Part]:
    """Yields the packets that long and short flows get through one link in 500 s."""
    base, bdp = _read("two-classes"), DATA.variants()["table_1"]["bdp_packets"]
    cases = {
        f"{rate} {name}": merged(
            base,
            {
                "scheme": queue["scheme"],
                "link": {"rate": f"{float(rate) * 1000:g}kbit", "buffer": queue["buffer"]},
            },
        )
        for rate, packets in bdp.items()
        for name, queue in schemes(packets).items()
    }
    done = run.replicate(cases, measures.delivered)
    rows, delivered = [], {}
    for line in DATA.published()["table_1"]["packets"]:
        rate, flows = line["rate"], line["flows"]
        ours = {name: [getattr(one, flows) for one in done[f"{rate} {name}"]] for name in _names()}
        cells = [(f"{line[name]:,}", number(t_interval(ours[name]), 0)) for name in _names()]
        rows.append([f"{rate} Mb/s", flows, *(cell for pair in cells for cell in pair)])
        delivered[rate, flows] = ours
    columns = ["link", "flows", *(cell for name in _names() for cell in (name, "ours"))]
    yield Table("Table I: packets delivered in 500 s, published and ours (95 %)", columns, rows)
    for rate in bdp:
        yield _order(f"{rate} Mb/s, all packets", delivered[rate, "all"])
        yield _order(f"{rate} Mb/s, packets of short flows", delivered[rate, "short"])


def table_4(run: Run) -> Iterator[Part]:
    """Yields the goodput of experiment 1, per 2000 s."""
    published, done = DATA.published()["table_4"], _experiment_1(run)
    scale = published["seconds"] / float(_length(run)["duration"].removesuffix("s"))
    rows = []
    for line in published["packets"]:
        cells = [f"{line[name]:,}" for name in _names()]
        rows.append([f"published, initial RTO {line['initial_rto']}", *cells])
        for reading in _readings():
            runs = {name: done[_case(reading, line["initial_rto"], name)] for name in _names()}
            ours = {name: [one.goodput for one in runs[name]] for name in _names()}
            cells = [number(t_interval([scale * value for value in ours[name]]), 0) for name in _names()]
            rows.append([f"  ours, {reading['name']}", *cells])
            yield _order(f"{reading['name']}, initial RTO {line['initial_rto']}, goodput", ours)
    title = "Table IV, experiment 1: packets delivered in 2000 s, published and ours (95 %)"
    yield Table(title, ["", *_names()], rows)
    yield _state(done)


def figure_7(run: Run) -> Iterator[Part]:
    """Yields by how much RIO-PS shortens the response time of short and medium objects against RED's."""
    claims, done = DATA.published()["figure_7"]["claims"], _experiment_1(run)
    sizes = DATA.variants()["experiment_1"]["sizes"]
    rows = []
    for claim in claims:
        low, high = sizes[claim["sizes"]]
        published = f"{percent(claim['least'])} to {percent(claim['most'])}"
        what = f"initial RTO {claim['initial_rto']}, {claim['sizes']} ({low} to {high - 1} packets)"
        rows.append([f"published, {what}", published, ""])
        for reading in _readings():
            runs = {name: done[_case(reading, claim["initial_rto"], name)] for name in _names()}
            ours = {name: _reduction(runs[name], runs["RED"], low, high) for name in ("RIO-PS", "DropTail")}
            rows.append([f"  ours, {reading['name']}", *(with_interval(one, 1) for one in ours.values())])
            yield _reduction_finding(f"{reading['name']}, {what}", ours["RIO-PS"], claim)
    yield Table("Figure 7: mean response time below RED's (95 %)", ["", "RIO-PS", "DropTail"], rows)
    yield _state(done)


def _experiment_1(run: Run) -> dict[str, list[Experiment1]]:
    variants = DATA.variants()["experiment_1"]
    base = merged(_read("experiment-1"), _length(run))
    cases = {}
    for reading in _readings():
        link = {name: reading[name] for name in ("rate", "rtt")}
        for initial_rto in variants["initial_rto"]:
            for name, queue in schemes(variants["bdp_packets"]).items():
                changes = {
                    "scheme": queue["scheme"],
                    "tcp": {"initial_rto": initial_rto},
                    "topology": {"params": {**link, "buffer": queue["buffer"]}},
                    "traffic": {"params": {"sessions": reading["sessions"]}},
                }
                cases[_case(reading, initial_rto, name)] = merged(base, changes)
    return run.replicate(cases, measures.experiment_1)


def _state(done: Mapping[str, list[Experiment1]]) -> Table:
    """Returns what the paper's Figure 8 shows without numbers: what became of packets at the bottleneck."""
    rows = [
        [
            name,
            *(with_interval(estimate(runs, share), 2) for share, _ in STATE),
            number(estimate(runs, "threshold"), 1),
        ]
        for name, runs in done.items()
    ]
    columns = ["", *(title for _, title in STATE), "mean threshold, packets"]
    return Table("The bottleneck, shares of arrivals (95 %)", columns, rows)


def _readings() -> list[Json]:
    return list(DATA.variants()["experiment_1"]["reading"])


def _case(reading: Json, initial_rto: str, name: str) -> str:
    return f"{reading['name']}, {initial_rto}, {name}"


def _reduction(runs: list[Experiment1], reference: list[Experiment1], low: float, high: float) -> Estimate:
    return paired(runs, reference, lambda one, other: measures.reduction(one, other, low, high))


def _length(run: Run) -> Json:
    return {name: _read("experiment-1")[name] for name in QUICK} if run.full else QUICK


def _read(scenario: str) -> Json:
    return DATA.scenario(scenario)


def _names() -> list[str]:
    return list(schemes(1.0))


def _order(what: str, ours: Mapping[str, list[float]]) -> Finding:
    """Returns the paired differences that the paper's sentence is about."""
    against = []
    for reference in ("DropTail", "RED"):
        change = paired(ours["RIO-PS"], ours[reference], lambda scheme, other: scheme / other - 1)
        against.append(f"{with_interval(change, 2)} against {reference}")
    return Finding(f"{what}: RIO-PS {' and '.join(against)}.")


def _reduction_finding(what: str, ours: Estimate, claim: Json) -> Finding:
    least, most = claim["least"], claim["most"]
    result = f"{with_interval(ours, 1)}: {_within(ours, least, most)}."
    statement = f"Response time below RED's: {what}"
    place = f"Figure 7 as published, {percent(least)} to {percent(most)}"
    judgement = Claim(statement, place, result, judged(ours, least, most), (least, most), ours)
    return Finding(f"{what}: {result}", judgement)


def _within(ours: Estimate, least: float, most: float) -> str:
    if not ours.has_interval:
        return NO_INTERVAL
    if ours.low <= most and ours.high >= least:
        return "the interval meets the published range"
    return f"{'less' if ours.high < least else 'more'} than published"
