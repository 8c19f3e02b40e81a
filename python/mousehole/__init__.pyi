__all__: list[str]

from . import policy as policy
from . import tcp_model as tcp_model
from ._engine import __version__ as __version__
from .base import MouseholeError as MouseholeError
from .base import Stopped as Stopped
from .comparison import Comparison as Comparison
from .comparison import compare as compare
from .days import DaysComparison as DaysComparison
from .days import compare_days as compare_days
from .inputs import inspect as inspect
from .inputs import read as read
from .loading import load as load
from .records import Records as Records
from .records import run as run
from .runs import Cell as Cell
from .runs import Finding as Finding
from .sweeps import Sweep as Sweep
from .sweeps import sweep as sweep
from .tuning import Tuned as Tuned
from .tuning import tune as tune
