"""Changes of the policy headers, by universalmutator.

The tests are built once, against a shared library of the headers' functions. A change is compiled into
that library, so no Rust is compiled and nothing else is linked. A change whose compiled code is that of
the original, or of another change, is dropped: no test could tell them apart.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.mutants.changes import Mutant, Outcome, ToolError, changed_lines
from tools.mutants.workspace import BUILD, CARGO, copy_tree, limit_cpu, python_tools, run, written

TREE = BUILD / "tree-c"
HEADERS = "policy/include/mousehole"
RULES = Path(__file__).with_name("c.rules")
FOLDER = BUILD / "c"
LIBRARY = FOLDER / "libmousehole_headers.so"
FLAGS = (
    "-std=c11", "-O1", "-fPIC", "-Wall", "-Wextra", "-Wpedantic",
    "-Wno-missing-field-initializers", "-Werror",
)  # fmt: skip
"""Those of policy/build.rs, but for a shared library; a change that the build would refuse is dropped."""
OWN_BUILDS = "load::"
"""Tests that compile the headers' texts themselves, which the built program holds: they see no change."""
DEAR = ("properties::", "reference_models::", "rio_ps::")
"""Tests that take longest: they run only if the others pass."""
OF_SIMULATOR = "virtual_fifo"
"""The header that tests of the simulator are about; those of the policies are named after it, too."""
LONGEST_CPU_S = 20


@dataclass(frozen=True)
class Tests:
    """The built tests, and the C sources that include the headers."""

    commands: tuple[tuple[str, ...], ...]
    """Test programs with their arguments, the cheapest first."""
    of_simulator: tuple[tuple[str, ...], ...]
    """The same for `OF_SIMULATOR`."""
    sources: tuple[Path, ...]

    def compiled(self) -> str | None:
        """Compiles the library from the copied tree; returns a name of its code, None if it is refused."""
        objects = [FOLDER / f"{source.stem}.o" for source in self.sources]
        for source, target in zip(self.sources, objects, strict=True):
            command = ["gcc", *FLAGS, f"-I{TREE / 'policy/include'}", "-c", str(source), "-o", str(target)]
            if subprocess.run(command, capture_output=True, check=False).returncode:
                return None
        run(["gcc", "-shared", "-o", str(LIBRARY), *map(str, objects)])
        return hashlib.sha256(b"".join(path.read_bytes() for path in objects)).hexdigest()

    def pass_(self, header: str) -> bool:
        """Returns whether the tests of a header pass with the compiled library."""
        return all(map(_passes, self.of_simulator if Path(header).stem == OF_SIMULATOR else self.commands))


def outcomes(files: Sequence[str], sample: int | None, only: Container[Mutant] | None) -> Iterator[Outcome]:
    """Tries the changes of `files`, or of all headers; of `only`, if given.

    Raises `ToolError` if the tests fail without a change.
    """
    copy_tree(TREE)
    headers = list(files) or sorted(str(path.relative_to(TREE)) for path in (TREE / HEADERS).glob("*.h"))
    found = [
        (header, changed, mutant)
        for header in headers
        for changed in changes(TREE / header)
        if (mutant := changed_lines(header, (TREE / header).read_text(), changed))
        and (only is None or mutant in only)
    ]
    if sample is not None and sample < len(found):
        found = random.Random(1).sample(found, sample)  # noqa: S311
    tests = _build()
    seen = {tests.compiled()}
    if not all(map(tests.pass_, headers)):
        raise ToolError("the policy tests fail without any change")
    for header, changed, mutant in found:
        with written(TREE / header, changed):
            code = tests.compiled()
        if code is not None and code not in seen:
            seen.add(code)
            yield Outcome(mutant, not tests.pass_(header))


def changes(header: Path) -> Iterator[str]:
    """Yields the changed texts of a header by the rules; comments stay as they are."""
    folder = FOLDER / header.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    # universalmutator leaves out every line that holds a comment.
    original = header.read_text()
    plain = folder / header.name
    plain.write_text(without_comments(original))
    made = folder / "changes"
    made.mkdir()
    command = [str(python_tools() / "mutate"), str(plain), "c", "--only", str(RULES), "--noCheck"]
    run([*command, "--mutantDir", str(made)])
    for path in sorted(
        made.iterdir(), key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)]
    ):
        yield with_comments(original, plain.read_text(), path.read_text())


