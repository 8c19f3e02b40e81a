"""Many schemes at once: the table, the heat map, the quick look."""

import io
from dataclasses import replace
from math import isfinite
from pathlib import Path

import mousehole
import pytest
from mousehole import _engine
from mousehole.answer import notes, overview
from mousehole.document import Cell, Table, print_document
from mousehole.reports import make_document, read_cell_report
from mousehole.runs import Capture, Counted, Results, list_all_schemes
from rich.console import Console
from support import HandMadeRun, make_results

MANY = "droptail,red,fq-codel,sfd,p-sfd,s-sfd,s-sfd(k=2),s-sfd(k=8),sfd(mode=coupled)"


def compare_many(**settings: object) -> mousehole.Comparison:
    """Returns a small comparison of nine schemes."""
    chosen: dict[str, object] = {
        "rate": "3mbit",
        "load": 0.8,
        "duration": "40s",
        "warmup": "10s",
        "schemes": MANY,
    }
    return mousehole.compare("web:sfd", **{**chosen, **settings})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def quick() -> mousehole.Comparison:
    """A quick comparison of nine schemes."""
    return compare_many(quick=True)


def show_report(comparison: mousehole.Comparison) -> str:
    """Returns the report of a comparison as text."""
    console = Console(width=110, record=True, file=io.StringIO(), force_terminal=True)
    print_document(console, comparison.document())
    return console.export_text()


def test_quick__has_three_replications_and_says_that_it_finds_nothing(quick: mousehole.Comparison) -> None:
    assert quick.plan.replications == 3
    text = show_report(quick)
    assert "3 replications of 40s give no interval and no verdict" in text
    assert "better by" not in text


def test_quick__gives_way_to_seeds() -> None:
    assert compare_many(quick=True, seeds=2, schemes="droptail,sfd").plan.replications == 2


def test_by_size__reference_is_fq_codel_and_does_not_change(quick: mousehole.Comparison) -> None:
    rows = overview.by_size_rows(quick.results)
    own = [row for row in rows if row.scheme == "fq-codel" and isfinite(row.response_mean_change.mean)]
    assert {row.reference for row in rows} == {"fq-codel"}
    assert own
    assert all(row.response_mean_change.mean == 0 for row in own)
    assert not any(row.response_mean_change.is_interval for row in rows)


def test_by_size__range_holds_the_mean(quick: mousehole.Comparison) -> None:
    changes = [row.response_mean_change for row in overview.by_size_rows(quick.results)]
    known = [change for change in changes if isfinite(change.mean)]
    assert known
    for change in known:
        assert change.low - 1e-12 <= change.mean <= change.high + 1e-12


def test_report__groups_the_verdicts_of_many_schemes() -> None:
    text = show_report(compare_many(seeds=5))
    assert "In parentheses: 95 % intervals." in text
    assert "Against fq-codel" in text
    assert max(len(line) for line in text.splitlines() if "tc qdisc" not in line) <= 110


def print_report(results: Results) -> list[str]:
    """Returns the lines of the report on a terminal."""
    console = Console(width=110, record=True, file=io.StringIO())
    print_document(console, make_document(results))
    return console.export_text().splitlines()


@pytest.mark.parametrize(("count", "having"), [(6, 5), (3, 2)])
def test_table__means_are_over_the_replications_that_changes_are_over(count: int, having: int) -> None:
    def runs(short_s: float) -> list[HandMadeRun]:
        some = [HandMadeRun([1000] * 50 + [10**6], [short_s] * 50 + [9.0]) for _ in range(having)]
        return [*some, *[HandMadeRun([10**6], [9.0]) for _ in range(count - having)]]

    found = make_results(runs(0.5), runs(1.0))
    (table,) = [
        one for one in read_cell_report(found, found.plan.cells[0])["overview"] if isinstance(one, Table)
    ]
    values = [[cell.value for cell in row[1:3] if isinstance(cell, Cell)] for row in table.rows]
    assert values == [[1.0, None], [0.5, pytest.approx(-0.5)]]
    (line,) = [line for line in print_report(found) if line.startswith("sfd ")]
    assert line.split()[:3] == ["sfd", "500", "ms"]
    (note,) = [note for note in notes.cell_notes(found, found.plan.cells[0]) if note.startswith("Only ")]
    assert note.startswith(f"Only {having} of {count} replications had a transfer ≤ 15 kB;")


