"""`.ci/run` fails when a step fails and ends with the counts, shown on a stand-in Makefile."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = """\
deps lint site web bpf-compile bpf-parity live-test page-test wheel-test wasm-check instructions fuzz-brief:
\t@{other}
test:
\t@test "$$CI" = true && test "$$MOUSEHOLE_REQUIRE_DATA" = 1
\t@test {failed} -ge 0
\t@mkdir -p build
\t@printf '{{\\n "passed": 7,\\n "failed": {failed},\\n "not_run": []\\n}}\\n' > build/tests.json
\t@test {failed} = 0
"""


def run_ci(folder: Path, other: str, failed: int) -> tuple[int, str]:
    """Runs `.ci/run` in a folder that stands for a clone, with a stand-in Makefile.

    Returns its status and last line. `other` is the recipe of all targets but `test`, which counts
    `failed` tests.
    """
    clone = folder / "clone"
    (folder / "shared" / "data").mkdir(parents=True)
    (clone / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "run", clone / ".ci" / "run")
    (clone / "Makefile").write_text(MAKEFILE.format(other=other, failed=failed))
    environment = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [".ci/run"], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.splitlines()[-1]


@pytest.mark.parametrize(
    ("other", "failed", "code", "last"),
    [
        ("true", 0, 0, "7 passed, 0 failed"),
        ("true", 2, 1, "7 passed, 2 failed"),
        ("false", 0, 1, "7 passed, 12 failed"),
        ("true", -1, 1, "0 passed, 1 failed"),  # the tests never started
    ],
)
def test_ci__last_line_and_exit_code(tmp_path: Path, other: str, failed: int, code: int, last: str) -> None:
    assert run_ci(tmp_path, other, failed) == (code, last)
