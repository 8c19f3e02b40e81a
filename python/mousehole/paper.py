"""Runs the reproductions of papers; the papers are a package of their own that a wheel contains."""

import importlib
import sys
from pathlib import Path
from typing import Any

import mousehole
from mousehole.base import MouseholeError

ITEMS = ("table", "figure", "claim", "claims", "log")


def papers_folder() -> Path:
    """Returns the folder of the package `papers`: that of the checkout, or in a wheel the copy in it."""
    return (Path(mousehole.__file__).parent / "bundled" / "papers").resolve()


def known_papers() -> list[str]:
    """Returns the names of the papers that can be reproduced."""
    folders = (path.parent.name for path in papers_folder().glob("*/paper.toml"))
    return sorted(name.replace("_", "-") for name in folders)


def listing() -> str:
    """Returns the papers with the tables, figures and claims of each, one line per paper."""
    return str(_command().listing())


def reproduce(name: str | None, every: bool, html: str | None, **wanted: Any) -> int:
    """Runs a paper, or all of them, and returns the exit status.

    `wanted` are the arguments of `papers.command.run`, and `claims` for all claims. Raises
    `MouseholeError` if more than one item is wanted, or an item of no paper in particular.
    """
    items = [f"--{item}" for item in ITEMS if wanted[item]]
    if len(items) > 1:
        raise MouseholeError(f"{items[1]}: not together with {items[0]}; give one of them")
    if every and name is not None:
        raise MouseholeError(f'--all: not together with a paper ("{name}")')
    specific = [item for item in items if item != "--claims"]
    if specific and (every or html is not None):
        raise MouseholeError(f"{specific[0]}: not together with {'--all' if every else '--html'}")
    if wanted["tried"] and not wanted["claim"]:
        raise MouseholeError("--tried: only together with --claim ID")
    given = {item: value for item, value in wanted.items() if item != "claims"}  # which is the default
    folder = None if html is None else Path(html)
    return int(_command().run(None if every else name, html_folder=folder, **given))


def make_importable() -> None:
    """Lets this process import the package `papers`."""
    folder = str(papers_folder().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _command() -> Any:
    make_importable()
    return importlib.import_module(f"{papers_folder().name}.command")
