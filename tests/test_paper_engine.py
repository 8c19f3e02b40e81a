"""Papers as data: mistakes in paper.toml, cells and their runs, the words, tables, figures, the page."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from math import inf, isnan, nan
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from mousehole.base import MouseholeError
from mousehole.statistics import Estimate, holm, t_interval
from scipy import stats

import papers
from papers import __main__ as json_command
from papers import command, evaluate, new, paper, parts, readings, report
from papers.definition import (
    Claim,
    Definition,
    FigureItem,
    NotAvailableError,
    Open,
    Panel,
    Trial,
    Value,
    read_definition,
)
from papers.draw import Curve, draw
from papers.evaluate import Evaluator, Published, choose_band, compare_values
from papers.judge import Judgement, Word, find_worst, judge_band, judge_exact, judge_order
from papers.runs import Options, Runs
from papers.text import count_words, format_estimate, format_published, format_quantity
from tests.browser import WIDTHS, open_browser

ROOT = Path(__file__).resolve().parent.parent
DIFFERS = "**differs**: "

FILE = """
[paper]
name = "x"
title = "On X"
authors = "A & B"
source = "C, 2001"

[quick]
replications = 5
scenario = { duration = "2s" }
says = "2 s"

[full]
replications = 6
says = "4 s"

[axis.rate]
path = "link.rate"
values = ["1mbit", "2mbit"]

[axis.buffer]
small = { link = { buffer = "5p" } }
large = { link = { buffer = "50p" } }

[grid.all]
scenario = "link"
axes = { rate = "all", buffer = ["small", "large"] }

[[open]]
name = "delay"
taken = "20 ms"
why = "it is not printed"
fitted = ["X1"]
claims = ["X2"]
tried = [{ name = "40 ms", change = { link = { rtt = "40ms" } } }]

[[claim]]
id = "X1"
place = "Table 1"
says = "half of it is used"
kind = "value"
grid = "all"
value = "used"
of = { buffer = "large" }
each = ["rate"]
published = "table_1.{rate}.used"
tolerance = 0.5
unit = "%"

[[claim]]
id = "X2"
place = "section 2; Figure 3"
says = "more is used of the slower link"
kind = "order"
grid = "all"
value = "used"
of = { buffer = "small" }
order = [{ rate = "2mbit" }, { rate = "1mbit" }]

[[claim]]
id = "X3"
place = "Figure 9"
says = "something"
kind = "lost"
note = "its curves are lost"

[[table]]
number = 1
title = "what is used"
grid = "all"
rows = { rate = ["1mbit", "2mbit"] }
[[table.columns]]
title = "used"
value = "used"
of = { buffer = "large" }
published = "table_1.{rate}.used"
unit = "%"

[[figure]]
number = 3
title = "what is used"
grid = "all"
curves = "buffer"
names = ["small", "large"]
[[figure.panel]]
value = "used"
x = "rate"
xlabel = "rate"
ylabel = "share"
published = "figure_3.{curve}"
"""
PUBLISHED = """
[table_1]
1mbit = { used = 0.5 }
2mbit = { used = [0.2, 0.3] }
[figure_3]
large = [[1.0, 0.5]]
"""
SCENARIO = """
schema = "mousehole.scenario/1"
seed = 1
warmup = "0s"
duration = "4s"
scheme = "droptail"

[link]
rate = "1mbit"
rtt = "20ms"
buffer = "50p"

[traffic]
model = "poisson"
load = 0.5
"""


def measure(result: Any) -> dict[str, Any]:
    """A measure of the test's own paper."""
    return {"used": result.queues()[0]["utilisation"], "sizes": [1.0, 2.0]}


