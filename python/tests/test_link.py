"""Real programs through real namespaces. Where these are denied, nothing here can be run."""

import contextlib
import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import Any

import mousehole
import numpy as np
import pytest
from mousehole import _engine
from mousehole import scenario as scenarios
from mousehole.base import MouseholeError, Options, OutputConsole
from mousehole.commands.cli import main
from mousehole.document import print_document
from mousehole.engine_types import LinkAccount, LinkStatus, Scenario
from mousehole.link import Played, Programs, describe_congestion, write_status
from mousehole.link import _link as link
from mousehole.link import _rounds as link_rounds
from mousehole.records import RecordColumns
from mousehole.runs import Plan
from support import MODULE
from test_json import SCHEMA, list_faults

pytestmark = pytest.mark.alone

PROGRAMS = Path(__file__).parent / "link_programs.py"


def make_program(*words: object) -> list[str]:
    """Returns the command that runs a program of `link_programs`."""
    return [sys.executable, str(PROGRAMS), *map(str, words)]


def make_scenario(scheme: str = "droptail", **fields: Any) -> Scenario:
    """Returns a scenario with a link of 10 Mb/s and these fields."""
    linked = {"rate": "10mbit", "rtt": "20ms", "buffer": "60p", **fields.pop("link", {})}
    return {**scenarios.make_default(), "scheme": scheme, "link": linked, **fields}  # type: ignore[typeddict-item]


@cache
def find_obstacle() -> str | None:
    """Returns why runs on real packets are impossible here; None if they are possible."""
    try:
        link.play(make_scenario(), Programs(command=["true"]))
    except MouseholeError as error:
        return str(error)
    return None


@pytest.fixture(autouse=True)
def _can_be_run(request: pytest.FixtureRequest) -> None:
    """Skips a test that needs namespaces where there are none."""
    is_simulated = re.search("bad_input|rate_trace", request.node.name)
    if not is_simulated and (reason := find_obstacle()):
        pytest.skip(reason)


def is_conserved(account: LinkAccount) -> bool:
    """Returns whether every packet sent was delivered, was dropped or is under way."""
    ways = (account["down"], account["up"])
    return all(way["sent"] == way["delivered"] + way["dropped"] + way["under_way"] for way in ways)


def run_fetch(scheme: str, *sizes: int, **how: Any) -> Played:
    """Returns a run under a scheme in which transfers of these sizes are fetched."""
    programs = Programs(command=make_program("fetch", *sizes), server=make_program("serve"), **how)
    return link.play(make_scenario(scheme), programs)


@pytest.mark.parametrize("scheme", ["droptail", "rio-ps", "fq-codel"])
def test_play__fetches_are_timed(scheme: str) -> None:
    sizes = (5_000, 200_000, 12_000, 40_000)
    played = run_fetch(scheme, *sizes)
    assert played.account["status"] == 0
    assert is_conserved(played.account)
    assert played.records.summary["conservation_ok"]
    rows = played.records.transfers.sort("key")
    assert rows["bytes"].to_list() == list(sizes)
    assert not rows["upload"].any()
    seconds = (rows["end_s"] - rows["start_s"]).to_list()
    # Two round trips at least, and the time that the bytes take on the link.
    assert all(0.04 + size * 8e-7 < one < 2 for one, size in zip(seconds, sizes, strict=True))
    assert (rows["ideal_s"] > 0.039).all()
    sent = sum(colour["sent"] for colour in played.records.queues[0]["colours"])
    assert sent == played.account["down"]["delivered"] + played.account["down"]["under_way"]


def test_play__works_in_a_user_namespace() -> None:
    played = run_fetch("sfd", 30_000, 30_000, user_namespace=True)
    assert played.account["status"] == 0
    assert played.records.transfers["bytes"].to_list() == [30_000, 30_000]


def test_play__a_connection_may_have_several_transfers() -> None:
    programs = Programs(command=make_program("persist", 9_000, 70_000, 8_000), server=make_program("serve"))
    played = link.play(make_scenario(), programs)
    rows = played.records.transfers.sort("write")
    assert rows["bytes"].to_list() == [9_000, 70_000, 8_000]
    assert rows["write"].to_list() == [0, 1, 2]
    assert len(set(rows["key"])) == 1
    connection = played.scenario["traffic"]["connections"][0]
    assert [write["bytes"] for write in connection["writes"]] == [9_000, 70_000, 8_000]
    assert all(0.08 < write["idle_s"] < 0.5 for write in connection["writes"][1:])


