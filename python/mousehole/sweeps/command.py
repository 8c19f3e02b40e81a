"""The commands `mousehole sweep FILE` and `mousehole sweep show DIR`."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from mousehole.base import MouseholeError, console_reporter, option, output, parse_whole, switch
from mousehole.base.arguments import DaskAddress, Jobs
from mousehole.base.cli_options import (
    OPTIONS,
    PICTURE,
    TABLE,
    CliCommand,
    make_command_app,
    typed_command,
    with_options,
)

RUN = "run"
OF_PICTURES = "Axis of the pictures (default: chosen)."


class SweepGroup(TyperGroup):
    """`mousehole sweep FILE` is short for `mousehole sweep run FILE`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Returns the arguments left by the parser; inserts `run` in front where no command is named."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [RUN, *args]
        return list(super().parse_args(ctx, args))


app = make_command_app(cls=SweepGroup, no_args_is_help=True)


@app.command(RUN, cls=CliCommand)
def run_command(
    source: Annotated[
        str, typer.Argument(metavar="FILE.toml", help="What to sweep; docs/sweep.md describes it.")
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
    from mousehole.runs import open_backend
    from mousehole.sweeps import Sweep
    from mousehole.sweeps._description import read
    from mousehole.sweeps._running import Prepared, forecast, run_missing

    at_once = parse_whole("jobs", jobs, 1)
    if dry_run:
        print("\n".join(forecast(source, at_once, dask).lines()))
        return
    folder = Path(Path(source).stem if out is None else out)
    if not str(out or folder.name):
        raise MouseholeError("needs the name of a folder", field="--out")
    prepared, reporter = Prepared(read(source)), console_reporter()
    with open_backend(dask, reporter=reporter) as backend:
        run_missing(prepared, folder, at_once, backend, reporter)
    found = Sweep(folder)
    print(f"{found.finished:,} rows in {folder / 'rows'}; mousehole sweep show {folder} shows them")


@dataclass(frozen=True, kw_only=True)
class Views:
    """The views of a sweep that are shown, and where they are written."""

    value: str | None = option(
        None, "The measure, a column of the rows (default: short transfers' mean).", "COLUMN", OPTIONS
    )
    against: str | None = option(None, "Compare with this scheme (default: the first).", "SCHEME", OPTIONS)
    plot: str | None = option(None, "Small multiples: lines along one axis.", PICTURE, OPTIONS)
    surface: str | None = option(None, "Response surfaces over two axes.", PICTURE, OPTIONS)
    html: str | None = option(None, "A page with charts and tables, in one file.", "FILE.html", OPTIONS)
    x: str | None = option(None, OF_PICTURES, "AXIS", OPTIONS)
    y: str | None = option(None, OF_PICTURES, "AXIS", OPTIONS)
    columns: str | None = option(None, OF_PICTURES, "AXIS", OPTIONS)
    rows: str | None = option(None, OF_PICTURES, "AXIS", OPTIONS)
    absolute: bool = switch("Draw the measure, not its change against a scheme.", OPTIONS)
    cells: str | None = option(None, "Mean, interval and change of every cell.", TABLE, OPTIONS)
    details: bool = switch("Print all cells.", OPTIONS)
    markdown: bool = switch("Print the report as Markdown.", OPTIONS)


@app.command("show", cls=CliCommand)
@with_options(views=Views)
def show_command(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="Folder of a sweep, whole or growing.")],
    views: Views,
) -> None:
    """Shows a sweep: how far it is, what each axis changes, and pictures."""
    try:
        _show(folder, views)
    except MouseholeError as error:
        raise error.renamed({one.name: f"--{one.name}" for one in fields(Views)}) from None


def _show(folder: str, views: Views) -> None:
    """Prints a sweep and writes its pictures; raises `MouseholeError` with the names of fields."""
    from mousehole.document import make_report_console, print_document
    from mousehole.records import write_frame
    from mousehole.sweeps import Sweep
    from mousehole.sweeps._found import VALUE

    output.check_result(views)
    found, against = Sweep(folder), views.against
    value = VALUE if views.value is None else views.value
    same: dict[str, Any] = {"value": value, "against": against, "absolute": views.absolute, "x": views.x}
    output.write_all(
        [
            (views.cells, lambda place: write_frame(found.cells(value, against), place)),
            (views.plot, lambda place: found.plot(place, columns=views.columns, rows=views.rows, **same)),
            (views.surface, lambda place: found.plot_surface(place, y=views.y, **same)),
            (views.html, lambda place: found.html(place, typed_command(), value, against)),
        ]
    )
    if views.markdown:
        output.write_text("-", found.markdown(None, value, against))
    else:
        print_document(make_report_console(), found.document(None, value, against), views.details)
