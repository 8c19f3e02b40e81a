"""The modules of the package import each other without circles, lazy and type-only imports included."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import mousehole
import pytest

PACKAGE = Path(mousehole.__file__).parent


def imported(source: str) -> set[str]:
    """Names of the package's modules that a source imports, at any depth of its code."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module == "mousehole":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mousehole."):
            found.add(str(node.module).split(".")[1])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("mousehole.")}
    return found


def order(sources: dict[str, str]) -> list[str]:
    """The modules in an order in which each comes after those it imports."""
    graph = {name: imported(source) & sources.keys() for name, source in sources.items()}
    return list(TopologicalSorter(graph).static_order())


def test_modules__import_each_other_without_circles() -> None:
    sources = {path.stem: path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py")}
    ordered = order({name: text for name, text in sources.items() if not name.startswith("__")})
    assert ordered.index("results") < ordered.index("plots") < ordered.index("comparison")
    assert "comparison" not in imported(sources["report"]) | imported(sources["jsonout"])


@pytest.mark.parametrize(
    "lazy",
    [
        "def draw():\n    from mousehole import data\n",
        "if TYPE_CHECKING:\n    from mousehole.data import X\n",
        "import mousehole.data\n",
    ],
)
def test_order__notices_a_circle(lazy: str) -> None:
    with pytest.raises(CycleError):
        order({"data": "from mousehole.plots import draw\n", "plots": lazy})
