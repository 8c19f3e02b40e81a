"""Lines of other rates and numbers of downloads through a kernel's queues: what is played, and the table."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from typing import Any

import pytest

from validation import kernels, kernels_lines, live
from validation.kernels_image import Kernel
from validation.kernels_lines import CLASSES, FIFO, LINES, QUEUES, Run, Times
from validation.lab import live as live_lab
from validation.lab.scheme_run import Task
from validation.live import RATE_BPS

SLOW, FAST, FEW = "2 Mb/s, 6 downloads", "50 Mb/s, 6 downloads", "10 Mb/s, 2 downloads"


def compute_offered_bps(task: dict[str, Any]) -> float:
    """Returns the rate that the fetches of a guest's first run offer."""
    given = task["runs"][0]["task"]
    return float(8 * sum(given["sizes"]) / given["window_s"])


def test_tasks__offer_the_same_share_of_each_line() -> None:
    made = kernels_lines.make_tasks(list(LINES), [1], 60)
    assert len(made) == len(LINES) * len(QUEUES)
    assert all(len(task["runs"]) == 1 for task in made)
    tasks = {task["line"]: task for task in made}
    shares = [compute_offered_bps(task) / LINES[name].rate_bps for name, task in tasks.items()]
    assert shares == pytest.approx([0.26] * len(LINES), rel=0.1)
    assert [task["runs"][0]["task"]["bulk"] for task in tasks.values()] == [6, 6, 2, 7, 30]
    assert all(not one["streams"] for task in tasks.values() for one in task["runs"])


def test_tasks__set_the_kernels_queues_to_the_line() -> None:
    tasks = kernels_lines.make_tasks([SLOW], [1], 10)
    commands = {one["name"]: one["task"]["commands"] for task in tasks for one in task["runs"]}
    assert list(commands) == list(QUEUES)
    assert commands["CAKE"] == ("tc qdisc add dev r1 root cake bandwidth 2000000bit diffserv3 raw",)
    assert "htb rate 2000000bit" in commands[FIFO][1]
    assert commands[FIFO][2].endswith("pfifo limit 100")
    assert commands["FQ-CoDel"][2].endswith(" fq_codel")


def list_figures(run: Run) -> dict[str, float]:
    """Returns the simulated figures of a run by name."""
    return kernels_lines.find_values(run.simulated)


def make_run(line: str, queue: str, simulated_s: float, measured_s: float, seed: int = 1) -> Run:
    """Returns a run whose fetches, one of each class, took these times."""
    sizes = (2_000, 3_001, 15_001)
    simulated: Times = [(size, simulated_s) for size in sizes]
    measured: Times = [*((size, measured_s) for size in sizes), (1_000, None)]
    return Run("6.12.1", line, queue, seed, 10.0, simulated, measured, (7.0, 7.1), 0.3, spread=0.04)


def test_compare__holds_fifo_by_size_and_the_others_by_mean_and_median() -> None:
    runs = [
        make_run(FEW, FIFO, 0.104, 0.1),
        make_run(FEW, "CAKE", 0.1019, 0.1),
        make_run(SLOW, "CAKE", 0.1021, 0.1),
    ]
    verdicts = {(row.line, row.queue, row.figure): row.verdict for row in kernels_lines.compare(runs)}
    assert verdicts == {
        **{(FEW, FIFO, figure): "shown only" for figure in ("mean", "p50")},
        **{(FEW, FIFO, figure): "within" for figure in CLASSES},
        **{(FEW, "CAKE", figure): "within" for figure in ("mean", "p50")},
        **{(SLOW, "CAKE", figure): "beyond" for figure in ("mean", "p50")},
    }


def test_values__of_sizes_that_no_fetch_has() -> None:
    found = kernels_lines.find_values([(1_000, 0.1), (3_000, 0.3), (15_000, 0.5), (100, None)])
    assert found["mean ≤ 3 kB"] == pytest.approx(200)
    assert found["mean ≤ 15 kB"] == pytest.approx(500)
    assert isnan(found["mean above"])


def test_text__says_what_was_played_and_how_many_aims_are_met() -> None:
    text = kernels_lines.write_text([make_run(FEW, FIFO, 0.104, 0.1), make_run(SLOW, "CAKE", 0.3, 0.1)])
    assert "1 of 10 s with 2 Mb/s, 6 downloads; 1 of 10 s with 10 Mb/s, 2 downloads" in " ".join(text.split())
    assert f"| {FEW} | FIFO | mean ≤ 3 kB | 104 | 100 | +4.0 % | within |" in text
    assert f"| {SLOW} | CAKE | mean | 300 | 100 | +200.0 % | beyond |" in text
    assert "3 of 5 figures are within their aim" in text
    assert "2 fetches in the kernel did not end in time" in " ".join(text.split())
    assert f"| {FEW} | FIFO | 7.00 | 7.10 |" in text


