"""Scenarios of a sweep's cells, made as `compare` makes them, with the traffic of each."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, cast

from mousehole import _engine
from mousehole import scenario as scenarios
from mousehole.base import (
    BYTES,
    MouseholeError,
    Options,
    field_error,
    parse_loads,
    scheme_name,
    unknown_error,
    with_unit,
    with_units,
)
from mousehole.comparison import find_start, make_warmup
from mousehole.engine_types import Floats, Scenario, TrafficSection, TrafficSummary
from mousehole.inputs import TrafficShipment, make_shipment
from mousehole.inputs import traffic as traffics
from mousehole.runs import Plan, check_sizes
from mousehole.scenario import bottleneck, sizefiles
from mousehole.sweeps._description import SECTIONS, TRAFFIC, Description, is_part_setting, resolve_traffic
from mousehole.sweeps._design import Cells
from mousehole.sweeps._quantities import Value, write_value

KEPT = 4
"""Traffics that are in memory at once."""
_KNOWN = "expected one of "


class Loaded:
    """Traffic in memory, and what the warm-up is chosen from."""

    def __init__(self, engine: _engine.Traffic | None) -> None:
        """Lists the sizes of the traffic; `engine` is None if the scenario alone describes it."""
        self.engine = engine
        self.sizes: Floats = traffics.list_transfer_sizes(engine)
        self._summaries: dict[str | None, TrafficSummary] = {}

    def summary(self, rate: str | None) -> TrafficSummary | None:
        """Returns the summary of the traffic, with its load on a link of this rate.

        None if the scenario generates all traffic. Only the summary for the newest rate is stored.
        """
        if self.engine is None:
            return None
        if rate not in self._summaries:
            self._summaries = {rate: self.engine.summary(rate)}
        return self._summaries[rate]


@dataclass(frozen=True)
class CellPlan:
    """A cell as it is run: `plan` has the schemes with their parameters, in the order of `schemes`."""

    number: int
    settings: Mapping[str, Value]
    schemes: tuple[str, ...]
    """The schemes as they were given."""
    plan: Plan
    given: traffics.TrafficInput
    options: Options
    chooses_warmup: bool

    def scenario(self, scheme: int, replication: int) -> Scenario:
        """Returns the scenario of one run, by the index of its scheme and its replication."""
        return self.plan.scenario(self.plan.cells[0], self.plan.schemes[scheme], replication)

    @property
    def weight(self) -> float:
        """Returns the bits that its link carries in a run, to which the cost of the run is proportional.

        A load above 1 counts as 1. Reads the file of a rate that varies.
        """
        rate = bottleneck.read_mean_rate(self.plan.base)
        bps = _engine.parse_rate("rate", rate) if rate else 1e6
        load, base = min(self.plan.cells[0].load or 1.0, 1.0), self.plan.base
        spans = [_engine.parse_duration(name, base[name]) for name in ("warmup", "duration")]
        return float(bps) * load * sum(spans)


class Planner:
    """Makes the plans of cells, and reads their traffic when it is needed."""

    def __init__(self, made: Description, cells: Cells) -> None:
        """Begins without traffic in memory."""
        self._made, self.cells = made, cells
        self._loaded: OrderedDict[str, Loaded] = OrderedDict()

    def plan(self, number: int) -> CellPlan:
        """Returns the plan of a cell without its warm-up, for which traffic must be read.

        Files of scenarios and rates are read. Raises `MouseholeError`, which names the cell, for a value that
        is not allowed.
        """
        settings = self.cells.settings(number)
        schemes = tuple(self.cells.schemes(number))
        try:
            return self._plan(number, settings, schemes)
        except MouseholeError as error:
            raise _locate_error(error, number, settings) from None

    def check(self, cell: CellPlan) -> list[Scenario]:
        """Returns the scenarios of a cell's first replication; raises `MouseholeError` for a fault in one."""
        made = [cell.scenario(place, 0) for place in range(len(cell.schemes))]
        try:
            meanings = [scenarios.fill_in(scenario)["scheme"] for scenario in made]
            _engine.refuse_duplicates(cell.plan.schemes, meanings)
        except MouseholeError as error:
            raise _locate_error(error, cell.number, cell.settings) from None
        return made

    def ready(self, cell: CellPlan) -> tuple[CellPlan, _engine.Traffic | None]:
        """Returns the plan of a cell with its warm-up, and the traffic, which is read.

        Traffic stays in memory until `KEPT` others were used after it. Raises `MouseholeError` for a fault in
        the traffic.
        """
        loaded = self._load(cell)
        own = cell.plan.loads[0] is None
        summary = loaded.summary(bottleneck.compute_load_rate(cell.plan.base) if own else None)
        warmup = make_warmup(cell.plan, loaded.sizes, summary, cell.chooses_warmup)
        return replace(cell, plan=replace(cell.plan, warmup=warmup)), loaded.engine

    def files(self, cell: CellPlan) -> list[Path]:
        """Returns the files that a cell is made of: scenario, traces, flow sizes.

        Raises `MouseholeError` for standard input, which cannot be read again when a sweep is resumed.
        """
        source = resolve_traffic(
            self._made, {**self._made.options, **cell.settings}.get(TRAFFIC, self._made.traffic)
        )
        own = [Path(source[0])] if traffics.is_scenario(source) else []
        if sizefiles.STANDARD_INPUT in map(str, cell.given.files):
            raise field_error("traffic", sizefiles.STANDARD_INPUT, "files, which can be read again")
        return [*own, *cell.given.files]

    def shipment(self, cell: CellPlan) -> TrafficShipment | None:
        """Returns how other processes get the traffic of a cell; None if the scenario alone describes it.

        Raises `MouseholeError` for standard input.
        """
        return make_shipment(cell.given, cell.options.strict, cell.plan.base["seed"])

    def _plan(self, number: int, settings: dict[str, Value], schemes: tuple[str, ...]) -> CellPlan:
        """Returns the plan of cell `number`; raises `MouseholeError` for settings that do not fit."""
        made = self._made
        whole = {**made.options, **settings}
        options = _select_options(whole)
        source = resolve_traffic(made, whole.get(TRAFFIC, made.traffic))
        start, given = find_start(source, options)
        if options.replay is not None:
            given = replace(given, section={**given.section, "replay": options.replay})
        for name, value in whole.items():
            start, given = _apply_setting(name, value, start, given)
        shared = scenarios.make_shared(cast("Scenario", with_units(start)), given.section, options)
        load = shared.base["traffic"].get("load") if options.load is None else options.load
        loads = parse_loads("load", load)
        for field, count in (("buffer", len(shared.buffers)), ("load", len(loads))):
            if count != 1:
                raise field_error(field, str(whole[field]), "one value in each cell; an axis has several")
        run = tuple(_with_part_settings(scheme, whole) for scheme in schemes)
        plan = Plan(
            base=shared.base, buffers=shared.buffers, loads=loads, schemes=run, baseline=run[0],
            replications=made.seeds,
            short_bytes=_engine.parse_size("short", with_unit("short", options.short, BYTES)),
            long_bytes=_engine.parse_size("long", with_unit("long", options.long, BYTES)),
        )  # fmt: skip
        check_sizes(plan)
        chooses = options.warmup is None and not traffics.is_scenario(source)
        return CellPlan(number, settings, schemes, plan, given, options, chooses)

    def _load(self, cell: CellPlan) -> Loaded:
        """Returns the cell's traffic, which is read unless it is among the last `KEPT` ones.

        Raises `MouseholeError` for a fault in it.
        """
        section, seed = cell.given.section, cell.plan.base["seed"]
        key = repr((section, cell.options.strict, seed))
        if key in self._loaded:
            self._loaded.move_to_end(key)
        else:
            self._loaded[key] = Loaded(cell.given.read(cell.options.strict, seed))
            while len(self._loaded) > KEPT:
                self._loaded.popitem(last=False)
        return self._loaded[key]


