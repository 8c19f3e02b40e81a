"""The context of a cell, from which the engine makes the answer's setting (`compare/src/setting.rs`)."""

from collections.abc import Mapping

from mousehole import _engine
from mousehole.answer._install import strip_traffic
from mousehole.runs import Cell, Results
from mousehole.scenario import bottleneck


def find_surroundings(results: Results, cell: Cell) -> Mapping[str, object]:
    """Returns the context that the answer for a cell depends on: scenario, traffic, link and warm-up.

    The warm-up is in seconds. `warmup_needed_s` is None if the plan does not know the sizes of the traffic.
    """
    plan, manifest = results.plan, results.manifest
    return {
        "label": results.label,
        "duration": plan.base["duration"],
        "instead_of": plan.instead_of,
        "scenario": strip_traffic(manifest["scenario"]),
        "buffer": cell.buffer,
        "is_up": bottleneck.is_up(plan.base),
        "mean_rates": manifest.get("mean_rates", {}),
        "rtt": bottleneck.read_rtt(plan.base),
        "summary": results.traffic,
        "warmup_s": _engine.parse_duration("warmup", plan.choose_warmup(cell)),
        "warmup_needed_s": plan.warmup.needed_s(cell.load) if plan.warmup else None,
    }