def test_report_lines__fails_beyond_the_bound_of_all_lists(capsys: pytest.CaptureFixture[str]) -> None:
    options = kernels.parse_arguments(["--lines"])
    assert kernels.report_lines([make_run(FEW, "CAKE", 0.105, 0.1)], options) == 0
    assert kernels.report_lines([make_run(FEW, "CAKE", 0.112, 0.1)], options) == 1
    assert kernels.report_lines([make_run(FEW, FIFO, 0.112, 0.1)], options) == 1
    capsys.readouterr()


def test_pair_runs__simulates_the_list_that_was_played_and_plays_it_again(tmp_path: Path) -> None:
    (task, *_) = kernels_lines.make_tasks([SLOW], [1], 5)
    sizes = task["runs"][0]["task"]["sizes"]
    said: list[dict[str, Any]] = [
        {"kernel": "6.12.1"},
        {"run": "CAKE", "seed": 1, "seconds": [0.2] * len(sizes), "bulk_bps": 1.4e6, "busy": 0.1},
    ]
    (one,) = kernels_lines.pair_runs("6.12.1", SLOW, said, 5)
    assert sorted(size for size, _ in one.simulated) == sorted(kernels_lines.REPLICATIONS * sizes)
    assert [size for size, _ in one.measured] == sizes
    assert 80 < list_figures(one)["p50"] < 2_000
    file = tmp_path / "runs"
    file.write_text(kernels_lines.to_json(one) + "\n", encoding="utf-8")
    (again,) = kernels_lines.simulate_again(file)
    assert (list_figures(again), again.bulk_mbps, again.window_s) == (list_figures(one), one.bulk_mbps, 20)


def test_pair_runs__one_that_failed_ends_with_its_reason() -> None:
    said: list[dict[str, Any]] = [{"run": "CAKE", "seed": 2, "error": "no such qdisc"}]
    with pytest.raises(RuntimeError, match=r"50 Mb/s, 6 downloads, CAKE, list 2: no such qdisc"):
        kernels_lines.pair_runs("6.12.1", FAST, said, 5)


def test_parse__lines_have_a_kernel_and_a_length_of_their_own() -> None:
    options = kernels.parse_arguments(["--lines", "--write"])
    assert (options.lines, options.kernels, options.seconds) == (list(LINES), ["6.12"], 10)
    assert kernels.parse_arguments(["--lines", f"{SLOW};{FAST}"]).lines == [SLOW, FAST]
    assert kernels.parse_arguments([]).seconds == 15


def test_lines__have_a_length_for_each_rate() -> None:
    assert {line.rate_bps for line in LINES.values()} == set(kernels_lines.STRETCH)
    assert kernels_lines.STRETCH[RATE_BPS] == 1


def test_play_lines__gives_guests_all_lists_and_keeps_what_they_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, played = Kernel("6.12", "6.12.1", Path("vmlinuz"), Path("modules")), []

    def play_all(_: object, todo: Any) -> Any:
        for one, task in todo([kernel]):
            (given,) = task["runs"]
            played.append((task["line"], given["name"], given["seed"]))
            seconds = [0.1] * len(given["task"]["sizes"])
            yield (
                one,
                task,
                [
                    {
                        "run": given["name"],
                        "seed": given["seed"],
                        "seconds": seconds,
                        "bulk_bps": 1e6,
                        "busy": 0.1,
                    }
                ],
            )

    monkeypatch.setattr(kernels, "play_all", play_all)
    file = tmp_path / "runs"
    assert kernels.main(["--lines", SLOW, "--lists", "2", "--seconds", "5", "--json", str(file)]) == 1
    assert played == [(SLOW, queue, seed) for seed in (1, 2) for queue in QUEUES]
    assert len(file.read_text().splitlines()) == len(played)
    assert kernels.main(["--lines", SLOW, "--again", str(file)]) == 1
    assert capsys.readouterr().out.count(f"| {SLOW} | CAKE | p50 |") == 2


def test_play_lines__here_plays_fifo_by_this_kernel_and_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = []

    def play(task: Task) -> dict[str, Any]:
        commands.append(task.commands)
        return {
            "kernel": "6.18.1",
            "seconds": [0.3] * len(task.sizes),
            "bulk_bps": 7e6,
            "load": 0.5,
            "acks": 0.9,
        }

    monkeypatch.setattr(live, "play_in_kernel", play)
    monkeypatch.setattr(live_lab, "find_obstacle", lambda **_: None)
    file = tmp_path / "runs"
    given = ["--lines", FEW, "--here", "--lists", "2", "--seconds", "5"]
    assert kernels.main([*given, "--json", str(file)]) == 1
    assert commands == [QUEUES[FIFO].commands(LINES[FEW])] * 2
    assert kernels.main([*given, "--again", str(file)]) == 1
    first, again = capsys.readouterr().out.split("\nLinux 6.18.1")[1:]
    assert first.strip() == again.strip()
    assert "Its load average was 0.5 to 0.5." in " ".join(first.split())
    assert "moves a list's simulated mean" in " ".join(first.split())


def test_parse__here_is_of_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        kernels.parse_arguments(["--here"])
    assert "--here and --acks are of --lines" in capsys.readouterr().err