def used_twice(run: Any, factor: float = 2.0) -> float:
    """A quantity of the test's own paper."""
    return factor * float(run["used"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the test's own paper."""
    place = tmp_path / "x"
    (place / "scenarios").mkdir(parents=True)
    (place / "paper.toml").write_text(FILE)
    (place / "published.toml").write_text(PUBLISHED)
    (place / "scenarios" / "link.toml").write_text(SCENARIO)
    return place


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module with the paper's measure and quantity; it stands for both of its files."""
    import inspect

    module = ModuleType("x")
    vars(module).update(measure=measure, used_twice=used_twice)
    monkeypatch.setattr("papers.runs._read_source", lambda _: inspect.getsource(measure))
    return module


def evaluator(folder: Path, module: ModuleType, **options: Any) -> Evaluator:
    """Returns an evaluator of the paper in `folder`, with a cache below it."""
    definition = read_definition(folder / "paper.toml")
    runs = Runs(definition, folder, module, Options(cache=folder / "cache", **options))
    return Evaluator(definition, Published(folder / "published.toml"), module, runs)


# --- paper.toml ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("was", "becomes", "says"),
    [
        ('name = "x"\n', "", r'paper: "name" is missing'),
        ('kind = "lost"', 'kind = "gone"', r'claim X3: there is no kind "gone"'),
        (
            "tolerance = 0.5",
            "tolerence = 0.5",
            r'claim X1: there is no key "tolerence".*did you mean "tolerance"',
        ),
        (
            'value = "used"\nof = { buffer = "small" }',
            'of = { buffer = "small" }',
            r'claim X2: "value" is missing',
        ),
        ('{ rate = "2mbit" }, {', '{ rate = "3mbit" }, {', r'claim X2, axis rate: there is no label "3mbit"'),
        ('each = ["rate"]', 'each = ["speed"]', r'claim X1: there is no axis "speed"'),
        ('claims = ["X2"]', 'claims = ["X9"]', r'open delay: there is no claim "X9"'),
        (
            'rows = { rate = ["1mbit"',
            'rows = { rate = ["9mbit"',
            r'table 1, axis rate: there is no label "9mbit"',
        ),
        (
            'names = ["small", "large"]',
            'names = ["small", "huge"]',
            r"figure 3, axis buffer: there is no label",
        ),
        (
            'tried = [{ name = "40 ms", change = { link = { rtt = "40ms" } } }]',
            'tried = [{ name = "fast", change = { link = { rate = "9mbit" } } }]',
            r"open delay, tried fast: it makes one scenario of .* which claim X1 compares",
        ),
        (
            "[axis.buffer]\nsmall = { link",
            "[axis.buffer]\ntiny = 3\nsmall = { link",
            r'"tiny" is not a table',
        ),
        ("[quick]\nreplications", "[quick]\nreplication", r"quick: there is no key"),
        ("[[open]]", "[[opened]]", r'the file: there is no key "opened"'),
        (
            'grid = "all"\nvalue = "used"\nof = { buffer = "large" }',
            'grid = "none"\nvalue = "used"',
            r"no grid",
        ),
        ("[full]", "[full", r"line \d+"),
        (
            "[[table]]",
            '[[reading]]\nname = "r"\nsays = "s"\nvalues = { dealy = "40 ms" }\n[[table]]',
            "dealy",
        ),
        ('kind = "lost"', 'kind = "lost"\nbasis = "hearsay"', r'claim X3: there is no basis "hearsay"'),
    ],
)
def test_definition__names_file_entry_and_key(folder: Path, was: str, becomes: str, says: str) -> None:
    path = folder / "paper.toml"
    assert was in FILE
    path.write_text(FILE.replace(was, becomes, 1))
    with pytest.raises(MouseholeError, match=says) as caught:
        read_definition(path)
    assert str(path) in str(caught.value)


# --- grids and runs --------------------------------------------------------------------------------


def test_scenario__takes_length_then_labels_then_trial(folder: Path, modules: ModuleType) -> None:
    made = evaluator(folder, modules)
    request = made.runs.request("all", {"rate": "2mbit"}, {"buffer": "small"})
    scenario = made.runs.scenario(request)
    assert (scenario["duration"], scenario["link"]) == (
        "2s",
        {"rate": "2mbit", "rtt": "20ms", "buffer": "5p"},
    )
    trial = made.definition.opens[0].tried[0]
    (other,) = made.with_trial(trial).list_requests(made.definition.claims[0], "all", {"rate": "1mbit"})
    assert made.runs.scenario(other)["link"]["rtt"] == "40ms"
    assert other != made.list_requests(made.definition.claims[0], "all", {"rate": "1mbit"})[0]
    full = evaluator(folder, modules, full=True).runs
    assert full.scenario(request)["duration"] == "4s"
    assert (full.replications("all"), made.runs.replications("all")) == (6, 5)


READING = """
[[reading]]
name = "far"
says = "twice as far"
values = { delay = "40 ms" }
fitted = ["X2"]
"""


def test_reading__gives_open_parameters_a_value_for_the_whole_paper(
    folder: Path, modules: ModuleType
) -> None:
    (folder / "paper.toml").write_text(FILE + READING)
    plain = evaluator(folder, modules)
    assert [one.name for one in plain.definition.readings] == ["taken", "far"]
    far = plain.with_reading(plain.definition.reading("far"))
    for claim in plain.definition.claims[:2]:
        for request in far.list_claim_requests(claim):
            assert far.runs.scenario(request)["link"]["rtt"] == "40ms"
        assert far.select_trials(claim) == [], "the reading has settled the only parameter"
    assert [far.judge(claim).fitted for claim in far.definition.claims[:2]] == [(), ("reading far",)]
    with pytest.raises(MouseholeError, match='there is no reading "near"'):
        plain.definition.reading("near")


def test_readings__are_scored_on_cells_that_did_not_choose(folder: Path, modules: ModuleType) -> None:
    (folder / "paper.toml").write_text(FILE + READING)
    made = evaluator(folder, modules)
    reads = []
    for one in made.definition.readings:
        own = made.with_reading(one)
        reads.append(readings.Read(one, [own.judge(claim) for claim in own.definition.claims]))
    cells = [reads[0].checks(half) for half in readings.HALVES]
    assert sum(map(len, cells)) == 3, "two rates of X1, one step of X2"
    table = readings.tabulate_words(reads)
    assert [row[0] for row in table.rows] == ["X1", "X2"]
    assert re.fullmatch(r"\w+, \d of 2 cells agree", table.rows[0][1])
    scores = readings.tabulate_scores(reads)
    assert [row[0] for row in scores.rows] == ["taken", "far"]
    assert "Chosen on half A" in scores.note


def test_score__is_the_share_that_agrees_less_that_which_differs() -> None:
    def check(word: Word, ours: float, published: float | None) -> evaluate.Check:
        ends = None if published is None else (published, published)
        return evaluate.Check("", ends, Judgement(word, Estimate(ours, ours, ours, 5)))

    found = readings.score_checks(
        [check(Word.AGREES, 1.0, 1.0), check(Word.DIFFERS, 4.0, 1.0), check(Word.EQUIVALENT, 0.0, None)]
    )
    assert (found.agree, found.differ, found.cells) == (2, 1, 3)
    assert found.value == pytest.approx(1 / 3)
    assert found.error_text == "×÷ 2.67 (2)", "the root of the mean of 0 and ln(4) squared is ln(2.67)"


def test_settled__doubles_replications_of_open_claims_only(folder: Path, modules: ModuleType) -> None:
    (folder / "paper.toml").write_text(FILE.replace('of = { buffer = "small" }', 'of = { buffer = "large" }'))
    made = evaluator(folder, modules, settle=20)
    found = paper.judge_claims(made, made.definition.claims[:2])
    for one in found:
        counts = {check.judgement.ours.count for check in one.checks}
        assert counts == ({20} if one.word in paper.OPEN else counts & {5, 10, 20})
        assert all(isnan(check.judgement.p_value) for check in one.checks)
    plain = made.judge(made.definition.claims[0])
    assert {check.judgement.ours.count for check in plain.checks} == {5}, "others see their own replications"
    first = replace(made, looked=(5, 5)).judge(made.definition.claims[0]).checks[0].judgement.ours
    alone = plain.checks[0].judgement.ours
    assert first.high - first.low > alone.high - alone.low, "the interval holds at every look"


def test_seed__draws_another_sample(folder: Path, modules: ModuleType) -> None:
    cell = {"rate": "1mbit", "buffer": "large"}
    used = []
    for seed in (None, 1, 770411):
        made = evaluator(folder, modules, seed=seed)
        used.append([float(one["used"]) for one in made.runs.measure(made.runs.request("all", cell))])
    assert used[0] == used[1] != used[2]


def test_trial__changes_only_the_cells_with_its_labels(folder: Path, modules: ModuleType) -> None:
    text = FILE.replace('name = "40 ms",', 'name = "40 ms", only = { buffer = "large" },')
    (folder / "paper.toml").write_text(text)
    plain = evaluator(folder, modules)
    ((_, trial),) = plain.select_trials(plain.definition.claims[0])
    tried = plain.with_trial(trial)
    value = Value(value="used", of={"buffer": "large"}, against={"buffer": "small"})
    large, small = tried.list_requests(value, "all", {"rate": "1mbit"})
    assert plain.runs.scenario(large)["link"]["rtt"] == "40ms"
    assert small == plain.list_requests(value, "all", {"rate": "1mbit"})[1]


def test_request__needs_a_label_of_each_axis_with_several(folder: Path, modules: ModuleType) -> None:
    with pytest.raises(MouseholeError, match="which buffer is meant\\? There are small, large"):
        evaluator(folder, modules).runs.request("all", {"rate": "1mbit"})


def test_run__takes_from_the_cache_what_was_measured(folder: Path, modules: ModuleType) -> None:
    first = evaluator(folder, modules)
    request = first.runs.request("all", {"rate": "1mbit", "buffer": "large"})
    measured = first.runs.measure(request)
    assert (first.runs.made, first.runs.kept, len(measured)) == (5, 0, 5)
    again = evaluator(folder, modules)
    found = again.runs.measure(request)
    assert (again.runs.made, again.runs.kept) == (0, 5)
    assert [float(one["used"]) for one in found] == [float(one["used"]) for one in measured]
    assert len({float(one["used"]) for one in measured}) == 5, "replications draw afresh"
    fresh = evaluator(folder, modules, fresh=True)
    fresh.runs.measure(request)
    assert fresh.runs.made == 5


def test_run__repeats_what_was_cut_short(folder: Path, modules: ModuleType) -> None:
    first = evaluator(folder, modules)
    request = first.runs.request("all", {"rate": "1mbit", "buffer": "large"})
    first.runs.measure(request)
    stored = sorted((folder / "cache" / "x").glob("*.npz"))
    assert len(stored) == 5
    stored[0].write_bytes(stored[0].read_bytes()[:40])
    stored[1].write_bytes(b"")
    again = evaluator(folder, modules)
    again.runs.measure(request)
    assert (again.runs.made, again.runs.kept) == (2, 3)


def test_run__another_measure_or_engine_is_another_key(
    folder: Path, modules: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = evaluator(folder, modules).runs.request("all", {"rate": "1mbit", "buffer": "large"})
    evaluator(folder, modules).runs.measure(request)
    for name, value in (("_read_source", "another measure"), ("engine_digest", "another engine")):
        monkeypatch.setattr(f"papers.runs.{name}", lambda *_, value=value: value)
        other = evaluator(folder, modules)
        other.runs.measure(request)
        assert other.runs.made == 5, name


# --- words -----------------------------------------------------------------------------------------

TIGHT = np.array([0.30, 0.31, 0.29, 0.30, 0.30])
WIDE = np.array([0.1, 0.5, 0.3, 0.0, 0.6])


@pytest.mark.parametrize(
    ("values", "least", "most", "word"),
    [
        (TIGHT, 0.25, 0.35, Word.AGREES),
        (TIGHT, 0.30, 0.35, Word.COMPATIBLE),
        (TIGHT, 0.35, 0.45, Word.DIFFERS),
        (TIGHT, -inf, 0.2, Word.DIFFERS),
        (WIDE, 0.25, 0.35, Word.COMPATIBLE),
        (WIDE, -inf, 0.0, Word.COMPATIBLE),
        (TIGHT[:4], 0.25, 0.35, None),
        (np.array([0.3, 0.3, nan, 0.3, 0.3]), 0.25, 0.35, None),
    ],
)
def test_judge_band__reads_the_whole_interval(
    values: Any, least: float, most: float, word: Word | None
) -> None:
    found = judge_band(values, least, most, Word.COMPATIBLE, Word.AGREES)
    assert found.word == word
    assert isnan(found.p_value) == (word in (Word.COMPATIBLE, None))


def test_judge_band__p_value_is_that_of_the_t_test() -> None:
    found = judge_band(TIGHT, 0.0, inf, Word.UNDECIDED, Word.AGREES)
    assert found.p_value == pytest.approx(stats.ttest_1samp(TIGHT, 0.0).pvalue)
    beyond = judge_band(TIGHT, 0.4, 0.5, Word.COMPATIBLE, Word.AGREES)
    assert beyond.p_value == pytest.approx(stats.ttest_1samp(TIGHT, 0.4).pvalue)


def test_judge_band__a_wide_interval_never_agrees() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        values = rng.normal(0.0, 1.0, 6)
        found = judge_band(values, -0.1, 0.1, Word.COMPATIBLE, Word.AGREES)
        assert found.word != Word.AGREES


def test_judge_order__each_step_is_judged() -> None:
    assert [one.word for one in judge_order([TIGHT, WIDE - 0.3, -TIGHT])] == [
        Word.AGREES,
        Word.UNDECIDED,
        Word.DIFFERS,
    ]


def test_judge_exact__needs_no_replications() -> None:
    assert judge_exact(0.907, 0.9, 0.92).word == Word.AGREES
    assert judge_exact(0.95, 0.9, 0.92).word == Word.DIFFERS


def test_worst__is_the_word_of_several_parts() -> None:
    assert find_worst([Word.AGREES, Word.DIFFERS, Word.COMPATIBLE]) == Word.DIFFERS
    assert find_worst([Word.AGREES, Word.UNDECIDED]) == Word.UNDECIDED
    assert find_worst([Word.AGREES, Word.EQUIVALENT]) == Word.AGREES
    assert find_worst([Word.AGREES, None]) is None
    assert find_worst([]) is None


def test_holm__adjusts_the_definite_ones() -> None:
    assert holm([0.01, nan, 0.04, 0.03]) == pytest.approx([0.03, nan, 0.06, 0.06], nan_ok=True)
    assert holm([0.5, 0.9]) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("kind", "more", "ends"),
    [
        ("value", {"tolerance": 0.25}, (0.3, 0.5)),
        ("value", {"margin": 0.05}, (0.35, 0.45)),
        ("factor", {"factor": 2.0}, (0.2, 0.8)),
        ("bound", {"least": 0.1}, (0.1, inf)),
        ("bound", {"most": 0.1}, (-inf, 0.1)),
        ("sign", {"sign": "+"}, (0.0, inf)),
        ("sign", {"sign": "-"}, (-inf, 0.0)),
        ("equivalent", {"margin": 0.2}, (-0.2, 0.2)),
    ],
)
def test_band__is_what_the_kind_says(kind: str, more: dict[str, Any], ends: tuple[float, float]) -> None:
    claim = Claim(id="X1", place="", says="", kind=kind, **more)
    assert choose_band(claim, (0.4, 0.4))[:2] == pytest.approx(ends)


def test_band__value_needs_a_published_number() -> None:
    with pytest.raises(MouseholeError, match='kind value needs "published"'):
        choose_band(Claim(id="X1", place="", says="", kind="value"), None)


def test_changed__compares_as_its_name_says() -> None:
    found = {
        name: compare_values(name, 3.0, 4.0) for name in ("difference", "ratio", "relative", "reduction")
    }
    assert found == {"difference": -1.0, "ratio": 0.75, "relative": -0.25, "reduction": 0.25}


# --- claims, tables, figures -----------------------------------------------------------------------


def test_judged__repeats_for_each_label_and_reads_what_is_published(
    folder: Path, modules: ModuleType
) -> None:
    made = evaluator(folder, modules)
    found = made.judge(made.definition.claims[0])
    assert [check.label for check in found.checks] == ["1mbit", "2mbit"]
    assert [check.published for check in found.checks] == [(0.5, 0.5), (0.2, 0.3)]
    assert all(0.1 < check.judgement.ours.mean < 1 for check in found.checks)
    assert found.fitted == ("delay",)
    assert made.published.list_unread() == ["figure_3.large"]


def test_open__may_be_fitted_to_one_part_of_a_claim() -> None:
    one, other = (Claim(id="X1", part=part, place="", says="", kind="lost") for part in ("light", "heavy"))
    trial = Trial(name="40 ms")
    reading = Open(name="delay", taken="", why="", fitted=("X1 light",), claims=("X2",), tried=(trial,))
    assert [reading.was_fitted_to(claim) for claim in (one, other)] == [True, False]
    assert [reading.select_trials(claim) for claim in (one, other)] == [(trial,), ()]
    assert replace(reading, fitted=("X1",)).was_fitted_to(other)
    assert replace(reading, fitted=("X1 *h*v*",)).was_fitted_to(other)
    assert replace(reading, claims=("X1 heavy",)).select_trials(other) == (trial,)


def test_judged__order_is_of_paired_differences(folder: Path, modules: ModuleType) -> None:
    made = evaluator(folder, modules)
    (check,) = made.judge(made.definition.claims[1]).checks
    assert check.label == "2mbit < 1mbit"
    of = [made.values(made.definition.claims[1], "all", {"rate": rate}) for rate in ("1mbit", "2mbit")]
    assert check.judgement.ours.mean == pytest.approx(float(np.mean(of[0] - of[1])))


def test_judged__lost_is_lost(folder: Path, modules: ModuleType) -> None:
    made = evaluator(folder, modules)
    assert made.judge(made.definition.claims[2]).word == Word.LOST


def test_judged__skips_what_the_claim_does_not_speak_of(folder: Path, modules: ModuleType) -> None:
    made = evaluator(folder, modules)
    claim = replace(made.definition.claims[0], skip=({"rate": "2mbit"},))
    assert made.definition.list_combinations(claim) == [{"rate": "1mbit"}]


def test_value__functions_take_cells_and_arguments(folder: Path, modules: ModuleType) -> None:
    made = evaluator(folder, modules)
    claim = made.definition.claims[0]
    plain = made.values(claim, "all", {"rate": "1mbit"})
    spec = replace(claim, value="used_twice", args={"factor": 3.0})
    assert made.values(spec, "all", {"rate": "1mbit"}) == pytest.approx(3 * plain)
    reduced = replace(spec, change="reduction", against={"rate": "1mbit"})
    assert made.values(reduced, "all", {"rate": "1mbit"}) == pytest.approx(np.zeros(5))


def test_value__unknown_is_refused_with_what_there_is(folder: Path, modules: ModuleType) -> None:
    made = evaluator(folder, modules)
    spec = replace(made.definition.claims[0], value="use")
    with pytest.raises(MouseholeError, match=r'"use" is neither measured nor a function.*used, sizes'):
        made.values(spec, "all", {"rate": "1mbit"})


def test_published__missing_number_is_named(folder: Path, modules: ModuleType) -> None:
    (folder / "published.toml").write_text("[table_1]\n1mbit = { used = 0.5 }\n")
    made = evaluator(folder, modules)
    with pytest.raises(
        MouseholeError, match=r'claim X1: published.toml has no "table_1.\{rate\}.used" for 2mbit'
    ):
        made.judge(made.definition.claims[0])


@pytest.fixture
def own_paper(
    folder: Path, modules: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], paper.Paper]:
    """Has the programs find the test's own paper and its cache only, and work in its folder.

    Returns a function that reads the paper.
    """
    monkeypatch.setattr(paper, "list_folders", lambda: [folder.parent])
    monkeypatch.setattr(paper.Paper, "modules", lambda _: (modules, modules))
    monkeypatch.setattr(command, "default_cache", lambda: folder / "cache")
    monkeypatch.setattr(json_command, "default_cache", lambda: folder / "cache")
    monkeypatch.chdir(folder)
    return lambda: paper.find_paper("x")


