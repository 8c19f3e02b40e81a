"""What intervals over replications of a capture must allow for: that another capture would differ."""

import json
from functools import cache

from mousehole.inputs import from_section
from mousehole.runs import make_overlay_design
from mousehole.scenario import fill_in
from mousehole.statistics import Design

from papers.definition import Json


def capture_design(scenario: Json) -> Design:
    """Returns the design of intervals over replications of a scenario, by the rule of `compare`.

    Only traffic of files that are overlaid to meet a load needs an allowance; a model draws afresh.
    """
    whole = fill_in(scenario)
    if not whole["traffic"].get("files") or whole["traffic"].get("load") is None or not whole.get("link"):
        return Design()
    return _design(json.dumps({**scenario, "scheme": "droptail"}, sort_keys=True))


@cache
def _design(scenario: str) -> Design:
    """Reads the files of a scenario, given as JSON; all schemes meet the same traffic."""
    whole = fill_in(json.loads(scenario))
    traffic = from_section(whole["traffic"], "").read(seed=whole["seed"])
    return Design() if traffic is None else make_overlay_design(whole, traffic)
