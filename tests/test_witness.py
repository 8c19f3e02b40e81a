"""The witness: its arithmetic on known numbers, its delay line; as root that it leaves nothing behind."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from validation import witness
from validation.lab.bottleneck import Case, Counters
from validation.lab.delay import DelayLine
from validation.lab.witness_run import Measured

pytestmark = pytest.mark.alone

FOLDER = Path(witness.__file__).parent
TC = """\
qdisc tbf 8001: root refcnt 2 rate 10Mbit burst 6056b lat 55.7ms
 Sent 1234567 bytes 816 pkt (dropped 7, overlimits 3 requeues 0)
 backlog {backlog} 49p requeues 0
"""
needs_lab = pytest.mark.skipif(witness.find_obstacle() is not None, reason=str(witness.find_obstacle()))


def make_runs(*queues: float) -> list[Measured]:
    """Returns measured runs with these mean queues in packets, and equal otherwise."""
    return [Measured(9.5e6, queue, 3, 100, 1514.0) for queue in queues]


@pytest.mark.parametrize("backlog", ["74186b", "75Kb", "1Mb", "0b"])
def test_parse__reads_counters(backlog: str) -> None:
    assert Counters.parse(TC.format(backlog=backlog)) == Counters(1_234_567, 816, 7, 49)


def test_parse__refuses_other_text() -> None:
    with pytest.raises(ValueError, match="no counters"):
        Counters.parse("qdisc noqueue 0: root")


def test_estimate__student_interval() -> None:
    estimate = witness.Estimate.from_runs([9, 10, 11, 10, 10])
    assert estimate.mean == pytest.approx(10)
    assert estimate.half_width == pytest.approx(2.776 * 0.7071 / 5**0.5, rel=1e-3)


@pytest.mark.parametrize(
    ("simulated", "held", "verdict"),
    [
        (32.9, True, "agrees"),
        (33.1, True, "DIFFERS"),
        (26.9, True, "DIFFERS"),
        (40.0, False, "shown only"),
        (None, True, "not in the simulator"),
    ],
)
def test_verdict__bound(simulated: float | None, held: bool, verdict: str) -> None:
    other = None if simulated is None else witness.Estimate(simulated, 1)
    row = witness.Row(Case("reno", 1), "queue", witness.Estimate(30, 1), other, held)
    assert row.verdict == verdict


def test_verdict__without_drops_there_is_no_ratio() -> None:
    none, some = witness.Estimate(0, 0), witness.Estimate(3, 1)
    row = witness.Row(Case("bbr", 1), "drops in the window", none, some, held=False)
    assert (row.difference, row.verdict) == (None, "shown only")
    assert witness.list_cells(row)[-2:] == ["", "shown only"]


def test_exit_code__one_that_differs_fails() -> None:
    good = witness.Row(Case("reno", 1), "queue", witness.Estimate(30, 1), witness.Estimate(31, 1))
    bad = witness.Row(Case("reno", 1), "queue", witness.Estimate(30, 1), witness.Estimate(41, 1))
    known = witness.Row(bad.case, "queue", bad.linux, bad.simulated, known=True)
    none = witness.Row(Case("cubic", 1), "queue", witness.Estimate(30, 1), None)
    assert witness.choose_exit_code([good, none]) == 0
    assert witness.choose_exit_code([good, bad]) == 1
    assert witness.choose_exit_code([good, known]) == 0
    assert known.verdict == "differs, known"
    assert witness.write_conclusion([good, bad, known, none]).startswith(
        "witness: 1 within 10%, 1 differ, 1 differ as"
    )
    assert witness.choose_exit_code([none]) == 1


def test_compare__an_emptier_queue_differs() -> None:
    tcp = witness.choose_tcp(Case("reno", 1))
    rows = witness.compare(Case("reno", 1), make_runs(12, 12.1, 11.9), tcp)
    assert [row.verdict for row in rows if row.quantity.startswith("mean queue")] == ["DIFFERS"]


def test_as_json__keeps_numbers_apart_from_words() -> None:
    row = witness.Row(Case("cubic", 4), "queue", witness.Estimate(30, 1), None)
    assert json.loads(json.dumps(witness.to_json(row))) == {
        "case": "cubic, 4 flows, 50p",
        "quantity": "queue",
        "linux": {"mean": 30, "half_width": 1},
        "simulated": None,
        "held": True,
        "verdict": "not in the simulator",
    }


def test_compare__super_packets_are_refused() -> None:
    measured = [Measured(9e6, 30, 3, 100, 2900.0), Measured(9e6, 30, 3, 100, 1514.0)]
    with pytest.raises(SystemExit, match="offload"):
        witness.compare(Case("reno", 1), measured)


def test_simulate__queue_counts_the_packet_in_transmission() -> None:
    case = Case("reno", 2, limit_packets=2, rtt_s=0.001, window_s=5)
    tcp = witness.choose_tcp(case)
    assert tcp is not None
    run = witness.simulate(case, tcp, 0)
    # Of the time a packet is in transmission for more than two thirds; one at most waits behind it.
    assert run.goodput_bps / 1e7 < run.queue_packets <= 2
    assert run.frame_bytes == pytest.approx(1514, abs=1)


@pytest.mark.parametrize(("ci", "code"), [("", 0), ("true", 1)])
def test_main__not_run_is_a_failure_in_ci(
    ci: str, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr(witness, "find_obstacle", lambda: "network namespaces need root")
    assert witness.main([]) == code
    assert capsys.readouterr().out == "NOT RUN  witness: network namespaces need root\n"


def test_delay_line__in_order_and_never_early() -> None:
    near, source = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    sink, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    line = DelayLine(source.fileno(), sink.fileno(), 0.03)
    begin = time.monotonic()
    for index in range(20):
        near.send(bytes([index]))
    line.run_until(lambda: len(line.lateness_s) == 20)
    assert time.monotonic() - begin >= 0.03
    assert [far.recv(10)[0] for _ in range(20)] == list(range(20))
    assert min(line.lateness_s) >= 0
    assert line.report()["packets"] == 20
    for end in (near, source, sink, far):
        end.close()


def list_run_words(case: Case) -> list[str]:
    """Returns the command that plays a case in namespaces."""
    return [sys.executable, "-m", "validation.lab.witness_run", json.dumps(asdict(case))]


def list_namespaces() -> set[str]:
    """Returns the network namespaces of all processes that this one may look at."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(str(link.readlink()))
        except OSError:
            continue
    return found


