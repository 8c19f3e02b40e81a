"""Runs what docs/own-policy.md does in real time: programs and a page behind the queue of the page."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from support import MODULE
from test_link import find_obstacle
from test_own_policy_tutorial import IN_REAL_TIME, list_blocks, list_commands

pytestmark = pytest.mark.alone


def test_tutorial__runs_programs_and_a_page(tmp_path: Path) -> None:
    if reason := find_obstacle():
        pytest.skip(reason)
    (header,) = (block for block in list_blocks("c") if "MH_QUEUE(" in block)
    (tmp_path / "least-attained.h").write_text(header)
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    wanted = [words for words in list_commands() if words[1] in IN_REAL_TIME]
    assert [words[1] for words in wanted] == ["link", "page"]
    for words in wanted:
        done = subprocess.run(
            [*MODULE, *words[1:]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        if words[1] == "page" and done.returncode == 2:
            # The only thing that may be lacking for it.
            assert "Chromium" in done.stderr or "mousehole[page]" in done.stderr, done.stderr
            continue
        document = (tmp_path / words[words.index("--json") + 1]).read_text()
        # A machine that is too busy makes a run invalid, which its status says.
        is_late = done.returncode == 1 and re.search(r'"is_valid": ?false', document)
        assert done.returncode == 0 or is_late, done.stderr
        assert '"least-attained"' in document
