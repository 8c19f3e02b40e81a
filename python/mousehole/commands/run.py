"""The command `mousehole run`."""

from typing import Annotated, cast

import typer

from mousehole.base import Replay, complete_traffic, console_reporter, output, parameters, whole
from mousehole.base.arguments import PLACES, JsonFile, ModelParams, Own, OwnPolicy, Users, UsersApps
from mousehole.base.cli_options import CliCommand, command_app, typed_command

app = command_app()


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
    html: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="Report with tables, one file.")
    ] = None,
    json: JsonFile = None,
) -> None:
    """Answers `mousehole run`."""
    from mousehole import records
    from mousehole.document import print_document, report_console
    from mousehole.runs import load_policies

    for option, given in {"--records": records_file, "--trace": trace}.items():
        output.check_suffix(option, given, output.TABLE_SUFFIXES)
    output.check_suffix("--html", html, output.PAGE_SUFFIXES)
    written = {"--records": records_file, "--trace": trace, "--json": json, "--html": html}
    output.check_outputs(written, [scenario])
    load_policies(policy)
    numbers = {"seed": whole("seed", seed, 0), "replication": whole("replication", replication, 0)}
    changes = {"scheme": scheme, "duration": duration, **numbers, "trace": True if trace else None}
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
    for frame, given in ((done.transfers, records_file), (done.trace, trace)):
        if given is not None and frame is not None:
            output.write_with(given, lambda part, frame=frame: records.write_frame(frame, part))  # type: ignore[misc]
    if html is not None:
        done.html(html, typed_command())
    if json != "-":
        print_document(report_console(), done.document())
    if json is not None:
        output.write_text(json, done.to_json())
