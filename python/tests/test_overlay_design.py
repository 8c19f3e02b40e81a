"""The design of intervals over replications that overlay a capture, without a comparison's runs."""

import mousehole
import numpy as np
import pytest
from mousehole.inputs import from_section
from mousehole.runs import make_overlay_design
from mousehole.scenario import fill_in


def test_overlay_design__is_near_that_of_a_comparison(tmp_path) -> None:  # type: ignore[no-untyped-def]
    draws = np.random.default_rng(2)
    rows = [f"{start:.4f},{client},{size}" for start, client, size in zip(
        np.sort(draws.uniform(0, 200, 300)), draws.integers(0, 70, 300),
        draws.integers(500, 35_000, 300), strict=True,
    )]  # fmt: skip
    file = tmp_path / "capture.csv"
    file.write_text("\n".join(["start_s,client,bytes", *rows]) + "\n")
    found = mousehole.compare(
        str(file), rate="3mbit", load=0.4, schemes="droptail,red", duration="20s", warmup="5s", seeds=2
    ).results
    (cell,) = found.plan.cells
    scenario = fill_in(found.plan.scenario(cell, "droptail"))
    traffic = from_section(scenario["traffic"], "").read(seed=1)
    assert traffic is not None
    ours, theirs = make_overlay_design(scenario, traffic), found.design(cell)
    assert 0.05 < theirs.capture_share < 1
    assert ours.capture_share == pytest.approx(theirs.capture_share, rel=0.15)
    assert ours.capture_freedom == theirs.capture_freedom
