"""Circles between the Rust files of a crate: files that name each other's items, directly or around.

tests/test_arrows.py refuses them; `python -m tools.rust_files` prints those of every crate. An arrow goes
from the file that names an item to the file that defines it, through any re-export, so `pub use` makes no
arrow. Sources are read as text without comments and tests: methods and macros are not followed.
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
    """One file: its place in the crate and the names that stand in it."""

    file: Path
    code: str
    children: set[str] = field(default_factory=set)
    defined: set[str] = field(default_factory=set)
    imported: dict[str, tuple[Names, bool]] = field(default_factory=dict)
    """name → what it was imported from, and whether it is passed on (`pub use`)"""
    globs: list[tuple[Names, bool]] = field(default_factory=list)


def circles(root: Path) -> list[list[str]]:
    """Returns the files of a crate that see each other, by their paths from the folder of `root` (lib.rs)."""
    seen = arrows_between(modules(root))
    found = [sorted(str(file.relative_to(root.parent)) for file in group) for group in groups(seen)]
    return sorted(group for group in found if len(group) > 1)


def modules(root: Path) -> dict[Names, Module]:
    """Returns the modules of a crate by their paths, from its `mod` lines; those of tests are left out."""
    found: dict[Names, Module] = {}
    waiting: list[tuple[Names, Path]] = [((), root)]
    while waiting:
        path, file = waiting.pop()
        found[path] = module = read(file)
        folder = file.parent if file == root or file.name == "mod.rs" else file.with_suffix("")
        for name in module.children:
            places = (folder / f"{name}.rs", folder / name / "mod.rs")
            waiting += [((*path, name), place) for place in places if place.exists()]
    return found


def read(file: Path) -> Module:
    """Returns the names that one file defines, imports and passes on."""
    code = without_tests(TEXT.sub(" ", file.read_text(encoding="utf-8")))
    module = Module(file, code, children=set(CHILD.findall(code)))
    module.defined = set(DEFINITION.findall(code)) - module.children
    for public, tree in USE.findall(code):
        for names, alias in leaves(tree):
            if names[-1] == "*":
                module.globs.append((names[:-1], bool(public)))
            else:
                module.imported[alias if alias != "_" else "::".join(names)] = (names, bool(public))
    return module


def without_tests(code: str) -> str:
    """Returns Rust code without the items that stand under `#[cfg(test)]`."""
    while match := TEST.search(code):
        end = match.end()
        brace, line = code.find("{", end), code.find(";", end)
        end = line + 1 if line != -1 and (brace == -1 or line < brace) else closing(code, brace)
        code = code[: match.start()] + code[end:]
    return code


def closing(code: str, brace: int) -> int:
    """Returns the place behind the brace that closes the one at `brace`."""
    depth = 0
    for place in range(brace, len(code)):
        depth += (code[place] == "{") - (code[place] == "}")
        if depth == 0:
            return place + 1
    return len(code)


def leaves(tree: str, before: Names = ()) -> Iterator[tuple[Names, str]]:
    """Returns (path, name in the file) of each name that `use {tree};` imports."""
    tree = tree.strip()
    if tree.endswith("}"):
        head, inner = tree.split("{", 1)
        names = (*before, *(part.strip() for part in head.split("::") if part.strip()))
        for part in split(inner[:-1]):
            yield from leaves(part, names)
    elif tree:
        path, _, alias = (part.strip() for part in tree.partition(" as "))
        names = (*before, *(part.strip() for part in path.split("::")))
        names = names[:-1] if names[-1] == "self" and len(names) > 1 else names
        yield names, alias or names[-1]


def split(text: str) -> Iterator[str]:
    """Returns the parts of a list between commas that stand in no braces."""
    depth, start = 0, 0
    for place, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def arrows_between(found: dict[Names, Module]) -> dict[Path, set[Path]]:
    """Returns for each file the other files whose items it names."""
    seen: dict[Path, set[Path]] = {}
    for path, module in found.items():
        named = {names for names, passed_on in module.imported.values() if not passed_on}
        named |= {(*names, "*") for names, passed_on in module.globs if not passed_on}
        bare = USE.sub("", module.code)
        named |= {tuple(re.split(r"\s*::\s*", match)) for match in PATH.findall(bare)}
        passed = {name for name, (_, passed_on) in module.imported.items() if passed_on}
        named |= {(name,) for name in passed if re.search(rf"\b{re.escape(name)}\b", bare)}
        files = {place.file for names in named for place in [home(found, path, names)] if place}
        seen[module.file] = files - {module.file}
    return seen


def home(
    found: dict[Names, Module], at: Names, names: Names, tried: frozenset[tuple[Names, Names]] = frozenset()
) -> Module | None:
    """Returns the module that defines what `names` means in the module `at`; None outside the crate."""
    if (at, names) in tried or at not in found:
        return None
    tried |= {(at, names)}
    module, (head, *others) = found[at], names
    rest = tuple(others)
    if head in ("crate", "self", "super"):
        up = {"crate": (), "self": at, "super": at[:-1]}[head]
        return home(found, up, rest, tried) if rest else None
    if head in module.children:
        return home(found, (*at, head), rest, tried) if rest else None
    if head == "*" or head in module.defined:
        return module
    if head in module.imported:
        return home(found, at, module.imported[head][0] + rest, tried)
    for opened, _ in module.globs:
        known = {"crate", "self", "super"} | module.children | set(module.imported)
        if opened[0] in known and (place := home(found, at, opened + names, tried)):
            return place
    return None


def groups(seen: dict[Path, set[Path]]) -> list[set[Path]]:
    """Returns the strongly connected parts of a graph: files that reach each other."""
    reach = {file: reached(seen, file) for file in seen}
    found: list[set[Path]] = []
    for file in seen:
        if not any(file in group for group in found):
            found.append({file} | {other for other in reach[file] if file in reach.get(other, set())})
    return found


def reached(seen: dict[Path, set[Path]], file: Path) -> set[Path]:
    """Returns the files that arrows lead to from `file`."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        new = seen.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def roots() -> list[Path]:
    """Returns lib.rs and main.rs of every crate of the workspace."""
    folders = tomllib.loads((arrows.ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["members"]
    places = [arrows.ROOT / folder / "src" / name for folder in folders for name in ("lib.rs", "main.rs")]
    return [place for place in places if place.exists()]


if __name__ == "__main__":
    for root in roots():
        for group in circles(root):
            print(f"{root.relative_to(arrows.ROOT)}: {' '.join(group)}")
