"""What the engine's answer needs to know of a cell beside plan and runs (`answer/src/setting.rs`)."""

from collections.abc import Mapping

from mousehole import _engine
from mousehole.answer._install import installation, link_of_cell, why_nothing
from mousehole.answer.tables import per_cell
from mousehole.base import find_shaper_rate
from mousehole.inputs import account
from mousehole.runs import Cell, Results, is_ideal
from mousehole.scenario import bottleneck

Setting = Mapping[str, object]


def make_setting(results: Results, cell: Cell) -> Setting:
    """Returns what the answer needs to know of a cell beside plan and runs."""
    return _settings(results, cell)[0]


@per_cell
def _settings(results: Results, cell: Cell) -> list[Setting]:
    """Returns the setting of a cell, as a list of one."""
    plan, link = results.plan, link_of_cell(results, cell)
    ways = [None if is_ideal(scheme) else installation(scheme, link) for scheme in plan.schemes]
    left_out = account.remarks(results.traffic) if results.traffic is not None else []
    made: Setting = {
        "label": results.label,
        "duration": plan.base["duration"],
        "instead_of": plan.instead_of,
        "left_out": [one.text for one in left_out if one.kind == "skipped"],
        "ways": [way and {"place": way.place, "lines": list(way.lines)} for way in ways],
        "why_nothing": [
            "" if way or is_ideal(scheme) else why_nothing(scheme, link)
            for scheme, way in zip(plan.schemes, ways, strict=True)
        ],
        "is_both_ways": link is not None and link.other is not None,
        "modem": _modem(results, cell),
        "warmup_s": _engine.parse_duration("warmup", plan.choose_warmup(cell)),
        "warmup_needed_s": plan.warmup.needed_s(cell.load) if plan.warmup else None,
        "rate_bps": _rate_bps(results),
        "buffer_packets": None if link is None else link.buffer_packets,
        "rtt": _rtt(results),
        "is_up": bottleneck.is_up(plan.base),
        "has_transfers": results.traffic is None or results.traffic["transfers"] > 0,
    }
    return [made]


def _modem(results: Results, cell: Cell) -> dict[str, object] | None:
    """Returns the modem behind the schemes, if there is one."""
    link = results.manifest["scenario"]["link"]
    if (shape := link.get("shape")) is None:
        return None
    return {
        "shape": shape,
        "up_shape": link.get("up_shape", shape),
        "buffer": link.get("modem_buffer", cell.buffer),
        "has_own_rates": any(map(find_shaper_rate, results.plan.schemes)),
    }


def _rate_bps(results: Results) -> float | None:
    """Returns the rate of the link, None for a topology."""
    base = results.plan.base
    mean = results.manifest.get("mean_rates", {}).get(bottleneck.EACH[bottleneck.is_up(base)])
    if mean is not None:  # a result that was kept has no trace
        return mean
    rate = None if base.get("topology") else bottleneck.mean_rate(base)
    return None if rate is None else _engine.parse_rate("rate", rate)


def _rtt(results: Results) -> str | None:
    """Returns the round-trip time of all connections, None if the traffic gives them theirs."""
    is_recorded = results.traffic is not None and results.traffic["rtt_known"] > 0
    ignores = results.plan.base["link"].get("ignore_trace_rtt")
    return None if is_recorded and not ignores else bottleneck.facts(results.plan.base)["rtt"]
