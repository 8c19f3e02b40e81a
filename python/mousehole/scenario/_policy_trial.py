"""Tries own policies in another process first, so that a set-up that crashes or never ends does no harm."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from mousehole import _engine
from mousehole.base import MouseholeError

LIMIT_S = 20.0
"""Seconds that compiling and loading a header, or setting up a scenario, may take."""

MOMENT: dict[str, object] = {
    "warmup": "0s", "duration": "1ms", "max_windows": 1, "trace": False,
    "traffic": {"connections": [{"start_s": 0.0, "writes": [{"bytes": 1000}]}]},
}  # fmt: skip
"""What a scenario is cut down to."""

CHILD = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("mousehole._engine", sys.argv[1])
engine = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engine)
given = json.load(sys.stdin)
for header in given["headers"]:
    print(header, flush=True)
    engine.load_policy(header)
for scenario in given["scenarios"]:
    print("scheme", scenario.get("scheme", ""), flush=True)
    engine.run(scenario, None, engine.Cancel())
"""
"""What the other process does. A fault that raises an exception there is found and reported here as well."""


def try_headers(headers: Sequence[str]) -> None:
    """Loads headers in another process, where their set-up functions are called with their defaults.

    Raises `MouseholeError` if that process crashes or does not end.
    """
    if headers:
        _try(headers, [])


def try_scenarios(scenarios: Sequence[Mapping[str, object]]) -> None:
    """Sets up scenarios in another process with the own policies that are loaded here, if there are any.

    They are run there for a moment with a single packet. Raises `MouseholeError` if that process crashes or
    does not end.
    """
    loaded = [part["header"] for part in _engine.parts() if part["header"]]
    if loaded and scenarios:
        _try(loaded, [{**scenario, **MOMENT} for scenario in scenarios])


def _try(headers: Sequence[str], scenarios: Sequence[Mapping[str, object]]) -> None:
    command = [sys.executable, "-c", CHILD, _engine.__file__]
    given = json.dumps({"headers": list(headers), "scenarios": list(scenarios)})
    limit_s = LIMIT_S * (len(headers) + (1 if scenarios else 0))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            said, _ = process.communicate(given, timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise _fault(process.communicate()[0], f"does not return within {limit_s:.0f} s") from None
        except BaseException:
            process.kill()
            raise
    if process.returncode < 0:
        raise _fault(said, f"crashes ({signal.Signals(-process.returncode).name})")


def _fault(said: str, what: str) -> MouseholeError:
    """Returns the error of what was begun last: a header, or a scheme."""
    place = (said.splitlines() or ["policy"])[-1]
    return MouseholeError(f"its set-up {what}; mousehole policy check says more about a header", field=place)
