"""Open- and closed-loop replay from the outside: option, default, report, document."""

import csv
import json
import sys
from pathlib import Path

import mousehole
import polars as pl
import pytest
from mousehole.base import MouseholeError
from mousehole.commands.cli import main
from mousehole.inputs import describe_replay
from mousehole.scenario import fill_in

QUICK = {"rate": "2mbit", "schemes": "droptail", "duration": "10s", "warmup": "2s", "seeds": 1}


def make_connections(ends: bool) -> pl.DataFrame:
    """Returns users who fetch an object, and the next one half a second after its end.

    The duration of fetches is given only if `ends`.
    """
    starts = [(client, n, client * 0.3 + 1.5 * n) for client in range(5) for n in range(12)]
    rows = [
        {"start_s": at_s, "client": client, "server": 0, "bytes": 9000 + n, "duration_s": 1.0}
        for client, n, at_s in starts
    ]
    frame = pl.DataFrame(sorted(rows, key=lambda row: row["start_s"]))
    return frame if ends else frame.drop("duration_s")


@pytest.mark.parametrize(
    ("ends", "asked", "expected"),
    [(True, None, "closed"), (False, None, "open"), (True, "open", "open"), (True, "closed", "closed")],
)
def test_replay__follows_the_option_or_what_is_known(ends: bool, asked: str | None, expected: str) -> None:
    found = mousehole.compare(make_connections(ends), replay=asked, load=0.3, **QUICK)  # type: ignore[arg-type]
    assert json.loads(found.to_json())["cells"][0]["replay"] == expected
    assert found.manifest["scenario"]["traffic"].get("replay") == asked


def test_replay__closed_needs_ends() -> None:
    with pytest.raises(MouseholeError, match=r"traffic\.replay.*0 of 60") as refused:
        mousehole.compare(make_connections(ends=False), replay="closed", **QUICK)  # type: ignore[arg-type]
    assert refused.value.field == "traffic.replay"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "replay: closed loop, as the ends of 60 of 60 connections are recorded; 55 wait"),
        (["--replay", "closed"], "replay: closed loop, as asked; 55 wait"),
        (["--replay", "open"], "replay: open loop, as asked"),
    ],
)
def test_report__says_how_and_why(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    table = tmp_path / "users.csv"
    make_connections(ends=True).write_csv(table)
    link = ["--rate", "2mbit", "--schemes", "droptail", "--duration", "10s", "--warmup", "2s", "--seeds", "1"]
    monkeypatch.setattr(sys, "argv", ["mousehole", "compare", str(table), *link, *options])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code in (0, None)
    assert words in capsys.readouterr().out


def make_shared_client(users: int) -> pl.DataFrame:
    """Returns a client that is several users with a fetch every two seconds each, and one single user."""
    starts = [(int(user == users), k, k * 2 + user * 0.45) for k in range(50) for user in range(users + 1)]
    rows = [
        {"start_s": at_s, "client": client, "server": 0, "bytes": 9000, "duration_s": 0.9}
        for client, _, at_s in starts
    ]
    return pl.DataFrame(sorted(rows, key=lambda row: row["start_s"]))


def test_report__says_which_clients_are_several_users() -> None:
    understood = mousehole.inspect(make_shared_client(4))
    assert (understood["waiting"], understood["shared_addresses"]) == (49, 1)
    scenario = fill_in({"traffic": {"files": ["some.csv"]}})
    said = describe_replay("closed", scenario, understood)
    assert said is not None
    assert said.endswith("; 1 of 2 clients taken for several users or programs, which do not wait")
    alone = describe_replay("closed", scenario, mousehole.inspect(make_connections(ends=True)))
    assert alone is not None
    assert "several users" not in alone


def test_records__of_a_run_are_a_traffic_with_ends(tmp_path: Path) -> None:
    scenario = {
        "schema": "mousehole.scenario/1", "warmup": "0s", "duration": "20s",
        "link": {"rate": "5mbit"}, "traffic": {"model": "poisson", "load": 0.5},
    }  # fmt: skip
    records, table = mousehole.run(scenario), tmp_path / "records.csv"
    records.transfers.write_csv(table)
    understood = mousehole.inspect(str(table))
    with table.open() as lines:
        finished = sum(row["end_s"] not in ("", "NaN") for row in csv.DictReader(lines))
    assert understood["connections"] == records.transfers.height
    assert understood["ends_known"] == finished > 0
    replayed = {**scenario, "traffic": {"files": [str(table)]}}
    assert mousehole.run(replayed).summary["load"]["replay"] == "closed"
    assert mousehole.run(replayed, replay="open").summary["load"]["replay"] == "open"
