"""What is measured of a run to compare all schemes: times of short and long transfers and of pages."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from mousehole.answer import scheme_parameters
from mousehole.engine_types import TransferColumns
from mousehole.runs import RunResult
from numpy.typing import NDArray

from papers.definition import Json

Floats = NDArray[np.float64]

SHORT_BYTES, LONG_BYTES = 15_000, 100_000
"""A transfer of at most the first is short, one above the second is long."""


def measure(result: RunResult) -> Mapping[str, Any]:
    """Measures a run. A transfer that had not ended when the run did counts with the time it had taken.

    Times are in seconds; NaN where there are no such transfers or pages.
    """
    transfers, down, summary = result.transfers(), result.queues()[0], result.summary()
    took = transfers["end_s"] - transfers["start_s"]
    unfinished = np.isnan(took)
    took = np.where(unfinished, float(summary["end_s"]) - transfers["start_s"], took)
    short, long = transfers["bytes"] <= SHORT_BYTES, transfers["bytes"] > LONG_BYTES
    pages = page_times(transfers, took)
    colours = down["colours"]
    return {
        "short_s": _mean(took[short]),
        "short_p99_s": _quantile(took[short], 0.99),
        "middle_s": _mean(took[~short & ~long]),
        "long_s": _mean(took[long]),
        "page_s": _mean(pages),
        "page_p95_s": _quantile(pages, 0.95),
        "utilisation": float(down["utilisation"]),
        "loss": _share(sum(c["dropped"] for c in colours), sum(c["arrived"] for c in colours)),
        "unfinished": float(unfinished.mean()) if unfinished.size else np.nan,
    }


def page_times(transfers: TransferColumns, took: Floats) -> Floats:
    """Returns the times of pages all of whose transfers were measured, from first start to last end.

    The times are in seconds; a page number of 0 means no page.
    """
    page, start = transfers["page"], transfers["start_s"]
    known = page > 0
    names, inverse, count = np.unique(page[known], return_inverse=True, return_counts=True)
    first, last = np.full(names.size, np.inf), np.full(names.size, -np.inf)
    np.minimum.at(first, inverse, start[known])
    np.maximum.at(last, inverse, start[known] + took[known])
    wanted = np.zeros(names.size)
    wanted[inverse] = transfers["page_transfers"][known]
    times: Floats = (last - first)[count == wanted]
    return times


def build(scenario: Json, _cell: Mapping[str, str]) -> Json:
    """Returns the scenario with the folder of shared data before the files of its traffic.

    The folder is that of MOUSEHOLE_DATA, else `../shared/data`; files need not exist. The key `ecn`, which
    scenarios do not have, has a scheme mark that can and does not by default. The scenario given stays as
    it is.
    """
    scenario = dict(scenario)
    if scenario.pop("ecn", False) and scheme_parameters(scenario["scheme"]).get("ecn") == "false":
        name, _, parameters = scenario["scheme"].removesuffix(")").partition("(")
        scenario["scheme"] = f"{name}({','.join(filter(None, [parameters, 'ecn=true']))})"
    files = scenario["traffic"].get("files")
    if files is None:
        return scenario
    folder = Path(os.environ.get("MOUSEHOLE_DATA", "../shared/data"))
    traffic = {name: value for name, value in scenario["traffic"].items() if name != "model"}
    return {**scenario, "traffic": {**traffic, "files": [str((folder / one).resolve()) for one in files]}}


def _mean(values: Floats) -> float:
    """Returns the mean, NaN without values."""
    return float(values.mean()) if values.size else np.nan


def _quantile(values: Floats, level: float) -> float:
    """Returns a quantile, NaN without values; `level` is between 0 and 1."""
    return float(np.quantile(values, level)) if values.size else np.nan


def _share(part: float, whole: float) -> float:
    """Returns part over whole, NaN for a whole of zero."""
    return part / whole if whole else np.nan
