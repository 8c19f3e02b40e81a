"""Files that a traffic section names beside its own `files`.

Flow sizes (parameter `sizes` of a model, model `sizes:FILE`), and the traces of a mix.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MODEL = "sizes:"


def moved(section: Json, move: Callable[[str], str]) -> Json:
    """The traffic section with every such file's name passed through `move`."""
    whole = _moved_entry(section, move)
    if section.get("mix"):
        whole["mix"] = [_moved_files(_moved_entry(entry, move), move) for entry in section["mix"]]
    return whole


def named(section: Json) -> tuple[Path, ...]:
    """Every such file, once, in order."""
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    moved(section, note)
    return tuple(Path(name) for name in dict.fromkeys(found))


def _moved_files(entry: Json, move: Callable[[str], str]) -> Json:
    return {**entry, "files": [move(str(file)) for file in entry["files"]]} if entry.get("files") else entry


def _moved_entry(entry: Json, move: Callable[[str], str]) -> Json:
    whole = dict(entry)
    model, params = entry.get("model"), entry.get("params")
    by_params = isinstance(params, dict) and bool(params.get("sizes"))
    if isinstance(params, dict) and by_params:
        whole["params"] = {**params, "sizes": move(str(params["sizes"]))}
    if isinstance(model, str) and model.startswith(MODEL):
        # What is filled in says it twice; the parameter counts.
        place = whole["params"]["sizes"] if by_params else move(model.removeprefix(MODEL))
        whole["model"] = MODEL + place
    return whole
