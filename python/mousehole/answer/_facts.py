"""The facts of a comparison as JSON and back, so that its results can be shown again without a run."""

from collections.abc import Mapping
from dataclasses import asdict
from math import inf
from typing import Any

import numpy as np

from mousehole import quantities
from mousehole.answer._manifest import PLAIN, plan_entry
from mousehole.base import CDF_TIMES_S, CURVE_EDGES_BYTES
from mousehole.runs import Capture, Counted, Plan, Results, RunFacts, Shares, Task, Warmup, none_to_nan

Entry = Mapping[str, Any]
COUNTS = ("count", "censored", "curve_count")
TIMES = ("curve_mean_s", "cdf", "short_by_time")
"""Fields of `RunFacts` that are arrays: of whole numbers, and of numbers that may be missing."""
NUMBERS = ("simulated_s", "window_load")
LATER = ("vetoes", "reference", "instead_of")
"""Those of them that older documents of this schema do not have."""


def facts_entry(results: Results) -> dict[str, object]:
    """Returns the label, plan, capture and all runs of a comparison as entries of its document.

    `restore_results` reads them, together with `manifest` and `traffic`. `capture` is None for a model.
    """
    plan, capture = results.plan, results.capture
    return {
        "label": results.label,
        "plan": {**plan_entry(plan), "warmup": _warmup_entry(plan)},
        "capture": None if capture is None else asdict(capture),
        "runs": [run for cell in plan.cells for run in results.compared(cell).runs()],
    }


def restore_results(document: Entry) -> Results:
    """Returns the results of a comparison from the document that `comparison_document` made; runs nothing.

    Raises `KeyError`, `TypeError` or `ValueError` where something is missing or of another type.
    """
    plan = _restore_plan(document["plan"])
    facts = {_restore_task(plan, entry): _restore_facts(entry, plan) for entry in document["runs"]}
    missing = set(plan.tasks) - facts.keys()
    if missing:
        raise KeyError("runs")
    return Results(
        plan,
        facts,
        document["label"],
        document["manifest"],
        document["traffic"] or None,
        _restore_capture(document["capture"]),
    )


def _warmup_entry(plan: Plan) -> dict[str, object] | None:
    """Returns the warm-up of the plan as JSON, None if the plan has none.

    `needed_s` has one value in seconds for each load of the plan, in the plan's order.
    """
    warmup = plan.warmup
    if warmup is None:
        return None
    return {
        "rate_bps": warmup.rate_bps,
        "own_load": warmup.own_load,
        "is_chosen": warmup.is_chosen,
        "needed_s": [warmup.needed_s(load) for load in plan.loads],
    }


def _restore_plan(entry: Entry) -> Plan:
    """Returns the plan that the entry `plan` of `facts_entry` describes.

    Fields of `LATER` may be missing. The sizes that the warm-up was chosen from are not restored, only its
    values at the plan's loads. Raises `KeyError` for another missing field and `ValueError` if loads and
    warm-ups differ in number.
    """
    own = {name: entry[name] for name in PLAIN if name in entry or name not in LATER}
    for name in own.keys() & {"buffers", "loads", "schemes", "vetoes"}:
        own[name] = tuple(own[name])
    warmup = entry["warmup"]
    return Plan(
        base=entry["scenario"],
        warmup=None
        if warmup is None
        else Warmup(
            np.empty(0),
            warmup["rate_bps"],
            warmup["own_load"],
            warmup["is_chosen"],
            dict(zip(own["loads"], warmup["needed_s"], strict=True)),
        ),
        **own,
    )


def _restore_capture(entry: Entry | None) -> Capture | None:
    """Returns the capture that an entry describes, None for a model.

    A `freedom` of None means infinity.
    """
    if entry is None:
        return None
    counted: Any = {role: Counted(**one) for role, one in entry["counted"].items()}
    freedom = inf if entry["freedom"] is None else entry["freedom"]
    is_fitted = entry.get("is_fitted", False)
    return Capture(entry["period_s"], counted, freedom, entry["large"], entry["pipe_bytes"], is_fitted)


def _restore_task(plan: Plan, entry: Entry) -> Task:
    """Returns the task of a run from its entry.

    Raises `ValueError` for a cell or scheme that the plan lacks, `KeyError` for a missing field.
    """
    cells = [(cell.buffer, cell.load) for cell in plan.cells]
    place = cells.index((entry["buffer"], entry["load"]))
    return Task(place, plan.schemes.index(entry["scheme"]), entry["replication"])


def _restore_facts(entry: Entry, plan: Plan) -> RunFacts:
    """Returns the facts of one run from its entry in the document.

    Raises `ValueError` for a list of the wrong length, and `KeyError` where something is missing.
    """
    statistics = {
        one.name: _restore_numbers(entry["statistics"][one.name])
        for one in quantities.list_of_subject("bucket")
    }
    scheme = {
        one.name: none_to_nan(entry["scheme_statistics"][one.name])
        for one in quantities.list_of_subject("scheme")
    }
    bins = len(CURVE_EDGES_BYTES) - 1
    lengths = {"curve_count": bins, "curve_mean_s": bins, "cdf": len(CDF_TIMES_S)}
    per_bucket = {name: len(plan.buckets) for name in ("count", "censored", *statistics)}
    for name, wanted in {**lengths, **per_bucket}.items():
        given = len(entry[name] if name in entry else entry["statistics"][name])
        if given != wanted:
            raise ValueError(f"{name} of a run has {given} values, not {wanted}")
    counts: Any = {name: np.array(entry[name], np.int64) for name in COUNTS}
    times: Any = {name: _restore_numbers(entry[name]) for name in TIMES}
    plain: Any = {name: none_to_nan(entry[name]) for name in NUMBERS}
    return RunFacts(
        **counts,
        **times,
        **plain,
        statistics=statistics,
        scheme=scheme,
        colours={one["colour"]: {name: one[name] for name in one if name != "colour"}
                 for one in entry["colours"]},
        load=entry["offered"],
        groups={(one["group"], one["what"]): none_to_nan(one["value"]) for one in entry["groups"]},
        kinds=dict(entry["kinds"]),
        shares={reference: Shares(**one) for reference, one in entry["shares"].items()},
    )  # fmt: skip


def _restore_numbers(values: list[float | None]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Returns numbers as an array of floats; a None becomes NaN."""
    return np.array([none_to_nan(value) for value in values], np.float64)
