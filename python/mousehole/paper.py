"""Runs the reproduction of a paper; the papers are a package of their own that a wheel contains."""

import importlib
import sys
from pathlib import Path
from typing import Any

import mousehole
from mousehole.errors import unknown_error


def papers_folder() -> Path:
    """Returns the folder of the package `papers`: that of the checkout, or in a wheel the copy in it."""
    return (Path(mousehole.__file__).parent / "bundled" / "papers").resolve()


def known_papers() -> list[str]:
    """Returns the names of the papers that can be reproduced."""
    folders = (path.parent.name for path in papers_folder().glob("*/reproduce.py"))
    return sorted(name.replace("_", "-") for name in folders)


def offered() -> dict[str, str]:
    """Returns the tables and figures of each paper as options, such as `--table 3, 4 and --figure 6`."""
    return {name: _module(name).PAPER.offered() for name in known_papers()}


def reproduce(name: str, **wanted: Any) -> int:
    """Calls `main(table=…, figure=…, seeds=…, jobs=…, full=…)` of the paper and returns its exit status."""
    known = known_papers()
    if name not in known:
        raise unknown_error("paper", "paper", name, known)
    return int(_module(name).main(**wanted) or 0)


def _module(name: str) -> Any:
    folder = papers_folder()
    if str(folder.parent) not in sys.path:
        sys.path.insert(0, str(folder.parent))
    return importlib.import_module(f"{folder.name}.{name.replace('-', '_')}.reproduce")
