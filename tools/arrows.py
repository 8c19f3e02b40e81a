"""Checks dependencies: of crates, of the modules of sim/src, and what C headers must not use.

tests/test_arrows.py asserts it; `make arrows` prints the layers of sim/layers.toml. Sources are
read as text with comments removed, so a complaint names file and line and no build is needed. Other
tools check the rest: clippy.toml forbids clocks and thread random numbers in Rust, import-linter
(pyproject.toml) separates the Python packages.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from tools import document

PREFIX = "mousehole-"

# crate → crates of ours it may depend on
CRATES: dict[str, set[str]] = {
    "mousehole-policy": set(),
    "mousehole-scheme": {"mousehole-policy"},
    "mousehole-sim": {"mousehole-policy", "mousehole-scheme"},
    "mousehole-answer": {"mousehole-scheme"},
    "mousehole-compare": {"mousehole-sim", "mousehole-answer", "mousehole-scheme"},
    "mousehole-wasm": {"mousehole-compare"},
    "mousehole-web": {"mousehole-sim", "mousehole-answer", "mousehole-compare"},
    "mousehole-netlink": set(),
    "mousehole-link": {"mousehole-sim", "mousehole-netlink"},
    "mousehole-python": {
        "mousehole-sim",
        "mousehole-answer",
        "mousehole-compare",
        "mousehole-policy",
        "mousehole-check",
        "mousehole-link",
    },
    "mousehole-check": {"mousehole-policy"},
    "mousehole-live": {"mousehole-answer", "mousehole-netlink", "mousehole-policy", "mousehole-scheme"},
}
# crate → crates of ours that its tests may use besides
OF_TESTS: dict[str, set[str]] = {"mousehole-live": {"mousehole-sim"}}

ROOT = Path(__file__).resolve().parent.parent
TABLE: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "sim" / "layers.toml").read_text(encoding="utf-8"))

# module of sim/src → modules it may name
LAYERS: dict[str, set[str]] = {name: set(one["sees"]) for name, one in TABLE.items()}
ROOTS = {"lib", "bin"}
"""The crate's root and its programs, which see everything."""

IMPURE_C = re.compile(
    r"\b(time|clock|clock_gettime|gettimeofday|rand|random|drand48|malloc|free|bpf_ktime_get\w+|bpf_get_prandom_u32"
    r"|bpf_map_\w+)\s*\("
)
WIDE_C = re.compile(r"\b(float|double|__int128)\b")
C_INCLUDES = re.compile(
    r'^\s*#\s*include\s+(?:"(?!mousehole/|\w+\.h")[^"]*"|<(?!std(?:int|def)\.h|linux/types\.h)[^>]*>)'
)


def find_crate_faults(manifest: str, where: str) -> list[str]:
    """Returns a line for each dependency of a Cargo.toml on one of our crates that is not allowed.

    `manifest` is the file's text, and `where` its name in the lines. An unknown crate has one line.
    """
    data = tomllib.loads(manifest)
    name = data["package"]["name"]
    if name not in CRATES:
        return [f"{where}: crate {name} is in no room; add it to tools/arrows.py and ARCHITECTURE.md"]
    ours = {one for one in list_dependencies(data) if one[1].startswith(PREFIX)}
    allowed = {
        (table, crate)
        for table in TABLES
        for crate in CRATES[name] | (OF_TESTS.get(name, set()) if table == TABLES[-1] else set())
    }
    return [f"{where}: {name} must not depend on {crate}" for _, crate in sorted(ours - allowed)]


TABLES = ("dependencies", "build-dependencies", "dev-dependencies")


