"""Mousehole compares schemes that let short flows go first through a congested link.

`compare` compares schemes on traffic, `tune` searches their settings, `sweep` compares in many cells, `run`
runs one scenario, `inspect` summarises traffic, and `read` returns its connections as a frame. `policy` makes
and checks own policies, `tcp_model` is the analytic TCP model.

Names are imported when they are first used, so that the command line can answer Ctrl-C before all modules are
loaded.
"""

from importlib import import_module

TYPE_CHECKING = False  # the name that type checkers know; importing `typing` takes longer than the rest
if TYPE_CHECKING:
    from mousehole import policy, tcp_model
    from mousehole._engine import __version__
    from mousehole.base import MouseholeError, Stopped
    from mousehole.comparison import Comparison, compare
    from mousehole.days import DaysComparison, compare_days
    from mousehole.inputs import inspect, read
    from mousehole.records import Records, run
    from mousehole.runs import Cell, Finding
    from mousehole.sweeps import Sweep, sweep
    from mousehole.tuning import Tuned, tune

__all__ = [
    "Cell",
    "Comparison",
    "DaysComparison",
    "Finding",
    "MouseholeError",
    "Records",
    "Stopped",
    "Sweep",
    "Tuned",
    "__version__",
    "compare",
    "compare_days",
    "inspect",
    "policy",
    "read",
    "run",
    "sweep",
    "tcp_model",
    "tune",
]

_MODULES = {
    "Cell": "runs",
    "Comparison": "comparison",
    "DaysComparison": "days",
    "Finding": "runs",
    "MouseholeError": "base",
    "Records": "records",
    "Stopped": "base",
    "Sweep": "sweeps",
    "Tuned": "tuning",
    "__version__": "_engine",
    "compare": "comparison",
    "compare_days": "days",
    "inspect": "inputs",
    "read": "inputs",
    "run": "records",
    "sweep": "sweeps",
    "tune": "tuning",
}
"""The module of each name; the other names are modules."""


if not TYPE_CHECKING:  # type checkers know the names from above, and refuse others

    def __getattr__(name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module mousehole has no attribute {name}")
        module = import_module(f"mousehole.{_MODULES.get(name, name)}")
        value = getattr(module, name) if name in _MODULES else module
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
