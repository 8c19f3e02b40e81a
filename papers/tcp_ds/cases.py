"""The tree under one scheme, rate and reading, from the data beside this file."""

from pathlib import Path
from typing import Any

from papers.common import Data, Json, merged

DATA = Data(Path(__file__).parent)
QUICK = {"warmup": "20s", "duration": "100s"}
"""Without --full: 60 s and 540 s shortened; the paper gives no times."""


def base(full: bool) -> Json:
    """Returns the scenario that all cases start from."""
    scenario = DATA.scenario("tree")
    return scenario if full else merged(scenario, QUICK)


def variants(name: str) -> Any:
    """Returns a table of `variants.toml`."""
    return DATA.variants()[name]


def case(scenario: Json, name: str, rates: Json, direction: str = "both", **tcp: str) -> Json:
    """Returns the scenario under a scheme of `variants.toml`, with rates, FTP's direction, changes to TCP."""
    (scheme,) = (one for one in variants("scheme") if one["name"] == name)
    stage = {"host_stage": {"users": 400, "mark": True}} if scheme.get("host_stage") else {}
    mix = [
        merged(one, {"params": {"direction": direction}}) if one["name"] == "ftp" else one
        for one in scenario["traffic"]["mix"]
    ]
    changed = {"scheme": scheme["scheme"], "topology": {"params": rates}, "traffic": {"mix": mix}, "tcp": tcp}
    return merged(scenario, {**changed, **stage})


def at(mbit: int) -> Json:
    """Returns a change of the bottleneck's rate alone."""
    return {"rate": f"{mbit}mbit"}
