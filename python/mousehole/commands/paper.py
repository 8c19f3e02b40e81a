"""The command `mousehole paper`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from mousehole.base import MouseholeError, whole
from mousehole.base.arguments import DaskAddress, Jobs
from mousehole.base.cli_options import CliCommand, command_app
from mousehole.paper import listing, reproduce, start_paper, wanted_item

app = command_app()


@app.command("paper", cls=CliCommand)
def paper_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER", help="Name of the paper, such as sfd; list lists them, new NAME begins one."
        ),
    ] = None,
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="ITEM", help="claims (so it is without), table, figure, claim, section, or log."
        ),
    ] = None,
    number: Annotated[
        str | None,
        typer.Argument(
            metavar="N", help="Its number or id, as in table 4, figure 6, claim S4, section 4.3; or the log."
        ),
    ] = None,
    reading: Annotated[
        str | None, typer.Option(metavar="NAME", help="A named reading of what the paper leaves open.")
    ] = None,
    readings: Annotated[
        bool, typer.Option("--readings", help="The claims under each reading, and the score of each.")
    ] = False,
    tried: Annotated[
        bool,
        typer.Option("--tried", help="Of a claim: also under other values of what the paper leaves open."),
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="All papers.")] = False,
    html: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write all claims, tables and figures as a page.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print what comes out as Markdown.")] = False,
    details: Annotated[bool, typer.Option("--details", help="p-values as well.")] = False,
    papers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A folder of further papers, before those that are there."),
    ] = None,
    seed: Annotated[str | None, typer.Option(metavar="N", help="Master seed of all runs.")] = None,
    seeds: Annotated[str | None, typer.Option(metavar="N", help="Replications.")] = None,
    settle: Annotated[
        str | None,
        typer.Option(metavar="N", help="Double the replications, up to N, until each word is settled."),
    ] = None,
    jobs: Jobs = None,
    dask: DaskAddress = None,
    full: Annotated[
        bool, typer.Option("--full/--quick", help="The run length of the paper, or a shorter one.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Run again what was measured before.")] = False,
) -> None:
    """Answers `mousehole paper`."""
    least = {"seed": (seed, 0), "seeds": (seeds, 1), "settle": (settle, 1), "jobs": (jobs, 1)}
    numbers = {field: whole(field, *given) for field, given in least.items()}
    options: dict[str, Any] = {
        "reading": reading, "readings": readings, "tried": tried, "dask": dask, "full": full, "fresh": fresh,
        "markdown": markdown, "details": details, **numbers,
    }  # fmt: skip
    if name == "new":
        if what is None or number is not None:
            raise MouseholeError("new: give one name, as in mousehole paper new my-paper")
        _refuse(
            {"all": every, "html": html, **options}, "new takes only --papers DIR, where the folder is made"
        )
        print(start_paper(what, papers or Path()))
        return
    if name == "list" or (name is None and not every):
        asked = {} if what is None else {what: True}
        _refuse({**asked, "all": every, "html": html, **options}, LIST_TAKES_NONE)
        print(listing(papers))
        return
    if every and name is not None:
        raise MouseholeError(f'--all: not together with a paper ("{name}")')
    item = wanted_item(what, number)
    raise typer.Exit(reproduce(name, papers, html, **item, **options))


LIST_TAKES_NONE = (
    "the list of papers takes no options; name a paper, such as mousehole paper sfd, or give --all"
)


def _refuse(given: dict[str, Any], why: str) -> None:
    """Refuses the first of what is given."""
    for option, value in given.items():
        if value:
            raise MouseholeError(f"--{option}: {why}")