def reproduce(own: paper.Paper, folder: Path, **wanted: Any) -> list[parts.Part]:
    """Returns the parts of the paper that are wanted. Uses the cache in `folder`."""
    return list(own.reproduce(paper.Wanted(**wanted), Options(cache=folder / "cache")))


def test_reproduce__yields_what_is_wanted(own_paper: Callable[[], paper.Paper], folder: Path) -> None:
    own = own_paper()
    kinds = [type(part).__name__ for part in reproduce(own, folder)]
    assert kinds == ["Heading", *["ClaimPart"] * 3, "Summary"]
    heading, table, claim = reproduce(own, folder, table="1")
    assert isinstance(heading, parts.Heading)
    assert "5 replications of 2 s" in heading.text
    assert isinstance(table, parts.Table)
    assert list(table.columns) == ["rate", "used, published", "ours (95 %)"]
    assert [row[:2] for row in table.rows] == [["1mbit", "50 %"], ["2mbit", "20 to 30 %"]]
    assert isinstance(claim, parts.ClaimPart)
    assert claim.id == "X1"
    picture = reproduce(own, folder, figure="3")[1]
    assert isinstance(picture, parts.Picture)
    assert picture.path is not None
    assert picture.path.read_bytes().startswith(b"\x89PNG")
    trials = [
        part for part in reproduce(own, folder, claim="x1", tried=True) if isinstance(part, parts.TrialPart)
    ]
    assert [(one.open, one.trial, len(one.lines)) for one in trials] == [("delay", "40 ms", 2)]


