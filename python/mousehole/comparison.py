"""`mousehole.compare`: the same traffic through every scheme, and what comes of it."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from mousehole import _engine, bottleneck, findings, jsonout, notes, output, overview, records, tables
from mousehole import traffic as traffics
from mousehole.errors import conflict_error, field_error, missing_error
from mousehole.manifest import manifest
from mousehole.options import least, load_list, text_list
from mousehole.plan import (
    Cell,
    Json,
    Plan,
    checked,
    chosen_schemes,
    known_baseline,
    normalised,
    with_baseline,
)
from mousehole.pool import default_jobs, estimated_seconds, interruptible, run_one, run_plan
from mousehole.progress import Reporter, Silent
from mousehole.settings import Options, taking

SCENARIO_SCHEMA = "mousehole.scenario/1"
REPLICATIONS, QUICK_REPLICATIONS = 10, 3


@taking(Options)
def compare(traffic: traffics.Source, options: Options) -> "Comparison":
    """Replays `traffic` against every scheme and compares what short and long transfers get.

    `traffic` is a file or several (pcap, Zeek, access log, table), a model such as `"web:sfd"`, a polars or
    pandas frame with columns start_s, client, server, bytes and perhaps rtt_s, a list of such dictionaries
    (with `bytes`, or with `writes` of idle_s and bytes), or a scenario (a `.toml` file): then all that is not
    given here is as it says, and what is said of the link goes for the bottleneck of its topology. Rates,
    times and sizes are texts with units, as on the command line.

    The link:
      rate              such as "10mbit"; needed, except with a scenario
      rtt               of connections whose traffic does not tell one ("80ms")
      buffer            "50p", "64kB", "1bdp" (the default); several, as a list or with commas, give a grid
      uplink, uplink_buffer   the link that carries the acknowledgements (as `rate`; "1000p")
      overhead          link-layer bytes added to every packet (0)
    The traffic:
      load              wire bytes over capacity, at most 2 (the traffic's own); several give a grid
      direction         "down" (server to client) or "up"
      ignore_trace_rtt  `rtt` for all connections
      strict            any faulty row of a file is an error
      params            parameters of a model, over its defaults
    The hosts:
      tcp               profile: "rfc", "linux", "ns2-2.35" or "ns2-2001"
      ecn               hosts use ECN (RFC 3168)
    What is compared:
      schemes           names, perhaps with parameters: "droptail,sfd(th=15kB)", a list of such, or "all"
      baseline          what the others are compared with ("droptail")
      short, long       transfers up to the one are short ("15kB"), above the other long ("150kB")
    How much is run:
      duration, warmup  the measured window and what goes before ("300s", "30s")
      seeds             replications (10; 3 if `quick`); fewer than five give no intervals
      quick             three replications: a look, without findings
      seed              base of all random draws (1); the same seed gives the same result, on any machine
      jobs              runs at a time (one per core); changes nothing in the result
      reporter          is told how the work goes; nobody by default

    Raises `MouseholeError` for a fault in the input, before anything long is started, and `Stopped` (a
    `KeyboardInterrupt`) on Ctrl-C.

    >>> found = compare("web:sfd", rate="3mbit", load=0.9, schemes="droptail,fq-codel",
    ...                 duration="20s", warmup="5s", seeds=5)
    >>> found.buckets.height, sorted(found.findings["scheme"].unique())
    (20, ['fq-codel'])
    """
    start = _start(traffic, options)
    base, buffers = _with_buffers(_base(start, options), options.buffer)
    own_scheme = start["scheme"] if traffics.is_scenario(traffic) else None
    plan = _plan(base, buffers, own_scheme, options)
    jobs = least("jobs", default_jobs() if options.jobs is None else options.jobs, 1)
    checked(plan)  # with stand-in traffic, so that settings are refused before large files are read
    loaded = _loaded(traffic, base, options)
    plan = checked(replace(plan, base={**base, "traffic": loaded.section}))
    return _compared(plan, loaded, jobs, options.reporter or Silent())


def _base(start: Json, options: Options) -> Json:
    """The scenario that all runs share: what is given over what it starts from."""
    at_link = {"rate": options.rate, "rtt": options.rtt, "uplink_rate": options.uplink,
               "uplink_buffer": options.uplink_buffer, "overhead": options.overhead}  # fmt: skip
    at_link |= {"ignore_trace_rtt": True} if options.ignore_trace_rtt else {}
    hosts = _given(profile=options.tcp) | ({"ecn": True} if options.ecn else {})
    for field, number in (("seed", options.seed), ("overhead", options.overhead)):
        least(field, number or 0, 0)
    base = {
        **bottleneck.changed(start, **at_link),
        **_given(seed=options.seed, warmup=options.warmup, duration=options.duration),
        "tcp": {**start["tcp"], **hosts},
    }
    if "rate" not in base["link"]:
        raise missing_error("rate", "a rate such as 10mbit, or a scenario that has one")
    return base


def _plan(base: Json, buffers: tuple[str, ...], own_scheme: str | None, options: Options) -> Plan:
    """Grid, schemes and replications."""
    load, baseline = options.load, known_baseline(options.baseline)
    return Plan(
        base=base,
        buffers=buffers,
        loads=load_list("load", base["traffic"].get("load") if load is None else load),
        schemes=with_baseline(chosen_schemes(options.schemes, own_scheme), baseline),
        baseline=baseline,
        replications=least("seeds", _replications(options.seeds, options.quick), 1),
        short_bytes=_engine.parse_size("short", options.short),
        long_bytes=_engine.parse_size("long", options.long),
    )


class Comparison:
    """What a comparison found, as polars frames, plots and JSON."""

    def __init__(
        self, results: tables.Results, loaded: traffics.Loaded, manifest: Json, summary: Json
    ) -> None:
        self.results = results
        self.manifest = manifest
        """Everything that determined the results."""
        self.traffic_summary = summary
        """What was understood of the traffic."""
        self.label = loaded.label
        self._loaded = loaded

    @property
    def plan(self) -> Plan:
        """The grid, schemes and replications."""
        return self.results.plan

    @cached_property
    def buckets(self) -> pl.DataFrame:
        """One row per cell, scheme and size bucket: count, response time, slowdown, transfer time."""
        return _frame(tables.bucket_rows(self.results))

    @cached_property
    def schemes(self) -> pl.DataFrame:
        """One row per cell and scheme: utilisation, goodput, loss, marks, queue delay, Jain's index."""
        return _frame(tables.scheme_rows(self.results))

    @cached_property
    def colours(self) -> pl.DataFrame:
        """One row per cell, scheme and colour: packets arrived, dropped early and forced, marked, sent."""
        return _frame(tables.colour_rows(self.results))

    @cached_property
    def curves(self) -> pl.DataFrame:
        """Mean response time against transfer size."""
        return _frame(tables.curve_rows(self.results))

    @cached_property
    def cdf(self) -> pl.DataFrame:
        """Distribution of the response time of short transfers."""
        return _frame(tables.cdf_rows(self.results))

    @cached_property
    def finding_list(self) -> list[findings.Finding]:
        """Every scheme against the baseline and FQ-CoDel, in every cell."""
        return findings.findings(self.results)

    @cached_property
    def groups(self) -> pl.DataFrame:
        """One row per cell, scheme and figure of an application: sources of a mix, pages, calls, cheats."""
        return _frame(tables.group_rows(self.results))

    @cached_property
    def by_size(self) -> pl.DataFrame:
        """One row per cell, scheme and size bucket: change of the mean response time against FQ-CoDel."""
        return _frame(overview.by_size_rows(self.results))

    @property
    def findings(self) -> pl.DataFrame:
        """The findings, one row each, with the sentence for people."""
        return _frame([finding.as_row() for finding in self.finding_list])

    def notes(self, cell: Cell) -> list[str]:
        """Remarks on a cell, such as that nothing will show on a link that is not loaded."""
        return notes.cell_notes(self.results, cell)

    def transfers(self, scheme: str, replication: int = 0, cell: Cell | None = None) -> pl.DataFrame:
        """Every measured transfer of one run, one row each.

        Runs do not keep their records, so this repeats the run; the same seed gives the same records.
        """
        if scheme not in self.plan.schemes:
            raise field_error("scheme", scheme, f"one of this comparison: {', '.join(self.plan.schemes)}")
        scenario = self.plan.scenario(cell or self.plan.cells[0], scheme, replication)
        result = interruptible(lambda: run_one(scenario, self._loaded.traffic, _engine.Cancel()))
        return pl.DataFrame(result.transfers())

    def plot(self, path: str | Path) -> None:
        """Draws the comparison; the ending of the name (.png, .svg, .pdf) says the format."""
        from mousehole import plots  # takes a second to load, and is often not needed

        output.check_suffix("plot", str(path), output.PLOT_SUFFIXES)
        output.write_with(path, lambda part: plots.draw(self, part))

    def heatmap(self, path: str | Path) -> None:
        """Draws the change by size and scheme against FQ-CoDel; the ending of the name says the format."""
        from mousehole import heatmap

        output.check_suffix("heatmap", str(path), output.PLOT_SUFFIXES)
        output.write_with(path, lambda part: heatmap.draw(self, part))

    def to_json(self) -> str:
        """The document of schema `mousehole.compare/1`; the same bytes for the same inputs and seed."""
        return jsonout.dumps(jsonout.comparison_document(self))

    def scenario(self, scheme: str | None = None, replication: int = 0, cell: Cell | None = None) -> Json:
        """The engine scenario of one run, with every parameter filled in."""
        return normalised(
            self.plan.scenario(cell or self.plan.cells[0], scheme or self.plan.baseline, replication)
        )

    def __repr__(self) -> str:
        primary = [finding.sentence for finding in self.finding_list if not finding.exploratory]
        return "\n".join([f"Comparison of {len(self.plan.schemes)} schemes on {self.label}", *primary])


def _start(traffic: traffics.Source, options: Options) -> Json:
    """What every scenario starts from: the user's, or defaults with a model in the place of the traffic."""
    if traffics.is_scenario(traffic):
        return _started(records.load_scenario(traffics.scenario_path(traffic)), options)
    return {
        "schema": SCENARIO_SCHEMA,
        "seed": 1,
        "warmup": "30s",
        "duration": "300s",
        "link": {"rtt": "80ms", "buffer": "1bdp"},
        "tcp": {"profile": "rfc"},
        "traffic": {"model": "web:sfd", **_given(direction=options.direction)},
    }


def _started(scenario: Json, options: Options) -> Json:
    """A scenario with what is said here of its traffic."""
    params = options.params
    section = {**scenario["traffic"], **_given(direction=options.direction)}
    if params and not section.get("model"):
        allowed = "they are a model's, so give a scenario with traffic.model"
        raise conflict_error("params", json.dumps(params), "a scenario without a model", allowed)
    if params:
        section["params"] = {**(section.get("params") or {}), **params}
    return {**scenario, "traffic": section, "trace": False}


def _with_buffers(base: Json, given: str | Sequence[str] | None) -> tuple[Json, tuple[str, ...]]:
    """The scenario and the buffers of the grid; a topology's bottleneck is written out, to have them."""
    buffers = None if given is None else text_list("buffer", given)
    if base.get("topology") is None:
        return base, buffers or text_list("buffer", base["link"]["buffer"])
    topology = normalised(bottleneck.changed(base, buffer=buffers[0] if buffers else None))["topology"]
    return {**base, "topology": topology}, buffers or (topology["buffer"],)


def _loaded(traffic: traffics.Source, base: Json, options: Options) -> traffics.Loaded:
    if traffics.is_scenario(traffic):
        return traffics.of_scenario(base, traffics.scenario_path(traffic), options.strict)
    direction = base["traffic"].get("direction", "down")
    return traffics.load(traffic, direction, options.strict, base["seed"], options.params)


def _replications(seeds: int | None, quick: bool) -> int:
    return seeds if seeds is not None else QUICK_REPLICATIONS if quick else REPLICATIONS


def _compared(plan: Plan, loaded: traffics.Loaded, jobs: int, told: Reporter) -> Comparison:
    rate = bottleneck.facts(plan.base)["rate"]
    summary = interruptible(lambda: traffics.summary(loaded, rate))
    _announce(plan, loaded, summary, jobs, told)
    facts = run_plan(plan, loaded.traffic, jobs, told)
    return Comparison(tables.Results(plan, facts), loaded, manifest(plan, loaded), summary)


def _given(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}


def _frame(rows: list[Json]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def _announce(plan: Plan, loaded: traffics.Loaded, summary: Json, jobs: int, told: Reporter) -> None:
    """The estimated time, and a warning when the traffic alone cannot load the link."""
    native = summary.get("native_load")
    if plan.loads == (None,) and native is not None and native < notes.UNLOADED:
        told.say(
            f"warning: {loaded.label} loads this link only to {native:.2g} by itself, so nothing will show; "
            "give --load (such as --load 0.9) to lay it over itself"
        )
    seconds = estimated_seconds(plan, loaded.traffic, jobs)
    cells = f" × {len(plan.cells)} cells" if len(plan.cells) > 1 else ""
    told.say(f"{_about(seconds)}: {len(plan.schemes)} schemes × {plan.replications} replications{cells}")


def _about(seconds: float) -> str:
    if seconds < 2:
        return "about a second"
    if seconds < 90:
        return f"about {seconds:.0f} s" if seconds < 10 else f"about {5 * round(seconds / 5)} s"
    return f"about {seconds / 60:.0f} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
