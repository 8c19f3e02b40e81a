"""Writes the manual pages of the command, for `make docs`: one for each command, from its options.

A wheel installs them under share/man. tests/test_docs.py fails if they and the command differ.
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
    """Writes the pages and removes those of commands that no longer exist."""
    made = write_pages()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.1"):
        if old.name not in made:
            old.unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"docs: {FOLDER.relative_to(ROOT)} has {len(made)} manual pages")


def write_pages() -> dict[str, str]:
    """Returns the text of every page by file name, such as `mousehole-compare.1`; loads all commands."""
    return dict(_list_pages(get_command(app), (PROGRAM,)))


def _list_pages(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yields name and text of the page of a command and of its subcommands.

    `words` are those with which the command is called.
    """
    own: Mapping[str, Any] = getattr(command, "commands", {})
    yield f"{'-'.join(words)}.1", write_page(command, words)
    for name in own:
        yield from _list_pages(own[name], (*words, name))


def write_page(command: Any, words: tuple[str, ...]) -> str:
    """Returns the page of one command in the macros of man(7)."""
    own: Mapping[str, Any] = getattr(command, "commands", {})
    context = command.context_class(command, info_name=" ".join(words))
    summary, *details = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    lines = [
        f'.TH {"-".join(words).upper()} 1 "" "Mousehole {_engine.__version__}" "Mousehole"',
        ".SH NAME",
        f"{_escape('-'.join(words))} \\- {_escape(summary.rstrip('.'))}",
        ".SH SYNOPSIS",
        f".B {_escape(' '.join(words))}",
        _escape(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *_write_paragraphs([summary, *details]),
    ]
    for heading, records in list_help_sections(command, context).items():
        lines.append(f".SH {heading.upper()}")
        for name, text in records:
            lines += [".TP", f".B {_escape(name)}", _escape(text)]
    if own:
        lines.append(".SH COMMANDS")
        for name in own:
            first = (own[name].help or "").partition("\n\n")[0]
            lines += [".TP", f".BR {_escape('-'.join((*words, name)))} (1)", _escape(" ".join(first.split()))]
    parent = words[:-1] or (PROGRAM, "compare")
    lines += [".SH SEE ALSO", f".BR {_escape('-'.join(parent))} (1)"]
    return "\n".join(lines) + "\n"


def _write_paragraphs(texts: list[str]) -> Iterator[str]:
    """Yields the lines of paragraphs, with a request between two of them."""
    for place, text in enumerate(texts):
        if place:
            yield ".PP"
        yield _escape(text)


def _escape(text: str) -> str:
    """Returns a text without requests and escapes of roff, with hyphens that can be copied."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", escaped)


if __name__ == "__main__":
    main()
