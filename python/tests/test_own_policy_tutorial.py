"""Runs docs/own-policy.md: its headers, its commands in order, its Python."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from support import MODULE

PAGE = Path(__file__).parents[2] / "docs" / "own-policy.md"
# What test_own_policy_real.py runs.
IN_REAL_TIME = {"link", "page"}


def list_blocks(language: str) -> list[str]:
    """Returns the code blocks of a language in the tutorial."""
    page = PAGE.read_text(encoding="utf-8")
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)
    return found


def list_commands() -> list[list[str]]:
    """Returns the tutorial's commands, each as a list of arguments."""
    all_ = [shlex.split(command.replace("\\\n", " ")) for command in list_blocks("sh")]
    assert {words[0] for words in all_} == {"mousehole"}
    return all_


def test_tutorial__runs_as_it_stands(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    printed = {}
    headers = iter(list_blocks("c"))
    for words in list_commands():
        if words[1] in IN_REAL_TIME:
            continue
        done = subprocess.run(
            [*MODULE, *words[1:]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{words}{done.stdout}{done.stderr}"
        printed[" ".join(words[1:4])] = done.stdout
        if words[1:3] == ["policy", "new"]:  # the page replaces what was written
            name, kind = words[3].replace("-", "_"), words[5].upper()
            path, header = tmp_path / f"{words[3]}.h", next(headers)
            assert path.read_text().count(f"MH_{kind}({name},") == header.count(f"MH_{kind}({name},") == 1
            path.write_text(header)
    assert "second=50kB" in printed["schemes three-levels --policy"]
    assert next(headers, None) is None
    for file, own in (
        ("found.json", ["three-levels(first=3kB)|multi-red", "three-levels|priority"]),
        ("least.json", ["least-attained", "least-attained(lowest=15kB)"]),
    ):
        found = json.loads((tmp_path / file).read_text())
        schemes = [entry["scheme"] for entry in found["manifest"]["schemes"] if "policies" in entry]
        assert schemes == own
    (script,) = list_blocks("python")
    python = [sys.executable, "-c", script]
    done = subprocess.run(python, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "three-levels|multi-red" in done.stdout