def list_dependencies(data: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Yields the table and the package of each dependency in a manifest, nested tables included."""
    for key, value in data.items():
        if not isinstance(value, dict):
            continue
        if key.endswith("dependencies"):
            for name, spec in value.items():
                yield key, str(spec.get("package", name)) if isinstance(spec, dict) else str(name)
        else:
            yield from list_dependencies(value)


def list_lower_crates(crate: str) -> set[str]:
    """Returns the crates of ours on which a crate depends, directly or indirectly.

    Raises `KeyError` for an unknown one.
    """
    return CRATES[crate].union(*(list_lower_crates(one) for one in CRATES[crate]))


def find_circle(layers: Mapping[str, set[str]]) -> list[str]:
    """Returns the modules of one circle of dependencies, empty if there is none."""
    try:
        TopologicalSorter(layers).prepare()
    except CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def write_table() -> str:
    """Returns the layers as a Markdown table, lowest first."""
    rows = [
        [f"`{name}`", one["holds"], ", ".join(f"`{seen}`" for seen in one["sees"]) or "nothing"]
        for name, one in TABLE.items()
    ]
    return document.table(("module", "holds", "may see"), rows)


def find_layer_faults(path: Path, text: str) -> list[str]:
    """Returns a line for each module that a file of sim/src names but must not see.

    `path` is relative to sim/src. The crate's root and its programs have no faults; a module in no layer has
    one.
    """
    layer = path.parts[0].removesuffix(".rs")
    if layer in ROOTS:
        return []
    if layer not in LAYERS:
        return [f"sim/src/{path}: module {layer} is in no layer; add it to sim/layers.toml"]
    allowed = LAYERS[layer]
    seen = find_named_modules(path, strip_comments(text))
    return [
        f"sim/src/{path}:{line}: {layer} must not see {name}"
        for line, name in sorted(seen)
        if name != layer and name not in allowed
    ]


def find_named_modules(path: Path, code: str) -> set[tuple[int, str]]:
    """Returns (line, top-level module) for each path in the code that starts at the crate's root."""
    depth = len(path.parts) - (path.name == "mod.rs")
    found = set()
    for match in re.finditer(r"\b(crate|super(?:\s*::\s*super)*)\s*::\s*(\{|\w+)", code):
        supers = match[1].count("super")
        if supers and supers < depth:
            continue
        line = code.count("\n", 0, match.start()) + 1
        for name in list_group_heads(code, match.end()) if match[2] == "{" else [match[2]]:
            if name in LAYERS or (not supers and name.islower() and name != "self"):
                found.add((line, name))
    return found


def list_group_heads(code: str, start: int) -> list[str]:
    """Returns the first names of an import group `{a, b::c, d::{e, f}}`, whose brace opens before `start`."""
    depth, body = 1, ""
    for char in code[start:]:
        depth += (char == "{") - (char == "}")
        if depth == 0:
            break
        body += char if depth == 1 else ""
    return [name for part in body.split(",") if (name := part.strip().split("::")[0].split(" ")[0])]


def find_impurities(where: str, text: str) -> list[str]:
    """Returns a line for each use of clocks, randomness, allocation, floats or foreign headers in C.

    `text` is the source, and `where` its name in the lines.
    """
    code = strip_comments(text)
    lines = list(enumerate(code.splitlines(), 1))
    found = [
        f"{where}:{number}: {match[0].strip()} is not allowed here; time and randomness are arguments"
        for number, line in lines
        for match in IMPURE_C.finditer(line)
    ]
    found += [
        f"{where}:{number}: {match[0]} is not allowed here; only descriptions of policies may use it"
        for number, line in enumerate(strip_descriptions(code).splitlines(), 1)
        for match in WIDE_C.finditer(line)
    ]
    return found + [
        f"{where}:{number}: {line.strip()} does not exist for every compiler we use"
        for number, line in lines
        if C_INCLUDES.match(line)
    ]


def strip_comments(text: str) -> str:
    """Returns Rust or C source without comments, with unchanged line numbers."""
    blocks = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", blocks)


def strip_descriptions(code: str) -> str:
    """Returns C source without the code under `#ifdef MH_DESCRIBE`, with unchanged line numbers."""
    kept, depth, blanked = [], 0, 0
    for line in code.splitlines():
        directive = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
        word, rest = directive.groups() if directive else ("", "")
        if word.startswith("if"):
            depth += 1
            if not blanked and word == "ifdef" and rest.strip() == "MH_DESCRIBE":
                blanked = depth
        elif word.startswith("el") and blanked == depth:
            blanked = 0
        kept.append("" if blanked else line)
        if word == "endif":
            blanked = 0 if blanked == depth else blanked
            depth -= 1
    return "\n".join(kept)


if __name__ == "__main__":
    print(write_table(), end="")
