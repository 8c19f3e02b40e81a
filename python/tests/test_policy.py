"""Own policies from the command line and from Python."""

import json
import os
import sys
import time
from pathlib import Path

import mousehole
import pytest
from mousehole import policy
from mousehole.base import MouseholeError
from mousehole.commands.cli import main
from mousehole.runs import _plan as plan
from mousehole.scenario import _policy_trial as policy_trial


def run_policy(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """Runs `mousehole policy` in this process; returns its exit status."""
    monkeypatch.setattr(sys, "argv", ["mousehole", "policy", *arguments])
    monkeypatch.setattr("os._exit", sys.exit)
    with pytest.raises(SystemExit) as leaving:
        main()
    return int(leaving.value.code or 0)


@pytest.mark.parametrize("kind", ["marker", "dropper"])
def test_new__writes_a_header_that_passes_and_never_overwrites(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_policy(["new", f"my-{kind}", "--kind", kind], monkeypatch) == 0
    assert capsys.readouterr().out == f"my-{kind}.h\n"
    written = Path(f"my-{kind}.h").read_text(encoding="utf-8")
    assert run_policy(["new", f"my-{kind}", "--kind", kind], monkeypatch) == 2
    assert "exists already" in capsys.readouterr().err
    assert Path(f"my-{kind}.h").read_text(encoding="utf-8") == written
    arguments = ["check", f"my-{kind}.h", "--no-kernel", "--records", "5000", "--json", "found.json"]
    assert run_policy(arguments, monkeypatch) == 0
    assert "kernel          NOT RUN\n    The kernel check was switched off." in capsys.readouterr().out
    found = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert found["schema"] == "mousehole.policy-check/1"
    assert [entry["verdict"] for entry in found["policies"][0]["checks"]][:2] == ["passed", "passed"]
    assert len(found["policies"][0]["sha256"]) == 64


def test_check__distinguishes_faults_from_wrong_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    header = policy.new("faulty-one", folder=tmp_path)
    text = header.read_text(encoding="utf-8")
    header.write_text(text.replace("MH_YELLOW : MH_RED;", "MH_YELLOW : 9;"), encoding="utf-8")
    assert run_policy(["check", str(header), "--no-kernel", "--records", "5000"], monkeypatch) == 1
    assert "returns 9; allowed: MH_GREEN" in capsys.readouterr().out
    assert run_policy(["check", "no-such"], monkeypatch) == 2
    assert "no-such" in capsys.readouterr().err
    assert run_policy(["check", "sfd", "--no-kernel", "--require-kernel"], monkeypatch) == 2
    assert run_policy(["check", "sfd", "--records", "many"], monkeypatch) == 2


def test_is_good__can_require_the_kernel() -> None:
    report = policy.check("sfd", records=256, kernel=False)
    assert policy.is_good(report)
    assert not policy.is_good(report, require_kernel=True)


def test_new__refuses_names_and_kinds(tmp_path: Path) -> None:
    names = ("My", "sfd", "cake", "droptail", "s-sfd", "all")
    for name, kind in [*((name, "marker") for name in names), ("mine", "scheduler")]:
        with pytest.raises(MouseholeError):
            policy.new(name, kind, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["cake", "droptail", "s-sfd", "all"])
def test_check__refuses_the_name_of_a_scheme(name: str, tmp_path: Path) -> None:
    c_name = name.replace("-", "_")
    text = policy.new("mine", folder=tmp_path).read_text(encoding="utf-8").replace("mine", c_name)
    (tmp_path / f"{name}.h").write_text(text, encoding="utf-8")
    (check,) = policy.check(tmp_path / f"{name}.h", kernel=False)["checks"]
    assert check["verdict"] == "failed"
    assert "give the header another name" in check["sentences"][0]


def test_new__names_the_file_that_it_writes(tmp_path: Path) -> None:
    for kind in ("marker", "dropper", "queue"):
        text = policy.new(f"my-{kind}", kind, tmp_path).read_text(encoding="utf-8")
        assert f"policy check my-{kind}.h" in text
        assert f"--policy my-{kind}.h" in text


def test_check__a_pipe_that_is_included_ends_the_compiler_soon(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    header = policy.new("waits", folder=tmp_path)
    header.write_text('#include "pipe"\n' + header.read_text(encoding="utf-8"), encoding="utf-8")
    begin = time.monotonic()
    (check,) = policy.check(header, kernel=False)["checks"]
    assert time.monotonic() - begin < 30
    assert "what is included may be a pipe" in check["sentences"][0]


def test_headers__are_where_a_compiler_finds_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_policy(["headers"], monkeypatch) == 0
    assert (Path(capsys.readouterr().out.strip()) / "mousehole" / "policy.h").is_file()


def test_headers__are_not_put_where_others_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mousehole"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert run_policy(["headers"], monkeypatch) == 2
    said = capsys.readouterr().err
    assert f"others may write to {folder} (its mode is 777)" in said
    assert said.count("\n") == 1
    assert not list(folder.iterdir())


def header_that(name: str, does: str, folder: Path, where: str = "1") -> Path:
    """Writes a marker whose set-up does something if a condition holds; returns its path."""
    header = policy.new(name, folder=folder)
    text = header.read_text(encoding="utf-8")
    begin = text.index("{", text.index("_setup(struct")) + 1
    changed = f"{text[:begin]}\n\tif ({where}) {{ {does} }}{text[begin:]}"
    header.write_text(changed, encoding="utf-8")
    return header


def test_compare__a_setup_that_is_broken_on_this_link_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = header_that("own-here", "__builtin_trap();", tmp_path, where="link->rate_bps == 7654321.0")
    options = {"load": 0.5, "schemes": "own-here|multi-red", "duration": "2s", "warmup": "1s", "seeds": 1}
    mousehole.compare("poisson", rate="5mbit", policy=str(header), **options)  # type: ignore[arg-type]
    with pytest.raises(MouseholeError, match="setup crashed"):
        mousehole.compare("poisson", rate="7654321bit", policy=str(header), **options)  # type: ignore[arg-type]
    scenario = {
        "link": {"rate": "7654321bit"},
        "scheme": "own-here|multi-red",
        "traffic": {"model": "poisson"},
    }
    with pytest.raises(MouseholeError, match="setup crashed"):
        mousehole.run(scenario)
    started: list[str] = []
    monkeypatch.setattr(policy_trial, "_try_in_process", lambda *_: started.append(""))
    monkeypatch.setattr(policy_trial._engine, "parts", list)
    mousehole.run({**scenario, "scheme": "sfd"}, duration="1s", warmup="0s")
    assert started == [], "without own policies there is no other process"


def test_load_policies__reports_what_raises_there_as_here(tmp_path: Path) -> None:
    (tmp_path / "wrong.h").write_text("this is no C", encoding="utf-8")
    with pytest.raises(MouseholeError, match=r"wrong\.h: does not compile"):
        plan.load_policies(str(tmp_path / "wrong.h"))
