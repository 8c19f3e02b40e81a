"""The architecture's arrows hold, and the check that says so can fail."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools import arrows, document, rust_files

IMPURE_RUST = """\
use std::collections::{HashMap, HashSet};
use std::time::SystemTime;

pub fn now() -> SystemTime {
    std::time::Instant::now();
    SystemTime::now()
}
pub fn sum(flows: &HashMap<u32, u64>, seen: &HashSet<u32>) {
    for flow in flows.values() {
        drop(flow);
    }
    for one in seen {
        drop(one);
    }
}
"""
ROOT = Path(__file__).resolve().parent.parent
MANIFESTS = sorted(ROOT.glob("*/Cargo.toml"))
SIM = ROOT / "sim" / "src"
UNREAD = {"live/src/compile.rs"}
"""Files that others include."""
PURE = [ROOT / "policy" / "include", ROOT / "policy" / "src"]


def list_sources(folder: Path, *suffixes: str) -> list[Path]:
    """Returns the files below a folder with these suffixes, in order, without those of a folder `target`."""
    found = [path for path in sorted(folder.rglob("*")) if path.suffix in suffixes]
    return [path for path in found if "target" not in path.parts]


def test_crates__depend_only_along_the_arrows() -> None:
    assert {path.parent.name for path in MANIFESTS} >= {"policy", "sim", "python"}
    faults = [
        fault
        for path in MANIFESTS
        for fault in arrows.find_crate_faults(path.read_text(), str(path.relative_to(ROOT)))
    ]
    assert faults == []


def test_answer__reads_no_files_and_no_clock_and_starts_no_threads() -> None:
    product = [path for path in list_sources(ROOT / "answer" / "src", ".rs") if "tests" not in path.stem]
    assert len(product) > 20
    for path in product:
        found = re.findall(r"std::(?:fs|io|net|thread|time|env|process|sync)\b", path.read_text())
        assert found == [], path
    assert re.findall(r"std::(?:fs|time)\b", IMPURE_RUST) != []


def test_engine__digest_covers_every_crate_it_is_made_of() -> None:
    """Kept results and workers are told by it whether they were made by the same engine."""
    manifests = (*MANIFESTS, ROOT / "policy" / "check" / "Cargo.toml")
    folders = {tomllib.loads(path.read_text())["package"]["name"]: path.parent for path in manifests}
    direct = tomllib.loads((ROOT / "python" / "Cargo.toml").read_text())["dependencies"]
    ours = {name for name in direct if name in folders}
    ours |= {name for crate in ours for name in arrows.list_lower_crates(crate)}
    digested = (ROOT / "python" / "build.rs").read_text()
    assert len(ours) >= 5
    assert [one for one in ours if f'"{folders[one].relative_to(ROOT)}/src"' not in digested] == []


def test_sim__layers_are_in_order_and_without_circles() -> None:
    assert arrows.find_circle(arrows.LAYERS) == []
    below: set[str] = set()
    for name, seen in arrows.LAYERS.items():
        assert seen <= below, f"sim/layers.toml: {name} stands above what it sees"
        below.add(name)


def test_sim__every_layer_is_a_module() -> None:
    modules = {path.stem for path in SIM.iterdir()} - arrows.ROOTS
    passed_on = {name: one["crate"] for name, one in arrows.TABLE.items() if "crate" in one}
    assert set(arrows.LAYERS) == modules | set(passed_on)
    for name, crate in passed_on.items():
        assert (ROOT / crate / "src" / f"{name}.rs").exists()
        assert re.search(rf"pub use mousehole_{crate}::\{{[^}}]*\b{name}\b", (SIM / "lib.rs").read_text())


def test_circles__found() -> None:
    found = arrows.find_circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert set(found) == {"a", "b", "c"}


@pytest.mark.parametrize("root", rust_files.list_roots(), ids=lambda root: str(root.relative_to(ROOT)))
def test_rust_files__of_a_crate_have_no_circle(root: Path) -> None:
    assert rust_files.find_circles(root) == []


def test_rust_files__of_every_crate_are_read() -> None:
    assert {root.parent.parent for root in rust_files.list_roots()} >= {path.parent for path in MANIFESTS}
    read = {
        module.file for root in rust_files.list_roots() for module in rust_files.read_modules(root).values()
    }
    sources = {path for root in rust_files.list_roots() for path in root.parent.rglob("*.rs")}
    # Programs and tests are no modules of a library.
    unread = {path for path in sources - read if "bin" not in path.parts and "tests" not in path.stem}
    assert {str(path.relative_to(ROOT)) for path in unread} == UNREAD


CIRCLE = {
    "lib.rs": "mod high;\nmod low;\nmod apart;\n",
    "high/mod.rs": "mod part;\npub use part::Part;\nuse crate::low::Low;\npub struct High(Low, Part);",
    "high/part.rs": "pub struct Part;\n",
    "low.rs": "pub struct Low;\n",
    "apart.rs": "use crate::high::{High, Part};\npub fn make() -> High { crate::low::make(Part) }\n",
}


@pytest.mark.parametrize(
    ("path", "code", "circle"),
    [
        ("low.rs", "use crate::high::High;\npub struct Low(Box<High>);", ["high/mod.rs", "low.rs"]),
        ("low.rs", "pub struct Low;\nfn f() { super::high::High::new() }", ["high/mod.rs", "low.rs"]),
        (
            "low.rs",
            "use super::high;\npub struct Low;\nfn f(high: &high::High) {}",
            ["high/mod.rs", "low.rs"],
        ),
        (
            "low.rs",
            "use crate::{apart as far};\npub struct Low;\nfn f() { far::make() }",
            ["apart.rs", "low.rs"],
        ),
        (
            "low.rs",
            'pub struct Low;\nconst A: [&str; 2] = ["a://b", r#""{"#];\n'
            "fn f(c: char) -> bool { c == '\"' && super::high::High::is_low() }",
            ["high/mod.rs", "low.rs"],
        ),
        ("low.rs", "use crate::high::*;\npub struct Low(High);", ["high/mod.rs", "low.rs"]),
        ("high/part.rs", "use super::High;\npub struct Part(Box<High>);", ["high/mod.rs", "high/part.rs"]),
        (
            "high/part.rs",
            "use crate::apart::make;\npub struct Part;",
            ["apart.rs", "high/mod.rs", "high/part.rs"],
        ),
    ],
)
def test_rust_files__circle_found(tmp_path: Path, path: str, code: str, circle: list[str]) -> None:
    (found,) = rust_files.find_circles(write_crate(tmp_path, {**CIRCLE, path: code}))
    assert set(found) >= set(circle)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("low.rs", "pub struct Low;"),
        ("low.rs", 'pub struct Low;\n// crate::high::High\nconst WHERE: &str = "crate::high::High";'),
        ("low.rs", "pub struct Low;\n#[cfg(test)]\nmod tests {\n    use crate::high::High;\n}"),
        ("low.rs", "pub use crate::high::Part;\npub struct Low;"),
        ("low.rs", "use crate::high::Part;\npub struct Low(Part);"),
        ("high/part.rs", "use std::high::High;\npub struct Part;"),
    ],
)
def test_rust_files__no_circle(tmp_path: Path, path: str, code: str) -> None:
    assert rust_files.find_circles(write_crate(tmp_path, {**CIRCLE, path: code})) == []


def write_crate(folder: Path, files: dict[str, str]) -> Path:
    """Writes the files of a crate. Returns the path of its lib.rs."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "lib.rs"


