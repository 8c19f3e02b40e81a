"""Runs the notebooks of papers/notebooks and writes them with their outputs: `make notebooks`."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import v4

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "papers" / "notebooks"
BEGIN = "# %%"
TEXT = "# %% [markdown]"


def list_cells(source: str) -> Iterator[Any]:
    """Yields the cells of a file: `# %%` begins code, `# %% [markdown]` text that is written as comments."""
    lines = source.splitlines()
    starts = [place for place, line in enumerate(lines) if line.startswith(BEGIN)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        own = "\n".join(lines[start + 1 : end]).strip("\n")
        if lines[start] == TEXT:
            bare = "\n".join(line.removeprefix("#").removeprefix(" ") for line in own.splitlines())
            yield v4.new_markdown_cell(bare)  # type: ignore[no-untyped-call]
        else:
            yield v4.new_code_cell(own)  # type: ignore[no-untyped-call]


def execute(path: Path) -> Any:
    """Runs a notebook and returns it with the outputs of its cells; raises the error of a cell.

    It runs in the folder of the repository; a cell may take 300 s.
    """
    notebook = v4.new_notebook(cells=list(list_cells(path.read_text("utf-8"))))  # type: ignore[no-untyped-call]
    where = {"metadata": {"path": str(ROOT)}}
    return NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs all notebooks, or those named, and writes each into the folder `--into`.

    Returns 0; older files are replaced.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="papers, such as sfd; all of them without")
    parser.add_argument("--into", type=Path, default=ROOT / "build" / "notebooks")
    given = parser.parse_args(arguments)
    given.into.mkdir(parents=True, exist_ok=True)
    for path in sorted(SOURCES.glob("*.py")):
        if not given.names or path.stem in given.names:
            place = given.into / f"{path.stem}.ipynb"
            nbformat.write(execute(path), place)  # type: ignore[no-untyped-call]
            print(f"notebooks: wrote {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