def test_reproduce__heading_says_how_many_replications_were_run(
    own_paper: Callable[[], paper.Paper], folder: Path
) -> None:
    options = Options(cache=folder / "cache", seeds=2)
    heading, claim = own_paper().reproduce(paper.Wanted(claim="X1"), options)
    assert isinstance(heading, parts.Heading)
    assert "C, 2001. 2 replications of 2 s." in heading.text
    assert isinstance(claim, parts.ClaimPart)
    assert [line.estimate.count for line in claim.lines] == [2, 2]


def test_reproduce__refuses_what_there_is_not(own_paper: Callable[[], paper.Paper], folder: Path) -> None:
    with pytest.raises(
        MouseholeError, match="table 7 is not reproduced; there are table 1; figure 3; claim X1"
    ):
        reproduce(own_paper(), folder, table="7")
    with pytest.raises(MouseholeError, match='there is no claim "X7"'):
        reproduce(own_paper(), folder, claim="X7")
    with pytest.raises(MouseholeError, match='there is no paper "y"'):
        paper.find_paper("y")


def test_reproduce__refuses_claims_of_a_paper_without() -> None:
    with pytest.raises(
        MouseholeError, match="paper side-by-side: it states no claims; there are table short, p99"
    ):
        next(paper.find_paper("side-by-side").reproduce(paper.Wanted(), Options()))


