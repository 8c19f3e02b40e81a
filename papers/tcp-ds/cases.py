"""The tree under one scheme, rate and reading, from the data beside this file."""

from pathlib import Path
from typing import Any

from papers.common import Json, merged, read_toml

HERE = Path(__file__).parent
QUICK = {"warmup": "20s", "duration": "100s"}
"""Without --full: 60 s and 540 s shortened; the paper gives no times."""


def base(full: bool) -> Json:
    """The scenario all cases start from."""
    scenario = read_toml(HERE / "scenarios" / "tree.toml")
    return scenario if full else merged(scenario, QUICK)


def variants(name: str) -> Any:
    """A table of `variants.toml`."""
    return read_toml(HERE / "variants.toml")[name]


def case(scenario: Json, name: str, rates: Json, direction: str = "both", **tcp: str) -> Json:
    """The scenario under a scheme of `variants.toml` with these rates, FTP's direction, TCP's changes."""
    (scheme,) = (one for one in variants("scheme") if one["name"] == name)
    stage = {"host_stage": {"users": 400, "mark": True}} if scheme.get("host_stage") else {}
    mix = [
        merged(one, {"params": {"direction": direction}}) if one["name"] == "ftp" else one
        for one in scenario["traffic"]["mix"]
    ]
    changed = {"scheme": scheme["scheme"], "topology": {"params": rates}, "traffic": {"mix": mix}, "tcp": tcp}
    return merged(scenario, {**changed, **stage})


def at(mbit: int) -> Json:
    """The bottleneck's rate alone."""
    return {"rate": f"{mbit}mbit"}
