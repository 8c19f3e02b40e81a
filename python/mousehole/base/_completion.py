"""Words that a shell completes: schemes and their parts, places, models and files."""

import glob
import re
from pathlib import Path

from mousehole import _engine
from mousehole.base._places import places

SEPARATOR = re.compile(r"[,|]")


def complete_schemes(incomplete: str) -> list[str]:
    """Returns completions of a list of schemes: the name after the last comma or bar is completed.

    Each has the text before that name in front. Empty if no scheme or part begins so.
    """
    start = max((found.end() for found in SEPARATOR.finditer(incomplete)), default=0)
    names = [entry["name"] for entry in (*_engine.schemes(), *_engine.parts())]
    before, last = incomplete[:start], incomplete[start:]
    return [f"{before}{name}" for name in dict.fromkeys(names) if name.startswith(last)]


def complete_traffic(incomplete: str) -> list[str]:
    """Returns the places, models, files and folders whose names begin with this text.

    Names of files and folders come from the file system; a folder's ends with a slash.
    """
    files = sorted(glob.glob(f"{glob.escape(incomplete)}*"))  # noqa: PTH207 (it keeps the text as typed)
    found = [f"{name}/" if Path(name).is_dir() else name for name in files]
    ready_made = (*places(), *_engine.models())
    return [*(name for name in ready_made if name.startswith(incomplete)), *found]