def test_chosen__leaves_what_is_left_to_others_to_full_runs() -> None:
    for name, definition in list_definitions():
        left = [claim for claim in definition.claims if claim.basis == "left"]
        quick, full = (
            paper.find_paper(name)._choose_items(paper.Wanted(), full)[2] for full in (False, True)
        )
        assert len(quick) == len(full) - len(left), name
        for claim in left:
            assert paper.find_paper(name)._choose_items(paper.Wanted(claim=claim.id))[2] == [claim]


def test_section__is_named_by_a_claims_place() -> None:
    claims = [
        Claim(id="X1", place=place, says="", kind="lost")
        for place in ("section 4.3; Figure 8a", "Table 4", "section 4", "section VI.C", "sections 3 and 40")
    ]
    assert [paper.is_in_section(one, "4") for one in claims] == [True, False, True, False, False]
    assert [paper.is_in_section(one, "4.3") for one in claims] == [True, False, False, False, False]
    assert [paper.is_in_section(one, "vi") for one in claims] == [False, False, False, True, False]
    assert [paper.is_in_section(one, "40") for one in claims] == [False, False, False, False, True]


def test_start__writes_a_paper_that_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = new.create_paper("my-paper", tmp_path)
    assert f"mousehole paper my-paper --papers {tmp_path}" in said
    with pytest.raises(MouseholeError, match="is there already"):
        new.create_paper("my-paper", tmp_path)
    with pytest.raises(MouseholeError, match="small letters"):
        new.create_paper("../x", tmp_path)
    monkeypatch.setattr(papers, "__path__", [str(tmp_path), *papers.__path__])
    heading, claim = paper.find_paper("my-paper").reproduce(paper.Wanted(claim="X1"), Options(jobs=1))
    assert isinstance(heading, parts.Heading)
    assert isinstance(claim, parts.ClaimPart)
    assert claim.lines[0].bar == "±25 %"
    assert claim.word is not None


def test_arabic__reads_roman_numbers_and_leaves_other_names() -> None:
    assert [paper.to_arabic(one) for one in ("i", "iv", "ix", "xiv", "4", "slr", "8a", "iiii", "")] == [
        "1", "4", "9", "14", "4", "slr", "8a", "iiii", "",
    ]  # fmt: skip


