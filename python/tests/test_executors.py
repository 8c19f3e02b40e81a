"""Runs in other processes give the same bytes, whatever happens to these processes."""

import multiprocessing
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import crashing
import mousehole
import pytest
from mousehole.base import MouseholeError, Silent
from mousehole.base import _extras as extras
from mousehole.runs import Apart, Job, open_backend, yield_outcomes
from mousehole.runs import _executors as executors
from mousehole.runs import _worker as worker
from support import MODULE, SMALL

from tools.dask_cluster import Cluster

SCENARIO: dict[str, Any] = {
    "warmup": "0s", "duration": "5s", "link": {"rate": "3mbit"}, "traffic": {"model": "web:sfd", "load": 0.8},
    "scheme": "sfd",
}  # fmt: skip
pytestmark = pytest.mark.alone  # workers are killed and start again, in real time

ROWS = "start,client,server,bytes\n" + "".join(
    f"{n * 0.05:.3f},10.0.0.{n % 9},192.0.2.1,{1500 * (1 + n * n % 40)}\n" for n in range(400)
)


class RunHook(Silent):
    """A reporter that counts runs; `after_3=f` has it call `f` when the third is over."""

    def __init__(self, **actions: Any) -> None:
        self.actions = {int(number.removeprefix("after_")): action for number, action in actions.items()}
        self.count = 0

    def advance(self) -> None:
        """Counts a run, and calls the action for this count."""
        self.count += 1
        if self.count in self.actions:
            self.actions[self.count]()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler; tests add the workers."""
    made = Cluster(tmp_path_factory.mktemp("dask"), Path(__file__).parent)
    try:
        made.wait()
        yield made
    finally:
        made.stop()


def test_dask__one_worker_is_killed_and_one_joins_late(cluster: Cluster, tmp_path: Path) -> None:
    """On files of traffic and an own policy, so that both are sent; the document has the same bytes."""
    table = tmp_path / "mine.csv"
    table.write_text(ROWS)
    subprocess.run([*MODULE, "policy", "new", "own-marker"], cwd=tmp_path, check=True, capture_output=True)
    given = {
        **SMALL, "rate": "5mbit", "duration": "60s", "warmup": "10s", "seeds": 5,
        "policy": str(tmp_path / "own-marker.h"), "schemes": "droptail,sfd,own-marker|multi-red",
    }  # fmt: skip
    here = mousehole.compare([table], **given)  # type: ignore[arg-type]
    first, _ = cluster.add(), cluster.add()
    reporter = RunHook(after_3=first.kill, after_5=cluster.add)
    there = mousehole.compare([table], **given, dask=cluster.address, reporter=reporter)  # type: ignore[arg-type]
    assert reporter.count == 15
    assert there.to_json() == here.to_json()
    assert first.wait() < 0

    header = tmp_path / "own-marker.h"
    header.write_text(header.read_text() + "\n/* another one */\n")
    with pytest.raises(MouseholeError, match="has loaded another header as policy own-marker"):
        mousehole.compare([table], **given, dask=cluster.address)  # type: ignore[arg-type]


def test_sweep__the_same_files_from_workers_one_of_which_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    """Two of traffic's files, so that a worker gets both once, and goes on with either."""
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text(ROWS.replace("10.0.0.", "10.0.1.") if name == "two.csv" else ROWS)
    (tmp_path / "mine.toml").write_text(
        'schemes = ["droptail", "sfd"]\nseeds = 3\n[options]\nrate = "3mbit"\nduration = "20s"\n'
        'warmup = "2s"\n[axes]\ntraffic = ["one.csv", "two.csv"]\nload = [0.6, 0.9]\n'
    )
    here = mousehole.sweep(tmp_path / "mine.toml", tmp_path / "here")
    first = cluster.add()
    cluster.add()
    reporter = RunHook(after_5=first.kill)
    there = mousehole.sweep(
        tmp_path / "mine.toml", tmp_path / "there", dask=cluster.address, reporter=reporter
    )
    assert reporter.count == there.finished == here.finished == 24
    for file in (tmp_path / "here").rglob("*.*"):
        assert (tmp_path / "there" / file.relative_to(tmp_path / "here")).read_bytes() == file.read_bytes()


def test_dask__a_job_that_ends_its_workers_is_set_apart(cluster: Cluster) -> None:
    cluster.add(nanny=True)
    seeds = [1, 2, crashing.CULPRIT, 3, 4, 5]
    jobs = [(seed, Job({**SCENARIO, "seed": seed}, partial(crashing.reduce, seed=seed))) for seed in seeds]
    with open_backend(dask=cluster.address) as backend:
        assert backend is not None
        found = dict(yield_outcomes(backend, jobs))
    given_up = found.pop(crashing.CULPRIT)
    assert isinstance(given_up, Apart)
    assert given_up.reason.endswith("with no other run beside it")
    assert sorted(found) == [1, 2, 3, 4, 5]
    assert all(isinstance(count, int) and count > 0 for count in found.values())


