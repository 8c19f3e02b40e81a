"""LFP's cases: the bottleneck under one load and scheme, from the data beside this file."""

from dataclasses import dataclass
from pathlib import Path

from papers.common import Json, merged, read_toml

HERE = Path(__file__).parent
SCHEMES = ("DT", "RED", "LFP")
QUICK = {"warmup": "100s", "duration": "900s"}
"""Without --full: the 3900 s of the scenario shortened."""


def base(full: bool) -> Json:
    """The scenario all cases start from."""
    scenario = read_toml(HERE / "scenarios" / "dumbbell.toml")
    return scenario if full else merged(scenario, QUICK)


@dataclass(frozen=True)
class Variant:
    """A scheme, and the bottleneck's buffer where it is not the scenario's."""

    scheme: str
    buffer: str | None = None


def schemes() -> dict[str, Variant]:
    """The paper's three schemes, by name."""
    return {name: Variant(text) for name, text in read_toml(HERE / "variants.toml")["scheme"].items()}


def readings() -> dict[str, Variant]:
    """Other readings of the paper, by name."""
    return {name: Variant(**one) for name, one in read_toml(HERE / "variants.toml")["reading"].items()}


def case(scenario: Json, connections_per_s: float, variant: Variant) -> Json:
    """The scenario of one load under one scheme."""
    params = {"connections_per_s": connections_per_s}
    changed = merged(scenario, {"scheme": variant.scheme, "traffic": {"params": params}})
    return merged(changed, {"link": {"buffer": variant.buffer}}) if variant.buffer else changed
