"""Changes of a Rust crate that are compiled together, each chosen at run time by an environment variable.

To compile a large crate once for every change takes longer than its tests. So each expression that a change
touches becomes a `match` over the number of the chosen change: the changed texts, and else the original. What
the compiler refuses is taken out again, and tried by cargo-mutants alone or not at all.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.mutants.changes import ToolError
from tools.mutants.workspace import CARGO, limit_cpu

VARIABLE = "MOUSEHOLE_MUTANT"
CHOSEN = "crate::chosen_mutant()"
SWITCH = f"""
/// Returns the number of the change that is tried, 0 for none.
pub(crate) fn chosen_mutant() -> u32 {{
    static CHOSEN: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {{
        std::env::var("{VARIABLE}").ok().and_then(|text| text.parse().ok()).unwrap_or(0)
    }});
    *CHOSEN
}}
"""
LONGEST_CPU_S = 120
MOST_BUILDS = 25

_HIDDEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|r(?P<hashes>\#*)".*?"(?P=hashes)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.|[^\\'\n])'""",
    re.DOTALL,
)
_ASSIGNMENT = re.compile(r"(?<= )(?:[-+*/%&|^]|<<|>>)?=(?= |\n)")
_KEYWORD = re.compile(r"\b(?:return|if|while|match|in|break)\b")


@dataclass(frozen=True)
class Change:
    """A change of a file's text between two places: a whole expression or guard becomes another."""

    number: int
    start: int
    end: int
    text: str


@dataclass
class Output:
    """The text of a file with all its changes, and which bytes of it belong to which changes."""

    parts: list[str] = field(default_factory=list)
    size: int = 0
    owners: list[tuple[int, int, tuple[int, ...]]] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Appends text."""
        self.parts.append(text)
        self.size += len(text.encode())

    def owned(self, begin: int, numbers: Sequence[int]) -> None:
        """Notes that what was added since `begin` belongs to these changes."""
        self.owners.append((begin, self.size, tuple(numbers)))

    def at_fault(self, begin: int, end: int) -> tuple[int, ...]:
        """Returns the changes that own a place: those of the smallest stretch that holds it."""
        holding = [one for one in self.owners if one[0] <= begin and end <= one[1]]
        return min(holding, key=lambda one: one[1] - one[0])[2] if holding else ()


def masked(text: str) -> str:
    """Returns Rust source with blanks for comments and letters for strings, each character where it was."""

    def hidden(found: re.Match[str]) -> str:
        filler = " " if found["comment"] else "x"
        return "".join("\n" if char == "\n" else filler for char in found[0])

    return _HIDDEN.sub(hidden, text)


def change_of(number: int, described: dict[str, Any], text: str) -> Change | None:
    """Returns a change of cargo-mutants' list; None if it cannot be chosen at run time."""
    start, end = (_offset(text, described["span"][side]) for side in ("start", "end"))
    plain, kind, new = masked(text), described["genre"], described["replacement"]
    if kind == "FnValue":
        return Change(number, start, start, f"if {CHOSEN} == {number} {{ return {new}; }}\n")
    if kind == "MatchArmGuard":
        return Change(number, start, end, new)
    if kind == "MatchArm":
        return _without_arm(number, plain, start, end)
    if kind not in ("BinaryOperator", "UnaryOperator"):
        return None
    begin, stop = expression_around(plain, start, end)
    if re.search(r"\blet\b", plain[begin:stop]):
        return None
    return Change(number, begin, stop, text[begin:start] + new + text[end:stop])


def expression_around(plain: str, start: int, end: int) -> tuple[int, int]:
    """Returns the place of the expression around an operator, whose operands it holds as a whole.

    It ends where the nesting does, at separators, assignments and keywords, and at `&&` and `||` if these
    bind less than the operator.
    """
    operator = plain[start:end]
    weaker = {"||": (), "&&": ("||",)}.get(operator, ("||", "&&"))
    begin, _ = _left_end(plain, start, weaker)
    _, keyword = _left_end(plain, start, ())
    stop = _right_end(plain, end, weaker, keyword)
    while plain[begin].isspace():
        begin += 1
    while plain[stop - 1].isspace():
        stop -= 1
    return begin, stop


