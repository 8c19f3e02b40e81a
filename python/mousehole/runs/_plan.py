"""The plan of a comparison: grid of buffers and loads, schemes, replications, scenarios of all runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any

from mousehole import _engine
from mousehole.base import (
    BYTES,
    Bucket,
    MouseholeError,
    Options,
    buckets,
    defaults,
    field_error,
    parse_loads,
    parse_texts,
    require_at_least,
    scheme_name,
    with_load,
    with_unit,
)
from mousehole.engine_types import Floats, Scenario, TrafficSection
from mousehole.scenario import SharedScenario, bottleneck, fill_in, try_headers, try_scenarios

MOST_RUNS = 1_000_000
"""Largest number of runs of one comparison; the results of more would not fit into memory."""


@dataclass(frozen=True)
class Cell:
    """One point of the grid; a load of None means the load that the traffic has by itself."""

    buffer: str
    load: float | None

    @property
    def title(self) -> str:
        """Returns the cell as text, such as `buffer 50p, load 0.9`."""
        load = "the traffic's own load" if self.load is None else f"load {self.load:g}"
        return f"buffer {self.buffer}, {load}"

    def __repr__(self) -> str:
        """Returns the cell's title in brackets."""
        return f"<Cell: {self.title}>"


@dataclass(frozen=True)
class Task:
    """One engine run, by its indices."""

    cell: int
    scheme: int
    replication: int


@dataclass(frozen=True)
class Warmup:
    """What the warm-up is chosen from: sizes of transfers, rate, and the load of traffic that has its own."""

    sizes_bytes: Floats = field(repr=False)
    rate_bps: float
    own_load: float | None
    is_chosen: bool
    """Whether it follows from these; otherwise it was given, and they only show whether it is enough."""
    known: Mapping[float | None, float | None] = field(default_factory=dict, repr=False)
    """What `needed_s` returns by load, where the sizes are no longer kept."""

    def needed_s(self, load: float | None) -> float | None:
        """Returns the time in seconds after which the link is near its steady state, None if it has none.

        A `load` of None is the traffic's own.
        """
        if load in self.known:
            return self.known[load]
        return _engine.needed_warmup_s(self.sizes_bytes, self.rate_bps, self.own_load, load)


