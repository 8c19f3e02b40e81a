"""The command `mousehole tune`."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mousehole.base import MouseholeError, console_reporter, option, output
from mousehole.base.arguments import TrafficOrUsers, require_traffic
from mousehole.base.cli_options import (
    OUTPUT,
    PICTURE,
    WHERE,
    CliCommand,
    make_command_app,
    typed_command,
    with_options,
)
from mousehole.tuning._options import TuneOptions

if TYPE_CHECKING:
    from mousehole.tuning import Tuned

app = make_command_app()

OPTION_OF_FIELD = {
    "schemes": "--scheme", "objectives": "--objective", "limits": "--limit", "ranges": "--range",
    "for_": "--for", "budget": "--budget", "trials": "--trials",
    "search_seeds": "--search-seeds",
    "sensitivity_seeds": "--sensitivity-seeds", "install": "--install", "beside": "--beside",
}  # fmt: skip
"""Fields of a search by the option that sets them; the others are those of `compare`."""


@dataclass(frozen=True, kw_only=True)
class TuneOutputs:
    """Where the results of a search are written, in addition to the report."""

    json: str | None = option(None, "All results as JSON; - is standard output.", WHERE, OUTPUT)
    plot: str | None = option(
        None, "Plot of what short transfers gain against what others pay.", PICTURE, OUTPUT
    )
    html: str | None = option(None, "Report with charts and tables, one file.", "FILE.html", OUTPUT)
    install: str | None = option(
        None, "Write the settings to install into a folder, instead of printing them.", "DIR", OUTPUT
    )


@app.command("tune", cls=CliCommand)
@with_options(options=TuneOptions, outputs=TuneOutputs)
def tune_command(
    options: TuneOptions,
    outputs: TuneOutputs,
    traffic: TrafficOrUsers = None,
) -> None:
    """Answers `mousehole tune`.

    For example: mousehole tune web:sfd --rate 5mbit --load 0.9 --scheme sfd --limit 'long mean +10%'
    """
    sources = require_traffic(traffic, options.users, options.apps)
    from mousehole.inputs import is_model_or_place
    from mousehole.tuning import tune

    output.check_result(outputs, [name for name in sources if not is_model_or_place(name)])
    output.check_folder("--install", outputs.install)
    try:
        found = tune(sources, **vars(replace(options, reporter=console_reporter())))
        _write(found, outputs)
    except MouseholeError as error:
        raise error.renamed(OPTION_OF_FIELD) from None


def _write(found: "Tuned", outputs: TuneOutputs) -> None:
    """Writes the files asked for, then the report, also where a file cannot be written.

    Raises the errors of `output.write_all` after the report.
    """
    from mousehole.document import make_report_console, print_document
    from mousehole.tuning import _report

    try:
        output.write_all(
            [
                (outputs.json, lambda place: output.write_text(place, found.to_json())),
                (outputs.plot, found.plot),
                (outputs.html, lambda place: found.html(place, typed_command())),
                (outputs.install if found.results.settings is not None else None, found.install),
            ]
        )
    finally:
        shown = _report.make_document(
            found.results, found.judged.results, found.spent, with_settings=outputs.install is None
        )
        print_document(make_report_console(stderr=outputs.json == "-"), shown, more=_report.MORE)
