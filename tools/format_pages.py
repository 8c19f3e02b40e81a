"""Runs the examples of docs/formats, for `make docs`, and inserts their output after them.

tests/test_format_pages.py fails if the output on a page is not current.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "formats"
EXAMPLE = re.compile(r"```sh\n(.*?)```\n\n```text\n(.*?)```\n", re.DOTALL)


def run_examples(page: str) -> str:
    """Returns a page with the current output of its examples, which run one after another in one folder.

    The folder is temporary.
    """
    with tempfile.TemporaryDirectory(prefix="formats-") as folder:

        def run(example: re.Match[str]) -> str:
            """Returns an example with its current output."""
            return f"```sh\n{example[1]}```\n\n```text\n{run_script(example[1], Path(folder))}```\n"

        return EXAMPLE.sub(run, page)


def run_script(script: str, folder: Path) -> str:
    """Returns the output of a shell script that runs in `folder` with `mousehole` on its path.

    Errors are in the output too; the exit status does not matter. Raises `TimeoutExpired` after 120 s.
    """
    programs = f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}"
    done = subprocess.run(
        ["bash", "-eu"], input=script, cwd=folder, text=True, timeout=120, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, "PATH": programs, "COLUMNS": "100", "NO_COLOR": "1"},
    )  # fmt: skip
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.strip().splitlines())


def main() -> None:
    """Renews all pages in place."""
    pages = sorted(FOLDER.glob("*.md"))
    for page in pages:
        page.write_text(run_examples(page.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"docs: {FOLDER.relative_to(ROOT)} has {len(pages)} pages with examples")


if __name__ == "__main__":
    main()