def test_readme__has_the_layers() -> None:
    readme = (ROOT / "sim" / "README.md").read_text(encoding="utf-8")
    assert document.read_part(readme, "docs") == f"\n{arrows.write_table()}\n", "run make docs"


def test_sim__layers_import_only_lower_layers() -> None:
    files = list_sources(SIM, ".rs")
    assert len(files) > 4
    assert [
        f for path in files for f in arrows.find_layer_faults(path.relative_to(SIM), path.read_text())
    ] == []


def test_headers__have_no_clock_randomness_float_or_allocation() -> None:
    files = [path for folder in PURE for path in list_sources(folder, ".c", ".h")]
    assert files
    assert [
        f for path in files for f in arrows.find_impurities(str(path.relative_to(ROOT)), path.read_text())
    ] == []


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("mousehole-policy", '[dependencies]\nmousehole-sim = { path = "../sim" }'),
        ("mousehole-policy", '[build-dependencies]\nmousehole-sim = "1"'),
        ("mousehole-check", '[dependencies]\nx = { package = "mousehole-sim", path = "../../sim" }'),
        ("mousehole-sim", "[target.'cfg(unix)'.dev-dependencies]\nmousehole-python = \"1\""),
        ("mousehole-live", '[dependencies]\nmousehole-sim = { path = "../sim" }'),
        ("mousehole-extra", ""),
    ],
)
def test_crate_faults__forbidden_arrow(name: str, table: str) -> None:
    assert arrows.find_crate_faults(f'[package]\nname = "{name}"\n{table}\n', "Cargo.toml")


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("units.rs", "use crate::packet::Packet;"),
        ("packet.rs", "use crate::{rng::Stream, queue::{Queue, red::Red}};"),
        ("queue/red.rs", "fn f() -> crate::link::Link { todo() }"),
        ("queue/red.rs", "use super::super::scenario::Scenario;"),
        ("tcp/mod.rs", "use super::queue::Verdict;"),
        ("queue/mod.rs", "use crate::record::Count;"),
        ("engine/mod.rs", "use crate::scenario::Plan;"),
        ("tcp/reno.rs", "use crate::rng::Stream;"),
        ("traffic/mod.rs", "use crate::{\n    units::Rate,\n    packet::Packet,\n};"),
        ("novelty.rs", ""),
    ],
)
def test_layer_faults__forbidden_arrow(path: str, code: str) -> None:
    assert len(arrows.find_layer_faults(Path(path), code)) == 1


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
    assert arrows.find_layer_faults(Path(path), code) == []


