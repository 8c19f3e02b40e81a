"""Records one run of `a_tcp.tcl` as a golden trace: its events, and its entry in `summary.json`.

`python -m validation.record_tcp NAME "what it shows" key=value …`; needs ns-2.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from validation import oracle, oracle_cases
from validation.oracle_cases import IN_FORCE, OLD_ERA, ROOT, Case

GOLDENS = ROOT / "oracle" / "golden" / "tcp"


def parse_value(text: str) -> oracle_cases.Value:
    """Returns a text as an integer or float if it is one, else unchanged."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def drop_point(number: float) -> int | float:
    """Returns a whole number as an integer, another one unchanged."""
    return int(number) if number == int(number) else number


def main(arguments: Sequence[str]) -> int:
    """Plays the case in ns-2 and writes both files; returns the exit status.

    Replaces a record of the same name. The status is 0, 2 for faulty arguments, 1 if the transfer does not
    end. Ends the program if ns-2 fails.
    """
    if len(arguments) < 2 or not all("=" in one for one in arguments[2:]):
        print(__doc__, file=sys.stderr)
        return 2
    name, told, *settings = arguments
    given = {key: parse_value(value) for key, value in (one.split("=", 1) for one in settings)}
    unknown = [key for key in given if key not in oracle_cases.DEFAULTS]
    if unknown or (given.get("era") == "old" and OLD_ERA.keys() & given.keys()):
        print(f"record_tcp: not a setting, or one that era=old has fixed: {settings}", file=sys.stderr)
        return 2
    case = Case(name, given)
    played = oracle.play_ns2(case)
    if played.done_s is None:
        print(f"record_tcp: the transfer does not end within {oracle.NS2_END_S:.0f} s", file=sys.stderr)
        return 1
    summary = json.loads((GOLDENS / "summary.json").read_text())
    kept = [one for one in summary if one["name"] != name]
    entry = {
        "name": name,
        "desc": told,
        "params": {name: case.get(name) for name in ("variant", "era", "n", "drops")} | given,
        "done": played.done_s,
        "nsends": sum(event[1] == "send" for event in played.events),
        "ndrops": sum(event[1] == "drop" for event in played.events),
        "in_force": {told: drop_point(case.number(name)) for told, name in IN_FORCE.items()},
        "tick_phase_s": played.phase_s,
    }
    (GOLDENS / "summary.json").write_text(json.dumps([*kept, entry], indent=1) + "\n")
    named = {"receive": "rcv_at_sink"}
    lines = [f"{at:.9f},{named.get(event, event)},{seq},{size}" for at, event, seq, size in played.events]
    (GOLDENS / f"{name}.events.csv").write_text("\n".join(["time,event,seq,size", *lines]) + "\n")
    print(f"{name}: {len(lines)} events, phase {played.phase_s} s, done {played.done_s} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
