"""Writes the tables of docs/schemes.md from the engine's own catalogue; `make docs` calls it.

tests/test_docs.py fails when the document and the engine differ.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mousehole import _engine

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "schemes.md"
BEGIN = "<!-- from here on written by make docs -->\n"


def main() -> None:
    """Renews the document in place."""
    text = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(renewed(text, _engine.schemes()), encoding="utf-8")
    print(f"docs: {DOCUMENT.name} lists {len(_engine.schemes())} schemes")


def renewed(text: str, schemes: list[dict[str, Any]]) -> str:
    """The document with everything after its marker replaced."""
    head, marker, _ = text.partition(BEGIN)
    if not marker:
        raise ValueError(f"docs/schemes.md has no line {BEGIN.strip()}")
    return head + BEGIN + "".join(section(scheme) for scheme in schemes)


def section(scheme: dict[str, Any]) -> str:
    """One scheme: heading, what it is, where it comes from, its parameters."""
    rows = "".join(row(parameter) for parameter in scheme["params"])
    return (
        f"\n## `{scheme['name']}`\n\n{capitalised(scheme['summary'])}. {scheme['detail']}\n\n"
        f"Source: {scheme['source']}.\n\n"
        f"| parameter | default | value | meaning | source of the default |\n|---|---|---|---|---|\n{rows}"
    )


def row(parameter: dict[str, Any]) -> str:
    """One line of a scheme's table."""
    cells = [f"`{parameter['name']}`", f"`{parameter['default']}`"]
    cells += [parameter[key].replace("|", "\\|") for key in ("unit", "doc", "source")]
    return f"| {' | '.join(cells)} |\n"


def capitalised(phrase: str) -> str:
    """The phrase with a large first letter, the rest untouched."""
    return phrase[:1].upper() + phrase[1:]


if __name__ == "__main__":
    main()
