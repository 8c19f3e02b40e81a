"""The door of the program: help, the commands that it lists, words that a shell completes, what is loaded."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from mousehole.base import complete_schemes, complete_traffic
from mousehole.commands._registry import COMMANDS
from mousehole.commands.cli import main
from support import MODULE

ROOT = Path(__file__).parents[2]


def run_command(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command with these environment variables in addition."""
    return subprocess.run(
        [*MODULE, *words], capture_output=True, text=True, env={**os.environ, **environment}, check=False
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_help__of_each_command_by_three_ways(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In this process, where everything is loaded; the next tests start others."""

    def said(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["mousehole", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        assert leaving.value.code == 0
        return capsys.readouterr().out

    whole = said(name, "--help")
    assert COMMANDS[name].summary.split(":")[0] in " ".join(whole.split())
    assert said(name, "-h") == whole == said("help", name)


GROUPS = {"policy": ("new", "check", "headers"), "sweep": ("run", "show")}
"""The commands that have commands; the words after the name that are none of these belong to `run`."""
PAGES = [
    ROOT / "README.md",
    *ROOT.glob("docs/**/*.md"),
    *ROOT.glob("papers/**/*.md"),
    *ROOT.glob("*/README.md"),
]


def list_typed(text: str) -> list[tuple[str, list[str]]]:
    """Returns the name of each command in a page's code, and the options that it is given."""
    typed = re.findall(r"(?<![\w/.-])mousehole ([a-z]+)([^\n`]*)", text.replace("\\\n", " "))
    words = [(name, re.sub(r"'[^']*'", "", given.split(" -- ")[0])) for name, given in typed]
    return [(f"{name} {given}", re.findall(r"(?<![\w-])--[a-z][a-z-]*", given)) for name, given in words]


def test_pages__show_options_that_commands_have(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    known: dict[tuple[str, ...], str] = {}
    wrong, checked = [], 0
    for page in PAGES:
        for typed, options in list_typed(page.read_text(encoding="utf-8")):
            name, *rest = typed.split()
            if name not in COMMANDS or name == "live":
                continue
            command = (name,)
            if name in GROUPS:
                command += (rest[0] if rest and rest[0] in GROUPS[name] else "run",)
            if command not in known:
                monkeypatch.setattr(sys, "argv", ["mousehole", *command, "--help"])
                with pytest.raises(SystemExit):
                    main()
                known[command] = capsys.readouterr().out + " --help "
            checked += len(options)
            wrong += [f"{page.name}: {typed}: {one}" for one in options if f"{one} " not in known[command]]
    assert checked > 300
    assert wrong == []


def test_help__lists_all_commands() -> None:
    listed = run_command("--help").stdout
    assert [name for name in COMMANDS if f"\n  {name} " not in listed] == []
    assert run_command("help").stdout == run_command("-h").stdout == listed


def test_help__of_a_command_that_is_not_there_names_one_that_is() -> None:
    done = run_command("help", "compar")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Did you mean 'compare'?" in done.stderr


def run_live(folder: Path, script: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs `mousehole live` where the shell finds a script as `mousehole-live`.

    For an empty script, it finds nothing.
    """
    if script:
        (folder / "mousehole-live").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "mousehole-live").chmod(0o755)
    return run_command("live", *words, PATH=str(folder))


def test_live__passes_every_word_on_and_its_status(tmp_path: Path) -> None:
    words = ["explain", "--", "-h", "a b", "--json", ""]
    done = run_live(tmp_path, "printf '%s|' \"$@\"; echo said >&2; exit 3", *words)
    assert (done.returncode, done.stdout, done.stderr) == (3, "".join(f"{word}|" for word in words), "said\n")
    assert run_live(tmp_path, 'echo "$@"', "--version").stdout == "--version\n"
    assert run_live(tmp_path, "kill -TERM $$").returncode == -15


def test_live__that_is_missing_or_broken_is_one_sentence(tmp_path: Path) -> None:
    for bytes_, said in ((b"", "mousehole-live is not installed"), (b"\x7fELF", "cannot be run; ")):
        if bytes_:
            (tmp_path / "mousehole-live").write_bytes(bytes_)
            (tmp_path / "mousehole-live").chmod(0o755)
        done = run_live(tmp_path, "", "status")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert said in done.stderr


HEAVY = ("numpy", "polars", "altair", "optuna", "rich.progress")


@pytest.mark.parametrize(
    "words", [["--version"], ["--help"], ["compare", "--nope"], ["tune", "-h"], ["sweep", "-h"]]
)
def test_start__loads_no_heavy_library(words: list[str]) -> None:
    script = (
        f"import sys\nsys.argv = ['mousehole', *{words!r}]\nfrom mousehole.commands.launcher import main\n"
        "try:\n    main()\nfinally:\n"
        f"    print(*[name for name in {HEAVY!r} if name in sys.modules], 'end', file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == " end".strip()


def test_completion__of_schemes_goes_on_after_a_comma_and_a_bar() -> None:
    assert complete_schemes("droptail,fq") == ["droptail,fq-codel"]
    assert "sfd|cake" in complete_schemes("sfd|c")
    assert complete_schemes("nothing-so") == []


def test_completion__of_traffic_has_models_files_and_folders(
    tmp_path: "os.PathLike[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("web-logs")  # noqa: PTH102
    with open("web.csv", "w"):  # noqa: PTH123
        pass
    found = complete_traffic("web")
    assert {"web:sfd", "web.csv", "web-logs/"} <= set(found)


def test_completion__by_the_script_of_bash() -> None:
    script = run_command("completion", "bash").stdout
    assert script.startswith("COMP_WORDBREAKS=")
    asked = {"_MOUSEHOLE_COMPLETE": "complete_bash", "COMP_WORDS": "mousehole tune web:sf", "COMP_CWORD": "2"}
    assert run_command(**asked).stdout.split() == ["web:sfd", "web:sfd-literal"]


def test_completion__of_another_shell_is_refused() -> None:
    done = run_command("completion", "tcsh")
    assert done.returncode == 2
    assert '"tcsh"' in done.stderr
    assert "bash, zsh or fish" in done.stderr


def test_commands__have_an_application_each() -> None:
    for entry in COMMANDS.values():
        assert import_module(entry.module).app.registered_commands


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("report", ["compare", "web:sfd", "--rate", "3mbit", "--html", "a.html"]),
        ("report", ["compare", "web:sfd", "--rate", "3mbit", "--plot", "a.png"]),
        ("tune", ["tune", "web:sfd", "--rate", "3mbit", "--scheme", "sfd"]),
    ],
)
def test_extra__is_named_before_any_work_where_it_is_missing(
    extra: str, words: list[str], tmp_path: Path
) -> None:
    script = (
        "import sys\nfrom mousehole.base import _extras\n"
        f"_extras.EXTRAS[{extra!r}] = {{'no_such_one': 'such'}}\n"
        f"sys.argv = ['mousehole', *{words!r}]\nfrom mousehole.commands.launcher import main\nmain()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"needs the package such, which is not installed; pip install 'mousehole[{extra}]'" in done.stderr
    assert list(tmp_path.iterdir()) == []