def test_dask__jobs_beside_a_slow_culprit_are_not_blamed(cluster: Cluster) -> None:
    """Its task goes on elsewhere after it was taken back, and ends that worker as well."""
    cluster.add(nanny=True)
    cluster.add(nanny=True)
    seeds = [1, 2, 3, crashing.SLOW, 4, 5, 6, crashing.SLOW + 10_000]
    jobs = [
        (seed, Job({**SCENARIO, "seed": seed}, partial(crashing.reduce, seed=seed % 10_000)))
        for seed in seeds
    ]
    with open_backend(dask=cluster.address) as backend:
        assert backend is not None
        found = dict(yield_outcomes(backend, jobs))
    apart = sorted(seed for seed, outcome in found.items() if isinstance(outcome, Apart))
    assert apart == [crashing.SLOW, crashing.SLOW + 10_000]
    assert sorted(found) == sorted(seeds)


def test_dask__a_frozen_scheduler_is_named_and_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "SILENT_S", 1.0)
    heard: list[str] = []
    made = Cluster(tmp_path, Path(__file__).parent)
    try:
        made.wait()
        made.add()

        class Hearing(Silent):
            def say(self, text: str) -> None:
                heard.append(text)
                if "no answer of the scheduler" in text:
                    made.thaw()

        jobs = [make_short_job(seed) for seed in range(300)]
        with open_backend(dask=made.address, reporter=Hearing()) as backend:
            assert backend is not None
            found = []
            for key, _ in yield_outcomes(backend, jobs):
                found.append(key)
                if len(found) == 5:
                    made.freeze()
            assert sorted(found) == list(range(300))
        assert any("it may be frozen" in text for text in heard)
        monkeypatch.setattr(executors, "LOST_S", 2.0)
        begin = time.monotonic()
        with (
            pytest.raises(MouseholeError, match=r"the scheduler has not answered for \d+ s"),
            open_backend(dask=made.address) as backend,
        ):
            run_until_frozen(backend, jobs, made)
        assert time.monotonic() - begin < 40
    finally:
        made.thaw()
        made.stop()


def run_until_frozen(backend: Any, jobs: list[tuple[int, Job[Any]]], cluster: Cluster) -> None:
    """Runs jobs, and freezes the scheduler after the sixth outcome."""
    for number, _ in enumerate(yield_outcomes(backend, jobs)):
        if number == 5:
            cluster.freeze()


def make_short_job(seed: int) -> tuple[int, Job[Any]]:
    """Returns a job of a tenth of a second with its seed as key."""
    scenario = {**SCENARIO, "duration": "0.1s", "seed": seed}
    return seed, Job(scenario, partial(crashing.reduce, seed=seed))


def test_dask__short_jobs_go_out_together_and_only_the_culprit_is_set_apart(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "BATCH_S", 5.0)  # so that a task has many jobs on any machine,
    monkeypatch.setattr(executors, "LARGEST_BATCH", 20)  # and few are beside the culprit
    cluster.add(nanny=True)
    seeds = [*range(1, 401), crashing.CULPRIT, *range(1001, 1061)]
    jobs = [make_short_job(seed) for seed in seeds]
    with open_backend(dask=cluster.address) as backend:
        assert isinstance(backend, executors.Dask)
        found = dict(yield_outcomes(backend, jobs))
        assert backend.batch > 10
        assert backend.tasks < len(jobs)
    assert isinstance(found.pop(crashing.CULPRIT), Apart)
    assert sorted(found) == [seed for seed in seeds if seed != crashing.CULPRIT]
    assert not any(isinstance(outcome, Apart) for outcome in found.values())


def test_execute_all__begins_none_after_its_time_or_one_that_cannot_be_run() -> None:
    parcels = [worker.pack_job(Job(SCENARIO, partial(crashing.reduce, seed=seed))) for seed in (1, 2)]
    answers = worker.execute_all(worker.identify_build(), parcels, None, limit_s=60.0)
    assert [kind for kind, _ in answers.each] == [worker.DONE, worker.DONE]
    assert answers.seconds > 0
    answers = worker.execute_all(("9.9.9 (1234567)", "0" * 64), parcels, None, limit_s=60.0)
    assert [kind for kind, _ in answers.each] == [worker.REFUSED]
    answers = worker.execute_all(worker.identify_build(), parcels, None, limit_s=0.0)
    assert [kind for kind, _ in answers.each] == [worker.DONE]


