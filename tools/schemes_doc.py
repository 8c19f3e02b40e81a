"""Writes docs/schemes.md from the engine's catalogue, and the layers into sim/README.md, for `make docs`.

tests/test_docs.py fails when the document and the engine differ.
"""

from __future__ import annotations

from pathlib import Path

from mousehole import _engine
from mousehole.engine_types import ParameterEntry, SchemeEntry

from tools import arrows, document

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "schemes.md"
README = DOCUMENT.parent.parent / "sim" / "README.md"
TARGET = "docs"


def main() -> None:
    """Renews the document in place."""
    document.renew(DOCUMENT, TARGET, body(_engine.schemes()))
    document.renew(README, TARGET, f"\n{arrows.table()}\n")
    print(f"docs: {DOCUMENT.name} lists {len(_engine.schemes())} schemes")


def body(schemes: list[SchemeEntry]) -> str:
    """Returns the part of the document that lists the schemes."""
    return "".join(section(scheme) for scheme in schemes)


def section(scheme: SchemeEntry) -> str:
    """Returns one scheme: heading, what it is, where it comes from, its parameters."""
    rows = [row(parameter) for parameter in scheme["params"]]
    header = ("parameter", "default", "value", "meaning", "source of the default")
    return (
        f"\n## `{scheme['name']}`\n\n{capitalised(scheme['summary'])}. {scheme['detail']}\n\n"
        f"Source: {scheme['source']}.\n\n"
        f"{document.table(header, rows)}"
    )


def row(parameter: ParameterEntry) -> list[str]:
    """Returns one line of a scheme's table."""
    cells = [f"`{parameter['name']}`", f"`{parameter['default']}`"]
    return [*cells, parameter["unit"], parameter["doc"], parameter["source"]]


def capitalised(phrase: str) -> str:
    """Returns the phrase with a large first letter, the rest untouched."""
    return phrase[:1].upper() + phrase[1:]


if __name__ == "__main__":
    main()
