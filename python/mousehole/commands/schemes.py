"""The command `mousehole schemes`."""

from typing import Annotated

import typer

from mousehole import _engine
from mousehole.base import MouseholeError, output
from mousehole.base.arguments import JsonFile, OwnPolicy
from mousehole.base.cli_options import CliCommand, make_command_app

app = make_command_app()


@app.command("schemes", cls=CliCommand)
def schemes_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME[(…)]", help="Print the page of this scheme or part.")
    ] = None,
    policy: OwnPolicy = None,
    json: JsonFile = None,
) -> None:
    """Answers `mousehole schemes`."""
    from mousehole.document import make_report_console
    from mousehole.inputs import show
    from mousehole.runs import load_policies

    output.check_outputs({"--json": json})
    load_policies(policy)
    if json is None and name is not None:
        try:
            entry = show.find_scheme_entry(name)
        except MouseholeError as error:  # the name is an argument here, not the option --schemes
            raise error.renamed({"scheme": "NAME"}) from None
        show.print_scheme(make_report_console(), entry)
    elif json is None:
        show.print_schemes(make_report_console(), _engine.schemes(), _engine.parts())
    else:
        output.write_text(
            json, _engine.json_text({"schema": "mousehole.schemes/1", "schemes": _engine.schemes()})
        )