def test_table__without_short_transfers_has_neither_mean_nor_change() -> None:
    none = [HandMadeRun([10**6], [9.0]) for _ in range(6)]
    found = make_results(none, none)
    line = next(line for line in print_report(found) if line.startswith("sfd  "))
    assert line.split()[1:3] == ["–", "–"]
    assert not [note for note in notes.cell_notes(found, found.plan.cells[0]) if note.startswith("Only ")]


def test_verdicts__below_the_floor_are_not_judged() -> None:
    def runs(short_s: float) -> list[HandMadeRun]:
        return [HandMadeRun([1000] * 50 + [10**6], [short_s] * 50 + [9.0]) for _ in range(6)]

    counted = {"short": Counted(99, 9), "long": Counted(200, 1), "all": Counted(299, 9)}
    capture = Capture(10.0, counted, 50.0, 50, 1e5)  # type: ignore[arg-type]
    lines = print_report(replace(make_results(runs(0.5), runs(1.0)), capture=capture))
    floor = "not judged (the capture has 99 distinct transfers ≤ 15 kB, of at least 100): sfd"
    assert [line.strip() for line in lines if "sfd" in line][-1] == floor
    assert not [line for line in lines if "undecided" in line]


def test_single_fifo_schemes__never_reorder(quick: mousehole.Comparison) -> None:
    for scheme in quick.plan.schemes:
        runs = quick.results.runs(quick.plan.cells[0], scheme)
        assert [run.scheme["reordered_share"] for run in runs] == [0.0] * len(runs)


def test_all_schemes__is_the_catalogue_without_ns2s_queues() -> None:
    names = {scheme["name"] for scheme in _engine.schemes() if not scheme["name"].startswith("ns2-")}
    assert {name.split("(")[0] for name in list_all_schemes()} == names


def test_heatmap__draws_a_picture(quick: mousehole.Comparison, tmp_path: Path) -> None:
    quick.heatmap(tmp_path / "heat.png")
    assert (tmp_path / "heat.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("width", [60, 80, 110])
def test_report__names_schemes_and_fits_at_every_width(quick: mousehole.Comparison, width: int) -> None:
    console = Console(width=width, record=True, file=io.StringIO(), force_terminal=True)
    print_document(console, quick.document())
    lines = console.export_text().splitlines()
    assert max(map(len, lines)) <= width
    assert not any("…" in line and "(" not in line for line in lines), "something was cut off"
    for scheme in ("droptail", "fq-codel", "s-sfd(k=8)"):
        assert sum(line.strip().startswith(f"{scheme} ") for line in lines) >= 2, "table and heat map"


def test_report__names_schemes_without_effect() -> None:
    found = compare_many(quick=True, schemes="droptail,wrr,fq-codel")
    (note,) = [note for note in found.notes(found.plan.cells[0]) if "exactly" in note]
    assert note.startswith("wrr did exactly the same as droptail")


def test_plot__of_many_schemes_highlights_the_references(quick: mousehole.Comparison, tmp_path: Path) -> None:
    quick.plot(tmp_path / "many.svg")
    text = (tmp_path / "many.svg").read_text()
    assert "other schemes" in text
    assert all(text.count(f">{scheme}<") >= 1 for scheme in quick.plan.schemes)
    assert "95 % intervals" not in text, "three replications have none"


def test_grid_times__are_against_one_cell_and_name_the_best() -> None:
    done = mousehole.compare(
        "poisson", rate="4mbit", load=0.9, buffer="10p,400p", schemes="droptail,fq-codel,srpt",
        duration="10s", warmup="2s", seeds=5,
    )  # fmt: skip
    times = {(one.scheme, one.buffer): one for one in overview.grid_times(done.results, "short", 0.9)}
    assert [key for key, one in times.items() if one.change is None] == [("droptail", "10p")]
    first = times["droptail", "10p"].mean_s
    for one in times.values():
        if one.change is not None:
            assert (one.change.mean < 0) == (one.mean_s < first)
    best = overview.select_best_times(list(times.values()))
    assert {one.scheme for one in best} <= {"droptail", "fq-codel"}  # srpt is an ideal
    assert best[0].mean_s == min(one.mean_s for key, one in times.items() if key[0] != "srpt")
