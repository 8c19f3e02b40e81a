"""The command line: every command is a thin cover over the Python interface."""

import os
import sys
import threading
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

from mousehole import _engine, jsonout, output, records, report, show
from mousehole import traffic as traffics
from mousehole.comparison import Comparison, compare
from mousehole.errors import MouseholeError
from mousehole.manifest import REVISION
from mousehole.paper import reproduce
from mousehole.progress import ConsoleReporter


class Guarded(TyperGroup):
    """A group of commands in which a fault of the input ends in one line on standard error and status 2."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Runs the chosen command."""
        try:
            return super().invoke(ctx)
        except MouseholeError as error:
            _die(f"mousehole: error: {in_options(str(error))}", USAGE_STATUS)
        except KeyboardInterrupt as stop:
            _die(f"mousehole: {str(stop) or 'stopped; nothing was written'}", INTERRUPTED_STATUS)


app = typer.Typer(cls=Guarded, add_completion=False, no_args_is_help=True, rich_markup_mode=None)

OPTION_OF_FIELD = {
    "link.rate": "--rate", "link.rtt": "--rtt", "link.buffer": "--buffer", "link.uplink_rate": "--uplink",
    "link.uplink_buffer": "--uplink-buffer", "link.overhead": "--overhead", "topology.rate": "--rate",
    "topology.rtt": "--rtt", "topology.buffer": "--buffer", "topology.uplink_rate": "--uplink",
    "topology.uplink_buffer": "--uplink-buffer", "traffic.load": "--load",
    "traffic.direction": "--direction", "tcp.profile": "--tcp", "duration": "--duration",
    "warmup": "--warmup", "seed": "--seed", "seeds": "--seeds", "jobs": "--jobs", "scheme": "--schemes",
    "schemes": "--schemes", "short": "--short", "long": "--long", "buffer": "--buffer", "load": "--load",
    "rate": "--rate", "direction": "--direction", "replication": "--replication",
}  # fmt: skip
"""Fields of a scenario by the option that sets them, so that errors name what the user typed."""

USAGE_STATUS, INTERRUPTED_STATUS = 2, 130

Traffic = Annotated[
    list[str], typer.Argument(metavar="TRAFFIC", help="Files, or one model (web:sfd) or scenario (.toml).")
]
Rate = Annotated[str | None, typer.Option(help="Rate of the link, such as 10mbit.")]
Direction = Annotated[str, typer.Option(help="down (server to client) or up.")]
Strict = Annotated[bool, typer.Option("--strict", help="Any faulty row is an error.")]
JsonFile = Annotated[str | None, typer.Option("--json", metavar="FILE|-", help="Results for programs.")]
Jobs = Annotated[int | None, typer.Option(help="Runs at a time; all cores by default.")]
Seed = Annotated[int, typer.Option(min=0, help="Base of all random draws.")]


def main() -> None:
    """The command `mousehole`."""
    app()


def in_options(message: str) -> str:
    """The message with the option's name in place of the scenario's field, where one starts it."""
    field, colon, rest = message.partition(":")
    return f"{OPTION_OF_FIELD.get(field, field)}{colon}{rest}"


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """What letting short flows go first gains and costs, on your traffic and your link."""
    if version:
        typer.echo(f"mousehole {_engine.__version__} ({REVISION})")
        raise typer.Exit


@app.command("compare")
def compare_command(
    traffic: Traffic,
    rate: Rate = None,
    rtt: Annotated[str | None, typer.Option(help="RTT where the traffic does not tell (80ms).")] = None,
    buffer: Annotated[
        str | None, typer.Option(metavar="50p|64kB|1bdp[,…]", help="Buffer (1bdp); a list gives a grid.")
    ] = None,
    load: Annotated[
        str | None, typer.Option(metavar="0.9[,…]", help="Wire bytes over capacity; a list gives a grid.")
    ] = None,
    schemes: Annotated[
        str | None, typer.Option(help="Comma-separated, or all; see mousehole schemes.")
    ] = None,
    baseline: Annotated[str, typer.Option(help="What the others are compared with.")] = "droptail",
    duration: Annotated[str | None, typer.Option(help="Length of the measured window (300s).")] = None,
    warmup: Annotated[str | None, typer.Option(help="Time before the window (30s).")] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Replications (10, or 3 if --quick); five at least give intervals.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A look at many schemes: 3 replications, ranges, no findings.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Base of all random draws (1).")] = None,
    jobs: Jobs = None,
    json: JsonFile = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE.png|.svg|.pdf", help="Plot.")] = None,
    heatmap: Annotated[
        str | None, typer.Option(metavar="FILE.png|.svg|.pdf", help="Change by size and scheme.")
    ] = None,
    save_scenario: Annotated[
        str | None, typer.Option(metavar="FILE", help="The baseline's scenario for mousehole run.")
    ] = None,
    uplink: Annotated[
        str | None, typer.Option(help="Rate of the link for ACKs; as --rate by default.")
    ] = None,
    uplink_buffer: Annotated[str | None, typer.Option(help="Buffer of that link.")] = None,
    overhead: Annotated[
        int | None, typer.Option(min=0, help="Link-layer bytes added to every packet (0).")
    ] = None,
    direction: Annotated[
        str | None, typer.Option(help="down (server to client) or up; a scenario's own, else down.")
    ] = None,
    strict: Strict = False,
    short: Annotated[str, typer.Option(help="Largest short transfer.")] = "15kB",
    long: Annotated[str, typer.Option(help="Transfers above this are long.")] = "150kB",
    tcp: Annotated[
        str | None, typer.Option(help="TCP profile (rfc): rfc, linux, ns2-2.35 or ns2-2001.")
    ] = None,
    ecn: Annotated[bool, typer.Option("--ecn", help="Hosts use ECN (RFC 3168).")] = False,
    ignore_trace_rtt: Annotated[
        bool, typer.Option("--ignore-trace-rtt", help="Use --rtt for all connections.")
    ] = False,
    details: Annotated[bool, typer.Option("--details", help="Also print every size bucket in full.")] = False,
) -> None:
    """Replays TRAFFIC against every scheme and says what short and long transfers gain or lose."""
    output.check_suffix("--plot", plot, output.PLOT_SUFFIXES)
    output.check_suffix("--heatmap", heatmap, output.PLOT_SUFFIXES)
    files = [name for name in traffic if not traffics.is_model(name)]
    outputs = {"--json": json, "--plot": plot, "--heatmap": heatmap, "--save-scenario": save_scenario}
    output.check_outputs(outputs, files)
    comparison = compare(
        traffic, rate=rate, rtt=rtt, buffer=buffer, load=load, schemes=schemes, baseline=baseline,
        duration=duration, warmup=warmup, seeds=seeds, quick=quick, seed=seed, jobs=jobs, uplink=uplink,
        uplink_buffer=uplink_buffer, overhead=overhead, direction=direction, strict=strict, short=short,
        long=long, tcp=tcp, ecn=ecn, ignore_trace_rtt=ignore_trace_rtt, reporter=_reporter(),
    )  # fmt: skip
    # Files first: whoever reads the report may close the pipe before its end.
    _write_comparison(comparison, json, plot, heatmap, save_scenario)
    report.print_report(report.report_console(stderr=json == "-"), comparison, details)


