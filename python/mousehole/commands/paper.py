"""The command `mousehole paper`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from mousehole.base import MouseholeError, option, parse_whole, switch
from mousehole.base.cli_options import OPTIONS, CliCommand, make_command_app, with_options
from mousehole.paper import list_papers, parse_item, reproduce, start_paper

app = make_command_app()


@dataclass(frozen=True, kw_only=True)
class PaperOptions:
    """How a paper's experiments are repeated, and how they are shown."""

    reading: str | None = option(None, "A named reading of what the paper leaves open.", "NAME", OPTIONS)
    readings: bool = switch("The claims under each reading, and the score of each.", OPTIONS)
    tried: bool = switch("Of a claim: also under other values of what the paper leaves open.", OPTIONS)
    all: bool = switch("All papers.", OPTIONS)
    html: str | None = option(None, "Write all claims, tables and figures as a page.", "DIR", OPTIONS)
    markdown: bool = switch("Print what comes out as Markdown.", OPTIONS)
    details: bool = switch("p-values as well.", OPTIONS)
    papers: str | None = option(
        None, "A folder of further papers, before those that are there.", "DIR", OPTIONS
    )
    seed: str | None = option(None, "Master seed of all runs.", "N", OPTIONS)
    seeds: str | None = option(None, "Replications.", "N", OPTIONS)
    settle: str | None = option(
        None, "Double the replications, up to N, until each word is settled.", "N", OPTIONS
    )
    jobs: str | None = option(None, "Parallel runs (default: one per core).", "N", OPTIONS)
    dask: str | None = option(None, "Run on the workers of this Dask scheduler.", "ADDRESS", OPTIONS)
    full: bool = switch("The run length of the paper, or a shorter one.", OPTIONS, off="quick")
    fresh: bool = switch("Run again what was measured before.", OPTIONS)


@app.command("paper", cls=CliCommand)
@with_options(given=PaperOptions)
def paper_command(
    given: PaperOptions,
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
) -> None:
    """Answers `mousehole paper`."""
    least = {
        "seed": (given.seed, 0),
        "seeds": (given.seeds, 1),
        "settle": (given.settle, 1),
        "jobs": (given.jobs, 1),
    }
    options: dict[str, Any] = vars(given) | {field: parse_whole(field, *one) for field, one in least.items()}
    every, html, papers = (options.pop(option) for option in ("all", "html", "papers"))
    folder = None if papers is None else Path(papers)
    if name == "new":
        if what is None or number is not None:
            raise MouseholeError("new: give one name, as in mousehole paper new my-paper")
        _refuse(
            {"all": every, "html": html, **options}, "new takes only --papers DIR, where the folder is made"
        )
        print(start_paper(what, folder or Path()))
        return
    if name == "list" or (name is None and not every):
        if what is not None:
            raise MouseholeError(f'list: "{what}" is too much; {LIST_TAKES_NONE}')
        _refuse({"all": every, "html": html, **options}, LIST_TAKES_NONE)
        print(list_papers(folder))
        return
    if every and name is not None:
        raise MouseholeError(f'--all: not together with a paper ("{name}")')
    item = parse_item(what, number)
    raise typer.Exit(reproduce(name, folder, html, **item, **options))


LIST_TAKES_NONE = (
    "the list of papers takes no options; name a paper, such as mousehole paper sfd, or give --all alone"
)


def _refuse(given: dict[str, Any], why: str) -> None:
    """Raises `MouseholeError` for the first option in `given` that has a value.

    `why` says what is allowed.
    """
    for name, value in given.items():
        if value:
            raise MouseholeError(f"--{name}: {why}")