def test_dask__jobs_that_a_task_had_no_time_for_go_out_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs that suddenly take longer: a task of many ends after the first of them."""
    cluster.add()
    with open_backend(dask=cluster.address) as backend:
        assert isinstance(backend, executors.Dask)
        short = [make_short_job(seed) for seed in range(60)]
        list(yield_outcomes(backend, short))
        assert backend.batch > 2
        before = backend.tasks
        monkeypatch.setattr(executors, "BATCH_S", 0.0)
        found = dict(yield_outcomes(backend, short))  # no task has time for two
        assert sorted(found) == list(range(60))
        assert backend.tasks - before == 60


def test_dask__a_worker_of_another_version_is_refused(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it is there at the beginning, or joins while jobs are under way."""
    cluster.add()
    said = r"^dask: the worker at .* has mousehole .*, not 9\.9\.9 \(1234567\); install the same"
    with open_backend(dask=cluster.address) as backend:
        assert backend is not None
        monkeypatch.setattr(executors, "identify_build", lambda: ("9.9.9 (1234567)", "0" * 64))
        with pytest.raises(MouseholeError, match=said):
            list(yield_outcomes(backend, [(1, Job(SCENARIO, partial(crashing.reduce, seed=1)))]))
    with pytest.raises(MouseholeError, match=said), open_backend(dask=cluster.address):
        pass


def test_identify_build__is_of_the_whole_package() -> None:
    names = list(worker.list_sources())
    assert {"__init__.py", "runs/_worker.py", "base/texts.py", "scenario/__init__.py"} <= set(names)
    assert not [name for name in names if "papers" in name]


def test_execute__says_first_whether_it_is_the_same_mousehole() -> None:
    kind, sentence = worker.execute(("9.9.9 (1234567)", "0" * 64), b"no pickle", None)
    assert kind == worker.REFUSED
    assert "not 9.9.9 (1234567); install the same on all workers" in sentence
    text, _ = worker.identify_build()
    assert "has mousehole another build of" in str(worker.explain_refusal((text, "0" * 64)))


def test_dask__a_scheduler_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "CONNECT_S", 0.5)
    for address in ("tcp://127.0.0.1:1", "nonsense://x", str(tmp_path / "none.json")):
        with pytest.raises(
            MouseholeError, match=r"^dask: (no Dask scheduler answers at|there is no)"
        ) as caught:
            mousehole.compare("web:sfd", **SMALL, dask=address)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)


def test_dask__another_server_is_no_scheduler() -> None:
    """A greeting is taken for the length of a message, more than there is memory for."""

    def greet() -> None:
        with suppress(OSError), server.accept()[0] as connection:
            connection.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n" * 4)
            connection.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=greet, daemon=True).start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        command = [*MODULE, "compare", "web:sfd", "--rate", "3mbit", "--dask", address]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=15)
    assert done.returncode == 2
    assert done.stderr == (
        f"mousehole: error: --dask: no Dask scheduler answers at {address} "
        "(what listens there speaks another protocol); give its address, such as tcp://10.0.0.1:8786\n"
    )


def test_compare__names_the_option_of_a_scheduler(tmp_path: Path) -> None:
    command = [*MODULE, "compare", "web:sfd", "--rate", "3mbit", "--dask", "none.json", "--json", "a.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "mousehole: error: --dask: there is no scheduler file none.json\n"
    assert list(tmp_path.iterdir()) == []


def test_dask__says_what_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(extras.EXTRAS, "dask", {"no_such_module": "distributed"})
    with (
        pytest.raises(MouseholeError, match=r"^--dask needs the package distributed, .*'mousehole\[dask\]'"),
        open_backend(dask="tcp://127.0.0.1:1"),
    ):
        pass


def test_executor__processes_give_the_same_bytes(tmp_path: Path) -> None:
    sizes = tmp_path / "sizes.txt"
    shutil.copy(Path(__file__).parents[2] / "examples" / "own-sizes.cdf", sizes)
    given = {**SMALL, "seeds": 2, "schemes": "droptail,sfd"}
    here = mousehole.compare(f"sizes:{sizes}", **given)  # type: ignore[arg-type]
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        there = mousehole.compare(f"sizes:{sizes}", **given, executor=pool)  # type: ignore[arg-type]
    assert there.to_json() == here.to_json()


def test_executor__a_worker_that_ends_is_told_in_one_sentence() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = [(1, Job(SCENARIO, partial(crashing.reduce, seed=crashing.CULPRIT)))]
        with open_backend(executor=pool) as backend:
            assert backend is not None
            with pytest.raises(MouseholeError, match="a worker of the executor ended"):
                list(yield_outcomes(backend, jobs))


def test_traffic__is_not_sent_from_standard_input() -> None:
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(MouseholeError, match=r'traffic: "-" cannot be .*; give it as a file'),
    ):
        mousehole.compare("-", **SMALL, executor=pool)  # type: ignore[arg-type]
