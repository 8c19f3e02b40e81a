"""Short flows first: what a scheme at a congested link does to short and long transfers.

`compare` replays traffic against schemes, `run` runs one scenario, `inspect` and `read` show what a traffic
file holds.
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
