"""A paper as data: which item is asked for, what it yields, how its parts are printed and written."""

import json
from collections.abc import Iterator
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from mousehole.errors import MouseholeError
from mousehole.statistics import Estimate

from papers import __main__ as command
from papers.common import number, paired, percent, with_interval
from papers.paper import (
    Claim,
    Finding,
    Heading,
    Item,
    Paper,
    Part,
    Picture,
    Run,
    Seeds,
    Table,
    Verdict,
    as_json,
    heading,
    judged,
)

ESTIMATE = Estimate(-1234.5, -1300.0, -1169.0, 5)


def parts(run: Run) -> Iterator[Part]:
    yield heading(run, "X", f"{run.jobs} s", "all", "x")
    yield Table("Table 1", ["", "a"], [["ours", "1"]])
    yield Finding("It holds.", Claim("s", "p", "r", Verdict.AGREES, (0.1, 0.2), Estimate(0.1, nan, inf, 2)))
    yield Picture(Path("x.png"))


PAPER = Paper(
    name="x", items=[Item("table", 1, parts), Item("table", 2, parts, Seeds(3, 4)), Item("figure", 5, parts)]
)


@pytest.mark.parametrize(
    ("asked", "seeds"),
    [({"table": 1}, 5), ({"table": 1, "full": True}, 10), ({"table": 2}, 3), ({"figure": 5, "seeds": 7}, 7)],
)
def test_reproduce__takes_the_items_seeds_by_default(asked: dict[str, Any], seeds: int) -> None:
    first = next(iter(PAPER.reproduce(**asked)))
    assert isinstance(first, Heading)
    assert first.text.startswith(f"X: {seeds} replications of None s.")
    assert first.text.endswith("filled in as papers/x/README.md says.")


@pytest.mark.parametrize("asked", [{}, {"table": 1, "figure": 5}])
def test_item__needs_exactly_one(asked: dict[str, Any]) -> None:
    with pytest.raises(MouseholeError, match=r"give one .*; there are --table 1, 2 and --figure 5"):
        list(PAPER.reproduce(**asked))


def test_item__refuses_what_it_does_not_have() -> None:
    with pytest.raises(MouseholeError, match="figure 1 is not reproduced; there are --table 1, 2"):
        list(PAPER.reproduce(figure=1))


def test_main__prints_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert PAPER.main(table=1, jobs=2) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[-2:] == ["• It holds.", "wrote x.png"]
    assert "Table 1" in lines


def test_as_json__has_the_claim_and_no_nan() -> None:
    run = Run(seeds=1)
    lines = [json.loads(as_json(part)) for part in parts(run)]
    assert [line["part"] for line in lines] == ["heading", "table", "finding", "picture"]
    assert lines[2]["claim"]["verdict"] == "agrees"
    assert lines[2]["claim"]["published"] == [0.1, 0.2]
    assert lines[2]["claim"]["ours"] == {"mean": 0.1, "low": None, "high": None, "count": 2}


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        (Estimate(0.3, 0.2, 0.4, 5), Verdict.AGREES),
        (Estimate(0.1, 0.05, 0.24, 5), Verdict.DIFFERS),
        (Estimate(0.5, 0.36, 0.6, 5), Verdict.DIFFERS),
        (Estimate(0.3, nan, nan, 3), Verdict.NOT_COMPARED),
    ],
)
def test_judged__meets_the_published_range(ours: Estimate, verdict: Verdict) -> None:
    assert judged(ours, 0.25, 0.35) == verdict


def test_number__minus_thousands_interval_and_dash() -> None:
    assert number(ESTIMATE, 1) == "−1,234.5 ±65.5"
    assert number(Estimate(0.5, nan, nan, 2)) == "0.500"
    assert number(Estimate(nan, nan, nan, 0)) == "–"
    assert (percent(-0.5), percent(nan)) == ("−50 %", "–")
    assert with_interval(Estimate(0.1, 0.05, 0.15, 5)) == "10 % (5…15)"


def test_paired__needs_as_many_of_both() -> None:
    assert paired([3.0, 5.0], [1.0, 1.0], lambda one, other: one - other).mean == 3.0
    with pytest.raises(ValueError, match="zip"):
        paired([1.0], [1.0, 2.0], lambda one, other: one - other)


def test_command__prints_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["lfp", "--figure", "2", "--seeds", "1"]) == 0
    first, table = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["part"], table["columns"]) == ("heading", ["", "published", "ours"])
