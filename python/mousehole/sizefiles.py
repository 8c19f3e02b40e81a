"""Files of flow sizes that a traffic section names: parameter `sizes` of a model, or model `sizes:FILE`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MODEL = "sizes:"


def moved(section: Json, move: Callable[[str], str]) -> Json:
    """The traffic section with every such file's name passed through `move`."""
    whole = _moved_entry(section, move)
    if section.get("mix"):
        whole["mix"] = [_moved_entry(entry, move) for entry in section["mix"]]
    return whole


def named(section: Json) -> tuple[Path, ...]:
    """Every such file, once, in order."""
    found: list[str] = []

    def note(name: str) -> str:
        found.append(name)
        return name

    moved(section, note)
    return tuple(Path(name) for name in dict.fromkeys(found))


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
