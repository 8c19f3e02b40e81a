"""What `mousehole compare --days` does."""

from collections.abc import Sequence
from dataclasses import replace

from mousehole.base import MouseholeError, Options, Reporter, output
from mousehole.base.cli_options import Outputs
from mousehole.days._comparison import compare_days
from mousehole.html import present

OF_ONE_DAY = ("plot", "heatmap", "save_scenario")
"""Outputs that a comparison over days does not have."""


def compare_days_command(
    traffic: Sequence[str], options: Options, outputs: Outputs, reporter: Reporter, command: Sequence[str]
) -> None:
    """Compares over days, writes the files asked for and prints the report."""
    for name in OF_ONE_DAY:
        if getattr(outputs, name) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise MouseholeError(f"{flag}: not together with --days; --html has the charts of all days")
    output.check_result(outputs, traffic)
    found = compare_days(traffic, **vars(replace(options, reporter=reporter)))
    present(
        found,
        [(outputs.json, found.save), (outputs.html, lambda place: found.html(place, command))],
        details=outputs.details,
        to_stderr=outputs.json == "-",
    )
