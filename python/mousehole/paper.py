"""Runs the reproductions of papers; the papers are a package of their own that a wheel contains."""

import importlib
import sys
from pathlib import Path
from typing import Any

import mousehole
from mousehole.base import MouseholeError, output, unknown_error

ITEMS = ("table", "figure", "claim", "section", "log")
"""What may be wanted of a paper, each with its number, id or file."""


def find_papers() -> Path:
    """Returns the folder of the package `papers`: that of the checkout, or in a wheel the copy in it."""
    return (Path(mousehole.__file__).parent / "bundled" / "papers").resolve()


def list_papers(own: Path | None = None) -> str:
    """Returns the papers with the tables, figures and claims of each, one line per paper.

    `own` is a folder of further papers; raises `MouseholeError` if it has none. Changes `sys.path` as
    `make_importable` does.
    """
    return str(_command(own).list_papers())


def start_paper(name: str, folder: Path) -> str:
    """Writes the folder of a new paper, in which everything runs, and returns the next steps as text.

    Raises the errors of `papers.new.create_paper`.
    """
    _command(None)
    return str(importlib.import_module(f"{find_papers().name}.new").create_paper(name, folder))


def parse_item(what: str | None, number: str | None) -> dict[str, str]:
    """Returns the part of a paper that two arguments name, as a keyword: `{"table": "4"}`.

    Empty for all claims. Raises `MouseholeError` for an unknown part, for one of `ITEMS` without its number,
    and for claims with a number.
    """
    if what is None or what == "claims":
        if number is not None:
            raise MouseholeError(f'claims: "{number}" is too much; it takes nothing more')
        return {}
    if what not in ITEMS:
        raise unknown_error("paper", "item", what, ["claims", *ITEMS])
    if number is None:
        raise MouseholeError(f"{what}: which one? mousehole paper list says what there is")
    return {what: number}


def reproduce(name: str | None, own: Path | None, html: str | None, **wanted: Any) -> int:
    """Runs a paper, or all of them if `name` is None, and returns the exit status.

    `own` is a folder of further papers, `html` one to write a page into. `wanted` are the further arguments
    of `papers.command.run`. Raises `MouseholeError` for what does not go together.
    """
    items = [item for item in ITEMS if wanted.get(item)]
    if items and html is not None:
        raise MouseholeError(f"{items[0]}: not together with --html")
    if wanted["tried"] and not (wanted.get("claim") or wanted.get("section")):
        raise MouseholeError("--tried: only together with claim ID or section N")
    if wanted["readings"] and (html is not None or wanted["tried"] or {"table", "figure", "log"} & {*items}):
        raise MouseholeError("--readings: only with claims: all of them, claim ID or section N")
    if own is not None and wanted["dask"]:
        raise MouseholeError("--papers: not together with --dask, whose workers do not have the folder")
    output.check_folder("--html", html)
    folder = None if html is None else Path(html)
    return int(_command(own).run(name, html_folder=folder, **wanted))


def study(name: str, **length: Any) -> Any:
    """Returns a paper for a notebook (`papers/notebook.py`).

    `length` is the number and the duration of its runs. Changes `sys.path` as `make_importable` does.
    """
    make_importable()
    return importlib.import_module(f"{find_papers().name}.notebook").Study(name, **length)


def make_importable(own: Path | None = None) -> None:
    """Lets this process import the package `papers`, with the papers of a further folder before it.

    Extends `sys.path` and the package's path. Raises `MouseholeError` if no folder in `own` has a
    paper.toml.
    """
    folder = str(find_papers().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    if own is not None:
        if not any(own.glob("*/paper.toml")):
            raise MouseholeError(f"--papers: {own}: no folder in it has a paper.toml")
        package = importlib.import_module(find_papers().name)
        package.__path__.insert(0, str(own.resolve()))


def _command(own: Path | None) -> Any:
    """Returns the module `papers.command`, after making the package and a further folder importable."""
    make_importable(own)
    return importlib.import_module(f"{find_papers().name}.command")
