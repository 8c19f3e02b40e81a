"""Renews the first example of README.md: the command that stands there, with what it prints now.

`make docs README=1` runs it, for the page of the package index too. Of the output it keeps the answer with
what to install; `…` stands for the rest.
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


def shown(output: str) -> str:
    """Returns the part of what `compare` printed that the README shows."""
    answer = output.partition("\n\nTransfers ")[0].rstrip()
    return "\n".join(map(_wrapped, answer.splitlines())) + "\n…\n"


def _wrapped(line: str) -> str:
    """Returns a line in lines of the documents' width, a command continued; rows of tables stay."""
    is_row = "──" in line or "   " in line
    if is_row or len(line) <= COLUMNS:
        return line
    broken = " \\\n    " if line.startswith(COMMANDS) else "\n"
    return broken.join(textwrap.wrap(line, COLUMNS - len(broken), break_on_hyphens=False))


def block(text: str) -> str:
    """Returns the first example that stands in a document."""
    return _found(text)[0]


def renewed(text: str) -> str:
    """Returns the README with the output of the command in its first example."""
    found = _found(text)
    words = shlex.split(found[1].replace("\\\n", " "))[1:]
    done = subprocess.run(
        [sys.executable, "-m", "mousehole", *words], stdout=subprocess.PIPE, text=True, check=True
    )
    return f"{text[: found.start()]}```\n$ {found[1]}\n{shown(done.stdout)}```{text[found.end() :]}"


def _found(text: str) -> re.Match[str]:
    found = BLOCK.search(text)
    if found is None:
        raise SystemExit("there is no block that begins with $ mousehole compare home")
    return found


if __name__ == "__main__":
    found = renewed(README.read_text("utf-8"))
    README.write_text(found, "utf-8")
    PACKAGE_INDEX.write_text(BLOCK.sub(lambda _: block(found), PACKAGE_INDEX.read_text("utf-8")), "utf-8")
