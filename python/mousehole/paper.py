"""Finds a paper's folder in the source checkout and hands over to it."""

import importlib
import sys
from pathlib import Path
from typing import Any

import mousehole
from mousehole.errors import MouseholeError


def papers_folder() -> Path:
    """The folder `papers` of the checkout that this package runs from."""
    folder = Path(mousehole.__file__).resolve().parents[2] / "papers"
    if not folder.is_dir():
        raise MouseholeError(
            "paper: the papers' folders are part of the source checkout, not of the installed package; "
            "run this from a checkout (make demo sets one up)"
        )
    return folder


def known_papers() -> list[str]:
    """Names of the papers that can be reproduced."""
    folders = (path.parent.name for path in papers_folder().glob("*/reproduce.py"))
    return sorted(name.replace("_", "-") for name in folders)


def reproduce(name: str, **wanted: Any) -> int:
    """Calls `main(table=…, figure=…, seeds=…, jobs=…, full=…)` of the paper's `reproduce` module."""
    folder, known = papers_folder(), known_papers()
    if name not in known:
        raise MouseholeError(f'paper: "{name}" is not known; available: {", ".join(known) or "none yet"}')
    sys.path.insert(0, str(folder.parent))
    module = importlib.import_module(f"{folder.name}.{name.replace('-', '_')}.reproduce")
    return int(module.main(**wanted) or 0)
