"""Renews the first example of README.md: runs its command and inserts the output.

`make docs README=1` runs it; the page of the package index shows it too. Of the output it retains
the answer with the lines to install; `…` stands for the rest.
"""

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PACKAGE_INDEX = ROOT / "python" / "PYPI.md"
BLOCK = re.compile(r"```\n\$ (mousehole compare home (?:[^\n]*\\\n)*[^\n]*)\n.*?```", re.DOTALL)
COLUMNS = 98
"""Width of the output, within that of the documents."""
COMMANDS = ("tc ", "sudo ", "mousehole-live ")
"""What lines to type begin with."""


def shorten_output(output: str) -> str:
    """Returns the part of the output of `compare` that the README shows."""
    answer = output.partition("\n\nTransfers ")[0].rstrip()
    return "\n".join(map(_wrap, answer.splitlines())) + "\n…\n"


def _wrap(line: str) -> str:
    """Returns a line wrapped at the documents' width, a command with backslashes.

    Rows of tables stay unchanged.
    """
    is_row = "──" in line or "   " in line
    if is_row or len(line) <= COLUMNS:
        return line
    broken = " \\\n    " if line.startswith(COMMANDS) else "\n"
    return broken.join(textwrap.wrap(line, COLUMNS - len(broken), break_on_hyphens=False))


def find_block(text: str) -> str:
    """Returns the first example of a document; ends the program if there is none."""
    return _find_example(text)[0]


def renew_example(text: str) -> str:
    """Returns the README with the current output of the command in its first example.

    Raises `CalledProcessError` if the command fails; ends the program if there is no example.
    """
    found = _find_example(text)
    words = shlex.split(found[1].replace("\\\n", " "))[1:]
    done = subprocess.run(
        [sys.executable, "-m", "mousehole", *words], stdout=subprocess.PIPE, text=True, check=True
    )
    return f"{text[: found.start()]}```\n$ {found[1]}\n{shorten_output(done.stdout)}```{text[found.end() :]}"


def _find_example(text: str) -> re.Match[str]:
    """Returns the match of the first example; ends the program if there is none."""
    found = BLOCK.search(text)
    if found is None:
        raise SystemExit("there is no block that begins with $ mousehole compare home")
    return found


if __name__ == "__main__":
    found = renew_example(README.read_text("utf-8"))
    README.write_text(found, "utf-8")
    PACKAGE_INDEX.write_text(
        BLOCK.sub(lambda _: find_block(found), PACKAGE_INDEX.read_text("utf-8")), "utf-8"
    )
