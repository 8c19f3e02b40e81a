"""The prediction's arithmetic on known numbers, and a few seconds of it in the kernel."""

from __future__ import annotations

from dataclasses import replace

import pytest

from validation import live, witness
from validation.lab import live as live_lab
from validation.live import Compared, Figures, FlowList, Run, compare

FIGURES = Figures(mean=100, p50=80, p90=150, p99=300, bulk_mbps=7, unfinished=0)


def build_run(scheme: str, simulated: Figures, kernel: Figures, seed: int = 1) -> Run:
    """Returns a run with these figures."""
    return Run(scheme, seed, simulated, kernel, load=1.0, late_p99_us=100.0)


def test_figures__are_those_of_finished_transfers() -> None:
    seconds = [0.1, 0.2, 0.3, None]
    figures = Figures.from_transfers(seconds, 5e6)
    assert (round(figures.mean), round(figures.p50), figures.unfinished, figures.bulk_mbps) == (
        200,
        200,
        1,
        5,
    )


def test_compared__takes_ratios_list_by_list() -> None:
    compared = Compared.pair([110, 220, 330, 440, 550], [100, 200, 300, 400, 500])
    assert compared.difference == pytest.approx(0.1)
    assert compared.half_width == pytest.approx(0)
    apart = Compared.pair([200, 50], [100, 100])
    assert apart.difference == pytest.approx(0), "twice and half cancel: ratios have a geometric mean"
    assert str(Compared.pair([110], [100])) == "+10.0 %", "fewer than five lists have no interval"


def test_compare__names_what_differs_in_itself_or_beside_red() -> None:
    slower = replace(FIGURES, mean=109)
    runs = [build_run("RED", slower, FIGURES), build_run("S-SFD", FIGURES, slower)]
    verdicts = {(row.scheme, row.figure): row.verdict for row in compare(runs)}
    assert verdicts["RED", "mean"] == "agrees"
    # Each is within 10 %, but their ratio is not.
    assert verdicts["S-SFD", "mean"] == "DIFFERS"
    assert verdicts["S-SFD", "p50"] == "agrees"
    assert verdicts["S-SFD", "p99"] == "shown only"


def test_flow_list__is_the_same_for_the_same_seed() -> None:
    one, other = FlowList.draw(1, 60), FlowList.draw(2, 60)
    assert one == FlowList.draw(1, 60) != other
    assert len(one.starts_s) == 1_850
    assert min(one.sizes) >= 1_000
    assert max(one.sizes) <= 20_000


def test_kernel__does_about_what_the_simulator_said() -> None:
    reason = witness.find_obstacle() or live_lab.find_obstacle()
    if reason:
        pytest.skip(reason)
    measured = live.measure("RIO-PS", 1, 8, live_lab.require_program())
    assert measured.kernel.unfinished == 0
    assert measured.kernel.p50 == pytest.approx(measured.simulated.p50, rel=0.25)
    assert measured.kernel.bulk_mbps == pytest.approx(measured.simulated.bulk_mbps, rel=0.1)
