"""Renews the first example of README.md: the command that stands there, with what it prints now.

`make docs README=1` runs it. Of the output it keeps the answer with what to install; `…` stands for the rest.
"""

import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

README = Path(__file__).resolve().parents[1] / "README.md"
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


def renewed(text: str) -> str:
    """Returns the README with the output of the command in its first example."""
    found = BLOCK.search(text)
    if found is None:
        raise SystemExit("README.md: there is no block that begins with $ mousehole compare home")
    words = shlex.split(found[1].replace("\\\n", " "))[1:]
    done = subprocess.run(
        [sys.executable, "-m", "mousehole", *words], stdout=subprocess.PIPE, text=True, check=True
    )
    block = f"```\n$ {found[1]}\n{shown(done.stdout)}```"
    return text[: found.start()] + block + text[found.end() :]


if __name__ == "__main__":
    README.write_text(renewed(README.read_text("utf-8")), "utf-8")
