"""`mousehole.run`: one scenario, all its records."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mousehole import _engine
from mousehole.answer import input_entry, jsonout, list_sources, strip_directories
from mousehole.base import (
    REVISION,
    Apps,
    Options,
    Replay,
    Reporter,
    Silent,
    available_bytes,
    conflict_error,
    field_error,
    make_frame,
    missing_error,
    output,
    refuse_unknown,
    require_mapping,
    require_path,
    run_interruptibly,
    transpose_columns,
    with_units,
)
from mousehole.document import Document
from mousehole.engine_types import (
    InputEntry,
    LinkAccount,
    QueueCounters,
    RunSummary,
    Scenario,
    TrafficSection,
)
from mousehole.html import Shown
from mousehole.inputs import describe_traffic, from_section, is_of_users, refuse_users
from mousehole.records import _report
from mousehole.records._columns import RecordColumns, take_columns
from mousehole.runs import estimate_run, read_lengths_s, require_memory, run_one, write_cost
from mousehole.scenario import (
    fill_in,
    list_rate_traces,
    load,
    make_default,
    make_shared,
    try_scenarios,
    with_params,
    with_qoo,
)

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

PATIENCE_S = 2.0
"""Seconds after which the expected time of a run is reported."""
SERIES_TYPES = {"link": "String", "name": "String", "colour": "String", "flow": "UInt64"}
APPLICATION_TYPES = {
    "group": "String", "kind": "String", "what": "String", "value": "Float64", "is_primary": "Boolean",
}  # fmt: skip
"""Types of the columns of `Records.series` and `Records.applications` that may be empty or hold no value."""
LONG_S = 3600.0
"""The cost of a run of more simulated seconds is reported before it begins."""


@dataclass(frozen=True, repr=False)
class Records(Shown):
    """The records of one run."""

    scenario: Scenario
    """The scenario with every parameter filled in."""
    columns: RecordColumns
    """The tables of the run as columns, which need no polars."""
    queues: list[QueueCounters]
    """Counters of every link, the bottleneck first: the packets of each colour, and delays in seconds."""
    summary: RunSummary
    """Load, goodput, and how much was simulated."""
    inputs: tuple[Path, ...]
    """The input files."""
    sources: list[InputEntry]
    """Name and SHA-256 of the traffic's files as they were when they were read."""

    @cached_property
    def transfers(self) -> "pl.DataFrame":
        """Returns one row per measured transfer: sizes in bytes, times in seconds, NaN if not finished.

        `key` pairs a transfer across schemes; docs/json.md explains the columns.
        """
        return make_frame(self.columns.transfers)

    @cached_property
    def flows(self) -> "pl.DataFrame":
        """Returns one row per long-lived flow: bytes delivered within the window."""
        return make_frame(self.columns.flows)

    @cached_property
    def datagrams(self) -> "pl.DataFrame":
        """Returns one row per datagram flow: packets sent, received and lost, one-way delays, jitter."""
        return make_frame(self.columns.datagrams)

    @cached_property
    def series(self) -> "pl.DataFrame":
        """Returns values over time: link, name, colour, flow, time_s, value.

        Adaptive values of schemes, such as threshold_packets, hold from their time on. With the scenario's
        `series` samples of links and senders follow (docs/scenario.md).
        """
        return make_frame(self.columns.series, SERIES_TYPES)

    @cached_property
    def applications(self) -> "pl.DataFrame":
        """Returns one row per figure of an application: group, kind, what, value, is_primary.

        `what` is the name of a quantity, `kind` is null without a kind.
        """
        return make_frame(self.columns.applications, APPLICATION_TYPES)

    @cached_property
    def trace(self) -> "pl.DataFrame | None":
        """Returns every packet event, None unless the scenario asks for it.

        Columns: time_s, event, flow, seq, bytes, colour, cwnd.
        """
        return None if self.columns.trace is None else make_frame(self.columns.trace)

    @property
    def manifest(self) -> dict[str, object]:
        """Returns everything that determines the run: version, input files, scenario, parameters of TCP.

        Reads the input files for their digests; raises `MouseholeError` for one that cannot be read.
        """
        return {
            "mousehole_version": _engine.__version__,
            "git_revision": REVISION,
            "inputs": [input_entry(file, self.sources) for file in self.inputs],
            "scenario": strip_directories(self.scenario),
            "tcp": _engine.tcp_parameters(self.scenario),
        }

    def to_json(self, link: LinkAccount | None = None) -> str:
        """Returns the JSON document of schema `mousehole.run/2` (docs/json.md).

        `link` is the account of a run on real packets. Reads the input files for their digests; raises
        `MouseholeError` for one that cannot be read.
        """
        document = {
            "schema": jsonout.RUN_SCHEMA,
            "manifest": self.manifest,
            "summary": self.summary,
            "queues": self.queues,
            "flows": transpose_columns(self.columns.flows),
            "datagrams": transpose_columns(self.columns.datagrams),
            "series": transpose_columns(self.columns.series),
            "applications": transpose_columns(self.columns.applications),
            **({} if link is None else {"link": link}),
        }
        return _engine.json_text(document)

    def document(self, command: Sequence[str] | None = None) -> Document:
        """Returns the run as a document, which terminal, page and Markdown show.

        `command` is the command line as typed, None where Python was the caller. Reads the input files for
        their digests.
        """
        return _report.make_run_document(self, command)

    def plot(self, path: str | Path | None = None) -> "alt.VConcatChart":
        """Returns the run over time as a chart: queues, rates, drops, congestion windows.

        With a `path` it is written too, as PNG, SVG or PDF by its suffix. Raises `MouseholeError` if the
        scenario asks for no `series`, for another suffix, and for a file that cannot be written.
        """
        from mousehole.charts import write_chart
        from mousehole.records import _charts

        if self.scenario.get("series") is None:
            raise missing_error("series", "the interval of the samples that are drawn, such as 100ms")
        return write_chart(_charts.draw_series(self.series, self.scenario, self.summary), path)

    def __repr__(self) -> str:
        """Returns the summary of the run as text."""
        return _report.describe_run(self)


