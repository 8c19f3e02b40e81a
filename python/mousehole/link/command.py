"""The command `mousehole link`."""

from typing import Annotated

import typer

from mousehole.base.cli_options import CliCommand, make_command_app, with_options
from mousehole.link._options import LinkOptions

app = make_command_app()


@app.command("link", cls=CliCommand, context_settings={"allow_interspersed_args": False})
@with_options(options=LinkOptions)
def link_command(
    options: LinkOptions,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[COMMAND...]", help="Runs behind the link; else a shell."),
    ] = None,
) -> None:
    """Answers `mousehole link`.

    For example: mousehole link --rate 10mbit --rtt 40ms --scheme rio-ps --server 'python3 -m http.server 80'
    -- curl -s http://server/
    """
    from mousehole.link import _action

    status = _action.run(options, command)
    if status:
        raise typer.Exit(status)
