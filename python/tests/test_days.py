import json
import subprocess
from dataclasses import replace
from math import exp, expm1, log1p, nan, sqrt
from pathlib import Path
from typing import Any

import mousehole
import numpy as np
import pytest
from mousehole.answer import findings
from mousehole.days import Day, DaysComparison, _report, find_over_days
from mousehole.days import _days as days
from mousehole.document import make_report_console, print_document
from mousehole.runs import Capture, Counted
from mousehole.statistics import Design, heterogeneity, t_interval
from support import MODULE, HandMadeRun, make_results_of_schemes

QUICK: dict[str, Any] = {
    "rate": "5mbit", "load": 0.8, "duration": "5s", "warmup": "2s", "schemes": "sfd,fq-codel", "seeds": 5
}  # fmt: skip
ARGUMENTS = [part for name, value in QUICK.items() for part in (f"--{name}", str(value))]


def write_day(folder: Path, number: int) -> Path:
    """Writes a made-up capture of 200 connections, drawn with `number`; returns its path."""
    draws = np.random.default_rng(number)
    start = np.sort(draws.uniform(0, 60, 200))
    size = np.where(draws.random(200) < 0.1, 400_000, draws.lognormal(8.5, 1, 200)).astype(int)
    rows = [f"{at:.3f},10.0.0.{place % 40},192.0.2.1,{bytes_}\n" for place, (at, bytes_) in enumerate(zip(start, size, strict=True))]  # fmt: skip  # noqa: E501
    path = folder / f"day{number}.csv"
    path.write_text("start,client,server,bytes\n" + "".join(rows))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Captures of five days."""
    folder = tmp_path_factory.mktemp("days")
    return [write_day(folder, number) for number in range(5)]


@pytest.fixture(scope="module")
def found(files: list[Path]) -> DaysComparison:
    """A quick comparison over the five days."""
    return mousehole.compare_days(files, **QUICK)


def make_days(ratios: list[float], unfinished: int = -1) -> list[Day]:
    """Returns days on which `sfd` changes the mean of short transfers by these ratios, with some spread."""
    made = []
    for number, ratio in enumerate(ratios):
        runs: dict[str, list[HandMadeRun]] = {"droptail": [], "sfd": []}
        for replication in range(6):
            wobble = 1 + 0.02 * ((replication * 7 + number * 3) % 5 - 2)
            ends = {"droptail": 2.0, "sfd": 2.0 * ratio * wobble}
            for name, end in ends.items():
                short = [end] * 20
                if number == unfinished and name == "sfd":
                    short[0] = nan
                runs[name].append(HandMadeRun([1000] * 20 + [200_000], [*short, 5.0 * wobble], stop_s=6.0))
        made.append(Day(f"day{number}", make_results_of_schemes(runs)))
    return made


def find_primary(own: list[Day]) -> days.DaysFinding:
    """Returns the only finding over days that is not exploratory."""
    (one,) = [item for item in find_over_days(own, own[0].results.plan.cells[0]) if not item.exploratory]
    return one


# --- statistics ------------------------------------------------------------------------------------


def test_heterogeneity__as_computed_by_hand() -> None:
    effects, errors = [0.1, 0.3, 0.5], [0.1, 0.1, 0.2]
    one = heterogeneity(effects, errors)
    assert one is not None
    common = (0.1 * 100 + 0.3 * 100 + 0.5 * 25) / 225
    q = 100 * (0.1 - common) ** 2 + 100 * (0.3 - common) ** 2 + 25 * (0.5 - common) ** 2
    assert one.q == pytest.approx(q)
    assert one.freedom == 2
    assert one.p_value == pytest.approx(exp(-q / 2))  # the distribution with two degrees of freedom
    assert one.i_squared == pytest.approx((q - 2) / q)
    scale = 225 - (100**2 + 100**2 + 25**2) / 225
    assert one.deviation == pytest.approx(sqrt((q - 2) / scale))


def test_heterogeneity__of_equal_effects_is_none_and_of_one_is_unknown() -> None:
    same = heterogeneity([0.2, 0.2, 0.2], [0.1, 0.2, 0.3])
    assert same is not None
    assert (same.q, same.i_squared, same.deviation, same.p_value) == pytest.approx((0, 0, 0, 1))
    assert heterogeneity([0.1], [0.1]) is None
    assert heterogeneity([0.1, 0.2, nan], [0.1, nan, 0.1]) is None
    assert heterogeneity([0.1, 0.2], [0.1, 0.0]) is None


def test_heterogeneity__finds_the_deviation_that_is_there_and_calls_chance_chance() -> None:
    draws = np.random.default_rng(1)
    false, deviations = 0, []
    for _ in range(400):
        errors = draws.uniform(0.05, 0.2, 10)
        alike = heterogeneity(draws.normal(0.3, errors), errors)
        apart = heterogeneity(draws.normal(draws.normal(0.3, 0.3, 10), errors), errors)
        assert alike is not None
        assert apart is not None
        false += alike.p_value < 0.05
        deviations.append(apart.deviation**2)
    assert 0.02 < false / 400 < 0.09
    assert sqrt(float(np.mean(deviations))) == pytest.approx(0.3, rel=0.1)


def test_interval_of_another_day__holds_it_in_95_of_100() -> None:
    draws = np.random.default_rng(2)
    held = 0
    for _ in range(2000):
        *seen, another = draws.normal(0.2, 0.5, 8)
        one = t_interval(seen, days.ANOTHER_DAY)
        held += one.low <= another <= one.high
    assert 0.935 < held / 2000 < 0.965


def test_standard_error__is_that_of_the_interval() -> None:
    values = np.random.default_rng(3).normal(1, 0.2, 12)
    for design in (Design(), Design(5, True), Design(capture_share=0.3, capture_freedom=4)):
        error = design.standard_error(t_interval(values, design))
        assert error == pytest.approx(np.std(values, ddof=1) * sqrt(design.capture_share + 1 / 12))
    assert np.isnan(Design().standard_error(t_interval(values[:3])))


def _as_sequential(day: days.Day) -> days.Day:
    """Returns the day with a sequential plan."""
    results = day.results
    return replace(day, results=replace(results, plan=replace(results.plan, is_sequential=True)))


@pytest.mark.parametrize("count", [5, 6, 10, 11, 20])
def test_error__days_spend_it_from_five_on(count: int) -> None:
    own = make_days([0.5, 0.6, 0.7, 0.8] * 5)[:count]
    assert find_primary(own).error == pytest.approx(0.05), "one look"
    one = find_primary([_as_sequential(day) for day in own])
    assert one.error == pytest.approx({5: 0.025, 6: 0.0125, 10: 0.0125}.get(count, 0.00625))


def test_looks_at_5_10_20_40_days__err_together_in_less_than_5_of_100() -> None:
    draws, design = np.random.default_rng(4), Design(is_sequential=True, first_look=days.LEAST_DAYS)
    false = 0
    for _ in range(2000):
        logs = draws.normal(0, 0.3, 40)
        looks = [t_interval(logs[:count], design) for count in (5, 10, 20, 40)]
        false += any(one.low > 0 or one.high < 0 for one in looks)
    assert 0.025 < false / 2000 < 0.05


# --- findings --------------------------------------------------------------------------------------


def test_findings__mean_over_days_is_geometric_and_each_day_counts_once() -> None:
    ratios = [0.5, 0.6, 0.7, 0.8, 0.9, 0.55]
    own = make_days(ratios)
    one = find_primary(own)
    cell = own[0].results.plan.cells[0]
    logs = [log1p(effect.change.mean) for effect in one.effects]
    assert logs == pytest.approx(np.log(ratios), abs=0.02)
    expected = t_interval(logs, Design(first_look=5)).as_change()
    assert one.change == expected
    assert (one.days, one.outcome) == (6, "better")
    assert "95 % interval over 6 days" in one.sentence
    assert ", over 6 days: better by" in one.sentence
    assert one.another_day.low < one.change.low < one.change.high < one.another_day.high
    alone = [item for item in findings.findings(own[2].results, cell) if not item.exploratory]
    assert one.effects[2].change == alone[0].change


def test_findings__days_that_differ_say_so() -> None:
    apart, alike = find_primary(make_days([0.4, 0.9, 0.5, 0.8, 0.6])), find_primary(make_days([0.7] * 5))
    assert apart.heterogeneity is not None
    assert alike.heterogeneity is not None
    assert apart.heterogeneity.i_squared > 0.9 > 0.5 > alike.heterogeneity.i_squared
    assert apart.heterogeneity.p_value < 0.001
    assert "is real" in days.describe_heterogeneity(apart)
    assert "no more than their own intervals explain" in days.describe_heterogeneity(alike)


def test_findings__between_days_counts_although_each_day_is_certain() -> None:
    one = find_primary(make_days([0.5, 1.6, 0.7, 1.2, 0.8, 1.1]))
    assert {effect.outcome for effect in one.effects} >= {"better", "worse"}
    assert one.outcome == "undecided"
    assert "days may decide" in one.verdict


def test_findings__few_days_have_no_interval_and_say_how_few() -> None:
    one = find_primary(make_days([0.5, 0.6, 0.55]))
    assert not one.change.has_interval
    assert one.outcome == "undecided"
    assert "3 days of at least 5 for an interval over days; on single days −50 % (day0) to" in one.verdict
    lines, way = days.answer_over_days(make_days([0.5, 0.6]), make_days([0.5])[0].results.plan.cells[0])
    assert lines[0] == "No verdict: 2 days give no interval over days; at least 5 are needed."
    assert way is None


@pytest.mark.parametrize("count", [3, 6])
def test_answer__of_ideals_alone_says_so(count: int) -> None:
    both = {name: [HandMadeRun([1000] * 20, [2.0] * 20) for _ in range(6)] for name in ("droptail", "srpt")}
    own = [Day(f"day{number}", make_results_of_schemes(both)) for number in range(count)]
    lines, way = days.answer_over_days(own, own[0].results.plan.cells[0])
    assert lines[0].startswith("No verdict: only ideals are compared with droptail, which nobody can deploy;")
    assert way is None


def test_findings__a_day_of_lower_bounds_withdraws_the_verdict() -> None:
    one = find_primary(make_days([0.5] * 4 + [0.6], unfinished=2))
    assert one.outcome == "undecided"
    assert one.verdict == "undecided (on day2 more than 1 % of the transfers were left unfinished)"


def test_findings__a_day_without_the_endpoint_is_left_out_and_counted() -> None:
    own = make_days([0.5, 0.6, 0.5, 0.6, 0.5, 0.6])
    empty = make_results_of_schemes(
        {name: [HandMadeRun([200_000], [9.0]) for _ in range(6)] for name in ("droptail", "sfd")}
    )
    one = find_primary([*own[:5], replace(own[5], results=empty)])
    assert (one.days, len(one.known), len(one.effects)) == (5, 5, 6)
    assert "over 5 days" in one.sentence


def with_transfers(day: Day, transfers: int) -> Day:
    """Returns the day with a capture of this many distinct short transfers, and enough long ones."""
    counted = {"short": Counted(transfers, 9), "long": Counted(500, 9), "all": Counted(transfers, 9)}
    capture = Capture(10.0, counted, 50.0, 50, 1e5)  # type: ignore[arg-type]
    return replace(day, results=replace(day.results, capture=capture))


def test_findings__a_day_below_the_floor_is_left_out_and_said_so(capsys: pytest.CaptureFixture[str]) -> None:
    own = make_days([0.5, 0.6, 0.5, 0.6, 0.5, 60.0], unfinished=5)
    few = [*(with_transfers(day, 100) for day in own[:5]), with_transfers(own[5], 99)]
    one = find_primary(few)
    assert (one.days, one.left_out, one.outcome) == (5, 1, "better")
    assert ", over 5 days (1 left out): better by" in one.sentence
    assert one.change == find_primary(own[:5]).change
    assert one.effects[5].left_out == "the capture has 99 distinct transfers ≤ 15 kB, of at least 100"
    cell = own[0].results.plan.cells[0]
    lines, _ = days.answer_over_days(few, cell)
    assert lines[0].startswith("Best for transfers ≤ 15 kB over 5 days (1 left out): sfd, better by")
    why = f"day5: Left out for these transfers: {one.effects[5].left_out}."
    assert why in days.list_day_notes(few, cell)
    print_document(make_report_console(), _report.make_document(few))
    (line,) = [
        line for line in capsys.readouterr().out.splitlines() if line.split() == ["day5", "too", "few"]
    ]
    assert line


@pytest.mark.parametrize("enough", [0, 4])
def test_findings__no_verdict_where_the_floor_leaves_too_few_days(enough: int) -> None:
    own = [
        with_transfers(day, 100 if number < enough else 3)
        for number, day in enumerate(make_days([0.5] * 6))
    ]  # fmt: skip
    one = find_primary(own)
    assert (one.days, one.left_out, one.outcome) == (enough, 6 - enough, "undecided")
    assert not one.change.has_interval
    assert one.verdict.startswith(
        f"not judged ({enough} days of at least 5 for an interval over days; {6 - enough} left out with "
        "too few distinct transfers"
    )
    lines, way = days.answer_over_days(own, own[0].results.plan.cells[0])
    assert lines[0] == (
        f"No verdict: {6 - enough} of 6 days are left out, as their captures have too few distinct "
        "transfers ≤ 15 kB; at least 5 others are needed."
    )
    assert way is None


def test_report__caps_the_intervals_of_single_days(capsys: pytest.CaptureFixture[str]) -> None:
    own = make_days([0.5, 0.6, 0.5, 0.6, 20.0])
    print_document(make_report_console(), _report.make_document(own))
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.strip().startswith("day4")][:1]
    assert line.split() == ["day4", ">+999", "%", "(>+999…>+999)"]


# --- the whole way ---------------------------------------------------------------------------------


def test_compare_days__each_day_is_what_compare_says_of_it(files: list[Path], found: DaysComparison) -> None:
    alone = mousehole.compare(files[2], **{**QUICK, "seed": 3})
    assert found.comparison("day2.csv").to_json() == alone.to_json()
    with pytest.raises(mousehole.MouseholeError, match=r"one of day0\.csv"):
        found.comparison("day9.csv")


def test_compare_days__frames_sentences_and_json(found: DaysComparison) -> None:
    of_means = found.findings.filter(found.findings["endpoint"] == "short_response_mean_s")
    assert of_means["days"].to_list() == [5] * 3
    assert found.effects.height == 5 * found.findings.height
    assert found.effects["day"].unique(maintain_order=True).to_list() == [f"day{n}.csv" for n in range(5)]
    assert "over 5 days" in repr(found)
    assert found.answer()
    document = json.loads(found.to_json())
    assert document["schema"] == "mousehole.days/2"
    assert [day["comparison"]["manifest"]["seed"] for day in document["days"]] == [1, 2, 3, 4, 5]
    (cell,) = document["cells"]
    first = cell["findings"][0]
    assert [effect["day"] for effect in first["effects"]] == [f"day{n}.csv" for n in range(5)]
    logs = [log1p(effect["change"]) for effect in first["effects"]]
    assert first["change"] == pytest.approx(expm1(np.mean(logs)))


def test_report__says_over_what_the_intervals_are(
    found: DaysComparison, capsys: pytest.CaptureFixture[str]
) -> None:
    print_document(make_report_console(), _report.make_document(found.days), details=True)
    text = capsys.readouterr().out
    assert "The unit is the day." in text
    assert "another day" in text
    assert text.count("day4.csv") >= 3


def test_markdown__has_the_answer_every_section_and_the_numbers_of_charts(found: DaysComparison) -> None:
    text = found.markdown(["mousehole", "compare", "--days"])
    made = _report.make_document(found.days)
    headings = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["The answer", *(section.title for section in made.sections)]
    assert found.answer()[0].replace("(", r"(").split(":")[0] in text
    assert "mousehole compare --days" in text
    assert "|---|---:|" in text
    assert text.count("**Change of the mean response time") >= 4


def run_compare(*arguments: object, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Runs `mousehole compare` in a folder."""
    command = [*MODULE, "compare", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)