def _select_options(settings: Mapping[str, Value]) -> Options:
    """Returns the options of `compare` among the settings; those named `params.…` become `params`.

    Raises `MouseholeError` for a switch that is neither true nor false.
    """
    known = {item.name: item.default for item in fields(Options)}
    given: dict[str, Any] = {name: value for name, value in settings.items() if name in known}
    for name, value in given.items():
        if isinstance(known[name], bool) and not isinstance(value, bool):
            raise field_error(name, str(value), "true or false")
    params = {
        name.removeprefix("params."): value for name, value in settings.items() if name.startswith("params.")
    }
    return Options(**given, params=params or None)


def _apply_setting(
    name: str, value: Value, start: Scenario, given: traffics.TrafficInput
) -> tuple[Scenario, traffics.TrafficInput]:
    """Returns scenario and traffic with a setting that is the path of a field, as copies.

    Any other setting changes nothing. Raises `MouseholeError` for a path within a mix or listed connections.
    """
    head, _, rest = name.partition(".")
    if head == "traffic" and rest.partition(".")[0] in ("mix", "connections"):
        raise field_error(name, str(value), "in a scenario, which traffic may name; a setting is one value")
    if head == "traffic" and rest:
        section = cast("TrafficSection", _with_path({**given.section}, rest, value))
        return start, replace(given, section=section)
    is_top = not rest and name in Scenario.__annotations__ and name not in (*_OPTIONS, TRAFFIC)
    if (head in SECTIONS and rest) or is_top:
        return cast("Scenario", _with_path({**start}, name, value)), given
    return start, given


