"""Runs docs/own-policy.md: its header, its commands in order, its Python."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from support import MODULE

PAGE = Path(__file__).parents[2] / "docs" / "own-policy.md"


def blocks(language: str) -> list[str]:
    """Returns the code blocks of a language."""
    page = PAGE.read_text(encoding="utf-8")
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```", page, re.M | re.S)
    return found


def test_tutorial__runs_as_it_stands(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    printed = []
    for number, command in enumerate(blocks("sh")):
        words = shlex.split(command.replace("\\\n", " "))
        assert words[0] == "mousehole"
        done = subprocess.run(
            [*MODULE, *words[1:]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}{done.stdout}{done.stderr}"
        printed.append(done.stdout)
        if number == 0:  # the page replaces what `policy new` has written
            assert (tmp_path / "three-levels.h").read_text().count("MH_MARKER(three_levels,") == 1
            (header,) = blocks("c")
            (tmp_path / "three-levels.h").write_text(header)
    assert "second=50kB" in printed[2]
    found = json.loads((tmp_path / "found.json").read_text())
    own = [entry for entry in found["manifest"]["schemes"] if "policies" in entry]
    schemes = [entry["scheme"] for entry in own]
    assert schemes == ["three-levels(first=3kB)|multi-red", "three-levels|priority"]
    (script,) = blocks("python")
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "three-levels|multi-red" in done.stdout
