"""Estimates of time and memory, and what follows from them."""

import re
import subprocess
import sys
from dataclasses import replace
from os import environ
from pathlib import Path

import mousehole
import pytest
from mousehole import _engine
from mousehole.base import MouseholeError, Options
from mousehole.base import _memory as memory
from mousehole.comparison import _comparison as comparison
from mousehole.runs import Estimate, Part, Plan, Task, choose_jobs, estimate_plan
from mousehole.runs import _estimate as estimate
from mousehole.runs import _pool as pool
from mousehole.scenario import make_default

pytestmark = pytest.mark.alone

WINDOW_S, WARMUP_S, MOST_WINDOWS = 300.0, 30.0, 5


def make_plan(replications: int = 4) -> Plan:
    """Returns a plan of two schemes on a model."""
    base = make_default()
    base["link"]["rate"] = "10mbit"
    base["traffic"] = {"model": "poisson", "load": 0.5}
    base["duration"], base["warmup"], base["max_windows"] = f"{WINDOW_S}s", f"{WARMUP_S}s", MOST_WINDOWS
    return Plan(base, ("1bdp",), (0.5,), ("droptail", "red"), "droptail", replications, 15_000, 150_000)


def set_costs(monkeypatch: pytest.MonkeyPatch, setup_s: float, per_s: float, drain_s: float) -> list[float]:
    """Lets parts cost what a formula gives; returns the list to which the shares that are timed are added."""
    shares = []

    def timed(_plan: Plan, _traffic: object, share: float, task: Task, _cancel: object) -> Part:
        shares.append(share)
        drained = min(drain_s, (MOST_WINDOWS - 1) * WINDOW_S * share)
        simulated_s = share * (WINDOW_S + WARMUP_S) + drained
        cpu_s = setup_s + per_s * simulated_s * (1 + task.scheme)
        return Part(share, cpu_s, 2 * cpu_s, simulated_s, round(1e6 * share), 1000)

    monkeypatch.setattr(estimate, "_time_plan_part", timed)
    return shares


@pytest.mark.parametrize("setup_s", [0.0, 0.5, 30.0])
@pytest.mark.parametrize(
    ("per_s", "drain_s"),
    [(1e-4, 0.0), (1e-4, 5.0), (0.01, 0.0), (0.01, 5.0), (0.01, 1e9), (3.0, 0.0), (3.0, 1e9)],
)
def test_estimate_plan__tells_setup_and_drain_apart(
    monkeypatch: pytest.MonkeyPatch, setup_s: float, per_s: float, drain_s: float
) -> None:
    shares = set_costs(monkeypatch, setup_s, per_s, drain_s)
    found = estimate_plan(make_plan(), None, 2)
    simulated_s = WINDOW_S + WARMUP_S + min(drain_s, (MOST_WINDOWS - 1) * WINDOW_S)
    true_s = 4 * (2 * setup_s + per_s * simulated_s * 3)
    assert found.cpu_s == pytest.approx(true_s, rel=0.1)
    assert found.slowdown == pytest.approx(2)
    reduced = 1_000_000 * estimate.BYTES_PER_TRANSFER + 1.5e6
    assert found.bytes_per_run == pytest.approx(estimate.BYTES_PER_RUN + reduced, rel=0.05)
    assert len(shares) <= 9


def test_estimate_plan__a_short_run_is_timed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = set_costs(monkeypatch, 0.01, 1e-3, 10.0)
    assert estimate_plan(make_plan(), None, 1).cpu_s == pytest.approx(4 * (0.02 + 1e-3 * 340 * 3))
    assert shares[-3:] == [0.25, 1.0, 1.0]  # the last two are a run of each scheme


def test_compare__does_not_repeat_runs_that_the_estimate_made(monkeypatch: pytest.MonkeyPatch) -> None:
    def compare() -> tuple[int, str]:
        """Returns the number of runs after the estimate, and the document of the comparison."""
        submitted = []
        submit = pool.Threads.submit
        monkeypatch.setattr(
            pool.Threads, "submit", lambda self, key, job: (submitted.append(key), submit(self, key, job))
        )
        found = mousehole.compare("web:sfd", rate="3mbit", load=0.5, schemes="sfd", duration="5s", seeds=3)
        monkeypatch.setattr(pool.Threads, "submit", submit)
        return len(submitted), re.sub(r'"created": "[^"]*"', "", found.to_json())

    reused, document = compare()
    made = comparison.estimate_plan
    monkeypatch.setattr(comparison, "estimate_plan", lambda *given: replace(made(*given), finished={}))
    assert compare() == (2 * 3, document)
    assert reused == 2 * 3 - 2


