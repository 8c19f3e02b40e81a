"""Changes of the Python modules that compute what is published, by cosmic-ray.

cosmic-ray lists the changes. Running the tests is done here: every change gets a fork of this process,
which has imported the libraries already, and the tests run from the cheapest to the dearest until one
fails.
"""

from __future__ import annotations

import ast
import json
import os
import random
import sys
from collections.abc import Container, Iterable, Iterator, Sequence
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from tools.mutants.changes import Mutant, Outcome, ToolError, changed_lines
from tools.mutants.workspace import BUILD, copy_tree, limit_cpu, python_tools, run, written

if TYPE_CHECKING:
    import pytest

TREE = BUILD / "tree-python"
MODULES = tuple(
    f"python/mousehole/{name}.py"
    for name in (
        "statistics/capture",
        "statistics/indices",
        "statistics/intervals",
        "statistics/levels",
        "statistics/transient",
        "reduction",
        "findings",
        "advice",
        "install",
    )
)
TESTS = tuple(f"python/tests/test_{name}.py" for name in ("statistics", "reduction", "findings", "advice"))
REPLACED = (
    "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "FloorDiv_Div", "Mod_Div", "Pow_Mul", "LShift_RShift",
    "RShift_LShift", "BitAnd_BitOr", "BitOr_BitAnd", "BitXor_BitAnd",
)  # fmt: skip
COMPARED = (
    "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt", "Eq_NotEq", "NotEq_Eq",
    "Is_IsNot", "IsNot_Is",
)  # fmt: skip
OPERATORS = (
    *(f"core/ReplaceBinaryOperator_{name}" for name in REPLACED),
    *(f"core/ReplaceComparisonOperator_{name}" for name in COMPARED),
    *(f"core/ReplaceUnaryOperator_Delete_{name}" for name in ("USub", "Not", "Invert")),
    *(f"core/{name}" for name in ("AddNot", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse")),
    *(f"core/{name}" for name in ("ReplaceFalseWithTrue", "NumberReplacer", "RemoveDecorator")),
    *(f"core/{name}" for name in ("ReplaceBreakWithContinue", "ReplaceContinueWithBreak")),
    *(f"core/{name}" for name in ("ExceptionReplacer", "ZeroIterationForLoop")),
)
"""cosmic-ray's operators that are tried: for an operator its opposite and, of comparisons, its boundary.

cosmic-ray has eleven substitutes for each operator. Most of them, such as a shift for the division of
floats, raise an exception at once and say nothing of the tests.
"""
LONGEST_CPU_S = 25
DURATIONS = BUILD / "durations.json"


def outcomes(files: Sequence[str], sample: int | None, only: Container[Mutant] | None) -> Iterator[Outcome]:
    """Tries cosmic-ray's changes of `files`, or of all modules; of `only`, if given.

    Raises `ToolError` if the tests fail without a change.
    """
    copy_tree(TREE)
    found = [
        (file, changed, mutant)
        for file, changed in changes(files or MODULES)
        if (mutant := changed_lines(file, (TREE / file).read_text(), changed))
        and (only is None or mutant in only)
    ]
    if sample is not None and sample < len(found):
        found = random.Random(1).sample(found, sample)  # noqa: S311
    _import_libraries()
    DURATIONS.unlink(missing_ok=True)
    if not _tests_pass():
        raise ToolError("the tests fail without any change")
    for file, changed, mutant in found:
        with written(TREE / file, changed):
            yield Outcome(mutant, not _tests_pass())


def changes(files: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields file and changed text of the changes that mean something, each once."""
    program = Path(__file__).with_name("cosmic_ray_changes.py")
    command = [str(python_tools() / "python"), str(program), ",".join(OPERATORS), *files]
    seen = {meaning((TREE / file).read_text()) for file in files}
    for line in run(command, TREE).splitlines():
        file, changed = json.loads(line)
        try:
            meant = meaning(changed)
        except SyntaxError:  # `**values` in a display has become `*values`
            continue
        if meant not in seen:
            seen.add(meant)
            yield file, changed


def meaning(text: str) -> str:
    """Returns what is the same for programs that differ in annotations or in how a comparison is negated."""
    return ast.dump(_Plain().visit(ast.parse(text)))


class _Plain(ast.NodeTransformer):
    """Removes annotations; writes `not a < b` as `a >= b`."""

    opposite = {ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.Eq: ast.NotEq} | {
        ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In
    }  # fmt: skip

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        inner = node.operand
        if isinstance(node.op, ast.Not) and isinstance(inner, ast.Compare) and len(inner.ops) == 1:
            return ast.Compare(inner.left, [self.opposite[type(inner.ops[0])]()], inner.comparators)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        node.annotation = ast.Constant(None)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)


class CheapestFirst:
    """A pytest plug-in: records how long tests take the first time, and begins with the cheapest later."""

    def __init__(self, path: Path) -> None:
        """Keeps the durations in `path`."""
        self.path = path
        self.known: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}
        self.measured: dict[str, float] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Sorts the tests by the time that they took."""
        items.sort(key=lambda item: self.known.get(item.nodeid, 0.0))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Adds up the time of a test."""
        self.measured[report.nodeid] = self.measured.get(report.nodeid, 0.0) + report.duration

    def pytest_sessionfinish(self) -> None:
        """Writes the times, if there were none."""
        if not self.known:
            self.path.write_text(json.dumps(self.measured))


def _import_libraries() -> None:
    """Imports what the tests need beside the package, so that every fork has it."""
    for name in ("numpy", "pytest", "scipy.special", "scipy.stats", "hypothesis.strategies"):
        import_module(name)
    from hypothesis import Phase, settings

    # The same examples for every change, without a search for the smallest one that fails.
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", derandomize=True, database=None, deadline=None, phases=phases)
    settings.load_profile("mutants")


def _tests_pass() -> bool:
    process = get_context("fork").Process(target=_run_tests)
    process.start()
    limit_cpu(process.pid or 0, LONGEST_CPU_S)
    process.join()
    return process.exitcode == 0


def _run_tests() -> None:
    """Runs the tests of the copied tree in this process, and ends it with pytest's exit code."""
    import pytest

    os.chdir(TREE)
    sys.path.insert(0, str(TREE / "python"))
    sys.dont_write_bytecode = True
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    options = ["-x", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "no:randomly", *TESTS]
    code = pytest.main(options, plugins=[CheapestFirst(DURATIONS)])
    os._exit(int(code))