@pytest.mark.parametrize("version", [4, 6])
def test_play__marks_reach_the_receiver(version: int, capfd: pytest.CaptureFixture[str]) -> None:
    """IPv4's checksum is right, or the receiver's kernel would drop what was marked."""
    server = make_program("flood", version, 15e6, 0.6, 2)  # ECT(0)
    programs = Programs(command=make_program("receive", version, 1), server=server)
    played = link.play(make_scenario("red(ecn=true,min=5,max=60,maxp=0.5)"), programs)
    seen = json.loads(capfd.readouterr().out)
    assert seen["marks"] > 20
    assert seen["marks"] <= played.account["down"]["marked"] <= seen["marks"] + 100
    marked = sum(colour["marked"] for colour in played.records.queues[0]["colours"])
    assert played.account["down"]["marked"] <= marked <= played.account["down"]["marked"] + 100
    assert is_conserved(played.account)


def test_play__the_rate_is_right(capfd: pytest.CaptureFixture[str]) -> None:
    server = make_program("flood", 4, 12e6, 3.4, 0)
    programs = Programs(command=make_program("receive", 4, 3), server=server)
    played = link.play(make_scenario(link={"rate": "8mbit"}), programs)
    seen = json.loads(capfd.readouterr().out)
    assert seen["rate_bps"] == pytest.approx(8e6, rel=0.005)
    assert played.account["down"]["dropped"] > 100
    assert is_conserved(played.account)


def test_play__a_rate_may_change(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "two.trace"
    trace.write_text("1\n2\n10\n", encoding="utf-8")  # 3.6 Mb/s, over and over
    given = make_scenario(link={"rate": None, "down": str(trace)})
    server = make_program("flood", 4, 6e6, 2, 0)
    played = link.play(given, Programs(command=make_program("receive", 4, 1.8), server=server))
    assert json.loads(capfd.readouterr().out)["rate_bps"] == pytest.approx(3.6e6, rel=0.02)
    assert played.records.queues[0]["capacity_bps"] == pytest.approx(3.6e6, rel=0.02)


def test_play__loses_on_purpose() -> None:
    given = make_scenario(faults=[{"link": "down", "bernoulli": 0.05}])
    played = link.play(given, Programs(command=make_program("fetch", 300_000), server=make_program("serve")))
    lost = sum(colour["fault"] for colour in played.records.queues[0]["colours"])
    assert 2 <= lost <= 40
    assert is_conserved(played.account)
    assert played.records.transfers["dropped"].to_list() == [lost]


def test_play__pcapng_tells_colour_and_verdict(tmp_path: Path) -> None:
    file = tmp_path / "packets.pcapng"
    played = run_fetch("s-sfd", 60_000, pcapng=file)
    content = file.read_bytes()
    verdicts = re.findall(rb"colour=(\w+) verdict=(\w+) delay=[\d.]+ms", content)
    ways = (played.account["down"], played.account["up"])
    assert len(verdicts) == sum(way["delivered"] + way["dropped"] for way in ways)
    assert {colour for colour, _ in verdicts} == {b"green", b"yellow"}
    assert {verdict for _, verdict in verdicts} >= {b"sent"}
    understood = mousehole.inspect(str(file))
    assert understood["connections"] == 1


def test_predict__plays_the_recorded_flows() -> None:
    played = run_fetch("droptail", 20_000, 50_000)
    simulated = link.predict(played)
    assert simulated.transfers["bytes"].to_list() == [20_000, 50_000]
    real, told = (
        (frame["end_s"] - frame["start_s"]).to_numpy().mean()
        for frame in (played.records.transfers, simulated.transfers)
    )
    assert told == pytest.approx(real, rel=0.4)


def test_list_differences__counts_what_a_prediction_leaves_out_or_changes() -> None:
    nan = float("nan")
    rows = [  # key, bytes, end_s, upload, is_quic; write and start_s do not matter here
        (1, 1000, 0.5, False, False), (1, 2000, 0.9, True, False), (2, 500, nan, False, False),
        (3, 700, 0.7, False, True), (4, 700, 0.8, False, True), (5, 0, 0.8, False, False),
    ]  # fmt: skip
    names = ("key", "bytes", "end_s", "upload", "is_quic")
    transfers = dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True))
    flows = {"key": np.arange(3), "upload": np.array([True, False, False])}
    columns = RecordColumns(transfers, flows, *[None] * 4)  # type: ignore[arg-type]
    assert link.list_differences(columns, "bbr") == [
        "left out: uploads without end, 1",
        "left out: transfers that did not end, 2",
        "played from the run's beginning: downloads without end, 2",
        "played as TCP: flows of QUIC, 2",
        "played in one direction: connections with data in both, 1",
        "played with CUBIC: programs had bbr unless they chose another",
    ]