@dataclass(frozen=True)
class Plan:
    """Everything about a comparison before it runs."""

    base: Scenario
    """The scenario that all runs share; `scenario` sets its scheme, buffer, load and replication."""
    buffers: tuple[str, ...]
    loads: tuple[float | None, ...]
    schemes: tuple[str, ...]
    baseline: str
    replications: int
    short_bytes: int
    long_bytes: int
    warmup: Warmup | None = None
    """What warm-up the load needs; None if the sizes of the transfers are not known beforehand."""
    first_replication: int = 0
    """The number under which the first replication draws; those of another plan may have been seen before."""
    in_rounds: bool = False
    """Whether replications are rounds of real programs, as `mousehole link` plays them."""
    is_sequential: bool = False
    """Whether the user may look, double the replications and look again."""
    vetoes: tuple[str, ...] = ()
    """The margins of harm that the user gave, as texts; the default ones hold in addition."""
    reference: str | None = None
    """The scheme that harm is measured against; None is what people would have anyway."""
    instead_of: str | None = None
    """The traffic that was given, and why ready-made traffic stands in its place; None if none does."""

    def in_cell(self, buffer: str, load: float | None, sentence: str) -> str:
        """Returns a sentence on a cell, with the cell's name before it if the plan has several."""
        return sentence if len(self.cells) == 1 else f"{Cell(buffer, load).title}: {sentence}"

    def describe(self, where: str, found: Iterable[Any]) -> str:
        """Returns the comparison's title with `where`, and a line for each confirmatory finding.

        Exploratory findings have no line.
        """
        verdicts = [self.in_cell(one.buffer, one.load, one.sentence) for one in found if not one.exploratory]
        return "\n".join([f"Comparison of {len(self.schemes)} schemes {where}", *verdicts])

    @property
    def run_word(self) -> str:
        """Returns the noun for a replication in texts: round or replication."""
        return "round" if self.in_rounds else "replication"

    @property
    def cells(self) -> tuple[Cell, ...]:
        """Returns the points of the grid; the buffer changes fastest."""
        return tuple(Cell(buffer, load) for load in self.loads for buffer in self.buffers)

    @property
    def references(self) -> tuple[str, ...]:
        """Returns the schemes that verdicts are against: the baseline, and FQ-CoDel if it is compared."""
        rivals = (scheme for scheme in self.schemes if scheme_name(scheme) == "fq-codel")
        return tuple(dict.fromkeys((self.baseline, *rivals)))

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """Returns the size classes of the results, in the order of the tables."""
        return buckets(self.short_bytes, self.long_bytes)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Returns all runs in the order in which they start; inside a cell, the scheme changes fastest."""
        return tuple(
            Task(cell, scheme, replication)
            for cell in range(len(self.cells))
            for replication in range(self.replications)
            for scheme in range(len(self.schemes))
        )

    def scenario(self, cell: Cell, scheme: str, replication: int = 0) -> Scenario:
        """Returns the scenario of one run, as a new dictionary that is not filled in."""
        traffic = self.base["traffic"].copy()
        if cell.load is not None:
            traffic = with_load(traffic, cell.load)
        if is_overlaid(traffic) and not traffic.get("fitted"):
            traffic["resample"] = True
        at_buffer = bottleneck.with_changes(self.base, {"buffer": cell.buffer})
        number = self.first_replication + replication
        run: Scenario = {**at_buffer, "scheme": scheme, "replication": number, "traffic": traffic}
        return {**run, "warmup": self.choose_warmup(cell)}

    def choose_warmup(self, cell: Cell) -> str:
        """Returns the warm-up of a cell: the one given, or if it is chosen, the one needed.

        A chosen one is no shorter than the given one, and else no longer than the window.
        """
        given = self.base["warmup"]
        if self.warmup is None or not self.warmup.is_chosen:
            return given
        return _engine.chosen_warmup(given, self.base["duration"], self.warmup.needed_s(cell.load))

    def task_scenario(self, task: Task) -> Scenario:
        """Returns the scenario of a task."""
        return self.scenario(self.cells[task.cell], self.schemes[task.scheme], task.replication)


def is_overlaid(traffic: TrafficSection) -> bool:
    """Returns whether files are overlaid to meet a load, so that replications resample them."""
    files_of_mix = (entry for entry in traffic.get("mix") or () if entry.get("files"))
    main = bool(traffic.get("files")) and traffic.get("load") is not None
    return main or any(entry.get("load") is not None for entry in files_of_mix)


def make_plan(shared: SharedScenario, options: Options, own_scheme: str | None) -> Plan:
    """Returns the plan of grid, schemes and replications; `own_scheme` is that of the user's scenario.

    Raises `MouseholeError` for an option that is not allowed; `check_plan` has the engine check the rest.
    """
    load, baseline = options.load, check_baseline(options.baseline)
    seeds = defaults.QUICK_REPLICATIONS if options.quick else defaults.REPLICATIONS
    return Plan(
        base=shared.base,
        buffers=shared.buffers,
        loads=parse_loads("load", shared.base["traffic"].get("load") if load is None else load),
        schemes=with_baseline(_choose_schemes(options, own_scheme, shared.base), baseline),
        baseline=baseline,
        replications=require_at_least("seeds", seeds if options.seeds is None else options.seeds, 1),
        short_bytes=_engine.parse_size("short", with_unit("short", options.short, BYTES)),
        long_bytes=_engine.parse_size("long", with_unit("long", options.long, BYTES)),
        is_sequential=options.sequential,
        vetoes=_list_vetoes(options.veto),
        reference=None if options.reference is None else options.reference.strip(),
    )


def check_plan(plan: Plan) -> Plan:
    """Returns the plan unchanged, after checks.

    Raises `MouseholeError` for sizes that contradict each other, for too many runs, for a scenario that the
    engine refuses, for an own policy that is at fault, and for two schemes that are the same.
    """
    check_sizes(plan)
    runs = len(plan.schemes) * plan.replications * len(plan.buffers) * len(plan.loads)
    if runs > MOST_RUNS:
        raise field_error(
            "seeds", plan.replications, f"fewer, for at most {MOST_RUNS} runs", f"makes {runs} runs"
        )
    try_scenarios([plan.scenario(cell, scheme) for cell in plan.cells for scheme in plan.schemes])
    meanings = [
        [fill_in(plan.scenario(cell, scheme))["scheme"] for scheme in plan.schemes] for cell in plan.cells
    ]
    _engine.refuse_duplicates(plan.schemes, meanings[0])
    return plan


def check_sizes(plan: Plan) -> None:
    """Raises `MouseholeError` unless 1 B ≤ `short` ≤ `long`."""
    if plan.short_bytes < 1:
        raise field_error("short", plan.short_bytes, "a size of at least 1 byte")
    if plan.long_bytes < plan.short_bytes:
        allowed = f"a size of at least that of short transfers ({plan.short_bytes} B)"
        raise field_error("long", plan.long_bytes, allowed)


def load_policies(given: str | Sequence[str] | None) -> list[str]:
    """Compiles and loads the headers of own policies, so that schemes may name them; returns their names.

    They are loaded for the whole process; nothing is done for None. Raises `MouseholeError` for a header that
    is at fault, also if its set-up crashes or does not end.
    """
    headers = () if given is None else parse_texts("policy", given)
    try_headers(headers)
    return [_engine.load_policy(path) for path in headers]


def _list_vetoes(given: object) -> tuple[str, ...]:
    """Returns the texts of vetoes, of which one or several are given, or none.

    Raises `MouseholeError` for anything else.
    """
    several = [given] if isinstance(given, str) else given or ()
    several = list(several) if isinstance(several, Iterable) else [several]
    texts = tuple(text for text in several if isinstance(text, str))
    if len(texts) != len(several):
        raise field_error("veto", given, "a text, or a list of texts")
    return texts


def with_baseline(schemes: tuple[str, ...], baseline: str) -> tuple[str, ...]:
    """Returns the schemes with the baseline first; it is added if it is not among them."""
    return (baseline, *(scheme for scheme in schemes if scheme != baseline))


def _choose_schemes(options: Options, own: str | None, base: Scenario) -> tuple[str, ...]:
    """Returns the schemes to compare.

    Where none is named, `own` of the user's scenario is added at the end.
    """
    link: Mapping[str, object] = base["link"]
    down, up = (None if link.get(way) is None else str(link[way]) for way in bottleneck.EACH)
    chosen = parse_schemes(options.schemes, down, up)
    return chosen if options.schemes or not own else tuple(dict.fromkeys((*chosen, own.strip())))


def parse_schemes(
    given: str | Sequence[str] | None, down: str | None = None, up: str | None = None
) -> tuple[str, ...]:
    """Returns the schemes to compare, each once: those named, or the default ones for these rates.

    `all` stands for all schemes. Raises `MouseholeError` as `parse_texts` and `default_schemes` do; names are
    not checked.
    """
    if given is None:
        return default_schemes(down, up)
    named = parse_texts("schemes", given)
    each = (list_all_schemes() if item == "all" else (item,) for item in named)
    return tuple(dict.fromkeys(chain.from_iterable(each)))


def check_baseline(given: str) -> str:
    """Returns the baseline without spaces around it; raises `MouseholeError` if there is no such scheme.

    An own policy must be loaded before.
    """
    try:
        _engine.scheme_parameters(given.strip())
    except MouseholeError as error:
        raise error.renamed({"scheme": "baseline"}) from None
    return given.strip()


def list_all_schemes() -> tuple[str, ...]:
    """Returns every scheme with its defaults and SFD in mode coupled, without those that only repeat ns-2."""
    names = [scheme["name"] for scheme in _engine.schemes() if not scheme["name"].startswith("ns2-")]
    after_sfd = names.index("sfd") + 1
    return (*names[:after_sfd], "sfd(mode=coupled)", *names[after_sfd:])


@cache
def list_ideals() -> frozenset[str]:
    """Returns the names of the schemes that nobody can deploy.

    Their summaries in the catalogue begin with `ideal`.
    """
    return frozenset(entry["name"] for entry in _engine.schemes() if entry["summary"].startswith("ideal"))


def is_ideal(scheme: str) -> bool:
    """Returns whether the scheme is an ideal, which nobody can deploy."""
    return scheme_name(scheme) in list_ideals()


def default_schemes(down: str | None, up: str | None) -> tuple[str, ...]:
    """Returns the schemes that are compared if none is named, on a line with these rates or files of rates.

    Files of rates are read. If one of the two is None, the line counts as symmetric. Raises `MouseholeError`
    for a rate or a file that cannot be read.
    """
    if down is None or up is None:
        return _engine.default_schemes(1, 1)
    return _engine.default_schemes(_engine.link_rate("down", down), _engine.link_rate("up", up))
