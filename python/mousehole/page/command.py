"""The command `mousehole page`."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from mousehole.base import MouseholeError, console_reporter, option, output
from mousehole.base.cli_options import OUTPUT, PICTURE, WHERE, CliCommand, command_app, with_options
from mousehole.page._options import PageOptions

if TYPE_CHECKING:
    from mousehole.page._results import PageResults

app = command_app()

NO_LOAD_STATUS = 1
"""Under some scheme no load counts, so that nothing was measured of it."""


@dataclass(frozen=True, kw_only=True)
class PageOutputs:
    """Where the results are written, in addition to the table."""

    json: str | None = option(
        None, "All loads with every object as JSON; - is standard output.", WHERE, OUTPUT
    )
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
    output.check_suffix("--plot", outputs.plot, output.PLOT_SUFFIXES)
    output.check_outputs({"--json": outputs.json, "--plot": outputs.plot})
    from mousehole.document import report_console
    from mousehole.page import conduct, document, predict, show

    reporter = console_reporter()
    try:
        results = conduct.measure(page, options, reporter)
    except MouseholeError as error:
        raise error.renamed({item.name: f"--{item.name}" for item in fields(PageOptions)}) from None
    prediction = predict.predicted(results, options, reporter) if options.predict else None
    output.write_all(
        [
            (outputs.json, lambda place: output.write_text(place, document.text(results, prediction))),
            (outputs.plot, lambda place: _draw(results, place)),
        ]
    )
    show.print_page(report_console(stderr=outputs.json == "-"), results, prediction)
    if any(row.loads == 0 for row in results.rows()):
        raise typer.Exit(NO_LOAD_STATUS)


def _draw(results: "PageResults", place: str) -> None:
    from mousehole import charts
    from mousehole.page import waterfall

    charts.written(waterfall.picture_of(results), place)