def run(
    scenario: str | Path | Mapping[str, object], *, reporter: Reporter | None = None,
    replay: Replay | None = None, params: Mapping[str, object] | None = None,
    users: int | None = None, apps: Apps | None = None, down: str | float | None = None,
    up: str | float | None = None, qoo: str | Sequence[str] | None = None, **changes: object,
) -> Records:  # fmt: skip
    """Runs a scenario and returns its records.

    `scenario` is a TOML file or a dictionary with the fields of docs/scenario.md. A quantity may also be a
    number: of bits per second, seconds or bytes. `changes` replace fields of the scenario, such as
    `scheme="sfd"` or `seed=3`; `replay` and `qoo` replace its `traffic.replay` and `traffic.qoo`, and
    `params` some of its `traffic.params`. A change that is None is ignored. In place of a scenario,
    `scenario` may be the name of a place, such as `"home"`; then `down` and `up` are the rates of its link,
    and `users` and `apps` may replace its users and what they run (docs/homes.md). `reporter` receives how
    long a run will take that is not over within two seconds, and then its progress. The same scenario, seed
    and replication give the same records on any machine.

    Raises `MouseholeError` for a fault in the input, or if the run would not fit into the memory that is
    left, `TypeError` for an unknown keyword, and `KeyboardInterrupt` at once on Ctrl-C.
    """
    known = ["reporter", "replay", "params", "users", "apps", "down", "up", "qoo"]
    refuse_unknown("run", changes, [*Scenario.__annotations__, *known])
    loaded = _load_scenario(scenario, Options(users=users, apps=apps, down=down, up=up))
    given = with_units({**loaded, **{name: value for name, value in changes.items() if value is not None}})
    section = given.get("traffic", {})
    if not isinstance(section, Mapping):
        raise field_error("traffic", str(section), 'a table, such as {model = "web:sfd"}')
    traffic = with_qoo(cast("TrafficSection", {**section}), qoo)
    if params:
        traffic = with_params(traffic, params)
    if replay is not None:
        traffic["replay"] = replay
    try_scenarios([{**given, "traffic": traffic}])
    whole = fill_in({**given, "traffic": traffic})
    source = from_section(whole["traffic"], "")
    engine_traffic = source.read(seed=whole["seed"], reporter=reporter)
    cancel, clock = _engine.Cancel(), _Clock(whole, engine_traffic, reporter or Silent())
    try:
        clock.before()
        result = run_interruptibly(lambda: run_one(whole, engine_traffic, cancel), clock.tick)
    finally:
        cancel.cancel()
        clock.finish()
    return Records(
        scenario=whole,
        columns=take_columns(result),
        queues=result.queues(),
        summary=result.summary(),
        inputs=(*source.files, *list_rate_traces(whole)),
        sources=list_sources(engine_traffic),
    )