def test_list_differences__is_silent_about_what_is_played_as_it_was() -> None:
    played = run_fetch("droptail", 20_000, 50_000)
    assert link.list_differences(played.records.columns, "cubic") == []
    assert link.list_differences(played.records.columns, None) == []


def test_default_congestion__is_the_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = tmp_path / "congestion"
    monkeypatch.setattr(link, "CONGESTION", own)
    assert link.read_default_congestion() is None
    own.write_text("reno\n")
    assert link.read_default_congestion() == "reno"


def test_congestion_line__names_the_machines_or_says_that_it_is_unknown() -> None:
    assert describe_congestion("bbr") == "congestion control of programs that chose none: bbr, the machine's"
    assert "unknown" in describe_congestion(None)


@pytest.mark.parametrize("version", [4, 6])
def test_play__carries_icmp(version: int, capfd: pytest.CaptureFixture[str]) -> None:
    programs = Programs(command=make_program("ping", version), user_namespace=True)
    played = link.play(make_scenario(), programs)
    assert 0.02 < float(capfd.readouterr().out) < 0.2
    assert played.records.transfers.is_empty()
    assert played.account["down"]["delivered"] >= 1


def test_play__non_ip_is_counted_and_dropped() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may send what is no IP packet")
    played = link.play(make_scenario(), Programs(command=make_program("raw")))
    assert played.account["not_ip"] == 7
    assert is_conserved(played.account)


def test_play__what_a_command_leaves_behind_is_ended() -> None:
    mark = f"{4000 + os.getpid()}.5"
    played = link.play(
        make_scenario(), Programs(command=["sh", "-c", f"sleep {mark} & setsid sleep {mark} & exit 3"])
    )
    assert played.account["status"] == 3
    assert not list_running(mark)


def test_play__a_server_may_go_into_the_background() -> None:
    script = f"{shlex.join(make_program('serve'))} & sleep 1; exit 0"
    late = ["sh", "-c", f"sleep 1.5; {shlex.join(make_program('fetch', 20_000))}"]
    programs = Programs(command=late, server=["sh", "-c", script])
    played = link.play(make_scenario(), programs)
    assert (played.account["status"], played.account["server_status"]) == (0, 0)
    assert played.records.transfers["bytes"].to_list() == [20_000]


def list_running(mark: str) -> list[str]:
    """Returns the ids of the processes whose command lines contain this argument."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = entry.read_bytes().split(b"\0")
            if mark.encode() in words:
                found.append(entry.parent.name)
    return found


def test_play__kill_leaves_nothing(tmp_path: Path) -> None:
    """Every process is gone, and with the last one that is in them the namespaces."""
    mark, note = f"{6000 + os.getpid()}.25", tmp_path / "net"
    inside = f"readlink /proc/self/ns/net > {shlex.quote(str(note))}; setsid sleep {mark} & sleep {mark}"
    words = [
        sys.executable,
        "-m",
        "mousehole",
        "link",
        "--rate",
        "10mbit",
        "--quiet",
        "--",
        "sh",
        "-c",
        inside,
    ]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: note.exists() and note.read_text().strip() != "" and len(list_running(mark)) == 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not list_running(mark))
    name, held = note.read_text().strip(), []
    for entry in Path("/proc").glob("[0-9]*/ns/net"):
        with contextlib.suppress(OSError):
            held += [str(entry)] if str(entry.readlink()) == name else []
    assert held == []


def read_program(process: str) -> str:
    """Returns the name of the program that a process runs; an empty text once it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text().strip()
    return ""