_OPTIONS = {item.name for item in fields(Options)}


def _with_path(table: dict[str, Any], path: str, value: Value) -> dict[str, Any]:
    """Returns a copy of the table with `value` at a path such as `tcp.min_rto`; missing tables are made."""
    head, dot, rest = path.partition(".")
    inner = table.get(head)
    return {
        **table,
        head: _with_path({**inner} if isinstance(inner, dict) else {}, rest, value) if dot else value,
    }


def _with_part_settings(scheme: str, settings: Mapping[str, Value]) -> str:
    """Returns a scheme with the settings that are parameters of its parts."""
    for name, value in settings.items():
        if is_part_setting(name):
            part, _, parameter = name.partition(".")
            scheme = with_parameter(scheme, part, parameter, write_value(value))
    return scheme


def with_parameter(scheme: str, part: str, parameter: str, value: str) -> str:
    """Returns a scheme in which a part's parameter has this value; unchanged if there is no such part.

    Another value of the parameter is replaced.
    """
    made = []
    for item in scheme.split("|"):
        name = scheme_name(item)
        if name == part:
            inside = item.partition("(")[2].rpartition(")")[0]
            others = [one.strip() for one in inside.split(",") if one.strip()]
            kept = [one for one in others if one.partition("=")[0].strip() != parameter]
            item = f"{name}({','.join([*kept, f'{parameter}={value}'])})"
        made.append(item)
    return "|".join(made)


def _locate_error(error: MouseholeError, number: int, settings: Mapping[str, Value]) -> MouseholeError:
    """Returns the error with its cell before its field; for an unknown field, one with a suggestion.

    An error without a field is returned as it is.
    """
    if "unknown field `" in error.sentence and _KNOWN in error.sentence:
        unknown = error.sentence.split("`")[1]
        known = error.sentence.partition(_KNOWN)[2].split("`")[1::2]
        for name in settings:
            if name.split(".")[-1] == unknown:
                return unknown_error(name.rpartition(".")[0] or name, "field", unknown, known)
    if error.field is None:
        return error
    cell = ", ".join(f"{name}={write_value(value)}" for name, value in settings.items())
    return error.moved(f"cell {number} ({cell}): {error.field}")
