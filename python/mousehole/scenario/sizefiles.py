"""The files that a traffic section names: traces, those of a mix, and files of flow sizes.

Flow sizes are the parameter `sizes` of a model, or the model `sizes:FILE`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from mousehole.engine_types import MixEntry, TrafficSection

MODEL = "sizes:"
STANDARD_INPUT = "-"
"""The name of a trace that is read from standard input."""
Section = TypeVar("Section", TrafficSection, MixEntry)


def with_moved_files(section: TrafficSection, move: Callable[[str], str]) -> TrafficSection:
    """Returns a copy of the section with the name of every file replaced by what `move` returns for it.

    Standard input is not moved.
    """
    whole = _with_moved_traffic(_with_moved_sizes(section, move), move)
    if section.get("mix"):
        whole["mix"] = [_with_moved_traffic(_with_moved_sizes(entry, move), move) for entry in section["mix"]]
    return whole


def list_files(section: TrafficSection) -> tuple[Path, ...]:
    """Returns every file that the section names, in order.

    Those of `files` are listed as often as given, all others once.
    """
    found: list[str] = []

    def note(name: str) -> str:
        """Adds the name of a file to the list and returns it unchanged."""
        found.append(name)
        return name

    with_moved_files({**section, "files": []}, note)
    return tuple(Path(name) for name in (*section.get("files", ()), *dict.fromkeys(found)))


def _with_moved_traffic(entry: Section, move: Callable[[str], str]) -> Section:
    """Returns a copy of an entry with the names of its traffic files moved, except standard input."""
    whole = entry.copy()
    if whole.get("files"):
        names = [str(file) for file in whole["files"]]
        whole["files"] = [name if name == STANDARD_INPUT else move(name) for name in names]
    return whole


def _with_moved_sizes(entry: Section, move: Callable[[str], str]) -> Section:
    """Returns a copy of an entry with the name of its file of flow sizes moved, in parameter and model."""
    whole = entry.copy()
    params, model = whole.get("params"), whole.get("model")
    sizes = params.get("sizes") if params else None
    if params and sizes:
        whole["params"] = {**params, "sizes": move(str(sizes))}
    if model and model.startswith(MODEL):
        # A scenario that is filled in names the file twice; the parameter counts.
        name = whole["params"]["sizes"] if sizes else move(model.removeprefix(MODEL))
        whole["model"] = f"{MODEL}{name}"
    return whole