def wait_until(is_so: Any) -> None:
    """Waits until a condition holds; fails after 60 s."""
    deadline = time.monotonic() + 60  # a busy machine starts Python slowly
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_command__ctrl_c_ends_everything() -> None:
    mark = f"{7000 + os.getpid()}.75"
    words = [*MODULE, "link", "--rate", "10mbit", "--", "sleep", mark]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: "sleep" in map(read_program, list_running(mark)))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1].startswith("mousehole: stopped")
    assert not [one for one in list_running(mark) if int(one) != process.pid]


def run_command(*words: object) -> subprocess.CompletedProcess[str]:
    """Runs `mousehole link`."""
    whole = [*MODULE, "link", *map(str, words)]
    return subprocess.run(whole, capture_output=True, text=True, timeout=120, check=False)


def test_command__writes_records_of_one_run(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("one.json", "rows.csv", "flows.toml")}
    done = run_command(
        *(
            "--rate",
            "10mbit",
            "--rtt",
            "20ms",
            "--scheme",
            "rio-ps",
            "--server",
            shlex.join(make_program("serve")),
        ),
        *(
            "--json",
            files["one.json"],
            "--records",
            files["rows.csv"],
            "--save-scenario",
            files["flows.toml"],
        ),
        *("--predict", "--", *make_program("fetch", 10_000, 30_000)),
    )
    document = json.loads(files["one.json"].read_text())
    # On a loaded machine the run may be invalid, which is status 1.
    assert done.returncode == (0 if document["link"]["is_valid"] else 1), done.stderr
    assert "rio-ps: 2 transfers" in done.stdout
    assert describe_congestion(link.read_default_congestion()) in done.stdout
    assert "simulated otherwise than in real time: " in done.stdout
    assert document["schema"] == "mousehole.run/2"
    assert document["link"]["down"]["delivered"] > 20
    assert len(files["rows.csv"].read_text().splitlines()) == 3
    again = mousehole.run(str(files["flows.toml"]))
    assert again.transfers["bytes"].to_list() == [10_000, 30_000]


def test_command__compares_schemes(tmp_path: Path) -> None:
    place = tmp_path / "found.json"
    done = run_command(
        *("--rate", "10mbit", "--rtt", "20ms", "--schemes", "red", "--rounds", 2, "--json", place, "--quiet"),
        *("--server", shlex.join(make_program("serve")), "--", *make_program("fetch", 10_000, 10_000)),
    )
    if "no round is left" in done.stderr:
        pytest.skip("the machine is too busy for a valid run")
    assert done.returncode == 0, done.stderr
    assert describe_congestion(link.read_default_congestion()) in done.stdout
    document = json.loads(place.read_text())
    rounds = document["manifest"]["replications"]
    assert [entry["scheme"] for entry in document["manifest"]["schemes"]] == ["droptail", "red"]
    found = document["cells"][0]["schemes"]
    counts = [bucket["count"] for one in found for bucket in one["buckets"] if "short" in bucket.values()]
    assert counts == [2 * rounds, 2 * rounds]
    runs = document["link"]
    assert [run["scheme"] for run in runs if run["counts"]] == ["droptail", "red"] * rounds
    assert all(run["account"]["down"]["delivered"] > 10 for run in runs)
    schema = json.loads(SCHEMA.read_text())
    assert list_faults(schema, document) == []


def plan_two_schemes(rounds: int) -> Plan:
    """Returns the plan of two schemes in this many rounds."""
    options = Options(rate="10mbit", rtt="20ms", schemes="droptail,red", seeds=rounds)
    return link_rounds.plan_rounds(link.make_base_scenario(scenarios.make_default(), options), options, None)


def compare_two_schemes(
    monkeypatch: pytest.MonkeyPatch, rounds: int, verdicts: list[bool]
) -> link_rounds.Trial:
    """Returns the trial of two schemes in which one real run is used again and again.

    `verdicts` says of each use whether the run is valid.
    """
    one, left = run_fetch("droptail", 10_000), iter(verdicts)

    def play(*_: Any) -> Played:
        is_valid = next(left)
        account = {**one.account, "is_valid": is_valid, "faults": [] if is_valid else ["it was late"]}
        return dataclasses.replace(one, account=account)  # type: ignore[arg-type]

    monkeypatch.setattr(link_rounds, "play", play)
    trial = link_rounds.compare(plan_two_schemes(rounds), Programs(command=["true"]), "fetch")
    assert next(left, None) is None  # every run was asked for
    return trial


