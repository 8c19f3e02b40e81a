"""What sweeps take from scipy: the draws of a Latin hypercube, and surfaces through scattered cells."""

import importlib
from typing import Any

from mousehole.base import MouseholeError


def scipy_module(name: str, user: str) -> Any:
    """Returns a module of scipy, which takes a second to load and only the extra `sweep` installs.

    Raises `MouseholeError` where scipy is missing; `user` is what needs it.
    """
    try:
        return importlib.import_module(f"scipy.{name}")
    except ModuleNotFoundError:
        raise MouseholeError(
            f"{user} needs the package scipy, which is not installed; "
            "pip install 'mousehole[sweep]' installs it",
            kind="missing",
        ) from None
