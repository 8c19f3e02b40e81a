"""Writes the manual pages of the command, for `make docs`: one for each command, from its own options.

A wheel installs them under share/man. tests/test_docs.py fails when they and the command differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mousehole import _engine
from mousehole.base.cli_options import list_help_sections
from mousehole.commands.cli import app
from typer.main import get_command

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "python" / "mousehole.data" / "data" / "share" / "man" / "man1"
PROGRAM = "mousehole"


def main() -> None:
    """Renews the pages and removes those of commands that are no more."""
    made = pages()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.1"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"docs: {FOLDER.relative_to(ROOT)} has {len(made)} manual pages")


def pages() -> dict[str, str]:
    """Returns the text of every page by file name, such as `mousehole-compare.1`."""
    return dict(_pages(get_command(app), (PROGRAM,)))


def _pages(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yields the page of a command and those of its own commands; `words` are how it is called."""
    own: Mapping[str, Any] = getattr(command, "commands", {})
    yield f"{'-'.join(words)}.1", page(command, words)
    for name in own:
        yield from _pages(own[name], (*words, name))


def page(command: Any, words: tuple[str, ...]) -> str:
    """Returns the page of one command in the macros of man(7)."""
    own: Mapping[str, Any] = getattr(command, "commands", {})
    context = command.context_class(command, info_name=" ".join(words))
    summary, *details = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    lines = [
        f'.TH {"-".join(words).upper()} 1 "" "Mousehole {_engine.__version__}" "Mousehole"',
        ".SH NAME",
        f"{_plain('-'.join(words))} \\- {_plain(summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_plain(' '.join(words))}",
        _plain(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *_paragraphs([summary, *details]),
    ]
    for heading, records in list_help_sections(command, context).items():
        lines.append(f".SH {heading.upper()}")
        for name, text in records:
            lines += [".TP", f".B {_plain(name)}", _plain(text)]
    if own:
        lines.append(".SH COMMANDS")
        for name in own:
            first = (own[name].help or "").partition("\n\n")[0]
            lines += [".TP", f".BR {_plain('-'.join((*words, name)))} (1)", _plain(" ".join(first.split()))]
    parent = words[:-1] or (PROGRAM, "compare")
    lines += [".SH SEE ALSO", f".BR {_plain('-'.join(parent))} (1)"]
    return "\n".join(lines) + "\n"


def _paragraphs(texts: list[str]) -> Iterator[str]:
    for place, text in enumerate(texts):
        if place:
            yield ".PP"
        yield _plain(text)


def _plain(text: str) -> str:
    """Returns a text in which nothing is a request or an escape, with hyphens that can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped)


if __name__ == "__main__":
    main()
