"""Copies the texts of the JSON Schema of a comparison to other places, for `make docs`.

These are the outline in docs/json.md, and the docs of the fields of Python's rows. The schema has
these texts from the doc comments of the engine's types.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mousehole import quantities

from tools import document
from tools.quantities_doc import SUBJECTS

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "docs" / "mousehole.compare-3.schema.json"
DOCUMENT = ROOT / "docs" / "json.md"
TARGET = "docs (outline)"
PACKAGE = ROOT / "python" / "mousehole"
SOURCES = [PACKAGE / name for name in ("runs/_results.py", "answer/advice.py", "answer/vetoes.py")]
"""Modules with classes whose fields have their texts from the schema."""
DEFINITIONS = {"LoadRow": "CellEntry", "SchemeRow": "SchemeEntry"}
"""Where the fields of a class stand in the schema, if not in a definition of the same name."""
OBJECTS = ("Bucket", "Margin")
"""Annotations of objects of which the document has the parts."""
QUANTITIES = {"BucketRow": "bucket", "SchemeEntry": "scheme"}
"""Definitions with columns of quantities, and what these are about."""
NAMES, COLUMNS, CODE_COLUMNS = 20, document.COLUMNS, 110
"""Width of the names of the outline, of documents and of Python."""

Schema = Mapping[str, Any]


def main() -> None:
    """Renews the document and the modules in place; raises `ValueError` if the document has no marker."""
    schema = load_schema()
    document.renew(DOCUMENT, TARGET, write_outline(schema))
    for path in SOURCES:
        path.write_text(insert_texts(path.read_text(encoding="utf-8"), schema), encoding="utf-8")


def load_schema() -> Schema:
    """Returns the schema, read from its file."""
    found: Schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return found


def write_outline(schema: Schema) -> str:
    """Returns a code block with every field of the document, nested, with its text."""
    lines = "\n".join(_list_lines(schema, "", schema["$defs"], 0))
    return f"\n```\n{lines}\n```\n\n"


def _list_lines(
    entry: Schema, definition: str, definitions: Mapping[str, Schema], depth: int
) -> Iterator[str]:
    """Yields the lines of an object's fields; those without texts and fields of their own share lines."""
    columns = _list_columns(definition)
    bare: list[str] = []
    for name, field in _list_fields(entry):
        if name in columns or name in _list_all_ends(entry["properties"]):
            continue
        inner, brackets = _find_target(field)
        shown = ", ".join([name, *_list_end_names(name, entry["properties"])]) + brackets
        text = field.get("description") or definitions.get(inner, {}).get("description", "")
        if not text and not inner:
            bare.append(shown)
            continue
        yield from _write_line(shown, text, depth)
        if "properties" in definitions.get(inner, {}):
            yield from _list_lines(definitions[inner], inner, definitions, depth + 1)
    if bare:
        yield from _write_line("", ", ".join(bare), depth)
    if columns:
        words = SUBJECTS[QUANTITIES[definition]]  # type: ignore[index]
        text = f"The quantities of {words}, each with the ends of its interval; see below."
        yield from _write_line("…", text, depth)


def _list_fields(entry: Schema) -> Iterator[tuple[str, Schema]]:
    """Yields the fields of an object in the order of its type, which is that of the schema's `required`."""
    required = entry.get("required", [])
    for name in [*required, *(name for name in entry["properties"] if name not in required)]:
        yield name, entry["properties"][name]


def _write_line(name: str, text: str, depth: int) -> list[str]:
    """Returns the lines of a field: its text next to the name or, if the name is long, below it."""
    indent, column = "  " * depth, " " * (NAMES + 4)
    if not name:
        return _wrap(text, COLUMNS, indent)
    head = f"{indent}{name}"
    lines = _wrap(text, COLUMNS, column) or [column]
    if len(head) >= len(column) - 1:
        return [head, *lines] if text else [head]
    return [f"{head:<{len(column)}}{lines[0].strip()}".rstrip(), *lines[1:]]


def _find_target(field: Schema) -> tuple[str, str]:
    """Returns the definition of a field or of its items, empty without one, and `[]` for a list."""
    own = next((one for one in field.get("anyOf", ()) if "$ref" in one), field)
    inner = own.get("items", {})
    place = own.get("$ref") or inner.get("$ref") or ""
    return place.rpartition("/")[2], " []" if inner else ""


def _list_end_names(name: str, fields: Schema) -> list[str]:
    """Returns the names of the fields that hold the ends of a field's interval."""
    stem = name.removesuffix("_s")
    unit = name.removeprefix(stem)
    pairs = ([f"{stem}_low{unit}", f"{stem}_high{unit}"], ["low", "high"] if name == "change" else [])
    return next((ends for ends in pairs if ends and all(_is_end(fields.get(end, {})) for end in ends)), [])


def _is_end(field: Schema) -> bool:
    """Returns whether a field is the end of an interval, by its text."""
    text: str = field.get("description", "")
    return text.startswith(("Lower end", "Upper end"))


def _list_all_ends(fields: Schema) -> set[str]:
    """Returns the names of all fields that are ends of intervals."""
    return {end for name in fields for end in _list_end_names(name, fields)}


def _list_columns(definition: str) -> set[str]:
    """Returns the names of the columns of a definition's quantities, empty if it has none."""
    if definition not in QUANTITIES:
        return set()
    names = [one.name for one in quantities.list_of_subject(QUANTITIES[definition])]  # type: ignore[arg-type]
    return {each for name in names for each in (name, *quantities.name_ends(name))}


def insert_texts(source: str, schema: Schema) -> str:
    """Returns a module whose class fields have the schema's texts as docs.

    A field that the schema does not describe retains its text, and so does one of the types in `OBJECTS`.
    """
    lines = source.splitlines()
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    for owner in reversed(classes):
        described = schema["$defs"].get(DEFINITIONS.get(owner.name, owner.name), {}).get("properties", {})
        for field, following in reversed(list(zip(owner.body, [*owner.body[1:], None], strict=True))):
            if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
                continue
            text = described.get(field.target.id, {}).get("description")
            annotation = ast.unparse(field.annotation)
            if text is None or annotation in OBJECTS:
                continue
            is_text = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
            last = following.end_lineno if is_text and following is not None else field.end_lineno
            lines[field.end_lineno : last] = _write_docstring(text, annotation)
    return "\n".join(lines) + "\n"


def _write_docstring(text: str, annotation: str) -> list[str]:
    """Returns a text as the docstring of a field; JSON's null is NaN in an estimate, and None elsewhere."""
    unknown = "NaN" if annotation in ("Estimate", "Change") else "None"
    words = re.sub(r"\bnull\b", unknown, text)
    return _wrap(f'"""{words}"""', CODE_COLUMNS, "    ")


def _wrap(text: str, columns: int, indent: str) -> list[str]:
    """Returns a text as lines that do not begin with a percent sign; each begins with `indent`."""
    kept = text.replace(" %", "\0%")
    lines = textwrap.wrap(kept, columns, initial_indent=indent, subsequent_indent=indent)
    return [line.replace("\0", " ") for line in lines]


if __name__ == "__main__":
    main()