def test_chosen__takes_the_papers_numerals_and_all_parts_of_a_figure() -> None:
    def chosen(name: str, **wanted: Any) -> tuple[list[str], list[str], list[str]]:
        tables, figures, claims = paper.find_paper(name)._choose_items(paper.Wanted(**wanted))
        return [one.number for one in tables], [one.number for one in figures], [one.name for one in claims]

    for roman, number in (("I", "1"), ("IV", "4"), ("iv", "4")):
        assert chosen("rio-ps", table=roman) == chosen("rio-ps", table=number)
        assert chosen("rio-ps", table=roman)[0] == [number]
        assert chosen("rio-ps", table=roman)[2]
    tables, figures, claims = chosen("sfd", figure="8")
    assert (tables, figures) == ([], ["8a", "8b"])
    parts_of_it = [name for part in ("8a", "8b") for name in chosen("sfd", figure=part)[2]]
    assert sorted(claims) == sorted(parts_of_it)
    assert chosen("rio-ps", figure="2")[1] == ["2"], "2b is another figure"


def test_command__prints_claims_with_words(
    own_paper: Callable[[], paper.Paper], capsys: pytest.CaptureFixture[str]
) -> None:
    own_paper()
    assert command.list_papers() == "x        table 1; figure 3; claim X1 to X3"
    assert command.run("x") == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "X3: something [Figure 9] – lost: what would be compared stands in a figure" in text
    assert "chosen while looking at it: delay" in text
    assert "3 statements. Evidence, 2: lost 1" in text
    assert "Fitted while looking, 1:" in text
    assert command.run("x", claim="X3", markdown=True) == 0
    assert "**X3: something \\[Figure 9\\]**\n\n- – lost: what would" in capsys.readouterr().out