def test_compare__an_invalid_run_is_repeated_and_then_its_round_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    first = [True, False, True]  # red is repeated once
    second = [False, False, False]  # droptail stays invalid, and red is not run
    trial = compare_two_schemes(monkeypatch, 3, [*first, *second, True, True])
    assert trial.comparison is not None
    assert trial.comparison.plan.replications == 2
    assert trial.left_out == (1,)
    assert trial.faults == [
        "round 2 is left out: under droptail 3 runs were invalid, the last because it was late"
    ]
    document = json.loads(trial.comparison.to_json())
    assert document["manifest"]["replications"] == 2
    told = [(run["scheme"], run["round"], run["is_valid"], run["counts"]) for run in document["link"]]
    assert told[:4] == [
        ("droptail", 1, True, True), ("red", 1, False, False), ("red", 1, True, True),
        ("droptail", 2, False, False),
    ]  # fmt: skip
    assert [run["counts"] for run in document["link"][3:]] == [False, False, False, True, True]
    schema = json.loads(SCHEMA.read_text())
    assert list_faults(schema, document) == []
    trial.comparison.save(tmp_path / "found.json")
    loaded = mousehole.load(tmp_path / "found.json")
    assert loaded.markdown() == trial.comparison.markdown()
    assert trial.faults[0] in loaded.markdown()


def test_compare__a_valid_run_of_a_round_that_is_left_out_does_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trial = compare_two_schemes(monkeypatch, 2, [True, False, False, False, True, True])
    assert trial.comparison is not None
    assert [run["counts"] for run in json.loads(trial.comparison.to_json())["link"]] == [False] * 4 + [
        True
    ] * 2


@pytest.mark.parametrize("rounds", [1, 5])
def test_compare__the_report_has_words_of_its_own(monkeypatch: pytest.MonkeyPatch, rounds: int) -> None:
    trial = compare_two_schemes(monkeypatch, rounds, [True] * 2 * rounds)
    assert trial.comparison is not None
    console = OutputConsole(width=110, highlight=False)
    with console.capture() as captured:
        print_document(console, trial.comparison.document(), details=True)
    text = " ".join(captured.get().split())
    assert not re.search("--seeds|--load|--warmup|replication|seeds|the model|warm-up|window", text)
    assert f"{rounds} round{'s' * (rounds > 1)} of " in text
    assert "1 rounds" not in text
    assert "Let the programs do more, or give a lower rate." in text
    assert "The intervals cover what rounds of the same programs on this machine differ by." in text
    assert "rounds would hardly decide" in text or "(--rounds)" in text or "equal within 5 %" in text
    notes = json.loads(trial.comparison.to_json())["notes"]
    assert not any("replication" in note for note in notes)


def test_compare__no_round_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    trial = compare_two_schemes(monkeypatch, 1, [False, False, False])
    assert trial.comparison is None
    assert trial.faults == [
        "round 1 is left out: under droptail 3 runs were invalid, the last because it was late"
    ]


def test_command__no_round_is_left_is_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    trial = compare_two_schemes(monkeypatch, 1, [False, False, False])
    monkeypatch.setattr(link_rounds, "compare", lambda *_: trial)
    place = tmp_path / "found.json"
    words = ["link", "--rate", "10mbit", "--schemes", "red", "--json", str(place), "--", "true"]
    monkeypatch.setattr(sys, "argv", ["mousehole", *words])
    monkeypatch.setattr("os._exit", sys.exit)
    with pytest.raises(SystemExit) as leaving:
        main()
    out, errors = capsys.readouterr()
    assert (leaving.value.code, out) == (1, "")
    assert "no round is left to compare" in errors
    assert not place.exists()


def test_command__returns_the_commands_status() -> None:
    done = run_command("--rate", "10mbit", "--quiet", "--", "sh", "-c", "exit 7")
    assert done.returncode == 7
    done = run_command("--rate", "10mbit", "--quiet", "--", "there-is-no-such-command")
    assert done.returncode == 127
    assert "there-is-no-such-command cannot be run" in done.stderr