def without_comments(text: str) -> str:
    """Returns C source without comments, each line where it was."""
    return re.sub(r"/\*.*?\*/", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)


def with_comments(original: str, plain: str, changed: str) -> str:
    """Returns `original` with the one line that `changed` has otherwise than `plain`."""
    lines = zip(original.splitlines(), plain.splitlines(), changed.splitlines(), strict=True)
    return "\n".join(whole if old == new else new for whole, old, new in lines) + "\n"


def _build() -> Tests:
    """Builds the tests so that they find the headers' functions in the shared library."""
    linker = FOLDER / "cc"  # rustc tells the kind of a linker by its name
    FOLDER.mkdir(parents=True, exist_ok=True)
    # First on the line, the library wins over the archive that the crate brings.
    linker.write_text(
        f'#!/bin/sh\nexec cc -Wl,--no-as-needed "{LIBRARY}" -Wl,--as-needed -Wl,-rpath,"{FOLDER}" "$@"\n'
    )
    linker.chmod(0o755)
    if not LIBRARY.exists():
        run(["gcc", "-shared", "-o", str(LIBRARY), "-x", "c", os.devnull])
    environment = {"CARGO_TARGET_DIR": str(BUILD / "target-c"), "RUSTFLAGS": f"-Clinker={linker}"}
    # The library must hold the functions before the tests are linked to it.
    said = _messages([CARGO, "build", "--lib", "-p", "mousehole-policy"], environment)
    outputs = [Path(str(one["out_dir"])) for one in said if "mousehole-policy" in _built_package(one)]
    if len(outputs) != 1:
        raise ToolError("cargo did not say where it builds the policies")
    own = sorted((TREE / "policy/src").glob("*.c"))
    sources = (outputs[0] / "policies.c", *own, *sorted((TREE / "policy/tests/parts").glob("*.c")))
    if Tests((), (), sources).compiled() is None:
        raise ToolError("the policy headers do not compile without any change")
    programs = _programs(["-p", "mousehole-policy", "--lib", "--tests"], environment)
    of_simulator = _programs(["-p", "mousehole-sim", "--test", "it"], environment)
    for needed, built in (("mh_policies", programs), ("mh_test_virtual_fifo_admit", of_simulator)):
        if not any(needed in run(["nm", "--dynamic", "--undefined-only", one]) for one in built):
            raise ToolError("the tests are not linked to the library of the headers")
    cheap = [part for name in (OWN_BUILDS, *DEAR) for part in ("--skip", name)]
    return Tests(
        tuple((program, *chosen) for chosen in (cheap, DEAR) for program in programs),
        tuple((program, f"{OF_SIMULATOR}::") for program in (*programs, *of_simulator)),
        sources,
    )


def _programs(arguments: Sequence[str], environment: dict[str, str]) -> list[str]:
    """Builds tests and returns their programs, without those that the tests start."""
    said = _messages([CARGO, "test", "--no-run", *arguments], environment)
    return [str(one["executable"]) for one in said if one.get("executable") and one["profile"]["test"]]


def _messages(command: Sequence[str], environment: dict[str, str]) -> list[dict[str, Any]]:
    options = ["--quiet", "--locked", "--message-format=json"]
    return [json.loads(line) for line in run([*command, *options], TREE, environment).splitlines()]


def _built_package(message: dict[str, Any]) -> str:
    """Returns the package of a message of cargo's about a build script that has run, otherwise nothing."""
    return str(message["package_id"]) if message["reason"] == "build-script-executed" else ""


def _passes(command: Sequence[str]) -> bool:
    devnull = subprocess.DEVNULL
    process = subprocess.Popen([*command, "--quiet"], cwd=TREE / "policy", stdout=devnull, stderr=devnull)
    limit_cpu(process.pid, LONGEST_CPU_S)
    return process.wait() == 0
