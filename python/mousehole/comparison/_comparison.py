"""The Python interface: `compare` runs a comparison, `Comparison` gives access to its results.

The layers are: `results` holds the data; `tables`, `findings`, `notes` and `overview` compute from it;
`reports` and `jsonout` show it; this module calls all of them, and none imports it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mousehole import _engine
from mousehole import scenario as scenarios
from mousehole.answer import Advice, advice, findings, jsonout, make_manifest, notes, overview, tables, vetoes
from mousehole.base import (
    MouseholeError,
    Options,
    Reporter,
    Silent,
    accepts_options,
    available_bytes,
    defaults,
    field_error,
    make_frame,
    require_at_least,
    run_interruptibly,
)
from mousehole.engine_types import Floats, Manifest, Scenario, TrafficSection, TrafficSummary
from mousehole.html import Kept
from mousehole.inputs import make_shipment
from mousehole.inputs import traffic as traffics
from mousehole.runs import (
    Backend,
    Cell,
    Estimate,
    Facts,
    Finding,
    Plan,
    Results,
    Shipment,
    Warmup,
    check_plan,
    check_resamples,
    choose_jobs,
    default_jobs,
    estimate_plan,
    find_capture,
    load_policies,
    make_plan,
    make_row_frame,
    open_backend,
    reduce_run,
    require_load,
    run_one,
    run_plan,
    try_traffic,
    write_cost,
)
from mousehole.scenario import bottleneck

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from mousehole.document import Document


@accepts_options(Options)
def compare(traffic: traffics.Source, options: Options) -> "Comparison":
    """Compares schemes: replays `traffic` under each of them and reports what transfers gain or lose.

    `traffic` is one of these:

    - one file or several (pcap, Zeek log, HAR, NetFlow, access log, table), "-" for standard input;
    - one model, such as `"web:sfd"`;
    - one place with its users and what they run, such as `"home"` (docs/homes.md), or `()` with `users` and
      `apps`;
    - a frame of polars, pandas or pyarrow, or a dictionary of columns: `start_s`, `client`, `bytes`, and
      perhaps `server`, `rtt_s` and `duration_s`; docs/api.md says what they may hold;
    - a list of dictionaries with the same keys; in place of bytes, `writes` may be a list of dictionaries
      with `idle_s` and `bytes`;
    - one scenario (a `.toml` file). It supplies all that no option changes. On a topology, options of the
      link apply to its bottleneck.

    The options are keywords. Rates, times and sizes are texts with units, as on the command line, or numbers
    of bits per second, seconds and bytes. Defaults are in parentheses.

    The link:

    - `down` and `up`: rates of the two directions, such as "20mbit" and "1mbit"; either may be the file of a
      rate that varies
    - `rate`: one rate for both directions in their place; one of these is required, except with a scenario
    - `at`: "down", "up" or "both": the directions at whose queue the scheme is ("both" with `down` and `up`,
      else "down"); another queue is drop-tail
    - `rtt`: round-trip time of connections if the traffic gives none ("80ms")
    - `buffer`: "50p", "64kB" or "1bdp" ("1bdp"); several, as a list or with commas, give a grid. With `down`
      and `up` it is that of both directions; with `rate`, the upload direction has "1000p"
    - `overhead`: link-layer bytes added to every packet (0)
    - `link_layer`: the link layer by name, such as "docsis", in place of `overhead`
    - `shape` and `up_shape`: the line is a modem's, and schemes send into its FIFO at this share of the
      line's rate, or rate (none); `modem_buffer` is that FIFO's, `shape_layer` what shapers count
    - `burst`: depth of a token bucket that shapes both directions of the link, as Linux's tbf does (none)

    The traffic:

    - `users`: number of users (that of the place)
    - `apps`: what they run, such as "web:1,calls:0.3", with the share of users who do (those of the place)
    - `load`: bytes on the wire over capacity, at most 2 (the traffic's own); several give a grid. Of users
      with applications it is that of their web pages
    - `payload`: which way the payload goes: "down", server to client, "up", or of some models "both" (the
      scenario's, else "down"; of calls "both")
    - `replay`: "closed": files' connections wait for each other as recorded, or "open" ("closed" if the files
      tell when connections ended, else "open")
    - `ignore_trace_rtt`: use `rtt` for every connection (False)
    - `strict`: treat a faulty row of a file as an error (False)
    - `params`: parameters of the model that differ from its defaults
    - `class_`: classes of flows against the rule, such as "port 5060=call", or several (none)
    - `qoo`: profile of Quality of Outcome of a class, such as "games=p99 40ms..150ms, loss 0.1%..2%", or
      several (those of docs/compare.md)
    - `format_`: file that describes the format of logs (recognised by content)

    The hosts:

    - `tcp`: TCP profile: "linux", "bbr", "prague", "rfc", "ns2-2.35" or "ns2-2001", or shares such
      as "linux:0.6,bbr:0.4" ("linux"; a scenario's own)
    - `ecn`: hosts use ECN, RFC 3168 (False)
    - `nqb`: calls, games and video calls mark their packets NQB, RFC 9956 (False)
    - `server_think`: time from a request to its answer where the traffic does not tell it ("6ms" with
      "linux", "bbr" and "prague", else none)

    What is compared:

    - `schemes`: names, perhaps with parameters: "droptail,sfd(th=15kB)", a list of such, or "all"
    - `policy`: header of your own policy, or several, that schemes may then name (none)
    - `baseline`: scheme that the others are compared with ("droptail")
    - `veto`: harm to a class of traffic that rules a scheme out, such as "calls p95 +10ms", or several,
      in addition to the default ones or in place of one; "none" takes the default ones away (none)
    - `reference`: scheme that harm is measured against ("cake" if it is compared, else "fq-codel", else the
      baseline)
    - `short`, `long`: transfers up to `short` ("15kB") are short, those above `long` ("150kB") are long

    How much is run:

    - `duration`: length of the measured window ("300s")
    - `warmup`: time before the measured window (chosen from sizes and load; "30s" with `quick`)
    - `seeds`: replications (10; 3 with `quick`); fewer than five give no intervals
    - `quick`: a quick look: three replications, no verdicts (False)
    - `sequential`: intervals hold at every look, if replications are doubled for each (False)
    - `seed`: seed of all random draws (1); the same seed gives the same result on any machine
    - `jobs`: parallel runs (one per core, fewer if memory is short); the result is the same
    - `dask`: address of a Dask scheduler whose workers do the runs (none); the result is the same
    - `executor`: an executor of `concurrent.futures` that does them (none); the result is the same
    - `reporter`: receives progress reports (none)

    Raises `MouseholeError` for a fault in the input, before any long work, `TypeError` for an unknown
    keyword, and `Stopped` (a `KeyboardInterrupt`) on Ctrl-C.

    Examples:
        >>> found = compare("web:sfd", rate="3mbit", load=0.9, schemes="droptail,fq-codel",
        ...                 duration="20s", warmup="5s", seeds=5)
        >>> found.buckets.height, sorted(found.findings["scheme"].unique())
        (20, ['fq-codel'])
    """
    with open_backend(options.dask, options.executor, options.reporter) as backend:
        prepared = prepare(traffic, options, is_sent=backend is not None, is_fitted=True, is_replaced=True)
        _warn_of_low_load(prepared)
        _warn_of_no_nqb(prepared)
        return run_comparison(prepared, backend)


class Comparison(Kept):
    """What a comparison found, as polars frames, plots and JSON.

    Frames are computed when they are first asked for. Times are in seconds, rates in bits per second, sizes
    in bytes; docs/json.md explains the columns. An estimate is a mean over replications with the ends of its
    95 % interval, which are null below five replications.
    """

    def __init__(
        self, results: Results, engine_traffic: _engine.Traffic | None,
        clients: tuple[str, ...] | None = None,
    ) -> None:  # fmt: skip
        """Makes a comparison of results that exist; runs nothing.

        `clients` are the names of clients by their number, None without names.
        """
        self.results = results
        """The data of the comparison."""
        self._engine_traffic = engine_traffic
        self._clients = clients

    @property
    def plan(self) -> Plan:
        """Returns the grid, the schemes and the number of replications."""
        return self.results.plan

    @property
    def label(self) -> str:
        """Returns the name of the traffic, for titles."""
        return self.results.label

    @property
    def manifest(self) -> Manifest:
        """Returns everything that determines the results, as the JSON document has it."""
        return self.results.manifest

    @property
    def traffic_summary(self) -> TrafficSummary | None:
        """Returns the summary of the traffic as it was read; None if a scenario generates all of it."""
        return self.results.traffic

    @cached_property
    def buckets(self) -> "pl.DataFrame":
        """Returns one row per cell, scheme and size bucket: count, response time, slowdown, transfer time."""
        return make_row_frame(tables.bucket_rows(self.results))

    @cached_property
    def schemes(self) -> "pl.DataFrame":
        """Returns one row per cell and scheme: utilisation, goodput, loss, marks, queue delay, fairness."""
        return make_row_frame(tables.scheme_rows(self.results))

    @cached_property
    def colours(self) -> "pl.DataFrame":
        """Returns one row per cell, scheme and colour: packets arrived, dropped, marked and sent.

        They are summed over replications.
        """
        return make_row_frame(tables.colour_rows(self.results))

    @cached_property
    def curves(self) -> "pl.DataFrame":
        """Returns one row per cell, scheme and size bin that has transfers: the mean response time."""
        return make_row_frame(tables.curve_rows(self.results))

    @cached_property
    def cdf(self) -> "pl.DataFrame":
        """Returns the distribution of short transfers' response time: a row per cell, scheme and time."""
        return make_row_frame(tables.cdf_rows(self.results))

    @cached_property
    def groups(self) -> "pl.DataFrame":
        """Returns one row per cell, scheme and figure of an application, such as pages."""
        return make_row_frame(tables.group_rows(self.results))

    @cached_property
    def by_size(self) -> "pl.DataFrame":
        """Returns one row per cell, scheme and size bucket: the change of the mean response time.

        It is against FQ-CoDel, or without FQ-CoDel among the schemes against the baseline.
        """
        return make_row_frame(overview.by_size_rows(self.results))

    @property
    def finding_list(self) -> list[Finding]:
        """Returns every scheme against the baseline and against FQ-CoDel, in every cell, as objects."""
        return findings.findings(self.results)

    @property
    def findings(self) -> "pl.DataFrame":
        """Returns the findings as a frame, one row each, with the sentence for people."""
        return make_row_frame(self.finding_list)

    def advice(self, cell: Cell | None = None) -> Advice:
        """Returns what to install for short transfers, what it costs and how sure that is.

        `cell` is the first one by default. `lines` of the answer are what `mousehole compare` prints first.
        """
        return advice.advice(self.results, cell or self.plan.cells[0])[0]

    def notes(self, cell: Cell) -> list[str]:
        """Returns remarks on a cell of `plan.cells`, such as that the link is not loaded enough."""
        return notes.cell_notes(self.results, cell)

    def transfers(self, scheme: str, replication: int = 0, cell: Cell | None = None) -> "pl.DataFrame":
        """Returns every measured transfer of one run, one row each; docs/json.md explains the columns.

        A comparison does not keep the records of its runs, so this repeats the run; the same seed gives the
        same records. `cell` is the first one by default. `client` is the name that the user's data give a
        client, else a number. Raises `MouseholeError` for a scheme that was not compared, and where the
        traffic is gone: a comparison that was pickled, or is one day of several, has its numbers only.
        """
        if self._engine_traffic is None and self.results.traffic is not None:
            raise MouseholeError("cannot repeat a run; the traffic is not kept here, so compare again")
        if scheme not in self.plan.schemes:
            raise field_error("scheme", scheme, f"one of this comparison: {', '.join(self.plan.schemes)}")
        scenario = self.plan.scenario(cell or self.plan.cells[0], scheme, replication)
        result = run_interruptibly(lambda: run_one(scenario, self._engine_traffic, _engine.Cancel()))
        return make_frame(result.transfers(), clients=self._clients)

    def plot(self, path: str | Path | None = None) -> "alt.VConcatChart":
        """Returns the picture of the comparison, and writes it into a file if `path` is given.

        The path's suffix (.png, .svg, .pdf) gives the format. Raises `MouseholeError` for any other suffix
        and for a file that cannot be written.
        """
        from mousehole import charts  # loads Altair
        from mousehole.reports import plots

        return charts.write_chart(plots.draw_picture(self.results), path, "plot")

    def heatmap(self, path: str | Path | None = None) -> "alt.VConcatChart":
        """Returns the change by size and scheme against FQ-CoDel as a picture, and writes it as `plot` does.

        Without FQ-CoDel among the schemes, the changes are against the baseline.
        """
        from mousehole import charts
        from mousehole.reports import plots

        return charts.write_chart(plots.draw_heat_map(self.results), path, "heatmap")

    def document(self, command: Sequence[str] | None = None) -> "Document":
        """Returns the comparison as a document, which terminal, page and Markdown show.

        `command` is the command line as typed, None where Python was the caller.
        """
        from mousehole import reports  # loads Altair

        return reports.make_document(self.results, command)

    def to_json(self) -> str:
        """Returns the document of schema `mousehole.compare/3` (docs/json.md).

        The same inputs, options and seed give the same bytes.
        """
        return _engine.json_text(jsonout.comparison_document(self.results))

    def scenario(self, scheme: str | None = None, replication: int = 0, cell: Cell | None = None) -> Scenario:
        """Returns the scenario of one run, with all defaults filled in.

        By default it is that of the baseline's first run in the first cell.
        """
        run = self.plan.scenario(cell or self.plan.cells[0], scheme or self.plan.baseline, replication)
        return scenarios.fill_in(run)

    def __repr__(self) -> str:
        """Returns the title, and a line for each confirmatory finding."""
        return self.plan.describe(f"on {self.label}", self.finding_list)

    def __getstate__(self) -> dict[str, object]:
        """Returns the state for a pickle: all but the engine's traffic, so that a copy cannot repeat runs."""
        # The engine's traffic stays with its process.
        return {**self.__dict__, "_engine_traffic": None}


def find_start(source: traffics.Source, options: Options) -> tuple[Scenario, traffics.TrafficInput]:
    """Returns the scenario that options change, and the traffic that the source names.

    Reads a scenario's file, but not the traffic. Raises `MouseholeError` for a fault in it or in the options.
    """
    if not traffics.is_scenario(source):
        given = traffics.describe_traffic(
            source, options.payload, options.params, options.users, options.apps
        )
        given = traffics.with_classes(given, options.class_)
        return scenarios.make_default(), traffics.with_format(given, options.format_)
    path = traffics.find_scenario_path(source)
    traffics.refuse_users(options.users, options.apps, f"scenario {path.name}")
    start = scenarios.load(path)
    section = scenarios.make_traffic_section(start, options.payload, options.params)
    given = traffics.with_classes(traffics.from_section(section, path.name), options.class_)
    return start, traffics.with_format(given, options.format_)


@dataclass(frozen=True)
class Prepared:
    """A comparison before its runs: a checked plan, and traffic that has been read."""

    plan: Plan
    given: traffics.TrafficInput
    traffic: _engine.Traffic | None
    summary: TrafficSummary | None
    """What was understood of the traffic; None if the scenario generates all of it."""
    sizes: Floats
    """Bytes of the connections; none if they are not known beforehand."""
    jobs: int | None
    strict: bool
    reporter: Reporter

    @property
    def shipment(self) -> Shipment | None:
        """Returns how other processes get the traffic; None if the scenario alone describes it.

        Raises `MouseholeError` for standard input.
        """
        return make_shipment(self.given, self.strict, self.plan.base["seed"])


def prepare(
    source: traffics.Source,
    options: Options,
    is_sent: bool = False,
    is_fitted: bool = False,
    is_replaced: bool = False,
) -> Prepared:
    """Plans a comparison and reads its traffic; raises `MouseholeError` for a fault in the input.

    Registers the policies of `options.policy` with the engine. No run of the plan is made, but the traffic of
    files is read as a whole.

    With `is_sent` other processes will need the traffic, so that standard input is refused. With `is_fitted`
    a model replaces a capture that has too few short transfers to be played as it is, and with `is_replaced`
    ready-made traffic replaces one that has too few for a model.
    """
    load_policies(options.policy)
    source = traffics.make_repeatable(source)
    start, given = find_start(source, options)
    if options.replay is not None:
        given = replace(given, section={**given.section, "replay": options.replay})
    shared = scenarios.make_shared(start, given.section, options)
    plan = make_plan(shared, options, start.get("scheme"))
    jobs = None if options.jobs is None else require_at_least("jobs", options.jobs, 1)
    vetoes.check_margins(plan)
    check_plan(plan)  # before large files are read
    if is_sent:
        make_shipment(given, options.strict, shared.base["seed"])
    traffic = given.read(options.strict, shared.base["seed"], options.reporter)
    if traffic is not None and _is_capture(given):
        played = traffic.played(plan.short_bytes)
        if is_fitted and played == "fitted":
            plan, given = _replace_by_model(plan, given, traffic)
        # A scenario and data from Python speak for themselves.
        elif (
            is_replaced
            and played == "ready-made"
            and not traffics.is_scenario(source)
            and given.connections is None
        ):
            try_traffic(plan, traffic)  # what is wrong with it is said all the same
            return _prepare_ready_made(given, traffic.distinct(0, plan.short_bytes), options, is_sent)
    chooses = options.warmup is None and not options.quick and not traffics.is_scenario(source)
    rate = bottleneck.compute_load_rate(plan.base)
    summary = None if traffic is None else run_interruptibly(lambda: traffic.summary(rate))
    require_load(plan, summary)
    sizes = traffics.list_transfer_sizes(traffic)
    plan = replace(plan, warmup=make_warmup(plan, sizes, summary, chooses))
    check_resamples(plan, traffic, None if summary is None else summary["native_load"])
    return Prepared(plan, given, traffic, summary, sizes, jobs, options.strict, options.reporter or Silent())


def _is_capture(given: traffics.TrafficInput) -> bool:
    """Returns whether the traffic is connections from files or from data, without a mix."""
    return bool(given.section.get("files")) and not given.section.get("mix")


def _replace_by_model(
    plan: Plan, given: traffics.TrafficInput, traffic: _engine.Traffic
) -> tuple[Plan, traffics.TrafficInput]:
    """Returns plan and traffic with a model fitted to the capture in its place.

    The arguments stay as they are.
    """
    section: TrafficSection = {**plan.base["traffic"], "fitted": True}
    label = _engine.fitted_label(traffic.summary(None)["transfers"], given.label)
    return replace(plan, base={**plan.base, "traffic": section}), replace(given, label=label, clients=None)


def _prepare_ready_made(
    given: traffics.TrafficInput, short: int, options: Options, is_sent: bool
) -> Prepared:
    """Prepares the comparison with ready-made traffic in place of a capture that is too small.

    `short` is the number of distinct short transfers in the capture. Options that are only of files are
    dropped: `class_`, `params`, `payload`, `replay`, `strict`, `ignore_trace_rtt`.
    """
    plain = replace(
        options, class_=None, params=None, payload=None, replay=None, strict=False, ignore_trace_rtt=False
    )
    prepared = prepare(_engine.READY_MADE, plain, is_sent)
    label, why = _engine.ready_made_labels(given.label, short, prepared.plan.short_bytes)
    return replace(
        prepared,
        plan=replace(prepared.plan, instead_of=why),
        given=replace(prepared.given, label=label),
    )


def run_comparison(prepared: Prepared, backend: Backend | None = None) -> Comparison:
    """Reports what the plan will cost, runs it in threads or by `backend`, and returns the comparison.

    Cost and progress are reported to `prepared.reporter`. Raises `MouseholeError` for a veto on traffic that
    is not present, and `Stopped` on Ctrl-C.
    """
    estimate, jobs, cores = forecast(prepared, backend)
    _try_vetoes(prepared)
    _announce(prepared.plan, estimate, jobs, prepared.reporter, cores)
    return run_with_jobs(prepared, jobs, backend, estimate.finished)


def _try_vetoes(prepared: Prepared) -> None:
    """Raises `MouseholeError` for a veto on a kind of application that is not in the traffic.

    Runs the baseline once for that, without a warm-up; nothing is run where the user gave no veto. The
    kinds are those of the first second of the traffic; transfers and pages may still come later.
    """
    plan = prepared.plan
    if not vetoes.list_given_margins(plan):
        return
    scenario: Scenario = {**plan.scenario(plan.cells[0], plan.baseline), "duration": "1s", "warmup": "0s"}
    run = run_interruptibly(lambda: run_one(scenario, prepared.traffic, _engine.Cancel()))
    vetoes.check_kinds(plan, reduce_run(run, plan.buckets).kinds.values())


def forecast(prepared: Prepared, backend: Backend | None) -> tuple[Estimate, int, int | None]:
    """Returns the cost of the plan, the number of runs at once, and the number of cores of `backend`.

    Some runs of the plan may be made for the estimate, which then has their facts as `finished`. The number
    of cores is None for threads of this process.
    """
    estimate = estimate_plan(prepared.plan, prepared.traffic, prepared.jobs or default_jobs())
    if backend is not None:
        cores = max(backend.at_once, 1)
        return estimate, cores, cores
    return estimate, choose_jobs(estimate, prepared.jobs, available_bytes()), None


def run_with_jobs(
    prepared: Prepared, jobs: int, backend: Backend | None = None, finished: Facts | None = None
) -> Comparison:
    """Runs the plan in this many threads or by `backend`, without an estimate, and returns the comparison.

    `finished` are facts of runs of the plan that an estimate has run already. Raises `MouseholeError` for a
    veto on traffic that is not present, and `Stopped` on Ctrl-C.
    """
    plan, traffic, given, summary = prepared.plan, prepared.traffic, prepared.given, prepared.summary
    shipment = prepared.shipment if backend else None
    facts = run_plan(plan, traffic, jobs, prepared.reporter, backend, shipment, finished)
    section, pipe_bytes = plan.base["traffic"], _pipe_bytes(plan)
    capture = find_capture(section, traffic, plan.short_bytes, plan.long_bytes, pipe_bytes)
    results = Results(plan, facts, given.label, make_manifest(plan, given, traffic), summary, capture)
    vetoes.check_present(results)
    return Comparison(findings.with_endpoint(results), traffic, given.clients)


def _pipe_bytes(plan: Plan) -> float:
    """Returns the bandwidth-delay product of the bottleneck in bytes, 0 for a topology that gives no rate.

    Reads the file of a rate that varies; a round-trip time that is not given is the default.
    """
    rate, rtt = bottleneck.read_mean_rate(plan.base), bottleneck.read_facts(plan.base)["rtt"]
    if rate is None:
        return 0.0
    return _engine.parse_rate("rate", rate) * _engine.parse_duration("rtt", rtt or defaults.RTT) / 8


def make_warmup(plan: Plan, sizes: Floats, summary: TrafficSummary | None, is_chosen: bool) -> Warmup | None:
    """Returns the sizes, rate and load that the warm-up is chosen from.

    None for a mix, and if the transfers' sizes (in bytes), or the rate that loads count against, are not
    known beforehand. `is_chosen` is whether the plan takes its warm-up from this.
    """
    rate = bottleneck.compute_load_rate(plan.base)
    if summary is None or rate is None or not sizes.size or plan.base["traffic"].get("mix"):
        return None
    return Warmup(sizes, float(_engine.parse_rate("rate", rate)), summary["native_load"], is_chosen)


def _warn_of_low_load(prepared: Prepared) -> None:
    """Reports a warning if the native load of the traffic is too low for schemes to matter.

    Does nothing where a load is given or the native one is unknown.
    """
    summary = prepared.summary
    native = summary["native_load"] if summary else None
    if prepared.plan.loads == (None,) and native is not None and native < notes.UNLOADED:
        prepared.reporter.say(
            f"warning: {prepared.given.label} loads this link only to {native:.2g}, so schemes may hardly "
            "differ; give a load, such as --load 0.9"
        )


MARKED_NQB = ("call", "game", "video-call")
"""Classes of recorded flows that carry NQB: `Open::builds_no_queue` in `sim/src/engine/connection.rs`."""


def _warn_of_no_nqb(prepared: Prepared) -> None:
    """Reports a warning if packets should be marked NQB and the files have none that are.

    Models without calls, games and video calls are refused by the engine.
    """
    summary, traffic = prepared.summary, prepared.plan.base["traffic"]
    if not traffic.get("nqb") or not traffic.get("files") or summary is None or traffic.get("mix"):
        return
    if not any(one["class"] in MARKED_NQB for one in summary["flow_classes"]):
        prepared.reporter.say(
            f"warning: {prepared.given.label} has no calls, games or video calls, so --nqb marks nothing"
        )


def _announce(plan: Plan, estimate: Estimate, jobs: int, reporter: Reporter, cores: int | None) -> None:
    """Reports the estimated time and memory of up to `jobs` runs at once.

    `cores` is the number of cores of other machines, None where the runs are made here.
    """
    cells = f" × {len(plan.cells)} cells" if len(plan.cells) > 1 else ""
    cost = write_cost(estimate, jobs, cores)
    reporter.say(f"{cost}: {len(plan.schemes)} schemes × {plan.replications} replications{cells}")
