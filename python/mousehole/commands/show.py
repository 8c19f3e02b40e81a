"""The command `mousehole show`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from mousehole.base import MouseholeError, output, repeat_option, switch
from mousehole.base.arguments import OwnPolicy
from mousehole.base.cli_options import (
    OUTPUT,
    CliCommand,
    Outputs,
    make_command_app,
    typed_command,
    with_options,
)

app = make_command_app()


@dataclass(frozen=True, kw_only=True)
class ShowOutputs:
    """How a result is shown, in addition to the report or in its place."""

    html: str | None = repeat_option(Outputs, "html")
    plot: str | None = repeat_option(Outputs, "plot")
    heatmap: str | None = repeat_option(Outputs, "heatmap")
    details: bool = repeat_option(Outputs, "details")
    markdown: bool = switch("Print the report as Markdown.", OUTPUT)


@app.command("show", cls=CliCommand)
@with_options(outputs=ShowOutputs)
def show_command(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.json|DIR",
            help="What --json of compare, tune, page or link wrote, or the folder of a sweep.",
        ),
    ],
    outputs: ShowOutputs,
    policy: OwnPolicy = None,
) -> None:
    """Answers `mousehole show`.

    For example: mousehole show found.json --html found.html
    """
    output.check_result(outputs, [file])
    from mousehole.html import present
    from mousehole.loading import load

    found = load(file, policy)
    present(
        found,
        [
            (outputs.html, lambda place: found.html(place, typed_command())),
            (outputs.plot, lambda place: _write_picture(found, "plot", place)),
            (outputs.heatmap, lambda place: _write_picture(found, "heatmap", place)),
        ],
        details=outputs.details,
        is_markdown=outputs.markdown,
    )


def _write_picture(found: object, name: str, place: str) -> None:
    """Writes the picture that method `name` of the result draws to the file `place`.

    Raises `MouseholeError` if the result has no such picture.
    """
    draw = getattr(found, name, None)
    if draw is None:
        raise MouseholeError(f"--{name}: this result has no such picture; --html has its charts")
    draw(place)
