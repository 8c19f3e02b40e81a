"""What `mousehole compare --days` does."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from mousehole.base import MouseholeError, Options, Reporter, output
from mousehole.base.cli_options import Outputs
from mousehole.days._comparison import compare_days
from mousehole.document import print_document, report_console

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
    output.check_suffix("--html", outputs.html, output.PAGE_SUFFIXES)
    output.check_outputs({"--json": outputs.json, "--html": outputs.html}, traffic)
    found = compare_days(traffic, **vars(replace(options, reporter=reporter)))
    writers: list[tuple[str | None, Callable[[str], None]]] = [
        (outputs.json, lambda place: output.write_text(place, found.to_json())),
        (outputs.html, lambda place: found.html(place, command)),
    ]
    try:
        output.write_all(writers)
    finally:  # print the report even if a disk is full
        print_document(report_console(stderr=outputs.json == "-"), found.document(), outputs.details)
