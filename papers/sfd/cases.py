"""SFD's cases: the scenario under each load, and each variant of it, from the data beside this file."""

from pathlib import Path
from typing import Any

from papers.common import Json, merged, read_toml

HERE = Path(__file__).parent


def inter_session_s(times: str, load: str) -> float:
    """Mean time between sessions of a load, `published` or `calibrated`, in seconds."""
    return float(read_toml(HERE / "scenarios" / "loads.toml")[times][load])


def variants() -> list[str]:
    """Names of the variants, in the order of tables."""
    return [variant["name"] for variant in read_toml(HERE / "variants.toml")["variant"]]


def load_case(base: Json, times: str, load: str, literal: bool = False) -> Json:
    """The scenario under one load; `literal` rounds counts up, as ns-2's generator does."""
    gap = inter_session_s(times, load)
    model: dict[str, Any] = {"model": "web:sfd-literal"} if literal else {}
    return merged(base, {"traffic": {**model, "params": {"inter_session_s": gap}}})


def variant_case(base: Json, name: str) -> Json:
    """The scenario of one variant."""
    found = next(one for one in read_toml(HERE / "variants.toml")["variant"] if one["name"] == name)
    transform: Json = (
        {"traffic": {"params": {"transform": found["transform"]}}} if "transform" in found else {}
    )
    if "transform" in found:
        # Chopped objects are numbered in 12 bits, so their size must have a bound.
        transform["traffic"]["params"]["cap_bytes"] = 20_000_000
    return merged(base, {"scheme": found["scheme"], **transform})
