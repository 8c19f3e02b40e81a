"""The command `mousehole inspect`."""

from typing import Annotated, Literal, cast

import typer

from mousehole import _engine
from mousehole.base import console_reporter, output, parse_parameters, parse_whole
from mousehole.base.arguments import FlowClasses, JsonFile, LogFormat, ModelParams, Payload, Strict
from mousehole.base.cli_options import CliCommand, make_command_app

app = make_command_app()


def _list_formats(wanted: bool) -> None:
    """Prints the formats of logs, and ends the command by `typer.Exit`; does nothing unless `wanted`."""
    if wanted:
        from mousehole.document import make_report_console, print_document
        from mousehole.inputs import show

        print_document(make_report_console(), show.make_formats_document())
        raise typer.Exit


@app.command("inspect", cls=CliCommand)
def inspect_command(
    traffic: Annotated[
        list[str], typer.Argument(metavar="TRAFFIC", help="Files, or one model such as web:sfd.")
    ],
    rate: Annotated[
        str | None, typer.Option(metavar="RATE", help="Also print the load on a link of this rate.")
    ] = None,
    payload: Payload = "down",
    strict: Strict = False,
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of all random draws.")] = "1",
    param: ModelParams = None,
    class_: FlowClasses = None,
    format_: LogFormat = None,
    formats: Annotated[  # noqa: ARG001 (its callback answers)
        bool,
        typer.Option("--formats", is_eager=True, callback=_list_formats, help="List the formats of logs."),
    ] = False,
    json: JsonFile = None,
) -> None:
    """Answers `mousehole inspect`."""
    from mousehole.answer import jsonout
    from mousehole.document import make_report_console, print_document
    from mousehole.inputs import show
    from mousehole.inputs import traffic as traffics

    output.check_outputs({"--json": json}, [name for name in traffic if not traffics.is_model_or_place(name)])
    params = parse_parameters("--param", param or [])
    going = cast("Literal['down', 'up']", payload)  # the engine checks it
    summary = traffics.inspect(
        traffic,
        rate,
        going,
        strict,
        parse_whole("seed", seed, 0) or 0,
        params,
        class_,
        console_reporter(),
        format_,
    )
    if json != "-":
        print_document(make_report_console(), show.make_summary_document(summary))
    if json is not None:
        output.write_text(json, _engine.json_text({"schema": jsonout.INSPECT_SCHEMA, **summary}))
