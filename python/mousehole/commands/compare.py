"""The command `mousehole compare`."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mousehole.base import Options, console_reporter, output
from mousehole.base.arguments import Days, TrafficOrUsers, traffic_given
from mousehole.base.cli_options import CliCommand, Outputs, command_app, typed_command, with_options

if TYPE_CHECKING:
    from mousehole.comparison import Comparison

app = command_app()


@app.command("compare", cls=CliCommand)
@with_options(options=Options, outputs=Outputs)
def compare_command(
    options: Options, outputs: Outputs, traffic: TrafficOrUsers = None, days: Days = False
) -> None:
    """Answers `mousehole compare`.

    For example: mousehole compare home --down 20mbit --up 1mbit
    """
    sources = traffic_given(traffic, options.users, options.apps)
    if days:
        from mousehole.days.command import compare_days_command

        compare_days_command(sources, options, outputs, console_reporter(), typed_command())
        return
    from mousehole.comparison import compare
    from mousehole.html import present
    from mousehole.inputs import traffic as traffics

    output.check_result(outputs, [name for name in sources if not traffics.is_model(name)])
    comparison = compare(sources, **vars(replace(options, reporter=console_reporter())))
    to_stderr = "-" in (outputs.json, outputs.save_scenario)
    present(
        comparison,
        [
            (outputs.json, comparison.save),
            (outputs.plot, comparison.plot),
            (outputs.heatmap, comparison.heatmap),
            (outputs.html, lambda place: comparison.html(place, typed_command())),
            (outputs.save_scenario, lambda place: _save_scenario(comparison, place)),
        ],
        details=outputs.details,
        to_stderr=to_stderr,
    )


def _save_scenario(comparison: "Comparison", place: str) -> None:
    from mousehole import scenario as scenarios

    folder = Path.cwd() if place == "-" else Path(place).parent
    output.write_text(place, scenarios.to_toml(comparison.scenario(), folder))