def test_command__a_comparison_of_what_cannot_be_started_ends_after_the_first_run(tmp_path: Path) -> None:
    place = tmp_path / "found.json"
    words = ("--rate", "10mbit", "--schemes", "droptail,red", "--rounds", 2, "--quiet", "--json", place)
    done = run_command(*words, "--", "there-is-no-such-command")
    assert (done.returncode, done.stdout) == (127, "")
    assert done.stderr.count("cannot be run") == 1
    assert done.stderr.count("round ") == 2  # the run is announced, and warned of
    assert "whose program could not be started" in done.stderr
    assert not place.exists()


def test_command__a_comparison_returns_the_first_status_and_warns_of_every_run() -> None:
    done = run_command(
        *("--rate", "10mbit", "--schemes", "red", "--rounds", 1, "--quiet", "--server", "sleep 0.1; exit 3"),
        *("--", "sh", "-c", "sleep 0.5; test -e /nowhere/at/all || exit 9"),
    )
    assert done.returncode == 9
    for scheme in ("droptail", "red"):
        said = f"warning: {scheme}, round 1: the"
        assert f"{said} server's command ended before, with status 3" in done.stderr
        assert f"{said} command ended with status 9" in done.stderr


def test_command__a_server_that_ends_leaves_the_status_to_the_command() -> None:
    done = run_command("--rate", "10mbit", "--quiet", "--server", "sleep 0.1; exit 3", "--", "sleep", 0.5)
    assert done.returncode == (1 if "INVALID" in done.stdout else 0)
    assert "warning: the server's command ended before, with status 3" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--rate", "10mbit", "--scheme", "srpt"], "must know how much of every transfer is left"),
        (["--rate", "10mbit", "--scheme", "shred"], "put the marker shred-edge before it"),
        (["--rate", "10mbit", "--scheme", "ns2-sfd"], "repeats a quirk of ns-2"),
        (["--rate", "10mbit", "--scheme", "empty"], "a link of its own"),
        ([], "--down: give the rate of the link"),
        (["--rate", "10mbit", "--mtu", "900"], "--mtu: 900 is not allowed"),
        (["--rate", "10mbit", "--mtu", "x"], "--mtu"),
        (["--rate", "10mbit", "--loss", "120%"], "--loss"),
        (["--rate", "10mbit", "--duration", "0s"], "--duration"),
        (["--rate-trace", "/there/is/none"], "--rate-trace"),
        (["--rate", "10mbit", "--schemes", "red", "--scheme", "red"], "--scheme"),
        (["--rate", "10mbit", "--rounds", "3"], "--rounds"),
        (["--rate", "10mbit", "--schemes", "red", "--predict"], "--predict"),
        (["--rate", "10mbit", "--pcapng", "/there/is/no/folder"], "--pcapng"),
        (["--rate", "10mbit", "--baseline", "nosuch"], "--baseline"),
        (["--rate", "10mbit", "--short", "1x"], "--short"),
        (["--rate", "10mbit", "--long", "1MB"], "--long"),
        (["--rate", "10mbit", "--details"], "--details"),
        (["--rate", "10mbit", "--schemes", "red", "--baseline", "nosuch"], "nosuch"),
        (["--rate", "10mbit", "--schemes", "red", "--short", "1x"], "--short"),
        (["--rate", "10mbit", "--name", "a b"], '--name: "a b" is not allowed'),
        (["--rate", "10mbit", "--name", "a,,b"], '--name: "" is not allowed'),
        (["--rate", "10mbit", "--schemes", "red", "--name", "a#b"], "--name"),
        (["--rate", "10mbit", "--schemes", "red", "--rounds", "0"], "--rounds: 0 is not allowed"),
        (["--rate", "10mbit", "--schemes", "red", "--seeds", "0"], "--seeds: 0 is not allowed"),
        (["--scenario", "/there/is/none.toml"], "cannot read the scenario"),
    ],
)
def test_command__bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["mousehole", "link", *words, "--", "true"])
    monkeypatch.setattr("os._exit", sys.exit)
    with pytest.raises(SystemExit) as leaving:
        main()
    out, errors = capsys.readouterr()
    assert (leaving.value.code, out) == (2, "")
    assert len(errors.splitlines()) == 1
    assert message in errors


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("echo 0 > /proc/sys/user/max_user_namespaces", "user.max_user_namespaces (0) is reached"),
        ("mount -t tmpfs none /dev/net", "/dev/net/tun is missing"),
    ],
)
def test_command__says_what_denies_it(before: str, message: str) -> None:
    words = shlex.join([*MODULE, "link", "--rate", "10mbit", "--user-namespace", "--", "true"])
    shell = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", f"{before} && {words}"]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_play__large_packets_need_a_large_mtu() -> None:
    """At 9000 bytes of MTU the same transfer takes a sixth of the packets."""
    counts = []
    for mtu in (1500, 9000):
        played = run_fetch("droptail", 200_000, mtu=mtu)
        assert played.records.transfers["bytes"].to_list() == [200_000]
        assert played.account["too_large"] == 0
        counts.append(played.account["down"]["delivered"])
    assert counts[1] < counts[0] / 4


