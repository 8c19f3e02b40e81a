"""The architecture's arrows hold, and the check that says so can fail."""

from __future__ import annotations

from graphlib import TopologicalSorter
from pathlib import Path

import arrows
import pytest

ROOT = Path(__file__).resolve().parent.parent
MANIFESTS = sorted(ROOT.glob("*/Cargo.toml"))
SIM = ROOT / "sim" / "src"
PURE = [ROOT / "policy" / "include", ROOT / "policy" / "src", SIM]


def sources(folder: Path, *suffixes: str) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.suffix in suffixes]
    return [path for path in found if "target" not in path.parts]


def test_crates__depend_only_along_the_arrows() -> None:
    assert {path.parent.name for path in MANIFESTS} >= {"policy", "sim", "python"}
    faults = [
        fault
        for path in MANIFESTS
        for fault in arrows.crate_faults(path.read_text(), str(path.relative_to(ROOT)))
    ]
    assert faults == []


def test_sim__layers_see_only_what_is_below() -> None:
    files = sources(SIM, ".rs")
    assert len(files) > 4
    assert [f for path in files for f in arrows.layer_faults(path.relative_to(SIM), path.read_text())] == []


def test_sim__layers_have_no_circles() -> None:
    tuple(TopologicalSorter({name: seen or () for name, seen in arrows.LAYERS.items()}).static_order())


def test_python__imports_follow_the_arrows() -> None:
    files = [(room, path) for room in arrows.PYTHON_ROOMS for path in sources(ROOT / room, ".py")]
    assert files
    names = [(room, str(path.relative_to(ROOT)), path.read_text()) for room, path in files]
    assert [fault for name in names for fault in arrows.python_faults(*name)] == []


def test_pure_rooms__have_no_clock_dice_or_hash_order() -> None:
    files = [path for folder in PURE for path in sources(folder, ".rs", ".c", ".h")]
    assert files
    pure = [path for path in files if "bin" not in path.relative_to(ROOT).parts]
    assert [
        f for path in pure for f in arrows.impurities(str(path.relative_to(ROOT)), path.read_text())
    ] == []


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("mousehole-policy", '[dependencies]\nmousehole-sim = { path = "../sim" }'),
        ("mousehole-policy", '[build-dependencies]\nmousehole-sim = "1"'),
        ("mousehole-check", '[dependencies]\nx = { package = "mousehole-sim", path = "../../sim" }'),
        ("mousehole-sim", "[target.'cfg(unix)'.dev-dependencies]\nmousehole-python = \"1\""),
        ("mousehole-extra", ""),
    ],
)
def test_crate_faults__forbidden_arrow(name: str, table: str) -> None:
    assert arrows.crate_faults(f'[package]\nname = "{name}"\n{table}\n', "Cargo.toml")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("units.rs", "use crate::packet::Packet;"),
        ("packet.rs", "use crate::{rng::Stream, queue::{Queue, red::Red}};"),
        ("queue/red.rs", "fn f() -> crate::link::Link { todo() }"),
        ("queue/red.rs", "use super::super::scenario::Scenario;"),
        ("tcp/mod.rs", "use super::queue::Verdict;"),
        ("tcp/reno.rs", "use crate::rng::Stream;"),
        ("traffic/mod.rs", "use crate::{\n    units::Rate,\n    packet::Packet,\n};"),
        ("novelty.rs", ""),
    ],
)
def test_layer_faults__forbidden_arrow(path: str, code: str) -> None:
    assert len(arrows.layer_faults(Path(path), code)) == 1


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("packet.rs", "use crate::{error::Result, units::Rate};"),
        ("queue/red.rs", "use super::Verdict; use crate::packet::Packet;"),
        ("queue/red.rs", "// unlike crate::link::Link\n/* crate::tcp */"),
        ("link.rs", "use crate::queue::Queue;"),
        ("scenario/mod.rs", "use crate::{engine::Engine, tcp::Tcp};"),
        ("traffic/pcap.rs", "use super::connection::Connection; use crate::units::Bytes;"),
    ],
)
def test_layer_faults__allowed_arrow(path: str, code: str) -> None:
    assert arrows.layer_faults(Path(path), code) == []


def test_layer_faults__names_file_and_line() -> None:
    (fault,) = arrows.layer_faults(Path("units.rs"), "// a\n\nuse crate::tcp::Tcp;\n")
    assert fault == "sim/src/units.rs:3: units must not see tcp"


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("python", "from papers.sfd import figures"),
        ("papers", "from mousehole._engine import run"),
        ("papers", "import sim"),
    ],
)
def test_python_faults__forbidden_import(room: str, line: str) -> None:
    assert len(arrows.python_faults(room, "x.py", f"import numpy\n{line}\n")) == 1


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.rs", "let t = std::time::Instant::now();"),
        ("a.rs", "use std::time::{Duration, SystemTime};"),
        ("a.rs", "let mut r = rand::rng();"),
        ("a.rs", "let t = unsafe { libc::time(ptr) };"),
        ("a.rs", "struct S { flows: HashMap<u32, u64> }\nfn f(s: &S) { for x in s.flows.values() {} }"),
        ("a.rs", "let mut seen = HashSet::new();\nfor x in &seen {}"),
        ("a.h", "u64 now = bpf_ktime_get_ns();"),
        ("a.h", "static inline double average(double x);"),
        ("a.h", "#ifdef MH_DESCRIBE\n#else\ndouble average;\n#endif"),
        ("a.h", "#ifdef MH_DESCRIBE\n#if 1\n#endif\n#endif\ndouble average;"),
        ("a.h", "#ifndef MH_DESCRIBE\ndouble average;\n#endif"),
        ("a.h", "#ifdef MH_DESCRIBE\nint x = rand();\n#endif"),
        ("a.h", "#include <math.h>"),
        ("a.c", "int x = rand();"),
    ],
)
def test_impurities__found(name: str, code: str) -> None:
    assert arrows.impurities(name, code)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.rs", "use std::time::Duration; // an Instant would be wrong"),
        ("a.rs", "let mut index: HashMap<u32, u32> = HashMap::new(); index.insert(1, 2); index.get(&1);"),
        ("a.h", "/* in floats: double avg = (1 - w) * avg */\n#include <stdint.h>"),
        ("a.h", "#ifdef MH_DESCRIBE\n#ifdef X\ndouble x;\n#else\ndouble y;\n#endif\ndouble z;\n#endif"),
        ("a.h", '#include "mousehole/base.h"\nstatic inline u32 operand(u32 x) { return x; }'),
    ],
)
def test_impurities__not_found(name: str, code: str) -> None:
    assert arrows.impurities(name, code) == []
