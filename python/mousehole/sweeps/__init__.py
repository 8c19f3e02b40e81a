"""Sweeps: many cells of settings, one row per cell, scheme and replication, in a Parquet data set.

`description` reads what is wanted, `design` enumerates the cells, `cells` makes scenarios of them, `store`
keeps the rows, `running` runs what is missing, `found` computes frames, `drawing` draws them, `report`
makes a document of them, `commands` is the command line.
"""

from typing import Any

import lazy_loader

from mousehole.base import require_extra

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Returns a public name, and imports its module.

    Raises `MouseholeError` if the extra `sweep` is not installed.
    """
    if name in __all__:
        require_extra("sweep", "a sweep", without=("scipy",))
    return _load(name)
