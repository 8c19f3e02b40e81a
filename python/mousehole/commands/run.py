"""The command `mousehole run`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from mousehole.base import (
    Replay,
    RunOptions,
    complete_traffic,
    console_reporter,
    option,
    output,
    parse_whole,
    repeat_option,
)
from mousehole.base.arguments import PLACES
from mousehole.base.cli_options import (
    OPTIONS,
    PICTURE,
    TABLE,
    WHERE,
    CliCommand,
    make_command_app,
    typed_command,
    with_options,
)

app = make_command_app()

SAMPLED = "100ms"
"""Interval of the samples that are asked for by --samples or --plot alone."""


@dataclass(frozen=True, kw_only=True)
class RunChanges:
    """The values that replace those of a scenario, and the files that are written of its run."""

    scheme: str | None = option(None, "Scheme to use instead of the scenario's.", "NAME[(…)]", OPTIONS)
    down: str | None = option(None, "Of a place: rate of the download direction.", "RATE|FILE", OPTIONS)
    up: str | None = option(None, "The same of the upload direction.", "RATE|FILE", OPTIONS)
    users: int | None = repeat_option(RunOptions, "users", OPTIONS)
    apps: str | None = option(
        None, "What they run, with the share of users who do: web:1,calls:0.3.", "APP[:SHARE][,…]", OPTIONS
    )
    duration: str | None = option(None, "Length of the measured window (default: its own).", "TIME", OPTIONS)
    policy: str | None = option(
        None, "Header of your own policy, which schemes may then name.", "FILE.h[,…]", OPTIONS
    )
    params: Mapping[str, object] | None = repeat_option(RunOptions, "params", OPTIONS)
    qoo: str | Sequence[str] | None = repeat_option(RunOptions, "qoo", OPTIONS)
    seed: str | None = option(None, "Number to use instead of the scenario's.", "N", OPTIONS)
    replication: str | None = option(None, "Number to use instead of the scenario's.", "N", OPTIONS)
    replay: Replay | None = option(  # noqa: RUF009 (the call only declares)
        None, "Replaces traffic.replay of the scenario.", "open|closed", OPTIONS
    )
    records: str | None = option(None, "Write every transfer.", TABLE, OPTIONS)
    trace: str | None = option(None, "Write every packet event.", TABLE, OPTIONS)
    series: str | None = option(
        None, "Sample queues, rates, drops and congestion windows so often (see --plot).", "TIME", OPTIONS
    )
    samples: str | None = option(None, "Write the samples.", TABLE, OPTIONS)
    plot: str | None = option(None, "Draw the samples over time.", PICTURE, OPTIONS)
    html: str | None = option(None, "Report with tables, one file.", "FILE.html", OPTIONS)
    json: str | None = option(None, "Results as JSON; - is standard output.", WHERE, OPTIONS)


@app.command("run", cls=CliCommand)
@with_options(given=RunChanges)
def run_command(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO.toml",
            help=f"A scenario file, or with --down and --up one place ({PLACES}).",
            autocompletion=complete_traffic,
        ),
    ],
    given: RunChanges,
) -> None:
    """Answers `mousehole run`."""
    from mousehole import records
    from mousehole.document import make_report_console, print_document
    from mousehole.runs import load_policies

    output.check_result(given, [scenario])
    series = SAMPLED if given.series is None and (given.samples or given.plot) else given.series
    load_policies(given.policy)
    done = records.run(
        scenario,
        reporter=console_reporter(),
        scheme=given.scheme,
        down=given.down,
        up=given.up,
        users=given.users,
        apps=given.apps,
        duration=given.duration,
        params=given.params,
        qoo=given.qoo,
        seed=parse_whole("seed", given.seed, 0),
        replication=parse_whole("replication", given.replication, 0),
        replay=given.replay,
        trace=True if given.trace else None,
        series=series,
    )
    tables = {"transfers": given.records, "series": given.samples, "trace": given.trace}
    try:
        output.write_all(
            [
                *((file, lambda place, name=name: records.write_frame(getattr(done, name), place))
                  for name, file in tables.items()),
                (given.plot, done.plot),
                (given.html, lambda place: done.html(place, typed_command())),
                (None if given.json == "-" else given.json,
                 lambda place: output.write_text(place, done.to_json())),
            ]
        )  # fmt: skip
    finally:  # print the report even if a disk is full
        if given.json == "-":
            output.write_text("-", done.to_json())
        else:
            print_document(make_report_console(), done.document())
