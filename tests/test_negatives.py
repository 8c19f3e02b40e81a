"""The page of negatives: scenarios are valid, commands name files that exist, tables say what JSON says."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import mousehole
import polars as pl
import pytest
from mousehole import scenario as scenarios

from validation import negative_cases, negatives

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = sorted((ROOT / "examples" / "negatives").glob("*.toml"))
CASES = [negatives.Case(**case) for case in negative_cases.CASES]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenarios__are_valid(path: Path) -> None:
    assert scenarios.fill_in(scenarios.load(path))["schema"] == "mousehole.scenario/1"


def test_flood__does_not_make_sfd_worse_than_fifo() -> None:
    """Where RED counts packets, every one of the flood counts like a full one."""
    found = mousehole.compare(
        str(ROOT / "examples" / "negatives" / "flood.toml"), schemes="droptail,sfd,sfd(unit=packets)",
        duration="20s", seeds=2,
    )  # fmt: skip
    short = found.buckets.filter(pl.col("role") == "short")
    fifo, in_bytes, in_packets = (
        short.filter(pl.col("scheme") == name)["response_mean_s"].item() for name in found.plan.schemes
    )
    assert in_bytes < 1.05 * fifo < in_packets / 1.5


def test_scenarios__are_all_in_a_case() -> None:
    named = {shlex.split(command)[0] for case in CASES for command in case.commands}
    assert {str(path.relative_to(ROOT)) for path in SCENARIOS} == {name for name in named if "/" in name}


def test_document__has_every_case_with_its_commands() -> None:
    text = negatives.DOCUMENT.read_text(encoding="utf-8")
    for number, case in enumerate(CASES, 1):
        assert f"## {number}. {case.title}" in text
        assert " ".join(case.words.split()) in " ".join(text.split())
        for command in case.commands:
            assert f"mousehole compare {command}" in text


def test_table__shows_changes_against_the_baseline() -> None:
    def scheme(name: str, change: float | None) -> dict[str, object]:
        ends = None if change is None else change - 0.1
        bucket = {
            "role": "short", "response_mean_s": 0.5, "response_mean_change": change,
            "response_mean_change_low": ends, "response_mean_change_high": change,
        }  # fmt: skip
        return {"scheme": name, "buckets": [bucket], "groups": []}

    schemes = [scheme("droptail", 0.0), scheme("sfd", -0.25)]
    document = {"cells": [{"schemes": schemes}], "manifest": {"baseline": "droptail"}}
    case = negatives.Case("t", "w", (), ("short", ("calls", "loss_share")))
    lines = negatives.write_table(json.loads(json.dumps(document)), case).splitlines()
    assert lines[0] == "| scheme | transfers ≤ 15 kB | calls: lost |"
    assert lines[2] == "| `droptail` | 500 ms | – |"
    assert lines[3] == "| `sfd` | 500 ms, −25 % (−35…−25) | – |"


@pytest.mark.parametrize(
    ("share", "text"), [(-0.0011, "−0.11"), (0.104, "+10"), (1.5, "+150"), (-4.4e-16, "0"), (0.0, "0")]
)
def test_percent__has_a_sign_unless_nothing_differs(share: float, text: str) -> None:
    assert negatives.format_percent(share) == text
