"""The command `mousehole paper`."""

from typing import Annotated, Any

import typer

from mousehole.base import MouseholeError, whole
from mousehole.base.arguments import DaskAddress, Jobs
from mousehole.base.cli_options import CliCommand, command_app
from mousehole.paper import listing, reproduce

app = command_app()


@app.command("paper", cls=CliCommand)
def paper_command(
    name: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="Name of the paper, such as sfd; list lists them.")
    ] = None,
    claims: Annotated[
        bool, typer.Option("--claims", help="All claims; so it is without any option.")
    ] = False,
    table: Annotated[str | None, typer.Option(metavar="N", help="Number of the table.")] = None,
    figure: Annotated[str | None, typer.Option(metavar="N", help="Number of the figure.")] = None,
    claim: Annotated[str | None, typer.Option(metavar="ID", help="One claim, such as S4.")] = None,
    tried: Annotated[
        bool,
        typer.Option("--tried", help="With --claim: also under other values of what the paper leaves open."),
    ] = False,
    log: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With sfd: its estimate of page times for the pages of this log."),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All papers.")] = False,
    html: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write all claims, tables and figures as a page.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print what comes out as Markdown.")] = False,
    seeds: Annotated[str | None, typer.Option(metavar="N", help="Replications.")] = None,
    jobs: Jobs = None,
    dask: DaskAddress = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The run length of the paper, or a shorter one.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what was measured before.")] = False,
) -> None:
    """Answers `mousehole paper`."""
    numbers = {field: whole(field, number, 1) for field, number in (("seeds", seeds), ("jobs", jobs))}
    wanted: dict[str, Any] = {
        "claims": claims,
        "table": table,
        "figure": figure,
        "claim": claim,
        "log": log,
        "tried": tried,
    }
    part = next((option for option, value in wanted.items() if value), None)
    if name is None and not every and part is not None:
        raise MouseholeError(
            f"of which paper? name it, such as mousehole paper sfd --{part} …; "
            "mousehole paper list lists them",
            field=part,
        )
    others = {"all": every, "html": html, **numbers, "dask": dask, "full": full, "fresh": fresh,
              "markdown": markdown}  # fmt: skip
    if name == "list" or (name is None and not every):
        _refuse_beside_list({**wanted, **others})
        print(listing())
        return
    raise typer.Exit(reproduce(name, every, html, **wanted, **numbers, full=full, fresh=fresh, dask=dask,
                               markdown=markdown))  # fmt: skip


def _refuse_beside_list(given: dict[str, Any]) -> None:
    """Refuses the first of the options given, since the list of papers takes none."""
    for option, value in given.items():
        if value:
            raise MouseholeError(
                f"--{option}: the list of papers takes no options; name a paper, such as "
                "mousehole paper sfd, or give --all"
            )
