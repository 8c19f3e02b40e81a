"""Finds circles between the Rust files of a crate: files that use each other's items, directly or indirectly.

tests/test_arrows.py refuses them; `python -m tools.rust_files` prints those of every crate. An
arrow goes from the file that names an item to the file that defines it, through any re-export, so
`pub use` makes no arrow. Sources are read as text without comments and tests: methods and macros
are not followed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tools import arrows

Names = tuple[str, ...]

DEFINITION = re.compile(
    r"^[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?(?:(?:const|unsafe|async|extern(?:[ \t]+\"\w*\")?)[ \t]+)*"
    r"(?:fn|struct|enum|union|trait|type|const|static|mod)[ \t]+(\w+)",
    re.MULTILINE,
)
CHILD = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))?[ \t]+)?mod[ \t]+(\w+);", re.MULTILINE)
USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))?[ \t]+)?use[ \t\n]+([^;]+);", re.MULTILINE)
PATH = re.compile(r"(?<![\w:.])((?:[a-zA-Z_]\w*\s*::\s*)+[a-zA-Z_]\w*)")
TEXT = re.compile(
    r"//[^\n]*|/\*.*?\*/"  # comments
    r"|\bb?r(#*)\".*?\"\1|\"(?:[^\"\\]|\\.)*\""  # strings
    r"|'(?:[^'\\\n]|\\[^\n]{1,9}?)'",  # characters; a lifetime has no second quote
    re.DOTALL,
)
TEST = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*")


@dataclass
class Module:
    """One file: its path and the names that it defines, imports and re-exports."""

    file: Path
    code: str
    children: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    imported: dict[str, tuple[Names, bool]] = field(default_factory=dict)
    """name → what it was imported from, and whether it is passed on (`pub use`)"""
    globs: list[tuple[Names, bool]] = field(default_factory=list)


def find_circles(root: Path) -> list[list[str]]:
    """Returns the groups of files in a crate that depend on each other.

    `root` is its lib.rs or main.rs; paths are relative to its folder.
    """
    seen = find_arrows(read_modules(root))
    found = [sorted(str(file.relative_to(root.parent)) for file in group) for group in find_groups(seen)]
    return sorted(group for group in found if len(group) > 1)


def read_modules(root: Path) -> dict[Names, Module]:
    """Returns the modules of a crate by their paths, found by `mod` lines; modules of tests are left out."""
    found: dict[Names, Module] = {}
    waiting: list[tuple[Names, Path]] = [((), root)]
    while waiting:
        path, file = waiting.pop()
        found[path] = module = read_module(file)
        folder = file.parent if file == root or file.name == "mod.rs" else file.with_suffix("")
        for name in module.children:
            places = (folder / f"{name}.rs", folder / name / "mod.rs")
            waiting += [((*path, name), place) for place in places if place.exists()]
    return found


def read_module(file: Path) -> Module:
    """Returns the names that one file defines, imports and re-exports; the code of tests does not count."""
    code = strip_tests(TEXT.sub(" ", file.read_text(encoding="utf-8")))
    module = Module(file, code, children=set(CHILD.findall(code)))
    module.defined = set(DEFINITION.findall(code)) - module.children
    for public, tree in USE.findall(code):
        for names, alias in list_imports(tree):
            if names[-1] == "*":
                module.globs.append((names[:-1], bool(public)))
            else:
                module.imported[alias if alias != "_" else "::".join(names)] = (names, bool(public))
    return module


def strip_tests(code: str) -> str:
    """Returns Rust code without the items under `#[cfg(test)]`."""
    while match := TEST.search(code):
        end = match.end()
        brace, line = code.find("{", end), code.find(";", end)
        end = line + 1 if line != -1 and (brace == -1 or line < brace) else find_closing(code, brace)
        code = code[: match.start()] + code[end:]
    return code


def find_closing(code: str, brace: int) -> int:
    """Returns the index after the brace that closes the one at `brace`, or the end of the code."""
    depth = 0
    for place in range(brace, len(code)):
        depth += (code[place] == "{") - (code[place] == "}")
        if depth == 0:
            return place + 1
    return len(code)


def list_imports(tree: str, before: Names = ()) -> Iterator[tuple[Names, str]]:
    """Yields the path of each name that `use {tree};` imports, and its name in the file."""
    tree = tree.strip()
    if tree.endswith("}"):
        head, inner = tree.split("{", 1)
        names = (*before, *(part.strip() for part in head.split("::") if part.strip()))
        for part in split_at_commas(inner[:-1]):
            yield from list_imports(part, names)
    elif tree:
        path, _, alias = (part.strip() for part in tree.partition(" as "))
        names = (*before, *(part.strip() for part in path.split("::")))
        names = names[:-1] if names[-1] == "self" and len(names) > 1 else names
        yield names, alias or names[-1]


def split_at_commas(text: str) -> Iterator[str]:
    """Yields the parts of a list between commas outside braces."""
    depth, start = 0, 0
    for place, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def find_arrows(found: dict[Names, Module]) -> dict[Path, set[Path]]:
    """Returns for each file the other files of the crate whose items it names."""
    seen: dict[Path, set[Path]] = {}
    for path, module in found.items():
        named = {names for names, passed_on in module.imported.values() if not passed_on}
        named |= {(*names, "*") for names, passed_on in module.globs if not passed_on}
        bare = USE.sub("", module.code)
        named |= {tuple(re.split(r"\s*::\s*", match)) for match in PATH.findall(bare)}
        passed = {name for name, (_, passed_on) in module.imported.items() if passed_on}
        named |= {(name,) for name in passed if re.search(rf"\b{re.escape(name)}\b", bare)}
        files = {place.file for names in named for place in [find_home(found, path, names)] if place}
        seen[module.file] = files - {module.file}
    return seen


def find_home(
    found: dict[Names, Module], at: Names, names: Names, tried: frozenset[tuple[Names, Names]] = frozenset()
) -> Module | None:
    """Returns the module that defines the item `names` as seen in the module `at`, or None.

    None stands for an item outside the crate, or for imports that lead in a circle. `tried` are the steps
    before.
    """
    if (at, names) in tried or at not in found:
        return None
    tried |= {(at, names)}
    module, (head, *others) = found[at], names
    rest = tuple(others)
    if head in ("crate", "self", "super"):
        up = {"crate": (), "self": at, "super": at[:-1]}[head]
        return find_home(found, up, rest, tried) if rest else None
    if head in module.children:
        return find_home(found, (*at, head), rest, tried) if rest else None
    if head == "*" or head in module.defined:
        return module
    if head in module.imported:
        return find_home(found, at, module.imported[head][0] + rest, tried)
    for opened, _ in module.globs:
        known = {"crate", "self", "super"} | module.children | set(module.imported)
        if opened[0] in known and (place := find_home(found, at, opened + names, tried)):
            return place
    return None


def find_groups(seen: dict[Path, set[Path]]) -> list[set[Path]]:
    """Returns the strongly connected components of a graph of files."""
    reach = {file: find_reachable(seen, file) for file in seen}
    found: list[set[Path]] = []
    for file in seen:
        if not any(file in group for group in found):
            found.append({file} | {other for other in reach[file] if file in reach.get(other, set())})
    return found


def find_reachable(seen: dict[Path, set[Path]], file: Path) -> set[Path]:
    """Returns the files that can be reached by arrows from `file`."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        new = seen.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def list_roots() -> list[Path]:
    """Returns lib.rs and main.rs of every crate of the workspace."""
    folders = tomllib.loads((arrows.ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    places = [arrows.ROOT / folder / "src" / name for folder in folders for name in ("lib.rs", "main.rs")]
    return [place for place in places if place.exists()]


if __name__ == "__main__":
    for root in list_roots():
        for group in find_circles(root):
            print(f"{root.relative_to(arrows.ROOT)}: {' '.join(group)}")