@pytest.mark.parametrize(
    "model", ["poisson", "web:sfd"]
)  # a run of each takes a second; busy machines slow both sides alike, for CPU time is compared
def test_estimate_plan__a_real_plan_within_a_factor(model: str) -> None:
    plan = make_plan(replications=3)
    plan.base["traffic"]["model"] = model
    tasks = [Task(0, scheme, replication) for scheme in (0, 1) for replication in range(3)]

    def measure_factor() -> float:
        """Returns estimated over taken CPU time."""
        guessed = estimate_plan(plan, None, 2).cpu_s
        cancel = _engine.Cancel()
        return guessed / sum(estimate._time_plan_part(plan, None, 1.0, task, cancel).cpu_s for task in tasks)

    # A shared machine may change its speed between both, so one of three tries counts.
    factors = []
    for _ in range(3):
        factors.append(measure_factor())
        if 1 / 1.5 < factors[-1] < 1.5:
            return
    pytest.fail(f"the estimate is off by the factors {factors}")


REAL = {
    "flowlogs/zeek_m57-short_conn.log.gz": "10mbit",
    "flowlogs/zeek_m57-short_http.log.gz": "5mbit",
    "httplogs/nasa_19950801_dev_first8h.tsv.gz": "5mbit",
    "pages/har_2010s_objects.csv.gz": "5mbit",
    "pcap/ndpi__netflix.pcap.gz": "10mbit",
    "pcap/zeek__http_bro.org.pcap.gz": "10mbit",
}
"""Real logs of every kind, with the rate of the link that they load.

A plan here has one replication: those of a small log with few large transfers differ fourfold in what they
cost, and an estimate times only some of them.
"""


@pytest.mark.parametrize("log", REAL)  # all together take about 15 s; other programs only add to CPU time
def test_estimate_plan__a_plan_on_a_real_log_within_a_factor(log: str) -> None:
    shared = Path(__file__).resolve().parents[3] / "shared" / "data"
    path = Path(environ.get("MOUSEHOLE_DATA", shared)) / log
    if not path.exists():
        pytest.skip("NOT RUN: no MOUSEHOLE_DATA")
    options = Options(rate=REAL[log], load=0.9, schemes="red", duration="60s", warmup="30s", seeds=1)
    prepared = comparison.prepare(str(path), options)
    plan, traffic, cancel = prepared.plan, prepared.traffic, _engine.Cancel()

    def taken_s() -> float:
        return sum(estimate._time_plan_part(plan, traffic, 1.0, task, cancel).cpu_s for task in plan.tasks)

    rounds = [(estimate_plan(plan, traffic, 2).cpu_s, taken_s()) for _ in range(4)]
    guessed, taken = map(min, zip(*rounds, strict=True))
    assert taken / 1.5 < guessed < 1.5 * taken


GIB = 1 << 30


def test_choose_jobs__as_many_as_memory_has_room_for() -> None:
    of = Estimate(cpu_s=60, slowdown=1, bytes_per_run=GIB, runs=100)
    assert choose_jobs(of, 3, None) == 3
    assert choose_jobs(of, 3, 4 * GIB) == 3
    assert choose_jobs(of, None, 2 * GIB) == 1
    with pytest.raises(MouseholeError, match=r"jobs: 9 needs about 9.7 GB of memory, and 4.3 GB"):
        choose_jobs(of, 9, 4 * GIB)
    with pytest.raises(MouseholeError, match=r"needs about 1.1 GB .* 0.5 GB are left here; give a shorter"):
        choose_jobs(of, 1, GIB // 2)


def test_memory__below_a_tenth_of_a_gigabyte_in_megabytes() -> None:
    of = Estimate(cpu_s=60, slowdown=1, bytes_per_run=44e6, runs=100)
    with pytest.raises(MouseholeError, match=r"needs about 44 MB of memory, and 12 MB are left here"):
        choose_jobs(of, None, 12_300_000)
    with pytest.raises(MouseholeError, match=r"needs about 44 MB of memory, and 0 MB are left here"):
        estimate.require_memory(of, 0)
    with pytest.raises(MouseholeError, match=r"9 needs about 0.4 GB of memory, and 0.1 GB are left here"):
        choose_jobs(of, 9, 100_000_000)


def test_compare__refuses_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "available_bytes", lambda: 2_000_000_000)
    with pytest.raises(MouseholeError, match=r"a run of this comparison needs about \d+(\.\d)? GB of memory"):
        mousehole.compare("web:sfd", rate="10gbit", load=0.9, schemes="droptail")