def list_processes(*words: str) -> list[str]:
    """Returns the ids of processes whose command lines contain all words."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = file.read_bytes()
        except OSError:
            continue
        if all(word.encode() in line for word in words):
            found.append(file.parent.name)
    return found


@needs_lab
def test_lab__fills_the_link_and_touches_nothing_else() -> None:
    before = Path("/proc/net/dev").read_text().splitlines()[2:]
    done = subprocess.run(
        list_run_words(Case("reno", 2, warmup_s=1.5, window_s=2)), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    run = Measured(**json.loads(done.stdout))
    assert 8e6 < run.goodput_bps < 10e6
    assert 5 < run.queue_packets <= 50
    assert run.frame_bytes == pytest.approx(1514, abs=1)
    assert run.samples >= 200  # 100 per second at the least
    assert run.delay["lost"] == 0
    after = Path("/proc/net/dev").read_text().splitlines()[2:]
    assert [line.split(":")[0] for line in after] == [line.split(":")[0] for line in before]


@needs_lab
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_lab__killed_leaves_nothing(number: signal.Signals) -> None:
    marker = "0.0412345"  # the delay, seen in the command lines of this run's processes only
    before = list_namespaces()
    run = subprocess.Popen(list_run_words(Case("reno", 1, rtt_s=float(marker))), stdout=subprocess.PIPE)
    deadline = time.monotonic() + 10
    while not list_processes(marker, "validation.lab.delay") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list_processes(marker, "validation.lab.delay")
    run.send_signal(number)
    run.communicate()
    time.sleep(0.5)
    assert list_processes(marker) == []
    assert list_namespaces() - before == set()
