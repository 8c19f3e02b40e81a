"""Tries own policies in another process first, so that one that crashes or never ends does no harm."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence

from mousehole import _engine
from mousehole.base import MouseholeError, file_error

LIMIT_S = 120.0
"""Seconds that a trial may take for each header and for all scenarios; its steps have shorter limits."""

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
try:
    fault = engine.try_policies(given["headers"], given["scenarios"])
except Exception:
    fault = None
print(json.dumps({"fault": fault}), file=sys.stderr)
"""
"""What the other process does. What raises an exception there is found and reported here as well."""

SAID = "mousehole: error: "
"""Beginning of the line in which the engine reports what an own policy has done."""


def try_headers(headers: Sequence[str]) -> None:
    """Loads headers in another process and plays thousands of random packets to them, with their defaults.

    Does nothing without headers. Raises `MouseholeError` if a header crashes there, does not return, ends the
    process, writes where it must not, or gives an answer that is out of range.
    """
    if headers:
        _try_in_process(headers, [])


def try_scenarios(scenarios: Sequence[Mapping[str, object]]) -> None:
    """Tries the own policies that are loaded here with the parameters that they have in these scenarios.

    The scenarios are run in another process for a moment with a single packet. Raises `MouseholeError` as
    `try_headers` does; does nothing without own policies.
    """
    loaded = [part["header"] for part in _engine.parts() if part["header"]]
    if loaded and scenarios:
        _try_in_process(loaded, [{**scenario, **MOMENT} for scenario in scenarios])


def _try_in_process(headers: Sequence[str], scenarios: Sequence[Mapping[str, object]]) -> None:
    """Tries headers with the scenarios' parameters in another process; defaults without scenarios.

    The limit is `LIMIT_S` for each header and for all scenarios together; the process is killed then.

    Raises `MouseholeError` for a header at fault, and if the trial crashes, ends or takes too long.
    """
    command = [sys.executable, "-c", CHILD, _engine.__file__]
    given = json.dumps({"headers": list(headers), "scenarios": list(scenarios)})
    limit_s = LIMIT_S * (len(headers) + (1 if scenarios else 0))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        errors="replace",
    ) as process:  # fmt: skip
        try:
            _, said = process.communicate(given, timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise _headers_error(headers, f"cannot be tried within {limit_s:.0f} s") from None
        except BaseException:
            process.kill()
            raise
    last = (said.splitlines() or [""])[-1]
    if process.returncode == 0 and last.startswith("{"):
        fault = json.loads(last)["fault"]
        if fault is not None:
            raise file_error(fault[0], fault[1])
        return
    if last.startswith(SAID):
        sentence = last.removeprefix(SAID)
        blamed = [header for header in headers if sentence.startswith(f"{header}: ")]
        raise _headers_error(blamed, sentence.removeprefix(f"{blamed[0]}: ") if blamed else sentence)
    if process.returncode < 0:
        raise _headers_error(headers, f"crashes ({signal.Signals(-process.returncode).name})")
    raise _headers_error(headers, f"ends the program (exit status {process.returncode})")


def _headers_error(headers: Sequence[str], what: str) -> MouseholeError:
    """Returns the error about the headers that may be at fault."""
    return MouseholeError(what, kind="file", file=", ".join(headers) or None)
