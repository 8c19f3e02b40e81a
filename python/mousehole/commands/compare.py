"""The command `mousehole compare`."""

from dataclasses import replace
from typing import Any

from mousehole.base import MouseholeError, Options, console_reporter, output
from mousehole.base.arguments import Days, TrafficOrUsers, require_traffic
from mousehole.base.cli_options import CliCommand, Outputs, make_command_app, typed_command, with_options

app = make_command_app()
OF_ONE_DAY = ("plot", "heatmap", "save_scenario")
"""Outputs that a comparison over days does not have."""


@app.command("compare", cls=CliCommand)
@with_options(options=Options, outputs=Outputs)
def compare_command(
    options: Options, outputs: Outputs, traffic: TrafficOrUsers = None, days: Days = False
) -> None:
    """Answers `mousehole compare`.

    For example: mousehole compare home --down 20mbit --up 1mbit
    """
    sources = require_traffic(traffic, options.users, options.apps)
    from mousehole.html import present
    from mousehole.inputs import traffic as traffics
    from mousehole.scenario import write_toml

    for name in OF_ONE_DAY if days else ():
        if getattr(outputs, name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise MouseholeError(f"{flag}: not together with --days; --html has the charts of all days")
    output.check_result(outputs, [name for name in sources if not traffics.is_model_or_place(name)])
    found = _run_comparison(sources, replace(options, reporter=console_reporter()), days)
    present(
        found,
        [
            (outputs.json, found.save),
            (outputs.plot, lambda place: found.plot(place)),
            (outputs.heatmap, lambda place: found.heatmap(place)),
            (outputs.html, lambda place: found.html(place, typed_command())),
            (outputs.save_scenario, lambda place: write_toml(found.scenario(), place)),
        ],
        details=outputs.details,
        to_stderr="-" in (outputs.json, outputs.save_scenario),
    )


def _run_comparison(sources: list[str], options: Options, days: bool) -> Any:
    """Returns the comparison of the sources, after all its runs.

    It is a `Comparison`, or with `days` a `DaysComparison`.
    """
    if days:
        from mousehole.days import compare_days

        return compare_days(sources, **vars(options))
    from mousehole.comparison import compare

    return compare(sources, **vars(options))
