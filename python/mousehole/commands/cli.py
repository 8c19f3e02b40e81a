"""The command line: every command calls the Python interface."""

import os
import signal
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

from mousehole import _engine, records
from mousehole import scenario as scenarios
from mousehole.answer import jsonout
from mousehole.base import (
    BROKEN_PIPE_STATUS,
    INTERRUPTED_STATUS,
    REVISION,
    TERMINATED_STATUS,
    USAGE_STATUS,
    WRITE_STATUS,
    ConsoleReporter,
    MouseholeError,
    Options,
    Terminated,
    for_output,
    output,
    parameters,
    stop_at_once,
    whole,
)
from mousehole.base.cli_options import CliCommand, Outputs, typed_command, usage_error_text, with_options
from mousehole.comparison import Comparison, compare
from mousehole.days.command import compare_days_command
from mousehole.inputs import show
from mousehole.inputs import traffic as traffics
from mousehole.link import command as link_cli
from mousehole.page import command as page_cli
from mousehole.paper import listing, reproduce
from mousehole.policy.command import policy_app
from mousehole.reports import report
from mousehole.runs import load_policies
from mousehole.sweeps.command import sweep_app
from mousehole.tuning.command import add_to as add_tune


class CliGroup(TyperGroup):
    """The commands. A fault in the input ends with one line on standard error and status 2."""

    def main(self, *given: Any, **named: Any) -> Any:
        """Runs the command line and exits."""
        try:
            status = super().main(*given, **{**named, "standalone_mode": False})
            sys.stdout.flush()
        except OSError as error:  # of standard output; errors of files have been converted already
            _output_failed(error)
        except Exception as error:
            fault = usage_error_text(error)
            if fault is None and hasattr(error, "show"):  # the help, where no command is named
                error.show()
                sys.exit(USAGE_STATUS)
            if fault is None:
                raise
            _die(f"mousehole: error: {MouseholeError(fault)}", USAGE_STATUS)
        sys.exit(status if isinstance(status, int) else 0)

    def get_help(self, ctx: Any) -> str:
        """Returns the help in characters that standard output has."""
        return for_output(super().get_help(ctx))

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Runs the chosen command."""
        try:
            if signal.getsignal(signal.SIGINT) is stop_at_once:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            return super().invoke(ctx)
        except MouseholeError as error:
            _die(f"mousehole: error: {error.renamed(OPTION_OF_FIELD)}", USAGE_STATUS)
        except Terminated as stop:
            _die(f"mousehole: {stop}", TERMINATED_STATUS)
        except KeyboardInterrupt as stop:
            _die(f"mousehole: {str(stop) or 'stopped; nothing was written'}", INTERRUPTED_STATUS)
        except MemoryError:
            _die(f"mousehole: error: {OUT_OF_MEMORY}", USAGE_STATUS)
        except RuntimeError as error:
            if str(error) != NO_THREAD:
                raise
            _die(f"mousehole: error: {OUT_OF_MEMORY}", USAGE_STATUS)
        except OSError as error:  # as in `main`, but before click takes it for its own
            _output_failed(error)


app = typer.Typer(
    cls=CliGroup, add_completion=False, no_args_is_help=True, rich_markup_mode=None,
    pretty_exceptions_enable=False,
)  # fmt: skip


OPTION_OF_FIELD = {
    "link.rate": "--rate", "link.rtt": "--rtt", "link.buffer": "--buffer", "link.uplink_rate": "--uplink",
    "link.uplink_buffer": "--uplink-buffer", "link.overhead": "--overhead", "link.burst": "--burst",
    "link.rate_trace": "--rate-trace", "link.uplink_rate_trace": "--uplink-trace", "mtu": "--mtu",
    "topology.rate": "--rate", "topology.rtt": "--rtt", "topology.buffer": "--buffer",
    "topology.uplink_rate": "--uplink", "topology.uplink_buffer": "--uplink-buffer", "traffic.load": "--load",
    "traffic.direction": "--direction", "traffic.replay": "--replay", "tcp.profile": "--tcp",
    "duration": "--duration", "warmup": "--warmup", "seed": "--seed", "seeds": "--seeds", "jobs": "--jobs",
    "rounds": "--rounds",
    "scheme": "--schemes", "schemes": "--schemes", "short": "--short", "long": "--long", "buffer": "--buffer",
    "load": "--load", "rate": "--rate", "direction": "--direction", "replication": "--replication",
    "overhead": "--overhead", "table": "--table", "figure": "--figure", "uplink_rate": "--uplink",
    "uplink_buffer": "--uplink-buffer", "baseline": "--baseline", "dask": "--dask", "days": "--days",
    "traffic.params": "--param", "params": "--param",
}  # fmt: skip
"""Fields of a scenario by the option that sets them, so that errors name what the user typed."""

NO_THREAD = "can't start new thread"
"""What Python says where there is no memory for a thread."""
OUT_OF_MEMORY = "out of memory; give fewer --jobs, a shorter --duration, a lower --rate or a lower --load"

Traffic = Annotated[
    list[str],
    typer.Argument(metavar="TRAFFIC", help="Files, one model (web:sfd) or one scenario (.toml)."),
]
Direction = Annotated[str, typer.Option(metavar="down|up", help="down (server to client) or up.")]
Strict = Annotated[bool, typer.Option("--strict", help="Treat a faulty row of a file as an error.")]
JsonFile = Annotated[
    str | None, typer.Option("--json", metavar="FILE|-", help="Results as JSON; - is standard output.")
]
Jobs = Annotated[str | None, typer.Option(metavar="N", help="Parallel runs (default: one per core).")]
DaskAddress = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Run on the workers of this Dask scheduler.")
]
Own = Annotated[str | None, typer.Option(metavar="N", help="Number to use instead of the scenario's.")]


ModelParams = Annotated[
    list[str] | None,
    typer.Option("--param", metavar="NAME=VALUE", help="Parameter of the model; repeat it for several."),
]
Days = Annotated[
    bool,
    typer.Option("--days", help="The files are days: intervals are over days.", rich_help_panel="Runs"),
]
OwnPolicy = Annotated[
    str | None,
    typer.Option(metavar="FILE.h[,…]", help="Header of your own policy, which schemes may then name."),
]


def main() -> None:
    """Runs the command `mousehole`. SIGTERM ends it as Ctrl-C does: half-written files are deleted.

    So does SIGHUP, when a terminal or a session is closed, unless it is ignored (`nohup`).
    """
    signal.signal(signal.SIGTERM, _terminate)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _terminate)
    app()


def _terminate(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 (what Python calls it with)
    raise Terminated("terminated; nothing was written")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print version and revision.")] = False,
) -> None:
    """Shows what flows gain or lose if short flows go first, on your traffic and link."""
    if version:
        typer.echo(f"mousehole {_engine.__version__} ({REVISION})")
        raise typer.Exit


@app.command("compare", cls=CliCommand)
@with_options(options=Options, outputs=Outputs)
def compare_command(traffic: Traffic, options: Options, outputs: Outputs, days: Days = False) -> None:
    """Compares schemes: what short and long transfers gain or lose.

    For example: mousehole compare web:sfd --rate 3mbit --load 0.9 --schemes all --quick
    """
    if days:
        compare_days_command(traffic, options, outputs, _reporter(), typed_command())
        return
    output.check_suffix("--plot", outputs.plot, output.PLOT_SUFFIXES)
    output.check_suffix("--heatmap", outputs.heatmap, output.PLOT_SUFFIXES)
    output.check_suffix("--html", outputs.html, output.PAGE_SUFFIXES)
    written = {"--json": outputs.json, "--plot": outputs.plot, "--heatmap": outputs.heatmap,
               "--html": outputs.html, "--save-scenario": outputs.save_scenario}  # fmt: skip
    output.check_outputs(written, [name for name in traffic if not traffics.is_model(name)])
    comparison = compare(traffic, **vars(replace(options, reporter=_reporter())))
    to_stderr = "-" in (outputs.json, outputs.save_scenario)
    try:  # files first: the reader of the report may close the pipe early
        _write_comparison(comparison, outputs)
    finally:  # print the report even if a disk is full
        report.print_report(report.report_console(stderr=to_stderr), comparison.results, outputs.details)


@app.command("inspect", cls=CliCommand)
def inspect_command(
    traffic: Annotated[
        list[str], typer.Argument(metavar="TRAFFIC", help="Files, or one model such as web:sfd.")
    ],
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Also print the load on a link of this rate.")
    ] = None,
    direction: Direction = "down",
    strict: Strict = False,
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of all random draws.")] = "1",
    param: ModelParams = None,
    json: JsonFile = None,
) -> None:
    """Prints what Mousehole understands of TRAFFIC."""
    output.check_outputs({"--json": json}, [name for name in traffic if not traffics.is_model(name)])
    params = parameters("--param", param or [])
    summary = traffics.inspect(
        traffic, rate, direction, strict, whole("seed", seed, 0) or 0, params, _reporter()
    )
    if json != "-":
        show.print_summary(report.report_console(), summary)
    if json is not None:
        output.write_text(json, jsonout.dumps({"schema": jsonout.INSPECT_SCHEMA, **summary}))


@app.command("run", cls=CliCommand)
def run_command(
    scenario: Annotated[str, typer.Argument(metavar="SCENARIO.toml", help="A scenario file.")],
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME[(…)]", help="Scheme to use instead of the scenario's.")
    ] = None,
    policy: OwnPolicy = None,
    param: ModelParams = None,
    seed: Own = None,
    replication: Own = None,
    replay: Annotated[
        str | None, typer.Option(metavar="open|closed", help="Replaces traffic.replay of the scenario.")
    ] = None,
    records_file: Annotated[
        str | None, typer.Option("--records", metavar="FILE.parquet|.csv", help="Write every transfer.")
    ] = None,
    trace: Annotated[
        str | None, typer.Option(metavar="FILE.parquet|.csv", help="Write every packet event.")
    ] = None,
    json: JsonFile = None,
) -> None:
    """Runs one scenario and writes its records."""
    for option, given in {"--records": records_file, "--trace": trace}.items():
        output.check_suffix(option, given, output.TABLE_SUFFIXES)
    output.check_outputs({"--records": records_file, "--trace": trace, "--json": json}, [scenario])
    load_policies(policy)
    numbers = {"seed": whole("seed", seed, 0), "replication": whole("replication", replication, 0)}
    changes = {"scheme": scheme, **numbers, "trace": True if trace else None}
    params = parameters("--param", param or [])
    done = records.run(scenario, reporter=_reporter(), replay=replay, params=params, **changes)
    for frame, given in ((done.transfers, records_file), (done.trace, trace)):
        if given is not None and frame is not None:
            output.write_with(given, lambda part, frame=frame: records.write_frame(frame, part))  # type: ignore[misc]
    if json != "-":
        show.print_records(report.report_console(), done)
    if json is not None:
        output.write_text(json, done.to_json())


add_tune(app)
app.add_typer(sweep_app, name="sweep")
link_cli.register(app)
page_cli.register(app)


@app.command("paper", cls=CliCommand)
def paper_command(
    name: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="Name of the paper, such as sfd; list lists them.")
    ] = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="All claims; so it is without any option.")
    ] = False,
    table: Annotated[str | None, typer.Option(metavar="N", help="Number of the table.")] = None,
    figure: Annotated[str | None, typer.Option(metavar="N", help="Number of the figure.")] = None,
    claim: Annotated[str | None, typer.Option(metavar="ID", help="One claim, such as S4.")] = None,
    tried: Annotated[
        bool,
        typer.Option("--tried", help="With --claim: also under other values of what the paper leaves open."),
    ] = False,
    log: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With sfd: its estimate of page times for the pages of this log."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All papers.")] = False,
    html: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write all claims, tables and figures as a page.")
    ] = None,
    seeds: Annotated[str | None, typer.Option(metavar="N", help="Replications.")] = None,
    jobs: Jobs = None,
    dask: DaskAddress = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The run length of the paper, or a shorter one.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what was measured before.")] = False,
) -> None:
    """Repeats a paper's experiments next to its published numbers, claim by claim."""
    numbers = {field: whole(field, number, 1) for field, number in (("seeds", seeds), ("jobs", jobs))}
    wanted: dict[str, Any] = {
        "claims": claims,
        "table": table,
        "figure": figure,
        "claim": claim,
        "log": log,
        "tried": tried,
    }
    part = next((option for option, value in wanted.items() if value), None)
    if name is None and not every and part is not None:
        raise MouseholeError(
            f"of which paper? name it, such as mousehole paper sfd --{part} …; "
            "mousehole paper list lists them",
            field=part,
        )
    others = {"all": every, "html": html, **numbers, "dask": dask, "full": full, "fresh": fresh}
    if name == "list" or (name is None and not every):
        _refuse_beside_list({**wanted, **others})
        print(listing())
        return
    raise typer.Exit(reproduce(name, every, html, **wanted, **numbers, full=full, fresh=fresh, dask=dask))