def _load_scenario(scenario: str | Path | Mapping[str, object], options: Options) -> Mapping[str, object]:
    """Returns the scenario of a file, a mapping as it is, or that of a place on the link of these options.

    Raises `MouseholeError` for users, applications or rates together with a scenario.
    """
    if isinstance(scenario, str) and is_of_users(scenario):
        place = describe_traffic(scenario, users=options.users, apps=options.apps)
        return make_shared(make_default(), place.section, options).base
    refuse_users(options.users, options.apps, "a scenario")
    for name, rate in (("down", options.down), ("up", options.up)):
        if rate is not None:
            raise conflict_error(name, str(rate), "a scenario", "its link has a rate")
    if isinstance(scenario, Mapping):
        return require_mapping("scenario", scenario)
    return load(require_path("scenario", scenario, "a scenario's file (or a dictionary)"))


class _Clock:
    """Says how long a run will take, refuses it if the memory is too small, and reports its progress."""

    def __init__(self, scenario: Scenario, traffic: _engine.Traffic | None, reporter: Reporter) -> None:
        """Starts the clock; estimates nothing yet."""
        self._scenario, self._traffic, self._reporter = scenario, traffic, reporter
        self._begin_s = time.monotonic()
        self._expected_s: float | None = None
        self._percent = 0

    def before(self) -> None:
        """Estimates a run of more than `LONG_S` simulated seconds, then starts the clock.

        Called before the run. Raises `MouseholeError` as `_estimate` does.
        """
        if sum(read_lengths_s(self._scenario)) > LONG_S:
            self._estimate()
        self._begin_s = time.monotonic()

    def tick(self) -> None:
        """Reports the progress of a run that takes longer than `PATIENCE_S`, which is estimated once.

        Called again and again while the run lasts. The progress is the share of the expected time that has
        passed, 99 % at most. Raises `MouseholeError` as `_estimate` does.
        """
        waited_s = time.monotonic() - self._begin_s
        if self._expected_s is None and waited_s > PATIENCE_S:
            self._estimate()
        if self._expected_s is not None:
            percent = min(int(100 * waited_s / self._expected_s), 99)
            while self._percent < percent:
                self._percent += 1
                self._reporter.advance()

    def finish(self) -> None:
        """Ends the report of the progress, if one was begun; called after the run, also if it failed."""
        if self._expected_s is not None:
            self._reporter.finish()

    def _estimate(self) -> None:
        """Estimates the run by short parts of it that are timed, and starts the progress bar.

        Reports the cost. Raises `MouseholeError` if the run needs more memory than is left.
        """
        estimate = estimate_run(self._scenario, self._traffic)
        require_memory(estimate, available_bytes())
        self._expected_s = max(estimate.seconds(1), 1e-3)
        self._reporter.say(f"{write_cost(estimate, 1)}: one run")
        self._reporter.start(100, "percent")


def write_frame(frame: "pl.DataFrame", path: str | Path) -> None:
    """Writes a frame as CSV if the name ends in .csv, else as Parquet: the whole file or none.

    Raises `MouseholeError` for a file that cannot be written.
    """
    is_csv = Path(path).suffix.lower() == ".csv"
    output.write_with(path, frame.write_csv if is_csv else frame.write_parquet)
