"""SFD's cases: the scenario under each load, and each variant of it, from the data beside this file."""

from pathlib import Path
from typing import Any

from papers.common import Data, Json, merged

DATA = Data(Path(__file__).parent)
QUICK = {"warmup": "1000s", "duration": "3000s"}
"""Without --full: the paper's 2000 s and 10,000 s shortened."""


def base(full: bool, name: str = "simple") -> Json:
    """Returns the scenario that all cases of one topology start from."""
    scenario = DATA.scenario(name)
    return scenario if full else merged(scenario, QUICK)


def inter_session_s(times: str, load: str) -> float:
    """Returns the mean time between sessions of a load, `published` or `calibrated`, in seconds."""
    return float(DATA.scenario("loads")[times][load])


def variants() -> list[str]:
    """Returns the names of the variants, in the order of tables."""
    return [variant["name"] for variant in DATA.variants()["variant"]]


def load_case(scenario: Json, times: str, load: str, literal: bool = False) -> Json:
    """Returns the scenario under one load; `literal` rounds counts up, as ns-2's generator does."""
    gap = inter_session_s(times, load)
    model: dict[str, Any] = {"model": "web:sfd-literal"} if literal else {}
    return merged(scenario, {"traffic": {**model, "params": {"inter_session_s": gap}}})


def variant_case(scenario: Json, name: str) -> Json:
    """Returns the scenario of one variant."""
    found = next(one for one in DATA.variants()["variant"] if one["name"] == name)
    transform: Json = (
        {"traffic": {"params": {"transform": found["transform"]}}} if "transform" in found else {}
    )
    if "transform" in found:
        # Chopped objects are numbered in 12 bits, so their size must have a bound.
        transform["traffic"]["params"]["cap_bytes"] = 20_000_000
    return merged(scenario, {"scheme": found["scheme"], **transform})
