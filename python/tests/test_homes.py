"""Traffic by users and applications: `--users`, `--apps`, and ready-made places."""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mousehole
import polars as pl
import pytest
from mousehole import scenario as scenarios
from mousehole.base import (
    MouseholeError,
    applications,
    complete_traffic,
    is_place,
    place_traffic,
    places,
    with_load,
)
from mousehole.base.arguments import PLACES
from mousehole.sweeps import sweep as run_sweep
from support import MODULE

LINE: dict[str, Any] = {"down": "20mbit", "up": "1mbit"}
SHORT: dict[str, Any] = {**LINE, "duration": "4s", "warmup": "2s"}
TYPED = ["--down", "20mbit", "--up", "1mbit"]
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "homes.md"


def run_cli(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the command."""
    return subprocess.run([*MODULE, *arguments], capture_output=True, text=True, check=False)


def make_mix(name: str | None, users: int | None = None, apps: Any = None) -> dict[str, dict[str, Any]]:
    """Returns the entries of a mix by the names of their applications."""
    section, _ = place_traffic(name, users, apps)
    return {entry["name"]: dict(entry) for entry in section["mix"]}


def test_place_traffic__is_one_entry_per_application() -> None:
    section, label = place_traffic(None, 10, "calls:0.3,uploads:0.24,web")
    web = applications()["web"]
    assert label == "10 users"
    assert section == {
        "mix": [
            {"name": "calls", "model": "voip", "count": 3, "params": {"first_host": 0}},
            {
                "name": "uploads", "model": "ftp", "payload": "up", "count": 2,
                "params": {**applications()["uploads"].params, "first_host": 3},
            },
            {
                "name": "web", "model": "web:http10", "count": 10,
                "params": {**web.params, "clients": 10, "first_host": 0},
            },
        ]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("users", "share", "count"), [(4, 0.1, 1), (10, 0.25, 3), (10, 0.24, 2), (1, 1, 1), (300, 0.5, 150)]
)
def test_count__is_the_nearest_to_the_share_and_at_least_one(users: int, share: float, count: int) -> None:
    assert make_mix(None, users, {"calls": share})["calls"]["count"] == count


def test_hosts__are_those_of_the_users_and_each_application_has_others() -> None:
    found = make_mix(None, 10, "calls:0.4,games:0.3,streams:0.3,video:0.2")
    hosts = [range(e["params"]["first_host"], e["params"]["first_host"] + e["count"]) for e in found.values()]
    assert [list(each) for each in hosts] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 1]]


@pytest.mark.parametrize("name", places())
def test_place__stands_for_its_users_and_shares(name: str) -> None:
    place = places()[name]
    section, label = place_traffic(name, None, None)
    assert label == f"{name}, {place.users} users"
    assert section == place_traffic(None, place.users, place.apps)[0]
    assert set(place.apps) <= set(applications())
    assert make_mix(name, 7, None)["web"]["count"] == max(1, int(7 * place.apps["web"] + 0.5))
    assert list(make_mix(name, None, "calls:0.5")) == ["calls"]


def test_app_without_a_share__is_run_by_its_own() -> None:
    share = applications()["streams"].share
    assert make_mix(None, 100, "streams") == make_mix(None, 100, {"streams": share})


def expand_place(folder: Path, name: str, *options: str) -> dict[str, Any]:
    """Returns the scenario that `compare` saves for a place with these options."""
    saved = folder / f"{name}.toml"
    done = run_cli("compare", name, *TYPED, "--quick", "--duration", "2s", "--warmup", "1s",
                   "--schemes", "droptail", "--save-scenario", str(saved), *options)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return tomllib.loads(saved.read_text("utf-8"))


def test_save_scenario__shows_the_expansion_and_runs_as_the_place_does(tmp_path: Path) -> None:
    saved = expand_place(tmp_path, "home")
    by_name = {entry["name"]: entry for entry in saved["traffic"]["mix"]}
    assert list(by_name) == list(places()["home"].apps)
    assert by_name["web"]["params"]["users"] == 4
    assert by_name["streams"]["params"]["viewers"] == 2
    assert by_name["uploads"]["payload"] == "up"
    assert (saved["link"]["down"], saved["link"]["up"], saved["at"]) == ("20mbit", "1mbit", "both")
    again = mousehole.run(tmp_path / "home.toml")
    place = mousehole.run("home", scheme="droptail", at="both", **SHORT | {"duration": "2s", "warmup": "1s"})
    assert again.transfers.equals(place.transfers)
    assert again.summary["sources"] == list(by_name)


@pytest.mark.parametrize("name", places())
def test_every_place__runs(name: str) -> None:
    rate = 1 if places()[name].users < 30 else 10
    found = mousehole.compare(
        name, down=f"{20 * rate}mbit", up=f"{4 * rate}mbit", quick=True, duration="3s", warmup="2s",
        schemes="droptail,fq-codel",
    )  # fmt: skip
    document = json.loads(found.to_json())
    used = document["manifest"]["scenario"]["traffic"]["mix"]
    assert [entry["name"] for entry in used] == list(places()[name].apps)
    felt = set(found.groups["group"]) - {"pages"}
    assert felt
    assert felt <= set(places()[name].apps)


def count_bytes(users: int, apps: Mapping[str, float] | str = "web:1") -> int:
    """Returns the bytes of all transfers of users on a fast line within 200 s."""
    done = mousehole.run(
        "home", users=users, apps=apps, down="1gbit", up="1gbit", duration="200s", warmup="0s"
    )
    return int(done.transfers["bytes"].sum())


def test_load__follows_from_the_users() -> None:
    few, many = count_bytes(10), count_bytes(100)
    assert 5 < many / few < 20
    calls = mousehole.run("home", users=20, apps={"calls": 0.5}, **SHORT)
    assert len(calls.datagrams) == 2 * 10


def test_load__replaces_the_number_of_web_users() -> None:
    section, _ = place_traffic("home", None, None)
    loaded = with_load(section, 0.4)
    before, after = section["mix"], loaded["mix"]
    assert "load" not in loaded
    assert after[0] == {k: v for k, v in before[0].items() if k != "count"} | {"load": 0.4}
    assert after[1:] == before[1:]
    assert with_load({"model": "web:sfd"}, 0.4) == {"model": "web:sfd", "load": 0.4}
    found = mousehole.compare("home", quick=True, schemes="droptail", load=[0.2, 0.6], **SHORT)
    users = [
        scenarios.fill_in(found.plan.scenario(cell, "droptail"))["traffic"]["mix"][0]["load"]
        for cell in found.plan.cells
    ]
    assert users == [0.2, 0.6]


def test_same_seed__gives_the_same_bytes() -> None:
    def once(jobs: int) -> str:
        return mousehole.compare("cafe", quick=True, jobs=jobs, schemes="droptail,cake", **SHORT).to_json()

    assert once(1) == once(2)
    other = mousehole.compare("cafe", quick=True, schemes="droptail,cake", seed=2, **SHORT)
    assert other.to_json() != once(1)


def test_users_alone__need_no_place() -> None:
    found = mousehole.compare(
        (), users=6, apps=["web:1", "calls:0.5"], quick=True, schemes="droptail", **SHORT
    )
    assert found.label == "6 users"
    done = run_cli("compare", "--users", "6", "--apps", "web:1,calls:0.5", *TYPED, "--quick",
                   "--duration", "2s", "--warmup", "1s", "--schemes", "droptail")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("6 users over 20mbit down, 1mbit up")


def test_run_and_sweep__take_places(tmp_path: Path) -> None:
    done = run_cli("run", "home", *TYPED, "--users", "3", "--duration", "2s", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"]["sources"] == list(places()["home"].apps)
    run_sweep(
        {
            "traffic": "home", "schemes": ["droptail"], "seeds": 1, "axes": {"users": [2, 40]},
            "options": {**SHORT, "apps": "web:1"},
        },
        tmp_path / "found",
    )  # fmt: skip
    assert pl.read_parquet(tmp_path / "found" / "rows" / "*.parquet")["users"].sort().to_list() == [2, 40]


FAULTS = [
    (["home", "--users", "0"], "--users: 0 is not allowed; it must be a whole number of at least 1"),
    (
        ["home", "--users", "99999"],
        "--users: 99999 is not allowed; it must be a whole number from 1 to 10000",
    ),
    (["home", "--apps", "web:1.5"], '--apps: "web:1.5" is not allowed; it must be applications, each with'),
    (["home", "--apps", "web:0"], '--apps: "web:0" is not allowed'),
    (["home", "--apps", "web:nan"], '--apps: "web:nan" is not allowed'),
    (["home", "--apps", "web:"], '--apps: "web:" is not allowed'),
    (["home", "--apps", "wbe"], 'did you mean "web"?'),
    (["home", "--apps", "web,web:0.5"], '--apps: "web" is given twice'),
    (["ofice"], 'ofice: no such file; did you mean "office"?'),
    (["house"], "house: no such file; ready-made users are home, office, "),
    (["--users", "30"], "--apps: give what the users run"),
    (["--apps", "web"], "--users: give the number of users"),
    (["no.csv", "--apps", "web"], '--apps: "web" cannot be combined with other traffic'),
    (["web:sfd", "--users", "3"], "--users: 3 cannot be combined with other traffic"),
    (["no.toml", "--users", "3"], "no.toml"),
    (["home", "office"], '"home" cannot be combined with other traffic; a place stands alone'),
    (["home", "--payload", "up"], '--payload: "up" cannot be combined with traffic of home, 4 users'),
    (["home", "--param", "users=3"], "--param"),
    (["home", "--apps", "calls", "--load", "0.5"], "--load: 0.5"),
]


@pytest.mark.parametrize(("arguments", "words"), FAULTS)
def test_bad_input__is_one_sentence_and_status_2(arguments: list[str], words: str) -> None:
    done = run_cli("compare", *arguments, *TYPED, "--quick")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert words in done.stderr


def test_run__refuses_options_of_places_beside_a_scenario(tmp_path: Path) -> None:
    given = tmp_path / "given.toml"
    given.write_text('[link]\nrate = "1mbit"\n[traffic]\nmodel = "poisson"\n')
    for option, value in (("--users", "3"), ("--apps", "web"), ("--down", "2mbit"), ("--up", "2mbit")):
        done = run_cli("run", str(given), option, value)
        assert done.returncode == 2
        assert done.stderr.startswith(f"mousehole: error: {option}: ")
        assert "cannot be combined with a scenario" in done.stderr


def test_users_of_a_frame__are_refused() -> None:
    frame = pl.DataFrame({"start_s": [0.0], "client": [1], "bytes": [1000]})
    with pytest.raises(MouseholeError, match="users: 3 cannot be combined with other traffic"):
        mousehole.compare(frame, users=3, rate="1mbit")
    with pytest.raises(MouseholeError, match="whose users are simulated"):
        mousehole.inspect("home")


def test_a_file_of_that_name__is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_place("home")
    (tmp_path / "home").mkdir()
    assert is_place("home")
    (tmp_path / "home").rmdir()
    (tmp_path / "home").write_text("")
    assert not is_place("home")


def test_places__are_completed_and_in_the_help() -> None:
    assert "village" in complete_traffic("vil")
    assert set(places()) <= set(complete_traffic(""))
    for arguments in (["help"], ["help", "compare"], ["help", "tune"], ["help", "run"]):
        assert PLACES in " ".join(run_cli(*arguments).stdout.split()), arguments


def write_row(cells: list[object]) -> str:
    """Returns a row of a table in Markdown."""
    return f"| {' | '.join(map(str, cells))} |"


def write_shares(apps: Mapping[str, float]) -> str:
    """Returns shares of applications as the option `--apps` takes them."""
    return ", ".join(f"{name}:{share:g}" for name, share in apps.items())


@pytest.mark.parametrize("name", places())
def test_document__has_the_places(name: str) -> None:
    place = places()[name]
    assert write_row(
        [f"`{name}`", place.summary, place.users, f"`{write_shares(place.apps).replace(', ', ',')}`"]
    ) in (DOCUMENT.read_text("utf-8"))


@pytest.mark.parametrize("name", applications())
def test_document__has_the_applications(name: str) -> None:
    app = applications()[name]
    given = ", ".join(f"`{field}` {str(value).lower()}" for field, value in app.params.items()) or "its own"
    begin = (
        f"| `{name}` | `{app.model}`{', ' + app.payload if app.payload else ''} | {app.share:g} | {given} |"
    )
    assert begin in DOCUMENT.read_text("utf-8")
