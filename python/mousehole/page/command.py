"""The command `mousehole page`."""

from dataclasses import dataclass, fields
from typing import Annotated

import typer
from rich.console import Console

from mousehole.base import ConsoleReporter, MouseholeError, option, output
from mousehole.base.cli_options import OUTPUT, PICTURE, WHERE, CliCommand, with_options
from mousehole.page._options import PageOptions
from mousehole.reports import report

NO_LOAD_STATUS = 1
"""Under some scheme no load counts, so that nothing was measured of it."""


@dataclass(frozen=True, kw_only=True)
class PageOutputs:
    """Where the results are written, in addition to the table."""

    json: str | None = option(
        None, "All loads with every object as JSON; - is standard output.", WHERE, OUTPUT
    )
    plot: str | None = option(None, "Waterfalls of the schemes side by side.", PICTURE, OUTPUT)


def register(app: typer.Typer) -> None:
    """Adds the command to the command line."""
    app.command("page", cls=CliCommand)(page_command)


@with_options(options=PageOptions, outputs=PageOutputs)
def page_command(
    page: Annotated[
        str, typer.Argument(metavar="PAGE", help="Folder, HAR file, http://localhost:…, or example.")
    ],
    options: PageOptions,
    outputs: PageOutputs,
) -> None:
    """Loads a page in a real browser beside downloads, through the emulated link, under several schemes.

    For example: mousehole page example --schemes droptail,red,s-sfd --loads 10 --plot page.png
    """
    output.check_suffix("--plot", outputs.plot, output.PLOT_SUFFIXES)
    output.check_outputs({"--json": outputs.json, "--plot": outputs.plot})
    from mousehole.page import (
        conduct,
        document,
        predict,
        show,  # they load what other commands do without
    )

    reporter = ConsoleReporter(Console(stderr=True, highlight=False))
    try:
        results = conduct.measure(page, options, reporter)
    except MouseholeError as error:
        raise error.renamed({item.name: f"--{item.name}" for item in fields(PageOptions)}) from None
    prediction = predict.predicted(results, options, reporter) if options.predict else None
    if outputs.json is not None:
        output.write_text(outputs.json, document.text(results, prediction))
    if outputs.plot is not None:
        from mousehole.page import waterfall

        output.write_with(outputs.plot, lambda part: waterfall.draw(results, part))
    show.print_page(report.report_console(stderr=outputs.json == "-"), results, prediction)
    if any(row.loads == 0 for row in results.rows()):
        raise typer.Exit(NO_LOAD_STATUS)
