"""The commands `mousehole sweep FILE` and `mousehole sweep show DIR`."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mousehole.base import MouseholeError, console_reporter, output, whole
from mousehole.base.arguments import DaskAddress, Jobs
from mousehole.base.cli_options import CliCommand, command_app, typed_command

RUN = "run"


class SweepGroup(TyperGroup):
    """`mousehole sweep FILE` is short for `mousehole sweep run FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Names the command that runs a sweep where none is named."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [RUN, *args]
        return list(super().parse_args(ctx, args))


app = command_app(cls=SweepGroup, no_args_is_help=True)

Measure = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="The measure, a column of the rows (default: short transfers' mean)."
    ),
]
AxisName = Annotated[str | None, typer.Option(metavar="AXIS", help="Axis of the pictures (default: chosen).")]


@app.command(RUN, cls=CliCommand)
def run_command(
    source: Annotated[
        str, typer.Argument(metavar="FILE.toml", help="What to sweep; docs/sweep.md tells how.")
    ],
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of the rows (default: FILE without its suffix).")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say how many cells, how long, how much memory.")
    ] = False,
    jobs: Jobs = None,
    dask: DaskAddress = None,
) -> None:
    """Runs a sweep, or goes on with it: stopped in any way, the same command ends it.

    For example: mousehole sweep examples/sweeps/buffer-and-load.toml --out found
    """
    from mousehole.runs import opened
    from mousehole.sweeps import Sweep
    from mousehole.sweeps._description import read
    from mousehole.sweeps._running import Prepared, forecast, run

    at_once = whole("jobs", jobs, 1)
    if dry_run:
        print("\n".join(forecast(source, at_once, dask).lines()))
        return
    folder = Path(Path(source).stem if out is None else out)
    if not str(out or folder.name):
        raise MouseholeError("needs the name of a folder", field="--out")
    prepared, reporter = Prepared(read(source)), console_reporter()
    with opened(dask, reporter=reporter) as backend:
        run(prepared, folder, at_once, backend, reporter)
    found = Sweep(folder)
    print(f"{found.finished:,} rows in {folder / 'rows'}; mousehole sweep show {folder} shows them")


@app.command("show", cls=CliCommand)
def show_command(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Folder of a sweep, whole or growing.")],
    value: Measure = None,
    against: Annotated[
        str | None, typer.Option(metavar="SCHEME", help="Compare with this scheme (default: the first).")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE.png|.svg|.pdf", help="Small multiples: lines along one axis.")
    ] = None,
    surface: Annotated[
        str | None, typer.Option(metavar="FILE.png|.svg|.pdf", help="Response surfaces over two axes.")
    ] = None,
    html: Annotated[
        str | None, typer.Option(metavar="FILE.html", help="A page with charts and tables, in one file.")
    ] = None,
    x: AxisName = None,
    y: AxisName = None,
    columns: AxisName = None,
    rows: AxisName = None,
    absolute: Annotated[
        bool, typer.Option("--absolute", help="Draw the measure, not its change against a scheme.")
    ] = False,
    cells: Annotated[
        str | None, typer.Option(metavar="FILE.parquet|.csv", help="Mean, interval and change of every cell.")
    ] = None,
    details: Annotated[bool, typer.Option("--details", help="Print all cells.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the report as Markdown.")] = False,
) -> None:
    """Shows a sweep: how far it is, what each axis changes, and pictures."""
    from mousehole.document import print_document, report_console
    from mousehole.records import write_frame
    from mousehole.sweeps import Sweep
    from mousehole.sweeps._found import VALUE

    value = VALUE if value is None else value
    for option, given, suffixes in (("--plot", plot, output.PLOT_SUFFIXES),
                                    ("--surface", surface, output.PLOT_SUFFIXES),
                                    ("--html", html, output.PAGE_SUFFIXES),
                                    ("--cells", cells, output.TABLE_SUFFIXES)):  # fmt: skip
        output.check_suffix(option, given, suffixes)
    output.check_outputs({"--plot": plot, "--surface": surface, "--cells": cells, "--html": html})
    found = Sweep(folder)
    same: dict[str, Any] = {"value": value, "against": against, "absolute": absolute, "x": x}
    output.write_all(
        [
            (cells, lambda place: write_frame(found.cells(value, against), place)),
            (plot, lambda place: found.plot(place, columns=columns, rows=rows, **same)),
            (surface, lambda place: found.plot_surface(place, y=y, **same)),
            (html, lambda place: found.html(place, typed_command(), value, against)),
        ]
    )
    if markdown:
        output.write_text("-", found.markdown(None, value, against))
    else:
        print_document(report_console(), found.document(None, value, against), details)
