"""The command `mousehole run`."""

from typing import Annotated, cast

import typer

from mousehole.base import Replay, complete_traffic, console_reporter, output, parameters, whole
from mousehole.base.arguments import PLACES, JsonFile, ModelParams, Own, OwnPolicy, Users, UsersApps
from mousehole.base.cli_options import CliCommand, command_app, typed_command

app = command_app()

SAMPLED = "100ms"
"""Interval of the samples that are asked for by --samples or --plot alone."""


@app.command("run", cls=CliCommand)
def run_command(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO.toml",
            help=f"A scenario file, or with --down and --up one place ({PLACES}).",
            autocompletion=complete_traffic,
        ),
    ],
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME[(…)]", help="Scheme to use instead of the scenario's.")
    ] = None,
    down: Annotated[
        str | None, typer.Option(metavar="RATE|FILE", help="Of a place: rate of the download direction.")
    ] = None,
    up: Annotated[
        str | None, typer.Option(metavar="RATE|FILE", help="The same of the upload direction.")
    ] = None,
    users: Users = None,
    apps: UsersApps = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Length of the measured window (default: its own).")
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
    series: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Sample queues, rates, drops and congestion windows so often (see --plot).",
        ),
    ] = None,
    samples: Annotated[
        str | None, typer.Option(metavar="FILE.parquet|.csv", help="Write the samples.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.png|.svg|.pdf", help="Draw the samples over time.")
    ] = None,
    html: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="Report with tables, one file.")
    ] = None,
    json: JsonFile = None,
) -> None:
    """Answers `mousehole run`."""
    from mousehole import records
    from mousehole.document import print_document, report_console
    from mousehole.runs import load_policies

    tables = {"--records": records_file, "--trace": trace, "--samples": samples}
    for option, given in tables.items():
        output.check_suffix(option, given, output.TABLE_SUFFIXES)
    output.check_suffix("--plot", plot, output.PLOT_SUFFIXES)
    output.check_suffix("--html", html, output.PAGE_SUFFIXES)
    output.check_outputs({**tables, "--plot": plot, "--json": json, "--html": html}, [scenario])
    if series is None and (samples or plot):
        series = SAMPLED
    load_policies(policy)
    numbers = {"seed": whole("seed", seed, 0), "replication": whole("replication", replication, 0)}
    changes = {"scheme": scheme, "duration": duration, **numbers, "trace": True if trace else None,
               "series": series}  # fmt: skip
    params = parameters("--param", param or [])
    loop = cast("Replay | None", replay)  # the engine checks it
    done = records.run(
        scenario,
        reporter=console_reporter(),
        replay=loop,
        params=params,
        users=whole("users", users),
        apps=apps,
        down=down,
        up=up,
        **changes,
    )
    tables = {"transfers": records_file, "series": samples}
    if done.columns.trace is not None:
        tables["trace"] = trace
    try:
        output.write_all(
            [
                *((given, lambda place, name=name: records.write_frame(getattr(done, name), place))
                  for name, given in tables.items()),
                (plot, done.plot),
                (html, lambda place: done.html(place, typed_command())),
                (None if json == "-" else json, lambda place: output.write_text(place, done.to_json())),
            ]
        )  # fmt: skip
    finally:  # print the report even if a disk is full
        if json == "-":
            output.write_text(json, done.to_json())
        else:
            print_document(report_console(), done.document())