def _left_end(plain: str, start: int, weaker: Sequence[str]) -> tuple[int, str]:
    """Returns where an expression begins that goes on to `start`, and the keyword before it, if any."""
    depth, at = 0, start
    while at > 0:
        char = plain[at - 1]
        if char in ")]}":
            if char == "}" and depth == 0 and re.match(r"\s*\n\s*(?!\.|else\b|\?)", plain[at:]):
                return at, ""
            depth += 1
        elif char in "([{":
            if depth == 0:
                return at, ""
            depth -= 1
        elif depth == 0:
            if char in ",;" or plain[:at].endswith("=>") or _is_colon(plain, at - 1):
                return at, ""
            if char == "=" and _ASSIGNMENT.match(plain, _operator_begin(plain, at)):
                return at, ""
            if char == "|" and _ends_parameters(plain, at):
                return at, ""
            if plain[at - 2 : at] in weaker:
                return at, ""
            word = re.search(r"\b(\w+)$", plain[max(0, at - 10) : at])
            if word and _KEYWORD.fullmatch(word[1]) and not plain[at].isalnum():
                return at, word[1]
        at -= 1
    return 0, ""


def _operator_begin(plain: str, at: int) -> int:
    begin = at - 1
    while plain[begin - 1] not in " \n":
        begin -= 1
    return begin


def _is_colon(plain: str, at: int) -> bool:
    return plain[at] == ":" and plain[at - 1] != ":" and plain[at + 1] in " \n"


def _ends_parameters(plain: str, at: int) -> bool:
    """Returns whether the bar before `at` ends a closure's parameters: operators have blanks around them."""
    if plain[at - 2] == "|":
        return re.search(r"(?:[(,=]|\bmove)\s*$", plain[: at - 2]) is not None
    return plain[at - 2] != " " and plain[at] == " "


def _right_end(plain: str, end: int, weaker: Sequence[str], keyword: str) -> int:
    """Returns where an expression ends that has come to `end`; `keyword` stands before it."""
    depth, at = 0, end
    while at < len(plain):
        char = plain[at]
        if depth == 0:
            if char in ")]},;" or plain.startswith(("=>", *weaker), at):
                return at
            if char == "{" and keyword in ("if", "while", "match", "in"):
                return at
            if char == "=" and _ASSIGNMENT.match(plain, _operator_begin(plain, at + 1)):
                return _operator_begin(plain, at + 1)
            if re.match(r"\b(?:else|if)\b", plain[at:]) and plain[at - 1].isspace() and keyword:
                return at
        depth += (char in "([{") - (char in ")]}")
        at += 1
    return at


def _without_arm(number: int, plain: str, start: int, end: int) -> Change | None:
    """Returns the change that never takes an arm of a `match`; None if the arm has a condition already."""
    arrow = plain.index("=>", start, end)
    if re.search(r"\bif\b", plain[start:arrow]):
        return None
    return Change(number, arrow, arrow, f"if {CHOSEN} != {number} ")


def _offset(text: str, place: dict[str, int]) -> int:
    lines = text.splitlines(keepends=True)
    return sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1


def with_changes(text: str, changes: Sequence[Change]) -> Output:
    """Returns a file's text in which each of the changes can be chosen."""
    output = Output()
    _emit(output, text, 0, len(text), sorted(changes, key=_place))
    return output


def _place(change: Change) -> tuple[int, bool, int, int]:
    """Returns what sorts changes: at the same place statements come first, then outer expressions."""
    return change.start, change.start != change.end, -change.end, change.number


def _emit(output: Output, text: str, start: int, end: int, changes: Sequence[Change]) -> None:
    """Adds the text from `start` to `end` with the changes in it, which are sorted by their places."""
    at, index = start, 0
    while index < len(changes):
        first = changes[index]
        output.add(text[at : first.start])
        at = first.start
        if first.start == first.end:
            begin = output.size
            output.add(first.text)
            output.owned(begin, [first.number])
            index += 1
            continue
        inner = index
        while inner < len(changes) and changes[inner].start < first.end:
            inner += 1
        here = [one for one in changes[index:inner] if (one.start, one.end) == (first.start, first.end)]
        rest = [one for one in changes[index:inner] if (one.start, one.end) != (first.start, first.end)]
        begin = output.size
        output.add(f"(match {CHOSEN} {{ ")
        for one in here:
            own = output.size
            output.add(f"{one.number} => {{ {one.text} }}\n")
            output.owned(own, [one.number])
        output.add("_ => { ")
        _emit(output, text, first.start, first.end, rest)
        output.add(" } })")
        output.owned(begin, [one.number for one in here])
        at, index = first.end, inner
    output.add(text[at:end])