def find_refusal(*arguments: object, folder: Path) -> str:
    """Returns the error of `compare --days`; asserts status 2, one line, and that nothing was written."""
    before = sorted(folder.iterdir())
    done = run_compare(*arguments, "--days", *ARGUMENTS, folder=folder)
    assert done.returncode == 2, done.stderr
    assert sorted(folder.iterdir()) == before
    assert done.stdout == ""
    *_, line = done.stderr.splitlines()
    assert line.startswith("mousehole: error: ")
    return line.removeprefix("mousehole: error: ")


def test_command__writes_report_page_and_json(tmp_path: Path) -> None:
    names = [write_day(tmp_path, number).name for number in range(2)]
    done = run_compare(*names, "--days", *ARGUMENTS, "--json", "d.json", "--html", "d.html", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 days over 5mbit" in done.stdout
    assert "at least 5 are needed" in done.stdout
    page = (tmp_path / "d.html").read_text()
    assert "compare day0.csv day1.csv --days" in page
    assert json.loads((tmp_path / "d.json").read_text())["schema"] == "mousehole.days/2"


def test_command__refuses_what_is_no_set_of_days(tmp_path: Path) -> None:
    one, two = (write_day(tmp_path, number).name for number in range(2))
    (tmp_path / "copy.csv").write_text((tmp_path / one).read_text())
    (tmp_path / "link.csv").symlink_to(one)
    (tmp_path / "empty.csv").write_text("start,client,server,bytes\n")
    assert find_refusal(one, folder=tmp_path).startswith(
        '--days: "day0.csv" is a single day; it must be two files'
    )
    assert find_refusal(one, "web:sfd", folder=tmp_path).startswith('--days: "web:sfd" is no capture')
    assert "day0.csv" in find_refusal(one, two, one, folder=tmp_path)
    assert "which is the same file" in find_refusal(one, two, "link.csv", folder=tmp_path)
    assert "which has the same content" in find_refusal(one, two, "copy.csv", folder=tmp_path)
    assert find_refusal(one, two, "empty.csv", folder=tmp_path) == "empty.csv: nothing usable: 0 rows"
    assert find_refusal(one, "none.csv", folder=tmp_path).startswith("none.csv: ")
    assert "--plot: not together with --days" in find_refusal(one, two, "--plot", "x.svg", folder=tmp_path)
    assert "cannot write" in find_refusal(one, two, "--html", "none/x.html", folder=tmp_path)
    assert "ends in .html" in find_refusal(one, two, "--html", "x.txt", folder=tmp_path)
