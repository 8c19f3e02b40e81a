"""LFP's cases: the bottleneck under one load and scheme, from the data beside this file."""

from dataclasses import dataclass
from pathlib import Path

from papers.common import Data, Json, merged

DATA = Data(Path(__file__).parent)
SCHEMES = ("DT", "RED", "LFP")
QUICK = {"warmup": "100s", "duration": "900s"}
"""Without --full: the 3900 s of the scenario shortened."""


def base(full: bool) -> Json:
    """Returns the scenario that all cases start from."""
    scenario = DATA.scenario("dumbbell")
    return scenario if full else merged(scenario, QUICK)


@dataclass(frozen=True)
class Variant:
    """A scheme, and the bottleneck's buffer where it is not the scenario's."""

    scheme: str
    buffer: str | None = None


def schemes() -> dict[str, Variant]:
    """Returns the paper's three schemes, by name."""
    return {name: Variant(text) for name, text in DATA.variants()["scheme"].items()}


def readings() -> dict[str, Variant]:
    """Returns other readings of the paper, by name."""
    return {name: Variant(**one) for name, one in DATA.variants()["reading"].items()}


def case(scenario: Json, connections_per_s: float, variant: Variant) -> Json:
    """Returns the scenario of one load under one scheme."""
    params = {"connections_per_s": connections_per_s}
    changed = merged(scenario, {"scheme": variant.scheme, "traffic": {"params": params}})
    return merged(changed, {"link": {"buffer": variant.buffer}}) if variant.buffer else changed
