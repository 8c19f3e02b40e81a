"""The command `mousehole page`."""

from dataclasses import dataclass, fields
from typing import Annotated

import typer

from mousehole.base import MouseholeError, console_reporter, option, output
from mousehole.base.cli_options import (
    OUTPUT,
    PICTURE,
    WHERE,
    CliCommand,
    make_command_app,
    typed_command,
    with_options,
)
from mousehole.page._options import PageOptions

app = make_command_app()

NO_LOAD_STATUS = 1
"""Under some scheme no load counts, so that nothing was measured of it."""


@dataclass(frozen=True, kw_only=True)
class PageOutputs:
    """Where the results are written, in addition to the table."""

    json: str | None = option(
        None, "All loads with every object as JSON; - is standard output.", WHERE, OUTPUT
    )
    html: str | None = option(None, "Report with charts and tables, one file.", "FILE.html", OUTPUT)
    plot: str | None = option(None, "Waterfalls of the schemes side by side.", PICTURE, OUTPUT)


@app.command("page", cls=CliCommand)
@with_options(options=PageOptions, outputs=PageOutputs)
def page_command(
    page: Annotated[
        str, typer.Argument(metavar="PAGE", help="Folder, HAR file, http://localhost:…, or example.")
    ],
    options: PageOptions,
    outputs: PageOutputs,
) -> None:
    """Answers `mousehole page`.

    For example: mousehole page example --schemes droptail,red,s-sfd --loads 10 --plot page.png
    """
    output.check_result(outputs)
    from mousehole.html import present
    from mousehole.page import PageLoads, conduct, predict

    reporter = console_reporter()
    try:
        results = conduct.measure_loads(page, options, reporter)
    except MouseholeError as error:
        raise error.renamed({item.name: f"--{item.name}" for item in fields(PageOptions)}) from None
    found = PageLoads(results, predict.predict_loads(results, options, reporter) if options.predict else None)
    present(
        found,
        [
            (outputs.json, found.save),
            (outputs.plot, found.plot),
            (outputs.html, lambda place: found.html(place, typed_command())),
        ],
        to_stderr=outputs.json == "-",
    )
    if any(row.loads == 0 for row in results.rows()):
        raise typer.Exit(NO_LOAD_STATUS)
