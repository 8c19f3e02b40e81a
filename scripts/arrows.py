"""Which room may see which, and what the pure rooms must not touch; tests/test_arrows.py asserts it.

The rooms and arrows are those of ARCHITECTURE.md. Sources are read as text with comments removed, so a
complaint names file and line and no build is needed.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PREFIX = "mousehole-"

# crate → crates of ours it may depend on, in any kind of dependency
CRATES: dict[str, set[str]] = {
    "mousehole-policy": set(),
    "mousehole-sim": {"mousehole-policy"},
    "mousehole-python": {"mousehole-sim", "mousehole-policy", "mousehole-check"},
    "mousehole-check": {"mousehole-policy"},
}

BASE = {"units", "rng", "error", "flow"}

# module of sim/src → modules it may name; None sees everything; a test keeps them free of circles
_NETWORK = BASE | {"drop_reason", "series", "packet", "queue", "marker", "record", "link"}
_WORLD = _NETWORK | {"wheel", "tcp", "traffic"}
LAYERS: dict[str, set[str] | None] = {
    "error": set(),
    "rng": set(),
    "flow": set(),
    "drop_reason": set(),
    "units": {"error"},
    "series": {"units"},
    "packet": BASE,
    "queue": BASE | {"packet", "drop_reason", "series"},
    "marker": BASE | {"packet", "series"},
    "record": BASE | {"packet", "drop_reason"},
    "link": BASE | {"packet", "drop_reason", "queue", "record"},
    "wheel": BASE,
    "tcp": {"units", "error", "packet"},
    "traffic": BASE,
    "engine": _WORLD,
    "scenario": _WORLD | {"engine"},
    "lib": None,
    "bin": None,
}

# Python folder → top-level packages of ours it may import
PYTHON_ROOMS: dict[str, set[str]] = {"python": {"mousehole"}, "papers": {"mousehole", "papers"}}
OUR_PACKAGES = {"mousehole", "papers", "live", "sim", "policy"}

IMPURE_RUST = re.compile(
    r"\b(Instant|SystemTime|UNIX_EPOCH|chrono|thread_rng|ThreadRng|StdRng|SmallRng|OsRng|from_entropy"
    r"|from_os_rng|getrandom|RandomState|DefaultHasher|libc::(?:time|clock|rand)\w*)\b|\brand::(?:rng|random)\b"
)
IMPURE_C = re.compile(
    r"\b(time|clock|clock_gettime|gettimeofday|rand|random|drand48|malloc|free|bpf_ktime_get\w+|bpf_get_prandom_u32"
    r"|bpf_map_\w+)\s*\("
)
WIDE_C = re.compile(r"\b(float|double|__int128)\b")
C_INCLUDES = re.compile(
    r'^\s*#\s*include\s+(?:"(?!mousehole/|\w+\.h")[^"]*"|<(?!std(?:int|def)\.h|linux/types\.h)[^>]*>)'
)


def crate_faults(manifest: str, where: str) -> list[str]:
    """Dependencies of one Cargo.toml on our own crates that are not allowed."""
    data = tomllib.loads(manifest)
    name = data["package"]["name"]
    if name not in CRATES:
        return [f"{where}: crate {name} is in no room; add it to scripts/arrows.py and ARCHITECTURE.md"]
    ours = {crate for crate in dependencies(data) if crate.startswith(PREFIX)}
    return [f"{where}: {name} must not depend on {other}" for other in sorted(ours - CRATES[name])]


def dependencies(data: dict[str, object]) -> Iterator[str]:
    """Package names in every dependency table of a manifest, nested ones included."""
    for key, value in data.items():
        if not isinstance(value, dict):
            continue
        if key.endswith("dependencies"):
            for name, spec in value.items():
                yield str(spec.get("package", name)) if isinstance(spec, dict) else str(name)
        else:
            yield from dependencies(value)


def layer_faults(path: Path, text: str) -> list[str]:
    """Modules named by one file of sim/src (`path` relative to it) that its layer must not see."""
    layer = path.parts[0].removesuffix(".rs")
    if layer not in LAYERS:
        return [f"sim/src/{path}: module {layer} is in no layer; add it to scripts/arrows.py"]
    allowed = LAYERS[layer]
    if allowed is None:
        return []
    seen = modules_named(path, without_comments(text))
    return [
        f"sim/src/{path}:{line}: {layer} must not see {name}"
        for line, name in sorted(seen)
        if name != layer and name not in allowed
    ]


def modules_named(path: Path, code: str) -> set[tuple[int, str]]:
    """(line, top-level module) for each path in the code that reaches the crate's root."""
    depth = len(path.parts) - (path.name == "mod.rs")
    found = set()
    for match in re.finditer(r"\b(crate|super(?:\s*::\s*super)*)\s*::\s*(\{|\w+)", code):
        supers = match[1].count("super")
        if supers and supers < depth:
            continue
        line = code.count("\n", 0, match.start()) + 1
        for name in group_heads(code, match.end()) if match[2] == "{" else [match[2]]:
            if name in LAYERS or (not supers and name.islower() and name != "self"):
                found.add((line, name))
    return found


