"""Runs the reproduction of a paper, which is in the source checkout."""

import importlib
import sys
from pathlib import Path
from typing import Any

import mousehole
from mousehole.errors import MouseholeError, unknown_error


def papers_folder() -> Path:
    """Returns the folder `papers` of the checkout that this package runs from.

    Raises `MouseholeError` if the package was installed without a checkout.
    """
    folder = Path(mousehole.__file__).resolve().parents[2] / "papers"
    if not folder.is_dir():
        raise MouseholeError(
            "paper: the papers' folders are part of the source checkout, not of the installed package; "
            "run this from a checkout (make demo sets one up)"
        )
    return folder


def known_papers() -> list[str]:
    """Returns the names of the papers that can be reproduced."""
    folders = (path.parent.name for path in papers_folder().glob("*/reproduce.py"))
    return sorted(name.replace("_", "-") for name in folders)


def reproduce(name: str, **wanted: Any) -> int:
    """Calls `main(table=…, figure=…, seeds=…, jobs=…, full=…)` of the paper and returns its exit status."""
    folder, known = papers_folder(), known_papers()
    if name not in known:
        raise unknown_error("paper", "paper", name, known)
    sys.path.insert(0, str(folder.parent))
    module = importlib.import_module(f"{folder.name}.{name.replace('-', '_')}.reproduce")
    return int(module.main(**wanted) or 0)
