"""Statistical designs that allow intervals over replications of a capture for the variance between
captures.
"""

import json
from functools import cache

from mousehole.inputs import from_section
from mousehole.runs import make_overlay_design
from mousehole.scenario import fill_in
from mousehole.statistics import Design

from papers.definition import Json


def capture_design(scenario: Json) -> Design:
    """Returns the design of intervals over replications of a scenario, by the rule of `compare`.

    Only file traffic that is overlaid to meet a load needs an allowance; a model draws anew in each
    replication. Reads the files once per scenario. Raises `MouseholeError` for a scenario that the engine
    refuses.
    """
    whole = fill_in(scenario)
    if not whole["traffic"].get("files") or whole["traffic"].get("load") is None or not whole.get("link"):
        return Design()
    return _read_design(json.dumps({**scenario, "scheme": "droptail"}, sort_keys=True))


@cache
def _read_design(scenario: str) -> Design:
    """Returns the design for the files of a scenario, given as JSON; all schemes meet the same traffic.

    The file is read once per scenario and process.
    """
    whole = fill_in(json.loads(scenario))
    traffic = from_section(whole["traffic"], "").read(seed=whole["seed"])
    return Design() if traffic is None else make_overlay_design(whole, traffic)