def group_heads(code: str, start: int) -> list[str]:
    """First names of a `{a, b::c, d::{e, f}}` import group whose brace opens just before `start`."""
    depth, body = 1, ""
    for char in code[start:]:
        depth += (char == "{") - (char == "}")
        if depth == 0:
            break
        body += char if depth == 1 else ""
    return [name for part in body.split(",") if (name := part.strip().split("::")[0].split(" ")[0])]


def python_faults(room: str, where: str, text: str) -> list[str]:
    """Imports of our own packages that a Python file of `room` must not make."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"\s*(?:from|import)\s+(\w+)((?:\.\w+)*)", line)
        if not match:
            continue
        package = match[1]
        if package in OUR_PACKAGES - PYTHON_ROOMS[room]:
            found.append(f"{where}:{number}: {room} must not import {package}")
        if room == "papers" and package == "mousehole" and "._" in match[2]:
            found.append(f"{where}:{number}: papers use the public package, not {package}{match[2]}")
    return found


def impurities(where: str, text: str) -> list[str]:
    """Clocks, dice, allocation and hash-ordered loops in a Rust or C source that must stay pure."""
    code = without_comments(text)
    is_rust = where.endswith(".rs")
    pattern = IMPURE_RUST if is_rust else IMPURE_C
    found = [
        f"{where}:{number}: {match[0].strip()} is not allowed here; time and randomness are arguments"
        for number, line in enumerate(code.splitlines(), 1)
        for match in pattern.finditer(line)
    ]
    if is_rust:
        return found + hash_loops(where, code)
    found += [
        f"{where}:{number}: {match[0]} is not allowed here; only descriptions of policies may use it"
        for number, line in enumerate(without_descriptions(code).splitlines(), 1)
        for match in WIDE_C.finditer(line)
    ]
    return found + [
        f"{where}:{number}: {line.strip()} does not exist for every compiler we use"
        for number, line in enumerate(code.splitlines(), 1)
        if C_INCLUDES.match(line)
    ]


def hash_loops(where: str, code: str) -> list[str]:
    """Loops over a HashMap or HashSet: their order differs from run to run."""
    typed = re.findall(r"\b(\w+)\s*:\s*&?(?:mut\s+)?(?:std::collections::)?Hash(?:Map|Set)\b", code)
    bound = re.findall(r"\blet\s+(?:mut\s+)?(\w+)[^=;]*=\s*(?:std::collections::)?Hash(?:Map|Set)::", code)
    found = []
    for name in sorted({*typed, *bound}):
        loop = (
            rf"\b{name}\s*\.\s*(?:iter|iter_mut|into_iter|keys|values|values_mut|into_values|drain|retain)\("
        )
        walk = rf"\bin\s+&?(?:mut\s+)?(?:self\.)?{name}\s*\{{"
        for match in re.finditer(f"{loop}|{walk}", code):
            line = code.count("\n", 0, match.start()) + 1
            found.append(
                f"{where}:{line}: order of the hash table {name} differs from run to run; use a BTreeMap"
            )
    return found


def without_comments(text: str) -> str:
    """Rust or C source with comments blanked and line numbers kept."""
    blocks = re.sub(r"/\*.*?\*/", lambda match: "\n" * match[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r"//[^\n]*", "", blocks)


def without_descriptions(code: str) -> str:
    """Return C source with what stands under `#ifdef MH_DESCRIBE` blanked and line numbers kept."""
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