def test_layer_faults__names_file_and_line() -> None:
    (fault,) = arrows.find_layer_faults(Path("units.rs"), "// a\n\nuse crate::tcp::Tcp;\n")
    assert fault == "sim/src/units.rs:3: units must not see tcp"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the Python files of all packages and the contracts."""
    folder = tmp_path_factory.mktemp("packages")
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in ("python/mousehole", "bench", "papers", "tools", "validation"):
        for path in (ROOT / package).rglob("*.py"):
            copy = folder / path.relative_to((ROOT / package).parent)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
    return folder


def test_import_linter__allows_what_is_there(packages: Path) -> None:
    assert lint_imports(packages) == 0


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("mousehole/runs/_results.py", "import papers\n"),
        ("mousehole/runs/_results.py", "def draw():\n    from mousehole.reports import plots\n"),
        ("mousehole/runs/_results.py", "if TYPE_CHECKING:\n    from mousehole.reports.plots import draw\n"),
        ("mousehole/reports/document.py", "import mousehole.comparison\n"),
    ],
)
def test_import_linter__refuses_an_import_against_the_layers_or_in_a_circle(
    packages: Path, path: str, code: str
) -> None:
    whole = (packages / path).read_text()
    try:
        (packages / path).write_text(f"{whole}\n{code}")
        assert lint_imports(packages) == 1
    finally:
        (packages / path).write_text(whole)


def lint_imports(folder: Path) -> int:
    """Returns the exit status of import-linter, run in a folder with the contracts."""
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).returncode


def test_ruff__keeps_papers_off_the_engine() -> None:
    command = [sys.executable, "-m", "ruff", "check", "--stdin-filename"]
    for name, code in (("papers/x.py", 1), ("validation/x.py", 0)):
        source = '"""X."""\n\nfrom mousehole import _engine\n\n_engine.models()\n'
        done = subprocess.run(
            [*command, name], cwd=ROOT, input=source, text=True, capture_output=True, check=False
        )
        assert done.returncode == code, done.stdout
        assert ("TID251" in done.stdout) == bool(code)


def test_clippy__refuses_clocks_and_hash_order(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text(IMPURE_RUST)
    lints = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["lints"]["clippy"]
    level = lints["iter_over_hash_type"]
    (tmp_path / "Cargo.toml").write_text(
        '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2024"\n'
        f'[lints.clippy]\niter_over_hash_type = "{level}"\n'
    )
    environment = {**os.environ, "CLIPPY_CONF_DIR": str(ROOT), "CARGO_TARGET_DIR": str(tmp_path / "target")}
    command = ["cargo", "clippy", "--offline", "--message-format=json"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    messages = [json.loads(line)["message"] for line in done.stdout.splitlines() if '"message"' in line]
    lines = {
        (one["code"]["code"], span["line_start"]) for one in messages if one["code"] for span in one["spans"]
    }
    assert lines >= {
        ("clippy::disallowed_types", 2),
        ("clippy::disallowed_types", 5),
        ("clippy::iter_over_hash_type", 9),
        ("clippy::iter_over_hash_type", 12),
    }


@pytest.mark.parametrize(
    ("name", "code"),
    [
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
    assert arrows.find_impurities(name, code)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a.h", "/* in floats: double avg = (1 - w) * avg */\n#include <stdint.h>"),
        ("a.h", "#ifdef MH_DESCRIBE\n#ifdef X\ndouble x;\n#else\ndouble y;\n#endif\ndouble z;\n#endif"),
        ("a.h", '#include "mousehole/base.h"\nstatic inline u32 operand(u32 x) { return x; }'),
    ],
)
def test_impurities__not_found(name: str, code: str) -> None:
    assert arrows.find_impurities(name, code) == []