def test_play__knows_names(capfd: pytest.CaptureFixture[str]) -> None:
    words = ["getent", "ahostsv4", "server", "example.org", "client"]
    link.play(make_scenario(), Programs(command=words, names=["example.org"]))
    addresses = [line.split()[0] for line in capfd.readouterr().out.splitlines() if "STREAM" in line]
    assert addresses == ["10.0.0.1", "10.0.0.1", "10.0.0.2"]


def test_play__tells_once_a_second() -> None:
    told: list[LinkStatus] = []
    observer = link.Observer(report=told.append)
    programs = Programs(command=make_program("fetch", 3_000_000), server=make_program("serve"))
    link.play(make_scenario("sfd"), programs, observer)
    assert len(told) >= 2
    assert told[1]["down"]["rate_bps"] == pytest.approx(1e7, rel=0.2)
    assert told[1]["down"]["waiting"][1] > 0
    assert "queue 0/" in write_status(told[1])


def test_check__bad_input_of_a_scenario() -> None:
    with pytest.raises(MouseholeError, match="leave it out"):
        link.check(make_scenario(access={"rate": "unlimited", "delay": "1ms"}), Programs(command=["true"]))


def test_rate_trace__bad_input(tmp_path: Path) -> None:
    trace = tmp_path / "bad.trace"
    trace.write_text("5\n3\n", encoding="utf-8")
    with pytest.raises(MouseholeError, match=r"bad\.trace:2: 3 ms is earlier"):
        _engine.link_rate("link.down", str(trace))


def write_traced_scenario(folder: Path) -> Path:
    """Writes a scenario with its rate trace, and returns its path."""
    (folder / "radio.trace").write_text("0 2mbit\n1 6mbit\n2 0\n2.5 1mbit\n4 3mbit\n", encoding="utf-8")
    text = """
        warmup = "1s"
        duration = "6s"
        scheme = "red"
        [link]
        down = "radio.trace"
        rtt = "40ms"
        [traffic]
        model = "poisson"
        load = 0.8
    """
    path = folder / "radio.toml"
    path.write_text("\n".join(line.strip() for line in text.splitlines()), encoding="utf-8")
    return path


def test_rate_trace__is_run_and_named(tmp_path: Path) -> None:
    done = mousehole.run(write_traced_scenario(tmp_path))
    # 2 + 6 + 0 + 1.5 Mb in 4 s is the mean that schemes and loads go by.
    assert done.scenario["link"]["up"] == "2375000bit"
    document = json.loads(done.to_json())
    assert [entry["name"] for entry in document["manifest"]["inputs"]] == ["radio.trace"]
    assert document["manifest"]["scenario"]["link"]["down"] == "radio.trace"
    # From 1 s to 7 s: 6 + 0 + 1.5 + 9 Mb.
    assert done.queues[0]["capacity_bps"] == pytest.approx(16.5e6 / 6, rel=1e-6)
    assert 0.3 < done.queues[0]["utilisation"] <= 1.0


def test_rate_trace__is_compared_and_saved(tmp_path: Path) -> None:
    found = mousehole.compare(
        write_traced_scenario(tmp_path), schemes="red", duration="4s", warmup="1s", seeds=2
    )
    assert set(found.buckets["scheme"]) == {"droptail", "red"}
    assert [entry["name"] for entry in found.manifest["inputs"]] == ["radio.trace"]
    saved = scenarios.to_toml(found.scenario(), tmp_path)
    assert 'down = "radio.trace"' in saved