def overlaps(change: Change, others: Sequence[Change]) -> bool:
    """Returns whether a change neither holds another, nor lies in it, nor lies beside it."""
    return any(
        one.start < change.start < one.end < change.end or change.start < one.start < change.end < one.end
        for one in others
    )


class Crate:
    """A crate of the copied tree with changes that can be chosen."""

    def __init__(self, tree: Path, package: str, environment: dict[str, str]) -> None:
        """Reads and writes `tree`; `environment` is for cargo."""
        self.tree, self.package, self.environment = tree, package, environment
        self.originals: dict[str, str] = {}

    def build(self, described: Sequence[dict[str, Any]]) -> tuple[dict[int, dict[str, Any]], list[Path]]:
        """Compiles all changes that can be chosen; returns them by number, and the test programs.

        Raises `ToolError` if the crate does not compile without the changes at fault.
        """
        changes, by_number = self._changes(described)
        for _ in range(MOST_BUILDS):
            outputs = self._write(changes)
            programs, faults = self._compile(outputs)
            if not faults:
                left = {one.number for found in changes.values() for one in found}
                return {number: by_number[number] for number in sorted(left)}, programs
            changes = {
                file: [one for one in found if one.number not in faults] for file, found in changes.items()
            }
        raise ToolError(f"{self.package} does not compile after {MOST_BUILDS} builds")

    def restore(self) -> None:
        """Writes the original texts back."""
        for file, text in self.originals.items():
            (self.tree / file).write_text(text)

    def _changes(
        self, described: Sequence[dict[str, Any]]
    ) -> tuple[dict[str, list[Change]], dict[int, dict[str, Any]]]:
        changes: dict[str, list[Change]] = {}
        by_number = dict(enumerate(described, 1))
        for number, one in by_number.items():
            text = self.originals.setdefault(one["file"], (self.tree / one["file"]).read_text())
            found, others = change_of(number, one, text), changes.setdefault(one["file"], [])
            if found is not None and not overlaps(found, others):
                others.append(found)
        return changes, by_number

    def _write(self, changes: dict[str, list[Change]]) -> dict[str, Output]:
        root = f"{self.package.removeprefix('mousehole-')}/src/lib.rs"
        text = self.originals.setdefault(root, (self.tree / root).read_text())
        (self.tree / root).write_text(text + SWITCH)
        outputs = {file: with_changes(self.originals[file], found) for file, found in changes.items()}
        for file, output in outputs.items():
            (self.tree / file).write_text("".join(output.parts))
        return outputs

    def _compile(self, outputs: dict[str, Output]) -> tuple[list[Path], set[int]]:
        """Returns the test programs, or the changes that the compiler refuses."""
        options = ["--quiet", "--locked", "-p", self.package, "--message-format=json"]
        for command in (["check", "--lib"], ["test", "--no-run", "--lib", "--test=it"]):
            done = subprocess.run(
                [CARGO, *command, *options], cwd=self.tree, env={**os.environ, **self.environment},
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            faults = set(_faults(said, outputs))
            if done.returncode and not faults:
                errors = [one["message"]["rendered"] for one in said if _is_error(one)]
                raise ToolError(f"{self.package} does not compile: {(errors or [done.stderr])[0][:1000]}")
            if faults:
                return [], faults
        return [
            Path(one["executable"]) for one in said if one.get("executable") and one["profile"]["test"]
        ], set()


def _is_error(message: dict[str, Any]) -> bool:
    return message["reason"] == "compiler-message" and str(message["message"]["level"]) == "error"


def _faults(said: Sequence[dict[str, Any]], outputs: dict[str, Output]) -> Iterator[int]:
    """Yields the changes in which the compiler found errors."""
    for message in filter(_is_error, said):
        for span in message["message"]["spans"]:
            if span["is_primary"] and span["file_name"] in outputs:
                yield from outputs[span["file_name"]].at_fault(span["byte_start"], span["byte_end"])


def is_noticed(command: Sequence[str], folder: Path, number: int) -> bool:
    """Runs tests under a change until the first fails; returns whether one did, or they never ended."""
    with subprocess.Popen(
        [*command, "--test-threads=1"], cwd=folder, env={**os.environ, VARIABLE: str(number)},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    ) as process:  # fmt: skip
        limit_cpu(process.pid, LONGEST_CPU_S)
        failed = any(line.rstrip().endswith("... FAILED") for line in process.stdout or ())
        if failed:
            process.kill()
    return failed or process.returncode != 0