def test_available_bytes__is_the_least_of_machine_and_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    monkeypatch.setattr(memory, "address_space_bytes", lambda: None)
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(memory, "MEMINFO", write("meminfo", "MemTotal: 9 kB\nMemAvailable:  8000 kB\n"))
    monkeypatch.setattr(memory, "GROUP_OF_PROCESS", write("own", "0::/a/b\n"))
    assert memory.available_bytes() == 8_192_000
    write("cgroup/a/memory.max", "5000000\n")
    write("cgroup/a/memory.current", "1000000\n")
    write("cgroup/a/b/memory.max", "max\n")
    write("cgroup/a/b/memory.current", "900000\n")
    assert memory.available_bytes() == 4_000_000
    monkeypatch.setattr(memory, "GROUP_OF_PROCESS", write("own1", "4:cpu:/x\n7:hugetlb,memory:/c\n"))
    write("cgroup/memory/c/memory.limit_in_bytes", "3000000\n")
    write("cgroup/memory/c/memory.usage_in_bytes", "2500000\n")
    assert memory.available_bytes() == 500_000


LIMITED = """
import resource, sys
import mousehole
from mousehole.commands import cli
mousehole.run, mousehole.compare  # loads the libraries, which the limit does not count
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.argv[0] = "mousehole"
cli.main()
"""


def run_with_memory(more_bytes: int, arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command in a process that may take `more_bytes` more than it has after its start."""
    command = [sys.executable, "-c", LIMITED, str(more_bytes), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")
def test_run__out_of_memory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(
        'schema = "mousehole.scenario/1"\ntrace = true\nduration = "1000s"\nwarmup = "0s"\n'
        '[link]\nrate = "1gbit"\n[traffic]\nbulk = { flows = 10 }\n'
    )
    done = run_with_memory(150_000_000, ["run", "long.toml"], tmp_path)
    assert done.returncode == 2, done.stderr[-500:]
    (line,) = done.stderr.splitlines()
    assert re.match(r"mousehole: error: out of memory.*--jobs", line)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")
def test_compare__counts_the_limit_on_address_space(tmp_path: Path) -> None:
    run = ["compare", "web:sfd", "--rate", "1gbit", "--load", "0.9", "--schemes", "droptail", "--jobs", "1"]
    done = run_with_memory(1_000_000_000, run, tmp_path)
    assert done.returncode == 2, done.stderr[-500:]
    assert re.search(r"needs about \d+\.\d GB of memory, and 0\.\d GB are left here", done.stderr)


def run_with_ulimit(kilobytes: int, arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the installed command under `ulimit -v`."""
    command = f"ulimit -v {kilobytes}; exec {Path(sys.executable).parent / 'mousehole'} {arguments}"
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS")
def test_command__without_address_space_for_the_libraries_is_a_sentence() -> None:
    done = run_with_ulimit(700_000, "schemes")
    assert done.returncode == 2
    assert re.fullmatch(
        r"mousehole: error: out of memory: the limit on address space \(ulimit -v\) leaves 0\.\d GB; "
        r"on \d+ cores it must leave \d\.\d GB or more\n",
        done.stderr,
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_AS")
def test_compare__without_address_space_for_charts_loses_the_page_only(tmp_path: Path) -> None:
    page, document = tmp_path / "page.html", tmp_path / "found.json"
    options = "--rate 1mbit --load 0.5 --quick --duration 5s --warmup 1s --schemes droptail,sfd"
    done = run_with_ulimit(8_000_000, f"compare poisson {options} --html {page} --json {document}")
    assert done.returncode == 2
    assert re.search(
        r"^mousehole: error: cannot draw charts; they need .* leaves \d\.\d GB$", done.stderr, re.MULTILINE
    )
    assert "Traceback" not in done.stderr
    assert "droptail" in done.stdout
    assert document.exists()
    assert list(tmp_path.iterdir()) == [document]
