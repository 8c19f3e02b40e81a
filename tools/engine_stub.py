"""Generates `python/mousehole/_engine.pyi` from the binding's Rust sources, for `make docs`.

Names, defaults, types and docs are those of the functions and classes there. Where a Rust type is
too unspecific, as `Bound<'_, PyAny>` is, a comment right before the function has the Python types
of parameters and result: `// python: scenario: Scenario, -> str`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mousehole import _engine

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "python" / "src"
COLUMNS = 95
"""Width of docs, which stand within quotes, perhaps in a class."""
STUB = ROOT / "python" / "mousehole" / "_engine.pyi"
TYPES = [STUB.with_name(name) for name in ("engine_types.py", "engine_structs.py")]
"""Files with the types of the border; they are not imported, since one of them is written."""
HEAD = '''# Written by `make docs` from python/src (tools/engine_stub.py).
"""The engine's functions. They raise `mousehole.MouseholeError` for a fault in the input."""
'''
PLAIN = {
    **dict.fromkeys(("str", "String", "PathBuf", "std::path::PathBuf"), "str"),
    **dict.fromkeys(("u8", "u16", "u32", "u64", "i32", "i64", "usize"), "int"),
    "f64": "float", "bool": "bool", "()": "None", "Column": "ArrayLike", "Table": "Sequence[Quantity]",
    "PyAny": "Any", "PyDict": "dict[str, Any]", "PyList": "list[Any]", "PyTuple": "tuple[Any, ...]",
}  # fmt: skip
"""Python's types for Rust's that have no parameters."""
ARRAYS = {"f64": "Floats", "u64": "UInts64"}
"""Types of arrays by that of their elements."""
VALUES = {"None": "None", "true": "True", "false": "False"}
FUNCTION = re.compile(r"\s*(?:pub )?fn (\w+)(?:<[^>]*>)?\(")
CLASS = re.compile(r"\s*(?:pub )?struct (\w+)")
CONSTANT = re.compile(r'module\.add\(\s*"(\w+)"')


@dataclass
class Item:
    """The lines before a function or a class: its doc, its attributes, the Python types of its parameters."""

    doc: list[str] = field(default_factory=list)
    attributes: str = ""
    types: dict[str, str] = field(default_factory=dict)


def write_stub() -> str:
    """Returns the text of the stub, from the Rust sources and the constants of the installed engine.

    Raises `CalledProcessError` if ruff fails.
    """
    lib = (SOURCES / "lib.rs").read_text(encoding="utf-8")
    files = ["lib", *re.findall(r"^mod (\w+);", lib, re.MULTILINE)]
    texts = [(SOURCES / f"{name}.rs").read_text(encoding="utf-8") for name in files]
    constants = [_write_constant(name) for text in texts for name in CONSTANT.findall(text)]
    body = "\n".join([*constants, *(part for text in texts for part in _list_members(text))])
    types = "".join(file.read_text(encoding="utf-8") for file in TYPES)
    known = re.findall(r"^(?:class )?(\w+)(?: = |\(|:\n)", types, re.MULTILINE)
    shared = sorted({name for name in known if re.search(rf"\b{name}\b", body)})
    imports = [
        f"from collections.abc import {_choose_used(body, 'Callable Iterable Mapping Sequence')}",
        f"from typing import {_choose_used(body, 'Any Literal')}",
        "from numpy.typing import ArrayLike",
        "from mousehole.base import MouseholeError",
        f"from mousehole.engine_types import {', '.join(shared)}",
    ]
    return format_module("\n".join([HEAD, *imports, body]), STUB)


def _choose_used(body: str, names: str) -> str:
    """Returns those of the names that occur in the body, joined by commas."""
    return ", ".join(name for name in names.split() if re.search(rf"\b{name}\b", body))


def format_module(text: str, path: Path) -> str:
    """Returns the text of a module in the format of `ruff`, with sorted imports.

    Raises `CalledProcessError` if ruff fails. `path` chooses ruff's settings and is not read.
    """
    for command in (["check", "--quiet", "--select", "I", "--fix"], ["format", "--quiet"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"],
            input=text, capture_output=True, text=True, check=True,
        )  # fmt: skip
        text = done.stdout
    return text


def _write_constant(name: str) -> str:
    """Returns the declaration of a constant of the engine.

    Raises `AttributeError` for one that the installed engine lacks.
    """
    value = getattr(_engine, name)
    if isinstance(value, list | tuple):
        inner = "Counter" if name == "DROP_REASONS" else type(value[0]).__name__
        return f"{name}: {type(value).__name__}[{inner}{', ...' * isinstance(value, tuple)}]"
    return f"{name}: {type(value).__name__}"


def _list_members(text: str) -> Iterator[str]:
    """Yields the functions of a file, then its classes with their methods."""
    classes: dict[str, list[str]] = {}
    for item, line, rest in list_items(text):
        if "pyclass" in item.attributes and (found := CLASS.match(line)):
            fields = re.findall(r"/// (.+)\n\s*(\w+): (.+),$", rest.partition("}")[0], re.MULTILINE)
            own = [_write_getter(*one) for one in fields] if "get_all" in item.attributes else []
            classes[found[1]] = [f"class {found[1]}:", *write_doc(item, "    "), *own]
        elif "pyfunction" in item.attributes and FUNCTION.match(line):
            yield _write_function(item, line + rest)
    for block in re.finditer(r"^#\[pymethods\]\nimpl (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        for item, line, rest in list_items(block[2]):
            if found := FUNCTION.match(line):
                classes[block[1]] += _write_method(item, line + rest, found[1], block[1])
    for lines in classes.values():
        yield "\n".join(lines)


def list_items(text: str) -> Iterator[tuple[Item, str, str]]:
    """Yields for each function and struct the lines before it, its first line, and the text after that."""
    item, lines = Item(), text.splitlines(keepends=True)
    for place, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith("///"):
            item.doc.append(bare[3:].removeprefix(" "))
        elif bare.startswith("// python:"):
            item.types |= _read_types(bare.removeprefix("// python:"))
        elif bare.startswith("#["):
            item.attributes += bare
        elif FUNCTION.match(line) or CLASS.match(line):
            yield item, line, "".join(lines[place + 1 :])
            item = Item()
        elif bare:
            item = Item()


def _read_types(text: str) -> dict[str, str]:
    """Returns the Python types in a comment, by parameter; the key `->` is the result."""
    head, arrow, result = text.partition("-> ")
    named = (part.partition(":") for part in _split(head) if part)
    return {**{name.strip(): kind.strip() for name, _, kind in named}, **({"->": result} if arrow else {})}


def _split(text: str) -> list[str]:
    """Returns the parts of a text between commas outside brackets; empty parts are dropped.

    An arrow `->` comes back as a NUL character.
    """
    parts, depth, part = [], 0, ""
    for letter in text.replace("->", "\0"):
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and not depth:
            parts.append(part.strip())
            part = ""
        else:
            part += letter
    return [part for part in [*parts, part.strip()] if part]


def _write_method(item: Item, text: str, name: str, owner: str) -> list[str]:
    """Returns the stub's lines for a method, indented by four spaces.

    A getter becomes a property, a constructor `__new__`, a class attribute its value in the installed engine.
    Any other name that begins with two underscores gives no lines. Sets `item.types["->"]` of a constructor.
    Raises `AttributeError` for a class attribute that the installed engine lacks.
    """
    if "#[getter]" in item.attributes:
        written = _write_function(item, text, "self")
        return ["    @property", *(f"    {line}" for line in written.splitlines())]
    if "#[new]" in item.attributes:
        item.types["->"] = owner
        written = _write_function(item, text, "cls").replace(f"def {name}(", "def __new__(", 1)
        return [f"    {line}" for line in written.splitlines()]
    if "#[classattr]" in item.attributes:
        return [f"    {name} = {getattr(getattr(_engine, owner), name)!r}"]
    if name.startswith("__"):
        return []
    return [f"    {line}" for line in _write_function(item, text, "self").splitlines()]


def _write_getter(doc: str, name: str, kind: str) -> str:
    """Returns a read-only property."""
    head = f"    @property\n    def {name}(self) -> {python_type(kind, False)}:"
    return "\n".join([head, *write_doc(Item([doc]), " " * 8)])


def _write_function(item: Item, text: str, first: str = "") -> str:
    """Returns a function with its doc.

    `text` begins with the Rust function, and `first` is the name of its receiver, if any.
    """
    rust, begin = FUNCTION.findall(text)[0], text.index("(") + 1
    inner, end = _find_end(text, begin)
    result = text[end:].partition("{\n")[0].strip().removeprefix("-> ")
    given = dict(part.split(": ", 1) for part in _split(inner) if ": " in part)
    defaults = _read_defaults(item.attributes)
    parameters = [first] if first else []
    for name, kind in given.items():
        if not kind.startswith("Python<"):
            own = item.types.get(name) or python_type(kind, True)
            value = defaults.get(name)
            own += " | None" if value == "None" and not own.endswith("| None") else ""
            parameters.append(f"**{name}: Any" if value == "**" else
                              f"{name}: {own}" + (f" = {value}" if value else ""))  # fmt: skip
    renamed = re.findall(r'name = "(\w+)"', item.attributes)
    returned = item.types.get("->") or python_type(result or "()", False)
    head = f"def {renamed[0] if renamed else rust}({', '.join(parameters)}) -> {returned}:"
    doc = write_doc(item, "    ")
    return "\n".join([head, *doc]) if doc else f"{head} ..."


def _find_end(text: str, begin: int) -> tuple[str, int]:
    """Returns the text up to the closing bracket, in one line, and the index after that bracket.

    `begin` is the index after the opening one. Raises `ValueError` without a closing bracket.
    """
    depth = 1
    for place in range(begin, len(text)):
        depth += (text[place] == "(") - (text[place] == ")")
        if not depth:
            return text[begin:place].replace("\n", " ").replace("'py ", "").replace("'_ ", ""), place + 1
    raise ValueError(f"no bracket closes {text[:80]}")


def _read_defaults(attributes: str) -> dict[str, str]:
    """Returns the defaults of parameters from a `signature` attribute; `**` marks further keywords.

    It is empty without such an attribute.
    """
    found = re.search(r"signature = \(", attributes)
    if found is None:
        return {}
    parts = [part.partition("=") for part in _split(_find_end(attributes, found.end())[0])]
    return {
        name.strip().lstrip("*"): "**" if name.startswith("**") else _read_value(value.strip())
        for name, _, value in parts
        if value or name.startswith("**")
    }


def _read_value(text: str) -> str:
    """Returns the Python text of a default, `...` if it is no literal."""
    is_literal = re.fullmatch(r'[\d.]+|"[^"]*"', text)
    return VALUES.get(text, text if is_literal else "...")


def python_type(rust: str, is_given: bool) -> str:
    """Returns the Python type for a Rust type; with `is_given`, for a parameter, any sequence is accepted.

    An unknown name stays as it is.
    """
    kind = re.sub(r"&(?:'\w+ )?|'\w+,? ?|Borrowed", "", rust).strip().removesuffix("<>")
    if kind in PLAIN:
        return PLAIN[kind]
    if kind.startswith("("):
        return f"tuple[{', '.join(python_type(one, is_given) for one in _split(kind[1:-1]))}]"
    if not (found := re.fullmatch(r"(\w+)<(.*)>", kind)):
        return kind
    outer, inner = found[1], _split(found[2])
    if outer in ("PyArray1", "PyReadonlyArray1"):
        return ARRAYS[inner[0]]
    own = [python_type(one, is_given) for one in inner]
    if outer == "Option":
        return f"{own[0]} | None"
    if outer == "Vec":
        return f"{'Sequence' if is_given else 'list'}[{own[0]}]"
    if outer == "BTreeMap":
        return f"{'Mapping' if is_given else 'dict'}[{own[0]}, {own[1]}]"
    return own[0]


def write_doc(item: Item, indent: str) -> list[str]:
    """Returns the lines of the docstring, without the section on errors and the brackets of links.

    It is empty without a text.
    """
    text = "\n".join(item.doc).partition("# Errors")[0].strip()
    text = re.sub(r"\[(`[^`]*`)\]", r"\1", text)
    if not text:
        return []
    text = "\n\n".join(textwrap.fill(part, COLUMNS) for part in text.split("\n\n"))
    lines = text.splitlines()
    if len(lines) == 1:
        return [f'{indent}"""{text}"""']
    return [f'{indent}"""{lines[0]}', *(f"{indent}{line}".rstrip() for line in lines[1:]), f'{indent}"""']


def main() -> None:
    """Renews the stub."""
    STUB.write_text(write_stub(), encoding="utf-8")


if __name__ == "__main__":
    main()
