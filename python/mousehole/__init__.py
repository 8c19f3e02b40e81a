"""Mousehole compares schemes that let short flows go first through a congested link.

`compare` compares schemes on traffic, `run` runs one scenario, `inspect` summarises traffic files, and `read`
returns their connections as a frame.
"""

from mousehole._engine import __version__
from mousehole.comparison import Comparison, compare
from mousehole.errors import MouseholeError, Stopped
from mousehole.plan import Cell
from mousehole.records import Records, run
from mousehole.results import Finding
from mousehole.traffic import inspect, read

__all__ = [
    "Cell",
    "Comparison",
    "Finding",
    "MouseholeError",
    "Records",
    "Stopped",
    "__version__",
    "compare",
    "inspect",
    "read",
    "run",
]