@app.command("inspect")
def inspect_command(
    traffic: Traffic,
    rate: Annotated[
        str | None, typer.Option(help="Rate of a link, for the load the traffic puts on it.")
    ] = None,
    direction: Direction = "down",
    strict: Strict = False,
    seed: Seed = 1,
    json: JsonFile = None,
) -> None:
    """Prints what was understood of TRAFFIC."""
    output.check_outputs({"--json": json}, [name for name in traffic if not traffics.is_model(name)])
    summary = traffics.inspect(traffic, rate, direction, strict, seed)
    if json != "-":
        show.print_summary(report.report_console(), summary)
    if json is not None:
        output.write_text(json, jsonout.dumps({"schema": jsonout.INSPECT_SCHEMA, **summary}))


@app.command("run")
def run_command(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO.toml", help="A scenario of the engine.")],
    scheme: Annotated[str | None, typer.Option(help="Instead of the scenario's own.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the scenario's own.")] = None,
    replication: Annotated[int | None, typer.Option(min=0, help="Instead of the scenario's own.")] = None,
    records_file: Annotated[
        str | None, typer.Option("--records", metavar="FILE.parquet|.csv", help="Every transfer.")
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE.parquet|.csv", help="Every packet event.")
    ] = None,
    json: JsonFile = None,
) -> None:
    """Runs one scenario and writes its records."""
    for option, given in {"--records": records_file, "--trace": trace}.items():
        output.check_suffix(option, given, output.TABLE_SUFFIXES)
    output.check_outputs({"--records": records_file, "--trace": trace, "--json": json}, [scenario])
    changes = {"scheme": scheme, "seed": seed, "replication": replication, "trace": True if trace else None}
    done = records.run(scenario, **changes)
    for frame, given in ((done.transfers, records_file), (done.trace, trace)):
        if given is not None and frame is not None:
            output.write_with(given, lambda part, frame=frame: records.write_frame(frame, part))  # type: ignore[misc]
    if json != "-":
        show.print_records(report.report_console(), done)
    if json is not None:
        output.write_text(json, done.to_json())


@app.command("paper")
def paper_command(
    name: Annotated[str, typer.Argument(help="The paper's folder, such as sfd.")],
    table: Annotated[int | None, typer.Option(help="Number of the table.")] = None,
    figure: Annotated[int | None, typer.Option(help="Number of the figure.")] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Replications.")] = None,
    jobs: Jobs = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The paper's whole run length, or a shorter one.")
    ] = False,
) -> None:
    """Repeats a paper's experiment and sets the published numbers beside ours."""
    status = reproduce(name, table=table, figure=figure, seeds=seeds, jobs=jobs, full=full)
    raise typer.Exit(status)


@app.command("schemes")
def schemes_command(
    name: Annotated[str | None, typer.Argument(help="Print this scheme's page.")] = None,
    json: JsonFile = None,
) -> None:
    """Lists the schemes, one line each, or prints the page of one."""
    output.check_outputs({"--json": json})
    if json is None and name is not None:
        show.print_scheme(report.report_console(), show.scheme_entry(name))
    elif json is None:
        show.print_schemes(report.report_console(), _engine.schemes())
    else:
        output.write_text(
            json, jsonout.dumps({"schema": "mousehole.schemes/1", "schemes": _engine.schemes()})
        )


def _write_comparison(
    comparison: Comparison, json: str | None, plot: str | None, heatmap: str | None, save_scenario: str | None
) -> None:
    if json is not None:
        output.write_text(json, comparison.to_json())
    if plot is not None:
        comparison.plot(plot)
    if heatmap is not None:
        comparison.heatmap(heatmap)
    if save_scenario is not None:
        folder = Path.cwd() if save_scenario == "-" else Path(save_scenario).parent
        output.write_text(save_scenario, records.scenario_text(comparison.scenario(), folder))


def _reporter() -> Any:
    return ConsoleReporter(Console(stderr=True, highlight=False))


def _die(message: str, status: int) -> NoReturn:
    """Leaves at once, even if other threads are still computing."""
    sys.stdout.flush()
    print(message, file=sys.stderr, flush=True)
    if any(thread is not threading.main_thread() for thread in threading.enumerate()):
        os._exit(status)
    sys.exit(status)
