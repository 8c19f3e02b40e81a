"""Says how files are replayed, in an open or a closed loop, and why."""

from mousehole import _engine
from mousehole.engine_types import Scenario, TrafficSummary


def describe_replay(replay: str | None, scenario: Scenario, summary: TrafficSummary | None) -> str | None:
    """Returns a line on the replay of files, such as `replay: open loop, as asked`; None without files.

    `replay` is the loop that the engine used, None without files. `scenario` holds the one asked for, and
    `summary` is of the files.
    """
    if replay is None or summary is None:
        return None
    if not summary["connections"]:
        return "replay: as recorded; there are only datagrams"
    asked = scenario["traffic"].get("replay") is not None
    total, known, waiting = summary["connections"], summary["ends_known"], summary["waiting"]
    if replay == "closed":
        why = "as asked" if asked else f"as the ends of {known} of {total} connections are recorded"
        who = f"{waiting} wait for an earlier one of their client{_engine.describe_sharing(summary)}"
        return f"replay: closed loop, {why}; {who}"
    if asked:
        return "replay: open loop, as asked; nobody waits for anybody"
    return f"replay: open loop, as the ends of only {known} of {total} connections are recorded"