@app.command("schemes", cls=CliCommand)
def schemes_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME[(…)]", help="Print the page of this scheme or part.")
    ] = None,
    policy: OwnPolicy = None,
    json: JsonFile = None,
) -> None:
    """Lists schemes, markers and queues, or prints the page of one."""
    output.check_outputs({"--json": json})
    load_policies(policy)
    if json is None and name is not None:
        try:
            entry = show.scheme_entry(name)
        except MouseholeError as error:  # the name is an argument here, not the option --schemes
            raise error.renamed({"scheme": "NAME"}) from None
        show.print_scheme(report.report_console(), entry)
    elif json is None:
        show.print_schemes(report.report_console(), _engine.schemes(), _engine.parts())
    else:
        output.write_text(
            json, jsonout.dumps({"schema": "mousehole.schemes/1", "schemes": _engine.schemes()})
        )


def _refuse_beside_list(given: dict[str, Any]) -> None:
    """Refuses the first of the options given, since the list of papers takes none."""
    for option, value in given.items():
        if value:
            raise MouseholeError(
                f"--{option}: the list of papers takes no options; name a paper, such as "
                "mousehole paper sfd, or give --all"
            )


def _write_comparison(comparison: Comparison, outputs: Outputs) -> None:
    """Writes the files asked for; one that cannot be written does not prevent the others."""
    output.write_all(
        [
            (outputs.json, lambda place: output.write_text(place, comparison.to_json())),
            (outputs.plot, comparison.plot),
            (outputs.heatmap, comparison.heatmap),
            (outputs.html, lambda place: comparison.html(place, typed_command())),
            (outputs.save_scenario, lambda place: _save_scenario(comparison, place)),
        ]
    )


def _save_scenario(comparison: Comparison, place: str) -> None:
    folder = Path.cwd() if place == "-" else Path(place).parent
    output.write_text(place, scenarios.to_toml(comparison.scenario(), folder))


app.add_typer(policy_app, name="policy")


def _reporter() -> ConsoleReporter:
    return ConsoleReporter(Console(stderr=True, highlight=False))


def _output_failed(error: OSError) -> NoReturn:
    """Ends the command because standard output cannot be written; silently if nobody reads it any more."""
    _discard_output()
    if isinstance(error, BrokenPipeError):
        _leave(BROKEN_PIPE_STATUS)
    _die(f"mousehole: error: cannot write standard output; {error.strerror}", WRITE_STATUS)


def _discard_output() -> None:
    """Drops what is still buffered for standard output, so that the interpreter does not try again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _die(message: str, status: int) -> NoReturn:
    """Prints the reason and exits at once, even if other threads are still computing."""
    try:
        sys.stdout.flush()
    except OSError:
        _discard_output()
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)
    _leave(status)


def _leave(status: int) -> NoReturn:
    if any(thread is not threading.main_thread() for thread in threading.enumerate()):
        os._exit(status)
    sys.exit(status)
