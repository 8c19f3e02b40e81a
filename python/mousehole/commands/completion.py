"""The command `mousehole completion`."""

from typing import Annotated

import typer

from mousehole.base import field_error
from mousehole.base.cli_options import CliCommand, make_command_app
from mousehole.commands._registry import VARIABLE

SHELLS = ("bash", "zsh", "fish")
WITHOUT_COLON = "COMP_WORDBREAKS=${COMP_WORDBREAKS//:/}"
"""Lets bash take a model such as web:sfd as one word."""

app = make_command_app()


@app.command("completion", cls=CliCommand)
def completion_command(
    shell: Annotated[str, typer.Argument(metavar="bash|zsh|fish", help="The shell.")],
) -> None:
    """Answers `mousehole completion`.

    For example: mousehole completion bash > ~/.local/share/bash-completion/completions/mousehole
    """
    if shell not in SHELLS:
        raise field_error("completion", shell, "bash, zsh or fish")
    from typer._completion_shared import get_completion_script

    if shell == "bash":
        print(WITHOUT_COLON)
    print(get_completion_script(prog_name="mousehole", complete_var=VARIABLE, shell=shell))
