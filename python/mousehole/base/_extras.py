"""Packages that only some of the work needs, by the extra that installs them."""

import importlib.util
from collections.abc import Collection

from mousehole.base._errors import MouseholeError

EXTRAS = {
    "frames": {"polars": "polars"},
    "report": {"vl_convert": "vl-convert-python"},
    "tune": {"optuna": "optuna"},
    "sweep": {"polars": "polars", "scipy": "scipy"},
    "dask": {"distributed": "distributed"},
    "page": {"cryptography": "cryptography", "hypercorn": "hypercorn", "aioquic": "aioquic"},
}
"""The modules of each extra, with the packages that they are in."""


def require_extra(extra: str, purpose: str, without: Collection[str] = ()) -> None:
    """Raises `MouseholeError` where a package of an extra is missing; `purpose` is what needs it.

    `without` are modules of the extra that it can do without.

    Called before any work, so that nothing is computed in vain.
    """
    for module, package in EXTRAS[extra].items():
        if module not in without and importlib.util.find_spec(module) is None:
            raise MouseholeError(
                f"{purpose} needs the package {package}, which is not installed; "
                f"pip install 'mousehole[{extra}]' installs it",
                kind="missing",
            )
