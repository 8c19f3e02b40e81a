"""The repository holds only what belongs in it, and the check that says so can fail."""

from __future__ import annotations

import gzip
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tools import hygiene

ROOT = Path(__file__).resolve().parent.parent
CRATES = ("policy", "scheme", "sim", "python", "policy/check")


def test_repository__has_no_unwanted_files() -> None:
    files = hygiene.tracked_files(ROOT)
    assert Path("Makefile") in files
    assert hygiene.find_all_faults(ROOT, files) == []


def test_makefile__help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    help_text = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"demo", "test", "deps", "lint", "bench", "wheel"} <= hygiene.list_make_targets(makefile)
    assert hygiene.list_targets_without_help(makefile, help_text) == set()


def test_ci__calls_only_make_targets() -> None:
    called = hygiene.list_called_targets((ROOT / ".ci" / "run").read_text())
    checks = {"lint", "site", "web", "bpf-compile", "bpf-parity", "test", "live-test", "wheel-test"}
    checks |= {"instructions", "fuzz-brief", "page-test", "wasm-check"}
    assert called == {"deps", *checks}
    assert called <= hygiene.list_make_targets((ROOT / "Makefile").read_text())


def test_workflows__call_only_make_targets() -> None:
    called = {
        target
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for targets in re.findall(r"(?:run: |[ ])make ([a-z -]+)$", path.read_text(), re.MULTILINE)
        for target in targets.split()
    }
    assert {"lint", "test", "msrv"} <= called
    assert called <= hygiene.list_make_targets((ROOT / "Makefile").read_text())


def test_msrv__is_one_version() -> None:
    promised = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    manifests = [tomllib.loads((ROOT / f"{crate}/Cargo.toml").read_text()) for crate in CRATES]
    assert {str(one["package"]["rust-version"]) for one in manifests} == {"{'workspace': True}"}
    assert promised.count(".") == 1


def test_targets_without_help__found() -> None:
    makefile = ".PHONY: a b\nX := 1\na: ## first\nb c: a\n\ttrue\n$(X): b\n"
    assert hygiene.list_make_targets(makefile) == {"a", "b", "c"}
    assert hygiene.list_targets_without_help(makefile, "  make a   first\n") == {"b", "c"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tests/sample", b"\xd4\xc3\xb2\xa1\x02\x00\x04\x00"),
        ("tests/sample.bin", b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00"),
        ("data/requests", gzip.compress(b"12 200\n", mtime=0)),
        ("conn.txt", b"#separator \\x09\n#fields\tts\n"),
        ("docs/day1.PCAP", b""),
        ("conn.log", b""),
    ],
)
def test_trace_faults__found(name: str, content: bytes) -> None:
    assert hygiene.find_faults(Path(name), content)


@pytest.mark.parametrize(
    "line",
    [
        "see /" + "work/main/Makefile",
        "cd /" + "root",
        'open("/' + 'home/someone/x")',
        "// TO" + "DO later",
        "    to" + "do!()",
        "<<<<<<" + "< HEAD",
        ">>>>>>" + "> main",
    ],
)
def test_line_faults__found(line: str) -> None:
    (fault,) = hygiene.find_faults(Path("notes.md"), f"one\n{line}\n".encode())
    assert fault.startswith("notes.md:2: ")


@pytest.mark.parametrize(
    "line",
    [
        "the frame/work of things, docs/work.md",
        "an issue with 2 parts",
        "/usr/bin/env bash",
        "Heading\n=======\n>>> doctest",
    ],
)
def test_line_faults__not_found(line: str) -> None:
    assert hygiene.find_faults(Path("notes.md"), line.encode()) == []


def test_size_faults__found() -> None:
    assert hygiene.find_size_faults(Path("a.csv"), b"x\n" * 200_000)
    assert not hygiene.find_size_faults(Path("a.csv"), b"x\n" * 401)


def test_line_faults__pass_over_pictures() -> None:
    word = b"XX" + b"X"
    assert hygiene.find_line_faults(Path("a.png"), b"\x89PNG\0 " + word) == []
    assert len(hygiene.find_line_faults(Path("a.txt"), b"a " + word)) == 1


def test_survivors__name_lines_that_stand_in_their_files() -> None:
    survivors = tomllib.loads((ROOT / "tools" / "mutants.toml").read_text())["survivor"]
    assert len(survivors) >= 3
    for entry in survivors:
        lines = {line.strip() for line in (ROOT / entry["file"]).read_text().splitlines()}
        assert entry["before"].strip() in lines, entry
        assert entry["why"]