def test_reproduce__adjusts_p_values_over_all_claims_of_the_paper_only(
    own_paper: Callable[[], paper.Paper], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """X1 is judged to differ by a wide margin at both rates, so that its p-values are definite."""
    text = FILE.replace("tolerance = 0.5", "tolerance = 0.001").replace("table_1.{rate}.used", "table_1.far")
    (folder / "paper.toml").write_text(text)
    (folder / "published.toml").write_text(PUBLISHED.replace("[figure_3]", "far = 5.0\n[figure_3]"))
    own = own_paper()

    def lines(**wanted: Any) -> list[parts.Line]:
        claims = [part for part in reproduce(own, folder, **wanted) if isinstance(part, parts.ClaimPart)]
        return [line for part in claims if part.id == "X1" for line in part.lines]

    every = lines()
    judged = own.evaluator(Options(cache=folder / "cache"))
    plain = [check.judgement.p_value for one in own.definition.claims for check in judged.judge(one).checks]
    assert [line.p_value for line in every] == holm(plain)[:2] != plain[:2]
    assert {line.p_name for line in every} == {"Holm p"}
    for wanted in ({"claim": "X1"}, {"table": "1"}):
        assert [line.p_value for line in lines(**wanted)] == plain[:2]
        assert {line.p_name for line in lines(**wanted)} == {"p"}
    command.run("x", details=True)
    assert "Holm p" in capsys.readouterr().out
    command.run("x", claim="X1")
    assert "Holm" not in capsys.readouterr().out
    options = Options(cache=folder / "cache")
    assert "Holm p" in command.write_html([own], folder / "report", options, details=True).read_text()
    page = command.write_html([own], folder / "report", options).read_text()
    assert "Holm" not in page
    assert "X1 ✗ 0 of 2 cells</a>" in page, "a chip says how many of its cells agree"


def test_json_command__prints_one_line_for_each_part(
    own_paper: Callable[[], paper.Paper], capsys: pytest.CaptureFixture[str]
) -> None:
    own_paper()
    assert json_command.main(["x", "--claim", "X1"]) == 0
    heading, claim = map(json.loads, capsys.readouterr().out.splitlines())
    assert (heading["kind"], claim["kind"], claim["claim_kind"]) == ("heading", "claim", "value")
    assert claim["fitted"] == ["delay"]
    assert set(claim["lines"][0]["estimate"]) == {"mean", "low", "high", "count"}


def test_leading_number__is_the_place_on_an_axis() -> None:
    assert [paper.parse_leading_number(text) for text in ("10mbit", "0.95", "95 %")] == [10.0, 0.95, 95.0]
    with pytest.raises(MouseholeError, match='"low" does not begin with a number'):
        paper.parse_leading_number("low")


def test_curve__published_points_may_stand_by_label_of_the_axis(folder: Path, modules: ModuleType) -> None:
    made = evaluator(folder, modules)
    (figure,) = made.definition.figures
    (panel,) = figure.panels
    assert paper.make_curve(made, figure, panel, "large")[3] == [(1.0, 0.5)]
    by_label = replace(panel, published="table_1.{rate}.used")
    assert paper.make_curve(made, figure, by_label, "large")[3] == [(1.0, 0.5), (2.0, 0.2), (2.0, 0.3)]
    assert paper.make_curve(made, figure, replace(panel, published=""), "large")[3] == []


def test_known_places__leave_out_quantiles_that_some_replications_lack() -> None:
    estimates = [t_interval(values) for values in ([1.0, 2.0], [3.0, inf], [nan, nan])]
    assert paper.select_known(estimates, everywhere=True) == [0]
    assert paper.select_known(estimates, everywhere=False) == [0, 1]


def test_draw__refuses_to_lose_a_curve(tmp_path: Path) -> None:
    panel = Panel(value="used", xlabel="x", ylabel="y")
    item = FigureItem(number="1", title="t", grid="g", curves="c", names=("a", "b"), panels=(panel,))
    curve = Curve("a", [1.0, 2.0], [Estimate(1.0, 0.5, 1.5, 5)] * 2)
    with pytest.raises(MouseholeError, match="figure 1, y: no curve for b"):
        draw(item, [(panel, [curve])], tmp_path / "x.png")
    draw(item, [(panel, [curve, replace(curve, name="b")])], tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 5000


def test_page__is_self_contained_and_escapes(own_paper: Callable[[], paper.Paper], folder: Path) -> None:
    own = own_paper()
    path = command.write_html([own], folder / "report", Options(cache=folder / "cache"))
    text = path.read_text()
    assert "A &amp; B" in text
    assert 'href="#x-X1"' in text
    assert 'id="x-X1"' in text
    assert "<svg" in text
    assert "http://www.w3.org" in text  # the name spaces of SVG are no addresses that are fetched
    assert not [tag for tag in ("<script src", "<img", "@import", 'src="', "url(http") if tag in text]
    assert "var(--chart-" in text
    assert list((folder / "report").iterdir()) == [path]


# --- text ------------------------------------------------------------------------------------------


def test_text__units_signs_and_intervals() -> None:
    assert format_quantity(-0.123, "%", 0) == "−12 %"
    assert format_quantity(nan, "s", 1) == "–"
    assert format_quantity(12345.6, "", 0) == "12,346"
    assert format_published((0.25, 0.3), "%", 0) == "25 to 30 %"
    assert format_published(None, "%", 0) == ""
    assert format_estimate(Estimate(0.29, 0.21, 0.36, 5), "%", 0) == "29 % (21…36)"
    assert format_estimate(Estimate(0.29, nan, nan, 2), "%", 0) == "29 %"
    assert count_words([Word.AGREES, Word.DIFFERS, Word.AGREES, None]) == "agrees 2, differs 1, no word 1"


# --- the papers themselves -------------------------------------------------------------------------

IDS = {
    "sfd": [f"S{n}" for n in range(1, 26)],
    "shred": [f"H{n}" for n in range(1, 19)],
    "lfp": [f"L{n}" for n in range(1, 11)],
    "tcp-ds": [f"N{n}" for n in range(1, 16)],
    "rio-ps": [f"M-{n}" for n in range(1, 16)],
    "run2c": [f"C{n}" for n in range(1, 5)],
    "tlps": [f"T{n}" for n in range(1, 6)],
}


def list_definitions() -> list[tuple[str, Definition]]:
    """Returns name and definition of each real paper."""
    return [(name, paper.find_paper(name).definition) for name in IDS]


@pytest.mark.parametrize("name", IDS)
def test_paper__has_every_claim(name: str) -> None:
    own = paper.find_paper(name).definition.claims
    assert set(IDS[name]) == {claim.id for claim in own if claim.basis != "left"}


@pytest.mark.parametrize("name", IDS)
def test_paper__every_value_measure_and_builder_is_defined(name: str) -> None:
    own = paper.find_paper(name)
    made = own.evaluator(Options())
    for grid in own.definition.grids.values():
        assert callable(getattr(made.runs._measures, grid.measure))
        assert not grid.build or callable(getattr(made.runs._measures, grid.build))
    for claim in own.definition.claims:
        assert claim.kind == "lost" or claim.grid or callable(getattr(made.quantities, claim.value)), claim.id
        assert claim.kind != "lost" or claim.note, f"{claim.id}: say what is lost"


@pytest.mark.parametrize("name", IDS)
def test_paper__every_published_number_is_read(name: str) -> None:
    own = paper.find_paper(name)
    made = own.evaluator(Options())
    for claim in own.definition.claims:
        if isinstance(claim.published, str):
            for labels in made.definition.list_combinations(claim):
                assert made.published.find(claim.published, {**claim.of, **labels}) is not None, claim.id
    for table in own.definition.tables:
        for column in table.columns:
            if column.published:
                keys = [
                    made.published.find(column.published, labels)
                    for labels in evaluate.list_row_labels(table)
                ]
                assert any(key is not None for key in keys), (table.number, column.title)
    for figure in own.definition.figures:
        for panel in figure.panels:
            if panel.published:
                points = [
                    paper.list_published_points(
                        made, panel, curve, made.list_point_labels(figure, panel, curve)
                    )
                    for curve in figure.names
                ]
                assert any(points), figure.number
    assert made.published.list_unread() == []


@pytest.mark.parametrize("name", IDS)
def test_paper__figures_can_tell_their_curves_apart(name: str) -> None:
    for figure in paper.find_paper(name).definition.figures:
        assert len(figure.names) <= 8, "the eighth colour is the last"
        assert len(set(figure.names)) == len(figure.names)


def list_differing(text: str, names: int, word: int) -> set[str]:
    """Returns column `names` of those table rows of a page whose column `word` is "differs"."""
    found = set()
    for line in text.splitlines():
        cells = [one.strip().replace(r"\|", "|") for one in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 5 and cells[word].startswith("**differs**"):
            found.add(cells[names])
    return found


def list_documented_differences() -> list[str]:
    """Returns the items that docs/validation.md lists as differing, each in one line."""
    items = (ROOT / "docs" / "validation.md").read_text().split("\n- ")
    return [" ".join(item.split())[len(DIFFERS) :] for item in items if item.startswith(DIFFERS)]


def is_about(text: str, claim: Claim) -> bool:
    """Returns whether an item is about a claim."""
    return text.startswith(f"{claim.name}: {' '.join(claim.says.split())}. ")


def test_claims__those_that_differ_have_a_cause() -> None:
    """The pages of validation and of full length say which do."""
    claims = [claim for _, definition in list_definitions() for claim in definition.claims]
    quick = list_documented_differences()
    full = list_differing((ROOT / "docs" / "full-length.md").read_text(), 0, 3)
    known = [one for one in claims if one.name in full or any(is_about(text, one) for text in quick)]
    assert {"S14", "S22"} <= {one.id for one in known}, "one of each page"
    assert [one.name for one in known if not one.cause] == []


def test_claims__of_validation_that_differ_are_known() -> None:
    """Else the test above would pass over a claim that was renamed after the page was made."""
    claims = [claim for _, definition in list_definitions() for claim in definition.claims]
    ids = {claim.id for claim in claims}
    of_papers = [text for text in list_documented_differences() if text.partition(" ")[0].rstrip(":") in ids]
    assert of_papers
    assert [text for text in of_papers if not any(is_about(text, claim) for claim in claims)] == []


def test_opens__have_a_reason_and_are_tried_on_claims() -> None:
    for name, definition in list_definitions():
        for one in definition.opens:
            assert one.why, (name, one.name)
            assert one.fitted or one.claims or not one.tried, f"{name}: {one.name} is tried on no claim"


def test_html__words_have_a_sign_beside_their_colour() -> None:
    for word in Word:
        assert report._choose_sign(word) in {"✓", "~", "✗", "–"}


def test_page__fits_every_width_and_asks_for_nothing(
    own_paper: Callable[[], paper.Paper], folder: Path, tmp_path: Path
) -> None:
    page = command.write_html([own_paper()], folder / "report", Options(cache=folder / "cache"))
    broken = tmp_path / "broken.html"
    broken.write_text(
        "<div style='width:3000px'>x</div><img src='file:///none.png'><script>nothing()</script>"
    )
    with open_browser() as window:
        for width in WIDTHS:
            for dark in (False, True):
                shown = window.show(page, width, dark)
                assert (shown.scroll_width, shown.console, shown.requests) == (width, [], []), (width, dark)
                colours = window.run(
                    "let s = getComputedStyle(document.body); return [s.color, s.backgroundColor,"
                    " getComputedStyle(document.querySelector('figure svg text')).fill]"
                )
                assert isinstance(colours, list)
                assert colours[0] == colours[2], "text in figures has the colour of the text around it"
                assert (colours[1] == "rgb(255, 255, 255)") == (not dark)
        wrong = window.show(broken, 390)
        assert wrong.scroll_width > 390
        assert wrong.console
        assert wrong.requests == ["file:///none.png"]


def test_judged__without_its_data_is_not_run(
    folder: Path, modules: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: Any) -> float:
        raise NotAvailableError("log.gz: No such file")

    monkeypatch.setattr(modules, "used_twice", missing)
    made = evaluator(folder, modules)
    found = made.judge(replace(made.definition.claims[0], value="used_twice"))
    assert found.word == Word.NOT_RUN
    assert [check.label for check in found.checks] == ["log.gz: No such file"]


NOWHERE = "/nowhere/x.log: No such file or directory; MOUSEHOLE_DATA names the folder of real traces"


def test_table__without_its_data_is_not_run_and_the_page_is_written(
    own_paper: Callable[[], paper.Paper], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One column of the table and the figure need a trace that a function reads."""

    def missing(_: Any) -> float:
        raise NotAvailableError(NOWHERE)

    column = '[[table.columns]]\ntitle = "used"\nvalue = "used"'
    other = '[[table.columns]]\ntitle = "of a log"\nvalue = "missing"\nof = { buffer = "large" }\n'
    text = FILE.replace(column, other + column).replace(
        'panel]]\nvalue = "used"', 'panel]]\nvalue = "missing"'
    )
    (folder / "paper.toml").write_text(text)
    own = own_paper()
    vars(own.modules()[1])["missing"] = missing
    table = reproduce(own, folder, table="1")[1]
    assert isinstance(table, parts.Table)
    assert [row[1] for row in table.rows] == ["not run", "not run"]
    assert all("%" in row[3] for row in table.rows), "the other column is there"
    assert table.note == f"not run: {NOWHERE}"
    assert command.run("x", figure="3") == 0
    assert f"figure 3: not run: {NOWHERE}" in capsys.readouterr().out.replace("\n", " ")
    page = command.write_html([own], folder / "report", Options(cache=folder / "cache")).read_text()
    assert page.count(NOWHERE) == 2


def test_table__without_its_traffic_is_not_run(own_paper: Callable[[], paper.Paper], folder: Path) -> None:
    """A cell replays a file that is not there; the others are run."""
    text = FILE.replace("large = { link", 'large = { traffic = { files = ["/nowhere/x.log"] }, link')
    (folder / "paper.toml").write_text(text)
    own = own_paper()
    heading, table, claim = reproduce(own, folder, table="1")
    assert isinstance(heading, parts.Heading)
    assert isinstance(table, parts.Table)
    assert [row[2] for row in table.rows] == ["not run", "not run"]
    assert table.note == f"not run: {NOWHERE}"
    assert isinstance(claim, parts.ClaimPart)
    assert claim.word == Word.NOT_RUN
    assert isinstance(reproduce(own, folder, claim="X2")[1], parts.ClaimPart)
    runs = own.evaluator(Options()).runs
    request = runs.request("all", {"rate": "1mbit", "buffer": "large"})
    for _ in range(2):
        with pytest.raises(NotAvailableError, match="MOUSEHOLE_DATA"):
            runs.run([request])


def test_log_table__takes_the_users_log(own_paper: Callable[[], paper.Paper], folder: Path) -> None:
    with pytest.raises(MouseholeError, match="--log: the paper x estimates nothing from a log; give sfd"):
        reproduce(own_paper(), folder, log=Path("access.log"))
    table = FILE[FILE.index("[[table]]") : FILE.index("[[figure]]")]
    own = table.replace("number = 1", 'number = "log"').replace(
        'value = "used"', 'value = "named"\nargs = { log = "" }'
    )
    (folder / "paper.toml").write_text(FILE.replace(table, table + own))
    made = own_paper()
    module = made.modules()[1]
    vars(module)["named"] = lambda _, log: float(len(log))
    with pytest.raises(MouseholeError, match=r"log: .*access.log: No such file"):
        reproduce(made, folder, log=folder / "access.log")
    (folder / "access.log").touch()
    part = reproduce(made, folder, log=folder / "access.log")[1]
    assert isinstance(part, parts.Table)
    assert part.title == "Table log: what is used: access.log"
    assert part.rows[0][2] == f"{100 * len(str(folder / 'access.log')):,} %"
